"""Population uniques, p-hat and the paper's table."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nes_spark.risk import (
    expected_uniques,
    fit_ewens_pitman,
    log_expected_uniques,
    unique_proportion,
)
from nes_spark.risk.uniques import log_expected_sizes

# theta, alpha, N, log of the exact and of the asymptotic expectation (60-digit arithmetic)
REFERENCE = [
    (741.0, 0.612, 2586, 7.2754003680666318, 7.3730794075624454),
    (741.0, 0.612, 1e6, 11.018869790267336, 11.019156922725518),
    (46.3, 0.67, 1e10, 16.695301694589791, 16.695301696095746),
    (15.774, 0.889, 1e30, 61.719224719761674, 61.719224719761674),
    (-0.5, 0.8, 1e20, 36.317928436011358, 36.317928436011358),
    (58.882, 0.864, 1e10, 20.449603753253569, 20.449603754046639),
    (3.0, 0.0, 1e30, 1.0986122886681097, 1.0986122886681097),
]

# paper, section 3.2.1, table of estimates: theta, alpha, s1 / n
PAPER = {
    "Organization+Person": (15.774, 0.889, 0.238),
    "Organization+Product": (35.259, 0.896, 0.245),
    "Organization+Location": (58.882, 0.864, 0.237),
    "Person+Product": (31.770, 0.865, 0.122),
    "Person+Location": (15.443, 0.769, 0.081),
    "Product+Location": (27.602, 0.831, 0.117),
}
# p-hat at N = 1e10, 1e20, 1e30 (60-digit arithmetic)
PAPER_P_HAT = {
    "Organization+Person": (0.4443669658, 0.03449385759, 0.00267757575),
    "Organization+Product": (0.53991044, 0.04924041736, 0.004490779437),
    "Organization+Location": (0.3209236489, 0.01400882537, 0.0006115074064),
    "Person+Product": (0.5850696584, 0.02613410167, 0.001167367441),
    "Person+Location": (0.1144445228, 0.0005605250327, 2.745332888e-6),
    "Product+Location": (0.3065021232, 0.006257970151, 0.0001277713511),
}
N_CHUNKS = 1819


@pytest.mark.parametrize(("theta", "alpha", "N", "exact", "asymptotic"), REFERENCE)
def test_expected_uniques_have_all_digits(theta, alpha, N, exact, asymptotic):
    assert log_expected_uniques(theta, alpha, N, exact=True) == pytest.approx(exact, rel=1e-14)
    assert log_expected_uniques(theta, alpha, N) == pytest.approx(asymptotic, rel=1e-14)


@given(theta=st.floats(0.01, 1e4), alpha=st.floats(0, 0.99), power=st.floats(8, 29))
def test_the_exact_form_tends_to_the_asymptotic_one(theta, alpha, power):
    """At a relative rate of theta^2 / N."""
    N = (theta + 1) ** 2 * 10**power
    gap = log_expected_uniques(theta, alpha, N, exact=True) - log_expected_uniques(theta, alpha, N)
    assert abs(gap) < 10 ** (0.5 - power) + 1e-12


@given(theta=st.floats(-0.5, 100), alpha=st.floats(0.51, 0.99), n=st.integers(1, 80))
def test_expected_sizes_account_for_every_unit(theta, alpha, n):
    expected = np.exp(log_expected_sizes(theta, alpha, n, n))
    assert (np.arange(1, n + 1) * expected).sum() == pytest.approx(n, rel=1e-10)


def test_expected_sizes_by_enumeration():
    """All partitions of four units, weighted by the Ewens-Pitman sampling formula."""
    theta, alpha = 1.3, 0.4
    partitions = {(4,): 1, (3, 1): 4, (2, 2): 3, (2, 1, 1): 6, (1, 1, 1, 1): 1}
    expected = np.zeros(4)
    total = 0.0
    for blocks, ways in partitions.items():
        p = ways / ((theta + 1) * (theta + 2) * (theta + 3))
        for i in range(1, len(blocks)):
            p *= theta + i * alpha
        p *= math.prod(i - alpha for j in blocks for i in range(1, j))
        for j in blocks:
            expected[j - 1] += p
        total += p
    assert total == pytest.approx(1)
    assert np.exp(log_expected_sizes(theta, alpha, 4, 4)) == pytest.approx(expected)
    assert expected_uniques(theta, alpha, 4, exact=True) == pytest.approx(expected[0])


def test_sizes_above_n_are_never_expected():
    assert log_expected_sizes(1.0, 0.5, 3, 5)[3:].tolist() == [-math.inf, -math.inf]


@pytest.mark.parametrize("pair", PAPER)
def test_p_hat_of_the_papers_table(pair):
    theta, alpha, ratio = PAPER[pair]
    for N, expected in zip((1e10, 1e20, 1e30), PAPER_P_HAT[pair], strict=True):
        p = unique_proportion(theta, alpha, ratio * N_CHUNKS, N_CHUNKS, N)
        assert p == pytest.approx(expected, rel=1e-9)
        assert p == pytest.approx(unique_proportion(theta, alpha, ratio, 1, N), rel=1e-12)


def ranking(N, effect):
    """Pairs from the largest to the smallest p-hat, or fall of DR per swapped sample unique."""
    values = {}
    for pair, (theta, alpha, ratio) in PAPER.items():
        s1 = ratio * N_CHUNKS
        p = unique_proportion(theta, alpha, s1, N_CHUNKS, N)
        values[pair] = p / s1 if effect else p
    return sorted(values, key=values.__getitem__, reverse=True)


def test_the_papers_conclusions_follow_from_its_table():
    # N = 1e10: a swapped unique of Product+Location lowers DR more than one of Organization+Product
    at_10 = ranking(1e10, effect=True)
    assert at_10[:3] == ["Person+Product", "Product+Location", "Organization+Product"]
    for N in (1e20, 1e30):
        assert ranking(N, effect=False)[0] == "Organization+Product"
        fallen = ranking(N, effect=True)
        # The paper's plots call Product+Location the worst pair here. Its own table puts it behind
        # every pair but Person+Location, whose alpha of .769 makes p-hat smaller still.
        assert fallen[-2:] == ["Product+Location", "Person+Location"]
        assert ranking(N, effect=False)[-2:] == ["Product+Location", "Person+Location"]
    assert ranking(1e30, effect=True)[0] == "Organization+Product"


@given(theta=st.floats(0.1, 1e3), alpha=st.floats(0.05, 0.95))
def test_p_hat_falls_with_the_population(theta, alpha):
    values = [unique_proportion(theta, alpha, 100, 1000, N, exact=True) for N in (1e3, 1e6, 1e20)]
    assert all(a > b for a, b in pairwise(values))


def test_p_hat_is_unclipped_with_a_flag():
    fit = fit_ewens_pitman({1: 98, 2: 1})
    p = fit.p_hat(100)
    assert float(p) > 1
    assert p.clipped == 1.0
    assert p.was_clipped is True
    ordinary = fit.p_hat(1e6)
    assert 0 < ordinary < 1
    assert ordinary.clipped == float(ordinary)
    assert ordinary.was_clipped is False


def test_p_hat_is_its_definition():
    fit = fit_ewens_pitman({1: 346, 2: 57, 3: 19, 4: 12, 5: 9, 6: 5})
    for exact in (False, True):
        expected = fit.population_uniques(1e12, exact) / fit.s1 * fit.n / 1e12
        assert fit.p_hat(1e12, exact) == pytest.approx(expected, rel=1e-12)


def test_intervals_of_p_hat():
    fit = fit_ewens_pitman({1: 34600, 2: 5700, 3: 1900, 4: 1200, 5: 900, 6: 500, 8: 400, 12: 300})
    for exact in (False, True):
        profile = fit.p_hat(1e8, exact).interval
        delta = fit.p_hat(1e8, exact, method="delta").interval
        assert profile.low < fit.p_hat(1e8, exact) < profile.high
        assert profile == pytest.approx(delta, rel=0.02)
        wide = fit.p_hat(1e8, exact, level=0.999).interval
        assert wide.low < profile.low < profile.high < wide.high


def test_the_profile_interval_is_the_range_over_the_likelihood_region():
    """A brute-force scan of the region finds nothing outside the interval, and nearly its ends."""
    fit = fit_ewens_pitman({1: 40, 2: 12, 3: 5, 4: 2, 6: 2, 9: 1, 15: 1})
    found = fit.p_hat(1e6).interval

    def inside(alphas, phis):
        likely = fit._likelihood.in_logs
        return [(a, p) for a in alphas for p in phis if fit._drop(likely(p, a).value, 0.95) <= 0]

    # the whole plane in coarse steps, then what lies around the region in fine ones
    region = np.array(inside(np.linspace(0, 0.95, 30), np.linspace(-3, 7, 60)))
    step = np.array([0.04, 0.2])
    (a, p), (b, q) = region.min(axis=0) - step, region.max(axis=0) + step
    region = inside(np.linspace(max(a, 0), min(b, 0.95), 40), np.linspace(p, q, 60))
    shares = [unique_proportion(math.exp(phi) - a, a, fit.s1, fit.n, 1e6) for a, phi in region]
    assert found.low <= min(shares)
    assert max(shares) <= found.high
    assert found.low == pytest.approx(min(shares), rel=0.05)
    assert found.high == pytest.approx(max(shares), rel=0.05)


def test_the_interval_on_the_boundary_is_not_degenerate():
    fit = fit_ewens_pitman({1: 98, 2: 1})
    low, high = fit.p_hat(1e6).interval
    assert low < fit.p_hat(1e6) < high


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((1.0, 1.0, 1e9), "alpha"),
        ((-0.5, 0.5, 1e9), "theta"),
        ((math.inf, 0.5, 1e9), "theta"),
        ((1.0, 0.5, 0.5), "N"),
        ((1.0, 0.5, math.nan), "N"),
    ],
)
def test_parameters_out_of_range_are_named(arguments, name):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of log_expected_uniques"):
        log_expected_uniques(*arguments)


def test_a_population_below_the_sample_is_refused():
    fit = fit_ewens_pitman({1: 50, 2: 10})
    with pytest.raises(ValueError, match=r"'N' parameter of p_hat must be .* at least n = 70"):
        fit.p_hat(69)
    with pytest.raises(ValueError, match="'N' parameter of population_uniques"):
        fit.population_uniques(1)
    with pytest.raises(ValueError, match="'s1' parameter"):
        unique_proportion(1.0, 0.5, 0, 10, 1e3)
    with pytest.raises(ValueError, match="'n' parameter"):
        unique_proportion(1.0, 0.5, 3, 0, 1e3)
    with pytest.raises(ValueError, match="'method' parameter"):
        fit.p_hat(100, method="bootstrap")
