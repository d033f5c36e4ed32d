from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as reference

from nes_spark.audit import mcnemar
from nes_spark.audit.statistics import (
    accuracy_over_draws,
    bootstrap_drop,
    coupled_drop,
    paired_table,
    texts_needed,
    warnings_for,
)

GEMINI = [[1277, 760], [37, 108]]
GPT = [[1200, 738], [31, 213]]


@pytest.mark.parametrize(
    ("table", "statistic", "pre", "post"),
    [(GEMINI, 722**2 / 797, 0.934, 0.602), (GPT, 706**2 / 769, 0.888, 0.564)],
)
def test_tables_of_the_paper(table, statistic, pre, post):
    result = mcnemar(table)
    assert result.statistic == pytest.approx(statistic, rel=1e-12)
    assert 0 < result.p_value < 1e-100
    assert 0 < result.exact_p_value < 1e-100
    assert result.mid_p_value < result.exact_p_value
    assert result.n == 2182
    # Table 1 of the paper is the margin of table 2.
    assert round(result.accuracy_pre, 3) == pytest.approx(pre, abs=6e-4)
    assert round(result.accuracy_post, 3) == pytest.approx(post, abs=6e-4)
    assert result.cohens_g > 0.25
    assert result.odds_ratio_interval[0] < result.odds_ratio < result.odds_ratio_interval[1]


@settings(max_examples=80, deadline=None)
@given(*[st.integers(0, 400)] * 4)
def test_agrees_with_statsmodels(a, b, c, d):
    ours = mcnemar([[a, b], [c, d]])
    exact = reference([[a, b], [c, d]], exact=True)
    assert ours.exact_p_value == pytest.approx(exact.pvalue if b + c else 1.0, rel=1e-9)
    if b != c:
        theirs = reference([[a, b], [c, d]], exact=False, correction=True)
        assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-12)
        assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    assert ours.mid_p_value <= ours.exact_p_value + 1e-12
    swapped = mcnemar([[a, c], [b, d]])
    assert swapped.statistic == ours.statistic
    assert swapped.exact_p_value == pytest.approx(ours.exact_p_value)


def test_no_discordant_pairs():
    result = mcnemar([[10, 0], [0, 3]])
    assert (result.statistic, result.p_value, result.exact_p_value) == (0.0, 1.0, 1.0)
    assert result.mid_p_value == 1.0
    assert math.isnan(result.cohens_g)
    assert math.isnan(result.odds_ratio)
    assert result.odds_ratio_interval == (0.0, math.inf)
    assert math.isnan(mcnemar([[0, 0], [0, 0]]).accuracy_pre)


def test_even_and_one_sided_tables():
    even = mcnemar([[5, 1], [1, 5]])
    assert (even.statistic, even.p_value, even.exact_p_value) == (0.0, 1.0, 1.0)
    assert even.cohens_g == 0
    one_sided = mcnemar([[5, 6], [0, 5]])
    assert one_sided.exact_p_value == pytest.approx(2 / 64)
    assert one_sided.mid_p_value == pytest.approx(1 / 64)
    assert one_sided.odds_ratio == math.inf
    # Clopper-Pearson: the lower end p solves p^6 = 0.025.
    p = 0.025 ** (1 / 6)
    assert one_sided.odds_ratio_interval == (pytest.approx(p / (1 - p)), math.inf)
    other = mcnemar([[5, 0], [6, 5]])
    assert other.odds_ratio == 0
    assert other.odds_ratio_interval == (0.0, pytest.approx((1 - p) / p))


@pytest.mark.parametrize(
    "table",
    [
        [[1, 2]],
        [[1, 2], [3, -4]],
        [[1, 2], [3, 0.5]],
        [[1, 2], [3, math.nan]],
        "no",
        [["a"] * 2] * 2,
    ],
)
def test_refuses_what_is_no_table(table):
    with pytest.raises(ValueError, match="'table' parameter of mcnemar must be a 2 x 2 table"):
        mcnemar(table)


def test_refuses_a_bad_level():
    with pytest.raises(ValueError, match="'confidence'"):
        mcnemar(GEMINI, confidence=1.0)


