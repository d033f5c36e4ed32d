"""The adversary who knows about swapping, in memory: the guesses of the Spark stage.

See :mod:`nes_spark.audit.unswap` for what it does. Here the chunks of a release become its
:class:`~nes_spark.audit.unswap.Suspect` in one process, for tests and benchmarks that draw many
releases of one corpus.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nes_spark.audit import linkage, unswap
from nes_spark.errors import parameter_error
from tests.audit.evidence import Known, evidence_of

Names = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Chunk:
    """A chunk of a release.

    Attributes
    ----------
    chunk_id, document_id, metadata : str
    component : hashable
        Only chunks of one component are compared; with constraints that form groups, the group.
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
            name: Known(name, total[name], True, counts)
            for name, counts in known.items()
            if len(counts) <= most
        }

    def suspects(self, partner: Mapping[str, str]) -> dict[Hashable, list[unswap.Suspect]]:
        """Return the chunks with names in every exchanged category, by component.

        Parameters
        ----------
        partner : mapping of str to str
            The truth, to judge guesses by: chunk_id -> whose names it got.
        """
        found: dict[Hashable, list[unswap.Suspect]] = defaultdict(list)
        for k, chunk in enumerate(self._chunks):
            if self._inside[k].keys() < set(self._swapped):
                continue
            names = [f for mine in self._inside[k].values() for f in mine]
            values = linkage.scores(
                evidence_of(self._known[f] for f in names if f in self._known),
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
