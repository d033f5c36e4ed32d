"""Configurations and scripts that come with the package, in a checkout and in a wheel."""

from __future__ import annotations

import shutil
from pathlib import Path

from nes_spark.errors import ConfigError, InfrastructureError
from nes_spark.versions import ROOT

#: Folders that come along; in a wheel they lie inside the package, in a checkout beside it.
FOLDERS = ("conf", "jobs")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", "__init__.py")


def folder_of(name: str) -> Path:
    """Return where one of :data:`FOLDERS` lies.

    Raises
    ------
    InfrastructureError
        When the installation lacks it.
    """
    for place in (ROOT / name, ROOT.parent / name):
        if place.is_dir():
            return place
    raise InfrastructureError(f"{name}: not in this installation; install nes_spark again")


def listing() -> str:
    """Return where the folders lie and what is in them."""
    lines = []
    for name in FOLDERS:
        place = folder_of(name)
        lines.append(f"{name}: {place}")
        lines += [
            f"  {p.relative_to(place)}"
            for p in sorted(place.rglob("*"))
            if p.is_file() and "__pycache__" not in p.parts and p.name != "__init__.py"
        ]
    return "\n".join(lines)


def copy_to(folder: Path) -> list[Path]:
    """Copy the folders into another one.

    Raises
    ------
    ConfigError
        When one of them is there already; then nothing is copied.
    """
    for name in FOLDERS:
        if (folder / name).exists():
            raise ConfigError(
                f"{folder / name}: is there already; remove it or name another folder"
            )
    return [
        Path(shutil.copytree(folder_of(name), folder / name, ignore=_LEFT_OUT)) for name in FOLDERS
    ]
