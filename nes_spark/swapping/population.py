"""The eligible chunks of one component as arrays, and the rates of their pairs.

A :class:`Population` holds what the constraints (:mod:`nes_spark.swapping.constraints`) compare.

In a later round a chunk gives only entities that it had from the start and has not given
(``available``), and takes only entities that were never in it (``history``): a pair is exchangeable
when available(a) is not a subset of history(b), nor available(b) of history(a). An entity that
names a chunk's own document (a rival speaks of the company) counts as history of that chunk from
the first round on: no swap brings back what suppression took out. Two chunks that were
swapped with each other never are again: under either policy the one with fewer exchangeable
entities gave them all to the other, so what it has left is a subset of the other's history.

Entities are compared by codes or 64-bit hashes only; no name or text gets here.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nes_spark.swapping.codes import Ints, Mask, by_first_appearance
from nes_spark.swapping.constraints import Constraint, constraints_of

#: Cached inclusion lists hold at most this many integers per category.
_CACHE_INTS = 4_000_000
#: From so many chunks on, chunks that have the same to give are one group of :attr:`Category.key`
#: whatever names their documents. Smaller populations keep the groups, and so the draws, that they
#: always had: the same seed and corpus give the same release.
_MANY = 5_000


@dataclass(frozen=True)
class Sets:
    """Sets of entity codes in compressed rows: row i is ``items[offsets[i]:offsets[i + 1]]``.

    Items are non-negative, sorted and distinct within a row.
    """

    offsets: Ints
    items: Ints

    @property
    def sizes(self) -> Ints:
        """Number of items in each row."""
        return np.diff(self.offsets)

    def take(self, rows: Ints) -> Sets:
        """Return the given rows, in that order."""
        sizes = self.sizes[rows]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Sets(offsets, self.items[_ranges(self.offsets[rows], sizes)])

    def row(self, i: int) -> Ints:
        """Return the items of one row."""
        return self.items[self.offsets[i] : self.offsets[i + 1]]


def _ranges(starts: Ints, sizes: Ints) -> Ints:
    """Concatenate ``arange(start, start + size)`` over all rows."""
    total = int(sizes.sum())
    ends = np.cumsum(sizes)
    return np.arange(total, dtype=np.int64) + np.repeat(starts - (ends - sizes), sizes)


def make_sets(rows: Ints, values: NDArray[Any], n: int) -> Sets:
    """Build sets from (row, value) pairs in any order, with repetitions.

    Parameters
    ----------
    rows : ndarray of int64, shape (m,)
        Row of each value, 0 to n - 1.
    values : ndarray, shape (m,)
        Names or 64-bit hashes of entities.
    n : int
        Number of rows.
    """
    width, codes = _ranks(values)
    keys = np.sort(rows.astype(np.int64) * width + codes)
    keys = keys[np.diff(keys, prepend=-1) > 0]  # much faster here than np.unique
    counts = np.bincount(keys // width, minlength=n) if len(keys) else np.zeros(n, dtype=np.int64)
    return Sets(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), keys % width)


def _ranks(values: NDArray[Any]) -> tuple[int, Ints]:
    """Return how many values are distinct, 1 at least, and of each its rank among them."""
    if values.dtype == np.int64 and len(values) and values.min() >= 0:
        most = int(values.max())
        if most < 8 * len(values):  # without sorting: numbers of names are dense
            seen = np.zeros(most + 1, dtype=np.bool_)
            seen[values] = True
            ranks = np.cumsum(seen) - 1
            return int(ranks[-1]) + 1, ranks[values]
    distinct, codes = np.unique(values, return_inverse=True)
    return max(len(distinct), 1), codes.reshape(-1)


class Numbers:
    """Numbers of names, by which collections of them become arrays, each once."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._seen: dict[frozenset[Hashable], Ints] = {}

    def of(self, names: Collection[Hashable]) -> Ints:
        """Return the numbers of some names."""
        found = self._seen.get(names) if isinstance(names, frozenset) else None
        if found is None:
            numbers = self._numbers
            found = np.array([numbers.setdefault(v, len(numbers)) for v in names], dtype=np.int64)
            if isinstance(names, frozenset):
                self._seen[names] = found
        return found


