"""General English: which words, abbreviations and units are no names.

The English dictionary of Hunspell (which knows names by their capital), inflections, derivations
and compounds of its words, and the lists in ``data/general.txt`` and ``data/words.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from nes_spark.entities.keys import KEY_FIGURES
from nes_spark.entities.lists import GENERAL, bundled_lexicon, read_lists
from nes_spark.entities.names import BODY_WORDS, PERSON_TITLES, WORDS
from nes_spark.entities.wordforms import dictionary
from nes_spark.text.vocabulary import ACRONYMS, EARNINGS, FUNCTION_WORDS, SENTENCE_WORDS

_LISTS = read_lists(GENERAL)
#: What an apostrophe cuts off behind a word.
CONTRACTION = re.compile(r"(?<=\w)'(?:ll|ve|d|re|m|s|t|em)$", re.IGNORECASE)
_PERIOD = re.compile(
    r"(?:Q|FY|CY|HY|H|S|T|[1-4]Q|[12]H|[369]M|12M|9MO?)['’]?\d{0,4}(?:[-/]?(?:FY|CY)?['’]?\d{2,4})?",
    re.IGNORECASE,
)
#: What parts the words of a compound.
PARTS = re.compile(r"[-/–&+.]+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_NUMBER = re.compile(r"['’]?\d[\d.,:/-]*[¼-¾⅐-⅞]?")
#: What no amount is written like, but codes are: "1A53", "9K41"; "1E6" is a number.
_CODED = re.compile(r"\d+[A-DF-Z]\d+")
#: Nor so many figures without a comma before one letter, as registers have them: "20154471K".
_REGISTERED = re.compile(r"\d{7,}[A-Z]")
#: Models that go by a number, in the plural ("737s"); decades and round counts end in 0.
_MODELS = re.compile(r"\d{2,3}[1-9]s")
#: What words are derived with, at their beginning.
PREFIXES = tuple(_LISTS["PREFIXES"])
#: Endings of derived words and what takes their place in the word they come from.
_ENDINGS = tuple(tuple(rule.split("=")) for rule in _LISTS["ENDINGS"])
#: British spellings and the American ones that the dictionary has.
_SPELLINGS = tuple(tuple(rule.split("=")) for rule in _LISTS["SPELLINGS"])


class GeneralEnglish:
    """What is no name: words, abbreviations, units of general use.

    Loading has spylls read the dictionary (half a second); use :func:`general_english`.
    """

    def __init__(self) -> None:
        from spylls import hunspell

        self._lookup = hunspell.Dictionary.from_files(str(dictionary())).lookup
        words = read_lists(WORDS)
        lexicon = bundled_lexicon()
        jargon = lexicon["jargon"]
        self.common = frozenset(lexicon["common"])
        parties = {f"{name}{end}" for name in _LISTS["PARTIES OF CONTRACTS"] for end in ("", "s")}
        self._words = frozenset(_LISTS["WORDS"]) | frozenset(_LISTS["MESSAGES"])
        self._words |= {name.lower() for name in parties}
        self._units = frozenset(_LISTS["UNITS"])
        self._currencies = frozenset(_LISTS["CURRENCIES"])
        self._months = frozenset(words["MONTHS"])
        self._function = (
            frozenset(w.lower() for w in words["FUNCTION"]) | FUNCTION_WORDS | SENTENCE_WORDS
        )
        self._custom = (
            frozenset(words["TITLES"])
            | PERSON_TITLES
            | frozenset(_LISTS["CUSTOM CAPITALS"])
            | parties
        )
        self._abbreviations = frozenset(_LISTS["ABBREVIATIONS"])
        self.names = frozenset(_LISTS["NAMES"])
        self.jargon = (frozenset(jargon) | self._abbreviations | ACRONYMS) - self.names
        self._jargon_folded = frozenset(j.casefold() for j in self.jargon)
        self.word = lru_cache(maxsize=200_000)(self._word)
        self.derived = lru_cache(maxsize=200_000)(self._derived)

    def _word(self, word: str) -> bool:
        """Whether a form is a word of general English in lower case, as it stands or inflected."""
        word = word.replace("’", "'").lower()
        if len(word) < 2 or word in self._words or self._lookup(word):
            return True
        if (bare := CONTRACTION.sub("", word)) != word and (len(bare) < 2 or self.word(bare)):
            return True
        for suffix, other in (("s", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ing", "")):
            stem = word.removesuffix(suffix) + other
            if len(stem) > 3 and word.endswith(suffix) and self._has(stem):
                return True
        for british, american in _SPELLINGS:
            if british in word and self._has(word.replace(british, american)):
                return True
        parts = [p for p in PARTS.split(word) if p]
        if len(parts) == 2 and parts[1].startswith(parts[0]):
            return self.word(parts[1])  # a stutter: "ana-analyze"
        return (
            len(parts) > 1
            and not _is_numbered(parts)
            and all(
                p.isdigit() or len(p) < 2 or p in PREFIXES or self.word(p) or self.abbreviation(p)
                for p in parts
            )
        )

    def _has(self, word: str) -> bool:
        return word in self._words or self._lookup(word)

    def _derived(self, word: str) -> bool:
        """Whether a word in lower case is derived from, or put together of, general words."""
        if self.word(word):
            return True
        parts = [p for p in PARTS.split(word) if p]
        if len(parts) > 1:
            return not _is_numbered(parts) and all(
                p.isdigit() or len(p) < 2 or self.derived(p) for p in parts
            )
        stems = [word]
        stems += [
            word[: -len(s)] + o for s, o in _ENDINGS if word.endswith(s) and len(word) > len(s) + 2
        ]
        for stem in stems:
            if stem != word and self._has(stem):
                return True
            for prefix in PREFIXES:
                rest = stem.removeprefix(prefix)
                if rest != stem and len(rest) > 3 and self._has(rest):
                    return True
        # "seafreight"; the same word twice is how names are made
        return any(
            word[:i] != word[i:] and self._has(word[:i]) and self._has(word[i:])
            for i in range(3, len(word) - 2)
            if max(i, len(word) - i) > 3
        )

    def abbreviation(self, word: str) -> bool:
        """Whether a form is an abbreviation or a term of general use, also in the plural."""
        folded = word.casefold()
        if len(word) < 4 and word.istitle():
            # a name cut short ("Iv") rather than an abbreviation with one capital
            return word in self.jargon or word in self._months or word in self._currencies
        return (
            folded in self._jargon_folded
            or (folded.endswith("s") and folded[:-1].rstrip("'’") in self._jargon_folded)
            or word in self._currencies
            or word in self._months
            or EARNINGS.fullmatch(word) is not None
        )

    def proper(self, word: str) -> bool:
        """Whether a listed term is a name all the same by its capital ("Colombian")."""
        return (
            len(word) > 3
            and word[0].isupper()
            and word[1:].islower()
            and word not in self._months
            and word not in self._abbreviations
            and self._lookup(word)
            and not self.word(word)
        )

    def function(self, word: str) -> bool:
        """Whether no name begins or ends with this word ("The", "However")."""
        bare = word.replace("’", "'").lower()
        bare = bare.removesuffix("n't") if bare.endswith("n't") else CONTRACTION.sub("", bare)
        return bare in self._function or bare in ("ca", "wo", "sha")

    def custom(self, word: str) -> bool:
        """Whether a word is capitalised by custom: titles, roles, parts of documents."""
        return word in self._custom or word.lower() in BODY_WORDS

    def quantity(self, word: str) -> bool:
        """Whether letters with digits are an amount, a period, an ordinal or a count."""
        if _NUMBER.fullmatch(word) or _PERIOD.fullmatch(word):
            return True
        if _MODELS.fullmatch(word) or _CODED.fullmatch(word) or _REGISTERED.fullmatch(word):
            return False
        letters = re.sub(r"[\d.,:/$€£%+'’-]+", " ", word).split()
        if word[0].isdigit() and all(
            x.lower() in self._units or (len(x) > 2 and self.word(x)) for x in letters
        ):
            return True
        head = re.match(r"[A-Za-z]+", word)
        currency = head and {head[0], head[0].upper()} & self._currencies
        if head and currency and len(letters) <= 2:
            rest = word[head.end() :]
            amount = re.fullmatch(r"\$?\d[\d.,]*([A-Za-z]*)", rest)
            if amount and (len(head[0]) > 1 or "$" in rest or "." in rest):
                return amount[1] == "" or amount[1].lower() in self._units
        return False


def _is_numbered(parts: Sequence[str]) -> bool:
    """Whether a word that strokes part has as many figures as a key, years left out.

    Examples
    --------
    >>> [_is_numbered(w.split("-")) for w in ("car-em-20-5468", "s-346817", "post-2008", "5-10-k")]
    [True, True, False, False]
    """
    figures = sum(len(p) for p in parts if p.isdigit() and not _YEAR.fullmatch(p))
    return figures >= KEY_FIGURES


@lru_cache(maxsize=1)
def general_english() -> GeneralEnglish:
    """Return the vocabulary of this process; it is read once."""
    return GeneralEnglish()


__all__ = [
    "CONTRACTION",
    "PARTS",
    "PREFIXES",
    "GeneralEnglish",
    "general_english",
]
