"""The audit of a finished run by language models: M draws of the chosen release (section 3.2.2)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from nes_spark.audit.adversaries import check_names
from nes_spark.config import Config
from nes_spark.errors import ConfigError, InputError
from nes_spark.failures import translated
from nes_spark.report.terminal import text_table
from nes_spark.run.findings import LANGUAGE_MODELS
from nes_spark.run.published import PublishedRun
from nes_spark.run.verifying import replace_record, verify_release
from nes_spark.store import combine
from nes_spark.versions import code_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from nes_spark.audit.summary import AdversaryResult
    from nes_spark.run.context import Context


def audit_run(
    run_dir: str | Path,
    config: Config,
    spark: SparkSession | None = None,
    dry_run: bool = False,
    wait: bool = True,
    tell: Callable[[str], None] = print,
) -> list[AdversaryResult]:
    """Let the configured language models name the source of swapped chunks, before and after.

    The chosen release is drawn ``audit.draws`` times with the run's own seed; the first draw is the
    published one. Answers are kept in ``audit.answers`` (by default ``sealed/answers``), so that
    nothing is paid for twice.

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
        When nothing was published, or the release holds no swap.
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

    published = PublishedRun(run_dir)
    store, choice = published.store, published.choice
    if not choice.swapped:
        raise InputError(f"{run_dir}: holds no published release with swaps")
    if not config.audit.models:
        raise ConfigError("audit.models: is empty; name a model in the section audit (--conf FILE)")
    check_names(config.audit)
    if not dry_run:
        for model in config.audit.models:
            read_key(model)
    verify_release(store, published.details)
    sealed = store.local_path("sealed") if store.is_local else None
    secret = secret_of_release(config.seed, sealed, published.record.get("seed_fingerprint"))
    log = store.local_path(*SPARK_LOG) if store.is_local else None
    with (
        translated("audit"),
        store.lock(),
        store.work() as work,
        run_session(config.spark, work, log, spark) as session,
    ):
        context = Context(session, config, store, secret, "")
        return _ask(context, published, dry_run, wait, tell)


def _ask(
    context: Context,
    published: PublishedRun,
    dry_run: bool,
    wait: bool,
    tell: Callable[[str], None],
) -> list[AdversaryResult]:
    """Draw the release again, put the questions, record the answers."""
    from pyspark.sql import functions as F

    from nes_spark.audit.llm_stages import run_language_model_audit
    from nes_spark.audit.stages import summarize_audit
    from nes_spark.releases.publish_stages import chosen_rewrites
    from nes_spark.run.pipeline import draw_whole, sampling_tables, shifts
    from nes_spark.swapping.stages import rewrite, sample_candidates
    from nes_spark.swapping.whole_stages import first_share, last_steps

    config, store, choice = context.config, context.store, published.choice
    releases = config.releases.model_copy(
        update={
            "combinations": [list(choice.combination)],
            "draws": config.audit.draws,
            "max_swaps": choice.n_swaps,
        }
    )
    assignments = context.table("assignments").where(F.col("setting") == choice.setting)
    last = None
    if releases.plan == "whole":
        swaps, leftovers = draw_whole(context, releases, assignments)
        # each draw has a length of its own: the same share of it, and what is left over at its end
        share = choice.n_swaps / context.table("swaps").where(
            (F.col("setting") == choice.setting) & (F.col("draw") == choice.draw)
        ).count()  # fmt: skip
        swaps, whole = first_share(swaps, share).cache(), share >= 1
        last = last_steps(swaps, leftovers) if whole else None
    else:
        swaps = sample_candidates(
            context.table("cells"),
            assignments,
            releases,
            config.swapping,
            context.secret,
            **sampling_tables(context),
        ).cache()
    chunks = context.table("chunks")
    rewrites = rewrite(
        swaps,
        chunks,
        context.table("mentions"),
        releases,
        config.swapping,
        config.entities,
        last,
        shifts(context),
    )
    final = chosen_rewrites(rewrites, choice.setting, choice.combination.name)
    final = final.where("text <> ''").cache()  # nobody is asked about what is not published
    answers = config.audit.answers or store.path("sealed", "answers")

    def on_estimate(estimate: Any) -> None:
        for line in estimate.lines():
            tell(line)

    try:
        outcome = run_language_model_audit(
            context.table("documents"),
            chunks,
            final,
            config.audit,
            answers,
            dry_run=dry_run,
            wait=wait,
            on_estimate=on_estimate,
        )
        if outcome.predictions is None:
            return []
        key = combine(code_version(), config.fingerprint("audit"), published.key)
        store.write_table("language_predictions", outcome.predictions, key)
        results = summarize_audit(context.table("language_predictions"), config.audit, final)
    finally:
        final.unpersist()
        swaps.unpersist()
        context.release_kept()
    record = {
        "choice": choice.to_dict(),
        "draws": config.audit.draws,
        "models": [r.to_dict() for r in results],
        "files": published.record["files"],
    }
    store.write_json(record, *LANGUAGE_MODELS)
    report = _add_to_release(published, record["models"])
    _track(published, config, results, record, report)
    return results


def _add_to_release(published: PublishedRun, results: list[dict[str, Any]]) -> bytes:
    """Put the answers into release.json and the report; return the report's page."""
    from nes_spark.report import ReportData
    from nes_spark.run.report_data import REPORT_DATA, write_report

    store, record = published.store, published.record
    content = store.read_bytes(*REPORT_DATA)
    if content is None:
        raise InputError(f"{store.root}: its report cannot be completed; run it again first")
    try:
        data = ReportData.from_json(content.decode())
    except ValueError as error:
        raise InputError(f"{store.root}: {error}; run it again first") from None
    models = {result["model"] for result in results}
    others = [result for result in data.audit if result["model"] not in models]
    record["audit"]["language_models"] = results
    with TemporaryDirectory(prefix="nes-spark-") as folder:
        write_report(store, replace(data, audit=[*others, *results]), Path(folder) / "report")
        page = (Path(folder) / "report" / "index.html").read_bytes()
    replace_record(store, published.details, record)
    return page


def _track(
    published: PublishedRun,
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
    tracker = tracker_of(config, published.store)
    tags = {"period": config.period or "all", "kind": "audit"}
    parent = published.mlflow_run_id
    with tracker.run(f"{config.name} audit", tags, parent=parent) as tracked:
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
