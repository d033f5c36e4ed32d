"""Configurations and scripts that come with the package."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from nes_spark.cli import main
from nes_spark.config import load_config
from nes_spark.errors import ConfigError, InfrastructureError
from nes_spark.starting import files

ROOT = Path(__file__).parents[2]


def test_all_of_them_are_listed_and_copied(tmp_path):
    shown = CliRunner().invoke(main, ["files"]).output
    done = CliRunner().invoke(main, ["files", "--copy", str(tmp_path)])
    assert done.exit_code == 0, done.output
    for folder in ("conf", "jobs"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                copy = tmp_path / path.relative_to(ROOT)
                assert copy.read_bytes() == path.read_bytes()
                assert path.name in shown
    assert load_config(tmp_path / "conf" / "clinical.yaml").name == "clinical"


def test_nothing_is_written_over(tmp_path):
    (tmp_path / "jobs").mkdir()
    with pytest.raises(ConfigError, match="jobs: is there already"):
        files.copy_to(tmp_path)
    assert not (tmp_path / "conf").exists()


def test_an_installation_without_them_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(files, "ROOT", tmp_path / "nes_spark")
    with pytest.raises(InfrastructureError, match="conf: not in this installation"):
        files.listing()
