"""The store of answers: nothing is paid for twice.

One file an answer, named after the digest of everything that the answer depends on, written aside,
flushed and renamed. So any number of workers may write at the same time on any shared file system,
and what a crash leaves behind is either whole or not there. Answers are as secret as the texts they
are about: the folder is readable by its owner only.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nes_spark.config import AuditConfig, LanguageModelConfig
from nes_spark.errors import InfrastructureError


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text, 64 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def question_key(model: LanguageModelConfig, prompt: str, digest: str) -> str:
    """Return the name under which an answer is stored.

    It depends on the endpoint, the model and its parameters, the prompt, and the text; not on
    prices, rates, the key of the account, or how the model is called in the report.

    Parameters
    ----------
    model : LanguageModelConfig
        The model.
    prompt : str
        The prompt, with ``{text}``.
    digest : str
        :func:`text_digest` of the chunk's text.
    """
    identity = {
        "base_url": model.base_url,
        "model": model.model,
        "temperature": model.temperature,
        "seed": model.seed,
        "max_tokens": model.max_tokens,
        "extra": model.extra,
        "prompt": prompt,
        "text": digest,
    }
    content = json.dumps(identity, sort_keys=True, ensure_ascii=True)
    return hashlib.blake2b(content.encode(), digest_size=24).hexdigest()


def settings_digest(config: AuditConfig, model: LanguageModelConfig) -> str:
    """Return a digest of all that decides what an audit by a model says of given texts."""
    identity: list[Any] = [question_key(model, config.prompt, ""), config.labels, config.answer]
    identity.append(config.draws)
    if config.about != "swapped" or config.sample is not None:
        identity += [config.about, config.sample]
    content = json.dumps(identity, sort_keys=True, ensure_ascii=True)
    return hashlib.blake2b(content.encode(), digest_size=24).hexdigest()


class AnswerStore:
    """Answers on disk.

    Parameters
    ----------
    folder : str or pathlib.Path
        Where; made when it is first written to.

    Raises
    ------
    InfrastructureError
        From all methods, when the disk refuses.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def _file(self, key: str, suffix: str = "") -> Path:
        return self.folder / key[:2] / f"{key}{suffix}.json"

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the answer to a question, None when there is none (or it is damaged)."""
        return self._read(self._file(key))

    def _read(self, path: Path) -> dict[str, Any] | None:
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        except OSError as error:
            raise InfrastructureError(f"{path}: cannot be read: {error.strerror}") from None
        return record if isinstance(record, dict) else None

    def put(self, key: str, record: dict[str, Any]) -> None:
        """Store an answer; returns after it is on disk."""
        self._write(self._file(key), record)

    def add_waste(self, key: str, record: dict[str, Any]) -> None:
        """Note a reply that was paid for and is of no use, for example by another model."""
        self._write(self._file(key, f".waste-{uuid.uuid4().hex}"), record)

    def waste(self, keys: Iterable[str]) -> list[dict[str, Any]]:
        """Return what was noted by :meth:`add_waste` for these questions."""
        wanted = set(keys)
        found = []
        for shard in sorted({key[:2] for key in wanted}):
            for path in sorted((self.folder / shard).glob("*.waste-*.json")):
                if path.name.split(".", 1)[0] in wanted:
                    record = self._read(path)
                    if record is not None:
                        found.append(record)
        return found

    def read_state(self, name: str) -> dict[str, Any] | None:
        """Return the state of a batch."""
        return self._read(self.folder / "batches" / f"{name}.json")

    def write_state(self, name: str, state: dict[str, Any]) -> None:
        """Store the state of a batch."""
        self._write(self.folder / "batches" / f"{name}.json", state)

    def remove_state(self, name: str) -> None:
        """Forget a batch that has been collected."""
        (self.folder / "batches" / f"{name}.json").unlink(missing_ok=True)

    def states(self) -> list[str]:
        """Return the names of all batches under way."""
        return sorted(p.stem for p in (self.folder / "batches").glob("*.json"))

    def _write(self, path: Path, record: dict[str, Any]) -> None:
        aside = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        try:
            for folder in (self.folder, path.parent):
                if not folder.is_dir():
                    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(record, file, sort_keys=True)
                file.flush()
                os.fsync(file.fileno())
            os.replace(aside, path)
        except OSError as error:
            with contextlib.suppress(OSError):
                aside.unlink()
            raise InfrastructureError(
                f"{path.parent}: cannot be written: {error.strerror}"
            ) from None
