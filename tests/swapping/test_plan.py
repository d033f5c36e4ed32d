"""Plan ``whole``: the law of its layers, what may never happen, and that nothing is forgotten."""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from nes_spark.config import ConstraintsConfig, ReleasesConfig, SwappingConfig
from nes_spark.entities.quantities import likeness_of, size_of
from nes_spark.entities.terms import kin_of
from nes_spark.swapping import layers, sample_plan, treatments
from nes_spark.swapping import plan as plan_module
from nes_spark.swapping.codes import codes_of
from nes_spark.swapping.constraints import constraints_of
from nes_spark.swapping.layers import (
    Drawing,
    Members,
    Wanting,
    draw_donors,
    layers_of,
    meetings,
    nearest_components,
    sample_layers,
)
from nes_spark.swapping.likeness import similarities_for
from nes_spark.swapping.plan import giveable, layer_exchange, reasons
from nes_spark.swapping.population import joint_sets, sets_of
from nes_spark.swapping.sampler import Limits
from nes_spark.swapping.seeds import Secret
from nes_spark.swapping.shapes import sort_of
from nes_spark.swapping.sticky import donor_keys
from nes_spark.swapping.treatments import (
    Donor,
    Left,
    Means,
    check_order,
    is_choosy,
    treat,
    treatment,
)

from .test_sampler import WAYS, assert_same_distribution

SWAP = ["Organization", "Person", "Product"]
CATEGORIES = [*SWAP, "Date", "Event"]


def corpus(n, seed, names=6, components=2, documents=5):
    """Made-up chunks; document k has the own name 'own k', which others mention too."""
    rng = random.Random(seed)
    entities = {
        c: [
            rng.sample([f"{c} {k}" for k in range(names)], rng.choice([0, 1, 1, 2, 3]))
            for _ in range(n)
        ]
        for c in CATEGORIES
    }
    document = [rng.randrange(documents) for _ in range(n)]
    own = [[f"Organization {d}"] if d < 2 else [] for d in document]
    entities["Organization"] = [
        [e for e in v if e not in o] for v, o in zip(entities["Organization"], own, strict=True)
    ]
    return {
        "chunk_ids": [f"d{d}#{i:03d}" for i, d in enumerate(document)],
        "metadata": [f"Company {d // 2}" for d in document],
        "component": [rng.randrange(components) for _ in range(n)],
        "entities": entities,
        "own_names": {"Organization": own},
        "document_ids": [f"d{d}" for d in document],
    }


def reordered(given_, seed):
    order = list(range(len(given_["chunk_ids"])))
    random.Random(seed).shuffle(order)
    out = {}
    for name, value in given_.items():
        if isinstance(value, dict):
            out[name] = {c: [v[i] for i in order] for c, v in value.items()}
        else:
            out[name] = [value[i] for i in order]
    return out


# -- the law -----------------------------------------------------------------------------------


class Small:
    """A few chunks in plain Python and the brute-force scheme, layer after layer."""

    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.n = n
        self.metadata = [rng.randrange(3) for _ in range(n)]
        self.sets = [
            [frozenset(rng.sample(range(3), rng.choice([0, 1, 1, 2]))) for _ in range(n)]
            for _ in range(2)
        ]
        self.rest = [rng.randrange(2) for _ in range(n)]
        self.layers = [(0, 1), (0,), (1,)]

    def valid(self, layer, a, b):
        j = self.layers[layer]
        outside = [(self.rest[i], *(self.sets[c][i] for c in (0, 1) if c not in j)) for i in (a, b)]
        return (
            self.metadata[a] != self.metadata[b]
            and outside[0] != outside[1]
            and all(
                self.sets[c][a] - self.sets[c][b] and self.sets[c][b] - self.sets[c][a] for c in j
            )
        )

    def sequences(self):
        """Probability of every whole sequence of (layer, a, b)."""
        out = Counter()

        def step(layer, done, used, probability):
            if layer == len(self.layers):
                out[done] += probability
                return
            j = self.layers[layer]
            mine = {x for one in done if one[0] == layer for x in one[1:]}
            free = [
                i for i in range(self.n) if i not in mine and all((c, i) not in used for c in j)
            ]
            pairs = [p for p in itertools.combinations(free, 2) if self.valid(layer, *p)]
            if not pairs:
                step(layer + 1, done, used, probability)
                return
            for a, b in pairs:
                more = used | {(c, i) for c in j for i in (a, b)}
                step(layer, (*done, (layer, a, b)), more, probability / len(pairs))

        step(0, (), frozenset(), 1.0)
        return out

    def members(self):
        sets = [sets_of(s) for s in self.sets]
        outside = [
            codes_of(
                [
                    (self.rest[i], *(self.sets[c][i] for c in (0, 1) if c not in j))
                    for i in range(self.n)
                ]
            )
            for j in self.layers
        ]
        return Members(
            [f"c{i}" for i in range(self.n)],
            np.array(self.metadata),
            np.array(outside),
            sets,
            sets,
            np.array([[bool(v) for v in s] for s in self.sets]),
            np.zeros(self.n, dtype=np.int64),
        )


# one table a way tells: what differs between the ways, the tests of the sampler ask of one layer
@pytest.mark.parametrize(
    ("seed", "way"),
    [
        (218, "enumeration"),
        (310, "thinning"),
        (218, "row thinning"),
        pytest.param(310, "enumeration", marks=pytest.mark.slow),
        pytest.param(218, "thinning", marks=pytest.mark.slow),
        pytest.param(310, "row thinning", marks=pytest.mark.slow),
    ],
)
def test_layers_have_the_probabilities_of_the_sequential_scheme(seed, way):
    small = Small(6, seed)  # few sequences, so that few draws tell: eight, and four and twenty
    expected = small.sequences()
    assert min(expected.values()) > 0.03
    assert {one[0] for sequence in expected for one in sequence} == {0, 1, 2}, "every layer"
    found = Counter()
    for k in range(1, 401):
        drawing = Drawing(
            Secret(k), ("A", "B"), layers_of(["A", "B"]), constraints=constraints_of()
        )
        swaps = sample_layers(small.members(), drawing, "", 0, limits=Limits(**WAYS[way]))
        found[tuple((s.layer, s.first, s.second) for s in swaps)] += 1
    assert_same_distribution(found, expected)


