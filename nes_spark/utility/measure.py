"""Data utility along a sequence of swaps (paper, section 2.5)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nes_spark.errors import EstimationError

#: Log densities enter sums rounded to this many decimals, so that the sums are exact.
DECIMALS = 9


def check_denominator(log_f_pre: float, setting: str = "") -> None:
    """Refuse a log-likelihood that cannot be the denominator of DU.

    Raises
    ------
    EstimationError
        ``denominator_not_positive`` when log f(pre | labels) is not above 0: the ratio would then
        fall when the texts get closer to the model.
    """
    if not log_f_pre > 0 or math.isinf(log_f_pre):
        of = f" of mixture {setting}" if setting else ""
        raise EstimationError(
            f"data utility is meaningless: the log-likelihood{of} before swapping is "
            f"{log_f_pre:.6g}, not a positive number; use a mixture that describes the chunks "
            "better than the uniform distribution (more components, another family or embedding)",
            "denominator_not_positive",
        )


def data_utility(log_f_post: Any, log_f_pre: float) -> np.ndarray:
    """Return DU = log f(post | labels) / log f(pre | labels) (paper, equation UtilityMeasure2).

    Parameters
    ----------
    log_f_post : array-like of float, shape (m,)
        Sum over all chunks of the log density, relative to uniform, after swapping, each under the
        component its pre-swap chunk was assigned to.
    log_f_pre : float
        The same before swapping.

    Returns
    -------
    numpy.ndarray of float, shape (m,)
        1 without swaps; may exceed 1, which callers flag.

    Raises
    ------
    EstimationError
        See :func:`check_denominator`.
    """
    check_denominator(log_f_pre)
    return np.asarray(log_f_post, dtype=float) / log_f_pre


def log_likelihood_changes(chunk_ids: Any, pre: Any, post: Any) -> np.ndarray:
    """Return log f(post) - log f(pre) after 1, 2, .. swaps (paper, equation DifLoglik).

    Parameters
    ----------
    chunk_ids : array-like of str, shape (swaps, 2)
        The chunks of each swap, in the order of the swaps.
    pre, post : array-like of float, shape (swaps, 2)
        Log density of each before any swap, and of the text that the swap made of it.

    Returns
    -------
    numpy.ndarray of float, shape (swaps,)
        Prefix sums. A chunk that is swapped again loses the density of its former text.
    """
    ids = np.asarray(chunk_ids, dtype=object)
    before = np.round(np.asarray(pre, dtype=float), DECIMALS)
    after = np.round(np.asarray(post, dtype=float), DECIMALS)
    flat, texts = ids.ravel(), after.ravel()
    former = before.ravel().copy()
    last: dict[Any, float] = {}
    for position, chunk in enumerate(flat):
        former[position] = last.get(chunk, former[position])
        last[chunk] = texts[position]
    return np.round(np.cumsum((texts - former).reshape(ids.shape).sum(axis=1)), DECIMALS)
