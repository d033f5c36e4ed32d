"""The last step of a run: choose, put together, examine, audit, report, record, publish, seal.

Order matters. The ledger is sealed before the release goes out, so that no release exists that its
owner cannot undo; the release is moved to its place last, after the record of it was written.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pandas as pd

from nes_spark.config import Config
from nes_spark.errors import EstimationError, GateRefused
from nes_spark.logs import Progress
from nes_spark.pipeline import STAGES
from nes_spark.releases.publishing import Gate
from nes_spark.schemas import TABLES
from nes_spark.store import Store, code_version, combine, input_fingerprint

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from nes_spark.examination import Audit, Findings
    from nes_spark.mixture import MixtureModel
    from nes_spark.pipeline import Context
    from nes_spark.report import ReportData
    from nes_spark.report.data import Identified
    from nes_spark.runner import RunResult
    from nes_spark.tracking import TrackedRun, Tracker

#: Sections that decide what is published although no table depends on them.
SECTIONS = ("choice", "gates", "ledger", "audit", "utility", "report", "tracking")
PUBLICATION = "publication"
#: What the report is made of, kept so that an audit can add to it. As secret as the tables.
REPORT_DATA = ("stages", "report.json")


@dataclass(frozen=True)
class _Outcome:
    """What a run came to, for the record, the report and MLflow."""

    figures: dict[str, Any]
    candidates: pd.DataFrame
    choice: dict[str, Any]
    statuses: dict[str, int]
    gates: list[Gate]
    findings: Findings
    seconds: dict[str, float]
    models: dict[str, MixtureModel]
    components: pd.DataFrame
    language_models: list[dict[str, Any]]

    @property
    def model(self) -> MixtureModel:
        """The mixture of the chosen setting."""
        return self.models[self.choice["setting"]]


def _key(context: Context) -> str:
    names = [name for stage in STAGES for name in stage.gives]
    contents = [found.content for name in names if (found := context.store.manifest(name))]
    reference = context.config.audit.reference
    known = input_fingerprint(context.spark, [reference]) if reference else ""
    return combine(code_version(), context.config.fingerprint(*SECTIONS), known, *contents)


def choose_release(candidates: pd.DataFrame, config: Config) -> dict[str, Any]:
    """Choose among the candidates of one setting and population.

    Parameters
    ----------
    candidates : pandas.DataFrame
        Table ``candidates``.
    config : Config
        Its section ``choice`` names rule, setting and population; by default the first setting of
        the grid and the first population.

    Returns
    -------
    dict
        The chosen row, plus ``candidates`` and ``on_frontier``: how many there were.

    Raises
    ------
    EstimationError
        When the setting or population has no candidates, or the rule no feasible one.
    """
    from nes_spark.mixture.stages import settings_of
    from nes_spark.releases import choose

    rule = config.choice
    setting = rule.setting or settings_of(config.mixture)[0].name
    population = config.risk.population[0] if rule.population is None else rule.population
    mine = candidates[
        (candidates["setting"] == setting) & (candidates["population"] == population)
    ].reset_index(drop=True)
    if rule.per_draw:
        mine = mine[mine["draw"].notna() | (mine["n_swaps"] == 0)].reset_index(drop=True)
    if mine.empty:
        have = sorted(set(zip(candidates["setting"], candidates["population"], strict=True)))
        raise EstimationError(
            f"no candidate has setting {setting!r} and N = {population:g}; there are {have}",
            "no_candidates",
        )
    position = choose(
        mine,
        rule.rule,
        slope=rule.slope,
        offset=rule.offset,
        max_risk=rule.max_risk,
        combination=rule.combination,
    )
    row = mine.iloc[position].to_dict()
    return {
        "setting": setting,
        "population": float(population),
        "combination": str(row["combination"]),
        "n_swaps": int(row["n_swaps"]),
        "r": float(row["r"]),
        "draws": int(row["draws"]),
        "draw": 0 if pd.isna(row["draw"]) else int(row["draw"]),
        "DR": float(row["DR"]),
        "DR_se": _number(row["DR_se"]),
        "DU": float(row["DU"]),
        "DU_se": _number(row["DU_se"]),
        "rule": rule.rule,
        "candidates": len(mine),
        "on_frontier": int(mine["on_frontier"].sum()),
    }


def _number(value: Any) -> float | None:
    return None if value is None or value != value else float(value)


def explain_no_swaps(context: Context) -> str:
    """Say per combination why no pair of chunks is valid, from the status of every chunk."""
    from nes_spark.figures_stages import status_figures
    from nes_spark.releases import combinations_of

    setting = sorted(context.models())[0]
    parts = []
    for combination in combinations_of(context.config.releases):
        status = _status(context, setting, combination, None)
        counts = ", ".join(f"{n} chunks {name}" for name, n in status_figures(status).items())
        parts.append(f"{'+'.join(combination)}: {counts}")
    return (
        "; ".join(parts)
        + ". Give more documents, fewer components (mixture.n_components) or other categories "
        "(releases.swap)"
    )


def _status(
    context: Context, setting: str, combination: tuple[str, ...], swaps: DataFrame | None
) -> DataFrame:
    from nes_spark.pipeline import sampling_tables
    from nes_spark.swapping.stages import chunk_status

    return chunk_status(
        context.table("cells"),
        context.table("assignments"),
        swaps,
        combination,
        setting,
        context.config.releases,
        **sampling_tables(context),
    )


def publish(context: Context, progress: Progress, changed: bool) -> RunResult:
    """Publish the chosen release unless that was done already.

    Parameters
    ----------
    context : Context
        With all stages finished.
    progress : Progress
        Told about this last step.
    changed : bool
        Whether any stage ran; if not and the publication is there, nothing is done.

    Returns
    -------
    RunResult

    Raises
    ------
    GateRefused
        When a gate does not hold; report and MLflow run are written all the same.
    """
    from nes_spark.examination import examine
    from nes_spark.figures_stages import component_figures, corpus_figures, status_figures
    from nes_spark.releases.publish_stages import (
        assemble,
        chosen_rewrites,
        ledger_rows,
        write_release,
    )
    from nes_spark.runner import RunResult
    from nes_spark.swapping import seed_fingerprint
    from nes_spark.swapping.ledger import write_ledger
    from nes_spark.swapping.stages import apply_must_change

    config, store = context.config, context.store
    progress.start("release", "choose, check, publish")
    started = time.perf_counter()
    store.recover("release")
    key = _key(context)
    done = store.manifest(PUBLICATION)
    if done is not None and done.key == key and not changed and store.exists("release"):
        progress.done("release", "published before (up to date)", 0.0)
        facts = done.details
        return RunResult(
            store.root,
            "unchanged",
            facts["figures"],
            facts["choice"],
            [Gate(**g) for g in facts["gates"]],
            store.path("report", "index.html"),
            facts["mlflow_run_id"],
            facts["seconds"],
        )

    candidates = store.read_pandas("candidates")
    choice = choose_release(candidates, config)
    combination = tuple(c for c in choice["combination"].split("+") if c)
    candidates["chosen"] = (
        (candidates["setting"] == choice["setting"])
        & (candidates["population"] == choice["population"])
        & (candidates["combination"] == choice["combination"])
        & (candidates["n_swaps"] == choice["n_swaps"])
        & (candidates["draw"].fillna(0) == choice["draw"])
    )
    models = context.models()
    model = models[choice["setting"]]
    choice["components"] = len(model.weights)

    chunks, documents = context.table("chunks"), context.table("documents")
    rewritten = chosen_rewrites(
        context.table("rewrites"),
        choice["setting"],
        choice["combination"],
        choice["n_swaps"],
        choice["draw"],
    ).cache()
    changed_chunks = apply_must_change(
        chunks, context.table("mentions"), config.releases.must_change
    )
    assembled = assemble(chunks, documents, changed_chunks, rewritten, context.secret).cache()
    swaps = context.table("swaps").where(
        f"setting = '{choice['setting']}' AND combination = '{choice['combination']}' "
        f"AND draw = {choice['draw']} AND `order` <= {choice['n_swaps']}"
    )
    if combination:
        store.write_table("status", _status(context, choice["setting"], combination, swaps), key)
        statuses = status_figures(context.table("status"))
    else:
        statuses = {"unpaired": store.manifest("chunks").rows}  # type: ignore[union-attr]

    figures = corpus_figures(
        documents, context.table("quarantine"), chunks, context.table("mentions")
    )
    found = figures["categories"]
    none = {"mentions": 0, "entities": 0, "chunks": 0}
    figures["categories"] = {c: found.get(c, none) for c in config.entities.categories}
    findings = examine(context, choice, candidates, rewritten, key)
    gates = _gates(context, choice, assembled, model, findings.audit)
    passed = all(gate.passed for gate in gates)

    store.remove("release.tmp")
    store.make_folder("release.tmp")
    files = write_release(assembled, figures["documents"], store.path("release.tmp"))
    record = {
        "name": config.name,
        "period": config.period,
        "method": "named entity swapping",
        "categories": statuses_of_categories(config, combination),
        "choice": {k: v for k, v in choice.items() if k not in ("candidates", "on_frontier")},
        "candidates": {"scored": choice["candidates"], "on_frontier": choice["on_frontier"]},
        "documents": figures["documents"],
        "chunks": figures["chunks"],
        "chunk_status": statuses,
        "gates": [asdict(gate) for gate in gates],
        "audit": findings.audit.record,
        **findings.record,
        "files": files,
        "seed_fingerprint": seed_fingerprint(context.secret),
        "configuration": config.fingerprint(*release_sections()),
        "code": code_version(),
    }
    language_models = language_model_results(store, files)
    if language_models:
        record["audit"]["language_models"] = language_models
    store.write_json(record, "release.tmp", "release.json")

    outcome = _Outcome(
        figures,
        candidates,
        choice,
        statuses,
        gates,
        findings,
        {
            stage_output: found.seconds
            for stage_output in [*TABLES, "embedder", "mixture"]
            if (found := store.manifest(stage_output))
        },
        models,
        component_figures(context.table("assignments"), assembled, choice["setting"]),
        language_models,
    )
    data = _report_data(context, outcome, rewritten, assembled)
    store.write_bytes(data.to_json().encode(), *REPORT_DATA, mode=0o600)
    run_id = None
    with TemporaryDirectory(prefix="nes-spark-") as temporary:
        folder = Path(temporary) / "report"
        write_report(store, data, folder)
        if config.tracking.enabled:
            run_id = _track(context, outcome, folder)
    report = store.path("report", "index.html")
    store.write_bytes(
        config.model_dump_json(indent=2).encode(), "stages", "config.json", mode=0o600
    )
    if not passed:
        store.remove("release.tmp")
        rewritten.unpersist()
        assembled.unpersist()
        refused = "; ".join(f"{g.name}: {g.detail}" for g in gates if not g.passed)
        raise GateRefused(f"release not published: {refused}. Report: {report}")
    write_ledger(
        store, ledger_rows(assembled, chunks), config.ledger, choice=choice, seed=context.secret
    )
    store.move("release.tmp", "release")
    rewritten.unpersist()
    assembled.unpersist()
    details = {
        "figures": figures,
        "choice": choice,
        "gates": [asdict(gate) for gate in gates],
        "mlflow_run_id": run_id,
        "seconds": outcome.seconds,
        "statuses": statuses,
        "audit": record["audit"],
        "configuration": record["configuration"],
        "name": config.name,
        "period": config.period,
    }
    store.write_artifact(PUBLICATION, key, lambda _: details)
    progress.done(
        "release",
        f"{figures['chunks']:,} chunks in {len(files)} files, {len(gates)} gates passed",
        time.perf_counter() - started,
    )
    return RunResult(
        store.root, "published", figures, choice, gates, report, run_id, outcome.seconds
    )


def language_model_results(store: Store, files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what language models answered about a release with these very files, if anything."""
    from nes_spark.examination import LANGUAGE_MODELS

    found = store.read_json(*LANGUAGE_MODELS)
    return found["models"] if found is not None and found["files"] == files else []


