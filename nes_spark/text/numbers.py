"""Phone numbers and numbers of companies and securities: found by shape and check digits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise

import phonenumbers
from phonenumbers import Leniency, PhoneNumberMatcher, PhoneNumberType
from stdnum import cusip, figi, iban, isin, lei

from nes_spark.text.spots import lowered, matches_around

#: What parts the groups of a number: never the end of a line, behind which another one begins.
_BLANK = r"[^\S\r\n\v\f\x1c-\x1e\x85\u2028\u2029]"
_BETWEEN = r"(?:B|[.\-–]){1,2}"
_PHONE = re.compile(
    (
        r"(?<![\w$€£¥.,/:-])(?:"
        # behind a plus groups of one digit count too: "+33 1 42 68 53 00"
        rf"\+B?\d{{1,3}}(?:(?:{_BETWEEN}|(?<=\)))(?:\(B?\d{{1,5}}B?\)|\d{{1,8}})){{1,7}}"
        # "0221/4740173"
        r"|\(?0\d{1,4}\)?B?/B?\d{3,9}(?:(?:B|[\-–])\d{1,6}){0,3}(?!/)"
        r"|(?:\+B?)?(?:\(B?\d{1,5}B?\)|\d{1,5})"
        rf"(?:{_BETWEEN}(?:\(B?\d{{1,5}}B?\)|\d{{2,8}})){{1,6}}"
        r"|(?:\+B?)?\d{9,15}"
        r")(?![\w%]|[.,:]\d)"
    ).replace("B", _BLANK)
)
#: Figures of any number to call at least; most texts have no seven so close to each other.
_SEVEN = re.compile(r"\d(?:\W{0,6}\d){6}")
#: What may part a number from figures of another kind, in one run with it: "555-7905. 15 U.S.C.".
_BREAK = re.compile(rf"\.?{_BLANK}+")
#: Figures of a number that such a run holds: shorter ones are more often none.
_WITHIN_RUN = 10
#: The code of a call that is free of charge.
_FREE_CODE = "8(?:00|33|44|55|66|77|88)"
_FREE = re.compile(_FREE_CODE)
#: A number that is told by letters on its keys, free of charge: "1-800-HARLOW1", "(855) OGDEN-ST".
#: Names in other letters ("1-800-Dentist") and sites are none.
_ON_KEYS = re.compile(
    r"(?<![\w$€£¥.,/@-])(?:(?P<one>1[-. ])?(?:\(CODE\)[-. ]?|CODE[-. ]))"
    r"(?P<keys>(?!(?:[MB]|TR)ILLION)(?:[A-Z]|\d){1,10}(?:-(?:[A-Z]|\d){1,9}){0,2}"
    r"|(?:[a-z]|\d){1,10}(?:-(?:[a-z]|\d){1,9}){0,2})"
    r"(?![\w%]|[-.,]\w)".replace("CODE", _FREE_CODE)
)
#: Keys that such a number has, without a 1 before it and at most with one: "1-800-CONTACTS".
_KEYS_PRESSED, _MOST_KEYS = 7, 10
#: The desk behind a number: with the firm's lines before it, it tells who was called.
_EXTENSION = re.compile(
    rf",?{_BLANK}{{0,2}}(?:ext(?:ension|n)?\b\.?|x(?=\d)|durchwahl\b){_BLANK}?\d{{1,6}}(?![\w%]|[.,]\d)",
    re.IGNORECASE,
)
#: Words before a number that say that it is one to call.
_CALLED = re.compile(
    r"\b(?:call|dial|phone|phoned|telephone|telephoned|tel|fax|mobile|mob|cell|ring|rang|hotline"
    r"|helpline|whatsapp|sms|contact|reach(?:ed|able)? (?:\w+ )?(?:on|at)|next of kin|nok)\b"
    r"(?P<between>[^\d\n]{0,64})$",
    re.IGNORECASE,
)
#: How far before it they stand: of one with a 0 in front, which is hardly an amount, farther.
_NEAR, _FAR = 24, 64
#: Figures of a national number that is written without spaces, with the 0 before it.
_NATIONAL = re.compile(r"0\d{9,10}")
#: The same in two groups, as in Britain: also where no place has that code.
_IN_TWO = re.compile(rf"0\d{{4}}{_BLANK}\d{{6}}")
#: The last figure of a number in groups: of a desk ("0221 4740173-0"), or of a part.
_LAST_FIGURE = re.compile(r"-\d(?![\w%]|[.,-]\d)")


#: Figures that are said one by one, as nobody says an amount.
_SAID = {
    word: str(n)
    for n, words in enumerate(
        (
            "zero/oh/o/nought/naught",
            *["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"],
        )
    )
    for word in words.split("/")
}
_SAID_FIGURE = rf"(?:(?:double|treble|triple)[ -])?(?:{'|'.join(_SAID)}|\d)"
_SAID_THEN = r"(?:,? (?:(?:um|uh|er|erm|and then),? )?|[,-] ?)"
_SAID_FIGURES = re.compile(
    rf"(?<![\w'’$€£¥.,/-]){_SAID_FIGURE}(?:{_SAID_THEN}{_SAID_FIGURE}){{3,}}(?![\w'’]|[.,]\d)",
    re.IGNORECASE,
)
#: A word for a figure and another figure: hardly any text without said numbers has them. Patterns
#: that begin with letters are found fast, hence two of them.
_SAID_SOME = (
    re.compile(
        rf"(?:{'|'.join(w for w in _SAID if not w.startswith('o') or w == 'one')})"
        rf"{_SAID_THEN}{_SAID_FIGURE}(?!\w)"
    ),
    re.compile(rf"o(?:h(?<!\w\w\w)|(?<!\w\w)){_SAID_THEN}{_SAID_FIGURE}(?!\w)"),
)
_SAID_PARTS = re.compile(
    rf"(?:\b(?P<many>double|treble|triple)[ -])?(?:\b(?P<word>{'|'.join(_SAID)})\b|(?P<figure>\d))",
    re.IGNORECASE,
)
#: Characters of a number that is said, at most.
_SAID_LONGEST = 240
#: So many are a key or a number to call; fewer are a score or a count.
_KEY_SAID, _PHONE_SAID = 5, 10


def _said(text: str) -> Iterator[re.Match[str]]:
    """Figures that are said, some words for figures among them."""
    low = lowered(text)
    spots = sorted(m.span() for pattern in _SAID_SOME for m in pattern.finditer(low))
    return matches_around(_SAID_FIGURES, text, spots, _SAID_LONGEST, _SAID_LONGEST)


def said_figures(text: str) -> Iterable[tuple[int, int, str]]:
    """Yield where five figures and more are said one by one, with the figures.

    Counting ("one, two, three, four, five") and figures that are written are none.

    Examples
    --------
    >>> list(said_figures("ref nine five double one oh."))
    [(4, 27, '95110')]
    >>> list(said_figures("One two three four five. At 1 2 3 4 5 9. Four four two won."))
    []
    """
    for match in _said(text):
        figures, words = "", 0
        for part in _SAID_PARTS.finditer(match.group()):
            times = {"": 1, "double": 2}.get((part["many"] or "").lower(), 3)
            word = part["word"]
            figures += times * (part["figure"] or _SAID[word.lower()])
            words += word is not None
        steps = {int(b) - int(a) for a, b in pairwise(figures)}
        if len(figures) >= _KEY_SAID and words > 2 and steps not in ({1}, {-1}):
            yield *match.span(), figures


_SAID_LETTERS = (
    "alpha|alfa|bravo|charlie|delta|echo|foxtrot|golf|hotel|india|juliett?|kilo|lima|mike|november"
    "|oscar|papa|quebec|romeo|sierra|tango|uniform|victor|whiske?y|x-?ray|yankee|zulu"
)
_SAID_MARK = rf"(?:{_SAID_LETTERS}|{'|'.join(_SAID)}|\d)"
#: A code of letters and figures that is said letter by letter, such as the plate of a car: "kilo
#: victor one nine golf tango". Two words for letters side by side, a figure, and more of either.
SAID_CODE = re.compile(
    rf"(?<![\w'’-])(?=(?:{_SAID_MARK}[ ,-]{{1,2}}){{0,5}}(?:{'|'.join(_SAID)}|\d)\b)"
    rf"(?=(?:{_SAID_MARK}[ ,-]{{1,2}}){{0,5}}(?:{_SAID_LETTERS})[ ,-]{{1,2}}(?:{_SAID_LETTERS})\b)"
    rf"{_SAID_MARK}(?:[ ,-]{{1,2}}{_SAID_MARK}){{4,}}(?![\w'’]|[.,]\d)",
    re.IGNORECASE,
)


def _said_phones(text: str) -> Iterable[tuple[int, int]]:
    """Numbers to call that are said: "oh seven nine double four ..."."""
    for start, end, figures in said_figures(text):
        before = text[max(0, start - _FAR - 16) : start]
        national = figures.startswith("0") and figures[1:2] != "0"
        called = _CALLED.search(before) is not None and len(figures) >= 7
        if called or (national and _PHONE_SAID <= len(figures) <= 13):
            yield start, end


def phone_spans(text: str, regions: Sequence[str]) -> Iterable[tuple[int, int]]:
    """Yield where phone numbers stand, with what tells the desk ("ext. 4242", "x350").

    Parameters
    ----------
    text : str
        Any text.
    regions : sequence of str
        ISO codes of the countries whose national formats count; international ones always do.

    Notes
    -----
    A number without spaces counts when it is international, free of charge, announced ("call"), or
    has ten or eleven figures of which the first is 0, as no amount has. None goes on in another
    line.
    A number that has the American shape counts whatever its digits: transcripts mishear some; and
    so does one that begins with 0 and is announced. One that is said figure by figure ("oh seven
    double nine ...") counts when it is announced, or has ten figures and begins with a 0. Letters
    stand for keys behind the code of a call that is free of charge.

    Examples
    --------
    >>> text = "Fax to 877-555-7905. 15 firms did, or call 1-800-HARLOW1."
    >>> [text[start:end] for start, end in phone_spans(text, ["US"])]
    ['877-555-7905', '1-800-HARLOW1']
    """
    for start, end in chain(_phones(text, tuple(regions)), _said_phones(text), _on_keys(text)):
        desk = _EXTENSION.match(text, end) or _LAST_FIGURE.match(text, end)
        yield start, desk.end() if desk else end


def _phones(text: str, regions: tuple[str, ...]) -> Iterable[tuple[int, int]]:
    for match in _PHONE.finditer(text) if _SEVEN.search(text) else ():
        start, end = match.span()
        if _is_called(text, start, end, regions):
            yield start, end
        else:
            yield from _within_run(text, start, end, regions)


def _within_run(
    text: str, start: int, end: int, regions: tuple[str, ...]
) -> Iterator[tuple[int, int]]:
    """Yield the longest number in a run that is none as a whole.

    A sentence may begin with figures: "877-555-7905. 15 U.S.C.". Lists of figures that blanks alone
    part hold none.
    """
    breaks = [m.span() for m in _BREAK.finditer(text, start, end)]
    begins = [start, *(high for _, high in breaks)]
    stops = [*(low for low, _ in breaks), end]
    parts = [(low, high) for low in begins for high in stops if low < high]
    for low, high in sorted(parts, key=lambda part: (part[0] - part[1], part[0])):
        found = text[low:high]
        if (low, high) == (start, end) or sum(map(str.isdigit, found)) < _WITHIN_RUN:
            continue
        whole = low == start and text[high] == "."  # to the end of a sentence
        if (whole or re.search(r"\d[-–.)]", found)) and _is_called(text, low, high, regions):
            yield low, high
            return


def _is_called(text: str, start: int, end: int, regions: tuple[str, ...]) -> bool:
    """Whether figures are a number to call, by their groups and what stands before them."""
    found = text[start:end]
    groups = re.findall(r"\d+", found)
    lengths = [len(g) for g in groups]
    digits = sum(lengths)
    if not 7 <= digits <= 15:
        return False
    if all(len(g) == 4 and g[:2] in ("19", "20") for g in groups):
        return False
    far = _FAR if found.lstrip("(").startswith("0") else _NEAR
    called = _CALLED.search(text[max(0, start - far - 16) : start])
    if called is not None and len(called["between"]) > far:
        called = None
    if len(groups) == 1:
        national = _NATIONAL.fullmatch(found) is not None
        return _is_phone(found, regions, not (called or national or found.startswith("+")))
    shape = tuple(lengths)
    told = found.lstrip().startswith("+") or "(" in found
    american = shape in ((3, 3, 4), (1, 3, 3, 4)) or (
        shape == (3, 4) and re.fullmatch(r"\d{3}-\d{4}", found) is not None
    )
    if american and called is None and not told and _LAST_FIGURE.match(text, end):
        return False  # half of the number of a part: "623-8375-1"
    american = american or _IN_TWO.fullmatch(found) is not None
    named = called is not None and digits >= 8 and found.lstrip("(").startswith("0")
    return american or named or (told and digits >= 8) or _is_phone(found, regions, False)


def _on_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield numbers that letters tell; without a 1 before it one has seven keys, none small."""
    for match in _ON_KEYS.finditer(text) if _FREE.search(text) else ():
        keys = match["keys"].replace("-", "")
        n, letters = len(keys), sum(map(str.isalpha, keys))
        code = text[match.start() : match.start("keys")].rstrip()
        # "800 DOLLARS" is an amount
        whole = n == _KEYS_PRESSED and keys.upper() == keys and not code[-1].isdigit()
        if letters > 1 and (whole or (match["one"] and 4 < n <= _MOST_KEYS)):
            yield match.span()


@lru_cache(maxsize=16384)
def _is_phone(found: str, regions: tuple[str, ...], free: bool) -> bool:
    """Whether a number is valid and grouped as in one of the regions; `free` of charge if asked."""
    for region in regions or ("ZZ",):
        for match in PhoneNumberMatcher(found, region, Leniency.STRICT_GROUPING, max_tries=3):
            if len(re.sub(r"\D", "", match.raw_string)) < len(re.sub(r"\D", "", found)):
                continue
            if not free or phonenumbers.number_type(match.number) == PhoneNumberType.TOLL_FREE:
                return True
    return False


_SECURITY = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Z*@#]{0,10}\d)[A-Z0-9][A-Z0-9*@#]{8,19}(?![A-Za-z0-9*@#])"
)
#: What each of them, and each number of an account, has: few texts have any.
_LONG, _COUNTRY_AND_CHECK = re.compile(r"[A-Z0-9][A-Z0-9*@#]{8}"), re.compile(r"[A-Z][A-Z]\d\d")
#: What announces such a number: names of nothing and nobody.
SECURITY_WORDS = frozenset({"CIK", "CUSIP", "CINS", "ISIN", "SEDOL", "FIGI", "LEI", "WKN"})
_NAMES = (*sorted(SECURITY_WORDS), "Central Index Key")
#: In groups as well: "US 037833 1005".
_IN_GROUPS = (
    r"(?P<number>(?=[A-Z]*\d|[A-Z]{2} \d)[A-Z0-9](?:[A-Z0-9]| (?=[A-Z0-9]*\d)){2,24})"
    r"(?![A-Za-z0-9])"
)
_NAMED = re.compile(
    rf"\b(?:{'|'.join(_NAMES)})s?\b"
    r"(?:\s+(?i:numbers?|codes?|nos?\.?|is|are|of|identifiers?)){0,2}[\s:#()]{0,4}" + _IN_GROUPS
)
#: The next one of a list: "CUSIPs 037833100 and 594918104".
_ANOTHER = re.compile(r"(?:,? (?:and|or) |\s?[,;/]\s?)(?P<number>(?=[A-Z]*\d)[A-Z0-9]{6,20})(?!\w)")
#: Numbers of accounts in banks, which most write in groups of four.
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}\d\d(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)")
#: Length -> schemes with check digits.
_CHECKED = {12: (isin, figi), 9: (cusip,), 20: (lei,)}


