"""Work is measured, held to what the budget leaves, and ended again where it once was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memgene.core import Budget, BudgetExhaustedError, RoleUsage, record
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.events import Stopped
from memgene.evolution.journal import Journal
from memgene.evolution.spending import Spending
from memgene.llm.ledger import Ledger
from memgene.llm.protocol import Reply

USED = {"task": {"calls": 3, "fresh": 3, "tokens": 300, "cost": 0.0}}


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = Journal(tmp_path / "journal.jsonl")
    yield made
    made.close()


def call(ledger: Ledger) -> None:
    ledger.run("task", lambda: Reply("fine", tokens_in=40), tokens_in=50, tokens_out=10)


def test_work_is_measured_by_role(journal: Journal) -> None:
    with Spending(journal, BudgetMeter(Budget())).work() as work:
        record("judge", RoleUsage(calls=2, fresh=1, tokens_in=5, tokens_out=2, cost=0.5))
    assert work.usage == {"judge": {"calls": 2, "fresh": 1, "tokens": 7, "cost": 0.5}}
    assert work.seconds > 0


@pytest.mark.parametrize(
    ("budget", "allowed"),
    [(Budget(calls=5), 2), (Budget(tokens=400), 2), (Budget(calls=9, tokens=360), 1)],
)
def test_what_was_recorded_counts_as_spent(journal: Journal, budget: Budget, allowed: int) -> None:
    """3 calls and 300 tokens are spent; a call may need 60 tokens and uses 40."""
    meter, ledger = BudgetMeter(budget), Ledger()
    meter.add_work(USED, 1.0)
    spending = Spending(journal, meter, ledger)
    with spending.work():
        for _ in range(allowed):
            call(ledger)
        with pytest.raises(BudgetExhaustedError, match="ran out"):
            call(ledger)
    assert ledger.usage.roles["task"].fresh == allowed


def test_seconds_that_are_over_end_work_before_it_begins(journal: Journal) -> None:
    meter = BudgetMeter(Budget(seconds=5))
    meter.add_work({}, 5.0)
    with (
        pytest.raises(BudgetExhaustedError, match="seconds: 5 of 5 used"),
        Spending(journal, meter, Ledger()).work(),
    ):
        raise AssertionError("work has begun")


def test_work_that_is_due_is_not_held_to_the_budget(journal: Journal) -> None:
    meter, ledger = BudgetMeter(Budget(calls=3, seconds=1)), Ledger()
    meter.add_work(USED, 2.0)
    with Spending(journal, meter, ledger).work(limited=False) as work:
        call(ledger)
    assert work.usage["task"]["fresh"] == 1


def test_without_language_models_only_the_search_looks_at_the_budget(journal: Journal) -> None:
    meter = BudgetMeter(Budget(calls=3, seconds=1))
    meter.add_work(USED, 2.0)
    with Spending(journal, meter).work():
        record("task", RoleUsage(calls=1, fresh=1))


def test_where_a_budget_once_ended_no_work_is_begun(journal: Journal, tmp_path: Path) -> None:
    journal.emit(Stopped(2, "budget", "calls: 9 of 9 used"))
    journal.close()
    again = Journal(tmp_path / "journal.jsonl")
    with (
        pytest.raises(BudgetExhaustedError, match="calls: 9 of 9 used"),
        Spending(again, BudgetMeter(Budget())).work(),
    ):
        raise AssertionError("work has begun")
    again.close()
