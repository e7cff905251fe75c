"""Feedback moves the utility of what was used as Q ← Q + 0.3 · (reward − Q)."""

from __future__ import annotations

from pathlib import Path
from typing import cast

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
    assert len(memory.feedback(result[:2], 1.0)) == 2
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


def test_what_is_named_was_used_and_of_a_whole_result_the_first(memory: Memory) -> None:
    for word in ("alpha", "beta", "gamma"):
        memory.add(f"the word {word}")
    result = memory.search("the word beta")
    whole = memory.feedback(result, 1.0)
    assert [(one.used, one.utility) for one in whole] == [
        (True, pytest.approx(0.65)),
        (False, 0.5),
        (False, 0.5),
    ]
    assert [one.id for one in whole] == [hit.id for hit in result]
    named = memory.feedback(result[1:], 0.0)
    assert [(one.used, one.utility) for one in named] == [(True, 0.35), (True, 0.35)]


def test_an_answer_says_which_hits_of_a_result_were_used(memory: Memory) -> None:
    memory.add("The bicycle stands in the garage.")
    (told,) = memory.add("Maria paints boats in Bergen.")
    result = memory.search("bicycle garage, and where does Maria paint?")
    assert result[0].id != told.id
    receipt = memory.feedback(result, 1.0, answer="She paints boats, in Bergen.")
    assert [one.id for one in receipt if one.used] == [told.id]
    # an answer of other words says nothing: the first hit counts
    receipt = memory.feedback(result, 1.0, answer="Nobody knows.")
    assert [one.id for one in receipt if one.used] == [result[0].id]
    with pytest.raises(InputError, match="answer= goes with a whole SearchResult"):
        memory.feedback(result[0], 1.0, answer="Bergen")


def test_a_query_has_a_kind_and_a_value_for_it(memory: Memory) -> None:
    (added,) = memory.add("Trains leave from platform two.")
    first = memory.feedback(added.id, 1.0, "When does the train leave?")
    assert first.kind
    assert (first[0].before_for_kind, first[0].utility_for_kind) == (0.5, pytest.approx(0.65))
    again = memory.feedback(added.id, 1.0, "At what time does the train leave?")
    assert again.kind == first.kind
    # another kind of query starts at the memory's mean, which is now 0.5 + .15 + .105
    other = memory.feedback(added.id, 0.0, "Who painted the ceiling of the chapel?")
    assert other.kind not in ("", first.kind)
    assert other[0].before_for_kind == pytest.approx(0.755)
    assert other[0].utility_for_kind == pytest.approx(0.5285)
    assert other[0].utility == pytest.approx(0.5285)
    without = memory.feedback(added.id, 0.5)
    assert (without.kind, without[0].utility_for_kind) == ("", None)


def test_hits_know_what_they_were_found_for(memory: Memory) -> None:
    memory.add("Trains leave from platform two.")
    memory.add("The chapel has a painted ceiling.")
    trains, chapel = memory.search("trains platform"), memory.search("painted chapel ceiling")
    for hits in (trains, trains[0], trains[:2]):
        memory.feedback(hits, 0.5)
    memory.feedback([trains[0], chapel[0]], 0.5)  # found for two different queries
    memory.feedback(trains[0], 0.5, "said otherwise")
    asked = [
        (entry.payload or {}).get("query")
        for entry in memory.history(trains[0].id)
        if entry.event == "feedback"
    ]
    assert asked == [*["trains platform"] * 3, None, "said otherwise"]


def test_a_reward_that_is_only_logged_changes_no_value(memory: Memory) -> None:
    (added,) = memory.add("fact")
    receipt = memory.feedback(added.id, 1.0, "query", apply=False)
    assert (receipt.applied, receipt.kind) == (False, "")
    assert (receipt[0].before, receipt[0].utility) == (0.5, 0.5)
    assert memory.get(added.id).utility == 0.5
    assert [e.event for e in memory.history(added.id)] == ["add", "feedback"]


def test_logging_needs_no_embedder(path: Path) -> None:
    with Memory(path) as memory:
        (added,) = memory.add("fact")

    def telepathy(text: str) -> None:
        raise AssertionError(text)

    with Memory(path, config=RetrievalConfig()) as memory:
        memory._wanted = cast(Embedder, telepathy)
        memory.feedback(added.id, 1.0, "query", apply=False)
        assert memory._made is None


def test_a_receipt_as_plain_values(memory: Memory) -> None:
    (added,) = memory.add("fact")
    receipt = memory.feedback(added.id, 1.0)
    assert receipt.model_dump() == {
        "results": [
            {
                "id": added.id,
                "before": 0.5,
                "utility": 0.65,
                "used": True,
                "before_for_kind": None,
                "utility_for_kind": None,
            }
        ],
        "kind": "",
        "lesson": receipt.lesson,
        "applied": True,
    }
