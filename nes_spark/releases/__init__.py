"""Candidate releases, the risk-utility frontier and the choice (paper, section 2.3)."""

from typing import TYPE_CHECKING

from nes_spark.entities.combination import Combination, combinations_of
from nes_spark.lazy import lazily
from nes_spark.releases.space import (
    Release,
    describe_space,
    releases_of,
    statuses_of,
)

if TYPE_CHECKING:
    from nes_spark.releases.frontier import choose, pareto_frontier

__all__ = [
    "Combination",
    "Release",
    "choose",
    "combinations_of",
    "describe_space",
    "pareto_frontier",
    "releases_of",
    "statuses_of",
]

__getattr__ = lazily(
    __name__,
    {
        "frontier": ("choose", "pareto_frontier"),
    },
)
