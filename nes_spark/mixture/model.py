"""The fitted mixture: parameters, how they were found, and what can be asked of them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax

from nes_spark.errors import InputError, parameter_error
from nes_spark.mixture.em import Parameters, Removal, component_log_densities
from nes_spark.mixture.families import FAMILIES, Array
from nes_spark.mixture.initial import generator
from nes_spark.mixture.logs import log_sum_exp
from nes_spark.mixture.vectors import UnitVectors

if TYPE_CHECKING:
    import pandas as pd

_FORMAT = 1
#: Posteriors this close, in logs, are compared by a computation that does not depend on batching.
_TIE = 1e-6


@dataclass(frozen=True)
class Restart:
    """The result of one restart.

    Attributes
    ----------
    name : str
        ``"seed-0"``, ``"seed-1"``, .. or ``"warm"``.
    log_likelihood : float
        Total, relative to the uniform distribution.
    n_components : int
        Components left.
    converged : bool
        Whether a plain EM step gained no more than the tolerance.
    n_iter, n_passes, n_rejected : int
        Accepted steps since the last removal, passes over the data, accelerated steps not taken.
    n_removed, n_capped : int
        Components removed, and components at the concentration ceiling.
    cost : float
        What the penalty on documents takes from the log-likelihood; 0 without.
    """

    name: str
    log_likelihood: float
    n_components: int
    converged: bool
    n_iter: int
    n_passes: int
    n_rejected: int
    n_removed: int
    n_capped: int
    cost: float = 0.0


@dataclass(frozen=True, eq=False)
class MixtureModel:
    """A fitted mixture on the unit sphere (paper, section 2.2).

    Densities are relative to the uniform distribution on the sphere and logs are natural.

    Attributes
    ----------
    family : str
        ``"pkb"``, ``"spcauchy"`` or ``"vmf"``.
    weights : ndarray of shape (K,)
        Mixture weights; they sum to one. K may be less than what was asked for: see ``removed``.
    means : ndarray of shape (K, d)
        Unit vectors.
    concentrations : ndarray of shape (K,)
        rho in [0, 1), or kappa for ``vmf``.
    converged : bool
        Whether the relative gain of a plain EM step fell to ``tol``. False when ``max_iter`` came
        first.
    n_iter : int
        Accepted iterations of the restart that was kept, since the last removal.
    history : ndarray of shape (n_iter,)
        Log-likelihood after each of them, less the penalty on documents if there is one; it never
        falls and ends in ``log_likelihood - cost``.
    log_likelihood : float
        Total over the data of log sum_k pi_k f_k.
    initial_log_likelihood : float
        The same where ``history`` began: at the start, or after the last removal.
    classification_log_likelihood : float
        Total of max_k log pi_k f_k, for ICL.
    n : int
        Number of vectors the model was fitted to.
    n_passes : int
        Passes over the data of this restart, also those whose step was not accepted.
    n_components_asked, min_weight, tol, max_iter, max_radius : int or float
        As given.
    removed : tuple of Removal
        Components taken out, in order.
    earlier_histories : tuple of ndarray
        The log-likelihoods of the stretches before each removal, with the value each began with;
        a removal may lower the likelihood, and ``history`` starts anew after it.
    capped : tuple of int
        Components at the ceiling of the concentration: closed on one point (or on copies of it).
    restarts : tuple of Restart
        All restarts; the one with the greatest (penalised) likelihood was kept.
    best_restart : int
        Its position.
    document_penalty : float
        As given: what a chunk pays, in nats, in a component made of its own document alone.
    cost : float
        What that penalty takes from the log-likelihood of this model; 0 without.
    """

    family: str
    weights: Array
    means: Array
    concentrations: Array
    converged: bool
    n_iter: int
    history: Array
    log_likelihood: float
    initial_log_likelihood: float
    classification_log_likelihood: float
    n: int
    n_passes: int
    n_components_asked: int
    min_weight: float
    tol: float
    max_iter: int
    max_radius: float
    removed: tuple[Removal, ...] = ()
    earlier_histories: tuple[Array, ...] = ()
    capped: tuple[int, ...] = ()
    restarts: tuple[Restart, ...] = ()
    best_restart: int = 0
    document_penalty: float = 0.0
    cost: float = 0.0
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_components(self) -> int:
        """Number of components K that are left."""
        return len(self.weights)

    @property
    def dimension(self) -> int:
        """Dimension d of the vectors."""
        return int(self.means.shape[1])

    @property
    def n_parameters(self) -> int:
        """Free parameters: K - 1 weights, K (d - 1) for the means, K concentrations."""
        return self.n_components * (self.dimension + 1) - 1

    @property
    def bic(self) -> float:
        """Bayesian information criterion -2 log L + p log n (Schwarz 1978); smaller is better."""
        return -2.0 * self.log_likelihood + self.n_parameters * float(np.log(self.n))

    @property
    def icl(self) -> float:
        """Integrated completed likelihood -2 log L_c + p log n, smaller is better.

        L_c is the likelihood of the data with their most probable labels (Biernacki, Celeux and
        Govaert 2000), so that clusters which overlap are paid for.
        """
        penalty = self.n_parameters * float(np.log(self.n))
        return -2.0 * self.classification_log_likelihood + penalty

    @cached_property
    def parameters(self) -> Parameters:
        """The parameters in the form of the EM algorithm."""
        return Parameters(self.family, np.log(self.weights), self.means, self.concentrations)

    def _facts(self) -> list[tuple[str, object]]:
        asked = self.n_components_asked
        ended = "converged" if self.converged else f"NOT converged (max_iter {self.max_iter})"
        return [
            ("vectors", f"{self.n:,} of dimension {self.dimension}"),
            ("components", f"{self.n_components} of {asked} asked for, {len(self.capped)} capped"),
            ("fit", f"{ended} after {self.n_iter} iterations"),
            ("log-likelihood", f"{self.log_likelihood:,.1f}"),
            ("a vector", f"{self.log_likelihood / self.n:.4f}"),
            ("BIC", f"{self.bic:,.1f}"),
        ]

    def summary(self) -> str:
        """Return what the model is and how its fit went, in lines."""
        from nes_spark.showing import lines

        return lines(f"Mixture on the sphere, {self.family}", self._facts())

    def to_frame(self) -> pd.DataFrame:
        """Return one row a component: weight, concentration, whether it is at the ceiling."""
        import pandas as pd

        capped = [k in self.capped for k in range(self.n_components)]
        columns = {
            "weight": self.weights, "concentration": self.concentrations, "capped": capped,
        }  # fmt: skip
        return pd.DataFrame(columns).rename_axis("component")

    def _repr_html_(self) -> str:
        from nes_spark.showing import table

        return table(f"Mixture on the sphere, {self.family}", self._facts())

    def log_density(self, X: ArrayLike) -> Array:
        """Return the log density of each vector under each component.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Unit vectors.

        Returns
        -------
        ndarray of shape (n, K)
            log f_k(x_i) relative to the uniform distribution, without the weights.

        Raises
        ------
        ValueError
            When X has another dimension or rows that are not finite unit vectors.
        """
        data = UnitVectors(X, "log_density", self.dimension)
        result = np.empty((data.n, self.n_components))
        for rows, block in data.blocks():
            result[rows] = component_log_densities(block, self.parameters).T
        return result

    def predict_log_posterior(self, X: ArrayLike) -> Array:
        """Return log posterior probabilities of the components, shape (n, K)."""
        posterior: Array = log_softmax(self.log_density(X) + np.log(self.weights), axis=1)
        return posterior

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return the most probable component of each vector, shape (n,), from 0."""
        return self.assign(X)[0]

    def score(self, X: ArrayLike) -> float:
        """Return the mean over the vectors of log sum_k pi_k f_k(x)."""
        data = UnitVectors(X, "score", self.dimension)
        if data.n == 0:
            raise parameter_error("score", "X", "at least one row", 0)
        total = 0.0
        for _, block in data.blocks():
            total += float(log_sum_exp(self._joint(block)).sum())
        return total / data.n

    def assign(self, X: ArrayLike) -> tuple[NDArray[np.intp], Array]:
        """Return the most probable component of each vector and the log density under it.

        Both depend on the vector alone, bit for bit, not on the rows it comes with: candidates are
        found by matrix products, but ties to rounding and the densities themselves are computed row
        by row.

        Returns
        -------
        components : ndarray of shape (n,)
        log_densities : ndarray of shape (n,)
        """
        data = UnitVectors(X, "assign", self.dimension)
        labels = np.empty(data.n, dtype=np.intp)
        for rows, block in data.blocks():
            joint = self._joint(block)
            best = joint.argmax(axis=0)
            if self.n_components > 1:
                two = np.partition(joint, self.n_components - 2, axis=0)[-2:]
                close = np.flatnonzero(two[1] - two[0] <= _TIE * np.maximum(1.0, np.abs(two[1])))
                for i in close:
                    exact = self._by_row(
                        np.broadcast_to(block[i], self.means.shape), np.arange(self.n_components)
                    )
                    best[i] = int(np.argmax(exact + self.parameters.log_weights))
            labels[rows] = best
        return labels, self._density_of(data, labels)

    def log_density_at(self, X: ArrayLike, components: ArrayLike) -> Array:
        """Return the log density of each vector under the component named for it.

        The value depends on the vector alone, bit for bit, not on the rows it comes with.

        Parameters
        ----------
        X : array_like of shape (n, d)
            Unit vectors.
        components : array_like of shape (n,)
            Components, from 0.

        Returns
        -------
        ndarray of shape (n,)
        """
        data = UnitVectors(X, "log_density_at", self.dimension)
        labels = np.asarray(components, dtype=np.intp)
        if labels.shape != (data.n,):
            raise parameter_error(
                "log_density_at", "components", f"of shape ({data.n},)", labels.shape
            )
        if len(labels) and (labels.min() < 0 or labels.max() >= self.n_components):
            raise parameter_error(
                "log_density_at",
                "components",
                f"from 0 to {self.n_components - 1}",
                sorted({int(labels.min()), int(labels.max())}),
            )
        return self._density_of(data, labels)

    def _joint(self, block: Array) -> Array:
        log_f = component_log_densities(block, self.parameters)
        log_f += self.parameters.log_weights[:, None]
        return log_f

    def _density_of(self, data: UnitVectors, labels: NDArray[np.intp]) -> Array:
        result = np.empty(data.n)
        for rows, block in data.blocks():
            result[rows] = self._by_row(block, labels[rows])
        return result

    def _by_row(self, block: Array, labels: NDArray[np.intp]) -> Array:
        # half the squared distance is 1 - mu'x without cancellation; einsum sums each row by itself
        offset = block - self.means[labels]
        deficit = 0.5 * np.einsum("ij,ij->i", offset, offset)
        log_f, _ = FAMILIES[self.family].log_density(
            deficit[:, None].copy(), self.concentrations[labels], self.dimension
        )
        return log_f[:, 0]

    def sample(self, n: int, seed: int | str | bytes = 0, return_components: bool = False) -> Any:
        """Draw vectors from the mixture.

        Parameters
        ----------
        n : int
            How many.
        seed : int, str or bytes, optional
            Seed of the draw.
        return_components : bool, optional
            Also return the component of each vector.

        Returns
        -------
        ndarray of shape (n, d)
            Unit vectors; with ``return_components`` a tuple of these and an int array (n,).
        """
        if int(n) != n or n < 0:
            raise parameter_error("sample", "n", "an integer of at least 0", n)
        rng = generator(seed, "mixture sample")
        labels = rng.choice(self.n_components, size=int(n), p=self.weights / self.weights.sum())
        result = rng.standard_normal((int(n), self.dimension))
        family = FAMILIES[self.family]
        for k in range(self.n_components):
            rows = np.flatnonzero(labels == k)
            if not len(rows):
                continue
            t = np.clip(
                family.sample_cosine(len(rows), float(self.concentrations[k]), self.dimension, rng),
                -1.0,
                1.0,
            )
            mean = self.means[k]
            tangent = result[rows]
            tangent -= np.outer(tangent @ mean, mean)
            tangent /= np.sqrt(np.einsum("ij,ij->i", tangent, tangent))[:, None]
            drawn = t[:, None] * mean + np.sqrt((1.0 - t) * (1.0 + t))[:, None] * tangent
            result[rows] = drawn / np.sqrt(np.einsum("ij,ij->i", drawn, drawn))[:, None]
        return (result, labels) if return_components else result

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the model to one file (NumPy's npz with a JSON record; no pickle).

        Parameters
        ----------
        path : path-like
            A file; where it is a folder, ``mixture.npz`` in it.

        Returns
        -------
        pathlib.Path
            The file written.
        """
        target = _file(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        record = {
            "format": _FORMAT,
            **{name: getattr(self, name) for name in _SCALARS},
            "removed": [asdict(r) for r in self.removed],
            "capped": list(self.capped),
            "restarts": [asdict(r) for r in self.restarts],
            "notes": dict(self.notes),
            "n_earlier": len(self.earlier_histories),
        }
        arrays: dict[str, Any] = {name: getattr(self, name) for name in _ARRAYS}
        arrays |= {f"earlier_{i}": h for i, h in enumerate(self.earlier_histories)}
        temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        with open(temporary, "wb") as file:
            np.savez(file, record=np.array(json.dumps(record)), **arrays)
        os.replace(temporary, target)
        return target

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MixtureModel:
        """Read a model that :meth:`save` wrote.

        Raises
        ------
        InputError
            When there is no such file, or it is not a model of a known format.
        """
        target = _file(path)
        try:
            with np.load(target, allow_pickle=False) as content:
                record = json.loads(str(content["record"][()]))
                arrays = {name: content[name] for name in content.files if name != "record"}
        except FileNotFoundError:
            raise InputError(f"{target}: no such mixture model") from None
        except (OSError, ValueError, KeyError, json.JSONDecodeError) as error:
            raise InputError(f"{target}: not a mixture model ({type(error).__name__})") from None
        if record.get("format") != _FORMAT:
            raise InputError(
                f"{target}: mixture model of format {record.get('format')!r}, expected {_FORMAT}"
            )
        return cls(
            **{name: record[name] for name in _SCALARS if name in record or name not in _LATER},
            **{name: arrays[name] for name in _ARRAYS},
            removed=tuple(Removal(**r) for r in record["removed"]),
            earlier_histories=tuple(arrays[f"earlier_{i}"] for i in range(record["n_earlier"])),
            capped=tuple(record["capped"]),
            restarts=tuple(Restart(**r) for r in record["restarts"]),
            notes=record["notes"],
        )


_SCALARS = (
    "family",
    "converged",
    "n_iter",
    "log_likelihood",
    "initial_log_likelihood",
    "classification_log_likelihood",
    "n",
    "n_passes",
    "n_components_asked",
    "min_weight",
    "tol",
    "max_iter",
    "max_radius",
    "best_restart",
    "document_penalty",
    "cost",
)
#: Not in the files of earlier versions, which fitted without them.
_LATER = ("document_penalty", "cost")
_ARRAYS = ("weights", "means", "concentrations", "history")


def _file(path: str | os.PathLike[str]) -> Path:
    target = Path(path)
    return target / "mixture.npz" if target.is_dir() else target
