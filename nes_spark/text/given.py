"""Spans that come with the input: what a tagger of one's own or annotators found.

They are read with the record (:func:`read_spans`), carried into the text of the document
(:func:`place_spans`) and from there into its chunks (:func:`spans_in_chunks`). Every span has a
fate in the end, one of :data:`FATES`; nothing is dropped without being counted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nes_spark.text.matching import Match
from nes_spark.text.offsets import Slice, carry, follow, released_parts

USED, CUT, OVERLAPPING = "used", "cut", "overlapping"
SUPPRESSED, UNMAPPED = "suppressed", "unmapped"
NOT_PRESENTED, OUTSIDE_TEXT = "not_presented", "outside_text"

#: What becomes of a span, and what that means.
FATES: dict[str, str] = {
    USED: "a mention as it was given",
    CUT: "the end of a chunk, of the presentation, or an identifier runs through it; what is left "
    "on each side is a mention of its own",
    OVERLAPPING: "a longer span covers it, wholly or in part; what is left is a mention",
    SUPPRESSED: "lies inside a direct identifier, which is suppressed, or holds no letter or digit",
    UNMAPPED: "entities.labels leads its label to no category: not treated",
    NOT_PRESENTED: "lies in a part of the input that is not used",
    OUTSIDE_TEXT: "begins or ends outside the text, or is empty: not treated",
}


class Span(NamedTuple):
    """A span of the input: number of the turn (0 for a text), half-open code points, label."""

    turn: int
    start: int
    end: int
    label: str


class Placed(NamedTuple):
    """A piece of span number `span` in a document's text; fate '' while it may be used."""

    span: int
    start: int
    end: int
    label: str
    fate: str


class GivenMention(NamedTuple):
    """A mention in a chunk: number of the chunk, half-open offsets in its text, category."""

    chunk: int
    start: int
    end: int
    category: str


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def read_spans(value: Any, n_turns: int | None) -> list[Span] | str:
    """Read the spans of a record.

    Parameters
    ----------
    value : object
        An array, or a JSON array in a string, of objects with ``start``, ``end``, ``label`` and,
        where the input has turns, ``turn`` (its number from 0); or of arrays of these values in the
        order ``[start, end, label]`` or ``[turn, start, end, label]``.
    n_turns : int or None
        Turns of the record; None for one text.

    Returns
    -------
    list of Span or str
        What is wrong, in words that quote nothing, when they cannot be used.
    """
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return "the spans are a string that is not a JSON array"
    if not isinstance(value, (list, tuple)):
        return f"the spans must be an array, got {type(value).__name__}"
    names = ("start", "end", "label") if n_turns is None else ("turn", "start", "end", "label")
    found: list[Span] = []
    for i, item in enumerate(value):
        parts: list[Any]
        if isinstance(item, Mapping):
            parts = [item.get(name) for name in names]
        elif isinstance(item, (list, tuple)) and len(item) == len(names):
            parts = list(item)
        else:
            return f"span {i} must have {', '.join(names)}"
        label, numbers = parts[-1], parts[:-1]
        named = isinstance(label, str) and label and label.isprintable()
        if not all(map(_whole, numbers)) or not named:
            return f"span {i} needs whole numbers and a label: {', '.join(names)}"
        turn, start, end = numbers if n_turns is not None else (0, *numbers)
        if n_turns is not None and not 0 <= turn < n_turns:
            return f"span {i} names turn {turn} of {n_turns}"
        found.append(Span(turn, start, end, label))
    return found


