"""Spark: what each option of the sampler does to swaps, risk and utility of one combination."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nes_spark.releases.scoring import at_most, average
from nes_spark.releases.stages import score
from nes_spark.schemas import SWAPS

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

    from nes_spark.config import EntitiesConfig, ReleasesConfig, SwappingConfig
    from nes_spark.embedding import EmbedderSpec
    from nes_spark.mixture import MixtureModel

#: The row of the run's own settings.
AS_CONFIGURED = "as configured"


def compare_options(
    options: Mapping[str, tuple[ReleasesConfig, SwappingConfig]],
    n_swaps: int,
    population: float,
    tables: Mapping[str, DataFrame],
    entities: EntitiesConfig,
    spec: EmbedderSpec,
    setting: str,
    model: MixtureModel,
    secret: bytes,
    sampling: Mapping[str, Any],
    shifts: DataFrame | None = None,
) -> pd.DataFrame:
    """Sample, rewrite and score one combination under several options of the sampler.

    All options start from the same seed, so that differences are not those of the draw alone.
    Texts are rewritten, embedded and scored in one pass over all options.

    Parameters
    ----------
    options : mapping of str to (ReleasesConfig, SwappingConfig)
        By the name that the table shows; each with one and the same combination.
    n_swaps : int
        Number of swaps at which DR and DU are compared; less where an option does not reach it.
    population : float
        N.
    tables : mapping of str to pyspark.sql.DataFrame
        ``cells``, ``assignments``, ``chunks``, ``mentions``, ``risk_fits`` of the run.
    entities : EntitiesConfig
        For the cells after swapping.
    spec : EmbedderSpec
        Embedder of the run.
    setting : str
        Mixture setting.
    model : MixtureModel
        Its mixture.
    secret : bytes
        The secret seed.
    sampling : mapping
        As :func:`nes_spark.run.pipeline.sampling_tables` returns it, with ``covariates`` where an
        option needs them.
    shifts : pyspark.sql.DataFrame, optional
        Secret shift of each document; needed where ``releases.shift`` names a category.

    Returns
    -------
    pandas.DataFrame
        ``option, draws, reached`` (mean length of the sequence over draws), ``limit`` (longest
        tried), ``n_swaps`` (of the comparison), ``uniques`` (mean swapped sample uniques there),
        ``DR, DR_se, DU, DU_se``; one row an option, in the order given. An option without any swap
        has zeros and no scores.
    """
    import pandas as pd
    from pyspark.sql import functions as F

    from nes_spark.swapping.stages import rewrite, sample_candidates
    from nes_spark.utility.density_stages import post_density

    spark = tables["cells"].sparkSession
    mine = tables["assignments"].where(F.col("setting") == setting)
    # Options take the place of mixture settings from here on: all later steps keep those apart.
    # Their swaps are few (options x draws x option_swaps) and pass through the driver: a plan that
    # holds the sampling of all options more than once grows beyond what Spark can handle.
    drawn = {}
    for name, (releases, swapping) in options.items():
        found = sample_candidates(tables["cells"], mine, releases, swapping, secret, **sampling)
        drawn[name] = found.withColumn("setting", F.lit(name)).select(*SWAPS.names).collect()
    swaps = spark.createDataFrame([row for found in drawn.values() for row in found], SWAPS.ddl)
    names = spark.createDataFrame([(name,) for name in options], "setting string")
    placed = mine.drop("setting").crossJoin(F.broadcast(names))
    rewrites = None
    for mend in {swapping.mend_articles for _, swapping in options.values()}:
        alike = [name for name, (_, s) in options.items() if s.mend_articles == mend]
        part = rewrite(
            swaps.where(F.col("setting").isin(alike)),
            tables["chunks"],
            tables["mentions"],
            *options[alike[0]],
            entities,
            shifts=shifts,
        )
        rewrites = part if rewrites is None else rewrites.unionByName(part)
    assert rewrites is not None
    densities = post_density(rewrites, placed, spec, dict.fromkeys(options, model))
    scores = score(
        swaps, tables["cells"], placed, densities, tables["risk_fits"], [population]
    ).toPandas()
    rows = []
    for name, (releases, _) in options.items():
        own = scores[scores["setting"] == name]
        row: dict[str, Any] = {"option": name, "draws": releases.draws, "reached": 0.0}
        row["limit"] = releases.max_swaps
        row |= dict.fromkeys(("n_swaps", "uniques"), 0)
        row |= dict.fromkeys(("DR", "DR_se", "DU", "DU_se"))
        if len(own):
            last = at_most(own, n_swaps)
            mean = average(last.assign(n_swaps=int(last["n_swaps"].max()))).iloc[0]
            row["reached"] = float(own.groupby("draw")["n_swaps"].max().sum()) / releases.draws
            row["n_swaps"] = int(last["n_swaps"].max())
            row["uniques"] = float(last["swapped_uniques"].mean())
            row |= {key: mean[key] for key in ("DR", "DR_se", "DU", "DU_se")}
        rows.append(row)
    return pd.DataFrame(rows)
