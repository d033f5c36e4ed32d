"""Staying unique, and whether the fit describes the sample uniques."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nes_spark.risk import (
    comparable_population,
    fit_ewens_pitman,
    simulate_partition,
    stays_unique_table,
    unique_proportion,
)
from nes_spark.risk.sizes import solve_size_law, uniques_given_cells
from nes_spark.risk.tables import fit_row
from nes_spark.risk.uniques import log_factorial_moment, log_stays_unique

TABLE = {1: 130, 2: 40, 3: 15, 5: 9, 12: 4, 60: 1}
GIANT = {1: 100, 10**9: 1}

# theta, alpha, n, N, log pi(N) (80-digit arithmetic)
STAYS = [
    (741.0, 0.612, 2586, 1e6, -2.21417357643176713),
    (46.3, 0.67, 913, 1e10, -5.33291236383280284),
    (15.774, 0.889, 1819, 1e30, -6.83351286826453047),
    (-0.5, 0.8, 500, 1e20, -7.96785920486153883),
    (3.0, 0.0, 50, 1e30, -65.1263090712399432),
    (58.882, 0.864, 1819, 1e6, -0.853804130506084134),
    (-0.97, 0.99, 10**9, 1e20, -0.25328436024409525),
    (2.0, 0.5, 7, 8.0, -0.057158413839948612),
]


@pytest.mark.parametrize(("theta", "alpha", "n", "N", "expected"), STAYS)
def test_staying_unique_has_all_digits(theta, alpha, n, N, expected):
    assert log_stays_unique(theta, alpha, n, N) == pytest.approx(expected, rel=1e-13, abs=1e-14)


def urn(n, N, theta, alpha, rng):
    """Sample uniques of the first n units, and those that are alone among all N."""
    cells = []
    counts = []
    sample = 0
    for i in range(N):
        k = len(counts)
        if i == n:
            sample = sum(c == 1 for c in counts)
            known = k
        if i == 0 or rng.random() * (theta + i) < theta + k * alpha:
            cells.append(k)
            counts.append(1)
            continue
        while True:  # a cell with probability proportional to its count less alpha
            cell = cells[int(rng.random() * i)]
            if rng.random() * counts[cell] < counts[cell] - alpha:
                break
        cells.append(cell)
        counts[cell] += 1
    # sample uniques that were joined have a count of at least two; later cells do not count
    first = cells[:n]
    alone = sum(1 for c in set(first) if first.count(c) == 1 and counts[c] == 1)
    assert known == len(set(first))
    return sample, alone


@pytest.mark.parametrize(("theta", "alpha"), [(3.0, 0.6), (8.0, 0.0), (-0.4, 0.7)])
def test_staying_unique_is_what_an_urn_does(theta, alpha):
    rng = np.random.default_rng(11)
    n, N, runs = 25, 120, 700
    drawn = np.array([urn(n, N, theta, alpha, rng) for _ in range(runs)], dtype=float)
    ratio = drawn[:, 1].sum() / drawn[:, 0].sum()
    residual = drawn[:, 1] - ratio * drawn[:, 0]
    error = residual.std(ddof=1) / drawn[:, 0].mean() / math.sqrt(runs)
    assert abs(ratio - math.exp(log_stays_unique(theta, alpha, n, N))) < 4 * error
    assert drawn[:, 0].mean() == pytest.approx(
        math.exp(log_factorial_moment(theta, alpha, n, 1)),
        abs=4 * drawn[:, 0].std() / math.sqrt(runs),
    )


FIT = fit_ewens_pitman(TABLE)


@given(st.floats(0, 30), st.floats(0, 30), st.sampled_from(["delta", "profile"]))
@settings(max_examples=15, deadline=None)
def test_staying_unique_is_a_probability_that_falls(one, other, method):
    small, large = sorted([max(10**one, FIT.n), max(10**other, FIT.n)])
    earlier, later = FIT.stays_unique(small, method=method), FIT.stays_unique(large, method=method)
    for found in (earlier, later):
        assert 0 <= found.low <= found.value <= found.high <= 1
    assert later.value <= earlier.value


def test_staying_unique_is_p_hat_with_the_expected_uniques():
    for N in (FIT.n, 1e6, 1e20):
        expected = math.exp(log_factorial_moment(FIT.theta, FIT.alpha, FIT.n, 1))
        p = unique_proportion(FIT.theta, FIT.alpha, expected, FIT.n, N, exact=True)
        assert FIT.stays_unique(N).value == pytest.approx(p, rel=1e-10)
        assert FIT.p_hat(N, exact=True) == pytest.approx(
            FIT.stays_unique(N).value * FIT.goodness_of_fit().p_hat_factor, rel=1e-10
        )
    assert FIT.stays_unique(FIT.n) == (1.0, 1.0, 1.0)


def test_intervals_of_staying_unique():
    profile, delta = FIT.stays_unique(1e10), FIT.stays_unique(1e10, method="delta")
    for a, b in zip(profile, delta, strict=True):
        assert math.log(a) == pytest.approx(math.log(b), rel=0.1)
    narrow = FIT.stays_unique(1e10, level=0.5)
    assert profile.low < narrow.low < narrow.value < narrow.high < profile.high
    # on the boundary alpha = 0 the estimate is at the end of what is possible, not its interval
    ewens = fit_ewens_pitman({1: 20, 2: 10, 3: 7, 4: 5, 5: 4, 6: 3, 8: 4, 12: 4, 20: 2})
    assert ewens.boundary
    found = ewens.stays_unique(1e6)
    assert 0 < found.low < found.value < found.high / 1.5
    with pytest.raises(ValueError, match="'method' parameter"):
        FIT.stays_unique(1e10, method="guess")
    with pytest.raises(ValueError, match="'N' parameter"):
        FIT.stays_unique(FIT.n - 1)
    with pytest.raises(ValueError, match="'level' parameter"):
        FIT.stays_unique(1e10, level=1.0)


def test_predictions_of_staying_cover_what_happens():
    """The number of sample uniques that stay unique, in continued urns."""
    rng = np.random.default_rng(5)
    theta, alpha, n, N = 20.0, 0.6, 200, 1200
    hits = runs = 0
    for _ in range(40):
        sizes = simulate_partition(n, theta, alpha, rng)
        fit = fit_ewens_pitman(sizes)
        alive = fit.s1
        for i in range(n, N):  # a later unit joins one of those alive
            alive -= rng.random() * (theta + i) < alive * (1 - alpha)
        predicted = fit.predict_staying(N)
        assert 0 <= predicted.low <= predicted.value <= predicted.high <= fit.s1
        hits += predicted.low <= alive <= predicted.high
        runs += 1
    assert hits / runs >= 0.85  # 95 % less three standard errors
    assert fit.predict_staying(n) == (fit.s1, fit.s1, fit.s1)


def partitions_of(total, most=None):
    most = total if most is None else most
    if total == 0:
        yield ()
        return
    for part in range(min(total, most), 0, -1):
        for rest in partitions_of(total - part, part):
            yield (part, *rest)


def weight_of(blocks, theta, alpha):
    """Probability of all set partitions with these block sizes, but for what n fixes."""
    n = sum(blocks)
    ways = math.factorial(n)
    for j in blocks:
        ways /= math.factorial(j)
    for j in set(blocks):
        ways /= math.factorial(blocks.count(j))
    p = ways * math.prod(theta + i * alpha for i in range(1, len(blocks)))
    return p * math.prod(i - alpha for j in blocks for i in range(1, j))


@pytest.mark.parametrize(("theta", "alpha"), [(1.3, 0.4), (-0.3, 0.6), (2.0, 0.0)])
def test_moments_of_the_sample_uniques_by_enumeration(theta, alpha):
    n = 12
    blocks = list(partitions_of(n))
    p = np.array([weight_of(b, theta, alpha) for b in blocks])
    p /= p.sum()
    ones = np.array([b.count(1) for b in blocks])
    for order, moment in ((1, ones), (2, ones * (ones - 1))):
        expected = math.log(float(p @ moment))
        assert log_factorial_moment(theta, alpha, n, order) == pytest.approx(expected, rel=1e-12)


def log_weights(alpha, n):
    """Log sum of prod (1 - alpha)(2 - alpha).. over set partitions of m units into k cells.

    By where the last unit goes: W(m + 1, k) = (m - k alpha) W(m, k) + W(m, k - 1).
    """
    rows = [np.full(n + 2, -np.inf)]
    rows[0][0] = 0.0
    k = np.arange(n + 2)
    for m in range(n):
        with np.errstate(divide="ignore"):
            joined = np.where(k <= m, np.log(np.maximum(m - k * alpha, 0)), -np.inf) + rows[-1]
        rows.append(np.logaddexp(joined, np.concatenate([[-np.inf], rows[-1][:-1]])))
    return rows


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.7])
def test_uniques_given_cells_are_near_their_exact_moments(alpha):
    n, k = 400, 150
    w = log_weights(alpha, n)
    mean = n * math.exp(w[n - 1][k - 1] - w[n][k])
    pairs = n * (n - 1) * math.exp(w[n - 2][k - 2] - w[n][k])
    found = uniques_given_cells(alpha, n, k)
    assert found.mean == pytest.approx(mean, rel=0.01)
    assert found.sd == pytest.approx(math.sqrt(pairs + mean - mean**2), rel=0.02)
    assert 0 < found.sd_fitted < found.sd


def test_the_law_of_sizes_has_its_mean_up_to_huge_tables():
    for alpha in (0.0, 0.5, 0.99):
        for mean in (1.001, 3.0, 1e7):
            y = solve_size_law(alpha, mean)
            h = -y if alpha == 0 else -math.expm1(alpha * y) / alpha
            log_found = math.log(-math.expm1(y)) + (alpha - 1) * y - math.log(h)
            assert log_found == pytest.approx(math.log(mean), abs=1e-10)
    assert uniques_given_cells(0.99, 10**9 + 100, 101).mean <= 101


def test_a_p_hat_in_the_millions_is_not_passed_over():
    fit = fit_ewens_pitman(GIANT)
    p = fit.p_hat(1e20)
    assert p > 1e6
    assert p.was_clipped
    assert p.clipped == 1.0
    quality = fit.goodness_of_fit()
    assert math.isnan(quality.p_value)  # the chi-square, scaled to k cells, sees nothing
    assert not quality.p_hat_holds
    assert quality.p_hat_factor == pytest.approx(6.126e6, rel=1e-3)
    assert "6.13e+06 times the 100 observed" in quality.warning
    assert 0 < fit.stays_unique(1e20).value < 1
    assert fit_row("A", GIANT)["warning"] == quality.warning


def test_sample_uniques_that_the_chi_square_passes_over():
    sizes = {1: 117, 2: 20, 3: 6, 4: 4, 5: 2, 8: 2, 30: 1, 900: 1}
    quality = fit_ewens_pitman(sizes).goodness_of_fit()
    assert quality.p_value > 0.05
    assert quality.s1_expected > 1.5 * 117
    assert not quality.p_hat_holds
    assert quality.warning


def test_a_shape_that_has_the_wrong_sample_uniques():
    quality = fit_ewens_pitman({1: 60, 2: 2, 30: 20}).goodness_of_fit()
    assert quality.s1_p_value < 1e-6
    assert not quality.fits
    assert "do not rely on p-hat" in quality.warning


@pytest.mark.parametrize(("theta", "alpha", "n"), [(30.0, 0.6, 800), (8.0, 0.0, 500)])
def test_the_test_of_the_sample_uniques_keeps_its_level(theta, alpha, n):
    rng = np.random.default_rng(3)
    found = [
        fit_ewens_pitman(simulate_partition(n, theta, alpha, rng)).goodness_of_fit()
        for _ in range(80)
    ]
    values = np.array([f.s1_p_value for f in found])
    values = values[~np.isnan(values)]
    assert len(values) >= 60
    assert np.mean(values < 0.05) <= 0.125  # three standard errors above
    assert np.mean(values < 0.5) >= 0.25  # and it is no test that never rejects
    assert np.mean([f.p_hat_holds for f in found]) >= 0.95


def test_table_of_staying_unique():
    fits = pd.DataFrame([fit_row("A+B", TABLE), fit_row("A", {1: 5}), fit_row("B", GIANT)])
    found = stays_unique_table(fits)
    assert found["combination"].tolist() == ["A+B", "B"]
    assert found["population"].tolist() == [1e6, 100.0 * (10**9 + 100)]
    assert comparable_population(20_000) == 2e6
    first = found.iloc[0]
    assert (first["stays"], first["stays_low"], first["stays_high"]) == FIT.stays_unique(1e6)
    assert first["expected"] == FIT.s1 * first["stays"]
    assert found["p_hat_holds"].tolist() == [FIT.goodness_of_fit().p_hat_holds, False]
    assert len(stays_unique_table(fits, [1e10, 1e20])) == 4
