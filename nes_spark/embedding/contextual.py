"""A contextual sentence encoder that comes with the package, run by onnxruntime or NumPy.

A text is cut into word pieces; an encoder turns each window of at most 256 of them into one state
a piece; a text's vector is the mean of its states, scaled to norm 1 (Reimers and Gurevych, 2019,
"Sentence-BERT", EMNLP). Made by :mod:`nes_spark.building.encoder`; the model card lies beside the
weights.

**A text's vector does not depend on its neighbours, to the bit.** A window is padded to the next
multiple of :data:`_PAD` pieces, which is a function of its own length, and runs only with windows
that are padded to the same length: what surrounds it changes how many rows a matrix product has,
never how long a sum is. Pooling, in float64, takes a window's own pieces only. So the bits are the
same whatever the batch, the order, the partitioning and the number of threads, on one kind of
processor and with one version of the runtime. Other kinds may round differently, and NumPy does (by
less than 1e-6 a coordinate), so round before you choose by these numbers.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nes_spark.embedding.base import Vectors, clean, unit_rows
from nes_spark.embedding.transformer_numpy import NumpyTransformer, Shape, read_tensors
from nes_spark.errors import InfrastructureError, InputError, parameter_error
from nes_spark.logs import LOGGER

#: Folder of the model that comes with the package, and the files of a model.
BUNDLED = Path(__file__).parent / "models" / "contextual-en"
GRAPH = "graph.onnx"
TOKENIZER = "tokenizer.json"
WEIGHTS = "weights.safetensors"
FORMAT = 1

#: Neighbouring windows of a long text share this many word pieces, so that a piece near a cut is
#: read with what stands on both sides of it at least once.
OVERLAP = 32

#: Windows are padded to a multiple of this many word pieces.
_PAD = 8
#: Texts handled at a time: bounds memory and does not change any result.
_BLOCK_TEXTS = 1024


class Forward(Protocol):
    """Turns word pieces into states."""

    def states(self, ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return states, shape (n, L, d), of windows (n, L) whose first pieces count."""
        ...


