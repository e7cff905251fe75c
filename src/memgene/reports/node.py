"""One candidate of a run, of whatever strategy: where it came from and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Where a candidate stands: a seed (or the start of another search), joined (the pool took it
    in; the incumbent gave way to it), refused, promoted, or not judged yet."""

    SEED = "seed"
    JOINED = "joined"
    REFUSED = "refused"
    PROMOTED = "promoted"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a candidate went no further.

    `stage` of programs: draft (no program came about that the gates let pass), duplicate, gate
    (the paired gate against its parent), runtime (it broke at work). Of configurations: guard,
    revert; of states of a co-evolution: guard. Of all: recheck (on fresh val questions).
    """

    stage: str
    reason: str


@dataclass(frozen=True, slots=True)
class Node:
    """A candidate. Seeds have no parent and stand in iteration 0.

    `score` is the mean on the selection questions, None where it was not evaluated on them all;
    `delta` its distance to the parent (None for seeds), `regressed` whether it fell under it.
    `failures` are questions on which a program itself broke, `attempts` the drafts it took,
    `message` what its author said.
    """

    id: str
    parent: str | None
    title: str
    message: str
    iteration: int
    status: Status
    rejections: tuple[Rejection, ...] = ()
    score: float | None = None
    delta: float | None = None
    regressed: bool = False
    failures: int = 0
    attempts: int = 1
    proposer: str = ""
