"""A memory program as a harness: what it does wrong is recorded, and costs it the question."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from memgene.bank.unit import render_date
from memgene.core import Context, Episode, Filled, Instructions, Schema
from memgene.programs.program import Program
from memgene.programs.runtime import ProgramRuntime, RunningProgram
from memgene.sandbox import FailureKind, GuestError

KEPT_WRITES = 3
KEPT_LINES = 200


@dataclass(frozen=True, slots=True)
class Violation:
    """One failure of a program: in `load`, `write` or `read`, of what kind, with the end of its
    traceback, and what it was working on (the episode's id, or the values of the query)."""

    where: str
    kind: FailureKind
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


class ProgramLog:
    """What happened in the harnesses of one factory. Thread-safe."""

    def __init__(self) -> None:
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
        """The last KEPT_LINES lines that the program logged."""
        with self._lock:
            return list(self._debug)

    def failed(self, violation: Violation) -> None:
        """Keep a failure."""
        with self._lock:
            self._violations.append(violation)

    def wrote(self, example: WriteExample) -> None:
        """Keep a write, if it is among the first."""
        with self._lock:
            if len(self._writes) < KEPT_WRITES:
                self._writes.append(example)

    def said(self, lines: tuple[str, ...]) -> None:
        """Keep what the program logged."""
        with self._lock:
            self._debug.extend(lines)


class ProgramHarness:
    """A program at work. Its failures end in the log, and in the context of the read concerned.

    After a fatal one (out of time, its process ended) the memory is lost: every later read fails,
    saying why.
    """

    yields_hits = False
    thread_safe = False

    def __init__(self, name: str, program: RunningProgram, log: ProgramLog) -> None:
        self._name = name
        self._program = program
        self._log = log
        self._lost: GuestError | None = None
        self._failed_writes = 0

    @property
    def name(self) -> str:
        return self._name

    @property
    def instructions(self) -> Instructions:
        return self._program.contract.instructions

    @property
    def item_schema(self) -> Schema:
        return self._program.contract.item_schema

    @property
    def query_schema(self) -> Schema:
        return self._program.contract.query_schema

    def write(self, item: Filled, episode: Episode) -> None:
        """Hand the item and the episode's text to the program; its failure is kept in the log."""
        if self._lost is not None:
            return
        raw_text = raw_text_of(episode)
        self._log.wrote(WriteExample(episode.id, raw_text, dict(item.values)))
        try:
            self._log.said(self._program.write(item.values, raw_text))
        except GuestError as error:
            self._failed_writes += 1
            self._fail(error, episode=episode.id)

    def read(self, query: Filled) -> Context:
        """What the program finds; where it fails, an empty context that says how."""
        if self._lost is not None:
            return _failed(self._lost, FailureKind.GONE)
        try:
            text, said = self._program.read(query.values)
        except GuestError as error:
            self._fail(error, query=dict(query.values))
            return _failed(error, error.kind)
        self._log.said(said)
        return Context(text, notes=self._notes())

    def close(self) -> None:
        """End its process."""
        self._program.close()

    def _notes(self) -> dict[str, Any]:
        return {"failed_writes": self._failed_writes} if self._failed_writes else {}

    def _fail(
        self,
        error: GuestError,
        episode: str | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> None:
        self._log.failed(violation_of(error, episode, query))
        if error.fatal:
            self._lost = error


class ProgramHarnessFactory:
    """Makes harnesses of one program, each in a worker of its own. `log` is common to them.

    A program that cannot be loaded raises its GuestError when a harness is made.
    """

    def __init__(self, program: Program, runtime: ProgramRuntime, name: str = "program") -> None:
        self.program = program
        self.log = ProgramLog()
        self._runtime = runtime
        self._name = name

    def __call__(self) -> ProgramHarness:
        try:
            running = self._runtime.start(self.program)
        except GuestError as error:
            self.log.failed(violation_of(error))
            raise
        return ProgramHarness(self._name, running, self.log)


def violation_of(
    error: GuestError, episode: str | None = None, query: Mapping[str, Any] | None = None
) -> Violation:
    """A guest's error as it is recorded."""
    return Violation(error.where, error.kind, error.message, error.detail, episode, query)


def raw_text_of(episode: Episode) -> str:
    """What a program gets as `raw_text`: `[8 May 2023, 1:56 pm]` on a line of its own where the
    episode has a time, then one line per turn, `speaker: words (image caption)`."""
    if episode.time is None:
        return episode.text
    return f"[{render_date(episode.time)}]\n{episode.text}"


def _failed(error: GuestError, kind: FailureKind) -> Context:
    return Context("", failure=str(error), notes={"violation": kind.value, "where": error.where})
