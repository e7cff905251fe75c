"""A turn of an arm: what it needs, what it yields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from memgene.evolution.budget import BudgetMeter
from memgene.evolution.candidates import Learner
from memgene.evolution.joint.genome import Genome
from memgene.evolution.joint.judged import GenomeEvaluator, Judged
from memgene.evolution.joint.plan import JointPlan
from memgene.evolution.programs.sampling import Sampler
from memgene.evolution.recorder import Recorder
from memgene.evolution.rundir import RunFolder
from memgene.evolution.sealed import DevVal
from memgene.evolution.spending import Spending
from memgene.evolution.workbench import Workbench
from memgene.programs.runtime import ProgramRuntime


@dataclass(frozen=True, slots=True)
class TurnTools:
    """What the arms of a run share. `data.select` are the judging questions, the same for all;
    `data.fresh` is empty: no pass may look at what the last choice is made on. `report(score)`
    tells of a candidate inside a pass."""

    bench: Workbench
    run: RunFolder
    data: DevVal
    meter: BudgetMeter
    spending: Spending
    evaluator: GenomeEvaluator
    runtime: ProgramRuntime
    sampler: Sampler
    learner: Learner
    learnable: bool
    plan: JointPlan
    report: Callable[[float | None], None]

    def recorder(self, part: RunFolder) -> Recorder:
        """Records the evaluations of a pass."""
        return Recorder(part, self.bench.metric, self.meter, self.spending)

    @property
    def rotating(self) -> int:
        """Dev questions that a reflection looks at."""
        usual = 5 if self.bench.answers_with_a_model else 25
        return min(self.plan.program.rotating_items or usual, len(self.data.diagnose))


class Turn(Protocol):
    """An arm at work. What it learns of candidates it keeps for its next turns."""

    def blocked(self, genome: Genome) -> str:
        """Why it can do nothing with this genome, budget apart; empty where it can."""
        ...

    def cost(self, parent: Judged) -> int:
        """The fewest questions that a turn evaluates."""
        ...

    def take(self, number: int, parent: Judged, part: RunFolder) -> Judged:
        """One pass from the parent: its best genome, which may be the parent's own (then with the
        parent's id). `part` is the pass's own folder.

        Raises BudgetExhaustedError where the budget ends before there is any, and
        RunInterruptedError.
        """
        ...


def named(number: int, arm: str, candidate: str) -> str:
    """A genome's name in the run."""
    return f"{number:02d}-{arm}/{candidate}"
