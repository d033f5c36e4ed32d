"""The last step of a run: choose, assemble, attack, write aside, check, record, seal, move.

Order matters. The ledger is sealed before the release goes out, so that no release exists that its
owner cannot undo; the release is moved to its place last, after the record of it was written.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from nes_spark.entities.recognizers import GIVEN
from nes_spark.errors import GateRefused, InputError
from nes_spark.logs import Progress
from nes_spark.plain import plain
from nes_spark.releases.choice import Choice
from nes_spark.releases.publishing import CHUNKS_PER_PART, Gate, count_parts
from nes_spark.releases.space import statuses_of
from nes_spark.risk.tables import comparable_population, p_hat_table
from nes_spark.run.ahead import begin
from nes_spark.run.choice import choose_release, chosen_space, measured_candidates, scores_of_choice
from nes_spark.run.context import Context, finished
from nes_spark.run.earlier import taken_by
from nes_spark.run.findings import (
    Audit,
    Findings,
    audit_release,
    compare_release,
    examine,
    foreign_documents,
    many_alone,
)
from nes_spark.run.gates import Evidence, check_gates, refused_leaks
from nes_spark.run.judging import judge_chosen, utility_record
from nes_spark.run.listed import LEAKING, list_leaking, withheld_chunks
from nes_spark.run.measuring import measure_release
from nes_spark.run.mlflow_run import draw_grid_ahead, track
from nes_spark.run.outcome import Outcome, release_sections
from nes_spark.run.pipeline import STAGES, sampling_tables
from nes_spark.run.published import CONFIGURATION, PROPOSAL, PUBLICATION, PublishedRun
from nes_spark.run.report_data import (
    REPORT_DATA,
    language_model_results,
    report_data,
    with_last_words,
    write_report,
)
from nes_spark.run.result import RunResult, milder_for, steps_for
from nes_spark.run.verifying import files_digest, record_digest, verify_release
from nes_spark.schemas import TABLES
from nes_spark.store import UNFINISHED as ASIDE
from nes_spark.store import combine, input_fingerprint
from nes_spark.swapping.summaries import A_SUMMARY
from nes_spark.versions import code_digest, code_version

if TYPE_CHECKING:
    from concurrent.futures import Future

    import pandas as pd
    from pyspark.sql import DataFrame

    from nes_spark.entities.combination import Combination
    from nes_spark.mixture import MixtureModel
    from nes_spark.report import ReportData
    from nes_spark.report.figures import Drawing

LOGGER = logging.getLogger(__name__)

#: Sections that decide what is published although no table depends on them.
SECTIONS = ("choice", "gates", "ledger", "audit", "utility", "report", "tracking")
#: Sections that decide what the adversaries find. A change of gates alone repeats no attack.
ATTACKED = ("choice", "releases", "swapping", "audit")
#: The registry names attacks as strings. No import leads to their code, so it is named here.
ATTACKS = "nes_spark.audit.attack_stages"
#: What the publication is made of, and what its attacks are.
CODE_OF_RELEASE = ("nes_spark.run.release", ATTACKS)
CODE_OF_ATTACKS = ("nes_spark.run.findings:audit_release", ATTACKS)


def _keys(context: Context) -> tuple[str, str]:
    """Digests of what the publication depends on, and of what its attacks depend on."""
    names = [name for stage in STAGES for name in stage.gives]
    contents = [found.content for name in names if (found := context.store.manifest(name))]
    audit = context.config.audit
    known = combine(
        *(
            input_fingerprint(context.spark, [p]) if p else ""
            for p in (audit.reference, audit.background, audit.public_words)
        )
    )

    def key(code: Sequence[str], sections: Sequence[str]) -> str:
        return combine(code_digest(*code), context.config.fingerprint(*sections), known, *contents)

    # What is written where is no matter of the stages; as it was always, it changes no key.
    output = context.config.output.model_dump(exclude={"directory", "reuse"}, exclude_defaults=True)
    published = key(CODE_OF_RELEASE, SECTIONS)
    if output:
        published = combine(published, json.dumps(output, sort_keys=True))
    if withheld := context.config.output.withhold:
        published = combine(published, input_fingerprint(context.spark, [withheld]))
    if context.config.output.instead == A_SUMMARY:
        published = combine(published, context.config.releases.summary.model_dump_json())
    return published, key(CODE_OF_ATTACKS, ATTACKED)


def explain_no_swaps(context: Context) -> str:
    """Say per combination why no pair of chunks is valid, from the status of every chunk."""
    from nes_spark.releases import combinations_of
    from nes_spark.run.figures_stages import status_figures

    setting = sorted(context.models())[0]
    parts = []
    for combination in combinations_of(context.config.releases):
        status = _status(context, setting, combination, None)
        counts = ", ".join(f"{n} chunks {name}" for name, n in status_figures(status).items())
        parts.append(f"{combination.name}: {counts}")
    return (
        "; ".join(parts)
        + ". Give more documents, fewer components (mixture.n_components) or other categories "
        "(releases.swap)"
    )


def _status(
    context: Context, setting: str, combination: Combination, swaps: DataFrame | None
) -> DataFrame:
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


@dataclass
class Publication:
    """A release on its way out: what each of the steps below adds to it.

    Attributes
    ----------
    context : Context
        Of a run whose stages are finished.
    progress : Progress
        Told about every part.
    key, attack_key : str
        Digests of what the publication, and its attacks, depend on.
    again : bool
        Whether to attack although the guesses of an earlier try are there.
    candidates : pandas.DataFrame
        Table ``candidates``, the chosen one marked.
    choice : Choice
        The release.
    models : dict
        Setting -> fitted mixture.
    rewritten, assembled : pyspark.sql.DataFrame
        Rows of ``rewrites`` that the release is made of; every chunk as it is released. Persisted
        until :meth:`free`.
    exchanged : pyspark.sql.DataFrame or None
        The latter before anything was withheld or summarised; None where nothing is listed.
    figures, statuses : dict
        Counts of the corpus; status -> chunks.
    audit, findings : Audit, Findings
        What the adversaries reached; what else was found out.
    measured : pandas.DataFrame or None
        Table ``measured``: documents named, before and after; None where it was not measured.
    coverage : pandas.DataFrame or None
        Table ``coverage`` of plan ``whole``.
    utility : pandas.DataFrame or None
        Table ``utility``: what the release cost, beside anchors; None where the judge is off.
    files : list of dict
        ``file, rows, sha256`` of every file of the release.
    language_models : list of dict
        What language models answered about a release with these very files.
    gates : list of Gate
        What was checked.
    leaking : int
        Chunks in which an identifier of their own document is left.
    record : dict
        What release.json says.
    outcome : Outcome
        All that report and MLflow are made of.
    drawn : Future or None
        What the report shows but for what is known last, and its figures, where both are made while
        the gates are asked.
    run_id : str or None
        The MLflow run.
    """

    context: Context
    progress: Progress
    key: str
    attack_key: str
    again: bool
    candidates: pd.DataFrame = field(init=False)
    choice: Choice = field(init=False)
    models: dict[str, MixtureModel] = field(init=False)
    rewritten: DataFrame = field(init=False)
    assembled: DataFrame = field(init=False)
    exchanged: DataFrame | None = None
    figures: dict[str, Any] = field(init=False)
    statuses: dict[str, int] = field(init=False)
    audit: Audit = field(init=False)
    findings: Findings = field(init=False)
    measured: pd.DataFrame | None = field(init=False)
    coverage: pd.DataFrame | None = None
    utility: pd.DataFrame | None = None
    files: list[dict[str, Any]] = field(init=False)
    language_models: list[dict[str, Any]] = field(init=False)
    gates: list[Gate] = field(init=False)
    leaking: int = 0
    record: dict[str, Any] = field(init=False)
    outcome: Outcome = field(init=False)
    drawn: Future[tuple[Outcome, ReportData, dict[str, Drawing]]] | None = None
    run_id: str | None = None
    _held: list[DataFrame] = field(default_factory=list, repr=False)

    def hold(self, frame: DataFrame, on_disk: bool = False) -> DataFrame:
        """Persist a frame until :meth:`free`; `on_disk` leaves the heap to searches."""
        from pyspark import StorageLevel

        kept = frame.persist(StorageLevel.DISK_ONLY) if on_disk else self.context.persisted(frame)
        self._held.append(kept)
        return self._held[-1]

    def free(self) -> None:
        """Drop what :meth:`hold` persisted."""
        while self._held:
            self._held.pop().unpersist()

    @property
    def passed(self) -> bool:
        """Whether all gates hold."""
        return all(gate.passed for gate in self.gates)


def publish(context: Context, progress: Progress, changed: bool) -> RunResult:
    """Publish the chosen release unless that was done already.

    Parameters
    ----------
    context : Context
        With all stages finished.
    progress : Progress
        Told about this last step.
    changed : bool
        Whether to publish although the publication of this very release is there.

    Returns
    -------
    RunResult

    Raises
    ------
    GateRefused
        When a gate does not hold; report and MLflow run are written all the same.
    """
    store = context.store
    progress.start("release", "choose, check, publish")
    started = time.perf_counter()
    store.recover("release")
    key, attack_key = _keys(context)
    done = store.manifest(PUBLICATION)
    told = context.config.output.withhold is None or store.is_current("withheld", key)
    if told and done is not None and done.key == key and not changed and store.exists("release"):
        verify_release(store, done.details)
        store.remove("stages", PROPOSAL)
        progress.done("release", "published before (up to date)", 0.0)
        return _published_before(context)
    publication = Publication(context, progress, key, attack_key, changed)
    try:
        assemble_release(publication)
        attack_release(publication)
        write_texts(publication)
        if context.small:
            publication.drawn = begin(partial(draw_report, publication), "report")
        check_release(publication)
        record_release(publication)
        seal_ledger(publication)
    finally:
        publication.free()
    return move_release(publication, started)


def _published_before(context: Context) -> RunResult:
    """Return what was published with today's key."""
    run = PublishedRun(context.store)
    figures = run.details["figures"]
    found = figures["categories"]  # in the order of the alphabet, as all that is kept
    categories = {c: found[c] for c in context.config.entities.categories}
    return RunResult(
        context.store.root,
        "unchanged",
        {**figures, "categories": categories},
        run.choice,
        [Gate(**gate) for gate in run.details["gates"]],
        context.store.path("report", "index.html"),
        run.mlflow_run_id,
        run.details["seconds"],
        run.details.get("documents_named"),
        run.details.get("coverage"),
        run.details.get("utility"),
        run.details.get("chunks_named"),
        run.details.get("public_words"),
        run.details.get("publish", "documents"),
        run.details.get("chunks_together"),
        steps_for(
            context.config, run.details.get("documents_named"), run.details.get("chunks_named")
        ),
        milder_for(context.config, run.details.get("utility")),
    )


