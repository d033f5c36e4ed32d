"""Given spans as a Spark stage: documents with spans and their chunks in, mentions out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd
from pyspark.sql import functions as F

from nes_spark.config import EntitiesConfig, IdentifiersConfig
from nes_spark.entities.linking import bracketed_acronym, form_key
from nes_spark.entities.stages import RAW_COLUMNS, RAW_DDL
from nes_spark.errors import NesError
from nes_spark.schemas import GIVEN_SPANS
from nes_spark.text.given import Placed, spans_in_chunks
from nes_spark.text.matching import Matcher
from nes_spark.text.numbering import number_matches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_COLUMNS = [*RAW_COLUMNS, "fate", "n"]


def given_mentions(
    documents: DataFrame, chunks: DataFrame, config: EntitiesConfig, identifiers: IdentifiersConfig
) -> DataFrame:
    """Carry the spans that came with the documents into their chunks.

    Parameters
    ----------
    documents, chunks : pyspark.sql.DataFrame
        Tables DOCUMENTS, with ``mentions``, and CHUNKS.
    config : EntitiesConfig
        ``labels`` leads labels to categories; a label that is the name of a category leads there.
    identifiers : IdentifiersConfig
        As the chunks were made with.

    Returns
    -------
    pyspark.sql.DataFrame
        For :func:`mentions_of` and :func:`given_spans`; cache it where both are used.

    Raises
    ------
    NesError
        In the job, when a document's chunks are not those that its text and identifiers give:
        then no offset can be relied on.
    """
    labels = {c: c for c in config.categories} | dict(config.labels)
    pieces = chunks.groupBy("document_id").agg(
        F.sort_array(
            F.collect_list(F.struct("position", "chunk_id", "start", "end", "text"))
        ).alias("chunks")
    )
    rows = documents.select("document_id", "text", "identifiers", "mentions").join(
        pieces, "document_id"
    )

    def carry(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            for values in batch.itertuples(index=False, name=None):
                row = dict(zip(batch.columns, values, strict=True))
                yield pd.DataFrame(_rows(row, labels, identifiers), columns=_COLUMNS).astype(
                    {"start": "Int32", "end": "Int32", "n": "Int32"}
                )

    return rows.mapInPandas(carry, f"{RAW_DDL}, `fate` string, `n` int")


def _rows(
    row: dict[str, Any], labels: dict[str, str], identifiers: IdentifiersConfig
) -> Iterator[tuple[Any, ...]]:
    document, text, chunks = row["document_id"], row["text"], list(row["chunks"])
    given = row["mentions"]
    placed = [
        Placed(*(m[name] for name in Placed._fields)) for m in ([] if given is None else given)
    ]
    if not placed:
        return
    matches = number_matches(Matcher.of(list(row["identifiers"]), identifiers).find(text))
    spans = [(int(c["start"]), int(c["end"])) for c in chunks]
    texts, mentions, fates = spans_in_chunks(placed, text, spans, matches, labels)
    if texts != [c["text"] for c in chunks]:
        raise NesError(
            "entities.recognizer: given spans cannot be carried into the chunks of a document, "
            "whose text and chunks do not agree; make the chunks anew"
        )
    for m in mentions:
        chunk = chunks[m.chunk]
        surface = chunk["text"][m.start : m.end]
        yield (
            document,
            chunk["chunk_id"],
            m.category,
            surface,
            m.start,
            m.end,
            form_key(surface, m.category),
            bracketed_acronym(chunk["text"], m.end),
            None,
            None,
        )
    for fate, n in sorted(fates.items()):
        yield (document, None, None, None, None, None, None, None, fate, n)


def mentions_of(given: DataFrame) -> DataFrame:
    """Return what :func:`nes_spark.entities.stages.settle_mentions` takes."""
    return given.where(F.col("fate").isNull()).select(*RAW_COLUMNS)


def given_spans(given: DataFrame) -> DataFrame:
    """Return table GIVEN_SPANS."""
    return given.where(F.col("fate").isNotNull()).select(*GIVEN_SPANS.names)
