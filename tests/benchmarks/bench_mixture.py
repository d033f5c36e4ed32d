"""Mixtures: one pass and whole fits, against the floor, against other programs, on Spark.

    python -m tests.benchmarks.bench_mixture [--quick | --full] [--corpora DIR] [--no-spark]
        [--only pass|fit|acceleration|start] [--limit SECONDS] [--repeats ROUNDS]

Four tables, every ratio between figures of the same run:

* ``pass``: one EM pass over clustered unit vectors. The floor is the two bare matrix products that
  any such pass needs (in the double precision that our kernel computes in, and in single
  precision); then the update of the method written down in plain NumPy, our kernel in memory, our
  kernel for eight mixtures at once, and one pass of our Spark fit.
* ``fit``: whole fits to a relative gain of 1e-6: ours, scikit-learn's GaussianMixture (diagonal),
  pyspark.ml KMeans and GaussianMixture, and spheroids where a developer has installed it beside
  this project. What has not finished within a limit is stopped, and larger sizes are not tried.
* ``acceleration``: passes with and without acceleration on embeddings of real calls.
* ``start``: the best likelihood of four starts against that of plain random rows at equal CPU time,
  on data with 20 clusters and on embeddings of real calls.

Sizes that do not fit into half of the free memory are left out and named.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from nes_spark.mixture import MixtureSetting, fit_mixture
from nes_spark.mixture.em import Parameters, Run, run_all
from nes_spark.mixture.families import FAMILIES
from nes_spark.mixture.fit import begin, in_memory_pass
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


Outcome = tuple[float, int, bool]


def fit_ours(family: str, n: int, d: int, k: int) -> Outcome:
    """Time our fit in memory: seconds, passes, whether it converged."""
    x = clustered(n, d, k)
    began = time.perf_counter()
    model = fit_mixture(x, family, k)
    return time.perf_counter() - began, model.n_passes, model.converged


def fit_spcauchy(n: int, d: int, k: int) -> Outcome:
    """Time ours, spherical Cauchy."""
    return fit_ours("spcauchy", n, d, k)


def fit_pkb(n: int, d: int, k: int) -> Outcome:
    """Time ours, Poisson kernel."""
    return fit_ours("pkb", n, d, k)


def fit_sklearn(n: int, d: int, k: int) -> Outcome:
    """Time scikit-learn's mixture of Gaussians with diagonal covariances."""
    from sklearn.mixture import GaussianMixture

    x = clustered(n, d, k)
    began = time.perf_counter()
    model = GaussianMixture(k, covariance_type="diag", tol=1e-6, max_iter=500, random_state=0)
    model.fit(x)
    return time.perf_counter() - began, model.n_iter_, model.converged_


def fit_spheroids(n: int, d: int, k: int) -> Outcome:
    """Time the package of the method's authors, spherical Cauchy."""
    import spheroids

    x = clustered(n, d, k).astype(np.float64)
    began = time.perf_counter()
    model = spheroids.SphericalClustering(num_covariates=d, num_clusters=k, distribution="spcauchy")
    value = model.fit(x, num_epochs=500)
    return time.perf_counter() - began, 0, bool(np.isfinite(np.asarray(value, dtype=float)).all())


def spark_ours(spark: Any, n: int, d: int, k: int) -> Outcome:
    """Time our fit on Spark, from a table on disk."""
    from nes_spark.config import MixtureConfig
    from nes_spark.mixture.stages import fit_mixtures

    table = spark.read.parquet(str(stored(spark, n, d, k)))
    config = MixtureConfig(
        family=["spcauchy"],
        n_components=[k],
        min_weight=[0.0],
        n_init=1,
        in_memory_rows=0,
        max_concentration=0.999,
    )
    began = time.perf_counter()
    (model,) = fit_mixtures(table, config, 0).values()
    return time.perf_counter() - began, model.n_passes, model.converged


def spark_ml(spark: Any, n: int, d: int, k: int, estimator: Any) -> Outcome:
    """Time a clustering of pyspark.ml, from a table on disk, cached as vectors."""
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import functions as F

    table = spark.read.parquet(str(stored(spark, n, d, k)))
    began = time.perf_counter()
    features = table.select(
        array_to_vector(F.col("vector").cast("array<double>")).alias("features")
    ).cache()
    try:
        model = estimator.fit(features)
        seconds = time.perf_counter() - began
        n_iter = model.summary.numIter
        return seconds, n_iter, n_iter < estimator.getMaxIter()
    finally:
        features.unpersist()


