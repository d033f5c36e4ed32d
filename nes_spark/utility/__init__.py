"""Data utility: the mixture's likelihood before and after swapping (paper, 2.5), and more."""

from nes_spark.utility.measure import data_utility
from nes_spark.utility.tasks import Prediction, UtilityTask, load_task

__all__ = ["Prediction", "UtilityTask", "data_utility", "load_task"]
