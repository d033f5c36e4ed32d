"""The sealed ledger: what leads from a release back to the original chunks.

It is a re-identification key, so it is only ever written into a folder that is closed to others
(mode 0700, files 0600), apart from the release, and may be encrypted with AES-256-GCM. Layout of
``sealed/ledger/``:

- ``ledger.json``: format, number of rows, parts with their digests, fingerprint of the seed, and
  for an encrypted ledger the id of the key and a seal over all of this;
- parts of JSON Lines, ``<id>-00000.jsonl`` or encrypted ``<id>-00000.enc``.

Parts have names of their own and the header is replaced last, in one step: a crash leaves the old
ledger or the new one. Every part is authenticated together with the id of the ledger and its
number, so that parts cannot be exchanged, reordered, dropped or changed unnoticed. Without a key
only damage is found, not forgery.

A row is one chunk: ``chunk_id``, ``edits`` (see :mod:`nes_spark.swapping.rewriting`), and what the
publisher adds: names in the release, the partner of the swap, ``digest`` of the original text, and
``whole`` ("drop" or "summary") where the chunk is not published, or only as a summary.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from nes_spark.errors import LedgerError
from nes_spark.plain import plain
from nes_spark.swapping.rewriting import DROP
from nes_spark.swapping.rows import restore
from nes_spark.swapping.seeds import sealed_folder, seed_fingerprint, write_private

if TYPE_CHECKING:
    from nes_spark.config import LedgerConfig
    from nes_spark.store import Store

FORMAT = 1
HEADER = "ledger.json"
FOLDER = ("sealed", "ledger")
ROWS_PER_PART = 50_000
KEY_BYTES = 32
_NONCE = 12
_OURS = re.compile(
    r"[0-9a-f]{16}-\d{5}\.(?:jsonl|enc)|"
    r"\.(?:[0-9a-f]{16}-\d{5}\.(?:jsonl|enc)|ledger\.json)\.[0-9a-f]{8}\.tmp"
)


class _Place(Protocol):
    """Where the files of a ledger lie."""

    name: str

    def write(self, file: str, content: bytes) -> None: ...

    def read(self, file: str) -> bytes | None: ...

    def clean(self, keep: set[str], old: set[str]) -> None: ...


class _Local:
    def __init__(self, folder: str | Path, create: bool = False) -> None:
        self.folder = Path(folder)
        self.name = str(folder)
        if create:
            sealed_folder(self.folder)

    def write(self, file: str, content: bytes) -> None:
        try:
            write_private(self.folder / file, content)
        except OSError as error:
            raise LedgerError(
                f"{self.name}: the ledger cannot be written: {error.strerror}"
            ) from None

    def read(self, file: str) -> bytes | None:
        try:
            return (self.folder / file).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LedgerError(f"{self.name}: the ledger cannot be read: {error.strerror}") from None

    def clean(self, keep: set[str], old: set[str]) -> None:
        # also files that an earlier crash left behind, but only files of ledgers
        for path in self.folder.iterdir():
            if path.name not in keep and _OURS.fullmatch(path.name):
                path.unlink()


class _Remote:
    """The sealed folder of a run on a remote file system; access is that of its bucket."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.name = store.path(*FOLDER)

    def write(self, file: str, content: bytes) -> None:
        self.store.write_bytes(content, *FOLDER, file)

    def read(self, file: str) -> bytes | None:
        return self.store.read_bytes(*FOLDER, file)

    def clean(self, keep: set[str], old: set[str]) -> None:
        for file in old - keep:
            self.store.remove(*FOLDER, file)


def _place(where: Store | str | Path, create: bool = False) -> _Place:
    if isinstance(where, (str, Path)):
        return _Local(where, create)
    if not where.is_local:
        return _Remote(where)
    if create:
        sealed_folder(where.local_path(FOLDER[0]))
    return _Local(where.local_path(*FOLDER), create)


# -- keys --------------------------------------------------------------------------------------


def generate_key() -> str:
    """Return a new encryption key: 32 random bytes in URL-safe base64."""
    return base64.urlsafe_b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def parse_key(text: str, where: str = "the ledger key") -> bytes:
    """Read a key in base64 (either alphabet) or hexadecimal.

    Raises
    ------
    LedgerError
        When it is not 32 bytes; the key is not quoted.
    """
    text = text.strip()
    for decode in (bytes.fromhex, _from_base64):
        try:
            key = decode(text)
        except (ValueError, binascii.Error):
            continue
        if len(key) == KEY_BYTES:
            return key
    raise LedgerError(
        f"{where}: must be 32 bytes in base64 or hexadecimal; make one with 'python -c \"from "
        "nes_spark.swapping.ledger import generate_key; print(generate_key())\"'"
    )


