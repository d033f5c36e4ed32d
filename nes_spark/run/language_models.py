"""The audit of a run by language models (section 3.2.2 of the paper).

It looks at a published release, or at one that waits for this audit (``audit.gate_models``): of
that one the run has kept the choice and the digests of its files.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from nes_spark.audit.adversaries import check_names
from nes_spark.audit.answer_store import settings_digest
from nes_spark.config import AuditConfig, Config
from nes_spark.errors import ConfigError, InputError
from nes_spark.failures import translated
from nes_spark.releases.choice import Choice
from nes_spark.report.terminal import text_table
from nes_spark.run.context import finished
from nes_spark.run.findings import LANGUAGE_MODELS
from nes_spark.run.listed import CLUES, NAMED, list_clues, list_named
from nes_spark.run.published import PROPOSAL, PUBLICATION, PublishedRun
from nes_spark.run.verifying import replace_record, verify_release
from nes_spark.store import Store, combine
from nes_spark.swapping.seeds import Secret
from nes_spark.versions import code_version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from nes_spark.audit.summary import AdversaryResult
    from nes_spark.run.context import Context


@dataclass(frozen=True)
class Audited:
    """The release that is asked about.

    Attributes
    ----------
    store : Store
        Its run folder.
    key : str
        Digest of all that it depends on.
    choice : Choice
        The release.
    files : list of dict
        ``file, rows, sha256`` of each of its files.
    seed_fingerprint : str
        Of the seed that it was drawn with.
    mlflow_run_id : str or None
        The MLflow run; None where tracking was off.
    published : PublishedRun or None
        None where it waits for the audit.
    """

    store: Store
    key: str
    choice: Choice
    files: list[dict[str, Any]]
    seed_fingerprint: str
    mlflow_run_id: str | None
    published: PublishedRun | None


def release_to_audit(run_dir: str | Path) -> Audited:
    """Return the release of a run folder that waits for an audit, else the published one.

    Raises
    ------
    InputError
        When there is neither, or the tables are no longer those that the waiting one is made of.
    InfrastructureError, LedgerError
        When release or ledger are no longer what was published.
    """
    store = Store(run_dir)
    waiting, done = store.manifest(PROPOSAL), store.manifest(PUBLICATION)
    if waiting is None or (done is not None and done.key == waiting.key):
        published = PublishedRun(store)
        verify_release(store, published.details)
        record = published.record
        return Audited(
            store,
            published.key,
            published.choice,
            record["files"],
            record["seed_fingerprint"],
            published.mlflow_run_id,
            published,
        )
    details = waiting.details
    if finished(store, "rewrites").content != details["rewrites"]:
        raise InputError(
            f"{run_dir}: its tables have changed since the release was put together; "
            "run it again first"
        )
    return Audited(
        store,
        waiting.key,
        Choice.from_dict(details["choice"]),
        details["files"],
        details["seed_fingerprint"],
        details["mlflow_run_id"],
        None,
    )


def audit_run(
    run_dir: str | Path,
    config: Config,
    spark: SparkSession | None = None,
    dry_run: bool = False,
    wait: bool = True,
    tell: Callable[[str], None] = print,
) -> list[AdversaryResult]:
    """Let the configured language models name the source of texts, before and after.

    ``audit.about`` says of which: swapped chunks, all released chunks, whole documents.

    With plan ``pairs`` the chosen release is drawn ``audit.draws`` times with the run's own seed;
    the first draw is the published one. With plan ``whole`` that one alone is asked about. Answers
    are kept in ``audit.answers`` (by default ``sealed/answers``), so that nothing is paid for
    twice.

    Parameters
    ----------
    run_dir : str or pathlib.Path
        A run folder ``OUT/PERIOD``.
    config : Config
        From :func:`configuration_of`.
    spark : pyspark.sql.SparkSession, optional
        A session to use; one is started otherwise.
    dry_run : bool, optional
        Only tell the number of requests, tokens and the price.
    wait : bool, optional
        Whether to wait for batches of the provider.
    tell : callable, optional
        Takes a line for a person.

    Returns
    -------
    list of AdversaryResult
        One a model; empty for a dry run.

    Raises
    ------
    InputError
        When no release is published or waits, or it holds no swap.
    InfrastructureError, LedgerError
        When release or ledger are no longer what was published.
    ConfigError
        When no model is configured, or a key or the seed of the run is missing.
    BudgetExceeded
        When the price is above ``audit.budget``.
    """
    from nes_spark.audit.client import read_key
    from nes_spark.run.context import SPARK_LOG, Context
    from nes_spark.session import run_session
    from nes_spark.swapping import secret_of_release

    release = release_to_audit(run_dir)
    store = release.store
    if not release.choice.swapped:
        raise InputError(f"{run_dir}: holds no release with swaps")
    if not config.audit.models:
        raise ConfigError("audit.models: is empty; name a model in the section audit (--conf FILE)")
    check_names(config.audit)
    if not dry_run:
        for model in config.audit.models:
            read_key(model)
    sealed = store.local_path("sealed") if store.is_local else None
    secret = secret_of_release(config.seed, sealed, release.seed_fingerprint)
    log = store.local_path(*SPARK_LOG) if store.is_local else None
    with (
        translated("audit"),
        store.lock(),
        store.work() as work,
        run_session(config.spark, work, log, spark) as session,
        Context(session, config, store, secret, "") as context,
    ):
        results = _ask(context, release, dry_run, wait, tell)
    if results and release.published is None:
        tell("the release waits: run the same run again to publish it if its gates hold")
    return results


def _ask(
    context: Context,
    release: Audited,
    dry_run: bool,
    wait: bool,
    tell: Callable[[str], None],
) -> list[AdversaryResult]:
    """Put the questions, record the answers."""
    from pyspark.sql import functions as F

    from nes_spark.audit.llm_stages import run_language_model_audit
    from nes_spark.audit.stages import summarize_audit

    config, store = context.config, context.store
    listed = config.output.withhold is not None
    changed = release.published is not None and listed != ("withheld" in release.published.record)
    if changed or (listed and not store.is_current("withheld", release.key)):
        raise InputError(
            f"{store.root}: another run was begun since with another list of chunks to withhold; "
            "run it again first"
        )
    whole = config.releases.plan == "whole"
    all_released = config.audit.about != "swapped"
    once = whole or all_released or config.audit.sample is not None
    asked = config.audit.model_copy(update={"draws": 1}) if once else config.audit
    answers = config.audit.answers or store.path("sealed", "answers")

    def on_estimate(estimate: Any) -> None:
        for line in estimate.lines():
            tell(line)
        if asked.clues:
            tell("and a question more for each chunk that a model names (audit.clues)")

    with ExitStack() as until:
        if all_released:
            final = _released(context, release.choice)
        elif once:
            final = _published_draw(context, release.choice)
        else:
            final = _draws(context, release.choice, until)
        # Nobody is asked about what is not published; of a summary there is no other draw.
        if config.output.withhold is not None and not all_released:
            told = context.table("withheld").select("chunk_id", "summary", F.lit(0).alias("draw"))
            rest = final.join(told, "chunk_id", "left_anti")
            retold = final.join(told.where("summary IS NOT NULL"), ["chunk_id", "draw"])
            final = rest.unionByName(
                retold.withColumn("text", F.col("summary")).select(*rest.columns)
            )
        final = final.cache()
        until.callback(final.unpersist)
        outcome = run_language_model_audit(
            context.table("documents"),
            context.table("chunks"),
            final,
            asked,
            answers,
            dry_run=dry_run,
            wait=wait,
            on_estimate=on_estimate,
            key=Secret(context.secret).digest("audit", "sample", size=32),
        )
        if outcome.predictions is None:
            return []
        key = combine(code_version(), config.fingerprint("audit"), release.key)
        store.write_table("language_predictions", outcome.predictions, key)
        # A document has many partners: which documents exchanged names is not allowed for there.
        swaps = None if asked.about == "documents" else final
        results = summarize_audit(context.table("language_predictions"), asked, swaps)
        _record(context, release, asked, results, tell)
        if asked.clues:
            paid = outcome.bill.total if outcome.bill is not None else 0.0
            _list_clues(context, final, asked, answers, paid, tell)
    return results


def _record(
    context: Context,
    release: Audited,
    asked: AuditConfig,
    results: list[AdversaryResult],
    tell: Callable[[str], None],
) -> None:
    """List the chunks that were named; put the answers into release.json, report and MLflow."""
    config, store = context.config, context.store
    if asked.about != "documents" and asked.answer != "period":
        named, told = list_named(context)
        if named:
            tell(
                f"{named:,} of {told:,} chunks asked about are named as released; to leave them "
                f"out, run again with --set output.withhold={store.path(*NAMED)}; to publish "
                "summaries of them, with --set output.instead=summary too"
            )
    settings = {model.name: settings_digest(config.audit, model) for model in config.audit.models}
    record: dict[str, Any] = {
        "choice": release.choice.to_dict(),
        "draws": asked.draws,
        "models": [
            r.to_dict()
            | {"settings": settings[r.model], "about": asked.about, "answer": asked.answer}
            for r in results
        ],
        "files": release.files,
    }
    record["models"] = _others(store, record) + record["models"]
    store.write_json(record, *LANGUAGE_MODELS)
    page = _add_to_report(store, record["models"])
    if release.published is not None:
        published = release.published.record
        published["audit"]["language_models"] = record["models"]
        replace_record(store, release.published.details, published)
    _track(release, config, results, record, page)


def _list_clues(
    context: Context,
    final: DataFrame,
    config: AuditConfig,
    answers: str,
    paid: float,
    tell: Callable[[str], None],
) -> None:
    """Ask what told of the chunks that were named as released, and list it."""
    from pyspark.sql import functions as F

    from nes_spark.audit.clue_stages import ask_for_clues

    named = (
        context.table("language_predictions")
        .where("side = 'post' AND draw = 0 AND correct")
        .select("model", "chunk_id")
        .join(context.table("chunks").select("chunk_id", "metadata"), "chunk_id")
        .join(final.where(F.col("draw") == 0).select("chunk_id", "text"), "chunk_id")
    )

    if context.config.output.withhold is not None:
        # what a summary says stands in no text of its company
        named = named.join(context.table("withheld"), "chunk_id", "left_anti")

    def on_estimate(estimate: Any) -> None:
        for line in estimate.lines():
            tell(f"what told: {line}")

    told = ask_for_clues(named, config, answers, paid, on_estimate)
    clues, chunks = list_clues(context, told)
    if clues:
        tell(
            f"{clues:,} pieces of {chunks:,} chunks told; to replace them, run again "
            f"with --set entities.clues={context.store.path(*CLUES)}"
        )
    else:
        tell("no model said of a chunk that it named what told it, or nothing that is new")


def _others(store: Store, record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what models of other names said of the same release before."""
    before = store.read_json(*LANGUAGE_MODELS)
    if not isinstance(before, dict) or any(before.get(k) != record[k] for k in ("choice", "files")):
        return []
    now = {result["model"] for result in record["models"]}
    return [result for result in before.get("models", []) if result["model"] not in now]


