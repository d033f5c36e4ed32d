"""What an audit found, small enough for a report, a release record and a gate."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import permutation_test, rankdata, spearmanr

from nes_spark.audit.adversaries import SWAP_AWARE
from nes_spark.audit.statistics import (
    DrawAccuracy,
    DropInterval,
    McNemarResult,
    bootstrap_document_sums,
    coupled_drop,
    mcnemar,
    warnings_for,
)
from nes_spark.errors import InputError
from nes_spark.plain import plain

if TYPE_CHECKING:
    import pandas as pd

#: Shares are added up as whole numbers of this part of one: the same in any order.
GRID = 10**12
#: So many pairs at most have all their orders looked at.
_ALL_ORDERS = 8
#: Outcomes of an answer, in the order in which they are shown.
OUTCOMES = ("answered", "verbose", "refused", "empty", "malformed")


@dataclass(frozen=True)
class AdversaryResult:
    """What one adversary achieved.

    Attributes
    ----------
    model : str
        The adversary.
    chunks : int
        Predictions of each side, over all draws.
    documents, draws : int
        Documents they come from, and Monte Carlo draws.
    pre, post : DrawAccuracy
        Accuracy before and after swapping.
    hits5_pre, hits5_post, mrr_pre, mrr_post : float or None
        Truth among the first five, and mean reciprocal rank; None for an adversary that names only
        one candidate.
    mcnemar : McNemarResult
        Test of the aggregated 2 x 2 table.
    drop : DropInterval
        Interval of the accuracy drop, clustered by document; it allows for the documents that
        swaps couple where those are known.
    outcomes : dict
        Side to outcome to number of answers.
    warnings : list of str
        What a reader must know before trusting the numbers.
    """

    model: str
    chunks: int
    documents: int
    draws: int
    pre: DrawAccuracy
    post: DrawAccuracy
    hits5_pre: float | None
    hits5_post: float | None
    mrr_pre: float | None
    mrr_post: float | None
    mcnemar: McNemarResult
    drop: DropInterval
    outcomes: dict[str, dict[str, int]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; what is not finite becomes None."""
        return plain(asdict(self), missing=True)


@dataclass(frozen=True)
class DrawSums:
    """Sums over the swapped chunks of one draw.

    Attributes
    ----------
    draw, chunks, pre, post : int
        The draw, its chunks, and those identified before and after.
    ranked : int
        Predictions (both sides) that come with a rank.
    hits5_pre, hits5_post : int
        Truth among the first five.
    reciprocal_pre, reciprocal_post : float
        Sum of 1 / rank.
    both, pre_only, post_only : int
        Cells of the 2 x 2 table.
    """

    draw: int
    chunks: int
    pre: int
    post: int
    ranked: int
    hits5_pre: int
    hits5_post: int
    reciprocal_pre: float
    reciprocal_post: float
    both: int
    pre_only: int
    post_only: int


def _accuracy(pairs: Iterable[tuple[int, int, int]]) -> DrawAccuracy:
    by_draw = {draw: right / count for draw, right, count in pairs}
    counts = {draw: count for draw, _, count in pairs}
    values = list(by_draw.values())
    mean = math.fsum(values) / len(values)
    sd = (
        math.sqrt(math.fsum((v - mean) ** 2 for v in values) / (len(values) - 1))
        if len(values) > 1
        else math.nan
    )
    return DrawAccuracy(mean, sd, by_draw, counts)


def build_result(
    model: str,
    draws: Sequence[DrawSums],
    documents: Sequence[tuple[str, str, int, int]],
    outcomes: dict[str, dict[str, int]],
    min_chunks: int = 25,
    n_resamples: int = 2000,
    confidence: float = 0.95,
) -> AdversaryResult:
    """Build the result of one adversary from sums.

    Parameters
    ----------
    model : str
        The adversary.
    draws : sequence of DrawSums
        At least one.
    documents : sequence of (str, str, int, int)
        Document, document of the swap partner (empty where not known), pairs of predictions, and
        pairs correct before less pairs correct after.
    outcomes : dict
        Side to outcome to number of answers.
    min_chunks, n_resamples, confidence
        See :class:`nes_spark.config.AuditConfig`.
    """
    draws = sorted(draws, key=lambda d: d.draw)
    names, partners, pairs, lost = zip(*documents, strict=True)
    drop = (
        coupled_drop(names, partners, pairs, lost, confidence)
        if any(partners)
        else bootstrap_document_sums(pairs, lost, n_resamples, confidence)
    )
    chunks = sum(d.chunks for d in draws)
    both = sum(d.both for d in draws)
    pre_only = sum(d.pre_only for d in draws)
    post_only = sum(d.post_only for d in draws)
    test = mcnemar(
        [[both, pre_only], [post_only, chunks - both - pre_only - post_only]], confidence
    )
    pre = _accuracy([(d.draw, d.pre, d.chunks) for d in draws])
    ranked = any(d.ranked for d in draws)
    return AdversaryResult(
        model=model,
        chunks=chunks,
        documents=drop.documents,
        draws=len(draws),
        pre=pre,
        post=_accuracy([(d.draw, d.post, d.chunks) for d in draws]),
        hits5_pre=sum(d.hits5_pre for d in draws) / chunks if ranked else None,
        hits5_post=sum(d.hits5_post for d in draws) / chunks if ranked else None,
        mrr_pre=math.fsum(d.reciprocal_pre for d in draws) / chunks if ranked else None,
        mrr_post=math.fsum(d.reciprocal_post for d in draws) / chunks if ranked else None,
        mcnemar=test,
        drop=drop,
        outcomes={
            side: {name: counts[name] for name in OUTCOMES if counts.get(name)}
            for side, counts in sorted(outcomes.items())
        },
        warnings=warnings_for(pre.counts, test, drop.documents, min_chunks),
    )


