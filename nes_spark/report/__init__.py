"""The HTML report of a run and its figures."""

from nes_spark.report.data import Example, ExampleSide, ReportData
from nes_spark.report.page import build_report
from nes_spark.report.plots import plot_candidates, plot_grid

__all__ = [
    "Example",
    "ExampleSide",
    "ReportData",
    "build_report",
    "plot_candidates",
    "plot_grid",
]
