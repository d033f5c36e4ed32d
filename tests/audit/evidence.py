"""The linkage adversary feature by feature: what its kernel and its matrix are held against."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from nes_spark.audit import linkage
from nes_spark.audit.linkage import Evidence


class Known:
    """What is known of one feature of a target: where else it occurs.

    Parameters
    ----------
    feature : str
    total : int
        Known chunks that hold it.
    own : bool
        Whether the target chunk, as it is known, is one of them.
    counts : mapping of int to int
        Number of each candidate that used it -> chunks of it that hold it.
    """

    def __init__(self, feature: str, total: int, own: bool, counts: Mapping[int, int]) -> None:
        self.feature, self.total, self.own = feature, total, own
        self.counts = dict(sorted(counts.items()))


def evidence_of(known: Iterable[Known]) -> Evidence:
    """Put together what is known of single features."""
    found = list(known)
    return Evidence.packed(
        [k.feature for k in found],
        np.array([k.total for k in found], dtype=np.int64),
        np.array([k.own for k in found], dtype=bool),
        np.array([len(k.counts) for k in found], dtype=np.int64),
        np.array([label for k in found for label in k.counts], dtype=np.int64),
        np.array([count for k in found for count in k.counts.values()], dtype=np.int64),
    )


def strongest(
    known: Iterable[Known],
    label: int,
    sizes: np.ndarray,
    own_labels: tuple[int, ...],
    leave_out: bool,
    smoothing: float,
    pair_weight: float,
    n: int,
) -> list[str]:
    """What spoke most for a candidate, strongest first, ties by name: feature by feature."""
    found = []
    for one in known:
        if label not in one.counts:
            continue
        mine = evidence_of([one])
        values = linkage.weights(mine, sizes, own_labels, leave_out, smoothing, n)
        said = float(values[mine.labels == label][0])
        said *= pair_weight if linkage.is_pair(one.feature) else 1.0
        if said > 0:
            found.append((-round(said, 9), one.feature))
    return [linkage.describe(name) for _, name in sorted(found)[: linkage.STRONGEST]]
