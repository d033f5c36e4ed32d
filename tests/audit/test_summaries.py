"""Summaries come through the audit's client, and none that holds a name is published."""

from __future__ import annotations

import pytest

from nes_spark.audit.billing import BudgetExceeded
from nes_spark.audit.summaries_stages import summarise
from nes_spark.config import (
    AuditConfig,
    Config,
    LanguageModelConfig,
    OutputConfig,
    ReleasesConfig,
    SwappingConfig,
)
from nes_spark.entities.mentions import Mention
from nes_spark.errors import ConfigError
from nes_spark.swapping.plan_stages import PlanOptions, sample_plans
from nes_spark.swapping.summaries import accepted, names_held, without_terms
from tests.audit.corpus import frames, make
from tests.audit.server import ModelServer

TEXT = "Ada Quill told us that Orion Widgets grew in May, by 12%, and that all is well."
NAMES = [
    Mention(0, 9, "Person", "Ada Quill", "Ada Quill"),
    Mention(23, 36, "Organization", "Orion Widgets", "Orion Widgets"),
    Mention(45, 48, "Date", "May", "May"),
]


@pytest.mark.parametrize(
    ("summary", "held"),
    [
        ("A maker of tools grew in May.", []),
        ("ORION WIDGETS grew.", ["Orion Widgets"]),
        ("Ms. Quill is content.", ["Quill"]),
        ("Orionid meteors.", []),
    ],
)
def test_names_that_a_summary_holds(summary, held):
    assert names_held(TEXT, NAMES, summary) == held
    assert accepted(TEXT, NAMES, f" {summary}\n") == (None if held else summary)


def test_an_abbreviation_is_no_pronoun():
    text, names = "The US grew, and Vega.", [
        Mention(4, 6, "Location", "US", "US"), Mention(17, 21, "Organization", "Vega", "Vega"),
    ]  # fmt: skip
    assert accepted(text, names, "It grew with us.") == "It grew with us."
    assert names_held(text, names, "The US grew.") == ["US"]
    assert names_held(text, names, "It grew at VEGA.") == ["Vega"]


@pytest.mark.parametrize(
    ("name", "told", "is_held"),
    [
        ("Vega", "Sales at [Vega] rose.", True),
        ("NVIDIA", "Nvidia sold more.", True),
        ("NVIDIA", "nvidia sold more.", True),
        ("IT", "It sold more.", False),
        ("WHO", "The WHO says so.", True),
        ("Nestlé", "Nestle sold more.", True),
        ("Coca\u2011Cola", "coca-cola sold more.", True),
        ("People\u2019s Choice", "A people's choice.", True),
        ("Gap", "Gaps stay.", True),
        ("Vega", "Vegan food.", False),
        ("Vega", "[V]ega sold more.", True),
        ("Vega", "V\u00adega sold more.", True),
        ("Wal-Mart", "Walmart sold more.", True),
        ("DoorDash", "Door Dashes sold more.", True),
        ("Best Buy", "BestBuy sold more.", True),
        ("AT&T", "A T and T sold more.", True),
        ("S&P", "the S & P rose.", True),
        ("US", "The U. S. sold more.", True),
        ("GM", "H.P. and G.M. sold more.", True),
        ("3M", "3 M sold more.", True),
        ("IT", "I, t and all.", False),
        ("Orion", "Or ion sold more.", True),
    ],
)
def test_names_however_they_are_written(name, told, is_held):
    text = f"We like {name} more than anybody else says."
    there = [Mention(8, 8 + len(name), "Organization", name, name)]
    assert (name in names_held(text, there, told)) is is_held
    assert (accepted(text, there, told) is None) is is_held


def test_names_of_the_rest_of_the_document_are_refused_as_they_are_written():
    text = "We sold very many of them, and more than ever before."
    assert accepted(text, [], "We sold iPhones.", others=["iPhone", "Vision"]) is None
    assert accepted(text, [], "Our vision is clear.", others=["iPhone", "Vision"])
    assert names_held(text, [], "Our Vision is [iPhone].", ["iPhone", "Vision"]) == [
        "Vision", "iPhone",
    ]  # fmt: skip


