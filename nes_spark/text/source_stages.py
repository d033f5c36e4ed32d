"""Documents that are rows of a table or of a data source of Spark, not records of files."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from nes_spark.config import InputConfig
from nes_spark.config.sections import SOURCE, TABLE, with_environment
from nes_spark.errors import InputError
from nes_spark.store import combine, local_path, no_such_path, spark_paths
from nes_spark.text.reading import wanted_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Two moments that differ must differ in print: they may be ids.
EXACT = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
#: What a Delta table may ask of who reads it; others need Spark's own Delta package.
_PLAIN_DELTA = 1
#: Characters on which the package ends in a panic, or takes for another one.
_NOT_IN_DELTA = re.compile(r"[\[\]{}<>|^%#?*\"\\]")
_DIGITS = 15  # hexadecimal ones that fit into a decimal(38) with room for 10^18 rows


def source_label(config: InputConfig) -> str:
    """Return what messages and positions call a source: its table, its path, or its name."""
    if config.format.startswith(TABLE):
        return config.format.removeprefix(TABLE)
    return config.path or config.format


def source_options(config: InputConfig) -> dict[str, str]:
    """Return the options of the reader, those from the environment filled in.

    Raises
    ------
    ConfigError
        When a variable is not set.
    """
    return with_environment(config.options, "input.options")


def open_source(spark: SparkSession, config: InputConfig) -> DataFrame:
    """Open the table or data source that ``input.format`` names.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
    config : InputConfig
        With ``from_table``.

    Returns
    -------
    pyspark.sql.DataFrame
        All its columns; nothing is read yet.

    Raises
    ------
    ConfigError
        When an option's environment variable is not set.
    InputError
        When there is no such table, data source or path, or it cannot be opened.
    """
    label, form = source_label(config), config.format
    if form == "delta":
        return _open_delta(spark, config)
    reader = spark.read.options(**source_options(config))
    try:
        if form.startswith(TABLE):
            return reader.table(form.removeprefix(TABLE))
        reader = reader.format(form.removeprefix(SOURCE))
        rows = reader.load(spark_paths(config.path)) if config.path else reader.load()
        # A source may find out only now that it has no such table.
        rows.schema  # noqa: B018
    except Exception as error:
        raise _source_error(label, config, error) from None
    return rows


def _source_error(label: str, config: InputConfig, error: Exception) -> Exception:
    """Say in a line what is wrong with a source; its options may hold secrets: none is quoted."""
    said = str(error)
    name = config.format.removeprefix(SOURCE)
    if any(sign in said for sign in ("TABLE_OR_VIEW_NOT_FOUND", "SCHEMA_NOT_FOUND")):
        return InputError(f"input.format: the session knows no table {label}; look at SHOW TABLES")
    if any(s in said for s in ("REQUIRES_SINGLE_PART_NAMESPACE", "CATALOG_NOT_FOUND")):
        return InputError(
            f"input.format: the session knows no catalog of table {label}; declare it under "
            "spark.settings (spark.sql.catalog.NAME)"
        )
    if "DATA_SOURCE_NOT_FOUND" in said or "ClassNotFound" in said:
        return InputError(
            f"input.format: the session has no data source {name!r}; add its package under "
            "spark.settings (spark.jars.packages), or correct the name"
        )
    if "PATH_NOT_FOUND" in said:
        return no_such_path(label)
    if not isinstance(error, PySparkException) and type(error).__module__.startswith("nes_spark"):
        return error
    condition = error.getCondition() if hasattr(error, "getCondition") else None
    return InputError(
        f"{label}: data source {name!r} cannot be opened ({condition or type(error).__name__}); "
        "look at its options and path, and at the log of Spark"
    )


def delta_folder(path: str) -> str:
    """Return a local folder as the package deltalake takes it.

    Raises
    ------
    InputError
        When the package is not there, the path is no local one, or holds what the package cannot
        read.
    """
    if importlib.util.find_spec("deltalake") is None:
        raise InputError(
            "format delta needs the package deltalake: pip install 'nes_spark[delta]'; or use "
            "spark:delta in a session that has Delta's own package"
        )
    local = local_path(path)
    if local is None:
        raise InputError(
            f"{path}: format delta is for local folders; elsewhere use spark:delta in a session "
            "that has Delta's own package"
        )
    if found := _NOT_IN_DELTA.search(local):
        raise InputError(f"{path}: the package deltalake takes no {found[0]!r} in paths; rename it")
    return os.path.abspath(os.path.expanduser(local))


def _delta_table(config: InputConfig) -> Any:
    folder = delta_folder(config.path or "")
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError, TableNotFoundError

    try:
        table = DeltaTable(folder)
    except TableNotFoundError:
        raise InputError(f"{config.path}: is no Delta table; give the folder of one") from None
    except (DeltaError, OSError) as error:
        raise InputError(
            f"{config.path}: this Delta table cannot be opened ({type(error).__name__})"
        ) from None
    needed = table.protocol()
    mapped = table.metadata().configuration.get("delta.columnMapping.mode", "none") != "none"
    features = [f for f in needed.reader_features or () if f != "timestampNtz"]
    if (
        mapped
        or features
        or (needed.min_reader_version > _PLAIN_DELTA and not needed.reader_features)
    ):
        what = ", ".join(features) or "column mapping"
        raise InputError(
            f"{config.path}: this Delta table uses {what}, which only Delta's own package reads; "
            "use spark:delta in a session that has it"
        )
    return table


def _open_delta(spark: SparkSession, config: InputConfig) -> DataFrame:
    """Open the files of a Delta table's last version with the types that the table states."""
    table = _delta_table(config)
    files = _delta_files(table)
    if not files:
        raise InputError(f"{config.path}: holds no documents")
    schema = StructType.fromJson(json.loads(table.schema().to_json()))
    split_by = table.metadata().partition_columns
    inside = StructType([field for field in schema.fields if field.name not in split_by])
    root = delta_folder(config.path or "")
    paths = [path for file in files for path in spark_paths(os.path.join(root, file))]
    rows = spark.read.schema(inside).parquet(*paths)
    if not split_by:
        return rows
    # Values of partitions are taken from the log: Spark misreads letters that a folder's name
    # escapes.
    actions = pa.table(table.get_add_actions(flatten=True))
    names = [os.path.basename(path) for path in actions.column("path").to_pylist()]
    columns = [actions.column(f"partition.{name}").to_pylist() for name in split_by]
    texts = [[None if value is None else str(value) for value in column] for column in columns]
    schema_of_values = StructType(
        [StructField(name, StringType()) for name in ("_file", *split_by)]
    )
    known = spark.createDataFrame(list(zip(names, *texts, strict=True)), schema_of_values)
    joined = rows.withColumn("_file", F.col("_metadata.file_name")).join(
        F.broadcast(known), "_file", "left"
    )
    return joined.select(
        *[F.col(f"`{field.name}`").cast(field.dataType) for field in schema.fields]
    )


