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
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from nes_spark.audit.ranking import stable_hash

#: Weight one on the grid. Sums of 10,000 unit vectors still fit 64 bits when squared.
SCALE = 1 << 16

#: Words are hashed into so many buckets: what a driver must hold is bounded.
BUCKETS = 1 << 18

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
    return dict(Counter(word.casefold().replace("’", "'") for word in _WORD.findall(cleaned)))


@lru_cache(maxsize=200_000)
def bucket(word: str) -> int:
    """Return the bucket of a word (feature hashing, Weinberger et al. 2009)."""
    return stable_hash(word) % BUCKETS


def bucket_counts(counts: Mapping[str, int]) -> dict[int, int]:
    """Add up the counts of the words of each bucket."""
    found: dict[int, int] = {}
    for word, count in counts.items():
        found[bucket(word)] = found.get(bucket(word), 0) + count
    return found


def tfidf(
    counts: Mapping[int, int], frequency: np.ndarray, n: int, max_words: int = 256
) -> dict[int, int]:
    """Return the TF-IDF vector of a chunk, on the integer grid.

    Parameters
    ----------
    counts : mapping of int to int
        Words of the chunk by bucket.
    frequency : numpy.ndarray of int64, shape (BUCKETS,)
        Known chunks that hold each bucket; buckets that no known chunk holds are dropped.
    n : int
        Known chunks.
    max_words : int
        The heaviest buckets are kept, ties in their order.

    Returns
    -------
    dict of int to int
        Bucket to weight; the Euclidean norm is `SCALE` up to rounding. Words in every chunk weigh
        nothing and are left out.
    """
    raw = {
        b: (1 + math.log(count)) * math.log(n / int(frequency[b]))
        for b, count in counts.items()
        if frequency[b] > 0
    }
    heaviest = sorted((-value, b) for b, value in raw.items() if value > 0)[:max_words]
    norm = math.sqrt(math.fsum(value * value for value, _ in heaviest))
    vector = {b: round(-value / norm * SCALE) for value, b in heaviest}
    return {b: weight for b, weight in vector.items() if weight}


def cosines(dots: Sequence[int], squared_norms: Sequence[int]) -> np.ndarray:
    """Return dot products over norms; zero where a candidate has no words.

    The norm of the target is left out: it is the same for all candidates.
    """
    return np.array(
        [
            dot / math.sqrt(square) if square > 0 else 0.0
            for dot, square in zip(dots, squared_norms, strict=True)
        ]
    )
