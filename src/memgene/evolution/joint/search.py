"""Joint evolution: arms take turns on one genome (architecture.md §7).

Every pass starts from the best genome so far, whatever arm made it; its result replaces that one
where the guard accepts it on the judging questions. Every decision depends on the seed, the data
and recorded scores alone, so a run that is repeated or resumed decides the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memgene.core import BudgetExhaustedError, InputError
from memgene.evaluation.case import Case
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.diagnosis import is_ranking
from memgene.evolution.events import Interrupted, Stopped
from memgene.evolution.guard import Guard, Verdict
from memgene.evolution.interrupt import Interruptible, RunInterruptedError
from memgene.evolution.joint.bandit import Bandit, Past
from memgene.evolution.joint.events import ArmSkipped, JointStarted, PassBegan, PassFinished
from memgene.evolution.joint.genome import Genome
from memgene.evolution.joint.judged import START, GenomeEvaluator, Judged
from memgene.evolution.joint.plan import JointPlan
from memgene.evolution.joint.turn import Turn
from memgene.evolution.promoting import promote
from memgene.evolution.recorder import Recorder
from memgene.evolution.rundir import RunFolder
from memgene.evolution.scoring import evidence_pairs, mean, paired
from memgene.evolution.sealed import DevVal

_STEP = 10_007  # spreads the seeds of bootstraps


@dataclass(frozen=True, slots=True)
class JointTools:
    """What a search works with. `turns` are the arms by name, in the order of their first passes;
    `report(pass, score, best)` is called as it goes on."""

    run: RunFolder
    turns: Mapping[str, Turn]
    recorder: Recorder
    evaluator: GenomeEvaluator
    meter: BudgetMeter
    guard: Guard
    interrupt: Interruptible
    report: Callable[[int, float | None, float | None], None]


@dataclass(frozen=True, slots=True)
class JointOutcome:
    """The promoted genome, the start, the genomes that were best in turn, and how far it went."""

    promoted: Judged
    start: Judged
    lineage: tuple[Judged, ...]
    rounds: int
    stopped: str

    @property
    def parent(self) -> Judged | None:
        """The genome that the promoted one replaced."""
        place = self.lineage.index(self.promoted)
        return self.lineage[place - 1] if place else None


class JointSearch:
    """One search over the dev and val questions it is given. Call `run` once.

    `data.select` judges every pass; `data.fresh` is looked at once, for the last choice.
    """

    def __init__(
        self,
        tools: JointTools,
        data: DevVal,
        plan: JointPlan,
        metric: str,
        seed: int,
        passes: int,
    ) -> None:
        self._tools = tools
        self._emit = tools.run.journal.emit
        self._data = data
        self._plan = plan
        self._metric = metric
        self._seed = seed
        self._limit = passes
        self._bandit = Bandit(tuple(tools.turns), plan.discount, plan.patience)
        self._skipped: dict[str, str] = {}

    def run(self, start: Genome) -> JointOutcome:
        """Take turns until passes, budget or arms run out, then re-check and promote.

        Raises BudgetExhaustedError when the budget ends before the start is evaluated, and
        RunInterruptedError after the round of a pass in which a stop was asked for.
        """
        first = self._begun(start)
        self._best, self._lineage = first, [first]
        self._tools.report(0, first.score, first.score)
        done, stopped = 0, ""
        while not stopped:
            chosen, stopped, detail = self._next(done)
            if not stopped:
                stopped, detail = self._try(done + 1, *chosen)
            if stopped:
                self._emit(Stopped(done, stopped, detail))
            else:
                done += 1
                self._stop_if_asked(done)
        promoted = promote(
            self._lineage,
            self._tools.run.journal,
            self._metric,
            self._seed * _STEP,
            self._fresh if self._data.fresh else None,
            number=lambda judged: judged.number,
        )
        return JointOutcome(promoted, first, tuple(self._lineage), done, stopped)

    def _begun(self, genome: Genome) -> Judged:
        tools, plan = self._tools, self._plan
        self._emit(
            JointStarted(
                str(plan.schedule), tuple(tools.turns), genome.digest, len(self._data.select)
            )
        )
        tools.run.save_files(START, genome.files())
        cases = self._cases(START, genome, "val")
        score = mean(cases, self._metric)
        if score is None:
            raise InputError(
                f"metric {self._metric} applies to none of the val questions; choose another"
            )
        return Judged(START, 0, genome, score, cases)

    def _cases(self, name: str, genome: Genome, split: str) -> Sequence[Case]:
        questions = self._data.select if split == "val" else self._data.fresh
        return self._tools.recorder.cases(
            name,
            split,
            questions,
            lambda: self._tools.evaluator.evaluate(genome, questions, f"{name} {split}"),
            limited=split == "val",
        )

    def _fresh(self, judged: Judged) -> Sequence[Case]:
        subject = judged.id if judged.number == 0 else f"fresh/{judged.id}"
        return self._cases(subject, judged.genome, "fresh")

    def _next(self, done: int) -> tuple[tuple[str, str], str, str]:
        """Who is next and why; or the reason and detail why nobody is."""
        none = ("", "")
        if done >= self._limit:
            return none, "rounds", f"{self._limit} passes"
        able, dear = [], ""
        for arm, turn in self._tools.turns.items():
            why = turn.blocked(self._best.genome)
            blocked = None if why else self._tools.meter.blocks(turn.cost(self._best))
            if self._bandit.resting(arm):
                why = f"its last {self._plan.patience} passes gained nothing"
            self._tell_skipped(arm, why)
            if not why and blocked is None:
                able.append(arm)
            elif not why:
                dear = blocked or ""
        chosen = self._bandit.choose(able)
        if chosen is not None:
            return chosen, "", ""
        if dear:
            return none, "budget", dear
        return none, "converged", "no arm gains anything any more"

    def _tell_skipped(self, arm: str, why: str) -> None:
        """Each reason once, until it changes."""
        if why and self._skipped.get(arm) != why:
            self._emit(ArmSkipped(arm, why))
        self._skipped[arm] = why

    def _try(self, number: int, arm: str, why: str) -> tuple[str, str]:
        """A pass, or the reason and detail why there was none."""
        tools = self._tools
        self._emit(PassBegan(number, arm, self._best.id, why))
        before = tools.meter.questions
        part = tools.run.part(f"passes/{number:02d}-{arm}")
        try:
            made = tools.turns[arm].take(number, self._best, part)
        except BudgetExhaustedError as error:
            return "budget", str(error)
        self._take(number, arm, made, tools.meter.questions - before)
        return "", ""

    def _take(self, number: int, arm: str, made: Judged, asked: int) -> None:
        """The incumbent after the guard has spoken."""
        parent = self._best
        verdict = self._verdict(number, made)
        if verdict.accepted:
            self._best = made
            self._lineage.append(made)
            self._tools.run.save_files(f"passes/{_place(made.id)}", made.genome.files())
        gain = verdict.delta if verdict.accepted else 0.0
        self._bandit.told(arm, Past(gain, asked))
        self._emit(
            PassFinished(
                number=number,
                arm=arm,
                candidate=made.id,
                score=made.score,
                gain=gain,
                questions=asked,
                accepted=verdict.accepted,
                best=self._best.id,
                best_score=self._best.score,
                delta=verdict.delta if made is not parent else 0.0,
                probability=verdict.probability,
                reason=verdict.reason,
                digest=made.genome.digest,
            )
        )
        self._tools.report(number, made.score, self._best.score)

    def _verdict(self, number: int, made: Judged) -> Verdict:
        if made.id == self._best.id:
            return Verdict(False, 0.0, None, "the pass found nothing better than its parent")
        pairs = paired(made.cases, self._best.cases, self._metric)
        support = None
        if not is_ranking(self._metric):
            support = evidence_pairs(made.cases, self._best.cases)
        return self._tools.guard.judge(pairs, self._seed * _STEP + number, support)

    def _stop_if_asked(self, done: int) -> None:
        if self._tools.interrupt.requested:
            self._emit(Interrupted(done))
            raise RunInterruptedError(
                f"stopped after pass {done} as asked (best so far {self._best.id}, "
                f"{self._metric} {self._best.score:.4f} on val); --resume continues the run",
                done,
            )


def _place(name: str) -> str:
    """Folder of a genome `NN-ARM/ID` under `passes/`."""
    part, _, candidate = name.rpartition("/")
    return f"{part}/candidates/{candidate}"
