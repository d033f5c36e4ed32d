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
#: What may be exchanged as a whole.
UNITS = ("chunk", "document")
#: What a release of each is, in words.
UNIT_WORDS = {
    "chunk": "the same name becomes different names in two chunks",
    "document": "a name becomes the same other name throughout its document",
}
#: Value of ``releases.unit`` for candidates of both units in one frontier.
BOTH = "both"
#: Stands before the unit in the name of a combination, where a run has both.
_MARK = "@"


class Combination(tuple[str, ...]):
    """The categories J that a release swaps, in configured order; empty for no swaps.

    A tuple of category names with a name of its own, so that tables hold one string. Where a run
    has candidates of both units the name says which: ``Person+Product@document``. So the two are
    two sequences in every table, and a run with one unit has the names that it always had.

    Parameters
    ----------
    categories : iterable of str
        Distinct, not empty, none with ``+`` in it, none that ends like a unit.
    unit : {'', 'chunk', 'document'}, optional
        '' where the run has one unit; by default that of ``categories``, if they are a combination.

    Attributes
    ----------
    unit : str
        As given.

    Raises
    ------
    ValueError
        When a category is empty, holds ``+``, ends with ``@chunk`` or ``@document``, or is named
        twice; when the unit is none of these, or there is one and no category.

    Examples
    --------
    >>> Combination(["Product", "Location"]).name
    'Product+Location'
    >>> Combination.parse("Product+Location").categories
    ('Product', 'Location')
    >>> Combination.parse("Product+Location@document").unit
    'document'
    """

    unit: str

    def __new__(cls, categories: Iterable[str] = (), unit: str | None = None) -> Combination:
        """Check the categories and make the tuple."""
        found = super().__new__(cls, categories)
        if len(set(found)) < len(found) or any(
            not c or SEPARATOR in c or c.endswith(tuple(_MARK + u for u in UNITS)) for c in found
        ):
            raise parameter_error(
                "Combination",
                "categories",
                f"distinct names that are not empty, hold no {SEPARATOR!r} and do not end like a "
                f"unit ({', '.join(_MARK + u for u in UNITS)})",
                list(found),
            )
        found.unit = getattr(categories, "unit", "") if unit is None else unit
        if found.unit not in (("", *UNITS) if found else ("",)):
            raise parameter_error(
                "Combination", "unit", f"'' or, with categories, one of {UNITS}", found.unit
            )
        return found

    def __eq__(self, other: object) -> bool:
        """Equal categories, and equal units where the other is a combination too."""
        return super().__eq__(other) is True and self.unit == getattr(other, "unit", self.unit)

    def __ne__(self, other: object) -> bool:
        """See ``__eq__``; a tuple has a ``__ne__`` of its own."""
        return not self == other

    __hash__ = tuple.__hash__

    @classmethod
    def parse(cls, name: str) -> Combination:
        """Read the name of a combination; the empty name is the empty combination."""
        unit = next((u for u in UNITS if name.endswith(_MARK + u)), "")
        categories = name.removesuffix(_MARK + unit) if unit else name
        return cls(categories.split(SEPARATOR) if categories else (), unit)

    @property
    def name(self) -> str:
        """The categories joined with ``+``, and the unit where there is one, as in the tables."""
        return SEPARATOR.join(self) + (_MARK + self.unit if self.unit else "")

    @property
    def told(self) -> str:
        """The name for a reader: ``Person + Product, unit document``; ``no swaps`` for none."""
        told = f" {SEPARATOR} ".join(self) or "no swaps"
        return f"{told}, unit {self.unit}" if self.unit else told

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories as a plain tuple."""
        return tuple(self)


def combinations_of(releases: ReleasesConfig) -> list[Combination]:
    """List the combinations J of a configuration.

    Returns
    -------
    list of Combination
        For plan ``whole`` all of ``releases.swap`` together, once for each unit where
        ``releases.unit`` is ``both``; else exactly
        ``releases.combinations``, or all subsets of ``releases.swap`` of the sizes in
        ``releases.sizes``, smaller ones first. Categories within a J are in the order of
        ``releases.swap`` (those that are not in it follow as given); none is listed twice.
    """
    if releases.plan == "whole":
        units = UNITS if releases.unit == BOTH else ("",)
        return [Combination(releases.swap, unit) for unit in units]
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
