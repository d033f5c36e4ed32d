"""What was taken for names, and which of it to doubt."""

import pytest

from nes_spark.entities.general_english import general_english
from nes_spark.entities.listing import MANY, WORDS, is_general, list_mentions

#: Forty chunks of twenty sources.
METADATA = {f"c{i}": f"source {i % 20}" for i in range(40)}


@pytest.mark.parametrize(
    ("form", "general"),
    [
        ("NOTE", True),
        ("Ops Coordinator", True),
        ("Warehouse Systems Lead", True),
        ("F8", True),
        ("Velmira", False),
        ("Velmira Systems", False),
        # a first name is a name, however ordinary the word
        ("Tom", False),
        ("Grace Field", False),
        ("2031", False),
        ("", False),
    ],
)
def test_forms_of_general_words(form, general):
    assert is_general(form, general_english()) is general


def listed(*mentions, replaced=()):
    return list_mentions(mentions, METADATA, general_english(), replaced)


def in_chunks(category, form, count):
    return [(f"c{i}", category, form) for i in range(count)]


def test_the_most_doubtful_come_first_then_the_most_frequent():
    found = listed(
        *in_chunks("Product", "Velmira", 2),
        *in_chunks("Organization", "NOTE", 4),
        *in_chunks("Organization", "Velmira", 12),
        *in_chunks("Product", "Ops Coordinator", 3),
        *in_chunks("Date", "May", 30),
        *in_chunks("Clue", "cement", 30),
        *[("c1", "Person", "Ann Roe")] * 9,
    )
    assert [(r.form, r.category, r.mentions, r.sources, r.doubts) for r in found] == [
        ("NOTE", "Organization", 4, 4, (WORDS, MANY)),
        ("Velmira", "Organization", 12, 12, (MANY,)),
        # three of twenty sources are not more than a few
        ("Ops Coordinator", "Product", 3, 3, (WORDS,)),
        ("Ann Roe", "Person", 9, 1, ()),
        ("Velmira", "Product", 2, 2, ()),
    ]


def test_sources_are_counted_not_chunks():
    (found,) = listed(*[(c, "Product", "NOTE") for c in ("c1", "c21", "c1", "c2", "c22")])
    assert (found.mentions, found.sources, found.doubts) == (5, 2, (WORDS,))


def test_places_of_ordinary_words_are_names_and_what_is_replaced_is_not_doubted():
    (place,) = listed(*in_chunks("Location", "United States", 9))
    assert place.doubts == (MANY,)
    (event,) = listed(*in_chunks("Event", "Coronavirus", 9), replaced=("Event",))
    assert event.doubts == ()


def test_of_nothing_there_is_no_list():
    assert listed() == []
