"""Degenerate data, refused input, removals, saving, assignment."""

from __future__ import annotations

import numpy as np
import pytest

from nes_spark.errors import InputError
from nes_spark.mixture import MixtureModel, MixtureSetting, fit_mixture
from nes_spark.mixture.families import FAMILIES, MAX_RADIUS
from nes_spark.mixture.fit import begin, effective_documents, finish, fit_runs_in_memory
from nes_spark.mixture.selection import summarize
from nes_spark.mixture.vectors import UnitVectors
from tests.mixture.test_fit import NAMES, clustered, mixture, unit


def sound(m: MixtureModel, x) -> None:
    for values in (m.weights, m.means, m.concentrations, m.history, m.log_density(x)):
        assert np.isfinite(values).all()
    assert m.weights.sum() == pytest.approx(1)
    np.testing.assert_allclose(np.linalg.norm(m.means, axis=1), 1)
    whole = np.concatenate([[m.initial_log_likelihood], m.history])
    for stretch in (*m.earlier_histories, whole):
        assert (np.diff(stretch) >= 0).all()
    assert m.log_likelihood == m.history[-1]
    assert (FAMILIES[m.family].radius(m.concentrations, m.dimension) <= MAX_RADIUS + 1e-12).all()
    assert m.n_components + len(m.removed) == m.n_components_asked


@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
class TestDegenerate:
    def test_all_points_equal(self, family, dtype):
        x = np.tile(unit(np.ones((1, 5))), (20, 1)).astype(dtype)
        m = fit_mixture(x, family, 3, n_init=2)
        sound(m, x)
        assert m.converged
        assert m.n_components == 1
        assert [r.reason for r in m.removed] == ["no_distinct_point"] * 2
        assert m.capped == (0,)
        assert m.restarts[0].n_capped == 1

    def test_one_point(self, family, dtype):
        x = unit(np.ones((1, 4))).astype(dtype)
        m = fit_mixture(x, family, 1)
        sound(m, x)
        assert m.capped == (0,)

    def test_more_components_than_distinct_points(self, family, dtype):
        x = np.repeat(np.eye(6)[:4], 5, axis=0).astype(dtype)
        m = fit_mixture(x, family, 9)
        sound(m, x)
        assert m.converged
        assert m.n_components == 4
        assert len(m.capped) == 4
        np.testing.assert_allclose(m.weights, 0.25)

    def test_antipodal_points(self, family, dtype):
        x = np.concatenate([np.eye(3), -np.eye(3)]).astype(dtype)
        one = fit_mixture(x, family, 1)
        sound(one, x)
        assert one.converged
        assert one.log_likelihood == pytest.approx(0, abs=1e-6)
        two = fit_mixture(np.repeat(x[[0, 3]], 4, axis=0), family, 2)
        sound(two, x)
        assert two.means[0] @ two.means[1] == pytest.approx(-1)

    def test_a_component_on_one_point_and_its_copies(self, family, dtype):
        rng = np.random.default_rng(0)
        x = np.concatenate([np.tile(np.eye(8)[:1], (7, 1)), clustered(rng, 60, 8, 1, 3.0)])
        m = fit_mixture(x.astype(dtype), family, 2, n_init=4)
        sound(m, x)
        assert len(m.capped) == 1 or family == "vmf"
        assert m.converged

    def test_dimension_above_number_of_points(self, family, dtype):
        x = clustered(np.random.default_rng(0), 12, 1536, 3, 1.0).astype(dtype)
        m = fit_mixture(x, family, 6)
        sound(m, x)

    def test_no_structure_at_all(self, family, dtype):
        x = unit(np.random.default_rng(0).standard_normal((400, 20))).astype(dtype)
        m = fit_mixture(x, family, 2)
        sound(m, x)
        near_zero = fit_mixture(x, family, 1)
        sound(near_zero, x)
        assert FAMILIES[family].radius(near_zero.concentrations, 20)[0] < 0.1

    def test_near_the_ceiling(self, family, dtype):
        truth = mixture(family, [0.5, 0.5], np.eye(4)[:2], [1 - 1e-4, 1 - 1e-5])
        x = truth.sample(300, seed=1)
        m = fit_mixture(x, family, 2)
        sound(m, x)
        order = np.argsort(m.means[:, 0])[::-1]
        gap = 1 - FAMILIES[family].radius(m.concentrations[order], 4)
        np.testing.assert_allclose(gap, [1e-4, 1e-5], rtol=0.35)
        assert m.capped == ()


@pytest.mark.parametrize("family", ["pkb", "spcauchy"])
def test_the_clustered_data_on_which_a_component_closes(family):
    # n = 1819, d = 1536, K = 30: components on single chunks; smaller here, with the same trouble
    rng = np.random.default_rng(5)
    x = clustered(rng, 150, 256, 12, 2.0)
    m = fit_mixture(x, family, 30, n_init=2)
    sound(m, x)
    assert m.converged


