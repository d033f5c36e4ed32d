"""The linkage adversary for many texts at once: :mod:`nes_spark.audit.linkage` as a sparse matrix.

It asks about any set of texts, each a set of features, and gives the ranks that
:func:`nes_spark.audit.linkage.guess` gives, text by text.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from nes_spark.audit import calibration
from nes_spark.audit.attackers import Guesses
from nes_spark.audit.linkage import Evidence, Known, evidence_for, is_pair
from nes_spark.audit.ranking import hashes_of, on_grid, pair_keys

#: Scores, and terms of scores, computed at a time.
_CELLS = 4_000_000

_NONE = -1


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
        self._by_candidate: sparse.csr_matrix | None = None
        self._used_by: dict[int, dict[int, int]] = {}
        self._n = n
        self._hashes = hashes_of(self.candidates)

    def _matrix(self, features: Sequence[Sequence[str]]) -> sparse.csr_matrix:
        found = [sorted({self._columns[f] for f in row if f in self._columns}) for row in features]
        ends = np.cumsum([0, *map(len, found)])
        columns = np.array([c for row in found for c in row], dtype=np.int64)
        return sparse.csr_matrix(
            (np.ones(len(columns)), columns, ends), shape=(len(found), len(self._columns))
        )

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
        self, features: Sequence[str], candidate: int, known_as: int, left_out: bool, truth: int
    ) -> list[str]:
        """Return what spoke most for a candidate, as :func:`nes_spark.audit.linkage.evidence_for`.

        Parameters
        ----------
        features : sequence of str
            Of the text.
        candidate : int
            Number of the candidate.
        known_as : int
            Known chunk that the text is, -1 for none.
        left_out : bool
            Whether it is left out of what is known.
        truth : int
            Its candidate.
        """
        own = set(self._held[known_as].indices.tolist()) if known_as >= 0 else set()
        # What the candidate has not used speaks for others only.
        counts = self._counts_of(candidate)
        label, found = np.array([candidate]), []
        for name in features:
            column = self._columns.get(name)
            if column is None or column not in counts or not self._used[column]:
                continue
            count = np.array([counts[column]])
            found.append(Known(name, int(self._total[column]), column in own, label, count))
        return evidence_for(
            Evidence.of(found),
            candidate,
            self._sizes.astype(np.int64),
            (truth,) if known_as >= 0 else (),
            left_out,
            self._smoothing,
            self._pair_weight,
            self._n,
        )

    def _counts_of(self, candidate: int) -> dict[int, int]:
        """Column -> chunks of a candidate that hold the feature."""
        if candidate not in self._used_by:
            if self._by_candidate is None:
                self._by_candidate = self._counts.T.tocsr()
            row = self._by_candidate[candidate]
            counts = row.data.astype(np.int64).tolist()
            self._used_by[candidate] = dict(zip(row.indices.tolist(), counts, strict=True))
        return self._used_by[candidate]

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
        n, m, width = asked.shape[0], len(self.candidates), len(self._columns)
        row, column = np.repeat(np.arange(n), np.diff(asked.indptr)), asked.indices
        used = self._used[column]
        row, column = row[used], column[used].astype(np.int64)
        left_out = own >= 0
        # Whether the text, as it is known, holds the feature too.
        held = self._held[own[left_out]]
        places = np.flatnonzero(left_out)
        keys = np.repeat(places, np.diff(held.indptr)) * width + held.indices
        mine = np.isin(row * width + column, keys)
        total = self._total[column] - mine
        starts = self._counts.indptr
        lengths = starts[column + 1] - starts[column]
        entry = np.repeat(np.arange(len(column)), lengths)
        before = np.cumsum(lengths) - lengths
        place = starts[column][entry] + np.arange(len(entry)) - before[entry]
        label = self._counts.indices[place]
        of_truth = left_out[row[entry]] & (label == truth[row[entry]])
        counts = self._counts.data[place] - (of_truth & mine[entry])
        chunks = self._sizes[label] - of_truth
        everything = self._n - left_out[row[entry]].astype(np.float64)
        rest = total[entry].astype(np.float64)
        # Nothing is said where nothing else holds the feature, or the candidate has no other chunk.
        said = (rest > 0) & (everything > 0) & (chunks > 0)
        shares = np.divide(counts, chunks, out=np.zeros_like(counts), where=said)
        common = np.divide(rest, everything, out=np.ones_like(rest), where=said)
        terms = self._factors[column][entry] * np.log1p(self._odds * shares / common)
        return np.bincount(row[entry] * m + label, weights=terms, minlength=n * m).reshape(n, m)
