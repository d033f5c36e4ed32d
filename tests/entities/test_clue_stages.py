"""The Spark stage of clues finds what the kernel does, in the documents that they were told of."""

from nes_spark.entities.clue_stages import find_clues
from nes_spark.entities.clues import clue_mentions, read_clue
from nes_spark.entities.mentions import Mention
from nes_spark.schemas import MENTIONS

TEXTS = {
    "a#0": "We make cement kilns for Acme. Sales grew.",
    "a#1": "A cement kiln grew, and Acme grew.",
    "a#2": "Good morning.",
    "b#0": "A cement kiln of another call grew.",
}
LISTED = [
    ("a#0", "cement kilns for Hadria"),
    ("a#0", "cement kilns"),
    ("a#0", "grew"),
    ("a#0", "nothing of this"),
    ("a#1", "Acme"),
]


def test_in_all_chunks_of_the_document_and_no_other(spark, partitions):
    rows = [(chunk, chunk[0], text) for chunk, text in TEXTS.items()]
    chunks = spark.createDataFrame(
        rows, "chunk_id string, document_id string, text string"
    ).repartition(partitions)
    known = [
        ("a#0", "Organization", "Acme", "Acme", 25, 29),
        ("a#1", "Organization", "Acme", "Acme", 24, 28),
    ]
    mentions = spark.createDataFrame(known, MENTIONS.ddl).repartition(partitions)
    listed = spark.createDataFrame(LISTED, "chunk_id string, clue string").repartition(partitions)
    found = find_clues(chunks, mentions, listed).collect()
    told = {
        chunk: [clue for c, given in LISTED if c == chunk for clue in read_clue(given, text)]
        for chunk, text in TEXTS.items()
    }
    expected = set()
    for chunk, text in TEXTS.items():
        clues = [
            clue.words
            for c, mine in told.items()
            for clue in mine
            if c == chunk or (clue.wide and c[0] == chunk[0])
        ]
        held = [Mention(*row[4:], row[1], row[2]) for row in known if row[0] == chunk]
        expected |= {(chunk, m.start, m.surface) for m in clue_mentions(text, clues, held)}
    assert {(r["chunk_id"], r["start"], r["surface"]) for r in found} == expected
    assert len(found) == len(expected)
    # "grew" tells in its own chunk alone, and what is a mention already stays one
    assert {(chunk, surface) for chunk, _, surface in expected} == {
        ("a#0", "cement kilns"), ("a#0", "grew"), ("a#1", "cement kiln"),
    }  # fmt: skip


def test_without_clues_nothing_is_found(spark):
    chunks = spark.createDataFrame(
        [("a#0", "a", "Cement.")], "chunk_id string, document_id string, text string"
    )
    nothing = spark.createDataFrame([], MENTIONS.ddl)
    listed = spark.createDataFrame([("a#0", "kilns")], "chunk_id string, clue string")
    assert find_clues(chunks, nothing, listed).count() == 0
