"""Keys of configurations side by side."""

import pytest

from nes_spark.config import load_config
from nes_spark.config.sections import DEFAULT_CATEGORIES, Config
from nes_spark.run.differing import UNSET, Setting, beside, changed, settings

NAME = "Acme of Nowhere"
MODEL = {"name": "m", "model": "gpt-4o", "base_url": f"http://{NAME}", "temperature": 0.5}


def of(key, **given):
    return settings(load_config(None, {k.replace("__", "."): v for k, v in given.items()}))[key]


def test_every_section_is_looked_at():
    found = settings(Config())
    assert {key.partition(".")[0] for key in found} == set(Config.model_fields)
    assert "releases.constraints.min_cosine" in found
    assert "input.columns.metadata" in found


def test_values_that_may_be_names_are_compared_and_not_shown():
    given = {"identifiers.allow": [NAME], "input.path": NAME, "audit.models": [MODEL]}
    found = settings(load_config(None, given))
    assert not [key for key, s in found.items() if NAME in f"{key} {s.shown} {s.entries}"]
    assert found["audit.models.0.temperature"].shown == "0.5"
    assert found["audit.models.0.base_url"].shown is None
    assert found["identifiers.allow"] != settings(Config())["identifiers.allow"]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (of("mixture.n_init"), of("mixture.n_init", mixture__n_init=9), "5 -> 9"),
        (
            of("releases.leftover"),
            of("releases.leftover", releases__leftover=["placeholder", "donor"]),
            "donor, placeholder -> placeholder, donor",
        ),
        (
            of("mixture.n_components"),
            of("mixture.n_components", mixture__n_components=[30]),
            "10 -> 30",
        ),
        (
            of("entities.categories"),
            of(
                "entities.categories",
                entities__categories=[c for c in [*DEFAULT_CATEGORIES, "Term"] if c != "Event"],
                entities__labels={},
                releases__must_change={},
            ),
            "+ Term - Event",
        ),
        (
            of("releases.must_change"),
            of("releases.must_change", releases__must_change={"Event": NAME}),
            "another value for Event (not shown)",
        ),
        (
            of("identifiers.allow"),
            of("identifiers.allow", identifiers__allow=[NAME]),
            "none -> set (not shown)",
        ),
        (of("input.path", input__path="a"), UNSET, "set (not shown) -> unset"),
        (
            of("input.path", input__path="a"),
            of("input.path", input__path="b"),
            "another value (not shown)",
        ),
    ],
)
def test_what_became_of_a_setting(before, after, words):
    assert before.content != after.content
    assert changed(before, after) == words


def test_equal_values_that_are_not_shown_have_one_number():
    a, b = Setting("a"), Setting("b")
    assert beside([a, b, a]) == [f"value {n} (not shown)" for n in (1, 2, 1)]
    assert beside([a, UNSET]) == ["set (not shown)", "unset"]
    assert beside([Setting("1", "A", ("A",)), Setting("2", "B", ("B",))]) == ["A", "B"]