def clocks_of(sticky, seed, ids):
    return donor_keys(Secret(seed), ids, "chunk", "A", 0) if sticky else None


@pytest.mark.parametrize("sticky", [False, True])
def test_donors_are_uniform_over_those_that_can_give(sticky):
    has = [{1}, {1, 2}, {2}, {3, 4}, {5}, {1}, set(), {6}]
    metadata = np.array([0, 1, 1, 2, 3, 3, 3, 4])
    gives, barred = joint_sets(has, [h | ({6} if i == 0 else set()) for i, h in enumerate(has)])
    left = np.zeros(len(has), dtype=np.int64)
    left[0] = 2
    wanting = Wanting(gives, barred, left, np.ones(len(has), dtype=bool))
    ids = [f"c{i}" for i in range(len(has))]
    first = Counter()
    for k in range(1, 1201):
        clocks = clocks_of(sticky, k, ids)
        (donors,) = draw_donors(wanting, ids, metadata, "A", Secret(k), (), clocks=clocks).values()
        first[donors[0]] += 1
        given_ = set().union(*(has[d] for d in donors)) - has[0]
        assert len(given_) >= 2 and 7 not in donors and len(set(donors)) == len(donors)
    assert set(first) == {1, 2, 3, 4}, "c5 has only what c0 has, c6 nothing, c7 what is barred"
    assert chisquare([first[k] for k in sorted(first)]).pvalue > 1e-3


@pytest.mark.parametrize("sticky", [False, True])
def test_more_donors_are_drawn_than_are_needed(sticky):
    has = [{1}, {2}, {3}, {4}, {1}]
    gives, barred = joint_sets(has, has)
    wanting = Wanting(gives, barred, np.array([1, 0, 0, 0, 0]), np.ones(5, dtype=bool))
    ids, metadata = [f"c{i}" for i in range(5)], np.arange(5)
    found = Counter()
    for k in range(1, 601):
        given_ = wanting, ids, metadata, "A", Secret(k), ()
        clocks = clocks_of(sticky, k, ids)
        (one,) = draw_donors(*given_, least=2, clocks=clocks).values()
        assert len(set(one)) == 2 and not {0, 4} & set(one)
        # the first is the one that would be drawn alone
        (alone,) = draw_donors(*given_, clocks=clocks).values()
        assert one[:1] == alone
        found[tuple(sorted(one))] += 1
        (every,) = draw_donors(*given_, least=9, clocks=clocks).values()
        assert sorted(every) == [1, 2, 3], "as many as there are"
    assert chisquare(list(found.values())).pvalue > 1e-3 and len(found) == 3


@pytest.mark.parametrize("sticky", [False, True])
def test_few_donors_are_found_by_looking_at_all(sticky):
    has = [{1}] * 500 + [{2}, {3}]
    metadata = np.array([*range(500), 500, 501])
    gives, barred = joint_sets(has, has)
    left = np.array([1] * 500 + [0, 0])
    wanting = Wanting(gives, barred, left, np.ones(len(has), dtype=bool))
    ids = [str(i) for i in range(502)]
    found = draw_donors(
        wanting, ids, metadata, "A", Secret(1), (), clocks=clocks_of(sticky, 1, ids)
    )
    assert {tuple(d) for d in found.values()} == {(500,), (501,)}
    assert chisquare(list(Counter(d[0] for d in found.values()).values())).pvalue > 1e-3


# -- properties --------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 40),
    seed=st.integers(0, 10_000),
    unit=st.sampled_from(["chunk", "document"]),
    neighbours=st.integers(0, 2),
    leftover=st.sampled_from([("donor", "placeholder"), ("recode", "donor", "keep"), ("drop",)]),
    sticky=st.booleans(),
)
def test_what_always_holds(n, seed, unit, neighbours, leftover, sticky):
    data = corpus(n, seed, components=3)
    means = {k: np.eye(3)[k] + 0.1 for k in range(3)}
    recoding = {"Person": {"[Somebody]": ["Person 1", "Person 2"]}}
    options = {"swap": SWAP, "seed": seed + 1, "unit": unit, "leftover": leftover}
    options |= {"recoding": recoding, "sticky": sticky}
    options |= {"neighbours": neighbours if unit == "chunk" else 0, "means": means}
    plan = sample_plan(**data, **options)
    row = {chunk: i for i, chunk in enumerate(data["chunk_ids"])}
    document = dict(zip(data["chunk_ids"], data["document_ids"], strict=True))
    company = dict(zip(data["document_ids"], data["metadata"], strict=True))
    of = (lambda u: document[u]) if unit == "chunk" else (lambda u: u)

    # two sides of a swap differ in metadata; a category of a unit is exchanged at most once
    used = Counter()
    for order, swap in enumerate(plan.swaps, start=1):
        assert swap.order == order
        assert company[of(swap.chunk_a)] != company[of(swap.chunk_b)]
        for c in swap.combination.split("+"):
            used[c, swap.chunk_a] += 1
            used[c, swap.chunk_b] += 1
        if unit == "chunk" and swap.neighbour == 0:
            places = {data["component"][row[x]] for x in (swap.chunk_a, swap.chunk_b)}
            assert len(places) == 1
    assert all(v == 1 for v in used.values())
    keys = [(s.neighbour, s.layer, s.priority, s.time) for s in plan.swaps]
    assert keys == sorted(keys)

    # every name of every chunk is accounted for, once
    fates = plan.fates()
    names = [(f.chunk_id, f.category, f.entity) for f in fates]
    assert len(set(names)) == len(names)
    assert set(names) == {
        (chunk, c, e)
        for chunk, i in row.items()
        for c in CATEGORIES
        for e in data["entities"][c][i]
    }
    dropped = plan.dropped()
    own = {
        d: set(o)
        for d, o in zip(data["document_ids"], data["own_names"]["Organization"], strict=True)
    }
    whole = defaultdict(set)  # names of a unit by category
    for chunk, c, e in names:
        whole[chunk if unit == "chunk" else document[chunk], c].add(e)
    for f in fates:
        mine = f.chunk_id if unit == "chunk" else document[f.chunk_id]
        if f.category not in SWAP:
            if f.chunk_id not in dropped:
                assert (f.treatment, f.reason) == ("keep", "not_swapped")
            continue
        if f.treatment in ("exchange", "donor"):
            assert f.replacement != f.entity
            assert f.replacement not in whole[mine, f.category], "what it had comes back"
            if f.category == "Organization":
                assert f.replacement not in own[document[f.chunk_id]], "its document's own name"
            assert f.replacement in whole[f.partner, f.category]
            assert company[of(f.partner)] != company[document[f.chunk_id]]
        if f.treatment == "exchange":
            assert f.order and f.reason == ""
        elif f.chunk_id not in dropped:
            assert f.treatment in leftover and f.reason in ("no_partner", "shared", "surplus")
    if leftover == ("drop",):
        left = {f.chunk_id for f in fates if f.category in SWAP and f.treatment != "exchange"}
        assert left == set(dropped)
    else:
        assert not dropped
    # no name of a donor twice in a unit and category
    came = Counter((f.chunk_id, f.category, f.replacement) for f in fates if f.treatment == "donor")
    assert unit == "document" or all(v == 1 for v in came.values())
    # row order does not matter
    assert sample_plan(**reordered(data, seed), **options) == plan