def _from_base64(text: str) -> bytes:
    plain = text.replace("-", "+").replace("_", "/").rstrip("=")
    return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)


def load_key(config: LedgerConfig, purpose: str = "the ledger is encrypted") -> bytes:
    """Read the key from the environment variable that the configuration names.

    Parameters
    ----------
    config : LedgerConfig
        ``key_env`` names the variable.
    purpose : str
        Why it is needed, for the message.

    Raises
    ------
    LedgerError
        When it is not set or no key.
    """
    text = os.environ.get(config.key_env, "")
    if not text.strip():
        raise LedgerError(
            f"{purpose} and environment variable {config.key_env} is not set; set it to the key "
            "(ledger.key_env names another variable)"
        )
    return parse_key(text, f"environment variable {config.key_env}")


def key_id(key: bytes) -> str:
    """Return 16 hexadecimal digits that name a key without giving it away."""
    return hashlib.blake2b(
        b"ledger key", key=key, person=b"nes.ledger.key", digest_size=8
    ).hexdigest()


# -- writing -----------------------------------------------------------------------------------


class Block(NamedTuple):
    """Rows of a ledger as its parts have them: a line of JSON each.

    Attributes
    ----------
    rows : int
    lines : bytes
    """

    rows: int
    lines: bytes


def block_of(rows: Iterable[Mapping[str, Any]]) -> Block:
    """Turn rows, JSON-like, into a block."""
    lines = [_line(row) for row in rows]
    return Block(len(lines), b"".join(lines))


def write_ledger(
    where: Store | str | Path,
    rows: Iterable[Mapping[str, Any] | Block],
    config: LedgerConfig,
    *,
    choice: Mapping[str, Any] | None = None,
    seed: bytes | None = None,
    release: str | None = None,
    key: bytes | None = None,
) -> dict[str, Any]:
    """Write the ledger of a release; it replaces an older one.

    Parameters
    ----------
    where : Store or path
        A run (then its ``sealed/ledger``), or a folder of its own for the ledger. It is closed to
        others; parts of older ledgers in it are removed.
    rows : iterable of mapping or Block
        One mapping a chunk, JSON-like, or many chunks in a block; streamed, some 50,000 rows at a
        time are in memory.
    config : LedgerConfig
        Whether to encrypt, and where the key is.
    choice : mapping, optional
        Which candidate the release is; goes to the header.
    seed : bytes, optional
        The secret seed; its fingerprint goes to the header.
    release : str, optional
        Digest of the files of the release; goes to the header.
    key : bytes, optional
        Key to use in place of the one in the environment.

    Returns
    -------
    dict
        The header.

    Raises
    ------
    LedgerError
        When there is no key although it is to be encrypted, or the folder cannot be written.
    """
    secret = (key or load_key(config)) if config.encrypt else None
    place = _place(where, create=True)
    facts: dict[str, Any] = {"choice": plain(dict(choice or {}))}
    if seed is not None:
        facts["seed_fingerprint"] = seed_fingerprint(seed)
    if release is not None:
        facts["release"] = release
    blocks = (row if isinstance(row, Block) else Block(1, _line(row)) for row in rows)
    return _write(place, blocks, facts, secret)


def _line(row: Mapping[str, Any]) -> bytes:
    text = json.dumps(plain(dict(row)), ensure_ascii=False, sort_keys=True)
    return text.encode("utf-8", "surrogatepass") + b"\n"


def _joined(blocks: Iterable[Block]) -> Iterator[Block]:
    """Join blocks until they are a part."""
    lines: list[bytes] = []
    rows = 0
    for block in blocks:
        lines.append(block.lines)
        rows += block.rows
        if rows >= ROWS_PER_PART:
            yield Block(rows, b"".join(lines))
            lines, rows = [], 0
    if rows:
        yield Block(rows, b"".join(lines))


