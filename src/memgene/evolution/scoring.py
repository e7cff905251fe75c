"""Cases to numbers: the mean of a metric, and pairs of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memgene.core import InputError
from memgene.evaluation.case import Case
from memgene.tasks.metrics.rankings import recall_at_k


@dataclass(frozen=True, slots=True)
class Pairs:
    """Scores of two candidates on the questions both have: equal positions belong together."""

    challenger: tuple[float, ...]
    base: tuple[float, ...]
    groups: tuple[str, ...]

    @property
    def delta(self) -> float:
        """Mean difference, challenger − base."""
        return (sum(self.challenger) - sum(self.base)) / len(self.groups)


def value(case: Case, metric: str) -> float | None:
    """The metric of a case; None when it does not apply or the call failed."""
    return None if case.error is not None else case.scores.get(metric)


def values(cases: Sequence[Case], metric: str) -> list[float]:
    """The metric of every case it applies to."""
    return [v for case in cases if (v := value(case, metric)) is not None]


def mean(cases: Sequence[Case], metric: str) -> float | None:
    """Mean of the metric over the cases it applies to; None when it applies to none."""
    found = values(cases, metric)
    return sum(found) / len(found) if found else None


def paired(challenger: Sequence[Case], base: Sequence[Case], metric: str) -> Pairs:
    """Pairs by question, in the challenger's order. Raises InputError when there is none."""
    known = {case.question_id: value(case, metric) for case in base}
    rows = [
        (mine, theirs, case.group)
        for case in challenger
        if (mine := value(case, metric)) is not None
        and (theirs := known.get(case.question_id)) is not None
    ]
    if not rows:
        raise InputError(f"no question has {metric} in both evaluations")
    first, second, groups = zip(*rows, strict=True)
    return Pairs(first, second, groups)


def evidence_pairs(challenger: Sequence[Case], base: Sequence[Case]) -> Pairs | None:
    """Shares of gold evidence in the context, both cut to the shorter of the two contexts (so
    that a longer one is no gain). None when no question has usable evidence and two rankings."""
    known = {case.question_id: case for case in base}
    rows = []
    for mine in challenger:
        theirs = known.get(mine.question_id)
        if theirs is None or mine.hits is None or theirs.hits is None:
            continue
        if mine.evidence and mine.excluded is None and mine.error is None and theirs.error is None:
            k = min(mine.shown, theirs.shown)
            shares = [recall_at_k(mine.evidence, hits, k) for hits in (mine.hits, theirs.hits)]
            rows.append((shares[0], shares[1], mine.group))
    if not rows:
        return None
    first, second, groups = zip(*rows, strict=True)
    return Pairs(first, second, groups)
