"""Which summaries of a chunk may be published in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable

from nes_spark.entities.mentions import Mention
from nes_spark.swapping.forms import entity_of
from nes_spark.swapping.parts import NO_NAMES
from nes_spark.swapping.short_forms import given_away


def names_held(text: str, mentions: Iterable[Mention], summary: str) -> list[str]:
    """Return the names of a chunk that its summary still holds.

    Parameters
    ----------
    text : str
        The chunk.
    mentions : iterable of Mention
        Its mentions, of every category. Dates, quantities and terms are no names.
    summary : str

    Returns
    -------
    list of str
        Forms as the chunk has them, and distinctive words of names; sorted. Case does not count.

    Examples
    --------
    >>> mentions = [Mention(0, 13, "Organization", "Orion Widgets")]
    >>> names_held("Orion Widgets grew.", mentions, "Sales at Orion rose.")
    ['Orion']
    >>> names_held("Orion Widgets grew.", mentions, "Sales rose.")
    []
    """
    names = [m for m in mentions if m.category not in NO_NAMES]
    found = {
        m.surface
        for m in names
        if re.search(rf"(?<!\w){re.escape(m.surface)}(?!\w)", summary, re.IGNORECASE)
    }
    gone = {(m.category, entity_of(m)): "" for m in names}
    return sorted(found | set(given_away(text, names, gone, summary)))


def accepted(text: str, mentions: Iterable[Mention], summary: str | None) -> str | None:
    """Return a summary as it is to be published, None where it must not be.

    Parameters
    ----------
    text : str
        The chunk.
    mentions : iterable of Mention
        Its mentions.
    summary : str or None
        What a language model gave.

    Returns
    -------
    str or None
        None for nothing, for a text that is longer than the chunk, and for one that holds a name of
        the chunk (:func:`names_held`).
    """
    told = " ".join((summary or "").split())
    if not told or len(told) > len(text) or names_held(text, mentions, told):
        return None
    return told
