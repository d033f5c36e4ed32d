"""Look for a pattern only around what each match must hold: a tenth of the text, often less."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator


def matches_around(
    pattern: re.Pattern[str], text: str, spots: Iterable[tuple[int, int]], before: int, after: int
) -> Iterator[re.Match[str]]:
    """Yield what ``pattern.finditer(text)`` does, if every match holds a spot.

    Parameters
    ----------
    pattern : re.Pattern
        What is looked for.
    text : str
    spots : iterable of (int, int)
        Half-open offsets in ascending order.
    before, after : int
        Characters that a match has before its spot and behind it at most, with what it looks at
        behind itself.

    Examples
    --------
    >>> pattern = re.compile(r"no (?P<key>\\d{3})(?!\\d)")
    >>> text = "so no 123, " + "and so on " * 20 + "no 4567, no 789"
    >>> spots = [m.span() for m in re.finditer(r"\\d{3}", text)]
    >>> [m["key"] for m in matches_around(pattern, text, spots, 3, 1)]
    ['123', '789']
    """
    low = high = 0
    for start, end in spots:
        if max(0, start - before) > high:
            if high:
                yield from pattern.finditer(text, low, high)
            low = max(0, start - before)
        high = max(high, end + after)
    if high:
        yield from pattern.finditer(text, low, high)


def lowered(text: str) -> str:
    """Return a text in lower case in which each letter keeps its place.

    The one letter that is two in lower case becomes the first of them.

    Examples
    --------
    >>> lowered("İn May"), len("İn May".lower())
    ('in may', 7)
    """
    return text.replace("İ", "i").lower()


def standing(name: str, text: str) -> Iterator[int]:
    """Yield where a name stands as a word: no letter, figure or underscore before and behind it.

    As a pattern with the name in it would find it, which takes longer to compile than to look for.

    Examples
    --------
    >>> list(standing("Globex", "Globex's plant, MyGlobex and Globex_2, Globex"))
    [0, 39]
    """
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if (at and _in_word(text[at - 1])) or (end < len(text) and _in_word(text[end])):
            end = at + 1
        else:
            yield at
        at = text.find(name, end)


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


__all__ = ["lowered", "matches_around", "standing"]
