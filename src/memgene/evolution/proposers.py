"""Who says what to try next: the protocol, the random proposer, and seeded exploration."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memgene.evolution.changes import (
    LEARNED,
    Change,
    change,
    has_effect,
    same_settings,
    settings_of,
    stage_levers,
)
from memgene.evolution.diagnosis import Diagnosis
from memgene.evolution.means import Means
from memgene.retrieval.config import RetrievalConfig, levers
from memgene.retrieval.levers import Lever, Need
from memgene.retrieval.stages.stage import PREFIX

_TRIES = 200


@dataclass(frozen=True, slots=True)
class Proposal:
    """At most two changes to the incumbent, and why. `by` names who proposed them where that is
    not the proposer that was asked, but one it fell back to."""

    changes: tuple[Change, ...]
    reason: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A proposal of an earlier round: what it changed (levers by name), from which configuration
    (its digest), and what came of it."""

    parent: str
    changes: tuple[Change, ...]
    delta: float
    accepted: bool


class Proposer(Protocol):
    """Looks at a diagnosis and says what to try. Deterministic given `rng`, or (a model's) kept in
    the journal and taken from there. `history` holds one attempt per finished round."""

    @property
    def name(self) -> str:
        """Name in journals and reports."""
        ...

    def propose(
        self,
        diagnosis: Diagnosis,
        incumbent: RetrievalConfig,
        history: Sequence[Attempt],
        rng: random.Random,
    ) -> Proposal | None:
        """One or two changes not tried from this incumbent before; None when out of ideas."""
        ...


class RandomProposer:
    """The ablation: one or two random levers at random values, whatever the diagnosis says."""

    name = "random"

    def __init__(
        self, available: Means, metric: str, max_changes: int = 2, why: str = "at random"
    ) -> None:
        self._available = available
        self._metric = metric
        self._max_changes = max_changes
        self._why = why

    def propose(
        self,
        diagnosis: Diagnosis,
        incumbent: RetrievalConfig,
        history: Sequence[Attempt],
        rng: random.Random,
    ) -> Proposal | None:
        del diagnosis
        for _ in range(_TRIES):
            changes = self._draw(incumbent, rng)
            if not tried(incumbent, changes, history):
                return Proposal(changes, self._why)
        return None

    def _draw(self, config: RetrievalConfig, rng: random.Random) -> tuple[Change, ...]:
        known = (*levers(), *stage_levers(config))
        names = [n for n in known if has_effect(config, n, self._available, self._metric)]
        chosen = rng.sample(names, min(rng.randint(1, self._max_changes), len(names)))
        return tuple(change(config, name, self._value(config, name, rng)) for name in chosen)

    def _value(self, config: RetrievalConfig, name: str, rng: random.Random) -> Any:
        """A value other than the present one."""
        stages = {PREFIX + placed.name: placed.strength for placed in config.stages}
        declared = {**levers(), **stage_levers(config)}[name]
        now = stages[name] if name in stages else getattr(config, name)
        if declared.kind is bool:
            return not now
        if declared.kind is str:
            refused = {now} | (set() if Need.TRAINING in self._available else {LEARNED})
            return rng.choice([choice for choice in declared.choices if choice not in refused])
        while (drawn := _number(declared, rng)) == now:
            continue
        return drawn


def tried(config: RetrievalConfig, changes: Sequence[Change], history: Sequence[Attempt]) -> bool:
    """Whether exactly these changes were tried from this configuration, or change nothing."""
    wanted, digest = settings_of(changes), config.digest
    return same_settings(config, changes) or any(
        attempt.parent == digest and settings_of(attempt.changes) == wanted for attempt in history
    )


def _number(declared: Lever, rng: random.Random) -> float:
    """Uniform over the range; over its logarithm where the range spans two orders or more."""
    assert declared.low is not None
    assert declared.high is not None
    if declared.kind is int:
        return rng.randint(int(declared.low), int(declared.high))
    if declared.low > 0 and declared.high / declared.low >= 100:
        drawn = math.exp(rng.uniform(math.log(declared.low), math.log(declared.high)))
        return float(f"{drawn:.3g}")
    return round(rng.uniform(declared.low, declared.high), 2)