def sets_of(collections: Sequence[Collection[Hashable]], numbers: Numbers | None = None) -> Sets:
    """Build sets from one collection of names or hashes a row; see :func:`make_sets`.

    Parameters
    ----------
    collections : sequence of collection
    numbers : Numbers, optional
        Makes it fast to build sets of the same frozensets again and again.
    """
    number = (numbers or Numbers()).of
    rows = [number(c) for c in collections]
    sizes = np.fromiter(map(len, rows), np.int64, len(rows))
    flat = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
    return make_sets(np.repeat(np.arange(len(sizes)), sizes), flat, len(sizes))


def joint_sets(
    available: Sequence[Collection[Hashable]],
    history: Sequence[Collection[Hashable]],
    numbers: Numbers | None = None,
) -> tuple[Sets, Sets]:
    """Build two families of sets that share their codes; see :func:`sets_of`."""
    n = len(available)
    both = sets_of([*available, *history], numbers)
    return both.take(np.arange(n)), both.take(np.arange(n, 2 * n))


def set_codes(*families: Sets) -> Ints:
    """Return one code a row, equal for rows whose sets are equal in every family.

    Exact (rows of one size are compared item by item), numbered by first appearance.
    """
    n = len(families[0].offsets) - 1
    code = np.zeros(n, dtype=np.int64)
    for family in families:
        sizes = family.sizes
        part = np.zeros(n, dtype=np.int64)
        used = 0
        width = int(family.items.max()) + 1 if len(family.items) else 1
        for size in np.unique(sizes).tolist():
            (rows,) = np.nonzero(sizes == size)
            if size == 0:
                part[rows] = used
                used += 1
                continue
            table = family.items[family.offsets[rows][:, None] + np.arange(size)]
            if size * width.bit_length() <= 62:  # a row fits one integer
                packed = table[:, 0].copy()
                for column in range(1, size):
                    packed = packed * width + table[:, column]
                _, inverse = np.unique(packed, return_inverse=True)
            else:
                _, inverse = np.unique(table, axis=0, return_inverse=True)
            part[rows] = used + inverse.reshape(-1)
            used += int(inverse.max()) + 1
        code = by_first_appearance(code * max(used, 1) + part)
    return code


