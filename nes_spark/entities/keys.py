"""Keys: numbers and codes that tell one record from all others of its kind.

In another text a key reads well, but it is a true one all the same: whoever knows it knows whose
record it is. So keys are never exchanged and never a donor's; a placeholder takes their place.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from nes_spark.text.numbers import SAID_CODE, said_figures

#: Categories whose figures alone are no keys: amounts, days, and the numbers of streets.
_NO_KEYS = frozenset(["Date", "Location", "Quantity", "Term"])
#: A number alone, in groups or not, but for the models of a maker: "634984", not "737-800".
_FIGURES = re.compile(r"(?!\d{1,3}-\d{1,3}$)(?=(?:\D*\d){4})\d+(?:[-/ ]\d+)*")
#: Patents and what is filed for them: "9,304,118", "15/304,118", "D712,345".
PATENT = r"(?:D|RE|PP)\d{2,3},?\d{3}|\d{1,2},\d{3},\d{3}|\d{2}/\d{3},?\d{3}"
#: Names of their shape count nothing; recognisers cut the first figures off ("304,118").
_PATENT = re.compile(rf"{PATENT}|\d{{3}},\d{{3}}")
#: Where on earth something is, and what a bank goes by ("ACMEGB2LXXX").
_POSITION = re.compile(
    r"[-−]?\d{1,3}\.\d{3,}°?[,;/]? ?[-−]?\d{1,3}\.\d{3,}|\d ?[°'′\"″] ?[NSEW](?!\w)"
)
_BANK = re.compile(r"[A-Z]{6}[A-Z\d]{2}(?:XXX|\d{3})")
#: Capitals by themselves and figures by themselves, parted by strokes or points, as grants,
#: approvals and nights at a telescope are numbered: "297000/Z/20/Z", "19/LO/0412", "0102.B-0287".
#: Models have figures behind each of their letters ("A320/A330"), and days the name of a month.
CODE_IN_PARTS = re.compile(
    r"(?<![\w./@$€£-])(?=[A-Z\d-]+[./])(?=(?:[^\s\d]*\d){5})(?=(?:[A-Z\d]+[./-])*[A-Z]+(?![A-Z\d]))"
    r"(?=(?:[A-Z\d]+[./-])*\d\d+(?![A-Z\d]))"
    r"(?!\S*(?:JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC))"
    r"[A-Z\d]+(?:[./-][A-Z\d]+){2,}(?![\w%]|[./-]\w)"
)
#: What a preprint goes by: "2203.01234".
_PREPRINT = re.compile(r"\d{4}\.\d{4,5}(?:v\d)?")
#: Figures in one run, which blanks and strokes may part: of products few have as many.
_RUN = re.compile(r"\d(?:[ /]?\d){4}")
#: Letters between figures: "AB12C345".
_MIXED = re.compile(r"(?=(?:\D*\d){4})[A-Z]*\d+[A-Z]+\d+[A-Z\d]*")

#: Letters and figures in turn, eight and more in one case: what confirms a booking or a payment
#: ("FMJH2WE3"). Codes of products have figures behind their letters alone ("SNDX5613").
_SHUFFLED = re.compile(
    r"(?=.{8,20}$)(?:(?:[A-Z]+\d+[A-Z]|\d+[A-Z]+\d)[A-Z\d]*|(?:[a-z]+\d+[a-z]|\d+[a-z]+\d)[a-z\d]*)"
)
#: What a mask has left of a number: "XXXX6822".
_LEFT_OF = re.compile(r"[Xx*]{3,}[- ]?\d{3,6}")
#: Capitals and figures in groups: keys of licences, serial numbers. Of products few have as many.
_GROUPS = re.compile(r"(?=(?:[^\d]*\d){4})[A-Z\d]+(?:-[A-Z\d]+)+")
#: Postcodes that few houses share: British and Canadian. (An address that is listed ends with one
#: wherever its end looks like one: :mod:`nes_spark.text.matching`.)
_CODE_OF_FEW = r"(?:[A-Z]{1,2}\d[A-Z\d]? ?\d[ABD-HJLNP-UW-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d)"
#: Codes whose shape alone says that they belong to one car, house or journey, wherever they stand
#: in a name: plates ("SY24 MAP", but not "FY24 EPS"), postcodes ("BD23 4AB", "K1A 0B1"), and what
#: bookings are found by ("VEX4EP").
_OF_ONE = re.compile(
    r"(?<![^\W_])(?<!-)(?:(?![CFH]Y)[A-Z]{2}\d{2} ?[A-Z]{3}"
    rf"|{_CODE_OF_FEW}"
    r"|(?=[A-Z\d]{6}(?![^\W_]))[A-Z]+\d+[A-Z]+)(?![^\W_])(?!-)"
    # an officer's number, with the name or without: "PC 2982 Bright"
    r"|(?<![^\W_])(?:W?[DP]C|[DP]S) \d{3,5}(?![^\W_])"
)
#: How streets end.
STREETS = (
    "Avenue", "Boulevard", "Circle", "Close", "Court", "Crescent", "Drive", "Gardens", "Grove",
    "Highway", "Lane", "Mews", "Parkway", "Place", "Plaza", "Quay", "Road", "Row", "Square",
    "Street", "Terrace", "Walk", "Way", "Wharf",
)  # fmt: skip
#: In America also in short, and in capitals alone where all that is written is.
_SHORT = ("Ave", "Blvd", "Hwy", "Ln", "Pkwy", "Rd")
_IN_CAPITALS = (
    "Avenue", "Boulevard", "Drive", "Highway", "Lane", "Parkway", "Road", "Street", *_SHORT
)  # fmt: skip
_STREET = f"(?:{'|'.join([*STREETS, *map(str.upper, _IN_CAPITALS), *_SHORT])})"
#: How those of Germans, Dutchmen and Scandinavians do, before the number.
_STREET_ENDS = (
    "straße", "strasse", "gasse", "gata", "gade", "gatan", "straat", "laan", "vej", "veien",
    "vägen", "allee", "platz",
)  # fmt: skip
_STREET_NAME = r"(?:(?:(?!Wall\b)[A-Z][\w'’.-]*|\d{1,3}(?i:st|nd|rd|th)) ){1,3}"
#: Somebody's house, in another text the true home of others: "12 Cobden Street", but no year's and
#: not "20 Wall Street banks". Few figures before "St" may be a day's: "5 January St Andrews".
_HOUSE = re.compile(
    r"(?<![\w$€£.,%-])(?!(?:19|20)\d\d )(?:"
    rf"\d{{1,5}}[A-Za-z]?,? {_STREET_NAME}{_STREET}"
    rf"|\d{{3,5}} {_STREET_NAME}(?:Dr|St|DR|ST)|\d{{1,2}} {_STREET_NAME}(?:Dr|St)(?!\.? [A-Z])"
    r")\b"
    # "Elbgasse 18", "Kirkegata 4b", "rue du Four" with the number before it
    rf"|(?<![\w-])[A-ZÄÖÜÅØÆ][\w-]*(?:{'|'.join(_STREET_ENDS)}) \d{{1,4}}[A-Za-z]?"
    r"(?![\w%]|[.,]\d)"
    r"|(?<![\w$€£.,%-])\d{1,4}(?:bis|ter)?,? (?:rue|avenue|boulevard|quai|place) "
    r"(?:(?:de|du|des|la|les?) |(?:de )?[dl]['’])?[A-ZÀ-Þ]\w+"
    # the state, and where in it a letter goes
    r"|(?<![\w-])[A-Z][a-z]+,? (?!(?:19|20)\d{3})\d{5}(?:-\d{4})?(?![\w%]|[.,]\d)"
)
#: What a recogniser cuts in two at the blank.
_POSTCODE = re.compile(rf"(?<![^\W_])(?<!-){_CODE_OF_FEW}(?![^\W_])(?!-)")
#: What every postcode has, and every house whose street does not end like those: looked for first,
#: as it is found fast and few texts have it.
_LIKE_POSTCODE = re.compile(r"[A-Z]\d[A-Z\d]? ?\d[A-Z]")
_LIKE_HOUSE = re.compile(
    r"\d(?:[A-Za-z]?,? [A-Z\d]|(?:bis|ter)?,? (?:rue|avenue|boulevard|quai|place) )| \d{5}"
)
#: What they are looked for in: amounts and words have units that look like them.
_NO_CODES = frozenset(["Date", "Quantity", "Term"])

#: Figures of a key at least.
KEY_FIGURES = 5
#: Groups, or figures in all, that no product's code has.
_MANY_GROUPS, _MANY_FIGURES = 4, 7


def _is_grouped(name: str) -> bool:
    """Whether a code in groups is one record's: "R91S-K35E-R87R-A85Y", "EH33-7772-V18"."""
    if not _GROUPS.fullmatch(name):
        return False
    figures = sum(c.isdigit() for c in name)
    return name.count("-") + 1 >= _MANY_GROUPS or figures >= _MANY_FIGURES


