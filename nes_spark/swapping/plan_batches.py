"""From Arrow batches, sorted by group and unit, to a plan: what the Spark tasks of it do.

As in :mod:`nes_spark.swapping.batches` only ids, 64-bit hashes and counts come to the tasks that
draw; names come to those that decide about single swaps and single left-over names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nes_spark.entities.combination import Combination
from nes_spark.schemas import PLAN, PLAN_LEFTOVERS, arrow_schema
from nes_spark.swapping.batches import Group, groups_of, to_batch
from nes_spark.swapping.constraints import NearComponents
from nes_spark.swapping.exchange import Matching, Policy
from nes_spark.swapping.layers import (
    Drawing,
    Members,
    Wanting,
    draw_donors,
    sample_layers,
)
from nes_spark.swapping.likeness import similarities_for
from nes_spark.swapping.plan import (
    giveable,
    layer_exchange,
    mean_direction,
    reasons,
    treat_digest,
    treated_names,
)
from nes_spark.swapping.population import Sets
from nes_spark.swapping.treatments import Means, wants_donors

#: What identifies a group of a plan; batches come sorted by these, then by chunk_id.
PLAN_GROUP = ("setting", "component", "stratum", "draw")

#: A swap before it has its place in the sequence.
DRAWN_DDL = (
    "setting string, draw int, neighbour int, layer int, priority int, time double, "
    "chunk_a string, chunk_b string"
)
#: What is left of one category of a unit, and its donors in the order drawn.
WANTED_DDL = (
    "setting string, draw int, chunk_id string, category string, status string, "
    "donors array<string>"
)
DRAWN = arrow_schema(DRAWN_DDL)
WANTED = arrow_schema(WANTED_DDL)
_PLAN = arrow_schema(PLAN.ddl)
_LEFTOVERS = arrow_schema(PLAN_LEFTOVERS.ddl)


class PlanGroup(Group):
    """Rows of one group of a plan, as compact pieces.

    Columns beside those of :class:`~nes_spark.swapping.batches.Group`: ``outside`` and ``uniques``
    (by layer), ``open`` (by category), ``swaps_before`` and ``place`` (code of the component).
    """

    flat: ClassVar[tuple[str, ...]] = ("metadata", "swaps_before", "place")
    nested: ClassVar[tuple[str, ...]] = ("available",)
    tables: ClassVar[tuple[tuple[str, Any], ...]] = (
        ("vector", np.float32),
        ("numbers", np.float64),
        ("outside", np.int64),
        ("uniques", np.bool_),
        ("open", np.bool_),
    )


class DonorGroup(Group):
    """Rows of one group where donors are drawn.

    Columns: ``available``, ``own``, ``partner`` (for each category what the partner had, empty
    without one) and ``left`` (what is left over) as lists of hashes; ``status`` of a unit that a
    constraint keeps out, else ''.
    """

    flat: ClassVar[tuple[str, ...]] = ("metadata", "status")
    nested: ClassVar[tuple[str, ...]] = ("available", "partner", "left")
    tables: ClassVar[tuple[tuple[str, Any], ...]] = ()


@dataclass(frozen=True)
class Meeting:
    """The pass with the k-th nearest components: setting -> pairs of components that may meet."""

    neighbour: int = 0
    pairs: Mapping[str, frozenset[tuple[int, int]]] = field(default_factory=dict)


def layer_batches(
    batches: Iterable[pa.RecordBatch], drawing: Drawing, meeting: Meeting
) -> Iterator[pa.RecordBatch]:
    """Draw the swaps of every group in one pass; columns of :data:`DRAWN` come out.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        Columns of :data:`PLAN_GROUP`, ``chunk_id``, ``own`` and those of :class:`PlanGroup`;
        sorted by group and chunk_id.
    drawing : Drawing
    meeting : Meeting
    """
    for group in groups_of(batches, PlanGroup, PLAN_GROUP):
        if group.n < 2:
            continue
        setting, _, _, draw = group.key
        near = None
        names = sorted({name for c in drawing.constraints for name in c.numbers})
        table = group.taken("numbers") if names else np.empty((group.n, 0))
        numbers = {c: table[:, k] for k, c in enumerate(names)}
        if meeting.neighbour:
            near = NearComponents(meeting.pairs[setting])
            numbers["component"] = group.column("place").astype(np.float64)
        pairs = group.joint(("available",), ("available", "own"))
        ids = pa.chunked_array(group.ids).to_pylist()
        group.ids.clear()
        group.sets.clear()
        members = Members(
            ids,
            group.taken("metadata"),
            group.taken("outside").T,
            [gives for gives, _ in pairs],
            [takes for _, takes in pairs],
            np.ascontiguousarray(group.taken("open").T),
            group.taken("swaps_before").astype(np.int64),
            group.taken("uniques").T if drawing.uniques_first else None,
            group.taken("vector") if drawing.needs_vectors else None,
            numbers,
        )
        group.columns.clear()
        found = sample_layers(members, drawing, setting, draw, meeting.neighbour, near)
        if found:
            rows = []
            for s in found:
                head = (setting, draw, s.neighbour, s.layer, s.priority, s.time)
                rows.append((*head, ids[s.first], ids[s.second]))
            yield to_batch(rows, DRAWN)


def donor_batches(
    batches: Iterable[pa.RecordBatch],
    drawing: Drawing,
    with_donors: bool,
    alike: Collection[str] = (),
    standing: Mapping[str, NDArray[np.int64]] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Say what is left over in every group and draw donors; columns of :data:`WANTED` come out.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        Columns of :data:`PLAN_GROUP`, ``chunk_id``, ``own`` and those of :class:`DonorGroup`;
        sorted by group and chunk_id.
    drawing : Drawing
    with_donors : bool
        Whether the order of treatments has ``donor`` in it.
    alike : collection of str
        Categories in which the likest name of several donors is taken.
    standing : mapping of str to ndarray of int64, optional
        Category -> hashes of the names of which others come in the place
        (:func:`~nes_spark.swapping.treatments.stands_of`), where these are not all: units without
        one ask nobody.
    """
    for group in groups_of(batches, DonorGroup, PLAN_GROUP):
        setting, _, _, draw = group.key
        ids = pa.chunked_array(group.ids).to_pylist()
        metadata, status = group.column("metadata"), group.column("status")
        left = [np.bincount(rows, minlength=group.n) for rows, _ in group.families("left")]
        asking = list(left)
        pairs: list[tuple[Sets, Sets]] = []
        if with_donors:
            pairs = group.joint(("available",), ("available", "own", "partner"))
            for k, (units, hashes) in enumerate(group.families("available")):
                able = (standing or {}).get(drawing.swap[k])
                if able is not None:
                    held = units[np.isin(hashes, able)]
                    asking[k] = left[k] * (np.bincount(held, minlength=group.n) > 0)
        out: list[tuple[Any, ...]] = []
        for k, category in enumerate(drawing.swap):
            donors: dict[int, list[int]] = {}
            if with_donors:
                wanting = Wanting(*pairs[k], asking[k], status == "")
                key = (drawing.unit, setting, draw)
                least = drawing.donors if category in alike else 1
                clocks = drawing.donor_clocks(ids, category, draw)
                donors = draw_donors(
                    wanting, ids, metadata, category, drawing.secret, key, least, clocks
                )
            for i in np.nonzero(left[k])[0].tolist():
                mine = [ids[d] for d in donors.get(i, ())]
                out.append((setting, draw, ids[i], category, status[i], mine))
        if out:
            yield to_batch(out, WANTED)


