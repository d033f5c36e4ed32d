import os
import stat
from dataclasses import replace

import pandas as pd
import pytest

from nes_spark.errors import InfrastructureError
from nes_spark.schemas import CELLS, JUDGED, MEASURED, STATUS, SWEPT, TABLES
from nes_spark.store import MANIFEST, Store, combine, input_fingerprint
from tests.test_rowhash import values_of


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


def told(frame):
    """Rows in an order of their own, maps in that of their keys."""
    return sorted(
        str([sorted(v.items()) if isinstance(v, dict) else v for v in row])
        for row in frame.collect()
    )


@pytest.mark.parametrize("table", [CELLS, MEASURED, JUDGED], ids=lambda t: t.name)
def test_rows_of_this_process_are_the_table_that_spark_writes(spark, store, table):
    rows = [
        tuple(values_of(c.type, i + k, True) for k, c in enumerate(table.columns)) for i in range(9)
    ]
    frame = spark.createDataFrame(rows, table.ddl)
    theirs = store.write_table(table.name, frame, "k")
    assert store.read_table(spark, table.name).schema == frame.schema
    expected = told(store.read_table(spark, table.name))
    mine = store.write_table(table.name, rows, "k")
    assert (mine.content, mine.rows) == (theirs.content, 9)
    assert told(store.read_table(spark, table.name)) == expected
    assert [*mine.files] == ["part-0.parquet"]
    assert store.is_current(table.name, "k")


def test_a_large_table_without_a_session_is_one_line(store, monkeypatch):
    monkeypatch.setattr("nes_spark.store.SMALL_ROWS", 1)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    with pytest.raises(InfrastructureError, match=r"^status: .* no session is active"):
        store.write_table("status", ROWS, "k")
    assert store.manifest("status") is None


def test_rows_are_counted_by_some_columns(spark, store):
    frame = status_frame(spark, ROWS, 3)
    store.write_table("status", frame, "k")
    counted = store.counts("status", ["status"])
    assert counted == {r["status"]: r["count"] for r in frame.groupBy("status").count().collect()}
    assert [*counted] == sorted(counted)
    assert store.counts("status", ["status", "chunk_id"]) == {(s, c): 1 for c, s in ROWS}
    leaks = [("c1", "d", "e", "name", "exact", 2), ("c2", "d", "e", "name", "exact", 3)]
    store.write_table("leaks", leaks, "k")
    assert store.counts("leaks", ["kind", "rule"], weight="n") == {("name", "exact"): 5}


def test_no_rows_are_a_table_too(spark, store):
    theirs = store.write_table("swept", spark.createDataFrame([], SWEPT.ddl), "k")
    mine = store.write_table("swept", [], "k")
    assert (mine.content, mine.rows) == (theirs.content, 0)
    assert store.read_table(spark, "swept").count() == 0


def test_no_number_in_a_pandas_frame_is_null_as_with_spark(spark, store):
    row = {c.name: values_of(c.type, 1, False) for c in MEASURED.columns}
    number = next(c.name for c in MEASURED.columns if c.type == "double")
    frame = pd.DataFrame([row, row | {number: float("nan")}])
    theirs = store.write_table("measured", spark.createDataFrame(frame), "k")
    assert store.write_table("measured", frame[frame.columns[::-1]], "k").content == theirs.content
    with pytest.raises(InfrastructureError, match=f"columns .*{number}.* are missing"):
        store.write_table("measured", frame.drop(columns=number), "k")


def test_only_a_finished_table_counts(spark, store):
    store.write_table("status", status_frame(spark, ROWS), "key-1")
    assert store.is_current("status", "key-1")
    assert not store.is_current("status", "key-2")
    os.remove(store.local_path("stages", "status", MANIFEST))
    assert not store.is_current("status", "key-1")
    with pytest.raises(InfrastructureError, match="no finished table 'status'"):
        store.read_table(spark, "status")


def part_of(store, name="status"):
    return next(store.local_path("stages", name).glob("*.parquet"))


def flipped(content: bytes) -> bytes:
    return content[:100] + bytes([content[100] ^ 1]) + content[101:]


