"""Folders for working files, which are as secret as the input: owner only, and gone afterwards.

Spark keeps shuffled and cached texts in files while it works. Those of a run lie under its run
folder (:meth:`nes_spark.store.Store.work`), those of a session without a run in a folder of their
own below the system's temporary one (:func:`temporary_work`). After a kill the next start removes
them.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from nes_spark.errors import InfrastructureError

#: Folder of working files below a run folder.
WORK = ".work"
_PREFIX = "nes-spark-work-"
_LOCK = ".lock"
_ATTEMPTS = 20


def private_folder(folder: Path) -> Path:
    """Make a folder with mode 0700, or close an own one that is open to others.

    Raises
    ------
    InfrastructureError
        When it is a link, is not a folder, belongs to somebody else or cannot be made.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            raise InfrastructureError(
                f"{folder}: must be a folder of your own, not a link or somebody else's; remove it"
            )
        if stat.S_IMODE(found.st_mode) != 0o700:
            folder.chmod(0o700)
    except OSError as error:
        raise InfrastructureError(f"{folder}: cannot be made: {error.strerror}") from None
    return folder


def remove_tree(folder: Path) -> None:
    """Remove a folder, also while a process that is ending still writes into it.

    Raises
    ------
    InfrastructureError
        When something of it stays: working files hold original text.
    """
    for attempt in range(_ATTEMPTS):
        if folder.is_symlink():
            folder.unlink()
        if not folder.exists():
            return
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.05 * attempt)
    raise InfrastructureError(
        f"{folder}: working files hold original text and cannot be removed; remove the folder"
    )


def below(parent: str | Path, owner: Path) -> Path:
    """Return the folder below ``parent`` for the working files of ``owner``; always the same."""
    name = hashlib.sha256(str(owner).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return Path(parent).expanduser().absolute() / f"nes-spark-{name}"


def temporary_work(place: Path | None = None) -> tuple[Path, Callable[[], None]]:
    """Make a folder of working files for a session without a run; remove those of dead processes.

    Parameters
    ----------
    place : pathlib.Path, optional
        Where to make it; by default in the system's temporary folder.

    Returns
    -------
    tuple of (pathlib.Path, callable)
        The folder, and what removes it; it is called when Python ends at the latest.
    """
    parent = place or Path(tempfile.gettempdir())
    for old in parent.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if old.is_dir() and not old.is_symlink() and old.stat().st_uid == os.geteuid():
                _sweep(old)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    held = open(folder / _LOCK, "w")  # noqa: SIM115  (the lock is held as long as it is open)
    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def close() -> None:
        atexit.unregister(close)
        with contextlib.suppress(InfrastructureError):  # the next start removes it
            remove_tree(folder)
        held.close()

    atexit.register(close)
    return folder, close


def _sweep(folder: Path) -> None:
    """Remove the folder of a process that has died; one that lives holds its lock."""
    try:
        with open(folder / _LOCK) as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
    except FileNotFoundError:  # made a moment ago, or killed before it held anything
        if time.time() - folder.stat().st_mtime > 60:
            shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        pass
