"""How time and memory of a run grow with the corpus, from what the load benchmark printed.

``python -m tests.benchmarks.growth --to 1000000 LOG LOG LOG`` reads what
``python -m tests.benchmarks.load`` printed for corpora of different sizes. For every stage it
gives the seconds at each size, the exponent of each step from one size to the next (log of the
ratio of seconds over log of the ratio of documents), and the seconds that the last exponent, or 1
where it is less, leads to; for memory, by process, the peak at each size and what a straight line
through the last two leads to. An exponent above 1 is work that grows faster than the corpus. Of a
run that was refused, what it did until then counts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import click

_LINE = re.compile(
    r"(?P<stage>\S.*?)\s+(?P<seconds>[\d.]+) s\s+[\d.]+ s of processor\s+(?P<all>[\d.]+) GiB "
    r"\(JVM (?P<JVM>[\d.]+), driver (?P<driver>[\d.]+), workers (?P<workers>[\d.]+),"
)
_READ = re.compile(r"documents\s.*\s(?P<documents>[\d,]+) documents,")
#: Below so many seconds a stage is the fixed cost of a few queries.
_LEAST = 1.0
PROCESSES = ("all", "JVM", "driver", "workers")


class Measured(NamedTuple):
    """One run: documents, seconds of every stage, peaks in GiB by process."""

    documents: int
    stages: dict[str, float]
    peaks: dict[str, float]


def read(text: str) -> Measured:
    """Read what the load benchmark printed.

    Raises
    ------
    ValueError
        When no line tells how many documents were read.
    """
    stages: dict[str, float] = {}
    peaks = dict.fromkeys(PROCESSES, 0.0)
    documents = 0
    for line in text.splitlines():
        if found := _LINE.match(line):
            name = found["stage"].removeprefix("- ")
            # the release's own part "documents" is not the stage of that name
            stages["release: " + name if line.startswith("- ") else name] = float(found["seconds"])
            peaks = {p: max(peaks[p], float(found[p])) for p in PROCESSES}
        if told := _READ.match(line):
            documents = int(told["documents"].replace(",", ""))
    if not documents:
        raise ValueError("no line tells how many documents were read")
    stages.pop("release", None)  # the sum of its parts
    return Measured(documents, stages, peaks)


def exponents(sizes: Sequence[float], values: Sequence[float]) -> list[float]:
    """Return the exponent of each step: 1 where a value grows as its size does.

    Examples
    --------
    >>> exponents([1, 10, 100], [2.0, 20.0, 2000.0])
    [1.0, 2.0]
    """
    steps = zip(pairwise(sizes), pairwise(values), strict=True)
    return [round(math.log(v / u) / math.log(n / m), 12) for (m, n), (u, v) in steps]


def grown(size: float, value: float, exponent: float, to: float) -> float:
    """Return what a value comes to at another size."""
    return value * (to / size) ** exponent


def line_through(sizes: Sequence[float], values: Sequence[float], to: float) -> float:
    """Return where a straight line through the last two points is at another size; no fall."""
    slope = max(0.0, (values[-1] - values[-2]) / (sizes[-1] - sizes[-2]))
    return values[-1] + slope * (to - sizes[-1])


def table(runs: Sequence[Measured], to: int) -> list[str]:
    """Return a table of the stages that all runs have, and one of processes, in Markdown."""
    runs = sorted(runs)
    sizes = [run.documents for run in runs]
    shown = [f"{size:,}" for size in sizes]
    steps = [f"exponent {a} to {b}" for a, b in pairwise(shown)]
    head = ["stage", *(f"{size}: s" for size in shown), *steps, f"{to:,}: s"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    rest = [0.0] * len(runs)
    total = 0.0
    names = [name for name in runs[-1].stages if all(name in run.stages for run in runs)]
    for name in names:
        values = [run.stages[name] for run in runs]
        if values[-1] < _LEAST or min(values) <= 0:
            rest = [a + b for a, b in zip(rest, values, strict=True)]
            continue
        powers = exponents(sizes, values)
        # fixed costs make small runs dear: what grows slower than the corpus counts as fast
        there = grown(sizes[-1], values[-1], max(powers[-1], 1.0), to)
        total += there
        cells = [f"{v:.1f}" for v in values] + [f"{p:.2f}" for p in powers] + [f"{there:,.0f}"]
        lines.append("| " + " | ".join([name, *cells]) + " |")
    cells = [f"{v:.1f}" for v in rest] + [""] * len(steps) + [""]
    lines.append("| " + " | ".join(["below a second", *cells]) + " |")
    totals = [sum(run.stages[name] for name in names) for run in runs]
    cells = [f"{v:.0f}" for v in totals] + [f"{p:.2f}" for p in exponents(sizes, totals)]
    lines.append("| " + " | ".join(["in all", *cells, f"{total:,.0f}"]) + " |")
    head = ["peak", *(f"{size}: GiB" for size in shown), f"{to:,}: GiB"]
    lines += ["", "| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for process in PROCESSES:
        values = [run.peaks[process] for run in runs]
        cells = [f"{v:.2f}" for v in values] + [f"{line_through(sizes, values, to):.2f}"]
        lines.append("| " + " | ".join([process, *cells]) + " |")
    return lines


@click.command()
@click.option("--to", default=1_000_000, help="Documents that are computed and not measured.")
@click.argument("logs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
def main(to: int, logs: tuple[Path, ...]) -> None:
    """Print how each stage grows, and what a larger corpus would take."""
    if len(logs) < 2:
        raise click.UsageError("two sizes at least")
    try:
        runs = [read(log.read_text()) for log in logs]
    except ValueError as error:
        raise click.ClickException(str(error)) from None
    click.echo("\n".join(table(runs, to)))


if __name__ == "__main__":
    main()
