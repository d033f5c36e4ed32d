"""What a run works with: session, configuration, run folder, secret seed; and how it is opened."""

from __future__ import annotations

import contextlib
import os
import posixpath
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nes_spark import scratch
from nes_spark.config import Config
from nes_spark.errors import ConfigError, InputError, NesError
from nes_spark.failures import translated
from nes_spark.run.beside import check_columns
from nes_spark.run.secrets import required_secrets
from nes_spark.store import MANIFEST, Manifest, Store, find_inputs, input_fingerprint, is_small

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pyspark.sql import DataFrame, SparkSession

    from nes_spark.embedding import EmbedderSpec
    from nes_spark.mixture import MixtureModel
    from nes_spark.tracking import Tracker

ALL_PERIODS = "all"
#: Spark's own messages, which quote values of rows; kept only when a run fails.
SPARK_LOG = ("stages", "spark.log")


@dataclass(frozen=True)
class Taken:
    """What a stage took of an earlier run.

    Attributes
    ----------
    made_with : str
        The units key of the output: digest of all that a part depends on besides its unit.
    units : int
        Units taken.
    of : int
        All units.
    what : str
        Plural of a unit, e.g. ``documents``.
    origin : str
        Name of the earlier run; empty where nothing was taken.
    """

    made_with: str
    units: int
    of: int
    what: str
    origin: str

    @property
    def share(self) -> str:
        """How many of how many; empty where none were."""
        return f"{self.units:,} of {self.of:,} {self.what} taken" if self.units else ""

    def __str__(self) -> str:
        return f"{self.share} from {self.origin}" if self.units else ""


@dataclass
class Context:
    """What stages work with: the session, the configuration, the tables so far, the secret.

    ``started`` is when the run was opened, in seconds since 1970; ``tracker`` the tracking store
    where it is being opened already, ``grid`` the figure of many settings where it is being drawn
    already (:func:`nes_spark.run.mlflow_run.draw_grid_ahead`), ``ready`` the attackers that are
    being made ready (:func:`nes_spark.run.measuring.make_ready`); with ``anew`` nothing is taken
    from earlier runs. ``small`` says that the input is, and ``begun`` holds key and outputs of the
    stages that work ahead (:mod:`nes_spark.run.ahead`). ``units_key`` and ``taken`` belong to the
    stage that works (:mod:`nes_spark.run.earlier`).
    """

    spark: SparkSession
    config: Config
    store: Store
    secret: bytes
    input_fingerprint: str
    kept: list[DataFrame] = field(default_factory=list, repr=False)
    started: float = field(default_factory=time.time)
    tracker: Future[Tracker] | None = field(default=None, repr=False)
    grid: Future[bytes] | None = field(default=None, repr=False)
    ready: dict[Any, Future[Any]] = field(default_factory=dict, repr=False)
    anew: bool = False
    small: bool = False
    begun: dict[str, tuple[str, Future[Any]]] = field(default_factory=dict, repr=False)
    units_key: str = field(default="", repr=False)
    taken: Taken | None = field(default=None, repr=False)
    _words: int | None = field(default=None, repr=False)
    _lasting: dict[str, DataFrame] = field(default_factory=dict, repr=False)

    def persisted(self, frame: DataFrame) -> DataFrame:
        """Persist a frame; that of a large corpus on disk, which leaves the heap to the work."""
        from pyspark import StorageLevel

        return frame.persist() if self.small else frame.persist(StorageLevel.DISK_ONLY)

    def keep(self, frame: DataFrame) -> DataFrame:
        """Persist a frame that several outputs of the stage come from, until they are written."""
        self.kept.append(self.persisted(frame))
        return self.kept[-1]

    def release_kept(self) -> None:
        """Drop what :meth:`keep` persisted."""
        while self.kept:
            self.kept.pop().unpersist()

    def __enter__(self) -> Context:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Drop all that was persisted; the session may be somebody else's and go on."""
        try:
            self.release_kept()
            while self._lasting:
                self._lasting.popitem()[1].unpersist()
        except Exception:
            if error is None:  # else Java may be gone, and what failed before says where
                raise

    def table(self, name: str) -> DataFrame:
        """Open a finished table."""
        return self.store.read_table(self.spark, name)

    def words(self) -> int:
        """Count the words of all chunks, about; once for as long as the run is open."""
        if self._words is None:
            self._words = sum(
                text.count(" ") + 1 for (text,) in self.store.rows("chunks", ["text"])
            )
        return self._words

    def cache_path(self) -> str | None:
        """Where vectors of remote models are kept: beside the run folders, for all periods."""
        given = self.config.embedding.cache_path
        if given is None and self.store.is_local:
            given = posixpath.join(posixpath.dirname(self.store.root), "cache", "embeddings")
        return given

    def spec(self) -> EmbedderSpec:
        """How workers load the embedder of this run."""
        from nes_spark.embedding import spec_for

        config = self.config.embedding
        fitted = self.store.path("stages", "embedder") if config.model == "lsa" else None
        return spec_for(config, fitted_path=fitted, cache_path=self.cache_path())

    def sentence_spec(self) -> EmbedderSpec:
        """How workers load what embeds sentences to find where chunks end."""
        from nes_spark.embedding import EmbedderSpec

        kind = self.config.chunking.embedding
        if kind == "auto":
            kind = "bundled" if self.config.embedding.model == "contextual" else "same"
        return EmbedderSpec("bundled") if kind == "bundled" else self.spec()

    def shifts(self) -> DataFrame | None:
        """Return the secret shift of the dates of each document; None where none are shifted.

        Whole documents are read for it, so it is kept from the first stage that asks to the last.
        """
        from nes_spark.swapping.shift_stages import shifts_of

        releases = self.config.releases
        if not releases.shift:
            return None
        if "shifts" not in self._lasting:
            drawn = shifts_of(self.table("documents"), self.secret, releases.shift_days)
            self._lasting["shifts"] = self.persisted(drawn)
        return self._lasting["shifts"]

    def models(self) -> dict[str, MixtureModel]:
        """The fitted mixtures by setting."""
        return read_models(self.store)


