"""Readers of one memory in a fixed order, whoever is ready first: reading may change a memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition


class Turns:
    """Lets readers 0, 1, 2, … in one after another. Thread-safe.

    Every turn has to be taken or passed; the threads that take earlier turns must be at work
    already when a later one waits (an executor that begins items in order sees to it).
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._over: set[int] = set()
        self._next = 0

    @contextmanager
    def taken(self, turn: int) -> Iterator[None]:
        """Wait for the turn, and end it."""
        with self._changed:
            self._changed.wait_for(lambda: self._next >= turn)
        try:
            yield
        finally:
            self.passed(turn)

    def passed(self, turn: int) -> None:
        """The turn is over, or will not be taken. More of this does nothing."""
        with self._changed:
            self._over.add(turn)
            while self._next in self._over:
                self._over.discard(self._next)
                self._next += 1
            self._changed.notify_all()
