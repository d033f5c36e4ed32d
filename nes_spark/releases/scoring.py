"""Scores of one sequence of swaps, and candidates from scores: the kernels behind the stages."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Literal, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nes_spark.entities.combination import Combination
from nes_spark.errors import EstimationError, NesError
from nes_spark.releases.frontier import on_the_axes
from nes_spark.risk.measure import disclosure_risk, swapped_uniques
from nes_spark.risk.uniques import log_stays_unique, unique_proportion
from nes_spark.schemas import CANDIDATES, SCORES
from nes_spark.utility.measure import (
    DECIMALS,
    check_denominator,
    data_utility,
    log_likelihood_changes,
)

LOGGER = logging.getLogger(__name__)

#: What is looked at of table ``risk_fits``.
OF_FITS = ("combination", "n", "s1", "theta", "alpha", "converged", "reason", "warning")


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


@dataclass(frozen=True)
class Unscored:
    """A mixture setting (combination empty) or a combination (setting empty) without a score."""

    setting: str
    combination: str
    reason: str
    message: str


#: What to do about a table that no risk can be estimated from, by reason.
_ADVICE = {
    "all_uniques": ". So few texts tell nothing of a population: give more documents, or exchange "
    "fewer categories (releases.swap), or put names into classes (entities.recoding)",
    "empty_table": ". No text holds a name of these: see releases.swap and entities.categories",
}


def risk_figures(
    risk_fits: Iterable[Mapping[str, Any]], combinations: set[str], populations: Sequence[float]
) -> tuple[dict[str, RiskFigures], list[Unscored]]:
    """Return what risk needs of each combination, and those without an estimate.

    Parameters
    ----------
    risk_fits : iterable of mapping
        Rows of table ``risk_fits``: :data:`OF_FITS` of each.
    combinations : set of str
        Those of the swaps.
    populations : sequence of float

    Raises
    ------
    EstimationError
        ``population_too_small``.
    NesError
        When a combination has no row.
    """
    figures: dict[str, RiskFigures] = {}
    failures = []
    for row in risk_fits:
        if row["combination"] not in combinations:
            continue
        if row["reason"] or not row["converged"]:
            reason = row["reason"] or "not_converged"
            message = f"no risk estimate for {row['combination']}: {row['warning'] or reason}"
            message += _ADVICE.get(reason, "")
            failures.append(Unscored("", row["combination"], reason, message))
            continue
        small = [N for N in populations if row["n"] > N]
        if small:
            raise EstimationError(
                f"risk.population: {min(small):g} is smaller than the {row['n']} chunks; give the "
                "size of the population they come from",
                "population_too_small",
            )
        theta, alpha, s1, n = row["theta"], row["alpha"], row["s1"], row["n"]
        figures[row["combination"]] = RiskFigures(
            n,
            s1,
            theta,
            alpha,
            tuple(
                (
                    float(N),
                    unique_proportion(theta, alpha, s1, n, N),
                    math.exp(log_stays_unique(theta, alpha, n, N)),
                )
                for N in populations
            ),
        )
    missing = sorted(combinations - set(figures) - {f.combination for f in failures})
    if missing:
        raise NesError(f"no risk fit for the combinations {missing}")
    return figures, failures


def denominators(
    likelihoods: Iterable[Mapping[str, Any]], settings: set[str]
) -> tuple[dict[str, tuple[int, float]], list[Unscored]]:
    """Return chunks and log-likelihood of each setting, and those without a denominator of DU.

    Parameters
    ----------
    likelihoods : iterable of mapping
        ``setting, n, log_f_pre, n_bad``.
    settings : set of str
        Those of the swaps.

    Raises
    ------
    NesError
        When a setting has no row.
    """
    totals: dict[str, tuple[int, float]] = {}
    failures = []
    for row in likelihoods:
        if row["setting"] not in settings:
            continue
        try:
            if row["n_bad"]:
                raise EstimationError(
                    f"{row['n_bad']} chunks have no finite log density under mixture "
                    f"{row['setting']}",
                    "density_not_finite",
                )
            check_denominator(row["log_f_pre"], row["setting"])
        except EstimationError as error:
            failures.append(Unscored(row["setting"], "", error.reason, str(error)))
        else:
            totals[row["setting"]] = (row["n"], row["log_f_pre"])
    missing = sorted(settings - set(totals) - {f.setting for f in failures})
    if missing:
        raise NesError(f"no chunk is assigned under the mixtures {missing}")
    return totals, failures


def tell(failures: Iterable[Unscored], on_failure: Literal["stop", "skip"]) -> None:
    """Raise the error of the first failure, or log a warning for each.

    Raises
    ------
    EstimationError
        With the ``reason`` of the first failure, unless they are to be skipped.
    """
    for failure in failures:
        if on_failure == "stop":
            raise EstimationError(failure.message, failure.reason)
        LOGGER.warning("not scored: %s", failure.message)


def check_counts(
    totals: Mapping[str, tuple[int, float]],
    figures: Mapping[str, RiskFigures],
    n_chunks: int,
    empty_cell: str,
) -> None:
    """Check that all tables count the same chunks.

    Raises
    ------
    NesError
        When they do not.
    """
    for setting, (n, _) in totals.items():
        for combination, figure in figures.items():
            whole = empty_cell == "include"
            if n != n_chunks or figure.n > n or (whole and figure.n < n):
                raise NesError(
                    f"there are {n_chunks} chunks, mixture {setting} assigns {n} of them, the "
                    f"table of {combination} counts {figure.n}; the tables are not of one run"
                )


def exact_sum(values: Iterable[float]) -> float:
    """Sum in decimals of 1e-9, as Spark does, so that no order of the values changes a bit.

    What is not finite, or too large for such a decimal, is left out.

    Examples
    --------
    >>> exact_sum([0.1] * 10), exact_sum([1.0, float("nan")])
    (1.0, 1.0)
    """
    unit = Decimal(1).scaleb(-DECIMALS)
    usable = (float(v) for v in values if math.isfinite(v) and abs(v) < 1e11)
    rounded = (Decimal(repr(v)).quantize(unit, ROUND_HALF_UP) for v in usable)
    return float(sum(rounded, Decimal(0)))


def uniques_of(
    cells: Mapping[str, Mapping[str, str | None]], combination: Sequence[str], empty_cell: str
) -> set[str]:
    """Return the chunks that are alone in their cell of z_J.

    Parameters
    ----------
    cells : mapping of str to mapping
        chunk_id -> category -> value; a missing value is a value.
    combination : sequence of str
        J.
    empty_cell : {"exclude", "include"}
        What becomes of chunks without any entity of J.
    """
    values = {c: tuple(cell.get(j) or "" for j in combination) for c, cell in cells.items()}
    sizes = Counter(values.values())
    return {
        chunk
        for chunk, value in values.items()
        if sizes[value] == 1 and (empty_cell == "include" or any(value))
    }


def score_tables(
    swaps: pd.DataFrame,
    cells: pd.DataFrame,
    assignments: pd.DataFrame,
    post_log_density: pd.DataFrame,
    risk_fits: Iterable[Mapping[str, Any]],
    populations: Sequence[float],
    on_failure: Literal["stop", "skip"] = "stop",
    empty_cell: str = "exclude",
) -> pd.DataFrame:
    """Score every prefix of every sequence in memory: what the stage gives, to the bit.

    Parameters
    ----------
    swaps, cells, assignments, post_log_density : pandas.DataFrame
        The tables that :func:`nes_spark.releases.stages.score` reads; column ``cell`` holds dicts.
    risk_fits : iterable of mapping
        Rows of that table, None where there is nothing.
    populations, on_failure, empty_cell
        As there.

    Returns
    -------
    pandas.DataFrame
        Table ``scores``; empty when there is no swap.

    Raises
    ------
    EstimationError, NesError
        As there.
    """
    combinations, settings = set(swaps["combination"]), set(swaps["setting"])
    figures, failures = risk_figures(risk_fits, combinations, populations)
    likelihoods = []
    for setting, mine in assignments.groupby("setting"):
        density = mine["log_density"].to_numpy(float)
        usable = np.isfinite(density) & (np.abs(density) < 1e10)
        total = exact_sum(density[usable].tolist())
        bad = int((~usable).sum())
        likelihoods.append(
            {"setting": setting, "n": len(density), "log_f_pre": total, "n_bad": bad}
        )
    totals, more = denominators(likelihoods, settings)
    tell(failures + more, on_failure)
    n_chunks = len(cells) if totals and figures else 0
    check_counts(totals, figures, n_chunks, empty_cell)
    named = {c: dict(cell) for c, cell in zip(cells["chunk_id"], cells["cell"], strict=True)}
    uniques = {c: uniques_of(named, Combination.parse(c), empty_cell) for c in figures}
    of = ["setting", "chunk_id"]
    everywhere = (post_log_density["combination"] == "") & (post_log_density["order"] == 0)
    replaced = post_log_density.loc[everywhere, [*of, "log_density"]]
    replaced = replaced.rename(columns={"log_density": "base"}).assign(is_replaced=True)
    pre = assignments[[*of, "log_density"]].rename(columns={"log_density": "_pre"})
    changed = replaced.merge(pre, on=of)
    changes = {
        str(setting): exact_sum((mine["base"] - mine["_pre"]).tolist())
        for setting, mine in changed.groupby("setting")
    }
    key = ["setting", "combination", "draw", "order"]
    ready = swaps[swaps["setting"].isin(set(totals)) & swaps["combination"].isin(set(figures))]
    sides = pd.concat(
        [ready[[*key, side]].rename(columns={side: "chunk_id"}) for side in ("chunk_a", "chunk_b")],
        ignore_index=True,
    )
    post = post_log_density[[*key, "chunk_id", "log_density"]]
    swapped = (
        sides.merge(pre, on=of, how="left")
        .merge(replaced, on=of, how="left")
        .merge(post.rename(columns={"log_density": "post"}), on=[*key, "chunk_id"], how="left")
    )
    swapped["pre"] = swapped["base"].where(swapped["is_replaced"].eq(True), swapped["_pre"])
    found = []
    for names, frame in swapped.groupby(key[:3], sort=True):
        setting, combination, draw = cast("tuple[str, str, int]", names)
        before = totals[setting][1]
        alone = frame["chunk_id"].isin(uniques[combination])
        made = score_sequence(
            frame.assign(unique=alone),
            figures[combination],
            before,
            n_chunks,
            before + changes.get(setting, 0.0),
        )
        found.append(made.assign(setting=setting, combination=combination, draw=draw))
    if not found:
        return pd.DataFrame(columns=SCORES.names)
    return pd.concat(found, ignore_index=True)[SCORES.names]


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


def tenths(n_swaps: int) -> list[int]:
    """Return the lengths of the prefixes at 10 %, 20 %, .. 100 % of a sequence."""
    return sorted({math.ceil(n_swaps * k / 10) for k in range(1, 11)})


def at_tenths(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of each sequence's prefixes that have :func:`tenths` of its swaps.

    Parameters
    ----------
    scores : pandas.DataFrame
        Rows of table ``scores``.
    """
    longest = scores.groupby(["setting", "combination", "draw"])["n_swaps"].transform("max")
    wanted = {n: set(tenths(int(n))) for n in longest.unique()}
    kept = [n in wanted[all_] for n, all_ in zip(scores["n_swaps"], longest, strict=True)]
    return scores[np.array(kept, dtype=bool)]


