"""The in-memory form of the sampler, for notebooks, tests and corpora that fit one machine.

It gives the same swaps as the Spark stage for the same secret, setting, combination and ids.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nes_spark.entities.combination import Combination
from nes_spark.errors import parameter_error
from nes_spark.swapping.exchange import (
    Exchange,
    Matching,
    Policy,
    Similarity,
    plan_exchange,
)
from nes_spark.swapping.population import Population, joint_sets, sets_of
from nes_spark.swapping.sampler import Limits, sample_component
from nes_spark.swapping.seeds import Secret, Stream
from nes_spark.swapping.sticky import pair_keys, sample_sticky

if TYPE_CHECKING:
    from nes_spark.config import ConstraintsConfig


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


def sample_swaps(
    chunk_ids: Sequence[str],
    metadata: Sequence[Hashable],
    component: Sequence[Hashable] | None,
    entities: Mapping[str, Sequence[Collection[str]]],
    swap: Sequence[str],
    others: Sequence[str] | None = None,
    *,
    max_swaps: int | None = None,
    seed: bytes | str | int,
    setting: str = "",
    draw: int = 0,
    constraints: ConstraintsConfig | None = None,
    concentrations: Mapping[Any, float] | None = None,
    covariates: Sequence[Hashable] | None = None,
    own_names: Mapping[str, Sequence[Collection[str]]] | None = None,
    vectors: NDArray[Any] | None = None,
    policy: Policy = "one_to_one",
    matching: Matching = "random",
    similarity: Similarity | None = None,
    rounds: int = 1,
    uniques_first: bool = False,
    cosine_weight: float | None = None,
    sticky: bool = False,
    limits: Limits | None = None,
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
        other keys of ``entities``. Without any, no pair is valid.
    max_swaps : int, optional
        Longest sequence; None until no valid pair is left.
    seed : bytes or str or int
        The secret.
    setting, draw : str, int
        Part of the key of the random streams, so that settings and draws are independent.
    constraints : ConstraintsConfig, optional
        Optional constraints: ``min_concentration`` (needs ``concentrations``), ``same_covariates``
        (needs ``covariates``), ``max_count_difference``, ``min_cosine`` (needs ``vectors``).
    concentrations : mapping, optional
        Component -> concentration.
    covariates : sequence, length n, optional
        What must be equal in a valid pair; used where ``constraints.same_covariates`` is not empty.
    own_names : mapping of str to sequence of collections of str, optional
        Category -> for each chunk, entities that name its own document: no swap brings them in.
    vectors : ndarray, shape (n, d), optional
        Unit vectors.
    policy, matching, similarity
        What is exchanged; see :func:`nes_spark.swapping.plan_exchange`.
    rounds : int
        When no valid pair is left, begin again with all chunks, for entities not exchanged before
        (see :mod:`nes_spark.swapping.population`), so many rounds in all.
    uniques_first : bool
        Pairs of two sample uniques of z_J first, then of one, then the others.
    cosine_weight : float, optional
        Draw pairs proportionally to ((1 + cosine) / 2) ** cosine_weight; needs ``vectors``.
    sticky : bool
        Give every pair a clock of its own, see :mod:`nes_spark.swapping.sticky`.
    limits : Limits, optional
        For tests and benchmarks.

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
    secret = Secret(seed)
    n = len(chunk_ids)
    _check(chunk_ids, metadata, component, entities, swap, others, max_swaps, rounds, n)
    for category, values in (own_names or {}).items():
        if len(values) != n:
            allowed = f"of length {n} for {category}, as chunk_ids"
            raise parameter_error("sample_swaps", "own_names", allowed, len(values))
    if cosine_weight is not None and cosine_weight < 0:
        raise parameter_error("sample_swaps", "cosine_weight", "at least 0", cosine_weight)
    names = list(swap)
    combination = Combination(names).name
    outside = [c for c in entities if c not in names] if others is None else list(others)
    order = sorted(range(n), key=lambda i: chunk_ids[i])
    sets = {c: [frozenset(entities[c][i]) for i in order] for c in [*names, *outside]}
    ids = [chunk_ids[i] for i in order]
    secrets_ = [metadata[i] for i in order]
    groups = [None if component is None else component[i] for i in order]
    outsides = list(zip(*(sets[c] for c in outside), strict=True)) if outside else [()] * n
    unique = None
    if uniques_first:
        inside = list(zip(*(sets[c] for c in names), strict=True))
        count = Counter(inside)
        unique = np.array([count[cell] == 1 for cell in inside], dtype=bool)

    options: dict[str, Any] = {"cosine_weight": cosine_weight}
    strata: list[Hashable] = list(groups)
    if constraints is not None:
        options |= {
            "max_count_difference": constraints.max_count_difference,
            "min_cosine": constraints.min_cosine,
        }
        if constraints.same_covariates:
            if covariates is None:
                raise parameter_error(
                    "sample_swaps", "covariates", "given with same_covariates", None
                )
            strata = [(g, covariates[i]) for g, i in zip(groups, order, strict=True)]
    if vectors is None and (cosine_weight is not None or options.get("min_cosine") is not None):
        raise parameter_error(
            "sample_swaps", "vectors", "given with cosine_weight or min_cosine", None
        )
    table = None if vectors is None else np.asarray(vectors)[order]
    least = constraints.min_concentration if constraints is not None else None
    if least is not None and concentrations is None:
        raise parameter_error(
            "sample_swaps", "concentrations", "given with min_concentration", None
        )

    available = {c: list(sets[c]) for c in names}
    history = {c: list(sets[c]) for c in names}
    for c in names:
        if own_names is not None and c in own_names:
            own = own_names[c]
            history[c] = [past | set(own[i]) for past, i in zip(history[c], order, strict=True)]
    done: list[Swap] = []
    for round_ in range(1, rounds + 1):
        remaining = None if max_swaps is None else max_swaps - len(done)
        if remaining is not None and remaining <= 0:
            break
        members: dict[Hashable, list[int]] = {}
        for i in range(n):
            if (
                least is not None
                and concentrations is not None
                and concentrations[groups[i]] < least
            ):
                continue
            if all(available[c][i] for c in names):
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
                _listed([secrets_[i] for i in rows]),
                _listed([outsides[i] for i in rows]),
                families,
                pasts,
                vectors=None if table is None else table[rows],
                **options,
            )
            marked = None if unique is None else unique[rows]
            if sticky:
                keys = pair_keys(secret, [ids[i] for i in rows], combination, draw, round_)
                accepted = sample_sticky(population, keys, remaining, marked)
            else:
                stream = component_stream(secret, setting, combination, draw, round_, ids[rows[0]])
                accepted = sample_component(population, stream, remaining, marked, limits)
            for swap_ in accepted:
                a, b = rows[swap_.first], rows[swap_.second]
                found.append((swap_.priority, swap_.time, ids[a], ids[b], a, b))
        found.sort()
        if not found:
            break
        for priority, time, id_a, id_b, a, b in found[:remaining]:
            plan = plan_exchange(
                {c: available[c][a] for c in names},
                {c: available[c][b] for c in names},
                names,
                exchange_digest(secret, setting, combination, draw, id_a, id_b),
                policy=policy,
                matching=matching,
                similarity=similarity,
                history_a={c: history[c][a] for c in names},
                history_b={c: history[c][b] for c in names},
            )
            for e in plan:
                i = a if e.side == "a" else b
                available[e.category][i] -= {e.old}
                history[e.category][i] |= {e.new}
            done.append(
                Swap(len(done) + 1, round_, priority, time, groups[a], id_a, id_b, tuple(plan))
            )
    return done


def exchange_digest(
    secret: Secret, setting: str, combination: str, draw: int, chunk_a: str, chunk_b: str
) -> Any:
    """Return the keyed digest that orders the entities of one swap; see ``plan_exchange``."""

    def digest(*parts: object) -> bytes:
        return secret.digest("match", setting, combination, draw, chunk_a, chunk_b, *parts)

    return digest


def _listed(values: list[Any]) -> list[Any]:
    """Number values by first appearance: any hashable becomes an integer."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(v, len(numbers)) for v in values]


def _check(
    chunk_ids: Sequence[str],
    metadata: Sequence[Hashable],
    component: Sequence[Hashable] | None,
    entities: Mapping[str, Sequence[Collection[str]]],
    swap: Sequence[str],
    others: Sequence[str] | None,
    max_swaps: int | None,
    rounds: int,
    n: int,
) -> None:
    owner = "sample_swaps"
    if len(set(chunk_ids)) < n:
        raise parameter_error(owner, "chunk_ids", "distinct", f"{n - len(set(chunk_ids))} repeated")
    given: dict[str, int] = {"metadata": len(metadata)}
    if component is not None:
        given["component"] = len(component)
    given |= {f"entities[{c!r}]": len(v) for c, v in entities.items()}
    for name, length in given.items():
        if length != n:
            raise parameter_error(owner, name, f"of length {n}, as chunk_ids", length)
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
    if max_swaps is not None and max_swaps < 0:
        raise parameter_error(owner, "max_swaps", "at least 0, or None", max_swaps)
    if rounds < 1:
        raise parameter_error(owner, "rounds", "at least 1", rounds)
