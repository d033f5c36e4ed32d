"""Which swaps are valid: one class a constraint, and nothing about validity anywhere else.

A pair of chunks (a, b) may exchange its entities in the categories J (paper, sections 2.1 and 2.3;
design, section 4) when every :class:`Constraint` of the release allows it. The sampler, the Spark
stage, the in-memory form and the adversary who knows about swapping all read this module.

There are four ways to restrict swaps; a class has those that it needs.

* *groups*: chunks are only paired within groups of equal value (component, sector). Groups are
  sampled on their own and in parallel.
* *eligible*: which chunks take part at all (concentration of their component).
* *keys*: values that must differ in a pair (metadata). The sampler leaves out whole groups of equal
  keys without looking at their pairs.
* *pairs* and *row*: anything else about two chunks (counts of entities, cosine).

To add a constraint, write its class here, give it the decorator :func:`constraint`, and add the
field that switches it on to ``ConstraintsConfig``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from nes_spark.errors import parameter_error
from nes_spark.swapping.codes import Ints, Mask, codes_of

if TYPE_CHECKING:
    from nes_spark.config import ConstraintsConfig

#: Column name -> one value a chunk.
Facts = Mapping[str, Sequence[Any]]


class SwappedCategory(Protocol):
    """What a constraint sees of one swapped category; see ``population.Category``."""

    code: Ints
    key: Ints
    count: Ints

    def pairs_exchange(self, a: Ints, b: Ints) -> Mask:
        """Tell for pairs whether each has an available entity that the other never had."""

    def row_exchanges(self, chunk: int, others: Ints) -> Mask:
        """Tell the same for one chunk and others."""


class Chunks(Protocol):
    """What a constraint on pairs sees: the chunks of one group, by position.

    Attributes
    ----------
    n : int
        Number of chunks.
    metadata, outside : sequence, length n
        Secret of the document; the cell outside J (or hashes of them).
    """

    n: int
    metadata: Sequence[Hashable] | NDArray[Any]
    outside: Sequence[Hashable] | NDArray[Any]

    @property
    def numbers(self) -> Mapping[str, NDArray[np.float64]]:
        """Columns that the constraints named in ``Constraint.numbers``; each of shape (n,)."""

    @property
    def categories(self) -> Sequence[SwappedCategory]:
        """One for each category in J."""

    def cosines(self, a: Ints, b: Ints) -> NDArray[np.float64]:
        """Return the cosines of the vectors of pairs; shape (m,)."""


class Constraint:
    """A rule that pairs or chunks must meet; subclasses override the methods they need.

    Parameters
    ----------
    value : object
        What the configuration says; None for constraints that always hold.

    Attributes
    ----------
    name : str
        What it is called in errors and in the account of chunks that it keeps out.
    field : str or None
        Field of ``ConstraintsConfig`` that switches it on; None for one that always holds.
    columns : tuple of str
        What :meth:`groups` and :meth:`eligible` must know of each chunk: ``component``,
        ``concentration`` (of its component), ``covariates`` (of its document), ``swaps_before``
        (number of earlier rounds or layers that swapped it), or columns of the table of facts
        that the caller gives, as ``position``.
    numbers : tuple of str
        Columns of that table that :meth:`keys`, :meth:`pairs` or :meth:`row` compare.
    needs_vectors : bool
        Whether they look at the vectors of the chunks.
    status : str
        What table STATUS says of chunks that :meth:`eligible` keeps out.
    """

    name: ClassVar[str] = ""
    field: ClassVar[str | None] = None
    columns: ClassVar[tuple[str, ...]] = ()
    numbers: ClassVar[tuple[str, ...]] = ()
    needs_vectors: ClassVar[bool] = False
    status: ClassVar[str] = "not_eligible"

    def __init__(self, value: Any = None) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Constraint)
            and type(self) is type(other)
            and self.value == other.value
        )

    def __hash__(self) -> int:
        return hash((type(self), repr(self.value)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.value is None else repr(self.value)})"

    @classmethod
    def of(cls, config: ConstraintsConfig) -> Constraint | None:
        """Return the constraint that a configuration asks for; None when it is off.

        Off is None, False and what is empty; 0 is a value.
        """
        if cls.field is None:
            return cls()
        value = getattr(config, cls.field, None)
        if value is None or value is False or (hasattr(value, "__len__") and not len(value)):
            return None
        return cls(value)

    def groups(self, facts: Facts) -> Sequence[Hashable] | None:
        """Return one value a chunk: only chunks of equal value are paired; None for no limit."""

    def eligible(self, facts: Facts) -> Mask | None:
        """Tell which chunks take part; None for all."""

    def keys(self, chunks: Chunks) -> list[Ints]:
        """Return codes that must all differ in a valid pair, each of shape (n,)."""
        return []

    def pairs(self, chunks: Chunks, a: Ints, b: Ints) -> Mask:
        """Tell which pairs are valid beyond their keys; shape (m,)."""
        return np.ones(len(a), dtype=bool)

    def row(self, chunks: Chunks, chunk: int, others: Ints) -> Mask:
        """Tell with which others a chunk is valid, keys included; shape (m,).

        Override it only where that is faster than keys and :meth:`pairs`.
        """
        raise NotImplementedError

    @classmethod
    def overrides(cls, method: str) -> bool:
        """Tell whether a class has a method of its own."""
        return getattr(cls, method) is not getattr(Constraint, method)


#: Every constraint, in the order in which they are looked at: cheap ones first.
CONSTRAINTS: list[type[Constraint]] = []

C = TypeVar("C", bound=type[Constraint])


def constraint(cls: C) -> C:
    """Register a class of constraints.

    Raises
    ------
    ValueError
        When it has no name, or name or field are taken.
    """
    names = {c.name for c in CONSTRAINTS}
    fields = {c.field for c in CONSTRAINTS} - {None}
    if not cls.name or cls.name in names or cls.field in fields:
        raise parameter_error(
            "constraint", "cls", "a class with a name and a field of its own", cls.name
        )
    CONSTRAINTS.append(cls)
    return cls


def constraints_of(config: ConstraintsConfig | None = None) -> tuple[Constraint, ...]:
    """Return the constraints of a configuration: those that always hold and those switched on."""
    if config is None:
        return tuple(c() for c in CONSTRAINTS if c.field is None)
    made = (c.of(config) for c in CONSTRAINTS)
    return tuple(c for c in made if c is not None)


def columns_needed(constraints: Sequence[Constraint]) -> list[str]:
    """Return the facts that some constraint asks for, each once, in order."""
    return list(dict.fromkeys(name for c in constraints for name in (*c.columns, *c.numbers)))


def numbers_of(constraints: Sequence[Constraint]) -> list[str]:
    """Return the columns that pairs are compared by, each once, by name."""
    return sorted({name for c in constraints for name in c.numbers})


def admitted(facts: Facts, n: int, constraints: Sequence[Constraint]) -> tuple[Mask, list[str]]:
    """Tell which chunks take part.

    Parameters
    ----------
    facts : mapping
        The columns that the constraints need, each of length n.
    n : int
        Number of chunks.
    constraints : sequence of Constraint

    Returns
    -------
    ndarray of bool, shape (n,)
        Whether all constraints let a chunk take part.
    list of str, length n
        The status that the first constraint gives which does not; empty for those that take part.
    """
    status = [""] * n
    free: Mask = np.ones(n, dtype=bool)
    for rule in constraints:
        mine = rule.eligible(facts)
        if mine is not None:
            for i in np.nonzero(free & ~mine)[0].tolist():
                status[i] = rule.status
            free = free & mine
    return free, status


@constraint
class DifferentMetadata(Constraint):
    """The metadata of the two chunks differ: a swap inside a document hides nothing."""

    name = "different metadata"

    def keys(self, chunks: Chunks) -> list[Ints]:
        """Return codes of the metadata."""
        return [codes_of(chunks.metadata)]


@constraint
class DiffersOutside(Constraint):
    """The cells differ in at least one category outside J; else a swap only renames rows."""

    name = "differs outside J"

    def keys(self, chunks: Chunks) -> list[Ints]:
        """Return codes of the cells outside J."""
        return [codes_of(chunks.outside)]


@constraint
class Exchangeable(Constraint):
    """For every category in J each chunk has an entity that the other has not.

    In a later round: one that it has not given yet and the other never had; and never one that
    names the other's own document.
    """

    name = "exchangeable entities"

    def keys(self, chunks: Chunks) -> list[Ints]:
        """Return codes of the sets of entities, one array a category."""
        return [category.key for category in chunks.categories]

    def pairs(self, chunks: Chunks, a: Ints, b: Ints) -> Mask:
        """Compare the sets."""
        (rows,) = np.nonzero(np.ones(len(a), dtype=bool))
        for category in chunks.categories:
            if not rows.size:
                break
            rows = rows[category.pairs_exchange(a[rows], b[rows])]
        ok = np.zeros(len(a), dtype=bool)
        ok[rows] = True
        return ok

    def row(self, chunks: Chunks, chunk: int, others: Ints) -> Mask:
        """Compare the sets of one chunk with the others."""
        ok: Mask = np.ones(len(others), dtype=bool)
        for category in chunks.categories:
            ok &= category.row_exchanges(chunk, others)
        return ok


@constraint
class SameComponent(Constraint):
    """Both chunks are in the same mixture component.

    The Spark stage always groups by the component of a mixture setting, so that it applies this
    one without looking at facts.
    """

    name = "same component"
    columns = ("component",)

    def groups(self, facts: Facts) -> Sequence[Hashable]:
        """Return the component."""
        return facts["component"]


@constraint
class EqualCovariates(Constraint):
    """The named covariates of the two documents are equal; one that is missing equals a missing."""

    name = "equal covariates"
    field = "same_covariates"
    columns = ("covariates",)

    def groups(self, facts: Facts) -> Sequence[Hashable]:
        """Return the values of the named covariates; what is no mapping is compared as it is."""
        return [
            tuple(found.get(name) for name in self.value) if isinstance(found, Mapping) else found
            for found in facts["covariates"]
        ]


@constraint
class MinConcentration(Constraint):
    """Only components of at least this concentration are swapped in."""

    name = "minimum concentration"
    field = "min_concentration"
    columns = ("concentration",)
    status = "low_concentration"

    def eligible(self, facts: Facts) -> Mask:
        """Compare the concentration of each chunk's component with the bound."""
        return np.asarray(facts["concentration"], dtype=np.float64) >= self.value


