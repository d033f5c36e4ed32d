"""A look at the first records of somebody's files, without Spark.

Only names of columns, types, counts and lengths leave this module: no value of a column does.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import IO, Any

from nes_spark.errors import ConfigError, InputError
from nes_spark.text.language import KNOWN_SHARE, known_share
from nes_spark.text.reading import REASONS, Problem, decode_json

#: Records that are looked at.
SAMPLE = 200
#: The reason for which a record is put aside that has bytes of another encoding.
NOT_UTF8 = "not_utf8"
#: A column whose median value is at least so long may be the text of a document.
TEXT_CHARACTERS = 200
#: A string in turns counts as speech from this median length on.
TURN_CHARACTERS = 20
FORMATS = {
    ".jsonl": "jsonl", ".json": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".parquet": "parquet",
    ".txt": "text",
}  # fmt: skip
#: What the name of a column looks like; anything else may be a value (a table without a header).
_NAME = re.compile(r"[^\W\d][\w .:/@#()-]{0,39}")
_PERIOD = re.compile(r"(?:FY)?(?:19|20)\d\d(?:[-/ ]?(?:[QH]?\d{1,2}))?|[QH]\d[-/ ]?(?:19|20)\d\d")
#: Words that names of people do not have.
_INSTITUTION = re.compile(
    r"\b(?:and|of|for|the|court|hospital|clinic|infirmary|university|college|school|institute|"
    r"bank|group|inc|ltd|"
    r"llc|plc|gmbh|ag|corp|corporation|company|co|department|ministry|agency|cent(?:er|re)|"
    r"council|office|systems|holdings|partners|services|association|works|industries|"
    r"foundation|trust)\b|&|\d",
    re.IGNORECASE,
)
#: Rules of the question session that ordinary prose does not meet.
_SURE = ("first_question", "session_opened", "handover", "heading")
#: A judgment's own number, or that of an older one: "[2017] EWHC 3412 (QB)", "[2000] 1 WLR 33".
CITATION = (
    r"\[(?:19|20)\d\d\] (?:\d{1,2} )?[A-Z][A-Za-z.]{1,9}(?: [A-Z][A-Za-z]{1,9})? \d{1,5}\b"
    r"(?: \([A-Z][A-Za-z]{1,9}\))?"
)
#: Characters that a value has at least that is looked for in the text of its document.
_SEARCHED = 4
#: Signs of currencies before a figure, dollars of other countries among them.
_CURRENCIES = {
    "$": "USD",
    "US$": "USD",
    "€": "EUR",
    "£": "GBP",
    "C$": "CAD",
    "A$": "AUD",
    "₹": "INR",
}
_SIGNED = re.compile(r"(?<![^\W\d_])(?:US|C|A)?\$(?= ?\d)|[€£₹](?= ?\d)")
#: Amounts that must be there to tell, and the share of them that must be of one currency.
_AMOUNTS, _OF_ONE = 10, 0.9
#: Of so many values one that is surely somebody's name makes people of single words.
_SOME = 3


@dataclass(frozen=True)
class Column:
    """What one column holds, without any of it.

    Attributes
    ----------
    name : str
        Dotted where it lies in an object.
    kind : str
        ``text`` (long strings), ``turns`` (arrays of objects with speech), ``label`` (short
        strings), ``list`` (of strings, or an object of strings), ``number``, ``other``, ``empty``.
    filled : float
        Share of the records with a value.
    distinct : int
        Different values among the records looked at; 0 for text and turns.
    lengths : (int, int, int) or None
        Shortest, median and longest value, in characters; all turns together for turns.
    english : float or None
        Share of the values that look like English; text and turns only.
    small : float
        Share of the values with hardly a capital, as records of speech; text and turns only.
    in_text : float
        Share of the records whose text holds a value of this column word for word.
    period : bool
        Whether the values look like years, quarters or months.
    names : float
        Share of the values that have the form of people's names.
    digits : float
        Share of the values with a digit.
    ordinary : float
        Share of the values that are ordinary words in small letters, or short for them.
    days : float
        Share of the values that are days, such as dates of birth.
    turn_text, turn_speaker : str or None
        Fields inside a turn.
    currency : str or None
        Code of the currency in which nearly all amounts with a sign are; text and turns only.
    """

    name: str
    kind: str
    filled: float
    distinct: int
    lengths: tuple[int, int, int] | None = None
    english: float | None = None
    in_text: float = 0.0
    period: bool = False
    names: float = 0.0
    digits: float = 0.0
    days: float = 0.0
    ordinary: float = 0.0
    turn_text: str | None = None
    turn_speaker: str | None = None
    small: float = 0.0
    currency: str | None = None


@dataclass(frozen=True)
class Look:
    """What was seen of the files.

    Attributes
    ----------
    path : str
        For ``input.path``.
    format : str
        ``jsonl``, ``csv``, ``parquet`` or ``text``.
    records : int
        Records looked at.
    whole : bool
        Whether these are all.
    estimate : int
        Records in all, by the size of the files.
    broken : mapping of str to int
        Reason (:data:`nes_spark.text.reading.REASONS`) -> records among the first that cannot be
        read for it.
    columns : tuple of Column
        In the order of the files.
    calls : float
        Share of the records in which a question session was found.
    cited : float
        Share of the records with a citation of a judgment.
    """

    path: str
    format: str
    records: int
    whole: bool
    estimate: int
    broken: Mapping[str, int]
    columns: tuple[Column, ...]
    calls: float = 0.0
    texts: Column | None = field(default=None)
    cited: float = 0.0

    @property
    def not_utf8(self) -> str | None:
        """What to do about records that are not UTF-8, in one line; None where all are."""
        count = self.broken.get(NOT_UTF8, 0)
        if not count:
            return None
        return (
            f"{count:,} of the first {self.records + sum(self.broken.values()):,} records are not "
            f"UTF-8: a run leaves them out; {_convert(self.path)}"
        )

    def column(self, name: str) -> Column | None:
        """Return a column by name."""
        return next((c for c in self.columns if c.name == name), None)

    def table(self) -> str:
        """Return what was seen as lines for a terminal: no value of any column is among them."""
        from nes_spark.report.terminal import text_table

        more = "all" if self.whole else f"of about {self.estimate:,}"
        head = f"{self.path}: {self.format}, {self.records:,} records looked at ({more})"
        for reason, count in self.broken.items():
            head += f"\n{count:,} more cannot be read, a run puts such aside: {REASONS[reason]}"
        rows = []
        for column in (*self.columns, *((self.texts,) if self.texts else ())):
            low, middle, high = column.lengths or (0, 0, 0)
            remarks = []
            if column.english is not None:
                remarks.append(f"{column.english:.0%} look like English")
            if column.small:
                remarks.append(f"{column.small:.0%} have hardly a capital")
            if column.in_text:
                remarks.append(f"in the text of {column.in_text:.0%}")
            if column.period:
                remarks.append("looks like a period")
            rows.append(
                (
                    column.name, column.kind, f"{column.filled:.0%}",
                    f"{column.distinct:,}" if column.distinct else "",
                    f"{low:,} / {middle:,} / {high:,}" if column.lengths else "",
                    "; ".join(remarks),
                )
            )  # fmt: skip
        titles = ("column", "kind", "filled", "distinct", "characters: least / median / most", "")
        return head + "\n\n" + text_table(titles, rows, right={2, 3, 4})


def look_at(files: Sequence[str], metadata_table: str | None = None) -> Look:
    """Look at the first records of some files.

    Parameters
    ----------
    files : sequence of str
        Files of one format, one folder, or one glob; local.
    metadata_table : str, optional
        For texts as files: the table that says whose each file is.

    Returns
    -------
    Look

    Raises
    ------
    InputError
        When there is nothing to look at, the format cannot be told, or a table has no header.
    """
    from nes_spark.store import find_inputs, local_files, local_path

    if not files:
        raise InputError("init: give the files with the texts, or --example")
    for given in files:
        if local_path(given) is None:
            raise InputError(
                f"{given}: init looks at local files only; copy a few records beside and give those"
            )
    find_inputs(files)
    found = [f for given in files for f in local_files(local_path(given) or given)]
    formats = sorted({f for file in found if (f := _format(file)) is not None})
    if metadata_table is not None:
        formats = ["text"]
    if len(formats) != 1:
        shown = ", ".join(formats) or "none that is known"
        raise InputError(
            f"{', '.join(files)}: must be of one format, found {shown}; known are "
            f"{', '.join(FORMATS)} (also .gz)"
        )
    kind = formats[0]
    found = [f for f in found if _format(f) == kind]
    path = _one_path(files)
    if kind == "text":
        return _look_at_texts(path, found, metadata_table)
    records, broken, size = _first(found, kind)
    return _described(path, kind, records, broken, _estimate(found, kind, records, size))


def _format(file: Path) -> str | None:
    suffixes = [s.lower() for s in file.suffixes if s.lower() != ".gz"]
    return FORMATS.get(suffixes[-1]) if suffixes else None


def _one_path(files: Sequence[str]) -> str:
    """One path for ``input.path``: several files of one folder become a pattern."""
    if len(files) == 1:
        return files[0]
    folders = {str(Path(f).parent) for f in files}
    if len(folders) > 1:
        raise InputError(
            f"the files lie in {len(folders)} folders; put them into one and give that folder"
        )
    names = ",".join(Path(f).name for f in files)
    return str(Path(folders.pop()) / f"{{{names}}}")


def _open(file: Path) -> IO[bytes]:
    return gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb")  # type: ignore[return-value]


def _convert(path: str, encoding: str | None = None) -> str:
    """How files become UTF-8."""
    if Path(path).is_dir():
        # files of one folder may have come from different hands
        return (
            "convert each with 'iconv -f ENCODING -t UTF-8 FILE > NEW_FILE': UTF-16 where "
            "'file FILE' says so, else, of Western Europe, WINDOWS-1252"
        )
    iconv = f"'iconv -f {encoding or 'WINDOWS-1252'} -t UTF-8 {path} > NEW_FILE'"
    if encoding is not None:
        return f"convert it with {iconv}"
    return f"save it as 'CSV UTF-8', or convert it, if it is of Western Europe with {iconv}"


def _first(files: Iterable[Path], kind: str) -> tuple[list[dict[str, Any]], Counter[str], int]:
    """The first records, how many were broken and why, and the bytes that they took."""
    records: list[dict[str, Any]] = []
    broken: Counter[str] = Counter()
    size = 0
    for file in files:
        read = {"jsonl": _jsonl, "csv": _csv, "parquet": _parquet}[kind]
        for record, length in read(file):
            size += length
            if isinstance(record, str):
                broken[record] += 1
            else:
                records.append(record)
            if len(records) + broken.total() >= SAMPLE:
                return records, broken, size
    return records, broken, size


def _jsonl(file: Path) -> Iterator[tuple[dict[str, Any] | str, int]]:
    """Records, or the reason why one cannot be read, and the bytes that each takes."""
    with _open(file) as stream:
        for line in stream:
            found = decode_json(line)
            if isinstance(found, Problem):
                yield found.reason, len(line)
            elif found is not None:
                yield found, len(line)


def _csv(file: Path) -> Iterator[tuple[dict[str, Any] | str, int]]:
    csv.field_size_limit(2**31 - 1)
    with _open(file) as stream:
        first = stream.readline()
        try:
            first.decode("utf-8-sig")
        except UnicodeDecodeError:
            wide = first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
            hint = _convert(str(file), "UTF-16" if wide else None)
            raise InputError(f"{file}: its first row is not UTF-8; {hint}") from None
        # what is not UTF-8 becomes a code point that no text may hold
        lines = (
            line.decode("utf-8-sig", errors="surrogateescape") for line in chain([first], stream)
        )
        rows = csv.reader(lines)
        header = [name.strip() for name in next(rows, [])]
        for separator, name in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
            parts = header[0].split(separator) if len(header) == 1 else []
            if len(parts) > 1 and all(_NAME.fullmatch(part.strip()) for part in parts):
                raise InputError(
                    f"{file}: its columns are separated by {name}; save it with commas, or as "
                    "Parquet or JSON Lines"
                )
        if odd := [name for name in header if not _NAME.fullmatch(name)]:
            raise InputError(
                f"{file}: the first row must hold the names of the columns; {len(odd)} of its "
                f"{len(header)} cells do not look like names"
            )
        for row in rows:
            length = sum(len(cell) + 1 for cell in row)
            if len(row) != len(header):
                yield "not_csv", length
            elif not _is_utf8(row):
                yield NOT_UTF8, length
            else:
                yield dict(zip(header, row, strict=True)), length


def _is_utf8(cells: Sequence[str]) -> bool:
    """Whether cells that were decoded with escapes for what is not UTF-8 have none."""
    try:
        "".join(cells).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _parquet(file: Path) -> Iterator[tuple[dict[str, Any] | str, int]]:
    import pyarrow.parquet as pq

    for batch in pq.ParquetFile(file).iter_batches(batch_size=50):
        for record in batch.to_pylist():
            yield record, 0


def _estimate(files: Sequence[Path], kind: str, records: Sequence[Any], size: int) -> int:
    if kind == "parquet":
        import pyarrow.parquet as pq

        return sum(pq.ParquetFile(f).metadata.num_rows for f in files)
    if len(records) < SAMPLE or not size:
        return len(records)
    total = sum(f.stat().st_size for f in files)
    return max(len(records), round(total / size * len(records)))


def _look_at_texts(path: str, files: Sequence[Path], table: str | None) -> Look:
    if table is None:
        raise ConfigError(
            f"--metadata-table is missing: {path} holds texts as files; give a table (CSV, JSON "
            "Lines or Parquet) whose column 'file' holds each file's path and that says whose it is"
        )
    inner = look_at([table])
    if inner.column("file") is None:
        raise InputError(
            f"{table}: no column 'file' with the path of each text; columns there: "
            f"{', '.join(c.name for c in inner.columns)}"
        )
    bodies: dict[str, str] = {}
    root = Path(path) if Path(path).is_dir() else files[0].parent
    broken: Counter[str] = Counter()
    for file in files[:SAMPLE]:
        try:
            name = _named(file, root)
            bodies[name] = file.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            broken[NOT_UTF8] += 1
    kind = inner.format
    rows, _, _ = _first([Path(table)], kind)
    keyed = {str(r.get("file", "")).strip().removeprefix("./"): r for r in rows}
    joined = [r | {_BODY: bodies[name]} for name, r in keyed.items() if name in bodies]
    if len(files) < SAMPLE and len(rows) < SAMPLE:
        broken["missing_metadata"] = len(bodies.keys() - keyed.keys())
        broken["missing_text"] = len(keyed.keys() - {_named(file, root) for file in files})
        broken = +broken  # without those that are nought
    if not joined:
        raise InputError(
            f"{table}: none of its first {len(rows)} rows names one of the first {len(bodies)} "
            f"files in {path} (column 'file')"
        )
    look = _described(path, "text", joined, broken, len(files))
    columns = tuple(c for c in look.columns if c.name != _BODY)
    return Look(
        path, "text", len(joined), len(joined) == len(files), len(files), broken, columns,
        look.calls, look.column(_BODY), look.cited,
    )  # fmt: skip


def _named(file: Path, root: Path) -> str:
    """How a table names a file."""
    return file.relative_to(root).as_posix() if root in file.parents else file.name


_BODY = "(the files)"


def _described(
    path: str,
    kind: str,
    records: Sequence[Mapping[str, Any]],
    broken: Counter[str],
    estimate: int,
) -> Look:
    if not records:
        listed = ", ".join(f"{n:,} {REASONS[reason]}" for reason, n in broken.most_common())
        hint = f"; {_convert(path)}" if broken[NOT_UTF8] else ""
        raise InputError(
            f"{path}: holds no record that can be read{listed and f': {listed}'}{hint}"
        )
    sections = _sections(records)
    flat = [_flat(record, sections) for record in records]
    names = list(dict.fromkeys(name for record in flat for name in record))
    if odd := [n for n in names if n != _BODY and not _NAME.fullmatch(n)]:
        raise InputError(
            f"{path}: {len(odd)} of {len(names)} names of columns do not look like names; give "
            "columns short names of letters, digits and _"
        )
    plain = [_column(name, [record.get(name) for record in flat]) for name in names]
    bodies = _bodies(plain, flat)
    found = tuple(_with_text(c, flat, bodies) for c in plain)
    calls = sum(map(_has_questions, bodies)) / len(bodies)
    cited = sum(re.search(CITATION, body) is not None for body in bodies) / len(bodies)
    whole = len(records) + broken.total() < SAMPLE or estimate <= len(records)
    return Look(path, kind, len(records), whole, estimate, broken, found, calls, cited=cited)


def _sections(records: Sequence[Mapping[str, Any]]) -> set[str]:
    """Columns whose objects have the same fields throughout: these are columns in their own right.

    In any other object the keys are values, such as ids or names of speakers, and are not shown.
    """
    counts: dict[str, Counter[str]] = {}
    for record in records:
        for name, value in record.items():
            if isinstance(value, Mapping):
                counts.setdefault(name, Counter()).update(map(str, value))
    return {
        name
        for name, keys in counts.items()
        if keys
        and all(_NAME.fullmatch(k) and 2 * n > len(records) for k, n in keys.items())
        and len(records) > 1
    }


def _flat(record: Mapping[str, Any], sections: set[str]) -> dict[str, Any]:
    """Columns of a record; sections are looked into once."""
    flat: dict[str, Any] = {}
    for name, value in record.items():
        if name in sections and isinstance(value, Mapping):
            flat |= {f"{name}.{k}": v for k, v in value.items()}
        else:
            flat[name] = value
    return flat


def _decoded(value: Any) -> Any:
    """Arrays and objects that a table cell holds as JSON."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _strings(value: Any) -> list[str]:
    value = _decoded(value)
    if isinstance(value, str):
        return [part.strip() for part in value.split(";") if part.strip()]
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [s for item in value for s in _strings(item)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


def _turn_fields(values: Sequence[Any]) -> tuple[str | None, str | None]:
    """Fields of a turn that hold what is said, and who says it."""
    turns = [t for v in values for t in v if isinstance(t, Mapping)]
    lengths: dict[str, list[int]] = {}
    for turn in turns[:2000]:
        for name, value in turn.items():
            if isinstance(value, str):
                lengths.setdefault(name, []).append(len(value))
    if not lengths:
        return None, None
    text = max(lengths, key=lambda n: statistics.mean(lengths[n]))
    if statistics.mean(lengths[text]) < TURN_CHARACTERS:
        return None, None
    others = [n for n in lengths if n != text]
    speaker = next((n for n in others if re.search(r"speaker(?!.*id)|name", n.lower())), None)
    return text, speaker or (others[0] if len(others) == 1 else None)


def _column(name: str, values: Sequence[Any]) -> Column:
    from nes_spark.text.days import days_of
    from nes_spark.text.forms import is_capital, is_name

    there = [_decoded(v) for v in values if v is not None and v != "" and v != []]
    filled = len(there) / len(values)
    if not there:
        return Column(name, "empty", 0.0, 0)
    if all(isinstance(v, list) and v and isinstance(v[0], Mapping) for v in there):
        text, speaker = _turn_fields(there)
        if text is not None:
            said = ["\n\n".join(str(t.get(text) or "") for t in v) for v in there]
            english = _english(said)
            return Column(name, "turns", filled, 0, _lengths(said), english, turn_text=text,
                          turn_speaker=speaker, small=_small(said),
                          currency=_currency(said))  # fmt: skip
    if all(isinstance(v, str) for v in there):
        lengths = _lengths(there)
        if lengths[1] >= TEXT_CHARACTERS:
            return Column(name, "text", filled, 0, lengths, _english(there), small=_small(there),
                          currency=_currency(there))  # fmt: skip
        kind = "list" if any(";" in v for v in there) else "label"
    elif all(isinstance(v, (list, tuple, Mapping)) for v in there):
        kind = "list" if any(_strings(v) for v in there) else "other"
    elif all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in there):
        kind = "number"
    else:
        kind = "other"
    parts = [s for v in there for s in _strings(v)]
    period = bool(parts) and all(_PERIOD.fullmatch(s) for s in parts)
    people = [s for s in parts if is_name(s) and (_looks_like_a_person(s) or _is_called_so(s))]
    if len(people) * _SOME >= len(parts):
        # "Ann; Oonagh": among people a single word that is on no list is how somebody is called
        people += [s for s in parts if s.isalpha() and is_capital(s) and not _is_called_so(s)]
    return Column(
        name, kind, filled, len({json.dumps(v, default=str, sort_keys=True) for v in there}),
        _lengths(parts) if parts else None, period=period,
        names=len(people) / len(parts) if parts else 0.0,
        digits=sum(any(c.isdigit() for c in s) for s in parts) / len(parts) if parts else 0.0,
        days=sum(bool(days_of(s)) for s in parts) / len(parts) if parts else 0.0,
        ordinary=_ordinary(parts),
    )  # fmt: skip


