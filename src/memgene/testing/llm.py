"""Doubles of language models: one that says what it is told to, and a server that misbehaves."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from memgene.llm.protocol import Reply, Request

Scripted = str | Reply | Exception


class ScriptedLLM:
    """An LLM whose replies are given: one for each call, or a function of the request.

    `requests` keeps what it was asked. An exception in the script is raised in place of a reply; a
    call beyond its end is an AssertionError. Thread-safe.
    """

    def __init__(
        self,
        replies: Sequence[Scripted] | Callable[[Request], str | Reply],
        *,
        name: str = "scripted",
        constrains: bool = False,
        concurrency: int = 1,
    ) -> None:
        self.name = name
        self.identity = name
        self.constrains = constrains
        self.concurrency = concurrency
        self.requests: list[Request] = []
        self._replies = replies
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Reply:
        """The next reply of the script."""
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
        if callable(self._replies):
            said: Scripted = self._replies(request)
        elif number <= len(self._replies):
            said = self._replies[number - 1]
        else:
            raise AssertionError(
                f"ScriptedLLM was called {number} times, its script has {len(self._replies)} "
                f"replies; the last message: {request.messages[-1].content!r}"
            )
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, Reply) else Reply(said)

    def close(self) -> None:
        """Nothing is open."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What a FaultyServer does with one call. Made by the functions below."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    claimed: int | None = None
    closes: bool = False


def answers(text: str | None, finish: str | None = "stop", **message: Any) -> Behaviour:
    """A chat completion; `message` holds further fields of the message, e.g. `refusal`."""
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", "content": text, **message},
    }
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return says(200, {"object": "chat.completion", "choices": [choice], "usage": usage})


def says(status: int, body: Any, headers: Mapping[str, str] | None = None) -> Behaviour:
    """Any status with any JSON."""
    return Behaviour(status, json.dumps(body).encode(), headers or {})


def refuses(
    status: int,
    message: str = "no",
    *,
    param: str | None = None,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Behaviour:
    """An error as OpenAI words it."""
    error = {"message": message, "type": "error", "param": param, "code": code}
    return says(status, {"error": error}, headers)


def times_out(seconds: float = 30.0) -> Behaviour:
    """No answer for so long, or until the server closes."""
    return Behaviour(wait=seconds, closes=True)


def half_json(*, cut_off: bool = False) -> Behaviour:
    """The first half of a chat completion; with `cut_off` the headers promise the whole of it."""
    whole = answers("never read to its end").body
    return Behaviour(body=whole[: len(whole) // 2], claimed=len(whole) if cut_off else None)


def closes() -> Behaviour:
    """The connection ends without a word."""
    return Behaviour(closes=True)


class FaultyServer:
    """A local HTTP server that speaks /v1/chat/completions as its script says.

    Each call takes the next behaviour; after the last one, `then` for ever. A context manager;
    `url` ends in /v1; `bodies` and `headers` (names in lower case) keep what was asked, in order.
    """

    def __init__(self, script: Iterable[Behaviour] = (), then: Behaviour | None = None) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.at_once = 0
        self._busy = 0
        self._script = list(script)
        self._then = answers("ok") if then is None else then
        self._lock = threading.Lock()
        self._closing = threading.Event()
        handler = type("Handler", (_Handler,), {"owner": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = False  # closing waits for the calls under way
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def url(self) -> str:
        """Its base_url."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop, ending every wait."""
        self._closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Behaviour:
        """Note a call; returns what to do with it."""
        with self._lock:
            self.bodies.append(body)
            self.headers.append(headers)
            self._busy += 1
            self.at_once = max(self.at_once, self._busy)
            behaviour = self._script.pop(0) if self._script else self._then
        if behaviour.wait:
            self._closing.wait(behaviour.wait)
        # Before the reply leaves: whoever has it may call again before this thread runs on.
        with self._lock:
            self._busy -= 1
        return behaviour


class _Handler(BaseHTTPRequestHandler):
    owner: FaultyServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/chat/completions":
            self._send(refuses(404, f"no such path: {self.path}"))
            return
        behaviour = self.owner.take(body, {k.lower(): v for k, v in self.headers.items()})
        if behaviour.closes:
            self.close_connection = True
            return
        self._send(behaviour)

    def _send(self, behaviour: Behaviour) -> None:
        self.send_response(behaviour.status)
        self.send_header("Content-Type", "application/json")
        for name, value in behaviour.headers.items():
            self.send_header(name, value)
        length = len(behaviour.body) if behaviour.claimed is None else behaviour.claimed
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(behaviour.body)

    def log_message(self, format: str, *args: Any) -> None:
        """Silence."""


def shortest_reply(request: Request) -> str:
    """The shortest reply that fits the schema of a request (`none` without one): strings are `x`,
    numbers 1, arrays have one item, the first of several choices is taken. For `ScriptedLLM`."""
    return (
        "none" if request.schema is None else json.dumps(_fitting(request.schema, request.schema))
    )


def _fitting(schema: Mapping[str, Any], whole: Mapping[str, Any]) -> Any:
    if "$ref" in schema:
        return _fitting(whole["$defs"][schema["$ref"].rsplit("/", 1)[1]], whole)
    if "anyOf" in schema:
        return _fitting(schema["anyOf"][0], whole)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    if kind == "object":
        return {name: _fitting(part, whole) for name, part in schema["properties"].items()}
    if kind == "array":
        return [_fitting(schema["items"], whole)]
    return {"string": "x", "boolean": True, "null": None}.get(kind, 1)
