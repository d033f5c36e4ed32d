"""Embedders on real calls: how near to MiniLM they are, and how fast on Spark.

    python -m tests.benchmarks.bench_embedding quality --corpora DIR --work DIR [--documents 12]
    python -m tests.benchmarks.bench_embedding speed --corpora DIR

``quality`` uses calls that the bundled vectors were not trained on
(:func:`nes_spark.embedding.distill.held_out`) and needs MiniLM, the yardstick (the extra
``distill``); it takes a few minutes, and what MiniLM says is kept in the working folder. ``speed``
needs nothing but the project. Single-threaded BLAS (``OMP_NUM_THREADS=1``) makes the ratio of
``speed`` a fair one.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nes_spark.embedding import load_embedder
from nes_spark.embedding.distill import held_out, teach
from nes_spark.embedding.lsa import fit_lsa
from nes_spark.embedding.static import StaticEmbedder
from nes_spark.text.chunking import breakpoints, chunk_spans
from nes_spark.text.sentences import split_sentences

Embed = Callable[[Sequence[str]], np.ndarray]
SWAPPED = {"ORG": "ORG", "PERSON": "PERSON", "PRODUCT": "PRODUCT", "GPE": "LOC", "LOC": "LOC"}


class Document:
    """A call: its text, sentences, and the entities that a machine found in it (earnings21)."""

    def __init__(self, name: str, turns: Sequence[str], entities: dict[int, list[Any]]) -> None:
        self.name = name
        self.text = "\n".join(turns)
        starts = np.concatenate([[0], np.cumsum([len(t) + 1 for t in turns])])
        self.entities = sorted(
            (int(starts[i]) + a, int(starts[i]) + b, SWAPPED[label])
            for i, found in entities.items()
            for a, b, label in found
            if label in SWAPPED
        )
        spans = split_sentences(self.text)
        self.sentences = [self.text[a:b] for a, b in spans]
        self.windows = [
            "".join(self.sentences[max(0, i - 1) : i + 2]) for i in range(len(self.sentences))
        ]


def read(corpora: Path, held: bool | None = True, limit: int | None = None) -> list[Document]:
    """Return calls; ``limit`` of each corpus at most."""
    out = []
    for path in sorted(corpora.glob("*/calls.jsonl")):
        entities: dict[str, dict[int, list[Any]]] = {}
        if (path.parent / "entities.jsonl").exists():
            for line in (path.parent / "entities.jsonl").open(encoding="utf-8"):
                record = json.loads(line)
                entities.setdefault(record["document_id"], {})[record["turn"]] = record["entities"]
        taken = 0
        for line in path.open(encoding="utf-8"):
            record = json.loads(line)
            name = str(record["document_id"])
            if (held is None or held_out(name) == held) and (limit is None or taken < limit):
                turns = [turn["text"] for turn in record["turns"]]
                out.append(Document(name, turns, entities.get(name, {})))
                taken += 1
    return out


def kept(embed: Embed, texts: Iterable[str]) -> Callable[[Sequence[str]], np.ndarray]:
    """Embed all texts now; return a function that looks them up."""
    distinct = list(dict.fromkeys(texts))
    at = {t: i for i, t in enumerate(distinct)}
    rows = np.asarray(embed(distinct), dtype=np.float32)
    return lambda some: rows[[at[t] for t in some]]


def f1(found: set[Any], true: set[Any]) -> float:
    """F1 of two sets."""
    return 2 * len(found & true) / max(1, len(found) + len(true))


def breaks(documents: Sequence[Document], vectors: Any, windows: bool) -> set[tuple[str, int]]:
    """Breakpoints at the 75th percentile."""
    out = set()
    for document in documents:
        rows = vectors(document.windows if windows else document.sentences).astype(np.float64)
        distances = 1.0 - np.einsum("ij,ij->i", rows[:-1], rows[1:])
        out |= {(document.name, t) for t in breakpoints(distances, 75)}
    return out


def exchange(
    documents: Sequence[Document], chunks: Sequence[tuple[int, int, int]], labels: np.ndarray
) -> tuple[list[int], list[str]]:
    """Swap entities of one or two kinds between chunks of other calls in the same cluster.

    Returns the positions of the swapped chunks and their texts after it.
    """
    rng = random.Random(5)
    inside = []
    for d, a, b in chunks:
        spans = [e for e in documents[d].entities if a <= e[0] and e[1] <= b]
        inside.append(spans)
    order = list(range(len(chunks)))
    rng.shuffle(order)
    used: set[int] = set()
    where: list[int] = []
    after: list[str] = []
    for i in order:
        for j in order:
            common = {x[2] for x in inside[i]} & {x[2] for x in inside[j]}
            if (
                i >= j
                or used & {i, j}
                or not common
                or labels[i] != labels[j]
                or chunks[i][0] == chunks[j][0]
            ):
                continue
            kinds = set(rng.sample(sorted(common), min(2, len(common))))
            for one, other in ((i, j), (j, i)):
                d, a, b = chunks[one]
                text = documents[d].text[a:b]
                pool = {k: [x for x in inside[other] if x[2] == k] for k in kinds}
                for n, (s, e, kind) in reversed(list(enumerate(inside[one]))):
                    if kind in kinds:
                        ps, pe, _ = pool[kind][n % len(pool[kind])]
                        new = documents[chunks[other][0]].text[ps:pe]
                        text = text[: s - a] + new + text[e - a :]
                where.append(one)
                after.append(text)
            used |= {i, j}
            break
    return where, after


def quality(corpora: Path, work: Path, limit: int, models: dict[str, str], seeds: int) -> None:
    """Print the table of the model card."""
    from scipy.stats import spearmanr
    from sklearn.metrics import adjusted_mutual_info_score

    from nes_spark.mixture import fit_mixture

    documents = read(corpora, True, limit)
    sentences = [s for d in documents for s in d.sentences]
    windows = [w for d in documents for w in d.windows]
    print(f"{len(documents)} calls, {len(sentences):,} sentences")
    minilm = kept(lambda texts: teach(texts, work, half=False), [*sentences, *windows])
    spans = [
        (d, a, b)
        for d, document in enumerate(documents)
        for a, b in chunk_spans(document.text, _windows_of(minilm), 75, 1)
    ]
    chunks = [documents[d].text[a:b] for d, a, b in spans]
    minilm_chunks = kept(lambda texts: teach(texts, work, half=False), chunks)
    reference = [
        fit_mixture(minilm_chunks(chunks), "pkb", 10, n_init=3, seed=s) for s in range(seeds)
    ]
    clusters = [m.predict(minilm_chunks(chunks)) for m in reference]
    where, after = exchange(documents, spans, clusters[0])
    minilm_after = kept(lambda texts: teach(texts, work, half=False), after)
    print(f"{len(chunks):,} chunks, {len(after):,} of them swapped")

    embedders: dict[str, Any] = {"LSA 256, fitted on these calls": fit_lsa(sentences)}
    for name, path in models.items():
        embedders[name] = StaticEmbedder(path) if path else load_embedder("bundled")
    rng = np.random.default_rng(0)
    long = np.flatnonzero([len(s.split()) > 3 for s in sentences])
    pairs = rng.choice(long, (20_000, 2))
    near = np.stack([long[:-1], long[1:]], axis=1)
    near = near[near[:, 1] - near[:, 0] == 1]
    some = rng.integers(0, len(chunks), (20_000, 2))
    truth = {w: breaks(documents, minilm, w) for w in (False, True)}

    def cosines(rows: np.ndarray, at: np.ndarray) -> np.ndarray:
        return np.einsum("ij,ij->i", rows[at[:, 0]], rows[at[:, 1]])

    def line(name: str, lookup: Any, chunk_rows: np.ndarray, after_rows: np.ndarray) -> None:
        exact, fit = minilm(sentences), lookup(sentences)
        cells = [f"{spearmanr(cosines(exact, p), cosines(fit, p))[0]:.2f}" for p in (pairs, near)]
        both = minilm_chunks(chunks), chunk_rows
        cells.append(f"{spearmanr(*(cosines(r, some) for r in both))[0]:.2f}")
        cells += [f"{f1(breaks(documents, lookup, w), truth[w]):.2f}" for w in (False, True)]
        own = [fit_mixture(chunk_rows, "pkb", 10, n_init=3, seed=s) for s in range(seeds)]
        amis = [
            adjusted_mutual_info_score(c, m.predict(chunk_rows))
            for i, m in enumerate(own)
            for j, c in enumerate(clusters)
            if name != "MiniLM" or i != j
        ]
        cells.append(f"{np.mean(amis):.2f}")
        model, labels = own[0], own[0].predict(chunk_rows)
        total = model.log_density(chunk_rows)[np.arange(len(chunks)), labels].sum()
        before = model.log_density(chunk_rows[where])[np.arange(len(where)), labels[where]]
        later = model.log_density(after_rows)[np.arange(len(where)), labels[where]]
        cells.append(f"{100 * (later - before).sum() / total / (len(where) / 2):.4f}")
        moved = 1 - np.einsum("ij,ij->i", chunk_rows[where], after_rows)
        moved_exact = 1 - np.einsum("ij,ij->i", both[0][where], minilm_after(after))
        cells.append(f"{np.mean(moved):.3f}")
        cells.append(f"{spearmanr(moved, moved_exact)[0]:.2f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)

    print(
        "| embedder | rank correlation with MiniLM: random sentences | neighbouring | chunks "
        "| breakpoints F1, sentences | windows of 3 | clusters (AMI) | change of DU a swap, % "
        "| distance moved by a swap | its rank correlation |\n" + "|---" * 10 + "|"
    )
    for name, embedder in embedders.items():
        lookup = kept(embedder.embed, [*sentences, *windows])
        line(name, lookup, embedder.embed(chunks), embedder.embed(after))
    line("MiniLM", minilm, minilm_chunks(chunks), minilm_after(after))


def _windows_of(lookup: Any) -> Any:
    return lambda texts: lookup(texts)


def _embed_part(texts: Sequence[str]) -> int:
    return len(load_embedder("bundled").embed(texts))


def speed(corpora: Path, repeat: int) -> None:
    """Print sentences a second, direct and on Spark, on the same two cores."""
    from pyspark.sql import functions as F

    from nes_spark.config import EmbeddingConfig, SparkConfig
    from nes_spark.embedding import spec_for
    from nes_spark.embedding.stages import embed_texts
    from nes_spark.session import get_session

    cores = 2
    sentences = [s for d in read(corpora, None) for s in d.sentences] * repeat
    print(f"{len(sentences):,} sentences, {cores} processes")
    load_embedder("bundled").embed(sentences[:100])
    parts = [sentences[i::cores] for i in range(cores)]
    began = time.process_time()
    _embed_part(parts[0])
    single = time.process_time() - began
    memory, ratios, rates = [], [], []
    # The pool is forked before Spark starts threads, and the two take turns: what else runs on
    # this machine slows both.
    with (
        multiprocessing.get_context("fork").Pool(cores) as pool,
        tempfile.TemporaryDirectory() as folder,
    ):
        pool.map(_embed_part, [p[:1000] for p in parts])
        spark = get_session(SparkConfig(master=f"local[{cores}]"), "bench_embedding")
        frame = spark.createDataFrame(list(enumerate(sentences)), "id long, text string")
        frame.repartition(4 * cores).write.parquet(f"{folder}/texts")
        table = spark.read.parquet(f"{folder}/texts")
        spec = spec_for(EmbeddingConfig())

        def staged(source: Any) -> float:
            began = time.perf_counter()
            embed_texts(source, spec, ["id"]).write.format("noop").mode("overwrite").save()
            return time.perf_counter() - began

        staged(table)
        for _ in range(5):
            began = time.perf_counter()
            pool.map(_embed_part, parts, chunksize=1)
            direct = time.perf_counter() - began
            seconds = staged(table)
            ratios.append(direct / seconds)
            rates.append((len(sentences) / direct, len(sentences) / seconds))
        memory.append(_worker_memory(spark, cores))
        staged(table.unionAll(table).coalesce(cores))
        memory.append(_worker_memory(spark, cores))
        counted = embed_texts(table, spec, ["id"]).agg(F.count("id")).first()[0]
    assert counted == len(sentences)
    best = np.max(rates, axis=0)
    shown = ", ".join(f"{r:.2f}" for r in sorted(ratios))
    print(f"| one process | {len(parts[0]) / single:,.0f} sentences a second of processor time |")
    print(f"| {cores} processes, direct | {best[0]:,.0f} sentences/s, best of 5 |")
    print(f"| Spark, local[{cores}] | {best[1]:,.0f} sentences/s, best of 5 |")
    print(f"| Spark to direct | median ratio {np.median(ratios):.2f} of {shown} |")
    print(f"| Python worker, peak | {memory[0]} MB; 8 times the partition: {memory[1]} MB |")


def _worker_memory(spark: Any, cores: int) -> int:
    """Peak resident memory of the Python workers so far, in MB."""

    def peak(batches: Any) -> Any:
        import resource

        import pandas as pd

        for _ in batches:
            pass
        time.sleep(0.3)
        yield pd.DataFrame({"mb": [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024]})

    rows = spark.range(0, cores, 1, cores).mapInPandas(peak, "mb long").collect()
    return max(r["mb"] for r in rows)


def main(argv: Sequence[str] | None = None) -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", choices=["quality", "speed"])
    default = os.environ.get("NES_SPARK_CORPORA", "../shared/corpora")
    parser.add_argument("--corpora", type=Path, default=Path(default))
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "nes-embedding")
    parser.add_argument("--documents", type=int, default=6, help="calls of each corpus at most")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=4, help="copies of the corpora")
    parser.add_argument("--model", nargs="*", default=[], help="folders of further static models")
    args = parser.parse_args(argv)
    if not list(args.corpora.glob("*/calls.jsonl")):
        parser.error(f"{args.corpora}: no */calls.jsonl; name the folder with --corpora")
    if args.what == "speed":
        return speed(args.corpora, args.repeat)
    models = {"bundled": ""} | {Path(m).name: m for m in args.model}
    return quality(args.corpora, args.work, args.documents, models, args.seeds)


if __name__ == "__main__":
    main()