def test_names_of_the_rest_are_refused_in_other_spellings_with_a_capital():
    text = "We sold very many of them, and more than ever before."
    assert accepted(text, [], "We sold [i]Phones.", others=["iPhone"]) is None
    assert accepted(text, [], "We sold Face Books.", others=["Facebook"]) is None
    assert accepted(text, [], "Every face books it.", others=["Facebook"])


def test_of_compounds_and_clues_the_pieces_go_too():
    words = [
        Mention(4, 20, "Clue", "all-season tires", "all season tire"),
        Mention(25, 44, "Clue", "King Air turboprops", "king air turboprop"),
    ]
    told = "Our tires, turboprops and the King Air sell, all in season."
    assert without_terms(words, told) == "Our [Term], [Term] and the [Term] sell, all in [Term]."
    compound = [Mention(0, 14, "Term", "tumor-specific", "tumor-specific")]
    assert without_terms(compound, "It is specific to tumors.") == "It is specific to [Term]."
    # in one word and parted, and in capitals where it is spelled as a word of grammar
    words = [Mention(0, 10, "Clue", "turboprops", "turboprop"), Mention(0, 2, "Term", "OR", "OR"),
             Mention(0, 9, "Term", "ready-mix", "ready-mix")]  # fmt: skip
    told = without_terms(words, "Turbo-props or readymix, OR volumes and [OR] grew.")
    assert told == "[Term] or [Term], [Term] volumes and [OR] grew."
    # what everybody says, in any text of the same secret, tells in its own chunk alone
    told = without_terms([], "Air turboprops grew.", ["King Air turboprops", "grew"])
    assert told == "[Term] grew."


def test_brackets_in_brackets_hide_nothing():
    words = [Mention(0, 4, "Term", "Tire", "tire")]
    text = "Tire sales grew again, and that is all there is to say of them now."
    assert accepted(text, words, "a [[tire]] and [a [b] tire]]") == "a [Term] and a b [Term]"


def test_no_summary_is_longer_than_what_was_shown():
    assert accepted("It is a long text, this.", [], "It is long.", shown="Long.") is None
    assert accepted("It is a long text, this.", [], "Long.", shown="It is long.") == "Long."


@pytest.mark.parametrize(
    ("surface", "entity", "told", "expected"),
    [
        ("tire", "tire", "Tires and tire's", "[Term] and [Term]"),
        ("tires", "tire", "a tire!", "a [Term]!"),
        ("batteries", "battery", "no battery", "no [Term]"),
        ("tire  rims", "tire rims", "tire-rims, [Term]", "[Term], [Term]"),
        ("don\u2019t stop", "don't stop", "we don't stop", "we don't [Term]"),
        ("deep-sea", "deep-sea", "deep sea _deep-sea_", "[Term] _[Term]_"),
        ("tire", "tire", "retire, tireless, entire", "retire, tireless, entire"),
    ],
)
def test_terms_however_they_are_written(surface, entity, told, expected):
    assert without_terms([Mention(0, len(surface), "Term", surface, entity)], told) == expected


def test_with_telling_words_each_word_of_a_clue_tells():
    text, elsewhere = "It is a long text, and this.", ["fired kilns", "think"]
    told = "They fired, I think."
    assert accepted(text, [], told, elsewhere=elsewhere) == told
    every = accepted(text, [], told, elsewhere=elsewhere, every_word=True)
    assert every == "They [Term], I think."


