"""Work and rows are laid to tasks evenly, and always in the same way."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nes_spark import spreading


@given(st.lists(st.integers(0, 100), max_size=6), st.integers(1, 3))
def test_work_is_laid_to_the_task_that_has_least(works, tasks):
    laid = spreading.balanced(dict(enumerate(works)), tasks)

    def longest(division):
        loads = [0] * tasks
        for work, task in zip(works, division, strict=True):
            loads[task] += work
        return max(loads)

    assert sorted(laid) == list(range(len(works)))
    best = min(longest(division) for division in product(range(tasks), repeat=len(works)))
    found = longest([laid[piece] for piece in range(len(works))])
    # Graham's bound for the longest first
    assert found <= best * (4 / 3 - 1 / (3 * tasks)) + 1e-9


def test_of_equal_pieces_the_earlier_comes_first():
    assert spreading.balanced({"b": 1, "a": 1, "c": 2}, 3) == {"c": 0, "b": 1, "a": 2}


def test_so_many_numbers_are_left_to_their_hash(spark, monkeypatch):
    from pyspark.sql import functions as F

    monkeypatch.setattr(spreading, "_MOST_PLACED", 4)
    rows = spark.range(5).select("id", spreading.placed(spark, F.col("id"), 5, 5).alias("key"))
    assert all(row["key"] == row["id"] for row in rows.collect())


@pytest.mark.parametrize(("numbers", "partitions"), [(1, 1), (7, 7), (64, 64), (12, 5)])
def test_numbered_rows_go_where_they_belong(spark, numbers, partitions):
    from pyspark.sql import functions as F

    rows = spark.range(3 * numbers).select((F.col("id") % numbers).alias("number"))
    key = spreading.placed(spark, F.col("number"), numbers, partitions)
    there = rows.repartition(partitions, key).select("number", F.spark_partition_id().alias("at"))
    at = {row["number"]: row["at"] for row in there.distinct().collect()}
    assert at == {n: n * partitions // numbers for n in range(numbers)}
    # the next time no job looks for them
    again = spreading.placed(None, F.col("number"), numbers, partitions)
    there = rows.repartition(partitions, again).select("number", F.spark_partition_id().alias("at"))
    assert {row["number"]: row["at"] for row in there.collect()} == at
