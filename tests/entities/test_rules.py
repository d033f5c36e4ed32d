import hashlib
import json

import numpy as np
import pytest

from nes_spark.building.names import build_lexicon
from nes_spark.demo.calls import calls
from nes_spark.demo.clinical import notes
from nes_spark.demo.patents import filings
from nes_spark.entities.names import BUCKETS, CLASSES, Lexicon, NameClassifier
from nes_spark.entities.recognizers import load_recognizer
from nes_spark.entities.rules import EVIDENCE, RULES, Rules

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


def test_a_currency_or_standard_names_no_place():
    recognizer = load_recognizer("bundled")
    texts = [
        "Figures are in U.S. dollars under US GAAP, at US dollar rates and U.S. Treasury yields.",
        "We grew in the US. Dollars were spent in the U.S. and in Canada.",
    ]
    none, some = recognizer(texts)
    assert none == []
    assert [m.surface for m in some if m.category == "Location"][-2:] == ["U.S.", "Canada"]


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


def strings(value):
    """All strings in a record, keys in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key in sorted(value):
            yield from strings(value[key])
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)


def test_decisions_are_those_recorded():
    """Every mention in made texts of three kinds; recorded before the rules became a table.

    Since then two mentions went: "U.S." before "dollars".
    """
    texts = [
        text
        for made in (calls(12, 5), notes(40, 5), filings(20, 5))
        for record, _ in made
        for text in strings(record)
        if len(text) > 40
    ]
    digest, count = hashlib.sha256(), 0
    for mentions in load_recognizer("bundled")(texts):
        for m in mentions:
            digest.update(json.dumps([m.start, m.end, m.category, m.surface]).encode())
            count += 1
    assert (len(texts), count) == (259, 2484)
    assert digest.hexdigest().startswith("71b445ec59a9bf8eb8c928122ec3626a")


def test_rules_and_evidence_have_names_of_their_own():
    for table in (RULES, EVIDENCE):
        assert len({row.name for row in table}) == len(table)
    assert {rule.label for rule in RULES} <= {None, *CLASSES}
    assert {evidence.label for evidence in EVIDENCE} <= set(CLASSES)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # a list comes before the frame of a person, the frame of a person before the last word
        ("I will hand over to Acme now.", {("Acme", "ORG")}),
        ("I will hand over to Zorbal Day now.", {("Zorbal Day", "PERSON")}),
        ("We met at Zorbal Day in spring.", {("Zorbal Day", "EVENT")}),
    ],
)
def test_the_first_rule_that_holds_decides(rules, text, expected):
    assert expected <= found(rules, text)
