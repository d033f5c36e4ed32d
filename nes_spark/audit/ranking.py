"""Ranking candidates by score, the same way wherever and in whatever order they were scored."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

#: Scores are compared on this grid, so that the last bits of a sum cannot decide a rank.
GRID = 2.0**-30


def stable_hash(text: str) -> int:
    """Return 64 bits of BLAKE2b of a string; the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def tie_keys(target: str, label_hashes: np.ndarray) -> np.ndarray:
    """Return the keys that order candidates of equal score for one target.

    Ties are broken as if by lot, but by the same lot each time: SplitMix64 (Steele, Lea & Flood
    2014) of the hashes of target and label. So an adversary without evidence is right at the rate
    of chance, whereas alphabetical order would favour the same documents in every chunk. Before
    and after swapping a chunk draws the same lot.

    Parameters
    ----------
    target : str
        Identifier of what is guessed about, a chunk_id.
    label_hashes : numpy.ndarray of uint64, shape (m,)
        :func:`stable_hash` of each candidate.
    """
    return pair_keys(np.uint64(stable_hash(target)), label_hashes)


def pair_keys(target_hashes: np.ndarray | np.uint64, label_hashes: np.ndarray) -> np.ndarray:
    """Return :func:`tie_keys` by the :func:`stable_hash` of the targets, which are broadcast.

    Parameters
    ----------
    target_hashes, label_hashes : numpy.ndarray of uint64
        Of shapes that go together.
    """
    with np.errstate(over="ignore"):
        z = label_hashes ^ target_hashes
        z = z + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def on_grid(scores: np.ndarray) -> np.ndarray:
    """Round scores to multiples of 2^-30, as integers."""
    return np.rint(np.asarray(scores, dtype=np.float64) / GRID).astype(np.int64)


def best_and_rank(
    scores: np.ndarray, ties: np.ndarray, truth: int | None
) -> tuple[int | None, int | None]:
    """Return the candidate of the highest score and the place of the truth.

    Parameters
    ----------
    scores : numpy.ndarray of float, shape (m,)
        Score of each candidate, the higher the likelier.
    ties : numpy.ndarray of uint64, shape (m,)
        :func:`tie_keys`; of equal scores the smaller key comes first.
    truth : int or None
        Index of the true candidate, None when it is not among them.

    Returns
    -------
    best : int or None
        Index of the first candidate; None when there is no candidate.
    rank : int or None
        Place of the truth from 1; None without a truth.
    """
    if not len(scores):
        return None, None
    values = on_grid(scores)
    top = np.flatnonzero(values == values.max())
    best = int(top[np.argmin(ties[top])])
    if truth is None:
        return best, None
    ahead = (values > values[truth]) | ((values == values[truth]) & (ties < ties[truth]))
    return best, int(np.count_nonzero(ahead)) + 1


def hashes_of(labels: Sequence[str]) -> np.ndarray:
    """Return :func:`stable_hash` of each label as an array of uint64."""
    return np.array([stable_hash(label) for label in labels], dtype=np.uint64)


def lot(key: bytes, value: str) -> bytes:
    """Return the keyed hash that a sample is drawn by."""
    return hashlib.blake2b(value.encode(), digest_size=16, key=key).digest()
