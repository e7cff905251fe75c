from __future__ import annotations

from dataclasses import replace

import pytest

from memgene.core import InputError
from memgene.tasks.part import limit, subset
from memgene.tasks.task import Exclusion, Regime


def test_questions_are_kept_in_task_order_with_their_own_episodes(make_task):
    task = make_task({"a": 3, "b": 2, "c": 1})
    small = subset(task, question_ids=["b/q1", "a/q2"])
    assert [q.id for q in small.questions] == ["a/q2", "b/q1"]
    assert [e.group for e in small.episodes] == ["a", "b"]


def test_conditions_are_joined_by_and(make_task):
    task = make_task({"a": 3, "b": 2})
    small = subset(task, question_ids=["a/q0", "b/q0"], groups=["b"])
    assert [q.id for q in small.questions] == ["b/q0"]


def test_shared_memory_keeps_every_episode(make_task):
    task = make_task({"a": 3, "b": 2}, regime=Regime.SHARED)
    assert len(subset(task, groups=["a"]).episodes) == 2
    assert [e.group for e in subset(task, groups=["a"], episode_groups=["b"]).episodes] == ["b"]


def test_a_part_has_its_own_fingerprint(make_task):
    task = make_task({"a": 3, "b": 2})
    one, other = subset(task, groups=["a"]), subset(task, groups=["b"])
    assert len({task.fingerprint, one.fingerprint, other.fingerprint}) == 3
    assert one == subset(task, groups=["a"])


def test_exclusions_follow_their_questions(make_task):
    task = replace(
        make_task({"a": 1, "b": 1}),
        exclusions=(Exclusion("a/q0", "x"), Exclusion("gone", "audit")),
    )
    assert [x.question_id for x in subset(task, groups=["b"]).exclusions] == ["gone"]


def test_unknown_names_are_refused(make_task):
    task = make_task({"a": 1})
    with pytest.raises(InputError, match="no group 'z'"):
        subset(task, groups=["z"])
    with pytest.raises(InputError, match="no question 'a/q9'"):
        subset(task, question_ids=["a/q9"])
    with pytest.raises(InputError, match="own_group"):
        subset(task, episode_groups=["a"])


def test_limit_draws_by_seed(make_task):
    task = make_task({"a": 20, "b": 20})
    assert len(limit(task, 7).questions) == 7
    assert limit(task, 7, seed=1) == limit(task, 7, seed=1)
    assert limit(task, 7, seed=1).questions != limit(task, 7, seed=2).questions
    assert limit(task, 40) is task
    with pytest.raises(InputError, match="at least 1"):
        limit(task, 0)


def test_limit_draws_from_what_counts_and_leaves_out_what_is_set_apart(make_task):
    whole = make_task({"a": 10, "b": 10})
    mixed = replace(
        whole,
        questions=tuple(
            replace(q, gold=replace(q.gold, category="apart")) if n % 2 else q
            for n, q in enumerate(whole.questions)
        ),
        set_apart=frozenset({"apart"}),
    )
    for count in (4, 10, 15):
        drawn = limit(mixed, count, seed=3).questions
        assert len(drawn) == min(count, 10)
        assert {q.gold.category for q in drawn} == {"all"}
