from __future__ import annotations

import math

import numpy as np
import pytest

from nes_spark.audit import linkage
from nes_spark.audit.linkage import features_of, swap_entities
from nes_spark.audit.ranking import best_and_rank, hashes_of, stable_hash, tie_keys
from tests.audit.evidence import Known, evidence_of, strongest


def test_features_are_singles_and_pairs():
    found = features_of({"Org": ["B", "a  a"], "Date": None, "Place": ["x"]})
    singles = [f for f in found if not linkage.is_pair(f)]
    assert singles == ["Org\x1fa a", "Org\x1fb", "Place\x1fx"]
    assert len(found) == 6
    assert {linkage.describe(f) for f in found} >= {"a a", "a a + b", "b + x"}
    assert features_of({"Org": ["b"], "Event": ["e"]}, hidden=["Event"]) == ["Org\x1fb"]
    assert features_of({"Org": ["b", "c"]}, pairs=False) == ["Org\x1fb", "Org\x1fc"]


def test_who_reads_a_compound_sees_its_words():
    seen = features_of({"Term": ["Wind tunnels/modifier", "wind"], "Org": ["a b"]}, pairs=False)
    assert seen == ["Org\x1fa b", "Term\x1ftunnels", "Term\x1fwind"]


def test_pairs_are_bounded_by_a_choice_of_entities():
    many = [f"e{i:03d}" for i in range(100)]
    first = {f for f in features_of({"Org": many}) if linkage.is_pair(f)}
    assert len(first) == 40 * 39 // 2
    # Another chunk with half of the entities pairs the same ones among them.
    second = {f for f in features_of({"Org": many[:45]}) if linkage.is_pair(f)}
    kept = {f for f in first if all(int(p[-3:]) < 45 for p in f.split("\x1e"))}
    assert kept <= second


def test_features_that_matter_are_those_of_the_others_left_out():
    rng = np.random.default_rng(3)
    for size in (0, 1, 5, 30, 60):  # of more than forty a part is paired
        chunk, other = (
            {"Org": [f"e{i}" for i in rng.permutation(90)[:size]], "Term": ["wind farm"]}
            for _ in range(2)
        )
        wanted = set(features_of(other))
        every = features_of(chunk)
        assert features_of(chunk, (), True, wanted) == [f for f in every if f in wanted]
        assert features_of(chunk, (), True, set(every)) == every
        singles = features_of(chunk, (), False, wanted)
        assert singles == [f for f in features_of(chunk, pairs=False) if f in wanted]
        assert features_of(chunk, ("Org",), True, wanted) == features_of(chunk, ("Org",))


def edit(category, old, new):
    return {"category": category, "old_entity": old, "new_entity": new}


def test_swap_entities():
    before = {"Org": ["A", "B", "C"], "Event": ["E"], "Date": ["D"]}
    # B leaves and comes at once: it stays.
    after = swap_entities(
        before, [edit("Org", "A", "B"), edit("Org", "B", "X"), edit("Event", "E", "[Event]")]
    )
    assert after == {"Org": ["B", "C", "X"], "Event": [], "Date": ["D"]}
    again = swap_entities(
        before, [edit("Org", "A", "X"), edit("article", "", ""), edit("Event", "E", "")]
    )
    assert again == {"Org": ["B", "C", "X"], "Event": [], "Date": ["D"]}
    assert before["Org"] == ["A", "B", "C"]


def alone(*what):
    return evidence_of([Known(*what)])


def test_weight_is_the_log_likelihood_ratio():
    sizes = np.array([10, 20])
    mine = alone("f", 4, True, {0: 3, 1: 1})
    raw = linkage.weights(mine, sizes, (0,), leave_out=False, smoothing=0.2, n=100)
    # log(p(f|c) / (lambda q)), with p(f|c) = lambda q + (1 - lambda) n_fc / n_c.
    q = 4 / 100
    for got, share in zip(raw, (3 / 10, 1 / 20), strict=True):
        assert got == pytest.approx(math.log((0.2 * q + 0.8 * share) / (0.2 * q)))
    left = linkage.weights(mine, sizes, (0,), leave_out=True, smoothing=0.2, n=100)
    q = 3 / 99
    for got, share in zip(left, (2 / 9, 1 / 20), strict=True):
        assert got == pytest.approx(math.log((0.2 * q + 0.8 * share) / (0.2 * q)))
    # Not its own feature: only the chunk count shrinks.
    foreign = alone("f", 4, False, {0: 3, 1: 1})
    q = 4 / 99
    got = linkage.weights(foreign, sizes, (0,), leave_out=True, smoothing=0.2, n=100)[0]
    assert got == pytest.approx(math.log((0.2 * q + 0.8 * 3 / 9) / (0.2 * q)))


