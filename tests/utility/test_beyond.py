"""Utility beyond the mixture: total variation and downstream tasks."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nes_spark.errors import ConfigError
from nes_spark.schemas import CELLS
from nes_spark.utility import Prediction, UtilityTask, load_task
from nes_spark.utility.sentiment import NEGATIVE, POSITIVE, Sentiment, sentiment
from nes_spark.utility.stages import category_variation, task_agreement, task_predictions

SENTIMENT = "nes_spark.utility.sentiment.Sentiment"


class Shout(UtilityTask):
    """Whether a text shouts."""

    name = "shout"

    def predict(self, texts):
        """Count exclamation marks."""
        return [Prediction("loud" if "!" in t else "quiet", t.count("!")) for t in texts]


class Nameless(Shout):
    name = ""


def test_total_variation_is_half_the_absolute_difference(spark, partitions):
    rng = np.random.default_rng(3)
    ids = [f"d#{i:03d}" for i in range(60)]
    pre = {c: {"A": f"a{rng.integers(8)}", "B": f"b{rng.integers(3)}"} for c in ids}
    post = {c: {"A": f"a{rng.integers(12)}", "B": pre[c]["B"]} for c in ids[:25]}
    cells = spark.createDataFrame([(c, "d", "m", {}, pre[c]) for c in ids], CELLS.ddl)
    rewritten = spark.createDataFrame(
        list(post.items()), "chunk_id string, cell map<string,string>"
    )
    found = (
        category_variation(cells.repartition(partitions), rewritten.repartition(partitions))
        .toPandas()
        .set_index("category")
    )
    for category in ("A", "B"):
        before = pd.Series([pre[c][category] for c in ids]).value_counts(normalize=True)
        after = pd.Series([post.get(c, pre[c])[category] for c in ids]).value_counts(normalize=True)
        row = found.loc[category]
        expected = before.sub(after, fill_value=0).abs().sum() / 2
        assert row["total_variation"] == pytest.approx(expected, abs=1e-15)
        assert (row["n"], row["values_pre"], row["values_post"]) == (60, len(before), len(after))
    assert found.loc["B", "total_variation"] == 0
    assert found.loc["A", "total_variation"] > 0


def test_a_category_that_lost_its_entities_differs(spark):
    cells = spark.createDataFrame(
        [("x", "d", "m", {}, {"A": "a"}), ("y", "d", "m", {}, {"A": ""})], CELLS.ddl
    )
    gone = spark.createDataFrame([("x", {})], "chunk_id string, cell map<string,string>")
    assert category_variation(cells, gone).collect()[0]["total_variation"] == 0.5


def test_tasks_run_before_and_after(spark, partitions):
    texts = {
        "a": ("We grew strongly!", "We grew strongly."),
        "b": ("Losses were severe.", "Losses were severe."),
        "c": ("Growth was solid!!", "Growth was not solid!!"),
    }
    chunks = spark.createDataFrame(
        [(c, pre) for c, (pre, _) in texts.items()] + [("z", "untouched!")],
        "chunk_id string, text string",
    )
    rewritten = spark.createDataFrame(
        [(c, post) for c, (_, post) in texts.items()], "chunk_id string, text string"
    )
    paths = [SENTIMENT, "tests.utility.test_beyond:Shout"]
    predictions = task_predictions(
        chunks.repartition(partitions), rewritten.repartition(partitions), paths
    )
    found = predictions.toPandas().set_index(["task", "chunk_id"])
    assert sorted(found.index) == [(t, c) for t in ("sentiment", "shout") for c in ("a", "b", "c")]
    row = found.loc["sentiment", "c"]
    assert (row["label_pre"], row["label_post"]) == ("positive", "neutral")
    agreement = task_agreement(predictions).toPandas().set_index("task")
    assert agreement.loc["sentiment", "agreement"] == pytest.approx(2 / 3)
    assert agreement.loc["shout", "agreement"] == pytest.approx(2 / 3)
    assert agreement.loc["shout", "chunks"] == 3
    assert agreement.loc["shout", "mean_change"] == pytest.approx(-1 / 3)
    assert agreement.loc["sentiment", "mean_absolute_change"] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("nowhere.Task", "no class"),
        ("nes_spark.utility.sentiment.Missing", "no class"),
        ("Sentiment", "no class"),
        ("nes_spark.utility.sentiment.sentiment", "not a subclass"),
        ("tests.utility.test_beyond.Nameless", "has no name"),
    ],
)
def test_a_task_that_cannot_be_loaded_is_told_in_one_line(path, message):
    with pytest.raises(ConfigError, match=message) as caught:
        load_task(path)
    assert "\n" not in str(caught.value)


def test_a_bad_task_is_told_before_any_work(spark):
    frame = spark.createDataFrame([("a", "text")], "chunk_id string, text string")
    with pytest.raises(ConfigError, match="no class"):
        task_predictions(frame, frame, ["nowhere.Task"])


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("We delivered record growth.", "positive"),
        ("Revenue declined and margins were weak.", "negative"),
        ("The meeting is on Tuesday.", "neutral"),
        ("We did not lose customers.", "positive"),
        ("Demand isn’t strong.", "negative"),
        ("Gains in one region, losses in another.", "neutral"),
        ("", "neutral"),
        ("The High Court of Great Britain sat.", "neutral"),
        ("It sat. “Great,” he said.", "positive"),
        ("A LOSS for Best Foods.", "negative"),
    ],
)
def test_sentiment_of_plain_sentences(text, label):
    assert load_task(SENTIMENT).predict([text])[0].label == label


@given(st.text())
def test_sentiment_is_between_minus_one_and_one(text):
    assert -1 <= sentiment(text) <= 1


def test_no_word_is_both_positive_and_negative():
    assert not POSITIVE & NEGATIVE
    assert Sentiment.name == "sentiment"
