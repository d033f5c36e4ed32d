"""What did not change is taken from an earlier run: the same tables, and less work, counted."""

from __future__ import annotations

import io
import json
import stat
import uuid
from pathlib import Path

import pandas as pd
import pytest

import nes_spark as nes
from nes_spark import logs
from nes_spark.demo import calls, config_path
from nes_spark.errors import ConfigError
from nes_spark.run.checks import check_config
from nes_spark.run.earlier import UNITS, let_go, replaced_tables, set_aside, unusable
from nes_spark.run.earlier_stages import cut_documents, treat_texts
from nes_spark.schemas import CHUNKS, DOCUMENTS, EMBEDDINGS, RECOGNISED
from nes_spark.store import Store
from tests.jobs import SEED, folder_bytes
from tests.run.small import UNATTACKED, records, release_bytes, settings

PERIODS = ("2031Q2", "2031Q3")
STEPS = ("documents", "embedder", "chunks", "recognised", "mentions", "embeddings")


def document(name: str, text: str, secret: str = "Acme") -> dict:
    nothing = dict.fromkeys(DOCUMENTS.names)
    known = [{"kind": "company", "value": secret, "placeholder": "[Company Name]"}]
    return nothing | {
        "document_id": name, "metadata": secret, "text": text, "identifiers": known,
        "covariates": {}, "n_turns": 0, "n_turns_kept": 0, "boundary": "none",
        "proposed_aliases": [],
    }  # fmt: skip


def chunk(document: str, position: int, text: str) -> dict:
    return {
        "chunk_id": f"{document}#{position:05d}", "document_id": document, "metadata": "Acme",
        "position": position, "start": 0, "end": len(text), "text": text, "gap": "",
        "n_words": len(text.split()), "n_suppressed": 0,
    }  # fmt: skip


def frame(spark, table, rows, partitions=1):
    made = spark.createDataFrame([tuple(r[n] for n in table.names) for r in rows], table.ddl)
    return made.repartition(partitions)


def counting(folder: Path, ddl: str, rows_of):
    """What makes rows of a unit and leaves a file for each that it was asked for."""
    folder = str(folder)

    def work(batches):
        for batch in batches:
            for row in batch.to_dict("records"):
                Path(folder, f"{row[batch.columns[0]]}.{uuid.uuid4()}").touch()
                yield pd.DataFrame(rows_of(row))

    return lambda units: units.mapInPandas(work, ddl)


def asked_for(folder: Path) -> list[str]:
    return sorted(p.name.split(".")[0] for p in folder.iterdir())


def rows(frame) -> list:
    return sorted(map(repr, frame.collect()))


def cut(row):
    parts = [chunk(row["document_id"], i, t) for i, t in enumerate(row["text"].split("|"))]
    return [{n: part[n] for n in CHUNKS.names} for part in parts]


@pytest.mark.parametrize("partitions", [1, 7], indirect=True)
def test_only_documents_that_changed_are_cut(spark, tmp_path, partitions):
    before = [document("a", "one|two"), document("b", "three"), document("c", "four|five|six")]
    before += [document("d", "seven"), document("gone", "eight")]
    now = [before[0], document("b", "three|more"), document("c", "four|five|six", "Other")]
    now += [document("new", "seven"), before[3]]
    old = frame(spark, DOCUMENTS, before, partitions)
    made = frame(spark, CHUNKS, [c for d in before for c in cut(d)], partitions)
    make = counting(tmp_path, CHUNKS.ddl, cut)
    today = frame(spark, DOCUMENTS, now, partitions)
    found, taken = cut_documents(today, old, made, make, lambda f: f, len(now))
    expected = [c for d in now for c in cut(d)]
    assert rows(found) == rows(frame(spark, CHUNKS, expected))
    assert taken == 2
    # other text, other secret, other id
    assert set(asked_for(tmp_path)) == {"b", "c", "new"}


def names_in(row):
    found = [(w, row["text"].index(w)) for w in row["text"].split() if w[0].isupper()]
    return pd.DataFrame(
        [
            (row["document_id"], row["chunk_id"], "Person", w, i, i + len(w), w.lower(), "")
            for w, i in found
        ],
        columns=RECOGNISED.names,
    )


