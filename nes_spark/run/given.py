"""Documents that a caller has in memory, in place of files."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nes_spark.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

    from nes_spark.config import Config

#: Where they lie while a run works; as secret as the input, gone when it ends.
FOLDER = ("stages", ".given")


@contextlib.contextmanager
def given_documents(config: Config, documents: Any) -> Iterator[Config]:
    """Put a table where the run reads it, and take it away afterwards.

    Parameters
    ----------
    config : Config
        Its ``input.columns`` say which column is what; ``input.path`` and ``input.format`` do not
        count.
    documents : pandas.DataFrame or pyspark.sql.DataFrame
        One row a document.

    Yields
    ------
    Config
        The configuration with the table as its input.

    Raises
    ------
    InputError
        When it is no table, has no rows, or cannot be written.
    """
    from nes_spark.run.context import run_folder
    from nes_spark.store import local_path

    if local_path(config.output.directory) is None:
        raise InputError(
            "documents: a table can be given where the output is a local folder; write it as "
            "Parquet beside your output and name it as input.path"
        )
    store = run_folder(config)
    store.prepare()
    folder = store.local_path(*FOLDER)
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was killed
    folder.mkdir(parents=True, mode=0o700)
    try:
        if _is_pandas(documents):
            _write_pandas(documents, folder)
        elif hasattr(documents, "sparkSession"):
            _write_spark(documents, folder)
        else:
            raise InputError(
                f"documents: must be a pandas or Spark DataFrame, got {type(documents).__name__}"
            )
        update: dict[str, Any] = {
            "path": str(folder),
            "format": "parquet",
            "metadata_table": None,
            "options": {},
        }
        yield config.model_copy(update={"input": config.input.model_copy(update=update)})
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_pandas(documents: Any) -> bool:
    return type(documents).__module__.partition(".")[0] == "pandas" and hasattr(documents, "iloc")


def _write_pandas(documents: pd.DataFrame, folder: Any) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if documents.ndim != 2 or not len(documents):
        raise InputError("documents: must be a table with at least one row")
    try:
        table = pa.Table.from_pandas(documents, preserve_index=False)
    except (pa.ArrowException, TypeError, ValueError) as error:
        # Messages of Arrow quote values: only the columns are named.
        bad = [str(c) for c in documents.columns if not _converts(documents[c])]
        raise InputError(
            f"documents: column(s) {', '.join(bad) or 'unknown'} hold values of several types "
            f"({type(error).__name__}); give text, numbers, or lists and objects of these"
        ) from None
    # The index and pandas' own notes are no part of the content.
    pq.write_table(table.replace_schema_metadata(None), folder / "documents.parquet")


def _converts(column: Any) -> bool:
    import pyarrow as pa

    try:
        pa.Array.from_pandas(column)
    except (pa.ArrowException, TypeError, ValueError):
        return False
    return True


def _write_spark(documents: DataFrame, folder: Any) -> None:
    documents.write.mode("overwrite").parquet(folder.as_uri())
    # Spark's names differ every time: equal tables are to be known again.
    files = sorted(
        (hashlib.sha256(p.read_bytes()).hexdigest(), p) for p in folder.rglob("part-*.parquet")
    )
    if not files:
        raise InputError("documents: must be a table with at least one row")
    for number, (_, path) in enumerate(files):
        path.rename(folder / f"documents-{number:05d}.parquet")
    for other in folder.iterdir():
        if not other.name.startswith("documents-"):
            other.unlink()
