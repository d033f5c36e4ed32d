"""Clues as Spark stages: what readers said told whose a text is, as mentions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd

from nes_spark.entities.clues import (
    CLUE,
    FEW_NAMES,
    Clues,
    clue_pieces,
    clues_and_terms,
    is_plain_word,
    name_pieces,
    read_clues,
)
from nes_spark.entities.mentions import Mention
from nes_spark.entities.quantities import QUANTITY
from nes_spark.entities.terms import TERM
from nes_spark.schemas import MENTIONS, OWN_NAMES, fields_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_READ = (
    "metadata string, chunk_id string, clue string, words array<string>, wide boolean, "
    "whole boolean"
)
_TOLD_OF = ("chunk_id", "metadata", "text", "clues", "others")
#: Chunks of one metadata that are looked through together, about.
_CHUNKS = 4096
_READ_COLUMNS = [name for name, _ in fields_of(_READ)]


def add_clues(
    chunks: DataFrame,
    mentions: DataFrame,
    listed: DataFrame | None,
    keep: Callable[[DataFrame], DataFrame] = lambda frame: frame,
    telling: DataFrame | None = None,
) -> DataFrame:
    """Add the places of clues to all other mentions.

    Parameters
    ----------
    chunks : pyspark.sql.DataFrame
        Table CHUNKS; needs ``chunk_id, metadata, text``.
    mentions : pyspark.sql.DataFrame
        Table MENTIONS of these chunks, terms among them; read more than once. What is in it stays,
        but for terms that a clue touches (:func:`~nes_spark.entities.clues.clue_mentions`).
    listed : pyspark.sql.DataFrame or None
        ``chunk_id, metadata, clue``: what told whose the chunk is. It is looked for in all chunks
        of the same metadata, or in its own alone (:class:`~nes_spark.entities.clues.Clue`). One of
        a chunk that is not here is read in each chunk of its metadata, for the pieces that stand
        there where no chunk has it whole; what tells in its own chunk alone is left out. One
        without ``chunk_id`` is read so too, and tells in all of its metadata whatever it is.
    keep : callable, optional
        Persists a table that is read more than once.
    telling : pyspark.sql.DataFrame, optional
        ``metadata, words``: words that are clues in all chunks of their metadata
        (:func:`~nes_spark.entities.telling_stages.find_telling`).

    Returns
    -------
    pyspark.sql.DataFrame
        Table MENTIONS.
    """
    from pyspark.sql import functions as F

    texts = chunks.select("chunk_id", "metadata", "text")
    known = mentions.groupBy("chunk_id").agg(
        F.collect_list(F.struct("category", "surface", "entity", "start", "end")).alias("known")
    )
    held = texts.join(known, "chunk_id", "left")
    wide, narrow = telling, None
    if listed is not None:
        read = _read_listed(texts, listed, keep)
        everywhere = read.where("wide").select("metadata", "words")
        wide = everywhere if telling is None else everywhere.unionByName(telling)
        narrow = read.where("NOT wide").select("chunk_id", "words")
    if narrow is None:
        held = held.withColumn("clues", F.lit(None).cast("array<string>"))
    else:
        held = held.join(_together(narrow, "chunk_id"), "chunk_id", "left")
    if wide is None:
        return mentions
    counts = texts.groupBy("metadata").agg(F.count(F.lit(1)).alias("n"))
    laid = _with_clues_of_metadata(held, _together(wide, "metadata"), counts)
    found = laid.mapInPandas(_found, MENTIONS.ddl)
    return mentions.where(F.col("category") != TERM).unionByName(found)


def _together(clues: DataFrame, key: str) -> DataFrame:
    """Return the clues of each key, as one row; each is one string, its words apart by spaces."""
    from pyspark.sql import functions as F

    return clues.groupBy(key).agg(F.collect_set(F.concat_ws(" ", "words")).alias("clues"))


def _with_clues_of_metadata(held: DataFrame, clues: DataFrame, counts: DataFrame) -> DataFrame:
    """Lay the clues of each metadata, in one row, before the chunks of it.

    A metadata may have as many words as its documents have together: in one row of each chunk they
    would take gigabytes. Its chunks go to several partitions where it has many.

    Parameters
    ----------
    held : pyspark.sql.DataFrame
        Chunks: ``chunk_id, metadata`` and what else :func:`_found` takes.
    clues : pyspark.sql.DataFrame
        ``metadata, clues``.
    counts : pyspark.sql.DataFrame
        ``metadata, n``: chunks of each.
    """
    from pyspark.sql import functions as F

    # few: not one for every so many chunks of the corpus
    many = counts.where(F.col("n") > _CHUNKS).select(
        "metadata", F.ceil(F.col("n") / _CHUNKS).cast("int").alias("parts")
    )
    parts = F.coalesce("parts", F.lit(1))
    rows = held.join(F.broadcast(many), "metadata", "left").withColumn(
        "part", F.pmod(F.hash("chunk_id"), parts)
    )
    heads = (
        clues.join(F.broadcast(many), "metadata", "left")
        .withColumn("part", F.explode(F.sequence(F.lit(0), parts - 1)))
        .withColumn("chunk_id", F.lit(None).cast("string"))
    )
    return (
        rows.drop("parts")
        .unionByName(heads.drop("parts"), allowMissingColumns=True)
        .repartition("metadata", "part")
        .sortWithinPartitions("metadata", "part", F.col("chunk_id").asc_nulls_first())
        .select("metadata", "part", "chunk_id", "text", "clues", "known")
    )


def _read_listed(
    texts: DataFrame, listed: DataFrame, keep: Callable[[DataFrame], DataFrame]
) -> DataFrame:
    """Read clues where they were given, and those of other chunks where they stand."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    mine = _by_chunk(listed)
    others = (
        listed.join(texts.select("chunk_id"), "chunk_id", "left_anti")
        .groupBy("metadata", "clue")
        .agg(F.max(F.col("chunk_id").isNull()).alias("always"))
        .groupBy("metadata")
        .agg(F.collect_list(F.struct("clue", "always")).alias("others"))
    )
    told_of = (
        texts.join(mine, "chunk_id", "left")
        .join(others, "metadata", "left")
        .where("clues IS NOT NULL OR others IS NOT NULL")
        .select(*_TOLD_OF)
    )
    read = keep(told_of.mapInPandas(_read, _READ))
    here = read.where("chunk_id IS NOT NULL")
    # a piece of what stands whole somewhere is no more than words that happen to stand together
    somewhere = F.max("whole").over(Window.partitionBy("metadata", "clue"))
    carried = (
        read.where("chunk_id IS NULL")
        .withColumn("somewhere", somewhere)
        .where("whole OR NOT somewhere")
        .drop("somewhere")
    )
    return here.unionByName(carried)


