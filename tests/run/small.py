"""A small corpus of invented calls and the settings of a quick run over it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import nes_spark as nes
from nes_spark.demo import calls, config_path
from tests.jobs import seed_named

SEED = seed_named("pipeline tests")
DOCUMENTS = 14
NAMES = ["Organization", "Person", "Product", "Location"]
BAD_LINES = ["{not json", json.dumps({"document_id": "no-metadata", "turns": []})]


def records(n: int = DOCUMENTS) -> list[dict]:
    """Documents as they stand in the input."""
    return [document for document, _ in calls(n, periods=("2031Q2",), length=0.6)]


def write_corpus(path: Path, shuffle: int | None = None, n: int = DOCUMENTS) -> Path:
    """Write documents and lines that cannot be read."""
    lines = [json.dumps(record) for record in records(n)] + BAD_LINES
    if shuffle is not None:
        random.Random(shuffle).shuffle(lines)
    path.write_text("\n".join(lines) + "\n")
    return path


def settings(corpus: Path, output: Path, **more):
    """Configuration of a run of plan ``pairs`` with two optional constraints."""
    overrides = {
        "input.path": str(corpus),
        "output.directory": str(output),
        "entities.sweep": "off",
        # what plan ``whole`` exchanges besides is recognised in both runs, which share their tables
        "entities.categories": [*NAMES, "Event", "Date", "Quantity", "Term"],
        "entities.terms": 15,
        "mixture.n_components": 3,
        "mixture.n_init": 1,
        "releases.plan": "pairs",
        "releases.draws": 2,
        "releases.constraints": {"min_cosine": 0.65, "max_count_difference": 2},
        "choice.rule": "line",
        "releases.max_swaps": 6,
        "report.examples": False,
        "audit.swap_aware_draws": 1,
        "utility.judge": "off",
        "audit.bootstrap": 100,
        "tracking.uri": f"sqlite:///{output}/mlflow.db",
        "tracking.register_model": "mixtures of small calls",
    }
    return nes.load_config(config_path(), overrides | more)


#: Changes that make a run of plan ``whole`` of it.
WHOLE = {
    "releases.plan": "whole",
    "releases.draws": 1,
    "releases.constraints": {},
    # further categories too; what has no donor goes with its chunk, and comes back from the ledger
    "releases.further": ["Quantity", "Term"],
    "releases.leftover": ["donor", "drop"],
    "ledger.keep_originals": True,
    "choice.rule": "lowest_risk",
    "audit.recognition": False,
    "utility.judge": "contextual",
    "utility.judge_texts": 150,
    "tracking.enabled": False,
}

#: Changes for runs of which nobody asks who can be named: attacks and tracking are left out.
UNATTACKED = {
    "audit.linkage": False,
    "audit.recognition": False,
    "audit.text": False,
    "audit.swap_aware": False,
    "audit.documents": False,
    "tracking.enabled": False,
}


def release_bytes(directory: str | Path) -> dict[str, bytes]:
    """Content of every file of a release by name."""
    folder = Path(directory, "release")
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir())}
