"""Plan ``whole`` in memory: exchange all that can be exchanged, and treat what is left.

It gives the same plan as the Spark stage (:mod:`nes_spark.swapping.plan_stages`) for the same
secret, setting and ids. See :mod:`nes_spark.swapping.layers` for the order in which pairs are drawn
and :mod:`nes_spark.swapping.treatments` for what becomes of the rest.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from nes_spark.entities.combination import Combination
from nes_spark.entities.keys import is_key
from nes_spark.entities.quantities import likeness_of
from nes_spark.entities.terms import TERM, may_give
from nes_spark.errors import parameter_error
from nes_spark.swapping.codes import Ints, Mask, codes_of
from nes_spark.swapping.constraints import (
    Constraint,
    EqualCovariates,
    NearComponents,
    SameComponent,
    constraints_of,
)
from nes_spark.swapping.exchange import Exchange, Matching, Policy, Similarity, plan_exchange
from nes_spark.swapping.layers import (
    Drawing,
    LayerSwap,
    Members,
    Wanting,
    draw_donors,
    layer_tag,
    layers_of,
    meetings,
    nearest_components,
    sample_layers,
)
from nes_spark.swapping.likeness import choosing, similarities_for
from nes_spark.swapping.memory import (
    SwapOptions,
    Units,
    check_categories,
    exchange_digest,
    facts_for,
    options_of,
)
from nes_spark.swapping.population import Numbers, Sets, joint_sets, sets_of
from nes_spark.swapping.sampler import Limits
from nes_spark.swapping.seeds import Secret
from nes_spark.swapping.treatments import (
    Donor,
    Left,
    Means,
    Recoding,
    Treated,
    check_order,
    is_choosy,
    treat,
    wants_donors,
)

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Unpack

    from nes_spark.config import ReleasesConfig, SwappingConfig

Unit = Literal["chunk", "document", "likeness"]
#: Stands between a chunk and a likeness in the id of a unit; lower than any character of an id.
PART = "\x1f"

#: What becomes of a name in an exchange, beside the names of the treatments.
EXCHANGED = "exchange"
#: The default order of treatments.
LEFTOVER = ("donor", "placeholder")
#: Reasons why a name was left over; constraints add the status that they give.
NO_PARTNER, SHARED, SURPLUS, KEY = "no_partner", "shared", "surplus", "key"
#: Reasons why a name that could be treated still stands in a prefix, or was not to be treated.
NOT_REACHED, NOT_SWAPPED, MUST_CHANGE = "not_reached", "not_swapped", "must_change"


@dataclass(frozen=True)
class PlanSwap:
    """An accepted swap of a plan.

    Attributes
    ----------
    order : int
        1-based position in the sequence over all layers.
    neighbour : int
        0 within a component; k where the component with the k-th nearest mean was tried.
    layer : int
        0-based number of the layer.
    combination : str
        Its categories.
    priority : int
        As in :class:`~nes_spark.swapping.Swap`.
    time : float
        Ring of the pair's clock; restarts with neighbour, layer and priority.
    component : hashable
        Component of the first unit; None for documents.
    chunk_a, chunk_b : str
        Ids of the chunks (documents, where they are the units), the smaller first.
    exchanged : tuple of Exchange
        What becomes of the entities; side 'a' is ``chunk_a``.
    """

    order: int
    neighbour: int
    layer: int
    combination: str
    priority: int
    time: float
    component: Hashable
    chunk_a: str
    chunk_b: str
    exchanged: tuple[Exchange, ...] = field(repr=False)


@dataclass(frozen=True)
class LeftOver:
    """A name that found no partner, and what becomes of it.

    Attributes
    ----------
    chunk_id : str
        The chunk (or document).
    category, entity : str
    treatment : str
        See :data:`nes_spark.swapping.treatments.TREATMENTS`.
    replacement : str or None
        What comes in its place; None when it stays or its chunk is not published.
    donor : str or None
        The chunk (or document) whose name that was.
    reason : str
        ``no_partner`` (no valid partner was left for its category, or none with a name of its
        sort), ``shared`` (the category was exchanged, but the partner has this name or may not
        take it), ``surplus`` (the partner has fewer names, or fewer of its sort), ``key`` (the
        number of one record, which meets nobody), or the
        status that a constraint gives a chunk which it keeps out.
    """

    chunk_id: str
    category: str = field(repr=False)
    entity: str = field(repr=False)
    treatment: str
    replacement: str | None = field(repr=False)
    donor: str | None
    reason: str


@dataclass(frozen=True)
class Fate:
    """What becomes of one name in one chunk; every name of every chunk has one.

    Attributes
    ----------
    chunk_id, category, entity : str
    treatment : str
        ``exchange`` or the name of a treatment.
    replacement : str or None
        What comes in its place; None when it stays or its chunk is not published.
    order, layer : int or None
        Of the exchange.
    partner : str or None
        The other chunk (document) of the exchange, or the donor.
    reason : str
        '' for an exchange; the reason of a :class:`LeftOver`; ``not_reached`` (a prefix ends
        before), ``not_swapped`` (its category stays as it is), ``must_change``.
    """

    chunk_id: str
    category: str = field(repr=False)
    entity: str = field(repr=False)
    treatment: str
    replacement: str | None = field(repr=False)
    order: int | None
    layer: int | None
    partner: str | None
    reason: str


@dataclass(frozen=True)
class Plan:
    """A drawn plan.

    Attributes
    ----------
    swaps : tuple of PlanSwap
        In order; the first k of them are the plan with k exchanges.
    leftovers : tuple of LeftOver
        What becomes of the rest when all exchanges are made; by chunk, category and entity.
    layers : tuple of str
        Names of the layers.
    unit : str
        ``chunk``, ``document`` or ``likeness``; ids of swaps are then those of chunks.
    must_change : mapping of str to str
        Category -> placeholder that replaces it in every chunk.
    """

    swaps: tuple[PlanSwap, ...] = field(repr=False)
    leftovers: tuple[LeftOver, ...] = field(repr=False)
    layers: tuple[str, ...]
    unit: Unit
    must_change: Mapping[str, str]
    _chunks: Mapping[str, str] = field(repr=False)
    _entities: Mapping[str, Mapping[str, Collection[str]]] = field(repr=False)

    def prefix(self, share: float) -> int:
        """Return the number of exchanges that make up a share of the plan, rounded up."""
        if not 0 <= share <= 1:
            raise parameter_error("Plan.prefix", "share", "a number from 0 to 1", share)
        return ceil(round(share * len(self.swaps), 9))

    @property
    def found_by_neighbour(self) -> dict[int, int]:
        """Number of exchanges within components (0) and with the k-th nearest component (k)."""
        return dict(sorted(Counter(s.neighbour for s in self.swaps).items()))

    def fates(self, n_swaps: int | None = None) -> list[Fate]:
        """Account for every name of every chunk.

        Parameters
        ----------
        n_swaps : int, optional
            Only so many exchanges and nothing else; None for all of them with what is left over
            treated.

        Returns
        -------
        list of Fate
            By chunk, category and entity. When a name of a chunk is treated by ``drop``, all names
            of that chunk have this treatment.
        """
        moved: dict[tuple[str, str, str], Fate] = {}
        for swap in self.swaps[: len(self.swaps) if n_swaps is None else n_swaps]:
            for e in swap.exchanged:
                mine, other = swap.chunk_a, swap.chunk_b
                if e.side == "b":
                    mine, other = other, mine
                moved[mine, e.category, e.old] = Fate(
                    mine, e.category, e.old, EXCHANGED, e.new, swap.order, swap.layer, other, ""
                )
        if n_swaps is None:
            for left in self.leftovers:
                moved[left.chunk_id, left.category, left.entity] = Fate(
                    left.chunk_id, left.category, left.entity, left.treatment, left.replacement,
                    None, None, left.donor, left.reason,
                )  # fmt: skip
        treated = {left.category for left in self.leftovers} | {
            c for layer in self.layers for c in Combination.parse(layer)
        }
        out: list[Fate] = []
        for chunk in sorted(self._chunks):
            mine = self._chunks[chunk]
            found: list[Fate] = []
            for category in sorted(self._entities[chunk]):
                for entity in sorted(set(self._entities[chunk][category])):
                    fate = moved.get((mine, category, entity))
                    if fate is not None:
                        found.append(replace(fate, chunk_id=chunk))
                        continue
                    new = self.must_change.get(category)
                    name, reason = "keep", NOT_REACHED if category in treated else NOT_SWAPPED
                    if new is not None:
                        name, reason = "placeholder", MUST_CHANGE
                    found.append(Fate(chunk, category, entity, name, new, None, None, None, reason))
            if any(f.treatment == "drop" for f in found):
                found = [replace(f, treatment="drop", replacement=None) for f in found]
            out += found
        return out

    def replacements(self, n_swaps: int | None = None) -> dict[str, dict[tuple[str, str], str]]:
        """Return chunk -> (category, entity) -> what comes in its place; see :meth:`fates`."""
        out: dict[str, dict[tuple[str, str], str]] = {chunk: {} for chunk in self._chunks}
        for fate in self.fates(n_swaps):
            if fate.replacement is not None:
                out[fate.chunk_id][fate.category, fate.entity] = fate.replacement
        return out

    def dropped(self) -> frozenset[str]:
        """Return the chunks that are not published."""
        return frozenset(f.chunk_id for f in self.fates() if f.treatment == "drop")

    def frame(self, n_swaps: int | None = None) -> pd.DataFrame:
        """Return :meth:`fates` as a table, one row a name of a chunk."""
        import pandas as pd

        names = list(Fate.__dataclass_fields__)
        return pd.DataFrame([asdict(f) for f in self.fates(n_swaps)], columns=names).astype(
            {"order": "Int64", "layer": "Int64"}
        )


def sample_plan(
    chunk_ids: Sequence[str],
    metadata: Sequence[Hashable],
    component: Sequence[Hashable] | None,
    entities: Mapping[str, Sequence[Collection[str]]],
    swap: Sequence[str],
    others: Sequence[str] | None = None,
    *,
    seed: bytes | str | int,
    setting: str = "",
    draw: int = 0,
    unit: Unit = "chunk",
    document_ids: Sequence[str] | None = None,
    layers: Iterable[Sequence[str]] | None = None,
    neighbours: int = 0,
    means: Mapping[Any, NDArray[Any]] | None = None,
    leftover: Sequence[str] = LEFTOVER,
    donors: int = 1,
    fitting: bool = True,
    placeholders: Mapping[str, str] | None = None,
    must_change: Mapping[str, str] | None = None,
    recoding: Recoding | None = None,
    summaries: Mapping[str, str] | None = None,
    releases: ReleasesConfig | None = None,
    swapping: SwappingConfig | None = None,
    concentrations: Mapping[Any, float] | None = None,
    covariates: Sequence[Any] | None = None,
    facts: Mapping[str, Sequence[Any]] | None = None,
    own_names: Mapping[str, Sequence[Collection[str]]] | None = None,
    vectors: NDArray[Any] | None = None,
    similarity: Similarity | None = None,
    limits: Limits | None = None,
    **options: Unpack[SwapOptions],
) -> Plan:
    """Draw a whole plan: exchange in layers until no valid pair is left, and treat the rest.

    What an exchange reaches goes, except for names that both chunks have or that the other may not
    take; those are left over like names without a partner. So is the surplus of the chunk that has
    more names, where donors may give them names of their own; without treatment ``donor`` it is
    covered by the partner's names in turn.

    Parameters
    ----------
    chunk_ids, metadata, component, entities, swap, others, seed, setting, draw
        As for :func:`nes_spark.swapping.sample_swaps`; columns of a pandas table will do. ``swap``
        are all categories that are to be exchanged; a pair in a layer J must differ outside J.
    unit : {'chunk', 'document', 'likeness'}
        What is exchanged as a whole. A document is one unit with all names of its chunks, each of
        which becomes the same other name throughout; components do not bind it. ``likeness`` is for
        one category of quantities: those of a chunk that are of one unit, order of magnitude and
        direction (:func:`nes_spark.entities.quantities.likeness_of`) are a unit that meets its
        like in any component, so that growth stays growth and millions stay millions.
    document_ids : sequence of str, length n, optional
        Needed for unit ``document``.
    layers : iterable of sequences of str, optional
        See :func:`nes_spark.swapping.layers.layers_of`.
    neighbours : int
        How many nearest components a chunk without a partner tries, one after the other.
    means : mapping of component to ndarray, shape (d,), optional
        Mean directions of all components; needed for ``neighbours``.
    leftover : sequence of str
        Treatments in the order in which they are tried; the last one must treat everything.
    donors : int
        Donors that are drawn for what is left over of a category in a unit; more of them where
        these have too few names. Of all their names the most alike are taken, where names meet
        their like (matching ``similar``, terms).
    fitting : bool
        Whether a donor's term comes in only where it reads better than a placeholder
        (:meth:`nes_spark.entities.terms.TermSimilarity.reads`), and a name only where
        :meth:`nes_spark.swapping.shapes.ShapeSimilarity.reads` says so, if treatment ``general`` or
        ``placeholder`` comes next; else the nearest one always does.
    placeholders : mapping of str to str, optional
        Category -> placeholder of treatment ``placeholder``; ``[Category]`` by default.
    must_change : mapping of str to str, optional
        Categories that are replaced in every chunk; by default those of ``releases``. They do not
        count as outside.
    recoding : mapping, optional
        Category -> class -> entities, for treatment ``recode``.
    summaries : mapping of str to str, optional
        Chunk -> summary without its names, for treatment ``summary``.
    releases, swapping
        Configuration objects: constraints; matching, uniques first, cosine weight, sticky.
    concentrations, covariates, facts, own_names, vectors, similarity, limits
        As for ``sample_swaps``. With unit ``document`` vectors are averaged, and constraints that
        ask for facts of single chunks or for components are an error.
    **options
        ``constraints``, ``matching``, ``uniques_first``, ``cosine_weight``, ``sticky``.

    Returns
    -------
    Plan

    Raises
    ------
    ValueError
        As for ``sample_swaps``; for an unknown unit or treatment, an order of treatments that lets
        something fall through, and for what unit or neighbours need and was not given.

    Examples
    --------
    >>> plan = sample_plan(
    ...     ["a#0", "b#0", "c#0"], ["Acme", "Bolt", "Cask"], None,
    ...     {"Person": [["Ada"], ["Ivo"], ["Una"]], "Date": [["May"], ["June"], ["July"]]},
    ...     ["Person"], seed=1,
    ... )
    >>> sorted((f.entity, f.treatment) for f in plan.fates() if f.category == "Person")
    [('Ada', 'exchange'), ('Ivo', 'exchange'), ('Una', 'donor')]
    """
    owner = "sample_plan"
    wrong = sorted(set(options) & {"max_swaps", "rounds", "policy"})
    if wrong:
        raise TypeError(f"{owner}() got unexpected keyword arguments {wrong}")
    chosen = options_of(owner, releases, swapping, options)
    order_of_treatments = check_order(leftover)
    check_categories(owner, entities, swap, others)
    if unit not in ("chunk", "document", "likeness"):
        raise parameter_error(owner, "unit", "'chunk', 'document' or 'likeness'", unit)
    if unit == "likeness" and len(swap) != 1:
        raise parameter_error(owner, "swap", "one category with unit 'likeness'", list(swap))
    if donors < 1:
        raise parameter_error(owner, "donors", "at least 1", donors)
    if neighbours < 0 or (neighbours and unit != "chunk"):
        allowed = "at least 0, and 0 unless the unit is 'chunk'"
        raise parameter_error(owner, "neighbours", allowed, neighbours)
    constraints = constraints_of(chosen["constraints"])
    if unit == "likeness":
        constraints = constraints_of_likeness(constraints)
        chosen = chosen | {"uniques_first": False, "cosine_weight": None}
    replaced = dict(must_change or (releases.must_change if releases is not None else {}))
    replaced = {c: word for c, word in replaced.items() if c not in swap}
    if others is None:
        others = [c for c in entities if c not in swap and c not in replaced]
    table = facts_for(constraints, chunk_ids, component, concentrations, covariates, facts)
    chunks = Units(owner, chunk_ids, metadata, component, entities, own_names, vectors, table)
    units = chunks
    unit_of = {i: i for i in chunks.ids}
    if unit == "document":
        if document_ids is None or len(document_ids) != chunks.n:
            allowed = f"of length {chunks.n} with unit 'document'"
            got = None if document_ids is None else len(document_ids)
            raise parameter_error(owner, "document_ids", allowed, got)
        unit_of = dict(zip(list(chunk_ids), list(document_ids), strict=True))
        units = _documents(chunks, unit_of, constraints)
    if unit == "likeness":
        units = _likenesses(chunks, swap[0])
    units.require(constraints, chosen["cosine_weight"] is not None)
    near: dict[Any, tuple[Any, ...]] = {}
    if neighbours:
        absent = sorted({str(k) for k in units.component} - {str(k) for k in means or {}})
        if means is None or absent:
            allowed = "the mean of every component, given with neighbours"
            raise parameter_error(owner, "means", allowed, f"none of {absent[:5]}")
        near = nearest_components(means, neighbours)
    drawing = Drawing(
        Secret(seed),
        tuple(swap),
        layers_of(swap, layers),
        unit,
        constraints,
        chosen["uniques_first"],
        chosen["cosine_weight"],
        chosen["sticky"],
        donors,
    )
    state = _State(units, drawing, others, setting, draw, limits)
    found = state.exchange(near, neighbours)
    similarities = {} if similarity else similarities_for(swap, chosen["matching"])
    swaps = _numbered(
        found, state, chosen["matching"], similarity, similarities, policy_of(order_of_treatments)
    )
    if unit == "document" and "summary" in order_of_treatments:
        allowed = "treatments of names, or drop, with unit 'document'"
        raise parameter_error(owner, "leftover", allowed, list(leftover))
    told = dict(summaries or {})
    if unit == "likeness":
        told = {i: told[chunk_of(i)] for i in units.ids if chunk_of(i) in told}
    tools = Means(
        dict(placeholders or {}),
        recoding or {},
        told,
        chosen["matching"],
        similarity,
        similarities,
        is_choosy(order_of_treatments, fitting),
        is_choosy(order_of_treatments, fitting, names=True),
    )
    left = _left_over(state, swaps, order_of_treatments, tools)
    if unit == "likeness":
        swaps = [
            replace(s, component=None, chunk_a=chunk_of(s.chunk_a), chunk_b=chunk_of(s.chunk_b))
            for s in swaps
        ]
        left = [
            replace(one, chunk_id=chunk_of(one.chunk_id), donor=one.donor and chunk_of(one.donor))
            for one in left
        ]
    return Plan(
        tuple(swaps),
        tuple(left),
        tuple(j.name for j in drawing.layers),
        unit,
        replaced,
        unit_of,
        {i: {c: chunks.entities[c][k] for c in chunks.entities} for k, i in enumerate(chunks.ids)},
    )


def check_document_constraints(owner: str, constraints: Sequence[Constraint]) -> None:
    """Raise ValueError when a constraint asks for what only chunks have."""
    known = {"component", "swaps_before", "covariates"}
    further = [c.field or c.name for c in constraints if not {*c.columns, *c.numbers} <= known]
    if further:
        raise parameter_error(owner, "constraints", "about documents with unit 'document'", further)


def constraints_of_likeness(constraints: Sequence[Constraint]) -> tuple[Constraint, ...]:
    """Return the constraints that hold for quantities too: those that always do, equal covariates.

    The likeness takes the place of the component; what else may be asked for is about the texts of
    chunks, which a number of the same kind does not change.
    """
    return tuple(c for c in constraints if c.field in (None, EqualCovariates.field))


def chunk_of(unit_id: str) -> str:
    """Return the chunk of a unit ``likeness``."""
    return unit_id.partition(PART)[0]


def _likenesses(chunks: Units, category: str) -> Units:
    """Take chunks apart into their quantities of one likeness."""
    rows: list[tuple[int, str, frozenset[str]]] = []
    for i in range(chunks.n):
        alike: dict[str, set[str]] = defaultdict(set)
        for entity in chunks.entities[category][i]:
            alike[likeness_of(entity)].add(entity)
        rows += [(i, kind, frozenset(found)) for kind, found in alike.items()]
    entities: dict[str, list[frozenset[str]]] = {
        c: [v[i] for i, _, _ in rows] for c, v in chunks.entities.items() if c != category
    }
    facts = {}
    if "covariates" in chunks.facts:
        facts["covariates"] = [chunks.facts["covariates"][i] for i, _, _ in rows]
    return Units(
        chunks.owner,
        [chunks.ids[i] + PART + kind for i, kind, _ in rows],
        [chunks.metadata[i] for i, _, _ in rows],
        [kind for _, kind, _ in rows],
        entities | {category: [found for _, _, found in rows]},
        None,
        None,
        facts,
    )


def mean_direction(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Return the unit vector along the sum of some vectors, in the order given.

    Parameters
    ----------
    vectors : ndarray, shape (n, d)

    Returns
    -------
    ndarray of float32, shape (d,)
        Zero where the sum is.
    """
    total = np.zeros(np.shape(vectors)[1])
    for vector in np.asarray(vectors, dtype=np.float32):
        total += vector
    norm = float(np.linalg.norm(total))
    return (total / norm if norm > 0 else total).astype(np.float32)


