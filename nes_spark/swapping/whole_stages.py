"""Spark: plan ``whole`` as a sequence of swaps like any other, and the account of every mention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from nes_spark.errors import parameter_error
from nes_spark.schemas import COVERAGE, LEFTOVERS, PLAN, PLAN_LEFTOVERS, SWAPS
from nes_spark.swapping.plan import NOT_REACHED
from nes_spark.swapping.rewriting import DROP, SUMMARY, WHOLE_TEXT
from nes_spark.swapping.seeds import Secret
from nes_spark.swapping.stages import giver

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: What becomes of a mention: column ``fate`` of table COVERAGE beside the leftover treatments.
EXCHANGED, REPLACED, SHIFTED, KEPT = "exchanged", "replaced", "shifted", "kept"
#: Why a date was not shifted: it is told from now or is the year of a law or a crisis, or it was
#: not understood (a placeholder).
RELATIVE, NOT_UNDERSTOOD = "relative", "not_understood"
#: Why a name in a swapped category stands as it stood: nothing says what should become of it, which
#: must not be.
NO_PLAN = "no_plan"
#: Why a name is gone that was not left over itself: another name of its chunk was.
WITH_ITS_CHUNK = "with_its_chunk"


def as_swaps(plan: DataFrame, combination: str) -> DataFrame:
    """Return the swaps of a plan as rows of table SWAPS.

    Parameters
    ----------
    plan : pyspark.sql.DataFrame
        Table PLAN.
    combination : str
        What the candidates of the plan are called. The round is the layer, from 1.
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


def as_leftovers(leftovers: DataFrame, combination: str) -> DataFrame:
    """Return what plans left over as rows of table LEFTOVERS.

    Parameters
    ----------
    leftovers : pyspark.sql.DataFrame
        Table PLAN_LEFTOVERS of all plans of one sequence.
    combination : str
        What the candidates of the sequence are called, as for :func:`as_swaps`.
    """
    from pyspark.sql import functions as F

    return leftovers.withColumn("combination", F.lit(combination)).select(*LEFTOVERS.names)


def appended(first: DataFrame, second: DataFrame) -> DataFrame:
    """Return two plans as one sequence: the second goes on where the first ends.

    Parameters
    ----------
    first, second : pyspark.sql.DataFrame
        Tables PLAN. Order and layer of the second are counted on.
    """
    from pyspark.sql import functions as F

    ends = first.groupBy("setting", "draw").agg(
        F.max("order").alias("_order"), (F.max("layer") + 1).alias("_layer")
    )
    later = second.join(F.broadcast(ends), ["setting", "draw"], "left")
    for name in ("order", "layer"):
        later = later.withColumn(
            name, (F.col(name) + F.coalesce(F.col(f"_{name}"), F.lit(0))).cast("int")
        )
    return first.unionByName(later.select(*first.columns))


