from __future__ import annotations

import numpy as np
import pytest

from nes_spark.audit import calibration


def world(rng, n, m, strength, labels=None):
    """Features of texts whose candidates a conditional logit with these weights drew."""
    layers = np.stack([calibration.standardised(rng.normal(size=(n, m))) for _ in strength])
    chances = calibration.probabilities(calibration.utilities(np.array(strength), layers))
    drawn = (chances.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    return layers, drawn


def test_standardised_rows():
    found = calibration.standardised(np.array([[1.0, 2.0, 3.0], [4.0, 4.0, 4.0]]))
    assert found.mean(axis=1) == pytest.approx([0, 0])
    assert found.std(axis=1) == pytest.approx([1, 0])


def test_weights_are_recovered():
    layers, labels = world(np.random.default_rng(1), 6000, 8, [1.5, 0.4, 0.0])
    found = calibration.fit_weights([(layers, labels, 1.0)])
    assert found == pytest.approx([1.5, 0.4, 0.0], abs=0.08)
    assert found.min() >= calibration.LEAST


def test_few_texts_leave_weights_equal():
    layers, labels = world(np.random.default_rng(2), 3, 8, [1.5, 0.0])
    few = calibration.fit_weights([(layers, labels, 1.0)])
    assert abs(few[0] - few[1]) < 0.25 * few.mean()


def test_parts_count_as_often_as_they_weigh():
    rng = np.random.default_rng(3)
    (a, la), (b, lb) = world(rng, 50, 5, [1.0, 0.5]), world(rng, 40, 5, [0.2, 1.0])
    twice = calibration.fit_weights([(a, la, 2.0), (b, lb, 1.0)])
    assert twice == pytest.approx(
        calibration.fit_weights([(a, la, 1.0), (b, lb, 1.0), (a, la, 1.0)]), abs=1e-4
    )


def test_matching_bounds_what_a_candidate_holds():
    rng = np.random.default_rng(4)
    utility = 3 * rng.normal(size=(40, 50))
    utility[:, 0] += 10  # a candidate that draws everything
    free = calibration.probabilities(utility)
    bound = calibration.probabilities(calibration.matched(utility, 1))
    assert free.sum(axis=0)[0] > 10
    assert bound.sum(axis=0).max() < 1.001
    assert bound.sum(axis=1) == pytest.approx(np.ones(40))


def test_one_text_and_enough_room_change_nothing():
    utility = np.random.default_rng(5).normal(size=(6, 9))
    assert calibration.matched(utility[:1], 1) == pytest.approx(utility[:1])
    assert calibration.matched(utility, 6) == pytest.approx(utility)


def test_assignment_is_the_likeliest():
    utility = np.array([[5.0, 4.0, 0.0], [5.0, 0.0, 0.0], [4.9, 0.0, 1.0]])
    assert calibration.assignment(utility, 1).tolist() == [1, 0, 2]
    assert calibration.assignment(utility, 3).tolist() == [0, 0, 0]


def test_texts_tell_which_view_misleads():
    """Pseudo-queries trust view 0, which is noise in the asked texts; these find out alone."""
    rng = np.random.default_rng(6)
    m = 80
    known = np.stack([4 * np.eye(m), np.eye(m)]) + rng.normal(size=(2, m, m))
    asked = np.stack([np.zeros((m, m)), 4 * np.eye(m)]) + rng.normal(size=(2, m, m))
    labelled = [(np.stack([calibration.standardised(k) for k in known]), np.arange(m))]
    layers = np.stack([calibration.standardised(a) for a in asked])
    before = calibration.fit_weights([(*labelled[0], 1.0)])
    after = calibration.self_trained(layers, labelled, 1)
    assert before[0] > before[1]
    assert after[0] < after[1]
    right = calibration.utilities(after, layers).argmax(axis=1) == np.arange(m)
    naive = calibration.utilities(before, layers).argmax(axis=1) == np.arange(m)
    assert right.mean() > naive.mean() + 0.3


def test_confidence_is_what_was_asked_for():
    scores = np.array([0.9, 0.8, 0.8, 0.7, 0.1])
    right = np.array([True, True, False, True, False])
    assert calibration.confidence_threshold(scores, right, 0.9) == 0.9
    assert calibration.confidence_threshold(scores, right, 0.7) == 0.7
    assert calibration.confidence_threshold(scores, right, 0.5) == 0.1
    assert calibration.confidence_threshold(scores, ~right, 0.9) == np.inf