def spark_kmeans(spark: Any, n: int, d: int, k: int) -> Outcome:
    """Time spherical k-means."""
    from pyspark.ml.clustering import KMeans

    estimator = KMeans(k=k, seed=1, maxIter=500, tol=1e-6, distanceMeasure="cosine")
    return spark_ml(spark, n, d, k, estimator)


def spark_gaussian(spark: Any, n: int, d: int, k: int) -> Outcome:
    """Time the mixture of Gaussians with full covariances, the only one there is."""
    from pyspark.ml.clustering import GaussianMixture

    return spark_ml(spark, n, d, k, GaussianMixture(k=k, seed=1, maxIter=500, tol=1e-6))


#: Threads of BLAS as the caller set them.
_GIVEN = {name: os.environ[name] for name in SINGLE_THREADED if name in os.environ}
#: Table of vectors on disk, by size; filled by :func:`stored`.
_STORED: dict[tuple[int, int, int], Path] = {}


def stored(spark: Any, n: int, d: int, k: int) -> Path:
    """Return a Parquet table of vectors for the programs on Spark, written once."""
    if (n, d, k) not in _STORED:
        folder = Path(_SCRATCH.name) / f"{n}-{d}-{k}"
        spark_table(spark, n, d, k).write.parquet(str(folder))
        _STORED[n, d, k] = folder
    return _STORED[n, d, k]


_SCRATCH = tempfile.TemporaryDirectory(prefix="bench-mixture-")


def _child(program: Callable[[int, int, int], Outcome], size: Any, pipe: Any) -> None:
    try:
        pipe.send(program(*size))
    except Exception as error:
        pipe.send(type(error).__name__)


def limited(program: Callable[[int, int, int], Outcome], size: Any, limit: float) -> Any:
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
        return receiver.recv() if receiver.poll(limit + 15 + size[0] * size[1] / 2e7) else None
    except EOFError:
        return "out of memory"
    finally:
        process.kill()
        process.join()


def limited_on_spark(spark: Any, program: Callable[..., Outcome], size: Any, limit: float) -> Any:
    """Run a program on Spark; its jobs are cancelled after the limit."""
    stored(spark, *size)
    done, late = threading.Event(), threading.Event()

    def watch() -> None:
        if not done.wait(limit):
            late.set()
            while not done.wait(0.5):
                spark.sparkContext.cancelAllJobs()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        return program(spark, *size)
    except Exception as error:
        known = "covariance not symmetric" if "Symmetric" in str(error) else type(error).__name__
        return None if late.is_set() else f"failed: {known}"
    finally:
        done.set()
        watcher.join()


