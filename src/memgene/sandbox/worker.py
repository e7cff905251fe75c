"""One guest process as the parent sees it."""

from __future__ import annotations

import signal
import socket
import sys
import threading
import time
import weakref
from collections.abc import Mapping
from typing import Any, Final

from memgene.core import BudgetExhaustedError, ConfigError, InputError
from memgene.sandbox.channel import Channel, ClosedError, DeadlineError
from memgene.sandbox.failure import FailureKind, GuestError, SandboxUnavailableError
from memgene.sandbox.host import HostCall, HostRefusal
from memgene.sandbox.launch import Zygote, ZygoteGoneError
from memgene.sandbox.limits import Limits
from memgene.sandbox.process import Process, ending
from memgene.sandbox.wire import EncodeError, FrameError, TooLargeError, encode

LOAD: Final = "load"

_GRACE: Final = 0.1
_MESSAGE: Final = 2000
_DETAIL: Final = 1500
_REPORTED: Final = frozenset(
    {FailureKind.RAISED, FailureKind.MEMORY, FailureKind.OUTPUT, FailureKind.ENDED}
)


class Worker:
    """A guest at work. Calls are made one after another; thread-safe, a context manager."""

    loaded: Any
    """What the guest's `begin` returned."""

    def __init__(
        self,
        channel: Channel,
        process: Process,
        host: Mapping[str, HostCall],
        limits: Limits,
        owner: object,
    ) -> None:
        self._owner = owner  # while there is a worker, its sandbox is not collected
        self._channel = channel
        self._process = process
        self._host = host
        self._limits = limits
        self._lock = threading.Lock()
        self._caller: int | None = None
        self._gone = ""
        self._forgotten = weakref.finalize(self, _abandon, channel, process)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether calls can still be made."""
        return not self._gone and not self._process.await_end(0)

    def call(self, method: str, params: Mapping[str, Any], *, seconds: float | None = None) -> Any:
        """Run a method of the guest. JSON in and out.

        Args:
            seconds: of the guest's own time, in place of `Limits.call_seconds`.

        Raises GuestError when the guest fails; InputError when `params` is not JSON; what a host
        call raised as BudgetExhaustedError, ConfigError or no Exception, after ending the worker.
        """
        if self._caller == threading.get_ident():
            raise InputError("a host call must not call the worker that waits for its answer")
        with self._lock:
            if self._gone:
                raise GuestError(
                    FailureKind.GONE, method, f"not called, for its process ended: {self._gone}"
                )
            self._caller = threading.get_ident()
            try:
                frame = self._frame(method, {"call": method, "params": params})
                allowed = self._limits.call_seconds if seconds is None else seconds
                return self._exchange(method, frame, allowed, time.monotonic() + allowed)
            finally:
                self._caller = None

    def close(self) -> None:
        """End the process, also while another thread waits for it."""
        self._gone = self._gone or "it was closed"
        self._process.kill()
        if self._caller == threading.get_ident():
            return  # inside a host call: the call that waits for it finds the process gone
        with self._lock:
            self._end()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, frame: bytes, deadline: float) -> None:
        """Send the first message, learn the process id, wait until the guest is loaded. Called once
        by the sandbox. Raises GuestError; ClosedError when the process ended before it was ready.
        """
        try:
            self._channel.send(frame, deadline)
            hello, sender = self._channel.receive_with_sender(deadline)
            told = _greeting(hello)
            self._process.known(sender or told)
        except DeadlineError:
            raise self._late(LOAD, self._limits.start_seconds) from None
        except BaseException:
            self._drop("it did not start")
            raise
        self.loaded = self._exchange(LOAD, None, self._limits.start_seconds, deadline)

    def _exchange(self, where: str, frame: bytes | None, allowed: float, deadline: float) -> Any:
        """Send, answer the guest's requests, return its reply."""
        refusal: HostRefusal | None = None
        try:
            if frame is not None:
                self._channel.send(frame, deadline)
            reply = self._channel.receive(deadline)
            while isinstance(reply, dict) and "host" in reply:
                asked = time.monotonic()
                answer, refused = self._answer(reply)
                refusal = refusal or refused
                deadline += time.monotonic() - asked  # the guest waited, it did not work
                self._channel.send(answer, deadline)
                reply = self._channel.receive(deadline)
        except DeadlineError:
            raise self._late(where, allowed) from None
        except ClosedError:
            raise self._left(where) from None
        except (FrameError, TooLargeError) as problem:
            raise self._failed(
                FailureKind.PROTOCOL, where, f"what it sent is no message: {problem}"
            ) from None
        except BaseException:
            self._drop(f"{where} was interrupted")
            raise
        return self._result(where, reply, refusal)

    def _answer(self, request: Mapping[str, Any]) -> tuple[bytes, HostRefusal | None]:
        """The frame that answers a host call, and the refusal of a budget if there was one."""
        name, params = request["host"], request.get("params")
        serve = self._host.get(name) if isinstance(name, str) else None
        refusal = None
        answer: dict[str, Any]
        if serve is None or not isinstance(params, dict):
            answer = {"failed": f"no host call {name!r:.100}"}
        else:
            try:
                answer = {"value": serve(params)}
            except (BudgetExhaustedError, ConfigError):
                raise  # the run's own trouble, not this guest's
            except HostRefusal as problem:
                answer, refusal = {"failed": str(problem)}, problem
            except Exception as problem:  # noqa: BLE001 - the guest is told, and may handle it
                answer = {"failed": f"{type(problem).__name__}: {problem}"}
        try:
            return encode(answer, self._limits.message_bytes), refusal
        except TooLargeError as problem:
            failed = {"failed": f"the answer to {name} is too large: {problem}"}
            return encode(failed, self._limits.message_bytes), refusal
        except EncodeError as problem:
            raise InputError(f"the answer to host call {name!r} is not JSON: {problem}") from None

    def _result(self, where: str, reply: Any, refusal: HostRefusal | None) -> Any:
        if not isinstance(reply, dict) or reply.keys() not in ({"value"}, {"error"}):
            raise self._failed(FailureKind.PROTOCOL, where, "what it sent is no reply")
        error = reply.get("error")
        failure = None if error is None else self._reported(where, error)
        if failure is not None and failure.fatal:
            raise failure
        if refusal is not None:
            raise GuestError(FailureKind.BUDGET, where, str(refusal))
        if failure is not None:
            raise failure
        return reply["value"]

    def _reported(self, where: str, error: Any) -> GuestError:
        """The failure a guest reports; its words are cut, for it may report what it likes."""
        try:
            kind = FailureKind(error["kind"])
            message, detail = error["message"][:_MESSAGE], error["detail"][-_DETAIL:]
        except (KeyError, TypeError, ValueError):
            kind, message, detail = FailureKind.PROTOCOL, "", ""
        if kind is FailureKind.ENDED:
            return self._failed(kind, where, message, detail)
        if kind not in _REPORTED or not isinstance(message, str) or not isinstance(detail, str):
            return self._failed(FailureKind.PROTOCOL, where, "what it sent is no reply")
        return GuestError(kind, where, message, detail)

    def _frame(self, method: str, message: Mapping[str, Any]) -> bytes:
        try:
            return encode(message, self._limits.message_bytes)
        except TooLargeError as problem:
            raise GuestError(
                FailureKind.OUTPUT, method, f"the message to it is too large: {problem}"
            ) from None
        except EncodeError as problem:
            raise InputError(f"parameters of {method!r} are not JSON: {problem}") from None

    def _late(self, where: str, allowed: float) -> GuestError:
        said = f"killed, for it took more than {allowed:g} s"
        return self._failed(FailureKind.TIME, where, said)

    def _left(self, where: str) -> GuestError:
        """The socket is closed: how did the process end?"""
        if not self._process.await_end(_GRACE):
            return self._failed(FailureKind.PROTOCOL, where, "killed, for it closed its connection")
        status = self._process.end()
        kind = FailureKind.TIME if status == -signal.SIGXCPU else FailureKind.ENDED
        return self._failed(kind, where, ending(status, self._limits))

    def _failed(self, kind: FailureKind, where: str, message: str, detail: str = "") -> GuestError:
        """A failure after which the process is gone."""
        failure = GuestError(kind, where, message, detail)
        self._drop(str(failure))
        return failure

    def _end(self) -> None:
        self._forgotten.detach()
        _end(self._channel, self._process)

    def _drop(self, why: str) -> None:
        self._gone = self._gone or why
        self._end()


