"""The adversary who knows about swapping, on Spark; see :mod:`nes_spark.audit.unswap`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from nes_spark.audit import linkage, unswap
from nes_spark.audit.mapping_stages import STRINGS, ddl_of, hold, map_rows
from nes_spark.audit.numbering_stages import Numbered, number_labels
from nes_spark.audit.stages import add_features, map_known, unchanged, with_knowledge
from nes_spark.config import AuditConfig
from nes_spark.schemas import EDITS, PARTNER_GUESSES
from nes_spark.spreading import balanced, placed
from nes_spark.swapping.constraints import Constraint
from nes_spark.swapping.throughout_stages import edits_throughout

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame


def swap_aware_attack(
    cells: DataFrame,
    rewrites: DataFrame,
    combination: Sequence[str],
    config: AuditConfig,
    components: DataFrame | None = None,
    hidden: Sequence[str] = (),
    until: ExitStack | None = None,
    constraints: Sequence[Constraint] = (),
    throughout: bool = False,
) -> DataFrame:
    """Guess which chunks exchanged their entities; see :mod:`nes_spark.audit.unswap`.

    Parameters
    ----------
    cells : pyspark.sql.DataFrame
        Table CELLS: every chunk of the release.
    rewrites : pyspark.sql.DataFrame
        Output of :func:`final_rewrites`.
    combination : sequence of str
        The swapped categories J, known to the adversary.
    config : AuditConfig
        ``swap_aware_draws``, ``swap_aware_max_chunks``, ``context_weight``, ``smoothing``.
    components : pyspark.sql.DataFrame, optional
        ``chunk_id, component``: what the adversary works out by clustering the released texts.
        Without it any two chunks are candidates. With `constraints` also ``stratum, numbers,
        vector``, without the chunks that they keep out.
    hidden : sequence of str
        Categories that the release replaces by placeholders.
    until : contextlib.ExitStack, optional
        Frees the disk that intermediate tables take when it closes, which must be after the result
        is written; without it the session frees it.
    constraints : sequence of Constraint
        All that valid pairs met, when that is more than what always holds. Vectors are those before
        swapping: what an adversary gets from the released texts comes close to them.
    throughout : bool
        Whether exchanged names were replaced in the rest of their documents too
        (``swapping.throughout``).

    Returns
    -------
    pyspark.sql.DataFrame
        Table PARTNER_GUESSES: chunks with an entity in every swapped category.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    swapped_categories = tuple(combination)
    chosen = rewrites.select("draw").distinct().orderBy("draw").limit(config.swap_aware_draws)
    released = (
        cells.select("chunk_id", "document_id", "metadata", "entities")
        .crossJoin(F.broadcast(chosen))
        .join(
            rewrites.select("draw", "chunk_id", "partner_id", "edits"),
            ["draw", "chunk_id"],
            "left",
        )
    )
    if throughout:
        more = edits_throughout(rewrites, cells, swapped_categories)
        edits = F.coalesce("edits", F.col("more").cast(EDITS))
        released = released.join(more, ["draw", "chunk_id"], "left")
        released = released.withColumn("edits", edits).drop("more")
    fields = [("draw", pa.int32())] + [
        (name, pa.string()) for name in ("chunk_id", "document_id", "metadata", "partner_id")
    ]
    # Labels of two kinds in one pass: the document, and what stands beside the entities.
    documents = number_labels(cells, "document_id", until)
    n_documents = len(documents.sizes)
    beside = _shared(cells, swapped_categories, hidden, until)
    sizes = np.concatenate([documents.sizes, beside.sizes])
    n = int(documents.sizes.sum())
    numbers = documents.table.withColumnRenamed("label", "document_id")
    seen = hold(
        add_features(
            released.join(numbers, "document_id"),
            [*fields, ("number", pa.int32())],
            hidden,
            pairs=False,
        ).drop("own"),
        until,
    )
    # what is shown counts: dates that moved are others there
    keys = ["draw", "chunk_id"]
    around = (
        seen.select(*keys, F.explode("features").alias("label"))
        .join(beside.table.withColumnRenamed("number", "place"), "label")
        .groupBy(*keys)
        .agg(F.sort_array(F.collect_list("place")).alias("beside"))
    )
    seen = seen.join(around, keys, "left")

    def split(row: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        by_category = linkage.by_category(row["features"])
        inside = [f for c in by_category if c in swapped_categories for f in by_category[c]]
        others = [f for c in by_category if c not in swapped_categories for f in by_category[c]]
        around = [n_documents + k for k in row["beside"] or ()]
        yield (
            *(row[name] for name, _ in fields),
            inside,
            [True] * len(inside),
            [row["number"], *around],
            len(others),
            unswap.code_of(others),
            by_category.keys() >= set(swapped_categories),
            unswap.turn_of(row["chunk_id"]),
        )

    around_fields = [("labels", pa.list_(pa.int32())), ("n_outside", pa.int32())]
    around_fields += [("outside_code", pa.int64())]
    parts = [*fields, ("features", STRINGS), ("own", pa.list_(pa.bool_())), *around_fields]
    parts += [("eligible", pa.bool_()), ("turn", pa.int64())]
    shown = hold(
        map_rows(seen, split, parts)
        .withColumn("scope", F.col("draw"))
        .withColumn("target_id", F.col("chunk_id")),
        until,
    )
    everyone = F.lit(0).cast("bigint")
    if components is None:
        placed = shown.withColumn("component", F.lit(0)).withColumn("stratum", everyone)
    else:
        stratum = F.col("stratum") if constraints else everyone
        placed = shown.join(
            components.select("chunk_id", "component", stratum.alias("stratum")), "chunk_id"
        )
    # The lottery comes before a task holds what is known about the suspects of a component.
    chance = Window.partitionBy(*_GROUP).orderBy(F.col("partner_id").isNull(), "turn", "chunk_id")
    limit = config.swap_aware_max_chunks
    suspected = (
        placed.where("eligible")
        .withColumn("_place", F.row_number().over(chance))
        .where((F.col("_place") <= limit) | F.col("partner_id").isNotNull())
    )
    smoothing = config.smoothing
    payload = [name for name, _ in fields[2:]] + [name for name, _ in around_fields]
    payload += ["component", "stratum", "features"]

    def score(row: dict[str, Any], known: linkage.Evidence) -> Iterator[tuple[Any, ...]]:
        values = linkage.scores(
            known,
            sizes,
            row["labels"],
            leave_out=True,
            smoothing=smoothing,
            pair_weight=0.0,
            n=n,
        )
        (found,) = np.nonzero(values)
        place = int(np.searchsorted(found, n_documents))  # documents come before features
        yield (
            row["scope"],
            row["target_id"],
            *(row[name] for name in payload),
            found[:place],
            values[found[:place]],
            found[place:],
            values[found[place:]],
        )

    scored_fields = [
        *fields,
        *around_fields,
        ("component", pa.int32()),
        ("stratum", pa.int64()),
        ("features", STRINGS),
        ("fit_labels", pa.list_(pa.int32())),
        ("fit_values", pa.list_(pa.float64())),
        ("context_labels", pa.list_(pa.int32())),
        ("context_values", pa.list_(pa.float64())),
    ]
    suspects = hold(
        map_known(
            with_knowledge(suspected, shown, config.max_candidates_per_entity, payload),
            score,
            scored_fields,
        ),
        until,
    )
    if components is not None and constraints:
        compared = suspects.join(components.select("chunk_id", "numbers", "vector"), "chunk_id")
    else:
        none = F.lit(None)
        compared = suspects.withColumn("numbers", none.cast("array<double>"))
        compared = compared.withColumn("vector", none.cast("array<float>"))
    judged = hold(
        _judge(compared, swapped_categories, config.context_weight, tuple(constraints)), until
    )
    # The rate tells how many pairs to undo: the most suspicious ones of the whole release.
    rate = rewrites.groupBy("draw").agg(F.expr("count(*) div 2").alias("swaps"))
    undone = (
        judged.where(F.col("match").isNotNull() & (F.col("chunk_id") < F.col("match")))
        .withColumn(
            "place",
            F.row_number().over(
                Window.partitionBy("draw").orderBy(
                    F.col("match_score").desc(),
                    F.sha2(F.concat_ws("\n", "chunk_id", "match"), 256),
                    "chunk_id",
                )
            ),
        )
        .join(rate, "draw")
        .where("place <= swaps")
    )
    both = undone.select("draw", "chunk_id", F.lit(True).alias("undo")).unionByName(
        undone.select("draw", F.col("match").alias("chunk_id"), F.lit(True).alias("undo"))
    )
    undo = F.coalesce("undo", F.lit(False))
    return (
        judged.join(both, ["draw", "chunk_id"], "left")
        .withColumn("match", F.when(undo, F.col("match")))
        .withColumn("match_correct", undo & F.col("match_correct"))
        .select(*PARTNER_GUESSES.names)
    )


#: Pairs that one task scores; about two seconds.
_PAIRS_A_TASK = 50_000_000


#: Suspects of one draw that are compared with each other: constraints may cut a component up.
_GROUP = ("draw", "component", "stratum")


def _shares(
    counts: Mapping[tuple[int, int, int], int],
) -> list[tuple[int, int, int, int, int, int]]:
    """Divide the pairs of all groups among tasks of about the same work.

    Parameters
    ----------
    counts : mapping of (int, int, int) to int
        Draw, component and stratum to the number of suspects.

    Returns
    -------
    list of tuple of int
        Draw, component, stratum, part, parts, task: every group cut into parts of at most
        :data:`_PAIRS_A_TASK` pairs, the parts laid to the task that has the least, largest first.
    """
    works = {}
    for group, n in sorted(counts.items()):
        parts = -(-n * n // _PAIRS_A_TASK)
        works.update({(*group, part, parts): n * n / parts for part in range(parts)})
    laid = balanced(works, math.ceil(sum(works.values()) / _PAIRS_A_TASK))
    return [(*share, task) for share, task in laid.items()]


def _judge(
    suspects: DataFrame,
    swapped_categories: tuple[str, ...],
    beta: float,
    constraints: tuple[Constraint, ...],
) -> DataFrame:
    """Score and match the suspects of each group; columns as in ``_JUDGED``.

    The pairs of a group are scored in as many tasks as they are worth, and matched in one:
    that takes the best few candidates of each chunk only.
    """
    from pyspark.sql import functions as F

    counts = {
        (row["draw"], row["component"], row["stratum"]): row["count"]
        for row in suspects.groupBy(*_GROUP).count().collect()
    }
    shares = _shares(counts)
    plan = suspects.sparkSession.createDataFrame(
        shares, "draw int, component int, stratum bigint, part int, parts int, task int"
    )

    def score(frame: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        draw, component, stratum, part, parts = (
            int(frame[name].iloc[0]) for name in (*_GROUP, "part", "parts")
        )
        columns: list[Any] = [frame[name].tolist() for name in _SUSPECTS]
        rows = [
            unswap.Suspect(
                chunk_id,
                int(labels[0]),
                metadata,
                linkage.by_category(features),
                labels[1:],
                n_outside,
                outside_code,
                (fit_labels, fit_values),
                (context_labels, context_values),
                partner,
                vector,
                numbers if numbers is not None else (),
            )
            for (
                chunk_id,
                labels,
                metadata,
                features,
                n_outside,
                outside_code,
                fit_labels,
                fit_values,
                context_labels,
                context_values,
                partner,
                vector,
                numbers,
            ) in zip(*columns, strict=True)
        ]
        partners = {s.chunk_id: s.partner for s in rows}
        return pd.DataFrame(
            [
                (
                    draw,
                    component,
                    stratum,
                    s.chunk_id,
                    partners[s.chunk_id],
                    s.candidates,
                    s.rank,
                    [name for name, _ in s.best],
                    [value for _, value in s.best],
                )
                for s in unswap.score_suspects(
                    rows, swapped_categories, beta, part, parts, constraints=constraints or None
                )
            ],
            columns=[*_SCORED],
        ).astype({"rank": "Int32", "candidates": "int32", "draw": "int32", "component": "int32"})

    def match(frame: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        draw = int(frame["draw"].iloc[0])
        columns: list[Any] = [frame[name].tolist() for name in [*_SCORED][len(_GROUP) :]]
        scored, partners = [], {}
        for chunk_id, partner, candidates, rank, names, values in zip(*columns, strict=True):
            best = tuple(zip(names, map(int, values), strict=True))
            place = None if pd.isna(rank) else int(rank)
            scored.append(unswap.Scored(chunk_id, candidates, place, best))
            partners[chunk_id] = partner
        found = [
            (
                draw,
                s.chunk_id,
                s.answer,
                s.score,
                s.candidates,
                partners[s.chunk_id] is not None,
                s.rank,
                s.answer is not None and s.answer == partners[s.chunk_id],
                s.match,
                s.match_score,
                s.match is not None and s.match == partners[s.chunk_id],
            )
            for s in unswap.match_suspects(scored)
        ]
        return pd.DataFrame(found, columns=[*_JUDGED]).astype(
            {"rank": "Int32", "candidates": "int32", "draw": "int32"}
        )

    tasks = 1 + max((share[-1] for share in shares), default=0)
    place = placed(suspects.sparkSession, F.col("task"), tasks, tasks)
    return (
        suspects.join(F.broadcast(plan), [*_GROUP])
        .withColumn("place", place)
        .repartition(tasks, "place")
        .groupBy("place", *_GROUP, "part")
        .applyInPandas(score, ddl_of(_SCORED))
        .groupBy(*_GROUP)
        .applyInPandas(match, ddl_of(_JUDGED))
    )


def _shared(
    cells: DataFrame,
    swapped_categories: Sequence[str],
    hidden: Sequence[str],
    until: ExitStack | None,
) -> Numbered:
    """Number the features outside the swapped categories that two original chunks share.

    Those of a single chunk say nothing about another one.
    """
    from pyspark.sql import functions as F

    features = add_features(
        unchanged(cells), [("chunk_id", pa.string())], (*hidden, *swapped_categories), pairs=False
    )
    return number_labels(
        features.select(F.explode("features").alias("label")), "label", until, least=2
    )


_SUSPECTS = (
    "chunk_id",
    "labels",
    "metadata",
    "features",
    "n_outside",
    "outside_code",
    "fit_labels",
    "fit_values",
    "context_labels",
    "context_values",
    "partner_id",
    "vector",
    "numbers",
)
_SCORED = {
    "draw": "int",
    "component": "int",
    "stratum": "bigint",
    "chunk_id": "string",
    "partner_id": "string",
    "candidates": "int",
    "rank": "int",
    "best_ids": "array<string>",
    "best_scores": "array<bigint>",
}
_JUDGED = {
    "draw": "int",
    "chunk_id": "string",
    "answer": "string",
    "score": "double",
    "candidates": "int",
    "swapped": "boolean",
    "rank": "int",
    "correct": "boolean",
    "match": "string",
    "match_score": "double",
    "match_correct": "boolean",
}
