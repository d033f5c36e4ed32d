r"""Maximum likelihood for the Ewens-Pitman partition (paper, section 2.4.2; Hoshino 2001).

The data are the frequencies of frequencies of a table: s_j cells hold j units, n = sum j s_j units,
k = sum s_j cells. With discount 0 <= alpha < 1 and strength theta > -alpha,

.. math:: \log L(\theta, \alpha) = \sum_{i=1}^{k-1} \log(\theta + i\alpha)
          - \sum_{i=1}^{n-1} \log(\theta + i) + \sum_j s_j \sum_{i=1}^{j-1} \log(i - \alpha).

This is the exchangeable partition probability: the combinatorial constant of the sampling
formula, which holds no parameter, is left out. Every sum is a difference of (log-, di-, tri-) gamma
functions, so that the cost depends on the number of distinct sizes only, not on n or k.

Facts that the search relies on: for a fixed alpha the score in theta changes its sign once (from
plus to minus) when 1 < k < n; for a fixed theta log L is strictly concave in alpha; as alpha tends
to 1 log L tends to minus infinity when k < n. The maximum therefore exists whenever 1 < k < n. The
profile in alpha may have two modes in small, nearly unique tables, which is why it is scanned
before Newton's method starts.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import chdtri, gammaln, polygamma, psi
from scipy.stats import binom, chi2, norm

from nes_spark.errors import EstimationError, parameter_error
from nes_spark.risk.sizes import uniques_given_cells
from nes_spark.risk.special import log_gamma_ratio, log_sum, log_sum_slopes, log_sum_value
from nes_spark.risk.uniques import (
    expected_uniques,
    log_expected_sizes,
    log_expected_uniques,
    log_factorial_moment,
    log_stays_unique,
    unique_proportion,
)

if TYPE_CHECKING:
    import pandas as pd

_MAX_ITER = 200
#: Newton decrement (distance to the maximum in squared standard errors) at which one step is left.
_DECREMENT = 1e-14
_GRID = np.unique(
    np.concatenate([np.linspace(0.0, 0.95, 20), [0.005, 0.02], 1 - 10.0 ** -np.arange(2, 10)])
)
#: Significance below which the goodness of fit is reported as a misfit.
_MISFIT = 0.01


class BadTableError(EstimationError, ValueError):
    """The frequencies of frequencies are not a mapping of positive sizes to counts."""


class StandardErrors(NamedTuple):
    """Standard errors from the observed information; ``nan`` for alpha on its boundary 0."""

    theta: float
    alpha: float


class Interval(NamedTuple):
    """A closed interval."""

    low: float
    high: float


class Estimate(NamedTuple):
    """A figure with its interval."""

    value: float
    low: float
    high: float


class PHat(float):
    """p-hat: the share of sample uniques that are population uniques, as a number, unclipped.

    The asymptotic form can exceed 1; risk uses ``clipped``.

    Attributes
    ----------
    N : float
        Population size.
    clipped : float
        The value clipped to [0, 1], which enters DR.
    was_clipped : bool
        Whether clipping changed it.
    interval : Interval
        Confidence interval of the unclipped value (computed when first asked for).
    """

    N: float
    clipped: float
    was_clipped: bool
    _interval: Callable[[], Interval]

    def __new__(cls, value: float, N: float, interval: Callable[[], Interval]) -> PHat:
        """Wrap a value; the interval is evaluated on first use."""
        self = super().__new__(cls, value)
        self.N = N
        self.clipped = min(max(value, 0.0), 1.0)
        self.was_clipped = self.clipped != value
        self._interval = interval
        return self

    @property
    def interval(self) -> Interval:
        """Confidence interval of the unclipped value."""
        return self._interval()

    def __reduce__(self) -> tuple[type[float], tuple[float]]:
        return float, (float(self),)


@dataclass(frozen=True)
class GoodnessOfFit:
    """Observed against expected numbers of cells with 1, 2, .. units.

    Attributes
    ----------
    sizes : numpy.ndarray of int
        1, 2, ..
    observed, expected : numpy.ndarray
        s_j and its expectation at the estimates (``log_expected_sizes``).
    statistic, df, p_value : float, int, float
        Pearson's chi-square over these sizes and the class of larger ones, given the number of
        cells (expectations scaled to k); classes with an expected count below 5 are merged from the
        right. ``df`` is the number of classes less two (the total and alpha); where that leaves
        none, p_value is ``nan`` and nothing is claimed.
    fits : bool
        False when p_value or s1_p_value is below 0.01: the model does not describe the table.
    warning : str
        One sentence for a person when the model does not fit or p-hat cannot be relied on, else
        empty.
    s1_given_cells, s1_given_cells_sd : float
        Mean of the sample uniques given n and k at the estimated alpha, and the standard deviation
        of the difference from it, the estimation of alpha allowed for
        (:func:`nes_spark.risk.sizes.uniques_given_cells`).
    s1_p_value : float
        Two-sided, of the observed sample uniques against these; ``nan`` where fewer than 5 cells
        with one unit, or with more, are expected.
    s1_expected, s1_sd : float
        Mean and standard deviation of the sample uniques of n units, whatever the number of cells.
        Where theta is small that number varies a lot, and the mean need not be near what was
        observed although the model fits.
    p_hat_factor : float
        s1_expected over the observed sample uniques: p-hat is that factor times the probability
        that a sample unique stays unique.
    p_hat_holds : bool
        Whether that factor is 1 within the precision to which the model gives the sample uniques of
        so many cells (0.01 two-sided); else p-hat must not be used, stays_unique may.
    """

    sizes: np.ndarray
    observed: np.ndarray
    expected: np.ndarray
    statistic: float
    df: int
    p_value: float
    fits: bool
    warning: str
    s1_given_cells: float
    s1_given_cells_sd: float
    s1_p_value: float
    s1_expected: float
    s1_sd: float
    p_hat_factor: float
    p_hat_holds: bool


class _Point(NamedTuple):
    """log L at a point, its gradient and Hessian in (theta, alpha)."""

    value: float
    gradient: np.ndarray
    hessian: np.ndarray


class _Likelihood:
    """The log-likelihood of one table."""

    def __init__(self, sizes: np.ndarray, counts: np.ndarray) -> None:
        self.n = int(sum(int(j) * int(s) for j, s in zip(sizes, counts, strict=True)))
        self.k = int(sum(int(s) for s in counts))
        several = sizes >= 2
        self._j = sizes[several].astype(float)
        self._s = counts[several].astype(float)
        self._last_within = (math.nan, math.nan)

    def _within(self, alpha: float) -> tuple[float, float, float]:
        """``sum_j s_j sum_{i<j} log(i - alpha)`` and two derivatives (closed forms).

        The term i = 1 is kept apart: log(1 - alpha) is where alpha near 1 loses digits.
        """
        j, s = self._j, self._s
        value = s * (gammaln(j - alpha) - gammaln(2 - alpha) + math.log1p(-alpha))
        first = -s * (psi(j - alpha) - psi(2 - alpha) + 1 / (1 - alpha))
        second = -s * (polygamma(1, 2 - alpha) - polygamma(1, j - alpha) + 1 / (1 - alpha) ** 2)
        return math.fsum(value), math.fsum(first), math.fsum(second)

    def at(self, theta: float, alpha: float) -> _Point:
        """Evaluate; needs theta > -alpha and 0 <= alpha < 1."""
        cells = log_sum(theta, alpha, self.k)
        units = log_sum(theta, 1.0, self.n)
        within, d_within, dd_within = self._within(alpha)
        d_ab = cells.d_ab
        return _Point(
            math.fsum([cells.value, -units.value, within]),
            np.array([cells.d_a - units.d_a, cells.d_b + d_within]),
            np.array(
                [[cells.d_aa - units.d_aa, d_ab], [d_ab, cells.d_bb + dd_within]],
            ),
        )

    def in_logs(self, phi: float, alpha: float) -> _Point:
        """Evaluate in (phi, alpha) with phi = log(theta + alpha), which is unbounded."""
        u = math.exp(phi)
        value, g, h = self.at(u - alpha, alpha)
        cross = u * (h[0, 1] - h[0, 0])
        return _Point(
            value,
            np.array([u * g[0], g[1] - g[0]]),
            np.array(
                [
                    [u * u * h[0, 0] + u * g[0], cross],
                    [cross, h[1, 1] - 2 * h[0, 1] + h[0, 0]],
                ]
            ),
        )

    def value_in_logs(self, phi: float, alpha: float) -> float:
        """Return the value of :meth:`in_logs` alone, to the bit: searches need no derivatives."""
        theta = math.exp(phi) - alpha
        if self._last_within[0] != alpha:
            j, s = self._j, self._s
            value = s * (gammaln(j - alpha) - gammaln(2 - alpha) + math.log1p(-alpha))
            self._last_within = (alpha, math.fsum(value))
        return math.fsum(
            [
                log_sum_value(theta, alpha, self.k),
                -log_sum_value(theta, 1.0, self.n),
                self._last_within[1],
            ]
        )

    def best_phi(self, alpha: float, start: float) -> tuple[float, float]:
        """Maximise over phi for a fixed alpha; return (phi, log L)."""

        def score(phi: float) -> tuple[float, float]:
            # the first entries of gradient and Hessian of in_logs, to the bit
            u = math.exp(phi)
            cells = log_sum_slopes(u - alpha, alpha, self.k)
            units = log_sum_slopes(u - alpha, 1.0, self.n)
            slope, curvature = cells[0] - units[0], cells[1] - units[1]
            return u * slope, u * u * curvature + u * slope

        phi = _falling_root(score, start)
        return phi, self.value_in_logs(phi, alpha)

    def best_alpha(self, theta: float, start: float) -> tuple[float, float]:
        """Maximise over alpha for a fixed theta (strictly concave); return (alpha, log L)."""
        low = max(0.0, -theta)
        high = 1.0
        if low == 0.0 and theta > 0 and self.at(theta, 0.0).gradient[1] <= 0:
            return 0.0, self.at(theta, 0.0).value
        alpha = start if low < start < high else (low + high) / 2
        for _ in range(_MAX_ITER):
            point = self.at(theta, alpha)
            slope, curvature = float(point.gradient[1]), float(point.hessian[1, 1])
            if slope > 0:
                low = alpha
            else:
                high = alpha
            step = alpha - slope / curvature
            new = step if low < step < high else (low + high) / 2
            if abs(new - alpha) <= 1e-15 * alpha or new in (low, high):
                break
            alpha = new
        return alpha, self.at(theta, alpha).value


def _falling_root(function: Callable[[float], tuple[float, float]], start: float) -> float:
    """Return the root of a function that falls through zero once, by bracketed Newton steps."""
    x = start
    value, slope = function(x)
    low, high = -math.inf, math.inf
    reach = 1.0
    for _ in range(_MAX_ITER):
        if value > 0:
            low = x
        elif value < 0:
            high = x
        else:
            return x
        newton = x - value / slope if slope < 0 else math.nan
        if math.isinf(low) or math.isinf(high):
            # not bracketed yet: walk uphill, by Newton where it is a modest step
            direction = 1.0 if value > 0 else -1.0
            new = newton if abs(newton - x) <= reach else x + direction * reach
            reach *= 2
        else:
            new = newton if low < newton < high else (low + high) / 2
        if abs(new - x) <= 4e-16 * max(1.0, abs(x)):
            return new
        x = new
        value, slope = function(x)
    return x


def _read(sizes: Mapping[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Validate {size: count}; return sizes in rising order and their counts, zeros dropped."""
    if not isinstance(sizes, Mapping):
        raise BadTableError(
            "fit_ewens_pitman needs a mapping from size to number of cells, "
            f"got {type(sizes).__name__}",
            "bad_input",
        )
    pairs = []
    for size, count in sizes.items():
        try:
            j, s = operator.index(size), operator.index(count)
        except TypeError:
            raise BadTableError(
                f"sizes and counts must be integers, got {size!r}: {count!r}", "bad_input"
            ) from None
        if isinstance(size, bool) or isinstance(count, bool) or j < 1 or s < 0:
            raise BadTableError(
                f"sizes must be at least 1 and counts at least 0, got {size!r}: {count!r}",
                "bad_input",
            )
        if s:
            pairs.append((j, s))
    pairs.sort()
    return (
        np.array([j for j, _ in pairs], dtype=np.int64),
        np.array([s for _, s in pairs], dtype=np.int64),
    )


