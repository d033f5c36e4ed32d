"""What an attacker reads in a text: words, phrases, characters and names, as weighted vectors.

A text becomes a sequence of tokens, and a view of it (:data:`VIEWS`) a vector of its terms:

=============  ======================================================================
``words``      words and pairs of neighbouring words
``phrases``    three and four words in a row
``characters`` three to five characters within a word, word ends included
``names``      tokens that look like names, and pairs of neighbours among them
``style``      words and pairs of neighbouring words, without what looks like a name
=============  ======================================================================

A token looks like a name by its form alone: it holds a capital letter or a digit. That is coarse
(the first word of a sentence counts), but whoever ignores such tokens ignores every exchange of
names exactly, without knowing what was exchanged. ``characters`` and ``phrases`` have a form
without names too.

Placeholders such as ``[ORG]`` are gaps: they hold no term and no phrase runs across them. Weights
are sublinear term frequency times inverse document frequency, ``(1 + log n) (1 + log((1 + N) /
(1 + df)))``, vectors have Euclidean norm one and the score is the cosine (Salton & Buckley 1988;
Manning, Raghavan & Schütze 2008, section 6.4). Terms that the background does not hold are left
out: they change the norm of a text and thereby the scores of all candidates alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

#: What can be read in a text with its names, and in one whose names are ignored.
VIEWS = ("words", "phrases", "characters", "names", "style")
NAMELESS_VIEWS = ("style", "phrases", "characters")

_GAP = -1

#: A term that one column in so many holds is multiplied densely, up to so many cells in all.
_COMMON = 16
_DENSE = 2_000_000
#: Rows that hold one common term in so many, or more, are multiplied densely.
_SPARSE = 25
_TOKEN = re.compile(r"\[[A-Z][^\[\]\n]{0,40}\]|[^\W_]+(?:['’][^\W\d_]+)*")


def tokens(text: str) -> list[str]:
    """Return the words and numbers of a text in order; a placeholder is the empty string.

    Examples
    --------
    >>> tokens("[Company Name] can't rise 12% in Q3")
    ['', "can't", 'rise', '12', 'in', 'Q3']
    """
    return ["" if t[0] == "[" else t for t in _TOKEN.findall(text.replace("’", "'"))]


def looks_like_name(token: str) -> bool:
    """Whether a token holds a capital letter or a digit.

    Examples
    --------
    >>> [looks_like_name(t) for t in ("iPhone", "Q3", "2020", "growth")]
    [True, True, True, False]
    """
    return token != token.lower() or (not token.isalpha() and any(c.isdigit() for c in token))


@dataclass(frozen=True)
class Tokens:
    """Texts as numbers.

    Attributes
    ----------
    forms : list of str
        Distinct tokens as written, sorted.
    ids : numpy.ndarray of int64, shape (total,)
        Token of each place, -1 for a gap; a gap ends every text.
    rows : numpy.ndarray of int64, shape (total,)
        Text of each place.
    n : int
        Texts.
    """

    forms: list[str]
    ids: np.ndarray
    rows: np.ndarray
    n: int

    @classmethod
    def of(cls, texts: Sequence[str]) -> Tokens:
        """Tokenise texts."""
        split = [tokens(text) for text in texts]
        forms = sorted({form for row in split for form in row} - {""})
        number = {form: i for i, form in enumerate(forms)}
        number[""] = _GAP
        ids = [np.array([number[t] for t in (*row, "")], dtype=np.int64) for row in split]
        lengths = [len(row) for row in ids]
        return cls(
            forms,
            np.concatenate([np.zeros(0, dtype=np.int64), *ids]),
            np.repeat(np.arange(len(texts)), lengths),
            len(texts),
        )

    def map(self, numbers: np.ndarray) -> Tokens:
        """Return the same places under other numbers (-1 makes a gap); `forms` is left behind."""
        return Tokens([], np.append(numbers, _GAP)[self.ids], self.rows, self.n)

    def of_rows(self, rows: np.ndarray) -> Tokens:
        """Return some of the texts, `rows` ascending, numbered anew."""
        number = np.full(self.n, _GAP)
        number[rows] = np.arange(len(rows))
        mine = number[self.rows]
        return Tokens(self.forms, self.ids[mine >= 0], mine[mine >= 0], len(rows))

    def joined(self, owner: np.ndarray, n: int) -> Tokens:
        """Return the texts of each owner as one text; terms do not run from one into the other."""
        return Tokens(self.forms, self.ids, owner[self.rows], n)

    def take(self, places: np.ndarray, rows: np.ndarray, n: int) -> Tokens:
        """Return chosen places as other texts, a gap after each run of a text."""
        ends = np.flatnonzero(np.diff(rows, append=-1)) + 1
        return Tokens(
            self.forms,
            np.insert(self.ids[places], ends, _GAP),
            np.insert(rows, ends, rows[ends - 1]),
            n,
        )


def _names(forms: list[str]) -> np.ndarray:
    return np.array([looks_like_name(form) for form in forms], dtype=bool)


def _distinct(codes: np.ndarray) -> np.ndarray:
    return np.unique(codes[codes >= 0])


def _find(codes: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Place of each code among sorted known ones, -1 where it is not."""
    if not len(known):
        return np.full(len(codes), _GAP)
    places = np.minimum(np.searchsorted(known, codes), len(known) - 1)
    return np.where((codes >= 0) & (known[places] == codes), places, _GAP)


