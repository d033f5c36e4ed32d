import json
import random
import re

import pytest

from tests.benchmarks.reading_sheets import (
    FAULTS,
    blind,
    make_sheet,
    mark,
    passage,
    score,
    starts,
    wilson,
)

SIDES = {
    side: {f"c{i}": f"{side} text {i} «a→b|Per»" for i in range(low, low + 8)}
    for side, low in (("before", 0), ("after", 2))
}


def judged(sheet, key, say):
    """The sheet with ``say(side)`` behind each number."""
    return re.sub(r"^\[(\d+)\] = $", lambda m: f"[{m[1]}] = {say(key[m[1]][0])}", sheet, flags=re.M)


def test_edits_are_marked_where_they_were():
    edits = [
        {"start": 10, "end": 12, "old": "Os", "new": "Bern", "category": "Location"},
        {"start": 0, "end": 3, "old": "Ann", "new": "Bo", "category": "Person"},
    ]
    assert mark("Ann is in Os.", edits) == "«Ann→Bo|Per» is in «Os→Bern|Loc»."


def test_sides_are_shuffled_and_show_the_same_chunks():
    sheet, key = make_sheet(SIDES, 5, 3)
    shown = {side: {c for s, c in key.values() if s == side} for side in SIDES}
    assert shown["before"] == shown["after"] and len(shown["after"]) == 5
    assert shown["after"] <= {f"c{i}" for i in range(2, 8)}
    assert [s for s, _ in key.values()] != sorted(s for s, _ in key.values())
    assert (sheet, key) == make_sheet(SIDES, 5, 3) != make_sheet(SIDES, 5, 4)
    for number, (side, chunk) in key.items():
        assert f"[{number}] = \n{SIDES[side][chunk]}" in sheet


def test_scores_are_those_that_were_written():
    sheet, key = make_sheet(SIDES, 6, 1)
    draw = random.Random(0)
    before = ["ok", "h w", "wk", "ok", "s", "a"]
    draw.shuffle(before)
    left = iter(before)
    text = judged(sheet, key, lambda side: "ok" if side == "after" else next(left))
    first, second = score(text, json.loads(json.dumps(key)))
    assert (first["side"], first["chunks"], first["clean"]) == ("before", 6, 2)
    assert {x: first[x] for x in FAULTS if first[x]} == {"h": 1, "w": 2, "k": 1, "a": 1, "s": 1}
    assert (second["side"], second["clean"]) == ("after", 6)
    for said in ("", "q", "ok x"):
        with pytest.raises(ValueError):
            score(judged(sheet, key, lambda side, said=said: said), key)


def test_wilson_interval():
    # Newcombe (1998), Statistics in Medicine 17, table I: 81 of 263
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)


def test_a_passage_tells_nothing_of_what_was_replaced():
    text = "It rose. Ann met IBM in May. We left. The end of it came."
    edits = [
        {"start": 9, "end": 12, "old": "Ann", "new": "Bo", "category": "Person"},
        {"start": 17, "end": 20, "old": "IBM", "new": "Acme Ltd.", "category": "Organization"},
        {"start": 24, "end": 27, "old": "May", "new": "June", "category": "Date"},
    ]
    marked = mark(text, edits)
    assert starts(marked) == [9, 17]  # no date
    assert passage(marked, 17, words=5) == "«Bo» met «Acme Ltd.» in «June»."
    assert passage(marked, 17, words=7) == "It rose. «Bo» met «Acme Ltd.» in «June»."
    whole = passage(marked, 9, words=100)
    assert whole == "It rose. «Bo» met «Acme Ltd.» in «June». We left. The end of it came."


def test_both_sides_of_a_blind_sheet_show_the_same_passage():
    edit = {"start": 9, "end": 12, "old": "Ann", "category": "Person"}
    sides = {
        side: {"a": mark("It rose. Ann left.", [edit | {"new": new}]), "b": "«May→June|Dat»"}
        for side, new in (("before", "Bo"), ("after", "Cy"))
    }
    sheet, key = make_sheet(sides, 2, seed=3)
    shown = blind(sheet, key)
    assert "Ann" not in shown and "June" not in shown  # only dates: nothing to judge
    assert {"«Bo» left." in shown, "«Cy» left." in shown} == {True}
