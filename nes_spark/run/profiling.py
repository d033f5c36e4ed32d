"""Where the time of a run goes: Spark's own events, told by stage of the pipeline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

#: Name of a part of the run, when it began and when it ended, in seconds since 1970.
Mark = tuple[str, float, float]

COLUMNS = (
    "part", "seconds", "without_spark", "jobs", "stages", "tasks", "task_seconds", "java_seconds",
    "python_seconds", "longest_task",
)  # fmt: skip
TABLE, PICTURE = "profile.csv", "profile.svg"


@dataclass(frozen=True)
class Task:
    """One attempt of a Spark task.

    Attributes
    ----------
    stage : int
        Spark's number of its stage.
    launched : float
        Seconds since 1970.
    seconds : float
        From its launch to its end.
    running, java : float
        Seconds that the executor ran it, and processor seconds of the Java thread in these. The
        rest went to Python workers and to waiting.
    """

    stage: int
    launched: float
    seconds: float
    running: float
    java: float


@dataclass
class Events:
    """Jobs (when they began and ended, in seconds since 1970) and tasks of a session."""

    jobs: list[tuple[float, float]] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)


def read_events(lines: Iterable[str]) -> Events:
    """Read Spark's event log.

    Parameters
    ----------
    lines : iterable of str
        One event each, as Spark writes it; a last line that is cut off is left out.

    Returns
    -------
    Events
        A job without an end lasts until the last event.
    """
    found = Events()
    began: dict[int, float] = {}
    last = 0.0
    for line in lines:
        # Plans of queries make most of a log: they are not even parsed.
        if not line.startswith(('{"Event":"SparkListenerJob', '{"Event":"SparkListenerTaskEnd')):
            continue
        try:
            event: dict[str, Any] = json.loads(line)
        except ValueError:
            continue
        kind = event["Event"]
        if kind == "SparkListenerJobStart":
            began[event["Job ID"]] = event["Submission Time"] / 1e3
            last = max(last, began[event["Job ID"]])
        elif kind == "SparkListenerJobEnd":
            end = event["Completion Time"] / 1e3
            found.jobs.append((began.pop(event["Job ID"], end), end))
            last = max(last, end)
        elif kind == "SparkListenerTaskEnd":
            info, metrics = event["Task Info"], event.get("Task Metrics") or {}
            launched, ended = info["Launch Time"] / 1e3, info["Finish Time"] / 1e3
            found.tasks.append(
                Task(
                    event["Stage ID"],
                    launched,
                    ended - launched,
                    metrics.get("Executor Run Time", 0) / 1e3,
                    metrics.get("Executor CPU Time", 0) / 1e9,
                )
            )
            last = max(last, ended)
    found.jobs += [(start, max(start, last)) for start in began.values()]
    found.jobs.sort()
    return found


def _covered(spans: Iterable[tuple[float, float]], start: float, end: float) -> float:
    """Return the seconds between start and end that lie in at least one span; spans ascend."""
    total, reached = 0.0, start
    for begin, stop in spans:
        begin, stop = max(begin, reached), min(stop, end)
        if stop > begin:
            total += stop - begin
            reached = stop
    return total


def profile(events: Events, marks: Sequence[Mark]) -> pd.DataFrame:
    """Tell for each part of a run what Spark did in it.

    Parameters
    ----------
    events : Events
        Of the session that did all of it.
    marks : sequence of Mark
        Parts, which may lie in one another.

    Returns
    -------
    pandas.DataFrame
        One row a part, in order: ``part``; ``seconds``, and those of them in which no Spark job ran
        (``without_spark``: planning, kernels on the driver, drawing); ``jobs``, Spark ``stages``
        with a task and ``tasks`` that began in it; ``task_seconds``; ``java_seconds`` (processor
        time of Java threads in tasks), ``python_seconds`` (the rest of the tasks' running time:
        Python workers, and waiting); ``longest_task`` in seconds.
    """
    import pandas as pd

    rows = []
    for name, start, end in marks:
        tasks = [t for t in events.tasks if start <= t.launched < end]
        java = sum(t.java for t in tasks)
        rows.append(
            (
                name,
                end - start,
                end - start - _covered(events.jobs, start, end),
                sum(start <= began < end for began, _ in events.jobs),
                len({t.stage for t in tasks}),
                len(tasks),
                sum(t.seconds for t in tasks),
                java,
                max(0.0, sum(t.running for t in tasks) - java),
                max((t.seconds for t in tasks), default=0.0),
            )
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def draw_profile(found: pd.DataFrame) -> bytes:
    """Draw the parts of a run as bars: seconds with and without a Spark job.

    Parameters
    ----------
    found : pandas.DataFrame
        From :func:`profile`.

    Returns
    -------
    bytes
        An SVG picture.
    """
    import io

    from matplotlib.figure import Figure

    parts = found.iloc[::-1]
    figure = Figure(figsize=(8, 1 + 0.27 * len(parts)), layout="constrained")
    axes = figure.subplots()
    with_spark = parts["seconds"] - parts["without_spark"]
    axes.barh(parts["part"], with_spark, color="#3b6ea8", label="a Spark job runs")
    axes.barh(
        parts["part"], parts["without_spark"], left=with_spark, color="#c9a227",
        label="no Spark job: planning, kernels, drawing",
    )  # fmt: skip
    for place, row in enumerate(parts.to_dict("records")):
        seconds = float(row["seconds"])
        axes.text(seconds, place, f" {seconds:.1f} s, {row['jobs']} jobs", va="center", size=8)
    axes.set_xlim(0, max(1.0, float(found["seconds"].max())) * 1.25)
    axes.set_xlabel("seconds")
    axes.legend(loc="upper right", fontsize=8)
    axes.set_title("Where the time of the run went", loc="left")
    stream = io.BytesIO()
    figure.savefig(stream, format="svg", metadata={"Date": None, "Title": "Profile of a run"})
    return stream.getvalue()


def event_lines(folder: Path) -> Iterator[str]:
    """Yield the lines of all event logs in a folder."""
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            with file.open(encoding="utf-8", errors="replace") as stream:
                yield from stream