def _refuse_degenerate(n: int, k: int, s1: int) -> None:
    if n == 0:
        raise EstimationError("the table is empty: there is nothing to estimate", "empty_table")
    if n == 1:
        raise EstimationError("the table has a single unit (n = 1)", "single_unit")
    if k == 1:
        raise EstimationError(
            f"all {n} units are in one cell: theta and alpha are not identified", "one_cell"
        )
    if k == n:
        raise EstimationError(
            f"all {n} units are unique: the likelihood has no maximum", "all_uniques"
        )
    if s1 == 0:
        raise EstimationError(
            "the table has no sample uniques: p-hat divides by zero", "no_sample_uniques"
        )


@dataclass(frozen=True)
class EwensPitmanFit:
    """Maximum likelihood estimates for one table.

    Attributes
    ----------
    theta, alpha : float
        Strength (> -alpha) and discount (in [0, 1)).
    log_likelihood : float
        Log of the exchangeable partition probability at the estimates.
    standard_errors : StandardErrors
        Of theta and alpha, from the observed information. On the boundary alpha = 0 that of theta
        is conditional on alpha = 0 and that of alpha is ``nan``: use :attr:`alpha_interval`.
    covariance : numpy.ndarray, shape (2, 2)
        Inverse observed information of (theta, alpha); zero row and column for a boundary alpha.
    n, k, s1 : int
        Units, cells, sample uniques.
    sizes : dict of int to int
        The table, sizes in rising order.
    converged : bool
        Always True: a fit that does not converge raises.
    boundary : bool
        Whether alpha = 0 (the Ewens model) is the maximum.
    n_iter : int
        Newton steps of the final ascent.
    """

    theta: float
    alpha: float
    log_likelihood: float
    standard_errors: StandardErrors
    covariance: np.ndarray = field(repr=False)
    n: int
    k: int
    s1: int
    sizes: dict[int, int] = field(repr=False)
    converged: bool
    boundary: bool
    n_iter: int

    def _facts(self) -> list[tuple[str, object]]:
        errors = self.standard_errors
        low, high = self.alpha_interval.low, self.alpha_interval.high
        return [
            ("theta", f"{self.theta:.4g} (standard error {errors.theta:.3g})"),
            (
                "alpha",
                f"{self.alpha:.4f} (standard error {errors.alpha:.3g}; 95 % {low:.3f} to "
                f"{high:.3f})",
            ),
            ("units, cells, sample uniques", f"{self.n:,}, {self.k:,}, {self.s1:,}"),
            ("log-likelihood", f"{self.log_likelihood:,.2f}"),
        ]

    def summary(self) -> str:
        """Return the estimates with their uncertainty, in lines."""
        from nes_spark.showing import lines

        return lines("Ewens-Pitman fit", self._facts())

    def to_frame(self) -> pd.DataFrame:
        """Return one row a parameter: estimate, standard error, 95 % profile interval."""
        import pandas as pd

        rows = [
            (name, getattr(self, name), getattr(self.standard_errors, name), found.low, found.high)
            for name, found in (("theta", self.theta_interval), ("alpha", self.alpha_interval))
        ]
        columns = ["parameter", "estimate", "standard_error", "low", "high"]
        return pd.DataFrame(rows, columns=columns).set_index("parameter")

    def _repr_html_(self) -> str:
        from nes_spark.showing import table

        return table("Ewens-Pitman fit", self._facts())

    @cached_property
    def _likelihood(self) -> _Likelihood:
        return _Likelihood(*_read(self.sizes))

    def _drop(self, log_likelihood: float, level: float) -> float:
        """Positive outside the likelihood region of the level, negative inside."""
        return 2 * (self.log_likelihood - log_likelihood) - float(chdtri(1, 1 - level))

    def _phi(self) -> float:
        return math.log(self.theta + self.alpha)

    def profile_interval(self, parameter: str, level: float = 0.95) -> Interval:
        """Return the profile-likelihood interval of ``"theta"`` or ``"alpha"``.

        The set of values whose profile log-likelihood is within half the chi-square quantile (one
        degree of freedom) of the maximum. For alpha it ends at 0 when 0 is inside.

        Raises
        ------
        ValueError
            For another parameter name or a level outside (0, 1).
        """
        _check_level("profile_interval", level)
        if parameter == "alpha":
            return self._alpha_profile(level)
        if parameter == "theta":
            return self._theta_profile(level)
        raise parameter_error("profile_interval", "parameter", "'theta' or 'alpha'", parameter)

    @cached_property
    def _alpha_profiles(self) -> dict[float, Interval]:
        return {}

    def _alpha_profile(self, level: float) -> Interval:
        if level not in self._alpha_profiles:
            self._alpha_profiles[level] = self._find_alpha_profile(level)
        return self._alpha_profiles[level]

    def _find_alpha_profile(self, level: float) -> Interval:
        def drop(alpha: float) -> float:
            return self._drop(self._likelihood.best_phi(alpha, self._phi())[1], level)

        low = 0.0
        if self.alpha > 0 and drop(0.0) > 0:
            low = brentq(drop, 0.0, self.alpha, xtol=1e-13)
        outside = (1 + self.alpha) / 2
        while drop(outside) < 0:
            outside = (1 + outside) / 2
        return Interval(low, brentq(drop, self.alpha, outside, xtol=1e-13))

    def _theta_profile(self, level: float) -> Interval:
        # log1p(theta) is unbounded below as theta tends to -1, the least value alpha < 1 allows
        def drop(w: float) -> float:
            theta = math.expm1(w)
            return self._drop(self._likelihood.best_alpha(theta, self.alpha)[1], level)

        centre = math.log1p(self.theta)
        ends = []
        for direction in (-1.0, 1.0):
            reach = 0.1
            while drop(centre + direction * reach) < 0:
                reach *= 2
            ends.append(math.expm1(brentq(drop, centre, centre + direction * reach, xtol=1e-13)))
        return Interval(*ends)

    @cached_property
    def alpha_interval(self) -> Interval:
        """95% profile-likelihood interval of alpha."""
        return self.profile_interval("alpha")

    @cached_property
    def theta_interval(self) -> Interval:
        """95% profile-likelihood interval of theta."""
        return self.profile_interval("theta")

    def population_uniques(self, N: float, exact: bool = False) -> float:
        """Return the expected number of uniques in a population of N units.

        Parameters
        ----------
        N : float
            Population size, at least n.
        exact : bool, optional
            Exact expectation instead of the form for large N (see ``log_expected_uniques``).

        Returns
        -------
        float

        Raises
        ------
        ValueError
            When N is below n or not finite.
        """
        self._check_population("population_uniques", N)
        return expected_uniques(self.theta, self.alpha, N, exact)

    def p_hat(
        self, N: float, exact: bool = False, level: float = 0.95, method: str = "profile"
    ) -> PHat:
        """Return p-hat, the share of sample uniques that are population uniques.

        Parameters
        ----------
        N : float
            Population size, at least n.
        exact : bool, optional
            Use the exact expectation of the population uniques; the paper uses the asymptotic one.
        level : float, optional
            Confidence level of ``.interval``.
        method : {"profile", "delta"}, optional
            How ``.interval`` is made: profile likelihood, or the delta method on log p-hat.

        Returns
        -------
        PHat
            A float (unclipped) with ``.clipped``, ``.was_clipped`` and ``.interval``.

        Raises
        ------
        ValueError
            When a parameter is out of its range.
        """
        self._check_population("p_hat", N)
        _check_level("p_hat", level)
        _check_method("p_hat", method)
        value = unique_proportion(self.theta, self.alpha, self.s1, self.n, N, exact)
        make = self._profile_p_hat if method == "profile" else self._delta_p_hat
        return PHat(value, N, lambda: make(N, exact, level))

    def _check_population(self, owner: str, N: float) -> None:
        if not (isinstance(N, (int, float, np.integer, np.floating)) and self.n <= N < math.inf):
            raise parameter_error(owner, "N", f"a finite number, at least n = {self.n}", N)

    def _log_p(self, theta: float, alpha: float, N: float, exact: bool) -> float:
        scale = math.log(self.n) - math.log(self.s1) - math.log(N)
        return log_expected_uniques(theta, alpha, N, exact) + scale

    def _delta_p_hat(self, N: float, exact: bool, level: float) -> Interval:
        """Delta method on log p-hat: gradient in closed form, variance from the covariance."""
        theta, alpha = self.theta, self.alpha
        d_theta = float(psi(theta + 1) - psi(theta + alpha))
        d_alpha = math.log(N) - float(psi(theta + alpha))
        if exact:
            d_theta += float(psi(theta + alpha + N - 1) - psi(theta + N))
            d_alpha += float(psi(theta + alpha + N - 1)) - math.log(N)
        gradient = np.array([d_theta, d_alpha])
        half = math.sqrt(chi2.ppf(level, 1) * float(gradient @ self.covariance @ gradient))
        centre = self._log_p(theta, alpha, N, exact)
        return Interval(math.exp(centre - half), math.exp(centre + half))

    def _profile_p_hat(self, N: float, exact: bool, level: float) -> Interval:
        low, high = self._over_region(lambda t, a: self._log_p(t, a, N, exact), level)
        return Interval(math.exp(low), math.exp(high))

    def stays_unique(self, N: float, level: float = 0.95, method: str = "profile") -> Estimate:
        """Return the probability that a sample unique stays unique in a table of N units.

        Unlike p-hat it lies in [0, 1] by construction and does not carry the difference between the
        observed and the expected number of sample uniques; see
        :func:`nes_spark.risk.uniques.log_stays_unique`.

        Parameters
        ----------
        N : float
            Units of the larger table that the sample is part of, at least n; up to 1e30 and beyond.
        level : float, optional
            Confidence level.
        method : {"profile", "delta"}, optional
            The interval: the range over the likelihood region (also right at the boundary
            alpha = 0), or the delta method on the log, cut off at 1.

        Returns
        -------
        Estimate
            ``value, low, high``; 1 without width for N = n.

        Raises
        ------
        ValueError
            When a parameter is out of its range.
        """
        self._check_population("stays_unique", N)
        _check_level("stays_unique", level)
        _check_method("stays_unique", method)
        n = self.n
        centre = log_stays_unique(self.theta, self.alpha, n, N)
        if n == N:
            return Estimate(1.0, 1.0, 1.0)
        if method == "profile":
            low, high = self._over_region(lambda t, a: log_stays_unique(t, a, n, N), level)
            low, high = min(low, centre), max(high, centre)
        else:
            theta, alpha = self.theta, self.alpha
            d_alpha = float(psi(theta + N - 1 + alpha) - psi(theta + n - 1 + alpha))
            d_theta = d_alpha + float(psi(theta + n) - psi(theta + N))
            gradient = np.array([d_theta, d_alpha])
            variance = float(gradient @ self.covariance @ gradient)
            half = math.sqrt(float(chi2.ppf(level, 1)) * variance)
            low, high = centre - half, centre + half
        return Estimate(*(min(math.exp(v), 1.0) for v in (centre, low, high)))

    def predict_staying(self, N: float, level: float = 0.95) -> Estimate:
        """Predict how many of the sample uniques stay unique in a table of N units.

        The number is binomial given the probability pi(N), and log pi(N) is normal around its
        estimate, with a spread on each side that gives the ends of its profile interval; the
        mixture is summed over a grid of normal quantiles. Sample uniques exclude each other a
        little (a unit joins one cell only), which makes the interval a little too wide.

        Parameters
        ----------
        N, level
            As for :meth:`stays_unique`.

        Returns
        -------
        Estimate
            s_1 pi(N), and a prediction interval in whole numbers.
        """
        found = self.stays_unique(N, level)
        tail = (1 - level) / 2
        steps = 400
        z = norm.ppf((np.arange(steps) + 0.5) / steps)
        reach = float(norm.ppf(1 - tail))
        sides = [math.log(max(v, 1e-300)) for v in found]
        spread = np.where(z < 0, sides[0] - sides[1], sides[2] - sides[0]) / reach
        chance = np.exp(np.minimum(sides[0] + spread * z, 0.0))

        def below(u: int) -> float:
            return float(binom.cdf(u, self.s1, chance).mean())

        return Estimate(
            self.s1 * found.value,
            float(_least(lambda u: below(u) > tail, self.s1)),
            float(_least(lambda u: below(u) >= 1 - tail, self.s1)),
        )

    @cached_property
    def _rims(self) -> dict[tuple[float, float, float], float]:
        return {}

    def _rim(self, alpha: float, direction: float, level: float) -> float:
        """Return phi where log L crosses the level for an alpha, below or above its maximum.

        Kept: every figure and population size asks for mostly the same.
        """
        key = (alpha, direction, level)
        if key not in self._rims:
            like = self._likelihood
            phi, top = like.best_phi(alpha, self._phi())
            if self._drop(top, level) < 0:
                best, reach = phi, 0.1

                def drop(phi: float) -> float:
                    return self._drop(like.value_in_logs(phi, alpha), level)

                while drop(best + direction * reach) < 0:
                    reach *= 2
                phi = brentq(drop, best, best + direction * reach, xtol=1e-12)
            self._rims[key] = phi
        return self._rims[key]

    def _over_region(self, figure: Callable[[float, float], float], level: float) -> Interval:
        """Smallest and largest value of a figure of (theta, alpha) inside the likelihood region.

        The figure grows with theta for a fixed alpha, so its extremes lie on the rim: for each
        alpha of alpha's own interval the two thetas where log L crosses the level.
        """
        lowest, highest = self._alpha_profile(level)

        def rim(alpha: float, direction: float) -> float:
            return figure(math.exp(self._rim(alpha, direction, level)) - alpha, alpha)

        ends = []
        for direction in (-1.0, 1.0):
            grid = np.linspace(lowest, highest, 9)
            values = [direction * rim(a, direction) for a in grid]
            top = int(np.argmax(values))
            found = minimize_scalar(
                lambda a, d=direction: -d * rim(a, d),
                bounds=(grid[max(top - 1, 0)], grid[min(top + 1, len(grid) - 1)]),
                method="bounded",
                # the figure is flat at its extreme: an error of 1e-6 there is one of 1e-12 in it
                options={"xatol": 1e-6},
            )
            ends.append(direction * max(values[top], -float(found.fun)))
        return Interval(*ends)

    def goodness_of_fit(self, largest: int = 5) -> GoodnessOfFit:
        """Compare s_1..s_largest with their expectations; see :class:`GoodnessOfFit`.

        Raises
        ------
        ValueError
            When ``largest`` is not a positive integer.
        """
        if not isinstance(largest, int) or isinstance(largest, bool) or largest < 1:
            raise parameter_error("goodness_of_fit", "largest", "a positive integer", largest)
        observed = np.array([self.sizes.get(j, 0) for j in range(1, largest + 1)])
        expected = np.exp(log_expected_sizes(self.theta, self.alpha, self.n, largest))
        # Given the number of cells: at small theta it varies a lot, and says nothing about the fit.
        cells = self._expected_cells()
        scale = self.k / cells
        # the last class takes all larger sizes
        o = [*observed.astype(float), float(self.k - observed.sum())]
        e = [*(expected * scale), max(cells - float(expected.sum()), 0.0) * scale]
        while len(e) > 1 and e[-1] < 5:
            o[-2:], e[-2:] = [o[-2] + o[-1]], [e[-2] + e[-1]]
        statistic = float(sum((a - b) ** 2 / b for a, b in zip(o, e, strict=True)))
        df = len(e) - 2
        p_value = float(chi2.sf(statistic, df)) if df > 0 else math.nan
        given = uniques_given_cells(self.alpha, self.n, self.k)
        # a number of cells is whole: with the continuity correction
        away = max(abs(self.s1 - given.mean) - 0.5, 0.0)
        # at the boundary alpha did not follow the table
        sd = given.sd if self.boundary else given.sd_fitted
        s1_p_value = math.nan
        if min(given.mean, self.k - given.mean) >= 5:
            s1_p_value = float(2 * norm.sf(away / sd)) if sd > 0 else float(away == 0)
        s1_expected, s1_sd = self._expected_uniques()
        limit = float(norm.isf(_MISFIT / 2)) * max(given.sd, 1.0)
        p_hat_holds = abs(s1_expected - self.s1) <= limit
        fits = not (p_value < _MISFIT or s1_p_value < _MISFIT)
        warning = ""
        if p_value < _MISFIT:
            worst = int(np.argmax([abs(a - b) / math.sqrt(b) for a, b in zip(o, e, strict=True)]))
            label = f"s_{worst + 1}" if worst < len(e) - 1 else f"cells of {worst + 1} and more"
            warning = (
                f"the Ewens-Pitman model does not fit this table (chi-square {statistic:.1f} on "
                f"{df} degrees of freedom, p = {p_value:.2g}; farthest off: {label}, "
                f"{o[worst]:.0f} observed, {e[worst]:.1f} expected): do not rely on p-hat"
            )
        elif s1_p_value < _MISFIT:
            warning = (
                "the Ewens-Pitman model does not fit the sample uniques of this table "
                f"({self.s1} observed, {given.mean:.1f} with standard deviation {sd:.1f} expected "
                f"of {self.k} cells, p = {s1_p_value:.2g}): do not rely on p-hat"
            )
        elif not p_hat_holds:
            warning = (
                f"the model expects {s1_expected:.4g} sample uniques of {self.n} units, "
                f"{s1_expected / self.s1:.3g} times the {self.s1} observed, and p-hat carries that "
                "factor: do not rely on p-hat; the probability of staying unique is free of it"
            )
        return GoodnessOfFit(
            np.arange(1, largest + 1),
            observed,
            expected,
            statistic,
            df,
            p_value,
            fits,
            warning,
            given.mean,
            sd,
            s1_p_value,
            s1_expected,
            s1_sd,
            s1_expected / self.s1,
            p_hat_holds,
        )

    def _expected_uniques(self) -> tuple[float, float]:
        """Mean and standard deviation of the sample uniques of n units."""
        mean = math.exp(log_factorial_moment(self.theta, self.alpha, self.n, 1))
        pairs = math.exp(log_factorial_moment(self.theta, self.alpha, self.n, 2))
        return mean, math.sqrt(max(pairs + mean - mean * mean, 0.0))

    def _expected_cells(self) -> float:
        """E(K) = theta/alpha (P - 1), P = (theta+alpha)_n / (theta)_n in rising factorials."""
        theta, alpha, n = self.theta, self.alpha, self.n
        if alpha == 0.0:
            return theta * (log_sum(theta, 1.0, n).d_a + 1 / theta)
        if theta > 0:
            log_prod = log_gamma_ratio(theta + n, alpha) - log_gamma_ratio(theta, alpha)
            return theta / alpha * math.expm1(log_prod)
        log_prod = log_gamma_ratio(theta + n, alpha) + log_gamma_ratio(theta + alpha, 1 - alpha)
        return (math.exp(log_prod) - theta) / alpha


