"""One input record becomes a document, or a problem that says why it does not.

Nothing here knows where a record came from: :mod:`nes_spark.text.reading_stages` reads files with
Spark and hands over one record at a time. Messages never quote text of a document.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from nes_spark.config import (
    ColumnsConfig,
    IdentifiersConfig,
    InputConfig,
    PresentationConfig,
)
from nes_spark.text.given import Placed, Span, place_spans, read_spans
from nes_spark.text.identifiers import known_identifiers
from nes_spark.text.language import is_foreign, known_share
from nes_spark.text.matching import Identifier
from nes_spark.text.normalizing import tidied
from nes_spark.text.presentation import Turn, find_presentation, split_turns

#: Reason codes of the quarantine and what each means.
REASONS: dict[str, str] = {
    "not_utf8": "the bytes are not UTF-8 text",
    "not_json": "the line is not a JSON object",
    "not_csv": "the row has another number of columns than the table",
    "missing_document_id": "no document id, or one that is neither text nor a whole number",
    "missing_metadata": "the field that must stay secret is missing or empty",
    "missing_period": "a period was asked for and the document has none",
    "missing_text": "the text field is missing, or the file that a row names is",
    "bad_turns": "the turns are not an array of objects with a text",
    "bad_mentions": "the given spans are missing, have not the form asked for or lie elsewhere",
    "bad_identifier": "a value of a direct identifier is nested or long beyond reason",
    "empty_text": "the text holds nothing but white space",
    "too_long": "the text is longer than input.max_characters",
    "no_presentation": "questions from the start: there is no presentation part",
    "no_questions": "no question session was found and presentation.require_questions is on",
    "too_short": "the presentation part is shorter than input.min_characters",
    "foreign": "the text does not look like English, and input.foreign says quarantine",
    "duplicate_document_id": "an earlier accepted document has the same id",
}

#: Characters that a name, an address or a number may have.
MAX_IDENTIFIER = 10_000

_MISSING = object()


@dataclass(frozen=True)
class Problem:
    """Why a record is not accepted: a code of :data:`REASONS`, one line for a person, the id."""

    reason: str
    message: str
    document_id: str | None = None


@dataclass(frozen=True)
class RawDocument:
    """A record whose fields were found.

    Attributes
    ----------
    document_id, metadata : str
        Id and secret.
    period : str or None
        Cross-section.
    text : str or None
        The whole text where the input has one string, else None.
    turns : tuple of Turn
        Speaker turns where the input has an array of them, else empty.
    identifiers : dict of str to list of str
        Kind of direct identifier -> values from the configured columns.
    covariates : dict of str to str
        As configured; only those with a value.
    metadata_column : str
        Input column of the secret.
    spans : tuple of Span or None
        Given spans; None where the configuration names no column of them.
    """

    document_id: str
    metadata: str
    period: str | None
    text: str | None
    turns: tuple[Turn, ...] = ()
    identifiers: dict[str, list[str]] = field(default_factory=dict)
    covariates: dict[str, str] = field(default_factory=dict)
    metadata_column: str = "metadata"
    spans: tuple[Span, ...] | None = None


def look_up(record: Mapping[str, Any], name: str) -> Any:
    """Return the value of a column; dotted names reach into nested objects.

    A key that contains the dots itself has precedence. Returns None where nothing is found.
    """
    value = _find(record, name)
    return None if value is _MISSING else value


def has_column(record: Mapping[str, Any], name: str) -> bool:
    """Whether :func:`look_up` finds the column (a null counts as found)."""
    return _find(record, name) is not _MISSING


def _find(record: Any, name: str) -> Any:
    if type(record) is not dict and not isinstance(record, Mapping):  # the latter is slow
        return _MISSING
    if name in record:
        return record[name]
    head, _, rest = name.partition(".")
    return _find(record[head], rest) if rest and head in record else _MISSING


def wanted_columns(columns: ColumnsConfig, with_text: bool = True) -> list[str]:
    """Return the input columns that a configuration names, each once, in order."""
    names = [columns.document_id, columns.metadata]
    if with_text:
        names.append(columns.text or columns.turns or "")
    if columns.period:
        names.append(columns.period)
    if columns.mentions:
        names.append(columns.mentions)
    names.extend(columns.covariates.values())
    for group in columns.identifiers.values():
        names.extend(group)
    return list(dict.fromkeys(names))


def decode_json(line: bytes) -> dict[str, Any] | Problem | None:
    """Parse one line of a JSON Lines file.

    Returns
    -------
    dict, Problem or None
        None for a blank line, which is not a record.
    """
    line = line.removeprefix(b"\xef\xbb\xbf")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        return Problem("not_utf8", f"not UTF-8 at byte {error.start + 1} of the line")
    if not text.strip():
        return None
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        return Problem("not_json", f"not JSON at character {error.pos + 1}: {error.msg}")
    except (ValueError, RecursionError):
        return Problem("not_json", "not JSON that can be read: a number or nesting is too large")
    if not isinstance(record, dict):
        return Problem("not_json", "a JSON value that is not an object with named fields")
    return record


def _scalar(value: Any) -> str | None:
    """The text of an id or label; None where it is missing or not one value."""
    if type(value) is str:
        return value.strip() or None
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    if isinstance(value, float):
        if not value.is_integer():
            return None
        value = int(value)
    return str(value).strip() or None


def _values(value: Any) -> Iterator[str]:
    """All strings in a string, list or object."""
    if isinstance(value, str):
        if value.strip()[:1] in ("[", "{"):
            try:
                value = json.loads(value)
            except ValueError:
                value = value.strip()
        if isinstance(value, str):
            # A table cell may hold several values.
            yield from (part.strip() for part in value.split(";") if part.strip())
            return
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _values(item)
    elif (single := _scalar(value)) is not None:
        yield single


def _turns(value: Any, columns: ColumnsConfig) -> tuple[Turn, ...] | str:
    """Turns of a record, or what is wrong with them."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return f"{columns.turns!r} is a string that is not a JSON array"
    if not isinstance(value, (list, tuple)):
        return f"{columns.turns!r} must be an array of turns, got {type(value).__name__}"
    turns = []
    for i, item in enumerate(value):
        if not isinstance(item, Mapping):
            return f"turn {i} must be an object, got {type(item).__name__}"
        text = look_up(item, columns.turn_text)
        if not isinstance(text, str):
            return f"turn {i} has no {columns.turn_text!r} that is a string"
        speaker = _scalar(look_up(item, columns.turn_speaker)) or ""
        ident = _scalar(look_up(item, columns.turn_speaker_id)) if columns.turn_speaker_id else None
        turns.append(Turn(text, speaker, ident))
    return tuple(turns)


