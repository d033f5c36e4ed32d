"""The text attacker on Spark: words of chunks against the words of every document.

Sightings (a chunk before swapping, its texts after) are compared with centroids (documents) block
by block, as sparse matrices; a score is an integer, so blocks do not change a result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nes_spark.audit import ranking, text
from nes_spark.audit.adversaries import SELF, STYLE, WORDS
from nes_spark.audit.mapping_stages import ddl_of, hold, map_arrow, map_batches, map_rows
from nes_spark.config import AuditConfig
from nes_spark.errors import InputError
from nes_spark.schemas import PREDICTIONS
from nes_spark.spreading import spread

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

#: Words outside names, and all words.
KINDS = (STYLE, WORDS)
_ROWS = "rows"
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


def _counted(known: DataFrame) -> DataFrame:
    """Count the words of every chunk: ``chunk_id``, ``kind`` .. ``weights``, two rows a chunk."""

    def count(rows: list[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
        for row in rows:
            for kind, spans in ((STYLE, _spans(row)), (WORDS, [])):
                held = text.bucket_counts(text.words(row["text"], spans))
                yield row["chunk_id"], kind, row["metadata"], *_packed([*held], [*held.values()])

    return map_batches(
        known.select("chunk_id", "text", "spans", "metadata"),
        count,
        [("chunk_id", pa.string()), *_VECTOR],
    )


def _frequencies(vectors: DataFrame) -> tuple[dict[str, np.ndarray], int]:
    """Return, for each kind of words, how many rows hold each bucket, and the rows of a kind."""
    from pyspark.sql import functions as F

    def add_up(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held: dict[str, Any] = {}
        n = 0
        for batch in batches:
            for kind in KINDS:
                mine = batch.filter(pc.equal(batch["kind"], kind))
                found = np.bincount(_numbers(mine["buckets"])[0], minlength=text.BUCKETS)
                held[kind] = held[kind] + found if kind in held else found
            n += mine.num_rows
        for kind, sums in held.items():
            (places,) = np.nonzero(sums)
            rows = {"kind": [kind] * len(places), "bucket": places, "count": sums[places]}
            yield pa.RecordBatch.from_pydict(rows, schema=_HELD)
        if n:
            yield pa.RecordBatch.from_pydict(
                {"kind": [_ROWS], "bucket": [0], "count": [n]}, schema=_HELD
            )

    sums = vectors.mapInArrow(add_up, "kind string, bucket int, count bigint")
    found = {kind: np.zeros(text.BUCKETS, dtype=np.int64) for kind in KINDS}
    n = 0
    # At most two rows a bucket, whatever the size of the corpus.
    for kind, bucket, count in (
        sums.groupBy("kind", "bucket").agg(F.sum("count").alias("count")).collect()
    ):
        if kind == _ROWS:
            n = count
        else:
            found[kind][bucket] = count
    return found, n


@dataclass(frozen=True)
class Learned:
    """What the attacker has learned of the chunks that it knows.

    Attributes
    ----------
    inverse : dict of str to list of float, of length BUCKETS
        Inverse document frequency of each bucket, for each of :data:`KINDS`.
    kept : dict of str to numpy.ndarray of bool, shape (BUCKETS,)
        Buckets that weigh something: those of too many candidates are nobody's words.
    centroids : pyspark.sql.DataFrame
        ``kind, label, buckets, weights``: the sum of the vectors of each candidate, as bytes.
    labels : pyspark.sql.DataFrame
        ``label``: the candidates.
    here : bool
        Whether the chunks in question are among those that it knows.
    """

    inverse: dict[str, list[float]]
    kept: dict[str, np.ndarray]
    centroids: DataFrame
    labels: DataFrame
    here: bool


class KnownWords:
    """The words of the chunks of a corpus, counted once for all attacks that know them.

    Nothing is read before the first attack asks.

    Parameters
    ----------
    chunks, mentions : pyspark.sql.DataFrame
        Tables CHUNKS and MENTIONS.
    config : AuditConfig
        ``max_candidates_per_entity`` bounds words as it does entities.
    until : contextlib.ExitStack, optional
        Frees the disk that intermediate tables take when it closes, which must be after the results
        are written; without it the session frees it.
    here : bool
        Whether chunks that are asked about are among these.
    """

    def __init__(
        self,
        chunks: DataFrame,
        mentions: DataFrame,
        config: AuditConfig,
        until: ExitStack | None = None,
        here: bool = True,
    ) -> None:
        self._chunks, self._mentions = chunks, mentions
        self._most, self._until, self._here = config.max_candidates_per_entity, until, here

    @cached_property
    def _words(self) -> DataFrame:
        from pyspark.sql import functions as F

        # Chunks of a document stay together, so that their words are added up before they are sent
        # on; those of a huge one come in blocks.
        block = (F.col("position") / _BLOCK).cast("int")
        known = spread(_known_spans(self._chunks, self._mentions), "document_id", block)
        return hold(_counted(known), self._until)  # costly: all texts are read for it

    @cached_property
    def learned(self) -> Learned:
        """What all the chunks teach.

        Raises
        ------
        InputError
            When there are none.
        """
        return self._learn(self._words, self._until, self._here)

    def of(self, chunk_ids: DataFrame, until: ExitStack | None = None) -> Learned:
        """Return what some of the chunks (``chunk_id``) teach who is asked about others.

        Raises
        ------
        InputError
            When there are none.
        """
        return self._learn(self._words.join(chunk_ids, "chunk_id", "left_semi"), until, False)

    def _learn(self, words: DataFrame, until: ExitStack | None, here: bool) -> Learned:
        frequencies, n = _frequencies(words)
        if not n:
            raise InputError(
                "the audit has no chunks to learn from; is the reference corpus empty?"
            )
        inverse = {kind: text.inverse_frequencies(found, n) for kind, found in frequencies.items()}
        # One row a kind and candidate, also where it has no words.
        centroids = hold(_centroids(words.drop("chunk_id"), inverse), until)
        users, _ = _frequencies(centroids)
        kept = {kind: (held > 0) & (held <= self._most) for kind, held in users.items()}
        labels = centroids.select("label").distinct()
        return Learned(inverse, kept, centroids, labels, here)


def text_attack(
    chunks: DataFrame,
    mentions: DataFrame,
    rewrites: DataFrame,
    learned: Learned,
    until: ExitStack | None = None,
) -> DataFrame:
    """Guess the metadata of swapped chunks from their words, before and after.

    Parameters
    ----------
    chunks, mentions : pyspark.sql.DataFrame
        Tables CHUNKS and MENTIONS of the corpus.
    rewrites : pyspark.sql.DataFrame
        Output of :func:`nes_spark.releases.publish_stages.chosen_rewrites`.
    learned : Learned
        What the attacker knows, from :class:`KnownWords` of this corpus or of another.
    until : contextlib.ExitStack, optional
        As for :class:`KnownWords`.

    Returns
    -------
    pyspark.sql.DataFrame
        Table PREDICTIONS. Adversary ``style`` sees the words outside mentions only: swapping does
        not touch them, so it is right as often after as before, and shows what style alone gives
        away. ``words`` sees all words of the text before and of the text after; ``words-self``
        knows the chunk itself too.
    """
    from pyspark.sql import functions as F

    here, kept, inverse = learned.here, learned.kept, learned.inverse

    def vector(counts: dict[str, int], kind: str) -> dict[int, int]:
        found = text.tfidf(text.bucket_counts(counts), inverse[kind])
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
                row["known"] is not None,
                sum(w * own[b] for b, w in found.items() if b in own),
                sum(w * w for w in own.values()),
                *_packed([*found], [*found.values()]),
            )

    posts = rewrites.groupBy("chunk_id").agg(
        F.collect_list(F.struct("draw", "text")).alias("posts")
    )
    known = learned.labels.select(F.col("label").alias("metadata"), F.lit(True).alias("known"))
    asked = chunks.join(posts, "chunk_id").join(known, "metadata", "left")
    # of all the mentions those of the chunks in question
    mine = mentions.join(rewrites.select("chunk_id"), "chunk_id", "left_semi")
    sightings = hold(
        map_rows(
            spread(
                _known_spans(asked, mine).select(
                    "chunk_id", "document_id", "metadata", "known", "text", "spans", "posts"
                ),
                "chunk_id",
            ),
            look,
            _SIGHTING,
        ),
        until,
    )
    ranked = _ranked(sightings, learned, until)
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


#: Numbers of a vector lie one behind the other as bytes: as lists, each would be handed on by
#: itself, several times between Spark and Python.
_WEIGHTS = [("buckets", pa.binary()), ("weights", pa.binary())]
_TYPES: dict[str, np.dtype[Any]] = {"buckets": np.dtype("<i4"), "weights": np.dtype("<i8")}
_VECTOR = [("kind", pa.string()), ("label", pa.string()), *_WEIGHTS]
_HELD = pa.schema([("kind", pa.string()), ("bucket", pa.int32()), ("count", pa.int64())])
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
#: Of a sighting what is compared.
_TARGET = [f for f in _SIGHTING if f[0] not in ("document_id", "draws", "known")]


def _centroids(counted: DataFrame, inverse: dict[str, list[float]]) -> DataFrame:
    """Add up the vectors of each candidate: ``kind, label, buckets, weights``."""

    weights = {kind: np.array(found) for kind, found in inverse.items()}

    def learn(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
        # Chunks of a document come together: adding them up here spares most of the shuffle.
        for kind in KINDS:
            mine = batch.filter(pc.equal(batch["kind"], kind))
            buckets, ends = _numbers(mine["buckets"])
            counts, _ = _numbers(mine["weights"], "weights")
            labels = mine["label"].dictionary_encode()
            row, bucket, weight = text.tfidf_rows(buckets, counts, ends, weights[kind])
            place = labels.indices.to_numpy()[row].astype(np.int64)
            found, at = np.unique(place * text.BUCKETS + bucket, return_inverse=True)
            sums = np.zeros(len(found), dtype=np.int64)
            np.add.at(sums, at, weight)
            owners = found // text.BUCKETS
            for number, label in enumerate(labels.dictionary.to_pylist()):
                low, high = np.searchsorted(owners, [number, number + 1])
                yield kind, label, *_packed(found[low:high] % text.BUCKETS, sums[low:high])

    def add_up(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parts: list[tuple[np.ndarray, np.ndarray]] = []
        key: tuple[str, str] | None = None
        for batch in batches:
            rows = []
            names = zip(batch["kind"].to_pylist(), batch["label"].to_pylist(), strict=True)
            for name, part in zip(names, _arrays(batch), strict=True):
                if key is not None and name != key:
                    rows.append((*key, *_packed(*text.added_up(parts))))
                    parts = []
                key = name
                parts.append(part)
            yield _batch(rows)
        if key is not None:
            yield _batch([(*key, *_packed(*text.added_up(parts)))])

    learned = map_arrow(counted, learn, _VECTOR)
    together = learned.repartition("kind", "label").sortWithinPartitions("kind", "label")
    return together.mapInArrow(add_up, learned.schema)


def _packed(buckets: Any, weights: Any) -> tuple[bytes, bytes]:
    """Return a vector as a row has it."""
    return (
        np.asarray(buckets, dtype=_TYPES["buckets"]).tobytes(),
        np.asarray(weights, dtype=_TYPES["weights"]).tobytes(),
    )


def _numbers(column: pa.Array, name: str = "buckets") -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of all rows of a column, one behind the other, and where each row ends."""
    kind = _TYPES[name]
    _, places, data = column.buffers()
    bounds = np.frombuffer(places, np.int32)[column.offset : column.offset + len(column) + 1]
    if data is None or not len(column):
        return np.zeros(0, dtype=kind), np.zeros(len(column), dtype=np.int64)
    flat = np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]].view(kind)
    return flat, (bounds[1:] - bounds[0]).astype(np.int64) // kind.itemsize


