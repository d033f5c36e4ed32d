from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from nes_spark.audit import calibration, features
from nes_spark.audit.chunk_attack import CHUNK_ATTACKERS, attack_chunks
from nes_spark.audit.shares import share_named
from tests.audit.test_documents import chunks


def without(table, place, view):
    """Standardised cosines of one chunk, everything counted anew without it."""
    everything = features.Tokens.of(table["text_before"].tolist())
    reader = features.Reader(everything)
    labels = sorted(table["metadata"].unique())
    counts = reader.counts(everything, view)
    rows = [np.flatnonzero(table["metadata"] == label) for label in labels]
    frequency = sum((counts[r].sum(axis=0) > 0).astype(int) for r in rows)
    importance = features.idf(np.asarray(frequency).ravel(), len(labels))
    sums = [counts[[i for i in r if i != place]].sum(axis=0) for r in rows]
    known = features.weighted(features.sparse.csr_matrix(np.vstack(sums)), importance)
    shown = reader.counts(features.Tokens.of([table["text_after"][place]]), view)
    asked = features.normalised(features.weighted(shown, importance))
    return calibration.standardised((asked @ features.normalised(known).T).toarray())[0], labels


@pytest.mark.parametrize("view", ["words", "phrases", "characters"])
def test_left_out_is_as_if_the_chunk_had_never_been_there(view):
    table = chunks(documents_=4, each=4)
    table.loc[3, "text_after"] = table.loc[9, "text_before"]
    found = attack_chunks(table, attackers=[view], names="seen").set_index("id")
    for place, chunk in enumerate(table["chunk_id"]):
        scores, labels = without(table, place, view)
        own = labels.index(table["metadata"][place])
        assert found.loc[chunk, "guess"] == labels[int(scores.argmax())]
        assert found.loc[chunk, "rank"] == 1 + (scores > scores[own]).sum()


def test_a_chunk_that_is_known_is_told_by_itself():
    table = chunks()
    rng = np.random.default_rng(1)
    table["text_before"] = [
        f"{' '.join(rng.choice(list('abcdefghij'), 9))} {letter}own"
        for letter in "abcdefghijklmnopqrstuvwxyz1234"
    ]
    table["text_after"] = table["text_before"]
    known = attack_chunks(table, exposure="known", attackers=["words"], names="seen")
    assert share_named(known).value == 1
    # A word that nobody else holds, and that its candidate holds only here, says nothing.
    left_out = attack_chunks(table, attackers=["words"], names="seen")
    assert share_named(left_out).value < 0.4


def test_all_attackers_tell_chunks_with_words_of_their_own():
    table = chunks(documents_=8, each=8)
    found = attack_chunks(table)
    assert set(found["attacker"]) == {
        *CHUNK_ATTACKERS, "phrases-nameless", "characters-nameless", "combined-nameless"
    }  # fmt: skip
    for attacker in ("words", "characters", "combined"):
        assert share_named(found[found["attacker"] == attacker]).value > 0.8


def test_shuffled_authors_are_at_chance():
    table = chunks(documents_=10, each=10)
    table["metadata"] = table["metadata"].sample(frac=1, random_state=2).tolist()
    found = attack_chunks(table, names="seen")
    for _, part in found.groupby("attacker"):
        assert share_named(part).value < 0.25


def test_order_and_selection_change_nothing():
    table = chunks()
    whole = attack_chunks(table)
    pd.testing.assert_frame_equal(whole, attack_chunks(table.sample(frac=1, random_state=1)))
    some = table["chunk_id"].tolist()[3:17]
    part = attack_chunks(table, asked=some)
    pd.testing.assert_frame_equal(part, whole[whole["id"].isin(some)].reset_index(drop=True))


def test_one_chunk_alone():
    found = attack_chunks(chunks(documents_=1, each=1))
    assert (found["rank"] == 1).all()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"exposure": "half"}, "one of left out, known"),
        ({"attackers": ["matched"]}, f"some of {', '.join(CHUNK_ATTACKERS)}"),
        ({"names": "no"}, "one of both, seen, ignored"),
        ({"asked": []}, "some chunk_ids of the table"),
        ({"asked": ["x"]}, "Got '1 others of 1' instead"),
        ({"confidence": 0}, "between 0 and 1"),
    ],
)
def test_bad_parameters(change, words):
    with pytest.raises(ValueError, match="instead") as caught:
        attack_chunks(chunks(), **change)
    assert words in str(caught.value)


def test_texts_without_words():
    with pytest.raises(ValueError, match="at least one word"):
        attack_chunks(chunks().assign(text_before="..."))
