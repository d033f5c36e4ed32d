"""Spark: samples of ids by keyed hash: the same whatever the order and the partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd  # at run time: Spark reads the type hints of a pandas_udf

from nes_spark.audit.ranking import lot

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def keyed(column: Column, key: bytes) -> Column:
    """Return the keyed hash of ids that samples are drawn by, as in memory."""
    from pyspark.sql import functions as F

    def hashed(ids: pd.Series) -> pd.Series:
        return ids.map(lambda value: lot(key, value))

    make: Any = F.pandas_udf  # its overloads cannot tell a function of Series from the others
    found: Column = make(hashed, "binary")(column)
    return found


def sample_of(ids: DataFrame, name: str, most: int, key: bytes) -> DataFrame:
    """Return at most so many ids, those of the smallest keyed hashes."""
    from pyspark.sql import functions as F

    ranked = ids.select(name).distinct().withColumn("_lot", keyed(F.col(name), key))
    return ranked.orderBy("_lot", name).limit(most).select(name)
