"""Spark stages: fit the embedder where it needs fitting, and embed a table of texts.

The model is loaded once per Python worker. A row's vector depends on its text only, so that the
result does not depend on partitions or batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from nes_spark.embedding.base import EmbedderSpec
from nes_spark.embedding.loading import load_embedder, spec_for
from nes_spark.schemas import EMBEDDINGS

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import Column, DataFrame

    from nes_spark.config import EmbeddingConfig

#: Finds the sentences of a text: (start, end) of each.
Splitter = Callable[[str], Sequence[tuple[int, int]]]

#: Kinds that embed a text faster than Spark brings it to its equals.
_FAST = ("bundled", "lsa")
#: Texts embedded at a time in a worker: bounds memory whatever the Arrow batch.
BLOCK = 512


def lines(text: str) -> list[tuple[int, int]]:
    """Return the span of every line that is not blank."""
    spans, start = [], 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            spans.append((start, start + len(line.rstrip())))
        start += len(line)
    return spans


def _sentence_sample(texts: DataFrame, size: int, split_sentences: Splitter) -> list[str]:
    """Return at most ``size`` sentences, chosen by the hash of their content.

    A sentence is in the sample or not whatever the partitioning; equal sentences count once.
    """
    from pyspark.sql import functions as F

    def split(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        import pandas as pd

        for batch in batches:
            for text in batch["text"]:
                spans = split_sentences(text)
                for i in range(0, len(spans), 2000):
                    found = [text[a:b] for a, b in spans[i : i + 2000]]
                    yield pd.DataFrame({"sentence": found})

    sentences = texts.select("text").mapInPandas(split, "sentence string").distinct()
    chosen = sentences.orderBy(F.xxhash64("sentence"), "sentence").limit(size)
    return [row["sentence"] for row in chosen.collect()]


def fit_embedder(
    texts: DataFrame,
    config: EmbeddingConfig,
    folder: str | Path,
    cache_path: str | Path | None = None,
    split_sentences: Splitter = lines,
) -> EmbedderSpec:
    """Fit the embedder where it needs fitting (``lsa`` only) and return its specification.

    Parameters
    ----------
    texts : pyspark.sql.DataFrame
        A table with a column ``text``: documents or chunks.
    config : EmbeddingConfig
        ``lsa_sample`` bounds the sentences that are brought to the driver and fitted on.
    folder : str or pathlib.Path
        Where a fitted model is saved; every worker must be able to read it.
    cache_path : str or pathlib.Path, optional
        See :func:`nes_spark.embedding.spec_for`.
    split_sentences : callable, optional
        Text -> list of (start, end) of its sentences, for the sample that ``lsa`` is fitted on; by
        default every line is one.

    Returns
    -------
    EmbedderSpec

    Raises
    ------
    ConfigError
        When the embedder cannot be loaded here (key or package missing), or the endpoint refuses
        key, model or dimension.
    InfrastructureError
        When the endpoint cannot be reached.
    InputError
        When there is too little text to fit on.
    """
    if config.model == "lsa":
        from nes_spark.embedding.lsa import fit_lsa

        root = str(folder).removeprefix("file://")
        model = fit_lsa(
            _sentence_sample(texts, config.lsa_sample, split_sentences), config.dimension
        )
        return spec_for(config, fitted_path=model.save(root))
    spec = spec_for(config, cache_path=cache_path)
    embedder = load_embedder(spec)
    if spec.kind == "openai":
        embedder.check()  # type: ignore[attr-defined]
    return spec


def embed_texts(
    df: DataFrame, spec: EmbedderSpec, id_columns: Sequence[str], text_column: str = "text"
) -> DataFrame:
    """Embed a column of texts.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Table with the id columns and the text column.
    spec : EmbedderSpec
    id_columns : sequence of str
        Columns carried over; of any type that Arrow knows.
    text_column : str, default "text"

    Returns
    -------
    pyspark.sql.DataFrame
        The id columns, ``vector`` (array of float, norm 1) and ``model_id``.
    """
    names = list(id_columns)
    fields = {f.name: f.dataType.simpleString() for f in df.schema.fields}
    schema = ", ".join(f"`{n}` {fields[n]}" for n in names)
    schema = f"{schema}, `vector` array<float>, `model_id` string".removeprefix(", ")

    def embed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        embedder = load_embedder(spec)
        for batch in batches:
            for start in range(0, batch.num_rows, BLOCK):
                part = batch.slice(start, BLOCK)
                texts = [t or "" for t in part.column(len(names)).to_pylist()]
                vectors = embedder.embed(texts)
                n, d = vectors.shape
                offsets = np.arange(0, n * d + 1, d, dtype=np.int32)
                values = pa.ListArray.from_arrays(offsets, vectors.reshape(-1))
                model = pa.array([embedder.model_id] * n, type=pa.string())
                columns = [part.column(i) for i in range(len(names))]
                yield pa.RecordBatch.from_arrays(
                    [*columns, values, model], [*names, "vector", "model_id"]
                )

    return df.select(*names, text_column).mapInArrow(embed, schema)


def is_fast(spec: EmbedderSpec) -> bool:
    """Whether texts are embedded faster than Spark brings them anywhere."""
    return spec.kind in _FAST


def spread_by(spec: EmbedderSpec) -> Column:
    """Return what chunks are spread over tasks by: equal texts to one where embedding is slow."""
    from pyspark.sql import functions as F

    return F.col("chunk_id") if is_fast(spec) else F.sha2("text", 256)


def embed_chunks(chunks: DataFrame, spec: EmbedderSpec) -> DataFrame:
    """Embed chunks.

    Parameters
    ----------
    chunks : pyspark.sql.DataFrame
        Columns of :data:`nes_spark.schemas.CHUNKS`; spread over tasks by :func:`spread_by`, equal
        texts are read once.
    spec : EmbedderSpec

    Returns
    -------
    pyspark.sql.DataFrame
        Columns of :data:`nes_spark.schemas.EMBEDDINGS`.
    """
    if not is_fast(spec):
        # An embedder reads a text once however often it stands among those that it is given.
        chunks = chunks.sortWithinPartitions(spread_by(spec))
    return embed_texts(chunks, spec, ["chunk_id"], "text").select(*EMBEDDINGS.names)
