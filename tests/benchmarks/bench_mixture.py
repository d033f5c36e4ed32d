"""Mixtures: one pass and whole fits, against the floor, against other programs, on Spark.

    python -m tests.benchmarks.bench_mixture [--quick | --full] [--corpora DIR] [--no-spark]
        [--only pass|fit|acceleration|start] [--real] [--limit SECONDS] [--repeats ROUNDS]

Four tables, every ratio between figures of the same run:

* ``pass``: one EM pass over clustered unit vectors. The floor is the two bare matrix products that
  any such pass needs (in the double precision that our kernel computes in, and in single
  precision); then the update of the method written down in plain NumPy, our kernel in memory, our
  kernel for eight mixtures at once, and one pass of our Spark fit.
* ``fit``: whole fits to a relative gain of 1e-6 on 6,585 embeddings of real calls and (without
  ``--real``) on clustered vectors: ours, spheroids where it is installed (see docs/speed.md),
  scikit-learn's GaussianMixture (diagonal), pyspark.ml KMeans and GaussianMixture. What has not
  finished within a limit is stopped, and larger sizes are not tried.
* ``acceleration``: passes with and without acceleration on embeddings of real calls.
* ``start``: the best likelihood of four starts against that of plain random rows at equal work, on
  data with 20 clusters and on embeddings of real calls.

Sizes that do not fit into half of the free memory are left out and named.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nes_spark.mixture import MixtureSetting, fit_mixture
from nes_spark.mixture.em import Parameters, Run, Statistics, run_all
from nes_spark.mixture.families import FAMILIES
from nes_spark.mixture.fit import begin, in_memory_pass
from nes_spark.mixture.initial import is_thinned, n_centres
from nes_spark.mixture.initial import start as begin_at
from nes_spark.mixture.vectors import UnitVectors
from nes_spark.session import SINGLE_THREADED

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"


#: Ceiling of the concentration, as in the configuration (mixture.max_concentration).
CEILING = 0.9
#: Vectors that are made at a time, each part from a seed of its own.
PART = 20_000


def clustered(n: int, d: int, k: int) -> np.ndarray:
    """Return n float32 unit vectors around k centres; on Spark the same are made part by part."""
    x = np.empty((n, d), dtype=np.float32)
    for number, start in enumerate(range(0, n, PART)):
        x[start : start + PART] = part_of(number, min(PART, n - start), d, k)
    return x


def part_of(number: int, rows: int, d: int, k: int) -> np.ndarray:
    """Return one part of the vectors."""
    centres = np.random.default_rng([k, d]).standard_normal((k, d), dtype=np.float32)
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    rng = np.random.default_rng([k, d, number])
    part = rng.standard_normal((rows, d), dtype=np.float32)
    part *= np.float32(1.7 / np.sqrt(d))
    part += centres[rng.integers(k, size=rows)]
    part /= np.linalg.norm(part, axis=1, keepdims=True)
    return part


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
    """Return the same vectors as an embeddings table, made on the executors."""
    from nes_spark.schemas import EMBEDDINGS

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for number in batch.column("id").to_pylist():
                rows = min(PART, n - number * PART)
                x = part_of(number, rows, d, k)
                values = pa.array(x.ravel(), pa.float32())
                offsets = pa.array(np.arange(0, rows * d + 1, d), pa.int32())
                ids = [f"doc{i % 97}#{number * PART + i:09d}" for i in range(rows)]
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

    parts = -(-n // PART)
    return spark.range(0, parts, 1, min(parts, 8)).mapInArrow(work, EMBEDDINGS.ddl)


def pass_table(spark: Any, sizes: list[tuple[int, int, int]], repeats: int) -> None:
    """Print the times of one pass."""
    print(
        f"\n## One pass (milliseconds, the least of {repeats} rounds that take turns; in brackets "
        "the ratio to the two products in float64)\n"
    )
    print(
        "| n | d | K | products f32 | products f64 | plain NumPy f64 | ours | ours, 8 mixtures "
        "(each) | Spark | Spark / ours |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for n, d, k in sizes:
        if not fits(n, d, 5 if spark else 3):
            continue
        x = clustered(n, d, k)
        data = UnitVectors(x, "bench")
        starts = [
            run.trial
            for run in begin(
                MixtureSetting("spcauchy", k), data.take(slice(0, 4096)), 8, 1, 1e-6, 0
            )
        ]
        data.prepare()
        one = starts[:1]
        actions: dict[str, Callable[[], Any]] = {
            "f32": partial(products, x, starts[0].means, np.float32),
            "f64": partial(products, x, starts[0].means, np.float64),
            "ours": partial(in_memory_pass, data, one),
        }
        with ExitStack() as stack:
            if spark is not None:
                from nes_spark.mixture.passes_stages import SparkVectors

                packed = stack.enter_context(SparkVectors(spark_table(spark, n, d, k), n, d))
                for _ in range(3):  # the JVM compiles what it runs often
                    packed.evaluate(one)
                actions["spark"] = partial(packed.evaluate, one)
            times: dict[str, list[float]] = {name: [] for name in actions}
            for _ in range(repeats):
                for name, action in actions.items():
                    times[name].append(best_of(action, 1))
        eight = best_of(partial(in_memory_pass, data, starts), 1) / 8
        least = {name: min(values) for name, values in times.items()}
        plain = float("nan")
        if fits(n, d, 4):
            wide = x.astype(np.float64)
            plain = best_of(partial(plain_pass, wide, starts[0]), 2)
            del wide
        del x, data, actions
        on_spark = least.get("spark", float("nan"))
        cells = [least["f32"], least["f64"], plain, least["ours"], eight, on_spark]
        shown = " | ".join(f"{1e3 * c:.0f} ({c / least['f64']:.1f})" for c in cells)
        print(f"| {n:,} | {d} | {k} | {shown} | {on_spark / least['ours']:.1f} |", flush=True)


class Size(NamedTuple):
    """How many vectors of what length, how many components; real vectors from a file."""

    n: int
    d: int
    k: int
    file: str = ""

    def vectors(self) -> np.ndarray:
        """Return the vectors, float32."""
        return np.load(self.file) if self.file else clustered(self.n, self.d, self.k)


class Outcome(NamedTuple):
    """What a whole fit took and reached; the log-likelihood where it is relative to uniform."""

    seconds: float
    passes: int
    converged: bool
    log_likelihood: float = math.nan


def timed(fit: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least time of a fit, repeated while that costs less than three seconds."""
    times: list[float] = []
    while not times or (sum(times) < 3.0 and len(times) < 7):
        began = time.perf_counter()
        result = fit()
        times.append(time.perf_counter() - began)
    return min(times), result


