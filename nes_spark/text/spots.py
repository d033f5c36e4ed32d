"""Look for a pattern only around what each match must hold: a tenth of the text, often less."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter


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


def back_from(
    replaced: Iterable[tuple[int, int, int]],
) -> Callable[[int, int], tuple[int, int]]:
    """Return what tells where something stood before a text had replacements.

    Parameters
    ----------
    replaced : iterable of (int, int, int)
        Start and end of what was replaced, in the text before, and the length of what came; in
        order, without overlaps.

    Returns
    -------
    callable
        From start and end in the text after, of what was not replaced, to those before.

    Examples
    --------
    >>> "Ann met Bo.".replace("Ann", "Somebody")[13:15], back_from([(0, 3, 8)])(13, 15)
    ('Bo', (8, 10))
    """
    goes_on = [(0, 0)]  # where what was not replaced goes on: in the text after, in the one before
    for start, end, length in replaced:
        at, before = goes_on[-1]
        goes_on.append((at + start - before + length, end))

    def back(start: int, end: int) -> tuple[int, int]:
        at, before = goes_on[bisect_right(goes_on, start, key=itemgetter(0)) - 1]
        return start - at + before, end - at + before

    return back


def lowered(text: str) -> str:
    """Return a text in lower case in which each letter keeps its place.

    The one letter that is two in lower case becomes the first of them.

    Examples
    --------
    >>> lowered("İn May"), len("İn May".lower())
    ('in may', 7)
    """
    return text.replace("İ", "i").lower()


#: What a word goes on with.
_IN_WORD = re.compile(r"\w")


def standing(
    name: str, text: str, before: re.Pattern[str] = _IN_WORD, behind: re.Pattern[str] = _IN_WORD
) -> Iterator[int]:
    """Yield where a name stands without such a character before it, nor such a one behind.

    By default as a word: letters, figures and underscores go on with one. A pattern with the name
    in it would find the same, which takes longer to compile than this takes to look.

    Examples
    --------
    >>> list(standing("Globex", "Globex's plant, MyGlobex and Globex_2, Globex"))
    [0, 39]
    """
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if (at and before.match(text, at - 1)) or behind.match(text, end):
            end = at + 1
        else:
            yield at
        at = text.find(name, end)


__all__ = ["back_from", "lowered", "matches_around", "standing"]
