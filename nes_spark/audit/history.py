r"""Quarter after quarter: does it help to hold the earlier releases too?

Two attackers are asked whose documents those of a new release are. Both hold the originals of all
earlier quarters and the new release. The second also holds the earlier *releases*, each chunk of
them laid beside its original: what was done to it is in plain sight. What could be gained by that
is whatever comes again: a pseudonym that stands for the same name, a company whose texts get the
names of the same other company, a chunk that meets the same partner. The ways to use it:

``released``, ``both``
    The earlier releases, alone or beside the originals, are the background: a name that was *put
    into* a company's texts before, and is again, tells as much as one of its own.
``undone``
    Every name of the new release that mostly came in the place of one other name goes back.
``partners``
    The names in a text say whose names they are: a profile over all candidates, by ``linkage``. The
    profile of a document is compared with those of each candidate's earlier releases (cosine).
``learned released``
    All ways of looking at once, weighed by what they were worth in the earlier releases, of which
    the attacker knows whose they are: each quarter is asked about by the others.

Each is tried by every attacker of :mod:`nes_spark.audit.documents` and by ``linkage``. What both
can do is tried for both. The first can release the earlier originals itself, with the same software
and a secret of its own, and learn weights from that (``learned``). And a chunk of the new release
whose original is known from an earlier quarter (its other words tell it) shows names that were not
in it. They are its partner's, and the partner shows those of the known chunk (``traced``): the two
go back.

Nothing is taken from what an attacker would have to find out: which earlier chunk a released one
was, which name stands where, and which new chunks are old ones, is given to both.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nes_spark.audit.adversaries import LINKAGE
from nes_spark.audit.attackers import ATTACKERS, Guesses, View, chunk_table, results
from nes_spark.audit.calibration import fit_weights, matched, standardised, utilities
from nes_spark.audit.documents import DocumentAttack
from nes_spark.audit.features import NAMELESS_VIEWS, VIEWS
from nes_spark.audit.linkage import features_of, swap_entities
from nes_spark.audit.linkage_matrix import KnownNames
from nes_spark.errors import parameter_error

#: What the two attackers hold beside the new release.
ORIGINALS, RELEASES = "originals", "originals and releases"
KNOWS = (ORIGINALS, RELEASES)
COLUMNS = ("knows", "attacker", "id", "guess", "rank")
#: What a quarter's table must have.
QUARTER = ("chunk_id", "document_id", "metadata", "text_before", "text_after")

RELEASED, BOTH, UNDONE, PARTNERS = "released", "both", "undone", "partners"
TRACED, LEARNED, MATCHED = "traced", "learned", "matched"

#: A name goes back when at least this share of the places it came to had one other name.
_MOSTLY = 0.5

Edits = Sequence[Mapping[str, Any]]


def quarter_table(owner: str, quarter: pd.DataFrame) -> pd.DataFrame:
    """Check the table of a quarter and return it by chunk_id.

    Parameters
    ----------
    owner : str
        Function whose parameter it is.
    quarter : pandas.DataFrame
        ``chunk_id, document_id, metadata, text_before, text_after`` of every chunk (an empty
        `text_after` for one that was not published), ``entities``: category -> entities before, and
        ``edits``: what was changed, as in :class:`nes_spark.swapping.rewriting.Edit`.

    Raises
    ------
    ValueError
        When columns are missing, or :func:`~nes_spark.audit.attackers.chunk_table` refuses it.
    """
    missing = {"entities", "edits"} - set(quarter.columns)
    if missing:
        raise parameter_error(owner, "quarter", "a table with entities and edits", sorted(missing))
    table = chunk_table(owner, quarter, QUARTER)
    shown = [swap_entities(e, x) for e, x in zip(table["entities"], table["edits"], strict=True)]
    return table.assign(shown=_objects(shown))


def _objects(values: Iterable[Any]) -> pd.Series[Any]:
    return pd.Series(list(values), dtype=object)


def _columns(table: pd.DataFrame) -> tuple[list[str], list[str]]:
    return table["chunk_id"].tolist(), table["text_before"].tolist()


def _joined(table: pd.DataFrame, label: str, column: str) -> dict[str, str]:
    return {str(k): "\n\n".join(part) for k, part in table.groupby(label, sort=True)[column]}


def _document_features(table: pd.DataFrame) -> list[list[str]]:
    """Return what each document shows, in order of document_id."""
    found: dict[str, set[str]] = defaultdict(set)
    for document, entities in zip(table["document_id"], table["shown"], strict=True):
        found[document].update(features_of(entities))
    return [sorted(found[document]) for document in sorted(found)]


def _spelled(edits: Iterable[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
    """Return category, old and new name of the edits that put a name in another one's place."""
    return [
        (e["category"], e["old_entity"], e["new_entity"])
        for e in edits
        if e["old_entity"] and e["new_entity"] and e["old_entity"] != e["new_entity"]
    ]


