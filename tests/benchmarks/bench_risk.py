"""Ratios that say whether risk and utility scale: ``python -m tests.benchmarks.bench_risk``.

Every line divides a time by the time of something simpler measured in the same run, so the figures
compare between machines. Nothing here is asserted.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from nes_spark.releases.scoring import RiskFigures, score_sequence
from nes_spark.risk import fit_ewens_pitman, simulate_partition
from nes_spark.risk.special import log_sum


def best(action: Callable[[], object], repeats: int = 3) -> float:
    """Seconds of the fastest of a few runs."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        action()
        times.append(time.perf_counter() - started)
    return min(times)


def fit_lines() -> list[tuple[str, float]]:
    """Fits against table size, and the closed form against a loop over cells."""
    base = simulate_partition(2000, 20.0, 0.8, np.random.default_rng(0))
    reference = best(lambda: fit_ewens_pitman(base))
    lines = []
    for factor in (10, 1_000, 500_000):
        scaled = {j: s * factor for j, s in base.items()}
        n = sum(j * s for j, s in scaled.items())
        seconds = best(lambda scaled=scaled: fit_ewens_pitman(scaled))
        lines.append((f"fit, n = {n:.0e}, same sizes / n = 2e+03", seconds / reference))
    # the most distinct sizes that n = 1e9 allows: 1, 2, .. 44720 once each, and some uniques
    many = {1: 1000, **dict.fromkeys(range(2, 44_721), 1)}
    seconds = best(lambda: fit_ewens_pitman(many), 1)
    lines.append((f"fit, n = 1e+09, 44720 distinct sizes / {len(base)} sizes", seconds / reference))

    def loop() -> float:
        i = np.arange(1, 10**7)
        return float(np.log(20.0 + 0.8 * i).sum())

    closed = best(lambda: log_sum(20.0, 0.8, 10**7))
    lines.append(("sum over 1e7 cells, vectorised loop / closed form", best(loop) / closed))
    return lines


def score_lines() -> list[tuple[str, float]]:
    """Prefix sums against a new sum for every number of swaps."""
    rng = np.random.default_rng(1)
    n, swaps = 20_000, 2_000
    ids = rng.permutation(n)[: 2 * swaps]
    swapped = pd.DataFrame(
        {
            "order": np.repeat(np.arange(1, swaps + 1), 2),
            "chunk_id": [f"d#{i:05d}" for i in ids],
            "pre": rng.normal(6, 1, 2 * swaps),
            "post": rng.normal(5, 1, 2 * swaps),
            "unique": rng.random(2 * swaps) < 0.3,
        }
    )
    before = rng.normal(6, 1, n)
    before[ids] = swapped["pre"]
    figures = RiskFigures(n, 5000, 20.0, 0.8, ((1e20, 0.01, 0.01),))
    prefix = best(lambda: score_sequence(swapped, figures, float(before.sum())))

    def anew() -> None:
        for last in range(1, swaps + 1):
            after = before.copy()
            after[ids[: 2 * last]] = swapped["post"][: 2 * last]
            after.sum()

    lines = [(f"{swaps} releases, summed anew / prefix sums", best(anew, 1) / prefix)]
    three = RiskFigures(n, 5000, 20.0, 0.8, tuple((10.0**e, 0.01, 0.01) for e in (10, 20, 30)))
    seconds = best(lambda: score_sequence(swapped, three, float(before.sum())))
    lines.append(("three population sizes / one", seconds / prefix))
    return lines


def spark_lines() -> list[tuple[str, float]]:
    """All combinations in one pass against one group-by each."""
    from pyspark.sql import functions as F

    from nes_spark.config import ReleasesConfig, SparkConfig
    from nes_spark.releases import combinations_of
    from nes_spark.risk.stages import frequencies
    from nes_spark.session import get_session

    spark = get_session(SparkConfig(master="local[2]", shuffle_partitions=4), "bench_risk")
    releases = ReleasesConfig(plan="pairs")
    js = combinations_of(releases)
    rows = 200_000
    value = F.concat(F.lit("v"), F.pmod(F.hash("id", "c"), F.lit(3000)).cast("string"))
    cells = (
        spark.range(rows)
        .withColumn("c", F.array(*(F.lit(c) for c in releases.swap)))
        .select("id", F.explode("c").alias("c"))
        .withColumn("value", value)
        .groupBy("id")
        .agg(F.map_from_entries(F.collect_list(F.struct("c", "value"))).alias("cell"))
        .select(F.col("id").cast("string").alias("chunk_id"), "cell")
        .cache()
    )
    cells.count()
    frequencies(cells, js[:1]).collect()
    together = best(lambda: frequencies(cells, js).collect())
    one = best(lambda: frequencies(cells, js[:1]).collect())
    apart = best(lambda: [frequencies(cells, [j]).collect() for j in js], 1)
    spark.stop()
    return [
        (f"{rows:,} chunks, {len(js)} combinations in one pass / one combination", together / one),
        (f"{rows:,} chunks, {len(js)} combinations apart / in one pass", apart / together),
    ]


def main() -> None:
    """Print the table."""
    for name, ratio in [*fit_lines(), *score_lines(), *spark_lines()]:
        print(f"{ratio:12.2f}  {name}")


if __name__ == "__main__":
    main()
