"""What a run says while it works: one line a stage, as text or as JSON lines."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Iterator
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
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_JsonFormatter() if structured else logging.Formatter("%(message)s"))
    LOGGER.handlers[:] = [handler]
    LOGGER.propagate = False
    # A broken connection to Java or Ctrl-C is told in one line; their traces quote values.
    for name in ("py4j", "pyspark"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_not_of_py4j)
    LOGGER.setLevel(logging.WARNING if quiet else logging.INFO)


class Progress:
    """Reports stages: a bar on a terminal while they work, one line each when they are done.

    Used with ``with``, the bar does not stay behind when something fails.

    Parameters
    ----------
    total : int
        Number of stages.
    stream : file, optional
        Where the transient line goes when it is a terminal.
    """

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self.total = total
        self.position = 0
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty() and LOGGER.isEnabledFor(logging.INFO)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self._clear()

    def start(self, name: str, what: str) -> None:
        """Announce a stage."""
        self.position += 1
        self._show(name, what)

    def _show(self, name: str, what: str) -> None:
        if self._live:
            filled = round(20 * (self.position - 1) / self.total)
            bar = "#" * filled + "-" * (20 - filled)
            self._stream.write(f"\r\033[K[{bar}] {self.position}/{self.total} {name}: {what} ...")
            self._stream.flush()

    @contextmanager
    def part(self, stage: str, name: str, what: str) -> Iterator[None]:
        """Announce a part of a long stage, and report its wall time when it has ended."""
        self._show(stage, what)
        began = time.perf_counter()
        yield
        seconds = time.perf_counter() - began
        self._clear()
        LOGGER.info(
            "        %-12s %s %8.1f s",
            "",
            f"{name + ': ' + what:<58}",
            seconds,
            extra={"facts": {"part": name, "of": stage, "seconds": round(seconds, 3)}},
        )

    def _clear(self) -> None:
        if self._live:
            self._stream.write("\r\033[K")
            self._stream.flush()

    def done(self, name: str, outcome: str, seconds: float, **facts: Any) -> None:
        """Report a finished stage with its counts, wall time in seconds and further facts."""
        self._clear()
        LOGGER.info(
            "[%2d/%d] %-12s %s %8.1f s",
            self.position,
            self.total,
            name,
            f"{outcome:<58}",
            seconds,
            extra={"facts": {"stage": name, "seconds": round(seconds, 3), **facts}},
        )
