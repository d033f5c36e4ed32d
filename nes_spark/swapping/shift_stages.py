"""Spark: the secret shift of every document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from nes_spark.swapping.dates import (
    MAY_HAVE_DAYS,
    day_comes_first,
    days_in_numbers,
    draw_shift,
    reference_of,
)
from nes_spark.swapping.seeds import Secret

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: One row a document: days of its shift, a date of it where its period names one, and whether its
#: days in numbers begin with the day, null where none tells.
SHIFTS_DDL = "document_id string, shift_days int, shift_from date, day_first boolean"


def shifts_of(documents: DataFrame, secret: bytes, days: Sequence[int]) -> DataFrame:
    """Draw the shift of each document.

    Parameters
    ----------
    documents : pyspark.sql.DataFrame
        ``document_id, period, text``.
    secret : bytes
        The secret seed.
    days : sequence of int, length 2
        Least and most days.

    Returns
    -------
    pyspark.sql.DataFrame
        Columns of :data:`SHIFTS_DDL`. Who holds it can undo the shift of every date.
    """
    low, high = days

    from pyspark.sql import functions as F

    def draw(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        digest = Secret(secret).digest
        for batch in batches:
            drawn = [draw_shift(digest, i, low, high).days for i in batch["document_id"]]
            yield pd.DataFrame(
                {
                    "document_id": batch["document_id"],
                    "shift_days": drawn,
                    "shift_from": [reference_of(period) for period in batch["period"]],
                    "day_first": [day_comes_first(days_in_numbers(t)) for t in batch["text"]],
                }
            )

    # few documents have a day in numbers: the others' texts stay with Java
    dated = F.when(F.col("text").rlike(MAY_HAVE_DAYS), F.col("text"))
    text = F.coalesce(dated, F.lit("")).alias("text")
    return documents.select("document_id", "period", text).mapInPandas(draw, SHIFTS_DDL)
