"""Rewriting changes exactly the characters it means to change, and can be undone exactly."""

from __future__ import annotations

import contextlib
import random
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nes_spark.entities.mentions import Mention
from nes_spark.errors import LedgerError
from nes_spark.swapping import (
    Secret,
    apply_edits,
    entities_after,
    invert_edits,
    plan_exchange,
    rewrite_pair,
    rewrite_text,
)
from nes_spark.swapping.exchange import Exchange
from nes_spark.swapping.rewriting import (
    ARTICLE_CATEGORY,
    Replacement,
    entity_of,
    resolve_overlaps,
)
from nes_spark.swapping.short_forms import given_away

CATEGORIES = ("Organization", "Product", "Event")
NAMES = {
    "Organization": ["Orion", "Umbra Works", "Ärzte AG", "株式会社", "IBM", "שלום", "O'Neil & Co."],
    "Product": ["iLoom", "Zephyr 9", "Ampere", "𝔄𝔵𝔦𝔰", "e\u0301clair"],
    "Event": ["Iron Forum", "Expo"],
}


def mark(text: str, **names: dict[str, str | list[str]]) -> list[Mention]:
    """Find names in a text: category -> {entity: surface or surfaces}."""
    out = []
    for category, entities in names.items():
        for entity, surfaces in entities.items():
            for surface in [surfaces] if isinstance(surfaces, str) else surfaces:
                for match in re.finditer(re.escape(surface), text):
                    out.append(Mention(*match.span(), category, surface, entity))
    return resolve_overlaps(out)


def swap_one(text: str, old: str, new: str, category="Organization", entity=None, **options):
    mentions = mark(text, **{category: {entity or old: old}})
    return rewrite_text(
        text, mentions, {(category, entity or old): Replacement(new, (new,))}, **options
    ).text


# -- properties --------------------------------------------------------------------------------

LETTERS = [*"abcAsn '’.,\n\"-", "😀", "\u0301", "\u202e", "ש", "é", "𝔄"]


@st.composite
def chunks(draw):
    """A text with mentions; neighbours may be adjacent."""
    n = draw(st.integers(1, 7))
    rng = random.Random(draw(st.integers(0, 2**32)))  # a draw of its own a letter takes seconds

    def filler():
        return "".join(rng.choices(LETTERS, k=rng.randrange(13)))

    text, mentions = filler(), []
    for _ in range(n):
        category = rng.choice(CATEGORIES)
        name = rng.choice(NAMES[category])
        surface = name + rng.choice(["", "", "", "s", "'s", "’s", "s'"])
        mentions.append(Mention(len(text), len(text) + len(surface), category, surface, name))
        text += surface + filler()
    return text, mentions


def gave(plan, side, must_change, mentions):
    """What a chunk gave away, and for what: (category, entity) -> name."""
    out = {(e.category, e.old): e.new for e in plan if e.side == side}
    return out | {(m.category, m.entity): "[]" for m in mentions if m.category in must_change}


def entities(mentions):
    return {c: {entity_of(m) for m in mentions if m.category == c} for c in CATEGORIES}


