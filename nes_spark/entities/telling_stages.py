"""Telling words as Spark stages: the words that set the texts of each secret apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import pandas as pd

from nes_spark.entities.mentions import Mention
from nes_spark.entities.telling import Said, count_words, telling_words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_COUNTS = Said._fields
_SAID = "metadata string, word string, " + ", ".join(f"{name} long" for name in _COUNTS)
_TOLD = "metadata string, words array<string>"


def find_telling(
    chunks: DataFrame,
    mentions: DataFrame,
    share: float,
    keep: Callable[[DataFrame], DataFrame] = lambda frame: frame,
) -> DataFrame:
    """Return the telling words of each secret (:func:`~nes_spark.entities.telling.telling_words`).

    Parameters
    ----------
    chunks : pyspark.sql.DataFrame
        Table CHUNKS; needs ``chunk_id, metadata, text``.
    mentions : pyspark.sql.DataFrame
        Table MENTIONS of these chunks, terms among them.
    share : float
        Of the words of each secret's texts.
    keep : callable, optional
        Persists a table that is read more than once.

    Returns
    -------
    pyspark.sql.DataFrame
        ``metadata, words``: one row a word, which is alone in its array, as
        :func:`~nes_spark.entities.clue_stages.add_clues` takes them.

    Notes
    -----
    A worker holds the words of one secret; words are counted by Spark.
    """
    from pyspark.sql import functions as F

    known = mentions.groupBy("chunk_id").agg(
        F.collect_list(F.struct("category", "start", "end")).alias("known")
    )
    counted = (
        chunks.select("chunk_id", "metadata", "text")
        .join(known, "chunk_id", "left")
        .select("metadata", "text", "known")
        .mapInPandas(_count, _SAID)
    )
    said = keep(
        counted.groupBy("metadata", "word").agg(*(F.sum(name).alias(name) for name in _COUNTS))
    )
    told = said.where("word IS NOT NULL AND places > 0")
    spread = told.groupBy("word").agg(F.count(F.lit(1)).alias("secrets"))
    total = chunks.agg(F.countDistinct("metadata").alias("total"))

    def choose(frame: pd.DataFrame) -> pd.DataFrame:
        metadata, total = frame["metadata"].iloc[0], int(frame["total"].iloc[0])
        of_word: dict[str | None, Said] = {}
        secrets: dict[str, int] = {}
        for word, having, *counts in frame[["word", "secrets", *_COUNTS]].itertuples(
            index=False, name=None
        ):
            said = Said(*map(int, counts))
            if not isinstance(word, str):
                of_word[None] = said
            elif said.places:
                secrets[word] = int(having)
                of_word[word] = said
        words = telling_words(of_word, secrets, total, share)
        return pd.DataFrame([(metadata, [word]) for word in words], columns=["metadata", "words"])

    return (
        said.join(spread, "word", "left")
        .crossJoin(F.broadcast(total))
        .groupBy("metadata")
        .applyInPandas(choose, _TOLD)
    )


def _count(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Count the words of texts, those of one secret in a batch together."""
    for batch in batches:
        sums: dict[tuple[str, str | None], Said] = {}
        for metadata, text, known in batch.itertuples(index=False, name=None):
            held = [
                Mention(m["start"], m["end"], m["category"], "")
                for m in (() if known is None else known)
            ]
            for word, said in count_words(text, held).items():
                sums[metadata, word] = sums.get((metadata, word), Said(0, 0)).plus(said)
        rows = [(*key, *mine) for key, mine in sums.items()]
        yield pd.DataFrame(rows, columns=["metadata", "word", *_COUNTS])
