"""A component that is larger than a task's memory: load only the chunks that the clocks name.

In the plain form of the sampler (design, section 4) a component of f eligible chunks rings at rate
f (f - 1) / 2, and each ring names a pair of labels from 0 to f - 1 uniformly. Which chunk has which
label does not matter as long as it is decided at random, so it is decided late: the first label
that is named goes to the first chunk in the order of a keyed hash of the ids, the next new label to
the second, and so on. This is the same distribution as with all chunks at hand, and a sequence of m
swaps looks at only as many chunks as are named until the m-th ring is accepted: a few hundred,
whatever f is.

Every task keeps the chunks of its shard with the smallest hashes (:func:`smallest_batches`); they
are merged, and one task rings (:func:`prefix_batches`). If it runs out of chunks before it has
enough swaps, the whole draw is made anew with more chunks; more chunks do not change what the first
ones do, so the result does not depend on how many were loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nes_spark.swapping.batches import ACCEPTED, GROUP, Group, Task, groups_of, to_batch
from nes_spark.swapping.memory import component_stream
from nes_spark.swapping.population import Population
from nes_spark.swapping.sampler import Accepted
from nes_spark.swapping.seeds import Stream

#: Rings drawn at a time.
_RINGS = 1024

#: (setting, combination, component, stratum)
GroupKey = tuple[Any, ...]

#: An accepted swap, or one row with ``chunk_a`` null for a draw that ran out of chunks.
PREFIX = ACCEPTED.append(pa.field("stratum", pa.int64()))


@dataclass(frozen=True)
class Large:
    """A large component: its number of eligible chunks and the smallest of their ids."""

    n: int
    first_id: str


def sample_prefix(
    population: Population, n: int, stream: Stream, max_swaps: int
) -> list[Accepted] | None:
    """Draw a sequence of swaps of a component of which only the first chunks are loaded.

    Parameters
    ----------
    population : Population
        The first chunks, in the order of their keyed hashes.
    n : int
        Number of eligible chunks of the whole component.
    stream : Stream
    max_swaps : int

    Returns
    -------
    list of Accepted or None
        ``first`` and ``second`` in the order in which they were named; None when the chunks did
        not suffice.
    """
    rate = n * (n - 1) / 2.0
    ranks: dict[int, int] = {}
    taken: set[int] = set()
    accepted: list[Accepted] = []
    time = 0.0
    while len(accepted) < max_swaps:
        times = time + np.cumsum(stream.exponential(_RINGS)) / rate
        a = stream.below(np.full(_RINGS, n, dtype=np.int64))
        b = stream.below(np.full(_RINGS, n - 1, dtype=np.int64))
        b += b >= a
        coin = stream.uniform(_RINGS)
        pairs = np.array(
            [
                (ranks.setdefault(i, len(ranks)), ranks.setdefault(j, len(ranks)))
                for i, j in zip(a.tolist(), b.tolist(), strict=True)
            ],
            dtype=np.int64,
        )
        (missing,) = np.nonzero((pairs >= population.n).any(axis=1))
        known = int(missing[0]) if missing.size else _RINGS
        rates = population.pair_rates(pairs[:known, 0], pairs[:known, 1])
        for k in np.nonzero(rates > coin[:known])[0].tolist():
            first, second = int(pairs[k, 0]), int(pairs[k, 1])
            if first not in taken and second not in taken:
                taken |= {first, second}
                accepted.append(Accepted(first, second, float(times[k])))
                if len(accepted) == max_swaps:
                    return accepted
        if known < _RINGS:
            return None
        time = float(times[-1])
    return accepted


def shuffle_keys(task: Task, key: GroupKey, draw: int, ids: list[str]) -> NDArray[np.uint64]:
    """Return the keyed hash by which the chunks of a component are put in random order."""
    base = np.frombuffer(
        b"".join(task.secret.digest("shuffle", i, size=8) for i in ids), dtype="<u8"
    )
    turn = task.secret.digest("shuffle draw", *key, draw, task.round, size=8)
    # The finaliser of SplitMix64: a bijection that mixes all bits. The ids were hashed with the
    # secret already; this makes the orders of different draws unlike each other at no cost.
    word = base ^ np.uint64(int.from_bytes(turn, "little"))
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(word ^ (word >> np.uint64(31)), dtype=np.uint64)


def smallest_batches(
    batches: Iterable[pa.RecordBatch], task: Task, keep: int, draws: Mapping[GroupKey, list[int]]
) -> Iterator[pa.RecordBatch]:
    """Keep, for each draw of each large component, the rows of a shard with the smallest hashes.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        Rows as for ``sample_batches``, in any order, of large components only.
    task : Task
    keep : int
        Rows to keep of each draw.
    draws : mapping
        Component -> draws wanted.

    Yields
    ------
    pyarrow.RecordBatch
        The same columns, ``block`` being the draw, and ``shuffle`` (the hash, moved to the signed
        64-bit range).
    """
    held: dict[tuple[GroupKey, int], pa.Table] = {}

    def shrink(table: pa.Table) -> pa.Table:
        order = pc.sort_indices(table, [("shuffle", "ascending"), ("chunk_id", "ascending")])
        return table.take(order[:keep]).combine_chunks()

    for batch in batches:
        table = pa.Table.from_batches([batch])
        rows = list(zip(*(batch.column(name).to_pylist() for name in GROUP[:4]), strict=True))
        for key in dict.fromkeys(rows):
            if key not in draws:
                continue
            mine = table.take(pa.array([i for i, row in enumerate(rows) if row == key]))
            ids = mine.column("chunk_id").to_pylist()
            for draw in draws[key]:
                word = shuffle_keys(task, key, draw, ids) ^ np.uint64(1 << 63)
                part = mine.set_column(
                    mine.schema.get_field_index("block"),
                    "block",
                    pa.array(np.full(len(ids), draw), pa.int32()),
                ).append_column("shuffle", pa.array(word.view(np.int64)))
                old = held.get((key, draw))
                joined = part if old is None else pa.concat_tables([old, part])
                if joined.num_rows > 2 * keep + 4096:
                    joined = shrink(joined)
                held[key, draw] = joined
    for table in held.values():
        yield from shrink(table).to_batches()


def prefix_batches(
    batches: Iterable[pa.RecordBatch], task: Task, keep: int, large: Mapping[GroupKey, Large]
) -> Iterator[pa.RecordBatch]:
    """Draw the swaps of large components from their first chunks; see the module.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        What :func:`smallest_batches` gave, sorted by group, ``shuffle`` and ``chunk_id``.
    task : Task
    keep : int
        Chunks to use of each draw: the smallest of all shards.
    large : mapping
        Component -> :class:`Large`.
    """
    for group in groups_of(batches, Group):
        setting, combination, component, stratum, draw = group.key
        facts = large[group.key[:4]]
        ids = pa.concat_arrays(group.ids).to_pylist()
        group.cut(keep)
        stream = component_stream(
            task.secret, setting, combination, draw, task.round, facts.first_id
        )
        found = sample_prefix(group.population(task), facts.n, stream, task.max_swaps)
        head = (setting, combination, draw, component)
        if found is None:
            yield to_batch([(*head, None, None, None, None, stratum)], PREFIX)
            continue
        out: list[tuple[Any, ...]] = []
        for swap in found:
            first, second = sorted((ids[swap.first], ids[swap.second]))
            out.append((*head, swap.priority, swap.time, first, second, stratum))
        yield to_batch(out, PREFIX)
