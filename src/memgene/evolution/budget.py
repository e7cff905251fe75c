"""The budget of a search: what was spent, what may still be, and which limit ended it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from memgene.core import Budget


class BudgetMeter:
    """Counts a run against its budget.

    Replayed work counts like fresh work, so that a resumed run stops where an uninterrupted one
    would (limits in seconds excepted: machines differ). `calls` are those no cache answered: what
    is written to memory again after a resume is answered by it. `questions` is never exceeded.
    Limits that are known only afterwards (calls, tokens, money, seconds) end the search at the
    next check, and, where language models are called, in the middle of the work (`Spending`).
    The re-check and the final report on test are due whatever the search has spent: the first is
    counted but not held to the limits, the second is not counted.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.questions = 0
        self.iterations = 0
        self.calls = 0
        self.tokens = 0
        self.money = 0.0
        self.seconds = 0.0
        self.roles: dict[str, dict[str, float]] = {}

    def add_evaluation(
        self, questions: int, usage: Mapping[str, Mapping[str, float]], seconds: float
    ) -> None:
        """Count one evaluation; `usage` by role as events record it."""
        self.questions += questions
        self.add_work(usage, seconds)

    def add_work(self, usage: Mapping[str, Mapping[str, float]], seconds: float) -> None:
        """Count work that is no evaluation: asking for a diagnosis, fitting weights."""
        for role, used in usage.items():
            into = self.roles.setdefault(role, {})
            for name, amount in used.items():
                into[name] = into.get(name, 0) + amount
            self.calls += int(used["fresh"])
            self.tokens += int(used["tokens"])
            self.money += used["cost"]
        self.seconds += seconds

    def add_iteration(self) -> None:
        """Count a finished round."""
        self.iterations += 1

    def blocks(self, questions: int) -> str | None:
        """The limit that forbids to evaluate `questions` more, in words; None when none does."""
        allowed = self.budget.questions
        if allowed is not None and self.questions + questions > allowed:
            return f"questions: {self.questions} of {allowed} used, the next step needs {questions}"
        for field in fields(self.budget):
            limit = getattr(self.budget, field.name)
            spent = getattr(self, field.name)
            if field.name != "questions" and limit is not None and spent >= limit:
                return f"{field.name}: {spent:g} of {limit:g} used"
        return None
