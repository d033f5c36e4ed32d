"""Mixtures: one pass and whole fits, against the floor, against other programs, on Spark.

    python -m tests.benchmarks.bench_mixture [--quick | --full] [--corpora DIR] [--no-spark]
        [--only pass|fit|acceleration]

Three tables, every ratio between figures of the same run:

* ``pass``: one EM pass over clustered unit vectors. The floor is the two bare matrix products that
  any such pass needs (in the double precision that our kernel computes in, and in single
  precision); then the update of the method written down in plain NumPy, our kernel in memory, our
  kernel for eight mixtures at once, and one pass of our Spark fit.
* ``fit``: whole fits to a relative gain of 1e-6: ours, scikit-learn's GaussianMixture (diagonal),
  pyspark.ml KMeans and GaussianMixture, and spheroids where a developer has installed it beside
  this project.
* ``acceleration``: passes with and without acceleration on embeddings of real calls.

Sizes that do not fit into half of the free memory are left out and named.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from nes_spark.mixture import MixtureSetting, fit_mixture
from nes_spark.mixture.em import Parameters
from nes_spark.mixture.fit import begin, in_memory_pass
from nes_spark.mixture.vectors import UnitVectors

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"


def clustered(n: int, d: int, k: int, seed: int = 0) -> np.ndarray:
    """Return n float32 unit vectors around k centres, made block by block."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((k, d)).astype(np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    x = np.empty((n, d), dtype=np.float32)
    for start in range(0, n, 20_000):
        part = rng.standard_normal((min(20_000, n - start), d), dtype=np.float32)
        part *= np.float32(1.7 / np.sqrt(d))
        part += centres[rng.integers(k, size=len(part))]
        x[start : start + len(part)] = part / np.linalg.norm(part, axis=1, keepdims=True)
    return x


def best_of(action: Callable[[], Any], repeats: int) -> float:
    """Return the least time of several calls, in seconds."""
    times: list[float] = []
    # short actions are repeated more often: one interruption would be all that is seen of them
    while len(times) < repeats or (sum(times) < 0.2 and len(times) < 50):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return min(times)


def products(x: np.ndarray, means: np.ndarray, dtype: Any) -> None:
    """The floor: means times vectors, and a matrix of that shape times vectors, in blocks."""
    means = means.astype(dtype)
    total = np.zeros_like(means)
    for start in range(0, len(x), 1024):
        block = x[start : start + 1024].astype(dtype, copy=False)
        total += (means @ block.T) @ block


def plain_pass(x: np.ndarray, p: Parameters) -> None:
    """The one-pass update for the spherical Cauchy density, as one would write it down."""
    d, rho = x.shape[1], p.concentrations
    u = 1 + rho**2 - 2 * rho * (x @ p.means.T)
    joint = p.log_weights + (d - 1) * np.log((1 - rho**2) / u)
    top = joint.max(axis=1, keepdims=True)
    b = np.exp(joint - top)
    total = b.sum(axis=1, keepdims=True)
    float((top + np.log(total)).sum())
    b /= total
    w = b / u
    _ = b.sum(axis=0), w.sum(axis=0), w.T @ x


def free_bytes() -> int:
    """Return the memory that is free now."""
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def fits(n: int, d: int, copies: float) -> bool:
    """Return whether some float32 copies of the data fit, and say so where they do not."""
    if 4.0 * n * d * copies <= 0.5 * free_bytes():
        return True
    print(f"| {n:,} | {d} | left out: {4e-9 * n * d * copies:.1f} GB do not fit |")
    return False


