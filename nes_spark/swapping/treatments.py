"""What becomes of names that found no partner: one function and one entry a treatment.

A treatment takes what is left of one category of a unit and says what comes in the place of each
entity that it can treat; what it leaves out goes to the next treatment of the configured order. The
last one must treat everything, so that nothing stays unless ``keep`` was asked for by name.

To add one, write a function and give it the decorator :func:`treatment`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nes_spark.entities.cells import recode
from nes_spark.entities.generalising import general_word
from nes_spark.entities.keys import is_key
from nes_spark.entities.terms import TERM
from nes_spark.errors import parameter_error
from nes_spark.swapping.exchange import Matching, Similarity, matched

#: Category -> class -> entities
Recoding = Mapping[str, Mapping[str, Sequence[str]]]


@dataclass(frozen=True)
class Donor:
    """A unit that gives names: its id and those of its names that the other may take, sorted."""

    unit_id: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Left:
    """What is left of one category of one unit.

    Attributes
    ----------
    unit_id, category : str
    entities : tuple of str
        Sorted.
    donors : tuple of Donor
        In the order drawn; see ``nes_spark.swapping.layers.draw_donors``.
    digest : callable
        ``digest(*parts) -> bytes``: keyed digest bound to this unit and category.
    barred : collection of str
        What must not come in: the names of the unit and of its document.
    """

    unit_id: str
    category: str
    entities: tuple[str, ...]
    donors: tuple[Donor, ...] = ()
    digest: Callable[..., bytes] = field(default=lambda *parts: b"", compare=False)
    barred: Collection[str] = frozenset()


@dataclass(frozen=True)
class Means:
    """What treatments work with, the same for all units.

    Attributes
    ----------
    placeholders : mapping of str to str
        Category -> placeholder; ``[Category]`` for one that is not in it.
    recoding : mapping
        Category -> class -> entities.
    summaries : mapping of str to str
        Unit -> summary of its text that holds none of its names; see
        :mod:`nes_spark.swapping.summaries`.
    matching, similarity, similarities
        Which name of a donor comes in the place of which; see ``plan_exchange``.
    choosy : bool
        Whether a term of a donor must read better than what comes behind it (:func:`is_choosy`).
    strict : bool
        The same for names.
    """

    placeholders: Mapping[str, str] = field(default_factory=dict)
    recoding: Recoding = field(default_factory=dict)
    summaries: Mapping[str, str] = field(default_factory=dict)
    matching: Matching = "random"
    similarity: Similarity | None = None
    similarities: Mapping[str, Similarity] = field(default_factory=dict)
    choosy: bool = False
    strict: bool = False


@dataclass(frozen=True)
class Treated:
    """What became of one entity.

    Attributes
    ----------
    entity : str
    treatment : str
    replacement : str or None
        What comes in its place (in that of its whole chunk for a summary); None when it stays or
        its chunk is not published.
    donor : str or None
        The unit whose name that was.
    """

    entity: str
    treatment: str
    replacement: str | None = None
    donor: str | None = None


#: Entity -> (replacement, donor), for the entities that a treatment can treat.
Outcome = dict[str, tuple[str | None, str | None]]
Treatment = Callable[[Left, Means], Outcome]


@dataclass(frozen=True)
class Entry:
    """A treatment: its function, whether it treats every entity, and the words for it."""

    function: Treatment
    always: bool
    words: str


#: Name -> treatment.
TREATMENTS: dict[str, Entry] = {}


def treatment(name: str, words: str, always: bool = False) -> Callable[[Treatment], Treatment]:
    """Register a function as a treatment.

    Parameters
    ----------
    name : str
        What a configuration calls it.
    words : str
        What happens to a name, for the report.
    always : bool
        Whether it treats every entity, so that it may come last.
    """

    def register(function: Treatment) -> Treatment:
        if name in TREATMENTS:
            raise parameter_error("treatment", "name", "a name of its own", name)
        TREATMENTS[name] = Entry(function, always, words)
        return function

    return register


def is_ours(name: str) -> bool:
    """Whether a treatment is the package's own, and not added in this process."""
    return TREATMENTS[name].function.__module__ == __name__


