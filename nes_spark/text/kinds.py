"""Kinds of direct identifiers: which an input may name, and the one that always exists."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from nes_spark.config import ColumnsConfig, IdentifiersConfig
from nes_spark.config.sections import METADATA_KIND
from nes_spark.errors import ConfigError


def undeclared_kinds(columns: ColumnsConfig, kinds: Collection[str]) -> list[str]:
    """Return the kinds that ``input.columns.identifiers`` names and that are not declared.

    Parameters
    ----------
    columns : ColumnsConfig
        Input mapping.
    kinds : collection of str
        Declared kinds (``identifiers.kinds``).
    """
    return [kind for kind in columns.identifiers if kind not in kinds]


def check_kinds(columns: ColumnsConfig, identifiers: IdentifiersConfig) -> None:
    """Refuse an input mapping with kinds that are not declared.

    Raises
    ------
    ConfigError
        One line a kind: which it is, which there are, how to declare it.
    """
    lines = []
    for kind in undeclared_kinds(columns, identifiers.kinds):
        known = ", ".join(sorted(identifiers.kinds)) or "none"
        close = difflib.get_close_matches(kind, identifiers.kinds, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        lines.append(
            f"input.columns.identifiers.{kind}: no such kind of direct identifier; declared are "
            f"{known}.{hint} Declare it: identifiers.kinds.{kind}: "
            f"{{placeholder: '{title_placeholder(kind)}'}}"
        )
    if lines:
        raise ConfigError("\n".join(lines))


def kinds_of_secret(columns: ColumnsConfig) -> list[str]:
    """Return the kinds whose columns hold the value that must stay secret."""
    return [kind for kind, held in columns.identifiers.items() if columns.metadata in held]


def title_placeholder(column: str) -> str:
    """Return a placeholder made of a column's name.

    Examples
    --------
    >>> title_placeholder("court"), title_placeholder("case.company_name")
    ('[Court]', '[Company Name]')
    """
    words = column.rpartition(".")[2].replace("_", " ").replace("-", " ").split()
    name = " ".join(w[:1].upper() + w[1:] for w in words)
    # A placeholder is one short bracketed phrase that begins with a letter.
    name = "".join(c for c in name if c.isalnum() or c == " ").strip()[:40]
    return f"[{name}]" if name[:1].isalpha() else "[Name]"


__all__ = [
    "METADATA_KIND",
    "check_kinds",
    "kinds_of_secret",
    "title_placeholder",
    "undeclared_kinds",
]
