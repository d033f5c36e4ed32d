"""The adversary who knows about swapping, in memory: the guesses of the Spark stage.

See :mod:`nes_spark.audit.unswap` for what it does. Here the chunks of a release become its
:class:`~nes_spark.audit.unswap.Suspect` in one process; a corpus that fits the driver spares the
shuffles of :mod:`nes_spark.audit.unswap_stages`.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nes_spark.audit import linkage, unswap
from nes_spark.config import AuditConfig
from nes_spark.errors import parameter_error

Names = Mapping[str, Sequence[str]]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Chunk:
    """A chunk of a release.

    Attributes
    ----------
    chunk_id, document_id, metadata : str
    component : hashable
        Only chunks of one component are compared; with constraints that form groups, the group. Of
        one without, None, nothing is asked.
    before, shown : mapping of str to sequence of str
        Category -> names, originally and as released.
    """

    chunk_id: str
    document_id: str
    metadata: str
    component: Hashable
    before: Names
    shown: Names


class Released:
    """A release as the adversary sees it.

    Parameters
    ----------
    chunks : sequence of Chunk
        All of them.
    swapped : sequence of str
        The exchanged categories, which the adversary knows.
    hidden : sequence of str
        Categories that are replaced by placeholders.
    smoothing : float
    most : int
        A name known under more documents and neighbours than this is no evidence.
    """

    def __init__(
        self,
        chunks: Sequence[Chunk],
        swapped: Sequence[str],
        hidden: Sequence[str] = (),
        smoothing: float = 0.2,
        most: int = 1000,
    ) -> None:
        if not chunks or len({c.chunk_id for c in chunks}) < len(chunks):
            raise parameter_error("Released", "chunks", "one or more, each once", len(chunks))
        self._chunks = sorted(chunks, key=lambda c: c.chunk_id)
        self._swapped, self._smoothing = tuple(swapped), smoothing
        away = (*hidden, *swapped)
        beside = Counter(
            f for c in self._chunks for f in linkage.features_of(c.before, away, pairs=False)
        )
        documents = Counter(unswap.DOCUMENT + c.document_id for c in self._chunks)
        counted = {**documents, **{f: k for f, k in beside.items() if k >= 2}}
        number = {label: i for i, label in enumerate(sorted(counted))}
        self._sizes = np.array([counted[label] for label in number], dtype=np.int64)
        self._documents = len(documents)
        self._labels: list[list[int]] = []
        self._inside: list[dict[str, list[str]]] = []
        self._outside: list[list[str]] = []
        known: dict[str, Counter[int]] = defaultdict(Counter)
        total: Counter[str] = Counter()
        for chunk in self._chunks:
            found = linkage.by_category(linkage.features_of(chunk.shown, hidden, pairs=False))
            outside = [f for c in found if c not in self._swapped for f in found[c]]
            labels = [number[unswap.DOCUMENT + chunk.document_id]]
            labels += [number[f] for f in outside if f in number]
            inside = {c: found[c] for c in found if c in self._swapped}
            for name in (f for names in inside.values() for f in names):
                total[name] += 1
                known[name].update(labels)
            self._labels.append(labels)
            self._inside.append(inside)
            self._outside.append(outside)
        self._known = {
            name: (total[name], sorted(counts.items()))
            for name, counts in known.items()
            if len(counts) <= most
        }

    def _evidence(self, names: Sequence[str]) -> linkage.Evidence:
        """What all chunks say about the names of one of them."""
        mine = [name for name in names if name in self._known]
        found = [self._known[name] for name in mine]
        entries = [entry for _, counts in found for entry in counts]
        return linkage.Evidence.packed(
            mine,
            np.array([total for total, _ in found], dtype=np.int64),
            np.ones(len(mine), dtype=bool),
            np.array([len(counts) for _, counts in found], dtype=np.int64),
            np.array([label for label, _ in entries], dtype=np.int64),
            np.array([count for _, count in entries], dtype=np.int64),
        )

    def _asked(self, partner: Mapping[str, str], limit: int | None) -> list[int]:
        """Numbers of the chunks that are asked about, by lot where a component has too many."""
        groups: dict[Hashable, list[int]] = defaultdict(list)
        for k, chunk in enumerate(self._chunks):
            whole = self._inside[k].keys() >= set(self._swapped)
            if whole and chunk.component is not None:
                groups[chunk.component].append(k)
        asked: list[int] = []
        for mine in groups.values():
            if limit is not None and len(mine) > limit:
                ids = {k: self._chunks[k].chunk_id for k in mine}
                mine.sort(key=lambda k: (ids[k] not in partner, unswap.turn_of(ids[k]), ids[k]))
                mine = [k for at, k in enumerate(mine) if at < limit or ids[k] in partner]
            asked += mine
        return sorted(asked)

    def suspects(
        self, partner: Mapping[str, str], limit: int | None = None
    ) -> dict[Hashable, list[unswap.Suspect]]:
        """Return the chunks with names in every exchanged category, by component.

        Parameters
        ----------
        partner : mapping of str to str
            The truth, to judge guesses by: chunk_id -> whose names it got.
        limit : int, optional
            Of a component with more, so many are asked about, those with a partner first
            (``swap_aware_max_chunks``); all by default.
        """
        found: dict[Hashable, list[unswap.Suspect]] = defaultdict(list)
        for k in self._asked(partner, limit):
            chunk = self._chunks[k]
            values = linkage.scores(
                self._evidence([f for mine in self._inside[k].values() for f in mine]),
                self._sizes,
                self._labels[k],
                leave_out=True,
                smoothing=self._smoothing,
                pair_weight=0.0,
                n=len(self._chunks),
            )
            (scored,) = np.nonzero(values)
            place = int(np.searchsorted(scored, self._documents))
            found[chunk.component].append(
                unswap.Suspect(
                    chunk.chunk_id,
                    self._labels[k][0],
                    chunk.metadata,
                    self._inside[k],
                    np.array(self._labels[k][1:], dtype=np.int64),
                    len(self._outside[k]),
                    unswap.code_of(self._outside[k]),
                    (scored[:place], values[scored[:place]]),
                    (scored[place:], values[scored[place:]]),
                    partner.get(chunk.chunk_id),
                )
            )
        return dict(found)


def partner_guesses(
    cells: Sequence[Row],
    rewrites: Sequence[Row],
    combination: Sequence[str],
    config: AuditConfig,
    components: Mapping[str, int] | None = None,
    hidden: Sequence[str] = (),
) -> Iterator[tuple[Any, ...]]:
    """Guess which chunks exchanged their entities.

    Parameters
    ----------
    cells : sequence of mapping
        Rows of CELLS: ``chunk_id, document_id, metadata, entities``; every chunk of the release.
    rewrites : sequence of mapping
        ``draw, chunk_id, partner_id, edits`` of the swapped chunks as released.
    combination : sequence of str
        The swapped categories.
    config : AuditConfig
        ``swap_aware_draws``, ``swap_aware_max_chunks``, ``context_weight``, ``smoothing``,
        ``max_candidates_per_entity``.
    components : mapping of str to int, optional
        Component of each chunk; without it any two chunks are candidates.
    hidden : sequence of str
        Categories that the release replaces by placeholders.

    Yields
    ------
    tuple
        In the order of table PARTNER_GUESSES, as
        :func:`nes_spark.audit.unswap_stages.swap_aware_attack` without constraints.
    """
    for draw in sorted({row["draw"] for row in rewrites})[: config.swap_aware_draws]:
        last = {row["chunk_id"]: row for row in rewrites if row["draw"] == draw}
        chunks = [
            Chunk(
                c["chunk_id"],
                c["document_id"],
                c["metadata"],
                0 if components is None else components.get(c["chunk_id"]),
                c["entities"],
                linkage.swap_entities(c["entities"], last[c["chunk_id"]]["edits"] or ())
                if c["chunk_id"] in last
                else c["entities"],
            )
            for c in cells
        ]
        released = Released(
            chunks, combination, hidden, config.smoothing, config.max_candidates_per_entity
        )
        partner = {c: row["partner_id"] for c, row in last.items() if row["partner_id"] is not None}
        judged = [
            one
            for group in released.suspects(partner, config.swap_aware_max_chunks).values()
            for one in unswap.suspect_pairs(group, tuple(combination), config.context_weight)
        ]
        undone = undone_pairs(judged, len(last) // 2)
        for one in judged:
            true, match = partner.get(one.chunk_id), undone.get(one.chunk_id)
            yield (
                int(draw),
                one.chunk_id,
                one.answer,
                one.score,
                one.candidates,
                true is not None,
                one.rank,
                one.answer is not None and one.answer == true,
                match,
                match is not None and match == true,
            )


def undone_pairs(judged: Sequence[unswap.Suspicion], swaps: int) -> dict[str, str]:
    """Return the pairs that the adversary undoes, both ways: the most suspicious of the release.

    Parameters
    ----------
    judged : sequence of Suspicion
        Of all components.
    swaps : int
        How many were made, which the rate tells. Of pairs of equal score that of the smaller hash
        comes first.
    """
    pairs = [
        (-one.match_score, hashlib.sha256(f"{one.chunk_id}\n{one.match}".encode()).hexdigest(), one)
        for one in judged
        if one.match is not None and one.match_score is not None and one.chunk_id < one.match
    ]
    pairs.sort(key=lambda pair: pair[:2])
    found: dict[str, str] = {}
    for _, _, one in pairs[:swaps]:
        assert one.match is not None
        found[one.chunk_id], found[one.match] = one.match, one.chunk_id
    return found
