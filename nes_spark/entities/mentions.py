"""What a mention is, what a placeholder is, and how raw spans become clean, disjoint mentions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: A placeholder: a short bracketed phrase on one line, for example ``[Company Name]``. What texts
#: have in brackets themselves ("[21/Jun/2026:03:12]", "[Ann Roe, Leeds]") is none as far as
#: punctuation or figures before its end tell it; in a placeholder nothing is looked for.
PLACEHOLDER = re.compile(r"\[(?=[^\[\]\n]{1,80}\])[^\[\]\n\d:,;=@\\]*\d{0,4}\]")

#: What the publisher of a text has put in place of a name, a day or a number: "XXXX",
#: "XX/XX/XXXX". It names nothing; exchanged it would come into other texts as a name, and names
#: would come where a day was. One that leaves a figure ("XX/XX/2015", "XXXX6822") is none.
_MASK = re.compile(
    r"(?<![\w$€£/-])(?:X{2,4}(?:/X{2,4}){1,2}|X{2,4}(?:-X{2,4}){2}|X{4,}"
    r"|x{2,4}(?:/x{2,4}){1,2}|x{4,})(?![\w/-])"
)

#: What no name begins with; the apostrophe of "'95" is a year's, and of "' 21" as transcripts have.
_LEADING = re.compile(
    r"(?:(?:(?!['’](?:\d\d| [12]\d)(?!\w))[\s\"'“”‘’`,.;:!?()\[\]{}<>/\\*•–—-])+|"
    r"(?:the|The|THE|a|an|A|An|our|Our|their|Their|its|Its|his|her|this|This|that|That|and|And|of|Of|with|from|for|to|by|at"
    r"|neither|Neither|NEITHER|either|Either|EITHER|nor|Nor|NOR)\s+)"
)
_TRAILING = re.compile(
    r"(?:[\s\"“”`,;:!?()\[\]{}<>/\\*•–—-]+|['’]s?|(?<=[a-z]{2})\.+|\s(?:and|or|of|with|from|for|to|by|at|the|in)"
    # where no space ends a sentence its next word is none of a name: "at ACME.As a reminder"
    r"|(?<=\w\w)\.(?:And|As|At|But|For|If|In|It|On|Our|So|That|The|These|They|This|To|We|With|You))$"
)
#: Signs that a name is registered or a mark: they stay where they are, for whatever comes there.
_SIGN = re.compile(r"\s?(?:[®™©℠]|\((?:R|TM|SM|C)\)?)$")
_LEGAL_DOT = re.compile(r"\b(?:Inc|Corp|Co|Ltd|Bhd|Cos|Bros|Jr|Sr|St|No|Mt|Ft|Dr)\.$")
#: Sounds of speech, and days that come again: a recogniser takes their capital for a name's, and
#: other texts would get them as somebody's.
_NO_NAME = re.compile(
    r"(?:e+rm|u+h*m+|u+h|e+r+|h+m+|m+|mm?-?hm+|uh-?hu+h|och|aye|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days)",
    re.IGNORECASE,
)
#: The same in front of a name: "Erm, Leeds".
_SOUND = re.compile(r"(?:[Ee]+rm|[Uu]+h*m+|[Mm]m?-?hm+)[,. -]+(?=\w)")


#: Category of names that the sweep found (:mod:`nes_spark.entities.sweep`).
NAME = "Name"


@dataclass(frozen=True)
class Mention:
    """One named entity in a text.

    Attributes
    ----------
    start, end : int
        Half-open offsets in code points of the text: ``surface == text[start:end]``.
    category : str
        One of the configured categories, for example ``"Organization"``.
    surface : str
        The characters of the mention, possessive 's excluded.
    entity : str
        Canonical name; empty until mentions are linked.
    """

    start: int
    end: int
    category: str
    surface: str
    entity: str = ""


def is_placeholder(span: str) -> bool:
    """Return whether a string is a placeholder such as ``[Company Name]`` or ``[Executive 1]``.

    Examples
    --------
    >>> is_placeholder("[Executive 1]"), is_placeholder("Executive 1")
    (True, False)
    """
    return PLACEHOLDER.fullmatch(span.strip()) is not None


def placeholder_spans(text: str) -> list[tuple[int, int]]:
    """Return the half-open offsets of all placeholders in a text, masks of its publisher too.

    Examples
    --------
    >>> text = "On XX/XX/XXXX [Person 1] of XXXX paid from XXXX6822."
    >>> [text[start:end] for start, end in placeholder_spans(text)]
    ['XX/XX/XXXX', '[Person 1]', 'XXXX']
    """
    spans = [match.span() for match in PLACEHOLDER.finditer(text)] if "[" in text else []
    if "XX" in text or "xx" in text:
        spans += [match.span() for match in _MASK.finditer(text)]
    return sorted(spans)


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Cut articles, punctuation, signs of marks and a possessive 's off both ends of a span.

    Returns
    -------
    tuple of int
        The new offsets; equal when nothing is left.
    """
    while start < end:
        match = _LEADING.match(text, start, end) or _SOUND.match(text, start, end)
        if match is None or match.end() == start:
            break
        start = match.end()
    while start < end:
        surface = text[start:end]
        if (sign := _SIGN.search(surface)) is not None and sign.start():
            end = start + sign.start()
            continue
        match = _TRAILING.search(surface)
        if match is None or match.start() == len(surface):
            break
        if match.group().startswith(".") and _LEGAL_DOT.search(surface):
            break
        if match.group()[0] in ")]" and surface.count("(") == surface.count(")") > 0:
            break
        end = start + match.start()
    return start, max(start, end)