class Category:
    """One swapped category of a population: the distinct values (sets) and which are comparable.

    Parameters
    ----------
    available, history : Sets
        One row a chunk, with shared codes. The same object twice in a first round.

    Attributes
    ----------
    code : ndarray of int64, shape (n,)
        Equal for chunks of equal sets.
    key : ndarray of int64, shape (n,)
        Equal only for chunks that cannot be exchanged: what both have to give, neither may take.
        Where every document has names of its own in the history, all codes differ, and a name that
        most chunks have ("SEC") would leave the sampler to look for pairs among them.
    """

    def __init__(self, available: Sets, history: Sets) -> None:
        same = history is available
        self.code = set_codes(available) if same else set_codes(available, history)
        few = same or len(self.code) < _MANY
        self.key = self.code if few else set_codes(available)
        self.count = available.sizes
        _, first = np.unique(self.code, return_index=True)
        first = first.astype(np.int64)
        self.n_values = len(first)
        self.available = available.take(first)
        self.history = self.available if same else history.take(first)
        highest = max(
            (int(s.items.max()) for s in (self.available, self.history) if len(s.items)), default=-1
        )
        self._width = highest + 1
        self._size = self.available.sizes
        self._keys = self._member_keys(self.history)
        self._single = bool(same and (self._size == 1).all())
        self._having_history = self._posting(self.history)
        self._having_available = self._having_history if same else self._posting(self.available)
        self._cache: dict[int, Ints] = {}
        self._cached = 0
        self._bad = np.zeros(self.n_values, dtype=bool)

    def _member_keys(self, sets: Sets) -> Ints:
        rows = np.repeat(np.arange(self.n_values), sets.sizes)
        return rows * max(self._width, 1) + sets.items  # sorted: rows ascend, items sorted

    def _posting(self, sets: Sets) -> Sets:
        order = np.argsort(sets.items, kind="stable")
        rows = np.repeat(np.arange(self.n_values), sets.sizes)[order]
        counts = np.bincount(sets.items, minlength=self._width) if len(sets.items) else np.zeros(0)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return Sets(offsets, rows)

    def pairs_exchange(self, a: Ints, b: Ints) -> Mask:
        """Tell for pairs of chunks whether each has an available entity the other never had."""
        ca, cb = self.code[a], self.code[b]
        ok: Mask = ca != cb
        if self._single:
            return ok
        (rows,) = np.nonzero(ok)
        # Sets of one entity each that differ need no look into the members.
        return self._give(ca, cb, ok, rows) & self._give(cb, ca, ok, rows)

    def _give(self, giver: Ints, taker: Ints, ok: Mask, rows: Ints) -> Mask:
        out = ok.copy()
        if rows.size:
            g, t = giver[rows], taker[rows]
            sizes = self._size[g]
            items = self.available.items[_ranges(self.available.offsets[g], sizes)]
            keys = np.repeat(t, sizes) * max(self._width, 1) + items
            at = np.searchsorted(self._keys[:-1], keys)  # keys beyond all compare with the last
            known = self._keys[at] == keys
            pair = np.repeat(np.arange(len(rows)), sizes)
            out[rows] = np.bincount(pair[~known], minlength=len(rows)) > 0
        return out

    def comparable(self, value: int) -> Ints:
        """Return the values that cannot be exchanged with this one (itself included)."""
        found = self._cache.get(value)
        if found is None:
            mine = self.available.row(value)
            size = len(mine)
            out = [np.array([value])]
            if not size:  # it has nothing to give
                out.append(np.arange(self.n_values))
            else:
                # value's available entities are all in the other's history
                holders, hits = self._count(self._having_history, mine)
                out.append(holders[hits == size])
            # the other's available entities are all in value's history
            holders, hits = self._count(self._having_available, self.history.row(value))
            out.append(holders[hits == self._size[holders]])
            empty = np.nonzero(self._size == 0)[0]
            found = np.unique(np.concatenate([*out, empty]))
            if self._cached + len(found) > _CACHE_INTS:
                self._cache.clear()
                self._cached = 0
            self._cache[value] = found
            self._cached += len(found)
        return found

    @staticmethod
    def _count(posting: Sets, items: Ints) -> tuple[Ints, Ints]:
        if not len(items):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        lists = np.concatenate([posting.row(int(e)) for e in items])
        values, hits = np.unique(lists, return_counts=True)
        return values, hits

    def row_exchanges(self, chunk: int, others: Ints) -> Mask:
        """Tell for one chunk against others what :meth:`pairs_exchange` tells."""
        bad = self.comparable(int(self.code[chunk]))
        self._bad[bad] = True
        out: Mask = ~self._bad[self.code[others]]
        self._bad[bad] = False
        return out


