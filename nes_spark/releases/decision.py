"""The choice of a release from noisy figures: paired comparison over Monte Carlo draws.

Every figure of a candidate is an average over draws of its swaps (paper, equation MCintegration).
Candidates share draws: what one draw of the seed does to all of them cancels in their differences,
so two candidates are compared by the differences of the same draws. Where a difference is not
beyond two of its standard errors the candidates tie, and the lower risk decides.

Three rules that the averages alone would break:

* only draws that reached a candidate's number of swaps count, a candidate is compared with another
  on the draws that both reached, and what is published is one of these draws;
* utility above its cap is no gain: DU rewards texts for being typical, and of two releases above 1
  the one with the luckier noise would win;
* the release without swaps is always on the frontier.

Where utility is not known draw by draw but was found on a sample of documents (an encoder reads
some texts of all draws), its errors are those of the sample, and they are paired as well: what a
document does to both of two candidates cancels in their difference.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nes_spark.errors import EstimationError, parameter_error
from nes_spark.releases.frontier import pareto_frontier

Array = NDArray[np.float64]

NoisyRule = Literal["lowest_risk", "max_utility", "line"]
NOISY_RULES: tuple[NoisyRule, ...] = ("lowest_risk", "max_utility", "line")
#: Standard errors of a difference within which two candidates tie.
TIE = 2.0
#: Half the width of a 95 % interval in standard errors.
_NORMAL = 1.959963984540054
#: A choice that fewer of the resamples confirm is called a toss: other seeds may choose otherwise.
TOSS = 0.9


@dataclass(frozen=True, eq=False)
class Draws:
    """Risk and utility of every candidate in every draw.

    Attributes
    ----------
    names : tuple, length c
        What identifies each candidate, e.g. ``(combination, n_swaps)``.
    n_swaps : ndarray of int, shape (c,)
        Swaps of each; 0 for the release without swaps.
    draws : ndarray of int, shape (m,)
        Numbers of the draws.
    risk, utility : ndarray of shape (m, c)
        NaN where the draw did not reach the candidate.
    sample : ndarray of shape (g, c), optional
        Where utility comes from a sample of g documents and is the same in all draws: what each of
        them adds to its error, so that the variance of a candidate's utility is the sum of the
        squares of its column, and that of a difference the sum of the squared differences.
    groups : ndarray of int, shape (c,), optional
        Candidates whose risk rests on one estimate: those of one combination share p-hat.
    doubt : ndarray of shape (2, c), optional
        How far, in a standard error, log(1 - risk) may be lower and higher because that estimate
        is; the same within a group. Only :meth:`resampled` looks at it: draws cannot show it.
    """

    names: tuple[Hashable, ...]
    n_swaps: NDArray[np.int64]
    draws: NDArray[np.int64]
    risk: Array
    utility: Array
    sample: Array | None = None
    groups: NDArray[np.int64] | None = None
    doubt: Array | None = None

    def __post_init__(self) -> None:
        """Refuse tables that do not fit together."""
        _check_sample("Draws", self.sample, len(self.names))
        _check_sample("Draws", self.doubt, len(self.names))
        shape = (len(self.draws), len(self.names))
        for name in ("risk", "utility"):
            value = getattr(self, name)
            if value.shape != shape:
                raise parameter_error("Draws", name, f"of shape {shape}", value.shape)
            if np.isinf(value).any():
                raise parameter_error("Draws", name, "finite, or NaN where not reached", "infinity")
        if (np.isnan(self.risk) != np.isnan(self.utility)).any():
            raise parameter_error("Draws", "utility", "known where the risk is", "one without")
        if len(self.n_swaps) != len(self.names):
            raise parameter_error(
                "Draws", "n_swaps", f"of {len(self.names)} candidates", len(self.n_swaps)
            )
        if not shape[0] or not shape[1]:
            raise EstimationError("there are no candidate releases to choose from", "no_candidates")

    @property
    def reached(self) -> NDArray[np.bool_]:
        """Which draw reached which candidate, shape (m, c)."""
        return ~np.isnan(self.risk)

    def take(self, rows: NDArray[np.int64]) -> Draws:
        """Return the same candidates with the given rows (draws, with repetitions)."""
        return replace(
            self, draws=self.draws[rows], risk=self.risk[rows], utility=self.utility[rows]
        )

    def resampled(self, rows: NDArray[np.int64], rng: np.random.Generator) -> Draws:
        """Return :meth:`take` of the rows, with what else is in doubt drawn again too."""
        found = self.take(rows)
        if self.groups is not None and self.doubt is not None:
            z = rng.normal(size=int(self.groups.max()) + 1)[self.groups]
            factor = np.exp(z * np.where(z < 0, self.doubt[0], self.doubt[1]))
            found = replace(found, risk=np.maximum(1 - (1 - found.risk) * factor, 0.0))
        if self.sample is not None:
            found = replace(found, utility=found.utility + _sample_error(self.sample, rng))
        return found

    def with_utility(self, utility: Array, sample: Array) -> Draws:
        """Return the same draws with a utility that was found on a sample of documents.

        Parameters
        ----------
        utility : ndarray of shape (c,)
            NaN for a candidate that was not judged: it cannot be chosen.
        sample : ndarray of shape (g, c)
            As :attr:`sample`.
        """
        known = np.where(np.isnan(utility), math.nan, 1.0)
        return replace(
            self,
            risk=self.risk * known,
            utility=np.where(self.reached, utility, math.nan),
            sample=sample,
        )


def doubt_of(value: float, low: float, high: float) -> tuple[float, float]:
    """Return how far, in a standard error, the log of an estimate may be lower and higher.

    Parameters
    ----------
    value, low, high : float
        A share with its 95 % interval, above 0; all are cut to 1.
    """
    centre, below, above = (math.log(min(x, 1.0)) for x in (value, low, high))
    return max(centre - below, 0.0) / _NORMAL, max(above - centre, 0.0) / _NORMAL


def _check_sample(owner: str, sample: Array | None, candidates: int) -> None:
    if sample is None:
        return
    if sample.ndim != 2 or sample.shape[1] != candidates or not np.isfinite(sample).all():
        raise parameter_error(
            owner, "sample", f"finite, with {candidates} columns", f"shape {sample.shape}"
        )


def _sample_error(sample: Array, rng: np.random.Generator) -> Array:
    """Return what drawing the documents of a sample again does to the utilities, shape (c,)."""
    documents = len(sample)
    if not documents:
        return np.zeros(sample.shape[1])
    counts = rng.multinomial(documents, np.full(documents, 1 / documents))
    return np.asarray((counts - 1.0) @ sample)


def draws_of(
    scores: pd.DataFrame,
    n_draws: int,
    risk: str = "DR",
    utility: str = "DU",
    nothing: tuple[float, float] = (1.0, 1.0),
) -> Draws:
    """Arrange rows of table ``scores`` by candidate and draw, the release without swaps first.

    Parameters
    ----------
    scores : pandas.DataFrame
        ``combination, n_swaps, draw`` and the two columns, of one setting and population.
    n_draws : int
        Draws that were made; they are numbered from 0. Those without any swap have no row.
    risk, utility : str, optional
        Columns.
    nothing : (float, float), optional
        Risk and utility of the release without swaps, in every draw.

    Returns
    -------
    Draws
        Names are ``(combination, n_swaps)``, ``("", 0)`` first.
    """
    if n_draws < 1:
        raise parameter_error("draws_of", "n_draws", "at least 1", n_draws)
    order = ["combination", "n_swaps", "draw"]
    rows = scores.sort_values(order, kind="mergesort")
    if rows.duplicated(order).any():
        raise parameter_error("draws_of", "scores", "one row a candidate and draw", "several")
    if len(rows) and not rows["draw"].between(0, n_draws - 1).all():
        raise parameter_error(
            "draws_of", "n_draws", f"above the draws in the table ({rows['draw'].max()})", n_draws
        )
    names: list[tuple[str, int]] = [("", 0)]
    groups: list[Any] = list(rows.groupby(["combination", "n_swaps"], sort=True))
    names += [(str(combination), int(swaps)) for (combination, swaps), _ in groups]
    tables = [np.full((n_draws, len(names)), math.nan) for _ in range(2)]
    for table, column, value in zip(tables, (risk, utility), nothing, strict=True):
        table[:, 0] = value
        for place, (_, group) in enumerate(groups, start=1):
            table[group["draw"].to_numpy(int), place] = group[column].to_numpy(float)
    return Draws(
        tuple(names),
        np.array([swaps for _, swaps in names], dtype=np.int64),
        np.arange(n_draws),
        *tables,
    )


@dataclass(frozen=True, eq=False)
class Decision:
    """A choice and how sure it is.

    Attributes
    ----------
    chosen : int
        Position of the candidate.
    draw : int
        The first draw that reached it: the one to publish.
    tied : ndarray of int
        Candidates that tie with the best, itself included; the chosen one is among them.
    best : int
        The candidate with the best average.
    frontier : ndarray of bool, shape (c,)
        On the frontier of averages that all draws reached (of all, where there are none with
        swaps), utility capped; the release without swaps always.
    n_draws : ndarray of int, shape (c,)
        Draws that reached each candidate.
    incomplete : ndarray of bool, shape (c,)
        Whether some draw did not.
    risk, risk_se, utility, utility_se : ndarray of shape (c,)
        Averages over the draws that reached it (utility capped) and their standard errors, NaN for
        fewer than two draws.
    stability : ndarray of shape (c,) or None
        Share of the resamples of the draws in which each candidate is chosen; None where it was not
        asked for or there is one draw.
    """

    chosen: int
    draw: int
    tied: NDArray[np.int64]
    best: int
    frontier: NDArray[np.bool_]
    n_draws: NDArray[np.int64]
    incomplete: NDArray[np.bool_]
    risk: Array
    risk_se: Array
    utility: Array
    utility_se: Array
    stability: Array | None = None

    @property
    def confidence(self) -> float:
        """Share of the resamples that choose the same candidate; NaN where not known."""
        return math.nan if self.stability is None else float(self.stability[self.chosen])

    @property
    def is_toss(self) -> bool:
        """Whether fewer than nine in ten of the resamples confirm the choice."""
        return self.confidence < TOSS

    def stability_of(self, groups: Sequence[Hashable]) -> dict[Hashable, float]:
        """Add up the stability by group of candidates, e.g. by combination."""
        if self.stability is None:
            return {}
        found: dict[Hashable, float] = {}
        for group, share in zip(groups, self.stability.tolist(), strict=True):
            found[group] = found.get(group, 0.0) + share
        return found


def _moments(values: Array) -> tuple[Array, Array]:
    """Mean and standard error of each column over what is not NaN."""
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    # from the first value on: the mean of equal values is that value, and keeps a bound it is at
    base = np.take_along_axis(values, known.argmax(axis=0)[None, :], axis=0)[0]
    mean = base + np.nansum(values - base, axis=0) / np.maximum(count, 1)
    squares = np.nansum((values - mean) ** 2, axis=0)
    several = np.maximum(count - 1, 1) * np.maximum(count, 1)
    return mean, np.where(count > 1, np.sqrt(squares / several), math.nan)


@dataclass(frozen=True)
class _Goal:
    rule: NoisyRule
    slope: float
    cap: float

    @property
    def weight(self) -> float:
        """How much utility counts."""
        return {"lowest_risk": 0.0, "max_utility": 1.0}.get(self.rule, self.slope)

    def value(self, risk: Any, utility: Any) -> Any:
        """What is made small, of averages."""
        if self.rule == "lowest_risk":
            return risk
        capped = np.minimum(utility, self.cap)
        return -capped if self.rule == "max_utility" else risk - self.slope * capped

    def raw(self, risk: Array, utility: Array) -> Array:
        """The same draw by draw and not capped, for its spread."""
        if self.rule == "lowest_risk":
            return risk
        return -utility if self.rule == "max_utility" else risk - self.slope * utility


def paired_difference(draws: Draws, a: int, b: int, goal: Any) -> tuple[float, float, int]:
    """Return the difference a - b of a goal over common draws, its standard error, their number.

    Parameters
    ----------
    draws : Draws
    a, b : int
        Candidates.
    goal : _Goal
        What is compared. The difference is that of capped averages, the standard error that of the
        paired differences as they are, over draws and, where there is one, over the sample.
    """
    both = draws.reached[:, a] & draws.reached[:, b]
    count = int(both.sum())
    if not count:
        return math.nan, math.nan, 0
    risk, utility = draws.risk[both], draws.utility[both]
    difference = goal.value(risk[:, a].mean(), utility[:, a].mean()) - goal.value(
        risk[:, b].mean(), utility[:, b].mean()
    )
    raw = goal.raw(risk[:, a], utility[:, a]) - goal.raw(risk[:, b], utility[:, b])
    error = float(raw.std(ddof=1)) / math.sqrt(count) if count > 1 else math.nan
    if draws.sample is not None:
        shared = goal.weight * (draws.sample[:, a] - draws.sample[:, b])
        error = math.sqrt(error**2 + float(shared @ shared))
    return float(difference), error, count


def _check_rule(owner: str, rule: NoisyRule, slope: float, max_risk: float | None) -> None:
    """Refuse parameters that are out of range or missing for a rule."""
    if rule not in NOISY_RULES:
        raise parameter_error(owner, "rule", f"one of {NOISY_RULES}", rule)
    if not (slope > 0 and math.isfinite(slope)):
        raise parameter_error(owner, "slope", "a positive number", slope)
    if rule == "max_utility" and max_risk is None:
        raise parameter_error(owner, "max_risk", "a number for rule max_utility", None)


def _within_bounds(
    allowed: NDArray[np.bool_],
    risk: Array,
    utility: Array,
    max_risk: float | None,
    min_utility: float | None,
) -> NDArray[np.bool_]:
    """Mark the allowed candidates that keep the bounds; there must be one."""
    may = allowed
    if max_risk is not None:
        may = may & (np.nan_to_num(risk, nan=math.inf) <= max_risk)
    if min_utility is not None:
        may = may & (np.nan_to_num(utility, nan=-math.inf) >= min_utility)
    if not may.any():
        raise EstimationError(
            "no release keeps the bounds on risk and utility; the lowest risk is "
            f"{np.nanmin(risk):.6g}, the highest utility {np.nanmax(utility):.6g}",
            "empty_feasible_set",
        )
    return may


def decide(
    draws: Draws,
    rule: NoisyRule = "lowest_risk",
    *,
    slope: float = 1.0,
    max_risk: float | None = None,
    min_utility: float | None = None,
    eligible: Any = None,
    cap: float = 1.0,
    resamples: int = 0,
    seed: int = 0,
) -> Decision:
    """Choose one release, candidates that cannot be told apart decided by lower risk.

    Rules
    -----
    ``lowest_risk``
        Lowest risk among candidates with utility >= ``min_utility`` (none: all).
    ``max_utility``
        Highest utility among candidates with risk <= ``max_risk``.
    ``line``
        Smallest risk - ``slope`` * utility on the frontier.

    The best is found among candidates that all draws reached, as long as there are any: an average
    over the draws that came that far is one over lucky draws. A candidate that only some reached
    takes its place when it is better by more than two standard errors on the draws it has.
    Candidates tie with the best when their difference is at most two standard errors. Of those that
    no fewer draws reached than the best, the one with the lowest risk is chosen (its difference in
    risk from the best on common draws), then the highest utility, then the fewest swaps, then the
    first.

    Parameters
    ----------
    draws : Draws
        Figures of the candidates, the release without swaps among them.
    rule : {"lowest_risk", "max_utility", "line"}
    slope : float, optional
        For ``line``, above 0.
    max_risk, min_utility : float, optional
        Bounds on averages.
    eligible : array_like of bool, shape (c,), optional
        Candidates that may be chosen; all by default.
    cap : float, optional
        Utility above counts as this.
    resamples : int, optional
        Bootstrap resamples of the draws, of the documents of a sample and of the estimate that
        risk rests on, for ``stability``; 0 for none.
    seed : int, optional
        Public seed of the resamples.

    Returns
    -------
    Decision

    Raises
    ------
    ValueError
        For a parameter out of range or missing for its rule.
    EstimationError
        ``empty_feasible_set`` when no candidate is allowed.
    """
    _check_rule("decide", rule, slope, max_risk)
    if resamples < 0:
        raise parameter_error("decide", "resamples", "at least 0", resamples)
    allowed = np.ones(len(draws.names), dtype=bool)
    if eligible is not None:
        allowed = np.asarray(eligible, dtype=bool)
        if allowed.shape != (len(draws.names),):
            raise parameter_error(
                "decide", "eligible", f"of {len(draws.names)} candidates", allowed.shape
            )
    # sums have one order, so that their last bits tell the same whatever that of the draws
    draws = draws.take(np.argsort(draws.draws, kind="stable"))
    found = _decide(draws, _Goal(rule, slope, cap), max_risk, min_utility, allowed)
    if not resamples or len(draws.draws) < 2:
        return found
    rng = np.random.default_rng(seed)
    votes = np.zeros(len(draws.names))
    for rows in rng.integers(len(draws.draws), size=(resamples, len(draws.draws))):
        try:
            again = _decide(
                draws.resampled(rows, rng), _Goal(rule, slope, cap), max_risk, min_utility, allowed
            )
        except EstimationError:
            continue  # nothing is allowed in this resample: a vote for no candidate
        votes[again.chosen] += 1
    return Decision(**{**found.__dict__, "stability": votes / resamples})


def _decide(
    draws: Draws,
    goal: _Goal,
    max_risk: float | None,
    min_utility: float | None,
    allowed: NDArray[np.bool_],
) -> Decision:
    reached = draws.reached
    n_draws = reached.sum(axis=0)
    there = n_draws > 0
    risk, risk_se = _moments(draws.risk)
    plain, utility_se = _moments(draws.utility)
    if draws.sample is not None:
        utility_se = np.hypot(utility_se, np.sqrt((draws.sample**2).sum(axis=0)))
    utility = np.minimum(plain, goal.cap)
    complete = there & (n_draws == len(draws.draws))
    compared = complete if (complete & (draws.n_swaps > 0)).any() else there
    frontier = np.zeros(len(there), dtype=bool)
    frontier[compared] = pareto_frontier(risk[compared], utility[compared])
    frontier |= there & (draws.n_swaps == 0)
    may = _within_bounds(allowed & there, risk, utility, max_risk, min_utility)
    # a candidate that ties with the best need not be on the frontier of averages, the best must
    firm = may & frontier if goal.rule == "line" and (may & frontier).any() else may
    full = firm & (n_draws == len(draws.draws))
    among = np.flatnonzero(full if full.any() else firm)
    values = goal.value(risk, plain)
    keys = (draws.n_swaps[among], -utility[among], risk[among], values[among])
    best = int(among[np.lexsort(keys)[0]])
    differences = {
        int(j): paired_difference(draws, int(j), best, goal) for j in np.flatnonzero(may)
    }
    ahead = [
        (difference, j)
        for j, (difference, error, _) in differences.items()
        if j != best and difference < -TIE * error
    ]
    if ahead:
        best = min(ahead)[1]
        differences = {j: paired_difference(draws, j, best, goal) for j in differences}
    tied = [
        j
        for j, (difference, error, count) in differences.items()
        if j == best
        or (count > 1 and difference <= TIE * error)
        or (count == 1 and difference <= 0)
    ]
    by_risk = _Goal("lowest_risk", goal.slope, goal.cap)

    def order(j: int) -> tuple[float, float, int, int]:
        return (
            paired_difference(draws, j, best, by_risk)[0],
            -float(utility[j]),
            int(draws.n_swaps[j]),
            j,
        )

    # an average over fewer draws does not win a tie
    as_many = [j for j in tied if j == best or n_draws[j] >= n_draws[best]]
    chosen = min(as_many, key=order)
    return Decision(
        chosen=chosen,
        draw=int(draws.draws[np.flatnonzero(reached[:, chosen])].min()),
        tied=np.array(sorted(tied), dtype=np.int64),
        best=best,
        frontier=frontier,
        n_draws=n_draws,
        incomplete=n_draws < len(draws.draws),
        risk=risk,
        risk_se=risk_se,
        utility=utility,
        utility_se=utility_se,
    )


@dataclass(frozen=True, eq=False)
class Levels:
    """Risk and utility of every candidate with standard errors, where there are no draws to pair.

    What attackers name, and in plan ``whole`` what an encoder finds of the meaning, is measured in
    one draw; its error comes from the documents and chunks that it was measured on.

    Attributes
    ----------
    n_swaps : ndarray of int, shape (c,)
        Swaps of each; 0 for the release without swaps.
    risk, risk_se, utility, utility_se : ndarray of shape (c,)
        Figures and standard errors. NaN for a figure that was not measured: such a candidate is
        not chosen. NaN for a standard error counts as none.
    beside : ndarray of shape (c,)
        A second risk, which decides among candidates that tie.
    sample : ndarray of shape (g, c), optional
        As in :class:`Draws`: what each document adds to the error of the utility.
    """

    n_swaps: NDArray[np.int64]
    risk: Array
    risk_se: Array
    utility: Array
    utility_se: Array
    beside: Array
    sample: Array | None = None

    def __post_init__(self) -> None:
        """Refuse columns of different lengths."""
        n = len(self.n_swaps)
        _check_sample("Levels", self.sample, n)
        for name in ("risk", "risk_se", "utility", "utility_se", "beside"):
            if len(getattr(self, name)) != n:
                raise parameter_error(
                    "Levels", name, f"of {n} candidates", len(getattr(self, name))
                )

    def resampled(self, rng: np.random.Generator) -> Levels:
        """Return figures as other documents might have given them; risk stays in [0, 1]."""
        risk = self.risk + rng.normal(size=len(self.risk)) * np.nan_to_num(self.risk_se)
        if self.sample is None:
            error = rng.normal(size=len(self.risk)) * np.nan_to_num(self.utility_se)
        else:
            error = _sample_error(self.sample, rng)
        return replace(self, risk=np.clip(risk, 0.0, 1.0), utility=self.utility + error)


@dataclass(frozen=True, eq=False)
class LevelDecision:
    """A choice among :class:`Levels`.

    Attributes
    ----------
    chosen, best : int
        Positions of the chosen candidate, and of the one with the best figures.
    tied : ndarray of int
        Candidates that cannot be told from the best.
    frontier : ndarray of bool, shape (c,)
        On the frontier of the figures, utility capped; the release without swaps always.
    stability : float
        Share of the resamples in which the same candidate is chosen; NaN where not asked for.
    """

    chosen: int
    best: int
    tied: NDArray[np.int64]
    frontier: NDArray[np.bool_]
    stability: float = math.nan


def decide_levels(
    levels: Levels,
    rule: NoisyRule = "lowest_risk",
    *,
    slope: float = 1.0,
    max_risk: float | None = None,
    min_utility: float | None = None,
    eligible: Any = None,
    cap: float = 1.0,
    resamples: int = 0,
    seed: int = 0,
) -> LevelDecision:
    """Choose one release from figures with standard errors.

    The rules are those of :func:`decide`. A candidate ties with the best when what the rule makes
    small differs by at most two standard errors. Those of risk, and of utility without a sample,
    are taken as independent: figures of one run share documents and chunks, which makes their
    difference surer than that, so that ties are found rather too often than too seldom. Of those
    that tie, the one with the lowest ``beside`` is chosen, then the one with the lowest risk, then
    the most swaps: what cannot be told apart is decided for protection.

    ``resamples`` draw the figures again (:meth:`Levels.resampled`) and choose again, for
    ``stability``; with errors that are taken as independent it is rather too low than too high.

    Raises
    ------
    ValueError
        For a parameter out of range or missing for its rule.
    EstimationError
        ``no_candidates`` without any measured candidate, ``empty_feasible_set`` when none keeps the
        bounds.
    """
    _check_rule("decide_levels", rule, slope, max_risk)
    if resamples < 0:
        raise parameter_error("decide_levels", "resamples", "at least 0", resamples)
    goal = _Goal(rule, slope, cap)
    found = _decide_levels(levels, goal, max_risk, min_utility, eligible)
    if not resamples:
        return found
    rng = np.random.default_rng(seed)
    same = 0
    for _ in range(resamples):
        try:
            again = _decide_levels(levels.resampled(rng), goal, max_risk, min_utility, eligible)
        except EstimationError:
            continue  # nothing keeps the bounds in this resample: a vote for no candidate
        same += again.chosen == found.chosen
    return replace(found, stability=same / resamples)


def _decide_levels(
    levels: Levels, goal: _Goal, max_risk: float | None, min_utility: float | None, eligible: Any
) -> LevelDecision:
    there = np.isfinite(levels.risk) & np.isfinite(levels.utility)
    if not there.any():
        raise EstimationError("there are no candidate releases to choose from", "no_candidates")
    utility = np.minimum(levels.utility, goal.cap)
    frontier = np.zeros(len(there), dtype=bool)
    frontier[there] = pareto_frontier(levels.risk[there], utility[there])
    frontier |= there & (levels.n_swaps == 0)
    allowed = there if eligible is None else there & np.asarray(eligible, dtype=bool)
    may = _within_bounds(allowed, levels.risk, utility, max_risk, min_utility)
    value = goal.value(levels.risk, levels.utility)
    among = np.flatnonzero(may)
    order = np.lexsort((-utility[among], levels.risk[among], value[among]))
    best = int(among[order[0]])
    variance = np.zeros(len(among))
    if goal.rule != "max_utility":
        error = np.nan_to_num(levels.risk_se)
        variance += error[among] ** 2 + error[best] ** 2
    if levels.sample is None:
        error = goal.weight * np.nan_to_num(levels.utility_se)
        variance += error[among] ** 2 + error[best] ** 2
    else:
        apart = goal.weight * (levels.sample[:, among] - levels.sample[:, [best]])
        variance += (apart**2).sum(axis=0)
    tied = among[(among == best) | (value[among] - value[best] <= TIE * np.sqrt(variance))]
    keys = (-levels.n_swaps[tied], levels.risk[tied], levels.beside[tied])
    return LevelDecision(int(tied[np.lexsort(keys)[0]]), best, tied, frontier)