def summarize_predictions(
    predictions: pd.DataFrame,
    partners: pd.DataFrame | None = None,
    min_chunks: int = 25,
    n_resamples: int = 2000,
    confidence: float = 0.95,
) -> list[AdversaryResult]:
    """Sum up the predictions of every adversary.

    Parameters
    ----------
    predictions : pandas.DataFrame
        ``model, draw, document_id, chunk_id, side, correct, rank, outcome``, both sides of every
        chunk, in any order.
    partners : pandas.DataFrame, optional
        ``draw, chunk_id, partner``: with which document a swapped chunk has exchanged names.
        Without it the documents are taken to be independent, and resampled.
    min_chunks, n_resamples, confidence
        See :class:`nes_spark.config.AuditConfig`.

    Returns
    -------
    list of AdversaryResult
        By name of adversary. Empty when nothing was swapped.

    Raises
    ------
    InputError
        When a chunk has a prediction on one side only.
    """
    rank = predictions["rank"].astype("float64")
    found = {
        "": predictions["correct"].fillna(False).astype("int64"),
        "hits5_": (rank <= 5).astype("int64"),
        "reciprocal_": ((GRID / rank + 0.5) // 1).fillna(0).astype("int64"),
    }
    table = predictions[["model", "draw", "document_id", "chunk_id"]].assign(
        **{
            f"{name}{side}": values.where(predictions["side"] == side, 0)
            for name, values in found.items()
            for side in ("pre", "post")
        },
        ranked=rank.notna().astype("int64"),
        sides=1,
    )
    pairs = table.groupby(["model", "draw", "document_id", "chunk_id"]).sum().reset_index()
    if halves := int((pairs["sides"] != 2).sum()):
        raise InputError(f"{halves} chunks have a prediction on one side only, or more than one")
    pairs["chunks"] = 1
    pairs["both"] = pairs["pre"] * pairs["post"]
    pairs["pre_only"], pairs["post_only"] = (pairs[s] - pairs["both"] for s in ("pre", "post"))
    pairs["lost"] = pairs["pre"] - pairs["post"]
    coupled = pairs.assign(partner="")
    if partners is not None:
        coupled = pairs.merge(partners, on=["draw", "chunk_id"], how="left")
        coupled["partner"] = coupled["partner"].fillna("")
    by_document = (
        coupled.groupby(["model", "document_id", "partner"])["lost"]
        .agg(["size", "sum"])
        .reset_index()
    )
    by_draw = pairs.drop(columns=["document_id", "chunk_id", "sides", "lost"])
    by_draw = by_draw.groupby(["model", "draw"]).sum().reset_index()
    for side in ("pre", "post"):
        by_draw[f"reciprocal_{side}"] = [n / GRID for n in by_draw[f"reciprocal_{side}"].tolist()]
    counted = predictions.groupby(["model", "side", "outcome"]).size().reset_index(name="count")
    results = []
    for model in sorted(set(by_draw["model"])):
        outcomes: dict[str, dict[str, int]] = {}
        for _, side, outcome, count in _rows_of(counted, model):
            outcomes.setdefault(side, {})[outcome] = count
        draws = by_draw[by_draw["model"] == model].drop(columns="model").to_dict("records")
        results.append(
            build_result(
                model,
                [DrawSums(**{str(name): value for name, value in row.items()}) for row in draws],
                [row[1:] for row in _rows_of(by_document, model)],
                outcomes,
                min_chunks,
                n_resamples,
                confidence,
            )
        )
    return results


def _rows_of(table: pd.DataFrame, model: str) -> list[tuple[Any, ...]]:
    return [*table[table["model"] == model].itertuples(index=False, name=None)]


@dataclass(frozen=True)
class PartnerResult:
    """What an adversary who knows about swapping achieved, over all draws that it was tried on.

    Attributes
    ----------
    draws, suspects, swapped : int
        Draws; chunks that could have been swapped; those that were.
    accuracy, hits5, mrr : float or None
        How often the first guess for a swapped chunk is its true partner, how often the partner
        is among the first five, and the mean reciprocal rank. None without swapped chunks.
    chance, chance_hits5, chance_mrr : float or None
        The same for one who guesses at random among the candidates.
    undone, undone_correct : int
        Pairs that the adversary undoes, as many as there are swaps, and those that are true.
    undo_precision, undo_chance : float or None
        Share of those pairs that are true, and of all candidate pairs.
    detection, detection_chance : float or None
        Share of the chunks it undoes that were swapped at all, and of all suspects.
    """

    draws: int
    suspects: int
    swapped: int
    accuracy: float | None
    hits5: float | None
    mrr: float | None
    chance: float | None
    chance_hits5: float | None
    chance_mrr: float | None
    undone: int
    undone_correct: int
    undo_precision: float | None
    undo_chance: float | None
    detection: float | None
    detection_chance: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return plain(asdict(self), missing=True)


def audit_metrics(
    results: Iterable[AdversaryResult], partners: PartnerResult | None = None
) -> dict[str, float]:
    """Return flat metrics, one name a number, for MLflow; what is not finite is left out."""
    found: dict[str, float | None] = {}
    for result in results:
        name = f"audit/{result.model}"
        found |= {
            f"{name}/accuracy_pre": result.pre.mean,
            f"{name}/accuracy_pre_sd": result.pre.sd,
            f"{name}/accuracy_post": result.post.mean,
            f"{name}/accuracy_post_sd": result.post.sd,
            f"{name}/hits5_pre": result.hits5_pre,
            f"{name}/hits5_post": result.hits5_post,
            f"{name}/mrr_pre": result.mrr_pre,
            f"{name}/mrr_post": result.mrr_post,
            f"{name}/drop": result.drop.drop,
            f"{name}/drop_low": result.drop.low,
            f"{name}/drop_high": result.drop.high,
            f"{name}/mcnemar_statistic": result.mcnemar.statistic,
            f"{name}/mcnemar_p_value": result.mcnemar.p_value,
            f"{name}/mcnemar_exact_p_value": result.mcnemar.exact_p_value,
        }
        for side, counts in result.outcomes.items():
            for outcome, count in counts.items():
                found[f"{name}/{side}_{outcome}"] = float(count)
    if partners is not None:
        for key, value in asdict(partners).items():
            found[f"audit/{SWAP_AWARE}/{key}"] = value
    return {
        name: float(value)
        for name, value in found.items()
        if value is not None and math.isfinite(value)
    }


def independent_agreement(attacks: pd.DataFrame) -> dict[str, float | None]:
    """Relate estimated risk to measured attack success over releases that were drawn independently.

    Candidates of one combination are prefixes of one sequence of swaps: risk and success are then
    both sums over the same swaps and go together by construction. Sequences of different
    combinations are independent, so they are compared with each other, all at the largest number
    of swaps that every one of them reached.

    Parameters
    ----------
    attacks : pandas.DataFrame
        One row a candidate with at least one swap: ``combination, n_swaps, DR`` and
        ``corpus_accuracy``, the share of all chunks that the adversary identifies in that release.

    Returns
    -------
    dict
        ``releases`` (one a combination), ``n_swaps``, ``spearman`` and its ``p_value`` (over all
        orders of the releases); the last two None where there are fewer than four releases, or one
        of the measures does not vary.
    """
    found: dict[str, float | None] = {"releases": 0.0, "n_swaps": None}
    found |= {"spearman": None, "p_value": None}
    if attacks.empty:
        return found
    common = int(attacks.groupby("combination")["n_swaps"].max().min())
    mine = attacks[attacks["n_swaps"] == common].sort_values("combination")
    risk, success = mine["DR"].to_numpy(float), mine["corpus_accuracy"].to_numpy(float)
    found |= {"releases": float(len(mine)), "n_swaps": float(common)}
    if len(mine) >= 4 and np.ptp(risk) > 0 and np.ptp(success) > 0:
        found["spearman"] = float(spearmanr(risk, success).statistic)
        found["p_value"] = _order_test(risk, success)
    return found


def _order_test(x: np.ndarray, y: np.ndarray) -> float:
    """P-value of a rank correlation: over all orders of few pairs, approximate for many."""
    if len(x) > _ALL_ORDERS:
        return float(spearmanr(x, y).pvalue)
    ranks, against = rankdata(x), rankdata(y)  # once: they only change places

    def statistic(order: np.ndarray) -> float:
        return float(np.corrcoef(np.column_stack((order, against)), rowvar=False)[1, 0])

    test = permutation_test((ranks,), statistic, permutation_type="pairings", n_resamples=math.inf)
    return float(test.pvalue)


def gate_accuracy(results: Iterable[AdversaryResult], gate_models: Sequence[str]) -> float | None:
    """Return the highest accuracy after swapping of the adversaries that the gate binds.

    Parameters
    ----------
    results : iterable of AdversaryResult
        All adversaries.
    gate_models : sequence of str
        ``audit.gate_models`` of the configuration.

    Returns
    -------
    float or None
        None when none of them was run: then the gate has nothing to hold on to, and must not pass.
    """
    values = [r.post.mean for r in results if r.model in gate_models]
    return max(values) if values else None
