"""Latent semantic analysis: TF-IDF and a truncated singular value decomposition.

S. Deerwester, S. Dumais, G. Furnas, T. Landauer, R. Harshman (1990), Indexing by latent semantic
analysis, JASIS 41(6), 391-407. Fitted on the corpus itself in the job and saved with the run, so
that texts after swapping are embedded by the same model.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nes_spark.embedding.base import DEFAULT_LSA_DIMENSION, Vectors
from nes_spark.embedding.vectors import TokenSums, quantize
from nes_spark.errors import InfrastructureError, InputError, parameter_error

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_MAX_VOCABULARY = 50_000
_FORMAT = 1
#: log-scaled term counts are rounded to this fraction of one, to stay integers.
_TF_STEPS = 8
_BLOCK = 1024


def words(text: str) -> list[str]:
    """Return the words of ``text`` in lower case, in order."""
    return [
        w.replace("’", "'") for w in _WORD.findall(unicodedata.normalize("NFC", text).casefold())
    ]


def _tf(count: int) -> int:
    """Return ``8 (1 + ln count)``, rounded: the sublinear term weight as an integer."""
    return round(_TF_STEPS * (1.0 + float(np.log(count))))


class LsaEmbedder:
    """A fitted LSA model.

    A text is embedded as ``sum_w tf(w) idf(w) v(w)`` scaled to norm 1, where ``v(w)`` are the right
    singular vectors, ``idf(w) = ln((1 + m) / (1 + df(w))) + 1`` and ``tf = 1 + ln(count)``;
    ``idf(w) v(w)`` is kept in 8 bits. Texts without a known word get the first basis vector.

    Parameters
    ----------
    vocabulary : sequence of str
        Words, in the order of the rows of ``table``.
    table : ndarray of int8, shape (len(vocabulary), d)
    """

    def __init__(self, vocabulary: Sequence[str], table: NDArray[np.int8]) -> None:
        self._vocabulary = list(vocabulary)
        self._index = {word: i for i, word in enumerate(self._vocabulary)}
        self._table = np.ascontiguousarray(table, dtype=np.int8)
        self._sums = TokenSums(self._table)
        self.digest = _digest(self._vocabulary, self._table)

    @property
    def model_id(self) -> str:
        """``lsa-<dimension>:<digest of the weights>``."""
        return f"lsa-{self.dimension}:{self.digest[:12]}"

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return int(self._table.shape[1])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 rows of norm 1, shape ``(len(texts), dimension)``.

        Parameters
        ----------
        texts : sequence of str

        Returns
        -------
        ndarray of float32
            Each row depends on its own text only, to the bit.
        """
        out = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _BLOCK):
            block = texts[start : start + _BLOCK]
            ids: list[int] = []
            counts: list[int] = []
            bounds = [0]
            for text in block:
                tally = Counter(i for w in words(text) if (i := self._index.get(w)) is not None)
                ids.extend(tally)
                counts.extend(_tf(c) for c in tally.values())
                bounds.append(len(ids))
            out[start : start + len(block)] = self._sums.unit(
                np.array(ids, dtype=np.int32),
                np.array(counts, dtype=np.int32),
                np.array(bounds, dtype=np.int32),
            )
        return out

    def save(self, folder: str | Path) -> Path:
        """Write the model into ``folder`` (made if missing); return its path.

        ``model.json`` comes last, so that a reader never takes half a model for a whole one.

        Raises
        ------
        InfrastructureError
            When the folder cannot be written.
        """
        folder = Path(folder)
        header = {"format": _FORMAT, "digest": self.digest, "dimension": self.dimension}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "model.json").unlink(missing_ok=True)
            np.save(folder / "table.npy", self._table, allow_pickle=False)
            vocabulary = json.dumps(self._vocabulary, ensure_ascii=True)
            (folder / "vocabulary.json").write_text(vocabulary, encoding="utf-8")
            staging = folder / ".model.json"
            staging.write_text(json.dumps(header), encoding="utf-8")
            os.replace(staging, folder / "model.json")
        except OSError as error:
            raise InfrastructureError(f"{folder}: cannot write the LSA model: {error}") from None
        return folder

    @classmethod
    def load(cls, folder: str | Path, expected_digest: str = "") -> LsaEmbedder:
        """Read a model written by :meth:`save`.

        Raises
        ------
        InputError
            When the folder holds no model, or its weights are not those that the digest names.
        """
        folder = Path(folder)
        read_digest(folder)
        try:
            vocabulary = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
            table = np.load(folder / "table.npy", allow_pickle=False)
            model = cls(vocabulary, table)
        except (OSError, ValueError, IndexError) as error:
            raise InputError(f"{folder}: damaged LSA model: {error}") from None
        for digest in (read_digest(folder), expected_digest):
            if digest and digest != model.digest:
                raise InputError(f"{folder}: damaged LSA model: the weights have changed since")
        return model


