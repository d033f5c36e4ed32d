"""The judge's sample: spread over strata, nested, and a function of secret and ids alone."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nes_spark.utility.sampling import (
    keyed_hash,
    position,
    sampling_key,
    uniform,
    weights,
    within_budget,
)

KEY = sampling_key(b"a secret of the tests")


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_every_stratum_gives_its_share_to_within_one(sizes, share):
    for stratum, size in enumerate(sizes):
        start = uniform(KEY, stratum)
        taken = sum(position(rank, size, start) <= share for rank in range(1, size + 1))
        assert abs(taken - share * size) <= 1


def test_shares_are_right_on_average():
    # the random start makes floor(f N + u) unbiased, also in a stratum of one
    taken = [position(1, 1, uniform(KEY, i)) <= 0.3 for i in range(4000)]
    assert np.mean(taken) == pytest.approx(0.3, abs=4 * np.sqrt(0.21 / 4000))


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 50), min_size=1),
    st.randoms(use_true_random=False),
)
@settings(max_examples=60, deadline=None)
def test_weights_add_up_to_the_population(sizes, rng):
    sampled = [s for s, n in sizes.items() for _ in range(rng.randint(0, n))]
    found = weights(sampled, sizes)
    if sampled:
        assert found.sum() == pytest.approx(sum(sizes.values()))
        assert (found > 0).all()
    else:
        assert not found.size


def test_a_census_weighs_one_each():
    assert weights(["a", "a", "b"], {"a": 2, "b": 1}).tolist() == [1, 1, 1]
    assert weights(["a", "b"], {"a": 4, "b": 1}).tolist() == [4, 1]


def test_a_stratum_with_more_members_than_it_has_is_refused():
    with pytest.raises(ValueError, match="'a'"):
        weights(["a", "a"], {"a": 1})
    with pytest.raises(ValueError, match="'b'"):
        weights(["b"], {"a": 1})
    with pytest.raises(ValueError, match="rank"):
        position(3, 2, 0.5)


def test_other_secrets_give_other_samples():
    other = sampling_key(b"another secret")
    assert other != KEY
    ids = [f"d{i}#00001" for i in range(200)]
    first = set(sorted(ids, key=lambda i: keyed_hash(KEY, i))[:50])
    second = set(sorted(ids, key=lambda i: keyed_hash(other, i))[:50])
    assert len(first & second) < 30  # 12.5 on average


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=3), max_size=8), st.integers(0, 8))
def test_a_budget_is_never_exceeded_and_never_left_for_nothing(texts, budget):
    n = within_budget(texts, budget)
    used = {t for own in texts[:n] for t in own}
    assert len(used) <= budget
    if n < len(texts):
        assert len(used | set(texts[n])) > budget


def test_hashing_in_spark_and_here_is_the_same(spark):
    from pyspark.sql import functions as F

    ids = [(f"d{random.Random(i).random()}#0000{i}",) for i in range(5)]
    frame = spark.createDataFrame(ids, "chunk_id string")
    rows = frame.select("chunk_id", F.sha2(F.concat(F.lit(KEY), "chunk_id"), 256).alias("h"))
    assert all(row["h"] == keyed_hash(KEY, row["chunk_id"]) for row in rows.collect())