def _documents(
    chunks: Units, document_of: Mapping[str, str], constraints: Sequence[Constraint]
) -> Units:
    """Gather chunks into documents: names united, vectors averaged, components forgotten."""
    members: dict[str, list[int]] = defaultdict(list)
    for k, chunk in enumerate(chunks.ids):
        members[document_of[chunk]].append(k)
    ids = sorted(members)
    for name, values in (
        ("metadata", chunks.metadata),
        ("covariates", chunks.facts.get("covariates")),
    ):
        if values is not None and any(
            values[k] != values[m[0]] for m in members.values() for k in m
        ):
            raise parameter_error(chunks.owner, name, "equal within each document", "several")
    check_document_constraints(chunks.owner, constraints)

    def united(values: Mapping[str, Sequence[frozenset[str]]]) -> dict[str, list[frozenset[str]]]:
        return {
            c: [frozenset().union(*(v[k] for k in members[i])) for i in ids]
            for c, v in values.items()
        }

    vectors = None
    if chunks.vectors is not None:
        vectors = np.array([mean_direction(chunks.vectors[members[i]]) for i in ids])
    facts = {}
    if "covariates" in chunks.facts:
        facts["covariates"] = [chunks.facts["covariates"][members[i][0]] for i in ids]
    return Units(
        chunks.owner,
        ids,
        [chunks.metadata[members[i][0]] for i in ids],
        None,
        united(chunks.entities),
        united(chunks.own),
        vectors,
        facts,
    )


