"""What two releases have in common: ``python -m tests.benchmarks.overlap_quarters``.

Whole pipelines over a quarter of 36 calls and over a next one that holds the same calls; the same
and a new one; or 24 of them, 3 more corrected, and 9 new ones. Measured with sticky swaps and a
warm start of the mixture; the first also without.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nes_spark as nes
from nes_spark.compare.overlap import overlap_of
from nes_spark.demo import calls, config_path
from tests.jobs import seed_named

PERIODS = ("2031Q2", "2031Q3")


def run(corpus: Path, output: Path, documents: Sequence[dict[str, Any]], period: str, sticky: bool):
    """Publish one quarter."""
    # ids must be unique in a file, so each quarter has a file of its own
    relabelled = [d | {"financial_quarter": period} for d in documents]
    corpus.write_text("".join(json.dumps(d) + "\n" for d in relabelled))
    settings = {
        "input.path": str(corpus),
        "output.directory": str(output),
        "period": period,
        "mixture.n_components": 5,
        "mixture.warm_start": "previous" if sticky else None,
        "swapping.sticky": sticky,
        "releases.combinations": [["Organization", "Product"]],
        "releases.draws": 2,
        "releases.max_swaps": 60,
        "choice.rule": "max_rate",
        "choice.combination": ["Organization", "Product"],
        "audit.linkage": False,
        "report.examples": False,
        "tracking.enabled": False,
    }
    nes.run(nes.load_config(config_path(), settings))


def main() -> None:
    """Run the pairs of quarters and print what is repeated."""
    os.environ.setdefault("NES_SPARK_SEED", seed_named("the benchmark"))
    made = [d for d, _ in calls(45, periods=(PERIODS[0],), length=0.5)]
    changed = list(made[9:])
    for n, document in enumerate(changed[:3]):
        first, second, *_ = document["turns"]
        said = second | {"text": "Corrected. " + second["text"]}
        changed[n] = document | {"turns": [first, said, *document["turns"][2:]]}
    quarters = {
        "the same calls": made[:36],
        "one new call": made[:37],
        "9 gone, 3 corrected, 9 new": changed,
    }
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder, "calls.jsonl")
        for number, (name, later) in enumerate(quarters.items()):
            for sticky in (True, False) if number == 0 else (True,):
                output = Path(folder, f"out-{number}-{sticky}")
                run(corpus, output, made[:36], PERIODS[0], sticky)
                run(corpus, output, later, PERIODS[1], sticky)
                found = overlap_of(output / PERIODS[0], output / PERIODS[1])
                print(f"\n{name}, sticky {sticky}\n{found}", flush=True)


if __name__ == "__main__":
    main()
