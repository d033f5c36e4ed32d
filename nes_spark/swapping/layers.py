r"""Layers: exchange until nothing that can be exchanged stays (design, section 4, plan ``whole``).

A *layer* is a combination J. Its pairs are drawn by the exact law of
:mod:`nes_spark.swapping.sampler` until no valid pair is left. A category of a unit (a chunk, or a
document) is *open* until it was exchanged; a layer uses the units whose categories in J are all
open, each at most once. Layers come from the largest to the smallest, so that what occurs together
stays together as long as a partner can be found.

Units never leave their group (component and what constraints add), so that groups run
independently and in parallel. With *neighbours* the units that are still open meet those of the
component whose mean is nearest, then of the second nearest, and so on: a pass over all layers for
each. In one pass the components that may meet are the edges of a graph; what is connected runs
together, and only pairs along an edge are valid (:class:`NearComponents`).

What is still open at the end is *left over*. A *donor* for it is drawn uniformly from the units of
the same group that have another metadata and at least one entity of the category that the unit
neither had, nor took, nor may take.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nes_spark.entities.combination import Combination
from nes_spark.errors import parameter_error
from nes_spark.swapping.codes import Ints, Mask
from nes_spark.swapping.constraints import Constraint, NearComponents, admitted
from nes_spark.swapping.population import Population, Sets
from nes_spark.swapping.sampler import Limits, sample_component
from nes_spark.swapping.seeds import ReadAhead, Secret
from nes_spark.swapping.sticky import donor_keys, pair_clocks, pair_keys, sample_sticky, setting_key

#: Donors tried before all are looked at.
_TRIES = 64


def layers_of(
    swap: Sequence[str], layers: Iterable[Sequence[str]] | None = None
) -> tuple[Combination, ...]:
    """Return the layers of a plan.

    Parameters
    ----------
    swap : sequence of str
        The swapped categories.
    layers : iterable of sequences of str, optional
        Exactly these combinations, in this order; by default all subsets of ``swap`` from the
        largest to single categories, those of equal size in the order of ``swap``.

    Raises
    ------
    ValueError
        For an empty layer, a repeated one, or one with other categories.

    Examples
    --------
    >>> [j.name for j in layers_of(["Person", "Product"])]
    ['Person+Product', 'Person', 'Product']
    """
    if layers is None:
        sizes = range(len(swap), 0, -1)
        return tuple(Combination(j) for size in sizes for j in combinations(swap, size))
    found = tuple(Combination(j) for j in layers)
    wrong = [list(j) for j in found if not j or not set(j) <= set(swap)]
    if wrong or len({frozenset(j) for j in found}) < len(found):
        raise parameter_error(
            "layers_of", "layers", f"distinct subsets of {list(swap)}", [list(j) for j in found]
        )
    return found


def layer_tag(unit: str, combination: str) -> str:
    """Return what stands for the combination of a layer in keyed digests."""
    return f"{unit} layer {combination}"


@dataclass(frozen=True)
class Drawing:
    """What all groups of a plan are drawn with.

    Attributes
    ----------
    secret : Secret
    swap : tuple of str
        The swapped categories; arrays by category are in this order.
    layers : tuple of Combination
    unit : str
        ``chunk`` or ``document``: part of the key of the streams.
    constraints : tuple of Constraint
    uniques_first, cosine_weight, sticky
        As for ``sample_swaps``.
    donors : int
        Donors that are drawn for what is left over where the nearest name of them is taken.
    """

    secret: Secret
    swap: tuple[str, ...]
    layers: tuple[Combination, ...]
    unit: str = "chunk"
    constraints: tuple[Constraint, ...] = ()
    uniques_first: bool = False
    cosine_weight: float | None = None
    sticky: bool = False
    donors: int = 1

    def key(self, setting: str) -> str:
        """Return the part of a mixture setting in the digests of names and donors."""
        return setting_key(setting, self.sticky)

    def donor_clocks(
        self, ids: Sequence[str], category: str, draw: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint64]] | None:
        """Return what the clocks of donors follow from; None where swaps are not sticky."""
        return donor_keys(self.secret, ids, self.unit, category, draw) if self.sticky else None

    @property
    def needs_vectors(self) -> bool:
        """Whether units must have vectors."""
        return self.cosine_weight is not None or any(c.needs_vectors for c in self.constraints)


@dataclass
class Members:
    """The units of one group, in the order of their ids.

    Attributes
    ----------
    ids : sequence of str, length n
    metadata : ndarray, shape (n,)
        Code or hash of the secret of each unit's document.
    outside : ndarray, shape (layers, n)
        For each layer a code or hash of the original cell outside J.
    available, history : list of Sets
        For each swapped category the entities of the units, and those that they may not take
        (with shared codes; the same object where nothing is added).
    open : ndarray of bool, shape (categories, n)
        Which categories can still be exchanged; written by :func:`sample_layers`.
    swaps_before : ndarray of int64, shape (n,)
        Layers that swapped a unit; written too.
    uniques : ndarray of bool, shape (layers, n), optional
        For ``uniques_first``: whether a unit is alone with its cell in J.
    vectors : ndarray, shape (n, d), optional
    numbers : mapping of str to ndarray, shape (n,)
        Columns that constraints compare.
    """

    ids: Sequence[str]
    metadata: NDArray[Any]
    outside: NDArray[Any]
    available: list[Sets]
    history: list[Sets]
    open: Mask
    swaps_before: Ints
    uniques: Mask | None = None
    vectors: NDArray[Any] | None = None
    numbers: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)


@dataclass(frozen=True)
class LayerSwap:
    """An accepted swap: positions of the two units in their :class:`Members`, first < second.

    The global sequence is sorted by pass, layer, priority and time.
    """

    neighbour: int
    layer: int
    priority: int
    time: float
    first: int
    second: int


def sample_layers(
    members: Members,
    drawing: Drawing,
    setting: str,
    draw: int,
    neighbour: int = 0,
    near: NearComponents | None = None,
    limits: Limits | None = None,
) -> list[LayerSwap]:
    """Draw the swaps of one group in one pass: each layer to exhaustion.

    Parameters
    ----------
    members : Members
        What is open there becomes closed when it is exchanged.
    drawing : Drawing
    setting, draw : str, int
        Part of the key of the streams.
    neighbour : int
        0 for a group of its own, k for the pass with the k-th nearest components.
    near : NearComponents, optional
        Which components may meet, in such a pass.
    limits : Limits, optional
        For tests and benchmarks.

    Returns
    -------
    list of LayerSwap
    """
    number = {category: i for i, category in enumerate(drawing.swap)}
    rules = (*drawing.constraints, *((near,) if near is not None else ()))
    again = [c for c in drawing.constraints if c.columns == ("swaps_before",)]
    out: list[LayerSwap] = []
    for layer, j in enumerate(drawing.layers):
        mine = [number[c] for c in j]
        usable = members.open[mine].all(axis=0)
        if again:
            facts = {"swaps_before": members.swaps_before.tolist()}
            usable &= admitted(facts, len(members.ids), again)[0]
        (rows,) = np.nonzero(usable)
        if len(rows) < 2:
            continue
        available = [members.available[c].take(rows) for c in mine]
        history = [
            gives if members.history[c] is members.available[c] else members.history[c].take(rows)
            for c, gives in zip(mine, available, strict=True)
        ]
        population = Population(
            members.metadata[rows],
            members.outside[layer][rows],
            available,
            history,
            constraints=rules,
            vectors=None if members.vectors is None else members.vectors[rows],
            numbers={name: values[rows] for name, values in members.numbers.items()},
            cosine_weight=drawing.cosine_weight,
        )
        uniques = None
        if drawing.uniques_first and members.uniques is not None:
            uniques = members.uniques[layer][rows]
        ids = [members.ids[i] for i in (rows.tolist() if drawing.sticky else [rows[0]])]
        if drawing.sticky:
            # Components are left out of the key as in a single round; see pair_keys.
            tag = layer_tag(drawing.unit, j.name)
            keys = pair_keys(drawing.secret, ids, tag, draw, neighbour)
            accepted = sample_sticky(population, keys, None, uniques)
        else:
            stream = drawing.secret.stream(
                "layer", drawing.unit, setting, j.name, draw, neighbour, ids[0]
            )
            accepted = sample_component(population, stream, None, uniques, limits)
        for swap in accepted:
            first, second = int(rows[swap.first]), int(rows[swap.second])
            out.append(LayerSwap(neighbour, layer, swap.priority, swap.time, first, second))
        # a layer swaps a unit once at most
        swapped = rows[np.array([(s.first, s.second) for s in accepted], dtype=np.int64).ravel()]
        members.open[np.ix_(np.array(mine), swapped)] = False
        members.swaps_before[swapped] += 1
    return out


def nearest_components(
    means: Mapping[Any, NDArray[Any]], neighbours: int
) -> dict[Any, tuple[Any, ...]]:
    """Return for each component the others by falling cosine of their means, so many at most.

    Parameters
    ----------
    means : mapping of component to ndarray, shape (d,)
        Mean directions; any length but zero.
    neighbours : int
        How many others.
    """
    names = sorted(means, key=lambda k: (isinstance(k, str), k))
    table = np.array([np.asarray(means[k], dtype=np.float64) for k in names])
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    if len(names) and not (norms > 0).all():
        raise parameter_error("nearest_components", "means", "vectors that are not zero", "a zero")
    unit = table / norms
    out = {}
    for i, name in enumerate(names):
        # Each cosine by itself: the same value whatever the other components are.
        cosine = [float(np.dot(unit[i], unit[k])) for k in range(len(names))]
        order = sorted((k for k in range(len(names)) if k != i), key=lambda k: (-cosine[k], k))
        out[name] = tuple(names[k] for k in order[:neighbours])
    return out


def meetings(near: Mapping[Any, Sequence[Any]], neighbour: int) -> dict[Any, Any]:
    """Return which components run together in the pass with the k-th nearest ones.

    Parameters
    ----------
    near : mapping
        Of :func:`nearest_components`.
    neighbour : int
        k, from 1.

    Returns
    -------
    dict
        Component -> the first component of those that are connected with it. Components without a
        k-th neighbour, whom nobody has as such, are left out.
    """
    edges = [(k, others[neighbour - 1]) for k, others in near.items() if len(others) >= neighbour]
    leader: dict[Any, Any] = {k: k for edge in edges for k in edge}

    def root(k: Any) -> Any:
        while leader[k] != k:
            k = leader[k]
        return k

    for a, b in edges:
        x, y = sorted((root(a), root(b)), key=lambda k: (isinstance(k, str), k))
        leader[y] = x
    return {k: root(k) for k in leader}


@dataclass(frozen=True)
class Wanting:
    """Who needs donors in one category of a group, and what each may not get.

    Attributes
    ----------
    available : Sets
        Entities of all units of the group in the category.
    barred : Sets
        What each unit may not take: what it had, what names its document, and what its partner
        had; codes shared with ``available``.
    left : ndarray of int64, shape (n,)
        How many entities of each unit ask for a donor: of those that are left over.
    admitted : ndarray of bool, shape (n,)
        Units that constraints let take part; the others neither give nor get.
    """

    available: Sets
    barred: Sets
    left: Ints
    admitted: Mask


def draw_donors(
    wanting: Wanting,
    ids: Sequence[str],
    metadata: NDArray[Any],
    category: str,
    secret: Secret,
    key: Sequence[Hashable],
    least: int = 1,
    clocks: tuple[NDArray[np.uint64], NDArray[np.uint64]] | None = None,
) -> dict[int, list[int]]:
    """Draw donors for what is left over in one category of a group.

    Each is drawn uniformly from the units of other metadata that have an entity which the unit may
    take; when it has fewer such entities than are left over, or fewer donors than `least` are
    drawn, another is drawn, from those that have an entity more.

    Parameters
    ----------
    wanting : Wanting
    ids : sequence of str, length n
        In ascending order.
    metadata : ndarray, shape (n,)
    category : str
    secret : Secret
    key : sequence
        Part of the key of the streams.
    least : int
        So many donors for each where there are as many: the choice that is then left of their
        names is a matter of likeness, and which they are a matter of the secret.
    clocks : tuple of two ndarrays of uint64, shape (n,), optional
        From :func:`nes_spark.swapping.sticky.donor_keys`: donors are taken in the order of the
        clocks of these pairs in place of a stream, which is the same law.

    Returns
    -------
    dict
        Position -> positions of its donors, in the order drawn. Units that are left without (or
        with too few) donors have an empty or short list.
    """
    available = wanting.available
    (pool,) = np.nonzero((available.sizes > 0) & wanting.admitted)
    has = _Having(available)
    listed, told = pool.tolist(), metadata.tolist()
    out: dict[int, list[int]] = {}
    for i in np.nonzero(wanting.left > 0)[0].tolist():
        donors = out.setdefault(i, [])
        if not wanting.admitted[i] or not len(pool):
            continue
        barred = set(wanting.barred.row(i).tolist())
        if clocks is None:
            stream = secret.stream("donor", *key, category, ids[i])
            ahead = ReadAhead(stream, _TRIES * min(2 * least, 128))
            turns = _drawn(ahead, listed, told, told[i], has, barred)
        else:
            others = pool[metadata[pool] != metadata[i]]
            turns = _in_turn(others, clocks[0][i], clocks[1], least)
        left = int(wanting.left[i])
        for row in turns:
            gives = has[row] - barred
            if not gives:
                continue
            donors.append(row)
            barred |= gives
            left -= len(gives)
            if left <= 0 and len(donors) >= least:
                break
    return out


class _Having(dict[int, frozenset[int]]):
    """What each row has, read once, when it is asked for."""

    def __init__(self, available: Sets) -> None:
        super().__init__()
        self._available = available

    def __missing__(self, row: int) -> frozenset[int]:
        self[row] = found = frozenset(self._available.row(row).tolist())
        return found


def _drawn(
    stream: ReadAhead,
    pool: Sequence[int],
    metadata: Sequence[Any],
    own: Any,
    has: _Having,
    barred: set[Any],
) -> Iterator[int]:
    """Yield, one after the other, a random position among those that can give what is not barred.

    ``barred`` grows between two of them; only who has other ``metadata`` than ``own`` gives;
    ``has`` holds what each of the pool has.
    """
    for tried in stream.lists_below(len(pool), _TRIES):
        found = -1
        for k in tried:
            row = pool[k]
            if metadata[row] != own and not has[row] <= barred:
                found = row
                break
        # Few units can give: look at all of them, so that the choice stays uniform.
        if found < 0:
            rows = [r for r in pool if metadata[r] != own and not has[r] <= barred]
            if not rows:
                return
            found = rows[int(stream.below(np.array([len(rows)]))[0])]
        yield found


def _in_turn(pool: Ints, asks: np.uint64, gives: NDArray[np.uint64], least: int) -> Iterator[int]:
    """Yield the positions of a pool in the order of their clocks; ties, by hash."""
    times = pair_clocks(np.broadcast_to(asks, pool.shape), gives[pool])
    first = min(len(pool), 4 * least + _TRIES)
    # Sorting all is needed where few can give.
    if first < len(pool):
        early = np.argpartition(times, first - 1)[:first]
        last = times[early].max()
        (early,) = np.nonzero(times < last)
        yield from pool[early[np.lexsort((gives[pool[early]], times[early]))]].tolist()
        (rest,) = np.nonzero(times >= last)
    else:
        rest = np.arange(len(pool))
    yield from pool[rest[np.lexsort((gives[pool[rest]], times[rest]))]].tolist()
