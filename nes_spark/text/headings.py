"""Lines that are headings: all in capitals, or short ones whose words begin with capitals.

A capital there says nothing about a word. What the words are, and whether one of them is a name all
the same, is for others to ask.
"""

from __future__ import annotations

import re
from typing import NamedTuple

#: What a heading has beside its words: placeholders, and what is added in brackets.
_ADDED = re.compile(r"\[[^\]\n]*\]|\([^)\n]*\)")
#: The number of a section: "Item 2.", "IV.", "3.1".
_NUMBERED = re.compile(
    r"^\s*(?:(?:item|part|note|section|chapter)\s+)?(?:\d{1,2}(?:\.\d{1,2})*[A-Za-z]?|[IVX]{1,4})"
    r"[.:)]?\s+",
    re.IGNORECASE,
)
#: The period that a heading ends with: "LIQUIDITY, Q3 2026", "Outlook for 2027".
_PERIOD = re.compile(
    r"[\s,:–—-]+(?:[QH][1-4](?:[\s,/’'-]*(?:FY\s?)?(?:19|20)?\d\d)?"
    r"|(?:FY|fiscal(?:\s+year)?)?\s*(?:19|20)\d\d|FY\s?\d\d)\s*$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_](?:[\w&'’-]*\w)?|&")
#: What ends or parts a sentence, begins an item of a list, or fills a table.
_NO_HEADING = re.compile(r"[.?!;](?:\s|$)|[,:]\s*$|^\s*[-–—•*·>]|\d|[$€£%|]|\t| {3}")
#: Words of a heading at most, in capitals and with capitals.
_MOST, _MOST_TITLED = 14, 8
#: Small words of so many letters at most stand in small letters among words with capitals.
_SMALL = 4


class Heading(NamedTuple):
    """A line that is a heading: half-open offsets, and whether it is all in capitals."""

    start: int
    end: int
    capitals: bool


def headings(text: str) -> list[Heading]:
    """Return the lines of a text that are headings.

    Placeholders, what stands in brackets, the number of a section and a period at the end may be
    added to their words.
    A line with capitals has an empty one, or nothing, before it; a text of several lines that is
    all in capitals has none.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of Heading
        In order; offsets in code points.

    Examples
    --------
    >>> text = "LIQUIDITY\\n\\nWe hold cash.\\n\\nResults of Operations\\n\\nSales rose.\\n* Labs"
    >>> [text[h.start : h.end] for h in headings(text)]
    ['LIQUIDITY', 'Results of Operations']
    """
    if text.isupper() and "\n" in text.strip():
        return []
    found: list[Heading] = []
    start, alone = 0, True
    for line in text.split("\n"):
        end = start + len(line)
        bare = _PERIOD.sub("", _NUMBERED.sub("", _ADDED.sub(" ", line))) if line else ""
        words = [] if not bare or _NO_HEADING.search(bare) else _WORD.findall(bare)
        if words and len(words) <= _MOST and bare.isupper():
            found.append(Heading(start, end, True))
        elif (
            words
            and alone
            and len(words) <= _MOST_TITLED
            and words[0][0].isupper()
            and all(w[0].isupper() or len(w) <= _SMALL or w == "&" for w in words)
        ):
            found.append(Heading(start, end, False))
        alone = not line.strip()
        start = end + 1
    return found


__all__ = ["Heading", "headings"]
