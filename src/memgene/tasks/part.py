"""Parts of a task: by group, by question, by number. A part is a task of its own."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import replace

from memgene.core import InputError, LabelledQuestion, stable_id
from memgene.tasks.task import Regime, Task


def subset(
    task: Task,
    *,
    question_ids: Collection[str] | None = None,
    groups: Collection[str] | None = None,
    episode_groups: Collection[str] | None = None,
) -> Task:
    """The questions that satisfy every given condition, in task order, and the episodes they need.

    Under `own_group` those are the episodes of the remaining questions' groups; under `shared`
    every episode, or those of `episode_groups` when given. Unknown ids are an InputError.
    """
    _refuse_unknown("question", question_ids, {q.id for q in task.questions})
    _refuse_unknown("group", groups, task.groups)
    _refuse_unknown("group", episode_groups, task.groups)
    wanted = None if question_ids is None else frozenset(question_ids)
    inside = None if groups is None else frozenset(groups)
    kept = tuple(
        q
        for q in task.questions
        if (wanted is None or q.id in wanted) and (inside is None or q.group in inside)
    )
    needed = _episode_groups(task, kept, episode_groups)
    episodes = tuple(e for e in task.episodes if e.group in needed)
    dropped = {q.id for q in task.questions} - {q.id for q in kept}
    return replace(
        task,
        episodes=episodes,
        questions=kept,
        exclusions=tuple(x for x in task.exclusions if x.question_id not in dropped),
        fixed_splits={g: s for g, s in task.fixed_splits.items() if g in needed},
        fingerprint=stable_id(task.fingerprint, *(q.id for q in kept), *(e.id for e in episodes)),
    )


def limit(task: Task, count: int, seed: int = 0) -> Task:
    """At most `count` of the questions that count, drawn at random by seed, in task order.

    Those of categories set apart are left out: they would not be what was asked for.
    """
    if count < 1:
        raise InputError(f"limit must be at least 1 question, got {count}")
    ids = [q.id for q in counted(task)]
    if count < len(ids):
        ids = random.Random(seed).sample(ids, count)
    return task if len(ids) == len(task.questions) else subset(task, question_ids=ids)


def counted(task: Task) -> tuple[LabelledQuestion, ...]:
    """Questions that count in a mean: all but those of categories set apart."""
    return tuple(q for q in task.questions if q.gold.category not in task.set_apart)


def _episode_groups(
    task: Task, kept: tuple[LabelledQuestion, ...], episode_groups: Collection[str] | None
) -> frozenset[str]:
    if task.regime is Regime.OWN_GROUP:
        if episode_groups is not None:
            raise InputError("episode_groups has no meaning for a task of regime own_group")
        return frozenset(q.group for q in kept)
    return frozenset(task.groups if episode_groups is None else episode_groups)


def _refuse_unknown(kind: str, given: Collection[str] | None, known: Collection[str]) -> None:
    unknown = sorted(set(given or ()) - set(known))
    if unknown:
        raise InputError(f"the task has no {kind} {', '.join(map(repr, unknown[:5]))}")
