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


def log_factorial_moment(theta: float, alpha: float, n: int, order: int) -> float:
    r"""Return the logarithm of E[s_1 (s_1 - 1) .. (s_1 - r + 1)] in a table of n units, r = 1 or 2.

    By exchangeability it is n (n-1) .. (n-r+1) times the probability that the first r units are
    alone in their cells: they open r cells, and none of the later units joins any of these,

    .. math:: \prod_{i=1}^{r-1} \frac{\theta + i \alpha}{\theta + i}
        \prod_{i=r}^{n-1} \frac{\theta + i - r (1 - \alpha)}{\theta + i}.

    Parameters
    ----------
    theta, alpha : float
        Strength and discount.
    n : int
        Units, at least r.
    order : {1, 2}
        r.
    """
    loss = order * (1 - alpha)
    logs = [math.log(n - i) for i in range(order)]
    logs += [math.log((theta + i * alpha) / (theta + i)) for i in range(1, order)]
    logs += [log_gamma_ratio(theta + n, -loss), -log_gamma_ratio(theta + order, -loss)]
    return math.fsum(logs)


def log_stays_unique(theta: float, alpha: float, n: int, N: float) -> float:
    r"""Return the log of the probability that a sample unique stays unique in a table of N units.

    A later unit that comes when there are i joins a given cell of one unit with probability
    (1 - alpha) / (theta + i), so

    .. math:: \pi(N) = \prod_{i=n}^{N-1} \frac{\theta + i - 1 + \alpha}{\theta + i}
        = \frac{\Gamma(\theta+n)\,\Gamma(\theta+N-1+\alpha)}
               {\Gamma(\theta+n-1+\alpha)\,\Gamma(\theta+N)}.

    It is what the exact p-hat becomes with the expected number of sample uniques in place of the
    observed one. It grows with theta and with alpha.

    Parameters
    ----------
    theta, alpha : float
        Strength and discount.
    n : int
        Units of the sample.
    N : float
        Units of the larger table, at least n; up to 1e30 and beyond.
    """
    return log_gamma_ratio(theta + N, alpha - 1) - log_gamma_ratio(theta + n, alpha - 1)


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
