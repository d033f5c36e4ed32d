"""Corpora written for this project: earnings calls, clinical dictations, patent filings.

All companies, hospitals and people are invented. The calls are bundled, the others are made on
demand; each generator is seeded and gives the same bytes everywhere.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from nes_spark.demo.calls import call, calls
from nes_spark.demo.clinical import notes
from nes_spark.demo.patents import filings

__all__ = ["call", "calls", "config_path", "corpus_path", "filings", "notes"]


def _resource(name: str) -> Path:
    # Spark and users need a file, not a stream: this package is never run from a zip archive.
    return Path(str(files("nes_spark.demo") / name))


def corpus_path() -> Path:
    """Return the path of the bundled earnings calls, a JSON Lines file."""
    return _resource("calls.jsonl")


def config_path() -> Path:
    """Return the path of the configuration for the bundled calls."""
    return _resource("demo.yaml")
