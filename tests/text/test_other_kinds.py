"""Clinical notes and patent filings through all stages to a published release."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nes_spark.demo import filings, notes
from tests.jobs import seed_named

CONF = Path(__file__).parents[2] / "conf"


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "make"), [("clinical", notes), ("patents", filings)])
def test_to_a_published_release(tmp_path, kind, make):
    source = tmp_path / "in.jsonl"
    documents = [document for document, _ in make()]
    source.write_text("".join(json.dumps(d) + "\n" for d in documents), encoding="utf-8")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "nes_spark.cli", "run", str(CONF / f"{kind}.yaml")]
    done = subprocess.run(
        [*command, "--input", str(source), "--output", str(out)],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PYSPARK_PYTHON": sys.executable,
            "NES_SPARK_SEED": seed_named(f"{kind} in tests"),
        },
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (record,) = out.glob("*/release/release.json")
    gates = json.loads(record.read_text(encoding="utf-8"))["gates"]
    assert {gate["name"] for gate in gates} >= {"direct identifiers", "mixture", "swaps"}
    assert all(gate["passed"] for gate in gates)
    lines = (record.parent / "chunks.jsonl").read_text(encoding="utf-8").splitlines()
    released = {json.loads(line)["document_id"] for line in lines}
    assert len(released) == len(documents)
    assert not released & {d["document_id"] for d in documents}
