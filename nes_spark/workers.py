"""Python workers of a local session: what they all need is loaded once, before they are forked.

Spark's own daemon loads nothing, so that every worker loads NumPy, pandas, PyArrow, SciPy and spaCy
for itself, and after every task it searches all that they hold for garbage. Over small tables that
is most of what workers do. Here the libraries are loaded before the first fork and are no garbage
from then on: workers share their memory. What tasks load themselves, a recogniser for example, is
searched as long as that takes little of the time (:class:`Collector`). And PySpark comes from the
folder that it is installed in, not from the archive beside it, of which nothing is compiled in
advance and whose listing every task reads again.

:func:`nes_spark.session.get_session` names this module (``spark.python.daemon.module``) where it
starts Java itself on this machine. Everywhere else Spark's own daemon runs.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import sys
import time
from collections.abc import Callable, Sequence
from importlib.machinery import PathFinder
from pathlib import Path

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


def unpacked(path: Sequence[str]) -> list[str]:
    """Return a search path without the archives of what is installed beside them.

    Parameters
    ----------
    path : sequence of str
        As ``sys.path``.

    Returns
    -------
    list of str
        Without ``pyspark.zip`` where the PySpark that is found otherwise is the one that the
        archive belongs to, and without Py4J's beside it where Py4J is found otherwise. The archives
        of another installation stay: its Java needs its own Python.
    """
    folders = [place for place in path if not place.endswith(".zip")]
    pyspark, py4j = (PathFinder.find_spec(name, folders) for name in ("pyspark", "py4j"))
    if pyspark is None or pyspark.origin is None:
        return list(path)
    library = Path(pyspark.origin).resolve().parent / "python" / "lib"
    archives = {library / "pyspark.zip", *(library.glob("py4j-*.zip") if py4j else ())}
    return [place for place in path if Path(place).resolve() not in archives]


class Collector:
    """Collects the garbage of tasks, and takes a fiftieth of a worker's time at most.

    A worker that has loaded a recogniser would search a million objects after every task, for a
    tenth of a second, also where tasks take a hundredth. After a search, the next whole one waits
    until fifty times as long has passed; what comes before searches what is new only.

    Parameters
    ----------
    clock : callable, optional
        Seconds.
    """

    #: So many times as long as a search took the next one waits.
    WAIT = 50

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next = clock()

    def collect(self) -> int:
        """Collect, and return how many objects could not be reached."""
        begun = self._clock()
        if begun < self._next:
            return gc.collect(1)
        found = gc.collect()
        end = self._clock()
        self._next = end + self.WAIT * (end - begun)
        return found


def load() -> None:
    """Load what workers share, and keep the collector from going through it again."""
    with contextlib.redirect_stdout(sys.stderr):  # what goes out first is where the daemon listens
        for name in LIBRARIES:
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    sys.path[:] = unpacked(sys.path)
    from pyspark import daemon

    load()
    daemon.gc = Collector()  # type: ignore[assignment]
    daemon.manager()
