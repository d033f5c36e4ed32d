"""Nothing to do: said only of a release whose files and ledger are what was published."""

from __future__ import annotations

import hashlib
import json

import pytest

from nes_spark.config import LedgerConfig
from nes_spark.errors import InfrastructureError, InputError, LedgerError, NesError
from nes_spark.run.published import PUBLICATION
from nes_spark.run.verifying import files_digest, record_digest, replace_record, verify_release
from nes_spark.store import Store
from nes_spark.swapping.ledger import generate_key, parse_key, rotate_key, write_ledger
from nes_spark.swapping.seeds import Secret
from tests.jobs import seed_named

SECRET = Secret(seed_named("verifying"))
FILES = {"chunks.jsonl": b"{}\n{}\n{}\n", "documents.jsonl": b"{}\n"}


@pytest.fixture
def published(tmp_path):
    store = Store(tmp_path / "all")
    store.prepare()
    files = [
        {"file": name, "rows": 1, "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in FILES.items()
    ]
    record = {"files": files, "chunks": 3, "seed_fingerprint": SECRET.fingerprint()}
    for name, content in FILES.items():
        store.write_bytes(content, "release", name)
    store.write_json(record, "release", "release.json")
    rows = [{"chunk_id": f"d#{i:05d}", "edits": []} for i in range(3)]
    write_ledger(store, rows, LedgerConfig(), seed=SECRET, release=files_digest(files))
    store.write_artifact(PUBLICATION, "k", lambda _: {"record": record_digest(store)})
    return store


def details(store):
    return store.manifest(PUBLICATION).details


def test_what_was_published_is_accepted(published):
    verify_release(published, details(published))


def ledger_part(store):
    return next(store.local_path("sealed", "ledger").glob("*.jsonl"))


def another_ledger(store):
    write_ledger(store, [{"chunk_id": "x"}] * 3, LedgerConfig(), seed=SECRET, release="0" * 64)


def flip(path):
    content = path.read_bytes()
    path.write_bytes(content[:-2] + b"]" + content[-1:])


def release(store, name):
    return store.local_path("release", name)


DAMAGES = {
    "a text file is missing": (lambda s: release(s, "chunks.jsonl").unlink(), "chunks.jsonl"),
    "a text file is empty": (lambda s: release(s, "chunks.jsonl").write_bytes(b""), "chunks.jsonl"),
    "one byte differs": (lambda s: flip(release(s, "documents.jsonl")), "documents.jsonl"),
    "a file was added": (lambda s: release(s, "x.jsonl").write_text("x"), "x.jsonl: was added"),
    "the record is missing": (lambda s: release(s, "release.json").unlink(), "release.json"),
    "the record was edited": (
        lambda s: release(s, "release.json").write_text(
            release(s, "release.json").read_text().replace("3", "4")
        ),
        "release.json: has changed",
    ),
    "the ledger is gone": (lambda s: s.remove("sealed", "ledger"), "there is no ledger"),
    "its header is damaged": (
        lambda s: s.local_path("sealed", "ledger", "ledger.json").write_text("{"),
        "damaged",
    ),
    "its part is gone": (lambda s: ledger_part(s).unlink(), "part 0 of the ledger is missing"),
    "its part has changed": (lambda s: flip(ledger_part(s)), "part 0 of the ledger is damaged"),
    "it is another's": (another_ledger, "ledger of another release"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_what_is_not_there_or_was_edited_is_named(published, name):
    damage, said = DAMAGES[name]
    damage(published)
    with pytest.raises((InputError, LedgerError), match=said) as caught:
        verify_release(Store(published.root), details(published))
    # another try cannot mend it: nothing that a scheduler retries
    assert caught.value.exit_code == (5 if isinstance(caught.value, LedgerError) else 3)
    assert "\n" not in str(caught.value)


def test_another_key_leaves_the_ledger_that_of_its_release(published):
    rotate_key(published, None, parse_key(generate_key()))
    verify_release(published, details(published))


def test_a_record_that_an_audit_completes_is_known_at_every_moment(published, monkeypatch):
    record = published.read_json("release", "release.json") | {"audit": {}}
    write = Store.write_json

    def crash(*_args, **_more):
        raise InfrastructureError("a crash")

    with monkeypatch.context() as patch:
        patch.setattr(
            Store, "write_json", lambda s, c, *p: (crash if "release" in p else write)(s, c, *p)
        )
        with pytest.raises(InfrastructureError):
            replace_record(published, details(published), record)
    verify_release(published, details(published))
    finish, calls = Store.finish, []

    def second(store, *args, **more):
        calls.append(args)
        return crash() if len(calls) == 2 else finish(store, *args, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "finish", second)
        with pytest.raises(InfrastructureError):
            replace_record(published, details(published), record)
    verify_release(published, details(published))
    replace_record(published, details(published), record)
    verify_release(published, details(published))
    assert "next_record" not in details(published)


def test_a_run_folder_without_a_release_is_not_nothing_to_do(published):
    published.remove("release")
    with pytest.raises(NesError, match=r"release\.json: is missing"):
        verify_release(published, details(published))
    assert json.loads(published.read_bytes("stages", PUBLICATION, "_manifest.json"))["files"] == {}
