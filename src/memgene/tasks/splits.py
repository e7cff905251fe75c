"""Grouped, seeded splits and folds. No group is ever in two splits of one division."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from memgene.core import InputError, LabelledQuestion
from memgene.tasks.part import counted, limit, subset
from memgene.tasks.task import Regime, Split, Task

__all__ = [
    "SHARES",
    "Division",
    "chronological_split",
    "fold_splits",
    "limit",
    "part",
    "split_task",
    "subset",
]

SHARES: Mapping[Split, float] = MappingProxyType(
    {Split.DEV: 0.5, Split.VAL: 0.25, Split.TEST: 0.25}
)
_ORDER = (Split.DEV, Split.VAL, Split.TEST)
_TRIES = 16


@dataclass(frozen=True, slots=True)
class Division:
    """Which group is in which split, and how it came about.

    `questions` (by id) divides inside the groups: then every group has questions in all splits,
    and what is learned of a memory's units can be tested in that memory.
    """

    of: Mapping[str, Split]
    origin: str
    questions: Mapping[str, Split] | None = None

    def groups(self, *splits: Split) -> tuple[str, ...]:
        """Groups of the given splits, in task order."""
        if self.questions is not None:
            return tuple(self.of)
        return tuple(group for group, split in self.of.items() if split in splits)

    def split_of(self, question: LabelledQuestion) -> Split:
        """The split a question is in."""
        return self.of[question.group] if self.questions is None else self.questions[question.id]


def split_task(task: Task, seed: int = 0, shares: Mapping[Split, float] = SHARES) -> Division:
    """Divide the groups into dev, val and test, by question count as near to `shares` as may be.

    Every split gets at least one group that has questions. Groups the task fixes stay where it
    fixes them; groups without questions are dev (experience to learn from). Questions of
    categories set apart do not count. Fewer than three groups with questions: InputError.
    """
    weights = _weights(task)
    placed = _fixed(task, weights)
    free = [group for group in weights if group not in placed]
    random.Random(seed).shuffle(free)
    placed |= _fill(free, weights, placed, shares, _ORDER)
    _require_all(placed, weights)
    origin = "fixed by the task" if not free else f"seed {seed}"
    return Division(_in_task_order(task, placed), origin)


def fold_splits(
    task: Task, k: int, seed: int = 0, shares: Mapping[Split, float] = SHARES
) -> tuple[Division, ...]:
    """`k` divisions; each group with questions is tested in exactly one of them.

    Test parts are balanced by question count: the best of sixteen seeded greedy assignments. The
    other groups of a fold are divided into dev and val in the proportion of `shares`.
    """
    weights = _weights(task)
    if k < 2:
        raise InputError(f"folds must be at least 2, got {k}")
    # Every fold must leave a group each for dev and val.
    least = 4 if k == 2 else max(k, 3)
    if len(weights) < least:
        raise InputError(
            f"{k} folds need at least {least} groups with questions; "
            f"task {task.name!r} has {len(weights)}"
        )
    if task.fixed_splits:
        raise InputError(
            f"task {task.name!r} fixes its splits, so folds would test on its dev groups; "
            "evolve without folds, or remove [splits] from task.toml"
        )
    generator = random.Random(seed)
    folds = min(
        (_assign(weights, k, generator) for _ in range(_TRIES)),
        key=lambda folds: _spread(folds, weights),
    )
    return tuple(
        _fold(task, weights, tested, number, k, generator, shares)
        for number, tested in enumerate(folds)
    )


def chronological_split(task: Task, shares: Mapping[Split, float] = SHARES) -> Division:
    """Divide the questions of every group by time: the early ones are dev, later ones val, the
    last ones test. The memory holds the whole group all along.

    The time of a question is its own where it has one, else that of its latest evidence in the
    order of the group's episodes; those without either are dev. Raises InputError when the memory
    is shared (its test questions come from other groups), the task fixes its splits, or a split
    would stay empty.
    """
    if task.regime is Regime.SHARED:
        raise InputError(
            f"task {task.name!r} has one shared memory: its groups are divided, not their insides"
        )
    if task.fixed_splits:
        raise InputError(
            f"task {task.name!r} fixes its splits, so a split by time would train on its test "
            "groups; leave division out, or remove [splits] from task.toml"
        )
    placed: dict[str, Split] = {}
    by_group: dict[str, list[LabelledQuestion]] = {}
    for question in counted(task):
        by_group.setdefault(question.group, []).append(question)
    when = _moments(task)
    for questions in by_group.values():
        ordered = sorted(questions, key=lambda q: when(q))  # stable: equal times keep their order
        learned, selected = _ends(len(ordered), shares)
        for place, question in enumerate(ordered):
            placed[question.id] = _ORDER[(place >= learned) + (place >= selected)]
    missing = [split.value for split in _ORDER if split not in placed.values()]
    if missing:
        raise InputError(
            f"task {task.name!r} has too few questions for a split by time: none is left for "
            + ", ".join(missing)
        )
    every = {question.id: Split.DEV for question in task.questions}  # set apart: asked by nobody
    of = dict.fromkeys(task.groups, Split.DEV)
    return Division(of, "chronological inside each group", {**every, **placed})


def _ends(count: int, shares: Mapping[Split, float]) -> tuple[int, int]:
    """Where dev and val of a group of so many questions end; three and more leave each split
    one at least."""
    learned = round(count * shares[Split.DEV])
    selected = round(count * (1 - shares[Split.TEST]))
    if count >= len(_ORDER):
        learned = min(max(learned, 1), count - 2)
        selected = min(max(selected, learned + 1), count - 1)
    return learned, selected


def _moments(task: Task) -> Callable[[LabelledQuestion], tuple[int, float]]:
    """When a question is asked, as a key to sort by."""
    order: dict[str, int] = {}
    for number, episode in enumerate(task.episodes):
        for ref in (episode.id, *(m.id for m in episode.messages if m.id is not None)):
            order.setdefault(ref, number)

    def when(question: LabelledQuestion) -> tuple[int, float]:
        if question.question.time is not None:
            moment = question.question.time
            return (moment.toordinal(), moment.hour * 60 + moment.minute)
        return (max((order.get(ref, -1) for ref in question.gold.evidence), default=-1), 0.0)

    return when


def part(task: Task, division: Division, *splits: Split) -> Task:
    """The questions of the given splits, with what memory holds when they are asked.

    `own_group`: each question's own group. `shared`: the experience of the dev groups.
    """
    if division.questions is not None:
        inside = [q.id for q in task.questions if division.questions[q.id] in splits]
        return subset(task, question_ids=inside)
    groups = division.groups(*splits)
    if task.regime is Regime.OWN_GROUP:
        return subset(task, groups=groups)
    return subset(task, groups=groups, episode_groups=division.groups(Split.DEV))


def _weights(task: Task) -> dict[str, int]:
    """Counted questions per group, groups in task order, those without questions left out."""
    counts = Counter(question.group for question in counted(task))
    return {group: counts[group] for group in task.groups if counts[group]}


def _fixed(task: Task, weights: Mapping[str, int]) -> dict[str, Split]:
    unknown = [group for group in task.fixed_splits if group not in task.groups]
    if unknown:
        raise InputError(f"task {task.name!r} fixes splits of unknown groups: {unknown[:5]}")
    return {group: task.fixed_splits[group] for group in weights if group in task.fixed_splits}


def _fill(
    groups: Sequence[str],
    weights: Mapping[str, int],
    placed: Mapping[str, Split],
    shares: Mapping[Split, float],
    order: Sequence[Split],
) -> dict[str, Split]:
    """Give each group to the split that lacks most, keeping one group for every empty split."""
    total = sum(weights[g] for g in groups) + sum(weights[g] for g in placed)
    whole = sum(shares[split] for split in order)
    if any(shares[split] <= 0 for split in order):
        raise InputError(f"every split needs a share above 0, got {dict(shares)}")
    lacks = {split: total * shares[split] / whole for split in order}
    for group, split in placed.items():
        lacks[split] -= weights[group]
    empty = [split for split in order if split not in placed.values()]
    filled: dict[str, Split] = {}
    for position, group in enumerate(groups):
        must = len(groups) - position <= len(empty)
        choice = max(empty if must else order, key=lambda split: lacks[split])
        filled[group] = choice
        lacks[choice] -= weights[group]
        empty = [split for split in empty if split is not choice]
    return filled


def _require_all(placed: Mapping[str, Split], weights: Mapping[str, int]) -> None:
    missing = [split.value for split in _ORDER if split not in placed.values()]
    if missing:
        raise InputError(
            f"a split needs at least one group with questions each for dev, val and test; "
            f"there are {len(weights)} groups and none is left for {', '.join(missing)}"
        )


def _in_task_order(task: Task, placed: Mapping[str, Split]) -> dict[str, Split]:
    """Every group's split. One without questions is where the task fixes it, else dev."""
    elsewhere = task.fixed_splits
    return {group: placed.get(group, elsewhere.get(group, Split.DEV)) for group in task.groups}