def swaps_by_chunk(plan: DataFrame, cells: DataFrame) -> DataFrame:
    """Write the swaps of documents chunk by chunk.

    The chunks of one document that hold a name which is exchanged stand beside those of the other,
    one after the other; the shorter row begins again. Each such pair is one row with what is
    exchanged in these two chunks, so that every chunk of both documents comes in at least one.

    Parameters
    ----------
    plan : pyspark.sql.DataFrame
        Table PLAN of unit ``document``.
    cells : pyspark.sql.DataFrame
        Table CELLS.

    Returns
    -------
    pyspark.sql.DataFrame
        Table PLAN with chunks in the place of documents, numbered anew in the same order.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    key = ["setting", "draw", "order"]
    held = cells.select(
        F.col("document_id").alias("_document"),
        "chunk_id",
        F.explode("entities").alias("_category", "_names"),
    ).select("_document", "chunk_id", "_category", F.explode("_names").alias("_old"))
    moved = plan.select(
        *key, "chunk_a", "chunk_b", F.explode(F.array_distinct("exchanged")).alias("e")
    ).select(
        *key,
        "e",
        F.col("e.side").alias("side"),
        F.col("e.category").alias("_category"),
        F.col("e.old").alias("_old"),
        giver().alias("_document"),
    )
    mine = (
        moved.join(held, ["_document", "_category", "_old"])
        .groupBy(*key, "side", "chunk_id")
        .agg(F.sort_array(F.collect_list("e")).alias("found"))
    )
    row = Window.partitionBy(*key, "side").orderBy("chunk_id")
    mine = mine.withColumn("_at", F.row_number().over(row) - 1).withColumn(
        "_n", F.count(F.lit(1)).over(Window.partitionBy(*key, "side"))
    )
    sides = {
        side: mine.where(F.col("side") == side).select(
            *key,
            F.col("chunk_id").alias(f"_chunk_{side}"),
            F.col("found").alias(f"_found_{side}"),
            F.col("_at").alias(f"_at_{side}"),
            F.col("_n").alias(f"_n_{side}"),
        )
        for side in ("a", "b")
    }
    most = F.greatest("_n_a", "_n_b")
    beside = sides["a"].join(sides["b"], key)
    # row k of the longer list beside row k modulo its length of the shorter one
    fits = F.when(
        F.col("_n_a") == most, F.col("_at_a") % F.col("_n_b") == F.col("_at_b")
    ).otherwise(F.col("_at_b") % F.col("_n_a") == F.col("_at_a"))
    rows = (
        beside.where(fits)
        .join(plan.drop("chunk_a", "chunk_b", "exchanged"), key)
        .withColumn("_place", F.greatest("_at_a", "_at_b"))
    )
    numbered = Window.partitionBy("setting", "draw").orderBy("order", "_place")
    first = F.col("_chunk_a") < F.col("_chunk_b")

    def turned(side: str, other: str) -> Column:
        # the smaller id is side a
        return F.transform(
            F.array_union(f"_found_{side}", f"_found_{other}"),
            lambda e: F.struct(
                F.when(e["side"] == side, F.lit("a")).otherwise(F.lit("b")).alias("side"),
                e["category"].alias("category"),
                e["old"].alias("old"),
                e["new"].alias("new"),
            ),
        )

    return (
        rows.withColumn("_order", F.row_number().over(numbered).cast("int"))
        .withColumn("exchanged", F.when(first, turned("a", "b")).otherwise(turned("b", "a")))
        .withColumn("chunk_a", F.least("_chunk_a", "_chunk_b"))
        .withColumn("chunk_b", F.greatest("_chunk_a", "_chunk_b"))
        .withColumn("order", F.col("_order"))
        .select(*PLAN.names)
    )


def leftovers_by_chunk(leftovers: DataFrame, cells: DataFrame) -> DataFrame:
    """Write what is left over of documents chunk by chunk.

    Parameters
    ----------
    leftovers : pyspark.sql.DataFrame
        Table PLAN_LEFTOVERS of unit ``document``.
    cells : pyspark.sql.DataFrame
        Table CELLS.

    Returns
    -------
    pyspark.sql.DataFrame
        Table PLAN_LEFTOVERS, one row a chunk that holds the name. The donor is the first chunk of
        its document that holds the new name.
    """
    from pyspark.sql import functions as F

    held = cells.select(
        F.col("document_id").alias("_document"),
        F.col("chunk_id").alias("_chunk"),
        F.explode("entities").alias("category", "_names"),
    ).select("_document", "_chunk", "category", F.explode("_names").alias("entity"))
    givers = held.groupBy(
        F.col("_document").alias("donor"), "category", F.col("entity").alias("replacement")
    ).agg(F.min("_chunk").alias("_giver"))
    return (
        leftovers.withColumnRenamed("chunk_id", "_document")
        .join(held, ["_document", "category", "entity"])
        .join(givers, ["donor", "category", "replacement"], "left")
        .withColumn("chunk_id", F.col("_chunk"))
        .withColumn("donor", F.col("_giver"))
        .select(*PLAN_LEFTOVERS.names)
    )


def leftover_orders(leftovers: DataFrame, swaps: DataFrame, secret: bytes) -> DataFrame:
    """Say with which swap of its sequence each name that is left over is treated.

    All of a chunk at once, at a keyed place between the first swap and the last: so a tenth of the
    swaps has a tenth of what is left over beside it, and all of them all. A chunk that is dropped
    or summarised goes after its own swaps, which would bring its text back.

    Parameters
    ----------
    leftovers, swaps : pyspark.sql.DataFrame
        Tables LEFTOVERS and SWAPS.
    secret : bytes

    Returns
    -------
    pyspark.sql.DataFrame
        `leftovers` with ``order``.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    digest = Secret(secret).digest

    def shares(ids: pd.Series) -> pd.Series:
        digests = (digest("left over", i, size=6) for i in ids)
        return pd.Series([int.from_bytes(d, "big") / 2**48 for d in digests], dtype="float64")

    make: Any = F.pandas_udf  # its overloads cannot tell a function of Series from the others
    share = make(shares, "double")(F.col("chunk_id"))
    key = ["setting", "combination", "draw"]
    ends = swaps.groupBy(*key).agg(F.max("order").alias("_last"))
    own = (
        swaps.select(*key, "order", F.explode(F.array("chunk_a", "chunk_b")).alias("chunk_id"))
        .groupBy(*key, "chunk_id")
        .agg(F.max("order").alias("_own"))
    )
    whole = F.max(F.col("treatment").isin([*WHOLE_TEXT])).over(Window.partitionBy(*key, "chunk_id"))
    drawn = (F.floor(share * F.col("_last")) + 1).cast("int")
    return (
        leftovers.join(F.broadcast(ends), key)
        .join(own, [*key, "chunk_id"], "left")
        .withColumn(
            "order",
            F.when(whole, F.greatest(drawn, F.coalesce("_own", F.lit(1)))).otherwise(drawn),
        )
        .drop("_last", "_own")
    )


