"""Disclosure risk along a sequence of swaps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nes_spark.errors import EstimationError
from nes_spark.risk import disclosure_risk
from nes_spark.risk.measure import swapped_uniques


def test_the_papers_example():
    """100 sample uniques, one swap of two of them: 2% less risk, 1% when p-hat is a half."""
    assert disclosure_risk([2], 100, 1.0) == pytest.approx([0.98])
    assert disclosure_risk([2], 100, 0.5) == pytest.approx([0.99])


def test_p_hat_above_one_is_clipped_in_the_risk():
    assert disclosure_risk([0, 50, 100], 100, 3.7).tolist() == [1.0, 0.5, 0.0]


def test_no_sample_uniques_is_an_error_not_a_number():
    with pytest.raises(EstimationError) as caught:
        disclosure_risk([0], 0, 0.5)
    assert caught.value.reason == "no_sample_uniques"


def test_only_uniques_count_and_each_once():
    ids = [["a", "b"], ["c", "d"], ["a", "c"], ["d", "e"]]
    unique = {"a": True, "b": False, "c": True, "d": True, "e": True}
    flags = [[unique[i] for i in pair] for pair in ids]
    assert swapped_uniques(ids, flags).tolist() == [1, 3, 3, 4]


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=20))
def test_counts_are_those_of_the_set_of_swapped_uniques(pairs):
    ids = np.array([[f"c{a}", f"c{b}"] for a, b in pairs], dtype=object)
    flags = np.array([[a % 2 == 0, b % 2 == 0] for a, b in pairs])
    expected = [
        len({i for pair in ids[: t + 1] for i in pair if int(i[1:]) % 2 == 0})
        for t in range(len(pairs))
    ]
    assert swapped_uniques(ids, flags).tolist() == expected
