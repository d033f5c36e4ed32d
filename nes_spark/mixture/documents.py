"""A penalty on components that belong to one document (paper, end of section 2.2.1).

Two chunks of one document cannot be swapped, so a chunk whose component consists of its own
document is of no use. With soft assignments b, document g has n_gk = sum_{i in g} b_ik chunks in
component k, which is a share n_gk / (n pi_k) of it, and a chunk of the document should pay in
proportion to that share: lambda nats of log density in a component all of its own, hardly anything
in one that many documents make up. The penalised log-likelihood is

    J(theta) = max_b  sum_ik b_ik (log pi_k f_k(x_i) - log b_ik) - lambda/2 sum_gk n_gk^2 / (n pi_k)

over responsibilities b that sum to one for each chunk: posterior regularisation (Ganchev, Graca,
Gillenwater and Taskar 2010). Without the last term the maximum is the log-likelihood. The term is
convex in b for fixed pi, and concave in pi for fixed b after the change of sign, so both halves of
EM stay concave problems with one solution, and as each of them maximises the same function, J
cannot fall.

*E-step.* The problem separates by document. With prices y_k its dual is to minimise

    G(y) = sum_{i in g} log sum_k pi_k f_k(x_i) exp(-y_k) + sum_k y_k^2 / (2 c_k),
    c_k = lambda / (n pi_k),

smooth and strongly convex in K variables; b_ik is proportional to pi_k f_k(x_i) exp(-y_k), and at
the solution y_k = c_k n_gk. G exceeds the value of that b by sum_k (y_k - c_k n_gk)^2 / (2 c_k): a
bound of the error. Newton's method solves all documents of a block side by side. Whole documents
must therefore be in one block; nothing has to be known of the others.

*M-step.* Means and concentrations as before. The weights maximise N_k log pi_k - h_k / pi_k in sum,
h_k = lambda / (2 n) sum_g n_gk^2: pi_k = (N_k + sqrt(N_k^2 + 4 nu h_k)) / (2 nu), with nu such that
they sum to one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nes_spark.mixture.families import Array
from nes_spark.mixture.logs import normalise

#: Largest error of the penalised log-likelihood, in nats a chunk.
GAP = 1e-10
_MOST_STEPS = 200
_MOST_HALVINGS = 40


def whole_documents(
    starts: NDArray[np.intp], n: int, rows: int
) -> list[tuple[int, int, NDArray[np.intp]]]:
    """Cut rows that are sorted by document into blocks of whole documents.

    Parameters
    ----------
    starts : ndarray of shape (m,)
        First rows of the documents, ascending, the first of them 0.
    n : int
        Number of rows.
    rows : int
        Rows of a block; more only where a document alone has more.

    Returns
    -------
    list of tuple
        First row, row after the last, and the starts of the documents counted from the first row.
    """
    ends = np.append(starts[1:], n)
    blocks, first = [], 0
    while first < len(starts):
        begin = int(starts[first])
        last = int(np.searchsorted(ends, begin + rows, side="right"))
        last = max(last, first + 1)
        blocks.append((begin, int(ends[last - 1]), starts[first:last] - begin))
        first = last
    return blocks


def _evaluate(joint: Array, y: Array) -> tuple[Array, Array]:
    """Return responsibilities (g, K, m) and log normalisers (g, m) at prices y (g, K)."""
    b = joint - y[:, :, None]
    total, _ = normalise(b, axis=1)
    return b, total


def _solve(joint: Array, present: Array, costs: Array) -> tuple[Array, Array, Array]:
    """Solve the E-step of several documents with room for m chunks each.

    Parameters
    ----------
    joint : ndarray of shape (g, K, m)
        log pi_k f_k(x_i); any finite numbers where there is no chunk.
    present : ndarray of shape (g, m)
        1 where there is a chunk, else 0.
    costs : ndarray of shape (K,)
        c_k.

    Returns
    -------
    b : ndarray of shape (g, K, m)
        Responsibilities; 0 where there is no chunk.
    value : ndarray of shape (g,)
        Penalised log-likelihood of each document.
    counts : ndarray of shape (g, K)
        n_gk.
    """
    g, k = joint.shape[:2]
    root = np.sqrt(costs)
    limit = GAP * present.sum(axis=1)
    result = np.empty_like(joint)
    value = np.empty(g)
    counts = np.empty((g, k))
    open_ = np.arange(g)  # documents that are not solved yet, and what is known of them
    y = np.zeros((g, k))
    b, log_total = _evaluate(joint, y)
    b *= present[:, None, :]
    dual = (log_total * present).sum(axis=1)
    for step in range(_MOST_STEPS + 1):
        n = b.sum(axis=2)
        gap = 0.5 * (((y - costs * n) / root) ** 2).sum(axis=1)
        done = gap <= limit[open_]
        if step == _MOST_STEPS:
            done[:] = True
        if done.any():
            at = open_[done]
            result[at], counts[at], value[at] = b[done], n[done], (dual - gap)[done]
            rest = ~done
            open_, y, b, n, dual = open_[rest], y[rest], b[rest], n[rest], dual[rest]
            if not len(open_):
                break
        # Newton in z = y / sqrt(c), where the Hessian is the identity plus something that is
        # positive semidefinite
        slope = y / root - root * n
        curvature = -(b @ b.transpose(0, 2, 1)) * (root[:, None] * root)
        curvature[:, np.arange(k), np.arange(k)] += 1.0 + costs * n
        direction = -np.linalg.solve(curvature, slope[:, :, None])[:, :, 0]
        expected = (slope * direction).sum(axis=1)
        length = np.ones(len(open_))
        trying = np.arange(len(open_))
        new_y, new_b, new_dual = y.copy(), b.copy(), dual.copy()
        for _ in range(_MOST_HALVINGS):
            rows = open_[trying]
            trial = y[trying] + length[trying, None] * direction[trying] * root
            trial_b, log_total = _evaluate(joint[rows], trial)
            trial_b *= present[rows][:, None, :]
            trial_dual = (log_total * present[rows]).sum(axis=1)
            trial_dual += 0.5 * ((trial / root) ** 2).sum(axis=1)
            rounding = 1e-14 * np.abs(dual[trying])
            good = trial_dual <= dual[trying] + 1e-4 * length[trying] * expected[trying] + rounding
            at = trying[good]
            new_y[at], new_b[at], new_dual[at] = trial[good], trial_b[good], trial_dual[good]
            trying = trying[~good]
            if not len(trying):
                break
            length[trying] *= 0.5
        y, b, dual = new_y, new_b, new_dual
    return result, value, counts


def penalised_responsibilities(
    joint: Array, starts: NDArray[np.intp], costs: Array
) -> tuple[Array, float, Array]:
    """Return the responsibilities that maximise J for fixed parameters.

    Parameters
    ----------
    joint : ndarray of shape (K, n)
        log pi_k f_k(x_i) of a block of whole documents.
    starts : ndarray of shape (m,)
        First rows of the documents, the first of them 0.
    costs : ndarray of shape (K,)
        c_k = lambda / (n pi_k).

    Returns
    -------
    b : ndarray of shape (K, n)
    value : float
        The block's part of J.
    squares : ndarray of shape (K,)
        sum_g n_gk^2.
    """
    k, n = joint.shape
    sizes = np.diff(np.append(starts, n))
    b = np.empty_like(joint)
    value = 0.0
    squares = np.zeros(k)
    # documents of similar size together, so that little room is left empty
    scale = np.frexp(sizes.astype(np.float64))[1]
    for exponent in np.unique(scale):
        chosen = np.flatnonzero(scale == exponent)
        room = np.arange(int(sizes[chosen].max()))
        present = room < sizes[chosen, None]
        at = np.where(present, starts[chosen, None] + room, 0)
        part, values, counts = _solve(
            np.ascontiguousarray(joint[:, at].transpose(1, 0, 2)),
            present.astype(np.float64),
            costs,
        )
        b[:, at[present]] = part.transpose(1, 0, 2)[:, present]
        value += float(values.sum())
        squares += (counts**2).sum(axis=0)
    return b, value, squares


def penalised_weights(mass: Array, h: Array) -> Array:
    """Return the weights that maximise sum_k N_k log pi_k - h_k / pi_k.

    Parameters
    ----------
    mass : ndarray of shape (K,)
        N_k.
    h : ndarray of shape (K,)
        lambda / (2 n) sum_g n_gk^2.
    """

    def weights(nu: float) -> Array:
        return 0.5 * (mass + np.sqrt(mass * mass + 4.0 * nu * h)) / nu

    # every weight falls in nu: bracket the only solution, then halve the bracket
    low = float(mass.sum())
    high = 2.0 * low
    while weights(high).sum() > 1.0:
        high *= 2.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if weights(middle).sum() > 1.0:
            low = middle
        else:
            high = middle
    result = weights(high)
    return result / result.sum()
