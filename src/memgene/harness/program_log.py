"""What memory programs did at work, for whoever is to mend them."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from memgene.core import Episode

KEPT_WRITES = 3
KEPT_LINES, KEPT_LINE = 200, 600
KEPT_MESSAGE = 2_000
UNUSABLE = "unusable"


@dataclass(frozen=True, slots=True)
class Violation:
    """One failure of a program: in `load`, `write` or `read`, of what kind, with the end of its
    traceback, and what it was working on (the episode's id, or the values of the query). Or a step
    of the agent that came to nothing under the program's words: `extract`, `formulate` or
    `respond`, of kind `UNUSABLE`."""

    where: str
    kind: str
    message: str
    detail: str = ""
    episode: str | None = None
    query: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class WriteExample:
    """How the text of one episode became an item."""

    episode_id: str
    raw_text: str
    item: Mapping[str, Any]


class HarnessLog:
    """What happened in one harness. Thread-safe, and bounded whatever a program says."""

    def __init__(self) -> None:
        self.first = ""
        """Id of the first episode."""
        self._lock = Lock()
        self._violations: list[Violation] = []
        self._writes: list[WriteExample] = []
        self._debug: deque[str] = deque(maxlen=KEPT_LINES)

    @property
    def violations(self) -> list[Violation]:
        """All failures so far."""
        with self._lock:
            return list(self._violations)

    @property
    def writes(self) -> list[WriteExample]:
        """The first KEPT_WRITES writes."""
        with self._lock:
            return list(self._writes)

    @property
    def debug(self) -> list[str]:
        """The last KEPT_LINES lines that the program logged, KEPT_LINE characters of each."""
        with self._lock:
            return list(self._debug)

    def began(self, episode: Episode) -> None:
        """An episode is to be written."""
        self.first = self.first or episode.id

    def failed(self, violation: Violation) -> None:
        """Keep a failure."""
        with self._lock:
            self._violations.append(violation)

    def wrote(self, example: WriteExample) -> None:
        """Keep a write, if it is among the first."""
        with self._lock:
            if len(self._writes) < KEPT_WRITES:
                self._writes.append(example)

    def said(self, lines: Sequence[str]) -> None:
        """Keep what the program logged."""
        with self._lock:
            self._debug.extend(line[:KEPT_LINE] for line in lines[-KEPT_LINES:])


class ProgramLog:
    """What happened in the harnesses of one factory: first one harness, then the next, by the ids
    of their first episodes, so that nothing depends on which of them was quicker. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._parts: list[HarnessLog] = []

    def part(self) -> HarnessLog:
        """The log of one more harness."""
        with self._lock:
            self._parts.append(HarnessLog())
            return self._parts[-1]

    @property
    def violations(self) -> list[Violation]:
        """All failures so far."""
        return [each for part in self._ordered() for each in part.violations]

    @property
    def writes(self) -> list[WriteExample]:
        """The first KEPT_WRITES writes."""
        return [each for part in self._ordered() for each in part.writes][:KEPT_WRITES]

    @property
    def debug(self) -> list[str]:
        """The last KEPT_LINES lines that the program logged."""
        return [line for part in self._ordered() for line in part.debug][-KEPT_LINES:]

    def _ordered(self) -> list[HarnessLog]:
        with self._lock:
            return sorted(self._parts, key=lambda part: part.first)
