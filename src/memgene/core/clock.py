"""Where timestamps come from. Nothing but timestamps may depend on it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Gives the present moment."""

    def now(self) -> datetime:
        """The present moment, time zone aware."""
        ...


@dataclass(frozen=True, slots=True)
class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class FixedClock:
    """A clock that stands still, for reproducible banks and tests."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment
