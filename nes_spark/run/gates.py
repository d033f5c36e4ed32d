"""What must hold before a release is published: one function a gate, and the list of them.

A gate looks at the evidence and says yes or no in one line that quotes no text. It returns None
where it does not apply. A gate that could not look at what it is there for does not pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nes_spark.audit.answer_store import settings_digest
from nes_spark.releases.choice import RISKLESS_RULES, Choice
from nes_spark.releases.publishing import Gate

if TYPE_CHECKING:
    from nes_spark.config import Config, LanguageModelConfig
    from nes_spark.mixture import MixtureModel
    from nes_spark.run.findings import Audit


#: p-value of the goodness of fit below which the risk model does not describe the counts.
POOR_FIT = 0.01


@dataclass(frozen=True)
class Evidence:
    """What gates look at.

    Attributes
    ----------
    config : Config
        The run's configuration.
    choice : Choice
        The release.
    documents : int
        Documents of the corpus.
    foreign : int
        Documents whose language the recogniser does not seem to know.
    searched : mapping
        Kind of direct identifier -> (written forms, documents that have any): what was searched.
    leaks : sequence of mapping
        ``kind, rule, n``: direct identifiers that are still in it, counted.
    given_away : mapping
        ``words`` and ``chunks``: words of names that chunks gave away and still show.
    model : MixtureModel
        The mixture of its setting.
    risk_fit : mapping or None
        Row of table ``risk_fits`` of its combination; None where nothing is swapped.
    audit : Audit
        What the adversaries reached.
    language_models : sequence of mapping
        What language models answered about this very release; empty until they were asked.
    secret_accepted : int
        Documents whose secret only accepted kinds of identifiers find.
    named : mapping or None
        The strongest attacker of documents after swapping, a row of table ``measured``; None where
        none was measured.
    given : mapping or None
        Fate -> spans that came with the input (:data:`nes_spark.text.given.FATES`); None where
        names are recognised.
    chunks_named : mapping or None
        As ``named``, of the chunks with names, by who holds all other chunks.
    forgotten : int or None
        Mentions in swapped categories of which no plan says what becomes; None where there is no
        such account (plan ``pairs``).
    """

    config: Config
    choice: Choice
    documents: int
    foreign: int
    searched: Mapping[str, tuple[int, int]]
    leaks: Sequence[Mapping[str, Any]]
    given_away: Mapping[str, int]
    model: MixtureModel
    risk_fit: Mapping[str, Any] | None
    audit: Audit
    language_models: Sequence[Mapping[str, Any]] = ()
    secret_accepted: int = 0
    named: Mapping[str, Any] | None = None
    given: Mapping[str, int] | None = None
    chunks_named: Mapping[str, Any] | None = None
    forgotten: int | None = None


def expected_kinds(config: Config) -> list[str]:
    """Kinds of direct identifiers that every document should have something to search for."""
    kinds = [*config.input.columns.identifiers]
    persons = [name for name, kind in config.identifiers.kinds.items() if kind.rule == "person"]
    if config.identifiers.speakers and config.input.columns.turns is not None:
        kinds += persons
    return list(dict.fromkeys([*kinds, *config.gates.require]))


def refused_leaks(config: Config, leaks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of ``kind, rule, n`` that the configuration does not accept."""
    accepted = set(config.gates.accept_identifiers)
    return [row for row in leaks if not {row["kind"], row["rule"]} & accepted]


def identifiers_gate(evidence: Evidence) -> Gate:
    """No direct identifier of a document is left, but those of accepted kinds and rules.

    The line says what was searched. Nothing to search at all refuses; a kind that some documents
    have nothing of is a warning.
    """
    accepted = set(evidence.config.gates.accept_identifiers)
    open_leaks = refused_leaks(evidence.config, evidence.leaks)
    listed, tolerated = (
        ", ".join(f"{row['n']} {row['kind']} ({row['rule']})" for row in rows)
        for rows in (open_leaks, [row for row in evidence.leaks if row not in open_leaks])
    )
    forms = sum(n for n, _ in evidence.searched.values())
    looked = f"searched {forms:,} forms in {evidence.documents:,} documents"
    missing = {
        kind: evidence.documents - evidence.searched.get(kind, (0, 0))[1]
        for kind in expected_kinds(evidence.config)
    }
    nothing = ", ".join(
        f"{kind} for {n:,} of {evidence.documents:,} documents" for kind, n in missing.items() if n
    )
    if evidence.secret_accepted:
        kinds = ", ".join(sorted(accepted & set(evidence.config.identifiers.kinds)))
        return Gate(
            "direct identifiers",
            False,
            f"in {evidence.secret_accepted:,} of {evidence.documents:,} documents the value that "
            f"must stay secret is found as {kinds} only, which is accepted; take that out of "
            "gates.accept_identifiers",
        )
    if open_leaks:
        return Gate(
            "direct identifiers",
            False,
            f"still found: {listed}; which words: column found of sealed/leaking.csv. What is no "
            "name of its document goes under identifiers.allow; what is one, as a further form "
            "into its columns",
        )
    if not forms:
        return Gate(
            "direct identifiers",
            False,
            "there was nothing to search for in any document; name the columns that hold "
            "identifiers (input.columns.identifiers)",
        )
    said = f"none of a text's own document; {looked}"
    if tolerated:
        said += f"; accepted: {tolerated}"
    if nothing:
        said += f"; nothing to search: {nothing} (gates.require quarantines such documents)"
    return Gate("direct identifiers", True, said, warned=bool(nothing))


