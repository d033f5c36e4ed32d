"""Risk-utility plots as in the paper: utility to the right, risk upwards, best at the lower right.

The functions take pandas frames of the table ``candidates`` and return matplotlib figures that are
not tied to a window, so they work in a notebook, in a job and in MLflow alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pandas as pd

from nes_spark.errors import parameter_error

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_candidates(
    axes: Axes,
    candidates: pd.DataFrame,
    combinations: Sequence[str] | None = None,
    line: tuple[float, float] | None = None,
) -> None:
    """Draw the candidates of one setting and population on existing axes.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Drawn on.
    candidates : pandas.DataFrame
        Rows of table ``candidates`` with one setting and one population.
    combinations : sequence of str, optional
        Fixes which combination has which colour; by default those of the frame in their order.
    line : tuple of float, optional
        Slope a and offset c of a line DR = c + a DU to draw.

    Raises
    ------
    ValueError
        When the frame mixes settings or populations.
    """
    if len(candidates[["setting", "population"]].drop_duplicates()) > 1:
        raise parameter_error(
            "plot_candidates", "candidates", "of one setting and population", "several"
        )
    from nes_spark.report.figures import INK, MARKERS, MUTED, SERIES, pretty

    names = combinations or [c for c in dict.fromkeys(candidates["combination"]) if c]
    for i, name in enumerate(names):
        mine = candidates[candidates["combination"] == name].sort_values("n_swaps")
        if mine.empty:
            continue
        axes.errorbar(
            mine["DU"],
            mine["DR"],
            xerr=_errors(mine["DU_se"]),
            yerr=_errors(mine["DR_se"]),
            fmt=MARKERS[i % len(MARKERS)],
            color=SERIES[i % len(SERIES)],
            markersize=3.5,
            elinewidth=0.6,
            label=pretty(name),
            zorder=2,
        )
    frontier = candidates[candidates["on_frontier"]].sort_values(["DU", "DR"])
    axes.plot(frontier["DU"], frontier["DR"], color=INK, linewidth=1, label="frontier")
    nothing = candidates[candidates["n_swaps"] == 0]
    axes.plot(nothing["DU"], nothing["DR"], "o", mfc="none", mec=INK, label="no swaps")
    chosen = candidates[candidates["chosen"]]
    if len(chosen):
        axes.plot(chosen["DU"], chosen["DR"], "o", mfc="none", mec=INK, ms=11, label="chosen")
    if line is not None:
        limits = axes.get_xlim(), axes.get_ylim()
        axes.axline((0.0, line[1]), slope=line[0], color=MUTED, linestyle=":", linewidth=1)
        axes.set_xlim(limits[0])
        axes.set_ylim(limits[1])
    axes.set_xlabel("data utility DU")
    axes.set_ylabel("disclosure risk DR")


def _errors(values: pd.Series) -> pd.Series | None:
    errors = pd.to_numeric(values, errors="coerce").astype(float)
    return errors.fillna(0.0) if errors.notna().any() else None


def plot_grid(
    candidates: pd.DataFrame, converged: Mapping[str, bool] | None = None, columns: int = 4
) -> Figure:
    """Draw the sensitivity analysis: a panel per setting and population, a colour per combination.

    Parameters
    ----------
    candidates : pandas.DataFrame
        Table ``candidates``, any number of settings and populations.
    converged : mapping of str to bool, optional
        Setting -> whether its mixture converged; one that did not says so in its title. A setting
        that is in here and has no candidates gets an empty panel: none is dropped.
    columns : int, optional
        Panels a row.

    Returns
    -------
    matplotlib.figure.Figure
        Panels in the order of the frame's settings, for each population in rising order.

    Raises
    ------
    ValueError
        When there is nothing to draw, or columns is below 1.
    """
    from matplotlib.figure import Figure

    if columns < 1:
        raise parameter_error("plot_grid", "columns", "at least 1", columns)
    status = dict(converged or {})
    settings = list(dict.fromkeys([*candidates["setting"], *status]))
    populations = sorted(set(candidates["population"]))
    if not settings or not populations:
        raise parameter_error("plot_grid", "candidates", "a table with at least one row", "none")
    names = [c for c in dict.fromkeys(candidates["combination"]) if c]
    panels = [(population, setting) for population in populations for setting in settings]
    rows = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(4.2 * columns, 3.2 * rows + 0.6), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, (population, setting) in zip(grid.flat, panels, strict=False):
        mine = candidates[
            (candidates["setting"] == setting) & (candidates["population"] == population)
        ]
        note = "" if status.get(setting, True) else ", did not converge"
        axes.set_title(f"{setting}, N = {population:.0e}{note}", fontsize=9)
        if mine.empty:
            axes.text(0.5, 0.5, "not scored", ha="center", transform=axes.transAxes)
            continue
        plot_candidates(axes, mine, names)
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_axis_off()
    found: dict[str, Artist] = {}
    for axes in grid.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    figure.legend(
        list(found.values()), list(found), loc="outside lower center", ncols=min(len(found), 6)
    )
    return figure
