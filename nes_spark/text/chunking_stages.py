"""Chunking as a Spark stage: a document a row in, a chunk a row out.

A document is one task's work, unless it is so long that others would wait for it: then its
sentences are compared, and its direct identifiers looked for, in pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pyspark.sql import functions as F

from nes_spark.config import ChunkingConfig, IdentifiersConfig
from nes_spark.schemas import CHUNKS, DOCUMENTS
from nes_spark.spreading import shuffle_partitions
from nes_spark.text.chunking import (
    Piece,
    chunk_spans,
    divide,
    piece_distances,
    spans_between,
)
from nes_spark.text.joining import split_gaps
from nes_spark.text.matching import Match, Matcher, is_in_small_letters
from nes_spark.text.numbering import find_all, number_matches
from nes_spark.text.offsets import released_parts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Characters above which a document is divided, and of its pieces.
LONG = 1_000_000
PIECE = 200_000
#: Chunks, and characters of them, that are handed on at a time.
_FRAME_ROWS, _FRAME_CHARACTERS = 1000, 4_000_000

_IDENTIFIERS = next(c.type for c in DOCUMENTS.columns if c.name == "identifiers")
_PIECES = (
    "document_id string, number int, begin int, start int, end int, stop int, cased boolean, "
    f"small boolean, text string, identifiers {_IDENTIFIERS}"
)
_FOUND = (
    "document_id string, number int, ends array<int>, distances array<double>, "
    "matches array<struct<start:int,end:int,kind:string,placeholder:string,value:string,"
    "rule:string>>"
)


def chunk_id(document_id: str, position: int) -> str:
    """Return the id of a chunk: the document's, ``#``, the position in five digits.

    Examples
    --------
    >>> chunk_id("4320211", 7)
    '4320211#00007'
    """
    return f"{document_id}#{position:05d}"


def chunk_rows(
    document: Mapping[str, Any], embed: Any, chunking: ChunkingConfig, config: IdentifiersConfig
) -> Iterator[dict[str, Any]]:
    """Yield the rows of the chunks table of one document.

    The original text is cut first and direct identifiers are replaced after (paper, sections 3.1.2
    and 3.1.3). They are looked for in the whole document, so that one that crosses a boundary is
    found too; it goes to the chunk in which it starts.

    Parameters
    ----------
    document : mapping
        A row of the documents table.
    embed : callable or object with ``embed``
        Sentence embedder.
    chunking, config : ChunkingConfig, IdentifiersConfig
        Threshold, buffer and greatest length; kinds and forms that are never suppressed.
    """
    spans = chunk_spans(
        document["text"], embed, chunking.threshold, chunking.buffer, chunking.max_words
    )
    return _rows(document, spans, find_all(document["text"], _matcher(document, config)))


def _matcher(document: Mapping[str, Any], config: IdentifiersConfig) -> Matcher:
    return Matcher.of(list(document["identifiers"]), config)


def _rows(
    document: Mapping[str, Any], spans: Sequence[tuple[int, int]], found: Sequence[Match]
) -> Iterator[dict[str, Any]]:
    left = ""  # white space that the chunks before took off at their ends
    parts = released_parts(document["text"], spans, number_matches(found))
    for position, ((start, end), part) in enumerate(zip(spans, parts, strict=True)):
        (released,), (gap,), left = split_gaps([part.text], left)
        yield {
            "chunk_id": chunk_id(document["document_id"], position),
            "document_id": document["document_id"],
            "metadata": document["metadata"],
            "position": position,
            "start": start,
            "end": end,
            "text": released,
            "gap": gap,
            "n_words": len(released.split()),
            "n_suppressed": part.suppressed,
        }


def chunk_documents(
    documents: DataFrame, chunking: ChunkingConfig, identifiers: IdentifiersConfig, embedder: Any
) -> DataFrame:
    """Cut documents into chunks and suppress their direct identifiers.

    Parameters
    ----------
    documents : DataFrame
        Table :data:`~nes_spark.schemas.DOCUMENTS`.
    chunking, identifiers : ChunkingConfig, IdentifiersConfig
        Their configuration.
    embedder : str, EmbeddingConfig or EmbedderSpec
        What :func:`nes_spark.embedding.load_embedder` takes; loaded once per Python worker.

    Returns
    -------
    DataFrame
        Table :data:`~nes_spark.schemas.CHUNKS`.

    Notes
    -----
    Documents of more than :data:`LONG` characters are divided between paragraphs. Their chunks are
    those of :func:`chunk_rows` all the same, unless a chain of overlapping identifiers is longer
    than :data:`~nes_spark.text.chunking.AROUND` characters.
    """

    rows = documents.select("document_id", "metadata", "text", "identifiers")
    size = F.length("text")
    whole = rows.where(size <= LONG).mapInPandas(
        _whole(chunking, identifiers, embedder), CHUNKS.ddl
    )
    long = rows.where(size > LONG)
    if long.isEmpty():
        return whole
    return whole.union(_divided(long, chunking, identifiers, embedder))


def _mappings(batches: Iterator[pd.DataFrame]) -> Iterator[dict[str, Any]]:
    for batch in batches:
        for values in batch.itertuples(index=False, name=None):
            yield dict(zip(batch.columns, values, strict=True))


def _frames(rows: Iterable[dict[str, Any]]) -> Iterator[pd.DataFrame]:
    """Yield chunks in frames of some size: Spark takes as long for one row as for hundreds."""
    some: list[dict[str, Any]] = []
    characters = 0
    for row in rows:
        some.append(row)
        characters += len(row["text"])
        if len(some) >= _FRAME_ROWS or characters >= _FRAME_CHARACTERS:
            yield pd.DataFrame(some, columns=CHUNKS.names)
            some, characters = [], 0
    if some:
        yield pd.DataFrame(some, columns=CHUNKS.names)


def _whole(
    chunking: ChunkingConfig, identifiers: IdentifiersConfig, embedder: Any
) -> Callable[..., Iterator[pd.DataFrame]]:
    def run(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        from nes_spark.embedding import load_embedder

        model = load_embedder(embedder)
        yield from _frames(
            chunk
            for row in _mappings(batches)
            for chunk in chunk_rows(row, model, chunking, identifiers)
        )

    return run


def _divided(
    documents: DataFrame, chunking: ChunkingConfig, identifiers: IdentifiersConfig, embedder: Any
) -> DataFrame:
    """Chunk documents whose pieces are looked at by tasks of their own."""

    def cut(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for row in _mappings(batches):
            text = row["text"]
            shared = {"cased": not text.islower(), "small": is_in_small_letters(text)}
            shared |= {name: row[name] for name in ("document_id", "identifiers")}
            for number, piece in enumerate(divide(text, PIECE, chunking.buffer)):
                own = {"number": number, "text": text[piece.begin : piece.stop]}
                yield pd.DataFrame([shared | own | piece._asdict()])

    def look(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        from nes_spark.embedding import load_embedder

        model: Any = load_embedder(embedder)
        for row in _mappings(batches):
            piece = Piece(*(int(row[name]) for name in Piece._fields))
            ends, distances = piece_distances(
                row["text"], piece, model, chunking.buffer, row["cased"]
            )
            moved = (
                m._replace(start=m.start + piece.begin, end=m.end + piece.begin)
                for m in _matcher(row, identifiers).candidates(row["text"], row["small"])
            )
            found = {
                "document_id": row["document_id"],
                "number": row["number"],
                "ends": ends,
                "distances": distances,
                "matches": [m._asdict() for m in moved if piece.start <= m.start < piece.end],
            }
            yield pd.DataFrame([found])

    def join(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for row in _mappings(batches):
            pieces = row["pieces"]
            ends = [end for piece in pieces for end in piece["ends"]]
            distances = np.concatenate([piece["distances"] for piece in pieces])
            spans = spans_between(
                row["text"], ends, distances, chunking.threshold, chunking.max_words
            )
            found = [
                Match(*(match[name] for name in Match._fields))
                for piece in pieces
                for match in piece["matches"]
            ]
            matcher = _matcher(row, identifiers)
            matches = find_all(row["text"], matcher, matcher.settle(row["text"], found))
            yield from _frames(_rows(row, spans, matches))

    parts = shuffle_partitions(documents)
    found = documents.mapInPandas(cut, _PIECES).repartition(parts).mapInPandas(look, _FOUND)
    pieces = found.groupBy("document_id").agg(
        F.sort_array(F.collect_list(F.struct("number", "ends", "distances", "matches"))).alias(
            "pieces"
        )
    )
    return documents.join(pieces, "document_id").mapInPandas(join, CHUNKS.ddl)
