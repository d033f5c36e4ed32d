"""Spark: frequencies of frequencies of every table z_J in one pass, and their fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from nes_spark.entities.combination import Combination
from nes_spark.errors import parameter_error
from nes_spark.risk.tables import fit_row
from nes_spark.schemas import RISK_FITS

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import Column, DataFrame

Combinations = Sequence[Sequence[str]]
#: What becomes of chunks without any entity of a combination: they hold no combination and are left
#: out (the cell is structural), or they are counted as one cell.
EmptyCell = Literal["exclude", "include"]


def _exploded(
    cells: DataFrame, combinations: Combinations, values: Column, empty_cell: EmptyCell
) -> DataFrame:
    """One row a chunk and combination: combination, cell (array of its categories' values)."""
    from pyspark.sql import functions as F

    if not combinations or not all(combinations):
        raise parameter_error(
            "risk", "combinations", "non-empty tuples of categories", combinations
        )
    tables = [
        F.struct(
            F.lit(Combination(combination).name).alias("combination"),
            # a missing value is a value
            F.array(*(F.coalesce(values[c], F.lit("")) for c in combination)).alias("cell"),
        )
        for combination in combinations
    ]
    exploded = cells.select("chunk_id", F.explode(F.array(*tables)).alias("t")).select(
        "chunk_id", "t.combination", "t.cell"
    )
    if empty_cell == "include":
        return exploded
    if empty_cell != "exclude":
        raise parameter_error("risk", "empty_cell", "'exclude' or 'include'", empty_cell)
    return exploded.where(F.exists("cell", lambda value: value != ""))


def _counted(
    cells: DataFrame, combinations: Combinations, values: Column, empty_cell: EmptyCell
) -> DataFrame:
    """One row a cell: combination, size, and the smallest chunk_id in it."""
    from pyspark.sql import functions as F

    return (
        _exploded(cells, combinations, values, empty_cell)
        .groupBy("combination", "cell")
        .agg(F.count(F.lit(1)).alias("size"), F.min("chunk_id").alias("chunk_id"))
    )


def frequencies(
    cells: DataFrame, combinations: Combinations, empty_cell: EmptyCell = "exclude"
) -> DataFrame:
    """Count cells by size for every combination, in one pass over ``cells``.

    Parameters
    ----------
    cells : pyspark.sql.DataFrame
        Table ``cells``.
    combinations : sequence of sequences of str
        The J: categories each, any number of them.
    empty_cell : {"exclude", "include"}, optional
        What becomes of chunks without any entity of J; see :data:`EmptyCell`.

    Returns
    -------
    pyspark.sql.DataFrame
        ``combination, size, cells``: s_size of z_J. At most sqrt(2 n) rows a combination.
    """
    from pyspark.sql import functions as F

    counted = _counted(cells, combinations, F.col("cell"), empty_cell)
    return counted.groupBy("combination", "size").agg(F.count(F.lit(1)).alias("cells"))


def sample_uniques(
    cells: DataFrame, combinations: Combinations, empty_cell: EmptyCell = "exclude"
) -> DataFrame:
    """List the sample uniques of every combination.

    Parameters
    ----------
    cells, combinations, empty_cell
        As in :func:`frequencies`.

    Returns
    -------
    pyspark.sql.DataFrame
        ``combination, chunk_id``: chunks alone in their cell of z_J.
    """
    from pyspark.sql import functions as F

    counted = _counted(cells, combinations, F.col("cell"), empty_cell)
    return counted.where("size = 1").select("combination", "chunk_id")


def fit_risk(
    cells: DataFrame, combinations: Combinations, empty_cell: EmptyCell = "exclude"
) -> DataFrame:
    """Fit the Ewens-Pitman model to z_J for every combination.

    Parameters
    ----------
    cells : pyspark.sql.DataFrame
        Table ``cells``; read once.
    combinations : sequence of sequences of str
        The J, categories in configured order.
    empty_cell : {"exclude", "include"}, optional
        What becomes of chunks without any entity of J; n is the number of chunks that are left.

    Returns
    -------
    pyspark.sql.DataFrame
        Table ``risk_fits``, one row a combination. A table that has no estimate is a row with its
        ``reason``, ``converged`` false and null estimates.
    """
    from pyspark.sql import functions as F

    names = [Combination(combination).name for combination in combinations]
    wanted = cells.sparkSession.createDataFrame([(name,) for name in names], "combination string")
    tables = (
        frequencies(cells, combinations, empty_cell)
        .groupBy("combination")
        .agg(F.sort_array(F.collect_list(F.struct("size", "cells"))).alias("sizes"))
    )
    # an empty corpus has no frequencies: its combinations are rows with a reason all the same
    complete = wanted.join(tables, "combination", "left").select(
        "combination",
        F.col("sizes.size").alias("size"),
        F.col("sizes.cells").alias("cells"),
    )

    def fit(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        import pandas as pd

        for batch in batches:
            rows = []
            for name, size, number in batch.to_numpy().tolist():
                pairs = () if size is None else zip(size, number, strict=True)
                rows.append(fit_row(name, {int(j): int(s) for j, s in pairs}))
            yield pd.DataFrame(rows, columns=RISK_FITS.names)

    return complete.repartition(max(1, len(names)), "combination").mapInPandas(fit, RISK_FITS.ddl)


def recoding_effect(
    cells: DataFrame, combinations: Combinations, empty_cell: EmptyCell = "exclude"
) -> DataFrame:
    """Compare every z_J before and after recoding (``entities.recoding``).

    Parameters
    ----------
    cells : pyspark.sql.DataFrame
        Table ``cells``: ``entities`` hold the entities as recognised, ``cell`` the recoded values.
    combinations : sequence of sequences of str
        The J.
    empty_cell : {"exclude", "include"}, optional
        As in :func:`fit_risk`.

    Returns
    -------
    pyspark.sql.DataFrame
        ``combination, n, k_without, k_with, s1_without, s1_with``: cells and sample uniques without
        and with recoding. Combinations of an empty corpus have no row.
    """
    from pyspark.sql import functions as F

    plain = F.transform_values("entities", lambda _, v: F.array_join(v, " & "))
    without = (
        _counted(cells, combinations, plain, empty_cell)
        .groupBy("combination")
        .agg(
            F.sum("size").alias("n"),
            F.count(F.lit(1)).alias("k_without"),
            F.count(F.when(F.col("size") == 1, 1)).alias("s1_without"),
        )
    )
    recoded = (
        _counted(cells, combinations, F.col("cell"), empty_cell)
        .groupBy("combination")
        .agg(
            F.count(F.lit(1)).alias("k_with"),
            F.count(F.when(F.col("size") == 1, 1)).alias("s1_with"),
        )
    )
    return without.join(recoded, "combination").select(
        "combination", "n", "k_without", "k_with", "s1_without", "s1_with"
    )
