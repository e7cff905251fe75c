"""Harness × agent × questions → cases.

Order of things (M* §4): every episode is extracted and written in order, then each question is
formulated, read, answered and scored. Only `LabelledQuestion.question` leaves this module towards
a harness or an agent; gold goes to the scorer alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from memgene.agents.protocol import Agent
from memgene.core import (
    Answer,
    BudgetExhaustedError,
    ConfigError,
    Context,
    Hit,
    InputError,
    LabelledQuestion,
    MissingDependencyError,
    Question,
    RunError,
)
from memgene.evaluation.case import Case, HitTrace
from memgene.evaluation.executor import Executor, SerialExecutor
from memgene.evaluation.memories import (
    UNUSABLE,
    LazyMemory,
    Memories,
    MemoryFailedError,
    OwnWords,
)
from memgene.evaluation.progress import Progress
from memgene.evaluation.scoring import Marks, Scorer
from memgene.harness.protocol import Harness, HarnessFactory
from memgene.llm.protocol import LLM
from memgene.retrieval.question_type import predict_type
from memgene.tasks.task import Regime, Task

MAX_ERRORS = 0.05
TRACE_HITS = 20
TRACE_CHARACTERS = 20_000
# These say that nothing will work, or that the work must stop: they end the evaluation.
_FATAL = (BudgetExhaustedError, ConfigError, MissingDependencyError)


class EvaluationFailedError(RunError):
    """Too many questions ended in errors. `cases` holds those that were finished."""

    def __init__(self, message: str, cases: Sequence[Case]) -> None:
        super().__init__(message)
        self.cases = tuple(cases)


def evaluate_cases(
    task: Task,
    factory: HarnessFactory,
    agent: Agent,
    questions: Sequence[LabelledQuestion] | None = None,
    *,
    metrics: Sequence[str],
    training: Sequence[str] | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    label: str = "",
    trace_hits: int = TRACE_HITS,
    memories: Memories | None = None,
    max_errors: float = MAX_ERRORS,
    judges: Mapping[str, LLM] | None = None,
) -> list[Case]:
    """One case per question (default: all of the task's), in the order of the questions.

    Under `own_group` each group has a memory of its own; under `shared` one memory holds the
    episodes of the `training` groups (default: all of the task's, as `tasks.splits.part` cuts
    them, refused when they include groups that are asked about). With `memories`, factories that
    are `SharedWrites` reuse what an equal write stored. `judges` are the models that judged
    metrics ask, by name (`judge` scores them, others beside it; see `Scorer`).

    What a harness or agent raises becomes `Case.error`. As soon as more than the share
    `max_errors` of all questions have one, EvaluationFailedError names the first of them. What an
    agent cannot use of a memory with words of its own (`OwnWords`) is `Case.failure` and scores 0.
    An exhausted budget, a wrong setting and a missing extra are raised at once.
    """
    asked = list(task.questions if questions is None else questions)
    if not asked:
        raise InputError(f"task {task.name} has no question to evaluate")
    if not 0 <= max_errors <= 1:
        raise InputError(f"max_errors must lie between 0 and 1, got {max_errors}")
    run = _Run(agent, Scorer(task, metrics, judges), trace_hits, max_errors * len(asked))
    opened = _memories(task, asked, factory, agent, training, memories)
    runner = executor or SerialExecutor()
    jobs = _job_order(asked, runner.workers if task.regime is Regime.OWN_GROUP else 1)
    turns = _turns(task, asked, jobs)
    try:
        runner.map(
            lambda place: run.ask(
                place, asked[place], opened[_memory_key(task, asked[place])], turns[place]
            ),
            jobs,
            progress,
            label or task.name,
        )
    except _TooManyErrors:
        raise run.failure(len(asked)) from None
    finally:
        for memory in opened.values():
            memory.close()
    return run.in_order()


class _TooManyErrors(Exception):  # noqa: N818 - a signal inside this module, not an error
    """The share of errors is above the threshold."""


@dataclass(slots=True)
class _Steps:
    """The trace of one question while it is under way."""

    step: str = "write"
    seconds: dict[str, float] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    context: Context = Context("")  # noqa: RUF009 - frozen
    answer: Answer = Answer("")  # noqa: RUF009 - frozen
    marks: Marks = Marks()  # noqa: RUF009 - frozen
    bank_evidence: float | None = None

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Name and time one step."""
        self.step = step
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[step] = time.perf_counter() - started


class _Run:
    """What the questions of one evaluation share; `ask` may be called from many threads."""

    def __init__(
        self, agent: Agent, scorer: Scorer, trace_hits: int, tolerated_errors: float
    ) -> None:
        self._agent = agent
        self._scorer = scorer
        self._trace_hits = trace_hits
        self._tolerated = tolerated_errors
        self._lock = Lock()
        self._cases: dict[int, Case] = {}
        self._errors = 0

    def ask(self, place: int, labelled: LabelledQuestion, memory: LazyMemory, turn: int) -> None:
        """Answer one question, the memory's `turn`-th, and keep its case."""
        steps = _Steps()
        error: str | None = None
        try:
            self._answer(labelled, memory, turn, steps)
        except _FATAL:
            raise
        except MemoryFailedError as failed:
            cause = failed.__cause__
            if isinstance(cause, _FATAL):
                raise cause from None
            error = _describe(steps.step, cause or failed)
        except Exception as problem:  # noqa: BLE001 - recorded in the case, counted, reported
            error = _describe(steps.step, problem)
        finally:
            memory.release(turn)
        self._keep(place, self._case(labelled, steps, error))

    def in_order(self) -> list[Case]:
        """Finished cases in the order of the questions."""
        return [self._cases[place] for place in sorted(self._cases)]

    def failure(self, total: int) -> EvaluationFailedError:
        """The error that names the first failed questions."""
        failed = [case for case in self.in_order() if case.error]
        first = "; ".join(f"{case.question_id}: {case.error}" for case in failed[:3])
        return EvaluationFailedError(
            f"{len(failed)} of {total} questions ended in errors, which is above the threshold; "
            f"first: {first}. Mend the cause, or raise max_errors to accept them",
            self.in_order(),
        )

    def _answer(
        self, labelled: LabelledQuestion, memory: LazyMemory, turn: int, steps: _Steps
    ) -> None:
        harness = memory.harness()
        steps.bank_evidence = self._scorer.held(labelled, memory.stored)
        try:
            self._asked(labelled.question, harness, memory, turn, steps)
        except UNUSABLE as problem:
            if not isinstance(harness, OwnWords):
                raise
            failure = harness.unusable(steps.step, problem)
            steps.context = replace(steps.context, failure=failure)
        if steps.context.failure is not None:
            steps.marks = self._scorer.broken(labelled)
            return
        with steps.timed("score"):
            steps.marks = self._scorer.marks(labelled, steps.context, steps.answer)

    def _asked(
        self, question: Question, harness: Harness, memory: LazyMemory, turn: int, steps: _Steps
    ) -> None:
        """Formulate, read, respond."""
        words = harness.instructions
        with steps.timed("formulate"):
            query = self._agent.formulate(question, harness.query_schema, words.query)
            steps.query = dict(query.values)
        with memory.reading(harness, turn), steps.timed("read"):
            steps.context = harness.read(query)
        if self._scorer.needs_answers and steps.context.failure is None:
            with steps.timed("respond"):
                steps.answer = self._agent.respond(
                    question, steps.context, words.response, words.always_on, query
                )

    def _case(self, labelled: LabelledQuestion, steps: _Steps, error: str | None) -> Case:
        question, gold, context = labelled.question, labelled.gold, steps.context
        hits = context.hits
        ranked = None if hits is None else tuple(_trace(h) for h in hits[: self._trace_hits])
        timings = {step: _short(seconds) for step, seconds in steps.seconds.items()}
        return Case(
            question_id=question.id,
            group=question.group,
            category=gold.category,
            question=question.text,
            gold=gold.answers,
            evidence=tuple(dict.fromkeys(gold.evidence)),
            query=steps.query,
            context=_cut(context.text),
            shown=context.shown,
            hits=ranked,
            answer=steps.answer.text,
            abstained=steps.answer.abstained,
            rule=steps.answer.rule,
            scores={} if error else steps.marks.scores,
            bank_evidence=steps.bank_evidence,
            pool_evidence=self._scorer.pool_evidence(labelled, context),
            seconds=_short(sum(timings.values())),
            error=error,
            excluded=gold.unusable,
            question_type=predict_type(question.text),
            timings=timings,
            notes=context.notes,
            judgements={} if error else steps.marks.judgements,
            failure=context.failure,
        )

    def _keep(self, place: int, case: Case) -> None:
        with self._lock:
            self._cases[place] = case
            self._errors += case.error is not None
            if self._errors > self._tolerated:
                raise _TooManyErrors


def _memory_key(task: Task, labelled: LabelledQuestion) -> str:
    return labelled.group if task.regime is Regime.OWN_GROUP else ""


def _turns(task: Task, asked: Sequence[LabelledQuestion], jobs: Sequence[int]) -> dict[int, int]:
    """For each place, how many questions of the same memory are asked before it."""
    before: dict[str, int] = {}
    turns = {}
    for place in jobs:
        key = _memory_key(task, asked[place])
        turns[place] = before.get(key, 0)
        before[key] = turns[place] + 1
    return turns


def _memories(
    task: Task,
    asked: Sequence[LabelledQuestion],
    factory: HarnessFactory,
    agent: Agent,
    training: Sequence[str] | None,
    pool: Memories | None,
) -> dict[str, LazyMemory]:
    """The memory of each group asked about, or under "" the one that all share."""

    def lazy(groups: frozenset[str], readers: int) -> LazyMemory:
        episodes = tuple(e for e in task.episodes if e.group in groups)
        return LazyMemory(factory, agent, episodes, readers, pool)

    if task.regime is Regime.SHARED:
        return {"": lazy(_training(task, asked, training), len(asked))}
    if training is not None:
        raise InputError(f"task {task.name} has a memory per group; training has no meaning there")
    readers: dict[str, int] = {}
    for labelled in asked:
        readers[labelled.group] = readers.get(labelled.group, 0) + 1
    return {group: lazy(frozenset({group}), count) for group, count in readers.items()}


def _training(
    task: Task, asked: Sequence[LabelledQuestion], training: Sequence[str] | None
) -> frozenset[str]:
    """Groups whose episodes the shared memory holds."""
    if training is not None:
        return frozenset(training)
    held = dict.fromkeys(episode.group for episode in task.episodes)
    both = [group for group in dict.fromkeys(q.group for q in asked) if group in held]
    if both:
        raise InputError(
            f"the shared memory of task {task.name} would hold episodes of {len(both)} groups "
            f"that are asked about ({', '.join(both[:3])}); evaluate one split of it (--split dev, "
            "val or test), or name the groups it may hold (training=…)"
        )
    return frozenset(held)


def _job_order(asked: Sequence[LabelledQuestion], at_once: int) -> list[int]:
    """Places of the questions, group by group, `at_once` groups interleaved.

    So that as many memories are written side by side as there are workers, and few are open.
    """
    by_group: dict[str, list[int]] = {}
    for place, labelled in enumerate(asked):
        by_group.setdefault(labelled.group, []).append(place)
    waves = list(by_group.values())
    order: list[int] = []
    for start in range(0, len(waves), at_once):
        wave = waves[start : start + at_once]
        longest = max(len(places) for places in wave)
        order += [p[turn] for turn in range(longest) for p in wave if turn < len(p)]
    return order


def _describe(step: str, problem: BaseException) -> str:
    return f"{step}: {type(problem).__name__}: {problem}"


def _cut(text: str) -> str:
    """The context as recorded: whole memories, repeated in every case, would fill the disk."""
    left = len(text) - TRACE_CHARACTERS
    return text if left <= 0 else f"{text[:TRACE_CHARACTERS]}\n[{left} more characters]"


def _short(value: float) -> float:
    """A number of the trace (never a score of a metric) in few digits: there are very many."""
    return round(value, 6)


def _trace(hit: Hit) -> HitTrace:
    """What is recorded of a hit. The ranker's features are left out: there are hundreds."""
    why = hit.why
    return HitTrace(
        id=hit.id,
        refs=hit.refs,
        score=_short(hit.score),
        rendered=hit.rendered or hit.text,
        source=hit.source,
        why={
            "views": {n: {"rank": v.rank, "score": _short(v.score)} for n, v in why.views.items()},
            "fused": _short(why.fused),
            "factors": {name: _short(value) for name, value in why.factors.items()},
        },
    )
