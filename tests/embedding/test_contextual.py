"""The contextual encoder: the same bits whatever surrounds a text, and the model it was made of."""

from __future__ import annotations

import json
import random
import shutil
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nes_spark.config import EmbeddingConfig
from nes_spark.embedding import Embedder, load_embedder, spec_for
from nes_spark.embedding.contextual import (
    BUNDLED,
    GRAPH,
    OVERLAP,
    TOKENIZER,
    WEIGHTS,
    ContextualEmbedder,
    WindowPooling,
    load_contextual,
    read_tokenizer,
    window_bounds,
)
from nes_spark.embedding.stages import embed_chunks
from nes_spark.embedding.transformer_numpy import Shape
from nes_spark.errors import ConfigError, InputError, NesError
from nes_spark.logs import LOGGER
from nes_spark.schemas import EMBEDDINGS

REFERENCE = json.loads((Path(__file__).parent / "contextual_reference.json").read_text())
#: Windows and one text that needs three of them.
LONG = " ".join(f"The {n}th shop sold {n * n} lamps." for n in range(60))
TEXTS = [*REFERENCE["texts"], "", LONG, "Hinge.", LONG[:900], REFERENCE["texts"][3]]

onnx_only = pytest.mark.skipif(
    load_contextual().runtime != "onnxruntime", reason="no onnxruntime for this platform"
)


@pytest.fixture(scope="module")
def numpy_embedder():
    return ContextualEmbedder(runtime="numpy")


@pytest.fixture(scope="module")
def expected():
    return load_contextual().embed(TEXTS)


@pytest.fixture(scope="module")
def tokenizer():
    return read_tokenizer((BUNDLED / TOKENIZER).read_text(encoding="utf-8"))


# what the model says


@pytest.mark.parametrize("runtime", ["auto", "numpy"])
def test_cosines_that_the_model_is_published_with(runtime, numpy_embedder):
    """The first example of the documentation of sentence-transformers, for all-MiniLM-L6-v2."""
    texts = [
        "The weather is lovely today.",
        "It's so sunny outside!",
        "He drove to the stadium.",
    ]
    embedder = numpy_embedder if runtime == "numpy" else load_contextual()
    rows = embedder.embed(texts).astype(np.float64)
    published = [[1, 0.6660, 0.1046], [0.6660, 1, 0.1411], [0.1046, 0.1411, 1]]
    np.testing.assert_allclose(rows @ rows.T, published, atol=0.005)


def test_cosines_of_the_float_weights():
    rows = load_contextual().embed(REFERENCE["texts"]).astype(np.float64)
    np.testing.assert_allclose(rows @ rows.T, REFERENCE["cosines"], atol=0.01)
    assert np.ptp(REFERENCE["cosines"]) > 0.8  # the sentences do differ


def test_numpy_and_onnxruntime_give_the_same_vectors(numpy_embedder, expected):
    assert numpy_embedder.runtime == "numpy"
    np.testing.assert_allclose(numpy_embedder.embed(TEXTS), expected, rtol=0, atol=1e-6)
    assert numpy_embedder.model_id == load_contextual().model_id


def test_rows_are_unit_and_float32(expected):
    assert expected.dtype == np.float32
    assert expected.shape == (len(TEXTS), load_contextual().dimension)
    np.testing.assert_allclose(np.linalg.norm(expected.astype(np.float64), axis=1), 1, atol=1e-6)


def test_context_counts():
    """What a sum of token vectors cannot tell: the same words in another order."""
    one, other = load_contextual().embed(["The dog bit the man.", "The man bit the dog."])
    assert one @ other < 0.999


# the same bits


@pytest.mark.parametrize(("threads", "batch"), [(1, 1), (2, 4), (1, 16)])
def test_bits_do_not_depend_on_batch_or_threads(batch, threads, expected):
    made = ContextualEmbedder(batch=batch, threads=threads)
    assert made.embed(TEXTS).tobytes() == expected.tobytes()


@pytest.mark.parametrize("runtime", ["auto", "numpy"])
def test_bits_do_not_depend_on_neighbours(runtime, numpy_embedder):
    embedder = numpy_embedder if runtime == "numpy" else load_contextual()
    whole = embedder.embed(TEXTS)
    alone = np.concatenate([embedder.embed([t]) for t in TEXTS])
    assert alone.tobytes() == whole.tobytes()
    order = random.Random(3).sample(range(len(TEXTS)), len(TEXTS))
    assert embedder.embed([TEXTS[i] for i in order]).tobytes() == whole[order].tobytes()


