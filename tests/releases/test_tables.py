"""A published release as tables beside its files."""

import pandas as pd
import pytest
from pyarrow import fs as pafs

from nes_spark.config.sections import OutputConfig
from nes_spark.errors import ConfigError, InfrastructureError
from nes_spark.releases.publishing import write_part
from nes_spark.releases.table_stages import write_tables
from nes_spark.store import Store


@pytest.fixture
def release(tmp_path):
    """A run folder with a release of two parts."""
    store = Store(str(tmp_path / "out" / "2020Q3"))
    store.prepare()
    folder = tmp_path / "out" / "2020Q3" / "release"
    folder.mkdir()
    files = []
    for part in range(2):
        rows = pd.DataFrame(
            {
                "release_document_id": [f"d{part}", f"d{part}"],
                "period": ["2020Q3"] * 2,
                "position": [1, 0],
                "text": ["It rained.", f"We grew {part}."],
                "gap": ["\n", ""],
            }
        )
        files += write_part(rows, part, 2, pafs.LocalFileSystem(), str(folder))
    return store, files


DOCUMENTS = [("d0", "We grew 0.\nIt rained.", 2), ("d1", "We grew 1.\nIt rained.", 2)]


def documents(frame):
    return sorted((r["document_id"], r["text"], r["n_chunks"]) for r in frame.collect())


def output(**values):
    return OutputConfig.model_validate({f"release_{key}": v for key, v in values.items()})


def test_any_data_source_of_spark_and_written_again(spark, release, tmp_path):
    store, files = release
    config = output(format="spark:orc", path=str(tmp_path / "lake" / "{period}"))
    for _ in range(2):  # what is there already is replaced
        places = write_tables(spark, config, store, files, "2020/Q3")
        assert places == [str(tmp_path / "lake" / "2020_Q3" / n) for n in ("chunks", "documents")]
        assert documents(spark.read.orc(places[1])) == DOCUMENTS
        assert spark.read.orc(places[0]).columns == ["chunk_id", "document_id", "position", "text"]
        assert spark.read.orc(places[0]).count() == 4


def test_a_table_of_a_catalog(spark, release, tmp_path):
    store, files = release
    where = (tmp_path / "warehouse").as_uri()
    spark.sql(f"CREATE DATABASE lake LOCATION '{where}'")
    try:
        config = output(format="table:lake.{table}_{period}", options={"provider": "orc"})
        assert write_tables(spark, config, store, files, None) == [
            "lake.chunks_all",
            "lake.documents_all",
        ]
        assert documents(spark.table("lake.documents_all")) == DOCUMENTS
    finally:
        spark.sql("DROP DATABASE lake CASCADE")


def test_a_delta_table_keeps_its_history(spark, release, tmp_path):
    deltalake = pytest.importorskip("deltalake")
    store, files = release
    config = output(format="delta", path=str(tmp_path / "lake/{table}"))
    write_tables(spark, config, store, files[:4], "2020Q3")
    write_tables(spark, config, store, files, "2020Q3")
    table = deltalake.DeltaTable(str(tmp_path / "lake" / "documents"))
    assert table.version() == 1
    found = spark.read.parquet(
        *[str(tmp_path / "lake/documents" / f.split("/")[-1]) for f in table.file_uris()]
    )
    assert documents(found) == DOCUMENTS


def test_what_cannot_be_written_says_that_the_release_is_there(spark, release, tmp_path):
    store, files = release
    (tmp_path / "lake").write_text("a file where a folder must be")
    with pytest.raises(InfrastructureError, match=r"was not written \(.+\); the release itself is"):
        write_tables(
            spark, output(format="spark:orc", path=str(tmp_path / "lake")), store, files, None
        )
    config = output(format="spark:orc", path=str(tmp_path / "x"), options={"key": "env:NO_KEY"})
    with pytest.raises(ConfigError, match=r"release_options\.key: .*'NO_KEY' is not set"):
        write_tables(spark, config, store, files, None)


def test_nothing_is_written_unless_asked(spark, release):
    assert write_tables(spark, OutputConfig(), *release, None) == []


@pytest.mark.parametrize(
    "values, fault",
    [
        ({"format": "jsonl"}, "unknown format 'jsonl'; give delta, spark:NAME"),
        ({"format": "delta"}, "release_format delta needs 'release_path'"),
        ({"format": "spark:orc"}, "needs 'release_path', or an option that holds"),
        ({"format": "spark:orc{table}", "path": "x"}, "go into release_path"),
        ({"format": "table:lake.calls"}, "must hold {table}"),
        ({"format": "table:lake.{table}", "path": "x"}, "does not go with release_format table"),
        ({"path": "x"}, "go with 'release_format'"),
        ({"format": "delta", "path": "x", "options": {"a": "b"}}, "do not go with"),
    ],
)
def test_places_are_checked_when_the_configuration_is_read(values, fault):
    with pytest.raises(ValueError, match=fault):
        output(**values)