def _write(
    place: _Place, blocks: Iterable[Block], facts: Mapping[str, Any], key: bytes | None
) -> dict[str, Any]:
    old = _parts_of(place)
    name = secrets.token_hex(8)
    suffix = "jsonl" if key is None else "enc"
    parts: list[dict[str, Any]] = []
    for rows, content in _joined(blocks):
        if key is not None:
            content = _seal(key, content, name, len(parts))
        file = f"{name}-{len(parts):05d}.{suffix}"
        place.write(file, content)
        parts.append({"file": file, "rows": rows, "sha256": _sha(content)})
    header: dict[str, Any] = {
        "format": FORMAT,
        "id": name,
        "rows": sum(part["rows"] for part in parts),
        "encrypted": key is not None,
        "parts": parts,
        **facts,
    }
    if key is not None:
        header["key_id"] = key_id(key)
        header["seal"] = base64.b64encode(_seal(key, b"", *_sealed_facts(header))).decode()
    place.write(HEADER, (json.dumps(header, indent=2, sort_keys=True) + "\n").encode())
    place.clean({HEADER, *(p["file"] for p in parts)}, old)
    return header


def _sealed_facts(header: Mapping[str, Any]) -> tuple[str, str]:
    content = {k: v for k, v in header.items() if k != "seal"}
    return str(header["id"]), json.dumps(content, sort_keys=True)


def _parts_of(place: _Place) -> set[str]:
    content = place.read(HEADER)
    try:
        return {str(p["file"]) for p in json.loads(content or b"{}").get("parts", ())}
    except (ValueError, TypeError, KeyError, AttributeError):
        return set()


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _aad(*context: object) -> bytes:
    return json.dumps(["nes_spark ledger", FORMAT, *context]).encode()


def _seal(key: bytes, content: bytes, *context: object) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(_NONCE)
    return nonce + AESGCM(key).encrypt(nonce, content, _aad(*context))


def _open(key: bytes, content: bytes, place: str, *context: object) -> bytes:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(key).decrypt(content[:_NONCE], content[_NONCE:], _aad(*context))
    except (InvalidTag, ValueError):
        raise LedgerError(
            f"{place}: the ledger does not open with this key, or it was changed"
        ) from None


