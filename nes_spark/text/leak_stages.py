"""The leak search as Spark stages: DataFrames in, DataFrames out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import Window
from pyspark.sql import functions as F

from nes_spark.config import IdentifiersConfig
from nes_spark.schemas import EDITS, LEAKS, OWN_NAMES, arrow_schema
from nes_spark.spreading import spread
from nes_spark.text.leaks import (
    BY_CHANCE,
    CROSS_LENGTH,
    OTHER_DOCUMENT,
    Sieve,
    candidates,
    identifier_keys,
    moved_spans,
    own_leaks,
    own_spellings,
    spellings_in,
)
from nes_spark.text.matching import SHAPES, Matcher
from nes_spark.text.searching import forms_of_kinds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_RUN_COLUMNS = ["chunk_id", "document_id", "at", "key", "title", "upper", "opens"]
#: A row for each spelling of a document's identifiers, and one for each kind, which has ``forms``.
_SPELLED = pa.schema(
    [
        ("key", pa.string()),
        ("identifier_document_id", pa.string()),
        ("kind", pa.string()),
        ("case", pa.string()),
        ("opening", pa.bool_()),
        ("forms", pa.int64()),
    ]
)
#: What :func:`quote_leaks` gives.
_QUOTED = "chunk_id string, found string"
#: A part of a name that names more secrets than these tells none of them apart.
_MOST_SECRETS = 1000


@dataclass(frozen=True)
class LeakIndex:
    """The identifiers of all documents, ready to be searched for in several sets of texts.

    Attributes
    ----------
    known : DataFrame
        ``document_id, identifiers``.
    keys : DataFrame
        Squeezed spellings and whose they are.
    sieve : Sieve
        Of the spellings.
    searched : dict of str to (int, int)
        Kind -> forms that are searched for, documents with at least one.
    spelled : DataFrame
        What `keys` is read from, kept on disk; :meth:`drop` when done.
    """

    known: DataFrame
    keys: DataFrame
    sieve: Sieve
    searched: dict[str, tuple[int, int]]
    spelled: DataFrame

    def drop(self) -> None:
        """Free the disk."""
        self.spelled.unpersist()


def index_identifiers(documents: DataFrame, identifiers: IdentifiersConfig) -> LeakIndex:
    """Spell out the identifiers of all documents.

    Parameters
    ----------
    documents : DataFrame
        Columns document_id and identifiers, as in the documents table.
    identifiers : IdentifiersConfig
        Kinds and forms that are never identifiers.

    Notes
    -----
    The driver holds about sixteen bytes a spelling for a moment; four to eight bytes of it stay.
    """

    def spell(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows: list[tuple[Any, ...]] = []
            names, items = (batch.column(n).to_pylist() for n in ("document_id", "identifiers"))
            for document, known in zip(names, items, strict=True):
                matcher = Matcher.of(known, identifiers)
                for key in identifier_keys(matcher):
                    rows.append((key.key, document, *key[1:], None))
                for kind, forms in forms_of_kinds(matcher).items():
                    rows.append((None, document, kind, None, None, forms))
            columns = zip(*rows, strict=True) if rows else [()] * len(_SPELLED)
            arrays = [pa.array(c, f.type) for c, f in zip(columns, _SPELLED, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=_SPELLED)

    known = documents.select("document_id", "identifiers")
    # the table's few files would be as few tasks
    spelled = (
        spread(known, "document_id")
        .mapInArrow(
            spell,
            "key string, identifier_document_id string, kind string, `case` string, "
            "opening boolean, forms bigint",
        )
        .persist(StorageLevel.DISK_ONLY)
    )
    keys = spelled.where("key IS NOT NULL").drop("forms")
    begins = F.substring("key", 1, CROSS_LENGTH)
    numbers = keys.select(F.crc32("key").alias("key"), F.crc32(begins).alias("begins"))
    met = numbers.distinct().toPandas()
    counted = (
        spelled.where("forms > 0")
        .groupBy("kind")
        .agg(F.sum("forms").alias("forms"), F.count(F.lit(1)).alias("documents"))
    )
    searched = {
        row["kind"]: (int(row["forms"]), int(row["documents"]))
        for row in counted.orderBy("kind").collect()
    }
    return LeakIndex(known, keys, Sieve(met["key"], met["begins"]), searched, spelled)


def find_leaks(
    released: DataFrame,
    documents: DataFrame | LeakIndex,
    identifiers: IdentifiersConfig,
) -> DataFrame:
    """Search released texts for direct identifiers of their own and of all other documents.

    Parameters
    ----------
    released : DataFrame
        Columns chunk_id, document_id, text; ``edits`` too where parts of names that swaps brought
        in, and shapes that came about by them, are to have a rule of their own
        (:func:`~nes_spark.text.leaks.own_leaks`).
    documents : DataFrame or LeakIndex
        Columns document_id and identifiers, as in the documents table; or the result of
        :func:`index_identifiers` for several searches.
    identifiers : IdentifiersConfig
        Kinds and forms that are never identifiers.

    Returns
    -------
    DataFrame
        Table :data:`~nes_spark.schemas.LEAKS`; empty when nothing is left. Hits of a text's own
        document always count as leaks; hits that name another document have the rule
        ``other_document`` and may be names that a swap put there. Each counts once, for the first
        of the documents that have the name.

    Notes
    -----
    Own identifiers travel to the texts in a join on the document. Other documents' names meet the
    texts in a join on their squeezed spelling, so the work grows with texts plus identifiers (see
    :mod:`nes_spark.text.leaks`); runs of words that are no spelling at all are held back before it.
    """
    index = (
        documents if isinstance(documents, LeakIndex) else index_identifiers(documents, identifiers)
    )
    return find_own_leaks(released, index, identifiers).unionByName(
        _other_names(released, index, identifiers)
    )


def find_own_leaks(
    released: DataFrame, index: LeakIndex, identifiers: IdentifiersConfig
) -> DataFrame:
    """Search released texts for direct identifiers of their own document only.

    Parameters and result are those of :func:`find_leaks`.
    """

    if "edits" not in released.columns:
        released = released.withColumn("edits", F.lit(None).cast(EDITS))
    schema = arrow_schema(LEAKS.ddl)
    columns = ("document_id", "chunk_id", "text", "identifiers")
    told = {*BY_CHANCE, *SHAPES}

    def own(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        of: str | None = None
        matcher = Matcher.of([], identifiers)
        for batch in batches:
            found = []
            edits = batch.column("edits")
            lists = (batch.column(name).to_pylist() for name in columns)
            for at, (document, chunk, text, items) in enumerate(zip(*lists, strict=True)):
                if document != of:
                    of, matcher = document, Matcher.of(items, identifiers)
                if chunk is None:
                    continue
                leaks = own_leaks(text, matcher, document)
                # edits are read where they tell: as objects, those of all texts cost more than
                # the search
                if edits[at].is_valid and any(leak.rule in told for leak in leaks):
                    made = [tuple(edit.values()) for edit in edits[at].as_py()]
                    edited = moved_spans((*edit[:3], True) for edit in made)
                    leaks = own_leaks(text, matcher, document, moved_spans(made), edited)
                for leak in leaks:
                    row = (chunk, document, document, leak.kind, leak.rule, leak.n)
                    found.append(dict(zip(LEAKS.names, row, strict=True)))
            yield pa.RecordBatch.from_pylist(found, schema=schema)

    # Of an edit its place, length and whether it brings a name in: all of it would be as much to
    # send and to sort as the texts.
    lengths = F.transform(
        "edits",
        lambda edit: F.struct(
            edit["start"].alias("start"),
            edit["end"].alias("end"),
            F.length(edit["new"]).alias("length"),
            (edit["new_entity"] != "").alias("name"),
        ),
    )
    # A document's identifiers come as a row before those of its chunks: joined, they would travel
    # with each of these. Later steps work on the few hits: shuffled, they do not run in the slow
    # tasks that search.
    chunks = released.select("document_id", "chunk_id", "text", lengths.alias("edits"))
    return (
        spread(chunks.unionByName(index.known, allowMissingColumns=True), "document_id")
        .sortWithinPartitions("document_id", F.col("chunk_id").asc_nulls_first())
        .select(*columns, "edits")
        .mapInArrow(own, LEAKS.ddl)
        .repartition("document_id")
    )


def quote_leaks(
    released: DataFrame, documents: DataFrame, identifiers: IdentifiersConfig
) -> DataFrame:
    """Quote what names its own document in some released texts, for whoever may see it.

    Parameters
    ----------
    released : DataFrame
        Columns chunk_id, document_id, text: of few chunks, as each brings its document's
        identifiers along.
    documents : DataFrame
        Columns document_id and identifiers.
    identifiers : IdentifiersConfig
        Kinds and forms that are never identifiers.

    Returns
    -------
    DataFrame
        ``chunk_id, found``: each form as it stands there, parted by semicolons; empty where only
        another document is named.
    """

    schema = arrow_schema(_QUOTED)
    columns = ("document_id", "chunk_id", "text", "identifiers")

    def quoted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        of: str | None = None
        matcher = Matcher.of([], identifiers)
        for batch in batches:
            rows = []
            lists = (batch.column(name).to_pylist() for name in columns)
            for document, chunk, text, items in zip(*lists, strict=True):
                if document != of:
                    of, matcher = document, Matcher.of(items, identifiers)
                hits = matcher.find(text)
                forms = {" ".join(text[m.start : m.end].split()) for m in hits}
                rows.append({"chunk_id": chunk, "found": "; ".join(sorted(forms))})
            yield pa.RecordBatch.from_pylist(rows, schema=schema)

    known = documents.select("document_id", "identifiers")
    shown = released.select("chunk_id", "document_id", "text").join(known, "document_id")
    # side by side, as what finds a document's names takes long to make
    ordered = shown.repartition("document_id").sortWithinPartitions("document_id")
    return ordered.select(*columns).mapInArrow(quoted, _QUOTED)


def _other_names(
    released: DataFrame, index: LeakIndex, identifiers: IdentifiersConfig
) -> DataFrame:
    """Search released texts for names of other documents."""
    sieve = index.sieve

    def runs(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        empty = Matcher.of([], identifiers)
        for batch in batches:
            rows = [
                (chunk, document, at, *candidate)
                for chunk, document, text in zip(
                    batch["chunk_id"], batch["document_id"], batch["text"], strict=True
                )
                for at, candidate in enumerate(candidates(text, empty, sieve))
            ]
            yield pd.DataFrame(rows, columns=_RUN_COLUMNS)

    found = released.select("chunk_id", "document_id", "text").mapInPandas(
        runs,
        "chunk_id string, document_id string, at int, key string, title boolean, "
        "upper boolean, opens boolean",
    )
    # What is also a spelling of the text's own document is not another's.
    own = index.keys.select("key", F.col("identifier_document_id").alias("document_id")).distinct()
    # One row for each name, however many documents share it; never one for each pair of them.
    first = index.keys.groupBy("key", "kind", "case", "opening").agg(
        F.min("identifier_document_id").alias("identifier_document_id")
    )
    met = (
        found.join(own, ["key", "document_id"], "left_anti")
        .join(first, "key")
        .filter(
            ((F.col("case") != "title") | F.col("title"))
            & ((F.col("case") != "upper") | F.col("upper"))
            & (F.col("opening") | ~F.col("opens"))
        )
        .groupBy("chunk_id", "document_id", "at", "kind")
        .agg(F.min("identifier_document_id").alias("identifier_document_id"))
    )
    return (
        met.groupBy("chunk_id", "document_id", "identifier_document_id", "kind")
        .agg(F.count(F.lit(1)).alias("n"))
        .withColumn("rule", F.lit(OTHER_DOCUMENT))
        .select(*LEAKS.names)
    )


def own_names(
    mentions: DataFrame,
    documents: DataFrame,
    identifiers: IdentifiersConfig,
    most: int = _MOST_SECRETS,
) -> DataFrame:
    """Find the entities of the corpus that name a document: no swap may bring them into it.

    Parameters
    ----------
    mentions : DataFrame
        Table :data:`~nes_spark.schemas.MENTIONS`. An entity names a document when one of the forms
        it is mentioned in does, in any document.
    documents : DataFrame
        Columns document_id, metadata and identifiers, as in the documents table.
    identifiers : IdentifiersConfig
        Kinds and forms that are never identifiers.
    most : int, optional
        Part of a name that stands in names of more different secrets counts only where it is the
        whole form of an entity: otherwise pairs would grow with the square of a corpus in which
        many companies share a word. Documents of one secret count once, however many they are;
        whole names always count, however many share them.

    Returns
    -------
    DataFrame
        Table :data:`~nes_spark.schemas.OWN_NAMES`.

    Notes
    -----
    Distinct forms meet documents in a join on squeezed spellings, as in :func:`find_leaks`: the
    work grows with the vocabulary plus the identifiers.
    """
    columns = ("document_id", "metadata")

    def own(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            keys: list[str] = []
            names: list[bool] = []
            counts = []
            secrets, items = (batch.column(n).to_pylist() for n in ("metadata", "identifiers"))
            for secret, known in zip(secrets, items, strict=True):
                found = own_spellings(Matcher.of(known, identifiers), secret)
                keys += found.keys()
                names += found.values()
                counts.append(len(found))
            place = np.repeat(np.arange(len(counts)), counts)
            kept = (batch.column(name).take(pa.array(place)) for name in columns)
            arrays = [pa.array(keys, pa.string()), *kept, pa.array(names, pa.bool_())]
            yield pa.RecordBatch.from_arrays(arrays, names=["key", *columns, "name"])

    def spell(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            rows = [
                (key, category, entity, key == whole)
                for category, entity, form in zip(
                    batch["category"], batch["entity"], batch["form"], strict=True
                )
                for spellings in [spellings_in(form)]
                for whole in [max(spellings, key=len, default="")]
                for key in spellings
            ]
            yield pd.DataFrame(rows, columns=["key", "category", "entity", "whole"])

    # Windows count nothing distinct; the last rank says the same. Both sort once, by the same keys.
    spelling = Window.partitionBy("key")
    known = (
        spread(documents.select(*columns, "identifiers"), "document_id")
        .mapInArrow(own, "key string, document_id string, metadata string, name boolean")
        .withColumn("secrets", F.dense_rank().over(spelling.orderBy("metadata")))
        .withColumn("shared", ~F.col("name") & (F.max("secrets").over(spelling) > most))
    )
    forms = F.explode(F.array("surface", "entity")).alias("form")
    vocabulary = mentions.select("category", "entity", forms).distinct()
    spelled = vocabulary.mapInPandas(
        spell, "key string, category string, entity string, whole boolean"
    ).distinct()
    pairs = spelled.join(
        known, (spelled["key"] == known["key"]) & (~F.col("shared") | F.col("whole"))
    )
    return pairs.select(*OWN_NAMES.names).distinct()
