"""What a text gives away of a name that was exchanged, and what it does not."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nes_spark.entities.mentions import Mention
from nes_spark.swapping import short_forms
from nes_spark.swapping.rewriting import (
    Replacement,
    apply_edits,
    given_by,
    invert_edits,
    rewrite_text,
    with_short_forms,
)
from nes_spark.swapping.short_forms import Names, find_left, given_away, short_entities


def mark(text: str, *names: tuple[str, str, str]) -> list[Mention]:
    """Mentions of (category, surface, entity): every place where the surface stands alone."""
    out = [
        Mention(*match.span(), category, surface, entity)
        for category, surface, entity in names
        for match in re.finditer(rf"(?<!\w){re.escape(surface)}(?!\w)", text)
    ]
    return sorted(out, key=lambda m: m.start)


MARIA = ("Person", "Maria Lindqvist", "Maria Lindqvist")
STONE = ("Person", "Harriet Stone", "Harriet Stone")
ORION = ("Organization", "Orion Widgets Ltd.", "Orion Widgets")
ZIMMER = ("Organization", "Zimmer Biomet", "Zimmer Biomet")
YORK = ("Location", "New York", "New York")

REFUSED = [
    # a surname, a given name, their possessives and plurals, another title
    (MARIA, "Ines Vidal", "Ines Vidal sued. Lindqvist won.", ["Lindqvist"]),
    (MARIA, "Ines Vidal", "Ines Vidal sued. Lindqvist's claim", ["Lindqvist"]),
    (MARIA, "Ines Vidal", "Ines Vidal sued. The Lindqvists left.", ["Lindqvist"]),
    (MARIA, "Ines Vidal", "Ines Vidal, says Maria, won.", ["Maria"]),
    (MARIA, "Ines Vidal", "Ines Vidal and MS. LINDQVIST won.", ["Lindqvist"]),
    (MARIA, "Ines Vidal", "Ines Vidal: write to maria.lindqvist@mail.test", ["Lindqvist", "Maria"]),
    # an ordinary word behind a title is a surname
    (STONE, "Ines Vidal", "Ines Vidal asked Ms. Stone to leave.", ["Stone"]),
    # the first word of a company, and half of its name
    (ORION, "Vega", "Vega lost and Orion appealed.", ["Orion"]),
    (ORION, "Vega", "Vega's and ORION's boilers", ["Orion"]),
    (ORION, "Vega", "Vega Widgets of orion.example", ["Orion"]),
    (ZIMMER, "Vega", "Vega Biomet paid.", ["Biomet"]),
    (ZIMMER, "Vega", "Vega paid Zimmer-owned firms.", ["Zimmer"]),
    # a place, whole or by its own part; another spelling
    (YORK, "Osaka", "Osaka is not New York.", ["New York"]),
    (("Location", "United States", "United States"), "Peru", "Peru, not the U.S., won.", ["U.S."]),
    # a whole name of ordinary words
    (
        ("Product", "Forward Strategy", "Forward Strategy"),
        "TallyWren",
        "TallyWren, our Forward Strategy",
        ["Forward Strategy"],
    ),
    (("Organization", "FDA", "FDA"), "NHTSA", "NHTSA rules; FDA rules", ["FDA"]),
]


@pytest.mark.parametrize(("name", "new", "after", "words"), REFUSED)
def test_texts_that_give_a_name_away(name, new, after, words):
    before = f"Text of {name[1]} here."
    mentions = mark(before, name)
    assert given_away(before, mentions, {(name[0], name[2]): new}, after) == sorted(words)
    # by the entity alone, and with the forms of the new name
    assert given_away(before, mentions, {name[2]: Replacement(new, (new,))}, after)


ACCEPTED = [
    # ordinary words in lower case and at sentences' starts
    (STONE, "Ines Vidal", "Ines Vidal fell. Stone walls and a stone floor."),
    (STONE, "Ines Vidal", "Ines Vidal built it of Stone and Glass."),
    (ORION, "Vega", "Vega sold widgets. Widgets Ltd. companies are many."),
    (("Organization", "Target", "Target"), "Vega", "Vega met its target. Target prices rose."),
    # generic parts of institutions, companies and places
    (("Organization", "Bank of Mexico", "Bank of Mexico"), "USDA", "USDA and a Bank in Mexico"),
    (("Organization", "Court of Appeals", "Court of Appeals"), "FCC", "FCC. The Court dismissed"),
    (("Organization", "New Hampshire PUC", "New Hampshire PUC"), "FCC", "FCC in New Jersey"),
    (YORK, "Osaka", "Osaka has New stores in Central Park."),
    (("Location", "San Diego", "San Diego"), "Osaka", "Osaka, San Jose and San Antonio"),
    (
        ("Organization", "Orion Holdings", "Orion Holdings"),
        "Vega",
        "Vega Holdings plc and its Group",
    ),
    # what the name that came in holds
    (ORION, "Orion Foods", "Orion Foods lost."),
    (ORION, "Orion's", "Orion lost."),
    (MARIA, "Maria Keller", "Maria Keller won, and Maria smiled."),
    # months, days, titles, acronyms of trade
    (("Person", "April May", "April May"), "Ines Vidal", "Ines Vidal came in April and May."),
    (("Organization", "Ambulance EBITDA", "Ambulance EBITDA"), "FCC", "FCC had EBITDA of four."),
    (("Person", "Judge Moss", "Moss"), "Ines Vidal", "Judge Vidal is a Judge."),
    # inside a placeholder
    (MARIA, "Ines Vidal", "Ines Vidal met [Lindqvist]."),
    # another word that only begins alike
    (("Organization", "Pall", "Pall"), "Vega", "Vega put Pallets and a Palladium coat there."),
    (("Organization", "AIM", "AIM"), "Vega", "Vega's Aim and its aims"),
]


@pytest.mark.parametrize(("name", "new", "after"), ACCEPTED)
def test_texts_that_give_nothing_away(name, new, after):
    before = f"Text of {name[1]} here."
    mentions = mark(before, name)
    assert mentions
    assert given_away(before, mentions, {(name[0], name[2]): new}, after) == []


def test_what_other_names_of_the_chunk_hold_may_stay():
    before = "Maria Lindqvist and Peter Lindqvist sued. Lindqvist won."
    mentions = mark(before, MARIA, ("Person", "Peter Lindqvist", "Peter Lindqvist"))
    key = {("Person", "Maria Lindqvist"): "Ines Vidal"}
    after = "Ines Vidal and Peter Lindqvist sued. Lindqvist won."
    assert given_away(before, mentions, key, after) == []
    # the same name in another category that no recogniser confuses
    before = "Amazon sells in the Amazon."
    mentions = [
        Mention(0, 6, "Organization", "Amazon", "Amazon"),
        Mention(20, 26, "Location", "Amazon", "Amazon"),
    ]
    key = {("Organization", "Amazon"): "Vega"}
    assert given_away(before, mentions, key, "Vega sells in the Amazon.") == []


def test_a_short_form_is_no_excuse_for_itself():
    before = "Maria Lindqvist sued. Lindqvist won."
    # an entity of its own, as a person or taken for an organisation
    for category in ("Person", "Organization", "Product"):
        mentions = mark(before, MARIA)
        mentions.append(Mention(22, 31, category, "Lindqvist", "Lindqvist"))
        key = {("Person", "Maria Lindqvist"): "Ines Vidal"}
        after = "Ines Vidal sued. Lindqvist won."
        assert given_away(before, mentions, key, after) == ["Lindqvist"]
        new = rewrite_text(before, mentions, {k: Replacement(v, (v,)) for k, v in key.items()})
        assert new.text == "Ines Vidal sued. Vidal won."


def test_a_chunk_that_gave_nothing_gives_nothing_away():
    mentions = mark("Maria Lindqvist won.", MARIA)
    assert given_away("Maria Lindqvist won.", mentions, {}, "Maria Lindqvist won.") == []


def test_a_figure_that_begins_like_a_name_is_not_the_name():
    name = ("Product", "R&D 0", "R&D 0")
    mentions = mark("It was R&D 0 at first.", name)
    key = {("Product", "R&D 0"): "P 50"}
    assert not given_away("It was R&D 0 at first.", mentions, key, "P 50, or R&D 0.3 billion.")
    for left in ("P 50, or R&D 0.", "P 50, or R&D 0, again.", "P 50, or R&D 0"):
        assert given_away("It was R&D 0 at first.", mentions, key, left) == ["R&D 0"]


def test_words_that_the_text_or_the_caller_knows_as_ordinary():
    name = ("Product", "Reblochon", "Reblochon")
    mentions = mark("We sell Reblochon.", name)
    key = {("Product", "Reblochon"): "TallyWren"}
    assert given_away("We sell Reblochon.", mentions, key, "TallyWren. Reblochon wheels") == [
        "Reblochon"
    ]
    assert not given_away(
        "We sell Reblochon.", mentions, key, "TallyWren. Reblochon wheels", ordinary={"reblochon"}
    )
    before = "We sell Reblochon Gold, a reblochon cheese."
    mentions = mark(before, ("Product", "Reblochon Gold", "Reblochon Gold"))
    key = {("Product", "Reblochon Gold"): "TallyWren"}
    assert given_away(before, mentions, key, "We sell TallyWren. Reblochon cheese") == []


def test_entities_that_are_short_forms():
    mentions = mark(
        "Zimmer Biomet, Zimmer, Biomet Europe, Europe, Western Europe, Bank",
        ZIMMER,
        ("Organization", "Zimmer,", "Zimmer"),
        ("Organization", "Biomet Europe", "Biomet Europe"),
        ("Location", "Europe", "Europe"),
        ("Location", "Western Europe", "Western Europe"),
    )
    names = {("Organization", "Zimmer Biomet"): ("Zimmer Biomet",)}
    names |= {("Location", "Western Europe"): ("Western Europe",)}
    assert short_entities(mentions, names) == {
        ("Organization", "Zimmer"): ("Organization", "Zimmer Biomet")
    }


def test_the_table_follows_the_text_only_inside_a_category():
    text = "Zimmer Biomet and Zimmer; Maria Lindqvist, Lindqvist"
    mentions = mark(text, ZIMMER, MARIA)
    mentions += [
        Mention(18, 24, "Organization", "Zimmer", "Zimmer"),
        Mention(43, 52, "Organization", "Lindqvist", "Lindqvist"),
    ]
    new = {
        ("Organization", "Zimmer Biomet"): Replacement("Vega Labs", ("Vega Labs",)),
        ("Person", "Maria Lindqvist"): Replacement("Ines Vidal", ("Ines Vidal",)),
    }
    settled = with_short_forms(sorted(mentions, key=lambda m: m.start), new)
    assert settled == new | {("Organization", "Zimmer"): new["Organization", "Zimmer Biomet"]}
    done = rewrite_text(text, mentions, new)
    assert done.text == "Vega Labs and Vega; Ines Vidal, Vidal"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("So Lindqvist won.", ["Lindqvist"]),
        ("[Lindqvist] won; LindqvistCo too; Lindqvistic", []),
        ("Maria and Lindqvist, Maria Lindqvist", ["Maria", "Lindqvist", "Maria Lindqvist"]),
        ("lindqvist as a word, but x@lindqvist.test", ["lindqvist"]),
    ],
)
def test_where_names_are_left(text, found):
    names = {("Person", "Maria Lindqvist"): ("Maria Lindqvist",)}
    left = find_left(text, names, [])
    assert [text[f.start : f.end] for f in left] == found
    assert [f.glued for f in left] == [f.islower() for f in found]
    assert find_left(text, names, [(0, len(text))]) == []


TOKENS = [
    *(
        "Zimmer",
        "Biomet",
        "Zimmer Biomet",
        "Zimmer Biomet Ltd.",
        "Personal Care",
        "Care",
        "Zimmers",
    ),
    *(
        "Ann Stone",
        "Stone",
        "Ann",
        "Judge Ann Stone",
        "New York",
        "York State",
        "York",
        "US",
        "U.S.",
    ),
    *("King Air", "King Air 360", "ADX-13", "ADX", "Zimmer's", "ZIMMER", "Orion", "Chicago"),
]
FILL = [
    "the",
    "a",
    "and",
    "of",
    "Mr.",
    ",",
    ".",
    "-",
    "sued",
    "rose",
    "x@zimmer.test",
    "\n",
    "New",
    "Ltd.",
]
NEW = {
    "Organization": ["Vega Labs", "Orion", "FCC"],
    "Person": ["Ana Orr", "Vidal"],
    "Product": ["TallyWren 9", "RASP"],
    "Location": ["Osaka", "Netherlands"],
}


@st.composite
def marked(draw):
    """A text of names and fillers; some names are mentions, of any category, whole or by half."""
    text, mentions = "", []
    n = draw(st.integers(1, 12))
    rng = random.Random(draw(st.integers(0, 2**32)))  # a draw of its own a word takes seconds
    for _ in range(n):
        if rng.random() < 0.5:
            name = rng.choice(TOKENS)
            if rng.randrange(3):
                category = rng.choice(sorted(NEW))
                entity = rng.choice([name, name.split()[0].rstrip("s'")])
                mentions.append(Mention(len(text), len(text) + len(name), category, name, entity))
            text += name
        else:
            text += rng.choice(FILL)
        # nobody writes "Zimmer's's"
        text += rng.choice([" ", " ", " ", "", " " if text.endswith("'s") else "'s "])
    keys = sorted({(m.category, m.entity) for m in mentions})
    given_up = [key for key in keys if rng.random() < 0.5]
    return text, mentions, {k: rng.choice(NEW[k[0]]) for k in given_up}


@settings(max_examples=700, deadline=None)
@given(marked())
def test_what_rewriting_leaves_gives_nothing_away(chunk):
    text, mentions, new = chunk
    done = rewrite_text(text, mentions, {k: Replacement(v, (v,)) for k, v in new.items()})
    assert invert_edits(done.text, done.edits) == text
    assert apply_edits(text, done.edits) == done.text
    for m in done.mentions:
        assert done.text[m.start : m.end] == m.surface
    assert given_away(text, mentions, new, done.text) == []
    assert given_away(text, mentions, given_by(done.edits), done.text) == []


def rewritten(text, name, new, *others):
    """The text after a name was exchanged for another, and what it gives away."""
    mentions = [*mark(text, name)[:1], *mark(text, *others)]
    mentions = sorted(mentions, key=lambda m: m.start)
    replacements = {(name[0], name[2]): Replacement(new, (new,))}
    done = rewrite_text(text, mentions, replacements)
    assert invert_edits(done.text, done.edits) == text
    told = given_away(text, mentions, replacements, text.replace(name[1], new, 1))
    return done.text, told


ZENTRIX = ("Organization", "Zentrix Widgets", "Zentrix Widgets")


@pytest.mark.parametrize(
    ("beside", "category"),
    [("last year", "Date"), ("customers", "Term"), ("40", "Quantity"), ("2020", "Date")],
)
def test_what_is_no_name_protects_no_name_before_it(beside, category):
    text = f"We asked Zentrix Widgets {beside}. Then Zentrix fell."
    kept = (category, beside, beside)
    assert rewritten(text, ZENTRIX, "Vega", kept) == (
        f"We asked Vega {beside}. Then Vega fell.",
        ["Zentrix"],
    )


def test_a_place_that_stays_does_not_keep_a_company_before_it():
    text = "Zentrix Widgets left. We left Zentrix Chicago in May. Then Zentrix fell."
    shown, told = rewritten(text, ZENTRIX, "Vega", ("Location", "Chicago", "Chicago"))
    assert shown == "Vega left. We left Vega Chicago in May. Then Vega fell."
    assert told == ["Zentrix"]


@pytest.mark.parametrize(
    ("name", "later", "shown"),
    [
        ("Seán O’Brolchain", "O’Brolchain won.", "Orr won."),
        ("Seán O'Brolchain", "O’Brolchain won.", "Orr won."),
        ("Zoë Straßner", "Straßner won.", "Orr won."),
        ("Maria Lindqvist", "Two Lindqvists won.", "Two Orrs won."),
        ("Mia Berry", "Two Berrys won.", "Two Orrs won."),
    ],
)
def test_short_forms_in_other_writings(name, later, shown):
    text = f"{name} sued. {later}"
    done, told = rewritten(text, ("Person", name, name), "Ana Orr")
    assert done == f"Ana Orr sued. {shown}"
    assert told


@pytest.mark.parametrize("address", ["ir@zentrix.com", "@zentrix", "#zentrix", "?q=zentrix"])
def test_an_address_is_found_and_does_not_make_its_words_ordinary(address):
    text = f"Zentrix Widgets lost. See {address} now. Zentrix won."
    done, told = rewritten(text, ZENTRIX, "Vega")
    assert done == f"Vega lost. See {address.replace('zentrix', 'vega')} now. Vega won."
    assert told == ["Zentrix"]


PARTS = ["Keller", "keller", "KELLER", "Straßner", "STRASSNER", "Aé", "Company", "Companies"]
PARTS += ["O'Neill", "Vega’s", "d'", "-", " ", ". ", "/", "@", ".org", "Kellers", "ſoft", "K", "of"]
FORMS = ["Keller", "Keller Soft", "Straßner", "O'Neill", "Vega Company", "ſoft K", "Aé Ltd."]


class Searched(Names):
    """Looks at everything, whatever is taken."""

    def _may_begin(self, text, rest):
        return True


@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.sampled_from(PARTS), max_size=14).map("".join),
    st.lists(st.sampled_from(FORMS), min_size=1, max_size=3, unique=True),
    st.sampled_from(["Person", "Organization", "Event"]),
    st.data(),
)
def test_what_is_looked_at_first_hides_no_name(text, forms, category, data):
    places = st.integers(0, len(text))
    cuts = sorted(data.draw(st.lists(places, max_size=4, unique=True)))
    taken = [*zip(cuts[::2], cuts[1::2], strict=False)]
    names = {(category, form): (form,) for form in forms}
    found = Names(names, ()).find(text, taken)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(short_forms, "_without", lambda whole, _: whole + "".join(forms))
        assert Searched(names, ()).find(text, taken) == found


_SHOWN = st.sampled_from(
    re.findall(r"\S+", "Orion ORION orion Orions Stone STONE stone Ann IT it Co of [X]")
    + re.findall(r"\S+", "Ford's ford Straßner STRASSNER")
)


@given(
    st.lists(st.tuples(st.sampled_from(["Organization", "Person", "Location", "Product"]),
                       st.lists(_SHOWN, min_size=1, max_size=3)), min_size=1, max_size=4),
    st.lists(_SHOWN, max_size=8),
    st.sets(st.sampled_from(["orion", "stone", "ford", "ann", "strassner"])),
)  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_what_may_not_be_found_is_not_found_whatever_is_ordinary(names, words, ordinary):
    forms = {(category, " ".join(parts)): [" ".join(parts)] for category, parts in names}
    text = " ".join(words)
    taken = [match.span() for match in re.finditer(r"\[X\]", text)]
    if not Names(forms, ()).may_find(text, taken):
        assert Names(forms, ()).find(text, taken) == []
        assert Names(forms, (), ordinary).find(text, taken) == []


def test_a_spelling_that_another_name_hides_may_be_found_where_that_is_ordinary():
    forms = {("Product", "STRASSNER Orion"): [], ("Person", "Ann Straßner"): []}
    text, ordinary = "Then Mr. Straßner came.", {"strassner"}
    assert [f.form for f in Names(forms, (), ordinary).find(text, [])] == ["Straßner"]
    company = {("Organization", "Strassner GmbH"): [], ("Person", "Ann Straßner"): []}
    assert [text[f.start : f.end] for f in Names(company, ()).find(text, [])] == ["Straßner"]
    assert Names(forms, ()).may_find(text, [])


def test_a_name_that_stands_may_be_found():
    names = Names({("Organization", "Orion Widgets"): ["Orion Widgets"]}, ())
    assert names.may_find("Then Orions came.", []) and names.may_find("press@orion.org", [])
    assert not names.may_find("Nobody came.", []) and not names.may_find("Orion", [(0, 5)])
