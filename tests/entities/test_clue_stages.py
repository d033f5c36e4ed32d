"""The Spark stage of clues finds what the kernel does, in all texts of a secret."""

import pytest

from nes_spark.entities.clue_stages import add_clues, count_lost, names_told
from nes_spark.entities.clues import clue_mentions, read_clue
from nes_spark.entities.mentions import Mention
from nes_spark.schemas import MENTIONS
from nes_spark.swapping import whole
from nes_spark.swapping.whole import PlanOptions

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
    given += [("x#1", "B", "kilns of another call"), ("x#1", "B", "grew"), ("x#2", "Z", "kiln")]
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


TOLD = {
    "a#0": "Acme embraces reality; EV sales grew. A blue box store.",
    "a#1": "They embrace reality. The 737 and materials grew. Blue boxes.",
    "b#0": "We embrace reality with a 737, and materials grew.",
}


def found_in(spark, listed, texts, partitions=1, known=()):
    rows = [(chunk, chunk[0].upper(), text) for chunk, text in texts.items()]
    chunks = spark.createDataFrame(rows, "chunk_id string, metadata string, text string")
    mentions = spark.createDataFrame([*known], MENTIONS.ddl)
    listed = spark.createDataFrame(listed, LIST).repartition(partitions)
    found = add_clues(chunks.repartition(partitions), mentions, listed)
    return {(r["chunk_id"], r["surface"]) for r in found.collect()}, (chunks, listed)


# on one partition too: the first of the tests
@pytest.mark.parametrize("partitions", [7], indirect=True)
def test_clues_of_another_quarter_are_read_in_each_text(spark, partitions):
    listed = [
        # with a name that an exchange had brought in there
        ("x#0", "A", "Hadria embraces reality"),
        # whole in one text: nothing smaller is taken in others
        ("x#1", "A", "blue box store"),
        # these tell in their own chunk alone
        ("x#1", "A", "grew"),
        ("x#2", "A", "737"),
    ]
    found, (chunks, listed) = found_in(spark, listed, TOLD, partitions)
    assert found == {
        ("a#0", "embraces reality"), ("a#1", "embrace reality"), ("a#0", "blue box store"),
    }  # fmt: skip
    assert count_lost(chunks, listed) == ({}, {})


@pytest.mark.parametrize("partitions", [7], indirect=True)
def test_a_list_of_ones_own_tells_in_all_texts_whatever_it_is(spark, partitions):
    listed = [(None, "A", clue) for clue in ("737", "EV", "Materials", "grew", "of")]
    # the same clue of another quarter does not change that
    listed += [("x#0", "A", "737")]
    found, _ = found_in(spark, listed, TOLD, partitions)
    assert found == {
        ("a#0", "EV"), ("a#0", "grew"), ("a#1", "737"), ("a#1", "materials grew"),
    }  # fmt: skip


def test_clues_that_are_gone_from_their_chunk_are_counted(spark):
    listed = [
        ("a#0", "A", "embraces reality"), ("a#0", "A", "kilns"), ("a#1", "A", "reality of kilns"),
        ("x#0", "A", "xyzzy"), (None, "A", "xyzzy"), ("b#0", "B", "xyzzy"),
    ]  # fmt: skip
    _, frames = found_in(spark, listed, TOLD)
    assert count_lost(*frames) == ({"a#0": 1, "a#1": 1, "b#0": 1}, {"A": 1})


def test_clues_of_ones_own_that_stand_nowhere_are_counted(spark, partitions):
    listed = [(None, "A", clue) for clue in ("EV", "xyzzy", "plugh")] + [(None, "B", "EV")]
    _, frames = found_in(spark, listed, TOLD, partitions)
    assert count_lost(*frames) == ({}, {"A": 2, "B": 1})


def test_names_that_would_give_a_clue_back_are_nobodys_to_give(spark, partitions):
    chunks = spark.createDataFrame(
        [("a#0", "a", "A"), ("d#0", "d", "A"), ("b#0", "b", "B"), ("c#0", "c", "C")],
        "chunk_id string, document_id string, metadata string",
    )
    mentions = spark.createDataFrame(
        [
            ("a#0", "Clue", "King Air", "king air", 0, 8),
            ("b#0", "Product", "King Air", "King Air", 0, 8),
            ("b#0", "Product", "Galleri", "Galleri", 9, 16),
            ("c#0", "Name", "King Airs", "King Airs", 0, 9),
            ("c#0", "Term", "king air", "king air", 10, 18),
        ],
        MENTIONS.ddl,
    )
    found = names_told(chunks.repartition(partitions), mentions.repartition(partitions))
    assert sorted(map(tuple, found.collect())) == [
        (document, category, name)
        for document in "ad"
        for category, name in (("Name", "King Airs"), ("Product", "King Air"))
    ]
    # in memory the same
    own = barred_in_memory(
        ["A", "A", "B", "C"],
        {"Clue": [["king air"], [], [], []], "Product": [[], [], ["King Air", "Galleri"], []]},
    )
    assert own["Product"] == [["King Air"], ["King Air"], [], []]


@pytest.mark.parametrize("partitions", [7], indirect=True)
def test_a_word_that_many_names_have_gives_nothing_back(spark, partitions):
    """Else every document would have as many rows as the corpus has names."""
    clues = ["energy", "rent", "galleri", "green energy"]
    names = {
        "Organization": [
            *(f"{who} Energy" for who in ("Acme", "Bolt", "Core", "Dyna")),
            *(f"Galleri {n}" for n in ("One", "Two", "Three", "Four")),
            "Rent Well",
        ],
        # of each category by itself
        "Product": ["Energy Bar", "Green Energy"],
    }
    chunks = spark.createDataFrame(
        [("a#0", "a", "A"), ("b#0", "b", "B")],
        "chunk_id string, document_id string, metadata string",
    )
    rows = [("a#0", "Clue", clue, clue, 0, 1) for clue in clues]
    rows += [("b#0", category, n, n, 0, 1) for category, mine in names.items() for n in mine]
    mentions = spark.createDataFrame(rows, MENTIONS.ddl).repartition(partitions)
    found = {(row.category, row.entity) for row in names_told(chunks, mentions).collect()}
    expected = {("Organization", n) for n in names["Organization"] if "Energy" not in n}
    assert found == expected | {("Product", "Energy Bar"), ("Product", "Green Energy")}
    own = barred_in_memory(
        ["A", "B"], {"Clue": [clues, []]} | {c: [[], n] for c, n in names.items()}
    )
    assert {(c, n) for c in names for n in own[c][0]} == found


def barred_in_memory(metadata, entities):
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole, "sample_plan", lambda *_, own_names, **__: seen.append(own_names))
        ids = [str(i) for i in range(len(metadata))]
        whole.sample_whole(ids, metadata, ids, None, entities, [PlanOptions(("Product",), ())])
    return seen[0]


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
