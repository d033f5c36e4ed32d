"""Two finished runs that the tests of this folder share; a test that changes one takes a copy."""

from __future__ import annotations

import io
import json
import re
import shutil
from pathlib import Path

import pytest

import nes_spark as nes
from nes_spark import logs
from tests.run.small import SEED, WHOLE, records, settings, write_corpus


@pytest.fixture(scope="module")
def seeded():
    """The seed of the shared runs, and no telemetry."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NES_SPARK_SEED", SEED)
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        yield


@pytest.fixture(scope="session")
def logged_run(spark, tmp_path_factory):
    """Configuration, result and log of a run of plan ``pairs`` with everything that it can do."""
    folder = tmp_path_factory.mktemp("pairs")
    output = folder / "out"
    output.mkdir()
    config = settings(write_corpus(folder / "calls.jsonl"), output)
    stream = io.StringIO()
    logs.configure(stream=stream)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NES_SPARK_SEED", SEED)
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        result = nes.run(config, spark)
    return config, result, stream.getvalue()


@pytest.fixture(scope="session")
def finished(logged_run):
    """Configuration and result of the run of plan ``pairs``."""
    return logged_run[:2]


@pytest.fixture(scope="session")
def whole(finished, spark, tmp_path_factory):
    """The result of a run of plan ``whole`` on the tables of the other up to the mixture."""
    config, pairs = finished
    run = tmp_path_factory.mktemp("whole") / "out" / "all"
    shutil.copytree(pairs.directory, run)
    for folder in ("release", "report", "sealed/ledger", "stages/publication"):
        shutil.rmtree(run / folder)
    # An attacker who holds the answers: every call, under its company.
    known = [
        {"metadata": d["company_name"], "text": " ".join(turn["text"] for turn in d["turns"])}
        for d in records()
    ]
    background = run.parent / "known.jsonl"
    background.write_text("".join(json.dumps(row) + "\n" for row in known))
    # And one who knows some words of each company that no other company's calls have.
    said: dict[str, set[str]] = {}
    for row in known:
        words = re.findall(r"\b[a-z]{5,}", row["text"])
        said.setdefault(row["metadata"], set()).update(words)
    lists = []
    for company, words in said.items():
        others = set().union(*(w for name, w in said.items() if name != company))
        lists.append(f'"{company}","{"; ".join(sorted(words - others)[:9])}"')
    public = run.parent / "words.csv"
    public.write_text("\n".join(["metadata,words", *lists]) + "\n")
    changes = {"audit.background": str(background), "audit.public_words": str(public), **WHOLE}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NES_SPARK_SEED", SEED)
        return nes.run(settings(Path(config.input.path), run.parent, **changes), spark)


@pytest.fixture
def plain_report(monkeypatch):
    """An empty report, for tests that look at none: drawing one takes seconds."""

    def build(data, folder, drawings=None):
        page = Path(folder, "index.html")
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("<html></html>")
        return page

    monkeypatch.setattr("nes_spark.report.build_report", build)
    monkeypatch.setattr("nes_spark.report.page.draw_figures", lambda data: {})
