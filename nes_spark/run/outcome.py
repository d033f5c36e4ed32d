"""The outcome of a run: all that the record, the report and MLflow are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nes_spark.config import Config
from nes_spark.releases.choice import Choice
from nes_spark.releases.publishing import Gate

if TYPE_CHECKING:
    import pandas as pd

    from nes_spark.mixture import MixtureModel
    from nes_spark.run.context import Taken
    from nes_spark.run.findings import Findings


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run, for the record, the report and MLflow.

    Attributes
    ----------
    figures : dict
        As :func:`nes_spark.run.figures_stages.corpus_figures` returns it.
    candidates : pandas.DataFrame
        Table ``candidates`` with the choice marked.
    choice : Choice
        The release.
    statuses : dict
        Status -> chunks.
    gates : list of Gate
        What was checked.
    findings : Findings
        What was found out about the chosen release.
    seconds : dict
        Output of a stage -> wall time.
    models : dict
        Setting -> fitted mixture.
    components : pandas.DataFrame
        From :func:`nes_spark.run.figures_stages.component_figures`.
    language_models : list of dict
        What language models answered about this very release before.
    measured, coverage, utility : pandas.DataFrame or None
        Tables of these names.
    taken : dict
        Output of a stage -> what of it was taken from an earlier run.
    """

    figures: dict[str, Any]
    candidates: pd.DataFrame
    choice: Choice
    statuses: dict[str, int]
    gates: list[Gate]
    findings: Findings
    seconds: dict[str, float]
    models: dict[str, MixtureModel]
    components: pd.DataFrame
    language_models: list[dict[str, Any]]
    measured: pd.DataFrame | None = None
    coverage: pd.DataFrame | None = None
    utility: pd.DataFrame | None = None
    taken: dict[str, Taken] = field(default_factory=dict)

    @property
    def model(self) -> MixtureModel:
        """The mixture of the chosen setting."""
        return self.models[self.choice.setting]


def release_sections() -> list[str]:
    """Sections that decide what a release holds (not where it goes or how it is shown)."""
    return [
        name
        for name in Config.model_fields
        if name not in ("name", "input", "output", "spark", "tracking", "report", "seed", "ledger")
    ]
