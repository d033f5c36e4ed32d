"""Text made comparable: what a reader sees as equal is equal, with a way back to the offsets.

Zero-width characters, soft hyphens, combining accents and footnote figures are left out,
compatibility forms (full-width, circled and mathematical letters) become the plain character, and
look-alike letters of other alphabets the Latin letter that they look like. Nothing of this reaches
a released text: names are looked for in the normalised text and replaced in the original one.

Texts are tidied when they are read (:func:`tidied`), and that does reach a release: a recogniser
sees half a name where an invisible character or an accent of its own divides one, and invisible
characters can mark a copy.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

# Soft hyphen, joiners, marks of direction, variation selectors, fillers, tags; combining accents;
# superscript and subscript figures.
_IGNORED = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
    "\u0300-\u036f\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089"
)
_IGNORED_RUN = re.compile(f"[{_IGNORED}]+")
#: Invisible characters that may stand for a space or for nothing.
_INVISIBLE_SPACE = re.compile("[\u200b\u200c\u2060\ufeff\u00ad]")
_COMPATIBLE = (
    (0x00A0, 0x00A0),
    (0x2000, 0x200A),
    (0x2024, 0x2024),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x2100, 0x214F),
    (0x2460, 0x24FF),
    (0x3000, 0x3000),
    (0xFE50, 0xFE6B),
    (0xFF01, 0xFF5E),
    (0x1D400, 0x1D7FF),
    (0x1F100, 0x1F1FF),
)


def _single_forms() -> dict[int, str]:
    """Characters whose compatibility form is one other character."""
    found = {}
    for first, last in _COMPATIBLE:
        for code in range(first, last + 1):
            plain = unicodedata.normalize("NFKC", chr(code))
            if len(plain) == 1 and plain != chr(code):
                found[code] = plain
    return found


_SINGLE = _single_forms()
_HAS_SINGLE = re.compile("[" + "".join(f"{chr(a)}-{chr(b)}" for a, b in _COMPATIBLE) + "]")


def _pairs(others: str, latin: str) -> dict[int, str]:
    return {ord(a): b for a, b in zip(others.split(), latin.split(), strict=True)}


# In a word of two alphabets a letter is what it looks like, capital or small.
_LOOKS = (
    _pairs(
        "А В Е К М Н О Р С Т У Х І Ј Ѕ Ԁ Ԛ Ԝ а в е к м н о р с т у х і ј ѕ ԁ ԛ ԝ һ ӏ ѵ",
        "A B E K M H O P C T Y X I J S D Q W a b e k m h o p c t y x i j s d q w h l v",
    )
    | _pairs(
        "Α Β Ε Ζ Η Ι Κ Μ Ν Ο Ρ Τ Υ Χ α β ε η ι κ ν ο ρ τ υ χ ω γ",
        "A B E Z H I K M N O P T Y X a b e n i k v o p t u x w y",
    )
    | _pairs("օ ս հ ո ց զ", "o u h n g q")
    | _pairs(
        "ɑ ɡ ı ȷ ᴀ ʙ ᴄ ᴅ ᴇ ꜰ ɢ ʜ ɪ ᴊ ᴋ ʟ ᴍ ɴ ᴏ ᴘ ʀ ꜱ ᴛ ᴜ ᴠ ᴡ ʏ ᴢ",
        "a g i j a b c d e f g h i j k l m n o p r s t u v w y z",
    )
    | _pairs("Ꭺ Ᏼ Ꮯ Ꭰ Ꭼ Ꮐ Ꮋ Ꭻ Ꮶ Ꮮ Ꮇ Ꮲ Ꭱ Ꮪ Ꭲ Ꮩ Ꮃ Ꮓ", "A B C D E G H J K L M P R S T V W Z")
)
# In a word of one alphabet, compared without case, it is what its capital looks like.
_CAPITAL_LOOKS = {
    ord(chr(code).lower()): latin.lower()
    for code, latin in _LOOKS.items()
    if chr(code).isupper() and len(chr(code).lower()) == 1
}
_PLAIN_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"}
)
_LATIN = re.compile("[A-Za-z]")
# Soft hyphens, also where they end a line, characters without width, marks of direction. Joiners
# spell words of other alphabets and put pictures together, so they go between Latin letters alone.
_HIDDEN = "\u00ad\u034f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
_BASIC = "A-Za-z0-9\u00c0-\u024f"
_WIDE = "\ufb00-\ufb06\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff"
_UNTIDY = re.compile(
    f"(?P<hidden>[{_HIDDEN}]*\u00ad[{_HIDDEN}]*[ \\t]*\\r?\\n[ \\t]*(?=[^\\W\\d_])|[{_HIDDEN}]+"
    f"|(?<=[{_BASIC}])[\u200c\u200d]+(?=[{_BASIC}]))"
    # a letter and its accents
    "|(?P<apart>[^\\W\\d_][\u0300-\u036f]+)"
    # letters that stand together as one, wide ones, and those of formulas
    f"|[{_WIDE}]"
)
#: What every match has: one class of characters is looked for ten times as fast.
_UNTIDY_MARK = re.compile(f"[{_HIDDEN}\u200c\u200d\u0300-\u036f{_WIDE}]")
_HAS_LOOKS = re.compile(f"[{''.join(map(chr, sorted(_LOOKS)))}]")


class Normalized(NamedTuple):
    """A text to look in, and for each of its characters the place in the original.

    `origins` is None where all places are the same.
    """

    text: str
    origins: Sequence[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the half-open offsets in the original of ``text[start:end]``, not empty."""
        if self.origins is None:
            return start, end
        return self.origins[start], self.origins[end - 1] + 1

    def placed(self, start: int, end: int) -> tuple[int, int]:
        """Return the half-open offsets here of ``original[start:end]``; empty where it is gone."""
        if self.origins is None:
            return start, end
        return bisect_left(self.origins, start), bisect_left(self.origins, end)


