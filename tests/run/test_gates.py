"""Each gate is shown what it must refuse."""

from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest

from nes_spark.audit.answer_store import settings_digest
from nes_spark.config import build_config
from nes_spark.entities.combination import Combination
from nes_spark.logs import Progress
from nes_spark.releases.publishing import Gate
from nes_spark.run import gates, release
from nes_spark.run.findings import Audit
from nes_spark.run.gates import Evidence, check_gates
from nes_spark.schemas import COVERAGE
from nes_spark.text import searched_stages
from tests.releases.test_choice import CHOICE

LEAK = {"kind": "company", "rule": "name", "n": 2}
FIT = {"converged": True, "theta": 3.0, "alpha": 0.5, "reason": "", "fit_p_value": 0.4}
GOOD = SimpleNamespace(converged=True, n_iter=7, capped=(), weights=[0.5, 0.5, 0.0])
INPUT = {"columns": {"turns": "turns", "identifiers": {"company": ["company"]}}}
RAN = [SimpleNamespace(model="linkage")]


def evidence(**changes):
    settings = changes.pop("settings", {})
    found = Evidence(
        build_config({"input": INPUT} | settings),
        CHOICE,
        43,
        0,
        {"company": (120, 43), "person": (300, 43)},
        [],
        {"words": 0, "chunks": 0},
        GOOD,
        FIT,
        Audit(RAN, None, 0.2),
    )
    return replace(found, **changes)


def passed(found):
    return {gate.name: gate.passed for gate in check_gates(found)}


def test_a_good_release_passes_all():
    assert passed(evidence()) == {
        "direct identifiers": True, "names given away": True, "mixture": True, "risk fit": True,
        "swaps": True,
    }  # fmt: skip
    assert {gate.verdict for gate in check_gates(evidence())} == {"passed"}
    assert passed(evidence(forgotten=0))["account of names"]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("direct identifiers", {"leaks": [LEAK]}),
        ("direct identifiers", {"searched": {}}),
        ("names given away", {"given_away": {"words": 3, "chunks": 2}}),
        ("account of names", {"forgotten": 1}),
        ("mixture", {"model": SimpleNamespace(**vars(GOOD) | {"converged": False})}),
        ("mixture", {"model": SimpleNamespace(**vars(GOOD) | {"capped": (0, 1)})}),
        (
            "mixture",
            {
                "model": SimpleNamespace(**vars(GOOD) | {"capped": (0,)}),
                "settings": {"gates": {"on_poor_fit": "refuse"}},
            },
        ),
        ("risk fit", {"risk_fit": FIT | {"converged": False, "reason": "one_cell"}}),
        ("risk fit", {"risk_fit": FIT | {"fit_p_value": 0.005}}),
        ("swaps", {"settings": {"gates": {"min_swaps": 4}}}),
        ("linkage adversary", {"settings": {"gates": {"max_linkage_accuracy": 0.1}}}),
    ],
)
def test_each_refuses(name, changes):
    assert not passed(evidence(**changes))[name]


@pytest.mark.parametrize(("reason", "refused"), [("no_plan", ["account of names"]), ("late", [])])
def test_a_release_that_does_not_account_for_every_name_is_refused(monkeypatch, reason, refused):
    good = evidence()
    for module, name, found in (
        (release, "foreign_documents", 0),
        (release, "_leaks", (good.leaks, good.searched)),
        (release, "_given_away", good.given_away),
        (searched_stages, "secrets_accepted", 0),
    ):
        monkeypatch.setattr(module, name, lambda *_, found=found: found)
    fits = pd.DataFrame([FIT | {"combination": CHOICE.combination.name}])
    store = SimpleNamespace(read_pandas=lambda name: fits)
    context = SimpleNamespace(config=good.config, table=lambda name: None, store=store)
    publication = release.Publication(context, Progress(1), "", "", False)
    publication.choice, publication.models = CHOICE, {CHOICE.setting: GOOD}
    publication.figures, publication.audit = {"documents": good.documents}, good.audit
    publication.assembled = publication.measured = None
    publication.language_models = []
    rows = [("Person", "exchanged", "", 7, 5), ("Person", "kept", reason, 2, 1)]
    publication.coverage = pd.DataFrame(rows, columns=COVERAGE.names)
    release.check_release(publication)
    assert publication.passed is not bool(refused)
    open_gates = [gate for gate in publication.gates if not gate.passed]
    assert [gate.name for gate in open_gates] == refused
    assert all("2 names" in gate.detail and not gate.waits for gate in open_gates)


