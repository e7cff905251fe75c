"""Feedback moves utility as Q ← Q + 0.3 · (reward − Q)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgene import Memory, RetrievalConfig
from memgene.core import InputError, NotFoundError
from memgene.embed import Embedder


def test_utility_follows_the_formula(memory: Memory) -> None:
    (added,) = memory.add("fact")
    assert memory.get(added.id).utility == 0.5
    (first,) = memory.feedback(added.id, 1.0, "question")
    assert (first.before, first.utility) == (0.5, pytest.approx(0.65))
    (second,) = memory.feedback(added.id, 0.0)
    assert second.utility == pytest.approx(0.455)
    assert memory.get(added.id).utility == pytest.approx(0.455)


def test_hits_ids_and_whole_results_are_taken(memory: Memory) -> None:
    memory.add("alpha")
    memory.add("beta")
    result = memory.search("alpha beta")
    assert len(memory.feedback(result, 1.0)) == 2
    assert len(memory.feedback(result[0], 1.0)) == 1
    assert len(memory.feedback([result[0], result[1].id, result[0].id], 1.0)) == 2


@pytest.mark.parametrize("reward", [-0.1, 1.1, float("nan")])
def test_a_reward_lies_between_0_and_1(memory: Memory, reward: float) -> None:
    (added,) = memory.add("fact")
    with pytest.raises(InputError, match="reward"):
        memory.feedback(added.id, reward)
    assert memory.get(added.id).utility == 0.5


def test_an_unknown_id_changes_nothing(memory: Memory) -> None:
    (added,) = memory.add("fact")
    with pytest.raises(NotFoundError, match="unknown"):
        memory.feedback([added.id, "unknown"], 1.0)
    assert memory.get(added.id).utility == 0.5
    with pytest.raises(InputError, match="hits_or_ids holds no id"):
        memory.feedback([], 1.0)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0, 1), max_size=6))
def test_utility_stays_between_0_and_1(static: Embedder, rewards: list[float]) -> None:
    with Memory(embedder=static) as memory:
        (added,) = memory.add("fact")
        expected = 0.5
        for reward in rewards:
            memory.feedback(added.id, reward)
            expected += 0.3 * (reward - expected)
        utility = memory.get(added.id).utility
    assert 0 <= utility <= 1
    assert utility == pytest.approx(expected)


def test_utility_decides_between_equals_where_it_has_weight(static: Embedder) -> None:
    config = RetrievalConfig(utility_weight=2.0)
    with Memory(embedder=static, config=config) as memory:
        (first,) = memory.add("the key is in the drawer", source="a")
        (second,) = memory.add("the key is in the drawer", source="b")
        assert [hit.id for hit in memory.search("key")] == [first.id, second.id]
        memory.feedback(second.id, 1.0)
        memory.feedback(first.id, 0.0)
        assert [hit.id for hit in memory.search("key")] == [second.id, first.id]
