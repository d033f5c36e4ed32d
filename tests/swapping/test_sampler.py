"""The sampler draws exactly the sequential scheme: each time uniformly from the valid pairs."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from nes_spark.swapping.population import Population, joint_sets, make_sets, sets_of
from nes_spark.swapping.prefix import sample_prefix
from nes_spark.swapping.sampler import Limits, sample_component
from nes_spark.swapping.seeds import Secret

#: Every way of finding the next ring on its own, and mixed.
WAYS = {
    "enumeration": {"small": 48},
    "thinning": {"small": 0, "rings_per_chunk": 100.0},
    "thinning, then enumeration": {"small": 0, "rings_per_chunk": 8.0, "rings_per_pair": 0.0},
    "row thinning": {"small": 0, "rings_per_chunk": 0.0, "rings_per_pair": 0.0, "looks": 0},
    "row thinning, then enumeration": {
        "small": 0,
        "rings_per_chunk": 0.0,
        "rings_per_pair": 0.0,
        "pairs": 4,
    },
}


class Table:
    """A small component in plain Python, and the brute-force scheme on it."""

    def __init__(self, n: int, seed: int, metadata: int = 3, names: int = 4) -> None:
        rng = random.Random(seed)
        self.n = n
        self.metadata = [rng.randrange(metadata) for _ in range(n)]
        self.sets = [
            [frozenset(rng.sample(range(names), rng.choice([1, 1, 2]))) for _ in range(n)]
            for _ in range(2)
        ]
        self.outside = [rng.randrange(3) for _ in range(n)]
        vectors = np.random.default_rng(seed).normal(size=(n, 4))
        self.vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def population(self, **options) -> Population:
        return Population(self.metadata, self.outside, [sets_of(s) for s in self.sets], **options)

    def valid(self, a: int, b: int) -> bool:
        return (
            self.metadata[a] != self.metadata[b]
            and self.outside[a] != self.outside[b]
            and all(s[a] - s[b] and s[b] - s[a] for s in self.sets)
        )

    def pairs(self) -> list[tuple[int, int]]:
        return [p for p in itertools.combinations(range(self.n), 2) if self.valid(*p)]

    def sequences(self, length, weight=lambda pair: 1.0, better=lambda pair: 0):
        """Probability of every sequence of so many swaps (shorter ones where none is left)."""
        out = Counter()

        def step(done, pairs, probability):
            if pairs:
                best = max(map(better, pairs))
                pairs = [p for p in pairs if better(p) == best] if better else pairs
            if not pairs or len(done) == length:
                out[done] += probability
                return
            total = sum(map(weight, pairs))
            for pair in pairs:
                left = [p for p in every if not set(p) & set(itertools.chain(*done, pair))]
                step((*done, pair), left, probability * weight(pair) / total)

        every = self.pairs()
        step((), every, 1.0)
        return out


def observed(draw, n_seeds: int) -> Counter:
    return Counter(draw(Secret(seed).stream("test")) for seed in range(1, n_seeds + 1))


def assert_same_distribution(found: Counter, expected: Counter) -> None:
    assert set(found) <= set(expected), "a sequence came up that the scheme cannot give"
    total = sum(found.values())
    # sequences too rare for a chi-square are lumped together
    common = [k for k, p in expected.items() if p * total >= 5]
    counts = [found[k] for k in common]
    means = [expected[k] * total for k in common]
    if (rest := total - sum(means)) > 1e-6:
        counts.append(total - sum(counts))
        means.append(rest)
    if len(counts) > 1:
        assert chisquare(counts, means).pvalue > 1e-3


TABLE = Table(9, seed=11)
SPARSE = Table(8, seed=2, metadata=2, names=3)


def test_tables_are_not_trivial():
    assert len(TABLE.pairs()) >= 8
    assert 1 < len(SPARSE.pairs()) < 28
    assert len(TABLE.sequences(2)) > 30


# of the sparse one whole sequences are drawn below, and so their first swaps
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "table", [TABLE, pytest.param(SPARSE, marks=pytest.mark.slow)], ids=["table", "sparse"]
)
def test_first_swap_and_first_two_have_the_probabilities_of_the_scheme(way, table):
    population = table.population()

    def draw(stream):
        found = sample_component(population, stream, 2, limits=Limits(**WAYS[way]))
        return tuple((s.first, s.second) for s in found)

    pairs = observed(draw, 500)
    assert_same_distribution(pairs, table.sequences(2))
    first = Counter()
    for sequence, count in pairs.items():
        first[sequence[:1]] += count
    assert_same_distribution(first, table.sequences(1))


@pytest.mark.parametrize("way", WAYS)
def test_whole_sequences_have_the_probabilities_of_the_scheme(way):
    population = SPARSE.population()

    def draw(stream):
        found = sample_component(population, stream, None, limits=Limits(**WAYS[way]))
        return tuple((s.first, s.second) for s in found)

    assert_same_distribution(observed(draw, 400), SPARSE.sequences(99))


@pytest.mark.parametrize("way", WAYS)
def test_weighted_pairs_are_drawn_in_proportion_to_their_weight(way):
    power = 2.0
    population = TABLE.population(vectors=TABLE.vectors, cosine_weight=power)

    def weight(pair):
        return ((1 + float(TABLE.vectors[pair[0]] @ TABLE.vectors[pair[1]])) / 2) ** power

    def draw(stream):
        found = sample_component(population, stream, 2, limits=Limits(**WAYS[way]))
        return tuple((s.first, s.second) for s in found)

    weights = [weight(p) for p in TABLE.pairs()]
    assert max(weights) > 3 * min(weights)
    assert_same_distribution(observed(draw, 400), TABLE.sequences(2, weight))


@pytest.mark.parametrize("way", WAYS)
def test_uniques_first_exhausts_pairs_of_two_then_one_then_none(way):
    population = TABLE.population()
    unique = np.zeros(TABLE.n, dtype=bool)
    unique[[0, 1, 2, 3, 6]] = True

    def number(pair):
        return int(unique[pair[0]]) + int(unique[pair[1]])

    def draw(stream):
        found = sample_component(population, stream, 3, unique, Limits(**WAYS[way]))
        assert [s.priority for s in found] == [2 - number((s.first, s.second)) for s in found]
        return tuple((s.first, s.second) for s in found)

    assert len({number(p) for p in TABLE.pairs()}) > 1
    assert_same_distribution(observed(draw, 250), TABLE.sequences(3, better=number))


@pytest.mark.parametrize("table", [TABLE, SPARSE], ids=["table", "sparse"])
def test_large_components_draw_the_same_distribution_from_their_first_chunks(table):
    rng = random.Random(0)

    def draw(stream):
        order = list(range(table.n))
        rng.shuffle(order)  # stands for the keyed hash of the ids
        shuffled = Table.__new__(Table)
        shuffled.metadata = [table.metadata[i] for i in order]
        shuffled.outside = [table.outside[i] for i in order]
        shuffled.sets = [[s[i] for i in order] for s in table.sets]
        found = sample_prefix(shuffled.population(), table.n, stream, 1)
        return tuple(tuple(sorted((order[s.first], order[s.second]))) for s in found)

    assert_same_distribution(observed(draw, 300), table.sequences(1))


def test_more_loaded_chunks_do_not_change_what_a_large_component_gives():
    rng = np.random.default_rng(0)
    n = 400
    metadata, outside = rng.integers(0, 40, n), rng.integers(0, 30, n)
    sets = make_sets(np.arange(n), rng.integers(0, 60, n), n)
    results = []
    for loaded in (4, 60, 200, 400):
        part = Population(metadata[:loaded], outside[:loaded], [sets.take(np.arange(loaded))])
        results.append(sample_prefix(part, 10_000, Secret(4).stream("x"), 12))
    assert results[0] is None, "four chunks do not suffice for twelve swaps"
    assert results[1] is None or results[1] == results[3]
    assert results[2] == results[3] and len(results[3]) == 12


@pytest.mark.parametrize("way", WAYS)
def test_first_time_is_exponential_with_the_number_of_valid_pairs(way):
    population = TABLE.population()
    rate = len(TABLE.pairs())
    times = [
        sample_component(population, Secret(s).stream("t"), 1, limits=Limits(**WAYS[way]))[0].time
        for s in range(1, 300)
    ]
    assert kstest(np.array(times) * rate, "expon").pvalue > 1e-3


def brute_force_left(table: Table, swaps) -> list[tuple[int, int]]:
    used = {i for s in swaps for i in (s.first, s.second)}
    return [p for p in table.pairs() if not set(p) & used]


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 40),
    seed=st.integers(0, 10_000),
    metadata=st.integers(1, 6),
    names=st.integers(2, 8),
    way=st.sampled_from(sorted(WAYS)),
)
def test_it_stops_exactly_when_no_valid_pair_is_left(n, seed, metadata, names, way):
    table = Table(n, seed, metadata, names)
    limits = Limits(**WAYS[way])
    swaps = sample_component(table.population(), Secret(seed + 1).stream("x"), limits=limits)
    assert all(table.valid(s.first, s.second) for s in swaps)
    chunks = [i for s in swaps for i in (s.first, s.second)]
    assert len(set(chunks)) == len(chunks), "a chunk was swapped twice in one round"
    assert brute_force_left(table, swaps) == []
    assert [s.time for s in swaps] == sorted(s.time for s in swaps)
    for k in range(len(swaps)):
        again = sample_component(
            table.population(), Secret(seed + 1).stream("x"), k, limits=Limits(**WAYS[way])
        )
        assert again == swaps[:k], "a shorter sequence is not the beginning of the longer one"


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 30), seed=st.integers(0, 10_000), names=st.integers(2, 6))
def test_rows_and_pairs_agree_with_plain_sets(n, seed, names):
    table = Table(n, seed, names=names)
    population = table.population()
    a, b = np.divmod(np.arange(n * n), n)
    expected = [i != j and table.valid(i, j) for i, j in zip(a, b, strict=True)]
    assert (population.pair_rates(a, b) > 0).tolist() == expected
    rows = np.concatenate([population.row_rates(i, np.arange(n)) for i in range(n)])
    assert (rows > 0).tolist() == expected


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 20), seed=st.integers(0, 10_000))
def test_later_rounds_compare_what_is_left_with_all_that_ever_was_there(n, seed):
    rng = random.Random(seed)
    history = [frozenset(rng.sample(range(5), rng.randint(1, 3))) for _ in range(n)]
    available = [frozenset(rng.sample(sorted(h), rng.randint(1, len(h)))) for h in history]
    gives, pasts = joint_sets(available, history)
    population = Population(list(range(n)), list(range(n)), [gives], [pasts])
    a, b = np.divmod(np.arange(n * n), n)
    expected = [
        i != j and bool(available[i] - history[j]) and bool(available[j] - history[i])
        for i, j in zip(a, b, strict=True)
    ]
    assert (population.pair_rates(a, b) > 0).tolist() == expected
    rows = np.concatenate([population.row_rates(i, np.arange(n)) for i in range(n)])
    assert (rows > 0).tolist() == expected


@pytest.mark.parametrize("way", WAYS)
def test_groups_by_what_chunks_give_keep_the_probabilities(way, monkeypatch):
    """Many chunks are grouped by what they have to give, whatever names their documents."""
    monkeypatch.setattr("nes_spark.swapping.population._MANY", 0)
    gives = [frozenset(g) for g in ({0}, {0}, {0}, {1}, {1}, {0, 1}, {2})]
    barred = [g | {3 + i % 3} for i, g in enumerate(gives)]
    barred[6] |= {0}
    table = Table(7, seed=1)
    table.valid = lambda a, b: bool(gives[a] - barred[b]) and bool(gives[b] - barred[a])
    population = Population(
        list(range(7)), list(range(7)), *([s] for s in joint_sets(gives, barred))
    )
    (category,) = population.categories
    assert len(set(category.key)) == len(set(gives)) < len(set(category.code))

    def draw(stream):
        found = sample_component(population, stream, None, limits=Limits(**WAYS[way]))
        return tuple((s.first, s.second) for s in found)

    assert_same_distribution(observed(draw, 400), table.sequences(99))


def structured(kind: str, n: int) -> Population:
    rng = np.random.default_rng(1)
    metadata = rng.integers(0, max(2, n // 40), n)
    outside = rng.integers(0, n, n)
    first = rng.integers(0, 3000, n)
    second = rng.integers(0, 3000, n)
    if kind == "one document has most chunks":
        metadata[rng.random(n) < 0.97] = 0
    elif kind == "all share one entity":
        first[:] = 7
    elif kind == "almost all share one entity":
        first[rng.random(n) < 0.995] = 7
    elif kind == "almost all share one entity, documents have own names":
        first[rng.random(n) < 0.97] = 7
        gives, takes = joint_sets(
            [{int(name)} for name in first],
            [{int(name), 10_000 + int(d)} for name, d in zip(first, metadata, strict=True)],
        )
        return Population(metadata, outside, [gives], [takes])
    elif kind == "all in one document":
        metadata[:] = 3
    elif kind == "nothing differs outside":
        outside[:] = 0
    elif kind == "different reasons":
        # a pair fails by its first entity, its second, or its document, each for another half
        first = np.where(np.arange(n) % 2 == 0, 7, first % 5)
        second = np.where(np.arange(n) % 2 == 0, second % 5, 7)
    return Population(
        metadata,
        outside,
        [make_sets(np.arange(n), first, n), make_sets(np.arange(n), second, n)],
    )


@pytest.mark.parametrize(
    "kind",
    [
        "ordinary",
        "one document has most chunks",
        "all share one entity",
        "almost all share one entity",
        "all in one document",
        "nothing differs outside",
        "different reasons",
        "almost all share one entity, documents have own names",
    ],
)
def test_exhausting_a_component_needs_neither_memory_nor_looks_of_its_square(kind):
    # where documents have names of their own, fewer chunks are looked at pair by pair: cheaper
    n = 6000 if kind.endswith("own names") else 3000
    population = structured(kind, n)
    limits = Limits()
    swaps = sample_component(population, Secret(2).stream("x"), limits=limits)
    left = np.setdiff1d(np.arange(n), [i for s in swaps for i in (s.first, s.second)])
    for i in left:
        assert not (population.row_rates(int(i), left) > 0).any()
    assert limits.effort.most_pairs <= 200_000
    assert limits.effort.looks + limits.effort.rings < n * n / 2
    if kind == "ordinary":
        assert len(swaps) > 1450


def test_few_swaps_of_many_chunks_cost_few_rings():
    population = structured("ordinary", 200_000)
    limits = Limits()
    assert len(sample_component(population, Secret(2).stream("x"), 30, limits=limits)) == 30
    assert limits.effort.rings <= 256
    assert limits.effort.rows == 0


@pytest.mark.slow
def test_thirty_swaps_in_a_million_chunks():
    population = structured("ordinary", 1_000_000)
    limits = Limits()
    assert len(sample_component(population, Secret(2).stream("x"), 30, limits=limits)) == 30
    assert limits.effort.rings <= 256


@pytest.mark.slow
def test_exhausting_twenty_thousand_chunks_of_five_hundred_documents():
    population = structured("ordinary", 20_000)
    limits = Limits()
    swaps = sample_component(population, Secret(2).stream("x"), limits=limits)
    assert len(swaps) > 9900
    assert limits.effort.most_pairs < 100_000


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(-2, 40)), max_size=30),
    st.sampled_from([1, 10_000, 2**40]),
    st.sampled_from([np.int64, np.uint64]),
)
def test_sets_are_those_of_their_values_however_these_lie(pairs, apart, kind):
    rows = np.array([row for row, _ in pairs], dtype=np.int64)
    values = [value * apart for _, value in pairs if kind is np.int64 or value >= 0]
    rows = rows[[i for i, (_, v) in enumerate(pairs) if kind is np.int64 or v >= 0]]
    sets = make_sets(rows, np.array(values, dtype=kind), 6)
    rank = {value: k for k, value in enumerate(sorted(set(values)))}
    for row in range(6):
        mine = {v for r, v in zip(rows.tolist(), values, strict=True) if r == row}
        assert sets.row(row).tolist() == sorted(rank[v] for v in mine)
