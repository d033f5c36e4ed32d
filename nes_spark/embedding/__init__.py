"""Embedders: texts to unit vectors, and the content-addressed cache behind the remote ones."""

from nes_spark.embedding.base import Embedder, EmbedderSpec
from nes_spark.embedding.loading import load_embedder, spec_for

__all__ = ["Embedder", "EmbedderSpec", "load_embedder", "spec_for"]
