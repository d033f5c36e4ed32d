"""The explorable frontier: hover or tap a candidate, hide combinations, copy what publishes it.

It is drawn by Bokeh, whose script goes into the page: nothing is loaded from elsewhere. The static
figure beside it says the same without a script, and the table of candidates without a picture.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nes_spark.report.figures import (
    AXES,
    has_figures,
    in_a_legend,
    pretty,
    series_of,
    share_limits,
)

if TYPE_CHECKING:
    import pandas as pd

    from nes_spark.releases.choice import Choice

#: Element that the plot is put into, and the one that tells about the candidate tapped.
TARGET, TOLD = "explorer-plot", "explorer-told"
#: Grey that can be read on light and on dark paper.
_INK = "#7a7a7a"
_MARKERS = {
    "o": "circle", "s": "square", "^": "triangle", "D": "diamond", "v": "inverted_triangle",
    "P": "plus", "X": "x", "<": "hex", ">": "star",
}  # fmt: skip


@dataclass(frozen=True)
class Explorer:
    """What the page needs.

    Attributes
    ----------
    script : str
        BokehJS, as text of a script element.
    item : str
        The plot as JSON, for ``Bokeh.embed.embed_item``; safe inside a script element.
    candidates : int
        Candidates in the plot.
    """

    script: str
    item: str
    candidates: int


def command_of(combination: str, n_swaps: int) -> str:
    """Return the command that publishes a candidate; RUN stands for the run folder."""
    return f'nes-spark choose RUN --combination "{combination}" --swaps {n_swaps}'


def explorer(space: pd.DataFrame, choice: Choice) -> Explorer | None:
    """Draw the candidates for exploring, on the axes that the choice was made on.

    Parameters
    ----------
    space : pandas.DataFrame
        Candidates of one setting and population.
    choice : Choice
        The chosen release; its ``risk`` and ``utility`` name the axes.

    Returns
    -------
    Explorer or None
        None where fewer than two candidates have figures on both axes. Equal data give equal text.
    """
    from bokeh.core.types import ID
    from bokeh.embed import json_item
    from bokeh.models import ColumnDataSource, CustomJS, HoverTool, Range1d, TapTool
    from bokeh.plotting import figure
    from bokeh.resources import Resources

    x, y = choice.utility, choice.risk
    shown = space[has_figures(space, choice)]
    if len(shown) < 2:
        return None
    combinations = [c for c in dict.fromkeys(shown["combination"]) if c]
    lines = sum(1 + in_a_legend(pretty(name)).count("\n") for name in combinations)
    plot = figure(
        sizing_mode="stretch_width",
        # the legend below has a line or two for each
        height=420 + 22 * (lines + 2),
        tools="pan,wheel_zoom,box_zoom,reset",
        active_drag=None,
        x_axis_label=f"{AXES[x][0]} (more is better)",
        y_axis_label=f"{AXES[y][0]} (less is better)",
        background_fill_alpha=0.0,
        border_fill_alpha=0.0,
        outline_line_color=_INK,
        toolbar_location="above",
    )
    plot.toolbar.logo = None
    if y != "DR":
        low, high = share_limits(shown[y])
        plot.y_range = Range1d(start=low, end=high)
    for axis in plot.axis:
        axis.axis_label_text_color = axis.major_label_text_color = _INK
        axis.axis_line_color = axis.major_tick_line_color = axis.minor_tick_line_color = _INK
    plot.grid.grid_line_alpha = 0.25
    callback = CustomJS(
        args={"told": TOLD},
        code="""
        const rows = cb_data.source.selected.indices;
        const element = document.getElementById(told);
        if (!rows.length || !element) return;
        const data = cb_data.source.data, i = rows[0];
        element.textContent = data.told[i];
        const command = document.getElementById(told + "-command");
        command.textContent = data.command[i];
        command.parentElement.hidden = false;
        """,
    )
    renderers: list[Any] = []
    looks: dict[str, tuple[str, str]] = dict(series_of(combinations))
    for name in ["", *combinations]:
        mine = shown[shown["combination"] == name]
        if mine.empty:
            continue
        colour, marker = looks.get(name, (_INK, "o"))
        rows = mine.to_dict("records")
        source = ColumnDataSource(
            {
                "x": [float(row[x]) for row in rows],
                "y": [float(row[y]) for row in rows],
                "name": [pretty(name)] * len(rows),
                "swaps": [int(row["n_swaps"]) for row in rows],
                "risk": [_written(row, y) for row in rows],
                "utility": [_written(row, x) for row in rows],
                "draws": [int(row["draws"]) for row in rows],
                "told": [_told(row, x, y) for row in rows],
                "command": [command_of(name, int(row["n_swaps"])) for row in rows],
            }
        )
        renderers.append(
            plot.scatter(
                "x",
                "y",
                source=source,
                size=9,
                marker=_MARKERS.get(marker, "circle"),
                color=colour,
                line_color=None,
                legend_label=in_a_legend(pretty(name)),
                nonselection_alpha=0.5,
            )
        )
    if choice.n_swaps:
        own = [_own(choice, x)], [_own(choice, y)]
        plot.scatter(
            *own, size=20, marker="star", color=_INK, legend_label="chosen", level="underlay"
        )
    plot.add_tools(
        HoverTool(
            renderers=renderers,
            tooltips=[
                ("exchanged", "@name"), ("swaps", "@swaps"), (AXES[y][0], "@risk"),
                (AXES[x][0], "@utility"), ("draws", "@draws"),
            ],
        ),
        TapTool(renderers=renderers, callback=callback),
    )  # fmt: skip
    plot.legend.click_policy = "hide"
    plot.legend.label_text_color = _INK
    plot.legend.background_fill_alpha = 0.0
    plot.add_layout(plot.legend[0], "below")
    # two beside each other are wider than a telephone
    plot.legend.ncols = 1
    plot.legend.location = "left"
    # not sorted: a reference must follow its object
    item = _numbered(json.dumps(json_item(plot, ID(TARGET))))
    script = "\n".join(Resources(mode="inline", components=["bokeh"]).js_raw)
    return Explorer(script, item.replace("</", "<\\/"), len(shown))


def _own(choice: Choice, axis: str) -> float:
    return float(getattr(choice, axis))


def _written(row: dict[Any, Any], axis: str) -> str:
    """A figure with its error or interval."""
    text = AXES[axis][1].format(row[axis])
    if f"{axis}_low" in row:
        low, high = (AXES[axis][1].format(row[f"{axis}_{end}"]) for end in ("low", "high"))
        return f"{text} ({low} to {high})"
    error = row.get(f"{axis}_se")
    return text if error is None or error != error else f"{text} ± {error:.2g}"


def _told(row: dict[Any, Any], x: str, y: str) -> str:
    name = pretty(str(row["combination"]))
    return (
        f"{name}, {row['n_swaps']} swaps: {AXES[y][0]} {_written(row, y)}, "
        f"{AXES[x][0]} {_written(row, x)}, {row['draws']} draw(s)"
    )


def _numbered(text: str) -> str:
    """Number Bokeh's ids from 1: they count what a process drew before."""
    found = dict.fromkeys(re.findall(r'"(p\d+)"', text))
    names = {old: f"p{number}" for number, old in enumerate(found, start=1)}
    return re.sub(r'"(p\d+)"', lambda m: f'"{names[m.group(1)]}"', text)
