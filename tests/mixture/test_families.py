"""Densities, their concentration updates, and their samplers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize, special, stats

from nes_spark.config import MixtureConfig
from nes_spark.errors import ConfigError
from nes_spark.mixture import fit_mixture
from nes_spark.mixture.families import (
    FAMILIES,
    MAX_RADIUS,
    VonMisesFisher,
    _log_h,
    _mean_cosine,
    _root,
    check_families,
)

NAMES = sorted(FAMILIES)


def log_density(name, cosine, concentration, d):
    deficit = 1.0 - np.atleast_2d(np.asarray(cosine, dtype=np.float64))
    return FAMILIES[name].log_density(deficit, np.array([concentration]), d)[0][0]


def cosine_density(t, d):
    """Density of mu'x for uniform x (d >= 3)."""
    log_norm = special.gammaln(d / 2) - special.gammaln((d - 1) / 2) - 0.5 * np.log(np.pi)
    return np.exp(log_norm + 0.5 * (d - 3) * np.log1p(-t * t))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("radius", [0.0, 0.1, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("d", [2, 3, 7, 40])
def test_densities_integrate_to_one_over_the_sphere(name, radius, d):
    c = float(FAMILIES[name].from_radius(np.array([radius]), d)[0])
    # over the angle between x and mu, whose uniform density is proportional to sin^(d-2)
    log_norm = special.gammaln(d / 2) - special.gammaln((d - 1) / 2) - 0.5 * np.log(np.pi)

    def integrand(angle):
        power = (d - 2) * np.log(np.sin(angle)) if d > 2 else 0.0
        return float(np.exp(log_density(name, np.cos(angle), c, d)[0] + power + log_norm))

    near = np.geomspace(1e-3, 3.0, 12).tolist()
    total, _ = integrate.quad(integrand, 1e-12, np.pi - 1e-12, points=near, limit=500)
    assert total == pytest.approx(1.0, abs=1e-6)


def test_densities_are_those_of_the_paper():
    # eq. (1) and (2) of section 2.2.2 at a point, written out from the distance
    d, rho = 5, 0.7
    mu = np.array([1.0, 0, 0, 0, 0])
    x = np.array([0.6, 0.8, 0, 0, 0])
    distance = np.linalg.norm(x - rho * mu)
    pkb = (1 - rho**2) / distance**d
    cauchy = ((1 - rho**2) / distance**2) ** (d - 1)
    assert np.exp(log_density("pkb", mu @ x, rho, d))[0] == pytest.approx(pkb, rel=1e-13)
    assert np.exp(log_density("spcauchy", mu @ x, rho, d))[0] == pytest.approx(cauchy, rel=1e-13)


def test_both_families_coincide_on_the_circle():
    t = np.linspace(-1, 1, 11)
    np.testing.assert_allclose(
        log_density("pkb", t, 0.8, 2), log_density("spcauchy", t, 0.8, 2), rtol=1e-13, atol=1e-13
    )


@pytest.mark.parametrize("d", [2, 3, 10, 31, 32, 33, 384, 1536])
def test_von_mises_fisher_normalisation_against_high_precision_series(d):
    nu = d / 2 - 1
    for kappa in (1e-8, 1e-3, 0.5, 1.0, 3.0, 40.0, 300.0, 2000.0):
        # H(kappa) = 0F1(; nu + 1; kappa^2 / 4) summed in logs
        j = np.arange(6000)
        terms = (
            2 * j * np.log(kappa / 2)
            - special.gammaln(j + 1)
            - special.gammaln(nu + 1 + j)
            + special.gammaln(nu + 1)
        )
        expected = special.logsumexp(terms) - kappa
        found = float(_log_h(np.array(kappa), nu))
        assert found == pytest.approx(expected, rel=1e-10, abs=2e-10)
        ratio = np.exp(
            special.logsumexp(terms + np.log(np.maximum(2 * j, 1e-300))) - special.logsumexp(terms)
        )  # kappa d log H / d kappa
        assert float(_mean_cosine(np.array(kappa), d)) == pytest.approx(ratio / kappa, rel=1e-8)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("d", [2, 3, 50, 1536])
def test_radius_and_its_inverse(name, d):
    family = FAMILIES[name]
    r = np.array([0.0, 1e-9, 1e-3, 0.3, 0.9, 0.999, MAX_RADIUS])
    np.testing.assert_allclose(family.radius(family.from_radius(r, d), d), r, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("ratio", [1.0, 2 / 3, 2 / 1536])
def test_rho_root_solves_its_equation_and_keeps_its_bracket(ratio):
    rng = np.random.default_rng(1)
    n = 10 ** rng.uniform(-8, 6, 400)
    w = n * 10 ** rng.uniform(-1, 10, 400)
    s = w * rng.uniform(0, 1, 400) ** rng.integers(1, 9, 400)
    rho = _root(ratio, n, w, s, MAX_RADIUS)
    assert ((rho >= 0) & (rho <= MAX_RADIUS) & (rho <= s / w)).all()
    inner = rho < MAX_RADIUS
    assert inner.sum() > 100
    left = ratio * n * rho / (1 - rho**2) + w * rho - s
    scale = ratio * n / (1 - rho**2) ** 2 + w
    assert (np.abs(left[inner]) <= 1e-12 * scale[inner]).all()
    # where it was capped, the root is above the ceiling
    assert (left[~inner] <= 0).all()


def test_rho_root_of_empty_and_undirected_components_is_finite():
    found = _root(1.0, np.array([0.0, 1.0]), np.array([0.0, 2.0]), np.zeros(2), MAX_RADIUS)
    assert found.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", ["pkb", "spcauchy"])
@pytest.mark.parametrize("d", [2, 5, 300])
def test_update_maximises_the_surrogate(name, d):
    family = FAMILIES[name]
    a, b = (1.0, d / 2) if name == "pkb" else (d - 1.0, d - 1.0)
    for n, w, s in ((10.0, 12.0, 6.0), (5.0, 800.0, 790.0), (1.0, 0.9, 1e-4)):
        found = family.update(np.array([n]), np.array([w]), np.array([s]), d, MAX_RADIUS)[0]
        best = optimize.minimize_scalar(
            lambda rho, n=n, w=w, s=s: (
                -(a * n * np.log1p(-rho * rho) - b * ((1 + rho * rho) * w - 2 * rho * s))
            ),
            bounds=(0, 1 - 1e-9),
            method="bounded",
            options={"xatol": 1e-12},
        )
        assert found == pytest.approx(best.x, abs=2e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("d", "radius"), [(2, 0.4), (3, 0.8), (8, 0.3), (8, 0.95), (300, 0.5)])
def test_sampled_cosines_follow_the_density(name, d, radius):
    family = FAMILIES[name]
    c = float(family.from_radius(np.array([radius]), d)[0])
    t = family.sample_cosine(4000, c, d, np.random.default_rng(5))
    assert t.shape == (4000,)
    assert np.abs(t).max() <= 1 + 1e-12
    # distribution function over the angle by fine trapezoids
    angle = np.linspace(1e-9, np.pi - 1e-9, 200_001)
    log_f = log_density(name, np.cos(angle), c, d) + (d - 2) * np.log(np.sin(angle))
    f = np.exp(log_f - log_f.max())
    cumulative = integrate.cumulative_trapezoid(f, angle, initial=0.0)
    cumulative /= cumulative[-1]
    test = stats.kstest(np.arccos(np.clip(t, -1, 1)), lambda v: np.interp(v, angle, cumulative))
    assert test.pvalue > 1e-4


class OneConcentration(VonMisesFisher):
    """Worked example: von Mises-Fisher components that share a concentration known beforehand."""

    name = "one-concentration"
    kappa = 40.0

    def _known(self, like):
        return np.full(np.shape(like), self.kappa)

    def update(self, mass, weight, length, d, max_radius):
        return self._known(mass)

    def start(self, resultant, d, max_radius):
        return self._known(resultant)

    def from_radius(self, radius, d):
        return self._known(radius)


def test_a_family_of_ones_own_is_fitted(monkeypatch):
    rng = np.random.default_rng(3)
    truth = np.eye(8)[:2]
    t = OneConcentration().sample_cosine(600, 40.0, 8, rng)
    mean = truth[rng.integers(2, size=600)]
    tangent = rng.standard_normal((600, 8))
    tangent -= (tangent * mean).sum(axis=1, keepdims=True) * mean
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    vectors = t[:, None] * mean + np.sqrt(1 - t**2)[:, None] * tangent
    with pytest.raises(ConfigError, match=r"\['one-concentration'\] are not known.*'pkb'"):
        check_families(["pkb", OneConcentration.name])
    monkeypatch.setitem(FAMILIES, OneConcentration.name, OneConcentration())
    check_families(MixtureConfig(family=OneConcentration.name).family)
    model = fit_mixture(vectors, OneConcentration.name, 2, n_init=2)
    assert model.converged
    assert (np.diff(model.history) >= 0).all()
    assert (model.concentrations == 40.0).all()
    found = model.means[np.argmax(model.means @ truth.T, axis=0)]
    assert ((found * truth).sum(axis=1) > 0.99).all()
    # the same data and start, but with concentrations to be found: they come out near the known one
    free = fit_mixture(vectors, "vmf", 2, n_init=2)
    assert free.concentrations == pytest.approx([40.0, 40.0], rel=0.15)
    assert free.log_likelihood > model.log_likelihood


@pytest.mark.parametrize(("name", "sharp"), [("pkb", True), ("spcauchy", True), ("vmf", False)])
def test_which_components_need_exact_distances(name, sharp):
    assert FAMILIES[name].sharp(np.array([0.5, 0.9999])).tolist() == [False, sharp]
