"""``nes-spark audit`` about all released chunks and whole documents of a finished run."""

import csv
import hashlib
import json
import re
import shutil
from pathlib import Path

import pytest
from pyspark.sql import functions as F

import nes_spark as nes
from nes_spark.entities.clues import clue_mentions, read_clue
from nes_spark.errors import GateRefused, InputError
from nes_spark.run.context import Context
from nes_spark.run.inverting import invert_release
from nes_spark.run.language_models import audit_run
from nes_spark.run.listed import (
    CLUES,
    LEAKING,
    NAMED,
    hint,
    list_clues,
    list_leaking,
    listed_clues,
    withheld_chunks,
)
from nes_spark.run.published import CONFIGURATION, PublishedRun, configuration_of
from nes_spark.run.runner import run_stage
from nes_spark.store import Store
from nes_spark.swapping import given_away_stages
from nes_spark.swapping.ledger import read_ledger, release_id
from nes_spark.text import leak_stages
from tests.audit.server import ModelServer
from tests.run.small import UNATTACKED, settings

pytestmark = pytest.mark.usefixtures("seeded")


@pytest.fixture(scope="module")
def run(whole, tmp_path_factory):
    """A copy of a finished run, which an audit writes to."""
    folder = tmp_path_factory.mktemp("asked") / "all"
    shutil.copytree(whole.directory, folder)
    return folder


def asked(run, spark, monkeypatch, name, server=None, told=None, **more):
    """Audit with a model on the loopback; return texts asked about and the result."""
    monkeypatch.setenv("TEST_MODEL_KEY", "key-of-the-tests")
    with ModelServer(**server or {}) as server:
        model = {"name": name, "model": "m", "base_url": server.base_url}
        audit = {"models": [model | {"api_key_env": "TEST_MODEL_KEY"}], **more}
        config = configuration_of(run, None, {f"audit.{k}": v for k, v in audit.items()})
        (found,) = audit_run(run, config, spark, tell=([] if told is None else told).append)
        texts = {r.body["messages"][-1]["content"].partition("\n\n")[2] for r in server.requests}
    return texts, found


@pytest.mark.usefixtures("plain_report")
def test_documents_as_released_and_then_chunks(run, spark, monkeypatch):
    published = PublishedRun(run)
    columns = ["chunk_id", "document_id", "metadata", "text"]
    chunks = published.store.read_pandas("chunks", columns)
    released = dict(published.released_texts())
    of = {
        r["chunk_id"]: release_id(r) for r in read_ledger(published.store, published.config.ledger)
    }
    chunks["after"] = [released.get(of.get(c, ""), "") for c in chunks["chunk_id"]]
    shown = chunks[chunks["after"] != ""].sort_values("chunk_id")
    expected = {
        "\n\n".join(part[column])
        for _, part in shown.groupby("document_id")
        for column in ("text", "after")
    }
    texts, found = asked(run, spark, monkeypatch, "readers", about="documents", answer="name")
    assert texts == expected
    assert found.chunks == found.documents == shown["document_id"].nunique()

    # one that knows whose everything is
    source = shown.set_index("text")["metadata"].to_dict()
    source |= shown.set_index("after")["metadata"].to_dict()
    server = {"answer": lambda messages: source[messages[-1]["content"].partition("\n\n")[2]]}
    told = []
    texts, found = asked(
        run, spark, monkeypatch, "others", server, told, about="chunks", answer="name", sample=20
    )
    assert found.chunks == 20
    assert texts <= {*shown["text"], *shown["after"]}
    path = run / Path(*NAMED)
    assert told[-1].startswith("20 of 20 chunks asked about are named") and str(path) in told[-1]
    assert path.stat().st_mode & 0o077 == 0
    listed = list(csv.DictReader(path.open()))
    text = chunks.set_index("chunk_id")["text"]
    assert [row["digest"] for row in listed] == [
        hashlib.sha256(text[row["chunk_id"]].encode()).hexdigest() for row in listed
    ]
    assert {text[row["chunk_id"]] for row in listed} == texts & {*text}
    # What a model of another name has said of the same release stays.
    record = json.loads((run / "release" / "release.json").read_text())
    told = {r["model"]: r["about"] for r in record["audit"]["language_models"]}
    assert told == {"readers": "documents", "others": "chunks"}


