"""Which questions and episodes an evaluation looks at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from memgene.embed.hashing import HashingEmbedder
from memgene.evolution.programs.sampling import Sampler
from memgene.evolution.sealed import DevVal, seal
from memgene.tasks.splits import split_task
from memgene.tasks.task import Regime, Task
from memgene.testing import tiny_task


def data(task: Task) -> DevVal:
    return seal(task, split_task(task, 0), 0)[0]


@pytest.fixture
def own() -> DevVal:
    return data(tiny_task())


def sampler(of: DevVal, per_item: int | None = 5, seed: int = 0) -> Sampler:
    return Sampler(of, HashingEmbedder(), per_item, seed)


def test_static_questions_are_val_questions_and_the_same_for_a_seed(own: DevVal) -> None:
    first = sampler(own).static(3)
    assert len(first.questions) == 3
    assert {q.id for q in first.questions} <= {q.id for q in own.select}
    assert sampler(own).static(3) == first
    everything = sampler(own).static(1000)
    assert everything.questions == own.select


def test_rotating_questions_are_dev_questions_and_fresh_each_time(own: DevVal) -> None:
    made = sampler(own)
    drawn = [made.rotating(3, f"{number}") for number in range(6)]
    dev = {q.id for q in own.dev}
    assert all({q.id for q in sample.questions} <= dev for sample in drawn)
    assert len({tuple(q.id for q in sample.questions) for sample in drawn}) > 1
    assert sampler(own).rotating(3, "2") == drawn[2]


def test_memory_holds_the_groups_that_are_asked_about(own: DevVal) -> None:
    sample = sampler(own).static(1)
    (question,) = sample.questions
    assert {e.group for e in sample.task.episodes} == {question.group}
    only = sample.only(())
    assert only.task is sample.task
    assert only.questions == ()


def test_each_group_gives_episodes_in_proportion_to_its_questions(own: DevVal) -> None:
    """Two of three questions in one group, three episodes in all: two from it, one beside it."""
    groups = list(dict.fromkeys(q.group for q in own.dev))[:2]
    asked = [
        *[q for q in own.dev if q.group == groups[0]][:2],
        *[q for q in own.dev if q.group == groups[1]][:1],
    ]
    counts = {g: sum(e.group == g for e in own.task.episodes) for g in groups}
    sample = sampler(own, per_item=1).sample(asked)
    found = {g: sum(e.group == g for e in sample.task.episodes) for g in groups}
    assert found == {groups[0]: min(2, counts[groups[0]]), groups[1]: 1}


def test_the_subset_stands_for_the_questions() -> None:
    """Of many training episodes those are kept that are like the questions asked."""
    task = replace(tiny_task(), regime=Regime.SHARED)
    shared = data(task)
    assert shared.training is not None
    question = shared.select[0]
    chosen = sampler(shared, per_item=1).sample([question]).task.episodes
    assert len(chosen) == 1
    embedder = HashingEmbedder()
    held = [e for e in shared.task.episodes if e.group in shared.training]
    similarity = (
        embedder.embed([e.text for e in held]) @ embedder.embed([question.question.text])[0]
    )
    assert chosen[0].id == held[int(np.argmax(similarity))].id


def test_rotating_questions_always_find_the_episodes_of_their_evidence(own: DevVal) -> None:
    made = sampler(own, per_item=1)
    for key in "abcdef":
        sample = made.rotating(3, key)
        stored = {ref for e in sample.task.episodes for ref in (e.id, *(m.id for m in e.messages))}
        asked = [q for q in sample.questions if q.gold.evidence]
        assert all(stored.issuperset(q.gold.evidence) for q in asked)


@pytest.mark.parametrize("per_item", [1, 5, None])
def test_a_shared_memory_does_not_hold_the_groups_it_is_asked_about(per_item: int | None) -> None:
    shared = data(tiny_task(Regime.SHARED))
    assert shared.training is not None
    for key in "abcdef":
        sample = sampler(shared, per_item).rotating(2, key)
        held = {e.group for e in sample.task.episodes}
        assert held
        assert held <= set(shared.training) - {q.group for q in sample.questions}
    everybody = sampler(shared, None).rotating(1000, "")
    assert {e.group for e in everybody.task.episodes} == set(shared.training)


def test_without_a_number_all_episodes_of_the_groups_are_held(own: DevVal) -> None:
    sample = sampler(own, per_item=None).static(2)
    groups = {q.group for q in sample.questions}
    assert {e.id for e in sample.task.episodes} == {
        e.id for e in own.task.episodes if e.group in groups
    }


def test_nothing_asked_is_nothing_sampled(own: DevVal) -> None:
    assert sampler(own).sample(()).questions == ()
