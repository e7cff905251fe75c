"""The memories that training questions are asked of: written once, changed by learning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from memgene.agents.protocol import Agent
from memgene.core import Episode, LabelledQuestion
from memgene.embed.protocol import Embedder, WordVectors
from memgene.engine import MemoryEngine
from memgene.engine.learned import LearnedMemory
from memgene.engine.linking import LinkSettings, TimeCheck
from memgene.engine.models import EngineModels
from memgene.evaluation.memories import LazyMemory, MemoryFailedError
from memgene.evolution.coevolve.state import State
from memgene.harness.bank import BankHarness, BankHarnessFactory
from memgene.retrieval.config import RetrievalConfig
from memgene.tasks.task import Regime, Task


@dataclass(frozen=True, slots=True)
class FactoryMaker:
    """Makes factories of bank harnesses for a state; all else about them is fixed. `check` looks at
    edges in time."""

    embedder: Embedder
    words: WordVectors
    models: EngineModels | None = None
    check: TimeCheck | None = None

    def __call__(self, config: RetrievalConfig, learned: LearnedMemory) -> BankHarnessFactory:
        """Memories that retrieve by `config` and hold what was `learned`."""
        return BankHarnessFactory(
            config,
            self.embedder,
            self.words,
            models=self.models,
            learned=learned,
            check=self.check,
        )


class TrainingMemories:
    """One memory per group (`own_group`), or one of the training groups' experience, written when
    first asked for and, with `links`, made a graph. Changes stay until `close` (a context
    manager)."""

    def __init__(
        self,
        task: Task,
        training: Sequence[str] | None,
        agent: Agent,
        make: FactoryMaker,
        state: State,
        links: LinkSettings | None = None,
    ) -> None:
        self._task = task
        self._training = training
        self._agent = agent
        self._make = make
        self._state = state
        self._links = links
        self._open: dict[str, LazyMemory] = {}

    def engine(self, question: LabelledQuestion, config: RetrievalConfig) -> MemoryEngine:
        """The memory a question is asked of, read by `config`."""
        own = self._task.regime is Regime.OWN_GROUP
        key = question.group if own else ""
        if key not in self._open:
            factory = self._make(self._state.config, self._state.learned)
            episodes = self._episodes(question.group if own else None)
            self._open[key] = LazyMemory(factory, self._agent, episodes, 1, None)
            if self._links is not None:
                self._engine(key).link(settings=self._links, check=self._make.check)
        return self._engine(key).with_config(config)

    def engines(self) -> list[MemoryEngine]:
        """Every memory that was opened."""
        return [self._engine(key) for key in self._open]

    def learned(self) -> LearnedMemory:
        """What all of them have learned, earlier states included."""
        return LearnedMemory.of([engine.bank for engine in self.engines()])

    def close(self) -> None:
        """Close every memory; what they learned is gone unless it was taken out."""
        while self._open:
            self._open.popitem()[1].close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _engine(self, key: str) -> MemoryEngine:
        try:
            harness = self._open[key].harness()
        except MemoryFailedError as failed:
            # what went wrong, an exhausted budget for one, is for the search to hear of
            raise (failed.__cause__ or failed) from None
        assert isinstance(harness, BankHarness)
        return harness.engine

    def _episodes(self, group: str | None) -> tuple[Episode, ...]:
        if group is not None:
            return tuple(e for e in self._task.episodes if e.group == group)
        inside = set(self._training or self._task.groups)
        return tuple(e for e in self._task.episodes if e.group in inside)
