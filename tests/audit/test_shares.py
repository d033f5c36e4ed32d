from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nes_spark.audit.shares import coupled, share_named, share_named_dependent, summary_of


def table(named, ids=None):
    ids = [f"d{i:03d}" for i in range(len(named))] if ids is None else ids
    return pd.DataFrame({"id": ids, "rank": pd.array(np.where(named, 1, 2), dtype="Int64")})


def pairs_world(rng, pairs):
    """Partners are named together or not at all, three times in ten."""
    return np.repeat(rng.random(pairs) < 0.3, 2)


def test_partners_are_found_through_others():
    groups = coupled(["a", "b", "c", "d", "e"], [("c", "a"), ("e", "c"), ("b", "x")])
    assert groups == {"a": 0, "b": 1, "c": 0, "d": 2, "e": 0}
    assert coupled(["a"], []) == {"a": 0}


def test_interval_covers_when_partners_stay_together_and_not_otherwise():
    rng = np.random.default_rng(1)
    ids = [f"d{i:03d}" for i in range(120)]
    pairs = [(ids[i], ids[i + 1]) for i in range(0, 120, 2)]
    groups = coupled(ids, pairs)
    hits = {"together": 0, "alone": 0, "graph": 0}
    rounds = 300
    for _ in range(rounds):
        found = table(pairs_world(rng, 60), ids)
        for name, share in (
            ("together", share_named(found, groups, n_resamples=400)),
            ("alone", share_named(found, n_resamples=400)),
            ("graph", share_named_dependent(found, pairs)),
        ):
            hits[name] += share.low <= 0.3 <= share.high
    assert hits["together"] / rounds > 0.90
    assert hits["graph"] / rounds > 0.91
    assert hits["alone"] / rounds < 0.88


def test_interval_ignores_the_order_of_rows():
    found = table(np.random.default_rng(2).random(50) < 0.4)
    shuffled = found.sample(frac=1, random_state=3)
    groups = {name: int(name[1:]) % 20 for name in found["id"]}
    assert share_named(found, groups) == share_named(shuffled, groups)
    links = [("d001", "d002"), ("d002", "d030")]
    one, other = share_named_dependent(found, links), share_named_dependent(shuffled, links)
    assert one == pytest.approx(other)


def test_nobody_named_is_no_proof_of_safety():
    none = share_named(table([False] * 10))
    assert (none.value, none.low) == (0, 0)
    assert none.high == pytest.approx(1 - 0.025 ** (1 / 10))
    every = share_named(table([True] * 10), {f"d{i:03d}": i // 2 for i in range(10)})
    assert every.low == pytest.approx(0.025 ** (1 / 5))
    assert every.high == 1
    one_group = share_named(table([True, False]), {"d000": 0, "d001": 0})
    assert one_group.value == 0.5
    assert np.isnan(one_group.low)
    assert np.isnan(one_group.high)
    assert share_named_dependent(table([False] * 10), []).high > 0.2


def test_all_named_in_a_web_is_nearly_as_sure_as_all_but_two():
    """43 of 43 in one web read "34 % to 100 %", 42 of 43 "88 % to 100 %"."""
    rng = np.random.default_rng(0)
    ids = [f"d{i:03d}" for i in range(43)]
    links = [(ids[i], ids[j]) for i in range(43) for j in range(i) if rng.random() < 0.35]
    every = share_named_dependent(table([True] * 43), links)
    assert every.value == every.high == 1
    # the worst that two documents of one swap can do, by flipping them and asking again
    flipped = []
    for one, other in links:
        found = table([i not in (one, other) for i in ids])
        flipped.append(share_named_dependent(found, links).low)
    assert 0.75 < min(flipped) < every.low < 0.93
    nobody = share_named_dependent(table([False] * 43), links)
    assert nobody.high == pytest.approx(1 - every.low)
    # disjoint pairs count as one text each, single texts as themselves
    pairs = [(ids[i], ids[i + 1]) for i in range(0, 42, 2)]
    z2 = 1.959963984540054**2
    halved = share_named_dependent(table([True] * 42), pairs)
    assert halved.low == pytest.approx(21 / (21 + z2))
    assert share_named_dependent(table([True] * 42), []).low == pytest.approx(42 / (42 + z2))
    # the chunks of a document go together
    groups = {i: int(i[1:]) // 6 for i in ids[:42]}
    chunks = share_named_dependent(table([True] * 42), [], groups=groups)
    assert chunks.low == pytest.approx(7 / (7 + z2))
    assert share_named_dependent(table([True] * 2), [(ids[0], ids[1])]).low < 0.25


def test_links_that_do_not_agree_never_narrow_the_interval():
    found = table(np.arange(40) % 2 == 0)
    links = [(f"d{i:03d}", f"d{i + 1:03d}") for i in range(0, 40, 2)]
    assert share_named_dependent(found, links) == share_named_dependent(found, [])


def test_unknown_candidates_are_not_named():
    found = pd.DataFrame({"id": ["a", "b", "c"], "rank": pd.array([1, None, 4], dtype="Int64")})
    assert share_named(found).value == pytest.approx(1 / 3)


def test_summary_has_one_row_for_each_attacker():
    found = pd.DataFrame(
        {
            "id": ["a", "b", "c", "d"] * 2,
            "rank": pd.array([1, 1, 2, None, 1, 1, 1, 4], dtype="Int64"),
            "attacker": ["weak"] * 4 + ["strong"] * 4,
            "confident": [True, False, True, False, True, True, True, True],
        }
    )
    rows = summary_of(found).set_index("attacker")
    assert rows.index.tolist() == ["strong", "weak"]
    assert rows["named"].tolist() == [0.75, 0.5]
    assert rows["reciprocal_rank"].tolist() == [(3 + 1 / 4) / 4, (2 + 1 / 2) / 4]
    assert rows["confident"].tolist() == [0.75, 0.25]
    assert rows["confident_right"].tolist() == [0.75, 0.5]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.drop(columns="rank"), "columns id and rank"),
        (lambda t: t[:0], "at least one row"),
        (lambda t: pd.concat([t, t]), "each id once"),
        (lambda t: t.assign(attacker=["x", "y"]), "rows of one attacker"),
        (lambda t: t.assign(rank=pd.array([None, None], dtype="Int64")), "give attack a truth"),
    ],
)
def test_bad_tables(change, words):
    for function in (share_named, lambda t: share_named_dependent(t, [])):
        with pytest.raises(ValueError, match=words):
            function(change(table([True, False])))


def test_bad_parameters():
    found = table([True, False])
    with pytest.raises(ValueError, match="a group for every id"):
        share_named(found, {"d000": 1})
    with pytest.raises(ValueError, match="'confidence' parameter of share_named must be"):
        share_named(found, confidence=1)
    with pytest.raises(ValueError, match="'n_resamples' parameter"):
        share_named(found, n_resamples=0)
