"""What a report shows of a co-evolution, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from memgene.evolution.coevolve.events import PhaseFinished
from memgene.evolution.coevolve.picture import GraphPicture

ALL_TYPES = ""
"""The row of weights over questions of every type."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Mean weights of the routes on the `n` questions of a predicted type ("": of all): under the
    state a comparison begins with, and under the other."""

    question_type: str
    n: int
    before: Mapping[str, float]
    after: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Distilled:
    """A memory that was made of an interaction: its value, exposures and first words."""

    id: str
    value: float
    exposures: int
    text: str


@dataclass(frozen=True, slots=True)
class Held:
    """What the memory of a state learned: mean values of all units that were ever credited, how
    many values are for one kind of query and of how many kinds, counts of distilled and of retired
    memories, and the distilled ones worth most."""

    values: tuple[float, ...]
    by_kind: int = 0
    kinds: int = 0
    distilled: int = 0
    retired: int = 0
    best: tuple[Distilled, ...] = ()


@dataclass(frozen=True, slots=True)
class Learning:
    """One co-evolution. `scores` are those on val by state. `state` is the one that the run yields
    (so far), or the latest where that is the start, which learned nothing: then it is `aside`.
    `weights` compare the start with it on the val questions; `held` and `picture` are of it and
    absent where its files are."""

    schedule: str
    training: int
    routes: tuple[str, ...]
    phases: tuple[PhaseFinished, ...]
    scores: Mapping[str, float] = field(default_factory=dict)
    state: str = ""
    aside: bool = False
    weights: tuple[Weights, ...] = ()
    held: Held | None = None
    picture: GraphPicture | None = None

    @property
    def routed(self) -> bool:
        """Whether a router weighed the routes in any phase."""
        return any(phase.policy for phase in self.phases)

    @property
    def told(self) -> str:
        """The state that is shown, in words."""
        return f"{self.state}, which the run does not yield" if self.aside else self.state
