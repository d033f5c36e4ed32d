"""The remote embedder and its cache against a real HTTP server that misbehaves."""

from __future__ import annotations

import multiprocessing
import os
import stat
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nes_spark.config import EmbeddingConfig
from nes_spark.embedding import load_embedder, spec_for
from nes_spark.embedding.cache import VectorCache, content_key
from nes_spark.embedding.remote import OpenAIEmbedder, pieces
from nes_spark.errors import ConfigError, InfrastructureError
from tests.embedding.conftest import KEY_NAME
from tests.loopback import Loopback, text_vector

TEXTS = [f"Sentence number {i} says {i * i}." for i in range(120)]


def config(server, **changes):
    values = {
        "model": "openai:loop",
        "base_url": server.base_url,
        "api_key_env": KEY_NAME,
        "batch_size": 7,
        "timeout": 5,
    }
    return EmbeddingConfig.model_validate(values | changes)


def embedder(server, folder=None, **changes):
    changes.setdefault("cache", folder is not None)
    return OpenAIEmbedder(spec_for(config(server, **changes), cache_path=folder))


def expected(texts, dimension=16):
    rows = np.stack([text_vector(t, dimension) for t in texts]).astype(np.float64)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize("cached", [False, True])
def test_every_text_once_and_in_order_with_faults(impatient, tmp_path, cached):
    with Loopback(fault_rate=0.3, seed=3) as server:
        rows = embedder(server, tmp_path if cached else None, batch_size=2).embed(TEXTS)
    np.testing.assert_allclose(rows, expected(TEXTS), atol=1e-6)
    assert set(server.outcomes()) == {"ok", *server.faults}
    assert server.paid == dict.fromkeys(TEXTS, 1)


def test_rows_are_unit_and_float32(tmp_path):
    with Loopback() as server:
        rows = embedder(server).embed(TEXTS)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


def test_nothing_is_paid_for_twice(tmp_path):
    with Loopback() as server:
        first = embedder(server, tmp_path).embed([*TEXTS, *TEXTS[:10]])
        again = embedder(server, tmp_path, base_url=server.base_url).embed(TEXTS)
        asked = len(server.requests)
        assert server.paid == dict.fromkeys(TEXTS, 1)
        embedder(server, tmp_path, dimension=8).embed(TEXTS[:3])
        embedder(server, tmp_path, model="openai:other").embed(TEXTS[:3])
        assert len(server.requests) == asked + 2
    np.testing.assert_array_equal(first[:120], again)
    np.testing.assert_array_equal(first[120:], again[:10])


def test_what_was_received_before_a_failure_is_kept(tmp_path, impatient):
    with Loopback(script=["ok"] * 5 + ["500"] * 20) as server:
        with pytest.raises(InfrastructureError, match="status 500 after 3 attempts"):
            embedder(server, tmp_path, max_retries=2).embed(TEXTS)
        server._script = iter(())
        embedder(server, tmp_path).embed(TEXTS)
        assert server.paid == dict.fromkeys(TEXTS, 1)


def test_retry_after_is_honoured(impatient):
    with Loopback(script=["429-retry-after"], retry_after=0.6) as server:
        embedder(server).embed(["one"])
    first, second = server.requests
    assert second.arrived - first.arrived >= 0.6


def test_a_slow_answer_is_asked_for_again(impatient):
    with Loopback(script=["slow"], slow_seconds=1.0) as server:
        rows = embedder(server, timeout=0.3).embed(["one"])
    np.testing.assert_allclose(rows, expected(["one"]), atol=1e-6)


@pytest.mark.parametrize("fault", ["garbage", "nonsense", "short", "not_finite"])
def test_malformed_answers_are_never_used(impatient, fault, tmp_path):
    with Loopback(script=[fault, fault]) as server:
        rows = embedder(server, tmp_path).embed(TEXTS[:5])
        np.testing.assert_allclose(rows, expected(TEXTS[:5]), atol=1e-6)
        server._script = iter([fault] * 9)
        with pytest.raises(InfrastructureError, match="2 malformed answers in a row") as caught:
            embedder(server, max_retries=1).embed(TEXTS[:5])
    assert "\n" not in str(caught.value)
    assert "Sentence" not in str(caught.value)


def one_line(caught, *absent):
    message = str(caught.value)
    assert "\n" not in message
    for secret in absent:
        assert secret not in message
    return message


def test_missing_key(monkeypatch):
    monkeypatch.delenv("NOBODY_SET_THIS", raising=False)
    with pytest.raises(ConfigError, match="NOBODY_SET_THIS is not set") as caught:
        load_embedder(EmbeddingConfig(model="openai:x", api_key_env="NOBODY_SET_THIS", cache=False))
    one_line(caught)


def test_wrong_key_and_wrong_model_and_wrong_dimension():
    secret = os.environ[KEY_NAME]
    with Loopback(key="another") as server, pytest.raises(ConfigError, match="refused") as caught:
        embedder(server).embed(TEXTS[:2])
    assert KEY_NAME in one_line(caught, secret, "Sentence")
    with Loopback(models=["loop"]) as server:
        with pytest.raises(ConfigError, match="no model 'absent'") as caught:
            embedder(server, model="openai:absent").embed(TEXTS[:2])
        one_line(caught, secret, "Sentence")
        with pytest.raises(ConfigError, match=r"embedding.dimension 65\b") as caught:
            embedder(server, dimension=65).embed(TEXTS[:2])
        one_line(caught, secret, "Sentence")


