"""Documents that attackers name, before and after: planted names that a swap takes away."""

import numpy as np
import pandas as pd
import pytest

from nes_spark.audit.measured import (
    AFTER,
    BACKGROUND,
    BEFORE,
    CHUNKS_KNOWN,
    CHUNKS_LEFT_OUT,
    DOCUMENTS,
    EACH_BY_WORDS,
    PUBLIC,
    PUBLIC_WORDS,
    TOGETHER,
    UNITS,
    Measurement,
    chunks_named,
    measure_documents,
    named_by_words,
    sampled,
    strongest,
)

WORDS = [f"word{i}" for i in range(60)]
#: Questions in which texts are attacked by everybody.
#: Of one document for each metadata; chunks are put together by themselves.
ASKED = [unit for unit in UNITS if unit not in (TOGETHER, EACH_BY_WORDS)]
TEXTS = [unit for unit in ASKED if unit != PUBLIC_WORDS]


def corpus(n=12, chunks=8, seed=3):
    """Documents whose only own words are names, the same in every chunk of a document."""
    rng = np.random.default_rng(seed)
    rows = []
    for d in range(n):
        for c in range(chunks):
            said = " ".join(rng.choice(WORDS, 12))
            rows.append(
                (f"d{d}#{c}", f"d{d}", f"m{d}", f"We at Zor{d}bix and Quell{d} saw {said}.")
            )
    return pd.DataFrame(rows, columns=["chunk_id", "document_id", "metadata", "text_before"])


def swapped(frame, n=12):
    out = frame["text_before"].copy()
    for d in range(n):
        mine = frame["document_id"] == f"d{d}"
        other = (d + 1) % n
        out[mine] = (
            frame.loc[mine, "text_before"]
            .str.replace(f"Zor{d}bix", f"Zor{other}bix")
            .str.replace(f"Quell{d}", f"Quell{other}")
        )
    return frame.assign(text_after=out)


def test_names_that_are_exchanged_name_nobody():
    found = strongest(measure_documents(swapped(corpus()), [("d0", "d1")], b"key"))
    assert found[BEFORE]["named"] > 0.9
    assert found[AFTER]["named"] < 0.5
    assert found[AFTER]["low"] <= found[AFTER]["named"] <= found[AFTER]["high"]
    assert found[BEFORE]["n"] == 12


def test_an_untouched_release_is_named_as_before():
    frame = corpus()
    table = measure_documents(frame.assign(text_after=frame["text_before"]), [], b"key")
    sides = [
        table[table["side"] == s].drop(columns="side").reset_index(drop=True)
        for s in (BEFORE, AFTER)
    ]
    pd.testing.assert_frame_equal(*sides)


def test_neither_the_order_of_rows_nor_the_pairs_order_matters():
    frame = swapped(corpus())
    pairs = [("d0", "d1"), ("d2", "d3")]
    first = measure_documents(frame, pairs, b"key")
    again = measure_documents(frame.sample(frac=1, random_state=1), pairs[::-1], b"key")
    pd.testing.assert_frame_equal(first, again)


def entities(frame, column):
    """The two names that every chunk of the planted corpus holds."""
    found = frame[column].str.extract(r"at (\S+) and (\S+) saw")
    return [{"Organization": [a, b]} for a, b in found.itertuples(index=False)]


def named_corpus():
    frame = swapped(corpus())
    return frame.assign(
        entities_before=entities(frame, "text_before"), entities_after=entities(frame, "text_after")
    )


@pytest.fixture(scope="module")
def measured():
    background = {f"m{d}": f"Zor{d}bix and Quell{d} grew last year" for d in range(12)}
    words = {f"m{d}": [f"Zor{d}bix", "nowhere"] for d in range(12)}
    return measure_documents(
        named_corpus(), [("d0", "d1")], b"key", background=background, public_words=words
    )


