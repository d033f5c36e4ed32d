"""Sentences of earnings calls made from templates, for training: frames with known slots.

They show the model what a small real source shows too seldom: products, platforms, brands and
programmes in the frames in which speakers name them, beside organisations, people and places in
theirs, and acronyms of finance that are none of these. Names come from the lists of this package
and from a generator of invented names.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from nes_spark.building.annotated import DATA, Annotated
from nes_spark.entities.lists import read_lists

_LISTS = read_lists(DATA / "templates.txt")
_SYLLABLES = _LISTS["SYLLABLES"]
_ENDINGS = _LISTS["ENDINGS"]
_PARTS = _LISTS["PARTS"]
_HEADS = _LISTS["HEADS"]
_ORG_HEADS = _LISTS["ORGANIZATION HEADS"]
_FRAMES = _LISTS["FRAMES"]


def invented_product(rng: random.Random) -> str:
    """Return an invented product name: a coined word, two glued words, a code or a phrase."""
    kind = rng.random()
    coined = "".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(1, 2))) + rng.choice(
        _ENDINGS
    )
    coined = coined.capitalize()
    if kind < 0.25:
        name = coined
    elif kind < 0.32:
        name = coined.upper()
    elif kind < 0.50:
        name = rng.choice(_PARTS) + rng.choice(_PARTS)
    elif kind < 0.62:
        name = f"{rng.choice(_PARTS)} {rng.choice(_HEADS)}"
    elif kind < 0.72:
        name = f"{coined} {rng.choice(_HEADS)}"
    elif kind < 0.80:
        name = f"{rng.choice(_PARTS)} {rng.choice(_PARTS)}"
    elif kind < 0.88:
        letters = "".join(rng.choice("ABCDEFGHKLMNPRSTVXZ") for _ in range(rng.randint(1, 3)))
        name = f"{letters}{rng.choice(['-', ' ', ''])}{rng.randint(1, 950)}"
    elif kind < 0.94:
        name = f"{coined} {rng.randint(2, 900)}"
    else:
        name = rng.choice(["i", "e", "my", "x"]) + rng.choice(_PARTS)
    return name


def invented_organization(rng: random.Random) -> str:
    """Return an invented name of an organisation."""
    coined = "".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(2, 3))).capitalize()
    kind = rng.random()
    if kind < 0.2:
        return "".join(rng.choice("ABCDEFGHIKLMNOPRSTU") for _ in range(3))
    if kind < 0.4:
        return coined
    first = coined if kind < 0.7 else rng.choice(_PARTS)
    return f"{first} {rng.choice(_ORG_HEADS)}"


def template_sentences(
    donors: dict[str, list[str]], rng: random.Random, count: int = 3000
) -> list[Annotated]:
    """Return ``count`` texts of one to three sentences with their spans.

    Parameters
    ----------
    donors : mapping of str to list of str
        Real surfaces by label (ORG, PRODUCT, PERSON, LOC) that fill slots beside invented ones.
    rng : random.Random
        Source of randomness.
    count : int
        Number of texts.
    """
    texts = []
    for _ in range(count):
        pieces: list[str] = []
        ents: list[tuple[int, int, str]] = []
        length = 0
        for frame in rng.sample(_FRAMES, rng.randint(1, 3)):
            for part in re.split(r"(\{[A-Z]+\})", (" " if length else "") + frame):
                if part.startswith("{"):
                    label = part.strip("{}")
                    surface = _fill(label, donors, rng)
                    label = "PERSON" if label == "FIRST" else label
                    ents.append((length, length + len(surface), label))
                    part = surface
                pieces.append(part)
                length += len(part)
        texts.append(Annotated("".join(pieces), tuple(ents), source="templates"))
    return texts


def _fill(
    label: str, donors: dict[str, Sequence[str]] | dict[str, list[str]], rng: random.Random
) -> str:
    if label == "PRODUCT" and rng.random() < 0.6:
        return invented_product(rng)
    if label == "ORG" and rng.random() < 0.3:
        return invented_organization(rng)
    if label == "FIRST":
        return rng.choice(donors["PERSON"]).split()[0]
    return rng.choice(donors[label])
