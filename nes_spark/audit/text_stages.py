"""The text attacker on Spark: words of chunks against the words of every document.

Sightings (a chunk before swapping, its texts after) are compared with centroids (documents) block
by block, as sparse matrices; a score is an integer, so blocks do not change a result.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from nes_spark.audit import ranking, text
from nes_spark.audit.adversaries import SELF, STYLE, WORDS
from nes_spark.audit.mapping_stages import ddl_of, hold, map_batches, map_rows, of_few_labels
from nes_spark.config import AuditConfig
from nes_spark.errors import InputError
from nes_spark.schemas import PREDICTIONS
from nes_spark.session import spread

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

#: Chunks of one document that go to one task.
_BLOCK = 1000
#: Words that one task holds of candidates, and of targets.
_CENTROID_WORDS = 2_000_000
_SIGHTED_WORDS = 500_000


def _known_spans(chunks: DataFrame, mentions: DataFrame) -> DataFrame:
    """Give chunks the spans of their mentions."""
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

    held = map_batches(
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
    until: ExitStack | None = None,
) -> DataFrame:
    """Guess the metadata of swapped chunks from their words, before and after.

    Parameters
    ----------
    chunks, mentions : pyspark.sql.DataFrame
        Tables CHUNKS and MENTIONS of the corpus.
    rewrites : pyspark.sql.DataFrame
        Output of :func:`nes_spark.releases.publish_stages.chosen_rewrites`.
    config : AuditConfig
        ``max_candidates_per_entity`` bounds words as it does entities.
    knowledge : (DataFrame, DataFrame), optional
        CHUNKS and MENTIONS of another corpus that the adversary knows instead.
    until : contextlib.ExitStack, optional
        Frees the disk that intermediate tables take when it closes, which must be after the result
        is written; without it the session frees it.

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
    from pyspark.sql import functions as F

    here = knowledge is None
    # Chunks of a document stay together, so that their words are added up before they are sent on;
    # those of a huge one come in blocks.
    block = (F.col("position") / _BLOCK).cast("int")
    source = spread(_known_spans(*(knowledge or (chunks, mentions))), "document_id", block)
    frequencies, n = _frequencies(source)
    if not n:
        raise InputError("the audit has no chunks to learn from; is the reference corpus empty?")
    # Costly: all texts are read for it.
    centroids = hold(_centroids(source, frequencies, n, config.max_candidates_per_entity), until)
    # Buckets of too many candidates are nobody's words: they weigh nothing in any vector.
    kept = {kind: np.zeros(text.BUCKETS, dtype=bool) for kind in (STYLE, WORDS)}
    for row in centroids.select("kind", "bucket").distinct().collect():
        kept[row["kind"]][row["bucket"]] = True
    labels = source.select(F.col("metadata").alias("label")).distinct()
    known = {row["label"] for row in labels.collect()}

    def vector(counts: dict[str, int], kind: str) -> dict[int, int]:
        found = text.tfidf(text.bucket_counts(counts), frequencies[kind], n)
        return {bucket: weight for bucket, weight in found.items() if kept[kind][bucket]}

    def look(row: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        seen = [(STYLE, "", text.words(row["text"], _spans(row)))]
        seen += [(WORDS, "", text.words(row["text"]))]
        seen += [(WORDS, t, text.words(t)) for t in sorted({p["text"] for p in row["posts"]})]
        before = {kind: vector(counts, kind) if here else {} for kind, _, counts in seen[:2]}
        for number, (kind, target, counts) in enumerate(seen):
            found, own = vector(counts, kind), before[kind]
            draws = sorted(p["draw"] for p in row["posts"] if not target or p["text"] == target)
            yield (
                f"{row['chunk_id']}\x1f{number}",
                row["chunk_id"],
                row["document_id"],
                row["metadata"],
                kind,
                target != "",
                draws,
                row["metadata"] in known,
                sum(w * own[b] for b, w in found.items() if b in own),
                sum(w * w for w in own.values()),
                list(found),
                list(found.values()),
            )

    posts = rewrites.groupBy("chunk_id").agg(
        F.collect_list(F.struct("draw", "text")).alias("posts")
    )
    sightings = hold(
        map_rows(
            spread(
                _known_spans(chunks.join(posts, "chunk_id"), mentions).select(
                    "chunk_id", "document_id", "metadata", "text", "spans", "posts"
                ),
                "chunk_id",
            ),
            look,
            _SIGHTING,
        ),
        until,
    )
    ranked = _ranked(sightings, centroids, labels, here)
    # The truth comes first when nobody is ahead of it.
    variants = F.explode(
        F.array(
            F.struct(F.col("kind").alias("model"), F.col("ahead").alias("before_it")),
            F.struct(
                F.concat("kind", F.lit(SELF)).alias("model"), F.col("ahead_self").alias("before_it")
            ),
        )
    ).alias("variant")
    sides = F.when(F.col("kind") == STYLE, F.array(F.lit("pre"), F.lit("post"))).otherwise(
        F.array(F.when(F.col("after"), "post").otherwise("pre"))
    )
    first = F.when(F.col("known") & (F.col("variant.before_it") == 0), F.col("metadata"))
    return (
        sightings.drop("buckets", "weights")
        .join(ranked, "sighting")
        .select("*", variants)
        .where(F.col("variant.model") != STYLE + SELF)
        .withColumn("answer", F.coalesce(first, "other"))
        .withColumn("draw", F.explode("draws"))
        .withColumn("side", F.explode(sides))
        .withColumn("model", F.col("variant.model"))
        .withColumn("correct", F.coalesce(F.col("answer") == F.col("metadata"), F.lit(False)))
        .withColumn("rank", F.when(F.col("known"), (F.col("variant.before_it") + 1).cast("int")))
        .withColumn("evidence", F.array().cast("array<string>"))
        .withColumn("outcome", F.lit("answered"))
        .select(*PREDICTIONS.names)
    )


_WEIGHTS = [("buckets", pa.list_(pa.int32())), ("weights", pa.list_(pa.int64()))]
_SIGHTING = [
    ("sighting", pa.string()),
    ("chunk_id", pa.string()),
    ("document_id", pa.string()),
    ("metadata", pa.string()),
    ("kind", pa.string()),
    ("after", pa.bool_()),
    ("draws", pa.list_(pa.int32())),
    ("known", pa.bool_()),
    ("own_dot", pa.int64()),
    ("own_square", pa.int64()),
    *_WEIGHTS,
]


def _centroids(
    source: DataFrame, frequencies: dict[str, np.ndarray], n: int, most: int
) -> DataFrame:
    """Add up the vectors of each candidate: ``kind, label, bucket, total``.

    Buckets that more than `most` candidates have are left out.
    """
    from pyspark.sql import functions as F

    def learn(rows: list[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
        # Chunks of a document come together: adding them up here spares most of the shuffle.
        sums: dict[tuple[str, str], Counter[int]] = {}
        for row in rows:
            for kind, spans in ((STYLE, _spans(row)), (WORDS, [])):
                counts = text.bucket_counts(text.words(row["text"], spans))
                found = text.tfidf(counts, frequencies[kind], n)
                sums.setdefault((kind, row["metadata"]), Counter()).update(found)
        for (kind, label), total in sums.items():
            yield kind, label, list(total), list(total.values())

    summed = (
        map_batches(
            source.select("text", "spans", "metadata"),
            learn,
            [("kind", pa.string()), ("label", pa.string()), *_WEIGHTS],
        )
        .select("kind", "label", F.explode(F.arrays_zip("buckets", "weights")).alias("zipped"))
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
    return of_few_labels(summed, ("kind", "bucket"), most)


def _ranked(sightings: DataFrame, centroids: DataFrame, labels: DataFrame, here: bool) -> DataFrame:
    """Compare all sightings with all candidates.

    Returns
    -------
    pyspark.sql.DataFrame
        ``sighting, other, ahead, ahead_self``: the first candidate but for the true one, and how
        many come before the true one when it does not know the chunk, and when it does.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    wide = F.col("total").cast("decimal(19,0)")
    square = F.sum((wide * wide).cast("decimal(38,0)")).alias("square")
    squares: dict[str, dict[str, int]] = {STYLE: {}, WORDS: {}}
    for row in centroids.groupBy("kind", "label").agg(square).collect():
        squares[row["kind"]][row["label"]] = int(row["square"])
    words = sightings.select(
        "sighting",
        "kind",
        F.col("metadata").alias("label"),
        F.explode(F.arrays_zip("buckets", "weights")).alias("zipped"),
    ).select(
        "sighting",
        "kind",
        "label",
        F.col("zipped.buckets").alias("bucket"),
        F.col("zipped.weights").alias("weight"),
    )
    # Of the true candidate first: what it scores decides who is ahead of it.
    true = (
        words.join(centroids, ["kind", "bucket", "label"])
        .groupBy("sighting")
        .agg(F.sum(F.col("weight") * F.col("total")).alias("dot"))
    )
    zero = F.lit(0).cast("bigint")
    chunk = Window.partitionBy("chunk_id", "kind")
    targets = (
        sightings.drop("document_id", "draws")
        .join(true, "sighting", "left")
        .withColumn("dot", F.coalesce("dot", zero))
        .withColumn("before", F.max(F.when(~F.col("after"), F.col("dot"))).over(chunk))
    )
    wanted = words.select("kind", "bucket").distinct()
    held = centroids.join(wanted, ["kind", "bucket"], "left_semi")
    sums = held.groupBy("kind", "label").agg(
        F.collect_list(F.struct("bucket", "total")).alias("entries")
    )
    candidates = (
        labels.select("label", F.explode(F.array(F.lit(STYLE), F.lit(WORDS))).alias("kind"))
        .join(sums, ["kind", "label"], "left")
        .select(
            "kind",
            "label",
            F.coalesce("entries.bucket", F.array().cast("array<int>")).alias("buckets"),
            F.coalesce("entries.total", F.array().cast("array<bigint>")).alias("weights"),
        )
    )
    sighted = sightings.agg(F.sum(F.size("buckets"))).collect()[0][0] or 0
    down = 1 + sighted // _SIGHTED_WORDS
    across = 1 + held.count() // _CENTROID_WORDS

    def compare(seen: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        if not len(seen) or not len(known):
            return pd.DataFrame(columns=[*_COMPARED])
        own = squares[seen["kind"].iloc[0]]
        place = {label: i for i, label in enumerate(known["label"])}
        truth = seen["metadata"].tolist()
        scores = []
        columns = (seen[name].tolist() for name in ("dot", "own_dot", "own_square", "before"))
        for label, dot, own_dot, own_square, before in zip(truth, *columns, strict=True):
            known_dot = before if here else 0
            scores.append(text.true_scores(dot, own.get(label, 0), own_dot, own_square, known_dot))
        found = text.nearest(
            text.vectors(seen["buckets"].tolist(), seen["weights"].tolist()),
            ranking.hashes_of(seen["chunk_id"].tolist()),
            text.vectors(known["buckets"].tolist(), known["weights"].tolist()),
            np.array([math.sqrt(own.get(label, 0)) for label in known["label"]]),
            ranking.hashes_of(list(place)),
            np.array([place.get(label, -1) for label in truth]),
            ranking.hashes_of(truth),
            np.array(scores, dtype=np.int64),
        )
        names = np.array([*place, None], dtype=object)
        return pd.DataFrame(
            {
                "sighting": seen["sighting"],
                "score": found.score,
                # Spark has signed integers only; the order stays.
                "tie": (found.tie ^ np.uint64(1 << 63)).view(np.int64),
                "other": names[found.candidate],
                "ahead": found.ahead[:, 0],
                "ahead_self": found.ahead[:, 1],
            }
        )

    def block(column: str, of: int) -> Any:
        return F.pmod(F.xxhash64(column), F.lit(of)).cast("int")

    def every(of: int) -> Any:
        return F.explode(F.sequence(F.lit(0), F.lit(of - 1)))

    keys = ["kind", "down", "across"]
    compared = (
        targets.withColumn("down", block("sighting", down))
        .withColumn("across", every(across))
        .groupBy(*keys)
        .cogroup(
            candidates.withColumn("across", block("label", across))
            .withColumn("down", every(down))
            .groupBy(*keys)
        )
        .applyInPandas(compare, ddl_of(_COMPARED))
    )
    return (
        compared.groupBy("sighting")
        .agg(
            F.min(
                F.when(
                    F.col("other").isNotNull(),
                    F.struct((-F.col("score")).alias("falling"), "tie", "other"),
                )
            ).alias("best"),
            F.sum("ahead").alias("ahead"),
            F.sum("ahead_self").alias("ahead_self"),
        )
        .select("sighting", F.col("best.other").alias("other"), "ahead", "ahead_self")
    )


_COMPARED = {
    "sighting": "string",
    "score": "bigint",
    "tie": "bigint",
    "other": "string",
    "ahead": "bigint",
    "ahead_self": "bigint",
}