def finished(store: Store, name: str) -> Manifest:
    """Return the manifest of an output that must be there.

    Raises
    ------
    NesError
        When the stage that gives it has not finished.
    """
    found = store.manifest(name)
    if found is None:
        raise NesError(f"{name}: a stage that should give it has not finished")
    return found


def read_models(store: Store) -> dict[str, MixtureModel]:
    """Read the fitted mixtures of a run folder, by setting."""
    from nes_spark.mixture import MixtureModel

    found = finished(store, "mixture")
    with store.open_artifact("mixture") as folder:
        return {
            name: MixtureModel.load(folder / file) for name, file in found.details["files"].items()
        }


def run_folder(config: Config) -> Store:
    """Return the run folder of a configuration, ``OUT/PERIOD``; it need not be there."""
    return Store(posixpath.join(config.output.directory, config.period or ALL_PERIODS))


@contextlib.contextmanager
def open_run(
    config: Config,
    spark: SparkSession | None = None,
    profiled: Callable[[Store, Path], None] | None = None,
) -> Iterator[Context]:
    """Open the run folder of a configuration: session, store, lock, secret seed, input digest.

    Parameters
    ----------
    config : Config
        ``input.path``, or a format that needs none, must be set.
    spark : pyspark.sql.SparkSession, optional
        A session to use. Otherwise the active one is used or, where there is none, one is started
        and stopped at the end.
    profiled : callable, optional
        Called when all went well and the session has ended, with the store and the folder of
        Spark's event log.

    Yields
    ------
    Context
        For stages; the folder is locked while it is open.
    """
    started = time.time()
    assert config.input.path or config.input.from_table  # looked at by check_config
    from nes_spark.session import run_session
    from nes_spark.swapping import load_secret

    store = run_folder(config)
    required_secrets(config, store.local_path("sealed") if store.is_local else None)
    paths = config.input.paths
    audit = config.audit
    find_inputs([*paths, *(p for p in (audit.background, audit.public_words) if p)])
    check_columns(config)
    made = new_folders(store)
    with translated("run"):
        store.prepare()
    with translated("run"), store.lock(), gone_if_refused(made), store.work() as work:
        secret = load_secret(config.seed, store.local_path("sealed") if store.is_local else None)
        log = store.local_path(*SPARK_LOG) if store.is_local else None
        with contextlib.ExitStack() as until:
            events = None
            if profiled is not None:
                folder = work
                if folder is None:
                    folder, close = scratch.temporary_work()
                    until.callback(close)
                events = scratch.private_folder(folder / "events")
            small = bool(paths) and is_small(paths)
            with run_session(config.spark, work, log, spark, small, events) as session:
                digest = input_digest(session, config)
                context = Context(
                    session, config, store, secret, digest, started=started, small=small
                )
                with context:
                    yield context
            if profiled is not None and events is not None:
                profiled(store, events)


def new_folders(store: Store) -> list[Path]:
    """Return the folders that a run would make: its own and those around it; none elsewhere."""
    if not store.is_local:
        return []
    root = store.local_path()
    return [folder for folder in (root, *root.parents) if not folder.exists()]


@contextlib.contextmanager
def gone_if_refused(made: Sequence[Path]) -> Iterator[None]:
    """Take a run folder away that was made for a run which is refused before a stage has finished.

    A seed in it would be kept as if it belonged to a release. A folder that was there before stays,
    and so does one of a run that failed otherwise: that may go on. The caller holds its lock.

    Parameters
    ----------
    made : sequence of pathlib.Path
        What :func:`new_folders` said before.
    """
    try:
        yield
    except (ConfigError, InputError):
        if made and not any(made[0].glob(f"stages/*/{MANIFEST}")):
            # what refused the run is told, whatever becomes of its folder
            with contextlib.suppress(OSError, NesError):
                # out of the way at once: a run that begins meanwhile makes its own
                aside = made[0].with_name(f".{made[0].name}.refused-{os.getpid()}")
                made[0].rename(aside)
                scratch.remove_tree(aside)
                for around in made[1:]:  # one that holds something else stays
                    around.rmdir()
        raise


def input_digest(session: SparkSession, config: Config) -> str:
    """Digest of the documents, wherever they are."""
    if config.input.from_table:
        from nes_spark.text.source_stages import source_fingerprint

        return source_fingerprint(session, config.input)
    return input_fingerprint(session, config.input.paths)
