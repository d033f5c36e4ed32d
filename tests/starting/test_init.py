"""A look at files of one's own, and the configuration that is written for them."""

import csv
import gzip
import json
import random
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from click.testing import CliRunner

from nes_spark import cli
from nes_spark.config import build_config, load_config
from nes_spark.config.hiding import further_steps
from nes_spark.errors import ConfigError, InputError
from nes_spark.run.checks import check_config
from nes_spark.starting.examples import EXAMPLES
from nes_spark.starting.init import initialize
from nes_spark.starting.looking import SAMPLE, look_at
from nes_spark.starting.proposing import Told, kind_of, propose
from nes_spark.starting.writing import components_for, read_back

COURTS = ("High Court of Arvenmoor", "Tessaly District Court", "Regional Court Ostermere")
JUDGES = ("Helena Marsh", "Tobias Quill", "Ingrid Sollert", "Pavel Denholm")
PARTIES = ("Orrin Blake", "Selma Voight", "Dennis Hartnell", "Mara Kessling", "Jonas Weatherby")
FIRMS = ("Calder Timber Ltd", "Northgate Dairy Group", "Silverline Ferries", "Hollins & Pratt")
PLACES = ("Port Callum", "Winterbourne", "Eastmere", "Larkhill")
SENTENCES = (
    "This is an appeal against the judgment that Judge {judge} of the {court} gave last May.",
    "The claimant, {party}, bought a tractor from {firm} in {place} and says that it failed.",
    "The defendant argues that {party} had read the manual, which {firm} had sent to {place}.",
    "Judge {judge} found that the contract was concluded in {place} and that its law applies.",
    "Counsel for {firm} relied on an older decision, but the facts of that case were different.",
    "The costs of the expert from {place} are to be borne by {party}, as the {court} held.",
    "For these reasons the appeal is dismissed, and {firm} may recover its costs.",
)
#: In a text and in no name of a column: must never be shown.
TELLTALE = "Arvenmoor"
TOLD = {"secret": "court", "identifiers": ("judge=judge", "party=parties"), "period": "year"}


def rulings(count=40):
    rng = random.Random(11)
    for i in range(count):
        court, judge = rng.choice(COURTS), rng.choice(JUDGES)
        parties = rng.sample(PARTIES, 2)
        text = " ".join(
            s.format(
                court=court, judge=judge.split()[1], party=rng.choice(parties),
                firm=rng.choice(FIRMS), place=rng.choice(PLACES),
            )
            for s in rng.sample(SENTENCES, 6)
        )  # fmt: skip
        yield {
            "case_no": f"C-{1000 + i}", "court": court, "year": str(2018 + i % 2), "judge": judge,
            "parties": "; ".join(parties), "ruling": text,
        }  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("court") / "rulings.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = list(rulings())
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def as_files(tmp_path, rows):
    """A folder of texts and the table that says whose each is."""
    folder, listed = tmp_path / "texts", tmp_path / "files.csv"
    folder.mkdir()
    for row in rows:
        (folder / f"{row['case_no']}.txt").write_text(row["ruling"])
    with listed.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["file", "court", "judge"])
        writer.writerows([f"{r['case_no']}.txt", r["court"], r["judge"]] for r in rows)
    return folder, listed


def init(*arguments, **more):
    return CliRunner().invoke(cli.main, ["init", *map(str, arguments)], **more)


