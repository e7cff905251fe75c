"""What a workbench has for a co-evolution: memories, training, the state it starts from."""

from __future__ import annotations

from collections.abc import Sequence

from memgene.core import InputError, LabelledQuestion
from memgene.engine.learned import LearnedMemory
from memgene.engine.linking import TimeCheck, model_check
from memgene.evolution.basis import start_config
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.candidates import Learner
from memgene.evolution.changes import LEARNED
from memgene.evolution.coevolve.memories import FactoryMaker
from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.coevolve.search import require_a_step
from memgene.evolution.coevolve.state import State
from memgene.evolution.coevolve.steps import Step, steps_of
from memgene.evolution.coevolve.training import Training, TrainingTools
from memgene.evolution.progress import Place
from memgene.evolution.sealed import DevVal
from memgene.evolution.workbench import Workbench, can_learn
from memgene.retrieval.config import Q_RRF, ROUTED, RetrievalConfig
from memgene.retrieval.router.policy import Exploration
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


def steps_for(bench: Workbench, data: DevVal) -> tuple[Step, ...]:
    """The steps of a run, as many as its budget allows rounds."""
    steps = steps_of(bench.settings.coevolution, empty=not data.task.episodes)
    return steps[: bench.settings.budget.iterations or len(steps)]


def require_usable(
    bench: Workbench, data: DevVal, meter: BudgetMeter, origin: str, place: Place
) -> None:
    """Refuse what would end a run without a result: a base that is none or saw the test, a
    language model that is not there, a router with nothing to weigh, a budget for no step.

    Raises NotFoundError, ConfigError or InputError.
    """
    plan, settings = bench.settings.coevolution, bench.settings
    base = start_config(plan, bench.task, settings.embedder, (origin, settings.seed), place)
    bench.engine_models.check(base)
    _require_routes(plan, LEARNED if _fits(plan, base) else base.fusion)
    training = training_on(bench, data.task, data.training, data.dev)
    require_a_step(meter, data, min(training.cost(step) for step in steps_for(bench, data)))


def _require_routes(plan: CoevolvePlan, fusion: str) -> None:
    asked = plan.levers.get("fusion", fusion)
    if asked != fusion:
        raise InputError(f"fit=true serves the learned fusion, not {asked}; set fit=false for it")
    if not plan.router or fusion == Q_RRF:
        return
    if fusion not in ROUTED:
        raise InputError(
            f"fusion {fusion} has no routes to weigh: set router=false, or another fusion"
        )
    if plan.learner.exploration is Exploration.BETA:
        raise InputError(
            f"exploration=beta is for the two routes of {Q_RRF}, and fusion {fusion} has the "
            "views: set exploration=dirichlet"
        )


def _fits(plan: CoevolvePlan, base: RetrievalConfig) -> bool:
    """Whether the learned fusion serves, its weights fitted by this run."""
    return base.fusion == LEARNED or (plan.fit and not plan.base)


def start_state(
    plan: CoevolvePlan,
    base: RetrievalConfig,
    learner: Learner | None,
    questions: Sequence[LabelledQuestion],
) -> State:
    """The base, its learned fusion (where it has or gets one) fitted on these questions; `learner`
    None: there is nothing to fit on."""
    if _fits(plan, base) and learner is not None:
        base = base.changed(fusion=LEARNED, ranker=learner(base, questions))
    return State(base, LearnedMemory.empty())


def trained_on_everything(bench: Workbench, steps: int) -> State:
    """The state that so many steps lead to on every question of the task. Nothing is left to test
    it on."""
    task, plan = bench.task, bench.settings.coevolution
    questions = counted(task)
    groups = task.groups if task.regime is Regime.SHARED else None
    learnable = bool(task.episodes) and can_learn(questions)
    learner = bench.learner(task, groups) if learnable else None
    base = start_config(plan, task, bench.settings.embedder, None, Place())
    state = start_state(plan, base, learner, questions)
    training = training_on(bench, task, groups, questions)
    for step in steps_of(plan, empty=not task.episodes)[:steps]:
        state = training.take(step, state).state
    return state


def _check(bench: Workbench, plan: CoevolvePlan) -> TimeCheck | None:
    model = bench.roles.get("attribute")
    return None if model is None or not plan.check_time else model_check(model)
