"""Amounts, percentages and counts by rule.

A quantity has a unit (a currency, percent, basis points, or the noun that is counted), a value and,
from the words beside it, a direction: growth, decline, or neither. One may take another's place
when all three agree: the unit (money is one, whatever its currency, and so
are counts), the order of magnitude and the direction
(:attr:`Quantity.likeness`), so that "revenue grew 12 % to $3.4 million" stays a text of growth and
of millions.

What counts as a quantity: numbers in digits with a currency, a percent sign, a scale word
("million"), a counted noun or "of our", "of these" behind them, numbers in words with one of the
first three or a unit of measure ("seven and a quarter percent", "three miles"), and bare numbers
that a source can be looked up by ("a loss of 181,000", "leverage was 3.52", columns of a table).
What does not: dates, years, times, ordinals, numbers in names ("Boeing 757"), section, page and
phone numbers, and bare numbers that are small or whole.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product, takewhile
from typing import NamedTuple

from nes_spark.entities.currencies import (
    CONTINENTAL,
    CURRENCIES,
    INDIAN,
    INDIAN_SCALES,
    ISO,
    MANIFOLD,
    MINOR,
    MONEY,
    OTHER_WORDS,
    SIGN,
    SIGNS,
    SINGULARS,
    in_currency,
    in_figures,
    in_millions,
)
from nes_spark.entities.dates import find_dates
from nes_spark.entities.mentions import Mention, placeholder_spans
from nes_spark.text.sentences import word_set

#: Category of quantities.
QUANTITY = "Quantity"
#: Units of small numbers, which are told apart.
_RATES = frozenset({"cent", "%", "points", "times"})
#: Words of scale -> factor.
SCALES = {
    word: factor
    for factor, words in {
        1e2: "hundred",
        1e3: "thousand k",
        1e6: "million millions mm mn m",
        1e9: "billion billions bn b",
        1e12: "trillion trillions",
    }.items()
    for word in words.split()
}
SCALES |= INDIAN_SCALES
_PERCENT = ("%", "percent", "per cent", "pct")
_POINTS = (
    *("basis points", "basis point", "bps", "bp", "percentage points", "percentage point"),
    *("points", "point"),
)
#: Units as they stand before a noun: "a 65 cent dividend".
_SINGLE = ("basis point", "percentage point", "point", "cent")
#: Units of measure; the rest of what is counted is any noun in lower case.
_MEASURES = word_set(
    "mw gw kw mwh gwh kwh megawatts gigawatts kilowatts megawatt gigawatt tons tonnes ton tonne kg "
    "kilograms lbs pounds ounces grams mg barrels bbl boe mcf mmcf bcf acres hectares miles km "
    "kilometers kilometres meters metres feet gallons liters litres bushels teu sqft square"
)
#: Numbers before these are no counts of things.
_NO_NOUNS = word_set(
    "a an and are as at be but by for from had has have he i if in into is it its nor not of on or "
    "our she so than that the their then they this to up us was we were which who will with you "
    "am pm a.m p.m years year months month weeks week days day hours hour minutes minute seconds "
    "second quarters quarter half halves decades decade times time-period o'clock st nd rd th"
)
#: A number after these names something ("slide 4", "Rule 39", "Boeing 757").
_NAMED = re.compile(
    r"(?:\b(?i:slide|page|pages|section|sections|rule|article|articles|chapter|part|phase|tier|class|"
    r"level|number|no|nos|item|items|note|form|figure|table|exhibit|appendix|paragraph|para|step|"
    r"version|type|series|model|unit|room|floor|gate|line|question|phone|extension|code|act|sequence|"
    r"ticket|case|invoice|order)\.?|\b[A-Z]\w*(?=-)|(?<![.?!:] )(?<!^)\b[A-Z][\w&'’]*)(?: |- ?)$"
)
_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = (
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
#: Words of numbers below a hundred -> value.
_CARDINALS = {word: float(n) for n, word in enumerate((*_DIGITS, *_TEENS))}
_CARDINALS |= {word: 10.0 * n for n, word in enumerate(_TENS, start=2)}
_PARTS = {"half": 0.5, "third": 1 / 3, "quarter": 0.25, "eighth": 0.125}
_PART = re.compile(rf" and (an?|one|three|five|seven)[ -]({'|'.join(_PARTS)})s?$")
_DIGIT = "|".join(_DIGITS[1:])
_BELOW_HUNDRED = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[ -](?:{_DIGIT}))?|{'|'.join(_TEENS)}|"
    # "15%, one-five percent", said to be sure
    rf"(?:{_DIGIT})(?:-(?:{'|'.join(_DIGITS)}))?)"
)
#: A number in words; one that may stand alone has "hundred" in it.
_WORDS = (
    rf"(?:(?:{_DIGIT}) hundred(?: (?:and )?{_BELOW_HUNDRED})?|{_BELOW_HUNDRED}"
    # "a hundred people" is no figure, "a hundred and seventy million" is one
    rf"|a hundred(?: (?:and )?{_BELOW_HUNDRED}|"
    rf"(?= (?:thousand|million|billion|trillion|basis)(?!\w))))(?!\w)"
    rf"(?: and (?:an?|one|three|five|seven)[ -](?:half|third|quarter|eighth)s?(?!\w))?"
    rf"(?: point(?: (?:{'|'.join(_DIGITS)}|oh)(?!\w))+)?"
)
_SPELLED = re.compile(rf"(?<![\w-]){_WORDS}", re.IGNORECASE)
#: "A billion euros", "half a million".
_ONE = r"(?:half )?an?"
#: Thousands apart as in India: 6,81,225.
_GROUPED = r"\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?"
_PLAIN = rf"\d{{1,3}}(?: 000)+|{_GROUPED}|\d+(?:,\d{{3}})*(?:\.\d+)?|\.\d+"
#: A number that shares the unit of the one behind it: "10 to 15%", "five to seven percent",
#: "between five and seven percent", "within .5 and .6 billion".
_RANGE = re.compile(
    rf"(?<![\w.,/{SIGNS}-])(?<!\d )(?:(?:(?<=between )|(?<=within ))(?P<low>{_PLAIN}|{_WORDS}) and "
    rf"|(?P<first>{_PLAIN}|{_WORDS})(?: (?:to|or) | ?[-–] ?))$",
    re.IGNORECASE,
)
#: The first of two shares, the sign only behind the second: "up 50 and 60% respectively".
_FIRST_SHARE = re.compile(rf"(?<![\w.,/{SIGNS}-])(?<!\d )(?<!\d to )(\d{{1,3}}(?:\.\d+)?) and $")
_RESPECTIVELY = re.compile(r",?(?: [\w-]+){0,3},? respectively\b", re.IGNORECASE)
_FROM = re.compile(r"\bfrom $", re.IGNORECASE)
#: Behind these a number needs no noun to be a figure: "deliveries of 731, more than double".
_TELLS = re.compile(
    r"(?:\b(?:of|to|by|from|at|was|were|is|are|be|been|around|about|approximately|nearly|roughly|"
    r"almost|over|than|versus|vs|with|within|between|and|or|reached|total\w*|least|up|down|another|averag\w+)|[,:])"
    r"(?: u[hm],?)? $"
)
#: So large a number tells by itself, and one with thousands set apart.
_LARGE = 100
_THOUSANDS_APART = re.compile(r"\d[, ]\d{3}")
#: So does one that nobody rounds: a ratio of exchange; but for a paragraph of a code.
_EXACT, _OF_A_CODE = re.compile(r"\d*\.\d{3,}"), re.compile(r"(?:§|\b(?:CFR|C\.F\.R\.|Reg\.)) ?$")
#: A year that no rule for dates knows.
_BARE_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
#: What behind a year tells that it is one: "the 1918 influenza pandemic".
_YEAR_OF = re.compile(
    r" (?:[a-z]+ ){0,2}(?:crash|crisis|depression|earthquake|election|epidemic|flu|hurricane|"
    r"influenza|pandemic|recession|war)\b"
)
#: What dials, calls or rates something, and numbers before one that is like it: "Exhibits 99.1 and
#: 99.2", "the passcode is 13712345", "8 out of 100".
_CALLED = re.compile(
    r"\b(?:numbers?|codes?|passcode|pin|id|extension|dial|call|press|version|release|web|level|rule|"
    r"regulation|chapter|exhibits?|sections?|paragraphs?|out of)[^.;]{0,12} $",
    re.IGNORECASE,
)
_LISTED = re.compile(r"(?:[\d.]+(?:,|,? and|,? or| to|-) ?)+$")
#: What follows a number that is a time of day or a length of time.
_TIME = re.compile(
    r"[ -]?(?:[ap]\.?m\b|o['’]clock|in the (?:morning|afternoon|evening)|"
    r"(?:GMT|UTC|CES?T|[ECP][SD]?T|Eastern|Central|Pacific)\b|"
    r"(?i:year|quarter|month|week|day|hour|minute|second|decade)s?\b)"
)
#: What follows one that is a name or a part of one: "737 MAX", "877 660 6853", "4.8/5".
_GOES_ON = re.compile(r"[ -]?[A-Z]| ?/|-| \d")
#: What makes two digits behind it a year: "the second quarter of 19 to 82%" is no range.
_PERIOD = re.compile(
    r"\b(?:first|second|third|fourth|last|same|[1-4](?:st|nd|rd|th)) (?:quarter|half)( of)? ['’]?$",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:1[5-9]|2\d)(?![\d.,%])( (?:results?|earnings)\b)?")
_FROM_ELSEWHERE = re.compile(r"\bfrom\b[^.;:?!]*\d[^.;:?!]*$", re.IGNORECASE)
#: Annual and current reports: "our 10K".
_FORM = re.compile(r"(?:6|8|10|11)\s?K")
_NO_COUNTS = word_set("filing filings filed dated report reports form forms with for is and") | {""}
#: Who says 100% means all of it: another share would read broken, and this one tells nobody.
_ALL = 100.0
#: So many times the second end of a range the first one is not: it is of the next smaller scale, to
#: which it is nearer ("150 to 1.6 billion" rises tenfold from 150 million, or falls a hundredfold).
_OTHER_SCALE = 1000**0.5
#: Behind these a round figure is said at large: "low $30 million", "the mid-40% range".
_AT_LARGE = re.compile(
    r"(?<!record )(?<!-time )\b(?:low|mid|middle|high|upper)[ -]$", re.IGNORECASE
)
_ROUND = re.compile(r"\D*[1-9]\d*0(?![\d.,])")
#: Numbers below 10 to this power tell whether they count whole things.
_WHOLE = 4
#: What stands between the ends of a range.
_TO = (" to ", "-", " - ", "–", " – ")
_LARGE_SCALE = rf"millions?|billions?|trillions?|{INDIAN}"
_SCALE = rf"{INDIAN}|thousand|{_LARGE_SCALE}|hundred|mm|mn|bn|k|m|b"
_NUMBER = (
    rf"(?:(?<=€)|(?<=€[ \u00a0])|(?<=\bEUR )){CONTINENTAL}(?!,?\d)|{_GROUPED}|"
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?: 000)+(?! ?\d|\.\d)|\d+\.\d+|"
    # "RMB61 .1 million": a transcript's slip
    rf"\d+ \.\d+(?= (?:{_SCALE})(?!\w))|\.\d+|\d+"
)
_QUANTITY = re.compile(
    rf"(?<![\w.,/{SIGNS}])(?P<neg>(?<!%)[-–−](?=[\d{SIGNS}.])|minus |negative )?"
    rf"(?P<open>\((?=[{SIGNS}\d]))?(?P<sign>(?:{ISO}|{SIGN}) ?)?"
    rf"(?:(?P<number>{_NUMBER})(?![\d]|[.,]\d|:\d)|(?P<words>{_WORDS})|"
    rf"(?P<one>{_ONE})(?= (?:{_LARGE_SCALE})(?![\w-])))"
    rf"(?:(?P<gap>[ \u00a0\u202f-]?)(?P<scale>(?:{_SCALE}))(?![\w%]))?"
    rf"(?:(?P<gap2>[ \u00a0\u202f-]?)(?P<unit>%|percent(?:age[ -]points?)?\b|per cent\b|pct\b|"
    rf"basis[ -]points?\b|bps?\b|¢|(?:U\.?S\.? )?dollars?\b|euros?\b(?! cents?\b)|"
    rf"euro cents?\b|pounds? sterling\b|(?:cents?|{MINOR}|{OTHER_WORDS})\b|"
    rf"times\b|x(?!\w)|(?:{ISO})\b))?"
    rf"(?P<close>\))?",
    re.IGNORECASE,
)
#: What parts the columns of a table in plain text: no sentence has it.
_GAP = re.compile(r"[ \u00a0]*[\t|][ \u00a0]*|[ \u00a0]{2,}")
_CELL = (
    rf"(?P<neg>[-–−+])?(?:(?:{SIGN})[ \u00a0]?)?(?P<open>\()?(?:(?:{ISO}|{SIGN})[ \u00a0]?)?"
    rf"(?P<minus>[-–−])?"
    rf"(?P<number>{_NUMBER})"
)
#: A cell that is a figure, with its unit and the mark of a note behind it.
_FIGURE_CELL = re.compile(
    rf"{_CELL}(?P<unit>[ \u00a0]?(?:%|[a-z]+\.?(?: points?)?))?(?P<close>\))?"
    rf"[ \u00a0]?%?[ \u00a0]?(?:\*+|\([a-z\d]\))?",
    re.IGNORECASE,
)
#: Figures at the end of a line that one space parts: "EBITDA 119.0 (241.3)".
_IN_LINE = rf"[-–−]?(?:(?:{SIGN}) ?)?\(?(?:(?:{SIGN}) ?)?(?:{_NUMBER})%?\)?%?"
_LAST_FIGURES = re.compile(rf"(?<=[^\W\d]|[)*:%]) ((?:{_IN_LINE} ){{1,11}}{_IN_LINE})$")
_AREA_CODE = re.compile(r"\(\d{3}\) ?\d{3}(?![.,]?\d)")
#: Rows that begin so have no figures: "Exhibit    99.1    99.2".
_NO_ROW = re.compile(
    r"\W*(?:pages?|exhibits?|sections?|items?|notes?|rules?|articles?|forms?|versions?|parts?|"
    r"chapters?|tel|telephone|phone|fax|dial\S*|pin|passcode|code|conference|cusip|isin|cik|id|"
    r"zip|no)\b\.?(?: (?:number|no|code|id|in)s?)?\W*$",
    re.IGNORECASE,
)
#: So long a whole number without commas is a figure, and no number of a telephone.
_LONGEST = 9
#: In place of an amount brackets are its minus; behind the name of something they add to it.
_AMOUNT_BEFORE = re.compile(
    r"\b(?:of|to|by|from|at|was|were|is|are|be|been|than|versus|vs\.?|about|approximately|nearly|"
    r"reached|total(?:l?ed|l?ing|s)?) $",
    re.IGNORECASE,
)
_SCALED = re.compile(rf"\b(?:thousand|{_LARGE_SCALE})\b", re.IGNORECASE)
#: What sets dollars apart that are the ordinary ones: "US dollars", "u.s. $".
_OF_AMERICA = re.compile(r"^u\.?s\.?(?: |(?=\$))")
#: How an amount begins that has no figure.
_A_SCALE = re.compile(rf"{_ONE} (?=(?:{_LARGE_SCALE})(?!\w))", re.IGNORECASE)
#: A space that a transcript put before a point: no other text should have it.
_SLIP = re.compile(r"(?<=\d) (?=\.\d)")
#: A number in words before a scale of India.
_IN_WORDS = re.compile(rf"(?<![\w-])({_WORDS})(?= (?:{INDIAN})(?!\w))", re.IGNORECASE)
#: What follows a word for money that is something else at times: "541 billion won of bonds".
_IS_MONEY = re.compile(
    r"(?= ?(?:$|[.,;:)?!])| (?:in|of|for|to|and|or|at|from|as|on|during|per|worth|this|last|which|"
    r"compared|versus|with|by|is|was|were|are|a|an|up|down)\b)"
)
#: So many of what was named before, but not the fourth: "year 4 of our plan".
_IN_A_ROW = re.compile(
    r"(?:#|\b(?:year|quarter|month|week|day|stage|wave|pillar|inning|priority|goal|grade|point|round|"
    r"season|chapter|clause|count|claim|paragraph|schedule|annex|volume)s? )$",
    re.IGNORECASE,
)
_OF_THEM = re.compile(r" of (?:our|these|those|them|its|their|which|whom)\b")
_NOUN = re.compile(r"[ -](?=[a-z]{2})([a-z][a-z'’-]*(?: [a-z][a-z'’-]*){0,2})")
_UP = re.compile(
    r"\b(?:up|increas\w*|gr[eo]w\w*|ris(?:e|es|ing)|rose|higher|gain\w*|improv\w*|rais\w*|expan\w*|"
    r"accelerat\w*|add(?:ed|s|ing)?|climb\w*|jump\w*|surg\w*|positive|profit\w*|double[ds]?|above)\b",
    re.IGNORECASE,
)
_DOWN = re.compile(
    r"\b(?:down|decreas\w*|declin\w*|fell|fall\w*|lower\w*|los[est]\w*|loss(?:es)?|drop\w*|"
    r"reduc\w*|shr[aiu]nk\w*|contract(?:ed|ion|ing)|negative|minus|deficit|slow\w*|cut\w*|"
    r"below|deteriorat\w*|impairment\w*|shortfall)\b",
    re.IGNORECASE,
)


#: Finds the likeness in the entity of a quantity.
LIKENESS = r" \(([^()]+/e[+-]\d+/[-0+])\)$"
_ENTITY = re.compile(LIKENESS)
_FIGURES = re.compile(r"[\d.,]*\d")
#: The space in "500 000".
_THOUSANDS = re.compile(r"(?<=\d) (?=000(?!\d))")
_CLAUSE = re.compile(r"[.;:?!,](?:\s|$)|\b(?:and|but|while|versus|compared)\b")
_PHRASE = re.compile(r"[.;:?!,]|\b(?:and|but|while|of|to|from)\b")
#: The unit of a bare number with a point.
_DECIMAL = "decimal"
#: Units that stand inside the span of a quantity.
_UNITS_INSIDE = frozenset(["%", *_PERCENT, *_POINTS, "times", "cent", "cents"])
_RANGED = ("%", "points", "times", "cent", *sorted(set(CURRENCIES.values())))


@dataclass(frozen=True)
class Quantity:
    """An amount, percentage or count in a text.

    Attributes
    ----------
    start, end : int
        Half-open offsets in code points.
    unit : str
        ISO 4217 code, ``cent``, ``%``, ``points``, a unit of measure, the counted noun, or
        ``decimal`` for a bare number with a point.
    value : float
        With scale and sign.
    direction : int
        1 for growth, -1 for decline, 0 for neither, from the words beside it and the sign.
    ranged : bool
        Whether the span has the number before it that leads to this one ("10 to 15%", "from $5
        million to $6 million").
    falls : bool
        Whether the one before is the larger one.
    written : str
        What else must agree where it stands: ``single`` for a unit in the singular ("a 200 basis
        point improvement"), ``twice`` for a currency that is said twice ("$2.61 cents"), ``mixed``
        for a range of which the first end leaves its scale unsaid ("900 to 1.2 billion"), ``round``
        for a round figure said at large ("low $30 million").
    """

    start: int
    end: int
    unit: str
    value: float
    direction: int
    ranged: bool = False
    falls: bool = False
    written: str = ""

    @property
    def magnitude(self) -> int:
        """Floor of the decimal logarithm of the absolute value; 0 for nought."""
        return math.floor(math.log10(abs(self.value)) + 1e-12) if self.value else 0

    @property
    def _is_whole(self) -> bool:
        return math.isclose(self.value, round(self.value), rel_tol=1e-9)

    @property
    def likeness(self) -> str:
        """Unit, order of magnitude and direction: quantities of one likeness may be exchanged.

        Counts of different things are alike ("40 stores", "35 plants"): the noun stays in the text.
        Ranges meet ranges: "10" of "10 to 15%" would be no percentage elsewhere.
        """
        kind = "money" if self.unit in MONEY else self.unit
        if kind != "money" and kind not in _RATES and kind not in _MEASURES:
            kind = "count"
        part = self.unit == _DECIMAL or (self.magnitude < _WHOLE and not self._is_whole)
        if kind == "count" and part:
            kind = "part count"  # "5 staff" are not 6.1
        kind = f"{self.written} {kind}".lstrip()
        if self.ranged:
            kind = f"{'fall' if self.falls else 'range'} of {kind}"
        return f"{kind}/e{self.magnitude:+d}/{'-0+'[self.direction + 1]}"


def _direction(text: str, start: int, end: int, line: int = 0) -> int:
    """Return what the words of the same clause say: the nearest one before, else behind.

    Of a row of a table `line` is where it begins.
    """
    before = _CLAUSE.split(text[max(line, start - 45) : start])[-1]
    found = [(m.end(), 1) for m in _UP.finditer(before)]
    found += [(m.end(), -1) for m in _DOWN.finditer(before)]
    # "grew in 40 stores" does not say that the stores grew in number
    if found and not before.endswith((" in ", " across ", " with ", " on ")):
        return max(found)[1]
    after = _PHRASE.split(text[end : end + 25])[0]
    found = [(-m.start(), 1) for m in _UP.finditer(after)]
    found += [(-m.start(), -1) for m in _DOWN.finditer(after)]
    return max(found)[1] if found else 0


def find_quantities(text: str) -> list[Quantity]:
    """Return the quantities of a text, in order and disjoint.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of Quantity
        The span has the number with its currency, scale and percent sign; the counted noun, a
        minus and brackets stay outside, so that an exchange leaves them.

    Examples
    --------
    >>> text = "Revenue grew 12% to $3.4 million in 40 stores, on slide 4 in 2020."
    >>> [text[q.start : q.end] for q in find_quantities(text)]
    ['12%', '$3.4 million', '40']
    >>> [q.likeness for q in find_quantities(text)]
    ['%/e+1/+', 'money/e+6/+', 'count/e+1/0']
    """
    blocked = [*find_dates(text), *placeholder_spans(text)]
    single: list[tuple[Quantity, str | None]] = []
    bare: list[Quantity] = []
    cells = _cells(text)
    for match in _QUANTITY.finditer(text):
        quantity = _read(text, match, cells)
        if quantity is None and (quantity := _bare(text, match, cells)) is not None:
            bare.append(quantity)
            continue
        if quantity is None or _touches(quantity, blocked):
            continue
        if single and (sum_ := _said_on(text, single[-1][0], quantity)) is not None:
            single[-1] = sum_, single[-1][1]
        else:
            single.append((quantity, match.group("scale")))
    found: list[Quantity] = []
    for quantity, scale in single:
        whole = _with_first_of_range(text, quantity, scale)
        before = [(q.start, q.end) for q in found[-1:]]  # they come in order
        if whole is not None and not _touches(whole, [*blocked, *before]):
            quantity = whole
        elif found and _leads_to(text, found[-1], quantity):
            first = found.pop()
            quantity = replace(
                quantity,
                start=first.start,
                unit=first.unit,
                direction=first.direction or quantity.direction,
                ranged=True,
                falls=first.value > quantity.value,
            )
        elif (first_ := _first_share(text, quantity)) and not _touches(first_, [*blocked, *before]):
            found.append(first_)
        found.append(quantity)
    # the first end of a range has no unit of its own: what is none is told last
    blocked += [(q.start, q.end) for q in found]
    found += [q for q in _joined(text, bare) if not _touches(q, blocked)]
    found.sort(key=lambda q: q.start)
    return [
        replace(q, written="round") if _is_at_large(text, q) else q
        for q in found
        if q.ranged or q.direction or (q.unit, q.value) != ("%", _ALL)
    ]


def _is_at_large(text: str, quantity: Quantity) -> bool:
    if quantity.ranged or quantity.written or not _ROUND.match(text, quantity.start):
        return False
    before = max(0, quantity.start - len("all-time middle "))
    return _AT_LARGE.search(text, before, quantity.start) is not None


def _joined(text: str, bare: Sequence[Quantity]) -> list[Quantity]:
    """Return bare figures, the two ends of a range as one: "between 1.2 and 1.5"."""
    out: list[Quantity] = []
    for figure in bare:
        last = out[-1] if out else None
        if last is not None and not last.ranged and _joins(text, last, figure):
            out[-1] = replace(
                figure,
                start=last.start,
                direction=last.direction or figure.direction,
                ranged=True,
                falls=last.value > figure.value,
            )
        else:
            out.append(figure)
    return out


def _joins(text: str, first: Quantity, second: Quantity) -> bool:
    """Whether "to" or a dash stands between two numbers, or "and" behind "between"."""
    gap = text[first.end : second.start]
    between = text.endswith(("between ", "within "), 0, first.start)
    return gap in _TO or (gap == " and " and between)


def _said_on(text: str, first: Quantity, second: Quantity) -> Quantity | None:
    """Return two quantities as the one that they are, said in parts.

    "$1 billion $275 million", "2 trillion, 980.7 billion won", "four thousand two hundred"; not
    "$2 billion, 3 million users".
    """
    one_amount = first.unit not in MONEY and second.unit in MONEY and text[second.start].isdigit()
    if (
        text[first.end : second.start] not in (" ", ", " if one_amount else " ")
        or not _SCALED.search(text, first.start, first.end)
        or not (
            _SCALED.search(text, second.start, second.end)
            # "four thousand two hundred stores"
            or text[second.start : second.end].casefold().partition(" ")[2].startswith("hundred")
        )
        or (first.unit in MONEY and second.unit not in (first.unit, "things"))
        or {first.unit, second.unit} & _RATES
        or first.value <= 0
        or not 0 < second.value < 1000.0 ** (first.magnitude // 3)
    ):
        return None
    return replace(
        first,
        end=second.end,
        unit=first.unit if first.unit in MONEY else second.unit,
        value=first.value + second.value,
        direction=first.direction or second.direction,
        written=first.written or second.written,
    )


def _leads_to(text: str, first: Quantity, second: Quantity) -> bool:
    """Whether two quantities are the ends of a range: "$5 to $6 million", "between 6% and 8%"."""
    return (
        _joins(text, first, second)
        and not (first.ranged or second.ranged)
        and first.unit in _RANGED
        and (first.unit == second.unit or _shares_currency(text, first, second))
        and first.written == second.written
    )


def _shares_currency(text: str, first: Quantity, second: Quantity) -> bool:
    """Whether the second number is of the first's currency: "$1.2-1.4 billion", "€3 to 4 million".

    "$5 to 40 stores" has one amount.
    """
    if first.unit not in MONEY or second.unit in _RANGED:
        return False
    joined = text[first.end : second.start] in ("-", "–")
    return joined or _SCALED.search(text, second.start, second.end) is not None


def _touches(quantity: Quantity, spans: Sequence[tuple[int, int]]) -> bool:
    return any(low < quantity.end and quantity.start < high for low, high in spans)


def _with_first_of_range(text: str, quantity: Quantity, scale: str | None) -> Quantity | None:
    """Return a quantity with the number before it that has no unit of its own: "10 to 15%"."""
    low = max(0, quantity.start - 24)
    match = _RANGE.search(text, low, quantity.start)
    if match is None:
        return None
    end = "low" if match.group("low") else "first"
    begin = match.start(end)
    if _is_year(text, begin) and _FROM_ELSEWHERE.search(text, max(0, begin - 80), begin):
        return None  # "from 78% in the second quarter of 19 to 82%"
    number = match.group(end)
    first = _value(number)
    if not (quantity.unit in _RANGED or scale):
        # of counts only what goes up a little is a range: "45 to 50 turbines"
        if not number[0].isdigit():
            return None
        rises = first < quantity.value <= 10 * first
        # and what is said to go from here to there: "declined from 1,150 to 870 head"
        told = _FROM.search(text, max(0, begin - 8), begin) is not None
        if not rises and not (told and quantity.value < first <= 10 * quantity.value):
            return None
    # "from 34 to 16%" falls; "900 to 1.2 million" are of two scales
    last = abs(quantity.value) / SCALES.get((scale or "").casefold(), 1.0)
    mixed = bool(scale) and first >= (_OTHER_SCALE * last or math.inf)
    written = "mixed" if mixed else quantity.written
    falls = first > last and not mixed
    return replace(quantity, start=begin, ranged=True, falls=falls, written=written)


def _first_share(text: str, quantity: Quantity) -> Quantity | None:
    """Return the share before one that has the sign for both: "margins were 40 and 41%"."""
    if quantity.unit != "%" or quantity.ranged:
        return None
    match = _FIRST_SHARE.search(text, max(0, quantity.start - 24), quantity.start)
    if match is None:
        return None
    start, end = match.span(1)
    if not _RESPECTIVELY.match(text, quantity.end):
        year = _YEAR.match(text, start)  # "compared to 19 and 12%"
        if year or _TELLS.search(text, max(0, start - 24), start) is None:
            return None
    return replace(quantity, start=start, end=end, value=_value(match.group(1)))


def _is_year(text: str, start: int) -> bool:
    """Whether two digits are a year: "the third quarter of 19", "fourth quarter 19 results"."""
    year = _YEAR.match(text, start)
    period = _PERIOD.search(text, max(0, start - 24), start) if year else None
    return bool(year and period and (period.group(1) or year.group(1)))


def _value(number: str) -> float:
    """Value of a number in digits or words."""
    return spelled(number) if number[0].isalpha() else float(in_figures(number))


def _one(words: str) -> float:
    """Value of "a" and "half a" before a scale."""
    return 0.5 if words[0] in "hH" else 1.0


def _is_unit(text: str, match: re.Match[str]) -> bool:
    """Whether a word behind a number is its unit: "won" and "real" are of large figures alone."""
    unit, sign = match.group("unit"), match.group("sign")
    word = _unit_word(unit)
    if match.group("one") and word in SINGULARS:
        return False  # "a billion dollar company"
    if word not in MANIFOLD:
        return True
    if word == "tl" and unit != "TL":
        return False
    scaled = len(match.group("scale") or "") > 1
    if sign:  # "₩541 billion won"
        return scaled and _currency(sign) == _currency(word)
    # "120 billion won level"; but "3 million real customers"
    if scaled and word != "real":
        return True
    large = scaled or _THOUSANDS_APART.search(match.group("number") or "") is not None
    return large and bool(_IS_MONEY.match(text, match.end("unit")))


def _currency(written: str) -> str:
    """Return the currency of a sign or word, '' for none."""
    return CURRENCIES.get(_OF_AMERICA.sub("", _unit_word(written.strip())), "")


def _is_sign(match: re.Match[str], value: float) -> bool:
    """Whether letters before a number are its currency, and no "COP26", "PHP 8" or "RON 95"."""
    code = match.group("sign").strip()
    alone = not (match.group("scale") or match.group("unit"))
    return not (alone and value < _LARGE and code in ("COP", "PHP", "RON", "PEN", "AED"))


class _Cell(NamedTuple):
    """A figure of a table: where its line begins, whether it is a loss, and not the only one."""

    line: int
    negative: bool
    beside: bool


def _cells(text: str) -> dict[int, _Cell]:
    """Return the figures that stand in rows of tables, by where their numbers begin."""
    found: dict[int, _Cell] = {}
    line = 0
    for written in text.split("\n"):
        row = _row(written.rstrip())
        beside = len(row) > 1
        for number, negative in row:
            found[line + number] = _Cell(line, negative, beside)
        line += len(written) + 1
    return found


def _row(line: str) -> list[tuple[int, bool]]:
    """Return where the numbers of a row begin, and whether each is a loss; none of a sentence.

    A row is a label with figures behind it, or figures alone. Years are none: they head columns.
    """
    gaps = [match.span() for match in _GAP.finditer(line)]
    starts, ends = [0, *(end for _, end in gaps)], [*(start for start, _ in gaps), len(line)]
    figures = []
    for start, end in zip(starts, ends, strict=True):
        match = _FIGURE_CELL.fullmatch(line, start, end) if gaps else None
        if match and not _BARE_YEAR.fullmatch(match["number"]):
            figures.append((match.start("number"), _is_minus(match)))
    if not figures:
        return _row_of_words(line)
    head = line[: figures[0][0]]
    if _NO_ROW.match(head):
        return []
    return figures if len(figures) > 1 or any(c.isalpha() for c in head) else []


def _row_of_words(line: str) -> list[tuple[int, bool]]:
    """Return the figures at the end of a line that single spaces part, as :func:`_row` does."""
    match = _LAST_FIGURES.search(line) if line and line[-1] in "0123456789)%" else None
    if match is None or _AREA_CODE.search(match[1]) or _NO_ROW.match(line[: match.start(1)]):
        return []
    figures = []
    plain = 0
    at = match.start(1)
    for cell in re.split(r"(?<=[\d)%]) ", match[1]):
        read = _FIGURE_CELL.fullmatch(cell)
        if read and not _BARE_YEAR.fullmatch(read["number"]):
            figures.append((at + read.start("number"), _is_minus(read)))
            plain += read["number"].isdigit() and not _is_minus(read)
        at += len(cell) + 1
    # "484 611" may be one number, and "98 345 6789" one to dial
    return figures if len(figures) > 1 and plain <= len(figures) - plain else []


def _is_minus(match: re.Match[str]) -> bool:
    """Whether brackets or a minus stand about the number of a cell."""
    return bool(
        (match["neg"] or "+") != "+" or match["minus"] or (match["open"] and match["close"])
    )


def _read(text: str, match: re.Match[str], cells: Mapping[int, _Cell]) -> Quantity | None:
    # a minus stays in the text: "down 5%" and "-5%" are alike
    start, end = match.end("neg") if match.group("neg") else match.start(), match.end("unit")
    end = max(end, match.end("scale"), match.end("number"), match.end("words"))
    scale, unit, sign = match.group("scale"), match.group("unit"), match.group("sign")
    if unit and not _is_unit(text, match):
        unit, end = None, match.start("gap2")
    words, one = match.group("words"), match.group("one")
    if one and _unit(unit, sign) not in MONEY and _counted(text, end) not in _MEASURES:
        return None
    if words and not (_is_amount(words, scale, unit) or _counted(text, end) in _MEASURES):
        return None
    value = _one(one) if one else _value(words or match.group("number"))
    value *= SCALES.get((scale or "").casefold(), 1.0)
    negative = bool(match.group("neg"))
    if sign and sign.strip().isalpha():
        number = match.end("sign")
        if not _is_sign(match, value):
            if sign == sign.rstrip():
                return None
            sign, start = None, number
        elif unit and _unit(unit, None) not in (*MONEY, "cent", ""):
            sign, start = None, number  # "LTL 3%"
    cell = cells.get(match.start("number"))
    if match.group("open"):  # so do brackets, whether or not they mean a loss
        start = max(start, match.end("open"))
        told = _AMOUNT_BEFORE.search(text, max(0, match.start() - 15), match.start())
        negative |= bool(match.group("close") and told)
    negative |= cell is not None and cell.negative
    name = _unit(unit, sign)
    if not name:
        letter = scale is not None and len(scale) == 1
        if not scale and _is_year(text, start):
            return None
        if _NAMED.search(text, max(0, start - 30), start) and (letter or not scale):
            return None
        # "10-K" and "8K" are forms, "5-b" is a paragraph
        form = _FORM.fullmatch(text, start, end) and _counted(text, end) in _NO_COUNTS
        if letter and (match.group("gap") == "-" or form):
            return None
        noun = _counted(text, end)
        if _BARE_YEAR.fullmatch(text, start, end) and _YEAR_OF.match(text, end):
            return None
        if not noun and not (scale and len(scale) > 1):
            first = _IN_A_ROW.search(text, max(0, start - 12), start)
            if first or not _OF_THEM.match(text, end):
                return None
        # "400 points": what is counted stays in the text, and "200 basis points" is no count
        name = noun if noun and noun not in _UNITS_INSIDE else "things"
    direction = -1 if negative else _direction(text, start, end, cell.line if cell else 0)
    low = _unit_word(unit or "")
    twice = bool(sign) and _OF_AMERICA.sub("", low) in CURRENCIES
    return Quantity(
        *(start, end, name, -value if negative else value, direction),
        written="twice" if twice else "single" if low in _SINGLE else "",
    )


def _bare(text: str, match: re.Match[str], cells: Mapping[int, _Cell]) -> Quantity | None:
    """Return a number without unit and noun, where it is a figure to look its source up by.

    "A loss of 181,000", "leverage was 3.52", "deliveries of 219": written with thousands apart or
    three decimals, in a row of a table, or behind a word that leads to figures; those of rows and
    words have a point or are from a hundred on.
    """
    number, start = match.group("number"), match.start("number")
    end = match.end("number")
    unit = match.group("unit") and _is_unit(text, match)  # "3,000 TL loads" have none
    if number is None or match.group("scale") or unit or match.group("sign"):
        return None
    cell = cells.get(start)
    negative = bool(match.group("neg")) or (cell is not None and cell.negative)
    if not (_is_of_row(number, cell) if cell else _is_told(text, number, start, end)):
        return None
    direction = -1 if negative else _direction(text, start, end, cell.line if cell else 0)
    value = _value(number)
    # "leverage was 2.0" is no count, though it is whole
    name = _DECIMAL if "." in number else "things"
    return Quantity(start, end, name, -value if negative else value, direction)


def _is_of_row(number: str, cell: _Cell) -> bool:
    """Whether a number of a row is a figure: one that is whole, where another stands beside it."""
    if "." in number or _THOUSANDS_APART.search(number):
        return True
    return cell.beside and _LARGE <= float(number) < 10**_LONGEST


#: Behind it a small number tells a person: every researcher's is listed.
_RANKED_BY = re.compile(
    r"\b[hH][- ](?:[iI]ndex|INDEX|factor)(?: (?:is|was))?(?: (?:of|about|around|some))?[ :=(]{1,3}$"
)


def _is_told(text: str, number: str, start: int, end: int) -> bool:
    """Whether a bare number of a sentence is a figure, by how it is written or what leads to it."""
    before = text[max(0, start - 30) : start]
    if _TIME.match(text, end) or (text[end : end + 1] and text[end] not in " \n\t|.,;:?!)…"):
        return False
    alone = _LISTED.sub("", before)
    if any(p.search(b) for p in (_NAMED, _CALLED, _IN_A_ROW) for b in (before, alone)):
        return False
    if _THOUSANDS_APART.search(number) or _RANKED_BY.search(before):
        return True
    if _EXACT.fullmatch(number) and not _OF_A_CODE.search(before):
        return not _GOES_ON.match(text, end)
    if _BARE_YEAR.fullmatch(number) or len(number) > 6 or _GOES_ON.match(text, end):
        return False
    if not _TELLS.search(before):
        return False
    return "." in number or float(number) >= _LARGE


def _is_amount(words: str, scale: str | None, unit: str | None) -> bool:
    """Whether a number in words is an amount: "two points", "three times" and "one k" are none."""
    low = _unit_word(unit or "")
    if low in ("times", "x", "point", "points"):
        return False
    return bool(low) or len(scale or "") > 1 or "hundred" in words.casefold()


def spelled(words: str) -> float:
    """Return the value of a number in words.

    Parameters
    ----------
    words : str
        Below a thousand, with a half, thirds, quarters or eighths, or with digits behind "point".

    Examples
    --------
    >>> [spelled(w) for w in ("seven and a quarter", "two hundred and thirty-one", "one-five")]
    [7.25, 231.0, 15.0]
    >>> spelled("three point oh five")
    3.05
    """
    whole, _, decimals = words.casefold().partition(" point ")
    part = 0.0
    if match := _PART.search(whole):
        part = _CARDINALS.get(match.group(1), 1.0) * _PARTS[match.group(2)]
        whole = whole[: match.start()]
    number = 0.0
    for word in re.findall("[a-z]+", whole):
        if word == "hundred":
            number = (number or 1.0) * 100
        elif word == "a":
            continue  # "a hundred"
        elif word != "and":
            # "one-five": digit by digit
            ten = 10 if number and "-" in whole and number % 10 != 0 else 1
            number = number * ten + _CARDINALS[word]
    digits = "".join(str(int(_CARDINALS.get(word, 0))) for word in decimals.split())
    return number + part + (float(f".{digits}") if digits else 0.0)


def _unit_word(unit: str) -> str:
    """Return a unit as the lists have it: without a hyphen, "euro cents" as "cents"."""
    # letters that a pattern takes for i and s in any case
    low = unit.casefold().replace("\u0307", "").replace("ı", "i").replace("-", " ")
    return low.removeprefix("euro ").removesuffix(" sterling")


def _unit(unit: str | None, sign: str | None) -> str:
    if unit:
        low = _unit_word(unit)
        if low in _PERCENT:
            return "%"
        if low in _POINTS:
            return "points"
        if low in ("times", "x"):
            return "times"
        low = _OF_AMERICA.sub("", low)
        found = CURRENCIES.get(low, "")
        if not (sign and found == "cent"):  # "$2.61 cents" are dollars
            return found
    return _currency(sign) if sign else ""


def _counted(text: str, end: int) -> str:
    """Return the noun in lower case that a number counts, '' where there is none."""
    match = _NOUN.match(text, end)
    if match is None:
        return ""
    words = match.group(1).split()
    if words[0] in _NO_NOUNS or (len(words[0]) < 3 and words[0] not in _MEASURES):
        return ""
    own = list(takewhile(lambda word: word not in _NO_NOUNS, words))
    return next((w for w in own if w in _MEASURES or w.endswith("s")), own[0])


def quantity_mentions(
    text: str, category: str = QUANTITY, currency: str | None = None
) -> list[Mention]:
    """Return the quantities of a text as mentions whose entity tells what they are like.

    Parameters
    ----------
    text : str
    category : str
        Of the mentions.
    currency : str, optional
        How amounts are written in another text: one of
        :data:`nes_spark.entities.currencies.CODES`; by default as they stand here.

    Examples
    --------
    >>> [m.entity for m in quantity_mentions("Revenue grew 12%.")]
    ['12% (%/e+1/+)']
    >>> [m.entity for m in quantity_mentions("It cost 5 million euros.", currency="USD")]
    ['5 million dollars (money/e+6/0)']
    """
    return [
        Mention(q.start, q.end, category, text[q.start : q.end], _entity(text, q, currency))
        for q in find_quantities(text)
    ]


def _entity(text: str, quantity: Quantity, currency: str | None) -> str:
    # "raised a half a billion" and "a a billion" read broken
    written = _A_SCALE.sub(lambda a: f"{_one(a[0]):g} ", text[quantity.start : quantity.end])
    written = _SLIP.sub("", written)
    if currency and currency != "INR":
        written = _IN_WORDS.sub(lambda found: f"{spelled(found[1]):g}", written)
    if currency and (quantity.unit in MONEY or quantity.unit == "cent"):
        written = in_currency(written, currency)
    elif currency and currency != "INR":
        written = in_millions(written)
    return f"{written} ({quantity.likeness})"


def quantity_text(entity: str) -> str:
    """Return the quantity as it is written, from the entity of its mention.

    Examples
    --------
    >>> quantity_text("12% (%/e+1/+)")
    '12%'
    """
    return _ENTITY.sub("", entity)


#: What stands between the ends of a range: in what comes in, and where it comes in.
_CONNECTS = re.compile(
    r"(?<=[\w%¢])(?: (?:to|and|or) | ?[-–] ?)(?=(?:[A-Z]{1,3} ?)?[" + SIGNS + r"]? ?\d)"
)
_CONNECTED = re.compile(rf" (?:to|and|or) |(?<=[\d%]) ?[-–] ?(?=[{SIGNS}\d])")


def connected_as(quantity: str, old: str) -> str:
    """Return a range with the word between its ends that another one has.

    "Between 7% to 8%" and "growth of 7% and 8%" read broken: what stands before a range says how
    its ends are joined. What is no range, or not for sure, stays as it is.

    Parameters
    ----------
    quantity, old : str
        As they are written.

    Examples
    --------
    >>> [connected_as("7% to 8%", old) for old in ("$5 and $6", "5-6%", "five to seven percent")]
    ['7% and 8%', '7%-8%', '7% to 8%']
    >>> connected_as("seven and a half percent", "5-6%"), connected_as("7% or 8%", "12%")
    ('seven and a half percent', '7% or 8%')
    """
    ours, theirs = _CONNECTS.findall(quantity), _CONNECTED.findall(old)
    if len(ours) != 1 or len(theirs) != 1:
        return quantity
    return _CONNECTS.sub(theirs[0], quantity)


def cased_as(quantity: str, old: str) -> str:
    """Return a quantity in words with the capital that its place wants; others stay as they are.

    Examples
    --------
    >>> cased_as("Two hundred and forty", "six hundred"), cased_as("two hundred", "Five million")
    ('two hundred and forty', 'Two hundred')
    >>> cased_as("Fr. 3 million", "six million"), cased_as("two hundred", "$5")
    ('Fr. 3 million', 'two hundred')
    """
    if not _SPELLED.match(quantity):
        return quantity
    first = (
        quantity[0].upper() if old[:1].isupper() and _SPELLED.match(old) else quantity[0].lower()
    )
    return first + quantity[1:]


def likeness_of(entity: str) -> str:
    """Return the likeness in the entity of a mention of :func:`quantity_mentions`.

    Raises
    ------
    ValueError
        When the entity is none of a quantity; the message does not quote it.
    """
    match = _ENTITY.search(entity)
    if match is None:
        raise ValueError("likeness_of needs an entity of quantity_mentions: 'text (unit/e+1/0)'.")
    return match.group(1)


@lru_cache(maxsize=16_384)
def size_of(entity: str) -> float:
    """Return the absolute value of a quantity, from the entity of its mention.

    Of a range it is the second figure.

    Raises
    ------
    ValueError
        When the entity is none of a quantity; the message does not quote it.

    Examples
    --------
    >>> [size_of(e) for e in ("$3.4 million (money/e+6/+)", "10 to 15% (range of %/e+1/0)")]
    [3400000.0, 15.0]
    """
    order = int(likeness_of(entity).rsplit("/", 2)[1][1:])
    text = _THOUSANDS.sub("", quantity_text(entity))
    if len(_FIGURES.findall(text)) > 1 and not _is_range(entity):
        parts = find_quantities(text)  # "$1 billion $275 million"
        if len(parts) == 1:
            return abs(parts[0].value)
    figures = "".join(_FIGURES.findall(text)[-1:])
    if not figures and (words := _SPELLED.findall(text)):
        figures = f"{spelled(words[-1]):g}"
    digits = re.sub(r"\D", "", figures).lstrip("0")
    return float(f"{digits[0]}.{digits[1:]}e{order}") if digits else 0.0


class InOrder:
    """Who is larger takes the larger: quantities of one likeness keep their order.

    Those that are exchanged are the first of both lists, which are in random order; values decide
    only in which place each stands. A range stays one, and what grew from one figure to another
    grows still. Where a figure would meet itself, in whatever writing, others of the longer list
    are tried in its place; two that share a figure are never exchanged (:meth:`same`).

    Examples
    --------
    >>> ours = ["$5 (money/e+0/0)", "$7 (money/e+0/0)"]
    >>> InOrder().pairs(ours, ["$9 (money/e+0/0)", "$8 (money/e+0/0)"])
    [(0, 1), (1, 0)]
    >>> InOrder().pairs(ours[:1], ["five dollars (money/e+0/0)", "$8 (money/e+0/0)"])
    [(0, 1)]
    """

    def pairs(self, ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[int, int]]:
        """Return which position of one list meets which of the other."""
        n = min(len(ours), len(theirs))
        places = [sorted(range(n), key=lambda i: size_of(names[i])) for names in (ours, theirs)]
        met = list(zip(*places, strict=True))
        if len(ours) == len(theirs) or not any(self.same(ours[i], theirs[k]) for i, k in met):
            return sorted(met)
        if len(ours) > n:
            return sorted((i, k) for k, i in self._apart(theirs, ours))
        return sorted(self._apart(ours, theirs))

    def _apart(self, few: Sequence[str], many: Sequence[str]) -> list[tuple[int, int]]:
        """Give each of some quantities one of more, in order, so that the fewest meet themselves.

        Of choices with equally few the one with the most of the first of the longer list.
        """
        ours, theirs = (sorted(range(len(x)), key=lambda i: size_of(x[i])) for x in (few, many))
        n, m = len(ours), len(theirs)
        # least[i][j]: cost of the first i of ours with i of the first j of theirs
        least = [[0.0 if i == 0 else math.inf] * (m + 1) for i in range(n + 1)]
        for i, j in product(range(n), range(m)):
            same = self.same(few[ours[i]], many[theirs[j]])
            taken = least[i][j] + (m + 1) * same + (theirs[j] >= n)
            least[i + 1][j + 1] = min(least[i + 1][j], taken)
        pairs = []
        i, j = n, m
        while i:
            if least[i][j] != least[i][j - 1]:
                i -= 1
                pairs.append((ours[i], theirs[j - 1]))
            j -= 1
        return pairs

    def same(self, first: str, second: str) -> bool:
        """Whether two quantities of one likeness are one, or ranges that share an end."""
        if size_of(first) == size_of(second):
            return True
        return _is_range(first) and not _ends_of(first).isdisjoint(_ends_of(second))

    def takes(self, old: str, new: str) -> bool:
        """Whether a donor's quantity may come in."""
        return not self.same(old, new)


def _is_range(entity: str) -> bool:
    return likeness_of(entity).startswith(("range of ", "fall of "))


@lru_cache(maxsize=16_384)
def _ends_of(entity: str) -> frozenset[float]:
    """The numbers of a range, in figures or words, as they stand there."""
    text = _THOUSANDS.sub("", quantity_text(entity))
    figures = {float(in_figures(number)) for number in _FIGURES.findall(text)}
    return frozenset(figures | {spelled(words) for words in _SPELLED.findall(text)})