def count_lost(chunks: DataFrame, listed: DataFrame) -> tuple[dict[str, int], dict[str, int]]:
    """Count the clues of which nothing stands in their own chunk any more.

    Parameters
    ----------
    chunks, listed
        As for :func:`add_clues`; of what is listed clues of these chunks count, and those without a
        chunk, of which nothing stands in any of their metadata.

    Returns
    -------
    dict, dict
        Chunk -> clues, and of those without one metadata -> clues, both in ascending order.
    """
    from pyspark.sql import functions as F

    texts = chunks.select("chunk_id", "text").join(_by_chunk(listed), "chunk_id")
    lost = texts.mapInPandas(_lost, "place string, lost long").where("lost > 0")
    own = listed.where("chunk_id IS NULL").select("metadata", "clue").distinct()
    clues = own.groupBy("metadata").agg(F.collect_list("clue").alias("clues"))
    held = chunks.select("metadata", "text").join(clues, "metadata")
    stand = held.mapInPandas(_standing, "metadata string, clue string").distinct()
    nowhere = own.join(stand, ["metadata", "clue"], "left_anti").groupBy("metadata").count()
    of_chunks, of_metadata = (
        dict(sorted((place, count) for place, count in found.collect()))
        for found in (lost, nowhere)
    )
    return of_chunks, of_metadata


