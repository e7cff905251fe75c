"""Failing cases are drawn by how much they lost, each at most once."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.evolution.reflection.choosing import choose_cases
from memgene.evolution.reflection.material import ShownCase


class Given(random.Random):
    """Gives these numbers u, one after another."""

    def __init__(self, *uniforms: float) -> None:
        super().__init__(0)
        self._left = [1.0 - u for u in uniforms]

    def random(self) -> float:
        return self._left.pop(0)


def case(name: str, score: float) -> ShownCase:
    return ShownCase(name, ("x",), "y", score)


def test_the_keys_are_those_of_a_worked_example() -> None:
    cases = [case("a", 0.0), case("b", 0.5), case("c", 0.9), case("d", 0.75)]
    # u^(1/w): 0.5^1 = 0.5, 0.9^2 = 0.81, 0.95^10 = 0.599, 0.8^4 = 0.41
    chosen = choose_cases(cases, Given(0.5, 0.9, 0.95, 0.8), failing=2, successes=0)
    assert [c.question for c in chosen.failing] == ["b", "c"]
    three = choose_cases(cases, Given(0.5, 0.9, 0.95, 0.8), failing=3, successes=0)
    assert [c.question for c in three.failing] == ["a", "b", "c"]  # worst first


def test_small_weights_keep_their_order_where_powers_round_to_nothing() -> None:
    cases = [case("a", 1 - 1e-9), case("b", 1 - 2e-9)]
    assert 0.5 ** (1 / 1e-9) == 0.0
    (only,) = choose_cases(cases, Given(0.5, 0.5), failing=1).failing
    assert only.question == "b"


def test_what_scored_one_does_not_fail_and_is_shown_as_a_success() -> None:
    cases = [case("right", 1.0), case("wrong", 0.0)]
    chosen = choose_cases(cases, random.Random(0))
    assert [c.question for c in chosen.failing] == ["wrong"]
    assert [c.question for c in chosen.successes] == ["right"]


def test_successes_are_the_best_of_the_rest_and_at_least_half_right() -> None:
    cases = [case("a", 0.6), case("b", 0.4), case("c", 0.9), case("d", 0.0)]
    # keys 0.1^2.5, 0.1^1.7, 0.1^10, 0.9^1: d fails
    chosen = choose_cases(cases, Given(0.1, 0.1, 0.1, 0.9), failing=1, successes=5)
    assert [c.question for c in chosen.successes] == ["c", "a"]


def test_odds_of_the_first_draw_go_by_weight() -> None:
    cases = [case("all", 0.0), case("half", 0.5), case("quarter", 0.75)]
    rng = random.Random(5)
    counts = Counter(choose_cases(cases, rng, failing=1).failing[0].question for _ in range(4000))
    for name, weight in (("all", 4 / 7), ("half", 2 / 7), ("quarter", 1 / 7)):
        spread = math.sqrt(weight * (1 - weight) / 4000)
        assert counts[name] / 4000 == pytest.approx(weight, abs=4 * spread)


@given(
    scores=st.lists(st.floats(0, 1), max_size=12),
    failing=st.integers(0, 4),
    successes=st.integers(0, 4),
    seed=st.integers(0, 99),
)
def test_nothing_is_chosen_twice_and_seeds_repeat(
    scores: list[float], failing: int, successes: int, seed: int
) -> None:
    cases = [case(str(n), score) for n, score in enumerate(scores)]
    chosen = choose_cases(cases, random.Random(seed), failing=failing, successes=successes)
    assert chosen == choose_cases(cases, random.Random(seed), failing=failing, successes=successes)
    names = [c.question for c in (*chosen.failing, *chosen.successes)]
    assert len(names) == len(set(names))
    assert len(chosen.failing) == min(failing, sum(score < 1 for score in scores))
    assert all(c.score < 1 for c in chosen.failing)
    assert all(c.score >= 0.5 for c in chosen.successes)
