"""Reading, chunking, recognition, embedding and the search for leaks: text per processor second.

Run as ``python -m tests.benchmarks.bench_text [--documents N]``. The texts are generated calls, or
with ``--config FILE --input FILE`` those of a file; the work of each step is what one Spark task
does, without Spark and without what is loaded first. Digests of the results tell whether two
versions of the code agree.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from nes_spark.config import load_config
from nes_spark.demo import config_path
from nes_spark.demo.calls import calls
from nes_spark.embedding import load_embedder
from nes_spark.entities import load_recognizer
from nes_spark.text.chunking_stages import chunk_rows
from nes_spark.text.leaks import own_leaks
from nes_spark.text.matching import Matcher
from nes_spark.text.reading import Document, RawDocument, prepare_document, read_record
from nes_spark.text.reading_stages import document_row


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.bench_text")
    parser.add_argument("--documents", type=int, default=150)
    parser.add_argument("--length", type=float, default=2.6)
    parser.add_argument("--config", type=Path, default=config_path())
    parser.add_argument("--input", type=Path, help="JSON Lines that the configuration describes.")
    options = parser.parse_args()
    config = load_config(options.config)
    if options.input is None:
        records = [document for document, _ in calls(options.documents, length=options.length)]
    else:
        lines = options.input.read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines[: options.documents]]
    raw = [read_record(record, config.input, None, "") for record in records]
    found = [document for document in raw if isinstance(document, RawDocument)]
    size = sum(len(d.text or "") + sum(len(turn.text) for turn in d.turns) for d in found)
    embedder = load_embedder(config.embedding)
    recognizer = load_recognizer(config.entities.recognizer, config.entities)
    recognizer(["Warm up."])
    embedder.embed(["Warm up."])

    def read(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        found = []
        for record in records:
            raw = read_record(record, config.input, None, "")
            if isinstance(raw, RawDocument):
                document = prepare_document(
                    raw, config.presentation, config.identifiers, config.input.min_characters
                )
                if isinstance(document, Document):
                    found.append(document_row(document))
        return found

    def search(documents: list[dict[str, Any]], chunks: list[dict[str, Any]]) -> list[Any]:
        """Search the texts for the identifiers of their documents, as the gate does."""
        own = {d["document_id"]: d["identifiers"] for d in documents}
        matchers = {name: Matcher.of(known, config.identifiers) for name, known in own.items()}
        return [own_leaks(c["text"], matchers[c["document_id"]], c["document_id"]) for c in chunks]

    def measured(name: str, characters: int, work: Callable[[], Any]) -> Any:
        began = time.process_time()
        result = work()
        spent = time.process_time() - began
        digest = hashlib.sha256(repr(result).encode()).hexdigest()[:12]
        print(f"{name:<12}{spent:7.2f} s {characters / spent / 1e6:8.2f} MB/s   {digest}")
        return result

    read(records[:1])
    documents = measured("reading", size, lambda: read(records))
    kept = sum(len(document["text"]) for document in documents)
    print(f"{'':<12}{kept / size:.0%} of {size / 1e6:.1f} MB are kept")
    chunks = measured(
        "chunking",
        kept,
        lambda: [
            row
            for document in documents
            for row in chunk_rows(document, embedder, config.chunking, config.identifiers)
        ],
    )
    texts = [row["text"] for row in chunks]
    measured("recognition", kept, lambda: recognizer(texts))
    measured("embedding", kept, lambda: embedder.embed(texts).tobytes())
    measured("leaks", kept, lambda: search(documents, chunks))


if __name__ == "__main__":
    main()
