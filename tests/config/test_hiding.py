"""What a configuration can still do to hide more, and what it can leave."""

import shlex

import pytest
import yaml

from nes_spark.config import load_config
from nes_spark.config.hiding import PASSAGE, READERS, TELLING, further_steps, milder_steps
from nes_spark.demo import config_path


def given(options):
    """Overrides as the command line reads them."""
    words = shlex.split(options)
    assert words[::2] == ["--set"] * (len(words) // 2)
    return {key: yaml.safe_load(value) for key, _, value in (w.partition("=") for w in words[1::2])}


def keys(config):
    return [sorted(step.settings) for step in further_steps(config)]


FURTHER = ["entities.categories", "releases.further"]
APART = ["chunking.max_words", "output.publish"]


def test_every_step_is_taken_as_it_is_told_until_none_is_left():
    overrides, told = {}, []
    while steps := further_steps(load_config(config_path(), overrides)):
        assert len(steps) <= 3
        told.append(sorted(steps[0].settings))
        overrides |= given(steps[0].options)
    assert told == [FURTHER, ["entities.telling"], ["entities.telling"], APART]
    config = load_config(config_path(), overrides)
    assert config.releases.further == ["Quantity", "Term"]
    assert {"Quantity", "Term", "Person"} <= {*config.entities.categories}
    assert config.entities.telling == TELLING["memory"] == max(TELLING.values())
    assert (config.output.publish, config.chunking.max_words) == ("chunks", PASSAGE)


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ({}, [FURTHER, ["entities.telling"], APART]),
        # what follows is for plan whole
        ({"releases.plan": "pairs"}, [["releases.plan"]]),
        ({"entities.telling": 0.4}, [FURTHER, APART]),
        ({"entities.telling": 0.4, "chunking.max_words": 30}, [FURTHER, ["output.publish"]]),
        ({"output.publish": "chunks"}, [FURTHER, ["entities.telling"], ["chunking.max_words"]]),
        (
            {"output.publish": "chunks", "chunking.max_words": 80},
            [FURTHER, ["entities.telling"], ["chunking.max_words"]],
        ),
    ],
)
def test_what_is_done_is_not_told(overrides, expected):
    assert keys(load_config(config_path(), overrides)) == expected


def test_categories_stay_and_one_that_is_there_is_not_added_twice():
    names = ["Person", "Term", "Organization", "Product", "Location", "Event", "Date"]
    config = load_config(
        config_path(),
        {"entities.categories": names, "releases.further": ["Term"], "releases.shift": []},
    )
    step = further_steps(config)[0]
    assert step.settings["entities.categories"] == [*names, "Quantity"]


def test_every_milder_step_is_taken_until_names_alone_change():
    overrides, told = {"entities.telling": 0.3}, []
    for step in further_steps(load_config(config_path())):
        overrides |= {k: v for k, v in step.settings.items() if k != "entities.telling"}
    while steps := milder_steps(load_config(config_path(), overrides)):
        told.append((sorted(steps[0].settings), steps[0].what.partition(" stay")[0]))
        overrides |= given(steps[0].options)
    assert [keys for keys, _ in told] == [["entities.telling"]] * 2 + [["releases.further"]]
    assert told[-1][1] == "figures and terms"
    config = load_config(config_path(), overrides)
    assert config.entities.telling == 0 and config.releases.further == []


def test_what_makes_no_valid_configuration_is_not_told():
    # Clue is what telling words become: who declares a category of that name cannot have them
    fine = load_config(config_path())
    broken = fine.model_copy(
        update={"entities": fine.entities.model_copy(update={"terms": 0})}  # as none can be loaded
    )
    assert keys(fine) and keys(broken) == []


def test_readers_know_more_and_more():
    from nes_spark.cli import init

    (option,) = [p for p in init.params if p.name == "against"]
    assert tuple(option.type.choices) == READERS == tuple(TELLING)
    assert sorted(TELLING.values()) == [*TELLING.values()]
