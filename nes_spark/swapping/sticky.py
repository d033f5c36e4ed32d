r"""Swaps that stay when the corpus grows: every pair has a clock of its own.

The sampler of :mod:`nes_spark.swapping.sampler` draws one stream of rings for a component, so that
a single chunk more changes all of its swaps. Here the Exp(1) clock of a pair is a function of the
secret and of the two chunk ids alone:

.. math:: t_{ab} = -\log(1 - u(h_a, h_b)) / w_{ab}

with :math:`h` a keyed 64-bit hash of an id, :math:`u` a mix of the two to a uniform number and
:math:`w` the weight of the pair. Accepting valid pairs of free chunks in the order of independent
exponential clocks is the sequential scheme of the paper (see the sampler's description), so the
distribution is the same; but the swaps of next quarter's corpus are those of this quarter's except
where a chunk that came, went or changed was in the way: a new pair can only displace a swap whose
clock rings later, and what follows from it.

Donors of what is left over have such clocks too (:func:`donor_keys`), of their own for each who may
give and each who asks: the first that ring are the donors, so that a donor stays as long as it can
give and no new unit rings before it.

All pairs of free chunks are hashed, a few nanoseconds each: a component of 10,000 eligible chunks
takes about a second a draw, one of 100,000 some minutes. Clocks are looked at in intervals of
ascending time, so that memory is proportional to the number of chunks.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from nes_spark.swapping.codes import Mask
from nes_spark.swapping.population import Population
from nes_spark.swapping.sampler import Accepted, phases
from nes_spark.swapping.seeds import Secret

#: Pairs held at a time.
PAIRS = 1 << 21
#: Pairs hashed at a time.
BLOCK = 1 << 20

Hashes = NDArray[np.uint64]


def pair_keys(
    secret: Secret, ids: Iterable[str], combination: str, draw: int, round_: int
) -> Hashes:
    """Return the keyed hash of every id for one combination, draw and round.

    The mixture setting and the component are left out: they are fitted anew each period, and a
    swap should survive that as long as both chunks stay in one component.
    """
    values = [secret.digest("sticky", combination, draw, round_, i, size=8) for i in ids]
    return np.frombuffer(b"".join(values), dtype="<u8").astype(np.uint64)


def setting_key(setting: str, sticky: bool) -> str:
    """Return the part that a mixture setting has in the digests of names.

    None where swaps are sticky: fitted with another number of components next period, two chunks
    that meet again give each other the same names.
    """
    return "" if sticky else setting


def donor_keys(
    secret: Secret, ids: Iterable[str], unit: str, category: str, draw: int
) -> tuple[Hashes, Hashes]:
    """Return the keyed hashes of units as those who ask for donors and as those who give.

    Two of each, so that who gives to a unit says nothing of whom that unit gives to. The setting is
    left out as in :func:`pair_keys`.
    """
    ids = list(ids)
    asks, gives = (
        pair_keys(secret, ids, f"{unit} {side} {category}", draw, 0) for side in ("asks", "gives")
    )
    return asks, gives


def _mixed(value: Hashes) -> Hashes:
    """The finaliser of SplitMix64: every bit of the input reaches every bit of the output."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def pair_clocks(first: Hashes, second: Hashes) -> NDArray[np.float64]:
    """Return an Exp(1) clock for pairs of hashes; the order in a pair does not matter."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    mixed = _mixed(_mixed(low + np.uint64(0x9E3779B97F4A7C15)) ^ high)
    uniform = (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.asarray(-np.log1p(-uniform))


def sample_sticky(
    population: Population,
    keys: Hashes,
    max_swaps: int | None = None,
    uniques: Mask | None = None,
    pairs: int = PAIRS,
) -> list[Accepted]:
    """Draw the sequence of swaps of one component from the clocks of its pairs.

    Parameters
    ----------
    population : Population
        Eligible chunks.
    keys : ndarray of uint64, shape (n,)
        From :func:`pair_keys`.
    max_swaps : int, optional
        Longest sequence; None until no valid pair is left. A shorter sequence is the beginning of
        a longer one.
    uniques : ndarray of bool, shape (n,), optional
        As for :func:`nes_spark.swapping.sampler.sample_component`.
    pairs : int, optional
        About how many pairs are held at a time; the result does not depend on it.

    Returns
    -------
    list of Accepted
        In order of (priority, time).
    """
    free = np.ones(population.n, dtype=bool)
    accepted: list[Accepted] = []
    for priority, initiators, members in phases(population.n, uniques):
        remaining = None if max_swaps is None else max_swaps - len(accepted)
        if remaining is not None and remaining <= 0:
            break
        start, stop, growth = 0.0, None, 1
        while True:
            (chunks,) = np.nonzero(members & free)
            total = len(chunks) * (len(chunks) - 1) / 2
            if total < 1:
                break
            # Long enough that a share of the pairs rings; where there are few pairs, all of them.
            if stop is None:
                goal = growth * min(pairs, 256 * (remaining or len(chunks)) + 1024)
                stop = np.inf if total <= goal else start - float(np.log1p(-goal / total))
            found = _ringing(population, keys, chunks, initiators, start, stop, 4 * pairs)
            if found is None:  # more than can be held: a shorter interval
                stop = start + (stop - start) / 2 if np.isfinite(stop) else start + 1.0
                growth = 1
                continue
            a, b, times = found
            if 4 * len(times) < goal:  # few of the pairs are valid: look further
                growth *= 4
            for k in np.lexsort((keys[b], keys[a], times)).tolist():
                first, second = int(a[k]), int(b[k])
                if free[first] and free[second]:
                    free[first] = free[second] = False
                    accepted.append(Accepted(first, second, float(times[k]), priority))
                    if remaining is not None:
                        remaining -= 1
                        if not remaining:
                            break
            if remaining == 0 or not np.isfinite(stop):
                break
            start, stop = stop, None
    return accepted


def _ringing(
    population: Population,
    keys: Hashes,
    chunks: NDArray[np.int64],
    initiators: Mask | None,
    start: float,
    stop: float,
    limit: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]] | None:
    """Valid pairs whose clocks ring after ``start`` and not after ``stop``; None for too many."""
    firsts, seconds, times = [], [], []
    held = 0
    n = len(chunks)
    mine = keys[chunks]
    row = 0
    while row < n - 1:
        # a block of whole rows of the upper triangle
        end = min(n - 1, row + max(1, BLOCK // (n - row)))
        rows = np.arange(row, end)
        grid = pair_clocks(mine[rows][:, None], mine[None, row + 1 :])
        # rates are at most one, so a pair rings no sooner than its bare clock
        keep = grid <= stop
        keep &= np.arange(row + 1, n)[None, :] > rows[:, None]
        r, c = np.nonzero(keep)
        a, b = chunks[rows[r]], chunks[row + 1 + c]
        clock = grid[r, c]
        if initiators is not None:
            some = initiators[a] | initiators[b]
            a, b, clock = a[some], b[some], clock[some]
        rates = population.pair_rates(a, b)
        valid = rates > 0
        a, b = a[valid], b[valid]
        clock = clock[valid] / rates[valid]
        inside = (clock > start) & (clock <= stop)
        firsts.append(a[inside])
        seconds.append(b[inside])
        times.append(clock[inside])
        held += int(inside.sum())
        if held > limit and end < n - 1:
            return None
        row = end
    if not firsts:
        none = np.zeros(0, dtype=np.int64)
        return none, none, np.zeros(0)
    return np.concatenate(firsts), np.concatenate(seconds), np.concatenate(times)
