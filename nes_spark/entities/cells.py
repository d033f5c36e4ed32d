"""From the entities of a chunk to its cell in the contingency table (paper, section 3.1.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

SEPARATOR = " & "


def recode(entities: Iterable[str], classes: Mapping[str, Iterable[str]] | None) -> list[str]:
    """Return sorted distinct values after merging entities into classes.

    Parameters
    ----------
    entities : iterable of str
        Canonical entities of one category.
    classes : mapping of str to iterable of str, or None
        Class name -> canonical entities merged into it ("Investment Bank": ["Goldman Sachs", ...]).

    Examples
    --------
    >>> recode(["Goldman Sachs", "Morgan Stanley"], {"Bank": ["Goldman Sachs", "Morgan Stanley"]})
    ['Bank']
    """
    merged = {entity: name for name, group in (classes or {}).items() for entity in group}
    return sorted({merged.get(entity, entity) for entity in entities if entity})


def cell_value(entities: Iterable[str], classes: Mapping[str, Iterable[str]] | None = None) -> str:
    """Return the value of one categorical variable: the entities joined with " & ".

    The paper's example: a chunk with "Goldman Sachs" and "Morgan Stanley" has the value
    "Goldman Sachs & Morgan Stanley" for the variable Organization; '' stands for no entity.

    Examples
    --------
    >>> cell_value(["Morgan Stanley", "Goldman Sachs", "Goldman Sachs"])
    'Goldman Sachs & Morgan Stanley'
    """
    return SEPARATOR.join(recode(entities, classes))


def cell_of(
    entities: Mapping[str, Sequence[str]],
    categories: Sequence[str],
    recoding: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
) -> dict[str, str]:
    """Return category -> value for every category, '' where the chunk has no such entity.

    Parameters
    ----------
    entities : mapping of str to sequence of str
        Category -> canonical entities of the chunk, not recoded.
    categories : sequence of str
        All configured categories.
    recoding : mapping, optional
        Category -> class -> entities; recoding changes the table only, never the text.
    """
    return {
        category: cell_value(entities.get(category, ()), (recoding or {}).get(category))
        for category in categories
    }
