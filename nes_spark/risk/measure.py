"""Disclosure risk along a sequence of swaps (paper, section 2.4.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from nes_spark.errors import EstimationError


def disclosure_risk(swapped_uniques: Any, s1: int, p_hat: float) -> np.ndarray:
    """Return DR = 1 - (swapped sample uniques / s1) p-hat (paper, equation RiskMeasure).

    Parameters
    ----------
    swapped_uniques : array-like of int, shape (m,)
        Swapped chunks whose cell in the pre-swap table z_J has count one.
    s1 : int
        Sample uniques of z_J.
    p_hat : float
        Share of sample uniques that are population uniques; clipped to [0, 1] here.

    Returns
    -------
    numpy.ndarray of float, shape (m,)
        In [0, 1].

    Raises
    ------
    EstimationError
        ``no_sample_uniques`` when s1 is 0.
    """
    if s1 < 1:
        raise EstimationError(
            "DR is not defined for a table without sample uniques", "no_sample_uniques"
        )
    return 1.0 - np.asarray(swapped_uniques, dtype=float) / s1 * min(max(p_hat, 0.0), 1.0)


def swapped_uniques(chunk_ids: Any, unique: Any) -> np.ndarray:
    """Return the running number of distinct sample uniques among swapped chunks.

    Parameters
    ----------
    chunk_ids : array-like of str, shape (swaps, 2)
        The chunks of each swap, in the order of the swaps.
    unique : array-like of bool, shape (swaps, 2)
        Whether each is a sample unique of the pre-swap table.

    Returns
    -------
    numpy.ndarray of int, shape (swaps,)
        After 1, 2, .. swaps. A chunk that is swapped again in a later round counts once.
    """
    ids = np.asarray(chunk_ids, dtype=object)
    _, first = np.unique(ids.ravel().astype(str), return_index=True)
    new = np.zeros(ids.size, dtype=bool)
    new[first] = True
    counted = (new & np.asarray(unique, dtype=bool).ravel()).reshape(ids.shape)
    return np.cumsum(counted.sum(axis=1))
