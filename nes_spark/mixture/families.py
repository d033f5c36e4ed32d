r"""Densities on the unit sphere: Poisson kernel (``pkb``), spherical Cauchy, von Mises-Fisher.

All densities are relative to the uniform distribution, so that ``log f = 0`` means "as likely as
under no structure at all" and values stay moderate when the dimension d is large. With x and mu
unit vectors in R^d, 0 <= rho < 1 and u = ||x - rho mu||^2 = 1 + rho^2 - 2 rho mu'x:

* ``pkb``: f = (1 - rho^2) / u^(d/2) (paper, section 2.2.2; Golzy and Markatou 2020),
* ``spcauchy``: f = ((1 - rho^2) / u)^(d-1) (paper, section 2.2.2; Kato and McCullagh 2020),
* ``vmf``: f = exp(kappa mu'x) / H(kappa) with H(kappa) = Gamma(nu+1) (2/kappa)^nu I_nu(kappa),
  nu = d/2 - 1 (Mardia and Jupp 2000, section 9.3.2).

A family holds what is specific to it in the EM algorithm: the log density, the weight w that a
point carries in the statistics, and the update of the concentration. The algorithm itself is in
:mod:`nes_spark.mixture.em`, once.

**The minorise-maximise update.** With responsibilities b fixed, the expected log-likelihood of one
component of the first two families is, up to constants and with N = sum b,

    Q(mu, rho) = A N log(1 - rho^2) - B sum_i b_i log u_i(mu, rho),

(A, B) = (1, d/2) for ``pkb`` and (d-1, d-1) for ``spcauchy``. -log is convex, hence above its
tangent at the present u_i^t: -log u_i >= -log u_i^t - (u_i - u_i^t) / u_i^t. With
w_i = b_i / u_i^t, W = sum w, S = sum w x this gives the minoriser, equal to Q at the present
parameters,

    q(mu, rho) = A N log(1 - rho^2) - B [(1 + rho^2) W - 2 rho mu'S] + const.

It is maximal in mu at mu = S / |S|, and then strictly concave in rho, with the only root of

    (A/B) N rho / (1 - rho^2) + W rho - |S| = 0,       A/B = 2/d (pkb) or 1 (spcauchy),

in [0, |S|/W]. q <= Q with equality at the present parameters, so Q and with it the likelihood
cannot fall; one pass over the data gives N, W and S. Because q is concave in rho, capping the root
at a ceiling maximises q on the admissible interval and keeps that property. For ``vmf`` w = b, and
the M-step is exact: A_d(kappa) = I_{nu+1}(kappa) / I_nu(kappa) = |S| / N.

Concentrations have a *radius* in [0, 1): rho itself, and A_d(kappa) for ``vmf``. Ceilings and the
acceleration work on radii, where all three families look alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from nes_spark.errors import ConfigError

Array = NDArray[np.float64]

#: Largest radius of a component. The likelihood is unbounded when a component closes on one point
#: (paper, section 2.2.3), and text embeddings carry no information on this scale.
MAX_RADIUS = 1.0 - 1e-6


#: From this radius on, points very near the mean get their distance computed directly.
_SHARP = 0.999


class Family(ABC):
    """What the EM algorithm needs to know of a density family.

    A family is one class with a ``name``, in :data:`FAMILIES`; nothing else knows of it.
    """

    name: str = ""

    @abstractmethod
    def log_density(
        self, deficit: Array, concentrations: Array, d: int
    ) -> tuple[Array, Array | None]:
        """Return log densities (K, n) and u (K, n), or None where the weight of a point is b.

        Parameters
        ----------
        deficit : ndarray of shape (K, n)
            1 - mu_k'x_i; may be overwritten.
        concentrations : ndarray of shape (K,)
        d : int
            Dimension of the vectors.
        """

    def sharp(self, concentrations: Array) -> NDArray[np.bool_]:
        """Return for which components (K,) the density turns on the last digits of 1 - mu'x.

        For them 1 - mu'x is computed without cancellation. None by default: right where
        log f is a smooth function of mu'x, as it is not where log u tends to minus infinity.
        """
        return np.zeros(len(concentrations), dtype=np.bool_)

    @abstractmethod
    def update(self, mass: Array, weight: Array, length: Array, d: int, max_radius: float) -> Array:
        """Return concentrations (K,) from N, W and |S|, each (K,), below the ceiling."""

    @abstractmethod
    def start(self, resultant: Array, d: int, max_radius: float) -> Array:
        """Return concentrations (K,) from mean resultant lengths in [0, 1]."""

    @abstractmethod
    def radius(self, concentrations: Array, d: int) -> Array:
        """Return radii in [0, 1), increasing in the concentration."""

    @abstractmethod
    def from_radius(self, radius: Array, d: int) -> Array:
        """Return concentrations (K,); the inverse of :meth:`radius`."""

    @abstractmethod
    def sample_cosine(
        self, n: int, concentration: float, d: int, rng: np.random.Generator
    ) -> Array:
        """Return n draws of mu'x under one component."""


