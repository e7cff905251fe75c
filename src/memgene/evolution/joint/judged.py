"""A genome with its score, and who answers questions with one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memgene.agents.protocol import Agent
from memgene.core import LabelledQuestion
from memgene.evaluation.case import Case
from memgene.evolution.coevolve.workshop import maker_of
from memgene.evolution.joint.genome import Genome
from memgene.evolution.programs.evaluating import ProgramEvaluator
from memgene.evolution.programs.sampling import Sample
from memgene.evolution.workbench import Workbench
from memgene.harness.program import ProgramHarnessFactory
from memgene.harness.protocol import HarnessFactory
from memgene.programs.runtime import ProgramRuntime
from memgene.retrieval.config import RetrievalConfig
from memgene.tasks.task import Task

START = "start"


@dataclass(frozen=True, slots=True)
class Judged:
    """A genome with its score and cases on the judging questions. `id` is `start`, or `NN-ARM/ID`
    of the pass that made it; `number` that pass (0 for the start)."""

    id: str
    number: int
    genome: Genome
    score: float
    cases: Sequence[Case] = field(repr=False)


class GenomeEvaluator:
    """Asks one agent with the memories of genomes, over one part of a task. A program runs in
    workers of its own, the bank alone shares what was written. `sample` gives questions the
    episodes that a program remembers for them."""

    def __init__(
        self,
        bench: Workbench,
        task: Task,
        training: tuple[str, ...] | None,
        agent: Agent,
        runtime: ProgramRuntime,
        sample: Callable[[Sequence[LabelledQuestion]], Sample],
    ) -> None:
        self._bench = bench
        self._training = training
        self._agent = agent
        self._runtime = runtime
        self._sample = sample
        self._make = maker_of(bench)
        self.bank = bench.evaluator(task, training, searching=True, agent=agent)

    def evaluate(
        self, genome: Genome, questions: Sequence[LabelledQuestion], label: str
    ) -> Sequence[Case]:
        """One case per question, in order."""
        if genome.program is not None:
            asked = self._sample(questions)
            return self.programs(genome.config).evaluate(genome.program, asked, label).cases
        if genome.learned.is_empty:
            return self.bank.evaluate(genome.config, questions, label)
        return self.bank.evaluate_harness(self.subject(genome), questions, label)

    def programs(self, config: RetrievalConfig) -> ProgramEvaluator:
        """Evaluates programs whose bank retrieves by `config`."""
        bench = self._bench
        return ProgramEvaluator(
            self._training, self._agent, self._runtime, bench.metrics, bench.executor(), config
        )

    def subject(self, genome: Genome, name: str = "program") -> HarnessFactory:
        """Its memories."""
        if genome.program is None:
            return self._make(genome.config, genome.learned)
        return ProgramHarnessFactory(genome.program, self._runtime, name, config=genome.config)
