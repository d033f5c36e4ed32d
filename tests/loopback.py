"""A real HTTP server on the loopback that speaks the OpenAI protocol and misbehaves on demand.

Used as ``with Loopback(...) as server: ... server.base_url ...``. Works from any process of this
machine, Spark's Python workers included.

Routes: ``POST /v1/embeddings``, ``POST /v1/chat/completions``, ``GET /v1/models``; more can be
added with ``server.routes[(method, path)] = function(server, handler, body) -> (status, object)``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

#: Everything that ``faults`` may name. ``slow`` answers after ``slow_seconds``, ``cut`` closes the
#: connection in the middle of the answer, ``garbage`` is a 200 that is not JSON, ``nonsense`` a 200
#: with JSON of another shape, ``short`` leaves out the last vector or choice, ``not_finite`` sends
#: NaN for a vector (an empty message for a chat).
FAULTS = (
    "429",
    "429-retry-after",
    "500",
    "503",
    "slow",
    "cut",
    "garbage",
    "nonsense",
    "short",
    "not_finite",
)


@dataclass(frozen=True)
class Request:
    """One request as the server saw it."""

    path: str
    body: dict[str, Any]
    outcome: str
    arrived: float
    key: str


def text_vector(text: str, dimension: int) -> np.ndarray:
    """Vector of a text: a function of its characters only, not of norm 1."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return 3.0 * np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)


