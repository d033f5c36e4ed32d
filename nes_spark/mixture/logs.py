"""Sums of exponentials in logs, for all of the EM algorithm in one place.

Not ``scipy.special.logsumexp``: EM needs the normalised terms beside the sum, in place and without
a second exponential, and since SciPy 1.15 its last bits differ from those of the plain formula (it
adds the largest term apart), with which the recorded fits were made.
"""

from __future__ import annotations

import numpy as np

from nes_spark.mixture.families import Array


def normalise(logs: Array, axis: int) -> tuple[Array, Array]:
    """Turn log weights into weights that sum to one along an axis, in place.

    Parameters
    ----------
    logs : ndarray
        Finite along `axis` in one place at least; overwritten with exp(logs - total).
    axis : int
        The axis that is summed over.

    Returns
    -------
    total, largest : ndarray
        log sum exp and the maximum of `logs` along the axis, which is gone from their shape.
    """
    largest = logs.max(axis=axis)
    logs -= np.expand_dims(largest, axis)
    np.exp(logs, out=logs)
    total = logs.sum(axis=axis)
    logs /= np.expand_dims(total, axis)
    return largest + np.log(total), largest


def log_sum_exp(logs: Array, axis: int = 0) -> Array:
    """Return log sum exp(logs) along an axis, to the same bits as :func:`normalise`."""
    largest = logs.max(axis=axis)
    total: Array = largest + np.log(np.exp(logs - np.expand_dims(largest, axis)).sum(axis=axis))
    return total
