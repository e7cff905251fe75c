"""One program with what one reader may see of a bank: told again whenever the bank changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from memgene.agents.protocol import Agent
from memgene.api.program_hits import Lines
from memgene.api.retold import Retold, retold
from memgene.bank.protocol import Bank, Event
from memgene.core import Context, Filled, Question, ReplyError, RequestRefusedError, Scope
from memgene.harness.program import ProgramHarness, ProgramHarnessFactory
from memgene.sandbox import FailureKind, GuestError

_ASKED = "search"
_NOTHING_SAID = (Event.VALUE, Event.FEEDBACK, Event.RELATE, Event.UNRELATE, Event.REEMBED)
"""What happens to memories without a word for an episode."""


class ProgramReader:
    """One program with what one scope may see. Whoever uses it holds `lock`."""

    def __init__(
        self,
        make: Callable[[], ProgramHarnessFactory],
        agent: Agent,
        bank: Bank,
        scope: Scope,
    ) -> None:
        self.lock = Lock()
        self.ended = False
        self.lines = Lines(())
        self._make, self._agent, self._bank, self._scope = make, agent, bank, scope
        self._factory: ProgramHarnessFactory | None = None
        self._harness: ProgramHarness | None = None
        self._written: list[str] = []
        self._units: frozenset[str] = frozenset()
        self._version = -1

    @property
    def degraded(self) -> tuple[str, ...]:
        """That episodes are missing, and why, where the program failed on some."""
        violations = [] if self._factory is None else self._factory.log.violations
        lost = [violation for violation in violations if violation.episode is not None]
        if not lost:
            return ()
        return (
            f"the program failed on {len(lost)} of {len(self._written)} episodes, which it does "
            f"not remember; the first: {lost[0].where}: {lost[0].message}",
        )

    def read(self, query: str) -> Context:
        """What the program reads, level with the bank."""
        with self._dropped_on_failure():
            harness = self._level()
        asked = self._formulated(harness, query)
        with self._dropped_on_failure():
            context = harness.read(asked)
        if context.failure is not None:
            where, kind = str(context.notes["where"]), FailureKind(context.notes["violation"])
            error = GuestError(kind, where, context.failure.removeprefix(f"{where}: "))
            if error.fatal:
                self._drop()
            raise error
        return context

    def end(self) -> None:
        """End the program; waits for whoever reads."""
        with self.lock:
            self.ended = True
            self._drop()

    @contextmanager
    def _dropped_on_failure(self) -> Iterator[None]:
        """What failed halfway may have left half of it in the program."""
        try:
            yield
        except BaseException:
            self._drop()
            raise

    def _level(self) -> ProgramHarness:
        """The program, which has been written what the bank holds."""
        version = self._bank.version()
        if self._harness is not None and self._is_level(version):
            self._version = version
            return self._harness
        told = retold(self._bank.scan(self._scope))
        digests = [one.digest for one in told]
        if self._written != digests[: len(self._written)]:
            self._drop()
        if self._harness is None:
            self._factory = self._make()
            self._harness = self._factory()
        for one in told[len(self._written) :]:
            self._write(self._harness, one)
            self._written.append(one.digest)
        units = [unit for one in told for unit in one.units]
        self.lines, self._units = Lines(units), frozenset(unit.id for unit in units)
        self._version = version
        return self._harness

    def _is_level(self, version: int) -> bool:
        """Whether nothing that this reader sees, or saw, changed since it was last told."""
        if version == self._version:
            return True
        touched = self._bank.changed_since(self._version, _NOTHING_SAID)
        return self._units.isdisjoint(touched) and not self._bank.get(list(touched), self._scope)

    def _write(self, harness: ProgramHarness, one: Retold) -> None:
        """As an evaluation writes: an episode that an agent makes nothing of is not written."""
        instruction = harness.instructions.knowledge_item
        try:
            item = self._agent.extract(one.episode, harness.item_schema, instruction)
        except (ReplyError, RequestRefusedError) as problem:
            harness.unusable("extract", problem, one.episode)
        else:
            harness.write(item, one.episode)

    def _formulated(self, harness: ProgramHarness, query: str) -> Filled:
        question = Question(_ASKED, query, _ASKED)
        return self._agent.formulate(question, harness.query_schema, harness.instructions.query)

    def _drop(self) -> None:
        if self._harness is not None:
            self._harness.close()
        self._harness, self._written, self._version = None, [], -1
