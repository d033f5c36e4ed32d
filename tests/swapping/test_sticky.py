"""Clocks of pairs: the same distribution as the stream, and swaps that survive a growing corpus."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from nes_spark.swapping import sample_swaps
from nes_spark.swapping.seeds import Secret
from nes_spark.swapping.sticky import pair_clocks, pair_keys


def corpus(n, seed=0, documents=20, names=30):
    rng = random.Random(seed)
    ids = [f"d{i % documents}#{i:05d}" for i in range(n)]
    return {
        "chunk_ids": ids,
        "metadata": [i.split("#")[0] for i in ids],
        "component": [0] * n,
        "entities": {
            "Organization": [[f"o{rng.randrange(names)}"] for _ in ids],
            "Location": [[f"l{rng.randrange(names)}"] for _ in ids],
        },
        "swap": ["Organization"],
    }


def pairs(swaps):
    return {(s.chunk_a, s.chunk_b) for s in swaps}


def test_clocks_are_exponential_and_independent():
    keys = pair_keys(Secret("a secret of tests"), [f"c{i}" for i in range(700)], "J", 0, 1)
    first, second = np.triu_indices(len(keys), 1)
    clocks = pair_clocks(keys[first], keys[second])
    assert (clocks == pair_clocks(keys[second], keys[first])).all()
    assert stats.kstest(clocks, "expon").pvalue > 1e-3
    grid = np.zeros((len(keys), len(keys)))
    grid[first, second] = grid[second, first] = np.exp(-clocks)
    off = grid.sum(axis=1) / (len(keys) - 1)  # mean of uniforms: of variance 1/12 over n - 1
    assert stats.kstest((off - 0.5) * np.sqrt(12 * (len(keys) - 1)), "norm").pvalue > 1e-3


def test_the_first_swap_is_uniform_over_the_valid_pairs():
    world = corpus(9, documents=4, names=3)
    org, loc = world["entities"]["Organization"], world["entities"]["Location"]
    valid = [
        (world["chunk_ids"][i], world["chunk_ids"][j])
        for i, j in combinations(range(9), 2)
        if world["metadata"][i] != world["metadata"][j] and org[i] != org[j] and loc[i] != loc[j]
    ]
    valid = [tuple(sorted(pair)) for pair in valid]
    assert 5 < len(valid) < 36
    draws = 1500
    found = Counter(
        (s.chunk_a, s.chunk_b)
        for draw in range(draws)
        for s in sample_swaps(**world, max_swaps=1, seed="a secret", draw=draw, sticky=True)
    )
    assert set(found) <= set(valid)
    assert stats.chisquare([found[pair] for pair in valid]).pvalue > 1e-3


@pytest.mark.parametrize("uniques_first", [False, True])
def test_a_shorter_sequence_begins_a_longer_one_that_ends_when_no_pair_is_left(uniques_first):
    world = corpus(120)
    options = {"seed": "a secret", "sticky": True, "uniques_first": uniques_first}
    whole = sample_swaps(**world, **options)
    assert [(s.priority, s.time) for s in whole] == sorted((s.priority, s.time) for s in whole)
    short = sample_swaps(**world, max_swaps=7, **options)
    assert [(s.chunk_a, s.chunk_b) for s in short] == [(s.chunk_a, s.chunk_b) for s in whole[:7]]
    free = set(world["chunk_ids"]) - {c for s in whole for c in (s.chunk_a, s.chunk_b)}
    left = [i for i, c in enumerate(world["chunk_ids"]) if c in free]
    for i, j in combinations(left, 2):
        same = [world["metadata"][i] == world["metadata"][j]]
        same += [values[i] == values[j] for values in world["entities"].values()]
        assert any(same), "a valid pair was left"


def test_how_many_pairs_are_held_changes_nothing(monkeypatch):
    from nes_spark.swapping import sticky

    world = corpus(300)
    expected = sample_swaps(**world, seed="a secret", sticky=True)
    original = sticky.sample_sticky
    monkeypatch.setattr(
        "nes_spark.swapping.memory.sample_sticky", lambda *a: original(*a, pairs=500)
    )
    monkeypatch.setattr(sticky, "BLOCK", 1000)
    assert sample_swaps(**world, seed="a secret", sticky=True) == expected


def test_swaps_survive_other_chunks_that_come_and_other_components():
    old = corpus(400)
    new = corpus(440)
    for category, values in old["entities"].items():
        new["entities"][category][:400] = values
    for sticky, least, most in ((True, 0.7, 1.0), (False, 0.0, 0.1)):
        before = pairs(sample_swaps(**old, max_swaps=100, seed="a secret", sticky=sticky))
        after = pairs(sample_swaps(**new, max_swaps=121, seed="a secret", sticky=sticky))
        share = len(before & after) / len(before)
        assert least <= share <= most, (sticky, share)
    renumbered = {**old, "component": [5] * 400}
    a = sample_swaps(**old, max_swaps=50, seed="a secret", sticky=True)
    b = sample_swaps(**renumbered, max_swaps=50, seed="a secret", sticky=True)
    assert pairs(a) == pairs(b)
