"""Every key is explained, and editors can check a configuration."""

import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from nes_spark.cli import main
from nes_spark.config import Config, build_config
from nes_spark.config.describing import describe, keys, schema
from nes_spark.errors import ConfigError

CONF = Path(__file__).parents[2] / "conf"


def value_at(config, dotted):
    for part in dotted.split("."):
        config = getattr(config, part)
    return config


def test_every_key_has_words_and_a_type():
    found = keys()
    assert len(found) > 140
    assert [k.name for k in found if not k.words] == []
    assert [k.name for k in found if "typing." in k.type or "<class" in k.type] == []


def test_the_defaults_shown_are_those_of_an_empty_configuration():
    config = Config()
    for key in keys():
        if "KIND" in key.name or "[]" in key.name or key.name.startswith("input.columns"):
            continue
        shown = json.loads(key.default)
        assert shown == json.loads(json.dumps(value_at(config, key.name), default=dict)), key.name


@pytest.mark.parametrize("key", ["chunking.threshold", "choice.max_risk", "mixture.max_iter"])
def test_ranges_shown_are_those_that_are_kept(key):
    (found,) = [k for k in keys() if k.name == key]
    section, _, field = key.partition(".")
    most = float(found.allowed.rpartition("at most ")[2].replace(",", ""))
    assert value_at(build_config({section: {field: most}}), key) == most
    with pytest.raises(ConfigError):
        build_config({section: {field: most + 1}})


def test_one_key_one_section_and_a_wrong_one():
    assert describe("chunking.threshold").count("\n") < 6
    assert "at least 0 and at most 100" in describe("chunking.threshold")
    assert "mixture.tol" in describe("mixture")
    assert "chunking.threshold" not in describe("mixture")
    with pytest.raises(ConfigError, match=r"no such key; did you mean chunking\.threshold"):
        describe("chunking.treshold")
    with pytest.raises(ConfigError, match=r"did you mean choice\.max_risk"):
        describe("max_risk")


def test_the_command_prints_all_or_the_schema():
    done = CliRunner().invoke(main, ["config"])
    assert done.exit_code == 0
    assert all(k.name in done.output for k in keys())
    printed = json.loads(CliRunner().invoke(main, ["config", "--schema"]).output)
    assert printed == schema()
    assert CliRunner().invoke(main, ["config", "mixture", "--schema"]).exit_code == 2


def test_the_schema_accepts_what_the_program_accepts():
    given = schema()
    jsonschema.Draft202012Validator.check_schema(given)
    validator = jsonschema.Draft202012Validator(given)
    paths = sorted(CONF.glob("*.yaml"))
    assert len(paths) > 3
    for path in paths:
        assert not list(validator.iter_errors(yaml.safe_load(path.read_text()))), path.stem


@pytest.mark.parametrize(
    "wrong",
    [
        {"mixture": {"n_componets": 3}},
        {"chunking": {"threshold": 101}},
        {"releases": {"plan": "half"}},
        {"mixture": {"n_components": "ten"}},
    ],
)
def test_the_schema_refuses_what_the_program_refuses(wrong):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, schema())
    with pytest.raises(ConfigError):
        build_config(wrong)