# the same names are asked about again and again, as what is given and as what is left
@lru_cache(maxsize=65_536)
def is_key(name: str, category: str) -> bool:
    """Return whether a name is the number or code of one record.

    Figures alone, four and more, written or said one by one; five and more in a run; four and more
    with letters between them; eight letters and figures in turn; a number that is masked in part;
    or capitals and figures in four groups and more, or with seven figures, or in three that strokes
    and points part; a patent, a preprint, and what a bank goes by; and whatever holds the plate of
    a car, a postcode or the code of a booking, the name of a place as well; and a house in a
    street, or a position on earth. Other codes are names of products and the like.

    Parameters
    ----------
    name, category : str

    Examples
    --------
    >>> [is_key(n, "Name") for n in ("634984", "20-73262", "H20/92174", "MARSH853193I99KB")]
    [True, True, True, True]
    >>> [is_key(n, "Product") for n in ("R91S-K35E-R87R-A85Y", "EH33-7772-V18", "DC-10-2020")]
    [True, True, False]
    >>> [is_key(n, "Product") for n in ("737s", "AFM24", "HSP90", "ADX-1612", "King Air 260")]
    [False, False, False, False, False]
    >>> [is_key(n, "Product") for n in ("REC 19/LO/0412", "2203.01234", "A320/A330/A340")]
    [True, True, False]
    >>> is_key("12 Cobden Street", "Location"), is_key("nine five one three oh", "Name")
    (True, True)
    >>> is_key("Cobden Street", "Location"), is_key("5th Avenue", "Location")
    (False, False)
    >>> is_key("Ford Fiesta SY24 MAP", "Product"), is_key("Hull HX3 7SU", "Location")
    (True, True)
    >>> is_key("LG61 ADH", "Product"), is_key("17 Tannery Close, QX28 6AP", "Location")
    (True, True)
    """
    if category not in _NO_CODES and (
        _OF_ONE.search(name)
        or SAID_CODE.search(name)
        or _HOUSE.search(name)
        or _POSITION.search(name)
    ):
        return True
    if category in _NO_KEYS:
        return False
    # recognisers take the full stop behind a code, and words, with it
    words = [word.rstrip(".,;:") for word in name.split()]
    whole = [word.upper() if word.islower() else word for word in words]
    if any(map(_SHUFFLED.fullmatch, words)) or any(map(CODE_IN_PARTS.fullmatch, whole)):
        return True
    if any(pattern.fullmatch(name) for pattern in (_LEFT_OF, _PATENT, _BANK, _PREPRINT)):
        return True
    if _FIGURES.fullmatch(name) or _RUN.search(name) or _MIXED.fullmatch(name):
        return True
    return _is_grouped(name) or any(said_figures(name))


