from __future__ import annotations

import stat
import threading

import pytest

from nes_spark.audit.answer_store import AnswerStore, question_key, text_digest
from nes_spark.config import LanguageModelConfig
from nes_spark.errors import InfrastructureError

MODEL = LanguageModelConfig(name="m", model="gpt")


def test_key_depends_on_what_the_answer_depends_on():
    base = question_key(MODEL, "{text}", text_digest("t"))
    for update in (
        {"model": "other"},
        {"base_url": "http://x"},
        {"temperature": 0.5},
        {"seed": 1},
        {"max_tokens": 3},
        {"extra": {"top_p": 0.9}},
    ):
        assert question_key(MODEL.model_copy(update=update), "{text}", text_digest("t")) != base
    assert question_key(MODEL, "Guess: {text}", text_digest("t")) != base
    assert question_key(MODEL, "{text}", text_digest("u")) != base
    for update in ({"name": "n"}, {"price_in": 3.0}, {"api_key_env": "K"}, {"batch": True}):
        assert question_key(MODEL.model_copy(update=update), "{text}", text_digest("t")) == base


def test_answers_are_whole_and_private(tmp_path):
    store = AnswerStore(tmp_path / "answers")
    assert store.get("ab" * 24) is None
    store.put("ab" * 24, {"content": "Ü"})
    assert store.get("ab" * 24) == {"content": "Ü"}
    files = [p for p in (tmp_path / "answers").rglob("*") if p.is_file()]
    assert [stat.S_IMODE(p.stat().st_mode) for p in files] == [0o600]
    assert stat.S_IMODE((tmp_path / "answers").stat().st_mode) == 0o700


def test_damaged_answer_counts_as_none(tmp_path):
    store = AnswerStore(tmp_path)
    store.put("ab" * 24, {"content": "x"})
    (file,) = tmp_path.rglob("*.json")
    file.write_text('{"content": "x')
    assert store.get("ab" * 24) is None
    file.write_text("[1]")
    assert store.get("ab" * 24) is None


def test_many_writers(tmp_path):
    keys = [f"{i % 4:02x}{i:046x}" for i in range(40)]

    def write(part):
        for key in keys[part::2] + keys[:5]:
            AnswerStore(tmp_path).put(key, {"content": key})

    threads = [threading.Thread(target=write, args=(i % 2,)) for i in range(6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all(AnswerStore(tmp_path).get(k) == {"content": k} for k in keys)
    assert len([p for p in tmp_path.rglob("*") if p.is_file()]) == 40


def test_waste_and_states(tmp_path):
    store = AnswerStore(tmp_path)
    store.add_waste("ab" * 24, {"n": 1})
    store.add_waste("ab" * 24, {"n": 2})
    store.add_waste("ac" * 24, {"n": 3})
    assert sorted(r["n"] for r in store.waste(["ab" * 24, "ff" * 24])) == [1, 2]
    assert store.get("ab" * 24) is None
    store.write_state("x-1", {"batch": None})
    assert store.states() == ["x-1"]
    assert store.read_state("x-1") == {"batch": None}
    store.remove_state("x-1")
    store.remove_state("x-1")
    assert store.states() == []


def test_a_disk_that_refuses(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError, match="cannot be written"):
        AnswerStore(tmp_path / "file" / "answers").put("ab" * 24, {})