@settings(max_examples=200, deadline=None)
@given(
    a=chunks(),
    b=chunks(),
    policy=st.sampled_from(["one_to_one", "cover"]),
    matching=st.sampled_from(["random", "similar"]),
    mend=st.booleans(),
    placeholder=st.sampled_from([None, "[Event]"]),
)
def test_a_swap_changes_whole_mentions_and_nothing_else(a, b, policy, matching, mend, placeholder):
    before = entities(a[1]), entities(b[1])
    swapped = [
        c
        for c in ("Organization", "Product")
        if before[0][c] - before[1][c] and before[1][c] - before[0][c]
    ]
    assume(swapped)
    plan = plan_exchange(*before, swapped, Secret(5).digest, policy=policy, matching=matching)
    must_change = {"Event": placeholder} if placeholder else {}
    done = rewrite_pair(*a, *b, plan, must_change=must_change, mend_articles=mend)
    for side, (text, mentions), new in zip("ab", (a, b), done, strict=True):
        # the edits are the only difference, and they invert exactly
        assert apply_edits(text, new.edits) == new.text
        assert invert_edits(new.text, new.edits) == text
        assert [e.start for e in new.edits] == sorted(e.start for e in new.edits)
        moves = {(e.category, e.old) for e in plan if e.side == side}
        replaced = [
            m for m in mentions if (m.category, m.entity) in moves or m.category in must_change
        ]
        kept = [m for m in mentions if m not in replaced]
        names = [e for e in new.edits if e.category != ARTICLE_CATEGORY]
        for m in replaced:
            (e,) = [e for e in names if e.start < m.end and m.start < e.end]
            assert e.start <= m.start and m.end <= e.end, "half of a name was exchanged"
            assert e.category == m.category
        for e in new.edits:
            assert text[e.start : e.end] == e.old
            assert not any(e.start < m.end and m.start < e.end for m in kept)
            if e.category == ARTICLE_CATEGORY:
                assert mend
                assert {e.old.lower().strip(), e.new.lower().strip()} <= {"a", "an", "the", ""}
        assert not given_away(text, mentions, gave(plan, side, must_change, mentions), new.text)
        # mentions of the new text are where they are said to be, with the entities of the plan
        for m in new.mentions:
            assert new.text[m.start : m.end] == m.surface
        after = entities(new.mentions)
        wanted = entities_after(before["ab".index(side)], plan, side)
        for category in CATEGORIES:
            assert after[category] == (set() if category in must_change else set(wanted[category]))
        assert len(new.mentions) >= sum(m.category not in must_change for m in mentions)
    if policy == "one_to_one":
        for category in swapped:
            names = [
                sorted([*x[0][category], *x[1][category]])
                for x in (before, [entities(d.mentions) for d in done])
            ]
            assert names[0] == names[1], "the multiset over the two chunks changed"


@settings(max_examples=200, deadline=None)
@given(chunk=chunks())
def test_without_anything_to_replace_nothing_changes(chunk):
    done = rewrite_text(*chunk, {})
    assert done.text == chunk[0] and done.edits == ()
    assert list(done.mentions) == chunk[1]


@settings(max_examples=200, deadline=None)
@given(chunk=chunks(), at=st.integers(0, 200), what=st.sampled_from(["x", "", "😀"]))
def test_a_changed_release_is_not_inverted_to_something_wrong_in_silence(chunk, at, what):
    text, mentions = chunk
    keys = {(m.category, m.entity) for m in mentions}
    done = rewrite_text(text, mentions, {k: Replacement("Qy", ("Qy",)) for k in keys})
    at = min(at, len(done.text))
    changed = done.text[:at] + what + done.text[at + 1 :]
    assume(changed != done.text)
    with contextlib.suppress(LedgerError):
        assert invert_edits(changed, done.edits) != text


# -- single rules ------------------------------------------------------------------------------


def test_only_whole_mentions_are_replaced():
    text = "Services grew. Global Business Services grew too."
    mentions = [
        Mention(0, 8, "Organization", "Services", "Services"),
        Mention(15, 39, "Organization", "Global Business Services", "Global Business Services"),
    ]
    done = rewrite_text(
        text, mentions, {("Organization", "Services"): Replacement("King", ("King",))}
    )
    assert done.text == "King grew. Global Business Services grew too."


def test_of_overlapping_mentions_the_longest_wins_and_adjacent_ones_survive():
    text = "Global Business Services"
    nested = [
        Mention(16, 24, "Organization", "Services", "Services"),
        Mention(0, 24, "Organization", text, text),
        Mention(0, 15, "Location", "Global Business", "GB"),
    ]
    assert resolve_overlaps(nested) == [nested[1]]
    beside = [Mention(0, 6, "X", "Global", "g"), Mention(6, 15, "Y", " Business", "b")]
    assert resolve_overlaps(beside) == beside
    done = rewrite_text(
        text, beside, {("X", "g"): Replacement("A", ("A",)), ("Y", "b"): Replacement("B", ("B",))}
    )
    assert done.text == "AB Services"


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 6)), max_size=7))
def test_of_overlapping_mentions_the_longest_stays_then_the_first(places):
    given_ = [Mention(at, at + n, "Person", "x" * n) for at, n in dict.fromkeys(places)]
    kept = []
    for m in sorted(given_, key=lambda m: (m.start - m.end, m.start)):
        if all(k.end <= m.start or m.end <= k.start for k in kept):
            kept.append(m)
    assert resolve_overlaps(given_) == sorted(kept, key=lambda m: m.start)


