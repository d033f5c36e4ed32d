"""Sums of logarithms and gamma ratios against 60-digit references (computed with mpmath)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from nes_spark.risk.special import log_gamma_ratio, log_sum, log_sum_slopes, log_sum_value

# a, b, m, (value, d_a, d_b, d_aa, d_ab, d_bb)
LOG_SUMS = [
    (
        741.0,
        0.612,
        1825,
        (
            13018.030906203462,
            1.5010193816491238,
            1162.9814349640511,
            -0.0013245747766189678,
            -0.84887168655958935,
            -872.49593990750884,
        ),
    ),
    (
        5.0,
        1e-12,
        10**6,
        (
            1609436.4029960813,
            199999.78000002267,
            99999886666.688667,
            -39999.9520000096,
            -19999974666.675867,
            -13333309333348960.0,
        ),
    ),
    (
        -0.4,
        0.4000001,
        2000,
        (
            11344.456569328552,
            10000020.443125938,
            10005015.441872078,
            -99999999994259.145,
            -99999999994310.253,
            -100000000006848.86,
        ),
    ),
    (
        1e15,
        0.3,
        10**9,
        (
            34538776510.371894,
            9.9999984900003015e-7,
            499.99989950002265,
            -9.999996990000903e-22,
            -4.999997995000678e-13,
            -0.00033333318283338763,
        ),
    ),
    (
        20.0,
        1.0,
        10**9,
        (
            19723266199.633417,
            17.702741864204262,
            999999644.94516272,
            -0.048770821935203139,
            -16.727325425500199,
            -999999310.39865421,
        ),
    ),
    (
        1e5,
        1e-5,
        10**8,
        (
            1151790876.5961198,
            995.03307536631323,
            49669146336.867647,
            -0.0099009899999950985,
            -493407.53668033833,
            -32839266883381.344,
        ),
    ),
    (
        0.3,
        0.0,
        500,
        (
            -600.78242935864208,
            1663.3333333333334,
            415833.33333333335,
            -5544.4444444444449,
            -1386111.1111111112,
            -461575000.0,
        ),
    ),
]

# x, d, lnGamma(x + d) - lnGamma(x)
RATIOS = [
    (1e30, -0.1, -6.9077552789821374),
    (1e20, -0.9, -41.446531673892823),
    (3.2, 0.4, 0.42751848142150724),
    (1e-9, 1.0, -20.723265836946411),
    (741.612, 0.388, 2.5640644612513821),
    (1e10, -1.0, -23.025850929840457),
    (50.0, -0.99, -3.8530034521885223),
]


@pytest.mark.parametrize(("a", "b", "m", "expected"), LOG_SUMS)
def test_log_sum_has_all_digits(a, b, m, expected):
    assert tuple(log_sum(a, b, m)) == pytest.approx(expected, rel=1e-13)


@given(
    alpha=st.floats(0, 1),
    excess=st.floats(1e-3, 1e6),
    m=st.integers(1, 400),
)
def test_log_sum_is_the_plain_sum(alpha, excess, m):
    a = excess - alpha
    i = np.arange(1, m)
    u = a + i * alpha
    found = log_sum(a, alpha, m)
    plain = [
        np.log(u).sum(),
        (1 / u).sum(),
        (i / u).sum(),
        -(1 / u**2).sum(),
        -(i / u**2).sum(),
        -((i / u) ** 2).sum(),
    ]
    # the plain sum rounds each u, which near 1 is all that its logarithm has
    scale = 1e-15 * np.abs(np.log(u)).sum() + 1e-16 * m
    assert found.value == pytest.approx(plain[0], rel=1e-12, abs=10 * scale)
    assert tuple(found)[1:] == pytest.approx(plain[1:], rel=1e-10)


def parts_are_those_of_the_whole(a, b, m):
    whole = log_sum(a, b, m)
    assert log_sum_value(a, b, m) == whole.value
    assert log_sum_slopes(a, b, m) == (whole.d_a, whole.d_aa)


@pytest.mark.parametrize(("a", "b", "m", "_"), LOG_SUMS)
def test_parts_of_a_log_sum_are_its_parts_to_the_bit(a, b, m, _):
    parts_are_those_of_the_whole(a, b, m)


@given(
    alpha=st.floats(0, 1, exclude_max=True),
    excess=st.floats(1e-9, 1e9),
    m=st.one_of(st.integers(1, 60), st.integers(1, 10**9)),
)
def test_parts_of_any_log_sum_are_its_parts_to_the_bit(alpha, excess, m):
    parts_are_those_of_the_whole(excess - alpha, alpha, m)
    parts_are_those_of_the_whole(np.float64(excess - alpha), 1.0, m)


@pytest.mark.parametrize(("x", "d", "expected"), RATIOS)
def test_log_gamma_ratio_has_all_digits(x, d, expected):
    assert log_gamma_ratio(x, d) == pytest.approx(expected, rel=2e-15)


@given(x=st.floats(1e-3, 1e4), d=st.floats(-1, 2))
def test_log_gamma_ratio_is_a_difference_of_log_gammas(x, d):
    if x + d < 1e-3:
        x += 1 - d
    expected = gammaln(x + d) - gammaln(x)
    assert log_gamma_ratio(x, d) == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_log_gamma_ratio_adds_up():
    whole = log_gamma_ratio(1e25, 0.5) + log_gamma_ratio(1e25 + 0.5, 0.5)
    assert whole == pytest.approx(math.log(1e25), rel=1e-14)
