"""The README is checked, not believed; its commands are in test_commands.py."""

import re
from pathlib import Path

from nes_spark.config import DEFAULT_CATEGORIES
from tests.documents import blocks

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_a_newcomer_gets_what_is_needed_on_one_page():
    assert len(README.splitlines()) < 150
    for words in ("nes-spark demo", "nes-spark init", "## What it does not do", "docs/own_data.md"):
        assert words in README
    assert len(blocks(ROOT / "README.md", "sh")) >= 2


def test_files_named_exist():
    found = re.findall(r"\b(?:conf|docs|jobs|notebooks|nes_spark)/[\w/.]+\w", README)
    assert len(found) > 8
    for name in found:
        assert (ROOT / name).exists(), name


def test_what_the_demo_prints_names_every_category():
    for category in DEFAULT_CATEGORIES:
        assert f"entities {category}" in README


def test_no_placeholder_is_left():
    assert "<<" not in README