class _State:
    """All units of a plan and what is still open."""

    def __init__(
        self,
        units: Units,
        drawing: Drawing,
        others: Sequence[str],
        setting: str,
        draw: int,
        limits: Limits | None,
    ) -> None:
        self.units, self.drawing, self.others = units, drawing, others
        self.setting, self.draw, self.limits = setting, draw, limits
        self.admitted, self.status = units.admitted(drawing.constraints)
        sizes = np.array([[len(v) for v in units.entities[c]] for c in drawing.swap], np.int64)
        self.open: Mask = (sizes > 0) & self.admitted[None, :]
        self.swaps_before: Ints = np.zeros(units.n, dtype=np.int64)
        self.metadata = codes_of(units.metadata)
        self.outside = np.array(
            [
                codes_of(units.cells([c for c in (*drawing.swap, *others) if c not in j]))
                for j in drawing.layers
            ]
        )
        self.numbers = {c: Numbers() for c in drawing.swap}
        self.uniques = None
        if drawing.uniques_first:
            self.uniques = np.array([units.uniques(j) for j in drawing.layers])

    def groups(self, constraints: Sequence[Constraint]) -> dict[Hashable, list[int]]:
        """Return the positions of the units of each group."""
        found: dict[Hashable, list[int]] = defaultdict(list)
        for i, group in enumerate(self.units.groups(constraints)):
            found[group].append(i)
        return found

    def sets(self, category: str, rows: Sequence[int]) -> tuple[Sets, Sets]:
        """Return what units can give and what they may not take, with shared codes."""
        gives = [self.units.entities[category][i] for i in rows]
        own = self.units.own.get(category)
        if own is None or not any(own[i] for i in rows):
            both = sets_of(gives, self.numbers[category])
            return both, both
        barred = [g | own[i] for g, i in zip(gives, rows, strict=True)]
        return joint_sets(gives, barred, self.numbers[category])

    def members(
        self, rows: Sequence[int], numbers: Mapping[str, NDArray[np.float64]] | None = None
    ) -> Members:
        """Return the arrays of some units."""
        take = np.asarray(rows, dtype=np.int64)
        both = [self.sets(c, rows) for c in self.drawing.swap]
        vectors = self.units.vectors
        return Members(
            [self.units.ids[i] for i in rows],
            self.metadata[take],
            self.outside[:, take],
            [b[0] for b in both],
            [b[1] for b in both],
            self.open[:, take],
            self.swaps_before[take],
            None if self.uniques is None else self.uniques[:, take],
            None if vectors is None or not self.drawing.needs_vectors else vectors[take],
            self.units.numbers(self.drawing.constraints, rows) | dict(numbers or {}),
        )

    def exchange(
        self, near: Mapping[Any, Sequence[Any]], neighbours: int
    ) -> list[tuple[LayerSwap, int, int]]:
        """Draw all swaps: (swap, position of the first unit, of the second), in order."""
        # of short chunks most hold nothing: they neither give nor take
        able = np.any(self.open, axis=0).tolist()
        found = [
            one
            for rows in self.groups(self.drawing.constraints).values()
            for one in self._drawn([i for i in rows if able[i]])
        ]
        codes = {k: i for i, k in enumerate(near)}
        free = [c for c in self.drawing.constraints if not isinstance(c, SameComponent)]
        strata = self.units.groups(free)
        for k in range(1, neighbours + 1):
            together = meetings(near, k)
            meet = NearComponents(
                frozenset(
                    (codes[c], codes[others[k - 1]])
                    for c, others in near.items()
                    if len(others) >= k
                )
            )
            merged: dict[Hashable, list[int]] = defaultdict(list)
            for i in np.nonzero(self.open.any(axis=0))[0].tolist():
                place = self.units.component[i]
                if place in together:
                    merged[together[place], strata[i]].append(i)
            for rows in merged.values():
                found += self._drawn(rows, k, meet, codes)
        return sorted(
            found,
            key=lambda one: (
                one[0].neighbour, one[0].layer, one[0].priority, one[0].time,
                self.units.ids[one[1]], self.units.ids[one[2]],
            ),
        )  # fmt: skip

    def _drawn(
        self,
        rows: list[int],
        neighbour: int = 0,
        near: NearComponents | None = None,
        codes: Mapping[Any, int] | None = None,
    ) -> Iterator[tuple[LayerSwap, int, int]]:
        if len(rows) < 2:
            return
        numbers = {}
        if codes is not None:
            numbers["component"] = np.array(
                [codes[self.units.component[i]] for i in rows], dtype=np.float64
            )
        members = self.members(rows, numbers)
        for one in sample_layers(
            members, self.drawing, self.setting, self.draw, neighbour, near, self.limits
        ):
            yield one, rows[one.first], rows[one.second]
        self.open[:, rows] = members.open
        self.swaps_before[rows] = members.swaps_before


