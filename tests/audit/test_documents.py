from __future__ import annotations

import random

import numpy as np
import pandas as pd
import pytest

from nes_spark.audit import documents
from nes_spark.audit.attackers import ATTACKERS, COLUMNS
from nes_spark.audit.documents import DocumentAttack, attack_documents, half_known
from nes_spark.audit.shares import share_named, summary_of

SYLLABLES = ["ba", "co", "di", "fu", "ge", "ho", "ki", "lu", "ma", "ne", "po", "ra", "so", "ti"]


def word(rng, length=3):
    return "".join(rng.choice(SYLLABLES) for _ in range(length))


def corpus(candidates=24, seed=1, own=6, names=4, length=160):
    """Texts and backgrounds by candidate: common words, a few words and names of its own."""
    rng = random.Random(seed)
    common = [word(rng, 2) for _ in range(150)]
    texts, background = {}, {}
    for c in range(candidates):
        mine = [word(rng, 4) for _ in range(own)]
        called = [word(rng, 3).capitalize() for _ in range(names)]

        def said(mine=mine, called=called):
            return " ".join(
                rng.choice(called) if roll < 0.06 else rng.choice(mine if roll < 0.12 else common)
                for roll in (rng.random() for _ in range(length))
            )

        background[f"C{c:02d}"] = said()
        texts[f"t{(7 * c) % candidates:02d}"] = said()
    truth = {f"t{(7 * c) % candidates:02d}": f"C{c:02d}" for c in range(candidates)}
    return texts, background, truth


def named(table):
    return {a: share_named(part).value for a, part in table.groupby("attacker")}


@pytest.fixture(scope="module")
def attacked():
    texts, background, truth = corpus()
    return attack_documents(texts, background, truth)


def test_table_has_a_row_for_each_text_and_attacker(attacked):
    assert tuple(attacked.columns) == COLUMNS
    assert attacked["attacker"].unique().tolist() == [
        "words", "style", "phrases", "phrases-nameless", "characters", "characters-nameless",
        "names", "combined", "combined-nameless", "matched", "matched-nameless",
    ]  # fmt: skip
    for _, part in attacked.groupby("attacker"):
        assert part["id"].tolist() == [f"t{i:02d}" for i in range(24)]
    assert attacked["score"].between(0, 1).all()
    assert attacked["rank"].between(1, 24).all()


def test_rank_one_is_the_guess(attacked):
    _, _, truth = corpus()
    right = attacked["guess"] == attacked["id"].map(truth)
    assert (right == (attacked["rank"] == 1)).all()


def test_all_attackers_are_far_above_chance(attacked):
    shares = named(attacked)
    for attacker in ("words", "characters", "names", "style", "combined", "matched"):
        assert shares[attacker] > 0.7, attacker
    assert shares["combined"] >= shares["names"] - 0.05
    assert shares["matched"] >= shares["combined"] - 0.05


@pytest.mark.parametrize(
    ("planted", "attackers"),
    [
        ("quixotic", ["words", "style", "characters", "combined", "matched"]),
        ("iXion", ["words", "names", "characters", "combined", "matched"]),
        ("one two three four", ["phrases"]),
    ],
)
def test_what_one_background_alone_holds_tells(planted, attackers):
    filler = "the plant grew and the other plant shrank two four one three"
    background = {f"C{i}": filler for i in range(8)}
    background["C5"] += f" {planted}"
    found = attack_documents({"x": f"some {planted} came"}, background, {"x": "C5"},
                             attackers=attackers)  # fmt: skip
    seen = found[~found["attacker"].str.endswith("-nameless")]
    if planted == "iXion":
        seen = seen[seen["attacker"] != "style"]
        blind = found[found["attacker"].isin(["style", "combined-nameless"])]
        assert (blind["guess"] == "C0").all()  # nothing seen: the first of equals
    assert (seen["guess"] == "C5").all()
    assert (seen["rank"] == 1).all()


def test_order_of_texts_and_candidates_does_not_matter(attacked):
    texts, background, truth = corpus()

    def turned(mapping):
        return dict(reversed(mapping.items()))

    again = attack_documents(turned(texts), turned(background), turned(truth))
    pd.testing.assert_frame_equal(attacked, again)


