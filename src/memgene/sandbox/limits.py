"""What a guest may use."""

from __future__ import annotations

from dataclasses import dataclass, fields

from memgene.core import InputError


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one worker.

    `call_seconds` of its own time a call (time in host calls does not count), `start_seconds` for
    start and load, `memory_bytes` it may allocate beyond what the zygote holds, `message_bytes` of
    one message either way, `cpu_seconds` in all.
    """

    call_seconds: float = 60.0
    start_seconds: float = 60.0
    memory_bytes: int = 1 << 30
    message_bytes: int = 16 << 20
    cpu_seconds: int = 3600

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) <= 0:
                raise InputError(
                    f"sandbox {field.name} must be above 0, got {getattr(self, field.name)}"
                )
