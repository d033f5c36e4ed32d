import json
import os
import random

import pytest

from nes_spark.config import (
    ChunkingConfig,
    IdentifierKind,
    IdentifiersConfig,
    InputConfig,
    PresentationConfig,
)
from nes_spark.embedding import load_embedder
from nes_spark.errors import InputError
from nes_spark.schemas import CHUNKS, DOCUMENTS, QUARANTINE
from nes_spark.text import chunking_stages
from nes_spark.text.chunking import divide
from nes_spark.text.chunking_stages import chunk_documents, chunk_rows
from nes_spark.text.reading_stages import read_documents

PRESENTATION = PresentationConfig.model_validate({})
IDENTIFIERS = IdentifiersConfig.model_validate({})
CHUNKING = ChunkingConfig.model_validate({})
COLUMNS = {
    "text": "text",
    "metadata": "company",
    "period": "quarter",
    "identifiers": {"company": ["company"]},
}


def config(path, **changes):
    columns = COLUMNS | changes.pop("columns", {})
    return InputConfig.model_validate({"path": str(path), "columns": columns} | changes)


def read(spark, path, period=None, **changes):
    documents, quarantine = read_documents(
        spark, config(path, **changes), PRESENTATION, IDENTIFIERS, period
    )
    assert documents.columns == DOCUMENTS.names
    assert quarantine.columns == QUARANTINE.names
    good = {r.document_id: r for r in documents.collect()}
    bad = sorted((r.position, r.reason, r.document_id) for r in quarantine.collect())
    return good, bad


def doc(name, text="We grew. It rained.", company="Acme", quarter="2020Q3", **more):
    return {"document_id": name, "text": text, "company": company, "quarter": quarter, **more}


def write_lines(path, lines):
    path.write_bytes(
        b"\n".join(x if isinstance(x, bytes) else json.dumps(x).encode() for x in lines) + b"\n"
    )
    return path


LINES = [
    doc("a"),
    b"{not json",
    b"",
    doc("b", text=""),
    doc("a", text="A second text under the same id."),
    doc("c", company=None),
    b'{"document_id": "d", "company": "Acme", "text": "\xff"}',
    doc("e", text="x" * 5_000_000),
    doc("f", quarter="2020Q2"),
    doc("g", text="é" * 300),
    doc(None),
    doc("h", quarter=None),
]
BAD = [
    ("calls.jsonl:11", "missing_document_id", None),
    ("calls.jsonl:2", "not_json", None),
    ("calls.jsonl:4", "empty_text", "b"),
    ("calls.jsonl:5", "duplicate_document_id", "a"),
    ("calls.jsonl:6", "missing_metadata", "c"),
    ("calls.jsonl:7", "not_utf8", None),
    ("calls.jsonl:8", "too_long", "e"),
]


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("lines") / "calls.jsonl", LINES)


@pytest.mark.parametrize("split", [None, "1000000b"])
def test_bad_lines_are_quarantined_and_counts_add_up(spark, lines, split):
    # A small split size cuts the file into many blocks: positions and order must not change.
    key = "spark.sql.files.maxPartitionBytes"
    before = spark.conf.get(key)
    if split:
        spark.conf.set(key, split)
        spark.conf.set("spark.sql.files.openCostInBytes", "1")
    try:
        good, bad = read(spark, lines)
    finally:
        spark.conf.set(key, before)
        spark.conf.set("spark.sql.files.openCostInBytes", "4MB")
    assert bad == BAD
    assert sorted(good) == ["a", "f", "g", "h"]
    assert good["a"].text == "We grew. It rained."
    assert good["g"].text == "é" * 300
    # 12 lines, one of them blank.
    assert len(good) + len(bad) == 11


def test_one_period(spark, lines):
    good, bad = read(spark, lines, period="2020Q3")
    assert sorted(good) == ["a", "g"]
    # What has another period is not input; what has none cannot be told to be.
    assert sorted(set(bad) - set(BAD)) == [("calls.jsonl:12", "missing_period", "h")]
    with pytest.raises(InputError) as error:
        read(spark, lines, period="2021Q1")
    assert "no document of period '2021Q1'; periods found: 2020Q2, 2020Q3" in str(error.value)
    with pytest.raises(InputError, match=r"input\.columns\.period does not say"):
        read(spark, lines, period="2020Q3", columns={"period": None})


def test_missing_column_is_named_with_a_close_one(spark, lines):
    with pytest.raises(InputError) as error:
        read(spark, lines, columns={"metadata": "compny"})
    message = str(error.value)
    assert "no column 'compny' (input.columns.metadata); did you mean 'company'?" in message
    assert "Columns there: company, document_id, quarter, text" in message
    assert "\n" not in message


