"""Spark: score every prefix of every sequence of swaps, and make candidates of the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from nes_spark.entities.combination import Combination
from nes_spark.releases.scoring import (
    OF_FITS,
    Unscored,
    as_averages,
    candidates_of,
    check_counts,
    denominators,
    risk_figures,
    score_sequence,
    tell,
)
from nes_spark.risk.stages import EmptyCell, sample_uniques
from nes_spark.schemas import CANDIDATES, SCORES, fields_of
from nes_spark.session import collected
from nes_spark.utility.measure import DECIMALS, data_utility

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame


def log_likelihoods(assignments: DataFrame) -> DataFrame:
    """Sum the log densities of the chunks before swapping, per setting.

    Returns
    -------
    pyspark.sql.DataFrame
        ``setting, n, log_f_pre, n_bad``. The sum is exact (decimals of 1e-9), so it does not depend
        on partitioning. ``n_bad`` counts densities that are not finite, which are left out.
    """
    from pyspark.sql import functions as F

    value = F.col("log_density")
    usable = value.isNotNull() & ~F.isnan(value) & (F.abs(value) < 1e10)
    # 11 + 9 digits a chunk leave 10 digits, 1e10 chunks, for the sum
    exact = F.when(usable, value).cast(f"decimal(20,{DECIMALS})")
    return assignments.groupBy("setting").agg(
        F.count(F.lit(1)).alias("n"),
        F.coalesce(F.sum(exact).cast("double"), F.lit(0.0)).alias("log_f_pre"),
        F.count(F.when(~usable, 1)).alias("n_bad"),
    )


def unscored(swaps: DataFrame, assignments: DataFrame, risk_fits: DataFrame) -> list[Unscored]:
    """List settings and combinations with swaps that cannot be scored, each with its reason.

    Parameters
    ----------
    swaps, assignments, risk_fits : pyspark.sql.DataFrame
        Tables of the run. Combinations that have no swap are not looked at: they cannot be chosen.

    Returns
    -------
    list of Unscored
        Empty when all can be scored.
    """
    pairs = swaps.select("setting", "combination").distinct().collect()
    fits = collected(risk_fits.select(*OF_FITS))
    _, failures = risk_figures(fits, {p["combination"] for p in pairs}, ())
    likelihoods = collected(log_likelihoods(assignments))
    _, more = denominators(likelihoods, {p["setting"] for p in pairs})
    return failures + more


def replaced_densities(post_log_density: DataFrame, assignments: DataFrame) -> DataFrame:
    """Return what replacing names in every release does to log densities.

    Parameters
    ----------
    post_log_density, assignments : pyspark.sql.DataFrame
        Tables ``post_density`` and ``assignments``.

    Returns
    -------
    pyspark.sql.DataFrame
        ``setting, chunk_id, base`` (log density of the chunk as every release has it) and
        ``change`` (against the text before), only of the chunks that are concerned.
    """
    from pyspark.sql import functions as F

    base = post_log_density.where("combination = '' AND `order` = 0").select(
        "setting", "chunk_id", F.col("log_density").alias("base")
    )
    before = assignments.select("setting", "chunk_id", F.col("log_density").alias("_pre"))
    return base.join(before, ["setting", "chunk_id"]).select(
        "setting", "chunk_id", "base", (F.col("base") - F.col("_pre")).alias("change")
    )


def _changes(replaced: DataFrame) -> dict[str, float]:
    """Setting -> sum of what replacing changes; exact, whatever the partitions."""
    from pyspark.sql import functions as F

    exact = F.col("change").cast(f"decimal(20,{DECIMALS})")
    summed = replaced.groupBy("setting").agg(F.sum(exact).cast("double").alias("change"))
    return {row["setting"]: row["change"] for row in summed.collect()}


def untouched_utility(post_log_density: DataFrame, assignments: DataFrame) -> dict[str, float]:
    """Return DU of the release without swaps, by setting.

    It is below 1 where must-change categories are replaced. Settings whose DU has no meaning, as
    its denominator is not positive, are left out.

    Parameters
    ----------
    post_log_density, assignments : pyspark.sql.DataFrame
        Tables ``post_density`` and ``assignments``.
    """
    changes = _changes(replaced_densities(post_log_density, assignments))
    found = {}
    for row in log_likelihoods(assignments).collect():
        if not row["n_bad"] and row["log_f_pre"] > 0:
            found[row["setting"]] = 1.0 + changes.get(row["setting"], 0.0) / row["log_f_pre"]
    return found


def scored_base(scores: DataFrame) -> dict[str, float]:
    """Return DU of the release without swaps of every setting that has scores.

    Parameters
    ----------
    scores : pyspark.sql.DataFrame
        Table ``scores``, whose rows hold the two sums that :func:`untouched_utility` would make.

    Returns
    -------
    dict
        Setting -> DU; settings without a swap or a score are not there.
    """
    from pyspark.sql import functions as F

    sums = scores.groupBy("setting").agg(
        F.min("log_f_pre").alias("pre"), F.min("log_f_base").alias("base")
    )
    return {row["setting"]: float(data_utility(row["base"], row["pre"])) for row in sums.collect()}


def score(
    swaps: DataFrame,
    cells: DataFrame,
    assignments: DataFrame,
    post_log_density: DataFrame,
    risk_fits: DataFrame,
    populations: Sequence[float],
    on_failure: Literal["stop", "skip"] = "stop",
    empty_cell: EmptyCell = "exclude",
) -> DataFrame:
    """Score disclosure risk and data utility after every swap of every sequence.

    Sequences (setting, combination, draw) are scored in parallel, each in one pass by prefix sums;
    all population sizes come out of the same pass.

    Parameters
    ----------
    swaps, cells, assignments, risk_fits : pyspark.sql.DataFrame
        Tables of the run. Sample uniques are those of the pre-swap ``cells``.
    post_log_density : pyspark.sql.DataFrame
        Table ``post_density``: ``setting, combination, draw, order, chunk_id, log_density`` of
        every swapped chunk under the component of the chunk before, and of every chunk that
        replacing alters (combination ''), against which the swaps are measured.
    populations : sequence of float
        Population sizes N.
    on_failure : {"stop", "skip"}, optional
        What to do about a combination without a risk estimate or a setting whose denominator of DU
        is not positive: raise its error, or leave it out and log a warning (see :func:`unscored`).
    empty_cell : {"exclude", "include"}, optional
        As in :func:`nes_spark.risk.stages.fit_risk`, which made `risk_fits`.

    Returns
    -------
    pyspark.sql.DataFrame
        Table ``scores``; empty when there is no swap.

    Raises
    ------
    EstimationError
        With the ``reason`` of the first failure; also when a population is smaller than the sample.
    NesError
        When tables disagree on the number of chunks, or lack a setting or combination of the swaps.
    """
    from pyspark.sql import functions as F

    pairs = swaps.select("setting", "combination").distinct().collect()
    combinations = {p["combination"] for p in pairs}
    figures, failures = risk_figures(
        collected(risk_fits.select(*OF_FITS)), combinations, populations
    )
    totals, more = denominators(
        collected(log_likelihoods(assignments)), {p["setting"] for p in pairs}
    )
    tell(failures + more, on_failure)
    n_chunks = cells.count() if totals and figures else 0
    check_counts(totals, figures, n_chunks, empty_cell)
    if not (totals and figures):
        return swaps.sparkSession.createDataFrame([], SCORES.ddl)
    ready = swaps.where(
        F.col("setting").isin(*sorted(totals)) & F.col("combination").isin(*sorted(figures))
    )
    key = ["setting", "combination", "draw", "order"]
    replaced = replaced_densities(post_log_density, assignments)
    changes = _changes(replaced)
    sides = ready.select(*key, F.explode(F.array("chunk_a", "chunk_b")).alias("chunk_id"))
    uniques = sample_uniques(cells, [Combination.parse(c) for c in sorted(figures)], empty_cell)
    swapped = (
        sides.join(uniques.withColumn("unique", F.lit(True)), ["combination", "chunk_id"], "left")
        .join(
            assignments.select("setting", "chunk_id", F.col("log_density").alias("_pre")),
            ["setting", "chunk_id"],
            "left",
        )
        .join(replaced.drop("change"), ["setting", "chunk_id"], "left")
        .withColumn("pre", F.coalesce("base", "_pre"))
        .join(
            post_log_density.select(*key, "chunk_id", F.col("log_density").alias("post")),
            [*key, "chunk_id"],
            "left",
        )
        .select(*key, "chunk_id", "pre", "post", F.coalesce("unique", F.lit(False)).alias("unique"))
    )

    def sequence(names: tuple[str, str, int], frame: pd.DataFrame) -> pd.DataFrame:
        setting, combination, draw = names
        before = totals[setting][1]
        base = before + changes.get(setting, 0.0)
        scores = score_sequence(frame, figures[combination], before, n_chunks, base)
        return scores.assign(setting=setting, combination=combination, draw=draw)[SCORES.names]

    return swapped.groupBy("setting", "combination", "draw").applyInPandas(sequence, SCORES.ddl)


def summarize(
    scores: DataFrame,
    settings: Sequence[str] = (),
    populations: Sequence[float] = (),
    per_draw: bool = False,
    draws: int | None = None,
    untouched: Mapping[str, float] | None = None,
) -> DataFrame:
    """Average scores over draws and mark the frontier of each setting and population.

    Parameters
    ----------
    scores : pyspark.sql.DataFrame
        Table ``scores``.
    settings, populations : sequences, optional
        Settings and population sizes that must have the release without swaps although nothing was
        scored for them.
    per_draw : bool, optional
        Keep every draw as a candidate of its own: the seed becomes part of the decision.
    draws : int, optional
        Draws that were made; by default the most that reached any candidate of a setting.
    untouched : mapping of str to float, optional
        Setting -> DU of the release without swaps (:func:`untouched_utility`); 1 by default.

    Returns
    -------
    pyspark.sql.DataFrame
        Table ``candidates``. Every setting and population has the release r = 0.
    """
    from pyspark.sql import functions as F

    columns = "setting string, population double, combination string, n_swaps int, r double, "
    columns += "draw int, draws int, DR double, DR_se double, DU double, DU_se double, "
    columns += "uniques_left double, uniques_expected double"
    nothing = dict(untouched or {})

    def averages(names: tuple[str, float, str], frame: pd.DataFrame) -> pd.DataFrame:
        setting, population, _ = names
        found = as_averages(frame, per_draw).assign(setting=setting, population=population)
        return found[[name for name, _ in fields_of(columns)]]

    means = scores.groupBy("setting", "population", "combination").applyInPandas(averages, columns)
    wanted = [(s, float(N)) for s in settings for N in populations]
    if wanted:
        # a marker row keeps a setting alive that has no scores
        base = scores.sparkSession.createDataFrame(wanted, "setting string, population double")
        empty = [F.lit(None).cast(kind).alias(name) for name, kind in fields_of(columns)]
        means = means.unionByName(base.select("setting", "population", *empty[2:]))

    def frontier(names: tuple[str, float], frame: pd.DataFrame) -> pd.DataFrame:
        setting, population = names
        known = frame[frame["combination"].notna()]
        made = 1 if per_draw else draws
        return candidates_of(setting, population, known, made, nothing.get(setting, 1.0))

    return means.groupBy("setting", "population").applyInPandas(frontier, CANDIDATES.ddl)
