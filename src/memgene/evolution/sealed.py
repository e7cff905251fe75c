"""Who may see which questions: evolvers get dev and val; test stays sealed for the final report."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from memgene.core import InputError, LabelledQuestion, RunError
from memgene.evolution.events import TestOpened
from memgene.evolution.journal import Journal
from memgene.tasks.part import counted
from memgene.tasks.splits import Division, part
from memgene.tasks.task import Regime, Split, Task

FRESH_SHARE = 1 / 3
DIAGNOSED = 400

Questions = tuple[LabelledQuestion, ...]


@dataclass(frozen=True, slots=True)
class DevVal:
    """All that an evolver is given. `task` holds the dev and val questions only (under
    `own_group` their episodes only), categories set apart left out.

    `dev`: learning, and `diagnose`, about 400 of them in the proportion of their groups, for
    diagnosis (more would cost answers and tell no more). `select`: acceptance. `fresh`: val items
    kept for the re-check before promotion, a third of each group. `training` names the groups
    whose episodes a shared memory holds (None under `own_group`).
    """

    task: Task
    training: tuple[str, ...] | None
    dev: Questions
    diagnose: Questions
    select: Questions
    fresh: Questions

    @property
    def val(self) -> Questions:
        """All val questions, in task order."""
        chosen = {q.id for q in (*self.select, *self.fresh)}
        return tuple(q for q in self.task.questions if q.id in chosen)


class SealedTest:
    """The test questions, handed out once by `open`, which the journal records."""

    __slots__ = ("__task", "_opened", "groups")

    def __init__(self, task: Task, groups: tuple[str, ...]) -> None:
        self.__task = task
        self.groups = groups
        self._opened = False

    def open(self, journal: Journal) -> Task:
        """The test part of the task. A second call in one process is a RunError."""
        if self._opened:
            raise RunError("the test questions were opened before; they are touched once")
        self._opened = True
        journal.emit(TestOpened(len(self.__task.questions), self.groups))
        return self.__task


def seal(task: Task, division: Division, seed: int = 0) -> tuple[DevVal, SealedTest]:
    """Split a task into what evolution may use and what only the final report may.

    Raises InputError when dev, val or test has no question that counts.
    """
    evolving = _counted_only(part(task, division, Split.DEV, Split.VAL))
    test = _counted_only(part(task, division, Split.TEST))
    dev = tuple(q for q in evolving.questions if division.split_of(q) is Split.DEV)
    val = tuple(q for q in evolving.questions if division.split_of(q) is Split.VAL)
    for name, found in (("dev", dev), ("val", val), ("test", test.questions)):
        if not found:
            raise InputError(f"task {task.name!r} has no {name} questions that count")
    fresh = _sample(val, FRESH_SHARE, f"{seed}:fresh", keep=1)
    select = tuple(q for q in val if q.id not in fresh)
    held = tuple(q for q in val if q.id in fresh)
    training = division.groups(Split.DEV) if task.regime is Regime.SHARED else None
    asked = _sample(dev, min(1, DIAGNOSED / len(dev)), f"{seed}:diagnose")
    diagnose = tuple(q for q in dev if q.id in asked)
    data = DevVal(evolving, training, dev, diagnose, select, held)
    return data, SealedTest(test, division.groups(Split.TEST))


def spread_sample(questions: Questions, most: int, seed: int) -> Questions:
    """About `most` of the questions, in the proportion of their groups; all where there are no
    more."""
    if len(questions) <= most:
        return questions
    chosen = _sample(questions, most / len(questions), f"{seed}:learning")
    return tuple(q for q in questions if q.id in chosen)


def _counted_only(task: Task) -> Task:
    return replace(task, questions=counted(task))


def _sample(questions: Questions, share: float, seed: str, keep: int = 0) -> frozenset[str]:
    """Ids of a seeded share of each group's questions, leaving at least `keep` of a group out."""
    by_group: dict[str, list[str]] = {}
    for question in questions:
        by_group.setdefault(question.group, []).append(question.id)
    drawn: list[str] = []
    for group, ids in by_group.items():
        count = min(round(len(ids) * share), len(ids) - keep)
        drawn += random.Random(f"{seed}:{group}").sample(ids, count)
    return frozenset(drawn)
