"""Passes of the EM algorithm over vectors packed on Spark.

A pass evaluates every active mixture on every block (:mod:`nes_spark.mixture.packing_stages`), adds
the statistics up block by block within a group (in one Python worker), group by group within a
section, and section by section on the driver. What is added to what in which order is thus fixed by
the ids and the number of rows alone: the result is the same, bit for bit, for every number of
partitions.

A pass sends only block numbers to the Python workers, scheduled where the cached block is, and the
worker maps the file. Where a file is missing, the block is sent from the cache instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import functions as F

from nes_spark.errors import InfrastructureError
from nes_spark.mixture.documents import whole_documents
from nes_spark.mixture.em import Parameters, Statistics, added, block_statistics
from nes_spark.mixture.families import Array
from nes_spark.mixture.fit import most_probable
from nes_spark.mixture.packing_stages import (
    block_file,
    document_of,
    pack,
    read_block,
    refuse_faults,
)
from nes_spark.mixture.vectors import block_rows, norms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Groups in a section.
SECTION = 16
#: Statistics of one pass above this size are added up by section on Spark, not on the driver.
DRIVER_BYTES = 32 << 20


def _unit(part: NDArray[np.float32]) -> Array:
    wide = part.astype(np.float64)
    wide /= norms(wide)[:, None]
    return wide


def _blocks_of(vectors: NDArray[np.float32]) -> Iterator[Array]:
    """Yield cache-sized parts of a block in double precision, of norm one to rounding."""
    step = block_rows(vectors.shape[1])
    for begin_row in range(0, len(vectors), step):
        yield _unit(vectors[begin_row : begin_row + step])


def _parts_of(
    vectors: NDArray[np.float32], starts: Sequence[int] | None
) -> Iterator[tuple[Array, NDArray[np.intp] | None]]:
    """Yield the same, or parts of whole documents and their starts."""
    if not starts:
        for part in _blocks_of(vectors):
            yield part, None
        return
    first_rows = np.asarray(starts, dtype=np.intp)
    step = block_rows(vectors.shape[1])
    for begin_row, end_row, of_part in whole_documents(first_rows, len(vectors), step):
        yield _unit(vectors[begin_row:end_row]), of_part


def _encode(statistics: Sequence[Statistics]) -> bytes:
    parts = []
    for s in statistics:
        parts += [
            np.array([s.log_likelihood, s.classification, s.cost]),
            s.mass,
            s.weight,
            s.shares,
            s.direction.ravel(),
        ]
    return np.concatenate(parts).tobytes()


def _decode(values: Array, mixtures: Sequence[Parameters]) -> list[Statistics]:
    result, at = [], 0
    for m in mixtures:
        k, d = m.means.shape
        head = values[at : at + 3 + 3 * k]
        at += 3 + 3 * k
        direction = values[at : at + k * d].reshape(k, d)
        at += k * d
        result.append(
            Statistics(
                float(head[0]),
                float(head[1]),
                head[3 : 3 + k],
                head[3 + k : 3 + 2 * k],
                direction,
                float(head[2]),
                head[3 + 2 * k :],
            )
        )
    return result


class SparkVectors:
    """Packed vectors on Spark, ready to be evaluated pass by pass.

    Use as a context manager: on leaving it, the block files and the cached table are dropped.

    Parameters
    ----------
    embeddings : DataFrame
        Table ``embeddings``.
    n, dimension : int
        Number of rows and length of the vectors.
    partitions : int, optional
        See :func:`pack`.
    document_penalty : float, optional
        See :func:`nes_spark.mixture.fit.fit_mixture`.

    Raises
    ------
    InputError
        When vectors are not finite or not of unit norm; the message names some of their chunks.
    """

    def __init__(
        self,
        embeddings: DataFrame,
        n: int,
        dimension: int,
        partitions: int | None = None,
        document_penalty: float = 0.0,
    ) -> None:
        self.n, self.dimension = n, dimension
        self.price = document_penalty / n
        self.packed, self.name, self.n_groups = pack(
            embeddings, n, dimension, partitions, whole=document_penalty > 0.0
        )
        self.packed = self.packed.persist()
        self.spark = embeddings.sparkSession
        self.sent = 0  # groups whose vectors had to be sent from the cache so far
        try:
            faulty = self.packed.where("faults <> ''").select("faults").collect()
            refuse_faults(r["faults"] for r in faulty)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> SparkVectors:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Delete the block files where they can be reached, and drop the cached table."""
        name = self.name

        def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for block in batch.column("block").to_pylist():
                    path = block_file(name, block)
                    if path is not None:
                        path.unlink(missing_ok=True)
            yield pa.RecordBatch.from_arrays([pa.array([0], pa.int32())], names=["done"])

        try:
            self.packed.select("block").mapInArrow(work, "done int").count()
        finally:
            self.packed.unpersist()

    def _rows(self, plan: Callable[[DataFrame], DataFrame], size: int) -> list[Any]:
        """Run a plan over all groups and return its rows, one for every ``size`` groups.

        The plan gets block numbers only, and reads the blocks from local files. It yields columns
        ``number`` (of the group, or of ``size`` groups) and ``missing``, true where a block could
        not be read; there it is run again on blocks sent from the cache.
        """
        columns = ["group", "block", "starts"] if self.price > 0.0 else ["group", "block"]
        rows = plan(self.packed.select(*columns)).collect()
        missing = sorted(r["number"] for r in rows if r["missing"])
        if missing:
            self.sent += len(missing)
            rows = [r for r in rows if not r["missing"]]
            again = self.packed.where(F.floor(F.col("group") / F.lit(size)).isin(missing))
            with self._single_rows():
                rows += plan(again.select(*columns, "vectors")).collect()
        if len({r["number"] for r in rows}) != len(rows):
            raise InfrastructureError("a group of blocks was split over Spark partitions")
        return sorted(rows, key=lambda r: r["number"])

    @contextmanager
    def _single_rows(self) -> Iterator[None]:
        """Send rows to Python one by one: a batch of thousands of blocks would not fit."""
        key = "spark.sql.execution.arrow.maxRecordsPerBatch"
        before = self.spark.conf.get(key)
        self.spark.conf.set(key, "1")
        try:
            yield
        finally:
            if before is None:
                self.spark.conf.unset(key)
            else:
                self.spark.conf.set(key, before)

    def evaluate(self, mixtures: list[Parameters]) -> list[Statistics]:
        """Return the statistics of several mixtures over all vectors: one pass."""
        name, dimension, price = self.name, self.dimension, self.price

        def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            def row(group: int, missing: bool, total: Array | None) -> pa.RecordBatch:
                content = None if missing or total is None else total.tobytes()
                return pa.RecordBatch.from_arrays(
                    [
                        pa.array([group], pa.int32()),
                        pa.array([missing], pa.bool_()),
                        pa.array([content], pa.binary()),
                    ],
                    names=["number", "missing", "statistics"],
                )

            present, total, missing = -1, None, False
            for batch in batches:
                sent = (
                    batch.column("vectors")
                    if "vectors" in batch.schema.names
                    else [None] * batch.num_rows
                )
                documents = (
                    batch.column("starts").to_pylist()
                    if "starts" in batch.schema.names
                    else [None] * batch.num_rows
                )
                for group, block, starts, content in zip(
                    batch.column("group").to_pylist(),
                    batch.column("block").to_pylist(),
                    documents,
                    sent,
                    strict=True,
                ):
                    if group != present:
                        if present >= 0:
                            yield row(present, missing, total)
                        present, total, missing = group, None, False
                    if missing:
                        continue
                    buffer = None if content is None else content.as_buffer()
                    vectors = read_block(name, block, dimension, buffer)
                    if vectors is None:
                        missing = True
                        continue
                    of_block: list[Statistics] | None = None
                    for part, of_part in _parts_of(vectors, starts):
                        statistics = block_statistics(part, mixtures, of_part, price)
                        of_block = added(of_block, statistics)
                    if of_block is not None:
                        values = np.frombuffer(_encode(of_block), dtype=np.float64)
                        total = values.copy() if total is None else total + values
            if present >= 0:
                yield row(present, missing, total)

        schema = "number int, missing boolean, statistics binary"
        in_section = SECTION
        width = sum(3 + m.n_components * (3 + dimension) for m in mixtures)
        sections: dict[int, Array] = {}
        if 8 * width * self.n_groups > DRIVER_BYTES and self.n_groups > in_section:
            # only the sums of sections come to the driver
            for r in self._rows(
                lambda table: (
                    table.mapInArrow(work, schema)
                    .groupBy(F.floor(F.col("number") / F.lit(in_section)))
                    .applyInPandas(lambda frame: _add_section(frame, in_section), schema)
                ),
                in_section,
            ):
                sections[r["number"]] = np.frombuffer(bytes(r["statistics"]), dtype=np.float64)
        else:
            for r in self._rows(lambda table: table.mapInArrow(work, schema), 1):
                values = np.frombuffer(bytes(r["statistics"]), dtype=np.float64)
                section = r["number"] // in_section
                sections[section] = sections[section] + values if section in sections else values
        total: Array | None = None
        for section in sorted(sections):
            total = sections[section] if total is None else total + sections[section]
        if total is None or len(total) != width:
            raise InfrastructureError("a pass over the vectors returned no statistics")
        return _decode(total, mixtures)

    def effective_documents(self, mixtures: list[Parameters]) -> list[Array]:
        """Return the effective number of documents of each component of each mixture.

        See :func:`nes_spark.mixture.fit.effective_documents`; the counts are added up on Spark.
        """
        dimension = self.dimension

        def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for ids, content in zip(
                    batch.column("chunk_ids").to_pylist(), batch.column("vectors"), strict=True
                ):
                    vectors = np.frombuffer(content.as_buffer(), dtype=np.float32)
                    documents = np.array([document_of(i) for i in ids], dtype=object)
                    names, codes = np.unique(documents, return_inverse=True)
                    parts = list(_blocks_of(vectors.reshape(-1, dimension)))
                    for j, m in enumerate(mixtures):
                        labels = np.concatenate([most_probable(part, m) for part in parts])
                        pairs, counts = np.unique(
                            np.stack([labels, codes]), axis=1, return_counts=True
                        )
                        yield pa.RecordBatch.from_arrays(
                            [
                                pa.array(np.full(len(counts), j), pa.int32()),
                                pa.array(pairs[0], pa.int32()),
                                pa.array(names[pairs[1]], pa.string()),
                                pa.array(counts, pa.int64()),
                            ],
                            names=["mixture", "component", "document", "chunks"],
                        )

        schema = "mixture int, component int, document string, chunks bigint"
        with self._single_rows():
            rows = (
                self.packed.select("chunk_ids", "vectors")
                .mapInArrow(work, schema)
                .groupBy("mixture", "component", "document")
                .agg(F.sum("chunks").alias("chunks"))
                .groupBy("mixture", "component")
                .agg(
                    F.sum("chunks").alias("total"),
                    F.sum(F.col("chunks") * F.col("chunks")).alias("squares"),
                )
                .collect()
            )
        result = [np.zeros(m.n_components) for m in mixtures]
        for r in rows:
            result[r["mixture"]][r["component"]] = r["total"] ** 2 / r["squares"]
        return result


def _add_section(frame: pd.DataFrame, in_section: int) -> pd.DataFrame:
    """Add the statistics of the groups of one section, in the order of their numbers."""
    frame = frame.sort_values("number")
    lost = bool(frame["missing"].any())
    total: Array | None = None
    if not lost:
        for content in frame["statistics"]:
            values = np.frombuffer(content, dtype=np.float64)
            total = values if total is None else total + values
    return frame.iloc[:1].assign(
        number=int(frame["number"].iloc[0]) // in_section,
        missing=lost,
        statistics=pd.Series([None if total is None else total.tobytes()], dtype=object).to_numpy(),
    )
