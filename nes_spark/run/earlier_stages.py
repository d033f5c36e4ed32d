"""Spark: the parts of an earlier run's table whose units did not change, and the others anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Keep = Callable[["DataFrame"], "DataFrame"]
Make = Callable[["DataFrame"], "DataFrame"]
#: Columns of table DOCUMENTS that cutting a document looks at.
CUT_FROM = ("document_id", "metadata", "text", "identifiers")


def _digest(*columns: str) -> Column:
    return F.sha2(F.to_json(F.struct(*columns)), 256).alias("_unit")


def cut_documents(
    documents: DataFrame,
    before: DataFrame,
    chunks: DataFrame,
    make: Make,
    keep: Keep,
    total: int,
) -> tuple[DataFrame, int]:
    """Cut documents into chunks, but for those that an earlier run has cut.

    Parameters
    ----------
    documents : pyspark.sql.DataFrame
        Table DOCUMENTS of today.
    before, chunks : pyspark.sql.DataFrame
        Tables DOCUMENTS and CHUNKS of the earlier run.
    make : callable
        Documents (columns :data:`CUT_FROM`) -> their table CHUNKS.
    keep : callable
        Persists a table that is used more than once.
    total : int
        Rows of the first table.

    Returns
    -------
    tuple of (pyspark.sql.DataFrame, int)
        Table CHUNKS of today, and the documents that were taken: those with the same id, secret,
        text and identifiers.
    """
    documents = documents.select(*CUT_FROM)
    known = keep(
        documents.select("document_id", _digest(*CUT_FROM))
        .join(before.select("document_id", _digest(*CUT_FROM)), ["document_id", "_unit"])
        .select("document_id")
    )
    taken = known.count()
    if not taken:
        return make(documents), 0
    same = chunks.join(known, "document_id", "left_semi").select(*chunks.columns)
    fresh = documents.join(known, "document_id", "left_anti")
    return _with_fresh(same, fresh, taken == total, make), taken


def treat_texts(
    chunks: DataFrame,
    before: DataFrame,
    results: DataFrame,
    make: Make,
    keep: Keep,
    total: int,
) -> tuple[DataFrame, int]:
    """Make what follows from the text of each chunk, but for texts that an earlier run treated.

    Parameters
    ----------
    chunks : pyspark.sql.DataFrame
        Table CHUNKS of today.
    before : pyspark.sql.DataFrame
        Table CHUNKS of the earlier run.
    results : pyspark.sql.DataFrame
        What the earlier run made of them: any rows with a ``chunk_id``, and with the
        ``document_id`` or without.
    make : callable
        Chunks (``chunk_id, document_id, text``) -> their rows of that table.
    keep : callable
        Persists a table that is used more than once.
    total : int
        Rows of the first table.

    Returns
    -------
    tuple of (pyspark.sql.DataFrame, int)
        The rows for today's chunks, and the chunks whose text is one of the earlier run's.
    """
    chunks = chunks.select("chunk_id", "document_id", "text")
    # a text that several chunks have: one of them stands for all
    earlier = before.groupBy(_digest("text")).agg(F.min("chunk_id").alias("_from"))
    known = keep(
        chunks.select("chunk_id", "document_id", _digest("text"))
        .join(earlier, "_unit")
        .select("chunk_id", "document_id", "_from")
    )
    taken = known.count()
    if not taken:
        return make(chunks), 0
    same = (
        results.drop("document_id")
        .withColumnRenamed("chunk_id", "_from")
        .join(known, "_from")
        .select(*results.columns)
    )
    fresh = chunks.join(known.select("chunk_id"), "chunk_id", "left_anti")
    return _with_fresh(same, fresh, taken == total, make), taken


def _with_fresh(same: DataFrame, fresh: DataFrame, all_known: bool, make: Make) -> DataFrame:
    """Add what is made; with nothing to make no worker need load a model."""
    return same if all_known else make(fresh).unionByName(same)
