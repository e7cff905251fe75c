"""The budget meter says what is spent and which limit blocks."""

from __future__ import annotations

from memgene.core import Budget
from memgene.evolution.budget import BudgetMeter

USED = {"task": {"calls": 9.0, "fresh": 4.0, "tokens": 100.0, "cost": 0.5}}


def test_without_limits_nothing_blocks() -> None:
    meter = BudgetMeter(Budget())
    meter.add_evaluation(10**6, USED, 1e6)
    assert meter.blocks(10**9) is None


def test_questions_are_never_exceeded() -> None:
    meter = BudgetMeter(Budget(questions=100))
    meter.add_evaluation(60, {}, 1.0)
    assert meter.blocks(40) is None
    assert meter.blocks(41) == "questions: 60 of 100 used, the next step needs 41"


def test_other_limits_block_once_they_are_reached() -> None:
    for limits, name in (
        (Budget(calls=4), "calls"),
        (Budget(tokens=100), "tokens"),
        (Budget(money=0.5), "money"),
        (Budget(seconds=2.0), "seconds"),
    ):
        meter = BudgetMeter(limits)
        assert meter.blocks(1) is None
        meter.add_evaluation(1, USED, 2.0)
        blocked = meter.blocks(1)
        assert blocked is not None
        assert blocked.startswith(f"{name}: ")


def test_iterations_and_fitting_time_count() -> None:
    meter = BudgetMeter(Budget(iterations=2, seconds=10))
    meter.add_iteration()
    assert meter.blocks(1) is None
    meter.add_iteration()
    assert meter.blocks(1) == "iterations: 2 of 2 used"
    meter = BudgetMeter(Budget(seconds=10))
    meter.add_work({}, 11)
    assert meter.blocks(1) == "seconds: 11 of 10 used"


def test_usage_adds_up_by_role() -> None:
    meter = BudgetMeter(Budget())
    meter.add_evaluation(1, USED, 0)
    meter.add_evaluation(1, {**USED, "judge": {"calls": 1, "fresh": 1, "tokens": 2, "cost": 0}}, 0)
    assert meter.roles["task"]["calls"] == 18
    assert meter.roles["judge"]["tokens"] == 2
    assert (meter.calls, meter.tokens, meter.money) == (9, 202, 1.0)
