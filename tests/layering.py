"""The imports of the package, read from its source: what the layer tests look at."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = "nes_spark"


@dataclass(frozen=True)
class Import:
    """One import: of which module, of which name in it, and whether for type checking only."""

    module: str
    name: str | None
    checking: bool


@cache  # several tests ask about every module of the package
def imports(source: str) -> tuple[Import, ...]:
    """Return every import of a module, also those inside functions."""
    nodes = [*ast.walk(ast.parse(source))]
    guarded = {
        id(inner)
        for node in nodes
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
        for branch in node.body
        for inner in ast.walk(branch)
    }
    found = []
    for node in nodes:
        if isinstance(node, ast.Import):
            found += [Import(alias.name, None, id(node) in guarded) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                found.append(Import(node.module, alias.name, id(node) in guarded))
    return tuple(found)


def module_name(root: Path, path: Path) -> str:
    """Name of the module in a file of the package."""
    parts = (PACKAGE, *path.relative_to(root).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def graph(root: Path, checking: bool = False) -> dict[str, set[str]]:
    """Module -> modules of the package that it imports while it runs; `checking`: for types too.

    ``from package import name`` leads to the module ``package.name`` where there is one, else to
    the package itself.
    """
    sources = {module_name(root, path): path.read_text() for path in sorted(root.rglob("*.py"))}
    edges: dict[str, set[str]] = {name: set() for name in sources}
    for name, source in sources.items():
        for found in imports(source):
            if found.checking and not checking:
                continue
            full = f"{found.module}.{found.name}"
            target = full if full in sources else found.module
            if target in sources and target != name:
                edges[name].add(target)
    return edges


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected groups of more than one node (Tarjan 1972), each sorted."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = []
            while True:
                group.append(stack.pop())
                if group[-1] == node:
                    break
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def room(module: str) -> str:
    """The room of a module: its folder, ``ground`` or ``doors`` for single modules."""
    parts = module.split(".")
    if len(parts) == 1:
        return "face"
    return parts[1]


def by_room(edges: dict[str, set[str]]) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """(room, room) -> imports between them."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for module, others in edges.items():
        for other in others:
            if room(module) != room(other):
                found.setdefault((room(module), room(other)), []).append((module, other))
    return found


def floors(edges: dict[tuple[str, str], list[tuple[str, str]]]) -> dict[str, int]:
    """Room -> its floor: one above all rooms that it imports from, 1 on the ground."""
    below: dict[str, set[str]] = {}
    for upper, lower in edges:
        below.setdefault(upper, set()).add(lower)
        below.setdefault(lower, set())

    def floor(name: str) -> int:
        return 1 + max((floor(other) for other in below[name]), default=0)

    return {name: floor(name) for name in below}