def with_whole_addresses(
    text: str, spans: Sequence[tuple[int, int, str]]
) -> list[tuple[int, int, str]]:
    """Return the spans of names; one that has a part of a postcode or a house has the whole of it.

    Half of it is no key, and two halves would be exchanged for those of a true one; the number of a
    house would stay before the street of another.

    Examples
    --------
    >>> with_whole_addresses("9 Ash Road, Hull HU1 6BT.", [(12, 20, "Product")])
    [(12, 24, 'Product')]
    >>> with_whole_addresses("at 4748 Peachtree Blvd", [(8, 22, "Location")])
    [(3, 22, 'Location')]
    """
    whole = list(spans)
    if not whole:
        return []
    found: list[re.Match[str]] = []
    if _LIKE_POSTCODE.search(text):
        found += _POSTCODE.finditer(text)
    if _LIKE_HOUSE.search(text) or any(f"{end} " in text for end in _STREET_ENDS):
        found += _HOUSE.finditer(text)
    for low, high in (match.span() for match in found):
        met = [s for s in whole if s[0] < high and low < s[1]]
        if not met or any(category in _NO_CODES for _, _, category in met):
            continue
        start, end = min(low, *(s[0] for s in met)), max(high, *(s[1] for s in met))
        whole = [s for s in whole if s not in met]
        whole.append((start, end, met[0][2]))
    return sorted(whole)


__all__ = ["CODE_IN_PARTS", "KEY_FIGURES", "PATENT", "STREETS", "is_key", "with_whole_addresses"]
