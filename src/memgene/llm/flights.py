"""Equal calls at the same time become one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from memgene.core import ConfigError, ModelError
from memgene.llm.protocol import Reply

_SHARED_ERRORS = (ModelError, ConfigError)


@dataclass(slots=True)
class _Flight:
    landed: threading.Event = field(default_factory=threading.Event)
    reply: Reply | None = None
    error: BaseException | None = None
    waiting: int = 0


class Flights:
    """Calls under way, by key. Thread-safe.

    The first to ask makes the call, the others wait for it. When the model gave no reply, they all
    get that error; when the first was stopped by something of its own (a budget, an interrupt),
    the next in line makes the call.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way: dict[str, _Flight] = {}

    def join(self, key: str, call: Callable[[], Reply]) -> Reply:
        """`call()`, or the reply of an equal call that is under way, marked as cached."""
        while True:
            with self._lock:
                flight = self._under_way.get(key)
                mine = flight is None
                if flight is None:
                    flight = self._under_way[key] = _Flight()
                else:
                    flight.waiting += 1
            if mine:
                return self._fly(key, flight, call)
            flight.landed.wait()
            if flight.reply is not None:
                return replace(flight.reply, cached=True)
            if isinstance(flight.error, _SHARED_ERRORS):
                # An instance of its own for each thread: a traceback belongs to one.
                raise type(flight.error)(*flight.error.args) from flight.error

    def waiting(self, key: str) -> int:
        """How many wait for the call under way."""
        with self._lock:
            flight = self._under_way.get(key)
            return 0 if flight is None else flight.waiting

    def _fly(self, key: str, flight: _Flight, call: Callable[[], Reply]) -> Reply:
        try:
            flight.reply = call()
        except BaseException as error:
            flight.error = error
            raise
        finally:
            with self._lock:
                del self._under_way[key]
            flight.landed.set()
        return flight.reply
