"""What a figure of utility is compared with: the same chunks, damaged in ways that one can picture.

Each anchor takes the very stretches that a release replaced (its edits) or the text as it was, and
makes another text of it. Random choices are keyed by a secret and by ids.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nes_spark.swapping.rewriting import WHOLE_TEXT, apply_edits
from nes_spark.utility.sampling import keyed_hash

_POSSESSIVE = re.compile(r"(?:['’]s|(?<=s)['’])$")
#: Category of edits that mend an article (:class:`nes_spark.swapping.rewriting.Edit`).
_ARTICLE = "article"


@dataclass(frozen=True)
class Original:
    """A chunk that a release changed.

    Attributes
    ----------
    chunk_id, document_id : str
    component : int
        Of the text before.
    text : str
        Before, direct identifiers suppressed.
    edits : sequence of mapping
        What the release replaced: ``start, end, old, new, category, old_entity, new_entity``.
    """

    chunk_id: str
    document_id: str
    component: int
    text: str
    edits: Sequence[Mapping[str, Any]]

    @property
    def gone(self) -> bool:
        """Whether the whole text was dropped or summarised, so that no name has a place in it."""
        return any(edit["category"] in WHOLE_TEXT for edit in self.edits)


def _names(chunk: Original) -> list[Mapping[str, Any]]:
    return [e for e in chunk.edits if e["category"] != _ARTICLE]


def _apart(old: str) -> tuple[str, str]:
    """Split a name from its possessive ending."""
    found = _POSSESSIVE.search(old)
    return (old[: found.start()], found.group()) if found else (old, "")


def names_blanked(chunk: Original) -> str:
    """Return the text with ``[Category]`` in the place of each name that the release replaced.

    Examples
    --------
    >>> edit = {"start": 3, "end": 9, "old": "Hinge's", "new": "", "category": "Product"}
    >>> names_blanked(Original("c", "d", 0, "We Hinge's", [edit | {"end": 10}]))
    "We [Product]'s"
    """
    return apply_edits(
        chunk.text,
        [{**e, "new": f"[{e['category']}]{_apart(e['old'])[1]}"} for e in _names(chunk)],
    )


class AnyPartner:
    """Names from chunks of any component, in the place of the names that the release replaced.

    Parameters
    ----------
    chunks : sequence of Original
        Where names come from.
    key : str
        From :func:`nes_spark.utility.sampling.sampling_key`.
    """

    def __init__(self, chunks: Sequence[Original], key: str) -> None:
        self._key = key
        self._names: dict[str, list[tuple[str, str, list[str]]]] = {}
        for chunk in sorted((c for c in chunks if not c.gone), key=lambda c: c.chunk_id):
            own: dict[str, dict[str, str]] = {}
            for edit in _names(chunk):
                found = own.setdefault(edit["category"], {})
                found.setdefault(edit["old_entity"], _apart(edit["old"])[0])
            for category, found in own.items():
                names = list(found.values())
                self._names.setdefault(category, []).append(
                    (chunk.chunk_id, chunk.document_id, names)
                )

    def __call__(self, chunk: Original) -> str:
        """Return the text with the names of one random chunk of another document for each kind.

        A name becomes the same name throughout the chunk; where no other document has names of a
        kind, the release's own stay.
        """
        given: dict[tuple[str, str], str] = {}
        for category in sorted({e["category"] for e in _names(chunk)}):
            others = [o for o in self._names.get(category, ()) if o[1] != chunk.document_id]
            if not others:
                continue
            own = list(
                dict.fromkeys(e["old_entity"] for e in _names(chunk) if e["category"] == category)
            )
            at = int(keyed_hash(self._key, chunk.chunk_id, category, "partner"), 16) % len(others)
            names = others[at][2]
            for i, entity in enumerate(own):
                given[category, entity] = names[i % len(names)]
        edits = []
        for edit in chunk.edits:
            name = given.get((edit["category"], edit["old_entity"]))
            new = edit["new"] if name is None else name + _apart(edit["old"])[1]
            edits.append({**edit, "new": new})
        return apply_edits(chunk.text, edits)


def half_deleted(chunk: Original, key: str) -> str:
    """Return the text with half of its words deleted, by keyed hash of the chunk and their places.

    Examples
    --------
    >>> len(half_deleted(Original("c", "d", 0, "a b c d e", []), "k").split())
    3
    """
    words = chunk.text.split()
    hashes = [keyed_hash(key, chunk.chunk_id, "word", i) for i in range(len(words))]
    gone = set(sorted(range(len(words)), key=hashes.__getitem__)[: len(words) // 2])
    return " ".join(word for i, word in enumerate(words) if i not in gone)


def random_other(chunks: Sequence[Original], key: str) -> list[int]:
    """Return for each chunk the number of a random other one of its component, -1 where none is.

    Chunks of other documents are taken where there are any.
    """
    found = []
    components = np.array([c.component for c in chunks], dtype=np.int64)
    for i, chunk in enumerate(chunks):
        same = [int(j) for j in np.flatnonzero(components == chunk.component) if j != i]
        away = [j for j in same if chunks[j].document_id != chunk.document_id]
        others = sorted(away or same, key=lambda j: chunks[j].chunk_id)
        if others:
            at = int(keyed_hash(key, chunk.chunk_id, "other"), 16) % len(others)
            found.append(others[at])
        else:
            found.append(-1)
    return found
