"""What a workbench has for a co-evolution: memories, training, the state it starts from."""

from __future__ import annotations

from collections.abc import Sequence

from memgene.core import LabelledQuestion
from memgene.engine.learned import LearnedMemory
from memgene.engine.linking import TimeCheck, model_check
from memgene.evolution.candidates import Learner
from memgene.evolution.changes import LEARNED
from memgene.evolution.coevolve.basis import start_config
from memgene.evolution.coevolve.memories import FactoryMaker
from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.coevolve.state import State
from memgene.evolution.coevolve.steps import steps_of
from memgene.evolution.coevolve.training import Training, TrainingTools
from memgene.evolution.progress import Place
from memgene.evolution.workbench import Workbench, can_learn
from memgene.retrieval.config import RetrievalConfig
from memgene.tasks.metrics import can_apply, get_metric
from memgene.tasks.part import counted
from memgene.tasks.task import Regime, Task


def maker_of(bench: Workbench) -> FactoryMaker:
    """Makes the memories of a run."""
    check = _check(bench, bench.settings.coevolution)
    return FactoryMaker(bench.embedder, bench.words, bench.engine_models, check)


def training_on(
    bench: Workbench,
    task: Task,
    training: tuple[str, ...] | None,
    questions: Sequence[LabelledQuestion],
) -> Training:
    """Training on those of the questions that the run's metric can score."""
    plan = bench.settings.coevolution
    metric = get_metric(bench.metric)
    tools = TrainingTools(
        agent=bench.agent,
        make=maker_of(bench),
        plan=plan,
        reward=bench.metric,
        seed=bench.settings.seed,
        attributor=bench.roles.get("attribute"),
        distiller=bench.roles.get("extract") if bench.answers_with_a_model else None,
    )
    return Training(tools, task, training, [q for q in questions if can_apply(metric, q)])


def start_state(
    plan: CoevolvePlan,
    base: RetrievalConfig,
    learner: Learner | None,
    questions: Sequence[LabelledQuestion],
) -> State:
    """The base, its learned fusion (where it has or gets one) fitted on these questions; `learner`
    None: there is nothing to fit on."""
    wanted = base.fusion == LEARNED or (plan.fit and not plan.base)
    if wanted and learner is not None:
        base = base.changed(fusion=LEARNED, ranker=learner(base, questions))
    return State(base, LearnedMemory.empty())


def trained_on_everything(bench: Workbench, steps: int) -> State:
    """The state that so many steps lead to on every question of the task. Nothing is left to test
    it on."""
    task, plan = bench.task, bench.settings.coevolution
    questions = counted(task)
    groups = task.groups if task.regime is Regime.SHARED else None
    learner = bench.learner(task, groups) if can_learn(questions) else None
    base = start_config(plan, task, bench.settings.embedder, None, Place())
    state = start_state(plan, base, learner, questions)
    training = training_on(bench, task, groups, questions)
    for step in steps_of(plan, empty=not task.episodes)[:steps]:
        state = training.take(step, state).state
    return state


def _check(bench: Workbench, plan: CoevolvePlan) -> TimeCheck | None:
    model = bench.roles.get("attribute")
    return None if model is None or not plan.check_time else model_check(model)