def released(run):
    return [
        json.loads(line)["text"]
        for file in sorted((run / "release").glob("chunks*.jsonl"))
        for line in file.read_text().splitlines()
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("plain_report")
def test_what_a_model_names_can_be_left_out(finished, spark, monkeypatch, tmp_path):
    config, result = finished
    run = tmp_path / "out" / "all"
    shutil.copytree(result.directory, run)
    chunks = result.table("chunks").set_index("chunk_id")
    company = chunks["metadata"].iloc[0]
    told = []
    # who tells when a text is from names nobody
    when = {"answer": lambda messages: "2031Q2"}
    asked(run, spark, monkeypatch, "when", when, told, about="chunks", answer="period", sample=5)
    assert not (run / Path(*NAMED)).exists() and not any("named" in line for line in told)
    # a model that takes every text for one company's
    server = {"answer": lambda messages: company}
    _, found = asked(
        run, spark, monkeypatch, "one", server, told, about="chunks", answer="name", sample=90
    )
    listed = list(csv.DictReader((run / Path(*NAMED)).open()))
    named = [row["chunk_id"] for row in listed]
    assert named == sorted(named) and 0 < len(named) == round(found.post.mean * found.chunks)
    assert {chunks["metadata"][c] for c in named} == {company}
    path = str(run / Path(*NAMED))
    assert f"{len(named)} of {found.chunks} chunks" in told[-1] and path in told[-1]

    more = {"output.withhold": path, "ledger.keep_originals": True}
    again = nes.run(settings(Path(config.input.path), run.parent, **UNATTACKED, **more), spark)
    assert again.status == "published"
    before, after = released(Path(result.directory)), released(run)
    assert len(after) == len(before) - len(named)
    assert set(after) <= set(before)
    record = json.loads((run / "release" / "release.json").read_text())
    assert record["withheld"] == record["chunk_status"]["dropped"] == len(named)
    assert sum(record["chunk_status"].values()) == len(chunks)
    # nobody is asked about them again, and what was withheld stays so
    later, _ = asked(
        run, spark, monkeypatch, "one", server, about="chunks", answer="name", sample=90
    )
    assert not later & {chunks["text"][c] for c in named}
    longer = [row["chunk_id"] for row in csv.DictReader((run / Path(*NAMED)).open())]
    assert set(named) <= set(longer)
    # nor after a run was begun without the list, and did not come so far as to publish
    written = run / Path(*CONFIGURATION)
    content = written.read_bytes()
    begun = json.loads(content)
    begun["output"]["withhold"] = None
    written.write_text(json.dumps(begun))
    with pytest.raises(InputError, match=r"another run was begun since .* run it again first"):
        asked(run, spark, monkeypatch, "one", server, about="chunks", answer="name", sample=90)
    written.write_bytes(content)
    # the ledger has their texts
    assert invert_release(run, tmp_path / "restored.jsonl") == len(chunks)
    restored = [json.loads(line) for line in (tmp_path / "restored.jsonl").read_text().splitlines()]
    assert {row["chunk_id"]: row["text"] for row in restored} == chunks["text"].to_dict()


class Retelling:
    """A run of which four listed chunks are retold by a model on the loopback."""

    def __init__(self, finished, spark, tmp_path, server):
        config, result = finished
        self.spark, self.input, self.server = spark, Path(config.input.path), server
        self.run = tmp_path / "out" / "all"
        shutil.copytree(result.directory, self.run)
        chunks = result.table("chunks").set_index("chunk_id")
        mentions = result.table("mentions").query("category == 'Organization'")
        self.chunks = chunks = chunks[chunks["text"].str.len() > 80].drop_duplicates("text")
        named = mentions[mentions["chunk_id"].isin(chunks.index)]
        self.barred, name = named[["chunk_id", "surface"]].iloc[0]
        self.good, self.other, self.plain = [c for c in chunks.index if c != self.barred][:3]
        self.before = {r["chunk_id"]: t for r, t in texts_of(Path(result.directory))}
        self.told = {
            self.before[self.good]: "They did well.",
            self.before[self.barred]: f"It is {name}.",
            self.before[self.other]: "Fine.",
            # without a brief summary its chunk is left out, whatever the first one was
            self.before[self.plain]: "Nobody knows.",
            "Nobody knows.": "",
        }
        self.listed = tmp_path / "listed.csv"
        rows = (f"{self.good},", f"{self.barred},", f"{self.other},", f"{self.plain},brief")
        self.listed.write_text("".join(f"{row}\n" for row in ("chunk_id,instead", *rows)))

    def summary(self, messages):
        return self.told[messages[-1]["content"].partition("\n\n")[2]]

    def again(self, path, **more):
        """Run once more with a list; return the result, the record and the released texts."""
        model = {"name": "writer", "model": "m", "base_url": self.server.base_url}
        more |= {
            "output.withhold": str(path), "output.instead": "summary",
            "audit.models": [model | {"api_key_env": "TEST_MODEL_KEY"}],
        }  # fmt: skip
        found = nes.run(settings(self.input, self.run.parent, **UNATTACKED, **more), self.spark)
        record = json.loads((self.run / "release" / "release.json").read_text())
        return found, record, {r["chunk_id"]: t for r, t in texts_of(self.run)}


@pytest.fixture
def retelling(finished, spark, monkeypatch, tmp_path):
    monkeypatch.setenv("TEST_MODEL_KEY", "key-of-the-tests")
    with ModelServer(answer=lambda messages: made.summary(messages)) as server:
        made = Retelling(finished, spark, tmp_path, server)
        yield made


@pytest.mark.usefixtures("plain_report")
def test_of_what_a_model_names_a_summary_is_published(retelling, finished, tmp_path):
    run, chunks, result = retelling.run, retelling.chunks, finished[1]
    good, other = retelling.good, retelling.other
    found, record, after = retelling.again(retelling.listed, **{"ledger.keep_originals": True})
    assert found.status == "published" and len(retelling.server.requests) == 5
    assert after == {
        c: {good: "They did well.", other: "Fine."}.get(c, text)
        for c, text in retelling.before.items()
        if c not in (retelling.barred, retelling.plain)
    }
    assert (record["withheld"], record["summarised"]) == (2, 2)
    assert record["chunk_status"]["summarised"] == 2 and record["chunk_status"]["dropped"] == 2
    assert sum(record["chunk_status"].values()) == len(result.table("chunks"))
    words = int(chunks["n_words"][[good, other]].sum())
    assert found.figures["summarised"] == {"chunks": 2, "words": words, "told": 4}
    assert f"of their {words:,} words the summaries have 4" in found.summary()
    whole = {r["chunk_id"]: r.get("whole") for r, _ in texts_of(run)}
    assert whole[good] == whole[other] == "summary"
    assert invert_release(run, tmp_path / "restored.jsonl") == len(result.table("chunks"))
    rows = map(json.loads, (tmp_path / "restored.jsonl").read_text().splitlines())
    originals = result.table("chunks").set_index("chunk_id")["text"].to_dict()
    assert {row["chunk_id"]: row["text"] for row in rows} == originals


@pytest.mark.slow
@pytest.mark.usefixtures("plain_report")
def test_a_summary_that_is_named_is_told_shorter_and_then_left_out(retelling, spark, monkeypatch):
    run, chunks, server = retelling.run, retelling.chunks, retelling.server
    told, before = retelling.told, retelling.before
    good, other = retelling.good, retelling.other
    barred, plain = retelling.barred, retelling.plain
    _, _, after = retelling.again(retelling.listed)

    # A model that names one of the summaries, and another chunk: the first goes.
    third = next(c for c in chunks.index if c not in (good, other) and c in after)
    source = {
        after[c]: chunks["metadata"][c] for c in (other, third)
    } | {chunks["text"][c]: "nobody" for c in chunks.index}  # fmt: skip
    reader = {"answer": lambda m: source.get(m[-1]["content"].partition("\n\n")[2], "nobody")}
    seen, _ = asked(run, spark, monkeypatch, "one", reader, about="chunks", answer="name")
    assert {"They did well.", "Fine."} <= seen and before[other] not in seen
    rows = {r["chunk_id"]: r["instead"] for r in csv.DictReader((run / Path(*NAMED)).open())}
    assert rows == {good: "", barred: "", other: "brief", plain: "brief", third: ""}
    told |= {before[third]: "So be it.", "Fine.": "Ok."}
    _, record, last = retelling.again(run / Path(*NAMED))
    # answers are kept, and the summary of a summary has a quarter of the words
    *_, one, two = (r.body["messages"][-1]["content"] for r in server.requests)
    assert len(server.requests) == 7
    assert {one.rpartition("\n\n")[2], two.rpartition("\n\n")[2]} == {before[third], "Fine."}
    assert "no more than 20 words" in two and "no more than 80 words" in one
    assert {c for c in before if c not in last} == {barred, plain}
    assert [last[c] for c in (good, third, other)] == ["They did well.", "So be it.", "Ok."]
    assert (record["withheld"], record["summarised"]) == (2, 3)
    # the swapped chunks alone: a summary is asked about as it is published
    swapped = {r["chunk_id"] for r, _ in texts_of(run) if r["partner_id"]}
    shown, _ = asked(
        run, spark, monkeypatch, "two", reader, about="swapped", answer="name", draws=1
    )
    for chunk, text in (("They did well.", good), ("Ok.", other), ("So be it.", third)):
        assert (chunk in shown) is (text in swapped)
    # another run has begun since: its summaries are none of this release
    store = Store(run)
    rows = [tuple(row) for row in store.read_table(spark, "withheld").collect()]
    store.write_table("withheld", rows, "another key")
    with pytest.raises(InputError, match=r"another run was begun since .* run it again first"):
        asked(run, spark, monkeypatch, "one", reader, about="chunks", answer="name")
    _, _, same = retelling.again(run / Path(*NAMED))
    assert same == last and len(server.requests) == 7
    # and one that is named even so goes
    source["Ok."] = chunks["metadata"][other]
    asked(run, spark, monkeypatch, "one", reader, about="chunks", answer="name")
    rows = {r["chunk_id"]: r["instead"] for r in csv.DictReader((run / Path(*NAMED)).open())}
    assert rows == {good: "", barred: "", other: "nothing", plain: "brief", third: ""}


@pytest.mark.slow
@pytest.mark.usefixtures("plain_report")
def test_a_release_of_refused_summaries_alone_is_none(finished, spark, monkeypatch, tmp_path):
    config, result = finished
    run = tmp_path / "out" / "all"
    shutil.copytree(result.directory, run)
    listed = tmp_path / "listed.csv"
    listed.write_text("\n".join(["chunk_id", *result.table("chunks")["chunk_id"]]))
    monkeypatch.setenv("TEST_MODEL_KEY", "key-of-the-tests")
    with ModelServer(answer=lambda messages: "") as server:
        model = {"name": "writer", "model": "m", "base_url": server.base_url}
        more = {
            "output.withhold": str(listed), "output.instead": "summary",
            "audit.models": [model | {"api_key_env": "TEST_MODEL_KEY"}],
            "releases.summary": {"model": "writer"},
        }  # fmt: skip
        asked = settings(Path(config.input.path), run.parent, **UNATTACKED, **more)
        with pytest.raises(InputError, match="no summary was accepted and nothing else is left"):
            nes.run(asked, spark)
    # an audit by other models needs no writer
    Store(run).write_bytes(asked.model_dump_json().encode(), *CONFIGURATION)
    models = [model | {"name": "reader", "api_key_env": "TEST_MODEL_KEY"}]
    assert configuration_of(run, None, {"audit.models": models}).audit.models[0].name == "reader"


def texts_of(run):
    """Rows of the ledger that are published, with their texts."""
    published = PublishedRun(run)
    texts = dict(published.released_texts())
    for row in read_ledger(published.store, published.config.ledger):
        if release_id(row) in texts:
            yield row, texts[release_id(row)]


@pytest.mark.usefixtures("plain_report")
def test_what_told_a_model_is_replaced(finished, spark, monkeypatch, tmp_path):
    config, result = finished
    run = tmp_path / "out" / "all"
    shutil.copytree(result.directory, run)
    chunks = result.table("chunks").set_index("chunk_id")
    company = chunks["metadata"].iloc[0]

    def answer(messages):
        """Take every text for one company's, by its longest words."""
        question, _, text = messages[-1]["content"].partition("\n\n")
        if "You recognised it" not in question:
            return company
        assert company in question
        words = re.findall(r"(?<![\w\[])[a-z]{5,}(?![\w\]])", text)
        return "\n".join(sorted(words, key=len)[-8:])

    told = []
    more = {"about": "chunks", "answer": "name"}
    asked(run, spark, monkeypatch, "one", {"answer": answer}, told, clues=True, sample=40, **more)
    path = run / Path(*CLUES)
    rows = list(csv.DictReader(path.open()))
    named = [row["chunk_id"] for row in csv.DictReader((run / Path(*NAMED)).open())]
    assert {row["chunk_id"] for row in rows} <= {*named} and len(rows) > 5
    assert path.stat().st_mode & 0o077 == 0
    assert all(
        r["digest"] == hashlib.sha256(chunks["text"][r["chunk_id"]].encode()).hexdigest()
        for r in rows
    )
    assert f"--set entities.clues={path}" in told[-1] and told[-1].startswith(f"{len(rows)} pieces")
    store = Store(run)
    before = {name: store.manifest(name).key for name in ("chunks", "recognised", "mentions")}

    with_clues = {"entities.clues": str(path)}
    again = nes.run(
        settings(Path(config.input.path), run.parent, **UNATTACKED, **with_clues), spark
    )
    assert again.status == "published"
    # names are not recognised anew for that
    after = {name: store.manifest(name).key for name in before}
    assert {name for name in before if before[name] != after[name]} == {"mentions"}
    found = again.table("mentions").query("category == 'Clue'")
    owner = chunks["document_id"]
    told_of = {owner[row["chunk_id"]] for row in rows}
    assert {owner[c] for c in found["chunk_id"]} == told_of
    assert not found["chunk_id"].isin({row["chunk_id"] for row in rows}).all()
    everywhere = {
        (owner[row["chunk_id"]], clue)
        for row in rows
        for clue in read_clue(row["clue"], chunks["text"][row["chunk_id"]])
        if clue.wide
    }
    texts = {row["chunk_id"]: text for row, text in texts_of(run)}
    for document, clue in everywhere:
        for chunk in owner.index[owner == document]:
            if clue_mentions(chunks["text"][chunk], [clue.words]):
                assert "[Term]" in texts[chunk]
                assert not clue_mentions(texts[chunk], [clue.words])
    # a second round keeps what the first one found, and asks about no clue that is gone
    asked(run, spark, monkeypatch, "one", {"answer": answer}, told, clues=True, sample=40, **more)
    longer = {(r["chunk_id"], r["clue"]) for r in csv.DictReader(path.open())}
    assert longer > {(r["chunk_id"], r["clue"]) for r in rows}
    # the ledger has all of it
    assert invert_release(run, tmp_path / "restored.jsonl") == len(chunks)
    restored = [json.loads(line) for line in (tmp_path / "restored.jsonl").read_text().splitlines()]
    assert {row["chunk_id"]: row["text"] for row in restored} == chunks["text"].to_dict()


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("chunk_id,clue,digest\n{first},cement,{other}\n", "a list for other texts: 1 of its"),
        ("chunk_id,clue\nnobody#00000,cement\n", "lists no chunk and no metadata of this run"),
        (
            "chunk_id,metadata,clue\nnobody#00000,Nobody Inc.,cement\n",
            "lists no chunk and no metadata of this run",
        ),
        ("chunk_id\n{first}\n", "has no column clue"),
    ],
)
def test_clues_of_something_else_are_refused(finished, spark, tmp_path, rows, said):
    config, result = finished
    path = tmp_path / "clues.csv"
    path.write_text(rows.format(first=result.table("chunks")["chunk_id"].iloc[0], other="0" * 64))
    entities = config.entities.model_copy(update={"clues": str(path)})
    with pytest.raises(InputError, match=f"entities.clues: .*{said}"):
        run_stage(config.model_copy(update={"entities": entities}), "chunks", spark)