class Loopback:
    """The server.

    Parameters
    ----------
    fault_rate : float
        Share of requests that go wrong, drawn from ``faults`` with a seed.
    faults : iterable of str
        Kinds to draw from; see :data:`FAULTS`.
    script : iterable of str, optional
        Outcomes of the first requests, in order: a fault, or ``"ok"``. Comes before ``fault_rate``.
    models : iterable of str
        Models that exist; another one is answered with 404. Empty: every model exists.
    key : str, optional
        The only key that is accepted; others are answered with 401.
    dimension, max_dimension : int
        Length of the vectors without ``dimensions`` in the request, and the longest one allowed.
    max_texts : int
        More inputs in one request are answered with 400.
    answer : callable, optional
        Maps the messages of a chat to the text of the reply.
    retry_after, slow_seconds : float
        Seconds in the ``Retry-After`` header, and of a slow answer.
    """

    def __init__(
        self,
        fault_rate: float = 0.0,
        faults: Iterable[str] = ("429", "429-retry-after", "500", "cut", "garbage", "short"),
        script: Iterable[str] = (),
        models: Iterable[str] = (),
        key: str | None = None,
        dimension: int = 16,
        max_dimension: int = 64,
        max_texts: int = 2048,
        answer: Callable[[list[dict[str, Any]]], str] | None = None,
        retry_after: float = 0.05,
        slow_seconds: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.fault_rate = fault_rate
        self.faults = tuple(faults)
        unknown = set(self.faults) - set(FAULTS)
        if unknown:
            raise ValueError(f"unknown faults {sorted(unknown)}; known are {FAULTS}")
        self.models = tuple(models)
        self.finish_reason = "stop"
        self.key = key
        self.dimension = dimension
        self.max_dimension = max_dimension
        self.max_texts = max_texts
        self.answer = answer or (lambda messages: "LOOP")
        self.retry_after = retry_after
        self.slow_seconds = slow_seconds
        self.requests: list[Request] = []
        self.paid: Counter[str] = Counter()
        self.routes: dict[tuple[str, str], Callable[..., tuple[int, Any]]] = {
            ("POST", "/v1/embeddings"): _embeddings,
            ("POST", "/v1/chat/completions"): _chat,
            ("GET", "/v1/models"): _models,
        }
        self._script: Iterator[str] = iter(tuple(script))
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    @property
    def base_url(self) -> str:
        """What a client takes as its base address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def outcomes(self) -> Counter[str]:
        """How many requests ended how."""
        with self._lock:
            return Counter(r.outcome for r in self.requests)

    def __enter__(self) -> Loopback:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def next_outcome(self) -> str:
        """Decide what happens to the request that has just arrived."""
        with self._lock:
            scripted = next(self._script, None)
            if scripted is not None:
                return scripted
            if self._random.random() < self.fault_rate:
                return self._random.choice(self.faults)
            return "ok"

    def record(self, request: Request, texts: Iterable[str] = ()) -> None:
        """Note a request, and the texts that a client has to pay for (answered with 200)."""
        with self._lock:
            self.requests.append(request)
            self.paid.update(texts)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    owner: Loopback

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the game."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def _serve(self, method: str) -> None:
        owner = self.server.owner
        arrived = time.monotonic()
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        key = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        try:
            body = json.loads(raw) if raw else {}
        except ValueError:
            body = {}
        path = self.path.split("?")[0]

        def note(outcome: str, texts: Iterable[str] = ()) -> None:
            owner.record(Request(path, body, outcome, arrived, key), texts)

        route = owner.routes.get((method, path))
        if route is None:
            note("404")
            return self._send(404, _error("unknown address"))
        if owner.key is not None and key != owner.key:
            note("401")
            return self._send(401, _error(f"Incorrect API key provided: {key}"))
        model = body.get("model")
        if method == "POST" and owner.models and model is not None and model not in owner.models:
            note("404")
            return self._send(404, _error(f"The model {model!r} does not exist", "model_not_found"))
        outcome = owner.next_outcome()
        if outcome in ("429", "500", "503"):
            note(outcome)
            return self._send(int(outcome), _error("try later"))
        if outcome == "429-retry-after":
            note(outcome)
            return self._send(429, _error("slow down"), {"Retry-After": f"{owner.retry_after:g}"})
        if outcome == "garbage":
            note(outcome)
            return self._send(200, b"<html>this is not JSON")
        if outcome == "nonsense":
            note(outcome)
            return self._send(200, {"surprise": [1, 2, 3]})
        if outcome == "slow":
            time.sleep(owner.slow_seconds)
        status, answer = route(owner, self, body)
        if outcome == "short":
            for name in ("data", "choices"):
                if name in answer:
                    answer[name] = answer[name][:-1]
        if outcome == "not_finite":
            for item in answer.get("data", []):
                item["embedding"] = [float("nan")] * owner.dimension
            for item in answer.get("choices", []):
                item["message"]["content"] = ""
        if outcome == "cut":
            note(outcome)
            return self._cut(answer)
        # A slow answer that the client no longer waits for is not counted as received.
        usable = status == 200 and outcome in ("ok", "slow")
        texts = body.get("input", []) if usable else []
        note(
            outcome if status == 200 else str(status), [texts] if isinstance(texts, str) else texts
        )
        return self._send(status, answer)

    def _send(self, status: int, content: Any, headers: dict[str, str] | None = None) -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _cut(self, content: Any) -> None:
        data = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2])
        self.wfile.flush()
        self.close_connection = True
        # Reset rather than close, as a machine does that goes away.
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()


def _error(message: str, code: str = "error") -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code}}


def _embeddings(owner: Loopback, handler: Any, body: dict[str, Any]) -> tuple[int, Any]:
    texts = body.get("input")
    texts = [texts] if isinstance(texts, str) else texts
    dimension = body.get("dimensions", owner.dimension)
    if (
        not texts
        or len(texts) > owner.max_texts
        or not all(isinstance(t, str) and t for t in texts)
    ):
        return 400, _error(f"bad input {texts}")
    if not 1 <= dimension <= owner.max_dimension:
        return 400, _error("bad dimensions")
    vectors = [text_vector(t, dimension) for t in texts]
    data: list[dict[str, Any]] = []
    for i, vector in enumerate(vectors):
        shown: Any = vector.tolist()
        if body.get("encoding_format") == "base64":
            shown = base64.b64encode(vector.astype("<f4").tobytes()).decode()
        data.append({"object": "embedding", "index": i, "embedding": shown})
    # The protocol numbers the vectors; a client must not rely on their order.
    data.reverse()
    used = sum(len(t) // 4 + 1 for t in texts)
    usage = {"prompt_tokens": used, "total_tokens": used}
    return 200, {"object": "list", "data": data, "model": body.get("model"), "usage": usage}


def _chat(owner: Loopback, handler: Any, body: dict[str, Any]) -> tuple[int, Any]:
    messages = body.get("messages")
    if not messages:
        return 400, _error("no messages")
    reply = owner.answer(messages)
    asked = sum(len(str(m.get("content", ""))) for m in messages) // 4 + 1
    used = {"prompt_tokens": asked, "completion_tokens": len(reply) // 4 + 1}
    return 200, {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model"),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": reply},
                "finish_reason": owner.finish_reason,
            }
        ],
        "usage": {**used, "total_tokens": sum(used.values())},
    }


def _models(owner: Loopback, handler: Any, body: dict[str, Any]) -> tuple[int, Any]:
    return 200, {"object": "list", "data": [{"id": m, "object": "model"} for m in owner.models]}