def test_the_written_configuration_loads_and_declares_every_kind(table, tmp_path):
    target = tmp_path / "court.yaml"
    done = init(
        table, "--secret", "court", "--period", "year", "--identifier", "judge=judge",
        "--identifier", "party=parties", "--output", target,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    config = load_config(target)
    check_config(config)
    columns = config.input.columns
    assert (columns.document_id, columns.metadata, columns.text) == ("case_no", "court", "ruling")
    assert columns.period == "year"
    assert columns.identifiers == {"court": ["court"], "judge": ["judge"], "party": ["parties"]}
    rules = {kind: found.rule for kind, found in config.identifiers.kinds.items()}
    assert rules | {"court": "company", "judge": "person", "party": "person"} == rules
    assert {"url", "email", "phone", "security"} <= set(rules)
    assert config.identifiers.kinds["judge"].placeholder == "[Judge #]"
    # people whom a text presents are no judges: they go by the first kind of people
    assert next(iter(rules)) == "person"
    assert config.identifiers.kinds["person"].placeholder == "[Person #]"
    assert config.presentation.method == "none"
    assert config.releases.plan == "whole"

    done = init(
        table, "--secret", "court", "--identifier", "party=parties", "--identifier", "person=judge",
        "--output", target, "--force",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    kinds = load_config(target).identifiers.kinds
    # nobody is an executive where no call is; whoever is called a person is the first one
    assert next(iter(kinds)) == "person" and kinds["person"].placeholder == "[Person #]"


def test_lines_for_figures_and_terms_stand_ready(table, tmp_path):
    target = tmp_path / "court.yaml"
    told = TOLD | {"against": "names"}
    initialize([str(table)], told, output=str(target), tell=lambda _: None)
    assert not load_config(target).releases.further
    ready = re.sub(r"(?m)^  categories: .*, Name\]\n", "", target.read_text())
    ready = re.sub(r"(?m)^  # (?=(?:categories|terms|further|donors): )", "  ", ready)
    found = read_back(ready)
    check_config(found)
    assert found.releases.further == ["Quantity", "Term"] and found.releases.donors == 96
    assert found.entities.terms == 5 and {"Quantity", "Term"} <= {*found.entities.categories}


def test_the_plan_of_the_written_configuration_is_told(table, tmp_path):
    target = tmp_path / "court.yaml"
    initialize([str(table)], TOLD, output=str(target), tell=lambda _: None)
    done = CliRunner().invoke(cli.main, ["run", str(target), "--plan"])
    assert done.exit_code == 0, done.output
    assert "documents" in done.output


def test_every_document_is_read_with_the_written_configuration(spark, table, tmp_path):
    from nes_spark.text.reading_stages import read_documents

    target = tmp_path / "court.yaml"
    initialize([str(table)], TOLD, output=str(target), tell=lambda _: None)
    config = load_config(target)
    documents, quarantine = read_documents(
        spark, config.input, config.presentation, config.identifiers
    )
    found = documents.collect()
    assert len(found) == 40
    assert quarantine.count() == 0
    assert {row["metadata"] for row in found} == set(COURTS)
    kinds = {i["kind"] for row in found for i in row["identifiers"]}
    assert {"court", "judge", "party"} <= kinds
    folder, listed = as_files(tmp_path, list(rulings(6)))
    told = {"secret": "court", "identifiers": ("judge=judge",)}
    initialize([str(folder)], told, str(listed), output=str(tmp_path / "t.yaml"), tell=str)
    config = load_config(tmp_path / "t.yaml")
    documents, quarantine = read_documents(
        spark, config.input, config.presentation, config.identifiers
    )
    found = {row["document_id"] for row in documents.collect()}
    assert found == {p.stem for p in folder.iterdir()}
    assert quarantine.count() == 0


def test_no_text_and_no_value_is_shown(table, tmp_path):
    done = init(table, "--secret", "court", "--no-identifiers", "--output", tmp_path / "a.yaml")
    assert done.exit_code == 0, done.output
    written = (tmp_path / "a.yaml").read_text()
    for shown in (done.output, written):
        for value in (TELLTALE, *COURTS, *JUDGES, *PARTIES, *PLACES, "appeal", "C-1000"):
            assert value not in shown
    for words in ("40 records", "100% look like English", "in the text of"):
        assert words in done.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--secret is missing"),
        (("--secret", "court"), "--identifier is missing: values of judge, parties stand in"),
        (("--secret", "curt"), "--secret curt: no such column; there are case_no, court"),
        (("--secret", "ruling"), "holds text, not one value a document"),
        (("--secret", "court", "--id", "court"), "must be filled and different in nearly every"),
        (("--secret", "court", "--turns", "ruling"), "holds text, not arrays of objects"),
        (("--secret", "court", "--identifier", "Judge"), "must be KIND=COLUMN"),
        (("--secret", "court", "--identifier", "judge:robe=judge"), "no rule 'robe'; there are"),
        (("--secret", "court", "--identifier", "judge=ruling"), "holds texts, not names"),
        (("--example", "calls"), "--example brings its own files"),
    ],
)
def test_without_a_terminal_one_line_says_what_is_missing(table, tmp_path, arguments, words):
    done = init(table, *arguments, "--output", tmp_path / "x.yaml")
    assert done.exit_code in (2, 3)
    last = done.output.splitlines()[-1]
    assert last.startswith("error: ")
    assert words in last
    assert not (tmp_path / "x.yaml").exists()


