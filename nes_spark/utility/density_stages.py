"""The log density of post-swap texts as a stage.

Texts are embedded where they are placed by an embedder that reads a text faster than Spark hands on
its vector; by others each distinct text is embedded once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from nes_spark.embedding.loading import load_embedder
from nes_spark.embedding.stages import BLOCK, embed_texts, is_fast
from nes_spark.mixture.stages import log_density_at
from nes_spark.schemas import POST_DENSITY, arrow_schema
from nes_spark.utility.density import placed_densities, released_densities

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from nes_spark.embedding import EmbedderSpec
    from nes_spark.mixture import MixtureModel


def post_density(
    rewrites: DataFrame,
    assignments: DataFrame,
    spec: EmbedderSpec,
    models: Mapping[str, MixtureModel],
    replaced: DataFrame | None = None,
) -> DataFrame:
    """Evaluate released chunks under the component of the chunk before the swap (section 2.5).

    Parameters
    ----------
    rewrites : pyspark.sql.DataFrame
        Table ``rewrites``.
    assignments : pyspark.sql.DataFrame
        Table ``assignments`` of the pre-swap chunks.
    spec : EmbedderSpec
        The embedder that embedded the chunks before.
    models : mapping of str to MixtureModel
        Fitted mixtures by setting.
    replaced : pyspark.sql.DataFrame, optional
        ``chunk_id, text`` of chunks that every release changes, swapped or not: those with a name
        of a category that is replaced everywhere.

    Returns
    -------
    pyspark.sql.DataFrame
        Table ``post_density``; the rows of `replaced` have the combination '' and order 0.
    """
    from pyspark.sql import functions as F

    texts = rewrites.select("setting", "combination", "draw", "order", "chunk_id", "text")
    if replaced is not None:
        settings = assignments.select("setting").distinct()
        texts = texts.unionByName(
            replaced.crossJoin(F.broadcast(settings)).select(
                "setting",
                F.lit("").alias("combination"),
                F.lit(0).alias("draw"),
                F.lit(0).alias("order"),
                "chunk_id",
                "text",
            )
        )
    if is_fast(spec):
        places = assignments.select("setting", "chunk_id", "component")
        return _placed_here(texts.join(places, ["setting", "chunk_id"], "left"), spec, models)
    every = texts.withColumn("digest", F.sha2("text", 256))
    keyed = every.where("text <> ''")
    # Draws and combinations often make the same text; a paid endpoint is asked for it once.
    distinct = keyed.select("digest", "text").dropDuplicates(["digest"])
    vectors = embed_texts(distinct, spec, ["digest"], "text").select("digest", "vector")
    placed = (
        keyed.select("setting", "combination", "draw", "order", "chunk_id", "digest")
        .join(assignments.select("setting", "chunk_id", "component"), ["setting", "chunk_id"])
        .join(vectors, "digest")
    )
    told = log_density_at(placed, models).select(*POST_DENSITY.names)
    # A chunk that is not published says nothing: it may lie anywhere on the sphere.
    silent = every.where("text = ''").withColumn("log_density", F.lit(0.0))
    return told.unionByName(silent.select(*POST_DENSITY.names))


def _placed_here(
    texts: DataFrame, spec: EmbedderSpec, models: Mapping[str, MixtureModel]
) -> DataFrame:
    """Evaluate texts that know their component, or that none is known of, each by itself."""
    by_name = dict(models)

    def evaluate(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        schema = arrow_schema(POST_DENSITY.ddl)
        embedder = load_embedder(spec)
        for batch in batches:
            for start in range(0, batch.num_rows, BLOCK):
                rows = batch.slice(start, BLOCK).to_pandas()
                found = placed_densities(rows, embedder.embed, by_name)
                yield pa.RecordBatch.from_pandas(found, schema=schema, preserve_index=False)

    return texts.mapInArrow(evaluate, POST_DENSITY.ddl)


def post_density_here(
    rewrites: pd.DataFrame,
    assignments: pd.DataFrame,
    spec: EmbedderSpec,
    models: Mapping[str, MixtureModel],
    replaced: DataFrame | None = None,
) -> pd.DataFrame:
    """Give the table of :func:`post_density` for few texts, in this process.

    Parameters
    ----------
    rewrites, assignments : pandas.DataFrame
        The tables; of the first without the edits.
    spec, models, replaced
        As for :func:`post_density`.
    """
    import pandas as pd

    texts = rewrites
    if replaced is not None:
        rows = [tuple(row) for row in replaced.select("chunk_id", "text").collect()]
        every = pd.DataFrame(rows, columns=["chunk_id", "text"])
        settings = assignments[["setting"]].drop_duplicates()
        every = every.merge(settings, how="cross").assign(combination="", draw=0, order=0)
        texts = pd.concat([rewrites, every])
    return released_densities(texts, assignments, load_embedder(spec).embed, models)
