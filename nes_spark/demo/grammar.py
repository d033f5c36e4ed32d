"""Sentence patterns: alternatives in brackets, slots in braces, and a record of what filled them.

``"[Revenue|Sales] in {country} rose."`` has two alternatives and one slot. ``{Kind:literal}`` is a
literal that is recorded like a slot. A filled slot that is a named entity or a direct identifier
leaves a :class:`Span`, so that a generated text comes with its own gold annotation.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TypeVar

from nes_spark.errors import parameter_error

T = TypeVar("T")


class Dice:
    """A seeded source of choices, the same on every Python version.

    Only ``random.Random.random`` is used, whose sequence for a string seed is guaranteed to stay;
    ``choice`` or ``sample`` may change between versions.

    Parameters
    ----------
    *seed : object
        Parts of the seed, joined to a string: equal parts give equal choices.
    """

    def __init__(self, *seed: object) -> None:
        self._next = random.Random("/".join(map(str, seed))).random

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        """Return a number in [low, high)."""
        return low + (high - low) * self._next()

    def integer(self, low: int, high: int) -> int:
        """Return an integer from low to high, both included."""
        return low + int(self._next() * (high - low + 1))

    def chance(self, probability: float) -> bool:
        """Return True with the probability given."""
        return self._next() < probability

    def pick(self, items: Sequence[T]) -> T:
        """Return one item, all equally likely."""
        return items[int(self._next() * len(items))]

    def pick_weighted(self, items: Sequence[T], weights: Sequence[float]) -> T:
        """Return one item with probability proportional to its weight."""
        left = self._next() * sum(weights)
        for item, weight in zip(items, weights, strict=True):
            left -= weight
            if left < 0:
                return item
        return items[-1]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in random order."""
        result = list(items)
        for last in range(len(result) - 1, 0, -1):
            other = int(self._next() * (last + 1))
            result[last], result[other] = result[other], result[last]
        return result

    def rank(self, exponent: float) -> int:
        """Return a 0-based rank of a power law without end.

        Ranks follow a discretised Pareto law: P(rank >= r) = (r + 1)^(1 - exponent). Frequencies
        fall like rank^-exponent, so the number of distinct ranks in n draws grows like
        n^(1 / exponent), which is the regime of the Ewens-Pitman model with discount
        1 / exponent.

        Parameters
        ----------
        exponent : float
            Tail exponent, more than 1.
        """
        u = 1.0 - self._next()
        return min(int(u ** (-1.0 / (exponent - 1.0))) - 1, 10**9)


@dataclass(frozen=True)
class Span:
    """What was put at ``text[start:end]``: a category of entities or a kind of identifier."""

    start: int
    end: int
    kind: str
    surface: str


@dataclass(frozen=True)
class Filled:
    """The filling of a slot: text, its kind (empty: not recorded), and an article in front."""

    text: str
    kind: str = ""
    article: str = ""


@dataclass
class Page:
    """A text under construction with its spans."""

    parts: list[str] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    length: int = 0
    last: str = ""

    def write(self, text: str, kind: str = "") -> None:
        """Append text; a space after a space and a full stop after a full stop are dropped."""
        if self.last in ("", " ") and text.startswith(" "):
            text = text.lstrip(" ")
        if self.last == "." and text.startswith("."):
            text = text[1:]
        if not text:
            return
        if kind:
            self.spans.append(Span(self.length, self.length + len(text), kind, text))
        self.parts.append(text)
        self.length += len(text)
        self.last = text[-1]

    @property
    def text(self) -> str:
        """The text written so far."""
        return "".join(self.parts)


@dataclass(frozen=True)
class _Slot:
    name: str


@dataclass(frozen=True)
class _Choice:
    options: tuple[Sequence_, ...]


Node = str | _Slot | _Choice
Sequence_ = tuple[Node, ...]