def _released(context: Context, choice: Choice) -> DataFrame:
    """Return every chunk as released, with text and partner, as one draw."""
    from pyspark.sql import functions as F

    from nes_spark.releases.publish_stages import chosen_rewrites, withhold
    from nes_spark.run.release import assemble_texts

    rewrites, combination = context.table("rewrites"), choice.combination.name
    mine = chosen_rewrites(rewrites, choice.setting, combination, choice.n_swaps, choice.draw)
    assembled = assemble_texts(context, choice, mine)
    if context.config.output.withhold is not None:
        assembled = withhold(assembled, context.table("chunks"), context.table("withheld"))
    return assembled.where("text <> ''").select(
        F.lit(0).alias("draw"), "chunk_id", "text", "partner_id"
    )


def _published_draw(context: Context, choice: Choice) -> DataFrame:
    """Return the swapped chunks as the release has them, from the tables of the run."""
    from pyspark.sql import functions as F

    from nes_spark.releases.publish_stages import chosen_rewrites

    rewrites, combination = context.table("rewrites"), choice.combination.name
    mine = chosen_rewrites(rewrites, choice.setting, combination, choice.n_swaps, choice.draw)
    return mine.where("text <> ''").withColumn("draw", F.lit(0))


def _draws(context: Context, choice: Choice, until: ExitStack) -> DataFrame:
    """Draw the release ``audit.draws`` times; draw 0 is the published one."""
    from pyspark.sql import functions as F

    from nes_spark.releases.publish_stages import chosen_rewrites
    from nes_spark.run.pipeline import sampling_tables
    from nes_spark.swapping.stages import rewrite, sample_candidates

    config = context.config
    releases = config.releases.model_copy(
        update={
            "combinations": [list(choice.combination)],
            "draws": max(config.audit.draws, choice.draw + 1),
            "max_swaps": choice.n_swaps,
        }
    )
    assignments = context.table("assignments").where(F.col("setting") == choice.setting)
    swaps = sample_candidates(
        context.table("cells"),
        assignments,
        releases,
        config.swapping,
        context.secret,
        **sampling_tables(context),
    ).cache()
    until.callback(swaps.unpersist)
    rewrites = rewrite(
        swaps,
        context.table("chunks"),
        context.table("mentions"),
        releases,
        config.swapping,
        config.entities,
        shifts=context.shifts(),
    )
    final = chosen_rewrites(rewrites, choice.setting, choice.combination.name)
    draw = F.when(F.col("draw") == choice.draw, 0).when(F.col("draw") == 0, choice.draw)
    return final.withColumn("draw", F.coalesce(draw, "draw"))


