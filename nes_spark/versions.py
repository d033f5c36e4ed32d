"""The version of the package, and digests of its code: what an output was made with."""

from __future__ import annotations

import ast
import hashlib
import threading
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path

__version__ = "0.1.0"

ROOT = Path(__file__).parent


@lru_cache(maxsize=1)
def code_version() -> str:
    """Return the package version and a digest of its source and bundled models."""
    digest = hashlib.sha256()
    for path in sorted(ROOT.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc":
            digest.update(path.relative_to(ROOT).as_posix().encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return f"{__version__}+{digest.hexdigest()[:12]}"


# -- which code an output was made with --------------------------------------------------------

#: Modules of the ground that say nothing about the content of a table: errors, logs, how a session
#: starts and where tables lie. Configuration counts by its values, schemas by those of the tables.
GROUND = frozenset(
    {
        "calling", "config", "errors", "failures", "lazy", "logs", "plain", "schemas", "scratch",
        "session", "showing", "spreading", "store", "tracking", "versions",
    }
)  # fmt: skip
PACKAGE = ROOT.name


def code_digest(*roots: str) -> str:
    """Return a digest of the code that some functions or modules are made of.

    Parameters
    ----------
    *roots : str
        ``package.module`` for all of a module, or ``package.module:function``.

    Returns
    -------
    str
        64 hexadecimal digits over the source of each root, of all modules of the package that it
        imports, directly or through others and also inside functions, and of the data files that
        these modules name beside themselves. Imports for type checking and the modules of
        :data:`GROUND` do not count.

    Raises
    ------
    ValueError
        When a root is not there.
    """
    digest = hashlib.sha256()
    modules: set[str] = set()
    for root in sorted(roots):
        name, _, function = root.partition(":")
        if not function:
            modules |= closure(name)
            continue
        for source, imported in _units(name, function):
            digest.update(source.encode() + b"\0")
            for module in imported:
                modules |= closure(module)
    for module in sorted(modules):
        digest.update(module.encode() + b"\0" + _content(module))
    return digest.hexdigest()


@cache
def closure(module: str) -> frozenset[str]:
    """Return a module and all that it imports of the package, as :func:`code_digest` counts them.

    Raises
    ------
    ValueError
        When the package has no such module.
    """
    found: set[str] = set()
    open_modules = [module]
    while open_modules:
        name = open_modules.pop()
        if name in found or _is_ground(name):
            continue
        found.add(name)
        open_modules += _imports(name)
    return frozenset(found)


def data_files(module: str) -> list[Path]:
    """Files that a module names as ``Path(__file__).parent / ...``, those of folders included."""
    found: list[Path] = []
    # few modules do, and looking through a tree takes time
    tree = _tree(module) if "__file__" in _source(module) else ast.Module([], [])
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            place = _beside(node, _file(module))
            if place is not None and place.is_dir():
                found += (p for p in place.rglob("*") if p.is_file() and p.suffix != ".pyc")
            elif place is not None and place.is_file():
                found.append(place)
    return sorted(set(found))


def _beside(node: ast.AST, file: Path) -> Path | None:
    """The path that ``Path(__file__).parent / "a" / "b"`` stands for; None for anything else."""
    if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant):
        left = _beside(node.left, file)
        return None if left is None else left / str(node.right.value)
    if isinstance(node, ast.Attribute) and node.attr == "parent":
        inner = _beside(node.value, file)
        return None if inner is None else inner.parent
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Path":
        names = [a.id for a in node.args if isinstance(a, ast.Name)]
        return file if names == ["__file__"] else None
    return None


def _is_ground(module: str) -> bool:
    parts = module.split(".")
    return len(parts) > 1 and parts[1] in GROUND


def _file(module: str) -> Path:
    place = ROOT.joinpath(*module.split(".")[1:])
    for file in (place.with_suffix(".py"), place / "__init__.py"):
        if file.is_file():
            return file
    raise ValueError(f"no module {module!r} in {PACKAGE}")


def _is_module(name: str) -> bool:
    try:
        _file(name)
    except ValueError:
        return False
    return True


def _tree(module: str) -> ast.Module:
    return _parsed(_source(module))


@cache
def _source(module: str) -> str:
    return _file(module).read_text(encoding="utf-8")


#: Python 3.11 counts the depth of trees that several threads build at once in one place, and
#: refuses them (CPython issue 106905).
_ONE_AT_A_TIME = threading.Lock()


@cache
def _parsed(source: str) -> ast.Module:
    with _ONE_AT_A_TIME:
        return ast.parse(source)


@cache
def _content(module: str) -> bytes:
    """Digest of a module's source and of the data files that it names."""
    digest = hashlib.sha256(_file(module).read_bytes())
    for file in data_files(module):
        digest.update(file.relative_to(ROOT).as_posix().encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.digest()


@cache
def _imports(module: str) -> frozenset[str]:
    return _resolved(_imports_of(_source(module)))


def _resolved(names: frozenset[tuple[str, str]]) -> frozenset[str]:
    return frozenset(_defined_in(module, name) if name else module for module, name in names)


@cache
def _imports_of(source: str) -> frozenset[tuple[str, str]]:
    return _imported(_parsed(source))


def _imported(tree: ast.AST) -> frozenset[tuple[str, str]]:
    """(module, name) of what is imported of the package while this runs; no name for a module."""
    found: set[tuple[str, str]] = set()
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            found |= {(name, "") for name in names if name.split(".")[0] == PACKAGE}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            found |= {(str(node.module), alias.name) for alias in node.names}
    return frozenset(found)


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements below a node but those that only type checkers read.

    Imports are statements, so that expressions, which are most of a tree, need no look.
    """
    checked = isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        if checked and name == "body":
            continue
        inner = getattr(node, name, ())
        for statement in inner if isinstance(inner, list) else ():
            yield statement
            yield from _statements(statement)


@cache
def _defined_in(module: str, name: str) -> str:
    """The module that ``from module import name`` leads to: a package's face is seen through."""
    if _is_module(f"{module}.{name}"):
        return f"{module}.{name}"
    if _file(module).name == "__init__.py":
        # Also what stands there for type checkers only: a package may load its names when asked.
        for node in ast.walk(_tree(module)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return _defined_in(str(node.module), alias.name)
    return module


@cache
def _definitions(module: str) -> dict[str, list[ast.AST]]:
    """Name -> functions and methods of a module that are called so."""
    found: dict[str, list[ast.AST]] = {}
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.FunctionDef):
            found.setdefault(node.name, []).append(node)
    return found


@cache
def _units(module: str, function: str) -> list[tuple[str, set[str]]]:
    """A function and what it calls in its own room: the source of each, and what each imports.

    A stage of a run is a function among others of the same module: the others do not count. What
    it uses of modules of its room (methods of the context, helpers) is found by name.
    """
    package = module.rpartition(".")[0]
    beside = [module, *sorted(m for m in _imports(module) if m.rpartition(".")[0] == package)]
    known = {m: _definitions(m) for m in beside}
    top = {m: _imports_at_top(m) for m in beside}
    if function not in known[module]:
        raise ValueError(f"no function {function!r} in {module}")
    done: dict[tuple[str, int], tuple[str, set[str]]] = {}
    open_nodes = [(module, node) for node in known[module][function]]
    while open_nodes:
        place, node = open_nodes.pop()
        if (place, id(node)) in done:
            continue
        used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        used |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}
        imported = {m for m in _resolved(_imported(node)) if m.rpartition(".")[0] != package}
        imported |= {m for name, m in top[place].items() if name in used}
        done[place, id(node)] = (ast.dump(node), {m for m in imported if m not in beside})
        open_nodes += [
            (other, definition)
            for other, definitions in known.items()
            for name in used & set(definitions)
            for definition in definitions[name]
        ]
    return sorted(done.values(), key=lambda unit: unit[0])


@cache
def _imports_at_top(module: str) -> dict[str, str]:
    """Name -> module of the package that it was imported from, for imports outside functions."""
    return {
        alias.asname or alias.name: _defined_in(str(node.module), alias.name)
        for node in _tree(module).body
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE
        for alias in node.names
    }
