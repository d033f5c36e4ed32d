"""Static token vectors: the bundled embedder, pure NumPy and a tokenizer at run time.

A text's vector is the sum of the vectors of its word pieces and of the known pairs of neighbouring
pieces, scaled to norm 1. The vectors are distilled from a sentence encoder; the command is in the
model card that lies beside them. Sums of 8-bit integers are exact
(:mod:`nes_spark.embedding.vectors`), so that a text has one vector, to the bit, everywhere.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nes_spark.embedding.base import Vectors, clean
from nes_spark.embedding.vectors import TokenSums, unit_integer_rows
from nes_spark.errors import InputError

#: Folder of the model that comes with the package.
BUNDLED = Path(__file__).parent / "models" / "static-en"

#: Texts and characters handled at a time: bounds memory and does not change any result.
_BLOCK_TEXTS = 1024
_BLOCK_CHARACTERS = 1_000_000
#: White space at which the tokenizer cuts for certain; it drops control characters.
_SPACES = frozenset(" \t\n\r")
#: Control characters that the tokenizer drops and at which Python parts words.
_DROPPED = re.compile("[\x0b\x0c\x1c-\x1f\x85]")
#: Words whose pieces are remembered, and the length of the longest: some 30 MB for English.
_REMEMBERED = 100_000
_REMEMBERED_LENGTH = 40


class _Remembered(dict[str, list[int]]):
    """The word pieces of what stands between white space, cut once a word."""

    def __init__(self, cut: Callable[[str], list[int]]) -> None:
        super().__init__()
        self._cut = cut

    def __missing__(self, word: str) -> list[int]:
        pieces = self._cut(word)
        if len(self) < _REMEMBERED and len(word) <= _REMEMBERED_LENGTH:
            self[word] = pieces
        return pieces


class StaticEmbedder:
    """Static token vectors in a folder.

    Parameters
    ----------
    folder : str or pathlib.Path
        ``model.json`` (format, name), ``tokenizer.json``, ``vectors.npy`` (int8, one row a token,
        then one row a pair; rows of special and unknown tokens are zero) and ``pairs.npy`` (int64,
        sorted: first token id times the number of tokens plus second token id).

    Raises
    ------
    InputError
        When the folder holds no such model or its files do not fit together.
    """

    def __init__(self, folder: str | Path) -> None:
        from tokenizers import Tokenizer

        folder = Path(folder)
        try:
            header = json.loads((folder / "model.json").read_text(encoding="utf-8"))
            vectors = np.load(folder / "vectors.npy", allow_pickle=False)
            self._pairs = np.load(folder / "pairs.npy", allow_pickle=False)
            definition = (folder / "tokenizer.json").read_text(encoding="utf-8")
            self._tokenizer = Tokenizer.from_str(definition)
        except Exception as error:
            reason = type(error).__name__
            raise InputError(f"{folder}: no usable static embedding model ({reason})") from None
        self._tokens = self._tokenizer.get_vocab_size()
        if vectors.dtype != np.int8 or vectors.shape[0] != self._tokens + len(self._pairs):
            raise InputError(f"{folder}: vectors and vocabulary of the model do not fit together")
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._sums = TokenSums(vectors)
        digest = hashlib.sha256(definition.encode())
        digest.update(vectors.tobytes())
        digest.update(self._pairs.tobytes())
        self.digest = digest.hexdigest()
        self._name = str(header.get("name", folder.name))
        # Fast encoding leaves out character offsets, which nobody needs here.
        self._encode: Any = getattr(
            self._tokenizer, "encode_batch_fast", self._tokenizer.encode_batch
        )
        # BERT's rules look at nothing beyond the white space around a word; others may.
        rules = json.loads(definition)
        kinds = [(rules.get(part) or {}).get("type") for part in ("normalizer", "pre_tokenizer")]
        parted = kinds == ["BertNormalizer", "BertPreTokenizer"] and not rules.get("added_tokens")
        self._remembered = _Remembered(self._cut) if parted else None

    @property
    def model_id(self) -> str:
        """``<name>-<dimension>:<digest of the weights>``."""
        return f"{self._name}-{self.dimension}:{self.digest[:12]}"

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return self._sums.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 rows of norm 1, shape ``(len(texts), dimension)``.

        Parameters
        ----------
        texts : sequence of str
            Of any length; nothing is cut off.

        Returns
        -------
        ndarray of float32
            Each row depends on its own text only, to the bit. A text without a known token has the
            first basis vector.
        """
        out = np.empty((len(texts), self.dimension), dtype=np.float32)
        start = 0
        while start < len(texts):
            stop, size = start, 0
            while stop < len(texts) and stop - start < _BLOCK_TEXTS and size < _BLOCK_CHARACTERS:
                size += len(texts[stop])
                stop += 1
            out[start:stop] = unit_integer_rows(self._embed([clean(t) for t in texts[start:stop]]))
            start = stop
        return out

    def embed_windows(self, sentences: Sequence[str], buffer: int) -> Vectors:
        """Return what :meth:`embed` returns for each sentence joined with its neighbours.

        Each sentence is cut into word pieces once instead of once a window: the sum of a window is
        that of its sentences and of the pairs where they meet, to the bit.

        Parameters
        ----------
        sentences : sequence of str
            T consecutive sentences, white space included.
        buffer : int
            Neighbours on each side.

        Returns
        -------
        ndarray of float32, shape (T, dimension)
        """
        count = len(sentences)
        ends = ((a[-1:], b[:1]) for a, b in pairwise(sentences))
        if not all(a in _SPACES or b in _SPACES for a, b in ends):
            # a word may go on in the next sentence: the windows themselves must be cut
            windows = [
                "".join(sentences[max(0, t - buffer) : t + buffer + 1]) for t in range(count)
            ]
            return self.embed(windows)
        ids, bounds, owner = self._pieces([clean(s) for s in sentences])
        sums = self._sums.sums(ids, np.ones(len(ids), np.int32), bounds)
        place, rows = self._known_pairs(ids)
        first, second = owner[place], owner[place + 1]
        inside = first == second
        sums += self._sum_rows(first[inside], rows[inside], count)
        # what begins to count at one window stops to count at a later one
        changes = np.zeros((count + 1, self.dimension))
        numbers = np.arange(count)
        np.add.at(changes, np.maximum(numbers - buffer, 0), sums)
        np.subtract.at(changes, np.minimum(numbers + buffer + 1, count), sums)
        begin, end = np.maximum(second - buffer, 0), np.minimum(first + buffer + 1, count)
        across = ~inside & (begin < end)
        changes += self._sum_rows(begin[across], rows[across], count + 1)
        changes -= self._sum_rows(end[across], rows[across], count + 1)
        return unit_integer_rows(np.cumsum(changes[:count], axis=0))

    def _embed(self, texts: list[str]) -> NDArray[np.float64]:
        ids, bounds, owner = self._pieces(texts)
        sums = self._sums.sums(ids, np.ones(len(ids), np.int32), bounds)
        place, rows = self._known_pairs(ids)
        inside = owner[place] == owner[place + 1]
        sums += self._sum_rows(owner[place[inside]], rows[inside], len(texts))
        return sums

    def _pieces(
        self, texts: list[str]
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
        """Word pieces of all texts, where those of each begin and end, and whose each is."""
        lists = self._cut_all(texts)
        lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        ids = np.fromiter(chain.from_iterable(lists), dtype=np.int32, count=int(bounds[-1]))
        return ids, bounds.astype(np.int32), np.repeat(np.arange(len(lists)), lengths)

    def _cut(self, text: str) -> list[int]:
        ids: list[int] = self._encode([text], add_special_tokens=False)[0].ids
        return ids

    def _cut_all(self, texts: list[str]) -> list[list[int]]:
        """Word pieces of each text; word by word where the tokenizer knows no more than that."""
        if self._remembered is None:
            return [e.ids for e in self._encode(texts, add_special_tokens=False)]
        pieces = self._remembered.__getitem__
        return [
            self._cut(text)
            if _DROPPED.search(text)
            else [*chain.from_iterable(map(pieces, text.split()))]
            for text in texts
        ]

    def _known_pairs(self, ids: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Places of pieces that form a known pair with the next one, and the pairs' rows."""
        if not len(self._pairs) or len(ids) < 2:
            return np.empty(0, np.int64), np.empty(0, np.int32)
        keys = ids[:-1].astype(np.int64) * self._tokens + ids[1:]
        at = np.minimum(np.searchsorted(self._pairs, keys), len(self._pairs) - 1)
        place = np.flatnonzero(self._pairs[at] == keys)
        return place, (self._tokens + at[place]).astype(np.int32)

    def _sum_rows(
        self, owner: NDArray[np.int64], rows: NDArray[np.int32], count: int
    ) -> NDArray[np.float64]:
        """Sum rows of the table by owner, shape (count, dimension)."""
        order = np.argsort(owner, kind="stable")
        found = np.bincount(owner, minlength=count)
        ends = np.concatenate([[0], np.cumsum(found)]).astype(np.int32)
        return self._sums.sums(rows[order], np.ones(len(rows), np.int32), ends)


@lru_cache(maxsize=1)
def load_bundled() -> StaticEmbedder:
    """Return the model that comes with the package, loaded once per process."""
    return StaticEmbedder(BUNDLED)
