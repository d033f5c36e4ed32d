"""Paired statistics of an audit: what swapping did to the accuracy of an adversary.

Everything here is a function of NumPy arrays or counts. Paper, section 3.2.2: accuracy before and
after (mean and standard deviation over draws), the 2 x 2 table of aggregated predictions, and
McNemar's test on it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from nes_spark.errors import parameter_error

#: Fewer swapped chunks than this in a draw say little: the standard error of an accuracy of one
#: half is then above ten percentage points.
MIN_CHUNKS = 25
#: Fewer discordant pairs than this make the chi-square approximation of McNemar's test poor.
MIN_DISCORDANT = 25
#: Fewer documents than this make an interval over documents too narrow.
MIN_DOCUMENTS = 10


def texts_needed(
    width: float,
    share: float = 0.5,
    per_document: float = 1.0,
    correlation: float = 0.0,
    confidence: float = 0.95,
) -> int:
    r"""Return how many texts to ask about for an interval of a share that is so wide.

    .. math:: n = \frac{4 z^2 p (1 - p)}{w^2} \big(1 + (m - 1) \rho\big)

    with `z` the normal quantile, `p` the share, `w` the whole width of the interval, `m` texts of
    each document and `rho` their intraclass correlation (design effect, Kish 1965).
    The difference of the shares before and after has `b + c - (b - c)^2` in the place of
    `p (1 - p)`, with `b` and `c` the shares that are right on one side only.

    Parameters
    ----------
    width : float
        From the lower to the upper bound, in (0, 1).
    share : float
        What is expected, in (0, 1); one half asks for the most texts.
    per_document : float
        Texts asked about of each document, 1 or more.
    correlation : float
        From 0 (chunks of a document are as different as any) to 1 (one says it all).
    confidence : float

    Returns
    -------
    int

    Raises
    ------
    ValueError
        For a parameter out of its range.

    Examples
    --------
    >>> texts_needed(0.1)
    385
    """
    owner = "texts_needed"
    for name, value in (("width", width), ("share", share), ("confidence", confidence)):
        if not 0 < value < 1:
            raise parameter_error(owner, name, "between 0 and 1", value)
    if per_document < 1:
        raise parameter_error(owner, "per_document", "at least 1", per_document)
    if not 0 <= correlation <= 1:
        raise parameter_error(owner, "correlation", "from 0 to 1", correlation)
    z = float(stats.norm.ppf((1 + confidence) / 2))
    effect = 1 + (per_document - 1) * correlation
    return math.ceil(round(4 * z * z * share * (1 - share) / width**2 * effect, 9))


@dataclass(frozen=True)
class McNemarResult:
    """McNemar's test of a 2 x 2 table of paired predictions.

    Attributes
    ----------
    table : tuple of tuple of int
        ``((both correct, only before), (only after, neither))``.
    statistic : float
        Chi-square with continuity correction, 1 degree of freedom.
    p_value : float
        Upper tail of the chi-square distribution at `statistic`.
    exact_p_value : float
        Two-sided binomial test of the discordant pairs.
    mid_p_value : float
        The same with half the weight on the observed outcome (less conservative).
    cohens_g : float
        ``b / (b + c) - 1/2``, signed: positive when the adversary lost by swapping. NaN without
        discordant pairs. Cohen (1988) calls 0.05 small, 0.15 medium and 0.25 large.
    odds_ratio : float
        ``b / c``; infinite when c is 0, NaN without discordant pairs.
    odds_ratio_interval : tuple of float
        Exact (Clopper-Pearson) interval of the odds ratio, ``(0, inf)`` without discordant pairs.
    confidence : float
        Level of that interval.
    n, discordant : int
        All pairs, and those of which exactly one prediction is correct.
    """

    table: tuple[tuple[int, int], tuple[int, int]]
    statistic: float
    p_value: float
    exact_p_value: float
    mid_p_value: float
    cohens_g: float
    odds_ratio: float
    odds_ratio_interval: tuple[float, float]
    confidence: float
    n: int
    discordant: int

    @property
    def accuracy_pre(self) -> float:
        """Share of pairs that are correct before swapping; NaN for an empty table."""
        return (self.table[0][0] + self.table[0][1]) / self.n if self.n else math.nan

    @property
    def accuracy_post(self) -> float:
        """Share of pairs that are correct after swapping; NaN for an empty table."""
        return (self.table[0][0] + self.table[1][0]) / self.n if self.n else math.nan


def mcnemar(table: Any, confidence: float = 0.95) -> McNemarResult:
    r"""Test whether a classifier is equally accurate before and after (McNemar 1947).

    With `b` pairs correct only before and `c` only after, given ``b + c`` the null hypothesis makes
    `b` binomial with probability one half.

    .. math:: \chi^2 = \max(|b - c| - 1, 0)^2 / (b + c) \qquad \text{(Edwards 1948)}

    The maximum keeps the correction from making a table with ``b = c`` look uneven. The mid-p value
    is the exact one less the probability of the outcome seen (Fagerland, Lydersen & Laake 2013).

    Parameters
    ----------
    table : array_like of shape (2, 2)
        ``[[both correct, only before], [only after, neither]]``, counts.
    confidence : float
        Level of the interval of the odds ratio, between 0 and 1.

    Returns
    -------
    McNemarResult
        A table without discordant pairs gives statistic 0 and p-values 1.

    Raises
    ------
    ValueError
        When `table` is not 2 x 2 or holds something other than counts.

    Examples
    --------
    >>> result = mcnemar([[1277, 760], [37, 108]])
    >>> round(result.statistic, 2), result.p_value < 1e-100
    (654.06, True)
    """
    raw = np.asarray(table)
    if raw.shape != (2, 2) or raw.dtype.kind not in "iufb":
        raise parameter_error("mcnemar", "table", "a 2 x 2 table of counts", table)
    values = raw.astype(np.float64)
    if not np.all(np.isfinite(values)) or np.any(values < 0) or np.any(values != np.rint(values)):
        raise parameter_error("mcnemar", "table", "a 2 x 2 table of counts", table)
    if not 0 < confidence < 1:
        raise parameter_error("mcnemar", "confidence", "between 0 and 1", confidence)
    (both, b), (c, neither) = ((int(v) for v in row) for row in raw)
    discordant = b + c
    low = min(b, c)
    if discordant == 0:
        statistic, exact, mid, g, ratio = 0.0, 1.0, 1.0, math.nan, math.nan
        interval = (0.0, math.inf)
    else:
        statistic = max(abs(b - c) - 1, 0) ** 2 / discordant
        exact = float(min(1.0, 2 * stats.binom.cdf(low, discordant, 0.5)))
        # In terms of P(X < low) + P(X = low) / 2: no difference of nearly equal numbers.
        mid = float(
            2 * stats.binom.cdf(low - 1, discordant, 0.5) + stats.binom.pmf(low, discordant, 0.5)
        )
        g = b / discordant - 0.5
        ratio = b / c if c else math.inf
        interval = _odds_interval(b, c, confidence)
    return McNemarResult(
        table=((both, b), (c, neither)),
        statistic=float(statistic),
        p_value=float(stats.chi2.sf(statistic, 1)),
        exact_p_value=exact,
        mid_p_value=min(1.0, mid),
        cohens_g=g,
        odds_ratio=ratio,
        odds_ratio_interval=interval,
        confidence=confidence,
        n=both + b + c + neither,
        discordant=discordant,
    )


def _odds_interval(b: int, c: int, confidence: float) -> tuple[float, float]:
    """Clopper-Pearson interval of b / (b + c), mapped to the odds b : c."""
    tail = (1 - confidence) / 2
    low = float(stats.beta.ppf(tail, b, c + 1)) if b else 0.0
    high = float(stats.beta.ppf(1 - tail, b + 1, c)) if c else 1.0
    return low / (1 - low), high / (1 - high) if high < 1 else math.inf


@dataclass(frozen=True)
class DrawAccuracy:
    """Accuracy over Monte Carlo draws.

    Attributes
    ----------
    mean : float
        Mean over draws of the accuracy within a draw (paper, section 3.2.2).
    sd : float
        Standard deviation over draws, with denominator M - 1; NaN for a single draw.
    by_draw : dict of int to float
        Accuracy of each draw.
    counts : dict of int to int
        Predictions of each draw.
    """

    mean: float
    sd: float
    by_draw: dict[int, float]
    counts: dict[int, int]


def accuracy_over_draws(draw: Any, correct: Any) -> DrawAccuracy:
    """Return mean and standard deviation over draws of the accuracy within each draw.

    Parameters
    ----------
    draw : array_like of int, shape (n,)
        Draw that each prediction belongs to.
    correct : array_like of bool, shape (n,)
        Whether it is right. A number between 0 and 1 (a share) is accepted too.

    Raises
    ------
    ValueError
        When the two differ in length or there is no prediction.
    """
    draws = np.asarray(draw)
    right = np.asarray(correct, dtype=np.float64)
    if draws.shape != right.shape or draws.ndim != 1 or not draws.size:
        raise parameter_error(
            "accuracy_over_draws", "correct", "as long as 'draw' and not empty", right.shape
        )
    by_draw: dict[int, float] = {}
    counts: dict[int, int] = {}
    for d in np.unique(draws):
        part = right[draws == d]
        by_draw[int(d)] = math.fsum(part) / part.size
        counts[int(d)] = int(part.size)
    values = np.array(list(by_draw.values()))
    mean = math.fsum(values) / values.size
    sd = (
        math.sqrt(math.fsum((values - mean) ** 2) / (values.size - 1))
        if values.size > 1
        else math.nan
    )
    return DrawAccuracy(mean, sd, by_draw, counts)


def paired_table(pre: Any, post: Any) -> np.ndarray:
    """Cross-tabulate paired outcomes.

    Parameters
    ----------
    pre, post : array_like of bool, shape (n,)
        Whether the prediction before and after swapping is right, in the same order.

    Returns
    -------
    numpy.ndarray of int64, shape (2, 2)
        ``[[both correct, only before], [only after, neither]]``.
    """
    before = np.asarray(pre, dtype=bool)
    after = np.asarray(post, dtype=bool)
    if before.shape != after.shape or before.ndim != 1:
        raise parameter_error("paired_table", "post", "as long as 'pre'", after.shape)
    return np.array(
        [
            [np.sum(before & after), np.sum(before & ~after)],
            [np.sum(~before & after), np.sum(~before & ~after)],
        ],
        dtype=np.int64,
    )


@dataclass(frozen=True)
class DropInterval:
    """Interval of the drop in accuracy, clustered by document.

    Attributes
    ----------
    drop : float
        Accuracy before less accuracy after, over all pairs.
    low, high : float
        Its ends; NaN when there is only one document, or one couple of documents.
    standard_error : float
        NaN likewise.
    confidence : float
        Level of the interval.
    documents : int
        Documents that the pairs of predictions are from.
    """

    drop: float
    low: float
    high: float
    standard_error: float
    confidence: float
    documents: int


def bootstrap_drop(
    documents: Sequence[str],
    pre: Any,
    post: Any,
    n_resamples: int = 2000,
    confidence: float = 0.95,
    seed: int = 0,
) -> DropInterval:
    """Bootstrap the accuracy drop, resampling whole documents.

    Chunks of a document, and the same chunk in several draws, are no independent evidence, so a
    document's pairs stay together (cluster bootstrap, Davison & Hinkley 1997, section 3.8): each
    resample draws as many documents as there are, with replacement, and takes the ratio of sums.

    Parameters
    ----------
    documents : sequence of str, length n
        Document of each pair.
    pre, post : array_like of bool, shape (n,)
        Whether the prediction before and after is right.
    n_resamples : int
        Bootstrap resamples.
    confidence : float
        Level of the percentile interval.
    seed : int
        Public seed of the resampling; the result is independent of the order of the pairs.

    Returns
    -------
    DropInterval

    Raises
    ------
    ValueError
        On lengths that differ, no pairs, or `n_resamples` below 1.
    """
    before = np.asarray(pre, dtype=np.int64)
    after = np.asarray(post, dtype=np.int64)
    if not len(documents) == before.size == after.size or not before.size:
        raise parameter_error(
            "bootstrap_drop", "documents", "as long as 'pre' and 'post' and not empty", before.size
        )
    names, index = np.unique(np.asarray(documents, dtype=object).astype(str), return_inverse=True)
    lost = np.zeros(names.size, dtype=np.int64)
    np.add.at(lost, index, before - after)
    return bootstrap_document_sums(
        np.bincount(index, minlength=names.size), lost, n_resamples, confidence, seed
    )


def bootstrap_document_sums(
    size: Any, lost: Any, n_resamples: int = 2000, confidence: float = 0.95, seed: int = 0
) -> DropInterval:
    """Bootstrap the accuracy drop from sums by document; see :func:`bootstrap_drop`.

    Parameters
    ----------
    size : array_like of int, shape (m,)
        Pairs of each document, documents in order of their ids.
    lost : array_like of int, shape (m,)
        Pairs correct before less pairs correct after.
    """
    sizes = np.asarray(size, dtype=np.int64)
    losses = np.asarray(lost, dtype=np.int64)
    m = sizes.size
    if losses.shape != sizes.shape or not sizes.sum():
        raise parameter_error(
            "bootstrap_document_sums", "lost", "as long as 'size', of some pairs", losses.shape
        )
    if n_resamples < 1:
        raise parameter_error("bootstrap_drop", "n_resamples", "at least 1", n_resamples)
    if not 0 < confidence < 1:
        raise parameter_error("bootstrap_drop", "confidence", "between 0 and 1", confidence)
    drop = float(losses.sum() / sizes.sum())
    if m == 1:
        return DropInterval(drop, math.nan, math.nan, math.nan, confidence, 1)
    rng = np.random.default_rng(seed)
    drops = np.empty(n_resamples)
    block = max(1, 4_000_000 // m)
    for start in range(0, n_resamples, block):
        rows = min(block, n_resamples - start)
        times = rng.multinomial(m, np.full(m, 1 / m), size=rows)
        drops[start : start + rows] = (times @ losses) / (times @ sizes)
    low, high = np.quantile(drops, [(1 - confidence) / 2, (1 + confidence) / 2])
    return DropInterval(drop, float(low), float(high), float(drops.std(ddof=1)), confidence, m)


def coupled_drop(
    documents: Sequence[str],
    partners: Sequence[str],
    size: Any,
    lost: Any,
    confidence: float = 0.95,
) -> DropInterval:
    r"""Return the accuracy drop with an interval that knows that a swap couples two documents.

    What a swap does to its two chunks depends on both documents, and a document takes part in
    several swaps, so observations that share either document are dependent. With the deviations
    e = lost - drop * size added up by document (of either side) to S_d and by couple to P_ab,

    .. math:: V = \frac{m}{m-1} \sum_d S_d^2 - \sum_{\{a, b\}} P_{ab}^2

    is the variance of their sum under dependence of any kind within a document (dyadic clustering;
    Cameron, Gelbach & Miller 2011; Aronow, Samii & Assenova 2015): the second sum takes away what
    the first counts twice. The interval is that of Student's t with m - 1 degrees of freedom.

    A bootstrap that resamples documents as if they were independent covers the truth too seldom
    (``tests/benchmarks/bench_calibration.py``).

    Parameters
    ----------
    documents, partners : sequence of str, length r
        The document of the chunks and that of their swap partners; an empty partner for chunks
        whose partner is not known, which are then coupled with none.
    size, lost : array_like of int, shape (r,)
        Pairs of predictions, and pairs correct before less pairs correct after.
    confidence : float
        Level of the interval.

    Returns
    -------
    DropInterval

    Raises
    ------
    ValueError
        On lengths that differ, no pairs, or a level outside (0, 1).
    """
    sizes, losses = np.asarray(size, dtype=np.int64), np.asarray(lost, dtype=np.int64)
    if not len(documents) == len(partners) == sizes.size == losses.size or not sizes.sum():
        raise parameter_error(
            "coupled_drop", "documents", "as long as the others, of some pairs", len(documents)
        )
    if not 0 < confidence < 1:
        raise parameter_error("coupled_drop", "confidence", "between 0 and 1", confidence)
    total, all_lost = int(sizes.sum()), int(losses.sum())
    drop = all_lost / total
    # deviations times the total are whole numbers: their sums do not depend on an order
    by_document: Counter[str] = Counter()
    by_couple: Counter[tuple[str, ...]] = Counter()
    m = len(set(documents))
    for document, partner, count, gone in zip(
        documents, partners, sizes.tolist(), losses.tolist(), strict=True
    ):
        deviation = gone * total - all_lost * count
        members = tuple(sorted({document, partner} - {""}))
        by_document.update(dict.fromkeys(members, deviation))
        by_couple[members] += deviation
    if m < 2 or len(by_couple) < 2:
        return DropInterval(drop, math.nan, math.nan, math.nan, confidence, m)
    within = sum(v * v for v in by_couple.values())
    twice = sum(v * v for couple, v in by_couple.items() if len(couple) == 2)
    between = sum(v * v for v in by_document.values())
    # dependence that happens to come out negative in a sample is not believed
    variance = max(m / (m - 1) * between - twice, within)
    error = math.sqrt(variance) / total**2
    half = float(stats.t.ppf((1 + confidence) / 2, m - 1)) * error
    return DropInterval(drop, max(drop - half, -1.0), min(drop + half, 1.0), error, confidence, m)


def warnings_for(
    counts: dict[int, int], result: McNemarResult, documents: int, min_chunks: int = MIN_CHUNKS
) -> list[str]:
    """Return what a reader must know before trusting the numbers; an empty list when nothing.

    Parameters
    ----------
    counts : dict of int to int
        Swapped chunks of each draw.
    result : McNemarResult
        The test of the aggregated table.
    documents : int
        Documents that the swapped chunks come from.
    min_chunks : int
        A draw with fewer swapped chunks says too little by itself.
    """
    found = []
    few = sorted(d for d, count in counts.items() if count < min_chunks)
    if few:
        least = min(counts.values())
        found.append(
            f"{len(few)} of {len(counts)} draws have fewer than {min_chunks} swapped chunks (the "
            f"smallest has {least}): the accuracy of one draw says little"
        )
    if result.discordant < MIN_DISCORDANT:
        found.append(
            f"only {result.discordant} predictions changed between right and wrong: read the exact "
            "p-value, not the chi-square one"
        )
    if documents < MIN_DOCUMENTS:
        found.append(
            f"the swapped chunks come from {documents} documents: the interval of the drop is too "
            "narrow below about ten"
        )
    if len(counts) > 1:
        found.append(
            "draws share chunks, so McNemar's p-values on the aggregated table overstate the "
            "evidence; the interval of the drop, which goes by document, does not"
        )
    return found
