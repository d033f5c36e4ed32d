"""The provider's batch interface: submit, poll, collect; half the price, hours to wait.

What is under way is written down in the answer store before it is sent, and after; so a crash at
any point neither loses a batch nor pays for one twice. A batch carries a tag by which it is found
again when the crash came between sending it and writing down its number.
"""

from __future__ import annotations

import hashlib
import io
import json
import random
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from nes_spark.audit.answer_store import AnswerStore
from nes_spark.audit.billing import AuditPending, estimate_tokens
from nes_spark.audit.client import (
    Question,
    Secret,
    _Again,
    _Refused,
    _Stop,
    classify,
    connect,
    longest_pause,
    read_response,
    request_body,
)
from nes_spark.config import AuditConfig, LanguageModelConfig
from nes_spark.errors import InfrastructureError

#: Largest input file that providers take, with room to spare.
MAX_BYTES = 150_000_000
#: A question that failed inside so many batches is given up.
ROUNDS = 3
_TAG = "nes_spark"
_ENDED = ("completed", "failed", "expired", "cancelled")

T = TypeVar("T")


@dataclass
class BatchResult:
    """The result of the batches.

    Attributes
    ----------
    answered : set of str
        Keys answered in this run.
    errors : dict of str to str
        Key to a short code, for questions without an answer.
    """

    answered: set[str]
    errors: dict[str, str]