def record_period(record: Mapping[str, Any], columns: ColumnsConfig) -> str | None:
    """Return the period of a record, None where it has none."""
    return _scalar(look_up(record, columns.period)) if columns.period else None


def read_record(
    record: Mapping[str, Any], config: InputConfig, body: bytes | None = None, name: str = ""
) -> RawDocument | Problem:
    """Find the fields of a record.

    Parameters
    ----------
    record : mapping
        Column -> value, possibly nested.
    config : InputConfig
        Column mapping and limits.
    body : bytes, optional
        The text as raw bytes, for formats that keep it apart from the record (a folder of .txt
        files); takes the place of the text column.
    name : str
        Document id used when `body` is given and the record has no id column.

    Returns
    -------
    RawDocument or Problem
    """
    columns = config.columns
    document_id = _scalar(look_up(record, columns.document_id))
    if document_id is None and body is not None and not has_column(record, columns.document_id):
        document_id = name or None
    if document_id is None:
        return Problem(
            "missing_document_id", f"column {columns.document_id!r} has no text or whole number"
        )
    metadata = _scalar(look_up(record, columns.metadata))
    if metadata is None:
        return Problem("missing_metadata", f"column {columns.metadata!r} is empty", document_id)
    text: str | None = None
    turns: tuple[Turn, ...] = ()
    if body is not None:
        try:
            text = body.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            return Problem("not_utf8", f"not UTF-8 at byte {error.start + 1}", document_id)
    elif columns.text is not None:
        value = look_up(record, columns.text)
        if not isinstance(value, str):
            return Problem(
                "missing_text", f"column {columns.text!r} does not hold a string", document_id
            )
        text = value
    else:
        value = look_up(record, columns.turns or "")
        if value is None:
            return Problem("missing_text", f"column {columns.turns!r} is empty", document_id)
        found = _turns(value, columns)
        if isinstance(found, str):
            return Problem("bad_turns", found, document_id)
        turns = found
    length = len(text) if text is not None else sum(len(t.text) for t in turns)
    if length > config.max_characters:
        return Problem(
            "too_long",
            f"{length} characters; input.max_characters is {config.max_characters}",
            document_id,
        )
    if not (text or "".join(t.text for t in turns)).strip():
        return Problem("empty_text", "no text but white space", document_id)
    covariates = {
        key: value
        for key, column in columns.covariates.items()
        if (value := _scalar(look_up(record, column))) is not None
    }
    try:
        identifiers = {
            kind: list(dict.fromkeys(v for name in group for v in _values(look_up(record, name))))
            for kind, group in columns.identifiers.items()
        }
    except RecursionError:
        return Problem("bad_identifier", "an identifier is nested too deeply", document_id)
    longest = max((len(v) for values in identifiers.values() for v in values), default=0)
    if max(longest, len(metadata)) > MAX_IDENTIFIER:
        return Problem(
            "bad_identifier", f"an identifier of more than {MAX_IDENTIFIER} characters", document_id
        )
    spans: tuple[Span, ...] | None = None
    if columns.mentions is not None:
        n_turns = None if text is not None else len(turns)
        given = read_spans(look_up(record, columns.mentions), n_turns)
        if isinstance(given, str):
            return Problem("bad_mentions", f"{columns.mentions!r}: {given}", document_id)
        spans = tuple(given)
    raw = RawDocument(
        document_id,
        metadata,
        record_period(record, columns),
        text,
        turns,
        identifiers,
        covariates,
        columns.metadata,
        spans,
    )
    if not _encodable(raw):
        return Problem("not_utf8", "holds half of a surrogate pair (an escape such as \\ud83d)")
    return raw


