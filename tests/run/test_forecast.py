"""A run is forecast from samples: how large they are, what is said, and that nothing stays."""

from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

import nes_spark as nes
from nes_spark.cli import main
from nes_spark.demo import config_path
from nes_spark.errors import ConfigError, GateRefused, InputError
from nes_spark.run import forecast as forecasts
from nes_spark.run.forecast import (
    COUNTS,
    Forecast,
    Meter,
    Sampled,
    Step,
    extrapolated,
    judged_size,
    parse_sample,
    sample_sizes,
    steps_of,
)
from nes_spark.run.pipeline import STAGES
from tests.run.small import settings, write_corpus

SAMPLES = [
    ("1%", 0.01), ("0.05", 0.05), ("100%", 1.0), ("2.5 %", 0.025), ("20", 20),
    ("20 documents", 20), ("1,000", None), ("7", None), ("0%", None), ("101%", None),
    ("-1", None), ("nan%", None), ("many", None), ("8.5 documents", None), ("", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), SAMPLES)
def test_a_share_or_a_number_of_documents(text, wanted):
    if wanted is not None:
        assert parse_sample(text) == pytest.approx(wanted)
        return
    with pytest.raises(ConfigError, match=r"--sample .*: must be a share such as 1%") as error:
        parse_sample(text)
    assert "\n" not in str(error.value)


def test_a_sample_is_never_smaller_than_eight_documents():
    assert sample_sizes(0.01, 44) == (8, 32)
    assert sample_sizes(0.01, 100_000) == (250, 1000)
    assert sample_sizes(1.0, 44) == (11, 44)
    assert sample_sizes(40, 80) == (10, 40)
    assert sample_sizes(500, 44) == (11, 44)
    assert sample_sizes(8, 12) == (8, 12)
    assert sample_sizes(0.5, 8) == (8, 8)
    with pytest.raises(InputError, match="7 documents were accepted, a forecast needs at least 8"):
        sample_sizes(1.0, 7)


def test_what_is_paid_once_and_what_grows_are_told_apart():
    """A step that takes 3 s when the session is new, 1 s always, and 0.2 s per size."""
    warm = {x: 1 + 0.2 * x for x in (8, 32, 44)}
    found = extrapolated(3 + warm[8], warm[8], warm[32], (8, 32, 44))
    assert found == pytest.approx(3 + warm[44])
    assert extrapolated(1.0, 1.0, 0.9, (8, 16, 1000)) == 1, "noise makes no time shrink"
    assert extrapolated(5.0, 4.0, 4.0, (8, 8, 8)) == 5, "no sample is larger than the corpus"


def test_the_judge_reads_no_more_than_it_may():
    small, _, larger = samples()
    small.judged, larger.judged = 0.5, 1.0
    small.steps["utility"], larger.steps["utility"] = (10.0, 20.0), (15.0, 30.0)
    (step,) = [s for s in steps_of([small, small, larger], 100.0) if s.name == "utility"]
    assert step.seconds == 15
    small.judged = larger.judged = 1.0
    assert judged_size(small, larger, 100.0) == larger.size
    small.judged, larger.judged = 0.1, 0.2
    assert judged_size(small, larger, 1000.0) == pytest.approx(100)
    assert judged_size(small, larger, 50.0) == 50


def samples():
    took = {"chunks": (2.0, 3.0), "mixture": (1.0, 1.5)}
    more = {"chunks": (4.0, 6.0), "mixture": (1.0, 1.5)}
    space = {"chunks": 100, "changeable": 50, "swaps": 10, "candidates": 11}
    larger = {"chunks": 200, "changeable": 101, "swaps": 25, "candidates": 11}
    return [
        Sampled(10.0, {"chunks": (5.0, 7.0), "mixture": (1.5, 2.0)}, {}, space),
        Sampled(10.0, took, {}, space),
        Sampled(20.0, more, {}, larger),
    ]


