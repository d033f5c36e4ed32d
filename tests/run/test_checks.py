"""Names that refer to nothing are found before Spark starts, all of them at once."""

import pytest

from nes_spark.config import build_config
from nes_spark.errors import ConfigError
from nes_spark.run.checks import check_config

GOOD = {
    "input": {"path": "calls.jsonl", "columns": {"text": "text", "covariates": {"sector": "s"}}}
}


def merged(content, changes):
    """Sections of both, those of the second winning key by key."""
    out = dict(content)
    for name, value in changes.items():
        inner = isinstance(value, dict) and isinstance(out.get(name), dict)
        out[name] = merged(out[name], value) if inner else value
    return out


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"input": {"path": None}}, "input.path: is missing"),
        ({"releases": {"constraints": {"same_covariates": ["country"]}}}, "there are sector"),
        (
            {"input": {"columns": {"identifiers": {"court": ["court"]}}}},
            "input.columns.identifiers.court: no such kind of direct identifier; declared are",
        ),
        ({"gates": {"accept_identifiers": ["other_documents"]}}, "unknown kind or rule"),
        ({"gates": {"require": ["judge"]}}, "gates.require: unknown kind 'judge'"),
        ({"entities": {"consistent_categories": ["Persons"]}}, "unknown category 'Persons'"),
        ({"choice": {"setting": "pkb-K9-eps0"}}, "there are spcauchy-K10-eps0.001"),
        (
            {"choice": {"population": 1e7}},
            "unknown population '1e+07'; there are comparable",
        ),
        ({"audit": {"gate_models": ["linkage", "wrods-self"]}}, "wrods-self"),
        ({"utility": {"tasks": ["nowhere.Task"]}}, "nowhere"),
    ],
)
def test_a_name_that_refers_to_nothing(changes, said):
    with pytest.raises(ConfigError) as error:
        check_config(build_config(merged(GOOD, changes)))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_what_there_is_passes():
    check_config(build_config(GOOD))
    check_config(build_config(merged(GOOD, {"input": {"path": None}})), planned=True)


def test_all_faults_are_listed():
    changes = {"choice": {"population": 1e7}, "gates": {"accept_identifiers": ["x"]}}
    with pytest.raises(ConfigError, match="2 faults:"):
        check_config(build_config(merged(GOOD, changes)))


@pytest.mark.parametrize("name", ["R+D", "", "a'b", "Per/son", "x" * 41, "1st"])
def test_category_names_have_a_rule(name):
    with pytest.raises(ConfigError, match="cannot be a category"):
        build_config({"entities": {"categories": ["Person", name], "labels": {}}})