def check_order(order: Sequence[str], owner: str = "sample_plan") -> tuple[str, ...]:
    """Return an order of treatments, or raise ValueError when something could fall through."""
    last = sorted(name for name, entry in TREATMENTS.items() if entry.always)
    unknown = [name for name in order if name not in TREATMENTS]
    if unknown or len(set(order)) < len(order) or not order:
        raise parameter_error(owner, "leftover", f"distinct of {sorted(TREATMENTS)}", list(order))
    if order[-1] not in last:
        allowed = f"a list that ends with one of {last}, so that nothing falls through"
        raise parameter_error(owner, "leftover", allowed, list(order))
    return tuple(order)


def is_choosy(order: Sequence[str], fitting: bool = True, names: bool = False) -> bool:
    """Whether donors leave what does not fit to the treatments behind them.

    Where none of these writes something in its place, donors give what they have.

    Parameters
    ----------
    order : sequence of str
        Treatments in the order in which they are tried.
    fitting : bool
        Whether it is asked for: a wrong word misleads who reads, and who looks for a word as well,
        while a placeholder does neither.
    names : bool
        Whether names are meant, which have no general words, and not terms.
    """
    behind = list(order)[list(order).index("donor") + 1 :] if "donor" in order else []
    # what these treat is what they know: the rest goes on
    passed = ("recode", "summary", "general") if names else ("recode", "summary")
    last = next((name for name in behind if name not in passed), "")
    return fitting and last in ("general", "placeholder")


def treat(left: Left, order: Sequence[str], means: Means) -> list[Treated]:
    """Treat every entity that is left by the first treatment that applies.

    A key (:func:`~nes_spark.entities.keys.is_key`) gets no donor's name; where nothing but ``keep``
    comes behind ``donor``, it becomes a placeholder.

    Returns
    -------
    list of Treated
        One for each entity, sorted by entity.
    """
    done: dict[str, Treated] = {}
    for name in order:
        rest = tuple(e for e in left.entities if e not in done)
        if not rest:
            break
        if name == "keep" and "donor" in order:
            # what would have had a donor's name but for being a key does not stay for it
            keys = tuple(e for e in rest if is_key(e, left.category))
            for entity, (new, _) in placeholder(replace(left, entities=keys), means).items():
                done[entity] = Treated(entity, "placeholder", new)
            rest = tuple(e for e in rest if e not in done)
        part = replace(left, entities=rest)
        for entity, (new, donor) in TREATMENTS[name].function(part, means).items():
            done[entity] = Treated(entity, name, new, donor)
    missing = len(set(left.entities) - set(done))
    if missing:
        raise ValueError(f"no treatment of {list(order)} applies to {missing} entities")
    return [done[entity] for entity in sorted(done)]


def _is_choosy_of(category: str, means: Means) -> bool:
    return means.choosy if category == TERM else means.strict


def stands_of(category: str, means: Means) -> Callable[[str], bool] | None:
    """Return what tells in whose place a donor's name could come; None where in anybody's.

    Of terms hardly one is such with ``means.choosy``, and looking through all that donors have
    takes longer than all else.
    """
    if not _is_choosy_of(category, means):
        return None
    return getattr(means.similarities.get(category), "stands", None)


def wants_donors(entities: Iterable[str], category: str, means: Means) -> bool:
    """Whether a donor's name could come in the place of any of these; see :func:`stands_of`."""
    stands = stands_of(category, means)
    return stands is None or any(map(stands, entities))