def start(
    owner: object, zygote: Zygote, frame: bytes, host: Mapping[str, HostCall], limits: Limits
) -> Worker:
    """A worker of a zygote of `owner`, its guest loaded with the message in `frame`.

    Raises GuestError when the guest fails, ZygoteGoneError when there is nobody to fork it.
    """
    deadline = time.monotonic() + limits.start_seconds
    ours, theirs = socket.socketpair()
    if sys.platform == "linux":
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    process = Process(zygote, zygote.token())
    channel = Channel(ours, limits.message_bytes)
    try:
        with theirs:
            zygote.fork(process.token, theirs, limits)
        worker = Worker(channel, process, host, limits, owner)
        worker.begin(frame, deadline)
    except ClosedError:
        _end(channel, process)
        if zygote.running:
            said = f"ended before it was ready: {ending(process.status, limits)}"
            raise GuestError(FailureKind.ENDED, LOAD, said) from None
        raise ZygoteGoneError(f"the sandbox process {zygote.pid} has ended") from None
    except BaseException:
        _end(channel, process)
        raise
    return worker


def _greeting(hello: Any) -> int:
    """The process id a worker tells, when it is locked down."""
    if "ready" not in hello:
        raise SandboxUnavailableError(f"a worker was not locked down: {hello['failed']}")
    return int(hello["ready"])


def _end(channel: Channel, process: Process) -> None:
    process.end()
    channel.close()


def _abandon(channel: Channel, process: Process) -> None:
    process.abandon()
    channel.close()
