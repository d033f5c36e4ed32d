"""Work that goes on in a thread while Spark works.

Below some ten thousand chunks a run waits for Spark most of the time: for plans, for Java, for the
start of tasks. What needs no Spark, the encoder and the attackers above all, is therefore begun as
soon as what it needs is there, and what it gave is taken where it was always made. Nothing is
written in a thread: which table is finished when, and what a run that is stopped leaves, is as if
everything came one after the other.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from nes_spark.run.context import Context
    from nes_spark.run.pipeline import Stage

Result = TypeVar("Result")

#: Seconds after which Python lets another thread go on. Who talks to Spark waits so long at each of
#: some thousand answers while another thread calculates; by default five thousandths.
SWITCH = 0.0005


@contextlib.contextmanager
def turns() -> Iterator[None]:
    """Let threads take turns more often (:data:`SWITCH`) as long as the block lasts."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(SWITCH, before))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextlib.contextmanager
def one_thread_each() -> Iterator[None]:
    """Let linear algebra use one thread a caller as long as the block lasts.

    The cores have work already, Spark's and what is ahead: threads that share one small matrix
    product wait for each other, and burn a third of the driver's time with it.
    """
    import numpy.linalg  # noqa: F401
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    # only of libraries that are loaded: NumPy and SciPy bring one each
    with threadpool_limits(1, user_api="blas"):
        yield


def begin(work: Callable[[], Result], name: str) -> Future[Result]:
    """Begin a piece of work in a thread of its own, which does not keep Python from ending.

    Parameters
    ----------
    work : callable
        Writes nothing.
    name : str
        What the thread is called.

    Returns
    -------
    concurrent.futures.Future
        What it raises is raised where the result is asked for.
    """
    promised: Future[Result] = Future()

    def run() -> None:
        try:
            promised.set_result(work())
        except BaseException as error:
            promised.set_exception(error)

    Thread(target=run, name=name, daemon=True).start()
    return promised


def begin_stages(
    context: Context, stages: Iterable[Stage], finished: set[str], force: bool = False
) -> None:
    """Begin the stages that may work ahead and whose needs this run has brought up to date.

    Parameters
    ----------
    context : Context
        Of a small input; of another nothing begins: its tasks keep all cores busy, and memory is
        for one stage at a time.
    stages : iterable of Stage
        Those that are still to come.
    finished : set of str
        Tables and artifacts that are up to date since this run has looked.
    force : bool, optional
        Also those whose output is up to date.
    """
    if not context.small:
        return
    for stage in stages:
        if not stage.ahead or stage.name in context.begun or not finished.issuperset(stage.needs):
            continue
        key = stage.key(context)
        if force or not stage.is_current(context, key):
            context.begun[stage.name] = key, begin(partial(_outputs, stage, context), stage.name)


def _outputs(stage: Stage, context: Context) -> Any:
    """Run a stage with a context of its own: what it persists is its own, and let go of here."""
    assert stage.run is not None
    own = replace(context, kept=[], taken=None, units_key="")
    try:
        return stage.run(own)
    finally:
        own.release_kept()