@treatment("donor", "takes the place of a name of its kind from another document")
def donor(left: Left, means: Means) -> Outcome:
    """Give each entity a name of a donor; no name twice.

    At random those of the first donor come first. By likeness all donors are one pool, and the
    entities get the names of it that are most like them together: who the donors are is drawn.
    Where a similarity has a method ``root(name)``, what comes in for names of two roots has two
    roots as well: no "patient patients" for "healthcare practitioners". What a
    method ``takes(old, new)`` of it refuses is left to the next treatment, and with
    ``means.choosy`` (names: ``means.strict``) what ``reads(old, new)`` refuses; what by a method
    ``stands(name)`` nothing reads in the place of is not matched then, and gives nothing.
    """
    own = means.similarities.get(left.category)
    how = "similar" if own else means.matching
    choosy = _is_choosy_of(left.category, means)
    stands = stands_of(left.category, means)
    pool: dict[str, str] = {}
    for one in left.donors:
        names = [n for n in one.names if n not in pool and (stands is None or stands(n))]
        names.sort(key=lambda name: left.digest("n", name))
        pool |= dict.fromkeys(names, one.unit_id)
    ours = [
        entity
        for entity in left.entities
        if (stands is None or stands(entity)) and not is_key(entity, left.category)
    ]
    ours.sort(key=lambda e: left.digest("o", e))
    similarity = own or means.similarity
    root = getattr(similarity, "root", None)
    if root is None:
        found = {ours[i]: list(pool)[k] for i, k in matched(ours, list(pool), how, similarity)}
    else:
        found = _roots_apart(ours, list(pool), how, similarity, root)
    asked = [getattr(similarity, name, None) for name in ("takes", "reads")[: 1 + choosy]]
    fits = [fit for fit in asked if fit is not None]
    return {
        name: (new, pool[new]) for name, new in found.items() if all(fit(name, new) for fit in fits)
    }


def _roots_apart(
    ours: Sequence[str],
    theirs: Sequence[str],
    how: Matching,
    similarity: Similarity | None,
    root: Callable[[str], str],
) -> dict[str, str]:
    """Match names so that those of one root on their side have one root on ours.

    The first of ours that gets a root keeps it; the others are matched again with what is left.
    """
    found: dict[str, str] = {}
    taken: dict[str, str] = {}
    while ours and theirs:
        again = []
        for i, k in matched(ours, theirs, how, similarity):
            if taken.setdefault(root(theirs[k]), root(ours[i])) == root(ours[i]):
                found[ours[i]] = theirs[k]
            else:
                again.append(ours[i])
        ours, theirs = again, [name for name in theirs if root(name) not in taken]
    return found


@treatment("general", "becomes a general word for what it is")
def generalised(left: Left, means: Means) -> Outcome:
    """Say of a term only what kind of thing it is; names are left to the next treatment."""
    if left.category != TERM:
        return {}
    words = {entity: general_word(entity, left.barred) for entity in left.entities}
    return {entity: (word, None) for entity, word in words.items() if word}


@treatment("placeholder", "becomes a placeholder", always=True)
def placeholder(left: Left, means: Means) -> Outcome:
    """Replace by the placeholder of the category."""
    word = means.placeholders.get(left.category, f"[{left.category}]")
    return dict.fromkeys(left.entities, (word, None))


@treatment("recode", "becomes the class that it belongs to")
def recoded(left: Left, means: Means) -> Outcome:
    """Replace by the class of the recoding table, where an entity is in one."""
    classes = means.recoding.get(left.category)
    out: Outcome = {}
    for entity in left.entities:
        (value,) = recode([entity], classes) if classes else (entity,)
        if value != entity:
            out[entity] = value, None
    return out


@treatment("summary", "goes with its chunk, of which a summary is published")
def summarised(left: Left, means: Means) -> Outcome:
    """Publish a summary of the chunk, where there is one."""
    text = means.summaries.get(left.unit_id)
    return dict.fromkeys(left.entities, (text, None)) if text else {}


@treatment("drop", "goes with its chunk, which is not published", always=True)
def drop(left: Left, means: Means) -> Outcome:
    """Do not publish the chunk."""
    return dict.fromkeys(left.entities, (None, None))


@treatment("keep", "stays", always=True)
def keep(left: Left, means: Means) -> Outcome:
    """Leave it."""
    return dict.fromkeys(left.entities, (None, None))
