"""Evaluates programs on samples, each in workers of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memgene.agents.protocol import Agent
from memgene.core import Context, Episode, Filled
from memgene.evaluation.case import Case
from memgene.evaluation.evaluator import evaluate_cases
from memgene.evaluation.executor import Executor
from memgene.evolution.programs.observed import Observed
from memgene.evolution.programs.sampling import Sample
from memgene.harness.plain import PlainHarness
from memgene.harness.program import ProgramHarnessFactory
from memgene.harness.protocol import Harness
from memgene.programs.program import Program
from memgene.programs.runtime import ProgramRuntime
from memgene.retrieval.config import RetrievalConfig
from memgene.sandbox import GuestError


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Cases of one evaluation, in the order of the questions, and what else was seen."""

    cases: tuple[Case, ...]
    observed: Observed


class ProgramEvaluator:
    """Asks one agent with the memories of programs: each evaluation writes its own (M* §5), so
    what is found does not depend on what was asked before. Workers live as long as their memory
    has questions left. `config` says how `toolkit.bank` retrieves (None: as the runtime does)."""

    def __init__(
        self,
        training: tuple[str, ...] | None,
        agent: Agent,
        runtime: ProgramRuntime,
        metrics: Sequence[str],
        executor: Executor | None = None,
        config: RetrievalConfig | None = None,
    ) -> None:
        self._config = config
        self._training = training
        self._agent = agent
        self._runtime = runtime
        self._metrics = tuple(metrics)
        self._executor = executor

    def evaluate(self, program: Program, sample: Sample, label: str) -> Evaluation:
        """One case a question. What the program does wrong costs it the question; it ends nothing.

        Raises what the agent, its model or the sandbox itself raise.
        """
        factory = ProgramHarnessFactory(program, self._runtime, config=self._config)

        def loaded() -> Harness:
            try:
                return factory()
            except GuestError as error:
                return _Unloadable(str(error))

        cases = evaluate_cases(
            sample.task,
            loaded,
            self._agent,
            sample.questions,
            metrics=self._metrics,
            training=self._training,
            executor=self._executor,
            label=label,
        )
        return Evaluation(tuple(cases), Observed.of(factory.log))


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
