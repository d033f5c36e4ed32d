"""Models say which words told them whose a text is."""

import pytest

from nes_spark.audit.billing import BudgetExceeded
from nes_spark.audit.clue_stages import ask_for_clues
from nes_spark.audit.clues import parse_clues
from nes_spark.config import AuditConfig, LanguageModelConfig
from tests.audit.server import ModelServer

TEXT = "We sell ready  mix\ncement, and embrace reality: [Term] grew."


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("ready mix cement\nEmbrace reality", ["ready mix cement", "Embrace reality"]),
        ("1. 'ready mix'\n2) cement,\n- cement\n\n• *grew*", ["ready mix", "cement", "grew"]),
        ("NONE", []),
        ("They make cement.\nThe slogan is famous.", []),
        ("...", []),
        ("", []),
        # with ends of sentences, and what explains them
        ("ready mix.\n(cement)\ncement…", ["ready mix", "cement"]),
        (
            "`ready mix`: a product\n**cement**: made of it\ngrew - fast",
            ["ready mix", "cement", "grew"],
        ),
        ("3: ready mix\n4 - cement\n+ grew", ["ready mix", "cement", "grew"]),
        # both sides of a colon, but no label
        ("Q1: ready mix\nWe: the company\nreality: cement", ["ready mix", "reality", "cement"]),
        ("ready mix (sold in Texas)\ncement \u2192 it is theirs", ["ready mix", "cement"]),
        # whole words
        ("read\nmix ce\ncements", []),
    ],
)
def test_lines_that_are_words_of_the_text(content, expected):
    assert parse_clues(content, TEXT) == expected


@pytest.mark.parametrize(
    ("clue", "text"),
    [
        ("NONE", "Nonetheless it grew."),
        ("None", "None of it grew."),
        ('"NONE"', "NONE grew."),
        ("art", "The artful part."),
    ],
)
def test_parts_of_words_are_none_and_none_is_nothing(clue, text):
    assert parse_clues(clue, text) == []


@pytest.mark.parametrize(
    ("clue", "text"),
    [
        ("it's how we do it", "Well, it’s how we do it."),
        ("Lands’ end", "Of Lands' End."),
        ('the "real thing" is', "And the “real thing” is here."),
        ("ready-mix", "Our ready‑mix grew."),
        ("ready—mix", "Our ready -- mix grew."),
        ("mid – single", "Of mid-single digits."),
        ("$5", "It cost A$5."),
        ("AT&T", "With AT&T."),
    ],
)
def test_quotes_and_dashes_of_all_kinds_are_alike(clue, text):
    assert parse_clues(clue, text) == [clue]


TEXTS = {
    "a#0": ("Acme {text} Inc.", "We sell ready mix cement."),
    "a#1": ("Acme {text} Inc.", "The kilns of {answer} grew."),
    "b#0": ("Beta Corp.", "We sell mattresses."),
}


def told(messages):
    """Copy the text's last two words; of the first chunk the answer is cut off."""
    text = messages[-1]["content"].rpartition("\n\n")[2].rstrip(".")
    return "\n".join([" ".join(text.split()[-2:]), "what nobody said"])


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("NES_TEST_KEY", "sk-never-shown")


def configuration(server, **more):
    models = [
        LanguageModelConfig(
            name=name, model=name, base_url=server.base_url, api_key_env="NES_TEST_KEY",
            price_in=2.5, price_out=10.0,
        )
        for name in ("one", "other")
    ]  # fmt: skip
    return AuditConfig(models=models, clues=True, about="chunks", backoff=0.01, **more)


def test_each_model_is_asked_about_what_it_named(spark, tmp_path):
    named = spark.createDataFrame(
        [("one", c, *TEXTS[c]) for c in ("a#0", "a#1")] + [("other", "b#0", *TEXTS["b#0"])],
        "model string, chunk_id string, metadata string, text string",
    )
    with ModelServer(answer=told, key="sk-never-shown") as server:
        estimates = []

        def ask(folder="answers", paid=0.0, **more):
            config = configuration(server, **more)
            found = ask_for_clues(named, config, str(tmp_path / folder), paid, estimates.append)
            return {(r["chunk_id"], r["clue"]) for r in found.collect()}

        assert ask() == {
            ("a#0", "mix cement"), ("a#1", "{answer} grew"), ("b#0", "sell mattresses"),
        }  # fmt: skip
        asked = [r.body for r in server.requests]
        shown = [body["messages"][-1]["content"] for body in asked]
        # each knows whose the text is; what looks like a slot in a text or a name is none
        about = {
            (body["model"], text.rpartition("\n\n")[2])
            for body, text in zip(asked, shown, strict=True)
        }
        assert about == {
            ("one", TEXTS["a#0"][1]), ("one", TEXTS["a#1"][1]), ("other", TEXTS["b#0"][1]),
        }  # fmt: skip
        assert all(("Acme {text} Inc." in text) == ("mattresses" not in text) for text in shown)
        assert all(("Beta Corp." in text) == ("mattresses" in text) for text in shown)
        assert {body["max_tokens"] for body in asked} == {600}
        assert [e.requests for e in estimates] == [2, 1]
        # answers are kept
        ask()
        assert len(server.requests) == len(asked)
        # what was paid for the guesses counts against the budget
        assert ask("others", budget=1.0)
        before = len(server.requests)
        with pytest.raises(BudgetExceeded, match="more than the budget"):
            ask("more", paid=1.0, budget=1.0)
        assert len(server.requests) == before


def test_of_an_answer_that_was_cut_off_whole_lines_count(spark, tmp_path):
    named = spark.createDataFrame(
        [("one", "a#0", "Acme Inc.", "We sell ready mix cement.")],
        "model string, chunk_id string, metadata string, text string",
    )
    with ModelServer(answer=lambda m: "ready mix\ncement", key="sk-never-shown") as server:
        config = configuration(server)
        whole = ask_for_clues(named, config, str(tmp_path / "answers")).collect()
        assert {r["clue"] for r in whole} == {"ready mix", "cement"}
        server.finish_reason = "length"
        cut = ask_for_clues(named, config, str(tmp_path / "others")).collect()
    assert {r["clue"] for r in cut} == {"ready mix"}


def test_answers_are_as_long_as_a_model_may_give(spark, tmp_path):
    named = spark.createDataFrame(
        [(model, c, *TEXTS["a#0"]) for model in ("one", "other") for c in ("a#0", "a#1")],
        "model string, chunk_id string, metadata string, text string",
    )
    with ModelServer(answer=lambda m: "ready mix\ncement", key="sk-never-shown") as server:
        config = configuration(server)
        longer = [m.model_copy(update={"max_tokens": 5000}) for m in config.models[:1]]
        config = config.model_copy(update={"models": longer})
        found = ask_for_clues(named, config, str(tmp_path / "answers")).collect()
        assert {(r["chunk_id"], r["clue"]) for r in found} == {
            (chunk, clue) for chunk in ("a#0", "a#1") for clue in ("ready mix", "cement")
        }
        # a model that may answer at length still does
        assert {r.body["max_tokens"] for r in server.requests} == {5000}
