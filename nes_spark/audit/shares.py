"""How many texts an attacker named, and how sure that figure is."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse, stats
from scipy.sparse import csgraph

from nes_spark.errors import parameter_error

_CELLS = 4_000_000


class Share(NamedTuple):
    """A share with its interval; the bounds are NaN when there is only one group."""

    value: float
    low: float
    high: float


def coupled(ids: Iterable[str], pairs: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Return the group of each document: documents that swaps connect, directly or by others.

    Parameters
    ----------
    ids : iterable of str
        Documents.
    pairs : iterable of (str, str)
        Swap partners; pairs with a document that is not among `ids` are left out.

    Returns
    -------
    dict of str to int
        Groups are numbered in the order of their first document by name.
    """
    names = sorted(set(ids))
    number = {name: i for i, name in enumerate(names)}
    edges = [(number[a], number[b]) for a, b in pairs if a in number and b in number]
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    shape = (len(names), len(names))
    graph = sparse.coo_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=shape)
    _, found = csgraph.connected_components(graph, directed=False)
    first: dict[int, int] = {}
    return {
        name: first.setdefault(int(g), len(first)) for name, g in zip(names, found, strict=True)
    }


def _named(owner: str, table: pd.DataFrame) -> tuple[list[str], np.ndarray]:
    missing = {"id", "rank"} - set(table.columns)
    if missing:
        raise parameter_error(
            owner, "table", "a table with columns id and rank", sorted(map(str, table))
        )
    if table.empty:
        raise parameter_error(owner, "table", "a table with at least one row", "an empty table")
    if "attacker" in table and table["attacker"].nunique() > 1:
        raise parameter_error(
            owner, "table", "the rows of one attacker", sorted(table["attacker"].unique())
        )
    if table["id"].duplicated().any():
        raise parameter_error(owner, "table", "a table with each id once", "repeated ids")
    ranks = table["rank"].astype("Float64").to_numpy(dtype=np.float64, na_value=np.nan)
    # A candidate that the attacker does not have cannot be named; a guess without truth is no
    # measurement at all.
    if np.isnan(ranks).all():
        raise parameter_error(owner, "table", "a table with ranks (give attack a truth)", "no rank")
    return table["id"].astype(str).tolist(), ranks


