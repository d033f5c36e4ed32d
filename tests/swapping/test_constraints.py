"""Constraints: what each forbids, that all readers agree, and how to add one of one's own."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence

import numpy as np
import pytest

from nes_spark.audit.unswap import Suspect, score_suspects
from nes_spark.config import ConstraintsConfig, ReleasesConfig, SwappingConfig
from nes_spark.schemas import SWAPS
from nes_spark.swapping import constraints, sample_swaps, stages
from nes_spark.swapping.constraints import (
    CONSTRAINTS,
    Constraint,
    EqualCovariates,
    Facts,
    MaxCountDifference,
    NotSwappedBefore,
    constraints_of,
)
from nes_spark.swapping.population import Population, sets_of

from .corpus import NAMES, frames, make_corpus

TABLES = make_corpus(10, 6, seed=8)
CELLS = TABLES["cells"]
IDS = [c["chunk_id"] for c in CELLS]
SETTING = "pkb-K3"
COMPONENT = {
    a["chunk_id"]: a["component"] for a in TABLES["assignments"] if a["setting"] == SETTING
}


class SamePositionHalf(Constraint):
    """Only chunks of the same half of their documents are exchanged."""

    name = "same half"
    field = "same_position_half"
    columns = ("position", "n_chunks")

    def groups(self, facts: Facts) -> Sequence[Hashable]:
        """Return whether a chunk is in the second half."""
        rows = zip(facts["position"], facts["n_chunks"], strict=True)
        return [2 * position >= n for position, n in rows]


class MaxPositionDifference(Constraint):
    """The positions of two chunks differ by at most a bound."""

    name = "near positions"
    field = "max_position_difference"
    numbers = ("position",)

    def pairs(self, chunks, a, b):
        """Compare the positions."""
        position = chunks.numbers["position"]
        return np.abs(position[a] - position[b]) <= self.value


class OwnConfig(ConstraintsConfig):
    """The configuration with a field more for each."""

    same_position_half: bool = False
    max_position_difference: int | None = None


@pytest.fixture
def own_constraints():
    for cls in (SamePositionHalf, MaxPositionDifference):
        constraints.constraint(cls)
    yield
    for cls in (SamePositionHalf, MaxPositionDifference):
        CONSTRAINTS.remove(cls)


def drawn_in_memory(releases, swap, **options):
    position = [c["position"] for c in TABLES["chunks"]]
    return sample_swaps(
        IDS,
        [c["metadata"] for c in CELLS],
        [COMPONENT[i] for i in IDS],
        {k: [c["entities"][k] for c in CELLS] for k in NAMES},
        swap,
        seed=b"a secret for tests",
        setting=SETTING,
        releases=releases,
        facts={"position": position, "n_chunks": [6] * len(IDS)},
        **options,
    )


# each is compared with the swaps in memory, so one partitioning a constraint tells
@pytest.mark.parametrize(
    ("partitions", "value"),
    [(1, {"same_position_half": True}), (3, {"max_position_difference": 1})],
)
def test_a_constraint_of_ones_own(spark, own_constraints, partitions, value):
    releases = ReleasesConfig(
        plan="pairs",
        draws=1,
        max_swaps=40,
        combinations=[["Organization"]],
        constraints=OwnConfig(**value),
    )
    swaps = drawn_in_memory(releases, ["Organization"])
    free = drawn_in_memory(
        releases.model_copy(update={"constraints": OwnConfig()}), ["Organization"]
    )

    def kept(swap):
        p, q = (int(chunk[-1]) for chunk in (swap.chunk_a, swap.chunk_b))
        return (p >= 3) == (q >= 3) if "same_position_half" in value else abs(p - q) <= 1

    assert len(swaps) > 5 and all(map(kept, swaps)) and not all(map(kept, free))
    data = frames(spark, TABLES, partitions, shuffle=partitions)
    found = stages.sample_candidates(
        data["cells"],
        data["assignments"].where(f"setting = '{SETTING}'"),
        releases,
        SwappingConfig(),
        b"a secret for tests",
        facts=stages.chunk_facts(data["chunks"]),
    )
    rows = sorted(found.collect(), key=lambda r: r["order"])
    assert found.columns == SWAPS.names
    assert [(r["time"], r["chunk_a"], r["chunk_b"]) for r in rows] == [
        (s.time, s.chunk_a, s.chunk_b) for s in swaps
    ]
    with pytest.raises(ValueError, match="'facts' parameter of sample_candidates"):
        stages.sample_candidates(
            data["cells"], data["assignments"], releases, SwappingConfig(), b"a secret for tests"
        )
    with pytest.raises(ValueError, match="'facts' parameter of sample_swaps"):
        sample_swaps(
            ["a", "b"], [1, 2], None, {"Organization": [["x"], ["y"]]}, ["Organization"],
            seed=1, releases=releases,
        )  # fmt: skip


def test_names_and_fields_are_taken_once(own_constraints):
    with pytest.raises(ValueError, match="a name and a field of its own"):
        constraints.constraint(SamePositionHalf)
    with pytest.raises(ValueError, match="a name and a field of its own"):
        constraints.constraint(Constraint)


def test_every_field_of_the_configuration_has_its_constraint():
    fields = {c.field for c in CONSTRAINTS if c.field}
    assert fields == set(ConstraintsConfig.model_fields)
    always = constraints_of()
    assert constraints_of(ConstraintsConfig()) == always
    assert len(always) == len(CONSTRAINTS) - len(fields) == 4
    every = ConstraintsConfig(
        min_concentration=0.0,
        same_covariates=["sector"],
        max_count_difference=0,
        min_cosine=0.0,
        not_swapped_before=True,
    )
    assert len(constraints_of(every)) == len(CONSTRAINTS), "zero is a value, not off"


def test_a_chunk_swapped_before_is_left_alone(spark):
    once = ConstraintsConfig(not_swapped_before=True)
    releases = ReleasesConfig(plan="pairs", draws=1, max_swaps=200, combinations=[["Organization"]])
    swapping = SwappingConfig(rounds=2)
    free = drawn_in_memory(releases, ["Organization"], swapping=swapping)
    strict = releases.model_copy(update={"constraints": once})
    swaps = drawn_in_memory(strict, ["Organization"], swapping=swapping)
    chunks = [c for s in swaps for c in (s.chunk_a, s.chunk_b)]
    assert len(set(chunks)) == len(chunks)
    assert len(free) > len(swaps) and free[: len(swaps)] == swaps
    data = frames(spark, TABLES, 2)
    found = stages.sample_candidates(
        data["cells"], data["assignments"].where(f"setting = '{SETTING}'"), strict, swapping,
        b"a secret for tests",
    )  # fmt: skip
    assert sorted((r["order"], r["chunk_a"], r["chunk_b"]) for r in found.collect()) == [
        (s.order, s.chunk_a, s.chunk_b) for s in swaps
    ]


def test_covariates_may_be_mappings_or_values():
    rule = EqualCovariates(["sector", "size"])
    table = [{"sector": "x"}, {"sector": "x", "size": None, "city": "z"}, {"sector": "y"}, "x"]
    groups = rule.groups({"covariates": table})
    assert groups[0] == groups[1] != groups[2] and groups[3] == "x"


def test_who_takes_part_and_why_not():
    rules = [constraints.MinConcentration(0.5), NotSwappedBefore(True)]
    facts = {"concentration": [0.5, 0.4, 0.9, 0.1], "swaps_before": [0, 0, 2, 1]}
    free, status = constraints.admitted(facts, 4, rules)
    assert free.tolist() == [True, False, False, False]
    assert status == ["", "low_concentration", "swapped_before", "low_concentration"]


def test_keywords_go_before_the_configuration_and_wrong_ones_are_refused():
    releases = ReleasesConfig(plan="pairs", draws=1, max_swaps=3)
    assert len(drawn_in_memory(releases, ["Organization"])) == 3
    assert len(drawn_in_memory(releases, ["Organization"], max_swaps=2)) == 2
    assert len(drawn_in_memory(releases, ["Organization"], max_swaps=None)) > 3
    with pytest.raises(TypeError, match="max_swap"):
        drawn_in_memory(releases, ["Organization"], max_swap=2)


def test_the_adversary_compares_the_pairs_that_the_sampler_may_draw():
    n = len(CELLS)
    entities = [c["entities"] for c in CELLS]
    swap = ["Organization", "Location"]
    rest = [k for k in NAMES if k not in swap]
    outside = [hash(tuple(tuple(e[k]) for k in rest)) for e in entities]
    rules = [*constraints_of(), MaxCountDifference(0)]
    population = Population(
        [c["metadata"] for c in CELLS],
        outside,
        [sets_of([e[k] for e in entities]) for k in swap],
        constraints=rules,
    )
    none = np.zeros(0, dtype=np.int64)
    suspects = [
        Suspect(i, 0, c["metadata"], c["entities"], none, 0, code, (none, none), (none, none), None)
        for i, c, code in zip(IDS, CELLS, outside, strict=True)
    ]
    found = [s.candidates for s in score_suspects(suspects, swap, constraints=rules)]
    assert found == population.valid(np.arange(n)).sum(axis=1).tolist()
    a, b = map(np.array, zip(*itertools.product(range(n), repeat=2), strict=True))
    pairs = (population.pair_rates(a, b) > 0).reshape(n, n)
    assert (pairs == population.valid(np.arange(n))).all() and pairs.any() and not pairs.all()
    assert sum(s.candidates for s in score_suspects(suspects, swap)) > sum(found)
