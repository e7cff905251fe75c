"""Steps taken one after another: from a state to the next, in memories made for each step.

Every step writes its memories anew and applies what was learned before, so that a run that is
resumed after any step goes on exactly as one that was never stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memgene.agents.protocol import Agent
from memgene.core import LabelledQuestion
from memgene.engine.linking import LinkSettings
from memgene.evolution.coevolve.crediting import Crediting
from memgene.evolution.coevolve.field import Field
from memgene.evolution.coevolve.fixed import FixedWeight, best_fixed
from memgene.evolution.coevolve.memories import FactoryMaker, TrainingMemories
from memgene.evolution.coevolve.phases import Pass, Trainer
from memgene.evolution.coevolve.picture import GraphPicture, picture
from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.coevolve.state import State
from memgene.evolution.coevolve.steps import Phase, Step
from memgene.llm.protocol import LLM
from memgene.retrieval.observing import features_of
from memgene.retrieval.router.observation import Floats
from memgene.retrieval.router.router import Router
from memgene.retrieval.router.settings import Baseline
from memgene.retrieval.router.training import RouterTrainer
from memgene.tasks.task import Regime, Task

_CURVE = 20
_PICTURED = 100
_SEEDS = 100_003  # spreads the seeds of routers


@dataclass(frozen=True, slots=True)
class TrainingTools:
    """What every training of a run shares. `attributor` and `distiller` are language models (None:
    offline)."""

    agent: Agent
    make: FactoryMaker
    plan: CoevolvePlan
    reward: str
    seed: int
    attributor: LLM | None = None
    distiller: LLM | None = None
    tell: Callable[[int, int], None] | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """A step that was taken: the state it led to and what happened."""

    state: State
    rewards: tuple[float, ...]
    policy: Mapping[str, Mapping[str, float]]
    played: int
    credited: int
    distilled: int
    values: Mapping[str, float]
    degraded: tuple[str, ...]

    @property
    def reward(self) -> float | None:
        """Mean reward of the pass."""
        return sum(self.rewards) / len(self.rewards) if self.rewards else None

    @property
    def curve(self) -> tuple[float, ...]:
        """Mean rewards of at most twenty parts of the pass, in order."""
        parts = np.array_split(np.asarray(self.rewards), min(_CURVE, len(self.rewards)) or 1)
        return tuple(round(float(part.mean()), 6) for part in parts if len(part))


class Training:
    """Training over the questions of one part of a task."""

    def __init__(
        self,
        tools: TrainingTools,
        task: Task,
        training: Sequence[str] | None,
        questions: Sequence[LabelledQuestion],
        field: Field | None = None,
    ) -> None:
        self._tools = tools
        self._task = task
        self._training = training
        self._questions = tuple(questions)
        self._field = field or Field(task, tools.agent, tools.reward)

    @property
    def questions(self) -> int:
        """How many there are in a pass."""
        return len(self._questions)

    def cost(self, step: Step) -> int:
        """How many questions a step plays, at most."""
        learner = self._tools.plan.learner
        tries = (learner.samples + (learner.baseline is Baseline.SELF_CRITICAL)) * learner.epochs
        if step.phase is Phase.MEMORY:
            return len(self._questions)
        credited = learner.epochs if step.phase is Phase.BOTH else 0
        return (tries + credited) * len(self._questions)

    def routes(self, state: State) -> tuple[str, ...]:
        """What a router of this configuration weighs."""
        with self._memories(state) as memories:
            return self._routes(state, memories)

    def played(self, state: State) -> list[float]:
        """Rewards of the questions the metric applies to, nothing learned from them."""
        with self._memories(state) as memories:
            rewards = [
                self._field.play(self._field.ask(memories.engine(q, state.config), q)).reward
                for q in self._questions
            ]
        return [reward for reward in rewards if reward is not None]

    def take(self, step: Step, state: State) -> Taken:
        """One step from a state."""
        tools, plan = self._tools, self._tools.plan
        learner = None
        with self._memories(state, step.phase) as memories:
            if plan.router and step.phase is not Phase.MEMORY:
                router = state.config.router or self.fresh(state, memories)
                learner = RouterTrainer(router, plan.learner, tools.seed * _SEEDS + step.number)
            shared = self._task.regime is Regime.SHARED
            crediting = Crediting(
                plan, tools.seed, tools.attributor, tools.distiller, shared=shared
            )
            trainer = Trainer(
                self._field, memories, crediting, self._questions, tools.seed, tools.tell
            )
            done = trainer.run(step, state.config, learner)
            learned = state.learned if step.phase is Phase.ROUTER else memories.learned()
        config = state.config
        if learner is not None:
            config = config.changed(router=learner.router)
        return _taken(State(config, learned), done)

    def fixed(self, state: State) -> FixedWeight:
        """The best share of the dense route that is the same for all questions."""
        with self._memories(state) as memories:
            return best_fixed(self._field, memories, self._questions, state.config)

    def picture(self, state: State) -> GraphPicture | None:
        """The graph around the question (of the first hundred) whose memories learned most: the
        largest sum of |Q − ½| over what is shown. None where nothing was learned of any."""
        means = {v.unit_id: v.q for v in state.learned.values if v.cluster == ""}
        best, drawn = 0.0, None
        with self._memories(state, Phase.MEMORY) as memories:
            for labelled in self._questions[:_PICTURED]:
                asked = self._field.ask(memories.engine(labelled, state.config), labelled)
                hits = self._field.play(asked).exposed
                moved = sum(abs(means.get(hit.id, 0.5) - 0.5) for hit in hits)
                if moved > best:
                    best, drawn = moved, picture(asked.engine, asked.query, hits)
        return drawn

    def _memories(self, state: State, phase: Phase = Phase.ROUTER) -> TrainingMemories:
        """Memories in a state. Only who gives credit needs the graph: what retrieval needs of it,
        a memory of its configuration has."""
        plan, tools = self._tools.plan, self._tools
        links = LinkSettings() if plan.link and phase is not Phase.ROUTER else None
        return TrainingMemories(self._task, self._training, tools.agent, tools.make, state, links)

    def fresh(self, state: State, memories: TrainingMemories) -> Router:
        """An untrained router, which is the prior, that knows how its features lie here."""
        settings, make = self._tools.plan.learner, self._tools.make
        routes = self._routes(state, memories)
        router = Router.fresh(
            routes,
            features_of(routes),
            make.embedder.dimension,
            hidden=settings.hidden,
            bound=settings.bound,
            strength=settings.strength,
            seed=self._tools.seed,
        )
        config = state.config.changed(router=router)
        seen = [
            self._field.ask(memories.engine(q, config), q).prepared.observation.features
            for q in self._questions
        ]
        return router.with_statistics(np.array(seen))

    def _routes(self, state: State, memories: TrainingMemories) -> tuple[str, ...]:
        """What there is to weigh, overrides for types of question aside: one router serves all."""
        first, config = self._questions[0], replace(state.config, per_type={})
        return self._field.ask(memories.engine(first, config), first).prepared.routes


def _taken(state: State, done: Pass) -> Taken:
    return Taken(
        state=state,
        rewards=tuple(done.rewards),
        policy=_policy(done.weights, state),
        played=done.played,
        credited=done.credited,
        distilled=done.distilled,
        values=_spread([value.q for value in state.learned.values if value.cluster == ""]),
        degraded=tuple(done.degraded),
    )


def _policy(weights: Mapping[str, Sequence[Floats]], state: State) -> dict[str, dict[str, float]]:
    """Mean weights of the routes by predicted question type."""
    router = state.config.router
    if router is None:
        return {}
    return {
        kind: {
            route: round(float(mean), 6)
            for route, mean in zip(router.routes, np.mean(found, axis=0), strict=True)
        }
        for kind, found in sorted(weights.items())
    }


def _spread(values: Sequence[float]) -> dict[str, float]:
    """Count, mean and quantiles."""
    if not values:
        return {"count": 0.0}
    found = np.asarray(values)
    quantiles = {f"p{q}": float(np.percentile(found, q)) for q in (5, 25, 50, 75, 95)}
    spread = {"count": float(len(found)), "mean": float(found.mean()), **quantiles}
    return {name: round(value, 6) for name, value in spread.items()}
