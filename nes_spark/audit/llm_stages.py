"""The audit by language models, as a Spark stage (paper, section 3.2.2 and appendix A)."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from nes_spark.audit.answer_store import AnswerStore, question_key, text_digest
from nes_spark.audit.answers import parse_answer, spellings
from nes_spark.audit.batches import BatchRunner
from nes_spark.audit.billing import (
    Bill,
    BudgetExceeded,
    Estimate,
    ModelBill,
    ModelEstimate,
    charged,
    estimate_tokens,
    price,
)
from nes_spark.audit.client import (
    Asker,
    Purse,
    Question,
    RateLimiter,
    Secret,
    ask_all,
    read_key,
)
from nes_spark.audit.sampled_stages import keyed, sample_of
from nes_spark.config import AuditConfig, LanguageModelConfig
from nes_spark.errors import ConfigError, InfrastructureError, parameter_error
from nes_spark.schemas import PREDICTIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LOGGER = logging.getLogger("nes_spark")

#: What a code of :class:`nes_spark.audit.client.Reply` means, and what to do.
_ADVICE = {
    "key_not_accepted_401": "the endpoint does not accept the key; check api_key_env",
    "key_not_accepted_403": "the key may not use this model",
    "no_such_model_or_address": "the endpoint does not know the model; check model and base_url",
    "account_has_no_quota": "the account has no quota left",
    "wrong_model": "another model answers; list its name under served_as if that is right",
    "asked_to_wait_too_long": "the endpoint asks to wait; run the audit again later",
    "connection": "the endpoint cannot be reached; check base_url",
}


@dataclass(frozen=True)
class LanguageModelAudit:
    """What an audit by language models found.

    Attributes
    ----------
    predictions : DataFrame or None
        Table PREDICTIONS; None for a dry run.
    estimate : Estimate
        What was to be asked and its price, made before the start.
    bill : Bill or None
        What it has cost; None for a dry run.
    """

    predictions: DataFrame | None
    estimate: Estimate
    bill: Bill | None


def accepted_spellings(
    documents: DataFrame, config: AuditConfig, ticker_kinds: Iterable[str] = ("ticker",)
) -> dict[str, str]:
    """Return which metadata each accepted answer stands for.

    Spellings come from ``audit.labels``, from the direct identifiers of kinds `ticker_kinds`, and
    from the metadata itself.

    Parameters
    ----------
    documents : pyspark.sql.DataFrame
        Table DOCUMENTS.
    config : AuditConfig
        ``labels`` and ``answer``.
    ticker_kinds : iterable of str
        Kinds of direct identifiers that are tickers.

    Raises
    ------
    ConfigError
        When tickers are asked for and documents have none, periods and a document has none, or a
        spelling stands for two.
    """
    from pyspark.sql import functions as F

    if config.answer == "period":
        periods = [row["period"] for row in documents.select("period").distinct().collect()]
        if None in periods:
            raise ConfigError(
                "audit.answer: period is asked for, and there are documents without one; name "
                "their column under input.columns.period"
            )
        return spellings({p: config.labels.get(p, []) for p in periods}, strip_legal_form=False)
    kinds = list(ticker_kinds)
    tickers = F.filter("identifiers", lambda i: i["kind"].isin(kinds))
    rows = (
        documents.select("metadata", F.transform(tickers, lambda i: i["value"]).alias("tickers"))
        .distinct()
        .collect()
    )
    labels: dict[str, set[str]] = {name: set(values) for name, values in config.labels.items()}
    for row in rows:
        labels.setdefault(row["metadata"], set()).update(row["tickers"] or ())
    if config.answer == "ticker":
        without = sum(1 for row in rows if not labels[row["metadata"]])
        if without:
            raise ConfigError(
                f"audit.labels: {without} of {len(rows)} documents have no ticker, so that no "
                "answer about them could be right; give theirs under audit.labels or as an input "
                "column of tickers, or ask for names (audit.answer: name, with a prompt for it)"
            )
    return spellings({name: sorted(values) for name, values in labels.items()})


def _shown(chunks: DataFrame, rewrites: DataFrame, draws: int) -> DataFrame:
    """Return what the models are shown: one row a draw, swapped chunk and side."""
    from pyspark.sql import functions as F

    chosen = rewrites.where(F.col("draw") < draws)
    facts = chunks.select("chunk_id", "document_id", "metadata", F.col("text").alias("before"))
    both = chosen.select("draw", "chunk_id", F.col("text").alias("after")).join(facts, "chunk_id")
    columns = ["draw", "chunk_id", "document_id", "metadata"]
    return (
        both.select(*columns, F.lit("pre").alias("side"), F.col("before").alias("text"))
        .unionByName(
            both.select(*columns, F.lit("post").alias("side"), F.col("after").alias("text"))
        )
        .withColumn("digest", F.sha2("text", 256))
    )


def stratified(units: DataFrame, sample: int, key: bytes) -> DataFrame:
    """Draw a sample of chunks, in proportion to the chunks of each document.

    Within a document chunks come in the order of their keyed hashes, the k-th of n at the place
    (k - u) / n with u in [0, 1) a keyed hash of the document; those with the first places over all
    are taken. So every chunk is as likely as any other, and no document gives more than one chunk
    above or below its share (systematic sampling, Cochran 1977, chapter 8).

    Parameters
    ----------
    units : pyspark.sql.DataFrame
        ``chunk_id, document_id``.
    sample : int
        So many at most.
    key : bytes
        Secret of the hashes.

    Returns
    -------
    pyspark.sql.DataFrame
        ``chunk_id``.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    document = Window.partitionBy("document_id")
    start = F.conv(F.substring(F.hex(keyed(F.col("document_id"), key)), 1, 8), 16, 10)
    placed = (
        units.select("chunk_id", "document_id")
        .withColumn("_lot", keyed(F.col("chunk_id"), key))
        .withColumn("_n", F.count(F.lit(1)).over(document))
        .withColumn("_k", F.row_number().over(document.orderBy("_lot", "chunk_id")))
        .withColumn("_u", start.cast("double") / 2**32)
        .withColumn("_place", (F.col("_k") - F.col("_u")) / F.col("_n"))
    )
    return placed.orderBy("_place", "_lot", "chunk_id").limit(sample).select("chunk_id")