def leftover_steps(leftovers: DataFrame) -> DataFrame:
    """Return what is done to names that are left over, as steps beside the swaps.

    Parameters
    ----------
    leftovers : pyspark.sql.DataFrame
        From :func:`leftover_orders`.

    Returns
    -------
    pyspark.sql.DataFrame
        ``setting, combination, draw, chunk_id`` and the step: ``order``, ``partner_id`` (the chunk
        that a name was taken from, null for none), ``exchanged`` and ``instead`` (what comes in the
        place of the whole text, '' for a chunk that is not published, null for neither); one row a
        chunk. Names that stay have none.
    """
    from pyspark.sql import functions as F

    dropped = F.max(F.when(F.col("treatment") == DROP, F.lit("")))
    summary = F.max(F.when(F.col("treatment") == SUMMARY, F.col("replacement")))
    by_name = F.col("replacement").isNotNull() & (F.col("treatment") != SUMMARY)
    return (
        leftovers.where(F.col("replacement").isNotNull() | (F.col("treatment") == DROP))
        .groupBy("setting", "combination", "draw", "chunk_id", "order")
        .agg(
            F.min("donor").alias("partner_id"),
            F.sort_array(
                F.collect_list(
                    F.when(
                        by_name,
                        F.struct(
                            F.lit("a").alias("side"),
                            "category",
                            F.col("entity").alias("old"),
                            F.col("replacement").alias("new"),
                        ),
                    )
                )
            ).alias("exchanged"),
            # what one name of a chunk asks for goes for all of it, and nothing before something
            F.coalesce(dropped, summary).alias("instead"),
        )
    )


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


def _given(swaps: DataFrame) -> DataFrame:
    """Return ``chunk_id, category, entity`` of every name that swaps exchange."""
    from pyspark.sql import functions as F

    return swaps.select(F.explode("exchanged").alias("e"), "chunk_a", "chunk_b").select(
        giver().alias("chunk_id"),
        F.col("e.category").alias("category"),
        F.col("e.old").alias("entity"),
    )


def not_reached(leftovers: DataFrame, later: DataFrame) -> DataFrame:
    """Add the names whose swaps a release does not make to what is left over, as kept.

    Parameters
    ----------
    leftovers : pyspark.sql.DataFrame
        ``chunk_id, category, entity, treatment, reason`` and more, which is dropped.
    later : pyspark.sql.DataFrame
        Rows of SWAPS that come after the release's last.
    """
    from pyspark.sql import functions as F

    names = _given(later).distinct()
    kept = names.select("*", F.lit(KEPT).alias("treatment"), F.lit(NOT_REACHED).alias("reason"))
    return leftovers.select(kept.columns).unionByName(kept)