@constraint
class NotSwappedBefore(Constraint):
    """A chunk that an earlier round or layer swapped is not swapped again."""

    name = "not swapped before"
    field = "not_swapped_before"
    columns = ("swaps_before",)
    status = "swapped_before"

    def eligible(self, facts: Facts) -> Mask:
        """Return the chunks without a swap."""
        return np.asarray(facts["swaps_before"]) == 0


@constraint
class MaxCountDifference(Constraint):
    """The numbers of entities differ by at most a bound, in every category of J."""

    name = "maximum difference in counts"
    field = "max_count_difference"

    def pairs(self, chunks: Chunks, a: Ints, b: Ints) -> Mask:
        """Compare the numbers of entities that each chunk can give."""
        ok: Mask = np.ones(len(a), dtype=bool)
        for category in chunks.categories:
            ok &= np.abs(category.count[a] - category.count[b]) <= self.value
        return ok


@constraint
class MinCosine(Constraint):
    """The cosine of the two chunks' vectors is at least a bound."""

    name = "minimum cosine"
    field = "min_cosine"
    needs_vectors = True

    def pairs(self, chunks: Chunks, a: Ints, b: Ints) -> Mask:
        """Compare the vectors."""
        return np.asarray(chunks.cosines(a, b) >= self.value)


class NearComponents(Constraint):
    """The components of the two chunks differ and may meet; see :mod:`nes_spark.swapping.layers`.

    It takes the place of :class:`SameComponent` when chunks that are left over look for partners in
    other components, so that no field switches it on.

    Parameters
    ----------
    value : collection of (int, int)
        Codes of components that may meet, in either order.
    """

    name = "near components"
    numbers = ("component",)

    def keys(self, chunks: Chunks) -> list[Ints]:
        """Return the components: within one there is no valid pair left."""
        return [codes_of(chunks.numbers["component"].astype(np.int64))]

    def pairs(self, chunks: Chunks, a: Ints, b: Ints) -> Mask:
        """Look the two components up."""
        code = chunks.numbers["component"].astype(np.int64)
        size = 1 + max((max(pair) for pair in self.value), default=-1)
        meet = np.zeros((max(size, int(code.max(initial=0)) + 1),) * 2, dtype=bool)
        for one, other in self.value:
            meet[one, other] = meet[other, one] = True
        found: Mask = meet[code[a], code[b]]
        return found
