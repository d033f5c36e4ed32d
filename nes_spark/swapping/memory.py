"""The in-memory form of the sampler, for notebooks, tests and corpora that fit one machine.

It gives the same swaps as the Spark stage for the same secret, setting, combination and ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from nes_spark.entities.combination import Combination
from nes_spark.errors import parameter_error
from nes_spark.swapping.codes import Mask
from nes_spark.swapping.constraints import (
    Constraint,
    admitted,
    columns_needed,
    constraints_of,
)
from nes_spark.swapping.exchange import (
    Exchange,
    Matching,
    Policy,
    Similarity,
    plan_exchange,
)
from nes_spark.swapping.likeness import similarities_for
from nes_spark.swapping.population import Population, joint_sets, sets_of
from nes_spark.swapping.sampler import Limits, sample_component
from nes_spark.swapping.seeds import Secret, Stream
from nes_spark.swapping.sticky import pair_keys, sample_sticky, setting_key

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from nes_spark.config import ConstraintsConfig, ReleasesConfig, SwappingConfig


@dataclass(frozen=True)
class Swap:
    """An accepted swap.

    Attributes
    ----------
    order : int
        1-based position in the sequence.
    round : int
        1-based round.
    priority : int
        0; with sample uniques first, 2 minus the number of sample uniques in the pair.
    time : float
        Ring of the pair's clock within its round and priority, in units of the mean waiting time
        of one pair.
    component : hashable
        The component both chunks belong to.
    chunk_a, chunk_b : str
        Chunk ids, the smaller first.
    exchanged : tuple of Exchange
        What becomes of the entities; side 'a' is ``chunk_a``.
    """

    order: int
    round: int
    priority: int
    time: float
    component: Hashable
    chunk_a: str
    chunk_b: str
    exchanged: tuple[Exchange, ...] = field(repr=False)


def component_stream(
    secret: Secret, setting: str, combination: str, draw: int, round_: int, first_id: str
) -> Stream:
    """Return the random stream of one component in one draw.

    The component is known by the smallest id of its eligible chunks, not by its number: the
    numbering of mixture components is arbitrary, and a component split by covariates has no number.
    """
    return secret.stream("swap", setting, combination, draw, round_, first_id)


class SwapOptions(TypedDict, total=False):
    """Keyword names of :func:`sample_swaps` that take the place of configuration objects.

    Fields of ``ReleasesConfig`` (``max_swaps``, ``constraints``) and of ``SwappingConfig`` with
    their meaning there; ``max_swaps`` may also be None (until no valid pair is left) or 0.
    """

    max_swaps: int | None
    constraints: ConstraintsConfig | None
    policy: Policy
    matching: Matching
    rounds: int
    uniques_first: bool
    cosine_weight: float | None
    sticky: bool


#: What holds where neither a configuration object nor a keyword says anything.
_DEFAULTS: SwapOptions = {
    "max_swaps": None,
    "constraints": None,
    "policy": "one_to_one",
    "matching": "random",
    "rounds": 1,
    "uniques_first": False,
    "cosine_weight": None,
    "sticky": False,
}


def options_of(
    owner: str,
    releases: ReleasesConfig | None,
    swapping: SwappingConfig | None,
    given: Mapping[str, Any],
) -> SwapOptions:
    """Return the options of a sampling: keywords first, then configuration objects, then defaults.

    Raises
    ------
    TypeError
        For a keyword that is none of :class:`SwapOptions`.
    ValueError
        For a value out of its range.
    """
    unknown = sorted(set(given) - set(_DEFAULTS))
    if unknown:
        raise TypeError(f"{owner}() got unexpected keyword arguments {unknown}")
    found: dict[str, Any] = dict(_DEFAULTS)
    for config in (releases, swapping):
        if config is not None:
            found |= {k: getattr(config, k) for k in _DEFAULTS if hasattr(config, k)}
    found |= given
    if found["max_swaps"] is not None and found["max_swaps"] < 0:
        raise parameter_error(owner, "max_swaps", "at least 0, or None", found["max_swaps"])
    if found["rounds"] < 1:
        raise parameter_error(owner, "rounds", "at least 1", found["rounds"])
    if found["cosine_weight"] is not None and found["cosine_weight"] < 0:
        raise parameter_error(owner, "cosine_weight", "at least 0", found["cosine_weight"])
    return cast("SwapOptions", found)


def _shared(collections: Sequence[Collection[str]]) -> list[frozenset[str]]:
    """Return frozensets, one for what is one object: chunks of a document share its own names."""
    made = {id(names): names for names in collections}
    sets = {key: frozenset(names) for key, names in made.items()}
    return [sets[id(names)] for names in collections]


class Units:
    """The chunks (or documents) of an in-memory sampling, in the order of their ids.

    Parameters
    ----------
    owner : str
        The public function, for errors.
    ids, metadata, component, entities, own_names, vectors
        As for :func:`sample_swaps`.
    facts : mapping of str to sequence
        Columns that constraints may ask for.

    Raises
    ------
    ValueError
        When ids are repeated or lengths differ.
    """

    def __init__(
        self,
        owner: str,
        ids: Sequence[str],
        metadata: Sequence[Hashable],
        component: Sequence[Hashable] | None,
        entities: Mapping[str, Sequence[Collection[str]]],
        own_names: Mapping[str, Sequence[Collection[str]]] | None,
        vectors: NDArray[Any] | None,
        facts: Mapping[str, Sequence[Any]],
    ) -> None:
        ids, metadata = list(ids), list(metadata)  # columns of a table have an index of their own
        component = None if component is None else list(component)
        entities = {c: list(v) for c, v in entities.items()}
        own_names = {c: list(v) for c, v in (own_names or {}).items()}
        facts = {c: list(v) for c, v in facts.items()}
        n = len(ids)
        if len(set(ids)) < n:
            raise parameter_error(owner, "chunk_ids", "distinct", f"{n - len(set(ids))} repeated")
        lengths: dict[str, Sized] = {"metadata": metadata}
        if component is not None:
            lengths["component"] = component
        lengths |= {f"entities[{c!r}]": v for c, v in entities.items()}
        for name, values in lengths.items():
            if len(values) != n:
                raise parameter_error(owner, name, f"of length {n}, as chunk_ids", len(values))
        for name, values in facts.items():
            if len(values) != n:
                raise parameter_error(owner, name, f"of length {n}, as chunk_ids", len(values))
        for category, values in own_names.items():
            if len(values) != n:
                allowed = f"of length {n} for {category}, as chunk_ids"
                raise parameter_error(owner, "own_names", allowed, len(values))
        if vectors is not None and len(vectors) != n:
            raise parameter_error(owner, "vectors", f"of length {n}, as chunk_ids", len(vectors))
        order = sorted(range(n), key=lambda i: ids[i])
        self.owner = owner
        self.n = n
        self.ids = [ids[i] for i in order]
        self.metadata = [metadata[i] for i in order]
        self.component = [None if component is None else component[i] for i in order]
        self.entities = {c: [frozenset(v[i]) for i in order] for c, v in entities.items()}
        self.own = {c: _shared([v[i] for i in order]) for c, v in own_names.items()}
        self.vectors = None if vectors is None else np.asarray(vectors)[order]
        self.facts: dict[str, list[Any]] = {c: [v[i] for i in order] for c, v in facts.items()}
        self.facts["component"] = self.component
        self.facts["swaps_before"] = [0] * n

    def cells(self, categories: Iterable[str]) -> list[tuple[frozenset[str], ...]]:
        """Return the entities of every unit in some categories, as one value."""
        columns = [self.entities[c] for c in categories]
        return list(zip(*columns, strict=True)) if columns else [()] * self.n

    def uniques(self, categories: Sequence[str]) -> Mask:
        """Tell which units are alone with their cell in some categories."""
        cells = self.cells(categories)
        count = Counter(cells)
        return np.array([count[cell] == 1 for cell in cells], dtype=bool)

    def require(self, constraints: Sequence[Constraint], weighted: bool) -> None:
        """Raise ValueError when a constraint, or weights, lack a column or the vectors."""
        for name in columns_needed(constraints):
            if name not in self.facts:
                where = {"concentration": "concentrations", "covariates": "covariates"}
                asking = " and ".join(
                    c.field or c.name for c in constraints if name in (*c.columns, *c.numbers)
                )
                raise parameter_error(
                    self.owner, where.get(name, "facts"), f"given ({name}) with {asking}", None
                )
        if self.vectors is None and (weighted or any(c.needs_vectors for c in constraints)):
            raise parameter_error(
                self.owner, "vectors", "given with cosine_weight or min_cosine", None
            )

    def admitted(self, constraints: Sequence[Constraint]) -> tuple[Mask, list[str]]:
        """Tell which units the constraints let take part, and the status of those kept out."""
        return admitted(self.facts, self.n, constraints)

    def groups(self, constraints: Sequence[Constraint]) -> list[Hashable]:
        """Return the group of each unit: only units of one group are paired."""
        values = [g for c in constraints if (g := c.groups(self.facts)) is not None]
        return list(zip(*values, strict=True)) if values else [()] * self.n

    def numbers(
        self, constraints: Sequence[Constraint], rows: Sequence[int]
    ) -> dict[str, NDArray[np.float64]]:
        """Return the columns that pairs are compared by, for some units."""
        names = {name for c in constraints for name in c.numbers}
        return {
            c: np.array([self.facts[c][i] for i in rows], dtype=np.float64) for c in sorted(names)
        }


def sample_swaps(
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
) -> list[Swap]:
    """Draw a sequence of swaps: each time a pair uniformly from all pairs still valid.

    Parameters
    ----------
    chunk_ids : sequence of str, length n
        Distinct ids. The result depends on the ids, not on their order.
    metadata : sequence, length n
        Secret of each chunk's document; chunks of equal metadata are never swapped.
    component : sequence, length n, or None
        Mixture component of each chunk; None for one component.
    entities : mapping of str to sequence of collections of str
        Category -> for each chunk, its entities (any collection, empty for none).
    swap : sequence of str
        The swapped categories J, keys of ``entities``.
    others : sequence of str, optional
        Categories outside J; at least one of them must differ in a valid pair. By default all
        other keys of ``entities`` but those that ``releases`` replaces in every chunk, whose
        differences the release does not show. Without any, no pair is valid.
    seed : bytes or str or int
        The secret.
    setting, draw : str, int
        Part of the key of the random streams, so that settings and draws are independent.
    releases : ReleasesConfig, optional
        Longest sequence and constraints, see
        :mod:`nes_spark.swapping.constraints` for what each needs.
    swapping : SwappingConfig, optional
        Policy, matching, rounds, weights.
    concentrations : mapping, optional
        Component -> concentration; needed for ``min_concentration``.
    covariates : sequence, length n, optional
        Covariates of each chunk's document: a mapping, or whatever must be equal; needed for
        ``same_covariates``.
    facts : mapping of str to sequence, length n, optional
        Further columns that constraints ask for.
    own_names : mapping of str to sequence of collections of str, optional
        Category -> for each chunk, entities that name its own document: no swap brings them in.
    vectors : ndarray, shape (n, d), optional
        Unit vectors; needed for ``min_cosine`` and ``cosine_weight``.
    similarity : callable, optional
        See :func:`nes_spark.swapping.plan_exchange`.
    limits : Limits, optional
        For tests and benchmarks.
    **options
        Single fields of the configuration by their names, see :class:`SwapOptions`; they go before
        ``releases`` and ``swapping``. Without either: no longest sequence, no constraint,
        ``one_to_one``, ``random``, one round.

    Returns
    -------
    list of Swap
        In order. A result with smaller ``max_swaps`` is the beginning of one with larger.

    Raises
    ------
    ValueError
        When lengths differ, ids are repeated, a category is unknown, or a parameter is out of its
        range or missing what it needs.

    Examples
    --------
    >>> swaps = sample_swaps(
    ...     ["a#0", "b#0"], ["Acme", "Bolt"], None,
    ...     {"Organization": [["Orion"], ["Vega"]], "Location": [["Oslo"], ["Bonn"]]},
    ...     ["Organization"], seed=1,
    ... )
    >>> [(s.chunk_a, s.chunk_b) for s in swaps]
    [('a#0', 'b#0')]
    """
    owner = "sample_swaps"
    secret = Secret(seed)
    chosen = options_of(owner, releases, swapping, options)
    constraints = constraints_of(chosen["constraints"])
    check_categories(owner, entities, swap, others)
    table = facts_for(constraints, chunk_ids, component, concentrations, covariates, facts)
    units = Units(owner, chunk_ids, metadata, component, entities, own_names, vectors, table)
    units.require(constraints, chosen["cosine_weight"] is not None)
    names = list(swap)
    measures = {} if similarity else similarities_for(names, chosen["matching"])
    combination = Combination(names).name
    replaced = () if releases is None else tuple(releases.must_change)
    beside = [c for c in entities if c not in names and c not in replaced]
    outside = beside if others is None else list(others)
    outsides = units.cells(outside)
    unique = units.uniques(names) if chosen["uniques_first"] else None
    available = {c: list(units.entities[c]) for c in names}
    history = {c: list(units.entities[c]) for c in names}
    for c in names:
        if c in units.own:
            history[c] = [past | own for past, own in zip(history[c], units.own[c], strict=True)]
    strata = units.groups(constraints)
    done: list[Swap] = []
    for round_ in range(1, chosen["rounds"] + 1):
        remaining = None if chosen["max_swaps"] is None else chosen["max_swaps"] - len(done)
        if remaining is not None and remaining <= 0:
            break
        admitted_, _ = units.admitted(constraints)
        members: dict[Hashable, list[int]] = {}
        for i in range(units.n):
            if admitted_[i] and all(available[c][i] for c in names):
                members.setdefault(strata[i], []).append(i)
        found: list[tuple[int, float, str, str, int, int]] = []
        for rows in members.values():
            if len(rows) < 2:
                continue
            as_given = round_ == 1 and not own_names
            gives = [[available[c][i] for i in rows] for c in names]
            if as_given:
                families = [sets_of(g) for g in gives]
                pasts = None
            else:
                both = [
                    joint_sets(g, [history[c][i] for i in rows])
                    for g, c in zip(gives, names, strict=True)
                ]
                families, pasts = [b[0] for b in both], [b[1] for b in both]
            population = Population(
                [units.metadata[i] for i in rows],
                [outsides[i] for i in rows],
                families,
                pasts,
                constraints=constraints,
                vectors=None if units.vectors is None else units.vectors[rows],
                numbers=units.numbers(constraints, rows),
                cosine_weight=chosen["cosine_weight"],
            )
            marked = None if unique is None else unique[rows]
            if chosen["sticky"]:
                keys = pair_keys(secret, [units.ids[i] for i in rows], combination, draw, round_)
                accepted = sample_sticky(population, keys, remaining, marked)
            else:
                stream = component_stream(
                    secret, setting, combination, draw, round_, units.ids[rows[0]]
                )
                accepted = sample_component(population, stream, remaining, marked, limits)
            for swap_ in accepted:
                a, b = rows[swap_.first], rows[swap_.second]
                found.append((swap_.priority, swap_.time, units.ids[a], units.ids[b], a, b))
        found.sort()
        if not found:
            break
        for priority, time, id_a, id_b, a, b in found[:remaining]:
            plan = plan_exchange(
                {c: available[c][a] for c in names},
                {c: available[c][b] for c in names},
                names,
                exchange_digest(
                    secret,
                    setting_key(setting, chosen["sticky"]),
                    combination,
                    draw,
                    id_a,
                    id_b,
                ),
                policy=chosen["policy"],
                matching=chosen["matching"],
                similarity=similarity,
                similarities=measures,
                history_a={c: history[c][a] for c in names},
                history_b={c: history[c][b] for c in names},
            )
            for e in plan:
                i = a if e.side == "a" else b
                available[e.category][i] -= {e.old}
                history[e.category][i] |= {e.new}
            for i in (a, b):
                units.facts["swaps_before"][i] += 1
            place = units.component[a]
            done.append(Swap(len(done) + 1, round_, priority, time, place, id_a, id_b, tuple(plan)))
    return done


def exchange_digest(
    secret: Secret, setting: str, combination: str, draw: int, chunk_a: str, chunk_b: str
) -> Any:
    """Return the keyed digest that orders the entities of one swap; see ``plan_exchange``."""

    def digest(*parts: object) -> bytes:
        return secret.digest("match", setting, combination, draw, chunk_a, chunk_b, *parts)

    return digest


def facts_for(
    constraints: Sequence[Constraint],
    chunk_ids: Sequence[str],
    component: Sequence[Hashable] | None,
    concentrations: Mapping[Any, float] | None,
    covariates: Sequence[Any] | None,
    facts: Mapping[str, Sequence[Any]] | None,
) -> dict[str, Sequence[Any]]:
    """Return the facts of chunks with what constraints ask for beside them.

    Parameters
    ----------
    constraints : sequence of Constraint
    chunk_ids, component, concentrations, covariates, facts
        As for :func:`sample_swaps`.

    Returns
    -------
    dict of str to sequence
        Name -> one value a chunk, in the order given.
    """
    table: dict[str, Sequence[Any]] = dict(facts or {})
    if covariates is not None:
        table["covariates"] = covariates
    if concentrations is not None and "concentration" in columns_needed(constraints):
        placed = [None] * len(chunk_ids) if component is None else component
        table["concentration"] = [concentrations[k] for k in placed]
    return table


def check_categories(
    owner: str,
    entities: Collection[str],
    swap: Sequence[str],
    others: Sequence[str] | None,
) -> None:
    """Raise ValueError unless ``swap`` and ``others`` are disjoint known categories."""
    for name, categories in (("swap", swap), ("others", others or ())):
        unknown = [c for c in categories if c not in entities]
        if unknown or len(set(categories)) < len(categories):
            raise parameter_error(
                owner, name, f"distinct categories of {sorted(entities)}", list(categories)
            )
    if not swap:
        raise parameter_error(owner, "swap", "at least one category", list(swap))
    both = sorted(set(swap) & set(others or ()))
    if both:
        raise parameter_error(owner, "others", "categories outside 'swap'", both)
