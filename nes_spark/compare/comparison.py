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
#: What can be named, in words: key -> what, and by whom.
RISKS = {
    "documents": "documents, by who holds half of every original",
    "public_words": "documents, by who knows public words",
    "left_out": "chunks with names, by who holds all others",
    "known": "chunks with names, by who holds them too",
    "names_left_out": "by exchanged names alone, who holds all others",
    "names_known": "by exchanged names alone, who holds them too",
}
#: What the figures of fidelity are about: key -> words.
COSTS = {
    "release": "fidelity of changed chunks",
    "names_blanked": "with placeholders instead",
    "half_deleted": "with half of the words deleted",
}
#: Axes of the paper's frontier.
ESTIMATED = ("DU", "DR")


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
    named : mapping
        Key of :data:`RISKS` -> (share that the strongest attacker names before, after).
    fidelity : mapping
        Key of :data:`COSTS` -> (mean over changed chunks, standard error or None).
    parameters : mapping
        Dotted key -> setting; None where the configuration is of another version of the program,
        which is said.
    axes : (str, str)
        Utility and risk by which the release was chosen, columns of table ``candidates``.
    frontiers : mapping
        Axes -> their figures of the releases on the frontier, of the chosen setting and
        population; of its own axes and of DU and DR.
    chosen : mapping
        Axes -> their figures of the release.
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
    named: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    fidelity: Mapping[str, tuple[float, float | None]] = field(default_factory=dict)
    parameters: Mapping[str, Setting] | None = field(default_factory=dict)
    axes: tuple[str, str] = ESTIMATED
    frontiers: Mapping[tuple[str, str], Sequence[tuple[float, float]]] = field(default_factory=dict)
    chosen: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)
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
    drawn = []
    if told := [key for key in RISKS if all(key in run.named for run in runs)]:
        drawn.append(
            figures.bars(
                "named", "What the strongest attackers name of each release",
                [RISKS[key] for key in told],
                {run.label: [run.named[key][1] for key in told] for run in runs},
                "Share that is named", "{:.1%}",
            )
        )  # fmt: skip
    if all("release" in run.fidelity for run in runs):
        drawn.append(
            figures.bars(
                "fidelity", "Fidelity of each release", labels,
                {"fidelity": [run.fidelity["release"][0] for run in runs]},
                "Fidelity of changed chunks", "{:.3f}",
            )
        )  # fmt: skip
    drawn += [
        figures.bars(
            "risk", "Disclosure risk of each run", labels, {"DR": [run.DR for run in runs]},
            "Disclosure risk DR", "{:.3f}",
        ),
        figures.bars(
            "utility", "Loss of utility of each run", labels,
            {"1 - DU": [1 - run.DU for run in runs]}, "Loss of utility, 1 − DU", "{:.4f}",
        ),
    ]  # fmt: skip
    axes = _axes(runs)
    overlaid = {run.label: list(run.frontiers[axes]) for run in runs if run.frontiers.get(axes)}
    if overlaid:
        chosen = {run.label: run.chosen[axes] for run in runs if axes in run.chosen}
        drawn.append(figures.frontiers(overlaid, chosen, axes))
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
        named=_named_rows(runs),
        costs=_cost_rows(runs),
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
    for key in RISKS:
        if any(key in run.named for run in runs):
            series[f"compare/named/{key}"] = [
                run.named[key][1] if key in run.named else None for run in runs
            ]
    for key in COSTS:
        if any(key in run.fidelity for run in runs):
            series[f"compare/fidelity/{key}"] = [
                run.fidelity[key][0] if key in run.fidelity else None for run in runs
            ]
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
    axes = (choice.utility, choice.risk)
    spaces = _frontiers(run, (axes, ESTIMATED))
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
        named=_named(details),
        fidelity=_fidelity(details),
        parameters=_parameters(run),
        axes=axes,
        frontiers=spaces,
        chosen={
            of: (float(x), float(y))
            for of in (axes, ESTIMATED)
            if (x := getattr(choice, of[0])) is not None
            and (y := getattr(choice, of[1])) is not None
        },
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


