"""Hashes of rows: published values, and what Spark says of the same rows."""

import numpy as np
import pyarrow as pa
import pytest

from nes_spark import store as stores
from nes_spark.rowhash import LONGEST, _strings, row_hashes
from nes_spark.schemas import CELLS, CHUNKS, DOCUMENTS, EMBEDDINGS, REWRITES, TABLES, arrow_schema
from nes_spark.store import Store, _digest

#: XXH64 of the reference implementation, seed 0 (``xxhsum -H64``).
PUBLISHED = {
    "": 0xEF46DB3751D8E999,
    "a": 0xD24EC4F1A98C6E5B,
    "abc": 0x44BC2CF5AD770999,
    "Nobody inspects the spammish repetition": 0xFBCEA83C8A378BF1,
}


def test_strings_have_the_published_hash():
    found = _strings(pa.array(list(PUBLISHED)), np.zeros(len(PUBLISHED), dtype=np.uint64))
    assert found.tolist() == list(PUBLISHED.values())


def test_a_row_has_the_same_hash_beside_any_others():
    rows = [(f"c{i}", "é" * i, i % 2 == 0) for i in range(70)]
    kinds = pa.schema([("id", pa.string()), ("text", pa.string()), ("flag", pa.bool_())])
    columns = list(zip(*rows, strict=True))
    table = pa.table([pa.array(c, f.type) for c, f in zip(columns, kinds, strict=True)], kinds)
    together = row_hashes(table)
    alone = [row_hashes(table.slice(i, 1))[0] for i in range(len(rows))]
    assert together.tolist() == [int(h) for h in alone]
    assert len(set(together.tolist())) == len(rows)


def test_long_strings_are_left_to_spark():
    assert row_hashes(pa.table({"text": ["x" * LONGEST]})) is not None
    assert row_hashes(pa.table({"text": ["x" * (LONGEST + 1)]})) is None


def test_other_types_have_no_hash():
    with pytest.raises(TypeError, match="binary"):
        row_hashes(pa.table({"raw": [b"x"]}))


def values_of(kind, i, nullable):
    """Values of a Spark type that try all paths: nulls, empty ones, signs, several lengths."""
    if nullable and i % 5 == 4:
        return None
    outer, _, inner = kind.partition("<")
    inner = inner.removesuffix(">")
    if outer == "string":
        return "Zoë 𝔸 " * (i % 23) + "abcdefg"[: i % 8]
    if outer in ("int", "bigint"):
        return (-1) ** i * (i * (7919 if outer == "int" else 10**12) + 1)
    if outer in ("double", "float"):
        return [0.0, -0.0, float("nan"), float("inf"), -1.5 * i, 1e-3 + i][i % 6]
    if outer == "boolean":
        return i % 3 == 0
    if outer == "array":
        return [values_of(inner, i + j, outer == "array" and j == 3) for j in range(i % 6)]
    if outer == "map":
        key, _, value = inner.partition(",")
        pairs = ((values_of(key.strip(), i + 8 - j, False), j) for j in range(i % 4))
        return {k: values_of(value.strip(), i + j, False) for k, j in pairs}
    from nes_spark.schemas import fields_of

    return tuple(values_of(part, i + j, False) for j, (_, part) in enumerate(fields_of(inner)))


@pytest.mark.parametrize(
    "table", [DOCUMENTS, CHUNKS, CELLS, EMBEDDINGS, REWRITES, TABLES["swaps"], TABLES["candidates"]]
)
def test_a_small_table_has_the_digest_that_spark_gives(spark, tmp_path, monkeypatch, table):
    rows = [
        tuple(values_of(c.type, i + k, True) for k, c in enumerate(table.columns))
        for i in range(25)
    ]
    store = Store(tmp_path / "run")
    store.prepare()
    small = store.write_table(
        table.name, spark.createDataFrame(rows, table.ddl).repartition(3), "k"
    )
    again = spark.read.schema(table.ddl).parquet(store.path("stages", table.name))
    assert (small.rows, small.content) == _digest(again)
    monkeypatch.setattr(stores, "SMALL_ROWS", 3)
    assert store._small_digest(table.name) is None
    assert (
        row_hashes(store._parts(table.name).replace_schema(arrow_schema(table.ddl)).to_table())
        is not None
    )
