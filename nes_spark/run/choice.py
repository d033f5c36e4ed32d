"""Choose the release among the candidates, as the configuration says."""

from __future__ import annotations

import logging
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from nes_spark.entities.combination import Combination
from nes_spark.errors import ConfigError, EstimationError
from nes_spark.releases.choice import Choice
from nes_spark.releases.decision import (
    Draws,
    Levels,
    decide,
    decide_levels,
    doubt_of,
    draws_of,
)
from nes_spark.releases.frontier import choose, frontier_of

if TYPE_CHECKING:
    from nes_spark.config import Config
    from nes_spark.config.sections import ChoiceConfig
    from nes_spark.store import Store

LOGGER = logging.getLogger(__name__)

#: Public seed of the resamples that tell how stable a choice is.
RESAMPLED = 20
#: Figures of a candidate that are measured before the choice, beside those of its scores.
MEASURED = (
    *("measured", "measured_low", "measured_high"),
    *("measured_chunks", "measured_chunks_low", "measured_chunks_high"),
    *("fidelity", "fidelity_se"),
)
#: Columns of table ``scores`` that a choice looks at.
SCORED = ("combination", "n_swaps", "draw", "DR", "DU")
#: Utility above counts as this. A cosine is at most 1 by itself; its resamples stay as they are.
_CAPS = {"DU": 1.0, "fidelity": math.inf}
#: Combinations that a message lists.
_LISTED = 12
#: Half the width of a 95 % interval in standard errors.
_NORMAL = 1.959963984540054


def axes_of(config: Config, candidates: pd.DataFrame) -> tuple[str, str]:
    """Return what counts as risk and as utility: ``choice.risk`` and ``choice.utility``.

    Where nobody says, risk is what can be named of what is published: of documents, or of chunks by
    themselves.

    Parameters
    ----------
    config : Config
    candidates : pandas.DataFrame
        Candidates, with the columns of :data:`MEASURED` that are there.

    Raises
    ------
    EstimationError
        ``not_measured`` when the configuration asks for an axis that was not measured.
    """
    rule = config.choice
    whole = config.releases.plan == "whole"
    there = {n: n in candidates and candidates[n].notna().any() for n in WHERE}
    named = "measured_chunks" if config.output.publish == "chunks" else "measured"
    risk = rule.risk or (named if whole and there[named] else "DR")
    if whole and rule.risk is None and risk == "DR":
        LOGGER.warning("the choice rests on DR: measured risk is not there (%s)", WHERE[named])
    utility = rule.utility or ("fidelity" if there["fidelity"] else "DU")
    for key, axis in (("risk", risk), ("utility", utility)):
        if not there.get(axis, True):
            raise EstimationError(
                f"choice.{key}: {axis} was not measured for the candidates "
                f"({WHERE[axis]}); switch it on or choose another {key}",
                "not_measured",
            )
    return risk, utility


#: Axis -> what switches its measurement on.
WHERE = {
    **dict.fromkeys(
        ("measured", "measured_chunks"),
        "audit.documents, audit.candidates, audit.max_documents, audit.max_words; plan whole only",
    ),
    "fidelity": "utility.judge",
}


