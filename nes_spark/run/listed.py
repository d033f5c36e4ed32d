"""The list of chunks to leave out of a release, and that of chunks which a model named."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from nes_spark.errors import InputError
from nes_spark.logs import LOGGER
from nes_spark.run.beside import read_beside
from nes_spark.run.context import Context, finished

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Chunks that a language model named, below the run folder: which they are tells something of them.
NAMED = ("sealed", "named.csv")


def withheld_chunks(context: Context) -> DataFrame | None:
    """Return the chunks that ``output.withhold`` lists, None without one.

    Returns
    -------
    pyspark.sql.DataFrame or None
        Column ``chunk_id``, of chunks of this run, each once.

    Raises
    ------
    InputError
        When the list cannot be read, names no chunk of this run, or is one for other texts.
    """
    from pyspark.sql import functions as F

    path = context.config.output.withhold
    if path is None:
        return None
    given = read_beside(context.spark, "output.withhold", path, ["chunk_id"])
    digest = F.col("digest") if "digest" in given.columns else F.lit(None)
    listed = (
        given.select(F.col("chunk_id").cast("string"), digest.cast("string").alias("_told"))
        .where("chunk_id IS NOT NULL")
        .distinct()
    )
    known = context.table("chunks").select("chunk_id", F.sha2("text", 256).alias("_digest"))
    found = listed.join(known, "chunk_id", "left")

    def times(condition: str) -> F.Column:
        return F.coalesce(F.sum(F.expr(f"CAST({condition} AS int)")), F.lit(0))

    (row,) = found.agg(
        F.count(F.lit(1)).alias("all"),
        times("_digest IS NULL").alias("unknown"),
        times("_told IS NOT NULL AND _digest <> lower(_told)").alias("others"),
    ).collect()
    if row["others"]:
        raise InputError(
            f"output.withhold: {path} is a list for other texts: {row['others']:,} of its digests "
            "are not those of this run's chunks; ask the models again (nes-spark audit)"
        )
    unknown, here = row["unknown"], row["all"] - row["unknown"]
    if unknown and not here:
        raise InputError(f"output.withhold: {path} lists no chunk of this run")
    if here == finished(context.store, "chunks").rows:
        raise InputError(f"output.withhold: {path} lists all chunks: nothing is left to publish")
    if unknown:
        LOGGER.warning("output.withhold: %d of the chunks listed are not in this run", unknown)
    return found.where("_digest IS NOT NULL").select("chunk_id").distinct()


def list_named(context: Context) -> tuple[int, int]:
    """List the released chunks whose source a language model named, with those withheld before.

    Returns
    -------
    int, int
        Chunks named of those asked about. Without one, no list is written.
    """
    from pyspark.sql import functions as F

    told = context.table("language_predictions").where("side = 'post' AND draw = 0")
    asked = told.select("chunk_id").distinct().count()
    named = told.where("correct").select("chunk_id").distinct()
    count = named.count()
    if not count:
        return 0, asked
    before = withheld_chunks(context)
    if before is not None:
        named = named.union(before).distinct()
    rows = (
        context.table("chunks")
        .join(named, "chunk_id")
        .select("chunk_id", F.sha2("text", 256).alias("digest"))
        .collect()
    )
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(["chunk_id", "digest"])
    writer.writerows(sorted((row["chunk_id"], row["digest"]) for row in rows))
    context.store.write_bytes(written.getvalue().encode(), *NAMED, mode=0o600)
    return count, asked
