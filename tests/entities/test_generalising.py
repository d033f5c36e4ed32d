"""What terms become where they are generalised."""

from __future__ import annotations

import pytest

from nes_spark.building.general_words import ANCHORS, NOTHING
from nes_spark.entities.generalising import _LIST, _general, general_word
from nes_spark.entities.lists import read_lists
from nes_spark.entities.terms import form_of, kin_of, stem


def test_every_general_word_is_of_its_form():
    for noun, plural, mass in set(_general().values()):
        assert form_of(noun) == "noun" and form_of(plural) == "plural", noun
        assert not mass or form_of(mass) == "noun", mass
    words = [word for words in read_lists(_LIST).values() for word in words]
    assert len(words) > 7_500 and len(words) == len(set(words))
    assert [word for word in words if word != word.lower()] == []
    assert len({stem(word) for word in words}) == len(words)
    told = read_lists(ANCHORS)
    told.pop(NOTHING)
    for section, forms in told.items():
        own = [part.strip() for part in section.split("|")]
        for form in forms:
            assert "#" in form or form in own or _general()[stem(form)].noun == own[0], form


@pytest.mark.parametrize(
    ("term", "general"),
    [
        ("tanker", "vehicle"), ("tankers", "vehicles"), ("lumber/mass", "material"),
        ("clinicians", "professionals"), ("rescue ship/modifier", "vehicle"),
        ("e-commerce/mass", "trade"), ("barrels/unit", "units"), ("gigawatt/unit", ""),
        ("molecular/adjective", ""), ("RFID", ""), ("Chinese", ""), ("cap-backs", ""),
        ("cap-back/modifier", ""), ("vehicles", ""), ("medicine", ""),
        ("mattress/mass", "furniture"), ("renewal", ""), ("diabetes/mass", "illness"),
        ("loaders", "machines"), ("adapter", ""), ("tenants", "people"), ("migraine", "disease"),
        # where a person stands before a noun the word says nothing
        ("tenant/modifier", ""), ("client/modifier", "customer"),
        # what a dictionary calls by a sense that business has not: "high dose", "offshore wind"
        ("dose", ""), ("wind/modifier", ""), ("holiday", ""), ("protectors", ""), ("lever", ""),
        ("pipeline/modifier", ""), ("subsidiary", ""), ("greenhouse/modifier", ""),
    ],
)  # fmt: skip
def test_terms_keep_their_form(term, general):
    assert general_word(term) == general


def test_no_word_of_the_document_comes_in():
    assert general_word("tanker", {"vehicle"}) == ""
    assert general_word("barrels/unit", {"units"}) == ""
    assert general_word("tankers", kin_of("vehicle/modifier")) == ""
    assert general_word("tankers", kin_of("ship")) == "vehicles"
    assert general_word("tanker/modifier", {"vehicles"}) == ""
