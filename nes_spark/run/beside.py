"""Small tables that a configuration names beside the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nes_spark.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def read_beside(spark: SparkSession, key: str, path: str, columns: Sequence[str]) -> DataFrame:
    """Read a small table by its ending: .csv, .jsonl or .json, else Parquet.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
    key : str
        The configuration's name for it, said in errors.
    path : str
    columns : sequence of str
        Those that must be there.

    Raises
    ------
    InputError
        When it cannot be read or lacks a column.
    """
    needed = f"column{'s' * (len(columns) > 1)} {' and '.join(columns)}"
    reader = spark.read
    try:
        if path.endswith(".csv"):
            frame = reader.csv(path, header=True, multiLine=True, escape='"')
        elif path.endswith((".jsonl", ".json")):
            frame = reader.json(path)
        else:
            frame = reader.parquet(path)
    except Exception as error:
        raise InputError(
            f"{key}: {path} cannot be read ({type(error).__name__}); give a .csv, "
            f".jsonl or .parquet table with {needed}"
        ) from None
    missing = sorted({*columns} - set(frame.columns))
    if missing:
        verb = "are" if len(columns) > 1 else "is"
        raise InputError(
            f"{key}: {path} has no column {', '.join(missing)}; {needed} {verb} needed"
        )
    return frame
