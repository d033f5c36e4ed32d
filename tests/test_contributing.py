"""What CONTRIBUTING.md points to is there, and its example is code that runs."""

import re
from pathlib import Path

from nes_spark.run.gates import Evidence, Gate
from tests.run.test_gates import evidence

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_worked_examples_are_tests():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)
    assert len(named) == 6
    for file, test in named:
        assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), test


def test_the_files_named_are_there():
    for name in re.findall(r"`((?:nes_spark|tests|docs)/[\w/.]+\w)`", TEXT):
        assert (ROOT / name).exists(), name
    for name in re.findall(r"`((?:swapping|audit|mixture|utility|run|config)/\w+\.py)`", TEXT):
        assert (ROOT / "nes_spark" / name).exists(), name


def test_the_gate_shown_runs():
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.S)
    names = {"Evidence": Evidence, "Gate": Gate}
    exec(compile(code, "CONTRIBUTING.md", "exec"), names)
    assert names["enough_chunks"](evidence()).passed
