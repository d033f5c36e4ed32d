"""Run the pipeline: stages, choice, gates, release, ledger, report and MLflow, in this order.

A release is put together aside, examined by its gates, described in the report and in MLflow, and
only then moved to its place. What cannot be recorded is not published.
"""

from __future__ import annotations

import contextlib
import posixpath
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nes_spark.config import Config
from nes_spark.errors import (
    ConfigError,
    EstimationError,
    InfrastructureError,
    InputError,
    LedgerError,
)
from nes_spark.failures import translated
from nes_spark.logs import LOGGER, Progress
from nes_spark.pipeline import INPUT, STAGES, Context, Stage
from nes_spark.store import Store, input_fingerprint

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

ALL_PERIODS = "all"


@dataclass(frozen=True)
class RunResult:
    """What a run came to.

    Attributes
    ----------
    directory : str
        The run folder ``OUT/PERIOD``.
    status : str
        ``published`` or ``unchanged`` (everything was there already).
    figures : dict
        Counts of documents, chunks and entities (:mod:`nes_spark.figures_stages`).
    choice : dict
        The chosen release: setting, population, combination, n_swaps, r, DR, DU.
    gates : list of Gate
        What was checked before publication.
    report : str
        Path of the HTML report.
    mlflow_run_id : str or None
        The MLflow run, None where tracking is off.
    seconds : dict
        Wall time per stage, in seconds, of the run that made its output.
    """

    directory: str
    status: str
    figures: dict[str, Any]
    choice: dict[str, Any]
    gates: list[Any]
    report: str
    mlflow_run_id: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def table(self, name: str) -> pd.DataFrame:
        """Read a table of the run into memory, see :data:`nes_spark.schemas.TABLES`."""
        return Store(self.directory).read_pandas(name)

    def __str__(self) -> str:
        return _summary(self)


def describe_plan(config: Config) -> str:
    """Return the stages in order: what each needs, gives and which settings it depends on."""
    from nes_spark.releases import describe_space

    lines = []
    for number, stage in enumerate(STAGES, 1):
        lines.append(f"{number:2d}. {stage.name}: {stage.what}")
        lines.append(f"      needs {', '.join(stage.needs)}; gives {', '.join(stage.gives)}")
        sections = ", ".join(stage.sections) or "none of its own"
        lines.append(
            f"      settings: {sections}" + ("; draws with the seed" if stage.draws else "")
        )
    lines += [
        f"{len(STAGES) + 1:2d}. release: choose, check the gates, publish, seal, report, MLflow",
        "",
        describe_space(config.releases, config.mixture, config.risk),
    ]
    return "\n".join(lines)


def run(config: Config, spark: SparkSession | None = None, force: bool = False) -> RunResult:
    """Run the whole pipeline and publish the chosen release.

    Parameters
    ----------
    config : Config
        From :func:`nes_spark.load_config`; ``input.path`` must be set.
    spark : pyspark.sql.SparkSession, optional
        A session to use; one is started (and left running) otherwise.
    force : bool, optional
        Run every stage although its output is up to date.

    Returns
    -------
    RunResult

    Raises
    ------
    ConfigError
        When no input is named, or a utility task cannot be loaded.
    InputError
        When the input cannot be used, or no document was accepted.
    EstimationError
        When nothing can be swapped or no candidate can be scored.
    GateRefused
        When the chosen release fails a gate; the report says why.
    InfrastructureError
        When Spark, a disk, MLflow or an endpoint failed.
    """
    from nes_spark.examination import check_tasks

    check_tasks(config)
    with open_run(config, spark) as context, Progress(len(STAGES) + 1) as progress:
        _run_stages(context, progress, force)
        from nes_spark.publication import publish

        with translated("stage release"):
            return publish(context, progress, force)


