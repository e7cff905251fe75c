"""Trying again: exponential back-off with jitter, and what a server asks for instead."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from memgene.core.errors import ModelError

T = TypeVar("T")


class TransientError(Exception):
    """A call failed in a way that may pass. `wait`: seconds the server asked for, if it did."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


@dataclass
class Backoff:
    """How long to wait before each new try.

    Full jitter: before retry n (from 0) a uniform draw from [d/2, d], d = min(longest, first·2ⁿ)
    seconds, from a source of the given seed, so that equal runs wait equally and many callers
    do not return at once. What the server asks for replaces the draw, up to `longest_asked`.
    Thread-safe.
    """

    retries: int = 3
    first: float = 0.5
    longest: float = 30.0
    longest_asked: float = 120.0
    seed: int = 0
    sleep: Callable[[float], None] = time.sleep
    _random: random.Random = field(init=False, repr=False)
    _lock: threading.Lock = field(init=False, repr=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def seconds(self, retry: int, asked: float | None = None) -> float:
        """Time to wait before the retry of this number."""
        if asked is not None:
            return min(max(asked, 0.0), self.longest_asked)
        ceiling = min(self.longest, self.first * 2.0**retry)
        with self._lock:
            return self._random.uniform(ceiling / 2, ceiling)

    def call(self, attempt: Callable[[], T], what: str) -> T:
        """The first result of `attempt` that does not fail with TransientError.

        Raises:
            ModelError: the last try failed so too; names it, `what` and the number of tries.
        """
        retry = 0
        while True:
            try:
                return attempt()
            except TransientError as error:
                if retry == self.retries:
                    tries = "1 try" if retry == 0 else f"{retry + 1} tries"
                    raise ModelError(f"{what}: no reply after {tries}; the last: {error}") from None
                wait = self.seconds(retry, error.wait)
            retry += 1
            self.sleep(wait)


def retry_after(value: str | None, now: Callable[[], datetime] | None = None) -> float | None:
    """Seconds that a Retry-After header asks for: a number, or an HTTP date seen from `now`.

    None where there is no header or it is neither (RFC 9110 §10.2.3).
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        pass
    else:
        return seconds if 0 <= seconds < float("inf") else None
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    current = now() if now is not None else datetime.now(UTC)
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - current).total_seconds())