def place_spans(
    spans: Sequence[Span], sources: Sequence[str], kept: Sequence[tuple[int, str]], gap: int
) -> list[Placed] | str:
    """Carry spans into the text of a document.

    Parameters
    ----------
    spans : sequence of Span
        From :func:`read_spans`.
    sources : sequence of str
        The turns of the input, or its one text.
    kept : sequence of (int, str)
        What the document's text is made of: number of the source, and a part of it, in order.
    gap : int
        Characters between two of them in the document's text.

    Returns
    -------
    list of Placed or str
        Every span has at least one row. What is wrong, when the parts cannot be found again in what
        they were cut from, or when no span at all lies inside the text: then the offsets count
        something else, bytes for example.
    """
    slices: dict[int, list[Slice]] = {}
    at = 0
    by_source: dict[int, list[tuple[str, int]]] = {}
    for source, part in kept:
        by_source.setdefault(source, []).append((part, at))
        at += len(part) + gap
    for source, parts in by_source.items():
        found = follow(sources[source], [part for part, _ in parts], gap)
        if found is None:
            return "the text of the document is not a part of the input's: spans cannot follow it"
        slices[source] = [s._replace(at=place) for s, (_, place) in zip(found, parts, strict=True)]
    placed = []
    for number, span in enumerate(spans):
        if not 0 <= span.start < span.end <= len(sources[span.turn]):
            placed.append(Placed(number, 0, 0, span.label, OUTSIDE_TEXT))
            continue
        pieces = carry(span.start, span.end, slices.get(span.turn, ()))
        if not pieces:
            placed.append(Placed(number, 0, 0, span.label, NOT_PRESENTED))
        placed += [Placed(number, low, high, span.label, "") for low, high in pieces]
        left = sum(high - low for low, high in pieces)
        if pieces and left < span.end - span.start:
            placed = [p._replace(fate=CUT) if p.span == number else p for p in placed]
    if placed and all(p.fate == OUTSIDE_TEXT for p in placed):
        return f"none of the {len(spans)} spans lies inside the text; offsets are code points"
    return placed


def spans_in_chunks(
    placed: Sequence[Placed],
    text: str,
    chunks: Sequence[tuple[int, int]],
    matches: Sequence[Match],
    labels: Mapping[str, str],
) -> tuple[list[str], list[GivenMention], dict[str, int]]:
    """Carry spans into the chunks of a document.

    Parameters
    ----------
    placed : sequence of Placed
        From :func:`place_spans`.
    text : str
        Of the document.
    chunks : sequence of (int, int)
        Its chunks, which tile it.
    matches : sequence of Match
        Direct identifiers, as suppressed.
    labels : mapping of str to str
        Label to category; others are not treated.

    Returns
    -------
    texts : list of str
        Of the chunks, as released by chunking: for a check that these are those.
    mentions : list of GivenMention
        Ascending and disjoint. Of spans that overlap the longest counts, then the first, then the
        smaller label; what is left of the others on its sides are mentions of their own.
    fates : dict of str to int
        Fate to spans; adds up to the spans of the document.
    """
    texts, slices = [], []
    for part in released_parts(text, chunks, matches):
        lead = len(part.text) - len(part.text.lstrip())
        texts.append(part.text.strip())
        slices.append([s._replace(at=s.at - lead) for s in part.slices])

    fates = {p.span: p.fate for p in placed}
    wanted = []
    for p in placed:
        if p.fate in (OUTSIDE_TEXT, NOT_PRESENTED):
            continue
        if p.label not in labels:
            fates[p.span] = UNMAPPED
        else:
            wanted.append(p)
    # The longest first: what another covers already is taken away from it.
    order = sorted(wanted, key=lambda p: (p.start - p.end, p.start, p.label, p.span))
    taken: list[tuple[int, int]] = []
    mentions, used = [], set()
    for p in order:
        pieces = [(p.start, p.end)]
        for low, high in taken:
            pieces = [
                part
                for s, e in pieces
                for part in ([(s, e)] if e <= low or s >= high else [(s, low), (high, e)])
                if part[0] < part[1]
            ]
        if pieces != [(p.start, p.end)]:
            fates[p.span] = OVERLAPPING
        taken += pieces
        for start, end in pieces:
            left = 0
            for number, (begin, stop) in enumerate(chunks):
                if stop <= start or begin >= end:
                    continue
                for low, high in carry(start, end, slices[number]):
                    left += high - low
                    # White space at the ends of a chunk is not part of its text.
                    low, high = max(low, 0), min(high, len(texts[number]))
                    if low >= high:
                        continue
                    surface = texts[number][low:high]
                    low, high = high - len(surface.lstrip()), low + len(surface.rstrip())
                    if any(c.isalnum() for c in surface):
                        mentions.append(GivenMention(number, low, high, labels[p.label]))
                        used.add(p.span)
            crossed = sum(stop > start and begin < end for begin, stop in chunks) > 1
            if (left < end - start or crossed) and fates[p.span] == "":
                fates[p.span] = CUT
    counts: dict[str, int] = {}
    for number, fate in fates.items():
        if fate in ("", CUT) and number not in used:
            fate = SUPPRESSED
        counts[fate or USED] = counts.get(fate or USED, 0) + 1
    return texts, sorted(mentions), counts
