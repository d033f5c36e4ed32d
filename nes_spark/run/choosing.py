"""Publish another candidate of a finished run, without running its stages again."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nes_spark.config import Config, build_config
from nes_spark.entities.combination import Combination
from nes_spark.errors import ConfigError, InputError
from nes_spark.failures import translated
from nes_spark.logs import Progress
from nes_spark.run.checks import check_config
from nes_spark.run.published import PublishedRun, saved_configuration
from nes_spark.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from nes_spark.run.result import RunResult

LOGGER = logging.getLogger(__name__)


def choices_of(
    coverage: float | None,
    rule: str | None,
    combination: str | None,
    swaps: int | None,
    settings: Mapping[str, Any],
    unit: str | None = None,
) -> dict[str, Any]:
    """Return the section ``choice`` that options of the command line stand for.

    Parameters
    ----------
    coverage, rule, combination, swaps, unit
        As the options of ``nes-spark choose``.
    settings : mapping
        Dotted keys below ``choice``.

    Raises
    ------
    ConfigError
        When a key outside ``choice`` is set.
    """
    found: dict[str, Any] = {}
    if coverage is not None:
        found |= {"rule": "coverage", "coverage": coverage}
    if combination is not None or swaps is not None:
        found |= {"rule": "candidate" if swaps is not None else "max_rate"}
        named = Combination.parse(combination or "")
        found["combination"] = list(named)
        if named.unit:
            found["unit"] = named.unit
    if swaps is not None:
        found["n_swaps"] = swaps
    if unit is not None:
        found["unit"] = unit
    if rule is not None:
        found["rule"] = rule
    for key, value in settings.items():
        section, _, rest = key.partition(".")
        if section != "choice" or not rest or "." in rest:
            raise ConfigError(f"--set {key}: only keys of the section choice can be set here")
        found[rest] = value
    return found


def chosen_anew(run_dir: str | Path, choice: Mapping[str, Any]) -> Config:
    """Return the configuration of a finished run with another section ``choice``.

    Parameters
    ----------
    run_dir : str or pathlib.Path
        A run folder ``OUT/PERIOD``.
    choice : mapping
        Keys of the section; those that it does not name have their defaults, but setting and
        population stay those of the run.

    Raises
    ------
    InputError
        When the folder holds no finished run.
    ConfigError
        When a key or value is not allowed.
    """
    if not choice:
        raise ConfigError(
            "nothing to choose by: give --rule, --coverage, or --combination and --swaps"
        )
    store = Store(run_dir)
    content = saved_configuration(store)
    kept = {k: v for k, v in content["choice"].items() if k in ("setting", "population")}
    content["choice"] = kept | dict(choice)
    # The folder may have been moved since.
    content["output"]["directory"] = posixpath.dirname(store.root)
    return build_config(content, store.root)


def choose_again(
    run_dir: str | Path, choice: Mapping[str, Any], spark: SparkSession | None = None
) -> RunResult:
    """Publish another candidate of a finished run in place of its release.

    Parameters
    ----------
    run_dir : str or pathlib.Path
        A run folder ``OUT/PERIOD`` with a published release.
    choice : mapping
        As for :func:`chosen_anew`.
    spark : pyspark.sql.SparkSession, optional
        A session to use; one is started otherwise.

    Returns
    -------
    RunResult

    Raises
    ------
    InputError
        When the folder holds no published run, or its stages are not those of today's code,
        configuration and input.
    ConfigError, EstimationError, GateRefused
        As :func:`nes_spark.run`.
    """
    before = PublishedRun(run_dir).choice
    config = chosen_anew(run_dir, choice)
    check_config(config)
    from nes_spark.run.context import open_run
    from nes_spark.run.judging import check_judge
    from nes_spark.run.pipeline import STAGES
    from nes_spark.run.release import publish

    check_judge(config)
    with open_run(config, spark) as context, Progress(1) as progress:
        for stage in STAGES:
            if not stage.is_current(context, stage.key(context)):
                raise InputError(
                    f"{run_dir}: stage {stage.name} is not that of today's code, configuration and "
                    "input; run 'nes-spark run' with its configuration first"
                )
        with translated("stage release"):
            result = publish(context, progress, False)
    after = result.choice
    if (after.combination, after.draw) == (before.combination, before.draw) and (
        after.n_swaps != before.n_swaps
    ):
        LOGGER.warning(
            "the release with %d swaps and the one with %d are of one sequence: whoever holds both "
            "sees the original names where they differ; call the first one back",
            before.n_swaps,
            after.n_swaps,
        )
    return result
