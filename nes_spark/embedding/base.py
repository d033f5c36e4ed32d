"""What an embedder is, how a worker finds one, and the rules that all of them keep.

Every embedder maps a list of texts to float32 rows of Euclidean norm 1. A text that says nothing to
the model (empty, or no token of it is known) gets the first basis vector ``(1, 0, .., 0)``, so that
every row of a table is a point on the sphere and the choice can be seen in the data.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from nes_spark.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nes_spark.config import EmbeddingConfig

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

    @property
    def model_id(self) -> str:
        """Model and version of its weights; loads the embedder."""
        return load_embedder(self).model_id


def default_cache_path() -> str:
    """Return the cache folder of a user who works outside a run: ``~/.cache/nes_spark/embeddings``.

    ``XDG_CACHE_HOME`` is honoured.
    """
    root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return str(Path(root) / "nes_spark" / "embeddings")


def _local_folder(path: str) -> str:
    """Return ``path`` without ``file://``; other URLs have no locks and cannot hold the cache."""
    scheme, separator, rest = path.partition("://")
    if not separator:
        return str(Path(path).expanduser().absolute())
    if scheme == "file":
        return rest
    raise ConfigError(
        f"embedding.cache_path: must be a folder on a file system of the workers, got a {scheme} "
        "address; name a local or shared folder, or set embedding.cache to false"
    )


def spec_for(
    config: EmbeddingConfig,
    fitted_path: str | Path | None = None,
    cache_path: str | Path | None = None,
) -> EmbedderSpec:
    """Return the specification of the embedder that a configuration asks for.

    Parameters
    ----------
    config : EmbeddingConfig
    fitted_path : str or pathlib.Path, optional
        Folder of a fitted model; required for ``lsa`` and ignored by the others.
    cache_path : str or pathlib.Path, optional
        Cache folder to use where the configuration names none, for example
        ``<output>/cache/embeddings``; default :func:`default_cache_path`.

    Returns
    -------
    EmbedderSpec

    Raises
    ------
    ConfigError
        For ``lsa`` without a folder of a fitted model, and for a cache folder that is a URL.
    """
    kind, _, name = config.model.partition(":")
    if kind == "lsa":
        if fitted_path is None:
            raise ConfigError(
                "embedding.model: 'lsa' is fitted on a corpus before it embeds; "
                "call nes_spark.embedding.lsa.fit_lsa or stages.fit_embedder first"
            )
        from nes_spark.embedding.lsa import read_digest

        folder = str(fitted_path).removeprefix("file://")
        return EmbedderSpec("lsa", path=folder, digest=read_digest(folder))
    if kind in ("bundled", "contextual"):
        return EmbedderSpec(kind)
    if kind == "sentence-transformers":
        return EmbedderSpec(kind, name=name, batch_size=config.batch_size)
    cache = None
    if config.cache:
        cache = _local_folder(config.cache_path or str(cache_path or default_cache_path()))
    return EmbedderSpec(
        "openai",
        name=name,
        dimension=config.dimension,
        base_url=config.base_url,
        api_key_env=config.api_key_env,
        batch_size=config.batch_size,
        timeout=config.timeout,
        max_retries=config.max_retries,
        cache_path=cache,
    )


@lru_cache(maxsize=4)
def _load(spec: EmbedderSpec) -> Embedder:
    if spec.kind == "bundled":
        from nes_spark.embedding.static import load_bundled

        return load_bundled()
    if spec.kind == "contextual":
        from nes_spark.embedding.contextual import load_contextual

        return load_contextual()
    if spec.kind == "lsa":
        from nes_spark.embedding.lsa import LsaEmbedder

        return LsaEmbedder.load(spec.path, expected_digest=spec.digest)
    if spec.kind == "openai":
        from nes_spark.embedding.remote import OpenAIEmbedder

        return OpenAIEmbedder(spec)
    if spec.kind == "sentence-transformers":
        from nes_spark.embedding.transformer import SentenceTransformerEmbedder

        return SentenceTransformerEmbedder(spec)
    raise ConfigError(
        f"embedding.model: unknown kind {spec.kind!r}; known are bundled, contextual, lsa, "
        "openai and sentence-transformers"
    )


def load_embedder(spec: str | EmbeddingConfig | EmbedderSpec = "bundled") -> Embedder:
    """Return an embedder, loaded once per process.

    Parameters
    ----------
    spec : str or EmbeddingConfig or EmbedderSpec
        A model as in the configuration (``"bundled"``, ``"openai:text-embedding-3-small"``,
        ``"sentence-transformers:all-MiniLM-L6-v2"``), a configuration section, or a specification
        made by :func:`spec_for` or ``stages.fit_embedder``.

    Returns
    -------
    Embedder
        Object with ``embed(list of str) -> float32 (n, d)`` of unit rows, ``model_id`` and
        ``dimension``.

    Raises
    ------
    ConfigError
        When the name is not a known model, a package or key is missing, or ``lsa`` is not fitted.

    Examples
    --------
    >>> vectors = load_embedder("bundled").embed(["Revenue grew.", "Sales rose."])
    >>> vectors.shape[0], vectors.dtype.name
    (2, 'float32')
    """
    if isinstance(spec, EmbedderSpec):
        return _load(spec)
    if isinstance(spec, str):
        from pydantic import ValidationError

        from nes_spark.config import EmbeddingConfig

        try:
            config: Any = EmbeddingConfig.model_validate({"model": spec})
        except ValidationError as error:
            reason = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise ConfigError(f"embedding.model: {reason}") from None
    else:
        config = spec
    return _load(spec_for(config))


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