def _numbered(
    found: Iterable[tuple[LayerSwap, int, int]],
    state: _State,
    matching: Matching,
    similarity: Similarity | None,
    similarities: Mapping[str, Similarity],
    policy: Policy,
) -> list[PlanSwap]:
    units, drawing = state.units, state.drawing
    out: list[PlanSwap] = []
    for one, a, b in found:
        j = drawing.layers[one.layer]
        exchanged = layer_exchange(
            drawing.secret, drawing.unit, drawing.key(state.setting), state.draw, j,
            units.ids[a], units.ids[b],
            {c: units.entities[c][a] for c in j}, {c: units.entities[c][b] for c in j},
            {c: units.own[c][a] for c in j if c in units.own},
            {c: units.own[c][b] for c in j if c in units.own},
            matching, similarity, similarities, policy,
        )  # fmt: skip
        if not exchanged:
            continue
        out.append(
            PlanSwap(
                len(out) + 1,
                one.neighbour,
                one.layer,
                j.name,
                one.priority,
                one.time,
                units.component[a],
                units.ids[a],
                units.ids[b],
                exchanged,
            )
        )
    return out


def policy_of(order: Sequence[str]) -> Policy:
    """Return what becomes of surplus names: donors give them theirs, else the partner's cover."""
    return "one_to_one" if "donor" in order else "cover"


