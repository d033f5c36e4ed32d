"""When a run says what would hide more."""

import pytest

from nes_spark.config import load_config
from nes_spark.config.hiding import further_steps
from nes_spark.demo import config_path
from nes_spark.run.result import MANY, steps_for


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
