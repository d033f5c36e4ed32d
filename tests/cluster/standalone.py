"""A Spark standalone cluster, and a Spark Connect server, on the loopback from pip's pyspark."""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pyspark

from tests.jobs import ROOT

SPARK_HOME = Path(pyspark.__file__).parent


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_for_port(port: int, process: subprocess.Popen, log: Path, seconds: float = 180) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with socket.socket() as attempt:
            attempt.settimeout(1)
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            break
        time.sleep(0.2)
    raise AssertionError(f"nothing listens on {port}:\n{log.read_text(errors='replace')[-3000:]}")


def kill_tree(process: subprocess.Popen) -> int:
    """SIGKILL a process and all below it; return how many."""
    try:
        mine = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
    except psutil.NoSuchProcess:
        return 0
    for one in reversed(mine):
        with contextlib.suppress(psutil.NoSuchProcess):
            one.send_signal(signal.SIGKILL)
    process.wait(60)
    return len(mine)


class Standalone:
    """A master and workers; each worker is one core and can be killed with its executor.

    Parameters
    ----------
    folder : pathlib.Path
        Logs and work folders.
    workers : int
    env : mapping
        Environment of the daemons; executors inherit it.
    """

    def __init__(self, folder: Path, workers: int, env: dict[str, str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.env = env | {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(SPARK_HOME)}
        self.port = free_port()
        self.url = f"spark://127.0.0.1:{self.port}"
        self.workers: list[subprocess.Popen] = []
        self.master = self._daemon(
            "master", "org.apache.spark.deploy.master.Master", "-h", "127.0.0.1", "-p",
            str(self.port), "--webui-port", str(free_port()),
        )  # fmt: skip
        _wait_for_port(self.port, self.master, folder / "master.log")
        for number in range(workers):
            self.add_worker(number)

    def _daemon(self, name: str, *arguments: str) -> subprocess.Popen:
        with (self.folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [str(SPARK_HOME / "bin" / "spark-class"), *arguments],
                env=self.env, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def add_worker(self, number: int) -> None:
        self.workers.append(
            self._daemon(
                f"worker{number}", "org.apache.spark.deploy.worker.Worker", "-c", "1", "-m", "1g",
                "--webui-port", str(free_port()), "-d", str(self.folder / f"work{number}"),
                "-h", "127.0.0.1", self.url,
            )
        )  # fmt: skip

    def kill_worker(self, number: int) -> int:
        """SIGKILL a worker, its executor and their Python processes; return how many there were."""
        return kill_tree(self.workers[number])

    def stop(self) -> None:
        for process in [*self.workers, self.master]:
            kill_tree(process)


def ship_package(package: Path) -> list[str]:
    """Options for nodes that have the dependencies: executors unpack the package alone."""
    return ["--conf", "spark.executorEnv.PYTHONPATH=./package", "--archives", f"{package}#package"]


def ship_environment(archive: Path) -> list[str]:
    """Options for nodes that have an interpreter and nothing else: they unpack an environment."""
    return [
        "--conf", "spark.pyspark.python=./environment/bin/python",
        "--conf", f"spark.pyspark.driver.python={sys.executable}",
        "--archives", f"{archive}#environment",
    ]  # fmt: skip


def pack_environment(source: Path, folder: Path) -> Path:
    """Make the archive as ``docs/operations.md`` tells, with the package copied to ``source``."""
    project = folder / "project"
    shutil.copytree(source, project)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, project)
    for name in ("conf", "jobs"):  # they lie beside the package and go into it
        shutil.copytree(ROOT / name, project / name, dirs_exist_ok=True)
    environment, archive = folder / "environment", folder / "environment.tar.gz"
    base = Path(sys.base_prefix) / "bin" / "python3"
    python = str(environment / "bin" / "python")
    for command in (
        [str(base), "-m", "venv", str(environment)],
        [python, "-m", "pip", "install", "--quiet", str(project), "venv-pack", "setuptools<81"],
        [str(environment / "bin" / "venv-pack"), "-q", "-p", str(environment), "-o", str(archive)],
    ):
        subprocess.run(command, check=True, cwd=folder)
    return archive


def submit(cluster: Standalone, shipped: list[str], arguments: list[str]) -> list[str]:
    """``spark-submit`` with what the executors unpack."""
    return [
        str(SPARK_HOME / "bin" / "spark-submit"), "--master", cluster.url,
        "--conf", "spark.driver.host=127.0.0.1",
        "--conf", "spark.executor.memory=700m",
        "--conf", "spark.executor.cores=1",
        *shipped,
        *arguments,
    ]  # fmt: skip


def pack(source: Path, target: Path) -> Path:
    """Archive the copied package as ``--archives`` takes it."""
    return Path(shutil.make_archive(str(target), "zip", root_dir=source, base_dir="nes_spark"))


class ConnectServer:
    """``start-connect-server.sh`` in the foreground."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.port = free_port()
        self.url = f"sc://127.0.0.1:{self.port}"
        log = folder / "connect.log"
        with log.open("wb") as stream:
            self.process = subprocess.Popen(
                [
                    "bash", str(SPARK_HOME / "sbin" / "start-connect-server.sh"),
                    "--master", "local[2]",
                    "--conf", f"spark.connect.grpc.binding.port={self.port}",
                    "--conf", "spark.driver.memory=1g",
                    "--conf", "spark.ui.enabled=false",
                ],
                env=env | {"SPARK_NO_DAEMONIZE": "1", "SPARK_LOCAL_IP": "127.0.0.1",
                           "SPARK_HOME": str(SPARK_HOME), "PYSPARK_PYTHON": sys.executable,
                           "SPARK_LOG_DIR": str(folder), "SPARK_PID_DIR": str(folder)},
                stdout=stream, stderr=subprocess.STDOUT, start_new_session=True, cwd=folder,
            )  # fmt: skip
        _wait_for_port(self.port, self.process, log)

    def stop(self) -> None:
        kill_tree(self.process)
