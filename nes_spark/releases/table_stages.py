"""A published release as tables beside its files: of a lakehouse or any data source of Spark."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nes_spark.config.sections import SOURCE, TABLE, OutputConfig, with_environment
from nes_spark.errors import ConfigError, InfrastructureError
from nes_spark.text.source_stages import delta_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from nes_spark.store import Store

#: Tables of a release, as its files are called.
NAMES = ("chunks", "documents")


def write_tables(
    spark: SparkSession,
    config: OutputConfig,
    store: Store,
    files: Sequence[Mapping[str, Any]],
    period: str | None,
) -> list[str]:
    """Write a published release as the tables that ``output.release_format`` names.

    Each table takes the place of one that is there; with ``{period}`` in its name every period has
    tables of its own.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
    config : OutputConfig
    store : Store
        Run folder with the release.
    files : sequence of mapping
        ``file`` of each file of the release.
    period : str or None
        Of the run.

    Returns
    -------
    list of str
        Where each table was written, in order of :data:`NAMES`; empty where none are wanted.

    Raises
    ------
    ConfigError
        When an option's environment variable is not set.
    InfrastructureError
        When a table cannot be written; the release itself is in its place.
    """
    if config.release_format is None:
        return []
    written = []
    for name in NAMES:
        parts = sorted(
            file
            for file in (str(entry["file"]) for entry in files)
            if re.match(rf"{name}[-.].*parquet$", file)
        )
        if not parts:  # chunks by themselves make no documents
            continue
        place = table_place(config, name, period)
        try:
            if config.release_format == "delta":
                _write_delta(store, parts, place)
            else:
                _write_spark(
                    spark, config, [store.path("release", p) for p in parts], name, period, place
                )
        except (ConfigError, InfrastructureError):
            raise
        except Exception as error:
            condition = error.getCondition() if hasattr(error, "getCondition") else None
            raise InfrastructureError(
                f"output.release_format: table {place} was not written "
                f"({condition or type(error).__name__}); the release itself is complete in "
                f"{store.path('release')}: correct the format, its path or options and run again"
            ) from error
        written.append(place)
    return written


def _filled(text: str, name: str, period: str | None) -> str:
    """A template with the table's name and the period, as a word, in it."""
    word = re.sub(r"\W+", "_", period or "all")
    return text.replace("{table}", name).replace("{period}", word)


def table_place(config: OutputConfig, name: str, period: str | None) -> str:
    """Return where a table of the release goes: its name, its path, or format and name."""
    form = config.release_format or ""
    if form.startswith(TABLE):
        return _filled(form.removeprefix(TABLE), name, period)
    if config.release_path is None:
        return f"{form} ({name})"
    path = config.release_path
    if "{table}" not in path:
        path = path.rstrip("/") + "/{table}"
    return _filled(path, name, period)


def _write_spark(
    spark: SparkSession,
    config: OutputConfig,
    parts: list[str],
    name: str,
    period: str | None,
    place: str,
) -> None:
    form = config.release_format or ""
    given = {key: _filled(value, name, period) for key, value in config.release_options.items()}
    options = with_environment(given, "output.release_options")
    provider = options.pop("provider", None)
    writer = spark.read.parquet(*parts).write.mode("overwrite").options(**options)
    if form.startswith(TABLE):
        if provider is not None:
            writer = writer.format(provider)
        writer.saveAsTable(place)
        return
    writer = writer.format(form.removeprefix(SOURCE))
    if config.release_path is None:
        writer.save()
    else:
        writer.save(place)


def _write_delta(store: Store, parts: list[str], place: str) -> None:
    """Write with the package deltalake: files go through this process, a batch at a time."""
    folder = delta_folder(place)
    from deltalake import write_deltalake

    rows = store.batches(parts, "release")
    write_deltalake(folder, rows, mode="overwrite", schema_mode="overwrite")
