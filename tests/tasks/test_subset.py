from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene.core import InputError
from memgene.tasks.subset import facility_location, kmeans, static_subset


def value(similarity, chosen):
    return similarity[:, list(chosen)].max(axis=1).sum()


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_lazy_greedy_is_greedy_and_within_its_bound(seed, count):
    similarity = np.random.default_rng(seed).random((7, 6))
    chosen = facility_location(similarity, count)
    plain: list[int] = []
    for _ in range(count):
        rest = [c for c in range(6) if c not in plain]
        plain.append(max(rest, key=lambda c: (value(similarity, [*plain, c]), -c)))
    assert chosen == plain
    best = max(value(similarity, s) for s in combinations(range(6), count))
    assert value(similarity, chosen) >= (1 - 1 / np.e) * best


def test_facility_location_serves_both_camps_before_refining_one():
    # Candidates 0 and 1 serve the first three targets, candidate 2 the last two.
    similarity = np.array(
        [[0.9, 0.8, 0.0], [0.9, 0.8, 0.0], [0.8, 0.9, 0.0], [0.0, 0.0, 0.7], [0.0, 0.0, 0.7]]
    )
    assert facility_location(similarity, 2) == [0, 2]
    assert facility_location(similarity, 99) == [0, 2, 1]


def test_negative_similarities_still_rank_candidates():
    assert facility_location(np.array([[-0.9, -0.1], [-0.8, -0.2]]), 1) == [1]


def test_equal_candidates_go_in_order():
    assert facility_location(np.ones((3, 4)), 3) == [0, 1, 2]


def camps(generator, per_camp=8):
    centres = np.array([[0, 0], [10, 0], [0, 10], [10, 10]])
    noise = generator.normal(scale=0.3, size=(4, per_camp, 2))
    return (centres[:, None, :] + noise).reshape(-1, 2)


def test_static_subset_takes_one_member_of_each_clear_cluster():
    points = camps(np.random.default_rng(5))
    for seed in range(5):
        chosen = static_subset(points, 4, seed)
        assert [i // 8 for i in chosen] == [0, 1, 2, 3]
        assert chosen == static_subset(points, 4, seed)
    assert len({tuple(static_subset(points, 4, seed)) for seed in range(5)}) > 1


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(12, 20))
def test_no_cluster_is_empty_even_among_equal_points(seed, clusters, rows):
    generator = np.random.default_rng(seed)
    points = generator.integers(0, 2, size=(rows, 2)).astype(float)
    labels = kmeans(points, clusters, generator)
    assert set(labels.tolist()) == set(range(clusters))


def test_asking_for_all_or_more_gives_all():
    assert static_subset(np.eye(3), 5) == [0, 1, 2]


def test_impossible_requests_are_refused():
    with pytest.raises(InputError, match="at least 1"):
        static_subset(np.eye(3), 0)
    with pytest.raises(InputError, match="at least 1"):
        facility_location(np.eye(3), 0)
    with pytest.raises(InputError, match="as many rows"):
        kmeans(np.eye(3), 4, np.random.default_rng(0))
