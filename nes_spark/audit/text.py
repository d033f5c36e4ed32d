"""The text attacker: whose words are these?

Words are weighted by log term frequency and inverse document frequency, chunk vectors have norm
one, a candidate is the sum of its chunks' vectors (Rocchio / nearest centroid), and the score is
the cosine. Weights are integers on a grid of 2^-16, so that Spark may add them up in any order with
the same result.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from nes_spark.audit.ranking import on_grid, pair_keys, stable_hash

#: Weight one on the grid. Sums of 10,000 unit vectors still fit 64 bits when squared.
SCALE = 1 << 16

#: Words are hashed into so many buckets: what a driver must hold is bounded.
BUCKETS = 1 << 18

#: Scores computed at a time; a few tables of that many numbers are held.
_CELLS = 2_000_000

_PLACEHOLDER = re.compile(r"\[[A-Z][^\[\]\n]{0,40}\]")
_WORD = re.compile(r"[^\W\d_]{2,}(?:['’][^\W\d_]+)?")


def words(text: str, spans: Iterable[tuple[int, int]] = ()) -> dict[str, int]:
    """Count the words of a text, without placeholders and without given spans.

    Parameters
    ----------
    text : str
        Text of a chunk.
    spans : iterable of (int, int)
        Half-open ranges to leave out, for example its mentions; may overlap.

    Returns
    -------
    dict of str to int
        Case-folded word to its count.
    """
    pieces = []
    position = 0
    for start, end in sorted(spans):
        if start > position:
            pieces.append(text[position:start])
        position = max(position, end)
    pieces.append(text[position:])
    cleaned = _PLACEHOLDER.sub(" ", " ".join(pieces))
    if cleaned.isascii():  # where small letters stand for the same letters, one by one
        return dict(Counter(_WORD.findall(cleaned.lower())))
    return dict(Counter(word.casefold().replace("’", "'") for word in _WORD.findall(cleaned)))


@lru_cache(maxsize=200_000)
def bucket(word: str) -> int:
    """Return the bucket of a word (feature hashing, Weinberger et al. 2009)."""
    return stable_hash(word) % BUCKETS


def bucket_counts(counts: Mapping[str, int]) -> dict[int, int]:
    """Add up the counts of the words of each bucket."""
    found: dict[int, int] = {}
    for word, count in counts.items():
        at = bucket(word)
        found[at] = found.get(at, 0) + count
    return found


def inverse_frequencies(frequency: np.ndarray, n: int) -> list[float]:
    """Return the logarithm of n / frequency of every bucket.

    Parameters
    ----------
    frequency : numpy.ndarray of int64, shape (BUCKETS,)
        Known chunks that hold each bucket.
    n : int
        Known chunks.

    Returns
    -------
    list of float
        Zero for buckets that no known chunk holds.
    """
    values, place = np.unique(frequency, return_inverse=True)
    logs = [math.log(n / count) if count > 0 else 0.0 for count in values.tolist()]
    found: list[float] = np.array(logs)[place].tolist()  # a list: words are looked up one by one
    return found


def tfidf(
    counts: Mapping[int, int], inverse: Sequence[float], max_words: int = 256
) -> dict[int, int]:
    """Return the TF-IDF vector of a chunk, on the integer grid.

    Parameters
    ----------
    counts : mapping of int to int
        Words of the chunk by bucket.
    inverse : sequence of float
        From :func:`inverse_frequencies`.
    max_words : int
        The heaviest buckets are kept, ties in their order.

    Returns
    -------
    dict of int to int
        Bucket to weight; the Euclidean norm is `SCALE` up to rounding. Words in every known chunk
        and words in none weigh nothing and are left out.
    """
    raw = (((1 + math.log(count)) * inverse[b], b) for b, count in counts.items())
    heaviest = sorted((-value, b) for value, b in raw if value > 0)[:max_words]
    norm = math.sqrt(math.fsum(value * value for value, _ in heaviest))
    vector = {b: round(-value / norm * SCALE) for value, b in heaviest}
    return {b: weight for b, weight in vector.items() if weight}


def tfidf_rows(
    buckets: np.ndarray,
    counts: np.ndarray,
    ends: np.ndarray,
    inverse: np.ndarray,
    max_words: int = 256,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what :func:`tfidf` does for many chunks at a time, to the bit.

    Parameters
    ----------
    buckets, counts : numpy.ndarray of int
        Words of all chunks by bucket, one chunk behind the other.
    ends : numpy.ndarray of int, shape (chunks,)
        Where the words of each chunk end.
    inverse : numpy.ndarray of float, shape (BUCKETS,)
        From :func:`inverse_frequencies`.
    max_words : int
        As for :func:`tfidf`.

    Returns
    -------
    (numpy.ndarray of int, numpy.ndarray of int, numpy.ndarray of int64)
        Number of the chunk, bucket and weight, sorted by chunk.
    """
    row = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    logs = [0.0, *(1 + math.log(n) for n in range(1, 1 + int(counts.max(initial=0))))]
    raw = np.array(logs)[counts] * inverse[buckets]
    kept = raw > 0
    sizes = np.bincount(row[kept], minlength=len(ends))
    for long in np.flatnonzero(sizes > max_words):
        (mine,) = np.nonzero(kept & (row == long))
        kept[mine[np.lexsort((buckets[mine], -raw[mine]))[max_words:]]] = False
        sizes[long] = max_words
    row, buckets, raw = row[kept], buckets[kept], raw[kept]
    squares, stops = (raw * raw).tolist(), np.cumsum(sizes)
    norms = [
        math.sqrt(math.fsum(squares[stop - size : stop]))
        for stop, size in zip(stops.tolist(), sizes.tolist(), strict=True)
    ]
    weights = np.rint(raw / np.array(norms)[row] * SCALE).astype(np.int64)
    heavy = weights != 0
    return row[heavy], buckets[heavy], weights[heavy]


