"""Vectors of words, from the word pieces of the bundled embedder, in few dimensions.

They tell the name classifier what the words of a name are like when no list has the name: two
names made of similar pieces get similar vectors. A word is cut into the longest pieces that the
vocabulary has, from the left, as the embedder's tokenizer does; its vector is the mean of theirs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_PART = re.compile(r"\w+|[^\w\s]")
_LIMIT = 50_000


class WordVectors:
    """Vectors of word pieces.

    Parameters
    ----------
    pieces : sequence of str
        The vocabulary; pieces inside a word start with ``##``.
    table : ndarray of int8, shape (len(pieces), dimension)
        One row a piece.
    scale : float
        What an entry is multiplied by.
    """

    def __init__(self, pieces: Sequence[str], table: NDArray[np.int8], scale: float) -> None:
        self.pieces = list(pieces)
        self.table = table
        self.scale = float(scale)
        self._ids = {piece: i for i, piece in enumerate(pieces)}
        self._cache: dict[str, NDArray[np.float64]] = {}

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self.table.shape[1])

    def mean(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Return the mean of the vectors of some words, shape (dimension,), zero without any."""
        total = np.zeros(self.dimension)
        for word in words:
            total += self._word(word)
        return total / max(1, len(words))

    def _word(self, word: str) -> NDArray[np.float64]:
        vector = self._cache.get(word)
        if vector is None:
            if len(self._cache) >= _LIMIT:
                self._cache.clear()
            ids = self.split(word)
            # sums of integers are exact, so that the result is the same everywhere
            total = self.table[ids].sum(axis=0, dtype=np.int64)
            vector = total * (self.scale / max(1, len(ids)))
            self._cache[word] = vector
        return vector

    def split(self, word: str) -> list[int]:
        """Return the numbers of the pieces of a word; parts that no pieces spell are left out."""
        plain = unicodedata.normalize("NFD", word.lower())
        plain = "".join(c for c in plain if unicodedata.category(c) != "Mn")
        ids: list[int] = []
        for part in _PART.findall(plain):
            found: list[int] = []
            start = 0
            while start < len(part):
                end = len(part)
                piece = None
                while end > start and piece is None:
                    text = part[start:end] if start == 0 else "##" + part[start:end]
                    piece = self._ids.get(text)
                    end -= piece is None
                if piece is None:
                    found = []
                    break
                found.append(piece)
                start = end
            ids += found
        return ids

    def to_disk(self, folder: Path) -> None:
        """Write ``pieces.txt`` and ``pieces.npz``."""
        (folder / "pieces.txt").write_text("\n".join(self.pieces), encoding="utf-8")
        np.savez_compressed(folder / "pieces.npz", table=self.table, scale=np.float64(self.scale))

    @classmethod
    def from_disk(cls, folder: Path) -> WordVectors:
        """Read what :meth:`to_disk` wrote."""
        pieces = (folder / "pieces.txt").read_text(encoding="utf-8").split("\n")
        with np.load(folder / "pieces.npz", allow_pickle=False) as stored:
            return cls(pieces, stored["table"], float(stored["scale"]))


def from_embedder(folder: str | Path, dimension: int = 64) -> WordVectors:
    """Make word vectors from the token vectors of a static embedder.

    Parameters
    ----------
    folder : path
        ``tokenizer.json`` and ``vectors.npy`` (:mod:`nes_spark.embedding.static`).
    dimension : int
        Principal components to keep.
    """
    import json

    definition = json.loads((Path(folder) / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary: dict[str, int] = definition["model"]["vocab"]
    pieces = sorted(vocabulary, key=lambda piece: vocabulary[piece])
    rows = np.load(Path(folder) / "vectors.npy", allow_pickle=False)[: len(pieces)]
    vectors = rows.astype(np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    vectors -= vectors.mean(axis=0)
    _, axes = np.linalg.eigh(vectors.T @ vectors)
    axes = axes[:, ::-1][:, :dimension]
    # the sign of a principal axis is arbitrary: fix it
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(dimension)])
    reduced = vectors @ axes
    reduced /= reduced.std()
    scale = float(np.abs(reduced).max() / 127)
    return WordVectors(pieces, np.rint(reduced / scale).astype(np.int8), scale)
