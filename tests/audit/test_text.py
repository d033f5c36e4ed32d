from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nes_spark.audit import text
from nes_spark.audit.ranking import hashes_of, tie_keys


def test_words_leave_out_spans_and_placeholders():
    source = "[Company Name] grew; Acme's margin fell. Don’t ask Acme 2020, [Executive 1]!"
    start = source.index("Acme's")
    found = text.words(source, [(start, start + 6)])
    assert found == {"grew": 1, "margin": 1, "fell": 1, "don't": 1, "ask": 1, "acme": 1}
    assert text.words("abc def ghi", [(0, 5), (4, 7)]) == {"ghi": 1}


def test_words_are_the_same_words_in_texts_with_other_letters():
    # each said alone, and beside letters that take the longer way
    for said in ("WE'VE grown x 3M a_b It's' [Term] ABC", "don't Don'T tell-tale U.S. 'tis"):
        assert text.words(f"{said} é") == text.words(said)
    assert text.words("Straße STRASSE Don’t don't") == {"strasse": 2, "don't": 2}


def test_words_next_to_a_span_do_not_melt_together():
    assert text.words("preAcmepost", [(3, 7)]) == {"pre": 1, "post": 1}


def test_tfidf_has_norm_one_and_ignores_order():
    frequency = np.zeros(text.BUCKETS, dtype=np.int64)
    frequency[[1, 2, 3, 4]] = [1, 5, 10, 20]
    counts = {1: 2, 2: 1, 3: 4, 4: 9, 5: 7}
    inverse = text.inverse_frequencies(frequency, 20)
    assert inverse[1:6] == [math.log(20), math.log(4), math.log(2), 0.0, 0.0]
    vector = text.tfidf(counts, inverse)
    # 4 is in every chunk and 5 in none: neither says anything.
    assert set(vector) == {1, 2, 3}
    norm = math.sqrt(sum(w * w for w in vector.values()))
    assert norm == pytest.approx(text.SCALE, rel=1e-4)
    expected = (1 + math.log(2)) * math.log(20)
    assert vector[1] / vector[2] == pytest.approx(expected / math.log(4), rel=1e-3)
    assert text.tfidf(dict(reversed(counts.items())), inverse) == vector
    assert set(text.tfidf(counts, inverse, max_words=1)) == {1}
    assert text.tfidf({}, inverse) == {}


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.dictionaries(st.integers(0, 30), st.integers(1, 400), max_size=20), max_size=6),
    st.integers(1, 25),
    st.integers(0, 999),
)
def test_many_chunks_at_a_time_weigh_what_each_does(chunks, max_words, seed):
    # many ties, words in all chunks and in none; of the buckets those that occur are enough
    frequency = np.random.default_rng(seed).integers(0, 5, 31)
    inverse = text.inverse_frequencies(frequency, 4)
    flat = [pair for counts in chunks for pair in counts.items()]
    buckets, counts = np.array(flat, dtype=np.int64).reshape(-1, 2).T
    ends = np.cumsum([len(c) for c in chunks], dtype=np.int64)
    found = text.tfidf_rows(buckets, counts, ends, np.array(inverse), max_words)
    rows = zip(*(part.tolist() for part in found), strict=True)
    expected = [text.tfidf(c, inverse, max_words) for c in chunks]
    assert sorted(rows) == sorted((i, b, w) for i, c in enumerate(expected) for b, w in c.items())
    assert (np.diff(found[0]) >= 0).all()


def test_buckets_add_up():
    counts = {f"word{i}": i + 1 for i in range(50)}
    assert sum(text.bucket_counts(counts).values()) == sum(counts.values())


def test_vectors_add_up_whatever_their_parts():
    rng = np.random.default_rng(3)
    parts = [(rng.choice(50, 20, replace=False), rng.integers(1, 9, 20)) for _ in range(5)]
    buckets, sums = text.added_up([*parts, (np.zeros(0, dtype=int), np.zeros(0, dtype=int))])
    total = Counter()
    for held, weights in parts:
        total.update(dict(zip(held.tolist(), weights.tolist(), strict=True)))
    assert dict(zip(buckets.tolist(), sums.tolist(), strict=True)) == total
    assert buckets.tolist() == sorted(total)


def test_squared_norms_are_exact_beyond_64_bits():
    assert text.squared_norm(np.zeros(0, dtype=np.int64)) == 0
    assert text.squared_norm(np.array([3, 4])) == 25
    assert text.squared_norm(np.full(9, 3_000_000_001)) == 9 * 3_000_000_001**2


def test_score_is_the_cosine_on_the_grid():
    assert text.score(3 * text.SCALE, 36) == 2**29
    assert text.score(-5, 0) == 0
    assert text.score(7, -1) == 0


def sparse_rows(rng, count, buckets):
    rows = []
    for _ in range(count):
        held = rng.choice(buckets, rng.integers(0, 5), replace=False)
        rows.append((held, rng.integers(1, 4, len(held)) * text.SCALE))
    return text.vectors([r[0] for r in rows], [r[1] for r in rows])


@pytest.mark.parametrize("cells", [1, 40, 10**6])
def test_nearest_agrees_with_ranking_one_by_one(cells, monkeypatch):
    monkeypatch.setattr(text, "_CELLS", cells)
    rng = np.random.default_rng(7)
    t, m = 60, 17
    targets, centroids = sparse_rows(rng, t, 9), sparse_rows(rng, m, 9)
    dots = (targets @ centroids.T).toarray()
    squares = centroids.multiply(centroids).sum(axis=1).A1.tolist()
    names = [f"chunk {i}" for i in range(t)]
    labels = hashes_of([f"document {i}" for i in range(m)])
    truth = rng.integers(0, m, t)
    own = np.array(
        [[text.score(int(dots[i, truth[i]]) - d, squares[truth[i]]) for d in (0, text.SCALE)]
         for i in range(t)]
    )  # fmt: skip
    here = np.where(np.arange(t) % 3 == 0, -1, truth)  # of every third in another block
    found = text.nearest(
        targets, hashes_of(names), centroids, np.sqrt(squares), labels, here, labels[truth], own
    )
    equal = 0
    for i in range(t):
        scores = np.array([text.score(int(dots[i, j]), squares[j]) for j in range(m)])
        keys = tie_keys(names[i], labels)
        others = [j for j in range(m) if j != here[i]]
        order = sorted(others, key=lambda j: (-scores[j], keys[j]))
        assert found.candidate[i] == order[0]
        assert (found.score[i], found.tie[i]) == (scores[order[0]], keys[order[0]])
        for v in range(2):
            place = (-own[i, v], keys[truth[i]])
            assert found.ahead[i, v] == sum((-scores[j], keys[j]) < place for j in others)
        equal += (scores[others] == own[i, 0]).sum()
    assert equal > t  # ties were put to the test


def test_nobody_to_compare_with():
    two = text.vectors([np.array([1]), np.array([], dtype=int)], [np.array([5]), np.array([])])
    hashes = hashes_of(["a", "b"])
    scores = np.zeros((2, 2), dtype=np.int64)
    for centroids, own in ((two[:0], -1), (two[:1], 0)):
        found = text.nearest(
            two, hashes, centroids, np.full(centroids.shape[0], 5.0), hashes[: centroids.shape[0]],
            np.full(2, own), hashes[[0, 0]], scores,
        )  # fmt: skip
        assert found.candidate.tolist() == [-1, -1]
        assert not found.ahead.any()
