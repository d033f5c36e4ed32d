"""Fitting a mixture to vectors in memory, and what any fit shares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nes_spark.errors import EstimationError, parameter_error
from nes_spark.mixture.documents import whole_documents
from nes_spark.mixture.em import (
    Evaluator,
    Parameters,
    Removal,
    Run,
    Statistics,
    added,
    block_statistics,
    component_log_densities,
    run_all,
)
from nes_spark.mixture.families import FAMILIES, MAX_RADIUS, Array
from nes_spark.mixture.initial import generator, is_thinned, sample_size, start
from nes_spark.mixture.model import MixtureModel, Restart
from nes_spark.mixture.settings import MixtureSetting
from nes_spark.mixture.vectors import UnitVectors


def check_options(
    owner: str,
    family: str,
    n_components: int,
    min_weight: float,
    n_init: int,
    max_iter: int,
    tol: float,
) -> None:
    """Refuse options outside their ranges with a message that names them."""
    if family not in FAMILIES:
        raise parameter_error(owner, "family", f"one of {sorted(FAMILIES)}", family)
    for name, value in (("n_components", n_components), ("n_init", n_init), ("max_iter", max_iter)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise parameter_error(owner, name, "an integer of at least 1", value)
    if not 0.0 <= min_weight < 1.0:
        raise parameter_error(owner, "min_weight", "a number in [0, 1)", min_weight)
    if not (tol > 0.0 and np.isfinite(tol)):
        raise parameter_error(owner, "tol", "a positive number", tol)


#: Starts and the components that they could not give, by family, components and restart.
Starts = dict[tuple[str, int, int], tuple[Parameters, list[Removal]]]


def begin(
    setting: MixtureSetting,
    sample: Array,
    n_init: int,
    max_iter: int,
    tol: float,
    seed: int | str | bytes,
    warm_start: MixtureModel | None = None,
    accelerate: bool = True,
    max_radius: float = MAX_RADIUS,
    known: Starts | None = None,
) -> list[Run]:
    """Return the runs of one setting, ready to be advanced.

    Parameters
    ----------
    setting : MixtureSetting
    sample : ndarray of shape (m, d)
        Vectors that the starts are chosen from, in double precision.
    n_init, max_iter, tol, seed
        As in :func:`fit_mixture`.
    warm_start : MixtureModel, optional
        An earlier model, the start of one more run.
    accelerate : bool, optional
        False for plain EM.
    max_radius : float, optional
        Ceiling of the concentration.
    known : dict, optional
        Starts by family, number of components and restart, of this sample, seed and ceiling: used
        and added to. Settings that differ in the smallest weight alone have the same starts.

    Returns
    -------
    list of Run
    """
    runs = []
    options = {
        "min_weight": setting.min_weight,
        "max_iter": max_iter,
        "tol": tol,
        "accelerate": accelerate,
        "max_radius": max_radius,
    }
    if warm_start is not None:
        if warm_start.family != setting.family or warm_start.dimension != sample.shape[1]:
            raise parameter_error(
                "fit_mixture",
                "warm_start",
                f"a {setting.family} model in {sample.shape[1]} dimensions",
                f"{warm_start.family} in {warm_start.dimension} dimensions",
            )
        runs.append(Run(warm_start.parameters, name="warm", **options))  # type: ignore[arg-type]
    for restart in range(n_init):
        key = (setting.family, setting.n_components, restart)
        if known is None or key not in known:
            rng = generator(seed, "mixture start", *key)
            thinned = is_thinned(restart)
            found = start(sample, setting.family, setting.n_components, max_radius, rng, thinned)
            if known is not None:
                known[key] = found
        else:
            found = known[key]
        parameters, removed = found
        runs.append(
            Run(parameters, name=f"seed-{restart}", removed=list(removed), **options)  # type: ignore[arg-type]
        )
    return runs


def capped(parameters: Parameters, max_radius: float) -> tuple[int, ...]:
    """Return the components at the ceiling of the concentration."""
    d = parameters.means.shape[1]
    radius = FAMILIES[parameters.family].radius(parameters.concentrations, d)
    return tuple(int(k) for k in np.flatnonzero(1.0 - radius <= 1.01 * (1.0 - max_radius)))


def finish(
    setting: MixtureSetting, runs: Sequence[Run], n: int, document_penalty: float = 0.0
) -> MixtureModel:
    """Return the model of the run with the greatest likelihood; all runs are reported in it.

    Raises
    ------
    EstimationError
        When no restart has a finite likelihood.
    """
    restarts = tuple(
        Restart(
            run.name,
            run.log_likelihood,
            run.accepted.n_components,
            run.converged,
            run.n_iter,
            run.n_passes,
            run.n_rejected,
            len(run.removed),
            len(capped(run.accepted, run.max_radius)),
            run.cost,
        )
        for run in runs
    )
    values = np.array([run.objective for run in runs])
    if not np.isfinite(values).any():
        raise EstimationError(
            f"mixture {setting.name}: no restart has a finite likelihood", "mixture_not_finite"
        )
    best = int(np.nanargmax(values))
    run = runs[best]
    parameters = run.accepted
    weights = np.exp(parameters.log_weights)
    return MixtureModel(
        family=setting.family,
        weights=weights / weights.sum(),
        means=parameters.means,
        concentrations=parameters.concentrations,
        converged=run.converged,
        n_iter=run.n_iter,
        history=np.array(run.history, dtype=np.float64),
        log_likelihood=run.log_likelihood,
        initial_log_likelihood=float("nan") if run.initial is None else run.initial,
        classification_log_likelihood=run.classification,
        n=n,
        n_passes=run.n_passes,
        n_components_asked=setting.n_components,
        min_weight=setting.min_weight,
        tol=run.tol,
        max_iter=run.max_iter,
        max_radius=run.max_radius,
        removed=tuple(run.removed),
        earlier_histories=tuple(np.array(h, dtype=np.float64) for h in run.earlier),
        capped=capped(parameters, run.max_radius),
        restarts=restarts,
        best_restart=best,
        document_penalty=float(document_penalty),
        cost=run.cost,
    )


def effective_documents(labels: NDArray[Any], documents: NDArray[Any], k: int) -> Array:
    """Return the effective number of documents of each component, shape (k,).

    It is the inverse Herfindahl index n_k^2 / sum_g n_kg^2 of the chunks n_kg that document g has
    in the component: 1 when all are from one document, G when G documents share it equally; 0 for a
    component without chunks.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Component of each chunk.
    documents : ndarray of shape (n,)
        Document of each chunk, any labels.
    k : int
        Number of components.
    """
    _, codes = np.unique(documents, return_inverse=True)
    pairs, counts = np.unique(
        np.stack([np.asarray(labels, dtype=np.int64), codes.astype(np.int64)]),
        axis=1,
        return_counts=True,
    )
    total = np.bincount(pairs[0], weights=counts, minlength=k)
    squares = np.bincount(pairs[0], weights=counts.astype(np.float64) ** 2, minlength=k)
    return np.where(total > 0, total**2 / np.where(total > 0, squares, 1.0), 0.0)


def by_document(documents: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return an order of rows that puts documents together, and the first row of each in it."""
    _, codes, sizes = np.unique(documents, return_inverse=True, return_counts=True)
    order = np.argsort(codes.reshape(-1), kind="stable")
    return order, np.cumsum(sizes) - sizes


