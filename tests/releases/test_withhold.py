"""Chunks that are left out of a release or summarised, whatever was exchanged in them."""

import json

from pyspark.sql import functions as F

from nes_spark.releases.publish_stages import ledger_blocks, withhold
from nes_spark.run.figures_stages import instead_figures
from nes_spark.schemas import EDITS
from nes_spark.swapping.rewriting import Edit, in_place_of

ROWS = {
    "a": ("Ada wrote.", "Ivo wrote.", [Edit(0, 3, "Ada", "Ivo", "Person", "Ada", "Ivo")], "z"),
    "b": ("Una read 𝒳.", "Una read 𝒳.", [], None),
    "c": ("Gone.", "", list(in_place_of("Gone.", "").edits), "z"),
    "d": ("It stays.", "It stays.", [], None),
    "e": ("Ada met Una.", "Ivo met Eva.", [Edit(0, 3, "Ada", "Ivo", "Person", "Ada", "Ivo")], "z"),
}
#: What comes in their place.
LISTED = {"a": None, "b": None, "c": "Of one that treatment drop took already.", "e": "They met."}


def test_listed_chunks_have_no_text_and_come_back_from_the_ledger(spark, partitions):
    chunks = spark.createDataFrame(
        [(c, text) for c, (text, *_) in ROWS.items()], "chunk_id string, text string"
    )
    assembled = spark.createDataFrame(
        [
            (
                c,
                "d",
                "r",
                0,
                after,
                [tuple(vars(e).values()) for e in edits],
                partner,
            )
            for c, (_, after, edits, partner) in ROWS.items()
        ],
        "chunk_id string, document_id string, release_document_id string, position int, "
        f"text string, edits {EDITS}, partner_id string",
    ).repartition(partitions)
    listed = spark.createDataFrame([*LISTED.items()], "chunk_id string, summary string")
    found = withhold(assembled, chunks, listed)
    assert found.columns == assembled.columns
    rows = {row["chunk_id"]: row.asDict(recursive=True) for row in found.collect()}
    assert {c: row["text"] for c, row in rows.items()} == {
        "a": "",
        "b": "",
        "c": "",
        "d": "It stays.",
        "e": "They met.",
    }
    assert rows["e"]["edits"] == [vars(e) for e in in_place_of("Ada met Una.", "They met.").edits]
    for c in "abc":  # as treatment drop leaves them
        assert rows[c]["edits"] == [vars(e) for e in in_place_of(ROWS[c][0], "").edits]
    assert rows["a"]["partner_id"] == "z" and rows["d"]["edits"] == []

    def rows(keep_originals):
        blocks = ledger_blocks(found, chunks, keep_originals)
        return [json.loads(line) for block in blocks for line in block.lines.splitlines()]

    kept = {row["chunk_id"]: row for row in rows(True)}
    assert [kept[c].get("whole") for c in "abcde"] == ["drop", "drop", "drop", None, "summary"]
    assert kept["a"]["edits"][0]["old"] == "Ada wrote."
    assert [row["edits"] for row in rows(False)] == [None, None, None, [], None]
    figures = instead_figures(found, chunks.withColumn("n_words", F.size(F.split("text", " "))))
    assert figures == {
        "left_out": {"chunks": 3, "words": 6},
        "summarised": {"chunks": 1, "words": 3, "told": 2},
    }
    nobody = instead_figures(
        assembled.where("chunk_id = 'd'"), chunks.withColumn("n_words", F.lit(2))
    )
    assert nobody == {}
