"""Spark: what a swap exchanged becomes the same other name in the rest of its document.

A release of plan ``pairs`` changes few chunks. The other chunks of a document then keep the names
that a swapped chunk gave away, and they tell whose these were: who looks for partners finds every
second one (docs/earnings_calls.md). With ``swapping.throughout`` each name that a swap took out of
a chunk is replaced in all other chunks of its document by the name that came for it. Where several
swaps exchanged the same name of a document, the first in the sequence says what it becomes; chunks
that were swapped themselves stay as their swaps left them. Which pairs are drawn, and with which
probabilities, does not change: this is a function of the swaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Columns of what :func:`written_throughout` adds to a chunk.
TOLD = "array<struct<category:string,old:string,new:string,written:array<string>>>"


def names_throughout(
    rewrites: DataFrame, cells: DataFrame, combination: Sequence[str]
) -> DataFrame:
    """Say what the names of chunks that no swap touched become.

    Parameters
    ----------
    rewrites : pyspark.sql.DataFrame
        Output of :func:`nes_spark.releases.publish_stages.chosen_rewrites`: one row a draw and
        swapped chunk.
    cells : pyspark.sql.DataFrame
        Table CELLS.
    combination : sequence of str
        The swapped categories.

    Returns
    -------
    pyspark.sql.DataFrame
        ``draw, chunk_id, category, old, new, partner_id``: of a chunk that was not swapped, the
        name of its document that was, what it becomes, and whose name that was.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    held = cells.select(
        "chunk_id", "document_id", F.explode("entities").alias("category", "names")
    ).where(F.col("category").isin(list(combination)))
    held = held.select("chunk_id", "document_id", "category", F.explode("names").alias("old"))
    told = (
        rewrites.select("draw", "order", "chunk_id", "partner_id", F.explode("edits").alias("e"))
        .select(
            "draw",
            "order",
            "chunk_id",
            "partner_id",
            F.col("e.category").alias("category"),
            F.col("e.old_entity").alias("old"),
            F.col("e.new_entity").alias("new"),
        )
        .where(F.col("category").isin(list(combination)))
        .where((F.col("old") != "") & (F.col("new") != ""))
        .join(cells.select("chunk_id", "document_id"), "chunk_id")
    )
    first = Window.partitionBy("draw", "document_id", "category", "old").orderBy(
        "order", "chunk_id", "new"
    )
    told = told.withColumn("_rank", F.row_number().over(first)).where("_rank = 1")
    return (
        held.join(
            told.select("draw", "document_id", "category", "old", "new", "partner_id"),
            ["document_id", "category", "old"],
        )
        .join(rewrites.select("draw", "chunk_id"), ["draw", "chunk_id"], "left_anti")
        .select("draw", "chunk_id", "category", "old", "new", "partner_id")
    )


def written_throughout(
    rewrites: DataFrame, cells: DataFrame, mentions: DataFrame, combination: Sequence[str]
) -> DataFrame:
    """Return :func:`names_throughout` of one draw by chunk, with how new names are written.

    Parameters
    ----------
    rewrites, cells, combination
        As there; of one draw.
    mentions : pyspark.sql.DataFrame
        Table MENTIONS.

    Returns
    -------
    pyspark.sql.DataFrame
        ``chunk_id, told`` (:data:`TOLD`): for each name the surfaces of the new one where it comes
        from, in their order.
    """
    from pyspark.sql import functions as F

    named = names_throughout(rewrites, cells, combination)
    surfaces = (
        mentions.select(
            F.col("chunk_id").alias("partner_id"),
            "category",
            F.col("entity").alias("new"),
            F.struct("start", "surface").alias("at"),
        )
        .groupBy("partner_id", "category", "new")
        .agg(
            F.transform(F.array_sort(F.collect_list("at")), lambda a: a["surface"]).alias("written")
        )
    )
    one = F.struct("category", "old", "new", "written")
    return (
        named.join(surfaces, ["partner_id", "category", "new"], "left")
        .withColumn("written", F.coalesce("written", F.array().cast("array<string>")))
        .groupBy("chunk_id")
        .agg(F.array_sort(F.collect_list(one)).cast(TOLD).alias("told"))
    )


def edits_throughout(
    rewrites: DataFrame, cells: DataFrame, combination: Sequence[str]
) -> DataFrame:
    """Return what :func:`names_throughout` changes, as edits without places.

    Returns
    -------
    pyspark.sql.DataFrame
        ``draw, chunk_id, more``: ``category, old_entity, new_entity`` of each name, all that
        adversaries who look at names need.
    """
    from pyspark.sql import functions as F

    edit = F.struct(
        F.lit(0).alias("start"),
        F.lit(0).alias("end"),
        F.lit("").alias("old"),
        F.lit("").alias("new"),
        "category",
        F.col("old").alias("old_entity"),
        F.col("new").alias("new_entity"),
    )
    named = names_throughout(rewrites, cells, combination)
    return named.groupBy("draw", "chunk_id").agg(F.array_sort(F.collect_list(edit)).alias("more"))
