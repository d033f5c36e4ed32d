"""Spark stages of the adversaries that need no network.

They move tables to the kernels of this package. All that is added up on Spark is an integer, and
what is not is summed in a fixed order inside a kernel, so results do not depend on partitions.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from nes_spark.audit import linkage, ranking, text, unswap
from nes_spark.audit.summary import (
    AdversaryResult,
    DrawSums,
    PartnerResult,
    build_result,
)
from nes_spark.config import AuditConfig
from nes_spark.errors import InputError
from nes_spark.schemas import ATTACKS, PARTNER_GUESSES, PREDICTIONS

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

_EDITS = (
    "array<struct<start:int,end:int,old:string,new:string,category:string,"
    "old_entity:string,new_entity:string>>"
)

LINKAGE = "linkage"
STYLE = "style"
WORDS = "words"
#: Suffix of the variant that knows the chunk itself too.
SELF = "-self"


# -- what the adversaries are shown ------------------------------------------------------------


def final_rewrites(
    rewrites: DataFrame,
    setting: str,
    combination: str,
    n_swaps: int | None = None,
    draws: int | None = None,
) -> DataFrame:
    """Return the last text of every swapped chunk of one release, in each draw.

    Parameters
    ----------
    rewrites : pyspark.sql.DataFrame
        Table REWRITES.
    setting, combination : str
        The release.
    n_swaps : int, optional
        Swaps of the release; all when not given.
    draws : int, optional
        Only draws below this number.

    Returns
    -------
    pyspark.sql.DataFrame
        ``draw, chunk_id, partner_id, order, text, edits``; one row a draw and chunk. Of several
        swaps of a chunk the last one has all edits.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    chosen = rewrites.where((F.col("setting") == setting) & (F.col("combination") == combination))
    if n_swaps is not None:
        chosen = chosen.where(F.col("order") <= n_swaps)
    if draws is not None:
        chosen = chosen.where(F.col("draw") < draws)
    last = Window.partitionBy("draw", "chunk_id").orderBy(F.col("order").desc())
    return (
        chosen.withColumn("_last", F.row_number().over(last))
        .where("_last = 1")
        .select("draw", "chunk_id", "partner_id", "order", "text", "edits")
    )


