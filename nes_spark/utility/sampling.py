"""A stratified sample that depends on a secret and on ids, never on the order of rows.

Inside a stratum of N members the member of rank j (from 1) of a keyed hash has the position

    (j - u) / N,

with u from 0 to 1 a keyed hash of the stratum. The sample of share f is whatever lies at positions
up to f: of each stratum floor(f N + u), so f N on average, and never more than one member away from
it (systematic sampling with a random start; Cochran 1977, chapter 8). A larger sample contains
every smaller one, so a budget is spent by going along the positions until it is gone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nes_spark.errors import parameter_error
from nes_spark.swapping.seeds import Secret

Array = NDArray[np.float64]


def sampling_key(secret: bytes) -> str:
    """Return what ids are hashed with: 64 hexadecimal digits that do not lead to the secret."""
    return Secret(secret).digest("judge", "sample", size=32).hex()


def keyed_hash(key: str, *parts: object) -> str:
    """Return the SHA-256 of a key and strings, as Spark's ``sha2(concat(key, ...), 256)``."""
    text = key + "".join(str(part) for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def uniform(key: str, *parts: object) -> float:
    """Return a number in [0, 1) that belongs to these parts."""
    return int(keyed_hash(key, *(f"|{part}" for part in parts))[:13], 16) / 16.0**13


def position(rank: int, size: int, start: float) -> float:
    """Return where a member of a stratum lies between 0 and 1; see the module.

    Parameters
    ----------
    rank : int
        Of its hash, from 1.
    size : int
        Members of the stratum.
    start : float
        The random start u of the stratum, from 0 to 1.

    Examples
    --------
    >>> [position(rank, 4, 0.5) for rank in (1, 2, 3, 4)]
    [0.125, 0.375, 0.625, 0.875]
    """
    if not 1 <= rank <= size:
        raise parameter_error("position", "rank", f"from 1 to {size}", rank)
    return (rank - start) / size


def weights(strata: Sequence[Hashable], sizes: Mapping[Any, float]) -> Array:
    """Return how many members of the population each sampled one stands for.

    Parameters
    ----------
    strata : sequence of length n
        Stratum of each sampled member.
    sizes : mapping
        Stratum -> members in the population; may name strata of which none was sampled.

    Returns
    -------
    ndarray of shape (n,)
        N_h / n_h, times what makes them add up to the whole population where strata have no member
        in the sample; empty for an empty sample.

    Raises
    ------
    ValueError
        When a stratum has no size, or fewer members than were sampled.
    """
    sampled: dict[Hashable, int] = {}
    for stratum in strata:
        sampled[stratum] = sampled.get(stratum, 0) + 1
    for stratum, n in sampled.items():
        if sizes.get(stratum, 0) < n:
            raise parameter_error(
                "weights", "sizes", f"at least {n} for stratum {stratum!r}", sizes.get(stratum)
            )
    found = np.array([sizes[s] / sampled[s] for s in strata], dtype=np.float64)
    return found * (sum(sizes.values()) / found.sum()) if found.size else found


def within_budget(texts: Iterable[Sequence[str]], budget: int, known: Iterable[str] = ()) -> int:
    """Return how many members, from the first, have no more distinct new texts than a budget.

    Parameters
    ----------
    texts : iterable of sequence of str
        Texts of each member, or digests of them, in the order of their positions.
    budget : int
        Texts that may be new.
    known : iterable of str
        Those that cost nothing.

    Examples
    --------
    >>> within_budget([["a", "b"], ["b", "c"], ["d"]], 3)
    2
    >>> within_budget([["a", "b"], ["b", "c"], ["d"]], 3, known=["a"])
    3
    """
    seen = set(known)
    left = budget
    taken = 0
    for own in texts:
        new = set(own) - seen
        if len(new) > left:
            break
        seen |= new
        left -= len(new)
        taken += 1
    return taken