def language_gate(evidence: Evidence) -> Gate | None:
    """The recogniser knows the language of the documents; where it does not, names are missed."""
    if not evidence.foreign:
        return None
    return Gate(
        "language",
        True,
        f"{evidence.foreign:,} of {evidence.documents:,} documents do not look like English: names "
        "in them are missed, and words of them come into other texts as names; name a recogniser "
        "for their language (entities.recognizer), or set them aside (input.foreign=quarantine)",
        warned=True,
    )


def given_away_gate(evidence: Evidence) -> Gate:
    """No swapped chunk still shows a distinctive word of a name of its own that was exchanged."""
    words, chunks = evidence.given_away["words"], evidence.given_away["chunks"]
    return Gate(
        "names given away",
        not words,
        f"{words} words of exchanged names still stand in {chunks} chunks; which: column found of "
        "sealed/leaking.csv"
        if words
        else "no word of an exchanged name is left in a chunk that gave it away",
    )


def account_gate(evidence: Evidence) -> Gate | None:
    """Of every name in a swapped category the plan says what becomes of it."""
    n = evidence.forgotten
    if n is None:
        return None
    return Gate(
        "account of names",
        not n,
        f"{n:,} names in swapped categories were neither exchanged, treated nor left on purpose; "
        "where: table coverage, reason no_plan; please report this"
        if n
        else "every name that was found was exchanged, treated, or left on purpose",
    )


def mixture_gate(evidence: Evidence) -> Gate:
    """The mixture converged, unless one that did not is accepted, and describes clusters.

    A component at the ceiling of the concentration closed on (nearly) equal chunks. Some are a
    warning; when most are, the mixture says nothing about which chunks mean alike.
    """
    model, setting = evidence.model, evidence.choice.setting
    config = evidence.config
    converged = bool(model.converged) or config.mixture.on_no_convergence == "accept"
    said = (
        f"{setting} converged after {model.n_iter} iterations"
        if model.converged
        else f"{setting} did not converge in {model.n_iter} iterations; raise "
        "mixture.max_iter or choose fewer components"
    )
    capped, n = len(model.capped), len(model.weights)
    if not capped:
        return Gate("mixture", converged, said, warned=not model.converged)
    said += f"; {capped} of {n} components closed on single points: choose fewer components"
    closed = 2 * capped >= n or config.gates.on_poor_fit == "refuse"
    return Gate("mixture", converged and not closed, said, warned=True)


def risk_fit_gate(evidence: Evidence) -> Gate | None:
    """The risk model could be fitted to the table that the release swaps in, and describes it."""
    fit = evidence.risk_fit
    if fit is None:
        return None
    if not fit["converged"]:
        return Gate("risk fit", False, f"no estimate: {fit['reason']}")
    said = f"theta = {fit['theta']:.4g}, alpha = {fit['alpha']:.4g}"
    p = fit["fit_p_value"]
    if p is None or p != p:
        return Gate("risk fit", True, f"{said}; too few cells to test its fit", warned=True)
    if p >= POOR_FIT:
        return Gate("risk fit", True, said)
    said += f"; the counts reject the model (p = {p:.2g}): do not rely on DR"
    # a rule that looks at no risk does not rest on DR
    rests = evidence.choice.risk == "DR" and evidence.choice.rule not in RISKLESS_RULES
    refuses = (evidence.config.gates.on_poor_fit or ("refuse" if rests else "warn")) == "refuse"
    if refuses and rests:
        said += (
            ", on which the choice rests. Have the risk measured (audit.max_documents, "
            "audit.max_words), or take candidates by what they exchange (choice.rule=coverage), or "
            "publish all the same (gates.on_poor_fit=warn)"
        )
    return Gate("risk fit", not refuses, said, warned=True)


