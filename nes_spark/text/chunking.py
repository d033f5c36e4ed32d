"""The semantic chunker: breakpoints where neighbouring sentences differ most (paper, 3.1.2)."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nes_spark.errors import parameter_error
from nes_spark.text.sentences import MAX_CHARACTERS, capped, paragraph_starts, split_sentences

#: Sentence groups embedded per call; bounds memory on documents of many thousand sentences.
BLOCK = 2048
#: Characters around a piece of a long text in which everything is found that reaches over its ends.
AROUND = 10_000

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
        with np.errstate(over="ignore"):
            norm = math.sqrt(float(np.dot(vector, vector)))
        if not math.isfinite(norm):
            raise parameter_error(owner, "embed", "vectors of finite length", norm)
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
    text: str,
    embed: Embed,
    threshold: float = 75,
    buffer: int = 1,
    max_words: int | None = None,
    *,
    owner: str = "chunk_spans",
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
    whole = isinstance(max_words, Integral) and not isinstance(max_words, bool)
    if max_words is not None and (not whole or max_words < 1):
        raise parameter_error(owner, "max_words", "a whole number from 1, or None", max_words)
    sentences = split_sentences(text)
    distances = sentence_distances([text[a:b] for a, b in sentences], embed, int(buffer), owner)
    ends = [b for _, b in sentences]
    return spans_between(text, ends, distances, float(threshold), max_words)


def spans_between(
    text: str,
    ends: Sequence[int],
    distances: NDArray[np.float64],
    threshold: float,
    max_words: int | None = None,
) -> list[tuple[int, int]]:
    """Return the chunks of a text whose sentences end at `ends` and have these distances."""
    if not len(ends):
        return []
    breaks = breakpoints(distances, threshold)
    if max_words is not None:
        words = [len(text[a:b].split()) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
        breaks = further_breaks(breaks, distances, words, max_words)
    stops = [int(ends[t]) for t in [*breaks, len(ends) - 1]]
    spans = list(zip([0, *stops[:-1]], stops, strict=True))
    if max_words is None:
        return spans
    # speech without full stops has sentences without end
    return [
        piece
        for a, b in spans
        for piece in (
            capped(text, a, b, max_words) if len(text[a:b].split()) > 2 * max_words else [(a, b)]
        )
    ]


def further_breaks(
    breaks: Sequence[int],
    distances: NDArray[np.float64],
    words: Sequence[int],
    max_words: int,
) -> list[int]:
    """Return breaks by which no chunk of several sentences is longer than so many words.

    A chunk that is longer is broken where its neighbouring sentences differ most, and so are its
    parts: what stays together is as uniform as its length allows. Of equal distances the one
    nearest to the middle is taken.

    Parameters
    ----------
    breaks : sequence of int
        From :func:`breakpoints`; all stay.
    distances : numpy.ndarray, shape (T - 1,)
        Of the neighbouring sentences of one document.
    words : sequence of int, length T
        Words of each sentence.
    max_words : int
        At least 1. A sentence that is longer is a chunk of its own.

    Returns
    -------
    list of int
        Ascending.
    """
    total = np.concatenate([[0], np.cumsum(words)])
    out = set(breaks)
    waiting = list(zip([0, *(t + 1 for t in breaks)], [*breaks, len(words) - 1], strict=True))
    while waiting:
        first, last = waiting.pop()
        if first == last or total[last + 1] - total[first] <= max_words:
            continue
        inside = distances[first:last]
        (most,) = np.nonzero(inside == inside.max())
        middle = (last - first - 1) / 2
        at = first + int(most[np.argmin(np.abs(most - middle))])
        out.add(at)
        waiting += [(first, at), (at + 1, last)]
    return sorted(out)


class Piece(NamedTuple):
    """A part of a long text, and the text around it that its ends need.

    Attributes
    ----------
    begin, stop : int
        Where the text around it begins and ends; offsets in the whole text, half-open.
    start, end : int
        Where the piece itself does.
    """

    begin: int
    start: int
    end: int
    stop: int


def divide(text: str, size: int, buffer: int = 1) -> list[Piece]:
    """Cut a long text between paragraphs into pieces that different tasks can look at.

    Parameters
    ----------
    text : str
        The text.
    size : int
        Characters that a piece has at least; a paragraph is never divided.
    buffer : int
        As in :func:`chunk_text`. The text around a piece has at least as many sentences, and no
        less than :data:`AROUND` characters, where there are so many.

    Returns
    -------
    list of Piece
        They tile the text.
    """
    # a sentence has at most MAX_CHARACTERS
    around = max(AROUND, (buffer + 2) * MAX_CHARACTERS)
    places = [*paragraph_starts(text), len(text)]

    def first(place: int) -> int:
        return places[min(bisect_left(places, place), len(places) - 1)]

    starts = [0]
    while (start := first(starts[-1] + size)) < len(text):
        starts.append(start)
    return [
        Piece(
            places[bisect_right(places, max(0, start - around)) - 1],
            start,
            end,
            first(end + around),
        )
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True)
    ]


def piece_distances(
    text: str, piece: Piece, embed: Embed, buffer: int, cased: bool
) -> tuple[list[int], NDArray[np.float64]]:
    """Return where the sentences of a piece end, and their distances to the ones behind them.

    Parameters
    ----------
    text : str
        From ``piece.begin`` to ``piece.stop``.
    piece : Piece
        As :func:`divide` gives it.
    embed, buffer
        As in :func:`chunk_text`.
    cased : bool
        Whether the whole text has capital letters.

    Returns
    -------
    (list of int, ndarray of float64)
        Offsets in the whole text; one distance a sentence, but none for the last of the text. Those
        of all pieces together are what :func:`sentence_distances` gives for the whole text.
    """
    _, start, end, _ = (place - piece.begin for place in piece)
    before, own, after = (
        [part[a:b] for a, b in split_sentences(part, cased)]
        for part in (text[:start], text[start:end], text[end:])
    )
    before = before[len(before) - min(buffer, len(before)) :]
    distances = sentence_distances([*before, *own, *after[: buffer + 1]], embed, buffer)
    ends = np.cumsum([len(sentence) for sentence in own]) + piece.start
    return ends.tolist(), distances[len(before) : len(before) + len(own)]


def chunk_text(
    text: str,
    embed: Embed,
    threshold: float = 75,
    buffer: int = 1,
    max_words: int | None = None,
) -> list[str]:
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
    max_words : int, optional
        Chunks of more words are broken again, between the sentences that differ most
        (:func:`further_breaks`). A sentence is cut only where it has more than twice as many, at a
        comma if there is one. The paper has no such bound.

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
    Without ``max_words`` boundaries equal those of LlamaIndex's ``SemanticSplitterNodeParser``
    given the same sentences and embedding function (``buffer`` is its ``buffer_size``).

    Examples
    --------
    >>> import numpy as np
    >>> def embed(texts):
    ...     return np.array([["rain" in t, "ales" in t] for t in texts]) + 0.1
    >>> text = "It rained. More rain. Sales rose. More sales."
    >>> chunk_text(text, embed, threshold=60, buffer=0)
    ['It rained. More rain. ', 'Sales rose. More sales.']
    """
    spans = chunk_spans(text, embed, threshold, buffer, max_words, owner="chunk_text")
    return [text[a:b] for a, b in spans]
