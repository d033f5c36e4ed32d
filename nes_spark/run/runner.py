"""Run the pipeline: stages, choice, gates, release, ledger, report and MLflow, in this order.

A release is put together aside, examined by its gates, described in the report and in MLflow, and
only then moved to its place. What cannot be recorded is not published.
"""

from __future__ import annotations

import importlib
import time
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nes_spark.errors import (
    ConfigError,
    EstimationError,
    InfrastructureError,
    InputError,
    LedgerError,
)
from nes_spark.failures import translated
from nes_spark.logs import LOGGER, Progress
from nes_spark.run.checks import check_config
from nes_spark.versions import code_digest

# What these bring (pyarrow, pandas, NumPy) is loaded when a run starts: the face of the package
# imports this module, and the command line must answer before that.
if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

    from nes_spark.config import Config
    from nes_spark.run.context import Context
    from nes_spark.run.pipeline import Stage
    from nes_spark.run.result import RunResult
    from nes_spark.store import Store


def describe_plan(config: Config) -> str:
    """Return the stages in order: what each needs, gives and which settings it depends on."""
    from nes_spark.releases.space import describe_space
    from nes_spark.run.judging import describe_encoder
    from nes_spark.run.pipeline import STAGES

    check_config(config, planned=True)
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
        *describe_encoder(config),
    ]
    return "\n".join(lines)


def run(
    config: Config,
    spark: SparkSession | None = None,
    force: bool = False,
    documents: pd.DataFrame | DataFrame | None = None,
    profile: bool = False,
) -> RunResult:
    """Run the whole pipeline and publish the chosen release.

    Parameters
    ----------
    config : Config
        From :func:`nes_spark.load_config`; ``input.path`` must be set unless documents are given.
    spark : pyspark.sql.SparkSession, optional
        A session to use, or the active one; otherwise one is started, and stopped at the end.
    force : bool, optional
        Run every stage although its output is up to date, and take nothing from earlier runs.
    documents : pandas.DataFrame or pyspark.sql.DataFrame, optional
        One row a document, with the columns that ``input.columns`` names; takes the place of
        ``input.path``. It lies in the run folder, owner only, while the run works. A Spark table
        brings its session.
    profile : bool, optional
        Write ``report/profile.csv`` and ``report/profile.svg``: where the time of each stage went
        (:mod:`nes_spark.run.profiling`). The session must be one that is started for the run.

    Returns
    -------
    RunResult

    Raises
    ------
    ConfigError
        When a name in the configuration refers to nothing (:mod:`nes_spark.run.checks`).
    InputError
        When the input cannot be used, no document was accepted, or the judge cannot be loaded.
    EstimationError
        When nothing can be swapped or no candidate can be scored.
    GateRefused
        When the chosen release fails a gate; the report says why.
    InfrastructureError
        When Spark, a disk, MLflow or an endpoint failed.
    """
    if documents is not None:
        from nes_spark.run.given import given_documents

        check_config(config, planned=True)
        own = getattr(documents, "sparkSession", None)
        with given_documents(config, documents) as ready:
            return run(ready, own if spark is None else spark, force, profile=profile)
    check_config(config)
    from nes_spark.run.ahead import begin, one_thread_each, turns
    from nes_spark.run.context import open_run
    from nes_spark.run.judging import check_judge
    from nes_spark.run.pipeline import STAGES
    from nes_spark.session import start_worker

    check_judge(config)
    with Progress(len(STAGES) + 1, expected=_last_time(config)) as progress:
        progress.prepare("starting Spark and looking at the input")
        begin(_read_code, "code")
        with (
            open_run(config, spark, _profiled(progress) if profile else None) as context,
            turns(),
            one_thread_each() if context.small else nullcontext(),
        ):
            if context.small:  # what fails here fails again where workers are asked
                begin(partial(start_worker, context.spark), "first worker")
            _run_stages(context, progress, force)
            from nes_spark.run.release import publish

            with translated("stage release"):
                return publish(context, progress, force)


def _read_code() -> None:
    """While Java starts: the last step, and the digests of what the stages are made of.

    Nothing depends on it: what fails here fails again where it is used, and is told there.
    """
    import nes_spark.run.release  # noqa: F401
    from nes_spark.run.pipeline import STAGES

    for stage in STAGES:
        stage.code()


#: Up to this stage Java and the workers keep all cores busy; then one waits for the other.
_LAST_BUSY = "mentions"


