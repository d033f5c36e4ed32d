"""Risk-utility plots."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from nes_spark.releases.scoring import candidates_of
from nes_spark.report import plot_candidates, plot_grid


def candidates(setting="pkb-K10-eps0.001", population=1e20, draws=3):
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(
        [(c, n, n / 100, draws, 1 - 0.01 * n, 1 - 0.001 * n - 0.001 * rng.random())
         for c in ("A+B", "A+C") for n in range(1, 11)],
        columns=["combination", "n_swaps", "r", "draws", "DR", "DU"],
    )  # fmt: skip
    errors = 0.001 if draws > 1 else np.nan
    return candidates_of(setting, population, rows.assign(DR_se=errors, DU_se=errors))


def test_a_panel_has_every_candidate_and_the_frontier():
    figure = Figure()
    axes = figure.subplots()
    frame = candidates()
    frame.loc[3, "chosen"] = True
    plot_candidates(axes, frame, line=(2.0, -1.0))
    labels = axes.get_legend_handles_labels()[1]
    assert set(labels) == {"A + B", "A + C", "frontier", "no swaps", "chosen"}
    lines = {line.get_label(): line for line in axes.lines}
    on = frame[frame["on_frontier"]].sort_values(["DU", "DR"])
    assert lines["frontier"].get_xdata().tolist() == on["DU"].tolist()
    assert len(axes.containers) == 2
    assert len(axes.containers[0][0].get_xdata()) == 10


def test_one_draw_has_no_error_bars():
    axes = Figure().subplots()
    plot_candidates(axes, candidates(draws=1))
    assert axes.containers[0].has_xerr is False
    assert axes.containers[0].has_yerr is False


def test_a_panel_is_one_setting_and_population():
    both = pd.concat([candidates(), candidates(population=1e30)])
    with pytest.raises(ValueError, match="'candidates' parameter of plot_candidates"):
        plot_candidates(Figure().subplots(), both)


def test_the_grid_drops_no_setting(tmp_path):
    frame = pd.concat(
        [candidates(s, N) for s in ("one", "two") for N in (1e10, 1e20)], ignore_index=True
    )
    figure = plot_grid(frame, {"one": True, "two": False, "three": False}, columns=4)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[:6] == [
        "one, N = 1e+10",
        "two, N = 1e+10, did not converge",
        "three, N = 1e+10, did not converge",
        "one, N = 1e+20",
        "two, N = 1e+20, did not converge",
        "three, N = 1e+20, did not converge",
    ]
    assert figure.axes[2].texts[0].get_text() == "not scored"
    figure.savefig(tmp_path / "grid.png")
    assert (tmp_path / "grid.png").stat().st_size > 10_000


def test_an_empty_grid_is_refused():
    with pytest.raises(ValueError, match="'candidates' parameter of plot_grid"):
        plot_grid(candidates().iloc[:0])
    with pytest.raises(ValueError, match="'columns' parameter of plot_grid"):
        plot_grid(candidates(), columns=0)
