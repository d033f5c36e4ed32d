"""The Spark stage of clues finds what the kernel does, in all texts of a secret."""

from nes_spark.entities.clue_stages import add_clues
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
LIST = "chunk_id string, metadata string, clue string"


def test_in_all_chunks_of_the_secret_and_no_other(spark, partitions):
    rows = [(chunk, chunk[0].upper(), text) for chunk, text in TEXTS.items()]
    chunks = spark.createDataFrame(
        rows, "chunk_id string, metadata string, text string"
    ).repartition(partitions)
    known = [
        ("a#0", "Organization", "Acme", "Acme", 25, 29),
        ("a#1", "Organization", "Acme", "Acme", 24, 28),
        # touched by a clue, beside one, and in a chunk of which nothing is told
        ("a#0", "Term", "cement", "cement/modifier", 8, 14),
        ("a#0", "Term", "Sales", "sales", 31, 36),
        ("a#2", "Term", "morning", "morning", 5, 12),
        ("b#0", "Term", "kiln", "kiln", 9, 13),
    ]
    mentions = spark.createDataFrame(known, MENTIONS.ddl).repartition(partitions)
    given = [(chunk, chunk[0].upper(), clue) for chunk, clue in LISTED]
    # of another quarter: what was told of a company, and of one that is not here
    given += [(None, "B", "kilns of another call"), (None, "B", "grew"), (None, "Z", "kiln")]
    listed = spark.createDataFrame(given, LIST).repartition(partitions)
    everything = [tuple(r) for r in add_clues(chunks, mentions, listed).collect()]
    found = [row for row in everything if row[1] == "Clue"]
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
        ] + [("kiln", "of", "another", "call")] * (chunk[0] == "b")
        held = [Mention(*row[4:], row[1], row[2]) for row in known if row[0] == chunk]
        expected |= {(chunk, m.start, m.surface) for m in clue_mentions(text, clues, held)}
    assert {(chunk, start, surface) for chunk, _, surface, _, start, _ in found} == expected
    assert len(found) == len(expected)
    # "grew" tells in its own chunk alone, and what is a mention already stays one
    assert {(chunk, surface) for chunk, _, surface in expected} == {
        ("a#0", "cement kilns"), ("a#0", "Sales grew"), ("a#1", "cement kiln"),
        ("b#0", "kiln of another call"),
    }  # fmt: skip
    # all else is as it was, but for the terms that became part of a clue
    rest = [row for row in everything if row[1] != "Clue"]
    assert sorted(rest) == sorted(row for row in known if row[1] != "Term" or row[0] == "a#2")


def test_without_clues_nothing_is_found(spark):
    chunks = spark.createDataFrame(
        [("a#0", "A", "Cement.")], "chunk_id string, metadata string, text string"
    )
    nothing = spark.createDataFrame([], MENTIONS.ddl)
    listed = spark.createDataFrame([("a#0", "A", "kilns")], LIST)
    assert add_clues(chunks, nothing, listed).count() == 0
    known = [("a#0", "Term", "Cement", "cement", 0, 6)]
    mentions = spark.createDataFrame(known, MENTIONS.ddl)
    assert [tuple(r) for r in add_clues(chunks, mentions, listed).collect()] == known