def test_linked_short_forms_change_too():
    long = "Cache Coherent Interconnect for Accelerators"
    text = f"The {long} (CCIX) works. CCIX's future: CCIXs everywhere."
    mentions = mark(text, Product={long: [long, "CCIX"]})
    one = rewrite_text(
        text, mentions, {("Product", long): Replacement("Ion Validator", ("Ion Validator",))}
    )
    assert one.text == "The Ion Validator (IV) works. IV's future: IVs everywhere."
    two = rewrite_text(
        text, mentions, {("Product", long): Replacement("IC Validator", ("IC Validator", "ICV"))}
    )
    assert two.text == "The IC Validator (ICV) works. ICV's future: ICVs everywhere."


def test_the_partner_says_how_an_entity_is_written():
    a, b = "Orion won.", "UMBRA'S view of Umbra Works; Umbras."
    ma = mark(a, Organization={"Orion": "Orion"})
    mb = mark(b, Organization={"Umbra Works": ["UMBRA'S", "Umbra Works", "Umbras"]})
    plan = [
        Exchange("a", "Organization", "Orion", "Umbra Works"),
        Exchange("b", "Organization", "Umbra Works", "Orion"),
    ]
    done = rewrite_pair(a, ma, b, mb, plan)
    assert done[0].text == "Umbra Works won."
    assert done[1].text == "Orion'S view of Orion; Orions."


@pytest.mark.parametrize(
    ("text", "old", "new", "entity", "expected"),
    [
        ("Orion's plan", "Orion", "Vega", None, "Vega's plan"),
        ("Orion’s plan", "Orion’s", "Atlas", "Orion", "Atlas’ plan"),
        ("Orion's plan", "Orion", "Samaritans", None, "Samaritans' plan"),
        # a name's own ending: what a verb follows owns nothing
        ("Debrett's advises it", "Debrett", "Samaritans", None, "Samaritans advises it"),
        ("Debrett’s has declared", "Debrett", "Vega", None, "Vega has declared"),
        ("Woodie's is selling it", "Woodie", "Vega", None, "Vega is selling it"),
        ("Woodie's will write", "Woodie", "Barclays", None, "Barclays will write"),
        ("Debrett's still sells it", "Debrett", "Vega", None, "Vega still sells it"),
        ("Woodie's will of iron", "Woodie", "Vega", None, "Vega's will of iron"),
        ("Orion's is lower", "Orion", "Vega", None, "Vega's is lower"),
        ("Orion's tests work", "Orion", "Vega", None, "Vega's tests work"),
        ("Atlas' plan", "Atlas'", "Vega", "Atlas", "Vega's plan"),
        ("Atlas' plan", "Atlas", "Vega", None, "Vega's plan"),
        ("Atlas' plan", "Atlas", "Boss", None, "Boss' plan"),
        ("the word 'Atlas' there", "Atlas", "Vega", None, "the word 'Vega' there"),
        ("the 'new Atlas' there", "Atlas", "Vega", None, "the 'new Vega' there"),
        ("two Galaxies", "Galaxies", "iLoom", "Galaxy", "two iLooms"),
        ("two iLooms", "iLooms", "Galaxy", "iLoom", "two Galaxies"),
        ("two iLooms", "iLooms", "Xerox", "iLoom", "two Xeroxes"),
        ("two iLooms' worth", "iLooms'", "Galaxy", "iLoom", "two Galaxies' worth"),
        ("Windows works", "Windows", "Galaxy", "Windows", "Galaxy works"),
        ("two iLooms", "iLooms", "Windows", "iLoom", "two Windows"),
    ],
)
def test_possessives_and_plurals_are_kept(text, old, new, entity, expected):
    assert swap_one(text, old, new, entity=entity) == expected


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("an Intel chip", "Intel", "Dell", "a Dell chip"),
        ("a Dell chip", "Dell", "Intel", "an Intel chip"),
        ("A Dell chip", "Dell", "IBM", "An IBM chip"),
        ("Yes. An IBM chip", "IBM", "Dell", "Yes. A Dell chip"),
        ("AN IBM CHIP", "IBM", "DELL", "A DELL CHIP"),
        ("a Dell chip", "Dell", "Sony", "a Sony chip"),
        ('a "Dell" chip', "Dell", "IBM", 'an "IBM" chip'),
        ("a\nDell chip", "Dell", "FDA", "an\nFDA chip"),
        ("vitamin a, Dell chip", "Dell", "FDA", "vitamin a, FDA chip"),
        ("the Series A Dell round", "Dell", "FDA", "the Series A FDA round"),
        ("Banana Dell", "Dell", "FDA", "Banana FDA"),
        ("a new Dell chip", "Dell", "FDA", "a new FDA chip"),
        ("a Dell chip", "Dell", "東京", "a 東京 chip"),
        ("an honest FDA, an FDA", "FDA", "Uniqlo", "an honest Uniqlo, a Uniqlo"),
        ("a 70s Dell", "70s Dell", "8x8", "an 8x8"),
    ],
)
def test_articles_follow_the_first_sound(text, old, new, expected):
    assert swap_one(text, old, new) == expected
    assert swap_one(text, old, new, mend_articles=False) == text.replace(old, new)


