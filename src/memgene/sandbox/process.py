"""A worker's process as the parent sees it: to be killed, waited for, and asked how it ended."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time
from typing import Final

from memgene.sandbox.launch import Zygote, ZygoteGoneError
from memgene.sandbox.limits import Limits

_REAP: Final = 5.0


class Process:
    """A worker's process: can be killed at once, and asked how it ended."""

    def __init__(self, zygote: Zygote, token: int) -> None:
        self.pid = 0
        self.token = token
        self.status: int | None = None
        self._zygote = zygote
        self._descriptor: int | None = None
        self._lock = threading.Lock()
        self._ended = False

    def known(self, pid: int) -> None:
        """It said hello: from now on it can be killed without the zygote's help."""
        self.pid = pid
        if sys.platform == "linux":
            with contextlib.suppress(OSError):  # an old kernel: the zygote kills it
                self._descriptor = os.pidfd_open(pid)

    def kill(self) -> None:
        """Send SIGKILL. Does not wait."""
        with self._lock:
            mine = not self._ended and os.getpid() == self._zygote.owner
            if mine and self._descriptor is not None and sys.platform == "linux":
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    def await_end(self, seconds: float) -> bool:
        """Wait until it ends by itself; whether it did."""
        with self._lock:
            if self._ended:
                return True
            if self._descriptor is not None:
                return self._await_descriptor(seconds)
            return self._ask_until(time.monotonic() + seconds)

    def end(self) -> int | None:
        """Kill it if it lives, wait until it is gone; exit code or minus the signal, None if the
        zygote is gone and cannot say."""
        self.kill()
        with self._lock:
            if not self._ended:
                self._ended = True
                if os.getpid() == self._zygote.owner:
                    self._await_descriptor(_REAP)
                    self._reap()
                if self._descriptor is not None:
                    os.close(self._descriptor)
                    self._descriptor = None
            return self.status

    def abandon(self) -> None:
        """Kill it without waiting, and without a lock: garbage collection may come at any moment,
        also while this thread speaks with the zygote."""
        if os.getpid() == self._zygote.owner:
            if self._descriptor is not None and sys.platform == "linux":
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)
            self._zygote.end_later(self.token)
        if self._descriptor is not None:
            os.close(self._descriptor)

    def _await_descriptor(self, seconds: float) -> bool:
        if self._descriptor is None:
            return False
        waiting = select.poll()
        waiting.register(self._descriptor, select.POLLIN)
        return bool(waiting.poll(1000 * seconds))

    def _reap(self) -> None:
        with contextlib.suppress(ZygoteGoneError):  # then the kernel has killed the worker
            status = self._zygote.end(self.token)
            self.status = self.status if status is None else status

    def _ask_until(self, deadline: float) -> bool:
        while time.monotonic() < deadline:
            try:
                self.status = self._zygote.wait(self.token)
            except ZygoteGoneError:
                return True
            if self.status is not None:
                return True
            time.sleep(0.005)
        return False


def ending(status: int | None, limits: Limits) -> str:
    """How a process ended, in words."""
    if status is None:
        return "its process ended, and so did the one that started it"
    if status >= 0:
        return f"its process exited with code {status}"
    if status == -signal.SIGXCPU:
        return f"killed, for it used more than {limits.cpu_seconds} s of processor time"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    hint = " (a forbidden system call)" if name == "SIGSYS" else ""
    return f"its process was ended by {name}{hint}"
