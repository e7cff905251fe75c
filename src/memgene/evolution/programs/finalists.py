"""Which program a run yields: the best candidates are asked fresh val questions first."""

from __future__ import annotations

from collections.abc import Sequence

from memgene.evaluation.case import Case
from memgene.evolution.events import Promoted, Rechecked
from memgene.evolution.guard import recheck
from memgene.evolution.journal import Journal
from memgene.evolution.programs.candidates import ProgramCandidates
from memgene.evolution.programs.pool import Member
from memgene.evolution.programs.sampling import Sample
from memgene.evolution.scoring import mean, paired


class Finalists:
    """Names the best of a pool (ours; the paper takes the best on the static questions).

    A score that won among many is too high by luck. So the `count` best answer the fresh val
    questions, which selected nothing; the best over static and fresh questions together is taken,
    unless it is worse than the best seed beyond noise on the fresh ones.
    """

    def __init__(
        self,
        journal: Journal,
        candidates: ProgramCandidates,
        fresh: Sample,
        metric: str,
        seed: int,
        count: int,
    ) -> None:
        self._journal = journal
        self._candidates = candidates
        self._fresh = fresh
        self._metric = metric
        self._seed = seed
        self._count = count
        self._known: dict[str, Sequence[Case]] = {}

    def choose(self, ranked: Sequence[Member], start: Member) -> Member:
        """The promoted member of `ranked` (best first); `start` is the best seed."""
        if not self._count or not self._fresh.questions:
            self._journal.emit(Promoted(ranked[0].id, fallback=False))
            return ranked[0]
        against = self._cases(start)
        standing: list[tuple[float, int, Member]] = []
        for place, member in enumerate(ranked[: self._count]):
            if member.id != start.id and not self._holds(member, start, against):
                continue
            cases = against if member.id == start.id else self._cases(member)
            whole = mean([*member.cases, *cases], self._metric)
            standing.append((-(whole or 0.0), place, member))
        chosen = min(standing)[2] if standing else start
        self._journal.emit(Promoted(chosen.id, fallback=chosen.id != ranked[0].id))
        return chosen

    def _holds(self, member: Member, start: Member, against: Sequence[Case]) -> bool:
        pairs = paired(self._cases(member), against, self._metric)
        found = recheck(pairs, self._seed * 10_007 + int(member.id.partition(".")[0]))
        self._journal.emit(
            Rechecked(
                candidate=member.id,
                against=start.id,
                delta=found.delta,
                not_worse=found.not_worse,
                questions=len(pairs.groups),
                kept=found.kept,
            )
        )
        return found.kept

    def _cases(self, member: Member) -> Sequence[Case]:
        if member.id not in self._known:
            seen = self._candidates.evaluate(
                member.id, "fresh", member.program, self._fresh, limited=False
            )
            self._candidates.forget()
            self._known[member.id] = seen.cases
        return self._known[member.id]
