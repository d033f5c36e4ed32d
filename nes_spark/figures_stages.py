"""Spark: the small figures that the summary, the report and MLflow show. No text in any of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame


def corpus_figures(
    documents: DataFrame, quarantine: DataFrame, chunks: DataFrame, mentions: DataFrame
) -> dict[str, Any]:
    """Count what came in and what was found.

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
    reasons = {
        row["reason"]: int(row["count"]) for row in quarantine.groupBy("reason").count().collect()
    }
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


def component_figures(assignments: DataFrame, chunks: DataFrame, setting: str) -> pd.DataFrame:
    """Return chunks and documents per component of one setting, by component."""
    from pyspark.sql import functions as F

    return (
        assignments.where(F.col("setting") == setting)
        .join(chunks.select("chunk_id", "document_id"), "chunk_id")
        .groupBy("component")
        .agg(
            F.count(F.lit(1)).alias("chunks"),
            F.countDistinct("document_id").alias("documents"),
        )
        .orderBy("component")
        .toPandas()
    )


def status_figures(status: DataFrame) -> dict[str, int]:
    """Return how many chunks have each status."""
    rows = status.groupBy("status").count().orderBy("status").collect()
    return {row["status"]: int(row["count"]) for row in rows}


def possible_swaps(swaps: DataFrame) -> pd.DataFrame:
    """Return the number of swaps reached per setting, combination and draw."""
    from pyspark.sql import functions as F

    return (
        swaps.groupBy("setting", "combination", "draw")
        .agg(F.max("order").alias("swaps"))
        .orderBy("setting", "combination", "draw")
        .toPandas()
    )
