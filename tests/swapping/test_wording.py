"""Small grammar of names."""

from __future__ import annotations

import pytest

from nes_spark.swapping.wording import (
    Form,
    mend_the,
    put_together,
    take_apart,
    takes_the,
    vowel_sound,
)


@pytest.mark.parametrize(
    ("name", "vowel"),
    [
        ("Intel", True),
        ("Dell", False),
        ("IBM", True),
        ("FDA", True),
        ("USDA", True),
        ("UPS", False),
        ("MRI-2", True),
        ("SEC", True),
        ("NASA", False),
        ("NATO", False),
        ("Unilever", False),
        ("Unimpressed", True),
        ("European Union", False),
        ("US", False),
        ("Uber", True),
        ("Utah", False),
        ("One Medical", False),
        ("Oneida", True),
        ("Honda", False),
        ("Honest Company", True),
        ("hourly", True),
        ("8x8", True),
        ("80", True),
        ("11", True),
        ("18-wheeler", True),
        ("180", False),
        ("1,800", False),
        ("11000", True),
        ("110", False),
        ("eBay", True),
        ("iPhone", True),
        ("X", True),
        ("X-ray", True),
        ("Ørsted", True),
        ("Ångström", True),
        ("Müller", False),
        ("Łódź", False),
        ("[Event]", True),
        ("[Company Name]", False),
        ("“Orion”", True),
        ("東京", None),
        ("…", None),
    ],
)
def test_first_sound(name, vowel):
    assert vowel_sound(name) is vowel


@pytest.mark.parametrize(
    ("surface", "names", "form"),
    [
        ("Orion's", set(), Form("Orion", False, "'s")),
        ("ORION'S", set(), Form("ORION", False, "'S")),
        ("Atlas’", set(), Form("Atlas", False, "’")),
        ("Orions", {"Orion"}, Form("Orion", True)),
        ("Orions", {"Great Orion"}, Form("Orion", True)),
        ("Orions", {"Morion"}, Form("Orions")),
        ("Boxes", {"Box"}, Form("Box", True)),
        ("BERRIES", {"Berry"}, Form("BERRY", True)),
        ("Siemens", {"Siemens", "Siemen"}, Form("Siemens")),
        ("'s", set(), Form("'s")),
    ],
)
def test_taking_apart(surface, names, form):
    assert take_apart(surface, names) == form


@pytest.mark.parametrize(
    ("base", "form", "person", "name"),
    [
        ("Kennedy", Form("x", True), True, "Kennedys"),
        ("Berry", Form("x", True), False, "Berries"),
        ("Day", Form("x", True), False, "Days"),
        ("Jones", Form("x", True), True, "Joneses"),
        ("Windows", Form("x", True), False, "Windows"),
        ("Box", Form("x", True, "'"), False, "Boxes'"),
        ("Vega", Form("x", False, "’"), False, "Vega’s"),
        ("Atlas", Form("x", False, "’s"), False, "Atlas’"),
        ("James", Form("x", False, "’s"), True, "James’s"),
        ("Vega", Form("x", True, "'s"), False, "Vegas'"),
    ],
)
def test_putting_together(base, form, person, name):
    assert put_together(base, form, person) == name