def _digest(vocabulary: Sequence[str], table: NDArray[np.int8]) -> str:
    content = hashlib.sha256(json.dumps([_FORMAT, table.shape, list(vocabulary)]).encode())
    content.update(table.tobytes())
    return content.hexdigest()


def read_digest(folder: str | Path) -> str:
    """Return the digest of the model in ``folder`` without loading it.

    Raises
    ------
    InputError
        When there is no model.
    """
    try:
        header = json.loads((Path(folder) / "model.json").read_text(encoding="utf-8"))
        return str(header["digest"])
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(
            f"{folder}: no LSA model here; fit one with nes_spark.embedding.stages.fit_embedder"
        ) from None


def fit_lsa(texts: Sequence[str], dimension: int | None = None, min_df: int = 2) -> LsaEmbedder:
    """Fit LSA on texts, deterministically and independently of their order.

    Parameters
    ----------
    texts : sequence of str
        Sentences or chunks.
    dimension : int, optional
        Length of the vectors, default 256; less where the texts have a lower rank.
    min_df : int, default 2
        Words in fewer texts are left out (one text suffices where fewer than 100 are given). The
        50,000 words in most texts are kept.

    Returns
    -------
    LsaEmbedder

    Raises
    ------
    InputError
        When fewer than two texts have two known words between them: nothing can be decomposed.
    ValueError
        When ``dimension`` is less than 2.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.linalg import svds

    if dimension is not None and dimension < 2:
        raise parameter_error("fit_lsa", "dimension", "an integer of at least 2", dimension)
    ordered = sorted(texts)
    tallies = [Counter(words(text)) for text in ordered]
    df: Counter[str] = Counter()
    for tally in tallies:
        df.update(tally.keys())
    if len(tallies) < 100:
        min_df = 1
    kept = sorted((w for w, c in df.items() if c >= min_df), key=lambda w: (-df[w], w))
    vocabulary = sorted(kept[:_MAX_VOCABULARY])
    index = {w: i for i, w in enumerate(vocabulary)}
    idf = np.array([np.log((1 + len(tallies)) / (1 + df[w])) + 1.0 for w in vocabulary])
    ids: list[int] = []
    counts: list[int] = []
    bounds = [0]
    for tally in tallies:
        known = sorted((index[w], c) for w, c in tally.items() if w in index)
        if known:
            ids.extend(i for i, _ in known)
            counts.extend(_tf(c) for _, c in known)
            bounds.append(len(ids))
    n, v = len(bounds) - 1, len(vocabulary)
    if n < 2 or v < 2:
        raise InputError(
            f"LSA needs at least two texts and two words to fit on, got {n} and {v}; "
            "use embedding.model 'bundled' for so small a corpus"
        )
    data = np.array(counts, dtype=np.float64) * idf[ids]
    rows = csr_matrix((data, ids, bounds), shape=(n, v))
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    rows.data /= np.repeat(norms, np.diff(bounds))
    k = dimension or DEFAULT_LSA_DIMENSION
    if min(n, v) <= max(k + 1, 64):
        _, strengths, right = np.linalg.svd(rows.toarray(), full_matrices=False)
    else:
        # A fixed start makes ARPACK deterministic; it returns the strengths in ascending order.
        start = np.full(min(n, v), 1.0 / np.sqrt(min(n, v)))
        _, strengths, right = svds(rows, k=k, v0=start, return_singular_vectors="vh")
        order = np.argsort(-strengths, kind="stable")
        strengths, right = strengths[order], right[order]
    rank = int((strengths > 1e-8 * strengths[0]).sum())
    axes = right[: max(2, min(k, rank))].T
    # The sign of a singular vector is arbitrary: its largest entry is made positive.
    peaks = np.argmax(np.round(np.abs(axes), 9), axis=0)
    axes = axes * np.where(axes[peaks, np.arange(axes.shape[1])] < 0, -1.0, 1.0)
    table, _ = quantize(idf[:, None] * axes)
    return LsaEmbedder(vocabulary, table)