def test_a_terminal_is_asked(table, tmp_path, monkeypatch):
    monkeypatch.setattr(cli, "_on_terminal", lambda: True)
    answers = "court\nyear\nyes\nno\nwords\n"
    done = init(table, "--output", tmp_path / "asked.yaml", input=answers)
    assert done.exit_code == 0, done.output
    columns = load_config(tmp_path / "asked.yaml").input.columns
    assert (columns.metadata, columns.period) == ("court", "year")
    assert columns.identifiers == {"court": ["court"], "judge": ["judge"]}
    assert load_config(tmp_path / "asked.yaml").entities.telling == 0.1
    assert TELLTALE not in done.output


@pytest.mark.parametrize(
    ("against", "further", "telling", "publish"),
    [
        (None, ["Quantity", "Term"], 0.1, "documents"),
        ("names", [], 0, "documents"),
        ("words", ["Quantity", "Term"], 0.1, "documents"),
        ("memory", ["Quantity", "Term"], 0.3, "chunks"),
    ],
)
def test_whom_a_release_is_to_hide_from(table, tmp_path, against, further, telling, publish):
    target = tmp_path / "court.yaml"
    told = ("--secret", "court", "--no-identifiers", "--output", target)
    done = init(table, *told, *(("--against", against) if against else ()))
    assert done.exit_code == 0, done.output
    config = load_config(target)
    check_config(config)
    assert config.releases.further == further and config.entities.telling == telling
    assert config.output.publish == publish
    assert config.chunking.max_words == (None if against == "names" else 50)
    # what is written does all that hides from this reader
    left = [sorted(step.settings) for step in further_steps(config)]
    assert bool(left) is (against != "memory")
    others = {"names", "words", "memory"} - {against or "words"}
    assert [o for o in others if f"--against {o}" in done.output]  # what else there is


def test_a_file_that_is_there_is_not_written_over(table, tmp_path):
    target = tmp_path / "mine.yaml"
    target.write_text("name: mine\n")
    done = init(table, "--secret", "court", "--no-identifiers", "--output", target)
    assert done.exit_code == 2
    assert "is there already; give --output FILE, or --force" in done.output
    assert target.read_text() == "name: mine\n"
    forced = init(table, "--secret", "court", "--no-identifiers", "--output", target, "--force")
    assert forced.exit_code == 0
    assert load_config(target).input.columns.metadata == "court"


def test_all_formats_give_the_same_roles(tmp_path):
    rows = list(rulings())
    lines = "".join(json.dumps(r) + "\n" for r in rows)
    (tmp_path / "a.jsonl").write_text(lines)
    with gzip.open(tmp_path / "b.jsonl.gz", "wt") as file:
        file.write(lines)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "c.parquet")
    found = []
    for name in ("a.jsonl", "b.jsonl.gz", "c.parquet"):
        proposal = propose(look_at([str(tmp_path / name)]), Told(**TOLD))
        found.append((proposal.document_id.name, proposal.body.name, proposal.identifiers))
        assert proposal.look.whole
        assert proposal.look.estimate == 40
    assert found[0] == found[1] == found[2]


