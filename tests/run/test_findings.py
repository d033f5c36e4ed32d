"""Of many changed chunks a sample is attacked."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from nes_spark.config import AuditConfig, Config
from nes_spark.run import findings


def context_of(chunks: int, most: int, secret: bytes = b"s" * 32):
    store = SimpleNamespace(manifest=lambda name: SimpleNamespace(rows=chunks))
    config = SimpleNamespace(audit=AuditConfig(max_chunks=most))
    return SimpleNamespace(store=store, config=config, secret=secret)


ROWS = [(draw, f"d{i % 7}#{i:05d}") for i in range(40) for draw in (0, 1)]


@pytest.fixture(scope="module")
def rewritten(spark):
    return spark.createDataFrame(ROWS, "draw int, chunk_id string")


def asked(frame, most, **more):
    found = (
        findings._sampled(context_of(1000, most, **more), frame)
        .select("draw", "chunk_id")
        .collect()
    )
    return sorted(tuple(row) for row in found)


def test_all_draws_of_a_sample_of_chunks_are_attacked(rewritten):
    found = asked(rewritten, 12)
    chunks = {chunk for _, chunk in found}
    assert len(chunks) == 12
    assert found == sorted(row for row in ROWS if row[1] in chunks)
    # whatever their order; another run's sample is another one
    assert asked(rewritten.repartition(7).orderBy("draw"), 12) == found
    assert {chunk for _, chunk in asked(rewritten, 12, secret=b"t" * 32)} != chunks
    assert asked(rewritten, 40) == sorted(ROWS)


def test_a_corpus_of_fewer_chunks_needs_no_sample(rewritten):
    assert findings._sampled(context_of(1000, 1000), rewritten) is rewritten


# -- names that found nobody ---------------------------------------------------------------------


def coverage_of(rows):
    columns = ["category", "fate", "reason", "mentions"]
    return pd.DataFrame(rows, columns=columns)


@pytest.mark.parametrize("alone, told", [(33, False), (34, True)])
def test_what_to_do_where_a_third_of_the_names_found_nobody(alone, told):
    rows = [
        ("Person", "placeholder", "no_partner", alone - 4),
        ("Location", "placeholder", "no_partner", 4),
        ("Person", "placeholder", "surplus", 40),
        ("Location", "exchanged", "", 60 - alone),
        # no name that is exchanged
        ("Term", "placeholder", "no_partner", 900),
    ]
    config = Config.model_validate({"releases": {"neighbours": 2}})
    said = findings.many_alone(coverage_of(rows), ["Person", "Location"], config)
    assert bool(said) == told
    if told:
        assert said.startswith("34 of 100 names became placeholders")
        assert "mixture.n_components" in said and "releases.neighbours, now 2" in said


def test_a_release_without_names_has_none_that_found_nobody():
    assert findings.many_alone(coverage_of([]), ["Person"], Config.model_validate({})) == ""
