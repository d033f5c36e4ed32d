"""Measured risk: which share of the documents and chunks the attackers name, before and after.

Up to seven questions are asked (:data:`UNITS`), each to every attacker but those about public words
and the last:

``documents``
    The attacker holds half of every original document's chunks and is asked about the other half as
    released, all chunks of a document together
    (:func:`nes_spark.audit.documents.half_known`).
``documents_background``
    It holds texts of its own about each candidate and is asked about whole documents.
``documents_public_words``
    It knows a few public words of each candidate and looks for its document
    (:mod:`nes_spark.audit.public_words`); all documents of one candidate count as one.
``each_document_public_words``
    It knows the same and is asked about each document, where some candidate has several.
``chunks_left_out``, ``chunks_known``
    It holds every other original chunk, or that one too, and is asked about each chunk that holds a
    name, swapped or not (:mod:`nes_spark.audit.chunk_attack`).
``chunks_together``
    It holds nothing but the release, whose chunks are published by themselves, and says which are
    of one document (:mod:`nes_spark.audit.together`).

Beside the attackers who read texts, ``linkage`` looks at names alone, as recognised
(:mod:`nes_spark.audit.linkage`), in the categories that releases exchange; ``linkage-all`` looks at
those that stay too, such as dates. Where they are asked about a document, all features of its
chunks count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from nes_spark.audit import calibration
from nes_spark.audit.adversaries import LINKAGE
from nes_spark.audit.attackers import KNOWN, LEFT_OUT, NAMELESS, Guesses, chunk_table, results
from nes_spark.audit.chunk_attack import ChunkAttack
from nes_spark.audit.documents import DocumentAttack, asked_half
from nes_spark.audit.features import tokens
from nes_spark.audit.linkage import features_of
from nes_spark.audit.linkage_matrix import KnownNames
from nes_spark.audit.public_words import attack_each_by_public_words, attack_public_words
from nes_spark.audit.ranking import lot, stable_hash
from nes_spark.audit.shares import share_named_dependent
from nes_spark.audit.together import attack_together
from nes_spark.errors import parameter_error

BEFORE, AFTER = "before", "after"

#: What is asked, and what the attacker then holds, in words.
DOCUMENTS, BACKGROUND = "documents", "documents_background"
PUBLIC_WORDS, EACH_BY_WORDS = "documents_public_words", "each_document_public_words"
CHUNKS_LEFT_OUT, CHUNKS_KNOWN = "chunks_left_out", "chunks_known"
TOGETHER = "chunks_together"
UNITS = {
    DOCUMENTS: "half of every original document",
    BACKGROUND: "texts of its own about every candidate",
    PUBLIC_WORDS: "a few public words of each candidate",
    EACH_BY_WORDS: "a few public words of each candidate",
    CHUNKS_LEFT_OUT: "all original chunks but the one in question",
    CHUNKS_KNOWN: "all original chunks, the one in question too",
    TOGETHER: "nothing but the release",
}
COLUMNS = ("unit", "attacker", "side", "n", "named", "low", "high", "confident")

#: Of more chunks with names a sample is asked about, drawn by keyed hash.
MAX_CHUNKS = 5000

#: Who knows a few public words.
PUBLIC = "public-words"

#: What chance puts together.
CHANCE = "chance"

#: Who looks at the recognised names of every category, those that stay too.
LINKAGE_ALL = "linkage-all"

_EXPOSURES = {CHUNKS_LEFT_OUT: LEFT_OUT, CHUNKS_KNOWN: KNOWN}
_CONFIDENT = 0.9

Entities = Mapping[str, Iterable[str] | None]


def sampled(values: Iterable[str], most: int, key: bytes) -> list[str]:
    """Return at most so many values, those of the smallest keyed hashes, sorted."""
    return sorted(sorted(values, key=lambda v: (lot(key, v), v))[:most])


class Measurement:
    """The attackers, ready for several releases of the same documents.

    Parameters
    ----------
    chunks : pandas.DataFrame
        ``chunk_id, document_id, metadata, text`` of every original chunk.
    key : bytes
        Secret, 1 to 64 bytes: which half is known, and which chunks are asked about.
    entities : mapping of str to mapping, optional
        chunk_id to its category -> entities. Chunks without one are not asked about by themselves;
        without any there are no questions about chunks and no ``linkage``.
    exchanged : collection of str, optional
        Categories that releases change: chunks that hold a name of these are asked about, and
        ``linkage`` looks at them alone. By default all.
    background : mapping of str to str, optional
        Metadata to text.
    public_words : mapping of str to sequence of str, optional
        Metadata to words and phrases that everybody may know of it
        (:mod:`nes_spark.audit.public_words`).
    smoothing, pair_weight, most
        Of ``linkage``: see :class:`nes_spark.audit.linkage_matrix.KnownNames`.
    max_chunks : int
        So many chunks are asked about at most.
    max_documents : int, optional
        The same for documents; by default all are. Candidates are always complete.

    Attributes
    ----------
    before : dict of str to pandas.DataFrame
        Unit to the guesses about the original texts.

    Raises
    ------
    ValueError
        As :func:`~nes_spark.audit.documents.half_known`, :class:`~nes_spark.audit.documents.
        DocumentAttack` and :class:`~nes_spark.audit.chunk_attack.ChunkAttack`; when no document is
        among the background's candidates; when `max_chunks` is no count.
    """

    def __init__(
        self,
        chunks: pd.DataFrame,
        key: bytes,
        *,
        entities: Mapping[str, Entities] | None = None,
        exchanged: Collection[str] | None = None,
        background: Mapping[str, str] | None = None,
        public_words: Mapping[str, Sequence[str]] | None = None,
        smoothing: float = 0.2,
        pair_weight: float = 0.5,
        most: int = 1000,
        max_chunks: int = MAX_CHUNKS,
        max_documents: int | None = None,
    ) -> None:
        owner = "Measurement"
        table = chunk_table(owner, chunks, ("chunk_id", "document_id", "metadata", "text"))
        if not isinstance(key, bytes) or not 1 <= len(key) <= 64:
            # The key is a secret: say what it is, not which.
            raise parameter_error(owner, "key", "1 to 64 bytes", type(key).__name__)
        for name, value in (("max_chunks", max_chunks), ("max_documents", max_documents)):
            if value is not None and value < 1:
                raise parameter_error(owner, name, "at least 1", value)
        self._text = dict(zip(table["chunk_id"], table["text"], strict=True))
        self._owner = dict(zip(table["chunk_id"], table["metadata"], strict=True))
        self._document = dict(zip(table["chunk_id"], table["document_id"], strict=True))
        self._members = {
            str(document): part.tolist()
            for document, part in table.groupby("document_id", sort=True)["chunk_id"]
        }
        self._truth = {d: self._owner[ids[0]] for d, ids in self._members.items()}
        if any(self._owner[c] != self._truth[d] for c, d in self._document.items()):
            raise parameter_error(
                owner, "chunks", "a table with one metadata for each document", "several"
            )
        most_documents = len(self._members) if max_documents is None else max_documents
        self.asked_documents = sampled(self._members, most_documents, key)
        self._halves = {d: asked_half(ids, key) for d, ids in self._members.items()}
        held = {c: found for c, found in (entities or {}).items() if c in self._text}
        kinds = {name for found in held.values() for name, values in found.items() if values}
        kept = kinds - set(kinds if exchanged is None else exchanged)
        named = [
            c for c, found in held.items() if any(v for k, v in found.items() if k not in kept)
        ]
        self.asked = sampled(named, max_chunks, key)

        known: dict[str, list[str]] = {}
        for document, ids in self._members.items():
            mine = [self._text[c] for c in ids if c in self._halves[document][0]]
            known.setdefault(self._truth[document], []).extend(mine)
        self._documents = DocumentAttack({m: "\n\n".join(parts) for m, parts in known.items()})
        self._background = None
        if background is not None:
            if not set(background) & set(self._truth.values()):
                raise parameter_error(
                    owner, "background", "texts about some of the documents' metadata", "none"
                )
            self._background = DocumentAttack(background)
        if public_words is not None and not set(public_words) & set(self._truth.values()):
            raise parameter_error(
                owner, "public_words", "words of some of the documents' metadata", "none"
            )
        self._public_words = public_words
        self._chunks: ChunkAttack | None = None
        self._linkages: list[_Linkage] = []
        if self.asked:
            originals = table.rename(columns={"text": "text_before"})
            self._chunks = ChunkAttack(originals, asked=self.asked)
            options = (smoothing, pair_weight, most)
            for name, hidden in [(LINKAGE, kept), (LINKAGE_ALL, set())][: 1 + bool(kept)]:
                self._linkages.append(_Linkage(name, self, held, sorted(hidden), options))
        self.before: dict[str, pd.DataFrame] = {}
        self.before = self.guesses()

    def guesses(
        self,
        texts: Mapping[str, str] | None = None,
        entities: Mapping[str, Entities] | None = None,
        since: tuple[Mapping[str, pd.DataFrame], Collection[str]] | None = None,
    ) -> dict[str, pd.DataFrame]:
        """Let all attackers guess about a release.

        Parameters
        ----------
        texts : mapping of str to str, optional
            chunk_id to the released text of the chunks that differ from the originals; empty for
            one that was not published.
        entities : mapping of str to mapping, optional
            The same for their entities.
        since : (mapping of str to pandas.DataFrame, collection of str), optional
            Guesses about an earlier release, and the chunk_ids that differ from it: all others are
            guessed about as then. Without it, what differs is what is given.

        Returns
        -------
        dict of str to pandas.DataFrame
            Unit to table, as :func:`nes_spark.audit.documents.attack_documents` returns it.
        """
        texts, entities = texts or {}, entities or {}
        shown = {**self._text, **texts}
        asked = {
            d: "\n\n".join(shown[c] for c in self._members[d] if c in self._halves[d][1])
            for d in self.asked_documents
        }
        tables = {DOCUMENTS: self._documents.attack(asked, self._truth)}
        if self._background is not None:
            whole = {
                d: "\n\n".join(shown[c] for c in self._members[d]) for d in self.asked_documents
            }
            tables[BACKGROUND] = self._background.attack(whole, self._truth)
        if self._public_words is not None:
            texts = {d: "\n\n".join(shown[c] for c in ids) for d, ids in self._members.items()}
            tables[PUBLIC_WORDS] = self._pointed_at(texts, self._public_words)
            if len(texts) > len(set(self._truth.values())):
                tables[EACH_BY_WORDS] = _of_public_words(
                    attack_each_by_public_words(texts, self._public_words, self._truth), "document"
                )
        if self._chunks is None:
            return tables
        features = [linkage.features_after(entities) for linkage in self._linkages]
        linked = [a.documents(f) for a, f in zip(self._linkages, features, strict=True)]
        tables[DOCUMENTS] = pd.concat([tables[DOCUMENTS], *linked], ignore_index=True)
        # A chunk that stays as it is, is guessed as before.
        earlier, other = since or (self.before, {*texts, *entities})
        changed = [c for c in self.asked if not earlier or c in other]
        found = {}
        if changed:
            new = {c: shown[c] for c in changed} if texts else None
            found = self._chunks.attack(new, tuple(_EXPOSURES.values()), changed)
        for unit, exposure in _EXPOSURES.items():
            parts = []
            if changed:
                parts = [found[exposure]]
                for linkage, seen in zip(self._linkages, features, strict=True):
                    parts.append(linkage.chunks(changed, seen, exposure))
            if len(changed) < len(self.asked):
                old = earlier[unit]
                parts.append(old[~old["id"].isin(set(changed))])
            table = pd.concat(parts, ignore_index=True)
            tables[unit] = table.sort_values(["attacker", "id"], ignore_index=True)
        return tables

    def _pointed_at(
        self, texts: Mapping[str, str], words: Mapping[str, Sequence[str]]
    ) -> pd.DataFrame:
        """Guess whose texts public words point to, all documents of one metadata together."""
        parts: dict[str, list[str]] = {}
        for document, text in texts.items():
            parts.setdefault(self._truth[document], []).append(text)
        joined = {name: "\n\n".join(mine) for name, mine in parts.items()}
        found = attack_public_words(joined, words, {name: name for name in joined})
        return _of_public_words(found, "candidate")

    def table(
        self,
        tables: Mapping[str, pd.DataFrame],
        side: str,
        pairs: Sequence[tuple[str, str]] = (),
    ) -> pd.DataFrame:
        """Return how many each attacker names.

        Parameters
        ----------
        tables : mapping of str to pandas.DataFrame
            From :meth:`guesses`.
        side : str
            :data:`BEFORE` or :data:`AFTER`.
        pairs : sequence of (str, str)
            Documents that a swap connects: their figures are no independent evidence.

        Returns
        -------
        pandas.DataFrame
            One row a unit and attacker (:data:`COLUMNS`): texts asked about, the share named first
            with its 95 % interval (:func:`nes_spark.audit.shares.share_named_dependent`, chunks
            grouped by document), and the share named first with confidence.
        """
        rows = []
        for unit, found in tables.items():
            groups = self._document if unit in _EXPOSURES else None
            if unit == PUBLIC_WORDS:  # swaps connect documents
                groups = {owner: d for d, owner in reversed(self._truth.items())}
            rows += share_rows(found, unit, side, pairs, groups)
        return pd.DataFrame(rows, columns=list(COLUMNS))


def _of_public_words(found: pd.DataFrame, asked: str) -> pd.DataFrame:
    """Return what public words name as other guesses are. A tie names nobody: its rank is 2."""
    return pd.DataFrame(
        {
            "id": found[asked],
            "guess": found["guess"],
            "rank": np.where(found["named"] == 1, 1, 2),
            "score": found["score"],
            "attacker": PUBLIC,
            "confident": found["confident"],
        }
    )


def share_rows(
    found: pd.DataFrame,
    unit: str,
    side: str,
    pairs: Sequence[tuple[str, str]],
    groups: Mapping[str, str] | None,
) -> list[tuple[Any, ...]]:
    """Return rows of :data:`COLUMNS`, one an attacker.

    Parameters
    ----------
    found : pandas.DataFrame
        ``id, rank, attacker`` and, where it is known, ``confident``.
    unit, side : str
        What they are about.
    pairs : sequence of (str, str)
        Groups that a swap connects.
    groups : mapping of str to str, optional
        Document of each id; without it each id is its own.
    """
    rows = []
    for label, part in found.groupby("attacker", sort=True):
        attacker = str(label)
        # Swaps connect nothing in what was not swapped, or in what holds no names.
        blind = side == BEFORE or attacker == "style" or attacker.endswith(NAMELESS)
        share = share_named_dependent(part, () if blind else pairs, groups=groups)
        sure = float("nan")
        if "confident" in part:
            right = (part["rank"] == 1).fillna(False).to_numpy(dtype=bool)
            sure = float((part["confident"].to_numpy(dtype=bool) & right).mean())
        rows.append((unit, attacker, side, len(part), *share, sure))
    return rows


class _Linkage:
    """An adversary who looks at names alone, asked about chunks and about documents."""

    def __init__(
        self,
        name: str,
        of: Measurement,
        entities: Mapping[str, Entities],
        hidden: Sequence[str],
        options: tuple[float, float, int],
    ) -> None:
        self.name = name
        self._of = of
        self._options = options
        self._hidden = hidden
        self._features: dict[str, list[str]] = {}
        self._features = self.features_after(entities)
        ids = sorted(of._text)
        self._place = {c: i for i, c in enumerate(ids)}
        self._all = self._known(ids)
        held = [c for c in ids if c in of._halves[of._document[c]][0]]
        self._half = self._known(held)
        # Who holds them can ask about one half of them by the other.
        halves = [[c for c in held if stable_hash(c) % 2 == part] for part in (0, 1)]
        self._sure_document = float("inf")
        if all(halves):
            self._sure_document = self._threshold(halves)
        before = self._guess_chunks(of.asked, self._features, LEFT_OUT)
        part = np.array([stable_hash(c) % 2 for c in of.asked])
        self._sure_chunk = [
            calibration.confidence_threshold(before.score[mine], before.rank[mine] == 1, _CONFIDENT)
            for mine in (part != 0, part != 1)
        ]

    def features_after(self, entities: Mapping[str, Entities]) -> dict[str, list[str]]:
        """Return the features of all chunks when some hold other entities."""
        pairs = self._options[1] > 0
        new = {c: features_of(found, self._hidden, pairs) for c, found in entities.items()}
        return {**self._features, **new}

    def _known(self, ids: Sequence[str]) -> KnownNames:
        owners = [self._of._owner[c] for c in ids]
        return KnownNames(owners, [self._features.get(c, []) for c in ids], *self._options)

    def _threshold(self, halves: Sequence[Sequence[str]]) -> float:
        found = []
        for asked, rest in (halves, halves[::-1]):
            known = self._known(rest)
            found.append(self._guess_documents(known, asked, self._features))
        guesses = Guesses.joined(found)
        return calibration.confidence_threshold(guesses.score, guesses.rank == 1, _CONFIDENT)

    def _guess_documents(
        self, known: KnownNames, chunks: Iterable[str], features: Mapping[str, Sequence[str]]
    ) -> Guesses:
        of = self._of
        seen: dict[str, set[str]] = {d: set() for d in of.asked_documents}
        for chunk in chunks:
            if (document := of._document[chunk]) in seen:
                seen[document].update(features.get(chunk, ()))
        truth = np.array([known.number.get(of._truth[d], -1) for d in seen])
        return known.guess(list(seen), [sorted(found) for found in seen.values()], truth)

    def documents(self, features: Mapping[str, Sequence[str]]) -> pd.DataFrame:
        """Guess about the asked half of every document."""
        of = self._of
        asked = [c for ids in of._halves.values() for c in ids[1]]
        guesses = self._guess_documents(self._half, asked, features)
        sure = np.full(len(of.asked_documents), self._sure_document)
        return results(of.asked_documents, self._half.candidates, {self.name: (guesses, sure)})

    def _guess_chunks(
        self, ids: Sequence[str], features: Mapping[str, Sequence[str]], exposure: str
    ) -> Guesses:
        of = self._of
        truth = np.array([self._all.number[of._owner[c]] for c in ids])
        places = np.array([self._place[c] for c in ids]) if exposure == LEFT_OUT else None
        return self._all.guess(ids, [features.get(c, ()) for c in ids], truth, places)

    def chunks(
        self, ids: Sequence[str], features: Mapping[str, Sequence[str]], exposure: str
    ) -> pd.DataFrame:
        """Guess about chunks."""
        guesses = self._guess_chunks(ids, features, exposure)
        sure = np.array([self._sure_chunk[stable_hash(c) % 2] for c in ids])
        return results(ids, self._all.candidates, {self.name: (guesses, sure)})


def measure_together(
    chunks: pd.DataFrame,
    pairs: Sequence[tuple[str, str]] = (),
    key: bytes = b"",
    max_chunks: int = MAX_CHUNKS,
) -> pd.DataFrame:
    """Measure how many chunks can be put together with another one of their document.

    Parameters
    ----------
    chunks : pandas.DataFrame
        ``chunk_id, document_id, text_before, text_after`` of every chunk; one that was not
        published has an empty `text_after`: nobody is asked about it, and none meets it.
    pairs : sequence of (str, str)
        Documents that a swap connects: their figures are no independent evidence.
    key : bytes
        Secret of the hash that draws the sample.
    max_chunks : int
        So many chunks are asked about at most; each may meet any other.

    Returns
    -------
    pandas.DataFrame
        Unit :data:`TOGETHER`, both sides, as :meth:`Measurement.table`, with the attacker
        :data:`CHANCE`: the share for somebody who draws from all other chunks that are there. No
        rows of a side of which fewer than two chunks have a word.

    Raises
    ------
    ValueError
        When columns are missing.
    """
    needed = ("chunk_id", "document_id", "text_before", "text_after")
    table = chunk_table("measure_together", chunks, needed)
    document = dict(zip(table["chunk_id"], table["document_id"], strict=True))
    rows: list[tuple[Any, ...]] = []
    for side in (BEFORE, AFTER):
        there = table[table[f"text_{side}"] != ""]
        texts = dict(zip(there["chunk_id"], there[f"text_{side}"], strict=True))
        # two are enough, so not all are read for it
        if len([*islice((t for t in texts.values() if any(tokens(t))), 2)]) < 2:
            continue
        asked = sampled(texts, max_chunks, key)
        found = attack_together(texts, document, set(asked))
        rows += share_rows(found, TOGETHER, side, pairs if side == AFTER else (), document)
        sizes = there["document_id"].value_counts().to_numpy()
        chance = float((sizes * (sizes - 1)).sum() / len(there) / (len(there) - 1))
        rows.append((TOGETHER, CHANCE, side, len(asked), chance, chance, chance, float("nan")))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def chunks_together(measured: pd.DataFrame) -> dict[str, Any]:
    """Return who puts most chunks together, before and after, and the share of ``chance`` after.

    Returns
    -------
    dict
        As :func:`strongest`, with ``chance``; empty where it was not measured.
    """
    mine = measured[measured["unit"] == TOGETHER]
    drawn = mine["attacker"] == CHANCE
    found = strongest(mine[~drawn], (TOGETHER,))
    if set(found) != {BEFORE, AFTER}:
        return {}
    found["chance"] = float(mine.loc[drawn & (mine["side"] == AFTER), "named"].iloc[0])
    return found


def measure_documents(
    chunks: pd.DataFrame, pairs: Sequence[tuple[str, str]], key: bytes, **options: Any
) -> pd.DataFrame:
    """Attack a release, before and after.

    Parameters
    ----------
    chunks : pandas.DataFrame
        ``chunk_id, document_id, metadata, text_before, text_after`` of every chunk; a chunk that
        was not published has an empty `text_after`. With ``entities_before`` and
        ``entities_after``, category -> entities, chunks are asked about too.
    pairs : sequence of (str, str)
        Documents that a swap connects: their figures are no independent evidence.
    key : bytes
        Secret of the hash that chooses which half is known.
    **options
        ``exchanged``, ``background``, ``smoothing``, ``pair_weight``, ``most``, ``max_chunks`` of
        :class:`Measurement`.

    Returns
    -------
    pandas.DataFrame
        As :meth:`Measurement.table`, both sides.

    Raises
    ------
    ValueError
        As :class:`Measurement`.
    """
    needed = ("chunk_id", "document_id", "metadata", "text_before", "text_after")
    table = chunk_table("measure_documents", chunks, needed)
    ids = table["chunk_id"]
    named = "entities_before" in table and "entities_after" in table
    measurement = Measurement(
        table.rename(columns={"text_before": "text"}),
        key,
        entities=dict(zip(ids, table["entities_before"], strict=True)) if named else None,
        **options,
    )
    other = table[table["text_before"] != table["text_after"]]
    after = measurement.guesses(
        dict(zip(other["chunk_id"], other["text_after"], strict=True)),
        dict(zip(other["chunk_id"], other["entities_after"], strict=True)) if named else None,
    )
    return pd.concat(
        [
            measurement.table(measurement.before, BEFORE, pairs),
            measurement.table(after, AFTER, pairs),
        ],
        ignore_index=True,
    )


def strongest(
    measured: pd.DataFrame, units: Sequence[str] = (DOCUMENTS, BACKGROUND)
) -> dict[str, Any]:
    """Return the attacker that names most before, and the one that does after.

    Parameters
    ----------
    measured : pandas.DataFrame
        From :func:`measure_documents`.
    units : sequence of str
        Some of :data:`UNITS`: whatever the attacker holds.

    Returns
    -------
    dict
        ``before`` and ``after``, each ``unit, attacker, n, named, low, high, confident``. Of
        equally strong ones the first unit, then the first by name. Empty where nothing was
        measured.
    """
    found = {}
    mine = measured[measured["unit"].isin(units)]
    order = {unit: place for place, unit in enumerate(units)}
    mine = mine.assign(_place=mine["unit"].map(order))
    for side in (BEFORE, AFTER):
        rows = mine[mine["side"] == side]
        rows = rows.sort_values(["named", "_place", "attacker"], ascending=[False, True, True])
        if len(rows):
            found[side] = {name: rows.iloc[0][name] for name in COLUMNS if name != "side"}
    return found


def named_by_words(measured: pd.DataFrame) -> dict[str, Any]:
    """Return what who knows public words names.

    Parameters
    ----------
    measured : pandas.DataFrame
        From :func:`measure_documents`.

    Returns
    -------
    dict
        As :func:`strongest` of :data:`PUBLIC_WORDS`, and under ``each_document`` of
        :data:`EACH_BY_WORDS` where that was asked. Empty where nothing was.
    """
    found = strongest(measured, (PUBLIC_WORDS,))
    if each := strongest(measured, (EACH_BY_WORDS,)):
        found["each_document"] = each
    return found


def chunks_named(measured: pd.DataFrame) -> dict[str, dict[str, Any]]:
    """Return the strongest attackers of chunks with names.

    Returns
    -------
    dict
        ``left_out`` and ``known``, each as :func:`strongest` returns it, with ``linkage``, the same
        two sides for the adversary who looks at exchanged names alone, and ``linkage-all`` where
        names of some category stay. Empty without such chunks.
    """
    found = {}
    for name, unit in (("left_out", CHUNKS_LEFT_OUT), ("known", CHUNKS_KNOWN)):
        mine = measured[measured["unit"] == unit]
        if len(mine):
            found[name] = strongest(mine, (unit,))
            for linkage in (LINKAGE, LINKAGE_ALL):
                if sides := strongest(mine[mine["attacker"] == linkage], (unit,)):
                    found[name][linkage] = sides
    return found
