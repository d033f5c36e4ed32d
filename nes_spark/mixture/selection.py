"""Which mixture, and what is in it: information criteria and a description of the components."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nes_spark.errors import parameter_error
from nes_spark.mixture.fit import effective_documents
from nes_spark.mixture.model import MixtureModel


@dataclass(frozen=True)
class Selection:
    """One row of the model comparison.

    Attributes
    ----------
    setting, family : str
    n_components_asked, n_components : int
        As configured, and left after removals.
    log_likelihood : float
    n_parameters : int
    bic, icl : float
        Smaller is better.
    converged : bool
    n_passes, n_removed, n_capped : int
    best_bic, best_icl : bool
        Whether this setting has the smallest value among those that converged.
    """

    setting: str
    family: str
    n_components_asked: int
    n_components: int
    log_likelihood: float
    n_parameters: int
    bic: float
    icl: float
    converged: bool
    n_passes: int
    n_removed: int
    n_capped: int
    best_bic: bool
    best_icl: bool


def compare(models: Mapping[str, MixtureModel]) -> list[Selection]:
    """Compare models of the same vectors by BIC and ICL.

    Parameters
    ----------
    models : mapping of str to MixtureModel
        By setting. Densities of all families are relative to the same uniform distribution, so that
        families may be compared with each other.

    Returns
    -------
    list of Selection
        In the order of ``models``. Models that did not converge, or with components closed on a
        point (whose likelihood has no meaning), are never marked as best.

    Raises
    ------
    ValueError
        When the models were fitted to different numbers of vectors.
    """
    sizes = {m.n for m in models.values()}
    if len(sizes) > 1:
        raise parameter_error(
            "compare", "models", "fitted to the same vectors", f"n = {sorted(sizes)}"
        )
    sound = [name for name, m in models.items() if m.converged and not m.capped]
    best_bic = min(sound, key=lambda name: models[name].bic, default=None)
    best_icl = min(sound, key=lambda name: models[name].icl, default=None)
    return [
        Selection(
            setting=name,
            family=m.family,
            n_components_asked=m.n_components_asked,
            n_components=m.n_components,
            log_likelihood=m.log_likelihood,
            n_parameters=m.n_parameters,
            bic=m.bic,
            icl=m.icl,
            converged=m.converged,
            n_passes=m.n_passes,
            n_removed=len(m.removed),
            n_capped=len(m.capped),
            best_bic=name == best_bic,
            best_icl=name == best_icl,
        )
        for name, m in models.items()
    ]


@dataclass(frozen=True)
class ComponentSummary:
    """What one component holds.

    Attributes
    ----------
    component : int
    weight, concentration : float
    capped : bool
        Whether it closed on one point.
    n_chunks, n_documents : int
        Chunks assigned to it, and documents these are from.
    effective_documents : float
        Inverse Herfindahl index of its chunks over documents.
    can_swap : bool
        False when its chunks are from fewer than two documents: none of them can ever be swapped.
    typical : tuple of str
        Ids of the chunks with the greatest log density, best first.
    """

    component: int
    weight: float
    concentration: float
    capped: bool
    n_chunks: int
    n_documents: int
    effective_documents: float
    can_swap: bool
    typical: tuple[str, ...]


def summarize(
    model: MixtureModel,
    chunk_ids: Sequence[str],
    documents: Sequence[Any],
    components: ArrayLike,
    log_densities: ArrayLike,
    typical: int = 3,
) -> list[ComponentSummary]:
    """Describe the components of a model by the chunks assigned to them.

    Parameters
    ----------
    model : MixtureModel
    chunk_ids, documents : sequence of length n
        Ids of the chunks and of the documents they are from.
    components, log_densities : array_like of shape (n,)
        What :meth:`MixtureModel.assign` returned for them.
    typical : int, optional
        How many of the most typical chunks are named.

    Returns
    -------
    list of ComponentSummary
        One for each component, also for those without chunks.
    """
    ids = np.asarray(chunk_ids, dtype=object)
    names = np.asarray(documents)
    labels = np.asarray(components, dtype=np.intp)
    density = np.asarray(log_densities, dtype=np.float64)
    if not len(ids) == len(names) == len(labels) == len(density):
        raise parameter_error(
            "summarize",
            "chunk_ids",
            "as long as documents, components and log_densities",
            [len(ids), len(names), len(labels), len(density)],
        )
    effective = (
        effective_documents(labels, names, model.n_components)
        if len(labels)
        else np.zeros(model.n_components)
    )
    result = []
    for k in range(model.n_components):
        members = np.flatnonzero(labels == k)
        order = sorted(members, key=lambda i: (-density[i], ids[i]))
        n_documents = len(set(names[members].tolist()))
        result.append(
            ComponentSummary(
                component=k,
                weight=float(model.weights[k]),
                concentration=float(model.concentrations[k]),
                capped=k in model.capped,
                n_chunks=len(members),
                n_documents=n_documents,
                effective_documents=float(effective[k]),
                can_swap=n_documents >= 2,
                typical=tuple(str(ids[i]) for i in order[:typical]),
            )
        )
    return result
