"""Linkage and text adversaries on swapped chunks, in memory: rows of table PREDICTIONS.

The guesses are those of the Spark stages (:mod:`nes_spark.audit.stages`,
:mod:`nes_spark.audit.text_stages`), made of the same kernels; a corpus that fits the driver spares
their shuffles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from nes_spark.audit import text
from nes_spark.audit.adversaries import LINKAGE, SELF, STYLE, WORDS
from nes_spark.audit.linkage import features_of, swap_entities
from nes_spark.audit.linkage_matrix import KnownNames
from nes_spark.audit.ranking import hashes_of, stable_hash
from nes_spark.config import AuditConfig
from nes_spark.errors import InputError

Row = Mapping[str, Any]


def _nothing_to_learn() -> InputError:
    return InputError("the audit has no chunks to learn from; is the reference corpus empty?")


def linkage_predictions(
    cells: Sequence[Row], rewrites: Sequence[Row], config: AuditConfig, hidden: Sequence[str] = ()
) -> Iterator[tuple[Any, ...]]:
    """Guess the metadata of swapped chunks from their entities, before and after.

    Parameters
    ----------
    cells : sequence of mapping
        Rows of CELLS: ``chunk_id, document_id, metadata, entities``.
    rewrites : sequence of mapping
        ``draw, chunk_id, edits`` of the swapped chunks as released.
    config : AuditConfig
        ``smoothing, pair_weight, max_candidates_per_entity``.
    hidden : sequence of str
        Categories that the release replaces by placeholders.

    Yields
    ------
    tuple
        In the order of table PREDICTIONS, as :func:`nes_spark.audit.stages.linkage_attack`.

    Raises
    ------
    InputError
        When there is nothing to learn from.
    """
    if not cells:
        raise _nothing_to_learn()
    pairs = config.pair_weight > 0
    before = {c["chunk_id"]: features_of(c["entities"], (), pairs) for c in cells}
    place = {c["chunk_id"]: i for i, c in enumerate(cells)}
    known = KnownNames(
        [c["metadata"] for c in cells],
        [before[c["chunk_id"]] for c in cells],
        config.smoothing,
        config.pair_weight,
        config.max_candidates_per_entity,
    )
    uses = [
        (row["draw"], row["chunk_id"], side, found)
        for row in rewrites
        for side, found in (
            ("pre", before[row["chunk_id"]]),
            (
                "post",
                features_of(
                    swap_entities(cells[place[row["chunk_id"]]]["entities"], row["edits"] or ()),
                    hidden,
                    pairs,
                ),
            ),
        )
    ]
    own = np.array([place[chunk] for _, chunk, _, _ in uses], dtype=np.int64)
    truth = np.array([known.number[cells[i]["metadata"]] for i in own], dtype=np.int64)
    ids, features = [use[1] for use in uses], [use[3] for use in uses]
    for model, left_out in ((LINKAGE, True), (LINKAGE + SELF, False)):
        mine = own if left_out else None
        guesses = known.guess(ids, features, truth, mine)
        evidence = known.evidence(features, guesses.guess, truth, mine)
        for (draw, chunk, side, _), i, true, best, rank, spoke in zip(
            uses, own, truth, guesses.guess, guesses.rank, evidence, strict=True
        ):
            cell = cells[i]
            yield (
                int(draw),
                chunk,
                cell["document_id"],
                side,
                model,
                known.candidates[best],
                "answered",
                bool(best == true),
                int(rank),
                spoke,
            )


def text_predictions(
    chunks: Sequence[Row],
    spans: Mapping[str, Sequence[tuple[int, int]]],
    rewrites: Sequence[Row],
    config: AuditConfig,
) -> Iterator[tuple[Any, ...]]:
    """Guess the metadata of swapped chunks from their words, before and after.

    Parameters
    ----------
    chunks : sequence of mapping
        ``chunk_id, document_id, metadata, text`` of all chunks.
    spans : mapping of str to sequence of (int, int)
        Mentions of each chunk.
    rewrites : sequence of mapping
        ``draw, chunk_id, text``.
    config : AuditConfig
        ``max_candidates_per_entity``.

    Yields
    ------
    tuple
        In the order of table PREDICTIONS, as :func:`nes_spark.audit.text_stages.text_attack`.

    Raises
    ------
    InputError
        When there is nothing to learn from.
    """
    if not chunks:
        raise _nothing_to_learn()
    n, most = len(chunks), config.max_candidates_per_entity
    labels = sorted({c["metadata"] for c in chunks})
    number = {label: i for i, label in enumerate(labels)}
    by_id = {c["chunk_id"]: c for c in chunks}
    for kind in (STYLE, WORDS):
        counted = {
            c["chunk_id"]: text.bucket_counts(
                text.words(c["text"], spans.get(c["chunk_id"], ()) if kind == STYLE else ())
            )
            for c in chunks
        }
        frequency = np.zeros(text.BUCKETS, dtype=np.int64)
        for counts in counted.values():
            frequency[list(counts)] += 1
        inverse = text.inverse_frequencies(frequency, n)
        sums: list[Counter[int]] = [Counter() for _ in labels]
        for c in chunks:
            sums[number[c["metadata"]]].update(text.tfidf(counted[c["chunk_id"]], inverse))
        holders = Counter(bucket for total in sums for bucket in total)
        # Buckets of too many candidates are nobody's words.
        kept = {bucket for bucket, held in holders.items() if held <= most}
        centroids = [{b: t for b, t in total.items() if b in kept} for total in sums]
        squares = [sum(t * t for t in total.values()) for total in centroids]

        def vector(
            counts: Mapping[int, int], inverse: list[float] = inverse, kept: set[int] = kept
        ) -> dict[int, int]:
            found = text.tfidf(counts, inverse)
            return {bucket: weight for bucket, weight in found.items() if bucket in kept}

        sighted: dict[tuple[str, str | None], dict[int, int]] = {}
        for row in rewrites:
            chunk = row["chunk_id"]
            if (chunk, None) not in sighted:
                sighted[chunk, None] = vector(counted[chunk])
            if kind == WORDS and (chunk, row["text"]) not in sighted:
                counts = text.bucket_counts(text.words(row["text"]))
                sighted[chunk, row["text"]] = vector(counts)
        if not sighted:
            continue
        true = np.array([number[by_id[chunk]["metadata"]] for chunk, _ in sighted])

        def product(one: Mapping[int, int], other: Mapping[int, int]) -> int:
            return sum(w * other[b] for b, w in one.items() if b in other)

        scores = []
        for (chunk, _), label, seen in zip(sighted, true, sighted.values(), strict=True):
            own = sighted[chunk, None]
            scores.append(
                text.true_scores(
                    product(seen, centroids[label]),
                    squares[label],
                    product(seen, own),
                    sum(w * w for w in own.values()),
                    product(own, centroids[label]),
                )
            )
        hashes = hashes_of(labels)
        found = text.nearest(
            text.vectors(
                [np.array(list(v), dtype=np.int64) for v in sighted.values()],
                [np.array(list(v.values()), dtype=np.int64) for v in sighted.values()],
            ),
            np.array([stable_hash(chunk) for chunk, _ in sighted], dtype=np.uint64),
            text.vectors(
                [np.array(list(v), dtype=np.int64) for v in centroids],
                [np.array(list(v.values()), dtype=np.int64) for v in centroids],
            ),
            np.sqrt(np.array(squares, dtype=np.float64)),
            hashes,
            true,
            hashes[true],
            np.array(scores, dtype=np.int64),
        )
        places = {key: i for i, key in enumerate(sighted)}
        for row in rewrites:
            chunk = row["chunk_id"]
            for side in ("pre", "post"):
                after = kind == WORDS and side == "post"
                i = places[chunk, row["text"] if after else None]
                for variant, model in enumerate((kind, kind + SELF)):
                    if model == STYLE + SELF:
                        continue
                    ahead, other = int(found.ahead[i, variant]), int(found.candidate[i])
                    own_label = by_id[chunk]["metadata"]
                    answer = own_label if not ahead else labels[other]
                    yield (
                        int(row["draw"]),
                        chunk,
                        by_id[chunk]["document_id"],
                        side,
                        model,
                        answer,
                        "answered",
                        answer == own_label,
                        ahead + 1,
                        [],
                    )