@contextlib.contextmanager
def open_run(config: Config, spark: SparkSession | None = None) -> Iterator[Context]:
    """Open the run folder of a configuration: session, store, lock, secret seed, input digest.

    Parameters
    ----------
    config : Config
        ``input.path`` must be set.
    spark : pyspark.sql.SparkSession, optional
        A session to use; one is started otherwise.

    Yields
    ------
    Context
        For stages; the folder is locked while it is open.
    """
    if not config.input.path:
        raise ConfigError("input.path: is missing; set it or give --input PATH")
    from nes_spark.session import get_session
    from nes_spark.swapping import load_secret

    session = spark or get_session(config.spark)
    store = Store(posixpath.join(config.output.directory, config.period or ALL_PERIODS))
    with translated("run"):
        store.prepare()
    with translated("run"), store.lock():
        secret = load_secret(config.seed, store.local_path("sealed") if store.is_local else None)
        paths = [p for p in (config.input.path, config.input.metadata_table) if p]
        yield Context(session, config, store, secret, input_fingerprint(session, paths))


def run_stage(config: Config, name: str, spark: SparkSession | None = None) -> str:
    """Bring one stage up to date; the stages before it must have run.

    Parameters
    ----------
    config : Config
        As for :func:`run`.
    name : str
        A stage of :data:`nes_spark.pipeline.STAGES`, or ``release`` for the last step.
    spark : pyspark.sql.SparkSession, optional
        A session to use; one is started otherwise.

    Returns
    -------
    str
        What was done, in a line or, for ``release``, in a short table.

    Raises
    ------
    ConfigError
        When there is no such stage.
    InfrastructureError
        When a stage before it has not finished.
    """
    stages = {stage.name: stage for stage in STAGES}
    if name != "release" and name not in stages:
        raise ConfigError(f"no stage {name!r}; the stages are {[*stages, 'release']}")
    with open_run(config, spark) as context, Progress(1) as progress:
        if name == "release":
            from nes_spark.publication import publish

            return str(publish(context, progress, False))
        stage = stages[name]
        for needed in stage.needs:
            if needed != INPUT and context.store.manifest(needed) is None:
                before = next(s.name for s in STAGES if needed in s.gives)
                raise InfrastructureError(
                    f"stage {name} needs {needed}, which is not there; run stage {before} first"
                )
        progress.start(stage.name, stage.what)
        _advance(context, stage, progress, force=False)
        rows = {n: found.rows for n in stage.gives if (found := context.store.manifest(n))}
        return f"{name}: " + ", ".join(f"{count:,} {n}" for n, count in rows.items())


def rotate_ledger_key(run_dir: str, old_env: str, new_env: str) -> tuple[str | None, str]:
    """Encrypt the ledger of a run with another key.

    Parameters
    ----------
    run_dir : str
        A run folder ``OUT/PERIOD``.
    old_env, new_env : str
        Environment variables with the key that the ledger has (not looked at where it is plain),
        and with the new one.

    Returns
    -------
    tuple of (str or None, str)
        Ids of the old and new key (:func:`nes_spark.swapping.ledger.key_id`).

    Raises
    ------
    LedgerError
        When there is no ledger, a key is missing or wrong; then nothing was changed.
    """
    from nes_spark.config import LedgerConfig
    from nes_spark.swapping.ledger import FOLDER, HEADER, key_id, load_key, rotate_key

    store = Store(run_dir)
    header = store.read_json(*FOLDER, HEADER)
    if not isinstance(header, dict):
        raise LedgerError(f"{run_dir}: holds no ledger; give a run folder such as out/2020Q3")
    with translated("rotate-key"), store.lock():
        old = load_key(LedgerConfig(key_env=old_env)) if header.get("encrypted") else None
        new = load_key(LedgerConfig(key_env=new_env))
        rotate_key(store, old, new)
        return (None if old is None else key_id(old)), key_id(new)


def _run_stages(context: Context, progress: Progress, force: bool) -> None:
    """Bring every stage up to date."""
    for stage in STAGES:
        progress.start(stage.name, stage.what)
        _advance(context, stage, progress, force)


