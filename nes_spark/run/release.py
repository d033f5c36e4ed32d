"""The last step of a run: choose, put together, examine, audit, report, record, publish, seal.

Order matters. The ledger is sealed before the release goes out, so that no release exists that its
owner cannot undo; the release is moved to its place last, after the record of it was written.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pandas as pd

from nes_spark.config import Config
from nes_spark.errors import EstimationError, GateRefused
from nes_spark.logs import Progress
from nes_spark.releases.publishing import Gate
from nes_spark.releases.space import statuses_of
from nes_spark.run.mlflow_run import track
from nes_spark.run.outcome import Outcome, release_sections
from nes_spark.run.pipeline import STAGES
from nes_spark.run.report_data import (
    REPORT_DATA,
    language_model_results,
    report_data,
    write_report,
)
from nes_spark.run.result import RunResult
from nes_spark.schemas import TABLES
from nes_spark.store import combine, input_fingerprint
from nes_spark.versions import code_version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from nes_spark.run.context import Context
    from nes_spark.run.findings import Audit

#: Sections that decide what is published although no table depends on them.
SECTIONS = ("choice", "gates", "ledger", "audit", "utility", "report", "tracking")
#: The same for what the adversaries find: another gate lets their guesses stand.
ATTACKED = ("choice", "releases", "audit")
PUBLICATION = "publication"


def _keys(context: Context) -> tuple[str, str]:
    """Digests of what the publication depends on, and of what its attacks depend on."""
    names = [name for stage in STAGES for name in stage.gives]
    contents = [found.content for name in names if (found := context.store.manifest(name))]
    reference = context.config.audit.reference
    known = input_fingerprint(context.spark, [reference]) if reference else ""

    def key(sections: Sequence[str]) -> str:
        return combine(code_version(), context.config.fingerprint(*sections), known, *contents)

    return key(SECTIONS), key(ATTACKED)


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
    from nes_spark.releases import combinations_of
    from nes_spark.run.figures_stages import status_figures

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
    from nes_spark.run.pipeline import sampling_tables
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
    from pyspark import StorageLevel

    from nes_spark.releases.publish_stages import (
        assemble,
        chosen_rewrites,
        ledger_rows,
        write_release,
    )
    from nes_spark.run.figures_stages import component_figures, corpus_figures, status_figures
    from nes_spark.run.findings import audit_release, examine
    from nes_spark.swapping import seed_fingerprint
    from nes_spark.swapping.ledger import write_ledger
    from nes_spark.swapping.stages import apply_must_change

    config, store = context.config, context.store
    progress.start("release", "choose, check, publish")
    started = time.perf_counter()
    store.recover("release")
    key, attacked = _keys(context)
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
    assembled = assemble(chunks, documents, changed_chunks, rewritten, context.secret)
    # All texts: on disk only, the heap is for the searches.
    assembled = assembled.persist(StorageLevel.DISK_ONLY)
    swaps = context.table("swaps").where(
        f"setting = '{choice['setting']}' AND combination = '{choice['combination']}' "
        f"AND draw = {choice['draw']} AND `order` <= {choice['n_swaps']}"
    )
    with progress.part("release", "status", "account for every chunk"):
        if combination:
            status = _status(context, choice["setting"], combination, swaps)
            store.write_table("status", status, key)
            statuses = status_figures(context.table("status"))
        else:
            statuses = {"unpaired": store.manifest("chunks").rows}  # type: ignore[union-attr]

        figures = corpus_figures(
            documents, context.table("quarantine"), chunks, context.table("mentions")
        )
    found = figures["categories"]
    none = {"mentions": 0, "entities": 0, "chunks": 0}
    figures["categories"] = {c: found.get(c, none) for c in config.entities.categories}
    with progress.part("release", "attacks", "let the adversaries try"):
        audit = audit_release(context, choice, attacked, again=changed)
    with progress.part("release", "measures", "what else the configuration asks for"):
        findings = examine(context, choice, candidates, rewritten, audit, key)
    with progress.part("release", "gates", "search for identifiers, check the bounds"):
        gates = _gates(context, choice, _leaks(context, assembled, key), model, audit)
    passed = all(gate.passed for gate in gates)

    store.remove("release.tmp")
    store.make_folder("release.tmp", mode=0o700)
    with progress.part("release", "texts", "write the released chunks"):
        files = write_release(assembled, figures["documents"], store.path("release.tmp"))
    record = {
        "name": config.name,
        "period": config.period,
        "method": "named entity swapping",
        "categories": statuses_of(config.entities.categories, combination, config.releases),
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

    outcome = Outcome(
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
    run_id = None
    with (
        progress.part("release", "report", "gather, draw, track"),
        store.temporary() as temporary,
    ):
        data = report_data(context, outcome, rewritten, assembled)
        store.write_bytes(data.to_json().encode(), *REPORT_DATA, mode=0o600)
        folder = temporary / "report"
        write_report(store, data, folder)
        if config.tracking.enabled:
            run_id = track(context, outcome, folder)
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
    with progress.part("release", "ledger", "seal the key"):
        rows = ledger_rows(assembled, chunks)
        write_ledger(store, rows, config.ledger, choice=choice, seed=context.secret)
    store.move("release.tmp", "release", mode=0o755)
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


def _leaks(context: Context, assembled: DataFrame, key: str) -> list[dict[str, Any]]:
    """List the identifiers that are left in table ``leaks``; return their kinds, rules, counts."""
    from pyspark.sql import functions as F

    from nes_spark.releases.publish_stages import identifiers_left
    from nes_spark.text.stages import index_identifiers

    identifiers = context.config.identifiers
    index = index_identifiers(context.table("documents"), identifiers)
    try:
        left = identifiers_left(assembled, context.table("chunks"), index, identifiers)
        context.store.write_table("leaks", left, key)
    finally:
        index.drop()
    counted = context.table("leaks").groupBy("kind", "rule").agg(F.sum("n").alias("n"))
    return [row.asDict() for row in counted.orderBy("kind", "rule").collect()]


def _gates(
    context: Context,
    choice: dict[str, Any],
    leaks: list[dict[str, Any]],
    model: Any,
    audit: Audit,
) -> list[Gate]:
    config = context.config
    bounds = config.gates
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
            f"still found: {listed}; where: table leaks"
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
