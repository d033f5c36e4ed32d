"""Embedders on real calls: how near to MiniLM they are, what swaps cost, how fast on Spark.

    python -m tests.benchmarks.bench_embedding quality --corpora DIR --work DIR [--documents 12]
    python -m tests.benchmarks.bench_embedding utility --corpora DIR --work DIR [--draws 5]
    python -m tests.benchmarks.bench_embedding speed --corpora DIR

``quality`` uses calls that the bundled vectors were not trained on
(:func:`nes_spark.building.static_vectors.held_out`) and needs MiniLM, the yardstick (the extra
``distill``); it takes a few minutes, and what MiniLM says is kept in the working folder.
``utility`` needs it too: it takes the chunks and mentions of ``conf/earnings21.yaml``, lets each
embedder's mixture say which chunks may be swapped, and gives DU under that mixture and under
MiniLM's. ``speed`` needs nothing but the project. Single-threaded BLAS (``OMP_NUM_THREADS=1``)
makes the ratio of ``speed`` a fair one.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nes_spark.building.static_vectors import held_out, teach
from nes_spark.embedding import load_embedder
from nes_spark.embedding.lsa import fit_lsa
from nes_spark.embedding.static import StaticEmbedder
from nes_spark.text.chunking import breakpoints, chunk_spans
from nes_spark.text.sentences import split_sentences

if TYPE_CHECKING:
    from nes_spark.entities import Mention
    from nes_spark.mixture import MixtureModel
    from nes_spark.swapping import Swap

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


@dataclass(frozen=True)
class Chunks:
    """What the sampler and the rewriting need of a corpus, in the order of chunk ids."""

    ids: list[str]
    metadata: list[str]
    texts: list[str]
    mentions: list[list[Mention]]
    entities: dict[str, list[list[str]]]
    must_change: dict[str, str]
    sentences: list[str]


def prepare(calls: Path) -> Chunks:
    """Take a corpus through the stages of ``conf/earnings21.yaml`` up to the cells."""
    from nes_spark.config import load_config
    from nes_spark.embedding import spec_for
    from nes_spark.entities import Mention
    from nes_spark.entities.stages import build_cells, recognize
    from nes_spark.session import get_session
    from nes_spark.text.chunking_stages import chunk_documents
    from nes_spark.text.reading_stages import read_documents

    conf = Path(__file__).parents[2] / "conf" / "earnings21.yaml"
    config = load_config(conf, {"input.path": str(calls)})
    spark = get_session(config.spark, "bench_embedding")
    documents, _ = read_documents(spark, config.input, config.presentation, config.identifiers)
    documents = documents.cache()
    spec = spec_for(config.embedding)
    chunks = chunk_documents(documents, config.chunking, config.identifiers, spec).cache()
    mentions = recognize(chunks, config.entities).cache()
    found: dict[str, list[Mention]] = {}
    for m in mentions.orderBy("chunk_id", "start").collect():
        mention = Mention(m["start"], m["end"], m["category"], m["surface"], m["entity"])
        found.setdefault(m["chunk_id"], []).append(mention)
    texts = {r["chunk_id"]: r["text"] for r in chunks.select("chunk_id", "text").collect()}
    cells = build_cells(chunks, mentions, config.entities).orderBy("chunk_id").collect()
    sentences = [
        d["text"][a:b]
        for d in documents.select("text").orderBy("document_id").collect()
        for a, b in split_sentences(d["text"])
    ]
    spark.stop()
    return Chunks(
        [c["chunk_id"] for c in cells],
        [c["metadata"] for c in cells],
        [texts[c["chunk_id"]] for c in cells],
        [found.get(c["chunk_id"], []) for c in cells],
        {k: [list(c["entities"][k]) for c in cells] for k in config.entities.categories},
        dict(config.releases.must_change),
        sentences,
    )


def rewritten(chunks: Chunks, swaps: Sequence[Swap]) -> list[tuple[int, str]]:
    """Return position and new text of both chunks of each swap, in the order of the swaps."""
    from nes_spark.swapping import rewrite_pair

    at = {name: i for i, name in enumerate(chunks.ids)}
    out = []
    for swap in swaps:
        a, b = at[swap.chunk_a], at[swap.chunk_b]
        pair = rewrite_pair(
            chunks.texts[a],
            chunks.mentions[a],
            chunks.texts[b],
            chunks.mentions[b],
            swap.exchanged,
            must_change=chunks.must_change,
        )
        out += [(a, pair[0].text), (b, pair[1].text)]
    return out


def utility_curve(
    model: MixtureModel, before: np.ndarray, where: Sequence[int], after: np.ndarray
) -> np.ndarray:
    """Return DU after 1, 2, .. swaps (paper, section 2.5).

    Parameters
    ----------
    model : MixtureModel
    before : ndarray of shape (n, d)
        Vectors of all chunks.
    where : sequence of int, length 2 m
        The chunks of the swaps, two a swap.
    after : ndarray of shape (2 m, d)
        Vectors of their texts after it.
    """
    from nes_spark.utility import data_utility
    from nes_spark.utility.measure import DECIMALS, log_likelihood_changes

    labels, pre = model.assign(before)
    at = np.asarray(where, dtype=np.intp)
    post = model.log_density_at(after, labels[at])
    total = float(np.round(pre, DECIMALS).sum())
    pairs = at.astype(str).reshape(-1, 2)
    changes = log_likelihood_changes(pairs, pre[at].reshape(-1, 2), post.reshape(-1, 2))
    return data_utility(total + changes, total)


FREE = "none: any partner"
COMBINATIONS = (("Organization", "Product"), ("Organization", "Location"))
FAMILIES = ("spcauchy", "pkb")
LENGTHS = (10, 20, 30)


def utility(corpora: Path, work: Path, fits: int, draws: int) -> None:
    """Print DU and its loss a swap, by family, combination and embedder.

    Every embedder gets the same chunks and mentions. ``fits`` mixtures with seeds of their own and
    ``draws`` sequences of swaps from each; standard errors are over the fits. MiniLM's view is the
    mean over its mixtures of the *other* fits, so that its own swaps have no advantage.
    """
    from nes_spark.mixture import fit_mixture
    from nes_spark.swapping import derive_seed, sample_swaps

    chunks = prepare(corpora / "earnings21" / "calls.jsonl")
    print(f"{len(set(chunks.metadata))} companies, {len(chunks.ids):,} chunks", flush=True)
    embedders: dict[str, Embed] = {
        "LSA": fit_lsa(chunks.sentences).embed,
        "bundled": load_embedder("bundled").embed,
        "MiniLM": lambda texts: teach(texts, work, half=False),
    }
    before = {name: embed(chunks.texts) for name, embed in embedders.items()}
    secrets = ["figures of the documentation"]
    secrets += [f"{secrets[0]} {i}" for i in range(1, fits)]

    models: dict[tuple[str, str, int], MixtureModel] = {}
    for family in FAMILIES:
        for name, rows in before.items():
            for i, secret in enumerate(secrets):
                models[family, name, i] = fit_mixture(
                    rows,
                    family,
                    10,
                    min_weight=1e-3,
                    n_init=5,
                    seed=derive_seed(secret.encode(), "mixture"),
                    max_radius=0.9,
                )

    def sequences(family: str, swap: Sequence[str], name: str) -> Iterator[tuple[int, list[Any]]]:
        for i, secret in enumerate(secrets):
            labels = None if name == FREE else models[family, name, i].predict(before[name])
            for draw in range(draws):
                swaps = sample_swaps(
                    chunks.ids,
                    chunks.metadata,
                    None if labels is None else labels.tolist(),
                    chunks.entities,
                    swap,
                    max_swaps=max(LENGTHS),
                    seed=secret,
                    # without clusters the family plays no part: the same swaps for all
                    setting="" if name == FREE else f"{family}-K10-eps0.001",
                    draw=draw,
                )
                yield i, rewritten(chunks, swaps)

    drawn = {
        (family, swap, name): list(sequences(family, swap, name))
        for family in FAMILIES
        for swap in COMBINATIONS
        for name in (*embedders, FREE)
    }
    after = {
        name: kept(
            embedders[name],
            (
                text
                for (_, _, by), found in drawn.items()
                if name in ("MiniLM", by)
                for _, changed in found
                for _, text in changed
            ),
        )
        for name in embedders
    }
    print(
        "| mixture | swapped | embedder of the clusters | nats a chunk "
        + "".join(f"| DU, {n} swaps " for n in LENGTHS)
        + f"| loss a swap, 10⁻⁶ | MiniLM's DU, {max(LENGTHS)} swaps "
        + "| MiniLM's loss a swap, 10⁻⁶ |\n"
        + "|---" * (7 + len(LENGTHS))
        + "|"
    )
    for (family, swap, name), found in drawn.items():
        own: list[tuple[int, np.ndarray]] = []
        common: list[tuple[int, np.ndarray]] = []
        for i, changed in found:
            where = [at for at, _ in changed]
            texts = [text for _, text in changed]
            if name != FREE:
                model = models[family, name, i]
                own.append((i, utility_curve(model, before[name], where, after[name](texts))))
            for j in range(fits):
                if j != i or fits == 1:
                    model = models[family, "MiniLM", j]
                    rows = after["MiniLM"](texts)
                    common.append((i, utility_curve(model, before["MiniLM"], where, rows)))
        cells = [family, " + ".join(swap), name]
        if own:
            nats = [models[family, name, i].assign(before[name])[1].mean() for i in range(fits)]
            cells.append(f"{np.mean(nats):.1f}")
            cells += [reached(own, n) for n in LENGTHS]
            cells.append(loss(own))
        else:
            cells += ["-"] * (2 + len(LENGTHS))
        cells += [reached(common, max(LENGTHS)), loss(common)]
        print("| " + " | ".join(cells) + " |", flush=True)


def reached(curves: Sequence[tuple[int, np.ndarray]], n: int) -> str:
    """Mean DU after ``n`` swaps, '-' where a sequence is shorter."""
    if any(len(curve) < n for _, curve in curves):
        return "-"
    return f"{np.mean([curve[n - 1] for _, curve in curves]):.5f}"


def loss(curves: Sequence[tuple[int, np.ndarray]]) -> str:
    """(1 - DU) / swaps at the end of each sequence, in millionths: mean and standard error."""
    by_fit: dict[int, list[float]] = {}
    for i, curve in curves:
        if len(curve):
            by_fit.setdefault(i, []).append(1e6 * (1.0 - curve[-1]) / len(curve))
    means = [float(np.mean(values)) for values in by_fit.values()]
    if len(means) < 2:
        return f"{np.mean(means):.1f}"
    return f"{np.mean(means):.1f} ± {np.std(means, ddof=1) / np.sqrt(len(means)):.1f}"


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
        counted = embed_texts(table, spec, ["id"]).agg(F.count("id")).collect()[0][0]
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
    """Run one of the three."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", choices=["quality", "utility", "speed"])
    default = os.environ.get("NES_SPARK_CORPORA", "../shared/corpora")
    parser.add_argument("--corpora", type=Path, default=Path(default))
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "nes-embedding")
    parser.add_argument("--documents", type=int, default=6, help="calls of each corpus at most")
    parser.add_argument("--seeds", type=int, default=3, help="mixtures of each embedder")
    parser.add_argument("--draws", type=int, default=5, help="sequences of swaps of each mixture")
    parser.add_argument("--repeat", type=int, default=4, help="copies of the corpora")
    parser.add_argument("--model", nargs="*", default=[], help="folders of further static models")
    args = parser.parse_args(argv)
    if not list(args.corpora.glob("*/calls.jsonl")):
        parser.error(f"{args.corpora}: no */calls.jsonl; name the folder with --corpora")
    if args.what == "speed":
        return speed(args.corpora, args.repeat)
    if args.what == "utility":
        return utility(args.corpora, args.work, args.seeds, args.draws)
    models = {"bundled": ""} | {Path(m).name: m for m in args.model}
    return quality(args.corpora, args.work, args.documents, models, args.seeds)


if __name__ == "__main__":
    main()
