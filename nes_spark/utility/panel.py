"""The panel of utility measures: what is left of the texts, in several meanings of the word.

A measure is one function from :class:`Changed` to :class:`Measured` and one entry in
:data:`MEASURES`. All are computed on the changed chunks; where a figure for the whole corpus is
meant, chunks that were not changed count as they must (a cosine of one, the same component).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nes_spark.errors import parameter_error
from nes_spark.utility.measure import data_utility
from nes_spark.utility.propensity import propensity

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Changed:
    """The chunks that a release changed, before and after; what is not at hand is None.

    Attributes
    ----------
    n_chunks : int
        Chunks of the corpus, changed or not.
    chunk_ids : sequence of str, length n
        The changed chunks.
    documents : sequence of str, length n, or None
        The documents they are from: standard errors then allow for chunks of one being alike.
    before, after : ndarray of shape (n, d) or None
        Unit vectors of the texts.
    component_before, component_after : ndarray of int, shape (n,), or None
        Their most probable components.
    log_density_before, log_density_after : ndarray of shape (n,) or None
        Log densities, both under the component before.
    log_f_before : float or None
        Sum over all chunks of the corpus of the log density before.
    texts_before, texts_after : sequence of str, length n, or None
    weights : ndarray of shape (n,) or None
        How many changed chunks each stands for, where these are a sample; their sum is the number
        of changed chunks. One each where there are none.
    """

    n_chunks: int
    chunk_ids: Any
    documents: Any = None
    before: Any = None
    after: Any = None
    component_before: Any = None
    component_after: Any = None
    log_density_before: Any = None
    log_density_after: Any = None
    log_f_before: float | None = None
    texts_before: Any = None
    texts_after: Any = None
    weights: Any = None

    def __post_init__(self) -> None:
        """Refuse columns of different lengths."""
        n = len(self.chunk_ids)
        for name in _BY_CHUNK:
            value = getattr(self, name)
            if value is not None and len(value) != n:
                raise parameter_error("Changed", name, f"of {n} chunks", len(value))
        least = self.n_changed
        if self.n_chunks < least - 1e-6:
            raise parameter_error("Changed", "n_chunks", f"at least {least:g}", self.n_chunks)

    @property
    def n_changed(self) -> float:
        """Chunks that the release changed, whether they are in the sample or not."""
        return len(self.chunk_ids) if self.weights is None else math.fsum(self.weights)


_BY_CHUNK = (
    "documents",
    "before",
    "after",
    "component_before",
    "component_after",
    "log_density_before",
    "log_density_after",
    "texts_before",
    "texts_after",
    "weights",
)


@dataclass(frozen=True)
class Measured:
    """A figure for the changed chunks.

    Attributes
    ----------
    value : float
        NaN without changed chunks.
    standard_error : float
        NaN where there is none.
    corpus : float
        The same over all chunks of the corpus; NaN where that has no meaning.
    """

    value: float
    standard_error: float = math.nan
    corpus: float = math.nan


@dataclass(frozen=True)
class UtilityMeasure:
    """One measure.

    Attributes
    ----------
    name : str
        As in tables, metrics and the configuration.
    words : str
        What it is, for the report.
    function : callable
        From :class:`Changed` to :class:`Measured`.
    needs : tuple of str
        Attributes of :class:`Changed` that must be there.
    best : float
        Its value for a release that changes nothing.
    """

    name: str
    words: str
    function: Callable[[Changed], Measured]
    needs: tuple[str, ...]
    best: float = 1.0


#: By name, in the order of the report.
MEASURES: dict[str, UtilityMeasure] = {}


def register(measure: UtilityMeasure) -> UtilityMeasure:
    """Add a measure.

    Raises
    ------
    ValueError
        When its name is taken, or it needs what there is not.
    """
    if measure.name in MEASURES:
        raise parameter_error(
            "register", "name", f"none of {[*MEASURES]}, which are taken", measure.name
        )
    fields = Changed.__dataclass_fields__
    unknown = [name for name in measure.needs if name not in fields]
    if unknown:
        raise parameter_error("register", "needs", f"attributes of Changed: {[*fields]}", unknown)
    MEASURES[measure.name] = measure
    return measure


def panel(changed: Changed) -> list[dict[str, Any]]:
    """Return every registered measure of a release.

    Parameters
    ----------
    changed : Changed
        Its changed chunks.

    Returns
    -------
    list of dict
        ``measure, value, standard_error, corpus, best, reason``. Where something that the measure
        needs is not at hand, the figures are NaN and ``reason`` names it; else it is empty.
    """
    rows = []
    for name, measure in MEASURES.items():
        missing = [need for need in measure.needs if getattr(changed, need) is None]
        found = Measured(math.nan) if missing else measure.function(changed)
        rows.append(
            {
                "measure": name,
                "value": found.value,
                "standard_error": found.standard_error,
                "corpus": found.corpus,
                "best": measure.best,
                "reason": f"no {', '.join(missing)}" if missing else "",
            }
        )
    return rows


def clustered_mean(values: Any, clusters: Any = None, weights: Any = None) -> tuple[float, float]:
    """Return a mean and its standard error, values of a cluster being dependent.

    The variance is that of a ratio of cluster totals, linearised: m/(m-1) sum_g e_g^2 / W^2 with
    e_g the weighted sum of the deviations in cluster g of m, and W the sum of the weights (Cochran
    1977, section 9A.6). Without clusters each value is one of its own; with equal weights too this
    is the usual standard error. No correction is made for a population that is finite: the figure
    is meant for texts like these.

    Parameters
    ----------
    values : array_like of shape (n,)
    clusters : sequence of length n, optional
        Labels, e.g. documents.
    weights : array_like of shape (n,), optional
        How many each value stands for.

    Returns
    -------
    mean, standard_error : float
        NaN for no values; a standard error of NaN for a single cluster.
    """
    x = np.asarray(values, dtype=np.float64)
    if not x.size:
        return math.nan, math.nan
    w = np.ones(x.size) if weights is None else np.asarray(weights, dtype=np.float64)
    total = math.fsum(w)
    mean = math.fsum(w * x) / total
    codes = np.arange(x.size)
    if clusters is not None:
        names = np.asarray(clusters, dtype=object).astype(str)
        codes = np.unique(names, return_inverse=True)[1].reshape(-1)
    m = int(codes.max()) + 1
    if m < 2:
        return mean, math.nan
    deviations = np.bincount(codes, weights=w * (x - mean), minlength=m)
    return mean, math.sqrt(m / (m - 1) * math.fsum(deviations**2)) / total


def share(values: Any, changed: Changed, unchanged: float) -> Measured:
    """Return the mean of a value of each changed chunk; the others have the value ``unchanged``."""
    mean, error = clustered_mean(values, changed.documents, changed.weights)
    n = changed.n_changed
    if not n:
        return Measured(math.nan, math.nan, unchanged)
    corpus = (n * mean + unchanged * (changed.n_chunks - n)) / changed.n_chunks
    return Measured(mean, error, corpus)


def mixture_utility(changed: Changed) -> Measured:
    """DU of the paper (:func:`nes_spark.utility.measure.data_utility`), over the whole corpus."""
    gains = np.asarray(changed.log_density_after, dtype=np.float64) - np.asarray(
        changed.log_density_before, dtype=np.float64
    )
    whole = float(changed.log_f_before or 0.0)
    mean, error = clustered_mean(gains, changed.documents, changed.weights)
    n = changed.n_changed
    value = float(data_utility([whole + (n * mean if n else 0.0)], whole)[0])
    return Measured(value, n * error / whole, value)


def fidelity(changed: Changed) -> Measured:
    """Mean cosine of each changed chunk before and after."""
    before = np.asarray(changed.before, dtype=np.float64)
    after = np.asarray(changed.after, dtype=np.float64)
    return share(np.einsum("ij,ij->i", before, after), changed, 1.0)


def topic_agreement(changed: Changed) -> Measured:
    """Share of changed chunks that keep their component."""
    same = np.asarray(changed.component_before) == np.asarray(changed.component_after)
    return share(same.astype(np.float64), changed, 1.0)


def propensity_error(changed: Changed) -> Measured:
    """pMSE of :func:`nes_spark.utility.propensity.propensity`, over the changed chunks at hand."""
    if not len(changed.chunk_ids):
        return Measured(math.nan)
    # a sample that is spread evenly over the strata needs no weights here
    return Measured(propensity(changed.before, changed.after).pmse)


register(
    UtilityMeasure(
        "fidelity",
        "mean cosine of the vectors of each changed chunk before and after",
        fidelity,
        ("before", "after"),
    )
)
register(
    UtilityMeasure(
        "topic_agreement",
        "share of the changed chunks that stay in their component",
        topic_agreement,
        ("component_before", "component_after"),
    )
)
register(
    UtilityMeasure(
        "DU",
        "log-likelihood of the mixture after over before, given the components before (the paper's "
        "measure; above 1 when the texts became more typical)",
        mixture_utility,
        ("log_density_before", "log_density_after", "log_f_before"),
    )
)
register(
    UtilityMeasure(
        "pMSE",
        "how well released chunks can be told from original ones by their vectors: 0 not at all, "
        "0.25 perfectly",
        propensity_error,
        ("before", "after"),
        best=0.0,
    )
)
