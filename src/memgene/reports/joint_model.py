"""What a report shows of a joint evolution, as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memgene.reports.model import Change, Round, Wording
from memgene.reports.node import Node


@dataclass(frozen=True, slots=True)
class Pass:
    """One turn of an arm.

    `candidate` is the genome it ended with, made from `parent`; `why` says why it was this arm's
    turn. `gain` is what it raised the best score on val by, at the cost of `questions` evaluated.
    `best` is the best score after it. `rounds` are those of the search inside, in the words of
    `wording` (None where none began). Of a pass that goes on, `candidate` is empty and the scores
    are None.
    """

    number: int
    arm: str
    parent: str
    why: str
    candidate: str = ""
    score: float | None = None
    gain: float | None = None
    best: float | None = None
    questions: int = 0
    accepted: bool = False
    seconds: float = 0.0
    rounds: tuple[Round, ...] = ()
    wording: Wording | None = None

    @property
    def finished(self) -> bool:
        """Whether it came to its end."""
        return bool(self.candidate)


@dataclass(frozen=True, slots=True)
class Skip:
    """An arm that was left out after pass number `after`, and why."""

    after: int
    arm: str
    why: str


@dataclass(frozen=True, slots=True)
class ArmTotal:
    """All finished passes of an arm: how many, how many accepted, what those gained together, what
    all of them cost in questions and seconds."""

    arm: str
    passes: int
    accepted: int
    gain: float
    questions: int
    seconds: float

    @property
    def per_thousand(self) -> float | None:
        """Gain per 1,000 questions evaluated; None where none was."""
        return 1000 * self.gain / self.questions if self.questions else None


@dataclass(frozen=True, slots=True)
class GenomeChange:
    """From the genome a run began with (`a`) to the one it yields, or the best so far (`b`): the
    difference of their programs, levers that differ, and what was learned, in words."""

    a: str
    b: str
    patch: str = ""
    levers: tuple[Change, ...] = ()
    learned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Joint:
    """One joint evolution. `start` is the score on val that it began with, `nodes` the genomes
    after the start and after each pass."""

    schedule: str
    arms: tuple[str, ...]
    start: float | None
    passes: tuple[Pass, ...]
    skips: tuple[Skip, ...] = ()
    nodes: tuple[Node, ...] = ()
    change: GenomeChange | None = None


def totals(found: Joint) -> tuple[ArmTotal, ...]:
    """What each arm cost and gained, in the order of their first passes."""
    arms = dict.fromkeys((*found.arms, *(one.arm for one in found.passes)))
    return tuple(
        _total(arm, [one for one in found.passes if one.arm == arm and one.finished])
        for arm in arms
    )


def _total(arm: str, passes: Sequence[Pass]) -> ArmTotal:
    return ArmTotal(
        arm=arm,
        passes=len(passes),
        accepted=sum(one.accepted for one in passes),
        gain=sum(one.gain or 0.0 for one in passes if one.accepted),
        questions=sum(one.questions for one in passes),
        seconds=sum(one.seconds for one in passes),
    )
