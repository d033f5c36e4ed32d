"""What a correction and the next quarter cost: ``python -m tests.benchmarks.bench_reuse``.

Generated calls; the stages up to the embeddings run from nothing, with 1 % of the calls corrected
in the same folder, for a next quarter in which 90 % of the calls come again, and for that quarter
from nothing. Processor seconds are those of all processes and can be compared on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import tempfile
from pathlib import Path

import nes_spark as nes
from nes_spark import logs
from nes_spark.demo import calls, config_path
from nes_spark.run.forecast import Meter
from nes_spark.store import Store
from tests.jobs import seed_named

STEPS = ("documents", "embedder", "chunks", "recognised", "mentions", "embeddings")
SHOWN = ("chunks", "recognised", "embeddings")
PERIODS = ("2031Q2", "2031Q3")


class _Lines(logging.Handler):
    """Keeps what the log says of stages."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, dict] = {}

    def emit(self, record: logging.LogRecord) -> None:
        facts = getattr(record, "facts", {})
        if "stage" in facts:
            self.found[facts["stage"]] = facts


def _corrected(document: dict) -> dict:
    words = json.dumps(document["turns"][1]["text"])[1:-1]
    return json.loads(json.dumps(document).replace(words, "A corrected word. " + words, 1))


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=500)
    options = parser.parse_args()
    os.environ.setdefault("NES_SPARK_SEED", seed_named("reuse"))
    made = [d for d, _ in calls(round(1.1 * options.documents), periods=(PERIODS[0],))]
    first, late = made[: options.documents], made[options.documents :]
    tenth = len(late)
    corrected = [*map(_corrected, first[: len(first) // 100]), *first[len(first) // 100 :]]
    later = [*corrected[tenth:], *late]
    with tempfile.TemporaryDirectory() as folder, Meter() as meter:
        corpus = Path(folder, "calls.jsonl")
        logs.configure(quiet=True)
        logs.LOGGER.setLevel(logging.INFO)
        lines = _Lines()
        logs.LOGGER.handlers[:] = [lines]
        spark = None
        print("run | stage | taken | of | seconds | processor seconds")
        for name, listed, output, period, anew in (
            ("warm-up", first[:20], "warm", PERIODS[0], True),
            ("from nothing", first, "out", PERIODS[0], False),
            ("1 % corrected", corrected, "out", PERIODS[0], False),
            ("next quarter", later, "out", PERIODS[1], False),
            ("the same from nothing", later, "fresh", PERIODS[1], True),
        ):
            rows = (json.dumps(d | {"financial_quarter": period}) + "\n" for d in listed)
            corpus.write_text("".join(rows))
            changes = {"input.path": str(corpus), "output.directory": f"{folder}/{output}"}
            changes |= {"period": period, "output.reuse": None if anew else "previous"}
            config = nes.load_config(config_path(), changes)
            if spark is None:
                from nes_spark.session import get_session

                spark = get_session(config.spark, short=True)
            spent = {}
            for step in STEPS:
                before = meter.processor()
                nes.run_stage(config, step, spark)
                spent[step] = meter.processor() - before
            if name == "warm-up":
                continue
            for step in SHOWN:
                facts = lines.found[step]
                taken = f"{facts['taken']:,} | {facts['of']:,}"
                print(f"{name} | {step} | {taken} | {facts['seconds']:.1f} | {spent[step]:.1f}")
            held = Store(f"{folder}/{output}/{period}")
            contents = [
                held.manifest(step).content for step in ("chunks", "mentions", "embeddings")
            ]
            print(f"{name} | tables: {_digest(contents)}", flush=True)


def _digest(contents: list[str]) -> str:
    """A short digest of several."""
    from nes_spark.store import combine

    return combine(*contents)[:12]


if __name__ == "__main__":
    main()