def test_no_endpoint(impatient):
    with Loopback() as server:
        pass
    with pytest.raises(InfrastructureError, match="cannot be reached, 2 attempts") as caught:
        embedder(server, max_retries=1).embed(["x"])
    one_line(caught)


def test_key_is_in_no_representation(tmp_path, caplog):
    secret = os.environ[KEY_NAME]
    with Loopback() as server, caplog.at_level("DEBUG"):
        made = embedder(server, tmp_path)
        made.embed(["Quarterly words"])
        assert server.requests[0].key == secret
        shown = repr(made) + repr(made._spec) + repr(vars(made)) + caplog.text
    assert secret not in shown
    assert "Quarterly words" not in shown
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert b"Quarterly" not in path.read_bytes()


def test_empty_and_long_texts():
    long = "word " * 9000
    with Loopback() as server:
        rows = embedder(server).embed(["", " \n", long, "one"])
    assert rows[0].tolist() == rows[1].tolist() == [1.0] + [0.0] * 15
    parts = pieces(long)
    assert max(map(len, parts)) <= 16_000
    weighted = (expected(parts) * [[len(p)] for p in parts]).sum(axis=0)
    np.testing.assert_allclose(rows[2], weighted / np.linalg.norm(weighted), atol=1e-6)
    assert all(len(r.body["input"]) <= 7 for r in server.requests)


def test_dimension_is_known_before_the_first_text():
    with Loopback(dimension=12) as server:
        assert embedder(server).dimension == 12
        assert embedder(server).embed([]).shape == (0, 12)
        assert embedder(server, dimension=8).embed(["a"]).shape == (1, 8)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.text(max_size=60), st.integers(1, 9))
def test_pieces_lose_nothing_but_white_space(text, size):
    parts = pieces(text, size)
    assert all(1 <= len(p) <= size for p in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def _worker(url, folder, results, barrier):
    values = {"model": "openai:loop", "base_url": url, "api_key_env": KEY_NAME, "batch_size": 7}
    made = OpenAIEmbedder(spec_for(EmbeddingConfig.model_validate(values), cache_path=folder))
    barrier.wait()
    results.put(made.embed(TEXTS).tobytes())


def test_processes_share_the_cache(tmp_path):
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(4), context.Queue()
    with Loopback() as server:
        arguments = (server.base_url, str(tmp_path), results, barrier)
        workers = [context.Process(target=_worker, args=arguments) for _ in range(4)]
        for worker in workers:
            worker.start()
        got = {results.get(timeout=60) for _ in workers}
        for worker in workers:
            worker.join()
    assert len(got) == 1
    assert server.paid == dict.fromkeys(TEXTS, 1)


def test_threads_share_the_cache(tmp_path):
    with Loopback() as server:
        made = embedder(server, tmp_path)
        threads = [threading.Thread(target=made.embed, args=(TEXTS,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert server.paid == dict.fromkeys(TEXTS, 1)


def _die_with_a_claim(folder):
    def produce(keys):
        os._exit(9)

    cache = VectorCache(folder, "m")
    cache.fetch([b"k" * 32], produce, lambda keys: [keys])


def test_the_claim_of_a_dead_worker_is_taken_over(tmp_path):
    worker = multiprocessing.get_context("fork").Process(target=_die_with_a_claim, args=(tmp_path,))
    worker.start()
    worker.join()
    assert worker.exitcode == 9
    one = np.ones(3, np.float32)
    cache = VectorCache(tmp_path, "m")
    found = cache.fetch([b"k" * 32], lambda keys: [one], lambda keys: [keys])
    np.testing.assert_array_equal(found[b"k" * 32], one)


def test_the_claim_of_another_machine_runs_out(tmp_path):
    elsewhere = VectorCache(tmp_path, "m", lease=0.4)
    elsewhere._host = "elsewhere"
    elsewhere._claim("other", [b"k" * 32])
    one = np.ones(3, np.float32)
    cache = VectorCache(tmp_path, "m")
    assert cache._claim("me", [b"k" * 32]) == ({}, [])
    found = cache.fetch([b"k" * 32], lambda keys: [one], lambda keys: [keys])
    np.testing.assert_array_equal(found[b"k" * 32], one)


def test_damaged_and_unwritable_cache(tmp_path):
    cache = VectorCache(tmp_path, "m")
    cache.path.write_bytes(b"this is not a database" * 100)
    with pytest.raises(InfrastructureError, match="cache cannot be used") as caught:
        cache.get([b"k"])
    one_line(caught)
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError, match="cannot be written"):
        VectorCache(tmp_path / "file" / "below", "m")


def test_cache_folder_must_be_a_folder():
    values = {"model": "openai:x", "cache_path": "s3://bucket/cache"}
    with pytest.raises(ConfigError, match=r"embedding.cache_path: .* got a s3 address"):
        spec_for(EmbeddingConfig.model_validate(values))


def test_keys_differ_by_model_dimension_and_text():
    keys = {content_key(m, d, t) for m in "ab" for d in (None, 8) for t in ("x", "y")}
    assert len(keys) == 8
