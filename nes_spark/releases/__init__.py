"""Candidate releases, the risk-utility frontier and the choice (paper, section 2.3)."""

from nes_spark.releases.frontier import choose, pareto_frontier

__all__ = ["choose", "pareto_frontier"]