def _least(holds: Callable[[int], bool], most: int) -> int:
    """Return the least whole number from 0 to `most` for which a monotone condition holds."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _check_level(owner: str, level: float) -> None:
    if not 0 < level < 1:
        raise parameter_error(owner, "level", "a number in (0, 1)", level)


def _check_method(owner: str, method: str) -> None:
    if method not in ("profile", "delta"):
        raise parameter_error(owner, "method", "'profile' or 'delta'", method)


def _solve(hessian: np.ndarray, gradient: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the ascent step and whether it is Newton's own (the Hessian negative definite)."""
    information = -hessian
    scale = np.sqrt(np.maximum(np.abs(np.diag(information)), 1e-300))
    scaled = information / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(scaled)
    newton = bool(values[0] > 1e-14)
    if not newton:
        values = np.maximum(np.abs(values), 1e-3)
    return (vectors @ ((vectors.T @ (gradient / scale)) / values)) / scale, newton


def _ascend(like: _Likelihood, phi: float, alpha: float) -> tuple[float, float, _Point, int]:
    """Newton-Raphson in (phi, alpha) from a start, alpha kept in [0, 1).

    Safeguards: where the Hessian is not negative definite its eigenvalues are reversed and bounded;
    steps are halved until the likelihood rises; alpha = 0 is held while its score is not positive.
    """
    point = like.in_logs(phi, alpha)
    for iteration in range(1, _MAX_ITER + 1):
        held = alpha == 0.0 and point.gradient[1] <= 0
        free = slice(0, 1) if held else slice(0, 2)
        step = np.zeros(2)
        step[free], newton = _solve(point.hessian[free, free], point.gradient[free])
        decrement = float(point.gradient @ step)
        if newton and decrement <= _DECREMENT and 0 <= alpha + step[1] < 1:
            # convergence is quadratic: this last step leaves only rounding errors
            phi, alpha = phi + step[0], alpha + step[1]
            return phi, alpha, like.in_logs(phi, alpha), iteration
        # stay below 1, and move the scale by no more than a factor e^4 a step
        length = min(1.0, 4.0 / max(abs(step[0]), 1e-300))
        if step[1] > 0:
            length = min(length, 0.9 * (1 - alpha) / step[1])
        noise = 1e-14 * (abs(point.value) + like.n * math.log(like.n + math.exp(phi)))
        for _ in range(60):
            new_phi, new_alpha = phi + length * step[0], max(alpha + length * step[1], 0.0)
            trial = like.in_logs(new_phi, new_alpha)
            if trial.value > point.value or (
                # near the top the gain is below the rounding error of the likelihood: trust Newton
                newton and decrement < noise and trial.value > point.value - noise
            ):
                break
            length /= 2
        else:
            break
        moved = abs(new_phi - phi) + abs(new_alpha - alpha)
        phi, alpha, point = new_phi, new_alpha, trial
        if newton and decrement <= 1e-10 and moved <= 4e-16 * (1 + abs(phi)):
            return phi, alpha, point, iteration
    raise EstimationError(
        f"the Ewens-Pitman fit did not converge in {_MAX_ITER} Newton steps "
        f"(n = {like.n}, k = {like.k})",
        "not_converged",
    )


