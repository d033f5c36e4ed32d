"""Is the same release chosen under other seeds, or does the run call its choice a toss?

Run as ``python -m tests.benchmarks.bench_stability CONF --input PATH --work DIR [--seeds 10]
[--set key=value ...]``. Every seed has a run folder below DIR; stages that do not depend on the
seed are copied from the first one. Stages and choice are those of ``nes-spark run``; nothing is
attacked after the choice, and nothing is published. The seeds are ``sha256("seed 0")``, .. DIR may
be used again: what is up to date there is not made again, so a changed rule of choice
(``--set choice.rule=line``) takes seconds. Nothing here is asserted.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

import nes_spark as nes
from nes_spark.config import Config
from nes_spark.run.context import Context, open_run
from nes_spark.run.pipeline import STAGES
from nes_spark.run.release import choose_candidate
from nes_spark.session import get_session
from tests.benchmarks.bench_calibration import markdown

VARIABLE = "NES_SPARK_SEED"


def seed_of(number: int) -> str:
    """256 bits for a numbered seed, as ``printf 'seed 3' | sha256sum``."""
    return hashlib.sha256(f"seed {number}".encode()).hexdigest()


def share_stages(first: Path, own: Path) -> list[str]:
    """Copy the finished tables of the first seed that another seed does not change."""
    drawn: set[str] = set()
    shared = []
    for stage in STAGES:
        if stage.draws or drawn & set(stage.needs):
            drawn |= set(stage.gives)
            continue
        for name in stage.gives:
            source, target = first / "stages" / name, own / "stages" / name
            if not target.exists():
                shutil.copytree(source, target)
            shared.append(name)
    return shared


def chosen(context: Context) -> dict[str, Any]:
    """Bring the stages up to date and choose; what a table shows of it."""
    started = time.perf_counter()
    for stage in STAGES:
        key = stage.key(context)
        if not stage.is_current(context, key):
            stage.execute(context, key)
    candidates, choice = choose_candidate(context, context.models())
    mine = choice.space(candidates)
    longest = int(mine["n_swaps"].max()) or 1
    whole = context.config.releases.plan == "whole"
    share = f"{choice.n_swaps / longest:.0%} of the exchanges"
    risk = choice.measured if choice.risk == "measured" else choice.DR
    utility = choice.fidelity if choice.utility == "fidelity" else choice.DU
    return {
        "combination": choice.combination.name or "nothing",
        "candidate": share if whole else f"{choice.n_swaps} swaps",
        "swaps": choice.n_swaps,
        choice.risk: float("nan") if risk is None else float(risk),
        choice.utility: float("nan") if utility is None else float(utility),
        "tied": choice.tied,
        "stability": "none" if choice.stability is None else f"{choice.stability:.2f}",
        "called a toss": "yes" if choice.is_toss else "no",
        "seconds": round(time.perf_counter() - started),
    }


def configured(arguments: argparse.Namespace, seed: int) -> Config:
    """The configuration with the run folder of a seed."""
    more = {}
    for text in arguments.set:
        key, _, value = text.partition("=")
        more[key] = yaml.safe_load(value)
    own = {
        "input.path": str(Path(arguments.input).resolve()),
        "output.directory": str(arguments.work / f"seed{seed}"),
        "seed.env": VARIABLE,
        "tracking.enabled": False,
    }
    return nes.load_config(arguments.config, overrides=own | more)


def main() -> None:
    """Print one row a seed, and how often the most frequent choice was made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config")
    parser.add_argument("--input", required=True)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--set", action="append", default=[])
    arguments = parser.parse_args()
    spark = get_session(configured(arguments, 0).spark, "bench_stability")
    rows = []
    for seed in range(arguments.seeds):
        os.environ[VARIABLE] = seed_of(seed)
        config = configured(arguments, seed)
        own = arguments.work / f"seed{seed}" / "all"
        if seed:
            share_stages(arguments.work / "seed0" / "all", own)
        with open_run(config, spark) as context:
            rows.append({"seed": seed, **chosen(context)})
        print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    print()
    print(markdown(table))
    ((categories, same),) = Counter(table["combination"]).most_common(1)
    both = Counter(zip(table["combination"], table["candidate"], strict=True))
    (((_, candidate), times),) = both.most_common(1)
    tosses = int((table["called a toss"] == "yes").sum())
    print(
        f"\n{len(table)} seeds: {categories} in {same}, with {candidate} in {times}; "
        f"called a toss in {tosses}"
    )
    spark.stop()


if __name__ == "__main__":
    main()
