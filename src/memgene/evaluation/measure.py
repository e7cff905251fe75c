"""One harness, evaluated and summed up, with what it cost."""

from __future__ import annotations

import time
from collections.abc import Sequence

from memgene.agents.protocol import Agent
from memgene.core import LabelledQuestion, RoleUsage, Usage
from memgene.evaluation.evaluator import MAX_ERRORS, TRACE_HITS, evaluate_cases
from memgene.evaluation.executor import Executor
from memgene.evaluation.memories import Account, MemoryPool
from memgene.evaluation.progress import Progress
from memgene.evaluation.report import HarnessReport, summarise
from memgene.harness.protocol import HarnessFactory
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
) -> HarnessReport:
    """`evaluate_cases`, then `summarise`.

    Usage is what the agent used meanwhile, and what writing the memories it read took, whoever
    had them written (where the pool makes its own writers): what this harness alone would have
    cost. `seconds` are those that passed. `seed` is that of the bootstrap; see `evaluate_cases`
    for the rest.
    """
    before, started = agent.usage(), time.perf_counter()
    account = None if memories is None else Account(memories)
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
    )
    return summarise(
        cases,
        task,
        name=name,
        usage=_since(before, agent.usage()) + (account.usage if account else Usage()),
        seconds=time.perf_counter() - started,
        seed=seed,
    )


def _since(before: Usage, after: Usage) -> Usage:
    """What was added to each role; roles that were not called are left out."""
    grown = {
        role: _less(used, before.roles.get(role, RoleUsage())) for role, used in after.roles.items()
    }
    return Usage({role: used for role, used in grown.items() if used != RoleUsage()})


def _less(used: RoleUsage, earlier: RoleUsage) -> RoleUsage:
    return RoleUsage(
        used.calls - earlier.calls,
        used.fresh - earlier.fresh,
        used.tokens_in - earlier.tokens_in,
        used.tokens_out - earlier.tokens_out,
        used.cost - earlier.cost,
        used.seconds - earlier.seconds,
    )
