"""Forward pass of a BERT encoder in NumPy, and the file its weights are read from.

The weights lie in one file of the safetensors format (a header of names, types, shapes and offsets,
then the raw numbers). Matrices are 8-bit integers in blocks of :data:`BLOCK` consecutive entries of
a row, with one float16 scale a block; everything is computed in float32. The ONNX graph of
:mod:`nes_spark.embedding.contextual` points into the same file, so that there is one copy of the
weights and both ways of running them start from the same numbers.

Architecture: Devlin, Chang, Lee and Toutanova (2019), "BERT: Pre-training of Deep Bidirectional
Transformers for Language Understanding", NAACL; attention as in Vaswani et al. (2017), equation 1;
GELU in its exact form, Hendrycks and Gimpel (2016).
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Consecutive entries of a row that share one scale.
BLOCK = 32

_TYPES = {"F32": np.float32, "F16": np.float16, "I8": np.int8, "I64": np.int64}
_HEADER = 8


@dataclass(frozen=True)
class Shape:
    """What the weights alone do not say.

    Attributes
    ----------
    layers, heads : int
    dimension : int
        Length of the token states; a multiple of ``heads``.
    window : int
        Word pieces read at once at most, the first and last special ones included.
    epsilon : float
        Added to the variance in layer normalisation.
    """

    layers: int
    heads: int
    dimension: int
    window: int
    epsilon: float


def tensor_places(path: str | Path) -> dict[str, tuple[str, tuple[int, ...], int, int]]:
    """Return type, shape, offset in the file and length (bytes) of every tensor of a file.

    Parameters
    ----------
    path : str or pathlib.Path
        A file of the safetensors format.

    Raises
    ------
    ValueError
        When the header is not of that format or a type is unknown.
    """
    with Path(path).open("rb") as file:
        length = int.from_bytes(file.read(_HEADER), "little")
        if not 2 <= length <= 1 << 24:
            raise ValueError("no header of the safetensors format")
        header: dict[str, Any] = json.loads(file.read(length))
    start = _HEADER + length
    places = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if entry["dtype"] not in _TYPES:
            raise ValueError(f"tensor {name}: unknown type {entry['dtype']}")
        first, last = entry["data_offsets"]
        places[name] = (entry["dtype"], tuple(entry["shape"]), start + first, last - first)
    return places


def read_tensors(path: str | Path) -> dict[str, NDArray[Any]]:
    """Return the tensors of a file of the safetensors format, read only and mapped from the disk.

    Raises
    ------
    ValueError
        When the file is not of that format, or shorter than its header says.
    """
    places = tensor_places(path)
    with Path(path).open("rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    tensors = {}
    for name, (kind, shape, offset, _) in places.items():
        count = int(np.prod(shape))
        tensors[name] = np.frombuffer(data, _TYPES[kind], count, offset).reshape(shape)
    return tensors


def dequantize(values: NDArray[np.int8], scales: NDArray[np.float16]) -> NDArray[np.float32]:
    """Return ``values`` times their blocks' scales.

    Parameters
    ----------
    values : ndarray of int8, shape (rows, columns)
    scales : ndarray of float16, shape (rows, columns / BLOCK)

    Returns
    -------
    ndarray of float32, shape (rows, columns)
    """
    rows, columns = values.shape
    blocks = values.reshape(rows, columns // BLOCK, BLOCK).astype(np.float32)
    return (blocks * scales.astype(np.float32)[:, :, None]).reshape(rows, columns)


class NumpyTransformer:
    """Token states of a BERT encoder, one window at a time.

    One window at a time, without padding: a window's states depend on its own word pieces only.

    Parameters
    ----------
    tensors : mapping of str to ndarray
        As :func:`read_tensors` returns them; names as in
        :func:`nes_spark.building.encoder.rearranged`. A matrix without a tensor ``<name>.scale``
        is taken as it is, so that the float32 reference runs here as well.
    shape : Shape
    """

    def __init__(self, tensors: Mapping[str, NDArray[Any]], shape: Shape) -> None:
        self._shape = shape
        self._plain = {n: t for n, t in tensors.items() if t.dtype == np.float32}
        # Rows of the vocabulary are scaled when they are looked up: that keeps them small.
        self._words = tensors["words"]
        self._word_scales = tensors.get("words.scale")
        self._matrices = {
            name: np.ascontiguousarray(self._matrix(tensors, name).T)
            for name in tensors
            if name.startswith("layer.") and name.endswith(".weight") and tensors[name].ndim == 2
        }
        self._positions = self._matrix(tensors, "positions")

    @staticmethod
    def _matrix(tensors: Mapping[str, NDArray[Any]], name: str) -> NDArray[np.float32]:
        scales = tensors.get(f"{name}.scale")
        return tensors[name] if scales is None else dequantize(tensors[name], scales)

    def states(self, ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the last layer's states of a batch of windows.

        Parameters
        ----------
        ids : ndarray of int64, shape (n, L)
            Word pieces; what lies beyond a row's length is ignored.
        lengths : ndarray of int64, shape (n,)
            From 1 to L.

        Returns
        -------
        ndarray of float32, shape (n, L, d)
            Zero beyond a row's length.
        """
        out = np.zeros((*ids.shape, self._shape.dimension), dtype=np.float32)
        for i, length in enumerate(lengths):
            out[i, :length] = self._one(ids[i, :length])
        return out

    def _one(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        words = self._words[ids]
        if self._word_scales is not None:
            words = dequantize(words, self._word_scales[ids])
        x = self._normalized(words + self._positions[: len(ids)], "norm")
        for layer in range(self._shape.layers):
            name = f"layer.{layer}"
            x = self._normalized(x + self._attention(x, name), f"{name}.attention_norm")
            inner = _gelu(self._linear(x, f"{name}.inner"))
            x = self._normalized(x + self._linear(inner, f"{name}.outer"), f"{name}.norm")
        return x

    def _attention(self, x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        """Softmax(Q K' / sqrt(d / heads)) V, the heads side by side, then a linear map."""
        n, heads = len(x), self._shape.heads
        size = self._shape.dimension // heads
        queries, keys, values = (
            self._linear(x, f"{name}.qkv").reshape(n, 3, heads, size).transpose(1, 2, 0, 3)
        )
        scores = (queries * np.float32(size**-0.5)) @ keys.transpose(0, 2, 1)
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed = np.asarray(scores @ values, np.float32).transpose(1, 0, 2).reshape(n, -1)
        return self._linear(mixed, f"{name}.attention")

    def _linear(self, x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        return np.asarray(x @ self._matrices[f"{name}.weight"] + self._plain[f"{name}.bias"])

    def _normalized(self, x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = np.square(centred).mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt(variance + np.float32(self._shape.epsilon))
        return np.asarray(scaled * self._plain[f"{name}.weight"] + self._plain[f"{name}.bias"])


def _gelu(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return ``x Phi(x)`` with the normal distribution function Phi."""
    from scipy.special import erf

    return np.asarray(np.float32(0.5) * x * (1 + erf(x * np.float32(0.5**0.5))))
