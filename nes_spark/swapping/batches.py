"""From Arrow batches, sorted by group and chunk, to swaps: what a Spark task does.

Batches are read one by one and cut down at once to arrays of integers, so that a task holds about
8 bytes x (4 + number of entities) plus the id for each eligible chunk of one component, whatever
the batches look like. No name and no text comes here: entities, metadata and cells are 64-bit
hashes (that any two of a million different ones are equal has probability 3e-8).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nes_spark.schemas import STATUS, arrow_schema
from nes_spark.swapping.codes import Ints, Mask
from nes_spark.swapping.constraints import Constraint, admitted, numbers_of
from nes_spark.swapping.memory import component_stream
from nes_spark.swapping.population import Population, Sets, make_sets
from nes_spark.swapping.sampler import sample_component
from nes_spark.swapping.seeds import Secret
from nes_spark.swapping.sticky import pair_keys, sample_sticky

#: What identifies a group; batches come sorted by these, then by chunk_id.
GROUP = ("setting", "combination", "component", "stratum", "block")

#: One accepted swap, before it has its place in the sequence and what is exchanged.
ACCEPTED_DDL = (
    "setting string, combination string, draw int, component int, priority int, time double, "
    "chunk_a string, chunk_b string"
)
ACCEPTED = arrow_schema(ACCEPTED_DDL)

PARTNERS = arrow_schema(STATUS.ddl)


@dataclass(frozen=True)
class Task:
    """Everything a task needs besides its rows.

    Attributes
    ----------
    secret : Secret
    round : int
    draws : int
        Number of draws M.
    draws_per_block : int
        A group with block b makes draws ``b * draws_per_block`` and following.
    max_swaps : int
        Longest sequence of one component.
    sticky : bool
        Whether every pair has a clock of its own (:mod:`nes_spark.swapping.sticky`).
    constraints : tuple of Constraint
        What a valid pair must meet.
    uniques_first, cosine_weight
        Options of the sampler and of :class:`~nes_spark.swapping.population.Population`.
    """

    secret: Secret
    round: int
    draws: int
    draws_per_block: int
    max_swaps: int
    constraints: tuple[Constraint, ...]
    uniques_first: bool = False
    cosine_weight: float | None = None
    sticky: bool = False

    @property
    def needs_vectors(self) -> bool:
        """Whether rows must have a vector."""
        return self.cosine_weight is not None or any(c.needs_vectors for c in self.constraints)

    @property
    def numbers(self) -> list[str]:
        """Columns that pairs are compared by; the order of the values in ``numbers``."""
        return numbers_of(self.constraints)


@dataclass
class Group:
    """Rows of one group, as compact pieces.

    Attributes
    ----------
    key : tuple
        Values of :data:`GROUP`.
    ids : list of pyarrow.Array
        Chunk ids.
    n : int
        Number of rows.
    flat, nested, tables
        Columns that hold one value, a list of lists, and a list of fixed length a row; those of
        the latter two are null where not needed.
    """

    flat: ClassVar[tuple[str, ...]] = ("metadata", "outside", "sample_unique")
    nested: ClassVar[tuple[str, ...]] = ("available", "history")
    tables: ClassVar[tuple[tuple[str, Any], ...]] = (
        ("vector", np.float32),
        ("numbers", np.float64),
    )

    key: tuple[Any, ...]
    ids: list[pa.Array] = field(default_factory=list)
    columns: dict[str, list[NDArray[Any]]] = field(default_factory=dict)
    sets: dict[str, list[tuple[Ints, Ints]]] = field(default_factory=dict)
    n: int = 0

    def add(self, rows: pa.RecordBatch) -> None:
        """Take over the columns that are needed."""
        self.n += rows.num_rows
        # A column of a batch shares the buffer of the whole batch: take a copy of the ids only.
        self.ids.append(rows.column("chunk_id").take(pa.array(np.arange(rows.num_rows))))
        for name in self.flat:
            values = rows.column(name).to_numpy(zero_copy_only=False)
            self.columns.setdefault(name, []).append(np.array(values))
        for name in self.nested:
            column = rows.column(name)
            if column.null_count == len(column):
                continue
            inner = column.flatten()
            self.sets.setdefault(name, []).append(
                (
                    np.asarray(inner.value_lengths().to_numpy(zero_copy_only=False), np.int64),
                    np.array(inner.flatten().to_numpy(zero_copy_only=False)),
                )
            )
        self._add_own(rows.column("own"), len(self.sets["available"][-1][0]))
        for name, kind in self.tables:
            table = rows.column(name)
            if table.null_count < len(table):
                flat = table.flatten().to_numpy(zero_copy_only=False).astype(kind)
                self.columns.setdefault(name, []).append(flat.reshape(rows.num_rows, -1))

    def _add_own(self, column: pa.Array, cells: int) -> None:
        """Keep the own names: null for most chunks, which then have none in any category."""
        sizes = np.zeros(cells, dtype=np.int64)
        inner = column.flatten()  # of the chunks that have some
        known = np.asarray(column.is_valid().to_numpy(zero_copy_only=False), bool)
        sizes[np.repeat(known, cells // len(column))] = inner.value_lengths().to_numpy(
            zero_copy_only=False
        )
        values = np.asarray(inner.flatten().to_numpy(zero_copy_only=False), np.int64)
        self.sets.setdefault("own", []).append((sizes, values))

    def column(self, name: str) -> NDArray[Any]:
        """Return a whole column."""
        return np.concatenate(self.columns[name])

    def taken(self, name: str) -> NDArray[Any]:
        """Return a whole column, which the group has no more: never two of it in memory."""
        pieces = self.columns.pop(name)[::-1]
        whole = np.empty((self.n, *pieces[0].shape[1:]), pieces[0].dtype)
        at = 0
        while pieces:
            piece = pieces.pop()
            whole[at : at + len(piece)] = piece
            at += len(piece)
        if at != self.n:
            raise ValueError(f"column {name} has {at} values for {self.n} rows")
        return whole

    def cut(self, n: int) -> None:
        """Keep the first rows only."""
        if n >= self.n:
            return
        for name, pieces in self.columns.items():
            self.columns[name] = [np.concatenate(pieces)[:n]]
        for name, parts in self.sets.items():
            sizes = np.concatenate([s for s, _ in parts])
            sizes = sizes[: n * (len(sizes) // self.n)]
            values = np.concatenate([v for _, v in parts])
            self.sets[name] = [(sizes, values[: int(sizes.sum())])]
        self.n = n

    def families(self, name: str) -> list[tuple[Ints, Ints]]:
        """For each category of J the (row, hash) pairs of its entities."""
        sizes = np.concatenate([s for s, _ in self.sets[name]])
        values = np.concatenate([v for _, v in self.sets[name]])
        width = len(sizes) // self.n
        place = np.repeat(np.arange(len(sizes)), sizes)
        out = []
        for number in range(width):
            mine = place % width == number
            out.append((place[mine] // width, values[mine]))
        return out

    def joint(self, first: Sequence[str], second: Sequence[str]) -> list[tuple[Sets, Sets]]:
        """For each category two families of sets with shared codes, each united from columns.

        The second is the same object as the first where it adds nothing to it.
        """
        columns = {name: self.families(name) for name in {*first, *second}}
        out = []
        for k in range(len(columns[first[0]])):
            added = [columns[name][k] for name in second if name not in first]
            both = [
                *(columns[name][k] for name in first),
                *((rows + self.n, values) for rows, values in (columns[c][k] for c in second)),
            ]
            if not any(len(rows) for rows, _ in added):
                both = both[: len(first)]
            found = make_sets(
                np.concatenate([rows for rows, _ in both]),
                np.concatenate([values for _, values in both]),
                self.n if len(both) == len(first) else 2 * self.n,
            )
            if len(both) == len(first):
                out.append((found, found))
            else:
                everyone = np.arange(self.n)
                out.append((found.take(everyone), found.take(everyone + self.n)))
        return out

    def population(self, task: Task) -> Population:
        """Build the population of the sampler."""
        # What must not come in is treated like what was there already.
        past = ("history", "own") if "history" in self.sets else ("available", "own")
        pairs = self.joint(("available",), past)
        available = [gives for gives, _ in pairs]
        history = [takes for _, takes in pairs]
        return Population(
            self.column("metadata"),
            self.column("outside"),
            available,
            history,
            constraints=task.constraints,
            vectors=self.column("vector") if task.needs_vectors else None,
            numbers={c: self.column("numbers")[:, k] for k, c in enumerate(task.numbers)},
            cosine_weight=task.cosine_weight,
        )


G = TypeVar("G", bound="Group")


def groups_of(
    batches: Iterable[pa.RecordBatch],
    make: type[G],
    names: Sequence[str] = GROUP,
) -> Iterator[G]:
    """Gather the rows of each group, one group at a time.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        Sorted by the columns that identify a group.
    make : type
        :class:`Group` or a class derived from it.
    names : sequence of str
        The columns that identify a group.
    """
    current: G | None = None
    for batch in batches:
        if not batch.num_rows:
            continue
        keys = [batch.column(name).to_pylist() for name in names]
        rows = list(zip(*keys, strict=True))
        start = 0
        while start < len(rows):
            stop = start
            if rows[-1] == rows[start]:  # sorted: all the rest is one group
                stop = len(rows)
            while stop < len(rows) and rows[stop] == rows[start]:
                stop += 1
            if current is None or current.key != rows[start]:
                if current is not None:
                    yield current
                current = make(rows[start])
            current.add(batch.slice(start, stop - start))
            start = stop
    if current is not None:
        yield current


def sample_batches(batches: Iterable[pa.RecordBatch], task: Task) -> Iterator[pa.RecordBatch]:
    """Draw the swaps of every group; columns of :data:`ACCEPTED` come out.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        Columns of :data:`GROUP`, ``chunk_id``, ``metadata``, ``outside`` (64-bit hashes),
        ``sample_unique`` (bool), ``available`` (for each category of J the hashes of the entities
        that the chunk can give), ``history`` (the same for those ever in it; null in a first
        round), ``own`` (the same for those that name its own document; null for none), ``vector``
        and ``numbers`` (what pairs are compared by; null where not needed). Sorted by :data:`GROUP`
        and ``chunk_id``; groups may reach over batches.
    task : Task
    """
    for group in groups_of(batches, Group):
        if group.n < 2:
            continue
        setting, combination, component, _, block = group.key
        population = group.population(task)
        uniques: Mask | None = None
        if task.uniques_first:
            uniques = group.column("sample_unique").astype(bool)
        ids = pa.chunked_array(group.ids)
        out: list[tuple[Any, ...]] = []
        start = block * task.draws_per_block
        for draw in range(start, min(start + task.draws_per_block, task.draws)):
            if task.sticky:
                keys = pair_keys(task.secret, ids.to_pylist(), combination, draw, task.round)
                found = sample_sticky(population, keys, task.max_swaps, uniques)
            else:
                stream = component_stream(
                    task.secret, setting, combination, draw, task.round, ids[0].as_py()
                )
                found = sample_component(population, stream, task.max_swaps, uniques)
            for swap in found:
                first, second = ids[swap.first].as_py(), ids[swap.second].as_py()
                out.append(
                    (setting, combination, draw, component, swap.priority, swap.time, first, second)
                )
        if out:
            yield to_batch(out, ACCEPTED)


def constraint_batches(
    batches: Iterable[pa.RecordBatch],
    constraints: Sequence[Constraint],
    columns: Sequence[str],
    keep: Sequence[str],
) -> Iterator[pa.RecordBatch]:
    """Apply what constraints say of single chunks: add ``stratum`` and ``barred``.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        At least the columns named in ``columns`` and ``keep``.
    constraints : sequence of Constraint
    columns : sequence of str
        The facts that the constraints look at.
    keep : sequence of str
        What comes out, before the two new columns.

    Notes
    -----
    ``stratum`` is a 64-bit hash of the groups that the constraints form; ``barred`` the status of
    a chunk that is kept out, else ''.
    """
    for batch in batches:
        facts = {name: _plain(batch.column(name)) for name in columns}
        _, barred = admitted(facts, batch.num_rows, constraints)
        values = [g for c in constraints if (g := c.groups(facts)) is not None]
        strata = [_hash(row) for row in zip(*values, strict=True)] or [0] * batch.num_rows
        yield pa.RecordBatch.from_arrays(
            [
                *(batch.column(name) for name in keep),
                pa.array(strata, pa.int64()),
                pa.array(barred, pa.string()),
            ],
            names=[*keep, "stratum", "barred"],
        )


def eligible_batches(
    batches: Iterable[pa.RecordBatch], constraints: Sequence[Constraint]
) -> Iterator[pa.RecordBatch]:
    """Keep the rows that constraints on ``swaps_before`` alone let take part."""
    for batch in batches:
        facts = {"swaps_before": batch.column("swaps_before").to_pylist()}
        free, _ = admitted(facts, batch.num_rows, constraints)
        yield batch.filter(pa.array(free))


def _plain(column: pa.Array) -> list[Any]:
    """Values of a column; maps become dictionaries."""
    values = column.to_pylist()
    return (
        [dict(v) if v is not None else {} for v in values]
        if pa.types.is_map(column.type)
        else values
    )


def _hash(value: object) -> int:
    digest = hashlib.blake2b(repr(value).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def to_batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    """Build a record batch from rows."""
    columns = list(zip(*rows, strict=True)) if rows else [() for _ in schema]
    return pa.RecordBatch.from_arrays(
        [pa.array(list(c), type=f.type) for c, f in zip(columns, schema, strict=True)],
        schema=schema,
    )


def partner_batches(batches: Iterable[pa.RecordBatch], task: Task) -> Iterator[pa.RecordBatch]:
    """Say for every eligible chunk whether it has a valid partner at all, and if not, why.

    Input as for :func:`sample_batches` with one draw; columns of :data:`PARTNERS` come out, with
    status ``alone_in_component``, ``same_metadata_only``, ``no_valid_partner`` or ``unpaired``
    (there is a valid partner).
    """
    for group in groups_of(batches, Group):
        ids = pa.concat_arrays(group.ids)
        if group.n == 1:
            status = np.array(["alone_in_component"])
        else:
            status = partner_status(group.population(task))
        yield pa.RecordBatch.from_arrays([ids, pa.array(status.tolist())], schema=PARTNERS)


def partner_status(population: Population) -> NDArray[np.str_]:
    """Return for each chunk of a component the reason it has no valid partner, or ``unpaired``.

    A chunk that meets a valid partner among the first few that are tried is done; only the others
    are compared with all chunks.
    """
    n = population.n
    status = np.full(n, "no_valid_partner", dtype="<U18")
    everyone = np.arange(n)
    found = np.zeros(n, dtype=bool)
    step = max(1, n // 61)
    for k in range(1, min(n, 61)):
        (left,) = np.nonzero(~found)
        others = (left + k * step) % n
        hits = population.pair_rates(left, others) > 0
        found[left[hits]] = True
        found[others[hits]] = True
    metadata = population.keys[0]
    single = bool((metadata == metadata[0]).all())
    for i in np.nonzero(~found)[0].tolist():
        if found[i] or single:
            continue
        rates = population.row_rates(i, everyone)
        if (rates > 0).any():
            found[i] = True
            found[rates > 0] = True
    status[found] = "unpaired"
    if single:
        status[:] = "same_metadata_only"
    return status