def test_an_article_that_belongs_to_a_name_is_left_alone():
    text = "Series a Dell"
    mentions = [Mention(0, 8, "Product", "Series a", "S"), Mention(9, 13, "X", "Dell", "Dell")]
    done = rewrite_text(text, mentions, {("X", "Dell"): Replacement("IBM", ("IBM",))})
    assert done.text == "Series a IBM"


def test_an_amount_has_one_article():
    # "with an a hundred million dollars" stood in a release
    text, amount = "Paid with a $166 million note, $20 million down.", "a hundred million dollars"
    swapped = {("Quantity", e): Replacement(amount, (amount,)) for e in ("high", "low")}
    mentions = [
        Mention(12, 24, "Quantity", "$166 million", "high"),
        Mention(31, 42, "Quantity", "$20 million", "low"),
    ]
    done = rewrite_text(text, mentions, swapped)
    assert done.text == f"Paid with {amount} note, {amount} down."
    assert invert_edits(done.text, done.edits) == text


def test_must_change_categories_become_placeholders():
    text = "Join a Fair Day's party at the Iron Forum by Orion."
    mentions = mark(
        text,
        Event={"Fair Day": "Fair Day's", "Iron Forum": "Iron Forum"},
        Organization={"Orion": "Orion"},
    )
    done = rewrite_text(text, mentions, {}, must_change={"Event": "[Event]"})
    assert done.text == "Join an [Event]'s party at the [Event] by Orion."
    assert [m.surface for m in done.mentions] == ["Orion"]
    assert [e.new_entity for e in done.edits] == ["", "", ""]
    assert invert_edits(done.text, done.edits) == text


def test_the_same_name_in_another_category_stays():
    text = "Amazon sells in the Amazon."
    mentions = [
        Mention(0, 6, "Organization", "Amazon", "Amazon"),
        Mention(20, 26, "Location", "Amazon", "Amazon"),
    ]
    done = rewrite_text(
        text, mentions, {("Organization", "Amazon"): Replacement("Orion", ("Orion",))}
    )
    assert done.text == "Orion sells in the Amazon."


@pytest.mark.parametrize("span", [(0, 4), (-1, 4), (3, 99), (4, 4)])
def test_a_mention_that_does_not_fit_is_an_error_without_text(span):
    with pytest.raises(ValueError, match="does not fit") as error:
        rewrite_text("Orion won.", [Mention(*span, "X", "Orion", "Orion")], {})
    assert "Orion" not in str(error.value)


def test_edits_of_another_text_are_refused():
    done = rewrite_text(
        "Orion won.",
        mark("Orion won.", X={"Orion": "Orion"}),
        {("X", "Orion"): Replacement("Vega", ("Vega",))},
    )
    for call, text in ((invert_edits, "Vela won."), (apply_edits, "Osiris won.")):
        with pytest.raises(LedgerError, match="does not fit"):
            call(text, done.edits)


