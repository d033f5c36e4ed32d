"""What is looked for around spots alone is what a search of the whole text finds."""

import itertools
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nes_spark.entities import told_keys
from nes_spark.text import numbers, said_dates
from nes_spark.text.forms import Words
from nes_spark.text.matching import _SPELLED, spelled_letters
from nes_spark.text.spots import matches_around, standing

KEY = re.compile(r"\b(?:no|ref) {0,3}(?P<key>\d{3,5})(?![\d%]|[.,]\d)")


@given(st.lists(st.sampled_from(["no", "ref", " ", "1", "234", "56", "%", ".", "x" * 9, "é"])))
def test_as_a_search_of_the_whole(parts):
    text = "".join(parts)
    spots = [m.span() for m in re.finditer(r"\d{3,}", text)]
    found = matches_around(KEY, text, spots, 6, 2)
    assert [m.span() for m in found] == [m.span() for m in KEY.finditer(text)]


def test_without_spots_nothing_is_looked_at():
    assert list(matches_around(KEY, "no 123", [], 6, 2)) == []


TOLD = [
    "order no", "national insurance, numbered", "medical record number", "NHS", "Ref:", "#",
    "AB no", "MRN? It is on the letter, I have it here somewhere", "fleet no.", "P/N", "part", "in",
    "since",
]  # fmt: skip
BETWEEN = [" ", ": ", ": is, \t #\t", " was ", ", ", "\n"]
ENDS = ["", " and so", "\n{told} {key}", "İ"]
KEYS = [
    "4516", "2318405062", "4836/GB 430683", "AB-12345-6", "123 456 789%", "12345.6", "May 1992",
    "oh seven double six, and then one two um, five zero", "triple nine 7 three 8 four 1 six",
    "double one, and then, treble five, and then, nought, and then, triple nine, and then, two",
    f"oh one {'2 3 4 5 6 7 8 9 1 ' * 5}one two three", "nineteen eighty-four",
    "two thousand and twenty-six", "twenty-oh-nine pounds",
    "the thirty-first day of the twelfth in the year two thousand and twenty-nine",
    "the twenty-seventh day of september, nineteen ninety-nine", "third of May 1992",
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    ("finds", "pattern"),
    [
        (told_keys._told_keys, told_keys._KEY),
        (told_keys._grouped_keys, told_keys._GROUPED_KEY),
        (told_keys._long_keys, told_keys._LONG_KEY),
        (numbers._said, numbers._SAID_FIGURES),
        (said_dates._said_days, said_dates._DAY),
        (said_dates._said_years, said_dates._YEAR),
    ],
    ids=lambda of: getattr(of, "__name__", ""),
)
def test_no_key_number_or_day_is_missed(finds, pattern, key):
    # What stands far before and what follows are looked at apart from what stands just before:
    # each pair of words has two of the eight surroundings, in turn, and each word has them all.
    around = itertools.cycle(itertools.product(("", "and so on " * 30), ENDS))
    for n, (told, between) in enumerate(itertools.product(TOLD, BETWEEN)):
        for far, end in itertools.islice(around, 2 + (n % len(BETWEEN) == 0)):
            text = f"{far}{told}{between}{key}{end.format(told=told, key=key)}"
            whole = list(pattern.finditer(text))
            if finds is told_keys._grouped_keys:  # those with too few figures are no keys
                whole = [m for m in whole if sum(map(str.isdigit, m["key"])) > 4]
            elif finds is numbers._said:  # figures alone are none
                whole = [m for m in whole if len(re.findall("[a-z]+", m.group())) > 2]
            spans = {m.span() for m in whole}
            found = {m.span() for m in finds(text)}
            assert spans <= found
            assert len(spans) == len(found) or finds in (told_keys._grouped_keys, numbers._said)


def test_a_letter_that_is_two_in_lower_case_hides_nothing():
    """Before it and behind it words with capitals are found as elsewhere."""
    text = "İ. Nineteen eighty-four, the Third of May ninety-two. Nine Five double One oh. İ"
    assert [text[a:b] for a, b in said_dates.said_date_spans(text)] == [
        "Nineteen eighty-four",
        "the Third of May ninety-two",
    ]
    assert [f for _, _, f in numbers.said_figures(text)] == ["95110"]


def test_letters_that_are_said_are_found_wherever_they_stand():
    """Looking near letters that stand alone finds what looking everywhere does."""
    pieces = [
        *("a", "B", "q", "é", "I", "&", "_", "7", "it's", "as", "word", "double", "triple-t"),
        *("S for Sierra", "B as in Benedictine-ray", "x like Xylophone", "T for Tangotangota"),
    ]
    between = [" ", ", ", "-", ". ", " - ", "", "\n", "'", "@", "  ", " – "]
    chance, hits = random.Random(11), 0
    for _ in range(3000):
        n = chance.randint(1, 12)
        text = "".join(chance.choice(pieces) + chance.choice(between) for _ in range(n))
        text = chance.choice(["", "so on " * 20]) + text + chance.choice(["", " and so on" * 20])
        everywhere = [m.span() for m in _SPELLED.finditer(text)]
        assert [m.span() for m in spelled_letters(Words(text))] == everywhere, text
        hits += bool(everywhere)
    assert 200 < hits < 2800


@given(st.lists(st.sampled_from(["Roe", "Roe-Roe", "é", "_", " ", "-", "7", "Ro", "²", "'s"])))
def test_a_name_stands_where_a_pattern_finds_it(parts):
    text = "".join(parts)
    for name in ("Roe", "Roe-Roe"):
        pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
        assert [*standing(name, text)] == [m.start() for m in re.finditer(pattern, text)]
