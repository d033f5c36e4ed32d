"""A page, and a table for the terminal, that compare the releases of several runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from nes_spark.compare.drift import Drift, drift_between
from nes_spark.errors import ConfigError, InputError, parameter_error
from nes_spark.report.terminal import text_table
from nes_spark.run.differing import UNSET, Setting, beside, settings
from nes_spark.run.published import CONFIGURATION, PublishedRun

#: Most characters of a setting's value that a title takes.
MAX_VALUE = 16
#: Components that the figure shows.
MAX_COMPONENTS = 20


@dataclass(frozen=True)
class RunSummary:
    """What is compared of one run.

    Attributes
    ----------
    name, period : str, str or None
        Name and cross-section.
    published : bool
        Whether its gates passed.
    documents, chunks : int
        Size of the corpus.
    combination : str
        Exchanged categories joined with "+"; empty for no swaps.
    n_swaps : int
        Swaps.
    r, DR, DU : float
        Swap rate, disclosure risk, data utility.
    DR_se, DU_se : float or None
        Standard errors.
    setting, configuration : str
        Mixture setting, and fingerprint of the configuration.
    words, quarantined, components : int
        Words and quarantined documents of the corpus, components of the mixture.
    entities : mapping
        Category -> distinct entities.
    mlflow_run_id : str or None
        The MLflow run of this run.
    categories : mapping
        Category -> share of chunks that hold an entity of it, from 0 to 1.
    audit : mapping
        Adversary -> (accuracy before, accuracy after).
    documents_named : mapping
        Attacker -> (share of the documents that it names before, after).
    parameters : mapping
        Dotted key -> setting; None where the configuration is of another version of the program,
        which is said.
    frontier : sequence of (float, float)
        DU and DR of the releases on the frontier, of the chosen setting and population.
    folder : str
        The run folder.
    title : str
        What it is called beside the others (:func:`told_apart`); name and period by default.
    """

    name: str
    period: str | None
    published: bool
    documents: int
    chunks: int
    combination: str
    n_swaps: int
    r: float
    DR: float
    DU: float
    DR_se: float | None = None
    DU_se: float | None = None
    setting: str = ""
    configuration: str = ""
    words: int = 0
    quarantined: int = 0
    components: int = 0
    entities: Mapping[str, int] = field(default_factory=dict)
    mlflow_run_id: str | None = None
    categories: Mapping[str, float] = field(default_factory=dict)
    audit: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    documents_named: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    parameters: Mapping[str, Setting] | None = field(default_factory=dict)
    frontier: Sequence[tuple[float, float]] = ()
    folder: str = ""
    title: str = ""

    @property
    def label(self) -> str:
        """What the run is called."""
        return self.title or (f"{self.name} {self.period}" if self.period else self.name)


def differing(runs: Sequence[RunSummary]) -> list[str]:
    """Return the settings that are not the same in all runs, in the order of the first."""
    known = [run.parameters for run in runs if run.parameters is not None]
    keys = dict.fromkeys(key for mine in known for key in mine if key != "period")
    return [key for key in keys if len({mine.get(key, UNSET).content for mine in known}) > 1]


def _in_words(runs: Sequence[RunSummary], key: str) -> list[str]:
    """A setting of all runs in words."""
    known = [run.parameters.get(key, UNSET) for run in runs if run.parameters is not None]
    words = iter(beside(known))
    return ["another version" if run.parameters is None else next(words) for run in runs]


def told_apart(runs: Sequence[RunSummary]) -> list[RunSummary]:
    """Give runs of one name and period titles that say what is different about them.

    That is the first settings that differ among them and are short enough to stand there uncut;
    where there is none, the folder, and then the position.
    """
    titles = [run.label for run in runs]

    def refine(words_of: Callable[[RunSummary, list[RunSummary], int], str]) -> None:
        counts = Counter(titles)
        before = list(titles)
        for i, run in enumerate(runs):
            if counts[before[i]] > 1:
                group = [r for r, title in zip(runs, before, strict=True) if title == before[i]]
                titles[i] += words_of(run, group, i)

    def by_settings(run: RunSummary, group: list[RunSummary], _: int) -> str:
        told = {
            key: _in_words(group, key)
            for key in differing(group)
            if all(s.get(key, UNSET).shown for r in group if (s := r.parameters) is not None)
        }
        short = {k: words for k, words in told.items() if max(map(len, words)) <= MAX_VALUE}
        place = next(i for i, one in enumerate(group) if one is run)
        return "".join(f", {k}={words[place]}" for k, words in list(short.items())[:2])

    refine(by_settings)
    refine(lambda run, *_: f" ({run.folder})" if run.folder else "")
    refine(lambda _run, _group, i: f" #{i + 1}")
    return [
        run if title == run.label else replace(run, title=title)
        for run, title in zip(runs, titles, strict=True)
    ]


def _drift(runs: Sequence[RunSummary]) -> list[dict[str, Any]]:
    """Largest change of a category's share of chunks from each run to the next."""
    rows = []
    for before, after in pairwise(runs):
        names = [c for c in before.categories if c in after.categories]
        changes = {c: after.categories[c] - before.categories[c] for c in names}
        largest = max(changes, key=lambda c: abs(changes[c]), default=None)
        rows.append(
            {
                "from": before.label,
                "to": after.label,
                "chunks": after.chunks / before.chunks - 1 if before.chunks else None,
                "DR": after.DR - before.DR,
                "DU": after.DU - before.DU,
                "category": largest,
                "change": changes[largest] if largest is not None else None,
                "same_configuration": before.configuration == after.configuration,
            }
        )
    return rows


