"""A combination J of entity categories, and its name in tables and on command lines."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING

from nes_spark.errors import parameter_error

if TYPE_CHECKING:
    from nes_spark.config import ReleasesConfig

#: Stands between the categories of a combination's name; no category may hold it.
SEPARATOR = "+"


class Combination(tuple[str, ...]):
    """The categories J that a release swaps, in configured order; empty for no swaps.

    A tuple of category names with a name of its own, so that tables hold one string.

    Parameters
    ----------
    categories : iterable of str
        Distinct, not empty, none with ``+`` in it.

    Raises
    ------
    ValueError
        When a category is empty, holds ``+`` or is named twice.

    Examples
    --------
    >>> Combination(["Product", "Location"]).name
    'Product+Location'
    >>> Combination.parse("Product+Location").categories
    ('Product', 'Location')
    """

    __slots__ = ()

    def __new__(cls, categories: Iterable[str] = ()) -> Combination:
        """Check the categories and make the tuple."""
        found = super().__new__(cls, categories)
        if len(set(found)) < len(found) or any(not c or SEPARATOR in c for c in found):
            raise parameter_error(
                "Combination",
                "categories",
                f"distinct names that are not empty and hold no {SEPARATOR!r}",
                list(found),
            )
        return found

    @classmethod
    def parse(cls, name: str) -> Combination:
        """Read the name of a combination; the empty name is the empty combination."""
        return cls(name.split(SEPARATOR) if name else ())

    @property
    def name(self) -> str:
        """The categories joined with ``+``, as in the tables."""
        return SEPARATOR.join(self)

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories as a plain tuple."""
        return tuple(self)


def combinations_of(releases: ReleasesConfig) -> list[Combination]:
    """List the combinations J of a configuration.

    Returns
    -------
    list of Combination
        For plan ``whole`` all of ``releases.swap`` together; else exactly
        ``releases.combinations``, or all subsets of ``releases.swap`` of the sizes in
        ``releases.sizes``, smaller ones first. Categories within a J are in the order of
        ``releases.swap`` (those that are not in it follow as given); none is listed twice.
    """
    if releases.plan == "whole":
        return [Combination(releases.swap)]
    rank = {category: i for i, category in enumerate(releases.swap)}
    if releases.combinations is not None:
        wanted = [
            Combination(sorted(dict.fromkeys(j), key=lambda c: rank.get(c, len(rank))))
            for j in releases.combinations
        ]
    else:
        wanted = [
            Combination(j)
            for size in sorted(set(releases.sizes))
            for j in combinations(releases.swap, size)
        ]
    return list(dict.fromkeys(wanted))