def coverage(
    mentions: DataFrame,
    swaps: DataFrame,
    leftovers: DataFrame,
    swapped: Sequence[str],
    must_change: Sequence[str],
    shift: Sequence[str] = (),
    released: DataFrame | None = None,
) -> DataFrame:
    """Account for every mention of one release of plan ``whole``.

    Parameters
    ----------
    mentions : pyspark.sql.DataFrame
        Table MENTIONS.
    swaps, leftovers : pyspark.sql.DataFrame
        Rows of SWAPS and LEFTOVERS of the release: one setting and draw. For a release that ends
        before the last swap, :func:`not_reached` adds the rest to the latter.
    swapped, must_change : sequence of str
        Categories that are exchanged, and that are replaced everywhere.
    shift : sequence of str
        Categories whose dates are shifted everywhere.
    released : pyspark.sql.DataFrame, optional
        ``chunk_id, edits`` of every chunk as it is released; needed with `shift` (a date without an
        edit stays) and where chunks are dropped or summarised.

    Returns
    -------
    pyspark.sql.DataFrame
        Table COVERAGE; its mentions add up to those of the corpus.
    """
    from pyspark.sql import functions as F

    if shift and released is None:
        raise parameter_error("coverage", "released", f"given with shift {list(shift)}", None)

    told = (
        _given(swaps)
        .where("entity <> ''")
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
    instead: DataFrame | None = None
    if released is not None:
        instead = (
            released.select("chunk_id", F.explode("edits").alias("e"))
            .where(F.col("e.category").isin([*WHOLE_TEXT]))
            .select("chunk_id", F.col("e.category").alias("_gone"))
        )
    if shift and released is not None:
        moved = released.select("chunk_id", F.explode("edits").alias("e")).select(
            "chunk_id",
            F.col("e.category").alias("category"),
            F.col("e.start").alias("start"),
            F.col("e.new").startswith(F.concat(F.lit("["), "e.category", F.lit("]"))).alias("_out"),
            (F.col("e.old") != F.col("e.new")).alias("_new"),
        )
        moved = moved.where(among(shift) & F.col("_new")).drop("_new")
        found = found.join(moved, ["chunk_id", "category", "start"], "left")
        found = found.withColumn(
            "_fate",
            F.when(~among(shift), F.col("_fate"))
            .when(F.col("_out").isNull(), F.lit(KEPT))
            .otherwise(F.when(F.col("_out"), F.lit("placeholder")).otherwise(F.lit(SHIFTED))),
        ).withColumn(
            "_why",
            F.when(~among(shift), F.col("_why"))
            .when(F.col("_out").isNull(), F.lit(RELATIVE))
            .otherwise(F.when(F.col("_out"), F.lit(NOT_UNDERSTOOD)).otherwise(F.lit(""))),
        )
    fate = F.when(among(must_change), REPLACED).otherwise(F.coalesce("_fate", F.lit(KEPT)))
    why = (
        F.when(among(must_change), "must_change")
        .when(~among([*swapped, *shift]), "not_swapped")
        .otherwise(F.coalesce("_why", F.lit(NO_PLAN)))
    )
    if instead is not None:
        # with a chunk that is dropped, or summarised, all its names go
        found = found.join(instead, "chunk_id", "left")
        fate = F.coalesce("_gone", fate)
        left_over = F.col("_fate").isNotNull() & (F.col("_fate") == F.col("_gone"))
        why = F.when(F.col("_gone").isNull() | left_over, why).otherwise(F.lit(WITH_ITS_CHUNK))
    return (
        found.select("category", fate.alias("fate"), why.alias("reason"), "chunk_id")
        .groupBy("category", "fate", "reason")
        .agg(F.count(F.lit(1)).alias("mentions"), F.countDistinct("chunk_id").alias("chunks"))
        .select(*COVERAGE.names)
    )
