"""The MLflow run of a pipeline run."""

from __future__ import annotations

import hashlib
import io
import logging
import os
import warnings
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from nes_spark.config import Config
from nes_spark.run.ahead import begin
from nes_spark.run.judging import utility_metrics
from nes_spark.run.outcome import Outcome, release_sections
from nes_spark.schemas import DOCUMENTS
from nes_spark.store import Store
from nes_spark.versions import code_version

if TYPE_CHECKING:
    import pandas as pd

    from nes_spark.run.context import Context
    from nes_spark.tracking import TrackedRun, Tracker


#: Our types of single values in MLflow's words.
_MLFLOW = {
    "string": "string", "int": "integer", "bigint": "long", "double": "double",
    "boolean": "boolean",
}  # fmt: skip


def tracker_of(config: Config, store: Store) -> Tracker:
    """Open the tracking store of a run: by default one for all outputs of a project."""
    from nes_spark.tracking import Tracker, store_folder

    folder = Path.cwd()
    if store.is_local:
        folder = store_folder(config.output.directory, store.local_path("..").resolve())
    return Tracker(config.tracking.uri, config.tracking.experiment, folder)


def open_ahead(config: Config, store: Store) -> Future[Tracker] | None:
    """Begin to open the default tracking store while Spark works; None where it is another one.

    Making the tables of a new store takes seconds. What goes wrong is said at the end, where the
    store is used; one on a server is not asked before.
    """
    if not config.tracking.enabled or config.tracking.uri or os.environ.get("MLFLOW_TRACKING_URI"):
        return None
    opener = ThreadPoolExecutor(1, "tracking store")
    found = opener.submit(tracker_of, config, store)
    opener.shutdown(wait=False)
    return found


def folder_tag(store: Store) -> str:
    """Return what tells the MLflow runs of one run folder from those of others."""
    return hashlib.sha256(store.root.encode()).hexdigest()[:16]


def run_name(config: Config) -> str:
    """Return what tells the runs of an experiment apart: period, plan, what ``--set`` changed.

    Values stand there where they may be logged at all (:func:`nes_spark.tracking.parameters`).
    """
    from nes_spark.tracking import parameters

    shown = parameters(config)
    changed = [f"{key}={shown[key]}" if key in shown else key for key in config.changed]
    return ", ".join([f"{config.name} {config.period or 'all'} {config.releases.plan}", *changed])


def _description(outcome: Outcome) -> str:
    """Say in a few lines what was released and how it was measured, for MLflow's page."""
    from nes_spark.run.result import verdict_on_documents

    choice, figures = outcome.choice, outcome.figures
    named = None
    if outcome.measured is not None:
        from nes_spark.audit.measured import strongest

        named = strongest(outcome.measured)
    failed = [f"{gate.name} ({gate.verdict})" for gate in outcome.gates if not gate.passed]
    return "\n\n".join(
        [
            f"{figures['documents']:,} documents, {figures['chunks']:,} chunks, "
            f"{figures['words']:,} words.",
            f"Released: {choice.combination.name or 'no swaps'}, {choice.n_swaps:,} swaps, "
            f"DR = {choice.DR:.4f}, DU = {choice.DU:.4f}.",
            f"Documents named: {verdict_on_documents(named)}.",
            f"Not published: {', '.join(failed)}." if failed else "All gates passed.",
        ]
    )


def documents_metrics(measured: pd.DataFrame | None) -> dict[str, float]:
    """Return what each attacker names, before and after, and what the strongest does."""
    from nes_spark.audit.measured import strongest

    if measured is None:
        return {}
    found = {
        f"{row['unit']}/{row['attacker']}/{row['side']}": float(row["named"])
        for row in measured.to_dict("records")
    }
    for side, row in strongest(measured).items():
        found[f"documents/strongest/{side}"] = float(row["named"])
    return found


