from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nes_spark.audit import features
from nes_spark.audit.features import Reader, Tokens

KNOWN = [
    "The Acme plant grew; the plant in Q3 grew again, said Ann Lee.",
    "[ORG] sold the plant. Acme's sales of iPhones fell 12% in Q3",
    "",
]
ASKED = ["the plant grew in Boston, and Acme grew: the Acme plant grew", "[ORG]", KNOWN[1]]


def naive(text: str, view: str, names: bool = True) -> Counter[object]:
    """Count the terms of a text one by one."""
    read: list[str | None] = []
    for token in features.tokens(text):
        named = bool(token) and features.looks_like_name(token)
        hidden = (view == "names" and not named) or (named and (view == "style" or not names))
        read.append(None if not token or hidden else token.casefold())
    if view == "characters":
        return Counter(g for word in read if word for g in features.character_terms(word))
    lengths = (3, 4) if view == "phrases" else (1, 2)
    return Counter(
        tuple(read[i : i + k])
        for k in lengths
        for i in range(len(read) - k + 1)
        if None not in read[i : i + k]
    )


def check(known: list[str], asked: list[str], view: str, names: bool) -> None:
    reader = Reader(Tokens.of(known))
    held = [naive(text, view, names) for text in known]
    # Characters of names stay in the vocabulary; nothing holds them where names are ignored.
    terms = [naive(text, view) for text in known] if view == "characters" else held
    everything = set().union(*terms)
    counts = reader.counts(Tokens.of(known), view, names)
    questions = reader.counts(Tokens.of(asked), view, names)
    assert questions.shape[1] == counts.shape[1]
    for row, expected in zip(counts.toarray(), held, strict=True):
        assert sorted(row[row > 0]) == sorted(expected.values())
    for row, text in zip(questions.toarray(), asked, strict=True):
        found = {t: c for t, c in naive(text, view, names).items() if t in everything}
        assert sorted(row[row > 0]) == sorted(found.values())
    # The same terms, not just as many: all products of texts agree.
    expected_products = [
        [sum(c * k[t] for t, c in naive(text, view, names).items()) for k in held] for text in asked
    ]
    assert (questions @ counts.T).toarray().tolist() == expected_products


@pytest.mark.parametrize("names", [True, False])
@pytest.mark.parametrize("view", ["words", "phrases", "characters", "style"])
def test_terms_are_those_counted_one_by_one(view, names):
    check(KNOWN, ASKED, view, names)


def test_name_terms_are_those_counted_one_by_one():
    check(KNOWN, ASKED, "names", True)


WORDS = st.sampled_from(["the", "plant", "Acme", "Q3", "[ORG]", "grew", "iPhone", "a", "O'Neil"])
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4), st.lists(TEXTS, min_size=1, max_size=3))
def test_any_texts_are_counted_rightly(known, asked):
    for view in features.VIEWS:
        check(known, asked, view, view != "style")


def test_placeholders_hold_no_term_and_no_phrase_runs_across_them():
    reader = Reader(Tokens.of(["alpha beta gamma delta"]))
    counts = reader.counts(Tokens.of(["alpha beta [ORG] gamma delta"]), "phrases")
    assert counts.nnz == 0
    pairs = reader.counts(Tokens.of(["alpha beta [Company Name] gamma"]), "words")
    assert pairs.sum() == 4  # three words and one pair


def test_apostrophes_are_one_character():
    assert features.tokens("don’t") == features.tokens("don't") == ["don't"]


def test_pieces_of_texts_are_texts():
    tokens = Tokens.of(["a b c d", "e f g h"])
    places = np.array([0, 1, 6, 7])
    taken = tokens.take(places, np.array([0, 0, 1, 1]), 2)
    same = Tokens.of(["a b", "f g"])
    reader = Reader(tokens)
    for view in ("words", "characters"):
        difference = reader.counts(taken, view) - reader.counts(same, view)
        assert abs(difference).sum() == 0
    assert tokens.take(places[:0], places[:0], 1).ids.size == 0


def test_weights_are_those_of_the_equation():
    reader = Reader(Tokens.of(["b a a a", "a"]))
    counts = reader.counts(Tokens.of(["b a a a", "a"]), "words")[:, :2]
    frequency = features.holders(counts)
    assert frequency.tolist() == [2, 1]
    vectors = features.weighted(counts, features.idf(frequency, 2)).toarray()
    assert vectors[0] == pytest.approx([1 + np.log(3), 1 + np.log(3 / 2)])
    assert features.norms(features.normalised(counts)) == pytest.approx([1, 1])
    assert features.norms(counts[:0]).tolist() == []


@pytest.mark.parametrize("cells", [0, 40, 10**6])
@pytest.mark.parametrize("density", [0.02, 0.6])
def test_products_are_those_of_the_matrices(monkeypatch, cells, density):
    monkeypatch.setattr(features, "_DENSE", cells)
    rng = np.random.default_rng(4)
    columns = rng.random((80, 20)) * (rng.random((80, 20)) < rng.random((80, 1)) ** 3)
    rows = rng.random((9, 80)) * (rng.random((9, 80)) < density)
    products = features.Products(features.sparse.csr_matrix(columns))
    found = products.of(features.sparse.csr_matrix(rows))
    assert found == pytest.approx(rows @ columns)
    assert products.of(features.sparse.csr_matrix(rows[:0])).shape == (0, 20)
