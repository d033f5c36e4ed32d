"""What is looked for first in names, terms and keys hides nothing that patterns find."""

import re

import pytest

from nes_spark.entities import sweep, terms, told_keys
from nes_spark.entities.general_english import general_english
from nes_spark.text.spots import lowered
from tests.chance import texts_of

ALWAYS = re.compile("")


def test_keys_are_the_same_with_and_without_a_look(monkeypatch):
    pieces = (
        *(
            "Meeting ID: 868 298 045 237",
            "868",
            "123-4567-8",
            "pa/21241/2016",
            "a/19/123",
            "13/41070/24",
        ),
        *("1:18-cv-09931-ABC", "18 Civ. 993", "18, crim. 993", "ND 63 02 01 D", "ND630201D", "no"),
        *("card ending in 4432", "collar 2982", "rep id 4471", "mailbox 56437", "12345678901"),
        *(
            "last four of my social are 8779",
            "23-641684",
            "2018/907466",
            "51/24/5475",
            "12/11/2024",
        ),
        *("sort code 05 50 69", "05-50-69 / 3612 8463", "19/lo/0412", "P.O. Box 12", "Suite 100"),
        *("2020", "15%", "$4.2", "and", "Q3", "1", "22", "333", "of"),
    )
    texts = texts_of(pieces, [" ", " ", ", ", "-", "/", ""])

    def everything():
        return [told_keys.keys_of([text]).pattern for text in texts]

    found = everything()
    assert len({*found}) > 500
    monkeypatch.setattr(told_keys, "_MAY_BE_A_KEY", ALWAYS)
    assert everything() == found


@pytest.mark.parametrize("number", range(len(told_keys._KEYS)))
def test_every_key_of_a_shape_is_one_that_is_looked_for(number):
    """Chance may not have written each of them."""
    written = (
        *("ID: 868 298 045", "ID 1234-1234-1234", "123-4567-8", "a/19/123", "pa/21241", "x-12345"),
        *("1/12345/1", "1-12345-1", "18-cv-993", "18 Civ. 993", "1:2018 cr 1234", "18, Crim. 993"),
        *("ND 63 02 01 D", "AB630201C"), *("account ending in 4432", "warrant no 2982"),
        *("12345678901", "1234-1234-1234-1234", "1234 1234 1234 1234", "2020.01.02.12345"),
        *("1234/1-1", "2023-COM-007", "19/lo/0412", "29700/z/20/z"), "agent id 4471",
        "last four is 8779", *("1-123456", "1234/123456789"),
    )  # fmt: skip
    pattern = told_keys._KEYS[number]
    mine = [text for text in written if pattern.search(text)]
    assert mine
    assert all(told_keys._MAY_BE_A_KEY.search(text) for text in mine)


def test_what_is_no_name_is_the_same_with_and_without_looks(monkeypatch):
    pieces = (
        *("<unk>", "a@b.c", "https://x", "WWW.acme.com", "www.x", "the US dollars", "U.S. GAAP"),
        *("U.S.A treasury", "US $4", "Henry Hub", "WTI", "TTF", "the Brent crude", "$40 Brent in"),
        *(
            "West Texas Intermediate",
            "Dated Brent",
            "Master Black Belt",
            "Green Belts",
            "Lean Sigma",
        ),
        *("Six Sigma Sensei", "Kaizen", "Kanban", "Aim 3", "Fig. 2a", "Work Package IV", "WP3"),
        *("Work package 2", "Referee", "Reviewers", "Milestone 1.2", "Tables X", "Task B2", "we"),
        *("9 a.m. EDT", "10pm", "Eastern Time", "Mountain Standard time", "and", "said."),
        *("his nan Beryl", "her twin Ann", "Our uncle Bo", "Ann's wife Eve", "my late son Max"),
    )
    texts = texts_of(pieces, [" ", " ", ", ", ". "])
    english = general_english()

    def everything():
        kin = [[m.span() for m in sweep._kin(text, english)] for text in texts]
        return [sorted(sweep._blocked(text)) for text in texts], kin

    found = everything()
    assert all(sum(map(bool, kind)) > 300 for kind in found)
    always = tuple((pattern, ("",)) for pattern, _ in sweep._PASSED_OVER)
    monkeypatch.setattr(sweep, "_PASSED_OVER", (*always, (sweep._ADDRESS, ("",))))
    monkeypatch.setattr(sweep, "_KIN_WORDS", ("",))
    blocked, kin = everything()
    assert kin == found[1]
    assert [sorted({*spans}) for spans in blocked] == [sorted({*spans}) for spans in found[0]]


@pytest.mark.parametrize("pattern", terms._FRAMES)
def test_frames_in_small_letters_are_those_without_case(pattern):
    pieces = (
        *(
            "9",
            "at 9 A.M.",
            "10pm EDT",
            "Pacific Time",
            "pm",
            "EDT",
            "Gmt",
            "Eastern",
            "TIME",
            "Standard",
            "Metric-Tons",
            "square",
        ),
        *("FEET", "cubic", "Kilometers", "Twenty-One", "two-Thirds", "Mid-Single-Digit", "high"),
        *("Teens", "low-twenties", "Best-in-Class", "due", "Diligence", "Balance Sheets", "The"),
        *("Heart", "of", "in the", "İstanbul", "Joint Venture", "real-Time", "Credit Cards"),
        *("DUE DİLİGENCE", "PACİFİC TİME", "TWO-FİFTHS", "CUBİC", "MİD-TEENS"),
    )
    plain = re.compile(pattern.pattern, re.IGNORECASE)
    assert pattern.pattern == re.sub(r"(?<!\\)[A-Z]", lambda m: m[0].lower(), pattern.pattern)
    hits = 0
    for text in texts_of(pieces, [" ", " ", "-", ", "]):
        found = [m.span() for m in pattern.finditer(lowered(text))]
        assert found == [m.span() for m in plain.finditer(text)], text
        hits += len(found)
    assert hits > 100
