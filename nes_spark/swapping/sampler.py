r"""Sequential random swapping within one component, exactly and without listing all pairs.

The method (paper, section 3.2.1) swaps a pair drawn uniformly from all pairs that are still valid,
then the next, and so on. Let every pair ring at the points of its own Poisson process of rate 1 and
accept a ring when both chunks are still free and the pair is valid. At any moment each pair that
is still valid is equally likely to be the next to ring, whatever happened before (the exponential
distribution has no memory), so the accepted pairs are exactly a draw of the sequential scheme.
Components do not share pairs: they run on their own, and sorting what they accept by time gives
the global sequence. With rates proportional to weights the next pair is drawn proportionally to
its weight.

Rings that cannot be accepted need not be simulated. Three ways of finding the next accepted ring
are used, one after the other; each is exact, so the changes between them need no correction (the
remaining time of every clock is again exponential).

*Thinning.* Each chunk i has a group of chunks that it cannot be swapped with because one of the
values that must differ is equal: the metadata, the cell outside J, or the set of entities in a
category of J. With u_i = chunks outside its largest such group, draw i with probability u_i / U,
U = sum u_i, and j uniformly outside the group: every valid ordered pair then comes up with
probability 1 / U, and rings come at rate U / 2. Pairs that are invalid or no longer free are
dropped. The cost is that of the rings, a microsecond each in batches; the u_i are computed anew
when an eighth of the chunks is gone. For 30 swaps in a million chunks with ordinary entities this
is all that happens.

*Enumeration.* When thinning has cost as much as looking at the pairs that are left, these are
looked at, row by row, the valid ones get an Exp(rate) clock each and are accepted in the order of
their clocks. No pair is left out, so that the sequence ends exactly when no valid pair is left.
Only rows outside the largest group are looked at, since there is no valid pair inside it: most
chunks being of one document, or sharing one entity, costs nothing.

*Row thinning.* When there are too many pairs to look at or to keep, rows are drawn proportionally
to a bound on their number of valid partners (first u_i), the row is counted exactly, the ring is
accepted with probability count / bound, and the bound becomes the count. Bounds only shrink, one
row is in memory at a time, and each row is counted at most about once without a swap coming of it.

Memory is proportional to the number of chunks (plus at most two million listed pairs), time to the
number of swaps; never memory to the square of the component.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nes_spark.swapping.codes import Ints, Mask
from nes_spark.swapping.population import Population
from nes_spark.swapping.seeds import Stream

#: Components of at most this many chunks are enumerated at once.
SMALL = 48
#: Candidate pairs that one enumeration may look at.
ENUMERATION_LOOKS = 1 << 28
#: Valid pairs that one enumeration may hold.
ENUMERATION_PAIRS = 1 << 21


@dataclass(frozen=True)
class Accepted:
    """An accepted swap: positions of the two chunks (first < second), its time and priority.

    ``priority`` is 0, or with sample uniques first 2 minus the number of uniques in the pair; swaps
    are ordered by priority, then time.
    """

    first: int
    second: int
    time: float
    priority: int = 0


@dataclass
class Effort:
    """What a sampling took; for tests and benchmarks."""

    rings: int = 0
    rows: int = 0
    looks: int = 0
    enumerations: int = 0
    most_pairs: int = 0


@dataclass
class Limits:
    """When the sampler changes from one exact way to another; each draws the same distribution."""

    small: int = SMALL
    looks: int = ENUMERATION_LOOKS
    pairs: int = ENUMERATION_PAIRS
    rings_per_chunk: float = 60.0
    rings_per_pair: float = 0.01
    effort: Effort = field(default_factory=Effort)


def sample_component(
    population: Population,
    stream: Stream,
    max_swaps: int | None = None,
    uniques: Mask | None = None,
    limits: Limits | None = None,
) -> list[Accepted]:
    """Draw the sequence of swaps of one component.

    Parameters
    ----------
    population : Population
        Eligible chunks in the order of their ids.
    stream : Stream
        Random stream of this component.
    max_swaps : int, optional
        Longest sequence; None until no valid pair is left. A shorter sequence is the beginning of
        a longer one from the same stream.
    uniques : ndarray of bool, shape (n,), optional
        Risk-targeted swapping: pairs of two marked chunks are exhausted first, then pairs of one,
        then the others.
    limits : Limits, optional
        Costs at which the way of sampling changes, and counters.

    Returns
    -------
    list of Accepted
        In order of (priority, time).
    """
    limits = limits or Limits()
    accepted: list[Accepted] = []
    free = np.ones(population.n, dtype=bool)
    for priority, initiators, members in phases(population.n, uniques):
        remaining = None if max_swaps is None else max_swaps - len(accepted)
        if remaining is not None and remaining <= 0:
            break
        run = _Run(population, stream, free, initiators, limits)
        for a, b, time in run.swaps(members, remaining):
            accepted.append(Accepted(min(a, b), max(a, b), time, priority))
    return accepted


def phases(n: int, uniques: Mask | None) -> Iterator[tuple[int, Mask | None, Mask]]:
    """Yield (priority, initiators, members): pairs of members with an initiator among them."""
    everyone = np.ones(n, dtype=bool)
    if uniques is None:
        yield 0, None, everyone
        return
    yield 0, None, uniques
    # No valid pair of two uniques is left, so each pair here has one unique.
    yield 1, uniques, everyone
    # Nor one with a unique.
    yield 2, None, ~uniques


class _Run:
    """One phase: an endless supply of accepted swaps among free members."""

    def __init__(
        self,
        population: Population,
        stream: Stream,
        free: Mask,
        initiators: Mask | None,
        limits: Limits,
    ) -> None:
        self.population = population
        self.stream = stream
        self.free = free
        self.initiators = initiators
        self.limits = limits
        self.time = 0.0
        #: Exact bound on the total rate of a row, where one is known; see row thinning.
        self.bound = np.full(population.n, np.inf)

    def swaps(self, members: Mask, max_swaps: int | None) -> Iterator[tuple[int, int, float]]:
        """Yield (a, b, time) of at most ``max_swaps`` swaps."""
        if max_swaps is not None and max_swaps <= 0:
            return
        for count, (a, b, time) in enumerate(self._all(members), start=1):
            self.free[a] = self.free[b] = False
            yield a, b, time
            if max_swaps is not None and count >= max_swaps:
                return

    def _all(self, members: Mask) -> Iterator[tuple[int, int, float]]:
        while True:
            epoch = self._epoch(members)
            if epoch is None:
                return
            if len(epoch.chunks) > self.limits.small:
                stalled = yield from self._thinning(epoch)
                if not stalled:
                    continue
            break
        # From here on the pairs that are left are looked at.
        listing = True
        while True:
            epoch = self._epoch(members)
            if epoch is None:
                return
            cover = self._cover(epoch)
            if listing and int(epoch.others[cover].sum()) <= self.limits.looks:
                pairs = self._enumerate(epoch, cover)
                if pairs is not None:
                    yield from self._in_clock_order(*pairs)
                    return
                listing = False  # too many valid pairs: swap some first
            listing = (yield from self._row_thinning(epoch, cover)) or listing

    def _epoch(self, members: Mask) -> _Epoch | None:
        """Free members that may still have a partner, with their groups; None for none."""
        (chunks,) = np.nonzero(members & self.free & (self.bound > 0))
        while True:
            if len(chunks) < 2:
                return None
            epoch = _Epoch(chunks, self.population.keys, self.initiators)
            if int(epoch.others.sum()) == 0:
                return None
            alive = epoch.others > 0
            if self.initiators is not None:
                # a chunk that is no initiator lives as long as there are initiators
                alive |= ~self.initiators[chunks]
            if alive.all():
                return epoch
            chunks = chunks[alive]

    def _thinning(self, epoch: _Epoch) -> Generator[tuple[int, int, float], None, bool]:
        """Accept rings until an eighth of the chunks is gone; return True when that is dear."""
        population, stream, free = self.population, self.stream, self.free
        n = len(epoch.chunks)
        cumulative = np.cumsum(epoch.others)
        total = int(cumulative[-1])
        one_sided = self.initiators is not None
        rate = float(total) if one_sided else total / 2.0
        budget = self.limits.rings_per_chunk * n + self.limits.rings_per_pair * total
        rings = 0
        taken = 0
        while taken < max(1, n // 8):
            if rings >= budget:
                return True
            size = min(1 << 15, max(64, rings))
            rings += size
            self.limits.effort.rings += size
            times = self.time + np.cumsum(stream.exponential(size)) / rate
            at = np.searchsorted(
                cumulative, stream.below(np.full(size, total, dtype=np.int64)), side="right"
            )
            a, b = epoch.chunks[at], epoch.partner(at, stream)
            keep = free[a] & free[b]
            if one_sided:
                # a pair of two initiators would ring twice as often; none of them is valid here
                keep &= ~self.initiators[b]  # type: ignore[index]
            rates = np.zeros(size)
            rates[keep] = population.pair_rates(a[keep], b[keep])
            if population.weighted:
                rates = (rates > stream.uniform(size)).astype(np.float64)
            for k in np.nonzero(rates > 0)[0].tolist():
                first, second = int(a[k]), int(b[k])
                if free[first] and free[second]:
                    yield first, second, float(times[k])
                    taken += 1
            self.time = float(times[-1])
        return False

    def _cover(self, epoch: _Epoch) -> Ints:
        """Positions of which every valid pair has one: outside the largest group, or initiators."""
        if self.initiators is not None:
            return np.nonzero(self.initiators[epoch.chunks])[0]
        return epoch.outside_largest()

    def _row(self, epoch: _Epoch, position: int) -> tuple[Ints, NDArray[np.float64]]:
        """Return the free valid partners (positions) of a row and their rates; keep the bound."""
        chunk = int(epoch.chunks[position])
        positions = epoch.candidates(position)
        positions = positions[self.free[epoch.chunks[positions]]]
        self.limits.effort.rows += 1
        self.limits.effort.looks += len(positions)
        rates = self.population.row_rates(chunk, epoch.chunks[positions])
        if self.initiators is not None:
            rates[self.initiators[epoch.chunks[positions]]] = 0.0  # none is valid: see phases
        keep = rates > 0
        self.bound[chunk] = _upper(rates[keep])
        return positions[keep], rates[keep]

    def _enumerate(
        self, epoch: _Epoch, cover: Ints
    ) -> tuple[Ints, Ints, NDArray[np.float64]] | None:
        """List all valid pairs and their rates; None when they are too many to hold."""
        inside = np.zeros(len(epoch.chunks), dtype=bool)
        inside[cover] = True
        firsts, seconds, rates = [], [], []
        held = 0
        self.limits.effort.enumerations += 1
        for position in cover.tolist():
            others, rate = self._row(epoch, position)
            keep = ~inside[others] | (others > position)  # two rows of the cover: once
            others, rate = others[keep], rate[keep]
            firsts.append(np.full(len(others), epoch.chunks[position]))
            seconds.append(epoch.chunks[others])
            rates.append(rate)
            held += len(others)
            self.limits.effort.most_pairs = max(self.limits.effort.most_pairs, held)
            if held > self.limits.pairs:
                return None
        if not firsts:
            nothing = np.zeros(0, dtype=np.int64)
            return nothing, nothing, np.zeros(0)
        return np.concatenate(firsts), np.concatenate(seconds), np.concatenate(rates)

    def _in_clock_order(
        self, a: Ints, b: Ints, rates: NDArray[np.float64]
    ) -> Iterator[tuple[int, int, float]]:
        clocks = self.stream.exponential(len(a)) / rates
        for k in np.argsort(clocks, kind="stable").tolist():
            first, second = int(a[k]), int(b[k])
            if self.free[first] and self.free[second]:
                yield first, second, self.time + float(clocks[k])

    def _row_thinning(
        self, epoch: _Epoch, cover: Ints
    ) -> Generator[tuple[int, int, float], None, bool]:
        """Accept rings of whole rows for a while; return True when an eighth of the chunks went."""
        inside = np.zeros(len(epoch.chunks), dtype=bool)
        inside[cover] = True
        chunks = epoch.chunks[cover]
        bound = np.minimum(self.bound[chunks], epoch.others[cover].astype(np.float64))
        stream = self.stream
        taken = 0
        for _ in range(max(64, len(cover))):
            bound[~self.free[chunks]] = 0.0
            cumulative = np.cumsum(bound)
            total = float(cumulative[-1])
            if total <= 0.0:
                break
            self.time += float(stream.exponential(1)[0]) / total
            mark, accept, pick = stream.uniform(3).tolist()
            at = int(np.searchsorted(cumulative, mark * total, side="right"))
            at = min(at, len(cover) - 1)
            others, rates = self._row(epoch, int(cover[at]))
            rates = np.where(inside[others], 0.5 * rates, rates)  # such pairs have two rows
            sums = np.cumsum(rates)
            exact = float(sums[-1]) if len(sums) else 0.0
            chosen = exact > accept * bound[at]
            bound[at] = _upper(rates)
            if chosen:
                k = min(int(np.searchsorted(sums, pick * exact, side="right")), len(others) - 1)
                yield int(chunks[at]), int(epoch.chunks[others[k]]), self.time
                taken += 1
                if taken >= max(1, len(epoch.chunks) // 8):
                    break
        return taken >= max(1, len(epoch.chunks) // 8)


def _upper(rates: NDArray[np.float64]) -> float:
    """Sum of rates, rounded up: a bound that floating point cannot undercut."""
    total = float(rates.sum())
    return total if total == int(total * 2) / 2 else total * (1 + 1e-9)


class _Epoch:
    """Groups of a set of chunks under every key, and for each chunk the key that excludes most.

    Attributes
    ----------
    chunks : ndarray of int64
        Indices into the population, ascending; positions below refer to this array.
    others : ndarray of int64
        For each position that may start a pair, the number of candidates for its partner.
    """

    def __init__(self, chunks: Ints, keys: list[Ints], initiators: Mask | None) -> None:
        n = len(chunks)
        self.chunks = chunks
        self.others = np.full(n, n, dtype=np.int64)
        self._key = np.zeros(n, dtype=np.int64)
        self._order: list[Ints] = []
        self._start: list[Ints] = []
        self._size: list[Ints] = []
        self._codes: list[Ints] = []
        for number, key in enumerate(keys):
            codes = _compact(key[chunks])
            sizes = np.bincount(codes)
            starts = np.cumsum(sizes) - sizes
            self._order.append(np.argsort(codes, kind="stable"))
            self._start.append(starts[codes])
            self._size.append(sizes[codes])
            self._codes.append(codes)
            others = n - sizes[codes]
            better = others < self.others
            self.others[better] = others[better]
            self._key[better] = number
        if initiators is not None:
            self.others[~initiators[chunks]] = 0

    def partner(self, positions: Ints, stream: Stream) -> Ints:
        """Draw a chunk uniformly from those outside the excluding group of each position."""
        draw = stream.below(self.others[positions])
        out = np.empty(len(positions), dtype=np.int64)
        for number in range(len(self._order)):
            (rows,) = np.nonzero(self._key[positions] == number)
            if rows.size:
                at = positions[rows]
                start, size = self._start[number][at], self._size[number][at]
                rank = draw[rows]
                rank = np.where(rank >= start, rank + size, rank)
                out[rows] = self._order[number][rank]
        return self.chunks[out]

    def candidates(self, position: int) -> Ints:
        """Return the positions outside the excluding group of a position."""
        number = int(self._key[position])
        start = int(self._start[number][position])
        size = int(self._size[number][position])
        order = self._order[number]
        return np.concatenate([order[:start], order[start + size :]])

    def outside_largest(self) -> Ints:
        """Return the positions outside the largest group of any key, ascending."""
        largest = max(range(len(self._size)), key=lambda k: int(self._size[k].max()))
        sizes = self._size[largest]
        code = self._codes[largest][int(np.argmax(sizes))]
        return np.nonzero(self._codes[largest] != code)[0]


def _compact(codes: Ints) -> Ints:
    """Renumber codes 0, 1, .. in their own order."""
    present = np.zeros(int(codes.max()) + 1, dtype=np.int64)
    present[codes] = 1
    return (np.cumsum(present) - 1)[codes]
