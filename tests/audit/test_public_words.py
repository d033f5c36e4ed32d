"""Public words of candidates: which released document they point to."""

from __future__ import annotations

import math

import pytest

from nes_spark.audit import attack_each_by_public_words, attack_public_words
from nes_spark.audit.public_words import word_counts, word_key

TEXTS = {
    "x": "Cement, cement and CEMENT. A plant in Ohio.",
    "y": "The King Air flies; a King's Air does, an air king does not. A plant.",
    "z": "A plant sells tires in Ohio, and [Cement] none.",
}
TRUTH = {"x": "A", "y": "B", "z": "C"}


def test_phrases_are_matched_as_whole_words_in_any_case():
    keys = [word_key(w) for w in ("cement", "king air", "Ohio", "King")]
    assert word_counts(TEXTS["x"], keys).tolist() == [3, 0, 1, 0]
    # a possessive is the word; a placeholder is none
    assert word_counts(TEXTS["y"], keys).tolist() == [0, 2, 0, 3]
    assert word_counts(TEXTS["z"], keys).tolist() == [0, 0, 1, 0]


def test_scores_are_those_of_the_formula():
    found = attack_public_words(TEXTS, {"A": ["cement", "Ohio", "plant"]}, TRUTH)
    (row,) = found.to_dict("records")
    ohio = math.log(4 / 3)
    assert row["score"] == pytest.approx((1 + math.log(3)) * math.log(4 / 2) + ohio, abs=1e-8)
    # what all documents have tells nothing
    assert row["runner_up"] == pytest.approx(ohio, abs=1e-8)
    assert row["guess"] == "x" and row["named"] == 1 and row["right"]


def test_ties_count_fractionally_and_no_word_is_a_guess():
    words = {"A": ["Ohio"], "B": ["plant"], "C": ["tires", "cement"]}
    found = attack_public_words(TEXTS, words, TRUTH).set_index("candidate")
    assert found["named"].tolist() == [1 / 2, pytest.approx(1 / 3), 0]
    assert not found["right"].any()
    assert found["guess"].tolist()[0] == "x" and found["guess"].isna().tolist() == [
        False, True, False,
    ]  # fmt: skip


def test_confidence_is_a_margin():
    words = {"C": ["tires", "cement"], "B": ["king", "ohio"]}
    near = attack_public_words(TEXTS, words, TRUTH).set_index("candidate")
    assert (
        near.loc["C", "guess"] == "x" and near.loc["C", "confident"] and not near.loc["C", "right"]
    )
    assert near.loc["B", "right"]
    far = attack_public_words(TEXTS, words, TRUTH, confident=100).set_index("candidate")
    assert not far["confident"].any() and far["named"].tolist() == near["named"].tolist()


def test_order_decides_nothing():
    words = {"A": ["cement"], "B": ["King Air", "plant"], "C": ["tires"]}
    one = attack_public_words(TEXTS, words, TRUTH)
    other = attack_public_words(dict(reversed(TEXTS.items())), dict(reversed(words.items())), TRUTH)
    assert one.equals(other)


@pytest.mark.parametrize(
    ("texts", "words", "truth", "message"),
    [
        ({}, {"A": ["a"]}, TRUTH, "texts"),
        (TEXTS, {"D": ["a"]}, TRUTH, "truth"),
        (TEXTS, {"A": ["a"]}, dict.fromkeys(TEXTS, "A"), "several"),
        (TEXTS, {"A": ["[A]"]}, TRUTH, "words"),
    ],
)
def test_what_cannot_be_asked_is_refused(texts, words, truth, message):
    with pytest.raises(ValueError, match=message):
        attack_public_words(texts, words, truth)


MANY = {
    "a1": "Cement and kilns, Ohio.",
    "a2": "Kilns, kilns and tires.",
    "b1": "The King Air flew to Ohio.",
    "b2": "It flew.",
    "c1": "Cement in Ohio.",
}
WHOSE = {document: document[0].upper() for document in MANY}
LISTS = {"A": ["kilns", "cement"], "B": ["King Air"], "D": ["flew"]}


def test_each_document_is_asked_whose_it_is():
    found = attack_each_by_public_words(MANY, LISTS, WHOSE).set_index("document")
    # of D there is no document, so nobody asks for its words; C has no words
    assert found["guess"].to_dict() == {"a1": "A", "a2": "A", "b1": "B", "b2": None}
    assert found["named"].to_dict() == {"a1": 1, "a2": 1, "b1": 1, "b2": 0}
    n = len(MANY)
    kilns, cement = (math.log((1 + n) / (1 + 2)),) * 2
    assert found["score"]["a1"] == pytest.approx(kilns + cement, abs=1e-8)
    assert found["score"]["a2"] == pytest.approx((1 + math.log(2)) * kilns, abs=1e-8)
    assert found["right"].tolist() == [True, True, True, False]


def test_a_tie_between_candidates_names_no_document_whole():
    words = {"A": ["cement"], "B": ["kilns"], "C": ["cement"]}
    found = attack_each_by_public_words(MANY, words, WHOSE).set_index("document")
    assert found.loc["a1", "named"] == pytest.approx(1 / 3) and not found.loc["a1", "confident"]
    assert found.loc["c1", "named"] == 1 / 2 and found.loc["c1", "guess"] == "A"
    other = attack_each_by_public_words(
        dict(reversed(MANY.items())), dict(reversed(words.items())), WHOSE
    )
    assert other.equals(found.reset_index())


@pytest.mark.parametrize(
    ("texts", "words", "confident", "message"),
    [
        ({}, LISTS, 1.5, "texts"),
        (MANY, {"Z": ["a"]}, 1.5, "truth"),
        (MANY, {"A": ["[A]"]}, 1.5, "words"),
        (MANY, LISTS, 0.5, "confident"),
    ],
)
def test_what_cannot_be_asked_of_documents_is_refused(texts, words, confident, message):
    with pytest.raises(ValueError, match=message):
        attack_each_by_public_words(texts, words, WHOSE, confident=confident)