def choose_candidate(
    context: Context, models: Mapping[str, MixtureModel]
) -> tuple[pd.DataFrame, Choice]:
    """Choose the release of a run whose stages are finished.

    Parameters
    ----------
    context : Context
    models : mapping
        Setting -> fitted mixture.

    Returns
    -------
    pandas.DataFrame, Choice
        Table ``candidates`` with what was measured of each and the chosen one marked; the choice.
    """
    store, config = context.store, context.config
    candidates = measured_candidates(store)
    populations = {"comparable": comparable_population(finished(store, "chunks").rows)}
    choice = choose_release(
        candidates,
        config,
        {name: len(model.weights) for name, model in models.items()},
        scores_of_choice(store, candidates, config, populations),
        populations,
        store.read_pandas("fidelity"),
        # plan whole has one combination: its p-hat cannot change the order of its prefixes
        None
        if config.releases.plan == "whole"
        else p_hat_table(store.read_pandas("risk_fits"), [chosen_space(config, populations)[1]]),
    )
    candidates["chosen"] = choice.marks(candidates)
    return candidates, choice


def assemble_texts(context: Context, choice: Choice, rewritten: DataFrame) -> DataFrame:
    """Return every chunk as it is released but for what ``output.withhold`` lists.

    Parameters
    ----------
    context : Context
    choice : Choice
        The release.
    rewritten : pyspark.sql.DataFrame
        Its rows of table ``rewrites``, one a swapped chunk.

    Returns
    -------
    pyspark.sql.DataFrame
        As :func:`nes_spark.releases.publish_stages.assemble`.
    """
    from nes_spark.releases.publish_stages import assemble
    from nes_spark.swapping.stages import apply_must_change
    from nes_spark.swapping.throughout_stages import written_throughout

    config, chunks, mentions = context.config, context.table("chunks"), context.table("mentions")
    told = None
    if config.swapping.throughout and choice.swapped:
        told = written_throughout(rewritten, context.table("cells"), mentions, choice.combination)
    rest = chunks
    if choice.swapped and not context.small:
        # Swapped chunks come as they were rewritten: replacing in them would be work for nothing.
        rest = chunks.join(rewritten.select("chunk_id"), "chunk_id", "left_anti")
    replaced = apply_must_change(
        rest,
        mentions,
        config.releases.must_change,
        shift=config.releases.shift,
        shifts=context.shifts(),
        told=told,
    )
    return assemble(
        chunks,
        context.table("documents"),
        replaced,
        rewritten,
        context.secret,
        alone=config.output.publish == "chunks",
    )


