"""Programs under evaluation, in the real sandbox: each evaluation stands alone and repeats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from memgene.agents.offline import OfflineAgent
from memgene.embed.hashing import HashingEmbedder
from memgene.evaluation import SerialExecutor, ThreadExecutor
from memgene.evaluation.executor import Executor
from memgene.evolution.programs.evaluating import Evaluation, ProgramEvaluator
from memgene.evolution.programs.sampling import Sample
from memgene.programs.program import Program
from memgene.programs.runtime import ProgramRuntime
from memgene.testing import program_text, tiny_task

TASK = tiny_task()
WHOLE = Sample(TASK, TASK.questions)
REMEMBERS = program_text(
    head="import random\nfrom dataclasses import dataclass, field",
    init="self.reads = 0",
    write="print('wrote', raw_text[:9])",
    read="""
        self.reads += 1
        print('read', self.reads)
        if self.reads == 2: raise ValueError(query.query_text)
        return f'{self.reads} {random.random()}'
    """,
)


@pytest.fixture(scope="module")
def runtime() -> Iterator[ProgramRuntime]:
    with ProgramRuntime(embedder=HashingEmbedder()) as made:
        yield made


def evaluated(
    runtime: ProgramRuntime,
    source: str = REMEMBERS,
    sample: Sample = WHOLE,
    executor: Executor | None = None,
) -> Evaluation:
    evaluator = ProgramEvaluator(None, OfflineAgent(), runtime, ["token_f1"], executor)
    found = evaluator.evaluate(Program(source), sample, "001 static")
    cases = tuple(replace(case, seconds=0.0, timings={}) for case in found.cases)
    return Evaluation(cases, found.observed)


def test_a_memory_knows_nothing_of_an_earlier_evaluation(runtime: ProgramRuntime) -> None:
    evaluator = ProgramEvaluator(None, OfflineAgent(), runtime, ["token_f1"])
    sample = WHOLE.only(TASK.questions[:1])
    contexts = [
        evaluator.evaluate(Program(REMEMBERS), sample, "x").cases[0].context for _ in range(2)
    ]
    assert contexts[0].startswith("1 ")
    assert contexts[0] == contexts[1]


def test_threads_change_nothing_even_for_programs_that_reading_changes(
    runtime: ProgramRuntime,
) -> None:
    serial = evaluated(runtime, executor=SerialExecutor())
    assert serial.cases[0].context.startswith("1 ")
    assert serial.cases[1].failure == f"read: ValueError: {serial.cases[1].question}"
    assert [w.raw_text[:20] for w in serial.observed.writes]
    for _ in range(2):
        assert evaluated(runtime, executor=ThreadExecutor(8)) == serial


def test_a_program_that_cannot_be_loaded_fails_every_question(runtime: ProgramRuntime) -> None:
    found = evaluated(runtime, source="import os", sample=WHOLE.only(TASK.questions[:2]))
    assert {case.scores["token_f1"] for case in found.cases} == {0.0}
    assert all("cannot import 'os'" in (case.failure or "") for case in found.cases)
    assert [(b.where, b.kind) for b in found.observed.faults] == [("load", "raised")]
