"""Telling words as Spark stages: the words that set the texts of each secret apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import pandas as pd

from nes_spark.entities.mentions import Mention
from nes_spark.entities.telling import Said, count_words, telling_words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SAID = "metadata string, word string, places long, free long"
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
        counted.groupBy("metadata", "word").agg(
            F.sum("places").alias("places"), F.sum("free").alias("free")
        )
    )
    spread = said.where("word IS NOT NULL").groupBy("word").agg(F.count(F.lit(1)).alias("secrets"))
    total = chunks.agg(F.countDistinct("metadata").alias("total"))

    def choose(frame: pd.DataFrame) -> pd.DataFrame:
        metadata, total = frame["metadata"].iloc[0], int(frame["total"].iloc[0])
        of_word: dict[str | None, Said] = {}
        secrets: dict[str, int] = {}
        for word, places, free, having in frame[["word", "places", "free", "secrets"]].itertuples(
            index=False, name=None
        ):
            if isinstance(word, str):
                secrets[word] = int(having)
            of_word[word if isinstance(word, str) else None] = Said(int(places), int(free))
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
        sums: defaultdict[tuple[str, str | None], list[int]] = defaultdict(lambda: [0, 0])
        for metadata, text, known in batch.itertuples(index=False, name=None):
            held = [
                Mention(m["start"], m["end"], m["category"], "")
                for m in (() if known is None else known)
            ]
            for word, said in count_words(text, held).items():
                mine = sums[metadata, word]
                mine[0] += said.places
                mine[1] += said.free
        rows = [(*key, *mine) for key, mine in sums.items()]
        yield pd.DataFrame(rows, columns=["metadata", "word", "places", "free"])
