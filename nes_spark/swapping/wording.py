"""Small grammar of English names: possessives, plurals, and a or an."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

_POSSESSIVE = re.compile(r"(?:['’][sS]|(?<=[sS])['’])$")


@dataclass(frozen=True)
class Form:
    """A name as it stands in a text.

    Attributes
    ----------
    base : str
        The name without endings.
    plural : bool
        Whether a plural ending was taken off.
    possessive : str
        The possessive ending that was taken off: ``"'s"``, ``"'"`` (with either apostrophe) or ''.
    """

    base: str
    plural: bool = False
    possessive: str = ""


def take_apart(surface: str, names: Collection[str]) -> Form:
    """Split a surface into base, plural and possessive endings.

    Parameters
    ----------
    surface : str
        Characters of a mention.
    names : collection of str
        Other known forms of the same entity: a final s is a plural ending only when the rest is
        one of them, or the last words of one (case ignored). "Windows" has no plural ending.

    Examples
    --------
    >>> take_apart("iPhones'", {"Apple iPhone"})
    Form(base='iPhone', plural=True, possessive="'")
    >>> take_apart("Siemens", {"Siemens"})
    Form(base='Siemens', plural=False, possessive='')
    """
    possessive = ""
    match = _POSSESSIVE.search(surface)
    if match and match.start() > 0:
        possessive = match.group()
        surface = surface[: match.start()]
    known = {name.casefold() for name in names}
    if surface.casefold() not in known:
        for ending, restored in (("ies", "y"), ("es", ""), ("s", "")):
            if not surface.lower().endswith(ending) or len(surface) - len(ending) < 2:
                continue
            base = surface[: -len(ending)] + (restored.upper() if surface.isupper() else restored)
            folded = base.casefold()
            if any(name == folded or name.endswith((f" {folded}", f"-{folded}")) for name in known):
                return Form(base, True, possessive)
    return Form(surface, False, possessive)


def possessive_end(text: str, start: int, end: int) -> int:
    """Return where a name and a bare possessive apostrophe after it ("Siemens' results") end.

    An apostrophe may also close a quotation. It counts as a possessive only when the name ends in
    s, the next word follows after a space in lower case, and no quotation mark stands before the
    name or opens a quotation earlier in the line; else ``end`` is returned.
    """
    if text[end : end + 1] not in ("'", "’") or text[end - 1] not in "sS":
        return end
    if not re.match(r"[ \t]+[a-z]", text[end + 1 : end + 8]):
        return end
    line = text[text.rfind("\n", 0, start) + 1 : start]
    if re.search(r"(?:^|[\s(\[])['‘]", line) or line.endswith(("'", "‘", "’")):
        return end
    return end + 1


def put_together(base: str, form: Form, person: bool = False) -> str:
    """Return a name with the endings of another form.

    Parameters
    ----------
    base : str
        Name without endings.
    form : Form
        Whose endings to give it.
    person : bool
        Names of persons in -y and -s have plurals in -ys and -ses (the Kennedys, the Joneses).

    Examples
    --------
    >>> put_together("Galaxy", Form("iPhone", True, "'"))
    "Galaxies'"
    >>> put_together("Intel", Form("Siemens", False, "'"))
    "Intel's"
    """
    name = base
    if form.plural:
        low = base.lower()
        if low.endswith("s"):
            name = f"{base}es" if person else base
        elif low.endswith(("x", "z", "ch", "sh")):
            name = f"{base}es"
        elif re.search(r"[^aeiou\W\d]y$", low) and not person:
            name = f"{base[:-1]}ies"
        else:
            name = f"{base}s"
    if not form.possessive:
        return name
    mark = form.possessive[0]
    if len(form.possessive) == 1 or (form.plural and name.lower().endswith("s")):
        return name + (mark if name.lower().endswith("s") else f"{mark}s")
    return name + form.possessive


#: The article directly before a name; a quote or bracket may stand between.
ARTICLE = re.compile(r"(?<![\w'’.&-])(a|an|A|An|AN)(\s+[\"“‘'(]?)$")
_LETTERS_WITH_VOWEL_SOUND = frozenset("AEFHILMNORSX")
_CONSONANT_SOUND = re.compile(
    r"(?:eu|ewe|ufo\b|uni(?!n|mp|de)|us[eau]|ut[aeio]|ur[aiu]|ubi|one\b|once|ouija|u\b)"
)
_SILENT_H = re.compile(r"(?:hour|honest|honou?r|heir)")


def vowel_sound(name: str) -> bool | None:
    """Tell whether a name begins with a vowel sound, so that "an" goes before it.

    Rules of thumb for English: letters that are spelled out (initialisms of up to three capitals,
    or without a vowel) by the name of the letter, numbers by their first word, otherwise the first
    letters with the usual exceptions. None where there is no Latin letter or digit.

    Examples
    --------
    >>> [vowel_sound(n) for n in ("Intel", "FDA", "Uniqlo", "8x8", "Honda", "NASA", "[Event]")]
    [True, True, False, True, False, False, True]
    """
    match = re.search(r"[^\W_]+", name)
    if match is None:
        return None
    word = match.group()
    if word[0].isdigit():
        digits = re.match(r"\d+", word)
        number = digits.group() if digits else ""
        leading = len(number) % 3 or 3  # digits of the first group of a thousand
        return number[0] == "8" or (number[:2] in ("11", "18") and leading == 2)
    first = word[0].upper()
    if not ("A" <= first <= "Z"):
        return None
    capitals = re.match(r"[A-Z]+(?![a-z])", word)
    if capitals:
        letters = capitals.group()
        if len(letters) <= 3 or not re.search(r"[AEIOUY]", letters):
            return letters[0] in _LETTERS_WITH_VOWEL_SOUND
    low = word.lower()
    if _SILENT_H.match(low):
        return True
    if low[0] in "aeiou":
        return _CONSONANT_SOUND.match(low) is None
    return False


def find_article(text: str, start: int, floor: int) -> tuple[int, int] | None:
    """Return the offsets of an indefinite article directly before ``start``, else None.

    Parameters
    ----------
    text : str
    start : int
        Offset of the name.
    floor : int
        The article must not begin before this offset (the end of the mention before).

    Notes
    -----
    A capital A inside a sentence ("Series A", "Plan A") is a letter, not an article.
    """
    match = ARTICLE.search(text, max(floor, start - 12, 0), start)
    if match is None:
        return None
    begin = match.start(1)
    if match.group(1)[0] == "A" and not _sentence_start(text, begin):
        return None
    return match.span(1)


def _sentence_start(text: str, at: int) -> bool:
    before = text[:at].rstrip()
    return not before or before[-1] in '.!?:;"“(' or "\n" in text[len(before) : at]


def mend_article(article: str, before: str, after: str) -> str:
    """Return the article that goes with a new name.

    It stays as it is where the first sound of both names is alike, or nothing is known of it.

    Parameters
    ----------
    article : str
        As it stands: a, an, A, An or AN.
    before, after : str
        The name it stood before and the one that comes in its place.

    Examples
    --------
    >>> mend_article("An", "Intel", "Dell"), mend_article("a", "Dell", "Ford")
    ('A', 'a')
    """
    old, new = vowel_sound(before), vowel_sound(after)
    if new is None or old == new:
        return article
    if new:
        return "AN" if article == "AN" else "An" if article[0] == "A" else "an"
    return "A" if article[0] == "A" else "a"
