"""What goes to MLflow of a configuration: settings of the method, no secret, no name."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from mlflow import MlflowClient

from nes_spark import doctor
from nes_spark.config import Config, build_config, load_config
from nes_spark.errors import InfrastructureError
from nes_spark.run.mlflow_run import run_name
from nes_spark.tracking import (
    NOT_LOGGED,
    Tracker,
    _reachable,
    parameters,
    store_folder,
    without_secrets,
)

WORD = "s3cr3tw0rd"
NAME = "Orion Works of Bonn"
ENDPOINT = f"https://me:{WORD}@host.example/v1?key={WORD}"

SECRETS = {
    "audit.models": [
        {
            "name": "m", "model": "gpt-4o", "base_url": ENDPOINT,
            "extra": {"extra_headers": {"Authorization": f"Bearer {WORD}"}}, "served_as": [NAME],
            "price_in": 1.0,
        }
    ],
    "audit.labels": {NAME: ["ORIO"]},
    "audit.prompt": f"{WORD} {{text}}",
    "audit.reference": f"/data/{WORD}",
    "audit.answers": f"s3://{WORD}/answers",
    "embedding.base_url": ENDPOINT,
    "tracking.uri": ENDPOINT,
    "tracking.experiment": f"of {NAME}",
    "name": f"run of {NAME}",
    "output.directory": f"/data/{WORD}/out",
    "input.path": f"/data/{WORD}/calls.jsonl",
    "input.format": f"table:{WORD}.calls",
    "input.options": {WORD: WORD},
    "output.release_format": f"table:{WORD}.{{table}}",
    "output.release_options": {WORD: WORD},
    "tracking.register_model": WORD,
    "input.columns": {"text": WORD, "identifiers": {"company": [WORD]}, "covariates": {WORD: "x"}},
    "identifiers.kinds": {
        "case": {"placeholder": f"[{NAME}]", "rule": "pattern", "pattern": f"{WORD}-[0-9]+"}
    },
    "identifiers.allow": [NAME],
    "entities.deny": {"Person": [NAME]},
    "entities.allow": {"Person": [NAME]},
    "entities.recoding": {"Person": {NAME: [NAME]}},
    "entities.labels": {WORD: "Person"},
    "entities.recognizer": f"/models/{WORD}",
    "mixture.warm_start": f"/data/{WORD}/out/2020Q2",
    "seed.file": f"/keys/{WORD}",
    "seed.env": WORD,
    "ledger.key_env": WORD,
    "spark.settings": {"spark.hadoop.fs.s3a.secret.key": WORD},
    "spark.master": f"spark://{WORD}:7077",
    "report.options": {NAME: {"swapping.rounds": 2}},
}  # fmt: skip


def test_no_secret_path_or_name_becomes_a_parameter():
    logged = parameters(load_config(None, SECRETS))
    assert len(logged) > 40
    for key, value in logged.items():
        assert WORD not in f"{key} {value}", key
        assert NAME not in f"{key} {value}", key
    assert logged["audit.models.0.model"] == "gpt-4o"
    assert logged["audit.models.0.price_in"] == "1.0"


def test_settings_of_the_method_are_logged():
    logged = parameters(load_config(None, {"mixture.n_components": [5, 7], "period": "2020Q3"}))
    assert logged["mixture.n_components"] == "[5, 7]"
    assert logged["period"] == "2020Q3"
    assert logged["chunking.threshold"] == "75.0"
    assert logged["embedding.model"] == "bundled"
    assert logged["entities.recognizer"] == "bundled"
    assert "Organization" in logged["releases.swap"]
    assert logged["audit.draws"] == "30"
    assert not set(logged) & set(NOT_LOGGED)


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        (ENDPOINT, "https://host.example/v1"),
        ("http://h:5000", "http://h:5000"),
        ("postgresql://u:p@ss@db/mlflow?sslkey=x", "postgresql://db/mlflow"),
        ("sqlite:////data/mlflow.db", "sqlite:////data/mlflow.db"),
        ("databricks", "databricks"),
        ("https://h/a#token=x", "https://h/a"),
    ],
)
def test_addresses_are_shown_without_what_opens_them(uri, shown):
    assert without_secrets(uri) == shown


def test_a_server_that_fails_is_named_without_what_opens_it():
    import requests

    with pytest.raises(InfrastructureError) as caught, _reachable(ENDPOINT):
        raise requests.ConnectionError(f"cannot connect to {ENDPOINT} now")
    assert "https://host.example/v1 failed" in str(caught.value)
    assert WORD not in str(caught.value)


def test_outputs_of_one_project_share_a_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = {store_folder(given, tmp_path / given) for given in ("out", "out/demo", "./out/a/b")}
    assert found == {tmp_path}
    assert store_folder("/data/out", Path("/data/out")) == Path("/data/out")
    assert store_folder("../out", tmp_path.parent / "out") == tmp_path.parent / "out"
    # From elsewhere the same project's store is found.
    monkeypatch.chdir("/")
    assert store_folder("out/demo", tmp_path / "out" / "demo") == tmp_path


def test_doctor_with_defaults_reaches_the_store_of_the_project(tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    assert "is reachable" in doctor._mlflow(Config(), Path("out"))
    assert (tmp_path / "mlflow.db").is_file()


def test_a_run_has_its_time_its_data_and_no_texts(tmp_path, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.chdir(tmp_path)
    tracker = Tracker(None, "mine", Path())
    began = time.time() - 100
    with tracker.run("a run", {"mlflow.note.content": "words"}, started=began) as tracked:
        tracked.dataset(
            "calls 2020Q3", "d" * 64, {"document_id": "string", "text": "string"}, {"documents": 3}
        )
    assert (tmp_path / "mlflow.db").is_file()
    found = MlflowClient(tracking_uri=tracker.uri).get_run(tracked.run_id)
    assert found.info.start_time == int(began * 1000)
    assert 100_000 <= found.info.end_time - found.info.start_time < 400_000
    assert {"mlflow.user", "mlflow.source.name"} <= set(found.data.tags)
    (used,) = found.inputs.dataset_inputs
    assert (used.dataset.name, used.dataset.digest) == ("calls 2020Q3", "d" * 36)
    assert {tag.key: tag.value for tag in used.tags}["documents"] == "3"
    schema = json.loads(used.dataset.schema)
    assert "document_id" in json.dumps(schema)


def test_names_tell_runs_apart_and_hold_no_path():
    plain = load_config(None, {"name": "calls", "period": "2020Q3"})
    assert run_name(plain).startswith("calls 2020Q3 ")
    changed = load_config(
        None,
        {
            "name": "calls", "releases.plan": "whole", "mixture.n_components": 12,
            "seed.file": "/home/me/seed", "input.path": "/data/calls", "output.directory": "x",
            f"audit.labels.{NAME}": ["ORIO"],
        },
    )  # fmt: skip
    assert changed.changed == (
        "audit.labels",
        "mixture.n_components",
        "name",
        "releases.plan",
        "seed.file",
    )
    name = run_name(changed)
    assert name.startswith("calls all whole")
    assert "mixture.n_components=[12]" in name
    assert "/" not in name
    assert NAME not in name
    content = {
        "name": "calls", "releases": {"plan": "whole"}, "mixture": {"n_components": 12},
        "seed": {"file": "/home/me/seed"}, "input": {"path": "/data/calls"},
        "output": {"directory": "x"}, "audit": {"labels": {NAME: ["ORIO"]}},
    }  # fmt: skip
    assert changed.fingerprint() == build_config(content).fingerprint()
