import pytest

import nes_spark as nes
from nes_spark.config import Config, build_config
from nes_spark.errors import ConfigError


def test_all_faults_are_reported_at_once():
    with pytest.raises(ConfigError) as caught:
        build_config({"chunking": {"threshold": 140, "bufer": 1}, "foo": 1})
    message = str(caught.value)
    assert "3 faults" in message
    assert "chunking.threshold" in message
    assert "140" in message
    assert "did you mean 'buffer'" in message
    assert "Valid keys here: audit, choice, chunking" in message


def test_unknown_key_in_a_list_entry_names_its_place():
    with pytest.raises(
        ConfigError, match=r"audit\.models\.0\.modle: unknown key; did you mean 'model'"
    ):
        build_config({"audit": {"models": [{"name": "a", "model": "b", "modle": "c"}]}})


def test_one_fault_is_one_line():
    with pytest.raises(ConfigError) as caught:
        build_config({"chunking": {"threshold": "high"}})
    assert "\n" not in str(caught.value)


def test_single_values_become_grids():
    config = build_config({"mixture": {"family": "spcauchy", "n_components": 30}})
    assert config.mixture.family == ["spcauchy"]
    assert config.mixture.n_components == [30]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"releases": {"swap": ["Organisation"]}}, "unknown category 'Organisation'"),
        ({"releases": {"swap": ["Event", "Person"]}}, "cannot be swapped and in 'must_change'"),
        ({"releases": {"sizes": [5]}}, "5 is more than the 4"),
        ({"choice": {"rule": "max_utility"}}, "needs 'max_risk'"),
        ({"choice": {"rule": "max_rate"}}, "needs 'combination'"),
        ({"mixture": {"min_weight": [1.0]}}, r"\[0, 1\)"),
        ({"risk": {"population": [1e31]}}, "from 1 to 1e30"),
        ({"embedding": {"model": "openai:"}}, "openai:<model>"),
        ({"audit": {"prompt": "who?"}}, "{text}"),
        ({"input": {"columns": {"text": "a", "turns": "b"}}}, "exactly one of"),
    ],
)
def test_contradictions_are_named(content, fault):
    with pytest.raises(ConfigError, match=fault):
        build_config(content)


def test_overrides_reach_into_sections(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("chunking:\n  threshold: 50\n")
    config = nes.load_config(path, {"chunking.buffer": 2, "mixture.n_components": [3, 4]})
    assert (config.chunking.threshold, config.chunking.buffer) == (50, 2)
    assert config.mixture.n_components == [3, 4]


@pytest.mark.parametrize(
    ("text", "fault"), [("a: [", "not valid YAML"), ("- a", "must be a mapping"), (None, "no such")]
)
def test_unreadable_files_get_one_line(tmp_path, text, fault):
    path = tmp_path / "c.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match=fault) as caught:
        nes.load_config(path)
    assert "\n" not in str(caught.value)


def test_fingerprint_depends_on_content_and_section_only(tmp_path):
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    first.write_text("chunking: {threshold: 60}\nrisk: {population: 1.0e+20}\n")
    second.write_text("risk: {population: [1.0e+20]}\nchunking: {threshold: 60.0}\n")
    a, b = nes.load_config(first), nes.load_config(second)
    assert a.fingerprint() == b.fingerprint()
    changed = nes.load_config(first, {"report.examples": True})
    assert changed.fingerprint("chunking") == a.fingerprint("chunking")
    assert changed.fingerprint("report") != a.fingerprint("report")


def test_defaults_are_the_papers_candidate_space():
    config = Config()
    assert config.releases.swap == ["Organization", "Person", "Product", "Location"]
    assert config.releases.sizes == [2]
    assert config.releases.max_swaps == 30
    assert config.releases.must_change == {"Event": "[Event]"}
    assert config.releases.fixed == ["Date"]
    assert config.chunking.threshold == 75
