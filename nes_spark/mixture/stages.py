"""Mixtures on Spark: fit a grid of settings, assign chunks, look up densities."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark.sql import functions as F

from nes_spark.errors import EstimationError, InputError
from nes_spark.mixture.em import Run
from nes_spark.mixture.families import Array
from nes_spark.mixture.fit import (
    Starts,
    begin,
    finish,
    fit_runs_in_memory,
    run_to_end,
)
from nes_spark.mixture.initial import sample_size
from nes_spark.mixture.model import MixtureModel
from nes_spark.mixture.packing_stages import document_of, fetch, vector_matrix
from nes_spark.mixture.passes_stages import SparkVectors
from nes_spark.mixture.settings import MixtureSetting, settings_of
from nes_spark.mixture.vectors import norms
from nes_spark.schemas import ASSIGNMENTS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from nes_spark.config import MixtureConfig

_log = logging.getLogger(__name__)


def _starting_sample(embeddings: DataFrame, size: int) -> Array:
    """Return the vectors with the smallest hashes of their chunk_id, sorted by chunk_id."""
    hashed = embeddings.select(
        "chunk_id",
        F.col("vector").cast("array<float>").alias("vector"),
        F.xxhash64("chunk_id", F.lit("start")).alias("hash"),
    )
    rows = hashed.orderBy("hash", "chunk_id").limit(size).toPandas().sort_values("chunk_id")
    sample = np.stack(rows["vector"].to_list()).astype(np.float64)
    return sample / norms(sample)[:, None]


def count_once(embeddings: DataFrame) -> DataFrame:
    """Return ``chunk_id`` of chunks whose vector another one with a smaller id has, bit for bit.

    Parameters
    ----------
    embeddings : DataFrame
        ``chunk_id, vector``.
    """
    vector = F.col("vector").cast("array<float>")
    # 96 bits of hash: no two vectors of a corpus share them by chance
    alike = embeddings.select(
        "chunk_id", F.xxhash64(vector).alias("_x"), F.hash(vector).alias("_h")
    )
    first = alike.groupBy("_x", "_h").agg(
        F.min("chunk_id").alias("_first"), F.count(F.lit(1)).alias("_n")
    )
    repeated = alike.join(first.where("_n > 1"), ["_x", "_h"])
    return repeated.where("chunk_id <> _first").select("chunk_id")


def fit_mixtures(
    embeddings: DataFrame,
    config: MixtureConfig,
    seed: int | str | bytes,
    warm_start: Mapping[str, MixtureModel] | None = None,
    partitions: int | None = None,
) -> dict[str, MixtureModel]:
    """Fit every setting of a configuration; all settings and restarts share the passes.

    Equal vectors count once: chunks such as "Thank you." are the same in many documents, and the
    likelihood of a mixture has no bound where a component closes on points that coincide. They say
    nothing about the shape of a topic; all chunks are assigned afterwards.

    Up to ``config.in_memory_rows`` vectors are fitted on the driver, more on Spark; which, is
    logged. Both give the same result to rounding, and neither depends on the order or the
    partitioning of the rows.

    Parameters
    ----------
    embeddings : DataFrame
        Table ``embeddings``.
    config : MixtureConfig
        The grid of settings and how to fit them.
    seed : int, str or bytes
        Seed of the starts.
    warm_start : mapping of str to MixtureModel, optional
        Earlier models by the name of their setting, each the start of one more restart.
    partitions : int, optional
        Partitions of a fit on Spark; the session's shuffle partitions by default.

    Returns
    -------
    dict of str to MixtureModel
        By the name of the setting, in the order of the configuration.

    Raises
    ------
    InputError
        When there are no vectors, or they differ in length, are not finite or not of unit norm.
    """
    about = embeddings.agg(
        F.count("*").alias("n"),
        F.min(F.size("vector")).alias("low"),
        F.max(F.size("vector")).alias("high"),
        F.count_if(F.col("vector").isNull()).alias("nulls"),
    ).first()
    if about is None or not about["n"]:
        raise InputError("embeddings: no vectors to fit a mixture to; is the corpus empty?")
    if about["nulls"] or about["low"] != about["high"] or about["low"] < 2:
        raise InputError(
            f"embeddings: vectors have from {about['low']} to {about['high']} numbers and "
            f"{about['nulls']} are missing; all must have one length of at least 2"
        )
    n, dimension = int(about["n"]), int(about["low"])
    repeated = count_once(embeddings).persist()
    try:
        return _fit_distinct(
            embeddings.join(repeated, "chunk_id", "left_anti"),
            n - repeated.count(), n, dimension, config, seed, warm_start, partitions,
        )  # fmt: skip
    finally:
        repeated.unpersist()


def _fit_distinct(
    embeddings: DataFrame,
    n: int,
    n_chunks: int,
    dimension: int,
    config: MixtureConfig,
    seed: int | str | bytes,
    warm_start: Mapping[str, MixtureModel] | None,
    partitions: int | None,
) -> dict[str, MixtureModel]:
    """Fit all settings to ``n`` vectors that differ, of ``n_chunks`` chunks."""
    settings = settings_of(config)
    in_memory = n <= config.in_memory_rows
    size = max(sample_size(s.n_components) for s in settings)

    def prepare(sample: Array, where: str) -> dict[MixtureSetting, list[Run]]:
        known: Starts = {}
        runs = {
            setting: begin(
                setting,
                sample,
                config.n_init,
                config.max_iter,
                config.tol,
                seed,
                (warm_start or {}).get(setting.name),
                max_radius=config.max_concentration,
                known=known,
            )
            for setting in settings
        }
        _log.info(
            "mixtures: %d settings, %d runs on %d vectors of dimension %d, fitted %s; %d chunks "
            "repeat one of them",
            len(settings),
            sum(map(len, runs.values())),
            n,
            dimension,
            where,
            n_chunks - n,
        )
        return runs

    if in_memory:
        data, ids = fetch(embeddings, n, dimension)
        if n <= size:
            sample = data.take(np.array(sorted(range(n), key=ids.__getitem__), dtype=np.intp))
        else:
            sample = _starting_sample(embeddings, size)
        runs = prepare(sample, "in memory")
        wanted = config.min_documents > 0 or config.document_penalty > 0
        documents = np.array([document_of(i) for i in ids]) if wanted else None
        fit_runs_in_memory(
            [run for of_setting in runs.values() for run in of_setting],
            data,
            config.min_documents,
            documents,
            config.document_penalty,
        )
    else:
        with SparkVectors(embeddings, n, dimension, partitions, config.document_penalty) as vectors:
            runs = prepare(
                _starting_sample(embeddings, size),
                f"on Spark in {vectors.n_groups} groups of blocks",
            )
            run_to_end(
                [run for of_setting in runs.values() for run in of_setting],
                vectors.evaluate,
                config.min_documents,
                vectors.effective_documents,
            )
    models = {
        setting.name: finish(setting, of_setting, n, config.document_penalty)
        for setting, of_setting in runs.items()
    }
    for name, model in models.items():
        _log.info(
            "mixture %s: %s after %d iterations, log-likelihood %.6g, %d components, %d removed, "
            "%d at the ceiling",
            name,
            "converged" if model.converged else "NOT converged",
            model.n_iter,
            model.log_likelihood,
            model.n_components,
            len(model.removed),
            len(model.capped),
        )
    return models


def assign(embeddings: DataFrame, models: Mapping[str, MixtureModel]) -> DataFrame:
    """Return the most probable component of each chunk under each model.

    Parameters
    ----------
    embeddings : DataFrame
        Table ``embeddings``.
    models : mapping of str to MixtureModel
        By setting.

    Returns
    -------
    DataFrame
        Table ``assignments``: one row for each setting and chunk. Components and log densities
        depend on the vector alone, not on the rows that share its batch or partition.
    """
    by_name = dict(models)
    dimension = _common_dimension(by_name)

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if not batch.num_rows:
                continue
            matrix = vector_matrix(batch.column("vector"), dimension)
            for name, model in by_name.items():
                components, log_densities = model.assign(matrix)
                yield pa.RecordBatch.from_arrays(
                    [
                        pa.array([name] * batch.num_rows, pa.string()),
                        batch.column("chunk_id"),
                        pa.array(components, pa.int32()),
                        pa.array(log_densities, pa.float64()),
                    ],
                    names=ASSIGNMENTS.names,
                )

    vectors = embeddings.select("chunk_id", F.col("vector").cast("array<float>").alias("vector"))
    return vectors.mapInArrow(work, ASSIGNMENTS.ddl)


def log_density_at(df: DataFrame, models: Mapping[str, MixtureModel]) -> DataFrame:
    """Add the log density of each vector under the component named for it.

    Parameters
    ----------
    df : DataFrame
        With columns ``setting``, ``component`` and ``vector``, and any others.
    models : mapping of str to MixtureModel
        By setting.

    Returns
    -------
    DataFrame
        The same with ``log_density`` (double), relative to the uniform distribution. It depends on
        the row alone, bit for bit.
    """
    by_name = dict(models)

    def density(setting: pd.Series, component: pd.Series, vector: pd.Series) -> pd.Series:
        result = np.empty(len(setting))
        for name in setting.unique():
            rows = np.flatnonzero((setting == name).to_numpy())
            if name not in by_name:
                raise EstimationError(f"no mixture model for setting {name!r}", "unknown_setting")
            matrix = np.stack([np.asarray(v, dtype=np.float32) for v in vector.iloc[rows]])
            result[rows] = by_name[name].log_density_at(matrix, component.iloc[rows].to_numpy())
        return pd.Series(result)

    column = F.pandas_udf(density, "double")  # type: ignore[call-overload]
    return df.withColumn(
        "log_density",
        column(F.col("setting"), F.col("component"), F.col("vector").cast("array<float>")),
    )


def _common_dimension(models: Mapping[str, MixtureModel]) -> int:
    dimensions = {m.dimension for m in models.values()}
    if len(dimensions) != 1:
        raise InputError(f"mixture models must share one dimension, got {sorted(dimensions)}")
    return dimensions.pop()
