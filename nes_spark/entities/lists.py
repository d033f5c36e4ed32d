"""Lists of names and words, kept as text files beside the modules that use them.

A file has sections ``[NAME]`` with forms separated by ``;``; lines starting with ``#`` are
comments.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

#: Words, abbreviations and units of general use.
GENERAL = Path(__file__).parent / "data" / "general.txt"
#: Words that set no document apart, and phrases whose words read well nowhere else.
EVERYDAY = Path(__file__).parent / "data" / "everyday.txt"
_LEXICON = Path(__file__).parent / "models" / "bundled" / "nes_rules" / "lexicon.json"


@lru_cache(maxsize=1)
def bundled_lexicon() -> dict[str, list[str]]:
    """Return the lists of the bundled recogniser, read once: ``common``, ``given``, ``places``, ..

    See :class:`nes_spark.entities.names.Lexicon`.
    """
    return dict(json.loads(_LEXICON.read_text(encoding="utf-8")))


def read_lists(path: Path) -> dict[str, list[str]]:
    """Return section -> forms of a list file."""
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            current = sections.setdefault(line[1:-1], [])
        else:
            current.extend(form.strip() for form in line.split(";") if form.strip())
    return sections