def spark_table(spark: Any, n: int, d: int, k: int) -> Any:
    """Return the same kind of vectors as an embeddings table, made on the executors."""
    from nes_spark.schemas import EMBEDDINGS

    per_part = 20_000

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for number in batch.column("id").to_pylist():
                rows = min(per_part, n - number * per_part)
                x = clustered(rows, d, k, seed=number + 1)
                values = pa.array(x.ravel(), pa.float32())
                offsets = pa.array(np.arange(0, rows * d + 1, d), pa.int32())
                ids = [f"doc{i % 97}#{number * per_part + i:09d}" for i in range(rows)]
                table = pa.RecordBatch.from_arrays(
                    [
                        pa.array(ids),
                        pa.ListArray.from_arrays(offsets, values),
                        pa.array(["bench"] * rows),
                    ],
                    names=EMBEDDINGS.names,
                )
                for start in range(0, rows, 2000):
                    yield table.slice(start, 2000)

    parts = -(-n // per_part)
    return spark.range(0, parts, 1, min(parts, 8)).mapInArrow(work, EMBEDDINGS.ddl)


def pass_table(spark: Any, sizes: list[tuple[int, int, int]], repeats: int) -> None:
    """Print the times of one pass."""
    print("\n## One pass (milliseconds; in brackets the ratio to the two products in float64)\n")
    print(
        "| n | d | K | products f32 | products f64 | plain NumPy f64 | ours | ours, 8 mixtures "
        "(each) | Spark | Spark / ours |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for n, d, k in sizes:
        if not fits(n, d, 4 if spark else 2):
            continue
        x = clustered(n, d, k)
        data = UnitVectors(x, "bench")
        starts = [
            run.trial
            for run in begin(
                MixtureSetting("spcauchy", k), data.take(slice(0, 4096)), 8, 1, 1e-6, 0
            )
        ]
        wide = x.astype(np.float64) if fits(n, d, 3) else None
        t32 = best_of(lambda x=x, m=starts[0].means: products(x, m, np.float32), repeats)
        t64 = best_of(lambda x=x, m=starts[0].means: products(x, m, np.float64), repeats)
        data.prepare()
        ours = best_of(lambda data=data, p=starts[:1]: in_memory_pass(data, p), repeats)
        eight = best_of(lambda data=data, p=starts: in_memory_pass(data, p), 1) / 8
        plain = (
            best_of(lambda w=wide, p=starts[0]: plain_pass(w, p), repeats)
            if wide is not None
            else float("nan")
        )
        del wide, x, data
        on_spark = float("nan")
        if spark is not None:
            from nes_spark.mixture.stages import SparkVectors

            with SparkVectors(spark_table(spark, n, d, k), n, d, 8) as packed:
                packed.evaluate(starts[:1])
                on_spark = best_of(
                    lambda packed=packed, p=starts[:1]: packed.evaluate(p), max(2, repeats)
                )
        cells = [t32, t64, plain, ours, eight, on_spark]
        shown = " | ".join(f"{1e3 * c:.0f} ({c / t64:.1f})" for c in cells)
        print(f"| {n:,} | {d} | {k} | {shown} | {on_spark / ours:.1f} |", flush=True)


def fit_table(spark: Any, sizes: list[tuple[int, int, int]], heavy: bool) -> None:
    """Print the times of whole fits."""
    print("\n## Whole fits, one start each (seconds; passes or iterations in brackets)\n")
    print("| n | d | K | program | seconds | iterations | result |")
    print("|---|---|---|---|---|---|---|")
    for n, d, k in sizes:
        if not fits(n, d, 8):
            continue
        x = clustered(n, d, k)

        def line(
            program: str,
            seconds: float,
            iterations: Any,
            result: str,
            at: str = f"{n:,} | {d} | {k}",
        ) -> None:
            print(f"| {at} | {program} | {seconds:.2f} | {iterations} | {result} |", flush=True)

        for family in ("spcauchy", "pkb"):
            for accelerate in (True, False):
                began = time.perf_counter()
                m = fit_mixture(x, family, k, accelerate=accelerate)
                line(
                    f"ours, {family}" + ("" if accelerate else ", plain EM"),
                    time.perf_counter() - began,
                    m.n_passes,
                    f"log f {m.log_likelihood:.7g}, converged {m.converged}",
                )
        if importlib.util.find_spec("sklearn"):
            from sklearn.mixture import GaussianMixture

            began = time.perf_counter()
            g = GaussianMixture(k, covariance_type="diag", tol=1e-6, max_iter=500, random_state=0)
            g.fit(x)
            line(
                "scikit-learn GaussianMixture, diagonal",
                time.perf_counter() - began,
                g.n_iter_,
                f"converged {g.converged_}",
            )
        if importlib.util.find_spec("spheroids"):
            spheroids_lines(x, k, line)
        if spark is not None:
            spark_fits(spark, n, d, k, heavy, line)


def spheroids_lines(x: np.ndarray, k: int, line: Callable[..., None]) -> None:
    """Time the package of the method's authors, where it is installed."""
    import spheroids

    for family in ("pkbd", "spcauchy"):
        began = time.perf_counter()
        try:
            result = spheroids.SphericalClustering(
                num_covariates=x.shape[1], num_clusters=k, distribution=family
            )
            value = result.fit(x.astype(np.float64), num_epochs=500)
            text = f"{value!r}"[:40]
        except Exception as error:
            text = f"{type(error).__name__}: {error}"[:60]
        line(f"spheroids, {family}", time.perf_counter() - began, "", text)


def spark_fits(spark: Any, n: int, d: int, k: int, heavy: bool, line: Callable[..., None]) -> None:
    """Time our Spark fit and Spark's own clusterings."""
    from pyspark.ml.clustering import GaussianMixture, KMeans
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import functions as F

    from nes_spark.config import MixtureConfig
    from nes_spark.mixture.stages import fit_mixtures

    table = spark_table(spark, n, d, k).cache()
    table.count()
    config = MixtureConfig(
        family=["spcauchy"], n_components=[k], min_weight=[0.0], n_init=1, in_memory_rows=0
    )
    began = time.perf_counter()
    (m,) = fit_mixtures(table, config, 0).values()
    line(
        "ours on Spark, spcauchy",
        time.perf_counter() - began,
        m.n_passes,
        f"log f {m.log_likelihood:.7g}, converged {m.converged}",
    )
    features = table.select(
        array_to_vector(F.col("vector").cast("array<double>")).alias("features")
    )
    features = features.cache()
    features.count()
    began = time.perf_counter()
    means = KMeans(k=k, seed=1, maxIter=100, tol=1e-6, distanceMeasure="cosine").fit(features)
    line("pyspark.ml KMeans, cosine", time.perf_counter() - began, means.summary.numIter, "")
    if heavy:
        # a full covariance for every component: d^2 numbers each, d^3 operations a step
        began = time.perf_counter()
        try:
            gauss = GaussianMixture(k=k, seed=1, maxIter=3).fit(features)
            line(
                "pyspark.ml GaussianMixture, 3 iterations at most",
                time.perf_counter() - began,
                gauss.summary.numIter,
                "full covariances",
            )
        except Exception as error:
            line(
                "pyspark.ml GaussianMixture", time.perf_counter() - began, "", type(error).__name__
            )
    features.unpersist()
    table.unpersist()


def real_vectors(corpora: Path, most: int) -> np.ndarray | None:
    """Return embeddings of pieces of real calls, a few sentences each."""
    import json

    from nes_spark.embedding import load_embedder
    from nes_spark.text.sentences import split_sentences

    texts = []
    for file in sorted(corpora.glob("*/calls.jsonl")):
        for record in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            for turn in record["turns"]:
                text = turn["text"] if isinstance(turn, dict) else str(turn)
                spans = split_sentences(text)
                for i in range(0, len(spans), 5):
                    piece = text[spans[i][0] : spans[min(i + 4, len(spans) - 1)][1]]
                    if len(piece.split()) >= 40:
                        texts.append(piece)
    if not texts:
        return None
    chosen = np.random.default_rng(0).permutation(len(texts))[:most]
    return load_embedder("bundled").embed([texts[i] for i in sorted(chosen)])


def acceleration_table(corpora: Path, sizes: list[int], starts: int) -> None:
    """Print passes with and without acceleration on real embeddings."""
    print("\n## Acceleration on real calls (mean over starts, relative gain 1e-6)\n")
    x = real_vectors(corpora, max(sizes))
    if x is None:
        print(f"no calls under {corpora}: give --corpora")
        return
    print(
        "| n | d | family | K | passes, plain EM | passes, accelerated | mean log f, plain | "
        "accelerated | best log f, plain | accelerated |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for n in sizes:
        rows = np.random.default_rng(1).permutation(len(x))[:n]
        for family in ("spcauchy", "pkb"):
            for k in (10, 30):
                plain, fast = (
                    fit_mixture(x[rows], family, k, n_init=starts, max_iter=2000, accelerate=a)
                    for a in (False, True)
                )
                passes = [np.mean([r.n_passes for r in m.restarts]) for m in (plain, fast)]
                mean = [np.mean([r.log_likelihood for r in m.restarts]) for m in (plain, fast)]
                print(
                    f"| {len(rows):,} | {x.shape[1]} | {family} | {k} | {passes[0]:.0f} | "
                    f"{passes[1]:.0f} | {mean[0]:.0f} | {mean[1]:.0f} | "
                    f"{plain.log_likelihood:.0f} | {fast.log_likelihood:.0f} |",
                    flush=True,
                )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the smallest sizes only")
    parser.add_argument("--full", action="store_true", help="up to a million vectors; an hour")
    parser.add_argument("--no-spark", action="store_true")
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--only", choices=["pass", "fit", "acceleration"])
    options = parser.parse_args()
    spark = None
    if not options.no_spark:
        from nes_spark.config import SparkConfig
        from nes_spark.session import get_session

        spark = get_session(SparkConfig(driver_memory="4g"), "bench_mixture")
    if options.quick:
        passes, whole = [(2_000, 384, 10), (20_000, 384, 30)], [(2_000, 384, 10)]
    else:
        passes = [(n, d, 30) for d in (384, 1536) for n in (2_000, 20_000, 200_000)]
        passes.insert(0, (2_000, 384, 10))
        whole = [(2_000, 384, 10), (2_000, 1536, 30), (20_000, 384, 30)]
    if options.full:
        passes += [(1_000_000, 384, 10), (1_000_000, 384, 30), (1_000_000, 1536, 30)]
        whole += [(200_000, 384, 30), (1_000_000, 384, 30)]
    print(f"{os.cpu_count()} cores, BLAS threads {os.environ.get('OMP_NUM_THREADS', 'default')}")
    if options.only in (None, "pass"):
        pass_table(spark, passes, 3)
    if options.only in (None, "fit"):
        fit_table(spark, whole, heavy=not options.quick)
    if options.only in (None, "acceleration"):
        acceleration_table(options.corpora, [1_819] if options.quick else [1_819, 6_585], 5)
    if spark is not None:
        spark.stop()


if __name__ == "__main__":
    main()
