"""Who used what, and how much more may be used. The ledger alone decides whether a call is made."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition

from memgene.core import Budget, BudgetExhaustedError, ConfigError, RoleUsage, Usage, record
from memgene.llm.prices import FREE, Prices
from memgene.llm.protocol import Reply


@dataclass(frozen=True, slots=True)
class Amount:
    """Fresh calls, tokens in and out together, and money."""

    calls: int = 0
    tokens: int = 0
    money: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        return Amount(
            self.calls + other.calls, self.tokens + other.tokens, self.money + other.money
        )

    def __sub__(self, other: Amount) -> Amount:
        return Amount(
            self.calls - other.calls, self.tokens - other.tokens, self.money - other.money
        )


class Account:
    """One open budget: what was spent since it was opened, and what calls under way may add."""

    def __init__(self, budget: Budget, now: float, spent: Amount) -> None:
        self.budget = budget
        self.deadline = None if budget.seconds is None else now + budget.seconds
        self._spent = spent
        self._pending = Amount()
        self._calls_pending = 0

    @property
    def spent(self) -> Amount:
        """By calls that are over."""
        return self._spent

    def refuses(self, wanted: Amount) -> str | None:
        """The limit that forbids the call whatever becomes of those under way; None = none."""
        return self._exceeded(self._spent, wanted)

    def holds(self, wanted: Amount) -> bool:
        """Whether the call must wait until it is known what those under way have used."""
        return self._exceeded(self._spent + self._pending, wanted) is not None

    def reserve(self, wanted: Amount) -> None:
        """Count a call as under way."""
        self._pending += wanted
        self._calls_pending += 1

    def settle(self, wanted: Amount, used: Amount) -> None:
        """A call is over: what it used takes the place of what was reserved."""
        self._spent += used
        self._calls_pending -= 1
        # Sums of floats do not come back to zero by themselves.
        self._pending = self._pending - wanted if self._calls_pending else Amount()

    def _exceeded(self, base: Amount, wanted: Amount) -> str | None:
        budget, total = self.budget, base + wanted
        for name, limit, sum_ in (
            ("calls", budget.calls, total.calls),
            ("tokens", budget.tokens, total.tokens),
            ("money", budget.money, total.money),
        ):
            # Sums of money are rounded: a limit that is met exactly is not exceeded.
            if limit is not None and sum_ > limit and not math.isclose(sum_, limit, rel_tol=1e-12):
                used = getattr(base, name)
                return f"{name}: {used:g} of {limit:g} used, the next call may need {sum_ - used:g}"
        return None


class Ledger:
    """Counts calls by role, and holds them to the budgets that are open. Thread-safe.

    Args:
        clock: seconds that only grow; for limits in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed = Condition()
        self._accounts: list[Account] = []
        self._roles: dict[str, RoleUsage] = {}
        self._waiting = 0

    @property
    def waiting(self) -> int:
        """How many calls wait until it is known what those under way have used."""
        with self._changed:
            return self._waiting

    @property
    def usage(self) -> Usage:
        """What was used since the ledger was made, by role."""
        with self._changed:
            return Usage(dict(self._roles))

    @contextmanager
    def limited(self, budget: Budget, spent: Amount | None = None) -> Iterator[Account]:
        """Hold all calls of this ledger, of any thread, to `budget` while the block runs.

        Counted are fresh calls; replies from the cache are free. A call that would exceed a limit
        by itself raises BudgetExhaustedError; one that might, depending on what calls under way
        turn out to use, waits for them. Limits of calls are never exceeded, those of tokens and
        money not as long as a call uses no more than was reserved for it (its prompt and
        max_tokens). `seconds` end the start of new calls, not those under way. `questions` and
        `iterations` are not the ledger's. Budgets nest; each must allow a call.

        Args:
            budget: the limits.
            spent: what counts as used already, of a run that is resumed.
        """
        account = Account(budget, self._clock(), spent or Amount())
        with self._changed:
            self._accounts.append(account)
        try:
            yield account
        finally:
            with self._changed:
                self._accounts.remove(account)
                self._changed.notify_all()

    def run(
        self,
        role: str,
        call: Callable[[], Reply],
        *,
        tokens_in: int,
        tokens_out: int,
        prices: Prices = FREE,
    ) -> Reply:
        """Make a fresh call if the budgets allow it, and count it, failed or not.

        Args:
            role: whom it counts for.
            call: asks the model.
            tokens_in, tokens_out: the most it may use.
            prices: of the model.

        Raises:
            BudgetExhaustedError: a limit forbids it; names the limit. Nothing was called.
            ConfigError: money is limited and the price is not known.
            Whatever the call raises.
        """
        wanted = Amount(1, tokens_in + tokens_out, prices.cost(tokens_in, tokens_out))
        accounts = self._reserve(role, wanted, prices)
        started = self._clock()
        reply: Reply | None = None
        try:
            reply = call()
        finally:
            used = _usage(reply, self._clock() - started, prices)
            spent = Amount(1, used.tokens_in + used.tokens_out, used.cost)
            with self._changed:
                for account in accounts:
                    account.settle(wanted, spent)
                self._changed.notify_all()
            self._count(role, used)
        return reply

    def count_cached(self, role: str) -> None:
        """Count a call that a cache or another call under way answered."""
        self._count(role, RoleUsage(calls=1))

    def _count(self, role: str, used: RoleUsage) -> None:
        with self._changed:
            self._roles[role] = self._roles.get(role, RoleUsage()) + used
        record(role, used)

    def _reserve(self, role: str, wanted: Amount, prices: Prices) -> tuple[Account, ...]:
        with self._changed:
            while True:
                accounts = tuple(self._accounts)
                self._check(role, accounts, wanted, prices)
                if not any(account.holds(wanted) for account in accounts):
                    for account in accounts:
                        account.reserve(wanted)
                    return accounts
                self._waiting += 1
                try:
                    self._changed.wait(self._patience(accounts))
                finally:
                    self._waiting -= 1

    def _check(
        self, role: str, accounts: tuple[Account, ...], wanted: Amount, prices: Prices
    ) -> None:
        for account in accounts:
            budget = account.budget
            if budget.money is not None and not prices.known:
                raise ConfigError(
                    f"money is limited, but the price of [llm.{role}] is not known: set its "
                    "price_in and price_out for a million tokens (0 if it costs nothing)"
                )
            limit = account.refuses(wanted)
            if limit is None and account.deadline is not None and self._clock() >= account.deadline:
                limit = f"seconds: {budget.seconds:g} are over"
            if limit is not None:
                raise BudgetExhaustedError(f"the budget for language models ran out: {limit}")

    def _patience(self, accounts: tuple[Account, ...]) -> float | None:
        """Seconds until the next deadline; None without one."""
        deadlines = [a.deadline for a in accounts if a.deadline is not None]
        return max(0.0, min(deadlines) - self._clock()) if deadlines else None


def _usage(reply: Reply | None, seconds: float, prices: Prices) -> RoleUsage:
    """Of one fresh call; one that failed is a call of which only the time is known."""
    if reply is None:
        return RoleUsage(calls=1, fresh=1, seconds=seconds)
    cost = prices.cost(reply.tokens_in, reply.tokens_out)
    return RoleUsage(1, 1, reply.tokens_in, reply.tokens_out, cost, reply.seconds)
