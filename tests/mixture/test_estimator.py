"""The mixture as a scikit-learn estimator."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.estimator_checks import check_estimator

from nes_spark.mixture import SphericalMixture, fit_mixture


def two_groups(n=60, d=5, seed=3):
    rng = np.random.default_rng(seed)
    centres = np.eye(d)[[0, 1]]
    labels = np.repeat([0, 1], n // 2)
    X = centres[labels] + 0.15 * rng.normal(size=(n, d))
    return X, labels


#: Checks that ask for what directions cannot give, each with the reason.
DO_NOT_APPLY = {"check_estimators_dtypes": "its data have a row of zeros, which has no direction"}


@pytest.mark.parametrize("family", ["spcauchy", "pkb", "vmf"])
def test_it_passes_scikit_learns_checks(family):
    found = check_estimator(
        SphericalMixture(family=family, random_state=0),
        expected_failed_checks=DO_NOT_APPLY, on_fail=None, on_skip=None,
    )  # fmt: skip
    status = {result["check_name"]: result["status"] for result in found}
    assert sum(s == "passed" for s in status.values()) > 30
    assert {n for n, s in status.items() if s == "xfail"} == set(DO_NOT_APPLY)
    assert [r for r in found if r["status"] == "failed"] == []


def test_it_fits_what_fit_mixture_fits():
    X, labels = two_groups()
    fitted = SphericalMixture(2, random_state=0).fit(7 * X)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert fitted.score(X) == pytest.approx(fitted.model_.score(unit), abs=1e-12)
    assert fitted.score_samples(X).mean() == pytest.approx(fitted.score(X))
    same = fitted.labels_ == labels
    assert same.mean() in (0.0, 1.0)
    assert (fitted.predict_proba(X).argmax(axis=1) == fitted.labels_).all()
    again = fit_mixture(unit, "spcauchy", 2, seed=1)
    assert again.log_likelihood == pytest.approx(fitted.model_.log_likelihood, rel=1e-5)


def test_only_directions_count():
    X, _ = two_groups()
    scale = np.random.default_rng(1).uniform(1e-8, 1e8, size=(len(X), 1))
    one = SphericalMixture(2, random_state=0).fit(X)
    other = SphericalMixture(2, random_state=0).fit(scale * X)
    np.testing.assert_allclose(one.means_, other.means_, atol=1e-6)


def test_it_goes_into_pipelines_and_searches():
    X, _ = two_groups(90)
    search = GridSearchCV(SphericalMixture(random_state=0), {"n_components": [1, 2]}, cv=3)
    search.fit(X)
    assert search.best_params_ == {"n_components": 2}
    made = make_pipeline(Normalizer(), clone(SphericalMixture(2, random_state=0)))
    assert set(made.fit_predict(X)) == {0, 1}


def test_rows_without_a_direction_are_refused():
    X, _ = two_groups()
    X[3] = 0
    with pytest.raises(ValueError, match=r"1 row\(s\) are zero .* first row 3"):
        SphericalMixture(2).fit(X)
    with pytest.raises(ValueError, match="family"):
        SphericalMixture(2, family="gauss").fit(X[4:])
