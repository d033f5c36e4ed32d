"""Spark: plan ``whole`` as a sequence of swaps like any other, and the account of every mention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nes_spark.schemas import COVERAGE, SWAPS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: What becomes of a mention: columns ``fate`` of table COVERAGE beside the leftover treatments.
EXCHANGED, REPLACED, KEPT = "exchanged", "replaced", "kept"


def as_swaps(plan: DataFrame, combination: str) -> DataFrame:
    """Return the swaps of a plan as rows of table SWAPS.

    Parameters
    ----------
    plan : pyspark.sql.DataFrame
        Table PLAN.
    combination : str
        All categories of the plan: what the candidate is called. The round is the layer, from 1.
    """
    from pyspark.sql import functions as F

    return plan.select(
        "setting",
        F.lit(combination).alias("combination"),
        "draw",
        "order",
        (F.col("layer") + 1).alias("round"),
        "priority",
        "time",
        F.coalesce("component", F.lit(-1)).alias("component"),
        "chunk_a",
        "chunk_b",
        "exchanged",
    ).select(*SWAPS.names)


def last_steps(swaps: DataFrame, leftovers: DataFrame) -> DataFrame:
    """Return what is done to names that are left over, after the last swap of each sequence.

    Parameters
    ----------
    swaps, leftovers : pyspark.sql.DataFrame
        Tables SWAPS (of one plan) and LEFTOVERS.

    Returns
    -------
    pyspark.sql.DataFrame
        ``setting, combination, draw, chunk_id`` and ``step``: the order of the last swap, the chunk
        that a name was taken from (null for none) and ``exchanged``; one row a chunk. Names that
        stay have none.
    """
    from pyspark.sql import functions as F

    ends = swaps.groupBy("setting", "combination", "draw").agg(F.max("order").alias("order"))
    treated = (
        leftovers.where(F.col("replacement").isNotNull())
        .groupBy("setting", "draw", "chunk_id")
        .agg(
            F.min("donor").alias("partner_id"),
            F.sort_array(
                F.collect_list(
                    F.struct(
                        F.lit("a").alias("side"),
                        "category",
                        F.col("entity").alias("old"),
                        F.col("replacement").alias("new"),
                    )
                )
            ).alias("exchanged"),
        )
    )
    return treated.join(F.broadcast(ends), ["setting", "draw"])


def at_tenths(scores: DataFrame) -> DataFrame:
    """Return the rows of a sequence's prefixes at 10 %, 20 %, .. 100 % of its swaps.

    Parameters
    ----------
    scores : pyspark.sql.DataFrame
        ``setting, combination, draw, n_swaps`` and more: one row a prefix of each sequence.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    sequence = Window.partitionBy("setting", "combination", "draw")
    tenths = [F.ceil(F.col("_all") * k / 10) for k in range(1, 11)]
    return (
        scores.withColumn("_all", F.max("n_swaps").over(sequence))
        .where(F.array_contains(F.array(*tenths), F.col("n_swaps").cast("bigint")))
        .drop("_all")
    )


def coverage(
    mentions: DataFrame,
    swaps: DataFrame,
    leftovers: DataFrame,
    swapped: Sequence[str],
    must_change: Sequence[str],
) -> DataFrame:
    """Account for every mention of one release of plan ``whole``.

    Parameters
    ----------
    mentions : pyspark.sql.DataFrame
        Table MENTIONS.
    swaps, leftovers : pyspark.sql.DataFrame
        Rows of SWAPS and LEFTOVERS of the release: one setting and draw.
    swapped, must_change : sequence of str
        Categories that are exchanged, and that are replaced everywhere.

    Returns
    -------
    pyspark.sql.DataFrame
        Table COVERAGE; its mentions add up to those of the corpus.
    """
    from pyspark.sql import functions as F

    gone = swaps.select(F.explode("exchanged").alias("e"), "chunk_a", "chunk_b").select(
        F.when(F.col("e.side") == "a", F.col("chunk_a"))
        .otherwise(F.col("chunk_b"))
        .alias("chunk_id"),
        F.col("e.category").alias("category"),
        F.col("e.old").alias("entity"),
    )
    told = (
        gone.where("entity <> ''")
        .distinct()
        .select("*", F.lit(EXCHANGED).alias("_fate"), F.lit("").alias("_why"))
    )
    rest = leftovers.select(
        "chunk_id",
        "category",
        "entity",
        F.col("treatment").alias("_fate"),
        F.col("reason").alias("_why"),
    ).join(told, ["chunk_id", "category", "entity"], "left_anti")

    def among(names: Sequence[str]) -> Column:
        return F.col("category").isin(list(names))

    found = mentions.join(told.unionByName(rest), ["chunk_id", "category", "entity"], "left")
    fate = F.when(among(must_change), REPLACED).otherwise(F.coalesce("_fate", F.lit(KEPT)))
    why = (
        F.when(among(must_change), "must_change")
        .when(~among(swapped), "not_swapped")
        .otherwise(F.coalesce("_why", F.lit("no_plan")))
    )
    return (
        found.select("category", fate.alias("fate"), why.alias("reason"), "chunk_id")
        .groupBy("category", "fate", "reason")
        .agg(F.count(F.lit(1)).alias("mentions"), F.countDistinct("chunk_id").alias("chunks"))
        .select(*COVERAGE.names)
    )