def normalize(text: str) -> Normalized:
    """Fold compatibility forms and leave out what cannot be seen.

    Examples
    --------
    >>> normalize("Ac\\u00adme").text, normalize("Ac\\u00adme").span(0, 4)
    ('Acme', (0, 5))
    """
    if text.isascii():
        return Normalized(text)
    if _HAS_SINGLE.search(text):
        text = text.translate(_SINGLE)
    if not _IGNORED_RUN.search(text):
        return Normalized(text)
    return _replaced(text, _IGNORED_RUN, lambda _: "")


def _replaced(
    text: str, pattern: re.Pattern[str], plain_of: Callable[[re.Match[str]], str]
) -> Normalized:
    """Put something plain in the place of all that a pattern finds."""
    parts: list[str] = []
    origins: list[int] = []
    at = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        plain = plain_of(match)
        parts += [text[at:start], plain]
        origins.extend(range(at, start))
        origins.extend(min(start + i, end - 1) for i in range(len(plain)))
        at = end
    parts.append(text[at:])
    origins.extend(range(at, len(text)))
    return Normalized("".join(parts), origins)


def tidied(text: str) -> Normalized:
    """Put letters and their accents together and leave out characters that cannot be seen.

    Letters that are written as one (ligatures), wide letters and those of formulas become plain.
    Where a character without width stands between a small letter and a capital, a space takes its
    place. White space, punctuation, and all that can be seen otherwise stay.

    Examples
    --------
    >>> tidied("Ma\\u0301ria of Ac\\u00adme\\u200bWorks, \\ufb01rst")[0]
    'Mária of Acme Works, first'
    """
    if text.isascii() or not (_UNTIDY_MARK.search(text) and _UNTIDY.search(text)):
        return Normalized(text)
    return _replaced(text, _UNTIDY, _plain)


def _plain(match: re.Match[str]) -> str:
    found = match.group()
    if match["apart"]:
        return unicodedata.normalize("NFC", found)
    if not match["hidden"]:
        return unicodedata.normalize("NFKC", found)
    before = match.string[match.start() - 1 : match.start()]
    after = match.string[match.end() : match.end() + 1]
    return " " if "\u200b" in found and before.islower() and after.isupper() else ""


#: Where the end of a line parts a word: "Grind-\nstone". It begins with what few texts have.
_PARTED = re.compile(r"[-‐‑](?<=[^\W\d_].)[ \t]*\r?\n[ \t]*(?=[a-zß-öø-ÿ])")


def readings(text: str) -> Iterator[Normalized]:
    """Yield the texts that a text may be read as.

    What cannot be seen is nothing, or a space; where the ends of lines part words, these are whole.

    Examples
    --------
    >>> [reading.text for reading in readings("at Ac-\\nme")]
    ['at Ac-\\nme', 'at Acme']
    """
    plain = normalize(text)
    yield plain
    if _PARTED.search(plain.text):
        whole = _replaced(plain.text, _PARTED, lambda _: "")
        if plain.origins is not None and whole.origins is not None:
            whole = whole._replace(origins=[plain.origins[at] for at in whole.origins])
        yield whole
    if not text.isascii() and _INVISIBLE_SPACE.search(text):
        yield normalize(_INVISIBLE_SPACE.sub(" ", text))


def latin_looks(text: str) -> str:
    """Return a text with look-alike letters as Latin ones; offsets stay."""
    return text.translate(_LOOKS) if not text.isascii() and _HAS_LOOKS.search(text) else text


def fold_letters(word: str) -> str:
    """Return the letters and digits of a word without case, accents and foreign look-alikes.

    Examples
    --------
    >>> fold_letters("Itaú"), fold_letters("Аcme"), fold_letters("ΝΟΚΙΑ")
    ('itau', 'acme', 'nokia')
    """
    if _LATIN.search(word):
        word = word.translate(_LOOKS)
    plain = unicodedata.normalize("NFKD", word.casefold())
    kept = "".join(c for c in plain if c.isalnum())
    return kept.translate(_PLAIN_LETTERS).translate(_CAPITAL_LOOKS)


def in_one_line(text: str) -> str:
    """Return a text with a space for each run of white space.

    Examples
    --------
    >>> in_one_line(" two\\n\\n words\\t")
    ' two words '
    """
    line = " ".join(text.split())  # three times as fast as a pattern
    before = " " if text[:1].isspace() else ""
    return f"{before}{line} " if line and text[-1].isspace() else before + line


__all__ = [
    "Normalized", "fold_letters", "in_one_line", "latin_looks", "normalize", "readings", "tidied",
]  # fmt: skip