def test_light_components_are_removed_and_recorded():
    truth = mixture("pkb", [0.6, 0.37, 0.03], np.eye(5)[:3], [0.9, 0.9, 0.95])
    x = truth.sample(1000, seed=0)
    free = fit_mixture(x, "pkb", 3, n_init=4)
    light = int(np.argmin(free.weights))
    assert free.weights[light] < 0.05
    (run,) = begin(MixtureSetting("pkb", 3, 0.05), x, 0, 200, 1e-6, 0, warm_start=free)
    fit_runs_in_memory([run], UnitVectors(x, "test"))
    m = finish(MixtureSetting("pkb", 3, 0.05), [run], len(x))
    sound(m, x)
    assert m.converged
    assert m.n_components == 2
    (removal,) = m.removed
    assert (removal.component, removal.reason, removal.n_pass) == (light, "weight", 1)
    assert removal.weight == pytest.approx(free.weights[light], abs=1e-3)
    # the mixture that still had it was more likely: that is not a fall of any history
    assert removal.log_likelihood == pytest.approx(free.log_likelihood, rel=1e-6)
    assert removal.log_likelihood > m.log_likelihood
    assert len(m.earlier_histories) == 1


def test_a_high_bound_never_removes_everything():
    x = clustered(np.random.default_rng(0), 200, 4, 10, 0.5)
    for bound in (0.09, 0.2, 0.5, 0.99):
        m = fit_mixture(x, "spcauchy", 10, min_weight=bound)
        sound(m, x)
        assert (m.weights >= bound).all()
    assert m.n_components == 1


def test_components_of_one_document_are_removed_on_request():
    rng = np.random.default_rng(0)
    x = np.concatenate([clustered(rng, 100, 6, 1, 0.3), clustered(rng, 40, 6, 1, 0.3)])
    documents = np.array([f"doc{i % 10}" for i in range(100)] + ["alone"] * 40)
    plain = fit_mixture(x, "pkb", 2)
    assert plain.n_components == 2
    m = fit_mixture(x, "pkb", 2, documents=documents, min_documents=2)
    sound(m, x)
    assert m.n_components == 1
    assert m.removed[0].reason == "documents"
    assert m.converged
    with pytest.raises(ValueError, match="'documents' parameter"):
        fit_mixture(x, "pkb", 2, min_documents=2)
    with pytest.raises(ValueError, match=r"of shape \(140,\)"):
        fit_mixture(x, "pkb", 2, documents=["a"], min_documents=2)


def test_effective_number_of_documents():
    labels = np.array([0, 0, 0, 0, 1, 1, 1])
    documents = np.array(["a", "b", "c", "d", "a", "a", "b"])
    found = effective_documents(labels, documents, 3)
    assert found.tolist() == pytest.approx([4.0, 9 / 5, 0.0])


class TestRefusedInput:
    def test_rows_that_are_not_unit_vectors_are_named(self):
        x = np.tile(np.eye(3), (20, 1))
        x[[4, 17]] *= 1.01
        with pytest.raises(ValueError, match=r"norm 1\. Got rows 4, 17 \(norm 1.01"):
            fit_mixture(x, "pkb", 2)

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_rows_that_are_not_finite_are_named(self, value):
        x = np.tile(np.eye(3), (2000, 1)).astype(np.float32)
        x[5000, 1] = value
        with pytest.raises(ValueError, match=r"NaN and infinite values\. Got row 5000 instead"):
            fit_mixture(x, "pkb", 2)

    def test_many_rows_are_not_all_listed(self):
        with pytest.raises(ValueError, match=r"rows 0, 1, .* and 90 more"):
            fit_mixture(np.ones((100, 3)), "pkb", 2)

    @pytest.mark.parametrize(
        "x",
        [np.ones(3), np.ones((4, 1)), np.ones((2, 2, 2)), [["a", "b"]], np.eye(3, dtype=complex)],
    )
    def test_arrays_of_another_kind(self, x):
        with pytest.raises(ValueError, match="'X' parameter of fit_mixture"):
            fit_mixture(x, "pkb", 1)

    def test_no_rows_and_ragged_rows(self):
        with pytest.raises(ValueError, match="at least one row"):
            fit_mixture(np.empty((0, 3)), "pkb", 1)
        with pytest.raises(ValueError, match="equal length"):
            fit_mixture([[1.0, 0.0], [1.0]], "pkb", 1)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("family", "gauss"),
            ("n_components", 0),
            ("n_components", 2.5),
            ("n_components", True),
            ("min_weight", 1.0),
            ("min_weight", -0.1),
            ("n_init", 0),
            ("max_iter", 0),
            ("tol", 0.0),
            ("tol", float("nan")),
            ("max_radius", 1.0),
        ],
    )
    def test_options_out_of_range(self, name, value):
        options = {"family": "pkb", "n_components": 2, name: value}
        with pytest.raises(ValueError, match=f"'{name}' parameter of fit_mixture"):
            fit_mixture(np.eye(3), **options)

    def test_vectors_rounded_to_four_decimals_pass_and_integers_too(self):
        x = np.round(clustered(np.random.default_rng(0), 30, 50, 2, 1.0), 5)
        assert fit_mixture(x, "pkb", 2).converged
        assert fit_mixture(np.eye(3, dtype=int), "pkb", 1).converged


