"""The zygote: a fresh Python process with the guest's imports done, which forks workers.

It never holds anything of a run: it is started by exec with a clean environment, and the parent's
first message goes to the worker's own socket. It has one thread, so forking it is safe whatever
threads the parent has. It ends when the parent does.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import importlib.util
import json
import os
import select
import signal
import socket
import sys
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from memgene.sandbox import confine
from memgene.sandbox.guest import Link, serve
from memgene.sandbox.landlock import library_roots
from memgene.sandbox.limits import Limits
from memgene.sandbox.wire import HEADER, decode, encode

_CONTROL_LIMIT: Final = 1 << 20


@dataclass(slots=True)
class _Zygote:
    control: socket.socket
    parent: int | None
    guest: ModuleType
    confinement: confine.Confinement
    workers: dict[int, int] = field(default_factory=dict)

    def run(self) -> None:
        """Serve the parent until it is gone, then end every worker."""
        waiting = select.poll()
        waiting.register(self.control, select.POLLIN)
        if self.parent is not None:
            waiting.register(self.parent, select.POLLIN)
        try:
            while self._serve({descriptor for descriptor, _ in waiting.poll()}):
                pass
        finally:
            for pid in self.workers.values():
                _kill(pid)

    def _serve(self, ready: set[int]) -> bool:
        if self.control.fileno() not in ready:
            return False
        request, passed = _receive(self.control)
        if request is None:
            return False
        token = request["id"]
        if request["do"] == "fork":
            self._fork(token, Limits(**request["limits"]), passed[0])
        else:
            found = self._wait(token) if request["do"] == "wait" else self._end(token)
            self.control.sendall(encode({"id": token, "status": found}, _CONTROL_LIMIT))
        return True

    def _fork(self, token: int, limits: Limits, connection: int) -> None:
        zygote = os.getpid()
        try:
            pid = os.fork()
        except OSError as problem:
            Link(connection, _CONTROL_LIMIT).send({"failed": f"fork: {problem}"})
            os.close(connection)
            return
        if not pid:
            _work(self, limits, connection, zygote)
        os.close(connection)
        self.workers[token] = pid

    def _wait(self, token: int) -> int | None:
        """How a worker ended, if it has: exit code, or minus the signal."""
        known = self.workers.get(token)
        if known is None:
            return None
        pid, status = os.waitpid(known, os.WNOHANG)
        if not pid:
            return None
        del self.workers[token]
        return os.waitstatus_to_exitcode(status)

    def _end(self, token: int) -> int | None:
        """Kill a worker and wait for its end; None if it is known to have ended."""
        pid = self.workers.pop(token, None)
        if pid is None:
            return None
        _kill(pid)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _work(zygote: _Zygote, limits: Limits, connection: int, parent: int) -> None:
    """Be a worker. Never returns."""
    code = 1
    try:
        link = Link(confine.WORKER_SOCKET, limits.message_bytes)
        try:
            confine.enter(zygote.confinement, limits, connection, parent)
        except OSError as problem:
            Link(connection, _CONTROL_LIMIT).send({"failed": str(problem)})
            os._exit(code)
        link.send({"ready": os.getpid()})
        serve(zygote.guest, link)
        code = 0
    finally:
        os._exit(code)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # it is no group leader yet, or ended
        os.killpg(pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _receive(control: socket.socket) -> tuple[Any, list[int]]:
    """A request and the descriptors with it; None when the parent is gone."""
    data, passed, _, _ = socket.recv_fds(control, HEADER.size, 1)
    while data and (missing := _missing(data)):
        more = control.recv(missing)
        data = data + more if more else b""
    return (decode(data[HEADER.size :]) if data else None), passed


def _missing(data: bytes) -> int:
    if len(data) < HEADER.size:
        return HEADER.size - len(data)
    return int(HEADER.unpack_from(data)[0]) + HEADER.size - len(data)


def _load(name: str) -> ModuleType:
    """Import the guest and what it needs, and make what is imported cheap to share."""
    guest = importlib.import_module(name)
    guest.prepare()
    if sys.platform == "linux":
        with suppress(OSError):  # a static C library has none
            ctypes.CDLL("libgcc_s.so.1")  # wanted by the C library when a thread ends
        if len(os.listdir("/proc/self/task")) > 1:
            raise RuntimeError(f"importing {name} started threads; then a process cannot fork")
    importlib.util.find_spec("memgene_no_such_module")  # fills the caches of folder contents
    return guest


def _library_only(path: list[str]) -> list[str]:
    """The import path that workers can read."""
    roots = library_roots()
    return [
        entry
        for entry in path
        if not entry.endswith("-packages")
        and any(Path(entry).resolve().is_relative_to(root) for root in roots)
    ]


def main(control_descriptor: int, settings: str) -> None:
    """Entry point, called by the command line `launch` writes."""
    given = json.loads(settings)
    control = socket.socket(fileno=control_descriptor)
    parent = None if given["bubble"] else _watch(given["parent"])
    try:
        guest = _load(given["guest"])
        confinement = confine.prepare(
            use_landlock=given["landlock"],
            use_seccomp=given["seccomp"],
            in_bubble=given["bubble"],
            event_loop=given["event_loop"],
            imported_from=sys.path,
        )
        sys.path[:] = _library_only(sys.path)
    except BaseException:  # noqa: BLE001 - told to the parent, which raises
        text = traceback.format_exc()[-4000:]
        control.sendall(encode({"failed": text}, _CONTROL_LIMIT))
        return
    _forget()
    control.sendall(encode({"ready": os.getpid()}, _CONTROL_LIMIT))
    gc.collect()
    gc.freeze()
    _Zygote(control, parent, guest, confinement).run()


def _watch(parent: int) -> int | None:
    """A descriptor that becomes readable when the parent ends. End of file on the control socket
    says so too, unless another process has inherited the parent's side of it."""
    if sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(parent)
    except OSError:  # an old kernel, or the parent has ended: then the socket is at its end
        return None


def _forget() -> None:
    """Keep no standard streams, environment or arguments."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    if null > 2:
        os.close(null)
    os.chdir("/")
    os.environ.clear()
    sys.argv[:] = [""]
    sys.orig_argv[:] = []
