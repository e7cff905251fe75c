"""How long a pass over 1,000 training questions takes: router and memory phases.

    python benchmarks/phases.py --data PATH/locomo [--units 5000] [--questions 1000]

One bank holds the conversations of LoCoMo up to so many turns; its questions are played in it. The
bank is written, linked and embedded before the clock starts; questions are embedded beforehand,
too, and the learned fusion of the default preset is fitted. The reward is evidence recall, so that
no answer is made. A bound in the same run: what retrieving and ranking each question once takes
without any learning. Seconds of the processor tell more than the clock where something else runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from common import finish, note, table, timed

from memgene.agents.offline import OfflineAgent
from memgene.core import LabelledQuestion
from memgene.embed.registry import load_embedder, word_vectors
from memgene.engine.linking import LinkSettings
from memgene.evaluation import MemoryPool
from memgene.evolution.coevolve.crediting import Crediting
from memgene.evolution.coevolve.field import Field
from memgene.evolution.coevolve.memories import FactoryMaker, TrainingMemories
from memgene.evolution.coevolve.phases import Trainer
from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.coevolve.state import State
from memgene.evolution.coevolve.steps import Phase, Step
from memgene.evolution.coevolve.training import Training, TrainingTools
from memgene.evolution.coevolve.workshop import start_state
from memgene.evolution.learning import RankerLearner
from memgene.retrieval.router.training import RouterTrainer
from memgene.tasks import load_task
from memgene.tasks.part import counted
from memgene.tasks.task import Regime, Task

REWARD = "recall@10"
PLANS = {"paper": CoevolvePlan.paper(), "default": CoevolvePlan()}
FITTED_ON = 200
"""Questions that the learned fusion is fitted on; how it ranks does not change what it costs."""


def main() -> None:
    options = _options()
    task, questions = _cut(options)
    maker = FactoryMaker(load_embedder("static"), word_vectors())
    rows: dict[str, dict[str, float]] = {}
    for name, plan in PLANS.items():
        state = _start(plan, task, questions[:FITTED_ON], maker)
        for phase in (Phase.ROUTER, Phase.MEMORY):
            found = _seconds(task, questions, maker, plan, state, phase)
            rows[f"{name}, {phase}"] = found
            note(f"{name}, {phase}: {found['pass']:.1f} s")
    table(
        f"a pass over {len(questions)} questions, {options.units} units",
        ("phase", "seconds", "of the processor", "without learning", "of the processor"),
        [
            (
                name,
                f"{found['pass']:.1f}",
                f"{found['pass_processor']:.1f}",
                f"{found['play']:.1f}",
                f"{found['play_processor']:.1f}",
            )
            for name, found in rows.items()
        ],
    )
    finish(
        "phases",
        {
            "questions": len(questions),
            "units": options.units,
            "seconds": {
                name: {part: round(value, 2) for part, value in found.items()}
                for name, found in rows.items()
            },
        },
    )


def _start(
    plan: CoevolvePlan, task: Task, questions: Sequence[LabelledQuestion], maker: FactoryMaker
) -> State:
    """What the preset starts from."""
    with MemoryPool() as memories:
        learner = RankerLearner(
            task, task.groups, OfflineAgent(), maker.embedder, maker.words, memories
        )
        return start_state(plan, plan.start(), learner, questions)


def _seconds(
    task: Task,
    questions: Sequence[LabelledQuestion],
    maker: FactoryMaker,
    plan: CoevolvePlan,
    state: State,
    phase: Phase,
) -> dict[str, float]:
    """Seconds of a pass and of playing each question once, by the clock and of the processor."""
    agent = OfflineAgent()
    field = Field(task, agent, REWARD)
    links = LinkSettings() if plan.link and phase is Phase.MEMORY else None
    with TrainingMemories(task, task.groups, agent, maker, state, links) as memories:
        engine = memories.engine(questions[0], state.config)
        with timed() as play:
            for question in questions:
                field.play(field.ask(engine, question))
        learner = None
        if phase is Phase.ROUTER:
            router = Training(
                TrainingTools(agent, maker, plan, REWARD, 0), task, task.groups, questions
            ).fresh(state, memories)
            learner = RouterTrainer(router, plan.learner)
        trainer = Trainer(field, memories, Crediting(plan, 0, None, None), questions, 0)
        with timed() as taken:
            trainer.run(Step(1, phase, 1), state.config, learner)
    return {
        "pass": taken.seconds,
        "pass_processor": taken.processor,
        "play": play.seconds,
        "play_processor": play.processor,
    }


def _cut(options: argparse.Namespace) -> tuple[Task, list[LabelledQuestion]]:
    """All conversations in one memory, up to so many turns; questions with evidence in it."""
    task = load_task("locomo", data=options.data)
    episodes, held, left = [], set[str](), options.units
    for episode in task.episodes:
        messages = episode.messages[:left]
        left -= len(messages)
        held.update(m.id for m in messages if m.id is not None)
        if messages:
            episodes.append(replace(episode, messages=messages))
    usable = [
        q
        for q in counted(task)
        if q.gold.evidence and q.gold.unusable is None and held.issuperset(q.gold.evidence)
    ]
    shared = replace(task, episodes=tuple(episodes), regime=Regime.SHARED)
    return shared, usable[: options.questions]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--units", type=int, default=5000)
    parser.add_argument("--questions", type=int, default=1000)
    return parser.parse_args()


if __name__ == "__main__":
    main()