def test_the_forecast_adds_up():
    steps = steps_of(samples(), 100.0)
    assert [(s.name, s.seconds, s.processor) for s in steps] == [
        ("chunks", pytest.approx(5 + 0.2 * 90), pytest.approx(7 + 0.3 * 90)),
        ("mixture", 1.5, 2.0),
    ]
    start = Step("start", 6.0, 6.0, 6.0, 6.0, 9.0)
    space = forecasts._space(samples(), 100.0)
    assert space == {"chunks": 1000, "changeable": 509, "swaps": 145, "candidates": 11}
    found = Forecast(100, (10, 20), [start, *steps], {}, space, 30.0)
    assert found.seconds == pytest.approx(6 + 23 + 1.5)
    assert found.processor == pytest.approx(9 + 34 + 2)
    words = str(found)
    assert words.count("\n") == 10
    for told in ("100 documents, from runs on 10 and 20", "time: 0:30", "1,000 chunks", "30.5"):
        assert told in words, told
    unknown = Forecast(100, (10, 20), steps_of(samples(), 100.0, False), {}, space, 30.0)
    assert unknown.processor is None
    assert "memory: not known on this system" in str(unknown)


def test_memory_of_java_ends_with_its_heap():
    config = nes.load_config(config_path(), {"spark.driver_memory": "2g"})
    gib = 1 << 30
    runs = samples()
    for run, java in zip(runs, (1.0, 1.1, 1.4), strict=True):
        run.peaks.update(driver=0.5 * gib, java=java * gib, workers=0.2 * gib)
    found = forecasts._memory(runs, 100.0, config)
    assert found["java"] == 2.5 * gib
    assert found["driver"] == 0.5 * gib
    assert forecasts._memory(runs, 30.0, config)["java"] == pytest.approx(1.6 * gib)


def test_what_runs_before_left_in_memory_does_not_grow():
    config = nes.load_config(config_path(), {"spark.driver_memory": "8g"})
    runs = samples()
    for run, peak in zip(runs, (1.0, 1.5, 1.6), strict=True):
        run.peaks.update(driver=peak)
    # 1.0 for size 10, and each 10 more take 1.6 - 1.5
    assert forecasts._memory(runs, 100.0, config)["driver"] == pytest.approx(1.9)


@pytest.mark.skipif(not Meter().works, reason="this system has no /proc")
def test_the_meter_counts_processes_below_and_those_that_ended():
    busy = "x = bytearray(200 << 20); [i * i for i in range(6_000_000)]"
    with Meter() as meter:
        before = meter.processor()
        with subprocess.Popen([sys.executable, "-c", busy]) as process:
            while process.poll() is None:
                meter.look()
        assert meter.processor() - before > 0.1
    assert meter.peaks["workers"] > 150 << 20
    assert meter.peaks["driver"] > 10 << 20
    assert meter.peaks["java"] == 0


def test_mistakes_are_told_in_one_line(tmp_path):
    corpus = write_corpus(tmp_path / "calls.jsonl")
    words = ["run", str(config_path()), "--input", str(corpus), "--output", str(tmp_path / "out")]
    for more, message in (
        (["--sample", "1%"], "--sample is for --plan"),
        (["--plan", "--sample", "2"], "must be a share such as 1% or 0.01"),
        (["--plan", "--sample", "1%", "--input", str(tmp_path / "none")], "no such file"),
    ):
        found = CliRunner().invoke(main, words + more)
        assert found.exit_code in (2, 3)
        (line,) = [x for x in found.output.splitlines() if x.startswith("error: ")]
        assert message in line
    assert sorted(p.name for p in tmp_path.iterdir()) == ["calls.jsonl"]


@pytest.mark.slow
@pytest.mark.usefixtures("plain_report")
@pytest.mark.parametrize("refused", [False, True])
def test_the_steps_of_a_run_are_forecast_and_nothing_stays(spark, tmp_path, monkeypatch, refused):
    corpus = write_corpus(tmp_path / "calls.jsonl", n=12)
    if refused:  # what a gate says about few documents stops no forecast
        from nes_spark.run import release

        def refuse(publication):
            raise GateRefused("too few")

        monkeypatch.setattr(release, "seal_ledger", refuse)
    lighter = {"audit.linkage": False, "audit.recognition": False}
    config = settings(corpus, tmp_path / "out", **lighter)
    found = forecasts.forecast(config, "1%", spark)
    assert (found.documents, found.sampled) == (12, (8, 12))
    names = [step.name for step in found.steps]
    assert names[:2] == ["start", "documents"]
    assert names[2 : 1 + len(STAGES)] == [stage.name for stage in STAGES[1:]]
    assert any(name.startswith("release: ") for name in names)
    assert found.seconds > 1
    assert found.seconds == pytest.approx(sum(s.seconds for s in found.steps))
    assert found.space.keys() == COUNTS.keys()
    assert 0 < found.space["changeable"] <= found.space["chunks"]
    assert found.space["candidates"] > 1
    print(found)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["calls.jsonl"]
