"""General words from a small WordNet: senses vote, words told by hand win, names stay out."""

from __future__ import annotations

import pytest

from nes_spark.building.general_words import (
    general_of,
    general_words,
    main,
    nearest,
    read_anchors,
    read_nouns,
)
from nes_spark.entities.lists import read_lists

# number, words, those right above; as in WordNet's data.noun
SYNSETS = {
    1: (["thing"], []),
    2: (["vehicle"], [1]),
    3: (["ship", "boat"], [2]),
    4: (["tanker"], [3]),
    5: (["person"], [1]),
    6: (["doctor"], [5]),
    7: (["act"], [1]),
    8: (["trade"], [7]),
    9: (["trade_wind"], [1]),
    10: (["Cologne"], [1]),
    11: (["cologne"], [2]),
}
SENSES = {
    "thing": [1], "vehicle": [2], "ship": [3, 6], "boat": [3], "tanker": [4], "person": [5],
    "doctor": [6], "act": [7], "trade": [8, 3], "trade_wind": [9], "cologne": [11, 10],
}  # fmt: skip
COUNTS = {("ship", 1): 3, ("ship", 2): 1, ("trade", 1): 1, ("trade", 2): 1}
LICENCE = "  1 This software and database is being provided to you | as is\n"
LISTS = """# a comment
[vehicle | vehicles | -]
vehicle#1; raft
[person | people | -]
person#1
[NOTHING]
boat
[activity | activities | activity]
act#1
"""


@pytest.fixture
def wordnet(tmp_path):
    lines, index = [LICENCE], [LICENCE]
    for number, (words, above) in SYNSETS.items():
        told = " ".join(f"{word} 0" for word in words)
        up = " ".join(f"@ {a:08d} n 0000" for a in above)
        lines.append(f"{number:08d} 06 n {len(words):02x} {told} {len(above):03d} {up} | @ says\n")
    for word, senses in SENSES.items():
        at = " ".join(f"{s:08d}" for s in senses)
        index.append(f"{word} n {len(senses)} 2 @ ~ {len(senses)} 1 {at}  \n")
    (tmp_path / "data.noun").write_text("".join(lines))
    (tmp_path / "index.noun").write_text("".join(index))
    told = [f"{word}%1:06:00:: {number} {n}\n" for (word, number), n in COUNTS.items()]
    (tmp_path / "cntlist.rev").write_text("".join([*told, "ship%2:35:00:: 1 99\n"]))
    (tmp_path / "lists.txt").write_text(LISTS)
    return tmp_path


def test_the_database_is_read(wordnet):
    nouns = read_nouns(wordnet)
    assert nouns.above["00000004"] == ["00000003"] and nouns.above["00000001"] == []
    assert nouns.senses["ship"] == ["00000003", "00000006"]
    assert nouns.counts["ship"] == {1: 3, 2: 1}  # the verb's count is not among them
    assert nouns.names == {"cologne"}


def test_senses_vote(wordnet):
    nouns = read_nouns(wordnet)
    anchors, told = read_anchors(wordnet / "lists.txt", nouns)
    vehicle, person = "vehicle | vehicles | -", "person | people | -"
    assert told == {"raft": vehicle, "boat": ""}
    assert nearest("00000004", nouns, anchors) == vehicle
    assert nearest("00000001", nouns, anchors) is None
    # 3 + 1 of the votes against 1 + 1/2
    assert general_of("ship", nouns, anchors) == vehicle
    # 2 against 1.5: an act or a boat
    assert general_of("trade", nouns, anchors) is None
    assert general_of("unheard", nouns, anchors) is None
    found = general_words(nouns, anchors, told)
    assert found.pop("activity | activities | activity") == ["act"]
    assert found == {vehicle: ["raft", "ship", "tanker"], person: ["doctor"]}


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ("[x | xs | -]\nvehicle#2", "WordNet has no 'vehicle#2'"),
        ("[x | xs | -]\nraft", "'raft' stands twice"),
        ("[x | xs | -]\nboat", "'boat' stands twice"),
        ("[x | xs | -]\nship#1\n[y | ys | -]\nboat#1", "'boat#1' is a synset of two"),
    ],
)
def test_lists_that_are_wrong_are_refused(wordnet, more, fault):
    (wordnet / "lists.txt").write_text(LISTS + more + "\n")
    with pytest.raises(ValueError, match=fault):
        read_anchors(wordnet / "lists.txt", read_nouns(wordnet))


def test_the_list_is_written(wordnet, monkeypatch, capsys):
    from nes_spark.building import general_words as module

    monkeypatch.setattr(module, "ANCHORS", wordnet / "lists.txt")
    out = wordnet / "out.txt"
    monkeypatch.setattr("sys.argv", ["x", "--wordnet", str(wordnet), "--output", str(out)])
    main()
    assert "5 words, 3 general words" in capsys.readouterr().out
    assert read_lists(out)["vehicle | vehicles | -"] == ["raft", "ship", "tanker"]
    assert "WordNet.txt" in out.read_text()