def _load_last() -> None:
    """While Spark works: what the last step is made of and what it draws with.

    Seconds that nobody waits for then. As with the code, what fails here is told where it is used.
    """
    from nes_spark.run.release import CODE_OF_ATTACKS, CODE_OF_RELEASE

    for name in ("bokeh.embed", "bokeh.plotting", "matplotlib.backends.backend_svg"):
        importlib.import_module(name)
    for code in (CODE_OF_RELEASE, CODE_OF_ATTACKS):
        code_digest(*code)


def _profiled(progress: Progress) -> Callable[[Store, Path], None]:
    """Return what tells where the time went, when the session has ended."""
    from nes_spark.run.profiling import (
        PICTURE,
        TABLE,
        draw_profile,
        event_lines,
        profile,
        read_events,
    )

    def write(store: Store, events: Path) -> None:
        found = profile(read_events(event_lines(events)), progress.marks)
        store.write_bytes(found.round(3).to_csv(index=False).encode(), "report", TABLE)
        store.write_bytes(draw_profile(found), "report", PICTURE)
        LOGGER.info("profile: %s and %s beside it", store.path("report", TABLE), PICTURE)

    return write


def _last_time(config: Config) -> dict[str, float]:
    """Stage -> seconds of the last finished run in this folder, in order; empty without one."""
    from nes_spark.run.context import run_folder
    from nes_spark.run.pipeline import STAGES
    from nes_spark.run.published import PUBLICATION

    store = run_folder(config)
    done = store.manifest(PUBLICATION) if store.is_local else None
    found = {stage.name: store.manifest(stage.gives[0]) for stage in STAGES} if done else {}
    if done is None or "release_seconds" not in done.details or None in found.values():
        return {}
    times = {name: manifest.seconds for name, manifest in found.items() if manifest is not None}
    return {**times, "release": float(done.details["release_seconds"])}


