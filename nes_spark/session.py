"""The Spark session: one place that knows how to start it and what every job relies on.

A session that we start keeps its working files in a folder of its owner only (see
:mod:`nes_spark.scratch`) and writes its log to a file: Spark's messages quote values of rows.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nes_spark import scratch, sharing
from nes_spark.errors import InfrastructureError
from nes_spark.logs import LOGGER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from nes_spark.config import SparkConfig


MIN_JAVA = 17


#: One core a task: a BLAS that starts a thread per core in every worker would fight with Spark.
SINGLE_THREADED = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}

#: The C library keeps freed memory, in an arena for each of a JVM's many threads; Arrow's own
#: allocator keeps it in every Python worker.
GIVE_BACK = {
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_TRIM_THRESHOLD_": "131072",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
ENVIRONMENT = SINGLE_THREADED | GIVE_BACK


def java_version() -> int | None:
    """Return the major version of the Java that Spark would start, None where there is none."""
    java = sharing.java_program()
    if not java:
        return None
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    except OSError:
        return None
    match = re.search(r'version "(\d+)(?:\.(\d+))?', done.stderr + done.stdout)
    if match is None:
        return None
    major = int(match.group(1))
    return int(match.group(2) or 0) if major == 1 else major


def _require_java() -> None:
    found = java_version()
    if found is None:
        raise InfrastructureError(
            f"no Java found; install Java {MIN_JAVA} (for example 'apt-get install "
            f"openjdk-{MIN_JAVA}-jre-headless') or set JAVA_HOME"
        )
    if found < MIN_JAVA:
        raise InfrastructureError(
            f"Java {found} is too old; install Java {MIN_JAVA} or set JAVA_HOME to one"
        )


def _require_server(remote: str) -> None:
    """Say at once that nobody listens: the client itself would try again for many minutes."""
    match = re.match(r"sc://(\[[^\]]+\]|[^:/;]+)(?::(\d+))?", remote)
    if match is None:
        raise InfrastructureError("Spark Connect: give sc://HOST:PORT (spark.remote, SPARK_REMOTE)")
    host, port = match.group(1).strip("[]"), int(match.group(2) or 15002)
    try:
        with socket.create_connection((host, port), timeout=20):
            pass
    except OSError as error:
        raise InfrastructureError(
            f"no Spark Connect server at {host}:{port}: {error.strerror or error}; start one "
            "(start-connect-server.sh) or correct spark.remote / SPARK_REMOTE"
        ) from None


@dataclass
class _Started:
    """The session of this process that we started, and where it works."""

    session: Any
    folders: list[Path]
    log: Path
    close: Callable[[], None] | None = None

    def end(self) -> None:
        """Stop the session and its Java process, then remove the working files."""
        global _started
        if _started is self:
            _started = None
        atexit.unregister(self.end)
        context = self.session._sc
        gateway = context._gateway
        with contextlib.suppress(Exception):  # it may be gone already
            self.session.stop()
        process = getattr(gateway, "proc", None)
        if process is not None:  # None where spark-submit started it
            with contextlib.suppress(Exception):
                gateway.shutdown()
            with contextlib.suppress(OSError):
                process.stdin.close()  # Java ends when it can read no more
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            kind = type(context)  # it keeps the way to the process for the next session
            for name, value in list(vars(kind).items()):
                if value is gateway or value is gateway.jvm:
                    setattr(kind, name, None)
        for folder in self.folders:
            scratch.remove_tree(folder)
        if self.close is not None:
            self.close()


_started: _Started | None = None


def spark_log() -> Path | None:
    """Where the session that we started writes its log; None for one that others started."""
    return None if _started is None else _started.log


def get_session(
    config: SparkConfig | None = None,
    app_name: str = "nes_spark",
    work: Path | None = None,
    log: Path | None = None,
    short: bool = False,
    events: Path | None = None,
) -> SparkSession:
    """Return the active Spark session, or start one.

    Parameters
    ----------
    config : SparkConfig, optional
        Master, shuffle partitions, driver memory and further settings. A session that is already
        active (spark-submit, a notebook, Spark Connect) is used as it is.
    app_name : str, optional
        Name shown in the Spark UI.
    work : pathlib.Path, optional
        Folder for the working files of a session that is started here; it must be empty and for its
        owner only. By default one below the system's temporary folder, which is removed when Python
        ends.
    log : pathlib.Path, optional
        File for Spark's own messages; by default in ``work``.
    short : bool, default False
        The session is for many short jobs over few rows: a local one compiles as little as it can.
    events : pathlib.Path, optional
        Folder for Spark's event log, owner only: its plans quote values.

    Returns
    -------
    pyspark.sql.SparkSession

    Raises
    ------
    InfrastructureError
        When Java is missing or older than 17, or Spark does not start; with ``events``, when the
        session is another's or runs elsewhere.
    """
    global _started
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        if events is not None:
            raise InfrastructureError(_NO_EVENTS)
        return active
    master = config.master if config else None
    remote = config.remote if config else None
    if master and master.startswith("sc://"):
        remote, master = master, None
    if remote is None and master is None:
        remote = os.environ.get("SPARK_REMOTE")
    if remote:
        _require_server(remote)
    else:
        _require_java()
    builder = SparkSession.builder.appName(app_name)
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    if events is not None and (remote or submitted):
        raise InfrastructureError(_NO_EVENTS)
    if remote:
        builder = builder.remote(remote)
    elif not master and submitted:
        pass  # spark-submit has said which
    else:
        master = master or os.environ.get("MASTER", "local[*]")
        builder = builder.master(master)
    told = _submitted_settings() if submitted and not remote else {}
    local = not remote and (master or told.get("spark.master", "")).startswith("local")
    settings = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # A batch of long documents must fit a worker; Spark 3.5 knows the first bound only.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "500",
        "spark.sql.execution.arrow.maxBytesPerBatch": "64m",
        # What is kept comes in columns of so many rows, each built in the heap: 10,000 texts with
        # their edits are too many for a small one.
        "spark.sql.inMemoryColumnarStorage.batchSize": "1000",
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.debug.maxToStringFields": "100",
        "spark.sql.parquet.compression.codec": "snappy",
    }
    if not submitted and not remote:
        if local:
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= {
            "spark.driver.memory": config.driver_memory if config else "2g",
            "spark.ui.showConsoleProgress": "false",
            "spark.ui.enabled": "false",
            # Plans are kept as text, a thousand of them by default, and fill the driver's heap.
            "spark.sql.ui.retainedExecutions": "20",
            # Without memory some thread of Spark dies and its Python side waits forever.
            JAVA_OPTIONS: "-XX:+ExitOnOutOfMemoryError",
            "spark.driver.host": "localhost",
            "spark.driver.bindAddress": "127.0.0.1",
        }
        if local:
            settings["spark.python.daemon.module"] = "nes_spark.workers"
            # Queries have it set and lists of rows have not: workers of the one would not serve the
            # other, and a second process would load all libraries again.
            settings["spark.executorEnv.SPARK_SIMPLIFIED_TRACEBACK"] = "1"
            settings["spark.sql.shuffle.partitions"] = str(2 * (os.cpu_count() or 1))
            # 64 MB of texts, Spark's default, are minutes in Python: too few tasks for even work.
            settings["spark.sql.adaptive.advisoryPartitionSizeInBytes"] = "16m"
            # As of files, of which Spark's default reads 128 MB in one task.
            settings["spark.sql.files.maxPartitionBytes"] = "32m"
            java = [*sharing.java_options(), *(SHORT_JOBS_JAVA if short else ())]
            settings[JAVA_OPTIONS] = " ".join([settings[JAVA_OPTIONS], *java])
            if short:
                settings |= SHORT_JOBS
                settings["spark.sql.shuffle.partitions"] = str(os.cpu_count() or 1)
        else:
            for local_only in ("spark.driver.host", "spark.driver.bindAddress"):
                del settings[local_only]
    if not remote:  # a Connect server has started already
        settings |= dict.fromkeys(CALLERS, "false")
        for name, value in ENVIRONMENT.items():
            settings[f"spark.executorEnv.{name}"] = value
    if config and config.shuffle_partitions:
        settings["spark.sql.shuffle.partitions"] = str(config.shuffle_partitions)
    ours = settings.get(JAVA_OPTIONS)
    if config:
        settings |= config.settings
    if events is not None:
        settings |= {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": events.absolute().as_uri(),
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
        }
    if remote or (submitted and not local):
        # The cluster's manager sets the folders of its processes; see warn_about_encryption.
        return _start(builder, settings, None)
    close = None
    if work is None or "," in str(work):  # Spark takes a comma for the start of another folder
        work, close = scratch.temporary_work()
    log = log or work / "spark.log"
    folders = _local_folders({**told, **settings}, submitted, work)
    temporary = scratch.private_folder(work / "tmp")
    mine = {"spark.local.dir": ",".join(map(str, folders))}
    if local:
        mine["spark.executorEnv.TMPDIR"] = str(temporary)
    if ours is not None:
        given = settings[JAVA_OPTIONS] if settings[JAVA_OPTIONS] != ours else ""
        quoted = str(temporary).replace("\\", "\\\\").replace('"', '\\"')
        mine[JAVA_OPTIONS] = f'{ours} "-Djava.io.tmpdir={quoted}" {given}'.strip()
    before = os.environ.get(LOCAL_DIRS)
    if not submitted:
        os.environ[LOCAL_DIRS] = mine["spark.local.dir"]  # it has the last word in a local session
    session = None
    try:
        with _uninterrupted(), contextlib.nullcontext() if submitted else _errors_to(log):
            session = _start(builder, settings | mine, log)
    except BaseException:
        if session is not None:
            _Started(session, folders, log, close).end()
        else:
            for folder in folders:
                scratch.remove_tree(folder)
            if close is not None:
                close()
        raise
    finally:
        if before is None:
            os.environ.pop(LOCAL_DIRS, None)
        else:
            os.environ[LOCAL_DIRS] = before
    if session._sc._conf.get("spark.local.dir") == mine["spark.local.dir"]:  # not another's context
        _started = _Started(session, folders, log, close)
        atexit.register(_started.end)
    elif close is not None:
        close()
    return session


_NO_EVENTS = (
    "a profile can be made of a session that nes-spark starts itself; leave --profile out and look "
    "at the Spark UI or the event log (spark.eventLog.enabled) of this one"
)
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
#: Whether Spark 4 notes which line made each column and each frame: Python asks Java for that and
#: looks for IPython, and Java looks through its own stack, which says nothing about Python.
CALLERS = ("spark.python.sql.dataFrameDebugging.enabled", "spark.sql.dataFrameQueryContext.enabled")
#: For many short jobs over few rows. Without these, compiling Java code for them, clearing it away
#: and collecting garbage take more processor time than all tasks together.
SHORT_JOBS_JAVA = (
    "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=512m",
    "-XX:-UseCodeCacheFlushing",
    "-XX:+UseSerialGC",
)
#: The same for the code that Spark generates for every query. And each operator of each task takes
#: a page, of 16 MB and more by default: a heap of nearly empty ones is collected again and again.
#: An adaptive query runs every shuffle and every broadcast as a job of its own and plans the rest
#: anew; there is nothing to adapt where a core has one small partition.
SHORT_JOBS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.buffer.pageSize": "1m",
    # By default all files below 4 MB together are one task.
    "spark.sql.files.openCostInBytes": "64k",
}
LOCAL_DIRS = "SPARK_LOCAL_DIRS"


def _submitted_settings() -> dict[str, str]:
    """Read what spark-submit was told about the master and the disks."""
    from pyspark.java_gateway import launch_gateway

    gateway = launch_gateway()  # a second way to the process that is there
    try:
        conf = gateway.jvm.org.apache.spark.SparkConf(True)
        found = {name: conf.get(name, "") for name in ("spark.master", "spark.local.dir")}
    finally:
        gateway.close()
    return {name: value for name, value in found.items() if value}


def _local_folders(settings: dict[str, str], submitted: bool, work: Path) -> list[Path]:
    """Make the folders of working files: in ``work``, or on the disks that the user named."""
    named = settings.get("spark.local.dir") or ("" if submitted else os.environ.get(LOCAL_DIRS, ""))
    disks = [disk.strip() for disk in named.split(",") if disk.strip()]
    folders = [scratch.below(disk, work) for disk in disks] or [work / "spark"]
    for folder in folders:
        scratch.remove_tree(folder)  # of a run that was killed
        scratch.private_folder(folder)
    return folders


def _start(builder: Any, settings: dict[str, str], log: Path | None) -> SparkSession:
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        session: SparkSession = builder.getOrCreate()
    except Exception as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        said = log.read_text(errors="replace") if log is not None and log.is_file() else ""
        cause = re.search(r"^(?:Error|Invalid|Exception|Caused by)\b.*$", said, re.MULTILINE)
        raise InfrastructureError(
            f"Spark did not start: {cause.group() if cause else first}"
        ) from error
    return session


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back until Java has started: in between it would be left running for ever.

    Afterwards it means what it meant before: Spark's own handler talks to Java in the middle of a
    call and fails with traces.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        raise KeyboardInterrupt


@contextlib.contextmanager
def _errors_to(file: Path) -> Iterator[None]:
    """Let processes that start meanwhile write their standard error to a file of the owner only."""
    sys.stderr.flush()
    target = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    saved = os.dup(2)
    try:
        os.dup2(target, 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(saved, 2)
        os.close(saved)
        os.close(target)


@contextlib.contextmanager
def run_session(
    config: SparkConfig,
    work: Path | None,
    log: Path | None,
    given: SparkSession | None = None,
    short: bool = False,
    events: Path | None = None,
) -> Iterator[SparkSession]:
    """Give a session for one run; one that is started for it ends with it.

    Parameters
    ----------
    config : SparkConfig
        As for :func:`get_session`.
    work, log : pathlib.Path or None
        As for :func:`get_session`. The log stays when the run fails.
    given : pyspark.sql.SparkSession, optional
        A session to use; it and one that is active already are left running, with their working
        files where whoever started them wanted them.
    short, events
        As for :func:`get_session`.

    Yields
    ------
    pyspark.sql.SparkSession
    """
    before = _started
    if given is not None and events is not None:
        raise InfrastructureError(_NO_EVENTS)
    session = given or get_session(config, work=work, log=log, short=short, events=events)
    mine = _started if _started is not before else None
    try:
        warn_about_encryption(session)
        yield session
    except BaseException:
        if mine is not None:
            mine.end()
        raise
    if mine is not None:
        mine.end()
        mine.log.unlink(missing_ok=True)


def warn_about_encryption(session: SparkSession) -> bool:
    """Warn where a cluster's processes keep their working files open; True where that is so."""
    master = session.conf.get("spark.master", "") or ""
    encrypted = session.conf.get("spark.io.encryption.enabled", "false") or "false"
    if master.startswith("local") or encrypted.lower() == "true":
        return False
    LOGGER.warning(
        "spark.io.encryption.enabled is off: the cluster's local folders hold texts in the open; "
        "set it to true (conf/cluster.yaml shows how) unless those disks are encrypted"
    )
    return True


def start_worker(session: SparkSession) -> None:
    """Let Spark start a Python worker, which loads what all share (:mod:`nes_spark.workers`).

    That takes seconds, in which a driver that has not yet given workers anything to do can read
    and plan. One task, so that a core is left for what needs no Python.
    """
    session.range(0, 1, 1, 1).mapInPandas(lambda batches: batches, "id bigint").collect()


def collected(frame: DataFrame) -> list[dict[str, Any]]:
    """Collect a small table, a dict for each row; by Arrow where Spark can (from 4 on).

    A ``Row`` for each and its fields takes two to five times as long.
    """
    if not hasattr(frame, "toArrow"):
        return [row.asDict(recursive=True) for row in frame.collect()]
    rows: list[dict[str, Any]] = frame.toArrow().to_pylist(maps_as_pydicts="strict")
    return rows
