"""Evaluates programs on samples, each in workers of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memgene.agents.protocol import Agent
from memgene.core import Context, Episode, Filled
from memgene.evaluation.case import Case
from memgene.evaluation.evaluator import evaluate_cases
from memgene.evaluation.executor import Executor
from memgene.evaluation.memories import MemoryPool
from memgene.evolution.programs.observed import Observed
from memgene.evolution.programs.sampling import Sample
from memgene.harness.plain import PlainHarness
from memgene.harness.program import ProgramHarness, ProgramHarnessFactory, ProgramLog
from memgene.harness.protocol import Harness
from memgene.programs.program import Program
from memgene.programs.runtime import ProgramRuntime
from memgene.sandbox import GuestError


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Cases of one evaluation, in the order of the questions, and what else was seen."""

    cases: tuple[Case, ...]
    observed: Observed


class ProgramEvaluator:
    """Asks one agent with the memories of programs.

    What a program has written is kept until `forget`, so that a sample can be asked in parts
    without writing twice.
    """

    def __init__(
        self,
        training: tuple[str, ...] | None,
        agent: Agent,
        runtime: ProgramRuntime,
        metrics: Sequence[str],
        executor: Executor | None = None,
    ) -> None:
        self._training = training
        self._agent = agent
        self._runtime = runtime
        self._metrics = tuple(metrics)
        self._executor = executor
        self._memories = MemoryPool()
        self._factories: dict[str, _Kept] = {}

    def evaluate(self, program: Program, sample: Sample, label: str) -> Evaluation:
        """One case a question. What the program does wrong costs it the question; it ends nothing.

        Raises what the agent, its model or the sandbox itself raise.
        """
        factory = self._factories.setdefault(program.digest, _Kept(program, self._runtime))
        cases = evaluate_cases(
            sample.task,
            factory,
            self._agent,
            sample.questions,
            metrics=self._metrics,
            training=self._training,
            executor=self._executor,
            label=label,
            memories=self._memories,
        )
        return Evaluation(tuple(cases), Observed.of(factory.log))

    def forget(self) -> None:
        """End the workers of what was evaluated so far."""
        self._memories.close()
        self._factories.clear()


class _Kept:
    """Harnesses of one program, whose written memories can be asked again (`SharedWrites`)."""

    def __init__(self, program: Program, runtime: ProgramRuntime) -> None:
        self._factory = ProgramHarnessFactory(program, runtime)
        self.write_key = f"program:{program.digest}"

    @property
    def log(self) -> ProgramLog:
        """What happened in all of them."""
        return self._factory.log

    def __call__(self) -> Harness:
        """A fresh memory; where the program cannot be loaded, one that fails every question."""
        try:
            return self._factory()
        except GuestError as error:
            return _Unloadable(str(error))

    def memory(self, harness: Harness) -> object:
        """The written memory is the harness itself: its worker holds all."""
        return harness

    def attach(self, memory: object) -> Harness:
        """The same memory; closing it leaves the worker at work."""
        assert isinstance(memory, ProgramHarness | _Unloadable)
        return _Lent(memory)


class _Unloadable(PlainHarness):
    """Stands for a program that could not be loaded."""

    name = "program"
    yields_hits = False

    def __init__(self, problem: str) -> None:
        self._problem = problem

    def write(self, item: Filled, episode: Episode) -> None:
        """Nothing: there is no program."""

    def read(self, query: Filled) -> Context:
        """Says why there is none."""
        return Context("", failure=self._problem)

    def close(self) -> None:
        """Nothing is open."""


class _Lent:
    """A memory that somebody else closes."""

    def __init__(self, inner: ProgramHarness | _Unloadable) -> None:
        self._inner = inner
        self.name = inner.name
        self.instructions = inner.instructions
        self.item_schema = inner.item_schema
        self.query_schema = inner.query_schema
        self.yields_hits = inner.yields_hits
        self.thread_safe = inner.thread_safe
        self.write = inner.write
        self.read = inner.read

    def close(self) -> None:
        """Nothing: the pool closes the memory."""