def layer_exchange(
    secret: Secret,
    unit: str,
    setting: str,
    draw: int,
    combination: Sequence[str],
    id_a: str,
    id_b: str,
    entities_a: Mapping[str, Collection[str]],
    entities_b: Mapping[str, Collection[str]],
    own_a: Mapping[str, Collection[str]],
    own_b: Mapping[str, Collection[str]],
    matching: Matching,
    similarity: Similarity | None = None,
    similarities: Mapping[str, Similarity] | None = None,
    policy: Policy = "cover",
) -> tuple[Exchange, ...]:
    """Decide which name meets which in one swap of a layer; see ``plan_exchange``.

    Parameters
    ----------
    secret, unit, setting, draw
        Key of the digests, with the ids.
    combination : sequence of str
        J.
    id_a, id_b : str
        The units, the smaller id first.
    entities_a, entities_b : mapping of str to collection of str
        Their original entities by category.
    own_a, own_b : mapping of str to collection of str
        Entities that name their own documents.
    matching, similarity, similarities, policy
        As for ``plan_exchange``. Where a similarity has a method ``same(first, second)``, what is
        the same in another writing is left over. Where donors replace what is left (``one_to_one``)
        and a similarity has a method ``fits(first, second)``, names that do not fit each other are
        left to them.

    Returns
    -------
    tuple of Exchange
        Empty where no name fits one of the other's: there is no swap then.
    """
    name = Combination(combination).name
    plan = tuple(
        plan_exchange(
            entities_a,
            entities_b,
            combination,
            exchange_digest(secret, setting, layer_tag(unit, name), draw, id_a, id_b),
            policy=policy,
            matching=matching,
            similarity=similarity,
            similarities=similarities,
            history_a={c: {*entities_a[c], *own_a.get(c, ())} for c in combination},
            history_b={c: {*entities_b[c], *own_b.get(c, ())} for c in combination},
        )
    )
    same = {c: s.same for c, s in (similarities or {}).items() if hasattr(s, "same")}
    plan = tuple(e for e in plan if e.category not in same or not same[e.category](e.old, e.new))
    # where a partner's names cover a surplus, what is left may be of one side alone: no exchange
    given = {(e.category, e.side) for e in plan}
    plan = tuple(e for e in plan if {(e.category, "a"), (e.category, "b")} <= given)
    if policy != "one_to_one":
        return plan
    fits = {c: s.fits for c, s in (similarities or {}).items() if hasattr(s, "fits")}
    return tuple(e for e in plan if e.category not in fits or fits[e.category](e.old, e.new))


