"""nes_spark: anonymize a corpus of texts by named entity swapping, on Apache Spark.

>>> import nes_spark as nes
>>> config = nes.load_config("conf/demo.yaml")          # doctest: +SKIP
>>> result = nes.run(config)                            # doctest: +SKIP
"""

from nes_spark.config import Config, load_config
from nes_spark.run.result import RunResult
from nes_spark.run.runner import describe_plan, run, run_stage
from nes_spark.versions import __version__

__all__ = ["Config", "RunResult", "__version__", "describe_plan", "load_config", "run", "run_stage"]