def test_every_unit_and_attacker_is_asked_before_and_after(measured):
    assert set(measured["unit"]) == set(ASKED)  # the words of everybody are asked about too
    sizes = measured.groupby("unit")["n"].unique().map(list).to_dict()
    assert sizes == {
        DOCUMENTS: [12], BACKGROUND: [12], PUBLIC_WORDS: [12],
        CHUNKS_LEFT_OUT: [96], CHUNKS_KNOWN: [96],
    }  # fmt: skip
    assert set(measured.loc[measured["unit"] == PUBLIC_WORDS, "attacker"]) == {PUBLIC}
    for unit, side in [(u, s) for u in TEXTS for s in (BEFORE, AFTER)]:
        mine = measured[(measured["unit"] == unit) & (measured["side"] == side)]
        assert {"words", "style", "combined", "combined-nameless"} <= set(mine["attacker"])
        assert ("linkage" in set(mine["attacker"])) == (unit != BACKGROUND)
        assert ("matched" in set(mine["attacker"])) == (unit in (DOCUMENTS, BACKGROUND))
        assert (mine["low"] <= mine["named"]).all()
        assert (mine["named"] <= mine["high"]).all()


def test_of_several_documents_each_is_asked_about_by_public_words():
    frame = swapped(corpus())
    # d0 to d5 are those of m0, and so on: a word of one of them finds m0, but not the others
    frame = frame.assign(metadata="m" + (frame["document_id"].str[1:].astype(int) // 6).astype(str))
    words = {"m0": ["Zor0bix"], "m1": [f"Zor{d}bix" for d in range(6, 12)]}
    found = measure_documents(frame, [], b"key", public_words=words)
    assert set(found["unit"]) == {DOCUMENTS, PUBLIC_WORDS, EACH_BY_WORDS}
    before = found[found["side"] == BEFORE].set_index(["unit", "attacker"])
    assert before.loc[(PUBLIC_WORDS, PUBLIC), ["n", "named"]].tolist() == [2, 1]
    assert before.loc[(EACH_BY_WORDS, PUBLIC), ["n", "named"]].tolist() == [12, 7 / 12]
    told = named_by_words(found)
    assert told["before"]["n"] == 2 and told["each_document"]["before"]["named"] == 7 / 12
    # the names of d6 to d11 stand in d5 to d10 now, one of which is of m0
    assert told["each_document"]["after"]["named"] == 5 / 12


def test_planted_names_are_found_and_their_exchange_takes_them_away(measured):
    table = measured.set_index(["unit", "attacker", "side"])["named"]
    for unit in (DOCUMENTS, CHUNKS_LEFT_OUT, CHUNKS_KNOWN):
        for attacker in ("linkage", "names"):
            assert table[unit, attacker, BEFORE] == 1, (unit, attacker)
        # Every name leads to the neighbour now.
        assert table[unit, "linkage", AFTER] == 0
    assert table[BACKGROUND, "names", BEFORE] == 1
    assert table[BACKGROUND, "names", AFTER] == 0
    # What ignores names sees the same, and without names there is nothing: chance is 1 in 12.
    assert table[PUBLIC_WORDS, PUBLIC, BEFORE] == 1
    assert table[PUBLIC_WORDS, PUBLIC, AFTER] == 0
    for unit in TEXTS:
        assert table[unit, "style", BEFORE] == table[unit, "style", AFTER]
    assert table[CHUNKS_LEFT_OUT, "style", AFTER] < 0.35


def test_the_strongest_of_all_questions_about_documents_is_the_headline(measured):
    found = strongest(measured)
    mine = measured[measured["unit"].isin((DOCUMENTS, BACKGROUND))]
    for side in (BEFORE, AFTER):
        assert found[side]["named"] == mine[mine["side"] == side]["named"].max()
        assert found[side]["unit"] in (DOCUMENTS, BACKGROUND)
    chunks = chunks_named(measured)
    assert set(chunks) == {"left_out", "known"}
    assert chunks["known"]["linkage"][BEFORE]["named"] == 1
    assert chunks["known"][AFTER]["named"] >= chunks["known"]["linkage"][AFTER]["named"]


def test_a_sample_asks_fewer_and_compares_all_candidates():
    frame = named_corpus().rename(columns={"text_before": "text"})
    given = dict(zip(frame["chunk_id"], frame["entities_before"], strict=True))
    whole = Measurement(frame, b"key", entities=given)
    some = Measurement(frame, b"key", entities=given, max_chunks=30, max_documents=5)
    assert some.asked == sampled(frame["chunk_id"], 30, b"key")
    for unit, n in ((DOCUMENTS, 5), (CHUNKS_LEFT_OUT, 30), (CHUNKS_KNOWN, 30)):
        columns = ["id", "guess", "rank"]
        for attacker in ("linkage", "names"):
            few, all_ = (
                m.before[unit][m.before[unit]["attacker"] == attacker][columns]
                for m in (some, whole)
            )
            assert len(few) == n
            # An attacker of one view needs no other text: the same guesses.
            kept = all_[all_["id"].isin(few["id"])]
            if unit != DOCUMENTS or attacker == "linkage":
                pd.testing.assert_frame_equal(
                    few.reset_index(drop=True), kept.reset_index(drop=True)
                )


def test_a_release_step_by_step_is_the_release_at_once():
    frame = named_corpus().rename(columns={"text_before": "text"})
    ids = frame["chunk_id"]
    measurement = Measurement(
        frame, b"key", entities=dict(zip(ids, frame["entities_before"], strict=True))
    )
    texts = dict(zip(ids, frame["text_after"], strict=True))
    after = dict(zip(ids, frame["entities_after"], strict=True))
    first = {c: texts[c] for c in ids[:40]}
    begun = measurement.guesses(first, {c: after[c] for c in first})
    stepped = measurement.guesses(texts, after, (begun, set(ids[40:])))
    for unit, table in measurement.guesses(texts, after).items():
        pd.testing.assert_frame_equal(table, stepped[unit])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"key": "secret"}, "1 to 64 bytes. Got 'str'"),
        ({"background": {"stranger": "words"}}, "some of the documents' metadata"),
        ({"public_words": {"stranger": ["words"]}}, "some of the documents' metadata"),
        ({"max_chunks": 0}, "'max_chunks' parameter of Measurement must be at least 1"),
        ({"max_documents": 0}, "'max_documents' parameter of Measurement must be at least 1"),
        ({"metadata": "several"}, "one metadata for each document"),
    ],
)
def test_bad_input_is_an_error_of_one_shape(change, words):
    frame = corpus(n=3).rename(columns={"text_before": "text"})
    if change.pop("metadata", None):
        frame["metadata"] = frame["chunk_id"]
    with pytest.raises(ValueError, match="instead") as caught:
        Measurement(frame, **{"key": b"key", **change})
    assert words in str(caught.value)


