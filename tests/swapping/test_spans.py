"""Where names begin and end, and their full stops."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nes_spark.swapping.spans import (
    after_title,
    ends_sentence,
    is_abbreviation,
    opens_sentence,
    settle_stop,
    title_before,
    whole_name,
)


@pytest.mark.parametrize(
    ("text", "part", "category", "whole"),
    [
        # legal forms
        ("He sued Orion Widgets Ltd. today", "Orion Widgets", "Organization", "Orion Widgets Ltd"),
        ("He sued Orion, Inc. today", "Orion", "Organization", "Orion, Inc"),
        ("paid Orion GmbH & Co. KG in", "Orion", "Organization", "Orion GmbH & Co. KG"),
        ("paid Ostra a.s. twice", "Ostra", "Organization", "Ostra a.s"),
        ("paid Orion, and co went", "Orion", "Organization", "Orion"),
        # hyphens, signs, addresses
        ("the Zimmer-Biomet deal", "Biomet", "Organization", "Zimmer-Biomet"),
        ("the Zimmer-Biomet deal", "Zimmer", "Organization", "Zimmer-Biomet"),
        ("a Zimmer-owned firm", "Zimmer", "Organization", "Zimmer"),
        ("of AFM-13 in", "AFM", "Product", "AFM-13"),
        ("the ADX- 1612 program", "ADX", "Product", "ADX- 1612"),
        ("ADX -5% of", "ADX", "Product", "ADX"),
        ("with Johnson & Johnson now", "Johnson", "Organization", "Johnson & Johnson"),
        ("Vega.com said", "Vega", "Organization", "Vega.com"),
        ("Vega. Comments follow", "Vega", "Organization", "Vega"),
        # neighbours in capitals
        ("with Vice Media and CBS", "Media", "Organization", "Vice Media"),
        ("the Vega Group said", "Vega", "Organization", "Vega Group"),
        ("at Vega University Hospital", "Vega", "Organization", "Vega University Hospital"),
        ("Plaintiff Vega moved", "Vega", "Organization", "Vega"),
        ("In August Vega said", "Vega", "Organization", "Vega"),
        ("Q3 Vega sales", "Vega", "Organization", "Vega"),
        ("our iPhone 12 Pro Max line", "iPhone 12", "Product", "iPhone 12 Pro Max"),
        ("The Vega Zirkon Quell Ampere Fjord Annex", "Vega", "Organization", "Vega"),
        ("sold by Vega. Zirkon said", "Vega", "Organization", "Vega"),
        ("sold by Vega, Zirkon said", "Vega", "Organization", "Vega"),
        # the fourth of its name
        ("Quiet Waters IV sailed", "Quiet Waters", "Name", "Quiet Waters IV"),
        ("bond Long Point Re III is", "Long Point", "Name", "Long Point Re III"),
        ("the Apollo Fund VII, a", "Apollo Fund", "Organization", "Apollo Fund VII"),
        ("in Quiet Waters I saw", "Quiet Waters", "Location", "Quiet Waters"),
        ("of Quiet Waters V. It", "Quiet Waters", "Location", "Quiet Waters"),
        # numbers of a model, but no counts and no years
        ("rate on the 737 MAX. In", "MAX", "Product", "737 MAX"),
        ("of our 787 Dreamliner order", "Dreamliner", "Product", "787 Dreamliner"),
        ("the 125 Soliqua doses", "Soliqua", "Product", "Soliqua"),
        ("the 153 Soliqua-treated", "Soliqua", "Product", "Soliqua"),
        ("sold 737 Soliqua in", "Soliqua", "Product", "Soliqua"),
        ("the 500 Soliqua line", "Soliqua", "Product", "Soliqua"),
        ("and our Just BARE brand", "BARE", "Product", "Just BARE"),
        ("Our Let's Get Comfy theme", "Get Comfy", "Product", "Let's Get Comfy"),
        ("grew. Just BARE fell", "BARE", "Product", "BARE"),
        ("the 2019 Soliqua line", "Soliqua", "Product", "Soliqua"),
        ("the 737 Wichita plant", "Wichita", "Location", "Wichita"),
        # places
        ("North America's sales", "America", "Location", "North America"),
        ("in New York State again", "York State", "Location", "New York State"),
        ("New York stores opened", "York", "Location", "New York"),
        ("New Chicago stores opened", "Chicago", "Location", "Chicago"),
        ("the Maryland Rules require", "Maryland", "Location", "Maryland"),
        # people
        ("said Gina Raimondo of", "Raimondo", "Person", "Gina Raimondo"),
        ("CEO Tim Cook's pay", "Cook", "Person", "Tim Cook"),
        ("told Judge Alan Moss that", "Alan Moss", "Person", "Alan Moss"),
        ("Rainer Blair III said", "Rainer Blair", "Person", "Rainer Blair III"),
        ("Mr J. A. Frowein spoke", "Frowein", "Person", "J. A. Frowein"),
        ("in the U.S. Frowein spoke", "Frowein", "Person", "Frowein"),
        ("Judge van der Meulen said", "Meulen", "Person", "van der Meulen"),
        ("the Smith Declaration", "Smith", "Person", "Smith"),
        ("Moss's Vega shares", "Moss's", "Person", "Moss's"),
    ],
)
def test_whole_names(text, part, category, whole):
    at = text.index(part)
    start, end = whole_name(text, at, at + len(part), category)
    assert text[start:end] == whole


@pytest.mark.parametrize(
    ("text", "name", "whole"),
    [
        ("Our Min- Minute brand", "Minute", "Min- Minute"),
        ("in Vel-, Vel- Velasco now", "Velasco", "Vel-, Vel- Velasco"),
        ("the Min- Market Minute brand", "Market Minute", "Min- Market Minute"),
        ("the Ha-, uh, Cedar Hall", "Cedar Hall", "Ha-, uh, Cedar Hall"),
        ("the Ca- CapEx of Zurich", "Zurich", "Zurich"),
        ("Over-, Zurich grew", "Zurich", "Zurich"),
        ("the mid- Minute brand", "Minute", "Minute"),
    ],
)
def test_what_was_broken_off_before_a_name_goes_with_it(text, name, whole):
    at = text.index(name)
    start, end = whole_name(text, at, at + len(name), "Product")
    assert text[start:end] == whole
    assert whole_name(text, at, at + len(name), "Product", at)[0] == at


def test_a_whole_name_stays_within_its_bounds():
    text = "with Vice Media Group Ltd and"
    at = text.index("Media")
    assert whole_name(text, at, at + 5, "Organization", 10, 15) == (10, 15)
    assert whole_name(text, at, at + 5, "Organization", 0, 21) == (5, 21)


@settings(max_examples=300, deadline=None)
@given(
    before=st.text(alphabet="aB -&.,'N\né", max_size=12),
    after=st.text(alphabet="aB -&.,'L2\né", max_size=12),
    category=st.sampled_from(["Organization", "Person", "Location", "Product", "Event"]),
    low=st.integers(0, 12),
    high=st.integers(0, 12),
)
def test_a_span_only_grows_and_never_past_its_bounds(before, after, category, low, high):
    text = f"{before}Vega{after}"
    start, end = len(before), len(before) + 4
    floor, ceiling = max(0, start - low), min(len(text), end + high)
    first, last = whole_name(text, start, end, category, floor, ceiling)
    assert floor <= first <= start and end <= last <= ceiling


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        # the full stop of an abbreviation closes the sentence too
        ("He sued Orion Ltd. The court sat.", "Orion Ltd.", "Vega", "He sued Vega. The court sat."),
        ("He sued Orion Ltd.", "Orion Ltd.", "Vega", "He sued Vega."),
        ("He sued Orion Ltd.\n\nthe end", "Orion Ltd.", "Vega", "He sued Vega.\n\nthe end"),
        ("sued Orion Ltd. Pencroft fell", "Orion Ltd.", "Vega", "sued Vega. Pencroft fell"),
        ("in the U.S. And then", "U.S.", "EU", "in the EU. And then"),
        ("(in the U.S.) and", "U.S.", "EU", "(in the EU) and"),
        # it is the abbreviation's alone
        ("Orion Ltd. said so.", "Orion Ltd.", "Vega", "Vega said so."),
        ("Orion Ltd said so.", "Orion Ltd", "Vega Inc.", "Vega Inc. said so."),
        ("sued Orion Ltd. Chairman Moss", "Orion Ltd.", "Vega", "sued Vega Chairman Moss"),
        ("Orion Ltd. said so.", "Orion Ltd", "Vega", "Vega said so."),
        ("the U.S. District Court", "U.S.", "EU", "the EU District Court"),
        ("Orion Ltd.'s plan", "Orion Ltd.", "Vega", "Vega's plan"),
        ("Orion Ltd., a firm", "Orion Ltd.", "Vega", "Vega, a firm"),
        # it is the sentence's alone
        ("He sued Orion. The court", "Orion", "Vega Inc.", "He sued Vega Inc. The court"),
        ("He sued Orion.", "Orion", "Vega Inc.", "He sued Vega Inc."),
        ("He sued Orion... and", "Orion", "Vega", "He sued Vega... and"),
        ("paid Halvor GmbH. Then", "Halvor GmbH", "Vega", "paid Vega. Then"),
        # both have one
        ("He sued Orion Ltd. The court", "Orion Ltd.", "Vega Inc.", "He sued Vega Inc. The court"),
        ("He sued Orion Ltd. The court", "Orion Ltd", "Vega Inc.", "He sued Vega Inc. The court"),
        ("Orion.com rose", "Orion", "Vega Inc.", "Vega Inc..com rose"),
    ],
)
def test_each_full_stop_stays_once(text, old, new, expected):
    start = text.index(old)
    end, name = settle_stop(text, start, start + len(old), new)
    assert text[:start] + name + text[end:] == expected


@pytest.mark.parametrize(
    ("name", "abbreviated"),
    [
        ("Orion Ltd", True),
        ("Orion Ltd.", True),
        ("U.S", True),
        ("Ostra a.s", True),
        ("Moss Jr", True),
        ("Halvor GmbH", False),
        ("Orion", False),
        ("Paltd", False),
    ],
)
def test_abbreviations(name, abbreviated):
    assert is_abbreviation(name) is abbreviated


@pytest.mark.parametrize(
    ("text", "word", "opens"),
    [
        ("Keller won.", "Keller", True),
        ("So Keller won.", "Keller", False),
        ("He left. Keller won.", "Keller", True),
        ("Mr. Keller won.", "Keller", False),
        ('He said: "Keller won."', "Keller", True),
        ("It was Orr v. Keller then.", "Keller", False),
        ("The end\nKeller won.", "Keller", True),
        ("Why? Keller won.", "Keller", True),
    ],
)
def test_what_opens_a_sentence(text, word, opens):
    assert opens_sentence(text, text.index(word)) is opens


def test_titles():
    text = "Chief Justice Moss asked Mr. Orr, Dr Ada Quill and Misty Lane."
    assert [title_before(text, text.index(n)) for n in ("Moss", "Orr", "Ada", "Lane")] == [
        True,
        True,
        True,
        False,
    ]
    names = ["Judge Alan Moss", "Mr. Justice Orr", "Alan Moss", "Governor", "Missy Orr"]
    assert [n[after_title(n) :] for n in names] == [
        "Alan Moss",
        "Orr",
        "Alan Moss",
        "Governor",
        "Missy Orr",
    ]


def test_a_sentence_ends_only_behind_white_space():
    assert ends_sentence("Orion Ltd.", 10, "Orion Ltd.")
    assert not ends_sentence("Orion Ltd.,", 10, "Orion Ltd.")
    assert not ends_sentence("Orion Ltd. and", 10, "Orion Ltd.")
    assert ends_sentence("Orion Ltd. [Executive 1] said", 10, "Orion Ltd.")