def standing_batches(
    batches: Iterable[pa.RecordBatch], drawing: Drawing, means: Means
) -> Iterator[pa.RecordBatch]:
    """Keep the rows (``category, entity``) in whose place a donor's name could come."""
    means = replace(means, similarities=similarities_for(drawing.swap, means.matching))
    for batch in batches:
        named = zip(*(batch.column(c).to_pylist() for c in ("category", "entity")), strict=True)
        yield batch.filter(pa.array([wants_donors([e], c, means) for c, e in named], pa.bool_()))


def exchange_batches(
    batches: Iterable[pa.RecordBatch], drawing: Drawing, matching: Matching, policy: Policy
) -> Iterator[pa.RecordBatch]:
    """Decide what is exchanged in each swap; columns of table PLAN come out.

    A swap in which nothing is exchanged does not come out.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        Columns of PLAN but ``exchanged``; ``entities_a``, ``entities_b`` and ``own_a``, ``own_b``:
        names by category.
    drawing : Drawing
    matching, policy : str
    """
    similarities = similarities_for(drawing.swap, matching)
    for batch in batches:
        out = []
        for row in batch.to_pylist():
            names = {k: dict(row[k] or ()) for k in ("entities_a", "entities_b", "own_a", "own_b")}
            j = Combination.parse(row["combination"])
            exchanged = layer_exchange(
                drawing.secret, drawing.unit, drawing.key(row["setting"]), row["draw"], j,
                row["chunk_a"], row["chunk_b"], names["entities_a"], names["entities_b"],
                names["own_a"], names["own_b"], matching, similarities=similarities, policy=policy,
            )  # fmt: skip
            if exchanged:
                kept = {name: row[name] for name in _PLAN.names if name != "exchanged"}
                out.append(kept | {"exchanged": [asdict(e) for e in exchanged]})
        yield pa.RecordBatch.from_pylist(out, schema=_PLAN)