def withhold_listed(publication: Publication, assembled: DataFrame) -> DataFrame:
    """Take out what ``output.withhold`` lists, or publish a summary of it; note it in a table.

    A chunk without an accepted summary is left out.
    """
    from pyspark.sql import functions as F

    from nes_spark.audit.summaries_stages import retell
    from nes_spark.releases.publish_stages import withhold

    context = publication.context
    listed = withheld_chunks(context)
    if listed is None:
        return assembled
    listed = publication.hold(listed)
    assembled = publication.exchanged = publication.hold(assembled, on_disk=True)
    if context.config.output.instead == A_SUMMARY:
        with publication.progress.part("release", "summaries", "summarise what is listed"):
            found = retell(
                listed,
                assembled,
                context.table("chunks"),
                context.table("mentions"),
                context.config.summary_audit,
                context.config.audit.answers or context.store.path("sealed", "answers"),
                publication.hold,
                every_word=context.config.entities.telling > 0,
            )
    else:
        found = listed.withColumn("summary", F.lit(None).cast("string"))
    context.store.write_table("withheld", found, publication.key)
    return withhold(assembled, context.table("chunks"), context.table("withheld"))


def assemble_release(publication: Publication) -> None:
    """Choose, put every chunk's released text together, and account for every chunk."""
    from nes_spark.releases.publish_stages import chosen_rewrites
    from nes_spark.run.figures_stages import corpus_figures, given_figures, instead_figures

    context, progress = publication.context, publication.progress
    config, store = context.config, context.store
    models = context.models()
    candidates, choice = choose_candidate(context, models)
    publication.candidates, publication.models, publication.choice = candidates, models, choice

    chunks, documents = context.table("chunks"), context.table("documents")
    publication.rewritten = publication.hold(
        chosen_rewrites(
            context.table("rewrites"),
            choice.setting,
            choice.combination.name,
            choice.n_swaps,
            choice.draw,
        )
    )
    assembled = assemble_texts(context, choice, publication.rewritten)
    publication.assembled = publication.hold(withhold_listed(publication, assembled), on_disk=True)
    instead = {"drop", "summary"} & {*config.releases.leftover} or config.output.withhold
    with progress.part("release", "status", "account for every chunk"):
        if choice.swapped:
            status = _status(
                context, choice.setting, choice.combination, _chosen_swaps(context, choice)
            )
            if instead:
                status = _with_instead(status, publication.assembled)
            store.write_table("status", status, publication.key)
            publication.statuses = store.counts("status", ["status"])
        else:
            publication.statuses = {"unpaired": finished(store, "chunks").rows}
        in_place = instead_figures(publication.assembled, chunks) if instead else {}
        if not choice.swapped:
            for name, told in (("left_out", "dropped"), ("summarised", "summarised")):
                if name in in_place:
                    publication.statuses["unpaired"] -= in_place[name]["chunks"]
                    publication.statuses[told] = in_place[name]["chunks"]
        figures = corpus_figures(
            documents, store.counts("quarantine", ["reason"]), chunks, context.table("mentions")
        )
        if in_place.get("left_out", {}).get("chunks") == figures["chunks"]:
            raise InputError(
                "output.withhold: no summary was accepted and nothing else is left to publish; see "
                "the log, and releases.summary"
            )
        figures |= in_place
    if config.entities.recognizer == GIVEN:
        figures["given_spans"] = given_figures(context.table("given_spans"))
    found = figures["categories"]
    none = {"mentions": 0, "entities": 0, "chunks": 0}
    figures["categories"] = {c: found.get(c, none) for c in config.entities.categories}
    publication.figures = figures