def test_texts_as_files_need_their_table(tmp_path):
    folder, listed = as_files(tmp_path, list(rulings(6)))
    with pytest.raises(ConfigError, match="--metadata-table is missing"):
        look_at([str(folder)])
    look = look_at([str(folder)], str(listed))
    assert look.texts.english == 1
    proposal = propose(look, Told(secret="court", identifiers=("judge=judge",)))
    assert proposal.document_id is None
    target = tmp_path / "t.yaml"
    told = {"secret": "court", "identifiers": ("judge=judge",)}
    initialize([str(folder)], told, str(listed), output=str(target), tell=lambda _: None)
    config = load_config(target)
    assert config.input.format == "text"
    assert config.input.metadata_table == str(listed)


def test_what_is_amiss_with_texts_as_files_is_said(tmp_path):
    folder, listed = as_files(tmp_path, list(rulings(6)))
    (folder / "orphan.txt").write_text("A text that no row of the table names.")
    (folder / "wide.txt").write_bytes("A text of another hand.".encode("utf-16"))
    with listed.open("a") as table:
        table.write(listed.read_text().splitlines()[1].replace("0.txt", "lost.txt") + "\n")
    look = look_at([str(folder)], str(listed))
    assert look.broken == {"not_utf8": 1, "missing_metadata": 1, "missing_text": 1}
    assert "UTF-16" in look.not_utf8
    assert "CSV" not in look.not_utf8


def test_of_several_columns_of_texts_one_is_read_and_that_is_said(tmp_path):
    said = "The kiln of the firm was sold late and nobody answered my letters about it. "
    rows = [
        {"case": n, "firm": f"Acme {n}", "complaint": said * 9, "answer": f"{n} " + said * 7}
        for n in range(9)
    ]
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    look = look_at([str(path)])
    with pytest.raises(ConfigError, match=r"join them .* complaint, answer$"):
        propose(look, Told(secret="firm"))
    asked = {}

    def ask(option, question, choices, default):
        asked[option] = question, choices
        return "answer" if option == "--text" else default

    assert propose(look, Told(secret="firm", period="none"), ask).body.name == "answer"
    assert asked["--text"][1] == ["complaint", "answer"]
    assert "No other is released" in asked["--text"][0]


def test_calls_with_turns_are_recognised(tmp_path):
    from nes_spark.demo import corpus_path

    told = Told(
        secret="company_name", document_id="document_id", period="financial_quarter",
        identifiers=("company=aliases", "ticker=ticker", "url=website"),
    )  # fmt: skip
    proposal = propose(look_at([str(corpus_path())]), told)
    assert proposal.calls
    assert proposal.body.kind == "turns"
    assert (proposal.body.turn_text, proposal.body.turn_speaker) == ("text", "speaker")
    assert proposal.identifiers["company"] == ("company_name", "aliases")


