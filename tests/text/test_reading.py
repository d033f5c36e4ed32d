import json

import pytest

from nes_spark.config import IdentifiersConfig, InputConfig, PresentationConfig
from nes_spark.text.reading import (
    REASONS,
    Problem,
    decode_json,
    has_column,
    look_up,
    prepare_document,
    read_record,
)

TURNS = InputConfig.model_validate(
    {
        "columns": {
            "metadata": "about.company",
            "turns": "turns",
            "turn_speaker_id": "id",
            "period": "quarter",
            "covariates": {"sector": "about.sector"},
            "identifiers": {"company": ["about.company", "also"], "person": ["speakers"]},
        }
    }
)
TEXT = InputConfig.model_validate({"columns": {"text": "text", "metadata": "company"}})
RECORD = {
    "document_id": 17,
    "about": {"company": "Acme", "sector": "steel"},
    "quarter": "2020Q3",
    "also": "Acme Steel; Ajax",
    "speakers": {"1": "Ann Roe", "2": "Bo Lee"},
    "turns": [{"text": "Good morning.", "speaker": "Ann Roe", "id": 1}],
}


def with_(record, **changes):
    return {**record, **changes}


def test_dotted_names_reach_into_objects():
    record = {"a": {"b": {"c": 1}}, "a.x": 2, "n": None}
    assert look_up(record, "a.b.c") == 1
    assert look_up(record, "a.x") == 2
    assert look_up(record, "a.b.z") is None
    assert has_column(record, "n")
    assert not has_column(record, "a.z")
    assert not has_column(record, "n.z")


def test_all_fields_of_a_record():
    raw = read_record(RECORD, TURNS)
    assert (raw.document_id, raw.metadata, raw.period, raw.text) == ("17", "Acme", "2020Q3", None)
    assert [(t.text, t.speaker, t.speaker_id) for t in raw.turns] == [
        ("Good morning.", "Ann Roe", "1")
    ]
    assert raw.identifiers == {
        "company": ["Acme", "Acme Steel", "Ajax"],
        "person": ["Ann Roe", "Bo Lee"],
    }
    assert raw.covariates == {"sector": "steel"}


def test_nested_values_may_be_json_in_a_table_cell():
    cells = with_(
        RECORD,
        speakers='["Ann Roe", {"x": "Bo Lee"}]',
        turns=json.dumps(RECORD["turns"]),
        document_id="17",
    )
    raw = read_record(cells, TURNS)
    assert raw.identifiers["person"] == ["Ann Roe", "Bo Lee"]
    assert len(raw.turns) == 1


@pytest.mark.parametrize(
    "record, config, reason, document_id",
    [
        (with_(RECORD, document_id=None), TURNS, "missing_document_id", None),
        (with_(RECORD, document_id=" "), TURNS, "missing_document_id", None),
        (with_(RECORD, document_id=[1]), TURNS, "missing_document_id", None),
        (with_(RECORD, document_id=True), TURNS, "missing_document_id", None),
        (with_(RECORD, about={"sector": "x"}), TURNS, "missing_metadata", "17"),
        (with_(RECORD, about={"company": ""}), TURNS, "missing_metadata", "17"),
        (with_(RECORD, turns=None), TURNS, "missing_text", "17"),
        (with_(RECORD, turns="not json"), TURNS, "bad_turns", "17"),
        (with_(RECORD, turns={"text": "x"}), TURNS, "bad_turns", "17"),
        (with_(RECORD, turns=["x"]), TURNS, "bad_turns", "17"),
        (with_(RECORD, turns=[{"said": "x"}]), TURNS, "bad_turns", "17"),
        (with_(RECORD, turns=[]), TURNS, "empty_text", "17"),
        (with_(RECORD, turns=[{"text": " \n"}]), TURNS, "empty_text", "17"),
        ({"document_id": "d", "company": "A", "text": ""}, TEXT, "empty_text", "d"),
        ({"document_id": "d", "company": "A", "text": 3}, TEXT, "missing_text", "d"),
        ({"document_id": "d", "company": "A"}, TEXT, "missing_text", "d"),
        ({"document_id": "d", "company": "A", "text": "x" * 2_000_001}, TEXT, "too_long", "d"),
        ({"document_id": "d", "company": "A", "text": "\ud83d"}, TEXT, "not_utf8", None),
    ],
)
def test_bad_records(record, config, reason, document_id):
    problem = read_record(record, config)
    assert isinstance(problem, Problem)
    assert (problem.reason, problem.document_id) == (reason, document_id)
    assert problem.reason in REASONS
    assert "\n" not in problem.message
    assert "not json" not in problem.message


