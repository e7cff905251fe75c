"""What can happen in a co-evolution, beside what all searches share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from memgene.evolution.event import Event, volatile


@dataclass(frozen=True, slots=True)
class CoevolutionStarted(Event):
    """What both learners start from (candidate 000): `origin` is the digest of the configuration
    that was given (preset or base), `base` that of candidate 000, its learned weights fitted;
    `routes` what the router weighs, `training` the dev questions of one pass."""

    kind: ClassVar[str] = "coevolution_started"
    schedule: str
    steps: int
    training: int
    routes: tuple[str, ...]
    base: str
    usage: Mapping[str, Mapping[str, float]] = field(
        default_factory=dict, metadata={"volatile": True}
    )
    seconds: float = volatile()
    origin: str = ""


@dataclass(frozen=True, slots=True)
class PhaseFinished(Event):
    """A pass over the training questions. The state it ended in is candidate `candidate`, the one
    it began with `parent`.

    `reward` is the mean over the pass, `curve` that of its parts in order. `policy` are the mean
    weights of the routes by predicted question type. `played` counts answered (or ranked)
    questions, tried weights each for itself; `credited` the values that moved, `distilled` the
    memories that were made. `values` tell how the values of all units lie (count, mean and
    quantiles of those that were ever credited). `router`, `memory` and `config` name what was
    learned and how it retrieves.
    `degraded` counts steps that fell back because a model failed; `complaint` is the first.
    """

    kind: ClassVar[str] = "phase_finished"
    number: int
    phase: str
    cycle: int
    candidate: str
    parent: str
    questions: int
    played: int
    reward: float | None
    curve: tuple[float, ...]
    policy: Mapping[str, Mapping[str, float]]
    credited: int
    distilled: int
    values: Mapping[str, float]
    router: str
    memory: str
    degraded: int
    complaint: str
    usage: Mapping[str, Mapping[str, float]] = field(
        default_factory=dict, metadata={"volatile": True}
    )
    seconds: float = volatile()
    config: str = ""


@dataclass(frozen=True, slots=True)
class Retrained(Event):
    """The promoted state learned once more for the final report, on dev and val: the same steps,
    as many as the promoted state took."""

    kind: ClassVar[str] = "retrained"
    row: str
    steps: int
    questions: int
    router: str
    memory: str
    usage: Mapping[str, Mapping[str, float]] = field(
        default_factory=dict, metadata={"volatile": True}
    )
    seconds: float = volatile()


@dataclass(frozen=True, slots=True)
class WeightFixed(Event):
    """The share of the dense route that serves the training questions best when it is the same for
    all: what a router has to beat."""

    kind: ClassVar[str] = "weight_fixed"
    row: str
    share: float
    score: float
    questions: int
    seconds: float = volatile()
    usage: Mapping[str, Mapping[str, float]] = field(
        default_factory=dict, metadata={"volatile": True}
    )


COEVOLUTION_EVENTS: tuple[type[Event], ...] = (
    CoevolutionStarted,
    PhaseFinished,
    Retrained,
    WeightFixed,
)
