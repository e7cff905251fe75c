"""Neighbours that join the pool, and maximal marginal relevance."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgene.bank.unit import MemoryUnit
from memgene.retrieval.expansion import mmr_order, with_neighbours
from memgene.retrieval.index import UnitIndex

Make = Callable[..., UnitIndex]


@pytest.mark.parametrize(
    ("reach", "expected"),
    [(1, [0, 1, 2, 6]), (2, [0, 1, 2, 3, 6]), (3, [0, 1, 2, 3, 4, 6])],
)
def test_units_around_the_best_join(index_of: Make, reach: int, expected: list[int]) -> None:
    index = index_of(*"abcdef")
    index.append([MemoryUnit("alone", id="x", seq=9)])
    pool, best = np.asarray([1, 6]), np.asarray([1])
    assert with_neighbours(pool, best, reach, index, None).tolist() == expected


def test_neighbours_are_those_of_the_best_only_and_none_across_sources(index_of: Make) -> None:
    index = index_of("a", "b")
    index.append([MemoryUnit("c", id="x", seq=9, source="other", turn_start=0)])
    both = np.asarray([0, 2])
    assert with_neighbours(both, np.asarray([2]), 3, index, None).tolist() == [0, 2]
    assert with_neighbours(both, np.asarray([0]), 3, index, None).tolist() == [0, 1, 2]


def test_a_filter_keeps_neighbours_out(index_of: Make) -> None:
    index = index_of(*"abc")
    allowed = np.asarray([True, True, False])
    found = with_neighbours(np.asarray([1]), np.asarray([1]), 1, index, allowed)
    assert found.tolist() == [0, 1]


def unit_rows(*angles: float) -> np.ndarray:
    radians = np.radians(angles)
    return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


def test_a_near_copy_falls_behind_another_direction() -> None:
    scores = np.asarray([1.0, 0.9, 0.6], np.float32)
    vectors = unit_rows(0, 10, 90)
    # λ ½: after the first, ½·.9 − ½·cos 10° = −.04 against ½·.6 − ½·0 = .3
    assert mmr_order(scores, vectors, 0.5).tolist() == [0, 2, 1]
    # λ .1: .9·.9 − .1·.985 = .71 against .9·.6 = .54
    assert mmr_order(scores, vectors, 0.1).tolist() == [0, 1, 2]


def test_an_opposite_direction_is_a_gain() -> None:
    scores = np.asarray([1.0, 0.8, 0.7], np.float32)
    vectors = unit_rows(0, 90, 180)
    # ½·.8 − 0 = .4 against ½·.7 + ½ = .85
    assert mmr_order(scores, vectors, 0.5).tolist() == [0, 2, 1]


def test_the_nearest_of_all_chosen_counts_not_the_last() -> None:
    scores = np.asarray([1.0, 0.9, 0.8, 0.5], np.float32)
    vectors = unit_rows(0, 90, 85, 30)
    # after 0° and 90°: 85° ½·.8 − ½·cos 5° = −.098; 30° ½·.5 − ½·cos 30° = −.183
    assert mmr_order(scores, vectors, 0.5).tolist() == [0, 1, 2, 3]


def test_only_the_first_fifty_are_reordered() -> None:
    scores = np.linspace(1, 0.5, 60, dtype=np.float32)
    vectors = unit_rows(*[0] * 55, *[180] * 5)
    order = mmr_order(scores, vectors, 0.9)
    assert order[50:].tolist() == list(range(50, 60))


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 35)), min_size=1, max_size=12),
    st.sampled_from([0.1, 0.37, 0.5, 0.9]),
)
def test_every_place_goes_to_a_highest_gain(pairs: list[tuple[int, int]], balance: float) -> None:
    pairs = sorted(pairs, reverse=True)
    scores = [score / 20 for score, _ in pairs]
    vectors = unit_rows(*(10 * step for _, step in pairs))
    order = mmr_order(np.asarray(scores, np.float32), vectors, balance).tolist()
    assert sorted(order) == list(range(len(pairs)))
    assert order[0] == 0
    for place in range(1, len(order)):

        def gain(i: int, chosen: list[int] = order[:place]) -> float:
            nearest = max(float(vectors[i] @ vectors[j]) for j in chosen)
            return (1 - balance) * scores[i] - balance * nearest

        assert gain(order[place]) >= max(map(gain, order[place:])) - 1e-5