def _looks_like_a_person(name: str) -> bool:
    """Whether a value is a person's name: "Ann Park", "Yusuf Szeto", not "Orchard Lane Dental"."""
    from nes_spark.entities.wordforms import is_word
    from nes_spark.text.people import is_given_name

    words = [w for w in re.split(r"[\s.,-]+", name) if w]
    if not 2 <= len(name.split()) <= 4 or not name[0].isupper() or _INSTITUTION.search(name):
        return False
    # a company's name begins with a given name or has no ordinary word now and then, not mostly
    return is_given_name(words[0]) or not any(is_word(w.lower()) for w in words if len(w) > 1)


def _is_called_so(value: str) -> bool:
    """Whether a value is how somebody is called: "Niamh", "Father Keane", "old Mr Szeto"."""
    from nes_spark.text.forms import is_title, name_words
    from nes_spark.text.people import is_given_name

    words = value.split()
    if not words or _INSTITUTION.search(value) or not words[-1][0].isupper():
        return False
    if len(words) == 1:
        return is_given_name(words[0])
    return len(words) <= 4 and any(map(is_title, words[:-1])) and bool(name_words(value))


def _is_ordinary(value: str) -> bool:
    """Whether a value is ordinary words in small letters: "discharge summary"."""
    from nes_spark.entities.wordforms import is_word

    words = [w for w in re.split(r"[\s_/-]+", value) if w]
    return bool(words) and all(w.isalpha() and w.islower() and is_word(w) for w in words)


