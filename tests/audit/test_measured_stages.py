"""Attackers on Spark ask the same sample, and guess as in memory, on any number of partitions."""

from contextlib import contextmanager

import pandas as pd
import pytest
from pyspark.sql import functions as F

from nes_spark.audit import text_stages
from nes_spark.audit.documents import asked_half
from nes_spark.audit.linkage import features_of, swap_entities
from nes_spark.audit.measured import (
    CHUNKS_KNOWN,
    CHUNKS_LEFT_OUT,
    DOCUMENTS,
    Measurement,
    sampled,
)
from nes_spark.audit.measured_stages import connected, halves, measure_sample
from nes_spark.audit.stages import link_sightings, with_knowledge
from nes_spark.config import AuditConfig
from nes_spark.schemas import EDITS
from tests.audit.corpus import Corpus, frames, make
from tests.audit.test_stages import text_oracle
from tests.conftest import setting_of

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
    limits = {name: config.pop(name) for name in ("max_documents", "others") if name in config}
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


ASKED = {"max_chunks": 10, "max_documents": 3}


@pytest.fixture(scope="module")
def counted():
    """The tables whose words were counted for the sample."""
    return []


@pytest.fixture(scope="module")
def some(spark, corpus, in_memory, counted):
    """What is guessed of a sample, on three partitions that shuffles make two."""
    count = text_stages._counted

    def noted(known):
        counted.append(known)
        return count(known)

    with (
        setting_of(spark, "spark.sql.shuffle.partitions", 2),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(text_stages, "_counted", noted)
        return guesses(spark, corpus, in_memory[1], 3, **ASKED)


def test_chunks_and_documents_are_attacked_with_words_counted_once(some, counted):
    assert len(counted) == 1


def test_a_sample_is_drawn_by_key(some, corpus):
    asked = some.groupby(["unit", "attacker", "side"])["id"].unique().map(sorted).to_dict()
    documents = {c["document_id"] for c in corpus.chunks}
    chunks = [c["chunk_id"] for c in corpus.chunks]
    drawn = {DOCUMENTS: sampled(documents, 3, KEY), CHUNKS_LEFT_OUT: sampled(chunks, 10, KEY)}
    attackers = ("linkage", "linkage-all", "words", "style")
    units = [(unit, a) for unit in drawn for a in attackers]
    units += [(CHUNKS_KNOWN, a) for a in attackers[:3]]  # style has no variant that knows a chunk
    drawn[CHUNKS_KNOWN] = drawn[CHUNKS_LEFT_OUT]
    assert asked == {(u, a, side): drawn[u] for u, a in units for side in ("before", "after")}
    assert not some.duplicated(["unit", "attacker", "side", "id"]).any()


def ranks_of(found, unit, side, attacker):
    mine = (found["unit"] == unit) & (found["side"] == side) & (found["attacker"] == attacker)
    return dict(zip(found.loc[mine, "id"], found.loc[mine, "rank"], strict=True))


def test_linkage_guesses_as_in_memory(some, in_memory):
    for side, units in in_memory[0].items():
        for unit in (DOCUMENTS, CHUNKS_LEFT_OUT, CHUNKS_KNOWN):
            for attacker in ("linkage", "linkage-all"):
                expected = units[unit][units[unit]["attacker"] == attacker]
                ranks = dict(zip(expected["id"], expected["rank"], strict=True))
                found = ranks_of(some, unit, side, attacker)
                assert len(found) >= 3
                assert found == {i: ranks[i] for i in found}


def test_words_and_style_guess_as_their_definition_says(some, corpus, in_memory):
    _, last = in_memory
    most = AuditConfig().max_candidates_per_entity
    text = {c["chunk_id"]: c["text"] for c in corpus.chunks}
    after = {c: last[c]["text"] if c in last else text[c] for c in text}

    def row(ident, words):
        return {"draw": 0, "chunk_id": ident, "text": words}

    chunks = [row(c, after[c]) for c in sorted(after)]
    expected = {DOCUMENTS: {}, CHUNKS_LEFT_OUT: {}, CHUNKS_KNOWN: {}}
    for (_, chunk, side, model), (_, rank) in text_oracle(corpus, chunks, most).items():
        unit = CHUNKS_KNOWN if model.endswith("-self") else CHUNKS_LEFT_OUT
        expected[unit][model.removesuffix("-self"), side, chunk] = rank
    asked, held = joined_halves(corpus)
    documents = [
        row(c["document_id"], "\n\n".join(after[i] for i in c["parts"])) for c in asked.chunks
    ]
    found = text_oracle(asked, documents, most, learned=held)
    for (_, document, side, model), (_, rank) in found.items():
        if not model.endswith("-self"):
            expected[DOCUMENTS][model, side, document] = rank
    for unit, mine in expected.items():
        for attacker in ("words", "style") if unit != CHUNKS_KNOWN else ("words",):
            for side, name in (("pre", "before"), ("post", "after")):
                ranks = ranks_of(some, unit, name, attacker)
                assert len(ranks) >= 3
                assert ranks == {i: mine[attacker, side, i] for i in ranks}
    # A word of its own in every chunk: planted evidence that no swap takes away.
    for name in ("before", "after"):
        assert set(ranks_of(some, DOCUMENTS, name, "style").values()) == {1}
    assert set(ranks_of(some, CHUNKS_KNOWN, "before", "words").values()) == {1}


def joined_halves(corpus):
    """The asked halves of the documents as chunks of a corpus, and the corpus of held halves."""
    asked = Corpus([], [], [], [], [])
    kept = set()
    members = {}
    for c in corpus.chunks:
        members.setdefault(c["document_id"], []).append(c)
    for document, chunks in members.items():
        held, wanted = asked_half([c["chunk_id"] for c in chunks], KEY)
        kept |= held
        parts = [c for c in sorted(chunks, key=lambda c: c["chunk_id"]) if c["chunk_id"] in wanted]
        at = 0
        for c in parts:
            asked.mentions += [
                m | {"chunk_id": document, "start": m["start"] + at, "end": m["end"] + at}
                for m in corpus.mentions
                if m["chunk_id"] == c["chunk_id"]
            ]
            at += len(c["text"]) + 2
        joined = "\n\n".join(c["text"] for c in parts)
        ids = [c["chunk_id"] for c in parts]
        asked.chunks.append(parts[0] | {"chunk_id": document, "text": joined, "parts": ids})
    chunks, mentions = (
        [row for row in table if row["chunk_id"] in kept]
        for table in (corpus.chunks, corpus.mentions)
    )
    return asked, Corpus([], chunks, mentions, [], [])


@pytest.mark.slow  # the same promise for a sample: the three tests above
@pytest.mark.parametrize("partitions", [1, 7], indirect=True)
def test_everybody_is_asked_on_any_number_of_partitions(spark, corpus, in_memory, some, partitions):
    whole = guesses(spark, corpus, in_memory[1], partitions)
    sizes = whole.groupby(["unit", "attacker", "side"])["id"].nunique()
    n, m = len(corpus.chunks), 6
    for side in ("before", "after"):
        for attacker in ("words", "style"):
            assert sizes[DOCUMENTS, attacker, side] == m
            assert sizes[CHUNKS_LEFT_OUT, attacker, side] == n
        assert sizes[CHUNKS_KNOWN, "words", side] == n
    test_linkage_guesses_as_in_memory(whole, in_memory)
    test_words_and_style_guess_as_their_definition_says(whole, corpus, in_memory)
    keys = ["unit", "attacker", "side", "id"]
    both = some.merge(whole, on=keys, suffixes=("", "_whole"))
    assert len(both) == len(some)
    assert (both["rank"] == both["rank_whole"]).all()


@pytest.mark.slow  # the same guesses as above, by one attacker fewer
def test_nobody_looks_at_other_categories_where_there_are_none(spark, corpus, in_memory, some):
    found = guesses(spark, corpus, in_memory[1], 3, **ASKED, others=False)
    assert set(found["attacker"]) == {"linkage", "words", "style"}
    keys = ["unit", "attacker", "side", "id", "document_id", "rank"]
    rest = some[some["attacker"] != "linkage-all"]
    assert sorted(found[keys].values.tolist()) == sorted(rest[keys].values.tolist())


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


@contextmanager
def four_partitions_joined_by_bytes(spark):
    """Let Spark join small partitions of four, where nothing keeps it from that."""
    with (
        setting_of(spark, "spark.sql.shuffle.partitions", 4),
        setting_of(spark, "spark.sql.adaptive.enabled", True),
        setting_of(spark, "spark.sql.adaptive.coalescePartitions.parallelismFirst", False),
    ):
        yield


def test_targets_are_spread_over_tasks_however_few_bytes_they_have(spark):
    targets = [("s", f"t{i}", ["a"], [True]) for i in range(40)]
    known = [("s", [0], ["a"])]
    with four_partitions_joined_by_bytes(spark):
        found = with_knowledge(
            spark.createDataFrame(
                targets,
                "scope string, target_id string, features array<string>, own array<boolean>",
            ),
            spark.createDataFrame(known, "scope string, labels array<int>, features array<string>"),
            5,
            (),
        )
        tasks = found.select("target_id", F.spark_partition_id().alias("task")).collect()
    assert len(tasks) == 40
    assert len({row["task"] for row in tasks}) == 4


def test_what_an_attacker_is_asked_is_spread_over_tasks_too(spark):
    features = features_of({"Organization": ["a"]})
    targets = [
        (f"t{i}", f"c{i}", f"d{i}", f"m{i % 3}", "post", features, [True], [0]) for i in range(40)
    ]
    cells = [(f"c{i}", f"m{i % 3}", {"Organization": ["a", f"b{i}"]}) for i in range(40)]
    with four_partitions_joined_by_bytes(spark):
        found = link_sightings(
            spark.createDataFrame(
                targets,
                "target_id string, chunk_id string, document_id string, metadata string, "
                "side string, features array<string>, own array<boolean>, uses array<int>",
            ),
            spark.createDataFrame(
                cells, "chunk_id string, metadata string, entities map<string, array<string>>"
            ),
            False,
            AuditConfig(),
        )
        rows = found.select("chunk_id", F.spark_partition_id().alias("task")).collect()
    assert len({row["chunk_id"] for row in rows}) == 40
    assert len({row["task"] for row in rows}) == 4
