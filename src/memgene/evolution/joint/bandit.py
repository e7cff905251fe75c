"""Whose turn it is: budget goes where the last gains per cost were (architecture.md §7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Past:
    """One pass of an arm: what it gained, and the questions it took (at least 0)."""

    gain: float
    questions: int


class Bandit:
    """Chooses among arms by their discounted gain per question.

    Every arm has a first turn, in the order given. Then the one with the highest rate
    Σ dᵏ·gain / Σ dᵏ·questions (k = 0 for its last pass, 1 for the one before, …; the first of
    equals) is next. An arm whose last `patience` passes gained nothing has no more turns.
    """

    def __init__(self, arms: Sequence[str], discount: float, patience: int) -> None:
        self._past: dict[str, list[Past]] = {arm: [] for arm in arms}
        self._discount = discount
        self._patience = patience

    def told(self, arm: str, past: Past) -> None:
        """A pass of the arm is done."""
        self._past[arm].append(past)

    def passes(self, arm: str) -> int:
        """How many turns it had."""
        return len(self._past[arm])

    def resting(self, arm: str) -> bool:
        """Whether its last passes gained nothing."""
        last = self._past[arm][-self._patience :]
        return len(last) == self._patience and all(past.gain <= 0 for past in last)

    def rate(self, arm: str) -> float:
        """Discounted gain per question; 0 for an arm that cost nothing."""
        gained = spent = 0.0
        for age, past in enumerate(reversed(self._past[arm])):
            gained += self._discount**age * past.gain
            spent += self._discount**age * past.questions
        return gained / spent if spent else 0.0

    def choose(self, able: Sequence[str]) -> tuple[str, str] | None:
        """Who of those that are able is next, and why; None where all rest."""
        for arm in able:
            if not self._past[arm]:
                return arm, "its first pass"
        awake = [arm for arm in able if not self.resting(arm)]
        if not awake:
            return None
        best = max(awake, key=self.rate)
        return best, f"{1000 * self.rate(best):.4f} gained per 1,000 questions, the most of all"
