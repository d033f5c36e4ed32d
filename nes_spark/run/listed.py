"""Lists of chunks to leave out of a release: the one that is given, and those that are proposed.

Proposed are chunks that a language model named, and chunks in which an identifier is left.
"""

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
#: Chunks in which a direct identifier of their own document is left.
LEAKING = ("sealed", "leaking.csv")


def withheld_chunks(context: Context, warn: bool = False) -> DataFrame | None:
    """Return the chunks that ``output.withhold`` lists, None without one.

    Parameters
    ----------
    context : Context
    warn : bool, optional
        Whether to tell of chunks listed that are not in this run.

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
    if unknown and warn:
        LOGGER.warning("output.withhold: %d of the chunks listed are not in this run", unknown)
    return found.where("_digest IS NOT NULL").select("chunk_id").distinct()


def list_named(context: Context) -> tuple[int, int]:
    """List the released chunks whose source a language model named, with those withheld before.

    Returns
    -------
    int, int
        Chunks named of those asked about. Without one, no list is written.
    """
    told = context.table("language_predictions").where("side = 'post' AND draw = 0")
    asked = told.select("chunk_id").distinct().count()
    named = told.where("correct").select("chunk_id").distinct()
    count = named.count()
    if not count:
        return 0, asked
    _write(context, named, NAMED)
    return count, asked


def list_leaking(context: Context) -> int:
    """List the chunks in which the leak search found what no gate accepts, with those withheld.

    Parameters
    ----------
    context : Context
        With table ``leaks`` of this try.

    Returns
    -------
    int
        Chunks found; those withheld before are none of them. Without one, no list is written.
    """
    from pyspark.sql import functions as F

    accepted = context.config.gates.accept_identifiers
    is_open = ~(F.col("kind").isin(accepted) | F.col("rule").isin(accepted))
    leaking = context.table("leaks").where(is_open).select("chunk_id").distinct()
    count = leaking.count()
    if count:
        _write(context, leaking, LEAKING)
    return count


def _write(context: Context, listed: DataFrame, place: tuple[str, ...]) -> None:
    """Write chunks, and those that are withheld already, as ``output.withhold`` takes them."""
    from pyspark.sql import functions as F

    before = withheld_chunks(context)
    if before is not None:
        listed = listed.union(before).distinct()
    rows = (
        context.table("chunks")
        .join(listed, "chunk_id")
        .select("chunk_id", F.sha2("text", 256).alias("digest"))
        .collect()
    )
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(["chunk_id", "digest"])
    writer.writerows(sorted((row["chunk_id"], row["digest"]) for row in rows))
    context.store.write_bytes(written.getvalue().encode(), *place, mode=0o600)
