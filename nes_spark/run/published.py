"""A finished run folder, opened in one place: what was published, and what it was made from."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nes_spark.config import Config, build_config, load_config
from nes_spark.errors import ConfigError, InputError
from nes_spark.releases.choice import Choice
from nes_spark.store import Store

if TYPE_CHECKING:
    from nes_spark.mixture import MixtureModel

#: Manifest of the last step of a run: it is there once a release was published.
PUBLICATION = "publication"
#: The same of a run whose release waits for an audit by language models.
PROPOSAL = "proposal"
#: The configuration of a run, beside its tables.
CONFIGURATION = ("stages", "config.json")


def saved_configuration(store: Store) -> dict[str, Any]:
    """Return the configuration that a run was made with, not yet validated.

    Raises
    ------
    InputError
        When the folder holds no finished run.
    """
    content = store.read_json(*CONFIGURATION)
    if not isinstance(content, dict):
        raise InputError(f"{store.root}: holds no finished run; give a folder such as out/2020Q3")
    return content


def _run_in(folder: str) -> str:
    """Return a run's folder in a folder of runs, else an example of one."""
    places = sorted(p.parent for p in Path(folder).glob("*/release") if p.is_dir())
    return str(places[0]) if places else "out/2020Q3"


class PublishedRun:
    """A run folder ``OUT/PERIOD``, local or remote, that holds a published release.

    Parameters
    ----------
    where : Store, str or pathlib.Path
        The run folder.

    Raises
    ------
    InputError
        When nothing was published there.
    """

    def __init__(self, where: Store | str | Path) -> None:
        self.store = where if isinstance(where, Store) else Store(where)
        found = self.store.manifest(PUBLICATION)
        if found is None:
            raise InputError(
                f"{self.store.root}: no published run here; give folders such as "
                f"{_run_in(self.store.root)}, where 'nes-spark run' wrote a release"
            )
        self.key: str = found.key
        self.details: dict[str, Any] = found.details
        self.choice: Choice = Choice.from_dict(found.details["choice"])

    @property
    def mlflow_run_id(self) -> str | None:
        """The MLflow run; None where tracking was off."""
        return self.details["mlflow_run_id"]

    @cached_property
    def config(self) -> Config:
        """The configuration that the run was made with."""
        return build_config(saved_configuration(self.store), self.store.root)

    @property
    def unit(self) -> str:
        """What was exchanged as a whole: chunk or document (both: nothing was, of either)."""
        return self.choice.combination.unit or self.config.releases.unit

    @cached_property
    def record(self) -> dict[str, Any]:
        """What release.json says.

        Raises
        ------
        InputError
            When it is not there or cannot be read.
        """
        record = self.store.read_json("release", "release.json")
        if not isinstance(record, dict):
            raise InputError(f"{self.store.root}: release/release.json is missing or damaged")
        return record

    def models(self) -> dict[str, MixtureModel]:
        """Setting -> fitted mixture."""
        from nes_spark.run.context import read_models  # imports the mixture's kernels

        return read_models(self.store)

    def released_texts(self) -> Iterator[tuple[str, str]]:
        """Yield the id and the text of every released chunk, file by file.

        Raises
        ------
        InputError
            When a file is not what was published.
        """
        digests = {entry["file"]: entry["sha256"] for entry in self.record["files"]}
        for name in sorted(n for n in digests if n.startswith("chunks") and n.endswith(".jsonl")):
            content = read_released(self.store, name, digests[name])
            for line in content.splitlines():
                row = json.loads(line)
                yield row["chunk_id"], row["text"]

    def digests(self) -> dict[str, bytes]:
        """Chunk -> digest of its text before swapping."""
        return {c: _digest(text) for c, text in self.store.rows("chunks", ["chunk_id", "text"])}

    def changed(self) -> dict[str, bytes]:
        """Swapped chunk -> digest of its text after swapping."""
        return {c: _digest(text) for c, text in self._mine("rewrites", ["chunk_id", "text"])}

    def replaced(self) -> dict[str, dict[tuple[str, int], bytes]]:
        """Swapped chunk -> (category, start) of what was replaced -> digest of what came there."""
        last = dict(self._mine("rewrites", ["chunk_id", "edits"]))
        return {
            c: {(e["category"], e["start"]): _digest(e["new"])[:8] for e in edits}
            for c, edits in last.items()
        }

    def swaps(self) -> dict[tuple[str, str], str]:
        """Pair of chunks -> what was exchanged, in a form that can be compared."""
        rows = self._mine("swaps", ["chunk_a", "chunk_b", "exchanged"])
        return {
            (a, b): repr(sorted(tuple(sorted(e.items())) for e in exchanged))
            for a, b, exchanged in rows
        }

    def components(self) -> dict[str, int]:
        """Chunk -> its component in the chosen setting."""
        rows = self.store.rows("assignments", ["setting", "chunk_id", "component"])
        return {c: k for setting, c, k in rows if setting == self.choice.setting}

    def _mine(self, name: str, columns: list[str]) -> list[tuple[Any, ...]]:
        """Rows of the chosen release, in the order of its swaps."""
        keys = ["setting", "combination", "draw", "order"]
        wanted = (self.choice.setting, self.choice.combination.name, self.choice.draw)
        rows = [
            row
            for row in self.store.rows(name, keys + columns)
            if row[:3] == wanted and row[3] <= self.choice.n_swaps
        ]
        return [row[4:] for row in sorted(rows, key=lambda row: row[3])]


