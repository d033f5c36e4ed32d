"""How rows and pieces of work are laid to tasks, so that none of them is waited for."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

K = TypeVar("K", bound=Hashable)

#: Partitions up to which numbered rows are placed one by one: for each the driver tries some keys.
_MOST_PLACED = 2000
#: Partitions -> place -> a key that falls there: Spark's hash is the same in all sessions.
_KEYS: dict[int, dict[int, int]] = {}


def shuffle_partitions(frame: DataFrame) -> int:
    """Return how many partitions a shuffle of the frame's session makes."""
    return int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)


def spread(rows: DataFrame, *keys: str | Column) -> DataFrame:
    """Spread rows over tasks: a table of few files has few, one with all of a huge document."""
    return rows.repartition(shuffle_partitions(rows), *keys)


def balanced(works: Mapping[K, float], tasks: int) -> dict[K, int]:
    """Lay pieces of work to tasks, largest first, each to the task that has the least.

    Parameters
    ----------
    works : mapping of object to float
        Piece -> what it costs. Of equal ones the earlier comes first.
    tasks : int

    Returns
    -------
    dict
        Piece -> number of its task. No task gets more than 4/3 of what the longest of the best
        division has (R. L. Graham, Bounds on multiprocessing timing anomalies, SIAM J. Appl. Math.
        17, 1969).
    """
    loads = [(0.0, task) for task in range(tasks)]
    found = {}
    for piece in sorted(works, key=lambda piece: -works[piece]):
        load, task = heapq.heappop(loads)
        heapq.heappush(loads, (load + works[piece], task))
        found[piece] = task
    return found


def placed(spark: SparkSession, number: Column, numbers: int, partitions: int) -> Column:
    """Return a key by which hash partitioning spreads numbered rows evenly, in order.

    The numbers are few: left to chance, some partitions would get several times as many as others,
    and all would wait for them. So integers are looked for whose hashes fall where they should.
    Only the balance hangs on this, never the result.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
    number : pyspark.sql.Column
        From 0 to ``numbers - 1``.
    numbers, partitions : int
        With as many partitions as numbers, each number has a partition of its own. More than
        :data:`_MOST_PLACED` partitions are left to the hash, which then spreads well enough.
    """
    from pyspark.sql import functions as F

    if partitions > _MOST_PLACED:
        return number.cast("int")
    found = _KEYS.get(partitions)
    if found is None:
        found = {}
        key = F.col("id").cast("int")
        for row in (
            spark.range(32 * partitions)
            .select(key.alias("key"), F.pmod(F.hash(key), F.lit(partitions)).alias("place"))
            .collect()
        ):
            found.setdefault(row["place"], row["key"])
        _KEYS[partitions] = found
    keys = [found.get(n * partitions // numbers, n) for n in range(numbers)]
    return F.element_at(F.array(*[F.lit(k) for k in keys]), number.cast("int") + F.lit(1))
