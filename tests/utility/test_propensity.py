"""pMSE, its regression, and its expectation where nothing tells released from original."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from nes_spark.errors import EstimationError
from nes_spark.utility import propensity as module
from nes_spark.utility.propensity import logistic_fit, propensity


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def pairs(rng, n=200, d=24, change=0.3):
    """Two versions of each chunk, either of which may be the released one."""
    middle = unit(rng.normal(size=(n, d)))
    return (unit(middle + change * rng.normal(size=(n, d)) / math.sqrt(d)) for _ in range(2))


def test_the_regression_is_that_of_a_general_optimiser():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(80), rng.normal(size=(80, 3))])
    y = (rng.random(80) < 1 / (1 + np.exp(-(X @ [0.3, 1.0, -2.0, 0.0])))).astype(float)

    def loss(beta):
        eta = X @ beta
        return np.logaddexp(0, eta).sum() - y @ eta + 0.5 * 0.01 * (beta[1:] ** 2).sum()

    reference = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-9}).x
    assert logistic_fit(X, y) == pytest.approx(reference, abs=1e-5)


def test_nothing_changed_is_nothing_to_tell():
    a, _ = pairs(np.random.default_rng(1))
    found = propensity(a, a)
    assert (found.pmse, found.null_mean, found.features) == (0.0, 0.0, 0)
    assert math.isnan(found.ratio)


def test_what_gives_itself_away_is_told():
    rng = np.random.default_rng(2)
    a, b = pairs(rng)
    mark = np.zeros(24)
    mark[0] = 1.0
    slightly, plainly = propensity(a, unit(b + 0.1 * mark)), propensity(a, unit(b + 5 * mark))
    assert slightly.z > 3
    assert slightly.pmse < 0.1 < 0.24 < plainly.pmse <= 0.25
    assert plainly.ratio > 10


def test_the_expectation_where_nothing_tells():
    """Over coin tosses that say which version of each chunk was released."""
    rng = np.random.default_rng(3)
    a, b = pairs(rng)
    values = []
    for _ in range(300):
        flipped = (rng.random(len(a)) < 0.5)[:, None]
        found = propensity(np.where(flipped, b, a), np.where(flipped, a, b))
        values.append(found.pmse)
    assert found.features == 20
    assert np.mean(values) == pytest.approx(found.null_mean, rel=0.05)
    assert np.std(values) == pytest.approx(found.null_sd, rel=0.15)
    # the tosses do not move what is expected of them
    assert found.null_mean == pytest.approx(propensity(a, b).null_mean, rel=1e-9)


def test_few_chunks_are_not_told_by_having_many_coordinates():
    rng = np.random.default_rng(4)
    a, b = pairs(rng, n=30, d=200)
    found = propensity(a, b)
    assert found.features == 3
    assert abs(found.z) < 4
    assert propensity(a[:4], b[:4]).features == 1


def test_a_perfect_fit_stays_finite_and_a_failed_one_is_an_error(monkeypatch):
    a = np.column_stack([np.linspace(0.1, 0.2, 30), np.zeros(30)])
    assert propensity(a, a + np.array([1.0, 0.0])).pmse == pytest.approx(0.25, abs=0.01)
    monkeypatch.setattr(module, "_MAX_STEPS", 1)
    with pytest.raises(EstimationError, match="did not converge"):
        propensity(a, a + np.array([1.0, 0.0]))


@pytest.mark.parametrize(
    ("before", "after", "name"),
    [
        (np.zeros((2, 3)), np.zeros((2, 2)), "after"),
        (np.zeros((0, 3)), np.zeros((0, 3)), "after"),
        (np.zeros((2, 3)), np.full((2, 3), math.nan), "before"),
    ],
)
def test_tables_that_do_not_fit_are_refused(before, after, name):
    with pytest.raises(ValueError, match=name):
        propensity(before, after)
    with pytest.raises(ValueError, match="features"):
        propensity(np.eye(3), np.eye(3), features=0)
