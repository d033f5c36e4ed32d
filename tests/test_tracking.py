"""What goes to MLflow of a configuration: settings of the method, no secret, no name."""

from __future__ import annotations

import pytest

from nes_spark.config import load_config
from nes_spark.errors import InfrastructureError
from nes_spark.tracking import NOT_LOGGED, _reachable, parameters, without_secrets

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
