"""What the judge is asked in a run: about all candidates before the choice, then about the release.

The work is in :mod:`nes_spark.utility.judge`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nes_spark.errors import EstimationError
from nes_spark.run.context import Context, finished
from nes_spark.schemas import FIDELITY, JUDGED, UTILITY

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

    from nes_spark.config import Config
    from nes_spark.embedding import Embedder
    from nes_spark.releases.choice import Choice
    from nes_spark.utility.judge import Placing

#: Value of ``utility.judge`` that switches it off.
OFF = "off"


def load_judge() -> Embedder:
    """Return the encoder, on all cores that this process may use; no bit depends on how many."""
    from nes_spark.embedding.contextual import load_contextual

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return load_contextual(threads=max(1, cores or 1))


def check_judge(config: Config) -> None:
    """Load the judge before anything starts, so that a run that cannot be judged does not begin.

    Raises
    ------
    InputError
        When its model is not the one that the package came with.
    InfrastructureError
        When the runtime cannot load it.
    """
    if config.utility.judge != OFF:
        load_judge()


#: Chunks of 85 words a second that the encoder reads on two cores (see its model card).
_A_SECOND = 90


def describe_encoder(config: Config) -> list[str]:
    """Say for the plan of a run how long the contextual encoder will take, where it is used."""
    lines = []
    if config.utility.judge != OFF:
        texts = config.utility.judge_texts
        lines.append(
            f"judge: reads at most {texts:,} texts, about {texts / _A_SECOND:.0f} s on two cores "
            "whatever the size of the corpus"
        )
    if config.embedding.model == "contextual":
        lines.append(
            f"embedding.model contextual: about {_A_SECOND} chunks a second on two cores (the "
            "bundled vectors: 40,000 sentences), twice over: before and after swapping"
        )
    return lines


def judged_setting(context: Context) -> str:
    """The mixture setting that the release will be chosen in: the only one that is judged."""
    from nes_spark.mixture.settings import settings_of

    config = context.config
    return config.choice.setting or settings_of(config.mixture)[0].name


def judge_stage(context: Context) -> dict[str, list[tuple[Any, ...]]]:
    """Give tables ``judged`` and ``fidelity``."""
    from nes_spark.releases.scoring import tenths
    from nes_spark.swapping.stages import apply_must_change
    from nes_spark.utility.judge import CANDIDATES_SHARE, judge_candidates
    from nes_spark.utility.judge_stages import collect_histories
    from nes_spark.utility.sampling import sampling_key

    config = context.config
    texts: list[dict[str, Any]] = []
    fidelity: list[dict[str, Any]] = []
    if config.utility.judge != OFF:
        whole = config.releases.plan == "whole"
        must_change = config.releases.must_change
        moved = context.shifts()
        setting, key = judged_setting(context), sampling_key(context.secret)
        budget = math.floor(CANDIDATES_SHARE * config.utility.judge_texts)
        judge = load_judge()

        def replaced(chunks: DataFrame, mentions: DataFrame) -> DataFrame:
            held = mentions.join(chunks.select("chunk_id"), "chunk_id", "left_semi")
            return apply_must_change(
                chunks, held, must_change, shift=config.releases.shift, shifts=moved
            )

        histories, before, reach = collect_histories(
            context.table("rewrites"),
            context.table("chunks"),
            context.table("mentions"),
            context.table("assignments"),
            setting,
            (*must_change, *config.releases.shift),
            replaced,
            1 if whole else config.releases.draws,
            key,
            budget,
            tenths if whole else None,
        )
        candidates: dict[str, list[int]] = {}
        for (combination, _), longest in sorted(reach.longest.items()):
            numbers = tenths(longest) if whole else [*range(1, longest + 1)]
            if len(numbers) > len(candidates.get(combination, ())):
                candidates[combination] = numbers
        found = judge_candidates(histories, before, reach, candidates, judge.embed, budget, key)
        texts = [{"setting": setting, **row} for row in found.texts]
        fidelity = [{"setting": setting, **row} for row in found.fidelity]

    def table(rows: list[dict[str, Any]], names: Sequence[str]) -> list[tuple[Any, ...]]:
        return [tuple(_null(row[name]) for name in names) for row in rows]

    return {"judged": table(texts, JUDGED.names), "fidelity": table(fidelity, FIDELITY.names)}


def judge_details(context: Context) -> dict[str, Any]:
    """What the manifest says of the judge: its model, and the texts that it read."""
    if context.config.utility.judge == OFF:
        return {"judge": OFF}
    digests = context.store.read_pandas("judged", ["digest"])["digest"]
    return {"judge": load_judge().model_id, "texts": int(digests.nunique())}


def judge_chosen(
    context: Context, choice: Choice, assembled: DataFrame, exchanged: DataFrame | None = None
) -> list[tuple[Any, ...]] | None:
    """Measure what the chosen release cost, beside its anchors.

    Parameters
    ----------
    context : Context
        Of a run whose stages are finished.
    choice : Choice
        The release.
    assembled : pyspark.sql.DataFrame
        Every chunk as it is released, with its edits.
    exchanged : pyspark.sql.DataFrame, optional
        The same before chunks were withheld or summarised, where any were.

    Returns
    -------
    list of tuple or None
        Rows of table ``utility``; None where the judge is off. Nothing is written.
    """
    from nes_spark.utility import load_task
    from nes_spark.utility.judge import RELEASE, judge_release
    from nes_spark.utility.judge_stages import collect_released
    from nes_spark.utility.sampling import sampling_key

    config, store = context.config, context.store
    if config.utility.judge == OFF:
        return None
    judge, sample_key = load_judge(), sampling_key(context.secret)
    read = store.read_pandas("judged", ["digest", "vector"]).dropna()
    known = {
        digest: np.asarray(vector, dtype=np.float32)
        for digest, vector in zip(read["digest"], read["vector"], strict=True)
    }
    budget = max(config.utility.judge_texts - len(known), 1)
    chunks, assignments = context.table("chunks"), context.table("assignments")
    most = budget + len(known)
    released = collect_released(
        assembled, chunks, assignments, choice.setting, sample_key, most, exchanged
    )
    rows = judge_release(
        released,
        finished(store, "chunks").rows,
        judge.embed,
        budget,
        sample_key,
        _placing(context, choice),
        known,
        [load_task(path) for path in config.utility.tasks],
    )
    # the scores are those of the exchanges
    exact = _exact_du(context, choice) if exchanged is None else None
    for row in rows:
        if exact is not None and row["subject"] == RELEASE and row["measure"] == "DU":
            row |= {"value": exact, "corpus": exact, "standard_error": math.nan}
            row["chunks"] = row["changed"]
    return [tuple(_null(row[name]) for name in UTILITY.names) for row in rows]


def utility_record(utility: pd.DataFrame) -> dict[str, Any]:
    """Return table ``utility`` as release.json has it: measure -> figures, with the anchors'."""
    from nes_spark.plain import plain
    from nes_spark.utility.judge import RELEASE

    found: dict[str, Any] = {}
    for row in utility.to_dict("records"):
        if row["subject"] == RELEASE:
            own = {n: row[n] for n in ("value", "standard_error", "corpus", "chunks", "changed")}
            found[row["measure"]] = {**found.get(row["measure"], {}), **own}
        else:
            anchors = found.setdefault(row["measure"], {}).setdefault("anchors", {})
            anchors[row["subject"]] = {n: row[n] for n in ("value", "standard_error", "chunks")}
    return dict(plain(found, missing=True))


