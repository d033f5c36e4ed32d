"""The README is run, not believed."""

import re
from pathlib import Path

import pytest
import yaml

from nes_spark.cli import main
from nes_spark.config import build_config
from nes_spark.run.checks import check_config

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, flags=re.M | re.S)


def blocks(language):
    return [text for name, text in BLOCKS if name == language]


def test_python_snippets_run(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    snippets = blocks("python")
    assert snippets
    for snippet in snippets:
        exec(compile(snippet, "README.md", "exec"), {})
    assert "0.612 741" in capsys.readouterr().out


def test_the_configuration_shown_is_valid():
    shown = [build_config(yaml.safe_load(text)) for text in blocks("yaml")]
    assert [config.input.columns.metadata for config in shown] == ["company", "court"]
    for config in shown:
        check_config(config, planned=True)


@pytest.mark.parametrize("text", blocks("sh"))
def test_commands_exist(text):
    for command in re.findall(r"nes-spark (\w+)", text):
        assert command in main.commands
    for target in re.findall(r"^make (\S+)", text, flags=re.M):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.M)


def test_files_named_exist():
    for name in re.findall(r"\b(?:conf|jobs|notebooks|nes_spark)/[\w/.]+\w", README):
        assert (ROOT / name).exists(), name


def test_no_placeholder_is_left():
    assert "<<" not in README
