"""One 64-bit hash a row of an Arrow table: the bits of Spark's ``xxhash64`` over its columns.

The content of a table is told by the sum of its rows' hashes. Spark adds them up for a large table;
for a small one a query costs more than the hashes, so they are calculated here.

The hash is XXH64 (Yann Collet, https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md), each value
hashed with the hash so far as its seed. As in Spark, numbers are hashed as one lane of 4 or 8 bytes
(booleans and ints of 4), strings as their UTF-8 bytes, an array as its elements and a struct as its
fields in order, and a null leaves the hash as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(prime)
    for prime in (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )
)
#: Spark's seed.
SEED = 42
#: Bytes of a string that is still hashed here: each 32 of the longest are a few calls of NumPy.
LONGEST = 1 << 17


def row_hashes(table: pa.Table) -> Hashes | None:
    """Return the hash of each row.

    A row's hash is that of, column by column, the hash of the value (of a map: of its entries in
    the order of their keys) and whether it is null.

    Parameters
    ----------
    table : pyarrow.Table
        Columns of strings, booleans, 32- and 64-bit integers and floats, arrays and structs of
        these, and maps of these as whole columns.

    Returns
    -------
    numpy.ndarray of uint64, shape (rows,)
        None where a string is longer than :data:`LONGEST` bytes.

    Raises
    ------
    TypeError
        For a column of another type.
    """
    found = np.full(table.num_rows, SEED, dtype=np.uint64)
    try:
        with np.errstate(over="ignore"):
            for column in table.columns:
                values = _whole(column)
                own = _hash(values, np.full(len(values), SEED, dtype=np.uint64))
                found = _lane8(own, found)
                found = _lane4(_numbers(values.is_null()).astype(np.uint64), found)
    except _TooLong:
        return None
    return found


class _TooLong(Exception):
    """A string is longer than :data:`LONGEST`."""


def _whole(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, a map as an array of its entries in the order of their keys."""
    import pyarrow as pa

    if not pa.types.is_map(column.type):
        return pa.concat_arrays(column.chunks) if column.chunks else pa.array([], column.type)
    entry = pa.struct([("key", column.type.key_type), ("value", column.type.item_type)])
    rows = [
        None
        if row is None
        else [{"key": k, "value": v} for k, v in sorted(row, key=lambda pair: pair[0])]
        for row in column.to_pylist()
    ]
    return pa.array(rows, pa.list_(entry))


def _numbers(values: pa.Array) -> NDArray[Any]:
    return np.asarray(values.to_numpy(zero_copy_only=False))


