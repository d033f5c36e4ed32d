"""Recognition, linking and cells as Spark stages: DataFrame in, DataFrame out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pandas as pd
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from nes_spark.config import EntitiesConfig
from nes_spark.entities.cells import cell_of
from nes_spark.entities.distinctive import is_fragment
from nes_spark.entities.linking import (
    Located,
    bracketed_acronym,
    form_key,
    link_document,
    people_by_parts,
)
from nes_spark.entities.mentions import Mention
from nes_spark.entities.recognizers import load_recognizer
from nes_spark.schemas import CELLS, MENTIONS, RECOGNISED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Mentions as a recogniser sees them: what settling takes.
RAW_DDL, RAW_COLUMNS = RECOGNISED.ddl, RECOGNISED.names

#: Rows of mentions that leave a worker together.
_ROWS = 5000


def recognize(chunks: DataFrame, config: EntitiesConfig) -> DataFrame:
    """Find the named entities of chunks, make categories consistent and link mentions.

    Parameters
    ----------
    chunks : DataFrame
        Needs ``chunk_id``, ``document_id`` and ``text`` (after suppression).
    config : EntitiesConfig
        Recogniser, labels, allow and deny lists; ``corpus_consistency`` and ``linking`` switch the
        two steps after recognition.

    Returns
    -------
    DataFrame
        Table ``MENTIONS``. Mentions of a chunk never overlap; ``surface`` is ``text[start:end]``.

    Raises
    ------
    ConfigError
        Before any job starts, when the recogniser cannot be loaded.

    Notes
    -----
    Each worker loads the recogniser once and holds one batch of texts and at most some thousand
    mentions at a time; linking holds the mentions of one document. The result does not depend on
    how rows are spread over partitions.
    """
    return settle_mentions(find_mentions(chunks, config), config)


def find_mentions(chunks: DataFrame, config: EntitiesConfig) -> DataFrame:
    """Find the named entities of chunks, each as the recogniser sees it: the costly step.

    Parameters
    ----------
    chunks, config
        As for :func:`recognize`.

    Returns
    -------
    DataFrame
        Table ``RECOGNISED``: what :func:`settle_mentions` takes. A row depends on its chunk's text
        alone.

    Raises
    ------
    ConfigError
        Before any job starts, when the recogniser cannot be loaded.
    """
    load_recognizer(config.recognizer, config)
    settings = config.model_dump_json()

    def find(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        local = EntitiesConfig.model_validate_json(settings)
        yield from _find(batches, local)

    return chunks.select("chunk_id", "document_id", "text").mapInPandas(find, schema=RAW_DDL)


def settle_mentions(raw: DataFrame, config: EntitiesConfig) -> DataFrame:
    """Make categories consistent over the corpus and link mentions, as far as configured.

    Parameters
    ----------
    raw : DataFrame
        From :func:`find_mentions`.
    config : EntitiesConfig
        ``corpus_consistency``, ``consistent_categories`` and ``linking``.

    Returns
    -------
    DataFrame
        Table ``MENTIONS``.
    """
    if config.corpus_consistency:
        raw = _consistent(raw, config)
    if not config.linking:
        name = F.regexp_replace(F.trim("surface"), r"\s+", " ")
        return raw.withColumn("entity", name).select(*MENTIONS.names)

    def link(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for documents in whole_documents(batches):
            yield _link(documents)

    # sorted batches instead of a group a document: most documents have few mentions
    ordered = raw.repartition("document_id").sortWithinPartitions("document_id")
    return ordered.mapInPandas(link, schema=MENTIONS.ddl)


def _find(batches: Iterable[pd.DataFrame], config: EntitiesConfig) -> Iterator[pd.DataFrame]:
    recognizer = load_recognizer(config.recognizer, config)
    for batch in batches:
        rows: list[tuple[Any, ...]] = []
        texts = batch["text"].tolist()
        found = recognizer.stream(texts)
        for document_id, chunk_id, text, mentions in zip(
            batch["document_id"], batch["chunk_id"], texts, found, strict=True
        ):
            rows.extend(
                (
                    document_id,
                    chunk_id,
                    m.category,
                    m.surface,
                    m.start,
                    m.end,
                    form_key(m.surface, m.category),
                    bracketed_acronym(text, m.end),
                )
                for m in mentions
                # "East", "St.": a piece of a place's name exchanged alone breaks the rest of it
                if m.category != "Location" or not is_fragment(m.surface)
            )
            if len(rows) >= _ROWS:
                yield pd.DataFrame(rows, columns=RAW_COLUMNS)
                rows = []
        if rows:
            yield pd.DataFrame(rows, columns=RAW_COLUMNS)


def _consistent(raw: DataFrame, config: EntitiesConfig) -> DataFrame:
    """Give a form the category that most of its mentions in the corpus have.

    Only categories of ``config.consistent_categories`` vote and only they change: among
    organisations and people the vote repairs more than it breaks; places are better judged where
    they stand, and products would be turned into organisations of the same name.
    """
    voting = [c for c in config.consistent_categories if c in config.categories]
    if len(voting) < 2:
        return raw
    # forms outside the vote get a group of their own, so that no group grows with the corpus
    group = F.when(F.col("category").isin(voting), F.col("form")).otherwise(
        F.concat(F.lit("\x00"), F.col("chunk_id"))
    )
    counted = raw.withColumn("_group", group).withColumn(
        "_count", F.count(F.lit(1)).over(Window.partitionBy("_group", "category"))
    )
    top = Window.partitionBy("_group").orderBy(F.desc("_count"), F.asc("category"))
    decided = counted.withColumn("_top", F.first("category").over(top))
    return decided.withColumn(
        "category",
        F.when(F.col("category").isin(voting), F.col("_top")).otherwise(F.col("category")),
    ).drop("_group", "_count", "_top")


def whole_documents(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Rows that come document by document, cut so that no document is in two frames."""
    held: list[pd.DataFrame] = []
    for batch in batches:
        if not len(batch):
            continue
        last = batch["document_id"].iloc[-1]
        begun = (batch["document_id"] == last).to_numpy()
        if not begun.all() or (held and held[-1]["document_id"].iloc[-1] != last):
            yield pd.concat([*held, batch[~begun]])
            held = []
        held.append(batch[begun])
    if held:
        yield pd.concat(held)