COLUMNS = ("chunk_id", "digest", "metadata", "clue")


def written(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])


def given_clues(spark, config, directory, path):
    """Return a context of a finished run that is given a list of clues."""
    entities = config.entities.model_copy(update={"clues": path and str(path)})
    config = config.model_copy(update={"entities": entities})
    return Context(spark, config, Store(directory), b"", "")


def test_clues_of_an_earlier_quarter_are_those_of_the_company(finished, spark, tmp_path, caplog):
    config, result = finished
    chunk, company = result.table("chunks")[["chunk_id", "metadata"]].iloc[0]
    path = tmp_path / "clues.csv"
    written(
        path,
        [
            ("earlier#00001", "0" * 64, company, "ready mix"),
            ("earlier#00002", "0" * 64, company, "ready mix"),
            ("earlier#00003", "0" * 64, "Nobody Inc.", "kilns"),
            ("", "", f"{company}s", "kilns"),
            ("gone#00001", "", "", "kilns"),
            (chunk, "", company, "tires, and brakes"),
            # one's own; what is told twice, or nothing, is counted once or not
            ("", "", company, "737"),
            (chunk, "", company, "tires, and brakes"),
            (chunk, "", company, " "),
        ],
    )
    context = given_clues(spark, config, result.directory, path)
    found = [tuple(row) for row in listed_clues(context, warn=True).collect()]
    assert sorted(found, key=str) == sorted(
        [
            ("earlier#00001", company, "ready mix"),
            ("earlier#00002", company, "ready mix"),
            (chunk, company, "tires, and brakes"),
            (None, company, "737"),
        ],
        key=str,
    )
    assert "3 of 7 clues are not of this run: " in caplog.text
    assert f"{hint(company + 's')}, almost {hint(company)} here" in caplog.text
    assert hint("Nobody Inc.") in caplog.text and "gone#" not in caplog.text
    # what is secret stands in no log
    assert company not in caplog.text
    written(path, [("", "", f"{company}s", "kilns")])
    with pytest.raises(InputError, match=r"no metadata of this run, but .*, almost .* here"):
        listed_clues(context, warn=True)


