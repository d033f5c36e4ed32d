"""Asking a language model: in flight and rate bounded, with retries, each answer stored at once.

No message of an exception of the client is passed on: it may quote the text that was sent, or part
of the key.
"""

from __future__ import annotations

import email.utils
import logging
import os
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from nes_spark.audit.answer_store import AnswerStore
from nes_spark.audit.billing import estimate_tokens, price
from nes_spark.config import AuditConfig, LanguageModelConfig
from nes_spark.errors import ConfigError

#: Libraries that write requests (texts) or headers to their own log when it is on.
_TALKATIVE = ("openai", "httpx", "httpcore", "httpx2", "httpcore2")


#: What an endpoint counts.
_COUNTS = ("prompt_tokens", "completion_tokens")
#: After so many answers by another model, and none by the right one, no more are paid for.
_STRANGERS = 5


class Secret:
    """A key that does not show itself."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the key."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__

    def __reduce__(self) -> tuple[Any, ...]:
        return Secret, (self._value,)


def read_key(model: LanguageModelConfig) -> Secret:
    """Read the key of a model from its environment variable.

    Raises
    ------
    ConfigError
        When the variable is not set.
    """
    if model.api_key_env is None:
        return Secret("no-key")
    value = os.environ.get(model.api_key_env, "").strip()
    if not value:
        raise ConfigError(
            f"audit.models: {model.name}: the environment variable {model.api_key_env} is not set; "
            "put the key there, or set api_key_env to null for a server without keys"
        )
    return Secret(value)


class RateLimiter:
    """Spaces requests evenly, so that no minute holds more of them, or of tokens, than allowed.

    Parameters
    ----------
    requests_per_minute, tokens_per_minute : float or None
        None: no limit.
    clock, sleep : callable
        For tests.
    """

    def __init__(
        self,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._per_request = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._per_token = 60.0 / tokens_per_minute if tokens_per_minute else 0.0
        self._clock = clock
        self._sleep = sleep
        self._next = 0.0
        self._lock = threading.Lock()

    def acquire(self, tokens: int) -> None:
        """Wait for a turn for a request of so many tokens."""
        with self._lock:
            now = self._clock()
            turn = max(now, self._next)
            self._next = turn + max(self._per_request, tokens * self._per_token)
        while (left := turn - self._clock()) > 0:
            self._sleep(left)

    def pause(self, seconds: float) -> None:
        """Let nobody start before so many seconds have passed: the endpoint asked for it."""
        with self._lock:
            self._next = max(self._next, self._clock() + seconds)


@dataclass(frozen=True)
class Question:
    """A question: the name of its answer in the store, and the text it is about."""

    key: str
    text: str


@dataclass
class Reply:
    """What became of a question.

    Attributes
    ----------
    key : str
        The question.
    record : dict or None
        The answer as stored; None when there is none.
    error : str
        Why there is none: a short code.
    asked : bool
        Whether this run answered it; otherwise it was in the store.
    attempts : int
        Requests made.
    unknown : int
        Those that broke off: nobody knows whether they were charged.
    """

    key: str
    record: dict[str, Any] | None = None
    error: str = ""
    asked: bool = False
    attempts: int = 0
    unknown: int = 0


class _Again(Exception):
    """Try again, after so many seconds when the endpoint said so; it cost so much already."""

    def __init__(
        self, code: str, after: float | None = None, unknown: bool = False, spent: float = 0.0
    ) -> None:
        super().__init__(code)
        self.code = code
        self.after = after
        self.unknown = unknown
        self.spent = spent


class _Stop(Exception):
    """All further questions would fail too: bad key, no such model, no money."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class _Refused(Exception):
    """This question is not accepted by the endpoint; others may be."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def connect(model: LanguageModelConfig, key: Secret, timeout: float) -> Any:
    """Return a client of the endpoint that never retries by itself and keeps quiet."""
    from openai import OpenAI

    for name in _TALKATIVE:
        logger = logging.getLogger(name)
        if logger.getEffectiveLevel() < logging.WARNING:
            logger.setLevel(logging.WARNING)
    return OpenAI(api_key=key.reveal(), base_url=model.base_url, timeout=timeout, max_retries=0)


def retry_after(headers: Any, now: float | None = None) -> float | None:
    """Return the seconds that a response asks to wait: ``retry-after-ms`` or ``Retry-After``."""
    try:
        return max(0.0, float(headers.get("retry-after-ms")) / 1000)
    except (TypeError, ValueError):
        pass
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    parsed = email.utils.parsedate_tz(value)
    if parsed is None:
        return None
    return max(0.0, email.utils.mktime_tz(parsed) - (time.time() if now is None else now))


def longest_pause(config: AuditConfig, attempt: int) -> float:
    """Return after how many seconds to ask again at most, after so many attempts from 0."""
    return min(config.max_backoff, config.backoff * 2.0**attempt)


def classify(error: Exception) -> Exception:
    """Turn an exception of the client into what to do about it, without its message."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return _Again("timeout", unknown=True)
    if isinstance(error, openai.APIStatusError):
        status = error.status_code
        code = str(getattr(error, "code", None) or "")
        if status in (401, 403):
            return _Stop(f"key_not_accepted_{status}")
        if status == 404:
            return _Stop("no_such_model_or_address")
        if code in ("insufficient_quota", "billing_hard_limit_reached"):
            return _Stop("account_has_no_quota")
        if status in (408, 409, 425, 429) or status >= 500:
            return _Again(f"status_{status}", retry_after(error.response.headers))
        if "content_filter" in code or "content_policy" in code:
            return _Refused("content_filter")
        return _Refused(f"status_{status}")
    if isinstance(error, openai.APIConnectionError):
        # No connection, or one that broke: only the second may have been charged.
        cause = type(error.__cause__).__name__
        return _Again("connection", unknown=cause not in ("ConnectError", "ConnectTimeout"))
    # Not JSON, or JSON of another shape: an answer may have been charged, but cannot be read.
    return _Again("garbage", unknown=True)


