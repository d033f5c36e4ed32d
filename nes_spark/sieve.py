"""A set of strings that may be large, as bits that travel with a task."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

import numpy as np


class StringSieve:
    """A filter of strings: it never misses a known one, and about one other in 32 passes too.

    A bitmap of 32 to 64 bits a string (a Bloom filter of one hash function, Bloom 1970): what it
    holds back need not travel to a join.

    Parameters
    ----------
    numbers : iterable of int
        :meth:`number_of` of every string.
    """

    def __init__(self, numbers: Iterable[int]) -> None:
        self._mask, self._bits = _bitmap(numbers)

    @staticmethod
    def number_of(key: str) -> int:
        """Return 32 bits of a string, the same in every process and in Spark (crc32)."""
        return zlib.crc32(key.encode())

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        at = zlib.crc32(key.encode()) & self._mask
        return bool(self._bits[at >> 3] >> (at & 7) & 1)


def _bitmap(numbers: Iterable[int]) -> tuple[int, bytes]:
    """Return a mask and a bit for each value that numbers have under it."""
    found = np.unique(np.fromiter(numbers, np.uint64))
    mask = (1 << max(6, int(32 * max(len(found), 1) - 1).bit_length())) - 1
    places = np.unique(found & np.uint64(mask)).astype(np.int64)
    bits = np.zeros((mask + 1) // 8, dtype=np.uint8)
    if len(places):
        # sorted: those of one byte stand together
        at, first = np.unique(places >> 3, return_index=True)
        bits[at] = np.bitwise_or.reduceat((1 << (places & 7)).astype(np.uint8), first)
    return mask, bits.tobytes()
