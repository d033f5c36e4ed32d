"""Class data sharing: Java maps Spark's classes from one file instead of reading its jars.

Each start of Spark loads some ten thousand classes: found in 250 jars, parsed, checked. Java can
keep them as they are in memory (a dynamic archive, JEP 350) and map that file at the next start.
``nes-spark prepare`` makes it once for a version of Java and of Spark; sessions that this package
starts on one machine use it where it is. Java itself sees whether an archive fits its version and
its jars, and does without one that does not.

Code comes from that file, so only one that nobody but its owner, who runs the session, can write is
used.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

from nes_spark.errors import InfrastructureError

#: An archive that does not fit is no error, and a class that cannot be kept is none either.
_SILENT = ("-Xlog:cds=off", "-Xlog:cds+dynamic=off")


def java_program() -> str | None:
    """Return the Java that Spark would start, None where there is none."""
    home = os.environ.get("JAVA_HOME")
    return os.path.join(home, "bin", "java") if home else shutil.which("java")


def archive_file() -> Path | None:
    """Return where the archive for this Java and this Spark is, or would be; None without them."""
    java = java_program()
    if java is None or not os.path.exists(java):
        return None
    try:
        spark = metadata.distribution("pyspark")
    except metadata.PackageNotFoundError:
        return None
    real = os.path.realpath(java)
    known = [real, str(os.stat(real).st_mtime_ns), spark.version, str(spark.locate_file("pyspark"))]
    name = hashlib.sha256("\0".join(known).encode()).hexdigest()[:16]
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache) / "nes_spark" / f"java-{name}.jsa"


def java_options() -> list[str]:
    """Return what Java must be told to use the archive; nothing where there is none to trust."""
    file = archive_file()
    if file is None or not (_only_ours(file.parent, stat.S_ISDIR) and _only_ours(file)):
        return []
    return [_quoted(f"-XX:SharedArchiveFile={file}"), *_SILENT]


def _only_ours(path: Path, kind: Callable[[int], bool] = stat.S_ISREG) -> bool:
    """Whether a path is what it should be, no link, and nobody else can write it."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return kind(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _quoted(option: str) -> str:
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@contextlib.contextmanager
def writing() -> Iterator[tuple[Path, str]]:
    """Put an archive in its place that a session writes when its Java ends.

    Yields
    ------
    file : pathlib.Path
        Where the archive will be.
    option : str
        What Java must be told. It must have ended when the block does.

    Raises
    ------
    InfrastructureError
        Without Java or Spark; when the folder is another's; when Java wrote nothing.
    """
    file = archive_file()
    if file is None:
        raise InfrastructureError("no Java or no PySpark found: nothing to prepare")
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _only_ours(file.parent, stat.S_ISDIR):
        raise InfrastructureError(
            f"{file.parent}: others can write this folder, and code would come from it; give "
            "XDG_CACHE_HOME a folder of your own"
        )
    part = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        yield file, " ".join([_quoted(f"-XX:ArchiveClassesAtExit={part}"), *_SILENT])
        if not part.is_file():
            raise InfrastructureError("Java wrote no archive of its classes; is the disk full?")
        part.chmod(0o600)
        os.replace(part, file)
    finally:
        part.unlink(missing_ok=True)


def remove() -> int:
    """Remove all archives of this user, also those of other versions; return how many."""
    file = archive_file()
    found = sorted(file.parent.glob("java-*.jsa*")) if file is not None else []
    for old in found:
        old.unlink()
    return len(found)
