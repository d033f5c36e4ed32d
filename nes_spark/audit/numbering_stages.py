"""Labels as numbers: their names stay with the executors, the driver holds two numbers of each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from nes_spark.audit.mapping_stages import hold, map_rows
from nes_spark.audit.ranking import stable_hash

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Numbered:
    """The values of a column, numbered from 0 in order (of code points).

    Attributes
    ----------
    table : pyspark.sql.DataFrame
        ``label, number``.
    sizes : numpy.ndarray of int64, shape (m,)
        Rows with each.
    hashes : numpy.ndarray of uint64, shape (m,)
        :func:`nes_spark.audit.ranking.stable_hash` of each.
    """

    table: DataFrame
    sizes: np.ndarray
    hashes: np.ndarray


def number_labels(
    frame: DataFrame, column: str, until: ExitStack | None = None, least: int = 1
) -> Numbered:
    """Number the values of a string column.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    column : str
    until : contextlib.ExitStack, optional
        Frees the disk that the table takes when it closes; without it the session frees it.
    least : int
        Only values that are in so many rows.

    Returns
    -------
    Numbered
        The values are sorted by one task: a million of them take it some seconds.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    def add_hash(row: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        # 64 bits without a sign do not fit Spark's bigint: those of the same bits with one do.
        signed = np.uint64(stable_hash(row["label"])).astype(np.int64)
        yield row["label"], row["number"], row["size"], int(signed)

    counted = frame.groupBy(F.col(column).alias("label")).agg(F.count("*").alias("size"))
    counted = counted.where(F.col("size") >= least) if least > 1 else counted
    number = F.row_number().over(Window.orderBy("label")) - 1
    fields = [("label", pa.string()), ("number", pa.int32())]
    fields += [("size", pa.int64()), ("hash", pa.int64())]
    table = hold(map_rows(counted.withColumn("number", number), add_hash, fields), until)
    known = table.select("number", "size", "hash").toPandas().sort_values("number")
    return Numbered(
        table.select("label", "number"),
        known["size"].to_numpy(np.int64),
        known["hash"].to_numpy(np.int64).view(np.uint64),
    )
