"""Where a name begins and ends in a text: names are exchanged whole or not at all.

A recogniser may see half of a name: "Biomet" of "Zimmer-Biomet", "Orion Widgets" of "Orion Widgets
Ltd.", "America" of "North America". :func:`whole_name` finds the rest, by rule: what a hyphen, an
"&" or a legal form joins to it, and capitalised neighbours that can be nothing but parts of it.
Titles ("Judge", "Dr.") are never parts of a name: they stay in the text, so that what is said of
their bearer still fits, and a name that comes in leaves its own behind (:func:`after_title`,
:func:`title_before`).
"""

from __future__ import annotations

import re

from nes_spark.entities.distinctive import (
    FUNCTION_WORDS,
    INSTITUTIONS,
    LEGAL_FORMS,
    MONTHS,
    ROLES,
    TITLES,
    fold,
    is_acronym,
    is_ordinary,
)
from nes_spark.text.forms import LEGAL_FORM
from nes_spark.text.sentences import split_sentences
from nes_spark.text.vocabulary import DESCRIPTORS

#: More capitalised words than this beside a name are a headline.
MOST_WORDS = 3

_LEGAL_AFTER = re.compile(rf",?[ \t\n]+(?:(?:&|and)[ \t\n]+)?{LEGAL_FORM}\b(?!['’&-])")
_LEGAL_END = re.compile(rf"(?:^|[\s,]){LEGAL_FORM}\.?$")
_DOTTED_END = re.compile(r"(?:^|[\s,])(?:[Ii]nc|[Cc]orp|Co|Ltd|LTD|INC|CORP|Cos|Bros)\.?$")
_HYPHEN_AFTER = re.compile(r"[-‑](?=[A-Z0-9])\w+|- ?\d\w*\b(?!%)")
_HYPHEN_BEFORE = re.compile(r"(?<![\w'’-])(?:[A-Z]\w*[-‑]|[A-Z]{1,3}- )$")
#: Beginnings of a word, each broken off: "Min- ", "Vel-, Vel- ", "dig-, uh, ".
_BROKEN_OFF = re.compile(r"(?:(?<![\w'’-])[^\W\d_]\w{0,20}[-‑],? (?:u[hm],? )?)+$", re.IGNORECASE)
_WEB_AFTER = re.compile(r"\.(?:com|net|org|io|ai|co\.uk|co|de|fr)\b(?!\.\w)", re.IGNORECASE)
_AND_AFTER = re.compile(r" ?& ?[A-Z][\w'’]*")
_AND_BEFORE = re.compile(r"(?<![\w'’-])[A-Z]\w* ?& ?$")
_NEXT = re.compile(r"[ \t]([A-Z][\w&]*(?:[-‑][A-Z]\w*)*)(?!\.\w)(?=$|[^\w'’-])")
_LAST = re.compile(r"(?<![\w'’.&/-])([A-Z][\w&]*(?:[-‑]\w+)*)[ \t]$")
_PARTICLES = re.compile(
    r"(?<![\w'’.-])(?:(?:[Vv]an|[Vv]on|[Dd]e|der|den|[Dd]el|della|[Dd]i|[Dd]a|[Dd]u|la|le|ter|ten|"
    r"bin) )+$"
)
_GIVEN_INITIALS = re.compile(
    r"(?<![\w.-])(?!U\.[SK]\. |E\.U\. |D\.C\. )(?:[^\W\d_a-z]\.[- ]?)+(?<= )$"
)
_SUFFIX = re.compile(r",? (?:Jr|Sr|II|III|IV)\b")
#: "Quiet Waters IV" is the fourth of its name, "Long Point Re III" the third bond of a reinsurer.
_NUMERAL = re.compile(r"(?: Re)? (?:I{2,3}|I?V|VI{1,3}|IX|XI{0,3}|XI?V|XVI{1,3})\b(?![.'’-])")
#: Words that make a place another one: "North America" is not America.
_COMPASS = re.compile(
    r"(?<![\w'’.&-])(?:North|South|East|West|Northern|Southern|Eastern|Western|Northeast|Northwest|"
    r"Southeast|Southwest|Central|Latin|Middle|Upper|Lower|Inner|Outer|New|Great|Greater|San|Santa|"
    r"Santo|Saint|St\.|Los|Las|El|La|Le|Fort|Ft\.|Port|Puerto|Mount|Mt\.|Lake|Cape|Rio|Costa|Hong|"
    r"Sri|Abu|Tel|Isle of|Gulf of|Bay of) $"
)
#: The 737 MAX, the 787 Dreamliner; other numbers before a product count it.
_MODEL = re.compile(
    r"(?:(?<=\bthe )|(?<=\bour )|(?<=\bits )|(?<=\btheir )|(?<=\bnew )|(?<=\ba ))7[0-8]7 $"
)
#: With a capital inside a sentence they begin a brand: "our Just Bare line", "our Let's Go theme".
_BRAND_BEGINS = re.compile(r"(?<=[a-z] )(?:Just|Let['’]s|Only|Ever|Always) $")
_NEW = re.compile(
    r"New (?:York|Jersey|England|Zealand|Mexico|Hampshire|Orleans|Delhi|Brunswick|Haven|South)\b"
)
_TITLE_WORDS = "|".join(sorted(TITLES, key=lambda title: (-len(title), title)))
_TITLE = rf"(?:(?:Chief )?(?:{_TITLE_WORDS})\b\.?[ \t\n]+)"
_TITLES_BEFORE = re.compile(rf"(?<![\w'’-]){_TITLE}+$")
_TITLES_FIRST = re.compile(rf"{_TITLE}+(?=\S)")
_INITIALS = re.compile(r"(?:^|[\s(])(?:[^\W\d_]\.)+[^\W\d_]\.?$")
_SHORT = re.compile(r"(?:^|[\s,])(?:Jr|Sr|Esq|Dr|St|Mt|Ft|No|Univ|Dept|Assn|Intl|Mfg)\.?$")
_VERSUS = re.compile(r"\bvs?\.$")
_CLOSED = re.compile(r"""["'”’)\]]*(\s+|$)""")
_WORD_NEXT = re.compile(r"""["'“‘(]*([^\W_][\w'’-]*)""")


