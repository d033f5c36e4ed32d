"""Clues: what of them stands in a text, and where."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nes_spark.entities.clues import MOST_WORDS, clue_mentions, read_clue
from nes_spark.entities.mentions import Mention

TEXT = (
    "We embrace reality, and redefine winning.\n\nOur local news app grew 24 percent; the apps of "
    "[Company Name] are turboprops' best friend. Orion's turbo-prop sells to retailers."
)


def words_of(found):
    return [" ".join(clue.words) for clue in found]


@pytest.mark.parametrize(
    ("clue", "expected"),
    [
        ("embrace reality, and redefine winning", ["embrace reality and redefine winning"]),
        # case, accents, what stands between, singular and plural, grammar at the ends
        ("The LOCAL néws Apps", ["local new app"]),
        ("turbo prop", ["turbo prop"]),
        # an exchange had brought in other words, or the reader goes over a placeholder
        ("We embrace reality, and Hadria winning", ["embrace reality"]),
        ("news app of [Company Name] are turboprops", ["new app", "turboprop"]),
        ("local news app of Hadria grew 24 percent", ["local new app", "grew 24 percent"]),
        # one word that is left of a clue tells nothing by itself
        ("Hadria friend", []),
        ("of the", []),
        ("", []),
        ("[Term]", []),
    ],
)
def test_what_of_a_clue_a_text_has(clue, expected):
    assert words_of(read_clue(clue, TEXT)) == expected


def test_the_pieces_of_a_clue_are_the_longest_ones():
    text = "The core segment has high margins. High pressure pumps of the core segment sell."
    assert words_of(read_clue("high pressure pumps in high margins", text)) == [
        "high pressure pump",
        "high margin",
    ]


@pytest.mark.parametrize(
    ("clue", "wide"),
    [
        ("turboprops", True), ("best friend", True), ("retailers", True),
        # everybody says it; a verb; a number
        ("reality", False), ("grew", False), ("24", False),
    ],
)  # fmt: skip
def test_which_tell_in_the_whole_document(clue, wide):
    assert [found.wide for found in read_clue(clue, TEXT)] == [wide]


def test_a_text_is_no_clue():
    long = " ".join(f"word{i}" for i in range(MOST_WORDS + 1))
    assert read_clue(long, long) == []
    assert len(read_clue(long.rpartition(" ")[0], long)) == 1


def test_words_of_two_paragraphs_are_no_clue():
    assert words_of(read_clue("winning our local news", TEXT)) == ["local new"]
    assert clue_mentions(TEXT, [("winning", "our", "local")]) == []
    assert read_clue("reality redefine", "reality, [Term] redefine") == []


def test_places_are_joined_and_lie_outside_of_mentions():
    start = TEXT.index("Orion")
    known = [Mention(start, start + 5, "Product", "Orion", "Orion")]
    clues = [
        ("local", "new"),
        ("new", "app"),
        ("grew",),
        ("best", "friend"),
        ("orion", "s", "turbo"),
    ]
    found = clue_mentions(TEXT, clues, known)
    # "s" of a possessive is no word; news and app are one place with "grew" behind
    assert [m.surface for m in found] == ["local news app grew", "best friend", "turbo"]
    assert [m.entity for m in found] == ["local new app grew", "best friend", "turbo"]
    assert {m.category for m in found} == {"Clue"}
    assert clue_mentions(TEXT, [("orion",)], known) == []


def test_terms_that_a_clue_touches_are_part_of_it():
    text = "Our power tools segment sells ladders, ladders and power cords."
    spans = {"power tools": "Term", "sells": "Product", "ladders": "Term", "cords": "Term"}
    known = [
        Mention(text.index(s), text.index(s) + len(s), category, s, s)
        for s, category in spans.items()
    ]
    found = clue_mentions(text, [("tool", "segment", "sell"), ("power",)], known)
    assert [m.surface for m in found] == ["power tools segment", "power cords"]
    # terms by themselves are no clues, side by side or not
    assert clue_mentions("Ladders cords.", [("power",)], [
        Mention(0, 7, "Term", "Ladders", "ladders"), Mention(8, 13, "Term", "cords", "cords"),
    ]) == []  # fmt: skip


WORDS = st.sampled_from(
    ["cement", "kiln", "of", "the", "[Term]", "news.", "24", "grew,", "Acme", "it's", "\n\n"]
)


@given(
    st.lists(WORDS, max_size=30).map(" ".join),
    st.lists(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), max_size=5),
    st.integers(0, 60),
    st.integers(1, 8),
)
def test_places_are_disjoint_and_true(text, clues, start, length):
    blocked = [Mention(start, min(len(text), start + length), "Person", "", "")]
    told = {clue.words for given in clues for clue in read_clue(given, text)}
    found = clue_mentions(text, told, blocked)
    for m in found:
        assert m.surface == text[m.start : m.end].strip() != ""
        assert "[" not in m.surface
        assert m.end <= blocked[0].start or m.start >= blocked[0].end
    assert all(a.end < b.start for a, b in pairwise(found))
    # without mentions every clue that the text has is covered wherever it stands
    everywhere = clue_mentions(text, told)
    for words in told:
        (alone,) = [clue_mentions(text, [words])]
        assert alone
        for m in alone:
            assert any(k.start <= m.start and m.end <= k.end for k in everywhere)
    # and once it is blanked, nothing is left
    shown = text
    for m in reversed(everywhere):
        shown = shown[: m.start] + "[Term]" + shown[m.end :]
    assert clue_mentions(shown, told) == []
