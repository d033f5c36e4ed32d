"""When a run says what would hide more, or keep more of the meaning."""

import pytest

from nes_spark.config import load_config
from nes_spark.config.hiding import further_steps, milder_steps
from nes_spark.demo import config_path
from nes_spark.run.result import MANY, milder_for, steps_for


def named(share):
    return {"before": {"named": 1.0}, "after": {"named": share}}


CASES = [
    # documents are released: what is named of them counts, whatever the chunks say
    ("documents", named(0.5), {"left_out": named(0.0)}, True),
    ("documents", named(MANY), {"left_out": named(0.9)}, False),
    # each chunk by itself: who holds it already says nothing, and documents are put together first
    ("chunks", named(0.9), {"left_out": named(0.05), "known": named(0.9)}, False),
    ("chunks", named(0.0), {"left_out": named(0.3)}, True),
    ("chunks", named(0.9), {}, False),
    # not measured
    ("documents", None, None, False),
    ("chunks", None, None, False),
]


@pytest.mark.parametrize(("publish", "documents", "chunks", "expected"), CASES)
def test_where_many_are_named(publish, documents, chunks, expected):
    config = load_config(config_path(), {"output.publish": publish})
    assert steps_for(config, documents, chunks) == (further_steps(config) if expected else [])


def fidelity(value, half, *errors):
    half = {"value": half}
    found = {"value": value, "anchors": {"half_deleted": half}}
    for side, error in zip((found, half), errors, strict=False):
        side["standard_error"] = error
    return {"fidelity": found}


@pytest.mark.parametrize(
    ("utility", "expected"),
    [
        (fidelity(0.69, 0.75), True),
        (fidelity(0.75, 0.75), False),
        # hardly less, and less for sure
        (fidelity(0.681, 0.691, 0.011, 0.018), False),
        (fidelity(0.69, 0.75, 0.011, 0.018), True),
        (fidelity(0.69, 0.75, None, 0.018), True),
        # not measured
        ({"fidelity": {"value": 0.1, "anchors": {}}}, False),
        ({"fidelity": {"anchors": {"half_deleted": {"value": 0.7}}}}, False),
        ({}, False),
        (None, False),
    ],
)
def test_where_little_of_the_meaning_is_left(utility, expected):
    config = load_config(config_path(), {"entities.telling": 0.1})
    assert milder_steps(config)
    assert milder_for(config, utility) == (milder_steps(config) if expected else [])
