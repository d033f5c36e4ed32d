"""What a run gives back: the choice, the gates, where the report is, and a summary in lines."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nes_spark.entities.combination import UNIT_WORDS
from nes_spark.errors import parameter_error
from nes_spark.releases.choice import Choice
from nes_spark.releases.publishing import what_is_left, what_is_retold
from nes_spark.store import Store
from nes_spark.text.reading import REASONS

#: What the attacker of a unit (:data:`nes_spark.audit.measured.UNITS`) of documents holds.
HOLDS = {
    "documents": "half of every original document",
    "documents_background": "other texts about every candidate",
}

#: Who is asked about chunks: one who holds all others, one who holds them too. In this order.
EXPOSURES = ("left_out", "known")

#: From this share of named documents (or chunks, where each is released by itself) on a run says
#: what would hide more.
MANY = 0.1

if TYPE_CHECKING:
    import pandas as pd

    from nes_spark.config import Config
    from nes_spark.config.hiding import Step


@dataclass(frozen=True)
class RunResult:
    """The result of a run.

    Attributes
    ----------
    directory : str
        The run folder ``OUT/PERIOD``.
    status : str
        ``published`` or ``unchanged`` (everything was there already).
    figures : dict
        Counts of documents, chunks and entities (:mod:`nes_spark.run.figures_stages`).
    choice : Choice
        The chosen release: setting, population, combination, n_swaps, r, DR, DU.
    gates : list of Gate
        What was checked before publication.
    report : str
        Path of the HTML report.
    mlflow_run_id : str or None
        The MLflow run, None where tracking is off.
    seconds : dict
        Wall time per stage, in seconds, of the run that made its output.
    documents_named : dict or None
        What the strongest attackers name ``before`` and ``after``
        (:func:`nes_spark.audit.measured.strongest`); None where it was not measured.
    chunks_named : dict or None
        The same for chunks with names, ``left_out`` and ``known``
        (:func:`nes_spark.audit.measured.chunks_named`).
    coverage : list of dict or None
        What became of the mentions (table ``coverage``); plan ``whole`` only.
    utility : dict or None
        Measure -> its value for the release, standard error, chunks, and ``anchors``; None where
        the judge is off.
    public_words : dict or None
        The same for who knows a few words of each candidate; None without ``audit.public_words``.
    publish : str
        ``documents``, or ``chunks`` where each is released by itself.
    chunks_together : dict or None
        Then: for how many chunks the one most like it is of the same document
        (:func:`nes_spark.audit.measured.chunks_together`); None where it was not measured.
    hide_more : list of Step
        Where much can still be named: settings that hide more, the one that costs least first
        (:func:`steps_for`).
    keep_more : list of Step
        Where little of the meaning is left: settings that leave more, the one that gives up least
        first (:func:`milder_for`).
    """

    directory: str
    status: str
    figures: dict[str, Any]
    choice: Choice
    gates: list[Any]
    report: str
    mlflow_run_id: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    documents_named: dict[str, Any] | None = None
    coverage: list[dict[str, Any]] | None = None
    utility: dict[str, Any] | None = None
    chunks_named: dict[str, Any] | None = None
    public_words: dict[str, Any] | None = None
    publish: str = "documents"
    chunks_together: dict[str, Any] | None = None
    hide_more: list[Step] = field(default_factory=list)
    keep_more: list[Step] = field(default_factory=list)

    def table(self, name: str) -> pd.DataFrame:
        """Read a table of the run into memory, see :data:`nes_spark.schemas.TABLES`."""
        return Store(self.directory).read_pandas(name)

    @property
    def release(self) -> pd.DataFrame:
        """The released documents: pseudonym, period, number of chunks, text."""
        return self.released("documents")

    def released(self, name: str) -> pd.DataFrame:
        """Read ``documents`` or ``chunks`` of the release into memory.

        Raises
        ------
        ValueError
            For another name.
        """
        import pandas as pd

        if name not in ("documents", "chunks"):
            raise parameter_error("released", "name", "'documents' or 'chunks'", name)
        store = Store(self.directory)
        files = sorted(
            file
            for entry in store.read_json("release", "release.json")["files"]
            if (file := entry["file"]).startswith(name) and file.endswith(".parquet")
        )
        parts = [
            pd.read_parquet(io.BytesIO(store.read_bytes("release", file) or b"")) for file in files
        ]
        return pd.concat(parts, ignore_index=True)

    def summary(self) -> str:
        """Return what was released and how it was measured, in lines."""
        return _summary(self)

    def to_frame(self) -> pd.DataFrame:
        """Return the candidates of the chosen setting and population, the frontier marked."""
        return self.choice.space(self.table("candidates")).reset_index(drop=True)

    def __str__(self) -> str:
        return _summary(self)

    def _repr_html_(self) -> str:
        from nes_spark.showing import table

        head, rows = _rows(self)
        return table(head, rows, note=f"Report: {self.report}")


def steps_for(
    config: Config,
    documents: Mapping[str, Any] | None,
    chunks: Mapping[str, Any] | None,
) -> list[Step]:
    """Return what would hide more than a release does of which much can be named.

    Parameters
    ----------
    config : Config
        Of the run.
    documents, chunks : mapping or None
        What the strongest attackers name (:attr:`RunResult.documents_named`, ``chunks_named``).
        Chunks count where each is released by itself, those that the attacker does not hold.

    Returns
    -------
    list of Step
        Empty where hardly any is named, where it was not measured, and where all is done.
    """
    from nes_spark.config.hiding import further_steps

    alone = config.output.publish == "chunks"
    found = (chunks or {}).get("left_out") if alone else documents
    if not found or found["after"]["named"] <= MANY:
        return []
    return further_steps(config)


def milder_for(config: Config, utility: Mapping[str, Any] | None) -> list[Step]:
    """Return what would leave more of the meaning than a release does that leaves little.

    Parameters
    ----------
    config : Config
        Of the run.
    utility : mapping or None
        :attr:`RunResult.utility`.

    Returns
    -------
    list of Step
        Empty unless the release means less than texts without half of their words, by more than
        two standard errors of the difference, and where names alone change.
    """
    from nes_spark.config.hiding import milder_steps

    found = (utility or {}).get("fidelity", {})
    half = found.get("anchors", {}).get("half_deleted", {})
    if "value" not in found or "value" not in half:
        return []
    errors = (side.get("standard_error") or 0.0 for side in (found, half))
    if found["value"] >= half["value"] - 2 * math.hypot(*errors):
        return []
    return milder_steps(config)


def quarantined(reasons: Mapping[str, int]) -> str:
    """Say how many documents were put aside and why, the most frequent reason first.

    Examples
    --------
    >>> quarantined({"not_utf8": 18, "empty_text": 1})
    '19 quarantined: 18 the bytes are not UTF-8 text, 1 the text holds nothing but white space'
    """
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    listed = ", ".join(f"{count:,} {REASONS.get(reason, reason)}" for reason, count in ordered)
    return f"{sum(reasons.values()):,} quarantined: {listed}"


def _rows(result: RunResult) -> tuple[str, list[tuple[str, str]]]:
    """What is said of a run: the verdict, and names with their values."""
    figures, choice = result.figures, result.choice
    unit = choice.combination.unit  # '' where the run has one unit
    put_aside = figures["quarantined"]
    rows: list[tuple[str, str]] = [
        (
            "documents",
            f"{figures['documents']:,} of {figures['documents_in']:,}"
            + (f" ({quarantined(put_aside)})" if put_aside else ""),
        ),
        ("chunks", f"{figures['chunks']:,} ({figures['words']:,} words)"),
    ]
    if said := what_is_left(figures):
        rows.append(("left out", said))
    if said := what_is_retold(figures):
        rows.append(("as summaries", said))
    rows += [
        (
            f"entities {category}",
            f"{found['entities']:,} distinct, {found['mentions']:,} mentions",
        )
        for category, found in figures["categories"].items()
    ]
    rows += [
        ("components", f"{choice.components} ({choice.setting})"),
        ("candidates", f"{choice.candidates:,}, {choice.on_frontier:,} on the frontier"),
        (
            "chosen release",
            f"{choice.combination.name or 'no swaps'}, {choice.n_swaps} swaps, r = {choice.r:.4f}",
        ),
        *([("", f"unit {unit}: {UNIT_WORDS[unit]}")] if unit else []),
        ("", f"DR = {choice.DR:.4f}, DU = {choice.DU:.4f}, N = {choice.population:.0e}"),
    ]
    rows += _account(result)
    rows += [
        (f"gate {gate.name}", f"{gate.verdict if gate.passed else 'REFUSED'}: {gate.detail}")
        for gate in result.gates
    ]
    head = {
        "published": "release published",
        "unchanged": "nothing to do: everything is up to date",
        "refused": "release NOT published",
    }[result.status]
    rows += [("release", f"{result.directory}/release"), ("report", result.report)]
    return head, rows


def _summary(result: RunResult) -> str:
    head, rows = _rows(result)
    width = max(len(name) for name, _ in rows)
    return "\n".join([head, *(f"{name:<{width}}  {value}" for name, value in rows)])


def verdict_on_documents(named: dict[str, Any] | None) -> str:
    """Say in plain words how many documents the strongest attacker can name."""
    if named is None:
        return "not measured (audit.documents, audit.max_documents)"
    before, after = named["before"], named["after"]

    def count(side: dict[str, Any]) -> str:
        return f"{round(side['named'] * side['n']):,} of {side['n']:,}"

    return (
        f"the strongest attacker names {count(before)} before ({before['attacker']}) and "
        f"{count(after)} after ({after['attacker']}; 95 %: {after['low']:.0%} to "
        f"{after['high']:.0%}), who holds {HOLDS[after['unit']]}"
    )


def verdict_on_chunks(found: dict[str, Any]) -> str:
    """Say how many chunks with names are named, by the strongest attacker and by names alone."""
    before, after = found["before"], found["after"]
    said = (
        f"{before['named']:.0%} of {before['n']:,} before ({before['attacker']}), "
        f"{after['named']:.0%} after ({after['attacker']})"
    )
    for name, words in (("linkage", "exchanged names"), ("linkage-all", "all names")):
        if name in found:
            sides = found[name]
            said += f"; by {words} alone {sides['before']['named']:.1%} before, "
            said += f"{sides['after']['named']:.1%} after"
    return said


def verdict_on_together(found: dict[str, Any] | None) -> str:
    """Say how well chunks that are released by themselves can be put together."""
    if not found:
        return "which chunks are was not measured (audit.documents, audit.max_words)"
    before, after = found["before"], found["after"]
    return (
        f"for {after['named']:.0%} of {after['n']:,} chunks the one most like it is of the same "
        f"document ({after['attacker']}), {before['named']:.0%} before, "
        f"{found['chance']:.0%} by chance"
    )


def _account(result: RunResult) -> list[tuple[str, str]]:
    rows = [("documents named", verdict_on_documents(result.documents_named))]
    if result.publish == "chunks":
        rows = [
            ("released", "each chunk by itself: which ones are of one document stands in no file"),
            ("put together", rows[0][1]),
            ("of one document", verdict_on_together(result.chunks_together)),
        ]
    if result.public_words:
        sides = (result.public_words["before"], result.public_words["after"])
        before, after = (f"{row['named'] * row['n']:.0f} of {row['n']:,}" for row in sides)
        told = f"{before} named before, {after} after, by whole texts and a few public words"
        if each := result.public_words.get("each_document"):
            before, after = (
                f"{row['named'] * row['n']:,.0f} of {row['n']:,}"
                for row in (each["before"], each["after"])
            )
            told += f"; of single documents {before} before, {after} after"
        rows.append(("by public words", told))
    for exposure in EXPOSURES:
        if found := (result.chunks_named or {}).get(exposure):
            rows.append((f"chunks named, {exposure.replace('_', ' ')}", verdict_on_chunks(found)))
    if result.coverage:
        sums: dict[str, int] = {}
        for row in result.coverage:
            sums[row["fate"]] = sums.get(row["fate"], 0) + row["mentions"]
        total = sum(sums.values())
        told = ", ".join(f"{n:,} {fate}" for fate, n in sorted(sums.items(), key=lambda i: -i[1]))
        rows.append(("names", f"{total:,} mentions: {told}"))
    rows.append(("utility", verdict_on_utility(result.utility)))
    for name, steps in (("to hide more", result.hide_more), ("to keep more", result.keep_more)):
        said = [f"{step.options}   {step.what}" for step in steps]
        rows += [("" if i else name, line) for i, line in enumerate(said)]
    return rows


def verdict_on_utility(utility: dict[str, Any] | None) -> str:
    """Say in one line what the release cost, with anchors as a scale."""
    from nes_spark.utility.judge import told

    if utility is None:
        return "fidelity was not measured (utility.judge is off)"
    found = utility.get("fidelity", {})
    rows = [{**found, "subject": "release"}] if "value" in found else []
    rows += [{**row, "subject": name} for name, row in found.get("anchors", {}).items()]
    return told([{**row, "measure": "fidelity"} for row in rows])
