"""Starts of the EM algorithm: spread-out rows (k-means++ on the sphere) and low concentrations."""

from __future__ import annotations

import hashlib

import numpy as np

from nes_spark.mixture.em import Parameters, Removal
from nes_spark.mixture.families import FAMILIES, Array

#: Two unit vectors with 1 - x'y below this are the same point.
_SAME = 1e-12
#: Mean resultant length that components start with. Measured on 12 synthetic data sets for each
#: family and K, and on real vectors (tests/benchmarks/bench_mixture.py --only start).
_START = 0.3


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
    """Choose spread-out rows as centres: greedy k-means++ with the squared chord 2 (1 - x'y).

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
    candidates = 2 + int(np.log(n_components))
    first = int(rng.integers(m))
    centres = [first]
    distance = np.maximum(1.0 - sample @ sample[first], 0.0)
    while len(centres) < n_components:
        distance[distance < _SAME] = 0.0
        cumulative = np.cumsum(distance)
        if cumulative[-1] <= 0.0:
            break
        drawn = np.searchsorted(cumulative, rng.random(candidates) * cumulative[-1], side="right")
        drawn = np.minimum(drawn, m - 1)
        drawn = drawn[distance[drawn] > 0.0]
        if not len(drawn):
            drawn = np.array([int(np.argmax(distance))])
        new = np.minimum(np.maximum(1.0 - sample[drawn] @ sample.T, 0.0), distance)
        best = int(np.argmin(new.sum(axis=1)))
        centres.append(int(drawn[best]))
        distance = new[best]
    return sample[centres]


def start(
    sample: Array, family: str, n_components: int, max_radius: float, rng: np.random.Generator
) -> tuple[Parameters, list[Removal]]:
    """Return starting parameters from a sample of the data.

    Spread-out rows, not refined: steps of k-means would decide before EM does. All components start
    with equal weights, so that the data decide which are too light, and with a low concentration,
    under which every point is shared by many of them: a start that is already sharp around single
    points stays there.

    Parameters
    ----------
    sample : ndarray of shape (m, d)
        Unit vectors in double precision, in an order that does not depend on the storage.
    family : str
    n_components : int
    max_radius : float
        Ceiling of the concentration, as a radius.
    rng : numpy.random.Generator

    Returns
    -------
    parameters : Parameters
    removed : list of Removal
        Components for which there was no distinct point.
    """
    means = plus_plus(sample, n_components, rng)
    k, d = means.shape
    resultant = min(_START, max_radius)
    concentration = FAMILIES[family].start(np.array([resultant]), d, max_radius)[0]
    parameters = Parameters(
        family, np.full(k, -np.log(k)), means, np.full(k, float(concentration), dtype=np.float64)
    )
    removed = [Removal(j, 0, 0.0, None, "no_distinct_point") for j in range(k, n_components)]
    return parameters, removed
