"""Fixtures shared by all tests: one Spark session a process."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import re

import pytest
from hypothesis import settings

# As in Spark's workers, and set before NumPy is imported: parts of the tests run side by side, and
# threads that wait for each other take the time of all.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")


# How long an example takes says something about the machine, not about the code.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")


@functools.cache
def _names_spark(path):
    """Whether the word stands in a file; that of the package is another."""
    return re.search(r"\bspark\b", path.read_text(encoding="utf-8")) is not None


def pytest_ignore_collect(collection_path, config):
    """Do not read files without Spark tests where these alone are asked for: seconds of imports."""
    only_spark = re.match(r"spark\b(?!.*\bor\b)", config.option.markexpr)
    if only_spark and re.match(r"test_.*\.py", collection_path.name):
        return None if _names_spark(collection_path) else True
    return None


def pytest_collection_modifyitems(items):
    """Mark what needs Spark, for ``make test-spark35``."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
            # the process that reads all files sees to it that no test is passed over
            if not _names_spark(item.path):
                raise pytest.UsageError(
                    f"{item.nodeid} needs Spark: its file must say so in a word"
                )


def pytest_collection_finish():
    """What is loaded by now stays: the collector need not look through it after every few tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 50)


@pytest.fixture(scope="session")
def spark():
    from nes_spark.config import SparkConfig
    from nes_spark.session import get_session

    config = SparkConfig(
        master="local[2]", shuffle_partitions=1, driver_memory="2g", settings=FEWER_STEPS
    )
    session = get_session(config, "nes_spark tests", short=True)
    _remember_names_of_java()
    for form in ("short", "long"):  # else every plan node looks through the stack for its caller
        session.sparkContext.setLocalProperty(f"callSite.{form}", "a test")
    _sessions.append(session)
    yield session
    _sessions.remove(session)
    session.stop()


#: The session, while there is one.
_sessions = []


@pytest.fixture(scope="module", autouse=True)
def _let_go():
    """What tests of a module persisted goes with it: every query is compared with all that is."""
    yield
    for session in _sessions:
        session.catalog.clearCache()


def _remember_names_of_java():
    """Ask Java once what ``functions`` or ``org.apache`` is: it looks into all jars each time."""
    from py4j.java_gateway import JavaClass, JavaPackage, JVMView

    def remembering(ask):
        @functools.wraps(ask)
        def look(self, name):
            found = ask(self, name)
            if isinstance(found, (JavaClass, JavaPackage)):
                self.__dict__[name] = found
            return found

        return look

    for kind in (JVMView, JavaPackage):
        if not hasattr(kind.__getattr__, "__wrapped__"):
            kind.__getattr__ = remembering(kind.__getattr__)


#: A query over few rows costs what its plan and its tasks cost. Without adaptive execution it is
#: one job, not one a shuffle, and nothing draws the partitions of a shuffle together again: so one
#: is the rule, and tests of partitions have more (:func:`partitions`).
FEWER_STEPS = {
    "spark.sql.adaptive.enabled": "false",
    # a small table from Python is one task, not one a core
    "spark.default.parallelism": "1",
    "spark.sql.ui.explainMode": "simple",
    # each operator of each task takes a page, of 32 MB by default: the heap was full of empty ones
    "spark.buffer.pageSize": "256k",
    # most of the heap is for rows that live for one query
    "spark.driver.extraJavaOptions": "-Xms2g -Xmn1200m",
}


# Two say nothing that one and seven do not: nothing to put together, and more than there are cores.
@pytest.fixture(params=[1, pytest.param(2, marks=pytest.mark.slow), 7])
def partitions(request, spark):
    """Partition counts over which a stage must give the same result; shuffles have up to two."""
    with setting_of(spark, "spark.sql.shuffle.partitions", min(request.param, 2)):
        yield request.param


@contextlib.contextmanager
def setting_of(spark, name, value):
    """Another value of a setting of the session, for a while."""
    before = spark.conf.get(name)
    spark.conf.set(name, str(value))
    try:
        yield
    finally:
        spark.conf.set(name, before)
