"""Spark: utility beyond the mixture, for one release (paper, section 2.5, leaves it open)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from nes_spark.utility.tasks import UtilityTask, load_task

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame


def category_variation(cells: DataFrame, rewritten: DataFrame) -> DataFrame:
    """Compare the distribution of each category's values before and after swapping.

    Total variation is half the sum of absolute differences between the two shares of every value
    (the empty value included): the largest difference in probability of any event.

    Parameters
    ----------
    cells : pyspark.sql.DataFrame
        Table ``cells`` (pre-swap).
    rewritten : pyspark.sql.DataFrame
        ``chunk_id, cell`` (post-swap) of the swapped chunks of a release, one row a chunk. Chunks
        that are not in it keep their cell.

    Returns
    -------
    pyspark.sql.DataFrame
        ``category, n, values_pre, values_post, total_variation`` (0 to 1).
    """
    from pyspark.sql import functions as F

    post = rewritten.select("chunk_id", F.col("cell").alias("post"))
    both = cells.select("chunk_id", F.explode("cell").alias("category", "pre")).join(
        post, "chunk_id", "left"
    )
    changed = F.when(F.col("post").isNull(), F.col("pre")).otherwise(
        F.coalesce(F.col("post")[F.col("category")], F.lit(""))
    )
    one = F.lit(1)
    values = F.array(
        F.struct(F.col("pre").alias("value"), one.alias("pre"), F.lit(0).alias("post")),
        F.struct(changed.alias("value"), F.lit(0).alias("pre"), one.alias("post")),
    )
    counts = (
        both.select("category", F.explode(values).alias("v"))
        .groupBy("category", "v.value")
        .agg(F.sum("v.pre").alias("pre"), F.sum("v.post").alias("post"))
    )
    return counts.groupBy("category").agg(
        F.sum("pre").alias("n"),
        F.count(F.when(F.col("pre") > 0, one)).alias("values_pre"),
        F.count(F.when(F.col("post") > 0, one)).alias("values_post"),
        # counts are integers: the sum is exact on any partitioning
        (F.sum(F.abs(F.col("pre") - F.col("post"))) / (2 * F.sum("pre"))).alias("total_variation"),
    )


@lru_cache(maxsize=8)
def _task(path: str) -> UtilityTask:
    return load_task(path)


def task_predictions(chunks: DataFrame, rewritten: DataFrame, tasks: Sequence[str]) -> DataFrame:
    """Run tasks on swapped chunks, before and after.

    Parameters
    ----------
    chunks : pyspark.sql.DataFrame
        Table ``chunks``.
    rewritten : pyspark.sql.DataFrame
        ``chunk_id, text`` (post-swap) of the swapped chunks of a release, one row a chunk.
    tasks : sequence of str
        Dotted paths of :class:`~nes_spark.utility.tasks.UtilityTask` classes.

    Returns
    -------
    pyspark.sql.DataFrame
        ``task, chunk_id, label_pre, label_post, score_pre, score_post``.

    Raises
    ------
    ConfigError
        When a task cannot be loaded (told here, before any work).
    """
    from pyspark.sql import functions as F

    for path in tasks:
        load_task(path)
    paths = tuple(tasks)
    pairs = rewritten.select("chunk_id", F.col("text").alias("post")).join(
        chunks.select("chunk_id", F.col("text").alias("pre")), "chunk_id"
    )

    def predict(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        import pandas as pd

        for batch in batches:
            for path in paths:
                task = _task(path)
                before = task.predict(batch["pre"].tolist())
                after = task.predict(batch["post"].tolist())
                yield pd.DataFrame(
                    {
                        "task": task.name,
                        "chunk_id": batch["chunk_id"],
                        "label_pre": [p.label for p in before],
                        "label_post": [p.label for p in after],
                        "score_pre": [float(p.score) for p in before],
                        "score_post": [float(p.score) for p in after],
                    }
                )

    return pairs.mapInPandas(
        predict,
        "task string, chunk_id string, label_pre string, label_post string, "
        "score_pre double, score_post double",
    )


def task_agreement(predictions: DataFrame) -> DataFrame:
    """Summarise predictions before and after swapping.

    Parameters
    ----------
    predictions : pyspark.sql.DataFrame
        From :func:`task_predictions`.

    Returns
    -------
    pyspark.sql.DataFrame
        ``task, chunks, agreement`` (share of swapped chunks that keep their label),
        ``mean_change`` and ``mean_absolute_change`` of the score.
    """
    from pyspark.sql import functions as F

    # decimals add up exactly, whatever the partitioning
    change = (F.col("score_post") - F.col("score_pre")).cast("decimal(20,9)")
    n = F.count(F.lit(1))
    return predictions.groupBy("task").agg(
        n.alias("chunks"),
        (F.count(F.when(F.col("label_pre") == F.col("label_post"), 1)) / n).alias("agreement"),
        (F.sum(change).cast("double") / n).alias("mean_change"),
        (F.sum(F.abs(change)).cast("double") / n).alias("mean_absolute_change"),
    )