def fit_ewens_pitman(sizes: Mapping[int, int]) -> EwensPitmanFit:
    """Fit the Ewens-Pitman model to frequencies of frequencies by maximum likelihood.

    The profile likelihood in alpha is scanned on a grid, then Newton-Raphson with analytic gradient
    and Hessian climbs from each local maximum of the scan; the highest is returned. The time does
    not grow with n or k, and linearly with the number of distinct sizes.

    Parameters
    ----------
    sizes : mapping of int to int
        Size j -> s_j, the number of cells with j units. Zero counts are ignored.

    Returns
    -------
    EwensPitmanFit

    Raises
    ------
    EstimationError
        With ``reason`` ``empty_table``, ``single_unit`` (n = 1), ``one_cell``, ``all_uniques``,
        ``no_sample_uniques``, ``not_converged``, or ``bad_input`` (then it is a ValueError too).

    Examples
    --------
    >>> fit = fit_ewens_pitman({1: 50, 2: 14, 3: 6, 4: 3, 7: 2, 11: 1})
    >>> fit.converged, fit.n, fit.k, fit.s1
    (True, 133, 76, 50)
    """
    js, counts = _read(sizes)
    like = _Likelihood(js, counts)
    s1 = int(counts[0]) if len(js) and js[0] == 1 else 0
    _refuse_degenerate(like.n, like.k, s1)
    profile = []
    phi = 0.0
    for alpha in _GRID:
        phi, value = like.best_phi(float(alpha), phi)
        profile.append((value, phi, float(alpha)))
    values = np.array([-np.inf, *(v for v, _, _ in profile), -np.inf])
    modes = np.flatnonzero((values[1:-1] >= values[:-2]) & (values[1:-1] >= values[2:]))
    best: tuple[float, float, _Point, int] | None = None
    for mode in modes:
        found = _ascend(like, *profile[mode][1:])
        if best is None or found[2].value > best[2].value:
            best = found
    if best is None or best[2].value < values.max() - 1e-9 * abs(values.max()):
        raise EstimationError(
            "the Ewens-Pitman fit lost the maximum it started at", "not_converged"
        )
    phi, alpha, iterations = float(best[0]), float(best[1]), best[3]
    theta = math.exp(phi) - alpha
    point = like.at(theta, alpha)
    boundary = alpha == 0.0
    covariance = _covariance(like.in_logs(phi, alpha), math.exp(phi), boundary)
    errors = np.sqrt(np.diag(covariance))
    return EwensPitmanFit(
        theta=theta,
        alpha=alpha,
        log_likelihood=point.value,
        standard_errors=StandardErrors(
            float(errors[0]), math.nan if boundary else float(errors[1])
        ),
        covariance=covariance,
        n=like.n,
        k=like.k,
        s1=s1,
        sizes={int(j): int(s) for j, s in zip(js, counts, strict=True)},
        converged=True,
        boundary=boundary,
        n_iter=iterations,
    )


