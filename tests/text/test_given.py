"""Given spans keep their characters on the way from the input to a chunk, and all are counted."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nes_spark.text.given import (
    CUT,
    FATES,
    NOT_PRESENTED,
    OUTSIDE_TEXT,
    OVERLAPPING,
    SUPPRESSED,
    UNMAPPED,
    USED,
    Placed,
    Span,
    place_spans,
    read_spans,
    spans_in_chunks,
)
from nes_spark.text.matching import Match
from nes_spark.text.numbering import replace_matches
from nes_spark.text.offsets import Slice, carry, follow, released_parts

TEXTS = st.text(alphabet="ab .\n\té𝔘", min_size=1, max_size=60)


def spans_of(text, most=6):
    place = st.integers(0, len(text))
    return st.lists(st.tuples(place, place).map(sorted), max_size=most)


def disjoint(pairs):
    found, last = [], 0
    for low, high in sorted(map(tuple, pairs)):
        if low >= last and low < high:
            found.append((low, high))
            last = high
    return found


def tiles(text, places):
    cuts = sorted({0, len(text), *(p for pair in places for p in pair)})
    return list(itertools.pairwise(cuts))


@st.composite
def worlds(draw):
    """A text, chunks that tile it, identifiers in it, and spans."""
    text = draw(TEXTS)
    chunks = tiles(text, draw(spans_of(text, 3)))
    matches = [
        Match(low, high, "company", "[Company Name]", "x", "name")
        for low, high in disjoint(draw(spans_of(text, 3)))
    ]
    return text, chunks, matches, [p for p in draw(spans_of(text)) if p[0] < p[1]]


def test_white_space_before_a_chunk_is_no_part_of_it():
    placed = [Placed(0, 0, 1, "X", ""), Placed(1, 1, 3, "X", "")]
    texts, mentions, _ = spans_in_chunks(placed, "  aa", [(0, 4)], [], {"X": "Thing"})
    assert texts == ["aa"]
    assert [(m.start, m.end) for m in mentions] == [(0, 1)]


@settings(max_examples=200, deadline=None)
@given(worlds())
def test_every_character_of_a_span_is_found_again_or_was_suppressed(world):
    text, chunks, matches, spans = world
    placed = [Placed(i, low, high, "X", "") for i, (low, high) in enumerate(spans)]
    texts, mentions, fates = spans_in_chunks(placed, text, chunks, matches, {"X": "Thing"})
    # Chunks are what suppression and cutting make of the text.
    assert "".join(p.text for p in released_parts(text, chunks, matches)) == replace_matches(
        text, matches
    )
    assert sum(fates.values()) == len(spans)
    assert set(fates) <= {USED, CUT, OVERLAPPING, SUPPRESSED}
    # Mark the letters that spans cover, and see that exactly those are mentions.
    wanted = {i for low, high in spans for i in range(low, high)}
    wanted -= {i for m in matches for i in range(m.start, m.end)}
    letters = sorted(text[i] for i in wanted if text[i].isalnum())
    found = [texts[m.chunk][m.start : m.end] for m in mentions]
    assert sorted(c for part in found for c in part if c.isalnum()) == letters
    for m in mentions:
        assert 0 <= m.start < m.end <= len(texts[m.chunk])
    ends = [(m.chunk, m.start, m.end) for m in mentions]
    assert all(a[0] < b[0] or a[2] <= b[1] for a, b in itertools.pairwise(ends))


@settings(max_examples=150, deadline=None)
@given(worlds())
def test_a_span_that_nothing_touches_is_the_mention_itself(world):
    text, chunks, matches, spans = world
    for low, high in spans:
        inside = [c for c in chunks if c[0] <= low and high <= c[1]]
        free = not any(m.start < high and low < m.end for m in matches)
        if not inside or not free or text[low:high].strip() != text[low:high]:
            continue
        if not any(c.isalnum() for c in text[low:high]):
            continue
        texts, (mention,), fates = spans_in_chunks(
            [Placed(0, low, high, "X", "")], text, chunks, matches, {"X": "Thing"}
        )
        assert texts[mention.chunk][mention.start : mention.end] == text[low:high]
        assert fates == {USED: 1}


@settings(max_examples=100, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4), st.data())
def test_spans_of_turns_stand_in_the_document_as_they_stood_there(turns, data):
    kept = sorted(data.draw(st.sets(st.integers(0, len(turns) - 1))))
    parts = [(i, turns[i]) for i in kept]
    document = "\n\n".join(part for _, part in parts)
    spans = [
        Span(i, *pair, "X")
        for i, turn in enumerate(turns)
        for pair in data.draw(spans_of(turn, 3))
        if pair[0] < pair[1]
    ]
    placed = place_spans(spans, turns, parts, 2)
    assert not isinstance(placed, str)
    assert len(placed) == len(spans)
    for span, found in zip(spans, placed, strict=True):
        if span.turn in kept:
            assert document[found.start : found.end] == turns[span.turn][span.start : span.end]
            assert found.fate == ""
        else:
            assert found.fate == NOT_PRESENTED


def test_what_is_cut_off_with_the_questions_is_counted():
    turns = ["Acme Corp grew. Any questions?"]
    placed = place_spans(
        [Span(0, 0, 9, "ORG"), Span(0, 10, 19, "ORG"), Span(0, 20, 29, "ORG")],
        turns,
        [(0, "Acme Corp grew.")],
        2,
    )
    assert [(p.span, p.start, p.end, p.fate) for p in placed] == [
        (0, 0, 9, ""), (1, 10, 15, CUT), (2, 0, 0, NOT_PRESENTED)
    ]  # fmt: skip


def test_each_fate_once():
    text = "Acme met Globex in Rome. Initech left Paris for good today."
    matches = [Match(0, 4, "company", "[Company Name]", "Acme", "name")]
    chunks = [(0, 24), (24, len(text))]
    placed = [
        Placed(0, 0, 4, "ORG", ""),  # suppressed
        Placed(1, 0, 15, "ORG", ""),  # an identifier is cut off it
        Placed(2, 9, 15, "ORG", ""),  # inside the longer one
        Placed(3, 19, 32, "LOC", ""),  # cut by the end of a chunk
        Placed(4, 38, 43, "LOC", ""),
        Placed(5, 48, 52, "MISC", ""),
        Placed(6, 0, 0, "ORG", OUTSIDE_TEXT),
    ]
    labels = {"ORG": "Organization", "LOC": "Location"}
    texts, mentions, fates = spans_in_chunks(placed, text, chunks, matches, labels)
    assert texts == ["[Company Name] met Globex in Rome.", "Initech left Paris for good today."]
    found = [(texts[m.chunk][m.start : m.end], m.category) for m in mentions]
    assert found == [
        ("met Globex", "Organization"), ("Rome.", "Location"), ("Initech", "Location"),
        ("Paris", "Location"),
    ]  # fmt: skip
    # 0 lies inside 1, which is longer, before it lies in the identifier.
    assert fates == {OVERLAPPING: 2, CUT: 2, USED: 1, UNMAPPED: 1, OUTSIDE_TEXT: 1}
    assert set(fates) <= set(FATES)
    alone = spans_in_chunks(placed[:1], text, chunks, matches, labels)
    assert alone[1:] == ([], {SUPPRESSED: 1})


@pytest.mark.parametrize(
    ("value", "turns", "expected"),
    [
        ([{"start": 0, "end": 4, "label": "ORG"}], None, [Span(0, 0, 4, "ORG")]),
        ('[[0, 4, "ORG"]]', None, [Span(0, 0, 4, "ORG")]),
        ([[1, 0, 4, "ORG"]], 2, [Span(1, 0, 4, "ORG")]),
        ([], None, []),
        (None, None, "the spans must be an array, got NoneType"),
        ("Acme", None, "the spans are a string that is not a JSON array"),
        ([[0, "4", "ORG"]], None, "span 0 needs whole numbers and a label: start, end, label"),
        ([[0, 4, ""]], None, "span 0 needs whole numbers and a label: start, end, label"),
        ([[True, 4, "ORG"]], None, "span 0 needs whole numbers and a label: start, end, label"),
        ([[0, 4]], None, "span 0 must have start, end, label"),
        ([{"turn": 2, "start": 0, "end": 4, "label": "ORG"}], 2, "span 0 names turn 2 of 2"),
    ],
)
def test_spans_are_read_or_it_is_said_why_not(value, turns, expected):
    assert read_spans(value, turns) == expected


def test_offsets_that_count_something_else_are_refused():
    spans = [Span(0, 40, 44, "ORG"), Span(0, 3, 3, "ORG")]
    assert "none of the 2 spans lies inside" in place_spans(spans, ["short"], [(0, "short")], 2)
    mixed = place_spans([*spans, Span(0, 0, 5, "ORG")], ["short"], [(0, "short")], 2)
    assert [p.fate for p in mixed] == [OUTSIDE_TEXT, OUTSIDE_TEXT, ""]
    assert "cannot follow" in place_spans([Span(0, 0, 5, "ORG")], ["short"], [(0, "other")], 2)


def test_pieces_that_touch_are_one():
    assert carry(0, 6, [Slice(0, 3, 5), Slice(3, 6, 8)]) == [(5, 11)]
    assert follow("a b a", ["a", "a"], 1) == [Slice(0, 1, 0), Slice(4, 5, 2)]
    assert follow("a b", ["b", "a"], 1) is None
