"""Data utility: the mixture's likelihood before and after swapping (paper, 2.5), and more."""

from nes_spark.utility.measure import data_utility

__all__ = ["data_utility"]