def utility_metrics(utility: pd.DataFrame | None) -> dict[str, float]:
    """Return table ``utility`` for MLflow; what has no figure is left out."""
    from nes_spark.utility.judge import RELEASE

    if utility is None:
        return {}
    return {
        f"utility/{row['measure']}"
        + ("" if row["subject"] == RELEASE else f"/{row['subject']}"): float(row["value"])
        for row in utility.dropna(subset=["value"]).to_dict("records")
    }


def _placing(context: Context, choice: Choice) -> Placing:
    """How the mixture of the run places texts, by the embedder of the run."""
    from pyspark.sql import functions as F

    from nes_spark.embedding import load_embedder
    from nes_spark.utility.judge import Placing

    spec = context.spec()
    embedder, model = load_embedder(spec), context.models()[choice.setting]
    densities = context.table("assignments").where(F.col("setting") == choice.setting)
    (total,) = densities.agg(F.sum(F.col("log_density").cast("decimal(30,9)"))).collect()[0]

    def place(texts: Sequence[str], before: Any) -> tuple[Any, Any]:
        vectors = embedder.embed(list(texts))
        return model.assign(vectors)[0], model.log_density_at(vectors, before)

    return Placing(place, float(total), anchors=spec.kind != "openai")


def _exact_du(context: Context, choice: Choice) -> float | None:
    """DU of the released draw from table ``scores``, over all changed chunks."""
    if not choice.swapped:
        return None
    mine = context.store.read_pandas(
        "scores",
        ["DU"],
        {
            "setting": [choice.setting],
            "population": [choice.population],
            "combination": [choice.combination.name],
            "draw": [choice.draw],
            "n_swaps": [choice.n_swaps],
        },
    )
    if len(mine) != 1:
        raise EstimationError(
            f"the chosen release (draw {choice.draw}, {choice.n_swaps} swaps) has no score of its "
            "own: the draw did not reach that number of swaps",
            "no_candidates",
        )
    return float(mine["DU"].iloc[0])


def _null(value: Any) -> Any:
    """Give Spark None for NaN, and Python's own numbers."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value