def fit_ours(family: str, size: Size) -> Outcome:
    """Time our fit in memory."""
    x = size.vectors()
    seconds, model = timed(lambda: fit_mixture(x, family, size.k))
    return Outcome(seconds, model.n_passes, model.converged, model.log_likelihood)


def fit_sklearn(size: Size) -> Outcome:
    """Time scikit-learn's mixture of Gaussians with diagonal covariances."""
    from sklearn.mixture import GaussianMixture

    x = size.vectors()

    def fit() -> Any:
        chosen = {"covariance_type": "diag", "tol": 1e-6, "max_iter": 500, "random_state": 0}
        return GaussianMixture(size.k, **chosen).fit(x)

    seconds, model = timed(fit)
    return Outcome(seconds, model.n_iter_, model.converged_)


def fit_spheroids(distribution: str, size: Size) -> Outcome:
    """Time the package of the method's authors, EM without covariates; no component is removed."""
    import spheroids

    x = size.vectors().astype(np.float64)
    x /= np.linalg.norm(x, axis=1)[:, None]

    def fit() -> Any:
        model = spheroids.SphericalClustering(
            1, size.d, size.k, distribution=distribution, min_weight=0.0
        )
        model.fit_no_covariates(x, num_epochs=500, tol=1e-6)
        return model

    seconds, model = timed(fit)
    value = float(model.loglik)
    return Outcome(seconds, 0, math.isfinite(value), value)


def spark_ours(spark: Any, size: Size) -> Outcome:
    """Time our fit on Spark, from a table on disk."""
    from nes_spark.config import MixtureConfig
    from nes_spark.mixture.stages import fit_mixtures

    table = spark.read.parquet(str(stored(spark, size)))
    config = MixtureConfig(
        family=["spcauchy"],
        n_components=[size.k],
        min_weight=[0.0],
        n_init=1,
        in_memory_rows=0,
        max_concentration=0.999,
    )
    began = time.perf_counter()
    (model,) = fit_mixtures(table, config, 0).values()
    seconds = time.perf_counter() - began
    return Outcome(seconds, model.n_passes, model.converged, model.log_likelihood)


