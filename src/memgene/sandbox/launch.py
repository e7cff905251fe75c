"""The parent's side of a zygote: starts the process, asks it for workers."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Final

from memgene.core import MemgeneError
from memgene.sandbox import bubble
from memgene.sandbox.channel import Channel, ClosedError, DeadlineError
from memgene.sandbox.failure import SandboxUnavailableError
from memgene.sandbox.levels import Probe
from memgene.sandbox.limits import Limits
from memgene.sandbox.wire import FrameError, TooLargeError, encode

_CONTROL_LIMIT: Final = 1 << 20
_CONTROL_SECONDS: Final = 30.0
_LAUNCH_SECONDS: Final = 120.0
_END_SECONDS: Final = 5.0
_KEPT: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME")
_SET: Final = {
    "HOME": "/",  # libraries ask for it when they are imported
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TZ": "UTC",
}
_START: Final = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[3]); "
    "from memgene.sandbox.zygote import main; main(int(sys.argv[1]), sys.argv[2])"
)


class ZygoteGoneError(MemgeneError):
    """The zygote has ended or does not answer."""


class Zygote:
    """A running zygote. Thread-safe."""

    def __init__(self, guest: str, probe: Probe, paths: Sequence[str], event_loop: bool) -> None:
        self.owner = os.getpid()
        self._tokens = itertools.count()
        self._lock = threading.Lock()
        self._left: list[int] = []
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with it
        ours, theirs = socket.socketpair()
        self._channel = Channel(ours, _CONTROL_LIMIT)
        try:
            with theirs:
                settings = {"guest": guest, "event_loop": event_loop, "parent": self.owner}
                self._process = _launch(settings, probe, paths, theirs, self._errors)
            self._await_ready(guest)
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._process.poll() is None

    def token(self) -> int:
        """A fresh name for a worker."""
        return next(self._tokens)

    def fork(self, token: int, connection: socket.socket, limits: Limits) -> None:
        """Ask for a worker that speaks over `connection`. Raises ZygoteGoneError."""
        request = {"do": "fork", "id": token, "limits": asdict(limits)}
        frame = encode(request, _CONTROL_LIMIT)
        with self._asking():
            self._channel.send_descriptor(frame, connection.fileno(), _deadline())

    def wait(self, token: int) -> int | None:
        """How a worker ended: exit code, or minus the signal; None while it lives."""
        return self._ask("wait", token)

    def end(self, token: int) -> int | None:
        """Kill a worker and wait for its end; None if that was known before."""
        return self._ask("end", token)

    def end_later(self, token: int) -> None:
        """Have a worker killed and waited for at the next request. Takes no lock."""
        self._left.append(token)

    def close(self) -> None:
        """End the process and with it every worker."""
        self._channel.close()
        process: subprocess.Popen[bytes] | None = getattr(self, "_process", None)
        if process is not None and os.getpid() == self.owner:
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._errors.close()

    def _ask(self, what: str, token: int) -> int | None:
        with self._asking():
            return self._exchange(what, token)

    def _exchange(self, what: str, token: int) -> int | None:
        self._channel.send(encode({"do": what, "id": token}, _CONTROL_LIMIT), _deadline())
        status: int | None = self._channel.receive(_deadline())["status"]
        return status

    @contextlib.contextmanager
    def _asking(self) -> Iterator[None]:
        """One exchange at a time. One that was cut short leaves the order of answers unknown: the
        zygote is given up."""
        with self._lock:
            try:
                while self._left:
                    self._exchange("end", self._left.pop())
                yield
            except (ClosedError, DeadlineError, FrameError, TooLargeError) as problem:
                self._channel.close()
                raise ZygoteGoneError(
                    f"the sandbox process {self.pid} does not answer ({problem})"
                ) from None
            except BaseException:
                self._channel.close()
                raise

    def _await_ready(self, guest: str) -> None:
        try:
            answer = self._channel.receive(time.monotonic() + _LAUNCH_SECONDS)
        except ClosedError:
            answer = {"failed": self._complaint()}
        except DeadlineError:
            answer = {"failed": f"it was not ready after {_LAUNCH_SECONDS:.0f} s"}
        if "ready" not in answer:
            raise SandboxUnavailableError(
                f"the sandbox process for {guest} did not start: {answer['failed']}"
            )

    def _complaint(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_SECONDS)
        self._errors.seek(0)
        said = self._errors.read()[-2000:].decode(errors="replace").strip()
        return said or f"it ended with status {self._process.returncode}"


def _deadline() -> float:
    return time.monotonic() + _CONTROL_SECONDS


def _launch(
    asked: Mapping[str, Any],
    probe: Probe,
    paths: Sequence[str],
    theirs: socket.socket,
    errors: IO[bytes],
) -> subprocess.Popen[bytes]:
    path = _import_path(paths)
    settings = {
        **asked,
        "landlock": probe.landlock,
        "seccomp": probe.seccomp,
        "bubble": probe.bubblewrap is not None,
    }
    flags = ["-s", "-P", "-S", "-B", "-X", "utf8", "-c", _START]
    handed = [str(theirs.fileno()), json.dumps(settings), json.dumps(path)]
    command = [sys.executable, *flags, *handed]
    if probe.bubblewrap is not None:
        command = bubble.wrap(probe.bubblewrap, [bubble.python(), *command[1:]], path)
    return subprocess.Popen(
        command,
        env={**_SET, **{name: os.environ[name] for name in _KEPT if name in os.environ}},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        pass_fds=[theirs.fileno()],
        start_new_session=True,
        cwd="/",
    )


def _import_path(paths: Sequence[str]) -> list[str]:
    """Where the zygote finds modules: what was asked for, memgene itself, what is found here."""
    own = str(Path(__file__).resolve().parents[2])
    wanted = [*paths, own, *(path for path in sys.path if path)]
    return [str(Path(path).absolute()) for path in dict.fromkeys(wanted)]
