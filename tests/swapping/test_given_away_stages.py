"""The search for words of exchanged names: shown what it must find, and what it must let pass."""

import pytest

from nes_spark.schemas import CHUNKS, EDITS, MENTIONS
from nes_spark.swapping.given_away_stages import find_given_away

BEFORE = {
    "a#0": "Orion Widgets lost. Orion appealed in Bonn after the Lisbon Summit.",
    "b#0": "Orion Widgets lost. Orion appealed in Bonn after the Lisbon Summit.",
}
AFTER = {
    "a#0": "Vega Looms lost. Orion appealed in Bonn after the Lisbon Summit.",  # two words stay
    "b#0": "Vega Looms lost. Vega appealed in Bonn after [Event].",
}
NAMES = [("Organization", "Orion Widgets"), ("Location", "Bonn"), ("Event", "Lisbon Summit")]
EDIT = (0, 13, "Orion Widgets", "Vega Looms", "Organization", "Orion Widgets", "Vega Looms")


@pytest.fixture
def frames(spark, partitions):
    nothing = dict.fromkeys(CHUNKS.names)
    chunks = [
        nothing | {"chunk_id": c, "document_id": c[0], "metadata": c[0], "position": 0, "text": t}
        for c, t in BEFORE.items()
    ]
    mentions = [
        dict.fromkeys(MENTIONS.names)
        | {"chunk_id": c, "category": k, "surface": e, "entity": e, "start": t.index(e)}
        | {"end": t.index(e) + len(e)}
        for c, t in BEFORE.items()
        for k, e in NAMES
    ]

    def frame(rows, table):
        made = spark.createDataFrame([tuple(r[n] for n in table.names) for r in rows], table.ddl)
        return made.repartition(partitions)

    changed = spark.createDataFrame(
        [(c, t, [EDIT]) for c, t in AFTER.items()], f"chunk_id string, text string, edits {EDITS}"
    )
    return changed.repartition(partitions), frame(chunks, CHUNKS), frame(mentions, MENTIONS)


def test_what_still_stands_is_found_and_what_went_is_not(frames):
    found = find_given_away(*frames, {"Event": "[Event]"}).collect()
    assert {(r["chunk_id"], r["word"]) for r in found} == {
        ("a#0", "Orion"),
        ("a#0", "Lisbon Summit"),
    }


def test_a_figure_that_came_in_makes_no_name_that_was_exchanged(spark):
    """ "Part 2" is what the exchange of a figure made of "Part 3"."""
    before = "Part 3 waits for a letter. Part 2 is sound."
    after = "Part 2 waits for a letter. Gantt is sound."
    edits = [
        (5, 6, "3", "2", "Quantity", "3", "2"),
        (27, 33, "Part 2", "Gantt", "Product", "Part 2", "Gantt"),
    ]
    kept = "Part 2 waits for a letter. Gantt is sound."
    rows = [("a#0", after, edits), ("b#0", kept, edits[1:])]
    changed = spark.createDataFrame(rows, f"chunk_id string, text string, edits {EDITS}")
    texts = [("a#0", before), ("b#0", "Part 2 waits for a letter. Part 2 is sound.")]
    chunks = spark.createDataFrame(texts, "chunk_id string, text string")
    named = [(c, "Product", "Part 2", "Part 2", 27, 33) for c in ("a#0", "b#0")]
    columns = "chunk_id string, category string, surface string, entity string, start int, end int"
    found = find_given_away(changed, chunks, spark.createDataFrame(named, columns), {}).collect()
    assert [(r["chunk_id"], r["word"]) for r in found] == [("b#0", "Part 2")]
