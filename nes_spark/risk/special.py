"""Sums of logarithms and ratios of gamma functions without cancellation.

The Ewens-Pitman likelihood is made of ``sum log(a + i b)``, which is a difference of two log-gamma
functions of ``a / b``. Taking that difference literally loses all digits where ``b`` is small
beside ``a`` (the way to the Ewens model, ``b = 0``) or where the arguments are large (populations
up to 1e30). The functions here evaluate the difference itself.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

#: Terms that are added one by one before the Euler-Maclaurin formula takes over.
_HEAD = 24

_HEADS = np.arange(1, _HEAD + 1, dtype=float)

#: B_2j / (2j (2j - 1)), j = 1..8: the coefficients of Stirling's series.
_STIRLING = (
    1 / 12,
    -1 / 360,
    1 / 1260,
    -1 / 1680,
    1 / 1188,
    -691 / 360360,
    1 / 156,
    -3617 / 122400,
)

#: Below this the integrals over [0, 1] are taken from their power series.
_SERIES_BELOW = 0.25
_POWERS = np.arange(30)
_SIGNS = np.where(_POWERS % 2 == 0, 1.0, -1.0)


class LogSum(NamedTuple):
    """``sum_{i=1}^{m-1} log(a + i b)`` with its first and second derivatives in a and b."""

    value: float
    d_a: float
    d_b: float
    d_aa: float
    d_ab: float
    d_bb: float


def _unit_integrals(y: float) -> tuple[float, float, float, float, float, float]:
    """Integrals over v in [0, 1] of log(1+yv), 1/(1+yv), v/(1+yv), and 1, v, v^2 over (1+yv)^2."""
    if y < _SERIES_BELOW:
        q = _POWERS
        terms = _SIGNS * y**q
        return (
            float(np.sum(terms * y / ((q + 1) * (q + 2)))),
            float(np.sum(terms / (q + 1))),
            float(np.sum(terms / (q + 2))),
            1 / (1 + y),
            float(np.sum(terms * (q + 1) / (q + 2))),
            float(np.sum(terms * (q + 1) / (q + 3))),
        )
    log = math.log1p(y)
    return (
        ((1 + y) * log - y) / y,
        log / y,
        (y - log) / y**2,
        1 / (1 + y),
        (log - y / (1 + y)) / y**2,
        (y * (2 + y) / (1 + y) - 2 * log) / y**3,
    )


def _end_terms(a: float, b: float, t: float) -> np.ndarray:
    """Euler-Maclaurin terms of log(a + t b) at one end t, with derivatives as in LogSum."""
    u = a + t * b
    rho = b / u
    square = rho * rho
    value = first = second = 0.0
    power = 1.0  # rho^(2j - 2)
    for j, c in enumerate(_STIRLING, start=1):
        value += c * power * rho
        first += c * (2 * j - 1) * power
        if j > 1:
            second += c * (2 * j - 1) * (2 * j - 2) * power / rho if rho else 0.0
        power *= square
    r_a, r_b = -rho / u, a / u**2
    r_aa, r_ab, r_bb = 2 * rho / u**2, (u - 2 * a) / u**3, -2 * a * t / u**3
    return np.array(
        [
            value - 0.5 * math.log(u),
            first * r_a - 0.5 / u,
            first * r_b - 0.5 * t / u,
            second * r_a * r_a + first * r_aa + 0.5 / u**2,
            second * r_a * r_b + first * r_ab + 0.5 * t / u**2,
            second * r_b * r_b + first * r_bb + 0.5 * (t / u) ** 2,
        ]
    )


def log_sum(a: float, b: float, m: int) -> LogSum:
    r"""Return ``sum_{i=1}^{m-1} log(a + i b)`` and its derivatives in constant time.

    For b > 0 the sum is ``(m-1) log b + lnGamma(a/b + m) - lnGamma(a/b + 1)``, its derivatives are
    differences of digamma and trigamma functions. The first terms are added directly and the rest
    follows from the Euler-Maclaurin formula,

    .. math:: \sum_{i=s}^{m-1} g(i) = \int_s^m g - \tfrac12 [g]_s^m
              + \sum_j \frac{B_{2j}}{(2j)!} [g^{(2j-1)}]_s^m,

    whose remainder is below the rounding error since b / (a + s b) <= 1 / (s - 1). Unlike the
    gamma functions it has no singular case at b = 0.

    Parameters
    ----------
    a, b : float
        b >= 0 and a > -b.
    m : int
        At least 1; up to 1e9 and beyond.

    Returns
    -------
    LogSum
        Value, d/da, d/db, d2/da2, d2/dadb, d2/db2.
    """
    i = np.arange(1, min(m, _HEAD + 1), dtype=float)
    u = a + i * b
    w = i / u
    total = np.array(
        [
            math.fsum(np.log(u)),
            math.fsum(1 / u),
            math.fsum(w),
            -math.fsum(1 / u**2),
            -math.fsum(w / u),
            -math.fsum(w**2),
        ]
    )
    if m > _HEAD + 1:
        start = _HEAD + 1
        length = float(m - start)
        p = a + b * start
        f0, f1, f2, g0, g1, g2 = _unit_integrals(b * length / p)
        unit = length / p
        total += np.array(
            [
                length * (math.log(p) + f0),
                unit * f1,
                unit * (start * f1 + length * f2),
                -unit * g0 / p,
                -unit * (start * g0 + length * g1) / p,
                -unit * (start * start * g0 + 2 * start * length * g1 + length * length * g2) / p,
            ]
        )
        total += _end_terms(a, b, float(m)) - _end_terms(a, b, float(start))
    return LogSum(*(float(x) for x in total))


def log_sum_value(a: float, b: float, m: int) -> float:
    """Return the value of :func:`log_sum` alone, to the bit, in a fraction of its time."""
    a, b = float(a), float(b)
    total = math.fsum(np.log(a + _HEADS[: max(m - 1, 0)] * b).tolist())
    if m > _HEAD + 1:
        start = _HEAD + 1
        length = float(m - start)
        p = a + b * start
        y = b * length / p
        if y < _SERIES_BELOW:
            terms = _SIGNS * y**_POWERS
            integral = float(np.sum(terms * y / ((_POWERS + 1) * (_POWERS + 2))))
        else:
            integral = ((1 + y) * math.log1p(y) - y) / y
        total += length * (math.log(p) + integral)
        total += _end_value(a, b, float(m)) - _end_value(a, b, float(start))
    return total


def _end_value(a: float, b: float, t: float) -> float:
    u = a + t * b
    rho = b / u
    square = rho * rho
    value, power = 0.0, 1.0
    for c in _STIRLING:
        value += c * power * rho
        power *= square
    return value - 0.5 * math.log(u)


def log_sum_slopes(a: float, b: float, m: int) -> tuple[float, float]:
    """Return d/da and d2/da2 of :func:`log_sum` alone, to the bit, in a fraction of its time."""
    a, b = float(a), float(b)
    u = a + _HEADS[: max(m - 1, 0)] * b
    first = math.fsum((1 / u).tolist())
    second = -math.fsum((1 / u**2).tolist())
    if m > _HEAD + 1:
        start = _HEAD + 1
        length = float(m - start)
        p = a + b * start
        y = b * length / p
        if y < _SERIES_BELOW:
            integral = float(np.sum(_SIGNS * y**_POWERS / (_POWERS + 1)))
        else:
            integral = math.log1p(y) / y
        unit = length / p
        first += unit * integral
        second += -unit * (1 / (1 + y)) / p
        ends = _end_slopes(a, b, float(m)), _end_slopes(a, b, float(start))
        first += ends[0][0] - ends[1][0]
        second += ends[0][1] - ends[1][1]
    return first, second


def _end_slopes(a: float, b: float, t: float) -> tuple[float, float]:
    u = a + t * b
    rho = b / u
    square = rho * rho
    first = second = 0.0
    power = 1.0
    for j, c in enumerate(_STIRLING, start=1):
        first += c * (2 * j - 1) * power
        if j > 1:
            second += c * (2 * j - 1) * (2 * j - 2) * power / rho if rho else 0.0
        power *= square
    r_a, r_aa = -rho / u, 2 * rho / u**2
    return first * r_a - 0.5 / u, second * r_a * r_a + first * r_aa + 0.5 / u**2


def log_gamma_ratio(x: float, d: float) -> float:
    """Return ``lnGamma(x + d) - lnGamma(x)`` to full precision for x up to 1e30 and |d| <= 2.

    Stirling's series is subtracted from itself term by term, with log1p for the logarithms; small
    arguments are first moved up by the recurrence of the gamma function.

    Parameters
    ----------
    x, d : float
        x > 0 and x + d > 0.
    """
    shift = 0.0
    while x < 32:
        shift -= math.log1p(d / x)
        x += 1
    z = x + d
    series = math.fsum(
        c * (z ** (1 - 2 * j) - x ** (1 - 2 * j)) for j, c in enumerate(_STIRLING, start=1)
    )
    return shift + (x + d - 0.5) * math.log1p(d / x) + d * math.log(x) - d + series
