"""Embedding on Spark."""

from __future__ import annotations

import numpy as np
import pytest

from nes_spark.config import EmbeddingConfig
from nes_spark.embedding import load_embedder, spec_for
from nes_spark.embedding.stages import (
    embed_chunks,
    embed_texts,
    fit_embedder,
    spread_by,
)
from nes_spark.errors import ConfigError
from nes_spark.schemas import EMBEDDINGS
from tests.embedding.conftest import KEY_NAME
from tests.embedding.test_vectors import SENTENCES
from tests.loopback import Loopback, text_vector


@pytest.fixture(scope="module")
def texts(spark):
    rows = [(f"d#{i:05d}", i, s) for i, s in enumerate([*SENTENCES, "", *SENTENCES[:3]])]
    return spark.createDataFrame(rows, "chunk_id string, n int, text string")


def collected(frame):
    rows = frame.orderBy("chunk_id").collect()
    return [r["chunk_id"] for r in rows], np.array([r["vector"] for r in rows], np.float32), rows


def test_bundled_on_any_partitioning(spark, texts, partitions):
    spec = spec_for(EmbeddingConfig())
    frame = embed_chunks(texts.repartition(partitions), spec)
    assert frame.columns == EMBEDDINGS.names
    ids, vectors, rows = collected(frame)
    model = load_embedder("bundled")
    assert ids == [f"d#{i:05d}" for i in range(14)]
    direct = model.embed([*SENTENCES, "", *SENTENCES[:3]])
    assert vectors.tobytes() == direct.tobytes()
    assert {r["model_id"] for r in rows} == {model.model_id}


def test_equal_texts_are_read_once_where_that_costs(spark, partitions):
    words = [f"Text number {i}." for i in range(5)]
    rows = [(f"d#{i:05d}", words[i % 5]) for i in range(40)]
    frame = spark.createDataFrame(rows, "chunk_id string, text string")
    with Loopback() as server:
        config = EmbeddingConfig(
            model="openai:loop", base_url=server.base_url, api_key_env=KEY_NAME, cache=False
        )
        spec = spec_for(config)
        spread = frame.repartition(partitions, spread_by(spec))
        found = {r["chunk_id"]: r["vector"] for r in embed_chunks(spread, spec).collect()}
        assert {t: n for t, n in server.paid.items() if t in words} == dict.fromkeys(words, 1)
        assert len(found) == 40 and found["d#00003"] == found["d#00038"]
        # by chunk they come to every task
        embed_chunks(frame.repartition(7, "chunk_id"), spec).collect()
        assert sum(server.paid[t] for t in words) > 10


def test_columns_are_carried_and_missing_text_is_empty(spark):
    schema = "chunk_id string, tags array<string>, body string"
    frame = spark.createDataFrame([("a", ["x", "y"], None), ("b", None, "Sales rose.")], schema)
    got = embed_texts(frame, spec_for(EmbeddingConfig()), ["chunk_id", "tags"], "body")
    rows = got.orderBy("chunk_id").collect()
    assert [r["tags"] for r in rows] == [["x", "y"], None]
    assert rows[0]["vector"][:2] == [1.0, 0.0]


def test_lsa_is_fitted_in_the_job(spark, texts, partitions, tmp_path):
    config = EmbeddingConfig(model="lsa", dimension=5)
    documents = texts.repartition(partitions)
    spec = fit_embedder(documents, config, tmp_path)
    assert spec.digest == fit_embedder(documents.coalesce(1), config, tmp_path).digest
    model = load_embedder(spec)
    assert model.dimension == 5
    _, vectors, rows = collected(embed_chunks(documents, spec))
    assert vectors.tobytes() == model.embed([*SENTENCES, "", *SENTENCES[:3]]).tobytes()
    assert {r["model_id"] for r in rows} == {model.model_id}


def test_lsa_sample_is_bounded_and_deterministic(spark):
    from nes_spark.embedding.stages import _sentence_sample
    from nes_spark.text import split_sentences

    many = [(" ".join(f"Firm {i} sold {j} tyres." for j in range(9)),) for i in range(40)]
    frame = spark.createDataFrame(many, "text string")
    one = _sentence_sample(frame.repartition(1), 100, split_sentences)
    seven = _sentence_sample(frame.repartition(7), 100, split_sentences)
    assert len(one) == 100
    assert one == seven


def test_remote_pays_once_on_any_partitioning(spark, texts, partitions, tmp_path):
    with Loopback(fault_rate=0.3, faults=["429-retry-after"], seed=1) as server:
        config = EmbeddingConfig(
            model="openai:loop",
            base_url=server.base_url,
            api_key_env=KEY_NAME,
            batch_size=2,
            cache_path=str(tmp_path),
        )
        spec = fit_embedder(texts, config, tmp_path)
        _, vectors, rows = collected(embed_chunks(texts.repartition(partitions), spec))
        assert {t: n for t, n in server.paid.items() if t in SENTENCES} == dict.fromkeys(
            SENTENCES, 1
        )
    wanted = np.stack([text_vector(s, 16) for s in SENTENCES]).astype(np.float64)
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors[:10], wanted, atol=1e-6)
    assert vectors[10].tolist() == [1.0] + [0.0] * 15
    assert {r["model_id"] for r in rows} == {"openai:loop"}


def test_a_wrong_model_is_one_line_before_the_work_starts(spark, texts, tmp_path):
    with Loopback(models=["loop"]) as server:
        config = EmbeddingConfig(
            model="openai:absent", base_url=server.base_url, api_key_env=KEY_NAME, cache=False
        )
        with pytest.raises(ConfigError, match="no model 'absent'") as caught:
            fit_embedder(texts, config, tmp_path)
    assert "\n" not in str(caught.value)


def test_length_of_a_model_that_has_its_own():
    with pytest.raises(ValueError, match="'dimension' is for lsa and openai"):
        EmbeddingConfig(model="bundled", dimension=64)