@pytest.mark.parametrize("partitions", [1, 7], indirect=True)
def test_only_texts_that_changed_are_recognised(spark, tmp_path, partitions):
    before = [chunk("a", 0, "Ann met Bob"), chunk("a", 1, "nobody"), chunk("a", 2, "Cleo left")]
    before += [chunk("b", 0, "Ann met Bob"), chunk("gone", 0, "Dora")]
    # a corrected beginning moves the chunks of a document on; one text stands in many chunks
    now = [chunk("a", 0, "Eve came"), chunk("a", 1, "Ann met Bob"), chunk("a", 2, "nobody")]
    now += [chunk("b", 0, "Ann met Bob"), chunk("c", 0, "Ann met Bob"), chunk("c", 1, "Cleo left.")]
    made = pd.concat([names_in(c) for c in before]).to_dict("records")
    make = counting(tmp_path, RECOGNISED.ddl, names_in)
    found, taken = treat_texts(
        frame(spark, CHUNKS, now, partitions),
        frame(spark, CHUNKS, before, partitions),
        frame(spark, RECOGNISED, made, partitions),
        make,
        lambda f: f,
        len(now),
    )
    expected = pd.concat([names_in(c) for c in now]).to_dict("records")
    assert rows(found) == rows(frame(spark, RECOGNISED, expected))
    assert taken == 4
    assert set(asked_for(tmp_path)) == {"a#00000", "c#00001"}


def test_where_nothing_or_all_is_known_nothing_is_made_twice(spark, tmp_path):
    chunks = [chunk("a", 0, "one"), chunk("a", 1, "two")]
    vectors = [{"chunk_id": c["chunk_id"], "vector": [1.0], "model_id": "m"} for c in chunks]
    today, old = frame(spark, CHUNKS, chunks), frame(spark, EMBEDDINGS, vectors)

    def refuse(units):
        raise AssertionError("there is nothing to make")

    found, taken = treat_texts(today, today, old, refuse, lambda f: f, 2)
    assert taken == 2
    assert rows(found) == rows(old)
    other = frame(spark, CHUNKS, [chunk("b", 0, "three")])
    found, taken = treat_texts(today, other, old.limit(0), lambda units: old, lambda f: f, 2)
    assert taken == 0
    assert rows(found) == rows(old)


# -- runs, up to the embeddings ------------------------------------------------------------------


class Runs:
    """Runs of the stages that take something, in one output folder."""

    def __init__(self, folder: Path, spark) -> None:
        self.folder, self.spark = folder, spark
        self.corpus = folder / "calls.jsonl"
        made = [d for d, _ in calls(9, periods=(PERIODS[0],), length=0.3)]
        self.documents = made

    def run(self, documents, output="out", period=PERIODS[0], anew=False, steps=STEPS, **more):
        """Run the stages; return stage -> (taken, of), and table -> digest of its content."""
        lines = (json.dumps(d | {"financial_quarter": period}) + "\n" for d in documents)
        self.corpus.write_text("".join(lines))
        changes = {
            "input.path": str(self.corpus),
            "output.directory": str(self.folder / output),
            "period": period,
            "entities.terms": 15,
        }
        if anew:
            changes["output.reuse"] = None
        config = nes.load_config(config_path(), changes | more)
        log = io.StringIO()
        logs.configure(structured=True, stream=log)
        for name in steps:
            nes.run_stage(config, name, self.spark)
        lines = [json.loads(line) for line in log.getvalue().splitlines()]
        store = Store(self.folder / output / period)
        self.log = {r["stage"]: r for r in lines if "stage" in r}
        self.warned = [r["message"] for r in lines if r["level"] == "warning"]
        taken = {r["stage"]: (r["taken"], r["of"]) for r in lines if "taken" in r}
        contents = {n: found.content for n in STEPS if (found := store.manifest(n))}
        return taken, contents

    def lines(self, stage: str) -> dict:
        """What the last run said of a stage."""
        return self.log[stage]


@pytest.fixture
def runs(spark, tmp_path, monkeypatch):
    monkeypatch.setenv("NES_SPARK_SEED", SEED)
    return Runs(tmp_path, spark)


def corrected(document: dict) -> dict:
    words = document["turns"][1]["text"]
    text = json.dumps(document).replace(json.dumps(words)[1:-1], "Corrected: Ann Lee left Oslo.")
    return json.loads(text)


