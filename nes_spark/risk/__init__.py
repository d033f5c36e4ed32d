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
from nes_spark.risk.tables import (
    comparable_population,
    goodness_table,
    p_hat_table,
    stays_unique_table,
)
from nes_spark.risk.uniques import expected_uniques, log_expected_uniques, unique_proportion

__all__ = [
    "Estimate",
    "EwensPitmanFit",
    "GoodnessOfFit",
    "Interval",
    "PHat",
    "StandardErrors",
    "comparable_population",
    "disclosure_risk",
    "expected_uniques",
    "fit_ewens_pitman",
    "goodness_table",
    "log_expected_uniques",
    "p_hat_table",
    "simulate_partition",
    "stays_unique_table",
    "unique_proportion",
]