class TestModel:
    @pytest.fixture(scope="class")
    def data(self):
        return clustered(np.random.default_rng(2), 500, 48, 5, 1.5).astype(np.float32)

    @pytest.fixture(scope="class")
    def model(self, data):
        return fit_mixture(data, "spcauchy", 6, min_weight=0.02, n_init=2)

    @pytest.mark.parametrize("target", ["m.npz", "m", "."])
    def test_saved_and_loaded_it_is_the_same(self, model, data, tmp_path, target):
        file = model.save(tmp_path / target)
        assert file.is_file()
        assert [p.name for p in tmp_path.iterdir()] == [file.name]
        again = MixtureModel.load(tmp_path / target)
        for name in ("weights", "means", "concentrations", "history"):
            assert np.array_equal(getattr(again, name), getattr(model, name))
        for name in ("removed", "restarts", "capped", "converged", "log_likelihood", "n", "family"):
            assert getattr(again, name) == getattr(model, name)
        assert len(again.earlier_histories) == len(model.earlier_histories)
        assert np.array_equal(again.log_density(data), model.log_density(data))
        assert again.bic == model.bic

    def test_files_that_are_not_models_are_refused(self, tmp_path):
        with pytest.raises(InputError, match="no such mixture model"):
            MixtureModel.load(tmp_path / "none.npz")
        (tmp_path / "bad.npz").write_bytes(b"not a model")
        with pytest.raises(InputError, match="not a mixture model"):
            MixtureModel.load(tmp_path / "bad.npz")

    def test_assignment_does_not_depend_on_the_batch(self, model, data):
        components, log_densities = model.assign(data)
        for rows in (slice(0, 1), slice(3, 10), slice(100, 437)):
            some = model.assign(data[rows])
            assert np.array_equal(some[0], components[rows])
            assert np.array_equal(some[1], log_densities[rows])
        order = np.random.default_rng(0).permutation(len(data))
        assert np.array_equal(model.assign(data[order])[1], log_densities[order])
        assert np.array_equal(model.log_density_at(data, components), log_densities)

    def test_assignment_agrees_with_the_densities(self, model, data):
        components, log_densities = model.assign(data)
        table = model.log_density(data)
        assert table.shape == (len(data), model.n_components)
        assert np.array_equal(components, np.argmax(table + np.log(model.weights), axis=1))
        np.testing.assert_allclose(
            log_densities, table[np.arange(len(data)), components], rtol=1e-9
        )

    def test_a_tie_goes_to_the_first_component_in_any_batch(self):
        m = mixture("pkb", [0.5, 0.5], [[1.0, 0, 0], [0, 1.0, 0]], [0.7, 0.7])
        x = unit(np.array([[1.0, 1.0, 0.3]]))
        assert m.predict(x).tolist() == [0]
        assert m.predict(np.repeat(x, 513, axis=0)).tolist() == [0] * 513

    def test_wrong_dimension_and_components_are_refused(self, model, data):
        with pytest.raises(ValueError, match="48 columns"):
            model.log_density(np.eye(3))
        with pytest.raises(ValueError, match=f"from 0 to {model.n_components - 1}"):
            model.log_density_at(data[:1], [model.n_components])
        with pytest.raises(ValueError, match=r"of shape \(1,\)"):
            model.log_density_at(data[:1], [0, 1])
        with pytest.raises(ValueError, match="'n' parameter of sample"):
            model.sample(-1)

    def test_sample_depends_on_its_seed_alone(self, model):
        assert np.array_equal(model.sample(20, seed=1), model.sample(20, seed=1))
        assert not np.array_equal(model.sample(20, seed=1), model.sample(20, seed=2))
        assert model.sample(0).shape == (0, 48)

    def test_summary_says_which_components_can_never_swap(self):
        m = mixture("pkb", [0.5, 0.3, 0.2], np.eye(4)[:3], [0.5, 0.5, 0.5])
        rows = summarize(
            m, ["a", "b", "c", "d"], ["d1", "d1", "d2", "d2"], [0, 0, 0, 1], [1.0, 3.0, 3.0, 2.0], 2
        )
        assert [r.typical for r in rows] == [("b", "c"), ("d",), ()]
        assert [r.n_documents for r in rows] == [2, 1, 0]
        assert [r.can_swap for r in rows] == [True, False, False]
        assert rows[0].effective_documents == pytest.approx(9 / 5)
        with pytest.raises(ValueError, match="as long as"):
            summarize(m, ["a"], [], [], [])


def test_names_of_settings():
    assert MixtureSetting("pkb", 10, 1e-3).name == "pkb-K10-eps0.001"
    assert MixtureSetting("vmf", 3).name == "vmf-K3-eps0"
