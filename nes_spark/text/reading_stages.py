"""Reading as a Spark stage: files in, documents and quarantine out.

Files are read by Spark, so any URI that it knows works (``hdfs://``, ``s3a://``, ``abfss://``).
Records are decoded in Python workers; no text reaches the driver.
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import pandas as pd
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F
from pyspark.sql.window import Window

from nes_spark.config import (
    ColumnsConfig,
    IdentifiersConfig,
    InputConfig,
    PresentationConfig,
)
from nes_spark.config.sections import SOURCE
from nes_spark.errors import InputError
from nes_spark.schemas import DOCUMENTS, QUARANTINE
from nes_spark.store import existing_files, local_path, no_such_path, spark_paths
from nes_spark.text.kinds import check_kinds
from nes_spark.text.reading import (
    Document,
    Problem,
    decode_json,
    has_column,
    look_up,
    prepare_document,
    read_record,
    record_period,
    wanted_columns,
)
from nes_spark.text.source_stages import EXACT, open_source, source_label

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_EXTENSIONS = {
    "jsonl": "jsonl",
    "json": "jsonl",
    "ndjson": "jsonl",
    "csv": "csv",
    "parquet": "parquet",
    "txt": "text",
}
_RAW = (
    "file string, block bigint, payload binary, cells array<string>, body binary, corrupt boolean"
)
_RECORDS = (
    "file string, block bigint, ordinal bigint, position string, "
    f"{DOCUMENTS.ddl}, reason string, message string"
)
_RECORD_COLUMNS = ["file", "block", "ordinal", "position", *DOCUMENTS.names, "reason", "message"]
#: What a message may quote as the name of a column.
_COLUMN_NAME = re.compile(r"[\w .:/@#()-]{1,40}")
#: Documents per batch that a Python worker hands back.
_BATCH = 64


class _Record(NamedTuple):
    """One input record with its place; exactly one of `record` and `problem` is set."""

    file: str
    block: int
    ordinal: int
    position: str | None
    record: dict[str, Any] | None
    body: bytes | None
    problem: Problem | None


# ------------------------------------------------------------------------------------- sources


def _input_error(path: str, error: AnalysisException) -> InputError:
    first = (str(error).strip().splitlines() or ["unknown error"])[0]
    if "PATH_NOT_FOUND" in first or "does not exist" in first:
        return no_such_path(path)
    if "UNABLE_TO_INFER_SCHEMA" in first or "unable to infer" in first.lower():
        return InputError(f"{path}: no file that can be read in this format")
    return InputError(f"{path}: cannot be read: {first[:200]}")


_EXTENSION = r"\.([A-Za-z]+)(?:\.(?:gz|bz2|zst|snappy|lz4))?$"


def _listing(spark: SparkSession, path: str) -> list[str]:
    """Distinct file extensions under a path; only names are read."""
    there = existing_files(path)
    if there is not None:
        names = [file.name for file in there if not file.name.startswith((".", "_"))]
        endings = (re.search(_EXTENSION, name) for name in names)
        return sorted({"" if found is None else found.group(1).lower() for found in endings})
    files = (
        spark.read.format("binaryFile")
        .option("recursiveFileLookup", "true")
        .load(spark_paths(path))
    ).select(F.regexp_extract("path", _EXTENSION, 1))
    try:
        return sorted({row[0].lower() for row in files.distinct().limit(50).collect()})
    except AnalysisException as error:
        raise _input_error(path, error) from None


def _format_of(path: str, config: InputConfig, found: list[str]) -> str:
    if not found:
        raise InputError(f"{path}: holds no documents; give a file or folder that does")
    if config.format != "auto":
        return config.format
    formats = sorted({_EXTENSIONS[e] for e in found if e in _EXTENSIONS})
    if config.metadata_table is not None:
        return "text"
    if len(formats) == 1:
        return formats[0]
    known = ", ".join("." + e for e in _EXTENSIONS)
    shown = ", ".join("." + e if e else "none" for e in found)
    raise InputError(
        f"{path}: cannot tell the format from the extensions found ({shown}); known are {known}; "
        "set input.format to jsonl, csv, parquet or text"
    )


def _root(path: str) -> str:
    """The part of a path that positions leave out: the folder, or what is before a wildcard."""
    local = local_path(path)
    plain = path if local is None else os.path.abspath(os.path.expanduser(local))
    if local is not None and os.path.exists(plain):
        return plain.rstrip("/")
    return re.split(r"[*?\[{]", plain)[0].rstrip("/")


def _glob(reader: Any, found: list[str], kind: str) -> Any:
    """Restrict a folder to files of the format where others lie beside them."""
    reader = reader.option("recursiveFileLookup", "true")
    if len(found) > 1:
        names = ",".join(e for e, k in _EXTENSIONS.items() if k == kind)
        reader = reader.option("pathGlobFilter", f"*.{{{names}}}*")
    return reader


def _max_bytes(config: InputConfig) -> int:
    """Bytes from which on a record is too long whatever it holds (escapes take six a character)."""
    return 8 * config.max_characters + 1_000_000


def _guarded(column: Any, config: InputConfig) -> Any:
    """Empty what is far too long before it reaches a Python worker; that row is marked corrupt."""
    return F.when(F.length(column) <= _max_bytes(config), column)


def _read_jsonl(spark: SparkSession, path: str, config: InputConfig, found: list[str]) -> DataFrame:
    reader = _glob(spark.read.format("text"), found, "jsonl")
    # Casting to binary keeps the bytes as they are in the file: Spark does not check them.
    line = F.col("value").cast("binary")
    return reader.load(spark_paths(path)).select(
        F.col("_metadata.file_path").alias("file"),
        F.col("_metadata.file_block_start").alias("block"),
        _guarded(line, config).alias("payload"),
        F.lit(None).cast("array<string>").alias("cells"),
        F.lit(None).cast("binary").alias("body"),
        (F.length(line) > _max_bytes(config)).alias("corrupt"),
    )


def _read_csv(spark: SparkSession, path: str, config: InputConfig, found: list[str]) -> DataFrame:
    # Latin-1 maps bytes to characters one to one, so that Python can tell what is not UTF-8.
    options = {
        "header": "false",
        "multiLine": "true",
        "quote": '"',
        "escape": '"',
        "encoding": "ISO-8859-1",
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": "_corrupt",
        "nullValue": "\x00",
        "emptyValue": "",
    }
    try:
        reader = _glob(spark.read.format("csv"), found, "csv")
        width = len(reader.options(**options).load(spark_paths(path)).columns)
    except AnalysisException as error:
        raise _input_error(path, error) from None
    names = [f"_{i}" for i in range(width)]
    schema = ", ".join(f"{n} string" for n in names) + ", _corrupt string"
    reader = _glob(spark.read.format("csv"), found, "csv")
    rows = reader.options(**options).schema(schema).load(spark_paths(path))
    cells = F.array(*[F.coalesce(n, F.lit("")) for n in names])
    size = F.length(F.array_join(cells, ""))
    return rows.select(
        F.col("_metadata.file_path").alias("file"),
        F.lit(0).cast("bigint").alias("block"),
        F.lit(None).cast("binary").alias("payload"),
        F.when(size <= _max_bytes(config), cells).alias("cells"),
        F.lit(None).cast("binary").alias("body"),
        (F.col("_corrupt").isNotNull() | (size > _max_bytes(config))).alias("corrupt"),
    )


def _read_parquet(
    spark: SparkSession, path: str, config: InputConfig, found: list[str]
) -> DataFrame:
    try:
        rows = spark.read.parquet(*spark_paths(path))
        names = rows.columns
    except AnalysisException as error:
        raise _input_error(path, error) from None
    return _as_records(
        rows,
        path,
        config,
        names,
        F.col("_metadata.file_path"),
        F.coalesce(F.col("_metadata.row_index"), F.lit(0)),
    )


def _read_source(spark: SparkSession, path: str, config: InputConfig) -> DataFrame:
    rows = open_source(spark, config)
    # Rows of a table have no order: of rows with one id the smallest digest counts as the first.
    return _as_records(rows, path, config, rows.columns, F.lit(path), None)


def _as_records(
    rows: DataFrame, path: str, config: InputConfig, names: list[str], file: Any, block: Any
) -> DataFrame:
    """Rows as JSON with the text beside it; without `block` a digest of the row is its place."""
    missing = [c for c in wanted_columns(config.columns) if not _in_schema(rows.schema, c)]
    if missing:
        raise _missing_column(path, missing[0], config.columns, names)
    # The text goes beside the record, as bytes: to_json would hide what is not UTF-8.
    text = config.columns.text
    apart = text if text in names else None
    body = F.col(f"`{apart}`").cast("binary") if apart else F.lit(None).cast("binary")
    others = [_as_json(field) for field in rows.schema.fields if field.name != apart]
    payload = F.to_json(F.struct(*others), EXACT).cast("binary")
    size = F.length(payload) + F.coalesce(F.length(body), F.lit(0))
    fits = size <= _max_bytes(config)
    return rows.select(
        file.alias("file"),
        (F.xxhash64(payload, body) if block is None else block).alias("block"),
        F.when(fits, payload).alias("payload"),
        F.lit(None).cast("array<string>").alias("cells"),
        F.when(fits, body).alias("body"),
        (~fits).alias("corrupt"),
    )


def _as_json(field: Any) -> Any:
    """A column for to_json, which would spell numbers that are none as words ("NaN")."""
    column = F.col(f"`{field.name}`")
    if field.dataType.simpleString() not in ("float", "double"):
        return column
    finite = ~F.isnan(column) & (F.abs(column) != float("inf"))
    return F.when(finite, column).alias(field.name)


def _in_schema(schema: Any, name: str) -> bool:
    fields = getattr(schema, "fields", None)
    if fields is None:
        # Inside a map every key may exist.
        return type(schema).__name__ == "MapType"
    by_name = {f.name: f.dataType for f in fields}
    if name in by_name:
        return True
    head, _, rest = name.partition(".")
    return bool(rest) and head in by_name and _in_schema(by_name[head], rest)


def _read_text(spark: SparkSession, path: str, config: InputConfig, found: list[str]) -> DataFrame:
    table = config.metadata_table
    if table is None:
        raise InputError(
            "input.metadata_table is missing: a folder of text files needs a table (CSV, JSON "
            "Lines or Parquet) that says for each file whose it is"
        )
    try:
        files = _glob(spark.read.format("binaryFile"), found, "text").load(spark_paths(path))
        root = _root(path)
        listed = files.select(
            F.col("_metadata.file_path").alias("path"), F.col("content").alias("body"), "length"
        )
    except AnalysisException as error:
        raise _input_error(path, error) from None
    beside = _listing(spark, table)
    kind = _format_of(table, InputConfig.model_validate({"path": table}), beside)
    reader = {"jsonl": _read_jsonl, "csv": _read_csv, "parquet": _read_parquet_table}[kind]
    columns = config.columns.model_copy(update={"document_id": "file"})
    table_config = config.model_copy(update={"columns": columns, "metadata_table": None})
    rows = reader(spark, table, table_config, beside)
    _check_columns(rows, table, kind, table_config, with_text=False)
    keyed = rows.mapInPandas(
        _table_rows(kind, _root(table)),
        "key string, payload binary, at string, reason string, message string",
    )
    named = listed.mapInPandas(
        _file_names(root, _max_bytes(config)), "name string, content binary, long boolean"
    )
    # Both sides are kept: a file without a row and a row without a file are problems, not gaps.
    joined = named.join(keyed, named["name"] == keyed["key"], "full_outer")
    return joined.select(
        F.coalesce("name", F.concat(F.lit("\x7f"), F.coalesce("at", F.lit("")))).alias("file"),
        F.lit(0).cast("bigint").alias("block"),
        "payload",
        F.array(
            F.coalesce("name", F.lit("")),
            F.coalesce("at", F.lit("")),
            F.coalesce("reason", F.lit("")),
            F.coalesce("message", F.lit("")),
        ).alias("cells"),
        F.col("content").alias("body"),
        F.coalesce("long", F.lit(False)).alias("corrupt"),
    )


def _read_parquet_table(
    spark: SparkSession, path: str, config: InputConfig, found: list[str]
) -> DataFrame:
    changed = config.model_copy(update={"columns": _table_columns(config)})
    return _read_parquet(spark, path, changed, found)


def _table_columns(config: InputConfig) -> ColumnsConfig:
    return config.columns.model_copy(update={"text": "file", "turns": None})


def _file_names(root: str, max_bytes: int) -> Callable[..., Iterator[pd.DataFrame]]:
    def run(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            for path, body, length in zip(
                batch["path"], batch["body"], batch["length"], strict=True
            ):
                large = length > max_bytes
                yield pd.DataFrame(
                    {"name": [_relative(path, root)], "content": [None if large else body]}
                ).assign(long=large)

    return run


def _table_rows(kind: str, root: str) -> Callable[..., Iterator[pd.DataFrame]]:
    """Rows of a metadata table with the file that each names."""

    def run(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for item in _iterate(batches, kind, root):
            record = item.record
            problem = item.problem
            key = look_up(record, "file") if record is not None else None
            yield pd.DataFrame(
                {
                    "key": [str(key).strip().removeprefix("./") if key is not None else None],
                    "payload": [None if record is None else json.dumps(record).encode()],
                    "at": [_place(item, root)],
                    "reason": [problem.reason if problem else None],
                    "message": [problem.message if problem else None],
                }
            )

    return run


_READERS = {
    "jsonl": _read_jsonl,
    "csv": _read_csv,
    "parquet": _read_parquet,
    "text": _read_text,
}


# ----------------------------------------------------------------------------------- iteration


def _relative(path: str, root: str) -> str:
    """Path of a file below the root, else its name."""
    path = unquote(path)
    plain = root.split("://", 1)[-1]
    at = path.find(plain + "/")
    if plain and at >= 0:
        return path[at + len(plain) + 1 :].lstrip("/")
    return path.rsplit("/", 1)[-1]


def _place(item: _Record, root: str) -> str:
    return item.position or f"{_relative(item.file, root)}:{item.ordinal + 1}"


def _iterate(batches: Iterator[pd.DataFrame], kind: str, root: str) -> Iterator[_Record]:
    """Decode raw rows; blank lines and header rows are counted but not yielded."""
    counts: dict[tuple[str, int], int] = {}
    headers: dict[str, list[str]] = {}
    for batch in batches:
        for file, block, payload, cells, body, corrupt in zip(
            batch["file"],
            batch["block"],
            batch["payload"],
            batch["cells"],
            batch["body"],
            batch["corrupt"],
            strict=True,
        ):
            if kind == "text":
                yield _text_record(file, payload, list(cells), body, bool(corrupt))
                continue
            if kind in ("parquet", SOURCE):
                # The row number stands in for the block; there is no other order.
                place = f"{_relative(file, root)}:{int(block) + 1}"
                if kind == SOURCE:
                    name = file.rsplit("/", 1)[-1]
                    place = f"{name}#{int(block) & 0xFFFFFFFFFFFFFFFF:016x}"
                if corrupt:
                    yield _Record(file, int(block), 0, place, None, None, _too_long())
                    continue
                record = decode_json(bytes(payload))
                whole = record if isinstance(record, dict) else {}
                content = None if body is None else bytes(body)
                yield _Record(file, int(block), 0, place, whole, content, None)
                continue
            at = (file, int(block))
            ordinal = counts.get(at, 0)
            counts[at] = ordinal + 1
            if kind == "jsonl":
                found = _too_long() if corrupt else decode_json(bytes(payload))
            else:
                if ordinal == 0:
                    headers[file] = _header(cells)
                    continue
                found = _csv_record(cells, bool(corrupt), headers[file])
            if isinstance(found, Problem):
                yield _Record(file, at[1], ordinal, None, None, None, found)
            elif found is not None:
                yield _Record(file, at[1], ordinal, None, found, None, None)


def _too_long() -> Problem:
    return Problem("too_long", "the record is far longer than input.max_characters allows")


def _text_record(
    file: str, payload: bytes | None, cells: list[str], body: bytes | None, large: bool
) -> _Record:
    name, at, reason, message = cells
    position = name or at
    problem: Problem | None = None
    if reason:
        problem = Problem(reason, message)
    elif large:
        problem = _too_long()
    elif payload is None:
        problem = Problem("missing_metadata", "the metadata table has no row for this file")
    elif not name:
        problem = Problem("missing_text", "the file of this row is empty, or not there")
    record = None if problem or payload is None else json.loads(bytes(payload))
    content = None if problem or body is None else bytes(body)
    return _Record(file, 0, 0, position, record, content, problem)


def _header(cells: Any) -> list[str]:
    if cells is None:
        return []
    names = [c.encode("latin-1").decode("utf-8-sig", errors="replace") for c in cells]
    return [n.strip() for n in names]


def _csv_record(cells: Any, corrupt: bool, header: list[str]) -> dict[str, Any] | Problem:
    if cells is None:
        return _too_long()
    if corrupt or len(cells) != len(header):
        return Problem("not_csv", f"not {len(header)} columns as in the first row")
    record = {}
    for name, cell in zip(header, cells, strict=True):
        try:
            record[name] = cell.encode("latin-1").decode("utf-8")
        except UnicodeDecodeError as error:
            return Problem("not_utf8", f"not UTF-8 at byte {error.start + 1} of a column")
    return record


# ------------------------------------------------------------------------------ checks up front


def _probe(
    kind: str, root: str, names: list[str], columns: ColumnsConfig
) -> Callable[..., Iterator[pd.DataFrame]]:
    """Emit which columns records have: ``+name`` for configured ones, ``-key`` for all others.

    ``.`` stands for a record; keys that look like text are left out.
    """

    def run(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        seen: set[str] = set()
        for item in _iterate(batches, kind, root):
            new: set[str] = set()
            if item.record is not None:
                new = {"."} | {"+" + n for n in names if has_column(item.record, n)}
                new |= {"-" + k for k in item.record if _COLUMN_NAME.fullmatch(k)}
            new -= seen
            seen |= new
            if new:
                yield pd.DataFrame({"found": sorted(new)})

    return run


def _missing_column(
    path: str, name: str, columns: ColumnsConfig, existing: list[str]
) -> InputError:
    """Say which column is missing and which there are; what looks like text is not quoted."""
    existing = [e for e in existing if _COLUMN_NAME.fullmatch(e)]
    fields = {v: k for k, v in columns.model_dump().items() if isinstance(v, str)}
    key = f"input.columns.{fields[name]}" if name in fields else "input.columns"
    close = difflib.get_close_matches(name, existing, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    if not existing:
        return InputError(f"{path}: no column {name!r} ({key}), and none that looks like a name")
    shown = ", ".join(existing[:30]) + (", ..." if len(existing) > 30 else "")
    return InputError(f"{path}: no column {name!r} ({key}){hint} Columns there: {shown}")


def _check_columns(
    raw: DataFrame, path: str, kind: str, config: InputConfig, with_text: bool = True
) -> None:
    """Raise when a configured column is in no record; a look at some records is mostly enough."""
    names = wanted_columns(config.columns, with_text)
    probe = _probe(kind, _root(path), names, config.columns)
    found: set[str] = set()
    for sample in (raw.limit(100), raw):
        rows = sample.mapInPandas(probe, "found string").distinct().limit(2000).collect()
        found = {row[0] for row in rows}
        if all("+" + n in found for n in names):
            return
    if not found:
        if raw.limit(1).count() == 0:
            raise InputError(f"{path}: holds no documents")
        return
    missing = [n for n in names if "+" + n not in found]
    existing = sorted(k[1:] for k in found if k.startswith("-"))
    if kind == "csv" and len(missing) == len(names):
        existing = []  # no header: what stands there is the first document
    raise _missing_column(path, missing[0], config.columns, existing)


def _check_period(raw: DataFrame, path: str, kind: str, config: InputConfig, period: str) -> None:
    columns = config.columns
    if columns.period is None:
        raise InputError(
            f"period {period!r} was asked for, but input.columns.period does not say which column "
            "holds it"
        )
    root = _root(path)

    def periods(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        seen: set[str] = set()
        for item in _iterate(batches, kind, root):
            value = record_period(item.record, columns) if item.record is not None else None
            if value is not None and value not in seen:
                seen.add(value)
                yield pd.DataFrame({"period": [value]})

    found = raw.mapInPandas(periods, "period string")
    if found.filter(F.col("period") == period).limit(1).count():
        return
    listed = sorted(row[0] for row in found.distinct().limit(1000).collect())
    shown = ", ".join(listed[:30]) + (", ..." if len(listed) > 30 else "") if listed else "none"
    raise InputError(f"{path}: no document of period {period!r}; periods found: {shown}")


# ------------------------------------------------------------------------------------- reading


def document_row(document: Document) -> dict[str, Any]:
    """Return a document as a row of table :data:`~nes_spark.schemas.DOCUMENTS`."""
    row = {name: getattr(document, name) for name in DOCUMENTS.names}
    row["identifiers"] = [
        {"kind": i.kind, "value": i.value, "placeholder": i.placeholder}
        for i in document.identifiers
    ]
    row["proposed_aliases"] = list(document.proposed_aliases)
    if document.mentions is not None:
        row["mentions"] = [placed._asdict() for placed in document.mentions]
    return row


def _frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """A frame whose columns stay objects: pandas would turn nulls among integers into floats."""
    return pd.DataFrame(
        {n: pd.Series([r.get(n) for r in rows], dtype=object) for n in _RECORD_COLUMNS},
        columns=_RECORD_COLUMNS,
    )


def _prepare(
    kind: str,
    root: str,
    config: InputConfig,
    presentation: PresentationConfig,
    identifiers: IdentifiersConfig,
    period: str | None,
) -> Callable[..., Iterator[pd.DataFrame]]:
    def prepared(item: _Record) -> Document | Problem | None:
        if item.problem is not None or item.record is None:
            return item.problem
        if period is not None:
            own = record_period(item.record, config.columns)
            if own is not None and own != period:
                return None
        name = (item.position or "").removesuffix(".txt")
        try:
            raw = read_record(item.record, config, item.body, name if kind == "text" else "")
        except RecursionError:
            return Problem("not_json", "values in it are nested too deeply")
        if isinstance(raw, Problem):
            return raw
        if period is not None and raw.period is None:
            return Problem("missing_period", "the document has no period", raw.document_id)
        return prepare_document(
            raw, presentation, identifiers, config.min_characters, config.foreign
        )

    def run(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        rows: list[dict[str, Any]] = []
        for item in _iterate(batches, kind, root):
            result = prepared(item)
            if result is None:
                continue
            row: dict[str, Any] = {
                "file": item.file,
                "block": item.block,
                "ordinal": item.ordinal,
                "position": item.position,
            }
            if isinstance(result, Problem):
                row |= {
                    "document_id": result.document_id,
                    "reason": result.reason,
                    "message": result.message,
                }
            else:
                row |= document_row(result)
            rows.append(row)
            if len(rows) >= _BATCH:
                yield _frame(rows)
                rows = []
        if rows:
            yield _frame(rows)

    return run


def read_documents(
    spark: SparkSession,
    config: InputConfig,
    presentation: PresentationConfig,
    identifiers: IdentifiersConfig,
    period: str | None = None,
    keep: Callable[[DataFrame], DataFrame] | None = None,
) -> tuple[DataFrame, DataFrame]:
    """Read the input and cut each document down to its presentation part.

    Parameters
    ----------
    spark : SparkSession
        Session.
    config : InputConfig
        Path, format, column mapping, limits. ``path`` is a file, folder or pattern, local or any
        URI that Spark reads.
    presentation : PresentationConfig
        How the presentation part is found.
    identifiers : IdentifiersConfig
        Which direct identifiers are listed with a document.
    period : str, optional
        Only documents of this period are input; others are not counted at all.
    keep : callable, optional
        Persists a frame that both tables come from, so that the input is parsed once; the caller
        drops it when both are stored.

    Returns
    -------
    (documents, quarantine) : tuple of DataFrame
        Tables :data:`~nes_spark.schemas.DOCUMENTS` and :data:`~nes_spark.schemas.QUARANTINE`. Each
        record of the input (of the period) is a row of exactly one of them. Both are computed from
        the input when used: store them before using them twice.

    Raises
    ------
    ConfigError
        When the column mapping names a kind of identifier that is not declared.
    InputError
        When the path does not exist or holds no documents, a configured column is in no record, or
        no document has the period.

    Notes
    -----
    Of documents with one id the first is kept, in the order of file name, place in the file; the
    others are quarantined. Positions are ``file:line`` for JSON Lines (blank lines count),
    ``file:row`` for CSV (row 1 is the header) and Parquet, the file for text files, and for tables
    and data sources, whose rows have no place, ``table#digest of the row``.
    """
    check_kinds(config.columns, identifiers)
    path = source_label(config) if config.from_table else config.path
    if not path:
        raise InputError("no input: set input.path or give --input PATH")
    try:
        if config.from_table:
            kind, raw = SOURCE, _read_source(spark, path, config)
        else:
            found = _listing(spark, path)
            kind = _format_of(path, config, found)
            raw = _READERS[kind](spark, path, config, found)
        if kind in ("jsonl", "csv"):
            _check_columns(raw, path, kind, config)
        elif raw.limit(1).count() == 0:
            raise InputError(f"{path}: holds no documents")
        if period is not None:
            _check_period(raw, path, kind, config, period)
    except AnalysisException as error:
        raise _input_error(path, error) from None
    root = _root(path)
    records = raw.mapInPandas(
        _prepare(kind, root, config, presentation, identifiers, period), _RECORDS
    )
    if keep is not None:
        records = keep(records)
    good = records.filter(F.col("reason").isNull())
    order = Window.partitionBy("document_id").orderBy("file", "block", "ordinal")
    ranked = good.withColumn("_rank", F.row_number().over(order))
    documents = ranked.filter(F.col("_rank") == 1).select(*DOCUMENTS.names)
    repeated = ranked.filter(F.col("_rank") > 1).select(
        "file",
        "block",
        "ordinal",
        "position",
        "document_id",
        F.lit("duplicate_document_id").alias("reason"),
        F.lit("an earlier document has this id and is kept").alias("message"),
    )
    bad = records.filter(F.col("reason").isNotNull()).select(*repeated.columns).union(repeated)
    return documents, _located(bad, raw, kind, root).select(*QUARANTINE.names)


def _located(bad: DataFrame, raw: DataFrame, kind: str, root: str) -> DataFrame:
    """Give records of line formats their position: the lines of earlier blocks of a file count."""
    if kind not in ("jsonl", "csv"):
        return bad
    blocks = raw.groupBy("file", "block").agg(F.count(F.lit(1)).alias("lines"))
    before = Window.partitionBy("file").orderBy("block").rowsBetween(Window.unboundedPreceding, -1)
    offsets = blocks.select(
        F.col("file").alias("_file"),
        F.col("block").alias("_block"),
        F.coalesce(F.sum("lines").over(before), F.lit(0)).alias("_offset"),
    )
    joined = bad.join(
        offsets, (bad["file"] == offsets["_file"]) & (bad["block"] == offsets["_block"])
    )

    def named(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            lines = batch["_offset"] + batch["ordinal"] + 1
            places = [
                f"{_relative(file, root)}:{int(line)}"
                for file, line in zip(batch["file"], lines, strict=True)
            ]
            yield batch[["document_id", "reason", "message"]].assign(position=places)[
                QUARANTINE.names
            ]

    return joined.select(
        "file", "ordinal", "_offset", "document_id", "reason", "message"
    ).mapInPandas(named, QUARANTINE.ddl)