def test_truth_changes_no_guess_and_no_score(attacked):
    texts, background, truth = corpus()
    values = list(truth.values())
    random.Random(5).shuffle(values)
    shuffled = attack_documents(texts, background, dict(zip(truth, values, strict=True)))
    without = attack_documents(texts, background)
    for other in (shuffled, without):
        columns = ["id", "guess", "score", "attacker", "confident"]
        pd.testing.assert_frame_equal(attacked[columns], other[columns])
    assert without["rank"].isna().all()
    # Measured against a truth that is not one, everybody is at chance.
    assert max(named(shuffled).values()) < 0.2


def test_who_ignores_names_cannot_be_misled_by_them():
    texts, background, _ = corpus()
    rng = random.Random(9)

    def exchanged(text):
        new = {}
        return " ".join(
            new.setdefault(t, " ".join(word(rng).upper() for _ in range(rng.choice([1, 1, 3]))))
            if t != t.lower()
            else t
            for t in text.split()
        )

    before = attack_documents(texts, background)
    after = attack_documents({i: exchanged(t) for i, t in texts.items()}, background)
    blind = [a for a in before["attacker"].unique() if a == "style" or a.endswith("-nameless")]
    assert len(blind) == 5
    for attacker in blind:
        columns = ["id", "guess", "score", "confident"]
        one, other = (t[t["attacker"] == attacker][columns] for t in (before, after))
        pd.testing.assert_frame_equal(one, other)
    seeing = (t[t["attacker"] == "names"]["guess"].tolist() for t in (before, after))
    assert next(seeing) != next(seeing)


def test_placeholders_and_deleted_names_are_all_one_to_who_ignores_names():
    texts, background, _ = corpus()
    hidden = {
        i: " ".join("[Company Name]" if t != t.lower() else t for t in text.split())
        for i, text in texts.items()
    }
    for attacker in ("combined", "words"):
        one, other = (
            attack_documents(t, background, attackers=[attacker], names="ignored")
            for t in (texts, hidden)
        )
        pd.testing.assert_frame_equal(one, other)


def test_matching_tells_twins_apart_and_only_where_candidates_are_short_of_room():
    """Of two candidates alike, one text names the first; the other can only be the second's."""
    rng = random.Random(4)
    texts, background, truth = {}, {}, {}
    for pair in range(10):
        shared = " ".join(word(rng) for _ in range(6))
        for twin in "ab":
            own = word(rng, 4)
            background[f"C{pair}{twin}"] = f"{shared} {own} {shared} {own}"
            texts[f"t{pair}{twin}"] = f"{shared} {own}" if twin == "a" else shared
            truth[f"t{pair}{twin}"] = f"C{pair}{twin}"
    chosen = {"attackers": ["combined", "matched"], "names": "seen"}
    found = attack_documents(texts, background, truth, **chosen)
    assert named(found) == {"combined": 0.5, "matched": 1.0}
    room = attack_documents(texts, background, truth, per_candidate=2, **chosen)
    one, other = (room[room["attacker"] == a]["guess"].tolist() for a in ("combined", "matched"))
    assert one == other


def test_confident_guesses_are_right_about_as_often_as_said():
    texts, background, truth = corpus(candidates=60, own=3, names=2, length=120)
    rows = summary_of(attack_documents(texts, background, truth)).set_index("attacker")
    assert rows.loc["words", "confident"] > 0.2
    assert rows.loc["words", "confident_right"] > 0.8
    assert (rows["confident"] <= rows["named"]).all()


def test_several_sets_of_texts_by_the_same_attack(attacked):
    texts, background, truth = corpus()
    attack = DocumentAttack(background)
    few = dict(list(texts.items())[:5])
    attack.attack(few, truth)
    pd.testing.assert_frame_equal(attack.attack(texts, truth), attacked)


def test_rows_in_blocks_give_the_same(attacked, monkeypatch):
    texts, background, truth = corpus()
    monkeypatch.setattr("nes_spark.audit.attackers.CELLS", 60)
    pd.testing.assert_frame_equal(attack_documents(texts, background, truth), attacked)


def test_samples_for_calibration_still_compare_all_candidates(monkeypatch):
    texts, background, truth = corpus()
    monkeypatch.setattr(documents, "_CALIBRATED", 6)
    monkeypatch.setattr(documents, "_SELF_TRAINED", 6)
    found = named(attack_documents(texts, background, truth))
    assert found["words"] > 0.7
    assert found["matched"] > 0.7


