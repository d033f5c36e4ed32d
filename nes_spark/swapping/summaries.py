"""Which summaries of a chunk may be published in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from nes_spark.entities.barred import CLUE
from nes_spark.entities.distinctive import is_acronym
from nes_spark.entities.mentions import Mention
from nes_spark.entities.quantities import QUANTITY
from nes_spark.entities.terms import TERM
from nes_spark.swapping.forms import entity_of
from nes_spark.swapping.parts import DATE
from nes_spark.swapping.short_forms import given_away

#: What stands in the place of a term.
PLACEHOLDER = f"[{TERM}]"
#: Categories of words of any kind, which are no names.
_WORDS = (TERM, CLUE)


def names_held(text: str, mentions: Iterable[Mention], summary: str) -> list[str]:
    """Return the names of a chunk that its summary still holds.

    Parameters
    ----------
    text : str
        The chunk.
    mentions : iterable of Mention
        Its mentions, of every category. Dates, quantities, terms and clues are no names.
    summary : str

    Returns
    -------
    list of str
        Forms as the chunk has them, and distinctive words of names; sorted. Case counts only in
        abbreviations ("us" is not the US).

    Examples
    --------
    >>> mentions = [Mention(0, 13, "Organization", "Orion Widgets")]
    >>> names_held("Orion Widgets grew.", mentions, "Sales at Orion rose.")
    ['Orion']
    >>> names_held("Orion Widgets grew.", mentions, "Sales rose.")
    []
    """
    names = [m for m in mentions if m.category not in (DATE, QUANTITY, *_WORDS)]
    found = {
        m.surface
        for m in names
        if _whole(m.surface, 0 if is_acronym(m.surface) else re.IGNORECASE).search(summary)
    }
    gone = {(m.category, entity_of(m)): "" for m in names}
    return sorted(found | set(given_away(text, names, gone, summary)))


def without_terms(mentions: Iterable[Mention], summary: str) -> str:
    """Return a summary with ``[Term]`` wherever a term or a clue of its chunk stands in it.

    Parameters
    ----------
    mentions : iterable of Mention
        Of the chunk.
    summary : str

    Examples
    --------
    >>> without_terms([Mention(0, 5, "Term", "Tires")], "We sold more tires and oil.")
    'We sold more [Term] and oil.'
    """
    words = {m.surface for m in mentions if m.category in _WORDS}
    for word in sorted(words, key=lambda word: (-len(word), word)):
        summary = _whole(word, re.IGNORECASE).sub(PLACEHOLDER, summary)
    return summary


def _whole(form: str, flags: int) -> re.Pattern[str]:
    """Match a form where no letter or digit goes on, outside placeholders."""
    return re.compile(rf"(?<![\w\[]){re.escape(form)}(?!\w)", flags)


def accepted(text: str, mentions: Sequence[Mention], summary: str | None) -> str | None:
    """Return a summary as it is to be published, None where it must not be.

    Parameters
    ----------
    text : str
        The chunk.
    mentions : sequence of Mention
        Its mentions.
    summary : str or None
        What a language model gave.

    Returns
    -------
    str or None
        Without the terms of the chunk (:func:`without_terms`). None for nothing, for a text that is
        longer than the chunk, and for one that holds a name of the chunk (:func:`names_held`).
    """
    told = " ".join((summary or "").split())
    if not told or len(told) > len(text) or names_held(text, mentions, told):
        return None
    return without_terms(mentions, told)