def _encodable(raw: RawDocument) -> bool:
    """JSON escapes can spell code points that no text may hold; Arrow would fail on them."""
    parts = [raw.document_id, raw.metadata, raw.period or "", raw.text or ""]
    parts.extend(t.text + t.speaker for t in raw.turns)
    parts.extend(v for group in raw.identifiers.values() for v in group)
    parts.extend(raw.covariates.values())
    try:
        "".join(parts).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True)
class Document:
    """A row of the documents table (see :data:`nes_spark.schemas.DOCUMENTS`)."""

    document_id: str
    metadata: str
    period: str | None
    text: str
    identifiers: tuple[Identifier, ...]
    covariates: dict[str, str]
    n_turns: int
    n_turns_kept: int
    boundary: str
    qa_start_turn: int | None
    proposed_aliases: tuple[str, ...]
    known_words: float | None = None
    mentions: tuple[Placed, ...] | None = None


def _tidy(raw: RawDocument) -> RawDocument:
    """Tidy the texts of a record; given spans go with them."""
    sources = [t.text for t in raw.turns] if raw.text is None else [raw.text]
    if all(source.isascii() for source in sources):
        return raw
    found = [tidied(source) for source in sources]
    spans = raw.spans and tuple(
        span._replace(start=start, end=end)
        for span in raw.spans
        for start, end in [
            found[span.turn].placed(span.start, span.end)
            if 0 <= span.start < span.end <= len(sources[span.turn])
            else (-1, -1)  # outside the text before is outside after
        ]
    )
    if raw.text is not None:
        return replace(raw, text=found[0].text, spans=spans)
    turns = tuple(replace(t, text=f.text) for t, f in zip(raw.turns, found, strict=True))
    return replace(raw, turns=turns, spans=spans)


def prepare_document(
    raw: RawDocument,
    presentation: PresentationConfig,
    identifiers: IdentifiersConfig,
    min_characters: int = 1,
    foreign: str = "keep",
) -> Document | Problem:
    """Tidy a document, cut it down to its presentation part and list its direct identifiers.

    Parameters
    ----------
    raw : RawDocument
        As read; its texts are tidied (:func:`nes_spark.text.normalizing.tidied`).
    presentation : PresentationConfig
        How the presentation part is found.
    identifiers : IdentifiersConfig
        Which identifiers are known or mined.
    min_characters : int
        A shorter presentation part is a problem.
    foreign : str
        With ``quarantine`` one that does not look like English is a problem too.

    Returns
    -------
    Document or Problem
    """
    raw = _tidy(raw)
    if presentation.method == "none" and raw.text is not None:
        turns = [Turn(raw.text)]
    else:
        turns = list(raw.turns) if raw.text is None else split_turns(raw.text)
    found = find_presentation(turns, presentation.method, presentation.drop_operator)
    if presentation.require_questions and found.qa_start_turn is None and found.turns:
        return Problem("no_questions", "no question session was found", raw.document_id)
    separator = "\n\n"
    text = separator.join(t.text for t in found.turns)
    if not text.strip():
        return Problem("no_presentation", "there is no presentation part", raw.document_id)
    if len(text) < min_characters:
        return Problem(
            "too_short",
            f"a presentation part of {len(text)} characters; input.min_characters is "
            f"{min_characters}",
            raw.document_id,
        )
    share = known_share(text)
    if foreign == "quarantine" and is_foreign(text, share):
        return Problem("foreign", "the text does not look like English", raw.document_id)
    placed: tuple[Placed, ...] | None = None
    if raw.spans is not None:
        if raw.text is None:
            sources = [t.text for t in raw.turns]
            kept = [(i, t.text) for i, t in zip(found.indices, found.turns, strict=True)]
        else:
            sources, kept = [raw.text], [(0, t.text) for t in found.turns]
        carried = place_spans(raw.spans, sources, kept, len(separator))
        if isinstance(carried, str):
            return Problem("bad_mentions", carried, raw.document_id)
        placed = tuple(carried)
    names, proposed = known_identifiers(
        text,
        raw.identifiers,
        identifiers,
        turns=turns,
        kept=found.indices,
        secret=(raw.metadata_column, raw.metadata),
    )
    return Document(
        raw.document_id,
        raw.metadata,
        raw.period,
        text,
        tuple(names),
        raw.covariates,
        0 if raw.text is not None else len(raw.turns),
        len(found.turns),
        found.boundary,
        found.qa_start_turn,
        tuple(proposed),
        share,
        placed,
    )
