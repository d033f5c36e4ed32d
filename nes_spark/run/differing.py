"""What differs between configurations, key by key, in words that may stand in a log.

Every key is named, whatever it holds. A value is shown where it is a number, a switch, one of the
words that the program itself defines, or may be logged (:data:`nes_spark.tracking.LOGGED`); of any
other, which may be a path, an address or a name of the corpus, it is said only that it is another.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from nes_spark.config import Config
from nes_spark.plain import plain

_HIDDEN = "not shown"


@dataclass(frozen=True)
class Setting:
    """One key of a configuration.

    Attributes
    ----------
    content : str
        What equal settings have in common. It may hold names: it is compared and never shown.
    shown : str or None
        The value in words; None where it is not shown.
    entries : tuple of str or None
        Entries of a list, or categories that a mapping speaks of, where these are shown.
    """

    content: str
    shown: str | None = None
    entries: tuple[str, ...] | None = None


#: A key that a configuration does not have, or has no value for.
UNSET = Setting("null", "unset")


def settings(config: Config) -> dict[str, Setting]:
    """Return all keys of a configuration with their values.

    Examples
    --------
    >>> found = settings(Config())
    >>> found["output.publish"].shown, found["entities.clues"].shown, found["seed.env"].shown
    ('documents', 'unset', None)
    """
    from nes_spark.tracking import parameters

    logged = parameters(config)
    return {
        key: _setting(value, annotation, key in logged, config.entities.categories)
        for key, value, annotation in _keys(config)
    }


def _keys(section: Any, prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Key, value and annotation of all that a section holds, sections inside it taken apart."""
    for name, field in type(section).model_fields.items():
        key, value = prefix + name, getattr(section, name)
        listed = value if isinstance(value, list) else [value]
        if not listed or not all(hasattr(type(one), "model_fields") for one in listed):
            yield key, value, field.annotation
        elif value is not listed:
            yield from _keys(value, f"{key}.")
        else:
            for number, one in enumerate(value):
                yield from _keys(one, f"{key}.{number}.")


def _setting(value: Any, annotation: Any, logged: bool, categories: Sequence[str]) -> Setting:
    if value is None:
        return UNSET
    own = {word for word in _literals(annotation) if isinstance(word, str)}
    dumped = _dumped(value)
    content = json.dumps(dumped, sort_keys=True)
    if isinstance(value, Mapping):
        # keys of a mapping are the user's words, but categories stand in every table
        known = bool(value) and set(value) <= set(categories)
        return Setting(content, None if value else "none", tuple(value) if known else None)
    listed = value if isinstance(value, (list, tuple)) else [value]
    if not logged and not all(isinstance(v, (bool, int, float)) or v in own for v in listed):
        return Setting(content)
    entries = tuple(str(v) for v in listed)
    if listed is value:
        return Setting(content, ", ".join(entries) or "none", entries)
    return Setting(content, entries[0])


def _dumped(value: Any) -> Any:
    """A value as JSON knows it; mappings may hold sections."""
    if isinstance(value, Mapping):
        return {str(name): _dumped(part) for name, part in value.items()}
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else plain(value)


def _literals(annotation: Any) -> Iterator[Any]:
    """Words that an annotation allows."""
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    else:
        for part in get_args(annotation):
            yield from _literals(part)


def changed(before: Setting, after: Setting) -> str:
    """Say what became of a setting: what was added and taken away, or both values.

    Examples
    --------
    >>> seven, eight = Setting("7", "7"), Setting("8", "8")
    >>> changed(seven, eight)
    '7 -> 8'
    >>> changed(Setting("1", "A, B", ("A", "B")), Setting("2", "B, C, D", ("B", "C", "D")))
    '+ C, D - A'
    >>> changed(UNSET, Setting('"secret.csv"'))
    'unset -> set (not shown)'
    """
    if before.entries is not None and after.entries is not None:
        added = [entry for entry in after.entries if entry not in before.entries]
        gone = [entry for entry in before.entries if entry not in after.entries]
        # lists that have nothing in common are read more easily as they are
        if (added or gone) and len(gone) < len(before.entries):
            return _signed(added, gone)
        if not added and not gone and (before.shown is None or after.shown is None):
            return f"another value for {', '.join(after.entries)} ({_HIDDEN})"
    if before.shown is None and after.shown is None:
        return f"another value ({_HIDDEN})"
    old, new = (f"set ({_HIDDEN})" if s.shown is None else s.shown for s in (before, after))
    return f"{old} -> {new}"


def _signed(added: Sequence[str], gone: Sequence[str]) -> str:
    signed = ((sign, entries) for sign, entries in (("+", added), ("-", gone)) if entries)
    return " ".join(f"{sign} {', '.join(entries)}" for sign, entries in signed)


def beside(found: Sequence[Setting]) -> list[str]:
    """Say one setting of several runs: of lists what not all of them have, else the value.

    Examples
    --------
    >>> beside([Setting("1", "A, B", ("A", "B")), Setting("2", "A, B, C", ("A", "B", "C"))])
    ['A, B', 'A, B + C']
    >>> beside([UNSET, Setting('"a.csv"'), Setting('"b.csv"')])
    ['unset', 'value 1 (not shown)', 'value 2 (not shown)']
    """
    hidden = list(dict.fromkeys(s.content for s in found if s.shown is None))
    names = {content: f"value {number}" for number, content in enumerate(hidden, start=1)}
    if len(hidden) == 1:
        names = dict.fromkeys(hidden, "set")
    lists = [s.entries for s in found if s.entries is not None]
    if len(lists) == len(found):
        common = [entry for entry in lists[0] if all(entry in one for one in lists)]
        rest = [[entry for entry in entries if entry not in common] for entries in lists]
        if common and any(rest):
            same = ", ".join(common) if len(common) <= 3 else f"{len(common)} in common"
            return [f"{same} + {', '.join(more)}" if more else same for more in rest]
    return [f"{names[s.content]} ({_HIDDEN})" if s.shown is None else s.shown for s in found]
