"""The way of a span from the input to a chunk: through presentation, chunking and suppression.

A document's text is made of slices of the input (:func:`follow`), a chunk's of slices of the
document's text with placeholders between them (:func:`released_parts`). Both are lists of
:class:`Slice`, and :func:`carry` takes any span through either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nes_spark.text.matching import Match


class Slice(NamedTuple):
    """Characters that stand unchanged in another text.

    Attributes
    ----------
    start, end : int
        Half-open offsets in the text that they come from.
    at : int
        Where they begin in the other text.
    """

    start: int
    end: int
    at: int


def carry(start: int, end: int, slices: Sequence[Slice]) -> list[tuple[int, int]]:
    """Return where the characters of a span stand in the other text.

    Parameters
    ----------
    start, end : int
        Half-open offsets in the text that the slices come from.
    slices : sequence of Slice

    Returns
    -------
    list of (int, int)
        Half-open offsets in order; pieces that touch are one. Empty where none of it is left.

    Examples
    --------
    >>> carry(2, 6, [Slice(0, 4, 0), Slice(5, 9, 14)])
    [(2, 4), (14, 15)]
    """
    found: list[tuple[int, int]] = []
    for piece in slices:
        low, high = max(start, piece.start), min(end, piece.end)
        if low < high:
            move = piece.at - piece.start
            if found and found[-1][1] == low + move:
                found[-1] = (found[-1][0], high + move)
            else:
                found.append((low + move, high + move))
    return found


def follow(text: str, parts: Sequence[str], gap: int) -> list[Slice] | None:
    """Find parts of a text one after the other.

    Parameters
    ----------
    text : str
        What the parts were cut from.
    parts : sequence of str
        In their order.
    gap : int
        Characters between two parts in the other text.

    Returns
    -------
    list of Slice or None
        None when a part is not there behind the one before: the text was not only cut.
    """
    found, place, at = [], 0, 0
    for part in parts:
        place = text.find(part, place)
        if place < 0:
            return None
        found.append(Slice(place, place + len(part), at))
        place += len(part)
        at += len(part) + gap
    return found


class Part(NamedTuple):
    """A chunk with its identifiers suppressed, white space at its ends included.

    Attributes
    ----------
    text : str
        What is left of the document's text, with placeholders.
    slices : list of Slice
        Where it comes from.
    suppressed : int
        Placeholders in it.
    """

    text: str
    slices: list[Slice]
    suppressed: int


def released_parts(
    text: str, spans: Sequence[tuple[int, int]], matches: Sequence[Match]
) -> Iterator[Part]:
    """Cut a text and replace its direct identifiers.

    Parameters
    ----------
    text : str
        Of the document.
    spans : sequence of (int, int)
        Chunks, which tile it.
    matches : sequence of Match
        Ascending and disjoint. One that crosses a boundary goes to the chunk in which it starts.
    """
    at = covered = 0
    for start, end in spans:
        parts: list[str] = []
        slices: list[Slice] = []
        length, begin, count = 0, max(start, covered), 0

        def copy(low: int, high: int) -> None:
            nonlocal length
            if low < high:
                slices.append(Slice(low, high, length))  # noqa: B023
                parts.append(text[low:high])  # noqa: B023
                length += high - low

        while at < len(matches) and matches[at].start < end:
            copy(begin, matches[at].start)
            parts.append(matches[at].placeholder)
            length += len(matches[at].placeholder)
            begin = covered = matches[at].end
            at += 1
            count += 1
        copy(begin, end)
        yield Part("".join(parts), slices, count)
