"""What is exchanged: both policies, both matchings, and what stays as it was."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from nes_spark.swapping import Secret, entities_after, name_similarity, plan_exchange

NAMES = st.sets(st.sampled_from([f"n{i}" for i in range(9)]), min_size=1, max_size=6)
POLICIES = st.sampled_from(["one_to_one", "cover"])
MATCHINGS = st.sampled_from(["random", "similar"])


def digest(seed):
    return lambda *parts: Secret(seed).digest(*parts)


def plan(a, b, seed=1, **options):
    return plan_exchange(a, b, list(a), digest(seed), **options)


@settings(max_examples=150, deadline=None)
@given(a=NAMES, b=NAMES, policy=POLICIES, matching=MATCHINGS, seed=st.integers(1, 10))
def test_who_gives_what(a, b, policy, matching, seed):
    assume(a - b and b - a)
    before = ({"X": a, "Y": {"y"}}, {"X": b, "Y": {"z"}})
    found = plan_exchange(*before, ["X"], digest(seed), policy=policy, matching=matching)
    after = [set(entities_after(before[i], found, "ab"[i])["X"]) for i in (0, 1)]
    for i in (0, 1):
        assert entities_after(before[i], found, "ab"[i])["Y"] == tuple(before[i]["Y"])
        assert (a & b) <= after[i], "a shared entity must stay in place"
        moves = [e for e in found if e.side == "ab"[i]]
        assert len({e.old for e in moves}) == len(moves)
        assert all(e.category == "X" for e in moves)
    few = min(len(a - b), len(b - a))
    if policy == "one_to_one":
        # the multiset over the two chunks and the size of each chunk are preserved
        assert Counter(a) + Counter(b) == Counter(after[0]) + Counter(after[1])
        assert (len(a), len(b)) == (len(after[0]), len(after[1]))
        assert len(after[0] - a) == len(after[1] - b) == few
    else:
        assert after[0] & (a - b) == set() and after[1] & (b - a) == set()
        assert after[0] <= b and after[1] <= a
        if len(a - b) == len(b - a):
            assert Counter(a) + Counter(b) == Counter(after[0]) + Counter(after[1])
    if not a & b and len(a) == len(b):
        assert (after[0], after[1]) == (b, a), "cells change places as wholes"


def table(cells, categories):
    return Counter(tuple(tuple(sorted(cell[c])) for c in categories) for cell in cells)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), n=st.integers(2, 6), seed=st.integers(1, 5), policy=POLICIES)
def test_tables_are_preserved_where_values_change_places_as_wholes(data, n, seed, policy):
    """Paper, section 2.1: marginals, and joints within swapped and within unswapped categories."""
    size = data.draw(st.integers(1, 3))
    cells = []
    for i in range(n):
        own = [f"{i}-{k}" for k in range(size)]  # nothing shared, equally many
        shared = data.draw(st.sampled_from([["u"], ["v", "w"], []]))
        cells.append({"O": own, "P": own[:1], "L": shared, "D": data.draw(NAMES)})
    found = plan_exchange(cells[0], cells[1], ["O", "P"], digest(seed), policy=policy)
    after = [entities_after(cells[0], found, "a"), entities_after(cells[1], found, "b"), *cells[2:]]
    for categories in ("O", "P", "L", "D", "OP", "LD"):
        assert table(cells, categories) == table(after, categories)
    assert table(cells, "OL") == table(after, "OL") or cells[0]["L"] != cells[1]["L"]


@settings(max_examples=150, deadline=None)
@given(a=NAMES, b=NAMES, seed=st.integers(1, 5))
def test_one_to_one_preserves_how_often_each_entity_occurs_and_all_that_is_not_swapped(a, b, seed):
    assume(a - b and b - a)
    cells = [{"O": a, "L": {"u"}, "D": {"x"}}, {"O": b, "L": {"v"}, "D": set()}]
    found = plan_exchange(cells[0], cells[1], ["O"], digest(seed))
    after = [entities_after(cells[0], found, "a"), entities_after(cells[1], found, "b")]
    occurs = [Counter(e for cell in t for e in cell["O"]) for t in (cells, after)]
    assert occurs[0] == occurs[1]
    assert table(cells, "LD") == table(after, "LD")


def test_cells_with_a_surplus_do_not_change_places_as_wholes():
    found = plan({"O": {"a", "b"}}, {"O": {"c"}})
    after = entities_after({"O": {"a", "b"}}, found, "a")["O"]
    assert "c" in after and len(after) == 2 and after not in (("c",), ("a", "b"))


def test_surplus_is_covered_in_turn():
    found = plan({"O": {"a", "b", "c", "d", "e"}}, {"O": {"x", "y"}}, policy="cover")
    used = Counter(e.new for e in found if e.side == "a")
    assert used == {"x": 3, "y": 2} or used == {"x": 2, "y": 3}


def test_random_matching_is_uniform():
    a, b = {"O": {"a", "b", "c"}}, {"O": {"x", "y", "z"}}
    counts = Counter(
        tuple(sorted((e.old, e.new) for e in plan(a, b, seed) if e.side == "a"))
        for seed in range(1, 1801)
    )
    assert len(counts) == 6
    assert chisquare(list(counts.values())).pvalue > 1e-3


def test_random_surplus_is_uniform():
    a, b = {"O": {"a", "b", "c"}}, {"O": {"x"}}
    counts = Counter(
        next(e.old for e in plan(a, b, seed) if e.side == "a") for seed in range(1, 901)
    )
    assert chisquare([counts[k] for k in "abc"]).pvalue > 1e-3


def test_similar_matching_maximises_the_total():
    a = {"O": {"Acme Steel Works", "QBX", "Bolt Ltd"}}
    b = {"O": {"Zenith Iron Mills", "KLM", "Nova Inc", "Ada"}}
    found = {e.old: e.new for e in plan(a, b, matching="similar") if e.side == "a"}
    best = max(
        sum(name_similarity(x, y) for x, y in zip(sorted(a["O"]), p, strict=True))
        for p in itertools.permutations(sorted(b["O"]), 3)
    )
    assert sum(name_similarity(x, y) for x, y in found.items()) == pytest.approx(best)
    assert found["QBX"] == "KLM" and found["Acme Steel Works"] == "Zenith Iron Mills"


def test_own_similarity_is_used():
    wanted = {("a", "y"): 1.0, ("b", "x"): 1.0}
    found = plan(
        {"O": {"a", "b"}},
        {"O": {"x", "y"}},
        matching="similar",
        similarity=lambda p, q: wanted.get((p, q), 0.0),
    )
    assert {(e.old, e.new) for e in found if e.side == "a"} == set(wanted)


@given(st.text(max_size=12), st.text(max_size=12))
def test_similarity_is_symmetric_and_bounded(x, y):
    assert name_similarity(x, y) == pytest.approx(name_similarity(y, x))
    assert 0.0 <= name_similarity(x, y) <= 1.0
    assert name_similarity(x, x) == pytest.approx(1.0)


def test_an_invalid_swap_is_refused():
    with pytest.raises(ValueError, match="nothing to exchange in category 'O'"):
        plan({"O": {"a"}}, {"O": {"a", "b"}})