def security_spans(text: str) -> Iterable[tuple[int, int]]:
    """Yield where numbers of companies and securities stand.

    ISIN, CUSIP, LEI and FIGI by their check digits (a CUSIP only with a letter in it, since one in
    ten numbers passes), IBAN likewise, a CIK padded to ten digits, and whatever is announced as one
    of them or as a SEDOL or WKN, in a list too.
    """
    if any(name in text for name in _NAMES):
        for match in _NAMED.finditer(text):
            yield match.span("number")
            length, end = len(match["number"]), match.end()
            while (other := _ANOTHER.match(text, end)) and len(other["number"]) == length:
                yield other.span("number")
                end = other.end()
    for match in _IBAN.finditer(text) if _COUNTRY_AND_CHECK.search(text) else ():
        if iban.is_valid(match.group()):
            yield match.span()
    for match in _SECURITY.finditer(text) if _LONG.search(text) else ():
        found = match.group()
        if found.isdigit():
            if found.startswith("000") and len(found) == 10:
                yield match.span()
        elif any(scheme.is_valid(found) for scheme in _CHECKED.get(len(found), ())) and (
            len(found) != 9 or found[:3].isdigit()
        ):
            yield match.span()


__all__ = ["SAID_CODE", "SECURITY_WORDS", "phone_spans", "said_figures", "security_spans"]
