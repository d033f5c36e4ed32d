"""The secrets that a run will need: looked for before Spark starts, not after hours of work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from nes_spark.config import Config
from nes_spark.errors import ConfigError, LedgerError


def required_secrets(config: Config, sealed: str | Path | None) -> None:
    """Look for every secret that a run will need.

    Parameters
    ----------
    config : Config
    sealed : str or pathlib.Path or None
        The sealed folder of the run; None for a remote one.

    Raises
    ------
    ConfigError
        When one is missing or cannot be used; all are listed. None is quoted.
    """
    faults = [
        *_seed(config, sealed),
        *_ledger_key(config),
        *_embedding_key(config),
        *_summary_key(config),
        *_source_options(config),
    ]
    if len(faults) == 1:
        raise ConfigError(faults[0])
    if faults:
        raise ConfigError(f"{len(faults)} secrets:" + "".join(f"\n  {f}" for f in faults))


def _seed(config: Config, sealed: str | Path | None) -> Iterator[str]:
    from nes_spark.swapping.seeds import MAKE_SEED, check_seed, find_seed

    try:
        found = find_seed(config.seed, sealed)
        if found is not None:
            check_seed(*found)
        elif sealed is None:
            yield (
                f"no secret seed: the run folder is remote, so none is generated; set "
                f"{config.seed.env} or seed.file to one made with {MAKE_SEED}"
            )
    except ConfigError as error:
        yield str(error)


def _ledger_key(config: Config) -> Iterator[str]:
    from nes_spark.swapping.ledger import load_key

    if config.ledger.encrypt:
        try:
            load_key(config.ledger)
        except LedgerError as error:
            yield f"ledger.encrypt: {error}"


def _summary_key(config: Config) -> Iterator[str]:
    from nes_spark.audit.client import read_key

    if config.summarises:
        try:
            read_key(config.summary_audit().models[0])
        except ConfigError as error:
            yield str(error)


def _embedding_key(config: Config) -> Iterator[str]:
    embedding = config.embedding
    remote = embedding.model.startswith("openai:")
    if remote and not os.environ.get(embedding.api_key_env, "").strip():
        yield (
            f"embedding.api_key_env: the environment variable {embedding.api_key_env} is not set; "
            "put the endpoint's key there"
        )


def _source_options(config: Config) -> Iterator[str]:
    from nes_spark.config.sections import missing_variables

    places = {
        "input.options": config.input.options,
        "output.release_options": config.output.release_options,
    }
    for place, options in places.items():
        yield from missing_variables(options, place)
