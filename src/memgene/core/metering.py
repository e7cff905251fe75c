"""Usage is measured where work is done: whoever wants to know what a stretch of work cost opens a
meter around it, and every model call inside reports to all open meters.

Meters follow the context, not the process: a thread sees the meters that were opened in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

from memgene.core.usage import RoleUsage, Usage


class Meter:
    """A sum of usage by role. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._roles: dict[str, RoleUsage] = {}

    def add(self, role: str, used: RoleUsage) -> None:
        """Count one call (or several) of a role."""
        with self._lock:
            self._roles[role] = self._roles.get(role, RoleUsage()) + used

    @property
    def usage(self) -> Usage:
        """What was counted so far."""
        with self._lock:
            return Usage(dict(self._roles))


_OPEN: ContextVar[tuple[Meter, ...]] = ContextVar("memgene_open_meters", default=())


@contextmanager
def metering(meter: Meter | None = None) -> Iterator[Meter]:
    """Count what the calls inside use, in a new meter or in the one given.

    Meters nest: the outer ones count too. A meter that is open already is not counted twice.
    """
    mine = Meter() if meter is None else meter
    opened = _OPEN.get()
    token = _OPEN.set(opened if any(m is mine for m in opened) else (*opened, mine))
    try:
        yield mine
    finally:
        _OPEN.reset(token)


@contextmanager
def unmetered() -> Iterator[None]:
    """Calls inside count in no meter but those opened inside."""
    token = _OPEN.set(())
    try:
        yield
    finally:
        _OPEN.reset(token)


def record(role: str, used: RoleUsage) -> None:
    """Report one call to every open meter."""
    for meter in _OPEN.get():
        meter.add(role, used)
