from __future__ import annotations

import pytest

from nes_spark.audit.answer_store import AnswerStore, question_key, text_digest
from nes_spark.audit.batches import BatchRunner
from nes_spark.audit.billing import AuditPending
from nes_spark.audit.client import Question, Secret
from nes_spark.config import AuditConfig, LanguageModelConfig
from nes_spark.errors import InfrastructureError
from tests.audit.server import ModelServer

CONFIG = AuditConfig(
    prompt="Whose? {text}", backoff=0.01, max_backoff=0.02, batch_size=8, batch_poll=0.01
)
TEXTS = [f"text number {i}" for i in range(20)]


class Audit:
    """A model's questions and a runner, made anew for every run as after a crash."""

    def __init__(self, server, folder):
        self.model = LanguageModelConfig(
            name="m", model="gpt-4o", base_url=server.base_url, batch=True, extra={"top_p": 0.5}
        )
        self.store = AnswerStore(folder)
        self.questions = [
            Question(question_key(self.model, CONFIG.prompt, text_digest(t)), t) for t in TEXTS
        ]

    def run(self, wait=True, sleep=lambda seconds: None):
        runner = BatchRunner(self.model, CONFIG, Secret("k"), self.store, sleep)
        open_keys = {q.key for q in self.questions if self.store.get(q.key) is None}
        try:
            return runner.run(
                lambda keys: (q for q in self.questions if q.key in keys), open_keys, wait
            )
        finally:
            runner.close()


def test_submit_poll_collect(tmp_path):
    with ModelServer(answer=lambda m: "SNPS") as server:
        audit = Audit(server, tmp_path)
        result = audit.run()
    assert (len(result.answered), result.errors) == (20, {})
    assert len(server.batches) == 3
    assert all(audit.store.get(q.key)["content"] == "SNPS" for q in audit.questions)
    assert all(audit.store.get(q.key)["via"] == "batch" for q in audit.questions)
    assert audit.store.states() == []
    assert b'"top_p": 0.5' in server.files["file-0"]
    assert set(server.answered.values()) == {1}


def test_mishaps_of_the_interface(tmp_path):
    faults = ("429", "500", "503", "cut", "429-retry-after")
    with ModelServer(fault_rate=0.3, faults=faults, seed=5) as server:
        audit = Audit(server, tmp_path)
        result = audit.run()
        assert (len(result.answered), result.errors) == (20, {})
        assert set(server.answered.values()) == {1}


def test_failed_lines_go_into_another_batch(tmp_path):
    with ModelServer(
        batch_fault=lambda key, seen: 500 if key[0] in "02468" and seen == 1 else None
    ) as s:
        audit = Audit(s, tmp_path)
        result = audit.run()
        assert (len(result.answered), result.errors) == (20, {})
        assert set(s.answered.values()) == {1}
        assert set(s.seen.values()) == {1, 2}


def test_a_line_that_is_refused_is_not_tried_again(tmp_path):
    with ModelServer() as server:
        audit = Audit(server, tmp_path)
        bad = audit.questions[3].key
        server.batch_fault = lambda key, seen: 400 if key == bad else None
        result = audit.run()
        assert result.errors == {bad: "status_400"}
        assert server.seen[bad] == 1
        assert len(result.answered) == 19


def test_not_waiting_leaves_the_batch_to_a_later_run(tmp_path):
    with ModelServer(polls=2) as server:
        with pytest.raises(AuditPending, match="3 batches are still under way"):
            Audit(server, tmp_path).run(wait=False)
        result = Audit(server, tmp_path).run(wait=False)
        assert len(result.answered) == 20
        assert len(server.batches) == 3


class Crash(Exception):
    pass


def test_a_crash_while_waiting_pays_for_nothing_twice(tmp_path):
    def crash(seconds):
        raise Crash

    with ModelServer() as server:
        with pytest.raises(Crash):
            Audit(server, tmp_path).run(sleep=crash)
        assert len(Audit(server, tmp_path).run().answered) == 20
        assert set(server.answered.values()) == {1}
        assert len(server.batches) == 3


def test_a_crash_before_the_number_is_written_down(tmp_path, monkeypatch):
    written = AnswerStore.write_state

    def crash(self, name, state):
        if state["batch"] is not None:
            raise Crash
        written(self, name, state)

    with ModelServer() as server:
        with monkeypatch.context() as patched:
            patched.setattr(AnswerStore, "write_state", crash)
            with pytest.raises(Crash):
                Audit(server, tmp_path).run()
        assert len(server.batches) == 1
        assert len(Audit(server, tmp_path).run().answered) == 20
        assert set(server.answered.values()) == {1}
        assert len(server.batches) == 3


def test_a_crash_before_sending(tmp_path, monkeypatch):
    def crash(self, function, what):
        raise Crash

    with ModelServer() as server:
        with monkeypatch.context() as patched:
            patched.setattr(BatchRunner, "_call", crash)
            with pytest.raises(Crash):
                Audit(server, tmp_path).run()
        assert len(AnswerStore(tmp_path).states()) == 1
        assert len(Audit(server, tmp_path).run().answered) == 20
        assert AnswerStore(tmp_path).states() == []


def test_a_lost_reply_to_the_submission(tmp_path):
    with ModelServer() as server:
        server.lose_next_batch = True
        assert len(Audit(server, tmp_path).run().answered) == 20
        assert len(server.batches) == 3
        assert set(server.answered.values()) == {1}


def test_an_endpoint_without_batches(tmp_path):
    # Uploads are not guarded by the key here, batches are.
    match = r"cannot submit a batch \(key_not_accepted"
    with ModelServer(key="another") as server, pytest.raises(InfrastructureError, match=match):
        Audit(server, tmp_path).run()
