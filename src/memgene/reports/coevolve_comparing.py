"""What two states of a co-evolution learned, side by side: routers, weights, values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memgene.engine.learned import LearnedMemory
from memgene.evaluation.case import Case
from memgene.evolution.coevolve.events import CoevolutionStarted
from memgene.evolution.event import Event
from memgene.reports.coevolve_model import Weights
from memgene.reports.coevolve_reading import compared_weights, read_learned
from memgene.reports.recorded import first
from memgene.retrieval.config import RetrievalConfig
from memgene.retrieval.values import NEUTRAL

_LARGEST = 10
_LEAST = 1e-9  # movements below it are not told


@dataclass(frozen=True, slots=True)
class ValueMove:
    """A memory whose mean value differs; `a` or `b` is None where it was never credited there,
    which counts as the neutral value in `delta`."""

    unit_id: str
    a: float | None
    b: float | None
    delta: float


@dataclass(frozen=True, slots=True)
class ValueChanges:
    """Values of two states: how many memories have one in each, how many differ, by how much on
    average (absolute), and the largest movements by id. Distilled memories that only one of the
    two holds are counted in `distilled` alone: its counts, and those of retired memories, are
    (a, b). `changed`: anything that was learned differs."""

    known: tuple[int, int]
    moved: int
    mean_move: float
    largest: tuple[ValueMove, ...]
    by_kind: tuple[int, int]
    distilled: tuple[int, int]
    retired: tuple[int, int]
    changed: bool


@dataclass(frozen=True, slots=True)
class LearningChange:
    """Digests of the routers ("" = none), mean weights on val questions that both were asked (by
    predicted type, then of all), and values (None where a file of a state was left out)."""

    routers: tuple[str, str]
    weights: tuple[Weights, ...]
    values: ValueChanges | None

    @property
    def changed(self) -> bool:
        """Whether router, values or memories differ, as far as the files tell."""
        values = self.values
        return self.routers[0] != self.routers[1] or (values is not None and values.changed)


@dataclass(frozen=True, slots=True)
class StateSide:
    """One of the two states: where it lies, its name, its configuration and its val cases."""

    folder: Path
    name: str
    config: RetrievalConfig
    val: Sequence[Case]


def compare_states(a: StateSide, b: StateSide, events: Sequence[Event]) -> LearningChange | None:
    """What was learned from `a` to `b`; None where `events` tell of no co-evolution."""
    started = first(events, CoevolutionStarted)
    if started is None:
        return None
    before, after = (read_learned(side.folder, side.name) for side in (a, b))
    return LearningChange(
        routers=(_digest(a.config), _digest(b.config)),
        weights=compared_weights(a.val, b.val, started.routes),
        values=None if before is None or after is None else _values(before, after),
    )


def _digest(config: RetrievalConfig) -> str:
    return "" if config.router is None else config.router.digest


def _values(a: LearnedMemory, b: LearnedMemory) -> ValueChanges:
    before, after = _means(a), _means(b)
    made_a, made_b = ({unit.id for unit in side.distilled} for side in (a, b))
    shared = sorted({*before, *after} - (made_a ^ made_b))
    moves = []
    for unit_id in shared:
        old, new = before.get(unit_id), after.get(unit_id)
        delta = (NEUTRAL if new is None else new) - (NEUTRAL if old is None else old)
        if abs(delta) > _LEAST:
            moves.append(ValueMove(unit_id, old, new, delta))
    moves.sort(key=lambda move: (-abs(move.delta), move.unit_id))
    return ValueChanges(
        known=(len(before), len(after)),
        moved=len(moves),
        mean_move=sum(abs(move.delta) for move in moves) / len(moves) if moves else 0.0,
        largest=tuple(moves[:_LARGEST]),
        by_kind=(len(a.values) - len(before), len(b.values) - len(after)),
        distilled=(len(made_a), len(made_b)),
        retired=(len(a.retired), len(b.retired)),
        changed=a.digest != b.digest,
    )


def _means(learned: LearnedMemory) -> Mapping[str, float]:
    return {value.unit_id: value.q for value in learned.values if not value.cluster}
