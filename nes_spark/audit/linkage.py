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

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from nes_spark.audit.ranking import best_and_rank, stable_hash, tie_keys

#: Separate category from entity, and the two entities of a pair. No recogniser returns them.
FIELD = "\x1f"
_PAIR = "\x1e"

#: Pairs are made of at most this many entities of a chunk (the same ones in every chunk).
MAX_PAIRED = 40


def feature(category: str, entity: str) -> str:
    """Return the feature of a single entity; case and white space do not matter."""
    return f"{category}{FIELD}{' '.join(entity.casefold().split())}"


def features_of(
    entities: Mapping[str, Iterable[str] | None],
    hidden: Sequence[str] = (),
    pairs: bool = True,
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
    """
    singles = sorted(
        {
            feature(category, entity)
            for category, values in entities.items()
            if category not in hidden
            for entity in values or ()
            if entity
        }
    )
    if not pairs:
        return singles
    paired = singles
    if len(singles) > MAX_PAIRED:
        paired = sorted(sorted(singles, key=lambda f: (stable_hash(f), f))[:MAX_PAIRED])
    return sorted(singles + [a + _PAIR + b for a, b in combinations(paired, 2)])


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
class Known:
    """What is known of one feature of a target: where else it occurs.

    Attributes
    ----------
    feature : str
        The feature.
    total : int
        Known chunks that hold it, ``n_f``.
    own : bool
        Whether the target chunk, as it is known, is one of them.
    labels : sequence of str
        Candidates that used it.
    counts, sizes : sequence of int
        Chunks of each of those candidates that hold it (``n_fc``), and chunks it has (``n_c``).
    """

    feature: str
    total: int
    own: bool
    labels: Sequence[str]
    counts: Sequence[int]
    sizes: Sequence[int]


def weights(
    known: Known,
    n: int,
    own_labels: frozenset[str] | set[str],
    leave_out: bool,
    smoothing: float,
) -> np.ndarray:
    """Return w(f, c) for the candidates that used a feature.

    Parameters
    ----------
    known : Known
        The feature.
    n : int
        Known chunks.
    own_labels : set of str
        Candidates that the target chunk itself is known under; empty when it is not known.
    leave_out : bool
        Whether the target chunk is taken out of all counts.
    smoothing : float
        Lambda, between 0 and 1.

    Returns
    -------
    numpy.ndarray of float, shape (len(known.labels),)
    """
    counts = np.asarray(known.counts, dtype=np.float64)
    sizes = np.asarray(known.sizes, dtype=np.float64)
    total, all_chunks = float(known.total), float(n)
    if leave_out and own_labels:
        mine = np.fromiter((label in own_labels for label in known.labels), bool, len(known.labels))
        all_chunks -= 1
        sizes = sizes - mine
        if known.own:
            total -= 1
            counts = counts - mine
    if total <= 0 or all_chunks <= 0:
        return np.zeros(len(counts))
    shares = np.divide(counts, sizes, out=np.zeros_like(counts), where=sizes > 0)
    return np.log1p((1 - smoothing) / smoothing * shares / (total / all_chunks))


def scores(
    found: Sequence[Known],
    n: int,
    own_labels: frozenset[str] | set[str],
    leave_out: bool,
    smoothing: float,
    pair_weight: float,
) -> dict[str, float]:
    """Return the score of every candidate with any evidence, in a fixed order of summation."""
    parts: dict[str, list[float]] = {}
    for known in sorted(found, key=lambda k: k.feature):
        factor = pair_weight if is_pair(known.feature) else 1.0
        if not factor:
            continue
        values = weights(known, n, own_labels, leave_out, smoothing)
        for label, value in zip(known.labels, values.tolist(), strict=True):
            if value > 0:
                parts.setdefault(label, []).append(factor * value)
    return {label: math.fsum(parts[label]) for label in sorted(parts)}


def evidence_for(
    found: Sequence[Known],
    label: str,
    n: int,
    own_labels: frozenset[str] | set[str],
    leave_out: bool,
    smoothing: float,
    pair_weight: float,
    top: int = 5,
) -> list[str]:
    """Return the features that gave a candidate most, strongest first, ties in order of name."""
    strength: list[tuple[float, str]] = []
    for known in found:
        if label not in known.labels:
            continue
        factor = pair_weight if is_pair(known.feature) else 1.0
        values = weights(known, n, own_labels, leave_out, smoothing)
        value = factor * float(values[list(known.labels).index(label)])
        if value > 0:
            strength.append((-round(value, 9), known.feature))
    return [describe(name) for _, name in sorted(strength)[:top]]


def guess(
    target: str,
    found: Sequence[Known],
    n: int,
    truth: str,
    own_labels: frozenset[str] | set[str],
    labels: Sequence[str],
    label_hashes: np.ndarray,
    leave_out: bool,
    smoothing: float = 0.2,
    pair_weight: float = 0.5,
) -> tuple[str | None, int | None, list[str]]:
    """Guess the metadata of a chunk.

    Parameters
    ----------
    target : str
        Its chunk_id; breaks ties, see :func:`nes_spark.audit.ranking.tie_keys`.
    found : sequence of Known
        Those of its features that the adversary knows.
    n : int
        Known chunks.
    truth : str
        Its true metadata.
    own_labels : set of str
        Metadata under which the chunk itself is known; empty when it is not.
    labels, label_hashes : sequence of str, numpy.ndarray of uint64
        All candidates, sorted, and their hashes.
    leave_out : bool
        Whether the chunk itself is left out of what is known.
    smoothing, pair_weight : float
        See the module.

    Returns
    -------
    answer : str or None
        The candidate of the highest score; None when there is no candidate.
    rank : int or None
        Place of the truth from 1; None when it is not among the candidates.
    evidence : list of str
        What spoke most for the answer; empty when it was guessed at random.
    """
    by_label = scores(found, n, own_labels, leave_out, smoothing, pair_weight)
    index = {label: i for i, label in enumerate(labels)}
    dense = np.zeros(len(labels))
    for label, value in by_label.items():
        dense[index[label]] = value
    best, rank = best_and_rank(dense, tie_keys(target, label_hashes), index.get(truth))
    if best is None:
        return None, None, []
    answer = labels[best]
    reasons = evidence_for(found, answer, n, own_labels, leave_out, smoothing, pair_weight)
    return answer, rank, reasons
