"""Clocks of pairs: the same distribution as the stream, and swaps that survive a growing corpus.

The same for all that plan ``whole`` does beside: donors, terms, quantities, documents as units.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from nes_spark.swapping import sample_plan, sample_swaps
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


# -- plan whole --------------------------------------------------------------------------------

KINDS = ("%/e+1/+", "money/e+6/0", "count/e+1/0")


def quarter(documents, per_document=6):
    """What :func:`sample_plan` takes; what is in a chunk follows from its id alone."""
    ids = [f"d{d:03d}#{k}" for d in documents for k in range(per_document)]

    def found(chunk, kind, most):
        rng = random.Random(f"{chunk} {kind}")
        return sorted({f"{kind} {rng.randrange(200)}" for _ in range(rng.randint(1, most))})

    def amounts(chunk):
        rng = random.Random(f"{chunk} amounts")
        return sorted({f"{rng.randrange(10, 99)} ({rng.choice(KINDS)})" for _ in range(2)})

    return {
        "chunk_ids": ids,
        "metadata": [i.split("#")[0] for i in ids],
        "document_ids": [i.split("#")[0] for i in ids],
        "component": [random.Random(f"{i} component").randrange(4) for i in ids],
        "entities": {
            "Person": [found(i, "p", 1) for i in ids],
            "Product": [found(i, "q", 3) for i in ids],
            "Quantity": [amounts(i) for i in ids],
        },
        "seed": "a secret",
    }


def became(plan):
    return {(f.chunk_id, f.category, f.entity): f for f in plan.fates() if f.replacement}


def test_a_donor_changes_only_for_one_that_came_or_when_it_went():
    # no layer has Product, so all of it comes from donors, one name of one donor each
    options = {"swap": ["Person", "Product"], "layers": [["Person"]], "sticky": True}
    worlds = {
        name: became(sample_plan(**quarter(documents), **options))
        for name, documents in {
            "first": range(40), "grown": range(44), "shrunk": range(36),
        }.items()
    }  # fmt: skip
    single = {
        (c, category)
        for c, category, _ in worlds["first"]
        if sum(k[:2] == (c, category) for k in worlds["first"]) == 1
    }
    kept = 0
    for name, changed in (("grown", range(40, 44)), ("shrunk", range(36, 40))):
        came_or_went = {f"d{d:03d}" for d in changed}
        for key, before in worlds["first"].items():
            after = worlds[name].get(key)
            if key[1] != "Product" or key[:2] not in single or after is None:
                continue
            assert before.treatment == after.treatment == "donor"
            if before.partner == after.partner:
                kept += 1
                assert before.replacement == after.replacement
            else:
                other = after.partner if name == "grown" else before.partner
                assert other.split("#")[0] in came_or_went
    assert kept > 80


@pytest.mark.parametrize(
    ("unit", "swap", "least"),
    [("chunk", ["Product"], 0.6), ("document", ["Product"], 0.5), ("likeness", ["Quantity"], 0.6)],
)
def test_names_of_both_quarters_become_the_same(unit, swap, least):
    found = {}
    for sticky in (True, False):
        before, after = (
            became(
                sample_plan(
                    **quarter(documents), swap=swap, unit=unit, setting=setting, sticky=sticky
                )
            )
            for documents, setting in ((range(40), "K8"), (range(4, 44), "K9"))
        )
        both = before.keys() & after.keys()
        for treatment in ("exchange", "donor"):
            mine = [key for key in both if before[key].treatment == treatment]
            assert len(mine) > 15
            same = sum(before[key].replacement == after[key].replacement for key in mine)
            found[sticky, treatment] = same / len(mine)
    assert found[True, "exchange"] > least and found[True, "donor"] > least - 0.15
    # without it hardly any
    assert found[False, "exchange"] < 0.1 and found[False, "donor"] < 0.1


def test_another_number_of_components_does_not_change_who_meets_whom():
    data = quarter(range(30)) | {"swap": ["Product", "Person"]}
    for sticky in (True, False):
        plans = [sample_plan(**data, setting=s, sticky=sticky) for s in ("K8", "K9")]
        assert (plans[0] == plans[1]) is sticky
    rows = {k: data[k] for k in ("chunk_ids", "metadata", "component", "entities", "seed")}
    for sticky in (True, False):
        swaps = [
            sample_swaps(**rows, swap=["Product"], setting=s, sticky=sticky) for s in ("K8", "K9")
        ]
        assert (swaps[0] == swaps[1]) is sticky
