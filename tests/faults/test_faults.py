"""Full disks, lost servers, old run folders: one clear line, nothing corrupted, resume works."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import nes_spark as nes
from nes_spark.demo import calls, config_path
from nes_spark.errors import ConfigError, InfrastructureError, InputError, NesError
from nes_spark.failures import translate
from nes_spark.store import MANIFEST, Store
from nes_spark.swapping import ledger
from tests.jobs import SEED, SMALL, folder_bytes

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def settings(corpus: Path, output: Path, **more):
    overrides = {
        "input.path": str(corpus),
        "output.directory": str(output),
        "mixture.n_components": 3,
        "mixture.n_init": 2,
        "releases.plan": "pairs",
        "releases.draws": 1,
        "choice.rule": "line",
        "releases.max_swaps": 6,
        "audit.linkage": False,
        "utility.judge": "off",
        "report.examples": False,
        "tracking.enabled": False,
    }
    assert set(overrides) >= set(SMALL) - {"spark.shuffle_partitions"}
    return nes.load_config(config_path(), overrides | more)


@pytest.fixture(scope="module", autouse=True)
def seeded():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NES_SPARK_SEED", SEED)
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        yield


@pytest.fixture(scope="module")
def finished(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    corpus = folder / "calls.jsonl"
    lines = [json.dumps(d) for d, _ in calls(10, periods=("2031Q2",), length=0.4)]
    corpus.write_text("\n".join(lines) + "\n")
    nes.run(settings(corpus, folder / "out"), spark)
    return corpus, folder / "out" / "all"


@pytest.fixture
def copied(finished, tmp_path):
    corpus, run = finished
    shutil.copytree(run, tmp_path / "out" / "all")
    return corpus, tmp_path / "out" / "all"


def without_publication(run: Path) -> None:
    for folder in ("release", "report", "stages/publication", "sealed/ledger"):
        shutil.rmtree(run / folder)


def report_module():
    import nes_spark.report

    return nes_spark.report


def one_line(error: BaseException) -> str:
    assert "\n" not in str(error)
    return str(error)


# -- a release without its record --------------------------------------------------------------


@pytest.mark.slow
def test_a_lost_tracking_server_stops_the_publication(copied, spark, monkeypatch):
    corpus, run = copied
    without_publication(run)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    lost = {"tracking.enabled": True, "tracking.uri": "http://user:word@127.0.0.1:9"}
    with pytest.raises(InfrastructureError, match=r"MLflow at http://127\.0\.0\.1:9") as caught:
        nes.run(settings(corpus, run.parent, **lost), spark)
    assert "word" not in one_line(caught.value)
    assert not (run / "release").exists()
    assert Store(run).manifest("publication") is None


@pytest.mark.slow
def test_a_published_release_stays_when_the_next_cannot_be_recorded(finished, copied, spark,
                                                                    monkeypatch):  # fmt: skip
    _, reference = finished
    corpus, run = copied
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    changed = {
        "choice.rule": "max_rate",
        "choice.combination": ["Organization", "Location"],
        "tracking.enabled": True,
        "tracking.uri": "http://127.0.0.1:9",
    }
    with pytest.raises(InfrastructureError, match="MLflow"):
        nes.run(settings(corpus, run.parent, **changed), spark)
    assert folder_bytes(run / "release") == folder_bytes(reference / "release")


# -- full disks ----------------------------------------------------------------------------------


PLACES = {
    "report": (report_module(), "build_report"),
    "record": (Store, "write_json"),
    "ledger": (ledger, "write_private"),
    "move": (Store, "move"),
    "manifest": (Store, "write_artifact"),
}


@pytest.mark.slow
def test_a_full_disk_during_publication(finished, copied, spark, monkeypatch):
    _, reference = finished
    corpus, run = copied
    without_publication(run)

    def full(*_args, **_more):
        raise FULL

    for place, (owner, name) in PLACES.items():
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, full)
            with pytest.raises(NesError, match="No space left") as caught:
                nes.run(settings(corpus, run.parent), spark)
        assert caught.value.exit_code == 5
        one_line(caught.value)
        # only the last manifest is written after the release is in its place
        assert (run / "release").exists() == (place == "manifest"), place
    nes.run(settings(corpus, run.parent), spark)
    assert folder_bytes(run / "release") == folder_bytes(reference / "release")


def mounted(folder: Path, options: str) -> None:
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        pytest.skip("needs the right to mount a small tmpfs")


@pytest.mark.slow
def test_a_disk_that_fills_up_and_is_made_larger(finished, spark, tmp_path):
    corpus, reference = finished
    disk = tmp_path / "disk"
    mounted(disk, "size=160k")
    try:
        with pytest.raises(InfrastructureError, match=r"the disk is full|No space left") as caught:
            nes.run(settings(corpus, disk), spark)
        one_line(caught.value)
        for manifest in disk.glob(f"all/stages/*/{MANIFEST}"):
            json.loads(manifest.read_text())  # what counts as done was written whole
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        nes.run(settings(corpus, disk), spark)
        assert folder_bytes(disk / "all" / "release") == folder_bytes(reference / "release")
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.slow
def test_a_read_only_output_is_refused_before_any_work(finished, spark, tmp_path):
    corpus, _ = finished
    disk = tmp_path / "disk"
    mounted(disk, "size=1m,ro")
    try:
        with pytest.raises(InfrastructureError, match="Read-only file system") as caught:
            nes.run(settings(corpus, disk), spark)
        one_line(caught.value)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


# -- what is reused is verified ------------------------------------------------------------------


@pytest.mark.slow
def test_a_part_of_a_finished_table_that_is_gone_is_made_again(finished, copied, spark):
    _, reference = finished
    corpus, run = copied
    for name in ("documents", "chunks", "rewrites"):
        next((run / "stages" / name).glob("*.parquet")).unlink()
    part = next((run / "stages" / "mentions").glob("*.parquet"))
    content = part.read_bytes()
    part.write_bytes(content[:200] + bytes([content[200] ^ 1]) + content[201:])
    nes.run(settings(corpus, run.parent), spark)
    assert folder_bytes(run / "release") == folder_bytes(reference / "release")
    for name in ("documents", "chunks", "rewrites", "mentions"):
        assert Store(run).is_current(name, Store(reference).manifest(name).key)


@pytest.mark.slow
def test_nothing_to_do_is_not_said_of_a_release_that_was_edited(copied, spark):
    corpus, run = copied
    assert nes.run(settings(corpus, run.parent), spark).status == "unchanged"
    text = run / "release" / "chunks.jsonl"
    content = text.read_bytes()
    text.write_bytes(b"")
    with pytest.raises(InputError, match=r"release/chunks\.jsonl: has changed") as caught:
        nes.run(settings(corpus, run.parent), spark)
    one_line(caught.value)
    text.write_bytes(content)
    shutil.rmtree(run / "sealed" / "ledger")
    with pytest.raises(NesError, match="there is no ledger") as caught:
        nes.run(settings(corpus, run.parent), spark)
    assert caught.value.exit_code == 5
    assert nes.run(settings(corpus, run.parent), spark, force=True).status == "published"
    assert nes.run(settings(corpus, run.parent), spark).status == "unchanged"


# -- other versions ------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_folder_of_an_older_version_is_made_anew(finished, copied, spark):
    _, reference = finished
    corpus, run = copied
    for path in run.glob(f"stages/*/{MANIFEST}"):
        old = json.loads(path.read_text())
        del old["details"]
        path.write_text(json.dumps(old | {"format": 0, "code": "0.0.1", "stage_owner": "x"}))
    (run / "stages" / "config.json").write_text('{"mixtures": {"k": 3}}')
    result = nes.run(settings(corpus, run.parent), spark)
    assert result.status == "published"
    assert folder_bytes(run / "release") == folder_bytes(reference / "release")


@pytest.mark.slow
def test_commands_on_a_folder_of_another_version_say_so(copied):
    from nes_spark.run.published import configuration_of

    _, run = copied
    (run / "stages" / "config.json").write_text('{"mixtures": {"k": 3}}')
    with pytest.raises(ConfigError, match="mixtures"):
        configuration_of(run)


# -- messages ------------------------------------------------------------------------------------


def test_an_error_in_a_worker_says_its_kind_and_nothing_of_the_text(spark):
    secret = "Orion Works of Bonn"

    def broken(batches):
        for _ in batches:
            raise ValueError(f"cannot parse {secret}")
        yield

    with pytest.raises(Exception, match="cannot parse") as caught:
        spark.range(3).mapInPandas(broken, "id long").collect()
    found = translate(caught.value, "stage chunks")
    assert isinstance(found, InfrastructureError)
    assert secret not in str(found)
    assert "ValueError" in one_line(found)


def test_our_own_error_in_a_worker_keeps_its_kind_and_message(spark):
    def broken(batches):
        from nes_spark.errors import ConfigError

        for _ in batches:
            raise ConfigError("no model 'x'; install it")
        yield

    with pytest.raises(Exception, match="no model") as caught:
        spark.range(3).mapInPandas(broken, "id long").collect()
    found = translate(caught.value, "stage mentions")
    assert isinstance(found, ConfigError)
    assert one_line(found) == "no model 'x'; install it"


def test_who_does_not_answer_is_no_path():
    refused = ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
    error = translate(refused, "stage cells")
    assert isinstance(error, InfrastructureError)
    assert str(error).startswith("stage cells: Connection refused; what listened there has ended")
    assert "check the path" not in str(error)
    missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), "/gone")
    assert "/gone: No such file or directory; check the path" in str(translate(missing, "run"))


def test_mistakes_of_this_program_are_not_hidden():
    assert translate(KeyError("x"), "stage chunks") is None
    assert translate(AssertionError(), "stage chunks") is None
