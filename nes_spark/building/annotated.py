"""Annotated texts: what the recogniser is trained and measured on."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

#: Lists of names, forms and templates that the training uses.
DATA = Path(__file__).parent / "data"
LABELS = ("ORG", "PERSON", "LOC", "EVENT", "PRODUCT")
EXCLUDED_SOURCES = frozenset({"wnut17"})


@dataclass(frozen=True)
class Annotated:
    """A text with entity spans and spans of unknown label."""

    text: str
    ents: tuple[tuple[int, int, str], ...]
    missing: tuple[tuple[int, int], ...] = ()
    source: str = ""
    has: frozenset[str] = field(default_factory=lambda: frozenset(LABELS))


def read_annotated(path: str | Path) -> list[Annotated]:
    """Read a JSON Lines file of annotated texts; dates are dropped, tweets left out."""
    found = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["source"] in EXCLUDED_SOURCES:
                continue
            ents = tuple((s, e, label) for s, e, label in row["ents"] if label in LABELS)
            missing = tuple((s, e) for s, e in row["missing"])
            found.append(
                Annotated(row["text"], ents, missing, row["source"], frozenset(row["has"]))
            )
    return found
