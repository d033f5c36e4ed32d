"""Maximum likelihood for the Ewens-Pitman partition."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import gammaln

from nes_spark.errors import EstimationError
from nes_spark.risk import fit_ewens_pitman, simulate_partition

TOMATO = {
    1: 1434, 2: 253, 3: 71, 4: 33, 5: 11, 6: 6, 7: 2, 8: 3, 9: 1,
    10: 2, 11: 2, 12: 1, 13: 1, 14: 1, 16: 2, 23: 1, 27: 1,
}  # fmt: skip
NAEGLERIA = {
    1: 346, 2: 57, 3: 19, 4: 12, 5: 9, 6: 5, 7: 4, 8: 2, 9: 4,
    10: 5, 11: 4, 12: 1, 16: 1, 17: 1, 18: 1, 27: 1, 55: 1,
}  # fmt: skip

# table -> theta, alpha, log-likelihood, standard errors: roots of the scores in 50-digit arithmetic
REFERENCE = [
    (
        TOMATO,
        (741.332872004841, 0.611913511307614, -6422.6137865527251, 116.221271415, 0.0323970309765),
    ),
    (
        NAEGLERIA,
        (46.2411510970474, 0.668504519638128, -2927.3964275894092, 16.657872712, 0.0345157793453),
    ),
    (
        {1: 2000, 2: 800, 3: 400, 5: 100, 50: 20, 1000: 2},
        (340.100782940427, 0.591537766176557, -30683.670683571814, 37.9111123252, 0.0125804045915),
    ),
    (  # theta below 0
        {1: 40, 500: 1, 3: 4, 2: 8},
        (
            -0.457431504732877,
            0.786924116240178,
            -306.83905776608532,
            0.415050560583,
            0.0536323981231,
        ),
    ),
    (
        {1: 5, 10**6: 1},
        (
            -0.858846676504721,
            0.911295988101227,
            -70.311623691376036,
            0.148954919047,
            0.117621780115,
        ),
    ),
    (  # n = 1.2e9, k = 7e7
        {
            1: 50_000_000,
            2: 12_000_000,
            3: 4_000_000,
            4: 2_000_000,
            10: 1_000_000,
            1000: 10_000,
            10**6: 200,
        },
        (166317.863127882, 0.763779641111918, -2062559322.2858304, 768.526508354, 4.85532248646e-5),
    ),
    (
        {1: 1000, 2: 100, 3: 30, 10: 5, 10**9: 1},
        (
            -0.836941280775385,
            0.890275381541956,
            -21299.26946758308,
            0.057307056615,
            0.00886948060748,
        ),
    ),
    (
        {1: 5, 2: 3, 3: 2, 4: 1, 5: 1, 8: 1, 20: 1, 30: 1, 50: 1},
        (3.11957151005225, 0.13753751816283, -246.17096875325257, 2.62605628971, 0.238730348309),
    ),
]


def log_likelihood(sizes, theta, alpha):
    """Straight from the definition, term by term."""
    n = sum(j * s for j, s in sizes.items())
    k = sum(sizes.values())
    return (
        sum(math.log(theta + i * alpha) for i in range(1, k))
        - sum(math.log(theta + i) for i in range(1, n))
        + sum(s * sum(math.log(i - alpha) for i in range(1, j)) for j, s in sizes.items())
    )


def test_tomato_flower_library_as_published():
    fit = fit_ewens_pitman(TOMATO)
    assert (fit.n, fit.k, fit.s1) == (2586, 1825, 1434)
    assert fit.theta == pytest.approx(741, abs=0.5)
    assert fit.alpha == pytest.approx(0.612, abs=0.0005)
    assert fit.converged is True
    assert fit.boundary is False


def test_naegleria_aerobic_library_as_published():
    fit = fit_ewens_pitman(NAEGLERIA)
    assert (fit.n, fit.k, fit.s1) == (959, 473, 346)
    assert fit.theta == pytest.approx(46.3, abs=0.1)
    assert fit.alpha == pytest.approx(0.67, abs=0.005)


@pytest.mark.parametrize(("sizes", "expected"), REFERENCE)
def test_estimates_have_the_digits_of_the_reference(sizes, expected):
    fit = fit_ewens_pitman(sizes)
    theta, alpha, value, theta_se, alpha_se = expected
    assert fit.theta == pytest.approx(theta, rel=1e-11)
    assert fit.alpha == pytest.approx(alpha, rel=1e-11)
    # the value is a difference of parts of size n log n
    assert fit.log_likelihood == pytest.approx(value, abs=1e-14 * fit.n * math.log(fit.n) + 1e-10)
    assert fit.standard_errors.theta == pytest.approx(theta_se, rel=1e-9)
    assert fit.standard_errors.alpha == pytest.approx(alpha_se, rel=1e-9)


def test_log_likelihood_is_the_definition():
    fit = fit_ewens_pitman(NAEGLERIA)
    assert fit.log_likelihood == pytest.approx(
        log_likelihood(NAEGLERIA, fit.theta, fit.alpha), abs=1e-8
    )


@pytest.mark.parametrize(
    ("sizes", "theta"),
    [
        ({1: 1, 2: 1}, math.sqrt(2)),  # Ewens: 1/theta = 1/(theta+1) + 1/(theta+2) by hand
        ({1: 1, 99: 1}, None),
        ({1: 1, 5: 30, 6: 20}, None),
        ({1: 98, 2: 1}, None),
        ({1: 10**9 - 2000, 2: 1000}, None),
    ],
)
def test_the_ewens_boundary_is_found(sizes, theta):
    fit = fit_ewens_pitman(sizes)
    assert fit.alpha == 0.0
    assert fit.boundary is True
    assert math.isnan(fit.standard_errors.alpha)
    assert fit.alpha_interval.low == 0.0
    if theta is not None:
        assert fit.theta == pytest.approx(theta, rel=1e-12)
    # Ewens: the estimate equates k with its expectation sum theta / (theta + i)
    if fit.n < 10**6:
        expected = sum(fit.theta / (fit.theta + i) for i in range(fit.n))
        assert expected == pytest.approx(fit.k, rel=1e-9)


tables = st.dictionaries(st.integers(1, 60), st.integers(1, 80), min_size=1, max_size=8).map(
    lambda d: {1: d.get(1, 1), **d}
)


@given(sizes=tables)
@settings(max_examples=60, deadline=None)
def test_no_other_optimiser_does_better(sizes):
    n = sum(j * s for j, s in sizes.items())
    k = sum(sizes.values())
    assume(1 < k < n)
    fit = fit_ewens_pitman(sizes)

    def negative(point):
        phi, logit = point
        alpha = 1 / (1 + math.exp(-logit))
        theta = math.exp(phi) - alpha
        x = theta / alpha
        value = (k - 1) * math.log(alpha) + gammaln(x + k) - gammaln(x + 1)
        value -= gammaln(theta + n) - gammaln(theta + 1)
        value += sum(s * (gammaln(j - alpha) - gammaln(1 - alpha)) for j, s in sizes.items())
        return -value

    best = max(
        -minimize(negative, start, method="Nelder-Mead", bounds=[(-20, 20), (-6, 12)]).fun
        for start in [(0.0, 0.0), (5.0, -3.0), (-1.0, 3.0)]
    )
    assert fit.log_likelihood >= best - 1e-5 * max(1.0, abs(best))
    assert fit.log_likelihood == pytest.approx(
        log_likelihood(sizes, fit.theta, fit.alpha), abs=1e-8 * n
    )


@given(sizes=tables)
@settings(max_examples=40, deadline=None)
def test_gradient_and_hessian_are_derivatives_of_the_likelihood(sizes):
    assume(sum(sizes.values()) > 1)
    assume(any(j > 1 for j in sizes))
    fit = fit_ewens_pitman(sizes)
    like = fit._likelihood
    theta, alpha, h = 2.5, 0.4, 1e-5

    def gradient(t, a):
        return np.array(
            [
                (like.at(t + h, a).value - like.at(t - h, a).value) / (2 * h),
                (like.at(t, a + h).value - like.at(t, a - h).value) / (2 * h),
            ]
        )

    point = like.at(theta, alpha)
    assert point.gradient == pytest.approx(gradient(theta, alpha), rel=1e-4, abs=1e-4)
    columns = [
        (like.at(theta + h, alpha).gradient - like.at(theta - h, alpha).gradient) / (2 * h),
        (like.at(theta, alpha + h).gradient - like.at(theta, alpha - h).gradient) / (2 * h),
    ]
    assert point.hessian == pytest.approx(np.array(columns).T, rel=1e-5, abs=1e-5)
    phi = math.log(theta + alpha)
    assert like.value_in_logs(phi, alpha) == like.in_logs(phi, alpha).value
    best, value = like.best_phi(alpha, phi)
    assert value == like.in_logs(best, alpha).value


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        ({}, "empty_table"),
        ({3: 0}, "empty_table"),
        ({1: 1}, "single_unit"),
        ({1: 50}, "all_uniques"),
        ({7: 1}, "one_cell"),
        ({2: 10, 3: 4}, "no_sample_uniques"),
    ],
)
def test_degenerate_tables_give_a_named_condition(sizes, reason):
    with pytest.raises(EstimationError) as caught:
        fit_ewens_pitman(sizes)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "sizes", [{0: 3}, {-1: 2, 1: 3}, {1: -2}, {1.5: 2}, {1: 2.5}, {True: 3}, {"1": 2}, [1, 2], None]
)
def test_bad_tables_are_refused(sizes):
    with pytest.raises(ValueError) as caught:
        fit_ewens_pitman(sizes)
    assert caught.value.reason == "bad_input"


def test_numpy_integers_and_order_do_not_matter():
    shuffled = {np.int64(j): np.int32(s) for j, s in reversed(TOMATO.items())} | {99: 0}
    assert fit_ewens_pitman(shuffled).theta == fit_ewens_pitman(TOMATO).theta


def test_profile_intervals_end_where_the_likelihood_has_dropped():
    fit = fit_ewens_pitman(NAEGLERIA)
    like = fit._likelihood
    for alpha in fit.alpha_interval:
        drop = 2 * (fit.log_likelihood - like.best_phi(alpha, 0.0)[1])
        assert drop == pytest.approx(3.841458820694124, abs=1e-7)
    for theta in fit.theta_interval:
        drop = 2 * (fit.log_likelihood - like.best_alpha(theta, 0.5)[1])
        assert drop == pytest.approx(3.841458820694124, abs=1e-7)
    wide, narrow = fit.profile_interval("alpha", 0.99), fit.profile_interval("alpha", 0.5)
    assert wide.low < fit.alpha_interval.low < narrow.low < fit.alpha < narrow.high
    assert narrow.high < fit.alpha_interval.high < wide.high


def test_profile_and_wald_intervals_agree_in_large_samples():
    fit = fit_ewens_pitman({j: 1000 * s for j, s in TOMATO.items()})
    half = 1.959964 * fit.standard_errors.alpha
    assert fit.alpha_interval == pytest.approx((fit.alpha - half, fit.alpha + half), rel=1e-3)


def test_profile_interval_parameters_are_checked():
    fit = fit_ewens_pitman(NAEGLERIA)
    with pytest.raises(ValueError, match="'parameter' parameter of profile_interval"):
        fit.profile_interval("beta")
    with pytest.raises(ValueError, match="'level' parameter of profile_interval"):
        fit.profile_interval("alpha", 1.0)


def test_fits_travel_between_processes():
    fit = fit_ewens_pitman(TOMATO)
    again = pickle.loads(pickle.dumps(fit))
    assert (again.theta, again.alpha, again.sizes) == (fit.theta, fit.alpha, fit.sizes)
    assert pickle.loads(pickle.dumps(fit.p_hat(1e10))) == float(fit.p_hat(1e10))


def test_simulated_partitions_have_the_expected_moments():
    rng = np.random.default_rng(11)
    theta, alpha, n, draws = 4.0, 0.5, 60, 4000
    tables_ = [simulate_partition(n, theta, alpha, rng) for _ in range(draws)]
    assert all(sum(j * s for j, s in t.items()) == n for t in tables_)
    cells = np.array([sum(t.values()) for t in tables_], dtype=float)
    any_fit = fit_ewens_pitman({1: 10, 2: 4, 5: 3})
    fit = replace(any_fit, theta=theta, alpha=alpha, n=n)
    tolerance = 4 * cells.std() / math.sqrt(draws)
    assert cells.mean() == pytest.approx(fit._expected_cells(), abs=tolerance)
    uniques = np.array([t.get(1, 0) for t in tables_], dtype=float)
    tolerance = 4 * uniques.std() / math.sqrt(draws)
    assert uniques.mean() == pytest.approx(fit.population_uniques(n, exact=True), abs=tolerance)


GRID = [(50.0, 0.0), (5.0, 0.2), (50.0, 0.3), (5.0, 0.5), (500.0, 0.6), (20.0, 0.85), (300.0, 0.9)]


def recover(theta, alpha, n, replicates, seed):
    """Fit simulated partitions; return estimates and how often the intervals hold the truth."""
    rng = np.random.default_rng(seed)
    estimates, alpha_in, theta_in, misfits = [], 0, 0, 0
    for _ in range(replicates):
        fit = fit_ewens_pitman(simulate_partition(n, theta, alpha, rng))
        like = fit._likelihood
        phi = math.log(theta + alpha)
        # the truth is inside the profile interval exactly when the profile there has not dropped
        alpha_in += fit._drop(like.best_phi(alpha, phi)[1], 0.95) <= 0
        theta_in += fit._drop(like.best_alpha(theta, alpha or 0.1)[1], 0.95) <= 0
        misfits += not fit.goodness_of_fit().fits
        estimates.append((fit.theta, fit.alpha, fit.standard_errors.alpha))
    return np.array(estimates), alpha_in / replicates, theta_in / replicates, misfits / replicates


@pytest.mark.parametrize(("theta", "alpha"), GRID[1::2])
def test_simulated_partitions_are_recovered(theta, alpha):
    estimates, alpha_in, theta_in, misfits = recover(theta, alpha, 1500, 40, seed=5)
    error = np.median(estimates[:, 1]) - alpha
    assert abs(error) < 3 * np.nanmedian(estimates[:, 2]) / math.sqrt(40) * 1.25
    assert np.median(estimates[:, 0]) == pytest.approx(theta, rel=0.5)
    # 95% of 40: fewer than 33 has probability 0.2%
    assert min(alpha_in, theta_in) >= 33 / 40
    assert misfits <= 4 / 40


@pytest.mark.slow
@pytest.mark.parametrize(("theta", "alpha"), GRID)
def test_interval_coverage_over_the_grid(theta, alpha):
    estimates, alpha_in, theta_in, misfits = recover(theta, alpha, 1500, 300, seed=6)
    assert alpha_in >= 0.91
    assert theta_in >= 0.91
    if alpha > 0:
        assert alpha_in <= 0.985  # not merely wide; on the boundary coverage is above nominal
    assert misfits <= 0.04
    assert np.median(estimates[:, 1]) == pytest.approx(alpha, abs=0.03)


def test_a_table_from_another_world_does_not_fit():
    # cell sizes around 20, and a few uniques: no Ewens-Pitman table looks like it
    fit = fit_ewens_pitman({1: 20, **dict.fromkeys(range(15, 26), 40)})
    quality = fit.goodness_of_fit()
    assert quality.fits is False
    assert quality.p_value < 1e-6
    assert "does not fit" in quality.warning
    assert "s_" in quality.warning or "cells of" in quality.warning


def test_goodness_of_fit_of_the_published_library():
    quality = fit_ewens_pitman(NAEGLERIA).goodness_of_fit()
    assert quality.observed.tolist() == [346, 57, 19, 12, 9]
    assert quality.expected == pytest.approx([346.47, 54.80, 23.21, 12.91, 8.21], abs=0.005)
    assert quality.fits is True
    assert quality.warning == ""
    with pytest.raises(ValueError, match="'largest' parameter"):
        fit_ewens_pitman(NAEGLERIA).goodness_of_fit(0)


def test_too_small_a_table_claims_nothing_about_its_fit():
    quality = fit_ewens_pitman({1: 1, 2: 1}).goodness_of_fit()
    assert math.isnan(quality.p_value)
    assert quality.fits is True