class Population:
    """The chunks of one component that have an entity in every category of J.

    Parameters
    ----------
    metadata : sequence, length n
        Secret of each chunk's document (or a hash of it).
    outside : sequence, length n
        One value a chunk, equal for chunks whose cells are equal in all categories outside J.
    available : sequence of Sets
        For each category in J, the entities that a chunk can give.
    history : sequence of Sets, optional
        For each category in J, the entities that the chunk may not take: those that were ever in
        it, and those that name its own document; the same as ``available`` when not given.
    constraints : sequence of Constraint, optional
        What a valid pair must meet; by default those that always hold.
    vectors : ndarray, shape (n, d), optional
        Unit vectors; needed for ``cosine_weight`` and for constraints that compare them.
    numbers : mapping of str to ndarray, shape (n,), optional
        The columns that constraints name in ``numbers``.
    cosine_weight : float, optional
        Exponent g of the clock rate ((1 + cosine) / 2)^g; None for equal rates.

    Raises
    ------
    ValueError
        When vectors or a column are missing.

    Notes
    -----
    Rows must be in the order of chunk ids: the sampler's streams refer to positions. Memory is
    about 8 bytes x (6 + 3 |J| + number of entities) a chunk, plus the vectors where needed.
    """

    def __init__(
        self,
        metadata: Sequence[Hashable] | NDArray[Any],
        outside: Sequence[Hashable] | NDArray[Any],
        available: Sequence[Sets],
        history: Sequence[Sets] | None = None,
        *,
        constraints: Sequence[Constraint] | None = None,
        vectors: NDArray[Any] | None = None,
        numbers: Mapping[str, NDArray[np.float64]] | None = None,
        cosine_weight: float | None = None,
    ) -> None:
        if history is None:
            history = available
        self.metadata = metadata
        self.outside = outside
        self.n = len(metadata)
        self.categories = [Category(a, h) for a, h in zip(available, history, strict=True)]
        self.cosine_weight = cosine_weight
        self.vectors = vectors
        self.numbers = dict(numbers or {})
        self.constraints = tuple(constraints_of() if constraints is None else constraints)
        asking = [c.name for c in self.constraints if c.needs_vectors]
        if vectors is None and (asking or cosine_weight is not None):
            names = ", ".join([*asking, *["cosine_weight"] * (cosine_weight is not None)])
            raise ValueError(f"{names}: the 'vectors' of the chunks are needed.")
        missing = [name for c in self.constraints for name in c.numbers if name not in self.numbers]
        if missing:
            raise ValueError(f"constraints need the columns {missing} of the chunks.")
        keys = [(c, c.keys(self)) for c in self.constraints]
        #: Integer codes that must all differ within a valid pair; shape (keys, n).
        self.keys: list[Ints] = [key for _, own in keys for key in own]
        self._beyond = [c for c in self.constraints if c.overrides("pairs")]
        self._rows = [c for c in self.constraints if c.overrides("row")]
        self._row_keys = [key for c, own in keys if c not in self._rows for key in own]
        self._row_pairs = [c for c in self._beyond if c not in self._rows]

    @property
    def weighted(self) -> bool:
        """Whether clock rates differ between pairs."""
        return self.cosine_weight is not None

    def pair_rates(self, a: Ints, b: Ints) -> NDArray[np.float64]:
        """Return the clock rates of pairs: 0 for invalid ones, else 1, or a weight in (0, 1]."""
        ok: Mask = np.ones(len(a), dtype=bool)
        for key in self.keys:
            ok &= key[a] != key[b]
        (rows,) = np.nonzero(ok)
        return self._rates(a, b, rows, self._beyond)

    def row_rates(self, chunk: int, others: Ints) -> NDArray[np.float64]:
        """Return the clock rates of one chunk with others; see :meth:`pair_rates`."""
        ok: Mask = np.ones(len(others), dtype=bool)
        for key in self._row_keys:
            ok &= key[others] != key[chunk]
        for constraint in self._rows:
            ok &= constraint.row(self, chunk, others)
        (rows,) = np.nonzero(ok)
        return self._rates(np.full(len(others), chunk), others, rows, self._row_pairs)

    def valid(self, rows: Ints) -> Mask:
        """Tell for some chunks which of all chunks are valid partners; shape (len(rows), n)."""
        everyone = np.arange(self.n)
        out = np.zeros((len(rows), self.n), dtype=bool)
        for i, row in enumerate(rows.tolist()):
            out[i] = self.row_rates(row, everyone) > 0
        return out

    def cosines(self, a: Ints, b: Ints) -> NDArray[np.float64]:
        """Return the cosines of the vectors of pairs; the value does not depend on other pairs."""
        assert self.vectors is not None
        out = np.empty(len(a))
        block = 4096  # pairs at a time: two float64 copies of their vectors are held
        for start in range(0, len(a), block):
            part = slice(start, start + block)
            # einsum sums each row on its own
            out[part] = np.einsum(
                "ij,ij->i",
                self.vectors[a[part]].astype(np.float64),
                self.vectors[b[part]].astype(np.float64),
            )
        return out

    def _rates(
        self, a: Ints, b: Ints, rows: Ints, constraints: Sequence[Constraint]
    ) -> NDArray[np.float64]:
        """Return the rates of pairs, of which only ``rows`` may still be valid."""
        rate = np.zeros(len(a))
        for constraint in constraints:
            if not rows.size:
                return rate
            rows = rows[constraint.pairs(self, a[rows], b[rows])]
        if self.cosine_weight is None:
            rate[rows] = 1.0
        else:
            cosine = self.cosines(a[rows], b[rows])
            rate[rows] = np.clip((1.0 + cosine) / 2.0, 0.0, 1.0) ** self.cosine_weight
        return rate
