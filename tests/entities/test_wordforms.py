"""What a dictionary and the words around a place make of a word."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nes_spark.entities.wordforms import (
    Words,
    is_comparative,
    is_noun_too,
    is_uncountable,
    kinds_of,
    stands_as_noun,
    use_of,
)


@pytest.mark.parametrize(
    ("form", "kinds"),
    [
        ("cancer", {"noun"}),
        ("gas", {"noun", "verb"}),
        ("children", {"plural"}),
        ("goods", {"plural"}),
        ("ramp-ups", {"plural"}),
        ("mattresses", {"plural"}),
        ("tires", {"plural", "third"}),
        ("offers", {"plural", "third"}),
        ("ship", {"noun", "verb"}),  # "shipping" is an entry of its own
        ("provider", {"noun"}),
        ("refund", {"noun", "verb"}),  # through its prefix
        ("easier", {"degree"}),
        ("bigger", {"degree"}),  # with a doubled letter
        ("announcing", {"gerund"}),
        ("sequencing", {"gerund", "noun"}),
        ("undertaken", {"participle"}),
        ("loyalty", {"noun"}),
        ("necessary", {"adjective", "noun"}),
        ("clinical", {"adjective"}),
        ("healthcare", {"adjective", "noun"}),  # nothing tells
        ("pre-clinical", {"adjective"}),
        ("gas-fired", {"adjective"}),
        # not in the dictionary
        ("telematics", {"plural"}),
        ("homebuilding", {"gerund"}),
        ("genomic", {"adjective"}),
        ("reshoring", {"gerund"}),
    ],
)
def test_a_dictionary_tells_what_a_form_can_be(form, kinds):
    assert kinds_of(form) == kinds


def slot(text: str, word: str) -> str:
    return Words(text).slot(text.index(word))


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("Sales of the cement were up.", "cement", "noun"),
        ("Our cement plants did well.", "cement", "inside"),
        ("We saw cement volumes fall.", "cement", "modifier"),
        ("They grow in cement.", "cement", "head"),
        ("They grow in cement and steel.", "cement", "joined"),
        ("We will store it.", "store", "verb"),
        # "to" that leads to a thing
        ("We want to tire brands.", "tire", "verb"),
        ("We shift from service over to tire brands.", "tire", "modifier"),
        ("Turning to wholesale, we grew.", "wholesale", "joined"),
        ("It was announcing plants.", "announcing", "verb"),
        ("We are now also shipping engines.", "shipping", "verb"),
        ("After announcing our plan we left.", "announcing", "verb"),
        ("As events unfold, we watch.", "unfold", "verb"),
        ("Results are dependent on rates.", "dependent", "predicate"),
        ("This is a very easy step.", "easy", "modifier"),
        ("There are tools capable of more.", "capable", "predicate"),
        ("Please go there and click on it.", "click", "verb"),
        # a verb with its particle, a participle behind who does it
        ("[Executive 4] kicks off the talks.", "kicks", "verb"),
        ("The build out of sites goes on.", "build", "noun"),
        ("It beat expectations heading into fall.", "heading", "verb"),
        ("Stepping back, we did well.", "Stepping", "verb"),
        ("It shows and dovetails nicely with this.", "dovetails", "verb"),
        ("A lower gross profit due to volumes.", "profit", "noun"),
        # what people say while they think is not there
        ("We saw, uh, cement, um, volumes fall.", "cement", "modifier"),
        ("The [Company Name] tires sold.", "tires", "noun"),
    ],
)
def test_the_words_around_a_place_tell_where_it_is(text, word, expected):
    assert slot(text, word) == expected


@given(st.text("ab ,.'[]\n uh the", max_size=30), st.integers(0, 29))
def test_any_text_will_do(text, start):
    words = Words(text)
    assert isinstance(words.slot(min(start, len(text))), str)
    assert words.is_bare(min(start, len(text))) in (True, False, None)


def test_uses():
    # a noun is one wherever it stands, what may be a verb where no verb can be
    assert use_of("cancer", "verb") == "noun" and use_of("store", "verb") == ""
    assert use_of("store", "noun") == "noun"
    # "are still sitting there", "a volatile and highly uncertain market"
    assert use_of("sitting", "verb") == use_of("volatile", "joined") == ""
    # before a noun, an adjective; at the end of a phrase, a noun if it can be one
    assert use_of("healthcare", "modifier") == "adjective"
    assert use_of("healthcare", "head") == "noun"
    assert use_of("dependent", "predicate") == use_of("easier", "modifier") == ""
    # "testing volumes" or "testing our tires"
    assert use_of("testing", "modifier") == "either" and use_of("testing", "noun") == "noun"
    assert use_of("testing", "open") == "" and use_of("written", "modifier") == ""


def test_comparatives_describe():
    assert is_comparative("warmer") and not is_comparative("driver")
    assert use_of("warmer", "modifier") == use_of("warmer", "inside") == ""
    assert use_of("cooler", "noun") == "noun" and use_of("driver", "modifier") == "noun"


def test_what_numbers_stand_before():
    text = (
        "A 1,200 megawatt plant, 7 stores at 5% growth, sold in 2020 barrels and two million pesos."
    )
    words = ("megawatt", "stores", "growth", "barrels", "pesos", "plant")
    counted = [Words(text).is_counted(text.index(w)) for w in words]
    assert counted == [True, True, False, False, True, False]


def test_what_is_a_noun_in_most_places():
    assert stands_as_noun("cancer", 1, 0, 1)
    assert stands_as_noun("tire", 1, 0, 1) and not stands_as_noun("tire", 1, 0, 3)
    assert not stands_as_noun("announcing", 0, 0, 5) and stands_as_noun("drilling", 5, 0, 7)
    # few places: what the dictionary has it for
    assert stands_as_noun("dental", 0, 0, 1) and not stands_as_noun("dental", 0, 0, 9)


def test_adjectives_that_are_nouns_too():
    assert is_noun_too("cement", 0, 9, False)
    assert not is_noun_too("necessary", 3, 1, False)
    assert is_noun_too("chemical", 1, 9, True)
    assert is_noun_too("solar", 3, 9, False) and not is_noun_too("rural", 1, 9, False)


def test_what_needs_no_article():
    text = "We sell insurance at a store and for new software. The <unk> tag fell; "
    text += "a tag and card sold."
    words = Words(text)
    places = {w: words.is_bare(text.index(w)) for w in ("insurance", "store", "software")}
    assert places == {"insurance": True, "store": False, "software": True}
    # what stands before the other of two is not looked for, nor what was not understood
    assert (
        words.is_bare(text.index("card")) is None and words.is_bare(text.index("tag fell")) is None
    )
    assert is_uncountable("insurance", 2, 2, 0) and not is_uncountable("insurance", 0, 9, 0)
    assert is_uncountable("software", 0, 1, 0) and not is_uncountable("cohort", 1, 1, 0)
    # with so many plurals one is a thing
    assert not is_uncountable("store", 6, 11, 86)


def test_verbs_behind_adverbs_and_serial_names():
    text = "The site now shows that AFM24 shows killing. Our trade shows went well, and Q3 stores."
    words = Words(text)
    at = [m.start() for m in re.finditer("shows|stores", text)]
    assert [words.slot(start) == "verb" for start in at] == [True, True, False, False]


def test_who_does_something_is_a_noun_in_whatever_word():
    unknown = ("engager", "reinsurer", "onboarder")
    assert all(kinds_of(word) == {"noun"} for word in unknown)
    assert kinds_of("bigger") == {"degree"} and "adjective" in kinds_of("other")
