"""Earnings calls of the invented world, with a gold annotation of each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from nes_spark.demo.grammar import Dice, Filled, Page, check_positive, read_material, render
from nes_spark.demo.world import (
    ORGANIZATION_EXPONENT,
    PERSON_EXPONENT,
    TARGET_EXPONENT,
    Company,
    Person,
    coined,
    company,
    organization,
    person,
    pool,
)
from nes_spark.errors import parameter_error

DEFAULT_DOCUMENTS = 48
DEFAULT_SEED = 2031
DEFAULT_PERIODS = ("2031Q2", "2031Q3")

#: What makes a corpus awkward for a cluster.
SKEWS = ("none", "giant-document", "giant-company", "heavy-tail", "one-topic", "one-name")

#: How many times more topics the first call of skew ``giant-document`` has.
GIANT = 200
#: What most speakers talk about with the skew ``one-topic``.
_TOPIC = "launch"
#: Who is named all over with the skew ``one-name``, and how.
_NAME = "Halden Trust"
_NAMED = (
    "We discussed this with {everywhere} as well.",
    "{everywhere} has taken the same view.",
    "That includes what we do together with {everywhere}.",
)

_ORDINALS = ("first", "second", "third", "fourth")
_MONTHS = (
    ("January", "February", "March"),
    ("April", "May", "June"),
    ("July", "August", "September"),
    ("October", "November", "December"),
)
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine")
_UNIONS = ("United Machinists Union", "National Transport Workers", "Brotherhood of Line Crews")
_WITH_ARTICLE = {
    "Congress",
    "Conference",
    "Forum",
    "Meeting",
    "Symposium",
    "Summit",
    "Show",
    "Fair",
}
_AUDITORS = ("Hale & Whitlock", "Brandt Osei Partners", "Rutland Peers LLP")


@dataclass(frozen=True)
class Topic:
    """Sentence patterns about one subject."""

    name: str
    role: str
    weight: int
    must: bool
    open: tuple[str, ...]
    body: tuple[str, ...]
    close: tuple[str, ...]


@lru_cache(maxsize=1)
def topics() -> tuple[Topic, ...]:
    """Return all topics of the material, in its order."""
    found = []
    for heading, parts in read_material("calls.txt").items():
        if not heading.startswith("topic "):
            continue
        _, name, role, weight, *flags = heading.split()
        found.append(
            Topic(
                name,
                role,
                int(weight),
                "must" in flags,
                parts["open"],
                parts["body"],
                parts.get("close", ()),
            )
        )
    return tuple(found)


def _lines(section: str) -> tuple[str, ...]:
    return read_material("calls.txt")[section][""]


def _money(millions: float) -> str:
    if millions >= 1000:
        return (
            f"${millions / 1000:.2g} billion"
            if millions >= 10_000
            else (f"${millions / 1000:.2f} billion")
        )
    if millions >= 100:
        return f"${millions:.0f} million"
    return f"${millions:.1f} million"


class Call:
    """One call: what its slots are filled with.

    Parameters
    ----------
    firm : Company
        Who reports.
    period : str
        Cross-section such as ``2031Q2``.
    seed : int
        Seed of the corpus.
    key : object
        Makes calls of one company in one period differ.
    length : float
        Multiplies the number of topics.
    asked : float
        Multiplies the number of questions once more.
    skew : str
        ``one-topic`` and ``one-name`` change what is said.
    """

    def __init__(
        self,
        firm: Company,
        period: str,
        seed: int,
        key: object,
        length: float,
        asked: float = 1.0,
        skew: str = "none",
    ) -> None:
        self.firm = firm
        self.seed = seed
        self.length = length
        self.asked = asked
        self.skew = skew
        self.dice = dice = Dice("call", seed, firm.index, period, key)
        self.year, self.quarter = int(period[:4]), int(period[5])
        self.speakers: dict[str, str] = {}
        self.turns: list[dict[str, str]] = []
        self.gold: list[list[Any]] = []
        self.questions: int | None = None
        # No two people of a call share a first or last name: it would be an identifier in one
        # place and a name like any other in the next.
        self.officers = {n for who, _ in firm.officers.values() for n in (who.first, who.last)}
        self.met: set[str] = set()
        self.analyst = person(0)
        # What stays the same through the call.
        self.revenue = firm.scale * dice.uniform(0.9, 1.1)
        self.growth = dice.uniform(1.5, 16.0)
        self.eps = dice.uniform(0.2, 3.2)
        self.margin = dice.uniform(24, 66)
        self.launch = self._new_product()
        self.target = self._fresh_organization()
        self.target_product = coined(dice)
        self.storm = pool("organizations.txt", "storm")[
            Dice("storm", seed, period).integer(0, 3) if dice.chance(0.7) else dice.integer(0, 3)
        ]
        self.outbreak = pool("organizations.txt", "outbreak")[0 if dice.chance(0.85) else 1]
        self.memo: dict[str, Person] = {}
        self.recent: list[str] = []
        self.tails: set[str] = set()
        self._slots: dict[str, Callable[[], Filled]] = {
            name.removeprefix("_slot_"): getattr(self, name)
            for name in dir(self)
            if name.startswith("_slot_")
        }

    # -- choosing names -------------------------------------------------------------------------

    def _new_product(self) -> str:
        brand = coined(self.dice) if self.dice.chance(0.6) else self.firm.products[0].split(" ")[0]
        if self.dice.chance(0.4):
            return f"{brand} {self.dice.pick(self.firm.sector.nouns)}"
        return brand if brand not in self.firm.products else f"{brand} {self.dice.integer(2, 9)}"

    def _fresh_organization(self) -> str:
        return organization(200 + self.dice.rank(TARGET_EXPONENT) * 7 + self.dice.integer(0, 999))

    def _distinct(self, draw: Callable[[], str]) -> str:
        """Draw until the name has not just been used in this sentence (a few times at most)."""
        value = draw()
        for _ in range(12):
            if value not in self.recent:
                break
            value = draw()
        self.recent.append(value)
        return value

    def _known(self, own: Sequence[str], share: float, other: Callable[[], str]) -> str:
        """Mostly one of the company's own relations, early ones more often."""
        if self.dice.chance(share):
            return own[min(self.dice.rank(2.0), len(own) - 1)]
        return other()

    def _organization(self, own: Sequence[str]) -> Filled:
        return Filled(
            self._distinct(
                lambda: self._known(
                    own, 0.72, lambda: organization(self.dice.rank(ORGANIZATION_EXPONENT))
                )
            ),
            "Organization",
        )

    def _place(self, section: str, own: Sequence[str], share: float) -> Filled:
        items = pool("places.txt", section)
        name = self._distinct(
            lambda: self._known(own, share, lambda: items[self.dice.rank(1.5) % len(items)])
        )
        if name.startswith("the "):
            return Filled(name[4:], "Location", "the ")
        return Filled(name, "Location")

    def _stranger(self, draw: Callable[[], int], avoid: set[str]) -> Person:
        """Somebody without an officer's name and, where any are left, without one to avoid."""
        tries = 0
        while True:
            who = person(draw() % 15_000)
            names = {who.first, who.last}
            tries += 1
            # A giant call meets everybody.
            if not names & self.officers and (tries > 300 or not names & avoid):
                self.met |= names
                return who

    def _person(self, key: str) -> Person:
        """The same person within a topic."""
        if key not in self.memo:
            self.memo[key] = self._stranger(lambda: self.dice.integer(0, 14_999), set())
        return self.memo[key]

    # -- slots: the company and its people ------------------------------------------------------

    def _slot_company(self) -> Filled:
        # The short form is what people say; the longer ones come up now and then.
        return Filled(
            self.firm.aliases[0]
            if self.dice.chance(0.2)
            else self.firm.aliases[-1]
            if not self.firm.aliases[-1].isupper() or self.dice.chance(0.3)
            else self.firm.aliases[-2],
            "company",
        )

    def _slot_company_full(self) -> Filled:
        return Filled(self.firm.name, "company")

    def _slot_url(self) -> Filled:
        return Filled(self.dice.pick(("www.", "")) + self.firm.website, "url")

    def _slot_ir_url(self) -> Filled:
        return Filled(f"investors.{self.firm.website}", "url")

    def _officer(self, slot: str) -> Filled:
        office, _, form = slot.partition("_")
        who, title = self.firm.officers[office]
        if form == "title":
            return Filled(title)
        return Filled(who.first if form == "first" else who.name, "person")

    def _slot_analyst(self) -> Filled:
        self.analyst = self._stranger(lambda: self.dice.integer(0, 14_999), self.met)
        return Filled(self.analyst.name, "person")

    def _slot_analyst_first(self) -> Filled:
        return Filled(self.analyst.first, "person")

    def _slot_operator_first(self) -> Filled:
        return Filled(self._person("operator").first, "Person")

    # -- slots: entities ------------------------------------------------------------------------

    def _slot_customer(self) -> Filled:
        return self._organization(self.firm.customers)

    def _slot_partner(self) -> Filled:
        return self._organization(self.firm.partners)

    def _slot_supplier(self) -> Filled:
        return self._organization(self.firm.suppliers)

    def _slot_segment(self) -> Filled:
        return Filled(
            self._distinct(lambda: self._known(self.firm.segments, 1.0, str)), "Organization"
        )

    def _slot_segment_old(self) -> Filled:
        return Filled(self.firm.old_segment, "Organization")

    def _rival(self) -> Company:
        return company(self.seed, self.dice.pick(self.firm.rivals))

    def _slot_rival(self) -> Filled:
        return Filled(
            self._rival().aliases[0]
            if self.firm.rivals and self.dice.chance(0.7)
            else organization(self.dice.rank(ORGANIZATION_EXPONENT)),
            "Organization",
        )

    def _slot_rival_product(self) -> Filled:
        if self.firm.rivals:
            return Filled(self.dice.pick(self._rival().products), "Product")
        return Filled(coined(self.dice), "Product")

    def _slot_target(self) -> Filled:
        return Filled(self.target, "Organization")

    def _slot_target_product(self) -> Filled:
        return Filled(self.target_product, "Product")

    def _slot_regulator(self) -> Filled:
        return self._the_office(self.dice.pick(self.firm.sector.regulators))

    def _slot_agency(self) -> Filled:
        items = pool("organizations.txt", "agency")
        return self._the_office(items[self.dice.rank(1.5) % len(items)])

    def _the_office(self, name: str) -> Filled:
        return Filled(name, "Organization")

    def _slot_university(self) -> Filled:
        items = pool("organizations.txt", "university")
        return Filled(
            self.firm.university if self.dice.chance(0.7) else self.dice.pick(items), "Organization"
        )

    def _slot_bank(self) -> Filled:
        items = pool("organizations.txt", "bank")
        return Filled(items[self.dice.rank(1.5) % len(items)], "Organization")

    def _slot_union(self) -> Filled:
        return Filled(self.dice.pick(_UNIONS), "Organization")

    def _slot_auditor(self) -> Filled:
        return Filled(self.dice.pick(_AUDITORS), "Organization")

    def _slot_product(self) -> Filled:
        return Filled(
            self._distinct(lambda: self._known(self.firm.products, 0.93, self._tech)), "Product"
        )

    def _slot_launch(self) -> Filled:
        return Filled(self.launch, "Product")

    def _tech(self) -> str:
        items = pool("organizations.txt", "tech")
        return self._known(self.firm.techs, 0.6, lambda: items[self.dice.rank(1.5) % len(items)])

    def _slot_tech(self) -> Filled:
        return Filled(self._distinct(self._tech), "Product")

    def _slot_city(self) -> Filled:
        return self._place("city", self.firm.cities, 0.8)

    def _slot_state(self) -> Filled:
        return self._place("state", self.firm.states, 0.8)

    def _slot_country(self) -> Filled:
        return self._place("country", self.firm.countries, 0.75)

    def _slot_region(self) -> Filled:
        return self._place("region", self.firm.regions, 0.7)

    def _slot_place(self) -> Filled:
        kind = self.dice.pick_weighted(("country", "region", "state", "city"), (4, 3, 2, 1))
        return self._slots[kind]()

    def _slot_hire(self) -> Filled:
        return Filled(self._person("hire").name, "Person")

    def _slot_hire_short(self) -> Filled:
        if "hire" not in self.memo:
            return self._slot_hire()
        who = self._person("hire")
        return Filled(self.dice.pick((who.formal, who.first)), "Person")

    def _slot_hire_pron(self) -> Filled:
        return Filled(self._person("hire").pronoun)

    def _slot_leaver(self) -> Filled:
        return Filled(self._person("leaver").name, "Person")

    def _slot_leaver_short(self) -> Filled:
        return Filled(self._person("leaver").first, "Person")

    def _slot_director(self) -> Filled:
        return Filled(self._person("director").name, "Person")

    def _slot_figure(self) -> Filled:
        who = self._stranger(lambda: self.dice.rank(PERSON_EXPONENT), set())
        return Filled(who.name, "Person")

    def _slot_conference(self) -> Filled:
        name = self.dice.pick(self.firm.sector.conferences)
        last = name.rsplit(" ", 1)[-1]
        return Filled(name, "Event", "the " if last in _WITH_ARTICLE else "")

    def _slot_storm(self) -> Filled:
        return Filled(self.storm, "Event")

    def _slot_outbreak(self) -> Filled:
        return Filled(self.outbreak, "Other")

    def _slot_award(self) -> Filled:
        return Filled(self.dice.pick(pool("organizations.txt", "award")), "Other")

    def _slot_happening(self) -> Filled:
        return Filled(self.dice.pick(pool("organizations.txt", "happening")), "Event")

    # -- slots: time ----------------------------------------------------------------------------

    def _quarter(self, shift: int) -> tuple[int, int]:
        """Year and 0-based quarter, ``shift`` quarters from this one."""
        years, quarter = divmod(self.quarter - 1 + shift, 4)
        return self.year + years, quarter

    def _slot_q(self) -> Filled:
        return Filled(f"{_ORDINALS[self.quarter - 1]} quarter", "Date", "the ")

    def _slot_qn(self) -> Filled:
        return Filled(f"{_ORDINALS[self.quarter - 1]} quarter", "Date")

    def _slot_q_next(self) -> Filled:
        return Filled(f"{_ORDINALS[self._quarter(1)[1]]} quarter", "Date", "the ")

    def _slot_q_prev(self) -> Filled:
        return Filled(f"{_ORDINALS[self._quarter(-1)[1]]} quarter", "Date", "the ")

    def _slot_yearago(self) -> Filled:
        quarter = f"{_ORDINALS[self.quarter - 1]} quarter of {self.year - 1}"
        if self.dice.chance(0.4):
            return Filled(quarter, "Date", "the ")
        return Filled(
            self.dice.pick(("prior year", "same quarter last year", "prior-year period")),
            "Date",
            "the ",
        )

    def _month(self, shift: int) -> str:
        return self.dice.pick(_MONTHS[self._quarter(shift)[1]])

    def _slot_month(self) -> Filled:
        return Filled(self._month(0), "Date")

    def _slot_monthprev(self) -> Filled:
        return Filled(self._month(-1), "Date")

    def _slot_monthnext(self) -> Filled:
        return Filled(_MONTHS[self._quarter(2)[1]][0], "Date")

    def _slot_date(self) -> Filled:
        return Filled(f"{self._month(0)} {self.dice.integer(1, 28)}", "Date")

    def _slot_date_next(self) -> Filled:
        return Filled(f"{self._month(1)} {self.dice.integer(1, 28)}", "Date")

    def _year(self, low: int, high: int) -> Filled:
        return Filled(str(self.year + self.dice.integer(low, high)), "Date")

    # -- slots: figures -------------------------------------------------------------------------

    def _slot_revenue(self) -> Filled:
        return Filled(_money(self.revenue))

    def _slot_revenue_ago(self) -> Filled:
        return Filled(_money(self.revenue / (1 + self.growth / 100)))

    def _slot_growth(self) -> Filled:
        return Filled(f"{self.growth:.1f}%")

    def _money_between(self, low: float, high: float) -> Filled:
        return Filled(_money(self.revenue * self.dice.uniform(low, high)))

    def _slot_eps(self) -> Filled:
        return Filled(f"${self.eps:.2f}")

    def _percent(self, low: float, high: float, digits: int = 0) -> Filled:
        return Filled(f"{self.dice.uniform(low, high):.{digits}f}%")

    def _slot_bps(self) -> Filled:
        return Filled(f"{self.dice.integer(2, 24) * 10} basis points")

    def _slot_n(self) -> Filled:
        return Filled(self.dice.pick(_NUMBERS))

    def _slot_headcount(self) -> Filled:
        return Filled(f"{max(400, round(self.revenue * 9, -2)):,.0f}")

    def _integer(self, low: int, high: int, step: int = 1) -> Filled:
        return Filled(f"{self.dice.integer(low, high) * step:,}")

    def _word(self, key: str) -> Filled:
        return Filled(self.firm.sector.words[key])

    def fill(self, slot: str) -> Filled:
        """Return what goes into a slot."""
        method = self._slots.get(slot)
        if method is not None:
            return method()
        if slot.partition("_")[0] in self.firm.officers:
            return self._officer(slot)
        return _SIMPLE[slot](self)

    # -- composing ------------------------------------------------------------------------------

    def write(self, page: Page, pattern: str) -> None:
        """Write one pattern to a page."""
        self.recent.clear()
        if page.length:
            page.write(" ")
        render(pattern, self.fill, self.dice, page)

    def one_of(self, page: Page, section: str) -> None:
        """Write one pattern of a section."""
        self.write(page, self.dice.pick(_lines(section)))

    def turn(self, name: str, page: Page) -> None:
        """Add a turn."""
        ids = {speaker: key for key, speaker in self.speakers.items()}
        if name not in ids:
            ids[name] = str(len(ids))
            self.speakers[ids[name]] = name
        position = len(self.turns)
        text = page.text.rstrip()
        self.turns.append({"speaker_id": ids[name], "speaker": name, "text": text})
        self.gold += [[position, s.start, s.end, s.kind, s.surface] for s in page.spans]

    def topic(self, page: Page, topic: Topic) -> None:
        """Write a topic: an opening, some of its sentences in their order, perhaps an end."""
        self.memo.clear()
        self.write(page, self.dice.pick(topic.open))
        wanted = min(self.dice.pick((2, 2, 3, 3, 4)), len(topic.body))
        chosen = self.dice.shuffled(range(len(topic.body)))[:wanted]
        for position in sorted(chosen):
            pattern = topic.body[position]
            # People go on after what would have made a sentence.
            if pattern.endswith(".") and ". " not in pattern and self.dice.chance(0.4):
                tail = self.dice.pick(_lines(f"tail {topic.role}"))
                if tail not in self.tails:
                    self.tails.add(tail)
                    pattern = f"{pattern[:-1]}, {tail}."
            self.write(page, pattern)
            if self.skew == "one-name" and self.dice.chance(0.7):
                self.write(page, self.dice.pick(_NAMED))
        if topic.close and self.dice.chance(0.25):
            self.write(page, self.dice.pick(topic.close))

    def plan(self, role: str, extra: int) -> list[Topic]:
        """Choose the topics of one speaker: those that must be there, and some by weight."""
        mine = [t for t in topics() if t.role == role]
        chosen = [t for t in mine if t.must]
        wanted = max(len(chosen) + 1, round((len(chosen) + extra) * self.length))
        rest = [t for t in mine if t.weight and not t.must]
        while len(chosen) < wanted:
            if not rest:  # a long call comes back to its subjects
                rest = [t for t in mine if t.weight]
            topic = self.dice.pick_weighted(rest, [t.weight for t in rest])
            rest.remove(topic)
            chosen.append(topic)
        if self.skew == "one-topic":
            only = next(t for t in topics() if t.name == _TOPIC)
            chosen = [only if self.dice.chance(0.8) else t for t in chosen]
        return chosen

    def compose(self) -> None:
        """Write all turns."""
        dice = self.dice
        names = {office: who.name for office, (who, _) in self.firm.officers.items()}
        moderated = dice.chance(0.2)
        with_coo = dice.chance(0.4)

        page = Page()
        self.one_of(page, "operator welcome")
        self.turn("Operator", page)

        page = Page()
        self.one_of(page, "ir intro")
        self.one_of(page, "ir disclaimer")
        self.one_of(page, "ir handover")
        self.turn(names["ir"], page)

        page = Page()
        self.one_of(page, "ceo greeting")
        for topic in self.plan("ceo", dice.integer(2, 3)):
            self.topic(page, topic)
        self.one_of(page, "ceo handover")
        self.turn(names["ceo"], page)

        page = Page()
        self.one_of(page, "cfo greeting")
        # The statements in their usual order; the guidance, last in the material, ends them.
        order = [t.name for t in topics()]
        for topic in sorted(
            self.plan("cfo", dice.integer(1, 2)), key=lambda t: order.index(t.name)
        ):
            self.topic(page, topic)
        closing = names["cfo"]
        if with_coo:
            self.one_of(page, "cfo tocoo")
            self.turn(names["cfo"], page)
            page = Page()
            self.one_of(page, "coo greeting")
            for topic in self.plan("coo", 2):
                self.topic(page, topic)
            closing = names["coo"]
        if dice.chance(0.5):
            self.turn(closing, page)
            page = Page()
            closing = names["ceo"]
            self.topic(page, next(t for t in topics() if t.name == "wrap"))
        if not moderated:
            self.one_of(page, "close questions")
        self.turn(closing, page)

        self.questions = len(self.turns)
        page = Page()
        self.one_of(page, "moderator questions" if moderated else "operator questions")
        self.turn(names["ir"] if moderated else "Operator", page)
        rounds = round(dice.integer(2, 4) * min(self.length, 5.0) * self.asked)
        for number in range(max(1, rounds)):
            if number:
                page = Page()
                self.one_of(page, "operator next")
                self.turn("Operator", page)
            analyst = self.analyst.name
            page = Page()
            self.one_of(page, "analyst opening")
            for pattern in dice.shuffled(_lines("analyst body"))[: dice.integer(1, 2)]:
                self.write(page, pattern)
            self.turn(analyst, page)
            page = Page()
            self.one_of(page, "answer opening")
            for pattern in dice.shuffled(_lines("answer body"))[: dice.integer(2, 3)]:
                self.write(page, pattern)
            self.turn(names[dice.pick(("ceo", "ceo", "cfo"))], page)
        page = Page()
        self.one_of(page, "ceo bye")
        self.turn(names["ceo"], page)
        page = Page()
        self.one_of(page, "operator bye")
        self.turn("Operator", page)


