"""An evolved program that serves a bank: its memory is made of the facts, one for every reader.

The bank is the log of episodes, and the only thing that lasts. What a program made of them lives
in its worker and is told again from the bank: in a new process, and when what the reader may see
changed otherwise than by new episodes (a deletion, an update).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from memgene.agents.registry import make_agent
from memgene.api.program_hits import hits_of
from memgene.api.program_reader import ProgramReader
from memgene.api.results import SearchResult
from memgene.bank.protocol import Filter
from memgene.core import BankError, InputError, Scope
from memgene.engine import MemoryEngine
from memgene.harness.program import ProgramHarnessFactory
from memgene.harness.registry import LoadedModels
from memgene.llm.roles import RoleModels
from memgene.programs.guest.bank import check_bank_config
from memgene.programs.program import Program
from memgene.sandbox import Level, probe
from memgene.settings import load_settings

if TYPE_CHECKING:
    from memgene.genome import GenomeBundle

READERS = 8
"""Programs that are kept alive at once, one a reader; the one asked longest ago ends first."""


class ServedProgram:
    """The program of a genome over an engine's bank. Thread-safe; it does not own the bank. Close
    it.

    Who fills the program's schemas is the agent of the settings, as in an evaluation; `models` are
    its language models and the program's own (default: as settings name them).

    Raises SandboxUnavailableError where this machine cannot isolate programs as settings require,
    and ConfigError where the agent or the program's configuration needs a model that is not there.
    """

    def __init__(
        self, genome: GenomeBundle, engine: MemoryEngine, models: RoleModels | None
    ) -> None:
        assert genome.program is not None
        assert engine.embedder is not None
        settings = load_settings()
        probe().demand(Level.named(settings.sandbox.level))
        check_bank_config(genome.config)
        self._program, self._config = Program(genome.program), genome.config
        self._name, self._bank, self._embedder = f"genome {genome.id}", engine.bank, engine.embedder
        self._lock = Lock()
        self._closed = False
        self._readers: OrderedDict[Scope, ProgramReader] = OrderedDict()
        with ExitStack() as stack:
            llms = models or stack.enter_context(RoleModels(settings.llm))
            self._loaded = stack.enter_context(LoadedModels(llms, sandbox=settings.sandbox))
            self._agent = make_agent(settings.agent, llms)
            self._open = stack.pop_all()

    def refuse(self, verb: str) -> None:
        """Raises InputError: what learns values of memories changes nothing here."""
        raise InputError(
            f"{self._name} searches by its program, which knows no values of memories: {verb} "
            "would change no search; evolve anew with what was learned, or use a genome without a "
            "program"
        )

    def search(
        self, query: str, scope: Scope, limit: int, where: Filter | None = None
    ) -> SearchResult:
        """What the program reads for a query out of what the scope may see, brought level first.

        Where its text is made of units of its bank they are the hits, at most `limit`; other text
        is one result. `degraded` tells of episodes that the program failed on.

        Raises InputError for a filter, GuestError where the program fails at the query or cannot be
        run any more, and the ReplyError of an agent that makes nothing of the query.
        """
        if where is not None and where != Filter():
            raise InputError(
                f"{self._name} searches by its program, which cannot leave out memories that a "
                "filter names; search without filters, or by owner (user_id, agent_id, run_id)"
            )
        with self._reader(scope) as reader:
            context, lines = reader.read(query), reader.lines
            degraded = reader.degraded
        hits = hits_of(context, lines, query)[:limit]
        return SearchResult(hits, context.text, degraded, query)

    def close(self) -> None:
        """End every program."""
        with self._lock:
            self._closed = True
            while self._readers:
                self._readers.popitem()[1].end()
        self._open.close()

    def _make(self) -> ProgramHarnessFactory:
        """The sandbox starts with the first program: whoever only writes needs none."""
        runtime = self._loaded.programs(self._embedder)
        return ProgramHarnessFactory(self._program, runtime, self._name, self._config)

    @contextmanager
    def _reader(self, scope: Scope) -> Iterator[ProgramReader]:
        """The reader of a scope, held by this thread; it is made where there is none."""
        while True:
            with self._lock:
                if self._closed:
                    raise BankError(f"the memory {self._bank.location} is closed")
                reader = self._readers.get(scope)
                if reader is None:
                    reader = ProgramReader(self._make, self._agent, self._bank, scope)
                    self._readers[scope] = reader
                self._readers.move_to_end(scope)
                last = self._readers.popitem(last=False)[1] if self._is_full else None
            if last is not None:
                last.end()
            with reader.lock:
                if not reader.ended:
                    yield reader
                    return

    @property
    def _is_full(self) -> bool:
        return len(self._readers) > READERS
