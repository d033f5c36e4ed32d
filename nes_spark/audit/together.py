"""Which chunks are of one document? An attacker who holds nothing but the release.

Where chunks are released by themselves nothing says which of them are of one document. Whoever puts
them together has more to name it by than a single chunk. This attacker takes for each chunk the one
that is most like it and says that both are of one document: by words, phrases, characters, words
without names, and all of them together (:mod:`nes_spark.audit.features`).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nes_spark.audit import calibration, features
from nes_spark.audit.attackers import blocks
from nes_spark.audit.ranking import stable_hash
from nes_spark.errors import parameter_error

#: What each attacker compares.
VIEWS = ("words", "phrases", "characters", "style")
COMBINED = "combined"


def attack_together(
    texts: Mapping[str, str],
    document: Mapping[str, Hashable],
    asked: Collection[str] | None = None,
) -> pd.DataFrame:
    """Name for each released chunk another one of its document.

    Parameters
    ----------
    texts : mapping of str to str
        Id to text of all chunks of a release, of two at least.
    document : mapping of str to object
        Id to document, the truth.
    asked : collection of str, optional
        Ids of those that are asked about, for example a sample; by default all.

    Returns
    -------
    pandas.DataFrame
        One row a chunk and attacker: ``id``; ``guess``, the id of the chunk whose vector has the
        largest cosine with its own, None where no chunk shares a term with it; ``rank``, 1 where
        both are of one document, else 2; ``score``; ``attacker``, a view (:data:`VIEWS`) or
        ``combined``, the mean of their standardised cosines. Of equally like ones the smallest hash
        of the id counts. Sorted by attacker and id.

    Raises
    ------
    ValueError
        When there are fewer than two texts, one has no document, or none has a word.

    Notes
    -----
    Terms are weighed as for the attackers of documents, with every chunk as a text of its own. By
    chance a chunk meets one of its document as often as its document has of all other chunks.

    Examples
    --------
    >>> texts = {"a": "kilns burn lime", "b": "we burn lime", "c": "jets fly", "d": "our jets fly"}
    >>> found = attack_together(texts, {"a": 1, "b": 1, "c": 2, "d": 2})
    >>> found[found["attacker"] == "words"]["guess"].tolist()
    ['b', 'a', 'd', 'c']
    """
    owner = "attack_together"
    if len(texts) < 2:
        raise parameter_error(owner, "texts", "at least two texts", len(texts))
    if missing := set(texts) - set(document):
        raise parameter_error(
            owner, "document", "the document of every text", f"{len(missing)} without"
        )
    ids = sorted(texts, key=lambda i: (stable_hash(i), i))
    n = len(ids)
    guesses = {name: (np.zeros(n, dtype=np.int64), np.zeros(n)) for name in (*VIEWS, COMBINED)}
    rows = np.array([r for r, i in enumerate(ids) if asked is None or i in asked], dtype=np.int64)
    wanted = [ids[r] for r in rows]
    for block, found in likenesses([texts[i] for i in ids], rows, owner):
        for attacker, likeness in found.items():
            _take(guesses[attacker], block, likeness)
    parts = []
    for attacker, (place, score) in guesses.items():
        met = zip(place[rows], score[rows] > 0, strict=True)
        guess = [ids[p] if some else None for p, some in met]
        of = [None if g is None else document[g] for g in guess]
        same = [g is not None and g == document[i] for g, i in zip(of, wanted, strict=True)]
        parts.append(
            pd.DataFrame(
                {
                    "id": wanted,
                    "guess": guess,
                    "rank": np.where(same, 1, 2),
                    "score": score[rows],
                    "attacker": attacker,
                }
            )
        )
    return pd.concat(parts).sort_values(["attacker", "id"], ignore_index=True)


def likenesses(
    texts: Sequence[str], rows: NDArray[np.int64], owner: str = "likenesses"
) -> Iterator[tuple[NDArray[np.int64], dict[str, NDArray[np.float64]]]]:
    """Yield how like some texts are to all, some of these rows at a time.

    Parameters
    ----------
    texts : sequence of str, length n
    rows : ndarray of int64
        Places of those that are asked about.
    owner : str
        Name that error messages carry.

    Yields
    ------
    (ndarray of int64, dict)
        Rows, k of them; attacker -> ndarray, shape (k, n): cosines, for ``combined`` the mean of
        the standardised ones. A text is among those that it is like.

    Raises
    ------
    ValueError
        When no text has a word.
    """
    tokens = features.Tokens.of(texts)
    if not tokens.forms:
        raise parameter_error(owner, "texts", "texts with at least one word", "no word")
    reader = features.Reader(tokens)
    vectors, products = {}, {}
    for view in VIEWS:
        counts = reader.counts(tokens, view)
        importance = features.idf(features.holders(counts), counts.shape[0])
        vectors[view] = features.normalised(features.weighted(counts, importance))
        products[view] = features.Products(vectors[view].T.tocsr())
    for block in blocks(rows, len(texts) * len(VIEWS)):
        found = {view: products[view].of(vectors[view][block]) for view in VIEWS}
        parts = [calibration.standardised(cosines) / len(VIEWS) for cosines in found.values()]
        yield block, {**found, COMBINED: np.sum(parts, axis=0)}


def _take(found: tuple[np.ndarray, np.ndarray], block: np.ndarray, likeness: np.ndarray) -> None:
    """Note the chunk that is most like each of a block, itself aside."""
    own = likeness.copy()
    own[np.arange(len(block)), block] = -np.inf
    found[0][block] = own.argmax(axis=1)
    found[1][block] = own.max(axis=1)
