"""What a run says while it works: one line a stage, as text or as JSON lines."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

LOGGER = logging.getLogger("nes_spark")


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        content: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        content |= getattr(record, "facts", {})
        return json.dumps(content, sort_keys=True)


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """Drop what py4j tells the root logger."""
    return f"{os.sep}py4j{os.sep}" not in record.pathname


def configure(structured: bool = False, quiet: bool = False, stream: TextIO | None = None) -> None:
    """Send the package's log lines to a stream.

    Parameters
    ----------
    structured : bool, optional
        JSON lines instead of text.
    quiet : bool, optional
        Warnings and errors only.
    stream : file, optional
        Standard error by default.
    """
    handler = _Handler(stream or sys.stderr)
    handler.setFormatter(_JsonFormatter() if structured else logging.Formatter("%(message)s"))
    LOGGER.handlers[:] = [handler]
    LOGGER.propagate = False
    # A broken connection to Java or Ctrl-C is told in one line; their traces quote values.
    for name in ("py4j", "pyspark"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_not_of_py4j)
    LOGGER.setLevel(logging.WARNING if quiet else logging.INFO)


class _Handler(logging.StreamHandler):
    """Takes the transient line away before it writes one that stays."""

    def emit(self, record: logging.LogRecord) -> None:
        with _LOCK:
            if _CURRENT:
                _CURRENT[-1].clear()
            super().emit(record)


#: The progress of the run that is going on, and what guards the line that it writes.
_CURRENT: list[Progress] = []
_LOCK = threading.RLock()
#: Seconds between two looks at the clock.
TICK = 1.0


def inside(words: str) -> None:
    """Say what a long step is at, on the transient line of the run that is going on.

    Parameters
    ----------
    words : str
        For example ``table predictions``. Nothing of a document.
    """
    with _LOCK:
        if _CURRENT:
            _CURRENT[-1].inside(words)


def clock(seconds: float) -> str:
    """Return a span of time as people read it.

    Examples
    --------
    >>> clock(41.6), clock(3725)
    ('0:41', '1:02:05')
    """
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"


class Progress:
    """Reports stages: a line with a clock on a terminal while they work, one line each when done.

    Used with ``with``: the clock runs from then on, and the transient line goes when something
    fails. Without a terminal there is one line a stage and nothing else.

    Parameters
    ----------
    total : int
        Number of stages.
    stream : file, optional
        Where the transient line goes when it is a terminal.
    expected : mapping, optional
        Stage -> seconds that it took the last time; what is known of them says how much is left.
    now : callable, optional
        The clock, in seconds.

    Attributes
    ----------
    marks : list of (str, float, float)
        Stages and parts that have ended: name, begin and end in seconds since 1970.
    """

    def __init__(
        self,
        total: int,
        stream: TextIO | None = None,
        expected: Mapping[str, float] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total = total
        self.position = 0
        self.expected = dict(expected or {})
        self._now = now
        self._began = now()
        self._words = ""
        self._detail = ""
        self._stage = ""
        self._stage_began = self._began
        self.marks: list[tuple[str, float, float]] = []
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty() and LOGGER.isEnabledFor(logging.INFO)
        self._over = threading.Event()
        self._ticking: threading.Thread | None = None

    def __enter__(self) -> Progress:
        _CURRENT.append(self)
        if self._live:
            self._ticking = threading.Thread(target=self._tick, name="progress", daemon=True)
            self._ticking.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._ticking is not None:
            self._ticking.join(timeout=2 * TICK)
        with _LOCK:
            _CURRENT.remove(self)
            self.clear()
            self._words = ""

    def _tick(self) -> None:
        while not self._over.wait(TICK):
            self.show()

    def start(self, name: str, what: str) -> None:
        """Announce a stage."""
        self.position += 1
        self._stage, self._stage_began = name, self._now()
        self._set(f"{name}: {what}")

    def prepare(self, what: str) -> None:
        """Announce what comes before the first stage."""
        self._set(what)

    def inside(self, words: str) -> None:
        """Say what the stage is at."""
        self._detail = words
        self.show()

    def _set(self, words: str) -> None:
        self._words, self._detail = words, ""
        self.show()

    def left(self) -> float | None:
        """Return the seconds that are left, by the last time; None where that is not known."""
        if not self.expected or not self._stage:
            return None
        names = list(self.expected)
        if self._stage not in names:
            return None
        after = names[names.index(self._stage) + 1 :]
        here = self.expected[self._stage] - (self._now() - self._stage_began)
        return max(0.0, here) + sum(self.expected[name] for name in after)

    def line(self) -> str:
        """Return the transient line: bar, position, what is done, elapsed and remaining time."""
        filled = round(20 * max(0, self.position - 1) / self.total)
        bar = "#" * filled + "-" * (20 - filled)
        detail = f", {self._detail}" if self._detail else ""
        left = self.left()
        rest = "" if left is None else f", about {clock(left)} left"
        times = f"{clock(self._now() - self._began)}{rest}"
        head = f"[{bar}] {self.position}/{self.total} {times}  {self._words}{detail}"
        return head[: max(20, shutil.get_terminal_size().columns - 1)]

    def show(self) -> None:
        """Write the transient line, where there is a terminal."""
        with _LOCK:
            if self._live and self._words:
                self._stream.write(f"\r\033[K{self.line()}")
                self._stream.flush()

    @contextmanager
    def part(self, stage: str, name: str, what: str) -> Iterator[None]:
        """Announce a part of a long stage, and report its wall time when it has ended."""
        self._set(f"{stage}: {what}")
        began = time.perf_counter()
        yield
        seconds = time.perf_counter() - began
        self._mark(f"{stage}: {name}", seconds)
        LOGGER.info(
            "        %-12s %s %8.1f s",
            "",
            f"{name + ': ' + what:<58}",
            seconds,
            extra={"facts": {"part": name, "of": stage, "seconds": round(seconds, 3)}},
        )

    def _mark(self, name: str, seconds: float) -> None:
        end = time.time()
        self.marks.append((name, end - seconds, end))

    def clear(self) -> None:
        """Take the transient line away."""
        with _LOCK:
            if self._live:
                self._stream.write("\r\033[K")
                self._stream.flush()

    def done(self, name: str, outcome: str, seconds: float, **facts: Any) -> None:
        """Report a finished stage with its counts, wall time in seconds and further facts."""
        self.clear()
        self._mark(name, seconds)
        LOGGER.info(
            "[%2d/%d] %-12s %s %8.1f s",
            self.position,
            self.total,
            name,
            f"{outcome:<58}",
            seconds,
            extra={"facts": {"stage": name, "seconds": round(seconds, 3), **facts}},
        )
