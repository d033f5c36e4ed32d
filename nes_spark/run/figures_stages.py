"""Spark: the small figures that the summary, the report and MLflow show. No text in any of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame


def corpus_figures(
    documents: DataFrame, reasons: Mapping[str, int], chunks: DataFrame, mentions: DataFrame
) -> dict[str, Any]:
    """Count what came in and what was found.

    Parameters
    ----------
    documents, chunks, mentions : pyspark.sql.DataFrame
        Finished tables.
    reasons : mapping of str to int
        Reason -> documents that were quarantined for it.

    Returns
    -------
    dict
        ``documents_in, documents, quarantined`` (reason -> documents), ``metadata`` (distinct
        secrets), ``chunks, words, suppressed`` and per category ``mentions``, ``entities``
        (distinct canonical names), ``chunks_with``.
    """
    from pyspark.sql import functions as F

    (docs,) = documents.agg(
        F.count(F.lit(1)).alias("n"), F.countDistinct("metadata").alias("m")
    ).collect()
    (parts,) = chunks.agg(
        F.count(F.lit(1)).alias("n"),
        F.sum("n_words").alias("words"),
        F.sum("n_suppressed").alias("suppressed"),
    ).collect()
    categories = {
        row["category"]: {
            "mentions": int(row["mentions"]),
            "entities": int(row["entities"]),
            "chunks": int(row["chunks"]),
        }
        for row in mentions.groupBy("category")
        .agg(
            F.count(F.lit(1)).alias("mentions"),
            F.countDistinct("entity").alias("entities"),
            F.countDistinct("chunk_id").alias("chunks"),
        )
        .collect()
    }
    n_documents = int(docs["n"])
    return {
        "documents_in": n_documents + sum(reasons.values()),
        "documents": n_documents,
        "metadata": int(docs["m"]),
        "quarantined": dict(sorted(reasons.items())),
        "chunks": int(parts["n"]),
        "words": int(parts["words"] or 0),
        "suppressed": int(parts["suppressed"] or 0),
        "categories": categories,
    }


def given_figures(given_spans: DataFrame) -> dict[str, int]:
    """Count what became of the spans that came with the input (table GIVEN_SPANS)."""
    from pyspark.sql import functions as F

    counted = given_spans.groupBy("fate").agg(F.sum("n").alias("n")).orderBy("fate").collect()
    return {row["fate"]: int(row["n"]) for row in counted}


def component_figures(
    assignments: DataFrame,
    chunks: DataFrame,
    assembled: DataFrame,
    setting: str,
    typical: int = 3,
) -> pd.DataFrame:
    """Describe the components of one setting by the chunks assigned to them.

    Parameters
    ----------
    assignments, chunks : pyspark.sql.DataFrame
        Tables ASSIGNMENTS and CHUNKS.
    assembled : pyspark.sql.DataFrame
        Result of :func:`nes_spark.releases.publish_stages.assemble`.
    setting : str
        Mixture setting.
    typical : int, optional
        How many of the chunks with the greatest log density are named.

    Returns
    -------
    pandas.DataFrame
        ``component, chunks, documents, effective_documents`` (inverse Herfindahl index of its
        chunks over documents) and ``typical``: records of ``release_document_id, position,
        chunk_id``, most typical first; by component. Components without chunks have no row.
    """
    import pandas as pd
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    placed = assignments.where(F.col("setting") == setting).select(
        "chunk_id", "component", "log_density"
    )
    sizes = (
        placed.join(chunks.select("chunk_id", "document_id"), "chunk_id")
        .groupBy("component", "document_id")
        .agg(F.count(F.lit(1)).alias("n"))
        .groupBy("component")
        .agg(
            F.sum("n").alias("chunks"),
            F.count(F.lit(1)).alias("documents"),
            (F.sum("n") * F.sum("n") / F.sum(F.col("n") * F.col("n"))).alias("effective_documents"),
        )
    )
    best = Window.partitionBy("component").orderBy(F.col("log_density").desc(), "chunk_id")
    shown = F.struct(
        F.col("_rank"), F.col("release_document_id"), F.col("position"), F.col("chunk_id")
    )
    # The few are looked up in the release, which takes longer to read than all the densities.
    few = placed.withColumn("_rank", F.row_number().over(best)).where(F.col("_rank") <= typical)
    named = (
        assembled.select("chunk_id", "release_document_id", "position")
        .join(F.broadcast(few), "chunk_id")
        .groupBy("component")
        .agg(F.sort_array(F.collect_list(shown)).alias("typical"))
    )
    # Not toPandas: how it returns a struct depends on version and settings of Spark.
    rows = sizes.join(named, "component").orderBy("component").collect()
    return pd.DataFrame([row.asDict(recursive=True) for row in rows])


def instead_figures(assembled: DataFrame, chunks: DataFrame) -> dict[str, dict[str, int]]:
    """Return how many chunks are not published, and how many as a summary, with their words.

    Parameters
    ----------
    assembled : pyspark.sql.DataFrame
        ``chunk_id``, ``text``, '' where nothing is published, and ``edits``
        (:func:`nes_spark.releases.publish_stages.withhold`).
    chunks : pyspark.sql.DataFrame
        Table CHUNKS.

    Returns
    -------
    dict
        ``left_out``: ``chunks`` and ``words`` that are not published. ``summarised``: chunks, words
        that they had, and ``told``, the words of their summaries. Each only where there are any.
    """
    from pyspark.sql import functions as F

    from nes_spark.swapping.rewriting import WHOLE_TEXT

    whole = F.exists("edits", lambda edit: edit["category"].isin([*WHOLE_TEXT]))
    gone, told = F.col("text") == "", F.size(F.split("text", r"\s+"))
    counts = (
        assembled.select("chunk_id", gone.alias("gone"), told.alias("told"), whole.alias("whole"))
        .where("gone OR whole")
        .join(chunks.select("chunk_id", "n_words"), "chunk_id")
        .groupBy("gone")
        .agg(
            F.count(F.lit(1)).alias("chunks"),
            F.sum("n_words").cast("long").alias("words"),
            F.sum("told").cast("long").alias("told"),
        )
        .collect()
    )
    rows = {row["gone"]: row.asDict() for row in counts}
    found = {}
    if left_out := rows.get(True):
        found["left_out"] = {name: left_out[name] for name in ("chunks", "words")}
    if retold := rows.get(False):
        found["summarised"] = {name: retold[name] for name in ("chunks", "words", "told")}
    return found


def status_figures(status: DataFrame) -> dict[str, int]:
    """Return how many chunks have each status."""
    rows = status.groupBy("status").count().orderBy("status").collect()
    return {row["status"]: int(row["count"]) for row in rows}
