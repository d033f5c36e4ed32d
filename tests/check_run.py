"""Check the outputs of a finished run folder: ``python -m tests.check_run OUT/PERIOD``."""

from __future__ import annotations

import hashlib
import json
import stat
import sys
from pathlib import Path

import pandas as pd

from nes_spark.run.pipeline import STAGES


def check(run: Path) -> None:
    """Raise AssertionError with a reason when an output is missing or contradicts another."""
    for name in [output for stage in STAGES for output in stage.gives] + ["status"]:
        assert (run / "stages" / name / "_manifest.json").is_file(), f"{name} has no manifest"
    record = json.loads((run / "release" / "release.json").read_text())
    assert all(gate["passed"] for gate in record["gates"]), record["gates"]
    assert 0 <= record["choice"]["DR"] < 1, record["choice"]
    assert record["choice"]["n_swaps"] > 0, record["choice"]
    for file in record["files"]:
        content = (run / "release" / file["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == file["sha256"], file["file"]
    chunks = pd.read_parquet(run / "release" / "chunks.parquet")
    lines = pd.read_json(run / "release" / "chunks.jsonl", lines=True, dtype=False)
    assert list(chunks["text"]) == list(lines["text"]), "Parquet and JSON Lines differ"
    documents = pd.read_parquet(run / "release" / "documents.parquet")
    published = record["chunks"] - record["chunk_status"].get("dropped", 0)
    assert len(chunks) == published, "chunks went missing"
    assert len(documents) == record["documents"], "documents went missing"
    assert sum(record["chunk_status"].values()) == record["chunks"], record["chunk_status"]
    secrets = pd.read_parquet(
        [str(p) for p in (run / "stages" / "documents").glob("*.parquet")], columns=["metadata"]
    )["metadata"]
    released = "\n".join(documents["text"])
    found = [name for name in secrets if name in released]
    assert not found, f"{len(found)} company names are still in the release"
    page = (run / "report" / "index.html").read_text()
    assert page.count("<svg") + page.count("data:image") >= 3, "the report has no figures"
    sealed = run / "sealed"
    assert stat.S_IMODE(sealed.stat().st_mode) == 0o700, "the sealed folder is open"
    assert any(sealed.iterdir()), "there is no ledger"
    for file in (p for p in sealed.rglob("*") if p.is_file()):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, f"{file.name} is open"


if __name__ == "__main__":
    check(Path(sys.argv[1]))
    sys.stdout.write("1 passed, 0 failed\n")
