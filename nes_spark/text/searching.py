"""What a document's direct identifiers are searched by."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from nes_spark.config import IdentifiersConfig
from nes_spark.config.sections import METADATA_KIND
from nes_spark.text.matching import Matcher


def forms_of_kinds(matcher: Matcher) -> dict[str, int]:
    """Count the written forms that identifiers of each kind are searched by.

    Parameters
    ----------
    matcher : Matcher
        Of the identifiers of one document.

    Returns
    -------
    dict
        Kind -> forms, for kinds that there is a value of; 0 where none can be searched for.

    Examples
    --------
    >>> from nes_spark.text.identifiers import Identifier
    >>> forms_of_kinds(Matcher([Identifier("person", "Ann Lee", "[Executive 1]")]))
    {'person': 5}
    """
    spelled: dict[str, set[str]] = {}
    for item, part in zip(matcher.items, matcher.forms.parts, strict=True):
        spelled.setdefault(item.kind, set()).update(part)
    counts = {kind: len(spellings) for kind, spellings in spelled.items()}
    for item, _ in (*matcher.literals, *matcher.days, *matcher.numbers):
        counts[item.kind] += 1
    return dict(sorted(counts.items()))


def finds_secret(
    value: str,
    identifiers: Iterable[Any],
    config: IdentifiersConfig,
    without: Collection[str] = (),
) -> bool:
    """Tell whether a document's secret is searched for, some kinds of identifiers left out.

    Parameters
    ----------
    value : str
        The value that must stay secret.
    identifiers : iterable of Identifier (or rows and mappings with the same fields)
        Of its document.
    config : IdentifiersConfig
        Kinds, and forms that are never identifiers.
    without : collection of str
        Kinds that do not count.

    Examples
    --------
    >>> from nes_spark.text.identifiers import Identifier
    >>> known = [Identifier("company", "Acme Corp.", "[Company Name]")]
    >>> finds_secret("Acme Corp.", known, IdentifiersConfig())
    True
    >>> finds_secret("Acme Corp.", known, IdentifiersConfig(), without=["company"])
    False
    """
    items = Matcher.of(list(identifiers), config).items
    rest = [item for item in items if item.kind not in without]
    plain = [item for item in rest if item.kind != METADATA_KIND]
    # What a kind that does not count finds is told as that kind, also where the secret has an item.
    hidden = Matcher.of([item for item in items if item.kind in without], config).covers(value)
    if len(plain) < len(rest) and not hidden:
        return True
    return Matcher.of(plain, config).covers(value)