def _parse(source: str, start: int, stop: str) -> tuple[tuple[Sequence_, ...], int]:
    """Parse alternatives from ``start`` up to the closing character ``stop``."""
    options: list[Sequence_] = []
    nodes: list[Node] = []
    literal: list[str] = []

    def flush() -> None:
        if literal:
            nodes.append("".join(literal))
            literal.clear()

    i = start
    while i < len(source):
        c = source[i]
        if c == stop:
            flush()
            options.append(tuple(nodes))
            return tuple(options), i + 1
        if c == "[":
            flush()
            inner, i = _parse(source, i + 1, "]")
            nodes.append(_Choice(inner))
            continue
        if c == "{":
            flush()
            end = source.index("}", i)
            nodes.append(_Slot(source[i + 1 : end]))
            i = end + 1
            continue
        if c == "|" and stop == "]":
            flush()
            options.append(tuple(nodes))
            nodes = []
            i += 1
            continue
        literal.append(c)
        i += 1
    if stop:
        raise ValueError(f"pattern without a closing {stop!r}")
    flush()
    return (tuple(nodes),), i


@cache
def compile_pattern(source: str) -> Sequence_:
    """Parse a pattern.

    Parameters
    ----------
    source : str
        Pattern; see the module's docstring.

    Returns
    -------
    tuple
        Nodes in order, opaque to callers.

    Raises
    ------
    ValueError
        When a bracket is not closed.
    """
    options, _ = _parse(source, 0, "")
    return options[0]


def slots(source: str) -> set[str]:
    """Return the names of all slots of a pattern."""
    found: set[str] = set()

    def walk(nodes: Sequence_) -> None:
        for node in nodes:
            if isinstance(node, _Slot):
                found.add(node.name)
            elif isinstance(node, _Choice):
                for option in node.options:
                    walk(option)

    walk(compile_pattern(source))
    return found


def render(source: str, fill: Callable[[str], Filled], dice: Dice, page: Page) -> None:
    """Write one sentence pattern to a page, with a capital letter at its start.

    Parameters
    ----------
    source : str
        Pattern.
    fill : callable
        Slot name -> :class:`Filled`.
    dice : Dice
        Chooses among alternatives.
    page : Page
        Where the text goes.
    """
    first = True

    def put(text: str, kind: str = "") -> None:
        nonlocal first
        if first and text.strip():
            text = text[0].upper() + text[1:]
            first = False
        page.write(text, kind)

    def walk(nodes: Sequence_) -> None:
        for node in nodes:
            if isinstance(node, str):
                put(node)
            elif isinstance(node, _Slot):
                kind, colon, literal = node.name.partition(":")
                filled = Filled(literal, kind) if colon else fill(node.name)
                if filled.article:
                    put(filled.article)
                put(filled.text, filled.kind)
            else:
                walk(dice.pick(node.options))

    walk(compile_pattern(source))


@cache
def read_material(name: str) -> dict[str, dict[str, tuple[str, ...]]]:
    """Read a file of material: ``##`` starts a section, ``#`` a part, other lines are items.

    Parameters
    ----------
    name : str
        File name in ``nes_spark/demo/material``.

    Returns
    -------
    dict
        Section -> part -> lines. Lines before any ``#`` are under the empty part.
    """
    text = (files("nes_spark.demo") / "material" / name).read_text(encoding="utf-8")
    sections: dict[str, dict[str, list[str]]] = {}
    section = part = ""
    for line in text.splitlines():
        line = line.rstrip()
        if line.startswith("## "):
            section, part = line[3:], ""
            sections.setdefault(section, {})
        elif line.startswith("# "):
            part = line[2:]
        elif line:
            sections.setdefault(section, {}).setdefault(part, []).append(line)
    return {s: {p: tuple(lines) for p, lines in parts.items()} for s, parts in sections.items()}


def check_positive(owner: str, name: str, value: object) -> int:
    """Return an integer of at least one, or raise the usual error."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise parameter_error(owner, name, "an integer of at least 1", value)
    return value
