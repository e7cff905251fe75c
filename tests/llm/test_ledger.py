"""The ledger: what was used, and budgets that count what is under way."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.core import (
    Budget,
    BudgetExhaustedError,
    ConfigError,
    InputError,
    ModelError,
    RoleUsage,
    metering,
)
from memgene.llm import Reply
from memgene.llm.ledger import Amount, Ledger
from memgene.llm.prices import Prices

DEAR = Prices(tokens_in=2.0, tokens_out=10.0)  # for a million
REPLY = Reply("x", tokens_in=100, tokens_out=50, seconds=1.5)


def spend(
    ledger: Ledger,
    call: Callable[[], Reply] = lambda: REPLY,
    *,
    tokens_in: int = 100,
    tokens_out: int = 50,
    prices: Prices = DEAR,
) -> Reply:
    return ledger.run("task", call, tokens_in=tokens_in, tokens_out=tokens_out, prices=prices)


def fail() -> Reply:
    raise ModelError("down")


# -- counting


def test_fresh_calls_count_tokens_money_and_seconds() -> None:
    ledger = Ledger()
    with metering() as meter:
        spend(ledger)
        spend(ledger)
        ledger.count_cached("judge")
    # (100 · 2 + 50 · 10) / 10⁶ = 0.0007 a call
    assert ledger.usage.roles["task"] == RoleUsage(2, 2, 200, 100, pytest.approx(0.0014), 3.0)
    assert ledger.usage.roles["judge"] == RoleUsage(calls=1)
    assert meter.usage == ledger.usage


def test_a_failed_call_counts_as_a_call_with_its_time() -> None:
    ticks = iter([10.0, 14.0])
    ledger = Ledger(clock=lambda: next(ticks))
    with metering() as meter, pytest.raises(ModelError):
        spend(ledger, fail)
    assert meter.usage.roles == {"task": RoleUsage(calls=1, fresh=1, seconds=4.0)}


def test_prices_cannot_be_negative() -> None:
    with pytest.raises(InputError):
        Prices(-1.0, 0.0)


# -- limits


@pytest.mark.parametrize(
    ("budget", "calls", "message"),
    [
        (Budget(calls=3), 3, "calls: 3 of 3 used, the next call may need 1"),
        (Budget(tokens=450), 3, "tokens: 450 of 450 used, the next call may need 150"),
        (Budget(tokens=449), 2, "tokens: 300 of 449 used, the next call may need 150"),
        (Budget(money=0.0021), 3, "money: 0.0021 of 0.0021 used, the next call may need 0.0007"),
        (Budget(money=0.0015), 2, "money: 0.0014 of 0.0015 used, the next call may need 0.0007"),
    ],
)
def test_the_call_that_would_exceed_a_limit_is_not_made(
    budget: Budget, calls: int, message: str
) -> None:
    ledger = Ledger()
    with ledger.limited(budget) as account:
        for _ in range(calls):
            spend(ledger)
        with pytest.raises(BudgetExhaustedError, match=message):
            spend(ledger, fail)
    assert account.spent.calls == calls
    assert ledger.usage.roles["task"].calls == calls


def test_seconds_end_the_start_of_calls() -> None:
    now = [100.0]
    ledger = Ledger(clock=lambda: now[0])
    with ledger.limited(Budget(seconds=5)):
        now[0] = 104.9
        spend(ledger)
        now[0] = 105.0
        with pytest.raises(BudgetExhaustedError, match="seconds: 5 are over"):
            spend(ledger)
    spend(ledger)


def test_what_was_really_used_takes_the_place_of_what_was_reserved() -> None:
    ledger = Ledger()
    with ledger.limited(Budget(tokens=1000)) as account:
        for _ in range(6):
            spend(ledger, tokens_out=0)
        assert account.spent == Amount(6, 900, pytest.approx(0.0042))
        with pytest.raises(BudgetExhaustedError):
            spend(ledger, tokens_in=101, tokens_out=0)


def test_cached_replies_are_free_and_failed_calls_are_calls() -> None:
    ledger = Ledger()
    with ledger.limited(Budget(calls=1, tokens=1000)) as account:
        ledger.count_cached("task")
        with pytest.raises(ModelError):
            spend(ledger, fail)
        with pytest.raises(BudgetExhaustedError, match="calls"):
            spend(ledger)
    assert account.spent == Amount(calls=1)


def test_budgets_nest_and_end_with_their_block() -> None:
    ledger = Ledger()
    with ledger.limited(Budget(calls=3)):
        with ledger.limited(Budget(calls=1)):
            spend(ledger)
            with pytest.raises(BudgetExhaustedError, match="1 of 1"):
                spend(ledger)
        spend(ledger)
        spend(ledger)
        with pytest.raises(BudgetExhaustedError, match="3 of 3"):
            spend(ledger)
    spend(ledger)


def test_what_a_resumed_run_has_used_before_counts() -> None:
    ledger = Ledger()
    with (
        ledger.limited(Budget(calls=3), spent=Amount(calls=3)),
        pytest.raises(BudgetExhaustedError, match="3 of 3"),
    ):
        spend(ledger)


def test_money_cannot_be_limited_without_a_price() -> None:
    ledger = Ledger()
    unknown = Prices(known=False)
    with (
        ledger.limited(Budget(money=1)),
        pytest.raises(ConfigError, match=r"\[llm.task\].*price_in and price_out"),
    ):
        spend(ledger, prices=unknown)
    spend(ledger, prices=unknown)


# -- calls under way


def test_a_call_waits_for_those_under_way_that_may_use_up_the_budget() -> None:
    """10 tokens are left of 160 when the first call turns out to use 150 of its 160."""
    ledger = Ledger()
    begun, go = threading.Event(), threading.Event()

    def first() -> Reply:
        begun.set()
        assert go.wait(20)
        return REPLY

    with ledger.limited(Budget(tokens=160)), ThreadPoolExecutor(2) as pool:
        one = pool.submit(spend, ledger, first, tokens_in=110)
        assert begun.wait(20)
        with pytest.raises(BudgetExhaustedError):  # too much whatever the first one uses
            spend(ledger, tokens_in=161, tokens_out=0)
        two = pool.submit(
            spend, ledger, lambda: Reply("y", tokens_in=10), tokens_in=10, tokens_out=0
        )
        while ledger.waiting == 0:
            time.sleep(0.001)
        go.set()
        assert (one.result(20), two.result(20).text) == (REPLY, "y")


def test_a_waiting_call_is_refused_when_the_others_used_everything() -> None:
    ledger = Ledger()
    begun, go = threading.Event(), threading.Event()

    def first() -> Reply:
        begun.set()
        assert go.wait(20)
        return REPLY

    with ledger.limited(Budget(tokens=150)), ThreadPoolExecutor(2) as pool:
        one = pool.submit(spend, ledger, first)
        assert begun.wait(20)
        two = pool.submit(spend, ledger, tokens_in=10, tokens_out=0)
        while ledger.waiting == 0:
            time.sleep(0.001)
        go.set()
        assert one.result(20) == REPLY
        with pytest.raises(BudgetExhaustedError, match="150 of 150"):
            two.result(20)


@settings(max_examples=40, deadline=None)
@given(
    calls=st.integers(1, 12),
    tokens=st.integers(1, 400),
    money=st.floats(0.0001, 0.01),
    work=st.lists(
        st.tuples(st.integers(0, 60), st.integers(1, 60), st.booleans()), min_size=1, max_size=24
    ),
    threads=st.integers(2, 8),
    seed=st.integers(0, 1000),
)
def test_no_interleaving_exceeds_a_limit_or_deadlocks(
    calls: int,
    tokens: int,
    money: float,
    work: list[tuple[int, int, bool]],
    threads: int,
    seed: int,
) -> None:
    """Calls use at most what they reserve, some fail; at no instant is more used than allowed."""
    ledger = Ledger()
    random_ = random.Random(seed)
    plans = [(i, o, bad, random_.random(), random_.random() / 500) for i, o, bad in work]

    def one(plan: tuple[int, int, bool, float, float]) -> str:
        tokens_in, tokens_out, bad, share, pause = plan

        def call() -> Reply:
            time.sleep(pause)
            if bad:
                raise ModelError("down")
            return Reply("x", tokens_in=tokens_in, tokens_out=int(tokens_out * share))

        try:
            spend(ledger, call, tokens_in=tokens_in, tokens_out=tokens_out)
        except ModelError:
            return "failed"
        except BudgetExhaustedError:
            return "refused"
        return "done"

    with ledger.limited(Budget(calls=calls, tokens=tokens, money=money)) as account:
        with ThreadPoolExecutor(threads) as pool:
            ends = list(pool.map(one, plans, timeout=30))
        spent = account.spent
        # Nothing is left behind by calls that are over: what is still free can be used.
        free = tokens - spent.tokens
        if spent.calls < calls and free:
            spend(ledger, tokens_in=free, tokens_out=0, prices=Prices())
    assert spent.calls == ends.count("done") + ends.count("failed") <= calls
    assert spent.tokens <= tokens
    assert spent.money <= money * (1 + 1e-9)
