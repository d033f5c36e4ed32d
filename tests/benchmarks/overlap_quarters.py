"""What two releases have in common: ``python -m tests.benchmarks.overlap_quarters``.

Whole pipelines over a quarter of 36 calls and over a next one that holds the same calls; the same
and a new one; or 24 of them, 3 more corrected, and 9 new ones. Measured with sticky swaps and a
warm start of the mixture; the first also without. ``--whole`` does the same with plan ``whole``,
terms, quantities and dates, for chunks and for documents as units.
"""

from __future__ import annotations

import argparse
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


#: The paper's plan, until no valid pair is left.
PAIRS: dict[str, Any] = {
    "releases.plan": "pairs",
    "releases.combinations": [["Organization", "Product"]],
    "releases.draws": 2,
    "releases.max_swaps": 60,
    "choice.rule": "max_rate",
    "choice.combination": ["Organization", "Product"],
}
#: All that can be exchanged.
WHOLE: dict[str, Any] = {
    "entities.sweep": "treat",
    "entities.categories": [
        *("Organization", "Person", "Event", "Product", "Location", "Date", "Name", "Quantity"),
        "Term",
    ],
    "releases.plan": "whole",
    "releases.swap": ["Organization", "Person", "Product", "Location", "Name"],
    "releases.further": ["Term", "Quantity"],
    "releases.shift": ["Date"],
    "releases.donors": 24,
    "swapping.matching": "similar",
    "choice.rule": "coverage",
    "choice.coverage": 1.0,
    "utility.judge": "off",
}


def run(
    corpus: Path,
    output: Path,
    documents: Sequence[dict[str, Any]],
    period: str,
    sticky: bool,
    more: dict[str, Any],
):
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
        "audit.linkage": False,
        "report.examples": False,
        "tracking.enabled": False,
    }
    nes.run(nes.load_config(config_path(), settings | more))


def main() -> None:
    """Run the pairs of quarters and print what is repeated."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--whole", action="store_true", help="plan whole, with all its categories")
    chosen = parser.parse_args()
    ways = {"": PAIRS}
    if chosen.whole:
        ways = {f", unit {u}": WHOLE | {"releases.unit": u} for u in ("chunk", "document")}
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
        cases = [
            (name, sticky, words, more)
            for words, more in ways.items()
            for number, name in enumerate(quarters)
            for sticky in ((True, False) if number == 0 or chosen.whole else (True,))
        ]
        for k, (name, sticky, words, more) in enumerate(cases):
            output = Path(folder, f"out-{k}")
            run(corpus, output, made[:36], PERIODS[0], sticky, more)
            run(corpus, output, quarters[name], PERIODS[1], sticky, more)
            found = overlap_of(output / PERIODS[0], output / PERIODS[1])
            print(f"\n{name}{words}, sticky {sticky}\n{found}", flush=True)


if __name__ == "__main__":
    main()
