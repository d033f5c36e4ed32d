"""The EM algorithm: likelihood, recovery, honesty."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from nes_spark.mixture import MixtureModel, fit_mixture
from nes_spark.mixture.em import Parameters, Run, block_statistics, maximise, run_all
from nes_spark.mixture.families import FAMILIES, MAX_RADIUS
from nes_spark.mixture.fit import in_memory_pass
from nes_spark.mixture.vectors import UnitVectors

NAMES = sorted(FAMILIES)


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def clustered(rng, n, d, k, noise):
    centres = unit(rng.standard_normal((k, d)))
    return unit(centres[rng.integers(k, size=n)] + noise * rng.standard_normal((n, d)) / np.sqrt(d))


def mixture(family, weights, means, radii):
    means = np.asarray(means, dtype=np.float64)
    weights = np.asarray(weights, dtype=np.float64)
    concentrations = FAMILIES[family].from_radius(
        np.asarray(radii, dtype=np.float64), means.shape[1]
    )
    return MixtureModel(
        family=family,
        weights=weights,
        means=means,
        concentrations=concentrations,
        converged=True,
        n_iter=0,
        history=np.empty(0),
        log_likelihood=0.0,
        initial_log_likelihood=0.0,
        classification_log_likelihood=0.0,
        n=1,
        n_passes=0,
        n_components_asked=len(weights),
        min_weight=0.0,
        tol=1e-6,
        max_iter=1,
        max_radius=MAX_RADIUS,
    )


def brute_log_likelihood(x, model):
    """sum log sum pi f from the paper's formulas, in plain loops over components."""
    d = x.shape[1]
    total = np.zeros(len(x))
    for pi, mu, rho in zip(model.weights, model.means, model.concentrations, strict=True):
        distance = np.linalg.norm(x - rho * mu, axis=1)
        if model.family == "pkb":
            total += pi * (1 - rho**2) / distance**d
        else:
            total += pi * ((1 - rho**2) / distance**2) ** (d - 1)
    return float(np.log(total).sum())


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    data=st.data(),
    family=st.sampled_from(NAMES),
    d=st.sampled_from([2, 3, 5, 17, 64, 384, 1536]),
    single=st.booleans(),
    accelerate=st.booleans(),
    noise=st.sampled_from([0.01, 0.3, 1.0, 5.0]),
)
def test_the_likelihood_never_falls(data, family, d, single, accelerate, noise):
    n = data.draw(st.integers(2, 120 if d < 100 else 40))
    k = data.draw(st.integers(1, 8))
    seed = data.draw(st.integers(0, 10_000))
    x = clustered(np.random.default_rng(seed), n, d, k, noise)
    x = x.astype(np.float32) if single else x
    m = fit_mixture(x, family, k, seed=seed, max_iter=60, accelerate=accelerate)
    whole = np.concatenate([[m.initial_log_likelihood], m.history])
    assert np.isfinite(whole).all()
    assert (np.diff(whole) >= 0).all()
    assert len(m.history) == m.n_iter >= 1
    assert m.history[-1] == m.log_likelihood
    assert m.score(x) * n == pytest.approx(m.log_likelihood, rel=1e-9, abs=1e-6)
    assert np.isfinite(m.log_density(x)).all()
    assert m.weights.sum() == pytest.approx(1)
    if m.converged:
        gain = whole[-1] - whole[-2]
        assert gain <= m.tol * max(1.0, abs(whole[-1]))


@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize("d", [3, 40])
def test_plain_steps_raise_the_likelihood_without_any_guard(family, d):
    """The property of the update itself: Run is not there to hide a fall."""
    x = clustered(np.random.default_rng(0), 200, d, 4, 1.0)
    rng = np.random.default_rng(1)
    present = Parameters(
        family,
        np.log(np.full(4, 0.25)),
        unit(rng.standard_normal((4, d))),
        FAMILIES[family].from_radius(np.full(4, 0.2), d),
    )
    values = []
    for _ in range(50):
        statistics = block_statistics(x, [present])[0]
        values.append(statistics.log_likelihood)
        present = maximise(statistics, present, MAX_RADIUS)
    assert values[-1] > values[0]
    assert (np.diff(values) >= -1e-11 * np.abs(values[:-1])).all()