def request_body(model: LanguageModelConfig, prompt: str, text: str) -> dict[str, Any]:
    """Return the parameters of the chat completion for a chunk (paper, appendix A)."""
    body: dict[str, Any] = {
        "model": model.model,
        "messages": [{"role": "user", "content": prompt.replace("{text}", text)}],
        "temperature": model.temperature,
        model.token_limit: model.max_tokens,
    }
    if model.seed is not None:
        body["seed"] = model.seed
    return body


def same_model(asked: str, served: str, also: Iterable[str] = ()) -> bool:
    """Whether the name an endpoint answers under is the model that was asked for.

    Endpoints add versions (``gpt-4o-2024-11-20`` for ``gpt-4o``) and drop owners or paths
    (``models/gemini-2.5-flash``). A different size or family is another model: after the shorter
    name there may only be a version, that is digits.
    """
    names = [n.rsplit("/", 1)[-1].casefold() for n in (asked, *also)]
    given = served.rsplit("/", 1)[-1].casefold()
    if served in also:
        return True
    for name in names:
        short, long = sorted((name, given), key=len)
        rest = long.removeprefix(short)
        if long.startswith(short) and (
            not rest
            or (rest[0] in "-@:" and rest.strip("-@:").replace("-", "").isdigit())
            or rest == ":latest"
        ):
            return True
    return False


def _spent(model: LanguageModelConfig, usage: Any, estimate: int) -> dict[str, Any]:
    """Tokens of a reply: as counted by the endpoint, else estimated, and marked as that."""
    given = [usage.get(n) for n in _COUNTS] if isinstance(usage, dict) else []
    found = [n for n in given if isinstance(n, int) and not isinstance(n, bool) and n >= 0]
    if len(found) == len(_COUNTS) and found[0] > 0:
        return dict(zip(_COUNTS, found, strict=True))
    return {**dict(zip(_COUNTS, (estimate, model.max_tokens), strict=True)), "estimated": True}


