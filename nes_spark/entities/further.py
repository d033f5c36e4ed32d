"""Categories that are no names, in memory: quantities, and terms of a document.

The same places as the Spark stages find (:mod:`nes_spark.entities.further_stages`), for texts that
fit one process.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from nes_spark.entities.mentions import Mention
from nes_spark.entities.quantities import QUANTITY, quantity_mentions
from nes_spark.entities.terms import (
    TERM,
    Place,
    Usage,
    abilities,
    stem,
    term_entity,
    term_mentions,
    term_uses,
    terms_of,
)
from nes_spark.errors import parameter_error

#: Categories that are no names, found by rule beside the recogniser.
FURTHER = (QUANTITY, TERM)


def quantities_outside(
    text: str, mentions: Collection[Mention], currency: str | None = None
) -> list[Mention]:
    """Return the quantities of a text that touch no mention.

    `currency` is that of :func:`~nes_spark.entities.quantities.quantity_mentions`.

    Examples
    --------
    >>> [m.surface for m in quantities_outside("$5 million for 40 judges", [])]
    ['$5 million', '40']
    """
    return [
        m
        for m in quantity_mentions(text, currency=currency)
        if not any(k.start < m.end and m.start < k.end for k in mentions)
    ]


class Look(NamedTuple):
    """What one text shows by itself.

    Attributes
    ----------
    quantities : list of Mention
        Empty where they are not asked for, as the others.
    uses : list of Place
        Where words stand that may be terms (:func:`~nes_spark.entities.terms.term_uses`).
    """

    quantities: list[Mention]
    uses: list[Place]


def look_at(
    text: str, mentions: Sequence[Mention], categories: Collection[str], currency: str | None = None
) -> Look:
    """Look at one text; parameters as for :func:`further_mentions`.

    Examples
    --------
    >>> found = look_at("We sold 40 tankers.", [], FURTHER)
    >>> [m.surface for m in found.quantities], [place.word for place in found.uses]
    (['40'], ['sold', 'tankers'])
    """
    quantities = []
    if QUANTITY in categories:
        quantities = quantities_outside(text, mentions, currency)
    uses = term_uses(text, [*mentions, *quantities]) if TERM in categories else []
    return Look(quantities, uses)


def further_mentions(
    texts: Mapping[str, str],
    documents: Mapping[str, str],
    metadata: Mapping[str, str],
    mentions: Mapping[str, Sequence[Mention]],
    categories: Collection[str],
    terms: int,
    currency: str | None = None,
    looks: Mapping[str, Look] | None = None,
) -> dict[str, list[Mention]]:
    """Return the mentions of Quantity and Term, where these are among the categories.

    Parameters
    ----------
    texts : mapping of str to str
        chunk_id -> text.
    documents, metadata : mapping of str to str
        chunk_id -> document, and the secret of that document.
    mentions : mapping of str to sequence of Mention
        chunk_id -> what is known already: nothing is found inside.
    categories : collection of str
        Of :data:`FURTHER`.
    terms : int
        Terms of a document, see :func:`~nes_spark.entities.terms.terms_of`.
    currency : str, optional
        See :func:`~nes_spark.entities.quantities.quantity_mentions`.
    looks : mapping of str to Look, optional
        chunk_id -> what :func:`look_at` gives for its text, where that is known.

    Returns
    -------
    dict
        chunk_id -> the further mentions, for every chunk.

    Raises
    ------
    ValueError
        For another category.
    """
    if set(categories) - set(FURTHER):
        raise parameter_error("further_mentions", "categories", f"of {FURTHER}", list(categories))
    if looks is None:
        looks = {
            chunk: look_at(text, mentions.get(chunk, ()), categories, currency)
            for chunk, text in texts.items()
        }
    found = {chunk: list(looks[chunk].quantities) for chunk in texts}
    if TERM not in categories:
        return found
    held = {chunk: [*mentions.get(chunk, ()), *found[chunk]] for chunk in texts}
    places = {chunk: looks[chunk].uses for chunk in texts}
    usage: defaultdict[str, Usage] = defaultdict(Usage)
    for place in chain.from_iterable(places.values()):
        usage[place.word].add(place)
    able = abilities(usage)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    holders: defaultdict[str, set[str]] = defaultdict(set)
    for chunk, mine in places.items():
        for place in mine:
            if term_entity(place.word, place.use, able[place.word]):
                counts[documents[chunk]][stem(place.word)] += 1
                holders[stem(place.word)].add(metadata[chunk])
    spread = {word: len(secrets) for word, secrets in holders.items()}
    total = len({metadata[chunk] for chunk in texts})
    said = sum(counts.values(), Counter[str]())
    chosen = {name: terms_of(mine, spread, total, terms, said) for name, mine in counts.items()}
    for chunk, text in texts.items():
        own = chosen.get(documents[chunk], [])
        found[chunk] += term_mentions(text, own, held[chunk], able, places[chunk])
    return found
