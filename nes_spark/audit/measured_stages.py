"""Spark: measured risk of corpora that do not fit a driver.

Of chunks with names and of documents a sample is asked about, drawn by keyed hash; candidates are
compared completely. The attackers are those whose stages hold no table of the corpus anywhere:
``linkage`` and ``linkage-all`` (the same guesses as in memory), ``words`` and ``style`` (single
words, see :mod:`nes_spark.audit.text`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nes_spark.audit.adversaries import LINKAGE, SELF, STYLE, WORDS
from nes_spark.audit.mapping_stages import hold
from nes_spark.audit.measured import (
    AFTER,
    BEFORE,
    CHUNKS_KNOWN,
    CHUNKS_LEFT_OUT,
    DOCUMENTS,
    LINKAGE_ALL,
)
from nes_spark.audit.sampled_stages import keyed, sample_of
from nes_spark.audit.stages import add_features, link_sightings, linkage_attack, unchanged
from nes_spark.audit.text_stages import KnownWords, text_attack
from nes_spark.config import AuditConfig

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_SEPARATOR = "\n\n"


def halves(chunks: DataFrame, key: bytes) -> DataFrame:
    """Return ``chunk_id, held, asked``: which chunks the half-known attack knows and asks about.

    As :func:`nes_spark.audit.documents.asked_half` splits each document.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    document = Window.partitionBy("document_id")
    ranked = (
        chunks.select("chunk_id", "document_id")
        .withColumn("_lot", keyed(F.col("chunk_id"), key))
        .withColumn("_n", F.count(F.lit(1)).over(document))
        .withColumn("_rank", F.row_number().over(document.orderBy("_lot", "chunk_id")))
    )
    held = F.col("_rank") <= F.ceil(F.col("_n") / 2)
    return ranked.select(
        "chunk_id", held.alias("held"), (~held | (F.col("_n") == 1)).alias("asked")
    )


def measure_sample(
    chunks: DataFrame,
    mentions: DataFrame,
    cells: DataFrame,
    assembled: DataFrame,
    config: AuditConfig,
    key: bytes,
    *,
    exchanged: Collection[str],
    others: bool = True,
    hidden: Sequence[str] = (),
    max_documents: int = 1000,
    until: ExitStack | None = None,
    words: KnownWords | None = None,
) -> DataFrame:
    """Let the attackers guess about samples of documents and of chunks with names.

    Parameters
    ----------
    chunks, mentions, cells : pyspark.sql.DataFrame
        Tables CHUNKS, MENTIONS and CELLS.
    assembled : pyspark.sql.DataFrame
        ``chunk_id, text, edits`` of every chunk as released.
    config : AuditConfig
        ``max_chunks`` and what the adversaries use.
    key : bytes
        Secret of the sample and of the half that is known.
    exchanged : collection of str
        Categories that the release changes: see :class:`nes_spark.audit.measured.Measurement`.
    others : bool
        Whether there are names of other categories; without them nobody looks at those
        (``linkage-all``).
    hidden : sequence of str
        Categories that it replaces by placeholders.
    max_documents : int
        Documents asked about.
    until : contextlib.ExitStack, optional
        Frees the disk that intermediate tables take.
    words : KnownWords, optional
        The words of `chunks` where another attack counts them too.

    Returns
    -------
    pyspark.sql.DataFrame
        ``unit, attacker, side, id, document_id, rank``: at most some ten rows a sampled id.
    """
    from pyspark.sql import functions as F

    def only(frame: DataFrame, names: Collection[str]) -> DataFrame:
        kept = F.map_filter("entities", lambda name, _: name.isin(sorted(names)))
        return frame.withColumn("entities", kept)

    some = only(cells, exchanged)
    linkages = [(LINKAGE, some), (LINKAGE_ALL, cells)][: 1 + others]
    count = F.aggregate(
        F.map_values("entities"), F.lit(0), lambda total, names: total + F.size(names)
    )
    targets = sample_of(some.where(count > 0), "chunk_id", config.max_chunks, key)
    released = hold(
        assembled.select("chunk_id", "text", "edits").join(targets, "chunk_id"), until
    ).withColumn("draw", F.lit(0))

    guesses = [
        _chunks(linkage_attack(known, released, config, hidden, until=until), LINKAGE, name)
        for name, known in linkages
    ]
    words = words or KnownWords(chunks, mentions, config, until)
    read = hold(text_attack(chunks, mentions, released, words.learned, until), until)
    guesses += [_chunks(read, name, name) for name in (WORDS, STYLE)]

    split = hold(halves(chunks, key), until)
    documents = hold(sample_of(chunks, "document_id", max_documents, key), until)
    asked = hold(
        chunks.select("chunk_id", "document_id", "metadata", "text")
        .join(documents, "document_id")
        .join(split.where("asked").select("chunk_id"), "chunk_id"),
        until,
    )
    held = split.where("held").select("chunk_id")
    after = assembled.select("chunk_id", F.col("text").alias("after"), "edits")
    for name, known in linkages:
        seen = _seen(asked, known, after, config, hidden)
        found = link_sightings(seen, known.join(held, "chunk_id"), False, config, until)
        guesses.append(_documents(found.where(F.col("model") == LINKAGE), name))
    whole, spans, rewritten = _joined(asked, mentions, after)
    read = hold(text_attack(whole, spans, rewritten, words.of(held, until), until), until)
    guesses += [_documents(read.where(F.col("model") == name), name) for name in (WORDS, STYLE)]
    table = guesses[0]
    for more in guesses[1:]:
        table = table.unionByName(more)
    return table


