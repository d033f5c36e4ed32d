"""Telling words in a run: which stages they reach, and that both ways to find them are one."""

import io

import pytest

from nes_spark import logs
from nes_spark.run import pipeline, runner
from nes_spark.run.context import Context
from nes_spark.run.pipeline import STAGES
from nes_spark.schemas import MENTIONS, OWN_NAMES
from nes_spark.store import Store
from tests.run.small import settings

SHARE = 0.15


@pytest.fixture
def context_of(finished, spark, tmp_path):
    """Make a context of other settings on the tables of the shared run, to read alone."""
    config, result = finished

    def make(**more):
        changed = settings(config.input.path, tmp_path / "out", **more)
        return Context(spark, changed, Store(result.directory), b"secret", "")

    return make


def of_rows(outputs):
    found = outputs["mentions"]
    return sorted(map(tuple, found if isinstance(found, list) else found.collect()))


def test_both_ways_to_find_them_are_one(context_of, monkeypatch):
    plain, told = context_of(), context_of(**{"entities.telling": SHARE})
    before = sorted(map(tuple, plain.table("mentions").collect()))
    here = of_rows(pipeline._mentions(told))
    clues = [row for row in here if row[1] == "Clue"]
    assert clues
    # terms became part of clues, all else is as it was
    rest = [row for row in before if row[1] != "Term"]
    assert [row for row in here if row[1] not in ("Clue", "Term")] == rest
    monkeypatch.setattr(pipeline, "FEW_WORDS", 0)
    assert of_rows(pipeline._mentions(told)) == here
    # a share that the terms reach alone takes nothing
    assert of_rows(pipeline._mentions(context_of(**{"entities.telling": 0.001}))) == before


def test_what_they_bar_and_what_they_leave_as_it_is(context_of, spark, monkeypatch):
    plain, told = context_of(), context_of(**{"entities.telling": SHARE})
    (recognised, mentions) = (s for s in STAGES if s.name in ("recognised", "mentions"))
    # nothing is recognised anew, and mentions are found anew
    assert recognised.key(plain) == recognised.key(told)
    assert mentions.key(plain) != mentions.key(told)
    found = spark.createDataFrame(of_rows(pipeline._mentions(told)), MENTIONS.ddl)
    table = told.table
    monkeypatch.setattr(told, "table", lambda name: found if name == "mentions" else table(name))
    own, before = (
        {tuple(row) for row in pipeline._cells(one)["own_names"].select(*OWN_NAMES.names).collect()}
        for one in (told, plain)
    )
    assert own > before


def test_a_share_that_takes_nothing_is_told(context_of):
    (mentions,) = (stage for stage in STAGES if stage.name == "mentions")
    log = io.StringIO()
    logs.configure(stream=log)
    runner._examine(context_of(), mentions)
    assert not log.getvalue()
    # the tables of the shared run have none
    runner._examine(context_of(**{"entities.telling": 0.001}), mentions)
    assert "entities.telling: no word was taken" in log.getvalue()
