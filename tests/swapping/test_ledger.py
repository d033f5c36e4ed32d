"""The ledger: closed to others, restores every chunk, and says clearly when it cannot."""

from __future__ import annotations

import json
import stat

import pytest

from nes_spark.config import LedgerConfig
from nes_spark.errors import LedgerError
from nes_spark.store import Store
from nes_spark.swapping import ledger as L
from nes_spark.swapping.rewriting import in_place_of
from nes_spark.swapping.rows import text_digest

PLAIN, SEALED = LedgerConfig(), LedgerConfig(encrypt=True)
SECRET_NAME = "Orion Works"


@pytest.fixture
def key(monkeypatch):
    key = L.generate_key()
    monkeypatch.setenv(PLAIN.key_env, key)
    return L.parse_key(key)


def edit(start, old, new):
    return {
        "start": start,
        "end": start + len(old),
        "old": old,
        "new": new,
        "category": "Organization",
        "old_entity": old,
        "new_entity": new,
    }


def rows(n=5):
    for i in range(n):
        original = f"So {SECRET_NAME} number {i} 😀 won."
        yield {
            "chunk_id": f"doc{i}#00000",
            "release_document_id": f"d{i:016x}",
            "position": 0,
            "partner_id": None,
            "edits": [edit(3, SECRET_NAME, "Vega")] if i % 2 else [],
            "digest": text_digest(original),
        }


def release(n=5):
    return {
        f"d{i:016x}#00000": f"So {'Vega' if i % 2 else SECRET_NAME} number {i} 😀 won."
        for i in range(n)
    }


def files(folder):
    return sorted(p for p in folder.iterdir())


@pytest.mark.parametrize("config", [PLAIN, SEALED], ids=["plain", "encrypted"])
def test_a_release_is_restored(tmp_path, key, config):
    folder = tmp_path / "sealed" / "ledger"
    header = L.write_ledger(folder, rows(), config, choice={"n_swaps": 2}, seed=b"12345678")
    assert header["rows"] == 5 and header["choice"] == {"n_swaps": 2}
    found = L.read_ledger(folder, config)
    assert len(found) == 5
    assert list(found) == list(rows())
    restored = L.invert(release(), found)
    assert restored == {f"doc{i}#00000": f"So {SECRET_NAME} number {i} 😀 won." for i in range(5)}


@pytest.mark.parametrize("config", [PLAIN, SEALED], ids=["plain", "encrypted"])
def test_only_the_owner_can_read_it(tmp_path, key, config):
    folder = tmp_path / "ledger"
    folder.mkdir(mode=0o755)
    L.write_ledger(folder, rows(), config)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert len(files(folder)) == 2
    for path in files(folder):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        content = path.read_bytes()
        assert (SECRET_NAME.encode() in content) == (not config.encrypt and path.suffix == ".jsonl")
        assert b"12345678" not in content


def test_in_a_run_folder_it_lies_in_sealed(tmp_path):
    store = Store(tmp_path / "run")
    L.write_ledger(store, rows(), PLAIN)
    assert len(L.read_ledger(store, PLAIN)) == 5
    assert len(L.read_ledger(tmp_path / "run" / "sealed" / "ledger", PLAIN)) == 5
    assert stat.S_IMODE((tmp_path / "run" / "sealed").stat().st_mode) == 0o700


def test_a_remote_run_folder_works_too(tmp_path, key):
    store = Store(tmp_path / "run")

    class Remote:
        is_local = False
        path, read_bytes, remove = store.path, store.read_bytes, store.remove

        @staticmethod
        def write_bytes(content, *parts):
            store.write_bytes(content, *parts)

    for config in (PLAIN, SEALED):
        L.write_ledger(Remote(), rows(), config)
        assert list(L.read_ledger(Remote(), config)) == list(rows())
    assert len(files(tmp_path / "run" / "sealed" / "ledger")) == 2, "old parts were left behind"


def test_many_rows_make_several_parts(tmp_path, key, monkeypatch):
    monkeypatch.setattr(L, "ROWS_PER_PART", 3)
    L.write_ledger(tmp_path / "l", rows(10), SEALED)
    assert len(files(tmp_path / "l")) == 5
    assert list(L.read_ledger(tmp_path / "l", SEALED)) == list(rows(10))