def run_stage(config: Config, name: str, spark: SparkSession | None = None) -> str:
    """Bring one stage up to date; the stages before it must have run.

    Parameters
    ----------
    config : Config
        As for :func:`run`.
    name : str
        A stage of :data:`nes_spark.run.pipeline.STAGES`, or ``release`` for the last step.
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
    from nes_spark.run.context import open_run
    from nes_spark.run.pipeline import INPUT, STAGES
    from nes_spark.run.release import publish

    stages = {stage.name: stage for stage in STAGES}
    if name != "release" and name not in stages:
        raise ConfigError(f"no stage {name!r}; the stages are {[*stages, 'release']}")
    check_config(config)
    with Progress(1) as progress, open_run(config, spark) as context:
        if name == "release":
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
    from nes_spark.store import Store
    from nes_spark.swapping.ledger import FOLDER, HEADER, key_id, load_key, rotate_key

    store = Store(run_dir)
    header = store.read_json(*FOLDER, HEADER)
    if not isinstance(header, dict):
        raise LedgerError(f"{run_dir}: holds no ledger; give a run folder such as out/2020Q3")
    with translated("rotate-key"), store.lock():
        plain = not header.get("encrypted")
        old = None if plain else load_key(LedgerConfig(key_env=old_env))
        new = load_key(
            LedgerConfig(key_env=new_env),
            "the ledger is plain, to be encrypted," if plain else "the ledger gets a new key",
        )
        rotate_key(store, old, new)
        return (None if old is None else key_id(old)), key_id(new)


def _run_stages(context: Context, progress: Progress, force: bool) -> None:
    """Bring every stage up to date."""
    from nes_spark.run.ahead import begin, begin_stages
    from nes_spark.run.mlflow_run import open_ahead
    from nes_spark.run.pipeline import INPUT, STAGES

    finished = {INPUT}
    for number, stage in enumerate(STAGES, 1):
        progress.start(stage.name, stage.what)
        _advance(context, stage, progress, force, goes_on=True)
        if stage.name == _LAST_BUSY:
            begin(_load_last, "last step")
            context.tracker = open_ahead(context.config, context.store)
        finished.update(stage.gives)
        begin_stages(context, STAGES[number:], finished, force)


def _advance(
    context: Context, stage: Stage, progress: Progress, force: bool, goes_on: bool = False
) -> None:
    """Run one stage unless its output is up to date; `goes_on` says that the others follow."""
    from nes_spark.run.earlier import let_go
    from nes_spark.run.measuring import make_ready

    context.anew = force
    key = stage.key(context)
    current = not force and stage.is_current(context, key)
    started = time.perf_counter()
    if current:
        _report_stage(context, stage, progress, 0.0, "up to date")
    else:
        if goes_on and stage.name == "swaps":
            make_ready(context)
        with translated(f"stage {stage.name}"):
            stage.execute(context, key)
        _report_stage(context, stage, progress, time.perf_counter() - started, "")
    let_go(context.store)
    # Also when the stage was up to date: what stopped the last run stops this one too.
    _examine(context, stage)


def _report_stage(
    context: Context, stage: Stage, progress: Progress, seconds: float, note: str
) -> None:
    from nes_spark.run.context import Taken
    from nes_spark.run.earlier import TAKEN

    rows: dict[str, int] = {}
    facts: dict[str, Any] = {}
    for name in stage.gives:
        found = context.store.manifest(name)
        if found is not None:
            rows[name] = found.rows
            facts |= found.details.get(TAKEN, {})
    outcome = ", ".join(f"{count:,} {name}" for name, count in rows.items())
    taken = str(Taken(**facts)) if facts and not note else ""
    if words := note or taken:
        outcome += f" ({words})"
    told = {"taken": facts["units"], "of": facts["of"]} if facts and not note else {}
    progress.done(stage.name, outcome, seconds, rows=rows, note=note, **told)


def _examine(context: Context, stage: Stage) -> None:
    """Stop where going on could not lead to a release, and say why."""
    store = context.store
    if stage.name == "documents":
        accepted = store.manifest("documents")
        refused = store.manifest("quarantine")
        assert accepted is not None
        assert refused is not None
        from nes_spark.run.listed import hint, some_of
        from nes_spark.run.result import quarantined

        reasons = Counter(store.counts("quarantine", ["reason"])) if refused.rows else Counter()
        if accepted.rows == 0:
            listed = quarantined(reasons) if reasons else "the input holds none"
            raise InputError(f"no document was accepted: {listed}")
        metadata = store.rows("documents", ["metadata"])
        first = next(metadata)
        if all(value == first for value in metadata):  # looks no further than the first other one
            raise InputError(
                f"{accepted.rows} document(s) with one and the same metadata; swapping needs at "
                "least two documents with different metadata (columns.metadata)"
            )
        from nes_spark.run.findings import foreign_documents, spelled_apart

        if apart := spelled_apart(store.counts("documents", ["metadata"])):
            LOGGER.warning(
                "%d secret(s) spelled in several ways, each of which counts as one of its own: %s; "
                "spell them alike in column %s, unless they are different ones",
                len(apart),
                some_of(" and ".join(map(hint, names)) for names in apart),
                context.config.input.columns.metadata,
            )
        if foreign := foreign_documents(context):
            LOGGER.warning(
                "%d of %d documents do not look like English: the bundled recogniser misses names "
                "in them and takes words of them for names; stop and name another "
                "(entities.recognizer), or set them aside (input.foreign=quarantine), unless you "
                "mean it",
                foreign,
                accepted.rows,
            )
        if refused.rows:
            LOGGER.warning(
                "of %d documents %s; %s says which",
                refused.rows + accepted.rows,
                quarantined(reasons),
                store.path("stages", "quarantine"),
            )
    if stage.name == "chunks":
        from nes_spark.run.listed import listed_clues, withheld_chunks
        from nes_spark.run.measuring import check_known

        # The last step uses them, hours later: what is wrong with them is told here.
        withheld_chunks(context, warn=True)
        listed_clues(context, warn=True)
        check_known(context, warn=True)
    entities = context.config.entities
    if stage.name == "mentions" and (entities.clues or entities.telling):
        from nes_spark.entities.clue_stages import count_lost
        from nes_spark.entities.clues import CLUE
        from nes_spark.run.listed import hint, listed_clues, some_of

        told = listed_clues(context)
        if context.table("mentions").where(f"category = '{CLUE}'").isEmpty():
            if entities.telling:
                LOGGER.warning(
                    "entities.telling: no word was taken; the terms alone are that share of the "
                    "words: take a larger one"
                )
            if entities.clues:
                LOGGER.warning("entities.clues: none of what it lists stands in a text of this run")
        elif told is not None and any(lost := count_lost(context.table("chunks"), told)):
            of_chunks, of_metadata = lost
            LOGGER.warning(
                "entities.clues: %d of the clues listed stand nowhere in their chunk any more, or "
                "in no text of their metadata: %s",
                sum(of_chunks.values()) + sum(of_metadata.values()),
                some_of(
                    [f"{sum(of_chunks.values()):,} of {len(of_chunks):,} chunks"] * bool(of_chunks)
                    + [f"{count:,} of {hint(name)}" for name, count in of_metadata.items()]
                ),
            )
    if stage.name == "swaps":
        found = store.manifest("swaps")
        assert found is not None
        if found.rows == 0:
            from nes_spark.run.release import explain_no_swaps

            raise EstimationError(
                "nothing can be swapped: " + explain_no_swaps(context), "nothing_to_swap"
            )
