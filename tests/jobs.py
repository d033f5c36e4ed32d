"""Run the command line in a process of its own, watch its log, kill all of it: for slow tests.

The package is copied first, so that editing the source while minutes-long tests run changes neither
the code nor its version.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]


def seed_named(name: str) -> str:
    """A seed of the right form that tests can know; never one for data of your own."""
    return hashlib.sha256(name.encode()).hexdigest()


SEED = seed_named("fault tests")
TIMEOUT = 900

#: A run of half a minute: few chunks, few swaps, no audit.
SMALL = {
    "mixture.n_components": "3",
    "mixture.n_init": "2",
    "releases.plan": "pairs",
    "releases.draws": "1",
    "choice.rule": "line",
    "releases.max_swaps": "6",
    "report.examples": "false",
    "audit.linkage": "false",
    "utility.judge": "off",
    "spark.shuffle_partitions": "2",
}


def copy_package(folder: Path) -> Path:
    """Copy package and jobs; return the folder to put on the module path."""
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(ROOT / "nes_spark", folder / "nes_spark", ignore=ignored)
    shutil.copytree(ROOT / "jobs", folder / "jobs", ignore=ignored)
    return folder


def environment(source: Path, **more: str) -> dict[str, str]:
    """Environment of a job: seed, copied package, one thread a task, nothing of a session."""
    mine = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("PYSPARK_", "SPARK_", "MLFLOW_", "NES_SPARK_"))
    }
    mine |= {
        "PYTHONPATH": str(source),
        "NES_SPARK_SEED": SEED,
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "OMP_NUM_THREADS": "1",
        "PYTHONUNBUFFERED": "1",
    }
    return mine | more


def options(settings: Mapping[str, str]) -> list[str]:
    """``--set`` options of a mapping."""
    return [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]


def run_command(conf: Path, corpus: Path, output: Path, settings: Mapping[str, str]) -> list[str]:
    """The command line of a run on ``local[2]``, logging JSON lines."""
    return [
        sys.executable, "-m", "nes_spark.cli", "run", str(conf), "--input", str(corpus),
        "--output", str(output), "--log-json", *options({"spark.master": "local[2]", **settings}),
    ]  # fmt: skip


def _listen() -> None:
    """Heed Ctrl-C, also where the tests run in the background of a shell, which ignores it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Job:
    """A job in a session of its own, with its output in a file.

    Parameters
    ----------
    command : sequence of str
    env : mapping
    log : pathlib.Path
        Gets standard output and error.
    """

    def __init__(self, command: Sequence[str], env: Mapping[str, str], log: Path) -> None:
        self.log = log
        with log.open("wb") as stream:
            self.process = subprocess.Popen(
                list(command),
                env=dict(env),
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                cwd=log.parent,
                preexec_fn=_listen,
            )

    def text(self) -> str:
        """All that it has said so far."""
        return self.log.read_text(errors="replace")

    def stages(self) -> dict[str, float]:
        """Finished stages so far -> seconds."""
        found = {}
        for line in self.text().splitlines():
            if line.startswith("{"):
                try:
                    record = json.loads(line)
                except ValueError:  # half a line so far
                    continue
                if "stage" in record:
                    found[record["stage"]] = float(record["seconds"])
        return found

    def wait_for_stage(self, name: str | None) -> bool:
        """Wait until a stage is done (None: until Python runs); False when the job ended first."""
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            if name is None or name in self.stages():
                return True
            if self.process.poll() is not None:
                return name in self.stages()
            time.sleep(0.02)
        raise AssertionError(f"stage {name} did not finish in {TIMEOUT} s")

    def kill(self) -> None:
        """SIGKILL the whole session: driver, JVM, Python daemons and workers."""
        session = self.process.pid
        for _ in range(3):  # a daemon may fork while the others are being killed
            for process in psutil.process_iter():
                try:
                    if os.getsid(process.pid) == session:
                        os.kill(process.pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    pass
        self.process.wait(60)

    def wait(self) -> int:
        """Wait for the end; the exit code."""
        try:
            return self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
            raise


def folder_bytes(folder: Path) -> dict[str, bytes]:
    """Content of every file of a folder by relative path."""
    return {
        p.relative_to(folder).as_posix(): p.read_bytes()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }
