"""Faults of a configuration in words, and keys with dots."""

from __future__ import annotations

import difflib
from typing import Any, get_args

from pydantic import BaseModel

from nes_spark.errors import ConfigError


def set_dotted(tree: dict[str, Any], dotted: str, value: Any) -> None:
    """Set ``tree["a"]["b"]`` for the key ``a.b``; mappings on the way are made.

    Raises
    ------
    ConfigError
        When a part of the key names a value that is no mapping.
    """
    *parents, leaf = dotted.split(".")
    for name in parents:
        child = tree.setdefault(name, {})
        if not isinstance(child, dict):
            raise ConfigError(f"{dotted}: {name!r} is not a section")
        tree = child
    tree[leaf] = value


def section_of(annotation: Any) -> type[BaseModel] | None:
    """Return the section inside an annotation such as ``list[Section]`` or ``Section | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in get_args(annotation):
        found = section_of(argument)
        if found is not None:
            return found
    return None


def _valid_keys(model: type[BaseModel], location: tuple[Any, ...]) -> list[str]:
    """Valid keys of the section that a pydantic error location points into."""
    for part in location:
        field = model.model_fields.get(str(part))
        if field is None:  # an index of a list or a key of a mapping
            continue
        inner = section_of(field.annotation)
        if inner is None:
            return []
        model = inner
    return sorted(model.model_fields)


def describe_fault(model: type[BaseModel], error: Any) -> str:
    """Return one fault that pydantic found in ``model``, in one line.

    Unknown keys come with the valid ones, and with the one that is spelled nearly alike.
    """
    location = error["loc"]
    path = ".".join(str(part) for part in location) or "configuration"
    if error["type"] == "extra_forbidden":
        valid = _valid_keys(model, location[:-1])
        close = difflib.get_close_matches(str(location[-1]), valid, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        return f"{path}: unknown key{hint} Valid keys here: {', '.join(valid)}"
    message = error["msg"].removeprefix("Value error, ")
    got = error.get("input")
    shown = f" (got {got!r})" if isinstance(got, (str, int, float, bool)) else ""
    if error["type"] == "value_error":
        shown = ""
    return f"{path}: {message[0].lower() + message[1:]}{shown}"
