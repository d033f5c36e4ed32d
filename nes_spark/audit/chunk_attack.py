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

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse

from nes_spark.audit import calibration, features
from nes_spark.audit.attackers import (
    EXPOSURES,
    SINGLE,
    Guesses,
    blocks,
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
    """One view of all chunks: the vectors of candidates, and what leaving a chunk out takes away.

    Attributes
    ----------
    importance : numpy.ndarray of float64, shape (terms,)
        Inverse document frequency over candidates.
    candidates : scipy.sparse.csr_matrix, shape (terms, m)
        Weighted, not normalised.
    squares : numpy.ndarray of float64, shape (m,)
        Squared norms.
    owner : numpy.ndarray of int, shape (n,)
        True candidate of each chunk.
    taken : scipy.sparse.csr_matrix, shape (n, terms)
        ``V - V'`` of the true candidate, for each chunk.
    taken_squares : numpy.ndarray of float64, shape (n,)
        ``|V|^2 - |V'|^2``.
    """

    importance: np.ndarray
    candidates: sparse.csr_matrix
    squares: np.ndarray
    owner: np.ndarray
    taken: sparse.csr_matrix
    taken_squares: np.ndarray

    @classmethod
    def of(cls, counts: sparse.csr_matrix, owner: np.ndarray, m: int) -> _View:
        """Sum up the original chunks of each candidate."""
        n = counts.shape[0]
        member = sparse.csr_matrix((np.ones(n), (owner, np.arange(n))), shape=(m, n))
        sums = (member @ counts).tocsr()
        sums.sort_indices()
        importance = features.idf(features.holders(sums), m)
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
            vectors.T.tocsr(),
            np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel(),
            owner,
            taken,
            _row_sums(counts, whole**2 - without**2),
        )

    def layer(self, counts: sparse.csr_matrix, rows: np.ndarray, left_out: bool) -> np.ndarray:
        """Return standardised cosines of some chunks, shape (rows, m), from counts of all."""
        asked = features.normalised(features.weighted(counts[rows], self.importance))
        dots = (asked @ self.candidates).toarray()
        squares = np.tile(self.squares, (len(rows), 1))
        if left_out:
            place, own = np.arange(len(rows)), self.owner[rows]
            dots[place, own] -= np.asarray(asked.multiply(self.taken[rows]).sum(axis=1)).ravel()
            squares[place, own] -= self.taken_squares[rows]
        # What is left of a candidate that the chunk was all of is rounding.
        held = squares > 1e-9 * np.maximum(self.squares, 1.0)
        cosines = np.where(held, dots / np.sqrt(np.where(held, squares, 1.0)), 0.0)
        return calibration.standardised(cosines)


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
    chosen = chosen_attackers(owner, attackers, names, CHUNK_ATTACKERS)
    checked_level(owner, confidence)
    if exposure not in EXPOSURES:
        raise parameter_error(owner, "exposure", f"one of {', '.join(EXPOSURES)}", exposure)
    ids = table["chunk_id"].tolist()
    if asked is not None and (not asked or set(asked) - set(ids)):
        strangers = len(set(asked) - set(ids))
        raise parameter_error(
            owner, "asked", "some chunk_ids of the table", f"{strangers} others of {len(asked)}"
        )
    candidates = sorted(table["metadata"].unique())
    number = {name: i for i, name in enumerate(candidates)}
    true = table["metadata"].map(number).to_numpy(dtype=np.int64)
    before = features.Tokens.of(table["text_before"].tolist())
    if not before.forms:
        raise parameter_error(owner, "chunks", "texts with at least one word", "no word")
    after = (
        before
        if table["text_after"].equals(table["text_before"])
        else features.Tokens.of(table["text_after"].tolist())
    )
    reader = features.Reader(before)
    views = list(dict.fromkeys(view for attacker in chosen for view in attacker.views))
    known = {view: reader.counts(before, *view) for view in views}
    shown = known if after is before else {view: reader.counts(after, *view) for view in views}
    ready = {view: _View.of(known[view], true, len(candidates)) for view in views}

    # Two parts: what is fitted to one is used on the other, and on both where one is empty.
    part = np.array([stable_hash(chunk) % 2 for chunk in ids])
    samples = []
    for other in (1, 0):
        rows = np.flatnonzero(part == other)
        rows = rows if len(rows) else np.arange(len(ids))
        rows = rows[smallest_hashes([ids[r] for r in rows], _CALIBRATED)]
        layers = {view: ready[view].layer(known[view], rows, left_out=True) for view in views}
        samples.append((layers, true[rows]))

    wanted = set(ids if asked is None else asked)
    targets = np.array([i for i, chunk in enumerate(ids) if chunk in wanted], dtype=np.int64)
    found = {}
    for attacker in chosen:
        weights, thresholds = [], []
        for layers, labels in samples:
            labelled = [(np.stack([layers[view] for view in attacker.views]), labels)]
            weights.append(calibration.fit_weights([(*labelled[0], 1.0)]))
            thresholds.append(threshold_of(labelled, weights[-1], False, confidence))
        guesses = []
        for rows in blocks(targets, len(candidates)):
            utility = np.zeros((len(rows), len(candidates)))
            for place, view in enumerate(attacker.views):
                factor = np.array([w[place] for w in weights])[part[rows]]
                layer = ready[view].layer(shown[view], rows, exposure == "left out")
                utility += factor[:, None] * layer
            guesses.append(Guesses.of(utility, true[rows]))
        found[attacker.name] = (Guesses.joined(guesses), np.array(thresholds)[part[targets]])
    return results([ids[t] for t in targets], candidates, found)
