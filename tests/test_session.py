"""Working files: where a session keeps them, who may look, and that they go."""

from __future__ import annotations

import gc
import inspect
import logging
import os
import stat
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest
from pyspark import daemon

from nes_spark import scratch, session, workers
from nes_spark.config import SparkConfig
from nes_spark.errors import InfrastructureError
from nes_spark.session import warn_about_encryption
from nes_spark.store import SMALL_INPUT, Store, is_small
from tests.jobs import ROOT, Job

NAME = "Orion Works of Bonn"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# -- folders -------------------------------------------------------------------------------------


def test_a_run_works_in_a_folder_of_its_owner_that_goes_with_it(tmp_path):
    store = Store(tmp_path / "out" / "all")
    store.prepare()
    with store.lock(), store.work() as work:
        assert work.parent == tmp_path / "out" / "all"
        assert mode(work) == 0o700
        (work / "blockmgr").mkdir()
        (work / "blockmgr" / "x").write_text(NAME)
        with store.temporary() as folder:
            assert work in folder.parents
    assert not work.exists()


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    store = Store(tmp_path)
    store.prepare()
    left = [".work/spark/x", "release.tmp/chunks.jsonl", "stages/.tmp-abc", "report/.tmp-1"]
    for name in left:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(NAME)
    os.chmod(tmp_path / ".work", 0o755)
    with store.lock(), store.work() as work:
        assert not any((tmp_path / name).exists() for name in left)
        assert list(work.iterdir()) == []
        assert mode(work) == 0o700


def test_a_release_that_was_not_published_is_gone_after_the_run(tmp_path):
    store = Store(tmp_path)
    store.prepare()
    with pytest.raises(InfrastructureError), store.lock(), store.work():
        store.make_folder("release.tmp", mode=0o700)
        raise InfrastructureError("no MLflow")
    assert not (tmp_path / "release.tmp").exists()


def test_a_published_release_can_be_read_by_others(tmp_path):
    store = Store(tmp_path)
    store.make_folder("release.tmp", mode=0o700)
    store.move("release.tmp", "release", mode=0o755)
    assert mode(tmp_path / "release") == 0o755


def test_a_link_is_no_folder_for_working_files(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InfrastructureError, match="a folder of your own"):
        scratch.private_folder(tmp_path / "link")
    scratch.remove_tree(tmp_path / "link")
    assert (tmp_path / "elsewhere").is_dir()


def test_folders_of_dead_processes_are_swept_and_those_of_living_ones_stay(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    living, close = scratch.temporary_work()
    assert mode(living) == 0o700
    dead = tmp_path / "nes-spark-work-dead"
    dead.mkdir()
    (dead / ".lock").write_text("")
    (dead / "x").write_text(NAME)
    second, close_second = scratch.temporary_work()
    assert living.exists()
    assert not dead.exists()
    close(), close_second()
    assert not living.exists() and not second.exists()


def test_a_disk_that_the_user_named_is_used_in_a_folder_of_the_run(tmp_path, monkeypatch):
    monkeypatch.delenv("SPARK_LOCAL_DIRS", raising=False)
    disks = f"{tmp_path / 'a'},{tmp_path / 'b'}"
    work = tmp_path / "run" / ".work"
    made = session._local_folders({"spark.local.dir": disks}, False, work)
    assert [p.parent.name for p in made] == ["a", "b"]
    assert all(mode(p) == 0o700 for p in made)
    (made[0] / "left").write_text(NAME)
    assert session._local_folders({"spark.local.dir": disks}, False, work) == made
    assert not (made[0] / "left").exists()
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "c"))
    assert session._local_folders({}, False, work)[0].parent.name == "c"


# -- clusters ------------------------------------------------------------------------------------


class Settings:
    def __init__(self, **values):
        self.values = values
        self.conf = self

    def get(self, name, default):
        return self.values.get(name, default)


@pytest.mark.parametrize(
    ("master", "encrypted", "warned"),
    [
        ("local[2]", None, False),
        ("yarn", None, True),
        ("spark://h:7077", "false", True),
        ("k8s://h", "true", False),
    ],
)
def test_a_cluster_without_encryption_is_warned_of(caplog, monkeypatch, master, encrypted, warned):
    monkeypatch.setattr(session.LOGGER, "propagate", True)
    found = {"spark.master": master}
    if encrypted:
        found["spark.io.encryption.enabled"] = encrypted
    with caplog.at_level(logging.WARNING):
        assert warn_about_encryption(Settings(**found)) is warned
    assert ("spark.io.encryption.enabled" in caplog.text) is warned


def test_the_example_for_clusters_encrypts():
    from nes_spark.config import load_config

    config = load_config(ROOT / "conf" / "cluster.yaml")
    assert config.spark.settings["spark.io.encryption.enabled"] == "true"


# -- a session of its own ------------------------------------------------------------------------

