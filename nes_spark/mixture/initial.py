r"""Starts of the EM algorithm, of two principles that take turns.

The likelihood of a mixture has many maxima, and where a start lies decides which of them EM finds.
With K centres at once two of them often fall into one cluster while two clusters share another, and
EM does not mend that: it moves components by small steps.

* **thinned**, the first of every two: a start with more components than wanted. A few EM steps
  spread them over the data, then those that would be missed least are taken out, some at a time,
  with EM steps in between. A cluster that two components share gives up one of them; a cluster that
  has only one keeps it. These starts end close to each other, and higher than others on average.
* **rows**, the second: plain random rows. They end lower on average and differ much more. Where
  there are more components than clusters, the best of several may be higher, usually because one
  component has closed on a few points.

All of that is done on the sample that seeds the mixture, on the driver: on Spark a start costs no
pass over the data, and what it finds is the same on any partitioning.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from nes_spark.mixture.em import (
    Evaluator,
    Parameters,
    Removal,
    Statistics,
    added,
    block_statistics,
    component_log_densities,
    maximise,
)
from nes_spark.mixture.families import FAMILIES, Array
from nes_spark.mixture.logs import normalise
from nes_spark.mixture.vectors import block_rows

#: Two unit vectors with 1 - x'y below this are the same point.
_SAME = 1e-12
#: Mean resultant length that components start with.
_START = 0.3
#: Components of a start, for each that is wanted. This and the numbers below are measured on 12
#: synthetic data sets and on real vectors (tests/benchmarks/bench_mixture.py --only start).
_SPARE = 2.0
#: In how many rounds the spare ones are taken out, in steps of equal ratio.
_ROUNDS = 3
#: Passes over the sample before the first round, and after each.
_FIRST_PASSES = 3
_PASSES = 1
#: What a point may lose, in nats, when its only component goes: -log of this. Rounding decides
#: beyond it.
_LEAST_REST = 1e-12


def generator(seed: int | str | bytes, *labels: object) -> np.random.Generator:
    """Return a random generator that depends on the seed and the labels alone.

    Parameters
    ----------
    seed : int, str or bytes
        Kept secret by callers that need it; it cannot be found from the numbers drawn.
    *labels : object
        What the numbers are for, e.g. a setting and a restart.
    """
    key = hashlib.blake2b(seed if isinstance(seed, bytes) else str(seed).encode()).digest()
    text = "\x1f".join(str(label) for label in labels)
    digest = hashlib.blake2b(text.encode(), key=key, digest_size=32).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def sample_size(n_components: int) -> int:
    """Return how many rows suffice to seed a mixture with this many components."""
    return max(4096, 50 * n_components)


def plus_plus(sample: Array, n_components: int, rng: np.random.Generator) -> Array:
    """Choose spread-out rows as centres: k-means++ with the squared chord 2 (1 - x'y).

    Each row is drawn with a chance in proportion to its squared chord from the nearest centre so
    far (Arthur and Vassilvitskii 2007).

    Parameters
    ----------
    sample : ndarray of shape (m, d)
        Unit vectors in double precision.
    n_components : int
        Number of centres wanted.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (k, d)
        k <= n_components distinct rows; fewer when the sample holds no more distinct points.
    """
    m = len(sample)
    centres = [int(rng.integers(m))]
    distance = np.full(m, np.inf)
    while len(centres) < n_components:
        np.minimum(distance, np.maximum(1.0 - sample @ sample[centres[-1]], 0.0), out=distance)
        distance[distance < _SAME] = 0.0
        cumulative = np.cumsum(distance)
        if cumulative[-1] <= 0.0:
            break
        drawn = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
        # rounding may lead to the end, or to a row that is a centre already
        if drawn >= m or distance[drawn] == 0.0:
            drawn = int(np.argmax(distance))
        centres.append(drawn)
    return sample[centres]


def random_rows(sample: Array, n_components: int, rng: np.random.Generator) -> Array:
    """Choose random rows as centres.

    Parameters
    ----------
    sample : ndarray of shape (m, d)
        Unit vectors in double precision.
    n_components : int
        Number of centres wanted.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (k, d)
        k <= n_components distinct rows; fewer when the sample holds no more distinct points.
    """
    centres: list[int] = []
    for row in rng.permutation(len(sample)):
        if not centres or float((sample[centres] @ sample[row]).max()) <= 1.0 - _SAME:
            centres.append(int(row))
        if len(centres) == n_components:
            break
    return sample[centres]


def _spread(family: str, means: Array, max_radius: float) -> Parameters:
    """Return a mixture around the given means with equal weights and low concentrations."""
    k, d = means.shape
    resultant = min(_START, max_radius)
    concentration = FAMILIES[family].start(np.array([resultant]), d, max_radius)[0]
    return Parameters(family, np.full(k, -np.log(k)), means, np.full(k, float(concentration)))


def n_centres(n_components: int) -> int:
    """Return how many centres a start begins with."""
    return round(_SPARE * n_components)


def least_needed(b: Array, weights: Array, count: int) -> NDArray[np.intp]:
    r"""Choose components to take out of a mixture, one after the other, each the least missed.

    Without component j, with the other weights renormalised and nothing else changed, point i has
    the likelihood sum_{k != j} pi_k f_k(x_i) / (1 - pi_j), which is (1 - b_ij) / (1 - pi_j) times
    what it had. The mixture loses

        L_j = n log(1 - pi_j) - sum_i log(1 - b_ij)

    in log-likelihood, zero for a component that equals the rest of the mixture. The component with
    the smallest L_j goes, the others share its part of every point, b_ik <- b_ik / (1 - b_ij), and
    the next is chosen. Components without any weight go first.

    Parameters
    ----------
    b : ndarray of shape (K, n)
        Responsibilities of the points; overwritten.
    weights : ndarray of shape (K,)
        pi, which sum to one.
    count : int
        How many go, fewer than K.

    Returns
    -------
    ndarray of shape (count,)
        Positions in the order in which they go.
    """
    gone: list[int] = []
    weights = weights.copy()
    for _ in range(count):
        rest = np.maximum(1.0 - b, _LEAST_REST)
        others = np.maximum(1.0 - weights, _LEAST_REST)
        loss = b.shape[1] * np.log(others) - np.log(rest).sum(axis=1)
        loss[weights == 0.0] = -np.inf
        loss[gone] = np.inf
        j = int(np.argmin(loss))
        b /= rest[j]
        weights /= others[j]
        b[j], weights[j] = 0.0, 0.0
        gone.append(j)
    return np.array(gone, dtype=np.intp)


def passes_over(sample: Array) -> Evaluator:
    """Return what evaluates mixtures on all rows of a sample, in blocks that stay in cache."""
    step = block_rows(sample.shape[1])

    def evaluate(mixtures: list[Parameters]) -> list[Statistics]:
        totals = block_statistics(sample[:step], mixtures)
        for begin_row in range(step, len(sample), step):
            block = sample[begin_row : begin_row + step]
            totals = added(totals, block_statistics(block, mixtures))
        return totals

    return evaluate


def _short_run(
    present: Parameters, n_passes: int, max_radius: float, evaluate: Evaluator
) -> Parameters:
    """Return where plain EM is after some passes."""
    for _ in range(n_passes):
        present = maximise(evaluate([present])[0], present, max_radius)
    return present


def thin(
    sample: Array,
    parameters: Parameters,
    n_components: int,
    max_radius: float,
    evaluate: Evaluator | None = None,
) -> Parameters:
    """Take the least needed components out of a mixture, in rounds with EM steps in between.

    Parameters
    ----------
    sample : ndarray of shape (m, d)
        Unit vectors in double precision.
    parameters : Parameters
        A mixture with more components than wanted.
    n_components : int
        How many are wanted.
    max_radius : float
        Ceiling of the concentration, as a radius.
    evaluate : callable, optional
        Passes over the sample, see :func:`nes_spark.mixture.em.run_all`; for counting them.

    Returns
    -------
    Parameters
        With ``n_components`` components.
    """
    evaluate = evaluate or passes_over(sample)
    spare = parameters.n_components / n_components
    present = _short_run(parameters, _FIRST_PASSES, max_radius, evaluate)
    for left in range(_ROUNDS - 1, -1, -1):
        count = present.n_components - round(n_components * spare ** (left / _ROUNDS))
        if count <= 0:
            continue
        b = component_log_densities(sample, present)
        b += present.log_weights[:, None]
        normalise(b, axis=0)
        keep = np.ones(present.n_components, dtype=np.bool_)
        keep[least_needed(b, np.exp(present.log_weights), count)] = False
        present = _short_run(present.keep(keep), _PASSES, max_radius, evaluate)
    return present


def is_thinned(restart: int) -> bool:
    """Return of which principle a restart is: thinned for the first of every two, else rows."""
    return restart % 2 == 0


def start(
    sample: Array,
    family: str,
    n_components: int,
    max_radius: float,
    rng: np.random.Generator,
    thinned: bool = True,
    evaluate: Evaluator | None = None,
) -> tuple[Parameters, list[Removal]]:
    """Return starting parameters from a sample of the data.

    Rows are not refined by k-means before: its steps would decide before EM does. All components
    begin with equal weights, so that the data decide which are too light, and with a low
    concentration, under which every point is shared by many of them: a start that is sharp around
    single points stays there.

    Parameters
    ----------
    sample : ndarray of shape (m, d)
        Unit vectors in double precision, in an order that does not depend on the storage.
    family : str
    n_components : int
    max_radius : float
        Ceiling of the concentration, as a radius.
    rng : numpy.random.Generator
    thinned : bool, optional
        Whether spread-out rows, more of them than components, are thinned out (:func:`thin`);
        otherwise the start is random rows.
    evaluate : callable, optional
        Passes over the sample, see :func:`nes_spark.mixture.em.run_all`; for counting them.

    Returns
    -------
    parameters : Parameters
    removed : list of Removal
        Components for which there was no distinct point.
    """
    # one component has one maximum: nothing to choose from
    if thinned and n_components > 1:
        means = plus_plus(sample, n_centres(n_components), rng)
    else:
        means = random_rows(sample, n_components, rng)
    parameters = _spread(family, means, max_radius)
    if parameters.n_components > n_components:
        parameters = thin(sample, parameters, n_components, max_radius, evaluate)
    missing = range(parameters.n_components, n_components)
    return parameters, [Removal(j, 0, 0.0, None, "no_distinct_point") for j in missing]