@settings(max_examples=30, deadline=None)
@given(n=st.integers(2, 25), seed=st.integers(0, 10_000))
def test_it_ends_when_no_layer_has_a_valid_pair_of_open_chunks(n, seed):
    data = corpus(n, seed)
    plan = sample_plan(**data, swap=SWAP, seed=seed + 1)
    closed = {
        (c, x) for s in plan.swaps for c in s.combination.split("+") for x in (s.chunk_a, s.chunk_b)
    }
    ids, entities = data["chunk_ids"], {c: [set(x) for x in v] for c, v in data["entities"].items()}
    own = [set(o) for o in data["own_names"]["Organization"]]

    def gives(c, a, b):
        return entities[c][a] - entities[c][b] - (own[b] if c == "Organization" else set())

    for j in layers_of(SWAP):
        for a, b in itertools.combinations(range(n), 2):
            if any((c, ids[x]) in closed for c in j for x in (a, b)):
                continue
            assert not (
                data["metadata"][a] != data["metadata"][b]
                and data["component"][a] == data["component"][b]
                and all(gives(c, a, b) and gives(c, b, a) for c in j)
                and any(entities[c][a] != entities[c][b] for c in CATEGORIES if c not in j)
            )


def test_component_numbers_seed_setting_draw_and_unit():
    data = corpus(40, 3)
    renamed = data | {"component": [f"x{9 - k}" for k in data["component"]]}
    base = sample_plan(**data, swap=SWAP, seed=1)
    again = sample_plan(**renamed, swap=SWAP, seed=1)
    assert [(s.chunk_a, s.chunk_b, s.time) for s in base.swaps] == [
        (s.chunk_a, s.chunk_b, s.time) for s in again.swaps
    ]
    assert base.leftovers == again.leftovers
    others = [
        sample_plan(**data, swap=SWAP, **options)
        for options in ({"seed": 2}, {"seed": 1, "setting": "x"}, {"seed": 1, "draw": 1})
    ]
    assert len({tuple((s.chunk_a, s.chunk_b) for s in p.swaps) for p in (base, *others)}) == 4