def test_a_chunk_left_out_is_no_evidence_for_itself():
    only_here = alone("f", 1, True, {0: 1})
    assert linkage.weights(only_here, np.array([10]), (0,), True, 0.2, 100).tolist() == [0.0]
    assert linkage.weights(only_here, np.array([10]), (0,), False, 0.2, 100)[0] > 0
    single = alone("f", 2, True, {0: 1, 1: 1})
    assert linkage.weights(single, np.array([1, 5]), (0,), True, 0.2, 6)[0] == 0.0


def guess(found, truth=0, **more):
    sizes = np.array([10, 10, 10])
    hashes = hashes_of(["a", "b", "c"])
    return linkage.guess(
        "x#0", evidence_of(found), sizes, hashes, truth, True, leave_out=True, **more
    )


def test_guess_follows_the_specific_entity():
    common = Known("common", 20, True, {0: 7, 1: 7, 2: 6})
    specific = Known("Org\x1frare", 3, False, {1: 3})
    answer, rank, evidence = guess([common, specific])
    assert answer == 1
    assert rank in (2, 3)
    assert evidence[0] == "rare"
    assert guess([common, specific], truth=1)[:2] == (1, 1)
    assert guess([common, specific], truth=None)[:2] == (1, None)


def test_pairs_can_be_switched_off():
    pair = Known("Org\x1fp\x1eOrg\x1fq", 3, False, {2: 3})
    assert guess([pair], pair_weight=0.5)[0] == 2
    assert guess([pair], pair_weight=0.0)[2] == []


def test_evidence_names_what_spoke_for_a_candidate():
    found = [
        Known("Org\x1fboth", 9, False, {1: 4, 2: 2}),
        Known("Org\x1fother", 3, False, {2: 3}),
        Known("Org\x1fmine", 1, True, {1: 1}),  # left out, it says nothing
    ]
    shared = (np.array([10, 10, 10]), (1,), True, 0.2, 0.5, 30)
    assert strongest(found, 1, *shared) == ["both"]
    assert strongest(found, 2, *shared) == ["other", "both"]
    assert strongest(found, 0, *shared) == []


def test_order_of_evidence_does_not_matter():
    rng = np.random.default_rng(0)
    sizes = np.array([10, 10, 10])
    found = [
        Known(f"f{i}", 9, False, dict(enumerate(rng.integers(1, 4, 3).tolist()))) for i in range(40)
    ]
    expected = linkage.scores(evidence_of(found), sizes, (0,), True, 0.2, 0.5, 30).tolist()
    for _ in range(5):
        mixed = evidence_of(found[i] for i in rng.permutation(40))
        assert linkage.scores(mixed, sizes, (0,), True, 0.2, 0.5, 30).tolist() == expected


def test_ties_are_broken_by_an_even_lot():
    labels = hashes_of([f"company {i}" for i in range(5)])
    zero = np.zeros(5)
    ranks = [best_and_rank(zero, tie_keys(f"doc#{i}", labels), 2)[1] for i in range(4000)]
    shares = np.bincount(ranks, minlength=6)[1:] / 4000
    assert np.all(np.abs(shares - 0.2) < 0.03)
    again = [best_and_rank(zero, tie_keys(f"doc#{i}", labels), 2)[1] for i in range(50)]
    assert again == ranks[:50]


def test_rank_ignores_the_last_bits():
    labels = hashes_of(["a", "b"])
    ties = tie_keys("t", labels)
    exact = best_and_rank(np.array([0.3, 0.3]), ties, 0)
    assert best_and_rank(np.array([0.1 + 0.2, 0.3]), ties, 0) == exact
    assert best_and_rank(np.array([0.3, 0.1 + 0.2]), ties, 0) == exact
    assert best_and_rank(np.array([0.1, 0.2]), ties, 0) == (1, 2)
    assert best_and_rank(np.array([]), ties[:0], None) == (None, None)


def test_hash_is_the_same_in_every_process():
    assert stable_hash("nes_spark") == 0x169E357E62E3041B
