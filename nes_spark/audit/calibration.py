r"""How an attacker weighs what it reads, without knowing the answers.

With standardised similarities `x_kic` of text `i` and candidate `c` in view `k`, the attacker holds
the candidates for likely in proportion to

.. math:: p_{ic} \propto \exp\Big(\sum_k w_k x_{kic}\Big), \qquad w_k \ge 0

(conditional logit, McFadden 1974). The weights maximise the likelihood of *labelled* texts plus a
ridge towards equal weights, worth about a dozen texts: what is labelled comes from another part of
the world than what is asked about, so the data must speak clearly before one view is preferred.

Labelled are pseudo-queries, pieces of the background whose candidate is known and which are held
out of it. When every candidate holds at most so many of the texts, the asked texts label
themselves: match all at once to the candidates, weigh anew as if the matching were right, repeat
(self-training, Yarowsky 1995). So the attacker learns from the texts alone that names mislead where
they were exchanged. The truth about the asked texts is never an argument of anything here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment, minimize

#: Strength of the ridge towards equal weights: it counts as much as this many texts.
RIDGE = 12.0

#: All pseudo-queries together count as much as this many texts that label themselves.
ANCHOR = 20.0

#: A view that misleads still breaks ties.
LEAST = 1e-3

#: Rounds of matching and weighing; it ends sooner when the matching stays.
ROUNDS = 10

#: Rounds of scaling rows and columns.
SCALINGS = 200


def standardised(similarities: np.ndarray) -> np.ndarray:
    """Return rows of mean 0 and standard deviation 1 over the candidates; constant rows are 0.

    What a text has in common with every candidate, and its length, drop out.

    Parameters
    ----------
    similarities : numpy.ndarray of float64, shape (n, m)
    """
    centred = similarities - similarities.mean(axis=1, keepdims=True)
    spread = centred.std(axis=1, keepdims=True)
    return np.where(spread > 1e-9, centred / np.maximum(spread, 1e-9), 0.0)


def utilities(weights: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Return the weighted sum over views, shape (n, m), of features of shape (views, n, m)."""
    views, n, m = features.shape
    # One product over all cells: several passes over large tables cost more than the arithmetic.
    return np.asarray(weights @ features.reshape(views, n * m)).reshape(n, m)


def probabilities(utility: np.ndarray) -> np.ndarray:
    """Return the softmax of each row."""
    found = np.exp(utility - utility.max(axis=1, keepdims=True))
    return found / found.sum(axis=1, keepdims=True)


def fit_weights(
    parts: Sequence[tuple[np.ndarray, np.ndarray, float]],
    ridge: float = RIDGE,
    start: np.ndarray | None = None,
) -> np.ndarray:
    """Fit the weights of the views to labelled texts.

    Parameters
    ----------
    parts : sequence of (features, labels, weight)
        Features of shape (views, n, m), the labelled candidate of each text, shape (n,), and what
        the log-likelihood of the part is multiplied by.
    ridge : float
        Multiplies the squared distance of the weights from their mean.
    start : numpy.ndarray of float64, shape (views,), optional
        Weights near the optimum, for fewer steps; there is one optimum, wherever one starts.

    Returns
    -------
    numpy.ndarray of float64, shape (views,)
        None below :data:`LEAST`.
    """
    views = parts[0][0].shape[0]

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        apart = weights - weights.mean()
        # A very small ridge on the size keeps the fit finite where every label is the first guess.
        value = ridge * float(apart @ apart) + 1e-3 * float(weights @ weights)
        slope = 2 * ridge * apart + 2e-3 * weights
        for features, labels, factor in parts:
            chances = utilities(weights, features)
            chances -= chances.max(axis=1, keepdims=True)
            rows = np.arange(len(labels))
            right = chances[rows, labels]
            np.exp(chances, out=chances)
            sums = chances.sum(axis=1, keepdims=True)
            chances /= sums
            value -= factor * float((right - np.log(sums[:, 0])).sum())
            expected = features.reshape(views, -1) @ chances.ravel()
            slope -= factor * (features[:, rows, labels].sum(axis=1) - expected)
        return value, slope

    begin = np.full(views, 0.5) if start is None else start
    found = minimize(loss, begin, jac=True, bounds=[(LEAST, None)] * views, method="L-BFGS-B")
    return np.asarray(found.x, dtype=np.float64)


