"""How long whole runs take, beside a bare start of Spark and beside the kernels alone.

``python -m tests.benchmarks.bench_runs`` times, in rounds that take turns, the demo, a generated
corpus and, with ``--corpora CORPORA``, the 44 calls and the paper's grid on them, each as a command
in a process of its own and an empty folder, beside a process that starts the same Spark, runs one
query and one Python function, and stops. It prints the median of the rounds with the least and the
most, the processor seconds of all processes, and the ratio to the bare start.

The kernels alone: the texts of the run cut, recognised, embedded and clustered, as many texts read
by the encoder as the judge may read, and the attackers asked about the originals and the release,
in one process without Spark and without tables. What is left out is drawing and rewriting, which
run on rows of tables.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.load import generate
from tests.jobs import seed_named

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Run:
    """A command: what it is called here, its arguments, and whether kernels stand beside it."""

    name: str
    arguments: tuple[str, ...]
    kernels: bool = True


@dataclass(frozen=True)
class Spent:
    """Seconds on the clock, and of all processors."""

    seconds: float
    processor: float


def timed(command: list[str], environment: dict[str, str]) -> Spent:
    """Run a command to its end.

    Raises
    ------
    SystemExit
        When it fails; with what it said last.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    done = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        raise SystemExit("\n".join((done.stdout + done.stderr).splitlines()[-5:]))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Spent(seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def bare() -> None:
    """Start the Spark of a small run, run a query and a Python function, stop."""
    from nes_spark.session import get_session

    session = get_session(short=True)
    doubled = session.range(100).mapInPandas(lambda parts: parts, "id bigint")
    assert doubled.count() == 100


def kernels(folder: str) -> None:
    """Do what the kernels of a finished run do with its texts."""
    from nes_spark.audit.measured import Measurement
    from nes_spark.embedding import load_embedder
    from nes_spark.embedding.contextual import load_contextual
    from nes_spark.entities import load_recognizer
    from nes_spark.mixture import fit_mixture
    from nes_spark.run.published import PublishedRun
    from nes_spark.text import chunk_text

    run = PublishedRun(folder)
    store, config = run.store, run.config
    chunks = store.read_pandas("chunks", ["chunk_id", "document_id", "metadata", "text"])
    cells = store.read_pandas("cells", ["chunk_id", "entities"])
    entities = {
        chunk: {name: list(found) for name, found in dict(value).items() if found is not None}
        for chunk, value in zip(cells["chunk_id"], cells["entities"], strict=True)
    }
    changed = store.read_pandas("rewrites", ["chunk_id", "order", "text"])
    changed = changed.sort_values("order", kind="stable").drop_duplicates("chunk_id", keep="last")
    released = dict(zip(changed["chunk_id"], changed["text"], strict=True))

    embedder = load_embedder("bundled")
    for (text,) in store.rows("documents", ["text"]):
        chunk_text(
            text,
            embedder.embed,
            config.chunking.threshold,
            config.chunking.buffer,
            config.chunking.max_words,
        )
    load_recognizer("bundled")(chunks["text"].tolist())
    vectors = embedder.embed([*chunks["text"], *released.values()])[: len(chunks)]
    fit_mixture(vectors, "spcauchy", 10, n_init=5, seed=1)
    cores = os.cpu_count() or 1
    texts = [*chunks["text"], *released.values()][-config.utility.judge_texts :]
    if config.utility.judge == "contextual":
        load_contextual(threads=cores).embed(texts)
    if config.audit.linkage and config.releases.plan == "whole":
        Measurement(chunks, b"key", entities=entities, exchanged=config.releases.swap).guesses(
            released
        )


def runs_of(options: argparse.Namespace, folder: Path) -> list[Run]:
    """Return what is to be timed."""
    found = [Run("demo", ("demo",))]
    if options.corpora:
        calls = str(Path(options.corpora, "earnings21", "calls.jsonl").resolve())
        found += [
            Run("44 calls", ("run", "conf/earnings21.yaml", "--input", calls)),
            Run("the paper's grid", ("run", "conf/paper_grid.yaml", "--input", calls), False),
        ]
    if options.documents:
        corpus = folder / "calls"
        generate(corpus, options.documents, [], 1.0)
        generated = ("run", "conf/demo.yaml", "--input", str(corpus))
        # invented names are drawn by no law that a risk model would know
        settings = ("--set", "report.examples=false", "--set", "gates.on_poor_fit=warn")
        found.append(
            Run(f"{options.documents} generated calls", (*generated, *settings), kernels=False)
        )
    wanted = set(options.only.split(",")) if options.only else None
    return [run for run in found if wanted is None or run.name in wanted]


def line(name: str, spent: list[Spent], start: float, alone: float | None) -> str:
    """Return the row of one command."""
    seconds = [one.seconds for one in spent]
    middle = statistics.median(seconds)
    processor = statistics.median(one.processor for one in spent)
    times = "" if alone is None else f"{middle / alone:.1f}"
    return (
        f"| {name} | {middle:.1f} ({min(seconds):.1f} to {max(seconds):.1f}) | {processor:.0f} | "
        f"{middle / start:.1f} | {times} |"
    )


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpora", help="Folder with earnings21/calls.jsonl.")
    parser.add_argument("--documents", type=int, default=0, help="Generated calls; 0 for none.")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", help="Names of runs, with commas between them.")
    parser.add_argument("--bare", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--kernels", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.bare:
        bare()
        return
    if options.kernels:
        kernels(options.kernels)
        return
    me = [sys.executable, "-m", "tests.benchmarks.bench_runs"]
    mine = os.environ | {"NES_SPARK_SEED": seed_named("runs")}
    load = os.getloadavg()
    print(f"load before: {load[0]:.1f} {load[1]:.1f}; {os.cpu_count()} processors", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        runs = runs_of(options, folder)
        starts: list[Spent] = []
        spent: dict[str, list[Spent]] = {run.name: [] for run in runs}
        alone: dict[str, list[Spent]] = {run.name: [] for run in runs if run.kernels}
        for number in range(options.repeats):
            starts.append(timed([*me, "--bare"], mine))
            for run in runs:
                output = folder / f"{run.name} {number}"
                command = [sys.executable, "-m", "nes_spark.cli", *run.arguments]
                command += ["--output", str(output)]
                spent[run.name].append(timed(command, mine))
                if run.kernels:
                    finished = str(output / "all")
                    alone[run.name].append(timed([*me, "--kernels", finished], mine))
        start = statistics.median(one.seconds for one in starts)
        print("| run | seconds (least to most) | processor seconds | / bare start | / kernels |")
        print("|---|---|---|---|---|")
        print(line("a bare start of Spark", starts, start, None))
        for run in runs:
            beside = alone.get(run.name)
            kernel = None if beside is None else statistics.median(s.seconds for s in beside)
            print(line(run.name, spent[run.name], start, kernel))
            if beside is not None:
                print(line(f"its kernels alone: {run.name}", beside, start, None))


if __name__ == "__main__":
    main()
