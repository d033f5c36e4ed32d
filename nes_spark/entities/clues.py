"""Clues: pieces of a text that told a reader whose it is, and where they stand.

A language model that names the source of a released text can say which words told. These are
replaced, the texts are shown again, and so on, until it fails: adversarial anonymization (Staab,
Vero, Balunovic & Vechev, "Large language models are advanced anonymizers", 2025), with the words
left out instead of a text that the model writes anew, so that what a release says was said.

Words are compared without case and accents, singular and plural as one
(:func:`nes_spark.entities.terms.stem`). A clue was read in a released text: what an exchange
brought in there stands nowhere in the original, so of such a clue the pieces that do are taken.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from nes_spark.entities.distinctive import FUNCTION_WORDS
from nes_spark.entities.mentions import PLACEHOLDER, Mention, placeholder_spans
from nes_spark.entities.terms import TERM, is_everyday, stem
from nes_spark.entities.wordforms import Kind, kinds_of
from nes_spark.text.forms import Words, fold

#: Category of clues, and how long one may be.
CLUE, MOST_WORDS = "Clue", 40

#: Between two words of a clue: no placeholder, and no new paragraph.
_GAP = re.compile(r"(?:(?!\n\s*\n)[^\w\[\]]){0,4}")
#: What stands between two pieces that become one.
_TOGETHER = re.compile(r"[ \-/]?")
#: What an apostrophe cuts off.
_CUT_OFF = frozenset({"s", "t", "d", "m", "ll", "re", "ve"})
_EMPTY = frozenset(map(stem, FUNCTION_WORDS | _CUT_OFF))
_LETTERS = re.compile(r"[^\W\d_]{3,}")
#: What names or describes a thing.
_OF_THINGS: frozenset[Kind] = frozenset({"noun", "plural", "adjective"})


class Clue(NamedTuple):
    """Words that told whose a text is.

    Attributes
    ----------
    words : tuple of str
        Stems, without case and accents.
    wide : bool
        Whether they tell wherever they stand in texts of the same secret. A single word does that
        everybody uses, a verb or a number only in its own chunk.
    """

    words: tuple[str, ...]
    wide: bool


def read_clue(clue: str, text: str) -> list[Clue]:
    """Return what of a clue stands in a text, without words of grammar at its ends.

    Parameters
    ----------
    clue : str
        As a reader gave it, copied from the released text.
    text : str
        The chunk before the exchange.

    Returns
    -------
    list of Clue
        The clue itself where the text has it, else its longest pieces that the text has, of two
        words and more besides those of grammar. Nothing of a clue of more than :data:`MOST_WORDS`
        words, which is no clue but the text.

    Examples
    --------
    >>> text = "The high pressure solution segment of Acme grew, and segments grow."
    >>> read_clue("the high-pressure solution segments", text)
    [Clue(words=('high', 'pressure', 'solution', 'segment'), wide=True)]
    >>> read_clue("pressure solutions of Hadria", text), read_clue("segments of Hadria", text)
    ([Clue(words=('pressure', 'solution'), wide=True)], [])
    >>> read_clue("grew", text), read_clue("of the", text)
    ([Clue(words=('grew',), wide=False)], [])
    """
    found: list[Clue] = []
    here = _Places(text)
    for piece in PLACEHOLDER.split(clue):
        words = [_key(word) for word in Words(piece).spelled]
        if not words or len(words) > MOST_WORDS:
            continue
        if here.has(words):
            found += _clue(words)
            continue
        begin = 0
        while begin < len(words):
            end = len(words)
            while end > begin and not here.has(words[begin:end]):
                end -= 1
            if sum(word not in _EMPTY for word in words[begin:end]) > 1:
                found += _clue(words[begin:end])
            begin = max(end, begin + 1)
    return list(dict.fromkeys(found))


def clue_mentions(
    text: str, clues: Iterable[Sequence[str]], mentions: Iterable[Mention] = ()
) -> list[Mention]:
    """Return the places of clues in a text as mentions of category :data:`CLUE`.

    Parameters
    ----------
    text : str
    clues : iterable of sequence of str
        The words of each (:class:`Clue`).
    mentions : iterable of Mention
        Nothing is found inside them, nor inside placeholders: of a clue that goes over one the
        rest is taken. Terms are no such mentions: those that a clue touches become part of it.

    Returns
    -------
    list of Mention
        By start. Clues that overlap, or stand side by side, are one. Its entity is its words.

    Examples
    --------
    >>> [m.surface for m in clue_mentions("Ready mix and ready-mixes grew.", [("ready", "mix")])]
    ['Ready mix', 'ready-mixes']
    """
    here = _Places(text)
    spans: list[tuple[int, int]] = []
    for words in {tuple(words) for words in clues}:
        spans += here.spans(words)
    terms: list[tuple[int, int]] = []
    others = placeholder_spans(text)
    for mention in mentions:
        (terms if mention.category == TERM else others).append((mention.start, mention.end))
    pieces = [_trimmed(text, *piece) for piece in _outside(_joined(text, spans), sorted(others))]
    found = [piece for piece in pieces if piece is not None]
    out: list[Mention] = []
    for start, end in _joined(text, [*found, *terms]):
        if any(start <= begin < end for begin, _ in found):
            surface = text[start:end]
            entity = " ".join(_key(word) for word in Words(surface).spelled)
            out.append(Mention(start, end, CLUE, surface, entity))
    return out


class _Places:
    """Where words stand in a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words = Words(text)
        self._keys = [_key(word) for word in self._words.spelled]
        self._at: defaultdict[str, list[int]] = defaultdict(list)
        for i, key in enumerate(self._keys):
            self._at[key].append(i)

    def has(self, words: Sequence[str]) -> bool:
        return bool(self.spans(words))

    def spans(self, words: Sequence[str]) -> list[tuple[int, int]]:
        """Return where the words stand in a row."""
        out, n = [], len(words)
        for i in self._at.get(words[0], ()):
            if self._keys[i : i + n] == [*words] and all(
                _GAP.fullmatch(self._text, self._words.ends(k), self._words.starts(k + 1))
                for k in range(i, i + n - 1)
            ):
                out.append((self._words.starts(i), self._words.ends(i + n - 1)))
        return out


