"""Reading, chunking, recognition and embedding in one process: text per processor second.

Run as ``python -m tests.benchmarks.bench_text [--documents N]``. The texts are generated calls; the
work of each step is what one Spark task does, without Spark. Digests of the results tell whether
two versions of the code agree.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Callable
from typing import Any

from nes_spark.config import load_config
from nes_spark.demo import config_path
from nes_spark.demo.calls import calls
from nes_spark.embedding import load_embedder
from nes_spark.entities import load_recognizer
from nes_spark.text.chunking_stages import chunk_rows
from nes_spark.text.reading import Document, prepare_document, read_record
from nes_spark.text.reading_stages import document_row


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.bench_text")
    parser.add_argument("--documents", type=int, default=150)
    parser.add_argument("--length", type=float, default=2.6)
    options = parser.parse_args()
    config = load_config(config_path())
    records = [document for document, _ in calls(options.documents, length=options.length)]
    size = sum(len(turn["text"]) for record in records for turn in record["turns"])
    embedder = load_embedder(config.embedding)
    recognizer = load_recognizer(config.entities.recognizer, config.entities)
    recognizer(["Warm up."])
    embedder.embed(["Warm up."])

    def read() -> list[dict[str, Any]]:
        found = []
        for record in records:
            raw = read_record(record, config.input, None, "")
            document = prepare_document(
                raw, config.presentation, config.identifiers, config.input.min_characters
            )
            assert isinstance(document, Document)
            found.append(document_row(document))
        return found

    def measured(name: str, characters: int, work: Callable[[], Any]) -> Any:
        began = time.process_time()
        result = work()
        spent = time.process_time() - began
        digest = hashlib.sha256(repr(result).encode()).hexdigest()[:12]
        print(f"{name:<12}{spent:7.2f} s {characters / spent / 1e6:8.2f} MB/s   {digest}")
        return result

    documents = measured("reading", size, read)
    kept = sum(len(document["text"]) for document in documents)
    print(f"{'':<12}{kept / size:.0%} of {size / 1e6:.1f} MB are presentation")
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


if __name__ == "__main__":
    main()
