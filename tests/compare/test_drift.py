"""Drift between two runs: vocabulary from counts, components by cosine."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from nes_spark.compare.comparison import build_comparison
from nes_spark.compare.drift import Drift, component_drift, jensen_shannon, vocabulary_drift
from tests.report.samples import summaries
from tests.report.test_page import outline


@dataclass
class Mixture:
    means: np.ndarray
    weights: np.ndarray


def test_divergence_agrees_with_scipy():
    rng = np.random.default_rng(3)
    p, q = rng.dirichlet(np.ones(20)), rng.dirichlet(np.ones(20))
    p[:5] = 0
    p /= p.sum()
    assert jensen_shannon(p, q) == pytest.approx(jensenshannon(p, q, base=2) ** 2)


def test_vocabulary():
    found = vocabulary_drift({"a": 1, "b": 1}, {"b": 2})
    assert (found.before, found.after, found.shared) == (2, 1, 1)
    assert found.jaccard == 0.5
    assert found.divergence == pytest.approx(1.5 - 0.75 * math.log2(3))
    assert vocabulary_drift({"a": 2}, {"a": 7}).divergence == 0
    assert vocabulary_drift({"a": 2}, {"b": 7}).divergence == 1
    assert vocabulary_drift({}, {}).jaccard is None
    assert vocabulary_drift({}, {"a": 1}).divergence is None


def test_components_are_matched_by_their_means_not_their_numbers():
    axes = np.eye(4)
    before = Mixture(axes[[0, 1, 2]], np.array([0.5, 0.3, 0.2]))
    after = Mixture(axes[[2, 0, 3]], np.array([0.1, 0.6, 0.3]))
    found = component_drift(before, after)
    assert {(c.before, c.after): (c.weight_before, c.weight_after) for c in found} == {
        (0, 1): (0.5, 0.6),
        (2, 0): (0.2, 0.1),
        (1, None): (0.3, 0.0),
        (None, 2): (0.0, 0.3),
    }
    assert found[0].before == 0, "the heaviest comes first"


def test_the_page_shows_drift_and_equal_runs_give_equal_bytes(tmp_path):
    first, second = summaries()
    runs = [
        replace(run, words=20_000, components=3, entities={"Organization": 100}, quarantined=2)
        for run in (first, second)
    ]
    vocabulary = {"Organization": vocabulary_drift({"a": 1, "b": 1}, {"b": 2})}
    before = Mixture(np.eye(3)[:2], np.array([0.5, 0.5]))
    after = Mixture(np.eye(3), np.array([0.25, 0.5, 0.25]))
    components = component_drift(before, after)
    drift = Drift(vocabulary, components, 0.25)
    html = build_comparison(runs, tmp_path / "a", [drift]).read_text(encoding="utf-8")
    outline(html)
    assert "0.50; 0.311" in html
    assert "Weights moved by 25.0%" in html
    assert "20,000" in html
    for figure in ("vocabulary", "components"):
        assert (tmp_path / "a" / "figures" / f"{figure}.svg").exists()
    again = build_comparison(runs, tmp_path / "b", [drift]).read_text(encoding="utf-8")
    assert again == html