def _key(word: str) -> str:
    return stem(fold(word))


def _tells(word: str) -> bool:
    """Whether a word by itself may tell a document."""
    return (
        _LETTERS.fullmatch(word) is not None
        and not is_everyday(word)
        and not _OF_THINGS.isdisjoint(kinds_of(word))
    )


def _clue(words: Sequence[str]) -> list[Clue]:
    """Make a clue of words, without those of grammar at its ends; nothing where none is left."""
    begin, end = 0, len(words)
    while begin < end and words[begin] in _EMPTY:
        begin += 1
    while begin < end and words[end - 1] in _EMPTY:
        end -= 1
    bare = tuple(words[begin:end])
    full = sum(word not in _EMPTY for word in bare)
    return [Clue(bare, full > 1 or any(map(_tells, bare)))] if bare else []


def _joined(text: str, spans: Collection[tuple[int, int]]) -> list[tuple[int, int]]:
    """Make one of spans that overlap or stand side by side."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if out and (start <= out[-1][1] or _TOGETHER.fullmatch(text, out[-1][1], start)):
            out[-1] = out[-1][0], max(end, out[-1][1])
        else:
            out.append((start, end))
    return out


def _outside(
    spans: Iterable[tuple[int, int]], blocked: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return what of disjoint spans lies outside others, both by start."""
    out = []
    for start, end in spans:
        for begin, stop in blocked:
            if stop <= start or begin >= end:
                continue
            if begin > start:
                out.append((start, begin))
            start = max(start, stop)
        if start < end:
            out.append((start, end))
    return out


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Cut what is no word, and words of grammar, off both ends of a span."""
    words = Words(text[start:end])
    kept = [i for i, word in enumerate(words.spelled) if _key(word) not in _EMPTY]
    if not kept:
        return None
    return start + words.starts(kept[0]), start + words.ends(kept[-1])
