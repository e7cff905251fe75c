"""What can happen in a joint evolution, beside what the searches inside its passes say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from memgene.evolution.event import Event


@dataclass(frozen=True, slots=True)
class JointStarted(Event):
    """How it goes about it: the schedule, the arms in the order of their first passes, the digest
    of the genome it starts from, and the val questions that judge every pass."""

    kind: ClassVar[str] = "joint_started"
    schedule: str
    arms: tuple[str, ...]
    origin: str = ""
    judged: int = 0


@dataclass(frozen=True, slots=True)
class PassBegan(Event):
    """It is an arm's turn, on the genome `parent`, because of `why`. Its candidates lie in
    `passes/NN-ARM/candidates`."""

    kind: ClassVar[str] = "pass_began"
    number: int
    arm: str
    parent: str
    why: str


@dataclass(frozen=True, slots=True)
class PassFinished(Event):
    """What came of a pass. `candidate` is its own best genome (`NN-ARM/ID`), with its `score` on
    the judging questions; `gain` is the difference to the parent where it was `accepted`, else 0;
    `probability` that of a gain (None: nothing was judged); `questions` what the pass evaluated;
    `best` the genome that the next pass starts from, with `best_score`."""

    kind: ClassVar[str] = "pass_finished"
    number: int
    arm: str
    candidate: str
    score: float | None
    gain: float
    questions: int
    accepted: bool
    best: str
    best_score: float
    delta: float = 0.0
    probability: float | None = None
    reason: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class ArmSkipped(Event):
    """An arm takes no more turns, or cannot take part, and why."""

    kind: ClassVar[str] = "arm_skipped"
    arm: str
    why: str


JOINT_EVENTS: tuple[type[Event], ...] = (JointStarted, PassBegan, PassFinished, ArmSkipped)
