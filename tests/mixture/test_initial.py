"""Starts of EM: which components are least needed, what thinning finds, what repeats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nes_spark.mixture import MixtureSetting, fit_mixture
from nes_spark.mixture import fit as fit_module
from nes_spark.mixture.em import (
    Parameters,
    Run,
    block_statistics,
    component_log_densities,
    run_all,
)
from nes_spark.mixture.families import FAMILIES
from nes_spark.mixture.fit import begin
from nes_spark.mixture.initial import (
    generator,
    is_thinned,
    least_needed,
    n_centres,
    passes_over,
    plus_plus,
    random_rows,
    start,
    thin,
)
from nes_spark.mixture.logs import normalise
from tests.mixture.test_fit import clustered, unit

NAMES = sorted(FAMILIES)


def mixture(family, means, radius, weights=None):
    k, d = means.shape
    weights = np.full(k, 1.0 / k) if weights is None else np.asarray(weights)
    concentration = FAMILIES[family].from_radius(np.array([radius]), d)[0]
    return Parameters(family, np.log(weights), means, np.full(k, float(concentration)))


def responsibilities(x, parameters):
    b = component_log_densities(x, parameters) + parameters.log_weights[:, None]
    normalise(b, axis=0)
    return b


def likelihood(x, parameters):
    return block_statistics(x, [parameters])[0].log_likelihood


@pytest.mark.parametrize("family", NAMES)
def test_the_least_needed_component_is_the_one_whose_removal_costs_least(family):
    rng = np.random.default_rng(3)
    x = clustered(rng, 300, 6, 5, 1.0)
    present = mixture(family, unit(rng.standard_normal((7, 6))), 0.5, rng.dirichlet(np.ones(7)))
    left = list(range(7))
    chosen = least_needed(responsibilities(x, present), np.exp(present.log_weights), 4)
    for j in chosen:
        # every one left is taken out in turn, the rest renormalised and nothing else changed
        without = {
            i: likelihood(x, present.keep(np.isin(np.arange(7), [k for k in left if k != i])))
            for i in left
        }
        assert j == max(without, key=without.get)
        left.remove(int(j))


def test_a_copy_and_a_component_without_weight_go_first():
    rng = np.random.default_rng(0)
    centres = unit(rng.standard_normal((4, 8)))
    x = unit(np.repeat(centres, 50, axis=0) + 0.1 * rng.standard_normal((200, 8)))
    means = np.concatenate([centres, centres[2:3], unit(rng.standard_normal((1, 8)))])
    weights = np.array([0.2, 0.2, 0.2, 0.2, 0.2, 0.0])
    with np.errstate(divide="ignore"):
        present = mixture("spcauchy", means, 0.9, weights)
    chosen = least_needed(responsibilities(x, present), weights, 2)
    assert chosen[0] == 5
    assert chosen[1] in (2, 4)


def reached(x, family, k, seed, thinned):
    parameters, removed = start(x, family, k, 0.9, generator(seed, "t"), thinned)
    assert parameters.n_components == k
    assert removed == []
    run = Run(parameters, max_radius=0.9)
    run_all([run], passes_over(x))
    return run.log_likelihood


@pytest.mark.parametrize("family", NAMES)
def test_thinning_finds_the_clusters_where_random_rows_merge_some(family):
    rng = np.random.default_rng(1)
    centres = unit(rng.standard_normal((12, 40)))
    labels = np.repeat(np.arange(12), 30)
    x = unit(centres[labels] + 0.7 * rng.standard_normal((360, 40)) / np.sqrt(40))
    rows, thinned = (
        np.array([reached(x, family, 12, seed, which) for seed in range(8)])
        for which in (False, True)
    )
    # every start that was thinned reaches the true clusters, few of the others do
    assert np.ptp(thinned) < 0.01
    assert (rows < thinned.min() - 100).sum() >= 4
    assert rows.max() < thinned.max() + 0.01


@pytest.mark.parametrize("family", NAMES)
def test_clusters_with_several_components_keep_one(family):
    """A cluster that several components share keeps one of them."""
    rng = np.random.default_rng(5)
    centres = unit(rng.standard_normal((3, 12)))
    x = unit(np.repeat(centres, 60, axis=0) + 0.05 * rng.standard_normal((180, 12)))
    rows = np.array([0, 1, 2, 60, 61, 120])
    p = thin(x, mixture(family, x[rows], 0.3), 3, 0.9)
    assert sorted((p.means @ centres.T).argmax(axis=1)) == [0, 1, 2]
    assert np.exp(p.log_weights).sum() == pytest.approx(1)


@pytest.mark.parametrize("thinned", [True, False])
def test_a_start_turns_with_the_data(thinned):
    rng = np.random.default_rng(2)
    x = clustered(rng, 400, 9, 6, 0.8)
    turn, _ = np.linalg.qr(rng.standard_normal((9, 9)))
    here, _ = start(x, "pkb", 5, 0.9, generator(0, "turn"), thinned)
    there, _ = start(x @ turn, "pkb", 5, 0.9, generator(0, "turn"), thinned)
    np.testing.assert_allclose(there.means, here.means @ turn, atol=1e-9)
    np.testing.assert_allclose(there.log_weights, here.log_weights, atol=1e-9)
    np.testing.assert_allclose(there.concentrations, here.concentrations, atol=1e-9)


def test_the_work_of_a_start_is_bounded():
    x = clustered(np.random.default_rng(0), 300, 10, 6, 0.8)
    inner, seen = passes_over(x), []

    def evaluate(mixtures):
        seen.extend(m.n_components for m in mixtures)
        return inner(mixtures)

    counted, _ = start(x, "vmf", 10, 0.9, generator(0, "w"), True, evaluate)
    assert seen[0] == n_centres(10) == 20
    assert seen[-1] == 10
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == 6
    plain, _ = start(x, "vmf", 10, 0.9, generator(0, "w"))
    assert np.array_equal(plain.means, counted.means)


def test_blocks_of_a_sample_add_up(monkeypatch):
    x = clustered(np.random.default_rng(0), 300, 10, 6, 0.8)
    p = mixture("pkb", plus_plus(x, 4, generator(0)), 0.4)
    whole = passes_over(x)([p])[0]
    monkeypatch.setattr("nes_spark.mixture.initial.block_rows", lambda d: 64)
    parts = passes_over(x)([p])[0]
    np.testing.assert_allclose(parts.direction, whole.direction, rtol=1e-12)
    assert parts.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-13)


@pytest.mark.parametrize("choose", [plus_plus, random_rows])
def test_centres_are_distinct_and_no_more_than_there_are(choose):
    corners = np.repeat(np.eye(4), 6, axis=0)
    for seed in range(5):
        centres = choose(corners, 3, generator(seed))
        assert len(np.unique(centres, axis=0)) == len(centres) == 3
        assert len(choose(corners, 9, generator(seed))) == 4
    assert len(choose(corners[:1], 2, generator(0))) == 1


@pytest.mark.parametrize("thinned", [True, False])
@pytest.mark.parametrize("k", [1, 3, 4, 7])
def test_components_without_a_point_of_their_own_are_named(k, thinned):
    corners = np.repeat(np.eye(5)[:4], 6, axis=0)
    parameters, removed = start(corners, "spcauchy", k, 0.9, generator(1), thinned)
    assert parameters.n_components == min(k, 4)
    assert [r.component for r in removed] == list(range(4, k))
    assert {r.reason for r in removed} <= {"no_distinct_point"}


def test_principles_take_turns_and_more_restarts_hold_the_fewer():
    assert [is_thinned(i) for i in range(4)] == [True, False, True, False]
    x = clustered(np.random.default_rng(4), 200, 7, 6, 0.8)
    runs = begin(MixtureSetting("pkb", 5), x, 4, 5, 1e-6, 0)
    # random rows begin with equal weights, what was thinned out with those that it found
    assert [len(np.unique(run.trial.log_weights)) == 1 for run in runs] == [
        False,
        True,
        False,
        True,
    ]
    one, four = (fit_mixture(x, "pkb", 5, n_init=n) for n in (1, 4))
    # the last digits of a product may depend on how many runs share it, by the kind of processor
    (first,), likelihood = one.restarts, four.restarts[0].log_likelihood
    assert likelihood == pytest.approx(first.log_likelihood, rel=1e-12)
    assert four.restarts[0] == replace(first, log_likelihood=likelihood)
    assert four.log_likelihood >= one.log_likelihood


def test_settings_that_differ_in_the_smallest_weight_share_their_starts(monkeypatch):
    x = clustered(np.random.default_rng(4), 200, 7, 6, 0.8)
    calls = []

    def counted(*args):
        calls.append(args[1:3])
        return start(*args)

    monkeypatch.setattr(fit_module, "start", counted)
    known = {}
    grid = [MixtureSetting(f, 3, e) for f in ("pkb", "vmf") for e in (0.0, 0.1)]
    runs = [begin(setting, x, 2, 5, 1e-6, 0, known=known) for setting in grid]
    assert calls == [("pkb", 3)] * 2 + [("vmf", 3)] * 2
    assert np.array_equal(runs[0][1].trial.means, runs[1][1].trial.means)
    assert runs[0][1].removed is not runs[1][1].removed
    alone = begin(grid[1], x, 2, 5, 1e-6, 0)
    assert np.array_equal(alone[0].trial.means, runs[1][0].trial.means)
