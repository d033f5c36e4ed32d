import itertools

import pytest

from nes_spark.entities.linking import (
    Located,
    base_form,
    bracketed_acronym,
    form_key,
    initials,
    link_document,
    people_by_parts,
)
from nes_spark.entities.mentions import Mention


def located(*forms):
    """Mentions in reading order: (category, surface) or (category, surface, acronym)."""
    return [
        Located(f"d#{i:05d}", Mention(0, len(form[1]), form[0], form[1]), *form[2:])
        for i, form in enumerate(forms)
    ]


def names(*forms):
    return link_document(located(*forms))


def test_legal_form_and_case_and_possessive():
    linked = names(
        ("Organization", "Constellium SE"),
        ("Organization", "Constellium"),
        ("Organization", "CONSTELLIUM"),
        ("Organization", "the Constellium’s"),
    )
    assert set(linked) == {"Constellium"}


def test_acronym_in_brackets():
    full = "Cache Coherent Interconnect for Accelerators"
    linked = names(("Organization", full, "CCIX"), ("Organization", "CCIX"))
    assert linked == [full, full]


def test_acronym_by_initials():
    linked = names(("Organization", "ECB"), ("Organization", "European Central Bank"))
    assert set(linked) == {"European Central Bank"}


def test_ambiguous_initials_are_left_alone():
    linked = names(
        ("Organization", "American Bank"),
        ("Organization", "Atlantic Brewery"),
        ("Organization", "AB"),
    )
    assert linked[2] == "AB"


def test_acronym_does_not_cross_categories():
    assert names(("Person", "Ed Cole Brand"), ("Organization", "ECB"))[1] == "ECB"


def test_last_name_after_the_full_name():
    linked = names(("Person", "Maria Lopez"), ("Person", "Lopez"), ("Person", "Maria"))
    assert linked == ["Maria Lopez"] * 3


def test_last_name_goes_to_the_person_named_last_before():
    linked = names(
        ("Person", "Ann Smith"), ("Person", "Smith"), ("Person", "Bob Smith"), ("Person", "Smith")
    )
    assert linked == ["Ann Smith", "Ann Smith", "Bob Smith", "Bob Smith"]


def test_given_name_of_two_people_is_left_alone():
    linked = names(("Person", "Ann Smith"), ("Person", "Ann Jones"), ("Person", "Ann"))
    assert linked[2] == "Ann"


def test_last_name_before_any_full_name_stays():
    assert names(("Person", "Smith"), ("Person", "Ann Smith"))[0] == "Smith"


def test_places_have_one_name():
    assert set(names(("Location", "U.S."), ("Location", "the United States"))) == {"United States"}


def test_most_frequent_spelling_stays():
    linked = names(("Product", "IPHONE"), ("Product", "iPhone"), ("Product", "iPhone"))
    assert set(linked) == {"iPhone"}


def test_result_does_not_depend_on_the_order_of_rows():
    rows = located(
        ("Organization", "Acme Inc."),
        ("Person", "Ann Smith"),
        ("Person", "Smith"),
        ("Organization", "ACME"),
        ("Organization", "World Trade Club", "WTC"),
        ("Organization", "WTC"),
    )
    expected = dict(zip([r.chunk for r in rows], link_document(rows), strict=True))
    for order in itertools.islice(itertools.permutations(rows), 0, 720, 37):
        assert dict(zip([r.chunk for r in order], link_document(order), strict=True)) == expected


@pytest.mark.parametrize(
    ("surface", "category", "base"),
    [
        ("Constellium SE", "Organization", "Constellium"),
        ("Acme, Inc.", "Organization", "Acme"),
        ("The Home Depot", "Organization", "Home Depot"),
        ("Kohl's", "Organization", "Kohl"),
        ("New\nYork", "Location", "New York"),
    ],
)
def test_base_form(surface, category, base):
    assert base_form(surface, category) == base


def test_form_key_joins_variants():
    assert form_key("ACME Inc", "Organization") == form_key("Acme", "Organization")


def test_initials_and_brackets():
    assert "EIB" in initials("European Investment Bank")
    assert initials("Acme") == set()
    text = "the World Bank Group (WBG) said"
    assert bracketed_acronym(text, text.index(" (")) == "WBG"
    assert bracketed_acronym(text, 3) == ""


@pytest.mark.parametrize(
    ("forms", "linked"),
    [
        # the beginning of one other name, in any order; a chain of names is one
        (("Zimmer Biomet", "Zimmer"), ("Zimmer Biomet",) * 2),
        (("Zimmer", "Zimmer Biomet Inc.", "ZIMMER"), ("Zimmer Biomet",) * 3),
        (
            ("MD Anderson", "MD Anderson Cancer", "MD Anderson Cancer Center"),
            ("MD Anderson Cancer Center",) * 3,
        ),
        # of two others: nobody can tell
        (
            ("Zimmer", "Zimmer Biomet", "Zimmer Dental"),
            ("Zimmer", "Zimmer Biomet", "Zimmer Dental"),
        ),
        # words that do not tell whose name it is
        (("Bank", "Bank of Mexico"), ("Bank", "Bank of Mexico")),
        (("New York", "New York Public Library"), ("New York", "New York Public Library")),
        (("US Army", "US Army Reserve"), ("US Army", "US Army Reserve")),
        # not the beginning, and no whole word
        (("Biomet", "Zimmer Biomet"), ("Biomet", "Zimmer Biomet")),
        (("Zim", "Zimmer Biomet"), ("Zim", "Zimmer Biomet")),
        # a name with a role in it is no longer name
        (("Cortec", "Cortec President Quill"), ("Cortec", "Cortec President Quill")),
    ],
)
def test_the_beginning_of_an_organisation(forms, linked):
    for order in itertools.permutations(range(len(forms))):
        found = names(*(("Organization", forms[i]) for i in order))
        assert found == [linked[i] for i in order]


@pytest.mark.parametrize("category", ["Product", "Location", "Event"])
def test_beginnings_are_linked_for_organisations_only(category):
    assert names((category, "Zimmer Biomet"), (category, "Zimmer"))[1] == "Zimmer"


def test_single_names_of_people_are_people_whatever_they_were_taken_for():
    def located(surface, category, start):
        return Located("c", Mention(start, start + len(surface), category, surface))

    mentions = [
        located("Ada Quillfeather", "Person", 0),
        located("Quillfeather", "Organization", 30),
        located("Ada", "Location", 50),
        located("Ada Quillfeather", "Organization", 60),
        # somebody's name that a company has as well is left to where it stands
        located("Jon Marrable", "Person", 90),
        located("Marrable Ltd", "Organization", 110),
        located("Marrable", "Organization", 130),
        located("Norvik", "Organization", 150),
        located("Ada", "Event", 170),
    ]
    assert [m.category for m in people_by_parts(mentions)] == [
        "Person", "Person", "Person", "Person",
        "Person", "Organization", "Organization", "Organization", "Event",
    ]  # fmt: skip
    assert [m.surface for m in people_by_parts(mentions)] == [m.mention.surface for m in mentions]