def test_empty_texts_and_strange_candidates():
    _, background, _ = corpus(candidates=5)
    background["Empty"] = ""
    found = attack_documents({"x": "", "y": "!"}, background, {"x": "Stranger", "y": "C03"})
    assert (found[found["id"] == "x"]["rank"].isna()).all()
    words = found[found["attacker"] == "words"]
    assert words["guess"].tolist() == ["C00", "C00"]  # equal scores: the smaller id
    assert words["rank"].tolist()[1] == 4
    alone = attack_documents({"x": "a plant"}, {"Only": "a plant"}, {"x": "Only"})
    assert (alone["rank"] == 1).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"background": {}}, "'background' parameter of attack_documents must be a mapping"),
        ({"background": {"A": "[ORG] ..."}}, "at least one word"),
        ({"background": ["text"]}, "Got 'list' instead"),
        ({"texts": {}}, "'texts' parameter of attack_documents must be a mapping"),
        ({"texts": {"x": 3}}, "a mapping of str to str. Got 'int' instead"),
        ({"texts": {"x": None}}, "Got 'NoneType' instead"),
        ({"attackers": ["word"]}, f"some of {', '.join(ATTACKERS)}"),
        ({"attackers": "words"}, "some of words, phrases"),
        ({"attackers": []}, "some of words, phrases"),
        ({"attackers": ["names"], "names": "ignored"}, "read more than names"),
        ({"names": "hidden"}, "one of both, seen, ignored"),
        ({"truth": {"y": "A"}}, "a candidate for every text. Got '1 without' instead"),
        ({"per_candidate": 0}, "at least 1 for so many texts"),
        ({"confidence": 1.0}, "between 0 and 1"),
    ],
)
def test_bad_input_is_an_error_of_one_shape(change, words):
    given = {"texts": {"x": "a secret plant"}, "background": {"A": "a plant"}, **change}
    with pytest.raises(ValueError, match="instead") as caught:
        attack_documents(given.pop("texts"), given.pop("background"), **given)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


def chunks(documents_=6, each=5, seed=3):
    rng = random.Random(seed)
    rows = []
    for d in range(documents_):
        own = [word(rng, 4) for _ in range(5)]
        for c in range(each):
            text = " ".join(rng.choice([*own, "the", "plant", "grew"]) for _ in range(40))
            rows.append((f"d{d}#{c:05d}", f"d{d}", f"M{d}", text, text.upper()))
    names = ["chunk_id", "document_id", "metadata", "text_before", "text_after"]
    return pd.DataFrame(rows, columns=names)


def test_half_of_every_document_is_known():
    table = chunks()
    texts, background, truth = half_known(table, b"key")
    assert truth == {f"d{d}": f"M{d}" for d in range(6)}
    for d in range(6):
        part = table[table["document_id"] == f"d{d}"]
        held = background[f"M{d}"].split("\n\n")
        asked = texts[f"d{d}"].split("\n\n")
        assert (len(held), len(asked)) == (3, 2)
        assert {*held} | {t.lower() for t in asked} == set(part["text_before"])
        assert held == [t for t in part["text_before"] if t in held]  # in order
    again = half_known(table.sample(frac=1, random_state=1), b"key")
    assert again == (texts, background, truth)
    assert half_known(table, b"other") != (texts, background, truth)
    assert (
        share_named(
            attack_documents(texts, background, truth, attackers=["words"], names="seen")
        ).value
        > 0.8
    )


def test_a_document_of_one_chunk_is_known_and_asked_about():
    table = chunks(each=1)
    texts, background, _ = half_known(table, b"key")
    assert len(texts) == len(background) == 6
    assert texts["d0"] == background["M0"].upper()


def test_documents_of_one_candidate_share_its_background():
    table = chunks().assign(metadata="M")
    texts, background, truth = half_known(table, b"key")
    assert len(texts) == 6
    assert len(background["M"].split("\n\n")) == 18
    assert set(truth.values()) == {"M"}


@pytest.mark.parametrize(
    ("change", "key", "words"),
    [
        (lambda t: t.drop(columns="text_after"), b"k", "no text_after"),
        (lambda t: t[:0], b"k", "an empty table"),
        (lambda t: pd.concat([t, t]), b"k", "each chunk_id once"),
        (lambda t: t.assign(text_after=np.nan), b"k", "a table of str. Got 'float'"),
        (lambda t: t.assign(metadata=t["chunk_id"]), b"k", "one metadata for each document"),
        (lambda t: t, b"", "1 to 64 bytes"),
        (lambda t: t, "a secret key", "1 to 64 bytes. Got 'str'"),
    ],
)
def test_bad_chunks_and_keys(change, key, words):
    with pytest.raises(ValueError, match="instead") as caught:
        half_known(change(chunks()), key)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)
