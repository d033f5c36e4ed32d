"""Clues as Spark stages: what readers said told whose a text is, as mentions in its document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from nes_spark.entities.clues import clue_mentions, read_clue
from nes_spark.entities.mentions import Mention
from nes_spark.schemas import MENTIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_READ = "document_id string, chunk_id string, words array<string>, wide boolean"


def find_clues(chunks: DataFrame, mentions: DataFrame, listed: DataFrame) -> DataFrame:
    """Return the places of clues, as table MENTIONS.

    Parameters
    ----------
    chunks : pyspark.sql.DataFrame
        Table CHUNKS; needs ``chunk_id, document_id, text``.
    mentions : pyspark.sql.DataFrame
        Table MENTIONS of these chunks: nothing is found inside.
    listed : pyspark.sql.DataFrame
        ``chunk_id, clue``: what told whose the chunk is. It is treated in all chunks of its
        document, but for what is wide in none (:class:`~nes_spark.entities.clues.Clue`).
    """
    from pyspark.sql import functions as F

    texts = chunks.select("chunk_id", "document_id", "text")
    mine = listed.groupBy("chunk_id").agg(F.collect_set("clue").alias("clues"))
    read = texts.join(mine, "chunk_id").mapInPandas(_read, _READ)
    wide = read.where("wide").groupBy("document_id").agg(F.collect_set("words").alias("everywhere"))
    narrow = read.where("NOT wide").groupBy("chunk_id").agg(F.collect_set("words").alias("here"))
    found = mentions.groupBy("chunk_id").agg(
        F.collect_list(F.struct("start", "end")).alias("found")
    )
    return (
        texts.join(wide, "document_id", "left")
        .join(narrow, "chunk_id", "left")
        .where("everywhere IS NOT NULL OR here IS NOT NULL")
        .join(found, "chunk_id", "left")
        .select("chunk_id", "text", "everywhere", "here", "found")
        .mapInPandas(_found, MENTIONS.ddl)
    )


def _read(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for batch in batches:
        rows: list[tuple[Any, ...]] = []
        for chunk_id, document_id, text, clues in zip(
            *(batch[c] for c in ("chunk_id", "document_id", "text", "clues")), strict=True
        ):
            told = {clue for given in clues for clue in read_clue(given, text)}
            rows += [(document_id, chunk_id, [*clue.words], clue.wide) for clue in sorted(told)]
        yield pd.DataFrame(rows, columns=["document_id", "chunk_id", "words", "wide"])


def _found(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for batch in batches:
        rows: list[tuple[Any, ...]] = []
        for chunk_id, text, everywhere, here, found in batch.itertuples(index=False, name=None):
            clues = [words for some in (everywhere, here) if some is not None for words in some]
            known = [Mention(s["start"], s["end"], "", "") for s in _given(found)]
            rows += [
                (chunk_id, m.category, m.surface, m.entity, m.start, m.end)
                for m in clue_mentions(text, clues, known)
            ]
        yield pd.DataFrame(rows, columns=MENTIONS.names)


def _given(values: Any) -> Any:
    return () if values is None else values