def test_what_did_not_change_is_taken_and_said(runs):
    """In the same folder: a corrected document, one gone, one new."""
    steps = tuple(s for s in STEPS if s != "mentions")
    first, _ = runs.run(runs.documents[:4], steps=steps)
    own = Store(runs.folder / "out" / PERIODS[0])
    n = own.manifest("chunks").rows
    assert first == {"chunks": (0, 4), "recognised": (0, n), "embeddings": (0, n)}
    taken, _ = runs.run([corrected(runs.documents[0]), *runs.documents[2:5]], steps=steps)
    m = own.manifest("chunks").rows
    assert taken["chunks"] == (2, 4)
    assert "chunks (2 of 4 documents taken from before)" in " ".join(
        runs.lines("chunks")["message"].split()
    )
    for stage in ("recognised", "embeddings"):
        count, of = taken[stage]
        assert of == m
        assert 0.4 * m < count < m, stage
    assert not own.exists("stages", "earlier"), "what was replaced is still there"
    # other settings of the recogniser: what it found counts no more
    taken, _ = runs.run(runs.documents[:1], steps=("recognised",), **{"entities.terms": 9})
    assert taken == {"recognised": (0, m)}


@pytest.mark.slow
def test_the_tables_are_those_of_a_run_from_nothing(runs):
    runs.run(runs.documents[:7])
    now = [corrected(runs.documents[0]), *runs.documents[2:8]]
    taken, contents = runs.run(now)
    fresh, expected = runs.run(now, "fresh", anew=True)
    assert contents == expected
    assert taken["chunks"] == (5, 7)
    assert [count for count, _ in fresh.values()] == [0, 0, 0]

    # the next quarter holds five of them, as they are or corrected, and two others
    later = [*now[2:5], corrected(now[5]), corrected(now[6]), runs.documents[1], runs.documents[8]]
    own = runs.folder / "out" / PERIODS[0]
    before = folder_bytes(own / "stages")
    taken, contents = runs.run(later, period=PERIODS[1])
    assert "(3 of 7 documents taken from 2031Q2)" in runs.lines("chunks")["message"]
    fresh, expected = runs.run(later, "fresh", PERIODS[1], anew=True)
    assert contents == expected
    assert taken["chunks"] == (3, 7)
    assert 0 < taken["recognised"][0] == taken["embeddings"][0] < fresh["embeddings"][1]
    assert folder_bytes(own / "stages") == before, "the earlier quarter is as it was"

    # a folder that is named; one that was damaged is told and not used
    taken, contents = runs.run(later, "other", PERIODS[1], **{"output.reuse": str(own)})
    assert contents == expected
    assert taken["chunks"] == (3, 7)
    part = next((own / "stages" / "embeddings").glob("*.parquet"))
    part.write_bytes(part.read_bytes()[:-9] + b"damaged!!")
    taken, contents = runs.run(later, "again", PERIODS[1], **{"output.reuse": str(own)})
    assert contents == expected
    assert taken["embeddings"][0] == 0 < taken["recognised"][0]
    (warned,) = [w for w in runs.warned if "embeddings" in w]
    assert "has changed since it was finished; nothing is taken from it" in warned


@pytest.mark.slow
@pytest.mark.usefixtures("plain_report")
def test_the_release_is_that_of_a_run_from_nothing(spark, tmp_path, monkeypatch):
    monkeypatch.setenv("NES_SPARK_SEED", SEED)
    documents = records(15)
    corpus = tmp_path / "calls.jsonl"

    def run(folder, listed, **changes):
        corpus.write_text("".join(json.dumps(d) + "\n" for d in listed))
        return nes.run(settings(corpus, tmp_path / folder, **UNATTACKED, **changes), spark)

    run("out", documents[:14])
    now = [corrected(documents[0]), *documents[2:]]
    result = run("out", now)
    assert Store(result.directory).manifest("chunks").details["taken"]["units"] == 12
    anew = run("fresh", now, **{"output.reuse": None})
    first, second = release_bytes(result.directory), release_bytes(anew.directory)
    made = [json.loads(files.pop("release.json")) for files in (first, second)]
    assert first == second
    for name in ("choice", "candidates", "chunk_status", "files", "seed_fingerprint"):
        assert made[0][name] == made[1][name], name
    # who wants all of it done again gets that
    again = nes.run(settings(corpus, tmp_path / "out", **UNATTACKED), spark, force=True)
    assert Store(again.directory).manifest("chunks").details["taken"]["units"] == 0
    assert not Store(again.directory).exists("stages", "earlier")
    assert release_bytes(again.directory)["chunks.jsonl"] == second["chunks.jsonl"]


