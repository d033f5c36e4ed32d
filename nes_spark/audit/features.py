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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

#: What can be read in a text with its names, and in one whose names are ignored.
VIEWS = ("words", "phrases", "characters", "names", "style")
NAMELESS_VIEWS = ("style", "phrases", "characters")

_GAP = -1
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

    def take(self, places: np.ndarray, rows: np.ndarray, n: int) -> Tokens:
        """Return chosen places as other texts, a gap after each run of a text."""
        ends = np.flatnonzero(np.diff(rows, append=-1)) + 1
        return Tokens(
            self.forms,
            np.insert(self.ids[places], ends, _GAP),
            np.insert(rows, ends, rows[ends - 1]),
            n,
        )


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
        codes: list[np.ndarray] = []
        for raw in cls._coded(ids, vocabulary, codes, longest):
            codes.append(_distinct(raw))
        return cls(vocabulary, tuple(codes))

    @staticmethod
    def _coded(
        ids: np.ndarray, vocabulary: int, codes: Sequence[np.ndarray], longest: int
    ) -> Iterator[np.ndarray]:
        """Yield the code of the run of each length at each place; `codes` may grow meanwhile."""
        raw = ids
        for length in range(1, longest + 1):
            yield raw
            if length == longest:
                return
            place = _find(raw, codes[length - 1])[: len(raw) - 1]
            last = ids[length:]
            raw = np.where((place >= 0) & (last >= 0), place * vocabulary + last, _GAP)

    def counts(self, tokens: Tokens, shortest: int) -> sparse.csr_matrix:
        """Count the known runs of at least so many tokens, texts by terms."""
        rows, columns, offset = [], [], 0
        coded = self._coded(tokens.ids, self.vocabulary, self.codes, len(self.codes))
        for length, raw in enumerate(coded, start=1):
            known = self.codes[length - 1]
            if length >= shortest:
                place = _find(raw, known)
                held = place >= 0
                rows.append(tokens.rows[: len(raw)][held])
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
        self._runs: dict[tuple[str, int], _Runs] = {}
        for kind, longest in (("all", 4), ("nameless", 4), ("names", 2)):
            ids = self._as(background, kind).ids
            self._runs[kind, longest] = _Runs.learn(ids, len(self._words), longest)
        grams = sorted({gram for word in self._words for gram in character_terms(word)})
        self._grams = {gram: i for i, gram in enumerate(grams)}
        self._forms = background.forms
        self._spelled = self._spell(self._forms)

    def _as(self, texts: Tokens, kind: str) -> Tokens:
        """Fold case, and make gaps of what a kind does not see or the background does not hold."""
        numbers = [
            self._number.get(form.casefold(), _GAP)
            if kind == "all" or looks_like_name(form) == (kind == "names")
            else _GAP
            for form in texts.forms
        ]
        return texts.map(np.array(numbers, dtype=np.int64))

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
        if view == "names":
            return self._runs["names", 2].counts(self._as(texts, "names"), 1)
        kind = "all" if names and view != "style" else "nameless"
        runs = self._runs[kind, 4]
        if view == "phrases":
            return runs.counts(self._as(texts, kind), 3)
        short = _Runs(runs.vocabulary, runs.codes[:2])
        return short.counts(self._as(texts, kind), 1)

    def _characters(self, texts: Tokens, names: bool) -> sparse.csr_matrix:
        """Terms of characters depend on the word alone: count words, then multiply."""
        spelled = self._spelled
        if texts.forms is not self._forms:
            spelled = self._spell(texts.forms)
        held = texts.ids >= 0
        if not names:
            plain = [not looks_like_name(form) for form in texts.forms]
            held &= np.array([*plain, False])[texts.ids]
        words = _count(texts.rows[held], texts.ids[held], (texts.n, len(texts.forms)))
        found = (words @ spelled).tocsr()
        found.sort_indices()
        return found

    def _spell(self, forms: Sequence[str]) -> sparse.csr_matrix:
        """Count the known runs of characters of each token, case folded."""
        rows, columns = [], []
        for number, form in enumerate(forms):
            for gram in character_terms(form.casefold()):
                column = self._grams.get(gram)
                if column is not None:
                    rows.append(number)
                    columns.append(column)
        shape = (len(forms), len(self._grams))
        return _count(np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64), shape)


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


def normalised(vectors: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return rows of Euclidean norm one; empty rows stay empty."""
    return (sparse.diags_array(1 / norms(vectors)) @ vectors).tocsr()