DAMAGES = {
    "missing": lambda part: part.unlink(),
    "shorter": lambda part: part.write_bytes(part.read_bytes()[:-10]),
    "same size": lambda part: part.write_bytes(flipped(part.read_bytes())),
    "added": lambda part: part.with_name("more.parquet").write_bytes(part.read_bytes()),
    "emptied": lambda part: [p.unlink() for p in part.parent.glob("*.parquet")],
}


def test_a_table_whose_files_are_not_those_of_its_manifest_does_not_count(spark, store, caplog):
    store.write_table("status", status_frame(spark, ROWS, 3), "k")
    assert Store(store.root).is_current("status", "k")
    whole = {p: p.read_bytes() for p in store.local_path("stages", "status").iterdir()}
    for name, damage in DAMAGES.items():
        damage(part_of(store))
        later = Store(store.root)  # as the next run opens it
        assert not later.is_current("status", "k"), name
        assert (later.manifest("status") is None) == (name != "same size")
        with pytest.raises(InfrastructureError, match=r"stages/status: .* since it was finished"):
            Store(store.root).read_table(spark, "status")
        with pytest.raises(InfrastructureError, match=r"stages/status: .* since it was finished"):
            Store(store.root).read_pandas("status")
        for path in store.local_path("stages", "status").glob("*.parquet"):
            path.unlink()
        for path, content in whole.items():
            path.write_bytes(content)
    assert Store(store.root).is_current("status", "k")
    assert len(Store(store.root).read_pandas("status")) == len(ROWS)


def test_content_is_read_once_and_rows_are_counted_where_it_is_not(spark, store, monkeypatch):
    store.write_table("status", status_frame(spark, ROWS, 3), "k")
    later, read = Store(store.root), []
    digest = Store._digest_of
    monkeypatch.setattr(Store, "_digest_of", lambda s, path: read.append(path) or digest(s, path))
    for _ in range(3):
        assert later.is_current("status", "k")
        later.read_pandas("status")
    assert len(read) == len(set(read)) == 3
    monkeypatch.setattr("nes_spark.store.READ_AGAIN", 0)
    assert Store(store.root).is_current("status", "k")
    manifest = store.manifest("status")
    store._commit(replace(manifest, rows=manifest.rows + 1))
    assert not Store(store.root).is_current("status", "k")
    assert len(read) == 3


def test_an_artifact_whose_files_have_changed_does_not_count(store):
    def fill(folder):
        (folder / "a").mkdir()
        (folder / "a" / "model.npz").write_bytes(b"0123456789")
        return {"n": 1}

    store.write_artifact("mixture", "k", fill)
    file = store.local_path("stages", "mixture", "a", "model.npz")
    assert Store(store.root).is_current("mixture", "k")
    file.write_bytes(b"0123456780")
    assert not Store(store.root).is_current("mixture", "k")
    with (
        pytest.raises(InfrastructureError, match=r"a/model\.npz has changed"),
        Store(store.root).open_artifact("mixture"),
    ):
        pass
    file.unlink()
    assert Store(store.root).manifest("mixture") is None


@pytest.mark.parametrize(
    "broken", ["", "[]", "{}", "null", '{"format": 2}', '{"format": 2, "files"']
)
def test_half_a_manifest_does_not_count(store, broken):
    store.write_artifact("mixture", "k", lambda _: {})
    store.local_path("stages", "mixture", MANIFEST).write_text(broken)
    assert store.manifest("mixture") is None
    assert not store.is_current("mixture", "k")


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


def test_read_pandas_can_take_some_rows_only(spark, store):
    store.write_table("status", status_frame(spark, ROWS, 3), "k")
    wanted = [ROWS[0][0], "no such chunk"]
    frame = store.read_pandas("status", ["status", "chunk_id"], {"chunk_id": wanted})
    assert frame.to_dict("list") == {"status": [ROWS[0][1]], "chunk_id": [ROWS[0][0]]}
    both = store.read_pandas("status", only={"chunk_id": wanted, "status": ["no such status"]})
    assert both.empty


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
