"""Hostile records and files: each is a document or in quarantine with its reason, and none is lost.

Records of one format stand in one file, so that a hundred kinds are a handful of Spark jobs.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pandas as pd
import pytest

from nes_spark.config import IdentifiersConfig, InputConfig, PresentationConfig
from nes_spark.errors import InputError
from nes_spark.failures import translated
from nes_spark.text.reading import REASONS
from nes_spark.text.reading_stages import read_documents

DEEP = "[" * 100_000
LONE = "\\ud83d"  # half of a surrogate pair, as JSON spells it


def line(name: str, **changes) -> str:
    """A good record under the id `name`, with some fields changed; None leaves one out."""
    record = {
        "document_id": name,
        "company_name": f"Orion {len(name)}",
        "text": f"We had a good quarter in all regions, {name}.",
        "aliases": ["Orion"],
        "sector": "Energy",
    } | changes
    return json.dumps(record)


def raw(name: str, field: str, value: str) -> str:
    """A good record with one field spelled by hand."""
    return line(name, **{field: "@@"}).replace('"@@"', value)


OK = "accepted"
TEXTS = {
    "good": (line("good"), OK),
    "number as id": (line("7", document_id=7), OK),
    "whole float as id": (line("8", document_id=8.0), OK),
    "spaces around the id": (line("spaces", document_id="  spaces "), OK),
    "number as metadata": (line("metadata", company_name=5), OK),
    "byte order mark": (b"\xef\xbb\xbf" + line("mark").encode(), OK),
    "Windows line end": (line("windows") + "\r", OK),
    "zero byte": (line("zero", text="We had\x00a good quarter."), OK),
    "right to left": (line("rtl", text="\u202eWe had a good quarter.\u202c"), OK),
    "emoji": (line("emoji", text="We had a good quarter 🎉."), OK),
    "lone surrogate in a key nobody uses": (raw("k", "x", f'1, "{LONE}": 1'), OK),
    "lone surrogate in a value nobody uses": (raw("v", "x", f'"{LONE}"'), OK),
    "the same key twice": (raw("twice", "x", '1, "sector": "Water"'), OK),
    "aliases as a word": (line("word", aliases="Orion; Orion Works"), OK),
    "aliases as a JSON string": (line("string", aliases='["Orion"]'), OK),
    "aliases as an object": (line("object", aliases={"a": "Orion"}), OK),
    "aliases as a number": (line("number", aliases=7), OK),
    "aliases as nothing": (line("nothing", aliases=None), OK),
    "aliases that begin like JSON": (line("half", aliases="[Orion"), OK),
    "nested aliases": (raw("nested", "aliases", "[" * 100 + "]" * 100), OK),
    "a list as covariate": (line("covariate", sector=["a"]), OK),
    "aliases without end": (line("deep", aliases=DEEP), "bad_identifier"),
    "aliases too long": (line("long", aliases="x" * 20_000), "bad_identifier"),
    "metadata too long": (line("longer", company_name="x" * 20_000), "bad_identifier"),
    "bytes that are no UTF-8": (b'{"document_id": "\xff\xfe"}', "not_utf8"),
    "cut in a character": ('{"document_id": "ä"}'.encode()[:-3], "not_utf8"),
    "lone surrogate in the text": (raw("t", "text", f'"We {LONE} had"'), "not_utf8"),
    "lone surrogate in the id": (raw("i", "document_id", f'"{LONE}"'), "not_utf8"),
    "lone surrogate in the metadata": (raw("m", "company_name", f'"{LONE}"'), "not_utf8"),
    "lone surrogate in an alias": (raw("a", "aliases", f'["{LONE}"]'), "not_utf8"),
    "lone surrogate in a covariate": (raw("c", "sector", f'"{LONE}"'), "not_utf8"),
    "half an object": ('{"document_id": "x", "text": "We', "not_json"),
    "nesting without end": (DEEP, "not_json"),
    "objects without end": ('{"a":' * 50_000, "not_json"),
    "a number of 5,000 digits": (raw("n", "document_id", "9" * 5000), "not_json"),
    "a list": ("[1, 2]", "not_json"),
    "a number": ("7", "not_json"),
    "a word": ('"hello"', "not_json"),
    "null": ("null", "not_json"),
    "true": ("true", "not_json"),
    "no JSON": ("hello", "not_json"),
    "single quotes": ("{'document_id': 'x'}", "not_json"),
    "a trailing comma": ('{"document_id": "x",}', "not_json"),
    "a comment": ('{"document_id": "x"} // note', "not_json"),
    "two objects": (line("one") + line("two"), "not_json"),
    "a tab in a string": ('{"document_id": "a\tb"}', "not_json"),
    "an escape that is none": ('{"document_id": "\\x41"}', "not_json"),
    "NaN as id": (raw("n", "document_id", "NaN"), "missing_document_id"),
    "endless id": (raw("n", "document_id", "Infinity"), "missing_document_id"),
    "1e400 as id": (raw("n", "document_id", "1e400"), "missing_document_id"),
    "broken number as id": (line("x", document_id=1.5), "missing_document_id"),
    "true as id": (line("x", document_id=True), "missing_document_id"),
    "null as id": (line("x", document_id=None), "missing_document_id"),
    "empty id": (line("x", document_id=""), "missing_document_id"),
    "white id": (line("x", document_id=" \t "), "missing_document_id"),
    "list as id": (line("x", document_id=["x"]), "missing_document_id"),
    "object as id": (line("x", document_id={"$oid": "x"}), "missing_document_id"),
    "an empty object": ("{}", "missing_document_id"),
    "null as metadata": (line("m1", company_name=None), "missing_metadata"),
    "empty metadata": (line("m2", company_name=""), "missing_metadata"),
    "list as metadata": (line("m3", company_name=["Orion"]), "missing_metadata"),
    "NaN as metadata": (raw("m4", "company_name", "NaN"), "missing_metadata"),
    "null as text": (line("t1", text=None), "missing_text"),
    "number as text": (line("t2", text=7), "missing_text"),
    "list as text": (line("t3", text=["We had."]), "missing_text"),
    "object as text": (line("t4", text={"a": "b"}), "missing_text"),
    "empty text": (line("t5", text=""), "empty_text"),
    "white text": (line("t6", text=" \n\t\r "), "empty_text"),
    "short text": (line("t7", text="Hi."), "too_short"),
    "long text": (line("t8", text="word " * 2000), "too_long"),
    "a record of many megabytes": (line("t9", text="x" * 2_000_000), "too_long"),
    "an id again": (line("again", document_id="good"), "duplicate_document_id"),
    "an id again as a number": (line("again", document_id="7"), "duplicate_document_id"),
}


def turns(name: str, value) -> str:
    return json.dumps({"document_id": name, "company_name": "Orion", "turns": value})


SAID = {"speaker": "Ann", "text": "We had a good quarter."}
TURNS = {
    "good": (turns("good", [SAID]), OK),
    "as a JSON string": (turns("string", json.dumps([SAID])), OK),
    "without speaker": (turns("silent", [{"text": SAID["text"]}]), OK),
    "a list as speaker": (turns("list", [SAID | {"speaker": ["Ann"]}]), OK),
    "null": (turns("null", None), "missing_text"),
    "a word": (turns("word", "hello"), "bad_turns"),
    "a string without end": (turns("deep", DEEP), "bad_turns"),
    "a number": (turns("number", 7), "bad_turns"),
    "an object": (turns("object", SAID), "bad_turns"),
    "words": (turns("words", ["We had."]), "bad_turns"),
    "a list of lists": (turns("lists", [[SAID]]), "bad_turns"),
    "null inside": (turns("inside", [SAID, None]), "bad_turns"),
    "without text": (turns("mute", [{"speaker": "Ann"}]), "bad_turns"),
    "a number as text": (turns("seven", [SAID | {"text": 7}]), "bad_turns"),
    "no turns": (turns("none", []), "empty_text"),
    "white turns": (turns("white", [SAID | {"text": " "}]), "empty_text"),
    "too long together": (turns("long", [SAID | {"text": "word " * 300}] * 9), "too_long"),
    "a lone surrogate as speaker": (
        turns("half", [SAID | {"speaker": "@@"}]).replace("@@", LONE),
        "not_utf8",
    ),
}
CSV = {
    "good": (b"good,Orion,We had a good quarter.", OK),
    "quoted": (b'quoted,"Orion, Inc.","We had ""a"" good quarter."', OK),
    "spaces": (b" spaces , Orion , We had a good quarter. ", OK),
    "a number": (b"7,Orion,We had a good quarter.", OK),
    "too few": (b"few,Orion", "not_csv"),
    "too many": (b"many,Orion,We had.,more", "not_csv"),
    "no UTF-8": (b"bytes,Orion,We h\xe4d a good quarter.", "not_utf8"),
    "no id": (b",Orion,We had a good quarter.", "missing_document_id"),
    "no metadata": (b"m,,We had a good quarter.", "missing_metadata"),
    "no text": (b"t,Orion,", "empty_text"),
    "short": (b"s,Orion,Hi.", "too_short"),
    "an id again": (b"good,Orion,We had another.", "duplicate_document_id"),
}
COLUMNS = {"text": "text", "identifiers": {"company": ["aliases"]}, "covariates": {"s": "sector"}}
LIMITS = {"max_characters": 5000, "min_characters": 5}


def read(spark, path, columns=None, **more) -> tuple[list[str], dict[str, str], dict[str, str]]:
    """Read an input; ids of the documents, and position -> reason and -> message of the others."""
    config = InputConfig.model_validate(
        {"path": str(path), "columns": columns or {"text": "text"}, **LIMITS, **more}
    )
    held = []

    def keep(frame):
        held.append(frame.persist())
        return held[-1]

    try:
        with translated("stage documents"):
            documents, quarantine = read_documents(
                spark, config, PresentationConfig(method="none"), IdentifiersConfig(), keep=keep
            )
            ids = [row["document_id"] for row in documents.select("document_id").collect()]
            rows = quarantine.collect()
    finally:
        for frame in held:
            frame.unpersist()
    reasons = {row["position"]: row["reason"] for row in rows}
    assert len(reasons) == len(rows), "two records at one position"
    assert set(reasons.values()) <= set(REASONS)
    return ids, reasons, {row["position"]: row["message"] for row in rows}


def check(kinds, first, ids, reasons, messages, file) -> None:
    """Every record is a document or in quarantine, at its line and for its reason."""
    found = {}
    for number, name in enumerate(kinds, first):
        found[name] = reasons.get(f"{file}:{number}", OK)
    expected = {name: outcome for name, (_, outcome) in kinds.items()}
    assert found == expected
    counts = Counter(expected.values())
    assert len(ids) == len(set(ids)) == counts[OK]
    assert len(reasons) + len(ids) == len(kinds)
    for message in messages.values():
        assert "\n" not in message
        assert len(message) < 200
        assert "quarter" not in message and "Orion" not in message


def test_there_are_a_hundred_kinds():
    assert len(TEXTS) + len(TURNS) + len(CSV) >= 100


def test_records_with_a_text(spark, tmp_path):
    file = tmp_path / "calls.jsonl"
    lines = [c if isinstance(c, bytes) else c.encode() for c, _ in TEXTS.values()]
    file.write_bytes(b"\n".join([*lines, b"", b"  "]) + b"\n")  # blank lines are no records
    check(TEXTS, 1, *read(spark, file, COLUMNS), "calls.jsonl")


@pytest.mark.slow
def test_records_with_turns(spark, tmp_path):
    file = tmp_path / "calls.jsonl"
    file.write_text("\n".join(c for c, _ in TURNS.values()))
    check(TURNS, 1, *read(spark, file, {"turns": "turns"}), "calls.jsonl")


def test_rows_of_a_table(spark, tmp_path):
    file = tmp_path / "calls.csv"
    head = b"document_id,company_name,text"
    file.write_bytes(b"\n".join([head, *(c for c, _ in CSV.values())]) + b"\n")
    check(CSV, 2, *read(spark, file), "calls.csv")


@pytest.mark.slow
def test_numbers_and_moments_as_ids(spark, tmp_path):
    moments = pd.to_datetime(["2020-01-01 00:00:00.000001", "2020-01-01 00:00:00.000002"])
    texts = ["We had a good quarter."] * 2
    numbers = [1.0, float("nan"), float("inf"), float("-inf")]
    folder = tmp_path / "moments"
    folder.mkdir()
    frame = pd.DataFrame({"document_id": moments, "company_name": ["a", "b"], "text": texts})
    frame.astype({"document_id": "datetime64[us]"}).to_parquet(folder / "a.parquet")
    ids, reasons, _ = read(spark, folder)
    assert (len(set(ids)), reasons) == (2, {})
    frame = pd.DataFrame({"document_id": numbers, "company_name": "a", "text": texts * 2})
    frame.to_parquet(tmp_path / "numbers.parquet")
    ids, reasons, _ = read(spark, tmp_path / "numbers.parquet")
    assert ids == ["1"]
    assert reasons == {f"numbers.parquet:{i}": "missing_document_id" for i in (2, 3, 4)}


#: Names of files, with what is special to patterns, addresses and shells.
NAMES = ["a[1]", "b*", "c?", "d{1,2}", "e%41", "f g", "h#1", "i\\1", "jé", "k,l", "m'n", "q&r"]


@pytest.mark.slow
def test_paths_with_characters_of_patterns(spark, tmp_path):
    folder = tmp_path / "in [1] {2} * ? \\ %41"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.jsonl").write_text(line(name) + "\n{}\n")
    ids, reasons, _ = read(spark, folder)
    assert sorted(ids) == sorted(NAMES)
    assert set(reasons) == {f"{name}.jsonl:2" for name in NAMES}
    (tmp_path / "a1.jsonl").write_text(line("not meant"))
    (tmp_path / "a[1].jsonl").write_text(line("meant"))
    assert read(spark, tmp_path / "a[1].jsonl")[0] == ["meant"]
    patterns = str(tmp_path / "{a1,b}.jsonl")
    assert read(spark, patterns)[0] == ["not meant"]


@pytest.mark.slow
def test_a_link_in_a_circle_is_followed_once(spark, tmp_path):
    (tmp_path / "in" / "a").mkdir(parents=True)
    (tmp_path / "in" / "a" / "back").symlink_to(tmp_path / "in")
    (tmp_path / "in" / "x.jsonl").write_text(line("x"))
    (tmp_path / "in" / "a" / "y.jsonl").write_text(line("y"))
    ids, reasons, _ = read(spark, tmp_path / "in")
    assert (sorted(ids), reasons) == (["x", "y"], {})


@pytest.mark.slow
def test_a_folder_of_texts(spark, tmp_path):
    folder = tmp_path / "texts"
    (folder / "sub").mkdir(parents=True)
    files = ["a.txt", "sub/a.txt", "e%41.txt", "b[1].txt", "c d.txt", "a.TXT"]
    for name in files:
        (folder / name).write_text(f"We had a good quarter, {name}.")
    (folder / "bytes.txt").write_bytes(b"We h\xe4d a good quarter.")
    (folder / "empty.txt").write_text("")
    (folder / "strange.txt").write_text("We had a good quarter.")
    listed = [*files, "bytes.txt", "empty.txt", "gone.txt"]
    table = tmp_path / "table.csv"
    table.write_text("file,company_name\n" + "".join(f"{name},Orion\n" for name in listed))
    ids, reasons, _ = read(spark, folder, format="text", metadata_table=str(table))
    assert sorted(ids) == ["a", "a.TXT", "b[1]", "c d", "e%41", "sub/a"]
    assert Counter(reasons.values()) == Counter(
        missing_metadata=1,
        missing_text=2,  # Spark leaves empty files out
        not_utf8=1,
    )
    assert reasons["bytes.txt"] == "not_utf8"
    assert len(ids) + len(reasons) == len(listed) + 1


def damaged(content: bytes) -> bytes:
    middle = len(content) // 3
    return content[:middle] + bytes(middle) + content[2 * middle :]


@pytest.mark.slow
def test_a_file_that_is_damaged_is_named_with_the_reason(spark, tmp_path):
    lines = "\n".join(line(f"d{i}") for i in range(3000)).encode()
    packed = gzip.compress(lines)
    frame = pd.DataFrame({"document_id": [f"d{i}" for i in range(3000)], "company_name": "a"})
    frame.assign(text="We had a good quarter.").to_parquet(tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    cases = {
        "short.jsonl.gz": (packed[: len(packed) // 2], "ends too early"),
        "broken.jsonl.gz": (damaged(packed), "repair the file"),
        "broken.parquet": (damaged(whole), "repair the file"),
    }
    for name, (content, words) in cases.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=words) as caught:
            read(spark, tmp_path / name)
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)
        assert "retry" not in str(caught.value)


def test_what_looks_like_text_is_not_quoted_as_a_column(spark, tmp_path):
    (tmp_path / "lines.csv").write_text(line("x") + "\n" + line("y") + "\n")
    with pytest.raises(InputError, match="no column 'document_id'") as caught:
        read(spark, tmp_path / "lines.csv")
    assert "quarter" not in str(caught.value) and "Orion" not in str(caught.value)
    (tmp_path / "head.csv").write_text("Orion Works,We had a good quarter\nx,y\n")
    with pytest.raises(InputError, match="no column 'document_id'") as caught:
        read(spark, tmp_path / "head.csv")
    assert "Orion" not in str(caught.value)


def test_file_systems_that_are_not_there(spark):
    from nes_spark.store import input_fingerprint

    for given in ("nowhere://bucket/x.jsonl", "http://127.0.0.1:9/x.jsonl", "s3a://bucket/x.jsonl"):
        with pytest.raises(InputError, match="Spark knows no file system"):
            input_fingerprint(spark, [given])
