"""The best weight that is the same for all questions: a router earns its keep only beyond it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memgene.core import LabelledQuestion
from memgene.evolution.coevolve.field import Field
from memgene.evolution.coevolve.memories import TrainingMemories
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.router.observation import smoothed

SHARES = tuple(round(step / 20, 2) for step in range(21))


@dataclass(frozen=True, slots=True)
class FixedWeight:
    """A share of the dense route and its mean reward on the questions it was chosen on."""

    share: float
    score: float


def best_fixed(
    field: Field,
    memories: TrainingMemories,
    questions: Sequence[LabelledQuestion],
    config: RetrievalConfig,
) -> FixedWeight:
    """The best of twenty-one shares of the dense route (0, 0.05 … 1), the smallest of equals;
    `config` retrieves by two routes, without a router. As in a prior, no route has less than the
    floor: so a configuration with this `route_prior` retrieves."""
    rewards: list[list[float]] = []
    for labelled in questions:
        asked = field.ask(memories.engine(labelled, config), labelled)
        outcomes = [field.play(asked, smoothed(np.array([s, 1 - s]), 1.0)) for s in SHARES]
        found = [outcome.reward for outcome in outcomes if outcome.reward is not None]
        if len(found) == len(SHARES):
            rewards.append(found)
    means = np.mean(rewards, axis=0)
    best = int(np.argmax(means))
    return FixedWeight(SHARES[best], float(means[best]))