@dataclass(frozen=True)
class _Runs:
    """Terms that are runs of tokens: the codes of each length, shorter runs first.

    A run of k tokens is coded by the place of its first k - 1 tokens among the known runs of that
    length, times the number of known tokens, plus the last token: exact, no hashing. Runs that
    the background does not hold have no code, nor have longer ones that begin with them.
    """

    vocabulary: int
    codes: tuple[np.ndarray, ...]

    @classmethod
    def learn(cls, ids: np.ndarray, vocabulary: int, longest: int) -> _Runs:
        codes, raw = [], ids
        for length in range(1, longest + 1):
            codes.append(_distinct(raw))
            last = ids[length:]
            first = _find(raw[: len(last)], codes[-1])
            raw = np.where((first >= 0) & (last >= 0), first * vocabulary + last, _GAP)
        return cls(vocabulary, tuple(codes))

    def places(self, tokens: Tokens) -> list[np.ndarray]:
        """Return, for each length, the known run that begins at each place; -1 for none."""
        found: list[np.ndarray] = []
        raw = tokens.ids
        for length, known in enumerate(self.codes, start=1):
            found.append(_find(raw, known))
            last = tokens.ids[length:]
            first = found[-1][: len(last)]
            raw = np.where((first >= 0) & (last >= 0), first * self.vocabulary + last, _GAP)
        return found

    def counts(
        self, tokens: Tokens, places: Sequence[np.ndarray], shortest: int, longest: int
    ) -> sparse.csr_matrix:
        """Count the known runs of so many tokens, texts by terms, given their :meth:`places`."""
        rows, columns, offset = [], [], 0
        for length, place in enumerate(places[:longest], start=1):
            known = self.codes[length - 1]
            if length >= shortest:
                held = place >= 0
                rows.append(tokens.rows[: len(place)][held])
                columns.append(place[held] + offset)
                offset += len(known)
        return _count(np.concatenate(rows), np.concatenate(columns), (tokens.n, offset))


