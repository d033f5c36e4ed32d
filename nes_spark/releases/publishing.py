"""What a release folder holds, and how its files are written so that equal content is equal bytes.

A release names documents by pseudonyms: input ids often say whose text it is. Nothing in it tells
which chunks were swapped.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nes_spark.text.joining import join_chunks

if TYPE_CHECKING:
    import pandas as pd
    from pyarrow import fs as pafs

#: Documents, or chunks by themselves, that a part of the release holds about; parts are written
#: independently of each other.
DOCUMENTS_PER_PART, CHUNKS_PER_PART = 5_000, 65_000
_LINES_AT_A_TIME = 500

#: Of a release in which nothing connects the chunks of a document.
ALONE_COLUMNS = ("chunk_id", "text")


@dataclass(frozen=True)
class Gate:
    """One condition of publication and whether it holds.

    Attributes
    ----------
    name : str
        Short name, e.g. ``"direct identifiers"``.
    passed : bool
        Whether the release may go out as far as this gate is concerned.
    detail : str
        One line for a person; quotes no text.
    warned : bool
        Whether it let the release go although something is not as it should be; `detail` says what.
    waits : bool
        Whether it cannot say yet: the release stays unpublished until what `detail` names is there.
    """

    name: str
    passed: bool
    detail: str
    warned: bool = False
    waits: bool = False

    @property
    def verdict(self) -> str:
        """``passed``, ``warning``, ``waiting`` or ``refused``."""
        if self.passed:
            return "warning" if self.warned else "passed"
        return "waiting" if self.waits else "refused"


def pseudonym(secret: bytes, name: str, kind: str = "document") -> str:
    """Return the name a document, or a chunk by itself, has in the release: a keyed hash.

    Parameters
    ----------
    secret : bytes
        The secret seed; without it the name cannot be traced back or guessed.
    name : str
        Id of the document or chunk.
    kind : str, optional
        ``document`` or ``chunk``; names of the two say nothing of each other.

    Returns
    -------
    str
        ``d`` or ``c`` and 16 hexadecimal digits (64 bits); equal for equal seed and id, so that the
        same document has the same name in every release made with this seed.
    """
    digest = hmac.new(secret, f"{kind}\0{name}".encode(), hashlib.sha256)
    return kind[0] + digest.hexdigest()[:16]


def release_chunk_id(release_document_id: str, position: int | None) -> str:
    """Return the id that a chunk has in the release; by itself it has no position."""
    return release_document_id if position is None else f"{release_document_id}#{position:05d}"


def count_parts(n: int, per_part: int = DOCUMENTS_PER_PART) -> int:
    """Return the number of parts of a release; a function of its size only."""
    return max(1, -(-n // per_part))


def part_of(release_document_id: str, parts: int) -> int:
    """Return the part that a document is written to."""
    return int(release_document_id[1:9], 16) % parts


def file_name(table: str, part: int, parts: int, suffix: str) -> str:
    """Return ``chunks.jsonl`` for a release of one part, else ``chunks-00002-of-00007.jsonl``."""
    return f"{table}.{suffix}" if parts == 1 else f"{table}-{part:05d}-of-{parts:05d}.{suffix}"


def write_part(
    rows: pd.DataFrame,
    part: int,
    parts: int,
    filesystem: pafs.FileSystem,
    folder: str,
    alone: bool = False,
) -> list[dict[str, Any]]:
    """Write the files of one part.

    Parameters
    ----------
    rows : pandas.DataFrame
        Chunks of the part's documents: ``release_document_id``, ``period``, ``position``, ``text``
        and ``gap`` (white space before it). Any order.
    part, parts : int
        Which part this is, of how many.
    filesystem, folder : pyarrow.fs.FileSystem, str
        Where to write.
    alone : bool, optional
        Chunks by themselves: ``release_document_id`` is the name of each; no documents are written.

    Returns
    -------
    list of dict
        ``file``, ``rows`` and ``sha256`` of each file, by name.
    """
    import pandas as pd
    import pyarrow as pa

    if alone:
        rows = rows.sort_values("release_document_id", ignore_index=True)
        chunks = rows[["release_document_id", "text"]].set_axis([*ALONE_COLUMNS], axis=1)
        schema = pa.schema([(name, pa.string()) for name in ALONE_COLUMNS])
        return _write_files("chunks", chunks, schema, part, parts, filesystem, folder)
    rows = rows.sort_values(["release_document_id", "position"], ignore_index=True)
    chunks = pd.DataFrame(
        {
            "chunk_id": [
                release_chunk_id(d, p)
                for d, p in zip(rows["release_document_id"], rows["position"], strict=True)
            ],
            "document_id": rows["release_document_id"],
            "position": rows["position"].astype("int32"),
            "text": rows["text"],
        }
    )
    grouped = rows.groupby("release_document_id", sort=True)
    documents = pd.DataFrame(
        {
            "document_id": [str(name) for name, _ in grouped],
            "period": [group["period"].iloc[0] for _, group in grouped],
            "n_chunks": pd.array([len(group) for _, group in grouped], dtype="int32"),
            "text": [
                join_chunks(group["text"].tolist(), group["gap"].tolist()) for _, group in grouped
            ],
        }
    )
    schemas = {
        "chunks": pa.schema(
            [
                ("chunk_id", pa.string()),
                ("document_id", pa.string()),
                ("position", pa.int32()),
                ("text", pa.string()),
            ]
        ),
        "documents": pa.schema(
            [
                ("document_id", pa.string()),
                ("period", pa.string()),
                ("n_chunks", pa.int32()),
                ("text", pa.string()),
            ]
        ),
    }
    written = []
    for table, frame in (("chunks", chunks), ("documents", documents)):
        written += _write_files(table, frame, schemas[table], part, parts, filesystem, folder)
    return written


def _write_files(
    table: str,
    frame: pd.DataFrame,
    schema: Any,
    part: int,
    parts: int,
    filesystem: pafs.FileSystem,
    folder: str,
) -> list[dict[str, Any]]:
    """Write one part of a table as Parquet and as JSON Lines."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrow = pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
    arrow = arrow.replace_schema_metadata(None)

    def parquet() -> Iterator[Any]:
        sink = pa.BufferOutputStream()
        pq.write_table(arrow, sink, compression="snappy")
        yield sink.getvalue()

    def lines() -> Iterator[Any]:
        # some at a time: as objects, text and bytes, all of them would take thrice their memory
        for batch in arrow.to_batches(max_chunksize=_LINES_AT_A_TIME):
            records = (json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())
            yield "".join(records).encode()

    written = []
    for suffix, pieces in (("parquet", parquet()), ("jsonl", lines())):
        name, digest = file_name(table, part, parts, suffix), hashlib.sha256()
        with filesystem.open_output_stream(f"{folder}/{name}") as stream:
            for piece in pieces:
                stream.write(piece)
                digest.update(piece)
        written.append({"file": name, "rows": len(frame), "sha256": digest.hexdigest()})
    return written


