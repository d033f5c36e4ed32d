"""Forecast of a run from a sample: time, memory and size of the release space.

The documents are read as a run reads them. All other steps run for real on two samples, one inside
the other, in one session and in a folder that is removed: the smaller one first in a session that
has just started, as a run's is, then once more, and then the larger one. What the last two differ
by belongs to the documents between them; what is left of the first run is paid once a run,
whatever the corpus:

    seconds(X) = cold(x1) + max(0, warm(x2) - warm(x1)) / (x2 - x1) (X - x1)

for each step, with x the characters of the documents: where more documents took less, something
else was in the way, or Java was still becoming faster. The judge reads a bounded number of texts:
its steps grow until that is reached only (:func:`judged_size`).
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import hashlib
import logging
import math
import os
import secrets
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nes_spark import scratch
from nes_spark.errors import ConfigError, GateRefused, InfrastructureError, InputError, NesError
from nes_spark.logs import LOGGER, Progress, clock

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from nes_spark.config import Config, ReleasesConfig
    from nes_spark.run.context import Context
    from nes_spark.store import Store

#: Fewest documents of a sample: with fewer, next to nothing can be exchanged.
LEAST = 8
#: The larger sample holds so many times the documents of the smaller one. A run on few documents
#: is nearly all fixed cost, so a wide step costs little and tells most.
STEP = 4
START, READ = "start", "documents"
#: Steps in which the judge reads texts, no more than ``utility.judge_texts`` whatever the corpus.
JUDGED = ("utility", "release: utility")
#: What is counted of the release space -> what it is in words.
COUNTS = {
    "chunks": "chunks",
    "changeable": "of them hold a name that can be exchanged",
    "swaps": "swaps, over all draws",
    "candidates": "candidate releases, with the one without swaps",
}
_GIB = 1 << 30


# -- numbers -----------------------------------------------------------------------------------


def parse_sample(text: str) -> float | int:
    """Read how large a sample is to be.

    Parameters
    ----------
    text : str
        A share of the documents (``1%``, ``0.01``), or their number (``20``, ``20 documents``).

    Returns
    -------
    float or int
        A share in (0, 1], or a number of documents.

    Raises
    ------
    ConfigError
        For anything else.

    Examples
    --------
    >>> parse_sample("1%"), parse_sample("0.05"), parse_sample("20 documents")
    (0.01, 0.05, 20)
    """
    words = text.strip().lower()
    number = words.removesuffix("documents").removesuffix("%").strip()
    fault = ConfigError(
        f"--sample {text!r}: must be a share such as 1% or 0.01, or a number of documents, at "
        f"least {LEAST}"
    )
    try:
        value = float(number)
    except ValueError:
        raise fault from None
    share = words.endswith("%") or ("." in number and not words.endswith("documents"))
    if share:
        value = value / 100 if words.endswith("%") else value
        if not 0 < value <= 1:
            raise fault
        return value
    if value != int(value) or value < LEAST:
        raise fault
    return int(value)


def sample_sizes(wanted: float | int, documents: int) -> tuple[int, int]:
    """Return the documents of the smaller and of the larger sample.

    Parameters
    ----------
    wanted : float or int
        From :func:`parse_sample`: what the larger one is to hold.
    documents : int
        Accepted documents.

    Returns
    -------
    tuple of (int, int)
        The smaller one holds :data:`LEAST` at least, the larger one what is wanted and
        :data:`STEP` times the smaller one, or all documents where these are fewer.

    Raises
    ------
    InputError
        When there are fewer than :data:`LEAST` documents.

    Examples
    --------
    >>> sample_sizes(0.01, 44), sample_sizes(0.01, 100_000), sample_sizes(20, 44)
    ((8, 32), (250, 1000), (8, 32))
    """
    if documents < LEAST:
        raise InputError(
            f"--sample: {documents} documents were accepted, a forecast needs at least {LEAST}; "
            "run them without one"
        )
    asked = wanted if isinstance(wanted, int) else round(wanted * documents)
    large = min(documents, max(asked, STEP * LEAST))
    return max(LEAST, large // STEP), large


def extrapolated(
    cold: float, warm: float, larger: float, sizes: tuple[float, float, float]
) -> float:
    """Return what a step takes on the whole corpus; see the module.

    Parameters
    ----------
    cold, warm : float
        What it took on the smaller sample, first and again.
    larger : float
        What it took on the larger sample, after these.
    sizes : tuple of (float, float, float)
        Size of the smaller sample, the larger one, and the corpus.

    Returns
    -------
    float
        In the unit of `cold`, and never less than that.

    Examples
    --------
    >>> extrapolated(cold=5.0, warm=2.0, larger=3.0, sizes=(8, 16, 48))
    10.0
    """
    small, large, whole = sizes
    slope = max(0.0, larger - warm) / (large - small) if large > small else 0.0
    return cold + slope * (whole - small)


@dataclass(frozen=True)
class Step:
    """One step of the run: what it took on the samples, and will take. Seconds.

    Attributes
    ----------
    name : str
        A stage, or a part of the release.
    cold, warm, larger : float
        Wall time on the smaller sample, first and again, and on the larger one.
    seconds : float
        Wall time forecast.
    processor : float or None
        Processor time forecast, of all processes; None where it is not known.
    """

    name: str
    cold: float
    warm: float
    larger: float
    seconds: float
    processor: float | None


@dataclass(frozen=True)
class Forecast:
    """What a run will take.

    Attributes
    ----------
    documents, sampled : int, tuple of (int, int)
        Documents of the corpus, and of the two samples.
    steps : list of Step
        In the order of the run, with its start and the reading of all documents.
    memory : dict
        ``driver``, ``java``, ``workers`` -> bytes at the peak; empty where it is not known.
    space : dict
        One of :data:`COUNTS` -> how many.
    spent : float
        Seconds that the forecast itself took.
    """

    documents: int
    sampled: tuple[int, int]
    steps: list[Step]
    memory: dict[str, float]
    space: dict[str, int]
    spent: float

    @property
    def seconds(self) -> float:
        """Wall time of the run: the sum of its steps."""
        return sum(step.seconds for step in self.steps)

    @property
    def processor(self) -> float | None:
        """Processor time of all processes together; None where it is not known."""
        known = [step.processor for step in self.steps]
        return None if None in known else sum(p for p in known if p is not None)

    def __str__(self) -> str:
        small, large = self.sampled
        lines = [
            f"forecast for {self.documents:,} documents, from runs on {small:,} and {large:,} of "
            f"them on this machine as busy as it is now ({clock(self.spent)})",
            "",
            f"{'step':<28}{'sample, s':>12}{'forecast, s':>14}{'processor, s':>14}",
        ]
        for step in self.steps:
            spent = "–" if step.processor is None else f"{step.processor:,.1f}"
            lines.append(f"{step.name:<28}{step.larger:>12,.1f}{step.seconds:>14,.1f}{spent:>14}")
        total = self.processor
        lines.append(
            f"{'in all':<28}{'':>12}{self.seconds:>14,.1f}"
            f"{'–' if total is None else f'{total:,.1f}':>14}"
        )
        lines += ["", f"time: {clock(self.seconds)}"]
        if self.memory:
            parts = {"driver": "Python of the driver", "java": "Java", "workers": "Python workers"}
            told = ", ".join(f"{words} {self.memory[n] / _GIB:.1f}" for n, words in parts.items())
            lines.append(f"memory at the peak, GiB: {told}")
        else:
            lines.append("memory: not known on this system")
        told = ", ".join(f"{self.space[name]:,} {words}" for name, words in COUNTS.items())
        lines.append(f"release space: {told}")
        return "\n".join(lines)


# -- what a process and those below it take ----------------------------------------------------


@dataclass
class Meter:
    """Reads processor time and memory of this process and all below it from ``/proc``.

    Attributes
    ----------
    peaks : dict
        ``driver``, ``java``, ``workers`` -> most bytes since :meth:`restart` (proportional set
        size, so that pages that forked workers share count once).
    """

    peaks: dict[str, float] = field(default_factory=dict)
    _over: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def works(self) -> bool:
        """Whether this system tells."""
        return Path("/proc/self/smaps_rollup").exists()

    def __enter__(self) -> Meter:
        if self.works:
            threading.Thread(target=self._watch, name="meter", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()

    def _watch(self) -> None:
        while not self._over.wait(0.5):
            self.look()

    def restart(self) -> None:
        """Forget the peaks; what is in use now is the first one."""
        self.peaks = {}
        self.look()

    def look(self) -> None:
        """Note what memory is in use now."""
        now = dict.fromkeys(("driver", "java", "workers"), 0.0)
        for pid in self._tree():
            with contextlib.suppress(OSError, ValueError, IndexError):
                name = Path(f"/proc/{pid}/comm").read_text().strip()
                kind = "driver" if pid == os.getpid() else "java" if name == "java" else "workers"
                for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                    if line.startswith("Pss:"):
                        now[kind] += 1024.0 * int(line.split()[1])
        peaks = self.peaks
        for kind, used in now.items():
            peaks[kind] = max(used, peaks.get(kind, 0.0))

    def processor(self) -> float | None:
        """Return the processor seconds so far, of processes that have ended too."""
        if not self.works:
            return None
        ticks = 0
        for pid in self._tree():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # behind the name in brackets: user, system, and those of children waited for
                ticks += sum(map(int, _stat(pid)[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    @staticmethod
    def _tree() -> list[int]:
        below: dict[int, list[int]] = {}
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError, ValueError, IndexError):
                    below.setdefault(int(_stat(int(folder.name))[1]), []).append(int(folder.name))
        found = [os.getpid()]
        for pid in found:
            found += below.get(pid, [])
        return found


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


# -- the runs ----------------------------------------------------------------------------------


@dataclass
class Sampled:
    """One run on a sample.

    Attributes
    ----------
    size : float
        Characters of its documents.
    steps : dict
        Step -> (wall, processor) seconds; processor time is 0 where it is not known.
    peaks : dict
        As in :class:`Meter`.
    space : dict
        As in :class:`Forecast`.
    judged : float
        Texts that the judge has read in stage ``utility``, as a share of the most that it reads.
    """

    size: float
    steps: dict[str, tuple[float, float]]
    peaks: dict[str, float]
    space: dict[str, int]
    judged: float = 0.0


def judged_size(first: Sampled, larger: Sampled, total: float) -> float:
    """Return the size at which the judge has read all that it will; the corpus' if it never does.

    Examples
    --------
    >>> half, all_ = (Sampled(10.0 * n, {}, {}, {}, judged=0.4 * n) for n in (1, 2))
    >>> judged_size(half, all_, 1000.0), judged_size(half, all_, 22.0)
    (25.0, 22.0)
    """
    grown, size = larger.judged - first.judged, larger.size - first.size
    if grown <= 0 or size <= 0:
        return min(total, larger.size)
    return min(total, max(larger.size, first.size + (1 - first.judged) * size / grown))


def forecast(config: Config, sample: str, spark: SparkSession | None = None) -> Forecast:
    """Run a sample and say what a run of the whole corpus will take.

    Parameters
    ----------
    config : Config
        As for :func:`nes_spark.run`.
    sample : str
        As :func:`parse_sample` reads it.
    spark : pyspark.sql.SparkSession, optional
        As for :func:`nes_spark.run`.

    Returns
    -------
    Forecast
        Of a run from nothing: without tables that are up to date or taken from an earlier run.

    Raises
    ------
    ConfigError
        When the configuration or `sample` has a fault.
    InputError
        When the input cannot be used or holds too few documents.
    NesError
        When a sample cannot be run, for example because nothing in it can be swapped.

    Notes
    -----
    What a run sends elsewhere (texts to an embedding or language model) the samples send too. No
    release leaves the folder, and no tracking server is told.
    """
    wanted = parse_sample(sample)
    from nes_spark.run.checks import check_config

    check_config(config)
    from nes_spark.failures import translated
    from nes_spark.run.judging import check_judge

    began = time.perf_counter()
    with Progress(7) as progress, Meter() as meter, translated("forecast"):
        check_judge(config)
        progress.prepare("starting Spark")
        with _folder(config) as folder, _quietly(), _own_tracking():
            return _forecast(config, wanted, spark, folder, progress, meter, began)


def _forecast(
    config: Config,
    wanted: float | int,
    spark: SparkSession | None,
    folder: Path,
    progress: Progress,
    meter: Meter,
    began: float,
) -> Forecast:
    from nes_spark.failures import translated
    from nes_spark.run.context import input_digest
    from nes_spark.session import run_session
    from nes_spark.store import find_inputs, is_small

    paths = config.input.paths
    find_inputs(paths)
    work = scratch.private_folder(folder / "work")
    small_session = bool(paths) and is_small(paths)
    with (
        run_session(config.spark, work, folder / "spark.log", spark, small_session) as session,
        translated("forecast"),  # inside: what Spark raised cannot be read after its end
    ):
        digest = input_digest(session, config)
        start = (time.perf_counter() - began, meter.processor() or 0.0)
        progress.start(READ, "read all documents")
        whole = _context(session, config, folder, "whole", digest)
        whole.store.prepare()
        reading = _measured(meter)
        _execute(whole, READ)
        read = reading()
        lengths = _lengths(whole)
        sizes = sample_sizes(wanted, len(lengths))
        chosen = [_chosen(lengths, n) for n in sizes]
        runs = []
        for number, ids in enumerate((chosen[0], chosen[0], chosen[1])):
            progress.start(f"sample {number + 1} of 3", f"{len(ids):,} documents")
            size = float(sum(lengths[d][1] for d in ids))
            with _context(session, config, folder, f"sample{number}", digest) as one:
                runs.append(_run(one, whole, ids, size, progress, meter))
    total = float(sum(length for _, length in lengths.values()))
    steps = [
        Step(name, took[0], took[0], took[0], took[0], took[1] if meter.works else None)
        for name, took in ((START, start), (READ, read))
    ]
    return Forecast(
        len(lengths),
        sizes,
        steps + steps_of(runs, total, meter.works),
        _memory(runs, total, config) if meter.works else {},
        _space(runs, total),
        time.perf_counter() - began,
    )


def steps_of(runs: Sequence[Sampled], total: float, processor: bool = True) -> list[Step]:
    """Extrapolate the steps of three sample runs: small, small again, and larger.

    Parameters
    ----------
    runs : sequence of Sampled
    total : float
        Characters of the corpus.
    processor : bool, optional
        Whether processor time is known.
    """
    first, again, larger = runs
    found = []
    until = judged_size(first, larger, total)
    for name, took in first.steps.items():
        sizes = (first.size, larger.size, until if name in JUDGED else total)
        both = [
            extrapolated(cold, warm, large, sizes)
            for cold, warm, large in zip(
                took,
                again.steps.get(name, took),
                larger.steps.get(name, took),
                strict=True,
            )
        ]
        walls = [run.steps.get(name, took)[0] for run in runs]
        cold, warm, large = walls
        found.append(Step(name, cold, warm, large, both[0], both[1] if processor else None))
    return found


def _memory(runs: Sequence[Sampled], total: float, config: Config) -> dict[str, float]:
    """Extrapolate the peaks; Java takes no more than its heap and what lies beside it.

    The peak of the first run, and what the larger sample took more than the smaller one did again:
    runs in one session leave something behind that a single one does not meet.
    """
    first, again, larger = runs
    sizes = (first.size, larger.size, total)
    found = {
        kind: extrapolated(first.peaks[kind], again.peaks[kind], peak, sizes)
        for kind, peak in larger.peaks.items()
    }
    heap = _bytes(config.spark.driver_memory)
    if "java" in found and heap:
        found["java"] = min(found["java"], max(first.peaks["java"], heap + 0.5 * _GIB))
    return found


def _bytes(memory: str) -> float:
    units = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
    number, unit = memory[:-1], memory[-1:].lower()
    return float(number) * units[unit] if unit in units and number.isdigit() else 0.0


def _space(runs: Sequence[Sampled], total: float) -> dict[str, int]:
    """Extrapolate counts; what both samples have alike does not grow."""
    first, _, larger = runs
    sizes = (first.size, larger.size, total)
    return {
        name: round(extrapolated(first.space[name], first.space[name], count, sizes))
        for name, count in larger.space.items()
    }


def _run(
    context: Context,
    whole: Context,
    ids: Sequence[str],
    size: float,
    progress: Progress,
    meter: Meter,
) -> Sampled:
    """Run all stages on some documents, and the last step."""
    from pyspark.sql import functions as F

    from nes_spark.run.context import finished
    from nes_spark.run.mlflow_run import open_ahead
    from nes_spark.run.pipeline import STAGES
    from nes_spark.run.release import publish
    from nes_spark.utility.judge import CANDIDATES_SHARE

    store, steps = context.store, {}
    store.prepare()
    context.tracker = open_ahead(context.config, store)
    for name in (READ, "quarantine"):
        table = whole.table(name)
        kept = table.where(F.col("document_id").isin(list(ids))) if name == READ else table.limit(0)
        store.write_table(name, kept, "sample")
    _let_go(context.spark)
    meter.restart()
    try:
        for stage in STAGES[1:]:
            progress.inside(stage.name)
            took = _measured(meter)
            _execute(context, stage.name)
            steps[stage.name] = took()
            if stage.name == "swaps" and not _rows(store, "swaps"):
                raise InputError("nothing can be swapped")
        marks = len(progress.marks)
        took = _measured(meter)
        with contextlib.suppress(GateRefused):  # few documents: gates may be right to refuse
            publish(context, progress, True)
        steps |= _parts(progress.marks[marks:], took())
    except NesError as error:
        words = str(error).splitlines()[0]
        raise type(error)(
            f"--sample: a run on {len(ids):,} documents stopped: {words}; give a larger sample"
        ) from None
    meter.look()
    space = release_space(store, context.config.releases)
    judged = finished(store, "judged").details.get("texts", 0)
    most = max(1, math.floor(CANDIDATES_SHARE * context.config.utility.judge_texts))
    return Sampled(size, steps, dict(meter.peaks), space, judged / most)


def _let_go(session: SparkSession) -> None:
    """Give back what the driver and Java hold of runs that are over, as far as they can."""
    from pyspark.sql import functions as F

    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # another C library has no such call
        ctypes.CDLL(None).malloc_trim(0)
    collect = F.java_method(F.lit("java.lang.System"), F.lit("gc"))
    session.range(1).select(collect).collect()


def _parts(
    marks: Sequence[tuple[str, float, float]], took: tuple[float, float]
) -> dict[str, tuple[float, float]]:
    """Divide the last step by the parts that it told of; processor time in their proportion."""
    seconds, processor = took
    parts: dict[str, float] = {}
    for name, start, end in marks:
        if name.startswith("release: "):
            parts[name] = parts.get(name, 0.0) + end - start
    parts["release: other"] = max(0.0, seconds - sum(parts.values()))
    rate = processor / seconds if seconds else 0.0
    return {name: (wall, wall * rate) for name, wall in parts.items()}


def _measured(meter: Meter) -> Any:
    """Return what says, when called, the wall and processor seconds since."""
    began, spent = time.perf_counter(), meter.processor() or 0.0
    return lambda: (time.perf_counter() - began, (meter.processor() or 0.0) - spent)


def _execute(context: Context, name: str) -> None:
    from nes_spark.run.pipeline import STAGES

    (stage,) = (s for s in STAGES if s.name == name)
    stage.execute(context, stage.key(context))


def _rows(store: Store, name: str) -> int:
    found = store.manifest(name)
    return 0 if found is None else found.rows


def release_space(store: Store, releases: ReleasesConfig) -> dict[str, int]:
    """Count what the releases of a run are made of.

    Parameters
    ----------
    store : Store
        Run folder whose stages up to ``candidates`` are finished.
    releases : ReleasesConfig
        What that run exchanged.

    Returns
    -------
    dict of str to int
        One of :data:`COUNTS` -> how many.
    """
    from nes_spark.releases import combinations_of

    swapped = {c for combination in combinations_of(releases) for c in combination}
    mentions = store.read_pandas(
        "mentions", ["chunk_id"], {"category": sorted({*swapped, *releases.further})}
    )
    changeable = int(mentions["chunk_id"].nunique())
    return {name: changeable if name == "changeable" else _rows(store, name) for name in COUNTS}


def _lengths(context: Context) -> dict[str, tuple[str, int]]:
    """Document -> its secret and its characters.

    Raises
    ------
    InputError
        When fewer than two secrets are there.
    """
    from pyspark.sql import functions as F

    rows = context.table(READ).select("document_id", "metadata", F.length("text")).collect()
    found = {row[0]: (row[1], int(row[2])) for row in rows}
    if len({secret for secret, _ in found.values()}) < 2:
        raise InputError(
            f"--sample: {len(found)} document(s) with one and the same metadata or none; swapping "
            "needs at least two documents with different metadata (columns.metadata)"
        )
    return found


def _chosen(lengths: Mapping[str, tuple[str, int]], n: int) -> list[str]:
    """Choose n documents by the hash of their ids: those of a smaller sample are among them."""
    return sorted(lengths, key=lambda d: hashlib.sha256(d.encode()).digest())[:n]


def _context(
    session: SparkSession, config: Config, folder: Path, name: str, digest: str
) -> Context:
    """Open a run folder for a sample; its seed is nobody's."""
    from nes_spark.run.context import Context
    from nes_spark.store import Store
    from nes_spark.swapping.seeds import Secret

    output: dict[str, Any] = {
        "directory": str(folder), "reuse": None, "release_format": None, "release_path": None,
        "release_options": {},
    }  # fmt: skip
    changes: dict[str, dict[str, Any]] = {
        "output": output,
        "tracking": {"uri": None, "register_model": None},
        "audit": {"answers": None},
        "ledger": {"encrypt": False},
        # in few chunks every combination of names may be unique, where no risk model can be fitted
        "risk": {"on_failure": "skip"},
    }
    update = {n: getattr(config, n).model_copy(update=new) for n, new in changes.items()}
    mine = config.model_copy(update=update)
    secret = Secret(secrets.token_hex(32))
    return Context(session, mine, Store(folder / name), secret, digest)


@contextlib.contextmanager
def _folder(config: Config) -> Iterator[Path]:
    """Give an empty folder for the samples, owner only, on the disk of the output where local."""
    from nes_spark.store import local_path

    local = local_path(config.output.directory)
    place = None
    if local is not None:
        output = Path(local).expanduser().absolute()
        place = next(p for p in (output, *output.parents) if p.is_dir())
    try:
        folder, close = scratch.temporary_work(place)
    except OSError as error:
        raise InfrastructureError(
            f"{place}: cannot be written: {error.strerror}; choose another --output"
        ) from None
    try:
        yield folder
    finally:
        close()


@contextlib.contextmanager
def _own_tracking() -> Iterator[None]:
    """Let MLflow record into the samples' folder, and know nothing of it afterwards."""
    name = "MLFLOW_TRACKING_URI"
    before = os.environ.pop(name, None)
    try:
        yield
    finally:
        if "mlflow" in sys.modules:
            sys.modules["mlflow"].set_tracking_uri(before or "")
        if before is not None:
            os.environ[name] = before


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Keep what the runs on samples say to themselves."""
    before = LOGGER.level
    LOGGER.setLevel(logging.ERROR)
    try:
        yield
    finally:
        LOGGER.setLevel(before)
