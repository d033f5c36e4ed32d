"""Results print as a person would want them to."""

import numpy as np

from nes_spark.mixture import fit_mixture
from nes_spark.risk import fit_ewens_pitman
from nes_spark.showing import lines, table

SIZES = {1: 40, 2: 9, 3: 4, 7: 1}


def test_a_fit_shows_its_estimates():
    fit = fit_ewens_pitman(SIZES)
    shown = fit.to_frame()
    assert list(shown.index) == ["theta", "alpha"]
    assert shown.loc["alpha", "estimate"] == fit.alpha
    assert shown.loc["alpha", "low"] <= fit.alpha <= shown.loc["alpha", "high"]
    assert f"{fit.alpha:.4f}" in fit.summary()
    assert f"{fit.alpha:.4f}" in fit._repr_html_()
    assert "77, 54, 40" in fit.summary()


def test_a_mixture_shows_its_components():
    rng = np.random.default_rng(2)
    X = np.eye(4)[np.repeat([0, 1], 30)] + 0.1 * rng.normal(size=(60, 4))
    model = fit_mixture(X / np.linalg.norm(X, axis=1, keepdims=True), "spcauchy", 2)
    frame = model.to_frame()
    assert frame["weight"].sum() == 1
    assert list(frame["concentration"]) == list(model.concentrations)
    assert "converged after" in model.summary()
    assert "60 of dimension 4" in model._repr_html_()


def test_a_fit_that_did_not_converge_says_so():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 4))
    model = fit_mixture(X / np.linalg.norm(X, axis=1, keepdims=True), "spcauchy", 3, max_iter=1)
    assert not model.converged
    assert "NOT converged (max_iter 1)" in model.summary()


def test_html_is_escaped():
    html = table("<b>", [("<i>", "a & b")], ["x<", "y"], note="<script>")
    assert "<b>" not in html.replace("<body>", "")
    assert "<script>" not in html
    assert "a &amp; b" in html
    assert lines("t", []) == "t"