def _with_instead(status: DataFrame, assembled: DataFrame) -> DataFrame:
    """Give chunks that are not published, or as a summary, a status of their own."""
    from pyspark.sql import functions as F

    from nes_spark.swapping.rewriting import SUMMARY

    summarised = F.exists("edits", lambda edit: edit["category"] == SUMMARY)
    instead = F.when(F.col("text") == "", "dropped").when(summarised, "summarised")
    found = assembled.select("chunk_id", instead.alias("_instead")).where("_instead IS NOT NULL")
    return status.join(found, "chunk_id", "left").select(
        "chunk_id", F.coalesce("_instead", "status").alias("status")
    )


def _chosen_swaps(context: Context, choice: Choice) -> DataFrame:
    """Rows of table ``swaps`` that the release is made of."""
    from pyspark.sql import functions as F

    return context.table("swaps").where(
        (F.col("setting") == choice.setting)
        & (F.col("combination") == choice.combination.name)
        & (F.col("draw") == choice.draw)
        & (F.col("order") <= choice.n_swaps)
    )


def attack_release(publication: Publication) -> None:
    """Let the adversaries try, and take the other measures that the configuration asks for."""
    from nes_spark.audit.text_stages import KnownWords

    context, progress, choice = publication.context, publication.progress, publication.choice

    def judge() -> list[tuple[Any, ...]] | None:
        return judge_chosen(context, choice, publication.assembled, publication.exchanged)

    judging = begin(judge, "judge") if context.small else None
    draw_grid_ahead(context, publication.candidates)
    # Workers recognise names again and compare while the adversaries keep the driver busy.
    comparing = None
    if context.small:
        comparing = begin(
            partial(compare_release, context, choice, publication.rewritten), "compared"
        )
    with ExitStack() as until:
        words = KnownWords(
            context.table("chunks"), context.table("mentions"), context.config.audit, until
        )
        with progress.part("release", "attacks", "let the adversaries try"):
            publication.audit = audit_release(
                context, choice, publication.attack_key, publication.again, words
            )
        with progress.part("release", "documents", "attack documents and chunks, before and after"):
            publication.measured = measure_release(
                context, choice, publication.assembled, publication.key, words
            )
    if context.config.releases.plan == "whole":
        publication.coverage = _coverage(publication)
        if told := many_alone(publication.coverage, choice.combination, context.config):
            LOGGER.warning("%s", told)
    with progress.part("release", "measures", "what else the configuration asks for"):
        publication.findings = examine(
            context,
            choice,
            publication.candidates,
            compare_release(context, choice, publication.rewritten)
            if comparing is None
            else comparing.result(),
            publication.audit,
            publication.key,
        )
    with progress.part("release", "utility", "let the judge read the release and its anchors"):
        rows = judge() if judging is None else judging.result()
        if rows is not None:
            context.store.write_table("utility", rows, publication.key)
            publication.utility = context.store.read_pandas("utility")