def share_named(
    table: pd.DataFrame,
    groups: Mapping[str, Hashable] | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Share:
    """Return the share of texts that an attacker named first, with a bootstrap interval.

    Whole groups are resampled, as many as there are, with replacement, and the share is the ratio
    of sums (cluster bootstrap, Davison & Hinkley 1997, section 3.8): documents that were swapped
    with each other, or chunks of one document, are no independent evidence. Where no resample can
    differ, because none or all were named, the bound away from it is that of Clopper & Pearson
    (1934) for as many trials as there are groups: nobody named of ten is not a risk of zero.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns id and rank (place of the truth from 1, null where it is no candidate, which counts
        as not named), of one attacker.
    groups : mapping of str to hashable, optional
        Group of each id, for example from :func:`coupled`; without it each id is its own.
    confidence : float
        Level of the percentile interval.
    n_resamples : int
        Bootstrap resamples.
    seed : int
        Public seed of the resampling. The result is independent of the order of the rows.

    Returns
    -------
    Share
        ``(value, low, high)``; the bounds are NaN with fewer than two groups.

    Raises
    ------
    ValueError
        When the table is empty, has no ranks, repeated ids or several attackers, when an id has no
        group, or when `confidence` or `n_resamples` is out of range.
    """
    ids, ranks = _named("share_named", table)
    if not 0 < confidence < 1:
        raise parameter_error("share_named", "confidence", "between 0 and 1", confidence)
    if n_resamples < 1:
        raise parameter_error("share_named", "n_resamples", "at least 1", n_resamples)
    if groups is not None and (lost := sum(i not in groups for i in ids)):
        raise parameter_error("share_named", "groups", "a group for every id", f"{lost} without")
    named = ranks == 1
    members: dict[Hashable, list[int]] = {}
    for place in np.argsort(np.array(ids, dtype=object), kind="stable"):
        label: Hashable = ids[place] if groups is None else groups[ids[place]]
        members.setdefault(label, []).append(int(place))
    sizes = np.array([len(places) for places in members.values()])
    hits = np.array([int(named[places].sum()) for places in members.values()])
    value, m = float(named.mean()), len(sizes)
    if m < 2:
        return Share(value, float("nan"), float("nan"))
    tail = (1 - confidence) / 2
    if value == 0:
        return Share(value, 0.0, float(stats.beta.ppf(1 - tail, 1, m)))
    if value == 1:
        return Share(value, float(stats.beta.ppf(tail, m, 1)), 1.0)
    rng = np.random.default_rng(seed)
    shares = np.empty(n_resamples)
    block = max(1, _CELLS // m)
    for start in range(0, n_resamples, block):
        rows = min(block, n_resamples - start)
        times = rng.multinomial(m, np.full(m, 1 / m), size=rows)
        shares[start : start + rows] = (times @ hits) / (times @ sizes)
    low, high = np.quantile(shares, [tail, 1 - tail])
    return Share(value, float(low), float(high))


def share_named_dependent(
    table: pd.DataFrame,
    pairs: Sequence[tuple[Hashable, Hashable]],
    confidence: float = 0.95,
    groups: Mapping[str, Hashable] | None = None,
) -> Share:
    r"""Return the share named, with an interval for texts that swaps connect in a web.

    Where every document was swapped with several others, :func:`coupled` finds one group and
    nothing can be resampled. Here the texts of a group (the chunks of a document), and those of two
    groups that a swap connects, may depend on each other as far as the residuals `e` show, and
    others may not (dependency graph; the sandwich of Conley 1999 and Aronow, Samii & Assenova
    2015):

    .. math:: \widehat{\mathrm{Var}} = n^{-2} \Big(\sum_g E_g^2 + \sum_{(g, h)} E_g E_h\Big),
              \qquad E_g = \sum_{i \in g} e_i,

    the second sum over ordered pairs of groups, and never less than without it, nor than for
    independent texts. The interval is Wilson's (1927) for the number of independent texts with that
    variance. Where all texts are named, or none, the residuals show nothing: the variance is then
    the largest that would be found had two groups that a swap connects (a group, where none are)
    come out the other way.

    Parameters
    ----------
    table : pandas.DataFrame
        As in :func:`share_named`.
    pairs : sequence of (hashable, hashable)
        Groups that a swap connects; ids, where each is its own group.
    confidence : float
        Level of the interval.
    groups : mapping of str to hashable, optional
        Group of each id; without it each id is its own.

    Raises
    ------
    ValueError
        As in :func:`share_named`.
    """
    owner = "share_named_dependent"
    ids, ranks = _named(owner, table)
    if not 0 < confidence < 1:
        raise parameter_error(owner, "confidence", "between 0 and 1", confidence)
    if groups is not None and (lost := sum(i not in groups for i in ids)):
        raise parameter_error(owner, "groups", "a group for every id", f"{lost} without")
    named = ranks == 1
    value, n = float(named.mean()), len(ids)
    if n < 2:
        return Share(value, float("nan"), float("nan"))
    labels: list[Hashable] = [i if groups is None else groups[i] for i in ids]
    number = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    linked = {
        (min(number[a], number[b]), max(number[a], number[b]))
        for a, b in pairs
        if a in number and b in number and a != b
    }
    residual = named - value
    # Whole multiples of 1/n: in any order the sums are the same up to rounding.
    alone = float(residual @ residual)
    sums = np.bincount([number[label] for label in labels], weights=residual)
    ends = np.array(sorted(linked), dtype=np.int64).reshape(-1, 2)
    together = max(alone, float(sums @ sums))
    together += max(0.0, 2 * float(sums[ends[:, 0]] @ sums[ends[:, 1]]))
    if alone:
        trials = n * alone / together
    else:
        trials = _trials_of_equals(np.bincount([number[label] for label in labels]), ends)
    z = float(stats.norm.ppf((1 + confidence) / 2))
    centre = (value + z * z / (2 * trials)) / (1 + z * z / trials)
    reach = z / (1 + z * z / trials)
    reach *= float(np.sqrt(value * (1 - value) / trials + z * z / (4 * trials * trials)))
    return Share(value, max(0.0, centre - reach), min(1.0, centre + reach))


def _trials_of_equals(size: np.ndarray, ends: np.ndarray) -> float:
    """Return how many independent texts equal outcomes count for.

    Parameters
    ----------
    size : ndarray of int, shape (g,)
        Texts of each group.
    ends : ndarray of int, shape (l, 2)
        Groups that a swap connects, each pair once.
    """
    n, c = int(size.sum()), size.astype(float)
    a, b = (ends[:, 0], ends[:, 1]) if len(ends) else (np.arange(len(c)),) * 2
    other = c[b] if len(ends) else np.zeros(len(c))
    linked = float(c[ends[:, 0]] @ c[ends[:, 1]])
    beside = np.zeros(len(c))  # texts of the groups that a group is connected with
    np.add.at(beside, ends[:, 0], c[ends[:, 1]])
    np.add.at(beside, ends[:, 1], c[ends[:, 0]])
    f = (c[a] + other) / n  # the share that came out the other way; residuals are f and f - 1
    squares = c[a] ** 2 + other**2
    alone = n * f * (1 - f)
    within = f**2 * float(c @ c) + squares * (1 - 2 * f)
    across = f**2 * linked - f * (c[a] * beside[a] + other * beside[b]) + c[a] * other
    together = np.maximum(alone, within) + np.maximum(0.0, 2 * across)
    known = f < 1
    return float((n * alone[known] / together[known]).min()) if known.any() else 1.0


def summary_of(
    table: pd.DataFrame, groups: Mapping[str, Hashable] | None = None, seed: int = 0
) -> pd.DataFrame:
    """Return one row for each attacker, the strongest first.

    Parameters
    ----------
    table : pandas.DataFrame
        As :func:`nes_spark.audit.documents.attack_documents` returns it, with a truth.
    groups : mapping of str to hashable, optional
        See :func:`share_named`.

    Returns
    -------
    pandas.DataFrame
        ``attacker``, ``n`` texts, ``named`` (share named first) with ``low`` and ``high``,
        ``reciprocal_rank`` (mean of 1 / rank, 0 where the truth is no candidate), ``confident``
        (share of texts that were named, rightly, with confidence) and ``confident_right`` (share of
        the confident guesses that are right, NaN without one).
    """
    rows = []
    for attacker, part in table.groupby("attacker", sort=True):
        value, low, high = share_named(part, groups, seed=seed)
        ranks = part["rank"].astype("Float64").to_numpy(dtype=np.float64, na_value=np.inf)
        sure = part["confident"].to_numpy(dtype=bool)
        right = sure & (ranks == 1)
        rows.append(
            {
                "attacker": attacker,
                "n": len(part),
                "named": value,
                "low": low,
                "high": high,
                "reciprocal_rank": float((1 / ranks).mean()),
                "confident": float(right.mean()),
                "confident_right": float(right.sum() / sure.sum()) if sure.any() else float("nan"),
            }
        )
    found = pd.DataFrame(rows)
    return found.sort_values(["named", "attacker"], ascending=[False, True], ignore_index=True)
