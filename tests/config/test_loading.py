import pytest

import nes_spark as nes
from nes_spark.config import Config, EntitiesConfig, ReleasesConfig, build_config
from nes_spark.config.sections import DEFAULT_CATEGORIES
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


@pytest.mark.parametrize(
    ("categories", "fault"),
    [
        (["Organisation"], "nothing leads to 'Organisation'; did you mean 'Organization'"),
        ([*DEFAULT_CATEGORIES[:5], "Dates"], "nothing leads to 'Dates'; did you mean 'Date'"),
        ([*DEFAULT_CATEGORIES, "Drug"], r"nothing leads to 'Drug'; there are Organiz.* Term;"),
        (["Organization"], "unknown category 'Person', to which label 'PERSON' leads"),
    ],
)
def test_a_category_that_nothing_leads_to_is_named(categories, fault):
    with pytest.raises(ConfigError, match=fault) as caught:
        build_config({"entities": {"categories": categories}})
    assert len(str(caught.value).splitlines()) == 1


def test_categories_of_ones_own_are_led_to_by_labels_forms_and_given_spans():
    own = [*DEFAULT_CATEGORIES, "Drug"]
    labels = {**build_config({}).entities.labels, "DRUG": "Drug"}
    for told in ({"labels": labels}, {"allow": {"Drug": ["zorvimab"]}}):
        assert build_config({"entities": {"categories": own, **told}}).entities.categories == own
    # a recogniser may have labels for some of the program's own only
    assert build_config({"entities": {"labels": {"ORG": "Organization"}}})
    given = {"recognizer": "given", "categories": own}
    assert build_config({"entities": given}).entities.categories == own