def _map_rows(
    frame: DataFrame, function: Callable[[dict[str, Any]], Any], fields: Sequence[tuple[str, Any]]
) -> DataFrame:
    """Apply a function from a row (dict) to an iterable of rows (tuples), with Arrow."""

    def each(rows: list[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
        return (out for row in rows for out in function(row))

    return _map_batches(frame, each, fields)


def _map_batches(
    frame: DataFrame,
    function: Callable[[list[dict[str, Any]]], Iterable[tuple[Any, ...]]],
    fields: Sequence[tuple[str, Any]],
) -> DataFrame:
    """Apply a function from the rows of a batch (dicts) to an iterable of rows (tuples)."""
    schema = pa.schema([pa.field(name, kind) for name, kind in fields])
    ddl = ", ".join(f"`{name}` {_ddl(kind)}" for name, kind in fields)

    def apply(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = list(function(batch.to_pylist()))
            columns = list(zip(*rows, strict=True)) if rows else [()] * len(fields)
            yield pa.RecordBatch.from_arrays(
                [
                    pa.array(list(values), type=field.type)
                    for values, field in zip(columns, schema, strict=True)
                ],
                schema=schema,
            )

    return frame.mapInArrow(apply, ddl)


def _ddl(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"array<{_ddl(kind.value_type)}>"
    names = {
        pa.string(): "string",
        pa.int32(): "int",
        pa.int64(): "bigint",
        pa.float64(): "double",
        pa.bool_(): "boolean",
    }
    return names[kind]


_STRINGS = pa.list_(pa.string())
#: For sums on a grid of 10^-12 over more rows than a bigint has room for.
_EXACT = "decimal(20,0)"


def _unchanged(cells: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    return cells.withColumn("edits", F.lit(None).cast(_EDITS))


def _add_features(
    frame: DataFrame,
    keep: Sequence[tuple[str, Any]],
    hidden: Sequence[str],
    pairs: bool,
) -> DataFrame:
    """Turn ``entities`` and ``edits`` into features, keeping the columns ``keep``.

    Adds ``features`` (sorted) and ``own``, which of them the chunk had before its swaps.
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

    return _map_rows(
        frame.select(*names, "entities", "edits"),
        features,
        [*keep, ("features", _STRINGS), ("own", pa.list_(pa.bool_()))],
    )


def _collected(
    targets: DataFrame, knowledge: DataFrame, max_labels: int, payload: Sequence[str]
) -> DataFrame:
    """Bring together, for each target, what is known of its features.

    Parameters
    ----------
    targets : pyspark.sql.DataFrame
        ``scope, target_id, features, own`` and the columns ``payload``.
    knowledge : pyspark.sql.DataFrame
        ``scope, labels, features``, one row a known chunk of each scope.
    max_labels : int
        Features known under more labels are left out.
    payload : sequence of str
        Columns that are kept.

    Returns
    -------
    pyspark.sql.DataFrame
        ``scope, target_id``, the payload, and ``found``: an array of structs in no particular
        order; kernels sort it.
    """
    from pyspark.sql import functions as F

    # The label '' stands for the corpus: its count is the total of the feature.
    entry = F.struct("label", "count")
    wanted = targets.select("scope", F.explode("features").alias("feature")).distinct()
    counted = (
        knowledge.select("scope", "labels", F.explode("features").alias("feature"))
        .join(wanted, ["scope", "feature"], "left_semi")
        .repartition("scope", "feature")
        .select(
            "scope", "feature", F.explode(F.concat("labels", F.array(F.lit("")))).alias("label")
        )
        .groupBy("scope", "feature", "label")
        .agg(F.count("*").alias("count"))
    )
    known = (
        # Counted before they are collected: a list of all labels of the corpus is never held.
        _of_few_labels(counted, ("scope", "feature"), max_labels + 1)
        .groupBy("scope", "feature")
        .agg(
            F.sum(F.when(F.col("label") == "", F.col("count")).otherwise(0)).alias("total"),
            F.collect_list(F.when(F.col("label") != "", entry)).alias("entries"),
        )
    )
    item = F.struct("feature", "total", F.col("is_own").alias("own"), "entries")
    return (
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
        .groupBy("scope", "target_id")
        .agg(
            # The payload is the same in all rows of a target.
            *(F.first(name).alias(name) for name in payload),
            F.collect_list(F.when(F.col("total").isNotNull(), item)).alias("found"),
        )
    )


def _of_few_labels(counted: DataFrame, keys: Sequence[str], most: int) -> DataFrame:
    """Keep the rows whose keys have at most so many rows."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    return (
        counted.withColumn("_rows", F.count(F.lit(1)).over(Window.partitionBy(*keys)))
        .where(F.col("_rows") <= most)
        .drop("_rows")
    )


def _known(found: list[dict[str, Any]] | None, sizes: dict[str, int]) -> list[linkage.Known]:
    known = []
    for item in found or ():
        entries = sorted((e for e in item["entries"] if e["label"] in sizes), key=_label)
        known.append(
            linkage.Known(
                item["feature"],
                item["total"],
                item["own"],
                [e["label"] for e in entries],
                [e["count"] for e in entries],
                [sizes[e["label"]] for e in entries],
            )
        )
    return known


def _label(entry: dict[str, Any]) -> str:
    return entry["label"]


def _sizes(knowledge: DataFrame) -> dict[str, int]:
    """Return the candidates and the chunks known of each, sorted.

    Grows with the documents, not with the chunks.
    """
    counted = knowledge.groupBy("metadata").count().collect()
    if not counted:
        raise InputError("the audit has no chunks to learn from; is the reference corpus empty?")
    return {row["metadata"]: row["count"] for row in sorted(counted, key=lambda r: r["metadata"])}


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
) -> DataFrame:
    """Guess the metadata of every target, one output row for each of its uses.

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
    """
    from pyspark.sql import functions as F

    smoothing, pair_weight = config.smoothing, config.pair_weight
    sizes = _sizes(knowledge)
    n = sum(sizes.values())
    labels = list(sizes)
    hashes = ranking.hashes_of(labels)

    def guess(row: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        found = _known(row["found"], sizes)
        truth = row["metadata"]
        own = frozenset((truth,) if here else ())
        for name, leave_out in ((LINKAGE, True), (LINKAGE + SELF, False)):
            answer, rank, evidence = linkage.guess(
                row["chunk_id"],
                found,
                n,
                truth,
                own,
                labels,
                hashes,
                leave_out,
                smoothing,
                pair_weight,
            )
            for values in expand(row):
                yield *values, row["side"], name, answer, answer == truth, rank, evidence

    learned = _add_features(_unchanged(knowledge), [("metadata", pa.string())], (), pair_weight > 0)
    collected = _collected(
        targets.withColumn("scope", F.lit(0)),
        learned.select(F.lit(0).alias("scope"), F.array("metadata").alias("labels"), "features"),
        config.max_candidates_per_entity,
        ["chunk_id", "document_id", "metadata", "side", "uses"],
    )
    if not here:
        collected = collected.withColumn(
            "found", F.transform("found", lambda item: item.withField("own", F.lit(False)))
        )
    return _map_rows(collected, guess, [*fields, *_GUESS])


_GUESS = (
    ("side", pa.string()),
    ("model", pa.string()),
    ("answer", pa.string()),
    ("correct", pa.bool_()),
    ("rank", pa.int32()),
    ("evidence", _STRINGS),
)


def _by_draw(row: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(draw, row["chunk_id"], row["document_id"]) for draw in row["uses"]]


_BY_DRAW = (("draw", pa.int32()), ("chunk_id", pa.string()), ("document_id", pa.string()))


def _before(cells: DataFrame, uses: DataFrame, pairs: bool) -> DataFrame:
    """Return the sightings of chunks before swapping; ``uses`` has columns chunk_id, uses."""
    from pyspark.sql import functions as F

    seen = _add_features(_unchanged(cells), _SEEN, (), pairs)
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
) -> DataFrame:
    """Guess the metadata of swapped chunks from their entities, before and after.

    Parameters
    ----------
    cells : pyspark.sql.DataFrame
        Table CELLS of the corpus.
    rewrites : pyspark.sql.DataFrame
        Output of :func:`final_rewrites`.
    config : AuditConfig
        ``smoothing``, ``pair_weight``, ``max_candidates_per_entity``.
    hidden : sequence of str
        Categories that the release replaces by placeholders (must_change): not seen after.
    knowledge : pyspark.sql.DataFrame, optional
        CELLS of another corpus or an earlier period that the adversary knows instead of this one.

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
    after = _add_features(shown, [("draw", pa.int32()), *_SEEN], hidden, pairs)
    targets = _before(cells, uses, pairs).unionByName(_once(after, F.col("draw")))
    source = cells if knowledge is None else knowledge
    guesses = _attack(targets, source, knowledge is None, config, _by_draw, _BY_DRAW)
    return guesses.withColumn("outcome", F.lit("answered")).select(*PREDICTIONS.names)


# -- text --------------------------------------------------------------------------------------


def _known_spans(chunks: DataFrame, mentions: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    spans = mentions.groupBy("chunk_id").agg(
        F.collect_list(F.struct("start", "end")).alias("spans")
    )
    return chunks.join(spans, "chunk_id", "left")


def _spans(row: dict[str, Any]) -> list[tuple[int, int]]:
    return [(s["start"], s["end"]) for s in row["spans"] or ()]


def _frequencies(known: DataFrame) -> tuple[dict[str, Any], int]:
    """Return, for each kind of words, the known chunks that hold each bucket, and their number."""
    from pyspark.sql import functions as F

    def buckets(rows: list[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
        counts: dict[str, Counter[int]] = {STYLE: Counter(), WORDS: Counter()}
        for row in rows:
            for kind, spans in ((STYLE, _spans(row)), (WORDS, [])):
                counts[kind].update(text.bucket_counts(text.words(row["text"], spans)).keys())
        for kind, held in counts.items():
            yield kind, list(held), list(held.values())
        yield "chunks", [0], [len(rows)]

    held = _map_batches(
        known.select("text", "spans"),
        buckets,
        [
            ("kind", pa.string()),
            ("buckets", pa.list_(pa.int32())),
            ("counts", pa.list_(pa.int64())),
        ],
    )
    counted = (
        held.select("kind", F.explode(F.arrays_zip("buckets", "counts")).alias("zipped"))
        .groupBy("kind", F.col("zipped.buckets").alias("bucket"))
        .agg(F.sum("zipped.counts").alias("count"))
    )
    found = {kind: np.zeros(text.BUCKETS, dtype=np.int64) for kind in (STYLE, WORDS)}
    n = 0
    # At most two rows a bucket, whatever the size of the corpus.
    for kind, bucket, count in counted.collect():
        if kind == "chunks":
            n = count
        else:
            found[kind][bucket] = count
    return found, n


def text_attack(
    chunks: DataFrame,
    mentions: DataFrame,
    rewrites: DataFrame,
    config: AuditConfig,
    knowledge: tuple[DataFrame, DataFrame] | None = None,
) -> DataFrame:
    """Guess the metadata of swapped chunks from their words, before and after.

    Parameters
    ----------
    chunks, mentions : pyspark.sql.DataFrame
        Tables CHUNKS and MENTIONS of the corpus.
    rewrites : pyspark.sql.DataFrame
        Output of :func:`final_rewrites`.
    config : AuditConfig
        ``max_candidates_per_entity`` bounds words as it does entities.
    knowledge : (DataFrame, DataFrame), optional
        CHUNKS and MENTIONS of another corpus that the adversary knows instead.

    Returns
    -------
    pyspark.sql.DataFrame
        Table PREDICTIONS. Adversary ``style`` sees the words outside mentions only: swapping does
        not touch them, so it is right as often after as before, and shows what style alone gives
        away. ``words`` sees all words of the text before and of the text after; ``words-self``
        knows the chunk itself too.

    Raises
    ------
    InputError
        When there is nothing to learn from.
    """
    from pyspark import StorageLevel
    from pyspark.sql import functions as F

    here = knowledge is None
    source = _known_spans(*(knowledge or (chunks, mentions)))
    norms, labels = {STYLE: {}, WORDS: {}}, []  # type: dict[str, dict[str, int]], list[str]
    frequencies, n = _frequencies(source)
    if not n:
        raise InputError("the audit has no chunks to learn from; is the reference corpus empty?")

    def vector(counts: dict[str, int], kind: str) -> dict[int, int]:
        return text.tfidf(text.bucket_counts(counts), frequencies[kind], n)

    def learn(rows: list[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
        # Chunks of a document come together: adding them up here spares most of the shuffle.
        sums: dict[tuple[str, str], Counter[int]] = {}
        for row in rows:
            for kind, spans in ((STYLE, _spans(row)), (WORDS, [])):
                found = vector(text.words(row["text"], spans), kind)
                sums.setdefault((kind, row["metadata"]), Counter()).update(found)
        for (kind, label), total in sums.items():
            yield kind, label, list(total), list(total.values())

    weights = [("buckets", pa.list_(pa.int32())), ("weights", pa.list_(pa.int64()))]
    zipped = F.explode(F.arrays_zip("buckets", "weights")).alias("zipped")
    summed = (
        _map_batches(
            source.select("text", "spans", "metadata"),
            learn,
            [("kind", pa.string()), ("label", pa.string()), *weights],
        )
        .select("kind", "label", zipped)
        .select(
            "kind",
            "label",
            F.col("zipped.buckets").alias("bucket"),
            F.col("zipped.weights").alias("w"),
        )
        .repartition("kind", "bucket")
        .groupBy("kind", "bucket", "label")
        .agg(F.sum("w").alias("total"))
    )
    # Used twice, and costly: all texts are read for it.
    centroids = _of_few_labels(
        summed, ("kind", "bucket"), config.max_candidates_per_entity
    ).persist(StorageLevel.DISK_ONLY)
    wide = F.col("total").cast("decimal(19,0)")
    squares = (wide * wide).cast("decimal(38,0)")
    for row in centroids.groupBy("kind", "label").agg(F.sum(squares).alias("square")).collect():
        norms[row["kind"]][row["label"]] = int(row["square"])
    labels = sorted(row["metadata"] for row in source.select("metadata").distinct().collect())
    hashes = ranking.hashes_of(labels)
    place = {label: i for i, label in enumerate(labels)}

    posts = rewrites.groupBy("chunk_id").agg(
        F.collect_list(F.struct("draw", "text")).alias("posts")
    )
    shown = _known_spans(chunks, mentions).join(posts, "chunk_id")

    def look(row: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        before = text.words(row["text"])
        seen = [(STYLE, "", text.words(row["text"], _spans(row))), (WORDS, "", before)]
        seen += [(WORDS, t, text.words(t)) for t in sorted({p["text"] for p in row["posts"]})]
        known = {kind: vector(counts, kind) for kind, _, counts in seen[:2]}
        for kind, target, counts in seen:
            found = vector(counts, kind)
            own = known[kind]
            draws = sorted(p["draw"] for p in row["posts"] if not target or p["text"] == target)
            yield (
                row["chunk_id"],
                row["document_id"],
                row["metadata"],
                kind,
                target != "",
                draws,
                sum(w * own[b] for b, w in found.items() if b in own),
                sum(w * w for w in own.values()),
                list(found),
                list(found.values()),
            )

    looked = [
        *_SEEN,
        ("kind", pa.string()),
        ("after", pa.bool_()),
        ("draws", pa.list_(pa.int32())),
        ("own_dot", pa.int64()),
        ("own_square", pa.int64()),
    ]
    kept = [name for name, _ in looked]
    dots = (
        _map_rows(
            shown.select("chunk_id", "document_id", "metadata", "text", "spans", "posts"),
            look,
            [*looked, *weights],
        )
        .select(*kept, F.explode_outer(F.arrays_zip("buckets", "weights")).alias("zipped"))
        .select(
            *kept, F.col("zipped.buckets").alias("bucket"), F.col("zipped.weights").alias("weight")
        )
        .join(centroids, ["kind", "bucket"], "left")
        .groupBy(*kept, "label")
        .agg(F.sum(F.col("weight") * F.col("total")).alias("dot"))
        .groupBy("chunk_id", "document_id", "metadata")
        .agg(
            F.collect_list(
                F.struct("kind", "after", "draws", "own_dot", "own_square", "label", "dot")
            ).alias("found")
        )
    )

    def guess(row: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        truth = row["metadata"]
        ties = ranking.tie_keys(row["chunk_id"], hashes)
        sightings: dict[tuple[Any, ...], dict[str, int]] = {}
        for item in row["found"]:
            key = (
                item["kind"],
                item["after"],
                tuple(item["draws"]),
                item["own_dot"],
                item["own_square"],
            )
            products = sightings.setdefault(key, {})
            if item["label"] is not None:
                products[item["label"]] = item["dot"]
        # Own centroid times the chunk as it is known, for the norm of the centroid without it:
        # |c - x|^2 = |c|^2 - 2 c x + |x|^2.
        mine = place.get(truth) if here else None
        centroid = {key[0]: dot.get(truth, 0) for key, dot in sightings.items() if not key[1]}
        for (kind, after, draws, own_dot, own_square), products in sightings.items():
            for name, leave_out in ((kind, True), (kind + SELF, False)):
                if name == STYLE + SELF:
                    continue
                dot = [products.get(label, 0) for label in labels]
                squared = [norms[kind].get(label, 0) for label in labels]
                if leave_out and mine is not None:
                    dot[mine] -= own_dot
                    squared[mine] += own_square - 2 * centroid[kind]
                scores = text.cosines(dot, squared) / text.SCALE
                best, rank = ranking.best_and_rank(scores, ties, place.get(truth))
                answer = None if best is None else labels[best]
                sides = ("pre", "post") if kind == STYLE else (("post",) if after else ("pre",))
                for draw in draws:
                    for side in sides:
                        yield (
                            draw,
                            row["chunk_id"],
                            row["document_id"],
                            side,
                            name,
                            answer,
                            answer == truth,
                            rank,
                            [],
                        )

    guesses = _map_rows(dots, guess, [*_BY_DRAW, *_GUESS])
    return guesses.withColumn("outcome", F.lit("answered")).select(*PREDICTIONS.names)


# -- the frontier with the audit in it ---------------------------------------------------------


def attack_candidates(
    cells: DataFrame,
    rewrites: DataFrame,
    config: AuditConfig,
    hidden: Sequence[str] = (),
    knowledge: DataFrame | None = None,
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
    after = _once(_add_features(shown, [*keys, *_SEEN], hidden, pairs), F.struct(*names))

    def expand(row: dict[str, Any]) -> list[tuple[Any, ...]]:
        return [(*(use[name] for name in names), row["chunk_id"]) for use in row["uses"]]

    guesses = _attack(
        _before(cells, uses, pairs).unionByName(after),
        cells if knowledge is None else knowledge,
        knowledge is None,
        config,
        expand,
        [*keys, ("chunk_id", pa.string())],
    ).select(
        *names,
        "chunk_id",
        "side",
        "model",
        F.col("correct").cast("int").alias("correct"),
        F.coalesce((F.col("rank") <= 5).cast("int"), F.lit(0)).alias("hit5"),
    )
    # Used three times below, and costly.
    guesses = guesses.cache()
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
    scaled = {c: F.round(value * 10**12).cast("bigint") for c, value in ratio.items()}
    return (
        totals.groupBy("setting", "combination", "n_swaps", "model")
        .agg(
            F.count("*").cast("int").alias("draws"),
            *((F.sum(value) / F.count("*") / 10**12).alias(c) for c, value in scaled.items()),
        )
        .select(*ATTACKS.names)
    )


# -- the adversary who knows about swapping ----------------------------------------------------


def swap_aware_attack(
    cells: DataFrame,
    rewrites: DataFrame,
    combination: Sequence[str],
    config: AuditConfig,
    components: DataFrame | None = None,
    hidden: Sequence[str] = (),
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
        Without it any two chunks are candidates.
    hidden : sequence of str
        Categories that the release replaces by placeholders.

    Returns
    -------
    pyspark.sql.DataFrame
        Table PARTNER_GUESSES: chunks with an entity in every swapped category.
    """
    from pyspark import StorageLevel
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
    fields = [("draw", pa.int32())] + [
        (name, pa.string()) for name in ("chunk_id", "document_id", "metadata", "partner_id")
    ]
    seen = _add_features(released, fields, hidden, pairs=False)
    # Labels of two kinds in one pass: the document, and what stands beside the entities.
    outside_of = _outside(cells, swapped_categories, hidden)
    sizes = {**_document_labels(cells), **outside_of}
    n = cells.count()

    def split(row: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        categories = {f.split(linkage.FIELD, 1)[0] for f in row["features"]}
        inside = [f for f in row["features"] if f.split(linkage.FIELD, 1)[0] in swapped_categories]
        around = [f for f in row["features"] if f in outside_of]
        yield (
            *(row[name] for name, _ in fields),
            row["features"],
            [_DOCUMENT + row["document_id"], *around],
            inside,
            [True] * len(inside),
            categories.issuperset(swapped_categories),
            unswap.turn_of(row["chunk_id"]),
        )

    parts = [*fields, ("all_features", _STRINGS), ("labels", _STRINGS), ("features", _STRINGS)]
    parts += [("own", pa.list_(pa.bool_())), ("eligible", pa.bool_()), ("turn", pa.int64())]
    shown = (
        _map_rows(seen.drop("own"), split, parts)
        .withColumn("scope", F.col("draw"))
        .withColumn("target_id", F.col("chunk_id"))
        .persist(StorageLevel.DISK_ONLY)  # used three times, and costly
    )
    if components is None:
        placed = shown.withColumn("component", F.lit(0))
    else:
        placed = shown.join(components.select("chunk_id", "component"), "chunk_id")
    # The lottery comes before a task holds what is known about the suspects of a component.
    chance = Window.partitionBy("draw", "component").orderBy(
        F.col("partner_id").isNull(), "turn", "chunk_id"
    )
    limit = config.swap_aware_max_chunks
    suspected = (
        placed.where("eligible")
        .withColumn("_place", F.row_number().over(chance))
        .where((F.col("_place") <= limit) | F.col("partner_id").isNotNull())
    )
    smoothing = config.smoothing
    payload = ["document_id", "metadata", "partner_id", "component", "all_features", "labels"]

    def score(row: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        found = linkage.scores(
            _known(row["found"], sizes),
            n,
            frozenset(row["labels"]),
            leave_out=True,
            smoothing=smoothing,
            pair_weight=0.0,
        )
        fit = {k[1:]: v for k, v in found.items() if k.startswith(_DOCUMENT)}
        context = {k: v for k, v in found.items() if not k.startswith(_DOCUMENT)}
        yield (
            row["scope"],
            row["target_id"],
            row["document_id"],
            row["metadata"],
            row["partner_id"],
            row["component"],
            row["all_features"],
            list(fit),
            list(fit.values()),
            list(context),
            list(context.values()),
        )

    scored_fields = [
        *fields,
        ("component", pa.int32()),
        ("features", _STRINGS),
        ("fit_names", _STRINGS),
        ("fit_values", pa.list_(pa.float64())),
        ("context_names", _STRINGS),
        ("context_values", pa.list_(pa.float64())),
    ]
    suspects = _map_rows(
        _collected(suspected, shown, config.max_candidates_per_entity, payload),
        score,
        scored_fields,
    ).persist(StorageLevel.DISK_ONLY)  # counted, then judged
    judged = _judge(suspects, swapped_categories, config.context_weight).cache()
    # The rate tells how many pairs to undo: the most suspicious ones of the whole release.
    rate = rewrites.groupBy("draw").agg(F.expr("count(*) div 2").alias("swaps"))
    undone = (
        judged.where(F.col("match").isNotNull() & (F.col("chunk_id") < F.col("match")))
        .withColumn(
            "place",
            F.row_number().over(
                Window.partitionBy("draw").orderBy(
                    F.col("match_score").desc(), F.xxhash64("chunk_id", "match"), "chunk_id"
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


def _shares(counts: Mapping[tuple[int, int], int]) -> list[tuple[int, int, int, int, int]]:
    """Divide the pairs of all components among tasks of about the same work.

    Parameters
    ----------
    counts : mapping of (int, int) to int
        Draw and component to the number of suspects.

    Returns
    -------
    list of tuple of int
        Draw, component, part, parts, task: every component cut into parts of at most
        :data:`_PAIRS_A_TASK` pairs, the parts laid to the task that has the least, largest first.
    """
    shares = []
    for (draw, component), n in sorted(counts.items()):
        parts = -(-n * n // _PAIRS_A_TASK)
        shares += [(n * n / parts, draw, component, part, parts) for part in range(parts)]
    tasks = [(0.0, task) for task in range(math.ceil(sum(s[0] for s in shares) / _PAIRS_A_TASK))]
    found = []
    for work, draw, component, part, parts in sorted(shares, key=lambda s: (-s[0], *s[1:])):
        load, task = heapq.heappop(tasks)
        heapq.heappush(tasks, (load + work, task))
        found.append((draw, component, part, parts, task))
    return found


def _judge(suspects: DataFrame, swapped_categories: tuple[str, ...], beta: float) -> DataFrame:
    """Score and match the suspects of each draw and component; columns as in ``_JUDGED``.

    The pairs of a component are scored in as many tasks as they are worth, and matched in one:
    that takes the best few candidates of each chunk only.
    """
    from pyspark.sql import functions as F

    counts = {
        (row["draw"], row["component"]): row["count"]
        for row in suspects.groupBy("draw", "component").count().collect()
    }
    shares = _shares(counts)
    plan = suspects.sparkSession.createDataFrame(
        shares, "draw int, component int, part int, parts int, task int"
    )

    def score(frame: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        draw, component, part, parts = (
            int(frame[name].iloc[0]) for name in ("draw", "component", "part", "parts")
        )
        columns: list[Any] = [frame[name].tolist() for name in _SUSPECTS]
        rows = [
            unswap.Suspect(
                chunk_id,
                document_id,
                metadata,
                linkage.by_category(features),
                dict(zip(fit_names, map(float, fit_values), strict=True)),
                dict(zip(context_names, map(float, context_values), strict=True)),
                partner,
            )
            for (
                chunk_id,
                document_id,
                metadata,
                features,
                fit_names,
                fit_values,
                context_names,
                context_values,
                partner,
            ) in zip(*columns, strict=True)
        ]
        partners = {s.chunk_id: s.partner for s in rows}
        return pd.DataFrame(
            [
                (
                    draw,
                    component,
                    s.chunk_id,
                    partners[s.chunk_id],
                    s.candidates,
                    s.rank,
                    [name for name, _ in s.best],
                    [value for _, value in s.best],
                )
                for s in unswap.score_suspects(rows, swapped_categories, beta, part, parts)
            ],
            columns=[*_SCORED],
        ).astype({"rank": "Int32", "candidates": "int32", "draw": "int32", "component": "int32"})

    def match(frame: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        draw = int(frame["draw"].iloc[0])
        columns: list[Any] = [frame[name].tolist() for name in [*_SCORED][2:]]
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
    return (
        suspects.join(F.broadcast(plan), ["draw", "component"])
        # More partitions than tasks, so that few of them share one by chance of their hash.
        .repartition(4 * tasks, "task")
        .groupBy("task", "draw", "component", "part")
        .applyInPandas(score, _ddl_of(_SCORED))
        .groupBy("draw", "component")
        .applyInPandas(match, _ddl_of(_JUDGED))
    )


def _ddl_of(columns: Mapping[str, str]) -> str:
    return ", ".join(f"`{name}` {kind}" for name, kind in columns.items())


#: Marks a label that is a document; features never start with it.
_DOCUMENT = "\x1c"


def _document_labels(cells: DataFrame) -> dict[str, int]:
    counted = cells.groupBy("document_id").count().collect()
    return {_DOCUMENT + row["document_id"]: row["count"] for row in counted}


def _outside(
    cells: DataFrame, swapped_categories: Sequence[str], hidden: Sequence[str]
) -> dict[str, int]:
    """Return the features outside the swapped categories that two chunks share, with their counts.

    Those of a single chunk say nothing about another one. Swapping leaves these counts alone.
    """
    from pyspark.sql import functions as F

    seen = _add_features(
        _unchanged(cells), [("chunk_id", pa.string())], (*hidden, *swapped_categories), pairs=False
    )
    counted = (
        seen.select(F.explode("features").alias("feature"))
        .groupBy("feature")
        .count()
        .where("count >= 2")
        .collect()
    )
    return {row["feature"]: row["count"] for row in counted}


_SUSPECTS = (
    "chunk_id",
    "document_id",
    "metadata",
    "features",
    "fit_names",
    "fit_values",
    "context_names",
    "context_values",
    "partner_id",
)
_SCORED = {
    "draw": "int",
    "component": "int",
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


# -- summaries ---------------------------------------------------------------------------------


def summarize_audit(predictions: DataFrame, config: AuditConfig) -> list[AdversaryResult]:
    """Sum up the predictions of every adversary.

    Parameters
    ----------
    predictions : pyspark.sql.DataFrame
        Table PREDICTIONS, both sides of every chunk.
    config : AuditConfig
        ``min_chunks``, ``bootstrap``, ``confidence``.

    Returns
    -------
    list of AdversaryResult
        By name of adversary. Empty when nothing was swapped.

    Raises
    ------
    InputError
        When a chunk has a prediction on one side only.
    """
    from pyspark.sql import functions as F

    def side(name: str, value: Any) -> Any:
        return F.sum(F.when(F.col("side") == name, value).otherwise(F.lit(0)))

    right = F.col("correct").cast("int")
    hit5 = F.coalesce((F.col("rank") <= 5).cast("int"), F.lit(0))
    # On a grid: whole numbers add up the same in any order.
    reciprocal = F.coalesce(F.round(10**12 / F.col("rank")).cast(_EXACT), F.lit(0))
    pairs = predictions.groupBy("model", "draw", "document_id", "chunk_id").agg(
        *(side(s, right).alias(s) for s in ("pre", "post")),
        *(side(s, hit5).alias(f"hits5_{s}") for s in ("pre", "post")),
        *(side(s, reciprocal).alias(f"reciprocal_{s}") for s in ("pre", "post")),
        F.count("rank").alias("ranked"),
        F.count("*").alias("sides"),
    )
    sums = [
        F.sum(c).alias(c)
        for c in (
            "pre",
            "post",
            "ranked",
            "hits5_pre",
            "hits5_post",
            "reciprocal_pre",
            "reciprocal_post",
        )
    ]
    by_draw = (
        pairs.groupBy("model", "draw")
        .agg(
            F.count("*").alias("chunks"),
            *sums,
            F.sum(F.col("pre") * F.col("post")).alias("both"),
            F.sum(F.col("pre") * (1 - F.col("post"))).alias("pre_only"),
            F.sum((1 - F.col("pre")) * F.col("post")).alias("post_only"),
            F.sum((F.col("sides") != 2).cast("int")).alias("halves"),
        )
        .collect()
    )
    halves = sum(row["halves"] for row in by_draw)
    if halves:
        raise InputError(f"{halves} chunks have a prediction on one side only, or more than one")
    by_document = (
        pairs.groupBy("model", "document_id")
        .agg(F.count("*").alias("chunks"), F.sum(F.col("pre") - F.col("post")).alias("lost"))
        .collect()
    )
    counted = predictions.groupBy("model", "side", "outcome").count().collect()
    results = []
    for model in sorted({row["model"] for row in by_draw}):
        outcomes: dict[str, dict[str, int]] = {}
        for row in counted:
            if row["model"] == model:
                outcomes.setdefault(row["side"], {})[row["outcome"]] = int(row["count"])
        results.append(
            build_result(
                model,
                [
                    DrawSums(
                        row["draw"],
                        row["chunks"],
                        row["pre"],
                        row["post"],
                        row["ranked"],
                        row["hits5_pre"],
                        row["hits5_post"],
                        int(row["reciprocal_pre"]) / 10**12,
                        int(row["reciprocal_post"]) / 10**12,
                        row["both"],
                        row["pre_only"],
                        row["post_only"],
                    )
                    for row in by_draw
                    if row["model"] == model
                ],
                [
                    (row["document_id"], row["chunks"], row["lost"])
                    for row in by_document
                    if row["model"] == model
                ],
                outcomes,
                config.min_chunks,
                config.bootstrap,
                config.confidence,
            )
        )
    return results


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
    scale = 10**12

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