def treat_batches(
    batches: Iterable[pa.RecordBatch], drawing: Drawing, order: tuple[str, ...], means: Means
) -> Iterator[pa.RecordBatch]:
    """Treat what is left over; columns of table PLAN_LEFTOVERS come out.

    Parameters
    ----------
    batches : iterable of pyarrow.RecordBatch
        ``setting, draw, chunk_id, category, status``; ``names`` and ``own``: of the unit; ``gone``:
        those of its names that were exchanged, null for none; ``partner_names`` and
        ``partner_own``: null without an exchange; ``donors``:
        (position, donor, names), in any order; ``summary``: null for none.
    drawing : Drawing
    order : tuple of str
        Treatments.
    means : Means
    """
    means = replace(means, similarities=similarities_for(drawing.swap, means.matching))
    for batch in batches:
        out: list[dict[str, Any]] = []
        for row in batch.to_pylist():
            mine, own = set(row["names"] or ()), set(row["own"] or ())
            left, barred = mine - set(row["gone"] or ()), mine | own
            partner = None
            if row["partner_names"] is not None:
                theirs = set(row["partner_names"])
                partner = theirs | set(row["partner_own"] or ())
                barred = barred | theirs
            why = reasons(left, row["status"], partner, row["category"])
            measure = means.similarities.get(row["category"])
            donors = [
                (d["donor"], giveable(d["names"] or (), barred, row["category"], measure))
                for d in sorted(row["donors"] or (), key=lambda d: d["position"])
            ]
            head = {"setting": row["setting"], "unit": drawing.unit, "draw": row["draw"]}
            digest = treat_digest(
                drawing.secret, drawing.unit, drawing.key(row["setting"]), row["draw"],
                row["chunk_id"], row["category"],
            )  # fmt: skip
            told = {row["chunk_id"]: row["summary"]} if row["summary"] else {}
            done = treated_names(
                row["chunk_id"], row["category"], why, donors, digest, order,
                replace(means, summaries=told), mine | own,
            )  # fmt: skip
            out += [head | asdict(one) for one in done]
        yield pa.RecordBatch.from_pylist(out, schema=_LEFTOVERS)


def direction_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Average the vectors of documents: ``chunk_id, parts`` (chunk_id, vector) to ``vector``."""
    schema = arrow_schema("chunk_id string, vector array<float>")
    for batch in batches:
        out = []
        for row in batch.to_pylist():
            parts = sorted(row["parts"], key=lambda p: p["chunk_id"])
            vector = mean_direction(np.array([p["vector"] for p in parts]))
            out.append((row["chunk_id"], vector.tolist()))
        yield to_batch(out, schema)
