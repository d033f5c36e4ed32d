"""Spark: put the chosen release together, and write it in parallel, byte for byte reproducibly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import pandas as pd  # at run time: Spark reads the type hints of a pandas_udf
import pyarrow as pa

from nes_spark.releases.publishing import part_of, pseudonym, write_part
from nes_spark.schemas import EDITS
from nes_spark.swapping.ledger import Block, block_of
from nes_spark.swapping.rewriting import DROP, SUMMARY, WHOLE_TEXT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Rows of the ledger that a task sorts, and that are one value of its result.
_IN_A_PART, _AT_A_TIME = 20_000, 5_000


def _udf(function: Callable[..., pd.Series], kind: str) -> Any:
    from pyspark.sql import functions as F

    make: Any = F.pandas_udf  # its overloads cannot tell a function of Series from the others
    return make(function, kind)


def chosen_rewrites(
    rewrites: DataFrame,
    setting: str,
    combination: str,
    n_swaps: int | None = None,
    draw: int | None = None,
    *,
    draws: int | None = None,
) -> DataFrame:
    """Return the rows of ``rewrites`` that make up a release: the last text of each swapped chunk.

    Parameters
    ----------
    rewrites : pyspark.sql.DataFrame
        Table REWRITES.
    setting, combination : str
        The release.
    n_swaps : int, optional
        Swaps of the release; all when not given.
    draw : int, optional
        The draw; each of them by itself when not given.
    draws : int, optional
        Only draws below this number.

    Returns
    -------
    pyspark.sql.DataFrame
        One row a draw and chunk. Of several swaps of a chunk the last one has all edits.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.window import Window

    mine = rewrites.where((F.col("setting") == setting) & (F.col("combination") == combination))
    if n_swaps is not None:
        mine = mine.where(F.col("order") <= n_swaps)
    if draw is not None:
        mine = mine.where(F.col("draw") == draw)
    if draws is not None:
        mine = mine.where(F.col("draw") < draws)
    last = Window.partitionBy("draw", "chunk_id").orderBy(F.col("order").desc())
    return mine.withColumn("_rank", F.row_number().over(last)).where("_rank = 1").drop("_rank")


def assemble(
    chunks: DataFrame,
    documents: DataFrame,
    changed: DataFrame,
    rewritten: DataFrame,
    secret: bytes,
    alone: bool = False,
) -> DataFrame:
    """Return every chunk with the text it has in the release.

    Parameters
    ----------
    chunks, documents : pyspark.sql.DataFrame
        Tables of the run.
    changed : pyspark.sql.DataFrame
        ``chunk_id``, ``text``, ``edits``: chunks after their must-change categories were replaced;
        those that ``rewritten`` has may be absent.
    rewritten : pyspark.sql.DataFrame
        Rows of ``rewrites`` that the release is made of, one a chunk at most.
    secret : bytes
        Names the documents.
    alone : bool, optional
        Release each chunk by itself: ``release_document_id`` is a name of its own, ``position`` is
        null.

    Returns
    -------
    pyspark.sql.DataFrame
        ``chunk_id, document_id, release_document_id, period, position, gap, text, edits,
        partner_id``
        (null where not swapped). Reading it fails where neither table has a chunk's text.
    """
    from pyspark.sql import functions as F

    kind = "chunk" if alone else "document"

    def named(ids: pd.Series) -> pd.Series:
        return ids.map(lambda value: pseudonym(secret, value, kind))

    names = documents.select("document_id", "period")
    if alone:
        chunks = chunks.withColumn("position", F.lit(None).cast("int"))
    # The two tables hold all chunks between them; text that is in neither is never released empty.
    nothing = F.raise_error(F.concat(F.lit("no released text for chunk "), "chunk_id"))
    swapped = rewritten.select(
        "chunk_id",
        F.col("text").alias("_swapped"),
        F.col("edits").alias("_swap_edits"),
        "partner_id",
    )
    return (
        chunks.select("chunk_id", "document_id", "position", "gap")
        .join(names, "document_id")
        .withColumn("release_document_id", _udf(named, "string")(F.col(f"{kind}_id")))
        .join(changed.select("chunk_id", "text", "edits"), "chunk_id", "left")
        .join(swapped, "chunk_id", "left")
        .select(
            "chunk_id",
            "document_id",
            "release_document_id",
            "period",
            "position",
            "gap",
            F.coalesce("_swapped", "text", nothing).alias("text"),
            F.when(F.col("_swapped").isNotNull(), F.col("_swap_edits"))
            .otherwise(F.col("edits"))
            .cast(EDITS)
            .alias("edits"),
            "partner_id",
        )
    )


