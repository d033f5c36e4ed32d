"""The secret seed and every random number that is drawn from it.

All randomness is a function of ``(secret, purpose, ids)``: keyed BLAKE2b over a length-prefixed
list of strings gives either a digest (to order things) or the key of a Philox counter generator (to
draw streams). Nothing depends on row order, partitioning or the number of workers. Streams are
built from the raw 64-bit output of Philox, not from the distributions of
``numpy.random.Generator``, which NumPy may change between versions: a release must be reproducible
after an upgrade.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import secrets as _secrets
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nes_spark.errors import ConfigError, LedgerError

if TYPE_CHECKING:
    from nes_spark.config import SeedConfig

#: Bytes of a generated seed.
SEED_BYTES = 32
#: Random bits that a seed must have: with its fingerprint, which is published, and the ids, which
#: are known, anybody can try seeds, a hundred million dates and words in a minute.
MIN_BITS = 128
#: The command that makes a good one.
MAKE_SEED = 'python -c "import secrets; print(secrets.token_hex(32))"'

_PERSON_DIGEST = b"nes.digest"
_PERSON_STREAM = b"nes.stream"
_PERSON_PRINT = b"nes.fingerprint"


class Secret(bytes):
    """The secret seed: bytes whose value never shows in ``repr``, ``str`` or a format string.

    Parameters
    ----------
    value : bytes or str or int
        The seed. Text is taken as UTF-8, an integer as its decimal digits, so that ``7``, ``"7"``
        and ``b"7"`` are the same seed. Longer seeds than 64 bytes are condensed to 64.
    origin : str
        Where it came from, for the log: ``"environment"``, ``"file"``, ``"sealed"``,
        ``"generated"`` or ``"given"``.

    Raises
    ------
    TypeError
        For any other type.
    ValueError
        When the seed is empty.
    """

    origin: str

    def __new__(cls, value: bytes | str | int, origin: str = "given") -> Secret:
        """Wrap a seed; see the class."""
        if isinstance(value, bool) or not isinstance(value, (bytes, str, int)):
            raise TypeError(
                "The 'value' parameter of Secret must be bytes, a string or an integer. "
                f"Got {type(value).__name__} instead."
            )
        raw = value if isinstance(value, bytes) else str(value).encode("utf-8")
        if not raw:
            raise ValueError("The 'value' parameter of Secret must not be empty.")
        made = super().__new__(cls, raw if len(raw) <= 64 else hashlib.blake2b(raw).digest())
        made.origin = origin
        return made

    def __repr__(self) -> str:
        return f"Secret(fingerprint={self.fingerprint()!r})"

    def __str__(self) -> str:
        return repr(self)

    def __format__(self, specification: str) -> str:
        return format(repr(self), specification)

    def __reduce__(self) -> tuple[Any, ...]:
        return Secret, (bytes(self), self.origin)

    def fingerprint(self) -> str:
        """Return 16 hexadecimal digits that tell seeds apart and do not give them away.

        A fingerprint lets anyone *test* a guessed seed: use generated seeds (32 random bytes), not
        words.
        """
        return hashlib.blake2b(
            b"fingerprint", key=bytes(self), person=_PERSON_PRINT, digest_size=8
        ).hexdigest()

    def digest(self, *parts: object, size: int = 16) -> bytes:
        """Return a keyed digest of the parts, for ordering by ids.

        Parameters
        ----------
        *parts : object
            Turned into strings; each is length-prefixed, so ``("ab", "c")`` and ``("a", "bc")``
            differ.
        size : int
            Bytes of the digest, 1 to 64.
        """
        return hashlib.blake2b(
            _encode(parts), key=bytes(self), person=_PERSON_DIGEST, digest_size=size
        ).digest()

    def digests(self, *parts: object) -> Callable[..., bytes]:
        """Return a function that gives the digests of these parts followed by others.

        Examples
        --------
        >>> secret = Secret(b"0" * 32)
        >>> secret.digests("names", 1)("x") == secret.digest("names", 1, "x")
        True
        """
        begun = hashlib.blake2b(
            _encode(parts), key=bytes(self), person=_PERSON_DIGEST, digest_size=16
        )

        def digest(*more: object) -> bytes:
            one = begun.copy()
            one.update(_encode(more))
            return one.digest()

        return digest

    def stream(self, *parts: object) -> Stream:
        """Return the random stream that belongs to these parts; see :class:`Stream`."""
        key = hashlib.blake2b(
            _encode(parts), key=bytes(self), person=_PERSON_STREAM, digest_size=16
        ).digest()
        return Stream(int.from_bytes(key, "little"))


def seed_fingerprint(secret: bytes) -> str:
    """Return the fingerprint of a seed, the only thing of it that may be logged."""
    return Secret(secret).fingerprint()


def derive_seed(secret: bytes, *purpose: object) -> int:
    """Return a 63-bit integer seed for another random step, from the secret and its purpose.

    It does not lead back to the secret, so it may be given to libraries that keep their seeds.
    """
    return int.from_bytes(Secret(secret).digest("seed", *purpose, size=8), "little") >> 1


def _encode(parts: Iterable[object]) -> bytes:
    encoded = bytearray()
    for part in parts:
        raw = (part if type(part) is str else str(part)).encode("utf-8", "surrogatepass")
        encoded += len(raw).to_bytes(8, "little") + raw
    return bytes(encoded)


class Stream:
    """A Philox stream with the three draws that the sampler needs.

    Parameters
    ----------
    key : int
        128-bit key.
    """

    def __init__(self, key: int) -> None:
        self._bits = np.random.Philox(key=key)

    def raw(self, size: int) -> NDArray[np.uint64]:
        """Return ``size`` independent uniform 64-bit words."""
        return np.asarray(self._bits.random_raw(size), dtype=np.uint64)

    def uniform(self, size: int) -> NDArray[np.float64]:
        """Return ``size`` uniforms on [0, 1) with 53 bits."""
        return np.asarray((self.raw(size) >> np.uint64(11)) * 2.0**-53)

    def exponential(self, size: int) -> NDArray[np.float64]:
        """Return ``size`` Exp(1) variables."""
        return np.asarray(-np.log1p(-self.uniform(size)))

    def below(self, bounds: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return one integer uniform on ``0 .. bound - 1`` for each bound; exact, by rejection.

        Parameters
        ----------
        bounds : ndarray of int64
            All at least 1.
        """
        limit = bounds.astype(np.uint64) - np.uint64(1)
        mask = _all_ones(limit)
        out = self.raw(len(limit)) & mask
        (again,) = np.nonzero(out > limit)
        while again.size:
            out[again] = self.raw(again.size) & mask[again]
            again = again[out[again] > limit[again]]
        return out.astype(np.int64)


