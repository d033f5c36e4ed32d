"""What two releases have in common: ``python -m tests.benchmarks.overlap_quarters``.

A corpus of 36 calls, and next quarter's: 27 of them again (3 corrected) and 9 new ones. Measured
with and without sticky swaps, and with and without a warm start of the mixture.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import nes_spark as nes
from nes_spark.demo import calls, config_path
from nes_spark.overlap import overlap_of

PERIODS = ("2031Q2", "2031Q3")


def main() -> None:
    """Run six pipelines and print what is repeated."""
    os.environ.setdefault("NES_SPARK_SEED", "a secret of the benchmark")
    made = [d for d, _ in calls(45, periods=(PERIODS[0],), length=0.5)]
    later = [d | {"financial_quarter": PERIODS[1]} for d in made[9:]]
    for document in later[:3]:
        turn = document["turns"][1]
        document["turns"] = [document["turns"][0], turn | {"text": "Corrected. " + turn["text"]}]
        document["turns"] += made[9 + later.index(document)]["turns"][2:]
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder, "calls.jsonl")
        corpus.write_text("".join(json.dumps(d) + "\n" for d in made[:36] + later))
        for sticky in (False, True):
            for warm in (None, "previous"):
                output = Path(folder, f"out-{sticky}-{warm}")
                # ids must be unique in a file, so each quarter has a file of its own
                for period, documents in zip(PERIODS, (made[:36], later), strict=True):
                    corpus.write_text("".join(json.dumps(d) + "\n" for d in documents))
                    nes.run(
                        nes.load_config(
                            config_path(),
                            {
                                "input.path": str(corpus),
                                "output.directory": str(output),
                                "period": period,
                                "mixture.n_components": 5,
                                "mixture.warm_start": warm,
                                "swapping.sticky": sticky,
                                "releases.combinations": [["Organization", "Product"]],
                                "releases.max_swaps": 60,
                                "choice.rule": "max_rate",
                                "choice.combination": ["Organization", "Product"],
                                "audit.linkage": False,
                                "report.examples": False,
                                "tracking.enabled": False,
                            },
                        )
                    )
                found = overlap_of(output / PERIODS[0], output / PERIODS[1])
                print(f"\nsticky {sticky}, warm start {warm}\n{found}", flush=True)


if __name__ == "__main__":
    main()