def _advance(context: Context, stage: Stage, progress: Progress, force: bool) -> None:
    """Run one stage unless its output is up to date."""
    key = stage.key(context)
    current = not force and stage.is_current(context, key)
    started = time.perf_counter()
    if current:
        _report_stage(context, stage, progress, 0.0, "up to date")
    else:
        with translated(f"stage {stage.name}"):
            stage.execute(context, key)
        _report_stage(context, stage, progress, time.perf_counter() - started, "")
    # Also where nothing ran: what stopped the last run stops this one, with the same words.
    _examine(context, stage)


def _report_stage(
    context: Context, stage: Stage, progress: Progress, seconds: float, note: str
) -> None:
    rows = {}
    for name in stage.gives:
        found = context.store.manifest(name)
        if found is not None:
            rows[name] = found.rows
    outcome = ", ".join(f"{count:,} {name}" for name, count in rows.items())
    progress.done(
        stage.name, f"{outcome} ({note})" if note else outcome, seconds, rows=rows, note=note
    )


def _examine(context: Context, stage: Stage) -> None:
    """Stop where going on could not lead to a release, and say why."""
    store = context.store
    if stage.name == "documents":
        accepted = store.manifest("documents")
        refused = store.manifest("quarantine")
        assert accepted is not None
        assert refused is not None
        if accepted.rows == 0:
            reasons = store.read_pandas("quarantine", ["reason"])["reason"].value_counts()
            listed = ", ".join(f"{n} {reason}" for reason, n in reasons.items())
            raise InputError(f"no document was accepted: {listed or 'the input holds none'}")
        if context.table("documents").select("metadata").distinct().limit(2).count() < 2:
            raise InputError(
                f"{accepted.rows} document(s) with one and the same metadata; swapping needs at "
                "least two documents with different metadata (columns.metadata)"
            )
        if refused.rows:
            LOGGER.warning(
                "%d of %d documents quarantined; reasons in %s",
                refused.rows,
                refused.rows + accepted.rows,
                store.path("stages", "quarantine"),
            )
    if stage.name == "swaps":
        found = store.manifest("swaps")
        assert found is not None
        if found.rows == 0:
            from nes_spark.publication import explain_no_swaps

            raise EstimationError(
                "nothing can be swapped: " + explain_no_swaps(context), "nothing_to_swap"
            )


def _summary(result: RunResult) -> str:
    figures, choice = result.figures, result.choice
    quarantined = sum(figures["quarantined"].values())
    rows: list[tuple[str, str]] = [
        (
            "documents",
            f"{figures['documents']:,} of {figures['documents_in']:,}"
            + (f" ({quarantined:,} quarantined)" if quarantined else ""),
        ),
        ("chunks", f"{figures['chunks']:,} ({figures['words']:,} words)"),
    ]
    rows += [
        (
            f"entities {category}",
            f"{found['entities']:,} distinct, {found['mentions']:,} mentions",
        )
        for category, found in figures["categories"].items()
    ]
    rows += [
        ("components", f"{choice['components']} ({choice['setting']})"),
        ("candidates", f"{choice['candidates']:,}, {choice['on_frontier']:,} on the frontier"),
        (
            "chosen release",
            f"{choice['combination'] or 'no swaps'}, {choice['n_swaps']} swaps, "
            f"r = {choice['r']:.4f}",
        ),
        ("", f"DR = {choice['DR']:.4f}, DU = {choice['DU']:.4f}, N = {choice['population']:.0e}"),
    ]
    rows += [
        (f"gate {gate.name}", f"{'passed' if gate.passed else 'REFUSED'}: {gate.detail}")
        for gate in result.gates
    ]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {value}" for name, value in rows]
    head = {
        "published": "release published",
        "unchanged": "nothing to do: everything is up to date",
        "refused": "release NOT published",
    }[result.status]
    return "\n".join(
        [
            head,
            *lines,
            f"{'release':<{width}}  {result.directory}/release",
            f"{'report':<{width}}  {result.report}",
        ]
    )
