"""What the stages of the adversaries share: functions over rows, with Arrow, and bounded lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

STRINGS = pa.list_(pa.string())


def map_rows(
    frame: DataFrame, function: Callable[[dict[str, Any]], Any], fields: Sequence[tuple[str, Any]]
) -> DataFrame:
    """Apply a function from a row (dict) to an iterable of rows (tuples), with Arrow."""

    def each(rows: list[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
        return (out for row in rows for out in function(row))

    return map_batches(frame, each, fields)


def map_batches(
    frame: DataFrame,
    function: Callable[[list[dict[str, Any]]], Iterable[tuple[Any, ...]]],
    fields: Sequence[tuple[str, Any]],
) -> DataFrame:
    """Apply a function from the rows of a batch (dicts) to an iterable of rows (tuples)."""
    return map_arrow(frame, lambda batch: function(batch.to_pylist()), fields)


def map_arrow(
    frame: DataFrame,
    function: Callable[[pa.RecordBatch], Iterable[tuple[Any, ...]]],
    fields: Sequence[tuple[str, Any]],
) -> DataFrame:
    """Apply a function from a batch to an iterable of rows (tuples)."""
    schema = pa.schema([pa.field(name, kind) for name, kind in fields])
    ddl = ddl_of({name: _ddl(kind) for name, kind in fields})

    def apply(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = list(function(batch))
            columns = list(zip(*rows, strict=True)) if rows else [()] * len(fields)
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array(list(values), type=field.type)
                    for values, field in zip(columns, schema, strict=True)
                ],
                schema=schema,
            )

    return frame.mapInArrow(apply, ddl)


def ddl_of(columns: Mapping[str, str]) -> str:
    """Return a schema as Spark reads it, from column names and types."""
    return ", ".join(f"`{name}` {kind}" for name, kind in columns.items())


def _ddl(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"array<{_ddl(kind.value_type)}>"
    names = {
        pa.string(): "string",
        pa.binary(): "binary",
        pa.int32(): "int",
        pa.int64(): "bigint",
        pa.float64(): "double",
        pa.bool_(): "boolean",
    }
    return names[kind]


def of_few_labels(counted: DataFrame, keys: Sequence[str], most: int) -> DataFrame:
    """Keep the rows whose keys have at most so many rows."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    return (
        counted.withColumn("_rows", F.count(F.lit(1)).over(Window.partitionBy(*keys)))
        .where(F.col("_rows") <= most)
        .drop("_rows")
    )


def hold(frame: DataFrame, until: ExitStack | None) -> DataFrame:
    """Keep a frame that is used more than once on disk, until a stack closes or the session."""
    from pyspark import StorageLevel

    frame = frame.persist(StorageLevel.DISK_ONLY)
    if until is not None:
        until.callback(frame.unpersist)
    return frame
