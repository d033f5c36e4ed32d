"""How a process finds an embedder: from a configuration to a specification to the loaded model."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nes_spark.embedding.base import Embedder, EmbedderSpec
from nes_spark.errors import ConfigError

if TYPE_CHECKING:
    from nes_spark.config import EmbeddingConfig


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
