"""Categories that are no names, as Spark stages: quantities, and terms of a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from nes_spark.config import EntitiesConfig
from nes_spark.entities.further import FURTHER, quantities_outside
from nes_spark.entities.mentions import Mention
from nes_spark.entities.quantities import QUANTITY
from nes_spark.entities.terms import TERM, is_verbal, stem, term_places, terms_of
from nes_spark.schemas import MENTIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PLACES = (
    "`document_id` string, `metadata` string, `chunk_id` string, `start` int, `end` int, "
    "`surface` string, `entity` string, `stem` string, `verbal` int"
)
_PLACE_COLUMNS = [part.split("`")[1] for part in _PLACES.split(", ")]


def add_further(chunks: DataFrame, mentions: DataFrame, config: EntitiesConfig) -> DataFrame:
    """Add the mentions of Quantity and Term, where these are among the categories.

    Parameters
    ----------
    chunks : pyspark.sql.DataFrame
        Table CHUNKS; needs ``chunk_id, document_id, metadata, text``.
    mentions : pyspark.sql.DataFrame
        Table MENTIONS of these chunks; what is in it stays as it is, and nothing is found inside.
        Persist it: it is read more than once.
    config : EntitiesConfig
        ``categories`` and ``terms``.

    Returns
    -------
    pyspark.sql.DataFrame
        Table MENTIONS. A quantity's entity tells what it is like
        (:func:`~nes_spark.entities.quantities.quantity_mentions`), a term's is the word.
    """
    mentions = mentions.where(~mentions["category"].isin([*FURTHER]))
    if QUANTITY in config.categories:
        mentions = mentions.unionByName(find_quantities(chunks, mentions))
    if TERM in config.categories:
        mentions = mentions.unionByName(find_terms(chunks, mentions, config.terms))
    return mentions


def find_quantities(chunks: DataFrame, mentions: DataFrame) -> DataFrame:
    """Return the quantities outside mentions, as table MENTIONS."""

    def find(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            rows: list[tuple[Any, ...]] = []
            for chunk_id, text, spans in zip(
                batch["chunk_id"], batch["text"], batch["found"], strict=True
            ):
                rows += [
                    (chunk_id, m.category, m.surface, m.entity, m.start, m.end)
                    for m in quantities_outside(text, _spans(spans))
                ]
            yield pd.DataFrame(rows, columns=MENTIONS.names)

    return _with_mentions(chunks, mentions).mapInPandas(find, MENTIONS.ddl)


def find_terms(chunks: DataFrame, mentions: DataFrame, most: int) -> DataFrame:
    """Return the places of the terms of each document, as table MENTIONS.

    Parameters
    ----------
    chunks, mentions : pyspark.sql.DataFrame
        As for :func:`add_further`.
    most : int
        Terms of a document.

    Notes
    -----
    A worker holds the counts of one document; words are counted by Spark.
    """
    from pyspark.sql import functions as F

    def places(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            rows: list[tuple[Any, ...]] = []
            for document_id, metadata, chunk_id, text, spans in zip(
                *(batch[c] for c in ("document_id", "metadata", "chunk_id", "text", "found")),
                strict=True,
            ):
                rows += [
                    (
                        document_id,
                        metadata,
                        chunk_id,
                        start,
                        end,
                        text[start:end],
                        word,
                        stem(word),
                        int(is_verbal(text, start)),
                    )
                    for start, end, word in term_places(text, _spans(spans))
                ]
            yield pd.DataFrame(rows, columns=_PLACE_COLUMNS)

    found = _with_mentions(chunks, mentions).mapInPandas(places, _PLACES)
    total = chunks.agg(F.countDistinct("metadata").alias("total"))
    spread = found.groupBy("stem").agg(
        F.countDistinct("metadata").alias("documents"), F.avg("verbal").alias("verbal")
    )
    counts = (
        found.groupBy("document_id", "stem")
        .agg(F.count(F.lit(1)).alias("n"))
        .join(spread, "stem")
        .crossJoin(F.broadcast(total))
    )

    def choose(frame: pd.DataFrame) -> pd.DataFrame:
        words = frame["stem"].tolist()
        chosen = terms_of(
            dict(zip(words, frame["n"].tolist(), strict=True)),
            dict(zip(words, frame["documents"].tolist(), strict=True)),
            int(frame["total"].iloc[0]),
            most,
            dict(zip(words, frame["verbal"].tolist(), strict=True)),
        )
        return pd.DataFrame({"document_id": frame["document_id"].iloc[0], "stem": chosen})

    terms = counts.groupBy("document_id").applyInPandas(choose, "document_id string, stem string")
    return (
        found.join(terms, ["document_id", "stem"])
        .withColumn("category", F.lit(TERM))
        .select(*MENTIONS.names)
    )


def _with_mentions(chunks: DataFrame, mentions: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    found = mentions.groupBy("chunk_id").agg(
        F.collect_list(F.struct("start", "end")).alias("found")
    )
    return chunks.select("chunk_id", "document_id", "metadata", "text").join(
        found, "chunk_id", "left"
    )


def _spans(found: Any) -> list[Mention]:
    return [Mention(s["start"], s["end"], "", "") for s in (found if found is not None else ())]
