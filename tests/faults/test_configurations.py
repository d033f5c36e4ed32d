"""Wrong configurations: exit code 2, before Spark, and a line that says what and where."""

from __future__ import annotations

import re

import pytest
import yaml
from click.testing import CliRunner

from nes_spark.cli import main
from nes_spark.config import load_config
from tests.jobs import ROOT

BASE = {"input": {"path": "calls.jsonl", "columns": {"text": "text"}}}

#: Name -> (content of the file, or overrides of BASE by dotted key; words of the message).
FILES = {
    "not YAML": ("a: [1, 2", "not valid YAML at line"),
    "tabs": ("a:\n\t- b", "not valid YAML at line"),
    "a list": ("- a\n- b", "must be a mapping of sections"),
    "a string": ("hello", "must be a mapping of sections"),
    "bytes that are no text": (b"\xff\xfe\x00a", "cannot be read"),
    "a number of 5,000 digits": ("mixture: {n_init: " + "9" * 5000 + "}", "too large"),
    "nesting without end": ("a: " + "[" * 3000 + "]" * 3000, "too large"),
    "a tag that makes objects": ("a: !!python/object/apply:os.system ['true']", "not valid YAML"),
    "an unknown section": ("mixtures: {}", "did you mean 'mixture'"),
    "a section that is a number": ("chunking: 7", "chunking"),
    "a section that is a list": ("chunking: [75]", "chunking"),
    "two faults": ("chunking: {threshold: 140, bufer: 1}", "2 faults"),
}
OVERRIDES = {
    "an unknown key": ({"mixture.n_componets": 3}, "did you mean 'n_components'"),
    "text and turns": ({"input.columns": {"text": "a", "turns": "b"}}, "exactly one of"),
    "neither text nor turns": ({"input.columns": {"document_id": "a"}}, "exactly one of"),
    "no input": ({"input.path": None}, "input.path: is missing"),
    "an unknown format": ({"input.format": "xml"}, "input.format"),
    "an unknown encoding": ({"input.encoding": "latin-1"}, "input.encoding"),
    "an undeclared kind": (
        {"input.columns.identifiers": {"court": ["court"]}},
        r"court.*(no such|unknown) kind|unknown kind 'court'",
    ),
    "no words for a number": ({"mixture.n_init": "many"}, "mixture.n_init"),
    "a threshold above 100": ({"chunking.threshold": 140}, "100"),
    "a threshold that is no number": ({"chunking.threshold": float("nan")}, "threshold"),
    "a threshold below 0": ({"chunking.threshold": -1}, "greater than or equal to 0"),
    "components beyond sense": ({"mixture.n_components": 10**20 - 1}, "at most 10,000"),
    "no components": ({"mixture.n_components": 0}, "at least 1"),
    "an empty grid": ({"mixture.n_components": []}, "n_components"),
    "restarts without end": ({"mixture.n_init": 10**9}, "at most 1,000"),
    "swaps beyond sense": ({"releases.max_swaps": 10**400}, "one of 400 digits"),
    "draws beyond sense": ({"releases.draws": 10**7}, "at most 100,000"),
    "no draws": ({"releases.draws": 0}, "releases.draws"),
    "seconds without end": ({"audit.timeout": float("inf")}, "at most 86,400"),
    "retries beyond sense": ({"audit.max_retries": 10**6}, "at most 1,000"),
    "characters beyond sense": ({"input.max_characters": 10**11}, "at most 1,000,000,000"),
    "a population below 1": ({"risk.population": 0}, "from 1 to 1e30"),
    "a population beyond 1e30": ({"risk.population": 1e31}, "from 1 to 1e30"),
    "a population twice": ({"risk.population": [10, 10]}, "repeated"),
    "a weight of 1": ({"mixture.min_weight": 1.0}, r"\[0, 1\)"),
    "memory in words": ({"spark.driver_memory": "lots"}, "from 512m to 16t"),
    "memory without a unit": ({"spark.driver_memory": "2048x"}, "from 512m to 16t"),
    "too little memory": ({"spark.driver_memory": "1k"}, "from 512m to 16t"),
    "too much memory": ({"spark.driver_memory": "999999t"}, "from 512m to 16t"),
    "partitions beyond sense": ({"spark.shuffle_partitions": 10**9}, "at most 100,000"),
    "master and remote": ({"spark.master": "local", "spark.remote": "sc://h"}, "not both"),
    "a remote without scheme": ({"spark.remote": "h:15002"}, "sc://"),
    "an unknown family": ({"mixture.family": "gauss"}, "gauss"),
    "an unknown category": ({"releases.swap": ["Colour", "Person"]}, "unknown category 'Colour'"),
    "a category without a name": ({"entities.categories": ["", "Person"]}, "categor"),
    "a label of an unknown category": ({"entities.labels": {"ORG": "Org"}}, "unknown category"),
    "swapped and fixed": (
        {"releases.swap": ["Person", "Organization"], "releases.fixed": ["Person"]},
        "at once",
    ),
    "more categories than there are": ({"releases.sizes": [9]}, "releases.sizes"),
    "an unknown rule": ({"choice.rule": "best"}, "choice.rule"),
    "a risk above 1": ({"choice.rule": "max_utility", "choice.max_risk": 2}, "less than or equal"),
    "an unknown covariate": (
        {"releases.constraints.same_covariates": ["sector"]},
        "unknown covariate 'sector'",
    ),
    "an unknown setting": ({"choice.setting": "nine"}, "unknown mixture setting 'nine'"),
    "an unknown population": ({"choice.population": 7}, "unknown population '7'"),
    "an unknown adversary": ({"audit.gate_models": ["linkage", "wrods-self"]}, "wrods-self"),
    "an unknown accepted kind": ({"gates.accept_identifiers": ["ticer"]}, "ticer"),
    "a task that is not there": ({"utility.tasks": ["nowhere.Task"]}, "nowhere"),
    "a pattern that is none": (
        {"identifiers.kinds": {"case": {"placeholder": "[C]", "rule": "pattern", "pattern": "("}}},
        "regular expression",
    ),
    "a pattern without end": (
        {
            "identifiers.kinds": {
                "c": {"placeholder": "[C]", "rule": "pattern", "pattern": "(a|aa)+$"}
            }
        },
        "without nested repetition",
    ),
    "another": ({"entities.recoding": {"Person": {"a": ["re:(.*?,){20}P"]}}}, "nested repetition"),
    "a pattern without its rule": (
        {"identifiers.kinds": {"case": {"placeholder": "[C]", "pattern": "a"}}},
        "'pattern' goes with rule 'pattern'",
    ),
    "a kind without placeholder": ({"identifiers.kinds": {"case": {}}}, "placeholder"),
    "a recoding rule that is none": ({"entities.recoding": {"Person": {"a": ["re:("]}}}, "regular"),
    "a recoding table that is not there": ({"entities.recoding_table": "no.csv"}, "No such file"),
    "a prompt without text": ({"audit.prompt": "Who is this?"}, r"\{text\}"),
    "two models of one name": (
        {"audit.models": [{"name": "a", "model": "x"}, {"name": "a", "model": "y"}]},
        "every name must be its own",
    ),
    "a model that sets messages": (
        {"audit.models": [{"name": "a", "model": "x", "extra": {"messages": []}}]},
        "cannot be set here",
    ),
    "a negative price": (
        {"audit.models": [{"name": "a", "model": "x", "price_in": -1}]},
        "price_in",
    ),
    "more tasks than requests": ({"audit.partitions": 9}, "max_in_flight"),
    "an option elsewhere": ({"report.options": {"x": {"mixture.n_init": 2}}}, "cannot be compared"),
    "an unknown embedder": ({"embedding.model": "word2vec"}, "word2vec"),
    "a dimension of a fixed model": ({"embedding.dimension": 7}, "a length of its own"),
}  # fmt: skip


