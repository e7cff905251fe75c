"""The final report: learned weights refitted on dev + val, then test, opened once.

Rows: evolved, start, learned-once (the default configuration with the learned fusion, fitted once,
no evolution) and every static harness. The best static one is chosen on val before test is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from memgene.core import LabelledQuestion
from memgene.evaluation.case import Case
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.candidates import Learner
from memgene.evolution.changes import LEARNED
from memgene.evolution.events import Interrupted, Refitted, TestMeasured
from memgene.evolution.interrupt import Interruptible, RunInterruptedError
from memgene.evolution.recorder import Recorder
from memgene.evolution.result import EVOLVED, LEARNED_ONCE, START, Row, TestReport, best_static
from memgene.evolution.rundir import RunFolder, UsageByRole, row_subject
from memgene.evolution.scoring import mean, values
from memgene.evolution.sealed import DevVal, SealedTest
from memgene.evolution.spending import Spending
from memgene.evolution.task_evaluator import TaskEvaluator
from memgene.harness.protocol import HarnessFactory
from memgene.retrieval.config import RetrievalConfig
from memgene.tasks.task import Task


@dataclass(frozen=True, slots=True)
class FinalTools:
    """What the final report works with. `meter` counts what it uses; nothing holds it to a budget:
    the report is due whatever the search has spent. `evaluator_for` makes an evaluator that may
    ask a part's questions; `rounds` is how many the search took; `report` is called before each
    row."""

    run: RunFolder
    recorder: Recorder
    spending: Spending
    meter: BudgetMeter
    learner: Learner
    evaluator_for: Callable[[Task], TaskEvaluator]
    interrupt: Interruptible
    rounds: int
    report: Callable[[], None]


Subject: TypeAlias = HarnessFactory | RetrievalConfig
"""A memory to measure: a factory, or the configuration of the bank."""


@dataclass(frozen=True, slots=True)
class FinalOutcome:
    """The report and the refitted configuration (the default one where a program evolved)."""

    report: TestReport
    config: RetrievalConfig


class FinalReport:
    """Measures the promoted configuration against everything it has to beat. Call `run` once."""

    def __init__(self, tools: FinalTools, data: DevVal, metric: str, seed: int) -> None:
        self._tools = tools
        self._data = data
        self._metric = metric
        self._seed = seed
        self._same: dict[tuple[str, str], Sequence[Case]] = {}

    def run(
        self,
        promoted: Subject,
        start: Subject,
        static: Mapping[str, Subject],
        sealed: SealedTest,
        *,
        learned_once: bool,
    ) -> FinalOutcome:
        """Choose the best static row on val, refit, open test, measure every row.

        `static` maps names to factories, or to a configuration where the harness is the bank with
        it. `learned_once` says whether there is something to learn from.
        """
        val = self._val_scores(static, learned_once)
        chosen = best_static(val)
        config = RetrievalConfig()
        if isinstance(promoted, RetrievalConfig):
            promoted = config = self._refitted(EVOLVED, promoted)
        subjects: dict[str, Subject] = {EVOLVED: promoted, START: start}
        subjects.update(static)
        if learned_once:
            subjects[LEARNED_ONCE] = self._refitted(LEARNED_ONCE, RetrievalConfig())
        task = sealed.open(self._tools.run.journal)
        evaluator = self._tools.evaluator_for(task)
        rows = {}
        for name, subject in subjects.items():
            self._before_row()
            cases = self._cases(name, "test", subject, task.questions, evaluator)
            self._measured(name, cases)
            rows[name] = Row.of(name, cases, val.get(name), self._seed, self._metric)
        report = TestReport.of(rows, self._metric, chosen, self._seed)
        return FinalOutcome(report, config)

    def _val_scores(
        self, static: Mapping[str, Subject], learned_once: bool
    ) -> dict[str, float | None]:
        """Mean on all val questions of each static row; learned-once fitted on dev alone."""
        subjects = dict(static)
        if learned_once:
            subjects[LEARNED_ONCE] = self._fitted(
                LEARNED_ONCE, RetrievalConfig(), self._data.dev, "dev.toml"
            )
        evaluator = self._tools.evaluator_for(self._data.task)
        scores = {}
        for name, subject in subjects.items():
            self._before_row()
            cases = self._cases(name, "val", subject, self._data.val, evaluator)
            scores[name] = mean(cases, self._metric)
        return scores

    def _refitted(self, row: str, config: RetrievalConfig) -> RetrievalConfig:
        """The configuration with its learned weights, if any, fitted on dev + val."""
        if config.fusion != LEARNED and row != LEARNED_ONCE:
            self._tools.run.save_config(row_subject(row), config)
            return config
        questions = (*self._data.dev, *self._data.val)
        return self._fitted(row, config, questions, "retrieval.toml")

    def _fitted(
        self,
        row: str,
        config: RetrievalConfig,
        questions: Sequence[LabelledQuestion],
        file: str,
    ) -> RetrievalConfig:
        """Fit, write, record; or take what is recorded."""
        run, subject = self._tools.run, row_subject(row)
        recorded = run.journal.peek(Refitted, row=row, file=file)
        if recorded is None:
            with self._tools.spending.work(limited=False) as spent:
                ranker = self._tools.learner(config, questions)
            fitted = config.changed(fusion=LEARNED, ranker=ranker)
            usage: UsageByRole = spent.usage
            seconds = spent.seconds
            run.save_config(subject, fitted, file)
        else:
            fitted = run.load_config(subject, file)
            usage, seconds = recorded.usage, recorded.seconds
            assert fitted.ranker is not None
            ranker = fitted.ranker
        event = run.journal.emit(
            Refitted(row, file, ranker.target, len(questions), fitted.digest, usage, seconds)
        )
        self._tools.meter.add_work(event.usage, event.seconds)
        return fitted

    def _cases(
        self,
        name: str,
        split: str,
        subject: Subject,
        questions: Sequence[LabelledQuestion],
        evaluator: TaskEvaluator,
    ) -> Sequence[Case]:
        """Cases of a row; equal configurations are evaluated once and share them."""
        place = row_subject(name)
        if not isinstance(subject, RetrievalConfig):
            factory = subject
            return self._tools.recorder.cases(
                place,
                split,
                questions,
                lambda: evaluator.evaluate_harness(factory, questions, name),
            )
        config, key = subject, (subject.digest, split)
        found = self._tools.recorder.cases(
            place,
            split,
            questions,
            lambda: self._same.get(key) or evaluator.evaluate(config, questions, name),
        )
        self._same[key] = found
        return found

    def _before_row(self) -> None:
        self._tools.report()
        if self._tools.interrupt.requested:
            self._tools.run.journal.emit(Interrupted(self._tools.rounds))
            raise RunInterruptedError(
                "stopped during the final report as asked; --resume continues it",
                self._tools.rounds,
            )

    def _measured(self, name: str, cases: Sequence[Case]) -> None:
        scored = len(values(cases, self._metric))
        self._tools.run.journal.emit(TestMeasured(name, mean(cases, self._metric), scored))
