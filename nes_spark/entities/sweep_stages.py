"""The sweep for residual names as Spark stages: DataFrame in, DataFrame out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
from pyspark.sql import functions as F

from nes_spark.config import EntitiesConfig
from nes_spark.entities.linking import Located, bracketed_acronym, form_key
from nes_spark.entities.mentions import Mention
from nes_spark.entities.stages import whole_documents
from nes_spark.entities.sweep import (
    NAME,
    REASONS,
    candidates_of,
    categories_by_form,
    entities_by_form,
    name_entities,
    named_elsewhere,
    settle,
)
from nes_spark.entities.terms import TERM
from nes_spark.schemas import MENTIONS, SWEPT, fields_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_RAW = (
    "`document_id` string, `metadata` string, `chunk_id` string, `start` int, `end` int, "
    "`surface` string, `form` string, `rank` int, `acronym` string, `known` string, "
    "`category` string"
)
_ELSEWHERE = REASONS.index("elsewhere")
_DECIDED = f"{SWEPT.ddl}, `by_rule` boolean, `by_others` boolean"
_DECIDED_COLUMNS = [*SWEPT.names, "by_rule", "by_others"]
_RAW_COLUMNS = [name for name, _ in fields_of(_RAW)]


class Sweep(NamedTuple):
    """What the sweep found.

    Attributes
    ----------
    mentions : DataFrame
        Rows of table ``MENTIONS``, category ``Name``, or that of the same name where the recogniser
        found it in the document; they overlap no mention of the recogniser.
    swept : DataFrame
        Table ``SWEPT``, with the forms that were left alone too.
    """

    mentions: DataFrame
    swept: DataFrame


def sweep(chunks: DataFrame, mentions: DataFrame, config: EntitiesConfig) -> Sweep:
    """Find the names that the recogniser missed.

    Parameters
    ----------
    chunks : DataFrame
        Table ``CHUNKS``; needs ``chunk_id``, ``document_id``, ``metadata`` and ``text``.
    mentions : DataFrame
        Table ``MENTIONS`` of these chunks.
    config : EntitiesConfig
        ``sweep_share``, ``sweep_never`` and ``sweep_always``. Whether the mentions are used, that
        is ``sweep``, is the caller's business.

    Returns
    -------
    Sweep
        The same on any number of partitions.

    Notes
    -----
    Both tables come from the same candidates: take :func:`find_candidates` and
    :func:`settle_candidates` and cache what is between them when you use both. A worker holds the
    chunks of one document at a time.
    """
    raw = find_candidates(chunks, mentions, config, elsewhere=True)
    return settle_candidates(raw, chunks, config, mentions)


def find_candidates(
    chunks: DataFrame, mentions: DataFrame, config: EntitiesConfig, elsewhere: bool = False
) -> DataFrame:
    """Find what may be a name, document by document: the costly step.

    Parameters
    ----------
    chunks, mentions, config
        As for :func:`sweep`.
    elsewhere : bool
        Whether other documents of the same secret say what is a name too
        (:func:`settle_candidates` needs the mentions then); for nothing where each has one.

    Returns
    -------
    DataFrame
        What :func:`settle_candidates` takes.
    """
    found = mentions.groupBy("chunk_id").agg(
        F.sort_array(
            F.collect_list(F.struct("start", "end", "category", "surface", "entity"))
        ).alias("found")
    )
    joined = chunks.select("chunk_id", "document_id", "metadata", "text").join(
        found, "chunk_id", "left"
    )
    ordered = joined.repartition("document_id").sortWithinPartitions("document_id", "chunk_id")
    always, peoples = tuple(config.sweep_always), TERM not in config.categories

    def find(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for documents in whole_documents(batches):
            yield _find(documents, always, peoples, elsewhere)

    return ordered.mapInPandas(find, schema=_RAW)


def settle_candidates(
    raw: DataFrame, chunks: DataFrame, config: EntitiesConfig, mentions: DataFrame | None = None
) -> Sweep:
    """Count forms over documents, decide which are names, and name their entities.

    Parameters
    ----------
    raw : DataFrame
        From :func:`find_candidates`.
    chunks : DataFrame
        Needs ``chunk_id, document_id, metadata``; says how many secrets there are.
    config : EntitiesConfig
        As for :func:`sweep`.
    mentions : DataFrame, optional
        As for :func:`sweep`, where ``raw`` was found with ``elsewhere``.

    Returns
    -------
    Sweep
    """
    total = chunks.agg(F.count_distinct("metadata").alias("total"))
    if mentions is None:
        raw = raw.where(F.col("rank") != _ELSEWHERE)
    else:
        raw = _by_other_documents(raw, chunks, mentions)
    # what other documents of a secret tell makes no form more usual
    alone = F.col("rank") != _ELSEWHERE
    counted = raw.groupBy("form").agg(
        F.min("rank").alias("rank"),
        F.greatest(F.count_distinct(F.when(alone, F.col("metadata"))), F.lit(1)).alias("documents"),
        F.count(F.lit(1)).alias("occurrences"),
        F.max(~alone).alias("elsewhere"),
    )
    share, never = config.sweep_share, config.never_swept

    def decide(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            yield _decide(batch, share, never)

    # one row, whatever the corpus
    decided = counted.crossJoin(F.broadcast(total)).mapInPandas(decide, schema=_DECIDED)
    swept = decided.select(*SWEPT.names)

    def link(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for documents in whole_documents(batches):
            yield _link(documents)

    treated = F.when(alone, F.col("by_rule")).otherwise(F.col("by_others"))
    kept = raw.join(decided.select("form", "by_rule", "by_others"), "form").where(treated)
    kept = kept.select(*raw.columns)
    ordered = kept.repartition("document_id").sortWithinPartitions(
        "document_id", "chunk_id", "start"
    )
    return Sweep(ordered.mapInPandas(link, schema=MENTIONS.ddl), swept)


def _by_other_documents(raw: DataFrame, chunks: DataFrame, mentions: DataFrame) -> DataFrame:
    """Keep of what begins sentences the names that other documents of the secret have."""
    columns = ["metadata", "form", "document_id", "known", "category"]
    of_secret = ["metadata", "form"]
    found, asked = raw.where(F.col("rank") != _ELSEWHERE), raw.where(F.col("rank") == _ELSEWHERE)
    # single words are asked for
    seen = (
        mentions.where((F.col("category") != "Date") & ~F.col("surface").contains(" "))
        .join(chunks.select("chunk_id", "document_id", "metadata"), "chunk_id")
        .select("metadata", "document_id", "surface", F.col("entity").alias("known"), "category")
        .mapInPandas(
            _with_forms,
            "metadata string, form string, document_id string, known string, category string",
        )
    )
    named = (
        seen.unionByName(found.where(~F.col("surface").contains(" ")).select(columns))
        .join(asked.select(of_secret).distinct(), of_secret, "left_semi")
        .groupBy(*of_secret, "known", "category")
        .agg(F.count(F.lit(1)).alias("n"), F.collect_set("document_id").alias("documents"))
        .groupBy(of_secret)
        .agg(
            F.size(F.array_distinct(F.flatten(F.collect_list("documents")))).alias("named"),
            # the most frequent one, then the smallest; what the sweep found has no entity yet
            F.min(F.struct(F.expr("known = ''"), -F.col("n"), "known", "category")).alias("best"),
        )
    )
    begun = asked.groupBy(of_secret).agg(F.count_distinct("document_id").alias("begun"))

    def decide(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            kept = [named_elsewhere(*n) for n in zip(batch["named"], batch["begun"], strict=True)]
            yield batch.loc[kept, ["metadata", "form", "known", "category"]]

    names = (
        named.join(begun, of_secret)
        .select(*of_secret, "named", "begun", "best.known", "best.category")
        .mapInPandas(decide, "metadata string, form string, known string, category string")
    )
    kept = asked.drop("known", "category").join(names, of_secret)
    return found.unionByName(kept.select(found.columns))


def _with_forms(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for batch in batches:
        forms = [form_key(surface, NAME) for surface in batch["surface"]]
        yield batch.assign(form=forms)[["metadata", "form", "document_id", "known", "category"]]


def _find(
    documents: pd.DataFrame, always: tuple[str, ...], peoples: bool, elsewhere: bool
) -> pd.DataFrame:
    rows: list[tuple[Any, ...]] = []
    for document_id, chunks in documents.groupby("document_id", sort=False):
        texts = chunks["text"].tolist()
        mentions = [
            [Mention(m["start"], m["end"], m["category"], m["surface"], m["entity"]) for m in found]
            if found is not None
            else []
            for found in chunks["found"]
        ]
        known = entities_by_form(m for chunk in mentions for m in chunk)
        kinds = categories_by_form(m for chunk in mentions for m in chunk)
        for metadata, chunk_id, text, found in zip(
            chunks["metadata"],
            chunks["chunk_id"],
            texts,
            candidates_of(texts, mentions, always, peoples, elsewhere),
            strict=True,
        ):
            rows.extend(
                (
                    document_id,
                    metadata,
                    chunk_id,
                    c.start,
                    c.end,
                    c.surface,
                    c.form,
                    REASONS.index(c.reason),
                    bracketed_acronym(text, c.end),
                    known.get(c.form, ""),
                    kinds.get(c.form, NAME),
                )
                for c in found
            )
    return pd.DataFrame(rows, columns=_RAW_COLUMNS)


def _decide(batch: pd.DataFrame, share: float, never: tuple[str, ...]) -> pd.DataFrame:
    reasons = [REASONS[rank] for rank in batch["rank"]]
    treated = settle(
        batch["form"].tolist(),
        reasons,
        batch["documents"].tolist(),
        int(batch["total"].max()) if len(batch) else 0,
        share,
        never,
    )
    denied = {form_key(form, NAME) for form in never}
    others = batch["elsewhere"].astype(bool) & ~batch["form"].isin(denied)
    return batch.assign(
        reason=reasons, by_rule=treated, by_others=others, treated=treated | others
    )[_DECIDED_COLUMNS]


def _link(found: pd.DataFrame) -> pd.DataFrame:
    located = [
        Located(chunk_id, Mention(int(start), int(end), category, surface), acronym)
        for chunk_id, start, end, surface, acronym, category in zip(
            *(
                found[name].tolist()
                for name in ("chunk_id", "start", "end", "surface", "acronym", "category")
            ),
            strict=True,
        )
    ]
    known = found["known"].tolist()
    entities: list[str] = []
    rows = zip(found["document_id"].tolist(), located, known, strict=True)
    for _, group in groupby(rows, itemgetter(0)):
        names = list(group)
        entities += name_entities([row[1] for row in names], [row[2] for row in names])
    return found.assign(entity=entities)[MENTIONS.names]


__all__ = ["Sweep", "find_candidates", "settle_candidates", "sweep"]
