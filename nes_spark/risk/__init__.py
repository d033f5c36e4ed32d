"""Disclosure risk: sample uniques, the Ewens-Pitman model, population uniques (paper, 2.4)."""

from nes_spark.risk.ewens_pitman import (
    Estimate,
    EwensPitmanFit,
    GoodnessOfFit,
    Interval,
    PHat,
    StandardErrors,
    fit_ewens_pitman,
    simulate_partition,
)
from nes_spark.risk.measure import disclosure_risk
from nes_spark.risk.tables import goodness_table, p_hat_table
from nes_spark.risk.uniques import expected_uniques, log_expected_uniques, unique_proportion

__all__ = [
    "Estimate",
    "EwensPitmanFit",
    "GoodnessOfFit",
    "Interval",
    "PHat",
    "StandardErrors",
    "disclosure_risk",
    "expected_uniques",
    "fit_ewens_pitman",
    "goodness_table",
    "log_expected_uniques",
    "p_hat_table",
    "simulate_partition",
    "unique_proportion",
]
