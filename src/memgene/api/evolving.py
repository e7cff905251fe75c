"""`evolve()`: a better memory for a task, with an honest number from held-out questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgene.core import Budget, InputError
from memgene.evolution.briefing import MOST_TOKENS
from memgene.evolution.coevolve.plan import CoevolvePlan
from memgene.evolution.evolve import run_evolution
from memgene.evolution.joint.plan import JointPlan
from memgene.evolution.programs.plan import ProgramPlan
from memgene.evolution.progress import ProgressCallback
from memgene.evolution.result import EvolveResult
from memgene.evolution.settings import EvolveSettings, coevolve_plan
from memgene.harness.registry import STATIC
from memgene.llm.roles import RoleModels
from memgene.reports import write_report
from memgene.reports.numbers import interval, points, signed
from memgene.retrieval.config import RetrievalConfig
from memgene.sandbox import Level
from memgene.settings import load_settings
from memgene.tasks import load_task
from memgene.tasks.task import Task


@dataclass(frozen=True, slots=True)
class EvolutionRun:
    """A finished evolution. `best` is the promoted genome: `Memory(path, genome=run.best)`."""

    result: EvolveResult
    report: Path

    @property
    def best(self) -> Path:
        """Folder of the promoted genome bundle."""
        return self.result.best

    @property
    def config(self) -> RetrievalConfig:
        """The promoted configuration."""
        return self.result.config

    @property
    def metric(self) -> str:
        """What was maximised."""
        return self.result.metric

    @property
    def questions(self) -> int:
        """Held-out questions the metric was taken over."""
        found = self.result.test.evolved.metrics.get(self.metric)
        return found.n if found else 0

    @property
    def caution(self) -> str:
        """What must be said of the result where programs ran below full isolation, else empty."""
        sandbox = self.result.sandbox
        return Level.named(sandbox.level).caution if sandbox else ""

    def rows(self) -> list[tuple[str, str, str]]:
        """Per memory: its name, its held-out score, and the paired difference to it."""
        test, rows = self.result.test, []
        for row in (test.evolved, test.start, *test.static):
            found = row.metrics.get(self.metric)
            if found is None:
                continue
            score = f"{points(found.mean)} {interval(found.low, found.high)}"
            paired = test.paired.get(row.name)
            gain = ""
            if paired is not None:
                p = paired.paired
                gain = f"{signed(p.delta)} {interval(p.low, p.high)}"
            rows.append((row.name, score, gain))
        return rows

    def model_dump(self) -> dict[str, Any]:
        """Plain values, as `memgene evolve --json` prints them."""
        return {**self.result.to_json(), "report": str(self.report)}


def evolve(
    task: Task | str | Path,
    strategy: str = "config",
    metric: str | None = None,
    budget: Budget | Mapping[str, float] | None = None,
    run_dir: str | Path = "runs/evolve",
    seed: int = 0,
    *,
    resume: bool = False,
    folds: int | None = None,
    agent: str | None = None,
    harness: str | Sequence[str] | None = None,
    proposer: str = "rule",
    guard: str = "normal",
    preset: str = "default",
    embedder: str | None = None,
    sandbox: str | None = None,
    data: str | Path | None = None,
    workers: int | None = None,
    diagnosis_tokens: int = MOST_TOKENS,
    plan: ProgramPlan | CoevolvePlan | JointPlan | str | None = None,
    base: str | Path = "",
    held: Mapping[str, Any] | None = None,
    division: str = "groups",
    stages: bool = False,
    models: RoleModels | None = None,
    progress: ProgressCallback | None = None,
) -> EvolutionRun:
    """Evolve a memory for a task on its dev and val questions, then measure once on test.

    `task`: a `Task`, a benchmark's name (with `data`) or a task folder. `metric`: default the
    task's. `harness`: static memories of the comparison, one name or several; an empty sequence
    means none, None the usual ones. `folds`: as many evolutions, each tested
    on its own groups, pooled; `best` is then refitted on everything and carries no test claim.
    `strategy`: config (the retrieval configuration), program (executable memory programs),
    coevolve (the router and the values of the bank) or joint (all of them in turns).
    `proposer`: rule, random, or llm (the model of role diagnose proposes; of role reflector for
    programs). `plan`: how programs are searched for, router and bank learn, or all take turns, a
    `ProgramPlan`, a `CoevolvePlan`, a `JointPlan`, or `name=value,…` that changes the preset's.
    `base`: a genome or a run to start from. `held`: levers that stay at a value in every
    configuration of the run. `stages`: also try stages of retrieval written as code (config and
    joint). `division`: dev, val and test are made of whole groups, or (`chronological`) of the
    early, later and last questions inside each group: what is learned of single memories can be
    tested only so. `models`: language models by role (default: as
    settings name them); levers that need one take part where it is.
    `sandbox`: the isolation without which no program is run (full, bubblewrap, rlimits; default:
    as settings say, else full).
    `workers`: questions at once (default: as many as the agent's model takes).
    `run_dir` must be new, unless `resume`. The report is written into it.

    Raises RunInterruptedError after Ctrl-C, when the round is finished; `resume=True` continues.
    """
    settings = load_settings(
        {"agent": agent, "embedder": embedder, "data": data, "sandbox": {"level": sandbox}}
    )
    loaded = task if isinstance(task, Task) else load_task(task, data=settings.data)
    limits = budget if isinstance(budget, Budget) else Budget(**(budget or {}))  # type: ignore[arg-type]
    asked = EvolveSettings(
        strategy=strategy,
        metric=metric,
        seed=seed,
        agent=settings.agent,
        embedder=settings.embedder or "static",
        harnesses=_harnesses(harness),
        proposer=proposer,
        guard=guard,
        preset=preset,
        budget=limits,
        folds=folds,
        workers=workers,
        diagnosis_tokens=diagnosis_tokens,
        program=_program_plan(plan, strategy, preset),
        coevolve=_coevolve_plan(plan, strategy, preset, settings.agent),
        joint=_joint_plan(plan, strategy),
        base=str(base),
        held=dict(held or {}),
        division=division,
        stages=stages,
        sandbox=settings.sandbox,
    )
    with ExitStack() as stack:
        llms = models or stack.enter_context(RoleModels(settings.llm))
        result = run_evolution(
            loaded, asked, Path(run_dir), resume=resume, progress=progress, models=llms
        )
    return EvolutionRun(result, write_report(result.run))


Plan = ProgramPlan | CoevolvePlan | JointPlan | str | None


def _program_plan(given: Plan, strategy: str, preset: str) -> ProgramPlan | None:
    """Text is read as a plan of programs by every strategy but those that have their own; the
    settings refuse a plan of another strategy."""
    if isinstance(given, str) and strategy not in ("coevolve", "joint"):
        return (ProgramPlan.paper() if preset == "paper" else ProgramPlan()).parsed(given)
    return given if isinstance(given, ProgramPlan) else None


def _coevolve_plan(given: Plan, strategy: str, preset: str, agent: str) -> CoevolvePlan | None:
    if isinstance(given, str) and strategy == "coevolve":
        return coevolve_plan(preset, agent).parsed(given)
    return given if isinstance(given, CoevolvePlan) else None


def _joint_plan(given: Plan, strategy: str) -> JointPlan | None:
    if isinstance(given, str) and strategy == "joint":
        return JointPlan().parsed(given)
    return given if isinstance(given, JointPlan) else None


def _harnesses(given: str | Sequence[str] | None) -> tuple[str, ...]:
    if given is None:
        return STATIC
    names = (given,) if isinstance(given, str) else tuple(dict.fromkeys(given))
    if not all(names):
        raise InputError("the name of a memory is empty; `memgene harnesses` lists them all")
    return names
