"""Exact sums, the LSA model and the bundled vectors: the same to the bit whatever the batch."""

from __future__ import annotations

import json
import os
import pickle
import random
import shutil
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nes_spark.config import EmbeddingConfig
from nes_spark.embedding import Embedder, EmbedderSpec, load_embedder, spec_for, static
from nes_spark.embedding.base import clean, unit_rows
from nes_spark.embedding.lsa import LsaEmbedder, fit_lsa
from nes_spark.embedding.static import BUNDLED, StaticEmbedder, load_bundled
from nes_spark.embedding.vectors import TokenSums, quantize, unit_integer_rows
from nes_spark.errors import ConfigError, InputError

SENTENCES = [
    "Revenue grew by eight percent in the third quarter.",
    "Sales rose eight percent over the quarter.",
    "Our new tyre plant in Ohio opened in March.",
    "The plant makes tyres for trucks and for buses.",
    "Please press star and one to ask a question.",
    "To ask a question, press star, then one, on your telephone.",
    "The board has raised the dividend for the ninth year.",
    "Dividends and buybacks returned cash to the owners.",
    "The trial of the new vaccine has reached its second phase.",
    "Patients in the second phase were given the vaccine twice.",
]
CORPUS = [f"{a} {b}" for a in SENTENCES for b in SENTENCES]


@pytest.fixture(scope="module")
def lsa():
    return fit_lsa(CORPUS, dimension=6)


@pytest.fixture(scope="module", params=["lsa", "bundled"])
def embedder(request):
    return request.getfixturevalue("lsa") if request.param == "lsa" else load_embedder("bundled")


def first(dimension):
    return [1.0] + [0.0] * (dimension - 1)


def test_sums_are_exact_even_for_very_long_texts():
    rng = np.random.default_rng(0)
    table = rng.integers(-127, 128, (300, 5)).astype(np.int8)
    ids = rng.integers(0, 300, 400_000).astype(np.int32)
    counts = rng.integers(1, 9, len(ids)).astype(np.int32)
    bounds = np.array([0, 3, 3, 399_000, 400_000], dtype=np.int32)
    got = TokenSums(table).sums(ids, counts, bounds)
    for i in range(4):
        part = slice(bounds[i], bounds[i + 1])
        exact = counts[part].astype(np.int64) @ table[ids[part]].astype(np.int64)
        assert got[i].tolist() == exact.tolist()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(-(2**40), 2**40), min_size=4, max_size=4), min_size=1))
def test_integer_rows_become_unit_rows(rows):
    got = unit_integer_rows(np.array(rows, dtype=np.float64))
    np.testing.assert_allclose(np.linalg.norm(got, axis=1), 1, atol=1e-6)
    alone = np.concatenate([unit_integer_rows(np.array([r], dtype=np.float64)) for r in rows])
    assert got.tobytes() == alone.tobytes()
    for row, unit in zip(rows, got, strict=True):
        if any(row):
            exact = np.array(row) / np.linalg.norm(np.array(row, dtype=np.float64))
            np.testing.assert_allclose(unit, exact, atol=1e-5)
        else:
            assert unit.tolist() == first(4)


def test_quantize_keeps_the_table_within_half_a_step():
    table = np.random.default_rng(1).normal(size=(50, 8))
    integers, scale = quantize(table)
    assert integers.dtype == np.int8
    assert np.abs(integers * scale - table).max() <= scale * 0.51 + np.abs(table).max() * 0.01
    assert quantize(np.zeros((2, 3)))[0].tolist() == [[0, 0, 0]] * 2


@pytest.mark.parametrize(
    "row", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0], [3e200, 4e200], [3e-200, 4e-200]]
)
def test_unit_rows_of_any_input(row):
    got = unit_rows(np.array([row]))[0].tolist()
    plain = np.isfinite(row).all() and any(row)
    assert got == pytest.approx([0.6, 0.8] if plain else [1.0, 0.0])


def test_rows_are_unit_float32_in_order(embedder):
    rows = embedder.embed(SENTENCES)
    assert isinstance(embedder, Embedder)
    assert rows.dtype == np.float32 and rows.shape == (10, embedder.dimension)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert embedder.embed([]).shape == (0, embedder.dimension)
    shuffled = random.Random(1).sample(range(10), 10)
    assert embedder.embed([SENTENCES[i] for i in shuffled]).tobytes() == rows[shuffled].tobytes()


def test_like_texts_are_alike():
    rows = load_embedder("bundled").embed(SENTENCES).astype(np.float64)
    cosines = rows @ rows.T
    np.fill_diagonal(cosines, -2)
    assert cosines.argmax(axis=1).tolist() == [i ^ 1 for i in range(10)]


def test_an_exchanged_entity_moves_the_vector(embedder):
    before = "Our new tyre plant in Ohio opened in March."
    after = before.replace("Ohio", "the vaccine trial")
    one, other = embedder.embed([before, after]).astype(np.float64)
    assert 0.3 < one @ other < 0.999


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=80), min_size=1, max_size=12), st.integers(0, 11))
def test_any_text_and_any_batch(texts, at):
    for model in (load_embedder("bundled"), _small()):
        rows = model.embed(texts)
        assert np.isfinite(rows).all()
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
        i = at % len(texts)
        assert model.embed([texts[i]]).tobytes() == rows[i].tobytes()
        assert model.embed([*SENTENCES, *texts])[10:].tobytes() == rows.tobytes()