Effective = Callable[[list[Parameters]], list[Array]]


def run_to_end(
    runs: Sequence[Run],
    evaluate: Evaluator,
    min_documents: float = 0.0,
    effective: Effective | None = None,
) -> None:
    """Advance runs to their ends, and remove components made of too few documents.

    This is the strict way to keep chunks of one document from forming a cluster (paper, end of
    section 2.2.1; the lenient one is in :mod:`nes_spark.mixture.documents`): after a run has ended,
    components whose effective number of documents is below ``min_documents`` are taken out, and the
    run goes on without them, until there is none.

    Parameters
    ----------
    runs : sequence of Run
    evaluate : callable
        See :func:`nes_spark.mixture.em.run_all`.
    min_documents : float, optional
        0 for no removal.
    effective : callable, optional
        Takes a list of parameters and returns effective numbers of documents of their components.
    """
    run_all(runs, evaluate)
    open_runs = list(runs) if min_documents > 0 and effective is not None else []
    while open_runs and effective is not None:
        again = []
        found = effective([r.accepted for r in open_runs])
        for run, numbers in zip(open_runs, found, strict=True):
            few = numbers < min_documents
            if few.all():
                few[int(np.argmax(numbers))] = False
            if few.any():
                run.drop([int(k) for k in np.flatnonzero(few)], "documents")
                again.append(run)
        run_all(again, evaluate)
        open_runs = again


