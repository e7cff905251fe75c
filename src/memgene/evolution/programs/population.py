"""Who is in the pool, who was refused and why: the state of a search, and its events."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memgene.core import InputError
from memgene.evolution.journal import Journal
from memgene.evolution.programs.candidates import Seen
from memgene.evolution.programs.drafting import Draft
from memgene.evolution.programs.events import Joined, Refused
from memgene.evolution.programs.lineage import REGRESSION, Lineage, Record
from memgene.evolution.programs.plan import ProgramPlan
from memgene.evolution.programs.pool import Member, Pool
from memgene.evolution.scoring import mean
from memgene.programs.program import Program


class Population:
    """The pool, the lineage and the known programs of one run (`known`: from earlier searches)."""

    def __init__(
        self,
        journal: Journal,
        plan: ProgramPlan,
        metric: str,
        known: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._journal = journal
        self._metric = metric
        self._known = dict(known)
        self._made = 0
        self.pool = Pool(plan.search, plan.temperature, drop_zero=plan.drop_zero)
        self.lineage = Lineage()

    def name(self) -> str:
        """The name of the next candidate."""
        self._made += 1
        return f"{self._made - 1:03d}"

    @property
    def known(self) -> dict[str, str]:
        """Candidates by their normalised hash, the first of equals."""
        return self._known

    def join(
        self,
        iteration: int,
        name: str,
        parent: Member | None,
        draft: Draft,
        seen: Seen,
    ) -> float:
        """Take an evaluated program into the pool; its score.

        Raises InputError when the metric applies to none of the static questions.
        """
        score = mean(seen.cases, self._metric)
        if score is None:
            raise InputError(
                f"metric {self._metric} applies to none of the val questions; choose another"
            )
        delta = score - parent.score if parent else 0.0
        self.pool.add(
            Member(
                id=name,
                program=Program(draft.source),
                score=score,
                parent=parent.id if parent else None,
                iteration=iteration,
                title=draft.title,
                message=draft.message,
                cases=tuple(seen.cases),
            )
        )
        self._record(name, parent, draft, score, delta)
        self._journal.emit(
            Joined(
                iteration=iteration,
                candidate=name,
                parent=parent.id if parent else "",
                score=score,
                delta=delta,
                regressed=delta < -REGRESSION,
                failures=sum(case.failure is not None for case in seen.cases),
            )
        )
        return score

    def refuse(
        self, iteration: int, name: str, parent: Member | None, draft: Draft, stage: str, why: str
    ) -> None:
        """A candidate goes no further."""
        self._record(name, parent, draft, None, None, why)
        origin = parent.id if parent else ""
        self._journal.emit(Refused(iteration, name, origin, stage, why))

    def _record(
        self,
        name: str,
        parent: Member | None,
        draft: Draft,
        score: float | None,
        delta: float | None,
        refused: str | None = None,
    ) -> None:
        origin = parent.id if parent else None
        self.lineage.add(Record(name, origin, draft.title, draft.message, score, delta, refused))
