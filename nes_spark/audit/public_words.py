"""Who knows a few public words of each candidate: which released document do they point to?

An outsider needs no texts of a company to look for its call: what it makes, sells and runs is known
("King Air", "cement"). The words of a candidate are looked for in every released document, each by
exact match of whole words whatever their case, and a document d scores for a candidate c

    S(c, d) = sum over words w of c in d of (1 + log n_wd) log((1 + N) / (1 + df_w)),

where n_wd counts w in d, df_w the documents that have it and N all documents (Salton & Buckley,
"Term-weighting approaches in automatic text retrieval", 1988). The candidate is named by the
document with the highest score.

Where a candidate has several documents, who holds one of them asks the other way round: whose is
it? Then the candidate with the highest score is named (:func:`attack_each_by_public_words`).
:func:`nes_spark.audit.attack_documents` asks that too, and reads backgrounds of some length; a list
of five words has no half to calibrate with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from nes_spark.audit.features import tokens
from nes_spark.errors import parameter_error

#: A guess is confident when the best score is at least so many times the runner-up's.
CONFIDENT = 1.5
#: Scores are compared on this grid, so that the order of additions decides nothing.
_GRID = 2.0**30


def word_key(word: str) -> tuple[str, ...]:
    """Return what is compared of a word or phrase: its tokens, folded, without possessives.

    Examples
    --------
    >>> word_key("Lands' End"), word_key("E-ONE"), word_key("Reese's")
    (('lands', 'end'), ('e', 'one'), ('reese',))
    """
    return tuple(t.casefold().removesuffix("'s") for t in tokens(word) if t)


def word_counts(text: str, keys: Sequence[tuple[str, ...]]) -> np.ndarray:
    """Count words and phrases in a text.

    Parameters
    ----------
    text : str
        A placeholder ends a phrase.
    keys : sequence of tuple of str
        Of :func:`word_key`.

    Returns
    -------
    ndarray of int64, shape (len(keys),)
    """
    places: dict[str, list[int]] = {}
    found = [t.casefold().removesuffix("'s") for t in tokens(text)]
    for place, token in enumerate(found):
        places.setdefault(token, []).append(place)
    return np.array(
        [
            sum(tuple(found[p : p + len(key)]) == key for p in places.get(key[0], ()))
            for key in keys
        ],
        dtype=np.int64,
    )


def attack_public_words(
    texts: Mapping[str, str],
    words: Mapping[str, Sequence[str]],
    truth: Mapping[str, str],
    *,
    confident: float = CONFIDENT,
) -> pd.DataFrame:
    """Say which document the public words of each candidate point to.

    Parameters
    ----------
    texts : mapping of str to str
        Released documents: id to text, one of each candidate that is asked about.
    words : mapping of str to sequence of str
        Candidate to words and phrases that are publicly known of it.
    truth : mapping of str to str
        Document to candidate; read after the guessing. Candidates without a document are left out.
    confident : float
        A guess is confident when it is alone and scores so many times as much as the next, at least
        1.

    Returns
    -------
    pandas.DataFrame
        One row a candidate, sorted: ``candidate``, ``guess`` (the smallest id of the best, null
        where no word is found anywhere), ``named`` (1 when its own document scores best alone, 1/k
        when k documents do, all of them when no word is found anywhere; else 0), ``score`` and
        ``runner_up`` (of the best document and the next), ``confident``, ``right`` (confident and
        named).

    Raises
    ------
    ValueError
        When texts or words are empty, no candidate has a document, a candidate has several, or a
        list holds no word.

    Examples
    --------
    >>> attack_public_words(
    ...     {"x": "Cement sold well.", "y": "The King Air flew."},
    ...     {"A": ["cement"], "B": ["King Air", "aircraft"]}, {"x": "A", "y": "B"},
    ... )[["candidate", "guess", "named", "right"]].values.tolist()
    [['A', 'x', 1.0, True], ['B', 'y', 1.0, True]]
    """
    owner = "attack_public_words"
    _check(owner, texts, confident)
    ids = sorted(texts)
    own: dict[str, int] = {}
    for place, document in enumerate(ids):
        candidate = truth.get(document)
        if candidate is not None and candidate in words:
            if candidate in own:
                raise parameter_error(owner, "texts", "one document of each candidate", "several")
            own[candidate] = place
    if not own:
        raise parameter_error(owner, "truth", "a document of some candidate of the words", "none")
    rows = []
    for candidate, scores in _scores(owner, [texts[d] for d in ids], words, sorted(own)).items():
        best, top, after, sure = _best(scores, confident)
        named = 1 / len(best) if own[candidate] in best else 0.0
        guess = ids[best[0]] if top > 0 else None
        rows.append((candidate, guess, named, top, after, sure, sure and named == 1))
    columns = ["candidate", "guess", "named", "score", "runner_up", "confident", "right"]
    return pd.DataFrame(rows, columns=columns)


def attack_each_by_public_words(
    texts: Mapping[str, str],
    words: Mapping[str, Sequence[str]],
    truth: Mapping[str, str],
    *,
    confident: float = CONFIDENT,
) -> pd.DataFrame:
    """Say whose each document is, by the public words of all candidates.

    Parameters
    ----------
    texts : mapping of str to str
        Released documents: id to text.
    words : mapping of str to sequence of str
        Candidate to words and phrases that are publicly known of it.
    truth : mapping of str to str
        Document to candidate; read after the guessing. Documents of others are left out.
    confident : float
        As for :func:`attack_public_words`.

    Returns
    -------
    pandas.DataFrame
        One row a document, sorted: ``document``, ``guess`` (the first candidate of the best, null
        where no word is found), ``named`` (1 when its candidate scores best alone, 1/k when k do, 0
        when no word is found), ``score`` and ``runner_up`` (of the best candidate and the next),
        ``confident``, ``right`` (confident and named).

    Raises
    ------
    ValueError
        When texts are empty, `confident` is less than 1, no document is of a candidate of the
        words, or a list holds no word.

    Examples
    --------
    >>> attack_each_by_public_words(
    ...     {"x": "Cement sold well.", "y": "The King Air flew.", "z": "It flew."},
    ...     {"A": ["cement"], "B": ["King Air", "aircraft"]}, {"x": "A", "y": "B", "z": "B"},
    ... )[["document", "guess", "named"]].values.tolist()
    [['x', 'A', 1.0], ['y', 'B', 1.0], ['z', None, 0.0]]
    """
    owner = "attack_each_by_public_words"
    _check(owner, texts, confident)
    ids = sorted(texts)
    candidates = sorted({truth[d] for d in ids if d in truth} & set(words))
    if not candidates:
        raise parameter_error(owner, "truth", "a document of some candidate of the words", "none")
    found = _scores(owner, [texts[d] for d in ids], words, candidates)
    scores = np.stack([found[c] for c in candidates], axis=1)
    rows = []
    for place, document in enumerate(ids):
        if truth.get(document) not in found:
            continue
        best, top, after, sure = _best(scores[place], confident)
        guessed = [candidates[k] for k in best]
        named = 1 / len(best) if top > 0 and truth[document] in guessed else 0.0
        guess = guessed[0] if top > 0 else None
        rows.append((document, guess, named, top, after, sure, sure and named == 1))
    columns = ["document", "guess", "named", "score", "runner_up", "confident", "right"]
    return pd.DataFrame(rows, columns=columns)


def _check(owner: str, texts: Mapping[str, str], confident: float) -> None:
    if not texts:
        raise parameter_error(owner, "texts", "a mapping that is not empty", "nothing")
    if confident < 1:
        raise parameter_error(owner, "confident", "a number from 1", confident)


def _best(scores: np.ndarray, confident: float) -> tuple[np.ndarray, float, float, bool]:
    """Return where the best scores are, the best, the next, and whether one is confident."""
    top = float(scores.max())
    best = np.flatnonzero(scores == top)
    after = float(np.partition(scores, -2)[-2]) if len(scores) > 1 else 0.0
    return best, top, after, bool(top > 0 and len(best) == 1 and top >= confident * after)


def _scores(
    owner: str,
    texts: Sequence[str],
    words: Mapping[str, Sequence[str]],
    candidates: Sequence[str],
) -> dict[str, np.ndarray]:
    """Return candidate -> S(c, d) of each text, on a grid."""
    keys = {c: list(dict.fromkeys(filter(None, map(word_key, words[c])))) for c in candidates}
    if lost := sum(not mine for mine in keys.values()):
        raise parameter_error(owner, "words", "a word for each candidate", f"{lost} without")
    known = sorted({key for mine in keys.values() for key in mine})
    number = {key: i for i, key in enumerate(known)}
    counts = np.stack([word_counts(text, known) for text in texts])
    holders = (counts > 0).sum(axis=0)
    idf = np.log((1 + len(texts)) / (1 + holders))
    weights = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0.0) * idf
    return {
        c: np.round(weights[:, [number[key] for key in mine]].sum(axis=1) * _GRID) / _GRID
        for c, mine in keys.items()
    }
