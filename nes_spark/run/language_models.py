"""The audit of a finished run by language models: M draws of the chosen release (section 3.2.2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from nes_spark.audit.adversaries import check_names
from nes_spark.config import Config, build_config, load_config
from nes_spark.errors import ConfigError, InputError
from nes_spark.run.findings import LANGUAGE_MODELS
from nes_spark.store import Store, combine
from nes_spark.versions import code_version

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from nes_spark.audit.summary import AdversaryResult


def configuration_of(
    run_dir: str | Path,
    conf: str | Path | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Config:
    """Return the configuration a run was made with, with another ``audit`` section where given.

    Parameters
    ----------
    run_dir : str or pathlib.Path
        A run folder ``OUT/PERIOD``.
    conf : str or pathlib.Path, optional
        Configuration whose ``audit`` section replaces that of the run.
    overrides : mapping, optional
        Dotted keys below ``audit``.

    Raises
    ------
    InputError
        When the folder holds no finished run.
    ConfigError
        When the configuration has faults or a key outside ``audit`` is set.
    """
    content = Store(run_dir).read_json("stages", "config.json")
    if content is None:
        raise InputError(f"{run_dir}: holds no finished run; give a folder such as out/2020Q3")
    if conf is not None:
        content["audit"] = load_config(conf).audit.model_dump(mode="json")
    for key, value in (overrides or {}).items():
        section, _, rest = key.partition(".")
        if section != "audit" or not rest or "." in rest:
            raise ConfigError(f"--set {key}: only keys of the section audit can be set here")
        content["audit"][rest] = value
    return build_config(content, str(run_dir))


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
    ConfigError
        When no model is configured or a key is missing.
    BudgetExceeded
        When the price is above ``audit.budget``.
    """
    from nes_spark.audit.llm_stages import run_language_model_audit
    from nes_spark.audit.stages import summarize_audit
    from nes_spark.releases.publish_stages import chosen_rewrites
    from nes_spark.run.context import Context
    from nes_spark.run.pipeline import sampling_tables
    from nes_spark.run.release import PUBLICATION
    from nes_spark.session import get_session
    from nes_spark.swapping import load_secret
    from nes_spark.swapping.stages import rewrite, sample_candidates

    store = Store(run_dir)
    published = store.manifest(PUBLICATION)
    if published is None or not published.details["choice"]["combination"]:
        raise InputError(f"{run_dir}: holds no published release with swaps")
    if not config.audit.models:
        raise ConfigError("audit.models: is empty; name a model in the section audit (--conf FILE)")
    check_names(config.audit)
    choice = published.details["choice"]
    session = spark or get_session(config.spark)
    sealed = store.local_path("sealed") if store.is_local else None
    context = Context(session, config, store, load_secret(config.seed, sealed), "")
    releases = config.releases.model_copy(
        update={
            "combinations": [choice["combination"].split("+")],
            "draws": config.audit.draws,
            "max_swaps": choice["n_swaps"],
        }
    )
    assignments = context.table("assignments").where(f"setting = '{choice['setting']}'")
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
        swaps, chunks, context.table("mentions"), releases, config.swapping, config.entities
    )
    final = chosen_rewrites(rewrites, choice["setting"], choice["combination"]).cache()
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
    record = {
        "choice": choice,
        "draws": config.audit.draws,
        "models": [r.to_dict() for r in results],
        "files": (store.read_json("release", "release.json") or {}).get("files"),
    }
    store.write_json(record, *LANGUAGE_MODELS)
    report = _add_to_release(store, record["models"])
    _track(store, config, results, record, report)
    return results


def _add_to_release(store: Store, results: list[dict[str, Any]]) -> bytes:
    """Put the answers into release.json and the report; return the report's page."""
    from nes_spark.report import ReportData
    from nes_spark.run.report_data import REPORT_DATA, write_report

    content = store.read_bytes(*REPORT_DATA)
    record = store.read_json("release", "release.json")
    if content is None or record is None:
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
    store.write_json(record, "release", "release.json")
    return page


def _track(
    store: Store,
    config: Config,
    results: list[AdversaryResult],
    record: dict[str, Any],
    report: bytes,
) -> None:
    """Record the audit in MLflow, below the run it audits."""
    from nes_spark.audit.summary import audit_metrics
    from nes_spark.run.mlflow_run import tracker_of
    from nes_spark.run.release import PUBLICATION

    published = store.manifest(PUBLICATION)
    if not config.tracking.enabled or published is None:
        return
    tracker = tracker_of(config, store)
    tags = {"period": config.period or "all", "kind": "audit"}
    parent = published.details["mlflow_run_id"]
    with tracker.run(f"{config.name} audit", tags, parent=parent) as tracked:
        tracked.metrics(audit_metrics(results))
        with TemporaryDirectory(prefix="nes-spark-") as folder:
            path = Path(folder) / "language_models.json"
            path.write_text(json.dumps(record, indent=2))
            (Path(folder) / "report.html").write_bytes(report)
            tracked.folder(Path(folder), "audit")


def table_of(results: list[AdversaryResult]) -> str:
    """Return accuracies before and after, with their spread over draws, as a plain table."""
    head = ("model", "chunks", "before", "after", "drop (95 %)", "McNemar exact p")
    rows = [head]
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
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
