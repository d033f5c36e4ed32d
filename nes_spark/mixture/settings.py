"""The mixtures that a configuration asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nes_spark.config import MixtureConfig


@dataclass(frozen=True)
class MixtureSetting:
    """One mixture to fit.

    Attributes
    ----------
    family : str
        ``"pkb"``, ``"spcauchy"`` or ``"vmf"``.
    n_components : int
        Components K at the start.
    min_weight : float
        Components whose weight falls below are removed.
    """

    family: str
    n_components: int
    min_weight: float = 0.0

    @property
    def name(self) -> str:
        """Name in tables and files, e.g. ``pkb-K10-eps0.001``.

        Examples
        --------
        >>> MixtureSetting("pkb", 10, 1e-10).name
        'pkb-K10-eps1e-10'
        """
        return f"{self.family}-K{self.n_components}-eps{self.min_weight:g}"


def settings_of(config: MixtureConfig) -> list[MixtureSetting]:
    """Return the settings that the lists of a configuration span, without repetitions."""
    grid = [
        MixtureSetting(family, k, eps)
        for family in config.family
        for k in config.n_components
        for eps in config.min_weight
    ]
    return list(dict.fromkeys(grid))