def read_response(
    model: LanguageModelConfig, response: Any, via: str, estimate: int = 0
) -> tuple[dict[str, Any] | None, dict[str, Any] | None, str]:
    """Read a chat completion, given as plain values.

    Parameters
    ----------
    model : LanguageModelConfig
        The model that was asked.
    response : object
        What came back.
    via : str
        ``"chat"`` or ``"batch"``.
    estimate : int
        Tokens of the prompt, for a reply without a count of them (``usage``). Its completion counts
        as long as allowed.

    Returns
    -------
    record : dict or None
        The answer to be stored; None when the response is of no use.
    waste : dict or None
        What was charged although it is of no use.
    code : str
        Why it is of no use.
    """
    if not isinstance(response, dict):
        return None, None, "garbage"
    spent = _spent(model, response.get("usage"), estimate)
    served = response.get("model")
    served = served if isinstance(served, str) else ""
    record: dict[str, Any] = {**spent, "via": via, "served": served, "model": model.model}
    # A reply without a count of tokens and a model's name: nobody knows what it has cost.
    waste = dict(record) if served or "estimated" not in spent else None
    if served and not same_model(model.model, served, model.served_as):
        return None, waste, "wrong_model"
    choices = response.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None, waste, "no_choice"
    message = choices[0].get("message")
    if not isinstance(message, dict):
        return None, waste, "no_choice"
    content, refusal = message.get("content"), message.get("refusal")
    record["content"] = content if isinstance(content, str) else None
    record["refusal"] = refusal if isinstance(refusal, str) else None
    reason = choices[0].get("finish_reason")
    record["finish_reason"] = reason if isinstance(reason, str) else None
    return record, None, ""


class Purse:
    """Keeps the spending of one task below its share of the budget.

    Parameters
    ----------
    slack : float or None
        Budget that is left over the estimate; every question brings its estimated price times
        this. None: no budget.
    """

    def __init__(self, slack: float | None) -> None:
        self._slack = slack
        self._allowed = 0.0
        self._bound = 0.0
        self._lock = threading.Lock()

    def bring(self, amount: float) -> None:
        """Add what a question may cost."""
        if self._slack is not None:
            with self._lock:
                self._allowed += amount * self._slack

    def reserve(self, amount: float) -> bool:
        """Set aside the price of a request; False when there is not enough left."""
        if self._slack is None:
            return True
        with self._lock:
            # A millionth of a question's price: sums in another order must not stop the last one.
            if self._bound + amount > self._allowed + 1e-6 * amount:
                return False
            self._bound += amount
            return True

    def settle(self, reserved: float, spent: float) -> None:
        """Replace a reservation by what was spent."""
        with self._lock:
            self._bound += spent - reserved