def write_report(store: Store, data: ReportData, folder: Path) -> None:
    """Build a report in a local folder and put it in the place of the last one."""
    from nes_spark.report import build_report

    build_report(data, folder)
    store.remove("report")
    for file in sorted(p for p in folder.rglob("*") if p.is_file()):
        store.write_bytes(file.read_bytes(), "report", *file.relative_to(folder).parts)


def release_sections() -> list[str]:
    """Sections that decide what a release holds (not where it goes or how it is shown)."""
    return [
        name
        for name in Config.model_fields
        if name not in ("name", "input", "output", "spark", "tracking", "report", "seed", "ledger")
    ]


def statuses_of_categories(config: Config, combination: tuple[str, ...]) -> dict[str, str]:
    """S, F, C or U of every category (paper, section 2.3)."""
    releases = config.releases
    return {
        category: "S"
        if category in combination
        else "C"
        if category in releases.must_change
        else "F"
        if category in releases.fixed
        else "U"
        for category in config.entities.categories
    }


def _gates(
    context: Context,
    choice: dict[str, Any],
    assembled: DataFrame,
    model: Any,
    audit: Audit,
) -> list[Gate]:
    from nes_spark.releases.publish_stages import identifiers_left

    config = context.config
    bounds = config.gates
    leaks = identifiers_left(
        assembled, context.table("chunks"), context.table("documents"), config.identifiers
    ).collect()
    accepted = set(bounds.accept_identifiers)
    open_leaks = [row for row in leaks if not {row["kind"], row["rule"]} & accepted]
    listed, tolerated = (
        ", ".join(f"{row['n']} {row['kind']} ({row['rule']})" for row in rows)
        for rows in (open_leaks, [row for row in leaks if row not in open_leaks])
    )
    gates = [
        Gate(
            "direct identifiers",
            not open_leaks,
            f"still found: {listed}"
            if open_leaks
            else "none of a text's own document" + (f"; accepted: {tolerated}" if leaks else ""),
        ),
        Gate(
            "mixture",
            bool(model.converged) or config.mixture.on_no_convergence == "accept",
            f"{choice['setting']} converged after {model.n_iter} iterations"
            if model.converged
            else f"{choice['setting']} did not converge in {model.n_iter} iterations; raise "
            "mixture.max_iter or choose fewer components",
        ),
    ]
    if choice["combination"]:
        fits = context.store.read_pandas("risk_fits")
        (fit,) = fits[fits["combination"] == choice["combination"]].to_dict("records")
        gates.append(
            Gate(
                "risk fit",
                bool(fit["converged"]),
                f"theta = {fit['theta']:.4g}, alpha = {fit['alpha']:.4g}"
                if fit["converged"]
                else f"no estimate: {fit['reason']}",
            )
        )
    gates.append(
        Gate(
            "swaps",
            choice["n_swaps"] >= bounds.min_swaps,
            f"{choice['n_swaps']} made, at least {bounds.min_swaps} asked for",
        )
    )
    if bounds.max_linkage_accuracy is not None:
        found = audit.accuracy
        gates.append(
            Gate(
                "linkage adversary",
                found is not None and found <= bounds.max_linkage_accuracy,
                "no swapped chunk to attack"
                if found is None
                else f"names {found:.1%} of swapped chunks after, bound "
                f"{bounds.max_linkage_accuracy:.1%}",
            )
        )
    return gates


