"""From a run's tables to the report: small tables, counts and, where allowed, examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nes_spark.audit.adversaries import LINKAGE
from nes_spark.releases.space import statuses_of
from nes_spark.run.outcome import Outcome, release_sections
from nes_spark.run.pipeline import populations
from nes_spark.run.result import milder_for, steps_for
from nes_spark.schemas import TABLES
from nes_spark.store import Store
from nes_spark.versions import code_version

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

    from nes_spark.report import ReportData
    from nes_spark.report.data import Identified, ReviewRow
    from nes_spark.report.figures import Drawing
    from nes_spark.run.context import Context

#: What the report is made of, kept so that an audit can add to it. As secret as the tables.
REPORT_DATA = ("stages", "report.json")


def language_model_results(store: Store, files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what language models answered about a release with these very files, if anything."""
    from nes_spark.run.findings import LANGUAGE_MODELS

    found = store.read_json(*LANGUAGE_MODELS)
    return found["models"] if found is not None and found["files"] == files else []


#: The report with texts and names, where the configuration asks for one; owner only.
SEALED_REPORT = ("sealed", "report.html")
#: Chunks to read first, without and with texts: neither is tracked.
REVIEW_PAGE = "review.html"
SEALED_REVIEW = ("sealed", REVIEW_PAGE)


def write_report(
    store: Store, data: ReportData, folder: Path, drawings: Mapping[str, Drawing] | None = None
) -> None:
    """Build a report in a local folder and put it in the place of the last one.

    No text and no name stands in it, whatever `data` holds: the report may be shown and is
    tracked. What holds some becomes a second page beside the ledger. `drawings` are those of
    :func:`nes_spark.report.page.draw_figures`, where they are drawn already.
    """
    from nes_spark.report import build_report
    from nes_spark.report.page import draw_figures, review_page

    bare = data.without_texts()
    drawings = draw_figures(bare) if drawings is None else drawings
    build_report(bare, folder, drawings)
    store.remove("report")
    for file in sorted(p for p in folder.rglob("*") if p.is_file()):
        store.write_bytes(file.read_bytes(), "report", *file.relative_to(folder).parts)
    if data.review:
        # Not into the folder, which goes to MLflow.
        store.write_bytes(review_page(bare).encode(), "report", REVIEW_PAGE)
    store.remove(*SEALED_REPORT)
    store.remove(*SEALED_REVIEW)
    if any(row.text for row in data.review):
        store.write_bytes(review_page(data).encode(), *SEALED_REVIEW, mode=0o600)
    if data.holds_texts:
        with store.temporary() as temporary:
            page = build_report(data, temporary / "sealed", drawings)
            store.write_bytes(page.read_bytes(), *SEALED_REPORT, mode=0o600)