def test_accuracy_over_draws():
    result = accuracy_over_draws([0, 0, 1, 1, 1, 1], [1, 0, 1, 1, 1, 0])
    assert result.by_draw == {0: 0.5, 1: 0.75}
    assert result.counts == {0: 2, 1: 4}
    assert result.mean == 0.625
    assert result.sd == pytest.approx(np.std([0.5, 0.75], ddof=1))
    assert math.isnan(accuracy_over_draws([3, 3], [1, 0]).sd)
    with pytest.raises(ValueError, match="not empty"):
        accuracy_over_draws([], [])


def test_paired_table():
    table = paired_table([1, 1, 1, 0, 0], [1, 0, 0, 1, 0])
    assert table.tolist() == [[1, 2], [1, 1]]
    with pytest.raises(ValueError, match="as long as 'pre'"):
        paired_table([1], [1, 0])


def test_bootstrap_ignores_the_order_of_pairs():
    rng = np.random.default_rng(4)
    documents = [f"d{i % 12}" for i in range(200)]
    pre, post = rng.random(200) < 0.9, rng.random(200) < 0.5
    first = bootstrap_drop(documents, pre, post, 500)
    order = rng.permutation(200)
    second = bootstrap_drop([documents[i] for i in order], pre[order], post[order], 500)
    assert first == second
    assert first.low < first.drop < first.high
    assert first.drop == pytest.approx(pre.mean() - post.mean())


def test_bootstrap_is_wider_when_documents_agree_within():
    # 20 documents of 20 pairs; in the clustered version whole documents lose or do not.
    documents = np.repeat([f"d{i:02d}" for i in range(20)], 20)
    pre = np.ones(400, dtype=bool)
    spread = np.arange(400) % 2 == 0
    clustered = np.repeat(np.arange(20) % 2 == 0, 20)
    narrow = bootstrap_drop(documents, pre, spread)
    wide = bootstrap_drop(documents, pre, clustered)
    assert narrow.drop == wide.drop == 0.5
    assert narrow.standard_error == 0
    # The drop is a mean over 20 documents of 0 or 1.
    assert wide.standard_error == pytest.approx(math.sqrt(0.25 / 20), rel=0.1)


def coupled(rng, m, swaps, spread):
    """Both chunks of each swap lose or not, by what their two documents are like."""
    a = rng.integers(m, size=swaps)
    b = (a + 1 + rng.integers(m - 1, size=swaps)) % m
    like = rng.normal(0, spread, m)
    lost = [(0.3 + like[a] + like[b] + rng.normal(size=swaps) > 0).astype(int) for _ in range(2)]
    names = np.array([f"d{i:02d}" for i in range(m)])
    return [*names[a], *names[b]], [*names[b], *names[a]], np.concatenate(lost)


def test_documents_that_a_swap_couples_are_no_independent_evidence():
    """Coverage over made audits: taken as independent they cover far too seldom."""
    rng = np.random.default_rng(8)
    truth = stats.norm.cdf(0.3 / math.sqrt(1 + 2 * 0.7**2))
    hits = {"coupled": 0, "apart": 0}
    runs = 150
    for _ in range(runs):
        documents, partners, lost = coupled(rng, 30, 60, 0.7)
        ones = np.ones(len(lost), dtype=int)
        found = coupled_drop(documents, partners, ones, lost)
        hits["coupled"] += found.low <= truth <= found.high
        apart = bootstrap_drop(documents, ones, 1 - lost, 400)
        assert apart.drop == pytest.approx(found.drop)
        hits["apart"] += apart.low <= truth <= apart.high
    assert hits["apart"] / runs < 0.85
    assert hits["coupled"] / runs > 0.88


def test_coupled_drop_by_hand():
    # three documents; the swap a-b loses both, the swap b-c none
    found = coupled_drop(["a", "b", "b", "c"], ["b", "a", "c", "b"], [1] * 4, [1, 1, 0, 0])
    assert found.drop == 0.5
    # deviations: couple ab +1, couple bc -1; documents a +1, b 0, c -1
    variance = 3 / 2 * (1 + 0 + 1) - (1 + 1)
    assert found.standard_error == pytest.approx(math.sqrt(max(variance, 2)) / 4)
    half = stats.t.ppf(0.975, 2) * found.standard_error
    assert (found.low, found.high) == (pytest.approx(-min(half - 0.5, 1.0)), 1.0)
    assert found.documents == 3