def test_names_that_stay_are_seen_by_who_looks_at_all_of_them():
    frame = named_corpus()
    for side in ("before", "after"):
        frame[f"entities_{side}"] = [
            {**(found if side == "before" else {}), "Date": [f"day {d}"]}
            for found, d in zip(frame[f"entities_{side}"], frame["document_id"], strict=True)
        ]
    frame.loc[:3, "entities_before"] = [{"Date": ["day d0"]}] * 4
    table = measure_documents(frame, [], b"key", exchanged=["Organization"])
    named = table.set_index(["unit", "attacker", "side"])
    assert named.loc[(CHUNKS_KNOWN, "linkage", AFTER), "named"] < 0.25
    assert named.loc[(CHUNKS_KNOWN, "linkage-all", AFTER), "named"] == 1
    assert named.loc[(CHUNKS_KNOWN, "linkage", AFTER), "n"] == 92  # a date alone is no name
    assert "linkage-all" in chunks_named(table)["left_out"]


def test_what_was_not_swapped_or_holds_no_names_is_independent_evidence():
    frame = swapped(corpus())
    web = [(f"d{i}", f"d{j}") for i in range(12) for j in range(i)]
    found = measure_documents(frame, web, b"key").set_index(["unit", "attacker", "side"])
    alone = measure_documents(frame, [], b"key").set_index(["unit", "attacker", "side"])
    changed = found["low"].compare(alone["low"]).index
    assert {side for _, _, side in changed} <= {AFTER}
    assert not {a for _, a, _ in changed if a == "style" or a.endswith("-nameless")}