@pytest.mark.parametrize(
    "line, reason",
    [
        (b"{", "not_json"),
        (b"[1]", "not_json"),
        (b'"secret words"', "not_json"),
        (b'{"a": "\xff\xfe"}', "not_utf8"),
        (b"[" * 100_000, "not_json"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not_json"),
    ],
)
def test_bad_lines(line, reason):
    problem = decode_json(line)
    assert isinstance(problem, Problem)
    assert problem.reason == reason
    assert "secret" not in problem.message


def test_good_lines():
    assert decode_json(b"  \r") is None
    assert decode_json(b'\xef\xbb\xbf{"a": "\xc3\xa9"}') == {"a": "é"}


def test_body_bytes_take_the_place_of_the_text():
    record = {"company": "A"}
    assert read_record(record, TEXT, "é".encode(), "file").text == "é"
    assert read_record(record, TEXT, "é".encode(), "file").document_id == "file"
    assert read_record(record, TEXT, b"\xe9", "file").reason == "not_utf8"


def prepared(raw_record, config=TEXT, min_characters=1, foreign="keep", **presentation):
    raw = read_record(raw_record, config)
    return prepare_document(
        raw,
        PresentationConfig.model_validate(presentation),
        IdentifiersConfig.model_validate({}),
        min_characters,
        foreign,
    )


def test_text_is_kept_word_for_word_without_extraction():
    text = "  Odd\n\n spacing: kept.\n"
    document = prepared({"document_id": "d", "company": "A", "text": text}, method="none")
    assert document.text == text
    assert (document.n_turns, document.n_turns_kept, document.boundary) == (0, 1, "none")


def test_a_text_is_tidied_and_given_spans_go_with_it():
    text = "\ufeffDr. Ma\u0301ria Nu\u0301n\u0303ez left Hu\u200bll. \u200b"
    names = ["Ma\u0301ria Nu\u0301n\u0303ez", "Hu\u200bll", "\u200b"]
    places = [(text.index(names[0]), "PER"), (text.index(names[1]), "LOC"), (len(text) - 1, "LOC")]
    spans = [
        [start, start + len(name), label]
        for name, (start, label) in zip(names, places, strict=True)
    ]
    spans += [[len(text), len(text) + 3, "LOC"], [-2, 1, "LOC"]]
    config = {"columns": {"text": "text", "metadata": "company", "mentions": "spans"}}
    record = {"document_id": "d", "company": "A", "text": text, "spans": spans}
    document = prepared(record, InputConfig.model_validate(config), method="none")
    assert document.text == "Dr. Mária Núñez left Hull. "
    found = {p.span: (document.text[p.start : p.end], p.fate) for p in document.mentions}
    assert found == {
        0: ("Mária Núñez", ""),
        1: ("Hull", ""),
        **dict.fromkeys((2, 3, 4), ("", "outside_text")),
    }
    # in turns each has offsets of its own
    turns = {"columns": {"turns": "turns", "metadata": "company", "mentions": "spans"}}
    record |= {"turns": [{"text": "Plain."}, {"text": text}], "spans": [[0, 0, 5, "X"]]}
    record["spans"] += [[1, *span] for span in spans[:1]]
    document = prepared(record, InputConfig.model_validate(turns), method="none")
    found = [document.text[p.start : p.end] for p in document.mentions]
    assert found == ["Plain", "Mária Núñez"]


def test_counts_of_turns():
    document = prepared(RECORD, TURNS)
    assert (document.n_turns, document.n_turns_kept, document.qa_start_turn) == (1, 1, None)
    assert {(i.kind, i.placeholder) for i in document.identifiers} == {
        ("company", "[Company Name]"),
        ("person", "[Executive 1]"),
        ("person", "[Executive 2]"),
    }


def test_what_cannot_be_used_after_extraction():
    interview = [
        {"text": "How do you see consumers these days, and what changed since the last year?"},
        {"text": "We see them well."},
    ] * 8
    assert prepared(with_(RECORD, turns=interview), TURNS).reason == "no_presentation"
    short = {"document_id": "d", "company": "A", "text": "Short."}
    assert prepared(short, min_characters=10).reason == "too_short"
    assert prepared(short, require_questions=True).reason == "no_questions"


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("We think that this was a good year for all of us.", True),
        ("Die Persönlichkeit des Vorstands war in diesem Jahr nicht das Thema. " * 3, False),
        # notes have little grammar, and are too short to tell
        ("Patient stable overnight. Ambulating independently, tolerating diet.", True),
        ("1, 2, 3.", True),
    ],
)
def test_what_is_not_english_is_set_aside_where_asked(text, english):
    record = {"document_id": "d", "company": "A", "text": text.strip()}
    kept = prepared(record, method="none")
    assert kept.text == text.strip()
    found = prepared(record, foreign="quarantine", method="none")
    assert found == kept if english else (found.reason, found.document_id) == ("foreign", "d")