def tracker_of(config: Config, store: Store) -> Tracker:
    """Open the tracking store of a run; by default it lies beside the run folders."""
    from nes_spark.tracking import Tracker

    folder = store.local_path("..").resolve() if store.is_local else Path.cwd()
    return Tracker(config.tracking.uri, config.tracking.experiment, folder)


def _track(context: Context, outcome: _Outcome, report: Path) -> str:
    """Record the run in MLflow."""
    from nes_spark.mixture.flavor import log_model
    from nes_spark.swapping import seed_fingerprint
    from nes_spark.tracking import parameters

    config, store = context.config, context.store
    figures, candidates, choice = outcome.figures, outcome.candidates, outcome.choice
    model = outcome.model
    tracker = tracker_of(config, store)
    passed = all(gate.passed for gate in outcome.gates)
    tags = {
        "period": config.period or "all",
        "configuration": config.fingerprint(*release_sections())[:12],
        "seed": seed_fingerprint(context.secret),
        "code": code_version(),
        "combination": choice["combination"] or "none",
        "setting": choice["setting"],
        "gates": "passed" if passed else "refused",
    }
    name = f"{config.name} {config.period or ''}".strip()
    mine = candidates[
        (candidates["setting"] == choice["setting"])
        & (candidates["population"] == choice["population"])
    ]
    with tracker.run(name, tags) as tracked:
        tracked.parameters(parameters(config))
        tracked.metrics(
            {
                "release/DR": choice["DR"],
                "release/DU": choice["DU"],
                "release/r": choice["r"],
                "release/swaps": choice["n_swaps"],
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
                **outcome.findings.metrics,
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
        tracked.table(mine[mine["on_frontier"]], "tables/frontier.json")
        tracked.table(candidates, "tables/candidates.json")
        tracked.table(fits.drop(columns="sizes"), "tables/risk_fits.json")
        for name in ("options", "attacks", "recoding"):
            if (found := getattr(outcome.findings, name)) is not None:
                tracked.table(found, f"tables/{name}.json")
        tracked.folder(report, "report")
        with warnings.catch_warnings():  # MLflow asks for an example of the input: it would be data
            warnings.simplefilter("ignore")
            log_model(model, "mixture")
        _track_grid(context, tracker, tracked, candidates, fits)
        if (record := store.read_bytes("release.tmp", "release.json")) is not None:
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
    from nes_spark.releases.plots import plot_grid

    keys = candidates[["setting", "population"]].drop_duplicates().itertuples(index=False)
    spaces = [(str(setting), float(population)) for setting, population in keys]
    if len(spaces) < 2:
        return
    mixture = context.store.manifest("mixture")
    assert mixture is not None
    settings = mixture.details["settings"]
    converged = {name: bool(found["converged"]) for name, found in settings.items()}
    for setting, population in spaces:
        space = candidates[
            (candidates["setting"] == setting) & (candidates["population"] == population)
        ]
        found = settings[setting]
        tags = {
            "setting": setting,
            "population": f"{population:g}",
            "converged": str(found["converged"]).lower(),
        }
        with tracker.run(f"{setting} N={population:g}", tags, parent=tracked.run_id) as child:
            child.parameters({"setting": setting, "population": f"{population:g}"})
            child.metrics(
                {
                    "mixture/converged": int(found["converged"]),
                    "mixture/iterations": found["n_iter"],
                    "mixture/components": found["components"],
                    "mixture/log_likelihood": found["log_likelihood"],
                    "frontier/releases": int(space["on_frontier"].sum()),
                }
            )
            child.curves(space)
            child.table(space[space["on_frontier"]], "tables/frontier.json")
    ratios = fits.assign(s1_ratio=fits["s1"] / fits["n"])
    tracked.table(ratios[["combination", "theta", "alpha", "s1_ratio"]], "tables/ewens_pitman.json")
    with TemporaryDirectory(prefix="nes-spark-") as folder:
        figure = plot_grid(candidates, converged)
        figure.savefig(Path(folder) / "risk_utility_grid.png", dpi=110)
        tracked.folder(Path(folder), "figures")


def _report_data(
    context: Context, outcome: _Outcome, rewritten: DataFrame, assembled: DataFrame
) -> ReportData:
    from nes_spark.mixture.selection import compare
    from nes_spark.releases.publishing import release_chunk_id
    from nes_spark.report import ReportData
    from nes_spark.report.data import ComponentRow
    from nes_spark.risk import p_hat_table
    from nes_spark.swapping import seed_fingerprint

    config, store, choice = context.config, context.store, outcome.choice
    findings, model = outcome.findings, outcome.model
    fits = store.read_pandas("risk_fits")
    exchanged: list[tuple[str, str, str, int]] = []
    examples: list[Any] = []
    identified: list[Identified] = []
    excerpts: dict[str, str] = {}
    if config.report.examples:
        exchanged, examples = _examples(context, rewritten, choice["setting"])
        if findings.audit.results:
            identified = _identified(context, assembled)
        excerpts = _excerpts(context, outcome.components)
    components = [
        ComponentRow(
            component=k,
            weight=float(model.weights[k]),
            concentration=float(model.concentrations[k]),
            capped=k in model.capped,
            chunks=int(row["chunks"]),
            documents=int(row["documents"]),
            effective_documents=float(row["effective_documents"]),
            typical=tuple(
                (
                    release_chunk_id(t["release_document_id"], t["position"]),
                    excerpts.get(t["chunk_id"], ""),
                )
                for t in row["typical"]
            ),
        )
        for row in outcome.components.to_dict("records")
        for k in [int(row["component"])]
    ]
    combination = tuple(c for c in choice["combination"].split("+") if c)
    line = (config.choice.slope, config.choice.offset) if config.choice.rule == "line" else None
    embedder = store.manifest("embedder")
    return ReportData(
        name=config.name,
        period=config.period,
        figures=outcome.figures,
        candidates=outcome.candidates,
        choice=choice,
        categories=statuses_of_categories(config, combination),
        risk_fits=fits,
        p_hats=p_hat_table(fits, config.risk.population),
        components=components,
        statuses=outcome.statuses,
        gates=outcome.gates,
        seconds=outcome.seconds,
        rows={name: found.rows for name in TABLES if (found := store.manifest(name))},
        provenance={
            "configuration": config.fingerprint(*release_sections())[:12],
            "seed fingerprint": seed_fingerprint(context.secret),
            "code": code_version(),
            "recogniser": config.entities.recognizer,
            "embedding model": str((embedder.details if embedder else {}).get("model_id")),
            "mixture": choice["setting"],
        },
        key_location=store.path("sealed"),
        key_encrypted=config.ledger.encrypt,
        audit=[r.to_dict() for r in findings.audit.results] + outcome.language_models,
        partners=findings.audit.partners.to_dict() if findings.audit.partners else None,
        identified=identified,
        selection=[asdict(row) for row in compare(outcome.models)],
        agreement=findings.agreement,
        variation=findings.variation,
        tasks=findings.tasks,
        recoding=findings.recoding,
        options=findings.options,
        attacks=findings.attacks,
        secret_name=config.input.columns.metadata.replace("_", " "),
        choice_line=line,
        exchanged=exchanged,
        examples=examples,
    )


MAX_EXAMPLES = 12


def _examples(
    context: Context, rewritten: DataFrame, setting: str
) -> tuple[list[tuple[str, str, str, int]], list[Any]]:
    """Entities exchanged most often and some pairs of chunks; only where examples are allowed."""
    from pyspark.sql import functions as F

    from nes_spark.report.data import Example, ExampleSide, edits_of

    counted = (
        rewritten.select(F.explode("edits").alias("e"))
        .where("e.old_entity <> '' AND e.new_entity <> ''")
        .groupBy("e.category", "e.old_entity", "e.new_entity")
        .count()
        .orderBy(F.col("count").desc(), "category", "old_entity", "new_entity")
        .limit(20)
        .collect()
    )
    exchanged = [
        (row["category"], row["old_entity"], row["new_entity"], int(row["count"]))
        for row in counted
    ]
    pairs = rewritten.where("chunk_id < partner_id").orderBy("order").limit(MAX_EXAMPLES)
    partners = rewritten.select(
        F.col("chunk_id").alias("partner_id"), F.col("edits").alias("partner_edits")
    )
    texts = context.table("chunks").select("chunk_id", "text")
    components = (
        context.table("assignments")
        .where(F.col("setting") == setting)
        .select("chunk_id", "component")
    )
    shown = (
        pairs.select("order", "chunk_id", "partner_id", "edits")
        .join(partners, "partner_id")
        .join(texts.withColumnRenamed("text", "first"), "chunk_id")
        .join(
            texts.select(F.col("chunk_id").alias("partner_id"), F.col("text").alias("second")),
            "partner_id",
        )
        .join(components, "chunk_id")
        .orderBy("order")
        .collect()
    )
    examples = [
        Example(
            int(row["component"]),
            ExampleSide(row["first"], edits_of(e.asDict() for e in row["edits"])),
            ExampleSide(row["second"], edits_of(e.asDict() for e in row["partner_edits"])),
        )
        for row in shown
    ]
    return exchanged, examples


#: Letters of a typical chunk, and chunks still identified, that the report shows at most.
EXCERPT = 240
MAX_IDENTIFIED = 40


def _excerpts(context: Context, components: pd.DataFrame) -> dict[str, str]:
    """Return the beginning of the most typical chunks; only where examples are allowed."""
    from pyspark.sql import functions as F

    wanted = [chunk["chunk_id"] for row in components["typical"] for chunk in row]
    found = context.table("chunks").where(F.col("chunk_id").isin(wanted))
    return {
        row["chunk_id"]: row["start"]
        for row in found.select(
            "chunk_id", F.substring("text", 1, EXCERPT).alias("start")
        ).collect()
    }


def _identified(context: Context, assembled: DataFrame) -> list[Identified]:
    """List swapped chunks that an adversary still names, with the entities that gave them away."""
    from pyspark.sql import functions as F

    from nes_spark.releases.publishing import release_chunk_id
    from nes_spark.report.data import Identified

    rows = (
        context.table("predictions")
        .where("side = 'post' AND correct AND model = 'linkage'")
        .groupBy("chunk_id", "answer")
        .agg(F.count(F.lit(1)).alias("times"), F.max_by("evidence", "draw").alias("evidence"))
        .join(assembled.select("chunk_id", "release_document_id", "position"), "chunk_id")
        .orderBy(F.col("times").desc(), "release_document_id", "position")
        .limit(MAX_IDENTIFIED)
        .collect()
    )
    return [
        Identified(
            release_chunk_id(row["release_document_id"], row["position"]),
            row["answer"],
            tuple(row["evidence"]),
        )
        for row in rows
    ]
