"""The examples in docstrings give what they show."""

import doctest
import importlib
from pathlib import Path

import pytest

import nes_spark

ROOT = Path(nes_spark.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in ROOT.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


def test_there_are_examples():
    assert len(MODULES) >= 20


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module(name):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, tried = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert tried
    assert not failed
