import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import logsumexp, softmax

from nes_spark.mixture.logs import log_sum_exp, normalise

ARRAYS = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=3, max_side=6),
    elements=st.floats(-700, 700, allow_nan=False),
)


@given(ARRAYS, st.integers(0, 1))
def test_both_agree_with_scipy_and_with_each_other(logs, axis):
    weights = logs.copy()
    total, largest = normalise(weights, axis)
    assert (largest == logs.max(axis=axis)).all()
    assert total == pytest.approx(logsumexp(logs, axis=axis), rel=1e-14, abs=1e-14)
    assert weights == pytest.approx(softmax(logs, axis=axis), rel=1e-12)
    assert (log_sum_exp(logs, axis) == total).all()


def test_terms_without_weight_are_allowed():
    assert log_sum_exp(np.array([-np.inf, 0.0, 0.0])) == np.log(2)