def _delta_files(table: Any) -> list[str]:
    """Files of a table's last version, below its folder; none ever changes."""
    actions = pa.table(table.get_add_actions())
    return sorted(unquote(path) for path in actions.column("path").to_pylist())


def source_fingerprint(spark: SparkSession, config: InputConfig) -> str:
    """Return a digest of what a source holds in the columns that the configuration names.

    A Delta table is told by the files of its last version, which never change; other sources are
    read once. The order of rows does not count, how often a row stands there does.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
    config : InputConfig
        With ``from_table``.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    InputError
        As :func:`open_source`; when reading fails.
    """
    if config.format == "delta":
        return combine(*_delta_files(_delta_table(config)))
    rows = open_source(spark, config)
    heads = {
        name if name in rows.columns else name.split(".")[0]
        for name in wanted_columns(config.columns)
    }
    used = [F.col(f"`{name}`") for name in rows.columns if name in heads]
    digest = F.sha2(F.to_json(F.struct(*used), EXACT) if used else F.lit(""), 256)
    parts = [
        F.sum(
            F.conv(F.substring(digest, 1 + _DIGITS * n, _DIGITS), 16, 10).cast("decimal(20,0)")
        ).cast("string")
        for n in range(4)
    ]
    try:
        found = rows.select(F.array(F.count(F.lit(1)).cast("string"), *parts)).first()
    except Exception as error:
        raise _source_error(source_label(config), config, error) from None
    assert found is not None
    return combine(*(value or "" for value in found[0]))