def not_as_published(store: Store, name: str, how: str) -> InputError:
    """Return the error for a file of a release that is missing, or not what was published."""
    return InputError(
        f"{store.path('release')}/{name}: {how} since the release was published; restore it from "
        "its backup, or publish anew with 'nes-spark run --force'"
    )


def read_released(store: Store, name: str, digest: str) -> bytes:
    """Return the bytes of a file of a release.

    Parameters
    ----------
    store : Store
        The run folder.
    name, digest : str
        ``file`` and ``sha256`` of its entry in ``release.json``.

    Raises
    ------
    InputError
        When it is missing or has changed.
    """
    content = store.read_bytes("release", name)
    if content is None:
        raise not_as_published(store, name, "is missing")
    if hashlib.sha256(content).hexdigest() != digest:
        raise not_as_published(store, name, "has changed")
    return content


def replaced_by(config: Config, store: Store) -> str | None:
    """Say which release a run with another configuration would replace, and what differs.

    Parameters
    ----------
    config : Config
        What is to be run.
    store : Store
        Its run folder.

    Returns
    -------
    str or None
        One line; None where nothing was published or nothing that decides a release differs.
        Every key that differs stands in it, first those of ``--set``; its values where they may
        be logged.
    """
    from nes_spark.run.differing import UNSET, changed, settings
    from nes_spark.run.outcome import release_sections

    if store.manifest(PUBLICATION) is None:
        return None
    run = PublishedRun(store)
    try:
        before = run.config
    except (ConfigError, InputError):  # of another version
        return f"{store.root}: the release that is there, of another version, is replaced"
    # of section output what is published; where it goes is no matter of the release
    parts = (*release_sections(), "output.publish", "output.withhold", "output.instead")
    old, new = settings(before), settings(config)
    keys = [
        key
        for key in dict.fromkeys([*old, *new])
        if (key in parts or key.partition(".")[0] in parts)
        and old.get(key, UNSET).content != new.get(key, UNSET).content
    ]
    if not keys:
        return None
    keys.sort(key=lambda key: not key.startswith(config.changed))
    words = [f"{key} {changed(old.get(key, UNSET), new.get(key, UNSET))}" for key in keys]
    choice = run.choice
    return (
        f"{store.root}: replaces the release that is there ({choice.n_swaps:,} swaps of "
        f"{choice.combination.name or 'nothing'}); what differs: {'; '.join(words)}"
    )


def configuration_of(
    where: Store | str | Path,
    conf: str | Path | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Config:
    """Return the configuration a run was made with, with another ``audit`` section where given.

    Parameters
    ----------
    where : Store, str or pathlib.Path
        A run folder ``OUT/PERIOD``.
    conf : str or pathlib.Path, optional
        Configuration whose ``audit`` section replaces that of the run.
    overrides : mapping, optional
        Dotted keys below ``audit``.

    Raises
    ------
    InputError
        When the folder holds no finished run.
    ConfigError
        When the configuration has faults or a key outside ``audit`` is set.
    """
    store = where if isinstance(where, Store) else Store(where)
    content = saved_configuration(store)
    if conf is not None:
        content["audit"] = load_config(conf).audit.model_dump(mode="json")
    for key, value in (overrides or {}).items():
        section, _, rest = key.partition(".")
        if section != "audit" or not rest or "." in rest:
            raise ConfigError(f"--set {key}: only keys of the section audit can be set here")
        content["audit"][rest] = value
    if conf is not None or overrides:
        # an audit asks for no summaries, and its models may be others
        content.get("releases", {}).get("summary", {}).pop("model", None)
    return build_config(content, store.root)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
