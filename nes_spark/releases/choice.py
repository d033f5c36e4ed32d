"""The chosen release, as one frozen record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any

from nes_spark.entities.combination import Combination
from nes_spark.releases.decision import TOSS

if TYPE_CHECKING:
    import pandas as pd

#: Rules of choice that look at no risk.
RISKLESS_RULES = ("max_rate", "coverage", "candidate")


@dataclass(frozen=True)
class Choice:
    """Which candidate is released, and how it scored.

    Attributes
    ----------
    setting : str
        Mixture setting.
    population : float
        Size N of the population that risk is estimated for.
    combination : Combination
        J: the swapped categories; empty for no swaps.
    n_swaps : int
        Swaps.
    r : float
        Swap rate, 2 x swaps / n.
    draws : int
        Monte Carlo draws that DR and DU are averaged over.
    draw : int
        The draw that is released.
    DR, DU : float
        Disclosure risk and data utility, averaged over the draws that reached so many swaps.
    DR_se, DU_se : float or None
        Their standard errors; None for a single draw.
    rule : str
        Rule of the choice.
    candidates, on_frontier : int
        Candidates that it was chosen from, and how many of them are on the frontier.
    components : int
        Components of the mixture.
    drawn : int
        Draws that were made.
    own_DR, own_DU : float or None
        Figures of the draw that is released.
    risk, utility : str
        What counted as risk (``measured``, ``measured_chunks`` or ``DR``) and as utility
        (``fidelity`` or ``DU``).
    measured, measured_chunks, fidelity : float or None
        Share of documents that the strongest attacker names, of chunks with names that the one does
        who holds all others, and mean cosine of the contextual encoder over all chunks; None where
        they were not measured before the choice.
    tied : int
        Candidates that could not be told from the best, itself included.
    stability : float or None
        Share of resamples, of draws and documents, that choose this release; None for a rule that
        weighs nothing, or a single draw without errors.
    uniques_left, uniques_expected : float or None
        Sample uniques that were not swapped, and how many of them are expected to be unique in the
        population.
    """

    setting: str
    population: float
    combination: Combination
    n_swaps: int
    r: float
    draws: int
    draw: int
    DR: float
    DR_se: float | None
    DU: float
    DU_se: float | None
    rule: str
    candidates: int
    on_frontier: int
    components: int
    drawn: int = 1
    own_DR: float | None = None
    own_DU: float | None = None
    risk: str = "DR"
    utility: str = "DU"
    measured: float | None = None
    measured_chunks: float | None = None
    fidelity: float | None = None
    tied: int = 1
    stability: float | None = None
    uniques_left: float | None = None
    uniques_expected: float | None = None

    @property
    def is_toss(self) -> bool:
        """Whether fewer than nine in ten of the resamples choose this release."""
        return self.stability is not None and self.stability < TOSS

    @property
    def swapped(self) -> bool:
        """Whether anything was swapped."""
        return bool(self.combination)

    def space(self, candidates: pd.DataFrame) -> pd.DataFrame:
        """Rows of table ``candidates`` of the chosen setting and population."""
        mine = candidates["setting"] == self.setting
        return candidates[mine & (candidates["population"] == self.population)]

    def marks(self, candidates: pd.DataFrame) -> pd.Series:
        """Return for each row of table ``candidates`` whether it is the chosen one."""
        return (
            (candidates["setting"] == self.setting)
            & (candidates["population"] == self.population)
            & (candidates["combination"] == self.combination.name)
            & (candidates["n_swaps"] == self.n_swaps)
            & ((candidates["draw"] == self.draw) | candidates["draw"].isna())
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON knows them, for :meth:`from_dict`."""
        content = {f.name: getattr(self, f.name) for f in fields(self)}
        return content | {"combination": self.combination.name}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Choice:
        """Read what :meth:`to_dict` gave.

        Raises
        ------
        ValueError
            When fields are missing that every release has, or are not known.
        """
        names = {f.name for f in fields(cls)}
        needed = {f.name for f in fields(cls) if f.default is MISSING}
        if not needed <= set(content) <= names:
            raise ValueError(f"a choice has the fields {sorted(names)}, got {sorted(content)}")
        return cls(**{**content, "combination": Combination.parse(content["combination"])})
