r"""Whose chunk is this? The attackers of :mod:`nes_spark.audit.documents`, chunk by chunk.

The attacker holds every original chunk with its candidate. Asked about a chunk, it either does not
hold that chunk itself (``left out``: a new chunk of somebody it knows) or does (``known``). A
candidate is the sum of the counts of its chunks, so leaving one out changes only the terms that the
chunk holds: with `V` the weighted vector of the true candidate, `V'` the one without the chunk and
`q` the chunk's,

.. math:: \cos = \frac{q \cdot V - \sum_j q_j (V_j - V'_j)}
          {\sqrt{\lVert V \rVert^2 - \sum_j (V_j^2 - V_j'^2)}}

with `j` over the terms of the original chunk, exactly. Document frequencies stay those of all
chunks. Only the true candidate lacks a chunk then, so its vector is a little shorter than the
others' and its cosine a little larger: where nothing else tells candidates apart, that does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from nes_spark.audit import calibration, features
from nes_spark.audit.attackers import (
    EXPOSURES,
    LEFT_OUT,
    SINGLE,
    Guesses,
    blocks,
    calibration_size,
    checked_level,
    chosen_attackers,
    chunk_table,
    results,
    smallest_hashes,
    threshold_of,
)
from nes_spark.audit.ranking import stable_hash
from nes_spark.errors import parameter_error

#: Chunks have no matching: every candidate wrote many.
CHUNK_ATTACKERS = (*SINGLE, "combined")

#: Weights are fitted to at most so many original chunks in each of two parts.
_CALIBRATED = 1000


def _rows_of(counts: sparse.csr_matrix) -> np.ndarray:
    return np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))


def _row_sums(counts: sparse.csr_matrix, values: np.ndarray) -> np.ndarray:
    return np.bincount(_rows_of(counts), weights=values, minlength=counts.shape[0])


@dataclass(frozen=True)
class _View:
    """One view: the vectors of candidates, and what leaving a chunk out takes away.

    Attributes
    ----------
    importance : numpy.ndarray of float64, shape (terms,)
        Inverse document frequency over candidates.
    candidates : features.Products
        Of the candidates' weighted vectors, not normalised, shape (terms, m).
    squares : numpy.ndarray of float64, shape (m,)
        Squared norms.
    counts : scipy.sparse.csr_matrix, shape (k, terms)
        Of the original chunks that are asked about or labelled.
    owner : numpy.ndarray of int, shape (k,)
        True candidate of each of them.
    taken : scipy.sparse.csr_matrix, shape (k, terms)
        ``V - V'`` of the true candidate, for each of them.
    taken_squares : numpy.ndarray of float64, shape (k,)
        ``|V|^2 - |V'|^2``.
    """

    importance: np.ndarray
    candidates: features.Products
    squares: np.ndarray
    counts: sparse.csr_matrix
    owner: np.ndarray
    taken: sparse.csr_matrix
    taken_squares: np.ndarray

    @classmethod
    def of(cls, sums: sparse.csr_matrix, counts: sparse.csr_matrix, owner: np.ndarray) -> _View:
        """Weigh the terms of the candidates, given those of all and of some chunks."""
        importance = features.idf(features.holders(sums), sums.shape[0])
        vectors = features.weighted(sums, importance)
        # Every term of a chunk is one of its candidate: find its place among the sums.
        wide = np.int64(counts.shape[1])
        held = _rows_of(sums) * wide + sums.indices
        total = sums.data[np.searchsorted(held, owner[_rows_of(counts)] * wide + counts.indices)]
        rest = total - counts.data
        weight = importance[counts.indices]
        whole = (1 + np.log(total)) * weight
        without = np.where(rest > 0, (1 + np.log(np.maximum(rest, 1))) * weight, 0.0)
        taken = sparse.csr_matrix((whole - without, counts.indices, counts.indptr), counts.shape)
        return cls(
            importance,
            features.Products(vectors.T.tocsr()),
            np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel(),
            counts,
            owner,
            taken,
            _row_sums(counts, whole**2 - without**2),
        )

    def layers(
        self, shown: sparse.csr_matrix, rows: np.ndarray, exposures: Iterable[str]
    ) -> dict[str, np.ndarray]:
        """Return standardised cosines by exposure, each of shape (rows, m).

        `shown` counts the terms of what is asked about, `rows` are the chunks that it is.
        """
        asked = features.normalised(features.weighted(shown, self.importance))
        dots = self.candidates.of(asked)
        place, own = np.arange(len(rows)), self.owner[rows]
        found = {}
        for exposure in exposures:
            mine, squares = dots, np.tile(self.squares, (len(rows), 1))
            if exposure == LEFT_OUT:
                mine = dots.copy()
                mine[place, own] -= np.asarray(asked.multiply(self.taken[rows]).sum(axis=1)).ravel()
                squares[place, own] -= self.taken_squares[rows]
            # What is left of a candidate that the chunk was all of is rounding.
            held = squares > 1e-9 * np.maximum(self.squares, 1.0)
            cosines = np.where(held, mine / np.sqrt(np.where(held, squares, 1.0)), 0.0)
            found[exposure] = calibration.standardised(cosines)
        return found


class ChunkAttack:
    """The attackers of :func:`attack_chunks`, ready for several releases of the same chunks.

    Parameters
    ----------
    chunks : pandas.DataFrame
        ``chunk_id``, ``metadata``, ``text_before``: all original chunks.
    asked : collection of str, optional
        chunk_ids that can be asked about; by default all.
    attackers, names, confidence
        As in :func:`attack_chunks`.

    Raises
    ------
    ValueError
        As in :func:`attack_chunks`.
    """

    def __init__(
        self,
        chunks: pd.DataFrame,
        *,
        asked: Collection[str] | None = None,
        attackers: Sequence[str] = CHUNK_ATTACKERS,
        names: str = "both",
        confidence: float = 0.9,
    ) -> None:
        owner = "attack_chunks"
        table = chunk_table(owner, chunks, ("chunk_id", "metadata", "text_before"))
        self._attackers = chosen_attackers(owner, attackers, names, CHUNK_ATTACKERS)
        checked_level(owner, confidence)
        ids = table["chunk_id"].tolist()
        if asked is not None and (not asked or set(asked) - set(ids)):
            strangers = len(set(asked) - set(ids))
            raise parameter_error(
                owner, "asked", "some chunk_ids of the table", f"{strangers} others of {len(asked)}"
            )
        self.candidates = sorted(table["metadata"].unique())
        number = {name: i for i, name in enumerate(self.candidates)}
        true = table["metadata"].map(number).to_numpy(dtype=np.int64)
        wanted = set(ids if asked is None else asked)
        targets = np.array([i for i, chunk in enumerate(ids) if chunk in wanted], dtype=np.int64)
        self.asked = [ids[t] for t in targets]

        # Two parts: what is fitted to one is used on the other, and on both where one is empty.
        part = np.array([stable_hash(chunk) % 2 for chunk in ids])
        labelled = []
        for other in (1, 0):
            rows = np.flatnonzero(part == other)
            rows = rows if len(rows) else np.arange(len(ids))
            most = calibration_size(_CALIBRATED, len(self.candidates))
            labelled.append(rows[smallest_hashes([ids[r] for r in rows], most)])
        # Terms are counted for these chunks alone, and for each candidate as a whole.
        looked_at = np.unique(np.concatenate([targets, *labelled]))
        texts = features.Tokens.of(table["text_before"].tolist())
        if not texts.forms:
            raise parameter_error(owner, "chunks", "texts with at least one word", "no word")
        self._reader = features.Reader(texts)
        some, whole = texts.of_rows(looked_at), texts.joined(true, len(self.candidates))
        views = list(dict.fromkeys(view for a in self._attackers for view in a.views))
        self._views = {
            view: _View.of(
                self._reader.counts(whole, *view), self._reader.counts(some, *view), true[looked_at]
            )
            for view in views
        }
        self._rows: np.ndarray = np.searchsorted(looked_at, targets)
        self._true = true[targets]
        self._part = part[targets]
        self._fit([np.searchsorted(looked_at, rows) for rows in labelled], confidence)

    def _fit(self, labelled: Sequence[np.ndarray], confidence: float) -> None:
        """Fit weights, and what counts as confident, to original chunks left out."""
        self._weights: dict[str, np.ndarray] = {}
        self._thresholds: dict[str, np.ndarray] = {}
        samples = []
        for rows in labelled:
            layers = {
                name: view.layers(view.counts[rows], rows, (LEFT_OUT,))[LEFT_OUT]
                for name, view in self._views.items()
            }
            samples.append((layers, next(iter(self._views.values())).owner[rows]))
        for attacker in self._attackers:
            weights, thresholds = [], []
            for layers, labels in samples:
                mine = [(np.stack([layers[view] for view in attacker.views]), labels)]
                weights.append(calibration.fit_weights([(*mine[0], 1.0)]))
                thresholds.append(threshold_of(mine, weights[-1], False, confidence))
            self._weights[attacker.name] = np.array(weights)
            self._thresholds[attacker.name] = np.array(thresholds)

    def attack(
        self,
        after: Mapping[str, str] | None = None,
        exposures: Sequence[str] = (LEFT_OUT,),
        asked: Collection[str] | None = None,
    ) -> dict[str, pd.DataFrame]:
        """Attack a release.

        Parameters
        ----------
        after : mapping of str to str, optional
            chunk_id to the text that is asked about; without it the chunks as they were.
        exposures : sequence of str
            Some of ``"left out"`` and ``"known"``.
        asked : collection of str, optional
            Only these of those that can be asked about.

        Returns
        -------
        dict of str to pandas.DataFrame
            Exposure to what :func:`attack_chunks` returns.
        """
        wanted = None if asked is None else set(asked)
        chosen = np.array(
            [i for i, c in enumerate(self.asked) if wanted is None or c in wanted], dtype=np.int64
        )
        ids = [self.asked[i] for i in chosen]
        texts = None
        if after is not None:
            texts = features.Tokens.of([after[c] for c in ids])
        parts: dict[tuple[str, str], list[Guesses]] = {}
        # Every view of some chunks at a time, as several attackers read it.
        for block in blocks(np.arange(len(ids)), len(self.candidates) * len(self._views)):
            rows = self._rows[chosen[block]]
            mine = None if texts is None else texts.of_rows(block)
            layers = {
                name: view.layers(
                    view.counts[rows] if mine is None else self._reader.counts(mine, *name),
                    rows,
                    exposures,
                )
                for name, view in self._views.items()
            }
            true, part = self._true[chosen[block]], self._part[chosen[block]]
            for attacker in self._attackers:
                weights = self._weights[attacker.name][part]
                for exposure in exposures:
                    utility = np.zeros((len(rows), len(self.candidates)))
                    for place, view in enumerate(attacker.views):
                        utility += weights[:, place, None] * layers[view][exposure]
                    guesses = Guesses.of(utility, true)
                    parts.setdefault((attacker.name, exposure), []).append(guesses)
        return {
            exposure: results(
                ids,
                self.candidates,
                {
                    a.name: (
                        Guesses.joined(parts[a.name, exposure]),
                        self._thresholds[a.name][self._part[chosen]],
                    )
                    for a in self._attackers
                },
            )
            for exposure in exposures
        }


def attack_chunks(
    chunks: pd.DataFrame,
    *,
    exposure: str = "left out",
    asked: Collection[str] | None = None,
    attackers: Sequence[str] = CHUNK_ATTACKERS,
    names: str = "both",
    confidence: float = 0.9,
) -> pd.DataFrame:
    """Name the candidate of each released chunk.

    Parameters
    ----------
    chunks : pandas.DataFrame
        ``chunk_id``, ``metadata``, ``text_before`` (the original: what the attacker holds) and
        ``text_after`` (what it is asked about). For the attack before swapping, the same twice.
    exposure : str
        ``"left out"`` or ``"known"``: whether the attacker holds the chunk in question itself.
    asked : collection of str, optional
        chunk_ids to ask about, for example those with names; by default all.
    attackers, names, confidence
        As in :func:`nes_spark.audit.documents.attack_documents`; there is no ``matched``. Weights
        and what counts as confident come from original chunks left out, in two parts by hash of the
        chunk_id: a chunk is attacked with what the other part gave.

    Returns
    -------
    pandas.DataFrame
        As :func:`nes_spark.audit.documents.attack_documents` returns it; ``id`` is the chunk_id.

    Raises
    ------
    ValueError
        When columns are missing, the table is empty, a chunk_id repeats, a value is no str, no text
        holds a word, `asked` names no chunk or one that is not there, or on an unknown attacker,
        form of names or exposure.
    """
    owner = "attack_chunks"
    table = chunk_table(owner, chunks, ("chunk_id", "metadata", "text_before", "text_after"))
    if exposure not in EXPOSURES:
        raise parameter_error(owner, "exposure", f"one of {', '.join(EXPOSURES)}", exposure)
    attack = ChunkAttack(
        table, asked=asked, attackers=attackers, names=names, confidence=confidence
    )
    same = table["text_after"].equals(table["text_before"])
    after = None if same else dict(zip(table["chunk_id"], table["text_after"], strict=True))
    return attack.attack(after, (exposure,))[exposure]
