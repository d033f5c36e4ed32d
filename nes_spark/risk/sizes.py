r"""The law of cell sizes given the number of cells, and what it says of the sample uniques.

Given n units in k cells, the Ewens-Pitman partition depends on alpha alone (k is sufficient for
theta): the sizes are those of k independent draws from

.. math:: q_j = \frac{\Gamma(j - \alpha)}{\Gamma(1 - \alpha)\, j!} \frac{x^j}{H(x)}, \qquad
          H(x) = \frac{1 - (1 - x)^\alpha}{\alpha}, \qquad 0 < x < 1, \; j = 1, 2, \ldots

(Engen's extended negative binomial; log(1/(1-x)) for H and the logarithmic series at alpha = 0),
conditioned on their sum n (Pitman 2006, section 1.5, Gibbs partitions). The condition holds for any
x; with x such that the mean is n / k the sum is where it is expected, and statistics of the sizes
are asymptotically normal with the variance that is left after regression on the size (Holst 1979).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammaln, psi

_EXACT = 4096
_RATIO = 1.01


class UniquesGivenCells(NamedTuple):
    """Sample uniques given units and cells.

    Attributes
    ----------
    mean, sd : float
        Their mean and standard deviation.
    sd_fitted : float
        Standard deviation of the difference from the mean when alpha was estimated from the same
        table: smaller, because the estimate follows the sample uniques.
    """

    mean: float
    sd: float
    sd_fitted: float


def _log_h(alpha: float, y: float) -> float:
    """Return log H at x = 1 - exp(y), y < 0."""
    return math.log(-y) if alpha == 0.0 else math.log(-math.expm1(alpha * y) / alpha)


def _log_mean(alpha: float, y: float) -> float:
    """Return the log of the mean x H'(x) / H(x), x = 1 - exp(y)."""
    return math.log(-math.expm1(y)) + (alpha - 1) * y - _log_h(alpha, y)


def solve_size_law(alpha: float, mean: float) -> float:
    """Return y = log(1 - x) for which the sizes have a given mean.

    Parameters
    ----------
    alpha : float
        In [0, 1).
    mean : float
        Above 1.
    """
    target = math.log(mean)
    low, high = -1.0, -1e-12
    while _log_mean(alpha, low) < target:
        low *= 2
    return float(brentq(lambda y: _log_mean(alpha, y) - target, low, high, xtol=1e-300, rtol=1e-14))


def _support(largest: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return sizes and how many sizes each of them stands for: all small ones, some large ones."""
    exact = np.arange(1.0, min(largest, _EXACT) + 1)
    if largest <= _EXACT:
        return exact, np.ones_like(exact)
    count = max(2, math.ceil(math.log(largest / _EXACT) / math.log(_RATIO)))
    edges = np.geomspace(_EXACT + 0.5, largest + 0.5, count + 1)
    j = np.concatenate([exact, np.sqrt(edges[1:] * edges[:-1])])
    return j, np.concatenate([np.ones_like(exact), np.diff(edges)])


def uniques_given_cells(alpha: float, n: int, k: int) -> UniquesGivenCells:
    """Return mean and standard deviation of the sample uniques given n and k.

    Parameters
    ----------
    alpha : float
        Discount, in [0, 1).
    n, k : int
        Units and cells, 1 < k < n.

    Returns
    -------
    UniquesGivenCells
    """
    y = solve_size_law(alpha, n / k)
    log_x = math.log1p(-math.exp(y))
    first = math.exp(math.log(-math.expm1(y)) - _log_h(alpha, y))  # q_1 = x / H
    # a single cell cannot hold more than what the others leave
    j, width = _support(n - k + 1)
    log_q = gammaln(j - alpha) - gammaln(1 - alpha) - gammaln(j + 1) + j * log_x
    q = width * np.exp(log_q - _log_h(alpha, y))
    q /= q.sum()
    unique = (j == 1).astype(float)
    score = psi(1 - alpha) - psi(j - alpha)  # d log q_j / d alpha, but for what the sum fixes
    rows = np.stack([unique, j, score])
    centred = rows - (rows @ q)[:, None]
    covariance = (centred * q) @ centred.T

    def left(given: list[int]) -> float:
        inner = covariance[np.ix_(given, given)]
        scale = np.sqrt(np.diag(inner))
        cross = covariance[0, given] / scale
        explained = cross @ np.linalg.lstsq(inner / np.outer(scale, scale), cross, rcond=None)[0]
        return math.sqrt(max(k * (covariance[0, 0] - float(explained)), 0.0))

    return UniquesGivenCells(k * first, left([1]), left([1, 2]))
