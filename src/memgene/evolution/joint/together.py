"""The simultaneous schedule: each step changes every part at once, and they are judged together.

It stands beside the alternating one to tell what taking turns is worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memgene.core import BudgetExhaustedError, InputError
from memgene.evaluation.case import Case
from memgene.evolution.diagnosis import is_ranking
from memgene.evolution.events import Accepted, Interrupted, Rejected, RoundFinished
from memgene.evolution.guard import GuardMode, PairedGuard, Verdict
from memgene.evolution.interrupt import RunInterruptedError
from memgene.evolution.joint.drafts import ProgramSteps
from memgene.evolution.joint.genome import Genome
from memgene.evolution.joint.judged import Judged
from memgene.evolution.joint.learning import LearningPass
from memgene.evolution.joint.lever_steps import LeverSteps
from memgene.evolution.joint.plan import Arm
from memgene.evolution.joint.turn import Turn, TurnTools, named
from memgene.evolution.rundir import RunFolder
from memgene.evolution.scoring import evidence_pairs, mean, paired

TOGETHER = "all"
_PROGRAMS = "programs"
_LEARNING = (Arm.ROUTER, Arm.VALUES)
_PASSES = 1_009  # spreads the seeds of passes


@dataclass(frozen=True, slots=True)
class _Step:
    """One step of a pass: its number in it, and the name of what it makes."""

    number: int
    name: str


class TogetherPass:
    """So many steps from the best genome, each a new program, a new configuration and a phase of
    router and values, as far as the plan's arms have them."""

    def __init__(self, tools: TurnTools, arms: Mapping[str, Turn]) -> None:
        self._tools = tools
        self._arms = arms
        self._levers = LeverSteps(tools)
        self._guard = PairedGuard.of_mode(
            GuardMode(tools.bench.settings.guard), tools.plan.iterations
        )

    def blocked(self, genome: Genome) -> str:
        """Nothing blocks all of it."""
        del genome
        return ""

    def cost(self, parent: Judged) -> int:
        """One step."""
        tools = self._tools
        cost = len(tools.data.select)
        if Arm.STRUCTURE in self._arms:
            cost += tools.rotating
        if Arm.PARAMETERS in self._arms:
            cost += self._levers.cost(parent.genome)
        for arm in _LEARNING:
            turn = self._arms.get(arm)
            if isinstance(turn, LearningPass) and not turn.blocked(parent.genome):
                cost += turn.training_cost
        return cost

    def take(self, number: int, parent: Judged, part: RunFolder) -> Judged:
        """Steps as long as the budget lasts; the best genome of them."""
        tools = self._tools
        programs = ProgramSteps(
            tools, part.part(_PROGRAMS), tools.bench.settings.seed + _PASSES * number
        )
        self._levers.begin(parent, part)
        best = parent
        for count in range(1, tools.plan.iterations + 1):
            if count > 1 and tools.meter.blocks(self.cost(best)) is not None:
                break
            step = _Step(count, f"{count:03d}")
            try:
                made = self._changed(step, number, best, programs, part)
                judged = self._judged(step, number, made, part)
            except BudgetExhaustedError:
                if count == 1:
                    raise
                break
            best = self._taken(step, best, judged, part)
            self._stop_if_asked(number, part)
        return best

    def _changed(
        self, step: _Step, number: int, best: Judged, programs: ProgramSteps, part: RunFolder
    ) -> Genome:
        """Every part changed, each from the best genome's."""
        genome = best.genome
        if Arm.STRUCTURE in self._arms and not self._arms[Arm.STRUCTURE].blocked(genome):
            genome = replace(genome, program=programs.child(step.number, step.name, best))
        if Arm.PARAMETERS in self._arms:
            config = self._levers.proposed(step.number, best, number)
            genome = replace(genome, config=config)
        for arm in _LEARNING:
            turn = self._arms.get(arm)
            if isinstance(turn, LearningPass) and not turn.blocked(genome):
                own = part.part(str(arm))
                genome = turn.learned(number * 100 + step.number, step.name, best.id, genome, own)
        return genome

    def _judged(self, step: _Step, number: int, genome: Genome, part: RunFolder) -> Judged:
        tools = self._tools
        part.save_files(step.name, genome.files())
        questions = tools.data.select
        cases: Sequence[Case] = tools.recorder(part).cases(
            step.name,
            "val",
            questions,
            lambda: tools.evaluator.evaluate(genome, questions, f"{step.name} val"),
        )
        score = mean(cases, tools.bench.metric)
        if score is None:
            raise InputError(f"metric {tools.bench.metric} applies to none of the val questions")
        return Judged(named(number, TOGETHER, step.name), number, genome, score, cases)

    def _taken(self, step: _Step, best: Judged, made: Judged, part: RunFolder) -> Judged:
        metric, seed = self._tools.bench.metric, self._tools.bench.settings.seed
        pairs = paired(made.cases, best.cases, metric)
        support = None if is_ranking(metric) else evidence_pairs(made.cases, best.cases)
        verdict = self._guard.judge(
            pairs, seed * _PASSES + made.number * 100 + step.number, support
        )
        self._tell(step, made, best, verdict, part)
        self._levers.told(best, verdict)
        return made if verdict.accepted else best

    def _tell(
        self, step: _Step, made: Judged, best: Judged, verdict: Verdict, part: RunFolder
    ) -> None:
        kind = Accepted if verdict.accepted else Rejected
        emit = part.journal.emit
        emit(
            kind(
                round=step.number,
                candidate=step.name,
                score=made.score,
                delta=verdict.delta,
                probability=verdict.probability,
                reason=verdict.reason,
            )
        )
        now = made if verdict.accepted else best
        emit(
            RoundFinished(
                round=step.number,
                candidate=step.name,
                score=made.score,
                current=now.id,
                best=now.id,
                best_score=now.score,
                flat_rounds=0,
            )
        )
        self._tools.report(made.score)

    def _stop_if_asked(self, number: int, part: RunFolder) -> None:
        if self._tools.bench.interrupt.requested:
            part.journal.emit(Interrupted(number))
            raise RunInterruptedError(
                f"stopped in pass {number} as asked; --resume continues the run", number
            )
