"""A memory that is only ever told rewards finds what helps, and forgets it all when asked to."""

from __future__ import annotations

import io
import random

from memgene import Memory
from memgene.embed import Embedder

GOALS = (
    "clean the pan and put it into the cupboard",
    "heat a potato for dinner",
    "find two pillows for the sofa",
    "look at the book under the desk lamp",
    "cool a tomato and put it on the counter",
    "water the plants on the balcony",
)
ROUNDS = 160
RIGHT, WRONG = 0.9, 0.2
"""How often the good and the bad plan end well: rewards are noisy."""


def exported(memory: Memory) -> str:
    written = io.StringIO()
    memory.export(written)
    return written.getvalue()


def test_rewards_alone_make_the_good_plan_lead(static: Embedder) -> None:
    draw = random.Random(0)
    with Memory(embedder=static) as memory:
        good = set()
        for goal in GOALS:  # of two plans alike the older leads, and that is the bad one
            memory.add(f"Task: {goal}. Plan one.")
            (added,) = memory.add(f"Task: {goal}. Plan two.")
            good.add(added.id)
        before = exported(memory)
        successes = []
        for _ in range(ROUNDS):
            result = memory.search(f"How do I {draw.choice(GOALS)}?")
            successes.append(result[0].id in good)
            reward = float(draw.random() < (RIGHT if successes[-1] else WRONG))
            memory.feedback(result, reward)
        assert not any(successes[:1])
        assert sum(successes[: ROUNDS // 4]) < sum(successes[-ROUNDS // 4 :])
        assert sum(successes[-ROUNDS // 4 :]) > 0.9 * ROUNDS / 4
        memory.undo(all=True)
        assert exported(memory) == before
        assert memory.search(f"How do I {GOALS[0]}?")[0].id not in good
