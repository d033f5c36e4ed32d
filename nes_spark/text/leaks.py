"""The leak search: which direct identifiers are left in released texts.

Two questions, two costs. Does a text still name its *own* document? The document's forms are looked
for with the rules of the suppression (:class:`~nes_spark.text.matching.Matcher`). Does it name
*another* document? Each text gives the squeezed spellings of all short runs of words that begin
with a capital letter, each identifier gives the squeezed spellings of its forms, and equal
spellings meet in a join: the cost is that of the texts plus that of the identifiers, never their
product. Of the documents that share a name the hit tells the first: a corpus of many quarters has
each name forty times.

Finding another document's company is not always a leak: swapping puts other documents' names into
a text on purpose. Such hits carry the rule ``other_document``, so that a gate can accept them.

The same spellings tell beforehand which entities of the corpus name a document: no swap may bring
them into its chunks (:func:`own_spellings`, :func:`spellings_in`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nes_spark.config import IdentifierKind
from nes_spark.sieve import StringSieve
from nes_spark.text.forms import (
    CONTEXT,
    GAP,
    HEADS,
    MAX_WORDS,
    REVERSED,
    SENTENCE_END,
    SMALL_WORDS,
    TITLE,
    UPPER,
    WORD,
    Words,
    fold,
    is_capital,
)
from nes_spark.text.matching import DATE, SHAPES, Match, Matcher
from nes_spark.text.normalizing import normalize
from nes_spark.text.spots import back_from

#: The rule of hits that name another document.
OTHER_DOCUMENT = "other_document"
#: Rule of a hit that a swap brought in: part of a name that a person of the document shares with a
#: stranger ("Rutherford"), as every phone book has them; or what reads as an address or a number
#: with the text beside it alone ("ALP 340" before "5028631").
SWAPPED_IN = "swapped_in"
#: Part of a name.
PART = "part"
#: Rules of hits that may have come by chance: a stranger's name, a day that was shifted here.
BY_CHANCE = frozenset({PART, DATE})
#: Forms that name somebody only beside something else.
_BESIDE = frozenset({CONTEXT, REVERSED, *HEADS})
#: What stands for text that a swap brought in: no letter, and more of it than a name has gaps.
_HIDDEN = "\u25a1"
#: Most words that a name of another document may be spread over.
CROSS_WORDS = 6
#: Shorter spellings of other documents are not looked for: they arise by chance.
CROSS_LENGTH = 4


class Key(NamedTuple):
    """A squeezed spelling of an identifier, and how it must look in a text."""

    key: str
    kind: str
    case: str
    opening: bool


class Candidate(NamedTuple):
    """A run of words of a text: squeezed, and how it looks there."""

    key: str
    title: bool
    upper: bool
    opens: bool


class Leak(NamedTuple):
    """Hits of one rule in one text; quotes nothing."""

    identifier_document_id: str
    kind: str
    rule: str
    n: int


def identifier_keys(matcher: Matcher) -> list[Key]:
    """Return the spellings by which other documents would be named.

    Whole names of companies and people, heads of company names, tickers and literals. Single first
    and last names are left out: they name people of many documents.
    """
    keys = []
    kinds = [(item.kind, matcher.rule_of(item.kind) == "person") for item in matcher.items]
    for (kind, person), part in zip(kinds, matcher.forms.parts, strict=True):
        for key, forms in part.items():
            if len(key) < CROSS_LENGTH:
                continue
            for case, rule, _, opening, _, _, _ in forms:
                if case not in _BESIDE and (rule == "name" or not person):
                    keys.append(Key(key, kind, case, opening))
    return list(dict.fromkeys(keys))


class Sieve(StringSieve):
    """A sieve of spellings that can tell how they begin, too.

    Of most runs of words the first one tells that none of them is a spelling.

    Parameters
    ----------
    numbers : iterable of int
        :meth:`number_of` of every spelling.
    beginnings : iterable of int
        :meth:`number_of` of the first letters of every spelling, :data:`CROSS_LENGTH` of them.
    """

    def __init__(self, numbers: Iterable[int], beginnings: Iterable[int]) -> None:
        super().__init__(numbers)
        self._begun = StringSieve(beginnings)

    @classmethod
    def of(cls, keys: Collection[str]) -> Sieve:
        """Return the sieve of spellings."""
        begun = {key[:CROSS_LENGTH] for key in keys}
        return cls(map(cls.number_of, keys), map(cls.number_of, begun))

    def begins(self, key: str) -> bool:
        """Whether a spelling may begin as a run of words does; of :data:`CROSS_LENGTH` or more."""
        return key[:CROSS_LENGTH] in self._begun


def own_spellings(matcher: Matcher, secret: str | None = None) -> dict[str, bool]:
    """Return the squeezed spellings that name a document, of any length.

    First and last names of people are left out (many people share them), unless somebody has no
    other or is the secret: then another text's Hunter would tell whose Hunter Lovelock's text is.
    So are other spellings that name it only beside a title or a stock exchange.

    Parameters
    ----------
    matcher : Matcher
        With the identifiers of the document.
    secret : str, optional
        The document's secret, as one of its identifiers has it.

    Returns
    -------
    dict of str to bool
        Spelling -> whether it is a whole name: the gate accepts no such name in the document,
        wherever it came from. Others are parts of names, which many documents may share.
    """
    found: dict[str, bool] = {}
    for item, part in zip(matcher.items, matcher.forms.parts, strict=True):
        person = matcher.rule_of(item.kind) == "person"
        is_secret = person and item.value == secret
        for key, forms in part.items():
            for case, rule, _, _, _, _, single in forms:
                if is_secret and rule in ("first", "part") and len(key) > 2:
                    found[key] = found.get(key, False)
                if case != CONTEXT and (rule == "name" or single or not person):
                    found[key] = found.get(key, False) or rule != "part"
    return found


def spellings_in(name: str) -> set[str]:
    """Return the squeezed spellings of all runs of words of an entity's name, and without an s.

    An entity names a document when one of them is among its :func:`own_spellings`: "Acme Cloud"
    names Acme. How the name is written does not matter here: to keep one entity too many out of a
    document's chunks costs little, one too few costs the release.
    """
    words = [fold(m.group()) for m in WORD.finditer(normalize(name).text)]
    found = set()
    for i in range(len(words)):
        key = ""
        for word in words[i : i + MAX_WORDS]:
            key += word
            found.add(key)
            if len(key) > 3 and key.endswith("s"):
                found.add(key[:-1])
    return found


def candidates(text: str, matcher: Matcher, known: Sieve | None = None) -> Iterator[Candidate]:
    """Yield the runs of words of a text that may be a name.

    Parameters
    ----------
    text : str
        Released text.
    matcher : Matcher
        For its placeholders, which are skipped; its identifiers do not matter.
    known : Sieve, optional
        Squeezed spellings that matter; all do when omitted.
    """
    text = normalize(text).text
    masked = matcher.placeholders(text)
    mask = 0
    words = Words(text)
    for i, word in enumerate(words.spelled):
        # most words are told by their first letter
        if word[0].islower() or not is_capital(word):
            continue
        start, last = words.starts(i), words.ends(i)
        while mask < len(masked) and masked[mask][1] <= start:
            mask += 1
        stop = masked[mask][0] if mask < len(masked) else len(text)
        if last > stop:
            continue
        key, begun = "", False
        for j in range(i, min(i + CROSS_WORDS, len(words))):
            if j > i:
                gap, end = text[last : words.starts(j)], words.ends(j)
                if end > stop or (gap != " " and not GAP.fullmatch(gap)):
                    break
                last = end
            key += fold(words.spelled[j])
            if len(key) < CROSS_LENGTH:
                continue
            found = [key, key[:-1]] if key[-1] == "s" else [key]
            if known is not None:
                if not begun and not known.begins(key):
                    break
                begun = True
                found = [k for k in found if k in known]
            if found:
                parts = words.spelled[i : j + 1]
                title = all(is_capital(p) or fold(p) in SMALL_WORDS for p in parts)
                upper = all(p.isupper() or p.isdigit() or p == "&" for p in parts)
                opens = j == i and bool(SENTENCE_END.search(text[max(0, start - 8) : start]))
                for spelling in found:
                    yield Candidate(spelling, title, upper, opens)


def looks_like(candidate: Candidate, key: Key) -> bool:
    """Whether a run of words with the same squeezed spelling is written as the form needs it."""
    if key.case == TITLE and not candidate.title:
        return False
    if key.case == UPPER and not candidate.upper:
        return False
    return key.opening or not candidate.opens


def own_leaks(
    text: str,
    matcher: Matcher,
    document_id: str,
    brought: Sequence[tuple[int, int]] = (),
    edited: Sequence[tuple[int, int]] = (),
) -> list[Leak]:
    """Return what a text still says about its own document, counted by kind and rule.

    Parameters
    ----------
    text : str
        Released text.
    matcher : Matcher
        The document's identifiers.
    document_id : str
        The document.
    brought : sequence of (int, int)
        Where swaps brought other documents' names in (:func:`brought_spans`), and shifts days.
        Parts of names, and days, that are found with these alone have the rule ``swapped_in``;
        whole names and other kinds keep theirs wherever they come from.
    edited : sequence of (int, int)
        Where anything was replaced. What has the shape of an address or a number with a part of it
        alone has the rule ``swapped_in``; a shape that stands wholly in it keeps its own.
    """
    found = matcher.find(text)
    counts = Counter((m.kind, m.rule) for m in found)
    parts = [key for key in counts if key[1] in BY_CHANCE]
    if brought and parts:
        own = Counter((m.kind, m.rule) for m in _without(text, matcher, found, brought))
        for key in parts:
            came = counts[key] - min(counts[key], own[key])
            counts[key] -= came
            counts[key[0], SWAPPED_IN] += came
    for match in _made_by(text, matcher, found, edited):
        counts[match.kind, match.rule] -= 1
        counts[match.kind, SWAPPED_IN] += 1
    return [Leak(document_id, kind, rule, n) for (kind, rule), n in sorted(counts.items()) if n]


def _without(
    text: str, matcher: Matcher, found: Sequence[Match], brought: Sequence[tuple[int, int]]
) -> list[Match]:
    """Return what is found without the names that were brought in, where it is found with them too.

    A first name before somebody else's last name is none of the document's; hiding the last name
    would make it one.
    """
    hidden = [(start, end, max(end - start, 5)) for start, end in brought]
    pieces, done = [], 0
    for start, end, length in hidden:
        pieces += [text[done:start], _HIDDEN * length]
        done = end
    back, own = back_from(hidden), []
    for match in matcher.find("".join([*pieces, text[done:]])):
        start, stop = back(match.start, match.end)
        if any(m.start < stop and start < m.end for m in found):
            own.append(match)
    return own


def _made_by(
    text: str, matcher: Matcher, found: Sequence[Match], edited: Sequence[tuple[int, int]]
) -> list[Match]:
    """Return the shapes that reach into what was replaced, and without it are none."""
    reaching = [
        m
        for m in found
        if m.rule in SHAPES
        and any(s < m.end and m.start < e for s, e in edited)
        and not any(s <= m.start and m.end <= e for s, e in edited)
    ]
    if not reaching:
        return []
    letters = list(text)
    for start, end in edited:
        letters[start:end] = _HIDDEN * (end - start)  # what is left stands where it stood
    own = [m for m in matcher.find("".join(letters)) if m.rule in SHAPES]
    return [m for m in reaching if not any(o.start < m.end and m.start < o.end for o in own)]


def brought_spans(edits: Iterable[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """Return where the new names of some edits stand in the text after them.

    Parameters
    ----------
    edits : iterable of mapping
        Of one text, in order: ``start, end`` in the text before, ``new``, and ``new_entity``, which
        is empty for what was mended around a name.

    Examples
    --------
    >>> brought_spans([{"start": 4, "end": 6, "new": "Acme", "new_entity": "Acme"},
    ...                {"start": 9, "end": 12, "new": "", "new_entity": ""},
    ...                {"start": 20, "end": 25, "new": "Roe", "new_entity": "Ann Roe"}])
    [(4, 8), (19, 22)]
    """
    return moved_spans((e["start"], e["end"], len(e["new"]), bool(e["new_entity"])) for e in edits)


def moved_spans(edits: Iterable[tuple[int, int, int, bool]]) -> list[tuple[int, int]]:
    """:func:`brought_spans` of start, end, length of what comes in, and whether that is a name."""
    spans, moved = [], 0
    for begin, end, length, name in edits:
        start = begin + moved
        if name:
            spans.append((start, start + length))
        moved += length - (end - begin)
    return spans


def find_leaks_in_memory(
    released: Iterable[tuple[str, str, str]],
    documents: Mapping[str, Iterable[Any]],
    kinds: Mapping[str, IdentifierKind] | None = None,
    allow: Iterable[str] = (),
) -> list[tuple[str, str, str, str, str, int]]:
    """Search a small release; :func:`nes_spark.text.leak_stages.find_leaks` does the same on Spark.

    Parameters
    ----------
    released : iterable of (chunk_id, document_id, text)
        Released texts.
    documents : mapping of str to iterable of Identifier
        Document id -> its identifiers.
    kinds, allow
        As in :func:`nes_spark.text.identifiers.find_identifiers`.

    Returns
    -------
    list of (chunk_id, document_id, identifier_document_id, kind, rule, n)
        Sorted.
    """
    allow = tuple(allow)
    matchers = {name: Matcher(items, kinds, allow) for name, items in documents.items()}
    index: dict[str, list[tuple[str, Key]]] = {}
    for name, matcher in matchers.items():
        for key in identifier_keys(matcher):
            index.setdefault(key.key, []).append((name, key))
    empty = Matcher([], kinds, allow)
    rows: Counter[tuple[str, str, str, str, str]] = Counter()
    for chunk_id, document_id, text in released:
        own = matchers.get(document_id, empty)
        for leak in own_leaks(text, own, document_id):
            rows[chunk_id, document_id, document_id, leak.kind, leak.rule] += leak.n
        for candidate in candidates(text, empty):
            if candidate.key in own.forms.spellings:
                continue
            first: dict[str, str] = {}
            for name, key in index.get(candidate.key, ()):
                if name != document_id and looks_like(candidate, key):
                    first[key.kind] = min(name, first.get(key.kind, name))
            for kind, name in first.items():
                rows[chunk_id, document_id, name, kind, OTHER_DOCUMENT] += 1
    return sorted((*key, n) for key, n in rows.items())


__all__ = [
    "OTHER_DOCUMENT",
    "SWAPPED_IN",
    "Candidate",
    "Key",
    "Leak",
    "Sieve",
    "brought_spans",
    "candidates",
    "find_leaks_in_memory",
    "identifier_keys",
    "looks_like",
    "own_leaks",
    "own_spellings",
    "spellings_in",
]
