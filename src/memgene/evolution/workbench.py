"""What all folds of an evolution share: agent, embedder, written memories, metrics, stop wish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memgene.agents.protocol import Agent
from memgene.agents.registry import make_agent
from memgene.core import LabelledQuestion
from memgene.embed.protocol import Embedder, WordVectors
from memgene.evaluation.executor import Executor, SerialExecutor, ThreadExecutor
from memgene.evaluation.memories import MemoryPool
from memgene.evolution.diagnosis import is_ranking
from memgene.evolution.interrupt import Interruptible
from memgene.evolution.learning import ANSWER_TOKENS, EVIDENCE, RankerLearner, learnable
from memgene.evolution.settings import EvolveSettings
from memgene.evolution.task_evaluator import TaskEvaluator
from memgene.harness.protocol import HarnessFactory
from memgene.harness.registry import LoadedModels, make_factory
from memgene.retrieval.config import RetrievalConfig
from memgene.tasks.metrics import METRICS
from memgene.tasks.task import Task


@dataclass(frozen=True, slots=True)
class Workbench:
    """Made once per evolution; close it (context manager) to release the memories."""

    task: Task
    settings: EvolveSettings
    agent: Agent
    embedder: Embedder
    words: WordVectors
    memories: MemoryPool
    interrupt: Interruptible
    static: Mapping[str, HarnessFactory | RetrievalConfig]

    @classmethod
    def of(cls, task: Task, settings: EvolveSettings, interrupt: Interruptible) -> Workbench:
        """Load what the settings name. `static` are the static rows by name, the bank as the
        configuration it is. Raises ConfigError when an agent, embedder or harness is unknown."""
        models = LoadedModels()
        agent = make_agent(settings.agent)
        embedder = models.embedder(settings.embedder)
        words = models.words(embedder)
        static: dict[str, HarnessFactory | RetrievalConfig] = {
            name: RetrievalConfig()
            if name == "bank"
            else make_factory(name, embedder=embedder, models=models)
            for name in settings.harnesses
        }
        return cls(task, settings, agent, embedder, words, MemoryPool(), interrupt, static)

    @property
    def metric(self) -> str:
        """What evolution maximises."""
        return self.settings.metric_for(self.task)

    @property
    def metrics(self) -> tuple[str, ...]:
        """All metrics that are reported, the run's own first."""
        return tuple(dict.fromkeys((self.metric, *METRICS)))

    def evaluator(
        self, part: Task, training: tuple[str, ...] | None, *, searching: bool = False
    ) -> TaskEvaluator:
        """An evaluator that may ask the questions of `part`.

        A search for a better ranking (`searching`) does not pay for answers.
        """
        ranking = searching and is_ranking(self.metric)
        metrics = tuple(m for m in self.metrics if not ranking or is_ranking(m))
        workers = self.settings.workers
        executor: Executor = ThreadExecutor(workers) if workers > 1 else SerialExecutor()
        return TaskEvaluator(
            part,
            training,
            self.agent,
            self.embedder,
            self.words,
            metrics,
            self.memories,
            executor,
        )

    def learner(self, part: Task, training: tuple[str, ...] | None) -> RankerLearner:
        """Fits rankers on questions of `part`."""
        return RankerLearner(
            part,
            training,
            self.agent,
            self.embedder,
            self.words,
            self.memories,
            self.settings.seed,
        )

    def __enter__(self) -> Workbench:
        return self

    def __exit__(self, *_: object) -> None:
        self.memories.close()


def can_learn(questions: Sequence[LabelledQuestion]) -> bool:
    """Whether there is anything to fit a ranker on: usable evidence, or answers for the proxy."""
    return any(learnable(q.gold, target) for q in questions for target in (EVIDENCE, ANSWER_TOKENS))