def test_a_list_holds_all_that_was_listed_before(finished, spark, tmp_path):
    config, result = finished
    run = tmp_path / "all"
    (run / "sealed").mkdir(parents=True)
    shutil.copytree(Path(result.directory) / "stages", run / "stages")
    chunks = result.table("chunks").sort_values("chunk_id")
    (first, other, third), company = chunks["chunk_id"].iloc[:3], chunks["metadata"].iloc[0]
    of = chunks.set_index("chunk_id")
    digest = {c: hashlib.sha256(of["text"][c].encode()).hexdigest() for c in (first, other, third)}

    def row(chunk, clue):
        return chunk, digest[chunk], of["metadata"][chunk], clue

    kept = [
        # an earlier quarter's, single words too, and those of companies that are not here
        ("earlier#00001", "1" * 64, company, "grew"),
        ("earlier#00002", "2" * 64, "Nobody Inc.", "kilns"),
        ("earlier#00003", "", "", "sand"),
        ("", "", company, "737"),
        ("", "", "Nobody Inc.", "5G"),
    ]
    path = tmp_path / "given.csv"
    written(path, [*kept, (first, "", "", "mix, as given")])
    context = given_clues(spark, config, run, path)

    def listed(*told):
        frame = spark.createDataFrame([*told], "chunk_id string, clue string")
        counts = list_clues(context, frame)
        with (run / Path(*CLUES)).open(newline="") as file:
            (head, *rows) = [tuple(r) for r in csv.reader(file)]
        assert head == COLUMNS and rows == sorted(set(rows))
        return counts, set(rows)

    expected = {*kept, row(first, "mix, as given"), row(first, "one"), row(other, "one")}
    assert listed((first, "one"), (other, "one")) == ((2, 2), expected)
    # another model's list has the first one's, but for those of a text that is another now
    with (run / Path(*CLUES)).open("a", newline="") as file:
        csv.writer(file).writerow((third, "3" * 64, company, "gone"))
    expected |= {row(first, "another")}
    assert listed((first, "another")) == ((3, 2), expected)
    # it is one for this run
    again = given_clues(spark, config, run, run / Path(*CLUES))
    found = {tuple(r) for r in listed_clues(again, warn=True).collect()}
    assert found == {
        (c or None, m, clue) for c, _, m, clue in expected if m not in ("", "Nobody Inc.")
    }
    # without anything told it stays as it is
    assert listed() == ((0, 0), expected)