def withhold(assembled: DataFrame, chunks: DataFrame, listed: DataFrame) -> DataFrame:
    """Leave chunks out of a release, or publish a summary, whatever was exchanged in them.

    Parameters
    ----------
    assembled : pyspark.sql.DataFrame
        Result of :func:`assemble`.
    chunks : pyspark.sql.DataFrame
        Table of the run.
    listed : pyspark.sql.DataFrame
        Table WITHHELD: ``chunk_id``, each once, and ``summary``, null for none.

    Returns
    -------
    pyspark.sql.DataFrame
        As `assembled`; a listed chunk has no text or its summary, and the one edit that treatment
        ``drop`` or ``summary`` makes. One that had no text has none.
    """
    from pyspark.sql import functions as F

    before, summary = F.col("_before"), F.coalesce("_summary", F.lit(""))
    instead = F.array(
        F.struct(
            F.lit(0).alias("start"),
            F.length(before).alias("end"),
            before.alias("old"),
            summary.alias("new"),
            F.when(summary == "", DROP).otherwise(SUMMARY).alias("category"),
            F.lit("").alias("old_entity"),
            F.lit("").alias("new_entity"),
        )
    ).cast(EDITS)
    taken = chunks.select("chunk_id", F.col("text").alias("_before")).join(
        listed.select("chunk_id", F.col("summary").alias("_summary")), "chunk_id"
    )
    gone = before.isNotNull() & (F.col("text") != "")
    return (
        assembled.join(taken, "chunk_id", "left")
        .withColumns(
            {
                "text": F.when(gone, summary).otherwise(F.col("text")),
                "edits": F.when(gone, instead).otherwise(F.col("edits")),
            }
        )
        .drop("_before", "_summary")
    )


def write_release(
    assembled: DataFrame, parts: int, uri: str, alone: bool = False
) -> list[dict[str, Any]]:
    """Write the files of a release from the executors.

    Parameters
    ----------
    assembled : pyspark.sql.DataFrame
        Result of :func:`assemble`. A chunk without text is not published.
    parts : int
        Number of parts (:func:`~nes_spark.releases.publishing.count_parts`).
    uri : str
        Folder, local or remote, that every executor can write to.
    alone : bool, optional
        As for :func:`assemble`.

    Returns
    -------
    list of dict
        ``file``, ``rows``, ``sha256``, by name.
    """
    from pyspark.sql import functions as F

    def part(ids: pd.Series) -> pd.Series:
        return ids.map(lambda value: part_of(value, parts))

    def write(rows: pd.DataFrame) -> pd.DataFrame:
        from pyarrow import fs as pafs

        filesystem, folder = pafs.FileSystem.from_uri(uri)
        number = int(rows["part"].iloc[0])
        return pd.DataFrame(write_part(rows, number, parts, filesystem, folder, alone))

    written = (
        assembled.where("text <> ''")
        .select("release_document_id", "period", "position", "text", "gap")
        .withColumn("part", _udf(part, "int")(F.col("release_document_id")))
        .groupBy("part")
        .applyInPandas(write, "file string, rows bigint, sha256 string")
        .collect()
    )
    return sorted((row.asDict() for row in written), key=lambda row: row["file"])


def ledger_blocks(
    assembled: DataFrame, chunks: DataFrame, keep_originals: bool = False
) -> Iterator[Block]:
    """Stream what the ledger must remember: names of all chunks, edits of the changed ones.

    The executors write the rows out and sort them by ``chunk_id``; the driver, which alone has the
    key, gets them block by block. The digest of the text before lets an inversion prove that it
    restored the right one. A chunk that was dropped or summarised has ``whole`` (which of the two);
    unless `keep_originals` its text is not in the ledger, and does not come back.
    """
    from pyspark import StorageLevel
    from pyspark.sql import functions as F

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = (row for batch in batches for row in batch.to_pylist())
        while some := list(islice(rows, _AT_A_TIME)):
            for row in some:
                whole = [e["category"] for e in row["edits"] if e["category"] in WHOLE_TEXT]
                if whole:
                    row["whole"] = whole[0]
                    row["edits"] = row["edits"] if keep_originals else None
            n, lines = block_of(some)
            yield pa.RecordBatch.from_pydict({"n": [n], "lines": [lines]}, schema=schema)

    schema = pa.schema([("n", pa.int64()), ("lines", pa.binary())])
    digests = chunks.select("chunk_id", F.sha2("text", 256).alias("digest"))
    rows = assembled.select(
        "chunk_id", "document_id", "release_document_id", "position", "partner_id", "edits"
    ).join(digests, "chunk_id")
    # A partition at a time is in memory, and Spark would merge those of a sort into few large ones.
    parts = -(-chunks.count() // _IN_A_PART) or 1
    ordered = rows.repartitionByRange(parts, "chunk_id").sortWithinPartitions("chunk_id")
    blocks = ordered.mapInArrow(write, "n bigint, lines binary")
    if parts > 1:
        blocks = blocks.persist(StorageLevel.DISK_ONLY)
    try:
        if parts > 1:
            blocks.count()  # all executors at once; the loop below asks one after the other
        for row in blocks.toLocalIterator(prefetchPartitions=True):
            yield Block(row["n"], bytes(row["lines"]))
    finally:
        blocks.unpersist()
