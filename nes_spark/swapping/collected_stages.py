"""Spark: plan ``whole`` of a small corpus, drawn on the driver by the form in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from nes_spark.calling import called
from nes_spark.config import ReleasesConfig, SwappingConfig
from nes_spark.entities.clues import CLUE
from nes_spark.entities.terms import TERM
from nes_spark.errors import parameter_error
from nes_spark.schemas import PLAN, PLAN_LEFTOVERS
from nes_spark.session import collected
from nes_spark.swapping.constraints import Constraint, columns_needed, constraints_of
from nes_spark.swapping.plan import Plan, sample_plan
from nes_spark.swapping.treatments import is_ours
from nes_spark.swapping.whole import PlanOptions, own_terms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Plans of so many chunks are drawn in workers: attackers are made ready on the driver meanwhile.
MANY_CHUNKS = 2000

#: What a constraint may ask for that is no fact of a chunk's row in the table of facts.
_KNOWN = frozenset({"component", "swaps_before", "concentration", "covariates"})


def collected_plans(
    cells: DataFrame,
    assignments: DataFrame,
    options: PlanOptions,
    releases: ReleasesConfig,
    swapping: SwappingConfig,
    secret: bytes,
    *,
    concentrations: Mapping[str, Sequence[float]] | None = None,
    covariates: DataFrame | None = None,
    embeddings: DataFrame | None = None,
    own_names: DataFrame | None = None,
    terms_are_own: bool = False,
    facts: DataFrame | None = None,
    means: Mapping[str, Any] | None = None,
    read: dict[str, Any] | None = None,
) -> tuple[DataFrame, DataFrame]:
    """Draw the plans of all settings and draws with :func:`nes_spark.swapping.sample_plan`.

    The tables come to the driver: for corpora of which a Spark job costs more than the work. Of
    :data:`MANY_CHUNKS` and more each plan is drawn in a worker, whole.

    Parameters
    ----------
    cells, assignments : pyspark.sql.DataFrame
        Tables CELLS and ASSIGNMENTS.
    options, releases, swapping, secret
        As for :func:`nes_spark.swapping.plan_stages.sample_plans`.
    concentrations, covariates, embeddings, own_names, terms_are_own, facts, means
        As for ``sample_plans``; read only where a constraint or an option asks for them.
    read : dict, optional
        What was collected of these tables, for the next plan of them.

    Returns
    -------
    tuple of pyspark.sql.DataFrame
        Tables PLAN and PLAN_LEFTOVERS.

    Raises
    ------
    ValueError
        As ``sample_plan``, and when a constraint asks for a table or a column that is not given.
    """
    spark = cells.sparkSession
    constraints = constraints_of(releases.constraints)
    asked = columns_needed(constraints)
    read = {} if read is None else read

    def rows_of(name: str, table: DataFrame, *columns: str) -> list[dict[str, Any]]:
        if name not in read:
            read[name] = collected(table.select(*columns))
        found: list[dict[str, Any]] = read[name]
        return found

    rows = sorted(
        rows_of("cells", cells, "chunk_id", "document_id", "metadata", "entities"),
        key=lambda row: str(row["chunk_id"]),
    )
    ids = [row["chunk_id"] for row in rows]
    documents = [row["document_id"] for row in rows]
    placed: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows_of("assignments", assignments, "setting", "chunk_id", "component"):
        placed[row["setting"]][row["chunk_id"]] = row["component"]

    own: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    if own_names is not None:
        for row in rows_of("own_names", own_names, "document_id", "category", "entity"):
            if row["category"] in options.swap:
                own[row["category"]][row["document_id"]].append(row["entity"])
    held = [row["entities"] for row in rows]
    if terms_are_own and TERM in options.swap:
        terms, clues = ([of.get(c) or () for of in held] for c in (TERM, CLUE))
        for document, words in own_terms(documents, terms, clues).items():
            own[TERM][document] += words
    more: dict[str, Any] = {}
    if "covariates" in asked:
        if covariates is None:
            raise parameter_error("sample_plans", "covariates", "given", None)
        found = {
            row["document_id"]: row["covariates"]
            for row in rows_of("covariates", covariates, "document_id", "covariates")
        }
        more["covariates"] = [found[d] for d in documents]
    further = [name for name in asked if name not in _KNOWN]
    if further:
        missing = [name for name in further if facts is None or name not in facts.columns]
        if facts is None or missing:
            given = [] if facts is None else facts.columns
            allowed = f"a table with the columns {missing}"
            raise parameter_error("sample_plans", "facts", allowed, given)
        told = {row["chunk_id"]: row for row in rows_of("facts", facts, "chunk_id", *further)}
        more["facts"] = {name: [told[i][name] for i in ids] for name in further}
    if swapping.cosine_weight is not None or any(c.needs_vectors for c in constraints):
        if embeddings is None:
            raise parameter_error("sample_plans", "embeddings", "given", None)
        vectors = {
            row["chunk_id"]: row["vector"]
            for row in rows_of("embeddings", embeddings, "chunk_id", "vector")
        }
        more["vectors"] = np.array([vectors[i] for i in ids], dtype=np.float32)

    names = {c: [of.get(c) or [] for of in held] for c in (*options.swap, *options.others)}
    pieces: list[dict[str, Any]] = []
    for setting in sorted(placed):
        component = [placed[setting][i] for i in ids]
        if "concentration" in asked:
            if concentrations is None:
                raise parameter_error("sample_plans", "concentrations", "given", None)
            more["concentrations"] = dict(enumerate(map(float, concentrations[setting])))
        for draw in range(releases.draws):
            pieces.append(
                {
                    "chunk_ids": ids,
                    "metadata": [row["metadata"] for row in rows],
                    "component": component,
                    "entities": names,
                    "setting": setting,
                    "draw": draw,
                    "document_ids": documents,
                    "means": None if means is None else dict(enumerate(means[setting])),
                    "own_names": {c: [mine[d] for d in documents] for c, mine in own.items()},
                    **more,
                }
            )

    def drawn(piece: Mapping[str, Any]) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        return _rows_of(
            sample_plan(
                **piece,
                swap=options.swap,
                others=options.others,
                seed=secret,
                unit=options.unit,
                layers=options.layers,
                neighbours=options.neighbours,
                leftover=options.leftover,
                donors=options.donors,
                fitting=options.fitting,
                placeholders=options.placeholders,
                recoding=options.recoding,
                releases=releases,
                swapping=swapping,
            ),
            {"setting": piece["setting"], "unit": options.unit, "draw": piece["draw"]},
        )

    # what was added in this process is not known in others
    ours = all(map(is_ours, options.leftover)) and all(
        type(c).__module__ == Constraint.__module__ for c in constraints
    )
    apart = ours and len(rows) >= MANY_CHUNKS
    plans = called(spark, drawn, pieces) if apart else [drawn(piece) for piece in pieces]
    swaps = [row for made, _ in plans for row in made]
    leftovers = [row for _, left in plans for row in left]
    return spark.createDataFrame(swaps, PLAN.ddl), spark.createDataFrame(
        leftovers, PLAN_LEFTOVERS.ddl
    )


def _rows_of(
    plan: Plan, run: Mapping[str, Any]
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return a plan as rows of tables PLAN and PLAN_LEFTOVERS."""
    swaps = []
    for swap in plan.swaps:
        values = {**run, **swap.__dict__, "exchanged": [asdict(e) for e in swap.exchanged]}
        swaps.append(tuple(values[name] for name in PLAN.names))
    leftovers = []
    for left in plan.leftovers:
        values = {**run, **left.__dict__}
        leftovers.append(tuple(values[name] for name in PLAN_LEFTOVERS.names))
    return swaps, leftovers
