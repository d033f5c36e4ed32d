import pandas as pd
import pytest

from nes_spark.config import EntitiesConfig
from nes_spark.entities import load_recognizer
from nes_spark.entities.stages import build_cells, find_mentions, recognize
from nes_spark.risk.linking import linking_table
from nes_spark.risk.linking_stages import linking_effect
from nes_spark.schemas import CELLS, MENTIONS

TEXTS = [
    "Thank you, Ann Smith, our CFO, for that. Constellium SE opened a plant in Boston.",
    "Ms. Smith said that Constellium's plant runs well. We use Microsoft Teams.",
    "",
    "[Executive 1] of [Company Name] met the European Central Bank (ECB) in the U.S. in 2019.",
    "The ECB and Goldman Sachs spoke. Goldman Sachs and Morgan Stanley met in the United States.",
]


@pytest.fixture(scope="module")
def chunks(spark):
    rows = [
        (f"doc{d}#{i:05d}", f"doc{d}", f"secret{d}", text)
        for d in range(4)
        for i, text in enumerate(TEXTS)
    ]
    schema = "chunk_id string, document_id string, metadata string, text string"
    return spark.createDataFrame(rows, schema)


def config(**content):
    return EntitiesConfig.model_validate(content)


def rows(frame):
    return sorted(tuple(row) for row in frame.collect())


@pytest.fixture(scope="module")
def mentions(chunks):
    return recognize(chunks.coalesce(1), config()).cache()


def test_schema_and_slices(mentions, chunks):
    assert mentions.columns == MENTIONS.names
    texts = {row.chunk_id: row.text for row in chunks.collect()}
    found = mentions.collect()
    assert found
    for row in found:
        assert texts[row.chunk_id][row.start : row.end] == row.surface
        assert "[" not in row.surface and row.entity


def test_same_result_on_any_number_of_partitions(chunks, mentions, partitions):
    assert rows(recognize(chunks.repartition(partitions), config())) == rows(mentions)


def test_names_are_linked_within_a_document(mentions):
    of = {
        (row.chunk_id, row.surface): row.entity
        for row in mentions.where("chunk_id like 'doc0#%'").collect()
    }
    assert of["doc0#00001", "Smith"] == "Ann Smith"
    assert of["doc0#00001", "Constellium"] == of["doc0#00000", "Constellium SE"] == "Constellium"
    assert of["doc0#00004", "ECB"] == "European Central Bank"
    assert of["doc0#00003", "U.S."] == of["doc0#00004", "United States"] == "United States"


def test_linking_can_be_switched_off(chunks):
    frame = recognize(chunks.where("document_id = 'doc0'"), config(linking=False))
    assert all(row.entity == " ".join(row.surface.split()) for row in frame.collect())


def test_every_chunk_has_a_cell(chunks, mentions):
    cells = build_cells(chunks, mentions, config())
    assert cells.columns == CELLS.names
    found = {row.chunk_id: row for row in cells.collect()}
    assert len(found) == chunks.count()
    empty = found["doc0#00002"]
    assert set(empty.cell.values()) == {""}
    assert set(empty.cell) == set(empty.entities) == set(config().categories)
    assert found["doc0#00004"].cell["Organization"] == (
        "European Central Bank & Goldman Sachs & Morgan Stanley"
    )


def test_recoding_changes_the_cell_and_not_the_entities(chunks, mentions):
    banks = {"Organization": {"Investment Bank": ["Goldman Sachs", "Morgan Stanley"]}}
    cells = build_cells(chunks, mentions, config(recoding=banks))
    row = cells.where("chunk_id = 'doc1#00004'").first()
    assert row.cell["Organization"] == "European Central Bank & Investment Bank"
    assert "Goldman Sachs" in row.entities["Organization"]


def test_cells_do_not_depend_on_partitions(chunks, mentions, partitions):
    expected = build_cells(chunks.coalesce(1), mentions, config()).collect()
    got = build_cells(
        chunks.repartition(partitions), mentions.repartition(partitions), config()
    ).collect()
    assert sorted(map(str, got)) == sorted(map(str, expected))


def test_corpus_consistency_votes(spark, chunks):
    """A form that is an organisation in most chunks is one in the others."""
    lists = {"Person": ["Zorbu"], "Organization": ["Zorbu plc"]}
    texts = ["We met Zorbu plc."] * 3 + ["We met Zorbu."]
    frame = spark.createDataFrame(
        [(f"d{i}#00000", f"d{i}", "m", text) for i, text in enumerate(texts)],
        "chunk_id string, document_id string, metadata string, text string",
    )
    voted = recognize(frame, config(allow=lists))
    assert {row.category for row in voted.collect()} == {"Organization"}
    apart = recognize(frame, config(allow=lists, corpus_consistency=False))
    assert {row.category for row in apart.collect()} == {"Organization", "Person"}
    others = recognize(frame, config(allow=lists, consistent_categories=["Product", "Location"]))
    assert {row.category for row in others.collect()} == {"Organization", "Person"}


def test_a_missing_recogniser_fails_before_any_job(chunks):
    from nes_spark.errors import ConfigError

    with pytest.raises(ConfigError, match="spacy download"):
        recognize(chunks, config(recognizer="xx_none"))


def test_stage_finds_what_the_recogniser_finds(chunks):
    frame = recognize(chunks, config(linking=False, corpus_consistency=False))
    got = {
        (row.start, row.surface, row.category)
        for row in frame.where("chunk_id = 'doc0#00000'").collect()
    }
    assert got == {(m.start, m.surface, m.category) for m in load_recognizer()([TEXTS[0]])[0]}


@pytest.mark.slow
def test_effect_of_linking_and_consistency_on_sample_uniques(chunks, mentions):
    texts = chunks.where("document_id = 'doc0'")
    pairs = [("Organization", "Person"), ("Organization", "Location"), ("Event", "Product")]
    raw = find_mentions(texts, config()).cache()
    found = linking_effect(raw, texts, config(), pairs).collect()
    for empty_cell in ("exclude", "include"):
        expected = linking_table(raw.toPandas(), 5, config(), pairs, empty_cell)
        counted = linking_effect(raw, texts, config(), pairs, empty_cell).toPandas()
        pd.testing.assert_frame_equal(counted, expected)
    assert [row.combination for row in found] == ["+".join(pair) for pair in pairs]
    # by hand: five chunks; without linking the two that name Ann Smith and Constellium differ
    # ("Ann Smith", "Smith"; "Constellium SE", "Constellium"), with it they share a cell
    first = found[0].asDict()
    assert first["n"] == 5
    assert first["s1_neither"] - first["s1_linking"] == 2
    assert first["s1_both"] == first["s1_linking"]
    raw.unpersist()