def test_prefixes_are_beginnings_and_account_for_everything_too():
    plan = sample_plan(**corpus(40, 3), swap=SWAP, seed=1)
    total = len(plan.swaps)
    assert total > 10
    assert [plan.prefix(k / 10) for k in range(11)] == [-(-k * total // 10) for k in range(11)]
    whole = plan.fates()
    before = 0
    for k in range(0, total + 1, 5):
        fates = plan.fates(k)
        assert [f[:3] for f in map(tuple_of, fates)] == [f[:3] for f in map(tuple_of, whole)]
        exchanged = sum(f.treatment == "exchange" for f in fates)
        assert exchanged >= before and not any(f.treatment == "donor" for f in fates)
        assert all(f.order <= k for f in fates if f.order)
        before = exchanged
    table = plan.frame()
    assert list(table.columns[:4]) == ["chunk_id", "category", "entity", "treatment"]
    assert len(table) == len(whole)
    new = plan.replacements()
    assert sum(map(len, new.values())) == table["replacement"].notna().sum()
    with pytest.raises(ValueError, match="share"):
        plan.prefix(1.1)


def tuple_of(fate):
    return (fate.chunk_id, fate.category, fate.entity)


def test_columns_of_a_table_will_do():
    data = corpus(30, 4)
    table = pd.DataFrame(
        {k: data[k] for k in ("chunk_ids", "metadata", "component")} | data["entities"],
        index=[f"row {i}" for i in range(30)][::-1],
    )
    plan = sample_plan(
        table["chunk_ids"], table["metadata"], table["component"],
        {c: table[c] for c in CATEGORIES}, SWAP, seed=1, own_names=data["own_names"],
    )  # fmt: skip
    rest = {k: v for k, v in data.items() if k != "document_ids"}
    assert plan == sample_plan(**rest, swap=SWAP, seed=1)


def test_a_document_has_one_name_for_each_of_its_names():
    data = corpus(60, 7, documents=9)
    plan = sample_plan(**data, swap=SWAP, seed=3, unit="document")
    assert plan.swaps and plan.swaps[0].chunk_a in data["document_ids"]
    document = dict(zip(data["chunk_ids"], data["document_ids"], strict=True))
    known = {}
    for chunk, changes in plan.replacements().items():
        for key, new in changes.items():
            assert known.setdefault((document[chunk], *key), new) == new
    assert len(known) > 30


def test_quantities_meet_their_like_in_any_component():
    rng = random.Random(3)
    kinds = ["%/e+1/+", "%/e+1/-", "money/e+6/0", "count/e+1/0"]
    n = 60
    amounts = [
        sorted({f"{rng.randrange(10, 99)} ({kind})" for kind in rng.sample(kinds, 2)})
        for _ in range(n)
    ]
    given_ = (
        [f"c{i:02d}" for i in range(n)],
        [f"Company {i % 7}" for i in range(n)],
        [rng.randrange(9) for _ in range(n)],
        {"Quantity": amounts, "Person": [[f"P {i}"] for i in range(n)]},
    )
    plan = sample_plan(*given_, ["Quantity"], seed=5, unit="likeness")
    assert len(plan.swaps) > n // 2
    place = dict(zip(given_[0], given_[2], strict=True))
    assert any(place[s.chunk_a] != place[s.chunk_b] for s in plan.swaps)
    fates = [f for f in plan.fates() if f.category == "Quantity"]
    assert Counter((f.chunk_id, f.entity) for f in fates) == Counter(
        (i, e) for i, found in zip(given_[0], amounts, strict=True) for e in found
    )
    moved = [f for f in fates if f.treatment in ("exchange", "donor")]
    assert len(moved) > len(fates) * 0.9
    assert all(likeness_of(f.entity) == likeness_of(f.replacement) for f in moved)
    assert all(f.entity != f.replacement for f in moved)
    with pytest.raises(ValueError, match="'swap' parameter of sample_plan"):
        sample_plan(*given_, ["Quantity", "Person"], seed=5, unit="likeness")


def test_quantities_that_are_exchanged_together_keep_their_order():
    rng = random.Random(4)
    n = 40
    amounts = [
        [f"{v / 10:.1f}% (%/e+1/0)" for v in rng.sample(range(100, 999), rng.randrange(2, 5))]
        for _ in range(n)
    ]
    given_ = (
        [f"c{i:02d}" for i in range(n)],
        [f"Company {i % 7}" for i in range(n)],
        [0] * n,
        {"Quantity": amounts, "Person": [[f"P {i}"] for i in range(n)]},
    )
    plan = sample_plan(*given_, ["Quantity"], seed=6, unit="likeness")
    assert len(plan.swaps) > n // 3
    together = defaultdict(list)
    for fate in plan.fates():
        if fate.treatment == "exchange":
            pair = size_of(fate.entity), size_of(fate.replacement)
            together[fate.chunk_id, fate.treatment].append(pair)
    several = [sorted(pairs) for pairs in together.values() if len(pairs) > 1]
    assert len(several) > 15
    for pairs in several:
        assert [new for _, new in pairs] == sorted(new for _, new in pairs)
    # it is the order that is kept, not the figure: what comes in is anywhere among two digits
    apart = [abs(old - new) for pairs in several for old, new in pairs]
    assert max(apart) > 30 and sum(apart) / len(apart) > 8


def test_a_surplus_gets_names_of_its_own_from_donors():
    chunks = {
        "a#0": ["Ohio", "Peru", "Chad"], "b#0": ["Oslo"], "c#0": ["Rome", "Bern"], "c#1": ["Riga"],
    }  # fmt: skip
    given_ = (
        list(chunks), ["A", "B", "C", "C"], None,
        {"Location": list(chunks.values()), "Person": [["x"], ["y"], ["x"], ["z"]]}, ["Location"],
    )  # fmt: skip
    most = 0
    for seed in range(12):
        plan = sample_plan(*given_, seed=seed)
        for chunk in chunks:
            new = [f.replacement for f in plan.fates() if f.chunk_id == chunk and f.partner]
            assert len(set(new)) == len(new), "no two names become one"
        left = [x for x in plan.leftovers if x.reason == "surplus"]
        assert all(x.treatment in ("donor", "placeholder") for x in left)
        most = max(most, sum(x.treatment == "donor" for x in left))
    assert most >= 2
    # without donors the partner's names cover it, so that nothing needs a placeholder for it
    covered = sample_plan(*given_, seed=3, leftover=["placeholder"])
    assert not [x for x in covered.leftovers if x.reason == "surplus"]


def exchanged_names(first, second, policy="one_to_one", matching="similar"):
    """What two units with Organizations and Locations give each other, as pairs of the first."""
    plan = layer_exchange(
        Secret(1), "chunk", "", 0, [*first], "a#0", "b#0", first, second, {}, {}, matching,
        similarities=similarities_for([*first], matching), policy=policy,
    )  # fmt: skip
    return {(e.category, e.old, e.new) for e in plan if e.side == "a"}


def test_names_of_two_sorts_do_not_meet_where_donors_replace_what_is_left():
    first = {"Organization": ["FDA", "Acme"], "Location": ["Ohio"]}
    second = {"Organization": ["Vega"], "Location": ["Lyon"]}
    # who is alone meets its own sort first
    assert exchanged_names(first, second) == {
        ("Organization", "Acme", "Vega"), ("Location", "Ohio", "Lyon"),
    }  # fmt: skip
    first["Organization"] = ["FDA"]
    assert exchanged_names(first, second) == {("Location", "Ohio", "Lyon")}
    # nothing is exchanged rather than what does not fit
    assert not exchanged_names({"Organization": ["FDA"]}, {"Organization": ["Vega"]})
    # nobody else replaces it, and at random anything meets anything
    for options in ({"policy": "cover"}, {"matching": "random"}):
        assert ("Organization", "FDA", "Vega") in exchanged_names(first, second, **options)


#: Keys of records, and codes that are names.
KEYS = ["634984", "20-73262", "H20/92174", "MARSH853193I99KB", "ALRAS703260M99LC", "GB 430683"]
CODES = ["737s", "AFM24", "HSP90", "ADX-1612"]


@pytest.mark.parametrize("matching", ["random", "similar"])
@pytest.mark.parametrize("policy", ["one_to_one", "cover"])
def test_a_key_takes_part_in_no_exchange(policy, matching):
    for one, other in itertools.pairwise(KEYS):
        assert not exchanged_names({"Name": [one]}, {"Name": [other]}, policy, matching)
        assert not exchanged_names({"Name": [one]}, {"Name": ["Vega"]}, policy, matching)
        both = exchanged_names({"Name": [one, "Vega"]}, {"Name": [other, "Orr"]}, policy, matching)
        assert both == {("Name", "Vega", "Orr")}
    for one, other in itertools.pairwise(CODES):
        found = exchanged_names({"Product": [one]}, {"Product": [other]}, policy, matching)
        assert found == {("Product", one, other)}


@pytest.mark.parametrize("matching", ["random", "similar"])
@pytest.mark.parametrize("leftover", [["donor", "placeholder"], ["donor", "keep"], ["placeholder"]])
def test_a_key_becomes_a_placeholder_and_is_nobodys_donor(leftover, matching):
    given_ = (
        ["a#0", "b#0", "c#0"], ["A", "B", "C"], None,
        {"Name": [[*KEYS[:3], "Vega"], [*KEYS[3:], "Orr"], ["Lund", "Kite", "Bell", "Moor"]]},
        ["Name"],
    )  # fmt: skip
    for seed in range(6):
        plan = sample_plan(*given_, seed=seed, matching=matching, leftover=leftover)
        fates = {f.entity: (f.treatment, f.replacement) for f in plan.fates() if f.entity in KEYS}
        assert fates == dict.fromkeys(KEYS, ("placeholder", "[Name]"))
        assert {f.replacement for f in plan.fates()}.isdisjoint(KEYS)


@pytest.mark.parametrize("policy", ["one_to_one", "cover"])
def test_a_figure_is_not_exchanged_for_itself_in_another_writing(policy):
    dollars, euros = "$1.80 billion (money/e+9/0)", "1.8 billion euros (money/e+9/0)"
    other = "$3.1 billion (money/e+9/0)"
    assert not exchanged_names({"Quantity": [dollars]}, {"Quantity": [euros]}, policy)
    more = exchanged_names({"Quantity": [dollars]}, {"Quantity": [euros, other]}, policy)
    assert more == {("Quantity", dollars, other)}


def test_where_only_a_surplus_differs_nothing_is_exchanged():
    class Alike:
        def __call__(self, first, second):
            return 0.0

        def same(self, first, second):
            return first[0] == second[0]

    found = [
        layer_exchange(
            Secret(seed), "chunk", "", 0, ["Product"], "a#0", "b#0", {"Product": ["x1"]},
            {"Product": ["x2", "y1"]}, {}, {}, "random", similarities={"Product": Alike()},
            policy="cover",
        )
        for seed in range(12)
    ]  # fmt: skip
    # the pair is x1 and x2, and y1 would take x1 with nothing in return; or x1 and y1
    assert {tuple(sorted((e.side, e.old, e.new) for e in plan)) for plan in found} == {
        (), (("a", "x1", "y1"), ("b", "y1", "x1")),
    }  # fmt: skip


def test_a_figure_without_another_becomes_a_placeholder():
    ids = ["a#0", "b#0", "c#0"]

    def sampled(figures, leftover):
        names = {"Quantity": [[f] for f in figures], "Person": [["x"], ["y"], ["z"]]}
        return sample_plan(
            ids, [*"ABC"], None, names, ["Quantity"], seed=1, unit="likeness", leftover=leftover
        )

    kind = "(money/e+9/0)"
    same = [f"$1.80 billion {kind}", f"1.8 billion euros {kind}", f"€1.8 billion {kind}"]
    other = [f"$1.80 billion {kind}", f"2.8 billion euros {kind}", f"€3.8 billion {kind}"]
    for leftover in (["donor", "placeholder"], ["placeholder"]):
        assert sampled(other, leftover).swaps
        plan = sampled(same, leftover)
        assert not plan.swaps
        assert {x.replacement for x in plan.leftovers} == {"[Quantity]"}


def test_a_name_that_met_none_of_its_sort_gets_a_donor():
    organizations = [["FDA"], ["Vega"], ["Court of Appeals"], ["Orion"], ["IRS"], ["High Court"]]
    places = [["Ohio"], ["Oslo"], ["Lyon"], ["Riga"], ["Rome"], ["Bern"]]
    ids = [f"{c}#0" for c in "abcdef"]
    unlike = 0
    for seed in range(10):
        plan = sample_plan(
            ids, [*"ABCDEF"], None,
            {"Organization": organizations, "Location": places, "Person": [[c] for c in "uvwxyz"]},
            ["Organization", "Location"], layers=[["Organization", "Location"]],
            matching="similar", donors=16, seed=seed,
        )  # fmt: skip
        fates = [f for f in plan.fates() if f.category == "Organization"]
        assert all(f.replacement for f in fates), "nothing stays"
        for f in fates:
            assert sort_of(f.entity, f.category) == sort_of(f.replacement, f.category)
        unlike += sum(f.treatment == "donor" for f in fates)
    assert unlike >= 10


def test_what_is_no_name_by_itself_is_replaced_and_replaces_nothing():
    organizations = [["Mines", "Zimmer"], ["Vega"], ["Boarding"], ["Orion Works"], ["Acme", "prog"]]
    given_ = (
        [f"{c}#0" for c in "abcde"], [*"ABCDE"], None,
        {"Organization": organizations, "Person": [[c] for c in "uvwxy"]}, ["Organization"],
    )  # fmt: skip
    no_names, names = {"Mines", "Boarding", "prog"}, {"Zimmer", "Vega", "Orion Works", "Acme"}
    for fitting, becomes in ((True, "placeholder"), (False, "donor")):
        came = set()
        for seed in range(10):
            plan = sample_plan(*given_, matching="similar", donors=16, seed=seed, fitting=fitting)
            fates = [f for f in plan.fates() if f.category == "Organization"]
            assert all(f.replacement for f in fates), "nothing stays"
            assert {f.treatment for f in fates if f.entity in no_names} == {becomes}
            came |= {f.replacement for f in fates}
        assert came - {"[Organization]"} == names and ("[Organization]" in came) == fitting
    # where nobody has a name that stands alone a placeholder takes its place
    plan = sample_plan(
        ["a#0", "b#0"], ["A", "B"], None,
        {"Organization": [["Mines"], ["Boarding"]], "Person": [["u"], ["v"]]}, ["Organization"],
        matching="similar", seed=1,
    )  # fmt: skip
    assert {f.replacement for f in plan.leftovers} == {"[Organization]"} and not plan.swaps
    # and rather than the name of a people, where none was, or another where it was one
    plan = sample_plan(
        ["a#0", "b#0"], ["A", "B"], None,
        {"Name": [["Conrad"], ["Irish"]], "Person": [["u"], ["v"]]}, ["Name"],
        matching="similar", seed=1,
    )  # fmt: skip
    assert {(f.entity, f.replacement) for f in plan.leftovers} == {
        ("Conrad", "[Name]"), ("Irish", "[Name]"),
    }  # fmt: skip
    # at random anything meets anything
    random = sample_plan(*given_, matching="random", seed=1)
    assert no_names & {f.replacement for f in random.fates()}


def test_terms_meet_near_ones_of_their_form():
    chunks = {
        "a#0": ["cement", "clinical/adjective", "mattresses"],
        "b#0": ["concrete", "dental/adjective", "pillows"],
    }
    plan = sample_plan(
        list(chunks), ["A", "B"], None,
        {"Term": list(chunks.values()), "Person": [["x"], ["y"]]}, ["Term"], seed=9,
    )  # fmt: skip
    assert plan.replacements()["a#0"] == {
        ("Term", "cement"): "concrete",
        ("Term", "clinical/adjective"): "dental/adjective",
        ("Term", "mattresses"): "pillows",
    }


def test_the_likest_name_of_some_donors_is_taken():
    words = ["cement", "concrete", "mortar", "violin", "sonata", "opera", "quartet"]
    ids = [f"{i}#0" for i in range(len(words))]

    def one(seed, donors, leftover=("donor", "keep")):
        plan = sample_plan(
            ids, ids, None, {"Term": [[w] for w in words], "Person": [[] for _ in words]},
            ["Term", "Person"], seed=seed, layers=[["Person"]], donors=donors, leftover=leftover,
            own_names={"Term": [["concrete"] if w == "cement" else [] for w in words]},
        )  # fmt: skip
        assert not plan.swaps
        return {f.entity: f.replacement for f in plan.fates()}

    # of all donors the nearest, though never what is the document's own; of some it is a draw
    assert {one(seed, 6)["cement"] for seed in range(1, 6)} == {"mortar"}
    few = Counter(one(seed, 3)["cement"] for seed in range(1, 40))
    single = Counter(one(seed, 1)["cement"] for seed in range(1, 40))
    assert 1 < len(few) <= len(single) and "concrete" not in single
    assert few["mortar"] > single["mortar"]
    # nothing but a people's name comes in where something else can
    general = {one(seed, 6, ("donor", "general", "keep"))["cement"] for seed in range(1, 6)}
    assert general == {"material"}
    with pytest.raises(ValueError, match="donors"):
        one(1, 0)


@pytest.mark.parametrize("own", [["turbines"], ["gas/modifier"], ["gas turbines/modifier"]])
def test_a_donor_gives_no_compound_of_a_word_of_the_document(own):
    terms = {"a#0": own, "b#0": ["gas turbines"], "c#0": ["gas turbine/modifier"], "d#0": ["kiln"]}
    barred = [e for term in own for e in kin_of(term)]
    for seed in range(1, 6):
        plan = sample_plan(
            list(terms), list(terms), None,
            {"Term": list(terms.values()), "Person": [[] for _ in terms]},
            ["Term", "Person"], seed=seed, layers=[["Person"]], donors=3, fitting=False,
            own_names={"Term": [barred, [], [], []]},
        )  # fmt: skip
        assert {f.replacement for f in plan.fates() if f.chunk_id == "a#0"} == {"kiln"}
    others = [term for chunk, mine in terms.items() if chunk != "a#0" for term in mine]
    assert giveable(others, {*own, *barred}, "Term") == {"kiln"}


def test_neighbours_find_partners_where_the_component_has_none():
    # component k has only chunks of one company: nothing to exchange at home
    n = 12
    data = {
        "chunk_ids": [f"c{i:02d}" for i in range(n)],
        "metadata": [f"m{i % 3}" for i in range(n)],
        "component": [i % 3 for i in range(n)],
        "entities": {
            "Person": [[f"p{i}"] for i in range(n)], "Date": [[f"d{i}"] for i in range(n)]
        },
    }  # fmt: skip
    means = {0: np.array([1.0, 0.0]), 1: np.array([1.0, 0.1]), 2: np.array([0.0, 1.0])}
    home = sample_plan(**data, swap=["Person"], seed=1)
    assert not home.swaps and {x.treatment for x in home.leftovers} == {"placeholder"}
    near = sample_plan(**data, swap=["Person"], seed=1, neighbours=1, means=means)
    assert near.found_by_neighbour == {1: len(near.swaps)}
    for swap in near.swaps:
        pair = {int(swap.chunk_a[1:]) % 3, int(swap.chunk_b[1:]) % 3}
        assert pair in ({0, 1}, {1, 2}), "0 and 1 are each other's nearest, 1 is that of 2"
    far = sample_plan(**data, swap=["Person"], seed=1, neighbours=2, means=means)
    assert far.swaps[: len(near.swaps)] == near.swaps
    assert sum(far.found_by_neighbour.values()) == 6


def test_nearest_components_and_who_meets():
    means = {k: np.array(v, dtype=float) for k, v in enumerate([[1, 0], [2, 0.2], [0, 1], [0, 9]])}
    near = nearest_components(means, 2)
    assert near == {0: (1, 2), 1: (0, 2), 2: (3, 1), 3: (2, 1)}
    assert meetings(near, 1) == {0: 0, 1: 0, 2: 2, 3: 2}
    assert set(meetings(near, 2).values()) == {0}
    assert nearest_components(means, 9)[0] == (1, 2, 3)
    with pytest.raises(ValueError, match="means"):
        nearest_components({0: np.zeros(2), 1: np.ones(2)}, 1)


def test_constraints_hold_in_layers():
    data = corpus(60, 5)
    once = ConstraintsConfig(not_swapped_before=True)
    plan = sample_plan(**data, swap=SWAP, seed=1, releases=ReleasesConfig(constraints=once))
    chunks = [x for s in plan.swaps for x in (s.chunk_a, s.chunk_b)]
    assert len(set(chunks)) == len(chunks)
    strata = ConstraintsConfig(same_covariates=["sector"], max_count_difference=0)
    sector = [{"sector": d in ("d0", "d1", "d2")} for d in data["document_ids"]]
    plan = sample_plan(**data, swap=SWAP, seed=1, constraints=strata, covariates=sector)
    where = dict(zip(data["chunk_ids"], [s["sector"] for s in sector], strict=True))
    assert plan.swaps and all(where[s.chunk_a] == where[s.chunk_b] for s in plan.swaps)
    donors = [x for x in plan.leftovers if x.donor]
    assert donors and all(where[x.chunk_id] == where[x.donor] for x in donors)
    low = ConstraintsConfig(min_concentration=0.5)
    plan = sample_plan(**data, swap=SWAP, seed=1, constraints=low, concentrations={0: 0.4, 1: 0.6})
    place = dict(zip(data["chunk_ids"], data["component"], strict=True))
    assert {place[s.chunk_a] for s in plan.swaps} == {1}
    assert {x.reason for x in plan.leftovers if place[x.chunk_id] == 0} == {"low_concentration"}
    assert all(x.donor is None for x in plan.leftovers if place[x.chunk_id] == 0)


def test_uniques_and_weights_are_taken_over():
    data = corpus(40, 6)
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    plain = sample_plan(**data, swap=SWAP, seed=1)
    first = sample_plan(**data, swap=SWAP, seed=1, uniques_first=True)
    assert {s.priority for s in plain.swaps} == {0} < {s.priority for s in first.swaps}
    weighted = sample_plan(
        **data, swap=SWAP, seed=1, vectors=vectors, swapping=SwappingConfig(cosine_weight=30.0)
    )
    row = {c: i for i, c in enumerate(data["chunk_ids"])}

    def cosine(plan):
        return np.mean([vectors[row[s.chunk_a]] @ vectors[row[s.chunk_b]] for s in plan.swaps])

    assert cosine(weighted) > cosine(plain) + 0.1


# -- parameters and treatments -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("unit", {"unit": "page"}),
        ("leftover", {"leftover": ("donor",)}),
        ("leftover", {"leftover": ("donor", "recode")}),
        ("leftover", {"leftover": ()}),
        ("leftover", {"leftover": ("burn", "keep")}),
        ("leftover", {"leftover": ("keep", "keep")}),
        ("layers", {"layers": [["Person"], ["Colour"]]}),
        ("layers", {"layers": [["Person"], []]}),
        ("layers", {"layers": [["Person", "Product"], ["Product", "Person"]]}),
        ("neighbours", {"neighbours": -1}),
        ("neighbours", {"neighbours": 1, "unit": "document"}),
        ("means", {"neighbours": 1}),
        ("means", {"neighbours": 1, "means": {0: np.ones(2)}}),
        ("document_ids", {"unit": "document", "document_ids": None}),
        ("swap", {"swap": ["Colour"]}),
        ("vectors", {"cosine_weight": 1.0}),
        ("constraints", {"unit": "document", "constraints": ConstraintsConfig(min_concentration=1),
                         "concentrations": {0: 1.0, 1: 1.0}}),
        ("covariates", {"constraints": ConstraintsConfig(same_covariates=["s"])}),
        ("covariates", {"unit": "document", "covariates": list(range(12))}),
    ],
)  # fmt: skip
def test_wrong_parameters_are_named(name, change):
    with pytest.raises(ValueError, match=f"'{name}' parameter of"):
        sample_plan(**({"swap": SWAP, "seed": 1} | corpus(12, 1) | change))


