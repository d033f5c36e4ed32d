"""Spark: bring the chunks that the judge reads to the driver, as many as its budget can reach.

Ids are ranked by keyed hash within strata on the executors; texts travel for those alone that may
be read. The encoder runs in one process: a budget of texts takes seconds, and its vectors have the
same bits wherever they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from nes_spark.utility.anchors import Original
from nes_spark.utility.judge import REPLACED, History, Reach, Released

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame


def _ranked(changed: DataFrame, strata: Sequence[str], key: str, most: int) -> DataFrame:
    """Add ``rank`` by keyed hash and ``size`` of each stratum; keep the first ``most`` of each."""
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    stratum = Window.partitionBy(*strata)
    return (
        changed.withColumn("_hash", F.sha2(F.concat(F.lit(key), "chunk_id"), 256))
        .withColumn("rank", F.row_number().over(stratum.orderBy("_hash", "chunk_id")))
        .withColumn("size", F.count(F.lit(1)).over(stratum))
        .where(F.col("rank") <= most)
        .drop("_hash")
    )


def placed(assignments: DataFrame, chunks: DataFrame, setting: str) -> DataFrame:
    """Return ``chunk_id, document_id, component, log_density`` of every chunk in one setting."""
    from pyspark.sql import functions as F

    mine = assignments.where(F.col("setting") == setting)
    return mine.select("chunk_id", "component", "log_density").join(
        chunks.select("chunk_id", "document_id"), "chunk_id"
    )


def collect_histories(
    rewrites: DataFrame,
    chunks: DataFrame,
    mentions: DataFrame,
    assignments: DataFrame,
    setting: str,
    must_change: Sequence[str],
    replaced_texts: Any,
    draws: int,
    key: str,
    most: int,
    numbers: Callable[[int], Sequence[int]] | None = None,
) -> tuple[list[History], dict[str, str], Reach]:
    """Collect what the candidates of one setting are judged by.

    Parameters
    ----------
    rewrites, chunks, mentions, assignments : pyspark.sql.DataFrame
        Tables of the run.
    setting : str
        Mixture setting.
    must_change : sequence of str
        Categories that are replaced everywhere.
    replaced_texts : callable
        From rows of ``chunks`` and all mentions to ``chunk_id, text`` with those replaced.
    draws : int
        Draws, from the first, that are looked at.
    key : str
        From :func:`nes_spark.utility.sampling.sampling_key`.
    most : int
        Histories that a budget can reach.
    numbers : callable, optional
        From the swaps of a sequence to those of its candidates, the last one all of them: changed
        chunks are counted between these alone. By default every number is one.

    Returns
    -------
    histories, before, reach
        As :func:`nes_spark.utility.judge.judge_candidates` takes them.
    """
    from pyspark.sql import functions as F

    mine = rewrites.where((F.col("setting") == setting) & (F.col("draw") < draws))
    sequence = ["combination", "draw"]
    swapped = mine.groupBy(*sequence, "chunk_id").agg(F.min("order").alias("first"))
    holders = (
        mentions.where(F.col("category").isin(list(must_change))).select("chunk_id").distinct()
    )
    is_held = holders.withColumn("held", F.lit(True))
    swapped = swapped.join(is_held, "chunk_id", "left").na.fill({"held": False}).persist()
    try:
        longest = mine.groupBy(*sequence).agg(F.max("order").alias("longest")).toPandas()
        reached = swapped
        if numbers is not None:
            # a row a candidate comes to the driver, and not one a swap
            points = [
                (str(row["combination"]), int(row["draw"]), [*numbers(int(row["longest"]))])
                for row in longest.to_dict("records")
            ]
            asked = swapped.sparkSession.createDataFrame(
                points, "combination string, draw int, points array<int>"
            )
            next_one = F.array_min(F.filter("points", lambda k: k >= F.col("first")))
            reached = swapped.join(F.broadcast(asked), sequence).withColumn("first", next_one)
        counts = reached.groupBy(*sequence, "first", "held").count().toPandas()
        everywhere = holders.select(
            F.lit("").alias("combination"),
            F.lit(0).alias("draw"),
            "chunk_id",
            F.lit(REPLACED).alias("first"),
        )
        changed = swapped.drop("held")
        if must_change:
            changed = changed.unionByName(everywhere)
        ranked = _ranked(
            changed.join(placed(assignments, chunks, setting), "chunk_id"),
            [*sequence, "component"],
            key,
            most,
        ).toPandas()
        picked = _reachable(ranked, most)
        first: dict[tuple[str, int], dict[str, int]] = {}
        if must_change:
            held = picked.loc[picked["combination"] == "", ["chunk_id"]]
            rows = swapped.where("held").join(
                F.broadcast(_frame(swapped, held, "chunk_id string")), "chunk_id"
            )
            for row in rows.select(*sequence, "chunk_id", "first").toLocalIterator():
                own = first.setdefault((row["combination"], row["draw"]), {})
                own[row["chunk_id"]] = row["first"]
    finally:
        swapped.unpersist()
    ids = _frame(chunks, picked[["chunk_id"]].drop_duplicates(), "chunk_id string")
    wanted = chunks.join(F.broadcast(ids), "chunk_id", "left_semi")
    before = {row["chunk_id"]: row["text"] for row in wanted.select("chunk_id", "text").collect()}
    steps = _steps(mine, picked)
    if must_change:
        of = picked.loc[picked["combination"] == "", "chunk_id"]
        held_ids = _frame(chunks, of.to_frame(), "chunk_id string")
        texts = replaced_texts(
            chunks.join(F.broadcast(held_ids), "chunk_id", "left_semi"), mentions
        )
        for row in texts.select("chunk_id", "text").collect():
            steps["", 0, row["chunk_id"]] = [(REPLACED, row["text"])]
    histories = [
        History(
            str(row["combination"]),
            int(row["draw"]),
            int(row["component"]),
            str(row["chunk_id"]),
            str(row["document_id"]),
            int(row["rank"]),
            int(row["size"]),
            tuple(sorted(steps[row["combination"], row["draw"], row["chunk_id"]])),
        )
        for row in picked.to_dict("records")
    ]
    (n_chunks,) = chunks.agg(F.count(F.lit(1))).collect()[0]
    return histories, before, _reach(n_chunks, counts, longest, holders, bool(must_change), first)


def _reachable(ranked: pd.DataFrame, most: int) -> pd.DataFrame:
    """Keep of each sequence what positions can reach within ``most`` histories.

    A sample of share f has at least f N_h - 1 of each of H strata, so with ``most`` in all the
    share is at most (most + H) / N, and no stratum gives more than f N_h + 1.
    """
    sequence = ["combination", "draw"]
    strata = ranked.drop_duplicates([*sequence, "component"]).groupby(sequence)["size"]
    sums = strata.agg(_total="sum", _strata="count").reset_index()
    joined = ranked.merge(sums, on=sequence)
    share = (most + joined["_strata"]) / joined["_total"]
    kept = joined[joined["rank"] <= share * joined["size"] + 1]
    return kept.drop(columns=["_total", "_strata"]).reset_index(drop=True)


def _frame(beside: DataFrame, rows: pd.DataFrame, schema: str) -> DataFrame:
    values = [tuple(row) for row in rows.itertuples(index=False)]
    return beside.sparkSession.createDataFrame(values, schema)


def _steps(mine: DataFrame, picked: pd.DataFrame) -> dict[Any, list[tuple[int, str]]]:
    """Texts of the picked histories: (combination, draw, chunk_id) -> (order, text)."""
    from pyspark.sql import functions as F

    key = ["combination", "draw", "chunk_id"]
    wanted = picked.loc[picked["combination"] != "", key]
    frame = _frame(mine, wanted, "combination string, draw int, chunk_id string")
    found: dict[Any, list[tuple[int, str]]] = {}
    for row in mine.join(F.broadcast(frame), key).select(*key, "order", "text").collect():
        own = found.setdefault((row["combination"], row["draw"], row["chunk_id"]), [])
        own.append((row["order"], row["text"] or ""))
    return found


def _reach(
    n_chunks: int,
    counts: pd.DataFrame,
    longest: pd.DataFrame,
    holders: DataFrame,
    any_held: bool,
    first: dict[tuple[str, int], dict[str, int]],
) -> Reach:
    changed: dict[tuple[str, int], dict[int, int]] = {}
    both: dict[tuple[str, int], dict[int, int]] = {}
    for row in counts.to_dict("records"):
        sequence = (str(row["combination"]), int(row["draw"]))
        order, n = int(row["first"]), int(row["count"])
        own = changed.setdefault(sequence, {})
        own[order] = own.get(order, 0) + n
        if row["held"]:
            both.setdefault(sequence, {})[order] = n
    return Reach(
        n_chunks=int(n_chunks),
        longest={
            (str(row["combination"]), int(row["draw"])): int(row["longest"])
            for row in longest.to_dict("records")
        },
        changed=changed,
        n_replaced=holders.count() if any_held else 0,
        both=both,
        first=first,
    )


def collect_released(
    assembled: DataFrame,
    chunks: DataFrame,
    assignments: DataFrame,
    setting: str,
    key: str,
    most: int,
    exchanged: DataFrame | None = None,
) -> list[Released]:
    """Collect changed chunks of the release, as many as a budget can reach.

    Parameters
    ----------
    assembled : pyspark.sql.DataFrame
        Every chunk as it is released, with ``edits``.
    chunks, assignments : pyspark.sql.DataFrame
        Tables of the run.
    setting : str
    key : str
        From :func:`nes_spark.utility.sampling.sampling_key`.
    most : int
        Chunks that a budget can reach.
    exchanged : pyspark.sql.DataFrame, optional
        As `assembled`, before chunks were withheld or summarised: the anchors of such a chunk
        treat the names that it would have lost otherwise.

    Returns
    -------
    list of Released
    """
    from pyspark.sql import functions as F

    changed = assembled.where(F.size("edits") > 0).select("chunk_id")
    ranked = _ranked(
        changed.join(placed(assignments, chunks, setting), "chunk_id"), ["component"], key, most
    ).toPandas()
    picked = _reachable(ranked.assign(combination="", draw=0), most)
    ids = F.broadcast(_frame(chunks, picked[["chunk_id"]], "chunk_id string"))
    before = chunks.join(ids, "chunk_id", "left_semi").select(
        "chunk_id", F.col("text").alias("before")
    )
    after = assembled.join(ids, "chunk_id", "left_semi").select("chunk_id", "text", "edits")
    if exchanged is not None:
        edits = exchanged.join(ids, "chunk_id", "left_semi").select("chunk_id", "edits")
        after = after.drop("edits").join(edits, "chunk_id")
    texts = {row["chunk_id"]: row.asDict(True) for row in before.join(after, "chunk_id").collect()}
    found = []
    for row in picked.to_dict("records"):
        own = texts[row["chunk_id"]]
        original = Original(
            str(row["chunk_id"]),
            str(row["document_id"]),
            int(row["component"]),
            own["before"],
            own["edits"],
        )
        found.append(
            Released(
                original,
                own["text"] or "",
                float(row["log_density"]),
                int(row["rank"]),
                int(row["size"]),
            )
        )
    return found