def _coverage(publication: Publication) -> pd.DataFrame:
    """Account for every mention in table ``coverage``."""
    from pyspark.sql import functions as F

    from nes_spark.swapping.whole_stages import KEPT, coverage, leftover_orders, not_reached

    context, choice = publication.context, publication.choice
    drawn = (
        (F.col("setting") == choice.setting)
        & (F.col("combination") == choice.combination.name)
        & (F.col("draw") == choice.draw)
    )
    swaps = context.table("swaps").where(drawn)
    left = leftover_orders(context.table("leftovers").where(drawn), swaps, context.secret)
    later = F.col("order") > choice.n_swaps
    left = left.withColumn("treatment", F.when(later, F.lit(KEPT)).otherwise(F.col("treatment")))
    found = coverage(
        context.table("mentions"),
        _chosen_swaps(context, choice),
        not_reached(left, swaps.where(later)),
        (*choice.combination, *context.config.releases.further),
        tuple(context.config.releases.must_change),
        tuple(context.config.releases.shift),
        publication.assembled,
    )
    context.store.write_table("coverage", found, publication.key)
    return context.store.read_pandas("coverage")


def write_texts(publication: Publication) -> None:
    """Write the released texts aside: their digests say which release was audited."""
    from nes_spark.releases.publish_stages import write_release

    store = publication.context.store
    store.remove(ASIDE)
    store.make_folder(ASIDE, mode=0o700)
    with publication.progress.part("release", "texts", "write the released chunks"):
        alone = publication.context.config.output.publish == "chunks"
        size = (
            count_parts(publication.figures["chunks"], CHUNKS_PER_PART)
            if alone
            else count_parts(publication.figures["documents"])
        )
        publication.files = write_release(publication.assembled, size, store.path(ASIDE), alone)
    publication.language_models = language_model_results(store, publication.files)


