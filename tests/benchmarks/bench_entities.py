"""Throughput of the bundled recogniser: alone, and as a Spark stage on the same cores.

Run as ``python -m tests.benchmarks.bench_entities [--texts FILE] [--copies N] [--cores N]``. FILE
is JSON Lines with ``turns``; without it, text of the bundled demonstration is used. Printed are CPU
seconds and wall seconds, because wall time says little on a busy machine, and the ratio of the
stage's throughput to that of ``nlp.pipe`` called directly in as many processes.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from pathlib import Path

SENTENCE = (
    "Thank you, Ann. In the third quarter of 2020, Northwind Energy opened a plant in Boston, and "
    "sales of HomeGuard rose by 12% year over year, while adjusted EBITDA was flat. "
)


def texts_of(path: str | None, copies: int, words: int = 90) -> list[str]:
    """Return chunks of about ``words`` words."""
    if path is None:
        return [SENTENCE * 3] * (200 * copies)
    chunks: list[str] = []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        for turn in json.loads(line)["turns"]:
            parts = turn["text"].split()
            chunks += [" ".join(parts[i : i + words]) for i in range(0, len(parts), words)]
    return chunks * copies


def _direct(texts: list[str]) -> tuple[float, float]:
    from nes_spark.entities import load_recognizer

    nlp = load_recognizer("bundled").nlp
    list(nlp.pipe(texts[:64], batch_size=64))
    cpu, wall = time.process_time(), time.perf_counter()
    for _ in nlp.pipe(texts, batch_size=64):
        pass
    return time.process_time() - cpu, time.perf_counter() - wall


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.bench_entities")
    parser.add_argument("--texts")
    parser.add_argument("--copies", type=int, default=100, help="Of the texts; 3 do for a FILE.")
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    texts = texts_of(options.texts, options.copies)
    words = sum(len(t.split()) for t in texts)

    from nes_spark.entities import recognizers

    recognizers._load_pipeline("bundled")
    cpu = time.process_time()
    recognizers._load_pipeline("bundled")
    print(f"load: {time.process_time() - cpu:.2f} CPU s")

    parts = [texts[i :: options.cores] for i in range(options.cores)]
    with multiprocessing.get_context("spawn").Pool(options.cores) as pool:
        direct = pool.map(_direct, parts)
    cpu_direct = sum(c for c, _ in direct)
    wall_direct = max(w for _, w in direct)
    print(f"{len(texts)} chunks, {words} words")
    print(f"nlp.pipe, {options.cores} processes: {words / cpu_direct:.0f} words per CPU second,")
    print(f"    {words / wall_direct:.0f} words per second")

    from nes_spark.config import EntitiesConfig, SparkConfig
    from nes_spark.entities.stages import recognize
    from nes_spark.session import get_session

    spark = get_session(SparkConfig.model_validate({"master": f"local[{options.cores}]"}))
    rows = [(f"d{i // 40}#{i % 40:05d}", f"d{i // 40}", text) for i, text in enumerate(texts)]
    frame = spark.createDataFrame(rows, "chunk_id string, document_id string, text string")
    frame = frame.repartition(options.cores).cache()
    frame.count()
    config = EntitiesConfig.model_validate({"linking": False, "corpus_consistency": False})
    # As in the processes above, every worker has loaded the pipeline before the clock starts.
    few = frame.where("hash(chunk_id) % 50 = 0")
    recognize(few, config).count()
    for name, settings in (
        ("recognition", config),
        ("with linking", EntitiesConfig.model_validate({})),
    ):
        started = time.perf_counter()
        found = recognize(frame, settings).count()
        wall = time.perf_counter() - started
        print(
            f"stage, {name}: {words / wall:.0f} words per second, {found} mentions, "
            f"ratio to nlp.pipe {wall_direct / wall:.2f}"
        )
    spark.stop()


if __name__ == "__main__":
    main()
