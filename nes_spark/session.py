"""The Spark session: one place that knows how to start it and what every job relies on."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

from nes_spark.errors import InfrastructureError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

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
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
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


def get_session(config: SparkConfig | None = None, app_name: str = "nes_spark") -> SparkSession:
    """Return the active Spark session, or start one.

    Parameters
    ----------
    config : SparkConfig, optional
        Master, shuffle partitions, driver memory and further settings. A session that is already
        active (spark-submit, a notebook, Spark Connect) is used as it is.
    app_name : str, optional
        Name shown in the Spark UI.

    Returns
    -------
    pyspark.sql.SparkSession

    Raises
    ------
    InfrastructureError
        When Java is missing or older than 17, or Spark does not start.
    """
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
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
    if remote:
        builder = builder.remote(remote)
    elif master:
        builder = builder.master(master)
    elif not submitted:
        builder = builder.master(os.environ.get("MASTER", "local[*]"))
    settings = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # A batch of long documents must fit a worker; Spark 3.5 knows the first bound only.
        "spark.sql.execution.arrow.maxRecordsPerBatch": "500",
        "spark.sql.execution.arrow.maxBytesPerBatch": "64m",
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.debug.maxToStringFields": "100",
        "spark.sql.parquet.compression.codec": "snappy",
    }
    if not submitted and not remote:
        if not master or master.startswith("local"):
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= {
            "spark.driver.memory": config.driver_memory if config else "2g",
            "spark.ui.showConsoleProgress": "false",
            "spark.ui.enabled": "false",
            # Plans are kept as text, a thousand of them by default, and fill the driver's heap.
            "spark.sql.ui.retainedExecutions": "20",
            # Without memory some thread of Spark dies and its Python side waits forever.
            "spark.driver.extraJavaOptions": "-XX:+ExitOnOutOfMemoryError",
            "spark.driver.host": "localhost",
            "spark.driver.bindAddress": "127.0.0.1",
        }
        if not master or master.startswith("local"):
            settings["spark.sql.shuffle.partitions"] = str(2 * (os.cpu_count() or 1))
            # 64 MB of texts, Spark's default, are minutes in Python: too few tasks for even work.
            settings["spark.sql.adaptive.advisoryPartitionSizeInBytes"] = "16m"
        else:
            for local_only in ("spark.driver.host", "spark.driver.bindAddress"):
                del settings[local_only]
    if not remote:  # a Connect server has started its executors already
        for name, value in ENVIRONMENT.items():
            settings[f"spark.executorEnv.{name}"] = value
    if config and config.shuffle_partitions:
        settings["spark.sql.shuffle.partitions"] = str(config.shuffle_partitions)
    if config:
        settings |= config.settings
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise InfrastructureError(f"Spark did not start: {first}") from error
    return session


def shuffle_partitions(frame: DataFrame) -> int:
    """Return how many partitions a shuffle of the frame's session makes."""
    return int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)


def spread(rows: DataFrame, *keys: str | Column) -> DataFrame:
    """Spread rows over tasks: a table of few files has few, one with all of a huge document."""
    return rows.repartition(shuffle_partitions(rows), *keys)