def names_told(chunks: DataFrame, mentions: DataFrame) -> DataFrame:
    """Return table OWN_NAMES of what clues blanked: no name of another text gives it back.

    Parameters
    ----------
    chunks : pyspark.sql.DataFrame
        Table CHUNKS; needs ``chunk_id, document_id, metadata``.
    mentions : pyspark.sql.DataFrame
        Table MENTIONS of these chunks, clues among them.

    Returns
    -------
    pyspark.sql.DataFrame
        Names of the corpus (:func:`~nes_spark.entities.clues.names_barred`) for every document of
        the metadata that the clue told. Terms have their own
        (:func:`~nes_spark.entities.further_stages.terms_as_own_names`).
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    none = (CLUE, TERM, QUANTITY)
    names = mentions.where(~F.col("category").isin(*none)).select("category", "entity").distinct()
    clues = (
        mentions.where(F.col("category") == CLUE)
        .join(chunks.select("chunk_id", "metadata"), "chunk_id")
        .select("metadata", "entity")
        .distinct()
    )
    told = clues.mapInPandas(
        of_each_entity(clue_pieces, "piece"), "metadata string, entity string, piece string"
    )
    held = names.mapInPandas(
        of_each_entity(name_pieces, "piece"), "category string, entity string, piece string"
    )
    # else each document has more rows the larger the corpus is
    having = F.count(F.lit(1)).over(Window.partitionBy("category", "piece"))
    held = held.withColumn("names", having).mapInPandas(
        _giving_back, "category string, entity string, piece string"
    )
    documents = chunks.select("document_id", "metadata").distinct()
    return (
        held.join(told.select("metadata", "piece").distinct(), "piece")
        .join(documents, "metadata")
        .select(*OWN_NAMES.names)
        .distinct()
    )


def _giving_back(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Leave out the words of a dictionary that many names have."""
    for batch in batches:
        plain = batch["piece"].map(is_plain_word).astype(bool)
        yield batch.loc[~plain | (batch["names"] <= FEW_NAMES), ["category", "entity", "piece"]]


def of_each_entity(
    made_of: Callable[[str], list[str]], column: str
) -> Callable[[Iterable[pd.DataFrame]], Iterator[pd.DataFrame]]:
    """Return what makes rows of batches with ``entity``: one for each thing made of it."""

    def read(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            made = pd.Series([made_of(e) for e in batch["entity"]], batch.index, dtype=object)
            yield batch.assign(**{column: made}).explode(column).dropna()

    return read


def _standing(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Return which clues stand in texts, or a piece of them."""
    for batch in batches:
        found = {
            (metadata, one.given)
            for metadata, text, clues in zip(
                *(batch[c] for c in ("metadata", "text", "clues")), strict=True
            )
            for one in read_clues(clues, text)
        }
        yield pd.DataFrame(sorted(found), columns=["metadata", "clue"])


def _by_chunk(listed: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    return (
        listed.where("chunk_id IS NOT NULL")
        .groupBy("chunk_id")
        .agg(F.collect_set("clue").alias("clues"))
    )


def _lost(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for batch in batches:
        lost = [
            len({*clues} - {found.given for found in read_clues(clues, text)})
            for text, clues in zip(batch["text"], batch["clues"], strict=True)
        ]
        yield pd.DataFrame({"place": batch["chunk_id"], "lost": lost})


def _read(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Read clues in their own chunks, and those of other chunks, which come out without one."""
    for batch in batches:
        rows: list[tuple[Any, ...]] = []
        for chunk_id, metadata, text, clues, others in zip(
            *(batch[c] for c in _TOLD_OF), strict=True
        ):
            for one in read_clues(() if clues is None else clues, text):
                rows.append((metadata, chunk_id, one.given, [*one.clue.words], one.clue.wide, True))
            always = {o["clue"]: o["always"] for o in (() if others is None else others)}
            for one in read_clues(always, text):
                if one.clue.wide or always[one.given]:
                    rows.append((metadata, None, one.given, [*one.clue.words], True, one.whole))
        yield pd.DataFrame(rows, columns=_READ_COLUMNS)


def _found(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Find the clues of chunks; mentions of these come out, with the terms that are left."""
    of, everywhere = None, Clues(())
    for batch in batches:
        rows: list[tuple[Any, ...]] = []
        for metadata, part, chunk_id, text, clues, known in batch.itertuples(
            index=False, name=None
        ):
            told = (row.split() for row in (() if clues is None else clues))
            if chunk_id is None:
                of, everywhere = (metadata, part), Clues(told)
                continue
            if of != (metadata, part):  # of this one nothing tells everywhere
                of, everywhere = (metadata, part), Clues(())
            held = [
                Mention(m["start"], m["end"], m["category"], m["surface"], m["entity"])
                for m in (() if known is None else known)
            ]
            mine = clues_and_terms(text, Clues(told, besides=everywhere), held)
            rows += [(chunk_id, m.category, m.surface, m.entity, m.start, m.end) for m in mine]
        yield pd.DataFrame(rows, columns=MENTIONS.names)