def check_release(publication: Publication) -> None:
    """Search for identifiers and ask every gate."""
    from nes_spark.audit.measured import chunks_named, strongest
    from nes_spark.text.searched_stages import secrets_accepted

    context, choice = publication.context, publication.choice
    documents, identifiers = context.table("documents"), context.config.identifiers
    accepted = context.config.gates.accept_identifiers
    with publication.progress.part("release", "gates", "search for identifiers, check the bounds"):
        fit = None
        if choice.swapped:
            fits = context.store.read_pandas("risk_fits")
            (row,) = fits[fits["combination"] == choice.combination.name].to_dict("records")
            fit = {str(name): value for name, value in row.items()}
        leaks, searched = _leaks(context, publication.assembled, publication.key)
        given_away = _given_away(publication)
        publication.gates = check_gates(
            Evidence(
                context.config,
                choice,
                publication.figures["documents"],
                foreign_documents(context),
                searched,
                leaks,
                given_away,
                publication.models[choice.setting],
                fit,
                publication.audit,
                publication.language_models,
                secrets_accepted(documents, identifiers, accepted),
                None
                if publication.measured is None
                else strongest(publication.measured).get("after"),
                publication.figures.get("given_spans"),
                None
                if publication.measured is None
                else chunks_named(publication.measured).get("left_out", {}).get("after"),
                _forgotten(publication),
            )
        )
        if refused_leaks(context.config, leaks) or given_away["words"]:
            publication.leaking = list_leaking(context, publication.assembled)


def _forgotten(publication: Publication) -> int | None:
    """Names in swapped categories of which no plan says what becomes; None but for ``whole``."""
    from nes_spark.swapping.whole_stages import NO_PLAN

    found = publication.coverage
    return None if found is None else int(found.loc[found["reason"] == NO_PLAN, "mentions"].sum())


def _given_away(publication: Publication) -> dict[str, int]:
    """List words of exchanged names that are left in table ``given_away``; count them."""
    from pyspark.sql import functions as F

    from nes_spark.swapping.given_away_stages import find_given_away

    context, published = publication.context, publication.rewritten
    if context.config.output.withhold is not None:  # no text of those is released
        published = published.join(context.table("withheld"), "chunk_id", "left_anti")
    found = find_given_away(
        published,
        context.table("chunks"),
        context.table("mentions"),
        context.config.releases.must_change,
    )
    context.store.write_table("given_away", found, publication.key)
    (row,) = (
        context.table("given_away")
        .agg(F.count(F.lit(1)).alias("words"), F.countDistinct("chunk_id").alias("chunks"))
        .collect()
    )
    return row.asDict()


def _leaks(
    context: Context, assembled: DataFrame, key: str
) -> tuple[list[dict[str, Any]], dict[str, tuple[int, int]]]:
    """List the identifiers that are left in table ``leaks``.

    Returns
    -------
    (list of dict, dict)
        Their kinds, rules and counts; and of each kind how many forms were searched for, in how
        many documents.
    """
    from nes_spark.text.leak_stages import find_leaks, index_identifiers

    identifiers = context.config.identifiers
    index = index_identifiers(context.table("documents"), identifiers)
    try:
        context.store.write_table("leaks", find_leaks(assembled, index, identifiers), key)
    finally:
        index.drop()
    counted = context.store.counts("leaks", ["kind", "rule"], weight="n")
    leaks = [{"kind": kind, "rule": rule, "n": n} for (kind, rule), n in counted.items()]
    return leaks, index.searched


def _seconds(publication: Publication) -> dict[str, float]:
    """Return what each output of a stage took."""
    store = publication.context.store
    return {
        output: found.seconds
        for output in [*TABLES, "embedder", "mixture"]
        if (found := store.manifest(output))
    }


def draw_report(publication: Publication) -> tuple[Outcome, ReportData, dict[str, Drawing]]:
    """Gather what the report shows but for gates and times, and draw its figures.

    Nothing of it waits for a gate, and nothing is written.
    """
    from nes_spark.report.page import draw_figures
    from nes_spark.run.figures_stages import component_figures

    context = publication.context
    outcome = Outcome(
        publication.figures,
        publication.candidates,
        publication.choice,
        publication.statuses,
        [],
        publication.findings,
        {},
        publication.models,
        component_figures(
            context.table("assignments"),
            context.table("chunks"),
            publication.assembled,
            publication.choice.setting,
        ),
        publication.language_models,
        publication.measured,
        publication.coverage,
        publication.utility,
        taken_by(context.store),
    )
    data = report_data(context, outcome, publication.rewritten, publication.assembled)
    if context.grid is not None:
        context.grid.result()  # Matplotlib's settings are those of the whole process
    return outcome, data, draw_figures(data.without_texts())