def _count(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sparse.csr_matrix:
    ones = np.ones(len(rows))
    found = sparse.coo_matrix((ones, (rows, columns)), shape=shape).tocsr()
    found.sort_indices()
    return found


def character_terms(word: str) -> list[str]:
    """Return the runs of three to five characters of a word with its ends marked.

    Examples
    --------
    >>> character_terms("ab")
    [' ab', 'ab ', ' ab ']
    """
    marked = f" {word} "
    return [marked[i : i + k] for k in (3, 4, 5) for i in range(len(marked) - k + 1)]


class Reader:
    """Turns texts into counts of the terms that the background holds, one view at a time.

    Parameters
    ----------
    background : Tokens
        Texts that the vocabulary is learned from.
    """

    def __init__(self, background: Tokens) -> None:
        self._words = sorted({form.casefold() for form in background.forms})
        self._number = {word: i for i, word in enumerate(self._words)}
        # What was found for the tokens of the last texts: views and parts of them share it.
        self._seen: dict[str, tuple[list[str], Any]] = {}
        self._runs: dict[tuple[str, int], _Runs] = {}
        for kind, longest in (("all", 4), ("nameless", 4), ("names", 2)):
            ids = self._as(background, kind).ids
            self._runs[kind, longest] = _Runs.learn(ids, len(self._words), longest)
        grams = sorted({gram for word in self._words for gram in character_terms(word)})
        self._grams = {gram: i for i, gram in enumerate(grams)}
        # Words and phrases of a kind are runs of the same tokens: found once for both.
        self._found: dict[str, tuple[Tokens, Tokens, list[np.ndarray]]] = {}
        self._columns: dict[str, np.ndarray] = {}

    def _of_forms(self, forms: list[str], kind: str, make: Callable[[list[str]], Any]) -> Any:
        """Return what a kind makes of tokens, made once for the texts that share them."""
        if kind not in self._seen or self._seen[kind][0] is not forms:
            self._seen[kind] = (forms, make(forms))
        return self._seen[kind][1]

    def _as(self, texts: Tokens, kind: str) -> Tokens:
        """Fold case, and make gaps of what a kind does not see or the background does not hold."""
        found = self._of_forms(texts.forms, "number", self._numbered)
        if kind != "all":
            names = self._of_forms(texts.forms, "names", _names)
            found = np.where(names == (kind == "names"), found, _GAP)
        return texts.map(found)

    def _numbered(self, forms: list[str]) -> np.ndarray:
        """Number of each token among the words of the background, -1 where it is none."""
        return np.array([self._number.get(form.casefold(), _GAP) for form in forms], dtype=np.int64)

    def counts(self, texts: Tokens, view: str, names: bool = True) -> sparse.csr_matrix:
        """Count the terms of texts.

        Parameters
        ----------
        texts : Tokens
        view : str
            One of :data:`VIEWS`.
        names : bool
            False leaves out what looks like a name: ``words`` is then ``style``.

        Returns
        -------
        scipy.sparse.csr_matrix of float64, shape (n, terms of the view)
        """
        if view == "characters":
            return self._characters(texts, names)
        kind = "all" if names and view != "style" else "nameless"
        runs = self._runs["names", 2] if view == "names" else self._runs[kind, 4]
        if view == "names":
            read = self._as(texts, "names")
            return runs.counts(read, runs.places(read), 1, 2)
        if kind not in self._found or self._found[kind][0] is not texts:
            read = self._as(texts, kind)
            self._found[kind] = (texts, read, runs.places(read))
        _, read, places = self._found[kind]
        return runs.counts(read, places, *((3, 4) if view == "phrases" else (1, 2)))

    def _characters(self, texts: Tokens, names: bool) -> sparse.csr_matrix:
        """Terms of characters depend on the word alone: count words, then multiply."""
        spelled = self._of_forms(texts.forms, "spelled", self._spell)
        held = texts.ids >= 0
        if not names:
            plain = ~self._of_forms(texts.forms, "names", _names)
            held &= np.append(plain, False)[texts.ids]
        words = _count(texts.rows[held], texts.ids[held], (texts.n, len(texts.forms)))
        found = (words @ spelled).tocsr()
        found.sort_indices()
        return found

    def _spell(self, forms: Sequence[str]) -> sparse.csr_matrix:
        """Count the known runs of characters of each token, case folded."""
        columns = [self._grams_of(form.casefold()) for form in forms]
        rows = np.repeat(np.arange(len(forms)), [len(found) for found in columns])
        none = np.zeros(0, dtype=np.int32)
        shape = (len(forms), len(self._grams))
        return _count(rows, np.concatenate([none, *columns]), shape)

    def _grams_of(self, word: str) -> np.ndarray:
        """Columns of the known runs of characters of a word; releases share most of theirs."""
        found = self._columns.get(word)
        if found is None:
            known = (self._grams.get(gram, _GAP) for gram in character_terms(word))
            found = np.array([column for column in known if column >= 0], dtype=np.int32)
            self._columns[word] = found
        return found


def holders(counts: sparse.csr_matrix) -> np.ndarray:
    """Return how many texts hold each term, shape (terms,)."""
    return np.bincount(counts.indices, minlength=counts.shape[1])


def idf(frequency: np.ndarray, n: int) -> np.ndarray:
    """Return smoothed inverse document frequencies ``1 + log((1 + n) / (1 + df))``."""
    return 1 + np.log((1 + n) / (1 + frequency))


def weighted(counts: sparse.csr_matrix, importance: np.ndarray) -> sparse.csr_matrix:
    """Return ``(1 + log count) * importance``, not normalised; zero counts stay zero."""
    found = counts.copy()
    positive = found.data > 0
    found.data[positive] = 1 + np.log(found.data[positive])
    found.data *= importance[found.indices]
    return found


def norms(vectors: sparse.csr_matrix) -> np.ndarray:
    """Return the Euclidean norm of each row, 1 where a row is empty."""
    squares = np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel()
    return np.where(squares > 0, np.sqrt(squares), 1.0)


class Products:
    """Products of sparse rows with sparse columns that share many common terms.

    Terms that many columns hold are multiplied as a dense table, the rest as a sparse one: the same
    sums, several times as fast where every text holds the same common words.

    Parameters
    ----------
    columns : scipy.sparse.csr_matrix, shape (terms, m)
    """

    def __init__(self, columns: sparse.csr_matrix) -> None:
        held = np.diff(columns.indptr)
        self._place = np.full(columns.shape[0], _GAP)
        common = np.flatnonzero(held * _COMMON > columns.shape[1])
        most = max(1, _DENSE // max(1, columns.shape[1]))
        if len(common) > most:
            common = np.sort(common[np.argsort(-held[common], kind="stable")[:most]])
        self._place[common] = np.arange(len(common))
        self._dense = columns[common].toarray()
        rare = np.repeat(self._place < 0, held)
        ends = np.concatenate([[0], np.cumsum(np.where(self._place < 0, held, 0))])
        self._rest = sparse.csr_matrix(
            (columns.data[rare], columns.indices[rare], ends), shape=columns.shape
        )
        self.shape = columns.shape

    def of(self, rows: sparse.csr_matrix) -> np.ndarray:
        """Return the products, shape (n, m), of rows of shape (n, terms)."""
        place = self._place[rows.indices]

        def part(mine: np.ndarray, indices: np.ndarray, width: int) -> sparse.csr_matrix:
            ends = np.concatenate([[0], np.cumsum(mine)])[rows.indptr]
            return sparse.csr_matrix((rows.data[mine], indices[mine], ends), (rows.shape[0], width))

        common, rare = place >= 0, place < 0
        held = part(common, place, self._dense.shape[0])
        # Long texts hold many of the common terms: then a dense product is the fastest.
        dense = held.nnz * _SPARSE > held.shape[0] * held.shape[1]
        found = (held.toarray() if dense else held) @ self._dense
        return np.asarray(found + (part(rare, rows.indices, self.shape[0]) @ self._rest).toarray())


def normalised(vectors: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return rows of Euclidean norm one; empty rows stay empty."""
    return (sparse.diags_array(1 / norms(vectors)) @ vectors).tocsr()
