"""Attackers on Spark ask the same sample, and guess as in memory, on any number of partitions."""

import pandas as pd
import pytest

from nes_spark.audit.documents import asked_half
from nes_spark.audit.linkage import swap_entities
from nes_spark.audit.measured import (
    CHUNKS_KNOWN,
    CHUNKS_LEFT_OUT,
    DOCUMENTS,
    Measurement,
    sampled,
)
from nes_spark.audit.measured_stages import connected, halves, measure_sample
from nes_spark.config import AuditConfig
from nes_spark.schemas import EDITS
from tests.audit.corpus import frames, make

KEY = b"a key of the test"
EXCHANGED = ("Organization", "Product")


@pytest.fixture(scope="module")
def corpus():
    return make(draws=1)


@pytest.fixture(scope="module")
def in_memory(corpus):
    chunks = pd.DataFrame(corpus.chunks)
    entities = {c["chunk_id"]: c["entities"] for c in corpus.cells}
    measurement = Measurement(chunks, KEY, entities=entities, exchanged=EXCHANGED)
    last = {r["chunk_id"]: r for r in sorted(corpus.rewrites, key=lambda r: r["order"])}
    after = measurement.guesses(
        {c: r["text"] for c, r in last.items()},
        {c: swap_entities(entities[c], r["edits"]) for c, r in last.items()},
    )
    return {"before": measurement.before, "after": after}, last


def guesses(spark, corpus, last, partitions, **config):
    tables = frames(spark, corpus, partitions)
    released = [
        (c["chunk_id"], last[c["chunk_id"]]["text"], last[c["chunk_id"]]["edits"])
        if c["chunk_id"] in last
        else (c["chunk_id"], c["text"], [])
        for c in corpus.chunks
    ]
    schema = f"chunk_id string, text string, edits {EDITS}"
    rows = [(c, t, [tuple(e.values()) for e in edits]) for c, t, edits in released]
    assembled = spark.createDataFrame(rows, schema).repartition(partitions)
    limits = {"max_documents": config.pop("max_documents", 1000)}
    return measure_sample(
        tables["chunks"],
        tables["mentions"],
        tables["cells"],
        assembled,
        AuditConfig(**config),
        KEY,
        exchanged=EXCHANGED,
        **limits,
    ).toPandas()


@pytest.fixture(scope="module")
def whole(spark, corpus, in_memory):
    return guesses(spark, corpus, in_memory[1], 2)


def test_linkage_guesses_as_in_memory(whole, in_memory):
    tables, _ = in_memory
    for side, units in tables.items():
        for unit in (DOCUMENTS, CHUNKS_LEFT_OUT, CHUNKS_KNOWN):
            for attacker in ("linkage", "linkage-all"):
                expected = units[unit][units[unit]["attacker"] == attacker]
                found = whole[
                    (whole["unit"] == unit)
                    & (whole["side"] == side)
                    & (whole["attacker"] == attacker)
                ]
                ranks = dict(zip(found["id"], found["rank"], strict=True))
                assert ranks == dict(zip(expected["id"], expected["rank"], strict=True))


def test_words_and_style_are_asked_the_same(whole, corpus):
    sizes = whole.groupby(["unit", "attacker", "side"])["id"].nunique()
    n, m = len(corpus.chunks), 6
    for side in ("before", "after"):
        for attacker in ("words", "style"):
            assert sizes[DOCUMENTS, attacker, side] == m
            assert sizes[CHUNKS_LEFT_OUT, attacker, side] == n
        assert sizes[CHUNKS_KNOWN, "words", side] == n
    assert not whole.duplicated(["unit", "attacker", "side", "id"]).any()
    named = (whole["rank"] == 1).groupby([whole[c] for c in ("unit", "attacker", "side")]).mean()
    # A word of its own in every chunk: planted evidence that no swap takes away.
    assert named[DOCUMENTS, "style", "before"] == named[DOCUMENTS, "style", "after"] == 1
    assert named[CHUNKS_KNOWN, "words", "before"] == 1


@pytest.mark.parametrize(
    # All are asked on two partitions; one partition says little more and takes as long again.
    "partitions",
    [7, pytest.param(1, marks=pytest.mark.slow)],
)
def test_a_sample_is_drawn_by_key_on_any_number_of_partitions(
    spark, corpus, in_memory, whole, partitions
):
    some = guesses(spark, corpus, in_memory[1], partitions, max_chunks=10, max_documents=3)
    chunks = [c["chunk_id"] for c in corpus.chunks]
    documents = {c["document_id"] for c in corpus.chunks}
    asked = some.groupby("unit")["id"].unique().map(sorted).to_dict()
    assert asked[DOCUMENTS] == sampled(documents, 3, KEY)
    assert asked[CHUNKS_LEFT_OUT] == asked[CHUNKS_KNOWN] == sampled(chunks, 10, KEY)
    keys = ["unit", "attacker", "side", "id"]
    both = some.merge(whole, on=keys, suffixes=("", "_whole"))
    assert len(both) == len(some)
    assert (both["rank"] == both["rank_whole"]).all()


def test_documents_are_halved_as_in_memory(spark):
    rows = [(f"d{d}#{c}", f"d{d}") for d in range(4) for c in range(d + 1)]
    frame = spark.createDataFrame(rows, "chunk_id string, document_id string")
    found = {row.chunk_id: (row.held, row.asked) for row in halves(frame, KEY).collect()}
    for d in range(4):
        ids = [a for a, b in rows if b == f"d{d}"]
        held, asked = asked_half(ids, KEY)
        assert {c for c in ids if found[c][0]} == held
        assert {c for c in ids if found[c][1]} == asked
    swaps = spark.createDataFrame(
        [("d0#0", "d3#1"), ("d3#0", "d0#0"), ("d1#0", "d2#0")], "chunk_a string, chunk_b string"
    )
    documents = spark.createDataFrame([("d0",), ("d2",), ("d3",)], "document_id string")
    assert list(connected(swaps, frame, documents)) == [("d0", "d3")]