def _small(cache=[]):  # noqa: B006
    if not cache:
        cache.append(fit_lsa(CORPUS, dimension=6))
    return cache[0]


ODD = ["\x0b", "\x1c", "\x85", "\u2003", "\u2028", "\u00ad", "\u0301", "[UNK]", "[CLS]", "##s"]
ODD += ["caf\u00e9", "中文", "don't", "a" * 120, " ", "\n", "grew", "7.5%", "U.S."]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(ODD), st.text(max_size=4)), max_size=12).map("".join))
def test_cut_word_by_word_a_text_has_the_pieces_of_the_whole(text):
    model = load_bundled()
    whole = model._tokenizer.encode(clean(text), add_special_tokens=False).ids
    for _ in ("cut now", "remembered"):
        assert model._cut_all([clean(text)]) == [whole]


def test_no_more_words_are_remembered_than_asked(monkeypatch):
    model = StaticEmbedder(BUNDLED)
    monkeypatch.setattr(static, "_REMEMBERED", 3)
    texts = ["one two three four five", "five " + "x" * 60]
    assert model._cut_all(texts) == load_bundled()._cut_all(texts)
    assert [*model._remembered] == ["one", "two", "three"]


def test_a_tokenizer_that_looks_at_white_space_is_given_whole_texts(tmp_path):
    for file in BUNDLED.iterdir():
        shutil.copy(file, tmp_path)
    definition = json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))
    definition["pre_tokenizer"] = {
        "type": "Metaspace", "replacement": "a", "prepend_scheme": "never", "split": False
    }  # fmt: skip
    (tmp_path / "tokenizer.json").write_text(json.dumps(definition), "utf-8")
    model = StaticEmbedder(tmp_path)
    whole = model._tokenizer.encode("f me", add_special_tokens=False).ids
    assert model._cut_all(["f me"]) == [whole] != load_bundled()._cut_all(["f me"])


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b", "\ud800"])
def test_texts_that_say_nothing(embedder, text):
    assert embedder.embed([text])[0].tolist() == first(embedder.dimension)


def test_a_text_longer_than_any_window_is_not_cut(embedder):
    many = " ".join(SENTENCES[:2] * 3000)
    more = many + " " + SENTENCES[8]
    rows = embedder.embed([many, more, SENTENCES[0]])
    assert rows[0].tobytes() != rows[1].tobytes()
    assert rows[0] @ rows[2] > 0.8


def test_lone_surrogates_are_replaced():
    assert clean("a\ud800b") == "a\ufffdb"
    assert clean("é€😀") == "é€😀"


def test_lsa_does_not_depend_on_order_and_survives_the_disk(lsa, tmp_path):
    again = fit_lsa(random.Random(3).sample(CORPUS, len(CORPUS)), dimension=6)
    assert again.digest == lsa.digest
    assert fit_lsa(CORPUS[:-1], dimension=6).digest != lsa.digest
    folder = lsa.save(tmp_path / "model")
    spec = spec_for(EmbeddingConfig(model="lsa"), fitted_path=folder)
    assert load_embedder(spec).model_id == lsa.model_id
    loaded = load_embedder(pickle.loads(pickle.dumps(spec)))
    assert loaded.model_id == lsa.model_id == f"lsa-6:{lsa.digest[:12]}"
    assert loaded.embed(SENTENCES).tobytes() == lsa.embed(SENTENCES).tobytes()


def test_a_worker_notices_another_fit_in_the_same_folder(lsa, tmp_path):
    config = EmbeddingConfig(model="lsa")
    old = spec_for(config, fitted_path=lsa.save(tmp_path))
    other = fit_lsa(CORPUS[:50], dimension=6)
    new = spec_for(config, fitted_path=other.save(tmp_path))
    assert load_embedder(new).model_id == other.model_id
    with pytest.raises(InputError, match="weights have changed"):
        load_embedder(old)


def test_lsa_is_the_truncated_svd_of_tf_idf():
    """Against a direct calculation on a table small enough to be decomposed whole."""
    texts = ["a b", "b c c", "c d", "a d d d", "e a"]
    terms = "abcde"
    counts = np.array([[t.split().count(w) for w in terms] for t in texts])
    idf = np.log(6 / (1 + (counts > 0).sum(axis=0))) + 1
    tf = np.where(counts > 0, np.round(8 * (1 + np.log(np.maximum(counts, 1)))), 0)
    table = tf * idf
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    right = np.linalg.svd(table)[2][:3].T
    expected = (tf * idf) @ right
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    got = fit_lsa(texts, dimension=3).embed(texts)
    np.testing.assert_allclose(got @ got.T, expected @ expected.T, atol=0.02)


