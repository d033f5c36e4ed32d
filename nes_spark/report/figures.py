"""Figures as SVG, each in a wide and a narrow form, in colours that follow the page's theme.

Matplotlib writes the colours below; :func:`themed` turns them into CSS variables, so that one
drawing serves light and dark. Ids and hashes are made from the figure's name: the same numbers give
the same bytes.
"""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nes_spark.entities.combination import Combination

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nes_spark.releases.choice import Choice

#: Colour -> CSS variable. Light values; the dark ones are in the style sheet.
INK = "#1c2430"
MUTED = "#5b6675"
GRID = "#d9dfe7"
PAPER = "#fefefe"
#: Series colours differ in lightness as well as in hue, and every series has its own marker.
SERIES = ("#0068a8", "#c44601", "#00805f", "#8a3f9e", "#9a6b00", "#b02a5b", "#3f6f78", "#555555")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_VARIABLES = {INK: "--ink", MUTED: "--muted", GRID: "--grid", PAPER: "--paper"} | {
    colour: f"--series-{number}" for number, colour in enumerate(SERIES)
}
#: Width and height in inches: for a column on a desktop, and for a phone.
SIZES = {"wide": (10.0, 5.0), "narrow": (4.7, 4.9)}


@dataclass(frozen=True)
class Drawing:
    """A figure: its name, what it shows in words, and its two SVG forms."""

    name: str
    alt: str
    wide: str
    narrow: str
    png: bytes


def _style(size: float) -> Any:
    return {
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": size,
        "axes.edgecolor": MUTED,
        "axes.labelcolor": INK,
        "axes.titlecolor": INK,
        "axes.titlesize": size + 0.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.formatter.useoffset": False,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.color": GRID,
        "grid.linewidth": 0.8,
        "text.color": INK,
        "xtick.color": MUTED,
        "ytick.color": MUTED,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "legend.frameon": False,
        "legend.fontsize": size - 0.5,
        "figure.facecolor": PAPER,
        "axes.facecolor": PAPER,
        "savefig.facecolor": PAPER,
        "figure.dpi": 72,
    }


def themed(svg: str) -> str:
    """Replace the colours of a figure by CSS variables."""
    for colour, variable in _VARIABLES.items():
        svg = svg.replace(colour, f"var({variable})")
    return svg


def _clean(svg: str, name: str, alt: str) -> str:
    """Make an SVG that can live in a page: unique ids, no prolog, a title for screen readers."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    # Ids that nothing refers to are removed; the others begin with the figure's name.
    used = set(re.findall(r'(?:url\(#|href="#)([\w-]+)', svg))
    svg = re.sub(r' id="([\w.-]+)"', lambda m: f' id="{name}-{m[1]}"' if m[1] in used else "", svg)
    svg = re.sub(r'(url\(#|href="#)([\w-]+)', rf"\g<1>{name}-\2", svg)
    svg = re.sub(r' (?:width|height)="[\d.]+pt"', "", svg)
    label = alt.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    svg = svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
    # One font for page and figures; sizes and weights stay.
    family = r"(font: [^'\";]*px) '[^']+'(?:, [^;\"]*)?"
    svg = re.sub(family, r"\1 system-ui, sans-serif", svg)
    return svg.strip()


def _draw(
    name: str,
    alt: str,
    paint: Callable[[Figure, bool], None],
    heights: Mapping[str, float] | None = None,
) -> Drawing:
    """Draw a figure in both forms; ``paint`` is told whether it is the narrow one."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    made: dict[str, str] = {}
    png = b""
    for form, (width, height) in SIZES.items():
        narrow = form == "narrow"
        settings = _style(12.0 if not narrow else 12.5) | {"svg.hashsalt": f"{name}-{form}"}
        with mpl.rc_context(settings):
            figure = Figure(
                figsize=(width, (heights or {}).get(form, height)), layout="constrained"
            )
            FigureCanvasSVG(figure)
            paint(figure, narrow)
            # Else each form that is saved is laid out twice and drawn once more for it.
            if (layout := figure.get_layout_engine()) is not None:
                layout.execute(figure)
            figure.set_layout_engine(None)
            stream = io.StringIO()
            figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
            made[form] = _clean(stream.getvalue(), f"{name}-{form}", alt)
            if not narrow:
                FigureCanvasAgg(figure)
                binary = io.BytesIO()
                figure.savefig(binary, format="png", dpi=110, metadata={"Software": None})
                png = binary.getvalue()
    return Drawing(name, alt, made["wide"], made["narrow"], png)


