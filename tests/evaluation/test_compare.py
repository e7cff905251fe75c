"""Paired comparison: the same questions, or a clear refusal."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memgene.core import InputError
from memgene.evaluation import Case, compare_cases, compare_reports, measure
from memgene.harness.baselines.no_memory import NoMemory
from memgene.harness.baselines.recent import Recent
from memgene.testing import ScriptedAgent, tiny_task

TASK = tiny_task()
DOORS = {q.id: q.gold.answers[0] for q in TASK.questions if q.id.endswith("/door")}
KNOWS = measure(
    TASK, "knows", Recent, ScriptedAgent.knowing(TASK), metrics=["token_f1", "recall@5"]
)
DOOR_ONLY = measure(TASK, "doors", Recent, ScriptedAgent(DOORS), metrics=["token_f1", "recall@1"])


def test_the_difference_is_over_questions_that_count() -> None:
    [found] = compare_reports(KNOWS, DOOR_ONLY)
    # Of the three counted questions of every group one is right either way.
    assert found.metric == "token_f1"
    assert (found.challenger, found.base) == (1.0, pytest.approx(1 / 3))
    assert found.paired.delta == pytest.approx(2 / 3)
    assert found.paired.low == pytest.approx(2 / 3)
    assert (found.paired.n, found.unpaired) == (18, 0)
    assert found.to_json()["method"] == "groups"


def test_pairs_are_matched_by_id_whatever_the_order() -> None:
    turned = list(reversed(DOOR_ONLY.cases))
    one = compare_cases(KNOWS.cases, DOOR_ONLY.cases, "token_f1")
    assert compare_cases(KNOWS.cases, turned, "token_f1") == one
    # The unanswerable count now: an abstention is right there in both.
    assert one.paired.n == 24
    assert one.paired.delta == pytest.approx(0.5)


def test_different_questions_are_refused_unless_the_shared_ones_are_asked_for() -> None:
    ours, theirs = KNOWS.cases[:20], DOOR_ONLY.cases[2:]
    with pytest.raises(InputError, match=r"2 only in the first, 4 only in the second"):
        compare_cases(ours, theirs, "token_f1")
    assert compare_cases(ours, theirs, "token_f1", intersect=True).paired.n == 18


def test_a_question_that_failed_on_one_side_is_counted_as_unpaired() -> None:
    def fail(case: Case) -> Case:
        return replace(case, scores={}, error="read: OSError: gone")

    broken = [fail(DOOR_ONLY.cases[0]), *DOOR_ONLY.cases[1:]]
    found = compare_cases(KNOWS.cases, broken, "token_f1")
    assert (found.paired.n, found.unpaired) == (23, 1)


def test_a_metric_that_one_side_lacks_is_refused() -> None:
    without = measure(TASK, "none", NoMemory, ScriptedAgent(), metrics=["recall@5"])
    with pytest.raises(InputError, match="no question has the metric 'recall@5' in both"):
        compare_reports(KNOWS, without, ["recall@5"])
    assert compare_reports(KNOWS, without) == []


def test_a_result_needs_its_cases_once_each() -> None:
    with pytest.raises(InputError, match="has no cases"):
        compare_reports(KNOWS, replace(DOOR_ONLY, cases=()))
    with pytest.raises(InputError, match="stands twice"):
        compare_cases(KNOWS.cases + KNOWS.cases, DOOR_ONLY.cases, "token_f1")