def _assign(weights: Mapping[str, int], k: int, generator: random.Random) -> list[list[str]]:
    """Groups in random order, each to the lightest fold, which an empty one always is.

    A fold that leaves only two groups over takes no more.
    """
    groups = list(weights)
    generator.shuffle(groups)
    folds: list[list[str]] = [[] for _ in range(k)]
    for group in groups:
        open_folds = [fold for fold in folds if len(fold) < len(groups) - 2]
        min(open_folds, key=lambda fold: sum(weights[g] for g in fold)).append(group)
    return folds


def _spread(folds: Sequence[Sequence[str]], weights: Mapping[str, int]) -> int:
    sizes = [sum(weights[group] for group in fold) for fold in folds]
    return max(sizes) - min(sizes)


def _fold(
    task: Task,
    weights: Mapping[str, int],
    tested: Sequence[str],
    number: int,
    k: int,
    generator: random.Random,
    shares: Mapping[Split, float],
) -> Division:
    rest = [group for group in weights if group not in tested]
    generator.shuffle(rest)
    placed = dict.fromkeys(tested, Split.TEST)
    placed |= _fill(rest, weights, {}, shares, (Split.DEV, Split.VAL))
    _require_all(placed, weights)
    return Division(_in_task_order(task, placed), f"fold {number} of {k}")