@pytest.mark.parametrize(("unit", "field"), [("documents", "named"), ("chunks", "chunks_named")])
def test_what_may_be_named_is_bounded_and_must_be_measured(unit, field):
    bound = {"gates": {f"max_{unit}_named": 0.3}}
    named = {"attacker": "combined", "named": 0.35, "n": 40}
    verdicts = {}
    for name, found in (("more", named), ("fewer", named | {"named": 0.3}), ("none", None)):
        (gate,) = [
            g
            for g in check_gates(evidence(settings=bound, **{field: found}))
            if g.name == f"{unit} named"
        ]
        verdicts[name] = gate
    assert {name: gate.passed for name, gate in verdicts.items()} == {
        "more": False, "fewer": True, "none": False
    }  # fmt: skip
    assert f"(combined) names 35.0% of 40 {unit}, bound 30.0%" in verdicts["more"].detail
    assert "was not measured" in verdicts["none"].detail
    assert f"{unit} named" not in passed(evidence(**{field: named}))  # no bound


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({}, "REFUSED"),
        ({"outside_text": 4, "unmapped": 2}, "REFUSED"),
        ({"used": 90, "outside_text": 1}, "warning"),
        ({"used": 90, "cut": 3, "not_presented": 40}, "passed"),
    ],
)
def test_spans_that_came_with_the_input_must_be_of_use(given, verdict):
    (gate,) = [g for g in check_gates(evidence(given=given)) if g.name == "given spans"]
    assert (gate.verdict if gate.passed else "REFUSED") == verdict
    assert all(f"{n} {fate.replace('_', ' ')}" in gate.detail for fate, n in given.items())
    assert "given spans" not in passed(evidence())


def test_a_bound_adversary_that_did_not_run_refuses():
    bound = {"gates": {"max_linkage_accuracy": 1.0}}
    assert not passed(evidence(settings=bound, audit=Audit([], None, None)))["linkage adversary"]
    assert passed(evidence(settings=bound))["linkage adversary"]
    both = bound | {"audit": {"gate_models": ["linkage", "words-self"]}}
    (gate,) = [g for g in check_gates(evidence(settings=both)) if g.name == "linkage adversary"]
    assert not gate.passed
    assert "did not run: words-self" in gate.detail
    none = bound | {"audit": {"gate_models": []}}
    assert not passed(evidence(settings=none))["linkage adversary"]


GPT = {"name": "gpt", "model": "gpt-x"}


def asked(settings, mean):
    """What an audit with these settings wrote down."""
    audit = build_config({"input": INPUT} | settings).audit
    (model,) = audit.models
    return [{"model": "gpt", "post": {"mean": mean}, "settings": settings_digest(audit, model)}]


def test_a_language_model_that_was_not_asked_keeps_the_release_waiting():
    settings = {
        "gates": {"max_linkage_accuracy": 0.25},
        "audit": {"models": [GPT], "gate_models": ["linkage", "gpt"]},
    }

    def gate(**changes):
        found = check_gates(evidence(settings=settings, **changes))
        assert passed(evidence(settings=settings, **changes))["linkage adversary"]
        (found,) = [g for g in found if g.name == "language models"]
        return found

    waiting = gate()
    assert (waiting.passed, waiting.verdict) == (False, "waiting")
    assert "waits for the audit by gpt: 'nes-spark audit RUN_DIR'" in waiting.detail
    answers = asked(settings, 0.25)
    assert gate(language_models=answers).verdict == "passed"
    assert gate(language_models=asked(settings, 0.26)).verdict == "refused"
    assert gate(language_models=asked(settings, float("nan"))).verdict == "refused"
    for other in ({"prompt": "Whose? {text}"}, {"draws": 3}, {"models": [GPT | {"model": "y"}]}):
        of_others = asked({"audit": settings["audit"] | other}, 0.0)
        assert gate(language_models=of_others).verdict == "waiting"
    none = replace(CHOICE, combination=Combination(), n_swaps=0)
    alone = settings | {"audit": {"models": [GPT], "gate_models": ["gpt"]}}
    found = passed(evidence(settings=alone, choice=none, risk_fit=None, language_models=answers))
    assert not found["language models"]
    assert "linkage adversary" not in found


def test_a_secret_that_only_accepted_kinds_find_refuses():
    accepting = {"gates": {"accept_identifiers": ["person"]}}
    assert passed(evidence(settings=accepting))["direct identifiers"]
    (first, *_) = check_gates(evidence(settings=accepting, secret_accepted=2))
    assert not first.passed
    assert "in 2 of 43 documents" in first.detail
    assert "found as person only" in first.detail


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        ("direct identifiers", {"searched": {"company": (120, 43)}}, "person for 43 of 43"),
        ("language", {"foreign": 5}, "5 of 43 documents"),
        ("mixture", {"model": SimpleNamespace(**vars(GOOD) | {"capped": (1,)})}, "1 of 3 comp"),
        (
            "risk fit",
            {
                "risk_fit": FIT | {"fit_p_value": 0.005},
                "settings": {"gates": {"on_poor_fit": "warn"}},
            },
            "p = 0.005",
        ),
        ("risk fit", {"risk_fit": FIT | {"fit_p_value": float("nan")}}, "too few cells"),
    ],
)
def test_what_is_not_as_it_should_be_is_a_warning_and_never_passed(name, changes, said):
    (gate,) = [g for g in check_gates(evidence(**changes)) if g.name == name]
    assert gate.verdict == "warning"
    assert said in gate.detail


def test_a_poor_fit_on_which_the_choice_rests_says_what_to_do():
    poor = {"risk_fit": FIT | {"fit_p_value": 0.005}}
    (gate,) = [g for g in check_gates(evidence(**poor)) if g.name == "risk fit"]
    assert gate.verdict == "refused"
    for key in ("audit.max_documents", "choice.rule=coverage", "gates.on_poor_fit=warn"):
        assert key in gate.detail


def test_the_line_says_what_was_searched():
    (first, *_) = check_gates(evidence())
    assert "searched 420 forms in 43 documents" in first.detail


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