class ReadAhead(Stream):
    """A stream of which words are read in blocks: for very many small draws.

    Parameters
    ----------
    stream : Stream
        What this draws is what the stream would have drawn, which is used up.
    block : int
        Words.
    """

    def __init__(self, stream: Stream, block: int) -> None:
        self._bits = stream._bits
        self._block = block
        self._words: NDArray[np.uint64] = np.zeros(0, dtype=np.uint64)
        self._at = 0

    def raw(self, size: int) -> NDArray[np.uint64]:
        """Return ``size`` independent uniform 64-bit words."""
        if self._at + size > len(self._words):
            more = super().raw(max(size, self._block))
            self._words, self._at = np.concatenate([self._words[self._at :], more]), 0
        self._at += size
        return self._words[self._at - size : self._at].copy()

    def lists_below(self, bound: int, size: int) -> Iterator[list[int]]:
        """Yield again and again what ``below`` gives for one bound, ``size`` at a time."""
        limit = bound - 1
        mask = (1 << limit.bit_length()) - 1
        masked: list[int] = []
        words: NDArray[np.uint64] | None = None
        while True:
            if words is not self._words or self._at + size > len(self._words):
                self.raw(size)
                self._at -= size
                words = self._words
                masked = (words & np.uint64(mask)).tolist()
            out = masked[self._at : self._at + size]
            self._at += size
            again = [i for i, value in enumerate(out) if value > limit]
            while again:
                for i, value in zip(again, self.raw(len(again)).tolist(), strict=True):
                    out[i] = value & mask
                again = [i for i in again if out[i] > limit]
            yield out


