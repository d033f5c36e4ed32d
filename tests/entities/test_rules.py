import numpy as np
import pytest

from nes_spark.building.names import build_lexicon
from nes_spark.entities.names import BUCKETS, CLASSES, Lexicon, NameClassifier
from nes_spark.entities.rules import Rules

LEXICON = Lexicon(organizations=frozenset({"Acme"}), products=frozenset({"A320"}))


@pytest.fixture(scope="module")
def rules():
    """Rules whose classifier has no opinion: what they say comes from lists and frames."""
    return Rules(LEXICON, NameClassifier(np.zeros((BUCKETS, len(CLASSES)), dtype=np.float16)))


def found(rules, text):
    return {(text[s:e], label) for s, e, label in rules(text, [])}


@pytest.mark.parametrize("amount", ["COP10 billion", "USD 5 million", "R12 billion", "INR20", "Rs"])
def test_amounts_are_no_names(rules, amount):
    assert found(rules, f"We invested {amount} in the plant.") == set()


def test_a_model_number_is_no_amount(rules):
    assert found(rules, "We fly the A320 now.") == {("A320", "PRODUCT")}


@pytest.mark.parametrize("drug", ["remdesivir", "pembrolizumab", "osimertinib", "atorvastatin"])
def test_drugs_are_known_by_their_stems(rules, drug):
    assert found(rules, f"Those on {drug} did well.") == {(drug, "PRODUCT")}


@pytest.mark.parametrize("word", ["reservoir", "peptide", "elimination", "accept", "container"])
def test_common_words_are_no_drugs(rules, word):
    assert found(rules, f"We spoke of the {word} then.") == set()


@pytest.mark.parametrize(
    "text",
    ["Our subsidiary, Zorbal, grew.", "We sold to Zorbal, which is a bank in the region."],
)
def test_what_a_sentence_calls_a_company_is_one(rules, text):
    assert ("Zorbal", "ORG") in found(rules, text)


def test_programmes_are_known_by_their_last_word(rules):
    assert ("Zorbal Forward Initiative", "PRODUCT") in found(
        rules, "We are pleased with the Zorbal Forward Initiative so far."
    )


def test_places_are_known_without_their_accents():
    places = build_lexicon([]).places
    assert {"Brasília", "Brasilia", "Cancún", "Cancun"} <= places
