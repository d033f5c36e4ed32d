"""What must hold before a release is published: one function a gate, and the list of them.

A gate looks at the evidence and says yes or no in one line that quotes no text. It returns None
where it does not apply. A gate that could not look at what it is there for does not pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nes_spark.releases.choice import Choice
from nes_spark.releases.publishing import Gate

if TYPE_CHECKING:
    from nes_spark.config import Config
    from nes_spark.mixture import MixtureModel
    from nes_spark.run.findings import Audit


@dataclass(frozen=True)
class Evidence:
    """What gates look at.

    Attributes
    ----------
    config : Config
        The run's configuration.
    choice : Choice
        The release.
    leaks : sequence of mapping
        ``kind, rule, n``: direct identifiers that are still in it, counted.
    model : MixtureModel
        The mixture of its setting.
    risk_fit : mapping or None
        Row of table ``risk_fits`` of its combination; None where nothing is swapped.
    audit : Audit
        What the adversaries reached.
    """

    config: Config
    choice: Choice
    leaks: Sequence[Mapping[str, Any]]
    model: MixtureModel
    risk_fit: Mapping[str, Any] | None
    audit: Audit


def identifiers_gate(evidence: Evidence) -> Gate:
    """No direct identifier of a document is left, but those of accepted kinds and rules."""
    accepted = set(evidence.config.gates.accept_identifiers)
    open_leaks = [row for row in evidence.leaks if not {row["kind"], row["rule"]} & accepted]
    listed, tolerated = (
        ", ".join(f"{row['n']} {row['kind']} ({row['rule']})" for row in rows)
        for rows in (open_leaks, [row for row in evidence.leaks if row not in open_leaks])
    )
    return Gate(
        "direct identifiers",
        not open_leaks,
        f"still found: {listed}; where: table leaks"
        if open_leaks
        else "none of a text's own document"
        + (f"; accepted: {tolerated}" if evidence.leaks else ""),
    )


def mixture_gate(evidence: Evidence) -> Gate:
    """The mixture converged, unless the configuration accepts one that did not."""
    model, setting = evidence.model, evidence.choice.setting
    return Gate(
        "mixture",
        bool(model.converged) or evidence.config.mixture.on_no_convergence == "accept",
        f"{setting} converged after {model.n_iter} iterations"
        if model.converged
        else f"{setting} did not converge in {model.n_iter} iterations; raise "
        "mixture.max_iter or choose fewer components",
    )


def risk_fit_gate(evidence: Evidence) -> Gate | None:
    """The risk model could be fitted to the table that the release swaps in."""
    fit = evidence.risk_fit
    if fit is None:
        return None
    return Gate(
        "risk fit",
        bool(fit["converged"]),
        f"theta = {fit['theta']:.4g}, alpha = {fit['alpha']:.4g}"
        if fit["converged"]
        else f"no estimate: {fit['reason']}",
    )


def swaps_gate(evidence: Evidence) -> Gate:
    """At least as many swaps were made as the configuration asks for."""
    wanted = evidence.config.gates.min_swaps
    made = evidence.choice.n_swaps
    return Gate("swaps", made >= wanted, f"{made} made, at least {wanted} asked for")


def linkage_gate(evidence: Evidence) -> Gate | None:
    """The adversaries that the configuration binds name few enough swapped chunks."""
    bound = evidence.config.gates.max_linkage_accuracy
    if bound is None:
        return None
    found = evidence.audit.accuracy
    return Gate(
        "linkage adversary",
        found is not None and found <= bound,
        "no swapped chunk to attack"
        if found is None
        else f"names {found:.1%} of swapped chunks after, bound {bound:.1%}",
    )


#: All gates, in the order of report and record. A further one is a function and a place here.
GATES: list[Callable[[Evidence], Gate | None]] = [
    identifiers_gate,
    mixture_gate,
    risk_fit_gate,
    swaps_gate,
    linkage_gate,
]


def check_gates(evidence: Evidence) -> list[Gate]:
    """Return what every gate that applies says."""
    return [found for gate in GATES if (found := gate(evidence)) is not None]