def _covariance(point: _Point, u: float, boundary: bool) -> np.ndarray:
    """Inverse observed information of (theta, alpha), inverted in (phi, alpha) for its scale."""
    if boundary:
        # theta = u on the boundary: d2/dtheta2 = (d2/dphi2 - d/dphi) / u^2, and d/dphi = 0 here
        return np.array([[u * u / -point.hessian[0, 0], 0.0], [0.0, 0.0]])
    jacobian = np.array([[u, -1.0], [0.0, 1.0]])
    return jacobian @ np.linalg.inv(-point.hessian) @ jacobian.T


def simulate_partition(
    n: int, theta: float, alpha: float, rng: np.random.Generator
) -> dict[int, int]:
    """Draw frequencies of frequencies of n units from the Ewens-Pitman model.

    Units come one by one (Pitman's Chinese restaurant): with k cells among i units, the next opens
    a cell with probability (theta + k alpha) / (theta + i), else joins a cell with probability
    proportional to its count less alpha. For simulation studies and parametric bootstraps.

    Parameters
    ----------
    n : int
        Units.
    theta, alpha : float
        Strength and discount.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    dict of int to int
        Size -> number of cells, sizes in rising order.
    """
    counts = [1]
    later: list[int] = []  # the cell of every unit that joined an existing one
    draws = rng.random((n, 2))
    for i in range(1, n):
        k = len(counts)
        if draws[i, 0] * (theta + i) < theta + k * alpha:
            counts.append(1)
            continue
        # count - alpha = (count - 1) + (1 - alpha): a later unit's cell, or any cell evenly
        place = draws[i, 1] * (i - k * alpha)
        cell = later[int(place)] if place < i - k else int((place - (i - k)) / (1 - alpha))
        cell = min(cell, k - 1)
        counts[cell] += 1
        later.append(cell)
    sizes, number = np.unique(counts, return_counts=True)
    return {int(j): int(s) for j, s in zip(sizes, number, strict=True)}