def test_terms_of_a_chunk_become_placeholders_in_its_summary():
    text = "Tires and tire rims sold, not term loans; our slogan is all we can, says May."
    words = [
        Mention(0, 5, "Term", "Tires", "tire"),
        Mention(10, 14, "Term", "tire", "tire"),
        Mention(10, 19, "Term", "tire rims", "tire rims"),
        Mention(30, 34, "Term", "term", "term"),
        Mention(56, 66, "Clue", "all we can", "all we can"),
        Mention(73, 76, "Date", "May", "May"),
    ]
    told = "Tires, tire rims and a tire on term, but retired tiresome firms do all we can in May."
    assert without_terms(words, told) == (
        "[Term], [Term] and a [Term] on [Term], but retired tiresome firms do [Term] in May."
    )
    assert accepted(text, words, "Tires sold.") == "[Term] sold."


def test_nothing_is_looked_for_in_placeholders_that_were_shown():
    text = "Executive pay rose, says [Executive 2] of us all in a call."
    words = [Mention(0, 9, "Term", "Executive", "executive")]
    told = "[Executive 2] says [executive] pay of [Executive 3] rose."
    assert accepted(text, words, told) == "[Executive 2] says [Term] pay of [Term] 3 rose."


def test_a_name_without_a_letter_refuses_nothing():
    there = [Mention(12, 13, "Organization", "-", "-")]
    assert accepted("We sold all - and more of it.", there, "We sold - well.") == "We sold - well."


@pytest.mark.parametrize("summary", ["", "  \n", None, "Sales rose. " * 10])
def test_nothing_and_more_than_the_chunk_are_no_summary(summary):
    assert accepted(TEXT, NAMES, summary) is None


def told(messages):
    """Say what the text is about; for the first document by name, for the second cut short."""
    text = messages[-1]["content"]
    if "Org 0" in text:
        return "All about " + text[text.index("Org 0") :][:7]
    return "" if "Org 1" in text else "A company speaks of its business."


def configuration(server, **more):
    model = LanguageModelConfig(
        name="writer", model="gpt-4o", base_url=server.base_url, api_key_env="NES_TEST_KEY",
        price_in=2.5, price_out=10.0,
    )  # fmt: skip
    audit = {"backoff": 0.01, "max_backoff": 0.05, "timeout": 10.0, **more}
    return Config(
        audit=AuditConfig(models=[model], **audit),
        releases=ReleasesConfig(leftover=["summary", "drop"]),
    ).summary_audit()


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("NES_TEST_KEY", "sk-never-shown")


def test_refused_summaries_go_on_to_the_next_treatment(spark, tmp_path):
    corpus = make(documents=4, chunks=3, swaps=1, draws=1)
    tables = frames(spark, corpus, 2)
    # one company a component: nobody has a partner, so all is left over
    places = [("s", c["chunk_id"], int(c["chunk_id"][3])) for c in corpus.cells]
    assignments = spark.createDataFrame(places, "setting string, chunk_id string, component int")
    options = PlanOptions(("Organization",), ("Product",), leftover=("summary", "drop"))
    plain = (options, ReleasesConfig(draws=1), SwappingConfig(), b"secret")
    with ModelServer(answer=told, key="sk-never-shown", fault_rate=0.2, seed=3) as server:
        config = configuration(server)

        def ask(wanted, settings=config, folder="answers"):
            return summarise(
                wanted, tables["chunks"], tables["mentions"], settings, str(tmp_path / folder)
            )

        def treated(how):
            plans = sample_plans(tables["cells"], assignments, *plain, summarise=how)
            rows = plans.leftovers.collect()
            plans.unpersist()
            return {(r["chunk_id"], r["entity"]): (r["treatment"], r["replacement"]) for r in rows}

        def read(frame):
            """Its rows without their plan, which is long, and planned anew by each reader."""
            return spark.createDataFrame(frame.collect(), frame.schema)

        def ask_twice(wanted):
            wanted = read(wanted)
            first = read(ask(wanted))
            rows, asked = sorted(map(str, first.collect())), len(server.requests)
            assert rows == sorted(map(str, ask(wanted).collect()))
            assert len(server.requests) == asked > 0  # answers are kept
            return first

        found = treated(ask_twice)
        asked = len(server.requests)
        for (chunk, _), outcome in found.items():
            assert outcome == (
                ("summary", "A company speaks of its business.") if chunk > "doc2" else
                ("drop", None)
            )  # fmt: skip
        assert {chunk for chunk, _ in found} == {c["chunk_id"] for c in corpus.cells}
        tight = configuration(server, budget=1e-6)
        with pytest.raises(BudgetExceeded, match="more than the budget"):
            ask(tables["cells"].select("chunk_id"), tight, "others")
        assert len(server.requests) == asked
    # refused before a table is looked at
    with pytest.raises(ValueError, match="'summarise' parameter of sample_plans"):
        sample_plans(None, None, *plain)


