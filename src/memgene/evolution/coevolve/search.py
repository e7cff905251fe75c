"""The search of a co-evolution: step after step, each state judged on val (CoEvo-Mem §4).

Training goes on from the latest state whatever val says of it, as published; which state the run
yields is the guard's decision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memgene.core import BudgetExhaustedError, InputError
from memgene.evaluation.case import Case
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.coevolve.candidates import StateCandidates
from memgene.evolution.coevolve.state import State
from memgene.evolution.coevolve.steps import Step
from memgene.evolution.coevolve.training import Training
from memgene.evolution.events import (
    Accepted,
    Interrupted,
    Rejected,
    RoundFinished,
    Stopped,
)
from memgene.evolution.guard import Guard
from memgene.evolution.interrupt import Interruptible, RunInterruptedError
from memgene.evolution.journal import Journal
from memgene.evolution.promoting import promote
from memgene.evolution.scoring import mean, paired
from memgene.evolution.sealed import DevVal

_STEP = 10_007  # spreads the seeds of bootstraps


@dataclass(frozen=True, slots=True)
class Trained:
    """A state with its score and cases on the selection part of val. `steps` is how many led to
    it."""

    id: str
    state: State
    steps: int
    score: float
    cases: Sequence[Case] = field(repr=False)


@dataclass(frozen=True, slots=True)
class CoevolveTools:
    """What a search works with. `report(round, score, best)` is called as it goes on."""

    journal: Journal
    candidates: StateCandidates
    meter: BudgetMeter
    guard: Guard
    interrupt: Interruptible
    report: Callable[[int, float | None, float | None], None]


@dataclass(frozen=True, slots=True)
class CoevolveOutcome:
    """The promoted state, the start, the states that were best in turn, and how far it went."""

    promoted: Trained
    start: Trained
    lineage: tuple[Trained, ...]
    rounds: int
    stopped: str

    @property
    def parent(self) -> Trained | None:
        """The state that the promoted one replaced."""
        place = self.lineage.index(self.promoted)
        return self.lineage[place - 1] if place else None


def require_a_step(meter: BudgetMeter, data: DevVal, training: int) -> None:
    """Raises InputError when the budget does not cover the start, one step of `training` played
    questions and the re-check."""
    blocked = meter.blocks(training + 2 * len(data.select) + 2 * len(data.fresh))
    if blocked is not None:
        raise InputError(f"the budget does not cover the start and one phase: {blocked}")


class CoevolveSearch:
    """One search over the dev and val questions it is given. Call `run` once."""

    def __init__(
        self,
        tools: CoevolveTools,
        training: Training,
        data: DevVal,
        metric: str,
        seed: int,
        steps: Sequence[Step],
    ) -> None:
        self._tools = tools
        self._training = training
        self._data = data
        self._metric = metric
        self._seed = seed
        self._steps = steps

    def run(self, start: State) -> CoevolveOutcome:
        """Take every step that the budget allows, then re-check and promote.

        Raises BudgetExhaustedError when the budget ends before the start is evaluated, and
        RunInterruptedError after the step in which a stop was asked for.
        """
        first = self._judged("000", start, 0)
        best, lineage, state, parent = first, [first], start, "000"
        self._tools.report(0, first.score, first.score)
        done, stopped = 0, ""
        for step in self._steps:
            stopped, detail = self._blocked(step)
            if not stopped:
                try:
                    made = self._step(step, state, parent)
                except BudgetExhaustedError as error:
                    stopped, detail = "budget", str(error)
            if stopped:
                self._tools.journal.emit(Stopped(done, stopped, detail))
                break
            best = self._take(step, made, best, lineage)
            state, parent, done = made.state, made.id, step.number
            self._stop_if_asked(done, best)
        if not stopped:
            stopped = "rounds"
            self._tools.journal.emit(Stopped(done, stopped, f"{len(self._steps)} phases"))
        cases = self._tools.candidates.cases
        promoted = promote(
            lineage,
            self._tools.journal,
            self._metric,
            self._seed * _STEP,
            (lambda found: cases(found.id, found.state, "fresh")) if self._data.fresh else None,
        )
        return CoevolveOutcome(promoted, first, tuple(lineage), done, stopped)

    def _blocked(self, step: Step) -> tuple[str, str]:
        """Why the next step cannot be taken, with the questions of the re-check in reserve."""
        needed = self._training.cost(step) + len(self._data.select) + 2 * len(self._data.fresh)
        blocked = self._tools.meter.blocks(needed)
        return ("", "") if blocked is None else ("budget", blocked)

    def _step(self, step: Step, state: State, parent: str) -> Trained:
        name = f"{step.number:03d}"
        made = self._tools.candidates.take(step, name, parent, state, self._training)
        return self._judged(name, made, step.number)

    def _judged(self, name: str, state: State, steps: int) -> Trained:
        cases = self._tools.candidates.cases(name, state, "val")
        score = mean(cases, self._metric)
        if score is None:
            raise InputError(
                f"metric {self._metric} applies to none of the val questions; choose another"
            )
        return Trained(name, state, steps, score, cases)

    def _take(self, step: Step, made: Trained, best: Trained, lineage: list[Trained]) -> Trained:
        """The incumbent after the guard has spoken."""
        pairs = paired(made.cases, best.cases, self._metric)
        verdict = self._tools.guard.judge(pairs, self._seed * _STEP + step.number)
        kind = Accepted if verdict.accepted else Rejected
        self._tools.journal.emit(
            kind(
                round=step.number,
                candidate=made.id,
                score=made.score,
                delta=verdict.delta,
                probability=verdict.probability,
                reason=verdict.reason,
            )
        )
        if verdict.accepted:
            best = made
            lineage.append(made)
        self._tools.journal.emit(
            RoundFinished(
                round=step.number,
                candidate=made.id,
                score=made.score,
                current=made.id,
                best=best.id,
                best_score=best.score,
                flat_rounds=step.number - best.steps,
            )
        )
        self._tools.meter.add_iteration()
        self._tools.report(step.number, made.score, best.score)
        return best

    def _stop_if_asked(self, done: int, best: Trained) -> None:
        if self._tools.interrupt.requested:
            self._tools.journal.emit(Interrupted(done))
            raise RunInterruptedError(
                f"stopped after phase {done} as asked (best so far {best.id}, "
                f"{self._metric} {best.score:.4f} on val); --resume continues the run",
                done,
            )
