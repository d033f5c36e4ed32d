"""Mixtures on Spark: fit a grid of settings, assign chunks, look up densities, describe components.

Vectors are packed once into blocks: a block holds the chunks with one value of a stable hash of
chunk_id, sorted by it, as binary float32. Blocks belong to groups, groups to sections, by number.
A pass evaluates every active mixture on every block, adds the statistics up block by block within a
group (in one Python worker), group by group within a section, and section by section on the driver.
What is added to what in which order is thus fixed by the ids and the number of rows alone: the
result is the same, bit for bit, for every number of partitions.

The blocks are kept in Spark's cache, and beside it as plain files in the executor's own local
directory (the one Spark uses for shuffles, and removes at its end). A pass sends only block numbers
to the Python workers, scheduled where the cached block is, and the worker maps the file: vectors
are not moved between the JVM and Python again. Where a file is missing, the block is sent from the
cache instead.
"""

from __future__ import annotations

import json
import logging
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import functions as F

from nes_spark.errors import EstimationError, InfrastructureError, InputError
from nes_spark.mixture.documents import whole_documents
from nes_spark.mixture.em import Parameters, Run, Statistics, block_statistics
from nes_spark.mixture.families import Array
from nes_spark.mixture.fit import (
    MixtureSetting,
    begin,
    finish,
    fit_runs_in_memory,
    most_probable,
    run_to_end,
)
from nes_spark.mixture.initial import sample_size
from nes_spark.mixture.model import MixtureModel
from nes_spark.mixture.vectors import UnitVectors, block_rows, faulty_rows, norms
from nes_spark.schemas import ASSIGNMENTS
from nes_spark.session import shuffle_partitions

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from nes_spark.config import MixtureConfig

_log = logging.getLogger(__name__)

#: Bytes of float32 vectors in a block.
BLOCK_BYTES = 8 << 20
#: Most groups; each yields one row of statistics a pass.
MAX_GROUPS = 256
#: Groups in a section.
SECTION = 16
#: Statistics of one pass above this size are added up by section on Spark, not on the driver.
DRIVER_BYTES = 32 << 20
#: Bytes of vectors that one job brings to the driver when the fit is in memory.
_FETCH_BYTES = 128 << 20

_PACKED = (
    "group int, block int, rows int, dimension int, starts array<int>, chunk_ids array<string>, "
    "vectors binary, faults string"
)


def settings_of(config: MixtureConfig) -> list[MixtureSetting]:
    """Return the settings that the lists of a configuration span, without repetitions."""
    grid = [
        MixtureSetting(family, k, eps)
        for family in config.family
        for k in config.n_components
        for eps in config.min_weight
    ]
    return list(dict.fromkeys(grid))


def document_of(chunk_id: str) -> str:
    """Return the document of a chunk: its id without the position."""
    return chunk_id.rsplit("#", 1)[0]


# --- packing -------------------------------------------------------------------------------------


def _local_root() -> Path | None:
    """Return the executor's local directory as Spark names it to Python workers."""
    named = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    return Path(named) if named and os.path.isdir(named) else None


def _block_file(pack: str, block: int) -> Path | None:
    root = _local_root()
    return None if root is None else root / f"nes-spark-vectors-{pack}" / f"{block}.f32"


def _write_block(pack: str, block: int, vectors: NDArray[np.float32]) -> None:
    path = _block_file(pack, block)
    if path is None:
        return
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        vectors.tofile(temporary)
        os.replace(temporary, path)
    except OSError:
        # a full disk costs speed, not the result: the block is sent from the cache instead
        temporary.unlink(missing_ok=True)


