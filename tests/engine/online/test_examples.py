"""From the log to examples: a query of one owner, and the memories that were good for it."""

from __future__ import annotations

import pytest

from memgene.bank import MemoryUnit
from memgene.bank.protocol import Bank
from memgene.bank.unit import UnitStatus
from memgene.core import Scope
from memgene.engine.credit.interaction import Exposure
from memgene.engine.online import Logged
from memgene.engine.online.examples import HELD_SHARE, examples
from memgene.testing.banks import put

ANN, BOB = Scope(user_id="ann"), Scope(user_id="bob")


def logged(query: str | None, reward: float, *used: str, shown: str | None = None) -> Logged:
    rest = () if shown is None else (Exposure(shown, 0.25),)
    return Logged(1, query, reward, (*map(Exposure, used), *rest), applied=True)


def test_good_is_what_was_used_and_rewarded_above_one_half(bank: Bank) -> None:
    a, b, c, d = put(bank, *(MemoryUnit(word, ANN) for word in "abcd"))
    (one,) = examples(
        bank, [logged("q", 0.9, a, shown=d), logged("q", 0.5, b), logged("q", 0.2, c)]
    )
    assert (one.query, one.scope, one.targets) == ("q", ANN, {a: 0.9})


def test_rewards_for_the_same_query_are_averaged(bank: Bank) -> None:
    a, b = put(bank, *(MemoryUnit(word, ANN) for word in "ab"))
    log = [logged("Which  one?", 1.0, a, b), logged("which one?", 0.5, a), logged("q", 0.0, a)]
    log += [logged("which one? ", 0.0, b)]
    (one,) = examples(bank, log)
    assert one.query == "which one? "
    assert one.targets == {a: 0.75}


def test_the_same_words_of_two_owners_are_two_queries(bank: Bank) -> None:
    a, b = put(bank, MemoryUnit("x", ANN), MemoryUnit("x", BOB))
    found = examples(bank, [logged("q", 1.0, a), logged("q", 1.0, b)])
    assert [(one.scope, one.targets) for one in found] == [(ANN, {a: 1.0}), (BOB, {b: 1.0})]
    # feedback across owners says nothing of what either would search
    assert examples(bank, [logged("q", 1.0, a, b)]) == []


def test_without_a_query_or_an_active_memory_there_is_no_example(bank: Bank) -> None:
    a, b = put(bank, MemoryUnit("a", ANN), MemoryUnit("b", ANN))
    bank.set_status([b], UnitStatus.ARCHIVED)
    log = [
        logged(None, 1.0, a),
        logged("  ", 1.0, a),
        logged("q", 1.0, b),
        logged("r", 1.0, "gone"),
    ]
    assert examples(bank, log) == []


def test_the_newest_queries_are_kept(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memgene.engine.online.examples.MOST_QUERIES", 2)
    (a,) = put(bank, MemoryUnit("a", ANN))
    log = [logged(query, 1.0, a) for query in ("one", "two", "three", "one")]
    assert [one.query for one in examples(bank, log)] == ["three", "one"]


def test_a_fifth_is_held_back_always_the_same(bank: Bank) -> None:
    (a,) = put(bank, MemoryUnit("a", ANN))
    log = [logged(f"query number {number}", 1.0, a) for number in range(500)]
    held = {one.query for one in examples(bank, log) if one.held}
    assert abs(len(held) - 500 / HELD_SHARE) < 30
    fewer = {one.query for one in examples(bank, log[::3]) if one.held}
    assert fewer == held & {one.query for one in log[::3]}
    shouted = [logged(one.query.upper(), 1.0, a) for one in log if one.query]
    assert {one.query.lower() for one in examples(bank, shouted) if one.held} == held