def opens_sentence(text: str, at: int) -> bool:
    """Return whether a word that begins at an offset is the first of its sentence.

    What follows a title or an abbreviation inside a sentence ("Mr.", "v.") is not.
    """
    first = max(0, at - 120)
    before = text[first:at].rstrip("\"'“‘([")
    stripped = before.rstrip()
    if not stripped or "\n" in before[len(stripped) :] or stripped[-1] in "!?:;…—–":
        return True
    if stripped[-1] not in ".\"”'’)" or _VERSUS.search(stripped):
        return False
    spans = split_sentences(text[first : at + 40], cased=True)
    return any(start == len(before) for start, _ in spans)


def title_before(text: str, start: int, floor: int = 0) -> bool:
    """Return whether a title ("Judge", "Dr.") stands directly before an offset."""
    return _TITLES_BEFORE.search(text, max(floor, start - 40), start) is not None


def after_title(name: str) -> int:
    """Return where a name begins behind its own titles; 0 where it has none or is nothing else.

    Examples
    --------
    >>> after_title("Judge Alan Moss"), after_title("Alan Moss"), after_title("Governor")
    (6, 0, 0)
    """
    match = _TITLES_FIRST.match(name)
    return match.end() if match else 0


def _extends(word: str) -> bool:
    """Whether a capitalised word beside a name may be a part of it."""
    low = fold(word)
    return not (
        len(word) < 2
        or low in FUNCTION_WORDS
        or low in MONTHS
        or word in TITLES
        or word in ROLES
        or re.fullmatch(r"[QH][1-4]|FY\d*|[1-4][QH]", word)
    )


def _capitals_after(text: str, end: int, ceiling: int, category: str) -> int:
    """Return the end of capitalised words behind a name that belong to it."""
    at = last = end
    count = 0
    while match := _NEXT.match(text, at, min(len(text), ceiling + 1)):
        if match.end() > ceiling:
            return end
        word = match.group(1)
        low = fold(word)
        if not _extends(word):
            break
        count += 1
        if count > MOST_WORDS:
            return end
        at = match.end()
        own = not is_ordinary(word, category) and not is_acronym(word.removesuffix("s"))
        if category == "Person":
            own = own and count == 1
        elif category == "Organization":
            own = own or low in INSTITUTIONS or low in DESCRIPTORS or low in LEGAL_FORMS
        elif category == "Product":
            own = True
        if not own:
            break
        last = at
    else:
        return last
    return last


def _capitals_before(text: str, start: int, floor: int, category: str) -> int:
    """Return the start of capitalised words inside a sentence, before a name, that are its own."""
    at = start
    for count in range(MOST_WORDS + 1):
        match = _LAST.search(text, max(floor, at - 40), at)
        if match is None:
            return at
        word = match.group(1)
        if (
            not _extends(word)
            or is_acronym(word)
            or opens_sentence(text, match.start(1))
            or (category in ("Person", "Location") and is_ordinary(word, category))
        ):
            return at
        if count == MOST_WORDS:
            return start
        at = match.start(1)
    return at


