"""Whose turn it is in a joint evolution."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.evolution.joint.bandit import Bandit, Past

ARMS = ("structure", "parameters", "router")


def bandit(*told: tuple[str, float, int], discount: float = 0.5, patience: int = 2) -> Bandit:
    made = Bandit(ARMS, discount, patience)
    for arm, gain, questions in told:
        made.told(arm, Past(gain, questions))
    return made


def test_every_arm_has_a_first_turn_in_the_order_given() -> None:
    assert bandit().choose(ARMS) == ("structure", "its first pass")
    once = bandit(("structure", 0.5, 10))
    assert once.choose(ARMS) == ("parameters", "its first pass")
    assert once.choose(("structure", "router")) == ("router", "its first pass")


def test_a_rate_is_the_discounted_gain_per_question() -> None:
    # (0.02 + 0.5 · 0.01) / (100 + 0.5 · 300) = 0.025 / 250
    found = bandit(("router", 0.01, 300), ("router", 0.02, 100))
    assert found.rate("router") == pytest.approx(0.0001)
    assert bandit(("router", 0.0, 0)).rate("router") == 0
    assert bandit(("router", 0.04, 400), discount=0).rate("router") == pytest.approx(0.0001)


def test_then_the_highest_rate_is_next_and_says_so() -> None:
    told = (("structure", 0.01, 100), ("parameters", 0.03, 100), ("structure", 0.0, 100))
    made = bandit(*told, ("router", 0.0, 500))
    chosen = made.choose(ARMS)
    assert chosen == ("parameters", "0.3000 gained per 1,000 questions, the most of all")
    # a pass without gain: (0 + 0.5 · 0.03) / 150; structure had (0 + 0.5 · 0.01) / 150
    made.told("parameters", Past(0.0, 100))
    assert made.rate("parameters") == pytest.approx(0.015 / 150)
    assert made.rate("structure") == pytest.approx(0.005 / 150)
    assert made.choose(ARMS)[0] == "parameters"  # type: ignore[index]


def test_an_arm_rests_after_passes_without_gain() -> None:
    flat = bandit(("structure", 0.5, 1), *[("structure", 0.0, 1)] * 2)
    assert flat.resting("structure")
    assert not flat.resting("parameters")
    assert not bandit(("structure", 0.0, 1), patience=2).resting("structure")
    assert bandit(*[(arm, 0.0, 1) for arm in ARMS] * 2).choose(ARMS) is None


@given(
    st.lists(st.tuples(st.sampled_from(ARMS), st.floats(0, 1), st.integers(0, 1000)), max_size=40),
    st.integers(1, 4),
)
def test_it_never_chooses_an_arm_that_rests(
    told: list[tuple[str, float, int]], patience: int
) -> None:
    made = bandit(*told, patience=patience)
    chosen = made.choose(ARMS)
    if chosen is None:
        assert all(made.resting(arm) for arm in ARMS)
    else:
        assert not made.resting(chosen[0])
