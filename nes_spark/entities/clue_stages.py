"""Clues as Spark stages: what readers said told whose a text is, as mentions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from nes_spark.entities.clues import clue_mentions, read_clue
from nes_spark.entities.mentions import Mention
from nes_spark.entities.terms import TERM
from nes_spark.schemas import MENTIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_READ = "metadata string, chunk_id string, words array<string>, wide boolean"


def add_clues(
    chunks: DataFrame,
    mentions: DataFrame,
    listed: DataFrame,
    keep: Callable[[DataFrame], DataFrame] = lambda frame: frame,
) -> DataFrame:
    """Add the places of clues to all other mentions.

    Parameters
    ----------
    chunks : pyspark.sql.DataFrame
        Table CHUNKS; needs ``chunk_id, metadata, text``.
    mentions : pyspark.sql.DataFrame
        Table MENTIONS of these chunks, terms among them; read more than once. What is in it stays,
        but for terms that a clue touches (:func:`~nes_spark.entities.clues.clue_mentions`).
    listed : pyspark.sql.DataFrame
        ``chunk_id, metadata, clue``: what told whose the chunk is. It is looked for in all chunks
        of the same metadata, or in its own alone (:class:`~nes_spark.entities.clues.Clue`); one
        without ``chunk_id`` in all of its metadata.
    keep : callable, optional
        Persists a table that is read more than once.

    Returns
    -------
    pyspark.sql.DataFrame
        Table MENTIONS.
    """
    from pyspark.sql import functions as F

    texts = chunks.select("chunk_id", "metadata", "text")
    mine = (
        listed.where("chunk_id IS NOT NULL")
        .groupBy("chunk_id")
        .agg(F.collect_set("clue").alias("clues"))
    )
    elsewhere = listed.where("chunk_id IS NULL").select(
        F.lit(None).cast("string").alias("chunk_id"),
        "metadata",
        F.col("clue").alias("text"),
        F.array("clue").alias("clues"),
    )
    told_of = texts.join(mine, "chunk_id").unionByName(elsewhere)
    read = keep(told_of.mapInPandas(_read, _READ))
    wide = read.where("wide").groupBy("metadata").agg(F.collect_set("words").alias("everywhere"))
    narrow = (
        read.where("NOT wide AND chunk_id IS NOT NULL")
        .groupBy("chunk_id")
        .agg(F.collect_set("words").alias("here"))
    )
    told = (
        texts.join(wide, "metadata", "left")
        .join(narrow, "chunk_id", "left")
        .where("everywhere IS NOT NULL OR here IS NOT NULL")
    )
    known = mentions.groupBy("chunk_id").agg(
        F.collect_list(F.struct("category", "surface", "entity", "start", "end")).alias("known")
    )
    found = (
        told.join(known, "chunk_id", "left")
        .select("chunk_id", "text", "everywhere", "here", "known")
        .mapInPandas(_found, MENTIONS.ddl)
    )
    untold = mentions.where(F.col("category") == TERM).join(
        told.select("chunk_id"), "chunk_id", "left_anti"
    )
    others = mentions.where(F.col("category") != TERM)
    return others.unionByName(untold.select(*others.columns)).unionByName(found)


def _read(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for batch in batches:
        rows: list[tuple[Any, ...]] = []
        for chunk_id, metadata, text, clues in zip(
            *(batch[c] for c in ("chunk_id", "metadata", "text", "clues")), strict=True
        ):
            told = {clue for given in clues for clue in read_clue(given, text)}
            rows += [(metadata, chunk_id, [*clue.words], clue.wide) for clue in sorted(told)]
        yield pd.DataFrame(rows, columns=["metadata", "chunk_id", "words", "wide"])


def _found(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Find the clues of chunks; mentions of these come out, with the terms that are left."""
    for batch in batches:
        rows: list[tuple[Any, ...]] = []
        for chunk_id, text, everywhere, here, known in batch.itertuples(index=False, name=None):
            clues = [words for some in (everywhere, here) if some is not None for words in some]
            held = [
                Mention(m["start"], m["end"], m["category"], m["surface"], m["entity"])
                for m in (() if known is None else known)
            ]
            mine = clue_mentions(text, clues, held)
            mine += [
                term
                for term in held
                if term.category == TERM and not any(c.start <= term.start < c.end for c in mine)
            ]
            rows += [(chunk_id, m.category, m.surface, m.entity, m.start, m.end) for m in mine]
        yield pd.DataFrame(rows, columns=MENTIONS.names)
