"""Spark: what the leak search has to search for, and documents for which a kind has nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import pandas as pd
from pyspark.sql import functions as F

from nes_spark.config import IdentifiersConfig
from nes_spark.spreading import spread
from nes_spark.text.matching import Matcher
from nes_spark.text.searching import finds_secret, forms_of_kinds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Reason of documents in quarantine for which a required kind has nothing to search.
NOTHING_TO_SEARCH = "nothing_to_search"


def count_forms(documents: DataFrame, identifiers: IdentifiersConfig) -> DataFrame:
    """Count the written forms that each document's identifiers are searched by.

    Parameters
    ----------
    documents : pyspark.sql.DataFrame
        ``document_id`` and ``identifiers``, as in table DOCUMENTS.
    identifiers : IdentifiersConfig
        Kinds, and forms that are never identifiers.

    Returns
    -------
    pyspark.sql.DataFrame
        ``document_id, kind, forms``: kinds that the document has values of.
    """

    def count(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            rows = [
                (document, kind, forms)
                for document, items in zip(batch["document_id"], batch["identifiers"], strict=True)
                for kind, forms in forms_of_kinds(
                    Matcher.of([] if items is None else list(items), identifiers)
                ).items()
            ]
            yield pd.DataFrame(rows, columns=["document_id", "kind", "forms"])

    return spread(documents.select("document_id", "identifiers"), "document_id").mapInPandas(
        count, "document_id string, kind string, forms int"
    )


def secrets_accepted(
    documents: DataFrame, identifiers: IdentifiersConfig, accepted: Collection[str]
) -> int:
    """Count documents whose secret is found by identifiers of accepted kinds only.

    Parameters
    ----------
    documents : pyspark.sql.DataFrame
        ``document_id``, ``metadata`` and ``identifiers``, as in table DOCUMENTS.
    identifiers : IdentifiersConfig
        Kinds, and forms that are never identifiers.
    accepted : collection of str
        What ``gates.accept_identifiers`` names.
    """
    kinds = set(accepted) & set(identifiers.kinds)
    if not kinds:
        return 0

    def look(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            rows = [
                (finds_secret(value, [] if items is None else list(items), identifiers, kinds),)
                for value, items in zip(batch["metadata"], batch["identifiers"], strict=True)
            ]
            yield pd.DataFrame(rows, columns=["found"])

    rows = spread(documents.select("document_id", "metadata", "identifiers"), "document_id")
    found = rows.mapInPandas(look, "found boolean")
    return found.where("NOT found").count()


def set_aside(
    documents: DataFrame,
    quarantine: DataFrame,
    kinds: Sequence[str],
    identifiers: IdentifiersConfig,
) -> tuple[DataFrame, DataFrame]:
    """Put documents into quarantine for which a required kind has nothing to search.

    Parameters
    ----------
    documents, quarantine : pyspark.sql.DataFrame
        Tables DOCUMENTS and QUARANTINE, as they were read.
    kinds : sequence of str
        ``gates.require``; none leaves both as they are.
    identifiers : IdentifiersConfig

    Returns
    -------
    (documents, quarantine) : tuple of pyspark.sql.DataFrame
    """
    if not kinds:
        return documents, quarantine
    found = (
        count_forms(documents, identifiers)
        .where("forms > 0")
        .groupBy("document_id")
        .agg(F.collect_set("kind").alias("_kinds"))
    )
    none = F.array().cast("array<string>")
    wanted = F.array(*(F.lit(kind) for kind in kinds))
    missing = F.array_except(wanted, F.coalesce("_kinds", none))
    marked = documents.join(found, "document_id", "left").withColumn("_missing", missing)
    refused = marked.where(F.size("_missing") > 0).select(
        "document_id",
        F.concat(F.lit("document "), "document_id").alias("position"),
        F.lit(NOTHING_TO_SEARCH).alias("reason"),
        F.concat(
            F.lit("gates.require: nothing to search of kind "), F.array_join("_missing", ", ")
        ).alias("message"),
    )
    kept = marked.where(F.size("_missing") == 0).drop("_kinds", "_missing")
    return kept.select(*documents.columns), quarantine.unionByName(refused)