def _whole_documents(shown: DataFrame) -> DataFrame:
    """Join the chunks of each document and side to one text, in their order."""
    from pyspark.sql import functions as F

    parts = F.array_sort(F.collect_list(F.struct("chunk_id", "text")))
    text = F.array_join(F.transform(parts, lambda p: p["text"]), "\n\n")
    columns = ["draw", "document_id", "metadata", "side"]
    return (
        shown.groupBy(*columns)
        .agg(text.alias("text"))
        .withColumn("chunk_id", F.col("document_id"))
        .withColumn("digest", F.sha2("text", 256))
        .select("draw", "chunk_id", "document_id", "metadata", "side", "text", "digest")
    )


def _asked_about(
    documents: DataFrame,
    chunks: DataFrame,
    rewrites: DataFrame,
    config: AuditConfig,
    key: bytes | None,
) -> DataFrame:
    """Return what the models are shown, as the configuration asks for."""
    from pyspark.sql import functions as F

    if config.about == "swapped" and config.sample is None:
        shown = _shown(chunks, rewrites, config.draws)
    elif key is None:
        raise parameter_error("run_language_model_audit", "key", "given with a sample", None)
    elif config.about == "documents":
        owner = chunks.select("chunk_id", "document_id")
        if config.sample is not None:
            chosen = sample_of(chunks, "document_id", config.sample, key)
            owner = owner.join(chosen, "document_id")
        mine = rewrites.where("draw = 0").join(owner.select("chunk_id"), "chunk_id", "left_semi")
        shown = _whole_documents(_shown(chunks, mine, 1))
    else:
        mine = rewrites.where("draw = 0")
        if config.sample is not None:
            units = mine.select("chunk_id").join(
                chunks.select("chunk_id", "document_id"), "chunk_id"
            )
            mine = mine.join(stratified(units, config.sample, key), "chunk_id", "left_semi")
        shown = _shown(chunks, mine, 1)
    if config.answer == "period":
        when = documents.select("document_id", F.col("period").alias("metadata"))
        shown = shown.drop("metadata").join(when, "document_id")
    return shown


@dataclass(frozen=True)
class _Plan:
    """The questions of one model: digest of the text to key, and what is known of them."""

    model: LanguageModelConfig
    keys: dict[str, str]
    lengths: dict[str, int]
    pending: set[str]

    def estimate(self, config: AuditConfig, store: AnswerStore) -> ModelEstimate:
        prompt = sum(estimate_tokens(self.lengths[d], config) for d in self.pending)
        completion = self.model.max_tokens * len(self.pending)
        records = (store.get(k) for d, k in self.keys.items() if d not in self.pending)
        answered = [r for r in records if r is not None]
        _, _, paid = charged(self.model, [*answered, *store.waste(self.keys.values())])
        return ModelEstimate(
            self.model.name,
            len(self.keys),
            len(self.keys) - len(self.pending),
            len(self.pending),
            prompt,
            completion,
            price(self.model, prompt, completion, self.model.batch),
            paid,
            self.model.priced,
        )


