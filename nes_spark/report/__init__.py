"""The HTML report of a run, and the page that compares several runs."""

from nes_spark.report.comparing import RunSummary, build_comparison
from nes_spark.report.data import Example, ExampleSide, ReportData
from nes_spark.report.page import build_report

__all__ = [
    "Example",
    "ExampleSide",
    "ReportData",
    "RunSummary",
    "build_comparison",
    "build_report",
]
