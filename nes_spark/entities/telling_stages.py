"""Telling words as Spark stages: the words that set the texts of each secret apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pandas as pd

from nes_spark.entities.mentions import Mention
from nes_spark.entities.telling import Said, count_words, telling_words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_COUNTS = Said._fields
_SAID = "metadata string, word string, " + ", ".join(f"{name} long" for name in _COUNTS)
_TOLD = "metadata string, words array<string>"
_CHOSEN_OF = ["metadata", "word", "secrets", "total", *_COUNTS]
#: Words that leave a worker together, about.
_ROWS = 10_000


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
    A worker holds the counts of one secret's words, each once; they are added up by Spark.
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

    def choose(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        # not a frame a secret: there may be as many as documents
        rows = (row for b in batches for row in b[_CHOSEN_OF].itertuples(index=False, name=None))
        found: list[tuple[str, list[str]]] = []
        for metadata, mine in groupby(rows, itemgetter(0)):
            found += [(metadata, [word]) for word in _choose(mine, share)]
            if len(found) >= _ROWS:
                yield pd.DataFrame(found, columns=["metadata", "words"])
                found = []
        yield pd.DataFrame(found, columns=["metadata", "words"])

    return (
        said.join(spread, "word", "left")
        .crossJoin(F.broadcast(total))
        .repartition("metadata")
        .sortWithinPartitions("metadata")
        .mapInPandas(choose, _TOLD)
    )


def _choose(rows: Iterable[tuple[Any, ...]], share: float) -> list[str]:
    """Choose the words of one secret."""
    said: dict[str | None, Said] = {}
    secrets: dict[str, int] = {}
    total = 0
    for _, word, having, of_all, *counts in rows:
        total = of_all
        mine = Said(*counts)
        if not isinstance(word, str):
            said[None] = mine
        elif mine.places:
            secrets[word] = int(having)
            said[word] = mine
    return telling_words(said, secrets, total, share)


def _count(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Count the words of texts, those of one secret in a batch together."""
    for batch in batches:
        sums: defaultdict[str, dict[str | None, Said]] = defaultdict(dict)
        for metadata, text, known in batch.itertuples(index=False, name=None):
            held = [
                Mention(m["start"], m["end"], m["category"], "")
                for m in (() if known is None else known)
            ]
            mine = sums[metadata]
            for word, said in count_words(text, held).items():
                before = mine.get(word)
                mine[word] = said if before is None else before.plus(said)
        rows = [(metadata, word, *n) for metadata, mine in sums.items() for word, n in mine.items()]
        yield pd.DataFrame(rows, columns=["metadata", "word", *_COUNTS])