def _ordinary(values: Sequence[str]) -> float:
    """Share of values that are ordinary words; what stands among them is short for others.

    Examples
    --------
    >>> _ordinary(["report", "letter", "ehcp"]), _ordinary(["report", "EHCP"])
    (1.0, 0.5)
    """
    share = sum(map(_is_ordinary, values)) / len(values) if values else 0.0
    small = all(value.replace(" ", "").isalpha() and value.islower() for value in values)
    return 1.0 if small and share > 0.5 else share


def _lengths(texts: Sequence[str]) -> tuple[int, int, int]:
    sizes = [len(t) for t in texts]
    return min(sizes), round(statistics.median(sizes)), max(sizes)


def _english(texts: Sequence[str]) -> float:
    shares = [s for t in texts if (s := known_share(t)) is not None]
    return sum(s >= KNOWN_SHARE for s in shares) / len(shares) if shares else 0.0


def _small(texts: Sequence[str]) -> float:
    from nes_spark.text.matching import is_in_small_letters

    return sum(map(is_in_small_letters, texts)) / len(texts)


def _currency(texts: Sequence[str]) -> str | None:
    found = Counter(_CURRENCIES[sign] for text in texts for sign in _SIGNED.findall(text))
    if sum(found.values()) < _AMOUNTS:
        return None
    code, count = found.most_common(1)[0]
    return code if count >= _OF_ONE * sum(found.values()) else None