def test_objects_of_one_form_are_columns_and_keys_that_are_names_are_not_shown(tmp_path):
    path = tmp_path / "nested.jsonl"
    rows = [
        {
            "id": i, "case": {"court": f"Court {i % 3}", "town": "X"},
            "body": "The court held. " * 20,
            "speakers": {f"{TELLTALE} {i}": "judge", f"Roe {i}": "clerk"},
        }
        for i in range(6)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    look = look_at([str(path)])
    assert [c.name for c in look.columns] == ["id", "case.court", "case.town", "body", "speakers"]
    assert TELLTALE not in look.table()
    told = {"secret": "case.court"}
    initialize([str(path)], told, output=str(tmp_path / "n.yaml"), tell=lambda _: None)
    assert load_config(tmp_path / "n.yaml").input.columns.metadata == "case.court"


@pytest.mark.parametrize("own", ["[2017] EWHC 3412 (QB)", "[2017] EWCA Civ 543", "[2000] 1 WLR 33"])
def test_numbers_of_judgments_are_a_kind_where_texts_have_them(tmp_path, own):
    file = tmp_path / "cases.jsonl"
    rows = [row | {"ruling": f"Cited as {own}. {row['ruling']}"} for row in rulings()]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = init(
        file, "--secret", "court", "--id", "case_no", "--period", "none", "--no-identifiers",
        "--output", tmp_path / "cases.yaml",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    kind = load_config(tmp_path / "cases.yaml").identifiers.kinds["citation"]
    assert re.findall(kind.pattern, f"In {own}, and [2017] 4 others.") == [own]
    assert own not in done.output


def test_other_texts_have_no_kind_for_numbers_of_judgments(table):
    proposal = propose(look_at([str(table)]), Told(document_id="case_no", **TOLD))
    assert "citation" not in proposal.kinds


def test_other_languages_are_said(tmp_path):
    path = tmp_path / "urteile.jsonl"
    text = "Das Gericht hat die Klage abgewiesen, weil der Vertrag nicht zustande kam. " * 6
    rows = [{"nr": i, "gericht": f"Amt {i % 3}", "urteil": text} for i in range(5)]
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    initialize(
        [str(path)], {"secret": "gericht"}, output=str(tmp_path / "u.yaml"), tell=lambda _: None
    )
    assert "CAREFUL: only 0% of the texts look like English" in (tmp_path / "u.yaml").read_text()


def test_a_table_without_a_header_is_refused_and_not_quoted(tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text(f'1,"The court of {TELLTALE} held, at great length, that it was so."\n2,"b"\n')
    with pytest.raises(InputError, match="the first row must hold the names") as caught:
        look_at([str(path)])
    assert TELLTALE not in str(caught.value)


@pytest.mark.parametrize(("separator", "name"), [(";", "semicolons"), ("\t", "tabs")])
def test_other_separators_are_named(tmp_path, separator, name):
    path = tmp_path / "other.csv"
    path.write_text(f"id{separator}court{separator}ruling\n1{separator}A{separator}b\n")
    with pytest.raises(InputError, match=f"separated by {name}; save it with commas"):
        look_at([str(path)])


def test_a_large_file_is_looked_at_in_part(tmp_path):
    path = tmp_path / "many.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in rulings(3 * SAMPLE)))
    look = look_at([str(path)])
    assert look.records == SAMPLE
    assert not look.whole
    assert look.estimate == pytest.approx(3 * SAMPLE, rel=0.05)


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_examples_are_written_with_a_corpus(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli.main, ["init", "--example", name])
    assert done.exit_code == 0, done.output
    config = load_config(f"{name}.yaml")
    check_config(config)
    first = json.loads((tmp_path / config.input.path).read_text().splitlines()[0])
    assert first[config.input.columns.metadata]
    again = CliRunner().invoke(cli.main, ["init", "--example", name])
    assert again.exit_code == 2
    assert "is there already" in again.output


def test_names_that_yaml_would_read_otherwise_are_quoted(tmp_path):
    path = tmp_path / "odd.jsonl"
    rows = [{"no": i, "on": f"Firm {i % 3} Ltd", "text: long": "The firm said so. " * 20} for i in
            range(6)]  # fmt: skip
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    told = {"secret": "on", "document_id": "no"}
    initialize([str(path)], told, output=str(tmp_path / "o.yaml"), tell=lambda _: None)
    columns = load_config(tmp_path / "o.yaml").input.columns
    assert (columns.metadata, columns.text) == ("on", "text: long")


def test_components_grow_with_the_corpus():
    assert components_for(10, 500, 10) == 2
    assert 2 < components_for(200, 4000, 200) <= 30
    assert components_for(10**6, 10**5, 10**6) == 30
    # of few secrets each component needs several
    assert [components_for(10**4, 4000, n) for n in (2, 3, 12, 60, 100)] == [2, 2, 6, 30, 30]


@pytest.mark.parametrize(("authors", "components"), [(12, 6), (5000, 30)])
def test_few_secrets_are_few_in_a_long_file_too(tmp_path, authors, components):
    path = tmp_path / "columns.jsonl"
    said = "The paper said so, and the readers wrote that it was not so at all. " * 60
    rows = [{"id": f"c{i}", "author": f"Ann {i % authors}", "text": said} for i in range(5000)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = {"secret": "author", "document_id": "id", "text": "text", "period": "none"}
    initialize([str(path)], told, output=str(tmp_path / "o.yaml"), tell=lambda _: None)
    assert load_config(tmp_path / "o.yaml").mixture.n_components == [components]


def test_kinds_are_named_after_columns():
    assert kind_of("company_name") == "company"
    assert kind_of("parties") == "party"
    assert kind_of("Übung") == "bung" or kind_of("123") == "identifier"


def test_a_configuration_with_faults_is_not_written():
    with pytest.raises(ConfigError):
        read_back(yaml.safe_dump({"mixture": {"n_componets": 3}}))
    assert build_config({}).output.directory == "out"


def test_an_id_that_repeats_once_may_be_named(tmp_path):
    """A run puts aside what has no id of its own: one repeated id is no reason to refuse a file."""
    body = "We met in spring and spoke about the orders, the prices and the roads. " * 6
    rows = [
        {"ref": f"L{min(i, 38)}", "client": f"Client {i % 8}", "body": f"{i}. {body}"}
        for i in range(40)
    ]
    file = tmp_path / "letters.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = ("--secret", "client", "--no-identifiers", "--output", tmp_path / "a.yaml")
    done = init(file, *told)
    assert done.exit_code != 0
    assert "ref has 39 values in 40 records: name it" in done.output.splitlines()[-1]
    assert init(file, *told, "--id", "ref").exit_code == 0
    assert init(file, *told[:-1], tmp_path / "b.yaml", "--id", "client").exit_code != 0


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        (
            ["Orchard Lane Dental", "Tall Oaks Veterinary", "Open Door", "Prairie Wind Gym"],
            "company",
        ),
        (["Robert Park", "Yusuf Szeto", "Jiří Weatherby", "Olga Demirci"], "person"),
        # as an interviewer notes whom somebody named
        (["Robert", "Oonagh", "Father Keane", "old Mr Szeto", "Grace"], "person"),
        (["Apple", "Zyntex", "Grace", "Delta"], "company"),
        # parts of these are years and counts in any text
        (["2018 IEHC 283", "2019 IEHC 7", "2020 NIQB 11", "2018 EWHC 5"], "literal"),
        (["03/04/1957", "1961-12-24", "7 Mar 1980", "unknown"], "date"),
    ],
)
def test_how_a_column_is_searched_for_goes_by_its_values(tmp_path, values, rule):
    file = tmp_path / "files.jsonl"
    rows = [
        {"no": f"n{i}", "party": value, "body": f"A long text about {value} and more. " * 10}
        for i, value in enumerate(values)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    proposal = propose(look_at([str(file)]), Told(secret="party", document_id="no"))
    assert proposal.kinds["party"].rule == rule


def test_a_pseudonym_beside_a_name_does_not_make_a_company_of_somebody(tmp_path):
    file = tmp_path / "interviews.jsonl"
    people = ["Robert Park", "Yusuf Szeto", "Jiří Weatherby", "Olga Demirci"]
    rows = [
        {"no": f"n{i}", "code": f"NE-{i:03}", "name": name, "body": f"A text of {name}. " * 20}
        for i, name in enumerate(people)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    told = Told(secret="code", document_id="no", identifiers=("code=name",))
    proposal = propose(look_at([str(file)]), told)
    assert proposal.identifiers["code"] == ("code", "name")
    assert proposal.kinds["code"].rule == "person"


def test_a_column_of_days_is_seen_in_texts_that_write_them_otherwise(tmp_path):
    path = tmp_path / "births.jsonl"
    rows = [
        row
        | {"dob": f"{1 + i % 28:02d}/05/1950", "ruling": f"{row['ruling']} B. {1 + i % 28} May 50"}
        for i, row in enumerate(rulings())
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (column,) = [c for c in look_at([str(path)]).columns if c.name == "dob"]
    assert (column.days, column.in_text) == (1, 1)


def test_a_column_of_addresses_is_seen_in_texts_that_name_the_house_alone(tmp_path):
    path = tmp_path / "houses.jsonl"
    rows = [
        row
        | {"home": f"{i + 1} Ash Road, Hull HU1 6CT", "ruling": f"{row['ruling']} {i + 1} Ash Road"}
        for i, row in enumerate(rulings())
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (column,) = [c for c in look_at([str(path)]).columns if c.name == "home"]
    assert column.in_text == 1


def test_a_column_of_another_role_is_no_id_where_another_can_be(tmp_path):
    path = tmp_path / "complaints.jsonl"
    rows = [row | {"firm": f"Firm {i} Ltd", "ref": f"R-{i}"} for i, row in enumerate(rulings())]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    look = look_at([str(path)])
    told = Told(secret="firm", identifiers=("case=case_no",))
    assert propose(look, told).document_id.name == "ref"
    # where nothing else tells documents apart, it is one of them as well
    told = Told(secret="firm", identifiers=("case=case_no", "ref=ref"))
    assert propose(look, told).document_id.name == "case_no"


def latin(path, rows, encoding="latin-1"):
    with path.open("w", newline="", encoding=encoding) as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def test_what_is_not_utf8_is_said_with_how_to_convert_it(tmp_path):
    rows = [
        row | {"ruling": row["ruling"] + " A café." if i < 18 else row["ruling"]}
        for i, row in enumerate(rulings())
    ]
    file = latin(tmp_path / "rulings.csv", rows)
    shown = []
    said = initialize([file], TOLD, output=str(tmp_path / "c.yaml"), tell=shown.append)
    assert "18 more cannot be read" in shown[0]
    assert "CAREFUL: 18 of the first 40 records are not UTF-8" in said
    assert f"iconv -f WINDOWS-1252 -t UTF-8 {file} > " in said
    assert look_at([file]).records == 22
    every = [row | {"ruling": "Café. " + row["ruling"]} for row in rulings()]
    file = latin(tmp_path / "every.csv", every)
    with pytest.raises(InputError, match=r"no record that can be read: 40 the bytes.*iconv -f WIN"):
        look_at([file])
    file = latin(tmp_path / "wide.csv", every, "utf-16")
    with pytest.raises(InputError, match=r"its first row is not UTF-8; .*iconv -f UTF-16"):
        look_at([file])


def test_nothing_is_said_of_files_in_utf8(tmp_path):
    every = [row | {"ruling": "Café. " + row["ruling"]} for row in rulings()]
    for encoding in ("utf-8", "utf-8-sig"):
        look = look_at([latin(tmp_path / "rulings.csv", every, encoding)])
        assert (look.records, look.not_utf8) == (40, None)


def letters(path, double, sorts=("letter", "referral")):
    rows = [
        {"ref": f"L{min(i, 39 - double)}", "client": f"Client {i % 8}", "kind": sort,
         "dated": f"2023-{1 + i // 28:02d}-{1 + i % 28:02d}", "body": f"This {sort}, {i}. {TEXT}"}
        for i in range(40)
        for sort in (sorts[i % len(sorts)],)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return look_at([str(path)])


TEXT = "We think that this was a good year for all of us, and more of it is to come. " * 4


def test_a_sole_unique_column_is_no_id_where_another_has_a_duplicate(tmp_path):
    look = letters(tmp_path / "letters.jsonl", double=1)
    for told in (Told(secret="client"), Told(secret="ref")):
        with pytest.raises(ConfigError, match=r"ref has 39 values in 40 records \(1 duplicates\)"):
            propose(look, told)
    asked = []

    def ask(option, question, names, likely):
        asked.append((option, names, likely))
        return likely

    assert propose(look, Told(secret="client"), ask).document_id.name == "ref"
    assert asked[0] == ("--id", ["ref", "dated"], "ref")
    look = letters(tmp_path / "others.jsonl", double=0)
    assert propose(look, Told(secret="client", document_id="ref")).document_id.name == "ref"


@pytest.mark.parametrize(
    ("sorts", "names"),
    [
        (("letter", "referral"), False),
        (("report", "letter", "ehcp"), False),
        (("jones", "letter", "mary"), True),
    ],
)
def test_a_column_that_sorts_texts_by_ordinary_words_is_no_identifier(tmp_path, sorts, names):
    look = letters(tmp_path / "letters.jsonl", 0, sorts)
    assert look.column("kind").in_text == 1
    told = Told(secret="client", document_id="ref")
    if names:
        with pytest.raises(ConfigError, match="values of kind stand in the texts"):
            propose(look, told)
    else:
        assert "kind" in [c.name for c in propose(look, told).unused]


def test_it_is_told_early_that_texts_are_few(tmp_path):
    for count, few in ((30, True), (40, False)):
        path = tmp_path / f"{count}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rulings(count)))
        said = initialize(
            [str(path)], TOLD, output=str(tmp_path / f"{count}.yaml"), tell=lambda _: None
        )
        assert ("CAREFUL: only 30 texts: of so few" in said) == few


def test_columns_that_stand_in_the_texts_and_are_not_searched_are_told(tmp_path):
    path = tmp_path / "rulings.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rulings()))

    def said(n, **told):
        told = {"secret": "court", "period": "year", **told}
        return initialize(
            [str(path)], told, output=str(tmp_path / f"{n}.yaml"), tell=lambda _: None
        )

    hint = "values of parties stand in the texts as well, and nobody looks for them"
    one = said(1, identifiers=("judge=judge",))
    assert hint in one
    assert "--identifier party=parties" in one
    assert "nobody looks for them" not in said(2, identifiers=TOLD["identifiers"])
    assert "nobody looks for them" not in said(3, no_identifiers=True)


@pytest.mark.parametrize("turns", [False, True])
@pytest.mark.parametrize(("small", "told"), [(0, False), (1, False), (12, True)])
def test_texts_without_capitals_are_told(tmp_path, small, told, turns):
    """A recogniser finds few names in speech as it is transcribed, and no gate misses them."""
    rows = [
        {"id": f"t{i}", "who": f"Teller {i % 8}",
         "said": f"{i}. Then {PARTIES[i % 5]} of {FIRMS[i % 4]} came to {PLACES[i % 4]}, I think. "
         * 8}
        for i in range(40)
    ]  # fmt: skip
    for row in rows[:small]:
        row["said"] = row["said"].lower()
    if turns:
        for row in rows:
            row["said"] = [{"speaker": "P", "text": row["said"]}] * 2
    file = tmp_path / "talks.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = init(file, "--secret", "who", "--no-identifiers", "--output", tmp_path / "talks.yaml")
    assert done.exit_code == 0, done.output
    assert ("CAREFUL: 30% of the texts have hardly a capital" in done.output) is told
    assert ("have hardly a capital" in done.output) is (small > 0)
    assert not any(name.lower() in done.output.lower() for name in (*PARTIES, *PLACES))


@pytest.mark.parametrize(
    ("amounts", "expected"),
    [
        (["£5,000"], "GBP"),
        (["$5 million", "US$5"], "USD"),
        (["C$ 5"], "CAD"),
        (["£5,000", "€7"], None),
        (["HK$ 5"], None),
        (["5 pounds"], None),
    ],
)
def test_amounts_come_in_the_currency_of_nearly_all(tmp_path, amounts, expected):
    rows = [
        {"id": i, "who": f"Court {i % 8}", "body": f"It cost {amounts[i % len(amounts)]}. " * 20}
        for i in range(40)
    ]
    file = tmp_path / "costs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    target = tmp_path / "costs.yaml"
    told = ("--secret", "who", "--no-identifiers", "--output", target, "--force")
    assert init(file, *told, "--against", "words").exit_code == 0
    assert load_config(target).entities.currency == expected
    # it is for figures, which change where more than names are hidden
    assert init(file, *told, "--against", "names").exit_code == 0
    assert load_config(target).entities.currency is None
    assert f"# currency: {expected or 'USD'} " in target.read_text()
