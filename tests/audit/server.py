"""The loopback server with a language model that guesses tickers, a till, and batches."""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from typing import Any

from tests import loopback


class ModelServer(loopback.Loopback):
    """Answers chats, counts what it charges, and runs batches.

    Parameters
    ----------
    strangers : float
        Share of chats that another model answers, chosen by a counter.
    polls : int
        Looks at a batch before it is done.
    batch_fault : callable, optional
        From a custom_id and the times it was seen to a status other than 200, or None.
    """

    def __init__(self, *, strangers=0.0, polls=2, batch_fault=None, **more: Any) -> None:
        super().__init__(**more)
        self.strangers = strangers
        self.polls = polls
        self.batch_fault = batch_fault or (lambda key, seen: None)
        self.charged: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.in_flight = self.most_in_flight = 0
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict] = {}
        self.seen: Counter[str] = Counter()
        self.lose_next_batch = False
        self.till = threading.Lock()
        self._chats = 0
        self.routes[("POST", "/v1/chat/completions")] = chat
        self.routes[("POST", "/v1/batches")] = create_batch
        self.routes[("GET", "/v1/batches")] = list_batches
        self._server.RequestHandlerClass = Handler

    def charge(self, usage: dict[str, int]) -> None:
        with self.till:
            self.charged.update(usage)


class Handler(loopback._Handler):
    """Routes with a part that varies, and uploads."""

    server: Any

    def _serve(self, method: str) -> None:
        owner = self.server.owner
        path = self.path.split("?")[0]
        if method == "POST" and path == "/v1/files":
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            boundary = self.headers["Content-Type"].split("boundary=")[1].encode()
            part = next(p for p in raw.split(b"--" + boundary) if b"filename=" in p)
            name = f"file-{len(owner.files)}"
            owner.files[name] = part.split(b"\r\n\r\n", 1)[1].removesuffix(b"\r\n")
            return self._send(200, {"id": name, "object": "file", "purpose": "batch"})
        if found := re.fullmatch(r"/v1/files/([^/]+)/content", path):
            return self._send(200, owner.files[found[1]])
        if found := re.fullmatch(r"/v1/batches/([^/]+)", path):
            return self._send(200, look_at(owner, found[1]))
        return super()._serve(method)


def chat(owner: ModelServer, handler: Any, body: dict) -> tuple[int, Any]:
    with owner.till:
        owner.in_flight += 1
        owner.most_in_flight = max(owner.most_in_flight, owner.in_flight)
        owner._chats += 1
        strange = owner.strangers and owner._chats % round(1 / owner.strangers) == 0
    try:
        status, answer = loopback._chat(owner, handler, body)
        if status != 200:
            return status, answer
        if strange:
            answer["model"] = "somebody-else"
        owner.charge(answer["usage"])
        return status, answer
    finally:
        with owner.till:
            owner.in_flight -= 1


def create_batch(owner: ModelServer, handler: Any, body: dict) -> tuple[int, Any]:
    name = f"batch-{len(owner.batches)}"
    owner.batches[name] = {
        "id": name,
        "object": "batch",
        "endpoint": body["endpoint"],
        "completion_window": body["completion_window"],
        "created_at": 0,
        "input_file_id": body["input_file_id"],
        "metadata": body["metadata"],
        "status": "validating",
        "left": owner.polls,
    }
    if owner.lose_next_batch:
        owner.lose_next_batch = False
        return 500, loopback._error("the answer got lost")
    return 200, owner.batches[name]


def list_batches(owner: ModelServer, handler: Any, body: dict) -> tuple[int, Any]:
    return 200, {"object": "list", "data": list(owner.batches.values()), "has_more": False}


def look_at(owner: ModelServer, name: str) -> dict:
    batch = owner.batches[name]
    if batch["status"] != "completed":
        batch["left"] -= 1
        batch["status"] = "in_progress"
        if batch["left"] <= 0:
            finish(owner, batch)
    return batch


def finish(owner: ModelServer, batch: dict) -> None:
    good, bad = [b"not JSON"], []
    for line in owner.files[batch["input_file_id"]].splitlines():
        item = json.loads(line)
        key = item["custom_id"]
        owner.seen[key] += 1
        status = owner.batch_fault(key, owner.seen[key])
        if status is not None:
            response = {"status_code": status, "body": loopback._error("no")}
            bad.append(json.dumps({"custom_id": key, "response": response}).encode())
            continue
        _, answer = loopback._chat(owner, None, item["body"])
        owner.charge(answer["usage"])
        owner.answered[key] += 1
        response = {"status_code": 200, "body": answer}
        good.append(json.dumps({"custom_id": key, "response": response, "error": None}).encode())
    batch["status"] = "completed"
    for field, lines in (("output_file_id", good), ("error_file_id", bad)):
        batch[field] = f"file-{len(owner.files)}"
        owner.files[batch[field]] = b"\n".join(lines)
