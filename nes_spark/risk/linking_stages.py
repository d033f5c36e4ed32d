"""Spark: what linking names and corpus consistency do to the sample uniques."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from nes_spark.entities.combination import Combination
from nes_spark.entities.stages import build_cells, settle_mentions
from nes_spark.risk.stages import EmptyCell, sample_uniques

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from nes_spark.config import EntitiesConfig

#: Variant of :func:`linking_effect` -> (linking, corpus consistency).
_VARIANTS = {
    "neither": (False, False),
    "linking": (True, False),
    "consistency": (False, True),
    "both": (True, True),
}


def linking_effect(
    raw: DataFrame,
    chunks: DataFrame,
    config: EntitiesConfig,
    combinations: Sequence[Sequence[str]],
    empty_cell: EmptyCell = "exclude",
) -> DataFrame:
    """Count sample uniques without and with linking and corpus consistency.

    Parameters
    ----------
    raw : DataFrame
        Table ``RECOGNISED`` of these chunks; it is read once, and kept on disk meanwhile.
    chunks : DataFrame
        Table ``CHUNKS``.
    config : EntitiesConfig
        Recogniser and categories; its own ``linking`` and ``corpus_consistency`` do not matter.
    combinations : sequence of sequences of str
        The J, for example every pair of categories.
    empty_cell : {"exclude", "include"}, optional
        As in :func:`nes_spark.risk.stages.fit_risk`.

    Returns
    -------
    DataFrame
        ``combination, n, s1_neither, s1_linking, s1_consistency, s1_both``: chunks, and chunks
        alone in their cell of z_J (recoding applied as configured). Small: one row a combination,
        in the given order.
    """
    from pyspark import StorageLevel
    from pyspark.sql import functions as F

    spark = chunks.sparkSession
    n = chunks.count()
    names = [Combination(combination).name for combination in combinations]
    held = raw.persist(StorageLevel.DISK_ONLY)
    try:
        variants = []
        for variant, (linking, consistency) in _VARIANTS.items():
            chosen = config.model_copy(
                update={"linking": linking, "corpus_consistency": consistency}
            )
            cells = build_cells(chunks, settle_mentions(held, chosen), chosen)
            uniques = sample_uniques(cells, combinations, empty_cell)
            variants.append(uniques.select(F.lit(variant).alias("variant"), "combination"))
        # in one job: what variants have in common is made once
        together = reduce(lambda a, b: a.unionByName(b), variants)
        found = together.groupBy("variant", "combination").count().collect()
        counts = {(row["variant"], row["combination"]): row["count"] for row in found}
    finally:
        held.unpersist()
    rows = [(name, n, *(counts.get((v, name), 0) for v in _VARIANTS)) for name in names]
    columns = ", ".join(f"`s1_{variant}` bigint" for variant in _VARIANTS)
    return spark.createDataFrame(rows, f"`combination` string, `n` bigint, {columns}")
