"""base · (1 + a·importance + b·2^(−age/half-life) + c·log(1 + reinforcement)) + μ·(Q − ½), and the
neighbours' bonus on top; worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime

import numpy as np
import pytest

from memgene.bank.unit import MemoryUnit
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.index import UnitIndex, day_number
from memgene.retrieval.rescoring import rescore

Make = Callable[..., UnitIndex]
BASE = np.asarray([1.0, 0.5, 0.2], np.float32)
POOL = np.asarray([0, 1, 2])
OFF = RetrievalConfig(utility_weight=0)


@pytest.fixture
def index(index_of: Make) -> UnitIndex:
    return index_of(
        MemoryUnit("a", importance=0.0, utility=0.5, event_time=datetime(2024, 1, 1)),
        MemoryUnit("b", importance=1.0, utility=1.0, reinforcement=3),
        MemoryUnit("c", importance=0.5, utility=0.0, event_time=datetime(2024, 1, 31)),
    )


def rescored(
    index: UnitIndex, now: float | None = None, **changes: float
) -> tuple[list[float], dict[str, list[float]]]:
    scores, factors = rescore(BASE, POOL, index, OFF.changed(**changes), now)
    return scores.tolist(), {name: values.tolist() for name, values in factors.items()}


def test_with_every_factor_off_nothing_changes(index: UnitIndex) -> None:
    assert rescored(index) == (pytest.approx([1.0, 0.5, 0.2]), {})


def test_importance_multiplies(index: UnitIndex) -> None:
    scores, factors = rescored(index, importance_weight=2)
    assert factors == {"importance": [0, 2, 1]}
    assert scores == pytest.approx([1, 0.5 * 3, 0.2 * 2])


def test_recency_halves_each_half_life_back_from_the_newest_event(index: UnitIndex) -> None:
    scores, factors = rescored(index, recency_weight=0.8, half_life_days=15)
    # 30 days back are two half-lives; no date, no recency
    assert factors["recency"] == pytest.approx([0.8 / 4, 0, 0.8])
    assert scores == pytest.approx([1.2, 0.5, 0.2 * 1.8])


def test_recency_can_count_from_a_given_day_and_the_future_is_now(index: UnitIndex) -> None:
    now = day_number(datetime(2024, 1, 16))
    _, factors = rescored(index, now, recency_weight=1, half_life_days=15)
    assert factors["recency"] == pytest.approx([0.5, 0, 1])


def test_the_newest_event_is_that_of_a_living_unit(index: UnitIndex) -> None:
    index.remove("u3")
    scores, _ = rescore(BASE[:2], POOL[:2], index, OFF.changed(recency_weight=1, half_life_days=1))
    assert scores.tolist() == pytest.approx([2, 0.5])


def test_without_any_date_recency_is_0(index_of: Make) -> None:
    index = index_of("a", "b", "c")
    assert rescored(index, recency_weight=2) == (
        pytest.approx([1.0, 0.5, 0.2]),
        {"recency": [0, 0, 0]},
    )


def test_reinforcement_multiplies_by_its_log(index: UnitIndex) -> None:
    scores, factors = rescored(index, reinforcement_weight=0.5)
    assert factors["reinforcement"] == pytest.approx([0, 0.5 * math.log(4), 0])
    assert scores == pytest.approx([1, 0.5 * (1 + 0.5 * math.log(4)), 0.2])


def test_utility_is_added_around_one_half(index: UnitIndex) -> None:
    scores, factors = rescored(index, utility_weight=0.6)
    assert factors == {"utility": pytest.approx([0, 0.3, -0.3])}
    assert scores == pytest.approx([1, 0.8, -0.1])


def test_values_for_the_question_take_the_place_of_utility(index: UnitIndex) -> None:
    values = np.asarray([0.75, 0.5, 0.5], np.float32)
    scores, factors = rescore(BASE, POOL, index, RetrievalConfig(), values=values)
    assert factors == {"utility": pytest.approx([0.15, 0, 0])}
    assert scores.tolist() == pytest.approx([1.15, 0.5, 0.2])


def test_neutral_values_are_no_factor(index: UnitIndex) -> None:
    neutral = np.full(3, 0.5, np.float32)
    scores, factors = rescore(BASE, POOL, index, RetrievalConfig(utility_weight=2), values=neutral)
    assert factors == {}
    assert scores.tobytes() == BASE.tobytes()


def test_the_better_neighbour_among_the_candidates_lends_a_share(index: UnitIndex) -> None:
    scores, factors = rescored(index, neighbour_bonus=0.5)
    assert factors["neighbours"] == pytest.approx([0.25, 0.5, 0.25])
    assert scores == pytest.approx([1.25, 1.0, 0.45])
    outer, _ = rescore(BASE[:2], np.asarray([0, 2]), index, OFF.changed(neighbour_bonus=0.5))
    assert outer.tolist() == pytest.approx([1.0, 0.5])


def test_all_together(index: UnitIndex) -> None:
    scores, factors = rescored(
        index,
        importance_weight=1,
        recency_weight=1,
        half_life_days=30,
        reinforcement_weight=1,
        utility_weight=1,
        neighbour_bonus=0.1,
    )
    first = 1.0 * (1 + 0 + 0.5 + 0) + 0
    second = 0.5 * (1 + 1 + 0 + math.log(4)) + 0.5
    third = 0.2 * (1 + 0.5 + 1 + 0) - 0.5
    assert scores == pytest.approx(
        [first + 0.1 * second, second + 0.1 * first, third + 0.1 * second]
    )
    assert list(factors) == ["importance", "recency", "reinforcement", "utility", "neighbours"]
