"""Spark stages of the adversaries that need no network.

They move tables to the kernels of this package. All that is added up on Spark is an integer, and
what is not is summed in a fixed order inside a kernel, so results do not depend on partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nes_spark.audit import linkage
from nes_spark.audit.adversaries import LINKAGE, SELF
from nes_spark.audit.mapping_stages import STRINGS, hold, map_arrow, map_rows, of_few_labels
from nes_spark.audit.numbering_stages import Numbered, number_labels
from nes_spark.audit.summary import (
    GRID,
    AdversaryResult,
    PartnerResult,
    summarize_predictions,
)
from nes_spark.config import AuditConfig
from nes_spark.errors import InputError
from nes_spark.schemas import ATTACKS, EDITS, PREDICTIONS
from nes_spark.sieve import StringSieve
from nes_spark.spreading import spread

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


# -- what the adversaries are shown ------------------------------------------------------------


#: For such sums over more rows than a bigint has room for.
_EXACT = "decimal(20,0)"


def unchanged(cells: DataFrame) -> DataFrame:
    """Return CELLS with a column ``edits`` that says that nothing was swapped."""
    from pyspark.sql import functions as F

    return cells.withColumn("edits", F.lit(None).cast(EDITS))


def add_features(
    frame: DataFrame,
    keep: Sequence[tuple[str, Any]],
    hidden: Sequence[str],
    pairs: bool,
) -> DataFrame:
    """Turn ``entities`` and ``edits`` into features, keeping the columns ``keep``.

    Adds ``features`` (sorted) and ``own``, which of them the chunk had before its swaps. What the
    corpus knows needs no such column: :func:`_known_features`.
    """
    hidden = tuple(hidden)
    names = [name for name, _ in keep]

    def features(row: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        before = dict(row["entities"])
        kept = [row[name] for name in names]
        if row["edits"]:
            after = linkage.swap_entities(before, row["edits"])
            found = linkage.features_of(after, hidden, pairs)
            original = set(linkage.features_of(before, (), pairs))
            yield *kept, found, [f in original for f in found]
        else:
            found = linkage.features_of(before, hidden, pairs)
            yield *kept, found, [True] * len(found)

    return map_rows(
        frame.select(*names, "entities", "edits"),
        features,
        [*keep, ("features", STRINGS), ("own", pa.list_(pa.bool_()))],
    )


def _known_features(cells: DataFrame, pairs: bool, among: StringSieve | None) -> DataFrame:
    """Return ``metadata, features`` of the chunks that hold any feature that passes a sieve."""

    def features(row: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        found = linkage.features_of(dict(row["entities"]), (), pairs, among)
        if found:
            yield row["metadata"], found

    fields = [("metadata", pa.string()), ("features", STRINGS)]
    return map_rows(cells.select("metadata", "entities"), features, fields)


def _sieve_of(targets: DataFrame) -> StringSieve:
    """Return a sieve of the features of targets: the driver holds some sixteen bytes of each."""
    from pyspark.sql import functions as F

    numbers = targets.select(F.explode("features").alias("feature")).select(
        F.crc32("feature").alias("number")
    )
    return StringSieve(numbers.distinct().toPandas()["number"])


def with_knowledge(
    targets: DataFrame,
    knowledge: DataFrame,
    max_labels: int,
    payload: Sequence[str],
) -> DataFrame:
    """Bring together, for each target, what is known of its features.

    Parameters
    ----------
    targets : pyspark.sql.DataFrame
        ``scope, target_id, features, own`` and the columns ``payload``.
    knowledge : pyspark.sql.DataFrame
        ``scope, labels, features``, one row a known chunk of each scope. Labels are numbers from 0:
        every target carries those of its features.
    max_labels : int
        Features known under more labels are left out.
    payload : sequence of str
        Columns that are kept.

    Returns
    -------
    pyspark.sql.DataFrame
        ``scope, target_id``, the payload, and ``found`` for :func:`map_known`: an array of structs
        in no particular order; kernels sort it.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    # The label -1 stands for the corpus: its count is the total of the feature.
    corpus = F.lit(-1)
    wanted = targets.select("scope", F.explode("features").alias("feature")).distinct()
    counted = (
        knowledge.select("scope", "labels", F.explode("features").alias("feature"))
        .join(wanted, ["scope", "feature"], "left_semi")
        .repartition("scope", "feature")
        .select("scope", "feature", F.explode(F.concat("labels", F.array(corpus))).alias("label"))
        .groupBy("scope", "feature", "label")
        .agg(F.count("*").cast("int").alias("count"))
    )
    of_corpus = F.max(F.when(F.col("label") == corpus, F.col("count")))
    known = (
        # Counted before they are collected: a list of all labels of the corpus is never held.
        of_few_labels(counted, ("scope", "feature"), max_labels + 1)
        .withColumn("total", of_corpus.over(Window.partitionBy("scope", "feature")))
        .where(F.col("label") != corpus)
        .groupBy("scope", "feature", "total")
        .agg(F.sort_array(F.collect_list(F.struct("label", "count"))).alias("entries"))
        .select(
            "scope",
            "feature",
            "total",
            F.col("entries.label").alias("_labels"),
            F.col("entries.count").alias("_counts"),
        )
    )
    item = F.struct(
        "feature",
        "total",
        F.col("is_own").alias("own"),
        F.col("_labels").alias("labels"),
        F.col("_counts").alias("counts"),
    )
    brought = (
        targets.select(
            "scope",
            "target_id",
            *payload,
            F.explode_outer(F.arrays_zip("features", "own")).alias("zipped"),
        )
        .select(
            "scope",
            "target_id",
            *payload,
            F.col("zipped.features").alias("feature"),
            F.col("zipped.own").alias("is_own"),
        )
        .join(known, ["scope", "feature"], "left")
    )
    # What a target costs its attacker hangs on the labels of its features, not on the bytes by
    # which Spark would lay several partitions to one task.
    return (
        spread(brought, "scope", "target_id")
        .groupBy("scope", "target_id")
        .agg(
            # The payload is the same in all rows of a target.
            *(F.first(name).alias(name) for name in payload),
            F.collect_list(F.when(F.col("total").isNotNull(), item)).alias("found"),
        )
    )