def test_clues_that_stand_nowhere_are_told(finished, spark, tmp_path, caplog):
    config, result = finished
    run = tmp_path / "out" / "all"
    shutil.copytree(result.directory, run)
    path = tmp_path / "clues.csv"
    chunk, text = result.table("chunks")[["chunk_id", "text"]].iloc[0]
    path.write_text(f"chunk_id,clue\n{chunk},xyzzy plugh\n")
    given = settings(Path(config.input.path), run.parent, **{"entities.clues": str(path)})
    run_stage(given, "mentions", spark)
    assert "none of what it lists stands in a text of this run" in caplog.text
    word = max(re.findall("[a-z]+", re.sub(r"\[[^]]*\]", "", text)), key=len)
    path.write_text(f"chunk_id,clue\n{chunk},xyzzy plugh\n{chunk},{word}\n{chunk},plugh\n")
    run_stage(given, "mentions", spark)
    assert "2 of the clues listed stand nowhere in their chunk any more" in caplog.text
    assert "of their metadata: 2 of 1 chunks\n" in caplog.text


def test_what_is_left_is_quoted_for_its_owner_alone(finished, spark, tmp_path):
    config, result = finished
    run = tmp_path / "all"
    (run / "sealed").mkdir(parents=True)
    shutil.copytree(Path(result.directory) / "stages", run / "stages")
    facts = ["chunk_id", "document_id", "metadata"]
    chunk, document, company = result.table("chunks")[facts].iloc[0]
    store = Store(run)
    store.write_table("leaks", [(chunk, document, document, "company", "name", 1)], "a key")
    store.write_table("given_away", [(chunk, "Zentrix")], "a key")
    context = Context(spark, config, store, b"", "")
    texts = [(chunk, document, f"We at {company} grew."), ("other", document, f"{company} fell.")]
    assembled = spark.createDataFrame(texts, "chunk_id string, document_id string, text string")
    assert list_leaking(context, assembled) == 1
    path = run / Path(*LEAKING)
    (row,) = csv.DictReader(path.open())
    assert row["chunk_id"] == chunk and row["found"] == f"{company}; Zentrix"
    assert path.stat().st_mode & 0o077 == 0
    # and the list is one that leaves the chunk out
    output = config.output.model_copy(update={"withhold": str(path)})
    context = Context(spark, config.model_copy(update={"output": output}), store, b"", "")
    assert [r["chunk_id"] for r in withheld_chunks(context).collect()] == [chunk]


