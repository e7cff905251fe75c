"""What a part of a lesson did, and how far it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Progress = Callable[[int, int, str], None]
"""`(done, total, what)`: so much of so much is done of the part named."""


@dataclass(frozen=True, slots=True)
class Step:
    """One part of a lesson. `changed` counts what it changed; `reason` says what happened, or why
    nothing did; `figures` are its numbers by name."""

    name: str
    changed: int
    reason: str
    figures: Mapping[str, float] = field(default_factory=dict)
