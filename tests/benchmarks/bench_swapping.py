"""How the cost of swapping grows: with the swaps, not with the square of the component.

Run as ``python -m tests.benchmarks.bench_swapping [--quick]``. Ratios are what matters; seconds are
of the machine at hand.
"""

from __future__ import annotations

import itertools
import random
import resource
import sys
import time

import numpy as np

from nes_spark.swapping.population import Population, make_sets
from nes_spark.swapping.sampler import Limits, sample_component
from nes_spark.swapping.seeds import Secret


def make_population(n: int, documents: int, seed: int = 0, share: float = 0.0) -> Population:
    """Chunks with 1 to 3 entities (Zipf) in each of two categories.

    ``share`` of the chunks belong to one document.
    """
    rng = np.random.default_rng(seed)
    metadata = rng.integers(0, documents, n)
    metadata[rng.random(n) < share] = 0
    families = []
    for _ in range(2):
        rows = np.repeat(np.arange(n), rng.integers(1, 4, n))
        families.append(make_sets(rows, rng.zipf(1.3, len(rows)) % 100_000, n))
    return Population(metadata, rng.integers(0, 5000, n), families)


def brute_force(population: Population, max_swaps: int | None, seed: int) -> int:
    """Sequential swapping from the list of all valid pairs; returns the number of swaps."""
    n = population.n
    pairs = [
        (i, int(j))
        for i in range(n - 1)
        for j in np.nonzero(population.row_rates(i, np.arange(i + 1, n)) > 0)[0] + i + 1
    ]
    rng = random.Random(seed)
    count = 0
    while pairs and (max_swaps is None or count < max_swaps):
        a, b = rng.choice(pairs)
        pairs = [p for p in pairs if a not in p and b not in p]
        count += 1
    return count


def timed(call):
    """Return (seconds, result)."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def row(*values: object) -> None:
    """Print one line of a table."""
    print("".join(f"{v:>14}" for v in values))


def main(quick: bool = False) -> None:
    """Print the tables."""
    print("\n30 swaps, growing component")
    row("chunks", "build s", "sample s", "to 10,000", "rings", "pairs held")
    first = None
    sizes = (10_000, 100_000) if quick else (10_000, 100_000, 1_000_000)
    for n in sizes:
        built, population = timed(lambda n=n: make_population(n, n // 40))
        limits = Limits()
        seconds, swaps = timed(
            lambda p=population, li=limits: sample_component(
                p, Secret(1).stream("b"), 30, limits=li
            )
        )
        assert len(swaps) == 30
        first = first or seconds
        row(
            f"{n:,}", f"{built:.2f}", f"{seconds:.3f}", f"{seconds / first:.1f}x",
            limits.effort.rings, limits.effort.most_pairs,
        )  # fmt: skip

    print("\nUntil no valid pair is left, 500 documents")
    row("chunks", "one document", "swaps", "seconds", "rings", "rows", "pairs held")
    for n, share in itertools.product((5_000,) if quick else (5_000, 20_000), (0.0, 0.5, 0.95)):
        population = make_population(n, 500, share=share)
        limits = Limits()
        seconds, swaps = timed(
            lambda p=population, li=limits: sample_component(p, Secret(1).stream("b"), limits=li)
        )
        row(
            f"{n:,}", f"{share:.0%}", len(swaps), f"{seconds:.2f}",
            f"{limits.effort.rings:,}", f"{limits.effort.rows:,}", f"{limits.effort.most_pairs:,}",
        )  # fmt: skip

    print("\nAgainst listing all pairs, 30 swaps")
    row("chunks", "brute force s", "sampler s", "ratio")
    for n in (200, 400, 800) if quick else (200, 400, 800, 1600):
        population = make_population(n, max(5, n // 40))
        slow, _ = timed(lambda p=population: brute_force(p, 30, 1))
        fast, _ = timed(lambda p=population: sample_component(p, Secret(1).stream("b"), 30))
        row(n, f"{slow:.3f}", f"{fast:.4f}", f"{slow / fast:.0f}x")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\npeak memory of the process: {peak:.0f} MB")


if __name__ == "__main__":
    main("--quick" in sys.argv)