def matched(utility: np.ndarray, capacity: float) -> np.ndarray:
    """Return utilities for which no candidate is expected to hold more than so many of the texts.

    Rows of the chances are scaled to sum to one and columns to at most the capacity, in turn
    (Sinkhorn & Knopp 1967, with inequality for the columns): of all tables within these bounds the
    nearest to the independent chances, by relative entropy. One text alone keeps its own.

    Parameters
    ----------
    utility : numpy.ndarray of float64, shape (n, m)
    capacity : float
        Texts a candidate may hold, at least n / m.

    Returns
    -------
    numpy.ndarray of float64, shape (n, m)
        Their :func:`probabilities` are those chances, up to what :data:`SCALINGS` leaves.
    """
    chances = probabilities(utility)
    scale = np.ones(chances.shape[1])
    for _ in range(SCALINGS):
        rows = 1 / (chances @ scale)
        columns = rows @ chances
        before, scale = scale, np.minimum(1.0, capacity / np.maximum(columns, capacity))
        if np.abs(np.log(scale) - np.log(before)).max() < 1e-9:
            break
    return utility + np.log(scale)


def assignment(utility: np.ndarray, capacity: int) -> np.ndarray:
    """Return the likeliest candidate of each text when none holds more than `capacity` texts."""
    _, columns = linear_sum_assignment(np.tile(-utility, (1, capacity)))
    return np.asarray(columns) % utility.shape[1]


def self_trained(
    features: np.ndarray,
    labelled: Sequence[tuple[np.ndarray, np.ndarray]],
    capacity: int,
    ridge: float = RIDGE,
    anchor: float = ANCHOR,
) -> np.ndarray:
    """Fit weights to the asked texts themselves, see the module.

    Parameters
    ----------
    features : numpy.ndarray of float64, shape (views, n, m)
        Of the asked texts.
    labelled : sequence of (features, labels)
        Pseudo-queries; where the weights start, and what holds their scale when texts are few.
    capacity : int
        Texts a candidate may hold.

    Returns
    -------
    numpy.ndarray of float64, shape (views,)
    """
    total = sum(len(labels) for _, labels in labelled)
    anchors = [(known, labels, anchor / total) for known, labels in labelled]
    fitted = fit_weights([(known, labels, 1.0) for known, labels in labelled], ridge)
    best, best_loss = fitted, np.inf
    # A view that is good for pseudo-queries may mislead here and then confirm itself. So the fit
    # starts from equal weights too; the result that the texts agree with most is kept.
    for start in (fitted, np.full_like(fitted, fitted.mean())):
        weights, labels = start, assignment(utilities(start, features), capacity)
        for _ in range(ROUNDS):
            weights = fit_weights([(features, labels, 1.0), *anchors], ridge, weights)
            before, labels = labels, assignment(utilities(weights, features), capacity)
            if np.array_equal(before, labels):
                break
        chances = probabilities(utilities(weights, features))
        loss = -float(np.log(chances[np.arange(len(labels)), labels] + 1e-300).sum())
        if loss < best_loss:
            best, best_loss = weights, loss
    return best


def confidence_threshold(scores: np.ndarray, right: np.ndarray, level: float) -> float:
    """Return the lowest score from which at least a share `level` of the guesses is right.

    Parameters
    ----------
    scores : numpy.ndarray of float64, shape (n,)
        Of the first guesses about pseudo-queries.
    right : numpy.ndarray of bool, shape (n,)
    level : float
        Between 0 and 1.

    Returns
    -------
    float
        Infinity when there is none.
    """
    order = np.argsort(-scores, kind="stable")
    share = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    # Guesses of equal score stand or fall together.
    last = np.append(np.diff(scores[order]) != 0, True)
    good = np.flatnonzero((share >= level) & last)
    return float(scores[order[good[-1]]]) if len(good) else float("inf")
