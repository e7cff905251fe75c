"""How far a link has come."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Called with steps done and steps expected in all, as far as they are known."""


class Meter:
    """Adds up steps and tells them. What `tell` raises ends the link."""

    def __init__(self, tell: Progress | None) -> None:
        self._tell = tell
        self._done = self._expected = 0

    def expect(self, steps: int) -> None:
        """So many more are to come."""
        self._expected += steps

    def told(self, steps: int) -> None:
        """So many more are done."""
        self._done += steps
        self._expected = max(self._done, self._expected)
        if self._tell is not None:
            self._tell(self._done, self._expected)
