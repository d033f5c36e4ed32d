"""What can be said about the chosen release beyond its scores.

Adversaries attack it, the recogniser reads its texts again, other measures of utility are taken,
and the sampler's options are tried beside the run's own. Nothing here changes what is released.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from nes_spark.audit.adversaries import (
    LINKAGE,
    PARTNERS_TABLE,
    PREDICTIONS_TABLE,
    View,
    attacks_of,
)
from nes_spark.entities.mentions import NAME
from nes_spark.entities.recognizers import GIVEN
from nes_spark.releases.choice import Choice
from nes_spark.run.context import finished
from nes_spark.run.measuring import fits_in_memory
from nes_spark.run.pipeline import FEW_WORDS, sampling_tables
from nes_spark.swapping.plan import NO_PARTNER
from nes_spark.text.forms import fold

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

    from nes_spark.audit.summary import AdversaryResult, PartnerResult
    from nes_spark.audit.text_stages import KnownWords
    from nes_spark.config import Config
    from nes_spark.run.context import Context
    from nes_spark.swapping.constraints import Constraint

#: File of a run that holds what language models answered (:mod:`nes_spark.run.language_models`).
LANGUAGE_MODELS = ("audit", "language_models.json")
#: One in so many names that found nobody is much.
_MANY_ALONE = 3


@dataclass(frozen=True)
class Audit:
    """What the adversaries that need no network reached (:mod:`nes_spark.audit`).

    Attributes
    ----------
    results : list of AdversaryResult
        One an adversary; empty where the audit is off or nothing was swapped.
    partners : PartnerResult or None
        How often the adversary who knows of swapping found the true partner.
    accuracy : float or None
        Accuracy after swapping that the gate looks at.
    """

    results: list[AdversaryResult]
    partners: PartnerResult | None
    accuracy: float | None

    @property
    def record(self) -> dict[str, Any]:
        """For release.json and the report."""
        found: dict[str, Any] = {"results": [r.to_dict() for r in self.results]}
        if self.partners is not None:
            found["swap_aware"] = self.partners.to_dict()
        return found

    @property
    def metrics(self) -> dict[str, float]:
        """For MLflow."""
        from nes_spark.audit.summary import audit_metrics

        return audit_metrics(self.results, self.partners)


def foreign_documents(context: Context) -> int:
    """Count documents whose language the bundled recogniser does not seem to know.

    A recogniser that the user named may know it, so nothing is counted then.
    """
    from nes_spark.text.language import KNOWN_SHARE

    if context.config.entities.recognizer != "bundled":
        return 0
    shares = context.store.read_pandas("documents", ["known_words"])["known_words"]
    return int((shares < KNOWN_SHARE).sum())


def spelled_apart(secrets: Iterable[str]) -> list[list[str]]:
    """Return secrets that differ in capitals, accents and white space only, in groups.

    Examples
    --------
    >>> spelled_apart(["Tom Baker", "Ann Roe", "TOM  BAKER"])
    [['TOM  BAKER', 'Tom Baker']]
    """
    groups: dict[str, list[str]] = {}
    for secret in sorted(secrets):
        groups.setdefault(" ".join(fold(secret).split()), []).append(secret)
    return [found for found in groups.values() if len(found) > 1]


@dataclass(frozen=True)
class Findings:
    """Everything found out about the chosen release; None where it was not asked for.

    Attributes
    ----------
    audit : Audit
        The adversaries.
    agreement : pandas.DataFrame or None
        category, n, before, after, both: recognition against the tables
        (:func:`nes_spark.swapping.agreement_stages.recognition_agreement`).
    variation : pandas.DataFrame or None
        category, n, values_pre, values_post, total_variation.
    tasks : pandas.DataFrame or None
        task, chunks, agreement, mean_change, mean_absolute_change.
    recoding : pandas.DataFrame or None
        combination, n, k_without, k_with, s1_without, s1_with.
    linking : pandas.DataFrame or None
        combination and s1/n: neither, linking, consistency, both.
    options : pandas.DataFrame or None
        As :func:`nes_spark.releases.option_stages.compare_options` returns it.
    attacks : pandas.DataFrame or None
        Candidates of the chosen setting and population with the linkage adversary's success.
    """

    audit: Audit
    agreement: pd.DataFrame | None = None
    variation: pd.DataFrame | None = None
    tasks: pd.DataFrame | None = None
    recoding: pd.DataFrame | None = None
    linking: pd.DataFrame | None = None
    options: pd.DataFrame | None = None
    attacks: pd.DataFrame | None = None

    @property
    def record(self) -> dict[str, Any]:
        """For release.json: counts and shares only, nothing that tells which swap was made."""
        parts = {
            "recognition_agreement": self.agreement,
            "total_variation": self.variation,
            "utility_tasks": self.tasks,
        }
        return {
            name: frame.to_dict("records") for name, frame in parts.items() if frame is not None
        }

    @property
    def metrics(self) -> dict[str, float]:
        """For MLflow."""
        from nes_spark.audit.summary import independent_agreement

        found = dict(self.audit.metrics)
        if self.agreement is not None:
            for row in self.agreement.to_dict("records"):
                if row["n"]:
                    found[f"agreement/{row['category']}/before"] = row["before"] / row["n"]
                    found[f"agreement/{row['category']}/after"] = row["after"] / row["n"]
        if self.variation is not None:
            for row in self.variation.to_dict("records"):
                found[f"utility/total_variation/{row['category']}"] = row["total_variation"]
        if self.tasks is not None:
            for row in self.tasks.to_dict("records"):
                found[f"utility/{row['task']}/agreement"] = row["agreement"]
                found[f"utility/{row['task']}/mean_change"] = row["mean_change"]
        if self.recoding is not None:
            for row in self.recoding.to_dict("records"):
                found[f"recoding/{row['combination']}/s1_without"] = row["s1_without"]
                found[f"recoding/{row['combination']}/s1_with"] = row["s1_with"]
        if self.attacks is not None:
            for name, value in independent_agreement(self.attacks).items():
                if value is not None:
                    found[f"frontier/attack/{name}"] = value
        return {name: float(value) for name, value in found.items()}


def audit_release(
    context: Context,
    choice: Choice,
    key: str,
    again: bool = False,
    words: KnownWords | None = None,
) -> Audit:
    """Let the adversaries that need no network attack the chosen release.

    Guesses of an earlier run that was killed or refused after its attacks are used again.

    Parameters
    ----------
    context : Context
        Of a run whose stages are finished.
    choice : Choice
        The release.
    key : str
        Digest for the tables ``predictions`` and ``partner_guesses`` that this writes.
    again : bool
        Whether to attack although both are there with this key.
    words : KnownWords, optional
        The words of the corpus where other attacks count them too.

    Returns
    -------
    Audit
    """
    from nes_spark.audit.attack_stages import attack
    from nes_spark.audit.stages import summarize_audit, summarize_partner_guesses
    from nes_spark.audit.summary import gate_accuracy
    from nes_spark.releases.publish_stages import chosen_rewrites

    config, store = context.config, context.store
    if not config.audit.linkage or not choice.swapped:
        return Audit([], None, None)
    tables = [t for t in (PREDICTIONS_TABLE, PARTNERS_TABLE) if attacks_of(config.audit, t)]
    if config.releases.plan == "whole":
        # A chunk has several partners there; the search for one is made for a single exchange.
        tables = [PREDICTIONS_TABLE]
    attacked = context.persisted(
        chosen_rewrites(
            context.table("rewrites"), choice.setting, choice.combination.name, choice.n_swaps
        )
    )
    components, constraints = _comparable(context, choice)
    asked = attacked
    if PREDICTIONS_TABLE in tables and (some := _sampled(context, attacked)) is not attacked:
        asked = some.cache()
    for table in tables:
        if not again and store.is_current(table, key):
            continue
        with ExitStack() as until:
            view = View(
                context.table("cells"),
                context.table("chunks"),
                context.table("mentions"),
                asked if table == PREDICTIONS_TABLE else attacked,
                tuple(choice.combination),
                tuple(config.releases.must_change),
                _reference(context),
                components,
                constraints,
                until,
                throughout=config.swapping.throughout,
                small=fits_in_memory(context),
                words=words,
            )
            store.write_table(table, attack(view, config.audit, table), key)
    partners = None
    if PARTNERS_TABLE in tables:
        partners = summarize_partner_guesses(context.table("partner_guesses"))
    results = summarize_audit(context.table("predictions"), config.audit, asked)
    asked.unpersist()
    attacked.unpersist()
    return Audit(results, partners, gate_accuracy(results, config.audit.gate_models))


def _sampled(context: Context, rewritten: DataFrame) -> DataFrame:
    """Keep the rows of at most ``audit.max_chunks`` changed chunks, drawn by keyed hash.

    The same chunks wherever this is asked. A sample of that many tells a share to a hundredth or
    two, and what an attack costs does not grow with what was changed.
    """
    from nes_spark.audit.sampled_stages import sample_of
    from nes_spark.swapping import derive_seed

    most = context.config.audit.max_chunks
    if finished(context.store, "chunks").rows <= most:
        return rewritten
    key = derive_seed(context.secret, "changed chunks asked about").to_bytes(16, "big")
    return rewritten.join(sample_of(rewritten, "chunk_id", most, key), "chunk_id", "left_semi")


def _comparable(context: Context, choice: Choice) -> tuple[DataFrame, tuple[Constraint, ...]]:
    """Return the component of each chunk and, where the run has optional constraints, all of them.

    Then the table has what they compare too, and none of the chunks that they keep out: the
    adversary who knows about swapping looks for partners where the sampler did.
    """
    from pyspark.sql import functions as F

    from nes_spark.config import SwappingConfig
    from nes_spark.swapping.constraints import constraints_of
    from nes_spark.swapping.stages import constrained, with_vectors

    rows = context.table("assignments").where(F.col("setting") == choice.setting)
    constraints = constraints_of(context.config.releases.constraints)
    if all(rule.field is None for rule in constraints):
        return rows.select("chunk_id", "component"), ()
    known = sampling_tables(context)
    rows = rows.select("setting", "chunk_id", "component").join(
        context.table("chunks").select("chunk_id", "document_id"), "chunk_id"
    )
    found = constrained(
        rows, constraints, known["concentrations"], known["covariates"], known["facts"]
    ).where("barred = ''")
    found = with_vectors(found, constraints, SwappingConfig(), known["embeddings"])
    return found.select("chunk_id", "component", "stratum", "numbers", "vector"), constraints


def _linking(context: Context) -> pd.DataFrame:
    """Return the share of sample uniques without and with linking and consistency."""
    from nes_spark.releases import combinations_of
    from nes_spark.risk.linking import VARIANTS, linking_table
    from nes_spark.risk.linking_stages import linking_effect

    config, combinations = context.config, combinations_of(context.config.releases)
    if context.words() <= FEW_WORDS:
        n = finished(context.store, "chunks").rows
        recognised = context.store.read_pandas("recognised")
        found = linking_table(recognised, n, config.entities, combinations, config.risk.empty_cell)
    else:
        found = linking_effect(
            context.table("recognised"),
            context.table("chunks"),
            config.entities,
            combinations,
            config.risk.empty_cell,
        ).toPandas()
    shares = {name: found[f"s1_{name}"] / found["n"] for name in VARIANTS}
    return found[["combination"]].assign(**shares)


def _reference(context: Context) -> dict[str, DataFrame]:
    from nes_spark.audit.stages import read_reference

    folder = context.config.audit.reference
    return read_reference(context.spark, folder) if folder else {}


class Compared(NamedTuple):
    """What the chosen release changed, beside what adversaries and the judge tell.

    Attributes
    ----------
    agreement, variation, tasks : pandas.DataFrame or None
        As :class:`Findings` has them.
    """

    agreement: pd.DataFrame | None = None
    variation: pd.DataFrame | None = None
    tasks: pd.DataFrame | None = None


def compare_release(context: Context, choice: Choice, rewritten: DataFrame) -> Compared:
    """Compare names and tasks before and after, where the configuration asks for it.

    Writes nothing: a run may begin it ahead (:mod:`nes_spark.run.ahead`).

    Parameters
    ----------
    context : Context
        Of a run whose stages are finished.
    choice : Choice
        The chosen release.
    rewritten : pyspark.sql.DataFrame
        Rows of ``rewrites`` that the release is made of, one a swapped chunk.

    Returns
    -------
    Compared
        Empty where nothing was swapped.
    """
    from pyspark.sql import functions as F

    from nes_spark.swapping.agreement_stages import recognition_agreement
    from nes_spark.utility.stages import category_variation, task_agreement, task_predictions

    config = context.config
    if not choice.swapped:
        return Compared()
    order = {category: i for i, category in enumerate(config.entities.categories)}

    def by_category(frame: DataFrame) -> pd.DataFrame:
        found = frame.toPandas()
        return found.sort_values("category", key=lambda s: s.map(order)).reset_index(drop=True)

    agreement = variation = tasks = None
    if config.audit.recognition and config.entities.recognizer != GIVEN:
        agreement = by_category(
            recognition_agreement(
                _sampled(context, rewritten),
                context.table("chunks"),
                context.table("cells"),
                context.table("mentions"),
                config.entities,
                config.releases.must_change,
            )
        )
        # Names that the sweep found are those that recognition does not find; further categories
        # have rules of their own.
        unseen = agreement["category"].isin([NAME, *config.releases.further])
        agreement = agreement[~unseen].reset_index(drop=True)
    if config.utility.total_variation:
        # A must-change category has no values left: nothing to compare.
        variation = by_category(
            category_variation(context.table("cells"), rewritten).where(
                ~F.col("category").isin(list(config.releases.must_change))
            )
        )
    if config.utility.tasks:
        predictions = task_predictions(context.table("chunks"), rewritten, config.utility.tasks)
        tasks = task_agreement(predictions).toPandas().sort_values("task").reset_index(drop=True)
    return Compared(agreement, variation, tasks)


def examine(
    context: Context,
    choice: Choice,
    candidates: pd.DataFrame,
    compared: Compared,
    audit: Audit,
    key: str,
) -> Findings:
    """Find out everything else that the configuration asks for.

    Parameters
    ----------
    context, choice
        As for :func:`compare_release`.
    candidates : pandas.DataFrame
        Table ``candidates``.
    compared : Compared
        From :func:`compare_release`.
    audit : Audit
        From :func:`audit_release`.
    key : str
        Digest for the tables that this writes.

    Returns
    -------
    Findings
    """
    from nes_spark.releases import combinations_of
    from nes_spark.risk.stages import recoding_effect

    config = context.config
    recoding = None
    if config.entities.recoding:
        combinations = combinations_of(config.releases)
        place = {c.name: i for i, c in enumerate(combinations)}
        found = recoding_effect(
            context.table("cells"), combinations, config.risk.empty_cell
        ).toPandas()
        recoding = found.sort_values("combination", key=lambda s: s.map(place))
        recoding = recoding.reset_index(drop=True)
    return Findings(
        audit=audit,
        **compared._asdict(),
        recoding=recoding,
        linking=_linking(context) if config.report.linking else None,
        options=_options(context, choice) if choice.swapped and config.report.options else None,
        attacks=_attacks(context, choice, candidates, key) if config.audit.frontier else None,
    )


def _options(context: Context, choice: Choice) -> pd.DataFrame:
    from nes_spark.releases.option_stages import AS_CONFIGURED, compare_options

    config = context.config
    report = config.report
    longest = max(report.option_swaps, choice.n_swaps)
    changes = {
        "combinations": [list(choice.combination)],
        "max_swaps": longest,
        "draws": report.option_draws,
    }
    options = {AS_CONFIGURED: (config.releases, config.swapping)} | {
        name: config.with_option(settings) for name, settings in report.options.items()
    }
    sampling = sampling_tables(context)
    sampling["covariates"] = context.table("documents").select("document_id", "covariates")
    return compare_options(
        {
            name: (releases.model_copy(update=changes), swapping)
            for name, (releases, swapping) in options.items()
        },
        choice.n_swaps,
        choice.population,
        {
            name: context.table(name)
            for name in ("cells", "assignments", "chunks", "mentions", "risk_fits")
        },
        config.entities,
        context.spec(),
        choice.setting,
        context.models()[choice.setting],
        context.secret,
        sampling,
        context.shifts(),
    )


def _attacks(context: Context, choice: Choice, candidates: pd.DataFrame, key: str) -> pd.DataFrame:
    from pyspark.sql import functions as F

    from nes_spark.audit.stages import attack_candidates

    with ExitStack() as until:
        attacks = attack_candidates(
            context.table("cells"),
            context.table("rewrites"),
            context.config.audit,
            tuple(context.config.releases.must_change),
            _reference(context).get("cells"),
            until,
        )
        context.store.write_table("attacks", attacks, key)
    space = choice.space(candidates)
    mine = space[space["n_swaps"] > 0]
    linkage = (
        context.table("attacks")
        .where((F.col("model") == LINKAGE) & (F.col("setting") == choice.setting))
        .drop("setting", "model", "draws")
        .toPandas()
    )
    joined = mine.merge(linkage, on=["combination", "n_swaps"], how="inner")
    return joined.sort_values(["combination", "n_swaps"]).reset_index(drop=True)


def many_alone(coverage: pd.DataFrame, swapped: Iterable[str], config: Config) -> str:
    """Say what to do where much became placeholders because no other text had a name to give.

    Parameters
    ----------
    coverage : pandas.DataFrame
        Table ``coverage``.
    swapped : iterable of str
        Categories that are exchanged.
    config : Config

    Returns
    -------
    str
        Empty where it is no more than a third of the names in these categories.
    """
    names = coverage[coverage["category"].isin(list(swapped))]
    alone = names[(names["fate"] == "placeholder") & (names["reason"] == NO_PARTNER)]
    n, total = int(alone["mentions"].sum()), int(names["mentions"].sum())
    if n * _MANY_ALONE <= total:
        return ""
    return (
        f"{n:,} of {total:,} names became placeholders, as no text of another document in their "
        "component, or in the nearest ones, had a name to give: take fewer components "
        f"(mixture.n_components) or more of the nearest (releases.neighbours, now "
        f"{config.releases.neighbours})"
    )
