"""Candidate releases, the risk-utility frontier and the choice (paper, section 2.3)."""

from nes_spark.entities.combination import Combination, combinations_of
from nes_spark.releases.frontier import choose, pareto_frontier
from nes_spark.releases.space import (
    Release,
    describe_space,
    releases_of,
    statuses_of,
)

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
