"""How many documents and chunks of a finished run do the attackers name before swapping?

Run as ``python -m tests.benchmarks.bench_attackers --run FOLDER``, FOLDER being the folder of a
period of a run, with ``stages/chunks`` and ``stages/mentions``. Printed are, for the original texts
as suppressed, the half-known attack on documents and the attack on the chunks that hold a mention,
left out of what is known and known, with 95 % intervals that resample documents, and the seconds
that each took.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from nes_spark.audit.chunk_attack import attack_chunks
from nes_spark.audit.documents import attack_documents, half_known
from nes_spark.audit.shares import summary_of


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.bench_attackers")
    parser.add_argument("--run", type=Path, required=True, help="Folder of a period of a run.")
    parser.add_argument("--key", default="1", help="Of the hash that halves documents.")
    options = parser.parse_args()
    stages = options.run / "stages"
    chunks = pd.read_parquet(stages / "chunks")
    named = set(pd.read_parquet(stages / "mentions", columns=["chunk_id"])["chunk_id"])
    chunks = chunks.assign(text_before=chunks["text"], text_after=chunks["text"])
    documents = dict(zip(chunks["chunk_id"], chunks["document_id"], strict=True))

    attacks: dict[str, tuple[Callable[[], pd.DataFrame], dict[str, str] | None]] = {
        "documents, half known": (
            lambda: attack_documents(*half_known(chunks, options.key.encode())),
            None,
        ),
        "chunks with names, left out": (lambda: attack_chunks(chunks, asked=named), documents),
        "chunks with names, known": (
            lambda: attack_chunks(chunks, exposure="known", asked=named),
            documents,
        ),
    }
    for title, (attack, groups) in attacks.items():
        cpu, wall = time.process_time(), time.perf_counter()
        found = attack()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        print(f"{title}: {wall:.1f} s, {cpu:.1f} CPU s")
        print(summary_of(found, groups).round(3).to_string(index=False), end="\n\n")


if __name__ == "__main__":
    main()
