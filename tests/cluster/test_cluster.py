"""The packaged job on a real cluster, with workers killed, and over Spark Connect: same release."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from nes_spark.demo import calls, config_path
from tests.cluster.standalone import (
    ConnectServer,
    Standalone,
    pack,
    pack_environment,
    ship_environment,
    ship_package,
    submit,
)
from tests.jobs import (
    SMALL,
    Job,
    copy_package,
    environment,
    folder_bytes,
    options,
    run_command,
)

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

#: The mixture is fitted on Spark, so that there is a distributed EM to kill a worker in; the
#: adversaries attack on the cluster too.
SETTINGS = {
    **SMALL,
    "mixture.in_memory_rows": "0",
    "audit.linkage": "true",
    "utility.judge_texts": "60",
    "audit.bootstrap": "100",
    "tracking.enabled": "false",
}


class Place:
    """What all tests share: the copied package, a corpus, and the release of ``local[2]``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = copy_package(folder / "source")
        self.package = pack(self.source, folder / "nes_spark")
        self.env = environment(self.source, PYSPARK_PYTHON=sys.executable)
        self.corpus = folder / "calls.jsonl"
        lines = [json.dumps(d) for d, _ in calls(16, periods=("2031Q2",), length=0.5)]
        self.corpus.write_text("\n".join(lines) + "\n")
        job = Job(
            run_command(config_path(), self.corpus, folder / "local", SETTINGS),
            self.env,
            folder / "local.log",
        )
        assert job.wait() == 0, job.text()[-3000:]
        self.expected = folder_bytes(folder / "local" / "all" / "release")

    def submitted(
        self, cluster: Standalone, output: Path, log: Path, shipped: list[str] | None = None
    ) -> Job:
        # Executors must take the package from the archive, not from the tester's installation.
        arguments = [
            str(self.source / "jobs" / "run_pipeline.py"), "--conf", str(config_path()),
            "--input", str(self.corpus), "--output", str(output), "--log-json",
            *options(SETTINGS),
        ]  # fmt: skip
        shipped = ship_package(self.package) if shipped is None else shipped
        return Job(submit(cluster, shipped, arguments), self.env, log)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return Place(tmp_path_factory.mktemp("cluster"))


def daemon_environment() -> dict[str, str]:
    """Without the copied package: executors get it from the archive."""
    env = environment(Path("/nonexistent"))
    del env["PYTHONPATH"], env["NES_SPARK_SEED"]
    return env


def test_submitted_to_a_cluster_it_gives_the_same_release(place, tmp_path):
    cluster = Standalone(tmp_path / "spark", 2, daemon_environment())
    try:
        job = place.submitted(cluster, tmp_path / "out", tmp_path / "job.log")
        assert job.wait() == 0, job.text()[-3000:]
    finally:
        cluster.stop()
    assert folder_bytes(tmp_path / "out" / "all" / "release") == place.expected


def test_with_a_packed_environment_it_gives_the_same_release(place, tmp_path):
    archive = pack_environment(place.source, tmp_path)
    env = daemon_environment()
    # Nothing of the tester's own Python helps: it would not be found by name.
    env["PYSPARK_PYTHON"] = "/nonexistent/python"
    cluster = Standalone(tmp_path / "spark", 2, env)
    try:
        shipped = ship_environment(archive)
        job = place.submitted(cluster, tmp_path / "out", tmp_path / "job.log", shipped)
        assert job.wait() == 0, job.text()[-3000:]
        unpacked = list(tmp_path.glob("spark/work*/*/*/environment/bin/python"))
        assert len(unpacked) == 2
    finally:
        cluster.stop()
    assert folder_bytes(tmp_path / "out" / "all" / "release") == place.expected


def test_two_workers_are_killed_and_the_release_is_the_same(place, tmp_path):
    cluster = Standalone(tmp_path / "spark", 3, daemon_environment())
    killed = {}
    try:
        job = place.submitted(cluster, tmp_path / "out", tmp_path / "job.log")
        assert job.wait_for_stage("chunks"), job.text()[-3000:]
        time.sleep(0.5)
        assert "mentions" not in job.stages()
        killed["recognition"] = cluster.kill_worker(0)
        assert job.wait_for_stage("embeddings"), job.text()[-3000:]
        time.sleep(2.5)
        assert "mixture" not in job.stages()
        killed["EM"] = cluster.kill_worker(1)
        assert job.wait() == 0, job.text()[-3000:]
    finally:
        cluster.stop()
    print(f"processes killed: {killed}; stages: {job.stages()}", flush=True)
    assert min(killed.values()) >= 2, "a worker had no executor"
    assert folder_bytes(tmp_path / "out" / "all" / "release") == place.expected


@pytest.mark.parametrize("how", ["variable", "configuration"])
def test_over_spark_connect_it_gives_the_same_release(place, tmp_path, how):
    pytest.importorskip("grpc", reason="Spark Connect needs the extra 'connect'")
    server = ConnectServer(tmp_path, place.env)
    settings = {**SETTINGS}
    env = dict(place.env)
    if how == "variable":
        env["SPARK_REMOTE"] = server.url
    else:
        settings["spark.remote"] = server.url
    try:
        command = run_command(config_path(), place.corpus, tmp_path / "out", settings)
        at = command.index("spark.master=local[2]")
        del command[at - 1 : at + 1]
        job = Job(command, env, tmp_path / "job.log")
        assert job.wait() == 0, job.text()[-3000:]
    finally:
        server.stop()
    assert folder_bytes(tmp_path / "out" / "all" / "release") == place.expected
