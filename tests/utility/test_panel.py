"""The registry of utility measures, and a worked example: a measure of one's own."""

import math

import numpy as np
import pytest

from nes_spark.errors import EstimationError
from nes_spark.utility import panel as module
from nes_spark.utility.panel import (
    Changed,
    Measured,
    UtilityMeasure,
    clustered_mean,
    panel,
    register,
)


@pytest.fixture
def registry(monkeypatch):
    """A registry that the test may add to."""
    monkeypatch.setattr(module, "MEASURES", dict(module.MEASURES))


def unit(rows):
    rows = np.asarray(rows, dtype=float)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def changed(**given):
    return Changed(**{"n_chunks": 10, "chunk_ids": ["a", "b", "c", "d"]} | given)


def figures(of):
    return {row["measure"]: row for row in panel(of)}


def test_a_measure_of_ones_own_is_part_of_the_panel(registry):
    def words_kept(of: Changed) -> Measured:
        kept = [
            len(set(a.split()) & set(b.split())) / len(set(a.split()))
            for a, b in zip(of.texts_before, of.texts_after, strict=True)
        ]
        return Measured(*clustered_mean(kept, of.documents))

    needs = ("texts_before", "texts_after")
    register(UtilityMeasure("words_kept", "share of words that are still there", words_kept, needs))
    before = ["a b c d", "a b", "x y", "q"]
    found = figures(changed(texts_before=before, texts_after=["a b c e", "a z", "x y", "q"]))
    assert found["words_kept"]["value"] == pytest.approx((0.75 + 0.5 + 1 + 1) / 4)
    assert found["words_kept"]["reason"] == ""
    assert figures(changed())["words_kept"]["reason"] == "no texts_before, texts_after"
    with pytest.raises(ValueError, match="words_kept"):
        register(UtilityMeasure("words_kept", "again", words_kept, needs))
    with pytest.raises(ValueError, match="colour"):
        register(UtilityMeasure("another", "", words_kept, ("colour",)))


def test_a_release_that_changes_nothing_is_best_in_every_measure():
    vectors = unit(np.random.default_rng(0).normal(size=(4, 5)))
    same = np.array([0, 1, 1, 2])
    log = np.array([1.0, 2.0, 3.0, 4.0])
    of = changed(
        before=vectors,
        after=vectors,
        component_before=same,
        component_after=same,
        log_density_before=log,
        log_density_after=log,
        log_f_before=30.0,
    )
    for row in panel(of):
        assert row["value"] == pytest.approx(row["best"], abs=1e-12), row["measure"]
        if row["measure"] != "pMSE":  # of the changed chunks only
            assert row["corpus"] == pytest.approx(row["best"], abs=1e-12), row["measure"]


def test_figures_by_hand():
    of = changed(
        before=np.eye(4),
        after=np.eye(4)[[0, 1, 3, 2]],
        component_before=np.array([0, 0, 1, 1]),
        component_after=np.array([0, 2, 1, 0]),
        log_density_before=np.array([1.0, 1.0, 1.0, 1.0]),
        log_density_after=np.array([1.0, 1.0, 0.5, 0.5]),
        log_f_before=10.0,
    )
    found = figures(of)
    assert found["fidelity"]["value"] == 0.5
    assert found["fidelity"]["corpus"] == 0.8  # six chunks were not changed
    assert found["fidelity"]["standard_error"] == pytest.approx(math.sqrt(1 / 3) / 2)
    assert found["topic_agreement"]["value"] == 0.5
    assert found["DU"]["value"] == pytest.approx(0.9)


def test_missing_parts_are_named_and_nothing_is_made_up():
    for row in panel(changed()):
        assert math.isnan(row["value"])
        assert row["reason"].startswith("no ")
    with pytest.raises(ValueError, match="before"):
        changed(before=np.eye(3))
    with pytest.raises(ValueError, match="n_chunks"):
        changed(n_chunks=3)
    with pytest.raises(EstimationError):
        panel(changed(log_density_before=[1] * 4, log_density_after=[1] * 4, log_f_before=-1.0))


def test_standard_errors_allow_for_chunks_of_one_document():
    values = [0.2, 0.2, 0.2, 0.8, 0.8, 0.8]
    apart = clustered_mean(values)
    together = clustered_mean(values, ["d1"] * 3 + ["d2"] * 3)
    assert apart[0] == together[0] == pytest.approx(0.5)
    assert apart[1] == pytest.approx(np.std(values, ddof=1) / math.sqrt(6))
    # two documents that are of one mind each are two observations
    assert together[1] == pytest.approx(np.std([0.2, 0.8], ddof=1) / math.sqrt(2))
    assert math.isnan(clustered_mean([1.0, 2.0], ["d", "d"])[1])
    assert all(map(math.isnan, clustered_mean([])))
