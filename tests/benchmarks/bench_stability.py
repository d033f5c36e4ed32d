"""Is the same release chosen under other seeds, or does the run call its choice a toss?

Run as ``python -m tests.benchmarks.bench_stability CONF --input PATH --work DIR [--seeds 10]
[--set key=value ...]``. Every seed has a run folder below DIR; stages that do not depend on the
seed are copied from the first one. Stages and choice are those of ``nes-spark run``; nothing is
attacked after the choice, and nothing is published. The seeds are ``sha256("seed 0")``, .. DIR may
be used again: what is up to date there is not made again, so a changed rule of choice
(``--set choice.rule=line``) takes seconds. ``--risk-only`` stops at the swaps and chooses by DR, in
this process: what rule ``lowest_risk`` of plan ``pairs`` comes to without a bound, as it looks at
utility in exact ties alone. Nothing here is asserted.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import yaml

import nes_spark as nes
from nes_spark.config import Config
from nes_spark.entities.combination import Combination
from nes_spark.releases.decision import decide, draws_of
from nes_spark.risk import comparable_population, disclosure_risk
from nes_spark.risk.measure import swapped_uniques
from nes_spark.risk.tables import fit_of, p_hat_table
from nes_spark.run.choice import RESAMPLED, with_doubt
from nes_spark.run.context import Context, open_run
from nes_spark.run.pipeline import STAGES
from nes_spark.run.release import choose_candidate
from nes_spark.session import get_session
from tests.benchmarks.bench_calibration import markdown

VARIABLE = "NES_SPARK_SEED"
BEFORE_REWRITING = (
    "documents",
    "embedder",
    "chunks",
    "mentions",
    "cells",
    "embeddings",
    "mixture",
    "assignments",
    "swaps",
    "risk_fits",
)


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
    risk, utility = getattr(choice, choice.risk), getattr(choice, choice.utility)
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


def chosen_by_risk(context: Context) -> dict[str, Any]:
    """Make the stages up to the swaps and take the lowest DR over the draws."""
    started = time.perf_counter()
    for stage in STAGES:
        if stage.name in BEFORE_REWRITING:
            key = stage.key(context)
            if not stage.is_current(context, key):
                stage.execute(context, key)
    store, config = context.store, context.config
    fits = {r["combination"]: fit_of(r) for r in store.read_pandas("risk_fits").to_dict("records")}
    cells = store.read_pandas("cells", ["chunk_id", "cell"])
    N = comparable_population(len(cells))
    rows = []
    for name, sequences in store.read_pandas("swaps").groupby("combination"):
        categories = Combination.parse(str(name))
        values = [tuple(dict(c).get(j) or "" for j in categories) for c in cells["cell"]]
        counts = Counter(values)
        unique = {
            chunk
            for chunk, value in zip(cells["chunk_id"], values, strict=True)
            if any(value) and counts[value] == 1
        }
        fit = fits[str(name)]
        for draw, swaps in sequences.groupby("draw"):
            ids = swaps.sort_values("order")[["chunk_a", "chunk_b"]].to_numpy()
            touched = swapped_uniques(ids, np.array([[c in unique for c in row] for row in ids]))
            risk = disclosure_risk(touched, fit.s1, float(fit.p_hat(N)))
            rows += [(name, k, draw, x, 1.0) for k, x in enumerate(risk, 1)]
    scores = pd.DataFrame(rows, columns=["combination", "n_swaps", "draw", "DR", "DU"])
    draws = with_doubt(
        draws_of(scores, config.releases.draws),
        p_hat_table(store.read_pandas("risk_fits"), [N]),
    )
    found = decide(draws, resamples=config.choice.resamples, seed=RESAMPLED)
    combination, swaps = cast("tuple[str, int]", draws.names[found.chosen])
    return {
        "combination": combination,
        "candidate": f"{swaps} swaps",
        "swaps": swaps,
        "DR": float(found.risk[found.chosen]),
        "draws that reached it": int(found.n_draws[found.chosen]),
        "tied": len(found.tied),
        "stability": f"{found.confidence:.2f}",
        "called a toss": "yes" if found.is_toss else "no",
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
    parser.add_argument("--risk-only", action="store_true")
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
            made = chosen_by_risk(context) if arguments.risk_only else chosen(context)
            rows.append({"seed": seed, **made})
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
