"""Whether a published release is still what was published: its files, its record and its ledger."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from nes_spark.run.published import PUBLICATION, not_as_published, read_released
from nes_spark.store import Store, canonical_json, combine
from nes_spark.swapping.ledger import verify_ledger

RECORD = "release.json"


def files_digest(files: Iterable[Mapping[str, Any]]) -> str:
    """Return one digest of the files of a release, which its ledger holds too.

    Parameters
    ----------
    files : iterable of mapping
        ``file`` and ``sha256``, as in ``release.json``.
    """
    return combine(*(f"{entry['file']} {entry['sha256']}" for entry in files))


def record_digest(store: Store, folder: str = "release") -> str | None:
    """Return the digest of ``release.json`` as it is now; None when it is not there."""
    content = store.read_bytes(folder, RECORD)
    return None if content is None else hashlib.sha256(content).hexdigest()


def replace_record(store: Store, details: Mapping[str, Any], record: Mapping[str, Any]) -> None:
    """Replace ``release.json``; after a crash the old or the new one is there, and both count.

    Parameters
    ----------
    store : Store
        The run folder.
    details : mapping
        Details of its publication; the record that is there is one of theirs.
    record : mapping
        The new content.
    """
    new = hashlib.sha256(canonical_json(record)).hexdigest()
    rest = {k: v for k, v in details.items() if k not in ("record", "next_record")}
    both = {"record": record_digest(store), "next_record": new}
    store.finish(PUBLICATION, details={**rest, **both})
    store.write_json(record, "release", RECORD)
    store.finish(PUBLICATION, details={**rest, "record": new})


def verify_release(store: Store, details: Mapping[str, Any]) -> None:
    """Look whether release and ledger are what was published.

    All files of the release and of the ledger are read once: they are a fraction of the tables that
    a run reads anyway.

    Parameters
    ----------
    store : Store
        The run folder.
    details : mapping
        Details of its publication; ``record`` is the :func:`record_digest` of that time.

    Raises
    ------
    InputError
        When a file of the release is missing, changed or was added.
    LedgerError
        When the ledger is missing, damaged or that of another release.
    """
    found = record_digest(store)
    if found is None:
        raise not_as_published(store, RECORD, "is missing")
    record = store.read_json("release", RECORD)
    known = (details.get("record"), details.get("next_record"))
    if found not in known or not isinstance(record, dict):
        raise not_as_published(store, RECORD, "has changed")
    for entry in record["files"]:
        read_released(store, entry["file"], entry["sha256"])
    added = sorted(set(store.names("release")) - {RECORD, *(e["file"] for e in record["files"])})
    if added:
        raise not_as_published(store, added[0], "was added")
    verify_ledger(
        store,
        rows=record["chunks"],
        seed_fingerprint=record["seed_fingerprint"],
        release=files_digest(record["files"]),
    )
