"""Several seeds of one evaluation as one result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import fsum

from memgene.core import InputError, Usage
from memgene.evaluation.agreement import agreements
from memgene.evaluation.case import Case
from memgene.evaluation.judges import judges_used
from memgene.evaluation.report import EvaluationReport, HarnessReport, summarise
from memgene.tasks.task import Task


def average_reports(reports: Sequence[EvaluationReport], task: Task) -> EvaluationReport:
    """Mean over seeds: reports of one task, split, agent and the same harnesses.

    Intervals are over questions (or groups) of each question's mean over seeds; usage and
    seconds are sums. Raises InputError when the reports do not belong together.
    """
    if not reports:
        raise InputError("an average needs at least one report")
    first = reports[0]
    names = [harness.name for harness in first.harnesses]
    for other in reports[1:]:
        if (other.task, other.split, other.agent) != (first.task, first.split, first.agent):
            raise InputError("reports of different tasks, splits or agents cannot be averaged")
        if [harness.name for harness in other.harnesses] != names:
            raise InputError("reports with different harnesses cannot be averaged")
    if len(reports) == 1:
        return first
    harnesses = tuple(
        average_harness([report.harness(name) for report in reports], task, seed=first.seed)
        for name in names
    )
    return replace(first, harnesses=harnesses, seeds=tuple(report.seed for report in reports))


def average_harness(
    reports: Sequence[HarnessReport], task: Task, *, seed: int = 0
) -> HarnessReport:
    """One harness over several seeds; `errors` counts those of all seeds."""
    whole = summarise(
        average_cases([report.cases for report in reports]),
        task,
        name=reports[0].name,
        usage=sum((report.usage for report in reports), start=Usage()),
        seconds=fsum(report.seconds for report in reports),
        seed=seed,
    )
    by_seed = {
        metric: tuple(r.metrics[metric].mean for r in reports if metric in r.metrics)
        for metric in whole.metrics
    }
    cases = [case for report in reports for case in report.cases]
    counted = [case for case in cases if case.category not in task.set_apart]
    return replace(
        whole,
        errors=sum(report.errors for report in reports),
        degraded=sum(report.degraded for report in reports),
        by_seed=by_seed,
        judges=judges_used(cases),
        agreement=agreements(counted, seed=seed),
    )


def average_cases(runs: Sequence[Sequence[Case]]) -> list[Case]:
    """The first run's cases with each score averaged over the runs that have it.

    A question is an error only where it failed in every run.
    """
    ids = [case.question_id for case in runs[0]]
    for run in runs[1:]:
        if [case.question_id for case in run] != ids:
            raise InputError("runs over different questions cannot be averaged")
    return [_average(same) for same in zip(*runs, strict=True)]


def _average(cases: Sequence[Case]) -> Case:
    answered = [case for case in cases if case.error is None]
    if not answered:
        return cases[0]
    names = dict.fromkeys(name for case in answered for name in case.scores)
    scores = {}
    for name in names:
        values = [case.scores[name] for case in answered if name in case.scores]
        scores[name] = fsum(values) / len(values)
    return replace(answered[0], scores=scores)
