"""Where the time of a run goes, from events whose answer is known."""

from __future__ import annotations

import json

import pytest

import nes_spark
from nes_spark.errors import InfrastructureError
from nes_spark.run.profiling import COLUMNS, draw_profile, profile, read_events

DAY = 1_700_000_000


def job(number, start, end=None):
    yield {"Event": "SparkListenerJobStart", "Job ID": number, "Submission Time": 1000 * start}
    if end is not None:
        yield {"Event": "SparkListenerJobEnd", "Job ID": number, "Completion Time": 1000 * end}


def task(stage, start, end, run, cpu):
    return {
        "Event": "SparkListenerTaskEnd",
        "Stage ID": stage,
        "Task Info": {"Launch Time": 1000 * start, "Finish Time": 1000 * end},
        "Task Metrics": {"Executor Run Time": 1000 * run, "Executor CPU Time": int(cpu * 1e9)},
    }


def lines(*events):
    return [json.dumps(e, separators=(",", ":")) for e in events]


def test_seconds_jobs_and_tasks_of_each_part():
    at = DAY
    log = lines(
        *job(0, at + 1, at + 3),
        *job(1, at + 2, at + 4),  # overlaps with the first
        *job(2, at + 12, at + 13),
        task(0, at + 1, at + 3, 2, 0.5),
        task(0, at + 1, at + 2, 1, 0.25),
        task(1, at + 2, at + 4, 2, 1.0),
        task(5, at + 12, at + 13, 1, 1.5),  # more processor time than time: never below zero
        {"Event": "SparkListenerApplicationEnd", "Timestamp": 1000 * (at + 20)},
    )
    marks = [("a", at, at + 10), ("b", at + 10, at + 20), ("whole", at, at + 20)]
    found = profile(read_events([*log, '{"Event":"SparkListenerTaskEnd", cut off']), marks)
    assert found.columns.tolist() == list(COLUMNS)
    a, b, whole = found.round(6).to_dict("records")
    assert a == {
        "part": "a", "seconds": 10, "without_spark": 7, "jobs": 2, "stages": 2, "tasks": 3,
        "task_seconds": 5, "java_seconds": 1.75, "python_seconds": 3.25, "longest_task": 2,
    }  # fmt: skip
    assert (b["without_spark"], b["jobs"], b["python_seconds"]) == (9, 1, 0)
    assert (whole["without_spark"], whole["jobs"], whole["tasks"]) == (16, 3, 4)


def test_a_job_that_never_ended_lasts_until_the_last_event():
    log = lines(*job(0, DAY), task(0, DAY + 1, DAY + 6, 5, 1))
    (row,) = profile(read_events(log), [("a", DAY, DAY + 10)]).to_dict("records")
    assert row["without_spark"] == pytest.approx(4)


def test_a_part_without_spark_and_its_picture():
    found = profile(read_events([]), [("kernel", DAY, DAY + 2.5)])
    assert found.loc[0, ["seconds", "without_spark", "jobs"]].tolist() == [2.5, 2.5, 0]
    picture = draw_profile(found).decode()
    assert picture.startswith("<?xml") and "kernel" in picture and "2.5 s, 0 jobs" in picture


def test_the_session_of_others_is_not_profiled(spark, tmp_path):
    from nes_spark.demo import config_path, corpus_path

    given = {"input.path": str(corpus_path()), "output.directory": str(tmp_path / "out")}
    config = nes_spark.load_config(config_path(), given)
    for session in (spark, None):  # given, and active
        with pytest.raises(InfrastructureError, match="a session that nes-spark starts itself"):
            nes_spark.run(config, spark=session, profile=True)
    assert not (tmp_path / "out" / "all" / ".work").exists()