def spark_ml(spark: Any, size: Size, estimator: Any) -> Outcome:
    """Time a clustering of pyspark.ml, from a table on disk, cached as vectors."""
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import functions as F

    table = spark.read.parquet(str(stored(spark, size)))
    began = time.perf_counter()
    features = table.select(
        array_to_vector(F.col("vector").cast("array<double>")).alias("features")
    ).cache()
    try:
        model = estimator.fit(features)
        seconds = time.perf_counter() - began
        n_iter = model.summary.numIter
        return Outcome(seconds, n_iter, n_iter < estimator.getMaxIter())
    finally:
        features.unpersist()


def spark_kmeans(spark: Any, size: Size) -> Outcome:
    """Time spherical k-means."""
    from pyspark.ml.clustering import KMeans

    estimator = KMeans(k=size.k, seed=1, maxIter=500, tol=1e-6, distanceMeasure="cosine")
    return spark_ml(spark, size, estimator)


def spark_gaussian(spark: Any, size: Size) -> Outcome:
    """Time the mixture of Gaussians with full covariances, the only one there is."""
    from pyspark.ml.clustering import GaussianMixture

    return spark_ml(spark, size, GaussianMixture(k=size.k, seed=1, maxIter=500, tol=1e-6))


#: Threads of BLAS as the caller set them.
_GIVEN = {name: os.environ[name] for name in SINGLE_THREADED if name in os.environ}
#: Table of vectors on disk, by size; filled by :func:`stored`.
_STORED: dict[tuple[int, int, str], Path] = {}


def stored(spark: Any, size: Size) -> Path:
    """Return a Parquet table of vectors for the programs on Spark, written once."""
    # real vectors are the same for every number of components
    key = (size.n, 0 if size.file else size.k, f"{size.d}-{size.file}")
    if key not in _STORED:
        folder = Path(_SCRATCH.name) / f"{len(_STORED)}"
        if size.file:
            import pandas as pd

            from nes_spark.schemas import EMBEDDINGS

            x = size.vectors()
            ids = [f"doc{i % 97}#{i:09d}" for i in range(len(x))]
            frame = pd.DataFrame({"chunk_id": ids, "vector": list(x), "model_id": "bench"})
            spark.createDataFrame(frame, EMBEDDINGS.ddl).write.parquet(str(folder))
        else:
            spark_table(spark, size.n, size.d, size.k).write.parquet(str(folder))
        _STORED[key] = folder
    return _STORED[key]


_SCRATCH = tempfile.TemporaryDirectory(prefix="bench-mixture-")


def _child(program: Callable[[Size], Outcome], size: Size, pipe: Any) -> None:
    try:
        pipe.send(program(size))
    except Exception as error:
        pipe.send(type(error).__name__)


