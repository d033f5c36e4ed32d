"""The file of Java's classes: where it is, when it is trusted, that sessions use it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nes_spark import sharing
from nes_spark.errors import InfrastructureError
from nes_spark.failures import translate
from nes_spark.starting.preparing import prepare


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A cache and a Java of the test's own; the archive's place in it."""
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\n")
    monkeypatch.setenv("JAVA_HOME", str(java.parents[1]))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return sharing.archive_file()


def written(file: Path) -> Path:
    with sharing.writing() as (found, option):
        assert found == file
        part = Path(option.split('"')[1].partition("=")[2])
        part.write_bytes(b"classes")
    return file


def test_an_archive_is_of_one_java_and_one_spark(place, tmp_path, monkeypatch):
    assert place.parent == tmp_path / "cache" / "nes_spark"
    os.utime(sharing.java_program(), (1, 1))  # another build in the same place
    assert sharing.archive_file() != place
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    assert sharing.archive_file() is None
    assert sharing.java_options() == []
    with pytest.raises(InfrastructureError, match="no Java or no PySpark"), sharing.writing():
        pass


def test_it_is_used_from_when_it_is_there_until_it_is_removed(place):
    assert sharing.java_options() == []
    written(place)
    assert sharing.java_options()[0] == f'"-XX:SharedArchiveFile={place}"'
    assert place.stat().st_mode & 0o777 == 0o600
    place.with_name("java-0123.jsa").touch()  # of an older version
    assert sharing.remove() == 2
    assert sharing.java_options() == []


def test_what_others_can_write_is_not_used(place, tmp_path):
    written(place).chmod(0o620)
    assert sharing.java_options() == []
    place.chmod(0o600)
    place.parent.chmod(0o770)
    assert sharing.java_options() == []
    with pytest.raises(InfrastructureError, match="others can write this folder"):
        written(place)
    place.parent.chmod(0o700)
    assert sharing.java_options() != []
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    assert sharing.java_options() == []


def test_what_java_did_not_finish_is_no_archive(place):
    written(place)
    with pytest.raises(InfrastructureError, match="Java wrote no archive"), sharing.writing():
        pass
    with pytest.raises(KeyboardInterrupt), sharing.writing() as (_, option):
        Path(option.split('"')[1].partition("=")[2]).write_bytes(b"half")
        raise KeyboardInterrupt
    assert list(place.parent.iterdir()) == [place]  # the old one


def test_a_process_with_a_session_prepares_nothing(spark, place):
    with pytest.raises(InfrastructureError, match="a Spark session is active here"):
        prepare()
    assert not place.exists()


def mapped(process: int) -> str:
    return Path(f"/proc/{process}/maps").read_text()


@pytest.mark.skipif(
    not Path("/proc/self/maps").exists() or not sharing.java_options(),
    reason="nes-spark prepare was not called, or there is no /proc",
)
def test_the_session_of_the_tests_maps_it(spark):
    assert str(sharing.archive_file()) in mapped(spark.sparkContext._gateway.proc.pid)


_LOOK = """
from nes_spark.config import SparkConfig
from nes_spark.session import get_session
session = get_session(SparkConfig(master="local[1]"), short=True)
print(open(f"/proc/{session.sparkContext._gateway.proc.pid}/maps").read())
"""


@pytest.mark.slow  # make setup prepares; the test above sees that it is used
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="there is no /proc")
def test_prepare_writes_one_that_java_maps(tmp_path):
    own = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    made = subprocess.run(
        [sys.executable, "-m", "nes_spark.cli", "prepare"], env=own, text=True, capture_output=True
    )
    assert made.returncode == 0, made.stderr
    assert len(made.stderr.splitlines()) == 1  # no warnings of Java
    (archive,) = (tmp_path / "nes_spark").iterdir()
    assert made.stdout.strip() == str(archive)
    looked = subprocess.run(
        [sys.executable, "-c", _LOOK], env=own, text=True, capture_output=True, check=True
    )
    assert str(archive) in looked.stdout


class Ended(Exception):
    """Spark's errors ask Java for their words."""

    __module__ = "pyspark.errors.exceptions.captured"

    def __str__(self):
        raise AssertionError("SparkContext._jvm is None")


def test_an_error_of_a_session_that_has_ended_is_told_in_one_line():
    found = translate(Ended(), "prepare")
    assert str(found).startswith("prepare: pyspark failed with Ended")
