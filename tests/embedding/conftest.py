"""The key of the loopback server, set before Spark starts so that its workers inherit it."""

from __future__ import annotations

import os

import pytest

KEY_NAME = "NES_SPARK_LOOPBACK_KEY"
os.environ.setdefault(KEY_NAME, "loopback-key-3f9a")


@pytest.fixture
def impatient(monkeypatch):
    """Shorten the pauses between retries (not what a server asks for)."""
    import openai._base_client

    from nes_spark.embedding import remote

    monkeypatch.setattr(openai._base_client, "INITIAL_RETRY_DELAY", 0.01)
    monkeypatch.setattr(remote, "_MALFORMED_PAUSE", 0.01)