def map_known(
    frame: DataFrame,
    function: Callable[[dict[str, Any], linkage.Evidence], Iterable[tuple[Any, ...]]],
    fields: Sequence[tuple[str, Any]],
) -> DataFrame:
    """Apply a function from a target and what is known of it to an iterable of rows (tuples).

    `frame` comes from :func:`with_knowledge`. Its column ``found`` stays in arrays: as Python
    objects it would take longer to read than to use.
    """

    def each(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
        found = batch.column("found")
        rows = batch.select([c for c in batch.schema.names if c != "found"]).to_pylist()
        names, totals, own, labels, counts = found.flatten().flatten()
        texts, lengths = names.to_pylist(), pc.list_value_length(labels).to_numpy()
        totals, own = totals.to_numpy(), own.to_numpy(zero_copy_only=False)
        labels, counts = labels.flatten().to_numpy(), counts.flatten().to_numpy()
        features = _bounds(pc.list_value_length(found).to_numpy())
        entries = _bounds(lengths)[features]
        for i, row in enumerate(rows):
            mine, its = slice(*features[i : i + 2]), slice(*entries[i : i + 2])
            yield from function(
                row,
                linkage.Evidence.packed(
                    texts[mine], totals[mine], own[mine], lengths[mine], labels[its], counts[its]
                ),
            )

    return map_arrow(frame, each, fields)


def _bounds(lengths: np.ndarray) -> np.ndarray:
    """Return where each of some runs begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _digest(column: Any) -> Any:
    from pyspark.sql import functions as F

    return F.substring(F.sha2(column, 256), 1, 24)


def _once(seen: DataFrame, use: Any) -> DataFrame:
    """Keep equal sightings of a chunk once, with all their uses."""
    from pyspark.sql import functions as F

    same = ["document_id", "metadata", "features", "own"]
    return (
        seen.withColumn("target_id", _digest(F.concat_ws("\x1d", "features")))
        .groupBy("chunk_id", "target_id")
        .agg(*(F.first(name).alias(name) for name in same), F.collect_list(use).alias("uses"))
        .withColumn("target_id", F.concat(F.lit("post:"), "chunk_id", F.lit(":"), "target_id"))
        .withColumn("side", F.lit("post"))
    )


_SEEN = [(name, pa.string()) for name in ("chunk_id", "document_id", "metadata")]


def _attack(
    targets: DataFrame,
    knowledge: DataFrame,
    here: bool,
    config: AuditConfig,
    expand: Callable[[dict[str, Any]], list[tuple[Any, ...]]],
    fields: Sequence[tuple[str, Any]],
    until: ExitStack | None,
    few: bool = True,
) -> tuple[DataFrame, Numbered]:
    """Guess the metadata of every target, one output row for each of its uses.

    Answers are numbers, which come back with it.

    Parameters
    ----------
    targets : pyspark.sql.DataFrame
        ``target_id, chunk_id, document_id, metadata, side, features, own, uses``.
    knowledge : pyspark.sql.DataFrame
        CELLS that the adversary knows.
    here : bool
        Whether the targets are chunks of that corpus.
    expand : callable
        From a row to the values of `fields` for each use.
    few : bool
        Whether the targets are a sample: of all that is known only their features matter then, and
        pairs of others are not even made.
    """
    from pyspark.sql import functions as F

    smoothing, pair_weight = config.smoothing, config.pair_weight
    numbered = number_labels(knowledge, "metadata", until)
    sizes, hashes = numbered.sizes, numbered.hashes
    if not len(sizes):
        raise InputError("the audit has no chunks to learn from; is the reference corpus empty?")
    number_of = numbered.table.withColumnRenamed("label", "metadata")

    def guess(row: dict[str, Any], known: linkage.Evidence) -> Iterator[tuple[Any, ...]]:
        truth = row["number"]
        for name, leave_out in ((LINKAGE, True), (LINKAGE + SELF, False)):
            best, rank, evidence = linkage.guess(
                row["chunk_id"],
                known,
                sizes,
                hashes,
                truth,
                here,
                leave_out,
                smoothing,
                pair_weight,
            )
            right = best is not None and best == truth
            for values in expand(row):
                yield *values, row["side"], name, best, right, rank, evidence

    sieve, targets = None, targets.withColumn("scope", F.lit(0))
    if few:
        # With the scope: a constant that Spark knows of would be left out of what groups targets,
        # and what had spread them over tasks would no longer do.
        targets = hold(targets, until)
        sieve = _sieve_of(targets)
    learned = _known_features(knowledge, pair_weight > 0, sieve)
    collected = with_knowledge(
        # who is asked about may be nobody that is known
        targets.join(number_of, "metadata", "left"),
        learned.join(number_of, "metadata").select(
            F.lit(0).alias("scope"), F.array("number").alias("labels"), "features"
        ),
        config.max_candidates_per_entity,
        ["chunk_id", "document_id", "number", "side", "uses"],
    )
    if not here:
        collected = collected.withColumn(
            "found", F.transform("found", lambda item: item.withField("own", F.lit(False)))
        )
    return map_known(collected, guess, [*fields, *_GUESS]), numbered


_GUESS = (
    ("side", pa.string()),
    ("model", pa.string()),
    ("number", pa.int32()),
    ("correct", pa.bool_()),
    ("rank", pa.int32()),
    ("evidence", STRINGS),
)


def link_sightings(
    targets: DataFrame,
    knowledge: DataFrame,
    here: bool,
    config: AuditConfig,
    until: ExitStack | None = None,
) -> DataFrame:
    """Guess the metadata of texts whose features are given.

    Parameters
    ----------
    targets : pyspark.sql.DataFrame
        ``target_id, chunk_id, document_id, metadata, side, features, own, uses`` (draws).
    knowledge : pyspark.sql.DataFrame
        CELLS that the adversary knows.
    here : bool
        Whether the targets are chunks of that corpus.
    config : AuditConfig
        ``smoothing``, ``pair_weight``, ``max_candidates_per_entity``.
    until : contextlib.ExitStack, optional
        Frees the disk that intermediate tables take when it closes, which must be after the result
        is written; without it the session frees it.

    Returns
    -------
    pyspark.sql.DataFrame
        ``draw, chunk_id, document_id, side, model, correct, rank, evidence``.
    """
    found, _ = _attack(targets, knowledge, here, config, _by_draw, _BY_DRAW, until)
    return found.drop("number")


def _by_draw(row: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(draw, row["chunk_id"], row["document_id"]) for draw in row["uses"]]


_BY_DRAW = (("draw", pa.int32()), ("chunk_id", pa.string()), ("document_id", pa.string()))


def _before(cells: DataFrame, uses: DataFrame, pairs: bool) -> DataFrame:
    """Return the sightings of chunks before swapping; ``uses`` has ``chunk_id, uses`` of each."""
    from pyspark.sql import functions as F

    seen = add_features(unchanged(cells), _SEEN, (), pairs)
    return (
        seen.join(uses, "chunk_id")
        .withColumn("target_id", F.concat(F.lit("pre:"), "chunk_id"))
        .withColumn("side", F.lit("pre"))
    )


def linkage_attack(
    cells: DataFrame,
    rewrites: DataFrame,
    config: AuditConfig,
    hidden: Sequence[str] = (),
    knowledge: DataFrame | None = None,
    until: ExitStack | None = None,
) -> DataFrame:
    """Guess the metadata of swapped chunks from their entities, before and after.

    Parameters
    ----------
    cells : pyspark.sql.DataFrame
        Table CELLS of the corpus.
    rewrites : pyspark.sql.DataFrame
        Output of :func:`nes_spark.releases.publish_stages.chosen_rewrites`.
    config : AuditConfig
        ``smoothing``, ``pair_weight``, ``max_candidates_per_entity``.
    hidden : sequence of str
        Categories that the release replaces by placeholders (must_change): not seen after.
    knowledge : pyspark.sql.DataFrame, optional
        CELLS of another corpus or an earlier period that the adversary knows instead of this one.
    until : contextlib.ExitStack, optional
        As in :func:`link_sightings`.

    Returns
    -------
    pyspark.sql.DataFrame
        Table PREDICTIONS. Adversary ``linkage`` knows all chunks but the one in question,
        ``linkage-self`` knows that one too, as it was before swapping.

    Raises
    ------
    InputError
        When there is nothing to learn from.
    """
    from pyspark.sql import functions as F

    pairs = config.pair_weight > 0
    uses = rewrites.groupBy("chunk_id").agg(F.collect_list("draw").alias("uses"))
    shown = rewrites.select("draw", "chunk_id", "edits").join(
        cells.select("chunk_id", "document_id", "metadata", "entities"), "chunk_id"
    )
    after = add_features(shown, [("draw", pa.int32()), *_SEEN], hidden, pairs)
    # Few of a large corpus are asked about: the others need no features.
    asked = cells.join(uses.select("chunk_id"), "chunk_id", "left_semi")
    targets = _before(asked, uses, pairs).unionByName(_once(after, F.col("draw")))
    source = cells if knowledge is None else knowledge
    guesses, numbered = _attack(
        targets, source, knowledge is None, config, _by_draw, _BY_DRAW, until
    )
    names = numbered.table.select("number", F.col("label").alias("answer"))
    told = guesses.join(names, "number", "left").withColumn("outcome", F.lit("answered"))
    return told.select(*PREDICTIONS.names)


# -- the frontier with the audit in it ---------------------------------------------------------


def attack_candidates(
    cells: DataFrame,
    rewrites: DataFrame,
    config: AuditConfig,
    hidden: Sequence[str] = (),
    knowledge: DataFrame | None = None,
    until: ExitStack | None = None,
) -> DataFrame:
    """Let the linkage adversary score every candidate release.

    Every rewritten chunk is attacked once; a candidate with `n_swaps` swaps is made of the rewrites
    up to that order, so its accuracy is a running sum.

    Parameters
    ----------
    cells, config, hidden, knowledge
        As in :func:`linkage_attack`.
    rewrites : pyspark.sql.DataFrame
        Table REWRITES with all candidates.
    until : contextlib.ExitStack, optional
        Frees the disk that intermediate tables take when it closes, which must be after the result
        is written; without it the session frees it.

    Returns
    -------
    pyspark.sql.DataFrame
        Table ATTACKS, to be joined with CANDIDATES on setting, combination and n_swaps.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    pairs = config.pair_weight > 0
    names = ["setting", "combination", "draw", "order"]
    none = [F.lit("").alias("setting"), F.lit("").alias("combination")]
    none += [F.lit(-1).alias("draw"), F.lit(0).alias("order")]
    uses = cells.select("chunk_id", F.array(F.struct(*none)).alias("uses"))
    shown = rewrites.select(*names, "chunk_id", "edits").join(
        cells.select("chunk_id", "document_id", "metadata", "entities"), "chunk_id"
    )
    keys = [("setting", pa.string()), ("combination", pa.string())]
    keys += [("draw", pa.int32()), ("order", pa.int32())]
    after = _once(add_features(shown, [*keys, *_SEEN], hidden, pairs), F.struct(*names))

    def expand(row: dict[str, Any]) -> list[tuple[Any, ...]]:
        return [(*(use[name] for name in names), row["chunk_id"]) for use in row["uses"]]

    found, _ = _attack(
        _before(cells, uses, pairs).unionByName(after),
        cells if knowledge is None else knowledge,
        knowledge is None,
        config,
        expand,
        [*keys, ("chunk_id", pa.string())],
        until,
        few=False,
    )
    guesses = found.select(
        *names,
        "chunk_id",
        "side",
        "model",
        F.col("correct").cast("int").alias("correct"),
        F.coalesce((F.col("rank") <= 5).cast("int"), F.lit(0)).alias("hit5"),
    )
    guesses = hold(guesses, until)
    pre = guesses.where("side = 'pre'").select("chunk_id", "model", F.col("correct").alias("pre"))
    whole = pre.groupBy("model").agg(F.sum("pre").alias("all_pre"), F.count("*").alias("n"))
    # A later swap of the same chunk replaces what its earlier text counted for.
    earlier = Window.partitionBy("setting", "combination", "draw", "model", "chunk_id").orderBy(
        "order"
    )
    steps = (
        guesses.where("side = 'post'")
        .join(pre, ["chunk_id", "model"])
        .withColumn("first", F.lag("order").over(earlier).isNull().cast("int"))
        .select(
            "setting",
            "combination",
            "draw",
            "model",
            "order",
            "first",
            (F.col("first") * F.col("pre")).alias("pre"),
            *(
                (F.col(c) - F.coalesce(F.lag(c).over(earlier), F.lit(0))).alias(c)
                for c in ("correct", "hit5")
            ),
        )
        .groupBy("setting", "combination", "draw", "model", "order")
        .agg(*(F.sum(c).alias(c) for c in ("first", "pre", "correct", "hit5")))
    )
    running = (
        Window.partitionBy("setting", "combination", "draw", "model")
        .orderBy("order")
        .rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    totals = steps.select(
        "setting",
        "combination",
        "draw",
        "model",
        F.col("order").alias("n_swaps"),
        *(F.sum(c).over(running).alias(c) for c in ("first", "pre", "correct", "hit5")),
    ).join(whole, "model")
    ratio = {
        "accuracy_pre": F.col("pre") / F.col("first"),
        "accuracy_post": F.col("correct") / F.col("first"),
        "hits5_post": F.col("hit5") / F.col("first"),
        "corpus_accuracy": (F.col("all_pre") - F.col("pre") + F.col("correct")) / F.col("n"),
    }
    scaled = {c: F.round(value * GRID).cast("bigint") for c, value in ratio.items()}
    return (
        totals.groupBy("setting", "combination", "n_swaps", "model")
        .agg(
            F.count("*").cast("int").alias("draws"),
            *((F.sum(value) / F.count("*") / GRID).alias(c) for c, value in scaled.items()),
        )
        .select(*ATTACKS.names)
    )


# -- summaries ---------------------------------------------------------------------------------


def summarize_audit(
    predictions: DataFrame, config: AuditConfig, rewrites: DataFrame | None = None
) -> list[AdversaryResult]:
    """Sum up the predictions of every adversary, on the driver.

    What it gives and raises is that of
    :func:`nes_spark.audit.summary.summarize_predictions`, which it calls.

    Parameters
    ----------
    predictions : pyspark.sql.DataFrame
        Table PREDICTIONS; a sample where the corpus is large.
    config : AuditConfig
        ``min_chunks``, ``bootstrap``, ``confidence``.
    rewrites : pyspark.sql.DataFrame, optional
        ``draw, chunk_id, partner_id``: the swaps, which couple documents.
    """
    from pyspark.sql import functions as F

    columns = ["model", "draw", "document_id", "chunk_id", "side", "correct", "rank", "outcome"]
    partners = None
    if rewrites is not None:
        # the document of a chunk is its id without the position
        partner = F.regexp_replace("partner_id", "#[^#]*$", "").alias("partner")
        keys = ["draw", "chunk_id"]
        # of what was asked about alone: there may be rewrites of the whole corpus
        asked = predictions.select(*keys).distinct()
        partners = rewrites.select(*keys, partner).join(asked, keys, "left_semi").toPandas()
    return summarize_predictions(
        predictions.select(*columns).toPandas(),
        partners,
        config.min_chunks,
        config.bootstrap,
        config.confidence,
    )


def summarize_partner_guesses(guesses: DataFrame) -> PartnerResult:
    """Sum up the guesses of the adversary who knows about swapping.

    Parameters
    ----------
    guesses : pyspark.sql.DataFrame
        Table PARTNER_GUESSES.

    Returns
    -------
    PartnerResult
    """
    from pyspark.sql import functions as F

    real = F.col("swapped")
    candidates = F.col("candidates").cast("double")  # the square of many is no int
    scale = GRID

    def of_swapped(value: Any) -> Any:
        return F.sum(F.when(real, value).otherwise(F.lit(0)))

    def share(value: Any) -> Any:
        return F.coalesce(F.round(scale * value).cast(_EXACT), F.lit(0))

    # Sum over k of 1/k for a random place among that many: H_n / n, with H_n by its expansion.
    harmonic = F.when(candidates == 1, F.lit(1.0)).otherwise(
        F.log(candidates)
        + 0.5772156649015329
        + 1 / (2 * candidates)
        - 1 / (12 * candidates * candidates)
    )
    row = guesses.agg(
        F.countDistinct("draw").alias("draws"),
        F.count("*").alias("suspects"),
        of_swapped(F.lit(1)).alias("swapped"),
        of_swapped(F.col("correct").cast("int")).alias("correct"),
        of_swapped(F.coalesce((F.col("rank") <= 5).cast("int"), F.lit(0))).alias("hits5"),
        of_swapped(share(1 / F.col("rank"))).alias("mrr"),
        of_swapped(F.when(candidates > 0, share(1 / candidates)).otherwise(0)).alias("chance"),
        of_swapped(
            F.when(candidates > 0, share(F.least(F.lit(5), candidates) / candidates)).otherwise(0)
        ).alias("chance5"),
        of_swapped(F.when(candidates > 0, share(harmonic / candidates)).otherwise(0)).alias(
            "chance_mrr"
        ),
        F.sum("candidates").alias("pairs"),
        F.sum(F.col("match").isNotNull().cast("int")).alias("undone"),
        F.sum(F.col("match_correct").cast("int")).alias("undone_correct"),
        F.sum((F.col("match").isNotNull() & real).cast("int")).alias("detected"),
    ).collect()[0]
    swapped, undone, suspects = row["swapped"] or 0, row["undone"] or 0, row["suspects"]

    def part(value: Any, of: int, unit: int = 1) -> float | None:
        return int(value) / unit / of if of else None

    return PartnerResult(
        draws=row["draws"],
        suspects=suspects,
        swapped=swapped,
        accuracy=part(row["correct"], swapped),
        hits5=part(row["hits5"], swapped),
        mrr=part(row["mrr"], swapped, scale),
        chance=part(row["chance"], swapped, scale),
        chance_hits5=part(row["chance5"], swapped, scale),
        chance_mrr=part(row["chance_mrr"], swapped, scale),
        undone=undone // 2,
        undone_correct=(row["undone_correct"] or 0) // 2,
        undo_precision=part(row["undone_correct"], undone),
        undo_chance=part(swapped, row["pairs"] or 0),
        detection=part(row["detected"], undone),
        detection_chance=part(swapped, suspects),
    )


def read_reference(spark: SparkSession, folder: str) -> dict[str, DataFrame]:
    """Open the tables of a reference corpus.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
    folder : str
        Folder with Parquet folders ``cells``, ``chunks``, ``mentions``, for example the stages of
        an earlier period.

    Raises
    ------
    InputError
        When one of them is missing or cannot be read.
    """
    tables = {}
    for name in ("cells", "chunks", "mentions"):
        try:
            tables[name] = spark.read.parquet(f"{folder.rstrip('/')}/{name}")
        except Exception as error:
            raise InputError(
                f"audit.reference: {folder} has no readable table {name!r} "
                f"({type(error).__name__}); give a folder with cells, chunks and mentions"
            ) from None
    return tables
