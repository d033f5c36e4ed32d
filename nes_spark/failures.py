"""Turn what Spark, the disk and MLflow raise into one line that holds nothing of a document.

Messages of Spark quote values and Python tracebacks of workers, so they are not passed on: a person
gets the kind of error and what to do, and Spark's log has the rest.
"""

from __future__ import annotations

import contextlib
import errno
import re
from collections.abc import Iterator
from urllib.parse import unquote

from nes_spark import errors
from nes_spark.errors import InfrastructureError, InputError, NesError
from nes_spark.session import spark_log

#: Packages whose errors mean that something outside this program failed.
OUTSIDE = (
    "pyspark", "py4j", "grpc", "mlflow", "requests", "urllib3", "sqlalchemy", "botocore",
    "boto3", "azure", "google", "pyarrow",
)  # fmt: skip

_OURS = re.compile(r"nes_spark(?:\.\w+)*\.(\w+Error|GateRefused|BudgetExceeded): (.+)")
_RAISED = re.compile(r"^(?:[\w.]*\.)?(\w+(?:Error|Exception|Exit|Interrupt))\b", re.MULTILINE)
_CAUSES = (
    ("No space left on device", "the disk is full; free space or choose another --output"),
    ("Disk quota exceeded", "the disk quota is used up; free space or choose another --output"),
    ("Read-only file system", "the output is read-only; choose another --output"),
    ("Permission denied", "permission denied; check the owner and mode of the output"),
    ("OutOfMemoryError", "Java ran out of memory; raise spark.driver_memory"),
    ("MemoryError", "a Python worker ran out of memory; give more partitions or memory"),
    ("Connection refused", "a connection was refused; is the Spark cluster or server running?"),
    ("Context was shut down", "Spark was stopped while the job ran"),
    ("crashed unexpectedly", "a Python worker died; it may have run out of memory"),
)
_UNREADABLE = re.compile(r"Encountered error while reading file (\S+?)\.?\s")
#: What Java says of a file that is not what its name says.
_DAMAGES = (
    ("FILE_NOT_EXIST", "has gone while it was read"),
    ("EOFException", "ends too early"),
    ("ZipException", "is not compressed as its name says, or damaged"),
    ("not in gzip format", "is not compressed as its name says, or damaged"),
    ("incorrect header check", "is not compressed as its name says, or damaged"),
    ("is not a Parquet file", "is no Parquet file"),
    ("Could not read footer", "is no whole Parquet file"),
    ("CANNOT_READ_FILE_FOOTER", "is no whole Parquet file"),
    ("ParquetDecodingException", "is damaged"),
    ("org.apache.parquet", "is damaged"),
    ("PARQUET_COLUMN_DATA_TYPE_MISMATCH", "has columns of another type than the others"),
    ("MalformedInputException", "is not UTF-8"),
)
_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextlib.contextmanager
def translated(what: str) -> Iterator[None]:
    """Raise errors of the world outside as :class:`InfrastructureError`, in one line.

    Parameters
    ----------
    what : str
        What was going on, e.g. ``stage chunks``.

    Raises
    ------
    NesError
        The package's own errors, also those that a Python worker raised.
    InfrastructureError
        For errors of the operating system, Spark, MLflow or a network library.
    """
    try:
        yield
    except NesError:
        raise
    except Exception as error:
        found = translate(error, what)
        if found is None:
            raise
        raise found from error


def translate(error: BaseException, what: str) -> NesError | None:
    """Return the one-line error for what was raised; None for an error of this program."""
    origin = type(error).__module__.split(".")[0]
    try:
        text = str(error)
    except Exception:  # Spark's own ask Java what they say, which has ended
        text = type(error).__name__
    if origin in ("pyspark", "py4j"):
        own = _own(text)
        if own is not None:
            return own
    if isinstance(error, OSError) and origin not in OUTSIDE:
        reason = error.strerror or type(error).__name__
        where = f"{error.filename}: " if isinstance(error.filename, str) else ""
        if isinstance(error, ConnectionError):  # no file: Java's end of Spark, or a server
            advice = "what listened there has ended or is out of reach; run it again to go on"
        elif error.errno in _FULL:
            advice = "free space or choose another --output"
        else:
            advice = "check the path, its owner and its mode"
        return InfrastructureError(f"{what}: {where}{reason}; {advice}")
    if origin not in OUTSIDE:
        return None
    damaged = _UNREADABLE.search(text)
    if damaged is not None and (found := _damaged(unquote(damaged.group(1)), text)) is not None:
        return found
    for sign, advice in _CAUSES:
        if sign in text:
            return InfrastructureError(f"{what}: {advice}")
    kinds = [k for k in _RAISED.findall(text) if not k.startswith("Py4J")]
    kind = kinds[-1] if kinds else type(error).__name__
    log = spark_log() if origin in ("pyspark", "py4j") else None
    where = "its log" if log is None else str(log)
    return InfrastructureError(f"{what}: {origin} failed with {kind}; {where} has the details")


def _damaged(file: str, text: str) -> NesError | None:
    """The error for a file that Spark could not read; None where another attempt may help."""
    reason = next((words for sign, words in _DAMAGES if sign in text), None)
    local = file.startswith("file:")
    if reason is None and not local:
        return None
    name = "/" + file.removeprefix("file:").lstrip("/") if local else file
    if "/stages/" in name:
        return InfrastructureError(f"{name}: {reason or 'cannot be read'}; remove it and run again")
    return InputError(f"{name}: {reason or 'cannot be read'}; repair the file or leave it out")


def _own(text: str) -> NesError | None:
    """The package's error that a Python worker raised and Spark wrapped."""
    found = _OURS.findall(text)
    if not found:
        return None
    name, message = found[-1]
    kind = getattr(errors, name, None)
    if not (isinstance(kind, type) and issubclass(kind, NesError)):
        return None
    return kind(message.strip())