def report_data(
    context: Context, outcome: Outcome, rewritten: DataFrame, assembled: DataFrame
) -> ReportData:
    """Gather what the report shows; texts and names only where examples are allowed."""
    from nes_spark.mixture.selection import compare
    from nes_spark.releases.publishing import release_chunk_id
    from nes_spark.report import ReportData
    from nes_spark.report.data import ComponentRow
    from nes_spark.risk import p_hat_table
    from nes_spark.risk.tables import PAPER_POPULATIONS, stays_unique_table
    from nes_spark.swapping import seed_fingerprint

    config, store, choice = context.config, context.store, outcome.choice
    findings, model = outcome.findings, outcome.model
    fits = store.read_pandas("risk_fits")
    sizes = sorted({*populations(context), *PAPER_POPULATIONS})
    exchanged: list[tuple[str, str, str, int]] = []
    examples: list[Any] = []
    identified: list[Identified] = []
    excerpts: dict[str, str] = {}
    if config.report.examples:
        exchanged, examples = _examples(context, rewritten, choice.setting)
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
    line = (config.choice.slope, config.choice.offset) if config.choice.rule == "line" else None
    embedder = store.manifest("embedder")
    return ReportData(
        name=config.name,
        period=config.period,
        figures=outcome.figures,
        candidates=outcome.candidates,
        choice=choice,
        categories=statuses_of(config.entities.categories, choice.combination, config.releases),
        risk_fits=fits,
        p_hats=p_hat_table(fits, sizes),
        stays=stays_unique_table(fits, sizes),
        components=components,
        statuses=outcome.statuses,
        gates=outcome.gates,
        seconds=outcome.seconds,
        taken={
            name: f"{t.share} from an earlier run" for name, t in outcome.taken.items() if t.units
        },
        rows=_rows(store),
        provenance={
            "configuration": config.fingerprint(*release_sections())[:12],
            "seed fingerprint": seed_fingerprint(context.secret),
            "code": code_version(),
            "recogniser": config.entities.recognizer,
            "embedding model": str((embedder.details if embedder else {}).get("model_id")),
            "mixture": choice.setting,
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
        linking=findings.linking,
        options=findings.options,
        attacks=findings.attacks,
        secret_name=config.input.columns.metadata.replace("_", " "),
        choice_line=line,
        measured=outcome.measured,
        coverage=outcome.coverage,
        utility=outcome.utility,
        exchanged=exchanged,
        examples=examples,
        alone=config.output.publish == "chunks",
        hide_more=_hide_more(context, outcome),
        keep_more=_keep_more(context, outcome),
        review=[] if outcome.measured is None else _review(context, assembled),
    )


def with_last_words(context: Context, data: ReportData, outcome: Outcome) -> ReportData:
    """Return the report's data with what is known when all gates were asked."""
    return replace(data, gates=outcome.gates, seconds=outcome.seconds, rows=_rows(context.store))


def _rows(store: Store) -> dict[str, int]:
    return {name: found.rows for name in TABLES if (found := store.manifest(name))}


def _hide_more(context: Context, outcome: Outcome) -> list[tuple[str, str]]:
    """What would hide more, where much can be named."""
    from nes_spark.audit.measured import chunks_named, strongest

    if outcome.measured is None:
        return []
    documents, chunks = strongest(outcome.measured), chunks_named(outcome.measured)
    return [(s.options, s.what) for s in steps_for(context.config, documents, chunks)]


def _keep_more(context: Context, outcome: Outcome) -> list[tuple[str, str]]:
    """What would leave more of the meaning, where little is left."""
    from nes_spark.run.judging import utility_record

    if outcome.utility is None:
        return []
    found = milder_for(context.config, utility_record(outcome.utility))
    return [(s.options, s.what) for s in found]


def _examples(
    context: Context, rewritten: DataFrame, setting: str
) -> tuple[list[tuple[str, str, str, int]], list[Any]]:
    """Entities exchanged most often and some pairs of chunks; only where examples are allowed."""
    from pyspark.sql import functions as F

    from nes_spark.report.data import MAX_EXAMPLES, Example, ExampleSide, edits_of

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


def _review(context: Context, assembled: DataFrame) -> list[ReviewRow]:
    """List the chunks that attackers still name; how they begin only where examples are allowed."""
    from collections import Counter

    from pyspark.sql import functions as F

    from nes_spark.audit.review import KINDS, kind_of
    from nes_spark.releases.publishing import release_chunk_id
    from nes_spark.report.data import ReviewRow

    found = context.store.read_pandas("review").sort_values("place").to_dict("records")
    wanted = F.col("chunk_id").isin([row["chunk_id"] for row in found])
    released = {
        row["chunk_id"]: row
        for row in assembled.where(wanted)
        .select(
            "chunk_id",
            "release_document_id",
            "position",
            "edits",
            F.substring("text", 1, EXCERPT).alias("text"),
        )
        .collect()
    }
    kept: dict[str, Counter[str]] = {}
    mentions = context.table("mentions").where(wanted)
    for chunk, start, end, category in mentions.select(
        "chunk_id", "start", "end", "category"
    ).collect():
        edits = released[chunk]["edits"] or ()
        if not any(edit["start"] < end and start < edit["end"] for edit in edits):
            kept.setdefault(chunk, Counter())[category] += 1
    allowed = context.config.report.examples
    everyone = sorted({attacker for row in found for attacker in row["left_out"]})
    rows = []
    for row in found:
        kinds = {kind_of(attacker) for attacker in row["left_out"]}
        shown = released[row["chunk_id"]]
        rows.append(
            ReviewRow(
                release_chunk_id(shown["release_document_id"], shown["position"]),
                [kind for kind in KINDS if kind in kinds],
                len(row["left_out"]),
                len(row["confident"]),
                len(row["known"]),
                dict(sorted(kept.get(row["chunk_id"], Counter()).items())),
                shown["text"] if allowed else "",
                [attacker for attacker in everyone if attacker not in row["left_out"]],
            )
        )
    return rows


def _identified(context: Context, assembled: DataFrame) -> list[Identified]:
    """List swapped chunks that an adversary still names, with the entities that gave them away."""
    from pyspark.sql import functions as F

    from nes_spark.releases.publishing import release_chunk_id
    from nes_spark.report.data import Identified

    rows = (
        context.table("predictions")
        .where((F.col("side") == "post") & F.col("correct") & (F.col("model") == LINKAGE))
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