def _ask_on_spark(
    questions: DataFrame,
    plan: _Plan,
    config: AuditConfig,
    store_path: str,
    key: Secret,
    slack: float | None,
) -> list[dict[str, Any]]:
    """Ask from several tasks; return keys, records and errors.

    Each of ``audit.partitions`` tasks has its share of the rates and of the requests in flight, so
    that the whole stays within bounds when all run at once. When fewer run at once, for want of
    cores, the endpoint is asked more slowly than allowed, never faster.

    The key travels to the workers inside the function, in a wrapper that does not show it: not in
    Spark's configuration, which its web pages list. A task that Spark starts again asks only what
    the store does not have; with speculative execution two copies of a task may ask the same.
    """
    from pyspark.sql import functions as F

    session = questions.sparkSession
    wanted = session.createDataFrame(
        [(d, plan.keys[d]) for d in sorted(plan.pending)], "digest string, key string"
    )
    tasks = min(config.partitions, max(1, len(plan.pending)))
    in_flight = config.max_in_flight // tasks
    model = plan.model
    schema = pa.schema(
        [
            pa.field("key", pa.string()),
            pa.field("record", pa.string()),
            pa.field("error", pa.string()),
            pa.field("asked", pa.bool_()),
            pa.field("unknown", pa.int32()),
        ]
    )

    def share(rate: float | None) -> float | None:
        return None if rate is None else rate / tasks

    def ask(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        purse = Purse(slack)
        limiter = RateLimiter(share(model.requests_per_minute), share(model.tokens_per_minute))
        asker = Asker(model, config, key, AnswerStore(store_path), limiter, purse)
        source = (
            Question(row["key"], row["text"]) for batch in batches for row in batch.to_pylist()
        )
        try:
            for reply in ask_all(asker, source, in_flight, purse):
                record = None if reply.record is None else json.dumps(reply.record)
                values = (reply.key, record, reply.error, reply.asked, reply.unknown)
                yield pa.RecordBatch.from_arrays(
                    [pa.array([v], f.type) for v, f in zip(values, schema, strict=True)],
                    schema=schema,
                )
        finally:
            asker.close()

    asked = (
        questions.select("digest", "text")
        .join(wanted, "digest")
        .select("key", "text")
        .repartition(tasks, F.col("key"))
        .mapInArrow(ask, "key string, record string, error string, asked boolean, unknown int")
    )
    return [row.asDict() for row in asked.collect()]


def _ask_in_batches(
    questions: DataFrame,
    plan: _Plan,
    config: AuditConfig,
    store: AnswerStore,
    key: Secret,
    wait: bool,
) -> list[dict[str, Any]]:
    """Ask through the batch interface; texts pass through the driver one at a time."""
    session = questions.sparkSession

    def needed(keys: set[str]) -> Iterator[Question]:
        digests = sorted(d for d in plan.pending if plan.keys[d] in keys)
        if not digests:
            return
        wanted = session.createDataFrame([(d,) for d in digests], "digest string")
        for row in questions.join(wanted, "digest").select("digest", "text").toLocalIterator():
            yield Question(plan.keys[row["digest"]], row["text"])

    runner = BatchRunner(plan.model, config, key, store)
    try:
        result = runner.run(needed, {plan.keys[d] for d in plan.pending}, wait)
    finally:
        runner.close()
    return [
        {
            "key": k,
            "record": None,
            "error": result.errors.get(k, ""),
            "asked": k in result.answered,
            "unknown": 0,
        }
        for k in sorted(plan.keys[d] for d in plan.pending)
    ]


def run_language_model_audit(
    documents: DataFrame,
    chunks: DataFrame,
    rewrites: DataFrame,
    config: AuditConfig,
    store_path: str,
    dry_run: bool = False,
    wait: bool = True,
    on_estimate: Callable[[Estimate], None] | None = None,
    ticker_kinds: Iterable[str] = ("ticker",),
    key: bytes | None = None,
) -> LanguageModelAudit:
    """Put chunks or documents, before and after, to the configured language models.

    By default every swapped chunk of all draws; with ``audit.about`` and ``audit.sample`` others,
    of the published draw.

    Equal texts are one question, so a chunk that is swapped in many draws is asked about once as it
    was before. Answers are stored as they come, keyed by model, parameters, prompt and text: a
    second run asks only what is missing.

    Parameters
    ----------
    documents, chunks : pyspark.sql.DataFrame
        Tables DOCUMENTS and CHUNKS.
    rewrites : pyspark.sql.DataFrame
        Output of :func:`nes_spark.releases.publish_stages.chosen_rewrites`: the release, in
        all draws. For ``audit.about`` other than ``swapped``: ``draw, chunk_id, text`` of every
        released chunk, draw 0.
    config : AuditConfig
        Models, prompt, labels, bounds.
    store_path : str
        Folder of the answer store, on a file system that all workers share.
    dry_run : bool
        Only estimate: no key is needed and nothing is asked.
    wait : bool
        For models with ``batch``: whether to wait for the provider.
    on_estimate : callable, optional
        Told the estimate before anything is asked.
    ticker_kinds : iterable of str
        Kinds of direct identifiers that are accepted as answers.
    key : bytes, optional
        Secret that samples are drawn with; needed for ``audit.sample`` and ``audit.about``.

    Returns
    -------
    LanguageModelAudit

    Raises
    ------
    ConfigError
        No models, a key that is missing, or documents whose answers could not be judged.
    BudgetExceeded
        When estimate and what is paid are above ``audit.budget`` (nothing has been asked then), or
        mishaps used it up (answers are kept).
    InfrastructureError
        When questions stay without an answer; those that have one are kept, and a further run asks
        only the others.
    AuditPending
        With ``wait=False``, while batches are under way.
    """
    if not config.models:
        raise ConfigError("audit.models: no language model is configured; add at least one")
    accepted = accepted_spellings(documents, config, ticker_kinds)
    shown = _asked_about(documents, chunks, rewrites, config, key)
    questions = shown.select("digest", "text").dropDuplicates(["digest"])
    asked = put_questions(questions, config, store_path, dry_run, wait, on_estimate)
    if asked.bill is None:
        return LanguageModelAudit(None, asked.estimate, None)
    return LanguageModelAudit(
        _predictions(shown, asked.plans, asked.store, config, accepted), asked.estimate, asked.bill
    )


@dataclass(frozen=True)
class Asked:
    """Questions that were put to models.

    Attributes
    ----------
    store : AnswerStore
        Holds the answers.
    estimate : Estimate
        What was to be asked and its price, made before the start.
    bill : Bill or None
        What it has cost; None for a dry run.
    """

    plans: list[_Plan]
    store: AnswerStore
    estimate: Estimate
    bill: Bill | None

    def answers(self, model: str) -> dict[str, dict[str, Any]]:
        """Return digest of the text -> answer, as stored, of one model."""
        (plan,) = (p for p in self.plans if p.model.name == model)
        found = {digest: self.store.get(key) for digest, key in plan.keys.items()}
        if any(record is None for record in found.values()):
            raise InfrastructureError(f"{model}: an answer has left the store")
        return {digest: record for digest, record in found.items() if record is not None}


def put_questions(
    questions: DataFrame,
    config: AuditConfig,
    store_path: str,
    dry_run: bool = False,
    wait: bool = True,
    on_estimate: Callable[[Estimate], None] | None = None,
) -> Asked:
    """Ask every model of a configuration about every text.

    Parameters
    ----------
    questions : pyspark.sql.DataFrame
        ``digest, text``: distinct texts.
    config : AuditConfig
        Models, prompt, bounds.
    store_path, dry_run, wait, on_estimate
        As for :func:`run_language_model_audit`.

    Returns
    -------
    Asked

    Raises
    ------
    ConfigError, BudgetExceeded, InfrastructureError, AuditPending
        As :func:`run_language_model_audit`.
    """
    from pyspark.sql import functions as F

    keys = {} if dry_run else {m.name: read_key(m) for m in config.models}
    store = AnswerStore(store_path)
    lengths = {
        row["digest"]: row["length"]
        for row in questions.select("digest", F.length("text").alias("length")).collect()
    }
    plans = []
    for model in config.models:
        names = {d: question_key(model, config.prompt, d) for d in sorted(lengths)}
        pending = {d for d, key in names.items() if store.get(key) is None}
        plans.append(_Plan(model, names, lengths, pending))
    estimate = Estimate(tuple(plan.estimate(config, store) for plan in plans), config.currency)
    if on_estimate is not None:
        on_estimate(estimate)
    for line in estimate.lines():
        _LOGGER.info("audit: %s", line)
    slack = None
    if config.budget is not None:
        left = config.budget - estimate.paid
        if estimate.requests and estimate.price > left * (1 + 1e-9):
            raise BudgetExceeded(
                f"audit.budget: the audit would cost up to {estimate.price:,.2f} "
                f"{config.currency} on top of {estimate.paid:,.2f} paid, more than the budget of "
                f"{config.budget:,.2f}; raise it, or ask fewer models or draws"
            )
        slack = left / estimate.price if estimate.price > 0 else None
    if dry_run:
        return Asked(plans, store, estimate, None)
    bills = []
    for plan in plans:
        replies: list[dict[str, Any]] = []
        if plan.pending and plan.model.batch:
            replies = _ask_in_batches(questions, plan, config, store, keys[plan.model.name], wait)
        elif plan.pending:
            replies = _ask_on_spark(
                questions, plan, config, store_path, keys[plan.model.name], slack
            )
            for reply in replies:
                # Workers whose disk is not ours have stored the answer on theirs only.
                if reply["record"] is not None and store.get(reply["key"]) is None:
                    store.put(reply["key"], json.loads(reply["record"]))
        _require_answers(plan.model, replies, len(plan.keys))
        bills.append(_bill(plan, store, replies))
        if bills[-1].estimated:
            _LOGGER.warning(
                "audit: %s: %d replies came without a count of their tokens; it is estimated, "
                "rather too high, and counts against the budget",
                plan.model.name,
                bills[-1].estimated,
            )
    return Asked(plans, store, estimate, Bill(tuple(bills)))


def _require_answers(
    model: LanguageModelConfig, replies: Iterable[Mapping[str, Any]], questions: int
) -> None:
    missing = Counter(reply["error"] for reply in replies if reply["error"])
    if not missing:
        return
    total = sum(missing.values())
    if "budget" in missing:
        raise BudgetExceeded(
            f"audit.budget: {model.name}: used up with {total} of {questions} questions without an "
            "answer (replies that were of no use cost money too); raise it and run again, nothing "
            "is paid for twice"
        )
    codes = ", ".join(f"{code} {count}x" for code, count in missing.most_common())
    advice = next((_ADVICE[code] for code in missing if code in _ADVICE), "")
    raise InfrastructureError(
        f"{model.name}: {total} of {questions} questions have no answer ({codes})"
        + (f": {advice}" if advice else "")
        + "; run the audit again, answers are kept"
    )


def _bill(plan: _Plan, store: AnswerStore, replies: list[dict[str, Any]]) -> ModelBill:
    records = [r for key in plan.keys.values() if (r := store.get(key)) is not None]
    waste = store.waste(plan.keys.values())
    prompt, completion, paid = charged(plan.model, records)
    wasted_prompt, wasted_completion, lost = charged(plan.model, waste)
    return ModelBill(
        plan.model.name,
        len(plan.keys),
        sum(1 for reply in replies if reply["asked"]),
        prompt,
        completion,
        len(waste),
        wasted_prompt,
        wasted_completion,
        sum(reply["unknown"] for reply in replies),
        paid + lost,
        sum(1 for record in (*records, *waste) if record.get("estimated")),
        plan.model.priced,
    )


def _predictions(
    shown: DataFrame,
    plans: list[_Plan],
    store: AnswerStore,
    config: AuditConfig,
    accepted: dict[str, str],
) -> DataFrame:
    """Parse the answers and join them with what was shown."""
    from pyspark.sql import functions as F

    parsed = []
    for plan in plans:
        for digest, key in plan.keys.items():
            record = store.get(key)
            if record is None:
                raise InfrastructureError(f"{plan.model.name}: an answer has left the store")
            answer = parse_answer(
                record["content"],
                config.answer,
                accepted,
                record["finish_reason"],
                record["refusal"],
            )
            parsed.append((digest, plan.model.name, answer.answer, answer.outcome))
    answers = shown.sparkSession.createDataFrame(
        parsed, "digest string, model string, answer string, outcome string"
    )
    right = F.coalesce(F.col("answer") == F.col("metadata"), F.lit(False))
    return (
        shown.drop("text")
        .join(answers, "digest")
        .withColumn("correct", right)
        .withColumn("rank", F.lit(None).cast("int"))
        .withColumn("evidence", F.array().cast("array<string>"))
        .select(*PREDICTIONS.names)
    )


__all__ = [
    "Asked",
    "LanguageModelAudit",
    "accepted_spellings",
    "put_questions",
    "run_language_model_audit",
    "text_digest",
]