def treat_digest(
    secret: Secret, unit: str, setting: str, draw: int, unit_id: str, category: str
) -> Callable[..., bytes]:
    """Return the keyed digest that orders names in the treatments of one category of a unit."""
    return secret.digests("treat", unit, setting, draw, unit_id, category)


class _Giving:
    """What units give in one category (:func:`giveable`), made once where all may take it."""

    def __init__(
        self, has: Sequence[Collection[str]], category: str, similarity: Similarity | None
    ) -> None:
        self._has, self._category, self._similarity = has, category, similarity
        self._made: dict[int, frozenset[str]] = {}

    def to(self, barred: Collection[str], unit: int) -> Collection[str]:
        """Return what a unit gives to one that may not take what is barred."""
        if self._category == TERM:
            return giveable(self._has[unit], barred, TERM)
        if unit not in self._made:
            self._made[unit] = names_to_give(self._has[unit], self._category, self._similarity)
        return self._made[unit].difference(barred)


def _left_over(
    state: _State, swaps: Sequence[PlanSwap], order: Sequence[str], means: Means
) -> list[LeftOver]:
    """Treat what no exchange replaced."""
    units, drawing = state.units, state.drawing
    place = {chunk: i for i, chunk in enumerate(units.ids)}
    gone: dict[tuple[int, str], set[str]] = defaultdict(set)
    partner: dict[tuple[int, str], int] = {}
    for swap in swaps:
        a, b = place[swap.chunk_a], place[swap.chunk_b]
        for category in {e.category for e in swap.exchanged}:
            partner[a, category], partner[b, category] = b, a
        for e in swap.exchanged:
            gone[a if e.side == "a" else b, e.category].add(e.old)
    groups = list(state.groups(drawing.constraints).values())
    out: list[LeftOver] = []
    alike = choosing(means.similarities, means.matching)
    for category in drawing.swap:
        measure = means.similarities.get(category)
        has = units.entities[category]
        own = units.own.get(category) or [frozenset()] * units.n
        left = [has[i] - gone.get((i, category), set()) for i in range(units.n)]
        # of those with something left alone: a document's own names are many
        mine = {i: has[i] | own[i] for i in range(units.n) if left[i]}
        barred = {
            i: names if (other := partner.get((i, category))) is None else names | has[other]
            for i, names in mine.items()
        }
        giving = _Giving(has, category, measure)
        for group in groups:
            rows = [i for i in group if has[i]]
            if not any(left[i] for i in rows):
                continue
            donors: dict[int, list[int]] = {}
            asking = [wants_donors(left[i], category, means) for i in rows]
            if "donor" in order and any(asking):
                gives, bars = joint_sets(
                    [has[i] for i in rows],
                    [barred.get(i, frozenset()) for i in rows],
                    state.numbers[category],
                )
                take = np.array(rows)
                donors = draw_donors(
                    Wanting(
                        gives,
                        bars,
                        np.array([len(left[i]) for i in rows]) * np.array(asking),
                        state.admitted[take],
                    ),
                    [units.ids[i] for i in rows],
                    state.metadata[take],
                    category,
                    drawing.secret,
                    (drawing.unit, state.setting, state.draw),
                    drawing.donors if category in alike else 1,
                    drawing.donor_clocks([units.ids[i] for i in rows], category, state.draw),
                )
            for k, i in enumerate(rows):
                if not left[i]:
                    continue
                other = partner.get((i, category))
                out += treated_names(
                    units.ids[i], category,
                    reasons(
                        left[i],
                        state.status[i],
                        None if other is None else has[other] | own[other],
                        category,
                    ),
                    [
                        (units.ids[rows[d]], giving.to(barred[i], rows[d]))
                        for d in donors.get(k, ())
                    ],
                    treat_digest(
                        drawing.secret, drawing.unit, drawing.key(state.setting), state.draw,
                        units.ids[i], category,
                    ),
                    order, means, mine[i],
                )  # fmt: skip
    return sorted(out, key=lambda one: (one.chunk_id, one.category, one.entity))


