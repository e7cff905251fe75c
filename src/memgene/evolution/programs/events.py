"""What can happen in a search for programs, beside what all searches share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from memgene.evolution.event import Event, volatile


@dataclass(frozen=True, slots=True)
class ProgramsStarted(Event):
    """Sizes of the question sets of a program search: `static` selects, `rotating` are drawn anew
    from dev for each reflection."""

    kind: ClassVar[str] = "programs_started"
    static: int
    rotating: int
    seeds: tuple[str, ...]
    search: str
    episodes: int


@dataclass(frozen=True, slots=True)
class Sampled(Event):
    """A parent was drawn (probability 1 where the search leaves no choice), and the dev questions
    that its reflection looks at."""

    kind: ClassVar[str] = "sampled"
    iteration: int
    slot: int
    parent: str
    probability: float
    rotating: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Drafted(Event):
    """A program was written; it is in the candidate's folder, and so is what was said about it.

    `digest` names its text, `normal` its syntax tree (equal for programs that differ in words
    alone). `attempts` counts the drafts until the gates let one pass. `refused` says why there is
    none (then `digest` is that of the last draft, or empty). `exchange` is a hash of the
    conversation with the reflector.
    """

    kind: ClassVar[str] = "drafted"
    iteration: int
    candidate: str
    parent: str
    proposer: str
    title: str
    message: str
    digest: str
    normal: str
    attempts: int
    refused: str
    exchange: str
    usage: Mapping[str, Mapping[str, float]] = field(
        default_factory=dict, metadata={"volatile": True}
    )
    seconds: float = volatile()


@dataclass(frozen=True, slots=True)
class Refused(Event):
    """A candidate went no further: `stage` is one of draft, duplicate, gate (the paired gate
    against its parent) and runtime (violations that could not be mended)."""

    kind: ClassVar[str] = "refused"
    iteration: int
    candidate: str
    parent: str
    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class Joined(Event):
    """A candidate is in the pool. `delta` is its distance to the parent's score (0 for seeds),
    `failures` the selection questions on which the program itself broke."""

    kind: ClassVar[str] = "joined"
    iteration: int
    candidate: str
    parent: str
    score: float
    delta: float
    regressed: bool
    failures: int


@dataclass(frozen=True, slots=True)
class IterationFinished(Event):
    """State after an iteration."""

    kind: ClassVar[str] = "iteration_finished"
    iteration: int
    pool: int
    best: str
    best_score: float


PROGRAM_EVENTS: tuple[type[Event], ...] = (
    ProgramsStarted,
    Sampled,
    Drafted,
    Refused,
    Joined,
    IterationFinished,
)
