import os
import stat

import pytest

from nes_spark.errors import InfrastructureError
from nes_spark.schemas import CELLS, STATUS, TABLES
from nes_spark.store import MANIFEST, Store, combine, input_fingerprint


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "run")
    store.prepare()
    return store


def status_frame(spark, rows, partitions=1):
    return spark.createDataFrame(rows, STATUS.ddl).repartition(partitions)


ROWS = [(f"c{i}", "swapped" if i % 3 else "unpaired") for i in range(20)]


def test_content_digest_ignores_order_and_partitions(spark, store):
    digests = set()
    for rows, parts in ((ROWS, 1), (ROWS[::-1], 2), (ROWS, 7)):
        digests.add(store.write_table("status", status_frame(spark, rows, parts), "k").content)
    assert len(digests) == 1
    changed = [*ROWS[:-1], ("c19", "unpaired")]
    assert store.write_table("status", status_frame(spark, changed), "k").content not in digests


def test_duplicated_row_changes_the_digest(spark, store):
    one = store.write_table("status", status_frame(spark, ROWS), "k").content
    two = store.write_table("status", status_frame(spark, [*ROWS, ROWS[0], ROWS[0]]), "k").content
    assert one != two


def test_maps_enter_the_digest(spark, store):
    def frame(value):
        row = ("c", "d", "m", {"Person": [value]}, {"Person": value, "Product": ""})
        return spark.createDataFrame([row], CELLS.ddl)

    first = store.write_table("cells", frame("Ada"), "k").content
    assert store.write_table("cells", frame("Ada"), "k").content == first
    assert store.write_table("cells", frame("Bo"), "k").content != first


def test_only_a_finished_table_counts(spark, store):
    store.write_table("status", status_frame(spark, ROWS), "key-1")
    assert store.is_current("status", "key-1")
    assert not store.is_current("status", "key-2")
    os.remove(store.local_path("stages", "status", MANIFEST))
    assert not store.is_current("status", "key-1")
    with pytest.raises(InfrastructureError, match="no finished table 'status'"):
        store.read_table(spark, "status")


def test_a_failed_write_leaves_no_manifest(spark, store):
    from pyspark.sql import functions as F

    store.write_table("status", status_frame(spark, ROWS), "key-1")
    broken = status_frame(spark, ROWS).withColumn(
        "status", F.when(F.col("chunk_id") == "c7", F.raise_error(F.lit("x"))).otherwise("swapped")
    )
    with pytest.raises(Exception, match="x"):
        store.write_table("status", broken, "key-2")
    assert store.manifest("status") is None


def test_manifest_of_another_format_does_not_count(spark, store):
    store.write_table("status", status_frame(spark, ROWS), "k")
    content = store.read_json("stages", "status", MANIFEST)
    store.write_json({**content, "format": 0}, "stages", "status", MANIFEST)
    assert store.manifest("status") is None
    store.write_bytes(b"{half", "stages", "status", MANIFEST)
    assert store.manifest("status") is None


def test_columns_must_be_the_declared_ones(spark, store):
    frame = status_frame(spark, ROWS).withColumnRenamed("status", "state")
    with pytest.raises(InfrastructureError, match=r"\['state', 'status'\]"):
        store.write_table("status", frame, "k")


def test_read_pandas_is_sorted_by_key(spark, store):
    store.write_table("status", status_frame(spark, ROWS[::-1], 3), "k")
    frame = store.read_pandas("status")
    assert list(frame["chunk_id"]) == sorted(c for c, _ in ROWS)


def test_artifacts_are_committed_with_their_digest(store):
    def fill(folder):
        (folder / "a.bin").write_bytes(b"1")
        return {"kind": "x"}

    first = store.write_artifact("mixture", "k", fill)
    assert first.details == {"kind": "x"}
    with store.open_artifact("mixture") as folder:
        assert (folder / "a.bin").read_bytes() == b"1"
    assert store.write_artifact("mixture", "k2", fill).content == first.content


def test_private_folders_are_for_the_owner(store):
    for folder in ("stages", "sealed"):
        assert stat.S_IMODE(store.local_path(folder).stat().st_mode) == 0o700


def test_move_and_recover(store):
    store.write_bytes(b"old", "release", "f")
    store.write_bytes(b"new", "release.tmp", "f")
    store.move("release.tmp", "release")
    assert store.read_bytes("release", "f") == b"new"
    assert not store.exists("release.old")
    os.rename(store.local_path("release"), store.local_path("release.old"))  # a crash in the gap
    store.recover("release")
    assert store.read_bytes("release", "f") == b"new"


def test_two_runs_do_not_share_a_folder(store):
    other = Store(store.root)
    with store.lock(), pytest.raises(InfrastructureError, match="another run works"), other.lock():
        pass
    with other.lock():
        pass


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError, match="cannot be written") as caught:
        Store(tmp_path / "file" / "run").prepare()
    assert "\n" not in str(caught.value)


def test_input_fingerprint_is_of_content(spark, tmp_path):
    for name, text in (("a", "x"), ("b", "x"), ("c", "y")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "calls.jsonl").write_text(text)
    prints = [input_fingerprint(spark, [str(tmp_path / n / "calls.jsonl")]) for n in "abc"]
    assert prints[0] == prints[1] != prints[2]
    assert input_fingerprint(spark, [str(tmp_path / "a")]) == prints[0]


def test_combine_knows_where_parts_end():
    assert combine("ab", "c") != combine("a", "bc")


def test_schemas_name_their_keys():
    for table in TABLES.values():
        assert set(table.key) <= set(table.names), table.name
        assert all(c.comment for c in table.columns)
        assert len(set(table.names)) == len(table.names)