def reasons(
    entities: Collection[str], status: str, partner: Collection[str] | None, category: str
) -> dict[str, str]:
    """Return why each name of one category of a unit was left over; keys meet nobody.

    Parameters
    ----------
    entities : collection of str
        The names.
    status : str
        What a constraint says that keeps the unit out, else ''.
    partner : collection of str or None
        What the partner has or may not take; None without an exchange.
    category : str
    """
    if status:
        return dict.fromkeys(entities, status)
    if partner is None:
        found = dict.fromkeys(entities, NO_PARTNER)
    else:
        found = {e: SHARED if e in partner else SURPLUS for e in entities}
    return found | {e: KEY for e in entities if is_key(e, category)}


def giveable(
    names: Iterable[str],
    barred: Collection[str],
    category: str,
    similarity: Similarity | None = None,
) -> set[str]:
    """Return those of a donor's names that a unit may take; no keys.

    Parameters
    ----------
    names : iterable of str
    barred : collection of str
        Names of the unit, of its document and of its partner.
    category : str
        A term is barred with every compound of it
        (:func:`~nes_spark.entities.terms.may_give`).
    similarity : callable, optional
        One with a method ``gives(name)`` says which names stand for others at all.
    """
    if category == TERM:
        return may_give(names, barred)
    return set(names_to_give(names, category, similarity).difference(barred))