def _hash(values: pa.Array, seeds: Hashes) -> Hashes:
    """Hash each value with its own seed."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = values.type
    if values.null_count:
        there = np.flatnonzero(~_numbers(values.is_null()).astype(bool))
        found = seeds.copy()
        if len(there):
            found[there] = _hash(values.take(pa.array(there)), seeds[there])
        return found
    if pa.types.is_struct(kind):
        for field in values.flatten():
            seeds = _hash(field, seeds)
        return seeds
    if pa.types.is_list(kind):
        lengths = _numbers(pc.list_value_length(values)).astype(np.int64)
        elements = values.flatten()
        starts = np.cumsum(lengths) - lengths
        found = seeds.copy()
        for place in range(int(lengths.max(initial=0))):
            rows = np.flatnonzero(lengths > place)
            found[rows] = _hash(elements.take(pa.array(starts[rows] + place)), found[rows])
        return found
    if pa.types.is_string(kind):
        return _strings(values, seeds)
    if pa.types.is_boolean(kind) or pa.types.is_int32(kind):
        return _lane4(_numbers(values).astype(np.int32).view(np.uint32).astype(np.uint64), seeds)
    if pa.types.is_int64(kind):
        return _lane8(_numbers(values).astype(np.int64).view(np.uint64), seeds)
    if pa.types.is_float32(kind):
        bits = _plain_bits(_numbers(values).astype(np.float32)).view(np.uint32)
        return _lane4(bits.astype(np.uint64), seeds)
    if pa.types.is_float64(kind):
        return _lane8(_plain_bits(_numbers(values).astype(np.float64)).view(np.uint64), seeds)
    raise TypeError(f"rows with {kind} have no hash")


def _plain_bits(values: NDArray[Any]) -> NDArray[Any]:
    """Give all zeros one sign and all values that are no number one form, as Spark does."""
    values = np.where(values == 0, np.zeros((), values.dtype), values)
    return np.where(np.isnan(values), np.full((), np.nan, values.dtype), values)


def _rotated(values: Hashes, by: int) -> Hashes:
    return (values << np.uint64(by)) | (values >> np.uint64(64 - by))


def _mixed(hashes: Hashes) -> Hashes:
    hashes = (hashes ^ (hashes >> np.uint64(33))) * _P2
    hashes = (hashes ^ (hashes >> np.uint64(29))) * _P3
    return hashes ^ (hashes >> np.uint64(32))


def _eight(hashes: Hashes, words: Hashes) -> Hashes:
    return _rotated(hashes ^ (_rotated(words * _P2, 31) * _P1), 27) * _P1 + _P4


def _four(hashes: Hashes, words: Hashes) -> Hashes:
    return _rotated(hashes ^ (words * _P1), 23) * _P2 + _P3


def _lane8(values: Hashes, seeds: Hashes) -> Hashes:
    return _mixed(_eight(seeds + _P5 + np.uint64(8), values))


def _lane4(values: Hashes, seeds: Hashes) -> Hashes:
    return _mixed(_four(seeds + _P5 + np.uint64(4), values))


def _strings(values: pa.Array, seeds: Hashes) -> Hashes:
    """Hash the bytes of strings side by side: those that are long enough, stripe by stripe."""
    if not len(values):
        return seeds
    offsets = np.frombuffer(values.buffers()[1], dtype=np.int32)
    offsets = offsets[values.offset : values.offset + len(values) + 1].astype(np.int64)
    lengths = np.diff(offsets)
    if lengths.max() > LONGEST:
        raise _TooLong
    raw = values.buffers()[2]
    # room for reading a lane at the last byte
    content = np.zeros((0 if raw is None else raw.size) + 8, dtype=np.uint8)
    if raw is not None:
        content[:-8] = np.frombuffer(raw, dtype=np.uint8)
    lanes = np.ndarray((len(content) - 7,), dtype="<u8", buffer=content.data, strides=(1,))
    # longest first: those of a given length and more are a slice
    order = np.argsort(-lengths, kind="stable")
    at, length, seed = offsets[:-1][order], lengths[order], seeds[order]

    def least(n: int) -> int:
        return int(np.searchsorted(-length, -n, side="right"))

    def lane(rows: Any, place: Any) -> Hashes:
        return np.asarray(lanes[at[rows] + place], dtype=np.uint64)

    found = seed + _P5
    if long := least(32):
        start = seed[:long]
        four = [start + _P1 + _P2, start + _P2, start.copy(), start - _P1]
        for stripe in range(int(length[0]) // 32):
            rows = slice(0, least(32 * (stripe + 1)))
            for i, state in enumerate(four):
                words = lane(rows, 32 * stripe + 8 * i)
                state[rows] = _rotated(state[rows] + words * _P2, 31) * _P1
        mixed = _rotated(four[0], 1)
        for state, by in zip(four[1:], (7, 12, 18), strict=True):
            mixed = mixed + _rotated(state, by)
        for state in four:
            mixed = (mixed ^ (_rotated(state * _P2, 31) * _P1)) * _P1 + _P4
        found[:long] = mixed
    found = found + length.astype(np.uint64)
    done, rest = length - length % 32, length % 32
    for _ in range(3):
        these = np.flatnonzero(rest >= 8)
        found[these] = _eight(found[these], lane(these, done[these]))
        done[these] += 8
        rest[these] -= 8
    these = np.flatnonzero(rest >= 4)
    found[these] = _four(found[these], lane(these, done[these]) & np.uint64(0xFFFFFFFF))
    done[these] += 4
    rest[these] -= 4
    for _ in range(3):
        these = np.flatnonzero(rest > 0)
        byte = lane(these, done[these]) & np.uint64(0xFF)
        found[these] = _rotated(found[these] ^ (byte * _P5), 11) * _P1
        done[these] += 1
        rest[these] -= 1
    hashed = np.empty_like(found)
    hashed[order] = _mixed(found)
    return hashed