def names_undone(earlier: Iterable[pd.DataFrame]) -> dict[tuple[str, str], str]:
    """Learn which released name stands for which original one, whoever's text it is in.

    Parameters
    ----------
    earlier : iterable of pandas.DataFrame
        With a column ``edits``.

    Returns
    -------
    dict
        (category, released name) -> the original that it replaced in at least half of the chunks
        that it came to, where these are two or more; of several of equal number none.
    """
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for table in earlier:
        for edits in table["edits"]:
            for category, old, new in set(_spelled(edits)):
                counts[category, new][old] += 1
    found = {}
    for key, olds in counts.items():
        (old, most), *rest = olds.most_common(2)
        if most >= 2 and most >= _MOSTLY * olds.total() and not (rest and rest[0][1] == most):
            found[key] = old
    return found


def _replacer(names: Mapping[str, str]) -> Callable[[str], str]:
    """Return what replaces whole names in a text, the longest first."""
    if not names:
        return lambda text: text
    ordered = sorted(names, key=lambda n: (-len(n), n))
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, ordered)) + r")(?!\w)")
    return lambda text: pattern.sub(lambda m: names[m.group()], text)


def _undone(table: pd.DataFrame, names: Mapping[tuple[str, str], str]) -> pd.DataFrame:
    """Put names back in texts and entities."""
    back = _replacer({new: old for (_, new), old in names.items()})
    shown = [
        {c: sorted({names.get((c, e), e) for e in mine}) for c, mine in entities.items()}
        for entities in table["shown"]
    ]
    return table.assign(text_after=[back(t) for t in table["text_after"]], shown=_objects(shown))


def traced(table: pd.DataFrame, known: Mapping[str, str]) -> pd.DataFrame:
    """Undo the exchanges of chunks whose originals are known, on the side of their partners.

    Parameters
    ----------
    table : pandas.DataFrame
        Of the new quarter, from :func:`quarter_table`.
    known : mapping of str to str
        chunk_id -> original text of earlier chunks.

    Returns
    -------
    pandas.DataFrame
        The same with `text_after` and `shown` of the chunks that are taken for partners changed: of
        the chunks that show a name which a known chunk lost, the one with the most such names,
        rarer ones counting more. Each is undone once.
    """
    old = [known.get(c) == text for c, text in zip(*_columns(table), strict=True)]
    holders: dict[tuple[str, str], list[int]] = defaultdict(list)
    for row, (is_old, shown) in enumerate(zip(old, table["shown"], strict=True)):
        if not is_old:
            for category, names in shown.items():
                for name in names:
                    holders[category, name].append(row)
    scores: list[tuple[float, int, int]] = []
    moved: dict[int, dict[tuple[str, str], str]] = {}
    for row in np.flatnonzero(old).tolist():
        pairs = {(c, o): n for c, o, n in _spelled(table["edits"].iloc[row])}
        moved[row] = pairs
        found: dict[int, float] = defaultdict(float)
        for key in pairs:
            for other in holders.get(key, ()):
                found[other] += 1 / len(holders[key])
        scores += [(-value, row, other) for other, value in found.items()]
    texts, shown = table["text_after"].tolist(), table["shown"].tolist()
    done: set[int] = set()
    for _, row, other in sorted(scores):
        if row in done or other in done:
            continue
        done |= {row, other}
        pairs = {k: n for k, n in moved[row].items() if k[1] in shown[other].get(k[0], ())}
        texts[other] = _replacer({o: n for (_, o), n in pairs.items()})(texts[other])
        shown[other] = {
            c: sorted({pairs.get((c, e), e) for e in mine}) for c, mine in shown[other].items()
        }
    return table.assign(text_after=texts, shown=_objects(shown))


