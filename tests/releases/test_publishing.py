"""What a release's files hold: documents, or chunks by themselves."""

import itertools
import json

import pandas as pd
import pytest
from pyarrow import fs as pafs

from nes_spark.releases.publishing import count_parts, pseudonym, release_chunk_id, write_part
from nes_spark.swapping.ledger import invert, release_id
from nes_spark.swapping.rows import text_digest

SECRET = b"0123456789abcdef"


def test_names_of_documents_and_chunks_say_nothing_of_each_other():
    one, other = pseudonym(SECRET, "x"), pseudonym(SECRET, "x", "chunk")
    assert (one[0], other[0]) == ("d", "c")
    assert one[1:] != other[1:]
    assert pseudonym(SECRET, "x") == one
    assert pseudonym(b"another secret!!", "x") != one


def test_a_chunk_by_itself_has_no_position():
    assert release_chunk_id("d12", 3) == "d12#00003"
    assert release_chunk_id("c12", None) == "c12"
    assert release_id({"release_document_id": "c12", "position": None, "chunk_id": "a"}) == "c12"
    assert release_id({"release_document_id": "d12", "position": 3, "chunk_id": "a"}) == "d12#00003"


def test_chunks_by_themselves_tell_neither_document_nor_order(tmp_path):
    ids = [f"doc{d}#{k}" for d in range(3) for k in range(8)]
    rows = pd.DataFrame(
        {
            "release_document_id": [pseudonym(SECRET, i, "chunk") for i in ids],
            "period": "2020Q3",
            "position": None,
            "text": [f"text of {i}" for i in ids],
            "gap": "\n",
        }
    )
    files = write_part(rows, 0, 1, pafs.LocalFileSystem(), str(tmp_path), alone=True)
    assert {entry["file"] for entry in files} == {"chunks.jsonl", "chunks.parquet"}
    found = [json.loads(line) for line in (tmp_path / "chunks.jsonl").open()]
    assert [set(row) for row in found] == [{"chunk_id", "text"}] * len(ids)
    names = [row["chunk_id"] for row in found]
    assert names == sorted(names)
    # Chunks of a document stand no nearer to each other than those of two.
    order = [row["text"].removeprefix("text of ") for row in found]
    assert order != ids
    together = sum(a[:4] == b[:4] for a, b in itertools.pairwise(order))
    assert together < 14  # 7 expected, 21 in the order of documents
    assert pd.read_parquet(tmp_path / "chunks.parquet").columns.tolist() == ["chunk_id", "text"]


def test_the_ledger_leads_back_from_chunks_by_themselves():
    rows = [
        {
            "chunk_id": c, "document_id": c[:1], "position": None, "edits": [],
            "release_document_id": pseudonym(SECRET, c, "chunk"), "digest": text_digest(c),
        }
        for c in ("a1", "a2", "b1")
    ]  # fmt: skip
    released = {release_id(row): row["chunk_id"] for row in rows}
    assert invert(released, rows) == {"a1": "a1", "a2": "a2", "b1": "b1"}


@pytest.mark.parametrize(("n", "per", "parts"), [(0, 5, 1), (5, 5, 1), (6, 5, 2), (11, 5, 3)])
def test_parts_follow_from_the_size(n, per, parts):
    assert count_parts(n, per) == parts