def test_options_that_a_plan_has_not_are_refused():
    for name in ("max_swaps", "rounds", "policy", "speed"):
        with pytest.raises(TypeError, match=name):
            sample_plan(**corpus(5, 1), swap=SWAP, seed=1, **{name: 1})


def test_treatments_in_order():
    left = Left(
        "c1", "Person", ("Ada", "Ivo", "Odd", "Una"),
        (Donor("c2", ("Kim",)), Donor("c3", ("Kim", "Lea"))),
        lambda *parts: repr(parts).encode(),
    )  # fmt: skip
    means = Means({"Person": "[Somebody]"}, {"Person": {"a founder": ["Odd"]}})
    found = {t.entity: t for t in treat(left, ("recode", "donor", "placeholder"), means)}
    assert (found["Odd"].treatment, found["Odd"].replacement) == ("recode", "a founder")
    given_ = [t for t in found.values() if t.treatment == "donor"]
    assert {(t.replacement, t.donor) for t in given_} == {("Kim", "c2"), ("Lea", "c3")}
    (rest,) = [t for t in found.values() if t.treatment == "placeholder"]
    assert rest.replacement == "[Somebody]"
    assert {t.replacement for t in treat(left, ("placeholder",), Means())} == {"[Person]"}
    with pytest.raises(ValueError, match="applies to 2 entities"):
        treat(left, ("donor",), means)


