"""The frontier and the choice."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nes_spark.errors import EstimationError
from nes_spark.releases import choose, pareto_frontier
from nes_spark.releases.frontier import on_the_axes

coarse = st.integers(0, 8).map(lambda i: i / 8)  # many ties
fine = st.floats(0, 1.2)
points = st.lists(st.tuples(coarse | fine, coarse | fine), min_size=1, max_size=40)
slopes = st.floats(1e-6, 1e6)


def dominates(a, b):
    """Whether release a dominates b: (DR, DU) each."""
    return a[0] <= b[0] and a[1] >= b[1] and a != b


@given(points)
def test_no_frontier_point_is_dominated_and_none_is_missing(candidates):
    mask = pareto_frontier(*zip(*candidates, strict=True))
    expected = [not any(dominates(a, b) for a in candidates) for b in candidates]
    assert mask.tolist() == expected
    assert mask.any()


@given(points, st.randoms())
def test_the_frontier_does_not_depend_on_the_order(candidates, random):
    order = list(range(len(candidates)))
    random.shuffle(order)
    mask = pareto_frontier(*zip(*candidates, strict=True))
    shuffled = pareto_frontier(*zip(*(candidates[i] for i in order), strict=True))
    assert shuffled.tolist() == mask[order].tolist()


def test_the_frontier_takes_what_can_be_an_array():
    assert pareto_frontier(pd.Series([1.0, 0.5]), np.array([1.0, 0.9])).tolist() == [True, True]
    assert pareto_frontier([], []).tolist() == []


@pytest.mark.parametrize(
    ("risk", "utility", "name"),
    [
        ([1.0, math.nan], [1.0, 1.0], "DR"),
        ([1.0, 0.5], [1.0, math.inf], "DU"),
        ([1.0], [1.0, 2.0], "DU"),
        ([[1.0]], [1.0], "DR"),
    ],
)
def test_values_that_cannot_be_compared_are_refused(risk, utility, name):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of pareto_frontier"):
        pareto_frontier(risk, utility)


@given(points, slopes)
@settings(max_examples=300)
def test_the_choice_under_a_line_is_on_the_frontier_for_every_slope(candidates, slope):
    risk, utility = map(np.array, zip(*candidates, strict=True))
    chosen = choose(candidates, "line", slope=slope)
    assert pareto_frontier(risk, utility)[chosen]
    goal = risk - slope * utility
    # and touches: nothing lies below the line through it, but for rounding
    assert goal[chosen] <= goal.min() + 1e-12 * (1 + slope)


@given(points, slopes, st.floats(-10, 10))
def test_the_offset_never_changes_the_choice(candidates, slope, offset):
    assert choose(candidates, "line", slope=slope, offset=offset) == choose(
        candidates, "line", slope=slope
    )


@given(points, st.floats(0, 1))
def test_the_choice_under_a_bound_has_the_most_utility(candidates, bound):
    feasible = [c for c in candidates if c[0] <= bound]
    if not feasible:
        with pytest.raises(EstimationError) as caught:
            choose(candidates, "max_utility", max_risk=bound)
        assert caught.value.reason == "empty_feasible_set"
        return
    chosen = choose(candidates, "max_utility", max_risk=bound)
    assert candidates[chosen] in feasible
    assert candidates[chosen][1] == max(u for _, u in feasible)
    assert pareto_frontier(*zip(*candidates, strict=True))[chosen]


def frame():
    return pd.DataFrame(
        {
            "combination": ["", "A+B", "A+B", "A+B", "A+C", "A+C"],
            "n_swaps": [0, 1, 2, 3, 1, 2],
            "DR": [1.0, 0.9, 0.8, 0.75, 0.9, 0.8],
            "DU": [1.0, 0.99, 0.97, 0.90, 0.99, 0.98],
        }
    )


def test_the_three_rules():
    candidates = frame()
    assert choose(candidates, "max_utility", max_risk=0.85) == 5
    assert choose(candidates, "max_utility", max_risk=1.0) == 0
    assert choose(candidates, "line", slope=0.1) == 3  # utility counts little
    assert choose(candidates, "line", slope=100.0) == 0  # utility counts all
    assert choose(candidates, "line", slope=2.0) == 5
    assert choose(candidates, "max_rate", combination=["A", "B"]) == 3
    assert choose(candidates, "max_rate", combination="C+A") == 5


def test_ties_go_to_less_risk_then_fewer_swaps_then_the_first():
    # equal DR - DU = 0 at both ends of the line: the lower risk wins
    assert choose([(1.0, 1.0), (0.9, 0.9), (0.5, 0.5)], "line", slope=1.0) == 2
    same = pd.DataFrame(
        {"DR": [0.9, 0.9, 0.9], "DU": [0.95, 0.95, 0.95], "n_swaps": [4, 2, 2], "combination": "A"}
    )
    assert choose(same, "line", slope=1.0) == 1
    assert choose(same, "max_utility", max_risk=0.9) == 1
    assert choose(same, "max_rate", combination="A") == 0
    equal_rate = pd.DataFrame(
        {"DR": [0.9, 0.8], "DU": [0.95, 0.95], "n_swaps": [4, 4], "combination": "A"}
    )
    assert choose(equal_rate, "max_rate", combination="A") == 1


def test_empty_feasible_sets_are_errors_with_a_reason():
    with pytest.raises(EstimationError, match="smallest DR is") as caught:
        choose(frame(), "max_utility", max_risk=0.7)
    assert caught.value.reason == "empty_feasible_set"
    with pytest.raises(EstimationError) as caught:
        choose(frame(), "max_rate", combination=["B", "C"])
    assert caught.value.reason == "no_valid_swap"
    with pytest.raises(EstimationError) as caught:
        choose(frame().iloc[:0])
    assert caught.value.reason == "no_candidates"


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"rule": "best"}, "rule"),
        ({"rule": "line", "slope": 0.0}, "slope"),
        ({"rule": "line", "slope": math.nan}, "slope"),
        ({"rule": "line", "offset": math.inf}, "offset"),
        ({"rule": "max_utility"}, "max_risk"),
        ({"rule": "max_utility", "max_risk": 1.5}, "max_risk"),
        ({"rule": "max_rate"}, "combination"),
    ],
)
def test_parameters_are_checked(arguments, name):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of choose"):
        choose(frame(), **arguments)


def test_tables_without_the_columns_are_refused():
    with pytest.raises(ValueError, match="'candidates' parameter of choose"):
        choose(frame().drop(columns="DU"))
    with pytest.raises(ValueError, match="'candidates' parameter of choose"):
        choose([(1.0, 1.0)], "max_rate", combination="A")
    with pytest.raises(ValueError, match="'DR' parameter of choose"):
        choose(frame().assign(DR=math.nan))


def test_a_frame_with_any_index_is_answered_by_position():
    shuffled = frame().iloc[::-1]
    assert choose(shuffled, "line", slope=2.0) == 0


def test_averages_over_lucky_draws_stand_on_no_frontier():
    space = pd.DataFrame(
        {
            "n_swaps": [0, 4, 8],
            "fidelity": [1.0, 0.9, 0.95],
            "measured": [1.0, 0.5, 0.1],
            "incomplete": [False, False, True],
        }
    )
    axes = ("fidelity", "measured")
    assert on_the_axes(space, *axes).tolist() == [True, True, False]
    assert on_the_axes(space.drop(columns="incomplete"), *axes).tolist() == [True, False, True]
    # where all draws reached nothing, averages over some are all that there is
    assert on_the_axes(space.drop(index=1), *axes).tolist() == [True, True]
