"""Each gate is shown what it must refuse."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from nes_spark.config import build_config
from nes_spark.entities.combination import Combination
from nes_spark.releases.publishing import Gate
from nes_spark.run import gates
from nes_spark.run.findings import Audit
from nes_spark.run.gates import Evidence, check_gates
from tests.releases.test_choice import CHOICE

LEAK = {"kind": "company", "rule": "name", "n": 2}
FIT = {"converged": True, "theta": 3.0, "alpha": 0.5, "reason": ""}


def evidence(**changes):
    settings = changes.pop("settings", {})
    found = Evidence(
        build_config(settings),
        CHOICE,
        [],
        SimpleNamespace(converged=True, n_iter=7),
        FIT,
        Audit([], None, 0.2),
    )
    return replace(found, **changes)


def passed(found):
    return {gate.name: gate.passed for gate in check_gates(found)}


def test_a_good_release_passes_all():
    assert passed(evidence()) == {
        "direct identifiers": True, "mixture": True, "risk fit": True, "swaps": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("direct identifiers", {"leaks": [LEAK]}),
        ("mixture", {"model": SimpleNamespace(converged=False, n_iter=500)}),
        ("risk fit", {"risk_fit": FIT | {"converged": False, "reason": "one_cell"}}),
        ("swaps", {"settings": {"gates": {"min_swaps": 4}}}),
        ("linkage adversary", {"settings": {"gates": {"max_linkage_accuracy": 0.1}}}),
    ],
)
def test_each_refuses(name, changes):
    assert not passed(evidence(**changes))[name]


def test_a_bound_adversary_that_did_not_run_refuses():
    bound = {"gates": {"max_linkage_accuracy": 1.0}}
    assert not passed(evidence(settings=bound, audit=Audit([], None, None)))["linkage adversary"]
    assert passed(evidence(settings=bound))["linkage adversary"]


def test_accepted_kinds_are_told_and_pass():
    (first, *_) = check_gates(evidence(leaks=[LEAK | {"rule": "other_document"}]))
    assert first.passed
    assert "accepted: 2 company (other_document)" in first.detail


def test_a_release_without_swaps_has_no_risk_fit():
    none = replace(CHOICE, combination=Combination(), n_swaps=0)
    found = passed(evidence(choice=none, risk_fit=None))
    assert "risk fit" not in found
    assert not found["swaps"]


def enough_chunks(found: Evidence) -> Gate:
    """At least a tenth of all chunks were swapped."""
    return Gate("share of chunks", found.choice.r >= 0.1, f"r = {found.choice.r:.3f}, at least 0.1")


def test_a_gate_of_ones_own(monkeypatch):
    monkeypatch.setattr(gates, "GATES", [*gates.GATES, enough_chunks])
    assert passed(evidence())["share of chunks"]
    assert not passed(evidence(choice=replace(CHOICE, r=0.05)))["share of chunks"]
