"""Choose the release among the candidates, as the configuration says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from nes_spark.entities.combination import Combination
from nes_spark.errors import EstimationError
from nes_spark.releases.choice import Choice
from nes_spark.releases.frontier import choose

if TYPE_CHECKING:
    from nes_spark.config import Config


def choose_release(
    candidates: pd.DataFrame, config: Config, components: Mapping[str, int]
) -> Choice:
    """Choose among the candidates of one setting and population.

    Parameters
    ----------
    candidates : pandas.DataFrame
        Table ``candidates``.
    config : Config
        Its section ``choice`` names rule, setting and population; by default the first setting of
        the grid and the first population.
    components : mapping of str to int
        Setting -> components of its fitted mixture.

    Returns
    -------
    Choice

    Raises
    ------
    EstimationError
        When the setting or population has no candidates, or the rule no feasible one.
    """
    from nes_spark.mixture.settings import settings_of

    rule = config.choice
    setting = rule.setting or settings_of(config.mixture)[0].name
    population = config.risk.population[0] if rule.population is None else rule.population
    mine = candidates[
        (candidates["setting"] == setting) & (candidates["population"] == population)
    ].reset_index(drop=True)
    if rule.per_draw:
        mine = mine[mine["draw"].notna() | (mine["n_swaps"] == 0)].reset_index(drop=True)
    if mine.empty:
        have = sorted(set(zip(candidates["setting"], candidates["population"], strict=True)))
        raise EstimationError(
            f"no candidate has setting {setting!r} and N = {population:g}; there are {have}",
            "no_candidates",
        )
    position = choose(
        mine,
        rule.rule,
        slope=rule.slope,
        offset=rule.offset,
        max_risk=rule.max_risk,
        combination=rule.combination,
    )
    row = mine.iloc[position].to_dict()
    return Choice(
        setting=setting,
        population=float(population),
        combination=Combination.parse(str(row["combination"])),
        n_swaps=int(row["n_swaps"]),
        r=float(row["r"]),
        draws=int(row["draws"]),
        draw=0 if pd.isna(row["draw"]) else int(row["draw"]),
        DR=float(row["DR"]),
        DR_se=_number(row["DR_se"]),
        DU=float(row["DU"]),
        DU_se=_number(row["DU_se"]),
        rule=rule.rule,
        candidates=len(mine),
        on_frontier=int(mine["on_frontier"].sum()),
        components=components[setting],
    )


def _number(value: Any) -> float | None:
    return None if value is None or value != value else float(value)