def build_comparison(
    runs: Sequence[RunSummary], folder: str | Path, drifts: Sequence[Drift] = ()
) -> Path:
    """Write a page that sets several runs side by side, in the order given.

    Parameters
    ----------
    runs : sequence of RunSummary
        At least two.
    folder : str or pathlib.Path
        Created when missing; gets ``index.html`` and ``figures``.
    drifts : sequence of Drift, optional
        From each run to the next, one fewer than runs; none leaves these tables out.

    Returns
    -------
    pathlib.Path
        The page. Equal runs give equal bytes.

    Raises
    ------
    ValueError
        When there are fewer than two runs.
    """
    from markupsafe import Markup

    from nes_spark.report import figures
    from nes_spark.report.page import environment, stylesheet

    if len(runs) < 2:
        raise parameter_error("build_comparison", "runs", "at least two runs", len(runs))
    runs = told_apart(runs)
    folder = Path(folder)
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    labels = [run.label for run in runs]
    drawn = [
        figures.bars(
            "risk", "Disclosure risk of each run", labels, {"DR": [run.DR for run in runs]},
            "Disclosure risk DR", "{:.3f}",
        ),
        figures.bars(
            "utility", "Loss of utility of each run", labels,
            {"1 - DU": [1 - run.DU for run in runs]}, "Loss of utility, 1 − DU", "{:.4f}",
        ),
    ]  # fmt: skip
    overlaid = {run.label: list(run.frontier) for run in runs if run.frontier}
    if overlaid:
        chosen = {run.label: (run.DU, run.DR) for run in runs if run.frontier}
        drawn.append(figures.frontiers(overlaid, chosen))
    steps = list(zip(pairwise(labels), drifts, strict=False))
    drawn += _drift_figures(steps)
    for drawing in drawn:
        (folder / "figures" / f"{drawing.name}.svg").write_text(drawing.wide, encoding="utf-8")
        (folder / "figures" / f"{drawing.name}.png").write_bytes(drawing.png)
    adversaries = sorted({name for run in runs for name in run.audit})
    page = environment().get_template("compare.html.j2").render(
        runs=runs,
        style=Markup(stylesheet()),
        svg={
            d.name: {
                "wide": Markup(figures.themed(d.wide)),
                "narrow": Markup(figures.themed(d.narrow)),
            }
            for d in drawn
        },
        adversaries=adversaries,
        attackers=list(dict.fromkeys(name for run in runs for name in run.documents_named)),
        settings={key: _in_words(runs, key) for key in differing(runs)},
        others=[run.label for run in runs if run.parameters is None],
        categories=list(dict.fromkeys(c for run in runs for c in run.categories)),
        drift=_drift(runs),
        steps=[{"from": a, "to": b, "drift": drift} for (a, b), drift in steps],
        words=list(dict.fromkeys(c for _, drift in steps for c in drift.vocabulary)),
        entities=list(dict.fromkeys(c for run in runs for c in run.entities)),
    )  # fmt: skip
    path = folder / "index.html"
    path.write_text(page, encoding="utf-8", newline="\n")
    return path


