"""The keys of a configuration in words: what each means, its default and its range."""

from __future__ import annotations

import difflib
import json
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from nes_spark.config.faults import section_of
from nes_spark.config.limits import LARGEST, LARGEST_OF_ALL, UNBOUNDED
from nes_spark.config.sections import Config
from nes_spark.errors import ConfigError


@dataclass(frozen=True)
class Key:
    """One key of the configuration.

    Attributes
    ----------
    name : str
        Dotted; ``KIND`` and ``[]`` stand for a name of one's own and for an item of a list.
    type : str
        In words.
    default : str
        As YAML would have it.
    allowed : str
        Range of numbers; empty where every value of the type is allowed.
    words : str
        What it does.
    section : str
        Words about its section.
    """

    name: str
    type: str
    default: str
    allowed: str
    words: str
    section: str

    def __str__(self) -> str:
        allowed = f", {self.allowed}" if self.allowed else ""
        head = f"{self.name} = {self.default}\n    {self.type}{allowed}"
        words = textwrap.fill(
            self.words, 96, initial_indent="    ", subsequent_indent="    ",
            break_on_hyphens=False,
        )  # fmt: skip
        return f"{head}\n{words}"


def keys() -> list[Key]:
    """Return all keys, in the order of the sections."""
    return list(_keys(Config, "", ""))


def describe(name: str | None = None) -> str:
    """Return all keys as text, or those of one section, or one.

    Parameters
    ----------
    name : str, optional
        A key or a section, dotted.

    Raises
    ------
    ConfigError
        When there is no such key; with those that are spelled nearly alike.
    """
    found = keys()
    if name is not None:
        mine = [k for k in found if k.name == name or k.name.startswith((f"{name}.", f"{name}["))]
        if not mine:
            parts = {".".join(k.name.split(".")[:i]) for k in found for i in (1, 2, 3, 4)}
            last = {k.name.rpartition(".")[2]: k.name for k in found}
            close = difflib.get_close_matches(name, sorted(parts), n=3, cutoff=0.5)
            if name in last:
                close.insert(0, last[name])
            hint = f"; did you mean {' or '.join(dict.fromkeys(close))}?" if close else ""
            sections = ", ".join(dict.fromkeys(k.name.partition(".")[0] for k in found))
            raise ConfigError(f"{name}: no such key{hint} Sections: {sections}")
        found = mine
    lines: list[str] = []
    section = ""
    for key in found:
        if key.section != section and key.section:
            lines += ["", f"## {key.name.rpartition('.')[0]}: {key.section}", ""]
            section = key.section
        lines.append(str(key))
    return "\n".join(lines).strip()


def schema() -> dict[str, Any]:
    """Return the JSON schema of a configuration, for editors.

    Where a list may be given as one value (``mixture.family: spcauchy``), both are allowed.
    """
    found = Config.model_json_schema()
    found = {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}
    definitions = found["$defs"]
    for model in _models(Config):
        decorators = model.__pydantic_decorators__.field_validators
        for decorator in decorators.values():
            if decorator.info.mode != "before":
                continue
            for name in decorator.info.fields:
                field = definitions[model.__name__]["properties"].get(name, {})
                if field.get("type") == "array":
                    array = {k: field.pop(k) for k in ("type", "items", "minItems") if k in field}
                    field["anyOf"] = [array, array["items"]]
    return found


def schema_text() -> str:
    """Return :func:`schema` as JSON."""
    return json.dumps(schema(), indent=2, ensure_ascii=False)


def _models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    yield model
    for field in model.model_fields.values():
        inner = section_of(field.annotation)
        if inner is not None:
            yield from _models(inner)


def _keys(model: type[BaseModel], prefix: str, section: str) -> Iterator[Key]:
    inner_sections = []
    for name, field in model.model_fields.items():
        inner = section_of(field.annotation)
        dotted = f"{prefix}{name}"
        if inner is None:
            yield Key(
                dotted, _type(field.annotation), _default(field), _allowed(name, field),
                field.description or "", section,
            )  # fmt: skip
        else:
            origin = get_origin(field.annotation)
            place = (
                f"{dotted}.KIND" if origin is dict else f"{dotted}[]" if origin is list else dotted
            )
            inner_sections.append((place, inner))
    for dotted, inner in inner_sections:
        words = " ".join((inner.__doc__ or "").split("\n\n")[0].split())
        yield from _keys(inner, f"{dotted}.", words)


def _type(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return "one of " + ", ".join(map(str, arguments))
    if origin in (Union, types.UnionType):
        return " or ".join(_type(a) for a in arguments)
    if origin is list:
        inner = _type(arguments[0])
        return f"list of {inner.removeprefix('one of ')}" if arguments else "list"
    if origin is dict:
        return f"mapping of {_type(arguments[0])} to {_type(arguments[1])}"
    plain = {str: "text", int: "whole number", float: "number", bool: "true or false",
             type(None): "null", Any: "any value"}  # fmt: skip
    return plain.get(annotation, str(annotation))


def _default(field: Any) -> str:
    if field.is_required():
        return "(must be given)"
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return "(none)"
    return json.dumps(value, ensure_ascii=False)


def _allowed(name: str, field: Any) -> str:
    """The range of a number, in words."""
    words = []
    bounded = False
    for bound in field.metadata:
        for attribute, text in (("ge", "at least"), ("gt", "more than"), ("le", "at most"),
                                ("lt", "less than")):  # fmt: skip
            if (value := getattr(bound, attribute, None)) is not None:
                words.append(f"{text} {value:,}")
                bounded |= attribute in ("le", "lt")
    numbers = "number" in _type(field.annotation)
    if numbers and not bounded and name not in UNBOUNDED:
        most = LARGEST.get(name, LARGEST_OF_ALL)
        if most < LARGEST_OF_ALL:
            words.append(f"at most {most:,.0f}")
    return " and ".join(words)