def _capitalised(word: str) -> Filled:
    return Filled(word[0].upper() + word[1:])


#: Slots that one line says.
_SIMPLE: dict[str, Callable[[Call], Filled]] = {
    "everywhere": lambda c: Filled(_NAME, "Organization"),
    "fy": lambda c: Filled(f"fiscal {c.year}", "Date"),
    "fy_next": lambda c: Filled(f"fiscal {c.year + 1}", "Date"),
    "year": lambda c: Filled(str(c.year), "Date"),
    "year_ago": lambda c: Filled(str(c.year - 1), "Date"),
    "year_next": lambda c: c._year(1, 3),
    "year_past": lambda c: c._year(-9, -3),
    "year_far": lambda c: c._year(5, 15),
    "usd": lambda c: c._money_between(0.2, 0.9),
    "usd_part": lambda c: c._money_between(0.2, 0.5),
    "usd_lo": lambda c: Filled(_money(c.revenue * 1.01)),
    "usd_hi": lambda c: Filled(_money(c.revenue * 1.05)),
    "usd_fy_lo": lambda c: Filled(_money(c.revenue * 4.02)),
    "usd_fy_hi": lambda c: Filled(_money(c.revenue * 4.14)),
    "usd_s": lambda c: c._money_between(0.01, 0.12),
    "usd_tiny": lambda c: c._money_between(0.001, 0.01),
    "usd_b": lambda c: Filled(f"${c.dice.uniform(1, 9):.1f} billion"),
    "eps_ago": lambda c: Filled(f"${c.eps / (1.05 + c.growth / 100):.2f}"),
    "eps_lo": lambda c: Filled(f"${c.eps * 1.02:.2f}"),
    "eps_hi": lambda c: Filled(f"${c.eps * 1.09:.2f}"),
    "dividend": lambda c: Filled(f"${c.dice.uniform(0.08, 0.6):.2f}"),
    "shares": lambda c: Filled(f"{c.dice.uniform(0.4, 9.0):.1f}"),
    "shareprice": lambda c: Filled(f"${c.dice.uniform(14, 180):.2f}"),
    "pct": lambda c: c._percent(3, 14, c.dice.integer(0, 1)),
    "growth_lo": lambda c: Filled(f"{c.growth - 1.0:.0f}%"),
    "growth_hi": lambda c: Filled(f"{c.growth + 1.5:.0f}%"),
    "pct2": lambda c: c._percent(0.4, 3, 1),
    "bigpct": lambda c: c._percent(15, 60),
    "midpct": lambda c: c._percent(71, 84),
    "highpct": lambda c: c._percent(87, 99),
    "margin": lambda c: Filled(f"{c.margin + c.dice.uniform(-0.6, 0.6):.1f}%"),
    "taxrate": lambda c: c._percent(17, 27, 1),
    "leverage": lambda c: Filled(f"{c.dice.uniform(0.6, 3.4):.1f}"),
    "n2": lambda c: c._integer(12, 40),
    "nth": lambda c: Filled(c.dice.pick(("third", "fourth", "sixth", "tenth"))),
    "days": lambda c: Filled(f"{c.dice.integer(38, 97)} days"),
    "count": lambda c: c._integer(6, 160, 10),
    "count_s": lambda c: c._integer(24, 190),
    "headcount_s": lambda c: c._integer(8, 90, 10),
    "users_cap": lambda c: _capitalised(c.firm.sector.words["users"]),
    "buyers_cap": lambda c: _capitalised(c.firm.sector.words["buyers"]),
} | {
    key: lambda c, key=key: c._word(key)
    for key in ("goods", "good", "users", "buyers", "inputs", "site", "sites", "metric", "craft")
}