def whole_name(
    text: str, start: int, end: int, category: str, floor: int = 0, ceiling: int | None = None
) -> tuple[int, int]:
    """Return the offsets of a whole name of which a part is known.

    Parameters
    ----------
    text : str
    start, end : int
        Offsets of the part.
    category : str
        What the name is of; names of organisations and products reach over more than others.
    floor, ceiling : int
        The name lies within: other mentions and placeholders begin or end there.

    Returns
    -------
    (int, int)
        New offsets; the possessive ending behind a name is not a part of it.

    Examples
    --------
    >>> text = "He sued Orion Widgets Ltd. in North America."
    >>> parts = (8, 21, "Organization"), (36, 43, "Location")
    >>> [text[slice(*whole_name(text, *part))] for part in parts]
    ['Orion Widgets Ltd', 'North America']
    """
    ceiling = len(text) if ceiling is None else ceiling
    company = category in ("Organization", "Product", "Event")

    def grow(pattern: re.Pattern[str]) -> bool:
        nonlocal end
        match = pattern.match(text, end)
        if match is None or match.end() > ceiling:
            return False
        end = match.end()
        return True

    part = text[start:end]
    # what follows a possessive or a full stop is another name; not so behind initials
    changed = not re.search(r"(?:['’][sS]?|\.)$", part) or (
        category == "Person" and _INITIALS.fullmatch(part) is not None
    )
    while changed:
        changed = grow(_HYPHEN_AFTER)
        changed = grow(_SUFFIX if category == "Person" else _NUMERAL) or changed
        if company:
            changed = grow(_WEB_AFTER) or grow(_LEGAL_AFTER) or grow(_AND_AFTER) or changed
        if category != "Location":
            reached = _capitals_after(text, end, ceiling, category)
            changed = reached > end or changed
            end = reached
    changed = True
    while changed:
        before = start
        patterns = [_HYPHEN_BEFORE]
        patterns += [_AND_BEFORE, _BRAND_BEGINS] if company else []
        patterns += [_PARTICLES, _GIVEN_INITIALS] if category == "Person" else []
        patterns += [_COMPASS] if category in ("Location", "Organization") else []
        patterns += [_MODEL] if category == "Product" else []
        for pattern in patterns:
            match = pattern.search(text, max(floor, start - 60), start)
            if match is None:
                continue
            # "New Chicago stores" are stores in Chicago
            first = match.start()
            new = match.group() == "New " and not _NEW.match(text, first)
            if not (new and opens_sentence(text, first)):
                start = first
        start = _capitals_before(text, start, floor, category)
        changed = start < before
    return broken_off(text, start, end, floor), end


def broken_off(text: str, start: int, end: int, floor: int) -> int:
    """Return where a name or a word begins that the speaker broke off before.

    Parameters
    ----------
    text : str
    start, end, floor : int
        Offsets of the name, and of what it may not reach across.

    Examples
    --------
    >>> broken_off("Vel-, Vela", 6, 10, 0), broken_off("Non- GAAP", 5, 9, 0)
    (0, 5)
    >>> broken_off("the Min- Market Minute", 9, 22, 0)
    4
    >>> broken_off("its dig-, uh, digital", 14, 21, 0)
    4
    """
    match = _BROKEN_OFF.search(text, max(floor, start - 60), start)
    if match is None:
        return start
    words = [fold(word) for word in re.findall(r"\w+", text[start:end])]
    begun = [fold(part) for part in re.findall(r"(\w+)[-‑]", match.group())]
    return match.start() if all(any(w.startswith(p) for w in words) for p in begun) else start


def is_abbreviation(name: str) -> bool:
    """Return whether a full stop behind a name would be its own ("Orion Ltd", "U.S", "Moss Jr")."""
    return any(p.search(name) is not None for p in (_DOTTED_END, _INITIALS, _SHORT))


def ends_sentence(text: str, end: int, name: str) -> bool:
    """Return whether the full stop that ends at an offset closes a sentence too.

    Parameters
    ----------
    text : str
    end : int
        Offset behind the full stop.
    name : str
        The abbreviation that it belongs to.
    """
    closed = _CLOSED.match(text, end)
    if closed is None:
        return False
    if closed.end() == len(text) or closed.group(1).count("\n") > 1:
        return True
    following = _WORD_NEXT.match(text, closed.end())
    if following is None:
        return text[closed.end()] in "[<"
    word = following.group(1)
    if not word[0].isupper():
        return False
    first = max(0, end - 60)
    window = text[first : closed.end() + 60]
    if any(first + start == closed.end() for start, _ in split_sentences(window, cased=True)):
        return True
    # behind a legal form a capital opens a sentence, unless it goes on with who speaks for it
    legal = _LEGAL_END.search(name) is not None
    return legal and word not in ROLES and fold(word) not in DESCRIPTORS


def settle_stop(text: str, start: int, end: int, name: str) -> tuple[int, str]:
    """Return where a name ends and how the new one is written, so that each full stop stays once.

    An abbreviation at a sentence's end shares its full stop with the sentence.

    Parameters
    ----------
    text : str
    start, end : int
        Offsets of the old name, without possessive ending.
    name : str
        What comes in its place.

    Returns
    -------
    (int, str)
        End of the old name, and the new name.

    Examples
    --------
    >>> settle_stop("He sued Orion Ltd. The court", 8, 18, "Vega")
    (18, 'Vega.')
    >>> settle_stop("Orion Ltd. said so.", 0, 9, "Vega")
    (10, 'Vega')
    >>> settle_stop("He sued Orion.", 8, 13, "Vega Inc.")
    (13, 'Vega Inc')
    """
    old = text[start:end]
    if old.endswith("."):
        if not name.endswith(".") and ends_sentence(text, end, old):
            name += "."
    elif (
        text[end : end + 1] == "."
        and text[end + 1 : end + 2] != "."
        and (not text[end + 1 : end + 2].isalnum())
    ):
        if name.endswith("."):
            name = name[:-1]
        elif is_abbreviation(old) and not ends_sentence(text, end + 1, old):
            end += 1
    return end, name
