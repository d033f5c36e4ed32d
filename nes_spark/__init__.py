"""nes_spark: anonymize a corpus of texts by named entity swapping, on Apache Spark.

>>> import nes_spark as nes
>>> config = nes.load_config("conf/demo.yaml")          # doctest: +SKIP
>>> result = nes.run(config)                            # doctest: +SKIP
"""

from typing import TYPE_CHECKING

from nes_spark.lazy import lazily

# Not lazily: the function ``run`` has the name of its room, which must be loaded before it.
from nes_spark.run.runner import describe_plan, run, run_stage
from nes_spark.versions import __version__

if TYPE_CHECKING:
    from nes_spark.config import Config, load_config
    from nes_spark.run.result import RunResult

__all__ = ["Config", "RunResult", "__version__", "describe_plan", "load_config", "run", "run_stage"]

__getattr__ = lazily(__name__, {"config": ("Config", "load_config"), "run.result": ("RunResult",)})
