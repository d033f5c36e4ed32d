"""Attackers that are made ready while swaps are drawn."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from nes_spark.config import Config
from nes_spark.run import measuring
from nes_spark.run.context import Context

WORDS = ["cement", "kilns", "violins", "opera", "tires", "brakes", "vaccines", "trials"]


class Tables:
    """The tables of a finished run of eight documents with three chunks each."""

    def __init__(self):
        self.contents = {"chunks": "c1", "cells": "e1", "documents": "d1"}
        ids = [(f"{word}#{k}", word) for word in WORDS for k in range(3)]
        self.frames = {
            "chunks": pd.DataFrame(
                [
                    (c, word, f"{word} Inc", f"We sell {word} and more {word} in {c[-1]} plants.")
                    for c, word in ids
                ],
                columns=["chunk_id", "document_id", "metadata", "text"],
            ),
            "cells": pd.DataFrame(
                [(c, {"Product": [f"{word.title()} One"]}) for c, word in ids],
                columns=["chunk_id", "entities"],
            ),
        }

    def manifest(self, name):
        rows = len(self.frames[name]) if name in self.frames else len(WORDS)
        return SimpleNamespace(content=self.contents[name], rows=rows)

    def read_pandas(self, name, columns):
        return self.frames[name][columns]

    def rows(self, name, columns):
        return self.frames[name][columns].itertuples(index=False)


def context(**audit):
    config = Config.model_validate({"audit": audit} if audit else {})
    return Context(None, config, Tables(), b"x" * 32, "")


def settled(run):
    for future in run.ready.values():
        future.exception(timeout=60)


@pytest.mark.parametrize("few", [24, 23])
def test_attackers_made_ready_ahead_are_the_same(monkeypatch, few):
    monkeypatch.setattr(measuring, "FEW_CHUNKS", few)
    run = context()
    measuring.make_ready(run)
    settled(run)
    ahead = {k: future.result() for k, future in run.ready.items()}
    assert len(ahead) == (1 if few == 24 else 2)
    for candidates in (True, False):
        found = measuring.measurement_of(run, candidates)
        assert any(found is made for made in ahead.values())
        fresh = measuring.measurement_of(context(), candidates)
        assert fresh is not found and fresh[1] == found[1]
        assert fresh[0].before.keys() == found[0].before.keys()
        for unit, table in fresh[0].before.items():
            pd.testing.assert_frame_equal(table, found[0].before[unit])
    assert not run.ready, "who was asked is not kept"


def test_few_chunks_are_looked_at_once_for_candidates_and_release(monkeypatch):
    run = context()
    first = measuring.measurement_of(run, candidates=True)
    assert first[0].asked == measuring.measurement_of(context())[0].asked
    assert measuring.measurement_of(run, candidates=True) is first
    assert measuring.measurement_of(run) is first
    assert not run.ready
    # a sample for the candidates is another question
    monkeypatch.setattr(measuring, "FEW_CHUNKS", 10)
    monkeypatch.setattr(measuring, "CANDIDATE_CHUNKS", 5)
    sample = measuring.measurement_of(run, candidates=True)
    assert len(sample[0].asked) == 5 and not run.ready
    # what is known of candidates by a file is asked of the release alone
    known = context(public_words="words.csv")
    monkeypatch.setattr(measuring, "FEW_CHUNKS", 100)
    monkeypatch.setattr(measuring, "read_background", lambda context: None)
    for candidates in (True, False):
        measuring.measurement_of(known, candidates)
        assert not known.ready


def test_attackers_of_other_texts_are_not_used():
    run = context()
    measuring.make_ready(run)
    settled(run)
    made = [future.result() for future in run.ready.values()]
    run.store.contents["chunks"] = "c2"
    assert all(measuring.measurement_of(run, True) is not one for one in made)


def test_what_goes_wrong_ahead_is_said_where_it_is_asked(monkeypatch):
    def broken(*args, **kwargs):
        raise ValueError("no halves")

    run = context()
    monkeypatch.setattr("nes_spark.audit.measured.Measurement", broken)
    measuring.make_ready(run)
    settled(run)
    with pytest.raises(ValueError, match="no halves"):
        measuring.measurement_of(run, True)


@pytest.mark.parametrize(
    "audit", [{"documents": False}, {"max_documents": 2}, {"background": "known.csv"}]
)
def test_nothing_begins_where_it_would_not_be_asked(audit):
    run = context(**audit)
    measuring.make_ready(run)
    assert not run.ready


def test_nothing_begins_for_many_words(monkeypatch):
    run = context()
    monkeypatch.setattr(measuring, "READY_WORDS", 10)
    measuring.make_ready(run)
    assert not run.ready