CHILD = """
import sys, time
from nes_spark.config import SparkConfig
from nes_spark.session import run_session, spark_log
from nes_spark.store import Store

store = Store(sys.argv[1])
store.prepare()
for again in range(int(sys.argv[2])):
    log = store.local_path("stages", "spark.log")
    with store.lock(), store.work() as work:
        with run_session(SparkConfig(master="local[1]", shuffle_partitions=2), work, log) as spark:
            def same(batches):
                yield from batches
            rows = spark.range(1000).selectExpr("concat('NAME ', id) AS t").repartition(2, "t")
            print(rows.mapInPandas(same, "t string").persist().count(), spark_log(), flush=True)
            if again == 0 and sys.argv[3] == "wait":
                time.sleep(600)
""".replace("NAME", NAME)


def holding(folder: Path) -> list[str]:
    found = (p for p in folder.rglob("*") if p.is_file() and not p.is_symlink())
    return [str(p) for p in found if NAME.encode() in p.read_bytes()]


def child(tmp_path: Path, *arguments: str) -> tuple[list[str], dict[str, str]]:
    temporary = tmp_path / "tmp"
    temporary.mkdir(exist_ok=True)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
    env |= {"TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}
    return [sys.executable, "-c", CHILD, str(tmp_path / "out"), *arguments], env


@pytest.mark.slow
def test_no_word_of_a_text_stays_in_the_working_files(tmp_path):
    command, env = child(tmp_path, "1", "wait")
    job = Job(command, env, tmp_path / "log")
    end = time.monotonic() + 300
    while "spark.log" not in job.text():
        assert time.monotonic() < end and job.process.poll() is None, job.text()
        time.sleep(0.2)
    assert not holding(tmp_path / "tmp")
    for path in (tmp_path / "out" / ".work", tmp_path / "out" / "stages"):
        assert mode(path) == 0o700
    job.kill()
    assert (tmp_path / "out" / ".work").exists()

    # twice: the second session of a process starts a Java process of its own
    command, env = child(tmp_path, "2", "go")
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("1000 ") == 2
    assert done.stderr == ""  # nothing of Spark's start either
    assert not holding(tmp_path)
    assert not (tmp_path / "out" / ".work").exists()
    assert not (tmp_path / "out" / "stages" / "spark.log").exists()
    assert not list((tmp_path / "tmp").glob("*spark*"))


def test_java_says_why_it_does_not_start(tmp_path, monkeypatch):
    log = tmp_path / "spark.log"
    log.write_text("WARNING: x\nInvalid maximum heap size: -Xmx99999g\nError: Could not create\n")

    class Builder:
        def config(self, *_):
            return self

        def getOrCreate(self):
            raise RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited")

    with pytest.raises(InfrastructureError, match="did not start: Invalid maximum heap size"):
        session._start(Builder(), {"spark.driver.memory": "99999g"}, log)


def settings_of(monkeypatch, tmp_path, **more):
    """What a session would be started with."""

    class Asked(Exception):
        pass

    told = {}

    def start(builder, settings, log):
        told.update(settings)
        raise Asked

    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", staticmethod(lambda: None))
    monkeypatch.setattr(session, "_start", start)
    monkeypatch.setattr(session, "_require_java", lambda: None)
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    config = SparkConfig(**{"master": "local[2]", **more.pop("config", {})})
    with pytest.raises(Asked):
        session.get_session(config, work=tmp_path / "work", **more)
    return told


def test_a_session_for_short_jobs_compiles_little_where_it_is_local(monkeypatch, tmp_path):
    usual = settings_of(monkeypatch, tmp_path)
    short = settings_of(monkeypatch, tmp_path, short=True)
    assert session.SHORT_JOBS.items() <= short.items()
    assert not session.SHORT_JOBS.items() & usual.items()
    assert int(short["spark.sql.shuffle.partitions"]) == os.cpu_count()
    for option in session.SHORT_JOBS_JAVA:
        assert option in short[session.JAVA_OPTIONS] and option not in usual[session.JAVA_OPTIONS]
    elsewhere = settings_of(monkeypatch, tmp_path, short=True, config={"master": "spark://h:7077"})
    assert not session.SHORT_JOBS.items() & elsewhere.items()
    own = {"settings": {"spark.sql.codegen.wholeStage": "true"}}
    mine = settings_of(monkeypatch, tmp_path, short=True, config=own)
    assert mine["spark.sql.codegen.wholeStage"] == "true"


def test_workers_share_their_libraries_where_the_session_is_of_this_machine(monkeypatch, tmp_path):
    name = "spark.python.daemon.module"
    assert settings_of(monkeypatch, tmp_path)[name] == workers.__name__
    assert name not in settings_of(monkeypatch, tmp_path, config={"master": "spark://h:7077"})
    own = {"settings": {name: "pyspark.daemon"}}
    assert settings_of(monkeypatch, tmp_path, config=own)[name] == "pyspark.daemon"


@pytest.mark.parametrize("name", session.CALLERS)
def test_callers_are_not_noted_where_the_session_is_started_here(monkeypatch, tmp_path, name):
    assert settings_of(monkeypatch, tmp_path)[name] == "false"
    elsewhere = {"master": "spark://h:7077"}
    assert settings_of(monkeypatch, tmp_path, config=elsewhere)[name] == "false"
    # a server has started: it refuses another value
    monkeypatch.setattr(session, "_require_server", lambda remote: None)
    remote = {"master": None, "remote": "sc://h"}
    assert name not in settings_of(monkeypatch, tmp_path, config=remote)
    own = {"settings": {name: "true"}}
    assert settings_of(monkeypatch, tmp_path, config=own)[name] == "true"


def test_a_worker_has_its_libraries_from_the_start(spark):
    def look(batches):
        # before this worker has loaded anything but what it needs to come here
        told = [name for name in workers.LIBRARIES if name in sys.modules]
        for batch in batches:
            yield batch.assign(
                told=",".join(told),
                frozen=gc.get_freeze_count(),
                collector=type(sys.modules["pyspark.daemon"].gc).__name__,
            )

    ddl = "id long, told string, frozen long, collector string"
    row = spark.range(1).mapInPandas(look, ddl).head()
    assert row.told.split(",") == list(workers.LIBRARIES)
    assert row.frozen > 100_000
    assert row.collector == workers.Collector.__name__
    # what it stands in for
    assert " gc.collect()\n" in inspect.getsource(daemon.manager)


def test_lists_of_rows_and_queries_have_the_same_workers(spark):
    def look(batches):
        for batch in batches:
            yield batch.assign(daemon=os.getppid())

    asked = spark.range(1).mapInPandas(look, "id long, daemon long").head().daemon
    listed = spark.sparkContext.parallelize([0], 1).map(lambda _: os.getppid()).first()
    assert asked == listed


def test_whole_searches_for_garbage_take_a_fiftieth_of_the_time():
    class Garbage:
        pass

    def circle():
        found = Garbage()
        found.itself = found
        return weakref.ref(found)

    now = iter([0.0, 1.0, 1.5, 26.4, 26.5, 26.6])  # a search of half a second: the next at 26.5
    collector = workers.Collector(lambda: next(now))
    gc.freeze()  # what other tests left need not be searched five times
    new = circle()
    collector.collect()
    assert new() is None
    held = Garbage()
    held.itself = held
    old = weakref.ref(held)
    gc.collect()  # what survives is old
    del held
    new = circle()
    collector.collect()
    assert new() is None and old() is not None
    collector.collect()
    assert old() is None


def test_a_worker_has_pyspark_from_its_folder(spark):
    import pyspark

    def look(batches):
        import py4j
        import pyspark

        for batch in batches:
            yield batch.assign(
                pyspark=pyspark.__file__, py4j=py4j.__file__, path=":".join(sys.path)
            )

    row = spark.range(1).mapInPandas(look, "id long, pyspark string, py4j string, path string")
    found = row.head()
    assert found.pyspark == pyspark.__file__
    assert ".zip" not in found.py4j and "pyspark.zip" not in found.path


def test_archives_of_another_installation_stay(tmp_path):
    def installation(name, packed=()):
        lib = tmp_path / name / "pyspark" / "python" / "lib"
        lib.mkdir(parents=True)
        (tmp_path / name / "pyspark" / "__init__.py").touch()
        for archive in ("pyspark.zip", "py4j-0.10.9.9-src.zip", "other.zip"):
            (lib / archive).touch()
        return str(tmp_path / name), [str(lib / p) for p in packed]

    both = ("pyspark.zip", "py4j-0.10.9.9-src.zip")
    here, archives = installation("here", both)
    _, foreign = installation("elsewhere", both)
    other = str(Path(archives[0]).with_name("other.zip"))
    assert workers.unpacked([*archives, other, here]) == [archives[1], other, here]
    py4j = tmp_path / "here" / "py4j"
    py4j.mkdir()
    (py4j / "__init__.py").touch()
    assert workers.unpacked([*archives, other, here]) == [other, here]
    assert workers.unpacked([*foreign, here]) == [*foreign, here]
    assert workers.unpacked([*foreign, *archives]) == [*foreign, *archives]


def test_an_event_log_goes_to_the_folder_that_is_asked_for(monkeypatch, tmp_path):
    told = settings_of(monkeypatch, tmp_path, events=tmp_path / "events")
    assert told["spark.eventLog.enabled"] == "true"
    assert told["spark.eventLog.dir"] == (tmp_path / "events").as_uri()
    assert "spark.eventLog.enabled" not in settings_of(monkeypatch, tmp_path)


def test_inputs_are_small_by_their_size_and_only_on_this_machine(tmp_path):
    plain, packed = tmp_path / "a.jsonl", tmp_path / "b.parquet"
    for file, size in ((plain, SMALL_INPUT), (packed, SMALL_INPUT // 8)):
        with file.open("wb") as stream:
            stream.truncate(size)
    assert is_small([str(plain)]) and is_small([str(packed)])
    assert not is_small([str(plain), str(packed)]) and not is_small([str(tmp_path)])
    with packed.open("ab") as stream:
        stream.write(b"one more")
    assert not is_small([str(packed)])
    assert not is_small(["s3a://bucket/calls"])
