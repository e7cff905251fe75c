"""The worker's side of the protocol: answers calls of the parent, makes calls to the host.

A guest module has two functions: `prepare() -> None`, run once in the zygote (import there all
that will be needed: later only the standard library can be read), and
`begin(first, host) -> (loaded, methods)`, run in each worker.
"""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable, Mapping
from types import ModuleType, TracebackType
from typing import Any, Final

from memgene.sandbox.failure import FailureKind
from memgene.sandbox.wire import HEADER, EncodeError, TooLargeError, decode_own, encode

_READ: Final = 1 << 15
_MESSAGE: Final = 2000
_DETAIL: Final = 1500
_FRAMES: Final = 12


class HostError(RuntimeError):
    """A host call failed; the message is the parent's."""


class Link:
    """Blocking frames over a descriptor: the worker waits as long as its parent lets it live."""

    def __init__(self, descriptor: int, limit: int) -> None:
        self._descriptor = descriptor
        self._limit = limit
        self._rest = b""

    def send(self, message: Any) -> None:
        """Encode and send."""
        self.send_frame(self.frame(message))

    def frame(self, message: Any) -> bytes:
        """Encode. Raises EncodeError, TooLargeError."""
        return encode(message, self._limit)

    def send_frame(self, frame: bytes) -> None:
        """Send an encoded frame."""
        sent = os.write(self._descriptor, frame)
        while sent < len(frame):
            sent += os.write(self._descriptor, memoryview(frame)[sent:])

    def receive(self) -> Any:
        """The next message. Raises EOFError when the parent is gone."""
        data = self._rest or self._read(_READ)
        while len(data) < HEADER.size:
            data += self._read(_READ)
        end = HEADER.size + HEADER.unpack_from(data)[0]
        if len(data) < end:
            parts, have = [data], len(data)
            while have < end:
                parts.append(self._read(max(_READ, end - have)))
                have += len(parts[-1])
            data = b"".join(parts)
        self._rest = data[end:]
        return decode_own(data[HEADER.size : end])

    def _read(self, size: int) -> bytes:
        data = os.read(self._descriptor, size)
        if not data:
            raise EOFError
        return data


class Host:
    """The parent as a guest sees it. One request at a time, and only while the parent waits."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._lock = threading.Lock()
        self._awaited = False

    def call(self, name: str, params: Mapping[str, Any]) -> Any:
        """Ask the parent. Raises HostError when it refuses or fails, or nobody waits."""
        with self._lock:
            if not self._awaited:
                raise HostError(f"host call {name!r} outside of a call of the parent")
            try:
                frame = self._link.frame({"host": name, "params": params})
            except (EncodeError, TooLargeError) as problem:
                raise HostError(f"host call {name!r} cannot be sent: {problem}") from None
            self._link.send_frame(frame)
            answer = self._link.receive()
        if "value" in answer:
            return answer["value"]
        raise HostError(answer["failed"])

    def begin_call(self) -> None:
        """From now on the parent waits."""
        with self._lock:
            self._awaited = True

    def end_call(self, frame: bytes) -> None:
        """Answer the parent; it no longer waits."""
        with self._lock:
            self._awaited = False
            self._link.send_frame(frame)


def serve(guest: ModuleType, link: Link) -> None:
    """Load the guest with the parent's first message, then answer calls until the parent goes."""
    host = Host(link)
    methods: dict[str, Callable[[Any], Any]] = {}

    def begin(first: Any) -> Any:
        loaded, offered = guest.begin(first, host)
        methods.update(offered)
        return loaded

    if not _answer(link, host, begin, link.receive()["first"]):
        return
    while True:
        try:
            message = link.receive()
        except EOFError:
            return
        method = methods.get(message["call"])
        if method is None:
            method = _unknown(message["call"])
        if not _answer(link, host, method, message["params"]):
            return


def _unknown(name: str) -> Callable[[Any], Any]:
    def missing(params: Any) -> Any:
        raise LookupError(f"the guest has no method {name!r}")

    return missing


def _answer(link: Link, host: Host, action: Callable[[Any], Any], params: Any) -> bool:
    """Run and reply; False when the guest asked to end."""
    host.begin_call()
    reply = _attempt(action, params)
    try:
        frame = link.frame(reply)
    except MemoryError:
        frame = link.frame(_failure(FailureKind.MEMORY, "out of memory while returning"))
    except (EncodeError, TooLargeError) as problem:
        said = "its result is too large" if isinstance(problem, TooLargeError) else "not JSON"
        frame = link.frame(_failure(FailureKind.OUTPUT, f"{said}: {problem}"))
    del params
    host.end_call(frame)
    error = reply.get("error")
    return error is None or error["kind"] != FailureKind.ENDED


def _attempt(action: Callable[[Any], Any], params: Any) -> dict[str, Any]:
    try:
        return {"value": action(params)}
    except MemoryError as problem:
        return _failure(FailureKind.MEMORY, f"out of memory: {_text(problem)}"[:_MESSAGE])
    except (SystemExit, KeyboardInterrupt) as problem:
        return _failure(FailureKind.ENDED, f"raised {_text(problem)}", problem)
    except BaseException as problem:  # noqa: BLE001 - whatever a guest raises is its result
        return _failure(FailureKind.RAISED, _text(problem), problem)


def _failure(
    kind: FailureKind, message: str, problem: BaseException | None = None
) -> dict[str, Any]:
    detail = "" if problem is None else _printable(_trace(problem))[-_DETAIL:]
    return {"error": {"kind": kind.value, "message": _printable(message), "detail": detail}}


def _text(problem: BaseException) -> str:
    """`ValueError: what it says`, also of exceptions that cannot be printed."""
    name = type(problem).__name__
    try:
        said = str(problem)
    except BaseException:  # noqa: BLE001 - the guest's own __str__
        said = "(its message cannot be printed)"
    return (f"{name}: {said}" if said else name)[:_MESSAGE]


def _trace(problem: BaseException) -> str:
    """The end of the traceback, from the guest's first frame on."""
    try:
        own = _without_ours(problem.__traceback__)
        lines = traceback.format_exception(type(problem), problem, own, limit=-_FRAMES, chain=False)
    except BaseException:  # noqa: BLE001 - the guest's own attributes, or no memory
        return ""
    return "".join(lines)


def _without_ours(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