def _root(ratio: float, mass: Array, weight: Array, length: Array, ceiling: float) -> Array:
    """Solve ratio N rho / (1 - rho^2) + W rho = |S| for rho in [0, ceiling], by component.

    Newton steps inside a bracket that shrinks at every step; where a step leaves the bracket it is
    halved instead. The left side increases from 0 without bound on [0, 1), so the root is unique.
    """
    positive = mass > 0
    n = np.where(positive, mass, 1.0)
    w = np.where(positive, weight / n, 1.0)
    s = np.where(positive, length / n, 0.0)
    low = np.zeros_like(w)
    high = np.minimum(s / w, ceiling)

    def excess(rho: Array) -> Array:
        return ratio * rho / (1.0 - rho * rho) + w * rho - s

    rho = high.copy()
    capped = excess(rho) <= 0.0  # the root is at or above the ceiling
    for _ in range(100):
        value = excess(rho)
        high = np.where(value > 0.0, rho, high)
        low = np.where(value > 0.0, low, rho)
        square = rho * rho
        slope = ratio * (1.0 + square) / (1.0 - square) ** 2 + w
        step = rho - value / slope
        new = np.where((step > low) & (step < high), step, 0.5 * (low + high))
        if np.all(capped | (np.abs(new - rho) <= 4e-16 * np.maximum(1.0, rho)) | (value == 0.0)):
            rho = np.where(value == 0.0, rho, new)
            break
        rho = np.where(value == 0.0, rho, new)
    return np.where(capped, np.minimum(ceiling, s / w), rho)


class _Rational(Family):
    """What ``pkb`` and ``spcauchy`` share: both are powers of 1 / ||x - rho mu||^2."""

    @staticmethod
    @abstractmethod
    def _powers(d: int) -> tuple[float, float]:
        """Return the powers of 1 - rho^2 and of 1 / u."""

    def sharp(self, concentrations: Array) -> NDArray[np.bool_]:
        return concentrations > _SHARP

    def log_density(
        self, deficit: Array, concentrations: Array, d: int
    ) -> tuple[Array, Array | None]:
        a, b = self._powers(d)
        rho = concentrations[:, None]
        # u = (1 - rho)^2 + 2 rho (1 - mu'x): no cancellation when both terms are small
        u = deficit
        u *= 2.0 * rho
        u += (1.0 - rho) ** 2
        log_f = np.log(u)
        log_f *= -b
        log_f += a * np.log1p(-rho * rho)
        return log_f, u

    def update(self, mass: Array, weight: Array, length: Array, d: int, max_radius: float) -> Array:
        a, b = self._powers(d)
        return _root(a / b, mass, weight, length, max_radius)

    def radius(self, concentrations: Array, d: int) -> Array:
        return concentrations

    def from_radius(self, radius: Array, d: int) -> Array:
        return radius


class PoissonKernel(_Rational):
    """Poisson kernel-based density f = (1 - rho^2) / ||x - rho mu||^d."""

    name = "pkb"

    @staticmethod
    def _powers(d: int) -> tuple[float, float]:
        return 1.0, 0.5 * d

    def start(self, resultant: Array, d: int, max_radius: float) -> Array:
        """Return moment estimates: the mean of the density is rho mu (harmonicity)."""
        return np.clip(resultant, 0.0, max_radius)

    def sample_cosine(
        self, n: int, concentration: float, d: int, rng: np.random.Generator
    ) -> Array:
        r"""Return draws of t = mu'x by rejection from an angular central Gaussian density.

        The envelope sqrt(1 - beta) (1 - beta t^2)^(-d/2) has the power of the target, so that the
        ratio of both is bounded by its values at one interior point and at t = 1; beta is chosen to
        make the bound smallest (the idea is from Sablica, Hornik and Leydold 2023).
        """
        rho = float(concentration)
        if rho == 0.0:
            return 2.0 * rng.beta(0.5 * (d - 1), 0.5 * (d - 1), n) - 1.0
        slope = 2.0 * rho / (1.0 + rho * rho)

        def log_ratio(t: Array, beta: Array) -> Array:
            return 0.5 * d * (np.log1p(-beta * t * t) - np.log1p(-slope * t)) - 0.5 * np.log1p(
                -beta
            )

        # candidates for 1 - beta on a fine logarithmic grid between its limits
        gap = np.exp(np.linspace(np.log(1e-14), np.log1p(-slope * slope), 2000))
        beta = 1.0 - gap
        inner = (1.0 - np.sqrt(np.maximum(1.0 - slope * slope / beta, 0.0))) / slope
        bound = np.maximum(log_ratio(np.minimum(inner, 1.0), beta), log_ratio(np.ones(1), beta))
        best = int(np.argmin(bound))
        beta_best, log_bound = beta[best : best + 1], float(bound[best])
        kept: list[Array] = []
        wanted, tried, found = n, 0, 0
        while wanted > 0:
            rate = max(found / tried, 1e-3) if tried else 0.1
            size = int(min(max(1.2 * wanted / rate, 256), 2_000_000))
            z = rng.standard_normal(size) / np.sqrt(1.0 - beta_best)
            t = z / np.sqrt(z * z + rng.chisquare(d - 1, size))
            good = t[np.log(rng.random(size)) <= log_ratio(t, beta_best) - log_bound]
            tried, found = tried + size, found + len(good)
            kept.append(good[:wanted])
            wanted -= len(kept[-1])
        return np.concatenate(kept) if kept else np.empty(0)


