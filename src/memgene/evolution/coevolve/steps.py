"""The steps of a co-evolution, in order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from memgene.evolution.coevolve.plan import CoevolvePlan, Evolving, Schedule


class Phase(StrEnum):
    """Who learns in a step; `both` after every interaction (the simultaneous ablation)."""

    ROUTER = "router"
    MEMORY = "memory"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Step:
    """One full pass over the training questions. `number` and `cycle` count from 1."""

    number: int
    phase: Phase
    cycle: int


def steps_of(plan: CoevolvePlan, *, empty: bool) -> tuple[Step, ...]:
    """Every step of a plan. A memory that is `empty` at the start gets one memory phase first:
    there is nothing to route to (bootstrap, CoEvo-Mem §4)."""
    learners = [Phase.ROUTER] if plan.router else []
    if plan.memory is not Evolving.FROZEN:
        learners.append(Phase.MEMORY)
    cycles = range(1, plan.cycles + 1)
    if plan.schedule is Schedule.SIMULTANEOUS and len(learners) > 1:
        order = [(Phase.BOTH, cycle) for cycle in cycles]
    elif plan.schedule is Schedule.TWO_STAGE:
        order = [(phase, cycle) for phase in learners for cycle in cycles]
    else:
        order = [(phase, cycle) for cycle in cycles for phase in learners]
    if empty and Phase.MEMORY in learners:
        order.insert(0, (Phase.MEMORY, 0))
    return tuple(Step(number, phase, cycle) for number, (phase, cycle) in enumerate(order, 1))
