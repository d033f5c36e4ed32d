"""Exact sums of integer token vectors: the arithmetic behind the LSA and the bundled embedder.

A text's vector is the sum of its tokens' vectors, scaled to norm 1. The token vectors are integers
of 8 bits and the counts are integers, so that all sums are exact whatever their order: the result
is the same to the bit on every machine and does not depend on which texts share a batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nes_spark.embedding.base import Vectors

#: float32 holds integers up to this exactly.
_EXACT = 2**24

#: Sums are cut to this many bits before they are squared, so that 1024 squares add up exactly in
#: float64 (2 * 21 + 10 bits).
_SQUARE_BITS = 21


def quantize(table: NDArray[Any]) -> tuple[NDArray[np.int8], float]:
    """Round a table of token vectors to 8-bit integers with one common scale.

    Parameters
    ----------
    table : ndarray of float, shape (V, d)

    Returns
    -------
    (ndarray of int8, shape (V, d), float)
        The integers and the scale: ``table`` is about ``integers * scale``. The scale is set by the
        99.99th percentile of the absolute entries; the few above it are clipped.
    """
    absolute = np.abs(np.asarray(table, dtype=np.float64))
    top = float(np.quantile(absolute, 0.9999)) if absolute.size else 0.0
    if top == 0.0:
        top = float(absolute.max(initial=0.0)) or 1.0
    scale = top / 127.0
    return np.clip(np.rint(np.asarray(table) / scale), -127, 127).astype(np.int8), scale


class TokenSums:
    """Sums of rows of an integer table.

    Parameters
    ----------
    table : ndarray of int8, shape (V, d)
    """

    def __init__(self, table: NDArray[np.int8]) -> None:
        self._table = np.ascontiguousarray(table, dtype=np.float32)

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return int(self._table.shape[1])

    def sums(
        self, ids: NDArray[np.int32], counts: NDArray[np.int32], bounds: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """Return, for each text, the sum of ``counts * table[ids]`` as exact integers.

        Parameters
        ----------
        ids : ndarray of int32, shape (T,)
            Rows of the table, text after text; a row may occur more than once in a text.
        counts : ndarray of int32, shape (T,)
            Non-negative multiplicity of each entry.
        bounds : ndarray of int32, shape (n + 1,)
            Text i has the entries ``bounds[i]:bounds[i + 1]``.

        Returns
        -------
        ndarray of float64, shape (n, d)
        """
        from scipy.sparse import csr_matrix

        n = len(bounds) - 1
        weights = csr_matrix(
            (counts.astype(np.float32), ids, bounds), shape=(n, self._table.shape[0])
        )
        out = np.asarray(weights @ self._table, dtype=np.float64)
        totals = (
            np.add.reduceat(np.append(counts, 0).astype(np.int64), bounds[:-1]) if n else counts
        )
        totals = np.where(np.diff(bounds) > 0, totals, 0)
        for i in np.flatnonzero(totals * 127 > _EXACT):
            # A very long text: the same sum where integers of its size are still exact.
            part = slice(bounds[i], bounds[i + 1])
            tally = np.bincount(ids[part], weights=counts[part], minlength=self._table.shape[0])
            used = np.flatnonzero(tally)
            out[i] = 0.0
            for block in np.array_split(used, len(used) // 4096 + 1):
                out[i] += tally[block] @ self._table[block].astype(np.float64)
        return out

    def unit(
        self, ids: NDArray[np.int32], counts: NDArray[np.int32], bounds: NDArray[np.int32]
    ) -> Vectors:
        """Return :meth:`sums` scaled to norm 1; see :func:`unit_integer_rows`."""
        return unit_integer_rows(self.sums(ids, counts, bounds))


def unit_integer_rows(sums: NDArray[np.float64]) -> Vectors:
    """Scale integer rows to norm 1, to the bit the same on every machine.

    Squares of integers of 21 bits add up exactly in any order, and IEEE square root and division
    are correctly rounded. Longer integers are cut to 21 bits first. A row of zeros becomes the
    first basis vector.
    """
    largest = np.abs(sums).max(axis=1, initial=0.0)
    _, exponents = np.frexp(largest)
    shift = np.maximum(exponents - _SQUARE_BITS, 0)
    rows = np.rint(np.ldexp(sums, -shift[:, None]))
    rows[largest == 0, :1] = 1.0
    norms = np.sqrt((rows * rows).sum(axis=1))
    return (rows / norms[:, None]).astype(np.float32)