@pytest.mark.usefixtures("plain_report")
def test_chunks_that_keep_or_give_away_a_name_can_be_left_out(
    finished, spark, monkeypatch, tmp_path
):
    """Of both in one run: each gate refuses and lists by itself, and a run of each takes long."""
    config, result = finished
    run = tmp_path / "out" / "all"
    shutil.copytree(result.directory, run)
    texts = result.table("chunks").set_index("chunk_id")["text"]
    status = result.table("status")
    giving = min(status.loc[status["status"] == "swapped", "chunk_id"])
    leaking = [c for c in sorted(texts.index) if c != giving][3:5]
    search, search_given_away = leak_stages.find_leaks, given_away_stages.find_given_away

    def found(released, index, identifiers):
        """As if a name of their own were left in two chunks for as long as they have a text."""
        more = released.where(F.col("chunk_id").isin(leaking) & (F.col("text") != "")).select(
            "chunk_id",
            "document_id",
            F.col("document_id").alias("identifier_document_id"),
            F.lit("person").alias("kind"),
            F.lit("part").alias("rule"),
            F.lit(1).alias("n"),
        )
        return search(released, index, identifiers).unionByName(more)

    def found_given_away(changed, *others):
        """As if a name were left in one chunk for as long as it is released."""
        left = changed.where(F.col("chunk_id") == giving).select("chunk_id", F.lit("Zentrix"))
        return search_given_away(changed, *others).union(left)

    monkeypatch.setattr(leak_stages, "find_leaks", found)
    monkeypatch.setattr(given_away_stages, "find_given_away", found_given_away)
    listed = run / Path(*LEAKING)
    more = {"gates.min_swaps": 1}  # another configuration: the release is made again
    with pytest.raises(GateRefused, match="still found: 2 person") as refused:
        nes.run(settings(Path(config.input.path), run.parent, **UNATTACKED, **more), spark)
    assert "names given away: 1 words" in str(refused.value)
    assert f"leave out the 3 chunks that it is in: --set output.withhold={listed}" in str(
        refused.value
    )
    assert listed.stat().st_mode & 0o077 == 0
    assert list(csv.DictReader(listed.open())) == [
        {
            "chunk_id": c,
            "digest": hashlib.sha256(texts[c].encode()).hexdigest(),
            "instead": "",
            # of the others the search was made to find what is not there
            "found": "Zentrix" if c == giving else "",
        }
        for c in sorted([giving, *leaking])
    ]
    more |= {"output.withhold": str(listed)}
    again = nes.run(settings(Path(config.input.path), run.parent, **UNATTACKED, **more), spark)
    assert again.status == "published"
    assert len(released(run)) == len(released(Path(result.directory))) - 3
    assert json.loads((run / "release" / "release.json").read_text())["withheld"] == 3
    # how much is left is said first
    words = result.table("chunks").set_index("chunk_id")["n_words"]
    gone = int(words[[giving, *leaking]].sum())
    assert again.figures["left_out"] == {"chunks": 3, "words": gone}
    said = f"{len(words) - 3} of {len(words)}, with {1 - gone / words.sum():.0%} of the words"
    assert "left out" in again.summary() and said in again.summary()
    assert "left_out" not in result.figures


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("chunk_id,digest\n{first},{other}\n", "a list for other texts: 1 of its digests"),
        ("chunk_id\nnobody#00000\n", "lists no chunk of this run"),
        ("chunk_id,instead\n{first},drop\n", "has 'drop' in its column 'instead'; allowed: 'brief"),
        ("chunk_id,instead\n{first},We sell.\n", "has something else in its column 'instead'"),
        ("chunk_id\n{all}\n", "lists all chunks: nothing is left to publish"),
    ],
)
def test_a_list_that_withholds_something_else_is_refused(finished, spark, tmp_path, rows, said):
    config, result = finished
    ids = result.table("chunks")["chunk_id"].tolist()
    path = tmp_path / "listed.csv"
    path.write_text(rows.format(first=ids[0], other="0" * 64, all="\n".join(ids)))
    output = config.output.model_copy(update={"withhold": str(path)})
    context = Context(
        spark, config.model_copy(update={"output": output}), Store(result.directory), b"", ""
    )
    with pytest.raises(InputError, match=f"output.withhold: .*{said}"):
        withheld_chunks(context)


