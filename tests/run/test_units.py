"""Both units in one frontier: a run with candidates of chunks and of documents."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

import nes_spark as nes
from nes_spark.compare.overlap import overlap_of
from nes_spark.run.choosing import choices_of, choose_again
from nes_spark.run.context import open_run
from nes_spark.run.inverting import invert_release
from nes_spark.run.pipeline import draw_whole
from tests.check_run import check
from tests.run.small import WHOLE, settings

NAMES = "Organization+Person+Product+Location"
CHUNKS, DOCUMENTS = f"{NAMES}@chunk", f"{NAMES}@document"
BOTH = WHOLE | {"releases.unit": "both", "utility.judge_texts": 100, "audit.text": False}

# The draws are covered by swapping/test_whole_stages, the choice by run/test_choice, what is
# refused by run/test_checks; a run with both takes a minute.
pytestmark = [pytest.mark.usefixtures("seeded"), pytest.mark.slow]


@pytest.fixture(scope="module")
def both(seeded, finished, spark, tmp_path_factory):
    """A run with both units, on the tables of the run of plan ``pairs`` up to the mixture."""
    config, pairs = finished
    run = tmp_path_factory.mktemp("units") / "out" / "all"
    shutil.copytree(pairs.directory, run)
    for folder in ("release", "report", "sealed/ledger", "stages/publication"):
        shutil.rmtree(run / folder)
    made = settings(Path(config.input.path), run.parent, **BOTH)
    return made, nes.run(made, spark)


def chosen(result, combination):
    """The longest candidate of a unit."""
    candidates = result.table("candidates")
    return int(candidates[candidates["combination"] == combination]["n_swaps"].max())


def restored(directory, folder):
    """Texts by chunk as the ledger gives them back."""
    invert_release(directory, folder / "restored.jsonl")
    rows = pd.read_json(folder / "restored.jsonl", lines=True, dtype=False)
    return rows.set_index("chunk_id")["text"].to_dict()


def test_every_table_of_candidates_holds_both_units(both):
    _, result = both
    for name in ("swaps", "leftovers", "rewrites", "risk_fits", "scores"):
        assert set(result.table(name)["combination"]) == {CHUNKS, DOCUMENTS}, name
    for name in ("post_density", "judged", "fidelity", "measured_risk", "candidates"):
        assert set(result.table(name)["combination"]) == {"", CHUNKS, DOCUMENTS}, name
    fits = result.table("risk_fits").drop(columns=["combination", "sizes", "expected"])
    assert fits.iloc[0].equals(fits.iloc[1])  # one table z_J: the unit does not change it
    candidates = result.table("candidates")
    assert sorted(candidates["combination"].value_counts()) == [1, 10, 10]
    assert result.choice.candidates == 21
    measured = result.table("measured_risk").groupby("combination")["n_swaps"].nunique()
    assert measured.to_dict() == {"": 1, CHUNKS: 10, DOCUMENTS: 10}


@pytest.mark.parametrize("unit", ["chunk", "document"])
def test_a_unit_is_drawn_as_if_it_were_alone(both, spark, unit):
    config, result = both
    alone = config.releases.model_copy(update={"unit": unit})
    names = f"{NAMES}@{unit}"
    with open_run(config, spark) as context:
        try:
            drawn = draw_whole(context, alone, context.table("assignments"))
            found = [frame.toPandas() for frame in drawn]
        finally:
            context.release_kept()
    for name, mine in zip(("swaps", "leftovers"), found, strict=True):
        beside = result.table(name)
        beside = beside[beside["combination"] == names].drop(columns="combination")
        assert set(mine.pop("combination")) == {NAMES}

        def rows(frame, columns=tuple(mine.columns)):
            plain = frame[list(columns)].to_json(orient="values", default_handler=str)
            return sorted(map(str, json.loads(plain)))

        assert rows(mine) == rows(beside) and len(mine) > 0


def test_it_is_said_which_unit_is_published(both):
    _, result = both
    unit = result.choice.combination.unit
    assert unit in ("chunk", "document")
    record = json.loads((Path(result.directory) / "release" / "release.json").read_text())
    assert record["unit"] == unit
    assert record["choice"]["combination"] == f"{NAMES}@{unit}"
    assert f"@{unit}" in str(result) and f"unit {unit}" in str(result)
    page = Path(result.report).read_text()
    for name in ("unit chunk", "unit document"):
        assert f"Organization + Person + Product + Location, {name}" in page
    coverage = result.table("coverage")
    assert coverage["mentions"].sum() == len(result.table("mentions"))
    check(Path(result.directory))


def test_each_unit_can_be_published_and_taken_back(both, spark, tmp_path, plain_report):
    _, result = both
    texts = result.table("chunks").set_index("chunk_id")["text"].to_dict()
    folders, released = {}, {}
    for unit, name in (("chunk", CHUNKS), ("document", DOCUMENTS)):
        folders[unit] = tmp_path / unit / Path(result.directory).name
        shutil.copytree(result.directory, folders[unit])
        swaps = chosen(result, name)
        again = choose_again(folders[unit], choices_of(None, None, name, swaps, {}), spark)
        assert (again.choice.combination.name, again.choice.n_swaps) == (name, swaps)
        assert restored(again.directory, tmp_path) == texts
        lines = (folders[unit] / "release" / "chunks.jsonl").read_text().splitlines()
        released[unit] = {json.loads(line)["text"] for line in lines}
        coverage = again.table("coverage")
        assert coverage["mentions"].sum() == len(result.table("mentions"))
        assert not set(coverage.query("category == 'Person'")["fate"]) & {"kept"}
    assert released["chunk"] != released["document"]
    # the fewer swaps of one unit are no earlier point of the other's sequence
    told = overlap_of(folders["chunk"], folders["document"])
    assert told.reasons.get("another unit", 0) > 0
    shared = choose_again(folders["chunk"], {"rule": "coverage", "coverage": 1.0,
                                             "unit": "document"}, spark)  # fmt: skip
    assert shared.choice.combination.name == DOCUMENTS
    assert shared.choice.n_swaps == chosen(result, DOCUMENTS)