def test_input_that_cannot_be_used(spark, tmp_path):
    with pytest.raises(InputError, match="no such file or folder"):
        read(spark, tmp_path / "nowhere.jsonl")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(InputError, match="holds no documents"):
        read(spark, tmp_path / "empty.jsonl")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no documents"):
        read(spark, tmp_path / "empty")
    (tmp_path / "calls.doc").write_text("x")
    with pytest.raises(InputError, match=r"cannot tell the format .*\(.doc\)"):
        read(spark, tmp_path / "calls.doc")
    with pytest.raises(InputError, match="no input"):
        read_documents(
            spark,
            InputConfig.model_validate({"columns": {"text": "text"}}),
            PRESENTATION,
            IDENTIFIERS,
        )


def test_one_document_and_nested_columns_in_a_folder(spark, tmp_path):
    folder = tmp_path / "in"
    (folder / "2020 Q3").mkdir(parents=True)
    turns = [
        {"who": {"name": "Operator"}, "said": "Welcome to the Acme call."},
        {"who": {"name": "Ann Roe"}, "said": "We at Acme grew. " * 5},
    ]
    record = {"meta": {"id": "x", "firm": "Acme"}, "body": {"turns": turns}}
    write_lines(folder / "2020 Q3" / "part.jsonl", [record, b"oops"])
    good, bad = read(
        spark,
        folder,
        columns={
            "document_id": "meta.id",
            "metadata": "meta.firm",
            "text": None,
            "turns": "body.turns",
            "turn_text": "said",
            "turn_speaker": "who.name",
            "period": None,
            "identifiers": {"company": ["meta.firm"]},
        },
    )
    assert bad == [("2020 Q3/part.jsonl:2", "not_json", None)]
    assert good["x"].n_turns == 2
    assert ("person", "Ann Roe", "[Executive 1]") in [tuple(i) for i in good["x"].identifiers]


def test_csv(spark, tmp_path):
    rows = [
        b"\xef\xbb\xbfdocument_id,company,text,quarter",
        b'1,Acme,"We grew, much.\nA ""second"" line \xc3\xa9.",2020Q3',
        b"2,Acme,too,many,columns",
        b"3,,No company.,2020Q3",
        b"4,Acme,\xff\xfe,2020Q3",
        b"1,Acme,Again.,2020Q3",
    ]
    path = tmp_path / "calls.csv"
    path.write_bytes(b"\n".join(rows) + b"\n")
    good, bad = read(spark, path)
    assert good["1"].text == 'We grew, much.\nA "second" line é.'
    assert bad == [
        ("calls.csv:3", "not_csv", None),
        ("calls.csv:4", "missing_metadata", "3"),
        ("calls.csv:5", "not_utf8", None),
        ("calls.csv:6", "duplicate_document_id", "1"),
    ]
    with pytest.raises(InputError, match="did you mean 'company'"):
        read(spark, path, columns={"metadata": "Company"})


def test_parquet(spark, tmp_path):
    path = str(tmp_path / "calls.parquet")
    rows = [("1", "Acme", "We grew.", "Q"), ("2", None, "x", "Q"), ("1", "Ajax", "y", "Q")]
    frame = spark.createDataFrame(
        rows, "document_id string, company string, text string, quarter string"
    )
    frame.coalesce(1).write.parquet(path)
    good, bad = read(spark, path)
    assert {k: (v.text, v.metadata) for k, v in good.items()} == {"1": ("We grew.", "Acme")}
    assert [(r, d) for _, r, d in bad] == [
        ("missing_metadata", "2"),
        ("duplicate_document_id", "1"),
    ]
    assert [p.rsplit(":", 1)[1] for p, _, _ in bad] == ["2", "3"]
    with pytest.raises(InputError, match=r"no column 'txt' \(input.columns.text\)"):
        read(spark, path, columns={"text": "txt"})


def test_folder_of_text_files(spark, tmp_path):
    folder = tmp_path / "texts"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("Ann Roe: We grew.\nBo Lee: Much.\n", encoding="utf-8")
    (folder / "sub" / "b b.txt").write_text("It rained. é", encoding="utf-8")
    (folder / "c.txt").write_bytes(b"\xff\xfe broken")
    (folder / "d.txt").write_text("Nobody knows whose I am.")
    table = tmp_path / "meta.csv"
    table.write_text(
        "file,company,quarter\na.txt,Acme,2020Q3\nsub/b b.txt,Ajax,2020Q3\nc.txt,Axon,2020Q3\n"
        "gone.txt,Apex,2020Q3\n"
    )
    good, bad = read(spark, folder, format="text", metadata_table=str(table))
    assert {k: v.metadata for k, v in good.items()} == {"a": "Acme", "sub/b b": "Ajax"}
    assert good["a"].text == "We grew.\n\nMuch."
    assert bad == [
        ("c.txt", "not_utf8", "c"),
        ("d.txt", "missing_metadata", None),
        ("meta.csv:5", "missing_text", None),
    ]
    with pytest.raises(InputError, match=r"input\.metadata_table is missing"):
        read(spark, folder, format="text")


