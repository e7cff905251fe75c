"""Paired comparison of two results on the same questions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from memgene.core import InputError
from memgene.evaluation.case import Case
from memgene.evaluation.report import HarnessReport
from memgene.evaluation.statistics import RESAMPLES, Paired, Resampling, paired_difference


@dataclass(frozen=True, slots=True)
class Comparison:
    """Challenger − base by one metric, over the questions that both have a score for.

    `unpaired` questions are in both results but scored in one only (an error in the other).
    """

    metric: str
    challenger: float
    base: float
    paired: Paired
    unpaired: int

    def to_json(self) -> dict[str, Any]:
        """An entry of `paired` in the JSON of `evolve`, and of `compare`."""
        paired = self.paired
        return {
            "metric": self.metric,
            "challenger": self.challenger,
            "base": self.base,
            "delta": paired.delta,
            "low": paired.low,
            "high": paired.high,
            "p": paired.p,
            "prob_positive": paired.prob_positive,
            "n": paired.n,
            "unpaired": self.unpaired,
            "method": str(paired.method),
        }


def compare_cases(
    challenger: Sequence[Case],
    base: Sequence[Case],
    metric: str,
    *,
    set_apart: Collection[str] = (),
    intersect: bool = False,
    seed: int = 0,
    resamples: int = RESAMPLES,
    method: Resampling | None = None,
) -> Comparison:
    """Compare by question id; categories set apart do not count.

    Different questions are an InputError unless `intersect`, which takes those both have.
    """
    ours = _by_id(challenger, set_apart)
    theirs = _by_id(base, set_apart)
    if ours.keys() != theirs.keys() and not intersect:
        only_ours, only_theirs = len(ours.keys() - theirs.keys()), len(theirs.keys() - ours.keys())
        raise InputError(
            f"the two results are over different questions ({only_ours} only in the first, "
            f"{only_theirs} only in the second); evaluate both on the same split, or compare "
            "what they share (intersect=True)"
        )
    shared = [(case, theirs[name]) for name, case in ours.items() if name in theirs]
    pairs = [(a, b) for a, b in shared if metric in a.scores and metric in b.scores]
    if not pairs:
        raise InputError(f"no question has the metric {metric!r} in both results")
    first = [a.scores[metric] for a, _ in pairs]
    second = [b.scores[metric] for _, b in pairs]
    paired = paired_difference(
        first,
        second,
        [a.group for a, _ in pairs],
        seed=seed,
        resamples=resamples,
        method=method,
    )
    either = sum(metric in a.scores or metric in b.scores for a, b in shared)
    return Comparison(
        metric=metric,
        challenger=fsum(first) / len(first),
        base=fsum(second) / len(second),
        paired=paired,
        unpaired=either - len(pairs),
    )


def compare_reports(
    challenger: HarnessReport,
    base: HarnessReport,
    metrics: Sequence[str] | None = None,
    *,
    intersect: bool = False,
    seed: int = 0,
) -> list[Comparison]:
    """Compare two harness reports (with their cases) by each metric; default: all both have."""
    for report in (challenger, base):
        if not report.cases:
            raise InputError(f"the report of {report.name} has no cases; read them with it")
    apart = {
        name
        for report in (challenger, base)
        for name, part in report.by_category.items()
        if part.set_apart
    }
    names = [name for name in challenger.metrics if name in base.metrics]
    return [
        compare_cases(
            challenger.cases,
            base.cases,
            metric,
            set_apart=apart,
            intersect=intersect,
            seed=seed,
        )
        for metric in (names if metrics is None else metrics)
    ]


def _by_id(cases: Sequence[Case], set_apart: Collection[str]) -> dict[str, Case]:
    counted = {case.question_id: case for case in cases if case.category not in set_apart}
    if len(counted) < sum(case.category not in set_apart for case in cases):
        raise InputError("a question stands twice in one result; average its runs first")
    return counted