def base_utility(scores: pd.DataFrame) -> dict[str, float]:
    """Return DU of the release without swaps of every setting that has scores."""
    sums = scores.groupby("setting").agg(pre=("log_f_pre", "min"), base=("log_f_base", "min"))
    return {
        str(setting): float(data_utility(base, pre))
        for setting, pre, base in zip(sums.index, sums["pre"], sums["base"], strict=True)
    }


def as_averages(scores: pd.DataFrame, per_draw: bool) -> pd.DataFrame:
    """Return the candidates of one setting, population and combination but for what marks them.

    Parameters
    ----------
    scores : pandas.DataFrame
        Rows of table ``scores``.
    per_draw : bool
        Keep every draw as a candidate of its own.
    """
    if not per_draw:
        return average(scores).assign(draw=None)
    expected = scores["uniques_left"] * scores["stays_unique"]
    return scores.assign(draws=1, DR_se=None, DU_se=None, uniques_expected=expected)


def summarize_tables(
    scores: pd.DataFrame,
    settings: Sequence[str],
    populations: Sequence[float],
    per_draw: bool,
    draws: int,
    untouched: Mapping[str, float],
) -> pd.DataFrame:
    """Make candidates of scores in memory: what :func:`nes_spark.releases.stages.summarize` gives.

    Parameters
    ----------
    scores : pandas.DataFrame
        Table ``scores``, or some of its rows.
    settings, populations, per_draw, draws, untouched
        As there.

    Returns
    -------
    pandas.DataFrame
        Table ``candidates``.
    """
    names = ("combination", "n_swaps", "r", "draw", "draws", *AVERAGED)
    wanted = {(s, float(n)) for s in settings for n in populations}
    parts: dict[tuple[str, float], list[pd.DataFrame]] = {place: [] for place in wanted}
    for group, frame in scores.groupby(["setting", "population", "combination"]):
        setting, population, _ = cast("tuple[str, float, str]", group)
        made = as_averages(frame, per_draw)[list(names)]
        parts.setdefault((setting, population), []).append(made)
    found = [
        candidates_of(
            setting,
            population,
            pd.concat(mine, ignore_index=True) if mine else pd.DataFrame(columns=list(names)),
            1 if per_draw else draws,
            untouched.get(setting, 1.0),
        )
        for (setting, population), mine in sorted(parts.items())
    ]
    return pd.concat(found, ignore_index=True)