def _arrays(batch: pa.RecordBatch) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Buckets and weights of every row of a batch of vectors."""
    buckets, ends = _numbers(batch["buckets"])
    weights, _ = _numbers(batch["weights"], "weights")
    yield from zip(np.split(buckets, ends[:-1]), np.split(weights, ends[:-1]), strict=True)


def _pairs(buckets: bytes | None, weights: bytes | None) -> Iterator[tuple[int, int]]:
    """Buckets and weights of one vector; none of one that is not there."""
    yield from zip(
        np.frombuffer(buckets or b"", _TYPES["buckets"]).tolist(),
        np.frombuffer(weights or b"", _TYPES["weights"]).tolist(),
        strict=True,
    )


def _columns(frame: pd.DataFrame) -> Iterator[list[np.ndarray]]:
    """Buckets and weights of all rows."""
    return ([np.frombuffer(row, kind) for row in frame[name]] for name, kind in _TYPES.items())


def _batch(rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    """Rows of vectors as Arrow has them."""
    schema = pa.schema(_VECTOR)
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    arrays = [
        pa.array(list(values), type=field.type)
        for values, field in zip(columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _ranked(sightings: DataFrame, learned: Learned, until: ExitStack | None) -> DataFrame:
    """Compare all sightings with all candidates.

    Returns
    -------
    pyspark.sql.DataFrame
        ``sighting, other, ahead, ahead_self``: the first candidate but for the true one, and how
        many come before the true one when it does not know the chunk, and when it does.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    kept, here = learned.kept, learned.here
    seen, _ = _frequencies(sightings.select("kind", "buckets"))
    wanted = {kind: seen[kind] > 0 for kind in KINDS}

    def reduce(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
        names = zip(batch["kind"].to_pylist(), batch["label"].to_pylist(), strict=True)
        for (kind, label), (buckets, totals) in zip(names, _arrays(batch), strict=True):
            mine = kept[kind][buckets]
            square = text.squared_norm(totals[mine])
            # A word that no sighting has counts in the norm alone.
            asked = mine & wanted[kind][buckets]
            yield kind, label, str(square), *_packed(buckets[asked], totals[asked])

    candidates = hold(
        map_arrow(learned.centroids, reduce, [*_VECTOR[:2], ("square", pa.string()), *_WEIGHTS]),
        until,
    )
    # The true candidate first: what it scores decides who is ahead of it.
    true = candidates.select(
        "kind",
        F.col("label").alias("metadata"),
        F.col("square").alias("true_square"),
        F.col("buckets").alias("true_buckets"),
        F.col("weights").alias("true_weights"),
    )

    def product(row: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
        of = dict(_pairs(row["true_buckets"], row["true_weights"]))
        words = _pairs(row["buckets"], row["weights"])
        dot = sum(weight * of[bucket] for bucket, weight in words if bucket in of)
        kept_columns = (row[name] for name, _ in _TARGET)
        yield *kept_columns, dot, row["true_square"] or "0"

    chunk = Window.partitionBy("chunk_id", "kind")
    targets = map_rows(
        sightings.select(*(name for name, _ in _TARGET)).join(true, ["kind", "metadata"], "left"),
        product,
        [*_TARGET, ("dot", pa.int64()), ("square", pa.string())],
    ).withColumn("before", F.max(F.when(~F.col("after"), F.col("dot"))).over(chunk))
    sizes = [
        (frame.agg(F.sum(F.length("buckets"))).collect()[0][0] or 0) // _TYPES["buckets"].itemsize
        for frame in (sightings, candidates)
    ]
    down, across = 1 + sizes[0] // _SIGHTED_WORDS, 1 + sizes[1] // _CENTROID_WORDS

    def compare(seen: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
        import pandas as pd

        if not len(seen) or not len(known):
            return pd.DataFrame(columns=[*_COMPARED])
        place = {label: i for i, label in enumerate(known["label"])}
        truth = seen["metadata"].tolist()
        names = ("dot", "square", "own_dot", "own_square", "before")
        scores = [
            text.true_scores(dot, int(square), own_dot, own_square, before if here else 0)
            for dot, square, own_dot, own_square, before in zip(
                *(seen[name].tolist() for name in names), strict=True
            )
        ]
        found = text.nearest(
            text.vectors(*_columns(seen)),
            ranking.hashes_of(seen["chunk_id"].tolist()),
            text.vectors(*_columns(known)),
            np.array([math.sqrt(int(square)) for square in known["square"]]),
            ranking.hashes_of(list(place)),
            np.array([place.get(label, -1) for label in truth]),
            ranking.hashes_of(truth),
            np.array(scores, dtype=np.int64),
        )
        names_of = np.array([*place, None], dtype=object)
        return pd.DataFrame(
            {
                "sighting": seen["sighting"],
                "score": found.score,
                # Spark has signed integers only; the order stays.
                "tie": (found.tie ^ np.uint64(1 << 63)).view(np.int64),
                "other": names_of[found.candidate],
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
