"""Listed days, such as a date of birth, in every usual writing.

"3/4/1957" is listed and stands in texts as "03.04.57", "3 April 1957", "April 3rd, 1957",
"1957-04-03" and "03APR57". A day that is listed in figures which begin with the day or the month is
looked for as either; a year of two figures is that of any century.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import NamedTuple

_NAMES = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_MONTH = rf"(?:{'|'.join(_NAMES)}|sept|{'|'.join(name[:3] for name in _NAMES)})(?![^\W\d_])"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_NTH = r"(?:st|nd|rd|th)?"
_YEAR = r"(?:(?:1[5-9]|20)\d\d|['’]?\d\d)"
_DAY_TEXT = re.compile(
    r"(?<![^\W_])(?<!\d[./-])(?:"
    r"(?P<y>(?:1[5-9]|20)\d\d)(?P<ys>[./-])(?P<ym>\d\d?)(?P=ys)(?P<yd>\d\d?)"
    r"|(?P<a>\d\d?)(?P<s> ?[./–-] ?|\s)(?P<b>\d\d?)(?P=s)(?P<n>(?:1[5-9]|20)\d\d|\d\d)"
    rf"|(?P<d>{_DAY}){_NTH}[\s.,-]{{0,2}}(?:day )?(?:of )?(?P<dm>{_MONTH})[\s.,-]{{0,2}}(?:of )?"
    rf"(?P<dy>{_YEAR})"
    rf"|(?P<m>{_MONTH})[\s.-]{{0,2}}(?:the )?(?P<md>{_DAY}){_NTH}(?:[\s,-]{{1,2}})(?:of )?"
    rf"(?P<my>{_YEAR})"
    r"|(?P<e>\d{8}))"
    # "1957-04-03T00:00" goes on, "3.4.57.2" and "3/4/57th" are something else
    r"(?!\d|[./-]\d|(?!T\d\d:)[^\W_])",
    re.IGNORECASE,
)
_TIME = re.compile(r"[T ,]{0,2}\d\d?:\d\d(?::\d\d(?:\.\d+)?)?(?: ?Z|[+-]\d\d:?\d\d)?")


class Day(NamedTuple):
    """A day; ``century`` is None where its year has two figures."""

    century: int | None
    year: int
    month: int
    day: int

    def may_be(self, other: Day) -> bool:
        """Whether two days are one, as far as they say."""
        same = self[1:] == other[1:]
        return same and (None in (self.century, other.century) or self.century == other.century)


def find_days(text: str) -> Iterator[tuple[int, int, frozenset[Day]]]:
    """Yield where days with a year stand, and which days each may be.

    Examples
    --------
    >>> text = "born 03APR57, or on April 3rd, 1957"
    >>> [(text[start:end], len(days)) for start, end, days in find_days(text)]
    [('03APR57', 1), ('April 3rd, 1957', 1)]
    """
    for match in _DAY_TEXT.finditer(text):
        if days := _read(match):
            yield *match.span(), days


@lru_cache(maxsize=16_384)
def days_of(value: str) -> frozenset[Day]:
    """Return the days that a value may be; none where it is no day, or more than one.

    Examples
    --------
    >>> sorted(days_of("1957-04-03 00:00:00"))
    [Day(century=19, year=57, month=4, day=3)]
    >>> len(days_of("3/4/57")), len(days_of("about 1957"))
    (2, 0)
    """
    value = value.strip()
    match = _DAY_TEXT.match(value)
    if match is None or not (match.end() == len(value) or _TIME.fullmatch(value, match.end())):
        return frozenset()
    return _read(match)


def _read(match: re.Match[str]) -> frozenset[Day]:
    group = match.groupdict()
    if group["y"]:
        told = [(group["y"], group["ym"], group["yd"])]
    elif group["a"]:
        if group["s"].isspace() and len(group["n"]) < 4:
            return frozenset()  # "3 4 57" counts anything
        told = [(group["n"], group["b"], group["a"]), (group["n"], group["a"], group["b"])]
    elif group["d"]:
        told = [(group["dy"], group["dm"], group["d"])]
    elif group["m"]:
        told = [(group["my"], group["m"], group["md"])]
    else:
        e = group["e"]
        told = [(e[:4], e[4:6], e[6:]), (e[4:], e[2:4], e[:2]), (e[4:], e[:2], e[2:4])]
    return frozenset(day for parts in told if (day := _day(*parts)) is not None)


def _day(year: str, month: str, day: str) -> Day | None:
    number = int(month) if month.isdigit() else _number(month)
    digits = year.strip("'’")
    century = int(digits[:2]) if len(digits) == 4 else None
    try:  # 2000 has every day
        date(int(digits) if century else 2000, number, int(day))
    except ValueError:
        return None
    if century is not None and not 15 <= century <= 20:
        return None
    return Day(century, int(digits[-2:]), number, int(day))


def _number(month: str) -> int:
    return next(n for n, name in enumerate(_NAMES, 1) if name.startswith(month[:3].lower()))


__all__ = ["Day", "days_of", "find_days"]
