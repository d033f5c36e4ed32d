from __future__ import annotations

import logging
import pickle
import threading
from collections import Counter

import pytest

from nes_spark.audit.answer_store import AnswerStore, question_key, text_digest
from nes_spark.audit.client import (
    Asker,
    Purse,
    Question,
    RateLimiter,
    Secret,
    ask_all,
    read_key,
    read_response,
    retry_after,
    same_model,
)
from nes_spark.config import AuditConfig, LanguageModelConfig
from nes_spark.errors import ConfigError
from tests.audit.server import ModelServer, chat

KEY = "sk-very-secret-0123456789"
CONFIG = AuditConfig(prompt="Whose? {text}", backoff=0.01, max_backoff=0.02, timeout=5.0)


def model_for(server, **more):
    return LanguageModelConfig(
        name="m", model="gpt-4o", base_url=server.base_url, price_in=2.0, price_out=10.0, **more
    )


def questions_for(model, n):
    texts = [f"text number {i}" for i in range(n)]
    return [Question(question_key(model, CONFIG.prompt, text_digest(t)), t) for t in texts]


def run(server, store, n=20, in_flight=4, config=CONFIG, slack=None, limiter=None, **more):
    model = model_for(server, **more)
    purse = Purse(slack)
    asker = Asker(model, config, Secret(KEY), store, limiter or RateLimiter(), purse)
    try:
        return list(ask_all(asker, questions_for(model, n), in_flight, purse))
    finally:
        asker.close()


def test_each_question_once_and_within_bounds(tmp_path):
    store = AnswerStore(tmp_path)
    with ModelServer(answer=lambda m: "SNPS", key=KEY) as server:
        replies = run(server, store)
        assert all(r.record["content"] == "SNPS" and r.asked for r in replies)
        assert server.most_in_flight <= 4
        assert len(server.requests) == 20
        body = server.requests[0].body
        assert body["temperature"] == 0
        assert body["max_tokens"] == 16
        assert body["messages"][0]["content"].startswith("Whose? text number")
        again = run(server, store)
        assert len(server.requests) == 20
        assert not any(r.asked for r in again)


def test_values_of_an_unexpected_kind_are_not_quoted_anywhere(tmp_path, capfd, recwarn):
    def odd(owner, handler, body):
        status, answer = chat(owner, handler, body)
        answer["id"] = {"echo": "text number 0"}
        answer["usage"]["prompt_tokens"] = "text number 0"
        answer["choices"][0]["message"]["role"] = ["text number 0"]
        return status, answer

    with ModelServer(answer=lambda m: "SNPS") as server:
        server.routes[("POST", "/v1/chat/completions")] = odd
        run(server, AnswerStore(tmp_path), 1)
    assert not [str(w.message) for w in recwarn if "text number" in str(w.message)]
    said = capfd.readouterr()
    assert "text number" not in said.err + said.out


FAULTS = ("429", "429-retry-after", "500", "503", "cut", "garbage", "nonsense", "short")