#: What weighing learns about: every view of the originals, with names and without.
_VIEWS: tuple[View, ...] = tuple(
    dict.fromkeys([*((v, v != "style") for v in VIEWS), *((v, False) for v in NAMELESS_VIEWS)])
)
#: Views of the earlier releases: what is left of the texts without names is that of the originals.
_RELEASED_VIEWS: tuple[View, ...] = (("words", True), ("names", True))


class Held:
    """Texts and names of the earlier quarters, whose they are: what guesses are made from.

    Parameters
    ----------
    earlier : sequence of pandas.DataFrame
        From :func:`quarter_table`.
    texts, names : sequence of str
        Columns that are known, by default those before swapping.
    """

    def __init__(
        self,
        earlier: Sequence[pd.DataFrame],
        texts: Sequence[str] = ("text_before",),
        names: Sequence[str] = ("entities",),
    ) -> None:
        parts: dict[str, list[str]] = defaultdict(list)
        owners: list[str] = []
        found: list[list[str]] = []
        for table in earlier:
            for column in texts:
                for metadata, told in _joined(table, "metadata", column).items():
                    parts[metadata].append(told)
            for column in names:
                owners += table["metadata"].tolist()
                found += [features_of(entities) for entities in table[column]]
        self.documents = DocumentAttack({m: "\n\n".join(p) for m, p in parts.items()})
        self.names = KnownNames(owners, found)
        self.candidates = self.names.candidates

    def truth(self, table: pd.DataFrame) -> tuple[list[str], np.ndarray]:
        """Return the documents of a quarter in order, and the number of each one's candidate."""
        owner = dict(zip(table["document_id"], table["metadata"], strict=True))
        ids = sorted(owner)
        return ids, np.array([self.names.number.get(owner[d], -1) for d in ids])

    def guess(
        self, table: pd.DataFrame, attackers: Sequence[str], prefix: str = ""
    ) -> pd.DataFrame:
        """Let all attackers guess about a release; rows of :data:`COLUMNS` but ``knows``.

        With a prefix those who ignore names are left out: to them it is all the same release.
        """
        texts = _joined(table, "document_id", "text_after")
        owner = dict(zip(table["document_id"], table["metadata"], strict=True))
        names = "seen" if prefix else "both"
        read = self.documents.attack(texts, owner, attackers=attackers, names=names)
        ids, true = self.truth(table)
        linked = self.names.guess(ids, _document_features(table), true)
        named = results(ids, self.candidates, {LINKAGE: (linked, np.full(len(ids), np.inf))})
        found = pd.concat([read, named], ignore_index=True)
        label = prefix + " " + found["attacker"] if prefix else found["attacker"]
        return found.assign(attacker=label)[list(COLUMNS[1:])]

    def layers(self, table: pd.DataFrame, views: Sequence[View] = _VIEWS) -> np.ndarray:
        """Return how alike documents and candidates are, shape (views + 1, documents, m).

        The last is that of ``linkage``.
        """
        read = self.documents.layers(_joined(table, "document_id", "text_after"), views)
        linked = standardised(self.names.scores(_document_features(table)))
        return np.concatenate([read, linked[None]])


class KnownOriginals(Held):
    """What both attackers hold of the earlier quarters, ready for several releases of them.

    Parameters
    ----------
    earlier : sequence of pandas.DataFrame
        As :func:`quarter_table` describes them; what was released is not looked at.
    """

    def __init__(self, earlier: Sequence[pd.DataFrame]) -> None:
        super().__init__(earlier)
        self._earlier = list(earlier)
        self.chunk_ids = [sorted(table["chunk_id"]) for table in earlier]
        self._rest: dict[int, Held] = {}

    def without(self, quarter: int) -> Held:
        """Return the originals of all quarters but one, to guess about that one."""
        if quarter not in self._rest:
            rest = [table for k, table in enumerate(self._earlier) if k != quarter]
            self._rest[quarter] = Held(rest)
        return self._rest[quarter]