def with_measures(
    candidates: pd.DataFrame,
    fidelity: pd.DataFrame,
    measured: pd.DataFrame | None = None,
    measured_chunks: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Put what was measured of each candidate beside its scores.

    Parameters
    ----------
    candidates : pandas.DataFrame
        Table ``candidates``.
    fidelity : pandas.DataFrame
        ``setting, combination, n_swaps, corpus, corpus_se``: the judge's figure over all chunks of
        the corpus, so that candidates with different numbers of swaps can be compared.
    measured, measured_chunks : pandas.DataFrame, optional
        ``setting, combination, n_swaps, named, low, high``: the share of documents that the
        strongest attacker names, and of chunks with names.

    Returns
    -------
    pandas.DataFrame
        With the columns of :data:`MEASURED`; null where a candidate was not measured.
    """
    key = ["setting", "combination", "n_swaps"]
    judged = fidelity[[*key, "corpus", "corpus_se"]].set_axis([*key, *MEASURED[6:]], axis=1)
    found = candidates.merge(judged, on=key, how="left", validate="many_to_one")
    for names, table in ((MEASURED[:3], measured), (MEASURED[3:6], measured_chunks)):
        if table is None:
            found = found.assign(**dict.fromkeys(names, np.nan))
            continue
        attacked = table[[*key, "named", "low", "high"]].set_axis([*key, *names], axis=1)
        found = found.merge(attacked, on=key, how="left", validate="many_to_one")
    return found


def measured_candidates(store: Store) -> pd.DataFrame:
    """Return table ``candidates`` with what was measured of each, as :func:`with_measures`.

    Parameters
    ----------
    store : Store
        Of a run whose stages ``utility`` and ``measured_risk`` have finished. Of documents what the
        strongest attacker names, whatever it holds; of chunks what the one does who holds all
        others. Nothing where the judge or the audit was off.
    """
    from nes_spark.audit.measured import BACKGROUND, CHUNKS_LEFT_OUT, DOCUMENTS

    found = store.read_pandas("measured_risk")
    keys = ["setting", "combination", "n_swaps"]
    order = [*keys, "named", "unit", "attacker"]
    ranked = found.sort_values(order, ascending=[True, True, True, False, True, True])
    strongest = [
        ranked[ranked["unit"].isin(units)].drop_duplicates(keys)
        for units in ((DOCUMENTS, BACKGROUND), (CHUNKS_LEFT_OUT,))
    ]
    return with_measures(store.read_pandas("candidates"), store.read_pandas("fidelity"), *strongest)


def chosen_space(config: Config, populations: Mapping[str, float] | None) -> tuple[str, float]:
    """Return the mixture setting and the population size whose candidates are chosen among.

    Parameters
    ----------
    config : Config
    populations : mapping of str to float or None
        How a configuration calls a population size, e.g. ``comparable`` -> its size.
    """
    from nes_spark.mixture.settings import settings_of

    rule = config.choice
    setting = rule.setting or settings_of(config.mixture)[0].name
    asked = config.risk.population[0] if rule.population is None else rule.population
    return setting, float((populations or {}).get(str(asked), asked))


def scores_of_choice(
    store: Store,
    candidates: pd.DataFrame,
    config: Config,
    populations: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Read the rows of table ``scores`` that :func:`choose_release` looks at, and no others.

    The table has a row for every swap of every sequence and population size. A choice is made among
    candidates of one setting and population, which plan ``whole`` has at tenths of its sequence
    alone.

    Parameters
    ----------
    store : Store
        Of a run whose stage ``scores`` has finished.
    candidates : pandas.DataFrame
        Table ``candidates``.
    config, populations
        As for :func:`choose_release`.

    Returns
    -------
    pandas.DataFrame
        ``setting, population`` and the columns of :data:`SCORED`.
    """
    setting, population = chosen_space(config, populations)
    mine = candidates[(candidates["setting"] == setting) & (candidates["population"] == population)]
    only: dict[str, list[Any]] = {
        "setting": [setting],
        "population": [population],
        "combination": sorted(set(mine["combination"])),
        "n_swaps": sorted(set(mine["n_swaps"].tolist())),
    }
    return store.read_pandas("scores", ["setting", "population", *SCORED], only)


@dataclass(frozen=True)
class _Chosen:
    """A position among the candidates and how it came about."""

    position: int
    risk: str
    utility: str
    tied: int = 1
    stability: float | None = None


def choose_release(
    candidates: pd.DataFrame,
    config: Config,
    components: Mapping[str, int],
    scores: pd.DataFrame | None = None,
    populations: Mapping[str, float] | None = None,
    fidelity: pd.DataFrame | None = None,
    p_hats: pd.DataFrame | None = None,
) -> Choice:
    """Choose among the candidates of one setting and population.

    Parameters
    ----------
    candidates : pandas.DataFrame
        Table ``candidates``, where they were measured with the columns of :data:`MEASURED`.
    config : Config
        Its section ``choice`` names rule, setting and population; by default the first setting of
        the grid and the first population.
    components : mapping of str to int
        Setting -> components of its fitted mixture.
    scores : pandas.DataFrame, optional
        Table ``scores``: what each draw reached. Without it, averages are compared as they are.
    populations : mapping of str to float, optional
        How a configuration calls a population size, e.g. ``comparable`` -> its size.
    fidelity : pandas.DataFrame, optional
        Table ``fidelity``, of which ``setting, combination, n_swaps, by_document`` are read: what
        documents two candidates share. Without it errors of fidelity are taken as independent.
    p_hats : pandas.DataFrame, optional
        ``combination, population, p_hat, p_low, p_high``: how sure the estimate is that DR of each
        combination rests on. Without it the stability takes it as known.

    Returns
    -------
    Choice

    Raises
    ------
    ConfigError
        When no candidate has the combination, or the number of swaps, that the rule names.
    EstimationError
        When the setting or population has no candidates, or the rule no feasible one.
    """
    rule = config.choice
    setting, population = chosen_space(config, populations)
    mine = candidates[
        (candidates["setting"] == setting) & (candidates["population"] == population)
    ].reset_index(drop=True)
    if rule.unit is not None:
        units = np.array([Combination.parse(str(c)).unit for c in mine["combination"]])
        mine = mine[(units == rule.unit) | (mine["n_swaps"] == 0)].reset_index(drop=True)
    if rule.per_draw:
        mine = mine[mine["draw"].notna() | (mine["n_swaps"] == 0)].reset_index(drop=True)
    if mine.empty:
        have = sorted(set(zip(candidates["setting"], candidates["population"], strict=True)))
        raise EstimationError(
            f"no candidate has setting {setting!r} and N = {population:g}; there are {have}",
            "no_candidates",
        )
    own = None
    if scores is not None:
        own = scores[(scores["setting"] == setting) & (scores["population"] == population)]
    shared = None
    if fidelity is not None and "fidelity" in mine:
        shared = _shared_documents(mine, fidelity[fidelity["setting"] == setting])
    if p_hats is not None:
        p_hats = p_hats[p_hats["population"] == population]
    found = _choose(mine, config, own, shared, p_hats)
    row = mine.iloc[found.position].to_dict()
    draw, own_DR, own_DU = _published(row, own)
    return Choice(
        setting=setting,
        population=population,
        combination=Combination.parse(str(row["combination"])),
        n_swaps=int(row["n_swaps"]),
        r=float(row["r"]),
        draws=int(row["draws"]),
        draw=draw,
        DR=float(row["DR"]),
        DR_se=_number(row["DR_se"]),
        DU=float(row["DU"]),
        DU_se=_number(row["DU_se"]),
        rule=rule.rule,
        candidates=len(mine),
        on_frontier=int(frontier_of(mine, found.utility, found.risk).sum()),
        components=components[setting],
        drawn=int(mine["draws"].max()),
        own_DR=own_DR,
        own_DU=own_DU,
        risk=found.risk,
        utility=found.utility,
        measured=_number(row.get("measured")),
        measured_chunks=_number(row.get("measured_chunks")),
        fidelity=_number(row.get("fidelity")),
        tied=found.tied,
        stability=found.stability,
        uniques_left=_number(row.get("uniques_left")),
        uniques_expected=_number(row.get("uniques_expected")),
    )


def _published(row: Mapping[Any, Any], own: pd.DataFrame | None) -> tuple[int, Any, Any]:
    """Return the draw that is released, one that made all the swaps, with its own DR and DU."""
    first = 0 if pd.isna(row["draw"]) else int(row["draw"])
    if own is None or not row["n_swaps"]:
        return first, None, None
    here = own[(own["combination"] == row["combination"]) & (own["n_swaps"] == row["n_swaps"])]
    if not pd.isna(row["draw"]):
        here = here[here["draw"] == first]
    if here.empty:
        raise EstimationError(
            f"no draw made {row['n_swaps']} swaps of {row['combination']}: the tables scores and "
            "candidates are not of one run",
            "no_candidates",
        )
    released = here.loc[here["draw"].idxmin()]
    return int(released["draw"]), float(released["DR"]), float(released["DU"])


def _shared_documents(mine: pd.DataFrame, fidelity: pd.DataFrame) -> np.ndarray:
    """Return what each document adds to the error of each candidate's fidelity, shape (g, c)."""
    parts = {
        (str(c), int(n)): dict(by_document)
        for c, n, by_document in zip(
            fidelity["combination"], fidelity["n_swaps"], fidelity["by_document"], strict=True
        )
    }
    documents = sorted({d for found in parts.values() for d in found})
    place = {document: g for g, document in enumerate(documents)}
    sample = np.zeros((len(documents), len(mine)))
    for c, name in enumerate(zip(mine["combination"], mine["n_swaps"], strict=True)):
        for document, value in parts.get((str(name[0]), int(name[1])), {}).items():
            sample[place[document], c] = value
    return sample


def _choose(
    mine: pd.DataFrame,
    config: Config,
    scores: pd.DataFrame | None,
    shared: np.ndarray | None,
    p_hats: pd.DataFrame | None,
) -> _Chosen:
    rule = config.choice
    risk, utility = axes_of(config, mine)
    if rule.rule == "max_rate":
        if not _of_combination(mine, rule).any():
            raise ConfigError(
                f"choice.combination: no candidate swaps {'+'.join(rule.combination or ())}; "
                f"{_listed(mine)}"
            )
        position = choose(mine, "max_rate", combination=rule.combination)
        return _Chosen(position, risk, utility)
    if rule.rule == "candidate":
        return _Chosen(_named(mine, rule), risk, utility)
    if rule.rule == "coverage":
        return _Chosen(_covering(mine, float(rule.coverage or 1.0), risk), risk, utility)
    several = scores is not None and not rule.per_draw and int(mine["draws"].max()) > 1
    # in plan whole an encoder reads one draw
    paired = utility == "DU" or config.releases.plan == "pairs"
    if risk == "DR" and paired and several:
        assert scores is not None
        return _by_draws(mine, scores, rule, utility, shared, p_hats)
    found = decide_levels(
        _levels(mine, risk, utility, shared),
        rule.rule,
        slope=rule.slope,
        max_risk=rule.max_risk,
        min_utility=rule.min_utility,
        cap=_CAPS[utility],
        resamples=rule.resamples if risk != "DR" or utility == "fidelity" else 0,
        seed=RESAMPLED,
    )
    return _Chosen(found.chosen, risk, utility, len(found.tied), _number(found.stability))


def _by_draws(
    mine: pd.DataFrame,
    scores: pd.DataFrame,
    rule: ChoiceConfig,
    utility: str,
    shared: np.ndarray | None,
    p_hats: pd.DataFrame | None,
) -> _Chosen:
    """Choose by DR paired over draws, and by DU paired too or fidelity paired over documents."""
    nothing = mine[mine["n_swaps"] == 0].iloc[0]
    drawn = int(mine["draws"].max())
    draws = draws_of(scores, drawn, nothing=(float(nothing["DR"]), float(nothing["DU"])))
    place: dict[Hashable, int] = {
        (str(c), int(n)): i
        for i, (c, n) in enumerate(zip(mine["combination"], mine["n_swaps"], strict=True))
    }
    known = np.array([name in place for name in draws.names])
    if utility == "fidelity":
        rows = [place.get(name, -1) for name in draws.names]
        values = np.where(known, mine["fidelity"].to_numpy(float)[rows], math.nan)
        if shared is None:
            shared = np.diag(np.nan_to_num(mine["fidelity_se"].to_numpy(float)))
        draws = draws.with_utility(values, np.where(known, shared[:, rows], 0.0))
    if p_hats is not None:
        draws = with_doubt(draws, p_hats)
    found = decide(
        draws,
        rule.rule,  # type: ignore[arg-type]  # the two others were taken care of
        slope=rule.slope,
        max_risk=rule.max_risk,
        min_utility=rule.min_utility,
        eligible=known,
        cap=_CAPS[utility],
        resamples=rule.resamples,
        seed=RESAMPLED,
    )
    stability = None if math.isnan(found.confidence) else found.confidence
    return _Chosen(place[draws.names[found.chosen]], "DR", utility, len(found.tied), stability)


def with_doubt(draws: Draws, p_hats: pd.DataFrame) -> Draws:
    """Return draws whose resamples draw p-hat of each combination again, within its interval.

    Parameters
    ----------
    draws : Draws
        Named ``(combination, n_swaps)``.
    p_hats : pandas.DataFrame
        ``combination, p_hat, p_low, p_high`` of one population.
    """
    columns = ["p_hat", "p_low", "p_high"]
    known = {str(c): tuple(row) for c, *row in p_hats[["combination", *columns]].to_numpy()}
    names = [str(name[0]) for name in cast("tuple[tuple[str, int], ...]", draws.names)]
    of = {name: doubt_of(*known[name]) if name in known else (0.0, 0.0) for name in names}
    groups = {name: i for i, name in enumerate(of)}
    return replace(
        draws,
        groups=np.array([groups[name] for name in names], dtype=np.int64),
        doubt=np.array([of[name] for name in names]).T,
    )


def _levels(
    mine: pd.DataFrame, risk: str, utility: str, shared: np.ndarray | None = None
) -> Levels:
    def column(name: str) -> np.ndarray:
        values = mine[name] if name in mine else pd.Series(math.nan, index=mine.index)
        return values.to_numpy(dtype=float, na_value=math.nan)

    risk_se = column("DR_se")
    if risk != "DR":
        risk_se = (column(f"{risk}_high") - column(f"{risk}_low")) / (2 * _NORMAL)
    return Levels(
        mine["n_swaps"].to_numpy(np.int64),
        column(risk),
        risk_se,
        column(utility),
        column(f"{utility}_se"),
        column("DR"),
        shared if utility == "fidelity" else None,
    )


def _named(mine: pd.DataFrame, rule: ChoiceConfig) -> int:
    """Return the candidate with exactly the combination and number of swaps asked for."""
    found = np.flatnonzero(_of_combination(mine, rule) & (mine["n_swaps"] == rule.n_swaps))
    if not len(found):
        raise ConfigError(
            f"choice: no candidate swaps {'+'.join(rule.combination or ()) or 'nothing'} "
            f"{rule.n_swaps} times; {_listed(mine)}"
        )
    return int(found[0])


def _of_combination(mine: pd.DataFrame, rule: ChoiceConfig) -> np.ndarray:
    """Return which candidates have the combination asked for, in any order of its categories."""
    wanted = sorted(rule.combination or ())
    return np.array([sorted(Combination.parse(str(c))) == wanted for c in mine["combination"]])


def _listed(mine: pd.DataFrame) -> str:
    """Say which candidates there are: combinations with their numbers of swaps."""
    groups = [
        (str(name) or "nothing", sorted({int(n) for n in swaps}))
        for name, swaps in mine.groupby("combination", sort=False)["n_swaps"]
    ]
    more = len(groups) - _LISTED
    words = [
        f"{name} {_ranges(swaps)} time{'s' * (swaps != [1])}" for name, swaps in groups[:_LISTED]
    ]
    rest = f"; and {more:,} more combinations (table candidates)" if more > 0 else ""
    return f"there are: {'; '.join(words)}{rest}"


def _ranges(numbers: Sequence[int]) -> str:
    """Say ascending numbers, rows of them by their ends.

    Examples
    --------
    >>> _ranges([0, 3, 4, 5, 6, 9])
    '0, 3 to 6, 9'
    """
    rows: list[list[int]] = []
    for number in numbers:
        if rows and number == rows[-1][-1] + 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    return ", ".join(
        f"{row[0]} to {row[-1]}" if len(row) > 2 else ", ".join(map(str, row)) for row in rows
    )


def _covering(mine: pd.DataFrame, share: float, risk: str) -> int:
    """Return the shortest candidate with a share of the exchanges of its own sequence.

    Of two units, of which each has one, the one of lower risk; of equal risks the first in order.
    """
    swaps = mine["n_swaps"].to_numpy()
    found = []
    for name in sorted(set(mine["combination"]) - {""}):
        own = (mine["combination"] == name).to_numpy()
        enough = np.flatnonzero(own & (swaps > 0) & (swaps >= share * swaps[own].max()))
        if len(enough):
            found.append(int(enough[np.argmin(swaps[enough])]))
    if not found:
        raise EstimationError("nothing can be exchanged, so no share of it", "no_valid_swap")
    risks = mine[risk].to_numpy(dtype=float, na_value=math.inf)
    return min(found, key=lambda position: risks[position])


def _number(value: Any) -> float | None:
    return None if value is None or value != value else float(value)