def swaps_gate(evidence: Evidence) -> Gate:
    """At least as many swaps were made as the configuration asks for."""
    wanted = evidence.config.gates.min_swaps
    made = evidence.choice.n_swaps
    return Gate("swaps", made >= wanted, f"{made} made, at least {wanted} asked for")


def linkage_gate(evidence: Evidence) -> Gate | None:
    """Every adversary that the configuration binds was there, and names few enough chunks."""
    bound = evidence.config.gates.max_linkage_accuracy
    if bound is None:
        return None
    models = _bound_models(evidence.config)
    wanted = [name for name in evidence.config.audit.gate_models if name not in models]
    if models and not wanted:
        return None
    absent = sorted(set(wanted) - {result.model for result in evidence.audit.results})
    if absent or not wanted:
        said = f"did not run: {', '.join(absent)}" if absent else "no adversary is bound"
        return Gate("linkage adversary", False, f"{said} (audit.gate_models)")
    found = evidence.audit.accuracy
    return Gate(
        "linkage adversary",
        found is not None and found <= bound,
        "no swapped chunk to attack"
        if found is None
        else f"names {found:.1%} of swapped chunks after, bound {bound:.1%}",
    )


def _bound_models(config: Config) -> dict[str, LanguageModelConfig]:
    """Return the language models that the configuration binds, by name."""
    bound = config.audit.gate_models
    return {model.name: model for model in config.audit.models if model.name in bound}


def language_models_gate(evidence: Evidence) -> Gate | None:
    """Every language model that the configuration binds was asked, and names few enough chunks.

    A run asks none: until ``nes-spark audit`` has, the release waits.
    """
    bound, config = evidence.config.gates.max_linkage_accuracy, evidence.config.audit
    models = _bound_models(evidence.config)
    if bound is None or not models:
        return None
    if not evidence.choice.swapped:
        return Gate("language models", False, "nothing was swapped: there is nothing to ask about")
    found = {
        result["model"]: result["post"]["mean"]
        for result in evidence.language_models
        if result["model"] in models
        and result["settings"] == settings_digest(config, models[result["model"]])
    }
    absent = sorted(models.keys() - found.keys())
    if absent:
        return Gate(
            "language models",
            False,
            f"the release waits for the audit by {', '.join(absent)}: "
            "'nes-spark audit RUN_DIR', then the same run again",
            waits=True,
        )
    worst = max(found, key=lambda name: found[name])
    return Gate(
        "language models",
        all(share <= bound for share in found.values()),
        f"{worst} names {found[worst]:.1%} of swapped chunks after, bound {bound:.1%}",
    )


def given_spans_gate(evidence: Evidence) -> Gate | None:
    """Spans came with the input and were used; those that could not be are a warning."""
    found = evidence.given
    if found is None:
        return None
    total = sum(found.values())
    lost = {fate: found.get(fate, 0) for fate in ("unmapped", "outside_text")}
    said = ", ".join(f"{n:,} {fate.replace('_', ' ')}" for fate, n in sorted(found.items()))
    if not total or total == sum(lost.values()):
        return Gate("given spans", False, f"no span could be used ({said or 'none came'})")
    said = f"{total:,} came: {said}"
    return Gate("given spans", True, said, warned=any(lost.values()))


def _named_gate(name: str, unit: str, bound: float | None, found: Any) -> Gate | None:
    """The strongest attacker names few enough of what there is."""
    if bound is None:
        return None
    if found is None:
        return Gate(
            name, False, "was not measured (audit.linkage, .documents, .max_documents, .max_words)"
        )
    said = f"the strongest attacker ({found['attacker']}) names {found['named']:.1%} of "
    said += f"{found['n']:,} {unit}, bound {bound:.1%}"
    return Gate(name, bool(found["named"] <= bound), said)


def documents_gate(evidence: Evidence) -> Gate | None:
    """The strongest attacker names few enough documents of the release."""
    bound = evidence.config.gates.max_documents_named
    return _named_gate("documents named", "documents", bound, evidence.named)


def chunks_gate(evidence: Evidence) -> Gate | None:
    """Who holds all other chunks names few enough chunks of the release."""
    bound = evidence.config.gates.max_chunks_named
    return _named_gate("chunks named", "chunks", bound, evidence.chunks_named)


#: All gates, in the order of report and record. A further one is a function and a place here.
GATES: list[Callable[[Evidence], Gate | None]] = [
    identifiers_gate,
    language_gate,
    given_spans_gate,
    given_away_gate,
    account_gate,
    mixture_gate,
    risk_fit_gate,
    swaps_gate,
    linkage_gate,
    language_models_gate,
    documents_gate,
    chunks_gate,
]


def check_gates(evidence: Evidence) -> list[Gate]:
    """Return what every gate that applies says."""
    return [found for gate in GATES if (found := gate(evidence)) is not None]