def _link(mentions: pd.DataFrame) -> pd.DataFrame:
    """Name the entity of each mention; the rows of a document are together."""
    located = [
        Located(chunk_id, Mention(int(start), int(end), category, surface), acronym)
        for chunk_id, start, end, category, surface, acronym in zip(
            *(
                mentions[name].tolist()
                for name in ("chunk_id", "start", "end", "category", "surface", "acronym")
            ),
            strict=True,
        )
    ]
    entities: list[str] = []
    categories: list[str] = []
    rows_of = groupby(zip(mentions["document_id"].tolist(), located, strict=True), itemgetter(0))
    for _, rows in rows_of:
        document = [mention for _, mention in rows]
        settled = people_by_parts(document)
        categories += [m.category for m in settled]
        entities += link_document(
            [replace(where, mention=m) for where, m in zip(document, settled, strict=True)]
        )
    linked = mentions.assign(category=categories, entity=entities)
    order = ["document_id", "chunk_id", "start"]
    return linked.sort_values(order, kind="stable")[MENTIONS.names]


def build_cells(chunks: DataFrame, mentions: DataFrame, config: EntitiesConfig) -> DataFrame:
    """Build the contingency table's cell of every chunk (paper, section 3.1.4).

    Parameters
    ----------
    chunks : DataFrame
        Table ``CHUNKS``; every row gets a cell, also one without any entity.
    mentions : DataFrame
        Table ``MENTIONS``.
    config : EntitiesConfig
        Categories and recoding.

    Returns
    -------
    DataFrame
        Table ``CELLS``. ``entities`` holds the canonical entities as they are; recoding merges them
        in ``cell`` only: it coarsens the table that risk is estimated on, not what is written into
        texts.
    """
    settings = config.model_dump_json()
    found = mentions.groupBy("chunk_id").agg(
        F.sort_array(F.collect_set(F.struct("category", "entity"))).alias("found")
    )
    joined = chunks.select("chunk_id", "document_id", "metadata").join(found, "chunk_id", "left")

    def fill(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        local = EntitiesConfig.model_validate_json(settings)
        for batch in batches:
            yield _cells(batch, local)

    return joined.mapInPandas(fill, schema=CELLS.ddl)


def _cells(batch: pd.DataFrame, config: EntitiesConfig) -> pd.DataFrame:
    rows = []
    for chunk_id, document_id, metadata, found in zip(
        *(batch[name].tolist() for name in ("chunk_id", "document_id", "metadata", "found")),
        strict=True,
    ):
        entities: dict[str, list[str]] = {category: [] for category in config.categories}
        for pair in found if found is not None else ():
            entities.setdefault(pair["category"], []).append(pair["entity"])
        entities = {category: sorted(set(names)) for category, names in entities.items()}
        cell = cell_of(entities, config.categories, config.recoding)
        rows.append((chunk_id, document_id, metadata, entities, cell))
    return pd.DataFrame(rows, columns=CELLS.names)


__all__ = ["build_cells", "find_mentions", "recognize", "settle_mentions", "whole_documents"]
