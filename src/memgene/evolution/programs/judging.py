"""The way of a draft into the pool: duplicates, the paired gate, the static questions (M* §5)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from memgene.core import LabelledQuestion
from memgene.evolution.guard import Guard
from memgene.evolution.programs.candidates import ProgramCandidates, Seen
from memgene.evolution.programs.discreet import discreet
from memgene.evolution.programs.drafting import Draft, DraftTask, Workshop
from memgene.evolution.programs.plan import ProgramPlan
from memgene.evolution.programs.pool import Member
from memgene.evolution.programs.population import Population
from memgene.evolution.programs.sampling import Sample
from memgene.evolution.scoring import paired, value
from memgene.evolution.spending import Spending
from memgene.programs.normal import normal_hash
from memgene.programs.program import Program

_SEEDS = 100_003


class Judge:
    """Evaluates drafts of one run on its static questions, in stages, and lets them join."""

    def __init__(
        self,
        population: Population,
        candidates: ProgramCandidates,
        workshop: Workshop,
        spending: Spending,
        gate: Guard,
        plan: ProgramPlan,
        static: Sample,
        metric: str,
        seed: int,
    ) -> None:
        self._population = population
        self._candidates = candidates
        self._workshop = workshop
        self._spending = spending
        self._gate = gate
        self._plan = plan
        self._static = static
        self._metric = metric
        self._seed = seed

    def seed(self, name: str, title: str, draft: Draft) -> None:
        """Evaluate a seed, which has no parent and meets no gate but the first."""
        if draft.refused:
            self._population.refuse(0, name, None, draft, "draft", draft.refused)
            return
        self._population.known.setdefault(normal_hash(draft.source), name)
        seen = self._evaluated(name, "static", draft, self._static)
        self._population.join(0, name, None, replace(draft, title=title), seen)

    def child(self, task: DraftTask, name: str, draft: Draft) -> float | None:
        """Refuse a draft or take it into the pool; its score when it joined."""
        number, parent = task.iteration, task.parent
        if draft.refused:
            self._population.refuse(number, name, parent, draft, "draft", draft.refused)
            return None
        normal = normal_hash(draft.source)
        same = self._population.known.setdefault(normal, name)
        if same != name and self._plan.refuse_duplicates:
            why = f"the same program as {same}"
            self._population.refuse(number, name, parent, draft, "duplicate", why)
            return None
        worse = self._worse(name, parent, draft)
        if worse:
            self._population.refuse(number, name, parent, draft, "gate", worse)
            return None
        seen = self._evaluated(name, "static", draft, self._static)
        if self._plan.mend_violations and seen.observed.faults:
            return self._mended(task, name, draft, seen)
        return self._population.join(number, name, parent, draft, seen)

    def _worse(self, name: str, parent: Member, draft: Draft) -> str:
        """Why the paired gate stops a child; empty when it lets it pass or there is none.

        It stops a child only when its parent is better on the same few questions beyond noise.
        """
        questions = self._gate_questions(name, parent)
        if not questions:
            return ""
        seen = self._evaluated(name, "gate", draft, self._static.only(questions))
        pairs = paired(parent.cases, seen.cases, self._metric)
        verdict = self._gate.judge(pairs, self._seed * _SEEDS + int(name))
        if not verdict.accepted:
            return ""
        return f"its parent is better on {len(questions)} paired questions: {verdict.reason}"

    def _gate_questions(self, name: str, parent: Member) -> Sequence[LabelledQuestion]:
        """Those that the parent has a score on; none where the gate would save little."""
        scored = {c.question_id for c in parent.cases if value(c, self._metric) is not None}
        pool = [question for question in self._static.questions if question.id in scored]
        count = self._plan.gate_items
        if not 0 < count < len(pool):
            return ()
        rng = random.Random(f"{self._seed}:gate:{name}")
        return [pool[place] for place in sorted(rng.sample(range(len(pool)), count))]

    def _mended(self, task: DraftTask, name: str, draft: Draft, seen: Seen) -> float | None:
        """Published runtime violation recovery: mended and evaluated anew, or discarded.

        What broke are answers to val questions, so their words are told to nobody.
        """
        number, parent = task.iteration, task.parent
        told = discreet(seen.observed.faults, draft.source)
        for attempt in range(1, self._plan.repairs + 1):
            mended_name = f"{name}.{attempt}"
            recorded = self._candidates.recorded(mended_name)
            if recorded is None:
                with self._spending.work() as work:
                    draft = self._workshop.mend(task, draft, told)
                by = self._workshop.drafter
                self._candidates.keep(number, mended_name, parent, by, draft, work.seconds)
            else:
                self._candidates.count(recorded[0])
                draft = recorded[1]
            if draft.refused:
                break
            seen = self._evaluated(mended_name, "static", draft, self._static)
            if not seen.observed.faults:
                self._population.known.setdefault(normal_hash(draft.source), mended_name)
                return self._population.join(number, mended_name, parent, draft, seen)
            told = discreet(seen.observed.faults, draft.source)
        why = draft.refused or f"it still breaks at work: {told.splitlines()[0]}"
        self._population.refuse(number, name, parent, draft, "runtime", why)
        return None

    def _evaluated(self, name: str, split: str, draft: Draft, sample: Sample) -> Seen:
        return self._candidates.evaluate(name, split, Program(draft.source), sample)
