"""One pass over the training questions: the router learns, the memory learns, or both do.

Block-coordinate (CoEvo-Mem §4): in a router phase nothing is written to the memory; in a memory
phase the router's mean policy retrieves and stays as it is.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memgene.core import LabelledQuestion
from memgene.engine import compose
from memgene.engine.credit.give import give_credit
from memgene.engine.reading import Retrieval
from memgene.evolution.coevolve.crediting import Crediting
from memgene.evolution.coevolve.field import Asked, Field, raised
from memgene.evolution.coevolve.memories import TrainingMemories
from memgene.evolution.coevolve.steps import Phase, Step
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.question_type import predict_type
from memgene.retrieval.router.observation import Floats
from memgene.retrieval.router.settings import Baseline
from memgene.retrieval.router.training import RouterTrainer

EXPLORED = 5  # one of so many first memories takes the first place when exploring


@dataclass(slots=True)
class Pass:
    """What a pass did: rewards of what was retrieved by the mean policy (in a router phase: of
    what was tried), the mean weights by predicted question type, and how often each thing was
    done."""

    rewards: list[float] = field(default_factory=list)
    weights: dict[str, list[Floats]] = field(default_factory=dict)
    played: int = 0
    credited: int = 0
    distilled: int = 0
    degraded: list[str] = field(default_factory=list)


class Trainer:
    """Takes steps over the training questions of one run."""

    def __init__(
        self,
        field_: Field,
        memories: TrainingMemories,
        crediting: Crediting,
        questions: Sequence[LabelledQuestion],
        seed: int,
        tell: Callable[[int, int], None] | None = None,
    ) -> None:
        self._field = field_
        self._memories = memories
        self._crediting = crediting
        self._questions = tuple(questions)
        self._seed = seed
        self._tell = tell

    def run(self, step: Step, config: RetrievalConfig, learner: RouterTrainer | None) -> Pass:
        """One pass in an order drawn from the seed and the step. `learner` holds the router (None:
        there is none, the configuration's own weights serve)."""
        done = Pass()
        epochs = learner.settings.epochs if learner is not None else 1
        order = [q for epoch in range(epochs) for q in self._shuffled(step, epoch)]
        for count, labelled in enumerate(order, 1):
            router = config.router if learner is None else learner.router
            engine = self._memories.engine(labelled, config.changed(router=router))
            asked = self._field.ask(engine, labelled)
            done.degraded.extend(asked.prepared.degraded)
            if step.phase is Phase.ROUTER:
                assert learner is not None
                self._route(asked, learner, done)
            else:
                if step.phase is Phase.BOTH and learner is not None:
                    self._route(asked, learner, done, remember=False)
                self._credit(asked, step, done)
            if router is not None:
                kind = predict_type(labelled.question.text)
                weights = router.weights(asked.prepared.observation)
                done.weights.setdefault(kind, []).append(weights)
            if self._tell is not None:
                self._tell(count, len(order))
        if learner is not None and step.phase is not Phase.MEMORY:
            learner.flush()
        if step.phase is not Phase.ROUTER:
            self._crediting.thin(self._memories.engines())
        return done

    def _shuffled(self, step: Step, epoch: int) -> list[LabelledQuestion]:
        order = list(self._questions)
        random.Random(f"{self._seed}:order:{step.number}:{epoch}").shuffle(order)
        return order

    def _route(
        self, asked: Asked, learner: RouterTrainer, done: Pass, *, remember: bool = True
    ) -> None:
        """Try sampled weights, and learn from what they yield."""
        observation = asked.prepared.observation
        tried = learner.sample(observation)
        outcomes = [self._field.play(asked, weights) for weights in tried]
        rewards = [o.reward for o in outcomes if o.reward is not None]
        done.played += len(outcomes)
        if len(rewards) < len(outcomes):
            return  # the metric does not apply to this question
        greedy: float | None = None
        if learner.settings.baseline is Baseline.SELF_CRITICAL:
            greedy = self._field.play(asked).reward
            done.played += 1
        learner.learn(observation, tried, rewards, greedy)
        if remember:
            done.rewards.append(sum(rewards) / len(rewards))

    def _credit(self, asked: Asked, step: Step, done: Pass) -> None:
        """Retrieve by the mean policy, answer, and let the memories that were shown learn."""
        found = self._explored(asked, self._field.found(asked), step)
        seen = self._field.answered(asked.labelled, found)
        done.played += 1
        if seen.reward is None:
            return
        done.rewards.append(seen.reward)
        interaction, degraded = self._crediting.interaction(asked, seen, step)
        done.degraded.extend(degraded)
        credited = give_credit(asked.engine, interaction, self._crediting.settings)
        done.credited += len(credited.changes)
        done.distilled += credited.added is not None
        self._crediting.grown(asked.engine)

    def _explored(self, asked: Asked, found: Retrieval, step: Step) -> Retrieval:
        """Now and then another memory of those that would be shown comes first."""
        rng = random.Random(f"{self._seed}:explore:{step.number}:{asked.labelled.id}")
        _, shown = compose(found)
        if rng.random() >= self._crediting.explore or shown < 2:
            return found
        return raised(found, rng.randrange(1, min(EXPLORED, shown)))
