"""Plan ``whole`` from the files to the release: accounted for, attacked, undone."""

import json
from pathlib import Path

import pandas as pd
import pytest

import nes_spark as nes
from nes_spark.entities.quantities import likeness_of
from nes_spark.run.inverting import invert_release
from tests.check_run import check
from tests.run.test_pipeline import SEED, records, settings

WHOLE = {
    "releases.plan": "whole",
    "choice.rule": "lowest_risk",
    # further categories too; what has no donor goes with its chunk, and comes back from the ledger
    "releases.further": ["Quantity", "Term"],
    "releases.leftover": ["donor", "drop"],
    "entities.categories": [
        "Organization", "Person", "Event", "Product", "Location", "Date", "Quantity", "Term",
    ],
    "entities.terms": 15,
    "ledger.keep_originals": True,
    "entities.sweep": "off",
    "audit.recognition": False,
    "tracking.enabled": False,
}


@pytest.fixture(scope="module")
def whole(spark, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    corpus = folder / "calls.jsonl"
    corpus.write_text("".join(json.dumps(d) + "\n" for d in records(10)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NES_SPARK_SEED", SEED)
        yield nes.run(settings(corpus, folder / "out", **WHOLE), spark)


def test_it_is_published_with_all_exchanges(whole):
    swaps = whole.table("swaps")
    assert whole.status == "published"
    assert whole.choice.n_swaps == len(swaps) > 0
    assert whole.choice.combination == ("Organization", "Person", "Product", "Location")
    candidates = whole.table("candidates")
    assert len(candidates) <= 11
    assert {"combination", "n_swaps", "on_frontier"} <= set(candidates)


def test_every_mention_is_accounted_for_and_none_that_could_go_stays(whole):
    coverage, mentions = whole.table("coverage"), whole.table("mentions")
    assert coverage["mentions"].sum() == len(mentions)
    names = [*whole.choice.combination, "Quantity", "Term"]
    swapped = coverage[coverage["category"].isin(names)]
    assert set(swapped["fate"]) == {"exchanged", "donor", "drop"}
    assert set(coverage[coverage["category"] == "Date"]["fate"]) >= {"shifted", "kept"}
    assert whole.coverage == coverage.to_dict("records")


def test_the_first_lines_say_who_can_be_named(whole):
    named = whole.documents_named
    assert named["before"]["n"] == named["after"]["n"] == whole.figures["documents"]
    assert named["after"]["named"] < named["before"]["named"]
    assert "who holds half of every document names" in str(whole)
    record = json.loads((Path(whole.directory) / "release" / "release.json").read_text())
    assert record["documents_named"] == named
    assert record["coverage"] == whole.coverage


def test_dropped_chunks_are_not_published_and_counted(whole):
    status = whole.table("status")["status"].value_counts()
    published = pd.read_json(Path(whole.directory) / "release" / "chunks.jsonl", lines=True)
    assert status["dropped"] > 0
    assert len(published) + status["dropped"] == status.sum() == whole.figures["chunks"]
    assert (published["text"] != "").all()


def test_quantities_keep_their_likeness_and_dates_their_order(whole):
    swaps = whole.table("swaps").explode("exchanged")["exchanged"]
    quantities = [e for e in swaps if e["category"] == "Quantity"]
    assert quantities
    assert all(likeness_of(e["old"]) == likeness_of(e["new"]) for e in quantities)
    assert any(e["category"] == "Term" for e in swaps)


def test_the_ledger_undoes_layers_donors_dates_and_dropped_chunks(whole, tmp_path):
    rows = invert_release(whole.directory, tmp_path / "restored.jsonl")
    restored = pd.read_json(tmp_path / "restored.jsonl", lines=True, dtype=False)
    chunks = whole.table("chunks").set_index("chunk_id")["text"]
    assert rows == len(chunks)
    assert restored.set_index("chunk_id")["text"].to_dict() == chunks.to_dict()


def test_the_outputs_are_complete(whole):
    check(Path(whole.directory))
