"""The choice under noise, and the three faults that averages alone have."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from nes_spark.errors import EstimationError
from nes_spark.releases.decision import (
    Draws,
    Levels,
    decide,
    decide_levels,
    doubt_of,
    draws_of,
)


def draws(risk, utility, n_swaps=None):
    risk, utility = np.array(risk, dtype=float), np.array(utility, dtype=float)
    c = risk.shape[1]
    swaps = np.arange(c) if n_swaps is None else np.array(n_swaps)
    return Draws(tuple(range(c)), swaps, np.arange(len(risk)), risk, utility)


def scores(rows):
    return pd.DataFrame(rows, columns=["combination", "n_swaps", "draw", "DR", "DU"])


def noisy(rng, m, risk, utility, noise=0.0005):
    """Draws of candidates whose utility has noise of its own around a true value."""
    c = len(risk)
    made = rng.normal(0, noise, (m, c))
    made[:, 0] = 0  # the release without swaps has none
    return draws(np.tile(risk, (m, 1)), np.array(utility) + made)


def test_what_is_published_is_a_draw_that_reached_the_number_of_swaps():
    """Draw 0 has 12 swaps; a candidate of 13 was published with it."""
    rows = []
    for draw, most in enumerate([12, 14, 13]):
        rows += [("A+B", s, draw, 1 - 0.05 * s, 1 - 0.0001 * s) for s in range(1, most + 1)]
    found = draws_of(scores(rows), 3)
    chosen = decide(found, eligible=[n == ("A+B", 13) for n in found.names])
    assert found.names[chosen.chosen] == ("A+B", 13)
    assert chosen.draw == 1
    assert chosen.n_draws[chosen.chosen] == 2
    assert chosen.incomplete[chosen.chosen]
    assert not chosen.incomplete[found.names.index(("A+B", 12))]


def test_a_candidate_that_few_draws_reached_does_not_win_by_their_luck():
    """Draws differ by much more than candidates; the lucky ones alone come to three swaps."""
    rng = np.random.default_rng(0)
    level = np.linspace(0.0, 0.2, 12)  # what a draw does to all its candidates
    rows = []
    for draw in range(12):
        for swaps, risk in ((1, 0.50), (2, 0.40), (3, 0.42)):
            if swaps < 3 or draw < 3:
                noise = rng.normal(0, 0.001)
                rows.append(("A+B", swaps, draw, risk + level[draw] + noise, 0.99))
    found = draws_of(scores(rows), 12, nothing=(1.2, 1.0))
    chosen = decide(found)
    averages = {name: chosen.risk[i] for i, name in enumerate(found.names)}
    assert averages["A+B", 3] < averages["A+B", 2]  # the averages alone would choose three
    assert found.names[chosen.chosen] == ("A+B", 2)
    assert chosen.n_draws.tolist() == [12, 12, 12, 3]
    # with a real advantage on the draws it has, it is chosen all the same
    better = scores(rows)
    better.loc[better["n_swaps"] == 3, "DR"] -= 0.05
    again = draws_of(better, 12, nothing=(1.2, 1.0))
    assert again.names[decide(again).chosen] == ("A+B", 3)


def test_a_candidate_that_few_draws_reached_does_not_win_a_tie():
    made = [[1.0, 0.50, 0.499], [1.0, 0.51, 0.512], [1.0, 0.49, math.nan], [1.0, 0.50, math.nan]]
    utility = [[1.0, 0.9, math.nan if math.isnan(row[2]) else 0.9] for row in made]
    found = decide(draws(made, utility))
    assert found.tied.tolist() == [1, 2]
    assert found.chosen == 1
    # nor when the differences that it has are all a little in its favour
    made[1][2] = 0.5095
    found = decide(draws(made, utility))
    assert found.tied.tolist() in ([1, 2], [2])
    assert found.chosen == found.best


def test_utility_above_one_is_no_gain_and_the_lower_risk_decides():
    """Of releases that only luck tells apart the averages choose the luckiest."""
    rng = np.random.default_rng(1)
    risk, utility = [1.0, 0.99, 0.98, 0.97], [1.0, 1.0002, 1.0003, 1.0001]
    chosen = []
    for _ in range(30):
        made = noisy(rng, 10, risk, utility)
        found = decide(made, "max_utility", max_risk=0.99)
        chosen.append(found.chosen)
        assert found.utility.max() <= 1.0
        assert found.frontier[0]  # the release without swaps is its anchor
    assert chosen.count(3) >= 27
    # with the noise in what is compared, and no ties, each of them won in its turn
    naive = [
        int(np.argmax(noisy(rng, 10, risk, utility).utility.mean(axis=0)[1:])) for _ in range(30)
    ]
    assert len(set(naive)) > 1


def test_a_difference_beyond_two_standard_errors_is_one():
    rng = np.random.default_rng(2)
    made = noisy(rng, 10, [1.0, 0.9, 0.5], [1.0, 0.999, 0.95])
    found = decide(made, "max_utility", max_risk=0.9)
    assert found.chosen == found.best == 1
    assert found.tied.tolist() == [1]
    # common noise cancels in paired differences, however large it is
    common = rng.normal(0, 0.5, (10, 1)) * np.array([0, 1, 1])
    made = draws(made.risk, made.utility - 2 * np.array([0, 1, 1]) + common)
    found = decide(made, "max_utility", max_risk=0.9)
    assert found.tied.tolist() == [1]
    assert found.utility_se[1] > abs(found.utility[1] - found.utility[2])


def test_a_toss_is_called_one_and_a_clear_choice_is_not():
    rng = np.random.default_rng(3)
    risk, utility = np.array([1.0, 0.8, 0.8, 0.8]), np.array([1.0, 0.9, 0.9, 0.9])
    noise = rng.normal(0, 0.01, (8, 4)) * np.array([0, 1, 1, 1])
    equal = draws(risk + noise, np.tile(utility, (8, 1)))
    found = decide(equal, resamples=300)
    assert found.stability.sum() == pytest.approx(1)
    assert found.confidence < 0.9
    clear = draws(risk + noise - np.array([0, 0.3, 0, 0]), np.tile(utility, (8, 1)))
    again = decide(clear, resamples=300)
    assert again.chosen == 1
    assert again.confidence == 1.0
    assert not again.is_toss
    assert again.stability_of(["none", "A", "A", "B"]) == {"none": 0.0, "A": 1.0, "B": 0.0}
    assert decide(clear, resamples=300).stability.tolist() == again.stability.tolist()
    # three that luck alone tells apart, by draws that hardly agree
    wild = draws(risk + 30 * noise, np.tile(utility, (8, 1)))
    votes = decide(wild, resamples=300, eligible=[False, True, True, True])
    assert votes.confidence < 1


def test_one_draw_has_no_errors_and_ties_only_where_figures_are_equal():
    one = draws([[1.0, 0.9, 0.8]], [[1.0, 0.97, 0.97]])
    found = decide(one, "max_utility", max_risk=0.95, resamples=100)
    assert found.chosen == 2  # equal utility: lower risk
    assert np.isnan(found.risk_se).all()
    assert found.stability is None
    assert math.isnan(found.confidence)
    other = draws([[1.0, 0.9, 0.8]], [[1.0, 0.9701, 0.97]])
    assert decide(other, "max_utility", max_risk=0.95).chosen == 1


def test_rules_and_bounds():
    made = draws([[1.0, 0.9, 0.5, 0.2]] * 3, [[1.0, 0.99, 0.9, 0.3]] * 3)
    assert decide(made).chosen == 3
    assert decide(made, min_utility=0.85).chosen == 2
    assert decide(made, "max_utility", max_risk=0.95).chosen == 1
    assert decide(made, "line", slope=1.0).chosen == 2
    assert decide(made, "line", slope=5.0).chosen == 1
    assert decide(made, eligible=[True, True, False, False]).chosen == 1
    with pytest.raises(EstimationError, match=r"lowest risk is 0\.2") as refused:
        decide(made, "max_utility", max_risk=0.1)
    assert refused.value.reason == "empty_feasible_set"
    for wrong in ({"rule": "best"}, {"slope": 0.0}, {"rule": "max_utility"}, {"resamples": -1}):
        with pytest.raises(ValueError, match="decide"):
            decide(made, **wrong)
    with pytest.raises(ValueError, match="eligible"):
        decide(made, eligible=[True])


def test_tables_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="risk"):
        Draws((0, 1), np.zeros(2, int), np.arange(2), np.zeros((1, 2)), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="utility"):
        draws([[1.0, 0.5]], [[1.0, math.nan]])
    with pytest.raises(ValueError, match="infinity"):
        draws([[1.0, math.inf]], [[1.0, 1.0]])
    with pytest.raises(ValueError, match="several"):
        draws_of(scores([("A", 1, 0, 0.9, 1.0)] * 2), 1)
    with pytest.raises(ValueError, match="n_draws"):
        draws_of(scores([("A", 1, 4, 0.9, 1.0)]), 2)
    only = draws_of(scores([]), 3)
    assert decide(only).chosen == 0
    assert only.names == (("", 0),)


@given(st.integers(0, 10**6))
@example(52463)  # two candidates that differ in the last bit of a sum
@settings(max_examples=40, deadline=None)
def test_order_of_rows_and_of_draws_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    m, c = 6, 5
    risk = np.round(rng.random((m, c)), 2)
    utility = np.round(1 + rng.normal(0, 0.05, (m, c)), 2)
    gone = rng.random((m, c)) < 0.2
    gone[:, 0] = False
    risk[gone] = utility[gone] = math.nan
    made = draws(risk, utility)
    found = decide(made, "line")
    assert found.chosen in found.tied
    assert found.best in found.tied
    assert made.reached[found.draw, found.chosen]
    assert found.frontier[0]
    order = rng.permutation(m)
    again = decide(Draws(made.names, made.n_swaps, order, risk[order], utility[order]), "line")
    assert (again.chosen, again.draw) == (found.chosen, found.draw)


# -- figures with standard errors, not draws ---------------------------------------------------


def levels(risk, utility, risk_se=0.0, utility_se=0.0, beside=None):
    c = len(risk)
    return Levels(
        np.arange(c),
        np.array(risk, dtype=float),
        np.broadcast_to(np.array(risk_se, dtype=float), c),
        np.array(utility, dtype=float),
        np.broadcast_to(np.array(utility_se, dtype=float), c),
        np.array(risk if beside is None else beside, dtype=float),
    )


def test_what_cannot_be_told_apart_is_decided_for_protection():
    """Nine in ten documents are named whatever is swapped: luck picks the half-swapped release."""
    risk = [0.97, 0.95, 0.91, 0.93]
    dr = [1.0, 0.9, 0.8, 0.7]
    sure = decide_levels(levels(risk, [1, 0.99, 0.98, 0.97], 0.001, beside=dr))
    assert (sure.chosen, sure.best, sure.tied.tolist()) == (2, 2, [2])
    unsure = decide_levels(levels(risk, [1, 0.99, 0.98, 0.97], 0.03, beside=dr))
    assert (unsure.chosen, unsure.best, unsure.tied.tolist()) == (3, 2, [0, 1, 2, 3])
    # where the second risk says nothing either, more swaps are made
    same = decide_levels(levels([0.9] * 4, [1, 0.99, 0.98, 0.97], beside=[1.0] * 4))
    assert same.chosen == 3


def test_bounds_and_rules_of_levels():
    risk, utility = [1.0, 0.6, 0.3, 0.2], [1.0, 0.95, 0.9, 0.6]
    found = levels(risk, utility)
    assert decide_levels(found).chosen == 3
    assert decide_levels(found, min_utility=0.9).chosen == 2
    assert decide_levels(found, "max_utility", max_risk=0.65).chosen == 1
    assert decide_levels(found, "line", slope=1.0).chosen == 2
    assert decide_levels(found, "line", slope=100.0).chosen == 0
    assert decide_levels(found, eligible=[True, True, False, False]).chosen == 1
    assert found.n_swaps.tolist() == [0, 1, 2, 3]
    with pytest.raises(EstimationError) as caught:
        decide_levels(found, "max_utility", max_risk=0.1)
    assert caught.value.reason == "empty_feasible_set"
    with pytest.raises(ValueError, match="max_risk"):
        decide_levels(found, "max_utility")
    with pytest.raises(ValueError, match="rule"):
        decide_levels(found, "max_rate")


def test_a_candidate_that_was_not_measured_is_not_chosen():
    found = decide_levels(levels([1.0, math.nan, 0.5], [1.0, 0.9, 0.8]))
    assert found.chosen == 2
    assert found.frontier.tolist() == [True, False, True]
    with pytest.raises(EstimationError) as caught:
        decide_levels(levels([math.nan], [math.nan]))
    assert caught.value.reason == "no_candidates"


def test_utility_above_its_cap_is_no_gain_for_levels():
    found = decide_levels(levels([1.0, 0.8], [1.0, 1.2]), "max_utility", max_risk=1.0)
    assert found.chosen == 1  # they tie at the cap, the lower risk decides
    assert found.frontier.tolist() == [True, True]


def judged(rng, m, documents, truth, noise, draw_noise=0.0):
    """Draws of equal risk whose utility a sample of documents gave, with what they share."""
    c = len(truth)
    risk = 0.5 + rng.normal(0, draw_noise, (m, c)) if draw_noise else np.full((m, c), 0.5)
    parts = rng.normal(0, noise, (documents, 1)) + rng.normal(0, noise / 20, (documents, c))
    sample = (parts - parts.mean(axis=0)) / documents
    utility = np.array(truth) + parts.mean(axis=0)
    made = Draws(tuple(range(c)), np.arange(c), np.arange(m), risk, np.full((m, c), 0.0))
    return made.with_utility(utility, sample)


def test_candidates_judged_on_the_same_documents_are_compared_on_them():
    """Each figure is off by .05, their differences by .0025: .02 apart is no tie."""
    rng = np.random.default_rng(0)
    rule = {"rule": "max_utility", "max_risk": 1.0, "resamples": 200, "cap": math.inf}
    right, errors = 0, []
    for _ in range(10):
        found = decide(judged(rng, 5, 40, [0.90, 0.92, 0.88], 0.3), **rule)
        right += found.chosen == 1
        errors.append(found.utility_se[1])
        assert found.tied.tolist() == [1]
        assert found.confidence > 0.95
    assert right == 10
    assert np.mean(errors) == pytest.approx(0.3 / math.sqrt(40), rel=0.1)
    # without knowing what they share all three tie, and the first is as good as any
    alone = judged(rng, 5, 40, [0.90, 0.92, 0.88], 0.3)
    apart = alone.with_utility(alone.utility[0], np.diag(np.sqrt((alone.sample**2).sum(axis=0))))
    assert decide(apart, "max_utility", max_risk=1.0).tied.tolist() == [0, 1, 2]


def test_a_tie_in_a_sample_is_a_toss():
    rng = np.random.default_rng(1)
    firm = []
    for _ in range(20):
        made = judged(rng, 10, 40, [0.9, 0.9, 0.9, 0.9], 0.3, draw_noise=0.01)
        firm.append(decide(made, "line", slope=1.0, resamples=100).confidence)
    assert np.mean([share < 0.9 for share in firm]) >= 0.9


def test_a_candidate_that_the_judge_did_not_read_cannot_be_chosen():
    made = draws([[1.0, 0.5, 0.2]] * 4, [[1.0, 0.9, 0.9]] * 4)
    read = made.with_utility(np.array([1.0, 0.9, math.nan]), np.zeros((2, 3)))
    found = decide(read, resamples=20)
    assert found.chosen == 1
    assert found.confidence == 1.0
    with pytest.raises(ValueError, match="3 columns"):
        made.with_utility(np.array([1.0, 0.9, 0.8]), np.zeros((2, 2)))


def test_levels_say_how_stable_the_choice_among_them_is():
    risk, utility = [0.9, 0.5, 0.5, 0.5], [1, 0.99, 0.98, 0.97]
    sure = decide_levels(levels([0.9, 0.8, 0.7, 0.2], utility, 0.02), resamples=200)
    assert (sure.chosen, sure.stability) == (3, 1.0)
    weighed = decide_levels(levels(risk, utility, 0.1), "line", slope=1.0, resamples=200)
    again = decide_levels(levels(risk, utility, 0.1), "line", slope=1.0, resamples=200)
    assert weighed.stability == again.stability < 1
    assert math.isnan(decide_levels(levels(risk, utility, 0.1)).stability)
    with pytest.raises(ValueError, match="resamples"):
        decide_levels(levels(risk, utility, 0.1), resamples=-1)


def test_the_doubt_about_p_hat_makes_combinations_a_toss_and_prefixes_of_one_not():
    """Draws cannot show it: they share the estimate that the risk of a combination rests on."""
    risk, utility = [[1.0, 0.95, 0.93, 0.92]] * 6, [[1.0, 0.9, 0.9, 0.9]] * 6
    low, high = doubt_of(0.33, 0.20, 0.46)
    assert 0.33 * math.exp(-1.959963984540054 * low) == pytest.approx(0.20)
    assert 0.33 * math.exp(1.959963984540054 * high) == pytest.approx(0.46)
    assert doubt_of(5e6, 0.5, 1e9) == (pytest.approx(math.log(2) / 1.96, rel=1e-4), 0.0)
    doubt = np.array([[0, low, low, low], [0, high, high, high]])
    one = replace(draws(risk, utility), groups=np.array([0, 1, 1, 1]), doubt=doubt)
    assert decide(one, resamples=200).confidence == 1.0
    two = replace(one, groups=np.array([0, 1, 1, 2]))
    found = decide(two, resamples=200)
    assert found.chosen == 3
    assert 0.5 < found.confidence < 0.9
    assert found.is_toss
