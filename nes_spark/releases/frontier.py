"""The risk-utility frontier and the choice of a release (paper, section 2.3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from nes_spark.entities.combination import Combination
from nes_spark.errors import EstimationError, parameter_error

Rule = Literal["line", "max_utility", "max_rate", "lowest_risk"]
RULES: tuple[Rule, ...] = ("line", "max_utility", "max_rate", "lowest_risk")


def _finite(owner: str, name: str, values: Any) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    if array.ndim != 1:
        raise parameter_error(owner, name, "one-dimensional", f"{array.ndim} dimensions")
    if not np.isfinite(array).all():
        raise parameter_error(owner, name, "finite throughout", "nan or infinity")
    return array


def pareto_frontier(DR: Sequence[float] | Any, DU: Sequence[float] | Any) -> np.ndarray:
    """Mark the releases that no other release dominates.

    R1 is dominated when another release has DR no higher and DU no lower, and one of them strictly
    (the maximal elements of the paper's partial order, section 2.3). Releases with equal DR and
    equal DU do not dominate each other: all of them are on the frontier or none is.

    Parameters
    ----------
    DR, DU : array-like of float, shape (m,)
        Disclosure risk (less is better) and data utility (more is better). Comparisons are exact.

    Returns
    -------
    numpy.ndarray of bool, shape (m,)
        True on the frontier. Never all False unless m = 0. Takes O(m log m).

    Raises
    ------
    ValueError
        When shapes differ or a value is not finite.

    Examples
    --------
    >>> pareto_frontier([1.0, 0.9, 0.9, 0.95], [1.0, 0.97, 0.96, 0.97]).tolist()
    [True, True, False, False]
    """
    risk, utility = _finite("pareto_frontier", "DR", DR), _finite("pareto_frontier", "DU", DU)
    if risk.shape != utility.shape:
        raise parameter_error(
            "pareto_frontier", "DU", f"as long as DR ({len(risk)} values)", f"{len(utility)} values"
        )
    mask = np.zeros(len(risk), dtype=bool)
    if not len(risk):
        return mask
    # by rising risk, then falling utility: a point survives when it beats all that come before it,
    # or repeats the last survivor
    order = np.lexsort((-utility, risk))
    r, u = risk[order], utility[order]
    before = np.concatenate([[-np.inf], np.maximum.accumulate(u)[:-1]])
    first = u > before
    last = np.maximum.accumulate(np.where(first, np.arange(len(u)), 0))
    mask[order] = first | ((r == r[last]) & (u == u[last]))
    return mask


def on_the_axes(space: pd.DataFrame, utility: str, risk: str) -> np.ndarray:
    """Mark the candidates that nothing beats on two columns of their table.

    Parameters
    ----------
    space : pandas.DataFrame
        Candidates of one setting and population, with both columns. One that only some draws
        reached (``incomplete``, where there is such a column) is an average over lucky draws and is
        not compared; where no candidate with swaps (``n_swaps``) was reached by all, all are.
    utility, risk : str
        A utility above 1 counts as 1, as where the release is chosen.

    Returns
    -------
    numpy.ndarray of bool
        One a row; False where a candidate has no figure in a column.

    Examples
    --------
    >>> space = pd.DataFrame({"fidelity": [1.0, 0.9, 0.8, None], "measured": [1.0, 0.5, 0.6, 0.1]})
    >>> on_the_axes(space, "fidelity", "measured").tolist()
    [True, True, False, False]
    """
    known = (space[utility].notna() & space[risk].notna()).to_numpy()
    if "incomplete" in space:
        complete = known & ~space["incomplete"].fillna(False).to_numpy(bool)
        known = complete if (complete & (space["n_swaps"].to_numpy() > 0)).any() else known
    found = np.zeros(len(space), dtype=bool)
    part = space[known]
    found[known] = pareto_frontier(
        part[risk].to_numpy(float), np.minimum(part[utility].to_numpy(float), 1.0)
    )
    return found


def frontier_of(space: pd.DataFrame, utility: str, risk: str) -> np.ndarray:
    """Mark the frontier of a choice: what nothing beats on its axes, and the anchor r = 0.

    Parameters
    ----------
    space : pandas.DataFrame
        Table ``candidates`` of one setting and population, with both columns. On the axes DU and DR
        it is marked already (``on_frontier``).
    utility, risk : str
        Axes of the choice.

    Returns
    -------
    numpy.ndarray of bool
        One a row; False where a candidate has no figure in a column.

    Examples
    --------
    >>> space = pd.DataFrame({"n_swaps": [0, 1, 2], "fidelity": [0.8, 0.9, 0.7], "DR": [1, 0.5, 0]})
    >>> frontier_of(space, "fidelity", "DR").tolist()
    [True, True, True]
    """
    known = (space[utility].notna() & space[risk].notna()).to_numpy()
    if (utility, risk) == ("DU", "DR"):
        return known & space["on_frontier"].to_numpy(bool)
    return on_the_axes(space, utility, risk) | (known & (space["n_swaps"] == 0).to_numpy())


def _frame(candidates: Any) -> pd.DataFrame:
    if isinstance(candidates, pd.DataFrame):
        frame = candidates.reset_index(drop=True)
    else:
        frame = pd.DataFrame(candidates)
        if list(frame.columns) == [0, 1]:
            frame.columns = pd.Index(["DR", "DU"])
    missing = {"DR", "DU"} - set(frame.columns)
    if missing:
        raise parameter_error(
            "choose",
            "candidates",
            "a table with columns DR and DU",
            sorted(map(str, frame.columns)),
        )
    for name in ("DR", "DU"):
        _finite("choose", name, frame[name])
    return frame


def choose(
    candidates: Any,
    rule: Rule = "line",
    *,
    slope: float = 1.0,
    offset: float = 0.0,
    max_risk: float | None = None,
    combination: Sequence[str] | str | None = None,
) -> int:
    """Choose one release.

    Rules
    -----
    ``max_utility``
        Highest DU among releases with DR <= ``max_risk`` (paper, equation RUmaximization).
    ``line``
        The frontier release with the smallest DR - ``slope`` * DU: where the line
        DR = c + slope DU touches the frontier (paper, equation RU_LinEq). ``offset`` shifts all
        lines alike and so never changes which release it is; it is checked and kept for the plot.
    ``max_rate``
        The highest swap rate among the releases that swap exactly ``combination``.
    ``lowest_risk``
        The smallest DR; of equal ones the most swaps.

    Ties are decided by, in this order: lower DR, higher DU, fewer swaps (column ``n_swaps``, else
    ``r``, where there is one; for ``max_rate`` that is the rule itself), first in the table. So the
    choice under ``max_utility`` and ``line`` is always on the frontier.

    An empty feasible set is an error and never silently another release: no release with
    DR <= max_risk, or none that swaps the combination.

    Parameters
    ----------
    candidates : pandas.DataFrame or anything that makes one
        Columns DR and DU; for ``max_rate`` also ``combination`` ("+"-joined categories) and
        ``n_swaps`` or ``r``. A sequence of (DR, DU) pairs will do for the other two. Include the
        release without swaps (1, 1) where it may be chosen.
    rule : {"line", "max_utility", "max_rate", "lowest_risk"}
        The rule.
    slope : float, optional
        a > 0, for ``line``.
    offset : float, optional
        c, for ``line``.
    max_risk : float
        alpha in [0, 1], for ``max_utility``.
    combination : sequence of str or str
        J, for ``max_rate``: categories in any order, or joined with "+".

    Returns
    -------
    int
        Position (from 0) of the chosen row.

    Raises
    ------
    ValueError
        For a parameter out of range, or missing for its rule.
    EstimationError
        ``reason`` ``no_candidates``, ``empty_feasible_set`` or ``no_valid_swap``.

    Examples
    --------
    >>> choose([(1.0, 1.0), (0.9, 0.99), (0.5, 0.8)], "line", slope=2.0)
    2
    >>> choose([(1.0, 1.0), (0.9, 0.99), (0.5, 0.8)], "max_utility", max_risk=0.9)
    1
    """
    if rule not in RULES:
        raise parameter_error("choose", "rule", f"one of {RULES}", rule)
    frame = _frame(candidates)
    if frame.empty:
        raise EstimationError("there are no candidate releases to choose from", "no_candidates")
    risk, utility = frame["DR"].to_numpy(float), frame["DU"].to_numpy(float)
    rate = next((frame[c].to_numpy(float) for c in ("n_swaps", "r") if c in frame), None)
    swaps = np.zeros(len(frame)) if rate is None else rate
    if rule == "line":
        if not (slope > 0 and math.isfinite(slope)):
            raise parameter_error("choose", "slope", "a positive number", slope)
        if not math.isfinite(offset):
            raise parameter_error("choose", "offset", "a finite number", offset)
        eligible = pareto_frontier(risk, utility)
        goal = risk - slope * utility
    elif rule == "max_utility":
        if max_risk is None or not 0 <= max_risk <= 1:
            raise parameter_error("choose", "max_risk", "a number in [0, 1]", max_risk)
        eligible = risk <= max_risk
        goal = -utility
        if not eligible.any():
            raise EstimationError(
                f"no release has DR <= {max_risk:g}; the smallest DR is {risk.min():.6g}: raise "
                "max_risk or allow more swaps",
                "empty_feasible_set",
            )
    elif rule == "lowest_risk":
        eligible, goal, swaps = np.ones(len(frame), dtype=bool), risk, -swaps
        utility = np.zeros(len(frame))
    else:
        eligible, goal = _of_combination(frame, combination, rate)
    positions = np.flatnonzero(eligible)
    keys = (swaps[positions], -utility[positions], risk[positions], goal[positions])
    return int(positions[np.lexsort(keys)[0]])


def _of_combination(
    frame: pd.DataFrame, combination: Sequence[str] | str | None, rate: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    if not combination:
        raise parameter_error("choose", "combination", "the categories to swap", combination)
    if "combination" not in frame or rate is None:
        raise parameter_error(
            "choose",
            "candidates",
            "a table with columns combination and n_swaps or r for rule max_rate",
            sorted(map(str, frame.columns)),
        )
    wanted = Combination.parse(combination) if isinstance(combination, str) else combination
    same = [sorted(Combination.parse(str(c))) == sorted(wanted) for c in frame["combination"]]
    eligible = np.array(same, dtype=bool) & (rate > 0)
    if not eligible.any():
        raise EstimationError(
            f"no release swaps {'+'.join(wanted)}: the combination is not a candidate or has no "
            "valid swap",
            "no_valid_swap",
        )
    return eligible, -rate