@pytest.mark.parametrize(
    ("text", "mention", "new", "expected"),
    [
        # a title stays where it is, and none comes in
        ("Judge Alan Moss ruled.", ("Person", "Alan Moss"), "Dr. Ana Orr", "Judge Ana Orr ruled."),
        (
            "Judge Alan Moss ruled.",
            ("Person", "Judge Alan Moss"),
            "Ana Orr",
            "Judge Ana Orr ruled.",
        ),
        ("So Alan Moss ruled.", ("Person", "Alan Moss"), "Judge Ana Orr", "So Ana Orr ruled."),
        # the rest of the name, seen or not
        ("Alan Moss won. Moss's car", ("Person", "Alan Moss"), "Ana Orr", "Ana Orr won. Orr's car"),
        ("Alan Moss won, Alan.", ("Person", "Alan Moss"), "Ana Orr", "Ana Orr won, Ana."),
        ("Mr. J. P. Moss won.", ("Person", "Moss"), "Ana Orr", "Mr. Ana Orr won."),
        ("Zimmer-Biomet won.", ("Organization", "Biomet"), "Vega", "Vega won."),
        ("Zimmer Ltd. won; Zimmer", ("Organization", "Zimmer"), "Vega", "Vega won; Vega"),
        (
            "Zimmer AG (zimmer.test)",
            ("Organization", "Zimmer AG"),
            "Vega Oy",
            "Vega Oy (vega.test)",
        ),
        # full stops
        ("He sued Zimmer Ltd. The end", ("Organization", "Zimmer Ltd"), "Vega", None),
        ("He sued Zimmer Ltd. The end", ("Organization", "Zimmer Ltd."), "Vega", None),
        # articles
        ("sales in the US.", ("Location", "US"), "Chicago", "sales in Chicago."),
        ("sales in Chicago.", ("Location", "Chicago"), "US", "sales in the US."),
        ("the US market", ("Location", "US"), "Chicago", "the Chicago market"),
        # not inside another name or a placeholder, not an ordinary word
        ("Zimmer [Zimmer 1] zimmer", ("Organization", "Zimmer"), "Vega", "Vega [Zimmer 1] zimmer"),
        ("Ann Stone cut stone.", ("Person", "Ann Stone"), "Ana Orr", "Ana Orr cut stone."),
        ("Ann Stone and Ms. Stone", ("Person", "Ann Stone"), "Ana Orr", "Ana Orr and Ms. Orr"),
    ],
)
def test_names_go_whole_and_sentences_stay(text, mention, new, expected):
    category, surface = mention
    start = text.index(surface)
    found = [Mention(start, start + len(surface), category, surface, surface)]
    done = rewrite_text(text, found, {(category, surface): Replacement(new, (new,))})
    assert done.text == (expected or "He sued Vega. The end")
    assert invert_edits(done.text, done.edits) == text
    assert apply_edits(text, done.edits) == done.text
    for m in done.mentions:
        assert done.text[m.start : m.end] == m.surface


def test_a_mention_of_half_a_name_does_not_save_the_name():
    text = "Personal Care grew. Demand for Personal Care was strong; our Care label too."
    mentions = [
        Mention(31, 44, "Product", "Personal Care", "Personal Care"),
        # seen by half, as an entity of its own
        Mention(9, 13, "Product", "Care", "Care"),
        Mention(61, 65, "Product", "Care", "Care"),
    ]
    new = {("Product", "Personal Care"): Replacement("TallyWren", ("TallyWren",))}
    done = rewrite_text(text, mentions, new)
    assert done.text == "TallyWren grew. Demand for TallyWren was strong; our Care label too."
    assert [m.surface for m in done.mentions] == ["TallyWren", "TallyWren", "Care"]
    assert given_away(text, mentions, new, done.text) == []
    assert given_away(text, mentions, new, text) == ["Personal Care"]
    assert invert_edits(done.text, done.edits) == text


def test_what_was_broken_off_before_a_term_goes_with_it():
    text = "A new dig-, uh, digital offer and a Tur- turboprop. Non- digital sales fell."
    mentions = mark(text, Term={"digital": "digital", "turboprop": "turboprop"})
    done = rewrite_text(text, mentions, {}, must_change={"Term": "[Term]"})
    assert done.text == "A new [Term] offer and a [Term]. Non- [Term] sales fell."
    assert invert_edits(done.text, done.edits) == text
    text = "Dig-, uh, digital sales fell."
    done = rewrite_text(
        text, mark(text, Term={"digital": "digital"}),
        {("Term", "digital"): Replacement("solar/adjective", ("solar",))},
    )  # fmt: skip
    assert done.text == "Solar sales fell." and invert_edits(done.text, done.edits) == text
    # as of a figure nothing goes
    text = "It rose by 1- 12 million."
    figures = mark(text, Quantity={"12 million (count/e+7/+)": "12 million"})
    new = Replacement("15 million (count/e+7/+)", ("15 million",))
    done = rewrite_text(text, figures, {("Quantity", figures[0].entity): new})
    assert done.text == "It rose by 1- 15 million."


def test_a_name_from_speech_without_capitals_is_written_as_the_text_writes_names():
    assert swap_one("Father Roe rang.", "Roe", "karen ann", "Person") == "Father Karen Ann rang."
    assert swap_one("Leeds's end", "Leeds", "hull", "Location") == "Hull's end"
    assert swap_one("i met roe there", "roe", "karen", "Person") == "i met karen there"
    # of things many are written small
    assert swap_one("an Ampere", "Ampere", "adidas", "Product") == "an adidas"