def fit_table(spark: Any, sizes: list[tuple[int, int, int]], limit: float) -> None:
    """Print the times of whole fits, one row a size and one column a program."""
    memory = {"ours, spcauchy": fit_spcauchy, "ours, pkb": fit_pkb}
    if importlib.util.find_spec("sklearn"):
        memory["scikit-learn Gaussian, diagonal"] = fit_sklearn
    if importlib.util.find_spec("spheroids"):
        memory["spheroids, spcauchy"] = fit_spheroids
    cluster: dict[str, Callable[..., Outcome]] = {}
    if spark is not None:
        cluster = {
            "ours on Spark, spcauchy": spark_ours,
            "pyspark.ml KMeans": spark_kmeans,
            "pyspark.ml Gaussian, full": spark_gaussian,
        }
    names = [*memory, *cluster]
    print(
        f"\n## Whole fits from one start to a relative gain of 1e-6: seconds (passes); "
        f"not finished within {limit:.0f} s: > {limit:.0f}; * not converged\n"
    )
    print("| n | d | K | two products, ms | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 4) + "|")
    too_slow: dict[str, list[tuple[int, int, int]]] = {name: [] for name in names}

    def shown(name: str, size: tuple[int, int, int]) -> str:
        if any(all(a <= b for a, b in zip(s, size, strict=True)) for s in too_slow[name]):
            return f"> {limit:.0f} (a smaller one was)"
        if name == "pyspark.ml Gaussian, full" and size[1] > 500:
            return f"not tried: {8e-6 * size[2] * size[1] ** 2:.0f} MB of covariances"
        result = (
            limited(memory[name], size, limit)
            if name in memory
            else limited_on_spark(spark, cluster[name], size, limit)
        )
        if result is None or (isinstance(result, tuple) and result[0] > limit):
            too_slow[name].append(size)
            return f"> {limit:.0f}"
        if isinstance(result, str):
            return result
        seconds, passes, converged = result
        counted = f" ({passes})" if passes else ""
        return f"{seconds:.2f}{counted}{'' if converged else ' *'}"

    for n, d, k in sizes:
        if not fits(n, d, 6):
            continue
        x = clustered(n, d, k)
        floor = best_of(partial(products, x, x[:k], np.float64), 3)
        del x
        cells = [shown(name, (n, d, k)) for name in names]
        print(f"| {n:,} | {d} | {k} | {1e3 * floor:.0f} | " + " | ".join(cells) + " |", flush=True)


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


def _from(x: np.ndarray, parameters: Parameters) -> tuple[float, float]:
    """Return the log-likelihood that EM reaches from a start, and its CPU seconds."""
    data = UnitVectors(x, "bench_mixture")
    data.prepare()
    run = Run(parameters, max_radius=CEILING)
    began = time.process_time()
    run_all([run], lambda mixtures: in_memory_pass(data, mixtures))
    return run.log_likelihood, time.process_time() - began


def _random_rows(x: np.ndarray, family: str, k: int, rng: np.random.Generator) -> Parameters:
    rows = rng.choice(len(x), k, replace=False)
    low = FAMILIES[family].start(np.array([0.3]), x.shape[1], CEILING)[0]
    return Parameters(family, np.full(k, -np.log(k)), x[rows].copy(), np.full(k, float(low)))


def _twenty_clusters(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(20, 64))
    centres /= np.linalg.norm(centres, axis=1)[:, None]
    weights = rng.dirichlet(np.full(20, 3.0))
    x = centres[rng.choice(20, 1_500, p=weights)]
    x = x + rng.uniform(0.05, 0.16) * rng.normal(size=x.shape)
    return x / np.linalg.norm(x, axis=1)[:, None]


def start_table(corpora: Path, sets: int, starts: int = 4) -> None:
    """Print how the package's starts compare with random rows that may take as much CPU time."""
    print(f"\n## Best of {starts} starts against random rows at equal CPU time\n")
    print("| data | family | K | data sets | gain of ours in log-likelihood | lower in |")
    print("|---|---|---|---|---|---|", flush=True)
    real = real_vectors(corpora, 3 * 1_652)
    kinds = [("20 clusters", [_twenty_clusters(seed) for seed in range(sets)])]
    if real is not None:
        parts = [np.unique(real[i::3].astype(np.float64), axis=0) for i in range(3)]
        parts = [part / np.linalg.norm(part, axis=1)[:, None] for part in parts]
        kinds.append(("real calls", parts))
    for name, data in kinds:
        for family in FAMILIES:
            for k in (8, 10, 30):
                gains = []
                for number, x in enumerate(data):
                    rng = np.random.default_rng(number)
                    ours = [
                        _from(x, begin_at(x, family, k, CEILING, rng)[0]) for _ in range(starts)
                    ]
                    left = sum(seconds for _, seconds in ours)
                    best = -np.inf
                    while left > 0:
                        value, seconds = _from(x, _random_rows(x, family, k, rng))
                        best, left = max(best, value), left - seconds
                    top = max(value for value, _ in ours)
                    gains.append((top - best) / abs(best))
                print(
                    f"| {name} | {family} | {k} | {len(data)} | {np.mean(gains):+.2%} | "
                    f"{sum(g < -1e-9 for g in gains)} |",
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
        fit_table(spark, whole, limit)
    if options.only in (None, "acceleration"):
        acceleration_table(options.corpora, [1_819] if options.quick else [1_819, 6_585], 5)
    if options.only in (None, "start"):
        start_table(options.corpora, 4 if options.quick else 12)
    print(f"\nload after {os.getloadavg()[0]:.1f}")
    if spark is not None:
        spark.stop()


if __name__ == "__main__":
    main()
