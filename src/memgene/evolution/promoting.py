"""Which of the candidates that were best in turn a run yields: the last that holds on fresh val
questions, which no acceptance has seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from memgene.evaluation.case import Case
from memgene.evolution.events import Promoted, Rechecked
from memgene.evolution.guard import recheck
from memgene.evolution.journal import Journal
from memgene.evolution.scoring import paired


class Named(Protocol):
    """A candidate."""

    @property
    def id(self) -> str:
        """Its name in the run."""
        ...


C = TypeVar("C", bound=Named)


def promote(
    lineage: Sequence[C],
    journal: Journal,
    metric: str,
    seed: int,
    fresh: Callable[[C], Sequence[Case]] | None,
    number: Callable[[C], int] = lambda candidate: int(candidate.id),
) -> C:
    """The newest of the lineage that is not worse than its first, the start, on fresh questions.

    `fresh` gives the cases of a candidate on them (None: there are none, the newest is taken),
    `number` what tells its resamples from those of others.
    """
    start, best = lineage[0], lineage[-1]
    for candidate in reversed(lineage[1:]):
        if fresh is None or _holds(
            candidate, start, journal, metric, seed + number(candidate), fresh
        ):
            journal.emit(Promoted(candidate.id, candidate is not best))
            return candidate
    journal.emit(Promoted(start.id, start is not best))
    return start


def _holds(
    candidate: C,
    start: C,
    journal: Journal,
    metric: str,
    seed: int,
    fresh: Callable[[C], Sequence[Case]],
) -> bool:
    pairs = paired(fresh(candidate), fresh(start), metric)
    found = recheck(pairs, seed)
    journal.emit(
        Rechecked(
            candidate=candidate.id,
            against=start.id,
            delta=found.delta,
            not_worse=found.not_worse,
            questions=len(pairs.groups),
            kept=found.kept,
        )
    )
    return found.kept
