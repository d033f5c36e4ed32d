"""Documents that are rows of tables and data sources."""

import json

import pytest

from nes_spark.config import InputConfig
from nes_spark.errors import ConfigError, InputError
from nes_spark.text.reading_stages import read_documents
from nes_spark.text.source_stages import open_source, source_fingerprint, source_options
from tests.text.test_stages import COLUMNS, IDENTIFIERS, PRESENTATION, doc

ROWS = [
    doc("a"),
    doc("b", text="It rained all day."),
    doc("c", company=None),
    doc("a", text="A second text under the same id."),
    doc("d", quarter="2020Q2"),
]
TYPES = "document_id string, text string, company string, quarter string"


def config(form, path=None, **more):
    return InputConfig.model_validate(
        {"path": path and str(path), "format": form, "columns": COLUMNS} | more
    )


def frame(spark, rows=ROWS, partitions=2):
    names = ["document_id", "text", "company", "quarter"]
    return spark.createDataFrame([tuple(r[n] for n in names) for r in rows], TYPES).repartition(
        partitions
    )


def read(spark, given, period=None):
    documents, quarantine = read_documents(spark, given, PRESENTATION, IDENTIFIERS, period)
    good = {r.document_id: r.text for r in documents.collect()}
    bad = sorted((r.reason, r.document_id, r.position) for r in quarantine.collect())
    return good, bad


def test_any_source_of_spark_on_any_partitioning(spark, partitions, tmp_path):
    frame(spark, partitions=partitions).write.orc(str(tmp_path / "calls"))
    given = config("spark:orc", tmp_path / "calls")
    good, bad = read(spark, given)
    # Of two rows with one id the same one is kept whatever file it lies in.
    assert set(good) == {"a", "b", "d"}
    assert good["a"] == "A second text under the same id."
    assert bad == [
        ("duplicate_document_id", "a", "calls#69855176d9490544"),
        ("missing_metadata", "c", "calls#e9ffe84736186365"),
    ]
    assert source_fingerprint(spark, given)[:16] == "0339547987017e70"


def test_a_table_of_the_sessions_catalogs(spark):
    frame(spark).createOrReplaceTempView("calls_of_all_kinds")
    good, _ = read(spark, config("table:calls_of_all_kinds"), period="2020Q2")
    assert set(good) == {"d"}
    with pytest.raises(InputError, match=r"no document of period '1999Q1'; periods found: 2020Q2"):
        read(spark, config("table:calls_of_all_kinds"), period="1999Q1")


def test_a_digest_sees_what_counts_and_nothing_else(spark):
    def digest(rows, **columns):
        found = frame(spark, rows, 3)
        for name, value in columns.items():
            from pyspark.sql import functions as F

            found = found.withColumn(name, F.lit(value))
        found.createOrReplaceTempView("digested")
        return source_fingerprint(spark, config("table:digested"))

    first = digest(ROWS)
    assert digest(ROWS[::-1]) == first
    assert digest(ROWS, note="not used") == first
    changed = [ROWS[0] | {"text": "We grew. It rained!"}, *ROWS[1:]]
    assert len({first, digest(changed), digest(ROWS[1:]), digest([*ROWS, ROWS[0]])}) == 4


def test_a_delta_table_is_read_in_its_last_version(spark, tmp_path):
    deltalake = pytest.importorskip("deltalake")
    import pyarrow as pa

    place = str(tmp_path / "calls of all kinds")
    names = ["document_id", "text", "company", "quarter"]

    def rows(of):
        return pa.table({n: pa.array([r[n] for r in of], pa.string()) for n in names})

    deltalake.write_deltalake(place, rows(ROWS[:1]), partition_by=["quarter"])
    before = source_fingerprint(spark, config("delta", place))
    deltalake.write_deltalake(
        place,
        rows([*ROWS[1:3], doc("x", quarter="2020 Q2/é"), doc("y", quarter=None)]),
        mode="append",
    )
    deltalake.DeltaTable(place).delete("document_id = 'a'")
    given = config("delta", place)
    # A partition's value stands in the folder's name, not in the file.
    assert read(spark, given, "2020 Q2/é")[0] == {"x": "We grew. It rained."}
    assert set(read(spark, given)[0]) == {"b", "x", "y"}
    assert source_fingerprint(spark, given) != before
    # A folder of Parquet files is no Delta table, and one with deleted rows beside its files is
    # nothing that Parquet files tell.
    frame(spark).write.parquet(str(tmp_path / "plain"))
    with pytest.raises(InputError, match="is no Delta table"):
        open_source(spark, config("delta", tmp_path / "plain"))
    log = sorted((tmp_path / "calls of all kinds" / "_delta_log").glob("*.json"))[0]
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "protocol" in line:
            line["protocol"] = {
                "minReaderVersion": 3,
                "minWriterVersion": 7,
                "readerFeatures": ["deletionVectors"],
                "writerFeatures": ["deletionVectors"],
            }
    log.write_text("\n".join(json.dumps(line) for line in lines))
    with pytest.raises(InputError, match="uses deletionVectors, which only Delta's own package"):
        open_source(spark, given)


@pytest.mark.parametrize(
    "form, path, fault",
    [
        ("table:no_such_table", None, "the session knows no table no_such_table"),
        ("table:lake.sales.calls", None, "the session knows no (table|catalog)"),
        ("spark:no-such-source", "x", "the session has no data source 'no-such-source'"),
        ("spark:orc", "/no/such/folder", "/no/such/folder: no such file or folder"),
        ("spark:jdbc", None, r"spark:jdbc: data source 'jdbc' cannot be opened \(.+\)"),
        ("delta", "s3a://bucket/calls", "format delta is for local folders"),
        ("delta", "calls [1]", r"calls \[1\]: the package deltalake takes no '\['"),
    ],
)
def test_what_is_not_there_is_told_in_a_line(spark, form, path, fault):
    with pytest.raises(InputError, match=fault) as caught:
        open_source(spark, config(form, path))
    assert "\n" not in str(caught.value)


def test_a_missing_column_is_named(spark):
    frame(spark).drop("company").createOrReplaceTempView("without_company")
    with pytest.raises(InputError, match="without_company: no column 'company'"):
        read(spark, config("table:without_company"))


def test_secret_options_come_from_the_environment(monkeypatch):
    given = config("spark:jdbc", options={"user": "ann", "password": "env:CALLS_PASSWORD"})
    with pytest.raises(ConfigError, match=r"input\.options\.password: .*'CALLS_PASSWORD' is not"):
        source_options(given)
    monkeypatch.setenv("CALLS_PASSWORD", "secret")
    assert source_options(given) == {"user": "ann", "password": "secret"}


@pytest.mark.parametrize(
    "values, fault",
    [
        ({"format": "xml"}, "unknown format 'xml'; give auto, jsonl, parquet, csv, text, delta"),
        ({"format": "spark:"}, "unknown format"),
        ({"format": "table:a.b; DROP TABLE c"}, "unknown format"),
        ({"format": "csv", "options": {"a": "b"}}, "'options' go with format spark:NAME"),
    ],
)
def test_formats_are_checked_when_the_configuration_is_read(values, fault):
    with pytest.raises(ValueError, match=fault):
        InputConfig.model_validate({"columns": COLUMNS} | values)
