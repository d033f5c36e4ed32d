"""The linkage adversary for many texts at once: :mod:`nes_spark.audit.linkage` as a sparse matrix.

It asks about any set of texts, each a set of features, and gives the ranks that
:func:`nes_spark.audit.linkage.guess` gives, text by text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np
from scipy import sparse

from nes_spark.audit import calibration
from nes_spark.audit.attackers import Guesses
from nes_spark.audit.linkage import STRONGEST, describe, is_pair
from nes_spark.audit.ranking import hashes_of, on_grid, pair_keys

#: Scores, and terms of scores, computed at a time.
_CELLS = 4_000_000

_NONE = -1


@dataclass(frozen=True)
class _Asked:
    """Features of texts that are evidence, one entry a text and feature, texts in their order.

    Attributes
    ----------
    row, column : numpy.ndarray of int, shape (e,)
        Text and feature.
    own : numpy.ndarray of bool, shape (e,)
        Whether the text is left out of what is known and, as it is known, holds the feature too.
    left_out : numpy.ndarray of bool, shape (n,)
        Which texts are left out of what is known.
    """

    row: np.ndarray
    column: np.ndarray
    own: np.ndarray
    left_out: np.ndarray


class KnownNames:
    """What the adversary knows: the features of chunks, and whose they are.

    Parameters
    ----------
    owners : sequence of str
        Candidate of each known chunk.
    features : sequence of sequence of str
        Features of each known chunk, as :func:`nes_spark.audit.linkage.features_of` returns them.
    smoothing, pair_weight : float
        See :mod:`nes_spark.audit.linkage`.
    most : int
        A feature known under more candidates than this is no evidence.

    Attributes
    ----------
    candidates : list of str
        Sorted.
    """

    def __init__(
        self,
        owners: Sequence[str],
        features: Sequence[Sequence[str]],
        smoothing: float = 0.2,
        pair_weight: float = 0.5,
        most: int = 1000,
    ) -> None:
        self.candidates = sorted(set(owners))
        self.number = {name: i for i, name in enumerate(self.candidates)}
        self._smoothing, self._pair_weight = smoothing, pair_weight
        self._odds = (1 - smoothing) / smoothing
        # In order of name: terms are added up in the order in which the kernel adds them.
        self._columns = {f: i for i, f in enumerate(sorted({f for row in features for f in row}))}
        self._factors = np.array([pair_weight if is_pair(f) else 1.0 for f in self._columns])
        self._held = self._matrix(features)
        n, m = len(owners), len(self.candidates)
        owner = np.array([self.number[name] for name in owners], dtype=np.int64)
        self._sizes = np.bincount(owner, minlength=m).astype(np.float64)
        member = sparse.csr_matrix((np.ones(n), (owner, np.arange(n))), shape=(m, n))
        counts = (member @ self._held).T.tocsr()
        counts.sort_indices()
        self._total = np.bincount(self._held.indices, minlength=len(self._columns))
        self._used = (np.diff(counts.indptr) <= most) & (self._factors > 0)
        self._counts = counts
        self._n = n
        self._hashes = hashes_of(self.candidates)

    def _matrix(self, features: Sequence[Sequence[str]]) -> sparse.csr_matrix:
        """Return which of the known features each text has, as ones."""
        n, width = len(features), len(self._columns)
        lengths = np.fromiter(map(len, features), dtype=np.int64, count=n)
        names = chain.from_iterable(features)
        columns = np.fromiter(
            map(self._columns.get, names, repeat(_NONE)), dtype=np.int64, count=int(lengths.sum())
        )
        keys = np.repeat(np.arange(n) * width, lengths) + columns
        keys = np.unique(keys[columns >= 0])
        row, column = np.divmod(keys, width) if width else (keys, keys)
        ends = np.searchsorted(row, np.arange(n + 1))
        return sparse.csr_matrix((np.ones(len(column)), column, ends), shape=(n, width))

    def guess(
        self,
        ids: Sequence[str],
        features: Sequence[Sequence[str]],
        truth: np.ndarray,
        known_as: np.ndarray | None = None,
    ) -> Guesses:
        """Guess whose texts these are.

        Parameters
        ----------
        ids : sequence of str
            Of the texts; break ties by lot, see :func:`nes_spark.audit.ranking.tie_keys`.
        features : sequence of sequence of str
            Features of each text.
        truth : numpy.ndarray of int, shape (n,)
            Candidate of each text, -1 where it is none.
        known_as : numpy.ndarray of int, shape (n,), optional
            Known chunk that each text is, -1 for none: it is left out of what is known. Without it
            nothing is left out.

        Returns
        -------
        Guesses
            Scores are probabilities with all candidates equally likely beforehand.
        """
        asked = self._matrix(features)
        own = np.full(len(ids), _NONE) if known_as is None else np.asarray(known_as)
        hashes = hashes_of(ids)
        m = len(self.candidates)
        per_text = np.bincount(
            np.repeat(np.arange(len(ids)), np.diff(asked.indptr)),
            weights=np.diff(self._counts.indptr)[asked.indices],
            minlength=len(ids),
        )
        parts, start = [], 0
        while start < len(ids):
            cost = np.cumsum(per_text[start:] + m)
            stop = start + max(1, int(np.searchsorted(cost, _CELLS, side="right")))
            rows = slice(start, stop)
            parts.append(self._guess(asked[rows], hashes[rows], truth[rows], own[rows]))
            start = stop
        return Guesses.joined(parts)

    def scores(self, features: Sequence[Sequence[str]]) -> np.ndarray:
        """Return the score of every candidate for each text, shape (texts, candidates).

        Parameters
        ----------
        features : sequence of sequence of str
            Features of each text; nothing is left out of what is known.
        """
        none = np.full(len(features), _NONE)
        return self._scores(self._matrix(features), none, none)

    def evidence(
        self,
        features: Sequence[Sequence[str]],
        candidates: np.ndarray,
        truth: np.ndarray,
        known_as: np.ndarray | None = None,
    ) -> list[list[str]]:
        """Return what spoke most for one candidate of each text.

        As :func:`nes_spark.audit.linkage.guess` does for the answer, text by text.

        Parameters
        ----------
        features, truth, known_as
            As for :meth:`guess`.
        candidates : numpy.ndarray of int, shape (n,)
            Numbers of the candidates.

        Returns
        -------
        list of list of str
            At most :data:`~nes_spark.audit.linkage.STRONGEST` a text, strongest first.
        """
        n, m = len(features), len(self.candidates)
        own = np.full(n, _NONE) if known_as is None else np.asarray(known_as)
        asked = self._entries(self._matrix(features), own)
        # What the candidate has not used speaks for others only.
        label = np.asarray(candidates, dtype=np.int64)[asked.row]
        held = np.repeat(np.arange(len(self._columns)), np.diff(self._counts.indptr)) * m
        held += self._counts.indices
        wanted = asked.column * m + label
        place = np.minimum(np.searchsorted(held, wanted), max(0, len(held) - 1))
        used = np.flatnonzero(held[place] == wanted) if len(held) else np.zeros(0, dtype=np.int64)
        terms = self._terms(asked, used, label[used], self._counts.data[place[used]], truth)
        terms = terms.round(9)
        # strongest first, ties in order of name, which is that of the columns
        order = np.lexsort((asked.column[used], -terms, asked.row[used]))
        order = order[terms[order] > 0]
        names, found = [*self._columns], list[list[str]]([] for _ in range(n))
        for row, column in zip(
            asked.row[used][order].tolist(), asked.column[used][order].tolist(), strict=True
        ):
            if len(found[row]) < STRONGEST:
                found[row].append(describe(names[column]))
        return found

    def _guess(
        self, asked: sparse.csr_matrix, hashes: np.ndarray, truth: np.ndarray, own: np.ndarray
    ) -> Guesses:
        scores = self._scores(asked, truth, own)
        values, rows = on_grid(scores), np.arange(len(truth))
        ties = pair_keys(hashes[:, None], self._hashes[None, :])
        first = values == values.max(axis=1, keepdims=True)
        best = np.where(first, ties, np.uint64(np.iinfo(np.uint64).max)).argmin(axis=1)
        mine, my_tie = values[rows, truth][:, None], ties[rows, truth][:, None]
        ahead = ((values > mine) | ((values == mine) & (ties < my_tie))).sum(axis=1)
        chances = calibration.probabilities(scores)[rows, best].round(9)
        return Guesses(best, np.where(truth >= 0, ahead + 1, 0), chances)

    def _scores(self, asked: sparse.csr_matrix, truth: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Return the score of every candidate, shape (n, m)."""
        n, m = asked.shape[0], len(self.candidates)
        found = self._entries(asked, own)
        starts = self._counts.indptr
        lengths = starts[found.column + 1] - starts[found.column]
        entry = np.repeat(np.arange(len(found.column)), lengths)
        before = np.cumsum(lengths) - lengths
        place = starts[found.column][entry] + np.arange(len(entry)) - before[entry]
        label = self._counts.indices[place]
        terms = self._terms(found, entry, label, self._counts.data[place], truth)
        return np.bincount(found.row[entry] * m + label, weights=terms, minlength=n * m).reshape(
            n, m
        )

    def _entries(self, asked: sparse.csr_matrix, own: np.ndarray) -> _Asked:
        """Return the features of texts that are evidence; `own` as for :meth:`guess`."""
        width = len(self._columns)
        row, column = np.repeat(np.arange(asked.shape[0]), np.diff(asked.indptr)), asked.indices
        used = self._used[column]
        row, column = row[used], column[used].astype(np.int64)
        left_out = own >= 0
        held = self._held[own[left_out]]
        places = np.flatnonzero(left_out)
        keys = np.repeat(places, np.diff(held.indptr)) * width + held.indices
        return _Asked(row, column, np.isin(row * width + column, keys), left_out)

    def _terms(
        self,
        asked: _Asked,
        entry: np.ndarray,
        label: np.ndarray,
        counts: np.ndarray,
        truth: np.ndarray,
    ) -> np.ndarray:
        """Return what entries of :class:`_Asked` add to the scores of one candidate each.

        Parameters
        ----------
        asked : _Asked
        entry, label, counts : numpy.ndarray, shape (t,)
            Entry, candidate, and how many known chunks of the candidate hold its feature.
        truth : numpy.ndarray of int, shape (n,)
            Candidate of each text, -1 where it is none.
        """
        row, column, mine = asked.row[entry], asked.column[entry], asked.own[entry]
        left_out = asked.left_out[row]
        of_truth = left_out & (label == truth[row])
        counts = counts - (of_truth & mine)
        chunks = self._sizes[label] - of_truth
        everything = self._n - left_out.astype(np.float64)
        rest = (self._total[column] - mine).astype(np.float64)
        # Nothing is said where nothing else holds the feature, or the candidate has no other chunk.
        said = (rest > 0) & (everything > 0) & (chunks > 0)
        shares = np.divide(counts, chunks, out=np.zeros_like(counts), where=said)
        common = np.divide(rest, everything, out=np.ones_like(rest), where=said)
        return self._factors[column] * np.log1p(self._odds * shares / common)
