"""Python workers of a local session: what they all need is loaded once, before they are forked.

Spark's own daemon loads nothing, so that every worker loads NumPy, pandas, PyArrow, SciPy and spaCy
for itself, and after every task it searches all that they hold for garbage. Over small tables that
is most of what workers do. Here the libraries are loaded before the first fork and are no garbage
from then on: workers share their memory, and a task's own garbage is collected as before.

:func:`nes_spark.session.get_session` names this module (``spark.python.daemon.module``) where it
starts Java itself on this machine. Everywhere else Spark's own daemon runs.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import sys

#: No room of the project is among them: what a stage needs of it comes with its tasks.
LIBRARIES = (
    "pyspark.worker",
    "pyspark.sql.pandas.types",
    "numpy",
    "pandas",
    "pyarrow",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.special",
    "scipy.stats",
    "spacy",
)


def load() -> None:
    """Load what workers share, and keep the collector from going through it again."""
    with contextlib.redirect_stdout(sys.stderr):  # what goes out first is where the daemon listens
        for name in LIBRARIES:
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    from pyspark.daemon import manager

    load()
    manager()
