"""Spark: what linking names and corpus consistency do to the sample uniques.

:mod:`nes_spark.risk.linking` counts the same in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

from nes_spark.entities.combination import Combination
from nes_spark.entities.stages import build_cells, settle_mentions
from nes_spark.risk.linking import VARIANTS
from nes_spark.risk.stages import EmptyCell, sample_uniques

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from nes_spark.config import EntitiesConfig


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
        Table ``RECOGNISED`` of these chunks.
    chunks : DataFrame
        Table ``CHUNKS``.
    config, combinations, empty_cell
        As for :func:`nes_spark.risk.linking.linking_table`.

    Returns
    -------
    DataFrame
        The columns of ``linking_table``; small: one row a combination, in the given order.
    """
    from pyspark.sql import functions as F

    spark = chunks.sparkSession
    n = chunks.count()
    names = [Combination(combination).name for combination in combinations]
    variants = []
    for variant, (linking, consistency) in VARIANTS.items():
        chosen = config.model_copy(update={"linking": linking, "corpus_consistency": consistency})
        cells = build_cells(chunks, settle_mentions(raw, chosen), chosen)
        uniques = sample_uniques(cells, combinations, empty_cell)
        variants.append(uniques.select(F.lit(variant).alias("variant"), "combination"))
    together = reduce(lambda a, b: a.unionByName(b), variants)
    found = together.groupBy("variant", "combination").count().collect()
    counts = {(row["variant"], row["combination"]): row["count"] for row in found}
    rows = [(name, n, *(counts.get((v, name), 0) for v in VARIANTS)) for name in names]
    columns = ", ".join(f"`s1_{variant}` bigint" for variant in VARIANTS)
    return spark.createDataFrame(rows, f"`combination` string, `n` bigint, {columns}")
