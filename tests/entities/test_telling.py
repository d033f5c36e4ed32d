"""Telling words: how they are counted, which are chosen, and that Spark chooses the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import functions as F

from nes_spark.entities import clue_stages
from nes_spark.entities.clue_stages import add_clues
from nes_spark.entities.mentions import Mention
from nes_spark.entities.telling import Said, count_words, telling_mentions, telling_words
from nes_spark.entities.telling_stages import find_telling
from nes_spark.entities.terms import weight
from nes_spark.schemas import MENTIONS


def test_words_are_counted_outside_names_and_placeholders():
    text = "Acme's kilns fired, and a Kiln of [Company Name] fires 40 tons at Acme."
    names = [Mention(0, 4, "Organization", "Acme"), Mention(66, 70, "Organization", "Acme")]
    assert count_words(text, names) == {
        "kiln": Said(2, 2),
        "fired": Said(1, 1),
        "fire": Said(1, 1),
        "ton": Said(1, 1),
        # 's, and, a, of, 40, at
        None: Said(6, 6),
    }


@pytest.mark.parametrize("text", ["", "…", "[Company Name]"])
def test_a_text_without_words_has_none(text):
    assert count_words(text) == {}


def test_words_of_talk_tell_nothing():
    found = count_words("Um, I think we got kilns, don't we? B, or 5G and a 737-800.")
    assert found == {"kiln": Said(1, 1), "5g": Said(1, 1), None: Said(14, 14)}


def test_parts_of_abbreviations_tell_nothing():
    # "SG" by itself is a word, and so are those that a sign with spaces joins
    assert set(count_words("SG&A, FP&A and kilns & clays; SG fell.")) == {
        "kiln", "clay", "sg", "fell", None,
    }  # fmt: skip
    assert count_words("SG&A fell.") == {"fell": Said(1, 1), None: Said(3, 3)}  # the sign, too


def test_how_letters_begin_and_end_tells_nothing():
    assert set(count_words("Dear Sirs, a kiln. Yours faithfully. Kind regards")) == {"kiln", None}
    said = "We appreciate your patience, ladies. One moment: a kiln. I wish you well."
    assert set(count_words(said)) == {"kiln", None}


def test_what_people_are_called_before_their_names_tells_nothing():
    """ "[Term]. [Person 1]" would be no sentence, and "Prof." is said of anybody."""
    found = count_words("Prof. [Person 1] met Dr [Person 2], Mr. Roe and the professor.")
    assert set(found) == {None, "met", "roe", "professor"}


def test_terms_are_counted_as_gone():
    text = "The rotary kiln and the kiln-fired clay."
    terms = [Mention(4, 15, "Term", "rotary kiln"), Mention(24, 34, "Term", "kiln-fired")]
    assert count_words(text, terms) == {
        "rotary": Said(1, 0),
        "kiln": Said(2, 0),
        "fired": Said(1, 0),
        "clay": Said(1, 1),
        None: Said(3, 3),
    }


SECRETS = {"kiln": 1, "clay": 2, "fire": 9, "grow": 19, "call": 20, "ton": 2}
words = st.dictionaries(
    st.sampled_from([None, *SECRETS]),
    st.tuples(st.integers(1, 30), st.integers(0, 30)).map(lambda n: Said(n[0], min(n))),
)


@given(words, st.floats(0, 0.99), st.floats(0, 0.99))
def test_no_more_than_the_share_is_gone_and_a_larger_one_has_all_of_a_smaller(said, one, other):
    small, large = sorted((one, other))
    few, many = (telling_words(said, SECRETS, 20, share) for share in (small, large))
    assert many[: len(few)] == few
    total = sum(n.places for n in said.values())
    gone = sum(n.places - n.free for n in said.values())
    taken = sum(said[word].free for word in many)
    # the last word alone may go beyond the share
    before = gone + taken - (said[many[-1]].free if many else 0)
    assert not many or before < large * total + 1e-9
    # nothing for what all say, nor for what is gone already; the most telling come first
    assert "call" not in many
    assert all(said[word].free for word in many)
    weights = [weight(said[word].places, SECRETS[word], 20) for word in many]
    assert weights == sorted(weights, reverse=True)
    # and where some are left the share is reached
    if any(said[w].free for w in said if w not in {*many, None, "call"}):
        assert gone + taken >= large * total - 1e-9


def test_how_often_a_word_is_said_and_by_how_few_decides():
    said = {"kiln": Said(4, 4), "clay": Said(4, 4), "ton": Said(1, 1), None: Said(91, 91)}
    assert telling_words(said, SECRETS, 20, 0.04) == ["kiln"]
    assert telling_words(said, SECRETS, 20, 0.05) == ["kiln", "clay"]
    assert telling_words(said, SECRETS, 20, 0.09) == ["kiln", "clay", "ton"]
    # of what is in terms already the share is full
    said["fire"] = Said(10, 0)
    assert telling_words(said, SECRETS, 20, 0.09) == []
    assert telling_words(said, SECRETS, 20, 0.12) == ["kiln"]


def test_what_stays_in_dates_as_often_is_not_taken():
    text = "The fiscal kilns of fiscal 2020, last fiscal year."
    dates = [Mention(20, 31, "Date", "fiscal 2020"), Mention(33, 49, "Date", "last fiscal year")]
    said = count_words(text, dates)
    assert (said["fiscal"], said["kiln"]) == (Said(1, 1, 2), Said(1, 1))
    assert telling_words(said, {"fiscal": 1, "kiln": 1}, 2, 0.9) == ["kiln"]
    # in dates alone it is no word that a secret has
    only = count_words("Fiscal 2020", [Mention(0, 11, "Date", "Fiscal 2020")])
    assert only == {"fiscal": Said(0, 0, 1)}
    assert telling_words(only, {}, 2, 0.9) == []


def test_a_single_secret_tells_nothing():
    assert telling_words({"kiln": Said(4, 4)}, {"kiln": 1}, 1, 0.9) == []


@pytest.mark.parametrize("share", [-0.1, 1, 1.5])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(ValueError, match="share"):
        telling_words({"kiln": Said(4, 4)}, {"kiln": 1}, 2, share)


TEXTS = {
    "a#0": ("A", "We make cement kilns for Acme, and kilns last. Sales grew."),
    "a#1": ("A", "A kiln fires clay. Acme grew and grew."),
    # another document of the same secret, and one of each other
    "d#0": ("A", "Our clay is fired."),
    "b#0": ("B", "Sales of shoes grew, and clay courts grew."),
    "c#0": ("C", "We sold shoes. Sales grew; 40 shoes of [Company Name] are ours."),
}
KNOWN = [
    ("a#0", "Organization", "Acme", "acme", 25, 29),
    ("a#1", "Organization", "Acme", "acme", 19, 23),
    ("a#0", "Term", "cement", "cement/modifier", 8, 14),
]


def in_memory(share):
    held = {
        chunk: [Mention(*row[4:], row[1], row[2], row[3]) for row in KNOWN if row[0] == chunk]
        for chunk in TEXTS
    }
    secrets, texts = ({chunk: told[i] for chunk, told in TEXTS.items()} for i in (0, 1))
    return telling_mentions(texts, secrets, held, share)


def frames(spark, partitions):
    rows = [(chunk, *told) for chunk, told in TEXTS.items()]
    chunks = spark.createDataFrame(rows, "chunk_id string, metadata string, text string")
    mentions = spark.createDataFrame(KNOWN, MENTIONS.ddl)
    return chunks.repartition(partitions), mentions.repartition(partitions)


def test_spark_finds_the_words_of_each_secret(spark, partitions):
    chunks, mentions = frames(spark, partitions)
    found = {secret: set() for secret in "ABC"}
    for row in find_telling(chunks, mentions, 0.09).collect():
        (word,) = row.words
        assert word not in found[row.metadata]
        found[row.metadata].add(word)
    # 21, 8 and 10 words outside names, one in a term; C is above its share with the next
    assert found == {"A": {"kiln"}, "B": {"court"}, "C": {"sold"}}


@pytest.mark.parametrize(("partitions", "share"), [(7, 0.09), (1, 0.4)], indirect=["partitions"])
def test_telling_words_become_clues_wherever_their_secret_says_them(spark, partitions, share):
    chunks, mentions = frames(spark, partitions)
    telling = find_telling(chunks, mentions, share)
    rows = [tuple(r) for r in add_clues(chunks, mentions, None, telling=telling).collect()]
    here = in_memory(share)
    assert sorted(rows) == sorted(
        (chunk, m.category, m.surface, m.entity, m.start, m.end)
        for chunk, mine in here.items()
        for m in mine
    )
    if share == 0.09:
        # the term beside a telling word is part of the clue; what tells A is no clue of others
        assert {(row[0], row[2]) for row in rows if row[1] == "Clue"} == {
            ("a#0", "cement kilns"), ("a#0", "kilns"), ("a#1", "kiln"), ("b#0", "courts"),
            ("c#0", "sold"),
        }  # fmt: skip
        assert sorted(row for row in rows if row[1] != "Clue") == sorted(KNOWN[:2])


@pytest.mark.parametrize(("partitions", "together"), [(1, 1), (7, 2)], indirect=["partitions"])
def test_texts_of_one_secret_may_lie_in_several_partitions(
    spark, partitions, monkeypatch, together
):
    monkeypatch.setattr(clue_stages, "_CHUNKS", together)
    chunks, mentions = frames(spark, partitions)
    # of a secret that is not here, and none of B
    told = [("A", ["kiln"]), ("A", ["clay"]), ("C", ["sold"]), ("Z", ["sales"])]
    telling = spark.createDataFrame(told, "metadata string, words array<string>")
    held = chunks.join(
        mentions.groupBy("chunk_id").agg(F.collect_list(F.struct("start")).alias("known")),
        "chunk_id", "left",
    ).withColumn("clues", F.lit(None).cast("array<string>"))  # fmt: skip
    counts = chunks.groupBy("metadata").agg(F.count(F.lit(1)).alias("n"))
    told_of = clue_stages._together(telling, "metadata")
    laid = clue_stages._with_clues_of_metadata(held, told_of, counts).collect()
    assert sorted(r.chunk_id for r in laid if r.chunk_id) == sorted(TEXTS)
    # words stand before the texts, and with none of them
    assert all(r.clues is None for r in laid if r.chunk_id)
    heads = [(r.metadata, r.part, sorted(r.clues)) for r in laid if not r.chunk_id]
    parts = {1: 3, 2: 2}[together]
    assert sorted(heads) == sorted(
        [("A", k, ["clay", "kiln"]) for k in range(parts)]
        + [("C", 0, ["sold"]), ("Z", 0, ["sales"])]
    )
    rows = add_clues(chunks, mentions, None, telling=telling).where("category = 'Clue'").collect()
    assert {(row.chunk_id, row.surface) for row in rows} == {
        ("a#0", "cement kilns"), ("a#0", "kilns"), ("a#1", "kiln"), ("a#1", "clay"),
        ("d#0", "clay"), ("c#0", "sold"),
    }  # fmt: skip


@pytest.mark.parametrize("partitions", [7], indirect=True)
def test_beside_clues_that_are_listed(spark, partitions):
    chunks, mentions = frames(spark, partitions)
    columns = "chunk_id string, metadata string, clue string"
    listed = spark.createDataFrame([("a#1", "A", "kiln fires"), ("b#0", "B", "Sales")], columns)
    telling = find_telling(chunks, mentions, 0.09)
    rows = add_clues(chunks, mentions, listed, telling=telling).where("category = 'Clue'").collect()
    assert {(row.chunk_id, row.surface) for row in rows} == {
        ("a#0", "cement kilns"), ("a#0", "kilns"), ("a#1", "kiln fires"), ("b#0", "Sales"),
        ("b#0", "courts"), ("c#0", "sold"),
    }  # fmt: skip
