"""A memory program as a harness: what it does wrong is recorded, and costs it the question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memgene.bank.unit import render_date
from memgene.core import Context, Episode, Filled, Instructions, Schema
from memgene.harness.episode_lines import EpisodeLines
from memgene.harness.program_log import (
    KEPT_MESSAGE,
    UNUSABLE,
    HarnessLog,
    ProgramLog,
    Violation,
    WriteExample,
)
from memgene.programs.program import Program
from memgene.programs.runtime import ProgramRuntime, RunningProgram
from memgene.retrieval.config import RetrievalConfig
from memgene.sandbox import FailureKind, GuestError


class ProgramHarness:
    """A program at work. Its failures end in the log, and in the context of the read concerned.

    A read whose text is made of lines of the program's bank yields their hits, as the bank ranked
    or the program chose them; any other text is no ranking.

    After a fatal one (out of time, its process ended) the memory is lost: every later read fails,
    saying why.
    """

    yields_hits = False
    thread_safe = False

    def __init__(self, name: str, program: RunningProgram, log: HarnessLog) -> None:
        self._name = name
        self._program = program
        self._log = log
        self._lost: GuestError | None = None
        self._failed_writes = 0
        self._lines = EpisodeLines()

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
        self._log.began(episode)
        raw_text = raw_text_of(episode)
        self._log.wrote(WriteExample(episode.id, raw_text, dict(item.values)))
        try:
            self._log.said(self._program.write(item.values, raw_text))
        except GuestError as error:
            self._failed_writes += 1
            self._fail(error, episode=episode.id)
        else:
            self._lines.add(episode)

    def read(self, query: Filled) -> Context:
        """What the program finds; where it fails, an empty context that says how."""
        if self._lost is not None:
            return _failed(self._lost, FailureKind.GONE)
        try:
            found = self._program.read(query.values)
        except GuestError as error:
            self._fail(error, query=dict(query.values))
            return _failed(error, error.kind)
        self._log.said(found.logs)
        if found.hits is None:
            return Context(found.text, notes=self._notes())
        hits = tuple(self._lines.referred(hit) for hit in found.hits)
        return Context(found.text, hits=hits, shown=found.shown, notes=self._notes())

    def unusable(self, step: str, problem: Exception, episode: Episode | None = None) -> str:
        """Note that an agent could make nothing of the program's schemas and instructions; the
        failure in words. Of an episode nothing is written then."""
        message = f"{type(problem).__name__}: {problem}"[:KEPT_MESSAGE]
        if episode is not None:
            self._log.began(episode)
            self._failed_writes += 1
        self._log.failed(Violation(step, UNUSABLE, message, "", episode.id if episode else None))
        return f"{step}: {message}"

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

    `config` says how `toolkit.bank` retrieves (None: as the runtime does). A program that cannot
    be loaded raises its GuestError when a harness is made.
    """

    def __init__(
        self,
        program: Program,
        runtime: ProgramRuntime,
        name: str = "program",
        config: RetrievalConfig | None = None,
    ) -> None:
        self.program = program
        self._config = config
        self.log = ProgramLog()
        self._runtime = runtime
        self._name = name

    def __call__(self) -> ProgramHarness:
        try:
            running = self._runtime.start(self.program, config=self._config)
        except GuestError as error:
            self.log.part().failed(violation_of(error))
            raise
        return ProgramHarness(self._name, running, self.log.part())


def violation_of(
    error: GuestError, episode: str | None = None, query: Mapping[str, Any] | None = None
) -> Violation:
    """A guest's error as it is recorded."""
    message = error.message[:KEPT_MESSAGE]
    return Violation(error.where, error.kind, message, error.detail, episode, query)


def raw_text_of(episode: Episode) -> str:
    """What a program gets as `raw_text`: `[8 May 2023, 1:56 pm]` on a line of its own where the
    episode has a time, then one line per turn, `speaker: words (image caption)`."""
    if episode.time is None:
        return episode.text
    return f"[{render_date(episode.time)}]\n{episode.text}"


def _failed(error: GuestError, kind: FailureKind) -> Context:
    said = str(error)[:KEPT_MESSAGE]
    return Context("", failure=said, notes={"violation": kind.value, "where": error.where})
