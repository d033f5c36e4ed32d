import hashlib

from nes_spark.releases import publish_stages
from nes_spark.releases.publish_stages import EDITS, ledger_rows


def test_ledger_rows_are_in_order_over_many_partitions(spark, monkeypatch):
    monkeypatch.setattr(publish_stages, "_AT_A_TIME", 10)
    chunks = spark.range(0, 95, 1, 3).selectExpr(
        "format_string('d%02d#00000', (id * 37) % 95) AS chunk_id", "CAST(id AS string) AS text"
    )
    assembled = chunks.selectExpr(
        "chunk_id", "'d' AS document_id", "'r' AS release_document_id", "0 AS position",
        "CAST(NULL AS string) AS partner_id", f"CAST(array() AS {EDITS}) AS edits",
    )  # fmt: skip
    rows = list(ledger_rows(assembled, chunks))
    texts = {r["chunk_id"]: r["text"] for r in chunks.collect()}
    assert [r["chunk_id"] for r in rows] == sorted(texts)
    for row in rows:
        assert row["digest"] == hashlib.sha256(texts[row["chunk_id"]].encode()).hexdigest()