def _add_to_report(store: Store, results: list[dict[str, Any]]) -> bytes:
    """Put the answers into the report; return its page."""
    from nes_spark.report import ReportData
    from nes_spark.run.report_data import REPORT_DATA, write_report

    content = store.read_bytes(*REPORT_DATA)
    if content is None:
        raise InputError(f"{store.root}: its report cannot be completed; run it again first")
    try:
        data = ReportData.from_json(content.decode())
    except ValueError as error:
        raise InputError(f"{store.root}: {error}; run it again first") from None
    models = {result["model"] for result in results}
    others = [result for result in data.audit if result["model"] not in models]
    with TemporaryDirectory(prefix="nes-spark-") as folder:
        write_report(store, replace(data, audit=[*others, *results]), Path(folder) / "report")
        return (Path(folder) / "report" / "index.html").read_bytes()


def _track(
    release: Audited,
    config: Config,
    results: list[AdversaryResult],
    record: dict[str, Any],
    report: bytes,
) -> None:
    """Record the audit in MLflow, below the run it audits."""
    from nes_spark.audit.summary import audit_metrics
    from nes_spark.run.mlflow_run import tracker_of

    if not config.tracking.enabled:
        return
    tracker = tracker_of(config, release.store)
    tags = {"period": config.period or "all", "kind": "audit"}
    with tracker.run(f"{config.name} audit", tags, parent=release.mlflow_run_id) as tracked:
        tracked.metrics(audit_metrics(results))
        with TemporaryDirectory(prefix="nes-spark-") as folder:
            path = Path(folder) / "language_models.json"
            path.write_text(json.dumps(record, indent=2))
            (Path(folder) / "report.html").write_bytes(report)
            tracked.folder(Path(folder), "audit")


def results_table(results: list[AdversaryResult]) -> str:
    """Return accuracies before and after, with their spread over draws, as a plain table."""
    rows = []
    for r in results:
        spread = [f" ({side.sd:.3f})" if side.sd is not None else "" for side in (r.pre, r.post)]
        rows.append(
            (
                r.model,
                str(r.chunks),
                f"{r.pre.mean:.3f}{spread[0]}",
                f"{r.post.mean:.3f}{spread[1]}",
                f"{r.drop.drop:.3f} ({r.drop.low:.3f} to {r.drop.high:.3f})",
                f"{r.mcnemar.exact_p_value:.2g}",
            )
        )
    head = ("model", "chunks", "before", "after", "drop (95 %)", "McNemar exact p")
    return text_table(head, rows)
