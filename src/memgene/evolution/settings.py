"""What a person asks of an evolution, checked before any work is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from types import MappingProxyType
from typing import Any

from memgene.core import Budget, ConfigError, InputError
from memgene.evolution.briefing import LEAST_TOKENS, MOST_TOKENS
from memgene.evolution.coevolve.plan import Attribution, CoevolvePlan
from memgene.evolution.coevolve.steps import steps_of
from memgene.evolution.diagnosis import is_ranking
from memgene.evolution.guard import GuardMode
from memgene.evolution.joint.plan import JointPlan
from memgene.evolution.preset import Preset, get_preset
from memgene.evolution.programs.plan import ProgramPlan
from memgene.harness.registry import STATIC
from memgene.retrieval.config import levers
from memgene.retrieval.levers import Lever
from memgene.settings import SandboxSettings
from memgene.tasks.metrics import get_metric
from memgene.tasks.task import Task

STRATEGIES = ("config", "program", "coevolve", "joint")
DIVISIONS = ("groups", "chronological")
_ANSWERS = "token_f1"
PROPOSERS = ("rule", "random", "llm")


@dataclass(frozen=True, slots=True)
class EvolveSettings:
    """Settings of one evolution. `metric=None` takes the task's. `harnesses` are the static rows
    of the final report. `budget.iterations` replaces the preset's round limit. `workers` threads
    answer questions (1 = none beside the caller's, None = as many as the agent's model takes);
    they do not change results. `diagnosis_tokens` bounds the prompt of the proposer `llm`
    (estimated; small models do better with less). `program` says how the strategy `program`
    searches, `coevolve` how the strategy of that name learns, `joint` how all of them take
    turns; without one the preset's plan is taken. `base` is a genome, a run, or a run with
    folds (each fold its own) to start from in place of the preset's start; `held` are levers
    that are held at a value in every configuration of the run (an ablation). `stages`: stages of
    retrieval written as code are tried as well. `sandbox` says how
    programs are to run. `division`: what dev, val and test are made of, whole groups, or
    (`chronological`) the early, later and last questions inside each group.

    Raises ConfigError or InputError on construction when something is unknown or out of range.
    """

    strategy: str = "config"
    metric: str | None = None
    seed: int = 0
    agent: str = "offline"
    embedder: str = "static"
    harnesses: tuple[str, ...] = STATIC
    proposer: str = "rule"
    guard: str = "normal"
    preset: str = "default"
    budget: Budget = Budget()  # noqa: RUF009 - frozen
    folds: int | None = None
    workers: int | None = None
    diagnosis_tokens: int = MOST_TOKENS
    program: ProgramPlan | None = None
    coevolve: CoevolvePlan | None = None
    joint: JointPlan | None = None
    base: str = ""
    held: Mapping[str, Any] = field(default_factory=dict)
    division: str = "groups"
    stages: bool = False
    sandbox: SandboxSettings = SandboxSettings()  # noqa: RUF009 - frozen

    def __post_init__(self) -> None:
        _one_of("strategy", self.strategy, STRATEGIES)
        _one_of("proposer", self.proposer, PROPOSERS)
        _one_of("guard", self.guard, tuple(GuardMode))
        _one_of("division", self.division, DIVISIONS)
        get_preset(self.preset)
        if self.metric is not None:
            get_metric(self.metric)
            if self.strategy == "program" and is_ranking(self.metric):
                raise InputError(
                    f"programs give text and no ranking, so {self.metric} never applies; "
                    f"take {_ANSWERS} or evidence_in_text"
                )
        self._refuse_without_effect()
        if self.folds is not None and self.folds < 2:
            raise InputError(f"folds must be at least 2, got {self.folds}")
        if self.folds is not None and self.division != "groups":
            raise InputError("folds divide the groups; they cannot be chronological inside them")
        if self.seed < 0:
            raise InputError(f"seed must be 0 or more, got {self.seed}")
        if self.workers is not None and self.workers < 1:
            raise InputError(f"workers must be at least 1, got {self.workers}")
        if self.diagnosis_tokens < LEAST_TOKENS:
            raise InputError(
                f"diagnosis_tokens must be at least {LEAST_TOKENS}, got {self.diagnosis_tokens}"
            )
        checked = {name: _lever(name).checked(value) for name, value in self.held.items()}
        object.__setattr__(self, "held", MappingProxyType(dict(sorted(checked.items()))))
        object.__setattr__(self, "harnesses", tuple(self.harnesses))

    @property
    def plan(self) -> Preset:
        """The preset."""
        return get_preset(self.preset)

    @property
    def programs(self) -> ProgramPlan:
        """How programs are searched for."""
        published = self.preset == "paper"
        if self.strategy == "joint":
            return self.jointly.program
        plan = self.program or (ProgramPlan.paper() if published else ProgramPlan())
        return plan.changed(iterations=self.budget.iterations)

    @property
    def coevolution(self) -> CoevolvePlan:
        """How router and memory learn."""
        if self.strategy == "joint":
            return self.jointly.coevolve
        plan = self.coevolve or coevolve_plan(self.preset, self.agent)
        if not self.base and not self.held:
            return plan
        return replace(plan, base=self.base or plan.base, levers={**plan.levers, **self.held})

    @property
    def jointly(self) -> JointPlan:
        """How all parts evolve in turns."""
        return self.joint or JointPlan()

    @property
    def rounds(self) -> int:
        """The round limit."""
        if self.strategy == "joint":
            return self.budget.iterations or self.jointly.passes
        if self.strategy == "program":
            return self.programs.iterations
        if self.strategy == "coevolve":
            steps = len(steps_of(self.coevolution, empty=False))
            return min(self.budget.iterations or steps, steps)
        return self.budget.iterations or self.plan.rounds

    def metric_for(self, task: Task) -> str:
        """What evolution maximises on a task: by default the task's metric, or `token_f1` where
        that looks at a ranking and programs evolve, which give text."""
        programs = self.strategy in ("program", "joint")
        if self.metric is None and programs and is_ranking(task.metric):
            return _ANSWERS
        return self.metric or task.metric

    def to_dict(self, task: Task) -> dict[str, Any]:
        """What decides the result of a run on a task, as run.toml keeps it."""
        limits = {name: limit for name, limit in asdict(self.budget).items() if limit is not None}
        return {
            "task": task.name,
            "strategy": self.strategy,
            "metric": self.metric_for(task),
            "seed": self.seed,
            "agent": self.agent,
            "embedder": self.embedder,
            "harnesses": list(self.harnesses),
            "proposer": self.proposer,
            "guard": self.guard,
            "preset": self.preset,
            "budget": limits or None,
            "folds": self.folds,
            "diagnosis_tokens": self.diagnosis_tokens if self._diagnosed else None,
            "program": self.programs.to_dict() if self.strategy == "program" else None,
            "coevolve": self.coevolution.to_dict() if self.strategy == "coevolve" else None,
            "joint": self.jointly.to_dict() if self.strategy == "joint" else None,
            "base": self.base or None,
            "held": dict(self.held) or None,
            "division": self.division if self.division != "groups" else None,
            "stages": self.stages or None,
        }

    def _refuse_without_effect(self) -> None:
        """What one strategy knows means nothing to the other, and must not look as if it did."""
        if self.strategy == "program" and self.guard != GuardMode.NORMAL:
            raise InputError(
                "guard is of strategy config; a program search has --plan gate_items=N"
            )
        if self.stages and self.strategy not in ("config", "joint"):
            raise InputError("stages join a configuration: they are of strategy config and joint")
        plans = (("program", self.program), ("coevolve", self.coevolve), ("joint", self.joint))
        for strategy, plan in plans:
            if self.strategy != strategy and plan is not None:
                raise InputError(f"this plan is of strategy {strategy}, not of {self.strategy}")
        if self.strategy == "coevolve" and self.proposer != PROPOSERS[0]:
            raise InputError("nothing is proposed in a co-evolution; leave proposer out")
        if self.strategy == "coevolve" and self.coevolution.follow and self.guard != "normal":
            raise InputError("a plan with follow=true has no guard; leave guard out")

    @property
    def attributes_with_a_model(self) -> bool:
        """Whether a language model is needed in role attribute."""
        plan = self.coevolution
        asked = plan.attribution is Attribution.LLM or plan.check_time
        return self.strategy in ("coevolve", "joint") and asked

    @property
    def _diagnosed(self) -> bool:
        return self.proposer == "llm" and self.strategy in ("config", "joint")


def coevolve_plan(preset: str, agent: str) -> CoevolvePlan:
    """The plan of a preset: as published it has a language model where the agent is one."""
    if preset == "paper":
        return CoevolvePlan.paper(model=agent != "offline")
    return CoevolvePlan()


def _lever(name: str) -> Lever:
    if name not in levers():
        raise InputError(f"there is no lever {name!r} to hold; see `memgene levers`")
    return levers()[name]


def _one_of(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ConfigError(f"there is no {what} {given!r}; there is {', '.join(known)}")
