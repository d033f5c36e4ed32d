"""Names that refer to nothing are found before Spark starts, all of them at once."""

import pytest

from nes_spark.config import build_config
from nes_spark.errors import ConfigError
from nes_spark.run.checks import check_config

GOOD = {
    "input": {"path": "calls.jsonl", "columns": {"text": "text", "covariates": {"sector": "s"}}}
}

PAIRS = {"plan": "pairs"}
GPT = {"name": "gpt", "model": "gpt-x"}


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
        ({"input": {"path": None, "format": "delta"}}, "input.path: is missing"),
        (
            {"input": {"format": "table:lake.calls"}},
            "input.path: format table:lake.calls reads a table, no path",
        ),
        (
            {"output": {"release_format": "delta", "release_path": "s3a://lake/{period}"}},
            "output.release_path: s3a://lake/all/chunks: format delta is for local folders",
        ),
        ({"releases": {"constraints": {"same_covariates": ["country"]}}}, "there are sector"),
        (
            {"input": {"columns": {"identifiers": {"court": ["court"]}}}},
            "input.columns.identifiers.court: no such kind of direct identifier; declared are",
        ),
        ({"gates": {"accept_identifiers": ["other_documents"]}}, "unknown kind or rule"),
        (
            {"releases": {"plan": "pairs", "unit": "both"}},
            "releases.unit: both is for rel",
        ),
        (
            {"releases": {"plan": "pairs", "unit": "document"}},
            "set releases.unit chunk or",
        ),
        (
            {"releases": {"unit": "both"}, "report": {"options": {"o": {"swapping.rounds": 2}}}},
            "report.options: compares samplers of pairs of chunks",
        ),
        (
            {"choice": {"unit": "chunk"}},
            "choice.unit: chunk chooses among",
        ),
        (
            {
                "releases": {"unit": "both"},
                "choice": {"rule": "candidate", "combination": ["Person"], "n_swaps": 3},
            },
            "choice.unit: rule candidate names a candidate",
        ),
        (
            {
                "input": {"columns": {"metadata": "co", "identifiers": {"company": ["co"]}}},
                "gates": {"accept_identifiers": ["company"]},
            },
            "gates.accept_identifiers: 'company' is a kind of the value that must stay secret "
            "(input.columns.metadata: co), which a release never holds; allowed are ticker, person",
        ),
        ({"gates": {"accept_identifiers": ["name"]}}, "'name' is a rule that finds the value"),
        (
            {
                "input": {"columns": {"metadata": "t", "identifiers": {"symbol": ["t"]}}},
                "identifiers": {"kinds": {"symbol": {"placeholder": "[S]", "rule": "ticker"}}},
                "gates": {"accept_identifiers": ["ticker"]},
            },
            "'ticker' is a rule that finds the value",
        ),
        ({"gates": {"accept_identifiers": ["metadata"]}}, "unknown kind or rule 'metadata'"),
        (
            {"audit": {"gate_models": ["linkage", "gpt"], "models": [GPT]}},
            "audit.gate_models: gpt is bound by gates.max_linkage_accuracy, which is not set",
        ),
        ({"gates": {"require": ["judge"]}}, "gates.require: unknown kind 'judge'"),
        ({"entities": {"consistent_categories": ["Persons"]}}, "unknown category 'Persons'"),
        ({"choice": {"setting": "pkb-K9-eps0"}}, "there are spcauchy-K10-eps0.001"),
        (
            {"choice": {"population": 1e7}},
            "unknown population '1e+07'; there are comparable",
        ),
        ({"choice": {"rule": "coverage", "coverage": 0.8}, "releases": PAIRS}, "not pairs"),
        ({"choice": {"risk": "measured"}, "releases": PAIRS}, "choice.risk: measured needs"),
        (
            {"choice": {"risk": "measured_chunks"}, "audit": {"candidates": False}},
            "choice.risk: measured_chunks needs",
        ),
        ({"choice": {"risk": "measured"}, "audit": {"documents": False}}, "audit.documents"),
        (
            {"choice": {"utility": "fidelity"}, "utility": {"judge": "off"}},
            "fidelity needs utility.judge",
        ),
        ({"audit": {"gate_models": ["linkage", "wrods-self"]}}, "wrods-self"),
        ({"utility": {"tasks": ["nowhere.Task"]}}, "nowhere"),
        ({"output": {"withhold": "no/list.csv"}}, "output.withhold: no/list.csv is not there"),
        ({"entities": {"clues": "no/list.csv"}}, "entities.clues: no/list.csv is not there"),
    ],
)
def test_a_name_that_refers_to_nothing(changes, said):
    with pytest.raises(ConfigError) as error:
        check_config(build_config(merged(GOOD, changes)))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_what_there_is_passes():
    check_config(build_config(GOOD))
    check_config(build_config(merged(GOOD, {"gates": {"accept_identifiers": ["ticker", "url"]}})))
    bound = {"audit": {"gate_models": ["gpt"], "models": [GPT]}}
    check_config(build_config(merged(GOOD, bound | {"gates": {"max_linkage_accuracy": 0.1}})))
    check_config(build_config(merged(GOOD, {"input": {"path": None}})), planned=True)


def test_all_faults_are_listed():
    changes = {"choice": {"population": 1e7}, "gates": {"accept_identifiers": ["x"]}}
    with pytest.raises(ConfigError, match="2 faults:"):
        check_config(build_config(merged(GOOD, changes)))


@pytest.mark.parametrize("name", ["R+D", "", "a'b", "Per/son", "x" * 41, "1st"])
def test_category_names_have_a_rule(name):
    with pytest.raises(ConfigError, match="cannot be a category"):
        build_config({"entities": {"categories": ["Person", name], "labels": {}}})


def test_an_order_of_treatments_that_lets_something_fall_through_is_refused():
    for order, fault in [
        (["donor"], "a list that ends with one of"),
        (["recode", "drop"], "recode needs classes; give entities.recoding"),
        (["donor", "general", "drop"], "general is for terms; add Term to releases.further"),
    ]:
        config = build_config(merged(GOOD, {"releases": {"leftover": order}}))
        with pytest.raises(ConfigError, match=f"releases.leftover: .*{fault}"):
            check_config(config)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"releases": {"unit": "page"}}, "'chunk', 'document' or 'both'"),
        ({"choice": {"unit": "both"}}, "'chunk' or 'document'"),
        ({"releases": {"unit": "both", "leftover": ["summary"]}}, "is for unit 'chunk'"),
    ],
)
def test_units_that_there_are_not_are_refused(changes, said):
    with pytest.raises(ConfigError, match=said):
        build_config(merged(GOOD, changes))


def test_a_configuration_without_a_unit_of_choice_is_written_as_it_was():
    """Releases of before the key was there keep the digest of their configuration."""
    assert "unit" not in build_config(GOOD).model_dump()["choice"]
    both = merged(GOOD, {"releases": {"unit": "both"}, "choice": {"unit": "chunk"}})
    assert build_config(both).model_dump()["choice"]["unit"] == "chunk"
