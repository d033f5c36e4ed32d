"""The linkage adversary as a matrix gives the ranks of the one that goes text by text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nes_spark.audit import linkage, ranking
from nes_spark.audit.linkage_matrix import KnownNames
from tests.audit.evidence import Known, evidence_of, strongest

NAMES = [f"N{i}" for i in range(7)]
CHUNKS = st.lists(st.lists(st.sampled_from(NAMES), max_size=4), min_size=2, max_size=9)


def features(entities):
    return linkage.features_of({"Org": entities}, (), True)


def one_by_one(owners, chunks, asked, leave_out, most):
    """By the kernel of the Spark stage: what is guessed, and what speaks for each candidate."""
    labels = sorted(set(owners))
    sizes = np.array([owners.count(label) for label in labels])
    hashes = ranking.hashes_of(labels)
    held = [set(features(c)) for c in chunks]
    found = []
    for i, names in enumerate(asked):
        known = []
        for f in features(names):
            counts = {}
            for owner, mine in zip(owners, held, strict=True):
                if f in mine:
                    counts[labels.index(owner)] = counts.get(labels.index(owner), 0) + 1
            if counts and len(counts) <= most:
                known.append(Known(f, sum(counts.values()), f in held[i], counts))
        truth = labels.index(owners[i])
        guess = linkage.guess(f"c{i}", evidence_of(known), sizes, hashes, truth, True, leave_out)
        shared = (sizes, (truth,), leave_out, 0.2, 0.5, len(chunks))
        found.append((guess, [strongest(known, place, *shared) for place in range(len(labels))]))
    return found


@settings(max_examples=80, deadline=None)
@given(CHUNKS, st.randoms(use_true_random=False), st.booleans(), st.sampled_from([2, 1000]))
def test_it_ranks_as_the_kernel_does(chunks, random, leave_out, most):
    owners = [random.choice("ABCD") for _ in chunks]
    asked = [c if random.random() < 0.5 else random.choices(NAMES, k=3) for c in chunks]
    known = KnownNames(owners, [features(c) for c in chunks], most=most)
    truth = np.array([known.number[o] for o in owners])
    places = np.arange(len(chunks)) if leave_out else None
    shown = [features(c) for c in asked]
    guesses = known.guess([f"c{i}" for i in range(len(chunks))], shown, truth, places)
    evidence = known.evidence(shown, guesses.guess, truth, places)
    expected = one_by_one(owners, chunks, asked, leave_out, most)
    found = zip(guesses.guess.tolist(), guesses.rank.tolist(), evidence, strict=True)
    assert list(found) == [guess for guess, _ in expected]
    for label in range(len(known.candidates)):
        spoke = known.evidence(shown, np.full(len(chunks), label), truth, places)
        assert spoke == [by_label[label] for _, by_label in expected]


def test_of_much_evidence_the_strongest_is_told():
    own = features([f"Own{i}" for i in range(9)])
    known = KnownNames(["A", "B", "B"], [own, features(["Own0"]), features(["Other"])])
    (told,) = known.evidence([own], np.array([0]), np.array([-1]))
    # names before pairs, in their order; the one that another candidate has used too says less
    assert told == ["own1", "own2", "own3", "own4", "own5"]
    assert known.evidence([own, []], np.array([1, 0]), np.array([-1, -1])) == [["own0"], []]


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(2)
    owners = [f"M{i % 9}" for i in range(60)]
    chunks = [features(list(rng.choice(NAMES, 3))) for _ in owners]
    known = KnownNames(owners, chunks)
    ids, truth = [f"c{i}" for i in range(60)], np.array([known.number[o] for o in owners])
    whole = known.guess(ids, chunks, truth)
    monkeypatch.setattr("nes_spark.audit.linkage_matrix._CELLS", 40)
    for name in ("guess", "rank", "score"):
        assert (getattr(known.guess(ids, chunks, truth), name) == getattr(whole, name)).all()


def test_a_name_of_its_own_tells_and_without_evidence_it_is_chance():
    owners = [f"M{i:02d}" for i in range(40) for _ in range(5)]
    own = [features([f"Own{o}", "Common"]) for o in owners]
    ids = [f"c{i}" for i in range(len(owners))]
    known = KnownNames(owners, own)
    truth = np.array([known.number[o] for o in owners])
    left_out = known.guess(ids, own, truth, np.arange(len(ids)))
    assert (left_out.rank == 1).all()
    assert (left_out.score > 0.2).all()
    nothing = known.guess(ids, [[] for _ in ids], truth)
    assert (nothing.rank == 1).mean() == pytest.approx(1 / 40, abs=0.04)
    assert nothing.score.tolist() == [pytest.approx(1 / 40)] * len(ids)


def test_who_is_no_candidate_has_no_rank():
    known = KnownNames(["A", "B"], [features(["X"]), features(["Y"])])
    assert known.guess(["c"], [features(["X"])], np.array([-1])).rank.tolist() == [0]
