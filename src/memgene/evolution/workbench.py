"""What all folds of an evolution share: agent, embedder, written memories, metrics, stop wish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from memgene.agents.protocol import Agent
from memgene.agents.registry import make_agent, useful_workers
from memgene.core import LabelledQuestion
from memgene.embed.protocol import Embedder, WordVectors
from memgene.engine.models import EngineModels
from memgene.evaluation.executor import Executor, SerialExecutor, ThreadExecutor
from memgene.evaluation.memories import MemoryPool
from memgene.evolution.diagnosis import is_ranking
from memgene.evolution.interrupt import Interruptible
from memgene.evolution.learning import ANSWER_TOKENS, EVIDENCE, RankerLearner, learnable
from memgene.evolution.means import Means, Use
from memgene.evolution.provenance import prompts_digest
from memgene.evolution.settings import EvolveSettings
from memgene.evolution.task_evaluator import TaskEvaluator
from memgene.harness.protocol import HarnessFactory
from memgene.harness.registry import LoadedModels, make_factory
from memgene.llm.ledger import Ledger
from memgene.llm.protocol import LLM
from memgene.llm.roles import RoleModels
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.levers import Need
from memgene.retrieval.stages.host import StageHost
from memgene.sandbox import Level, probe
from memgene.settings import SandboxSettings
from memgene.tasks.metrics import METRICS
from memgene.tasks.task import Task

_PROPOSING: Mapping[str, tuple[str, ...]] = {
    "config": ("diagnose",),
    "program": ("reflector",),
    "coevolve": (),
    "joint": ("diagnose", "reflector"),
}
"""Roles of the models that propose, by strategy."""


@dataclass(frozen=True, slots=True)
class Workbench:
    """Made once per evolution; close it (context manager) to release the memories and programs.

    `sandbox` is how programs run, its level the isolation that was achieved; None where none run.
    """

    task: Task
    settings: EvolveSettings
    agent: Agent
    embedder: Embedder
    words: WordVectors
    memories: MemoryPool
    interrupt: Interruptible
    static: Mapping[str, HarnessFactory | RetrievalConfig]
    llms: RoleModels | None = None
    sandbox: SandboxSettings | None = None
    held: ExitStack = field(default_factory=ExitStack)
    stages: StageHost | None = None

    @classmethod
    def of(
        cls,
        task: Task,
        settings: EvolveSettings,
        interrupt: Interruptible,
        llms: RoleModels | None = None,
    ) -> Workbench:
        """Load what the settings name. `static` are the static rows by name, the bank as the
        configuration it is. Raises ConfigError when an agent, embedder or harness is unknown, and
        when a language model is needed that is not set; SandboxUnavailableError where programs
        cannot be isolated as required."""
        if settings.attributes_with_a_model:
            (llms or RoleModels.of({})).need("attribute", "attribution=llm or check_time=true")
        if settings.proposer == "llm":
            for asked in _PROPOSING[settings.strategy]:
                (llms or RoleModels.of({})).need(asked, "proposer 'llm'")
        with ExitStack() as stack:
            models = stack.enter_context(LoadedModels(llms, sandbox=settings.sandbox))
            agent = make_agent(settings.agent, llms)
            embedder = models.embedder(settings.embedder)
            words = models.words(embedder)
            static: dict[str, HarnessFactory | RetrievalConfig] = {
                name: RetrievalConfig()
                if name == "bank"
                else make_factory(name, embedder=embedder, models=models)
                for name in settings.harnesses
            }
            sandbox = models.sandbox
            if settings.strategy in ("program", "joint"):
                sandbox = _found(settings.sandbox)
            memories = stack.enter_context(MemoryPool())
            held = stack.pop_all()
        return cls(
            task,
            settings,
            agent,
            embedder,
            words,
            memories,
            interrupt,
            static,
            llms,
            sandbox,
            held,
            models.stages(),
        )

    @property
    def metric(self) -> str:
        """What evolution maximises."""
        return self.settings.metric_for(self.task)

    @property
    def metrics(self) -> tuple[str, ...]:
        """All metrics that are reported, the run's own first."""
        return tuple(dict.fromkeys((self.metric, *METRICS)))

    @property
    def ledger(self) -> Ledger | None:
        """Who counts and limits the calls of language models; None without any."""
        return self.llms.ledger if self.llms is not None and self.roles else None

    @property
    def roles(self) -> Mapping[str, LLM]:
        """The language models that may be called, by role: what this evolution has a use for."""
        strategy = self.settings.strategy
        wanted = [] if strategy == "program" else ["extract", "rewrite"]
        wanted += ["toolkit"] if strategy in ("program", "joint") else []
        wanted += _PROPOSING[strategy] if self.settings.proposer == "llm" else []
        wanted += ["attribute"] if self.settings.attributes_with_a_model else []
        wanted += ["task"] if self.answers_with_a_model else []
        found = {role: self.llms.get(role) for role in wanted} if self.llms else {}
        return {role: model for role, model in sorted(found.items()) if model is not None}

    @property
    def answers_with_a_model(self) -> bool:
        """Whether the agent is a language model."""
        return self.settings.agent != "offline"

    @property
    def means(self) -> Means:
        """What levers may need, as far as it is here whatever the task."""
        uses = {"extract": Use.EXTRACT, "rewrite": Use.REWRITE, "task": Use.ANSWER}
        found = {uses[role] for role in self.roles if role in uses}
        return frozenset({Need.EMBEDDINGS, Need.WORD_VECTORS, *found})

    @property
    def asked(self) -> dict[str, Any]:
        """What decides the result, as run.toml keeps it: settings, models by role, prompts, how
        programs were to run where any do."""
        asked = self.settings.to_dict(self.task)
        if self.sandbox is not None:
            asked["sandbox"] = self.settings.sandbox.model_dump()
        if self.roles:
            names = {role: model.name for role, model in self.roles.items()}
            asked["models"] = {**names, "prompts": prompts_digest()}
        return asked

    @property
    def isolation(self) -> str | None:
        """The sandbox level at which programs run; None where none run."""
        return self.sandbox.level if self.sandbox else None

    @property
    def engine_models(self) -> EngineModels:
        """The models that the bank's engine may call, and who runs its stages."""
        return EngineModels(
            self.roles.get("extract"),
            self.roles.get("rewrite"),
            self.roles.get("attribute"),
            self.stages,
        )

    def diagnoser(self) -> LLM:
        """The model that diagnoses."""
        return self.roles["diagnose"]

    def executor(self) -> Executor:
        """Answers questions side by side where that is of use."""
        workers = self.settings.workers or useful_workers(self.agent)
        return ThreadExecutor(workers) if workers > 1 else SerialExecutor()

    def evaluator(
        self,
        part: Task,
        training: tuple[str, ...] | None,
        *,
        searching: bool = False,
        agent: Agent | None = None,
    ) -> TaskEvaluator:
        """An evaluator that may ask the questions of `part`, by default with the run's agent.

        A search for a better ranking (`searching`) does not pay for answers.
        """
        ranking = searching and is_ranking(self.metric)
        metrics = tuple(m for m in self.metrics if not ranking or is_ranking(m))
        executor = self.executor()
        return TaskEvaluator(
            part,
            training,
            agent or self.agent,
            self.embedder,
            self.words,
            metrics,
            self.memories,
            executor,
            self.engine_models,
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
            self.engine_models,
        )

    def __enter__(self) -> Workbench:
        return self

    def __exit__(self, *_: object) -> None:
        self.held.close()


def _found(asked: SandboxSettings) -> SandboxSettings:
    """How programs will run here. Raises SandboxUnavailableError when that is not as asked."""
    here = probe()
    here.demand(Level.named(asked.level))
    return asked.model_copy(update={"level": here.level.label})


def can_learn(questions: Sequence[LabelledQuestion]) -> bool:
    """Whether there is anything to fit a ranker on: usable evidence, or answers for the proxy."""
    return any(learnable(q.gold, target) for q in questions for target in (EVIDENCE, ANSWER_TOKENS))
