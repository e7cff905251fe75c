"""The search for programs (M* §5): seeds, then draw a parent, reflect, draft, gate, evaluate, join.

Every decision depends on the seed, the data, recorded scores and recorded drafts alone, so a run
that is repeated or resumed decides the same; what the journal holds is not made again.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from types import MappingProxyType

from memgene.core import BudgetExhaustedError, InputError, RunError
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.events import Interrupted, Stopped
from memgene.evolution.guard import Guard
from memgene.evolution.interrupt import Interruptible, RunInterruptedError
from memgene.evolution.journal import Journal
from memgene.evolution.programs.candidates import ProgramCandidates, Seen
from memgene.evolution.programs.drafting import Draft, DraftTask, Workshop
from memgene.evolution.programs.events import IterationFinished, ProgramsStarted, Sampled
from memgene.evolution.programs.finalists import Finalists
from memgene.evolution.programs.judging import Judge
from memgene.evolution.programs.plan import ProgramPlan
from memgene.evolution.programs.pool import Member
from memgene.evolution.programs.population import Population
from memgene.evolution.programs.sampling import Sampler
from memgene.evolution.spending import Spending
from memgene.programs.program import Program

_SEEDS = 100_003  # spreads the seeds of drafts


def _silent(round: int, score: float | None, best: float | None) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True)
class ProgramTools:
    """What a search works with. `gate` judges a parent against its child on the paired questions.
    `report(iteration, score, best)` is called as it goes on."""

    journal: Journal
    candidates: ProgramCandidates
    meter: BudgetMeter
    spending: Spending
    sampler: Sampler
    workshop: Workshop
    gate: Guard
    interrupt: Interruptible
    report: Callable[[int, float | None, float | None], None] = _silent


@dataclass(frozen=True, slots=True)
class ProgramOutcome:
    """What a search yields: the promoted program and the one it was made of (None for a seed), the
    best seed, all seeds, how far it went."""

    promoted: Member
    parent: Member | None
    start: Member
    seeds: tuple[Member, ...]
    rounds: int
    stopped: str


class ProgramSearch:
    """One search over the dev and val questions that its sampler draws from. Call `run` once.

    `static` and `rotating` are numbers of questions, `seeds` named programs, `known` candidates of
    earlier searches in the same run by their normalised hash.
    """

    def __init__(
        self,
        tools: ProgramTools,
        plan: ProgramPlan,
        seeds: Sequence[tuple[str, Program]],
        metric: str,
        seed: int,
        static: int,
        rotating: int,
        known: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._tools = tools
        self._plan = plan
        self._seeds = seeds
        self._metric = metric
        self._seed = seed
        self._rotating = rotating
        self._static = tools.sampler.static(static)
        self._child = plan.questions_of_a_child(len(self._static.questions))
        self._population = Population(tools.journal, plan, metric, known)
        self._pool = self._population.pool
        self._drawn = 0
        self._judge = Judge(
            self._population,
            tools.candidates,
            tools.workshop,
            tools.spending,
            tools.gate,
            plan,
            self._static,
            metric,
            seed,
        )

    def run(self) -> ProgramOutcome:
        """Search until the iterations or the budget run out, then name the best.

        Raises InputError when the budget does not cover the seeds and one child or no seed can be
        evaluated, RunError when the seeds get no answer at all, BudgetExhaustedError when it ends
        before the seeds are evaluated, RunInterruptedError after the iteration in which a stop was
        asked for.
        """
        self._begin()
        for title, program in self._seeds:
            self._plant(title, program)
        if not len(self._pool):
            raise InputError(
                "none of the seed programs passes the gates; candidates/*/message.md say why"
            )
        self._require_answers()
        self._tools.report(0, self._pool.best.score, self._pool.best.score)
        done, stopped = 0, ""
        while not stopped:
            stopped, detail = self._must_stop(done)
            if not stopped:
                stopped, detail = self._try(done + 1)
            if stopped:
                self._tools.journal.emit(Stopped(done, stopped, detail))
            else:
                done += 1
                self._stop_if_asked(done)
        return self._finish(done, stopped)

    @property
    def members(self) -> Sequence[Member]:
        """The pool, in the order in which they joined."""
        return self._pool.members

    @property
    def known(self) -> Mapping[str, str]:
        """All candidates, those that were refused too, by their normalised hash."""
        return self._population.known

    def _begin(self) -> None:
        tools, static = self._tools, self._static
        unknown = sum(not tools.candidates.knows(program) for _, program in self._seeds)
        least = len(static.questions) * unknown + self._rotating + self._child
        blocked = tools.meter.blocks(least)
        if blocked is not None:
            raise InputError(f"the budget does not cover the seeds and one child: {blocked}")
        tools.journal.emit(
            ProgramsStarted(
                static=len(static.questions),
                rotating=self._rotating,
                seeds=tuple(title for title, _ in self._seeds),
                search=str(self._plan.search),
                episodes=len(static.task.episodes),
            )
        )

    def _plant(self, title: str, program: Program) -> None:
        candidates = self._tools.candidates
        name = self._population.name()
        recorded = candidates.recorded(name)
        if recorded is None:
            draft = self._tools.workshop.inspected(Draft(program.source, title))
            candidates.keep(0, name, None, "seed", draft, 0.0)
        else:
            candidates.count(recorded[0])
            draft = recorded[1]
        self._judge.seed(name, title, draft)

    def _require_answers(self) -> None:
        """Where even the seeds get no answer, agent, model or sandbox are to blame."""
        cases = [case for member in self._pool.members for case in member.cases]
        if all(case.failure is not None for case in cases):
            raise RunError(
                f"no seed program gets a single answer ({cases[0].failure}); mend the cause and "
                "start a new run"
            )

    def _must_stop(self, done: int) -> tuple[str, str]:
        """Reason and detail when the search has to end after `done` iterations, else empty."""
        if done >= self._plan.iterations:
            return "rounds", f"{self._plan.iterations} iterations"
        needed = self._plan.parents * (self._rotating + self._plan.children * self._child)
        blocked = self._tools.meter.blocks(needed)
        return ("budget", blocked) if blocked is not None else ("", "")

    def _try(self, number: int) -> tuple[str, str]:
        """An iteration, or the reason and detail why there was none."""
        try:
            self._iteration(number)
        except BudgetExhaustedError as error:
            return "budget", str(error)
        return "", ""

    def _iteration(self, number: int) -> None:
        tasks = self._tasks(number)
        scores = [
            self._judge.child(task, name, draft)
            for task, (name, draft) in zip(tasks, self._drafts(number, tasks), strict=True)
        ]
        best = self._pool.best
        self._tools.journal.emit(IterationFinished(number, len(self._pool), best.id, best.score))
        self._tools.meter.add_iteration()
        joined = [score for score in scores if score is not None]
        self._tools.report(number, max(joined, default=None), best.score)

    def _tasks(self, number: int) -> list[DraftTask]:
        """Draw the parents and look at each on fresh dev questions: one task a child."""
        tasks: list[DraftTask] = []
        for slot in range(self._plan.parents):
            rng = random.Random(f"{self._seed}:parent:{number}:{slot}")
            drawn = self._pool.draw(self._drawn, rng)
            self._drawn += 1
            key = f"{number:03d}-{slot}"
            sample = self._tools.sampler.rotating(
                self._rotating, key, keep_evidence=self._plan.keep_evidence
            )
            asked = tuple(q.id for q in sample.questions)
            parent = drawn.member
            share = round(drawn.probability, 6)
            self._tools.journal.emit(Sampled(number, slot, parent.id, share, asked))
            seen = self._tools.candidates.evaluate(f"rotating/{key}", "dev", parent.program, sample)
            for _ in range(self._plan.children):
                tasks.append(self._task(number, len(tasks), parent, seen))
        return tasks

    def _task(self, number: int, place: int, parent: Member, seen: Seen) -> DraftTask:
        return DraftTask(
            iteration=number,
            place=place,
            seed=self._seed * _SEEDS + number * 101 + place,
            parent=parent,
            cases=seen.cases,
            observed=seen.observed,
            lineage=self._population.lineage,
            references=self._references(parent),
            known=self._population.known,
        )

    def _references(self, parent: Member) -> tuple[Member, ...]:
        """The best other program, and the best of those under the parent."""
        others = [member for member in self._pool.ranked() if member.id != parent.id]
        lower = [member for member in others[1:] if member.score < parent.score]
        return (*others[:1], *lower[:1])

    def _drafts(self, number: int, tasks: Sequence[DraftTask]) -> list[tuple[str, Draft]]:
        """A named draft a task: those on record first, the others made side by side."""
        candidates = self._tools.candidates
        names = [self._population.name() for _ in tasks]
        drafts: list[Draft] = []
        for name in names:
            recorded = candidates.recorded(name)
            if recorded is None:
                break
            candidates.count(recorded[0])
            drafts.append(recorded[1])
        rest = list(zip(names, tasks, strict=True))[len(drafts) :]
        if rest:
            drafts += self._made(number, rest)
        return list(zip(names, drafts, strict=True))

    def _made(self, number: int, rest: Sequence[tuple[str, DraftTask]]) -> list[Draft]:
        """New drafts, each kept when it is there."""
        workshop = self._tools.workshop
        drafts: list[Draft] = []
        tasks = [task for _, task in rest]
        with self._tools.spending.work(), closing(workshop.make(tasks)) as made:
            before = time.perf_counter()
            for (name, task), draft in zip(rest, made, strict=True):
                now = time.perf_counter()
                self._tools.candidates.keep(
                    number, name, task.parent, workshop.drafter, draft, now - before
                )
                before = now
                drafts.append(draft)
        return drafts

    def _stop_if_asked(self, done: int) -> None:
        if self._tools.interrupt.requested:
            self._tools.journal.emit(Interrupted(done))
            best = self._pool.best
            raise RunInterruptedError(
                f"stopped after iteration {done} as asked (best so far {best.id}, "
                f"{self._metric} {best.score:.4f} on val); --resume continues the run",
                done,
            )

    def _finish(self, done: int, stopped: str) -> ProgramOutcome:
        seeds = tuple(member for member in self._pool.members if member.parent is None)
        start = max(seeds, key=lambda member: member.score)
        finalists = Finalists(
            self._tools.journal,
            self._tools.candidates,
            self._tools.sampler.fresh(),
            self._metric,
            self._seed,
            self._plan.finalists,
        )
        promoted = finalists.choose(self._pool.ranked(), start)
        parent = None if promoted.parent is None else self._pool[promoted.parent]
        return ProgramOutcome(promoted, parent, start, seeds, done, stopped)
