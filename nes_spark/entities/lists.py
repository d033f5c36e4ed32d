"""Lists of names and words that come with the package as text files.

A file has sections ``[NAME]`` with forms separated by ``;``; lines starting with ``#`` are
comments.
"""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).parent / "data"


def read_lists(name: str) -> dict[str, list[str]]:
    """Return section -> forms of a list file in the package's data folder."""
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            current = sections.setdefault(line[1:-1], [])
        else:
            current.extend(form.strip() for form in line.split(";") if form.strip())
    return sections