class SphericalCauchy(_Rational):
    """Spherical Cauchy density f = ((1 - rho^2) / ||x - rho mu||^2)^(d-1)."""

    name = "spcauchy"

    @staticmethod
    def _powers(d: int) -> tuple[float, float]:
        return float(d - 1), float(d - 1)

    def start(self, resultant: Array, d: int, max_radius: float) -> Array:
        """Return rough estimates: |E x| is 2 rho / (1 + rho^2) for large d, and rho for d = 2."""
        r = np.clip(resultant, 0.0, 1.0)
        if d == 2:
            return np.minimum(r, max_radius)
        return np.minimum(r / (1.0 + np.sqrt(1.0 - r * r)), max_radius)

    def sample_cosine(
        self, n: int, concentration: float, d: int, rng: np.random.Generator
    ) -> Array:
        """Return draws of t = mu'x: the Moebius image of a uniform point (Kato, McCullagh 2020)."""
        rho = float(concentration)
        # 1 - t from 1 + z directly: t itself rounds to 1 for strong concentrations
        opposite = 2.0 * rng.beta(0.5 * (d - 1), 0.5 * (d - 1), n)  # 1 - z for z uniform
        u = (1.0 - rho) ** 2 + 2.0 * rho * (2.0 - opposite)
        return 1.0 - (1.0 - rho) ** 2 * opposite / u


_DEBYE_ORDER = 15.0


def _debye_polynomials(count: int) -> list[np.polynomial.Polynomial]:
    """Return the polynomials U_k of the uniform expansion (DLMF 10.41.9)."""
    polynomials = [np.polynomial.Polynomial([1.0])]
    factor = np.polynomial.Polynomial([0.0, 0.0, 0.5, 0.0, -0.5])  # p^2 (1 - p^2) / 2
    weight = np.polynomial.Polynomial([1.0, 0.0, -5.0])
    for _ in range(count):
        last = polynomials[-1]
        polynomials.append(factor * last.deriv() + (weight * last).integ() / 8.0)
    return polynomials


_DEBYE = _debye_polynomials(9)


def _log_h(kappa: Array, nu: float) -> Array:
    """Return log H(kappa) - kappa, H(kappa) = Gamma(nu+1) (2/kappa)^nu I_nu(kappa), H(0) = 1.

    Three regimes: the power series for small kappa, the scaled Bessel function for small orders,
    and Debye's uniform expansion (DLMF 10.41.3) for large orders, where I_nu itself underflows.
    """
    from scipy import special  # a quarter of a second, which a look at names need not wait for

    kappa = np.asarray(kappa, dtype=np.float64)
    if nu >= _DEBYE_ORDER:
        z = kappa / nu
        root = np.sqrt(1.0 + z * z)
        p = 1.0 / root
        series = sum(poly(p) / nu**k for k, poly in enumerate(_DEBYE))
        return (
            special.gammaln(nu + 1.0)
            + nu * np.log(2.0 / nu)
            + nu / (root + z)  # nu root - kappa
            - nu * np.log1p(root)
            - 0.5 * np.log(2.0 * np.pi * nu)
            - 0.5 * np.log(root)
            + np.log(series)
        )
    small = kappa < 1.0
    k = np.where(small, 1.0, kappa)
    large_value = special.gammaln(nu + 1.0) + nu * np.log(2.0 / k) + np.log(special.ive(nu, k))
    s = np.where(small, kappa, 0.0)
    return np.where(small, np.log(special.hyp0f1(nu + 1.0, 0.25 * s * s)) - s, large_value)


