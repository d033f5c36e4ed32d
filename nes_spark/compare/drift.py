"""What changed in the texts from one run to another: vocabulary of entities, mixture components.

Only counts and weights come out of here, never a name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from nes_spark.mixture import MixtureModel
    from nes_spark.run.published import PublishedRun
    from nes_spark.store import Store


@dataclass(frozen=True)
class VocabularyDrift:
    """How the entities of one category differ between two runs.

    Attributes
    ----------
    before, after : int
        Distinct entities.
    shared : int
        Entities found in both.
    jaccard : float or None
        Shared over all distinct entities, 0 to 1; None where both have none.
    divergence : float or None
        Jensen-Shannon divergence of the shares of mentions, in bits: 0 for equal shares, 1 where
        nothing is shared; None where one has none.
    """

    before: int
    after: int
    shared: int
    jaccard: float | None
    divergence: float | None


@dataclass(frozen=True)
class ComponentDrift:
    """A component and the one of the other run whose mean direction is nearest.

    Attributes
    ----------
    before, after : int or None
        Numbers of the components; None where one has no partner.
    weight_before, weight_after : float
        Weights; 0 where there is no component.
    cosine : float or None
        Cosine of the two mean directions.
    """

    before: int | None
    after: int | None
    weight_before: float
    weight_after: float
    cosine: float | None


@dataclass(frozen=True)
class Drift:
    """Drift from one run to the next.

    Attributes
    ----------
    vocabulary : mapping
        Category -> :class:`VocabularyDrift`.
    components : list of ComponentDrift
        Heaviest first; empty where the runs have different embedding models.
    weight_shift : float or None
        Total variation distance of the matched weights, 0 to 1.
    """

    vocabulary: Mapping[str, VocabularyDrift] = field(default_factory=dict)
    components: list[ComponentDrift] = field(default_factory=list)
    weight_shift: float | None = None


def vocabulary_drift(before: Mapping[str, int], after: Mapping[str, int]) -> VocabularyDrift:
    """Compare two counts of mentions by entity.

    Parameters
    ----------
    before, after : mapping of str to int
        Entity -> mentions.

    Examples
    --------
    >>> vocabulary_drift({"a": 1, "b": 1}, {"b": 2})
    VocabularyDrift(before=2, after=1, shared=1, jaccard=0.5, divergence=0.311...)
    """
    names = sorted(before.keys() | after.keys())
    shared = len(before.keys() & after.keys())
    jaccard = shared / len(names) if names else None
    divergence = None
    if before and after:
        p = np.array([before.get(name, 0) for name in names], dtype=np.float64)
        q = np.array([after.get(name, 0) for name in names], dtype=np.float64)
        divergence = jensen_shannon(p / p.sum(), q / q.sum())
    return VocabularyDrift(len(before), len(after), shared, jaccard, divergence)


def jensen_shannon(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    """Return the Jensen-Shannon divergence of two distributions in bits (Lin 1991), 0 to 1."""
    middle = (p + q) / 2

    def relative(x: NDArray[np.float64]) -> float:
        (some,) = np.nonzero(x)
        return float(np.sum(x[some] * np.log2(x[some] / middle[some])))

    return min(1.0, max(0.0, (relative(p) + relative(q)) / 2))


def component_drift(before: MixtureModel, after: MixtureModel) -> list[ComponentDrift]:
    """Match the components of two mixtures so that the cosines of their means add up to most.

    Components that are left over where the numbers differ, and those whose best partner points
    away (cosine not positive), stay without partner.
    """
    from scipy.optimize import linear_sum_assignment

    first, second = np.asarray(before.means), np.asarray(after.means)
    cosines = np.clip(first @ second.T, -1.0, 1.0)
    rows, columns = linear_sum_assignment(-cosines)
    pairs = {
        int(i): int(j) for i, j in zip(rows, columns, strict=True) if cosines[int(i), int(j)] > 0
    }
    found = [
        ComponentDrift(
            i, j, float(before.weights[i]), float(after.weights[j]), float(cosines[i, j])
        )
        for i, j in pairs.items()
    ]
    found += [
        ComponentDrift(i, None, float(before.weights[i]), 0.0, None)
        for i in range(len(first))
        if i not in pairs
    ]
    found += [
        ComponentDrift(None, j, 0.0, float(after.weights[j]), None)
        for j in range(len(second))
        if j not in pairs.values()
    ]
    return sorted(found, key=lambda c: -max(c.weight_before, c.weight_after))


def drift_between(before: PublishedRun, after: PublishedRun) -> Drift:
    """Compare the texts of two finished runs, each in the mixture setting of its release.

    Parameters
    ----------
    before, after : PublishedRun
        Their tables ``mentions`` are read as counts, without Spark.
    """
    counts = [_counts(run.store) for run in (before, after)]
    categories = sorted(counts[0].keys() | counts[1].keys())
    vocabulary = {
        c: vocabulary_drift(counts[0].get(c, {}), counts[1].get(c, {})) for c in categories
    }
    components: list[ComponentDrift] = []
    embedders = [run.store.manifest("embedder") for run in (before, after)]
    ids = [e.details.get("model_id") if e else None for e in embedders]
    fitted = any(e is not None and e.details.get("model") == "lsa" for e in embedders)
    if ids[0] == ids[1] and not fitted:
        components = component_drift(*(run.models()[run.choice.setting] for run in (before, after)))
    shift = None
    if components:
        shift = sum(abs(c.weight_before - c.weight_after) for c in components) / 2
    return Drift(vocabulary, components, shift)


def _counts(store: Store) -> dict[str, dict[str, int]]:
    """Category -> entity -> mentions."""
    found: dict[str, dict[str, int]] = {}
    for category, entity in store.rows("mentions", ["category", "entity"]):
        counts = found.setdefault(category, {})
        counts[entity] = counts.get(entity, 0) + 1
    return found
