from __future__ import annotations

import logging
import re
from collections import Counter

import pytest

from nes_spark.audit.answer_store import settings_digest
from nes_spark.audit.billing import BudgetExceeded
from nes_spark.audit.llm_stages import accepted_spellings, run_language_model_audit, stratified
from nes_spark.audit.ranking import lot
from nes_spark.audit.stages import summarize_audit
from nes_spark.config import AuditConfig, LanguageModelConfig
from nes_spark.errors import ConfigError, InfrastructureError
from nes_spark.releases.publish_stages import chosen_rewrites
from nes_spark.schemas import PREDICTIONS
from tests.audit.corpus import frames, make
from tests.audit.server import ModelServer

SECRET = "sk-never-shown-42"
FAULTS = ("429", "429-retry-after", "500", "503", "cut", "garbage", "nonsense", "short")


def guess_from(messages):
    """Guess by the organisations of the text; sometimes chatty, silent or unwilling."""
    text = messages[-1]["content"]
    votes = Counter(re.findall(r"Org (\d)-", text))
    ticker = f"TK{votes.most_common(1)[0][0]}" if votes else "NONE"
    mood = len(text) % 7
    return {1: f"I would say {ticker}.", 2: "", 3: "I'm sorry, I cannot say."}.get(mood, ticker)


@pytest.fixture(scope="module")
def tables(spark):
    corpus = make(documents=4, chunks=6, swaps=4, draws=2)
    made = frames(spark, corpus, 2)
    rows = [
        (
            f"Company {d}",
            [("ticker", f"TK{d}", "[Company Name]"), ("company", f"Company {d}", "[Company Name]")],
        )
        for d in range(4)
    ]
    made["documents"] = spark.createDataFrame(
        rows,
        "metadata string, identifiers array<struct<kind:string,value:string,placeholder:string>>",
    )
    made["final"] = chosen_rewrites(made["rewrites"], "pkb", "Organization+Product").cache()
    shown = {r["text"] for r in corpus.rewrites}
    swapped = {r["chunk_id"] for r in corpus.rewrites}
    shown |= {c["text"] for c in corpus.chunks if c["chunk_id"] in swapped}
    made["questions"] = len(shown)
    made["rows"] = 2 * len(corpus.rewrites)
    return made


def settings(server, models=None, **more):
    model = LanguageModelConfig(
        name="guesser",
        model="gpt-4o",
        base_url=server.base_url,
        api_key_env="NES_TEST_KEY",
        price_in=2.5,
        price_out=10.0,
    )
    more = {"backoff": 0.01, "max_backoff": 0.05, "timeout": 10.0, "max_in_flight": 4} | more
    return AuditConfig(
        models=models or [model], prompt="Whose? {text}", draws=2, bootstrap=200, **more
    )


def run(tables, config, folder, **more):
    return run_language_model_audit(
        tables["documents"], tables["chunks"], tables["final"], config, str(folder), **more
    )


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("NES_TEST_KEY", SECRET)