def test_tables_beside_the_input_are_looked_at_before_the_long_work(finished, spark, tmp_path):
    config, _ = finished
    listed, words = tmp_path / "listed.csv", tmp_path / "words.csv"
    listed.write_text("chunk_id\nnobody#00000\n")
    words.write_text("metadata,words\nNobody Inc.,Widgetron\n")
    output = config.output.model_copy(update={"withhold": str(listed)})
    with pytest.raises(InputError, match=r"output\.withhold: .* lists no chunk of this run"):
        run_stage(config.model_copy(update={"output": output}), "chunks", spark)
    audit = config.audit.model_copy(update={"public_words": str(words)})
    asked = audit.model_copy(update={"linkage": True, "documents": True})
    with pytest.raises(InputError, match=r"audit\.public_words: .* names none"):
        run_stage(config.model_copy(update={"audit": asked}), "chunks", spark)
    few = asked.model_copy(update={"max_documents": 2})
    with pytest.raises(InputError, match=r"audit\.public_words: .* raise that or leave it out"):
        run_stage(config.model_copy(update={"audit": few}), "chunks", spark)
    unasked = audit.model_copy(update={"documents": False})
    assert run_stage(config.model_copy(update={"audit": unasked}), "chunks", spark)


def test_a_list_may_know_chunks_of_other_runs(finished, spark, tmp_path):
    config, result = finished
    first, second, *_ = result.table("chunks")["chunk_id"]
    path = tmp_path / "listed.jsonl"
    listed = [{"chunk_id": c} for c in (second, first, first, "nobody#00000")]
    path.write_text("".join(json.dumps(row) + "\n" for row in listed))
    output = config.output.model_copy(update={"withhold": str(path)})
    context = Context(
        spark, config.model_copy(update={"output": output}), Store(result.directory), b"", ""
    )
    found = withheld_chunks(context)
    assert sorted(map(tuple, found.collect())) == sorted([(first, "nothing"), (second, "nothing")])
    # of the first no summary either, says one row of two
    path.write_text(path.read_text() + json.dumps({"chunk_id": first, "instead": "nothing"}) + "\n")
    output = output.model_copy(update={"instead": "summary"})
    context = Context(
        spark, config.model_copy(update={"output": output}), Store(result.directory), b"", ""
    )
    found = sorted(map(tuple, withheld_chunks(context).collect()))
    assert found == sorted([(first, "nothing"), (second, "summary")])
    assert withheld_chunks(Context(spark, config, Store(result.directory), b"", "")) is None
