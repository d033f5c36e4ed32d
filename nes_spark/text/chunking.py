"""The semantic chunker: breakpoints where neighbouring sentences differ most (paper, 3.1.2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nes_spark.errors import parameter_error
from nes_spark.text.sentences import split_sentences

#: Sentence groups embedded per call; bounds memory on documents of many thousand sentences.
BLOCK = 2048

Embed = Callable[[list[str]], Any]


def _vectors(
    embed: Any, sentences: Sequence[str], buffer: int, owner: str
) -> Iterator[NDArray[np.float64]]:
    """Yield the vectors of the sentences, each with its neighbours; a block of them is held."""
    call = getattr(embed, "embed", embed)
    if not callable(call):
        raise parameter_error(
            owner, "embed", "a function list[str] -> (n, d) array, or an object with .embed", embed
        )
    # an embedder may have a faster way to the same vectors
    windows = getattr(embed, "embed_windows", None)
    count = len(sentences)
    for begin in range(0, count, BLOCK):
        end = min(count, begin + BLOCK)
        low, high = max(0, begin - buffer), min(count, end + buffer)
        if windows is not None:
            vectors = windows(sentences[low:high], buffer)[begin - low : end - low]
        else:
            block = [
                "".join(sentences[max(0, t - buffer) : t + buffer + 1]) for t in range(begin, end)
            ]
            vectors = call(block)
        vectors = np.asarray(vectors, dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != end - begin or not np.isfinite(vectors).all():
            raise ValueError(
                f"The 'embed' parameter of {owner} must return a finite array with one row a text. "
                f"Got shape {vectors.shape} for {end - begin} texts instead."
            )
        yield from vectors


def sentence_distances(
    sentences: Sequence[str], embed: Embed, buffer: int = 1, owner: str = "sentence_distances"
) -> NDArray[np.float64]:
    """Return the cosine distances of neighbouring sentences.

    Parameters
    ----------
    sentences : sequence of str
        T sentences with the white space between them, so that joining them gives the text back.
    embed : callable or object with ``embed``
        ``list[str] -> (n, d)`` array; rows need not be normalised.
    buffer : int
        Neighbours on each side that are embedded together with a sentence.
    owner : str
        Name that error messages carry.

    Returns
    -------
    numpy.ndarray of float64, shape (max(T - 1, 0),)
        ``1 - cos(e_t, e_{t+1})``, where ``e_t`` is the embedding of sentence t joined with its
        neighbours. A zero vector is at distance 1 from everything.
    """
    count = len(sentences)
    if count < 2:
        return np.empty(0)

    distances = np.empty(count - 1)
    before, norm_before = np.empty(0), 0.0
    # Row by row, so that a distance never depends on how many sentences a document has.
    for t, vector in enumerate(_vectors(embed, sentences, buffer, owner)):
        norm = math.sqrt(float(np.dot(vector, vector)))
        if t:
            scale = norm_before * norm
            cosine = float(np.dot(before, vector)) / scale if scale > 0 else 0.0
            distances[t - 1] = 1.0 - cosine
        before, norm_before = vector, norm
    return distances


def breakpoints(distances: NDArray[np.float64], threshold: float) -> list[int]:
    """Return the indices t after whose sentence a chunk ends.

    A break is where ``distance_t`` is strictly greater than the `threshold` percentile of all
    distances of the document (NumPy's linear interpolation).

    Parameters
    ----------
    distances : numpy.ndarray, shape (T - 1,)
        Of one document.
    threshold : float
        Percentile, 0 to 100.

    Returns
    -------
    list of int
        Ascending; empty when there are no distances or all are equal.
    """
    if len(distances) == 0:
        return []
    limit = np.percentile(distances, threshold)
    return [int(t) for t in np.flatnonzero(distances > limit)]


def chunk_spans(
    text: str, embed: Embed, threshold: float = 75, buffer: int = 1, *, owner: str = "chunk_spans"
) -> list[tuple[int, int]]:
    """Return the semantically uniform chunks of a text as spans that tile it.

    Parameters are those of :func:`chunk_text`.

    Returns
    -------
    list of (int, int)
        Half-open offsets in code points; empty for an empty text.
    """
    if not isinstance(text, str):
        raise parameter_error(owner, "text", "a string", type(text).__name__)
    number = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not number or not 0 <= threshold <= 100:
        raise parameter_error(owner, "threshold", "a number from 0 to 100", threshold)
    if not isinstance(buffer, Integral) or isinstance(buffer, bool) or buffer < 0:
        raise parameter_error(owner, "buffer", "a whole number from 0", buffer)
    sentences = split_sentences(text)
    distances = sentence_distances([text[a:b] for a, b in sentences], embed, int(buffer), owner)
    ends = [sentences[t][1] for t in breakpoints(distances, float(threshold))]
    if sentences:
        ends.append(len(text))
    return list(zip([0, *ends[:-1]], ends, strict=True)) if ends else []


def chunk_text(text: str, embed: Embed, threshold: float = 75, buffer: int = 1) -> list[str]:
    """Cut a text into semantically uniform chunks (breakpoint method; paper, section 3.1.2).

    Parameters
    ----------
    text : str
        The document.
    embed : callable or object with ``embed``
        ``list[str] -> (n, d)`` array, for example ``load_embedder("bundled").embed``.
    threshold : float, default 75
        Percentile of the document's distances, 0 to 100, above which a break is made; higher means
        fewer and longer chunks.
    buffer : int, default 1
        Neighbours on each side embedded together with a sentence.

    Returns
    -------
    list of str
        Chunks in order; joined they give `text` back. Empty for an empty text.

    Raises
    ------
    ValueError
        For a parameter outside its range, or an `embed` that does not return a row a text.

    Notes
    -----
    Boundaries equal those of LlamaIndex's ``SemanticSplitterNodeParser`` given the same sentences
    and embedding function (``buffer`` is its ``buffer_size``).

    Examples
    --------
    >>> import numpy as np
    >>> def embed(texts):
    ...     return np.array([[t.count("rain"), t.count("sales")] for t in texts]) + 0.1
    >>> text = "It rained. More rain. Sales rose. More sales."
    >>> chunk_text(text, embed, threshold=60, buffer=0)
    ['It rained. More rain. ', 'Sales rose. More sales.']
    """
    spans = chunk_spans(text, embed, threshold, buffer, owner="chunk_text")
    return [text[a:b] for a, b in spans]
