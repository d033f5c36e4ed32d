"""Short forms of one name by short forms of another."""

from __future__ import annotations

import pytest

from nes_spark.swapping.parts import (
    counterpart,
    given_name,
    is_letters,
    presentable,
    short_name,
    surname,
)


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("Alan Moss", "Moss"),
        ("Moss", "Moss"),
        ("Ludwig van der Berg", "van der Berg"),
        ("Alan Moss Jr.", "Moss"),
        ("Ana de la Cruz III", "de la Cruz"),
        ("van der Berg", "der Berg"),
    ],
)
def test_surnames(name, last):
    assert surname(name) == last
    assert given_name(name) == name.split()[0]


@pytest.mark.parametrize(
    ("name", "category", "short"),
    [
        ("Zimmer Biomet Holdings Inc.", "Organization", "Zimmer"),
        ("MD Anderson Cancer Center", "Organization", "MD Anderson"),
        ("Bank of Mexico", "Organization", "Bank of Mexico"),
        ("University of Wroclaw", "Organization", "University of Wroclaw"),
        ("Vega", "Organization", "Vega"),
        ("FDA", "Organization", "FDA"),
        ("Vantablue Router", "Product", "Vantablue"),
        ("New York", "Location", "New York"),
        ("Alan Moss", "Person", "Moss"),
    ],
)
def test_short_names(name, category, short):
    assert short_name(name, category) == short


@pytest.mark.parametrize(
    ("name", "category", "shown"),
    [
        ("Dr. Ana Orr", "Person", "Ana Orr"),
        ("Judge", "Person", "Judge"),
        ("U.S", "Location", "U.S."),
        ("Haliade-X.", "Product", "Haliade-X"),
        ("Vega Ltd.", "Organization", "Vega Ltd."),
        ("Halvor GmbH.", "Organization", "Halvor GmbH"),
        (" Vega,", "Organization", "Vega"),
    ],
)
def test_how_a_name_is_shown(name, category, shown):
    assert presentable(name, category) == shown


MOSS = ("Alan Moss", ["Alan Moss", "Moss"])
FOOD = ("Food and Drug Agency", ["Food and Drug Agency", "FDA"])


@pytest.mark.parametrize(
    ("form", "old", "new", "category", "expected"),
    [
        ("Alan Moss", MOSS, ("Ana Orr", ["Ana Orr"]), "Person", "Ana Orr"),
        ("Moss", MOSS, ("Ana Orr", ["Ana Orr"]), "Person", "Orr"),
        ("Alan", MOSS, ("Ana Orr", ["Ana Orr"]), "Person", "Ana"),
        # the partner's chunk has only the surname, and no more of the name is told here
        ("Alan Moss", MOSS, ("Ana Orr", ["Orr"]), "Person", "Orr"),
        ("Moss", MOSS, ("Orr", ["Orr"]), "Person", "Orr"),
        ("Alan", MOSS, ("Orr", ["Orr"]), "Person", "Orr"),
        # one word in the whole document: nobody knows which
        ("Moss", ("Moss", ["Moss"]), ("Ana Orr", ["Ana Orr"]), "Person", "Ana Orr"),
        ("van Moss", ("Al van Moss", ["Al van Moss"]), ("Ana Orr", ["Ana Orr"]), "Person", "Orr"),
        ("FDA", FOOD, ("Rail Safety Board", ["Rail Safety Board", "RSB"]), "Organization", "RSB"),
        ("FDA", FOOD, ("Rail Safety Board", ["Rail Safety Board"]), "Organization", "RSB"),
        ("FDA", (FOOD[0], ["FDA"]), ("Vega Labs", ["Vega Labs"]), "Organization", "Vega Labs"),
        ("FDA", FOOD, ("Vega", ["Vega"]), "Organization", "Vega"),
        (
            "Zimmer",
            ("Zimmer Biomet", ["Zimmer Biomet", "Zimmer"]),
            ("Vega Labs", ["Vega Labs Inc.", "Vega Labs"]),
            "Organization",
            "Vega Labs",
        ),
        (
            "Zimmer",
            ("Zimmer Biomet", ["Zimmer Biomet"]),
            ("Vega Labs", ["Vega Labs Inc."]),
            "Organization",
            "Vega",
        ),
    ],
)
def test_counterparts(form, old, new, category, expected):
    assert counterpart(form, *old, *new, category) == expected


@pytest.mark.parametrize(
    ("form", "new", "forms", "expected"),
    [
        ("$7 million", "$5 million (money/e+6/0)", ["CHF5 million"], "$5 million"),
        (
            "41 and 53 cents",
            "9 or 11 cents (range of cent/e+1/0)",
            ["9 or 11 cents"],
            "9 and 11 cents",
        ),
        (
            "325 to 350 million",
            "500 and 520 million (range of count/e+8/0)",
            [],
            "500 to 520 million",
        ),
        # a capital stands where a sentence begins
        ("six hundred", "Two hundred and forty (count/e+2/0)", [], "two hundred and forty"),
        ("Six hundred", "two hundred and forty (count/e+2/0)", [], "Two hundred and forty"),
        ("$7", "Two hundred dollars (money/e+2/0)", [], "two hundred dollars"),
        ("six million", "Fr. 3 million (money/e+6/0)", [], "Fr. 3 million"),
    ],
)
def test_a_quantity_is_written_as_its_place_wants_it(form, new, forms, expected):
    assert counterpart(form, form, [form], new, forms, "Quantity") == expected


def test_a_title_stands_before_a_surname():
    orr = ("Ana Orr", ["Ana Orr"], "Person")
    assert counterpart("Moss", "Moss", ["Moss"], *orr, titled=True) == "Orr"


def test_letters():
    assert [is_letters(n) for n in ("FDA", "AT&T", "U.S.", "Fda", "F", "FDA Inc")] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]
