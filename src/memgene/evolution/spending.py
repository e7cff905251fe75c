"""Work that is paid for: held to what the budget leaves, while it is being done."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from memgene.core import BudgetExhaustedError, Meter, metering
from memgene.evaluation.report import usage_json
from memgene.evolution.budget import BudgetMeter
from memgene.evolution.events import Stopped
from memgene.evolution.journal import Journal
from memgene.llm.ledger import Amount, Ledger


@dataclass(slots=True)
class Work:
    """What a piece of work used, by role, and the seconds it took (after it is done)."""

    meter: Meter
    seconds: float = 0.0

    @property
    def usage(self) -> dict[str, dict[str, float]]:
        """As events record it."""
        return usage_json(self.meter.usage)


class Spending:
    """Does fresh work of a search within its budget.

    Between pieces of work the search looks at the meter itself. With a `ledger` (there are
    language models) work is also ended in the middle, by the call that would exceed a limit:
    calls, tokens, money or seconds. What was recorded counts as spent, so a resumed run is held to
    the same limits; calls of work that was lost are paid again, unless a cache answers them.
    """

    def __init__(self, journal: Journal, meter: BudgetMeter, ledger: Ledger | None = None) -> None:
        self._journal = journal
        self._meter = meter
        self._ledger = ledger

    @contextmanager
    def work(self, *, limited: bool = True) -> Iterator[Work]:
        """Measure the work inside; unless `limited` is off (re-check and final report are due
        whatever the search has spent), hold its model calls to the budget.

        Raises BudgetExhaustedError, from the work, when a limit is met; and at once where the
        journal says that this work once met one.
        """
        with ExitStack() as stack:
            if limited:
                self._hold(stack)
            work = Work(stack.enter_context(metering()))
            started = time.perf_counter()
            yield work
            work.seconds = time.perf_counter() - started

    def _hold(self, stack: ExitStack) -> None:
        ended = self._journal.peek(Stopped, reason="budget")
        if ended is not None:
            raise BudgetExhaustedError(ended.detail)
        if self._ledger is None:
            return
        meter = self._meter
        budget = replace(meter.budget, questions=None, iterations=None)
        if budget.seconds is not None:
            left = budget.seconds - meter.seconds
            if left <= 0:
                raise BudgetExhaustedError(f"seconds: {meter.seconds:g} of {budget.seconds:g} used")
            budget = replace(budget, seconds=left)
        spent = Amount(meter.calls, meter.tokens, meter.money)
        stack.enter_context(self._ledger.limited(budget, spent))