class Asker:
    """Asks one model, from many threads of one task.

    Parameters
    ----------
    model, config : LanguageModelConfig, AuditConfig
        The model; ``timeout``, ``max_retries``, ``backoff`` and so on.
    key : Secret
        Its key.
    store : AnswerStore
        Where answers go.
    limiter : RateLimiter
        Share of the rate of this task.
    purse : Purse
        Share of the budget of this task.
    sleep : callable
        For tests.
    """

    def __init__(
        self,
        model: LanguageModelConfig,
        config: AuditConfig,
        key: Secret,
        store: AnswerStore,
        limiter: RateLimiter,
        purse: Purse,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._model = model
        self._config = config
        self._store = store
        self._limiter = limiter
        self._purse = purse
        self._sleep = sleep
        self._client = connect(model, key, config.timeout)
        self._stopped = ""
        self._strangers = 0
        self._answered = False

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def tokens(self, question: Question) -> int:
        """Estimate the tokens of a request, input and output."""
        return estimate_tokens(len(question.text), self._config) + self._model.max_tokens

    def estimated_price(self, question: Question) -> float:
        """Estimate what a request costs at most."""
        prompt = estimate_tokens(len(question.text), self._config)
        return price(self._model, prompt, self._model.max_tokens, batch=False)

    def ask(self, question: Question) -> Reply:
        """Ask until there is an answer, the attempts are used up, or nothing can help."""
        reply = Reply(question.key)
        stored = self._store.get(question.key)
        if stored is not None:
            reply.record = stored
            return reply
        for attempt in range(self._config.max_retries + 1):
            if self._stopped:
                reply.error = self._stopped
                return reply
            reserved = self.estimated_price(question)
            if not self._purse.reserve(reserved):
                self._stopped = reply.error = "budget"
                return reply
            spent = 0.0
            try:
                self._limiter.acquire(self.tokens(question))
                reply.attempts += 1
                spent, record = self._request(question)
                self._store.put(question.key, record)
                reply.record, reply.asked, reply.error = record, True, ""
                return reply
            except _Again as again:
                spent = again.spent
                reply.error = again.code
                reply.unknown += again.unknown
                if again.after is not None and again.after > self._config.max_retry_after:
                    self._stopped = reply.error = "asked_to_wait_too_long"
                    return reply
                if attempt < self._config.max_retries:
                    self._wait(again, attempt)
            except _Stop as stop:
                self._stopped = reply.error = stop.code
                return reply
            except _Refused as refused:
                if refused.code == "content_filter":
                    reply.record = {
                        "prompt_tokens": 0,
                        "completion_tokens": 0,
                        "via": "chat",
                        "served": "",
                        "model": self._model.model,
                        "content": None,
                        "refusal": "content_filter",
                        "finish_reason": "content_filter",
                    }
                    self._store.put(question.key, reply.record)
                    reply.asked, reply.error = True, ""
                else:
                    reply.error = refused.code
                return reply
            finally:
                self._purse.settle(reserved, spent)
        return reply

    def _request(self, question: Question) -> tuple[float, dict[str, Any]]:
        body = request_body(self._model, self._config.prompt, question.text)
        try:
            response = self._client.chat.completions.create(
                **body, extra_body=self._model.extra or None
            )
            # Warnings about values of an unexpected kind would quote them.
            plain = response.model_dump(warnings=False) if hasattr(response, "model_dump") else None
        except Exception as error:
            raise classify(error) from None
        estimate = estimate_tokens(len(question.text), self._config)
        record, waste, code = read_response(self._model, plain, "chat", estimate)
        if record is None:
            if waste is not None:
                self._store.add_waste(question.key, waste)
            if code == "wrong_model":
                self._strangers += 1
                if self._strangers >= _STRANGERS and not self._answered:
                    raise _Stop("wrong_model")
            raise _Again(code, unknown=waste is None, spent=self._price(waste) if waste else 0.0)
        self._answered = True
        return self._price(record), record

    def _price(self, record: dict[str, Any]) -> float:
        return price(self._model, record["prompt_tokens"], record["completion_tokens"], batch=False)

    def _wait(self, again: _Again, attempt: int) -> None:
        if again.after is not None:
            # All threads must wait. Each waits a little longer, so that they do not return at once.
            self._limiter.pause(again.after)
            self._sleep(again.after * (1 + 0.1 * random.random()))
            return
        self._sleep(longest_pause(self._config, attempt) * random.uniform(0.5, 1.0))


def ask_all(
    asker: Asker, questions: Iterable[Question], in_flight: int, purse: Purse
) -> Iterator[Reply]:
    """Ask questions with at most so many in flight; replies come as they are ready.

    Parameters
    ----------
    asker : Asker
        Closed by the caller.
    questions : iterable of Question
        Read only as fast as they are answered.
    in_flight : int
        Threads, and so requests, at a time.
    purse : Purse
        The asker's; every question brings its share when it is read.
    """
    waiting: deque[Question] = deque()
    source = iter(questions)
    with ThreadPoolExecutor(in_flight, thread_name_prefix="nes-audit") as pool:
        running: set[Future[Reply]] = set()
        exhausted = False
        while True:
            # Read ahead: waiting questions bring their share of the budget, which covers mishaps.
            while not exhausted and len(waiting) < 64 * in_flight:
                question = next(source, None)
                if question is None:
                    exhausted = True
                else:
                    purse.bring(asker.estimated_price(question))
                    waiting.append(question)
            while waiting and len(running) < in_flight:
                running.add(pool.submit(asker.ask, waiting.popleft()))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
