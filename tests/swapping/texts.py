"""Court rulings and support tickets, made up: texts in which names come back in shorter forms.

Every text is put together from sentences with slots; a slot says which name stands there and in
which form, so that the mentions of a recogniser that misses none, or misses the short forms, are
known. People, companies and places are invented; places that exist are large.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from nes_spark.entities.mentions import Mention

#: (full name, short form)
PEOPLE = [
    ("Maria Lindqvist", "Lindqvist"),
    ("Tobias Achterberg", "Achterberg"),
    ("Ines Carvalhal", "Carvalhal"),
    ("Desmond Okonjo", "Okonjo"),
    ("Harriet Stone", "Stone"),
    ("Pavel Drozdov", "Drozdov"),
    ("Leonie van der Meulen", "van der Meulen"),
    ("Callum Baker", "Baker"),
    ("Rosalind Fitchett", "Fitchett"),
    ("Amadou Keita", "Keita"),
]
COMPANIES = [
    ("Brightwater Foundry Ltd.", "Brightwater"),
    ("Quennell & Sons, Inc.", "Quennell"),
    ("Halvorsen Marine GmbH", "Halvorsen"),
    ("Zephyrline Software Corp.", "Zephyrline"),
    ("Tarrant Cold Storage LLC", "Tarrant"),
    ("Oxenford Dairies plc", "Oxenford"),
    ("Kestrelware", "Kestrelware"),
    ("Morrigan Freight Company", "Morrigan"),
    ("Ostrava Biotech a.s.", "Ostrava Biotech"),
    ("Pellucid-Arden Optics", "Pellucid-Arden"),
]
PLACES = [
    ("United States", "US"),
    ("Netherlands", "Netherlands"),
    ("Chicago", "Chicago"),
    ("Rotterdam", "Rotterdam"),
    ("Gulf Coast", "Gulf Coast"),
    ("North Dakota", "North Dakota"),
    ("Philippines", "Philippines"),
    ("Lisbon", "Lisbon"),
    ("United Kingdom", "UK"),
    ("Osaka", "Osaka"),
]
#: An article goes before these.
WITH_THE = (
    "United States",
    "US",
    "Netherlands",
    "Gulf Coast",
    "Philippines",
    "United Kingdom",
    "UK",
)
PRODUCTS = [
    ("ClearLedger 4", "ClearLedger"),
    ("Vantablue Router", "Vantablue"),
    ("SignalNest Hub", "SignalNest"),
    ("Mirebank Scanner", "Mirebank"),
    ("Orchidea Pro", "Orchidea"),
    ("TallyWren", "TallyWren"),
]
CATEGORIES = {"P": "Person", "C": "Organization", "L": "Location", "D": "Product"}
NAMES = {"P": PEOPLE, "C": COMPANIES, "L": PLACES, "D": PRODUCTS}

#: {P1} a name in full, {p1} its short form; {the L1} with its article where it has one.
RULINGS = [
    "{P1} brought this action against {C1} in the spring of that year.",
    "The claim concerns a boiler that {C1} had delivered to a yard in {the L1}.",
    "{p1} says that the boiler burst within a week.",
    "In the view of {p1}, {c1} knew of the crack.",
    "Judge {P2} heard the parties over two days.",
    "Judge {p2} found that {c1}'s witnesses were of little help.",
    "Mr. {p1} had asked for an adjournment, which was refused.",
    "The contract was signed by {P3} for {C1}",
    "Nothing in the letter of {p3} suggests a waiver.",
    "{p3}'s evidence on the price was not challenged.",
    "The appellant relies on a decision of the courts of {the L2}.",
    "Such a rule is unknown in {the L2}, and {the L2} has never followed it.",
    "A {c1} invoice of that month was put before the court.",
    "We are not persuaded that {c1} acted in bad faith.",
    "The order was sealed for {C1} and served on {C2}",
    "Counsel for {c2} did not dispute that {c2} had carried the goods from {the L1} to {the L2}.",
    "The {p1} family left the house soon after.",
    "Accordingly the appeal of {P1} is dismissed with costs.",
]
TICKETS = [
    "Hi, this is {P1} from {C1}",
    "We run {D1} at our site in {the L1} and it stopped printing labels today.",
    "After the update {d1} asks for a licence key that nobody here has.",
    "{p1} rang twice this morning; please call {p1} back before noon.",
    "The {c1} account is locked, and {c1}'s backup account too.",
    "An engineer named {P2} promised a fix for {d1}.",
    "Ms. {p2} told us to restart the server, which did not help.",
    "Our colleagues in {the L2} see the same error.",
    "{the L2} is seven hours ahead, so please answer by mail.",
    "Please send the replacement unit to {C1}",
    "The old {d1} units came from {C2}",
    "{c2} says the warranty has run out.",
    "Is {D2} supported on the same network as {D1}?",
    "Both {d1} and {d2} are on the latest firmware.",
    "Thanks for your patience, {P1}.",
    "Escalated by {P3} to the second line.",
    "{p3} will watch the ticket of {c1} over the weekend.",
]


@dataclass(frozen=True)
class Text:
    """A text with all of its mentions; ``short`` marks those in a short form."""

    text: str
    mentions: tuple[Mention, ...]
    short: tuple[bool, ...]

    def seen(self, rng: random.Random, miss: float) -> list[Mention]:
        """Return the mentions without some of the short ones."""
        pairs = zip(self.mentions, self.short, strict=True)
        return [m for m, short in pairs if not short or rng.random() >= miss]


def make(kind: str, rng: random.Random) -> Text:
    """Return one text of kind ``ruling`` or ``ticket``."""
    frames = RULINGS if kind == "ruling" else TICKETS
    count = rng.randint(6, len(frames))
    chosen = [frames[i] for i in sorted(rng.sample(range(len(frames)), count))]
    cast = {f"{k}{i + 1}": n for k, ns in NAMES.items() for i, n in enumerate(rng.sample(ns, 3))}
    text, mentions, short = "", [], []
    for frame in chosen:
        for i, part in enumerate(re.split(r"\{(.*?)\}", frame)):
            if i % 2 == 0:
                text += part
                continue
            article, slot = ("the", part[4:]) if part.startswith("the ") else ("", part)
            full, brief = cast[slot.upper()]
            name = full if slot[0].isupper() else brief
            if article and name in WITH_THE:
                text += "The " if text.endswith((". ", "? ")) or not text else "the "
            if not text or text.endswith((". ", "? ")):
                name = name[0].upper() + name[1:]
            category = CATEGORIES[slot[0].upper()]
            entity = re.sub(r",? (?:Ltd\.|Inc\.|GmbH|Corp\.|LLC|plc|Company|a\.s\.)$", "", full)
            mentions.append(Mention(len(text), len(text) + len(name), category, name, entity))
            short.append(name.casefold() != full.casefold())
            text += name
        # an abbreviation shares its full stop with the sentence
        text += " " if text.endswith((".", "?")) else ". "
    return Text(text.strip(), tuple(mentions), tuple(short))


def make_texts(kind: str, count: int, seed: int = 7) -> list[Text]:
    """Return texts, the same for the same seed."""
    rng = random.Random(f"{kind}-{seed}")
    return [make(kind, rng) for _ in range(count)]