def track(context: Context, outcome: Outcome, report: Path, record: bytes | None) -> str:
    """Record the run in MLflow, with its report and the content of release.json."""
    from nes_spark.mixture.flavor import log_model
    from nes_spark.releases.frontier import frontier_of
    from nes_spark.swapping import seed_fingerprint
    from nes_spark.tracking import parameters

    config, store = context.config, context.store
    figures, candidates, choice = outcome.figures, outcome.candidates, outcome.choice
    model = outcome.model
    ahead = context.tracker
    tracker = tracker_of(config, store) if ahead is None else ahead.result()
    verdicts = {gate.verdict for gate in outcome.gates if not gate.passed}
    verdict = "refused" if "refused" in verdicts else "waiting" if verdicts else "passed"
    # Only one process works in a folder at a time, so a run that is still open was killed.
    folder = folder_tag(store)
    tracker.close_abandoned("folder", folder)
    tags = {
        "folder": folder,
        "period": config.period or "all",
        "configuration": config.fingerprint(*release_sections())[:12],
        "seed": seed_fingerprint(context.secret),
        "code": code_version(),
        "combination": choice.combination.name or "none",
        "unit": choice.combination.unit or config.releases.unit,
        "setting": choice.setting,
        "gates": verdict,
        "changed": ", ".join(config.changed) or "nothing",
        "mlflow.note.content": _description(outcome),
    }
    name = run_name(config)
    mine = choice.space(candidates)
    with tracker.run(name, tags, started=context.started) as tracked:
        tracked.parameters(parameters(config))
        tracked.dataset(
            f"{config.name} {config.period or 'all'}",
            context.input_fingerprint,
            {c.name: _MLFLOW[c.type] for c in DOCUMENTS.columns if c.type in _MLFLOW},
            {
                "documents": figures["documents"],
                "quarantined": sum(figures["quarantined"].values()),
                "chunks": figures["chunks"],
                "words": figures["words"],
            },
        )
        tracked.metrics(
            {
                "release/DR": choice.DR,
                "release/DU": choice.DU,
                "release/r": choice.r,
                "release/swaps": choice.n_swaps,
                "corpus/documents": figures["documents"],
                "corpus/quarantined": sum(figures["quarantined"].values()),
                "corpus/chunks": figures["chunks"],
                "corpus/words": figures["words"],
                "mixture/components": len(model.weights),
                "mixture/iterations": int(model.n_iter),
                "mixture/log_likelihood": float(model.log_likelihood),
                "mixture/converged": int(bool(model.converged)),
                **{
                    f"entities/{category}/{what}": value
                    for category, found in figures["categories"].items()
                    for what, value in found.items()
                },
                **{f"chunks/{status}": value for status, value in outcome.statuses.items()},
                **{f"seconds/{stage}": value for stage, value in outcome.seconds.items()},
                **{f"taken/{stage}": found.units for stage, found in outcome.taken.items()},
                **outcome.findings.metrics,
                **documents_metrics(outcome.measured),
                **utility_metrics(outcome.utility),
            }
        )
        tracked.curves(mine)
        fits = store.read_pandas("risk_fits")
        tracked.metrics(
            {
                f"risk/{row['combination']}/{what}": row[what]
                for row in fits.to_dict("records")
                for what in ("theta", "alpha", "s1", "k")
            }
        )
        marks = frontier_of(mine, choice.utility, choice.risk)
        tracked.table(mine[marks], "tables/frontier.json")
        tracked.table(candidates, "tables/candidates.json")
        tracked.table(fits.drop(columns="sizes"), "tables/risk_fits.json")
        for name in ("options", "attacks", "recoding", "linking"):
            if (found := getattr(outcome.findings, name)) is not None:
                tracked.table(found, f"tables/{name}.json")
        tracked.folder(report, "report")
        # MLflow's advice is for who writes code: a person at a terminal can do nothing with it.
        said = logging.getLogger("mlflow.pyfunc")
        level = said.level
        said.setLevel(logging.ERROR)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                logged = log_model(model, "mixture")
        finally:
            said.setLevel(level)
        if config.tracking.register_model is not None:
            tracked.register(config.tracking.register_model, logged.model_uri)
        _track_grid(context, tracker, tracked, candidates, fits)
        if record is not None:
            with TemporaryDirectory(prefix="nes-spark-") as temporary:
                (Path(temporary) / "release.json").write_bytes(record)
                tracked.folder(Path(temporary), "release")
        return tracked.run_id


def _track_grid(
    context: Context,
    tracker: Tracker,
    tracked: TrackedRun,
    candidates: pd.DataFrame,
    fits: pd.DataFrame,
) -> None:
    """Record a grid of settings: a child run for each setting and population, and one figure."""
    spaces = _spaces(candidates)
    if len(spaces) < 2:
        return
    settings = _settings(context)
    for setting, population in spaces:
        space = candidates[
            (candidates["setting"] == setting) & (candidates["population"] == population)
        ]
        found = settings[setting]
        tags = {
            "folder": folder_tag(context.store),
            "setting": setting,
            "population": f"{population:g}",
            "converged": str(found["converged"]).lower(),
        }
        with tracker.run(f"{setting} N={population:g}", tags, parent=tracked.run_id) as child:
            child.curves(
                space,
                {
                    "mixture/converged": int(found["converged"]),
                    "mixture/iterations": found["n_iter"],
                    "mixture/components": found["components"],
                    "mixture/log_likelihood": found["log_likelihood"],
                    "frontier/releases": int(space["on_frontier"].sum()),
                },
                {"setting": setting, "population": f"{population:g}"},
            )
            child.table(space[space["on_frontier"]], "tables/frontier.json")
    ratios = fits.assign(s1_ratio=fits["s1"] / fits["n"])
    tracked.table(ratios[["combination", "theta", "alpha", "s1_ratio"]], "tables/ewens_pitman.json")
    picture = draw_grid(context, candidates) if context.grid is None else context.grid.result()
    with TemporaryDirectory(prefix="nes-spark-") as folder:
        (Path(folder) / "risk_utility_grid.png").write_bytes(picture)
        tracked.folder(Path(folder), "figures")


def _spaces(candidates: pd.DataFrame) -> list[tuple[str, float]]:
    keys = candidates[["setting", "population"]].drop_duplicates().itertuples(index=False)
    return [(str(setting), float(population)) for setting, population in keys]


def _settings(context: Context) -> dict[str, Any]:
    mixture = context.store.manifest("mixture")
    assert mixture is not None
    found: dict[str, Any] = mixture.details["settings"]
    return found


def draw_grid(context: Context, candidates: pd.DataFrame) -> bytes:
    """Draw the frontiers of all settings and populations, as PNG."""
    from nes_spark.report.plots import plot_grid

    converged = {name: bool(found["converged"]) for name, found in _settings(context).items()}
    stream = io.BytesIO()
    plot_grid(candidates, converged).savefig(stream, dpi=110)
    return stream.getvalue()


def draw_grid_ahead(context: Context, candidates: pd.DataFrame) -> None:
    """Begin to draw the grid while Spark works, where there is one to be tracked."""
    if context.small and context.config.tracking.enabled and len(_spaces(candidates)) > 1:
        context.grid = begin(lambda: draw_grid(context, candidates), "grid")
