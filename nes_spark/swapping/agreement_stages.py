"""Spark: how often recognition on the rewritten texts differs from the table after swapping."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nes_spark.swapping.agreement import SwappedChunk, cells_agreement

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

    from nes_spark.config import EntitiesConfig

_COUNTS = "category string, n bigint, before bigint, after bigint, both bigint"


def recognition_agreement(
    rewritten: DataFrame,
    chunks: DataFrame,
    cells: DataFrame,
    mentions: DataFrame,
    entities: EntitiesConfig,
    must_change: Mapping[str, str],
) -> DataFrame:
    """Compare z-tilde of a release with what recognition finds on its texts.

    Parameters
    ----------
    rewritten : pyspark.sql.DataFrame
        Rows of REWRITES, one a swapped chunk.
    chunks, cells, mentions : pyspark.sql.DataFrame
        Tables of the run.
    entities : EntitiesConfig
        Recogniser, categories and recoding.
    must_change : mapping of str to str
        Category -> placeholder.

    Returns
    -------
    pyspark.sql.DataFrame
        ``category, n, before, after, both``: see :class:`nes_spark.swapping.agreement.Agreement`.
        Counts only.
    """
    from pyspark.sql import functions as F

    surfaces = mentions.select(
        F.col("chunk_id").alias("_of"), F.struct("category", "surface", "entity").alias("m")
    )
    involved = rewritten.select(
        "chunk_id", F.explode(F.array("chunk_id", "partner_id")).alias("_of")
    )
    known = (
        involved.join(surfaces, "_of")
        .groupBy("chunk_id")
        .agg(F.sort_array(F.collect_set("m")).alias("known"))
    )
    rows = (
        rewritten.select(
            "chunk_id", F.col("text").alias("after"), F.col("cell").alias("cell_after"), "edits"
        )
        .join(chunks.select("chunk_id", "text"), "chunk_id")
        .join(cells.select("chunk_id", "cell"), "chunk_id")
        .join(known, "chunk_id", "left")
    )
    settings = entities.model_dump_json()
    placeholders = dict(must_change)

    def compare(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        yield _counts(batches, settings, placeholders)

    return (
        rows.mapInPandas(compare, _COUNTS)
        .groupBy("category")
        .agg(*(F.sum(c).alias(c) for c in ("n", "before", "after", "both")))
    )


def _counts(
    batches: Iterable[pd.DataFrame], settings: str, placeholders: Mapping[str, str]
) -> pd.DataFrame:
    import pandas as pd

    from nes_spark.config import EntitiesConfig
    from nes_spark.entities import load_recognizer

    config = EntitiesConfig.model_validate_json(settings)
    found = cells_agreement(
        _swapped(batches),
        load_recognizer(config.recognizer, config),
        config.categories,
        placeholders,
        config.recoding,
    )
    rows = [(c, a.n, a.before, a.after, a.both) for c, a in found.categories.items()]
    return pd.DataFrame(rows, columns=["category", "n", "before", "after", "both"])


def _swapped(batches: Iterable[pd.DataFrame]) -> Iterator[SwappedChunk]:
    from nes_spark.entities.mentions import Mention

    def mention(category: Any, surface: Any, entity: Any) -> Mention:
        return Mention(0, len(surface), category, surface, entity)

    for batch in batches:
        for row in batch.to_dict("records"):
            known = [
                mention(m["category"], m["surface"], m["entity"])
                for m in (row["known"] if row["known"] is not None else ())
            ]
            # What was written in stands for the entity that came, in the form it was given.
            known += [
                mention(e["category"], e["new"], e["new_entity"])
                for e in row["edits"]
                if e["new_entity"]
            ]
            yield SwappedChunk(
                row["text"], row["after"], dict(row["cell"]), dict(row["cell_after"]), known
            )
