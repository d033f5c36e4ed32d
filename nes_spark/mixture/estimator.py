"""Mixtures on the sphere as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from nes_spark.mixture.families import MAX_RADIUS, Array
from nes_spark.mixture.fit import fit_mixture
from nes_spark.mixture.logs import log_sum_exp
from nes_spark.mixture.vectors import norms


class SphericalMixture(DensityMixin, BaseEstimator):
    """A mixture on the unit sphere, for scikit-learn's pipelines and searches.

    Rows are projected to the sphere before anything else: only their directions count. It fits what
    :func:`nes_spark.mixture.fit_mixture` fits.

    Parameters
    ----------
    n_components : int, optional
        Components at the start; fewer are left when some are removed.
    family : str, optional
        ``"spcauchy"`` (spherical Cauchy), ``"pkb"`` (Poisson kernel) or ``"vmf"`` (von
        Mises-Fisher).
    min_weight : float, optional
        Components whose weight falls below are removed.
    n_init : int, optional
        Restarts; the best likelihood is kept.
    max_iter : int, optional
        Most EM iterations of a restart.
    tol : float, optional
        Relative gain of the likelihood that ends the fit.
    max_radius : float, optional
        Ceiling of the concentration.
    random_state : int, RandomState or None, optional
        Seed of the starts.

    Attributes
    ----------
    model_ : nes_spark.mixture.MixtureModel
        The fitted mixture with everything that is known about it.
    weights_ : ndarray of shape (K,)
        Weights of the components.
    means_ : ndarray of shape (K, d)
        Their mean directions, unit vectors.
    concentrations_ : ndarray of shape (K,)
        Their concentrations.
    converged_ : bool
        Whether the fit converged.
    n_iter_ : int
        Iterations of the restart that was kept.
    labels_ : ndarray of shape (n,)
        Most probable component of each row that it was fitted to.
    n_features_in_ : int
        Dimension d, at least 2.

    Examples
    --------
    >>> import numpy as np
    >>> angles = np.concatenate([np.linspace(0, 0.3, 20), np.linspace(2, 2.3, 20)])
    >>> X = 5 * np.column_stack([np.cos(angles), np.sin(angles)])
    >>> fitted = SphericalMixture(n_components=2, random_state=0).fit(X)
    >>> bool(fitted.predict(X)[0] != fitted.predict(X)[-1])
    True
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        family: str = "spcauchy",
        min_weight: float = 0.0,
        n_init: int = 1,
        max_iter: int = 500,
        tol: float = 1e-6,
        max_radius: float = MAX_RADIUS,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.family = family
        self.min_weight = min_weight
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.max_radius = max_radius
        self.random_state = random_state

    def fit(self, X: Any, y: None = None) -> SphericalMixture:
        """Fit the mixture.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Rows that are not zero, d >= 2.
        y : None
            Ignored.

        Raises
        ------
        ValueError
            For options outside their ranges, and rows without a direction.
        """
        rows = self._on_sphere(X, reset=True)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.model_ = fit_mixture(
            rows,
            self.family,
            self.n_components,
            self.min_weight,
            self.n_init,
            self.max_iter,
            self.tol,
            seed,
            max_radius=self.max_radius,
        )
        self.weights_ = self.model_.weights
        self.means_ = self.model_.means
        self.concentrations_ = self.model_.concentrations
        self.converged_ = self.model_.converged
        self.n_iter_ = max(1, self.model_.n_iter)
        self.labels_ = self.model_.predict(rows)
        return self

    def fit_predict(self, X: Any, y: None = None, **kwargs: Any) -> NDArray[np.intp]:
        """Fit, and return the most probable component of each row."""
        return self.fit(X).labels_

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the most probable component of each row, shape (n,), from 0."""
        check_is_fitted(self)
        return self.model_.predict(self._on_sphere(X))

    def predict_proba(self, X: Any) -> Array:
        """Return the posterior probabilities of the components, shape (n, K)."""
        check_is_fitted(self)
        proba: Array = np.exp(self.model_.predict_log_posterior(self._on_sphere(X)))
        return proba

    def score_samples(self, X: Any) -> Array:
        """Return log sum_k pi_k f_k(x) of each row, relative to the uniform distribution."""
        check_is_fitted(self)
        joint = self.model_.log_density(self._on_sphere(X)) + np.log(self.model_.weights)
        return log_sum_exp(joint.T)

    def score(self, X: Any, y: None = None) -> float:
        """Return the mean of :meth:`score_samples`."""
        return float(np.mean(self.score_samples(X)))

    def _on_sphere(self, X: Any, reset: bool = False) -> Array:
        rows = validate_data(
            self,
            X,
            reset=reset,
            dtype=[np.float64, np.float32],
            ensure_min_features=2 if reset else 1,
        ).astype(np.float64)
        # Very large and very small rows keep their direction.
        largest = np.abs(rows).max(axis=1, keepdims=True)
        if not np.all(largest > 0):
            zero = np.flatnonzero(largest[:, 0] == 0)
            raise ValueError(
                f"SphericalMixture: {len(zero)} row(s) are zero and have no direction, first "
                f"row {zero[0]}; leave them out"
            )
        rows = rows / largest
        return rows / norms(rows)[:, None]