def what_is_left(figures: Mapping[str, Any]) -> str:
    """Say in plain words how much of a corpus is not released; '' where all of it is.

    Parameters
    ----------
    figures : mapping
        ``chunks`` and ``words`` of the corpus, ``left_out`` (the same of what is not released)
        where anything is, and ``summarised`` as for :func:`what_is_retold`.

    Examples
    --------
    >>> gone = {"chunks": 30, "words": 900}
    >>> what_is_left({"chunks": 40, "words": 1200, "left_out": gone})
    '30 chunks; what is released are 10 of 40, with 25% of the words'
    >>> retold = {"chunks": 5, "words": 200, "told": 80}
    >>> what_is_left({"chunks": 40, "words": 1200, "left_out": gone, "summarised": retold})
    '30 chunks; what is released are 10 of 40, with 15% of the words'
    >>> what_is_left({"chunks": 40, "words": 1200})
    ''
    """
    gone = figures.get("left_out")
    if not gone:
        return ""
    chunks, words = figures["chunks"], figures["words"]
    retold = figures.get("summarised", {"words": 0, "told": 0})
    kept = words - gone["words"] - retold["words"] + retold["told"]
    share = kept / words if words else 0.0
    much = f"{share:.0%}" if not 0.995 <= share < 1 else "over 99%"
    left = f"{chunks - gone['chunks']:,} of {chunks:,}, with {much} of the words"
    return (
        f"{gone['chunks']:,} chunk{'s' if gone['chunks'] != 1 else ''}; what is released are {left}"
    )


def what_is_retold(figures: Mapping[str, Any]) -> str:
    """Say in plain words how much of a corpus is released as summaries; '' where nothing is.

    Parameters
    ----------
    figures : mapping
        ``chunks`` of the corpus, and ``summarised`` (chunks, their words, and those of the
        summaries) where there are any.

    Examples
    --------
    >>> what_is_retold({"chunks": 40, "summarised": {"chunks": 9, "words": 900, "told": 400}})
    '9 of 40 chunks; of their 900 words the summaries have 400'
    """
    retold = figures.get("summarised")
    if not retold:
        return ""
    return (
        f"{retold['chunks']:,} of {figures['chunks']:,} chunks; of their {retold['words']:,} words "
        f"the summaries have {retold['told']:,}"
    )