@pytest.mark.parametrize(
    ("name", "category", "the"),
    [
        ("United States", "Location", True),
        ("US", "Location", True),
        ("U.S.", "Location", True),
        ("Netherlands", "Location", True),
        ("Czech Republic", "Location", True),
        ("Gulf Coast", "Location", True),
        ("Middle East", "Location", True),
        ("Great Lakes", "Location", True),
        ("Chicago", "Location", False),
        ("North Dakota", "Location", False),
        ("Latin America", "Location", False),
        ("Western Europe", "Location", False),
        ("Silicon Valley", "Location", None),
        ("Tampa Bay", "Location", None),
        ("Securities and Exchange Commission", "Organization", True),
        ("Department of Justice", "Organization", True),
        ("Bank of Mexico", "Organization", True),
        ("University of Maine", "Organization", True),
        ("US Navy", "Organization", True),
        ("FDA", "Organization", True),
        ("Kingdom of Sweden", "Organization", True),
        ("United Kingdom", "Organization", True),
        ("Old Republic", "Organization", False),
        ("XPO", "Organization", None),
        ("Vega Labs", "Organization", False),
        ("Deutsche Bank", "Organization", False),
        ("The Vega Group", "Organization", False),
        ("Vega Router", "Product", None),
        ("Ana Orr", "Person", None),
    ],
)
def test_which_names_take_the_article(name, category, the):
    assert takes_the(name, category) is the


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        # put in
        ("Sales in Chicago rose.", "Chicago", "United States", "Sales in the United States rose."),
        ("Chicago and Lima grew.", "Chicago", "US", "The US and Lima grew."),
        ("He left. Chicago grew.", "Chicago", "US", "He left. The US grew."),
        ("in Peru, Chicago and Rome", "Chicago", "US", "in Peru, the US and Rome"),
        ("in Chicago's suburbs", "Chicago", "Netherlands", "in the Netherlands's suburbs"),
        ("in Chicago during May", "Chicago", "US", "in the US during May"),
        ("We joined Chicago, too.", "Chicago", "Gulf Coast", "We joined the Gulf Coast, too."),
        # not before what qualifies another noun, or after another determiner
        ("in Chicago stores", "Chicago", "US", "in US stores"),
        ("in our Chicago, here", "Chicago", "US", "in our US, here"),
        ("in Chicago-based firms", "Chicago", "US", "in US-based firms"),
        ("downtown Chicago is", "Chicago", "US", "downtown US is"),
        # taken out
        ("Sales in the US rose.", "US", "Chicago", "Sales in Chicago rose."),
        ("The US is large.", "US", "Chicago", "Chicago is large."),
        ("in the Netherlands.", "Netherlands", "Lima", "in Lima."),
        ("the US's plan", "US", "Chicago", "Chicago's plan"),
        ("the US gradually grew", "US", "Chicago", "Chicago gradually grew"),
        ("in the US alone, sales", "US", "Chicago", "in Chicago alone, sales"),
        ("in the US including it", "US", "Chicago", "in Chicago including it"),
        # it belongs to what follows
        ("the US economy", "US", "Chicago", "the Chicago economy"),
        ("the US family", "US", "Chicago", "the Chicago family"),
        ("the US-based firm", "US", "Chicago", "the Chicago-based firm"),
        # both alike
        ("in the US.", "US", "Netherlands", "in the Netherlands."),
        ("in Lima.", "Lima", "Chicago", "in Chicago."),
    ],
)
def test_the_article_of_a_place(text, old, new, expected):
    start = text.index(old)
    end = start + len(old)
    possessive = end + (2 if text[end : end + 2] == "'s" else 0)
    change = mend_the(text, start, possessive, 0, new, "Location")
    done = text[:start] + new + text[end:]
    if change:
        first, last, article = change
        done = text[:first] + article + text[last:start] + new + text[end:]
    assert done == expected


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("an order of the FDA.", "FDA", "Vega", ""),
        ("an order of Vega.", "Vega", "FDA", "the "),
        ("an order of Vega.", "Vega", "XPO", None),
        ("an order of the FDA.", "FDA", "XPO", None),
        ("the FDA rule", "FDA", "Vega", None),
    ],
)
def test_the_article_of_an_organisation(text, old, new, expected):
    start = text.index(old)
    change = mend_the(text, start, start + len(old), 0, new, "Organization")
    assert (change and change[2]) == expected


def test_an_article_before_the_floor_is_not_touched():
    assert mend_the("the US.", 4, 6, 4, "Chicago", "Location") is None
    assert mend_the("the US.", 4, 6, 0, "Chicago", "Location") == (0, 4, "")


def test_names_of_people_have_no_article():
    assert mend_the("the Moss.", 4, 8, 0, "Orr", "Person") is None
