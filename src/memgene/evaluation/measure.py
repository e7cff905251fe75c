"""One harness, evaluated and summed up, with what it cost."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from memgene.agents.protocol import Agent
from memgene.core import LabelledQuestion, Usage, metering
from memgene.evaluation.evaluator import MAX_ERRORS, TRACE_HITS, evaluate_cases
from memgene.evaluation.executor import Executor
from memgene.evaluation.memories import Account, MemoryPool
from memgene.evaluation.progress import Progress
from memgene.evaluation.report import HarnessReport, summarise
from memgene.harness.protocol import HarnessFactory
from memgene.llm.protocol import LLM
from memgene.tasks.task import Task


def measure(
    task: Task,
    name: str,
    factory: HarnessFactory,
    agent: Agent,
    questions: Sequence[LabelledQuestion] | None = None,
    *,
    metrics: Sequence[str],
    training: Sequence[str] | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    trace_hits: int = TRACE_HITS,
    memories: MemoryPool | None = None,
    max_errors: float = MAX_ERRORS,
    seed: int = 0,
    judges: Mapping[str, LLM] | None = None,
) -> HarnessReport:
    """`evaluate_cases`, then `summarise`.

    Usage is what every call inside used, and what writing the memories it read took, whoever had
    them written (where the pool keeps that apart): what this harness alone would have
    cost. `seconds` are those that passed. `seed` is that of the bootstrap; see `evaluate_cases`
    for the rest.
    """
    started = time.perf_counter()
    account = None if memories is None else Account(memories)
    with metering() as meter:
        cases = evaluate_cases(
            task,
            factory,
            agent,
            questions,
            metrics=metrics,
            training=training,
            executor=executor,
            progress=progress,
            label=name,
            trace_hits=trace_hits,
            memories=account,
            max_errors=max_errors,
            judges=judges,
        )
    return summarise(
        cases,
        task,
        name=name,
        usage=meter.usage + (account.usage if account else Usage()),
        seconds=time.perf_counter() - started,
        seed=seed,
    )