def _drift_figures(steps: Sequence[tuple[tuple[str, str], Drift]]) -> list[Any]:
    """Draw the drift of the last steps: as many as there are colours."""
    from nes_spark.report import figures

    shown = steps[-len(figures.SERIES) :]
    drawn = []
    categories = list(dict.fromkeys(c for _, drift in shown for c in drift.vocabulary))
    if categories:
        groups = {
            f"{a} → {b}": [
                found.divergence or 0.0 if (found := drift.vocabulary.get(c)) else 0.0
                for c in categories
            ]
            for (a, b), drift in shown
        }
        drawn.append(
            figures.bars(
                "vocabulary", "Drift of the entities of each category", categories, groups,
                "Jensen-Shannon divergence, bits", "{:.3f}",
            )
        )  # fmt: skip
    matched = [(labels, drift) for labels, drift in shown if drift.components]
    if matched:
        (before, after), drift = matched[-1]
        drawn.append(
            figures.bars(
                "components",
                "Weights of the mixture's components in two runs",
                [
                    f"{'–' if c.before is None else c.before} → "
                    f"{'–' if c.after is None else c.after}"
                    for c in drift.components[:MAX_COMPONENTS]
                ],
                {
                    before: [c.weight_before for c in drift.components[:MAX_COMPONENTS]],
                    after: [c.weight_after for c in drift.components[:MAX_COMPONENTS]],
                },
                "Weight",
                "{:.3f}",
            )
        )
    return drawn


def _track(
    run: PublishedRun, runs: Sequence[RunSummary], drifts: Sequence[Drift], folder: Path
) -> str | None:
    """Record a comparison as an MLflow run of its own, where the last run was recorded."""
    from nes_spark.run.mlflow_run import tracker_of
    from nes_spark.tracking import tracked_series

    config = run.config
    if not config.tracking.enabled:
        return None
    series: dict[str, list[float | None]] = {
        "compare/DR": [run.DR for run in runs],
        "compare/DU": [run.DU for run in runs],
        "compare/r": [run.r for run in runs],
        "compare/swaps": [run.n_swaps for run in runs],
        "compare/documents": [run.documents for run in runs],
        "compare/chunks": [run.chunks for run in runs],
        "compare/words": [run.words for run in runs],
        "compare/components": [run.components for run in runs],
    }
    for name in sorted({name for run in runs for name in run.audit}):
        for side, place in (("pre", 0), ("post", 1)):
            series[f"compare/audit/{name}/{side}"] = [
                run.audit[name][place] if name in run.audit else None for run in runs
            ]
    # A drift is that from the run before, so its step is the later run; the first has none.
    for category in sorted({c for drift in drifts for c in drift.vocabulary}):
        found = [drift.vocabulary.get(category) for drift in drifts]
        series[f"drift/jaccard/{category}"] = [None, *(f.jaccard if f else None for f in found)]
        series[f"drift/divergence/{category}"] = [
            None, *(f.divergence if f else None for f in found)
        ]  # fmt: skip
    series["drift/weights"] = [None, *(drift.weight_shift for drift in drifts)]
    tags = {"kind": "comparison", "runs": ", ".join(run.label for run in runs)}
    tags |= {f"run.{i}": run.mlflow_run_id for i, run in enumerate(runs) if run.mlflow_run_id}
    tracker = tracker_of(config, run.store)
    with tracker.run(f"compare {runs[0].label} to {runs[-1].label}", tags) as tracked:
        tracked_series(tracked, series)
        tracked.folder(folder, "comparison")
        return tracked.run_id


def summary_of(run: PublishedRun) -> RunSummary:
    """Return what is compared of a published run."""
    details, choice = run.details, run.choice
    figures = details["figures"]
    chunks = int(figures["chunks"])
    return RunSummary(
        name=details["name"],
        period=details["period"],
        words=int(figures["words"]),
        quarantined=sum(figures["quarantined"].values()),
        components=choice.components,
        entities={
            category: int(counts["entities"]) for category, counts in figures["categories"].items()
        },
        mlflow_run_id=run.mlflow_run_id,
        published=all(bool(gate["passed"]) for gate in details["gates"]),
        documents=int(figures["documents"]),
        chunks=chunks,
        combination=choice.combination.name,
        n_swaps=choice.n_swaps,
        r=choice.r,
        DR=choice.DR,
        DU=choice.DU,
        DR_se=choice.DR_se,
        DU_se=choice.DU_se,
        setting=choice.setting,
        configuration=details["configuration"],
        categories={
            category: counts["chunks"] / chunks if chunks else 0.0
            for category, counts in figures["categories"].items()
        },
        audit={
            str(result["model"]): (result["pre"]["mean"], result["post"]["mean"])
            for result in details["audit"]["results"]
        },
        documents_named=_documents_named(run),
        parameters=_parameters(run),
        frontier=_frontier(run),
        folder="/".join(Path(run.store.root).parts[-2:]),
    )