class OnnxTransformer:
    """Token states by onnxruntime.

    Parameters
    ----------
    path : pathlib.Path
        The graph; its weights lie beside it.

    Raises
    ------
    ImportError
        When onnxruntime cannot be imported.
    InfrastructureError
        When it cannot load the graph.
    """

    def __init__(self, path: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # Windows run side by side instead (WindowPooling): threads that share the small products
        # of one window wait for each other.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # The runtime keeps its buffers: under the small MALLOC_TRIM_THRESHOLD_ of this package's
        # Spark sessions, giving them back after every operator costs more than the
        # arithmetic itself. Patterns would be kept for each shape, of which there are many here.
        options.enable_cpu_mem_arena = True
        options.enable_mem_pattern = False
        try:
            self._session: Any = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            raise InfrastructureError(
                f"{path}: onnxruntime {onnxruntime.__version__} cannot load the contextual model "
                f"({type(error).__name__}); 1.20 or later is needed"
            ) from None

    def states(self, ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the last layer's states, shape (n, L, d), of windows (n, L)."""
        mask = (np.arange(ids.shape[1]) < lengths[:, None]).astype(np.int64)
        (states,) = self._session.run(["states"], {"ids": ids, "mask": mask})
        return np.asarray(states)


def read_tokenizer(definition: str) -> Any:
    """Return a tokenizer that neither cuts nor pads, whatever its definition says."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_str(definition)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def window_bounds(pieces: int, size: int, overlap: int = OVERLAP) -> list[tuple[int, int]]:
    """Return where the windows of a text begin and end, half-open.

    As few windows as cover the text with neighbours that share at least ``overlap`` pieces, all of
    one length and evenly spread.

    Examples
    --------
    >>> window_bounds(254, 254), window_bounds(255, 254)
    ([(0, 254)], [(0, 144), (111, 255)])
    """
    if pieces <= size:
        return [(0, pieces)]
    count = -(-(pieces - overlap) // (size - overlap))
    length = -(-(pieces + (count - 1) * overlap) // count)
    starts = [(pieces - length) * i // (count - 1) for i in range(count)]
    return [(start, start + length) for start in starts]


class WindowPooling:
    """Texts to unit vectors by a tokenizer and a forward pass.

    Parameters
    ----------
    tokenizer : tokenizers.Tokenizer
        As :func:`read_tokenizer` returns it.
    forward : Forward
    shape : Shape
    batch : int, default 4
        Windows in one forward pass; changes time and memory, no bit of a result.
    threads : int, default 1
        Forward passes at a time; as above.
    """

    def __init__(
        self, tokenizer: Any, forward: Forward, shape: Shape, batch: int = 4, threads: int = 1
    ) -> None:
        if batch < 1:
            raise parameter_error(type(self).__name__, "batch", "a whole number from 1", batch)
        if threads < 1:
            raise parameter_error(type(self).__name__, "threads", "a whole number from 1", threads)
        if shape.window <= OVERLAP + 2:
            raise parameter_error(
                type(self).__name__, "shape", f"of a window above {OVERLAP + 2}", shape.window
            )
        self._forward = forward
        self._shape = shape
        self._batch = batch
        self._threads = threads
        self._first, self._last, self._unknown = (
            tokenizer.token_to_id(t) for t in ("[CLS]", "[SEP]", "[UNK]")
        )
        # Fast encoding leaves out character offsets, which nobody needs here.
        self._encode: Any = getattr(tokenizer, "encode_batch_fast", tokenizer.encode_batch)

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return self._shape.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return float32 rows of norm 1, shape ``(len(texts), dimension)``.

        Parameters
        ----------
        texts : sequence of str
            Of any length. One of more than 254 word pieces is read in windows that overlap by 32,
            and its vector is the mean over the windows' states, so that windows count by length;
            nothing is cut off.

        Returns
        -------
        ndarray of float32
            Each row depends on its own text only, to the bit; equal texts are embedded once. A text
            without a known word piece has the first basis vector.
        """
        distinct = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        known = list(distinct)
        rows = np.zeros((len(known), self.dimension))
        for start in range(0, len(known), _BLOCK_TEXTS):
            block = known[start : start + _BLOCK_TEXTS]
            rows[start : start + len(block)] = self._means([clean(text) for text in block])
        # unit_rows gives rows of zeros the first basis vector
        return unit_rows(rows)[[distinct[text] for text in texts]]

    def _means(self, texts: list[str]) -> NDArray[np.float64]:
        """Mean states of texts, zero where there is nothing to read, shape (n, d)."""
        encoded = [e.ids for e in self._encode(texts, add_special_tokens=False)]
        windows: list[tuple[int, list[int]]] = []
        for owner, ids in enumerate(encoded):
            if any(piece != self._unknown for piece in ids):
                for start, end in window_bounds(len(ids), self._shape.window - 2):
                    windows.append((owner, [self._first, *ids[start:end], self._last]))
        sums = np.zeros((len(windows), self.dimension))

        def read(numbers: list[int], length: int) -> None:
            table = np.zeros((len(numbers), length), dtype=np.int64)
            lengths = np.array([len(windows[w][1]) for w in numbers])
            for row, w in enumerate(numbers):
                table[row, : lengths[row]] = windows[w][1]
            states = self._forward.states(table, lengths)
            for row, w in enumerate(numbers):
                sums[w] = states[row, : lengths[row]].sum(axis=0, dtype=np.float64)

        batches = list(self._batches([len(ids) for _, ids in windows]))
        if self._threads == 1:
            for numbers, length in batches:
                read(numbers, length)
        else:
            # The longest first, so that no thread is left alone with long ones at the end; few at
            # a time, because who is stopped waits for all that wait in the pool.
            with ThreadPoolExecutor(self._threads) as pool:
                under_way: deque[Future[None]] = deque()
                for batch in reversed(batches):
                    if len(under_way) > self._threads:
                        under_way.popleft().result()
                    under_way.append(pool.submit(read, *batch))
                for done in under_way:
                    done.result()
        means = np.zeros((len(texts), self.dimension))
        total = np.zeros(len(texts))
        for w, (owner, ids) in enumerate(windows):  # windows of a text in their order
            means[owner] += sums[w]
            total[owner] += len(ids)
        return means / np.maximum(total, 1)[:, None]

    def _batches(self, lengths: Sequence[int]) -> Iterator[tuple[list[int], int]]:
        """Yield numbers of windows that run together and the length they are padded to."""

        def padded(window: int) -> int:
            return -(-lengths[window] // _PAD) * _PAD

        for length, group in groupby(sorted(range(len(lengths)), key=padded), key=padded):
            numbers = list(group)
            for start in range(0, len(numbers), self._batch):
                yield numbers[start : start + self._batch], length


class ContextualEmbedder(WindowPooling):
    """A contextual encoder in a folder.

    Parameters
    ----------
    folder : str or pathlib.Path, optional
        ``model.json`` (name, shape, digests of the other files), ``tokenizer.json``, ``graph.onnx``
        and ``weights.safetensors``; by default the model that comes with the package.
    threads : int, default 1
        Forward passes at a time; no bit of a result depends on it.
    batch : int, default 4
        Windows in one forward pass.
    runtime : {"auto", "onnxruntime", "numpy"}, default "auto"
        ``auto`` takes onnxruntime and, where it cannot be imported, NumPy, and says so in the log.
        Vectors of the two differ by less than 1e-6 in any coordinate.

    Raises
    ------
    InputError
        When the folder holds no such model, a file is missing or not what ``model.json`` says.
    ImportError
        With ``runtime="onnxruntime"``, when it cannot be imported.
    """

    def __init__(
        self,
        folder: str | Path = BUNDLED,
        threads: int = 1,
        batch: int = 4,
        runtime: str = "auto",
    ) -> None:
        if runtime not in ("auto", "onnxruntime", "numpy"):
            raise parameter_error(
                "ContextualEmbedder", "runtime", "'auto', 'onnxruntime' or 'numpy'", runtime
            )
        folder = Path(folder)
        try:
            header = json.loads((folder / "model.json").read_text(encoding="utf-8"))
            if header["format"] != FORMAT:
                raise InputError(
                    f"{folder}: format {header['format']!r} of the contextual model is not known, "
                    f"only {FORMAT}; install the package anew"
                )
            wanted = {name: header["sha256"][name] for name in (GRAPH, TOKENIZER, WEIGHTS)}
            shape = Shape(**header["shape"])
            found = {name: _digest(folder / name) for name in wanted}
        except (OSError, ValueError, KeyError, TypeError) as error:
            reason = type(error).__name__
            raise InputError(
                f"{folder}: no usable contextual embedding model ({reason}); install the package "
                "anew"
            ) from None
        _refuse_damage(folder, wanted, found)
        tokenizer = read_tokenizer((folder / TOKENIZER).read_text(encoding="utf-8"))
        self.runtime = runtime
        forward: Forward | None = None
        if runtime != "numpy":
            try:
                forward = OnnxTransformer(folder / GRAPH)
                self.runtime = "onnxruntime"
            except ImportError as error:
                if runtime == "onnxruntime":
                    raise
                LOGGER.warning(
                    "contextual encoder: onnxruntime cannot be imported (%s); NumPy computes the "
                    "same vectors, more slowly",
                    type(error).__name__,
                )
        if forward is None:
            self.runtime = "numpy"
            forward = NumpyTransformer(read_tensors(folder / WEIGHTS), shape)
        super().__init__(tokenizer, forward, shape, batch, threads)
        self._name = str(header["name"])
        self.digest = hashlib.sha256("".join(found[n] for n in sorted(found)).encode()).hexdigest()

    @property
    def model_id(self) -> str:
        """``<name>-<dimension>:<digest of graph, tokenizer and weights>``."""
        return f"{self._name}-{self.dimension}:{self.digest[:12]}"


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _refuse_damage(folder: Path, wanted: dict[str, str], found: dict[str, str]) -> None:
    damaged: Iterable[str] = [name for name in wanted if wanted[name] != found[name]]
    if damaged:
        raise InputError(
            f"{folder}: {', '.join(damaged)} of the contextual embedding model is not the file "
            "that model.json names; install the package anew"
        )


@lru_cache(maxsize=2)
def _load(threads: int) -> ContextualEmbedder:
    return ContextualEmbedder(threads=threads)


def load_contextual(threads: int = 1) -> ContextualEmbedder:
    """Return the model that comes with the package, loaded once per process.

    Parameters
    ----------
    threads : int, default 1
        Forward passes at a time: one in a Spark worker, the number of cores on an idle driver.
    """
    return _load(threads)
