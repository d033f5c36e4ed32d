"""Scores of one sequence of swaps, and candidates from scores: the kernels behind the stages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nes_spark.errors import EstimationError
from nes_spark.releases.frontier import on_the_axes
from nes_spark.risk.measure import disclosure_risk, swapped_uniques
from nes_spark.schemas import CANDIDATES, SCORES
from nes_spark.utility.measure import data_utility, log_likelihood_changes


@dataclass(frozen=True)
class RiskFigures:
    """What risk needs of one combination.

    Attributes
    ----------
    n, s1 : int
        Chunks and sample uniques of the table z_J.
    theta, alpha : float
        Estimates.
    by_population : tuple of (float, float, float)
        Population size N, p-hat (unclipped) and pi(N), the probability that a sample unique stays
        unique among N.
    """

    n: int
    s1: int
    theta: float
    alpha: float
    by_population: tuple[tuple[float, float, float], ...]


def score_sequence(
    swapped: pd.DataFrame,
    figures: RiskFigures,
    log_f_pre: float,
    n_chunks: int | None = None,
    log_f_base: float | None = None,
) -> pd.DataFrame:
    """Score every prefix of one sequence of swaps.

    Parameters
    ----------
    swapped : pandas.DataFrame
        Two rows a swap, in any order: ``order, chunk_id, pre, post, unique``: log density of the
        chunk in the release without swaps and of the text the swap made of it, both under the
        chunk's own component, and whether the chunk is a sample unique of the pre-swap z_J.
    figures : RiskFigures
        Of the combination.
    log_f_pre : float
        Log-likelihood of all chunks before.
    n_chunks : int, optional
        Chunks of the corpus, of which r is a share; those of the table when not given.
    log_f_base : float, optional
        Log-likelihood of the release without swaps, in which the must-change categories are
        replaced; `log_f_pre` when not given.

    Returns
    -------
    pandas.DataFrame
        Columns of table ``scores`` after ``draw``, one row a population size and number of swaps.

    Raises
    ------
    EstimationError
        ``incomplete_swaps`` when a swap has not two rows or a log density is missing.
    """
    rows = swapped.sort_values(["order", "chunk_id"], kind="mergesort")
    orders = rows["order"].to_numpy()
    swaps = len(rows) // 2
    complete = (
        len(rows) == 2 * swaps
        and (orders[0::2] == orders[1::2]).all()
        and (orders[0::2] == np.arange(1, swaps + 1)).all()
        and np.isfinite(rows[["pre", "post"]].to_numpy(float)).all()
    )
    if not complete:
        raise EstimationError(
            "a sequence of swaps is incomplete: an order or a log density is missing",
            "incomplete_swaps",
        )
    ids = rows["chunk_id"].to_numpy().reshape(-1, 2)
    uniques = swapped_uniques(ids, rows["unique"].to_numpy(bool).reshape(-1, 2))
    changes = log_likelihood_changes(
        ids,
        rows["pre"].to_numpy(float).reshape(-1, 2),
        rows["post"].to_numpy(float).reshape(-1, 2),
    )
    base = log_f_pre if log_f_base is None else log_f_base
    post = base + changes
    utility = data_utility(post, log_f_pre)
    number = np.arange(1, swaps + 1)
    parts = [
        pd.DataFrame(
            {
                "population": population,
                "n_swaps": number,
                "r": 2 * number / (n_chunks or figures.n),
                "n": n_chunks or figures.n,
                "s1": figures.s1,
                "swapped_uniques": uniques,
                "theta": figures.theta,
                "alpha": figures.alpha,
                "p_hat": p_hat,
                "p_hat_clipped": min(max(p_hat, 0.0), 1.0),
                "stays_unique": stays,
                "uniques_left": figures.s1 - uniques,
                "log_f_pre": log_f_pre,
                "log_f_base": base,
                "log_f_post": post,
                "DR": disclosure_risk(uniques, figures.s1, p_hat),
                "DU": utility,
                "DU_above_one": utility > 1,
            }
        )
        for population, p_hat, stays in figures.by_population
    ]
    columns = [c for c in SCORES.names if c not in ("setting", "combination", "draw")]
    return pd.concat(parts, ignore_index=True)[columns]


def at_most(scores: pd.DataFrame, n_swaps: int) -> pd.DataFrame:
    """Return the last score of every draw that has no more than a number of swaps.

    Parameters
    ----------
    scores : pandas.DataFrame
        Rows of table ``scores`` of one setting, population and combination.
    n_swaps : int
        At least 1.

    Returns
    -------
    pandas.DataFrame
        One row a draw, by draw; a draw that ended before has its last row.
    """
    kept = scores[scores["n_swaps"] <= n_swaps].sort_values(["draw", "n_swaps"], kind="mergesort")
    return kept.groupby("draw", sort=True).tail(1).reset_index(drop=True)


def average(scores: pd.DataFrame) -> pd.DataFrame:
    """Average over draws, with standard errors (paper, equation MCintegration).

    Parameters
    ----------
    scores : pandas.DataFrame
        Rows of table ``scores`` of one setting and population, in any order.

    Returns
    -------
    pandas.DataFrame
        ``combination, n_swaps, r, draws, DR, DR_se, DU, DU_se, uniques_left, uniques_expected``
        sorted by combination and n_swaps. A number of swaps that only some draws reached is
        averaged over those; the standard error is the standard deviation over sqrt(draws), missing
        for a single draw. ``uniques_left`` are the sample uniques that were not swapped,
        ``uniques_expected`` how many of them are expected to be unique in the population.
    """
    # a fixed order makes the sums the same however the rows arrived
    rows = scores.sort_values(["combination", "n_swaps", "draw"], kind="mergesort")
    groups = rows.groupby(["combination", "n_swaps"], sort=True)
    found = groups.agg(
        r=("r", "first"),
        draws=("draw", "size"),
        DR=("DR", "mean"),
        DU=("DU", "mean"),
        uniques_left=("uniques_left", "mean"),
        stays=("stays_unique", "first"),
    )
    found["uniques_expected"] = found["uniques_left"] * found["stays"]
    for name in ("DR", "DU"):
        found[f"{name}_se"] = groups[name].std(ddof=1) / np.sqrt(found["draws"])
    found = found.reset_index()
    return found[["combination", "n_swaps", "r", "draws", *AVERAGED]]


#: Columns of table ``candidates`` that are averages over draws.
AVERAGED = ("DR", "DR_se", "DU", "DU_se", "uniques_left", "uniques_expected")


def on_the_frontier(candidates: pd.DataFrame) -> NDArray[np.bool_]:
    """Mark the frontier of DR and DU: utility capped, complete averages only, r = 0 always on it.

    Parameters
    ----------
    candidates : pandas.DataFrame
        ``n_swaps, DR, DU, incomplete`` of one setting and population, as for
        :func:`~nes_spark.releases.frontier.on_the_axes`. DU above 1 rewards texts for being
        typical.

    Returns
    -------
    ndarray of bool, shape (c,)
    """
    return on_the_axes(candidates, "DU", "DR") | (candidates["n_swaps"].to_numpy() == 0)


def candidates_of(
    setting: str,
    population: float,
    averages: pd.DataFrame,
    draws: int | None = None,
    untouched: float = 1.0,
) -> pd.DataFrame:
    """Add the release without swaps and mark the frontier of one setting and population.

    Parameters
    ----------
    setting : str
        Mixture setting.
    population : float
        Population size N.
    averages : pandas.DataFrame
        From :func:`average`, optionally with a column ``draw``; may be empty.
    draws : int, optional
        Draws that were made; by default the most that reached any candidate. Where the seed is
        decided too, each candidate is one draw and complete.
    untouched : float, optional
        DU of the release without swaps: below 1 where must-change categories are replaced.

    Returns
    -------
    pandas.DataFrame
        Rows of table ``candidates``: first r = 0 with DR = 1 and no error, then the others by
        combination, number of swaps and draw.
    """
    frame = averages.assign(draw=averages.get("draw"))
    frame = frame.sort_values(["combination", "n_swaps", "draw"], kind="mergesort")
    made = draws or (max(1, int(frame["draws"].max())) if len(frame) else 1)
    nothing = {
        "combination": "",
        "n_swaps": 0,
        "r": 0.0,
        "draw": None,
        "draws": made,
        "DR": 1.0,
        "DR_se": 0.0,
        "DU": untouched,
        "DU_se": 0.0,
    }
    rows = [nothing, *frame.to_dict("records")]
    whole = pd.DataFrame(rows).assign(setting=setting, population=population, chosen=False)
    whole["incomplete"] = (whole["draws"] < made) & whole["draw"].isna()
    whole["DU_above_one"] = whole["DU"] > 1
    whole["on_frontier"] = on_the_frontier(whole)
    whole["draw"] = whole["draw"].astype("Int32")
    for name in AVERAGED:
        whole[name] = whole[name].astype(float) if name in whole else np.nan
    return whole[CANDIDATES.names]
