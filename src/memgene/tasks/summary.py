"""A task in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from memgene.tasks.part import counted
from memgene.tasks.task import Task


@dataclass(frozen=True, slots=True)
class TaskSummary:
    """What a task holds.

    `counted` leaves out categories set apart; `usable` of them have evidence that can be scored.
    `unusable` names the other questions' reasons where one is known, `partly` the questions whose
    evidence could be resolved only in part.
    """

    name: str
    regime: str
    metric: str
    groups: int
    episodes: int
    messages: int
    questions: int
    counted: int
    usable: int
    categories: Mapping[str, int]
    set_apart: tuple[str, ...]
    unusable: Mapping[str, str]
    partly: tuple[str, ...]


def summarise(task: Task) -> TaskSummary:
    """Count a task's parts."""
    scored = counted(task)
    return TaskSummary(
        name=task.name,
        regime=task.regime.value,
        metric=task.metric,
        groups=len(task.groups),
        episodes=len(task.episodes),
        messages=sum(len(episode.messages) for episode in task.episodes),
        questions=len(task.questions),
        counted=len(scored),
        usable=sum(bool(q.gold.evidence) and not q.gold.unusable for q in scored),
        categories=dict(Counter(q.gold.category for q in task.questions)),
        set_apart=tuple(sorted(task.set_apart)),
        unusable={x.question_id: x.reason for x in task.exclusions},
        partly=tuple(q.id for q in task.questions if q.gold.metadata.get("unresolved")),
    )
