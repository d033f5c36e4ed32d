"""Calls of a kernel in Spark's Python workers, for what would keep the driver's Python busy.

The driver is one process whose threads take turns: a kernel that calculates there for seconds holds
up all that goes on in threads meanwhile. In workers it does not, and several calls go side by side.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

Piece = TypeVar("Piece")
Result = TypeVar("Result")


class InWorker(Exception):
    """What a worker says of an error: the cause of the one that is raised on the driver."""


def called(
    spark: SparkSession, function: Callable[[Piece], Result], pieces: Sequence[Piece]
) -> list[Result]:
    """Call a function with each of some pieces, in workers.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
    function : callable
        Takes one piece. It travels with the code of the task, and so does what it holds: a secret
        belongs there, and what is large into the pieces.
    pieces : sequence
        What pickle can take, like the results. One task each where the session has as many cores.

    Returns
    -------
    list
        In the order of the pieces.

    Raises
    ------
    Exception
        What the function raises; with several, that of the first piece.
    """

    def work(batches: Iterable[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        import pandas as pd

        for batch in batches:
            for place, piece in zip(batch["place"], batch["piece"], strict=True):
                try:
                    answer = pickle.dumps((True, function(pickle.loads(piece)), ""))
                except Exception as error:
                    answer = _failed(error, traceback.format_exc())
                yield pd.DataFrame({"place": [place], "found": [answer]})

    rows = [(place, pickle.dumps(piece)) for place, piece in enumerate(pieces)]
    frame = spark.createDataFrame(rows, "place int, piece binary")
    answers = frame.mapInPandas(work, "place int, found binary").collect()
    found = []
    for row in sorted(answers, key=lambda row: row["place"]):
        fine, result, told = pickle.loads(row["found"])
        if not fine:
            raise result from InWorker(told)
        found.append(result)
    return found


def _failed(error: Exception, told: str) -> bytes:
    """Pickle an error; one that cannot travel becomes one that says the same."""
    try:
        packed = pickle.dumps((False, error, told))
        pickle.loads(packed)
    except Exception:
        packed = pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}"), told))
    return packed
