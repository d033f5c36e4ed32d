"""What was taken for names: forms, how often, in the texts of how many sources, which to doubt.

A recogniser takes words for names ("NOTE", "Ops Coordinator"): they are exchanged like names then,
which hides nobody and costs a sentence its meaning. Reading finds them one by one; a list by
frequency finds them at once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nes_spark.text.people import is_given_name

if TYPE_CHECKING:
    from nes_spark.entities.general_english import GeneralEnglish

#: Categories of what is no name: figures, dates, and words that were chosen for what they tell.
NO_NAMES = frozenset({"Date", "Quantity", "Term", "Clue"})
#: Share of the sources from which on a form tells little of any of them, and how many at least.
SHARED, FEWEST = 0.1, 3
#: Of these a form of ordinary words is a name all the same ("United States").
_PLACES = frozenset({"Location"})
#: Doubts: the form is made of words of general use; more than a tenth of the sources have it.
WORDS, MANY = "general words", "many sources"
DOUBTS = (WORDS, MANY)

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


@dataclass(frozen=True)
class ListedName:
    """One form that was taken for a name.

    Attributes
    ----------
    category : str
        The category that it was given.
    form : str
        Canonical name; mentions of one entity share it.
    mentions : int
        Places in the chunks.
    sources : int
        Different metadata whose documents have it.
    doubts : tuple of str
        Why it may be none, of :data:`DOUBTS`; with both it most likely is none.
    """

    category: str
    form: str
    mentions: int
    sources: int
    doubts: tuple[str, ...] = ()

    @property
    def is_doubtful(self) -> bool:
        """Whether every doubt holds: most likely it is no name."""
        return len(self.doubts) == len(DOUBTS)


def is_general(form: str, english: GeneralEnglish) -> bool:
    """Return whether all words of a form are words or abbreviations of general use.

    Parameters
    ----------
    form : str
        A name, or what was taken for one. Figures count for nothing; a first name is none.
    english : GeneralEnglish
        From :func:`nes_spark.entities.general_english.general_english`.
    """
    words = _WORD.findall(form)
    return bool(words) and all(
        (english.word(w) or english.abbreviation(w)) and not is_given_name(w) for w in words
    )


def list_mentions(
    mentions: Iterable[tuple[str, str, str]],
    metadata: Mapping[str, str],
    english: GeneralEnglish,
    replaced: Collection[str] = (),
) -> list[ListedName]:
    """List the forms that were taken for names, the most doubtful first, then the most frequent.

    Parameters
    ----------
    mentions : iterable of (str, str, str)
        Chunk, category and canonical name of each mention; those of :data:`NO_NAMES` are left out.
    metadata : mapping
        Chunk -> the secret of its document.
    english : GeneralEnglish
    replaced : collection of str, optional
        Categories that a placeholder takes the place of everywhere: nothing of them is doubted, as
        no sentence loses another meaning by it.

    Returns
    -------
    list of ListedName
        Memory grows with the forms and the sources that have them, not with the mentions.
    """
    counts: dict[tuple[str, str], int] = {}
    sources: dict[tuple[str, str], set[str]] = {}
    for chunk, category, form in mentions:
        if category in NO_NAMES:
            continue
        key = (category, form)
        counts[key] = counts.get(key, 0) + 1
        sources.setdefault(key, set()).add(metadata[chunk])
    bound = max(FEWEST, SHARED * len({*metadata.values()}))
    found = []
    for (category, form), n in counts.items():
        of = len(sources[category, form])
        words = category not in _PLACES and is_general(form, english)
        told = () if category in replaced else ((WORDS, words), (MANY, of > bound))
        found.append(ListedName(category, form, n, of, tuple(d for d, holds in told if holds)))
    return sorted(found, key=lambda r: (-len(r.doubts), -r.mentions, r.category, r.form))