# -- reading -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ledger:
    """An open ledger; iterate over it for its rows.

    Attributes
    ----------
    header : dict
        Number of rows, choice, fingerprint of the seed.
    """

    header: dict[str, Any]
    _place: _Place
    _key: bytes | None

    def __repr__(self) -> str:
        return f"Ledger(id={self.header['id']!r}, rows={self.header['rows']})"

    def __len__(self) -> int:
        return int(self.header["rows"])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield rows, part by part; every part is checked before its first row."""
        for line in self._lines():
            yield json.loads(line.decode("utf-8", "surrogatepass"))

    def _lines(self) -> Iterator[bytes]:
        for number, part in enumerate(self.header["parts"]):
            content = _part(self._place, number, part)
            if self._key is not None:
                content = _open(self._key, content, self._place.name, self.header["id"], number)
            lines = content.split(b"\n")[:-1]
            if len(lines) != part["rows"]:
                raise LedgerError(f"{self._place.name}: part {number} of the ledger is incomplete")
            yield from lines


def read_ledger(
    where: Store | str | Path, config: LedgerConfig, *, key: bytes | None = None
) -> Ledger:
    """Open a ledger.

    Parameters
    ----------
    where : Store or path
        A run, or the folder with ``ledger.json``.
    config : LedgerConfig
        Where the key is, if it is encrypted.
    key : bytes, optional
        Key to use in place of the one in the environment.

    Raises
    ------
    LedgerError
        When there is none, it is damaged, or the key is missing or another one.
    """
    place = _place(where)
    header = _header(place)
    if not header["encrypted"]:
        return Ledger(header, place, None)
    key = key or load_key(config)
    if header.get("key_id") != key_id(key):
        raise LedgerError(
            f"{place.name}: the ledger was encrypted with key {header.get('key_id')}, the key "
            f"given is {key_id(key)}"
        )
    try:
        seal = base64.b64decode(header["seal"], validate=True)
    except (KeyError, TypeError, ValueError):
        raise LedgerError(f"{place.name}/{HEADER}: the seal is missing or damaged") from None
    _open(key, seal, place.name, *_sealed_facts(header))
    return Ledger(header, place, key)


def _header(place: _Place) -> dict[str, Any]:
    content = place.read(HEADER)
    if content is None:
        raise LedgerError(
            f"{place.name}: there is no ledger; without it a release cannot be undone. Restore the "
            "sealed folder from its backup, or run again with the same input and seed (--force)"
        )
    try:
        header = json.loads(content)
        fits = header["format"] == FORMAT and len(header["id"]) == 16
        parts = [(str(p["file"]), int(p["rows"]), str(p["sha256"])) for p in header["parts"]]
        fits = fits and int(header["rows"]) == sum(rows for _, rows, _ in parts)
        fits = fits and isinstance(header["encrypted"], bool)
    except (ValueError, TypeError, KeyError):
        fits = False
    if not fits:
        raise LedgerError(f"{place.name}/{HEADER}: not a ledger of this format, or damaged")
    return dict(header)


def verify_ledger(
    where: Store | str | Path, *, rows: int, seed_fingerprint: str, release: str
) -> dict[str, Any]:
    """Look whether the ledger of a release is there, whole; needs no key.

    Parameters
    ----------
    where : Store or path
        As for :func:`read_ledger`.
    rows : int
        Chunks of the release.
    seed_fingerprint, release : str
        What the header must say: whose swaps these are, and the digest of the release's files.

    Returns
    -------
    dict
        The header.

    Raises
    ------
    LedgerError
        When it is missing, damaged or that of another release.
    """
    place = _place(where)
    header = _header(place)
    known = {"rows": rows, "seed_fingerprint": seed_fingerprint, "release": release}
    other = [name for name, value in known.items() if header.get(name) != value]
    if other:
        raise LedgerError(
            f"{place.name}: this is the ledger of another release ({', '.join(other)} differ); "
            "restore the sealed folder from its backup, or publish anew (--force)"
        )
    for number, part in enumerate(header["parts"]):
        _part(place, number, part)
    return header


def _part(place: _Place, number: int, part: Mapping[str, Any]) -> bytes:
    """Read a part as it is stored, and check its digest."""
    content = place.read(part["file"])
    if content is None or _sha(content) != part["sha256"]:
        fault = "missing" if content is None else "damaged"
        raise LedgerError(
            f"{place.name}: part {number} of the ledger is {fault}; restore the sealed folder from "
            "its backup, or publish anew (--force)"
        )
    return content


def rotate_key(where: Store | str | Path, old: bytes | None, new: bytes | None) -> dict[str, Any]:
    """Encrypt a ledger with another key; the content stays the same.

    Parameters
    ----------
    where : Store or path
        As for :func:`read_ledger`.
    old : bytes or None
        The key it has now; None for a plain ledger.
    new : bytes or None
        The key it shall have; None to store it plain.

    Returns
    -------
    dict
        The new header.

    Raises
    ------
    LedgerError
        As for :func:`read_ledger`; then nothing was changed.
    """
    from nes_spark.config import LedgerConfig

    ledger = read_ledger(where, LedgerConfig.model_validate({}), key=old)
    derived = ("format", "id", "rows", "encrypted", "parts", "key_id", "seal")
    facts = {k: v for k, v in ledger.header.items() if k not in derived}
    return _write(
        _place(where, create=True), (Block(1, line + b"\n") for line in ledger._lines()), facts, new
    )


# -- inverting ---------------------------------------------------------------------------------


def release_id(row: Mapping[str, Any]) -> str:
    """Return the id that a chunk of the ledger has in the release."""
    name = row.get("release_document_id")
    if name and row.get("position") is None:  # released by itself
        return str(name)
    if name:
        return f"{name}#{int(row['position']):05d}"
    return str(row["chunk_id"])


def invert(
    release_chunks: Mapping[str, str] | Iterable[tuple[str, str]],
    ledger: Iterable[Mapping[str, Any]],
) -> dict[str, str]:
    """Restore the original chunks.

    Parameters
    ----------
    release_chunks : mapping, or iterable of (id, text)
        The published chunks under their ids in the release.
    ledger : Ledger or iterable of mapping
        Rows of the ledger.

    Returns
    -------
    dict
        Original chunk id -> original text (``chunks.text``), byte for byte. Chunks that were
        dropped or summarised are among them where the ledger keeps originals.

    Raises
    ------
    LedgerError
        When the ledger knows a chunk that the release has not or the other way round, or an edit
        or a digest does not fit: ledger and release do not belong together.
    """
    texts = dict(release_chunks)
    out: dict[str, str] = {}
    missing = 0
    for row in ledger:
        if row.get("whole") == DROP and release_id(row) not in texts:
            text: str | None = ""
        else:
            text = texts.pop(release_id(row), None)
        if text is None:
            missing += 1
            continue
        if row.get("whole") and not row.get("edits"):
            continue  # the ledger did not keep it
        out[str(row["chunk_id"])] = restore(text, row.get("edits") or (), row.get("digest"))
    if missing or texts:
        raise LedgerError(
            f"release and ledger do not belong together: {missing} chunk(s) of the ledger are not "
            f"in the release, {len(texts)} of the release are not in the ledger"
        )
    return out
