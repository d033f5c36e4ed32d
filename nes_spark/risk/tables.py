"""Rows of the risk table, and what a report shows of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import pandas as pd

from nes_spark.errors import EstimationError
from nes_spark.risk.ewens_pitman import EwensPitmanFit, fit_ewens_pitman
from nes_spark.schemas import RISK_FITS

#: Population sizes of the paper (section 3.2.1), shown as a sensitivity analysis.
PAPER_POPULATIONS = (1e10, 1e20, 1e30)
#: What a configuration calls :func:`comparable_population`.
COMPARABLE = "comparable"


def fit_row(combination: str, sizes: Mapping[int, int]) -> dict[str, Any]:
    """Fit one table and return its row of ``risk_fits``; a failure is a row with its reason.

    Parameters
    ----------
    combination : str
        Categories joined with "+".
    sizes : mapping of int to int
        Frequencies of frequencies.

    Returns
    -------
    dict
        Keys as in :data:`nes_spark.schemas.RISK_FITS`; None where there is no estimate.
    """
    row: dict[str, Any] = dict.fromkeys(RISK_FITS.names)
    row |= {
        "combination": combination,
        "n": sum(j * s for j, s in sizes.items()),
        "k": sum(sizes.values()),
        "s1": sizes.get(1, 0),
        "converged": False,
        "warning": "",
        "reason": "",
        "sizes": dict(sizes),
    }
    try:
        fit = fit_ewens_pitman(sizes)
    except EstimationError as error:
        row["reason"] = error.reason
        row["warning"] = str(error)
        return row
    quality = fit.goodness_of_fit()
    row |= {
        "theta": fit.theta,
        "alpha": fit.alpha,
        "theta_se": fit.standard_errors.theta,
        "alpha_se": None if fit.boundary else fit.standard_errors.alpha,
        "log_likelihood": fit.log_likelihood,
        "converged": fit.converged,
        "theta_low": fit.theta_interval.low,
        "theta_high": fit.theta_interval.high,
        "alpha_low": fit.alpha_interval.low,
        "alpha_high": fit.alpha_interval.high,
        "expected": [float(e) for e in quality.expected],
        "fit_p_value": None if math.isnan(quality.p_value) else quality.p_value,
        "warning": quality.warning,
    }
    return row


def _sizes(value: Any) -> dict[int, int]:
    """Read a map column: pandas gives a dict, or a list of pairs when it comes from Parquet."""
    pairs = value.items() if isinstance(value, Mapping) else value
    return {int(j): int(s) for j, s in pairs}


def fit_of(row: Mapping[Any, Any]) -> EwensPitmanFit:
    """Return the fit of one row of ``risk_fits`` (fitted again from its sizes).

    Raises
    ------
    EstimationError
        With the row's reason, when it has no estimate.
    """
    return _fit_of(tuple(sorted(_sizes(row["sizes"]).items())))


@lru_cache(maxsize=256)
def _fit_of(sizes: tuple[tuple[int, int], ...]) -> EwensPitmanFit:
    """Fit a table once: it keeps what its intervals are made of for the next who asks."""
    return fit_ewens_pitman(dict(sizes))


def _estimated(risk_fits: pd.DataFrame) -> Iterator[dict[Any, Any]]:
    """Yield the rows that have an estimate."""
    return (record for record in risk_fits.to_dict("records") if not record["reason"])


def p_hat_table(risk_fits: pd.DataFrame, populations: Sequence[float]) -> pd.DataFrame:
    """Return p-hat with its interval for every fitted combination and population size.

    Parameters
    ----------
    risk_fits : pandas.DataFrame
        Table ``risk_fits``.
    populations : sequence of float
        Population sizes N.

    Returns
    -------
    pandas.DataFrame
        ``combination, population, population_uniques, p_hat`` (unclipped), ``p_low, p_high`` (95%
        profile likelihood), ``p_hat_clipped, was_clipped``. Combinations without an estimate have
        no row here; their reason is in ``risk_fits``.
    """
    rows = []
    for record in _estimated(risk_fits):
        fit = fit_of(record)
        for population in populations:
            p = fit.p_hat(population)
            rows.append(
                (
                    record["combination"],
                    float(population),
                    fit.population_uniques(population),
                    float(p),
                    *p.interval,
                    p.clipped,
                    p.was_clipped,
                )
            )
    return pd.DataFrame(
        rows,
        columns=[
            "combination",
            "population",
            "population_uniques",
            "p_hat",
            "p_low",
            "p_high",
            "p_hat_clipped",
            "was_clipped",
        ],
    )


def comparable_population(n: int) -> float:
    """Return max(10^6, 100 n): the comparable chunks in the world that a choice assumes for n."""
    return float(max(10**6, 100 * n))


def resolved_populations(configured: Sequence[float | str], n: int) -> list[float]:
    """Return the population sizes that a configuration names, for a corpus of n chunks.

    Parameters
    ----------
    configured : sequence of float or str
        Sizes N; ``comparable`` stands for :func:`comparable_population`.
    n : int
        Chunks of the corpus.
    """
    sizes = [comparable_population(n) if N == COMPARABLE else float(N) for N in configured]
    return list(dict.fromkeys(sizes))


def stays_unique_table(
    risk_fits: pd.DataFrame, populations: Sequence[float] | None = None
) -> pd.DataFrame:
    """Return the probability of staying unique for every fitted combination and population size.

    Parameters
    ----------
    risk_fits : pandas.DataFrame
        Table ``risk_fits``.
    populations : sequence of float, optional
        Population sizes N; by default :func:`comparable_population` of each table.

    Returns
    -------
    pandas.DataFrame
        ``combination, population, s1, stays, stays_low, stays_high`` (95 % profile likelihood),
        ``expected`` (s_1 times ``stays``: sample uniques that stay unique), ``p_hat_factor`` and
        ``p_hat_holds`` of :class:`nes_spark.risk.ewens_pitman.GoodnessOfFit`. Combinations without
        an estimate have no row.
    """
    rows = []
    for record in _estimated(risk_fits):
        fit = fit_of(record)
        quality = fit.goodness_of_fit()
        for population in populations or [comparable_population(fit.n)]:
            found = fit.stays_unique(population)
            rows.append(
                (
                    record["combination"],
                    float(population),
                    fit.s1,
                    *found,
                    fit.s1 * found.value,
                    quality.p_hat_factor,
                    quality.p_hat_holds,
                )
            )
    return pd.DataFrame(
        rows,
        columns=[
            "combination",
            "population",
            "s1",
            "stays",
            "stays_low",
            "stays_high",
            "expected",
            "p_hat_factor",
            "p_hat_holds",
        ],
    )


def goodness_table(risk_fits: pd.DataFrame) -> pd.DataFrame:
    """Return observed and expected s_1..s_5 for every fitted combination.

    Parameters
    ----------
    risk_fits : pandas.DataFrame
        Table ``risk_fits``.

    Returns
    -------
    pandas.DataFrame
        ``combination, size, observed, expected, fit_p_value, warning``.
    """
    rows = []
    for record in _estimated(risk_fits):
        sizes = _sizes(record["sizes"])
        for size, expected in enumerate(record["expected"], start=1):
            rows.append(
                (
                    record["combination"],
                    size,
                    sizes.get(size, 0),
                    float(expected),
                    record["fit_p_value"],
                    record["warning"],
                )
            )
    return pd.DataFrame(
        rows, columns=["combination", "size", "observed", "expected", "fit_p_value", "warning"]
    )
