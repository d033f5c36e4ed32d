"""A release that another configuration would replace is named before that happens."""

import pytest
from click.testing import CliRunner

import nes_spark as nes
from nes_spark import cli
from nes_spark.run.context import run_folder
from nes_spark.run.published import CONFIGURATION, PUBLICATION, replaced_by
from tests.report.samples import report_data

NAME = "Acme of Nowhere"


@pytest.fixture
def published(tmp_path):
    """Configuration of a finished run folder, with nothing in it but what is looked at."""
    config = nes.load_config(
        None, {"input.path": "x.jsonl", "output.directory": str(tmp_path / "out")}
    )
    store = run_folder(config)
    store.prepare()
    store.write_json(config.model_dump(mode="json"), *CONFIGURATION)
    details = {"choice": report_data().choice.to_dict(), "gates": [], "mlflow_run_id": None}
    store.write_artifact(PUBLICATION, "key", lambda _: details)
    return config


def other(config, **overrides):
    given = {"input.path": "x.jsonl", "output.directory": config.output.directory}
    return nes.load_config(None, given | {k.replace("__", "."): v for k, v in overrides.items()})


def test_the_same_settings_replace_nothing(published):
    again = other(published, spark__driver_memory="4g", name="another", report__examples=True)
    assert replaced_by(again, run_folder(again)) is None


def test_what_differs_is_named_and_secrets_are_not(published):
    changed = other(published, mixture__n_init=9, identifiers__allow=[NAME])
    found = replaced_by(changed, run_folder(changed))
    assert "mixture.n_init 5 -> 9" in found
    assert "identifiers.allow none -> set (not shown)" in found
    assert NAME not in found
    assert "swaps of" in found


def test_what_is_published_of_a_chunk_is_named(published):
    listed = other(published, output__withhold="secret/listed.csv")
    found = replaced_by(listed, run_folder(listed))
    assert found.endswith("what differs: output.withhold unset -> set (not shown)")
    assert "secret" not in found
    alone = other(published, output__publish="chunks")
    found = replaced_by(alone, run_folder(alone))
    assert found.endswith("what differs: output.publish documents -> chunks")


def test_keys_that_were_set_come_first_and_lists_say_what_was_added(published):
    listed = other(published, entities__clues="secret/clues.csv", audit__public_words="w.csv")
    found = replaced_by(listed, run_folder(listed))
    differing = found.partition("what differs: ")[2].split("; ")
    assert differing[:2] == [
        "entities.clues unset -> set (not shown)",
        "audit.public_words unset -> set (not shown)",
    ]
    assert "entities.categories + Clue" in differing
    assert "releases.must_change + Clue" in differing
    assert "secret" not in found


def test_an_empty_folder_has_nothing_to_replace(tmp_path):
    config = nes.load_config(None, {"output.directory": str(tmp_path / "new")})
    assert replaced_by(config, run_folder(config)) is None


@pytest.mark.parametrize(
    ("terminal", "options", "answer", "runs"),
    [
        (True, [], "n\n", False),
        (True, [], "y\n", True),
        (True, ["--replace"], "", True),
        (False, [], "", True),
    ],
)
def test_a_person_is_asked(published, tmp_path, monkeypatch, terminal, options, answer, runs):
    called = []
    monkeypatch.setattr("nes_spark.run", lambda *_, **__: called.append(1) or "done")
    monkeypatch.setattr(cli, "_on_terminal", lambda: terminal)
    conf = tmp_path / "c.yaml"
    conf.write_text("input: {path: x.jsonl}\nmixture: {n_init: 9}\n")
    done = CliRunner().invoke(
        cli.main,
        ["run", str(conf), "--output", published.output.directory, *options],
        input=answer,
    )
    assert bool(called) is runs
    assert "mixture.n_init 5 -> 9" in done.output
    assert done.exit_code == (0 if runs else 2)
    assert ("nothing was changed" in done.output) is not runs
