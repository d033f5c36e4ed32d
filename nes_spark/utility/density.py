"""The log density of post-swap texts in one process, each distinct text embedded once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from nes_spark.errors import EstimationError
from nes_spark.schemas import POST_DENSITY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from nes_spark.mixture import MixtureModel


def released_densities(
    texts: pd.DataFrame,
    assignments: pd.DataFrame,
    embed: Callable[[Sequence[str]], NDArray[np.float32]],
    models: Mapping[str, MixtureModel],
) -> pd.DataFrame:
    """Evaluate released texts under the component of the chunk before the swap (section 2.5).

    Parameters
    ----------
    texts : pandas.DataFrame
        ``setting, combination, draw, order, chunk_id, text``.
    assignments : pandas.DataFrame
        ``setting, chunk_id, component`` of the chunks before; those of other chunks may be there.
    embed : callable
        Texts -> unit rows, float32, shape (n, d). A vector depends on its text alone.
    models : mapping of str to MixtureModel
        Fitted mixtures by setting.

    Returns
    -------
    pandas.DataFrame
        Table ``post_density``. An empty text has the density 0: a chunk that is not published says
        nothing, and may lie anywhere on the sphere. Other texts of chunks that are not assigned in
        their setting are left out.
    """
    return placed_densities(
        texts.merge(assignments, "left", ["setting", "chunk_id"]), embed, models
    )


def placed_densities(
    texts: pd.DataFrame,
    embed: Callable[[Sequence[str]], NDArray[np.float32]],
    models: Mapping[str, MixtureModel],
) -> pd.DataFrame:
    """Give the table of :func:`released_densities` where texts know their component.

    Parameters
    ----------
    texts : pandas.DataFrame
        As there, with ``component``, which is missing where a chunk is not assigned.
    embed, models
        As there.

    Raises
    ------
    EstimationError
        When a setting has no model.
    """
    shown = texts["text"] != ""
    told = texts[shown & texts["component"].notna()]
    densities = np.empty(len(told))
    if len(told):
        codes, distinct = pd.factorize(told["text"])
        vectors = embed(distinct.tolist())
        components = told["component"].to_numpy(np.int64)
        for setting, rows in told.groupby("setting").indices.items():
            if setting not in models:
                raise EstimationError(
                    f"no mixture model for setting {setting!r}", "unknown_setting"
                )
            densities[rows] = models[str(setting)].log_density_at(
                vectors[codes[rows]], components[rows]
            )
    silent = texts[~shown].assign(log_density=0.0)
    found = pd.concat([told.assign(log_density=densities), silent], ignore_index=True)
    return found[POST_DENSITY.names]