@pytest.mark.parametrize("config", [PLAIN, SEALED], ids=["plain", "encrypted"])
def test_blocks_are_joined_to_parts_and_read_as_rows(tmp_path, key, monkeypatch, config):
    monkeypatch.setattr(L, "ROWS_PER_PART", 4)
    given = list(rows(11))
    blocks = [L.block_of(part) for part in (given[:3], given[3:6], [], given[6:])]
    assert [block.rows for block in blocks] == [3, 3, 0, 5]
    header = L.write_ledger(tmp_path / "l", blocks, config)
    assert [part["rows"] for part in header["parts"]] == [6, 5] and header["rows"] == 11
    assert list(L.read_ledger(tmp_path / "l", config)) == given


def test_a_new_ledger_replaces_the_old_one_and_leaves_other_files(tmp_path, key):
    folder = tmp_path / "l"
    L.write_ledger(folder, rows(5), PLAIN)
    (folder / "notes.txt").write_text("mine")
    (folder / f".{'0' * 16}-00000.jsonl.01234567.tmp").write_text("of a crash")
    L.write_ledger(folder, rows(2), SEALED)
    assert len(L.read_ledger(folder, SEALED)) == 2
    assert [p.suffix for p in files(folder)] == [".enc", ".json", ".txt"] or len(files(folder)) == 3


def test_an_empty_release_has_an_empty_ledger(tmp_path):
    L.write_ledger(tmp_path / "l", [], PLAIN)
    assert L.invert({}, L.read_ledger(tmp_path / "l", PLAIN)) == {}


def test_a_crash_while_writing_leaves_the_old_ledger(tmp_path):
    def breaking():
        yield from rows(2)
        raise RuntimeError("power cut")

    L.write_ledger(tmp_path / "l", rows(5), PLAIN)
    with pytest.raises(RuntimeError):
        L.write_ledger(tmp_path / "l", breaking(), PLAIN)
    assert len(list(L.read_ledger(tmp_path / "l", PLAIN))) == 5


# -- loss, damage, keys ------------------------------------------------------------------------


def test_loss_is_a_clear_error(tmp_path):
    with pytest.raises(LedgerError, match="there is no ledger; without it a release cannot be"):
        L.read_ledger(tmp_path, PLAIN)


def test_a_missing_key_is_a_clear_error(tmp_path, key, monkeypatch):
    L.write_ledger(tmp_path / "l", rows(), SEALED)
    monkeypatch.delenv(PLAIN.key_env)
    with pytest.raises(LedgerError, match="NES_SPARK_LEDGER_KEY is not set"):
        L.read_ledger(tmp_path / "l", SEALED)
    with pytest.raises(LedgerError, match="NES_SPARK_LEDGER_KEY is not set"):
        L.write_ledger(tmp_path / "other", rows(), SEALED)
    assert not (tmp_path / "other").exists()


def test_a_wrong_key_is_a_clear_error(tmp_path, key):
    L.write_ledger(tmp_path / "l", rows(), SEALED)
    other = L.parse_key(L.generate_key())
    with pytest.raises(LedgerError, match=f"encrypted with key {L.key_id(key)}, the key given is"):
        L.read_ledger(tmp_path / "l", SEALED, key=other)


@pytest.mark.parametrize("text", ["", "short", "0" * 63, "zz" * 32, "A" * 44])  # the last: 33 bytes
def test_what_is_no_key_is_not_quoted(text):
    with pytest.raises(LedgerError, match="must be 32 bytes") as error:
        L.parse_key(text)
    assert not text or text not in str(error.value)


def test_keys_in_either_notation_are_the_same():
    key = bytes(range(224, 256))
    import base64

    for text in (
        key.hex(),
        base64.b64encode(key).decode(),
        base64.urlsafe_b64encode(key).decode(),
        base64.urlsafe_b64encode(key).decode().rstrip("="),
    ):
        assert L.parse_key(f" {text}\n") == key


