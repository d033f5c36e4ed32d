"""A generated corpus within a memory limit: time per stage, peak memory, stragglers.

``python -m tests.benchmarks.load --documents 2000`` gives the driver's JVM 2 GB and, with two
Python workers and the driver's Python, watches that all together stay below 4 GB: memory is that of
the whole process tree, sampled once a second (proportional set size, so that pages that forked
workers share count once). Task times come from Spark's event log.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path

import click
import psutil
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import dataset

from nes_spark.errors import GateRefused
from tests.jobs import SEED

GIB = 1 << 30


class Memory(threading.Thread):
    """Samples a process and all below it: the peak of memory in each stage, and processor time.

    Processor time does not depend on who else computes; that of a process that has ended counts up
    to its last sample.
    """

    def __init__(self, pid: int, current: list[str]) -> None:
        super().__init__(daemon=True)
        self.pid, self.current = pid, current
        self.peak: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        self.spent: dict[tuple[int, float], float] = {}
        self.going = True

    def run(self) -> None:
        while self.going:
            sizes: dict[str, float] = defaultdict(float)
            try:
                root = psutil.Process(self.pid)
                for process in [root, *root.children(recursive=True)]:
                    try:
                        own = process.memory_full_info().pss
                        times = process.cpu_times()
                        key = process.pid, process.create_time()
                        self.spent[key] = times.user + times.system
                        java = "java" in process.name()
                        sizes["all"] += own
                        if java or process.pid == self.pid:
                            sizes["java" if java else "driver"] += own
                        else:
                            sizes["workers"] += own
                            sizes["worker"] = max(sizes["worker"], own)
                    except (psutil.NoSuchProcess, psutil.AccessDenied):
                        continue
            except psutil.NoSuchProcess:
                return
            peak = self.peak[self.current[0]]
            for kind, size in sizes.items():
                peak[kind] = max(peak[kind], size)
            time.sleep(1.0)


def tasks_of(folder: Path) -> dict[int, list[float]]:
    """Seconds of the tasks that had rows, of every Spark stage, from the event log."""
    found: dict[int, list[float]] = defaultdict(list)
    for file in folder.rglob("*"):
        if not file.is_file():
            continue
        with file.open(errors="replace") as stream:
            for line in stream:
                if '"SparkListenerTaskEnd"' not in line:
                    continue
                event = json.loads(line)
                info, metrics = event["Task Info"], event.get("Task Metrics") or {}
                seconds = (info["Finish Time"] - info["Launch Time"]) / 1000
                rows = metrics.get("Input Metrics", {}).get("Records Read", 0)
                rows += metrics.get("Shuffle Read Metrics", {}).get("Total Records Read", 0)
                if rows:
                    found[event["Stage ID"]].append(seconds)
    return found


def generate(corpus: Path, documents: int, options: list[str], questions: float) -> None:
    """Write the corpus into a folder, in two files at a time."""
    unfinished = corpus.with_name("calls.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    half = (documents + 1) // 2
    jobs = []
    for start, count in ((0, half), (half, documents - half)):
        if count:
            file = unfinished / f"calls-{start:07d}.jsonl"
            command = [sys.executable, "-m", "nes_spark.demo", "--documents", str(count)]
            command += ["--start", str(start), "--questions", str(questions), *options]
            jobs.append(subprocess.Popen([*command, "--output", str(file)]))
    codes = [job.wait() for job in jobs]
    if any(codes):
        raise SystemExit("the corpus could not be generated")
    unfinished.rename(corpus)


def shares(stages: Path) -> tuple[float, float]:
    """Share of chunks in the largest component, and with the most frequent entity."""

    def column(table: str, *names: str) -> pa.Table:
        return dataset.dataset(stages / table, format="parquet").to_table(columns=[*names])

    components = column("assignments", "component")
    sizes = components.group_by("component").aggregate([([], "count_all")])
    named = column("mentions", "category", "entity", "chunk_id")
    named = named.group_by(["category", "entity", "chunk_id"]).aggregate([])
    counts = named.group_by(["category", "entity"]).aggregate([([], "count_all")])
    largest = (pc.max(t["count_all"]).as_py() for t in (sizes, counts))
    component, entity = (count / components.num_rows for count in largest)
    return component, entity


@click.command()
@click.option("--documents", type=int, default=2000)
@click.option("--skew", default="none", help="As in python -m nes_spark.demo.")
@click.option("--heap", default="2g", help="Memory of the JVM.")
@click.option("--limit", type=float, default=4.0, help="GiB that must not be exceeded.")
@click.option("--partitions", type=int, default=16)
@click.option("--length", default=1.0, help="Of a call: 1 is about 1,100 words.")
@click.option("--questions", default=1.0, help="Times as many questions: more text, same chunks.")
@click.option("--folder", "kept", type=click.Path(path_type=Path), help="Keep all files here.")
@click.option("--set", "settings", multiple=True)
def main(
    documents: int,
    skew: str,
    heap: str,
    limit: float,
    partitions: int,
    length: float,
    questions: float,
    kept: Path | None,
    settings: tuple[str, ...],
) -> None:
    """Run once and print a table; exit 1 when the limit was exceeded."""
    from nes_spark.demo import config_path

    with tempfile.TemporaryDirectory() as temporary:
        folder = kept or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        corpus = folder / "calls"
        if not corpus.exists():
            generate(corpus, documents, ["--skew", skew, "--length", str(length)], questions)
        shutil.rmtree(folder / "events", ignore_errors=True)
        (folder / "events").mkdir()
        events = {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": (folder / "events").as_uri(),
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
        }
        options = [
            "spark.master=local[2]", f"spark.driver_memory={heap}",
            f"spark.shuffle_partitions={partitions}", f"spark.settings={json.dumps(events)}",
            "report.examples=false", "audit.swap_aware_draws=1", "audit.bootstrap=100",
            # invented names are drawn by no law that a risk model would know
            "gates.on_poor_fit=warn", "tracking.enabled=false", *settings,
        ]  # fmt: skip
        env = os.environ | {"NES_SPARK_SEED": SEED, "OMP_NUM_THREADS": "1"}
        began = time.monotonic()
        job = subprocess.Popen(
            [
                sys.executable, "-m", "nes_spark.cli", "run", str(config_path()),
                "--input", str(corpus), "--output", str(folder / "out"), "--log-json",
                *(word for option in options for word in ("--set", option)),
            ],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        current = ["start"]
        memory = Memory(job.pid, current)
        memory.start()
        tail: list[str] = []
        spent = 0.0
        assert job.stdout is not None
        for line in job.stdout:
            tail = [*tail[-30:], line]
            if line.startswith("{"):
                record = json.loads(line)
                name = record.get("stage") or f"- {record.get('part')}"
                if "seconds" in record:
                    # what was sampled since the line before belongs to this one
                    memory.peak[name] = memory.peak.pop(current[0], {})
                    current[0] = f"after {name}"
                    memory.peak[current[0]] = defaultdict(float)
                    peak = {k: v / GIB for k, v in memory.peak[name].items()}
                    now = sum(list(memory.spent.values()))
                    used, spent = now - spent, now
                    rows = ", ".join(f"{n:,} {name}" for name, n in record.get("rows", {}).items())
                    click.echo(
                        f"{name:<13}{record['seconds']:8.1f} s "
                        f"{used:8.1f} s of processor {peak.get('all', 0):6.2f} GiB "
                        f"(JVM {peak.get('java', 0):.2f}, driver {peak.get('driver', 0):.2f}, "
                        f"workers {peak.get('workers', 0):.2f}, largest "
                        f"{peak.get('worker', 0):.2f})  {rows}"
                    )
        code = job.wait()
        memory.going = False
        total = time.monotonic() - began
        if code:
            click.echo("".join(tail))
        # what a gate refused was measured all the same
        if code and not (code == GateRefused.exit_code and "- gates" in memory.peak):
            raise SystemExit(code)
        slow = []
        for number, seconds in tasks_of(folder / "events").items():
            if len(seconds) >= 4 and max(seconds) > 2:
                middle = statistics.median(seconds)
                slow.append((max(seconds) / max(middle, 0.1), number, len(seconds), max(seconds)))
        peak = max(p.get("all", 0) for p in memory.peak.values()) / GIB
        size = sum(file.stat().st_size for file in corpus.iterdir()) / 1e6
        click.echo(
            f"{documents:,} documents, {size:.1f} MB, skew {skew}: {total:.0f} s, peak "
            f"{peak:.2f} GiB of {limit:g}"
        )
        component, entity = shares(next((folder / "out").glob("*/stages")))
        click.echo(
            f"  {component:.0%} of all chunks in the largest component, {entity:.0%} with the most "
            "frequent entity"
        )
        for ratio, number, count, longest in sorted(slow, reverse=True)[:5]:
            click.echo(
                f"  Spark stage {number}: {count} tasks, longest {longest:.1f} s, "
                f"{ratio:.1f} times the median"
            )
        if peak > limit:
            click.echo(f"more than {limit:g} GiB were used")
        if code or peak > limit:
            raise SystemExit(code or 1)


if __name__ == "__main__":
    main()
