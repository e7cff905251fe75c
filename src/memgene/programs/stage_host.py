"""Runs retrieval stages in a sandbox: one warm worker, made anew after a failure."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from types import TracebackType
from typing import Any, Self

from memgene.retrieval.stages.host import StageError
from memgene.retrieval.stages.stage import Stage
from memgene.sandbox import GuestError, Level, Limits, Sandbox, Worker

STAGE_LIMITS = Limits(
    call_seconds=2.0, start_seconds=60.0, memory_bytes=256 << 20, message_bytes=16 << 20
)
"""Of the worker that runs stages; its calls are short, its memory small."""
CALLS_OF_A_WORKER = 1000
"""After so many calls a fresh process takes over: what one worker may use in all is bounded."""
_GUEST = "memgene.programs.guest.serve_stages"


class SandboxedStages:
    """A `StageHost`. Nothing is started before the first call. Thread-safe, a context manager.

    All stages of a host run in one process, isolated as memory programs are; a stage sees its
    arguments and nothing else, and nothing is kept from call to call.

    Args:
        limits: of the worker; `call_seconds` is what one call of one stage may take.
        require: the isolation below which nothing is run.
        seed: of the random numbers that stages draw.
    """

    def __init__(
        self,
        *,
        limits: Limits = STAGE_LIMITS,
        require: Level = Level.FULL,
        seed: int = 0,
    ) -> None:
        self._limits = limits
        self._require = require
        self._seed = seed
        self._lock = Lock()
        self._sandbox: Sandbox | None = None
        self._worker: Worker | None = None
        self._sent: set[tuple[str, str]] = set()
        self._calls = 0
        self._closed = False

    @property
    def running(self) -> bool:
        """Whether a worker is there."""
        return self._worker is not None

    @property
    def level(self) -> Level | None:
        """The isolation that was achieved; None before the first call."""
        return None if self._sandbox is None else self._sandbox.level

    def call(self, stage: Stage, method: str, params: Mapping[str, Any]) -> Any:
        """What the stage's `method` returns for these parameters, as JSON values.

        Raises StageError where the stage fails, exceeds a limit or returns what is no JSON, and
        where this host is closed; SandboxUnavailableError where this machine cannot isolate it.
        """
        with self._lock:
            worker = self._ready(stage)
            key = stage.name, stage.digest
            message = {"name": key[0], "digest": key[1], "method": method, "params": params}
            if key not in self._sent:
                message["source"] = stage.source
            try:
                found = worker.call("run", message)
            except GuestError as error:
                self._restart_where_gone(error)
                raise StageError(_told(stage, method, error)) from error
            self._sent.add(key)
            return found

    def close(self) -> None:
        """End the worker and its sandbox."""
        with self._lock:
            self._closed = True
            self._drop()
            if self._sandbox is not None:
                self._sandbox.close()
                self._sandbox = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ready(self, stage: Stage) -> Worker:
        """The worker, made where there is none."""
        if self._closed:
            raise StageError(f"stage {stage.name} cannot be run: its host is closed")
        if self._calls >= CALLS_OF_A_WORKER:
            self._drop()
        if self._sandbox is None:
            self._sandbox = Sandbox(_GUEST, limits=self._limits, require=self._require)
        if self._worker is None:
            self._worker = self._sandbox.start({"seed": self._seed}, {})
        self._calls += 1
        return self._worker

    def _restart_where_gone(self, error: GuestError) -> None:
        if error.fatal:
            self._drop()

    def _drop(self) -> None:
        if self._worker is not None:
            self._worker.close()
        self._worker = None
        self._sent.clear()
        self._calls = 0


def _told(stage: Stage, method: str, error: GuestError) -> str:
    """The failure in words that name the stage."""
    said = error.message.removeprefix(f"{StageError.__name__}: ")
    named = f"stage {stage.name}"
    return said if said.startswith(named) else f"{named}, {method}: {said}"
