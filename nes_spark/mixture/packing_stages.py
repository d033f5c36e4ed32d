"""Packing vectors into blocks on Spark, in an order that the ids alone decide.

A block holds the chunks with one value of a stable hash of chunk_id, sorted by it, as binary
float32. Blocks belong to groups, by number. The blocks are kept in Spark's cache, and beside it as
plain files in the executor's own local directory (the one Spark uses for shuffles, and removes at
its end), so that passes need not move vectors between the JVM and Python again.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import functions as F

from nes_spark.errors import InputError
from nes_spark.mixture.vectors import UnitVectors, faulty_rows, norms
from nes_spark.spreading import placed, shuffle_partitions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Bytes of float32 vectors in a block.
BLOCK_BYTES = 8 << 20
#: Most groups; each yields one row of statistics a pass.
MAX_GROUPS = 256
#: Bytes of vectors that one job brings to the driver when the fit is in memory.
_FETCH_BYTES = 128 << 20

_PACKED = (
    "group int, block int, rows int, dimension int, starts array<int>, chunk_ids array<string>, "
    "vectors binary, faults string"
)


def document_of(chunk_id: str) -> str:
    """Return the document of a chunk: its id without the position."""
    return chunk_id.rsplit("#", 1)[0]


def local_root() -> Path | None:
    """Return the executor's local directory as Spark names it to Python workers."""
    named = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    return Path(named) if named and os.path.isdir(named) else None


def block_file(pack: str, block: int) -> Path | None:
    """Return where a block's file is, or None where Spark names no local directory."""
    root = local_root()
    return None if root is None else root / f"nes-spark-vectors-{pack}" / f"{block}.f32"


def _write_block(pack: str, block: int, vectors: NDArray[np.float32]) -> None:
    path = block_file(pack, block)
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


def read_block(name: str, block: int, dimension: int, sent: Any) -> NDArray[np.float32] | None:
    """Return the vectors of a block: those sent, else those of the local file, else None."""
    if sent is not None:
        return np.frombuffer(sent, dtype=np.float32).reshape(-1, dimension)
    path = block_file(name, block)
    if path is None or not path.exists():
        return None
    return np.memmap(path, dtype=np.float32, mode="r").reshape(-1, dimension)


def vector_matrix(column: Any, dimension: int) -> NDArray[np.float32]:
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


def starts_of(chunk_ids: Sequence[str]) -> list[int]:
    """Return the first row of each document in ids that are sorted by document."""
    names = [document_of(i) for i in chunk_ids]
    return [i for i, name in enumerate(names) if i == 0 or name != names[i - 1]]


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
                    pa.array([starts_of(ids) if whole else []], pa.list_(pa.int32())),
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
            matrix = vector_matrix(batch.column("vector"), dimension)
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
            partitions, placed(embeddings.sparkSession, group, n_groups, partitions)
        )
        .sortWithinPartitions(*order)
        .mapInArrow(work, _PACKED)
    )
    return packed, name, n_groups


def refuse_faults(faults: Iterable[str]) -> None:
    """Raise InputError when a block says in column ``faults`` that rows are no unit vectors."""
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
        refuse_faults(frame["faults"])
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