def charges(server):
    lost = Counter()
    for request in server.requests:
        if request.outcome == "cut":
            length = sum(len(m["content"]) for m in request.body["messages"])
            reply = guess_from(request.body["messages"])
            lost.update(prompt_tokens=length // 4 + 1, completion_tokens=len(reply) // 4 + 1)
    return {n: server.charged[n] - lost[n] for n in ("prompt_tokens", "completion_tokens")}


def test_audit_completes_at_thirty_percent_faults(tables, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    with ModelServer(
        fault_rate=0.3, faults=FAULTS, strangers=0.1, answer=guess_from, key=SECRET, seed=1
    ) as server:
        config = settings(server)
        audit = run(tables, config, tmp_path)
        assert {r.key for r in server.requests} == {SECRET}
        assert server.most_in_flight <= 4
        (bill,) = audit.bill.models
        assert bill.questions == bill.asked == tables["questions"]
        expected = charges(server)
        assert bill.prompt_tokens + bill.wasted_prompt_tokens == expected["prompt_tokens"]
        assert (
            bill.completion_tokens + bill.wasted_completion_tokens == expected["completion_tokens"]
        )
        assert audit.bill.total == pytest.approx(
            (expected["prompt_tokens"] * 2.5 + expected["completion_tokens"] * 10) / 1e6
        )
        assert audit.bill.total <= audit.estimate.price * 1.5
        predictions = audit.predictions.cache()
        assert predictions.columns == PREDICTIONS.names
        rows = predictions.collect()
        assert len(rows) == tables["rows"]
        outcomes = Counter(r["outcome"] for r in rows)
        assert {"answered", "verbose", "empty", "refused"} <= set(outcomes)
        assert not any(r["correct"] for r in rows if r["outcome"] in ("empty", "refused"))
        assert any(r["correct"] for r in rows if r["outcome"] == "verbose")
        (result,) = summarize_audit(predictions, config)
        assert sum(result.outcomes["pre"].values()) == result.chunks
        assert result.post.mean < result.pre.mean
        assert result.mrr_pre is None
        before = len(server.requests)
        again = run(tables, config, tmp_path)
        assert len(server.requests) == before
        assert again.bill.models[0].asked == 0
        assert again.bill.total == pytest.approx(audit.bill.total)
        key = ["draw", "chunk_id", "side"]
        assert sorted(again.predictions.select(*key, "answer", "outcome").collect(), key=str) == (
            sorted(predictions.select(*key, "answer", "outcome").collect(), key=str)
        )
    files = [p.read_text() for p in tmp_path.rglob("*") if p.is_file()]
    assert files
    assert not any(SECRET in text for text in files)
    assert SECRET not in caplog.text
    assert SECRET not in repr(audit) + repr(config)
    assert "Org 1" not in caplog.text


def test_more_draws_pay_for_the_new_texts_only(tables, tmp_path):
    with ModelServer(answer=guess_from) as server:
        config = settings(server)
        first = run(tables, config.model_copy(update={"draws": 1}), tmp_path)
        paid = first.bill.models[0].questions
        seen = []
        second = run(tables, config, tmp_path, on_estimate=seen.append)
        (estimate,) = seen[0].models
        assert estimate.stored == paid
        assert estimate.requests == tables["questions"] - paid
        assert estimate.paid == pytest.approx(first.bill.total)
        assert second.bill.models[0].asked == estimate.requests
        assert len(server.requests) == tables["questions"]


def test_dry_run_needs_no_key_and_asks_nothing(tables, tmp_path, monkeypatch):
    monkeypatch.delenv("NES_TEST_KEY")
    with ModelServer() as server:
        audit = run(tables, settings(server), tmp_path, dry_run=True)
        assert (audit.predictions, audit.bill) == (None, None)
        assert audit.estimate.requests == tables["questions"]
        assert audit.estimate.price > 0
        assert any(f"{tables['questions']} requests" in line for line in audit.estimate.lines())
        with pytest.raises(ConfigError, match="NES_TEST_KEY is not set"):
            run(tables, settings(server), tmp_path)
        assert not server.requests
    assert list(tmp_path.iterdir()) == []


def test_prices_that_are_not_given_are_asked_for(tables, tmp_path):
    with ModelServer() as server:
        config = settings(server)
        lines = run(tables, config, tmp_path, dry_run=True).estimate.lines()
        assert re.search(r"at most [\d.,]+ USD$", lines[-1])
        unpriced = config.models[0].model_copy(update={"price_in": None})
        config = config.model_copy(update={"models": [unpriced], "currency": "EUR"})
        lines = run(tables, config, tmp_path, dry_run=True).estimate.lines()
        assert "price unknown: set price_in and price_out" in lines[0]
        assert lines[-1].endswith("price unknown for guesser")
        assert not any("at most" in line for line in lines)
    with pytest.raises(ValueError, match=r"nothing keeps to it while \['m'\]"):
        AuditConfig(models=[LanguageModelConfig(name="m", model="x")], budget=1.0)
    free = LanguageModelConfig(name="m", model="x", price_in=0, price_out=0)
    assert AuditConfig(models=[free], budget=1.0).models[0].priced


def test_budget_stops_before_the_first_question(tables, tmp_path):
    with ModelServer(answer=guess_from) as server:
        price = run(tables, settings(server), tmp_path, dry_run=True).estimate.price
        with pytest.raises(BudgetExceeded, match="more than the budget"):
            run(tables, settings(server, budget=price * 0.9), tmp_path)
        assert not server.requests
        audit = run(tables, settings(server, budget=price * 1.01), tmp_path)
        assert audit.bill.total <= price


def test_a_broken_run_is_resumed(tables, tmp_path):
    with ModelServer(answer=guess_from) as server:
        config = settings(server, max_retries=0, partitions=1, max_in_flight=1)
        answered = iter(range(5))
        route = server.routes["POST", "/v1/chat/completions"]

        def breaks(owner, handler, body):
            if next(answered, None) is None:
                return 401, {"error": {"message": f"bad key {SECRET}"}}
            return route(owner, handler, body)

        server.routes["POST", "/v1/chat/completions"] = breaks
        with pytest.raises(InfrastructureError) as error:
            run(tables, config, tmp_path)
        assert "key_not_accepted_401" in str(error.value)
        assert SECRET not in str(error.value)
        assert len(server.requests) == 6
        server.routes["POST", "/v1/chat/completions"] = route
        audit = run(tables, config, tmp_path)
        assert audit.bill.models[0].asked == tables["questions"] - 5
        assert server.charged["prompt_tokens"] == audit.bill.models[0].prompt_tokens


def test_batches_cost_half(tables, tmp_path):
    with ModelServer(answer=guess_from, key=SECRET) as server:
        config = settings(server, batch_size=5, batch_poll=0.01)
        batched = config.models[0].model_copy(update={"batch": True})
        config = config.model_copy(update={"models": [batched]})
        audit = run(tables, config, tmp_path)
        assert len(server.batches) == -(-tables["questions"] // 5)
        assert set(server.answered.values()) == {1}
        full = (
            server.charged["prompt_tokens"] * 2.5 + server.charged["completion_tokens"] * 10
        ) / 1e6
        assert audit.bill.total == pytest.approx(full / 2)
        assert audit.predictions.count() == tables["rows"]


def test_answers_must_be_judgeable(tables, spark, tmp_path):
    with ModelServer() as server:
        bare = tables["documents"].drop("identifiers")
        empty = "array<struct<kind:string,value:string,placeholder:string>>"
        bare = bare.selectExpr("*", f"cast(array() as {empty}) as identifiers")
        with pytest.raises(ConfigError, match="4 of 4 documents have no ticker"):
            accepted_spellings(bare, settings(server))
        labels = {f"Company {d}": [f"ABC{d}"] for d in range(4)}
        assert accepted_spellings(bare, settings(server, labels=labels))["abc2"] == "Company 2"
        assert accepted_spellings(bare, settings(server, answer="name"))["company 2"] == "Company 2"
        with pytest.raises(ConfigError, match="no language model"):
            run(tables, AuditConfig(), tmp_path)


def released(spark, partitions=2):
    """Every chunk of the corpus as published, and the documents with their periods."""
    corpus = make(documents=4, chunks=6, swaps=4, draws=2)
    last = {r["chunk_id"]: r for r in corpus.rewrites if r["draw"] == 0}
    rows = [
        (0, c["chunk_id"], last.get(c["chunk_id"], c)["text"],
         last[c["chunk_id"]]["partner_id"] if c["chunk_id"] in last else None)
        for c in corpus.chunks
    ]  # fmt: skip
    everything = spark.createDataFrame(
        rows, "draw int, chunk_id string, text string, partner_id string"
    ).repartition(partitions)
    identifiers = "array<struct<kind:string,value:string,placeholder:string>>"
    documents = spark.createDataFrame(
        [
            (f"doc{d}", f"Company {d}", f"2020Q{1 + d % 2}", [("ticker", f"TK{d}", "[x]")])
            for d in range(4)
        ],
        f"document_id string, metadata string, period string, identifiers {identifiers}",
    )
    return corpus, rows, everything, documents


def test_a_sample_of_all_released_chunks(tables, spark, tmp_path):
    corpus, rows, everything, documents = released(spark)
    text = {c["chunk_id"]: c["text"] for c in corpus.chunks}
    with ModelServer(answer=guess_from, key=SECRET) as server:
        config = settings(server, about="chunks", sample=9)
        audit = run_language_model_audit(
            documents, tables["chunks"], everything, config, str(tmp_path), key=b"a key"
        )
        found = audit.predictions.collect()
        asked = {r.body["messages"][-1]["content"] for r in server.requests}
        before = len(server.requests)
        # The same again, from other partitions, costs nothing.
        _, _, again, _ = released(spark, 7)
        run_language_model_audit(
            documents, tables["chunks"], again, config, str(tmp_path), key=b"a key"
        )
        assert len(server.requests) == before
    chunks = {r["chunk_id"] for r in found}
    assert len(chunks) == 9 and len(found) == 18 and {r["draw"] for r in found} == {0}
    assert set(Counter(c.split("#")[0] for c in chunks).values()) <= {2, 3}
    shown = {text[c] for c in chunks} | {r[2] for r in rows if r[1] in chunks}
    assert asked == {f"Whose? {t}" for t in shown}
    (result,) = summarize_audit(audit.predictions, config, everything)
    assert result.chunks == 9 and result.documents == 4 and result.mcnemar.n == 9


def test_the_sample_is_the_one_described(tables, spark):
    """Against its definition, in plain Python."""
    owner = {f"d{d}#{k}": f"d{d}" for d, n in enumerate((40, 7, 1, 12)) for k in range(n)}
    frame = spark.createDataFrame(list(owner.items()), "chunk_id string, document_id string")
    sizes = Counter(owner.values())
    for key, sample in ((b"one", 15), (b"two", 4), (b"three", 100)):
        places = {}
        for document in sizes:
            start = int.from_bytes(lot(key, document)[:4], "big") / 2**32
            mine = sorted((c for c in owner if owner[c] == document), key=lambda c: lot(key, c))
            for k, chunk in enumerate(mine, 1):
                places[chunk] = (k - start) / sizes[document], lot(key, chunk)
        expected = set(sorted(places, key=places.__getitem__)[:sample])
        found = {r["chunk_id"] for r in stratified(frame.repartition(5), sample, key).collect()}
        assert found == expected
        taken = Counter(owner[c] for c in found)
        assert all(abs(taken[d] - len(found) * n / 60) < 2 for d, n in sizes.items())


def test_whole_documents_and_when_they_were(tables, spark, tmp_path):
    corpus, rows, everything, documents = released(spark)

    def when(messages):
        return "It was Q1 2020." if "Org 0-" in messages[-1]["content"] else "2020Q2"

    with ModelServer(answer=when, key=SECRET) as server:
        config = settings(server, about="documents", answer="period")
        audit = run_language_model_audit(
            documents, tables["chunks"], everything, config, str(tmp_path), key=b"a key"
        )
        asked = {r.body["messages"][-1]["content"] for r in server.requests}
    expected = set()
    for column in ({c["chunk_id"]: c["text"] for c in corpus.chunks}, {r[1]: r[2] for r in rows}):
        for d in range(4):
            parts = [column[c] for c in sorted(column) if c.startswith(f"doc{d}#")]
            expected.add("Whose? " + "\n\n".join(parts))
    assert asked == expected
    found = {(r["chunk_id"], r["side"]): r for r in audit.predictions.collect()}
    assert len(found) == 8
    assert found["doc0", "pre"]["answer"] == "2020Q1" and found["doc0", "pre"]["correct"]
    assert found["doc0", "pre"]["outcome"] == "answered"
    assert found["doc1", "pre"]["correct"] and not found["doc2", "pre"]["correct"]
    without = documents.withColumn("period", documents["period"].substr(1, 0)).drop("period")
    without = without.selectExpr("*", "cast(null as string) as period")
    with pytest.raises(ConfigError, match=r"input\.columns\.period"):
        accepted_spellings(without, config)


def test_the_period_has_a_prompt_of_its_own(tables, spark, tmp_path):
    assert "Reply ONLY with the quarter" in AuditConfig(answer="period").prompt
    assert AuditConfig(answer="period", prompt="When? {text}").prompt == "When? {text}"
    _, _, everything, documents = released(spark)
    with ModelServer(answer=guess_from, key=SECRET) as server:
        config = settings(server, about="documents")
        with pytest.raises(ValueError, match="'key' parameter"):
            run_language_model_audit(documents, tables["chunks"], everything, config, str(tmp_path))
        assert not server.requests


def test_what_is_asked_about_is_part_of_what_a_gate_compares():
    model = LanguageModelConfig(
        name="m", model="m", base_url="http://127.0.0.1:9", api_key_env="NES_TEST_KEY"
    )
    configs = [
        AuditConfig(models=[model], **more)
        for more in ({}, {"about": "chunks"}, {"sample": 5}, {"about": "chunks", "sample": 5},
                     {"answer": "period"})
    ]  # fmt: skip
    assert len({settings_digest(config, model) for config in configs}) == len(configs)
