"""Small tables that a configuration names beside the input."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nes_spark.config import Config
from nes_spark.errors import InputError
from nes_spark.store import local_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Columns that each of these tables must have.
NEEDED = {
    "output.withhold": ("chunk_id",),
    "entities.clues": ("chunk_id", "clue"),
    "audit.background": ("metadata", "text"),
    "audit.public_words": ("metadata", "words"),
}


def check_columns(config: Config) -> None:
    """Look for the columns of all tables on the local disk, before Spark starts.

    What cannot be read here is left to :func:`read_beside`, which says why.

    Raises
    ------
    InputError
        When one lacks a column.
    """
    for key, columns in NEEDED.items():
        section, _, name = key.partition(".")
        given = getattr(getattr(config, section), name)
        local = None if given is None else local_path(given)
        if local is None or not Path(local).is_file():
            continue
        try:
            there = _columns(local, columns)
        except (OSError, ValueError, csv.Error):  # Arrow's errors and those of JSON are such
            continue
        _check(key, given, columns, there)


def _columns(path: str, wanted: Collection[str]) -> set[str]:
    """Columns of a table; of JSON Lines the first rows until those that are wanted were there."""
    if path.endswith(".csv"):
        with open(path, encoding="utf-8-sig", errors="replace", newline="") as file:
            return set(next((row for row in csv.reader(file) if row), []))
    if path.endswith((".jsonl", ".json")):
        found: set[str] = set()
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            for line in file:
                told = json.loads(line) if line.strip() else []
                for row in told if isinstance(told, list) else [told]:
                    found.update(row if isinstance(row, dict) else ())
                if found.issuperset(wanted):
                    break
        return found
    import pyarrow.parquet as pq

    return set(pq.read_schema(path).names)


def _check(key: str, path: str, columns: Sequence[str], there: Collection[str]) -> None:
    missing = sorted({*columns} - {*there})
    if missing:
        verb = "are" if len(columns) > 1 else "is"
        divided = [sign for sign in (";", "\t", "|") if sign in "".join(there)]
        hint = "; divide its columns by commas" if len(there) == 1 and divided else ""
        raise InputError(
            f"{key}: {path} has no column {', '.join(missing)}; {_needed(columns)} {verb} "
            f"needed{hint}"
        )


def _needed(columns: Sequence[str]) -> str:
    return f"column{'s' * (len(columns) > 1)} {' and '.join(columns)}"


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
            f".jsonl or .parquet table with {_needed(columns)}"
        ) from None
    _check(key, path, columns, frame.columns)
    return frame
