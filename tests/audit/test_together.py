"""Who puts chunks together again that are released by themselves."""

import numpy as np
import pandas as pd
import pytest

from nes_spark.audit import attackers
from nes_spark.audit.measured import (
    AFTER,
    BEFORE,
    CHANCE,
    TOGETHER,
    chunks_together,
    measure_together,
)
from nes_spark.audit.together import COMBINED, VIEWS, attack_together

KILNS = ["kilns burn lime", "we burn lime in kilns", "lime is burnt here"]
JETS = ["jets fly far", "our jets fly north", "far they fly"]


def corpus():
    texts = {f"a{i}": t for i, t in enumerate(KILNS)} | {f"b{i}": t for i, t in enumerate(JETS)}
    return texts, {i: i[0] for i in texts}


def test_like_meets_like():
    texts, document = corpus()
    found = attack_together(texts, document)
    assert found["attacker"].unique().tolist() == sorted([*VIEWS, COMBINED])
    assert (found.groupby("attacker")["id"].nunique() == len(texts)).all()
    words = found[found["attacker"] == "words"].set_index("id")
    assert words.loc["a0", "guess"] == "a1" and words.loc["b0", "guess"] == "b1"
    assert (words["rank"] == 1).all() and words["score"].between(0, 1).all()
    met = found.dropna(subset="guess")
    same = met["guess"].map(document) == met["id"].map(document)
    assert ((met["rank"] == 1) == same).all()


def test_neither_order_nor_blocks_matter(monkeypatch):
    texts, document = corpus()
    found = attack_together(texts, document)
    pd.testing.assert_frame_equal(attack_together(dict(reversed(texts.items())), document), found)
    monkeypatch.setattr(attackers, "CELLS", 2 * len(texts) * len(VIEWS))
    pd.testing.assert_frame_equal(attack_together(texts, document), found)


def test_who_shares_nothing_and_what_is_not_there_meets_nobody():
    texts, document = corpus()
    texts |= {"c0": "xyzzy", "c1": ""}
    found = attack_together(texts, document | {"c0": "c", "c1": "c"})
    words = found[found["attacker"] == "words"].set_index("id")
    assert words.loc[["c0", "c1"], "guess"].isna().all()
    assert (words.loc[["c0", "c1"], "rank"] == 2).all()
    assert not found["guess"].isin(["c1"]).any()


def test_equally_like_ones_are_drawn_by_their_ids_and_not_by_their_document():
    n = 200
    texts = {f"{d}#{i}": "thank you very much" for d in range(n // 2) for i in "01"}
    found = attack_together(texts, {i: i.split("#")[0] for i in texts})
    share = (found["rank"] == 1).groupby(found["attacker"]).mean()
    assert (share < 0.05).all()


@pytest.mark.parametrize(
    ("texts", "document", "said"),
    [
        ({"a": "kilns"}, {"a": 1}, "'texts' parameter"),
        ({"a": "kilns", "b": "jets"}, {"a": 1}, "'document' parameter"),
        ({"a": "...", "b": ""}, {"a": 1, "b": 1}, "'texts' parameter"),
    ],
)
def test_what_cannot_be_asked_is_refused(texts, document, said):
    with pytest.raises(ValueError, match=said):
        attack_together(texts, document)


def test_shares_beside_chance():
    texts, document = corpus()
    chunks = pd.DataFrame(
        {
            "chunk_id": list(texts),
            "document_id": [document[i] for i in texts],
            "text_before": list(texts.values()),
            # one is not published, the others say the same
            "text_after": ["", *["all is well"] * 5],
        }
    )
    found = measure_together(chunks)
    assert set(found["unit"]) == {TOGETHER}
    assert found.groupby("side")["n"].unique().map(list).to_dict() == {BEFORE: [6], AFTER: [5]}
    share = found.set_index(["attacker", "side"])["named"]
    assert share["words", BEFORE] == 1
    assert share[CHANCE, BEFORE] == pytest.approx(2 / 5)
    # of five that are there two and three are of one document
    assert share[CHANCE, AFTER] == pytest.approx((2 * 1 + 3 * 2) / 4 / 5)
    assert share["words", AFTER] < share["words", BEFORE]
    told = chunks_together(found)
    assert told["before"]["named"] == 1 and told["before"]["attacker"] != CHANCE
    assert told["chance"] == share[CHANCE, AFTER]
    assert chunks_together(found[found["unit"] == "documents"]) == {}
    assert np.isfinite(found["named"]).all()
    # a sample meets all others
    some = measure_together(chunks, max_chunks=3)
    assert set(some["n"]) == {3}
    assert some.set_index(["attacker", "side"])["named"]["words", BEFORE] == 1
    # where next to nothing is released nothing is said
    nothing = chunks.assign(text_after=["", "well", "", "...", "", ""])
    assert chunks_together(measure_together(nothing)) == {}


def test_some_are_asked_about_as_all_are():
    texts, document = corpus()
    found = attack_together(texts, document)
    some = attack_together(texts, document, {"a1", "b2"})
    expected = found[found["id"].isin(["a1", "b2"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(some, expected)