# -- which tables count, and what becomes of those that are replaced -----------------------------


def finish(store: Store, name: str, content: str, **more) -> None:
    """An output with some content, made from others."""
    inputs = {unit: store.manifest(unit).content for n, unit in UNITS.items() if n == name}

    def fill(folder):
        (folder / "part").write_text(content)
        return {"taken": {"made_with": "today", **more}}

    store.write_artifact(name, "key", fill, inputs)


@pytest.fixture
def own(tmp_path):
    """A run folder with documents and what is made of them."""
    store = Store(tmp_path / "run")
    store.prepare()
    for name in ("documents", *UNITS):
        finish(store, name, f"first {name}")
    return store


def test_only_what_todays_code_and_settings_give_counts(own):
    for name in UNITS:
        assert unusable(own, name, "today") == ""
        assert "other code, settings" in unusable(own, name, "tomorrow")
    own.remove("stages", "documents", "_manifest.json")
    assert unusable(own, "chunks", "today") == "not there"
    assert unusable(own, "embeddings", "today") == ""


def test_a_table_that_was_not_made_from_the_one_beside_it_does_not_count(own):
    finish(own, "chunks", "second chunks")
    assert unusable(own, "chunks", "today") == ""
    assert "not made from" in unusable(own, "recognised", "today")
    finish(own, "documents", "second documents")
    assert "not made from" in unusable(own, "chunks", "today")


@pytest.mark.parametrize("name", ["documents", "chunks"])
def test_files_that_changed_do_not_count(own, name):
    place = own.local_path("stages", name, "part")
    place.write_text(place.read_text()[::-1])
    again = Store(own.root)
    assert unusable(again, "chunks", "today") == f"{name}: part has changed since it was finished"


def replace_one(store: Store, name: str, content: str) -> None:
    set_aside(store, name)
    finish(store, name, content)
    let_go(store)


def test_what_is_replaced_is_kept_until_all_is_there_again(own):
    kept = replaced_tables(own)
    replace_one(own, "documents", "second documents")
    assert kept.manifest("documents") is not None
    set_aside(own, "chunks")
    assert unusable(kept, "chunks", "today") == ""
    finish(own, "chunks", "second chunks")
    for name in ("recognised", "embeddings"):
        set_aside(own, name)
        assert unusable(kept, name, "today") == ""
        finish(own, name, f"second {name}")
        let_go(own)
        assert own.exists("stages", "earlier") == (name == "recognised")
    assert stat.S_IMODE(own.local_path("stages").stat().st_mode) == 0o700


def test_documents_that_come_out_as_they_were_leave_nothing_behind(own):
    replace_one(own, "documents", "first documents")
    assert not own.exists("stages", "earlier")


def test_an_interrupted_run_leaves_what_the_next_one_takes(own):
    """Killed while chunks were made; then the input changes once more."""
    kept = replaced_tables(own)
    replace_one(own, "documents", "second documents")
    set_aside(own, "chunks")  # and killed
    replace_one(own, "documents", "third documents")
    assert unusable(kept, "chunks", "today") == "", "documents that nothing was made of took over"
    set_aside(own, "chunks")
    finish(own, "chunks", "third chunks")
    set_aside(own, "recognised")
    assert unusable(kept, "recognised", "today") == ""


def test_what_cannot_be_moved_is_replaced_with_a_warning(own, monkeypatch, caplog):
    monkeypatch.setattr(Store, "hand_over", lambda *_: False)
    monkeypatch.setattr(logs.LOGGER, "propagate", True)
    replace_one(own, "documents", "second documents")
    assert "cannot keep tables aside" in caplog.text
    assert not own.exists("stages", "earlier")


def test_a_folder_that_is_named_must_hold_something(tmp_path):
    config = nes.load_config(
        config_path(), {"output.reuse": str(tmp_path), "input.path": str(config_path())}
    )
    with pytest.raises(ConfigError, match=r"output\.reuse: .* holds no finished chunks"):
        check_config(config)