def test_lsa_large_enough_for_the_iterative_solver():
    rng = random.Random(7)
    words = [f"w{i}" for i in range(400)]
    topics = [words[i : i + 40] for i in range(0, 400, 40)]
    texts = [" ".join(rng.choices(rng.choice(topics), k=8)) for _ in range(600)]
    model = fit_lsa(texts, dimension=12)
    assert model.dimension == 12
    assert fit_lsa(texts[::-1], dimension=12).digest == model.digest
    rows = model.embed([" ".join(t[:10]) for t in topics] + [" ".join(t[10:30]) for t in topics])
    assert (rows[:10] @ rows[10:].T).argmax(axis=1).tolist() == list(range(10))


def test_lsa_faults(tmp_path):
    with pytest.raises(InputError, match="at least two texts and two words"):
        fit_lsa(["word", ""])
    with pytest.raises(ValueError, match="'dimension' parameter of fit_lsa"):
        fit_lsa(CORPUS, dimension=1)
    with pytest.raises(InputError, match="no LSA model here"):
        LsaEmbedder.load(tmp_path)
    with pytest.raises(ConfigError, match="fitted on a corpus"):
        load_embedder("lsa")
    folder = _small().save(tmp_path)
    table = np.load(folder / "table.npy")
    table[0, 0] += 1
    np.save(folder / "table.npy", table)
    with pytest.raises(InputError, match="weights have changed"):
        LsaEmbedder.load(folder)
    np.save(folder / "table.npy", table[1:])
    with pytest.raises(InputError, match="damaged"):
        LsaEmbedder.load(folder)


def test_unknown_names():
    with pytest.raises(ConfigError, match=r"'bundled', 'contextual', 'lsa', 'openai:<model>'"):
        load_embedder("word2vec")
    with pytest.raises(ConfigError, match="unknown kind"):
        load_embedder(EmbedderSpec("other"))


def test_sentence_transformers_is_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ConfigError, match=r"not installed; pip install") as caught:
        load_embedder("sentence-transformers:absent-model")
    assert "\n" not in str(caught.value)


def test_the_bundled_model_is_small_and_documented():
    files = [p for p in BUNDLED.rglob("*") if p.is_file()]
    assert sum(p.stat().st_size for p in files) < 10_000_000
    card = (BUNDLED / "MODEL_CARD.md").read_text(encoding="utf-8")
    for word in ("Apache", "CC BY-SA 4.0", "Earnings-21", "held out", "Limits"):
        assert word in card


def test_the_bundled_model_is_what_the_card_says():
    """The weights are those that the figures belong to."""
    model = load_embedder("bundled")
    assert model.model_id in (BUNDLED / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert model is load_embedder(EmbeddingConfig())


def test_damaged_static_model(tmp_path):
    with pytest.raises(InputError, match="no usable static embedding model"):
        StaticEmbedder(tmp_path)
    folder = tmp_path / "m"
    shutil.copytree(BUNDLED, folder)
    np.save(folder / "vectors.npy", np.load(folder / "vectors.npy")[:-1])
    with pytest.raises(InputError, match="do not fit together"):
        StaticEmbedder(folder)


def test_special_tokens_are_plain_text():
    model = load_embedder("bundled")
    plain, marked = model.embed(["[ mask ] sales", "[MASK] sales"])
    assert plain.tobytes() == marked.tobytes()


def test_another_process_calculates_the_same_bits(tmp_path):
    code = (
        "import sys, json, numpy as np\n"
        "from nes_spark.embedding import load_embedder\n"
        "rows = load_embedder('bundled').embed(json.load(sys.stdin))\n"
        "sys.stdout.write(rows.tobytes().hex())\n"
    )
    environment = os.environ | {"PYTHONHASHSEED": "5", "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(SENTENCES[::-1]),
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert bytes.fromhex(done.stdout) == load_embedder("bundled").embed(SENTENCES[::-1]).tobytes()


def test_importing_embedders_is_cheap():
    code = (
        "import sys, nes_spark.embedding\n"
        "heavy = {'pyspark', 'torch', 'openai', 'tokenizers', 'scipy', 'spacy'}\n"
        "sys.exit(' '.join(sorted(heavy & set(sys.modules))) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


_PIECES = st.sampled_from(
    [
        *SENTENCES,
        "",
        " ",
        "Sales",
        "un",
        "believable",
        "3.",
        "\n\n",
        "İ",
        "\u0301",
        "\x1c",
        "中文",
        "?",
    ]
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(_PIECES, st.sampled_from([" ", " ", "\n", "", "\x0b", "\u00a0"])), max_size=9
    ),
    st.integers(0, 3),
)
def test_windows_of_sentences_have_the_vectors_of_the_joined_texts(pieces, buffer):
    model = load_embedder("bundled")
    sentences = [a + b for a, b in pieces]
    joined = ["".join(sentences[max(0, t - buffer) : t + buffer + 1]) for t in range(len(pieces))]
    windows = model.embed_windows(sentences, buffer)
    assert windows.dtype == np.float32
    assert np.array_equal(windows, model.embed(joined))