def partner_layer(
    names: KnownNames, earlier: Sequence[pd.DataFrame], new: pd.DataFrame
) -> np.ndarray:
    """Compare whose names documents show with whose the candidates' releases showed before.

    Parameters
    ----------
    names : KnownNames
        Of the earlier originals.
    earlier, new : pandas.DataFrame
        From :func:`quarter_table`.

    Returns
    -------
    numpy.ndarray of float64, shape (documents, candidates)
        Cosines of the profiles, standardised.
    """
    m = len(names.candidates)
    sums = np.zeros((m, m))
    for table in earlier:
        owner = dict(zip(table["document_id"], table["metadata"], strict=True))
        profile = standardised(names.scores(_document_features(table)))
        np.add.at(sums, [names.number[owner[d]] for d in sorted(owner)], profile)
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    theirs = np.divide(sums, length, out=np.zeros_like(sums), where=length > 0)
    return standardised(standardised(names.scores(_document_features(new))) @ theirs.T)


def _table(
    ids: Sequence[str], candidates: Sequence[str], found: Mapping[str, Guesses]
) -> pd.DataFrame:
    sure = np.full(len(ids), np.inf)
    table = results(ids, candidates, {name: (guesses, sure) for name, guesses in found.items()})
    return table[list(COLUMNS[1:])]


