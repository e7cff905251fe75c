"""Ctrl-C: the first finishes the round and stops cleanly, the second stops at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

from memgene.core import RunError


class RunInterruptedError(RunError):
    """The run was stopped on request after a whole round; `--resume` continues it."""

    def __init__(self, message: str, rounds: int) -> None:
        super().__init__(message)
        self.rounds = rounds


class Interruptible:
    """While entered, turns the first SIGINT into a request (`requested`); the second raises
    KeyboardInterrupt. Outside the main thread signals cannot be taken and nothing changes."""

    def __init__(self) -> None:
        self.requested = False
        self._former: Any = None
        self._installed = False

    def request(self) -> None:
        """Ask for a stop after the round, as Ctrl-C does."""
        self.requested = True

    def __enter__(self) -> Interruptible:
        if threading.current_thread() is threading.main_thread():
            self._former = signal.signal(signal.SIGINT, self._take)
            self._installed = True
        return self

    def __exit__(self, *_: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, self._former)
            self._installed = False

    def _take(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
