"""Years and days that are written as they are said: "nineteen eighty-four", "the third of the fifth
ninety two"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from nes_spark.text.spots import lowered, matches_around

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = (
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
    *("tenth", "eleventh", "twelfth"),
)

_U, _T, _TEEN = "|".join(_ONES), "|".join(_TENS), "|".join(_TEENS)
_TWO = rf"(?:(?:{_T})(?:[ -](?:{_U}))?|{_TEEN}|(?:oh|o)[ -](?:{_U}))"
#: What counts or costs: "nineteen fifty pounds" is no year.
_NO_YEAR = (
    r"(?![\w%]|-\w|[ -](?:pounds?|quid|pence|euros?|dollars?|cents?|people|men|women|units|miles|"
    r"metres|meters|feet|per ?cent|thousand|hundred|million|times|odd|votes?|shares?|basis)\b)"
)
_THOUSANDS = rf"two thousand(?: and|,)? (?:{_U}|{_TEEN}|twenty(?:[ -](?:{_U}))?)"
_SURE = (
    rf"(?:nineteen[ -](?:{_TWO}|hundred)"
    rf"|twenty[ -](?:{_TEEN}|twenty(?:[ -](?:{_U}))?|thirty(?:[ -](?:{_U}))?|(?:oh|o)[ -](?:{_U})))"
)
#: "Two thousand" may be a count; behind these it is a year.
_IN = r"(?:(?<=\bin )|(?<=\bsince )|(?<=\bfrom )|(?<=\buntil )|(?<=\btill )|(?<=\bby )|(?<=\bof ))"
_YEAR = re.compile(
    rf"(?<![\w$€£.,-])(?:{_SURE}|{_IN}(?:{_THOUSANDS}|two thousand(?! and\b))){_NO_YEAR}",
    re.IGNORECASE,
)
_NTH = (
    rf"(?:(?:(?:twenty|thirty)[ -])?(?:{'|'.join(_ORDINALS)})"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teenth|twentieth|thirtieth)"
)
_MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAY = re.compile(
    rf"(?<![\w-])(?:the )?(?:{_NTH}|\d{{1,2}}(?:st|nd|rd|th)?) (?:day )?of "
    rf"(?:(?:{_MONTH})|the (?:{'|'.join(_ORDINALS)})),? (?:in )?(?:the year )?"
    rf"(?:{_SURE}|{_THOUSANDS}|two thousand|{_TWO}|(?:19|20)\d\d|['’]?\d\d){_NO_YEAR}",
    re.IGNORECASE,
)
#: What every one of them holds, and how much a match has around it at most.
_CENTURIES = ("nineteen", "twenty", "two thousand")
_CENTURY = re.compile("|".join(_CENTURIES))
_OF_MONTH = re.compile(rf" of (?:(?:{_MONTH})|the (?:{'|'.join(_ORDINALS)}))")
_YEAR_AFTER, _DAY_BEFORE, _DAY_AFTER = 48, 32, 80
#: What the other finder of dates understands: "the 3rd of May 1992".
_WRITTEN = re.compile(
    rf"(?:the )?(?:{_NTH}|\d{{1,2}}(?:st|nd|rd|th)?) (?:day )?of (?:{_MONTH}),? (?:in )?"
    r"(?:(?:19|20)\d\d|['’]?\d\d)",
    re.IGNORECASE,
)


def said_date_spans(text: str) -> Iterable[tuple[int, int]]:
    """Yield where days and years stand that are written as they are said.

    Examples
    --------
    >>> text = "Since nineteen eighty four, or the third of the fifth ninety-two, in two thousand"
    >>> [text[a:b] for a, b in said_date_spans(text)]
    ['nineteen eighty four', 'the third of the fifth ninety-two', 'two thousand']
    >>> list(said_date_spans("two thousand and six pounds, nineteen of them, the first of the ten"))
    []
    """
    days = [m.span() for m in _said_days(text) if not _WRITTEN.fullmatch(m.group())]
    years = (m.span() for m in _said_years(text))
    yield from sorted([*days, *(y for y in years if not any(a <= y[0] < b for a, b in days))])


def _said_days(text: str) -> Iterator[re.Match[str]]:
    months = (m.span() for m in _OF_MONTH.finditer(lowered(text)))
    return matches_around(_DAY, text, months, _DAY_BEFORE, _DAY_AFTER)


def _said_years(text: str) -> Iterator[re.Match[str]]:
    low = lowered(text)
    # most texts have none of them, and looking for words is faster than for a pattern
    if not any(word in low for word in _CENTURIES):
        return iter(())
    centuries = (m.span() for m in _CENTURY.finditer(low))
    return matches_around(_YEAR, text, centuries, 0, _YEAR_AFTER)


def said_year(surface: str) -> int | None:
    """Return the year that is said, None where it is anything else.

    Examples
    --------
    >>> [said_year(y) for y in ("nineteen eighty-four", "two thousand and six", "twenty ten")]
    [1984, 2006, 2010]
    >>> said_year("the third of the fifth ninety-two")
    """
    words = [w for w in re.split(r"[ ,-]+", surface.lower()) if w and w != "and"]
    if words[:2] == ["two", "thousand"]:
        number = _under_hundred(words[2:])
        return None if number is None else 2000 + number
    if not words or words[0] not in ("nineteen", "twenty"):
        return None
    rest = words[1:]
    if not rest:
        return None
    number = 0 if rest == ["hundred"] else _under_hundred(rest)
    return None if number is None else (1900 if words[0] == "nineteen" else 2000) + number


def _under_hundred(words: list[str]) -> int | None:
    total = 0
    for word in words:
        if word in ("oh", "o"):
            continue
        if word in _ONES:
            total += 1 + _ONES.index(word)
        elif word in _TEENS:
            total += 10 + _TEENS.index(word)
        elif word in _TENS:
            total += 20 + 10 * _TENS.index(word)
        else:
            return None
    return total


def year_as_said(year: int, like: str) -> str | None:
    """Return a year in words, with hyphens where another one has them.

    Examples
    --------
    >>> year_as_said(1984, "nineteen ninety-one"), year_as_said(2003, "nineteen ninety one")
    ('nineteen eighty-four', 'two thousand and three')
    >>> year_as_said(2010, "Two thousand"), year_as_said(1905, "nineteen ten")
    ('Twenty ten', 'nineteen oh five')
    """
    if not 1900 <= year < 2100:
        return None
    century, rest = divmod(year, 100)
    tens, ones = divmod(rest, 10)
    joint = "-" if re.search(rf"(?:{_T})-(?:{_U})", like, re.IGNORECASE) else " "
    if rest < 10:
        small = ("oh " + _ONES[ones - 1]) if ones else "hundred"
        two = f"two thousand and {_ONES[ones - 1]}" if ones else "two thousand"
        said = f"nineteen {small}" if century == 19 else two
    else:
        two = (
            _TEENS[ones] if tens == 1 else _TENS[tens - 2] + (joint + _ONES[ones - 1]) * (ones > 0)
        )
        said = f"{'nineteen' if century == 19 else 'twenty'} {two}"
    return said[0].upper() + said[1:] if like[:1].isupper() else said


__all__ = ["said_date_spans", "said_year", "year_as_said"]
