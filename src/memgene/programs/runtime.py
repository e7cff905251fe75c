"""Runs memory programs, each in a worker of its own, with the models they may use."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from threading import Lock
from types import TracebackType
from typing import Any, Self

from memgene.core import ModelError
from memgene.embed.cached import CachedEmbedder
from memgene.embed.protocol import Embedder, WordVectors
from memgene.llm.protocol import LLM
from memgene.programs.declared import contract_of
from memgene.programs.guest.bank import check_bank_config
from memgene.programs.guest.chroma.real import require_chromadb
from memgene.programs.guest.configuring import sent
from memgene.programs.guest.models import described
from memgene.programs.hosting import HostCalls
from memgene.programs.program import Contract, Program, ProgramLimits
from memgene.programs.reply import Recalled, hits_of, whole
from memgene.retrieval.config import RetrievalConfig
from memgene.sandbox import FailureKind, GuestError, Level, Limits, Sandbox, Worker
from memgene.settings.model import VectorStore

GUESTS: Mapping[VectorStore, str] = {
    "numpy": "memgene.programs.guest.serve",
    "chromadb": "memgene.programs.guest.serve_chromadb",
}
"""Guest modules by what `toolkit.chroma` is."""
NOW = datetime(2025, 1, 1, tzinfo=UTC)
"""What programs take for the present."""


class ProgramRuntime:
    """Starts programs in workers. Thread-safe; a context manager, closed once all are done.

    Args:
        llm: answers `toolkit.llm_completion`; None makes that call fail in the program.
        embedder: gives the vectors of `toolkit.chroma` and `toolkit.bank`; they are kept.
        words: word vectors for `toolkit.bank`; by default the embedder where it knows words.
        limits: of each program; `sandbox_limits` of its process.
        require: the isolation below which nothing is run.
        chroma: what `toolkit.chroma` is: exact collections in numpy, or chromadb itself, whose
            search is approximate.
        config: how `toolkit.bank` retrieves, where a program is started without its own.
        seed: of the random numbers that programs draw.

    Raises SandboxUnavailableError when this machine cannot isolate as required, ConfigError for a
    configuration that needs a language model (see `check_bank_config`), MissingDependencyError
    where chromadb is asked for and not installed.
    """

    def __init__(
        self,
        *,
        llm: LLM | None = None,
        embedder: Embedder | None = None,
        words: WordVectors | None = None,
        limits: ProgramLimits = ProgramLimits(),  # noqa: B008 - frozen
        sandbox_limits: Limits = Limits(),  # noqa: B008 - frozen
        require: Level = Level.FULL,
        chroma: VectorStore = "numpy",
        config: RetrievalConfig | None = None,
        seed: int = 0,
    ) -> None:
        if config is not None:
            check_bank_config(config)
        if chroma == "chromadb":
            require_chromadb()
        self._llm = llm
        self._embedder = embedder
        # Programs of one run cut the same texts into the same pieces, again and again.
        self._vectors = None if embedder is None else CachedEmbedder(embedder)
        self._words = words or (embedder if isinstance(embedder, WordVectors) else None)
        self._config = config
        self._seed = seed
        self.limits = limits
        self._sandbox = Sandbox(
            GUESTS[chroma],
            limits=sandbox_limits,
            require=require,
            event_loop=chroma == "chromadb",
        )

    @property
    def level(self) -> Level:
        """The isolation that was achieved."""
        return self._sandbox.level

    @property
    def has_llm(self) -> bool:
        """Whether `toolkit.llm_completion` has a model to ask."""
        return self._llm is not None

    def start(
        self,
        program: Program,
        *,
        llm: LLM | None = None,
        config: RetrievalConfig | None = None,
    ) -> RunningProgram:
        """Load a program in a fresh worker, its memory empty. `llm` answers in place of the
        runtime's model, as in a trial; `config` says how `toolkit.bank` retrieves.

        Raises GuestError (where `load`) when it cannot be loaded or breaks the interface, and
        ConfigError for a configuration that needs a language model.
        """
        if config is not None:
            check_bank_config(config)
        calls = HostCalls(llm or self._llm, self._vectors, self._words, self.limits.llm_calls)
        first = {
            "source": program.source,
            "seed": self._seed,
            "now": NOW.isoformat(),
            **sent(config or self._config),
            **described(self._embedder, self._words),
        }
        worker = self._sandbox.start(first, calls.table)
        try:
            return RunningProgram(worker, contract_of(worker.loaded), calls, self.limits)
        except BaseException:
            worker.close()
            raise

    def close(self) -> None:
        """End every worker."""
        self._sandbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class RunningProgram:
    """One loaded program and what it remembers. Calls are made one after another.

    A failing language model or embedder is not the program's fault: where a call fails after one
    of those did, the ModelError is raised in place of the GuestError.
    """

    def __init__(
        self, worker: Worker, contract: Contract, calls: HostCalls, limits: ProgramLimits
    ) -> None:
        self.contract = contract
        self._worker = worker
        self._calls = calls
        self._limits = limits
        self._lock = Lock()

    @property
    def alive(self) -> bool:
        """Whether its process is there."""
        return self._worker.alive

    def write(self, values: Mapping[str, Any], raw_text: str) -> tuple[str, ...]:
        """Write one item made of these values; what the program logged.

        Raises GuestError when the program fails or exceeds a limit.
        """
        reply = self._call("write", {"item": dict(values), "raw_text": raw_text})
        return _logs(reply, "write")

    def read(self, values: Mapping[str, Any]) -> Recalled:
        """Read with a query of these values.

        Raises GuestError when the program fails or exceeds a limit, also when the text is too long.
        """
        reply = self._call("read", {"query": dict(values)})
        logs = _logs(reply, "read")
        text = _text(reply, self._limits.read_characters)
        return Recalled(text, logs, *hits_of(reply))

    def close(self) -> None:
        """End its process."""
        self._worker.close()

    def _call(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        with self._lock:
            self._calls.fresh()
            try:
                reply = self._worker.call(method, params, seconds=self._limits.call_seconds)
            except GuestError as error:
                failure: ModelError | None = self._calls.failure
                if failure is not None and error.kind is FailureKind.RAISED:
                    raise failure from error
                raise
        if not isinstance(reply, Mapping):
            raise GuestError(FailureKind.OUTPUT, method, "the worker's reply has no form")
        return reply


def _logs(reply: Mapping[str, Any], where: str) -> tuple[str, ...]:
    logs = reply.get("logs")
    if not isinstance(logs, list) or not all(isinstance(line, str) for line in logs):
        raise GuestError(FailureKind.OUTPUT, where, "the worker's logs have no form")
    return tuple(map(whole, logs))


def _text(reply: Mapping[str, Any], limit: int) -> str:
    text = reply.get("text")
    if not isinstance(text, str):
        problem = f"read() must return a str, it returned {reply.get('type')}"
    elif len(text) > limit:
        problem = (
            f"read() returned {len(text):,} characters, the limit is {limit:,}; "
            "choose what matters most for the query"
        )
    else:
        return whole(text)
    raise GuestError(FailureKind.OUTPUT, "read", problem)
