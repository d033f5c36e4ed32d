"""Which measure says how well one name reads in the place of another, by category."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from nes_spark.entities.quantities import QUANTITY, InOrder
from nes_spark.entities.terms import TERM, TermSimilarity
from nes_spark.swapping.exchange import Matching, Similarity
from nes_spark.swapping.parts import DATE, NO_NAMES
from nes_spark.swapping.shapes import ShapeSimilarity, date_similarity


@lru_cache(maxsize=1)
def _term_similarity() -> TermSimilarity:
    from nes_spark.embedding import load_embedder

    embedder = load_embedder("bundled")
    return TermSimilarity(lambda terms: embedder.embed(list(terms)))


def similarities_for(categories: Iterable[str], matching: Matching) -> dict[str, Similarity]:
    """Return the measures that decide which name meets which.

    Parameters
    ----------
    categories : iterable of str
    matching : {'random', 'similar'}
        With ``similar`` names meet those of like shape and kind
        (:class:`~nes_spark.swapping.shapes.ShapeSimilarity`).

    Returns
    -------
    dict
        Category -> similarity. Categories that are not in it meet at random. Terms always meet
        near ones (:class:`~nes_spark.entities.terms.TermSimilarity`, with the bundled vectors),
        dates those that are written alike (:func:`~nes_spark.swapping.shapes.date_similarity`).
        Quantities keep their order (:class:`~nes_spark.entities.quantities.InOrder`).
    """
    found: dict[str, Similarity] = {}
    for category in categories:
        if category == TERM:
            found[category] = _term_similarity()
        elif category == DATE:
            found[category] = date_similarity
        elif category == QUANTITY:
            found[category] = InOrder()
        elif matching == "similar" and category not in NO_NAMES:
            found[category] = ShapeSimilarity(category)
    return found


def choosing(categories: Iterable[str], matching: Matching) -> frozenset[str]:
    """Return the categories in which names are chosen by likeness among those of many donors.

    Of quantities none is: the nearest figure of many would be nearly the figure itself.
    """
    return frozenset(similarities_for(categories, matching)) - {QUANTITY}