def record_release(publication: Publication) -> None:
    """Write release.json, the report and the MLflow run.

    Raises
    ------
    GateRefused
        When a gate does not hold; report and MLflow run say so too.
    """
    context, progress = publication.context, publication.progress
    config, store = context.config, context.store
    publication.record = _record(publication, publication.language_models)
    store.write_json(publication.record, ASIDE, "release.json")
    with (
        progress.part("release", "report", "gather, draw, track"),
        store.temporary() as temporary,
    ):
        drawn = publication.drawn
        outcome, gathered, drawings = draw_report(publication) if drawn is None else drawn.result()
        publication.outcome = replace(
            outcome, gates=publication.gates, seconds=_seconds(publication)
        )
        data = with_last_words(context, gathered, publication.outcome)
        store.write_bytes(data.to_json().encode(), *REPORT_DATA, mode=0o600)
        folder = temporary / "report"
        write_report(store, data, folder, drawings)
        if config.tracking.enabled:
            publication.run_id = track(
                context, publication.outcome, folder, store.read_bytes(ASIDE, "release.json")
            )
    store.write_bytes(config.model_dump_json(indent=2).encode(), *CONFIGURATION, mode=0o600)
    if not publication.passed:
        _leave_unpublished(publication)


def _leave_unpublished(publication: Publication) -> None:
    """Say which gates do not hold; where all of them only wait, note what an audit must look at.

    Raises
    ------
    GateRefused
        Always.
    """
    store = publication.context.store
    store.remove(ASIDE)
    store.remove("stages", PROPOSAL)
    open_gates = [gate for gate in publication.gates if not gate.passed]
    said = "; ".join(f"{gate.name}: {gate.detail}" for gate in open_gates)
    report = store.path("report", "index.html")
    if not all(gate.waits for gate in open_gates):
        if n := publication.leaking:
            place = store.path(*LEAKING)
            said += f". To leave out the {n:,} chunks that it is in: --set output.withhold={place}"
        raise GateRefused(f"release not published: {said}. Report: {report}")
    details = {
        "choice": publication.choice.to_dict(),
        "files": publication.files,
        "seed_fingerprint": publication.record["seed_fingerprint"],
        "mlflow_run_id": publication.run_id,
        "rewrites": finished(store, "rewrites").content,
    }
    store.write_artifact(PROPOSAL, publication.key, lambda _: details)
    raise GateRefused(
        f"release not published yet: {said}. Here: nes-spark audit {store.root}. Report: {report}"
    )


def _record(publication: Publication, language_models: list[dict[str, Any]]) -> dict[str, Any]:
    """What release.json says: counts, scores and gates; nothing that tells which swap was made."""
    from nes_spark.audit.measured import chunks_named, chunks_together, named_by_words, strongest
    from nes_spark.swapping import seed_fingerprint

    context, choice, figures = publication.context, publication.choice, publication.figures
    config = context.config
    shown = choice.to_dict()
    audit = publication.audit.record
    if language_models:
        audit["language_models"] = language_models
    found: dict[str, Any] = {}
    if publication.measured is not None:
        found["documents_named"] = plain(strongest(publication.measured), missing=True)
        found["chunks_named"] = plain(chunks_named(publication.measured), missing=True)
        if by_words := named_by_words(publication.measured):
            found["public_words"] = plain(by_words, missing=True)
        if together := chunks_together(publication.measured):
            found["chunks_together"] = plain(together, missing=True)
    if "given_spans" in figures:
        found["given_spans"] = figures["given_spans"]
    if config.output.withhold is not None:
        ((withheld, summaries),) = (
            context.table("withheld").selectExpr("count(*)", "count(summary)").collect()
        )
        found["withheld"] = withheld - summaries
        if config.output.instead == A_SUMMARY:
            found["summarised"] = summaries
    if publication.coverage is not None:
        found["coverage"] = plain(publication.coverage.to_dict("records"))
    if choice.combination.unit:  # a run with one unit says nothing of it
        found["unit"] = choice.combination.unit
    if publication.utility is not None:
        found["utility"] = utility_record(publication.utility)
    return {
        **found,
        "name": config.name,
        "publish": config.output.publish,
        "period": config.period,
        "method": "named entity swapping",
        "categories": statuses_of(config.entities.categories, choice.combination, config.releases),
        "choice": {k: v for k, v in shown.items() if k not in ("candidates", "on_frontier")},
        "candidates": {"scored": choice.candidates, "on_frontier": choice.on_frontier},
        "documents": figures["documents"],
        "chunks": figures["chunks"],
        "chunk_status": publication.statuses,
        "gates": [asdict(gate) for gate in publication.gates],
        "audit": audit,
        **publication.findings.record,
        "files": publication.files,
        "seed_fingerprint": seed_fingerprint(context.secret),
        "configuration": config.fingerprint(*release_sections()),
        "code": code_version(),
    }


