import json
import random
import re

import pytest

from tests.benchmarks.reading_sheets import FAULTS, make_sheet, mark, score, wilson

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
