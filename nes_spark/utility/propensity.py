r"""How well released chunks can be told from original ones by their vectors (pMSE).

A logistic regression is fitted to tell the n vectors after from the n vectors before; with fitted
probabilities p of being released,

.. math:: \mathrm{pMSE} = \frac{1}{2n} \sum_{i=1}^{2n} (p_i - \tfrac12)^2

(Woo, Reiter, Oganian & Karr 2009; Snoke, Raab, Nowok, Dibben & Slavkovic 2018): 0 when nothing
tells them apart, 1/4 when everything does.

The two vectors of a chunk belong together, so the null hypothesis is that a coin was tossed for
each chunk which of them to release. In the linear approximation sum (p - 1/2)^2 is the squared
length of the projection of the labels (s_i / 2 and -s_i / 2 for a chunk, with signs s_i) on the
columns X of the features, so that with M = D (X'X)^{-1} D', D the differences after less before,

.. math:: E(\mathrm{pMSE}) = \frac{\mathrm{tr} M}{8 n}, \qquad
          \mathrm{Var}(\mathrm{pMSE}) = \frac{2 \sum_{i \ne j} M_{ij}^2}{(8 n)^2}.

Features are coordinates along the directions in which the vectors changed most (the leading
eigenvectors of D'D, which does not know the signs), so few that the fit is not perfect by itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from nes_spark.errors import EstimationError, parameter_error

Array = NDArray[np.float64]

#: Most features, and chunks for each of them.
MOST_FEATURES = 20
CHUNKS_A_FEATURE = 10
#: Penalty on squared coefficients of features of unit variance; keeps a perfect fit finite.
RIDGE = 0.01
_MAX_STEPS = 100


@dataclass(frozen=True)
class Propensity:
    """How well released chunks can be told from original ones.

    Attributes
    ----------
    pmse : float
        From 0 to 1/4.
    null_mean, null_sd : float
        Its mean and standard deviation where nothing tells them apart.
    n, features : int
        Chunks, and directions that were used.
    """

    pmse: float
    null_mean: float
    null_sd: float
    n: int
    features: int

    @property
    def ratio(self) -> float:
        """Value over its mean where nothing tells them apart: about 1 then; NaN for no change."""
        return self.pmse / self.null_mean if self.null_mean > 0 else math.nan

    @property
    def z(self) -> float:
        """Value less its mean where nothing tells them apart, in standard deviations of that."""
        return (self.pmse - self.null_mean) / self.null_sd if self.null_sd > 0 else math.nan


def logistic_fit(X: Array, y: Array, ridge: float = RIDGE) -> Array:
    """Return the coefficients of a logistic regression, penalised but for the intercept.

    Newton's method (iteratively reweighted least squares) with halved steps; the penalised
    log-likelihood is strictly concave.

    Parameters
    ----------
    X : ndarray of shape (n, k)
        The first column ones.
    y : ndarray of shape (n,)
        0 or 1.
    ridge : float, optional
        Half the penalty on the sum of squared coefficients.

    Raises
    ------
    EstimationError
        ``not_converged``.
    """
    penalty = np.full(X.shape[1], ridge)
    penalty[0] = 0.0

    def objective(beta: Array) -> float:
        eta = X @ beta
        loss = np.logaddexp(0.0, eta) - y * eta
        return math.fsum(loss) + 0.5 * float(penalty @ (beta * beta))

    beta = np.zeros(X.shape[1])
    value = objective(beta)
    for _ in range(_MAX_STEPS):
        p = expit(X @ beta)
        gradient = X.T @ (y - p) - penalty * beta
        information = (X * (p * (1 - p))[:, None]).T @ X + np.diag(penalty)
        information[0, 0] += 1e-12
        step = np.linalg.solve(information, gradient)
        decrement = float(gradient @ step)
        if decrement <= 1e-10:
            return beta + step
        length = 1.0
        while (trial := objective(beta + length * step)) > value and length > 1e-10:
            length /= 2
        beta, value = beta + length * step, trial
    raise EstimationError(
        f"the logistic regression of pMSE did not converge in {_MAX_STEPS} steps", "not_converged"
    )


def propensity(before: Any, after: Any, features: int | None = None) -> Propensity:
    """Return pMSE of the vectors of changed chunks.

    Parameters
    ----------
    before, after : array_like of shape (n, d)
        Vectors of the same chunks, in the same order.
    features : int, optional
        Directions to use; by default one for ten chunks, at least one and at most 20.

    Returns
    -------
    Propensity
        Of 0 where no vector changed.

    Raises
    ------
    ValueError
        When shapes differ, there are no chunks, or values are not finite.
    EstimationError
        When the regression does not converge.
    """
    a, b = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if a.ndim != 2 or a.shape != b.shape or not len(a):
        raise parameter_error(
            "propensity", "after", f"of the shape of 'before' {a.shape}, not empty", b.shape
        )
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise parameter_error("propensity", "before", "finite, and 'after' too", "NaN or infinity")
    n = len(a)
    most = features if features is not None else min(MOST_FEATURES, max(1, n // CHUNKS_A_FEATURE))
    if most < 1:
        raise parameter_error("propensity", "features", "at least 1", features)
    _, size, directions = np.linalg.svd(b - a, full_matrices=False)
    used = min(most, int((size > 1e-9 * max(1.0, float(size.max(initial=0.0)))).sum()))
    if not used:
        return Propensity(0.0, 0.0, 0.0, n, 0)
    X = np.concatenate([a, b]) @ directions[:used].T
    X -= X.mean(axis=0)
    X /= X.std(axis=0)
    y = np.repeat([0.0, 1.0], n)
    beta = logistic_fit(np.column_stack([np.ones(2 * n), X]), y)
    p = expit(beta[0] + X @ beta[1:])
    D = X[n:] - X[:n]
    M = D @ np.linalg.pinv(X.T @ X) @ D.T
    off = float((M * M).sum() - (np.diag(M) ** 2).sum())
    return Propensity(
        pmse=float(np.mean((p - 0.5) ** 2)),
        null_mean=float(np.trace(M)) / (8 * n),
        null_sd=math.sqrt(max(2 * off, 0.0)) / (8 * n),
        n=n,
        features=used,
    )