def _at_brackets(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return a span, in two where a bracket opens in it and does not close."""
    surface = text[start:end]
    if surface.count("(") <= surface.count(")"):
        return [(start, end)]
    at = start + surface.rindex("(")
    return [trim(text, start, at), trim(text, at + 1, end)]


def _is_sound(text: str, start: int, end: int) -> bool:
    """Whether a span is no name but "Erm", "Mhm" or "Tuesdays"; abbreviations are as they are."""
    surface = text[start:end]
    return not (surface.isupper() and len(surface) < 4) and _NO_NAME.fullmatch(surface) is not None


def outside(start: int, end: int, blocked: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return what is left of a span outside blocked stretches, in order."""
    parts = [(start, end)]
    for low, high in blocked:
        parts = [
            part
            for s, e in parts
            for part in (
                [(s, e)] if e <= low or s >= high else [(s, min(e, low)), (max(s, high), e)]
            )
            if part[0] < part[1]
        ]
    return parts


def disjoint(
    text: str, spans: Iterable[tuple[int, int, str]], blocked: Sequence[tuple[int, int]] = ()
) -> list[tuple[int, int, str]]:
    """Return clean spans that overlap neither each other nor a blocked stretch.

    A span that reaches over a blocked stretch (a placeholder) is broken into what is left of it on
    both sides, and one in which a bracket opens at the bracket. Of overlapping spans the longest
    wins, then the first, then the smaller label.

    Parameters
    ----------
    text : str
        The text.
    spans : iterable of (start, end, label)
        Raw spans.
    blocked : sequence of (start, end)
        Stretches that no span may touch.

    Returns
    -------
    list of (start, end, label)
        Sorted by start.
    """
    pieces: list[tuple[int, int, str]] = []
    for start, end, label in spans:
        for s, e in outside(start, end, blocked):
            s, e = trim(text, s, e)
            for low, high in _at_brackets(text, s, e):
                if _is_sound(text, low, high):
                    continue
                if low < high and any(c.isalnum() for c in text[low:high]):
                    pieces.append((low, high, label))
    pieces.sort(key=lambda p: (p[0] - p[1], p[0], p[2]))
    kept: list[tuple[int, int, str]] = []
    for piece in pieces:
        if not any(s < piece[1] and piece[0] < e for s, e, _ in kept):
            kept.append(piece)
    return sorted(kept)
