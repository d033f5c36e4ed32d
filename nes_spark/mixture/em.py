"""The EM algorithm for mixtures on the sphere: one pass, one state machine, every family.

:func:`block_statistics` turns a block of vectors into sufficient statistics for any number of
mixtures at once; :class:`Run` consumes the summed statistics of one mixture, decides what to
evaluate next, and knows when it is done. Where the blocks live (memory, Spark partitions) is none
of their business: the same two parts make the in-memory and the distributed fit. The derivation of
the update is in :mod:`nes_spark.mixture.families`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from nes_spark.mixture.documents import penalised_responsibilities, penalised_weights
from nes_spark.mixture.families import FAMILIES, MAX_RADIUS, Array
from nes_spark.mixture.logs import log_sum_exp, normalise

#: For sharp components, 1 - mu'x below this is computed directly.
_NEAR = 1e-5
#: Steps of momentum are at most 1 / (1 - this) times as long as plain ones.
_MOST_MOMENTUM = 0.95
#: In the penalty on documents, lighter components cost as if they had this weight.
_LEAST_WEIGHT = 1e-12


@dataclass(frozen=True)
class Parameters:
    """The parameters of one mixture with K components in d dimensions.

    Attributes
    ----------
    family : str
        A name in :data:`nes_spark.mixture.families.FAMILIES`.
    log_weights : ndarray of shape (K,)
        Logs of the mixture weights, which sum to one.
    means : ndarray of shape (K, d)
        Unit vectors.
    concentrations : ndarray of shape (K,)
        rho in [0, 1), or kappa >= 0 for ``vmf``.
    """

    family: str
    log_weights: Array
    means: Array
    concentrations: Array

    @property
    def n_components(self) -> int:
        """Number of components K."""
        return len(self.log_weights)

    def keep(self, which: NDArray[np.bool_]) -> Parameters:
        """Return the mixture of the chosen components with renormalised weights."""
        log_weights = self.log_weights[which]
        return Parameters(
            self.family,
            log_weights - log_sum_exp(log_weights),
            self.means[which],
            self.concentrations[which],
        )


@dataclass
class Statistics:
    """Sufficient statistics of one pass for one mixture; they add up over blocks.

    Attributes
    ----------
    log_likelihood, classification : float
        Sums over the points of log sum_k pi_k f_k and of max_k log pi_k f_k.
    mass, weight : ndarray of shape (K,)
        N = sum b and W = sum w.
    direction : ndarray of shape (K, d)
        S = sum w x.
    cost : float
        What the penalty on documents takes from the log-likelihood; 0 without.
    shares : ndarray of shape (K,)
        h = lambda / (2 n) sum_g n_gk^2 of that penalty (:mod:`nes_spark.mixture.documents`).
    """

    log_likelihood: float
    classification: float
    mass: Array
    weight: Array
    direction: Array
    cost: float
    shares: Array

    @property
    def objective(self) -> float:
        """What the fit maximises: the log-likelihood less the penalty."""
        return self.log_likelihood - self.cost

    def add(self, other: Statistics) -> None:
        """Add the statistics of another block to these."""
        self.log_likelihood += other.log_likelihood
        self.classification += other.classification
        self.mass += other.mass
        self.weight += other.weight
        self.direction += other.direction
        self.cost += other.cost
        self.shares += other.shares


def added(totals: list[Statistics] | None, parts: list[Statistics]) -> list[Statistics]:
    """Return the statistics of all blocks so far, for each mixture; those before change in place.

    Parameters
    ----------
    totals : list of Statistics or None
        Of the blocks before; None before the first.
    parts : list of Statistics
        Of the next block.
    """
    if totals is None:
        return parts
    for total, part in zip(totals, parts, strict=True):
        total.add(part)
    return totals


def _deficits(cosine: Array, block: Array, parameters: Parameters) -> Array:
    """Turn mu'x (K, n) into 1 - mu'x in place, exact also for points next to a sharp component.

    A matrix product leaves an error of some 1e-16 in 1 - mu'x, which is all there is to see at a
    distance of 1e-8. For components that sharp, ||x - mu||^2 / 2 is formed where it is that small.
    """
    deficit = np.subtract(1.0, cosine, out=cosine)
    for k in np.flatnonzero(FAMILIES[parameters.family].sharp(parameters.concentrations)):
        near = np.flatnonzero(deficit[k] < _NEAR)
        for start in range(0, len(near), 1024):
            rows = near[start : start + 1024]
            offset = block[rows] - parameters.means[k]
            deficit[k, rows] = 0.5 * np.einsum("ij,ij->i", offset, offset)
    np.maximum(deficit, 0.0, out=deficit)
    return deficit


def component_log_densities(block: Array, parameters: Parameters) -> Array:
    """Return log f_k(x_i) relative to the uniform distribution, shape (K, n).

    Parameters
    ----------
    block : ndarray of shape (n, d)
        Unit vectors in double precision.
    parameters : Parameters
    """
    deficit = _deficits(parameters.means @ block.T, block, parameters)
    family = FAMILIES[parameters.family]
    return family.log_density(deficit, parameters.concentrations, block.shape[1])[0]


def block_statistics(
    block: Array,
    mixtures: Sequence[Parameters],
    starts: NDArray[np.intp] | None = None,
    price: float = 0.0,
) -> list[Statistics]:
    """Return the statistics of a block for several mixtures: one E-step each.

    Parameters
    ----------
    block : ndarray of shape (n, d)
        Unit vectors in double precision; a few hundred rows stay in cache.
    mixtures : sequence of Parameters
    starts : ndarray of shape (m,), optional
        With a penalty on documents: first rows of the documents, each of them whole in the block.
    price : float, optional
        lambda / n of that penalty.

    Returns
    -------
    list of Statistics
        In the order of ``mixtures``.
    """
    d = block.shape[1]
    sizes = [m.n_components for m in mixtures]
    ends = np.cumsum(sizes)
    # one product for all mixtures: the block is read from memory once
    cosine = np.concatenate([m.means for m in mixtures]) @ block.T
    factors = np.empty_like(cosine)
    partial = []
    for m, size, end in zip(mixtures, sizes, ends, strict=True):
        rows = slice(end - size, end)
        deficit = _deficits(cosine[rows], block, m)
        b, u = FAMILIES[m.family].log_density(deficit, m.concentrations, d)
        b += m.log_weights[:, None]
        penalised = None
        if starts is not None and price > 0.0:
            costs = price / np.maximum(np.exp(m.log_weights), _LEAST_WEIGHT)
            penalised = penalised_responsibilities(b, starts, costs)
        likelihood, top = normalise(b, axis=0)
        log_likelihood, cost, shares = float(likelihood.sum()), 0.0, np.zeros(size)
        if penalised is not None:
            b, value, squares = penalised
            cost, shares = log_likelihood - value, 0.5 * price * squares
        w = b if u is None else np.divide(b, u, out=u)
        factors[rows] = w
        mass = b.sum(axis=1)
        weight = mass if u is None else w.sum(axis=1)
        partial.append((log_likelihood, float(top.sum()), mass, weight, cost, shares))
    direction = factors @ block
    return [
        Statistics(
            likelihood,
            top_sum,
            mass,
            weight.copy(),
            direction[end - size : end].copy(),
            cost,
            shares,
        )
        for (likelihood, top_sum, mass, weight, cost, shares), size, end in zip(
            partial, sizes, ends, strict=True
        )
    ]


def maximise(statistics: Statistics, present: Parameters, max_radius: float) -> Parameters:
    """Return the parameters that maximise the surrogate of the statistics (M-step).

    A component without any mass keeps its mean and concentration and gets weight zero.
    """
    d = present.means.shape[1]
    length = np.sqrt(np.einsum("kj,kj->k", statistics.direction, statistics.direction))
    known = (length > 0.0) & np.isfinite(length) & (statistics.mass > 0.0)
    scale = np.where(known, length, 1.0)[:, None]
    means = np.where(known[:, None], statistics.direction / scale, present.means)
    concentrations = FAMILIES[present.family].update(
        statistics.mass, statistics.weight, length, d, max_radius
    )
    weights = statistics.mass / statistics.mass.sum()
    if statistics.shares.any():
        weights = penalised_weights(statistics.mass, statistics.shares)
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    return Parameters(present.family, log_weights, means, concentrations)


@dataclass(frozen=True)
class Removal:
    """A component that was taken out of a mixture.

    Attributes
    ----------
    component : int
        Its position at the start of the restart, from 0.
    n_pass : int
        After how many passes over the data; 0 before the first.
    weight : float
        Its weight at that time.
    log_likelihood : float or None
        Log-likelihood of the mixture that still had it; None before the first pass.
    reason : str
        ``"weight"`` (below the smallest weight allowed), ``"no_distinct_point"`` (fewer distinct
        points than components were asked for) or ``"documents"`` (too few documents in it).
    """

    component: int
    n_pass: int
    weight: float
    log_likelihood: float | None
    reason: str


class _Momentum:
    """Nesterov's momentum on the EM map: go on in the direction of the last change of the image.

    The factor (t - 1) / (t + 2) grows with the steps since the last restart (Nesterov 1983); a fall
    of the likelihood restarts it (O'Donoghue and Candes 2015). On text embeddings the
    responsibilities are close to 0 and 1, and EM creeps because points change sides one after the
    other while the means drift: methods that fit a linear contraction to past steps (Anderson,
    SQUAREM) then gain little, whereas momentum follows the drift.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.image: Array | None = None
        self.steps = 0

    def propose(self, image: Array) -> Array | None:
        """Return the extrapolated position, or None when there is nothing to extrapolate from."""
        last, self.image = self.image, image
        self.steps += 1
        if last is None or self.steps < 2:
            return None
        factor = min(_MOST_MOMENTUM, (self.steps - 1.0) / (self.steps + 2.0))
        return image + factor * (image - last)


@dataclass
class Run:
    """One EM fit from one start: a state machine that is fed statistics.

    With a penalty on documents, "likelihood" below means the penalised one, which the fit then
    maximises; :attr:`log_likelihood` is the plain one in any case.

    Evaluate ``trial`` on all data, hand the summed statistics to :meth:`advance`, repeat while
    ``active``. A plain EM step never lowers the likelihood; an accelerated step is kept only when
    it does not, and otherwise the plain step that it replaced is taken. The fit has converged when
    a plain EM step gains at most ``tol`` relative to the log-likelihood (and never because a limit
    was reached).

    Attributes
    ----------
    trial : Parameters
        What to evaluate next.
    accepted : Parameters
        The best so far; its log-likelihood is the last entry of ``history``.
    history : list of float
        Likelihood after each accepted step since the last removal; it does not fall.
    initial : float or None
        Log-likelihood where ``history`` began.
    earlier : list of list of float
        The stretches before each removal, each with the value it began with.
    removed : list of Removal
    """

    trial: Parameters
    min_weight: float = 0.0
    max_iter: int = 500
    tol: float = 1e-6
    accelerate: bool = True
    max_radius: float = MAX_RADIUS
    name: str = "seeded"
    removed: list[Removal] = field(default_factory=list)
    history: list[float] = field(default_factory=list)
    earlier: list[list[float]] = field(default_factory=list)
    n_passes: int = 0
    n_rejected: int = 0
    active: bool = True
    converged: bool = False
    classification: float = np.nan
    initial: float | None = None
    cost: float = 0.0

    def __post_init__(self) -> None:
        self.labels = np.arange(self.trial.n_components)
        self.accepted = self.trial
        self._value: float | None = None
        self._likelihood = np.nan
        self._plain = True
        self._image = self.trial
        self._memory = _Momentum()

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of ``accepted``, without any penalty."""
        return float("nan") if self._value is None else self._likelihood

    @property
    def objective(self) -> float:
        """What the fit maximises, at ``accepted``: the log-likelihood less the penalty."""
        return float("nan") if self._value is None else self._value

    @property
    def n_iter(self) -> int:
        """Accepted steps since the last removal; the length of ``history``."""
        return len(self.history)

    def _without_light(self, parameters: Parameters) -> Parameters:
        """Remove components below the smallest weight, at most that much weight at a time.

        Components without any weight always go. Removing the lightest first leaves its points to
        the others, which may lift them above the bound.
        """
        weights = np.exp(parameters.log_weights)
        order = np.argsort(weights, kind="stable")
        gone = (weights[order] == 0.0) | (np.cumsum(weights[order]) < self.min_weight)
        if not gone[0] and weights[order[0]] < self.min_weight:
            gone[0] = True
        gone[-1] = False
        if not gone.any():
            return parameters
        return self._remove(parameters, order[gone], "weight")

    def _remove(self, parameters: Parameters, which: NDArray[np.intp], reason: str) -> Parameters:
        weights = np.exp(parameters.log_weights)
        known = None if self._value is None else self._likelihood
        for k in which:
            self.removed.append(
                Removal(int(self.labels[k]), self.n_passes, float(weights[k]), known, reason)
            )
        keep = np.ones(parameters.n_components, dtype=bool)
        keep[which] = False
        self.labels = self.labels[keep]
        if self.initial is not None:
            self.earlier.append([self.initial, *self.history])
        self.history, self.initial = [], None
        self._value = None
        self._memory.reset()
        return parameters.keep(keep)

    def drop(self, which: Sequence[int], reason: str) -> None:
        """Remove components of the accepted mixture and go on from there."""
        self.trial = self._remove(self.accepted, np.asarray(which, dtype=np.intp), reason)
        self._plain, self.active, self.converged = True, True, False

    def _gain_is_small(self, before: float, after: float) -> bool:
        return after - before <= self.tol * max(min(abs(before), abs(after)), 1.0)

    def _accept(self, value: float, statistics: Statistics) -> None:
        self.accepted, self._value = self.trial, value
        self._likelihood, self.cost = statistics.log_likelihood, statistics.cost
        self.classification = statistics.classification

    def advance(self, statistics: Statistics) -> None:
        """Take the statistics of ``trial`` over all data and choose the next trial."""
        self.n_passes += 1
        value, before = statistics.objective, self._value
        small = False
        if before is None:
            self._accept(value, statistics)
            self.initial = value
        elif not value >= before:
            if not self._plain:
                # an extrapolation that went wrong: take the EM step that it replaced
                self.n_rejected += 1
                self._memory.reset()
                self.trial, self._plain = self._image, True
                self.active = self.n_passes <= self.max_iter
                return
            # a plain step cannot fall but by rounding: nothing is left to gain, stay where we are
            self.history.append(before)
            self.converged = self._gain_is_small(value, before)
            self.active = False
            return
        else:
            small = self._gain_is_small(before, value)
            self.history.append(value)
            self._accept(value, statistics)
            if small and self._plain:
                self.converged, self.active = True, False
                return
        if self.n_passes > self.max_iter:
            self.active = False
            return
        self._image = maximise(statistics, self.accepted, self.max_radius)
        count = self._image.n_components
        self.trial = self._image = self._without_light(self._image)
        self._plain = True
        if count == self._image.n_components and self.accelerate:
            proposal = self._accelerated()
            # a small gain of an accelerated step proves nothing: let a plain step confirm it
            if proposal is not None and not small:
                self.trial, self._plain = proposal, False

    def _coordinates(self, parameters: Parameters, d: int) -> Array:
        radius = FAMILIES[parameters.family].radius(parameters.concentrations, d)
        return np.concatenate(
            [parameters.log_weights, (radius[:, None] * parameters.means).ravel()]
        )

    def _accelerated(self) -> Parameters | None:
        present, image = self.accepted, self._image
        k, d = present.means.shape
        family = FAMILIES[present.family]
        if not np.isfinite(image.log_weights).all():
            return None
        goal = self._memory.propose(self._coordinates(image, d))
        if goal is None or not np.isfinite(goal).all():
            return None
        log_weights = goal[:k] - log_sum_exp(goal[:k])
        position = goal[k:].reshape(k, d)
        radius = np.sqrt(np.einsum("kj,kj->k", position, position))
        # where the extrapolation left the ball, the component takes the plain step
        outside = radius >= self.max_radius
        usable = (radius > 0.0) & ~outside
        if np.exp(log_weights.min()) < self.min_weight:
            return None
        means = np.where(
            usable[:, None], position / np.where(usable, radius, 1.0)[:, None], image.means
        )
        concentrations = np.where(
            usable,
            family.from_radius(np.where(usable, radius, 0.0), d),
            np.where(outside, image.concentrations, 0.0),
        )
        return replace(present, log_weights=log_weights, means=means, concentrations=concentrations)


Evaluator = Callable[[list[Parameters]], list[Statistics]]


def run_all(runs: Sequence[Run], evaluate: Evaluator) -> None:
    """Advance all runs together until none is active: one pass over the data serves all of them.

    Parameters
    ----------
    runs : sequence of Run
        Any settings and restarts, of the same data.
    evaluate : callable
        Takes a list of parameters and returns their statistics over all data.
    """
    while True:
        active = [run for run in runs if run.active]
        if not active:
            return
        for run, statistics in zip(active, evaluate([r.trial for r in active]), strict=True):
            run.advance(statistics)
