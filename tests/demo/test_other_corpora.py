import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from nes_spark.config import load_config
from nes_spark.demo import filings, notes
from nes_spark.demo.__main__ import main

CONF = Path(__file__).parents[2] / "conf"
SORTS = [
    ("clinical", notes, "hospital", {"hospital", "physician", "patient", "mrn", "phone"}),
    ("patents", filings, "assignee", {"assignee", "inventor", "application_number"}),
]


@pytest.mark.parametrize(("name", "make", "secret", "kinds"), SORTS)
def test_corpus_and_configuration_go_together(name, make, secret, kinds):
    config = load_config(CONF / f"{name}.yaml")
    columns = config.input.columns
    assert columns.metadata == secret
    assert config.presentation.method == "none"
    assert set(columns.identifiers) == kinds
    assert kinds <= set(config.identifiers.kinds)
    documents = [document for document, _ in make()]
    assert 12 <= len(documents) <= 20
    assert len({d[secret] for d in documents}) >= 6
    for document in documents:
        for column in [columns.document_id, columns.period, columns.text]:
            assert isinstance(document[column], str)
            assert document[column]
        for group in columns.identifiers.values():
            assert all(document[column] for column in group)


@pytest.mark.parametrize(("name", "make", "secret", "kinds"), SORTS)
def test_gold_says_what_stands_where(name, make, secret, kinds):
    found = set()
    for document, gold in make():
        for start, end, kind, surface in gold["spans"]:
            assert document["text"][start:end] == surface
            found.add(kind)
    assert kinds <= found
    assert {"Organization", "Person", "Product", "Location", "Date"} <= found


@pytest.mark.parametrize(("name", "make", "secret", "kinds"), SORTS)
def test_every_identifier_of_a_text_is_in_the_columns(name, make, secret, kinds):
    columns = load_config(CONF / f"{name}.yaml").input.columns
    for document, gold in make():
        for _, _, kind, surface in gold["spans"]:
            if kind not in kinds:
                continue
            values = []
            for column in columns.identifiers[kind]:
                value = document[column]
                values += value if isinstance(value, list) else [value]
            last = surface.removeprefix("Ms. ").removeprefix("Mr. ")
            assert any(last in value for value in values), (kind, document["document_id"])


@pytest.mark.parametrize(("name", "make", "secret", "kinds"), SORTS)
def test_texts_are_clean_and_seeded(name, make, secret, kinds):
    first = [document for document, _ in make()]
    assert first == [document for document, _ in make()]
    assert [d["text"] for d, _ in make(seed=1)] != [d["text"] for d in first]
    for document in first:
        assert len(document["text"].split()) > 150
        for wrong in ("  ", "{", "}", "[", "|", "..", " ,", "the the ", "a a "):
            assert wrong not in document["text"], (document["document_id"], wrong)


@pytest.mark.parametrize(("name", "make", "secret", "kinds"), SORTS)
def test_command_line(name, make, secret, kinds, tmp_path):
    out = tmp_path / "texts.jsonl"
    done = CliRunner().invoke(main, ["--kind", name, "--documents", "3", "--output", str(out)])
    assert done.exit_code == 0, done.output
    written = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert written == [document for document, _ in make(3)]


@pytest.mark.parametrize("make", [notes, filings])
def test_bad_count_is_named(make):
    with pytest.raises(ValueError, match="an integer of at least 1"):
        make(0)