def _all_ones(limit: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return the smallest numbers of ones only, in binary, that are no smaller."""
    mask = limit.copy()
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> np.uint64(shift)
    return mask


_FORMS = (
    # name, alphabet, bits a character, least number of different ones
    ("decimal digits", re.compile(r"[0-9]+"), math.log2(10), 7),
    ("hexadecimal digits", re.compile(r"[0-9a-f]+|[0-9A-F]+"), 4.0, 9),
    ("base64 characters", re.compile(r"[A-Za-z0-9+/_-]+={0,2}"), 6.0, 13),
)
_WORDS = re.compile(r"[A-Z]?[a-z]{2,}|[0-9]{2,}|[A-Z]{3,}")
_LOOKED_AT = 128  # longer texts repeat pieces by chance


@dataclass(frozen=True)
class Strength:
    """How many random bits a text can hold.

    Attributes
    ----------
    bits : int
        At most; 0 where the text does not look random.
    form : str
        What it is made of, or why it does not count.
    """

    bits: int
    form: str

    @property
    def enough(self) -> bool:
        """Whether it may be a seed."""
        return self.bits >= MIN_BITS


def strength_of(value: str) -> Strength:
    """Estimate how many random bits a seed can hold, from its length and alphabet.

    Only what generators print counts: hexadecimal or decimal digits, and base64 with letters of
    both cases. Words, dates, counting and repeated pieces count as nothing. The estimate is an
    upper bound: whether somebody has thrown dice for it cannot be seen.

    Parameters
    ----------
    value : str

    Returns
    -------
    Strength
    """
    text = value.strip()
    for form, alphabet, bits, different in _FORMS:
        if not alphabet.fullmatch(text):
            continue
        plain = text.rstrip("=")
        total = int(len(plain) * bits)
        if total < MIN_BITS:
            return Strength(total, f"{len(plain)} {form}")
        if not _looks_random(plain[:_LOOKED_AT], different, words=form.startswith("base64")):
            return Strength(0, "words, a number or a pattern")
        return Strength(total, f"{len(plain)} {form}")
    return Strength(0, "neither hexadecimal digits nor base64")


def _looks_random(text: str, different: int, words: bool) -> bool:
    """Whether a text has the variety of random ones (one in some hundred of 22 has not)."""
    pieces = [text[i : i + 3] for i in range(len(text) - 2)]
    if len(set(text)) < different or len(set(pieces)) < 0.8 * len(pieces):
        return False
    for lag in (1, 2, 3):  # 0011223344.., abcdef.., every other one
        steps = Counter(ord(b) - ord(a) for a, b in zip(text, text[lag:], strict=False))
        if max(steps.values()) > 0.35 * sum(steps.values()):
            return False
    if not words:
        return True
    kinds = [(c.isdigit(), c.isupper(), c.islower()) for c in text]
    changes = sum(a != b for a, b in pairwise(kinds))
    spelled = sum(map(len, _WORDS.findall(text)))
    return (
        any(upper for _, upper, _ in kinds)
        and any(lower for _, _, lower in kinds)
        and changes > 0.35 * (len(kinds) - 1)
        and spelled < 0.92 * len(text)
    )


def generate_secret() -> str:
    """Return a new seed: 32 random bytes of the operating system, as 64 hexadecimal digits."""
    return _secrets.token_hex(SEED_BYTES)


def sealed_folder(path: str | Path) -> Path:
    """Make sure that a folder exists and only its owner can look into it (mode 0700).

    Parameters
    ----------
    path : str or pathlib.Path
        Folder on a local file system; made with its parents when absent, closed to others when
        open to them.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    LedgerError
        When it cannot be made or closed, or when it is a link or not a folder.
    """
    folder = Path(path)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if not folder.exists() and not folder.is_symlink():
            folder.mkdir(mode=0o700)
        if folder.is_symlink() or not folder.is_dir():
            raise LedgerError(
                f"{folder}: the sealed folder must be a real folder, not a link or file"
            )
        if stat.S_IMODE(folder.stat().st_mode) != 0o700:
            folder.chmod(0o700)
    except OSError as error:
        raise LedgerError(f"{folder}: cannot be made or closed: {error.strerror}") from None
    return folder


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read (mode 0600), atomically.

    The bytes go to a new file beside it, are forced to disk, and then take the place of ``path``,
    so that a crash leaves either the old or the new content.
    """
    temporary = path.with_name(f".{path.name}.{_secrets.token_hex(4)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def load_secret(config: SeedConfig, sealed: str | Path | None) -> Secret:
    """Find the secret seed, or make one.

    The order is: the environment variable ``config.env``; the file ``config.file``; the file
    ``seed`` in the sealed folder; a new seed, written to that file with mode 0600.

    Parameters
    ----------
    config : SeedConfig
    sealed : str or pathlib.Path or None
        The sealed folder of the run; None where it is not on a local disk, so that no new seed can
        be kept there.

    Returns
    -------
    Secret
        Its ``origin`` says where it came from.

    Raises
    ------
    ConfigError
        When the seed given has fewer than 128 random bits (:func:`strength_of`), when its file
        cannot be read, or when there is none and no place for a new one.
    LedgerError
        When a new seed cannot be stored.
    """
    found = find_seed(config, sealed)
    if found is not None:
        return check_seed(*found)
    if sealed is None:
        raise ConfigError(
            f"no secret seed: the run folder is remote, so none is generated; set {config.env} or "
            f"seed.file to one made with {MAKE_SEED}"
        )
    path = Path(sealed) / "seed"
    made = generate_secret()
    try:
        write_private(sealed_folder(sealed) / "seed", f"{made}\n".encode())
    except OSError as error:
        raise LedgerError(f"{path}: the new seed cannot be stored: {error.strerror}") from None
    return Secret(made, "generated")


def find_seed(config: SeedConfig, sealed: str | Path | None) -> tuple[str, str, str] | None:
    """Find the seed in its places without making one; strong or not.

    Parameters
    ----------
    config, sealed
        As for :func:`load_secret`.

    Returns
    -------
    tuple of (str, str, str) or None
        The seed, its place in words, and its origin; None when there is none.

    Raises
    ------
    ConfigError
        When its file cannot be read.
    """
    value = os.environ.get(config.env, "").strip()
    if value:
        return value, f"environment variable {config.env}", "environment"
    if config.file is not None:
        return _read(Path(config.file)), f"seed file {config.file}", "file"
    path = None if sealed is None else Path(sealed) / "seed"
    if path is None or not path.exists():
        return None
    return _read(path), f"seed file {path}", "sealed"


def secret_of_release(
    config: SeedConfig, sealed: str | Path | None, fingerprint: str | None
) -> Secret:
    """Find the seed that a release was made with; never makes one.

    Parameters
    ----------
    config, sealed
        As for :func:`load_secret`.
    fingerprint : str or None
        ``seed_fingerprint`` of ``release.json``.

    Returns
    -------
    Secret

    Raises
    ------
    ConfigError
        When there is no seed, or another one: it would draw other swaps than those released.
    """
    found = find_seed(config, sealed)
    if found is not None:
        value, where, origin = found
        secret = Secret(value, origin) if value else None
        if secret is not None and secret.fingerprint() == fingerprint:
            return secret
        have = f"{where} has another one"
    else:
        have = f"{config.env} is not set and sealed/seed is not there"
    raise ConfigError(
        f"the release was drawn with the seed of fingerprint {fingerprint or 'unknown'}; {have}: "
        f"set {config.env} to the seed of that run"
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such seed file; set seed.file to one that exists") from None
    except (OSError, UnicodeDecodeError):
        raise ConfigError(f"{path}: the seed file cannot be read as text") from None


def check_seed(value: str, where: str, origin: str) -> Secret:
    """Return the seed that was found somewhere if it cannot be guessed.

    Raises
    ------
    ConfigError
        When it has fewer than 128 random bits; it is not quoted.
    """
    found = strength_of(value)
    if not found.enough:
        raise ConfigError(
            f"{where}: the seed can be guessed ({found.form}, {found.bits} random bits); it needs "
            f"{MIN_BITS}: 32 hexadecimal digits or 22 characters of base64, made with {MAKE_SEED}"
        )
    return Secret(value, origin)