class Learned:
    """Weights of all ways of looking, learned from releases whose documents are known.

    The release of each quarter is asked about by what is known of the others.

    Parameters
    ----------
    originals : KnownOriginals
        Of two or more quarters.
    labelled : sequence of pandas.DataFrame
        The same quarters as they were released, or as the attacker releases them itself; as
        :func:`quarter_table` describes them.
    releases : bool
        Whether these releases are looked at as well: what comes again is then evidence.

    Raises
    ------
    ValueError
        When these are not the quarters of the originals.
    """

    def __init__(
        self, originals: KnownOriginals, labelled: Sequence[pd.DataFrame], releases: bool = False
    ) -> None:
        owner = "Learned"
        tables = [quarter_table(owner, table) for table in labelled]
        if len(tables) < 2 or [t["chunk_id"].tolist() for t in tables] != originals.chunk_ids:
            raise parameter_error(
                owner,
                "labelled",
                "releases of the quarters of the originals, two or more",
                "others",
            )
        self._originals, self._tables, self._releases = originals, tables, releases
        parts = []
        for k, table in enumerate(tables):
            others = [other for j, other in enumerate(tables) if j != k]
            known = originals.without(k)
            ids, true = known.truth(table)
            # What the other quarters hold word for word is no example of what they do not.
            old = documents_again(table, others)
            rows = [i for i, d in enumerate(ids) if true[i] >= 0 and d not in old]
            if rows:
                layers = self._layers(known, self._seen(others), others, table)
                parts.append((layers[:, rows], true[rows], 1.0))
        self._weights = fit_weights(parts) if parts else None
        self._all = self._seen(tables)

    def _seen(self, tables: Sequence[pd.DataFrame]) -> Held | None:
        return Held(tables, ("text_after",), ("shown",)) if self._releases else None

    def _layers(
        self, known: Held, seen: Held | None, others: Sequence[pd.DataFrame], table: pd.DataFrame
    ) -> np.ndarray:
        found = known.layers(table)
        if seen is None:
            return found
        partners = partner_layer(known.names, others, table)
        return np.concatenate([found, seen.layers(table, _RELEASED_VIEWS), partners[None]])

    def guess(self, table: pd.DataFrame, name: str) -> pd.DataFrame | None:
        """Guess about a release; rows of :data:`COLUMNS` but ``knows``; None without an example."""
        if self._weights is None:
            return None
        ids, true = self._originals.truth(table)
        layers = self._layers(self._originals, self._all, self._tables, table)
        utility = utilities(self._weights, layers)
        matching = matched(utility, -(-len(ids) // len(self._originals.candidates)))
        found = {
            name: Guesses.of(utility, true),
            f"{name} {MATCHED}": Guesses.of(matching, true),
        }
        return _table(ids, self._originals.candidates, found)


def documents_again(table: pd.DataFrame, others: Iterable[pd.DataFrame]) -> set[str]:
    """Return the documents of which other quarters hold a chunk with the same id and text."""
    held = {pair for o in others for pair in zip(o["chunk_id"], o["text_before"], strict=True)}
    pairs = zip(table["chunk_id"], table["text_before"], table["document_id"], strict=True)
    return {document for chunk, text, document in pairs if (chunk, text) in held}


def attack_with_history(
    earlier: Sequence[pd.DataFrame],
    new: pd.DataFrame,
    *,
    originals: KnownOriginals | None = None,
    rehearsed: Learned | None = None,
    attackers: Sequence[str] = ATTACKERS,
) -> pd.DataFrame:
    """Ask both attackers whose documents those of a new release are.

    Parameters
    ----------
    earlier : sequence of pandas.DataFrame
        The quarters before, as :func:`quarter_table` describes them.
    new : pandas.DataFrame
        The new quarter. Its originals are not shown to anybody, but for chunks that an earlier
        quarter holds with the same id and text.
    originals : KnownOriginals, optional
        Of `earlier`, where several releases of the same quarters are attacked.
    rehearsed : Learned, optional
        What the first attacker has learned from releases of the earlier quarters that it has made,
        with the same software and a secret of its own.
    attackers : sequence of str
        Some of :data:`nes_spark.audit.attackers.ATTACKERS`; ``linkage`` and what is said above are
        always tried.

    Returns
    -------
    pandas.DataFrame
        One row for each attacker and document: ``knows`` (:data:`KNOWS`), ``attacker``, ``id``,
        ``guess``, ``rank`` (from 1; null where nothing is known of the true candidate). Who holds
        the releases too can also do without: those rows are there for both.

    Raises
    ------
    ValueError
        When there is no earlier quarter, or a table is refused (:func:`quarter_table`).
    """
    owner = "attack_with_history"
    if not earlier:
        raise parameter_error(owner, "earlier", "one or more quarters", 0)
    before = [quarter_table(owner, table) for table in earlier]
    table = quarter_table(owner, new)
    known = originals or KnownOriginals(before)
    texts = {
        c: text
        for one in before
        for c, text in zip(one["chunk_id"], one["text_before"], strict=True)
    }
    tables = {"": table}
    follow = traced(table, texts)
    if follow["text_after"].tolist() != table["text_after"].tolist():
        tables[TRACED] = follow
    plain: list[pd.DataFrame | None] = []
    history: list[pd.DataFrame | None] = []
    learned = Learned(known, before, releases=True) if len(before) > 1 else None
    for how, shown in tables.items():
        plain.append(known.guess(shown, attackers, how))
        if rehearsed is not None:
            plain.append(rehearsed.guess(shown, f"{how} {LEARNED}".strip()))
        if learned is not None:
            history.append(learned.guess(shown, f"{how} {LEARNED} {RELEASED}".strip()))
    released = Held(before, ("text_after",), ("shown",))
    both = Held(before, ("text_before", "text_after"), ("entities", "shown"))
    ids, true = known.truth(table)
    partners = Guesses.of(partner_layer(known.names, before, table), true)
    history += [
        released.guess(table, attackers, RELEASED),
        both.guess(table, attackers, BOTH),
        _table(ids, known.candidates, {PARTNERS: partners}),
    ]
    names = names_undone(before)
    if names:
        history.append(known.guess(_undone(table, names), attackers, UNDONE))
    return pd.concat(
        [part.assign(knows=ORIGINALS) for part in plain if part is not None]
        + [part.assign(knows=RELEASES) for part in [*plain, *history] if part is not None],
        ignore_index=True,
    )[list(COLUMNS)]
