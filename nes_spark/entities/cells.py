"""From the entities of a chunk to its cell in the contingency table (paper, section 3.1.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from nes_spark.config.patterns import Pattern

SEPARATOR = " & "


#: Marks an entry of a class as a regular expression, for example ``re:.* Bank``.
PATTERN = "re:"


class _Recoder:
    """Class name of every entity, from a table of classes."""

    def __init__(self, classes: Mapping[str, Iterable[str]]) -> None:
        self.names: dict[str, str] = {}
        self.patterns: list[tuple[Pattern, str]] = []
        for name, group in classes.items():
            for entry in group:
                if entry.startswith(PATTERN):
                    rule = Pattern(entry.removeprefix(PATTERN), "entities.recoding")
                    self.patterns.append((rule, name))
                else:
                    self.names[entry] = name

    def __call__(self, entity: str) -> str:
        if entity not in self.names:
            # Kept for the next time: the entities of a corpus are few against its chunks.
            rules = (name for pattern, name in self.patterns if pattern.fullmatch(entity))
            self.names[entity] = next(rules, entity)
        return self.names[entity]


#: Recoders of the tables in use. A table is kept with its recoder, so that its id stays its own.
_RECODERS: dict[int, tuple[Mapping[str, Iterable[str]], _Recoder]] = {}


def _recoder(classes: Mapping[str, Iterable[str]]) -> _Recoder:
    known = _RECODERS.get(id(classes))
    if known is None:
        if len(_RECODERS) >= 64:
            _RECODERS.clear()
        known = _RECODERS[id(classes)] = (classes, _Recoder(classes))
    return known[1]


def recode(entities: Iterable[str], classes: Mapping[str, Iterable[str]] | None) -> list[str]:
    """Return sorted distinct values after merging entities into classes.

    Parameters
    ----------
    entities : iterable of str
        Canonical entities of one category.
    classes : mapping of str to iterable of str, or None
        Class name -> canonical entities merged into it, or rules: regular expressions with ``re:``
        before them that match whole entities. Entities named go before rules, and of several rules
        the first counts. Must not be changed after its first use.

    Examples
    --------
    >>> recode(["Goldman Sachs", "Morgan Stanley"], {"Bank": ["Goldman Sachs", "Morgan Stanley"]})
    ['Bank']
    >>> recode(["Deutsche Bank", "Vodafone"], {"Bank": ["re:.* Bank"]})
    ['Bank', 'Vodafone']
    """
    if not classes:
        return sorted({entity for entity in entities if entity})
    named = _recoder(classes)
    return sorted({named(entity) for entity in entities if entity})


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