@cache
def alone(i):
    """The bits of one text embedded by itself."""
    return load_contextual().embed([TEXTS[i]])[0].tobytes()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, len(TEXTS) - 1), max_size=12))
def test_bits_in_any_selection_with_repeats(chosen):
    got = load_contextual().embed([TEXTS[i] for i in chosen])
    assert [row.tobytes() for row in got] == [alone(i) for i in chosen]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(max_size=40), max_size=5))
def test_any_unicode_is_embedded(texts):
    rows = load_contextual().embed(texts)
    assert rows.shape == (len(texts), 384)
    assert np.isfinite(rows).all()


def test_texts_that_say_nothing():
    rows = load_contextual().embed(["", " \n\t", "\u200b", "\ud800", "😀 😀"])
    first = [1.0] + [0.0] * 383
    assert rows[0].tolist() == rows[1].tolist() == rows[2].tolist() == first
    # the tokenizer does not know these: nothing but [UNK]
    assert rows[3].tolist() == rows[4].tolist() == first
    assert load_contextual().embed([]).shape == (0, 384)


# windows and pooling


@settings(max_examples=200)
@given(st.integers(1, 3000), st.integers(OVERLAP + 1, 300))
def test_windows_cover_a_text(pieces, size):
    bounds = window_bounds(pieces, size)
    assert bounds[0][0] == 0
    assert bounds[-1][1] == pieces
    assert all(0 < end - start <= size for start, end in bounds)
    assert len({end - start for start, end in bounds}) == 1
    assert all(a[1] - b[0] >= OVERLAP for a, b in pairwise(bounds))
    assert len(bounds) == max(1, -(-(pieces - OVERLAP) // (size - OVERLAP)))


class Counting:
    """States that name their word piece, so that a vector shows what was pooled."""

    def __init__(self) -> None:
        self.shapes: list[tuple[int, int]] = []
        self.windows: list[list[int]] = []

    def states(self, ids, lengths):
        self.shapes.append(ids.shape)
        self.windows += [row[:n].tolist() for row, n in zip(ids, lengths, strict=True)]
        return np.where(ids[:, :, None] == np.arange(30_522), np.float32(1), np.float32(0))


def test_a_long_text_is_the_mean_over_the_pieces_of_its_windows(tokenizer):
    forward = Counting()
    pooling = WindowPooling(tokenizer, forward, Shape(0, 1, 30_522, 66, 0.0), batch=2)
    row = pooling.embed([LONG[:1500]])[0]
    pieces = tokenizer.encode(LONG[:1500], add_special_tokens=False).ids
    windows = [pieces[a:b] for a, b in window_bounds(len(pieces), 64)]
    assert len(windows) > 5
    assert forward.windows == [[101, *w, 102] for w in windows]
    assert max(n for n, _ in forward.shapes) == 2
    counts = np.bincount([p for w in forward.windows for p in w], minlength=30_522)
    np.testing.assert_allclose(row, counts / np.linalg.norm(counts), atol=1e-6)


def test_windows_weigh_by_length_and_padding_does_not_count(tokenizer):
    forward = Counting()
    pooling = WindowPooling(tokenizer, forward, Shape(0, 1, 30_522, 66, 0.0))
    rows = pooling.embed(["tyres tyres tyres lamps", "lamps lamps"])
    assert forward.shapes == [(2, 8)]
    tyres, lamps = (tokenizer.token_to_id(t) for t in ("tyres", "lamps"))
    assert rows[0][tyres] / rows[0][lamps] == pytest.approx(3, rel=1e-6)
    assert set(np.flatnonzero(rows[1])) == {101, 102, lamps}


def test_equal_texts_are_embedded_once(tokenizer):
    forward = Counting()
    pooling = WindowPooling(tokenizer, forward, Shape(0, 1, 30_522, 66, 0.0))
    rows = pooling.embed(["one lamp", "two lamps"] * 5)
    assert len(forward.windows) == 2
    assert (rows[0::2] == rows[0]).all()
    assert (rows[0] != rows[1]).any()


def test_nothing_is_cut_off():
    embedder = load_contextual()
    one, other = embedder.embed([LONG, LONG[:-6] + "violins."])
    assert 0.9 < one @ other < 0.99999


def test_cutting_and_padding_of_the_definition_are_overridden(tokenizer):
    definition = json.loads((BUNDLED / TOKENIZER).read_text(encoding="utf-8"))
    assert definition["truncation"]["max_length"] == 128
    assert len(tokenizer.encode(LONG).ids) > 256
    assert len(tokenizer.encode("one").ids) == 3


# the model's files


def test_files_are_those_that_the_header_names():
    import hashlib

    header = json.loads((BUNDLED / "model.json").read_text())
    assert set(header["sha256"]) == {GRAPH, TOKENIZER, WEIGHTS}
    for name, digest in header["sha256"].items():
        assert hashlib.sha256((BUNDLED / name).read_bytes()).hexdigest() == digest
    card = (BUNDLED / "MODEL_CARD.md").read_text()
    assert load_contextual().model_id in card
    assert all(digest in card for digest in header["sha256"].values())


@pytest.fixture
def copy(tmp_path):
    return Path(shutil.copytree(BUNDLED, tmp_path / "model"))


def refused(folder):
    with pytest.raises(NesError) as caught:
        ContextualEmbedder(folder)
    assert isinstance(caught.value, InputError)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", [WEIGHTS, GRAPH, TOKENIZER])
def test_a_damaged_or_missing_file_is_refused(copy, name):
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / name).write_bytes(content)
    assert f"{name} of the contextual embedding model is not the file" in refused(copy)
    (copy / name).write_bytes(content[: len(content) // 2])
    assert "is not the file" in refused(copy)
    (copy / name).unlink()
    assert "FileNotFoundError" in refused(copy)


def test_a_folder_that_is_no_model_is_refused(copy, tmp_path):
    assert "no usable contextual embedding model" in refused(tmp_path / "nowhere")
    header = json.loads((copy / "model.json").read_text())
    (copy / "model.json").write_text(json.dumps(header | {"format": 9}))
    assert "format 9 of the contextual model is not known, only 1" in refused(copy)
    (copy / "model.json").write_text(json.dumps({"format": 1}))
    assert "KeyError" in refused(copy)
    (copy / "model.json").write_text("{")
    assert "JSONDecodeError" in refused(copy)


@onnx_only
def test_what_onnxruntime_cannot_load_is_one_line(tmp_path):
    from nes_spark.embedding.contextual import OnnxTransformer

    (tmp_path / GRAPH).write_bytes(b"no graph")
    with pytest.raises(NesError, match="cannot load the contextual model") as caught:
        OnnxTransformer(tmp_path / GRAPH)
    assert "\n" not in str(caught.value)


def test_without_onnxruntime_numpy_runs_and_says_so(monkeypatch, caplog, expected):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    LOGGER.addHandler(caplog.handler)
    try:
        made = ContextualEmbedder()
    finally:
        LOGGER.removeHandler(caplog.handler)
    messages = [r.getMessage() for r in dict.fromkeys(caplog.records)]
    assert len(messages) == 1
    assert "onnxruntime cannot be imported" in messages[0]
    assert made.runtime == "numpy"
    assert made.model_id == load_contextual().model_id
    np.testing.assert_allclose(made.embed(TEXTS[:3]), expected[:3], rtol=0, atol=1e-6)
    with pytest.raises(ImportError):
        ContextualEmbedder(runtime="onnxruntime")


@pytest.mark.parametrize("wrong", [{"runtime": "torch"}, {"threads": 0}, {"batch": 0}])
def test_parameters_are_checked(wrong):
    with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of"):
        ContextualEmbedder(**wrong)


# how it is reached


def test_the_configuration_knows_it():
    embedder = load_embedder("contextual")
    assert isinstance(embedder, Embedder)
    assert embedder is load_embedder(spec_for(EmbeddingConfig(model="contextual")))
    assert embedder is load_contextual() is load_contextual(1) is load_contextual(threads=1)
    assert embedder.model_id.startswith("contextual-en-384:")
    with pytest.raises(ValueError, match="'dimension' is for lsa and openai"):
        EmbeddingConfig(model="contextual", dimension=64)
    with pytest.raises(ConfigError, match="'contextual'"):
        load_embedder("contextually")


def test_stage_on_any_partitioning(spark, partitions, expected):
    rows = [(f"d#{i:02d}", i, text) for i, text in enumerate(TEXTS)]
    frame = spark.createDataFrame(rows, "chunk_id string, n int, text string")
    got = embed_chunks(frame.repartition(partitions), spec_for(EmbeddingConfig(model="contextual")))
    assert got.columns == EMBEDDINGS.names
    found = got.orderBy("chunk_id").collect()
    vectors = np.array([r["vector"] for r in found], np.float32)
    assert vectors.tobytes() == expected.tobytes()
    assert {r["model_id"] for r in found} == {load_contextual().model_id}
