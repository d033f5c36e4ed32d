"""Small integers in the place of values: equal exactly where the values are equal."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


def codes_of(values: Sequence[Hashable] | NDArray[Any]) -> Ints:
    """Return small integers, equal where the values are equal, numbered by first appearance."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iufSU":
        numbers: dict[Hashable, int] = {}
        return np.fromiter(
            (numbers.setdefault(v, len(numbers)) for v in values), np.int64, len(values)
        )
    _, inverse = np.unique(values, return_inverse=True)
    return by_first_appearance(inverse.reshape(-1))


def by_first_appearance(codes: Ints) -> Ints:
    """Renumber codes by first appearance, so that they do not depend on hash values."""
    if not len(codes):
        return codes.astype(np.int64)
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[inverse.reshape(-1)]
