"""Whose texts are these? The strongest attackers that need no network, on plain tables.

An attacker holds texts of every candidate, the background, and names the candidate of each text it
is asked about. The attackers read different things (see :mod:`nes_spark.audit.features`):

* ``words``, ``phrases``, ``characters``, ``names``, ``style`` read one view by cosine;
* ``combined`` weighs all views, as :mod:`nes_spark.audit.calibration` tells;
* ``matched`` is ``combined`` with all texts matched to the candidates at once: it knows that no
  candidate holds more than so many of the texts.

Who knows of swapping ignores names: ``phrases-nameless``, ``characters-nameless``,
``combined-nameless`` and ``matched-nameless`` see no token that looks like a name, and ``style`` is
what is then left of ``words``. What names are exchanged for cannot change what these guess.

Scores are compared on a grid of 2^-30, ties go to the smaller id of a candidate, and nothing
depends on the order of texts or candidates.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from nes_spark.audit import calibration, features
from nes_spark.audit.attackers import (
    ATTACKERS,
    Attacker,
    Guesses,
    View,
    blocks,
    calibration_size,
    checked_level,
    chosen_attackers,
    chunk_table,
    results,
    smallest_hashes,
    threshold_of,
)
from nes_spark.errors import parameter_error

#: At most so many candidates are asked about when weights are fitted, and so many texts label
#: themselves: those of the smallest hashes.
_CALIBRATED = 500
_SELF_TRAINED = 1000


@dataclass(frozen=True)
class _Cosines:
    """Similarities of texts and candidates, standardised by text, some rows at a time."""

    texts: Mapping[View, sparse.csr_matrix]
    candidates: Mapping[View, features.Products]

    @classmethod
    def of(
        cls,
        asked: Mapping[View, sparse.csr_matrix],
        known: Mapping[View, sparse.csr_matrix],
    ) -> _Cosines:
        """Weigh counts; the attacker has seen the asked texts too, so they count for the idf."""
        texts, candidates = {}, {}
        for view, counts in asked.items():
            frequency = features.holders(counts) + features.holders(known[view])
            weights = features.idf(frequency, counts.shape[0] + known[view].shape[0])
            texts[view] = features.normalised(features.weighted(counts, weights))
            held = features.normalised(features.weighted(known[view], weights))
            candidates[view] = features.Products(held.T.tocsr())
        return cls(texts, candidates)

    def layers(self, views: Iterable[View], rows: np.ndarray) -> np.ndarray:
        """Return standardised cosines of shape (views, rows, candidates)."""
        return np.stack(
            [calibration.standardised(self.candidates[v].of(self.texts[v][rows])) for v in views]
        )


def _texts(owner: str, name: str, value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or not value:
        raise parameter_error(
            owner, name, "a mapping of id to text that is not empty", type(value).__name__
        )
    wrong = {type(part).__name__ for pair in value.items() for part in pair} - {"str"}
    if wrong:
        raise parameter_error(owner, name, "a mapping of str to str", ", ".join(sorted(wrong)))
    return {key: value[key] for key in sorted(value)}


def _plain_tokens(texts: features.Tokens) -> np.ndarray:
    """Count the tokens of each text that do not look like names."""
    plain = np.array([not features.looks_like_name(form) for form in texts.forms] + [False])
    return np.bincount(texts.rows, weights=plain[texts.ids], minlength=texts.n)


class DocumentAttack:
    """The attackers of :func:`attack_documents`, ready for several sets of texts.

    Parameters
    ----------
    background : mapping of str to str
        What is known of each candidate.

    Raises
    ------
    ValueError
        When the background is empty, is no mapping of str to str, or holds no word at all.
    """

    def __init__(self, background: Mapping[str, str]) -> None:
        known = _texts("attack_documents", "background", background)
        self.candidates = list(known)
        self._tokens = features.Tokens.of(list(known.values()))
        if not len(self._tokens.forms):
            raise parameter_error(
                "attack_documents", "background", "texts with at least one word", "no word"
            )
        self._reader = features.Reader(self._tokens)
        self._known: dict[View, sparse.csr_matrix] = {}
        self._pseudo: tuple[Any, list[tuple[np.ndarray, np.ndarray]]] = (None, [])

    def _counts(self, texts: features.Tokens, views: Iterable[View]) -> dict[View, Any]:
        return {view: self._reader.counts(texts, *view) for view in views}

    def _background(self, views: Iterable[View]) -> dict[View, Any]:
        missing = [view for view in views if view not in self._known]
        self._known.update(self._counts(self._tokens, missing))
        return {view: self._known[view] for view in views}

    def layers(self, texts: Mapping[str, str], views: Sequence[View]) -> np.ndarray:
        """Return how alike texts and candidates are.

        Parameters
        ----------
        texts : mapping of str to str
            Id to text.
        views : sequence of (str, bool)
            As :class:`~nes_spark.audit.attackers.Attacker` has them.

        Returns
        -------
        numpy.ndarray of float64, shape (views, texts, candidates)
            Standardised cosines, texts in order of id.
        """
        asked = _texts("DocumentAttack.layers", "texts", texts)
        tokens = features.Tokens.of(list(asked.values()))
        cosines = _Cosines.of(self._counts(tokens, views), self._background(views))
        return cosines.layers(views, np.arange(len(asked)))

    def _length(self, asked: features.Tokens) -> int:
        """Return the number of tokens of a text of middle length among those asked about.

        What does not look like a name is counted, and names are added at the background's rate, so
        that names of several words in place of others change nothing for who ignores names.
        """
        plain = np.median(_plain_tokens(asked))
        rate = len(self._tokens.ids) / max(1.0, float(_plain_tokens(self._tokens).sum()))
        # In steps of a quarter of a doubling, so that texts of nearly the same length share them.
        return round(2 ** (round(4 * math.log2(max(1.0, float(plain) * rate))) / 4))

    def _pseudo_queries(
        self, length: int, views: Sequence[View]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Ask about pieces of the background by the other half of it.

        Every background is cut in two. Of each half a piece as long as the texts that are asked
        about, from its middle, is a query against the other halves.
        """
        if self._pseudo[0] == (length, views):
            return self._pseudo[1]
        rows = self._tokens.rows
        sizes = np.bincount(rows, minlength=self._tokens.n)
        starts = np.cumsum(sizes) - sizes
        place = np.arange(len(rows)) - starts[rows]
        middle = (sizes // 2)[rows]
        most = calibration_size(_CALIBRATED, len(self.candidates))
        asked = smallest_hashes(self.candidates, most)
        chosen = np.isin(rows, asked)
        found = []
        for second in (False, True):
            mine = (place >= middle) == second
            width = np.where(second, sizes[rows] - middle, middle)
            begin = np.where(second, middle, 0) + np.maximum(0, width - length) // 2
            piece = np.flatnonzero(
                mine & chosen & (place >= begin) & (place < begin + np.minimum(length, width))
            )
            rest = np.flatnonzero(~mine)
            queries = self._tokens.take(piece, np.searchsorted(asked, rows[piece]), len(asked))
            others = self._tokens.take(rest, rows[rest], self._tokens.n)
            cosines = _Cosines.of(self._counts(queries, views), self._counts(others, views))
            found.append((cosines.layers(views, np.arange(len(asked))), asked))
        self._pseudo = ((length, list(views)), found)
        return found

    def attack(
        self,
        texts: Mapping[str, str],
        truth: Mapping[str, str] | None = None,
        *,
        attackers: Sequence[str] = ATTACKERS,
        names: str = "both",
        per_candidate: int | None = None,
        confidence: float = 0.9,
    ) -> pd.DataFrame:
        """Attack texts; see :func:`attack_documents`."""
        owner = "attack_documents"
        asked = _texts(owner, "texts", texts)
        chosen = chosen_attackers(owner, attackers, names, ATTACKERS)
        n, m = len(asked), len(self.candidates)
        least = -(-n // m)
        capacity = least if per_candidate is None else per_candidate
        if capacity < least:
            raise parameter_error(
                owner, "per_candidate", f"at least {least} for so many texts", per_candidate
            )
        checked_level(owner, confidence)
        if truth is not None and (lost := sum(i not in truth for i in asked)):
            raise parameter_error(owner, "truth", "a candidate for every text", f"{lost} without")
        number = {name: i for i, name in enumerate(self.candidates)}
        true = np.array([-1 if truth is None else number.get(truth[i], -1) for i in asked])

        views = list(dict.fromkeys(view for attacker in chosen for view in attacker.views))
        tokens = features.Tokens.of(list(asked.values()))
        cosines = _Cosines.of(self._counts(tokens, views), self._background(views))
        pseudo = self._pseudo_queries(self._length(tokens), views)
        sampled = smallest_hashes(list(asked), calibration_size(_SELF_TRAINED, m))
        rows = list(blocks(np.arange(n), m * len(views)))
        # Where all texts fit one block, every attacker takes its views from there.
        whole = cosines.layers(views, rows[0]) if len(rows) == 1 else None
        sample = cosines.layers(views, sampled) if whole is None else whole[:, sampled]
        room = -(-capacity * len(sampled) // n)

        weights: dict[tuple[View, ...], np.ndarray] = {}
        found = {}
        for attacker in chosen:
            places = [views.index(view) for view in attacker.views]
            labelled = [(layers[places], labels) for layers, labels in pseudo]
            if attacker.views not in weights:
                weights[attacker.views] = (
                    calibration.self_trained(sample[places], labelled, room)
                    if len(places) > 1
                    else calibration.fit_weights([(*part, 1.0) for part in labelled])
                )
            w = weights[attacker.views]
            mine = (
                cosines.layers(attacker.views, part) if whole is None else whole[places]
                for part in rows
            )
            guesses = _guesses(mine, attacker, w, true, capacity)
            threshold = threshold_of(labelled, w, attacker.matches, confidence)
            found[attacker.name] = (guesses, np.full(n, threshold))
        return results(list(asked), self.candidates, found)


def _guesses(
    layers: Iterable[np.ndarray],
    attacker: Attacker,
    weights: np.ndarray,
    truth: np.ndarray,
    capacity: int,
) -> Guesses:
    """Guess about all texts, some rows at a time; matching needs all of them at once."""
    utility = (calibration.utilities(weights, part) for part in layers)
    if attacker.matches:
        whole = calibration.matched(np.concatenate(list(utility)), capacity)
        utility = (whole[part] for part in blocks(np.arange(len(whole)), whole.shape[1]))
    found, start = [], 0
    for u in utility:
        found.append(Guesses.of(u, truth[start : start + len(u)]))
        start += len(u)
    return Guesses.joined(found)


def attack_documents(
    texts: Mapping[str, str],
    background: Mapping[str, str],
    truth: Mapping[str, str] | None = None,
    *,
    attackers: Sequence[str] = ATTACKERS,
    names: str = "both",
    per_candidate: int | None = None,
    confidence: float = 0.9,
) -> pd.DataFrame:
    """Name the candidate of each text.

    Parameters
    ----------
    texts : mapping of str to str
        What is asked about: id to text.
    background : mapping of str to str
        What is known of each candidate: metadata to text.
    truth : mapping of str to str, optional
        Candidate of each text. It is looked up after the guessing and changes no guess and no
        score; a text whose candidate has no background has no rank.
    attackers : sequence of str
        Some of :data:`ATTACKERS`; see the module.
    names : str
        ``"seen"``, ``"ignored"`` (only what does not look like a name is read), or ``"both"``.
    per_candidate : int, optional
        What ``matched``, and the weights of ``combined``, take for known: no candidate holds more
        than so many of the texts. By default as few as there can be, one where there are no more
        texts than candidates.
    confidence : float
        A guess is ``confident`` when its score is one from which so large a share of the guesses
        about pseudo-queries, pieces held out of the background, is right. Those are written by the
        same authors, but were not swapped: of swapped texts with names in view it may promise too
        much.

    Returns
    -------
    pandas.DataFrame
        One row for each attacker and text, texts in order of id: ``id``, ``guess``, ``rank`` (Int64
        from 1, of the true candidate; null without truth), ``score`` (the attacker's probability of
        its guess), ``attacker``, ``confident``.

    Raises
    ------
    ValueError
        On an unknown attacker or form of names, on texts or a background that are empty or no
        mapping of str to str, on a background without words, on a truth that misses a text, and on
        `per_candidate` or `confidence` out of range.

    Notes
    -----
    Candidates are compared completely. Memory grows with texts times candidates for ``matched``
    (8 bytes each, a few copies), and with the background's length for the others.

    Examples
    --------
    >>> known = {"A": "the zebra farm grew", "B": "our widget plant shrank"}
    >>> found = attack_documents({"x": "a zebra"}, known, {"x": "A"}, attackers=["words"])
    >>> found[["guess", "rank", "attacker"]].values.tolist()[0]
    ['A', 1, 'words']
    """
    return DocumentAttack(background).attack(
        texts,
        truth,
        attackers=attackers,
        names=names,
        per_candidate=per_candidate,
        confidence=confidence,
    )


def asked_half(chunk_ids: Sequence[str], key: bytes) -> tuple[set[str], set[str]]:
    """Split the chunks of one document: those that the attacker holds, and those asked about.

    Parameters
    ----------
    chunk_ids : sequence of str
    key : bytes
        Secret key of the hash, 1 to 64 bytes.

    Returns
    -------
    held, asked : set of str
        The larger half is held where they are odd; one chunk alone is both.
    """
    lots = sorted(
        chunk_ids, key=lambda c: hashlib.blake2b(c.encode(), digest_size=16, key=key).digest()
    )
    held = set(lots[: -(-len(lots) // 2)])
    return held, set(lots) - held or held


def half_known(
    chunks: pd.DataFrame, key: bytes
) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Split documents for the half-known attack.

    The attacker holds half of every original document's chunks, chosen by keyed hash (the larger
    half where they are odd), and is asked about the other half as released. A document of one chunk
    is known and asked about: that overstates its risk, where leaving it out would hide it.

    Parameters
    ----------
    chunks : pandas.DataFrame
        ``chunk_id``, ``document_id``, ``metadata``, ``text_before``, ``text_after`` of every chunk.
        A chunk that was not published has an empty `text_after`.
    key : bytes
        Secret key of the hash, 1 to 64 bytes.

    Returns
    -------
    texts, background, truth : dict of str to str
        For :func:`attack_documents`: document_id to the text asked about, metadata to what is
        known, document_id to metadata. Chunks are joined in order of chunk_id by an empty line.

    Raises
    ------
    ValueError
        When columns are missing, the table is empty, a chunk_id repeats, a value is no str, a
        document has two values of metadata, or the key is no bytes of 1 to 64.
    """
    owner = "half_known"
    columns = ("chunk_id", "document_id", "metadata", "text_before", "text_after")
    table = chunk_table(owner, chunks, columns)
    if not isinstance(key, bytes) or not 1 <= len(key) <= 64:
        # The key is a secret: say what it is, not which.
        raise parameter_error(owner, "key", "1 to 64 bytes", type(key).__name__)
    texts: dict[str, str] = {}
    truth: dict[str, str] = {}
    known: dict[str, list[str]] = {}
    for document, part in table.groupby("document_id", sort=True):
        if part["metadata"].nunique() != 1:
            raise parameter_error(
                owner, "chunks", "a table with one metadata for each document", "several"
            )
        metadata = str(part["metadata"].iloc[0])
        held, asked = asked_half(part["chunk_id"].tolist(), key)
        texts[str(document)] = "\n\n".join(part.loc[part["chunk_id"].isin(asked), "text_after"])
        truth[str(document)] = metadata
        known.setdefault(metadata, []).extend(part.loc[part["chunk_id"].isin(held), "text_before"])
    return texts, {metadata: "\n\n".join(parts) for metadata, parts in known.items()}, truth
