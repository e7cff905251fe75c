"""A sandbox: one zygote, and a fresh locked-down process for each guest."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memgene.core import InputError
from memgene.sandbox.failure import SandboxUnavailableError
from memgene.sandbox.host import HostCall
from memgene.sandbox.launch import Zygote, ZygoteGoneError
from memgene.sandbox.levels import Level, Probe, probe
from memgene.sandbox.limits import Limits
from memgene.sandbox.wire import EncodeError, TooLargeError, encode
from memgene.sandbox.worker import Worker, start


class Sandbox:
    """Runs guests of one kind in processes of their own. Thread-safe, a context manager."""

    level: Level
    """How well guests are isolated."""

    def __init__(
        self,
        guest: str,
        *,
        limits: Limits | None = None,
        require: Level = Level.FULL,
        paths: Sequence[str | Path] = (),
        event_loop: bool = False,
    ) -> None:
        """Start the zygote.

        Args:
            guest: dotted name of the guest module (see `memgene.sandbox.guest`).
            limits: of each worker; `start` can be given others.
            require: the weakest isolation to accept.
            paths: folders to import the guest from, before those this process imports from.
            event_loop: let guests wait for descriptors and make pairs of connected sockets, for
                libraries that run an event loop of their own.

        Raises SandboxUnavailableError when this machine cannot isolate as required, or the guest's
        `prepare` fails.
        """
        self._guest = guest
        self._limits = limits or Limits()
        self._paths = [str(path) for path in paths]
        self._probe = probe()
        self._probe.demand(require)
        self.level = self._probe.level
        self._lock = threading.Lock()
        self._closed = False
        self._zygote = _Held(guest, self._probe, self._paths, event_loop)
        self._finish = weakref.finalize(self, _Held.close, self._zygote)

    @property
    def parts(self) -> Mapping[str, str]:
        """What isolates guests here, part by part: `yes…`, or `no: why`."""
        return self._probe.parts

    @property
    def zygote_pid(self) -> int:
        """Process id of the zygote (of the program around it, in bubblewrap)."""
        return self._zygote.current.pid

    def start(
        self,
        first: Mapping[str, Any],
        host: Mapping[str, HostCall],
        *,
        limits: Limits | None = None,
    ) -> Worker:
        """A fresh process whose guest has begun with `first` (JSON) and may make the `host` calls.

        If the zygote has died, a new one is made, once. Raises GuestError (`where` is "load") when
        the guest fails, InputError when `first` is not JSON or too large.
        """
        limits = limits or self._limits
        try:
            frame = encode({"first": first}, limits.message_bytes)
        except (EncodeError, TooLargeError) as problem:
            raise InputError(f"the first message cannot be sent: {problem}") from None
        zygote = self._running()
        try:
            return start(self, zygote, frame, host, limits)
        except ZygoteGoneError:
            zygote = self._running(instead_of=zygote)
        try:
            return start(self, zygote, frame, host, limits)
        except ZygoteGoneError as problem:
            raise SandboxUnavailableError(
                f"the sandbox process for {self._guest} ended twice ({problem}); is the machine "
                "out of memory?"
            ) from None

    def close(self) -> None:
        """End the zygote and every worker."""
        with self._lock:
            self._closed = True
            self._finish()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _running(self, instead_of: Zygote | None = None) -> Zygote:
        with self._lock:
            if self._closed:
                raise SandboxUnavailableError("this sandbox is closed")
            return self._zygote.get(instead_of)


class _Held:
    """The zygote of a sandbox; made anew when it died, or in a process forked off its owner."""

    def __init__(self, guest: str, probe: Probe, paths: Sequence[str], event_loop: bool) -> None:
        self._made_of = (guest, probe, paths, event_loop)
        self.current = Zygote(*self._made_of)

    def get(self, instead_of: Zygote | None) -> Zygote:
        """The zygote; never the one that was found dead."""
        known = self.current
        if known is instead_of or not known.running or known.owner != os.getpid():
            known.close()
            self.current = Zygote(*self._made_of)
        return self.current

    def close(self) -> None:
        """End it."""
        self.current.close()
