"""How long plan ``whole`` takes, in memory for one component and on Spark for a corpus.

Run as ``python -m tests.benchmarks.bench_plan [CHUNKS] [--memory 4g]``. The chunks are made up: 33
a document, four swapped categories, three in seven chunks without a name of a category, half of the
names from ten of the document's own in each category and half from a Zipf distribution (exponent
1.3), ten components of equal size.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

from nes_spark.config import ReleasesConfig, SparkConfig, SwappingConfig
from nes_spark.swapping.constraints import constraints_of
from nes_spark.swapping.layers import Drawing, Members, layers_of, sample_layers
from nes_spark.swapping.population import make_sets
from nes_spark.swapping.seeds import Secret

CATEGORIES = ("Organization", "Person", "Product", "Location")
PER_DOCUMENT = 33
COMPONENTS = 10


def names_of(n: int, category: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (chunk, number of a name) for one category."""
    rng = np.random.default_rng(category)
    rows = np.repeat(np.arange(n), rng.choice([0, 0, 0, 1, 1, 2, 3], n))
    common = rng.zipf(1.3, len(rows)) % 100_000
    own = 100_000 + rows // PER_DOCUMENT * 10 + rng.integers(0, 10, len(rows))
    return rows, np.where(rng.random(len(rows)) < 0.5, common, own)


def one_component(n: int) -> None:
    """Draw all layers of one component of n chunks."""
    sets = [make_sets(*names_of(n, c), n) for c in range(len(CATEGORIES))]
    sizes = np.array([s.sizes for s in sets])
    layers = layers_of(CATEGORIES)
    members = Members(
        [f"{i:09d}" for i in range(n)],
        np.arange(n) // PER_DOCUMENT,
        np.random.default_rng(9).integers(0, n, (len(layers), n)),
        sets,
        sets,
        sizes > 0,
        np.zeros(n, dtype=np.int64),
    )
    drawing = Drawing(Secret(1), CATEGORIES, layers, constraints=constraints_of())
    start = time.perf_counter()
    swaps = sample_layers(members, drawing, "bench", 0)
    seconds = time.perf_counter() - start
    closed = 1 - members.open.sum() / (sizes > 0).sum()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"one component of {n:,} chunks: {len(swaps):,} swaps, {closed:.2%} of the cells "
        f"exchanged, {seconds:.1f} s, {peak:.0f} MB"
    )


def on_spark(n: int, memory: str) -> None:
    """Draw the plan of n chunks and write both tables."""
    from pyspark.sql import functions as F

    from nes_spark.session import get_session
    from nes_spark.swapping.plan_stages import PlanOptions, sample_plans

    spark = get_session(SparkConfig(master="local[2]", driver_memory=memory), "bench_plan")
    with tempfile.TemporaryDirectory() as folder:
        import pandas as pd

        path = Path(folder)
        for c, category in enumerate(CATEGORIES):
            rows, names = names_of(n, c)
            frame = pd.DataFrame({"chunk": rows, "name": names, "category": category})
            frame.to_parquet(path / f"{category}.parquet")
        named = (
            spark.read.parquet(*(str(path / f"{c}.parquet") for c in CATEGORIES))
            .groupBy("chunk", "category")
            .agg(
                F.array_sort(
                    F.collect_set(F.concat("category", F.lit(" "), F.col("name").cast("string")))
                ).alias("names")
            )
            .groupBy("chunk")
            .agg(F.map_from_entries(F.collect_list(F.struct("category", "names"))).alias("some"))
        )
        document = F.floor(F.col("id") / PER_DOCUMENT).cast("string")
        date = F.array(F.concat(F.lit("day "), (F.col("id") % 365).cast("string")))
        cells = (
            spark.range(n)
            .join(named.withColumnRenamed("chunk", "id"), "id", "left")
            .select(
                F.format_string("%09d", "id").alias("chunk_id"),
                document.alias("document_id"),
                F.concat(F.lit("company "), document).alias("metadata"),
                F.map_concat(
                    F.coalesce("some", F.create_map().cast("map<string,array<string>>")),
                    F.create_map(F.lit("Date"), date),
                ).alias("entities"),
            )
        )
        cells.write.parquet(str(path / "cells"))
        cells = spark.read.parquet(str(path / "cells"))
        assignments = cells.select(
            F.lit("bench").alias("setting"),
            "chunk_id",
            (F.xxhash64("chunk_id") % COMPONENTS + COMPONENTS).cast("int").alias("component"),
        )
        start = time.perf_counter()
        plans = sample_plans(
            cells,
            assignments,
            PlanOptions(CATEGORIES, ("Date",)),
            ReleasesConfig(draws=1),
            SwappingConfig(),
            b"benchmark",
        )
        plans.plan.write.parquet(str(path / "plan"))
        drawn = time.perf_counter() - start
        plans.leftovers.write.parquet(str(path / "leftovers"))
        seconds = time.perf_counter() - start
        plans.unpersist()
        swaps = spark.read.parquet(str(path / "plan")).count()
        left = spark.read.parquet(str(path / "leftovers")).groupBy("treatment", "reason").count()
        print(
            f"Spark, {n:,} chunks, 2 cores, {memory}: {swaps:,} swaps in {drawn:.1f} s, with what "
            f"is left over {seconds:.1f} s"
        )
        for row in left.orderBy("treatment", "reason").collect():
            print(f"  {row['treatment']}, {row['reason']}: {row['count']:,} names")
    spark.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chunks", type=int, nargs="?", default=80_000)
    parser.add_argument("--memory", default="4g")
    given = parser.parse_args()
    one_component(given.chunks // COMPONENTS)
    one_component(given.chunks)
    on_spark(given.chunks, given.memory)