def test_there_are_enough_kinds():
    assert len(FILES) + len(OVERRIDES) >= 60


@pytest.fixture
def planned(tmp_path):
    """Plan a run with a file; return the exit code and what was said."""

    def plan(content, *options):
        file = tmp_path / "conf.yaml"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        done = CliRunner().invoke(main, ["run", str(file), *options])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.output

    return plan


def refused(code: int, said: str, words: str) -> None:
    assert code == 2, said
    assert said.startswith("error: ")
    assert re.search(words, said.replace("\n", " ")), said
    assert "Traceback" not in said
    faults = re.match(r"error: .*: (\d+) faults:", said)
    assert len(said.strip().splitlines()) == (1 + int(faults.group(1)) if faults else 1), said
    assert max(map(len, said.splitlines())) < 1500


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_used(planned, name):
    content, words = FILES[name]
    refused(*planned(content), words)


@pytest.mark.parametrize("name", OVERRIDES)
def test_a_value_that_cannot_be_used(planned, monkeypatch, name):
    def started(*_args, **_more):
        raise AssertionError("Spark was started")

    monkeypatch.setattr("nes_spark.session.get_session", started)
    changes, words = OVERRIDES[name]
    content = yaml.safe_dump(BASE)
    options = []
    for key, value in changes.items():
        options += ["--set", f"{key}={yaml.safe_dump(value, default_flow_style=True, width=10**6)}"]
    refused(*planned(content, *options), words)


@pytest.mark.parametrize("option", ["nothing", "=3", "a b", "mixture.n_init=[1", "mixture=3.n=4"])
def test_an_override_that_is_none(planned, option):
    code, said = planned(yaml.safe_dump(BASE), "--set", option)
    assert code == 2
    assert said.startswith("error: ")


def test_a_file_that_is_not_there():
    done = CliRunner().invoke(main, ["run", "nowhere.yaml"])
    assert (done.exit_code, done.output.count("\n")) == (2, 1)


def test_what_is_not_wrong_is_accepted():
    for path in [*(ROOT / "conf").glob("*.yaml")]:
        load_config(path)
    for memory in ("512m", "2g", "16G", "1t", "2048mb"):
        load_config(None, {"spark.driver_memory": memory})