def test_coupled_drop_ignores_order_and_splitting_of_rows():
    documents, partners, lost = coupled(np.random.default_rng(2), 9, 20, 0.5)
    first = coupled_drop(documents, partners, [2] * 40, lost * 2)
    order = np.random.default_rng(3).permutation(40)
    twice = [*order, *order]
    again = coupled_drop(
        [documents[i] for i in twice], [partners[i] for i in twice], [1] * 80, lost[twice]
    )
    assert again == first
    # without partners the documents are clusters of their own: the usual sandwich
    alone = coupled_drop(documents, [""] * 40, [1] * 40, lost)
    sums = np.bincount([int(d[1:]) for d in documents], lost - alone.drop, minlength=9)
    assert alone.standard_error == pytest.approx(math.sqrt(9 / 8 * (sums**2).sum()) / 40)


def test_one_couple_of_documents_has_no_interval():
    found = coupled_drop(["a", "b"], ["b", "a"], [3, 3], [1, 2])
    assert found.drop == 0.5
    assert math.isnan(found.low)
    assert math.isnan(found.standard_error)
    for wrong in (
        ((["a"], [], [1], [1]), "documents"),
        (([], [], [], []), "documents"),
        ((["a"], [""], [1], [1], 1.5), "confidence"),
    ):
        with pytest.raises(ValueError, match=wrong[1]):
            coupled_drop(*wrong[0])


def test_bootstrap_of_one_document_has_no_interval():
    result = bootstrap_drop(["d"] * 3, [1, 1, 0], [0, 1, 0])
    assert result.drop == pytest.approx(1 / 3)
    assert math.isnan(result.low)
    assert result.documents == 1


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((["d"], [1, 0], [1, 0]), "documents"),
        (([], [], []), "documents"),
        ((["d"], [1], [1], 0), "n_resamples"),
        ((["d"], [1], [1], 10, 0), "confidence"),
    ],
)
def test_bootstrap_refuses(arguments, name):
    with pytest.raises(ValueError, match=name):
        bootstrap_drop(*arguments)


def test_warnings():
    clear = warnings_for({0: 60}, mcnemar(GEMINI), 30)
    assert clear == []
    found = warnings_for({0: 4, 1: 60}, mcnemar([[10, 3], [1, 2]]), 3)
    assert len(found) == 4
    assert "1 of 2 draws have fewer than 25 swapped chunks (the smallest has 4)" in found[0]
    assert "exact" in found[1]
    assert "3 documents" in found[2]


@pytest.mark.parametrize(("width", "share"), [(0.1, 0.5), (0.06, 0.3), (0.2, 0.1)])
def test_so_many_texts_give_an_interval_of_that_width(width, share):
    """The usual interval of a share of so many independent texts is as wide as asked."""
    n = texts_needed(width, share)
    draws = np.random.default_rng(1).binomial(n, share, 20_000) / n
    assert 3.92 * draws.std() == pytest.approx(width, rel=0.03)
    assert texts_needed(width, share, confidence=0.99) > n


def test_texts_of_one_document_say_less():
    """Documents whose chunks go together: simulated, with intraclass correlation .25."""
    rho, m = 0.25, 8
    n = texts_needed(0.1, 0.4, m, rho)
    documents = round(n / m)
    rng = np.random.default_rng(2)
    # A chunk takes its document's value with probability sqrt(rho), else one of its own.
    own = rng.random((4000, documents, 1)) < 0.4
    each = rng.random((4000, documents, m)) < 0.4
    same = rng.random((4000, documents, m)) < rho**0.5
    shares = np.where(same, own, each).mean(axis=(1, 2))
    assert 3.92 * shares.std() == pytest.approx(0.1, rel=0.06)
    assert texts_needed(0.1, 0.4, m, 1.0) == pytest.approx(m * texts_needed(0.1, 0.4), abs=m)


@pytest.mark.parametrize(
    "wrong",
    [{"width": 0}, {"width": 1}, {"width": 0.1, "share": 1}, {"width": 0.1, "per_document": 0.5},
     {"width": 0.1, "correlation": 2}, {"width": 0.1, "confidence": 0}],
)  # fmt: skip
def test_texts_needed_says_what_is_allowed(wrong):
    with pytest.raises(ValueError, match="texts_needed"):
        texts_needed(**wrong)
