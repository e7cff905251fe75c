"""What a watcher of a long run is told."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from memgene.evolution.budget import BudgetMeter


@dataclass(frozen=True, slots=True)
class EvolveProgress:
    """State of a run: `stage` says what is being done (start, search, final); `score` is that
    of the last candidate on val, `best` the best so far; `evaluations` counts evaluated questions;
    `seconds_left` is an estimate, None before there is one; `fold` of `folds` (from 1) when there
    are folds."""

    stage: str
    round: int
    rounds: int
    score: float | None
    best: float | None
    evaluations: int
    calls: int
    tokens: int
    cost: float
    seconds: float
    seconds_left: float | None
    fold: int = 0
    folds: int = 0


ProgressCallback = Callable[[EvolveProgress], None]


@dataclass(frozen=True, slots=True)
class Place:
    """Which of the folds an evolution is (0 of 0 = there are none)."""

    fold: int = 0
    folds: int = 0


class Reporter:
    """Tells a callback how far one evolution is. Times are for people; nothing depends on them."""

    def __init__(
        self, callback: ProgressCallback | None, meter: BudgetMeter, rounds: int, place: Place
    ) -> None:
        self._callback = callback
        self._meter = meter
        self._rounds = rounds
        self._place = place
        self._started = time.monotonic()
        self._round = 0
        self._score: float | None = None
        self._best: float | None = None

    def searched(self, round: int, score: float | None, best: float | None) -> None:
        """A round of the search is done (0 = the start was evaluated)."""
        self._round, self._score, self._best = round, score, best
        self.tell("search")

    def tell(self, stage: str) -> None:
        """Report the state as it is."""
        if self._callback is None:
            return
        seconds = time.monotonic() - self._started
        left = self._rounds - self._round
        searching = stage == "search" and self._round > 0
        self._callback(
            EvolveProgress(
                stage=stage,
                round=self._round,
                rounds=self._rounds,
                score=self._score,
                best=self._best,
                evaluations=self._meter.questions,
                calls=self._meter.calls,
                tokens=self._meter.tokens,
                cost=self._meter.money,
                seconds=seconds,
                seconds_left=seconds / self._round * left if searching else None,
                fold=self._place.fold,
                folds=self._place.folds,
            )
        )