def _parameters(run: PublishedRun) -> dict[str, Setting] | None:
    """All settings; None for a configuration of another version."""
    if run.store.read_json(*CONFIGURATION) is None:
        return None
    try:
        return settings(run.config)
    except ConfigError:
        return None


def _documents_named(run: PublishedRun) -> dict[str, tuple[float, float]]:
    """Attacker -> share of the documents that it names, before and after, whatever it holds."""
    from nes_spark.audit.measured import BACKGROUND, DOCUMENTS

    if run.store.manifest("measured") is None:
        return {}
    found: dict[str, dict[str, float]] = {}
    columns = ["unit", "attacker", "side", "named"]
    for unit, attacker, side, named in run.store.rows("measured", columns):
        if unit in (DOCUMENTS, BACKGROUND):
            sides = found.setdefault(attacker, {})
            sides[side] = max(float(named), sides.get(side, 0.0))
    return {a: (s["before"], s["after"]) for a, s in found.items() if len(s) == 2}


def _frontier(run: PublishedRun) -> list[tuple[float, float]]:
    """DU and DR of what is on the frontier of the chosen space."""
    if run.store.manifest("candidates") is None:
        return []
    space = run.choice.space(run.store.read_pandas("candidates"))
    mine = space[space["on_frontier"] & space["DU"].notna() & space["DR"].notna()]
    return [(float(x), float(y)) for x, y in zip(mine["DU"], mine["DR"], strict=True)]


def table_of(runs: Sequence[RunSummary]) -> str:
    """Return a plain-text table of the runs for a terminal."""
    head = ("run", "documents", "chunks", "exchanged", "swaps", "r", "DR", "DU", "published")
    rows = [
        (
            run.label,
            f"{run.documents:,}",
            f"{run.chunks:,}",
            run.combination or "none",
            f"{run.n_swaps:,}",
            f"{run.r:.2%}",
            f"{run.DR:.4f}",
            f"{run.DU:.5f}",
            "yes" if run.published else "no",
        )
        for run in runs
    ]
    return text_table(head, rows, right={1, 2, 4, 5, 6, 7, 8})


def _attackers_table(runs: Sequence[RunSummary]) -> list[str]:
    """Lines for a terminal: who names how many documents, a column a run."""
    names = list(dict.fromkeys(name for run in runs for name in run.documents_named))
    if not names:
        return []
    rows = [
        (
            name,
            *(
                "{:.0%} -> {:.0%}".format(*run.documents_named[name])
                if name in run.documents_named
                else "-"
                for run in runs
            ),
        )
        for name in names
    ]
    head = ("documents named by", *(run.label for run in runs))
    return ["", text_table(head, rows, right=set(range(1, len(head))))]


def _settings_table(runs: Sequence[RunSummary]) -> list[str]:
    """Lines for a terminal: settings that differ, a column a run."""
    keys = differing(runs)
    others = [run.label for run in runs if run.parameters is None]
    if others:
        note = f"Settings of {', '.join(others)} are of another version and were not compared."
        if not keys:
            return ["", note]
    elif not keys:
        return ["", "All settings are the same."]
    rows = [(key, *_in_words(runs, key)) for key in keys]
    return ["", text_table(("what differs", *(run.label for run in runs)), rows)]


def compare_runs(directories: Sequence[str | Path], folder: str | Path, track: bool = False) -> str:
    """Compare run folders: write the page, return a table for the terminal and the page's path.

    Parameters
    ----------
    directories : sequence of str or pathlib.Path
        Run folders ``OUT/PERIOD``, in the order in which they are compared.
    folder : str or pathlib.Path
        Gets the page and its figures.
    track : bool, optional
        Record the comparison in MLflow, as a run of its own, where the last run was recorded
        (unless its configuration switched tracking off).

    Raises
    ------
    InputError
        When there are fewer than two folders, or one holds no published run.
    """
    if len(directories) < 2:
        raise InputError("compare: give at least two run folders")
    opened = [PublishedRun(directory) for directory in directories]
    runs = told_apart([summary_of(run) for run in opened])
    drifts = [drift_between(a, b) for a, b in pairwise(opened)]
    page = build_comparison(runs, folder, drifts)
    lines = [table_of(runs), *_attackers_table(runs), *_settings_table(runs), "", f"Page: {page}"]
    run_id = _track(opened[-1], runs, drifts, Path(folder)) if track else None
    if run_id is not None:
        lines.append(f"MLflow run: {run_id}")
    return "\n".join(lines)