def test_terms_that_fit_no_donor_become_general_words():
    left = Left(
        "c1", "Term", ("RFID", "molecular/adjective", "tanker", "tires"),
        (Donor("c2", ("kiln", "tyres")),),
        lambda *parts: repr(parts).encode(),
        barred=frozenset(["parts", "tires", "wells"]),
    )  # fmt: skip

    class Near:
        def __call__(self, first, second):
            return float(first == "tires" and second == "tyres")

        def reads(self, old, new):
            return old == "tires" and new == "tyres"

    order = ("donor", "general", "placeholder")
    means = Means(similarities={"Term": Near()}, choosy=is_choosy(order))
    found = {t.entity: (t.treatment, t.replacement) for t in treat(left, order, means)}
    assert found["tires"] == ("donor", "tyres")
    assert found["tanker"] == ("general", "vehicle")
    assert found["molecular/adjective"] == ("placeholder", "[Term]")
    assert found["RFID"] == ("placeholder", "[Term]")
    # "parts" is a word of the document
    found = {t.entity: t.treatment for t in treat(left, ("general", "placeholder"), means)}
    assert found["tires"] == "placeholder"
    # what does not fit goes to a treatment that writes a word, never to one that keeps or drops
    assert is_choosy(("donor", "placeholder")) and is_choosy(("recode", "donor", "general", "keep"))
    assert is_choosy(("donor", "recode", "summary", "placeholder"))
    assert not any(map(is_choosy, (("general", "donor", "keep"), ("donor", "drop"), ("general",))))
    assert not is_choosy(("donor", "placeholder"), fitting=False)
    # names have no general words
    assert not is_choosy(("donor", "general", "keep"), names=True)
    assert is_choosy(("donor", "general", "placeholder"), names=True)
    free = replace(means, choosy=False)
    taken = [t for t in treat(left, order, free) if t.treatment == "donor"]
    assert {t.replacement for t in taken} == {"kiln", "tyres"}
    # names are none of its business
    names = replace(left, category="Product", entities=("Tanker", "tanker"))
    assert {t.treatment for t in treat(names, ("general", "keep"), means)} == {"keep"}


