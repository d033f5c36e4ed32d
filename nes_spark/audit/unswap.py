r"""An adversary who knows about swapping: which two chunks exchanged their entities?

It sees the release, knows the method, the swapped categories, the components and the rate, but not
the seed. For each chunk `x` it has `fit(x, d)`: how well the entities of `x` in the swapped
categories fit the *other* released chunks of document `d` (log-likelihood ratios of
:mod:`nes_spark.audit.linkage`), and `context(x, y)`: how well they go with the entities of `y` in
the categories that were not swapped, judged by what occurs together elsewhere. A pair is the more
suspicious the better both would fit when the exchange is undone:

.. math:: s(x, y) = h(x, y) + h(y, x) - h(x, x) - h(y, y), \qquad
          h(x, y) = \mathrm{fit}(x, \mathrm{doc}(y)) + \beta\,\mathrm{context}(x, y)

Only pairs that the method could have swapped are candidates: those in the same component that meet
the constraints of :mod:`nes_spark.swapping.constraints`, applied to the released entities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from scipy import sparse

from nes_spark.audit.ranking import GRID, on_grid, stable_hash, tie_keys
from nes_spark.swapping.constraints import Constraint, constraints_of, numbers_of
from nes_spark.swapping.population import Population, sets_of

#: Marks a label that is a document; features never start with it.
DOCUMENT = "\x1c"
#: A chunk takes part in the matching with its best candidates only, so that memory stays linear.
_BEST = 20
#: Pairs scored at a time; a few tables of that many numbers are held.
_CELLS = 2_000_000


@dataclass(frozen=True)
class Suspect:
    """A released chunk as the adversary sees it, and the truth to judge it by.

    Attributes
    ----------
    chunk_id, metadata : str
        The chunk.
    document : int
        Number of its document.
    entities : mapping of str to sequence of str
        Swapped category to entities in the release.
    outside : ndarray of int
        Numbers of the entities of other categories that more than one chunk has.
    n_outside : int
        How many entities of other categories there are, those of this chunk alone included.
    outside_code : int
        The same for chunks with the same entities in all other categories.
    fit : (ndarray of int, ndarray of float)
        Documents, and the score of this chunk's swapped-category entities with each; absent is
        zero.
    context : (ndarray of int, ndarray of float)
        Entities of other categories, and the score of this chunk's entities with each.
    partner : str or None
        The true partner; None when the chunk was not swapped.
    vector : ndarray, shape (d,), or None
        Its unit vector; only constraints that compare vectors need it.
    numbers : sequence of float
        The columns that the constraints compare, in the order of their names.
    """

    chunk_id: str
    document: int
    metadata: str
    entities: Mapping[str, Sequence[str]]
    outside: np.ndarray
    n_outside: int
    outside_code: int
    fit: tuple[np.ndarray, np.ndarray]
    context: tuple[np.ndarray, np.ndarray]
    partner: str | None
    vector: np.ndarray | None = None
    numbers: Sequence[float] = ()


@dataclass(frozen=True)
class Scored:
    """How the adversary ranks the candidates of one chunk, before it is matched.

    Attributes
    ----------
    chunk_id : str
        The chunk.
    candidates : int
        Chunks it could have exchanged entities with.
    rank : int or None
        Place of the true partner; None when the chunk was not swapped.
    best : tuple of (str, int)
        The likeliest partners with their scores in units of :data:`nes_spark.audit.ranking.GRID`,
        the likeliest first.
    """

    chunk_id: str
    candidates: int
    rank: int | None
    best: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Suspicion:
    """What the adversary makes of one chunk.

    Attributes
    ----------
    chunk_id : str
        The chunk.
    answer : str or None
        The likeliest partner; None when there is no candidate.
    score : float or None
        Its score.
    candidates : int
        Chunks it could have exchanged entities with.
    rank : int or None
        Place of the true partner; None when the chunk was not swapped.
    match : str or None
        Partner in the matching of the whole component by descending score.
    match_score : float or None
        Score of that pair.
    """

    chunk_id: str
    answer: str | None
    score: float | None
    candidates: int
    rank: int | None
    match: str | None
    match_score: float | None


def turn_of(chunk_id: str) -> int:
    """Return a chunk's place in the lottery of large components: a hash, as a signed integer.

    Of a component with more suspects than the adversary can compare, all swapped chunks and those
    of the smallest hashes take part.
    """
    return stable_hash(chunk_id) - (1 << 63)


def code_of(entities: Sequence[str]) -> int:
    """Return :attr:`Suspect.outside_code` of entities in a fixed order: a signed hash."""
    return stable_hash("\x1d".join(entities)) - (1 << 63)


def _matrix(
    columns: Sequence[np.ndarray], values: Sequence[np.ndarray], known: np.ndarray
) -> sparse.csr_matrix:
    """Return one row for each pair of arrays, with a column for each of the known numbers."""
    sizes = np.array([len(row) for row in columns], dtype=np.int64)
    numbers = np.concatenate([np.zeros(0, dtype=np.int64), *columns])
    data = np.concatenate([np.zeros(0), *values])
    if not len(known):
        return sparse.csr_matrix((len(columns), 0))
    place = np.searchsorted(known, numbers)
    place[place == len(known)] = 0
    held = known[place] == numbers
    rows = np.repeat(np.arange(len(columns)), sizes)[held]
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(columns)))])
    return sparse.csr_matrix(
        (data[held], place[held].astype(np.int32), starts.astype(np.int64)),
        shape=(len(columns), len(known)),
    )


def suspect_pairs(
    suspects: Sequence[Suspect],
    swapped_categories: Sequence[str],
    context_weight: float = 1.0,
    block: int | None = None,
) -> list[Suspicion]:
    """Score all candidate pairs of one component, and match its chunks.

    Parameters
    ----------
    suspects : sequence of Suspect
        Chunks of one component, in any order.
    swapped_categories, context_weight, block
        As in :func:`score_suspects`.

    Returns
    -------
    list of Suspicion
        One for each chunk, in order of chunk_id.
    """
    return match_suspects(score_suspects(suspects, swapped_categories, context_weight, block=block))


def score_suspects(
    suspects: Sequence[Suspect],
    swapped_categories: Sequence[str],
    context_weight: float = 1.0,
    part: int = 0,
    parts: int = 1,
    block: int | None = None,
    constraints: Sequence[Constraint] | None = None,
    one_way: bool = False,
) -> list[Scored]:
    """Score the candidates of the chunks of one component, or of a part of them.

    Parameters
    ----------
    suspects : sequence of Suspect
        Chunks of one component, in any order.
    swapped_categories : sequence of str
        J.
    context_weight : float
        Beta, the weight of the context.
    part, parts : int
        Which chunks to score against all others: in order of chunk_id every `parts`-th, from
        number `part` on. All parts together are the same as the whole.
    block : int, optional
        Rows scored at a time; has no influence on the result. By default so many that a table of
        scores has :data:`_CELLS` cells.
    constraints : sequence of Constraint, optional
        What the adversary knows about valid pairs; by default what always holds. Those that form
        groups or keep chunks out were applied before: the suspects are chunks of one group.
    one_way : bool
        Ask whose names a chunk has, not with whom it exchanged: `h(x, y) - h(x, x)`. That is what
        an adversary can do where names go in a ring.

    Returns
    -------
    list of Scored
        One for each chunk of the part, in order of chunk_id. Ties are broken as in
        :func:`nes_spark.audit.ranking.tie_keys`.
    """
    ordered = sorted(suspects, key=lambda s: s.chunk_id)
    n = len(ordered)
    if not n:
        return []
    ids = [s.chunk_id for s in ordered]
    position = {chunk_id: i for i, chunk_id in enumerate(ids)}
    id_hashes = np.array([stable_hash(i) for i in ids], dtype=np.uint64)
    documents, owner = np.unique([s.document for s in ordered], return_inverse=True)
    rules = constraints_of() if constraints is None else constraints
    compared = np.array([s.numbers for s in ordered], dtype=np.float64)
    population = Population(
        [s.metadata for s in ordered],
        [s.outside_code for s in ordered],
        [sets_of([s.entities.get(c) or () for s in ordered]) for c in swapped_categories],
        constraints=rules,
        vectors=np.array([s.vector for s in ordered])
        if any(rule.needs_vectors for rule in rules)
        else None,
        numbers={name: compared[:, k] for k, name in enumerate(numbers_of(rules))},
    )
    fit = _matrix([s.fit[0] for s in ordered], [s.fit[1] for s in ordered], documents)
    fit_by_column = fit.tocsc()
    around = np.unique(np.concatenate([s.outside for s in ordered]).astype(np.int64))
    towards = _matrix([s.context[0] for s in ordered], [s.context[1] for s in ordered], around)
    holds = _matrix(
        [s.outside for s in ordered],
        [np.full(len(s.outside), 1.0 / max(1, s.n_outside)) for s in ordered],
        around,
    )
    own = np.asarray(fit[np.arange(n), owner]).ravel()
    own = own + context_weight * np.asarray(towards.multiply(holds).sum(axis=1)).ravel()

    scored = []
    mine = np.arange(part, n, parts)
    block = block or max(1, _CELLS // n)
    for start in range(0, len(mine), block):
        rows = mine[start : start + block]
        allowed = population.valid(rows)
        value = fit[rows].toarray()[:, owner]
        context = (towards[rows] @ holds.T).toarray()
        if not one_way:
            value += fit_by_column[:, owner[rows]].toarray().T
            context = context + (holds[rows] @ towards.T).toarray()
        value += context_weight * context
        value = value - own[rows][:, None]
        value = on_grid(value if one_way else value - own[None, :])
        for i, row in enumerate(rows):
            (candidates,) = np.nonzero(allowed[i])
            if not len(candidates):
                scored.append(Scored(ids[row], 0, None, ()))
                continue
            ranking = _Ranking(ids[row], candidates, value[i, candidates], id_hashes)
            truth = position.get(ordered[row].partner or "")
            known = truth is not None and allowed[i, truth]
            rank = ranking.rank(truth) if truth is not None and known else None
            best = tuple((ids[k], int(value[i, k])) for k in ranking.best(_BEST))
            scored.append(Scored(ids[row], len(candidates), rank, best))
    return scored


def match_suspects(scored: Sequence[Scored]) -> list[Suspicion]:
    """Match the chunks of one component by descending score.

    Parameters
    ----------
    scored : sequence of Scored
        Every chunk of the component once, in any order.

    Returns
    -------
    list of Suspicion
        One for each chunk, in order of chunk_id. Of pairs of equal score that of the smaller hash
        is matched first.
    """
    ordered = sorted(scored, key=lambda s: s.chunk_id)
    pairs: dict[tuple[str, str], int] = {}
    for one in ordered:
        for other, value in one.best:
            pairs[min(one.chunk_id, other), max(one.chunk_id, other)] = value
    ranked = sorted(pairs.items(), key=lambda item: -item[1])
    matched: dict[str, tuple[str, float]] = {}
    for value, equal in groupby(ranked, key=lambda item: item[1]):
        # Who is matched already is out of it: few are left to draw lots, which takes longest.
        free = [(a, b) for (a, b), _ in equal if a not in matched and b not in matched]
        if len(free) > 1:
            free.sort(key=lambda pair: (stable_hash("\n".join(pair)), pair))
        for a, b in free:
            if a not in matched and b not in matched:
                matched[a] = b, value * GRID
                matched[b] = a, value * GRID
    found = []
    for one in ordered:
        answer, score = (one.best[0][0], one.best[0][1] * GRID) if one.best else (None, None)
        found.append(
            Suspicion(
                one.chunk_id,
                answer,
                score,
                one.candidates,
                one.rank,
                *matched.get(one.chunk_id, (None, None)),
            )
        )
    return found


class _Ranking:
    """Candidates by falling score, ties by lot; never sorted as a whole, which would take longest.

    Parameters
    ----------
    target : str
        Whose candidates they are.
    candidates : ndarray of int
        Their numbers, ascending.
    scores : ndarray of int64
        On the grid.
    hashes : ndarray of uint64
        Of all chunks, by number.
    """

    def __init__(
        self, target: str, candidates: np.ndarray, scores: np.ndarray, hashes: np.ndarray
    ) -> None:
        self._target, self._hashes = target, hashes
        self._candidates, self._scores = candidates, scores

    def _lots(self, places: np.ndarray) -> np.ndarray:
        return tie_keys(self._target, self._hashes[self._candidates[places]])

    def best(self, count: int) -> list[int]:
        """Return the first `count` candidates, or all."""
        least = len(self._scores) - count
        floor = np.partition(self._scores, least)[least] if least > 0 else self._scores.min()
        (places,) = np.nonzero(self._scores >= floor)
        order = np.lexsort((self._lots(places), -self._scores[places]))
        return self._candidates[places[order[:count]]].tolist()

    def rank(self, candidate: int) -> int:
        """Return the place of a candidate, from 1."""
        own = int(np.searchsorted(self._candidates, candidate))
        score = self._scores[own]
        (equal,) = np.nonzero(self._scores == score)
        lots = self._lots(equal)
        place = int(np.searchsorted(equal, own))
        before = (lots < lots[place]).sum() + (lots[:place] == lots[place]).sum()
        return int((self._scores > score).sum() + before) + 1
