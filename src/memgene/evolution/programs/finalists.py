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

    A score that won among many is too high by luck. So the `count` best and the best seed answer
    the fresh val questions, which selected nothing. Those that are worse than the seed beyond
    noise on them are out; of the others the best over static and fresh questions together is
    taken, the seed among them.
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
        chosen = ranked[0]
        if self._count and self._fresh.questions:
            against = self._cases(start)
            if mean(against, self._metric) is not None:
                chosen = self._best(ranked, start, against)
        self._journal.emit(Promoted(chosen.id, fallback=chosen.id != ranked[0].id))
        return chosen

    def _best(self, ranked: Sequence[Member], start: Member, against: Sequence[Case]) -> Member:
        """The first of equals."""
        named = list(ranked[: self._count])
        if all(member.id != start.id for member in named):
            named.append(start)
        standing = [m for m in named if m.id == start.id or self._holds(m, start, against)]
        return max(standing, key=self._whole)

    def _whole(self, member: Member) -> float:
        return mean([*member.cases, *self._cases(member)], self._metric) or 0.0

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
            self._known[member.id] = seen.cases
        return self._known[member.id]
