"""Where the tables of a run live: one folder a table, a manifest that makes it count.

A table is written straight to its folder by Spark; the manifest is written last, in one atomic
step. Only a table with a manifest is ever read, and it counts as done only while the manifest's key
(code version, configuration that mattered, content of its inputs) is the key of today. So a crash
at any moment leaves either the old state, or no manifest and thus work to redo.

Paths may be local or URIs that ``pyarrow.fs`` knows (``s3://``, ``gs://``, ``hdfs://``); Spark
reads and writes the same paths.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
import posixpath
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyarrow import fs as pafs

from nes_spark import scratch
from nes_spark.errors import InfrastructureError, InputError
from nes_spark.logs import LOGGER, inside
from nes_spark.schemas import TABLES, arrow_schema
from nes_spark.versions import code_version

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

MANIFEST = "_manifest.json"
FORMAT = 2
#: Rows and bytes (not compressed) of tables that are hashed without a query.
SMALL_ROWS, SMALL_BYTES = 20_000, 4 << 20
_NO_PACKAGE = "ClassNotFoundException: Class org.apache.hadoop.fs"
#: More bytes than this are not read again to see whether they changed: names, sizes and rows only.
READ_AGAIN = 4 << 30
#: Folder in which a release is put together before it is moved to its place.
UNFINISHED = "release.tmp"
_HALF = ".tmp-"


def combine(*parts: str) -> str:
    """Return one SHA-256 over several strings, unambiguous about where each ends."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def canonical_json(content: Any) -> bytes:
    """Return JSON with sorted keys and one trailing newline: equal content, equal bytes."""
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


@dataclass(frozen=True)
class FileFacts:
    """What is known of a file of a finished output.

    Attributes
    ----------
    bytes : int
        Its size.
    sha256 : str or None
        Its digest; None on a remote file system, where reading all again would cost as much as the
        stage.
    """

    bytes: int
    sha256: str | None = None


@dataclass(frozen=True)
class Manifest:
    """What is known of a finished table or artifact.

    Attributes
    ----------
    key : str
        Digest of all that the content depends on; equal keys mean equal content.
    content : str
        Digest of the content itself, independent of row order and partitioning.
    rows : int
        Rows of a table, files of an artifact.
    seconds : float
        Wall time of the stage that wrote it.
    inputs : dict
        Name of each input -> content digest it had.
    files : dict
        Path of each file below the output's folder -> what it was when the output was finished.
    """

    name: str
    key: str
    content: str
    rows: int
    seconds: float = 0.0
    code: str = ""
    inputs: dict[str, str] = field(default_factory=dict)
    details: dict[str, Any] = field(default_factory=dict)
    format: int = FORMAT
    files: dict[str, FileFacts] = field(default_factory=dict)

    @classmethod
    def read(cls, content: Any) -> Manifest | None:
        """Return the manifest that parsed JSON holds; None when it is none of this format."""
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            return None
        try:
            files = {str(name): FileFacts(**facts) for name, facts in content["files"].items()}
            found = cls(**{**content, "files": files})
        except (TypeError, KeyError, AttributeError):
            return None
        right = isinstance(found.key, str) and isinstance(found.rows, int)
        return found if right and isinstance(found.details, dict) else None