@pytest.mark.parametrize("config", [PLAIN, SEALED], ids=["plain", "encrypted"])
@pytest.mark.parametrize("what", ["flip", "cut", "gone", "swap"])
def test_damage_is_found(tmp_path, key, monkeypatch, config, what):
    monkeypatch.setattr(L, "ROWS_PER_PART", 2)
    folder = tmp_path / "l"
    header = L.write_ledger(folder, rows(), config)
    parts = [folder / p["file"] for p in header["parts"]]
    content = [p.read_bytes() for p in parts]
    if what == "flip":
        parts[1].write_bytes(content[1][:-9] + bytes([content[1][-9] ^ 1]) + content[1][-8:])
    elif what == "cut":
        parts[1].write_bytes(content[1][: len(content[1]) // 2])
    elif what == "gone":
        parts[1].unlink()
    else:
        parts[0].write_bytes(content[1])
        parts[1].write_bytes(content[0])
    with pytest.raises(LedgerError, match=r"damaged|missing"):
        list(L.read_ledger(folder, config))


def test_a_forged_header_of_an_encrypted_ledger_is_found(tmp_path, key, monkeypatch):
    monkeypatch.setattr(L, "ROWS_PER_PART", 2)
    folder = tmp_path / "l"
    L.write_ledger(folder, rows(), SEALED, choice={"n_swaps": 2})
    path = folder / L.HEADER
    header = json.loads(path.read_text())
    for change in (
        {"choice": {"n_swaps": 3}},
        {"parts": header["parts"][:-1], "rows": 4},
        {"seal": ""},
        {"seal": None},
    ):
        path.write_text(json.dumps(header | change))
        with pytest.raises(LedgerError, match=r"was changed|seal is missing"):
            L.read_ledger(folder, SEALED)
    # parts in another order, digests too
    turned = header["parts"][1::-1] + header["parts"][2:]
    path.write_text(json.dumps(header | {"parts": turned}))
    with pytest.raises(LedgerError, match="was changed"):
        list(L.read_ledger(folder, SEALED))


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 99}', "not json"])
def test_a_broken_header_is_a_clear_error(tmp_path, content):
    (tmp_path / L.HEADER).write_text(content)
    with pytest.raises(LedgerError, match="not a ledger of this format, or damaged"):
        L.read_ledger(tmp_path, PLAIN)


def test_keys_can_be_exchanged(tmp_path, key):
    folder = tmp_path / "l"
    new = L.parse_key(L.generate_key())
    before = L.write_ledger(folder, rows(), SEALED, choice={"n_swaps": 1}, seed=b"12345678")
    after = L.rotate_key(folder, key, new)
    assert after["key_id"] == L.key_id(new) != before["key_id"]
    assert after["choice"] == before["choice"]
    assert after["seed_fingerprint"] == before["seed_fingerprint"]
    assert list(L.read_ledger(folder, SEALED, key=new)) == list(rows())
    with pytest.raises(LedgerError, match="the key given"):
        L.read_ledger(folder, SEALED, key=key)
    with pytest.raises(LedgerError, match="the key given"):
        L.rotate_key(folder, key, new)
    assert list(L.read_ledger(folder, SEALED, key=new)) == list(rows()), "a failure changed it"
    L.rotate_key(folder, new, None)
    assert list(L.read_ledger(folder, PLAIN)) == list(rows())
    assert len(files(folder)) == 2


def test_a_ledger_of_another_release_is_refused():
    with pytest.raises(LedgerError, match="do not belong together: 2 chunk"):
        L.invert(release(3), rows(5))
    with pytest.raises(LedgerError, match="2 of the release are not in the ledger"):
        L.invert(release(5), rows(3))
    changed = release()
    changed["d0000000000000000#00000"] += "!"
    with pytest.raises(LedgerError, match="not the original one") as error:
        L.invert(changed, rows())
    assert SECRET_NAME not in str(error.value)


@pytest.mark.parametrize("kept", [True, False], ids=["originals kept", "not kept"])
def test_dropped_and_summarised_chunks_come_back_only_where_they_are_kept(kept):
    text = "Ada Quill came."
    ledger = [
        {
            "chunk_id": name,
            "whole": how,
            "edits": [e.__dict__ for e in in_place_of(text, new).edits] if kept else None,
            "digest": text_digest(text),
        }
        for name, how, new in (("a#0", "drop", ""), ("b#0", "summary", "Somebody came."))
    ]
    published = {"b#0": "Somebody came."}
    assert L.invert(published, ledger) == ({"a#0": text, "b#0": text} if kept else {})
    with pytest.raises(LedgerError, match="1 of the release are not in the ledger"):
        L.invert(published | {"c#0": "More."}, ledger)
    with pytest.raises(LedgerError, match=r"1 chunk\(s\) of the ledger are not in the release"):
        L.invert({}, ledger)


def test_a_ledger_does_not_show_its_rows(tmp_path, key):
    L.write_ledger(tmp_path / "l", rows(), SEALED)
    shown = repr(L.read_ledger(tmp_path / "l", SEALED))
    assert SECRET_NAME not in shown and key.hex() not in shown and str(key) not in shown