def test_a_model_reads_what_is_released_and_never_more(spark, tmp_path, partitions):
    corpus = make(documents=4, chunks=3, swaps=1, draws=1)
    tables = frames(spark, corpus, partitions)
    ids = sorted(c["chunk_id"] for c in corpus.cells)
    wanted = spark.createDataFrame([(c,) for c in ids[:3]], "chunk_id string")
    # the second is dropped, the fourth not asked for, the first and third read alike
    shown = spark.createDataFrame(
        [(ids[0], "Seen."), (ids[1], ""), (ids[2], "Seen."), (ids[3], "Unseen.")],
        "chunk_id string, text string",
    ).repartition(partitions)
    with ModelServer(answer=lambda messages: "Told.", key="sk-never-shown") as server:
        done = summarise(
            wanted, tables["chunks"], tables["mentions"], configuration(server),
            str(tmp_path / "answers"), shown,
        )  # fmt: skip
        assert sorted(map(tuple, done.collect())) == [(ids[0], "Told."), (ids[2], "Told.")]
        (request,) = server.requests
        assert request.body["messages"][-1]["content"].endswith("\n\nSeen.")


def test_what_told_in_another_chunk_is_nothing_to_say_here(spark, tmp_path, partitions):
    rows = [(f"{d}#{i}", d, d.upper(), f"{d} said this and that, {i}.") for d in "ab" for i in "01"]
    chunks = spark.createDataFrame(
        rows, "chunk_id string, document_id string, metadata string, text string"
    )
    mentions = spark.createDataFrame(
        [("a#0", "Clue", "King Air", "king air", 0, 8), ("b#0", "Name", "Vega", "Vega", 0, 4)],
        "chunk_id string, category string, surface string, entity string, start int, end int",
    )
    wanted = chunks.where("chunk_id LIKE '%1'").select("chunk_id")
    with ModelServer(answer=lambda messages: "A King Air.", key="sk-never-shown") as server:
        done = summarise(
            wanted, chunks.repartition(partitions), mentions, configuration(server),
            str(tmp_path / "answers"),
        )  # fmt: skip
    assert sorted(map(tuple, done.collect())) == [("a#1", "A [Term]."), ("b#1", "A King Air.")]


def test_a_summary_needs_a_model(monkeypatch):
    with pytest.raises(ValueError, match=r"releases\.summary\.model: None is not in audit\.models"):
        Config(releases=ReleasesConfig(leftover=["summary", "drop"]))
    with pytest.raises(ValueError, match=r"output\.instead: summary is for the chunks that output"):
        Config(output=OutputConfig(instead="summary"))
    listed = OutputConfig(instead="summary", withhold="listed.csv")
    with pytest.raises(ValueError, match=r"releases\.summary\.model: None is not in audit\.models"):
        Config(output=listed)
    from nes_spark.run.secrets import required_secrets

    monkeypatch.delenv("NES_TEST_KEY")
    model = LanguageModelConfig(name="writer", model="m", api_key_env="NES_TEST_KEY")
    config = Config(
        audit=AuditConfig(models=[model]), releases=ReleasesConfig(leftover=["summary", "drop"])
    )
    for asked in (config, Config(audit=AuditConfig(models=[model]), output=listed)):
        with pytest.raises(ConfigError, match="NES_TEST_KEY is not set"):
            required_secrets(asked, None)
