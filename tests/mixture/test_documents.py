"""The penalty on components that belong to one document."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from nes_spark.mixture import MixtureModel, fit_mixture
from nes_spark.mixture.documents import (
    penalised_responsibilities,
    penalised_weights,
    whole_documents,
)
from nes_spark.mixture.em import Parameters, block_statistics, maximise
from nes_spark.mixture.families import FAMILIES, MAX_RADIUS
from nes_spark.mixture.fit import by_document, effective_documents
from tests.mixture.test_fit import clustered

NAMES = sorted(FAMILIES)


def value_of(b, joint, starts, costs):
    """The function that the E-step maximises, from its definition."""
    logs = np.log(np.where(b > 0, b, 1.0))
    counts = np.add.reduceat(b, starts, axis=1)
    return float((b * (joint - logs)).sum() - 0.5 * (costs[:, None] * counts**2).sum())


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10_000),
    k=st.integers(1, 8),
    sharpness=st.sampled_from([0.1, 1.0, 30.0, 1000.0]),
    price=st.sampled_from([1e-6, 0.1, 10.0, 3000.0]),
)
def test_responsibilities_are_the_maximum(seed, k, sharpness, price):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, rng.integers(1, 9))
    starts, n = np.cumsum(sizes) - sizes, int(sizes.sum())
    joint = sharpness * rng.standard_normal((k, n))
    costs = price / n / rng.dirichlet(np.ones(k))
    b, value, squares = penalised_responsibilities(joint, starts, costs)
    assert b.min() >= 0
    np.testing.assert_allclose(b.sum(axis=0), 1.0, rtol=1e-12)
    scale = max(1.0, np.abs(joint).max(), costs.max()) * n
    assert value_of(b, joint, starts, costs) == pytest.approx(value, abs=1e-9 * scale)
    counts = np.add.reduceat(b, starts, axis=1)
    np.testing.assert_allclose(squares, (counts**2).sum(axis=1), rtol=1e-9)
    # no feasible direction leads up
    for _ in range(20):
        other = rng.dirichlet(np.full(k, 0.3), n).T
        for step in (1e-4, 1e-2, 1.0):
            moved = value_of((1 - step) * b + step * other, joint, starts, costs)
            assert moved <= value + 1e-9 * scale


def test_without_a_price_they_are_the_posterior():
    rng = np.random.default_rng(0)
    joint = rng.standard_normal((4, 30))
    b, value, _ = penalised_responsibilities(joint, np.array([0, 7]), np.full(4, 1e-13))
    total = np.logaddexp.reduce(joint, axis=0)
    np.testing.assert_allclose(b, np.exp(joint - total), atol=1e-10)
    assert value == pytest.approx(total.sum())


def test_weights_are_the_maximum():
    rng = np.random.default_rng(1)
    for _ in range(20):
        mass, h = rng.gamma(1.0, 50.0, 5), rng.gamma(0.5, 20.0, 5)
        mass[0] = 0.0

        def loss(free, mass=mass, h=h):
            weights = np.exp(free) / np.exp(free).sum()
            return float((h / weights).sum() - (mass * np.log(weights)).sum())

        found = penalised_weights(mass, h)
        assert found.sum() == pytest.approx(1)
        best = optimize.minimize(loss, np.log(found) + 0.1 * rng.standard_normal(5), tol=1e-12)
        assert loss(np.log(found)) <= best.fun + 1e-7 * abs(best.fun)
    np.testing.assert_allclose(penalised_weights(mass, np.zeros(5)), mass / mass.sum())


def test_blocks_hold_whole_documents():
    starts = np.array([0, 3, 4, 14, 16])
    found = [(a, b, s.tolist()) for a, b, s in whole_documents(starts, 20, 6)]
    assert found == [(0, 4, [0, 3]), (4, 14, [0]), (14, 20, [0, 2])]
    order, first = by_document(np.array(["b", "a", "b", "c"]))
    assert (order.tolist(), first.tolist()) == ([1, 0, 2, 3], [0, 1, 3])


@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize("d", [3, 40])
@pytest.mark.parametrize("penalty", [0.5, 20.0, 500.0])
def test_plain_steps_raise_the_penalised_likelihood_without_any_guard(family, d, penalty):
    x = clustered(np.random.default_rng(0), 200, d, 4, 1.0)
    starts = np.array([0, 50, 60, 61, 120])
    present = Parameters(
        family,
        np.log(np.full(4, 0.25)),
        clustered(np.random.default_rng(1), 4, d, 4, 1.0),
        FAMILIES[family].from_radius(np.full(4, 0.2), d),
    )
    values = []
    for _ in range(40):
        statistics = block_statistics(x, [present], starts, penalty / len(x))[0]
        values.append(statistics.objective)
        assert statistics.cost > 0
        present = maximise(statistics, present, MAX_RADIUS)
    assert values[-1] > values[0]
    assert (np.diff(values) >= -1e-10 * len(x)).all()


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10_000),
    family=st.sampled_from(NAMES),
    d=st.sampled_from([2, 5, 64, 1536]),
    single=st.booleans(),
    accelerate=st.booleans(),
    penalty=st.sampled_from([1e-3, 1.0, 100.0, 1e5]),
)
def test_the_penalised_likelihood_never_falls(seed, family, d, single, accelerate, penalty):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 60)), int(rng.integers(1, 6))
    x = clustered(rng, n, d, k, 0.5).astype(np.float32 if single else np.float64)
    m = fit_mixture(
        x,
        family,
        k,
        seed=seed,
        max_iter=60,
        accelerate=accelerate,
        documents=rng.integers(4, size=n),
        document_penalty=penalty,
    )
    whole = np.concatenate([[m.initial_log_likelihood], m.history])
    assert np.isfinite(whole).all()
    assert (np.diff(whole) >= 0).all()
    assert m.cost > 0
    assert whole[-1] == m.log_likelihood - m.cost
    assert m.score(x) * n == pytest.approx(m.log_likelihood, rel=1e-9, abs=1e-6)
    for values in (m.weights, m.means, m.concentrations):
        assert np.isfinite(values).all()


@pytest.fixture(scope="module")
def lonely():
    """Two topics that ten documents share, and one document that dwells apart in the second."""
    rng = np.random.default_rng(4)
    d = 12
    centres = np.linalg.qr(rng.standard_normal((d, d)))[0]
    where = np.concatenate([np.repeat([0, 1], 100), np.full(60, 2)])
    centre = np.stack([centres[0], centres[1], centres[1] + 0.9 * centres[2]])[where]
    x = centre + 0.12 * rng.standard_normal((260, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x, np.array([f"doc{i % 10}" for i in range(200)] + ["apart"] * 60)


def test_a_component_of_one_document_dissolves(lonely):
    x, documents = lonely
    least, costs = [], []
    for penalty in (0.0, 1.0, 300.0):
        m = fit_mixture(
            x, "spcauchy", 3, n_init=3, documents=documents, document_penalty=penalty, seed=1
        )
        assert m.converged
        assert m.n_components == 3
        assert m.document_penalty == penalty
        least.append(effective_documents(m.predict(x), documents, 3).min())
        costs.append(m.cost)
    assert least[0] == 1.0  # the document has a component of its own
    assert least[2] > 1.5  # and shares it when that is dear
    assert costs[0] == 0.0 < costs[1] < costs[2]


def test_one_chunk_a_document_is_hardly_penalised(lonely):
    x, _ = lonely
    plain = fit_mixture(x, "pkb", 2, seed=1)
    m = fit_mixture(x, "pkb", 2, seed=1, documents=np.arange(len(x)), document_penalty=1.0)
    # each pays its share of the component: 1 / (n pi) nats, half of it as the penalty
    assert m.cost == pytest.approx(1.0, rel=0.05)
    np.testing.assert_allclose(m.means, plain.means, atol=1e-3)


def test_the_result_does_not_depend_on_names_or_order_of_documents(lonely):
    x, documents = lonely
    fit = {"seed": 1, "document_penalty": 5.0, "n_init": 1}
    m = fit_mixture(x, "pkb", 2, documents=documents, **fit)
    renamed = fit_mixture(x, "pkb", 2, documents=np.char.add("zz", documents), **fit)
    assert np.array_equal(m.means, renamed.means)
    other = np.unique(documents, return_inverse=True)[1]
    np.testing.assert_allclose(
        fit_mixture(x, "pkb", 2, documents=-other, **fit).means, m.means, atol=1e-9
    )


def test_saved_with_its_penalty(lonely, tmp_path):
    x, documents = lonely
    m = fit_mixture(x, "pkb", 2, documents=documents, document_penalty=5.0)
    again = MixtureModel.load(m.save(tmp_path))
    assert (again.document_penalty, again.cost) == (5.0, m.cost)
    assert again.restarts == m.restarts


def test_models_of_earlier_files_had_no_penalty(lonely, tmp_path, monkeypatch):
    from nes_spark.mixture import model

    x, _ = lonely
    m = fit_mixture(x, "pkb", 2)
    with monkeypatch.context() as patch:
        patch.setattr(model, "_SCALARS", tuple(s for s in model._SCALARS if s not in model._LATER))
        path = m.save(tmp_path)
    again = MixtureModel.load(path)
    assert (again.document_penalty, again.cost) == (0.0, 0.0)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_refused(lonely, value):
    x, documents = lonely
    with pytest.raises(ValueError, match="'document_penalty' parameter"):
        fit_mixture(x, "pkb", 2, documents=documents, document_penalty=value)
    with pytest.raises(ValueError, match="'documents' parameter"):
        fit_mixture(x, "pkb", 2, document_penalty=1.0)