def added_up(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Add up vectors, each given by its buckets and what it weighs there.

    Returns
    -------
    (numpy.ndarray of int, numpy.ndarray of int64)
        Each bucket once, ascending, and its sum.
    """
    buckets, place = np.unique(np.concatenate([b for b, _ in parts]), return_inverse=True)
    sums = np.zeros(len(buckets), dtype=np.int64)
    np.add.at(sums, place, np.concatenate([w for _, w in parts]))
    return buckets, sums


def squared_norm(weights: np.ndarray) -> int:
    """Return the sum of the squares of integers, also where it has more than 64 bits."""
    most = int(np.abs(weights).max(initial=0))
    small = most * most * len(weights) < 1 << 62
    return int(weights @ weights) if small else sum(w * w for w in weights.tolist())


def score(dot: int, squared_norm: int) -> int:
    """Return a cosine on the grid of :func:`nes_spark.audit.ranking.on_grid`.

    Parameters
    ----------
    dot : int
        Product of a target and a candidate.
    squared_norm : int
        Of the candidate; its cosines are zero when it has no words. The norm of the target is left
        out: it is the same for all candidates.
    """
    if squared_norm <= 0:
        return 0
    return int(on_grid(np.array(dot / math.sqrt(squared_norm) / SCALE)))


def true_scores(
    dot: int, squared_norm: int, own_dot: int, own_square: int, known_dot: int
) -> tuple[int, int]:
    """Return what the true candidate scores without the chunk in question, and with it.

    Parameters
    ----------
    dot, squared_norm : int
        Product of the target and the candidate, and the candidate's squared norm.
    own_dot, own_square, known_dot : int
        Of the chunk as it is known: its product with the target, its squared norm, and its product
        with the candidate. All zero when the candidate does not hold it.
    """
    # |c - x|^2 = |c|^2 - 2 c x + |x|^2
    rest = squared_norm + own_square - 2 * known_dot
    return score(dot - own_dot, rest), score(dot, squared_norm)


def vectors(buckets: Sequence[np.ndarray], weights: Sequence[np.ndarray]) -> sparse.csr_matrix:
    """Return one row for each pair of arrays.

    Parameters
    ----------
    buckets, weights : sequence of numpy.ndarray of int
        Where a row is not zero, and what it is there.

    Returns
    -------
    scipy.sparse.csr_matrix of int64, shape (len(buckets), BUCKETS)
    """
    starts = np.concatenate([[0], np.cumsum([len(row) for row in buckets], dtype=np.int64)])
    empty = [np.zeros(0, dtype=np.int64)]
    return sparse.csr_matrix(
        (
            np.concatenate([*empty, *weights]).astype(np.int64),
            np.concatenate([*empty, *buckets]).astype(np.int32),
            starts,
        ),
        shape=(len(buckets), BUCKETS),
    )


@dataclass(frozen=True)
class Nearest:
    """Of some candidates other than the true one, the first for each of `t` targets.

    Attributes
    ----------
    candidate : numpy.ndarray of int, shape (t,)
        Row of the candidate; -1 when there is none.
    score : numpy.ndarray of int64, shape (t,)
        Its score, as in :func:`score`.
    tie : numpy.ndarray of uint64, shape (t,)
        Its :func:`nes_spark.audit.ranking.tie_keys`.
    ahead : numpy.ndarray of int64, shape (t, v)
        Candidates that come before the true one, for each of `v` scores of it.
    """

    candidate: np.ndarray
    score: np.ndarray
    tie: np.ndarray
    ahead: np.ndarray


def nearest(
    targets: sparse.csr_matrix,
    target_hashes: np.ndarray,
    centroids: sparse.csr_matrix,
    norms: np.ndarray,
    label_hashes: np.ndarray,
    true_row: np.ndarray,
    true_hash: np.ndarray,
    true_scores: np.ndarray,
) -> Nearest:
    """Compare targets with candidates, by cosine, ties by lot.

    Parameters
    ----------
    targets : scipy.sparse.csr_matrix of int64, shape (t, BUCKETS)
    target_hashes : numpy.ndarray of uint64, shape (t,)
        :func:`nes_spark.audit.ranking.stable_hash` of what draws the lot.
    centroids : scipy.sparse.csr_matrix of int64, shape (m, BUCKETS)
        Sums of the vectors of each candidate.
    norms : numpy.ndarray of float64, shape (m,)
        Their norms; zero where a candidate has no words.
    label_hashes : numpy.ndarray of uint64, shape (m,)
        Of the candidates.
    true_row : numpy.ndarray of int, shape (t,)
        Row of the true candidate; -1 where it is not among these.
    true_hash : numpy.ndarray of uint64, shape (t,)
        Of the true candidate, be it among these or not.
    true_scores : numpy.ndarray of int64, shape (t, v)
        What the true candidate scores, in each of `v` variants.

    Returns
    -------
    Nearest
    """
    t, m = targets.shape[0], centroids.shape[0]
    none = np.iinfo(np.int64).min
    found = Nearest(
        np.full(t, -1),
        np.full(t, none),
        np.zeros(t, dtype=np.uint64),
        np.zeros(true_scores.shape, dtype=np.int64),
    )
    if not m:
        return found
    by_bucket = centroids.T.tocsr()
    divisors = np.where(norms > 0, norms, np.inf)
    true_keys = pair_keys(target_hashes, true_hash)
    for rows in _blocks(targets, by_bucket):
        # The words that weigh anything are few candidates' words: nearly all scores are zero.
        products = (targets[rows] @ by_bucket).tocsr()
        row = np.repeat(np.arange(len(rows)), np.diff(products.indptr))
        column = products.indices.astype(np.int64)
        scores = on_grid(products.data / divisors[column] / SCALE)
        others = (scores > 0) & (column != true_row[rows[row]])
        row, column, scores = row[others], column[others], scores[others]
        first = np.zeros(len(rows), dtype=np.int64)
        np.maximum.at(first, row, scores)
        (equal,) = np.nonzero(scores == first[row])
        keys = pair_keys(target_hashes[rows[row[equal]]], label_hashes[column[equal]])
        order = np.lexsort((column[equal], keys, row[equal]))
        _, at = np.unique(row[equal][order], return_index=True)
        best = order[at]
        found.candidate[rows[row[equal[best]]]] = column[equal[best]]
        found.tie[rows[row[equal[best]]]] = keys[best]
        found.score[rows[row[equal[best]]]] = scores[equal[best]]
        for variant, true_score in enumerate(true_scores[rows].T):
            ahead = np.bincount(row[scores > true_score[row]], minlength=len(rows))
            (equal,) = np.nonzero(scores == true_score[row])
            lots = pair_keys(target_hashes[rows[row[equal]]], label_hashes[column[equal]])
            before = row[equal][lots < true_keys[rows[row[equal]]]]
            found.ahead[rows, variant] = ahead + np.bincount(before, minlength=len(rows))
        _draw_among_zeros(
            rows, row, column, first, target_hashes, label_hashes, true_row, true_keys,
            true_scores, found,
        )  # fmt: skip
    return found


def _blocks(
    targets: sparse.csr_matrix, by_bucket: sparse.csr_matrix
) -> Iterator[NDArray[np.int64]]:
    """Yield the targets in runs whose products have no more than :data:`_CELLS` cells, or one."""
    users = np.diff(by_bucket.indptr)
    bounds = np.concatenate([[0], np.cumsum(users[targets.indices], dtype=np.int64)])
    cells = np.minimum(np.diff(bounds[targets.indptr]), by_bucket.shape[1])
    start = 0
    while start < len(cells):
        stop = start + max(1, int(np.searchsorted(np.cumsum(cells[start:]), _CELLS, "right")))
        yield np.arange(start, min(stop, len(cells)))
        start = stop


def _draw_among_zeros(
    rows: np.ndarray,
    row: np.ndarray,
    column: np.ndarray,
    first: np.ndarray,
    target_hashes: np.ndarray,
    label_hashes: np.ndarray,
    true_row: np.ndarray,
    true_keys: np.ndarray,
    true_scores: np.ndarray,
    found: Nearest,
) -> None:
    """Let the candidates that score nothing draw lots, for those targets where that decides.

    These are targets of which no candidate scores above zero, and those of which the true one does
    not. `row` and `column` tell which other candidates score above zero, `first` the best score.
    """
    m, truths = len(label_hashes), true_scores[rows]
    (asked,) = np.nonzero((first <= 0) | (truths <= 0).any(axis=1))
    step = max(1, _CELLS // m)
    for start in range(0, len(asked), step):
        some = asked[start : start + step]
        place = np.full(len(rows), -1)
        place[some] = np.arange(len(some))
        keys = pair_keys(target_hashes[rows[some]][:, None], label_hashes[None, :])
        zero = np.ones(keys.shape, dtype=bool)
        mine = place[row] >= 0
        zero[place[row[mine]], column[mine]] = False
        (own,) = np.nonzero(true_row[rows[some]] >= 0)
        zero[own, true_row[rows[some[own]]]] = False
        count = zero.sum(axis=1)
        before = ((keys < true_keys[rows[some]][:, None]) & zero).sum(axis=1)
        for variant in range(truths.shape[1]):
            truth = truths[some, variant]
            found.ahead[rows[some], variant] += np.where(
                truth == 0, before, np.where(truth < 0, count, 0)
            )
        none = (first[some] <= 0) & (count > 0)
        best = np.where(zero, keys, np.uint64(np.iinfo(np.uint64).max))[none].argmin(axis=1)
        winners = rows[some[none]]
        found.candidate[winners] = best
        found.tie[winners] = keys[none, best]
        found.score[winners] = 0