@pytest.fixture(scope="module")
def documents(spark, tmp_path_factory):
    path = tmp_path_factory.mktemp("chunks") / "calls.jsonl"
    text = (
        "Acme Inc grew in the third quarter. Sales at Acme were up. It rained in Ohio. Rain fell "
        "in Utah. Ann will speak. See acme.com. Debt was low. Cash was high. Interest fell."
    )
    write_lines(
        path, [doc(f"d{i}", text=f"{text} Number {i}.", company="Acme Inc") for i in range(9)]
    )
    frame, _ = read_documents(spark, config(path), PRESENTATION, IDENTIFIERS)
    return frame.persist()


def chunked(documents):
    chunks = chunk_documents(documents, CHUNKING, IDENTIFIERS, "bundled")
    assert chunks.columns == CHUNKS.names
    return sorted(chunks.collect(), key=lambda r: r.chunk_id)


def test_chunks_point_into_the_document(documents):
    texts = {r.document_id: r.text for r in documents.collect()}
    rows = chunked(documents)
    for name, text in texts.items():
        own = [r for r in rows if r.document_id == name]
        assert [r.chunk_id for r in own] == [f"{name}#{i:05d}" for i in range(len(own))]
        assert "".join(text[r.start : r.end] for r in own) == text
        joined = " ".join(r.text for r in own)
        assert "Acme" not in joined
        assert "[Company Name] grew" in joined
        assert "See [URL]." in joined
        assert "[Executive 1] will speak." in joined
        assert sum(r.n_suppressed for r in own) == 4
        assert all(r.n_words == len(r.text.split()) for r in own)


def test_chunks_do_not_depend_on_partitions(documents, partitions):
    assert chunked(documents.repartition(partitions)) == chunked(documents)


def test_long_documents_are_divided(spark, tmp_path, monkeypatch, partitions):
    rng = random.Random(3)
    said = [
        "Acme grew in the third quarter.", "It rained in Ohio!", "Ann Roe will speak.", "Roe did.",
        "See acme.com.", "Call 212-555-0100 now.", "Debt was low", "we bought Acme",
        "Inc. said so.",
    ]  # fmt: skip
    # names and numbers that go on in the next paragraph are found all the same
    text = "".join(
        rng.choice(said) + rng.choice([" ", " ", "\n", "\n\n", " \n \n  "]) for _ in range(1500)
    )
    assert "Acme\n\nInc" in text
    lines = [
        doc("long", text=text, company="Acme Inc", executives=["Ann Roe"]),
        doc("short", text="Acme grew. It rained.", company="Acme Inc"),
    ]
    kinds = IDENTIFIERS.kinds | {
        "code": IdentifierKind(
            rule="pattern", pattern=r"(?s)\A.{20}|low.{1,4}we", placeholder="[C]"
        )
    }
    identifiers = IDENTIFIERS.model_copy(update={"kinds": kinds})
    columns = {"identifiers": {"company": ["company"], "person": ["executives"]}}
    path = write_lines(tmp_path / "calls.jsonl", lines)
    frame, _ = read_documents(spark, config(path, columns=columns), PRESENTATION, identifiers)
    monkeypatch.setattr(chunking_stages, "LONG", 20_000)
    monkeypatch.setattr(chunking_stages, "PIECE", 7_000)
    assert len(divide(text, 7_000)) > 3
    chunking = CHUNKING if partitions == 1 else CHUNKING.model_copy(update={"max_words": 12})
    chunks = chunk_documents(frame.repartition(partitions), chunking, identifiers, "bundled")
    found = sorted(chunks.collect(), key=lambda r: r.chunk_id)
    model = load_embedder("bundled")
    expected = [
        row
        for document in sorted(frame.collect(), key=lambda r: r.document_id)
        for row in chunk_rows(document.asDict(), model, chunking, identifiers)
    ]
    assert [r.asDict() for r in found] == expected
    assert sum(r["n_suppressed"] for r in expected) > 500


def test_only_stages_import_spark():
    import subprocess
    import sys

    code = (
        "import sys, nes_spark.text, nes_spark.text.reading, nes_spark.text.leaks;"
        "sys.exit('pyspark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=os.environ, check=False)
    assert done.returncode == 0


def test_chunks_are_handed_on_by_the_thousand_and_by_their_size(monkeypatch):
    row = dict.fromkeys(CHUNKS.names, "x")
    frames = list(chunking_stages._frames(row for _ in range(2501)))
    assert [len(frame) for frame in frames] == [1000, 1000, 501]
    monkeypatch.setattr(chunking_stages, "_FRAME_CHARACTERS", 10)
    long = [row | {"text": "x" * n} for n in (4, 5, 6, 30, 1)]
    assert [len(f) for f in chunking_stages._frames(long)] == [3, 1, 1]
    assert list(chunking_stages._frames([])) == []
