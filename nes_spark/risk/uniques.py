"""Expected cell counts under the Ewens-Pitman model, in the sample and in the population.

Notation as in the paper, section 2.4: a table of N units has S_j cells that hold j units, S_1 are
the population uniques; the sample table of n units has s_j.
"""

from __future__ import annotations

import math

import numpy as np

from nes_spark.errors import parameter_error
from nes_spark.risk.special import log_gamma_ratio


def _check_parameters(owner: str, theta: float, alpha: float, population: float) -> None:
    if not 0 <= alpha < 1:
        raise parameter_error(owner, "alpha", "a number in [0, 1)", alpha)
    if not (theta > -alpha and math.isfinite(theta)):
        raise parameter_error(owner, "theta", "a finite number above -alpha", theta)
    if not (population >= 1 and math.isfinite(population)):
        raise parameter_error(owner, "N", "a finite number, at least 1", population)


def log_expected_uniques(theta: float, alpha: float, N: float, exact: bool = False) -> float:
    r"""Return the logarithm of the expected number of uniques in a table of N units.

    Exact (paper, equation EstPopUnique1):

    .. math:: E(S_1) = N \frac{(\theta+\alpha)^{N-1\uparrow}}{(\theta+1)^{N-1\uparrow}}
        = N \frac{\Gamma(\theta+\alpha+N-1)\,\Gamma(\theta+1)}
        {\Gamma(\theta+\alpha)\,\Gamma(\theta+N)},

    asymptotic in N (paper, equation AsympEstPopUnique):
    :math:`\Gamma(\theta+1) / \Gamma(\theta+\alpha) \, N^\alpha`.

    Parameters
    ----------
    theta, alpha : float
        Strength and discount, 0 <= alpha < 1 and theta > -alpha.
    N : float
        Units of the table, from 1 to 1e30 and beyond; need not be an integer.
    exact : bool, optional
        Use the exact form.

    Returns
    -------
    float
        Natural logarithm of the expected number of cells with one unit.

    Raises
    ------
    ValueError
        When a parameter is out of its range.
    """
    _check_parameters("log_expected_uniques", theta, alpha, N)
    head = log_gamma_ratio(theta + alpha, 1 - alpha)
    if not exact:
        return head + alpha * math.log(N)
    return head + math.log(N) + log_gamma_ratio(theta + N, alpha - 1)


def expected_uniques(theta: float, alpha: float, N: float, exact: bool = False) -> float:
    """Return the expected number of uniques in a table of N units; see log_expected_uniques."""
    return math.exp(log_expected_uniques(theta, alpha, N, exact))


def unique_proportion(
    theta: float, alpha: float, s1: float, n: float, N: float, exact: bool = False
) -> float:
    r"""Return p-hat, the share of sample uniques that are population uniques, unclipped.

    .. math:: \hat p = \frac{\hat S_1}{s_1} \frac{n}{N}

    (paper, equation PropPopUnqSmpUnq, after Hoshino 2001). Only s1 / n enters, so a published ratio
    may be given with n = 1. The asymptotic form can exceed 1 where N is not large.

    Parameters
    ----------
    theta, alpha : float
        Strength and discount.
    s1, n : float
        Sample uniques and sample size, both positive.
    N : float
        Population size.
    exact : bool, optional
        Use the exact expectation of the population uniques.

    Raises
    ------
    ValueError
        When a parameter is out of its range.
    """
    if not (s1 > 0 and math.isfinite(s1)):
        raise parameter_error("unique_proportion", "s1", "a positive number", s1)
    if not (n > 0 and math.isfinite(n)):
        raise parameter_error("unique_proportion", "n", "a positive number", n)
    log_uniques = log_expected_uniques(theta, alpha, N, exact)
    return math.exp(log_uniques + math.log(n) - math.log(N) - math.log(s1))


def log_expected_sizes(theta: float, alpha: float, n: int, largest: int) -> np.ndarray:
    r"""Return log E(s_j), j = 1..largest, for a sample of n units.

    .. math:: E(s_j) = \binom{n}{j} (1-\alpha)^{j-1\uparrow}
        \frac{(\theta+\alpha)^{n-j\uparrow}}{(\theta+1)^{n-1\uparrow}}

    (first factorial moments of the Ewens-Pitman sampling formula; j = 1 is E(s_1)).

    Parameters
    ----------
    theta, alpha : float
        Strength and discount.
    n : int
        Units.
    largest : int
        Largest size, at least 1. Sizes above n have expectation 0 (logarithm ``-inf``).

    Returns
    -------
    numpy.ndarray, shape (largest,)
    """
    logs = np.full(largest, -np.inf)
    logs[0] = log_expected_uniques(theta, alpha, n, exact=True)
    for j in range(2, min(largest, n) + 1):
        # ratio of neighbours: E(s_j) / E(s_j-1) = (n-j+1)/j * (j-1-alpha) / (theta+alpha+n-j)
        logs[j - 1] = logs[j - 2] + math.log(
            (n - j + 1) / j * (j - 1 - alpha) / (theta + alpha + n - j)
        )
    return logs
