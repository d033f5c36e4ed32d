"""What attackers hold of each candidate is read from a table, and a table of no use is refused."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import nes_spark as nes
from nes_spark.config import AuditConfig
from nes_spark.errors import InputError
from nes_spark.run.measuring import fits_in_memory, read_background, read_public_words
from tests.run.small import SEED, settings, write_corpus


def context_of(spark, **audit):
    rows = [("c0", "Acme"), ("c1", "Bolt"), ("c2", "Bolt")]
    store = SimpleNamespace(rows=lambda table, columns: iter(rows))
    return SimpleNamespace(
        spark=spark, store=store, config=SimpleNamespace(audit=AuditConfig(**audit))
    )


def test_words_and_texts_of_candidates_are_read(spark, tmp_path):
    table = tmp_path / "known.csv"
    table.write_text(
        'metadata,words,text\nBolt,"King Air; jets ;",Second\nAcme,cement,Kilns\n'
        'Bolt,hangars,First\nStranger,"a; b",Other\n'
    )
    context = context_of(spark, public_words=str(table), background=str(table))
    # all rows of a company, in a fixed order; others are nobody's
    assert read_public_words(context) == {
        "Acme": ["cement"], "Bolt": ["King Air", "jets", "hangars"],
    }  # fmt: skip
    assert read_background(context)["Bolt"] == "First\n\nSecond"
    assert (
        read_public_words(context_of(spark)) is None and read_background(context_of(spark)) is None
    )


def test_a_candidate_that_is_misspelt_is_named_with_its_nearest(spark, tmp_path, caplog):
    table = tmp_path / "words.csv"
    table.write_text("metadata,words\nBolt,jets\nAcmes,cement\nStranger,a\n")
    context = context_of(spark, public_words=str(table))
    assert read_public_words(context, warn=True) == {"Bolt": ["jets"]}
    assert caplog.messages == [
        "audit.public_words: 2 of 3 values of the metadata are not of this run: "
        "... (5 characters), almost ... (4 characters) here, S...r (8 characters)"
    ]


@pytest.mark.parametrize(
    "content, said",
    [
        ("metadata,text\nAcme,cement\n", "has no column words"),
        (
            "metadata,words\nacme,cement\n",
            r"names none of the corpus's .*almost ... \(4 characters\) here",
        ),
        ('metadata,words\nAcme," ; "\n', "a row without a word"),
        ('metadata,words\nAcme,"&; €"\n', "a row without a word"),
        ("metadata,words\n", "holds no words"),
    ],
)
def test_a_table_of_no_use_is_refused(spark, tmp_path, content, said):
    table = tmp_path / "words.csv"
    table.write_text(content)
    with pytest.raises(InputError, match=said):
        read_public_words(context_of(spark, public_words=str(table)))


def test_a_table_that_is_not_there_is_named(spark, tmp_path):
    with pytest.raises(InputError, match=r"audit.public_words: .* cannot be read"):
        read_public_words(context_of(spark, public_words=str(tmp_path / "none.parquet")))


@pytest.mark.parametrize(
    ("audit", "documents", "words", "fits"),
    [
        ({}, 3000, 1_000_000, True),
        ({}, 3001, 10, False),
        ({}, 44, 1_000_001, False),
        ({"max_words": 2_000_000}, 44, 1_000_001, True),
        # What only the driver can use is not left out because texts are long.
        ({"background": "b.csv"}, 44, 9_000_000, True),
        ({"public_words": "w.csv", "max_documents": 43}, 44, 10, False),
    ],
)
def test_long_corpora_are_attacked_on_spark(audit, documents, words, fits):
    store = SimpleNamespace(manifest=lambda name: SimpleNamespace(rows=documents))
    config = SimpleNamespace(audit=AuditConfig(**audit))
    context = SimpleNamespace(store=store, config=config, words=lambda: words)
    assert fits_in_memory(context) is fits


@pytest.mark.parametrize("key", ["background", "public_words"])
def test_a_table_that_is_missing_stops_the_run_before_spark_starts(tmp_path, monkeypatch, key):
    monkeypatch.setenv("NES_SPARK_SEED", SEED)
    monkeypatch.setattr("nes_spark.session.get_session", lambda *_, **__: pytest.fail("started"))
    missing = {f"audit.{key}": str(tmp_path / "none.csv")}
    config = settings(write_corpus(tmp_path / "calls.jsonl", n=2), tmp_path / "out", **missing)
    with pytest.raises(InputError, match=r"none\.csv: no such file"):
        nes.run(config)