def test_off_is_read_as_it_is_written(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text("utility: {judge: off}\nidentifiers: {mined_aliases: off}\n")
    config = nes.load_config(path)
    assert config.utility.judge == config.identifiers.mined_aliases == "off"
    path.write_text("utility: {judge: on}\n")
    with pytest.raises(ConfigError, match=r"utility\.judge"):
        nes.load_config(path)


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


def test_a_recoding_table_is_read_into_the_configuration(tmp_path):
    table = tmp_path / "classes.csv"
    table.write_text(
        "category,class,entity\nOrganization,Bank,Elm & Co\nOrganization,Bank,re:.* Bank\n"
    )
    given = {"entities.recoding": {"Organization": {"Bank": ["Oak"]}, "Person": {"P": ["Q"]}}}
    config = nes.load_config(None, given | {"entities.recoding_table": str(table)})
    assert config.entities.recoding == {
        "Organization": {"Bank": ["Oak", "Elm & Co", "re:.* Bank"]},
        "Person": {"P": ["Q"]},
    }
    # A worker without the file reads the same.
    table.unlink()
    again = type(config.entities).model_validate_json(config.entities.model_dump_json())
    assert again == config.entities


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("category,class\nPerson,P\n", "has no column entity"),
        ("category,class,entity\nShip,S,T\n", "unknown category 'Ship'"),
        ("category,class,entity\nPerson,P,re:(\n", "is not a regular expression"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_bad_recoding_table_gets_one_line(tmp_path, content, fault):
    table = tmp_path / "classes.csv"
    if content is not None:
        table.write_text(content)
    with pytest.raises(ConfigError, match=fault) as caught:
        nes.load_config(None, {"entities.recoding_table": str(table)})
    assert "\n" not in str(caught.value)


def test_options_to_compare_are_checked_like_the_sections_they_change():
    for settings, fault in [
        ({"swapping.roundz": 2}, "did you mean 'rounds'"),
        ({"swapping.rounds": 0}, "swapping.rounds: input should be greater than or equal to 1"),
        ({"risk.population": 1e9}, "cannot be compared"),
        ({"releases.constraints.min_cosine": 3}, "less than or equal to 1"),
    ]:
        with pytest.raises(ConfigError, match=fault):
            nes.load_config(None, {"report.options": {"an option": settings}})


def test_dates_that_are_shifted_are_not_kept():
    assert Config().releases.plan == "whole" and Config().choice.rule == "lowest_risk"
    for changes in (
        {"releases.shift": ["Date"]},
        {"releases.must_change": {"Date": "[Date]"}},
        {"releases.swap": ["Organization", "Date"]},
    ):
        assert nes.load_config(None, changes).releases.fixed == []
    assert nes.load_config(None, {"releases.plan": "pairs"}).releases.draws == 10
    for settings, fault in [
        ({"releases.shift": ["Date"], "releases.fixed": ["Date"]}, "'shift' and 'fixed' at once"),
        ({"releases.shift": 5}, "releases.shift: input should be a valid list"),
        ({"releases.swap": True}, "releases.swap: input should be a valid list"),
        ({"releases.shift": ["Person"]}, "cannot be swapped and in 'shift' at once"),
        ({"releases.shift": ["Dates"]}, "unknown category 'Dates'"),
        ({"releases.shift_days": [30, 20]}, "1 <= least <= most <= 36500"),
        ({"releases.further": ["Term"]}, "unknown category 'Term'"),
        ({"releases.unit": "document", "releases.leftover": ["summary", "drop"]}, "for documents"),
    ]:
        with pytest.raises(ConfigError, match=fault):
            nes.load_config(None, settings)


def test_a_list_of_clues_brings_its_category_and_placeholder():
    plain = build_config({})
    assert "Clue" not in plain.entities.categories
    told = build_config({"entities": {"clues": "clues.csv"}})
    assert told.entities.categories == [*plain.entities.categories, "Clue"]
    assert told.releases.must_change == {**plain.releases.must_change, "Clue": "[Term]"}
    given = {
        "entities": {
            "clues": "clues.csv",
            "categories": ["Person", "Clue"],
            "labels": {"PERSON": "Person"},
            "consistent_categories": ["Person"],
        },
        "releases": {
            "swap": ["Person"],
            "sizes": [1],
            "fixed": [],
            "must_change": {"Clue": "[X]"},
        },
    }
    told = build_config(given)
    assert told.entities.categories == ["Person", "Clue"]
    assert told.releases.must_change == {"Clue": "[X]"}
    # what is written down is read again as it is
    assert build_config(told.model_dump(mode="json")) == told


def test_telling_words_bring_them_too():
    told = build_config({"entities": {"telling": 0.2}})
    assert told.entities.categories[-1] == "Clue"
    assert told.releases.must_change["Clue"] == "[Term]"
    assert build_config({"entities": {"telling": 0}}) == build_config({})
    for share in (-0.1, 1):
        with pytest.raises(ConfigError, match=r"entities\.telling"):
            build_config({"entities": {"telling": share}})


@pytest.mark.parametrize("given", [{"clues": "x.csv"}, {"telling": 0.1}])
@pytest.mark.parametrize("built", [EntitiesConfig, dict])
@pytest.mark.parametrize("releases", [None, {}, ReleasesConfig()])
def test_so_it_does_where_sections_are_made_in_python(given, built, releases):
    entities = built(**given)
    told = Config(entities=entities, **({} if releases is None else {"releases": releases}))
    assert told == build_config({"entities": given})
    assert told.entities.categories[-1] == "Clue"
    assert told.releases.must_change["Clue"] == "[Term]"


@pytest.mark.parametrize("more", [{"about": "documents"}, {"answer": "period"}])
def test_clues_are_of_chunks_and_their_metadata(more):
    with pytest.raises(ConfigError, match="clues: words of a chunk"):
        build_config({"audit": {"clues": True, **more}})


@pytest.mark.parametrize("value", [True, False])
def test_true_is_no_number(value):
    with pytest.raises(ConfigError, match=rf"max_words: a number is needed \(got {value}\)"):
        build_config({"chunking": {"max_words": value}})
    with pytest.raises(ConfigError, match="threshold: a number is needed"):
        build_config({"chunking": {"threshold": value}})