def test_where_no_word_reads_no_donor_is_asked(monkeypatch):
    words = [["cement", "Swedish/adjective"], ["Chilean/adjective"], ["mortar", "violin"]]
    ids = [f"{i}#0" for i in range(len(words))]
    asked = []

    def drawn(wanting, *rest):
        asked.append(wanting.left.tolist())
        return layers.draw_donors(wanting, *rest)

    monkeypatch.setattr(plan_module, "draw_donors", drawn)

    def one(**options):
        plan = sample_plan(
            ids, ids, None, {"Term": words, "Person": [[] for _ in words]}, ["Term", "Person"],
            seed=5, layers=[["Person"]], leftover=("donor", "placeholder"), donors=2, **options,
        )  # fmt: skip
        return {f.entity: f.replacement for f in plan.fates()}

    assert one() == {
        "cement": "[Term]", "Swedish/adjective": "Chilean/adjective",
        "Chilean/adjective": "Swedish/adjective", "mortar": "[Term]", "violin": "[Term]",
    }  # fmt: skip
    assert asked == [[2, 1, 0]]
    # where any word will do, all ask
    assert one(fitting=False)["mortar"] not in ("[Term]", "mortar")
    assert asked[1:] == [[2, 1, 2]]


def test_similar_names_of_a_donor_are_matched():
    left = Left(
        "c1", "Person", ("A. B.", "Maximilian Mustermann"),
        (Donor("c2", ("C. D.", "Maximiliane Musterfrau")),), lambda *parts: b"",
    )  # fmt: skip
    found = {t.entity: t.replacement for t in treat(left, ("donor",), Means(matching="similar"))}
    assert found == {"A. B.": "C. D.", "Maximilian Mustermann": "Maximiliane Musterfrau"}