def _mean_cosine(kappa: Array, d: int) -> Array:
    """Return A_d(kappa) = I_{d/2}(kappa) / I_{d/2-1}(kappa), the mean of mu'x under ``vmf``."""
    from scipy import special

    kappa = np.asarray(kappa, dtype=np.float64)
    nu = 0.5 * d - 1.0
    if nu >= _DEBYE_ORDER:
        return kappa / (2.0 * (nu + 1.0)) * np.exp(_log_h(kappa, nu + 1.0) - _log_h(kappa, nu))
    small = kappa < 1.0
    k = np.where(small, 1.0, kappa)
    s = 0.25 * np.where(small, kappa, 0.0) ** 2
    series = kappa / (2.0 * (nu + 1.0)) * special.hyp0f1(nu + 2.0, s) / special.hyp0f1(nu + 1.0, s)
    return np.where(small, series, special.ive(nu + 1.0, k) / special.ive(nu, k))


class VonMisesFisher(Family):
    """Von Mises-Fisher density f = exp(kappa mu'x) / H(kappa); the concentration is kappa."""

    name = "vmf"

    def log_density(
        self, deficit: Array, concentrations: Array, d: int
    ) -> tuple[Array, Array | None]:
        """Return log densities (K, n); the weight of a point is b."""
        kappa = concentrations[:, None]
        log_f = deficit
        log_f *= -kappa
        log_f -= _log_h(kappa, 0.5 * d - 1.0)
        return log_f, None

    def update(self, mass: Array, weight: Array, length: Array, d: int, max_radius: float) -> Array:
        """Return kappa (K,) with A_d(kappa) = |S| / N."""
        positive = mass > 0
        r = np.where(positive, length / np.where(positive, mass, 1.0), 0.0)
        return self.from_radius(np.minimum(r, max_radius), d)

    def start(self, resultant: Array, d: int, max_radius: float) -> Array:
        """Return kappa (K,) with the given mean resultant lengths."""
        return self.from_radius(np.clip(resultant, 0.0, max_radius), d)

    def radius(self, concentrations: Array, d: int) -> Array:
        """Return A_d(kappa)."""
        return _mean_cosine(concentrations, d)

    def from_radius(self, radius: Array, d: int) -> Array:
        """Invert A_d by Newton steps in a shrinking bracket.

        A_d' = 1 - A^2 - (d-1) A / kappa; the start is that of Banerjee et al. (2005), the bracket
        r (d-2) / (1-r^2) <= kappa <= r d / (1-r^2) follows from Amos (1974).
        """
        r = np.asarray(radius, dtype=np.float64)
        tail = (1.0 - r) * (1.0 + r)
        low, high = r * (d - 2.0) / tail, r * d / tail
        kappa = r * (d - r * r) / tail
        for _ in range(100):
            a = _mean_cosine(kappa, d)
            value = a - r
            low = np.where(value < 0.0, kappa, low)
            high = np.where(value < 0.0, high, kappa)
            safe = np.where(kappa > 0.0, kappa, 1.0)
            slope = np.where(kappa > 0.0, 1.0 - a * a - (d - 1.0) * a / safe, 1.0 / d)
            step = kappa - value / np.where(slope > 0.0, slope, np.inf)
            inside = (slope > 0.0) & (step >= low) & (step <= high)
            new = np.where(inside, step, 0.5 * (low + high))
            done = np.abs(new - kappa) <= 1e-13 * kappa
            kappa = new
            if done.all():
                break
        return np.where(r > 0.0, kappa, 0.0)

    def sample_cosine(
        self, n: int, concentration: float, d: int, rng: np.random.Generator
    ) -> Array:
        """Return draws of t = mu'x by the rejection method of Wood (1994)."""
        kappa = float(concentration)
        b = (d - 1.0) / (2.0 * kappa + np.sqrt(4.0 * kappa * kappa + (d - 1.0) ** 2))
        x0 = (1.0 - b) / (1.0 + b)
        c = kappa * x0 + (d - 1.0) * np.log(4.0 * b / (1.0 + b) ** 2)
        kept: list[Array] = []
        wanted = n
        while wanted > 0:
            size = max(2 * wanted, 64)
            z = rng.beta(0.5 * (d - 1), 0.5 * (d - 1), size)
            t = (1.0 - (1.0 + b) * z) / (1.0 - (1.0 - b) * z)
            # log(1 - x0^2) = log(4 b / (1 + b)^2)
            test = kappa * t + (d - 1.0) * np.log1p(-x0 * t)
            good = t[test - c >= np.log(rng.random(size))]
            kept.append(good[:wanted])
            wanted -= len(kept[-1])
        return np.concatenate(kept) if kept else np.empty(0)


#: By name. Add one of your own here.
FAMILIES: dict[str, Family] = {
    f.name: f for f in (PoissonKernel(), SphericalCauchy(), VonMisesFisher())
}


def check_families(names: Iterable[str]) -> None:
    """Refuse families that there are not.

    Raises
    ------
    ConfigError
        Naming them and those that there are.
    """
    unknown = [name for name in names if name not in FAMILIES]
    if unknown:
        raise ConfigError(f"mixture.family: {unknown} are not known; allowed: {sorted(FAMILIES)}")
