r"""The linkage adversary: whose entities are these?

It knows the chunks of every candidate and guesses whose chunk it sees from the entities in it. A
feature `f` is one entity, or a pair of entities found together. With `n_c` chunks known of a
candidate `c`, `n_fc` of them holding `f`, and `n_f` of all `n` chunks holding it, a language model
with Jelinek-Mercer smoothing (Zhai & Lafferty 2004) has

.. math:: p(f | c) = \lambda \frac{n_f}{n} + (1 - \lambda) \frac{n_{fc}}{n_c}

and the log-likelihood ratio against the corpus, up to a constant for the chunk, is

.. math:: w(f, c) = \log\left(1 + \frac{1 - \lambda}{\lambda}
          \frac{n_{fc} / n_c}{n_f / n}\right),

zero where the candidate never used `f`, and the larger the more specific `f` is to it. The score of
a candidate is the sum over single entities plus a weight times the sum over pairs. All candidates
are equally likely beforehand.

A chunk that the adversary is asked about can be left out of what it knows (all counts less that
chunk), so that it is not recognised by itself.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from nes_spark.audit.ranking import best_and_rank, stable_hash, tie_keys
from nes_spark.entities.terms import TERM, term_word
from nes_spark.swapping.rewriting import WHOLE_TEXT

#: Separate category from entity, and the two entities of a pair. No recogniser returns them.
FIELD = "\x1f"
_PAIR = "\x1e"

#: Pairs are made of at most this many entities of a chunk (the same ones in every chunk).
MAX_PAIRED = 40
#: So many features are told as what spoke most for a candidate.
STRONGEST = 5


def feature(category: str, entity: str) -> str:
    """Return the feature of a single entity; case and white space do not matter."""
    return f"{category}{FIELD}{' '.join(entity.casefold().split())}"


def _features_of_entity(category: str, entity: str) -> list[str]:
    """Return the features of a single entity: of a term its words, otherwise one.

    Whoever reads a term does not see what it was taken for, nor that its words are one.
    """
    names = term_word(entity).split() if category == TERM else [entity]
    return [feature(category, name) for name in names]


def features_of(
    entities: Mapping[str, Iterable[str] | None],
    hidden: Sequence[str] = (),
    pairs: bool = True,
    among: Container[str] | None = None,
) -> list[str]:
    """Return the features of a chunk, sorted.

    Parameters
    ----------
    entities : mapping of str to iterable of str
        Category to entities.
    hidden : sequence of str
        Categories that the adversary does not see.
    pairs : bool
        Whether pairs of entities are features too. In a chunk with more than ``MAX_PAIRED``
        entities, those with the smallest hashes are paired: a choice by entity, so that the same
        pairs are seen in all chunks.
    among : container of str, optional
        Features that matter, with both entities of every pair; all do when omitted.
    """
    singles = sorted(
        {
            name
            for category, values in entities.items()
            if category not in hidden
            for entity in values or ()
            if entity
            for name in _features_of_entity(category, entity)
        }
    )
    paired = singles
    if pairs and len(singles) > MAX_PAIRED:
        paired = sorted(sorted(singles, key=lambda f: (stable_hash(f), f))[:MAX_PAIRED])
    if among is not None:
        singles, paired = ([f for f in names if f in among] for names in (singles, paired))
    if not pairs:
        return singles
    together = [a + _PAIR + b for a, b in combinations(paired, 2)]
    if among is not None:
        together = [f for f in together if f in among]
    return sorted(singles + together)


def by_category(features: Iterable[str]) -> dict[str, list[str]]:
    """Group single features by their category."""
    found: dict[str, list[str]] = {}
    for name in features:
        found.setdefault(name.split(FIELD, 1)[0], []).append(name)
    return found


def is_pair(name: str) -> bool:
    """Whether a feature is a pair of entities."""
    return _PAIR in name


def describe(name: str) -> str:
    """Return a feature as a person would write it, for example ``"TSMC + Xilinx"``."""
    return " + ".join(part.split(FIELD, 1)[-1] for part in name.split(_PAIR))


def swap_entities(
    entities: Mapping[str, Iterable[str] | None], edits: Iterable[Mapping[str, Any]]
) -> dict[str, list[str]]:
    """Return the entities of a chunk after its swaps.

    Parameters
    ----------
    entities : mapping of str to iterable of str
        Category to entities before the swaps.
    edits : iterable of mapping
        All edits from the original text, with ``category``, ``old_entity``, ``new_entity``.

    Returns
    -------
    dict of str to list of str
        Sorted distinct entities. A new entity that is empty or a placeholder such as ``[Event]``
        only removes the old one; edits of articles have no entities and no effect.
    """
    current = {category: set(values or ()) for category, values in entities.items()}
    # All mentions of an exchanged entity go at once: remove first, then add, because a chunk may
    # receive an entity that another edit takes away.
    gone: dict[str, set[str]] = {}
    came: dict[str, set[str]] = {}
    for edit in edits:
        category = edit["category"] or ""
        if category in WHOLE_TEXT:
            return {name: [] for name in current}
        if edit["old_entity"]:
            gone.setdefault(category, set()).add(edit["old_entity"])
        new = edit["new_entity"]
        if new and not (new.startswith("[") and new.endswith("]")):
            came.setdefault(category, set()).add(new)
    for category in gone.keys() | came.keys():
        if category in current:
            current[category] -= gone.get(category, set())
            current[category] |= came.get(category, set())
    return {category: sorted(values) for category, values in current.items()}


@dataclass(frozen=True)
class Evidence:
    """What is known of all features of a target: one entry a feature and candidate that used it.

    Attributes
    ----------
    features : list of str
        In order of name: terms are added up in this order.
    feature : numpy.ndarray of int, shape (e,)
        Feature of each entry.
    labels, counts : numpy.ndarray of int, shape (e,)
        Candidate of each entry, and how many of its chunks hold the feature.
    totals : numpy.ndarray of int, shape (e,)
        Known chunks that hold the feature.
    own : numpy.ndarray of bool, shape (e,)
        Whether the target chunk, as it is known, is one of them.
    """

    features: list[str]
    feature: np.ndarray
    labels: np.ndarray
    counts: np.ndarray
    totals: np.ndarray
    own: np.ndarray

    @classmethod
    def packed(
        cls,
        features: Sequence[str],
        totals: np.ndarray,
        own: np.ndarray,
        lengths: np.ndarray,
        labels: np.ndarray,
        counts: np.ndarray,
    ) -> Evidence:
        """Put together arrays of all features, in any order of these.

        Parameters
        ----------
        features : sequence of str
            The `f` features.
        totals, own, lengths : numpy.ndarray, shape (f,)
            Of each feature: known chunks that hold it, whether the target is one of them, and how
            many candidates used it.
        labels, counts : numpy.ndarray of int, shape (e,)
            Those candidates and their chunks, feature by feature.
        """
        order = np.array(sorted(range(len(features)), key=features.__getitem__), dtype=np.int64)
        sizes = lengths[order]
        feature = np.repeat(np.arange(len(order)), sizes)
        # Entry i of a feature stands i places behind the first one, before and after sorting.
        shift = (np.cumsum(lengths) - lengths)[order] - (np.cumsum(sizes) - sizes)
        place = np.arange(len(feature)) + shift[feature]
        by_entry = order[feature]
        return cls(
            [features[i] for i in order],
            feature,
            labels[place],
            counts[place],
            totals[by_entry],
            own[by_entry],
        )


def weights(
    known: Evidence,
    sizes: np.ndarray,
    own_labels: Sequence[int],
    leave_out: bool,
    smoothing: float,
    n: int,
) -> np.ndarray:
    """Return w(f, c) for every feature and candidate that used it.

    Parameters
    ----------
    known : Evidence
        The features of the target.
    sizes : numpy.ndarray of int
        Known chunks of every candidate, ``n_c``.
    own_labels : sequence of int
        Candidates that the target chunk itself is known under; empty when it is not known.
    leave_out : bool
        Whether the target chunk is taken out of all counts.
    smoothing : float
        Lambda, between 0 and 1.
    n : int
        Known chunks.

    Returns
    -------
    numpy.ndarray of float, shape (len(known.labels),)
        Zero where nothing else holds the feature.
    """
    counts = known.counts.astype(np.float64)
    chunks = sizes[known.labels].astype(np.float64)
    totals, all_chunks = known.totals.astype(np.float64), float(n)
    if leave_out and len(own_labels):
        mine = np.isin(known.labels, own_labels)
        all_chunks -= 1
        chunks = chunks - mine
        totals = totals - known.own
        counts = counts - (mine & known.own)
    if all_chunks <= 0:
        return np.zeros(len(counts))
    said = totals > 0
    shares = np.divide(counts, chunks, out=np.zeros_like(counts), where=chunks > 0)
    common = np.divide(totals, all_chunks, out=np.ones_like(totals), where=said)
    return np.where(said, np.log1p((1 - smoothing) / smoothing * shares / common), 0.0)


def scores(
    known: Evidence,
    sizes: np.ndarray,
    own_labels: Sequence[int],
    leave_out: bool,
    smoothing: float,
    pair_weight: float,
    n: int,
) -> np.ndarray:
    """Return the score of every candidate, added up in order of the features.

    Returns
    -------
    numpy.ndarray of float, shape (len(sizes),)
        Zero without evidence.
    """
    terms = _terms(known, sizes, own_labels, leave_out, smoothing, pair_weight, n)
    return np.bincount(known.labels, weights=terms, minlength=len(sizes))


def _terms(
    known: Evidence,
    sizes: np.ndarray,
    own_labels: Sequence[int],
    leave_out: bool,
    smoothing: float,
    pair_weight: float,
    n: int,
) -> np.ndarray:
    """Return what each entry adds to the score of its candidate."""
    factors = np.array([pair_weight if is_pair(f) else 1.0 for f in known.features])
    values = weights(known, sizes, own_labels, leave_out, smoothing, n)
    return factors[known.feature] * values if len(values) else values


def _strongest(known: Evidence, terms: np.ndarray, label: int) -> list[str]:
    """Return the features that gave a candidate most, strongest first, ties in order of name."""
    (mine,) = np.nonzero((known.labels == label) & (terms > 0))
    found = [(-round(float(terms[i]), 9), known.features[known.feature[i]]) for i in mine]
    return [describe(name) for _, name in sorted(found)[:STRONGEST]]


def guess(
    target: str,
    known: Evidence,
    sizes: np.ndarray,
    label_hashes: np.ndarray,
    truth: int | None,
    known_here: bool,
    leave_out: bool,
    smoothing: float = 0.2,
    pair_weight: float = 0.5,
) -> tuple[int | None, int | None, list[str]]:
    """Guess the metadata of a chunk.

    Parameters
    ----------
    target : str
        Its chunk_id; breaks ties, see :func:`nes_spark.audit.ranking.tie_keys`.
    known : Evidence
        Those of its features that the adversary knows.
    sizes : numpy.ndarray of int
        Known chunks of every candidate.
    label_hashes : numpy.ndarray of uint64
        :func:`nes_spark.audit.ranking.stable_hash` of every candidate.
    truth : int or None
        Number of its true candidate; None when it is not among them.
    known_here : bool
        Whether the chunk itself is among the known ones of its true candidate.
    leave_out : bool
        Whether it is left out of what is known.
    smoothing, pair_weight : float
        See the module.

    Returns
    -------
    answer : int or None
        The candidate of the highest score; None when there is no candidate.
    rank : int or None
        Place of the truth from 1; None when it is not among the candidates.
    evidence : list of str
        What spoke most for the answer; empty when it was guessed at random.
    """
    n = int(sizes.sum())
    own = (truth,) if known_here and truth is not None else ()
    terms = _terms(known, sizes, own, leave_out, smoothing, pair_weight, n)
    values = np.bincount(known.labels, weights=terms, minlength=len(sizes))
    answer, rank = best_and_rank(values, tie_keys(target, label_hashes), truth)
    if answer is None:
        return None, None, []
    return answer, rank, _strongest(known, terms, answer)
