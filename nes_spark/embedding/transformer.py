"""Models of the package sentence-transformers (an extra)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nes_spark.embedding.base import EmbedderSpec, Vectors, clean, unit_rows
from nes_spark.errors import ConfigError

#: Padding makes the last bits of a neural model's output depend on the batch; vectors are rounded
#: to this many decimals before they are scaled, which hides all but rare ties of that.
_DECIMALS = 5


class SentenceTransformerEmbedder:
    """Embeds with a model of the package sentence-transformers, by name or path.

    Parameters
    ----------
    spec : EmbedderSpec
        Of kind ``sentence-transformers``.

    Raises
    ------
    ConfigError
        When the package is not installed or the model cannot be loaded.
    """

    def __init__(self, spec: EmbedderSpec) -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise ConfigError(
                "embedding.model: the package sentence-transformers is not installed; "
                "pip install 'nes_spark[sentence-transformers]'"
            ) from None
        try:
            self._model = SentenceTransformer(spec.name)
        except Exception as error:
            raise ConfigError(
                f"embedding.model: sentence-transformers cannot load {spec.name!r} "
                f"({type(error).__name__}); give a model name or the path of a saved model"
            ) from None
        self._name = spec.name
        self._batch_size = spec.batch_size
        self._dimension = int(self._model.get_sentence_embedding_dimension())

    @property
    def model_id(self) -> str:
        """``sentence-transformers:<name>``."""
        return f"sentence-transformers:{self._name}"

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 rows of norm 1, shape ``(len(texts), dimension)``.

        Texts longer than the model's window are cut by the model, as its authors intend.
        """
        if not texts:
            return np.empty((0, self._dimension), dtype=np.float32)
        rows = self._model.encode(
            [clean(t) for t in texts],
            batch_size=self._batch_size,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        rows = unit_rows(rows)
        return unit_rows(np.round(rows.astype(np.float64), _DECIMALS))
