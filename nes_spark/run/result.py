"""What a run gives back: the choice, the gates, where the report is, and a summary in lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nes_spark.releases.choice import Choice
from nes_spark.store import Store

if TYPE_CHECKING:
    import pandas as pd


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
    """

    directory: str
    status: str
    figures: dict[str, Any]
    choice: Choice
    gates: list[Any]
    report: str
    mlflow_run_id: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def table(self, name: str) -> pd.DataFrame:
        """Read a table of the run into memory, see :data:`nes_spark.schemas.TABLES`."""
        return Store(self.directory).read_pandas(name)

    def __str__(self) -> str:
        return _summary(self)


def _summary(result: RunResult) -> str:
    figures, choice = result.figures, result.choice
    quarantined = sum(figures["quarantined"].values())
    rows: list[tuple[str, str]] = [
        (
            "documents",
            f"{figures['documents']:,} of {figures['documents_in']:,}"
            + (f" ({quarantined:,} quarantined)" if quarantined else ""),
        ),
        ("chunks", f"{figures['chunks']:,} ({figures['words']:,} words)"),
    ]
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
        ("", f"DR = {choice.DR:.4f}, DU = {choice.DU:.4f}, N = {choice.population:.0e}"),
    ]
    rows += [
        (f"gate {gate.name}", f"{gate.verdict if gate.passed else 'REFUSED'}: {gate.detail}")
        for gate in result.gates
    ]
    width = max(len(name) for name, _ in rows)
    lines = [f"{name:<{width}}  {value}" for name, value in rows]
    head = {
        "published": "release published",
        "unchanged": "nothing to do: everything is up to date",
        "refused": "release NOT published",
    }[result.status]
    return "\n".join(
        [
            head,
            *lines,
            f"{'release':<{width}}  {result.directory}/release",
            f"{'report':<{width}}  {result.report}",
        ]
    )
