"""Evaluations that are done once: taken from the run folder when recorded, else made and kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from memgene.core import LabelledQuestion, RunError
from memgene.evaluation.case import Case
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.events import Evaluated
from memgene.evolution.rundir import CASES, RunFolder, UsageByRole, cases_digest
from memgene.evolution.scoring import mean, values
from memgene.evolution.spending import Spending
from memgene.retrieval.config import RetrievalConfig


class Evaluator(Protocol):
    """Answers questions with a configuration and scores them."""

    def evaluate(
        self, config: RetrievalConfig, questions: Sequence[LabelledQuestion], label: str
    ) -> Sequence[Case]:
        """One case per question, in order."""
        ...


class Recorder:
    """Runs evaluations of one run: journal, cases, usage and budget see each exactly once.

    A recorded evaluation costs no call and counts in the budget as it did when it was made.
    """

    def __init__(self, run: RunFolder, metric: str, meter: BudgetMeter, spending: Spending) -> None:
        self._run = run
        self._metric = metric
        self._meter = meter
        self._spending = spending

    def cases(
        self,
        subject: str,
        split: str,
        questions: Sequence[LabelledQuestion],
        work: Callable[[], Sequence[Case]],
        *,
        limited: bool = True,
        file: str = CASES,
    ) -> list[Case]:
        """Cases of a subject (candidate id or `final/ROW`) on the questions of a split. Fresh work
        is held to the budget where it is `limited`. `file` keeps them; evaluations of a subject on
        the same questions need files of their own."""
        recorded = self._run.journal.peek(Evaluated, candidate=subject, split=split)
        if recorded is not None:
            cases = self._run.load_cases(subject, [q.id for q in questions], file)
            if cases_digest(cases) != recorded.digest:
                raise RunError(
                    f"{self._run.folder_of(subject) / file} is not what the journal "
                    "recorded; start a new run folder"
                )
            self._run.journal.emit(recorded)
        else:
            with self._spending.work(limited=limited) as spent:
                cases = list(work())
            self._run.save_cases(subject, cases, file)
            recorded = self._keep(subject, split, cases, spent.usage, spent.seconds)
        self._meter.add_evaluation(recorded.questions, recorded.usage, recorded.seconds)
        return cases

    def _keep(
        self, subject: str, split: str, cases: Sequence[Case], used: UsageByRole, seconds: float
    ) -> Evaluated:
        """Files first, then the event that vouches for them."""
        self._run.save_usage(subject, split, used, seconds)
        return self._run.journal.emit(
            Evaluated(
                candidate=subject,
                split=split,
                questions=len(cases),
                scored=len(values(cases, self._metric)),
                score=mean(cases, self._metric),
                errors=sum(case.error is not None for case in cases),
                digest=cases_digest(cases),
                usage=used,
                seconds=seconds,
            )
        )