def _named(details: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Key of :data:`RISKS` -> what the strongest attacker names before and after."""
    chunks = details.get("chunks_named") or {}
    sides = {
        "documents": details.get("documents_named"),
        "public_words": details.get("public_words"),
    }
    for key in ("left_out", "known"):
        sides[key] = chunks.get(key)
        sides[f"names_{key}"] = (chunks.get(key) or {}).get("linkage")
    return {
        key: (float(of["before"]["named"]), float(of["after"]["named"]))
        for key, of in sides.items()
        if of and "before" in of and "after" in of
    }


def _fidelity(details: Mapping[str, Any]) -> dict[str, tuple[float, float | None]]:
    """Key of :data:`COSTS` -> mean fidelity and its standard error."""
    found = (details.get("utility") or {}).get("fidelity", {})
    sides = {"release": found, **found.get("anchors", {})}
    return {
        key: (float(side["value"]), side["standard_error"])
        for key in COSTS
        if (side := sides.get(key, {})).get("value") is not None
    }


def _axes(runs: Sequence[RunSummary]) -> tuple[str, str]:
    """Axes on which all runs are drawn: those by which all were chosen, else DU and DR."""
    (axes, *others) = {run.axes for run in runs if run.frontiers} or {ESTIMATED}
    return ESTIMATED if others else axes


def _frontiers(
    run: PublishedRun, several: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], list[tuple[float, float]]]:
    """Axes -> figures of what nothing beats on them in the chosen space, if there is some."""
    from nes_spark.releases.frontier import frontier_of
    from nes_spark.run.choice import measured_candidates

    tables = ("candidates", "fidelity", "measured_risk")
    if any(run.store.manifest(table) is None for table in tables):
        return {}
    space = run.choice.space(measured_candidates(run.store))
    found = {}
    for axes in several:
        mine = space[frontier_of(space, *axes)]
        if len(mine):
            found[axes] = [(float(x), float(y)) for x, y in mine[list(axes)].to_numpy(float)]
    return found


def _named_rows(runs: Sequence[RunSummary]) -> list[tuple[str, list[tuple[float, float] | None]]]:
    """What can be named of each run, a row a risk."""
    return [
        (words, [run.named.get(key) for run in runs])
        for key, words in RISKS.items()
        if any(key in run.named for run in runs)
    ]


def _cost_rows(
    runs: Sequence[RunSummary],
) -> list[tuple[str, list[tuple[float, float | None] | None]]]:
    """What it cost each run, a row a figure."""
    return [
        (words, [run.fidelity.get(key) for run in runs])
        for key, words in COSTS.items()
        if any(key in run.fidelity for run in runs)
    ]


def _first_table(runs: Sequence[RunSummary]) -> list[str]:
    """Lines for a terminal: what can be named and what it cost, a column a run."""
    rows = [
        (words, *("-" if s is None else f"{s[0]:.1%} -> {s[1]:.1%}" for s in sides))
        for words, sides in _named_rows(runs)
    ]
    rows += [
        (
            words,
            *(
                "-" if f is None else f"{f[0]:.3f}" + (f" (± {2 * f[1]:.3f})" if f[1] else "")
                for f in figures
            ),
        )
        for words, figures in _cost_rows(runs)
    ]
    if not rows:
        return []
    head = ("named, before and after", *(run.label for run in runs))
    return [text_table(head, rows, right=set(range(1, len(head)))), ""]


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
    lines = [
        *_first_table(runs),
        table_of(runs),
        *_attackers_table(runs),
        *_settings_table(runs),
        "",
        f"Page: {page}",
    ]
    run_id = _track(opened[-1], runs, drifts, Path(folder)) if track else None
    if run_id is not None:
        lines.append(f"MLflow run: {run_id}")
    return "\n".join(lines)
