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

Each is tried by every attacker of :mod:`nes_spark.audit.documents` and by ``linkage``. What both
can do is tried for both: a chunk of the new release whose original is known from an earlier
quarter (its other words tell it) shows names that were not in it. They are its partner's, and the
partner shows those of the known chunk (``traced``): the two go back.

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
from nes_spark.audit.attackers import ATTACKERS, chunk_table, results
from nes_spark.audit.calibration import standardised
from nes_spark.audit.documents import DocumentAttack
from nes_spark.audit.linkage import features_of, swap_entities
from nes_spark.audit.linkage_matrix import KnownNames
from nes_spark.audit.ranking import hashes_of, on_grid, pair_keys
from nes_spark.errors import parameter_error

#: What the two attackers hold beside the new release.
ORIGINALS, RELEASES = "originals", "originals and releases"
KNOWS = (ORIGINALS, RELEASES)
COLUMNS = ("knows", "attacker", "id", "guess", "rank")
#: What a quarter's table must have.
QUARTER = ("chunk_id", "document_id", "metadata", "text_before", "text_after")

RELEASED, BOTH, UNDONE, PARTNERS, TRACED = "released", "both", "undone", "partners", "traced"

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
    shown = [
        swap_entities(e, x) for e, x in zip(table["entities"], table["edits"], strict=True)
    ]
    return table.assign(shown=shown)


def _joined(table: pd.DataFrame, label: str, column: str) -> dict[str, str]:
    return {str(k): "\n\n".join(part) for k, part in table.groupby(label, sort=True)[column]}


def _document_features(table: pd.DataFrame, column: str) -> dict[str, list[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for document, entities in zip(table["document_id"], table[column], strict=True):
        found[document].update(features_of(entities))
    return {document: sorted(names) for document, names in sorted(found.items())}


def _features(table: pd.DataFrame, column: str) -> tuple[list[str], list[list[str]]]:
    return table["metadata"].tolist(), [features_of(entities) for entities in table[column]]


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
    return table.assign(text_after=[back(t) for t in table["text_after"]], shown=shown)


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
    old = [known.get(c) == text for c, text in zip(table["chunk_id"], table["text_before"])]
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
        found: Counter[int] = Counter()
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
    return table.assign(text_after=texts, shown=shown)


class KnownOriginals:
    """What both attackers hold of the earlier quarters: texts and names, whose they are.

    Parameters
    ----------
    earlier : sequence of pandas.DataFrame
        As :func:`quarter_table` describes them; `text_after` and ``edits`` are not looked at.
    text, names : str
        Columns that are known; those after swapping for what only the second attacker holds.
    """

    def __init__(
        self,
        earlier: Sequence[pd.DataFrame],
        text: Sequence[str] = ("text_before",),
        names: Sequence[str] = ("entities",),
    ) -> None:
        parts: dict[str, list[str]] = defaultdict(list)
        owners: list[str] = []
        found: list[list[str]] = []
        for table in earlier:
            for column in text:
                for metadata, told in _joined(table, "metadata", column).items():
                    parts[metadata].append(told)
            for column in names:
                mine = _features(table, column)
                owners += mine[0]
                found += mine[1]
        self.documents = DocumentAttack({m: "\n\n".join(p) for m, p in parts.items()})
        self.names = KnownNames(owners, found)

    def guess(
        self, table: pd.DataFrame, attackers: Sequence[str], prefix: str = ""
    ) -> pd.DataFrame:
        """Let all attackers guess about a release; rows of :data:`COLUMNS` but ``knows``."""
        texts = _joined(table, "document_id", "text_after")
        truth = dict(zip(table["document_id"], table["metadata"], strict=True))
        read = self.documents.attack(texts, truth, attackers=attackers)
        seen = _document_features(table, "shown")
        true = np.array([self.names.number.get(truth[d], -1) for d in seen])
        linked = self.names.guess(list(seen), list(seen.values()), true)
        sure = np.full(len(seen), np.inf)
        named = results(list(seen), self.names.candidates, {LINKAGE: (linked, sure)})
        found = pd.concat([read, named], ignore_index=True)
        label = found["attacker"] if not prefix else prefix + " " + found["attacker"]
        return found.assign(attacker=label)[list(COLUMNS[1:])]


def partner_guesses(
    names: KnownNames, earlier: Sequence[pd.DataFrame], new: pd.DataFrame
) -> pd.DataFrame:
    """Guess by whose names a document shows: those that the candidate's releases showed before.

    Parameters
    ----------
    names : KnownNames
        Of the earlier originals.
    earlier, new : pandas.DataFrame
        From :func:`quarter_table`.

    Returns
    -------
    pandas.DataFrame
        Rows of :data:`COLUMNS` but ``knows``.
    """
    sums = np.zeros((len(names.candidates), len(names.candidates)))
    for table in earlier:
        owner = dict(zip(table["document_id"], table["metadata"], strict=True))
        seen = _document_features(table, "shown")
        profile = standardised(names.scores(list(seen.values())))
        np.add.at(sums, [names.number[owner[d]] for d in seen], profile)
    asked = _document_features(new, "shown")
    owner = dict(zip(new["document_id"], new["metadata"], strict=True))
    mine = standardised(names.scores(list(asked.values())))
    length = np.linalg.norm(sums, axis=1)
    scores = on_grid(mine @ np.divide(sums.T, length, out=np.zeros_like(sums), where=length > 0))
    ids = list(asked)
    ties = pair_keys(hashes_of(ids)[:, None], hashes_of(names.candidates)[None, :])
    order = np.lexsort((ties, -scores), axis=1)
    true = np.array([names.number.get(owner[d], -1) for d in ids])
    place = np.argmax(order == true[:, None], axis=1) + 1
    return pd.DataFrame(
        {
            "attacker": PARTNERS,
            "id": ids,
            "guess": [names.candidates[k] for k in order[:, 0]],
            "rank": pd.array(np.where(true >= 0, place, 0), dtype="Int64"),
        }
    ).assign(rank=lambda t: t["rank"].where(t["rank"] > 0))


def attack_with_history(
    earlier: Sequence[pd.DataFrame],
    new: pd.DataFrame,
    *,
    originals: KnownOriginals | None = None,
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
    attackers : sequence of str
        Some of :data:`nes_spark.audit.attackers.ATTACKERS`; ``linkage`` is always asked.

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
    follow = traced(table, texts)
    plain = [known.guess(table, attackers)]
    if follow["text_after"].tolist() != table["text_after"].tolist():
        plain.append(known.guess(follow, attackers, TRACED))
    released = KnownOriginals(before, ("text_after",), ("shown",))
    both = KnownOriginals(before, ("text_before", "text_after"), ("entities", "shown"))
    history = [
        released.guess(table, attackers, RELEASED),
        both.guess(table, attackers, BOTH),
        partner_guesses(known.names, before, table),
    ]
    names = names_undone(before)
    if names:
        history.append(known.guess(_undone(table, names), attackers, UNDONE))
    return pd.concat(
        [part.assign(knows=ORIGINALS) for part in plain]
        + [part.assign(knows=RELEASES) for part in [*plain, *history]],
        ignore_index=True,
    )[list(COLUMNS)]