@pytest.mark.parametrize("family", ["pkb", "spcauchy"])
def test_statistics_agree_with_their_definitions(family):
    x = clustered(np.random.default_rng(3), 50, 6, 3, 1.0)
    m = mixture(
        family,
        [0.2, 0.3, 0.5],
        unit(np.random.default_rng(4).standard_normal((3, 6))),
        [0.1, 0.5, 0.8],
    )
    found = block_statistics(x, [m.parameters, m.parameters])[1]
    u = 1 + m.concentrations**2 - 2 * m.concentrations * (x @ m.means.T)
    f = (
        (1 - m.concentrations**2) / u**3
        if family == "pkb"
        else ((1 - m.concentrations**2) / u) ** 5
    )
    b = m.weights * f
    assert found.log_likelihood == pytest.approx(np.log(b.sum(axis=1)).sum(), rel=1e-12)
    assert found.classification == pytest.approx(np.log(b.max(axis=1)).sum(), rel=1e-12)
    b /= b.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.mass, b.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.weight, (b / u).sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.direction, (b / u).T @ x, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("family", ["pkb", "spcauchy"])
@pytest.mark.parametrize("d", [2, 3, 6])
def test_one_component_reaches_the_maximum_found_by_brute_force(family, d):
    x = mixture(family, [1.0], np.eye(d)[:1], [0.6]).sample(150, seed=2)
    m = fit_mixture(x, family, 1, tol=1e-12, max_iter=2000)

    def loss(eta):  # eta in R^d mapped to the open ball
        length = np.linalg.norm(eta)
        point = eta / length * np.tanh(length)
        rho2 = float(point @ point)
        u = 1 + rho2 - 2 * x @ point
        a, b = (1.0, d / 2) if family == "pkb" else (d - 1.0, d - 1.0)
        with np.errstate(divide="ignore"):
            return -(a * len(x) * np.log(1 - rho2) - b * np.log(u).sum())

    best = min(
        (
            optimize.minimize(loss, start, method="BFGS", options={"gtol": 1e-9})
            for start in np.vstack([np.eye(d), -np.eye(d)]) * 0.7
        ),
        key=lambda r: r.fun,
    )
    assert m.log_likelihood == pytest.approx(-best.fun, rel=1e-9)
    point = best.x / np.linalg.norm(best.x) * np.tanh(np.linalg.norm(best.x))
    np.testing.assert_allclose(m.concentrations[0] * m.means[0], point, atol=2e-5)


@pytest.mark.parametrize("family", ["pkb", "spcauchy"])
def test_two_components_reach_a_stationary_point_of_the_likelihood(family):
    truth = mixture(family, [0.3, 0.7], [[1.0, 0, 0], [0, 1.0, 0]], [0.85, 0.6])
    x = truth.sample(400, seed=8)
    m = fit_mixture(x, family, 2, tol=1e-13, max_iter=5000, n_init=3)
    assert m.log_likelihood == pytest.approx(brute_log_likelihood(x, m), rel=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(60):
        step = 10 ** rng.uniform(-4, -1)
        weights = m.weights * np.exp(step * rng.standard_normal(2))
        eta = m.concentrations[:, None] * m.means + step * rng.standard_normal((2, 3))
        radius = np.linalg.norm(eta, axis=1)
        if (radius >= 1).any():
            continue
        other = mixture(family, weights / weights.sum(), unit(eta), radius)
        assert brute_log_likelihood(x, other) <= m.log_likelihood + 1e-7


@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize(
    ("d", "radii", "n", "error"),
    [
        (3, [0.9, 0.8, 0.7], 6000, 0.03),
        (64, [0.6, 0.5, 0.4], 3000, 0.02),
        (1536, [0.3, 0.5, 0.4], 600, 0.03),
    ],
)
def test_parameters_are_recovered_from_samples(family, d, radii, n, error):
    means = np.eye(d)[:3] * [[1], [-1], [1]]
    truth = mixture(family, [0.5, 0.3, 0.2], means, radii)
    x, labels = truth.sample(n, seed=1, return_components=True)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1, atol=1e-12)
    m = fit_mixture(x.astype(np.float32), family, 3, n_init=4, tol=1e-9, seed=2)
    order = np.argmax(truth.means @ m.means.T, axis=1)
    assert sorted(order) == [0, 1, 2]
    found = FAMILIES[family].radius(m.concentrations[order], d)
    np.testing.assert_allclose(m.weights[order], truth.weights, atol=3 * np.sqrt(0.25 / n) + 0.01)
    np.testing.assert_allclose(found, radii, atol=error)
    assert (np.einsum("kj,kj->k", m.means[order], truth.means) > 0.9).all()
    assert m.log_likelihood >= truth.score(x) * n - 1e-6 * n
    if d > 3:
        assert (order[labels] == m.predict(x)).mean() > 0.99


@pytest.mark.parametrize("family", ["pkb", "spcauchy"])
def test_acceleration_needs_fewer_passes_and_ends_no_lower(family):
    x = clustered(np.random.default_rng(0), 200, 2, 3, 1.0)
    plain, fast = [], []
    for seed in range(3):
        plain.append(fit_mixture(x, family, 3, seed=seed, max_iter=3000, accelerate=False))
        fast.append(fit_mixture(x, family, 3, seed=seed, max_iter=3000))
    assert all(m.converged for m in plain + fast)
    assert sum(m.n_passes for m in fast) < 0.6 * sum(m.n_passes for m in plain)
    mean = [np.mean([m.log_likelihood for m in ms]) for ms in (plain, fast)]
    assert mean[1] >= mean[0] - 1e-4 * abs(mean[0])