def seal_ledger(publication: Publication) -> None:
    """Write the key that undoes the release."""
    from nes_spark.releases.publish_stages import ledger_blocks
    from nes_spark.swapping.ledger import write_ledger

    context = publication.context
    with publication.progress.part("release", "ledger", "seal the key"):
        blocks = ledger_blocks(
            publication.assembled, context.table("chunks"), context.config.ledger.keep_originals
        )
        write_ledger(
            context.store,
            blocks,
            context.config.ledger,
            choice=publication.choice.to_dict(),
            seed=context.secret,
            release=files_digest(publication.files),
        )


def _write_tables(publication: Publication) -> list[str]:
    """Write the release as tables where the configuration asks for it."""
    from nes_spark.releases.table_stages import write_tables

    context, output = publication.context, publication.context.config.output
    if output.release_format is None:
        return []
    with publication.progress.part("release", "tables", f"write it as {output.release_format}"):
        return write_tables(
            context.spark, output, context.store, publication.files, context.config.period
        )


def move_release(publication: Publication, started: float) -> RunResult:
    """Put the release in its place and commit the publication."""
    context, record = publication.context, publication.record
    store, config = context.store, context.config
    store.move(ASIDE, "release", mode=0o755)
    tables = _write_tables(publication)
    seconds = publication.outcome.seconds
    details = {
        "figures": publication.figures,
        "choice": publication.choice.to_dict(),
        "gates": record["gates"],
        "mlflow_run_id": publication.run_id,
        "seconds": seconds,
        "release_seconds": round(time.perf_counter() - started, 3),
        "statuses": publication.statuses,
        "audit": record["audit"],
        "documents_named": record.get("documents_named"),
        "chunks_named": record.get("chunks_named"),
        "public_words": record.get("public_words"),
        "chunks_together": record.get("chunks_together"),
        "publish": config.output.publish,
        "coverage": record.get("coverage"),
        "utility": record.get("utility"),
        "configuration": record["configuration"],
        "name": config.name,
        "period": config.period,
        "record": record_digest(store),
        "tables": tables,
    }
    store.write_artifact(PUBLICATION, publication.key, lambda _: details)
    store.remove("stages", PROPOSAL)
    published = publication.figures["chunks"] - publication.statuses.get("dropped", 0)
    publication.progress.done(
        "release",
        f"{published:,} chunks in {len(publication.files)} files, {gates_told(publication.gates)}",
        time.perf_counter() - started,
    )
    return RunResult(
        store.root,
        "published",
        publication.figures,
        publication.choice,
        publication.gates,
        store.path("report", "index.html"),
        publication.run_id,
        seconds,
        record.get("documents_named"),
        record.get("coverage"),
        record.get("utility"),
        record.get("chunks_named"),
        record.get("public_words"),
        config.output.publish,
        record.get("chunks_together"),
        steps_for(config, record.get("documents_named"), record.get("chunks_named")),
        milder_for(config, record.get("utility")),
    )


def gates_told(gates: Sequence[Gate]) -> str:
    """Return how many gates of a published release passed, and how many of them warn.

    Examples
    --------
    >>> from nes_spark.releases.publishing import Gate
    >>> gates_told([Gate("swaps", True, ""), Gate("risk fit", True, "", warned=True)])
    '2 gates passed, 1 of them with a warning'
    """
    warned = sum(gate.warned for gate in gates)
    return f"{len(gates)} gates passed" + (f", {warned} of them with a warning" if warned else "")
