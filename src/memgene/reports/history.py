"""What a run's journal tells of its search, the same for every strategy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from memgene.evaluation.case import Case
from memgene.reports.coevolve_model import Learning
from memgene.reports.joint_model import Joint
from memgene.reports.model import Chosen, Draft, Followed, Round, Wording

Cases = Mapping[str, Case]


@dataclass(frozen=True, slots=True)
class History:
    """One search: its rounds, and by their names the cases on the selection questions (by id).

    `line` are the rounds that a followed question goes through, `kept` the one of them whose gain
    over the first counts. `start` says what the search began
    with where it was a choice. `chosen` is the program that the search yields, `learning` what a
    co-evolution learned, `joint` the passes of a joint evolution, `notes` what else is to be said
    of the run.
    """

    wording: Wording
    rounds: tuple[Round, ...]
    val: Mapping[str, Cases] = field(default_factory=dict)
    line: tuple[str, ...] = ()
    kept: str = ""
    stopped: str = ""
    summary: str = ""
    drafts: tuple[Draft, ...] = ()
    start: str = ""
    chosen: Chosen | None = None
    learning: Learning | None = None
    joint: Joint | None = None
    notes: tuple[str, ...] = ()


def follow(history: History, metric: str) -> Followed | None:
    """A val question as the candidates of the line answered it: the one that the kept one gained
    most over the first; among equals the one that moved most, then the first by id.

    None when no question moved.
    """
    steps: dict[str, list[tuple[str, Case]]] = {}
    for name in history.line:
        for question, case in history.val.get(name, {}).items():
            if metric in case.scores:
                steps.setdefault(question, []).append((name, case))

    def moved(question: str) -> float:
        scores = [case.scores[metric] for _, case in steps[question]]
        return sum(abs(after - before) for before, after in pairwise(scores))

    def gained(question: str) -> float:
        start = steps[question][0][1].scores[metric]
        kept = (c.scores[metric] for name, c in steps[question] if name == history.kept)
        return next(kept, start) - start

    moving = [question for question in steps if moved(question)]
    if not moving:
        return None
    chosen = min(moving, key=lambda question: (-gained(question), -moved(question), question))
    case = steps[chosen][-1][1]
    return Followed(case.question, case.gold, tuple(steps[chosen]))


def zeros(cases: Cases, metric: str) -> dict[str, tuple[int, int]]:
    """Per category: questions that scored 0, and all that have the metric."""
    counts: dict[str, tuple[int, int]] = {}
    for case in cases.values():
        if metric in case.scores:
            zero, whole = counts.get(case.category, (0, 0))
            counts[case.category] = (zero + (case.scores[metric] == 0), whole + 1)
    return dict(sorted(counts.items()))