def test_reaching_the_limit_is_not_convergence():
    x = clustered(np.random.default_rng(0), 300, 3, 4, 1.0)
    m = fit_mixture(x, "pkb", 4, max_iter=3, tol=1e-12)
    assert not m.converged
    assert m.n_iter <= 3
    assert m.n_passes == 4
    assert not m.restarts[0].converged


def test_restarts_are_all_reported_and_the_best_is_kept():
    x = clustered(np.random.default_rng(0), 200, 4, 6, 0.8)
    m = fit_mixture(x, "pkb", 6, n_init=5, seed=3)
    assert [r.name for r in m.restarts] == [f"seed-{i}" for i in range(5)]
    values = [r.log_likelihood for r in m.restarts]
    assert len(set(values)) > 1
    assert m.log_likelihood == max(values) == values[m.best_restart]
    # a restart does not depend on which others there are
    assert fit_mixture(x, "pkb", 6, n_init=1, seed=3).log_likelihood == pytest.approx(
        values[0], rel=1e-9
    )


def test_same_seed_same_model_and_other_seed_other_start():
    x = clustered(np.random.default_rng(0), 200, 4, 6, 0.8)
    one, two, other = (fit_mixture(x, "spcauchy", 6, seed=s) for s in ("a", "a", "b"))
    assert np.array_equal(one.means, two.means)
    assert one.initial_log_likelihood != other.initial_log_likelihood


def test_warm_start_is_one_more_restart_and_ends_where_it_began():
    x = clustered(np.random.default_rng(0), 300, 8, 4, 0.6)
    first = fit_mixture(x, "pkb", 4, n_init=4, tol=1e-8)
    again = fit_mixture(x, "pkb", 4, n_init=1, tol=1e-8, seed=99, warm_start=first)
    warm = again.restarts[0]
    assert warm.name == "warm"
    assert warm.n_passes <= 3
    assert warm.log_likelihood >= first.log_likelihood
    assert again.log_likelihood >= first.log_likelihood
    with pytest.raises(ValueError, match=r"'warm_start' parameter.*a spcauchy model in 8"):
        fit_mixture(x, "spcauchy", 4, warm_start=first)


def test_settings_of_different_size_share_passes():
    x = UnitVectors(clustered(np.random.default_rng(0), 200, 5, 4, 0.7), "test")
    rng = np.random.default_rng(1)

    def start(family, k):
        means = unit(rng.standard_normal((k, 5)))
        return Parameters(family, np.log(np.full(k, 1 / k)), means, np.full(k, 0.3))

    starts = [start("pkb", 2), start("spcauchy", 5), start("vmf", 3)]
    together = [Run(s) for s in starts]
    calls = []

    def evaluate(mixtures):
        calls.append(len(mixtures))
        return in_memory_pass(x, mixtures)

    run_all(together, evaluate)
    assert calls[0] == 3
    assert calls[-1] < 3  # converged runs drop out
    assert len(calls) == max(r.n_passes for r in together)
    for run, begin in zip(together, starts, strict=True):
        alone = Run(begin)
        run_all([alone], evaluate)
        assert alone.log_likelihood == pytest.approx(run.log_likelihood, rel=1e-9)


def test_information_criteria_prefer_the_true_number_of_components():
    from nes_spark.mixture.selection import compare

    truth = mixture("pkb", [0.4, 0.3, 0.3], np.eye(6)[:3], [0.9, 0.9, 0.9])
    x = truth.sample(900, seed=0)
    models = {f"K{k}": fit_mixture(x, "pkb", k, n_init=4) for k in (1, 2, 3, 5)}
    rows = {r.setting: r for r in compare(models)}
    assert [name for name, r in rows.items() if r.best_icl] == ["K3"]
    assert [name for name, r in rows.items() if r.best_bic] == ["K3"]
    m = models["K3"]
    assert m.n_parameters == 2 + 3 * 5 + 3
    assert m.bic == pytest.approx(-2 * m.log_likelihood + 20 * np.log(900))
    posterior = m.predict_log_posterior(x)
    assert m.icl == pytest.approx(m.bic - 2 * posterior.max(axis=1).sum(), rel=1e-9)
    np.testing.assert_allclose(np.exp(posterior).sum(axis=1), 1)
    with pytest.raises(ValueError, match="fitted to the same vectors"):
        compare({"a": m, "b": fit_mixture(x[:50], "pkb", 1)})
