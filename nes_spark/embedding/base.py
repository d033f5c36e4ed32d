"""What an embedder is, and the rules that all of them keep.

Every embedder maps a list of texts to float32 rows of Euclidean norm 1. A text that says nothing to
the model (empty, or no token of it is known) gets the first basis vector ``(1, 0, .., 0)``, so that
every row of a table is a point on the sphere and the choice can be seen in the data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

Vectors = NDArray[np.float32]

#: Vector length of the models fitted here when the configuration names none.
DEFAULT_LSA_DIMENSION = 256


@runtime_checkable
class Embedder(Protocol):
    """Maps texts to points on the sphere.

    Attributes
    ----------
    model_id : str
        Model and version of its weights, as stored beside every vector.
    dimension : int
        Length of the vectors.
    """

    @property
    def model_id(self) -> str:
        """Model and version of its weights."""
        ...

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 rows of norm 1, shape ``(len(texts), dimension)``, in the order given."""
        ...


@dataclass(frozen=True)
class EmbedderSpec:
    """How a worker loads an embedder: small, picklable, hashable, and free of secrets.

    Attributes
    ----------
    kind : str
        ``bundled``, ``contextual``, ``lsa``, ``openai`` or ``sentence-transformers``.
    name : str
        Model name at the endpoint, or name or path of a sentence-transformers model; else empty.
    path : str
        Folder of a fitted model (kind ``lsa``), readable by every worker.
    digest : str
        Digest of the fitted weights, so that a worker that has loaded another fit notices.
    dimension : int or None
        Requested vector length; None for the model's own.
    base_url : str or None
        OpenAI-compatible endpoint; None for OpenAI's.
    api_key_env : str
        *Name* of the environment variable that holds the key on the workers.
    batch_size, timeout, max_retries
        See :class:`nes_spark.config.EmbeddingConfig`.
    cache_path : str or None
        Folder of the vector cache (kind ``openai``); None for no cache.
    """

    kind: str
    name: str = ""
    path: str = ""
    digest: str = ""
    dimension: int | None = None
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    batch_size: int = 256
    timeout: float = field(default=60.0)
    max_retries: int = 6
    cache_path: str | None = None


def first_basis_vector(dimension: int) -> Vectors:
    """Return ``(1, 0, .., 0)``, the place of texts that say nothing to a model."""
    vector = np.zeros(dimension, dtype=np.float32)
    vector[0] = 1.0
    return vector


def unit_rows(rows: NDArray[Any]) -> Vectors:
    """Scale rows to norm 1; rows of zeros or non-finite ones become the first basis vector.

    Row-wise: a row's result does not depend on the other rows.
    """
    values = np.array(rows, dtype=np.float64, ndmin=2)
    largest = np.abs(values).max(axis=1, initial=0.0)
    good = np.isfinite(largest) & (largest > 0)
    values[~good] = 0.0
    values[~good, :1] = 1.0
    # Scaling by the largest entry first keeps the squares of tiny and huge rows in range.
    values /= np.where(good, largest, 1.0)[:, None]
    norms = np.sqrt((values * values).sum(axis=1))
    return np.asarray(values / norms[:, None], dtype=np.float32)


def clean(text: str) -> str:
    """Return ``text`` with lone surrogates replaced by U+FFFD: they have no UTF-8 form."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
