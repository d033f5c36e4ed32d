"""What two swapped chunks give each other: the plan of a swap, on entity names.

For every category in J, let A be the entities that the first chunk can give and the second never
had, B the other way round (both are non-empty in a valid swap), m = min(|A|, |B|).

``one_to_one`` (paper, section 3.2.2): m of A and m of B change places, the surplus of the longer
list stays. Entities that both chunks have stay in place. The multiset of entities over the two
chunks is preserved, for every category.

``cover``: as before, and every entity of the surplus is replaced by one of the partner's, in turn:
nothing of A stays in the first chunk, nothing of B in the second. The surplus leaves the pair of
chunks (it is in the ledger only), so the multiset is preserved only where |A| = |B|.

What a swap preserves (paper, section 2.1). The categories outside J are not touched at all, so
their joint table is unchanged, whatever the policy. Under ``one_to_one``, for every category of J,
the number of chunks that each entity occurs in and the number of entities of each chunk are
unchanged, always. The *cells* of the table (a cell is the set of a chunk's entities) change places
as wholes, so that the marginal table of every category and the joint table of J are unchanged,
exactly when in every category of J the two chunks share no entity and have equally many; this is
the case of the data swapping literature, where a value is one value. Else cells with a surplus or a
shared entity become new cells.

Which entity meets which is random (order of a keyed digest of the names, so it depends on nothing
but the secret and the ids) or ``similar``: the assignment with the largest total similarity; which
of a longer list are surplus follows from it. Keys (:mod:`nes_spark.entities.keys`) meet nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol

import numpy as np

from nes_spark.entities.keys import is_key
from nes_spark.errors import parameter_error

Policy = Literal["one_to_one", "cover"]
Matching = Literal["random", "similar"]


class Arrangement(Protocol):
    """Says itself who meets whom."""

    def pairs(self, ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[int, int]]:
        """Return positions in two lists that are in random order."""


#: How well one name reads in the place of another, or a rule of its own.
Similarity = Callable[[str, str], float] | Arrangement
#: category -> entities
Entities = Mapping[str, Collection[str]]


@dataclass(frozen=True)
class Exchange:
    """One replacement of a plan: in chunk ``side`` ('a' or 'b') entity ``old`` becomes ``new``."""

    side: str
    category: str
    old: str
    new: str


def exchangeable(available: Collection[str], partner_history: Collection[str]) -> list[str]:
    """Return the entities that a chunk can give and the partner never had, sorted."""
    return sorted(set(available) - set(partner_history))


def plan_exchange(
    available_a: Entities,
    available_b: Entities,
    categories: Sequence[str],
    digest: Callable[..., bytes],
    *,
    policy: Policy = "one_to_one",
    matching: Matching = "random",
    similarity: Similarity | None = None,
    similarities: Mapping[str, Similarity] | None = None,
    history_a: Entities | None = None,
    history_b: Entities | None = None,
) -> list[Exchange]:
    """Decide which entity of one chunk meets which of the other.

    Parameters
    ----------
    available_a, available_b : mapping of str to collection of str
        Entities that each chunk can give, by category.
    categories : sequence of str
        J.
    digest : callable
        ``digest(*parts) -> bytes``: keyed digest bound to this swap (secret, setting, combination,
        draw and the two chunk ids).
    policy, matching : str
        See the module.
    similarity : callable, optional
        ``(name_a, name_b) -> float`` for matching ``similar``; :func:`name_similarity` by default.
    similarities : mapping of str to callable, optional
        The same for single categories, whatever `matching` says; see
        :func:`nes_spark.swapping.likeness.similarities_for`.
    history_a, history_b : mapping, optional
        Entities that each chunk may not take: they were in it or name its own document; the
        available ones when not given.

    Returns
    -------
    list of Exchange
        In the order of categories, sides and pairs. Keys
        (:func:`~nes_spark.entities.keys.is_key`) are not exchanged; a category in which one side
        has nothing else is not in it.

    Raises
    ------
    ValueError
        For an unknown policy or matching, and when a category has nothing to exchange: then the
        swap was not valid.
    """
    if policy not in ("one_to_one", "cover"):
        raise parameter_error("plan_exchange", "policy", "'one_to_one' or 'cover'", policy)
    if matching not in ("random", "similar"):
        raise parameter_error("plan_exchange", "matching", "'random' or 'similar'", matching)
    history_a = available_a if history_a is None else history_a
    history_b = available_b if history_b is None else history_b
    plan: list[Exchange] = []
    for category in categories:
        ours = exchangeable(available_a.get(category, ()), history_b.get(category, ()))
        theirs = exchangeable(available_b.get(category, ()), history_a.get(category, ()))
        if not ours or not theirs:
            raise ValueError(f"Not a valid swap: nothing to exchange in category {category!r}.")
        ours = [name for name in ours if not is_key(name, category)]
        theirs = [name for name in theirs if not is_key(name, category)]
        if not ours or not theirs:
            continue
        # A random order first: it is the matching itself, and it breaks ties of the similar one.
        ours.sort(key=lambda name: digest("a", category, name))
        theirs.sort(key=lambda name: digest("b", category, name))
        own = (similarities or {}).get(category)
        pairs = matched(ours, theirs, "similar" if own else matching, own or similarity)
        plan += [Exchange("a", category, ours[i], theirs[j]) for i, j in pairs]
        left = [i for i in range(len(ours)) if i not in {i for i, _ in pairs}]
        if policy == "cover":
            plan += [
                Exchange("a", category, ours[i], theirs[k % len(theirs)])
                for k, i in enumerate(left)
            ]
        plan += [Exchange("b", category, theirs[j], ours[i]) for i, j in pairs]
        left = [j for j in range(len(theirs)) if j not in {j for _, j in pairs}]
        if policy == "cover":
            plan += [
                Exchange("b", category, theirs[j], ours[k % len(ours)]) for k, j in enumerate(left)
            ]
    return plan


def matched(
    ours: Sequence[str],
    theirs: Sequence[str],
    matching: Matching,
    similarity: Similarity | None = None,
) -> list[tuple[int, int]]:
    """Return which name meets which: positions in two lists that are in random order.

    Parameters
    ----------
    ours, theirs : sequence of str
        The shorter one is matched as a whole.
    matching, similarity
        See :func:`plan_exchange`. A similarity with a method ``table(ours, theirs)`` is asked for
        all pairs at once; one with a method ``pairs(ours, theirs)`` says itself who meets whom.
    """
    measure = similarity or name_similarity
    if hasattr(measure, "pairs"):
        return measure.pairs(ours, theirs)
    if matching == "random" or not ours or not theirs:
        return list(zip(range(len(ours)), range(len(theirs)), strict=False))
    from scipy.optimize import linear_sum_assignment

    if hasattr(measure, "table"):
        table = measure.table(ours, theirs)
    else:
        table = np.array([[measure(x, y) for y in theirs] for x in ours], dtype=np.float64)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def entities_after(
    entities: Entities, plan: Iterable[Exchange], side: str
) -> dict[str, tuple[str, ...]]:
    """Return the sorted distinct entities of a chunk after a plan: its row of z-tilde.

    Parameters
    ----------
    entities : mapping of str to collection of str
        Entities before, every category.
    plan : iterable of Exchange
    side : {'a', 'b'}
    """
    moves = {(e.category, e.old): e.new for e in plan if e.side == side}
    return {
        category: tuple(sorted({moves.get((category, name), name) for name in names}))
        for category, names in entities.items()
    }


def name_similarity(first: str, second: str) -> float:
    """Return how alike two names look, from 0 to 1; symmetric.

    The mean of three parts, each from 0 to 1: the Dice coefficient of their character bigrams
    (ends of words marked, case ignored), the ratio of their numbers of words, and the Dice
    coefficient of the bigrams of their shapes (upper case, lower case, digit, other; runs cut to
    two). It needs no model, so that the choice can be checked by eye.
    """
    return (
        _dice(first.casefold(), second.casefold())
        + _ratio(len(first.split()), len(second.split()))
        + _dice(_shape(first), _shape(second))
    ) / 3.0


@lru_cache(maxsize=65_536)
def _shape(name: str) -> str:
    out: list[str] = []
    for character in name:
        kind = (
            "9"
            if character.isdigit()
            else "A"
            if character.isupper()
            else "a"
            if character.isalpha()
            else " "
            if character.isspace()
            else "."
        )
        if out[-2:] != [kind, kind]:
            out.append(kind)
    return "".join(out)


@lru_cache(maxsize=65_536)
def _bigrams(text: str) -> tuple[dict[str, int], int]:
    counts: dict[str, int] = {}
    for word in text.split():
        marked = f"^{word}$"
        for i in range(len(marked) - 1):
            pair = marked[i : i + 2]
            counts[pair] = counts.get(pair, 0) + 1
    return counts, sum(counts.values())


# the same names meet in many chunks, and shapes are few
@lru_cache(maxsize=262_144)
def _dice(first: str, second: str) -> float:
    (one, ours), (other, theirs) = _bigrams(first), _bigrams(second)
    if ours + theirs == 0:
        return 1.0
    common = sum(min(count, other[pair]) for pair, count in one.items() if pair in other)
    return 2.0 * common / (ours + theirs)


def _ratio(one: int, other: int) -> float:
    return min(one, other) / max(one, other) if max(one, other) else 1.0
