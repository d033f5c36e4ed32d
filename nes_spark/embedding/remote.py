"""Embeddings from any endpoint that speaks the OpenAI protocol."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nes_spark.embedding.base import EmbedderSpec, Vectors, clean, first_basis_vector, unit_rows
from nes_spark.embedding.cache import VectorCache, content_key
from nes_spark.errors import ConfigError, InfrastructureError

if TYPE_CHECKING:
    from openai import OpenAI

#: Characters of one request, so that its tokens stay below what OpenAI accepts (300,000).
_REQUEST_CHARACTERS = 400_000
#: Texts of one request that OpenAI accepts.
_REQUEST_TEXTS = 2048
#: A longer text is cut at white space into pieces (8,192 tokens are accepted); its vector is the
#: mean of theirs, weighted by length.
_PIECE_CHARACTERS = 16_000
_MALFORMED_PAUSE = 0.5
_PROBE = "dimension"


def pieces(text: str, size: int = _PIECE_CHARACTERS) -> list[str]:
    """Cut ``text`` into pieces of at most ``size`` characters, at white space where there is some.

    Examples
    --------
    >>> pieces("one two three", 8)
    ['one two', 'three']
    """
    out = []
    while len(text) > size:
        cut = text.rfind(" ", size // 2, size + 1)
        cut = cut if cut > 0 else size
        out.append(text[:cut])
        text = text[cut:].lstrip()
    return [*out, text] if text.strip() else out


class _Malformed(Exception):
    """An answer with status 200 that cannot be used; the message quotes nothing of it."""


class OpenAIEmbedder:
    """Embeds with a remote model, in batches, with retries, and keeps what it has paid for.

    The client of the package ``openai`` retries time-outs, broken connections and the status codes
    408, 409, 429 and 5xx with exponential back-off and honours ``Retry-After``; answers that are
    malformed are asked for again here. The key is read from the environment when a request is made
    and is kept nowhere else.

    Parameters
    ----------
    spec : EmbedderSpec
        Of kind ``openai``.

    Raises
    ------
    ConfigError
        When the environment variable with the key is not set.
    """

    def __init__(self, spec: EmbedderSpec) -> None:
        self._spec = spec
        self._key()
        self._dimension = spec.dimension
        self._cache: VectorCache | None = None
        if spec.cache_path is not None:
            lease = max(60.0, (spec.timeout + 30.0) * (spec.max_retries + 1))
            self._cache = VectorCache(spec.cache_path, self.model_id, lease)
        self._made: tuple[int, OpenAI] | None = None

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self.model_id!r})"

    @property
    def model_id(self) -> str:
        """``openai:<model>``, with ``-<dimension>`` where one was requested."""
        suffix = f"-{self._spec.dimension}" if self._spec.dimension else ""
        return f"openai:{self._spec.name}{suffix}"

    @property
    def dimension(self) -> int:
        """Length of the vectors; costs one short request when neither requested nor known yet."""
        if self._dimension is None:
            self.check()
        assert self._dimension is not None
        return self._dimension

    def check(self) -> None:
        """Embed one word, so that a wrong key, model or address shows before the work starts.

        The word's vector is kept in the cache like any other. Raises what :meth:`embed` raises.
        """
        self.embed([_PROBE])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 rows of norm 1, shape ``(len(texts), dimension)``.

        Parameters
        ----------
        texts : sequence of str
            Equal texts are sent once; texts of white space only are not sent and have the first
            basis vector.

        Raises
        ------
        ConfigError
            When the endpoint refuses the key, the model or the requested dimension.
        InfrastructureError
            When it does not answer, or not sensibly, after all retries; or the cache is unusable.
        """
        parts = [pieces(clean(t)) for t in texts]
        wanted = {
            content_key(self._spec.name, self._spec.dimension, p): p for ps in parts for p in ps
        }
        vectors = self._vectors(wanted)
        for vector in vectors.values():
            self._check_dimension(len(vector))
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for i, ps in enumerate(parts):
            if not ps:
                rows[i] = first_basis_vector(self.dimension)
                continue
            found = [vectors[content_key(self._spec.name, self._spec.dimension, p)] for p in ps]
            if len(found) == 1:
                rows[i] = found[0]
            else:
                weighted = [len(p) * v.astype(np.float64) for p, v in zip(ps, found, strict=True)]
                rows[i] = unit_rows(np.sum(weighted, axis=0))[0]
        return rows

    def _check_dimension(self, length: int) -> None:
        if self._dimension is None:
            self._dimension = length
        if length != self._dimension:
            raise ConfigError(
                f"embedding.dimension: the endpoint gives model {self._spec.name!r} vectors of "
                f"length {length}, expected {self._dimension}; set embedding.dimension to a length "
                "that the model has"
            )

    def _vectors(self, wanted: dict[bytes, str]) -> dict[bytes, NDArray[np.float32]]:
        if not wanted:
            return {}

        def produce(keys: list[bytes]) -> list[NDArray[np.float32]]:
            return list(self._request([wanted[k] for k in keys]))

        def batches(keys: list[bytes]) -> list[list[bytes]]:
            groups: list[list[bytes]] = []
            size = 0
            limit = min(self._spec.batch_size, _REQUEST_TEXTS)
            for key in keys:
                length = len(wanted[key])
                if not groups or len(groups[-1]) >= limit or size + length > _REQUEST_CHARACTERS:
                    groups.append([])
                    size = 0
                groups[-1].append(key)
                size += length
            return groups

        if self._cache is not None:
            return self._cache.fetch(list(wanted), produce, batches)
        found: dict[bytes, NDArray[np.float32]] = {}
        for group in batches(list(wanted)):
            found |= dict(zip(group, produce(group), strict=True))
        return found

    def _key(self) -> str:
        key = os.environ.get(self._spec.api_key_env, "").strip()
        if not key:
            raise ConfigError(
                f"embedding.api_key_env: the environment variable {self._spec.api_key_env} is not "
                "set; put the key of the endpoint there (any word for an endpoint that needs none)"
            )
        return key

    def _client(self) -> OpenAI:
        # Connections must not be shared with a process that was forked off.
        if self._made is None or self._made[0] != os.getpid():
            from openai import OpenAI

            # At DEBUG the client logs whole requests, texts included.
            logger = logging.getLogger("openai")
            if logger.getEffectiveLevel() < logging.INFO:
                logger.setLevel(logging.INFO)
            client = OpenAI(
                api_key=self._key(),
                base_url=self._spec.base_url,
                timeout=self._spec.timeout,
                max_retries=self._spec.max_retries,
            )
            self._made = (os.getpid(), client)
        return self._made[1]

    def _request(self, texts: list[str]) -> Vectors:
        import openai

        where = self._spec.base_url or "https://api.openai.com/v1"
        arguments: dict[str, Any] = {"model": self._spec.name, "input": texts}
        if self._spec.dimension:
            arguments["dimensions"] = self._spec.dimension
        attempt = 0
        while True:
            try:
                answer = self._client().embeddings.create(**arguments)
                return _rows(answer, len(texts))
            # ValueError: what the client raises for vectors or JSON that it cannot decode.
            except (_Malformed, openai.APIResponseValidationError, ValueError) as error:
                attempt += 1
                if attempt > self._spec.max_retries:
                    reason = (
                        str(error) if isinstance(error, _Malformed) else "not an embedding list"
                    )
                    raise InfrastructureError(
                        f"{where}: {attempt} malformed answers in a row from model "
                        f"{self._spec.name!r} (the last: {reason}); is it an embeddings endpoint?"
                    ) from None
                time.sleep(min(8.0, _MALFORMED_PAUSE * 2.0 ** (attempt - 1)))
            except openai.APITimeoutError:
                raise InfrastructureError(
                    f"{where}: no answer within {self._spec.timeout:g} s, "
                    f"{self._spec.max_retries + 1} times; see embedding.timeout"
                ) from None
            except openai.APIConnectionError:
                raise InfrastructureError(
                    f"{where}: cannot be reached, {self._spec.max_retries + 1} attempts; "
                    "is embedding.base_url right and the endpoint running?"
                ) from None
            except openai.APIStatusError as error:
                raise self._refusal(error.status_code, where) from None
            except openai.OpenAIError as error:
                raise InfrastructureError(
                    f"{where}: the request failed ({type(error).__name__})"
                ) from None

    def _refusal(self, status: int, where: str) -> Exception:
        # The server's own message is not repeated: it may quote the text or part of the key.
        model = self._spec.name
        if status in (401, 403):
            return ConfigError(
                f"{where}: the key in {self._spec.api_key_env} was refused for model {model!r} "
                f"(status {status}); give a key that is valid there"
            )
        if status == 404:
            return ConfigError(
                f"{where}: no model {model!r} (status 404); embedding.model must name an embedding "
                "model of this endpoint"
            )
        if status in (400, 422):
            asked = f", embedding.dimension {self._spec.dimension}" if self._spec.dimension else ""
            return ConfigError(
                f"{where}: the request was refused (status {status}): model {model!r}{asked}, "
                f"embedding.batch_size {self._spec.batch_size}; one of them is not allowed there"
            )
        return InfrastructureError(
            f"{where}: status {status} after {self._spec.max_retries + 1} attempts; try again "
            "later (vectors received so far are kept in the cache)"
        )


def _rows(answer: Any, expected: int) -> Vectors:
    """Return the vectors of an answer in the order of the request, checked."""
    data = getattr(answer, "data", None)
    if not isinstance(data, list) or len(data) != expected:
        raise _Malformed("another number of vectors than texts")
    by_index: dict[int, Any] = {}
    for item in data:
        by_index[getattr(item, "index", -1)] = getattr(item, "embedding", None)
    if sorted(by_index) != list(range(expected)):
        raise _Malformed("positions that are not those of the request")
    vectors = [by_index[i] for i in range(expected)]
    lengths = {len(v) if isinstance(v, (list, tuple)) else 0 for v in vectors}
    if len(lengths) != 1 or 0 in lengths:
        raise _Malformed("vectors of different lengths")
    try:
        rows = np.array(vectors, dtype=np.float64)
    except (TypeError, ValueError):
        raise _Malformed("entries that are not numbers") from None
    if not np.isfinite(rows).all() or not (np.abs(rows).max(axis=1) > 0).all():
        raise _Malformed("vectors that are zero or not finite")
    return unit_rows(rows)
