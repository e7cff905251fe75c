from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memgene.core import Gold, InputError, LabelledQuestion, Question
from memgene.tasks.splits import fold_splits, part, split_task
from memgene.tasks.task import Regime, Split

sizes = st.lists(st.integers(1, 60), min_size=4, max_size=14)
seeds = st.integers(0, 2**32)
shared_fixtures = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)


def counts(numbers):
    return {f"g{i}": n for i, n in enumerate(numbers)}


@shared_fixtures
@given(sizes, seeds)
def test_every_group_is_in_exactly_one_split_and_no_split_is_empty(make_task, numbers, seed):
    task = make_task(counts(numbers))
    division = split_task(task, seed)
    assert sorted(division.groups(*Split)) == sorted(task.groups)
    parts = {split: part(task, division, split) for split in Split}
    assert all(p.questions for p in parts.values())
    assert sum(len(p.questions) for p in parts.values()) == len(task.questions)
    for one in Split:
        for other in Split:
            if one is not other:
                assert not {e.group for e in parts[one].episodes} & {
                    q.group for q in parts[other].questions
                }


@shared_fixtures
@given(sizes, seeds)
def test_a_seed_gives_the_same_division_again(make_task, numbers, seed):
    task = make_task(counts(numbers))
    assert split_task(task, seed) == split_task(task, seed)
    assert fold_splits(task, 3, seed) == fold_splits(task, 3, seed)


def test_seeds_differ(make_task):
    task = make_task(counts([5] * 10))
    assert len({tuple(split_task(task, seed).of.items()) for seed in range(8)}) > 1


def test_shares_are_met_where_groups_are_equal(make_task):
    task = make_task(counts([10] * 8))
    division = split_task(task, 3)
    assert [len(division.groups(s)) for s in (Split.DEV, Split.VAL, Split.TEST)] == [4, 2, 2]


def test_a_huge_group_does_not_leave_a_split_empty(make_task):
    task = make_task({"huge": 900, "a": 1, "b": 1})
    for seed in range(6):
        assert sorted(Counter(split_task(task, seed).of.values()).values()) == [1, 1, 1]


def test_fewer_than_three_groups_is_an_error_that_says_so(make_task):
    with pytest.raises(InputError, match="there are 2 groups and none is left for"):
        split_task(make_task({"a": 5, "b": 5}))


def test_fixed_splits_are_kept_and_the_rest_is_divided(make_task):
    fixed = {"g1": Split.TEST, "g4": Split.VAL}
    task = make_task(counts([5] * 6), fixed_splits=fixed)
    for seed in range(5):
        division = split_task(task, seed)
        assert division.of["g1"] is Split.TEST
        assert division.of["g4"] is Split.VAL
        assert Split.DEV in division.of.values()


def test_wholly_fixed_splits_do_not_depend_on_the_seed(make_task):
    fixed = {"a": Split.DEV, "b": Split.VAL, "c": Split.TEST}
    task = make_task({"a": 1, "b": 1, "c": 1}, fixed_splits=fixed)
    assert split_task(task, 1) == split_task(task, 2)
    assert split_task(task).origin == "fixed by the task"


def test_fixed_splits_of_an_unknown_group_are_refused(make_task):
    task = make_task(counts([5] * 3), fixed_splits={"nobody": Split.TEST})
    with pytest.raises(InputError, match="nobody"):
        split_task(task)


def test_categories_set_apart_do_not_count(make_task):
    task = make_task({"a": 5, "b": 5, "c": 5, "only-trap": 0})
    trap = LabelledQuestion(
        Question(id="t", text="?", group="only-trap"), Gold(category="adversarial")
    )
    episode = replace(task.episodes[0], id="x", group="only-trap", messages=())
    task = replace(
        task,
        episodes=(*task.episodes, episode),
        questions=(*task.questions, trap),
        set_apart=frozenset({"adversarial"}),
    )
    assert split_task(task).of["only-trap"] is Split.DEV


@shared_fixtures
@given(sizes, st.integers(2, 4), seeds)
def test_folds_test_every_group_once(make_task, numbers, k, seed):
    task = make_task(counts(numbers))
    folds = fold_splits(task, k, seed)
    tested = [group for fold in folds for group in fold.groups(Split.TEST)]
    assert sorted(tested) == sorted(task.groups)
    for fold in folds:
        assert all(fold.groups(split) for split in Split)
        assert sorted(fold.groups(*Split)) == sorted(task.groups)


def test_folds_are_balanced_by_questions(make_task):
    task = make_task(counts([152, 81, 152, 260, 178, 123, 150, 191, 156, 158]))
    sizes = [len(part(task, fold, Split.TEST).questions) for fold in fold_splits(task, 5, 0)]
    assert max(sizes) - min(sizes) < 110


def test_too_many_folds_are_an_error(make_task):
    with pytest.raises(InputError, match="5 folds need at least 5 groups"):
        fold_splits(make_task(counts([3] * 4)), 5)
    with pytest.raises(InputError, match="2 folds need at least 4 groups"):
        fold_splits(make_task(counts([3] * 3)), 2)
    with pytest.raises(InputError, match="at least 2"):
        fold_splits(make_task(counts([3] * 4)), 1)


def test_folds_of_a_task_with_fixed_splits_are_refused(make_task):
    task = make_task(counts([3] * 6), fixed_splits={"g0": Split.TEST})
    with pytest.raises(InputError, match="fixes its splits"):
        fold_splits(task, 3)


def test_under_shared_memory_holds_the_dev_groups_only(make_task):
    task = make_task(counts([4] * 6), regime=Regime.SHARED)
    division = split_task(task, 1)
    test = part(task, division, Split.TEST)
    assert {e.group for e in test.episodes} == set(division.groups(Split.DEV))
    assert {q.group for q in test.questions} == set(division.groups(Split.TEST))


def test_a_group_without_questions_is_experience_unless_fixed_elsewhere(make_task):
    task = make_task({"a": 2, "b": 2, "c": 2, "quiet": 0, "held": 0}, regime=Regime.SHARED)
    task = replace(task, fixed_splits={"held": Split.TEST})
    division = split_task(task)
    assert division.of["quiet"] is Split.DEV
    assert division.of["held"] is Split.TEST