def check_periods(owner: str, periods: Sequence[str]) -> tuple[str, ...]:
    """Return the periods, or say which one is not a quarter."""
    for period in periods:
        if not re.fullmatch(r"[12]\d{3}Q[1-4]", period):
            raise parameter_error(owner, "periods", "quarters such as '2031Q2'", period)
    if not periods or len(set(periods)) < len(periods):
        raise parameter_error(owner, "periods", "one or more different quarters", list(periods))
    return tuple(periods)


def which_company(document: int, n_periods: int) -> int:
    """Return the company of a document.

    In every period half of the companies report in all periods, the others in that one only, so a
    quarter has both firms to compare with other quarters and firms of its own.
    """
    place, period = divmod(document, n_periods)
    pair, alone = divmod(place, 2)
    return pair * (1 + n_periods) + (1 + period if alone else 0)


def call(
    document: int,
    seed: int = DEFAULT_SEED,
    periods: Sequence[str] = DEFAULT_PERIODS,
    length: float = 1.0,
    skew: str = "none",
    asked: float = 1.0,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return one call and its gold annotation.

    Parameters
    ----------
    document : int
        0-based number of the document.
    seed : int, optional
        Seed of the invented world.
    periods : sequence of str, optional
        Quarters; documents take turns through them.
    length : float, optional
        Multiplies the number of topics of each speaker.
    skew : {"none", "giant-document", "giant-company", "heavy-tail", "one-topic", "one-name"}
        See :func:`calls`.
    asked : float, optional
        Multiplies the number of questions.

    Returns
    -------
    document : dict
        Keys document_id, company_name, ticker, aliases, website, financial_quarter, sector,
        speakers (id to name) and turns (speaker_id, speaker, text).
    gold : dict
        document_id, qa_start_turn (0-based index of the first turn of the questions),
        executive_speaker_ids, and spans: lists of turn, start, end (half-open code points of the
        turn's text), kind and surface. A kind is a category of entities, ``company``, ``person``
        or ``url`` for a direct identifier, or ``Other`` for a name that fits no category.
    """
    firm_index = which_company(document, len(periods))
    dice = Dice("skew", seed, document)
    if skew == "giant-company" and dice.chance(0.4):
        firm_index = 0
    if skew == "giant-document" and document == 0:
        length *= GIANT
    if skew == "heavy-tail":
        length *= min(float(GIANT), (1.0 - dice.uniform()) ** (-1 / 1.3))
    period = periods[document % len(periods)]
    firm = company(seed, firm_index)
    made = Call(firm, period, seed, document, length, asked, skew)
    made.compose()
    document_id = f"call-{document + 1:07d}"
    officers = {who.name for who, _ in firm.officers.values()}
    return (
        {
            "document_id": document_id,
            "company_name": firm.name,
            "ticker": firm.ticker,
            "aliases": list(firm.aliases),
            "website": firm.website,
            "financial_quarter": period,
            "sector": firm.sector.name,
            "speakers": made.speakers,
            "turns": made.turns,
        },
        {
            "document_id": document_id,
            "qa_start_turn": made.questions,
            "executive_speaker_ids": [k for k, v in made.speakers.items() if v in officers],
            "spans": made.gold,
        },
    )


def calls(
    documents: int = DEFAULT_DOCUMENTS,
    seed: int = DEFAULT_SEED,
    periods: Sequence[str] = DEFAULT_PERIODS,
    length: float = 1.0,
    skew: str = "none",
    start: int = 0,
    asked: float = 1.0,
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Make calls with their gold annotations, one at a time.

    A document depends on the seed, the periods and its own number only: a longer corpus begins with
    the shorter one, and parts made with different ``start`` fit together.

    Parameters
    ----------
    documents : int, optional
        How many.
    seed : int, optional
        Seed of the invented world.
    periods : sequence of str, optional
        Quarters such as ``2031Q2``; documents take turns through them.
    length : float, optional
        Multiplies the number of topics of each speaker; 1 gives about 1,100 words a call (7.5 kB).
    skew : {"none", "giant-document", "giant-company", "heavy-tail", "one-topic", "one-name"}
        ``giant-document``: the first call has 200 times as many topics as it would have.
        ``giant-company``: four calls in ten are of one company. ``heavy-tail``: lengths follow a
        power law. ``one-topic``: four topics in five are the same, so that one component has most
        of the chunks. ``one-name``: one organisation is named in half of all chunks.
    start : int, optional
        Number of the first document.
    asked : float, optional
        Multiplies the number of questions, which is two to four at length 1; five gives calls of
        16 kB, of which the presentation is less than a third.

    Returns
    -------
    iterator of tuple of dict
        Documents with their gold annotations; see :func:`call`.

    Raises
    ------
    ValueError
        When a parameter is out of range; the message says what is allowed.
    """
    check_positive("calls", "documents", documents)
    periods = check_periods("calls", periods)
    if not 0 < length <= 1000:
        raise parameter_error("calls", "length", "a number above 0, at most 1000", length)
    if not 0 < asked <= 1000:
        raise parameter_error("calls", "asked", "a number above 0, at most 1000", asked)
    if skew not in SKEWS:
        raise parameter_error("calls", "skew", f"one of {', '.join(SKEWS)}", skew)
    if start < 0:
        raise parameter_error("calls", "start", "0 or more", start)
    return (call(n, seed, periods, length, skew, asked) for n in range(start, start + documents))