class BatchRunner:
    """Runs one model's questions through the batch interface, from the driver.

    Parameters
    ----------
    model, config : LanguageModelConfig, AuditConfig
        The model; ``batch_size``, ``batch_poll``, ``max_retries`` and so on.
    key : Secret
        Its key.
    store : AnswerStore
        Where answers and the state of batches go.
    sleep : callable
        For tests.
    """

    def __init__(
        self,
        model: LanguageModelConfig,
        config: AuditConfig,
        key: Secret,
        store: AnswerStore,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._model = model
        self._config = config
        self._store = store
        self._sleep = sleep
        self._client = connect(model, key, config.timeout)
        identity = json.dumps([model.base_url, model.model], sort_keys=True)
        self._prefix = hashlib.blake2b(identity.encode(), digest_size=6).hexdigest()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def under_way(self) -> set[str]:
        """Return the questions in batches that have not been collected."""
        keys: set[str] = set()
        for name in self._names():
            keys.update((self._store.read_state(name) or {}).get("keys", ()))
        return keys

    def run(
        self, questions: Callable[[set[str]], Iterable[Question]], keys: set[str], wait: bool = True
    ) -> BatchResult:
        """Submit what is not under way, then poll and collect until all is answered.

        Parameters
        ----------
        questions : callable
            From the keys that are needed to the questions; called again for a further round.
        keys : set of str
            Questions without an answer in the store.
        wait : bool
            Whether to wait for the provider; otherwise collect what is ready.

        Raises
        ------
        AuditPending
            When batches are still under way and `wait` is False.
        InfrastructureError
            When the provider does not take or give back a batch.
        """
        result = BatchResult(set(), {})
        open_keys = set(keys)
        for _ in range(ROUNDS):
            self._recover()
            for part in self._parts(questions(open_keys - self.under_way())):
                self._submit(part)
            self._collect(result, wait)
            open_keys = {k for k in open_keys if self._store.get(k) is None}
            if not open_keys or all(code.startswith("final_") for code in result.errors.values()):
                break
        result.errors = {
            k: result.errors.get(k, "no_answer").removeprefix("final_") for k in sorted(open_keys)
        }
        return result

    def _names(self) -> list[str]:
        return [name for name in self._store.states() if name.startswith(self._prefix)]

    def _parts(self, questions: Iterable[Question]) -> Iterator[list[tuple[str, bytes, int]]]:
        """Lines of one batch each: key, request, estimated tokens of the prompt."""
        part: list[tuple[str, bytes, int]] = []
        size = 0
        for question in questions:
            body = request_body(self._model, self._config.prompt, question.text)
            line = {
                "custom_id": question.key,
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": {**body, **self._model.extra},
            }
            encoded = json.dumps(line).encode() + b"\n"
            if part and (len(part) >= self._config.batch_size or size + len(encoded) > MAX_BYTES):
                yield part
                part, size = [], 0
            tokens = estimate_tokens(len(question.text), self._config)
            part.append((question.key, encoded, tokens))
            size += len(encoded)
        if part:
            yield part

    def _submit(self, part: list[tuple[str, bytes, int]]) -> None:
        keys = [key for key, _, _ in part]
        tokens = [estimate for _, _, estimate in part]
        tag = hashlib.blake2b("\n".join(sorted(keys)).encode(), digest_size=10).hexdigest()
        # Another round of the same questions is another batch.
        tag = f"{tag}-{random.SystemRandom().getrandbits(32):08x}"
        name = f"{self._prefix}-{tag}"
        state = {"tag": tag, "keys": keys, "tokens": tokens}
        self._store.write_state(name, {**state, "batch": None})
        content = b"".join(line for _, line, _ in part)

        def upload() -> str:
            file = ("questions.jsonl", io.BytesIO(content), "application/jsonl")
            return self._client.files.create(file=file, purpose="batch").id

        file_id = self._call(upload, "upload")

        def create() -> str:
            # A first attempt may have arrived although its answer got lost.
            return self._find(tag) or str(
                self._client.batches.create(
                    input_file_id=file_id,
                    endpoint="/v1/chat/completions",
                    completion_window="24h",
                    metadata={_TAG: tag},
                ).id
            )

        batch_id = self._call(create, "submit")
        self._store.write_state(name, {**state, "batch": batch_id})

    def _find(self, tag: str) -> str | None:
        for batch in self._client.batches.list(limit=100):
            if (batch.metadata or {}).get(_TAG) == tag:
                return str(batch.id)
        return None

    def _recover(self) -> None:
        """Find batches whose number was not written down; forget those that never arrived."""
        for name in self._names():
            state = self._store.read_state(name)
            if state is None:
                self._store.remove_state(name)
            elif state["batch"] is None:
                tag = state["tag"]
                found = self._call(lambda tag=tag: self._find(tag), "look up")  # type: ignore[misc]
                if found is None:
                    self._store.remove_state(name)
                else:
                    self._store.write_state(name, {**state, "batch": found})

    def _collect(self, result: BatchResult, wait: bool) -> None:
        waiting = self._names()
        while waiting:
            left = []
            for name in waiting:
                state = self._store.read_state(name) or {}
                batch_id = state["batch"]
                batch = self._call(
                    lambda batch_id=batch_id: self._client.batches.retrieve(batch_id),  # type: ignore[misc]
                    "look at",
                )
                if batch.status not in _ENDED:
                    left.append(name)
                    continue
                for file_id in (batch.output_file_id, batch.error_file_id):
                    if file_id:
                        estimates = dict(zip(state["keys"], state["tokens"], strict=True))
                        self._take(file_id, estimates, result)
                if batch.status != "completed":
                    for key in state["keys"]:
                        if key not in result.answered:
                            result.errors.setdefault(key, f"batch_{batch.status}")
                self._store.remove_state(name)
            waiting = left
            if waiting and not wait:
                raise AuditPending(
                    f"{self._model.name}: {len(waiting)} batches are still under way; run the "
                    "same audit again to collect them"
                )
            if waiting:
                self._sleep(self._config.batch_poll)

    def _take(self, file_id: str, keys: dict[str, int], result: BatchResult) -> None:
        """Read the answers of a batch: question -> estimated tokens of its prompt."""
        content = self._call(lambda: self._client.files.content(file_id).read(), "download")
        for line in content.splitlines():
            try:
                item = json.loads(line)
                key = item["custom_id"]
                response = item.get("response") or {}
                status = response.get("status_code")
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
            if key not in keys or self._store.get(key) is not None:
                continue
            if status != 200:
                # 4xx is about the question itself; another round will not help.
                final = isinstance(status, int) and 400 <= status < 500 and status not in (408, 429)
                result.errors[key] = f"final_status_{status}" if final else f"status_{status}"
                continue
            record, waste, code = read_response(
                self._model, response.get("body"), "batch", keys[key]
            )
            if record is not None:
                self._store.put(key, record)
                result.answered.add(key)
                result.errors.pop(key, None)
                continue
            if waste is not None:
                self._store.add_waste(key, waste)
            result.errors[key] = code

    def _call(self, function: Callable[[], T], what: str) -> T:
        """Call the endpoint until it answers."""
        code = ""
        for attempt in range(self._config.max_retries + 1):
            try:
                return function()
            except Exception as error:
                verdict = error if isinstance(error, _Again) else classify(error)
            if isinstance(verdict, (_Stop, _Refused)):
                code = verdict.code
                break
            assert isinstance(verdict, _Again)
            code = verdict.code
            if verdict.after is not None and verdict.after > self._config.max_retry_after:
                break
            if attempt < self._config.max_retries:
                pause = longest_pause(self._config, attempt)
                self._sleep(verdict.after if verdict.after is not None else pause)
        raise InfrastructureError(
            f"{self._model.name}: cannot {what} a batch ({code}); what is under way is written "
            "down, run the same audit again"
        )
