"""Which words of a name tell whose it is."""

from __future__ import annotations

import pytest

from nes_spark.entities.distinctive import (
    distinctive_words,
    fold,
    is_acronym,
    is_generic,
    is_ordinary,
    words_of,
)


@pytest.mark.parametrize(
    "word",
    [
        *("the", "stone", "plaintiff", "Plaintiffs", "testified", "password", "logging", "mines"),
        *("holdings", "EBITDA", "tickets", "September", "2020", "x", "motions", "amended"),
    ],
)
def test_ordinary_words(word):
    assert is_ordinary(word)


@pytest.mark.parametrize("word", ["Lindqvist", "Zimmer", "Ketchum", "Genentech", "Orion", "Brno"])
def test_words_that_are_names(word):
    assert not is_ordinary(word)


def test_names_of_people_are_not_forms_of_words():
    assert is_ordinary("Parker") and not is_ordinary("Parker", "Person")
    assert is_ordinary("Stone", "Person")


@pytest.mark.parametrize(
    ("name", "category", "words"),
    [
        ("Zimmer Biomet Holdings Inc.", "Organization", ["Zimmer", "Biomet"]),
        ("Bank of Mexico", "Organization", []),
        ("Court of Appeals for the Second Circuit", "Organization", []),
        ("Quennell & Sons, Inc.", "Organization", ["Quennell"]),
        ("Coca-Cola", "Organization", ["Coca", "Cola"]),
        ("American Public Media", "Organization", []),
        ("New Hampshire PUC", "Organization", ["PUC"]),
        ("IBM", "Organization", ["IBM"]),
        ("A&T", "Organization", []),
        ("Dr. Ana Orr", "Person", ["Ana", "Orr"]),
        ("Callum Baker Jr.", "Person", ["Callum", "Baker"]),
        ("New York", "Location", ["York"]),
        ("Chicago", "Location", ["Chicago"]),
        ("Gulf Coast", "Location", []),
        ("Vantablue Router 9", "Product", ["Vantablue"]),
    ],
)
def test_distinctive_words(name, category, words):
    assert distinctive_words(name, category) == words


def test_a_caller_may_know_more_ordinary_words():
    assert distinctive_words("Vantablue Orion", "Product", {"orion"}) == ["Vantablue"]


def test_words_and_their_folding():
    assert words_of("O’Neil’s (U.S.) Coca-Cola_2") == ["O’Neil’s", "U", "S", "Coca", "Cola", "2"]
    assert fold("O’NEIL") == "o'neil"
    assert [is_acronym(w) for w in ("FDA", "A", "F16", "16F", "Fda")] == [
        True,
        False,
        True,
        False,
        False,
    ]
    assert is_generic("Ltd") and is_generic("Chicago") and not is_generic("Chicago", "Location")
