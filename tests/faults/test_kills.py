"""SIGKILL the job at random moments of every stage; what it ends with must not tell."""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from nes_spark.demo import calls, config_path
from nes_spark.run.pipeline import STAGES
from nes_spark.store import MANIFEST
from tests.jobs import SMALL, Job, copy_package, environment, folder_bytes, run_command

pytestmark = pytest.mark.slow

STAGE_NAMES = [stage.name for stage in STAGES] + ["release"]
#: Every stage once, and the last step, which moves things about, more often.
PLAN = [*STAGE_NAMES, *["release"] * 6]
REPUBLISHED = ["release"] * 3


class Harness:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.source = copy_package(folder / "source")
        self.env = environment(self.source)
        self.corpus = folder / "calls.jsonl"
        lines = [json.dumps(d) for d, _ in calls(12, periods=("2031Q2",), length=0.4)]
        self.corpus.write_text("\n".join(lines) + "\n")
        self.count = 0

    def start(self, output: Path, **more: str) -> Job:
        self.count += 1
        output.mkdir(exist_ok=True)
        settings = {**SMALL, **more, "tracking.uri": f"sqlite:///{output}/mlflow.db"}
        command = run_command(config_path(), self.corpus, output, settings)
        return Job(command, self.env, self.folder / f"job{self.count}.log")

    def finish(self, output: Path, **more: str) -> Job:
        job = self.start(output, **more)
        assert job.wait() == 0, job.text()[-3000:]
        return job


def check_tables(run: Path) -> int:
    """Every table that counts as done must be whole; return how many there are."""
    found = 0
    for path in run.glob(f"stages/*/{MANIFEST}"):
        manifest = json.loads(path.read_text())  # never half a manifest
        parts = list(path.parent.glob("*.parquet"))
        if parts:
            rows = sum(pq.read_metadata(part).num_rows for part in parts)
            assert rows == manifest["rows"], f"{manifest['name']} counts as done and is not whole"
        found += 1
    return found


def release_of(run: Path) -> dict[str, bytes] | None:
    """The release as the next run would find it: also between the two renames of a swap."""
    for name in ("release", "release.old"):
        if (run / name).exists():
            return folder_bytes(run / name)
    return None


def kill_all(
    harness: Harness,
    output: Path,
    plan: list[str],
    usual: dict[str, float],
    allowed: list[dict[str, bytes]],
    rng: random.Random,
    **more: str,
) -> list[str]:
    """Kill a run in each stage of the plan, one after the other; return where it was hit."""
    struck = []
    for target in plan:
        before = STAGE_NAMES[STAGE_NAMES.index(target) - 1] if target != STAGE_NAMES[0] else None
        job = harness.start(output, **more)
        assert job.wait_for_stage(before), job.text()[-3000:]
        delay = rng.uniform(0, usual[target]) + (rng.uniform(0, 10) if before is None else 0)
        # On a machine that got faster meanwhile the stage may be over sooner: strike then.
        strike = time.monotonic() + delay
        while time.monotonic() < strike and target not in job.stages():
            with contextlib.suppress(subprocess.TimeoutExpired):  # still running, as it should
                job.process.wait(0.1)
                break
        ended = job.process.poll()
        job.kill()
        done = job.stages()
        hit = next((n for n in STAGE_NAMES if n not in done), "end")
        struck.append(hit)
        tables = check_tables(output / "all") if (output / "all").exists() else 0
        released = release_of(output / "all")
        assert released is None or released in allowed, f"after a kill in {hit}: not a release"
        print(
            f"kill {len(struck):2d}: aimed at {target}, {delay:5.1f} s in, struck {hit}, "
            f"exit {ended}, {tables} outputs done, release "
            f"{'absent' if released is None else 'whole'}",
            flush=True,
        )
    return struck


def test_killed_anywhere_it_ends_with_the_same_release(tmp_path):
    harness = Harness(tmp_path)
    usual = harness.finish(tmp_path / "undisturbed").stages()
    expected = folder_bytes(tmp_path / "undisturbed" / "all" / "release")

    rng = random.Random(20311)
    output = tmp_path / "killed"
    struck = kill_all(harness, output, PLAN, usual, [expected], rng)
    assert len(struck) >= 20
    # A short stage may be over before the blow falls, which then strikes the next one.
    assert len(set(struck) - {"end"}) >= len(STAGE_NAMES) - 4
    harness.finish(output)
    assert folder_bytes(output / "all" / "release") == expected

    # Now there is a release; another choice replaces it, through kills too.
    other = {"choice.rule": "max_rate", "choice.combination": "[Organization, Location]"}
    usual = harness.finish(tmp_path / "undisturbed", **other).stages()
    replaced = folder_bytes(tmp_path / "undisturbed" / "all" / "release")
    assert replaced != expected
    allowed = [expected, replaced]
    struck += kill_all(harness, output, REPUBLISHED, usual, allowed, rng, **other)
    harness.finish(output, **other)
    assert folder_bytes(output / "all" / "release") == replaced

    again = harness.finish(output, **other)
    assert "nothing to do" in again.text()
    print(f"{len(struck)} kills, {harness.count} jobs; struck: {struck}", flush=True)