def series_of(combinations: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return combination -> (colour, marker), by position."""
    return {
        combination: (SERIES[i % len(SERIES)], MARKERS[i % len(MARKERS)])
        for i, combination in enumerate(combinations)
    }


def pretty(combination: str) -> str:
    """Return a combination for a reader: ``Organization + Product``, and its unit if it has one."""
    return Combination.parse(combination).told


def in_a_legend(label: str) -> str:
    r"""Break a label into lines that fit a telephone.

    Examples
    --------
    >>> in_a_legend("Organization + Person + Product + Location")
    'Organization + Person + Product +\nLocation'
    """
    return textwrap.fill(label, 34)


def _legend(figure: Figure, axes: Axes, narrow: bool) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if narrow:
        labels = [in_a_legend(label) for label in labels]
        figure.legend(handles, labels, loc="outside lower left", ncols=1, handletextpad=0.5)
    else:
        figure.legend(handles, labels, loc="outside right upper", handletextpad=0.6)


#: Axes of a choice: column -> (words, how a value is written). Words stand along an axis, beside
#: "less is better": long ones are cut.
AXES = {
    "DR": ("Disclosure risk DR", "{:.4f}"),
    "measured": ("Documents named", "{:.0%}"),
    "measured_chunks": ("Chunks named", "{:.0%}"),
    "DU": ("Data utility DU", "{:.5f}"),
    "fidelity": ("Fidelity over all chunks", "{:.4f}"),
}


def share_limits(values: Iterable[float]) -> tuple[float, float]:
    """Ends of an axis of shares: a fifth of it at least, and hardly beyond 0 and 1.

    Examples
    --------
    >>> share_limits([1.0, 1.0]), share_limits([0.2, 0.6])
    ((0.8, 1.02), (0.18, 0.62))
    """
    known = [float(value) for value in values]
    low, high = min(known, default=0.0), max(known, default=1.0)
    low = max(min(low - 0.02, high - 0.2), -0.02)
    return round(low, 6), round(min(max(high, low + 0.18) + 0.02, 1.02), 6)


def has_figures(space: pd.DataFrame, choice: Choice) -> pd.Series:
    """Mark the candidates that have a figure on both axes of the choice."""
    return space[choice.utility].notna() & space[choice.risk].notna()


def risk_utility(space: pd.DataFrame, choice: Choice, line: tuple[float, float] | None) -> Drawing:
    """Candidates with utility across and risk up, as the choice was made (paper, section 2.3).

    Parameters
    ----------
    space : pandas.DataFrame
        Candidates of one setting and population.
    choice : Choice
        The chosen release; its ``risk`` and ``utility`` name the axes.
    line : tuple of float or None
        Slope and offset of the choice's line.
    """
    from nes_spark.releases.frontier import frontier_of

    names = [c for c in dict.fromkeys(space["combination"]) if c]
    x, y = choice.utility, choice.risk
    space = space[has_figures(space, choice)]
    frontier = space[frontier_of(space, x, y)].sort_values([x, y])
    nothing = space[space["n_swaps"] == 0]

    def paint(figure: Figure, narrow: bool) -> None:
        axes = figure.add_subplot()
        axes.plot(
            frontier[x],
            frontier[y],
            color=INK,
            linewidth=1.3,
            linestyle="--",
            label="frontier",
            zorder=2,
        )
        for name, (colour, marker) in series_of(names).items():
            mine = space[space["combination"] == name]
            axes.plot(
                mine[x],
                mine[y],
                linestyle="none",
                marker=marker,
                markersize=5,
                color=colour,
                markeredgewidth=0,
                label=pretty(name),
                zorder=3,
            )
        axes.plot(
            nothing[x], nothing[y], marker="o", markersize=8, color=PAPER, markeredgecolor=INK,
            linestyle="none", label="no swaps", zorder=4, clip_on=False,
        )  # fmt: skip
        # A candidate can be chosen by hand although it has no figure on an axis.
        placed = getattr(choice, x) is not None and getattr(choice, y) is not None
        if placed:
            axes.plot(
                [getattr(choice, x)], [getattr(choice, y)], marker="*", markersize=19, color=INK,
                markeredgecolor=PAPER, markeredgewidth=1.2, linestyle="none", label="chosen",
                zorder=6,
            )  # fmt: skip
        if line is not None and placed:
            x0, x1 = axes.get_xlim()
            y0, y1 = axes.get_ylim()
            # The indifference line through the chosen release: parallel to the rule's line.
            shift = float(getattr(choice, y)) - line[0] * float(getattr(choice, x))
            axes.plot(
                [x0, x1], [shift + line[0] * x0, shift + line[0] * x1],
                color=MUTED, linewidth=1.0, linestyle=":", label="line of the rule", zorder=1,
            )  # fmt: skip
            axes.set_xlim(x0, x1)
            axes.set_ylim(y0, y1)
        if y != "DR":
            axes.set_ylim(*share_limits(space[y]))
        axes.set_xlabel(f"{AXES[x][0]} (more is better)")
        axes.set_ylabel(f"{AXES[y][0]} (less is better)")
        _legend(figure, axes, narrow)

    def told(axis: str) -> str:
        value = getattr(choice, axis)
        return f"{AXES[axis][0]} {'not known' if value is None else AXES[axis][1].format(value)}"

    return _draw(
        "risk-utility",
        f"Risk against utility of {len(space)} candidate releases; of the chosen one: "
        f"{told(y)}, {told(x)}",
        paint,
        {"wide": 5.6, "narrow": 6.6},
    )


def against_swaps(space: pd.DataFrame, choice: Choice) -> Drawing:
    """DR and DU of every combination against the number of swaps."""
    names = [c for c in dict.fromkeys(space["combination"]) if c]

    def paint(figure: Figure, narrow: bool) -> None:
        grid = (2, 1) if narrow else (1, 2)
        panels = figure.subplots(*grid, sharex=True)
        for axes, measure, title in zip(
            panels, ("DR", "DU"), ("Disclosure risk DR", "Data utility DU"), strict=True
        ):
            for name, (colour, marker) in series_of(names).items():
                mine = space[space["combination"] == name].sort_values("n_swaps")
                axes.plot(
                    [0, *mine["n_swaps"]],
                    [1.0, *mine[measure]],
                    color=colour,
                    linewidth=1.6,
                    marker=marker,
                    markevery=max(1, len(mine) // 6),
                    markersize=5,
                    label=pretty(name),
                )
            if choice.n_swaps:
                axes.plot(
                    [choice.n_swaps], [getattr(choice, measure)], marker="*", markersize=16,
                    color=INK, markeredgecolor=PAPER, linestyle="none", label="chosen", zorder=5,
                )  # fmt: skip
            axes.set_title(title)
            axes.set_xlim(left=0)
        panels[-1].set_xlabel("Swaps")
        if not narrow:
            panels[0].set_xlabel("Swaps")
        _legend(figure, panels[0], narrow)

    return _draw(
        "against-swaps",
        "Disclosure risk and data utility of each combination against the number of swaps",
        paint,
        {"wide": 4.4, "narrow": 8.0},
    )


def frontiers(
    series: Mapping[str, Sequence[tuple[float, float]]],
    chosen: Mapping[str, tuple[float, float]],
    axes: tuple[str, str] = ("DU", "DR"),
) -> Drawing:
    """Overlay the frontiers of several runs, each with its chosen release.

    Parameters
    ----------
    series : mapping
        Run -> (utility, risk) of the releases on its frontier.
    chosen : mapping
        Run -> (utility, risk) of its release.
    axes : (str, str)
        Which utility and which risk: keys of :data:`AXES`.
    """
    utility, (risk, form) = AXES[axes[0]][0], AXES[axes[1]]

    def paint(figure: Figure, narrow: bool) -> None:
        axes = figure.add_subplot()
        for number, (label, points) in enumerate(series.items()):
            colour, marker = SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]
            along = sorted(points)
            axes.plot(
                [x for x, _ in along], [y for _, y in along], color=colour, marker=marker,
                markersize=5, linewidth=1.4, label=textwrap.fill(label, 38 if narrow else 54),
            )  # fmt: skip
            if label in chosen:
                x, y = chosen[label]
                axes.plot(
                    [x], [y], marker="*", markersize=16, color=colour, markeredgecolor=PAPER,
                    linestyle="none", zorder=5,
                )  # fmt: skip
        axes.set_xlabel(f"{utility} (more is better)")
        axes.set_ylabel(f"{risk} (less is better)")
        figure.legend(loc="outside upper left", ncols=1 if narrow else 2)

    told = "; ".join(
        f"{label}: {len(points)} releases, {risk} from {form.format(min(y for _, y in points))}"
        for label, points in series.items()
    )
    return _draw("frontiers", f"Frontiers of the runs. {told}", paint)


def bars(
    name: str,
    alt: str,
    labels: Sequence[str],
    groups: Mapping[str, Sequence[float]],
    axis: str,
    form: str = "{:,.0f}",
) -> Drawing:
    """Horizontal bars with their values written out; several groups stand below each other.

    Parameters
    ----------
    name, alt : str
        Name of the figure and what it shows.
    labels : sequence of str
        One per bar, from the top.
    groups : mapping
        Legend label -> values.
    axis : str
        Label of the value axis.
    form : str
        How a value is written.
    """
    count = len(labels) * max(1, len(groups))
    height = max(1.7, 0.27 * count + 0.12 * len(labels) + 0.8)

    def paint(figure: Figure, narrow: bool) -> None:
        axes = figure.add_subplot()
        thick = 0.8 / len(groups)
        for number, (group, values) in enumerate(groups.items()):
            places = [i + number * thick for i in range(len(labels))]
            drawn = axes.barh(
                places, values, height=thick * 0.9, color=SERIES[number % len(SERIES)],
                label=textwrap.fill(group, 38 if narrow else 54), align="edge",
            )  # fmt: skip
            axes.bar_label(drawn, [form.format(v) for v in values], padding=3, color=INK)
        shown = [textwrap.fill(label, 22 if narrow else 40) for label in labels]
        axes.set_yticks([i + 0.4 for i in range(len(labels))], shown)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(axis)
        axes.margins(x=0.16)
        if len(groups) > 1:
            # as many beside each other as the figure is wide, in letters and marks
            beside = max(1, 100 // (7 + min(54, max(map(len, groups)))))
            figure.legend(loc="outside upper left", ncols=1 if narrow else beside)

    extra = 0.25 * len(groups) if len(groups) > 1 else 0.0
    return _draw(name, alt, paint, {"wide": height + extra / 2, "narrow": height + extra})


def stacked(
    name: str,
    alt: str,
    labels: Sequence[str],
    groups: Mapping[str, Sequence[float]],
    axis: str,
) -> Drawing:
    """One horizontal bar a label, divided by group; a part has its value where there is room.

    Parameters are those of :func:`bars`. Parts without a value take no room.
    """
    totals = [sum(values[i] for values in groups.values()) for i in range(len(labels))]
    room = 0.07 * max([*totals, 1.0])

    def paint(figure: Figure, narrow: bool) -> None:
        axes = figure.add_subplot()
        done = [0.0] * len(labels)
        for number, (group, values) in enumerate(groups.items()):
            drawn = axes.barh(
                range(len(labels)), values, left=done, height=0.7, color=SERIES[number], label=group
            )
            told = [f"{v:,.0f}" if v >= room else "" for v in values]
            axes.bar_label(drawn, told, label_type="center", color=PAPER)
            done = [d + v for d, v in zip(done, values, strict=True)]
        for place, total in enumerate(totals):
            axes.annotate(
                f"{total:,.0f}", (total, place), xytext=(4, 0), textcoords="offset points",
                va="center", color=INK,
            )  # fmt: skip
        axes.set_yticks(
            range(len(labels)), [textwrap.fill(x, 22 if narrow else 40) for x in labels]
        )
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(axis)
        axes.margins(x=0.12)
        figure.legend(loc="outside upper left", ncols=2 if narrow else min(len(groups), 6))

    height = 0.38 * len(labels) + 1.3
    return _draw(name, alt, paint, {"wide": height, "narrow": height + 0.5})


def audit(results: Sequence[Mapping[str, Any]]) -> Drawing:
    """Accuracy of every adversary before and after swapping."""

    def paint(figure: Figure, narrow: bool) -> None:
        axes = figure.add_subplot()
        for row, result in enumerate(results):
            before, after = result["pre"]["mean"], result["post"]["mean"]
            axes.plot([before, after], [row, row], color=MUTED, linewidth=2, zorder=1)
            for side, value, colour, marker in (
                ("before swapping", before, SERIES[1], "s"),
                ("after swapping", after, SERIES[0], "o"),
            ):
                sd = result["pre" if marker == "s" else "post"].get("sd")
                axes.errorbar(
                    [value], [row], xerr=[sd] if sd else None, marker=marker, markersize=9,
                    color=colour, linestyle="none", capsize=3,
                    label=side if row == 0 else "_nolegend_",
                )  # fmt: skip
        axes.set_yticks(range(len(results)), [str(r["model"]) for r in results])
        axes.set_ylim(len(results) - 0.4, -0.6)
        axes.set_xlim(0, 1)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("Share of chunks identified")
        figure.legend(loc="outside upper left", ncols=1 if narrow else 2)

    height = 1.6 + 0.5 * len(results)
    return _draw(
        "audit",
        "Accuracy of each adversary before and after swapping",
        paint,
        {"wide": height, "narrow": height + 0.4},
    )


def attacks(candidates: pd.DataFrame, choice: Choice) -> Drawing:
    """Measured success of the linkage adversary against the estimated risk of each candidate.

    Parameters
    ----------
    candidates : pandas.DataFrame
        ``combination, n_swaps, DR, corpus_accuracy``.
    choice : Choice
        The chosen release.
    """
    names = list(dict.fromkeys(candidates["combination"]))
    chosen = candidates[
        (candidates["combination"] == choice.combination.name)
        & (candidates["n_swaps"] == choice.n_swaps)
    ]

    def paint(figure: Figure, narrow: bool) -> None:
        axes = figure.add_subplot()
        for name, (colour, marker) in series_of(names).items():
            mine = candidates[candidates["combination"] == name]
            axes.plot(
                mine["DR"], 100 * mine["corpus_accuracy"], linestyle="none", marker=marker,
                markersize=5, color=colour, markeredgewidth=0, label=pretty(name),
            )  # fmt: skip
        axes.plot(
            chosen["DR"], 100 * chosen["corpus_accuracy"], marker="*", markersize=19, color=INK,
            markeredgecolor=PAPER, markeredgewidth=1.2, linestyle="none", label="chosen", zorder=6,
        )  # fmt: skip
        axes.locator_params(axis="x", nbins=4 if narrow else 7)
        axes.set_xlabel("Estimated disclosure risk DR")
        axes.set_ylabel("Chunks the adversary names (%)")
        _legend(figure, axes, narrow)

    return _draw(
        "attacks",
        f"Success of the linkage adversary against estimated risk, {len(candidates)} releases",
        paint,
        {"wide": 4.6, "narrow": 6.2},
    )