def test_mishaps_are_survived_and_the_bill_is_exact(tmp_path):
    store = AnswerStore(tmp_path)
    with ModelServer(fault_rate=0.3, faults=FAULTS, strangers=0.1, seed=3) as server:
        replies = run(server, store, 60, 6)
    assert sorted(r.key for r in replies) == sorted(
        q.key for q in questions_for(model_for(server), 60)
    )
    assert all(r.record is not None and not r.error for r in replies)
    assert len(set(server.outcomes()) & set(FAULTS)) >= 6
    records = [r.record for r in replies] + store.waste(r.key for r in replies)
    # Nothing of a cut connection arrives: those charges are unknown, and counted as such.
    cut = server.outcomes()["cut"]
    unknown = sum(r.unknown for r in replies)
    assert unknown == cut + server.outcomes()["garbage"] + server.outcomes()["nonsense"]
    lost = Counter()
    for request in server.requests:
        if request.outcome == "cut":
            length = sum(len(m["content"]) for m in request.body["messages"])
            lost.update(prompt_tokens=length // 4 + 1, completion_tokens=len("LOOP") // 4 + 1)
    for name in ("prompt_tokens", "completion_tokens"):
        assert sum(r[name] for r in records) == server.charged[name] - lost[name]
    assert {r["served"] for r in store.waste(r.key for r in replies)} >= {"somebody-else"}


def test_retry_after_holds_everybody_back(tmp_path):
    script = ["429-retry-after"] + ["ok"] * 4
    with ModelServer(script=script, retry_after=0.4) as server:
        replies = run(server, AnswerStore(tmp_path), 3, 1)
        assert all(r.record for r in replies)
        arrived = [r.arrived for r in server.requests]
        assert arrived[1] - arrived[0] >= 0.4


def test_a_wait_that_is_too_long_ends_the_run(tmp_path):
    config = CONFIG.model_copy(update={"max_retry_after": 1.0})
    with ModelServer(script=["ok", "429-retry-after"], retry_after=3600) as server:
        replies = run(server, AnswerStore(tmp_path), 5, 1, config)
        assert [r.error for r in replies].count("asked_to_wait_too_long") == 4
        assert len(server.requests) == 2


def test_slow_answers_time_out(tmp_path):
    config = CONFIG.model_copy(update={"timeout": 0.3})
    with ModelServer(script=["slow"], slow_seconds=1.0) as server:
        (reply,) = run(server, AnswerStore(tmp_path), 1, 1, config)
        assert (reply.attempts, reply.unknown) == (2, 1)
        assert reply.record["content"] == "LOOP"


@pytest.mark.parametrize(
    ("server", "code"),
    [
        ({"key": "another"}, "key_not_accepted_401"),
        ({"models": ["llama"]}, "no_such_model_or_address"),
        ({"strangers": 1.0}, "wrong_model"),
    ],
)
def test_hopeless_endpoints_are_left_alone(tmp_path, server, code, caplog):
    caplog.set_level(logging.DEBUG)
    with ModelServer(**server) as running:
        replies = run(running, AnswerStore(tmp_path), 30, 2)
        assert {r.error for r in replies} == {code}
        assert len(running.requests) <= 8
    assert KEY not in caplog.text
    assert "text number" not in caplog.text
    assert KEY not in repr(replies)


def test_attempts_end(tmp_path):
    config = CONFIG.model_copy(update={"max_retries": 2})
    with ModelServer(fault_rate=1.0, faults=["500"]) as server:
        (reply,) = run(server, AnswerStore(tmp_path), 1, 1, config)
        assert (reply.error, reply.attempts, reply.record) == ("status_500", 3, None)


def test_unreachable_endpoint(tmp_path):
    with ModelServer() as server:
        pass
    config = CONFIG.model_copy(update={"max_retries": 1})
    (reply,) = run(server, AnswerStore(tmp_path), 1, 1, config)
    assert (reply.error, reply.unknown) == ("connection", 0)


def test_answers_without_a_count_are_estimated_and_use_up_the_budget(tmp_path):
    def silent(owner, handler, body):
        status, answer = chat(owner, handler, body)
        if status == 200:
            answer["usage"] = None
        return status, answer

    with ModelServer(fault_rate=0.5, faults=("short",), seed=3) as server:
        server.routes[("POST", "/v1/chat/completions")] = silent
        replies = run(server, AnswerStore(tmp_path), 40, 2, slack=1.0)
        model = model_for(server)
        asker = Asker(model, CONFIG, Secret(KEY), AnswerStore(tmp_path), RateLimiter(), Purse(None))
        asked = [r for r in replies if r.asked]
        questions = {q.key: q for q in questions_for(model, 40)}
        for reply in asked:
            assert reply.record["estimated"] is True
            spent = asker._price(reply.record)
            assert spent == pytest.approx(asker.estimated_price(questions[reply.key]))
        asker.close()
        assert asked


def test_purse_stops_before_the_budget_is_passed(tmp_path):
    # Estimates cover the answers; what other models charge in vain eats them up.
    with ModelServer(strangers=0.5, answer=lambda m: "x" * 60) as server:
        replies = run(server, AnswerStore(tmp_path), 40, 2, slack=1.0)
        stopped = [r for r in replies if r.error == "budget"]
        assert stopped
        model = model_for(server)
        asker = Asker(model, CONFIG, Secret(KEY), AnswerStore(tmp_path), RateLimiter(), Purse(None))
        allowed = sum(asker.estimated_price(q) for q in questions_for(model, 40))
        asker.close()
        spent = (
            server.charged["prompt_tokens"] * 2 + server.charged["completion_tokens"] * 10
        ) / 1e6
        assert 0.3 * allowed < spent <= allowed


def test_purse_lets_an_honest_run_through(tmp_path):
    with ModelServer() as server:
        assert all(r.record for r in run(server, AnswerStore(tmp_path), 30, 4, slack=1.0))


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.mark.parametrize(
    ("requests", "tokens"), [(60, None), (None, 6000), (30, 6000), (120, 3000)]
)
def test_no_minute_holds_more_than_allowed(requests, tokens):
    clock = Clock()
    limiter = RateLimiter(requests, tokens, clock, clock.sleep)
    started = []
    for i in range(300):
        size = 50 + 37 * (i % 5)
        limiter.acquire(size)
        started.append((clock.now, size))
    for start, _ in started:
        window = [size for at, size in started if start <= at < start + 60 - 1e-6]
        assert requests is None or len(window) <= requests
        # The request on the edge may reach over it.
        assert tokens is None or sum(window[:-1]) <= tokens


def test_no_limit_does_not_wait():
    clock = Clock()
    limiter = RateLimiter(None, None, clock, clock.sleep)
    [limiter.acquire(10**6) for _ in range(5)]
    assert clock.now == 100.0
    limiter.pause(7)
    limiter.acquire(1)
    assert clock.now == 107.0


def test_limiter_holds_over_threads():
    limiter = RateLimiter(60 * 200)
    started = []

    def go():
        import time

        for _ in range(5):
            limiter.acquire(1)
            started.append(time.monotonic())

    threads = [threading.Thread(target=go) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    started.sort()
    assert started[-1] - started[0] >= 19 / 200 - 0.01


def test_retry_after():
    assert retry_after({"retry-after": "2.5"}) == 2.5
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    date = {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}
    assert retry_after(date, now=1445412470.0) == 10.0
    assert retry_after(date) == 0.0
    assert retry_after({}) is None
    assert retry_after({"retry-after": "soon"}) is None


@pytest.mark.parametrize(
    ("asked", "served", "also", "same"),
    [
        ("gpt-4o", "gpt-4o", (), True),
        ("gpt-4o", "gpt-4o-2024-11-20", (), True),
        ("gpt-4o-2024-11-20", "gpt-4o", (), True),
        ("gpt-4o", "gpt-4o-mini", (), False),
        ("gpt-4o", "gpt-4", (), False),
        ("gpt-4", "gpt-4.1", (), False),
        ("gemini-2.5-flash", "models/gemini-2.5-flash", (), True),
        ("llama3", "llama3:latest", (), True),
        ("llama3", "llama3-70b", (), False),
        ("local", "/models/qwen.gguf", ("/models/qwen.gguf",), True),
    ],
)
def test_same_model(asked, served, also, same):
    assert same_model(asked, served, also) is same


def test_responses_of_no_use():
    model = LanguageModelConfig(name="m", model="gpt-4o")
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    good = {"model": "gpt-4o", "usage": usage, "choices": [{"message": {"content": "X"}}]}
    record, waste, code = read_response(model, good, "chat")
    assert (record["content"], record["prompt_tokens"], waste, code) == ("X", 5, None, "")
    for broken in ({**good, "choices": []}, {**good, "choices": [{"message": None}]}):
        record, waste, code = read_response(model, broken, "chat")
        assert (record, code) == (None, "no_choice")
        assert waste["completion_tokens"] == 2
    for usage in (None, {}, {"prompt_tokens": 0, "completion_tokens": 0}, {"prompt_tokens": "5"},
                  {"prompt_tokens": True, "completion_tokens": 2}, [5, 2],
                  {"prompt_tokens": 5, "completion_tokens": -2}):  # fmt: skip
        record, _, _ = read_response(model, {**good, "usage": usage}, "chat", 40)
        assert (record["prompt_tokens"], record["completion_tokens"]) == (40, model.max_tokens)
        assert record["estimated"] is True
        _, waste, code = read_response(
            model, {**good, "usage": usage, "model": "gpt-4o-mini"}, "batch", 40
        )
        assert (waste["prompt_tokens"], waste["estimated"], code) == (40, True, "wrong_model")
    assert "estimated" not in read_response(model, good, "chat", 40)[0]
    assert read_response(model, {"surprise": 1}, "chat") == (None, None, "no_choice")
    assert read_response(model, None, "chat") == (None, None, "garbage")
    assert read_response(model, {**good, "model": "gpt-4o-mini"}, "chat")[2] == "wrong_model"


def test_secret_does_not_show_itself():
    secret = Secret(KEY)
    assert KEY not in f"{secret!r} {secret} {[secret]}"
    assert pickle.loads(pickle.dumps(secret)).reveal() == KEY


def test_key_comes_from_the_environment(monkeypatch):
    model = LanguageModelConfig(name="m", model="x", api_key_env="NES_TEST_KEY")
    monkeypatch.setenv("NES_TEST_KEY", f" {KEY}\n")
    assert read_key(model).reveal() == KEY
    monkeypatch.delenv("NES_TEST_KEY")
    with pytest.raises(ConfigError, match="NES_TEST_KEY is not set"):
        read_key(model)
    assert read_key(model.model_copy(update={"api_key_env": None})).reveal() == "no-key"