def _bodies(columns: Sequence[Column], flat: Sequence[Mapping[str, Any]]) -> list[str]:
    """All that texts and turns of each record hold, to look for values of other columns in."""
    found = []
    for record in flat:
        parts = []
        for column in columns:
            value = _decoded(record.get(column.name))
            if column.kind == "text" and isinstance(value, str):
                parts.append(value)
            elif column.kind == "turns" and isinstance(value, list):
                for turn in value:
                    who = str(turn.get(column.turn_speaker) or "") if column.turn_speaker else ""
                    said = str(turn.get(column.turn_text) or "")
                    parts.append(f"{who}: {said}" if who else said)
        found.append("\n".join(parts))
    return found


def _with_text(column: Column, flat: Sequence[Mapping[str, Any]], bodies: Sequence[str]) -> Column:
    """Say in how many records a value of the column, or a surname, stands in the text."""
    if column.kind not in ("label", "list", "number", "other") or column.period:
        return column
    from nes_spark.text.days import days_of, find_days
    from nes_spark.text.matching import parts_of_address

    hits = 0
    for record, body in zip(flat, bodies, strict=True):
        given = _strings(record.get(column.name))
        if column.days >= 0.5:
            # a day is written in many ways
            listed = [day for s in given for day in days_of(s)]
            found = (day for _, _, days in find_days(body) for day in days)
            hits += any(day.may_be(other) for day in found for other in listed)
            continue
        # People are mostly called by their surname.
        given += [s.split()[-1] for s in given if _looks_like_a_person(s)]
        given += [part for s in given for part in parts_of_address(s)]
        values = [s for s in given if len(s) >= _SEARCHED]
        hits += any(re.search(rf"(?<!\w){re.escape(s)}(?!\w)", body) for s in values)
    share = hits / len(flat)
    return column if not share else Column(**{**vars(column), "in_text": share})


def _has_questions(body: str) -> bool:
    from nes_spark.text.presentation import find_presentation, split_turns

    return find_presentation(split_turns(body)).boundary in _SURE