def test_two_roots_stay_two():
    """No "patient patients" for "healthcare practitioners", though both forms are the nearest."""

    class Roots:
        def root(self, name):
            return name.split("/")[0].removesuffix("s")

        def __call__(self, first, second):
            return {"patient": 2.0, "clinic": 1.0}[self.root(second)]

    def found(ours, *donors):
        left = Left(
            "c1", "Term", ours, tuple(Donor(f"c{i}", names) for i, names in enumerate(donors, 2))
        )
        means = Means(similarities={"Term": Roots()})
        return {t.entity: t.replacement for t in treat(left, ("donor", "placeholder"), means)}

    ours, patients = ("healthcare", "practitioners"), ("patient/modifier", "patients")
    apart = found(ours, patients, ("clinic", "clinics"))
    assert {Roots().root(new) for new in apart.values()} == {"patient", "clinic"}
    # forms of one word have forms of one word, or of two
    together = found(("practitioner", "practitioners"), patients)
    assert set(together.values()) == set(patients)
    # where there is no other root, the next treatment applies
    assert sorted(found(ours, patients).values())[0] == "[Term]"


def test_a_treatment_of_ones_own():
    @treatment("initials", "is cut to its initials", always=True)
    def initials(left, means):
        return {e: ("".join(w[0] for w in e.split()), None) for e in left.entities}

    try:
        assert check_order(["donor", "initials"]) == ("donor", "initials")
        plan = sample_plan(
            ["a"], ["Acme"], None, {"Person": [["Ada Quill"]]}, ["Person"], seed=1,
            leftover=("initials",),
        )  # fmt: skip
        assert plan.replacements() == {"a": {("Person", "Ada Quill"): "AQ"}}
        with pytest.raises(ValueError, match="a name of its own"):
            treatment("initials", "again")(initials)
    finally:
        del treatments.TREATMENTS["initials"]


def test_must_change_categories_are_in_the_account_and_not_outside():
    releases = ReleasesConfig(must_change={"Date": "[Date]"})
    entities = {"Person": [["Ada"], ["Ivo"]], "Date": [["May"], ["June"]]}
    plan = sample_plan(
        ["a", "b"], ["x", "y"], None, entities, ["Person"], seed=1, releases=releases
    )
    assert not plan.swaps, "what is replaced everywhere does not set two chunks apart"
    fates = {(f.chunk_id, f.category): f for f in plan.fates()}
    assert fates["a", "Date"].replacement == "[Date]" and fates["a", "Date"].reason == "must_change"


def test_a_plan_does_not_show_its_names():
    data = corpus(20, 1)
    plan = sample_plan(**data, swap=SWAP, seed=1)
    shown = repr(plan) + repr(plan.swaps) + repr(plan.leftovers) + repr(plan.fates())
    assert not any(f"{c} {k}" in shown for c in CATEGORIES for k in range(6))


@pytest.mark.parametrize("partner", [None, {"Ann"}, {"Ann", "634984"}])
def test_a_key_is_left_over_as_a_key_and_not_for_want_of_a_partner(partner):
    found = reasons(["Ann", "634984"], "", partner, "Name")
    assert found == {"Ann": "no_partner" if partner is None else "shared", "634984": "key"}
    # what keeps a chunk out keeps all of it out
    assert set(reasons(["Ann", "634984"], "short", partner, "Name").values()) == {"short"}