def names_to_give(
    names: Iterable[str], category: str, similarity: Similarity | None = None
) -> frozenset[str]:
    """Return those of a donor's names, no terms, that anybody may take: see :func:`giveable`."""
    gives = getattr(similarity, "gives", None)
    own = (name for name in names if not is_key(name, category))
    return frozenset(name for name in own if gives is None or gives(name))


def treated_names(
    unit_id: str,
    category: str,
    entities: Mapping[str, str],
    donors: Iterable[tuple[str, Collection[str]]],
    digest: Callable[..., bytes],
    order: Sequence[str],
    means: Means,
    barred: Collection[str] = frozenset(),
) -> list[LeftOver]:
    """Treat what is left of one category of one unit.

    Parameters
    ----------
    unit_id, category : str
    entities : mapping of str to str
        The names that are left, and why; see :func:`reasons`.
    donors : iterable of (str, collection of str)
        Donors in the order drawn, and the names of each that the unit may take.
    digest : callable
        Of :func:`treat_digest`.
    order : sequence of str
        Treatments.
    means : Means
    barred : collection of str
        Names of the unit and of its document.
    """
    left = Left(
        unit_id,
        category,
        tuple(sorted(entities)),
        tuple(Donor(name, tuple(sorted(names))) for name, names in donors),
        digest,
        barred,
    )
    found: list[Treated] = treat(left, order, means)
    return [
        LeftOver(
            unit_id, category, t.entity, t.treatment, t.replacement, t.donor, entities[t.entity]
        )
        for t in found
    ]