def most_probable(block: Array, parameters: Parameters) -> NDArray[np.intp]:
    """Return the most probable component of each row of a block in double precision."""
    joint = component_log_densities(block, parameters)
    joint += parameters.log_weights[:, None]
    return joint.argmax(axis=0)


def in_memory_pass(
    data: UnitVectors,
    mixtures: list[Parameters],
    starts: NDArray[np.intp] | None = None,
    price: float = 0.0,
) -> list[Statistics]:
    """Return the statistics of several mixtures over all vectors in memory.

    ``starts`` and ``price`` are those of :func:`nes_spark.mixture.em.block_statistics` for all rows
    together, which then must be sorted by document.
    """
    totals: list[Statistics] | None = None
    blocks: Iterable[tuple[Array, NDArray[np.intp] | None]]
    if starts is None:
        blocks = ((block, None) for _, block in data.blocks())
    else:
        blocks = (
            (data.take(slice(first, end)), of_block)
            for first, end, of_block in whole_documents(starts, data.n, data.rows)
        )
    for block, of_block in blocks:
        totals = added(totals, block_statistics(block, mixtures, of_block, price))
    if totals is None:
        raise EstimationError("a mixture needs at least one vector", "no_vectors")
    return totals


def fit_mixture(
    X: ArrayLike,
    family: str,
    n_components: int,
    min_weight: float = 0.0,
    n_init: int = 1,
    max_iter: int = 500,
    tol: float = 1e-6,
    seed: int | str | bytes = 0,
    *,
    warm_start: MixtureModel | None = None,
    documents: ArrayLike | None = None,
    min_documents: float = 0.0,
    document_penalty: float = 0.0,
    accelerate: bool = True,
    max_radius: float = MAX_RADIUS,
) -> MixtureModel:
    """Fit a mixture on the unit sphere by maximum likelihood (paper, section 2.2.3).

    Parameters
    ----------
    X : array_like of shape (n, d)
        Unit vectors, d >= 2, single or double precision. All arithmetic is in double precision.
    family : str
        ``"pkb"`` (Poisson kernel), ``"spcauchy"`` (spherical Cauchy) or ``"vmf"`` (von
        Mises-Fisher).
    n_components : int
        Number of components K; fewer are returned when some are removed.
    min_weight : float, optional
        Components whose weight falls below are removed, the rest renormalised. Recorded in
        ``removed``.
    n_init : int, optional
        Restarts from different starts (:mod:`nes_spark.mixture.initial`); the best likelihood is
        kept.
    max_iter : int, optional
        Most EM iterations (passes over the data after the first) of a restart.
    tol : float, optional
        A restart has converged when a plain EM step gains at most ``tol`` times the log-likelihood
        (``tol`` itself where the log-likelihood is below one).
    seed : int, str or bytes, optional
        Seed of the starts.
    warm_start : MixtureModel, optional
        An earlier model of the same family and dimension: the start of one more restart.
    documents : array_like of shape (n,), optional
        Document of each vector, any labels; needed for ``min_documents`` and ``document_penalty``.
    min_documents : float, optional
        Components whose effective number of documents is below are removed (see
        :func:`effective_documents`); 0 for no such removal.
    document_penalty : float, optional
        What a chunk pays, in nats of log density, in a component made of its own document alone,
        and in proportion to the share of its document in others; the penalised likelihood of
        :mod:`nes_spark.mixture.documents` is then maximised. 0 for no penalty.
    accelerate : bool, optional
        Whether to extrapolate between EM steps (Nesterov's momentum, kept only when the
        likelihood does not fall).
    max_radius : float, optional
        Ceiling of the concentration: of rho, or of A_d(kappa) for ``vmf``.

    Returns
    -------
    MixtureModel

    Raises
    ------
    ValueError
        For options outside their ranges, and for rows that are not finite unit vectors; their
        numbers are in the message.

    Examples
    --------
    >>> import numpy as np
    >>> angles = np.concatenate([np.linspace(0, 0.3, 20), np.linspace(2, 2.3, 20)])
    >>> model = fit_mixture(np.column_stack([np.cos(angles), np.sin(angles)]), "pkb", 2)
    >>> model.converged, model.weights.round(2).tolist()
    (True, [0.5, 0.5])
    """
    check_options("fit_mixture", family, n_components, min_weight, n_init, max_iter, tol)
    if not 0.0 < max_radius <= MAX_RADIUS:
        raise parameter_error("fit_mixture", "max_radius", f"in (0, {MAX_RADIUS}]", max_radius)
    data = UnitVectors(X, "fit_mixture")
    if data.n == 0:
        raise parameter_error("fit_mixture", "X", "at least one row", "none")
    size = sample_size(n_components)
    rows: Any = slice(None)
    if data.n > size:
        rng = generator(seed, "mixture sample rows")
        rows = np.sort(rng.choice(data.n, size=size, replace=False))
    setting = MixtureSetting(family, int(n_components), float(min_weight))
    groups = None
    if documents is not None:
        groups = np.asarray(documents)
        if groups.shape != (data.n,):
            raise parameter_error("fit_mixture", "documents", f"of shape ({data.n},)", groups.shape)
    if not (document_penalty >= 0.0 and np.isfinite(document_penalty)):
        raise parameter_error(
            "fit_mixture", "document_penalty", "a number of at least 0", document_penalty
        )
    for name, value in (("min_documents", min_documents), ("document_penalty", document_penalty)):
        if value > 0 and groups is None:
            raise parameter_error("fit_mixture", "documents", f"given with {name}", None)
    runs = begin(
        setting,
        data.take(rows),
        n_init,
        max_iter,
        tol,
        seed,
        warm_start,
        accelerate,
        max_radius,
    )
    fit_runs_in_memory(runs, data, min_documents, groups, document_penalty)
    return finish(setting, runs, data.n, document_penalty)


def fit_runs_in_memory(
    runs: Sequence[Run],
    data: UnitVectors,
    min_documents: float = 0.0,
    documents: NDArray[Any] | None = None,
    document_penalty: float = 0.0,
) -> None:
    """Advance runs to their ends on vectors in memory; see :func:`run_to_end`."""

    known = np.empty(0) if documents is None else documents
    starts: NDArray[np.intp] | None = None
    if document_penalty > 0.0:
        order, starts = by_document(known)
        data = UnitVectors(data.array[order], "fit_mixture")
        known = known[order]
    price = document_penalty / data.n
    data.prepare()

    def effective(mixtures: list[Parameters]) -> list[Array]:
        labels = np.empty((len(mixtures), data.n), dtype=np.intp)
        for rows, block in data.blocks():
            for j, parameters in enumerate(mixtures):
                labels[j, rows] = most_probable(block, parameters)
        return [
            effective_documents(labels[j], known, parameters.n_components)
            for j, parameters in enumerate(mixtures)
        ]

    run_to_end(
        runs,
        lambda mixtures: in_memory_pass(data, mixtures, starts, price),
        min_documents,
        effective if documents is not None else None,
    )
