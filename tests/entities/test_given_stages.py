"""Spans of the input become mentions, through reading, chunking and suppression."""

import json

import pytest

from nes_spark.config import build_config
from nes_spark.embedding import spec_for
from nes_spark.entities.given_stages import given_mentions, given_spans, mentions_of
from nes_spark.entities.recognizers import load_recognizer
from nes_spark.entities.stages import settle_mentions
from nes_spark.errors import ConfigError
from nes_spark.run.checks import check_config
from nes_spark.schemas import GIVEN_SPANS, MENTIONS
from nes_spark.text.chunking_stages import chunk_documents
from nes_spark.text.reading_stages import read_documents

TURNS = [
    "Operator: welcome to the call.",
    "Thank you. I am Ann Roe of Acme Corp. We opened a plant in Lyon with Globex GmbH. "
    "Rain 🌧 fell on Oslo. Sales of Quix rose in Norway and 𝔘lm. Costs fell.",
    "Globex GmbH left Lyon. Our new tool Quix sells well in Paris.",
]
NAMES = {
    "Ann Roe": "PERSON", "Acme Corp": "ORG", "Globex GmbH": "ORG", "Lyon": "GPE", "Oslo": "GPE",
    "Quix": "TOOL", "Norway": "GPE", "𝔘lm": "GPE", "Paris": "GPE",
}  # fmt: skip
SETTINGS = {
    "input": {
        "columns": {
            "turns": "turns", "metadata": "company", "mentions": "spans",
            "identifiers": {"company": ["company"], "person": ["people"]},
        }
    },
    "presentation": {"method": "none"},
    "entities": {"recognizer": "given", "labels": {"GPE": "Location", "ORG": "Organization"}},
}  # fmt: skip


def record(name):
    spans = [
        {"turn": t, "start": at, "end": at + len(form), "label": label}
        for t, turn in enumerate(TURNS)
        for form, label in NAMES.items()
        for at in range(len(turn))
        if turn.startswith(form, at)
    ]
    outside = {"turn": 0, "start": 3, "end": 900, "label": "ORG"}
    turns = [{"text": turn, "speaker": f"Speaker {i}"} for i, turn in enumerate(TURNS)]
    found = {"document_id": name, "company": "Acme Corp", "people": ["Ann Roe"], "turns": turns}
    return {**found, "spans": [*spans, outside]}


@pytest.fixture(scope="module")
def tables(spark, tmp_path_factory):
    path = tmp_path_factory.mktemp("given") / "calls.jsonl"
    lines = [record("a"), record("b"), {**record("none"), "spans": None}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    config = build_config(SETTINGS)
    source = config.input.model_copy(update={"path": str(path)})
    documents, quarantine = read_documents(spark, source, config.presentation, config.identifiers)
    documents = documents.cache()
    chunks = chunk_documents(
        documents, config.chunking, config.identifiers, spec_for(config.embedding)
    )
    return config, documents, quarantine, chunks.cache()


def rows(frame):
    return sorted(map(tuple, frame.collect()))


def test_spans_of_turns_become_mentions_of_chunks(tables, partitions):
    config, documents, _, chunks = tables
    given = given_mentions(
        documents.repartition(partitions),
        chunks.repartition(partitions),
        config.entities,
        config.identifiers,
    ).cache()
    mentions = settle_mentions(mentions_of(given), config.entities)
    assert mentions.columns == MENTIONS.names
    texts = {row.chunk_id: row.text for row in chunks.collect()}
    assert len(texts) > 4
    found = mentions.collect()
    for row in found:
        assert texts[row.chunk_id][row.start : row.end] == row.surface
    surfaces = sorted(row.surface for row in found if row.chunk_id.startswith("a#"))
    # Identifiers are suppressed; TOOL and PERSON lead to no category. Texts are tidied, and their
    # spans with them.
    assert surfaces == sorted(
        ["Globex GmbH"] * 2 + ["Lyon"] * 2 + ["Oslo", "Norway", "Ulm", "Paris"]
    )
    assert {row.category for row in found} == {"Location", "Organization"}
    spans = given_spans(given)
    assert spans.columns == GIVEN_SPANS.names
    fates = {"used": 8, "suppressed": 1, "unmapped": 3, "outside_text": 1}
    assert rows(spans) == sorted((d, fate, n) for d in "ab" for fate, n in fates.items())


def test_a_document_without_its_spans_is_set_aside(tables):
    _, _, quarantine, _ = tables
    (row,) = quarantine.collect()
    assert (row.document_id, row.reason) == ("none", "bad_mentions")
    assert row.message == "'spans': the spans must be an array, got NoneType"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"input": {"columns": {"turns": "turns"}}}, "needs the column of the spans"),
        ({"entities": {}}, "only used with entities.recognizer: given; it is 'bundled'"),
        ({"report": {"linking": True}}, "which is nothing"),
    ],
)
def test_half_a_configuration_is_refused(change, words):
    with pytest.raises(ConfigError, match=words):
        check_config(build_config(SETTINGS | change), planned=True)


def test_nobody_can_ask_given_spans_about_other_texts():
    with pytest.raises(ConfigError, match="no recogniser can be asked"):
        load_recognizer("given")
