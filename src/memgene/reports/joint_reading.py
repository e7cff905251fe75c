"""A joint evolution's journal, pass by pass.

Read are events of four kinds, with these fields:

| kind | fields |
|---|---|
| `joint_started` | `schedule`, `arms` |
| `pass_began` | `number`, `arm`, `parent` (a genome), `why` |
| `pass_finished` | `number`, `arm`, `candidate` (a genome), `score`, `gain`, `questions`,
`accepted`, `best` (a genome), `best_score` |
| `arm_skipped` | `arm`, `why` |

Between the second and the third stand the events of an ordinary search, whose candidates lie in
`passes/NN-ARM/candidates/ID`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

from memgene.evolution.coevolve.events import PhaseFinished
from memgene.evolution.event import Event
from memgene.evolution.events import Evaluated
from memgene.reports.joint_model import Skip
from memgene.reports.recorded import of_kind

STARTED, BEGAN, FINISHED, SKIPPED = "joint_started", "pass_began", "pass_finished", "arm_skipped"


class Started(Protocol):
    """How a joint evolution goes about it."""

    schedule: str
    arms: tuple[str, ...]


class Began(Protocol):
    """It is an arm's turn, on the genome `parent`."""

    number: int
    arm: str
    parent: str
    why: str


class Finished(Protocol):
    """What came of it. `gain` is in shares, `questions` what it cost."""

    number: int
    arm: str
    candidate: str
    score: float | None
    gain: float
    questions: int
    accepted: bool
    best: str
    best_score: float


class _Skipped(Protocol):
    arm: str
    why: str


@dataclass(frozen=True, slots=True)
class Turn:
    """One pass: what began it, the events of the search inside, and what ended it (None where it
    goes on)."""

    began: Began
    inner: tuple[Event, ...] = ()
    finished: Finished | None = None

    @property
    def part(self) -> str:
        """The name of its folder under `passes/`."""
        return f"{self.began.number:02d}-{self.began.arm}"

    @property
    def questions(self) -> int:
        """Those it has evaluated, so far where it goes on."""
        if self.finished is not None:
            return self.finished.questions
        asked = sum(event.questions for event in of_kind(self.inner, Evaluated))
        return asked + sum(event.played for event in of_kind(self.inner, PhaseFinished))

    @property
    def seconds(self) -> float:
        """Seconds of what its search did."""
        return sum(float(getattr(event, "seconds", 0.0)) for event in self.inner)


@dataclass(frozen=True, slots=True)
class JointRecord:
    """A journal in order: how it started, its passes, and arms that were left out between them."""

    started: Started
    turns: tuple[Turn, ...] = ()
    skips: tuple[Skip, ...] = ()
    outside: tuple[Event, ...] = field(default=())

    @property
    def start(self) -> str:
        """The genome that the first pass was given; empty before it."""
        return self.turns[0].began.parent if self.turns else ""

    @property
    def start_score(self) -> float | None:
        """Score of that genome on val; None before the first pass is finished."""
        for turn in self.turns:
            told = turn.finished
            if told is not None:
                return told.best_score - told.gain if told.accepted else told.best_score
        return None

    @property
    def best(self) -> str:
        """The best genome so far."""
        told = [turn.finished.best for turn in self.turns if turn.finished is not None]
        return told[-1] if told else self.start

    def turn_of(self, candidate: str) -> Turn | None:
        """The pass in whose folder a candidate `NN-ARM/ID` lies."""
        part = candidate.rpartition("/")[0].removeprefix("passes/").removesuffix("/candidates")
        return next((turn for turn in self.turns if turn.part == part), None)


def read_joint(events: Sequence[Event]) -> JointRecord | None:
    """The passes that a journal tells of; None where it is of another strategy."""
    started: Started | None = None
    turns: list[Turn] = []
    skips: list[Skip] = []
    outside: list[Event] = []
    began: Began | None = None
    inner: list[Event] = []
    for event in events:
        if event.kind == STARTED:
            started = cast(Started, event)
        elif event.kind == BEGAN:
            began, inner = cast(Began, event), []
        elif event.kind == FINISHED and began is not None:
            turns.append(Turn(began, tuple(inner), cast(Finished, event)))
            began = None
        elif event.kind == SKIPPED:
            told = cast(_Skipped, event)
            skips.append(Skip(len(turns), told.arm, told.why))
        else:
            (outside if began is None else inner).append(event)
    if started is None:
        return None
    if began is not None:
        turns.append(Turn(began, tuple(inner)))
    return JointRecord(started, tuple(turns), tuple(skips), tuple(outside))