def limited(program: Callable[[Size], Outcome], size: Size, limit: float) -> Any:
    """Run a program in a process of its own; None when it has not finished within the limit."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(program, size, sender), daemon=True)
    # the session of Spark holds the BLAS of its own workers to one thread; this is none of them
    held = {name: os.environ.pop(name, None) for name in SINGLE_THREADED}
    os.environ.update(_GIVEN)
    try:
        process.start()
    finally:
        os.environ.update({name: value for name, value in held.items() if value is not None})
    sender.close()
    try:
        # the time to start and to make the data is not the program's
        return receiver.recv() if receiver.poll(limit + 60 + size[0] * size[1] / 2e7) else None
    except EOFError:
        return "out of memory"
    finally:
        process.kill()
        process.join()


def limited_on_spark(spark: Any, program: Callable[..., Outcome], size: Size, limit: float) -> Any:
    """Run a program on Spark; its jobs are cancelled after the limit."""
    stored(spark, size)
    done, late = threading.Event(), threading.Event()

    def watch() -> None:
        if not done.wait(limit):
            late.set()
            while not done.wait(0.5):
                spark.sparkContext.cancelAllJobs()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        return program(spark, size)
    except Exception as error:
        known = "covariance not symmetric" if "Symmetric" in str(error) else type(error).__name__
        return None if late.is_set() else f"failed: {known}"
    finally:
        done.set()
        watcher.join()


def fit_table(spark: Any, sizes: list[Size], limit: float, data: str) -> None:
    """Print the times of whole fits, one row a size and one column a program."""
    memory: dict[str, Callable[[Size], Outcome]] = {
        "ours, spcauchy": partial(fit_ours, "spcauchy"),
        "ours, pkb": partial(fit_ours, "pkb"),
    }
    if importlib.util.find_spec("spheroids"):
        memory["spheroids, spcauchy"] = partial(fit_spheroids, "spcauchy")
        memory["spheroids, pkb"] = partial(fit_spheroids, "pkbd")
    else:
        print("\nspheroids is not installed: docs/speed.md says how")
    if importlib.util.find_spec("sklearn"):
        memory["scikit-learn Gaussian, diagonal"] = fit_sklearn
    cluster: dict[str, Callable[..., Outcome]] = {}
    if spark is not None:
        cluster = {
            "ours on Spark, spcauchy": spark_ours,
            "pyspark.ml KMeans": spark_kmeans,
            "pyspark.ml Gaussian, full": spark_gaussian,
        }
    names = [*memory, *cluster]
    print(
        f"\n## Whole fits, {data}, from one start to a relative gain of 1e-6: seconds (passes), "
        f"log-likelihood relative to uniform; not finished within {limit:.0f} s: > {limit:.0f}; "
        "* not converged\n"
    )
    print("| n | d | K | two products, ms | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 4) + "|")
    too_slow: dict[str, list[Size]] = {name: [] for name in names}

    def shown(name: str, size: Size) -> str:
        if any(all(a <= b for a, b in zip(s[:3], size[:3], strict=True)) for s in too_slow[name]):
            return f"> {limit:.0f} (a smaller one was)"
        if name == "pyspark.ml Gaussian, full" and size.d > 500:
            return f"not tried: {8e-6 * size.k * size.d**2:.0f} MB of covariances"
        result = (
            limited(memory[name], size, limit)
            if name in memory
            else limited_on_spark(spark, cluster[name], size, limit)
        )
        if result is None or (isinstance(result, Outcome) and result.seconds > limit):
            too_slow[name].append(size)
            return f"> {limit:.0f}"
        if isinstance(result, str):
            return result
        counted = f" ({result.passes})" if result.passes else ""
        reached = "" if math.isnan(result.log_likelihood) else f", {result.log_likelihood:,.0f}"
        return f"{result.seconds:.2f}{counted}{'' if result.converged else ' *'}{reached}"

    for size in sizes:
        if not fits(size.n, size.d, 6):
            continue
        x = size.vectors()
        floor = best_of(partial(products, x, x[: size.k], np.float64), 3)
        del x
        print(f"| {size.n:,} | {size.d} | {size.k} | {1e3 * floor:.0f} |", end="", flush=True)
        for name in names:
            print(f" {shown(name, size)} |", end="", flush=True)
        print(flush=True)


def real_fit_table(spark: Any, corpora: Path, limit: float) -> None:
    """Print the times of whole fits of embeddings of real calls."""
    x = real_vectors(corpora, 6_585)
    if x is None:
        print(f"no calls under {corpora}: give --corpora")
        return
    file = Path(_SCRATCH.name) / "real.npy"
    np.save(file, x)
    sizes = [Size(len(x), x.shape[1], k, str(file)) for k in (10, 30)]
    fit_table(spark, sizes, limit, "pieces of real calls")


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


class Counted:
    """Vectors in memory that count the work of the passes over them.

    The unit is a row under one component: the two products with the vectors and what is computed of
    their result. Unlike processor time it does not depend on what else the machine does.
    """

    def __init__(self, x: np.ndarray) -> None:
        self.data = UnitVectors(x, "bench_mixture")
        self.data.prepare()
        self.work = 0.0

    def __call__(self, mixtures: list[Parameters]) -> list[Statistics]:
        self.work += self.data.n * sum(m.n_components for m in mixtures)
        return in_memory_pass(self.data, mixtures)


#: Log-likelihood that EM reaches, its work and its processor seconds, with those of its start.
Reached = tuple[float, float, float]


def _from(x: np.ndarray, choose: Callable[[Counted], Parameters]) -> Reached:
    counted = Counted(x)
    began = time.process_time()
    run = Run(choose(counted), max_radius=CEILING)
    run_all([run], counted)
    return run.log_likelihood, counted.work, time.process_time() - began


def _our_start(
    counted: Counted, family: str, k: int, thinned: bool, rng: np.random.Generator
) -> Parameters:
    x = counted.data.take(slice(None))
    if thinned:
        # drawing spread-out rows: one product for each instead of two
        counted.work += 0.5 * counted.data.n * n_centres(k)
    return begin_at(x, family, k, CEILING, rng, thinned, counted)[0]


def _random_rows(x: np.ndarray, family: str, k: int, rng: np.random.Generator) -> Parameters:
    rows = rng.choice(len(x), k, replace=False)
    low = FAMILIES[family].start(np.array([0.3]), x.shape[1], CEILING)[0]
    return Parameters(family, np.full(k, -np.log(k)), x[rows].copy(), np.full(k, float(low)))


#: Seeds of data and of fits begin here: those below 100 were looked at when starts were chosen.
HELD_OUT = 100


def _twenty_clusters(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(20, 64))
    centres /= np.linalg.norm(centres, axis=1)[:, None]
    weights = rng.dirichlet(np.full(20, 3.0))
    x = centres[rng.choice(20, 1_500, p=weights)]
    x = x + rng.uniform(0.05, 0.16) * rng.normal(size=x.shape)
    return x / np.linalg.norm(x, axis=1)[:, None]


def expected_best(pools: list[tuple[list[float], int]]) -> float:
    """Return the mean of the greatest value over all choices of so many from each pool."""
    values = np.sort(np.concatenate([pool for pool, _ in pools]))
    below = np.ones(len(values))  # share of choices that are all at or below a value
    for pool, count in pools:
        known = np.searchsorted(np.sort(pool), values, side="right")
        below *= [math.comb(int(m), count) / math.comb(len(pool), count) for m in known]
    return float(np.diff(below, prepend=0.0) @ values)


def compare_starts(
    x: np.ndarray, family: str, k: int, seed: int, starts: int
) -> tuple[float, float, float]:
    """Return the relative gain over random rows, and the work and the seconds of a fit.

    Both are relative to those of a fit from random rows. Each principle is tried twice as often as
    it is used.
    """
    rng = np.random.default_rng(seed)
    uses = [is_thinned(restart) for restart in range(starts)]
    ours = {
        thinned: [
            _from(x, lambda c, t=thinned: _our_start(c, family, k, t, rng))
            for _ in range(2 * uses.count(thinned))
        ]
        for thinned in dict.fromkeys(uses)
    }
    rows = [_from(x, lambda _: _random_rows(x, family, k, rng)) for _ in range(3 * starts)]

    def relative(column: int) -> float:
        mine = [fit[column] for pool in ours.values() for fit in pool]
        return float(np.mean(mine) / np.mean([r[column] for r in rows]))

    while len(rows) < 2 * starts * relative(1):
        rows.append(_from(x, lambda _: _random_rows(x, family, k, rng)))
    pool, allowed = [r[0] for r in rows], starts * relative(1)
    whole = max(1, math.floor(allowed))
    theirs = expected_best([(pool, whole)])
    # half a fit more: one more in every second case
    theirs += max(0.0, allowed - whole) * (expected_best([(pool, whole + 1)]) - theirs)
    best = expected_best([([f[0] for f in p], uses.count(t)) for t, p in ours.items()])
    return (best - theirs) / abs(theirs), relative(1), relative(2)


def start_table(corpora: Path, sets: int, parts: int, starts: int = 4) -> None:
    """Print how the package's starts compare with random rows that may do as much work."""
    print(
        f"\n## Best of {starts} starts against random rows at equal work\n\n"
        "Gain: mean over data sets of the relative difference in log-likelihood, with its standard "
        "error.\nEach side's best is the mean over choices from a pool of fits; work: rows times "
        "components\nof all passes, those of the start included.\n"
    )
    print(
        "| data | family | K | data sets | gain of ours | lower by more than .2 % in | "
        "work of one fit / of one from random rows | CPU seconds, the same |"
    )
    print("|---|---|---|---|---|---|---|---|", flush=True)
    kinds = [("20 clusters", [_twenty_clusters(HELD_OUT + seed) for seed in range(sets)])]
    real = real_vectors(corpora, 6 * 1_567)
    if real is None:
        print(f"no calls under {corpora}: give --corpora")
    else:
        shares = [np.unique(real[i::6].astype(np.float64), axis=0) for i in range(parts)]
        shares = [share / np.linalg.norm(share, axis=1)[:, None] for share in shares]
        kinds.append(("real calls", shares))
    for name, data in kinds:
        for family in FAMILIES:
            for k in (8, 10, 30):
                found = np.array(
                    [
                        compare_starts(x, family, k, HELD_OUT + number, starts)
                        for number, x in enumerate(data)
                    ]
                )
                gains = found[:, 0]
                error = gains.std(ddof=1) / math.sqrt(len(gains)) if len(gains) > 1 else math.nan
                print(
                    f"| {name} | {family} | {k} | {len(data)} | {gains.mean():+.2%} ± {error:.2%} "
                    f"| {int((gains < -0.002).sum())} | {found[:, 1].mean():.2f} | "
                    f"{found[:, 2].mean():.2f} |",
                    flush=True,
                )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="the smallest sizes only")
    parser.add_argument("--full", action="store_true", help="up to a million vectors; an hour")
    parser.add_argument("--size", action="append", help="N,D,K instead of the usual sizes")
    parser.add_argument("--limit", type=float, help="seconds a whole fit may take: 45, full 300")
    parser.add_argument("--repeats", type=int, default=5, help="rounds of the pass table")
    parser.add_argument("--real", action="store_true", help="whole fits of real vectors only")
    parser.add_argument("--no-spark", action="store_true")
    parser.add_argument("--corpora", type=Path, default=CORPORA)
    parser.add_argument("--only", choices=["pass", "fit", "acceleration", "start"])
    options = parser.parse_args()
    spark = None
    if not options.no_spark and options.only not in ("acceleration", "start"):
        from nes_spark.config import SparkConfig
        from nes_spark.session import get_session

        spark = get_session(SparkConfig(driver_memory="4g"), "bench_mixture")
        spark.sparkContext.setLogLevel("OFF")
    if options.quick:
        passes, whole = [(2_000, 384, 10), (20_000, 384, 30)], [(2_000, 384, 10)]
    else:
        passes = [(n, 384, 30) for n in (2_000, 20_000, 50_000, 200_000, 500_000)]
        passes += [(n, 1536, 30) for n in (2_000, 20_000, 200_000)]
        whole = [(2_000, d, k) for d in (384, 1536) for k in (10, 30)]
        whole += [(20_000, 384, 10), (20_000, 384, 30), (20_000, 1536, 30), (200_000, 384, 30)]
    if options.full:
        passes += [(1_000_000, 384, 10), (1_000_000, 384, 30), (1_000_000, 1536, 30)]
        whole += [(200_000, 384, 10), (200_000, 1536, 30)]
        whole += [(1_000_000, 384, 10), (1_000_000, 384, 30), (1_000_000, 1536, 30)]
    if options.size:
        n_d_k = [tuple(int(part) for part in size.split(",")) for size in options.size]
        passes = whole = [(n, d, k) for n, d, k in n_d_k]
    limit = options.limit or (300.0 if options.full else 45.0)
    load = os.getloadavg()[0]
    print(
        f"{os.cpu_count()} cores, load before {load:.1f}, BLAS threads "
        f"{_GIVEN.get('OMP_NUM_THREADS', 'default')} (one in each worker of Spark)"
    )
    if options.only in (None, "pass"):
        pass_table(spark, passes, options.repeats)
    if options.only in (None, "fit"):
        if not options.size:
            real_fit_table(spark, options.corpora, options.limit or 300.0)
        if not options.real:
            fit_table(spark, [Size(*size) for size in whole], limit, "clustered vectors")
    if options.only in (None, "acceleration"):
        acceleration_table(options.corpora, [1_819] if options.quick else [1_819, 6_585], 5)
    if options.only in (None, "start"):
        start_table(options.corpora, *((4, 2) if options.quick else (12, 6)))
    print(f"\nload after {os.getloadavg()[0]:.1f}")
    if spark is not None:
        spark.stop()


if __name__ == "__main__":
    main()
