"""Fixtures shared by all tests: one Spark session for the whole run."""

from __future__ import annotations

import os

import pytest

# As in Spark's workers, and set before NumPy is imported: two halves of the tests run side by side,
# and threads that wait for each other take the time of both.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")


def pytest_collection_modifyitems(items):
    """Mark what needs Spark, for ``make test-spark35``."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")


@pytest.fixture(scope="session")
def spark():
    from nes_spark.config import SparkConfig
    from nes_spark.session import get_session

    config = SparkConfig(master="local[2]", shuffle_partitions=3, driver_memory="2g")
    session = get_session(config, "nes_spark tests", short=True)
    yield session
    session.stop()


@pytest.fixture(params=[1, 2, 7])
def partitions(request):
    """Partition counts over which a stage must give the same result."""
    return request.param