def _named(guesses: DataFrame, unit: Any, attacker: str, ident: str) -> DataFrame:
    from pyspark.sql import functions as F

    return guesses.select(
        unit.alias("unit"),
        F.lit(attacker).alias("attacker"),
        F.when(F.col("side") == "pre", BEFORE).otherwise(AFTER).alias("side"),
        F.col(ident).alias("id"),
        "document_id",
        "rank",
    )


def _chunks(guesses: DataFrame, model: str, attacker: str) -> DataFrame:
    """Guesses of one adversary about chunks, left out and, where it tried, known."""
    from pyspark.sql import functions as F

    mine = guesses.where(F.col("model").isin(model, model + SELF))
    unit = F.when(F.col("model") == model, CHUNKS_LEFT_OUT).otherwise(CHUNKS_KNOWN)
    return _named(mine, unit, attacker, "chunk_id")


def _documents(guesses: DataFrame, attacker: str) -> DataFrame:
    from pyspark.sql import functions as F

    return _named(guesses, F.lit(DOCUMENTS), attacker, "document_id")


def _seen(
    asked: DataFrame,
    cells: DataFrame,
    after: DataFrame,
    config: AuditConfig,
    hidden: Sequence[str],
) -> DataFrame:
    """Features of the asked half of each document, before and after, as targets of linkage."""
    from pyspark.sql import functions as F

    columns = [(name, pa.string()) for name in ("document_id", "metadata")]
    pairs = config.pair_weight > 0
    mine = cells.join(asked.select("chunk_id"), "chunk_id")
    shown = mine.drop("edits").join(after.select("chunk_id", "edits"), "chunk_id")
    sides = []
    for side, frame, unseen in (("pre", unchanged(mine), ()), ("post", shown, tuple(hidden))):
        features = F.array_sort(F.array_distinct(F.flatten(F.collect_list("features"))))
        sides.append(
            add_features(frame, columns, unseen, pairs)
            .groupBy("document_id", "metadata")
            .agg(features.alias("features"))
            .select(
                F.concat(F.lit(f"{side}:"), "document_id").alias("target_id"),
                F.col("document_id").alias("chunk_id"),
                "document_id",
                "metadata",
                F.lit(side).alias("side"),
                "features",
                F.transform("features", lambda _: F.lit(False)).alias("own"),
                F.array(F.lit(0)).alias("uses"),
            )
        )
    return sides[0].unionByName(sides[1])


def _joined(
    asked: DataFrame, mentions: DataFrame, after: DataFrame
) -> tuple[DataFrame, DataFrame, DataFrame]:
    """Return the asked halves as single texts: with their mentions before, and after."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    order = Window.partitionBy("document_id").orderBy("chunk_id")
    earlier = order.rowsBetween(Window.unboundedPreceding, -1)
    length = F.length("text") + len(_SEPARATOR)
    placed = asked.withColumn("_at", F.coalesce(F.sum(length).over(earlier), F.lit(0)))

    def joined(column: str) -> Column:
        parts = F.array_sort(F.collect_list(F.struct("chunk_id", F.col(column).alias("part"))))
        return F.array_join(F.transform(parts, lambda p: p["part"]), _SEPARATOR)

    whole = (
        asked.join(after, "chunk_id")
        .groupBy("document_id", "metadata")
        .agg(joined("text").alias("text"), joined("after").alias("after"))
        .withColumn("chunk_id", F.col("document_id"))
        .withColumn("position", F.lit(0))
    )
    spans = mentions.join(placed.select("chunk_id", "document_id", "_at"), "chunk_id").select(
        F.col("document_id").alias("chunk_id"),
        (F.col("start") + F.col("_at")).cast("int").alias("start"),
        (F.col("end") + F.col("_at")).cast("int").alias("end"),
    )
    rewritten = whole.select(F.lit(0).alias("draw"), "chunk_id", F.col("after").alias("text"))
    return whole.drop("after"), spans, rewritten


def connected(
    swaps: DataFrame, chunks: DataFrame, documents: DataFrame
) -> Iterator[tuple[str, str]]:
    """Yield the pairs of given documents that swaps connect, each once.

    Parameters
    ----------
    swaps : pyspark.sql.DataFrame
        ``chunk_a, chunk_b``.
    chunks : pyspark.sql.DataFrame
        ``chunk_id, document_id``.
    documents : pyspark.sql.DataFrame
        ``document_id``.
    """
    from pyspark.sql import functions as F

    owner = chunks.select("chunk_id", "document_id").join(F.broadcast(documents), "document_id")
    ends = swaps.select("chunk_a", "chunk_b")
    for side in ("a", "b"):
        mine = owner.select(
            F.col("chunk_id").alias(f"chunk_{side}"), F.col("document_id").alias(f"_{side}")
        )
        ends = ends.join(mine, f"chunk_{side}")
    first, second = F.least("_a", "_b"), F.greatest("_a", "_b")
    for row in ends.select(first.alias("a"), second.alias("b")).distinct().collect():
        yield row["a"], row["b"]
