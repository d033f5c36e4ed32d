import hashlib
import json

import pytest

from nes_spark.releases import publish_stages
from nes_spark.releases.publish_stages import EDITS, ledger_blocks


@pytest.mark.parametrize(("part", "block"), [(10, 4), (1000, 1000)])
def test_blocks_of_the_ledger_are_in_order_over_many_partitions(spark, monkeypatch, part, block):
    monkeypatch.setattr(publish_stages, "_IN_A_PART", part)
    monkeypatch.setattr(publish_stages, "_AT_A_TIME", block)
    chunks = spark.range(0, 95, 1, 3).selectExpr(
        "format_string('d%02d#00000', (id * 37) % 95) AS chunk_id", "CAST(id AS string) AS text"
    )
    assembled = chunks.selectExpr(
        "chunk_id", "'d' AS document_id", "'r' AS release_document_id", "0 AS position",
        "CAST(NULL AS string) AS partner_id", f"CAST(array() AS {EDITS}) AS edits",
    )  # fmt: skip
    kept = spark.sparkContext._jsc.sc().getPersistentRDDs().size()
    blocks = list(ledger_blocks(assembled, chunks))
    assert all(n == lines.count(b"\n") <= block for n, lines in blocks)
    assert len(blocks) >= 95 / min(part, block)
    rows = [json.loads(line) for _, lines in blocks for line in lines.splitlines()]
    texts = {r["chunk_id"]: r["text"] for r in chunks.collect()}
    assert [r["chunk_id"] for r in rows] == sorted(texts)
    for row in rows:
        assert row["digest"] == hashlib.sha256(texts[row["chunk_id"]].encode()).hexdigest()
        assert row["edits"] == [] and row["partner_id"] is None and row["position"] == 0
    assert spark.sparkContext._jsc.sc().getPersistentRDDs().size() == kept
