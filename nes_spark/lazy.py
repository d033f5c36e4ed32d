"""Names of a package that are loaded when they are first asked for.

The command line answers ``--help`` and faults of a configuration without NumPy, pandas and Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, homes: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for a package (PEP 562).

    Parameters
    ----------
    package : str
        ``__name__`` of the package.
    homes : mapping of str to tuple of str
        Module below the package -> names that it defines.

    Returns
    -------
    callable
        Loads the module of a name; any other name is an :class:`AttributeError`.

    Notes
    -----
    The package imports the same names under ``TYPE_CHECKING``: type checkers, and
    :mod:`nes_spark.versions`, which digests the code behind a name, look there.
    """
    places = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{places[name]}"), name)

    return load
