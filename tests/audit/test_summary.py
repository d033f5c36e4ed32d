"""What an audit found, in few figures."""

import pandas as pd
import pytest

from nes_spark.audit.summary import independent_agreement


def attacks(risks, success, swaps=6):
    """One sequence a combination whose risk and success fall in proportion to its swaps."""
    rows = [
        (f"C{i}", n, 1 - (1 - risk) * n / swaps, 0.8 - (0.8 - named) * n / swaps)
        for i, (risk, named) in enumerate(zip(risks, success, strict=True))
        for n in range(1, swaps + 1)
    ]
    return pd.DataFrame(rows, columns=["combination", "n_swaps", "DR", "corpus_accuracy"])


def test_prefixes_of_one_sequence_do_not_make_an_agreement():
    """Within each combination the two fall together; between combinations they are opposed."""
    risks, success = [0.9, 0.8, 0.7, 0.6, 0.5], [0.1, 0.2, 0.3, 0.4, 0.5]
    table = attacks(risks, success)
    for _, own in table.groupby("combination"):
        assert own["DR"].corr(own["corpus_accuracy"], method="spearman") == pytest.approx(1)
    found = independent_agreement(table)
    assert found["spearman"] == pytest.approx(-1)
    assert (found["releases"], found["n_swaps"]) == (5, 6)
    assert found["p_value"] == pytest.approx(2 / 120)  # this order and its reverse, of 5!
    assert independent_agreement(attacks(risks, risks))["spearman"] == pytest.approx(1)


def test_releases_are_compared_at_the_same_number_of_swaps():
    table = attacks([0.9, 0.8, 0.7, 0.6], [0.4, 0.3, 0.2, 0.1])
    shorter = table[(table["combination"] != "C0") | (table["n_swaps"] <= 4)]
    assert independent_agreement(shorter)["n_swaps"] == 4


@pytest.mark.parametrize("risks", [[], [0.9, 0.8, 0.7], [0.9, 0.9, 0.9, 0.9]])
def test_too_little_to_compare_is_said(risks):
    found = independent_agreement(attacks(risks, [0.1 * (i + 1) for i in range(len(risks))]))
    assert found["spearman"] is None
    assert found["p_value"] is None
    assert found["releases"] == len(risks)
