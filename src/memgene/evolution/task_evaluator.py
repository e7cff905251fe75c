"""Evaluates configurations and harnesses on one task with one agent, sharing written memories."""

from __future__ import annotations

from collections.abc import Sequence

from memgene.agents.protocol import Agent
from memgene.core import LabelledQuestion
from memgene.embed.protocol import Embedder, WordVectors
from memgene.engine.models import EngineModels
from memgene.evaluation.case import Case
from memgene.evaluation.evaluator import evaluate_cases
from memgene.evaluation.executor import Executor
from memgene.evaluation.memories import MemoryPool
from memgene.evolution.diagnosis import cut_of
from memgene.harness.bank import BankHarnessFactory
from memgene.harness.protocol import HarnessFactory
from memgene.retrieval.config import RetrievalConfig
from memgene.tasks.task import Task

_TRACE = 10  # hits kept of a question that shows fewer: a run keeps the cases of every candidate


class TaskEvaluator:
    """An `Evaluator` over the real thing. `task` decides which questions it can be asked; the
    first of `metrics` is the run's own."""

    def __init__(
        self,
        task: Task,
        training: tuple[str, ...] | None,
        agent: Agent,
        embedder: Embedder,
        words: WordVectors,
        metrics: Sequence[str],
        memories: MemoryPool,
        executor: Executor | None = None,
        models: EngineModels | None = None,
    ) -> None:
        self._task = task
        self._training = training
        self._agent = agent
        self._embedder = embedder
        self._words = words
        self._metrics = tuple(metrics)
        self._memories = memories
        self._executor = executor
        self._models = models

    def evaluate(
        self, config: RetrievalConfig, questions: Sequence[LabelledQuestion], label: str
    ) -> list[Case]:
        """Cases of the bank with this configuration."""
        widest = max(
            config.context_k, *(config.for_type(kind).context_k for kind in config.per_type), 0
        )
        factory = BankHarnessFactory(config, self._embedder, self._words, models=self._models)
        return self._run(factory, questions, label, widest)

    def evaluate_harness(
        self, factory: HarnessFactory, questions: Sequence[LabelledQuestion], label: str
    ) -> list[Case]:
        """Cases of any harness."""
        return self._run(factory, questions, label, 0)

    def _run(
        self,
        factory: HarnessFactory,
        questions: Sequence[LabelledQuestion],
        label: str,
        widest: int,
    ) -> list[Case]:
        return evaluate_cases(
            self._task,
            factory,
            self._agent,
            questions,
            metrics=self._metrics,
            training=self._training,
            executor=self._executor,
            label=label,
            trace_hits=max(_TRACE, widest, cut_of(self._metrics[0]) or 0),
            memories=self._memories,
        )
