"""A division inside the groups: early questions teach, the last ones test, the memory is whole."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from memgene.core import Episode, Gold, InputError, LabelledQuestion, Message, Question
from memgene.evolution.sealed import seal
from memgene.tasks.splits import chronological_split, part
from memgene.tasks.task import Regime, Split, Task


def task_of(*evidence: str, times: tuple[datetime | None, ...] = ()) -> Task:
    """One group of sessions S1 … S9 of a message each; a question per evidence given."""
    episodes = tuple(
        Episode(f"S{n}", (Message("said", id=f"S{n}:0"),), "g", source=f"S{n}")
        for n in range(1, 10)
    )
    questions = tuple(
        LabelledQuestion(
            Question(f"q{n}", "what?", "g", times[n] if times else None),
            Gold(answers=("said",), evidence=(ref,) if ref else ()),
        )
        for n, ref in enumerate(evidence)
    )
    return Task("t", episodes, questions, Regime.OWN_GROUP, "recall@10", "f")


def parts(task: Task) -> dict[str, list[str]]:
    division = chronological_split(task)
    return {
        split.value: [q.id for q in task.questions if division.split_of(q) is split]
        for split in Split
    }


def test_questions_are_divided_by_their_latest_evidence() -> None:
    assert parts(task_of("S9:0", "S1:0", "S7:0", "S2:0")) == {
        "dev": ["q1", "q3"],
        "val": ["q2"],
        "test": ["q0"],
    }


def test_the_time_of_a_question_comes_before_its_evidence() -> None:
    times = tuple(datetime(2024, 1, day) for day in (4, 3, 2, 1))
    assert parts(task_of("S1:0", "S2:0", "S3:0", "S4:0", times=times))["test"] == ["q0"]


def test_a_question_without_evidence_teaches() -> None:
    assert "q3" in parts(task_of("S1:0", "S2:0", "S3:0", ""))["dev"]


def test_every_part_has_the_whole_memory() -> None:
    task = task_of("S1:0", "S2:0", "S3:0", "S4:0")
    division = chronological_split(task)
    tested = part(task, division, Split.TEST)
    assert [e.id for e in tested.episodes] == [e.id for e in task.episodes]
    assert division.origin == "chronological inside each group"


def test_evolvers_never_see_the_test_questions() -> None:
    task = task_of("S1:0", "S2:0", "S3:0", "S4:0")
    data, sealed = seal(task, chronological_split(task))
    assert {q.id for q in data.task.questions} == {"q0", "q1", "q2"}
    assert [q.id for q in data.dev] == ["q0", "q1"]
    assert [q.id for q in data.val] == ["q2"]
    assert sealed.groups == ("g",)


def test_too_few_questions_and_a_shared_memory_are_refused() -> None:
    with pytest.raises(InputError, match="too few questions"):
        chronological_split(task_of("S1:0"))
    with pytest.raises(InputError, match="shared memory"):
        chronological_split(replace(task_of("S1:0", "S2:0"), regime=Regime.SHARED))


def test_splits_that_the_task_fixes_are_not_gone_round() -> None:
    """Its test groups would teach."""
    fixed = replace(task_of("S1:0", "S2:0", "S3:0", "S4:0"), fixed_splits={"g": Split.TEST})
    with pytest.raises(InputError, match="fixes its splits"):
        chronological_split(fixed)