def _matrix(column: Any, dimension: int) -> NDArray[np.float32]:
    """Return an Arrow column of float lists as a matrix; rows of another length become NaN."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    lengths = column.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    flat = column.flatten().to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
    if (lengths == dimension).all():
        return flat.reshape(-1, dimension)
    result = np.full((len(lengths), dimension), np.nan, dtype=np.float32)
    ends = np.cumsum(lengths)
    for row in np.flatnonzero(lengths == dimension):
        result[row] = flat[ends[row] - dimension : ends[row]]
    return result


def _placed(spark: SparkSession, group: Column, n_groups: int, partitions: int) -> Column:
    """Return a key by which hash partitioning spreads groups evenly, in order.

    The groups are few: left to chance, some partitions would get several times as many as others,
    and every pass would wait for them. So look for integers whose hashes fall where they should.
    Only the balance hangs on this, never the result.
    """
    number = F.col("id").cast("int")
    found: dict[int, int] = {}
    for row in (
        spark.range(32 * partitions)
        .select(number.alias("key"), F.pmod(F.hash(number), F.lit(partitions)).alias("place"))
        .collect()
    ):
        found.setdefault(row["place"], row["key"])
    keys = [found.get(g * partitions // n_groups, g) for g in range(n_groups)]
    return F.element_at(F.array(*[F.lit(k) for k in keys]), group.cast("int") + F.lit(1))


def pack(
    embeddings: DataFrame,
    n: int,
    dimension: int,
    partitions: int | None = None,
    files: bool = True,
    whole: bool = False,
) -> tuple[DataFrame, str, int]:
    """Pack embeddings into blocks; see the module's description.

    Parameters
    ----------
    embeddings : DataFrame
        Table ``embeddings``.
    n, dimension : int
        Number of rows and length of the vectors.
    partitions : int, optional
        Partitions of the result; the session's ``spark.sql.shuffle.partitions`` by default, and
        never more than there are groups.
    files : bool, optional
        Whether to write block files beside.
    whole : bool, optional
        Whether all chunks of a document must be in one block; column ``starts`` then has the first
        row of each document in the block, and is empty otherwise.

    Returns
    -------
    packed : DataFrame
        One row a block, not yet persisted.
    name : str
        Names the block files.
    n_groups : int
    """
    name = uuid.uuid4().hex
    per_block = max(64, BLOCK_BYTES // (4 * dimension))
    n_blocks = max(1, -(-n // per_block))
    per_group = -(-n_blocks // MAX_GROUPS)
    n_groups = -(-n_blocks // per_group)
    if partitions is None:
        partitions = shuffle_partitions(embeddings)

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        block = -1
        ids: list[str] = []
        parts: list[NDArray[np.float32]] = []

        def flush() -> Iterator[pa.RecordBatch]:
            if block < 0:
                return
            vectors = np.concatenate(parts)
            if files:
                _write_block(name, block, vectors)
            bad = faulty_rows(norms(vectors))
            faults = json.dumps([ids[i] for i in bad[:5]] + [len(bad)]) if len(bad) else ""
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array([block // per_group], pa.int32()),
                    pa.array([block], pa.int32()),
                    pa.array([len(ids)], pa.int32()),
                    pa.array([dimension], pa.int32()),
                    pa.array([_starts(ids) if whole else []], pa.list_(pa.int32())),
                    pa.array([ids], pa.list_(pa.string())),
                    pa.array([vectors.tobytes()], pa.binary()),
                    pa.array([faults], pa.string()),
                ],
                names=[
                    "group",
                    "block",
                    "rows",
                    "dimension",
                    "starts",
                    "chunk_ids",
                    "vectors",
                    "faults",
                ],
            )

        for batch in batches:
            if not batch.num_rows:
                continue
            blocks = batch.column("block").to_numpy()
            matrix = _matrix(batch.column("vector"), dimension)
            names = batch.column("chunk_id").to_pylist()
            cuts = np.flatnonzero(np.diff(blocks)) + 1
            for begin_row, end_row in zip(
                [0, *cuts.tolist()], [*cuts.tolist(), len(blocks)], strict=True
            ):
                if int(blocks[begin_row]) != block:
                    yield from flush()
                    block, ids, parts = int(blocks[begin_row]), [], []
                ids.extend(names[begin_row:end_row])
                # a copy: Spark may reuse the memory of the batch
                parts.append(matrix[begin_row:end_row].copy())
        yield from flush()

    document = F.regexp_replace("chunk_id", "#[^#]*$", "")
    key = document if whole else F.col("chunk_id")
    order = ["block", document, "chunk_id"] if whole else ["block", "chunk_id"]
    numbered = embeddings.select(
        "chunk_id",
        F.col("vector").cast("array<float>").alias("vector"),
        F.pmod(F.xxhash64(key), F.lit(n_blocks)).cast("int").alias("block"),
    )
    partitions = max(1, min(partitions, n_groups))
    group = F.floor(F.col("block") / F.lit(per_group))
    packed = (
        numbered.repartition(
            partitions, _placed(embeddings.sparkSession, group, n_groups, partitions)
        )
        .sortWithinPartitions(*order)
        .mapInArrow(work, _PACKED)
    )
    return packed, name, n_groups


def _refuse_faults(faults: Iterable[str]) -> None:
    faulty = [json.loads(f) for f in faults if f]
    if faulty:
        count = sum(f[-1] for f in faulty)
        some = sorted(i for f in faulty for i in f[:-1])[:5]
        raise InputError(
            f"embeddings: {count} of the vectors are not finite or not of unit norm, "
            f"among them those of chunks {', '.join(some)}; embed these chunks again"
        )


def fetch(embeddings: DataFrame, n: int, dimension: int) -> tuple[UnitVectors, list[str]]:
    """Bring all vectors to the driver, in the order of the blocks, with the ids of their chunks.

    Parameters
    ----------
    embeddings : DataFrame
        Table ``embeddings``.
    n, dimension : int
        Number of rows and length of the vectors.

    Raises
    ------
    InputError
        When vectors are not finite or not of unit norm; the message names some of their chunks.
    """
    packed, _, _ = pack(embeddings, n, dimension, files=False)
    columns = ["block", "chunk_ids", "vectors", "faults"]
    vectors: list[NDArray[np.float32]] = []
    ids: list[str] = []

    def take(frame: pd.DataFrame) -> None:
        _refuse_faults(frame["faults"])
        frame = frame.sort_values("block")
        for names, content in zip(frame["chunk_ids"], frame["vectors"], strict=True):
            ids.extend(names)
            vectors.append(np.frombuffer(content, np.float32).reshape(-1, dimension))

    if 4 * n * dimension <= _FETCH_BYTES:
        take(packed.select(*columns).toPandas())
    else:
        packed = packed.persist()
        try:
            numbers = sorted(r["block"] for r in packed.select("block").collect())
            per_job = max(1, _FETCH_BYTES // BLOCK_BYTES)
            for at in range(0, len(numbers), per_job):
                wanted = numbers[at : at + per_job]
                some = packed.where(F.col("block").between(wanted[0], wanted[-1]))
                take(some.select(*columns).toPandas())
        finally:
            packed.unpersist()
    return UnitVectors(np.concatenate(vectors), "fit_mixtures"), ids


# --- one pass ------------------------------------------------------------------------------------


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


def _starts(chunk_ids: Sequence[str]) -> list[int]:
    """Return the first row of each document in ids that are sorted by document."""
    names = [document_of(i) for i in chunk_ids]
    return [i for i, name in enumerate(names) if i == 0 or name != names[i - 1]]


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


def _read_block(name: str, block: int, dimension: int, sent: Any) -> NDArray[np.float32] | None:
    """Return the vectors of a block: those sent, else those of the local file, else None."""
    if sent is not None:
        return np.frombuffer(sent, dtype=np.float32).reshape(-1, dimension)
    path = _block_file(name, block)
    if path is None or not path.exists():
        return None
    return np.memmap(path, dtype=np.float32, mode="r").reshape(-1, dimension)


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
            _refuse_faults(r["faults"] for r in faulty)
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
                    path = _block_file(name, block)
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
                    vectors = _read_block(name, block, dimension, buffer)
                    if vectors is None:
                        missing = True
                        continue
                    of_block: list[Statistics] | None = None
                    for part, of_part in _parts_of(vectors, starts):
                        statistics = block_statistics(part, mixtures, of_part, price)
                        if of_block is None:
                            of_block = statistics
                        else:
                            for a, b in zip(of_block, statistics, strict=True):
                                a.add(b)
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


# --- stages --------------------------------------------------------------------------------------


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


def fit_mixtures(
    embeddings: DataFrame,
    config: MixtureConfig,
    seed: int | str | bytes,
    warm_start: Mapping[str, MixtureModel] | None = None,
    partitions: int | None = None,
) -> dict[str, MixtureModel]:
    """Fit every setting of a configuration; all settings and restarts share the passes.

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
    settings = settings_of(config)
    in_memory = n <= config.in_memory_rows
    size = max(sample_size(s.n_components) for s in settings)

    def prepare(sample: Array, where: str) -> dict[MixtureSetting, list[Run]]:
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
            )
            for setting in settings
        }
        _log.info(
            "mixtures: %d settings, %d runs on %d vectors of dimension %d, fitted %s",
            len(settings),
            sum(map(len, runs.values())),
            n,
            dimension,
            where,
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
            "mixture %s: %s after %d passes, log-likelihood %.6g, %d components, %d removed, "
            "%d at the ceiling",
            name,
            "converged" if model.converged else "NOT converged",
            model.n_passes,
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
            matrix = _matrix(batch.column("vector"), dimension)
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
