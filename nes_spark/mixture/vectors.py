"""Checking and reading unit vectors, block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nes_spark.errors import parameter_error
from nes_spark.mixture.families import Array

#: How far the norm of a row may be from one. Vectors rounded to four decimals pass; they are
#: normalised exactly before use.
UNIT_TOLERANCE = 1e-4
#: Bytes of double-precision vectors that are worked on at a time.
_BLOCK_BYTES = 4 << 20
#: Up to this size, vectors that are read many times are kept in double precision.
_WIDE_BYTES = 512 << 20


def block_rows(d: int) -> int:
    """Return the number of rows of a block that stays in cache."""
    return max(64, min(2048, _BLOCK_BYTES // (8 * d) // 64 * 64))


def norms(block: NDArray[Any]) -> Array:
    """Return Euclidean norms of rows in double precision, each from its row alone."""
    wide = np.asarray(block, dtype=np.float64)
    return np.sqrt(np.einsum("ij,ij->i", wide, wide))


def faulty_rows(lengths: Array) -> NDArray[np.intp]:
    """Return positions of rows that are not finite or not of unit norm."""
    with np.errstate(invalid="ignore"):
        return np.flatnonzero(~(np.abs(lengths - 1.0) <= UNIT_TOLERANCE))


def shorten(rows: NDArray[Any], limit: int = 10) -> str:
    """Return row numbers for a message, the first few of many."""
    shown = ", ".join(str(int(r)) for r in rows[:limit])
    more = f" and {len(rows) - limit} more" if len(rows) > limit else ""
    return shown + more


class UnitVectors:
    """Unit vectors in memory, as they came (single or double precision), with their norms.

    Parameters
    ----------
    X : array_like of shape (n, d)
        Rows of unit norm, d >= 2.
    owner : str
        Function named in messages.

    Raises
    ------
    ValueError
        When X is not a table of numbers with d >= 2, or some rows are not finite or not of unit
        norm; their numbers (from 0) are in the message.
    """

    def __init__(self, X: Any, owner: str, d: int | None = None) -> None:
        try:
            array = np.asarray(X)
        except ValueError:
            raise parameter_error(
                owner, "X", "a table with rows of equal length", "ragged rows"
            ) from None
        if array.dtype.kind not in "fiu":
            raise parameter_error(owner, "X", "an array of real numbers", f"dtype {array.dtype}")
        if array.ndim != 2 or array.shape[1] < 2:
            raise parameter_error(
                owner, "X", "an array of shape (n, d) with d at least 2", f"shape {array.shape}"
            )
        if d is not None and array.shape[1] != d:
            raise parameter_error(owner, "X", f"an array with {d} columns", f"shape {array.shape}")
        if array.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
            wide = array.dtype.itemsize > 2 or array.dtype.kind in "iu"
            array = array.astype(np.float64 if wide else np.float32)
        self.array = array
        self.rows = block_rows(self.d)
        self._wide: Array | None = None
        self.lengths = np.empty(self.n)
        for begin in range(0, self.n, self.rows):
            self.lengths[begin : begin + self.rows] = norms(array[begin : begin + self.rows])
        bad = faulty_rows(self.lengths)
        if len(bad):
            unknown = bad[~np.isfinite(self.lengths[bad])]
            if len(unknown):
                raise parameter_error(
                    owner, "X", "free of NaN and infinite values", _RowsOf(unknown)
                )
            raise parameter_error(
                owner, "X", "made of rows with Euclidean norm 1", _RowsOf(bad, self.lengths[bad])
            )

    @property
    def n(self) -> int:
        """Number of vectors."""
        return int(self.array.shape[0])

    @property
    def d(self) -> int:
        """Dimension."""
        return int(self.array.shape[1])

    def take(self, rows: NDArray[np.intp] | slice) -> Array:
        """Return the given rows in double precision, of norm one to rounding."""
        if self._wide is not None:
            return self._wide[rows]
        block = self.array[rows].astype(np.float64)
        block /= self.lengths[rows][:, None]
        return block

    def prepare(self) -> None:
        """Convert all vectors now, where they are few enough, instead of on every reading."""
        if self._wide is None and 8 * self.n * self.d <= _WIDE_BYTES:
            self._wide = self.take(slice(None))

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield consecutive blocks: their rows and the vectors in double precision."""
        for begin in range(0, self.n, self.rows):
            rows = slice(begin, min(begin + self.rows, self.n))
            yield rows, self.take(rows)


class _RowsOf:
    """Row numbers as they are quoted in a message."""

    def __init__(self, rows: NDArray[np.intp], lengths: Array | None = None) -> None:
        self.rows, self.lengths = rows, lengths

    def __repr__(self) -> str:
        many = "rows" if len(self.rows) > 1 else "row"
        norm = f" (norm {self.lengths[0]:.6g} in the first)" if self.lengths is not None else ""
        return f"{many} {shorten(self.rows)}{norm}"
