"""Data utility along a sequence of swaps (the prefix sums are tested with the scores)."""

import math

import pytest

from nes_spark.errors import EstimationError
from nes_spark.utility import data_utility
from nes_spark.utility.measure import log_likelihood_changes


def test_utility_is_the_ratio_of_log_likelihoods():
    assert data_utility([200.0, 190.0, 220.0], 200.0) == pytest.approx([1.0, 0.95, 1.1])


@pytest.mark.parametrize("denominator", [0.0, -3.0, math.nan, math.inf])
def test_a_denominator_that_is_not_positive_is_refused(denominator):
    with pytest.raises(EstimationError) as caught:
        data_utility([1.0], denominator)
    assert caught.value.reason == "denominator_not_positive"


def test_a_chunk_that_is_swapped_again_loses_its_former_text():
    ids = [["a", "b"], ["c", "d"], ["a", "c"]]
    pre = [[5.0, 5.0], [5.0, 5.0], [5.0, 5.0]]
    post = [[4.0, 3.0], [5.0, 6.0], [4.5, 1.0]]
    # (a -1, b -2), then (c 0, d +1), then (a -1 -> -0.5, c 0 -> -4)
    assert log_likelihood_changes(ids, pre, post) == pytest.approx([-3.0, -2.0, -5.5])
