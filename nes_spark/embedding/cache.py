"""Vectors of remote models, kept by content: no text is paid for twice.

One SQLite file a model in a folder. A vector's key is the SHA-256 of model, requested dimension and
text; the text itself is not stored. Vectors cannot be read as text but say what it is about, so the
files are readable by their owner only.

Several workers may share the folder. Before a worker asks the endpoint for texts it *claims* their
keys in the same file; another worker that needs one of them waits for the vector, and takes the
claim over when its owner has died or let its lease run out. What a worker has received is committed
at once, so a crash loses at most the batches in flight.
"""

from __future__ import annotations

import hashlib
import os
import socket
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nes_spark.errors import InfrastructureError

_POLL_SECONDS = 0.05
_BUSY_SECONDS = 60.0
_SQL_VARIABLES = 500

_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (
  key BLOB PRIMARY KEY, owner TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL,
  until REAL NOT NULL
) WITHOUT ROWID;
"""


def content_key(model: str, dimension: int | None, text: str) -> bytes:
    """Return the 32 bytes under which the vector of ``text`` is kept."""
    digest = hashlib.sha256(f"{model}\x00{dimension or ''}\x00".encode())
    digest.update(text.encode("utf-8", "surrogatepass"))
    return digest.digest()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


class VectorCache:
    """A content-addressed store of float32 vectors, shared by processes.

    Parameters
    ----------
    folder : str or pathlib.Path
        On a file system of this machine, or on one with working file locks.
    name : str
        What the vectors belong to (model and dimension); names the file.
    lease : float, default 600
        Seconds after which the claim of a worker on another machine is taken over. A worker of
        this machine that has died is noticed at once.

    Raises
    ------
    InfrastructureError
        When the folder cannot be written or the file is damaged.
    """

    def __init__(self, folder: str | Path, name: str, lease: float = 600.0) -> None:
        self._lease = lease
        self._host = socket.gethostname()
        safe = "".join(c if c.isalnum() or c in "-._" else "_" for c in name)[:80]
        digest = hashlib.sha256(name.encode()).hexdigest()[:8]
        self.path = Path(folder) / f"{safe}-{digest}.sqlite"
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise InfrastructureError(
                f"{folder}: the embedding cache cannot be written: {error.strerror}"
            ) from None
        self._prepare()

    def _prepare(self) -> None:
        """Create the tables, waiting while another process does (SQLite does not do so itself)."""
        deadline = time.monotonic() + _BUSY_SECONDS
        while True:
            try:
                with closing(sqlite3.connect(self.path, timeout=_BUSY_SECONDS)) as db:
                    db.execute("PRAGMA journal_mode=WAL").fetchone()
                    db.executescript(_SCHEMA)
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise self._unusable(error) from None
                time.sleep(_POLL_SECONDS)
            except sqlite3.DatabaseError as error:
                raise self._unusable(error) from None

    def _unusable(self, error: Exception) -> InfrastructureError:
        return InfrastructureError(
            f"{self.path}: the embedding cache cannot be used ({error}); "
            "move the file away to start a new one"
        )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection for one operation: nothing is shared across forks or threads."""
        try:
            with closing(
                sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)
            ) as db:
                db.execute("PRAGMA synchronous=NORMAL")
                yield db
        except sqlite3.DatabaseError as error:
            raise self._unusable(error) from None

    @staticmethod
    def _read(db: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        found: dict[bytes, NDArray[np.float32]] = {}
        for start in range(0, len(keys), _SQL_VARIABLES):
            part = keys[start : start + _SQL_VARIABLES]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, vector FROM vectors WHERE key IN ({marks})"
            for key, blob in db.execute(query, part):
                found[key] = np.frombuffer(blob, dtype="<f4").astype(np.float32)
        return found

    def get(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        """Return the vectors that are there."""
        with self._open() as db:
            return self._read(db, keys)

    def fetch(
        self,
        keys: Sequence[bytes],
        produce: Callable[[list[bytes]], Sequence[NDArray[np.float32]]],
        batches: Callable[[list[bytes]], list[list[bytes]]],
    ) -> dict[bytes, NDArray[np.float32]]:
        """Return the vectors of all keys, asking ``produce`` for those that nobody has yet.

        Parameters
        ----------
        keys : sequence of bytes
            May repeat.
        produce : callable
            Maps keys to their vectors, in order. Called for keys that this call has claimed; its
            result is committed before the next call.
        batches : callable
            Splits keys into the groups that ``produce`` may be called with.

        Returns
        -------
        dict
            Key to float32 vector, for every key.
        """
        owner = uuid.uuid4().hex
        distinct = list(dict.fromkeys(keys))
        found = self.get(distinct)
        pending = [k for k in distinct if k not in found]
        while pending:
            idle = True
            for group in batches(pending):
                # One group is claimed at a time and none while waiting: leases stay short, and
                # two workers can never wait for each other.
                arrived, mine = self._claim(owner, group)
                found |= arrived
                idle = idle and not (arrived or mine)
                if mine:
                    try:
                        vectors = produce(mine)
                        self._store(mine, vectors)
                    finally:
                        self._release(owner, mine)
                    found |= dict(zip(mine, vectors, strict=True))
            pending = [k for k in pending if k not in found]
            if pending and idle:
                time.sleep(_POLL_SECONDS)
        return found

    def _claim(
        self, owner: str, keys: Sequence[bytes]
    ) -> tuple[dict[bytes, NDArray[np.float32]], list[bytes]]:
        """Return what has arrived meanwhile, and the keys that ``owner`` has claimed."""
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            now = time.time()
            arrived = self._read(db, keys)
            mine = []
            dead: dict[int, bool] = {}
            for key in keys:
                if key in arrived:
                    continue
                row = db.execute("SELECT host, pid, until FROM claims WHERE key = ?", (key,))
                claim = row.fetchone()
                if claim is not None:
                    host, pid, until = claim
                    here = host == self._host
                    if here and pid not in dead:
                        dead[pid] = not _alive(pid)
                    if now < until and not (here and dead[pid]):
                        continue
                db.execute(
                    "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?)",
                    (key, owner, self._host, os.getpid(), now + self._lease),
                )
                mine.append(key)
            db.execute("COMMIT")
        return arrived, mine

    def _store(self, keys: Sequence[bytes], vectors: Sequence[NDArray[np.float32]]) -> None:
        rows = [(k, v.astype("<f4").tobytes()) for k, v in zip(keys, vectors, strict=True)]
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
            db.executemany("DELETE FROM claims WHERE key = ?", [(k,) for k in keys])
            db.execute("COMMIT")

    def _release(self, owner: str, keys: Sequence[bytes]) -> None:
        with self._open() as db:
            db.execute("BEGIN IMMEDIATE")
            db.executemany(
                "DELETE FROM claims WHERE key = ? AND owner = ?", [(k, owner) for k in keys]
            )
            db.execute("COMMIT")