class Store:
    """The folder of one run, ``OUT/PERIOD``.

    Parameters
    ----------
    root : str or pathlib.Path
        Local path or URI of the run folder; created when missing.

    Raises
    ------
    InfrastructureError
        When the folder cannot be created or written.
    """

    def __init__(self, root: str | Path) -> None:
        text = str(root)
        if "://" not in text:
            text = str(Path(text).expanduser().absolute())
        text = text.rstrip("/") if not text.endswith("://") else text
        self.root = text
        self._verified: dict[str, str] = {}  # output -> facts of its files, once they were read
        try:
            self._fs, self._path = pafs.FileSystem.from_uri(text)
        except (OSError, ValueError) as error:
            raise InfrastructureError(f"{text}: not a usable location: {error}") from None

    @property
    def is_local(self) -> bool:
        """Whether the run folder is on the local file system."""
        return isinstance(self._fs, pafs.LocalFileSystem)

    def path(self, *parts: str) -> str:
        """Return the path or URI of something below the run folder, as Spark takes it."""
        return posixpath.join(self.root, *parts)

    def local_path(self, *parts: str) -> Path:
        """Return a local path below the run folder.

        Raises
        ------
        InfrastructureError
            When the run folder is remote.
        """
        if not self.is_local:
            raise InfrastructureError(f"{self.root}: this needs a run folder on a local disk")
        return Path(self._path, *parts)

    # -- small files ---------------------------------------------------------------------------

    def prepare(self) -> None:
        """Create the run folder; what holds original text is for its owner only."""
        self.make_folder()
        self.make_folder("stages", mode=0o700)
        self.make_folder("sealed", mode=0o700)

    def make_folder(self, *parts: str, mode: int | None = None) -> None:
        """Create a folder below the run folder, with an owner-only mode where asked for."""
        target = posixpath.join(self._path, *parts)
        try:
            self._fs.create_dir(target, recursive=True)
            if self.is_local and mode is not None:
                os.chmod(target, mode)
        except OSError as error:
            raise InfrastructureError(_disk_message(target, error)) from None

    def write_bytes(self, content: bytes, *parts: str, mode: int | None = None) -> None:
        """Write a small file in one atomic step."""
        target = posixpath.join(self._path, *parts)
        try:
            self._fs.create_dir(posixpath.dirname(target), recursive=True)
            if self.is_local:
                handle, temporary = tempfile.mkstemp(dir=posixpath.dirname(target), prefix=_HALF)
                try:
                    with os.fdopen(handle, "wb") as stream:
                        stream.write(content)
                        stream.flush()
                        os.fsync(stream.fileno())
                    os.chmod(temporary, 0o644 if mode is None else mode)
                    os.replace(temporary, target)
                except BaseException:
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(temporary)
                    raise
            else:  # object stores publish a file only when it is complete
                with self._fs.open_output_stream(target) as stream:
                    stream.write(content)
        except OSError as error:
            raise InfrastructureError(_disk_message(target, error)) from None

    def write_json(self, content: Any, *parts: str) -> None:
        """Write canonical JSON atomically."""
        self.write_bytes(canonical_json(content), *parts)

    def read_bytes(self, *parts: str) -> bytes | None:
        """Return a small file's content, None when there is no such file."""
        target = posixpath.join(self._path, *parts)
        if self._fs.get_file_info(target).type != pafs.FileType.File:
            return None
        with self._fs.open_input_stream(target) as stream:
            return stream.read()

    def read_json(self, *parts: str) -> Any:
        """Return parsed JSON, None when there is no such file or it is not JSON."""
        content = self.read_bytes(*parts)
        if content is None:
            return None
        try:
            return json.loads(content)
        except ValueError:
            return None

    def remove(self, *parts: str) -> None:
        """Remove a file or folder if it is there."""
        target = posixpath.join(self._path, *parts)
        info = self._fs.get_file_info(target)
        if info.type == pafs.FileType.Directory:
            self._fs.delete_dir(target)
        elif info.type == pafs.FileType.File:
            self._fs.delete_file(target)

    def move(self, source: str, target: str, mode: int | None = None) -> None:
        """Replace folder ``target`` by folder ``source`` (both below the run folder).

        On a local disk the folder gets ``mode`` where one is given, and the gap between removing
        the old and naming the new is two renames long; a crash in it leaves the old folder under
        ``<target>.old``, which :meth:`recover` puts back.
        """
        old = f"{target}.old"
        self.remove(old)
        paths = [posixpath.join(self._path, p) for p in (source, target, old)]
        if self._fs.get_file_info(paths[1]).type != pafs.FileType.NotFound:
            self._fs.move(paths[1], paths[2])
        if self.is_local and mode is not None:
            os.chmod(paths[0], mode)
        self._fs.move(paths[0], paths[1])
        self.remove(old)

    def recover(self, target: str) -> None:
        """Put back the old folder if a crash struck :meth:`move` between its two renames."""
        paths = [posixpath.join(self._path, p) for p in (target, f"{target}.old")]
        infos = self._fs.get_file_info(paths)
        if infos[0].type == pafs.FileType.NotFound and infos[1].type != pafs.FileType.NotFound:
            self._fs.move(paths[1], paths[0])
        else:
            self.remove(f"{target}.old")

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Keep two runs out of one local folder; the system releases it when a process dies.

        Raises
        ------
        InfrastructureError
            When another run works in the folder.
        """
        if not self.is_local:
            yield
            return
        import fcntl

        with open(self.local_path(".lock"), "w") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise InfrastructureError(
                    f"{self.root}: another run works in this folder; wait for it or choose "
                    "another --output"
                ) from None
            yield

    @contextlib.contextmanager
    def work(self) -> Iterator[Path | None]:
        """Give an empty folder for working files, owner only; use it with the lock held.

        It is gone when the block ends. What a run that was killed has left is removed first:
        working files, half-written small files and a release that was being put together.

        Yields
        ------
        pathlib.Path or None
            None for a remote run folder, which cannot hold the files of a process.
        """
        if not self.is_local:
            self.remove(UNFINISHED)
            yield None
            return
        root = self.local_path()
        folder = root / scratch.WORK
        scratch.remove_tree(folder)
        for half in root.rglob(f"{_HALF}*"):
            half.unlink(missing_ok=True)
        scratch.remove_tree(root / UNFINISHED)
        try:
            yield scratch.private_folder(folder)
        finally:
            scratch.remove_tree(folder)
            scratch.remove_tree(root / UNFINISHED)

    @contextlib.contextmanager
    def temporary(self) -> Iterator[Path]:
        """Give a temporary folder on the local disk: among the working files of the run if open."""
        inside = self.local_path(scratch.WORK) if self.is_local else None
        place = inside if inside is not None and inside.is_dir() else None
        with tempfile.TemporaryDirectory(prefix="nes-spark-", dir=place) as folder:
            yield Path(folder)

    def exists(self, *parts: str) -> bool:
        """Whether a file or folder is there."""
        target = posixpath.join(self._path, *parts)
        return self._fs.get_file_info(target).type != pafs.FileType.NotFound

    def names(self, *parts: str) -> list[str]:
        """Names of the files and folders in a folder, hidden ones too, sorted."""
        folder = posixpath.join(self._path, *parts)
        found = self._fs.get_file_info(pafs.FileSelector(folder, allow_not_found=True))
        return sorted(f.base_name for f in found)

    def siblings(self) -> list[str]:
        """Names of the run folders beside this one, sorted; those of all periods but this."""
        parent = posixpath.dirname(self._path)
        found = self._fs.get_file_info(pafs.FileSelector(parent, allow_not_found=True))
        names = {f.base_name for f in found if f.type == pafs.FileType.Directory}
        return sorted(names - {posixpath.basename(self._path)})

    # -- manifests -----------------------------------------------------------------------------

    def manifest(self, name: str) -> Manifest | None:
        """Return the manifest of a table or artifact, None when it does not count as done.

        It counts when exactly the files that its manifest names are there, with the sizes they had.
        What is in them is looked at by :meth:`is_current` and when it is opened.
        """
        found = self.read_manifest(name)
        return None if found is None or self._misfit(found) else found

    def read_manifest(self, name: str) -> Manifest | None:
        """Return the manifest that a table or artifact has, whatever became of its files."""
        return Manifest.read(self.read_json("stages", name, MANIFEST))

    def is_current(self, name: str, key: str) -> bool:
        """Whether a finished output with this key is there, whole: then nothing need be done."""
        found = self.read_manifest(name)
        if found is None or found.key != key:
            return False
        fault = self._fault(found)
        if fault:
            LOGGER.warning("%s: %s since it was finished; it is made again", name, fault)
        return not fault

    def _commit(self, manifest: Manifest) -> Manifest:
        self.write_json(asdict(manifest), "stages", manifest.name, MANIFEST)
        return manifest

    def _files(self, name: str) -> dict[str, pafs.FileInfo]:
        """Files of an output by path below its folder; hidden ones are not of the output."""
        folder = posixpath.join(self._path, "stages", name)
        found = self._fs.get_file_info(
            pafs.FileSelector(folder, allow_not_found=True, recursive=True)
        )
        files = {
            posixpath.relpath(f.path, folder): f for f in found if f.type == pafs.FileType.File
        }
        return {
            path: f
            for path, f in files.items()
            if not any(part.startswith((".", "_")) for part in path.split("/"))
        }

    def _facts(self, name: str) -> dict[str, FileFacts]:
        """Sizes and, on a local disk, digests of the files of an output."""
        found = dict(sorted(self._files(name).items()))
        digests: Iterable[str | None] = [None] * len(found)
        if self.is_local and found:
            # hashing and reading let go of the interpreter: nobody else works meanwhile
            with ThreadPoolExecutor(min(8, os.cpu_count() or 1, len(found))) as pool:
                digests = [*pool.map(self._digest_of, [f.path for f in found.values()])]
        facts = {
            path: FileFacts(int(f.size), digest)
            for (path, f), digest in zip(found.items(), digests, strict=True)
        }
        self._verified[name] = repr(facts)
        return facts

    def _digest_of(self, path: str) -> str:
        digest = hashlib.sha256()
        with self._fs.open_input_stream(path) as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
        return digest.hexdigest()

    def _misfit(self, manifest: Manifest) -> str:
        """Say how the files there differ from the manifest's by name or size; empty if not."""
        there = self._files(manifest.name)
        for path, facts in sorted(manifest.files.items()):
            if path not in there:
                return f"{path} is missing"
            if there[path].size != facts.bytes:
                return f"{path} has changed"
        added = sorted(set(there) - set(manifest.files))
        return f"{added[0]} was added" if added else ""

    def _fault(self, manifest: Manifest) -> str:
        """Say how the files there differ from the manifest's; empty if they do not.

        Names and sizes are compared each time. The content is read once for each opened run folder
        and compared by digest, up to :data:`READ_AGAIN` bytes; above that and on remote file
        systems the rows that the files of a table say they hold are added up.
        """
        fault = self._misfit(manifest)
        if fault or self._verified.get(manifest.name) == repr(manifest.files):
            return fault
        total = sum(facts.bytes for facts in manifest.files.values())
        if total <= READ_AGAIN and all(facts.sha256 for facts in manifest.files.values()):
            folder = posixpath.join(self._path, "stages", manifest.name)
            for path, facts in sorted(manifest.files.items()):
                if self._digest_of(posixpath.join(folder, path)) != facts.sha256:
                    return f"{path} has changed"
        elif manifest.name in TABLES and self._parts(manifest.name).count_rows() != manifest.rows:
            return "rows are missing"
        self._verified[manifest.name] = repr(manifest.files)
        return ""

    def fault(self, name: str) -> str:
        """Say how the files of a finished output differ from what was finished; empty if not."""
        found = self.read_manifest(name)
        return "is not finished" if found is None else self._fault(found)

    def hand_over(self, name: str, other: Store) -> bool:
        """Move an output to another run folder on the same disk, in place of what is there.

        Returns
        -------
        bool
            False where the file system cannot move folders (object stores); nothing has changed.
        """
        target = posixpath.join(other._path, "stages", name)
        try:
            other.make_folder()
            other.make_folder("stages", mode=0o700)
            other._discard(name)
            self._fs.move(posixpath.join(self._path, "stages", name), target)
        except (OSError, NotImplementedError):
            return False
        return True

    def _discard(self, name: str) -> None:
        """Withdraw the manifest first, so that a half-removed table never counts."""
        self.remove("stages", name, MANIFEST)
        self.remove("stages", name)

    # -- tables --------------------------------------------------------------------------------

    def write_table(
        self,
        name: str,
        frame: DataFrame | pd.DataFrame | Sequence[tuple[Any, ...]],
        key: str,
        inputs: Mapping[str, str] | None = None,
    ) -> Manifest:
        """Write a table and commit it.

        Rows that are in this process already are written by it: Spark would take them over, plan
        two queries and give the same file.

        Parameters
        ----------
        name : str
            A name in :data:`nes_spark.schemas.TABLES`.
        frame : pyspark.sql.DataFrame, pandas.DataFrame or sequence of tuple
            Its rows; a frame must have exactly the declared columns (in any order), a tuple holds
            their values in the declared order. In a pandas frame NaN is null.
        key : str
            Digest of all that the content depends on.
        inputs : mapping, optional
            Name of input -> content digest, kept for the reader of the manifest.

        Returns
        -------
        Manifest
            Without ``seconds``; :meth:`finish` sets them.

        Raises
        ------
        InfrastructureError
            When the columns differ from the declared ones or the disk refuses.
        """
        table = TABLES[name]
        columns = getattr(frame, "columns", table.names)
        missing = set(table.names) ^ set(columns)
        if missing:
            raise InfrastructureError(
                f"table {name}: columns {sorted(missing)} are missing or not declared"
            )
        inside(f"table {name}")
        self._discard(name)
        session: SparkSession | None = getattr(frame, "sparkSession", None)
        if session is None:
            self._write_rows(name, frame)
        else:
            theirs: Any = frame
            cast = [f"CAST(`{c.name}` AS {c.type}) AS `{c.name}`" for c in table.columns]
            theirs.selectExpr(*cast).write.mode("overwrite").parquet(self.path("stages", name))
        rows, content = self._content(name, session)
        return self._commit(
            Manifest(
                name,
                key,
                content,
                rows,
                code=code_version(),
                inputs=dict(inputs or {}),
                files=self._facts(name),
            )
        )

    def _write_rows(self, name: str, rows: Any) -> None:
        """Write rows of this process as the one file of a table."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = arrow_schema(TABLES[name].ddl)
        if hasattr(rows, "columns"):
            found = pa.Table.from_pandas(rows[schema.names], schema, preserve_index=False)
        else:
            values = zip(*rows, strict=True) if rows else ([] for _ in schema)
            columns = [pa.array(v, f.type) for v, f in zip(values, schema, strict=True)]
            found = pa.Table.from_arrays(columns, schema=schema)
        folder = posixpath.join(self._path, "stages", name)
        try:
            self._fs.create_dir(folder, recursive=True)
            with self._fs.open_output_stream(posixpath.join(folder, "part-0.parquet")) as sink:
                pq.write_table(found.replace_schema_metadata(None), sink, compression="snappy")
        except OSError as error:
            raise InfrastructureError(_disk_message(folder, error)) from None

    def _content(self, name: str, session: SparkSession | None) -> tuple[int, str]:
        """Rows and digest of a table's files, with Spark where they are large and Spark is there.

        A string that is too long to be hashed here is a document's: such tables come from Spark.

        Raises
        ------
        InfrastructureError
            Where it is needed and not there.
        """
        from pyspark.sql import SparkSession

        found = self._small_digest(name)
        if found is None:
            session = session or SparkSession.getActiveSession()
            if session is None:
                raise InfrastructureError(
                    f"{name}: too large to be read back without Spark, and no session is active in "
                    "this thread; write it where the session was started"
                )
            found = _digest(
                session.read.schema(TABLES[name].ddl).parquet(self.path("stages", name))
            )
        return found

    def _small_digest(self, name: str) -> tuple[int, str] | None:
        """As :func:`_digest`, without Spark; None for a table that is not small."""
        from nes_spark.rowhash import row_hashes

        files = self._parts(name)
        groups = [group for part in files.get_fragments() for group in part.row_groups]
        if (
            sum(g.num_rows for g in groups) > SMALL_ROWS
            or sum(g.total_byte_size for g in groups) > SMALL_BYTES
        ):
            return None
        schema = arrow_schema(TABLES[name].ddl)
        found = row_hashes(files.replace_schema(schema).to_table())
        return None if found is None else _told(len(found), sum(found.view("int64").tolist()))

    def finish(self, name: str, **changes: Any) -> Manifest:
        """Add wall time or details to a committed manifest."""
        found = self.manifest(name)
        if found is None:
            raise InfrastructureError(f"{name}: there is no finished output to describe")
        return self._commit(replace(found, **changes))

    def read_table(self, spark: SparkSession, name: str) -> DataFrame:
        """Open a finished table.

        Raises
        ------
        InfrastructureError
            When it is not there, was not finished, or has changed since.
        """
        self._require(name)
        return spark.read.schema(TABLES[name].ddl).parquet(self.path("stages", name))

    def read_pandas(
        self,
        name: str,
        columns: list[str] | None = None,
        only: Mapping[str, Collection[Any]] | None = None,
    ) -> pd.DataFrame:
        """Read a finished table into memory, sorted by its key; for small tables and notebooks.

        Parameters
        ----------
        name : str
            Table.
        columns : list of str, optional
            Some of its columns.
        only : mapping of str to collection, optional
            Column -> values: rows with other ones never reach this process's memory as a whole;
            the files are read batch by batch, and parts of them without a match are skipped.
        """
        import pyarrow.compute as pc

        wanted = None
        for column, values in (only or {}).items():
            match = pc.field(column).isin([*values])
            wanted = match if wanted is None else wanted & match
        table = self._dataset(name).to_table(columns=columns, filter=wanted)
        frame = table.to_pandas(maps_as_pydicts="strict")
        by = [c for c in TABLES[name].key if c in frame.columns]
        return frame.sort_values(by, ignore_index=True) if by else frame

    def rows(self, name: str, columns: list[str]) -> Iterator[tuple[Any, ...]]:
        """Yield rows of a finished table, batch by batch and without Spark, in any order."""
        for batch in self._dataset(name).to_batches(columns=columns):
            yield from zip(*(batch.column(c).to_pylist() for c in columns), strict=True)

    def counts(self, name: str, columns: list[str], weight: str | None = None) -> dict[Any, int]:
        """Count the rows of a finished table by some of its columns, batch by batch, without Spark.

        For columns with few values: memory grows with these, not with rows, and no row becomes an
        object of Python.

        Parameters
        ----------
        name : str
            Table.
        columns : list of str
        weight : str, optional
            A column of integers to add up in place of rows.

        Returns
        -------
        dict
            Values of the columns (a tuple; one column's by itself) -> count, in ascending order.
        """
        import pyarrow as pa

        found: Counter[Any] = Counter()
        wanted = columns if weight is None else [*columns, weight]
        what: tuple[Any, str] = ([], "count_all") if weight is None else (weight, "sum")
        total = "count_all" if weight is None else f"{weight}_sum"
        for batch in self._dataset(name).to_batches(columns=wanted):
            counted = pa.Table.from_batches([batch]).group_by(columns).aggregate([what])
            keys = zip(*(counted.column(c).to_pylist() for c in columns), strict=True)
            for values, n in zip(keys, counted.column(total).to_pylist(), strict=True):
                found[values if len(columns) > 1 else values[0]] += n
        return dict(sorted(found.items()))

    def _dataset(self, name: str) -> Any:
        """Open the files of a finished table with pyarrow, in the order of their names."""
        self._require(name)
        return self._parts(name)

    def _parts(self, name: str) -> Any:
        import pyarrow.dataset as ds

        folder = posixpath.join(self._path, "stages", name)
        names = [
            f.path
            for f in self._fs.get_file_info(pafs.FileSelector(folder))
            if f.path.endswith(".parquet")
        ]
        return ds.dataset(sorted(names), filesystem=self._fs, format="parquet")

    def batches(self, names: Sequence[str], *parts: str) -> Any:
        """Open Parquet files of a folder as one stream (pyarrow.RecordBatchReader), in order."""
        import pyarrow.dataset as ds

        paths = [posixpath.join(self._path, *parts, name) for name in names]
        return ds.dataset(paths, filesystem=self._fs, format="parquet").scanner().to_reader()

    def _require(self, name: str) -> None:
        found = self.read_manifest(name)
        if found is None:
            raise InfrastructureError(
                f"{self.root}: there is no finished table {name!r}; run the stage before it first"
            )
        if fault := self._fault(found):
            raise InfrastructureError(
                f"{self.path('stages', name)}: {fault} since it was finished; run again to make it "
                "anew"
            )

    # -- artifacts -----------------------------------------------------------------------------

    def write_artifact(
        self,
        name: str,
        key: str,
        fill: Callable[[Path], dict[str, Any] | None],
        inputs: Mapping[str, str] | None = None,
    ) -> Manifest:
        """Let ``fill`` write files into a folder, put the folder in place, and commit it.

        ``fill`` may return details that are kept in the manifest.
        """
        inside(name)
        self._discard(name)
        with self.temporary() as temporary:
            details = fill(temporary) or {}
            files = sorted(p for p in temporary.rglob("*") if p.is_file())
            digest = hashlib.sha256()
            for file in files:
                digest.update(file.relative_to(temporary).as_posix().encode())
                digest.update(hashlib.sha256(file.read_bytes()).digest())
            target = posixpath.join(self._path, "stages", name)
            try:
                self._fs.create_dir(target, recursive=True)
                if self.is_local:
                    shutil.copytree(temporary, target, dirs_exist_ok=True)
                else:
                    pafs.copy_files(
                        str(temporary),
                        target,
                        source_filesystem=pafs.LocalFileSystem(),
                        destination_filesystem=self._fs,
                    )
            except OSError as error:
                raise InfrastructureError(_disk_message(target, error)) from None
        return self._commit(
            Manifest(
                name,
                key,
                digest.hexdigest(),
                len(files),
                code=code_version(),
                inputs=dict(inputs or {}),
                details=details,
                files=self._facts(name),
            )
        )

    @contextlib.contextmanager
    def open_artifact(self, name: str) -> Iterator[Path]:
        """Give a local folder with the files of a finished artifact."""
        self._require(name)
        if self.is_local:
            yield self.local_path("stages", name)
            return
        with tempfile.TemporaryDirectory(prefix="nes-spark-") as temporary:
            pafs.copy_files(
                posixpath.join(self._path, "stages", name),
                temporary,
                source_filesystem=self._fs,
                destination_filesystem=pafs.LocalFileSystem(),
            )
            yield Path(temporary)


def _disk_message(target: str, error: OSError) -> str:
    reason = error.strerror or str(error).splitlines()[0]
    return f"{target}: cannot be written: {reason}; free space or choose another --output"


def _digest(frame: DataFrame) -> tuple[int, str]:
    """Rows of a table and a digest of its content that no order or partitioning changes.

    The sum of a 64-bit hash of each row: maps have no hash in Spark, so their sorted entries stand
    for them.
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, DataType, MapType, StructType

    def has_map(kind: DataType) -> bool:
        if isinstance(kind, MapType):
            return True
        if isinstance(kind, ArrayType):
            return has_map(kind.elementType)
        return isinstance(kind, StructType) and any(has_map(f.dataType) for f in kind.fields)

    columns = []
    for column in frame.schema.fields:
        value = F.col(f"`{column.name}`")
        if isinstance(column.dataType, MapType):
            value = F.array_sort(F.map_entries(value))
        elif has_map(column.dataType):
            raise InfrastructureError(f"column {column.name}: nested maps have no digest")
        columns.append(F.coalesce(F.xxhash64(value), F.lit(0)))
        columns.append(value.isNull())
    row = frame.select(F.xxhash64(*columns).cast("decimal(20,0)").alias("h")).agg(
        F.count(F.lit(1)).alias("rows"), F.sum("h").alias("total")
    )
    (found,) = row.collect()
    return _told(int(found["rows"]), int(found["total"] or 0))


def _told(rows: int, total: int) -> tuple[int, str]:
    return rows, combine(str(rows), str(total))


def find_inputs(paths: Iterable[str]) -> None:
    """Look whether local inputs are there, hold something, and may be read; before Spark starts.

    Parameters
    ----------
    paths : iterable of str
        Files, folders or globs; those of other file systems are left to Spark.

    Raises
    ------
    InputError
        With the file and the reason.
    """
    for given in paths:
        files = existing_files(given)
        if files is None:
            continue
        if not files:
            raise InputError(f"{given}: the folder holds no files; give one that does")
        for file in files:
            if ":" in file.name:
                raise InputError(
                    f"{file}: Spark cannot read local files with a colon in their name; rename it"
                )
            try:
                with file.open("rb") as stream:
                    first = stream.read(4)
                    if file.suffix == ".parquet" and first:
                        stream.seek(max(0, file.stat().st_size - 4))
                        if not first == stream.read(4) == b"PAR1":
                            raise InputError(
                                f"{file}: is no whole Parquet file; give another or correct "
                                "input.format"
                            )
                    if file.suffix == ".gz" and first[:2] not in (b"\x1f\x8b", b""):
                        raise InputError(f"{file}: is not compressed with gzip; rename it")
            except OSError as error:
                raise InputError(f"{file}: cannot be read: {error.strerror}") from None
        if all(file.stat().st_size == 0 for file in files):
            raise InputError(f"{given}: is empty; give a file or folder with documents")


#: Inputs up to so many bytes are small: some 10,000 calls' presentations.
SMALL_INPUT = 64 << 20


def is_small(paths: Iterable[str]) -> bool:
    """Whether inputs are local and together, compressed ones counted eightfold, small."""
    total = 0
    for given in paths:
        local = local_path(given)
        if local is None:
            return False
        for file in local_files(local):
            packed = file.suffix in (".gz", ".bz2", ".zst", ".parquet", ".orc", ".avro")
            total += file.stat().st_size * (8 if packed else 1)
    return total <= SMALL_INPUT


def local_path(given: str) -> str | None:
    """Return the path of an input on the local file system; None for another file system's URI."""
    if given.startswith("file:"):
        return "/" + given.removeprefix("file:").lstrip("/")
    return None if "://" in given else given


def input_fingerprint(spark: SparkSession, paths: Iterable[str]) -> str:
    """Return a digest of input files: content for small local ones, else name, size and time.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        Lists remote files.
    paths : iterable of str
        Files, folders or globs.

    Returns
    -------
    str
        64 hexadecimal digits; does not depend on the folder a local file lies in.
    """
    from pyspark.errors import AnalysisException

    found: list[str] = []
    for given in paths:
        local = local_path(given)
        files = [] if local is None else local_files(local)
        if local is not None and sum(f.stat().st_size for f in files) <= 1 << 30:
            for file in files:
                digest = hashlib.sha256()
                with file.open("rb") as stream:
                    while block := stream.read(1 << 20):
                        digest.update(block)
                found.append(f"{file.name} {digest.hexdigest()}")
        elif local is not None:
            for file in files:
                facts = file.stat()
                found.append(f"{file} {facts.st_size} {facts.st_mtime_ns}")
        else:
            try:
                found += _remote_files(spark, given)
            except AnalysisException:
                raise no_such_path(given) from None
            except Exception as error:
                signs = ("No FileSystem for scheme", "UNSUPPORTED_FILE_SYSTEM", _NO_PACKAGE)
                # Spark 3.5 says no more than this of http://
                web = given.startswith(("http://", "https://"))
                bare = web and type(error).__name__ == "UnsupportedOperationException"
                if not (bare or any(sign in str(error) for sign in signs)):
                    raise
                scheme = given.partition("://")[0]
                raise InputError(
                    f"{given}: Spark knows no file system {scheme}://; give a local path or a URI "
                    "such as s3a://, gs://, abfss:// or hdfs://, with its package on the class path"
                ) from None
    return combine(*sorted(found))


def _remote_files(spark: SparkSession, given: str) -> list[str]:
    rows = (
        spark.read.format("binaryFile")
        .option("recursiveFileLookup", "true")
        .load(given)
        .selectExpr("path", "length", "CAST(modificationTime AS string) AS time")
        .orderBy("path")
        .toLocalIterator()
    )
    return [f"{r['path']} {r['length']} {r['time']}" for r in rows]


def no_such_path(given: str) -> InputError:
    """Return the error that an input is not there."""
    shown = repr(given) if "\0" in given else given
    return InputError(f"{shown}: no such file or folder; give an existing path")


def existing_files(given: str) -> list[Path] | None:
    """Return the files of a local input; None for one of another file system.

    Raises
    ------
    InputError
        When there is no such file or folder, or nothing that a pattern fits.
    """
    local = local_path(given)
    if local is None:
        return None
    files = [] if "\0" in local else local_files(local)
    if not files and not Path(local).expanduser().is_dir():
        raise no_such_path(given)
    return files


def local_files(given: str) -> list[Path]:
    """Return the files of an input: the file itself, those below a folder, or those of a glob.

    A path that exists is meant literally, whatever characters it holds. Hidden files, and folders
    that a link leads back to, are left out.
    """
    path = Path(given).expanduser()
    try:
        if path.is_file():
            return [path]
        if path.is_dir():
            return sorted(_walk(path, frozenset()))
    except OSError as error:  # a link that leads to itself, a name that is too long
        raise InputError(f"{given}: cannot be read: {error.strerror}") from None
    found = {Path(p) for one in _braces(str(path)) for p in glob.glob(one)}
    folders = (p for p in found if p.is_dir())
    return sorted(
        {p for p in found if p.is_file()} | {f for p in folders for f in _walk(p, frozenset())}
    )


def spark_paths(given: str) -> list[str]:
    """Return an input as Spark is to open it: paths that exist literally, patterns as they are.

    Spark takes characters such as ``[`` for patterns and follows links in circles.
    """
    local = local_path(given)
    if local is None:
        return [given]
    path = Path(local).expanduser().absolute()
    if not path.exists():
        return [str(path)]
    if path.is_dir() and _turns_back(path):
        return [_literal(file) for file in local_files(str(path))]
    return [_literal(path)]


def _literal(path: Path) -> str:
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", str(path))


def _turns_back(folder: Path) -> bool:
    """Whether a link in a folder leads to a folder above it."""
    for parent, names, _ in os.walk(folder):
        real = os.path.realpath(parent)
        for name in names:
            below = os.path.join(parent, name)
            target = os.path.realpath(below)
            if os.path.islink(below) and (real + os.sep).startswith(target + os.sep):
                return True
    return False


def _braces(pattern: str) -> list[str]:
    """Write out the alternatives of a pattern (``{a,b}``), which Spark knows and Python not."""
    found = re.search(r"\{([^{}]*)\}", pattern)
    if found is None:
        return [pattern]
    before, after = pattern[: found.start()], pattern[found.end() :]
    return [p for part in found.group(1).split(",") for p in _braces(before + part + after)]


def _walk(folder: Path, above: frozenset[str]) -> Iterator[Path]:
    real = os.path.realpath(folder)
    if real in above:
        return
    for path in folder.iterdir():
        if path.name.startswith((".", "_")):
            continue
        if path.is_dir():
            yield from _walk(path, above | {real})
        elif path.is_file():
            yield path
