"""nes_spark: anonymize a corpus of texts by named entity swapping, on Apache Spark.

>>> import nes_spark as nes
>>> config = nes.load_config("conf/demo.yaml")          # doctest: +SKIP
>>> result = nes.run(config)                            # doctest: +SKIP
"""

from nes_spark.config import Config, load_config
from nes_spark.runner import RunResult, describe_plan, run, run_stage

__all__ = ["Config", "RunResult", "describe_plan", "load_config", "run", "run_stage"]
__version__ = "0.1.0"
