"""The audit: can anyone still tell whose text it is?"""

from nes_spark.audit.statistics import McNemarResult, mcnemar

__all__ = ["McNemarResult", "mcnemar"]
