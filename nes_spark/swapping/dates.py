"""Dates of a document, all shifted by one secret number of days.

Who knows when something happened finds the document that tells of it, so the dates of a document
move together: order and gaps stay, and the text goes on making sense. A shift of n days moves
calendar dates by n days, weekdays by n days of the week, and coarser periods by a whole number of
their own units, the nearest to n days: months by round(n / 30.44), quarters by round(n / 91.31),
halves by half of the quarters, years by round(n / 365.25). So gaps are exact between periods of one
kind, and between kinds right to half of the coarser unit. What is told relative to now ("last
year", "the prior quarter") stays, without its length ("the past few years" of the past 22:
:func:`without_length`), and so does a year of a name that everybody knows
("Securities Act of 1933", "the 2008 financial crisis"): moved, it would tell the shift. A shift is
undone by the opposite shift (:meth:`Shift.inverse`), up to lengths and writing: behind "May" nobody
knows whether a month was abbreviated.

Shifting dates by a random offset per subject is the usual way to keep intervals in clinical texts;
see Sweeney, "Replacing Personally-Identifying Information in Medical Records, the Scrub System"
(1996), and the date offsets of the MIMIC databases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from nes_spark.entities.mentions import Mention
from nes_spark.errors import parameter_error
from nes_spark.swapping.forms import Key, forms_of
from nes_spark.swapping.rewriting import Replacement
from nes_spark.text.said_dates import said_date_spans, said_year, year_as_said

DAYS_PER_MONTH = 365.25 / 12
DAYS_PER_QUARTER = 365.25 / 4
DAYS_PER_YEAR = 365.25

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_SHORT = tuple(month[:3] for month in _MONTHS)
_WEEKDAYS = (*("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),)
_SHORT_DAYS = tuple(day[:3] for day in _WEEKDAYS)
_ORDINALS = ("first", "second", "third", "fourth")
_NUMERALS = ("1st", "2nd", "3rd", "4th")
_CARDINALS = ("one", "two", "three", "four")


@dataclass(frozen=True)
class Shift:
    """How far the dates of a document are moved.

    Attributes
    ----------
    days : int
        Positive moves to later dates.
    """

    days: int

    @property
    def months(self) -> int:
        """The nearest whole number of months."""
        return round(self.days / DAYS_PER_MONTH)

    @property
    def quarters(self) -> int:
        """The nearest whole number of quarters."""
        return round(self.days / DAYS_PER_QUARTER)

    @property
    def halves(self) -> int:
        """Half of the quarters, towards zero."""
        return int(self.quarters / 2)

    @property
    def years(self) -> int:
        """The nearest whole number of years."""
        return round(self.days / DAYS_PER_YEAR)

    def inverse(self) -> Shift:
        """Return the shift that undoes this one."""
        return Shift(-self.days)

    def apply(self, day: date) -> date:
        """Return a date, shifted."""
        return day + timedelta(days=self.days)


def draw_shift(
    digest: Callable[..., bytes], document_id: str, low: int = 180, high: int = 1095
) -> Shift:
    """Draw the shift of a document: forward or back, by ``low`` to ``high`` days.

    Shifts by which months, quarters or years would stay what they are (a year and a day) are left
    out, unless the bounds leave nothing else.

    Parameters
    ----------
    digest : callable
        ``digest(*parts) -> bytes``, keyed with the secret seed.
    document_id : str
        The shift depends on the secret and this id alone.
    low, high : int
        Days, inclusive; 1 to 36,500.

    Returns
    -------
    Shift

    Raises
    ------
    ValueError
        When the bounds are not in this order and range.
    """
    if not 1 <= low <= high <= 36_500:
        raise parameter_error(
            "draw_shift", "low and high", "1 <= low <= high <= 36500", (low, high)
        )
    number = int.from_bytes(digest("date shift", document_id)[:16], "big")
    sizes = _sizes(low, high)
    size, backward = divmod(number % (2 * len(sizes)), 2)
    return Shift(-sizes[size] if backward else sizes[size])


@lru_cache(maxsize=16)
def _sizes(low: int, high: int) -> range | tuple[int, ...]:
    """Return the days of a range that move months, quarters and years; all where none does."""
    every = range(low, high + 1)
    moving = tuple(d for d in every if _moves(Shift(d)))
    return moving or every


def _moves(shift: Shift) -> bool:
    return bool(shift.months % 12 and shift.quarters % 4 and shift.years)


_PERIOD = re.compile(
    r"(?P<year>(?:19|20)\d\d)(?:[-/ ]?(?:Q(?P<quarter>[1-4])|H(?P<half>[12])"
    r"|(?P<month>0[1-9]|1[0-2])(?:-(?P<day>[0-3]\d))?))?"
    r"|Q(?P<after>[1-4])[-/ ]?(?P<of>(?:19|20)\d\d)",
    re.IGNORECASE,
)


def reference_of(period: str | None) -> date | None:
    """Return the middle of a period, for :func:`shift_date`; None where it names no time.

    Parameters
    ----------
    period : str or None
        A year, quarter, half, month or day, such as ``2020``, ``2020Q3``, ``2020-09``.

    Examples
    --------
    >>> reference_of("2020Q3"), reference_of("wave 2")
    (datetime.date(2020, 8, 15), None)
    """
    match = _PERIOD.fullmatch((period or "").strip())
    if match is None:
        return None
    year = int(match["year"] or match["of"])
    if quarter := match["quarter"] or match["after"]:
        return date(year, 3 * int(quarter) - 1, 15)
    if match["half"]:
        return date(year, 6 * int(match["half"]) - 2, 1)
    if match["month"]:
        return _valid(year, int(match["month"]), int(match["day"] or 15))
    return date(year, 7, 1)


_MONTH = rf"(?:{'|'.join(_MONTHS)}|Sept|{'|'.join(_SHORT)})(?![^\W_])"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])"
_YEAR = r"(?:19|20)\d\d"
#: Of a day or a month, also "'22".
_ITS_YEAR = rf"(?:{_YEAR}|['’]\d\d)"
#: Years of two digits from here on are of the last century.
_LAST_CENTURY = 70
_NTH = "|".join((*_ORDINALS, *_NUMERALS))
_CARDINAL = "|".join(_CARDINALS)
#: What may stand between a quarter, or a half, and its year.
_LINK = (
    r"(?P<{0}link>[-/]|,? ?(?:of |in |for |from )?(?:the )?(?:fiscal |calendar |financial )?"
    r"(?:year )?(?:(?:FY|CY) ?)?)"
    r"(?P<{0}year>(?:19|20)\d\d|['’] ?\d\d|(?<=FY)\d\d|(?<=FY )\d\d|(?<=[Q1-4])\d\d)(?![\d%])"
)
_PIECE = re.compile(
    rf"(?P<iso>(?<!\d)(?P<isoy>{_YEAR})(?P<isos>[-/])(?P<isom>[01]\d)(?P=isos)(?P<isod>[0-3]\d)(?!\d))"
    rf"|(?P<num>(?<![\d./-])(?P<num_a>\d\d?)(?P<num_s>[./-])(?P<num_b>\d\d?)(?P=num_s)"
    rf"(?P<num_y>{_YEAR}|\d\d)(?!\d))"
    rf"|(?P<slash>(?<![\d./-])(?P<slash_a>\d\d?)/(?P<slash_b>\d\d?)(?![\d/]))"
    rf"|(?P<joined>(?<![^\W_])(?P<j_d>\d\d?)(?P<j_m>{'|'.join(_SHORT)})(?P<j_y>{_YEAR}|\d\d)"
    rf"(?!\d))"
    rf"|(?P<md>(?P<md_m>{_MONTH})(?P<md_dot>\.?)(?P<md_a> (?:the )?)(?P<md_d>{_DAY})"
    rf"(?P<md_th>st|nd|rd|th)?(?!\d)(?:(?P<md_b>,? (?:of )?)(?P<md_y>{_ITS_YEAR})(?!\d))?)"
    rf"|(?P<dm>(?<![\d.])(?P<dm_d>{_DAY})(?P<dm_th>st|nd|rd|th)?(?P<dm_a>[-/]| (?:day )?(?:of )?)"
    rf"(?P<dm_m>{_MONTH})(?P<dm_dot>\.?)"
    rf"(?:(?P<dm_b>,? (?:of )?)(?P<dm_y>{_ITS_YEAR})(?!\d)"
    rf"|(?P<dm_h>[-/])(?P<dm_hy>{_YEAR}|\d\d)(?!\d)|(?P<dm_s> )(?P<dm_sy>\d\d)(?![\d%]))?)"
    rf"|(?P<my>(?P<my_m>{_MONTH})(?P<my_a>\.?,? (?:of )?)(?P<my_y>{_ITS_YEAR})(?!\d))"
    rf"|(?P<m>{_MONTH})"
    rf"|(?P<quarter>(?:(?P<q_nth>{_NTH})(?=(?:,? (?:and|or|to|through) (?:{_NTH}))?[ -]"
    rf"(?:full[ -])?(?:fiscal[ -])?(?:quarter|trimester))"
    rf"|(?:quarter|Q) (?P<q_word>{_CARDINAL}|[1-4])(?!\d)|(?<![^\W_])Q(?P<q_q>[1-4])(?!\d\d\d)"
    rf"|(?<![^\W_])(?P<q_n>[1-4])(?=Q))"
    rf"(?P<q_tail>[ -](?:full[ -])?(?:fiscal[ -])?(?:quarter|trimester)s?|Q)?"
    rf"(?:{_LINK.format('q')})?)"
    rf"|(?P<half>(?:(?P<h_nth>first|second|1st|2nd|back|front)"
    rf"(?=[ -](?:half|semester))|(?<![^\W_])H(?P<h_h>[12])"
    rf"(?!\d\d\d)|(?<![^\W_])(?P<h_n>[12])(?=H))(?P<h_tail>[ -](?:half|semester)|H)?"
    rf"(?:{_LINK.format('h')})?)"
    rf"|(?P<yq>(?<!\d)(?P<yq_y>{_YEAR})(?P<yq_s>[- /]?Q)(?P<yq_q>[1-4])(?!\d))"
    rf"|(?P<ym>(?<!\d)(?P<ym_y>{_YEAR})-(?P<ym_m>0[1-9]|1[0-2])(?![\d-]))"
    rf"|(?P<range>(?<!\d)(?P<r_a>{_YEAR})(?P<r_sep> ?[-–/] ?)(?P<r_b>{_YEAR}|\d\d)(?!\d|-))"
    rf"|(?P<weekday>(?:{'|'.join(_WEEKDAYS)})(?![^\W\ds_]))"
    r"|(?P<short_day>(?<![^\W_])(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)(?=\.?,? (?:\d|[A-Z])))"
    rf"|(?P<fy>(?<![^\W_])(?:(?:FY|CY|fiscal|['’]) ?))(?P<fy_y>\d\d)(?![\d%])"
    rf"|(?P<year>(?<![\d$€£])(?:{_YEAR})(?!\d|s\b))",
    re.IGNORECASE,
)
#: Words of times relative to now ("next year") and of lengths of time: these are not shifted.
_RELATIVE = re.compile(
    r"\b(?:last|next|prior|previous|preceding|past|coming|upcoming|following|same|ago|trailing|"
    r"current|this|yesterday|tomorrow|today|comparable|corresponding|end|ended|ending|beginning|"
    r"start|middle|rest|remainder|balance|course|part|half|halves|year|years|quarter|quarters|month|"
    r"months|week|weeks|day|days|period|decade|season|spring|summer|autumn|fall|winter|century)\b",
    re.IGNORECASE,
)
#: A number that is left and may be a date: "202", "'20", "9M20".
_DIGITS = re.compile(r"\d")
_COUNT = re.compile(
    r"\b\d{1,2}(?=(?:[- ](?:to|or|and)[- ]\d{1,2})?[- ](?:fiscal |full |consecutive )?"
    r"(?:years?|quarters?|months?|weeks?|days?|decades?)\b)|\b\d{1,2}(?=(?:st|nd|rd|th)\b)|"
    r"\b\d{1,2}(?= (?:to|or|and) \d{1,2} )|\b(?:19|20)?\d0['’]?s\b",
    re.IGNORECASE,
)


#: What would stay of a date of which the rest is moved: "thirty-first of", "first and".
_HALF = re.compile(
    r"\b(?:first|second|third|(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf|\w{3,5}teen|twentie|"
    r"thirtie)th)(?:(?: day)? of\s*$|,? (?:and|or|to|through) (?:\s|$)|, )",
    re.IGNORECASE,
)


def shift_date(
    surface: str, shift: Shift, reference: date | None = None, day_first: bool | None = None
) -> str | None:
    """Return a date or period as it reads after a shift.

    Parameters
    ----------
    surface : str
        As :func:`~nes_spark.entities.dates.find_dates` finds it.
    shift : Shift
    reference : date, optional
        A date of the document, for example that of its period: days without a year are those
        nearest to it. To undo a shift, give the shifted one. Without it a year of 365 days is gone
        round, and 29 February has no place.
    day_first : bool, optional
        Whether "3/4/2020" is in April; see :func:`day_comes_first`. Not known by default: then only
        dates in numbers are understood that leave no doubt.

    Returns
    -------
    str or None
        Written as before; the surface itself where it is relative (:func:`without_length`) or as
        coarse as a decade; None where it is not understood, so that the caller can replace it by a
        placeholder.

    Examples
    --------
    >>> shift = Shift(400)
    >>> [shift_date(s, shift) for s in ("March 31, 2020", "Q3 2020", "fiscal 2019", "June")]
    ['May 5, 2021', 'Q3 2021', 'fiscal 2020', 'July']
    >>> shift_date("last year", shift), shift_date("early 202", shift)
    ('last year', None)
    """
    if (year := said_year(surface)) is not None:
        return year_as_said(year + shift.years, surface)
    if any(said_date_spans(surface)):
        return None  # "the third of the fifth ninety-two"
    pieces: list[str] = []
    left: list[str] = []
    done = 0
    matches = _pieces(surface)
    quarters = [m["qyear"] for m in matches if m["quarter"]]
    if len(quarters) > 1 and any(quarters):
        return None  # "third and fourth quarters of 2020" may go on into the next year
    for match in matches:
        new = _shifted(match, shift, reference, day_first)
        if new is None:
            return None
        left.append(surface[done : match.start()])
        pieces += [surface[done : match.start()], new]
        done = match.end()
    left.append(surface[done:])
    pieces.append(surface[done:])
    rest = " ".join(left)
    if _DIGITS.search(_COUNT.sub("", rest)) or _HALF.search(rest):
        return None
    if done == 0 and not (_RELATIVE.search(surface) or _COUNT.search(surface)):
        return None
    return "".join(pieces) if done else without_length(surface)


#: Numbers in figures or words, as far as lengths of time are told in them.
_NUMBER = (
    r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|"
    r"fifteen|sixteen|seventeen|eighteen|nineteen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty"
    r"(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|(?:a |one )?hundred)"
)
_SOME = r"(?:a )?(?:few|couple(?: of)?|several|many)"
_LENGTH = re.compile(
    rf"(?P<article>the )?(?:(?P<before>last|past|previous|prior|preceding)|next|coming) "
    rf"(?:{_SOME}|{_NUMBER}(?:(?:,? to |,? or |, |-){_NUMBER})?(?: and a half)?) "
    r"(?:(?:plus|full|fiscal|consecutive) )?(?P<unit>days|weeks|months|quarters|years|decades)",
    re.IGNORECASE,
)
#: What everybody reports on.
_REPORTED = re.compile(r"(?:the )?\w+ (?:3|6|9|12|three|six|nine|twelve) months", re.IGNORECASE)


def without_length(surface: str) -> str:
    """Return a time told from now without its length: "the past few years" of the past 22.

    How long something has gone on tells whose text it is, and there is nothing to shift. Halves
    and quarters of a year in months, which everybody reports on, stay.

    Examples
    --------
    >>> [without_length(s) for s in ("last 22 years", "next two to three quarters", "last year")]
    ['past few years', 'next few quarters', 'last year']
    >>> without_length("The past two fiscal years"), without_length("last six months")
    ('The past few years', 'last six months')
    """
    match = _LENGTH.fullmatch(surface)
    if match is None or _REPORTED.fullmatch(surface):
        return surface
    when = "past" if match.group("before") else "next"
    article = "the " if match.group("article") else ""
    return _cased(surface, f"{article}{when} few {match.group('unit').lower()}")


@lru_cache(maxsize=16_384)
def _pieces(surface: str) -> tuple[re.Match[str], ...]:
    """The parts of a date that can be moved; a corpus says "last year" on every page."""
    return tuple(_PIECE.finditer(surface))


def day_comes_first(surfaces: Iterable[str]) -> bool | None:
    """Tell whether dates in numbers begin with the day: what one leaves open, another may tell.

    None where none of them tells, or two contradict each other.

    Examples
    --------
    >>> day_comes_first(["3/4/2020", "31/12/2020"]), day_comes_first(["3/4/2020", "May 2020"])
    (True, None)
    """
    told = {
        found
        for surface in surfaces
        for match in _pieces(surface)
        if (match["num"] or match["slash"]) and (found := _tells(match)) is not None
    }
    return told.pop() if len(told) == 1 else None


#: A day in numbers with its year, and no part of a longer number.
_IN_NUMBERS = re.compile(
    r"(?<![\w./-])\d{1,2}([./-])\d{1,2}\1(?:(?:19|20)\d\d|\d\d)(?![\w/-]|\.\d)"
)
#: What every text with such a day has, for patterns of Java too.
MAY_HAVE_DAYS = r"\d[./-]\d{1,2}[./-]\d\d"


def days_in_numbers(text: str) -> list[str]:
    """Return the days of a whole text that are in numbers, for :func:`day_comes_first`.

    Of a short passage hardly one tells which comes first, the month or the day.

    Examples
    --------
    >>> days_in_numbers("24/11/24: seen. Ref 03/4567/21, on 3/4/2020 and 1/2.")
    ['24/11/24', '3/4/2020']
    """
    return [found.group() for found in _IN_NUMBERS.finditer(text)]


def _tells(match: re.Match[str]) -> bool | None:
    """Whether a date in numbers begins with the day; None where it may be either."""
    kind = "num" if match["num"] else "slash"
    first, second = int(match[f"{kind}_a"]), int(match[f"{kind}_b"])
    if match["num_s"] == "." or first > 12:
        return True
    return False if second > 12 else None


#: What stands before the year of a law ("Civil Procedure Rules 1998"), and behind it ("the 1954
#: Act", "the 2002 Regulations").
_LAW = re.compile(r"\b(?:Acts?|Code|Directive|Regulations?|Rules)(?:,? of)? $")
_THEN_LAW = re.compile(r" (?:Act|Regulations?|Rules)\b")
#: A year, or two, of a crisis that is known by it; not of one that may be the text's own time.
_PAST = re.compile(r"(?:19\d\d|200\d|201[0-2])(?: ?[-–/] ?\d{2,4})?")
_CRISIS = r"(?:crisis|crash|recession|meltdown|downturn|collapse)"
_OF_CRISIS = re.compile(rf"\b{_CRISIS} (?:of|in) (?:the )?$", re.IGNORECASE)
_THEN_CRISIS = re.compile(
    rf" (?:(?:asian|banking|credit|debt|dot-com|economic|euro|financial|global|great|housing|"
    rf"mortgage|world|worldwide) ){{0,3}}{_CRISIS}\b",
    re.IGNORECASE,
)


def is_of_name(text: str, start: int, end: int) -> bool:
    """Return whether a date is the year of a name that everybody knows: of a law, of a crisis.

    Parameters
    ----------
    text : str
    start, end : int
        Half-open offsets of the date.

    Examples
    --------
    >>> text = "The Reform Act of 1995, the recession of 2008, that of 2020, the 1954 Act, 1995."
    >>> [is_of_name(text, m.start(), m.end()) for m in re.finditer("[0-9]+", text)]
    [True, True, False, True, False]
    """
    before = text[max(0, start - 30) : start]
    surface = text[start:end]
    if re.fullmatch(r"(?:1[89]|20)\d\d?", surface) and (
        _LAW.search(before) or _THEN_LAW.match(text, end)
    ):
        return True
    told = _OF_CRISIS.search(before) or _THEN_CRISIS.match(text, end)
    return bool(told and _PAST.fullmatch(surface))


def without_names(
    text: str, mentions: Iterable[Mention], categories: Collection[str] = ("Date",)
) -> list[Mention]:
    """Return the mentions of a text without the years of names, which no shift moves.

    Parameters
    ----------
    text : str
    mentions : iterable of Mention
        Of the text; those of other categories are kept.
    categories : collection of str
        Categories of dates.
    """
    return [
        m for m in mentions if m.category not in categories or not is_of_name(text, m.start, m.end)
    ]


def date_replacements(
    mentions: Iterable[Mention],
    shift: Shift,
    reference: date | None = None,
    placeholder: str = "[Date]",
    category: str = "Date",
    day_first: bool | None = None,
) -> dict[Key, Replacement]:
    """Return what comes in the place of each date of a chunk, for ``rewrite_text``.

    Parameters
    ----------
    mentions : iterable of Mention
        Of one chunk, from :func:`without_names`; those of other categories are passed over.
    shift, reference
        As for :func:`shift_date`; the same for all chunks of a document.
    placeholder : str
        For dates that are not understood.
    category : str
        Category of dates.
    day_first : bool, optional
        Whether "3/4/2020" is in April where the chunk's own dates do not tell: what those of its
        document say (:func:`days_in_numbers`).

    Returns
    -------
    dict
        (category, entity) -> :class:`~nes_spark.swapping.rewriting.Replacement`. Dates that stay as
        they are (most relative ones) have none.
    """
    dates = [m for m in mentions if m.category == category]
    out: dict[Key, Replacement] = {}
    own = day_comes_first(m.surface for m in dates)
    day_first = day_first if own is None else own
    for key, forms in forms_of(dates).items():
        new = tuple(shift_date(form, shift, reference, day_first) or placeholder for form in forms)
        if new != forms:
            entity = shift_date(key[1], shift, reference, day_first) or placeholder
            out[key] = Replacement(entity, new)
    return out


def _shifted(
    match: re.Match[str], shift: Shift, reference: date | None, day_first: bool | None
) -> str | None:
    group = match.groupdict()
    if group["iso"]:
        day = _valid(int(group["isoy"]), int(group["isom"]), int(group["isod"]))
        new = _moved(day, shift)
        return new.isoformat().replace("-", group["isos"]) if new else None
    if group["num"]:
        return _in_numbers(match, "num", shift, day_first, reference)
    if group["slash"]:
        return _in_numbers(match, "slash", shift, day_first, reference)
    if group["joined"]:
        return _joined(group, shift)
    for kind in ("md", "dm"):
        if group[kind]:
            return _calendar(group, kind, shift, reference)
    if group["my"]:
        month = _month_number(group["my_m"])
        year, moved = divmod(12 * _year_of(group["my_y"]) + month + shift.months, 12)
        return _month_like(group["my_m"], moved) + group["my_a"] + _year_like(group["my_y"], year)
    if group["m"]:
        return _month_like(group["m"], (_month_number(group["m"]) + shift.months) % 12)
    if group["quarter"]:
        parts = (group["q_nth"], group["q_word"], group["q_q"], group["q_n"])
        return _cyclic(match, "q", next(p for p in parts if p), 4, shift.quarters)
    if group["half"]:
        ways = (group["h_nth"], group["h_h"], group["h_n"])
        return _cyclic(match, "h", next(p for p in ways if p), 2, shift.halves)
    if group["yq"]:
        index = 4 * int(group["yq_y"]) + int(group["yq_q"]) - 1 + shift.quarters
        return f"{index // 4}{group['yq_s']}{index % 4 + 1}"
    if group["ym"] and not _next_year(group["ym_y"], group["ym_m"]):
        index = 12 * int(group["ym_y"]) + int(group["ym_m"]) - 1 + shift.months
        return f"{index // 12}-{index % 12 + 1:02d}"
    if group["ym"]:
        year, next_one = (int(group[name]) + shift.years for name in ("ym_y", "ym_m"))
        return f"{year}-{next_one % 100:02d}"
    if group["range"]:
        first, second = int(group["r_a"]) + shift.years, group["r_b"]
        number = int(second) + shift.years
        last = str(number) if len(second) == 4 else f"{number % 100:02d}"
        return f"{first}{group['r_sep']}{last}"
    if group["weekday"]:
        at = _WEEKDAYS.index(group["weekday"].capitalize())
        return _cased(group["weekday"], _WEEKDAYS[(at + shift.days) % 7])
    if group["short_day"]:
        at = _SHORT_DAYS.index(group["short_day"][:3].capitalize())
        return _cased(group["short_day"], _SHORT_DAYS[(at + shift.days) % 7])
    if group["fy"]:
        return f"{group['fy']}{(int(group['fy_y']) + shift.years) % 100:02d}"
    return str(int(group["year"]) + shift.years)


def _next_year(year: str, number: str) -> bool:
    """Whether "2011-12" may be two years as well as a month."""
    return (int(year) + 1) % 100 == int(number)


def _in_numbers(
    match: re.Match[str], kind: str, shift: Shift, day_first: bool | None, reference: date | None
) -> str | None:
    """Move "31/12/2020", or "31/12" (kind ``slash``), which has no year."""
    first, second = match[f"{kind}_a"], match[f"{kind}_b"]
    told = _tells(match)
    if told is None:  # 5/5/2020 is the same either way
        told = day_first if first != second else bool(day_first)
    if told is None:
        return None
    day, month = map(int, (first, second) if told else (second, first))
    year = match["num_y"]
    if year:
        new = _moved(_valid(_year_of(year), month, day), shift)
    else:
        new = _moved_in_year(month, day, shift, reference)
    if new is None:
        return None
    wide = 2 if len(first) == len(second) == 2 or "0" in (first[0], second[0]) else 1
    parts = [f"{p:0{wide}d}" for p in ((new.day, new.month) if told else (new.month, new.day))]
    return (match["num_s"] or "/").join([*parts, *([_year_like(year, new.year)] if year else [])])


def _joined(group: dict[str, str], shift: Shift) -> str | None:
    """Move "13MAY22", which has as many figures and letters wherever it lands."""
    number, year = group["j_d"], group["j_y"]
    new = _moved(_valid(_year_of(year), _month_number(group["j_m"]) + 1, int(number)), shift)
    if new is None:
        return None
    month = _cased(group["j_m"], _SHORT[new.month - 1])
    return f"{new.day:0{len(number)}d}{month}{_year_like(year, new.year)}"


def _year_of(written: str) -> int:
    """Return a year as it is meant: of two digits one from 1970 to 2069."""
    number = int(written.lstrip("'’"))
    if number > 99:
        return number
    return number + (1900 if number >= _LAST_CENTURY else 2000)


def _year_like(old: str, year: int) -> str:
    """Return a year as another is written: "2020", "20", "'20"."""
    if old.isdigit() and len(old) == 4:
        return str(year)
    return f"{'' if old.isdigit() else old[0]}{year % 100:02d}"


def _calendar(group: dict[str, str], kind: str, shift: Shift, reference: date | None) -> str | None:
    month, number = _month_number(group[f"{kind}_m"]) + 1, int(group[f"{kind}_d"])
    year, before = group[f"{kind}_y"], group[f"{kind}_b"]
    if kind == "dm" and group["dm_h"]:  # "17-Nov-2018"
        year, before = group["dm_hy"], group["dm_h"]
    elif kind == "dm" and group["dm_s"]:  # "13 MAY 22"
        year, before = group["dm_sy"], group["dm_s"]
    if year:
        new = _moved(_valid(_year_of(year), month, number), shift)
    else:
        new = _moved_in_year(month, number, shift, reference)
    if new is None:
        return None
    day = f"{new.day:02d}" if group[f"{kind}_d"].startswith("0") else str(new.day)
    if group[f"{kind}_th"]:
        day += _cased(group[f"{kind}_th"], _suffix(new.day))
    name = _month_like(group[f"{kind}_m"], new.month - 1)
    if kind == "dm" and (group["dm_h"] or group["dm_s"]) and len(group["dm_m"]) == 3:
        # beside hyphens or a year of two figures "May" is short for nothing longer
        name = _cased(group["dm_m"], _SHORT[new.month - 1])
    dot = group[f"{kind}_dot"] if len(name) < 5 and name != "May" else ""
    tail = before + _year_like(year, new.year) if year else ""
    if kind == "md":
        return f"{name}{dot}{group['md_a']}{day}{tail}"
    return f"{day}{group['dm_a']}{name}{dot}{tail}"


def _valid(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _moved(day: date | None, shift: Shift) -> date | None:
    try:
        return shift.apply(day) if day else None
    except OverflowError:
        return None


def _moved_in_year(month: int, day: int, shift: Shift, reference: date | None) -> date | None:
    """Move a day without a year: the one nearest to the reference, or around a year."""
    if reference is not None:
        return _moved(_nearest(reference, month, day), shift)
    return _round(month, day, shift)


def _nearest(reference: date, month: int, day: int) -> date | None:
    found = [_valid(reference.year + k, month, day) for k in (-1, 0, 1)]
    days = [d for d in found if d is not None]
    return min(days, key=lambda d: (abs((d - reference).days), d)) if days else None


def _round(month: int, day: int, shift: Shift) -> date | None:
    # 2001 has 365 days
    start = _valid(2001, month, day)
    if start is None:
        return None
    first = date(2001, 1, 1)
    return first + timedelta(days=((start - first).days + shift.days) % 365)


def _month_number(name: str) -> int:
    return _SHORT.index(name[:3].capitalize())


def _month_like(old: str, number: int) -> str:
    """Return a month as another is written: in full or in three letters, cased alike."""
    short = len(old) <= 4 and old.casefold() not in ("may", "june", "july")
    return _cased(old, _SHORT[number] if short else _MONTHS[number])


def _cased(old: str, new: str) -> str:
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new.lower() if old.islower() else new[0].upper() + new[1:]


def _suffix(day: int) -> str:
    if 10 < day < 20:
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")


def _cyclic(match: re.Match[str], kind: str, part: str, size: int, steps: int) -> str:
    """Move a quarter or a half, and its year with it where one is given."""
    scales: tuple[tuple[str, ...], ...] = (
        _ORDINALS,
        _NUMERALS,
        _CARDINALS,
        ("1", "2", "3", "4"),
        ("front", "back"),
    )
    names = next(names for names in scales if part.casefold() in names[:size])
    at = names.index(part.casefold())
    years, new = divmod(at + steps, size)
    shown = _cased(part, names[new])
    start, end = _place(match, kind, part)
    text = match.group()
    out = text[:start] + shown
    year = match.group(f"{kind}year")
    if not year:
        return out + text[end:]
    digits = re.sub(r"\D", "", year)
    number = int(digits) + years
    told = str(number) if len(digits) == 4 else f"{number % 100:02d}"
    mark = year[: len(year) - len(digits)]
    return out + text[end : match.start(f"{kind}year") - match.start()] + mark + told


def _place(match: re.Match[str], kind: str, part: str) -> tuple[int, int]:
    """Return where the number of a quarter or half stands in what was matched."""
    for name in ("q_nth", "q_word", "q_q", "q_n") if kind == "q" else ("h_nth", "h_h", "h_n"):
        if match.group(name):
            return match.start(name) - match.start(), match.end(name) - match.start()
    raise AssertionError(part)
